/* no-duplicate, owner-release, once and (with loss.c) no-loss of items: each item is searched for
 * an order that keeps them (spec/item.c, spec/spec_search.c).
 *
 * Only the events of odd ids are here (see ids.c), sorted by id; nearly all ids have one claim and
 * one end, and need no look.
 */
#include "guarantee_kind.h"
#include "item_ops.h"
#include "judges.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>

enum { DUPLICATE = 1, NOT_OWNER = 2, LOST = 4 };

struct judge {
    struct lb_case *c;
    struct lb_search_budget budget;
    struct lb_search *search;
    struct lb_item_ops ops;
    struct lb_item_model model;
};

/* The last recovery between two claims, which was requested before the second one was answered;
 * NULL. */
static const struct lb_moment *recovery_between(const struct lb_item_ops *ops,
                                                const struct lb_item_record *first,
                                                const struct lb_item_record *second)
{
    const struct lb_moment *end, *found = NULL;
    const struct lb_moment *m = lb_openers_from(ops->world, LB_OP_RECOVER, 0, first->low, &end);
    for (; m != NULL && m < end && m->op == LB_OP_RECOVER && m->least <= second->high; m++)
        if (m->low <= second->high)
            found = m;
    return found;
}

/* found: a recovery; NULL: "". */
static void tell_recovery(const struct lb_item_ops *ops, const struct lb_item_record *first,
                          const struct lb_moment *found, char *text, size_t size)
{
    char at[LB_AT], after[LB_AT], ttl[LB_AT];
    text[0] = '\0';
    if (found == NULL)
        return;
    uint64_t since = found->low > first->low ? found->low - first->low : 0;
    int n = snprintf(text, size, "; recover ran at %s, %s after the first of them was requested; ",
                     lb_at(ops->c, found->low, at, sizeof at),
                     lb_format_ns(since, after, sizeof after));
    if (n < 0 || (size_t)n >= size)
        return;
    if (found->age_ms > 0)
        snprintf(text + n, size - (size_t)n, "ttl %s",
                 lb_format_ns((uint64_t)found->age_ms * 1000000u, ttl, sizeof ttl));
    else
        snprintf(text + n, size - (size_t)n, "it takes what the dead had");
}

/* Of two claims, the one that was answered first comes first. */
struct pair {
    const struct lb_item_record *first, *second;
    const struct lb_item_record *done; /* completed the first, before the second was requested */
    uint64_t end;                      /* the earliest end of the first, or of both; LB_NEVER */
};

static struct pair pair_of(const struct lb_item_ops *ops, const struct lb_break *one)
{
    uint32_t second = one->by, first = lb_item_ops_claim_before(ops, second, one->other);
    struct pair pair = {.first = lb_item_record_of(ops, first),
                        .second = lb_item_record_of(ops, second),
                        .end = lb_item_ops_end(ops, first)};
    for (uint32_t i = first + 1; i < ops->array.n; i++) {
        const struct lb_spec_op *op = lb_item_op(ops, i);
        if (op->kind != LB_ITEM_END || op->to != LB_ITEM_DONE || op->about != first || !op->must)
            continue;
        const struct lb_item_record *done = op->detail;
        /* One worker's pipeline ends an item and claims another one at a time. */
        if (done->log == pair.second->log ? op->high <= pair.second->low
                                          : op->high <= pair.second->high)
            pair.done = done;
    }
    if (pair.end != LB_NEVER && lb_item_ops_end(ops, second) < pair.end)
        pair.end = lb_item_ops_end(ops, second);
    return pair;
}

static void report_duplicate(const struct lb_item_ops *ops, const struct lb_break *one)
{
    struct lb_case *c = ops->c;
    struct lb_witness *witness = lb_violation(c, LB_G_NO_DUPLICATE);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT], done[LB_AT + 16] = "", recovery[160];
    struct pair pair = pair_of(ops, one);
    const struct lb_moment *found = recovery_between(ops, pair.first, pair.second);
    tell_recovery(ops, pair.first, found, recovery, sizeof recovery);
    lb_witness_add(c, witness, pair.first->log, pair.first->event);
    if (pair.done != NULL) {
        lb_witness_add(c, witness, pair.done->log, pair.done->event);
        snprintf(done, sizeof done, "completed at %s, ", lb_at(c, pair.done->high, at, sizeof at));
    }
    if (found != NULL)
        lb_witness_add(c, witness, found->log, found->position);
    lb_witness_add(c, witness, pair.second->log, pair.second->event);
    witness->at_ns = pair.second->high;
    if (pair.end != LB_NEVER)
        witness->overlap_ns = pair.end > pair.second->high ? pair.end - pair.second->high : 0;
    lb_witness_text(
        witness,
        "item %s was claimed by %s, answered at %s, %sand %s by %s, "
        "answered at %s, %s%s",
        LB_ITEM_OF(c, pair.first->id), lb_who(c, pair.first->log, LB_WHOM),
        lb_at(c, pair.first->high, before, sizeof before), done,
        pair.second->op != LB_OP_ITEM ? "its older claim renewed"
        : pair.done != NULL           ? "claimed again"
                                      : "again",
        lb_who(c, pair.second->log, LB_WHOM), lb_at(c, pair.second->high, at, sizeof at),
        c->model->period_ns > 1 ? "before it was due again" : "without having been given back",
        recovery);
}

static void report_once(const struct lb_item_ops *ops, const struct lb_break *one)
{
    struct lb_case *c = ops->c;
    struct lb_witness *witness = lb_violation(c, LB_G_ONCE);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT];
    struct pair pair = pair_of(ops, one);
    lb_witness_add(c, witness, pair.first->log, pair.first->event);
    lb_witness_add(c, witness, pair.second->log, pair.second->event);
    witness->at_ns = pair.second->high;
    lb_witness_text(witness,
                    "%s began to work on item %s at %s, and %s did so again at %s: it was not "
                    "given back undone between",
                    lb_who(c, pair.first->log, LB_WHOM), LB_ITEM_OF(c, pair.first->id),
                    lb_at(c, pair.first->high, before, sizeof before),
                    lb_who(c, pair.second->log, LB_WHOM),
                    lb_at(c, pair.second->high, at, sizeof at));
}

static void tell_owner(struct lb_case *c, struct lb_witness *witness,
                       const struct lb_item_record *op, const char *why, const char *owner)
{
    const struct lb_event *invoke = lb_case_event(c, op->log, op->event);
    char at[LB_AT];
    lb_witness_add(c, witness, op->log, op->event);
    witness->at_ns = op->low;
    lb_witness_text(witness, "%s's %s of item %s at %s had an effect, though %s%s",
                    lb_who(c, op->log, LB_WHOM), lb_op_name(invoke->op), LB_ITEM_OF(c, op->id),
                    lb_at(c, invoke->time_ns, at, sizeof at), why, owner);
}

/* is_either: an order in which the item was not another's has a duplicate. */
static void report_owner(const struct lb_item_ops *ops, const struct lb_break *one, bool is_either)
{
    struct lb_case *c = ops->c;
    struct lb_witness *witness = lb_violation(c, LB_G_OWNER_RELEASE);
    char who[LB_WHO + 80] = "";
    if (witness == NULL)
        return;
    if (one->other != LB_SPEC_NONE) {
        const struct lb_item_record *owner = lb_item_record_of(ops, one->other);
        lb_witness_add(c, witness, owner->log, owner->event);
        snprintf(who, sizeof who, " and %s owned it%s", lb_who(c, owner->log, LB_WHOM),
                 is_either ? "; in any other order it was claimed twice" : "");
    }
    tell_owner(c, witness, lb_item_record_of(ops, lb_item_ops_culprit(ops, one)),
               "the item had been taken from it", who);
}

/* An end with an effect by a worker that had no claim of the item needs no order. */
static void judge_strangers(struct lb_case *c, const struct lb_item_record *const *records,
                            size_t n)
{
    bool has_it = false;
    for (size_t i = 0; i < n; i++) {
        const struct lb_item_record *e = records[i];
        if (i > 0 && records[i - 1]->log != e->log)
            has_it = false;
        if (e->op == LB_OP_ITEM)
            has_it = true;
        if (!lb_item_closes(e->op) || !lb_item_certain(e))
            continue;
        c->n_releases++;
        struct lb_witness *witness =
            !has_it && !e->is_unclear ? lb_violation(c, LB_G_OWNER_RELEASE) : NULL;
        if (witness != NULL)
            tell_owner(c, witness, e, "the worker did not have it", "");
        has_it = false;
    }
}

/* --- one item --- */

/* Reports a break, or marks the item as given back and lost. */
static void report_break(const struct lb_item_ops *ops, const struct lb_break *one,
                         struct lb_id *id)
{
    const unsigned claims = ops->c->model->claims;
    const unsigned claimed = ((claims & LB_G_BIT(LB_G_NO_DUPLICATE)) != 0 ? DUPLICATE : 0) |
                             ((claims & LB_G_BIT(LB_G_OWNER_RELEASE)) != 0 ? NOT_OWNER : 0);
    unsigned violated = 0, either = 0;
    if (one->op == LB_SPEC_NONE) {
        lb_break_conclude(one, LOST, &violated, &either);
        id->is_given_back = violated != 0;
        return;
    }
    lb_break_conclude(one, claimed, &violated, &either);
    for (unsigned alone = DUPLICATE; alone <= NOT_OWNER; alone <<= 1) {
        unsigned one_violated = 0, none = 0;
        lb_break_conclude(one, alone, &one_violated, &none);
        violated |= (claimed & alone) == 0 ? one_violated : 0;
    }
    if ((violated & DUPLICATE) != 0)
        report_duplicate(ops, one);
    if ((violated & DUPLICATE) == 0 && ((violated | either) & NOT_OWNER) != 0)
        report_owner(ops, one, either != 0);
}

static void note_doubt(const struct judge *judge)
{
    struct lb_case *c = judge->c;
    const char *doubt = judge->ops.doubt;
    if (doubt == NULL && lb_search_gave_up(judge->search))
        doubt = "too much happened to an item at one time: the search for an order was given up";
    if (doubt != NULL && judge->ops.purpose == LB_FOR_EXECUTIONS)
        c->doubt[LB_G_ONCE] = doubt;
    else if (doubt != NULL)
        c->doubt[LB_G_NO_DUPLICATE] = c->doubt[LB_G_OWNER_RELEASE] = c->doubt[LB_G_NO_LOSS] = doubt;
}

static void search_item(struct judge *judge, const struct lb_item_record *const *records, size_t n,
                        struct lb_id *id)
{
    bool is_once = judge->ops.purpose == LB_FOR_EXECUTIONS;
    judge->model = (struct lb_item_model){
        .claimed_twice = DUPLICATE,
        .not_owner = is_once ? 0 : NOT_OWNER,
        .lost = !is_once && id != NULL && judge->c->is_drained ? LOST : 0,
        .is_once = is_once,
        .recovers = lb_item_ops_recovers,
        .context = &judge->ops,
    };
    const struct lb_automaton automaton = lb_item_automaton(&judge->model);
    size_t n_breaks = 0;
    lb_item_ops_fill(&judge->ops, records, n, judge->budget.ops);
    lb_item_ops_search(&judge->ops, judge->search, &automaton, &judge->model);
    const struct lb_break *breaks = lb_search_breaks(judge->search, &n_breaks);
    for (size_t i = 0; i < n_breaks; i++)
        if (is_once)
            report_once(&judge->ops, &breaks[i]);
        else
            report_break(&judge->ops, &breaks[i], id);
    note_doubt(judge);
}

/* A shortcut: an item that was claimed once, and that one worker alone touched and did not free,
 * breaks nothing.
 *
 * Proof. Let each operation take effect at its invoke, in the order of the worker's log,
 * and let no lease, loss or recovery take effect. The only claim finds the item waiting, so no
 * claim is a duplicate and no execution is a second one. The worker's ends find its own claim, or
 * an item that no other worker has, so each of them is the owner's. Nothing makes the item wait
 * again, so that it is not lost. (An end by a worker that had no claim is judged before.)
 */
static bool is_single(const struct lb_item_record *const *records, size_t n)
{
    if (records[0]->op != LB_OP_ITEM)
        return false;
    for (size_t i = 1; i < n; i++)
        if (records[i]->op == LB_OP_ITEM || records[i]->op == LB_OP_FREE ||
            records[i]->log != records[0]->log)
            return false;
    return true;
}

static void judge_item(struct judge *judge, const struct lb_item_record *const *records, size_t n,
                       struct lb_id *id)
{
    struct lb_case *c = judge->c;
    judge_strangers(c, records, n);
    if (lb_wants_attempts(c))
        lb_judge_attempts(&judge->ops, records, n);
    if (!c->model->plain && is_single(records, n))
        return;
    judge->ops.purpose = LB_FOR_ITEM;
    search_item(judge, records, n, id);
    lb_item_ops_count_taken(&judge->ops);
    judge->ops.purpose = LB_FOR_EXECUTIONS;
    if ((c->model->claims & LB_G_BIT(LB_G_ONCE)) != 0)
        search_item(judge, records, n, id);
}

/* --- all items --- */

static int judge_all(struct judge *judge)
{
    enum { OFTEN = 256 };
    struct lb_case *c = judge->c;
    struct lb_array places = {0};
    int rc = 0;
    size_t next = 0, next_id = 0, n_judged = 0;
    for (size_t i = 0, end = 0; i < c->items.n && rc == 0; i = end) {
        uint64_t id = c->by_id[i].key;
        while (end < c->items.n && c->by_id[end].key == id)
            end++;
        if (n_judged++ % OFTEN == 0)
            rc = lb_case_goes_on(c);
        if (rc != 0 || lb_item_is_put_again(c, id, &next))
            continue;
        lb_item_gather(c, i, end - i, &places);
        judge_item(judge, places.items, places.n, lb_item_id(c, id, &next_id));
    }
    free(places.items);
    return rc;
}

/* c->items are in order of log and event; sorted by id, they still are within one id. */
static int judge_items(struct lb_case *c)
{
    struct lb_item_world world = {.longest = 0};
    struct judge judge = {.c = c,
                          .budget = {.ops = (1 << 24) + 4 * c->history->n_events,
                                     .steps = (1 << 26) + 16 * c->history->n_events},
                          .ops = {.c = c, .world = &world}};
    if (c->items.n > 0)
        lb_item_world_init(&world, c);
    lb_beats_sort(c);
    judge.search = lb_search_open(&judge.budget);
    int rc = judge_all(&judge);
    if (rc == 0)
        lb_judge_limits(c, &judge.ops, judge.search, judge.budget.ops);
    lb_search_close(judge.search);
    free(world.openers.items);
    free(world.session_ends.items);
    free(judge.ops.array.items);
    free(judge.ops.busy.items);
    lb_finding_of(c, LB_G_NO_DUPLICATE)->n_tested = c->out->measures.n_claims;
    lb_finding_of(c, LB_G_ONCE)->n_tested = c->out->measures.n_claims;
    if (c->model->attempts == 1) /* most items have one claim, and were not looked at */
        lb_finding_of(c, LB_G_ATTEMPTS)->n_tested = c->out->measures.n_claims;
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested = c->n_releases;
    lb_judge_item_waits(c);
    return rc;
}

const struct lb_guarantee_kind lb_guarantee_no_duplicate = {.judge_queue = judge_items,
                                                            .nothing = "nothing was claimed"};
const struct lb_guarantee_kind lb_guarantee_once = {.nothing = "nothing was claimed"};
