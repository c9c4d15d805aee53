/* The guarantees, by name: see guarantee.h. */
#include "guarantee.h"

#include "error.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *summary;
} guarantees[LB_GUARANTEES] = {
    [LB_G_EXCLUSIVE] = {"exclusive", "never more holders than the capacity allows"},
    [LB_G_FENCED] = {"fenced", "tokens grow with each grant, and stale writes are refused"},
    [LB_G_OWNER_RELEASE] = {"owner-release", "only the current owner's release has an effect"},
    [LB_G_NO_DUPLICATE] = {"no-duplicate", "no item is claimed twice unless it was given back"},
    [LB_G_NO_LOSS] = {"no-loss", "every item that was put is claimed, and no other"},
    [LB_G_BOUNDED_CLAIM] = {"bounded-claim", "a claim of n marks at most n rows and returns them"},
    [LB_G_FIFO] = {"fifo", "grants and claims follow the order of arrival"},
    [LB_G_PROGRESS] = {"progress", "no worker waits longer than the scenario's bound"},
    [LB_G_RECOVERY] = {"recovery",
                       "a dead holder's lock or item is granted again within the bound"},
    [LB_G_ONCE] = {"once", "no item is executed twice, whatever becomes of its worker"},
    [LB_G_GROUP_EXCLUSIVE] = {"group-exclusive", "never two items of one group in hand"},
    [LB_G_PERMITS] = {"permits", "a stored count of permits is the capacity less the holders"},
};

const char *lb_guarantee_name(enum lb_guarantee guarantee)
{
    return guarantees[guarantee].name;
}

const char *lb_guarantee_summary(enum lb_guarantee guarantee)
{
    return guarantees[guarantee].summary;
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
    size_t n = 0;
    buf[0] = '\0';
    for (int i = 0; i < LB_GUARANTEES && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 0 ? ", " : "", guarantees[i].name);
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
