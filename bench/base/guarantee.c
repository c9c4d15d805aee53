/* The guarantees, by name: see guarantee.h. */
#include "guarantee.h"

#include "append.h"
#include "error.h"

#include <stdio.h>
#include <string.h>

struct row {
    const char *name, *summary;
    unsigned traits;
};

#define ROW(id, symbol, word, all, text)                                                           \
    [LB_G_##id] = {.name = word, .summary = text, .traits = all},
static const struct row guarantees[] = {LB_GUARANTEE_LIST(ROW)};

const int lb_guarantees_listed = LB_GUARANTEES_LISTED;
_Static_assert((int)LB_GUARANTEES_LISTED <= (int)LB_GUARANTEE_ROOM, "arrays have room for all");

const char *lb_guarantee_name(enum lb_guarantee guarantee)
{
    return guarantees[guarantee].name;
}

const char *lb_guarantee_summary(enum lb_guarantee guarantee)
{
    return guarantees[guarantee].summary;
}

bool lb_guarantee_is(enum lb_guarantee guarantee, enum lb_guarantee_trait trait)
{
    return (guarantees[guarantee].traits & (unsigned)trait) != 0;
}

unsigned lb_guarantees_with(enum lb_guarantee_trait trait)
{
    unsigned bits = 0;
    for (int i = 0; i < LB_GUARANTEES; i++)
        if (lb_guarantee_is((enum lb_guarantee)i, trait))
            bits |= LB_G_BIT(i);
    return bits;
}

int lb_guarantee_parse(const char *name)
{
    for (int i = 0; i < LB_GUARANTEES; i++)
        if (strcmp(name, guarantees[i].name) == 0)
            return i;
    return -1;
}

const char *lb_verdict_name(enum lb_verdict verdict)
{
    static const char *const names[] = {"held", "violated", "not claimed", "not tested"};
    return names[verdict];
}

char *lb_guarantees_text(char *buf, size_t size)
{
    buf[0] = '\0';
    for (int i = 0; i < LB_GUARANTEES; i++)
        lb_append(buf, size, "%s%s", i > 0 ? ", " : "", guarantees[i].name);
    return buf;
}

int lb_guarantees_parse(const char *text, unsigned *ret_claims, struct lb_error *err)
{
    unsigned claims = 0;
    while (text != NULL && *text != '\0') {
        char name[40], all[200];
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        int guarantee = lb_guarantee_parse(name);
        if (guarantee < 0)
            return lb_fail(err, LB_E_USAGE,
                           "option --claims: unknown guarantee '%s' (there are %s)", name,
                           lb_guarantees_text(all, sizeof all));
        claims |= LB_G_BIT(guarantee);
        text += length + (text[length] == ',');
    }
    *ret_claims = claims;
    return 0;
}
