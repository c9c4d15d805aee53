/* Which questions distinguish mutants: measured, and used for their order. A smaller case counts
 * with the question that it stands for.
 *
 * To measure anew, on all built-in protocols and the databases of LB_TEST_URIS:
 *     scripts/soak-mutants --learn bench/cli/mutation/learnt.c
 * The present counts are of nine protocols on SQLite, with --budget 60s.
 */
#include "learnt.h"

#include <stddef.h>
#include <string.h>

#define MS UINT64_C(1000000)

static const struct learnt {
    const char *question;
    unsigned n_asked, n_shown; /* mutants, while they had no verdict; those that it distinguished */
    unsigned median_ms;        /* of the original's explorations */
} learnt[] = {
    {"explore", 88, 34, 158},
    {"explore+batch", 8, 1, 71},
    {"explore+batch alone", 23, 8, 137},
    {"explore+clock", 7, 1, 103},
    {"explore+crash", 10, 3, 178},
    {"explore+equal", 5, 4, 241},
    {"explore+equal alone", 4, 4, 142},
    {"explore+errors alone", 15, 3, 222},
    {"explore+free alone", 11, 0, 74},
    {"explore+lag alone", 4, 0, 229},
    {"explore+limit", 6, 1, 111},
    {"explore+operator", 15, 0, 265},
    {"explore+others", 3, 0, 70},
    {"explore+period", 5, 2, 140},
    {"explore+recover", 4, 2, 119},
    {"explore+renew", 15, 2, 119},
    {"explore+renew+crash", 5, 0, 307},
    {"explore+rescue", 2, 2, 323},
    {"explore+rescue alone", 3, 0, 991},
    {"explore+rounds", 14, 0, 149},
    {"explore+skew", 6, 6, 135},
    {"explore+skew alone", 9, 3, 158},
    {"explore+two", 18, 5, 44},
    {"explore+two locks", 35, 14, 61},
    {"explore+two locks+renew", 10, 4, 58},
};

static const struct learnt *find(const char *question)
{
    size_t n = strcspn(question, ",");
    for (size_t i = 0; i < sizeof learnt / sizeof learnt[0]; i++)
        if (strlen(learnt[i].question) == n && memcmp(learnt[i].question, question, n) == 0)
            return &learnt[i];
    return NULL;
}

/* Few counts mean little: one of four is assumed beside them. */
uint64_t lb_learnt_price(const char *question, uint64_t took_ns)
{
    const struct learnt *row = find(question);
    uint64_t asked = row != NULL ? row->n_asked : 0, shown = row != NULL ? row->n_shown : 0;
    if (took_ns == 0 && row != NULL)
        took_ns = row->median_ms * MS;
    return (1 + took_ns / (200 * MS)) * 1000 * (asked + 20) / (shown + 5);
}
