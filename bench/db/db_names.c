/* Names of capabilities and isolation levels: see db.h. */
#include "db.h"

#include <ctype.h>

const char *lb_cap_name(uint64_t bit)
{
    static const char *const names[LB_CAPS] = {
        "skip_locked",        "nowait",       "row_lock",        "advisory",   "advisory_shared",
        "advisory_xact",      "merge",        "merge_returning", "returning",  "table_lock",
        "listen_notify",      "multi_writer", "lock_timeout",    "begin_mode", "partial_index",
        "serializable_retry", "replica",      "pipeline",
    };
    for (int i = 0; i < LB_CAPS; i++)
        if (bit == UINT64_C(1) << i)
            return names[i];
    return "?";
}

static const char *const isolation_names[LB_ISOLATIONS] = {
    [LB_ISO_DEFAULT] = "default",
    [LB_ISO_READ_COMMITTED] = "read committed",
    [LB_ISO_REPEATABLE_READ] = "repeatable read",
    [LB_ISO_SERIALIZABLE] = "serializable",
};

const char *lb_isolation_name(enum lb_isolation isolation)
{
    return isolation_names[isolation];
}

int lb_isolation_parse(const char *text)
{
    for (int i = 0; i < LB_ISOLATIONS; i++) {
        const char *a = text, *b = isolation_names[i];
        while (*a != '\0' &&
               (tolower((unsigned char)*a) == *b || (*b == ' ' && (*a == '-' || *a == '_')))) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0')
            return i;
    }
    return -1;
}
