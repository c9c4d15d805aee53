/* A brute-force search for a legal order of operations, for small histories: the definition that
 * the closed forms of bench/check are held against (Wing and Gong 1993, with the memo of Lowe
 * 2017).
 *
 * An operation takes effect at some moment of its interval; x comes before y in every order iff x's
 * interval ended before y's began (equal times are concurrent). Optional operations need not take
 * effect at all: they represent unknown outcomes and the database's own actions.
 */
#ifndef CHECK_BRUTE_H
#define CHECK_BRUTE_H

#include "check_seen.h"

#include "property.h"

enum { BRUTE_OPS = 63, BRUTE_MEMO = 1 << 12 };

struct brute_op {
    uint64_t low, high;
    bool optional;
    bool is_cut; /* optional only because the search ends before its answer: later requests of its
                    log still come after it */
    int kind;
    uint32_t who;
    uint64_t a, b;
    uint32_t log;   /* operations of one log keep their order, even within a tick; 0: none */
    uint32_t place; /* in the log; 0 in all: the order in which they were added */
};

struct brute {
    struct brute_op ops[BRUTE_OPS];
    uint32_t n;
    /* May op take effect in *state? Then changes it. */
    bool (*step)(const struct brute *brute, const struct brute_op *op, uint64_t *state);
    /* An alternative effect; NULL: none. */
    bool (*other)(const struct brute *brute, const struct brute_op *op, uint64_t *state);
    /* Is that a state in which all may end? NULL: it always is. */
    bool (*rest)(const struct brute *brute, uint64_t state);
    const void *context;
    uint64_t memo_state[BRUTE_MEMO];
    uint64_t memo_mask[BRUTE_MEMO];
    uint32_t memo_stamp[BRUTE_MEMO];
    uint32_t stamp;
    uint64_t n_visits;
};

static inline void brute_add(struct brute *brute, struct brute_op op)
{
    if (brute->n == BRUTE_OPS)
        abort();
    brute->ops[brute->n++] = op;
}

/* Was this place visited before? Remembers it. A full table only costs time. */
static inline bool brute_seen(struct brute *brute, uint64_t mask, uint64_t state)
{
    uint64_t hash = (state * UINT64_C(0x9e3779b97f4a7c15)) ^ (mask * UINT64_C(0xd1342543de82ef95));
    size_t slot = (size_t)(hash >> 20) % BRUTE_MEMO;
    for (size_t i = 0; i < 16; i++, slot = (slot + 1) % BRUTE_MEMO) {
        if (brute->memo_stamp[slot] != brute->stamp) {
            brute->memo_stamp[slot] = brute->stamp;
            brute->memo_mask[slot] = mask;
            brute->memo_state[slot] = state;
            return false;
        }
        if (brute->memo_mask[slot] == mask && brute->memo_state[slot] == state)
            return true;
    }
    return false;
}

/* Is an earlier operation of the same log, one that did happen, still to come? Or did a later one
 * take effect, though this one had been answered before it? */
static inline bool brute_blocked(const struct brute *brute, uint64_t mask, uint32_t op)
{
    const struct brute_op *ops = brute->ops;
    for (uint32_t i = 0; i < brute->n && ops[op].log != 0; i++) {
        bool earlier = ops[i].place != 0 ? ops[i].place < ops[op].place : i < op;
        bool later = ops[i].place != 0 ? ops[i].place > ops[op].place : i > op;
        bool gone = (mask >> i & 1) != 0;
        if (ops[i].log != ops[op].log)
            continue;
        if ((!gone && (!ops[i].optional || ops[i].is_cut) && earlier) ||
            (gone && later && ops[op].optional && ops[op].high != UINT64_MAX))
            return true;
    }
    return false;
}

static inline bool brute_visit(struct brute *brute, uint64_t mask, uint64_t state)
{
    uint64_t earliest_end = UINT64_MAX;
    brute->n_visits++;
    for (uint32_t i = 0; i < brute->n; i++)
        if ((mask >> i & 1) == 0 && !brute->ops[i].optional && brute->ops[i].high < earliest_end)
            earliest_end = brute->ops[i].high;
    bool done = true;
    uint64_t latest = 0; /* begin of the latest operation that has taken effect */
    for (uint32_t i = 0; i < brute->n; i++) {
        bool gone = (mask >> i & 1) != 0;
        done = done && (gone || brute->ops[i].optional);
        latest = gone && brute->ops[i].low > latest ? brute->ops[i].low : latest;
    }
    if (done && (brute->rest == NULL || brute->rest(brute, state)))
        return true;
    if (brute_seen(brute, mask, state))
        return false;
    for (uint32_t k = 0; k < 2 * brute->n; k++) {
        uint32_t i = k / 2;
        const struct brute_op *op = &brute->ops[i];
        uint64_t next = state;
        bool (*step)(const struct brute *, const struct brute_op *, uint64_t *) =
            k % 2 == 0 ? brute->step : brute->other;
        if (step == NULL || (mask >> i & 1) != 0 || op->low > earliest_end ||
            brute_blocked(brute, mask, i) || !step(brute, op, &next))
            continue;
        /* What changes nothing need not be: it could only keep others from being later. But what
         * its own log did after a cut operation waits for that. */
        if (op->optional && (op->high < latest || (next == state && !op->is_cut)))
            continue;
        if (brute_visit(brute, mask | UINT64_C(1) << i, next))
            return true;
    }
    return false;
}

/* Is there a legal order, from state 0? */
static inline bool brute_legal(struct brute *brute)
{
    brute->stamp++;
    return brute_visit(brute, 0, 0);
}

/* Keeps only operations that had begun by a time, as seen by a log's worker at a place of its log:
 * an operation that had not ended may or may not have taken effect, unless that worker had its
 * answer. The operation at that place took effect before the ones that its log sent after it in the
 * same round trip, or not at all. */
static inline void brute_cut(struct brute *brute, uint64_t time, uint32_t log, uint32_t place)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < brute->n; i++) {
        struct brute_op op = brute->ops[i];
        if (op.low > time)
            continue;
        if (op.high >= time && (op.optional || op.log != log || op.place >= place)) {
            op.is_cut = !op.optional && (op.log != log || op.place != place);
            op.optional = true;
            if (op.log != log || op.place != place) /* its own end is over by then */
                op.high = UINT64_MAX;
        }
        brute->ops[kept++] = op;
    }
    brute->n = kept;
}

/* --- random choices --- */

static inline uint32_t below(struct lb_random *random, uint32_t n)
{
    return (uint32_t)lb_random_below(random, n);
}

static inline bool chance(struct lb_random *random, uint32_t percent)
{
    return below(random, 100) < percent;
}

static inline void print_history(const struct test_history *h)
{
    for (uint32_t i = 0; i < MAX_LOGS; i++)
        for (size_t k = 0; k < h->n[i]; k++) {
            const struct lb_event *e = &h->events[i][k];
            printf(
                "# log %u p%u %-11s %-6s t=%llu object=%u value=%lld arg=%u answer=%u flags=%u\n",
                i, e->process, lb_op_name(e->op), lb_event_type_name(e->type),
                (unsigned long long)e->time_ns, e->object, (long long)e->value, e->arg, e->answer,
                e->flags);
        }
}

/* Prints the judged and the searched history, for a person who analyses a disagreement. */
static inline void print_disagreement(const struct test_history *h, const struct brute *brute)
{
    print_history(h);
    for (uint32_t i = 0; i < brute->n; i++)
        printf("# op %d of %u: %llu..%llu%s a=%llu\n", brute->ops[i].kind, brute->ops[i].who,
               (unsigned long long)brute->ops[i].low, (unsigned long long)brute->ops[i].high,
               brute->ops[i].optional ? " (optional)" : "", (unsigned long long)brute->ops[i].a);
}

/* --- mutations --- */

/* Is the operation at this place an invoke and its certain end, with nothing between? */
static inline bool is_plain_pair(const struct test_history *h, uint32_t log, size_t at)
{
    const struct lb_event *e = &h->events[log][at];
    return at + 1 < h->n[log] && e->type == LB_EV_INVOKE && e[1].op == e->op &&
           (at == 0 || e[-1].type != LB_EV_INVOKE) &&
           (e[1].type == LB_EV_OK || e[1].type == LB_EV_FAIL);
}

/* Swaps what two operations of a worker did, but not their times. A release that speaks of other
 * permits than any grant is for the judge to make the best of; the search does not know it. */
static inline void swap_operations(struct test_history *h, uint32_t log, size_t at)
{
    struct lb_event *e = &h->events[log][at];
    if (!is_plain_pair(h, log, at) || !is_plain_pair(h, log, at + 2) ||
        e[0].process != e[2].process)
        return;
    if (e->op <= LB_OP_WRITE &&
        (e[0].arg != e[2].arg || ((e[0].flags ^ e[2].flags) & LB_EVF_SHARED) != 0))
        return;
    for (size_t i = 0; i < 2; i++) {
        struct lb_event swap = e[i];
        uint64_t time = e[i + 2].time_ns;
        e[i] = e[i + 2];
        e[i].time_ns = swap.time_ns;
        e[i + 2] = swap;
        e[i + 2].time_ns = time;
    }
}

/* Has all that a worker asked for been answered, and does its process go on? */
static inline bool can_go_on(const struct test_history *h, uint32_t log)
{
    uint32_t process = h->events[log][h->n[log] - 1].process;
    size_t n_asked = 0, n_answered = 0;
    for (size_t i = 0; i < h->n[log]; i++) {
        if (h->events[log][i].type == LB_EV_INFO && h->events[log][i].process == process)
            return false;
        n_asked += h->events[log][i].type == LB_EV_INVOKE;
        n_answered += h->events[log][i].type >= LB_EV_OK && h->events[log][i].type <= LB_EV_INFO;
    }
    return n_asked == n_answered;
}

/* Another worker does the same as its last operation. What names itself (a ticket, the ids of a
 * put) is not done twice, nor is a release. */
static inline void duplicate_operation(struct test_history *h, uint32_t log, size_t at,
                                       uint32_t other)
{
    static const uint64_t can_be = 1u << LB_OP_ACQUIRE | 1u << LB_OP_CLAIM | 1u << LB_OP_COMPLETE |
                                   1u << LB_OP_FREE | 1u << LB_OP_ERROR;
    const struct lb_event *e = &h->events[log][at];
    size_t n = 1;
    if (e->type != LB_EV_INVOKE || (can_be >> e->op & 1) == 0 || h->n[other] < 2)
        return;
    struct lb_event last = *last_event(h, other);
    while (at + n < h->n[log] && e[n].type == LB_EV_NOTE)
        n++;
    if (at + n == h->n[log] || e[n].type != LB_EV_OK || e[n].op != e->op || last.type < LB_EV_OK ||
        last.type > LB_EV_FAIL || !can_go_on(h, other))
        return;
    for (size_t i = 0; i <= n; i++) {
        struct lb_event copy = e[i];
        copy.process = last.process;
        if (copy.time_ns < last.time_ns)
            copy.time_ns = last.time_ns;
        add_event(h, other, copy);
    }
}

/* Changes a history in one place: shifts times, drops a tail, swaps two operations, or gives one to
 * another worker as well. */
static inline void mutate(struct test_history *h, struct lb_random *random, uint32_t span,
                          bool keep_deeds)
{
    uint32_t log = below(random, 4);
    if (h->n[log] < 2)
        return;
    size_t at = below(random, (uint32_t)h->n[log]);
    struct lb_event *e = h->events[log];
    switch (below(random, keep_deeds ? 4 : 6)) {
    case 0: /* shift everything from here on */
        for (uint64_t by = 1 + below(random, span); at < h->n[log]; at++)
            e[at].time_ns += by;
        break;
    case 1: /* move one event within its neighbours */
        if (at > 0 && at + 1 < h->n[log] && e[at + 1].time_ns > e[at - 1].time_ns)
            e[at].time_ns = e[at - 1].time_ns +
                            below(random, (uint32_t)(e[at + 1].time_ns - e[at - 1].time_ns) + 1);
        break;
    case 2: /* drop the tail */
        h->n[log] = at;
        break;
    case 4:
        swap_operations(h, log, at);
        break;
    case 5:
        duplicate_operation(h, log, at, (log + 1 + below(random, 3)) % 4);
        break;
    default: /* earlier: everything up to here */
        for (size_t i = 0; i <= at; i++)
            e[i].time_ns -= e[i].time_ns < span ? 0 : below(random, span);
        for (size_t i = 1; i < h->n[log]; i++)
            if (e[i].time_ns < e[i - 1].time_ns)
                e[i].time_ns = e[i - 1].time_ns;
        break;
    }
}

/* Cuts every log somewhere, as a disk that was full does: up to the first of the new ends nothing
 * is missing. A log of which nothing is left may have said anything at any time. */
static inline void cut_tails(struct test_history *h, struct lb_random *random)
{
    h->view.truncated = true;
    h->view.whole_ns = UINT64_MAX;
    for (uint32_t log = 0; log < MAX_LOGS; log++) {
        if (h->n[log] == 0)
            continue;
        h->n[log] -= below(random, 3) == 0 ? 0 : below(random, (uint32_t)h->n[log] + 1);
        uint64_t last = h->n[log] > 0 ? last_event(h, log)->time_ns : 0;
        h->view.whole_ns = last < h->view.whole_ns ? last : h->view.whole_ns;
    }
}

/* --- the comparison --- */

struct tally {
    const char *name;
    uint64_t n, n_legal, n_flipped;
};

/* Is one in so many histories fewer, or more, than was counted? A rate near the limit varies by
 * chance: only a difference of four standard deviations is an answer. */
static inline bool is_rarer(uint64_t count, uint64_t n, uint64_t one_in)
{
    double limit = (double)n / (double)one_in;
    return (double)count < limit - 4 * sqrt(limit) || (count == 0 && limit >= 4);
}

static inline bool is_commoner(uint64_t count, uint64_t n, uint64_t one_in)
{
    double limit = (double)n / (double)one_in;
    return (double)count > limit + 4 * sqrt(limit) + 1;
}

/* Both verdicts must have been seen often enough for their agreement to mean something. */
static inline bool tally_is_fair(const struct tally *tally)
{
    printf("# %s: %llu histories, %llu legal, %llu mutations that flipped the verdict\n",
           tally->name, (unsigned long long)tally->n, (unsigned long long)tally->n_legal,
           (unsigned long long)tally->n_flipped);
    return !is_rarer(tally->n_legal, tally->n, 50) &&
           !is_rarer(tally->n - tally->n_legal, tally->n, 100) &&
           !is_rarer(tally->n_flipped, tally->n, 2000);
}

struct shape; /* of histories: each test's own */

/* A model: how histories of it are made, and judged both ways. */
struct comparison {
    const char *name;
    const struct shape *shape;
    struct test_history *history;
    uint64_t seed, tick;
    bool keep_deeds; /* mutations change when things are done, but not what */
    void (*generate)(const struct shape *shape, struct lb_random *random);
    bool (*is_asked)(void); /* is the history one that the model speaks of? NULL: all are */
    bool (*compare)(const struct shape *shape); /* fails, or says whether it is legal */
    /* Fails if the judge finds a violation in a part of a legal history; NULL: not asked. */
    void (*compare_cut)(const struct shape *shape);
};

/* Judges a part of the history, which is legal as a whole. */
static inline void compare_part(const struct comparison *c, struct lb_random *random)
{
    static struct test_history whole;
    whole = *c->history;
    cut_tails(c->history, random);
    see_history(c->history);
    c->compare_cut(c->shape);
    *c->history = whole;
}

/* Random histories, and mutations of the legal ones. */
static inline struct tally compare_histories(const struct comparison *c)
{
    enum { SEEN_OF = 2000 }; /* these are enough to see what is generated */
    struct tally tally = {.name = c->name};
    struct lb_random random;
    lb_random_init(&random, c->seed, (uint64_t)(c->name[0] * 256 + c->name[1]));
    for (uint64_t n = test_histories(); tally.n < n;) {
        c->generate(c->shape, &random);
        if (c->is_asked != NULL && !c->is_asked())
            continue;
        if (tally.n < SEEN_OF)
            see_history(c->history);
        bool legal = c->compare(c->shape);
        tally.n++;
        tally.n_legal += legal;
        if (legal && c->compare_cut != NULL && chance(&random, 20))
            compare_part(c, &random);
        for (int i = 0; i < 2 && legal && tally.n < n; i++) {
            mutate(c->history, &random, (uint32_t)(6 * c->tick), c->keep_deeds);
            if (c->is_asked != NULL && !c->is_asked())
                break;
            legal = c->compare(c->shape);
            tally.n++;
            tally.n_legal += legal;
            tally.n_flipped += !legal;
        }
    }
    return tally;
}

#endif
