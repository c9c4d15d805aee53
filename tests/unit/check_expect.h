/* The judge's verdict on a history written by hand, for its tests: one history, and its verdict. */
#ifndef CHECK_EXPECT_H
#define CHECK_EXPECT_H

#include "check_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000 };

static struct test_history history;
static struct lb_judgement judgement;

static inline const struct lb_finding *judged(enum lb_guarantee guarantee)
{
    struct lb_error err = {0};
    int rc = judge_history(&history, &judgement, &err);
    if (rc != 0)
        fail_msg("lb_check: %s", err.message);
    return &judgement.findings[guarantee];
}

static inline void expect(enum lb_guarantee guarantee, enum lb_verdict verdict)
{
    const struct lb_finding *finding = judged(guarantee);
    if (finding->verdict != verdict)
        fail_msg("%s: %s (%s%s), expected %s", lb_guarantee_name(guarantee),
                 lb_verdict_name(finding->verdict), finding->reason,
                 finding->n_witnesses > 0 ? finding->witness[0].text : "",
                 lb_verdict_name(verdict));
}

static inline void expect_text(enum lb_guarantee guarantee, const char *text)
{
    expect(guarantee, LB_V_VIOLATED);
    assert_string_equal(judgement.findings[guarantee].witness[0].text, text);
}

/* One statement for the items first .. first + n - 1; types says how each ends. */
static inline void batch_of(int op, uint32_t log, uint64_t first, uint64_t n, uint64_t from,
                            uint64_t to, const int *types, uint32_t lease_ms)
{
    for (uint64_t i = 0; i < n; i++)
        add_op(&history, log, op, from, to, LB_EV_NONE, 0, first + i, 0, 0);
    for (uint64_t i = 0; i < n && types[i] != LB_EV_NONE; i++)
        add_event(&history, log,
                  (struct lb_event){.time_ns = to,
                                    .value = first + i,
                                    .process = log,
                                    .arg = lease_ms,
                                    .op = (uint8_t)op,
                                    .answer = types[i] == LB_EV_FAIL ? LB_REFUSED : LB_OK,
                                    .flags = types[i] == LB_EV_OK ? LB_EVF_EFFECTIVE : 0,
                                    .type = (uint8_t)types[i]});
}

/* The same, and behind it, in one round trip, a claim that brings the item got. The statement was
 * answered at mid, and the claim at to. */
static inline void pipeline_of(int op, uint32_t log, uint64_t first, uint64_t n, uint64_t from,
                               uint64_t mid, uint64_t to, const int *types, uint64_t got)
{
    size_t at = history.n[log] + n;
    batch_of(op, log, first, n, from, mid, types, 0);
    claim(&history, log, got, from, to, 0);
    struct lb_event *events = history.events[log], invoke = events[at + n];
    memmove(&events[at + 1], &events[at], n * sizeof *events);
    events[at] = invoke;
}

/* Completes them. */
static inline void batch(uint32_t log, uint64_t first, uint64_t n, uint64_t from, uint64_t to,
                         const int *types)
{
    batch_of(LB_OP_COMPLETE, log, first, n, from, to, types, 0);
}

#endif
