/* The properties of each kind of fault: see fault_list.h. */
#include "fault_list.h"

#include "append.h"

struct row {
    const char *name, *summary;
    unsigned traits;
};

#define ROW(id, symbol, word, all, text)                                                           \
    [LB_FAULT_##id] = {.name = word, .summary = text, .traits = all},
static const struct row rows[LB_FAULTS] = {[LB_FAULT_NONE] = {"none", "nothing goes wrong", 0},
                                           LB_FAULT_LIST(ROW)};

const char *lb_fault_name(enum lb_fault fault)
{
    return rows[fault].name;
}

const char *lb_fault_summary(enum lb_fault fault)
{
    return rows[fault].summary;
}

bool lb_fault_is(enum lb_fault fault, enum lb_fault_trait trait)
{
    return (rows[fault].traits & (unsigned)trait) != 0;
}

char *lb_faults_named(enum lb_fault_trait trait, const char *conjunction, char *buf, size_t size)
{
    int last = LB_FAULTS;
    do {
        last--;
    } while (last > 0 && !lb_fault_is((enum lb_fault)last, trait));
    buf[0] = '\0';
    for (int i = 0; i <= last; i++) {
        if (!lb_fault_is((enum lb_fault)i, trait))
            continue;
        if (i == last && buf[0] != '\0')
            lb_append(buf, size, " %s %s", conjunction, rows[i].name);
        else
            lb_append(buf, size, "%s%s", buf[0] != '\0' ? ", " : "", rows[i].name);
    }
    return buf;
}
