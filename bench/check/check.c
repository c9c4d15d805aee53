/* From a history to verdicts: see check.h. The guarantees are judged in files of their own.
 *
 * Every guarantee is judged whether it is claimed or not, and its violations are counted; the
 * verdict then says what was claimed. A violation that was found stands even if the history is
 * incomplete, since what is missing cannot undo it; "held" needs a whole history with something
 * in it to test.
 */
#include "doubts.h"
#include "judges.h"
#include "scan_logs.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>

static void case_release(struct lb_case *c)
{
    struct lb_array *arrays[] = {&c->holds,    &c->tokens,         &c->late,         &c->items,
                                 &c->puts,     &c->world,          &c->waiters,      &c->writes,
                                 &c->refusals, &c->unknown,        &c->pending,      &c->open,
                                 &c->infos,    &c->unknown_grants, &c->crowded_ends, &c->stalls,
                                 &c->unrun,    &c->late_waits,     &c->ties,         &c->asked};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]->items);
    for (size_t i = 0; i < c->history->n_logs && c->logs != NULL; i++)
        free(c->logs[i].span_first);
    free(c->logs);
    free(c->order);
    free(c->first_violation);
    free(c->by_id);
    free(c->put_again.items);
    free(c->let_go.items);
    free(c->beats.items);
    free(c->moments.items);
    lb_ids_release(c);
}

static int judge(struct lb_case *c)
{
    typedef int step(struct lb_case * c);
    static step *const of_queue[] = {lb_scan_history, lb_ids_finish,       lb_judge_items,
                                     lb_judge_loss,   lb_judge_queue_fifo, lb_judge_item_deaths};
    static step *const of_lock[] = {lb_scan_history,    lb_world_apply,   lb_merge_holds,
                                    lb_judge_exclusive, lb_judge_permits, lb_judge_owner,
                                    lb_judge_lock_fifo, lb_judge_recovery};
    static step *const of_both[] = {lb_judge_fenced, lb_judge_answers, lb_judge_fairness};
    step *const *const steps = c->model->queue ? of_queue : of_lock;
    const size_t n =
        c->model->queue ? sizeof of_queue / sizeof *of_queue : sizeof of_lock / sizeof *of_lock;
    int rc = 0;
    if (c->model->queue)
        lb_ids_open(c);
    else if (!c->model->plain)
        rc = lb_judge_calm_lock(c);
    for (size_t i = c->is_calm ? n : 0; i < n + sizeof of_both / sizeof *of_both && rc == 0; i++) {
        rc = lb_case_goes_on(c);
        if (rc == 0)
            rc = i < n ? steps[i](c) : of_both[i - n](c);
    }
    return rc;
}

static const char *untested_recovery(const struct lb_case *c)
{
    if (c->out->measures.n_deaths == 0)
        return "no worker died holding it";
    for (uint32_t r = 0;
         !c->model->queue && c->model->capacity != NULL && r < c->model->n_resources; r++)
        if (c->model->capacity[r] > 1)
            return "others go on beside a dead worker: the next grant does not show that its hold "
                   "was recovered";
    return "the run ended before the next grant, and before the bound was over, or no worker asked";
}

/* Why the history cannot tell whether a guarantee held; NULL: it can. */
static const char *untested(const struct lb_case *c, int guarantee)
{
    const struct lb_model *model = c->model;
    bool for_queue = guarantee == LB_G_NO_DUPLICATE || guarantee == LB_G_NO_LOSS ||
                     guarantee == LB_G_BOUNDED_CLAIM || guarantee == LB_G_ONCE ||
                     guarantee == LB_G_GROUP_EXCLUSIVE;
    if (for_queue && !model->queue)
        return "it is about queues, and this is a lock";
    if ((guarantee == LB_G_EXCLUSIVE || guarantee == LB_G_PERMITS) && model->queue)
        return "it is about locks, and this is a queue";
    if (c->history->truncated)
        return "the history is cut off";
    if (!model->complete)
        return "the history does not reach the end of the run";
    if (guarantee == LB_G_PROGRESS && model->progress_bound_ns == 0)
        return "no bound was given";
    if (guarantee == LB_G_RECOVERY && model->recovery_bound_ns == 0)
        return "no bound was given";
    if (guarantee == LB_G_GROUP_EXCLUSIVE && model->groups == 0)
        return "the history does not say which items are of one group";
    if (guarantee == LB_G_NO_LOSS && !model->drained)
        return "the queue was not drained";
    if (c->out->findings[guarantee].n_tested > 0 && c->doubt[guarantee] != NULL)
        return c->doubt[guarantee];
    /* A protocol that lets no worker in was not seen to work. */
    bool is_idle = guarantee == LB_G_FENCED ? false
                   : model->queue           ? c->out->measures.n_claims == 0
                                            : c->out->measures.n_holds == 0;
    if (c->out->findings[guarantee].n_tested > 0)
        return is_idle ? "no worker was granted anything" : NULL;
    switch (guarantee) {
    case LB_G_EXCLUSIVE:
        return "nothing was granted";
    case LB_G_PERMITS:
        return "the count was not read when all was quiet";
    case LB_G_FENCED:
        return "no token was seen";
    case LB_G_OWNER_RELEASE:
        return "nothing was released";
    case LB_G_NO_LOSS:
        return "nothing was put";
    case LB_G_FIFO:
        return model->queue ? "nothing was claimed" : "no worker drew a ticket";
    case LB_G_PROGRESS:
        return "there was no request";
    case LB_G_RECOVERY:
        return untested_recovery(c);
    default:
        return "nothing was claimed";
    }
}

/* Why no wait of this history can break, or keep, the bound on waits. Returns buf; "": it can. */
static const char *undecidable_waits(const struct lb_case *c, char *buf, size_t size)
{
    const uint64_t bound_ns = c->model->progress_bound_ns, demand_ns = c->model->progress_demand_ns;
    const uint64_t begin_ns = c->history->begin_ns;
    const uint64_t length_ns = c->end_ns > begin_ns ? c->end_ns - begin_ns : 0;
    /* Where nothing was ever granted, no worker waited for the holds of others. */
    const bool is_idle = c->out->measures.n_holds == 0 && c->out->measures.n_claims == 0;
    const bool is_short = bound_ns < demand_ns && !is_idle;
    char bound[32], other[32];
    buf[0] = '\0';
    lb_format_ns(bound_ns, bound, sizeof bound);
    if (bound_ns == 0 || (!is_short && bound_ns <= length_ns))
        return buf;
    if (is_short)
        snprintf(buf, size,
                 "the bound is %s, but holds, polls and faults of the scenario may keep a worker "
                 "waiting for %s: use a longer --progress-bound",
                 bound, lb_format_ns(demand_ns, other, sizeof other));
    else
        snprintf(
            buf, size,
            "the bound is %s, and the run was shorter: %s: use a longer --duration, or shorter "
            "holds and fewer faults",
            bound, lb_format_ns(length_ns, other, sizeof other));
    return buf;
}

static void give_verdicts(struct lb_case *c)
{
    char undecidable[sizeof c->out->findings[0].reason];
    undecidable_waits(c, undecidable, sizeof undecidable);
    for (int i = 0; i < LB_GUARANTEES; i++) {
        struct lb_finding *finding = &c->out->findings[i];
        const char *reason = untested(c, i), *overruled = "";
        if (i == LB_G_PROGRESS)
            overruled = undecidable;
        if ((i == LB_G_PROGRESS || i == LB_G_RECOVERY) && c->stalled[0] != '\0')
            overruled = c->stalled;
        if (overruled[0] != '\0') { /* by a clock that says nothing */
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

int lb_check_once(const struct lb_history_view *history, const struct lb_model *model,
                  struct lb_judgement *ret_judgement, struct lb_error *err)
{
    struct lb_judgement *out = calloc(1, sizeof *out);
    struct lb_case c = {.history = history, .model = model, .err = err, .out = out};
    c.end_ns = model->end_ns;
    c.is_drained = model->drained && !history->truncated;
    c.had_again = LB_NEVER;
    c.known_ns = history->truncated ? history->whole_ns : LB_NEVER;
    for (size_t i = 0; i < history->n_logs && history->truncated; i++) { /* by any of the clocks */
        uint64_t low = lb_low(history->whole_ns, history->logs[i].uncertainty_ns);
        c.known_ns = low < c.known_ns ? low : c.known_ns;
    }
    c.logs = calloc(history->n_logs + 1, sizeof *c.logs);
    int rc = out == NULL || c.logs == NULL ? lb_out_of_memory(&c) : count_resources(&c);
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
