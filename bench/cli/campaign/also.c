/* The words of --also: see also.h. */
#include "also.h"

#include "append.h"
#include "clock.h"

#include <stddef.h>
#include <string.h>

#define WORD(name)                                                                                 \
    {                                                                                              \
        .word = #name, .at = offsetof(struct lb_explored_ask, name)                                \
    }

static const struct {
    const char *word;
    size_t at; /* of a bool */
} words[] = {WORD(errors), WORD(cancels), WORD(others), WORD(skew),  WORD(lag),   WORD(ahead),
             WORD(behind), WORD(period),  WORD(equal),  WORD(again), WORD(apart), WORD(halves)};

enum { WORDS = sizeof words / sizeof words[0] };

/* All words, with "or" before the last. */
static void list(char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; i < WORDS; i++)
        lb_append(buf, size, "%s%s", i == 0 ? "" : i + 1 == WORDS ? " or " : ", ", words[i].word);
}

int lb_also_parse(const char *text, struct lb_explored_ask *ask, struct lb_error *err)
{
    while (*text != '\0') {
        char all[200];
        size_t n = strcspn(text, ","), i = 0;
        while (i < WORDS && (strlen(words[i].word) != n || memcmp(words[i].word, text, n) != 0))
            i++;
        if (i == WORDS) {
            list(all, sizeof all);
            return lb_fail(err, LB_E_USAGE, "option --also: '%.*s' is not %s", (int)n, text, all);
        }
        *(bool *)((char *)ask + words[i].at) = true;
        text += n + (text[n] == ',');
    }
    if (ask->skew + ask->lag + ask->ahead + ask->behind > 1)
        return lb_fail(err, LB_E_USAGE,
                       "option --also: one of skew, lag, ahead and behind, not two");
    if (ask->equal && ask->halves)
        return lb_fail(err, LB_E_USAGE, "option --also: one of equal and halves, not two");
    return 0;
}

void lb_also_write(const struct lb_explored_ask *ask, char *buf, size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; i < WORDS; i++)
        if (*(const bool *)((const char *)ask + words[i].at))
            lb_append(buf, size, "%s%s", buf[0] == '\0' ? "--also=" : ",", words[i].word);
}

void lb_also_plan(const struct lb_explored_ask *ask, struct lb_explore_plan *plan)
{
    const int64_t far_ms = LB_EXPLORE_FAR * (int64_t)plan->ttl_ms;
    plan->errors = ask->errors;
    plan->cancels = ask->cancels;
    plan->others = ask->others;
    plan->again = ask->again;
    plan->apart = ask->apart;
    plan->skew_ms = (ask->skew + ask->ahead - ask->lag - ask->behind) * far_ms;
    plan->skews_all = ask->ahead || ask->behind;
    plan->period_ms = ask->period ? (uint32_t)far_ms : 0;
    if (ask->equal)
        lb_explore_equal_times(plan, lb_unix_ms());
    if (ask->halves)
        lb_explore_half_leases(plan);
}
