/* no-loss and no phantom: every item that was put is claimed, and none that was not.
 *
 * Phantom: a claimed id that no put names (failed puts did not happen), or that was certainly
 * claimed before its put's request; by the same worker, also within a tick of its clock.
 *
 * Loss, judged when the queue was drained: an id with an acknowledged put and no claim; or one that
 * its last claim gave back (free), without a later claim; or one whose only claimer was refused its
 * end, while nothing else can have taken it (refused_free). Claims of unknown outcome, and items
 * that a claim returned beyond those recorded, may have brought as many others of their class: only
 * items beyond these are certainly lost, and without one there is no verdict. Neither is there for
 * one whose free had an unknown outcome.
 *
 * In a history whose lost items had been given back (returned), a claim of unknown outcome excuses
 * nothing, unless it takes its items for good; and an item whose free had an unknown outcome must
 * be there.
 *
 * An item that reached the protocol's attempt limit is a dead letter; its loss is not judged.
 *
 * Where the workers' clocks are apart from the server's, an item may wait until one clock has the
 * time that the other one wrote with its put. Only one that was given back is to be there.
 *
 * While workers may have as many items of a group, or key, as its limit allows, the rest of it is
 * not claimable, for any time: it is not lost, and not tested.
 */
#include "guarantee_kind.h"
#include "item_limits.h"
#include "order.h"
#include "settled.h"

#include <stdio.h>
#include <stdlib.h>

static void report_phantom(struct lb_case *c, const struct lb_id *id)
{
    struct lb_witness *witness = lb_violation(c, LB_G_NO_LOSS);
    if (witness == NULL)
        return;
    char at[LB_AT], asked[LB_AT];
    const char *claimer = lb_who(c, id->claim_log, LB_WHOM);
    lb_witness_add(c, witness, id->claim_log, id->claim_event);
    witness->at_ns = id->claim_high;
    if (!id->is_put) {
        lb_witness_text(witness, "item %s was claimed by %s at %s, but was never put",
                        LB_ITEM_OF(c, id->id), claimer, lb_at(c, id->claim_high, at, sizeof at));
        return;
    }
    lb_witness_add(c, witness, id->put_log, id->put_event);
    lb_witness_text(witness, "item %s was claimed by %s at %s, before %s put it at %s",
                    LB_ITEM_OF(c, id->id), claimer, lb_at(c, id->claim_high, at, sizeof at),
                    lb_who(c, id->put_log, LB_WHOM), lb_at(c, id->put_low, asked, sizeof asked));
}

/* A limit that was not released: "; key 7 never came back: 0 of 1 in hand, its 40 items wait". */
static void tell_key(const struct lb_case *c, const struct lb_id *lost, char *buf, size_t size)
{
    struct lb_limit limit;
    uint64_t key, other, n = 0;
    char name[LB_ITEM_NAME];
    buf[0] = '\0';
    if (!lb_key_limit(c, &limit) || !limit.key_of(c, lost->id, &key))
        return;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        for (uint64_t i = id->id; i < id->id + id->n && lb_id_acknowledged(id); i++)
            n += (!id->is_claimed || id->is_given_back) && limit.key_of(c, i, &other) &&
                 other == key;
    if (n > 1)
        snprintf(buf, size, "; key %s never came back: fewer than %u in hand, its %llu items wait",
                 lb_key_name(c->history->names, (uint32_t)key, name, sizeof name), limit.most,
                 (unsigned long long)n);
}

/* Of one log, the last end of the item at or after *last_ns, which becomes its time; LB_NONE: none.
 */
static uint32_t find_last_end(const struct lb_log_view *log, uint64_t id, uint64_t *last_ns)
{
    uint32_t event = 0, last = LB_NONE;
    for (size_t s = 0; s < log->n_spans; s++) {
        const struct lb_event *e = log->spans[s].events;
        for (size_t k = 0; k < log->spans[s].n; k++, e++, event++) {
            if (e->value != id || e->type != LB_EV_INVOKE || e->time_ns < *last_ns ||
                !lb_item_closes(e->op))
                continue;
            *last_ns = e->time_ns;
            last = event;
        }
    }
    return last;
}

/* The last operation that gave the item back, or ended it in error. */
static void add_last_end(const struct lb_case *c, struct lb_witness *witness, uint64_t id)
{
    uint64_t last_ns = 0;
    uint32_t last_log = LB_NONE, last = 0;
    for (uint32_t log = 0; log < c->history->n_logs; log++) {
        uint32_t event = find_last_end(&c->history->logs[log], id, &last_ns);
        if (event == LB_NONE)
            continue;
        last_log = log;
        last = event;
    }
    if (last_log != LB_NONE)
        lb_witness_add(c, witness, last_log, last);
}

/* Was it claimed once, and refused its end, with no other one? */
static bool is_refused(const struct lb_id *id)
{
    return id->is_refused && id->n_claims == 1 && id->is_open;
}

static void report_lost(struct lb_case *c, const struct lb_id *id, uint64_t n_lost)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_NO_LOSS);
    finding->n_violations += n_lost;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], key[160];
    tell_key(c, id, key, sizeof key);
    lb_witness_add(c, witness, id->put_log, id->put_event);
    add_last_end(c, witness, id->id);
    witness->at_ns = id->put_high;
    lb_witness_text(
        witness, "item %s was put by %s, acknowledged at %s, %s the queue was drained%s%s",
        LB_ITEM_OF(c, id->id), lb_who(c, id->put_log, LB_WHOM),
        lb_at(c, id->put_high, at, sizeof at),
        is_refused(id) ? "and no worker has it, nor can claim it: the end by its only claimer was "
                         "refused, and later"
        : id->is_let_go && !id->is_given_back
            ? "and no worker has it, nor can claim it: it was to be given back when "
              "the worker or its connection was lost, and later"
            : "and is neither claimed nor claimable after",
        n_lost > 1 ? "; others are lost too" : "", key);
}

/* Was it claimed before it was put, for certain? */
static bool is_too_early(const struct lb_id *id)
{
    if (id->claim_high < id->put_low)
        return true;
    return id->claim_log == id->put_log && id->claim_event < id->put_event &&
           !id->is_claimed_again && !id->is_put_again; /* by the order of one worker */
}

/* Items that wait for others of their key. */
struct waiting {
    struct lb_limit limits[LB_LIMITS];
    size_t n;
    struct lb_array open[LB_LIMITS]; /* struct lb_key: of items that may be in hand, sorted */
};

static void find_open(const struct lb_case *c, struct waiting *waiting)
{
    waiting->n = lb_limits_of(c, waiting->limits);
    for (size_t i = 0; i < waiting->n; i++)
        lb_limits_open(c, &waiting->limits[i], &waiting->open[i]);
}

/* Are as many items of its key in hand, perhaps, as the limit allows? One whose key is not known
 * may wait for any. */
static bool is_waiting(const struct lb_case *c, const struct waiting *waiting, uint64_t id)
{
    for (size_t i = 0; i < waiting->n; i++) {
        const struct lb_limit *limit = &waiting->limits[i];
        const struct lb_key *open = waiting->open[i].items;
        uint64_t key;
        size_t n = waiting->open[i].n;
        if (!limit->key_of(c, id, &key))
            return n > 0;
        size_t first = lb_order_find(open, n, sizeof *open, key);
        if (limit->most <= n - first && open[first + limit->most - 1].key == key)
            return true;
    }
    return false;
}

/* How many of these ids do not wait for others of their key? */
static uint64_t count_missing(const struct lb_case *c, const struct lb_id *id,
                              const struct waiting *waiting)
{
    uint64_t n = 0;
    if (waiting->n == 0)
        return id->n;
    for (uint64_t i = id->id; i < id->id + id->n; i++)
        n += !is_waiting(c, waiting, i);
    return n;
}

/* Was it tried so often that the protocol may have given it up? A claim that fails may count as two
 * of its attempts. */
static bool is_given_up(const struct lb_case *c, const struct lb_id *id)
{
    uint32_t most = c->model->attempts < LB_ID_CLAIMS ? c->model->attempts : LB_ID_CLAIMS;
    return most > 0 && id->is_claimed && 2 * id->n_claims >= most;
}

/* Unclaimed items of a class, without those that other facts excuse. */
struct missing {
    uint32_t class_no;
    uint64_t n;
    const struct lb_id *first;
};

static void add_missing(struct lb_array *classes, const struct lb_id *id, uint64_t n)
{
    struct missing *all = classes->items;
    for (size_t i = 0; i < classes->n; i++) {
        if (all[i].class_no != id->class_no)
            continue;
        all[i].n += n;
        return;
    }
    struct missing *one = lb_array_push(classes, sizeof *one);
    *one = (struct missing){.class_no = id->class_no, .n = n, .first = id};
}

static void find_missing(struct lb_case *c, struct lb_array *classes)
{
    struct waiting waiting = {.n = 0};
    find_open(c, &waiting);
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        bool is_unknown = !id->is_put && (c->history->truncated || /* its put may be missing */
                                          lb_settled_has(c->model->settled, id->id));
        if (id->is_claimed && !is_unknown && (!id->is_put || is_too_early(id)))
            report_phantom(c, id);
        if (!lb_id_acknowledged(id) ||
            (id->is_claimed && !id->is_given_back && !id->is_let_go && !is_refused(id)))
            continue;
        if (is_given_up(c, id)) {
            c->doubt[LB_G_NO_LOSS] = "the items not claimed again had reached the attempt limit";
            continue;
        }
        if (id->is_let_go && !id->is_given_back && !is_refused(id) && !c->model->returned) {
            c->doubt[LB_G_NO_LOSS] = LB_FREE_UNKNOWN;
            continue;
        }
        if (c->model->clocks_apart && !id->is_given_back) {
            c->doubt[LB_G_NO_LOSS] = "items wait for the time that another clock wrote";
            continue;
        }
        uint64_t n = count_missing(c, id, &waiting);
        if (n > 0)
            add_missing(classes, id, n);
        if (n < id->n)
            c->doubt[LB_G_NO_LOSS] =
                "an unclaimed item waits for its group or key: other items of it "
                "were claimed and not ended";
    }
    for (size_t i = 0; i < LB_LIMITS; i++)
        free(waiting.open[i].items);
}

/* So many items of the class may be in hands that are not known. */
static uint64_t count_excused(const struct lb_case *c, uint32_t class_no)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    uint64_t n = 0;
    for (size_t i = 0; i < c->unknown.n; i++)
        if ((!c->model->returned || unknown[i].is_final || unknown[i].is_beyond) &&
            (unknown[i].class_no == class_no || unknown[i].class_no == LB_NONE ||
             class_no == LB_NONE))
            n += unknown[i].n;
    return n;
}

static int judge_loss(struct lb_case *c)
{
    struct lb_array classes = {0};
    find_missing(c, &classes);
    const struct missing *all = classes.items;
    for (size_t i = 0; i < classes.n && c->is_drained; i++) {
        uint64_t n_excused = count_excused(c, all[i].class_no);
        if (all[i].n > n_excused)
            report_lost(c, all[i].first, all[i].n - n_excused);
        else if (c->doubt[LB_G_NO_LOSS] == NULL)
            c->doubt[LB_G_NO_LOSS] = "a claim of unknown outcome, or one that returned more items "
                                     "than it named, may have taken the unclaimed items";
    }
    free(classes.items);
    return 0;
}

static const char *cannot_say(const struct lb_case *c)
{
    return !c->model->drained ? "the queue was not drained" : NULL;
}

const struct lb_guarantee_kind lb_guarantee_no_loss = {.judge_queue = judge_loss,
                                                       .cannot_say = cannot_say,
                                                       .nothing = "nothing was put",
                                                       .doubts = 1u << LB_DOUBT_ATTEMPTS |
                                                                 1u << LB_DOUBT_DUE};
