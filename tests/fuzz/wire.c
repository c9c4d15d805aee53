/* Both directions of a connection, in pieces of sizes that the input says: nothing is read behind
 * the end of a message, and the result is bounded and is text. */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t size)
{
    if (memchr(text, '\0', size) == NULL)
        abort();
}

static void check(const struct lb_wire_front *front, const struct lb_wire_back *back)
{
    check_text(front->request.text, sizeof front->request.text);
    check_text(front->request.params, sizeof front->request.params);
    check_text(back->answer.rows, sizeof back->answer.rows);
    check_text(back->answer.message, sizeof back->answer.message);
    if (front->n_prepared > LB_WIRE_NAMES || front->n_portals > LB_WIRE_PORTALS)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct lb_wire_front front;
    static struct lb_wire_back back;
    static struct lb_wire_cutter client, server;
    if (size < 2)
        return 0;
    memset(&front, 0, sizeof front);
    memset(&back, 0, sizeof back);
    client = (struct lb_wire_cutter){.is_first = (data[0] & 1) != 0};
    server = (struct lb_wire_cutter){.n_kept = 0};
    size_t piece = data[1] == 0 ? size : data[1];
    bool is_server = (data[0] & 2) != 0;
    for (size_t at = 2; at < size;) {
        bool ends, was_first = client.is_first;
        size_t n = size - at < piece ? size - at : piece;
        long used = lb_wire_cut(is_server ? &server : &client, (const char *)data + at, n, &ends);
        if (used < 0)
            break;
        if (used == 0 || (size_t)used > n)
            abort();
        at += (size_t)used;
        if (ends && is_server && lb_wire_back_take(&back, &server))
            lb_wire_back_next(&back);
        else if (ends && !is_server && was_first)
            lb_wire_start_of(&client);
        else if (ends && !is_server &&
                 lb_wire_front_take(&front, &client, back.is_copying) == LB_WIRE_ENDS)
            lb_wire_front_next(&front);
        check(&front, &back);
    }
    lb_wire_front_free(&front);
    return 0;
}
