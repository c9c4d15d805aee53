/* From a history to verdicts: see check.h. The guarantees are judged in files of their own.
 *
 * Every guarantee is judged whether it is claimed or not, and its violations are counted; the
 * verdict then says what was claimed. A violation that was found stands even if the history is
 * incomplete, since what is missing cannot undo it; "held" needs a whole history with something
 * in it to test.
 */
#include "guarantee_kind.h"
#include "judges.h"
#include "scan_logs.h"
#include "settled.h"

#include <stdio.h>
#include <stdlib.h>

static void case_release(struct lb_case *c)
{
    struct lb_array *arrays[] = {
        &c->holds,      &c->tokens,         &c->late,     &c->items,        &c->puts,    &c->world,
        &c->waiters,    &c->writes,         &c->refusals, &c->unknown,      &c->pending, &c->open,
        &c->infos,      &c->unknown_grants, &c->inner,    &c->crowded_ends, &c->stalls,  &c->unrun,
        &c->late_waits, &c->ties,           &c->asked,    &c->over};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]->items);
    for (size_t i = 0; i < c->history->n_logs; i++)
        free(c->logs[i].span_first);
    free(c->logs);
    free(c->order);
    free(c->first_violation);
    free(c->by_id);
    free(c->put_again.items);
    free(c->let_go.items);
    free(c->unique_puts.items);
    free(c->begun.items);
    for (int a = 0; a < LB_ATTRIBUTES; a++)
        free(c->attributes[a].items);
    free(c->beats.items);
    free(c->moments.items);
    lb_ids_release(c);
}

/* Is each claimed guarantee of a lock judged by the shortcut, or after it? */
static bool has_shortcut(const struct lb_model *model)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_guarantee_kind *kind = lb_guarantee_kinds[g];
        if ((model->claims & LB_G_BIT(g)) != 0 && kind->judge_lock != NULL && !kind->has_shortcut &&
            !kind->is_last)
            return false;
    }
    return !model->plain;
}

/* The judges of the table: first those that need no others, then the last ones. */
static int judge_kinds(struct lb_case *c, bool last)
{
    int rc = 0;
    for (int g = 0; g < LB_GUARANTEES && rc == 0; g++) {
        const struct lb_guarantee_kind *kind = lb_guarantee_kinds[g];
        int (*step)(struct lb_case *) = c->model->queue ? kind->judge_queue : kind->judge_lock;
        if (step == NULL || kind->is_last != last)
            continue;
        rc = lb_case_goes_on(c);
        rc = rc != 0 ? rc : step(c);
    }
    return rc;
}

static int read_history(struct lb_case *c)
{
    int rc = lb_case_goes_on(c);
    rc = rc != 0 ? rc : lb_scan_history(c);
    rc = rc != 0 ? rc : lb_case_goes_on(c);
    if (rc != 0)
        return rc;
    if (c->model->queue) {
        lb_attributes_sort(c);
        return lb_ids_finish(c);
    }
    lb_world_apply(c);
    lb_merge_holds(c);
    return 0;
}

static int judge(struct lb_case *c)
{
    int rc = 0;
    lb_settled_begin(c);
    if (c->model->queue)
        lb_ids_open(c);
    else if (has_shortcut(c->model))
        rc = lb_judge_calm_lock(c);
    if (rc == 0 && !c->is_calm)
        rc = read_history(c);
    if (rc == 0 && !c->is_calm)
        rc = judge_kinds(c, false);
    rc = rc != 0 ? rc : judge_kinds(c, true);
    if (rc != 0)
        return rc;
    lb_settled_end(c);
    lb_judge_answers(c);
    lb_judge_fairness(c);
    lb_judge_waits(c);
    return 0;
}

/* Why the history cannot tell whether a guarantee held; NULL: it can. */
static const char *untested(const struct lb_case *c, int guarantee)
{
    const struct lb_model *model = c->model;
    const struct lb_guarantee_kind *kind = lb_guarantee_kinds[guarantee];
    const bool was_tested = c->out->findings[guarantee].n_tested > 0;
    if (model->queue && !lb_guarantee_is((enum lb_guarantee)guarantee, LB_GUARANTEE_IS_FOR_QUEUES))
        return "it is about locks, and this is a queue";
    if (!model->queue && !lb_guarantee_is((enum lb_guarantee)guarantee, LB_GUARANTEE_IS_FOR_LOCKS))
        return "it is about queues, and this is a lock";
    if (c->history->truncated)
        return "the history is cut off";
    if (!model->complete)
        return "the history does not reach the end of the run";
    const char *reason = kind->cannot_say != NULL ? kind->cannot_say(c) : NULL;
    if (reason == NULL && was_tested)
        reason = c->doubt[guarantee];
    if (reason == NULL && !was_tested)
        reason = kind->nothing;
    /* A protocol that lets no worker in was not seen to work. */
    if (reason == NULL && !kind->needs_no_grant &&
        (model->queue ? c->out->measures.n_claims : c->out->measures.n_holds) == 0)
        reason = "no worker was granted anything";
    return reason;
}

static void give_verdicts(struct lb_case *c)
{
    for (int i = 0; i < LB_GUARANTEES; i++) {
        struct lb_finding *finding = &c->out->findings[i];
        const struct lb_guarantee_kind *kind = lb_guarantee_kinds[i];
        const char *reason = untested(c, i),
                   *dropped = lb_settled_cannot_say(c, (enum lb_guarantee)i);
        char overruled[sizeof finding->reason] = "";
        if (dropped != NULL)
            finding->n_tested = 0;
        if (dropped != NULL)
            snprintf(overruled, sizeof overruled, "%s", dropped);
        else if (kind->overrule != NULL)
            kind->overrule(c, overruled, sizeof overruled);
        else if (kind->is_within_class && c->classes_differ && finding->n_violations > 0)
            snprintf(overruled, sizeof overruled,
                     "items of several classes: each class may have keys and limits of its own");
        if (overruled[0] != '\0') {
            finding->n_violations = 0;
            finding->n_witnesses = 0;
            reason = overruled;
        }
        if ((c->model->claims & LB_G_BIT(i)) == 0) {
            finding->verdict = LB_V_NOT_CLAIMED;
        } else if (finding->n_violations > 0) {
            finding->verdict = LB_V_VIOLATED;
        } else if (reason != NULL) {
            finding->verdict = LB_V_NOT_TESTED;
            snprintf(finding->reason, sizeof finding->reason, "%s", reason);
        } else {
            finding->verdict = LB_V_HELD;
        }
    }
}

static uint32_t largest_resource(const struct lb_span *span)
{
    uint32_t largest = 0;
    for (size_t k = 0; k < span->n; k++)
        if (span->events[k].type == LB_EV_INVOKE && span->events[k].object > largest)
            largest = span->events[k].object;
    return largest;
}

/* Resources are numbered from 0; a history from elsewhere may not say how many there are. */
static int count_resources(struct lb_case *c)
{
    enum { MOST = 1 << 28 };
    c->n_resources = c->model->n_resources;
    if (c->n_resources > 0 || c->model->queue)
        return 0;
    uint32_t largest = 0;
    bool goes_on = true;
    for (size_t s = 0; goes_on; s++) { /* the logs side by side, as they lie in the file */
        goes_on = false;
        for (size_t i = 0; i < c->history->n_logs; i++) {
            const struct lb_log_view *log = &c->history->logs[i];
            if (s >= log->n_spans)
                continue;
            goes_on = true;
            uint32_t here = largest_resource(&log->spans[s]);
            largest = here > largest ? here : largest;
            lb_history_forget(c->history, &log->spans[s]);
        }
    }
    if (largest >= MOST)
        return lb_fail(c->err, LB_E_FILE, "resource number %u is beyond %d", largest, MOST);
    c->n_resources = largest + 1;
    return 0;
}

/* 0: it has no events. */
static uint64_t last_time(const struct lb_log_view *log)
{
    for (size_t s = log->n_spans; s-- > 0;)
        if (log->spans[s].n > 0)
            return log->spans[s].events[log->spans[s].n - 1].time_ns;
    return 0;
}

int lb_check_once(const struct lb_history_view *history, const struct lb_model *model,
                  struct lb_judgement *ret_judgement, struct lb_error *err)
{
    struct lb_judgement *out = lb_calloc(1, sizeof *out);
    struct lb_case c = {.history = history, .model = model, .err = err, .out = out};
    c.end_ns = model->end_ns;
    c.is_drained = model->drained && !history->truncated;
    c.had_again = LB_NEVER;
    c.one_class = LB_NONE;
    c.known_ns = history->truncated ? history->whole_ns : LB_NEVER;
    for (size_t i = 0; i < history->n_logs && history->truncated; i++) { /* by any of the clocks */
        uint64_t low = lb_low(history->whole_ns, history->logs[i].uncertainty_ns);
        c.known_ns = low < c.known_ns ? low : c.known_ns;
    }
    for (size_t i = 0; i < history->n_logs; i++) {
        uint64_t last = last_time(&history->logs[i]);
        uint64_t slack = history->logs[i].uncertainty_ns;
        c.end_ns = last > c.end_ns && last <= LB_TIME_MAX ? last : c.end_ns;
        c.most_slack = slack > c.most_slack ? slack : c.most_slack;
    }
    c.logs = lb_calloc(history->n_logs + 1, sizeof *c.logs);
    int rc = count_resources(&c);
    if (rc == 0 && model->n_resources == 0 && model->capacity != NULL)
        rc = lb_fail(err, LB_E_INTERNAL, "capacities without resources");
    if (rc == 0)
        rc = judge(&c);
    if (rc == 0) {
        give_verdicts(&c);
        *ret_judgement = *out;
    }
    case_release(&c);
    free(out);
    return rc;
}
