/* fenced: tokens grow with each grant, and the guarded resource never accepts a smaller one after a
 * larger one.
 *
 * If A was answered before B's request, A came first in every order, so its token must be smaller.
 * Conversely, if no such pair is wrong, ordering concurrent grants by their tokens contradicts no
 * real-time order. B is wrong iff the largest token among those answered before B's request is not
 * smaller than B's. A worker's own grants come one after another, also within a tick of its clock,
 * where the times of two look concurrent. Ordering by tokens contradicts no such order either if no
 * such pair is wrong. The same holds for accepted writes, but equal tokens are the same holder's
 * and fine.
 *
 * That leaves out which worker held when. Where the lock is seen to exclude, and nothing but
 * releases, leases and sessions ended holds, an order is searched in which the lock excludes and
 * the tokens grow (spec/lock.c). A release after the end of its hold may have ended another's.
 *
 * A shortcut: tokens that grow in order of the answers, where no core covers the answer of a later
 * grant, and no lease was renewed after its session may have ended. Then let each grant take effect
 * at its answer, and each end at its earliest time: the lock excludes as the cores do, and the
 * tokens grow.
 */
#include "guarantee_kind.h"
#include "judges.h"
#include "lock.h"

#include <stdlib.h>

enum { EXCEEDED = 1, NOT_LARGER = 2, NOT_OWNER = 4 };
enum { OF_HOLD, OF_LATE }; /* of a key: its index */

/* Grants of some resources, or accepted writes. */
struct tokens {
    struct lb_case *c;
    const struct lb_write *all;
    size_t n;
    bool are_grants;
};

static uint64_t token_of(const struct lb_case *c, uint32_t hold)
{
    return ((const uint64_t *)c->tokens.items)[hold];
}

static bool has_token(const struct lb_hold *hold)
{
    return hold->has_token && !hold->is_piece;
}

/* is_asked: the second request follows the answer of the first; else exclusion orders them. */
static void report_grant(struct lb_case *c, const struct lb_write *a, const struct lb_write *b,
                         bool is_asked)
{
    struct lb_witness *witness = lb_violation(c, LB_G_FENCED);
    if (witness == NULL)
        return;
    char at[LB_AT], asked[LB_AT];
    lb_witness_add(c, witness, a->log, a->event);
    lb_witness_add(c, witness, b->log, b->event);
    witness->at_ns = b->high;
    lb_witness_text(witness,
                    "%s was granted resource %u with token %lld at %s; %s, which %s at %s, got "
                    "token %lld, which is not larger",
                    lb_who(c, a->log, LB_WHOM), a->resource, (long long)a->token,
                    lb_at(c, a->high, at, sizeof at), lb_who(c, b->log, LB_WHOM),
                    is_asked ? "asked for it" : "held it after that and was granted it",
                    lb_at(c, is_asked ? b->low : b->high, asked, sizeof asked),
                    (long long)b->token);
}

static void report_write(struct lb_case *c, const struct lb_write *a, const struct lb_write *b)
{
    c->out->measures.n_stale_writes_accepted++;
    struct lb_witness *witness = lb_violation(c, LB_G_FENCED);
    if (witness == NULL)
        return;
    char at[LB_AT], before[LB_AT];
    lb_witness_add(c, witness, a->log, a->event);
    lb_witness_add(c, witness, b->log, b->event);
    witness->at_ns = b->low;
    lb_witness_text(witness,
                    "%s's stale write to resource %u with token %lld was accepted at %s, "
                    "though %s's with token %lld had been accepted by %s",
                    lb_who(c, b->log, LB_WHOM), b->resource, (long long)b->token,
                    lb_at(c, b->low, at, sizeof at), lb_who(c, a->log, LB_WHOM),
                    (long long)a->token, lb_at(c, a->high, before, sizeof before));
}

/* --- pairs that are wrong in every order --- */

static bool is_wrong(const struct tokens *tokens, const struct lb_write *first,
                     const struct lb_write *second)
{
    int64_t a = (int64_t)first->token, b = (int64_t)second->token;
    return a > b || (a == b && tokens->are_grants);
}

/* Reports each second one once. */
static void report_pair(const struct tokens *tokens, uint8_t *reported, const struct lb_write *a,
                        const struct lb_write *b)
{
    size_t i = (size_t)(b - tokens->all);
    if ((reported[i / 8] >> (i % 8) & 1) != 0)
        return;
    reported[i / 8] |= (uint8_t)(1u << (i % 8));
    if (tokens->are_grants)
        report_grant(tokens->c, a, b, true);
    else
        report_write(tokens->c, a, b);
}

/* Orders them by a key and, the sort being stable, then by resource. Equal tokens are in order of
 * their requests. */
enum key { BY_LOW, BY_HIGH, BY_TOKEN, BY_LOG };

static uint64_t key_of(const struct lb_write *one, enum key by)
{
    return by == BY_LOW ? one->low : by == BY_HIGH ? one->high : one->token;
}

static void order(const struct tokens *tokens, struct lb_key *keys, enum key by)
{
    const enum key first = by == BY_TOKEN ? BY_LOW : by;
    for (size_t i = 0; i < tokens->n; i++)
        keys[i] = (struct lb_key){.key = key_of(&tokens->all[i], first), .index = (uint32_t)i};
    if (by != BY_LOG) /* they are log by log, and in its order */
        lb_sort(keys, tokens->n);
    for (size_t i = 0; i < tokens->n && by == BY_TOKEN; i++)
        keys[i].key = tokens->all[keys[i].index].token;
    if (by == BY_TOKEN)
        lb_sort(keys, tokens->n);
    for (size_t i = 0; i < tokens->n; i++)
        keys[i].key = tokens->all[keys[i].index].resource;
    lb_sort(keys, tokens->n);
}

/* Those of one resource, in both orders: each with the largest token answered before its request.
 */
static void judge_resource(const struct tokens *tokens, uint8_t *reported,
                           const struct lb_key *by_low, const struct lb_key *by_high, size_t n)
{
    const struct lb_write *best = NULL;
    for (size_t i = 0, next = 0; i < n; i++) {
        const struct lb_write *one = &tokens->all[by_low[i].index];
        for (; next < n && tokens->all[by_high[next].index].high < one->low; next++) {
            const struct lb_write *earlier = &tokens->all[by_high[next].index];
            if (best == NULL || (int64_t)earlier->token > (int64_t)best->token)
                best = earlier;
        }
        if (best != NULL && is_wrong(tokens, best, one))
            report_pair(tokens, reported, best, one);
    }
}

/* Neighbours of one resource: a worker's own, one after another; or exclusive grants that share a
 * token, whatever their times. */
static void judge_neighbours(const struct tokens *tokens, uint8_t *reported,
                             const struct lb_key *keys, enum key by)
{
    const struct lb_write *best = NULL;
    for (size_t i = 0; i < tokens->n; i++) {
        const struct lb_write *one = &tokens->all[keys[i].index];
        bool follows = best != NULL && best->resource == one->resource &&
                       (by == BY_TOKEN ? best->token == one->token : best->log == one->log);
        if (by == BY_TOKEN &&
            (one->is_shared || lb_capacity_of(tokens->c->model, one->resource) > 1))
            continue;
        if (follows && is_wrong(tokens, best, one))
            report_pair(tokens, reported, best, one);
        if (!follows || (int64_t)one->token > (int64_t)best->token)
            best = one;
    }
}

static void judge_pairs(const struct tokens *tokens)
{
    struct lb_key *low = lb_malloc((tokens->n + 1) * sizeof *low);
    struct lb_key *high = lb_malloc((tokens->n + 1) * sizeof *high);
    uint8_t *reported = lb_calloc(tokens->n / 8 + 1, 1);
    order(tokens, low, BY_LOW);
    order(tokens, high, BY_HIGH);
    for (size_t i = 0, first = 0; i < tokens->n; first = i) {
        while (i < tokens->n && low[i].key == low[first].key)
            i++;
        judge_resource(tokens, reported, low + first, high + first, i - first);
    }
    for (enum key by = BY_TOKEN; by <= BY_LOG; by++) {
        if (by == BY_TOKEN && !tokens->are_grants)
            continue;
        order(tokens, low, by);
        judge_neighbours(tokens, reported, low, by);
    }
    free(low);
    free(high);
    free(reported);
}

/* --- an order in which the lock excludes --- */

/* True if the lock excludes, and no worker certainly ended another's hold. */
static bool is_ordered_by_exclusion(struct lb_case *c)
{
    const struct lb_model *model = c->model;
    return !model->queue && !model->reentrant && (model->claims & LB_G_BIT(LB_G_EXCLUSIVE)) != 0 &&
           lb_finding_of(c, LB_G_EXCLUSIVE)->n_violations == 0 &&
           lb_finding_of(c, LB_G_OWNER_RELEASE)->n_violations == 0 && c->known_ns == LB_NEVER &&
           c->out->measures.n_restarts == 0;
}

static uint64_t token_of_grant(const struct lb_object *object, uint32_t number)
{
    const struct lb_lock_model *model = object->context;
    const struct lb_case *c = model->context;
    const struct lb_hold *hold = object->ops[number].detail;
    return token_of(c, (uint32_t)(hold - lb_holds(c)));
}

static struct lb_write stamp_of(const struct lb_case *c, const struct lb_hold *hold)
{
    return (struct lb_write){.token = token_of(c, (uint32_t)(hold - lb_holds(c))),
                             .low = lb_hold_asked(c, hold),
                             .high = hold->start,
                             .resource = hold->resource,
                             .log = hold->log,
                             .event = hold->event,
                             .is_shared = hold->is_shared};
}

/* A hold: its grant and its end. A piece of a hold, which has no token, is as short as it can be.
 */
static void add_hold(const struct lb_case *c, const struct lb_hold *hold, struct lb_spec_op *ops,
                     uint32_t *n)
{
    const uint32_t grant = *n;
    uint64_t latest = hold->cut < hold->start ? hold->cut : hold->start;
    ops[grant] = (struct lb_spec_op){.low = hold->is_piece ? latest : lb_hold_asked(c, hold),
                                     .high = hold->start,
                                     .log = hold->log,
                                     .position = hold->event,
                                     .about = LB_SPEC_NONE,
                                     .arg = hold->permits,
                                     .to = has_token(hold) ? LB_LOCK_IS_FENCED : 0,
                                     .kind = LB_LOCK_GRANT,
                                     .rank = 1,
                                     .must = true,
                                     .detail = hold};
    ops[grant + 1] = (struct lb_spec_op){.low = hold->cut,
                                         .high = LB_SPEC_NEVER,
                                         .log = LB_SPEC_NONE,
                                         .about = grant,
                                         .kind = LB_LOCK_END};
    *n += 2;
}

/* The operations of one resource: of its holds, and the releases that came late. */
static uint32_t fill(const struct lb_case *c, const struct lb_key *keys, size_t n_keys,
                     struct lb_spec_op *ops)
{
    const struct lb_late_release *late = c->late.items;
    uint32_t n = 0;
    for (size_t i = 0; i < n_keys; i++) {
        if (keys[i].extra == OF_HOLD) {
            add_hold(c, &lb_holds(c)[keys[i].index], ops, &n);
            continue;
        }
        const struct lb_late_release *one = &late[keys[i].index];
        ops[n++] = (struct lb_spec_op){.low = one->low,
                                       .high = one->high,
                                       .log = one->log,
                                       .position = one->event,
                                       .about = LB_SPEC_NONE,
                                       .to = LB_LOCK_ENDS_OTHER,
                                       .kind = LB_LOCK_RELEASE,
                                       .must = true};
    }
    return n;
}

/* The answers up to one of them break exclusive, the order of fences, or the ownership of releases.
 */
static void conclude(struct lb_case *c, const struct lb_break *found, const struct lb_spec_op *ops)
{
    const bool has_owner = (c->model->claims & LB_G_BIT(LB_G_OWNER_RELEASE)) != 0;
    unsigned violated, either, with_owner;
    lb_break_conclude(found, EXCEEDED | NOT_LARGER | (has_owner ? NOT_OWNER : 0), &violated,
                      &either);
    with_owner = violated | either;
    lb_break_conclude(found, EXCEEDED | NOT_LARGER, &violated, &either);
    if ((violated & EXCEEDED) != 0 || (with_owner & NOT_LARGER) == 0)
        return;
    bool has_pair = found->by != LB_SPEC_NONE && found->other != LB_SPEC_NONE &&
                    ops[found->by].detail != NULL && ops[found->other].detail != NULL;
    if (((violated | either) & NOT_LARGER) == 0 || !has_pair) {
        c->doubt[LB_G_FENCED] = "a token did not grow, or a release that came late ended another "
                                "worker's hold: no order of the operations keeps both guarantees";
    } else {
        struct lb_write first = stamp_of(c, ops[found->other].detail);
        struct lb_write second = stamp_of(c, ops[found->by].detail);
        report_grant(c, &first, &second, false);
    }
}

static void search_resource(struct lb_case *c, struct lb_search *search, const struct lb_key *keys,
                            size_t n)
{
    const struct lb_lock_model model = {.exceeded = EXCEEDED,
                                        .not_owner = NOT_OWNER,
                                        .not_larger = NOT_LARGER,
                                        .capacity = 1,
                                        .token_of = token_of_grant,
                                        .context = c};
    const struct lb_automaton automaton = lb_lock_automaton(&model);
    struct lb_spec_op *ops = lb_malloc(2 * (n + 1) * sizeof *ops);
    size_t n_breaks = 0;
    const struct lb_object object = {.automaton = &automaton,
                                     .ops = ops,
                                     .n_ops = fill(c, keys, n, ops),
                                     .known_until = LB_SPEC_NEVER,
                                     .context = &model};
    lb_search_run(search, &object);
    const struct lb_break *breaks = lb_search_breaks(search, &n_breaks);
    for (size_t i = 0; i < n_breaks; i++)
        conclude(c, &breaks[i], ops);
    if (lb_search_gave_up(search))
        c->doubt[LB_G_FENCED] = "too many workers asked for a lock at one time: the search for an "
                                "order of their grants was given up";
    free(ops);
}

/* Each resource whose bit is set, and which one writer at a time may have. */
static void search_orders(struct lb_case *c, const uint8_t *is_suspect)
{
    struct lb_search_budget budget = {.ops = 1 << 22,
                                      .steps = (1 << 26) + 16 * c->history->n_events};
    struct lb_search *search = lb_search_open(&budget);
    struct lb_key *keys = lb_malloc((c->holds.n + c->late.n + 1) * sizeof *keys);
    const struct lb_late_release *late = c->late.items;
    size_t n = 0;
    for (size_t i = 0; i < c->holds.n; i++)
        if (is_suspect[lb_holds(c)[i].resource] &&
            lb_capacity_of(c->model, lb_holds(c)[i].resource) <= 1)
            keys[n++] = (struct lb_key){lb_holds(c)[i].resource, (uint32_t)i, OF_HOLD};
    for (size_t i = 0; i < c->late.n; i++)
        if (is_suspect[late[i].id] && lb_capacity_of(c->model, (uint32_t)late[i].id) <= 1)
            keys[n++] = (struct lb_key){late[i].id, (uint32_t)i, OF_LATE};
    lb_sort(keys, n);
    for (size_t i = 0, first = 0; i < n; first = i) {
        while (i < n && keys[i].key == keys[first].key)
            i++;
        search_resource(c, search, keys + first, i - first);
    }
    lb_search_close(search);
    free(keys);
}

/* --- all grants, all writes --- */

/* Of a resource, in order of answers. */
struct largest {
    int64_t token;
    uint64_t cut; /* the latest end of a core */
    bool is_set;
};

/* Marks the resources that the shortcut does not cover; returns whether there are any. */
static bool find_suspects(struct lb_case *c, struct largest *largest, uint8_t *is_suspect)
{
    const bool by_exclusion = !c->has_shared && is_ordered_by_exclusion(c);
    bool is_any = c->model->plain;
    memset(is_suspect, c->model->plain, c->n_resources + (size_t)1);
    for (size_t i = 0; i < c->holds.n; i++) {
        const struct lb_hold *hold = &lb_holds(c)[c->order[i]];
        struct largest *best = &largest[hold->resource];
        bool is_suspected = by_exclusion && best->cut > hold->start &&
                            lb_capacity_of(c->model, hold->resource) <= 1;
        best->cut = hold->cut > best->cut ? hold->cut : best->cut;
        if (has_token(hold)) {
            int64_t token = (int64_t)token_of(c, c->order[i]);
            lb_finding_of(c, LB_G_FENCED)->n_tested++;
            is_suspected = is_suspected || (best->is_set && token <= best->token);
            if (!best->is_set || token > best->token)
                best->token = token;
            best->is_set = true;
        }
        is_suspect[hold->resource] |= is_suspected;
        is_any = is_any || is_suspected;
    }
    return is_any;
}

static void judge_grants(struct lb_case *c)
{
    struct lb_array stamps = {0};
    uint8_t *is_suspect = lb_calloc((size_t)c->n_resources + 1, 1);
    struct largest *largest = lb_calloc((size_t)c->n_resources + 1, sizeof *largest);
    bool is_any = find_suspects(c, largest, is_suspect);
    for (size_t i = 0; i < c->holds.n && is_any; i++) {
        const struct lb_hold *hold = &lb_holds(c)[i];
        if (!has_token(hold) || !is_suspect[hold->resource])
            continue;
        struct lb_write *stamp = lb_array_push(&stamps, sizeof *stamp);
        *stamp = stamp_of(c, hold);
    }
    const struct tokens grants = {c, stamps.items, stamps.n, true};
    if (is_any)
        judge_pairs(&grants);
    if (!c->has_shared && is_ordered_by_exclusion(c) &&
        lb_finding_of(c, LB_G_FENCED)->n_violations == 0) {
        if (c->had_again != LB_NEVER) /* then the cores do not say who had it */
            c->doubt[LB_G_FENCED] = "a session may have ended, or not, while a lock was held: the "
                                    "order of its grants is not judged";
        else if (is_any)
            search_orders(c, is_suspect);
    }
    free(largest);
    free(is_suspect);
    free(stamps.items);
}

static int judge_fenced(struct lb_case *c)
{
    const struct tokens writes = {c, c->writes.items, c->writes.n, false};
    if (c->has_tokens)
        judge_grants(c);
    lb_finding_of(c, LB_G_FENCED)->n_tested += c->writes.n;
    if (writes.n > 0)
        judge_pairs(&writes);
    return 0;
}

const struct lb_guarantee_kind lb_guarantee_fenced = {.judge_lock = judge_fenced,
                                                      .judge_queue = judge_fenced,
                                                      .is_last = true,
                                                      .needs_no_grant = true,
                                                      .nothing = "no token was seen"};
