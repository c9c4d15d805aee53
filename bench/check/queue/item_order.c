/* Is there an order of what happened to one item in which everything took effect once?
 *
 * The cores of item_cores.c leave out that one reset opens an item only once, and that one end by a
 * worker that never had the item ends one claim only. Where two claims may have needed the same
 * one, the orders are searched: exact, and in linear time where few operations overlap.
 *
 * The search goes along the times (Lowe, "Testing for linearizability", 2017: just-in-time
 * linearization). What was asked for and not answered yet is pending. When an operation is
 * answered, it must have taken effect: each configuration (how things may stand) is continued in
 * all orders of pending operations that end with this one, and the others are dropped. If none is
 * left there is no order. Only claims can fail to have a place, since everything else may find
 * nothing to do.
 *
 * What is not tried, because it cannot help:
 *   - a reset or clear that finds nothing to open, before it must, or before something of its own
 *     worker that waits for it: it can do the same later (not where a claim may have been taken
 *     back before its worker finished the item: what was opened later would be finished then);
 *   - of several resets, one that can be used later than another: the other may be used now, and
 *     this one in its place (not where both are answered in one tick, or the clock is uncertain:
 *     then something else of its own worker may have to come between).
 * What a claim leaves pending for ever (its lease may end it) is forgotten when it is over. An end
 * of unknown outcome whose claim is over may still end another's, and then it does not matter which
 * of several does: they are counted, not told apart, and no more of them than claims are left.
 *
 * Bounded: more than 64 pending operations, 256 configurations or many steps, over all items, and
 * the search gives up. Where the order of the claims is plain, item_gaps.c mostly shows without a
 * search that there is one.
 */
#include "item_operations.h"

#include <assert.h>
#include <stdlib.h>

enum { SLOTS = 64, CONFIGURATIONS = 256 };

/* How things may stand: state, and in it the number of the operation that made it; which of the
 * pending operations have taken effect; and how many of the ends that may be anybody's have not, by
 * the state that they make. */
struct configuration {
    uint64_t state, done;
    uint32_t spare[STATE_MASK + 1];
};

struct configurations {
    struct configuration all[CONFIGURATIONS];
    uint32_t n;
};

struct search {
    const struct lb_item_group *group;
    struct operations happened;
    uint32_t *returns; /* those that were answered, by high and then in their log's order */
    size_t n_returns;
    uint32_t slots[SLOTS];             /* pending: numbers of operations */
    uint64_t first[SLOTS];             /* what of its own log must have taken effect before */
    uint64_t later[SLOTS];             /* ... was asked for after this was answered */
    uint64_t used;                     /* slots */
    uint32_t claims_left;              /* that were not answered yet */
    uint64_t time;                     /* of the answer that the search has come to */
    const struct lb_item_event *leave; /* the end in question; NULL */
    struct configurations now, after,
        seen; /* after: of the operation that was answered; seen: on the path there */
    bool gave_up;
    bool asks;      /* ... whether it finds another's claim */
    bool is_strict; /* no recovery takes a claim whose worker's process has beaten since it may have
                     */
    bool was_done;  /* a claim was taken back, and its worker finished the item all the same */
};

static struct operation *operations_of(const struct search *s)
{
    return s->happened.array.items;
}

/* --- in order of time --- */

struct order_key {
    uint64_t time;
    uint32_t log, position, number;
};

static int by_time(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Numbers of operations by low, or of those that were answered by high. */
static uint32_t *sort_operations(const struct search *s, bool by_high, size_t *ret_n)
{
    const struct operation *operations = operations_of(s);
    struct order_key *keys = malloc((s->happened.array.n + 1) * sizeof *keys);
    uint32_t *numbers = malloc((s->happened.array.n + 1) * sizeof *numbers);
    size_t n = 0;
    for (uint32_t i = 0; keys != NULL && i < s->happened.array.n; i++)
        if (!by_high || operations[i].high != LB_NEVER)
            keys[n++] = (struct order_key){.time = by_high ? operations[i].high : operations[i].low,
                                           .log = operations[i].log,
                                           .position = operations[i].position,
                                           .number = i};
    if (keys != NULL && numbers != NULL) {
        qsort(keys, n, sizeof *keys, by_time);
        for (size_t i = 0; i < n; i++)
            numbers[i] = keys[i].number;
    } else {
        free(numbers);
        numbers = NULL;
    }
    free(keys);
    *ret_n = n;
    return numbers;
}

/* --- the configurations in which things may stand --- */

/* The steps of all searches together are limited, so that they are linear in the history. */
static void take_steps(struct search *s, uint64_t n)
{
    uint64_t *left = &s->group->world->steps_left;
    *left -= n < *left ? n : *left;
    s->gave_up = s->gave_up || *left == 0;
}

/* Can all that follows from one configuration follow from the other, in which no fewer operations
 * have taken effect? They differ in what need not have, and may yet. */
static bool is_as_good(const struct search *s, const struct configuration *from,
                       const struct configuration *other)
{
    uint64_t left = other->done & ~from->done;
    bool is_good = from->state == other->state && (from->done & ~other->done) == 0;
    for (int i = 0; i <= STATE_MASK; i++)
        is_good = is_good && from->spare[i] >= other->spare[i];
    for (; is_good && left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        const struct operation *operation = &operations_of(s)[s->slots[slot]];
        is_good = !operation->is_certain && operation->high == LB_NEVER;
    }
    return is_good;
}

/* Each end that has not taken effect and may be anybody's needs a claim to end. */
static void drop_spare(const struct search *s, struct configuration *from)
{
    uint32_t most = s->claims_left + ((from->state & STATE_MASK) == TAKEN);
    for (int i = 0; i <= STATE_MASK; i++)
        from->spare[i] = from->spare[i] < most ? from->spare[i] : most;
}

/* false: it or a better one is there already, or there is no room for it (then the search is given
 * up). */
static bool configurations_add(struct search *s, struct configurations *configurations,
                               struct configuration from)
{
    uint32_t kept = 0;
    drop_spare(s, &from);
    for (uint32_t i = 0; i < configurations->n; i++)
        if (is_as_good(s, &configurations->all[i], &from))
            return false;
    take_steps(s, configurations->n);
    for (uint32_t i = 0; i < configurations->n; i++)
        if (!is_as_good(s, &from, &configurations->all[i]))
            configurations->all[kept++] = configurations->all[i];
    configurations->n = kept;
    if (configurations->n == CONFIGURATIONS) {
        s->gave_up = true;
        return false;
    }
    configurations->all[configurations->n++] = from;
    return true;
}

/* What comes after is how things stand now. */
static void go_on(struct search *s)
{
    s->now.n = s->after.n;
    memcpy(s->now.all, s->after.all, s->after.n * sizeof s->after.all[0]);
    s->after.n = 0;
}

static bool is_done(const struct configuration *from, unsigned slot)
{
    return (from->done >> slot & 1) != 0;
}

/* Has somebody else claimed it? */
static bool is_anothers(const struct search *s, const struct configuration *from,
                        const struct operation *operation)
{
    const struct lb_item_core *core = operations_of(s)[from->state >> STATE_BITS].core;
    return (from->state & STATE_MASK) == TAKEN && core->claim->log != operation->owner;
}

/* Does the operation's worker still have it, by a claim that the operation resumes? */
static bool is_own(const struct search *s, const struct configuration *from,
                   const struct operation *operation)
{
    const struct lb_item_core *core = operations_of(s)[from->state >> STATE_BITS].core;
    return (from->state & STATE_MASK) == TAKEN && core->claim->log == operation->log;
}

static uint64_t made_by(enum state state, uint32_t operation)
{
    return (uint64_t)state | (uint64_t)operation << STATE_BITS;
}

/* Is there another pending opener of the same that may as well be used now, and this one in its
 * place? Not if this one must come before others of its log that may overlap it. */
static bool is_later_opener(const struct search *s, const struct configuration *from, unsigned slot)
{
    const struct operation *operations = operations_of(s), *mine = &operations[s->slots[slot]];
    if (mine->is_certain && lb_slack(s->group->c, mine->log) > 0)
        return false;
    for (uint64_t left = s->used & ~from->done; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct operation *other = &operations[s->slots[i]];
        if (i == slot || other->kind != OPEN || other->to != mine->to ||
            (s->first[i] & ~from->done) != 0)
            continue;
        if (other->high < mine->high ||
            (mine->high == LB_NEVER && other->high == LB_NEVER && i < slot))
            return true;
    }
    return false;
}

/* Does something else of its own log have to wait for the slot's operation? */
static bool is_waited_for(const struct search *s, const struct configuration *from, unsigned slot)
{
    for (uint64_t left = s->used & ~from->done; left != 0; left &= left - 1)
        if ((s->first[__builtin_ctzll(left)] >> slot & 1) != 0)
            return true;
    return false;
}

/* Is the claim old enough for the recovery by now? */
static bool takes(const struct search *s, const struct operation *operation, uint32_t number)
{
    const struct lb_item_event *claim = operations_of(s)[number].core->claim;
    if (!s->is_strict)
        return lb_item_recovery(s->group, operation->recovery, claim) <= s->time;
    return lb_item_recovery_before(s->group, operation->recovery, claim) <= s->time &&
           s->time <= claim->exact;
}

/* What comes of the slot's operation; false: it cannot take effect, or need not be tried. must: it
 * is the one that was answered. */
static bool apply(const struct search *s, const struct configuration *from, unsigned slot,
                  bool must, struct configuration *ret)
{
    uint32_t number = s->slots[slot];
    const struct operation *operation = &operations_of(s)[number];
    enum state state = (enum state)(from->state & STATE_MASK);
    bool counts_time = s->group->c->model->period_ns > 0 && operation->to == DONE;
    *ret = *from;
    ret->done |= UINT64_C(1) << slot;
    switch (operation->kind) {
    case CLAIM:
        ret->state = made_by(TAKEN, number);
        return state == FREE || (operation->core->claim->is_resumed && is_own(s, from, operation));
    case CLOSE:
        if (state == TAKEN &&
            (!operation->is_bound || from->state == made_by(TAKEN, operation->owner))) {
            ret->state = made_by(operation->to, counts_time ? number : 0);
            return true;
        }
        /* Its claim was taken back, nobody has claimed it since, and all the same the end had an
           effect: the item is done, or failed. */
        if (state == FREE && operation->is_certain && operation->is_bound && !s->group->is_once &&
            operation->to != FREE && operation->high < s->group->c->known_ns) {
            ret->state = made_by(operation->to, counts_time ? number : 0);
            return true;
        }
        return must || operation->is_certain;
    case OPEN:
        if (state != operation->to)
            return must || s->was_done || is_waited_for(s, from, slot);
        ret->state = FREE;
        return must || !is_later_opener(s, from, slot);
    case LET_GO:
        ret->state = FREE;
        return from->state == made_by(TAKEN, operation->owner);
    case LEAVE:
        return operation->owner == LB_NONE || !is_anothers(s, from, operation);
    case RECOVER:
        ret->state = FREE;
        return state == TAKEN && takes(s, operation, (uint32_t)(from->state >> STATE_BITS));
    default:
        ret->state = FREE;
        return from->state == made_by(DONE, operation->owner);
    }
}

/* The other thing that may come of an end by a claim's own worker. If its outcome is unknown, the
 * claim may have been let go of with the connection. If the claim was over by then, it may have
 * ended another's, as a stranger's may; not so that it finds nobody else's claim, if that is the
 * question. */
static bool apply_otherwise(const struct search *s, const struct configuration *from, unsigned slot,
                            struct configuration *ret)
{
    uint32_t number = s->slots[slot];
    const struct operation *operation = &operations_of(s)[number];
    bool counts_time = s->group->c->model->period_ns > 0 && operation->to == DONE;
    bool is_asked =
        s->asks && operation->log == s->leave->log && operation->position == s->leave->event;
    *ret = *from;
    ret->done |= UINT64_C(1) << slot;
    if (operation->kind != CLOSE || !operation->is_bound || s->group->is_once ||
        (from->state & STATE_MASK) != TAKEN)
        return false;
    if (from->state == made_by(TAKEN, operation->owner)) {
        ret->state = FREE;
        return operation->lets_go;
    }
    ret->state = made_by(operation->to, counts_time ? number : 0);
    return s->group->n_owners > 0 && !is_asked;
}

static void reach(struct search *s, struct configuration next, bool is_target, unsigned target);

/* All configurations from this one in which the target's operation is the last that took effect. */
static void continue_from(struct search *s, struct configuration from, unsigned target)
{
    take_steps(s, 1);
    for (uint64_t left = s->used & ~from.done; left != 0 && !s->gave_up; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        struct configuration next;
        if ((s->first[slot] & ~from.done) != 0 || (s->later[slot] & from.done) != 0)
            continue;
        if (apply(s, &from, slot, slot == target && operations_of(s)[s->slots[slot]].is_certain,
                  &next))
            reach(s, next, slot == target, target);
        if (apply_otherwise(s, &from, slot, &next))
            reach(s, next, slot == target, target);
    }
    for (int to = 0; to <= STATE_MASK && (from.state & STATE_MASK) == TAKEN; to++) {
        struct configuration next = from;
        if (next.spare[to] == 0 || s->gave_up)
            continue;
        next.spare[to]--;
        next.state = made_by((enum state)to, 0);
        reach(s, next, false, target);
    }
}

static void reach(struct search *s, struct configuration next, bool is_target, unsigned target)
{
    if (is_target)
        configurations_add(s, &s->after, next);
    else if (configurations_add(s, &s->seen, next))
        continue_from(s, next, target);
}

/* --- along the times --- */

static bool begin(struct search *s, uint32_t number)
{
    const struct operation *operations = operations_of(s), *operation = &operations[number];
    if (s->used == UINT64_MAX)
        return false;
    unsigned slot = (unsigned)__builtin_ctzll(~s->used);
    s->slots[slot] = number;
    s->first[slot] = s->later[slot] = 0;
    for (uint64_t left = s->used; left != 0 && operation->log != LB_NONE; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct operation *other = &operations[s->slots[i]];
        if (other->log != operation->log)
            continue;
        if (other->is_certain && other->position < operation->position)
            s->first[slot] |= UINT64_C(1) << i;
        if (operation->is_certain && operation->position < other->position)
            s->first[i] |= UINT64_C(1) << slot;
        if (operation->high != LB_NEVER && operation->position < other->position)
            s->later[slot] |= UINT64_C(1) << i;
        if (other->high != LB_NEVER && other->position < operation->position)
            s->later[i] |= UINT64_C(1) << slot;
    }
    s->used |= UINT64_C(1) << slot;
    return true;
}

/* The slots hold nothing any more; configurations that differed in them only become one. Those of
 * ends that may be anybody's are counted instead. */
static void forget(struct search *s, uint64_t slots, uint64_t anybodys)
{
    if ((slots | anybodys) == 0)
        return;
    for (uint32_t i = 0; i < s->now.n; i++) {
        struct configuration next = s->now.all[i];
        for (uint64_t left = anybodys & ~next.done; left != 0; left &= left - 1)
            next.spare[operations_of(s)[s->slots[__builtin_ctzll(left)]].to]++;
        next.done &= ~(slots | anybodys);
        configurations_add(s, &s->after, next);
    }
    s->used &= ~(slots | anybodys);
    for (unsigned i = 0; i < SLOTS; i++) {
        s->first[i] &= ~slots;
        s->later[i] &= ~slots;
    }
    go_on(s);
}

static unsigned slot_of(const struct search *s, uint32_t number)
{
    for (uint64_t left = s->used; left != 0; left &= left - 1)
        if (s->slots[__builtin_ctzll(left)] == number)
            return (unsigned)__builtin_ctzll(left);
    return SLOTS;
}

/* Does the operation speak of a claim, or complete, which is over in every configuration? */
static bool is_outlived(const struct search *s, const struct operation *operation)
{
    uint64_t state = made_by(operation->kind == DUE ? DONE : TAKEN, operation->owner);
    bool is_over = operation->is_bound && slot_of(s, operation->owner) == SLOTS;
    for (uint32_t i = 0; i < s->now.n && is_over; i++)
        is_over = s->now.all[i].state != state;
    return is_over;
}

/* Does an operation of its own log have to come before or after the slot's? */
static bool is_ordered(const struct search *s, unsigned slot)
{
    bool is_before = s->first[slot] != 0;
    for (uint64_t left = s->used; left != 0 && !is_before; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        is_before = ((s->first[i] | s->later[i]) >> slot & 1) != 0;
    }
    return is_before;
}

/* What need not be told apart any more. One that is certain has its answer to come; its slot goes
 * then. */
static void forget_outlived(struct search *s)
{
    uint64_t slots = 0, anybodys = 0;
    for (uint64_t left = s->used; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        const struct operation *operation = &operations_of(s)[s->slots[slot]];
        bool may_be_others =
            operation->kind == CLOSE && (!operation->is_bound || s->group->n_owners > 0);
        bool counts_time = s->group->c->model->period_ns > 0 && operation->to == DONE;
        if (operation->high != LB_NEVER || (operation->is_bound && !is_outlived(s, operation)))
            continue;
        if (operation->is_bound && !may_be_others)
            slots |= UINT64_C(1) << slot;
        else if (may_be_others && !counts_time && !is_ordered(s, slot))
            anybodys |= UINT64_C(1) << slot;
    }
    forget(s, slots, anybodys);
}

/* The operation was answered: it took effect, or will not any more. false: there is no order. */
static bool finish(struct search *s, uint32_t number)
{
    unsigned slot = slot_of(s, number);
    assert(slot < SLOTS); /* what is answered was asked for, and waits in a slot */
    bool is_certain = operations_of(s)[number].is_certain;
    s->time = operations_of(s)[number].high;
    for (uint32_t i = 0; i < s->now.n && !s->gave_up; i++) {
        bool done = is_done(&s->now.all[i], slot);
        if (done || !is_certain)
            configurations_add(s, &s->after, s->now.all[i]);
        s->seen.n = 0;
        if (!done)
            continue_from(s, s->now.all[i], slot);
    }
    if (s->after.n == 0)
        return false;
    go_on(s);
    s->claims_left -= operations_of(s)[number].kind == CLAIM;
    forget(s, UINT64_C(1) << slot, 0);
    forget_outlived(s);
    return true;
}

/* Did the worker whose end is in question ask for it only after that end was answered? It may be in
 * the same tick. */
static bool comes_after(const struct search *s, const struct operation *operation)
{
    return s->leave != NULL && operation->log == s->leave->log &&
           operation->position > s->leave->event;
}

/* Up to a time: what is answered then or later may not have taken effect. */
static const struct lb_item_core *run(struct search *s, const uint32_t *calls, uint32_t leave,
                                      bool *ret_found)
{
    const struct operation *operations = operations_of(s);
    size_t next = 0;
    for (size_t i = 0; i < s->n_returns; i++)
        s->claims_left += operations[s->returns[i]].kind == CLAIM;
    configurations_add(s, &s->now, (struct configuration){.state = FREE});
    *ret_found = true;
    for (size_t i = 0; i < s->n_returns; i++) {
        const struct operation *operation = &operations[s->returns[i]];
        bool is_own = leave != LB_NONE && operation->log == s->leave->log &&
                      operation->position < s->leave->event; /* also within the tick */
        if (leave != LB_NONE && s->returns[i] != leave && !is_own &&
            operation->high >= operations[leave].high)
            continue;
        if (operation->high >= s->group->c->known_ns) /* what happened before may be missing */
            return NULL;
        for (; next < s->happened.array.n &&
               operations[calls[next]].low <= operations[s->returns[i]].high;
             next++)
            if (!comes_after(s, &operations[calls[next]]))
                s->gave_up = s->gave_up || !begin(s, calls[next]);
        if (s->gave_up)
            return NULL;
        bool found = finish(s, s->returns[i]);
        if (s->gave_up)
            return NULL;
        *ret_found = found;
        if (!found || s->returns[i] == leave)
            return operations[s->returns[i]].core;
    }
    return NULL;
}

/* Up to the end in question, leave, if there is one. asks: it must find nobody else's claim.
 * strict: each order that is found is one; else all are found, and perhaps some that are none. */
static int search(const struct lb_item_group *group, const struct lb_item_event *leave, bool asks,
                  bool strict, const struct lb_item_core **ret_core, bool *ret_found,
                  bool *ret_gave_up)
{
    struct search *s = calloc(1, sizeof *s);
    uint32_t *calls = NULL;
    size_t n_calls;
    if (s == NULL)
        return lb_out_of_memory(group->c);
    s->group = group;
    s->leave = leave;
    s->asks = asks;
    s->is_strict = strict;
    s->happened.gave_up = !lb_item_one_class(group);
    for (size_t i = 0; i < group->n_cores; i++)
        s->was_done = s->was_done || lb_item_was_done(group, &group->cores[i]);
    s->happened.group = group;
    int rc = lb_item_operations(&s->happened, leave != NULL ? leave->high : 0);
    uint32_t number = leave != NULL ? (uint32_t)s->happened.array.n : LB_NONE;
    if (rc == 0 && leave != NULL)
        rc = lb_item_operations_add(&s->happened,
                                    &(struct operation){.low = leave->low,
                                                        .high = leave->high,
                                                        .kind = LEAVE,
                                                        .is_certain = true,
                                                        .owner = asks ? leave->log : LB_NONE,
                                                        .log = LB_NONE});
    s->gave_up = s->happened.gave_up;
    if (rc == 0 && !s->gave_up) {
        calls = sort_operations(s, false, &n_calls);
        s->returns = sort_operations(s, true, &s->n_returns);
        rc = calls == NULL || s->returns == NULL ? lb_out_of_memory(group->c) : 0;
    }
    if (rc == 0 && !s->gave_up) {
        *ret_core = run(s, calls, number, ret_found);
    }
    *ret_gave_up = s->gave_up;
    free(calls);
    free(s->returns);
    free(s->happened.array.items);
    free(s);
    return rc;
}

int lb_item_order(const struct lb_item_group *group, bool strict,
                  const struct lb_item_core **ret_core, bool *ret_gave_up)
{
    bool found = true;
    return search(group, NULL, false, strict, ret_core, &found, ret_gave_up);
}

int lb_item_others_claim(const struct lb_item_group *group, const struct lb_item_event *end,
                         bool *ret_others, bool *ret_gave_up)
{
    const struct lb_item_core *core = NULL;
    bool finds_none = true, is_legal = true;
    int rc = search(group, end, true, false, &core, &finds_none, ret_gave_up);
    bool found = finds_none;
    if (rc == 0 && !found && !*ret_gave_up)
        rc = search(group, end, false, false, &core, &is_legal, ret_gave_up);
    if (rc == 0 && found && !*ret_gave_up && lb_item_revived(group)) {
        rc = search(group, end, true, true, &core, &found, ret_gave_up);
        *ret_gave_up = *ret_gave_up || !found; /* only an order that may be none has no other */
    }
    *ret_others = !finds_none && is_legal && !*ret_gave_up;
    if (rc == 0 && *ret_others && lb_item_revived(group)) {
        rc = search(group, end, false, true, &core, &is_legal, ret_gave_up);
        *ret_others = is_legal && !*ret_gave_up;
        *ret_gave_up = !*ret_others;
    }
    return rc;
}
