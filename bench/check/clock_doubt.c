/* lb_check, and its verdicts beside a clock that was set.
 *
 * A clock that is set ends leases, limits, windows and delays early or late, with the right
 * protocol. Which of its times a protocol compares with which clock is not in the history. So the
 * history until then is judged by itself, and its violations stand. Any other violation may be due
 * to the clock.
 */
#include "judges.h"

#include "memory.h"
#include "order.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

/* Into spans, which has room for one more than the log has. silent: a note of that time, of a stall
 * without a length: a worker that did something later had what it held until then. */
static void cut_log(struct lb_log_view *log, uint64_t time_ns, const struct lb_event *silent,
                    struct lb_span *spans)
{
    size_t n = 0;
    bool is_whole = true;
    log->n_events = 0;
    for (; n < log->n_spans && is_whole; n++) {
        const struct lb_span *span = &log->spans[n];
        spans[n] = (struct lb_span){
            span->events, lb_order_find(span->events, span->n, sizeof *span->events, time_ns + 1)};
        is_whole = spans[n].n == span->n;
        log->n_events += spans[n].n;
    }
    if (!is_whole) {
        spans[n++] = (struct lb_span){silent, 1};
        log->n_events++;
    }
    log->n_spans = n;
    log->spans = spans;
}

static int judge_until(const struct lb_history_view *history, const struct lb_model *model,
                       uint64_t time_ns, struct lb_judgement *ret, struct lb_error *err)
{
    struct lb_history_view view = *history;
    struct lb_model part = *model;
    const struct lb_event silent = {
        .time_ns = time_ns, .arg = LB_STALL_ONE, .op = LB_OP_STALL, .type = LB_EV_NOTE};
    size_t n_spans = 0;
    view.logs = lb_copy(history->logs, history->n_logs, sizeof *view.logs);
    view.n_events = 0;
    for (size_t i = 0; i < view.n_logs; i++)
        n_spans += view.logs[i].n_spans + 1;
    struct lb_span *spans = lb_calloc(n_spans, sizeof *spans), *next = spans;
    for (size_t i = 0; i < view.n_logs; i++) {
        cut_log(&view.logs[i], time_ns, &silent, next);
        next += view.logs[i].n_spans;
        view.n_events += view.logs[i].n_events;
    }
    part.drained = part.complete = false; /* as of a run that was killed then */
    part.end_ns = time_ns;
    int rc = lb_check_doubted(&view, &part, ret, err);
    free(spans);
    free(view.logs);
    return rc;
}

const char *lb_clock_set_text(const struct lb_clock_set *set, uint64_t start_ns, char *buf)
{
    char how_far[32], at[32];
    snprintf(buf, LB_CLOCK_SET_TEXT,
             "%s clock was set %s %s, seen at %s: later violations may be due to it",
             (set->how & LB_CLOCK_SERVER) != 0 ? "the server's" : "this machine's",
             lb_format_ns(set->ms * UINT64_C(1000000), how_far, sizeof how_far),
             (set->how & LB_CLOCK_BACK) != 0 ? "back" : "ahead",
             lb_format_ns(set->seen_ns > start_ns ? set->seen_ns - start_ns : 0, at, sizeof at));
    return buf;
}

/* A guarantee that was violated only after a clock was set is not tested. */
static int doubt_clock(const struct lb_history_view *history, const struct lb_model *model,
                       struct lb_judgement *judgement, struct lb_error *err)
{
    const struct lb_clock_set set = judgement->measures.clock_set;
    bool is_violated = false;
    char text[LB_CLOCK_SET_TEXT];
    for (int g = 0; g < LB_GUARANTEES; g++)
        is_violated |= judgement->findings[g].verdict == LB_V_VIOLATED;
    if (set.n == 0 || !is_violated)
        return 0;
    struct lb_judgement *before = lb_calloc(1, sizeof *before);
    /* A history with dropped items is not known up to some time. */
    int rc = model->settled == NULL ? judge_until(history, model, set.since_ns, before, err) : 0;
    for (int g = 0; g < LB_GUARANTEES && rc == 0; g++) {
        struct lb_finding *finding = &judgement->findings[g];
        if (finding->verdict != LB_V_VIOLATED)
            continue;
        if (before->findings[g].verdict == LB_V_VIOLATED)
            *finding = before->findings[g];
        else
            lb_finding_doubt(finding, lb_clock_set_text(&set, history->start_ns, text), true);
    }
    free(before);
    return rc;
}

int lb_check(const struct lb_history_view *history, const struct lb_model *model,
             struct lb_judgement *ret_judgement, struct lb_error *err)
{
    int rc = lb_check_doubted(history, model, ret_judgement, err);
    return rc != 0 ? rc : doubt_clock(history, model, ret_judgement, err);
}
