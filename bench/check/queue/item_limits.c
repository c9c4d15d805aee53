/* group-exclusive and key-limit: at most K items of one key are in hand.
 *
 * A limit of 1: the key is an automaton of its own (spec/item.c), and the operations on all its
 * items are its operations.
 *
 * A larger limit: a claim is certainly in hand from its answer until the earliest end that it can
 * have. If that is not after the answer, it is so at some moment between the two. In one order all
 * these parts are as short as that, if each end concerns one claim, and moments follow each other
 * at one time. So the limit is exceeded in every order exactly if more parts than it allows
 * overlap, or if it is reached during all of a moment's time. An end that concerns several claims,
 * as a recovery, may be early for each: that only lets a violation pass. A renewal begins a part
 * anew, since its worker had the item then.
 */
#include "item_limits.h"

#include "order.h"

#include <stdio.h>
#include <stdlib.h>

size_t lb_limits_of(const struct lb_case *c, struct lb_limit limits[LB_LIMITS])
{
    size_t n = lb_group_limit(c, &limits[0]) ? 1 : 0;
    return n + (lb_key_limit(c, &limits[n]) ? 1 : 0);
}

bool lb_wants_limits(const struct lb_case *c)
{
    struct lb_limit limits[LB_LIMITS];
    return lb_limits_of(c, limits) > 0;
}

/* A time in which a claim is certainly in hand; from not before to: a moment between the two. */
struct part {
    uint64_t from, to;
    uint32_t claim;
    uint32_t log, first, last; /* places in the claim's log: of the answer, and of the end; last 0:
                                  the end is none of its worker's */
};

struct judge {
    struct lb_case *c;
    struct lb_item_ops *ops;
    struct lb_search *search;
    const struct lb_limit *limit;
    uint64_t most;         /* as in lb_item_ops_finish */
    struct lb_array items; /* uint32_t: the first operation of each item of the key */
    struct lb_array parts; /* struct part */
    struct lb_array open;  /* struct part: of one worker */
    struct lb_array full;  /* struct part: when the limit is reached */
    struct part *in_hand;  /* limit->most of them, and one more */
};

/* --- violations --- */

/* n claims together: the last one exceeds the limit. */
static void report(const struct judge *judge, const uint32_t *claims, size_t n)
{
    struct lb_case *c = judge->c;
    const struct lb_item_ops *ops = judge->ops;
    struct lb_witness *witness = lb_violation(c, judge->limit->guarantee);
    if (witness == NULL)
        return;
    uint64_t end = LB_NEVER, key = 0;
    char at[LB_AT], first_at[LB_AT], name[LB_ITEM_NAME], kind[LB_ITEM_NAME + 24], others[64] = "";
    const struct lb_item_record *first = lb_item_record_of(ops, claims[0]);
    const struct lb_item_record *last = lb_item_record_of(ops, claims[n - 1]);
    for (size_t i = 0; i < n; i++) {
        const struct lb_item_record *record = lb_item_record_of(ops, claims[i]);
        lb_witness_add(c, witness, record->log, record->event);
        end = lb_min_u64(end, lb_item_ops_end(ops, claims[i]));
    }
    witness->at_ns = last->high;
    witness->overlap_ns = end != LB_NEVER && end > last->high ? end - last->high : 0;
    judge->limit->key_of(c, last->id, &key);
    if (judge->limit->guarantee == LB_G_KEY_LIMIT)
        snprintf(kind, sizeof kind, "key %s",
                 lb_key_name(c->history->names, (uint32_t)key, name, sizeof name));
    else
        snprintf(kind, sizeof kind, "%s", judge->limit->has_kind);
    if (n > 2)
        snprintf(others, sizeof others, ", with %zu others,", n - 2);
    lb_witness_text(witness,
                    "item %s was claimed by %s, answered at %s, and item %s of the same %s by "
                    "%s, answered at %s, while the first%s was still in hand%s",
                    LB_ITEM_OF(c, first->id), lb_who(c, first->log, LB_WHOM),
                    lb_at(c, first->high, first_at, sizeof first_at), LB_ITEM_OF(c, last->id), kind,
                    lb_who(c, last->log, LB_WHOM), lb_at(c, last->high, at, sizeof at), others,
                    n > 2 ? ": more than the limit" : "");
}

/* --- a limit of 1 --- */

static uint64_t item_of(const struct lb_object *object, uint32_t number)
{
    const struct lb_item_model *model = object->context;
    return lb_item_record_of(model->context, number)->id;
}

static void search_one(struct judge *judge)
{
    struct lb_item_ops *ops = judge->ops;
    const struct lb_item_model model = {
        .claimed_twice = 1, .recovers = lb_item_ops_recovers, .item_of = item_of, .context = ops};
    const struct lb_automaton automaton = lb_group_automaton(&model);
    size_t n = 0;
    lb_item_ops_search(ops, judge->search, &automaton, &model);
    const struct lb_break *breaks = lb_search_breaks(judge->search, &n);
    for (size_t i = 0; i < n; i++)
        report(judge,
               (uint32_t[]){lb_item_ops_claim_before(ops, breaks[i].by, breaks[i].other),
                            breaks[i].by},
               2);
    if (ops->doubt != NULL || lb_search_gave_up(judge->search))
        judge->c->doubt[judge->limit->guarantee] =
            ops->doubt != NULL ? ops->doubt
                               : "too much happened to the items of one group or key at one time: "
                                 "the search for an order was given up";
}

/* --- a larger limit --- */

/* The earliest time, at or after low, at which a recovery can take the claim; no later than end. */
static uint64_t recovered(const struct lb_item_ops *ops, const struct lb_item_record *claim,
                          const struct lb_item_record *renewal, uint64_t low, uint64_t end)
{
    const struct lb_case *c = ops->c;
    const bool has_beats = c->beats.n > 0 || c->has_unsure_beats; /* its age may be anything */
    const struct lb_moment *last, *m = lb_openers_from(ops->world, LB_OP_RECOVER, 0, low, &last);
    for (; m != NULL && m < last && m->op == LB_OP_RECOVER && m->least < end; m++) {
        uint64_t from = has_beats && m->age_ms > 0 && m->high >= low
                            ? m->low
                            : lb_item_recovered_from(c, m, claim, renewal, 0);
        end = lb_min_u64(end, lb_max_u64(from, low));
    }
    return end;
}

/* The operations of one item: first .. n - 1. */
struct range {
    const struct lb_item_ops *ops;
    uint32_t first, n;
};

/* True if the operation can come after the claim, or renewal: by time, and by its worker's order.
 * One of unknown outcome may take effect after later operations of its worker. */
static bool can_follow(const struct lb_spec_op *op, const struct lb_spec_op *claim)
{
    return op->high >= claim->low &&
           (op->high == LB_NEVER || op->log != claim->log || op->position > claim->position);
}

/* True if the claim of an end may be over before it, so that it ends another's. */
static bool is_strangers(const struct range *item, const struct lb_spec_op *end)
{
    if (end->about == LB_SPEC_NONE)
        return true;
    const struct lb_spec_op *claim = lb_item_op(item->ops, end->about);
    for (uint32_t i = item->first; i < item->n; i++) {
        const struct lb_spec_op *op = lb_item_op(item->ops, i);
        bool is_mine = op->about == end->about;
        bool may_end = op->kind == LB_ITEM_END ||
                       ((op->kind == LB_ITEM_EXPIRE || op->kind == LB_ITEM_LOSE) && is_mine);
        if (may_end && op != end && op->low <= end->high && can_follow(op, claim))
            return true;
    }
    uint64_t taken = recovered(item->ops, claim->detail, NULL, claim->low, LB_NEVER);
    return taken != LB_NEVER && taken <= end->high;
}

static void bring_forward(struct part *part, uint64_t to, uint32_t log, uint32_t position)
{
    uint32_t last = log == part->log ? position : 0;
    if (to < part->to || (to == part->to && last < part->last))
        part->last = last;
    part->to = lb_min_u64(part->to, to);
}

/* One part of a claim: from its answer, or a renewal's, to its earliest end. */
static struct part part_of(const struct range *item, uint32_t claim, uint32_t renewed)
{
    const struct lb_item_ops *ops = item->ops;
    const struct lb_spec_op *op, *begin = lb_item_op(ops, renewed > 0 ? renewed - 1 : claim);
    struct part part = {begin->high, LB_NEVER, claim, begin->log, begin->position, 0};
    for (uint32_t i = item->first; i < item->n; i++) {
        op = lb_item_op(ops, i);
        bool is_mine = op->about == claim;
        if ((op->kind == LB_ITEM_END &&
             (is_mine || (can_follow(op, begin) && is_strangers(item, op)))) ||
            (op->kind == LB_ITEM_EXPIRE && is_mine && op->arg == renewed) ||
            (op->kind == LB_ITEM_LOSE && is_mine && renewed <= op->arg))
            bring_forward(&part, lb_max_u64(op->low, begin->low), op->log, op->position);
    }
    uint32_t aged = renewed > 0 ? begin->arg : 0;
    uint64_t taken =
        recovered(ops, lb_item_record_of(ops, claim),
                  aged > 0 ? lb_item_record_of(ops, aged - 1) : NULL, begin->low, part.to);
    if (taken < part.to)
        bring_forward(&part, taken, LB_NONE, 0);
    return part;
}

/* The parts of one item's claims: its operations are first .. n - 1. */
static void add_parts(struct judge *judge, uint32_t first, uint32_t n)
{
    const struct range item = {judge->ops, first, n};
    for (uint32_t claim = first; claim < n; claim++) {
        uint32_t renewed = 0, at = claim;
        if (lb_item_op(judge->ops, claim)->kind != LB_ITEM_CLAIM)
            continue;
        do {
            struct part part = part_of(&item, claim, renewed);
            for (at++; at < n && !(lb_item_op(judge->ops, at)->kind == LB_ITEM_RENEW &&
                                   lb_item_op(judge->ops, at)->about == claim);)
                at++;
            renewed = at + 1;
            const struct lb_spec_op *renewal = at < n ? lb_item_op(judge->ops, at) : NULL;
            if (renewal != NULL)
                bring_forward(&part, renewal->high, renewal->log, renewal->position);
            struct part *slot = lb_array_push(&judge->parts, sizeof *slot);
            *slot = part;
        } while (at < n);
    }
}

static int by_from(const void *a, const void *b)
{
    const struct part *one = a, *other = b;
    return one->from != other->from ? (one->from > other->from) - (one->from < other->from)
                                    : (one->claim > other->claim) - (one->claim < other->claim);
}

/* n claims in hand, and the one that comes to them. */
static void report_crowd(const struct judge *judge, uint32_t n, uint32_t by)
{
    uint32_t claims[LB_WITNESS_OPS];
    uint32_t shown = n < LB_WITNESS_OPS - 1 ? n : LB_WITNESS_OPS - 1;
    for (uint32_t k = 0; k < shown; k++)
        claims[k] = judge->in_hand[n - shown + k].claim;
    claims[shown] = by;
    report(judge, claims, shown + 1);
}

/* The times in which the limit is reached. */
static void add_full(struct judge *judge, uint64_t from, uint64_t to)
{
    struct part *last =
        judge->full.n > 0 ? (struct part *)judge->full.items + judge->full.n - 1 : NULL;
    if (last != NULL && from < last->to) {
        last->to = lb_max_u64(last->to, to);
        return;
    }
    last = lb_array_push(&judge->full, sizeof *last);
    *last = (struct part){.from = from, .to = to};
}

/* The parts with a length, in order: of those in hand the limit's number is kept that lasts
 * longest. */
static void sweep(struct judge *judge)
{
    const struct part *parts = judge->parts.items;
    const uint32_t most = judge->limit->most;
    uint32_t n = 0;
    for (size_t i = 0; i < judge->parts.n; i++) {
        uint32_t kept = 0, shortest = 0;
        if (parts[i].from >= parts[i].to)
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (judge->in_hand[k].to > parts[i].from)
                judge->in_hand[kept++] = judge->in_hand[k];
        if (kept == most)
            report_crowd(judge, kept, parts[i].claim);
        judge->in_hand[kept] = parts[i];
        n = kept + 1;
        for (uint32_t k = 1; k < n; k++)
            shortest = judge->in_hand[k].to < judge->in_hand[shortest].to ? k : shortest;
        if (n > most) {
            judge->in_hand[shortest] = judge->in_hand[--n];
            for (uint32_t k = shortest = 0; k < n; k++)
                shortest = judge->in_hand[k].to < judge->in_hand[shortest].to ? k : shortest;
        }
        if (n == most)
            add_full(judge, parts[i].from, judge->in_hand[shortest].to);
    }
}

/* A part without a length is some moment from its `to` to its `from`: one at which the limit is not
 * reached will do. */
static void place_moments(struct judge *judge)
{
    const struct part *parts = judge->parts.items, *full = judge->full.items;
    for (size_t i = 0; i < judge->parts.n; i++) {
        uint32_t n = 0;
        size_t low = 0, high = judge->full.n;
        if (parts[i].from < parts[i].to)
            continue;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (full[middle].to <= parts[i].from)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == judge->full.n || full[low].from >= parts[i].to)
            continue;
        for (size_t k = 0; k < judge->parts.n && n < judge->limit->most; k++)
            if (parts[k].from < parts[i].to && parts[k].to > parts[i].to)
                judge->in_hand[n++] = parts[k];
        report_crowd(judge, n, parts[i].claim);
    }
}

static int by_log(const void *a, const void *b)
{
    const struct part *one = a, *other = b;
    return one->log != other->log ? (one->log > other->log) - (one->log < other->log)
                                  : (one->first > other->first) - (one->first < other->first);
}

static bool contains(const struct part *part, uint64_t time)
{
    return part->from < time && part->to > time;
}

/* A worker's parts that meet within a tick of the clock are in hand together by its order. Changes
 * the order of the parts. */
static void count_ties(struct judge *judge)
{
    struct part *parts = judge->parts.items;
    const uint32_t most = judge->limit->most;
    qsort(parts, judge->parts.n, sizeof *parts, by_log);
    judge->open.n = 0;
    for (size_t i = 0; i < judge->parts.n; i++) {
        struct part *open = judge->open.items;
        const uint64_t now = parts[i].from;
        size_t kept = 0, n_tied = 0;
        uint32_t n = 0;
        for (size_t k = 0; k < judge->open.n; k++)
            if (open[k].log == parts[i].log &&
                (open[k].to > now || (open[k].to == now && open[k].last > parts[i].first))) {
                n_tied += !contains(&open[k], now);
                open[kept++] = open[k];
            }
        judge->open.n = kept;
        if (parts[i].to < now)
            continue;
        for (size_t k = 0; k < judge->parts.n && n_tied > 0 && n < most; k++)
            if (contains(&parts[k], now))
                judge->in_hand[n++] = parts[k];
        for (size_t k = 0; k < kept && n_tied > 0 && n < most; k++)
            if (!contains(&open[k], now))
                judge->in_hand[n++] = open[k];
        if (n_tied > 0 && n == most)
            report_crowd(judge, n, parts[i].claim);
        struct part *slot = lb_array_push(&judge->open, sizeof *slot);
        *slot = parts[i];
    }
}

static void sweep_key(struct judge *judge)
{
    const uint32_t *items = judge->items.items;
    judge->parts.n = 0;
    for (size_t i = 0; i < judge->items.n; i++)
        add_parts(judge, items[i],
                  i + 1 < judge->items.n ? items[i + 1] : (uint32_t)judge->ops->array.n);
    if (judge->ops->doubt != NULL)
        judge->c->doubt[judge->limit->guarantee] = judge->ops->doubt;
    qsort(judge->parts.items, judge->parts.n, sizeof(struct part), by_from);
    judge->full.n = 0;
    sweep(judge);
    place_moments(judge);
    lb_finding_of(judge->c, judge->limit->guarantee)->n_tested += judge->full.n;
    count_ties(judge);
}

/* --- all keys --- */

static void judge_key(struct judge *judge)
{
    if (judge->limit->most > 1) {
        sweep_key(judge);
        return;
    }
    lb_item_ops_finish(judge->ops, judge->most);
    search_one(judge);
}

static void add_item(struct judge *judge, const struct lb_key *item, struct lb_array *places)
{
    uint32_t *first = lb_array_push(&judge->items, sizeof *first);
    *first = (uint32_t)judge->ops->array.n;
    lb_item_gather(judge->c, item->index, item->extra, places);
    lb_item_ops_add(judge->ops, places->items, places->n);
}

/* The items whose key is known, by key and then by id: the keys' indexes are places in by_id, and
 * extra is the number of records. */
static size_t list_items(const struct judge *judge, struct lb_key *keys)
{
    struct lb_case *c = judge->c;
    size_t n = 0, next = 0;
    for (size_t i = 0, end = 0; i < c->items.n; i = end) {
        uint64_t id = c->by_id[i].key, key;
        while (end < c->items.n && c->by_id[end].key == id)
            end++;
        if (lb_item_is_put_again(c, id, &next))
            continue;
        if (!judge->limit->key_of(c, id, &key))
            c->doubt[judge->limit->guarantee] = judge->limit->untold;
        else
            keys[n++] =
                (struct lb_key){.key = key, .index = (uint32_t)i, .extra = (uint32_t)(end - i)};
    }
    return n;
}

static void judge_limit(struct judge *judge)
{
    struct lb_case *c = judge->c;
    struct lb_key *keys = lb_malloc((c->items.n + 1) * sizeof *keys);
    struct lb_array places = {0};
    size_t n = list_items(judge, keys);
    judge->in_hand = lb_malloc(((size_t)lb_min_u64(judge->limit->most, c->items.n) + 2) *
                               sizeof *judge->in_hand);
    lb_sort(keys, n);
    judge->ops->purpose = LB_FOR_GROUP;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || keys[i - 1].key != keys[i].key) {
            lb_item_ops_clear(judge->ops);
            judge->items.n = 0;
        }
        add_item(judge, &keys[i], &places);
        if (i + 1 == n || keys[i + 1].key != keys[i].key)
            judge_key(judge);
    }
    struct lb_finding *finding = lb_finding_of(c, judge->limit->guarantee);
    if (judge->limit->most == 1) /* each claim that is answered reaches it */
        finding->n_tested = c->out->measures.n_claims;
    else if (finding->n_tested < finding->n_violations)
        finding->n_tested = finding->n_violations;
    free(places.items);
    free(keys);
    free(judge->in_hand);
}

void lb_judge_limits(struct lb_case *c, struct lb_item_ops *ops, struct lb_search *search,
                     uint64_t most)
{
    struct lb_limit limits[LB_LIMITS];
    struct judge judge = {.c = c, .ops = ops, .search = search, .most = most};
    for (size_t i = 0, n = lb_limits_of(c, limits); i < n; i++) {
        judge.limit = &limits[i];
        judge_limit(&judge);
    }
    free(judge.items.items);
    free(judge.parts.items);
    free(judge.full.items);
    free(judge.open.items);
}

/* --- items that wait for their key --- */

void lb_limits_open(const struct lb_case *c, const struct lb_limit *limit,
                    struct lb_array *ret_open)
{
    ret_open->n = 0;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        struct lb_key open = {0};
        if (!id->is_claimed || !id->is_open || !limit->key_of(c, id->id, &open.key))
            continue;
        struct lb_key *slot = lb_array_push(ret_open, sizeof *slot);
        *slot = open;
    }
    lb_sort(ret_open->items, ret_open->n);
}
