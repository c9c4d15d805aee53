/* Items in the hands of dead workers: a worker that claimed an item, and died before it was
 * certainly finished, leaves it to others. It is recovered when the next claim of it is answered;
 * in a drained queue an item that was not claimed again is stuck, which no-loss does not see, since
 * it was claimed once. An item with an unanswered end may be finished: it is left out unless it was
 * claimed again. A worker with a refused end, or with an item that another had claimed by then,
 * dies without it. An item stuck for longer than the bound (a second at least) is a violation of
 * recovery, or of no-loss where no recovery is claimed.
 *
 * A queue ordered by the time at which an item became claimable puts the dead worker's item behind
 * those that existed before it was claimable again (its lease was over, or a recovery freed it),
 * and a long backlog takes its time. So the bound counts from the death, or from the last claim of
 * an item that was put before then and was claimed before the dead's item, whichever is later: the
 * work that lay before it was done by then.
 *
 * An item that reached the protocol's attempt limit is a dead letter, and does not come back.
 */
#include "guarantee_kind.h"
#include "items.h"
#include "judges.h"
#include "scan_logs.h"

#include "order.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

static const struct lb_item_record *event_at(const struct lb_case *c, size_t i)
{
    const struct lb_item_record *items = c->items.items;
    return &items[c->by_id[i].index];
}

/* The time from which others could have the dead worker's item; the death if that is unknown: a
 * lease that never ends, or a recovery that never runs, is no excuse. */
static uint64_t claimable_again(const struct lb_case *c, const struct lb_item_record *dead,
                                uint64_t death, uint64_t lease_end, uint64_t renewed)
{
    const struct lb_world_event *world = c->world.items;
    uint64_t first = LB_NEVER;
    if (dead->lease_ms > 0)
        return lease_end > death ? lease_end : death;
    for (size_t i = 0; i < c->world.n; i++)
        if (world[i].op == LB_OP_RECOVER && world[i].type == LB_EV_OK && world[i].low >= death &&
            world[i].low >= renewed + ((uint64_t)world[i].age_ms + c->model->tick_ms) * 1000000 &&
            world[i].high < first)
            first = world[i].high;
    return first == LB_NEVER ? death : first;
}

/* Until when consumers were at work that lay before the item: see above. */
static uint64_t work_before(const struct lb_case *c, uint64_t death, uint64_t again, uint64_t until)
{
    uint64_t last = death;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        if (id->is_put && id->is_claimed && id->put_low < again && id->claim_high < until &&
            id->claim_high > last)
            last = id->claim_high;
    return last;
}

static enum lb_guarantee guarantee_of_stuck(const struct lb_case *c)
{
    return (c->model->claims & LB_G_BIT(LB_G_RECOVERY)) != 0 ? LB_G_RECOVERY : LB_G_NO_LOSS;
}

/* No worker has it, or ever will: for its users a stuck item is lost. */
static void report_stuck(struct lb_case *c, const struct lb_item_record *dead, uint64_t death,
                         uint64_t length)
{
    struct lb_witness *witness = lb_violation(c, guarantee_of_stuck(c));
    if (witness == NULL)
        return;
    char at[LB_AT], after[LB_AT];
    lb_witness_add(c, witness, dead->log, dead->event);
    witness->at_ns = c->end_ns;
    lb_witness_text(witness,
                    "%s died at %s with item %s, which is stuck: %s later the queue was drained, "
                    "and no worker had it",
                    lb_who(c, dead->log, LB_WHOM), lb_at(c, death, at, sizeof at),
                    LB_ITEM_OF(c, dead->id), lb_format_ns(length, after, sizeof after));
}

static void report(struct lb_case *c, const struct lb_item_record *dead, uint64_t death,
                   const struct lb_item_record *next, uint64_t took)
{
    char had[LB_ITEM_NAME + 16];
    snprintf(had, sizeof had, "with item %s", LB_ITEM_OF(c, dead->id));
    lb_report_recovery(c, &(struct lb_recovery){.log = dead->log,
                                                .event = dead->event,
                                                .has_next = next != NULL,
                                                .next_log = next != NULL ? next->log : 0,
                                                .next_event = next != NULL ? next->event : 0,
                                                .death = death,
                                                .took_ns = took,
                                                .had = had,
                                                .came = next != NULL
                                                            ? "it was claimed again"
                                                            : "no worker had claimed it again"});
}

static int by_id_and_log(const void *a, const void *b)
{
    const struct lb_let_go *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Was its claimer told, after this claim, that the item is not his? */
static bool was_let_go(const struct lb_case *c, const struct lb_item_record *claim)
{
    const struct lb_let_go *all = c->let_go.items;
    const struct lb_let_go wanted = {claim->id, claim->log, claim->event};
    size_t i = lb_order_first(all, c->let_go.n, sizeof wanted, &wanted, by_id_and_log);
    return i < c->let_go.n && all[i].id == claim->id && all[i].log == claim->log;
}

/* Was it tried so often that the protocol has, or may have, given it up? See loss.c. */
static bool is_given_up(struct lb_case *c, size_t first, size_t end)
{
    uint64_t n = 0;
    for (size_t k = first; k < end; k++)
        n += event_at(c, k)->op == LB_OP_ITEM;
    if (c->model->attempts == 0 || 2 * n < c->model->attempts)
        return false;
    if (n < c->model->attempts)
        c->doubt[guarantee_of_stuck(c)] = "an item of a dead worker was not claimed again, and "
                                          "may have reached the attempt limit";
    return true;
}

/* No worker is known to have had the item for a length of time after a death. */
static void judge_wait(struct lb_case *c, const struct lb_item_record *dead,
                       const struct lb_item_record *next, uint64_t until, uint64_t again)
{
    uint64_t death = c->logs[dead->log].death_ns, length = until > death ? until - death : 0;
    length -= lb_stalled_within(c, death, until);
    uint64_t bound = c->model->recovery_bound_ns, late = length;
    struct lb_recovery_wait wait = {
        .again = again,
        .from = death,
        .until = until,
        .bound_ns = bound > LB_NOTICED_NS ? bound : LB_NOTICED_NS,
        .object = dead->class_no,
        .log = dead->log,
    };
    bool is_drained = next == NULL && c->is_drained;
    if (is_drained && ((c->model->claims & LB_G_BIT(LB_G_RECOVERY)) == 0 || bound == 0) &&
        lb_is_late_recovery(c, guarantee_of_stuck(c), &wait))
        report_stuck(c, dead, death, length);
    if (bound > 0 && late > bound) { /* a pass over all ids, for those few */
        wait.from = work_before(c, death, again, until);
        /* Draining a queue asks for all items in it. */
        uint64_t asked = is_drained ? death : lb_first_try(c, dead->log, dead->class_no, death);
        wait.from = asked > wait.from ? asked : wait.from;
        late = until > wait.from ? until - wait.from - lb_stalled_within(c, wait.from, until) : 0;
    }
    lb_finding_of(c, LB_G_RECOVERY)->n_tested += next != NULL || late > bound;
    wait.bound_ns = bound;
    if (bound > 0 && late > bound && lb_is_late_recovery(c, LB_G_RECOVERY, &wait))
        report(c, dead, death, next, length);
}

/* The claim at place i of the items first .. end - 1, all of one id, was its claimer's last
 * operation.
 */
static void judge_death(struct lb_case *c, size_t first, size_t end, size_t i,
                        struct lb_array *took)
{
    const struct lb_item_record *dead = event_at(c, i), *next = NULL;
    uint64_t death = c->logs[dead->log].death_ns;
    uint64_t lease_end = lb_lease_high(c, dead->high, dead->lease_ms), renewed = dead->high;
    bool unclear = false, is_freed = false;
    for (size_t k = first; k < end; k++) {
        const struct lb_item_record *e = event_at(c, k);
        if (e->log == dead->log && e->event > dead->event && e->op != LB_OP_RENEW_ITEM) {
            if (e->type == LB_EV_OK)
                return;
            unclear = true;
            is_freed = is_freed || (e->op == LB_OP_FREE && e->type != LB_EV_FAIL);
        }
        if (e->log == dead->log && e->event > dead->event && e->op == LB_OP_RENEW_ITEM &&
            e->high != LB_NEVER && e->high > renewed) {
            renewed = e->high;
            if (lb_lease_high(c, renewed, e->lease_ms) > lease_end)
                lease_end = lb_lease_high(c, renewed, e->lease_ms);
        }
        bool is_others = e->op == LB_OP_ITEM && e->log != dead->log;
        if (is_others && e->high >= dead->low && e->high < death)
            return; /* another worker had it by then */
        if (is_others && e->high >= death && (next == NULL || e->high < next->high))
            next = e;
    }
    if (unclear && next == NULL) {
        uint64_t seen = c->end_ns < c->known_ns ? c->end_ns : c->known_ns;
        if (is_freed && seen > death && seen - death > c->model->recovery_bound_ns)
            c->doubt[guarantee_of_stuck(c)] = LB_FREE_UNKNOWN;
        return;
    }
    if (was_let_go(c, dead))
        return;
    if (next == NULL && is_given_up(c, first, end))
        return;
    struct lb_measures *measures = &c->out->measures;
    uint64_t until = next != NULL ? next->high : c->end_ns;
    until = until < c->known_ns ? until : c->known_ns;
    uint64_t length = until > death ? until - death : 0;
    length -= lb_stalled_within(c, death, until);
    measures->n_deaths++;
    if (next != NULL) {
        uint64_t *slot = lb_array_push(took, sizeof *slot);
        *slot = length;
    } else {
        measures->n_stuck += c->is_drained;
    }
    judge_wait(c, dead, next, until, claimable_again(c, dead, death, lease_end, renewed));
}

static int judge_deaths(struct lb_case *c)
{
    struct lb_array took = {0};
    bool is_any = false;
    for (size_t i = 0; i < c->history->n_logs; i++)
        is_any = is_any || c->logs[i].death_ns != LB_NEVER;
    if (!is_any)
        return 0;
    if (c->let_go.n > 0)
        qsort(c->let_go.items, c->let_go.n, sizeof(struct lb_let_go), by_id_and_log);
    for (size_t first = 0, end = 0, next = 0; first < c->items.n; first = end) {
        while (end < c->items.n && c->by_id[end].key == c->by_id[first].key)
            end++;
        bool is_again = lb_item_is_put_again(c, c->by_id[first].key, &next);
        for (size_t i = first; i < end; i++) {
            const struct lb_item_record *e = event_at(c, i);
            if (e->op != LB_OP_ITEM || c->logs[e->log].death_ns == LB_NEVER)
                continue;
            if (is_again)
                c->doubt[LB_G_RECOVERY] = LB_PUT_AGAIN;
            else
                judge_death(c, first, end, i, &took);
        }
    }
    lb_measure_recovery(c, took.items, took.n);
    free(took.items);
    return 0;
}

static const char *cannot_say(const struct lb_case *c)
{
    if (c->model->recovery_bound_ns == 0)
        return "no bound was given";
    if (c->out->findings[LB_G_RECOVERY].n_tested > 0 || c->doubt[LB_G_RECOVERY] != NULL)
        return c->doubt[LB_G_RECOVERY];
    if (c->out->measures.n_deaths == 0)
        return "no worker died holding it";
    for (uint32_t r = 0;
         !c->model->queue && c->model->capacity != NULL && r < c->model->n_resources; r++)
        if (c->model->capacity[r] > 1)
            return "others go on beside a dead worker: the next grant does not show that its hold "
                   "was recovered";
    return "the run ended before the next grant, and before the bound was over, or no worker asked";
}

static const char *overrule(const struct lb_case *c, char *buf, size_t size)
{
    snprintf(buf, size, "%s", c->stalled);
    return buf;
}

const struct lb_guarantee_kind lb_guarantee_recovery = {.judge_lock = lb_judge_recovery,
                                                        .judge_queue = judge_deaths,
                                                        .has_shortcut = true,
                                                        .cannot_say = cannot_say,
                                                        .overrule = overrule};
