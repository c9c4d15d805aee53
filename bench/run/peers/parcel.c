/* Messages between ranks: see parcel.h. */
#include "parcel.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

void lb_parcel_begin(struct lb_parcel *parcel, enum lb_message what, uint64_t run)
{
    parcel->n = parcel->at = 0;
    parcel->failed = false;
    lb_parcel_put_u64(parcel, what);
    lb_parcel_put_u64(parcel, run);
}

void lb_parcel_put(struct lb_parcel *parcel, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    if (n > parcel->room - parcel->n) {
        parcel->room = 2 * parcel->room + n;
        parcel->bytes = lb_realloc(parcel->bytes, parcel->room, 1);
    }
    memcpy(parcel->bytes + parcel->n, bytes, n);
    parcel->n += n;
}

void lb_parcel_put_u64(struct lb_parcel *parcel, uint64_t value)
{
    lb_parcel_put(parcel, &value, sizeof value);
}

void lb_parcel_put_text(struct lb_parcel *parcel, const char *text)
{
    /* With its end, so that it can be read where it is. */
    lb_parcel_put_u64(parcel, text != NULL ? strlen(text) + 1 : 0);
    if (text != NULL)
        lb_parcel_put(parcel, text, strlen(text) + 1);
}

int lb_parcel_send(struct lb_parcel *parcel, struct lb_link *link, uint32_t to)
{
    return link->send(link, to, parcel->bytes, parcel->n);
}

bool lb_parcel_receive(struct lb_parcel *parcel, struct lb_link *link, uint32_t *ret_from,
                       enum lb_message *ret_what, uint64_t *ret_run)
{
    void *bytes;
    size_t n;
    lb_parcel_release(parcel);
    if (!link->receive(link, ret_from, &bytes, &n))
        return false;
    *parcel = (struct lb_parcel){.bytes = bytes, .n = n, .room = n};
    *ret_what = (enum lb_message)lb_parcel_take_u64(parcel);
    *ret_run = lb_parcel_take_u64(parcel);
    return true;
}

void lb_parcel_take(struct lb_parcel *parcel, void *into, size_t n)
{
    if (parcel->failed || n > parcel->n - parcel->at) {
        parcel->failed = true;
        memset(into, 0, n);
        return;
    }
    memcpy(into, parcel->bytes + parcel->at, n);
    parcel->at += n;
}

uint64_t lb_parcel_take_u64(struct lb_parcel *parcel)
{
    uint64_t value;
    lb_parcel_take(parcel, &value, sizeof value);
    return value;
}

const char *lb_parcel_take_text(struct lb_parcel *parcel)
{
    uint64_t n = lb_parcel_take_u64(parcel);
    if (n == 0)
        return NULL;
    if (n > parcel->n - parcel->at || parcel->bytes[parcel->at + n - 1] != '\0') {
        parcel->failed = true;
        return "";
    }
    const char *text = (const char *)parcel->bytes + parcel->at;
    parcel->at += n;
    return text;
}

const unsigned char *lb_parcel_rest(const struct lb_parcel *parcel, size_t *ret_n)
{
    *ret_n = parcel->failed ? 0 : parcel->n - parcel->at;
    return parcel->bytes + parcel->at;
}

void lb_parcel_release(struct lb_parcel *parcel)
{
    free(parcel->bytes);
    *parcel = (struct lb_parcel){0};
}
