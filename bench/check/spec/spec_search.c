/* The search for the orders of one object's operations, and the guarantees that each of them
 * breaks: see automaton.h.
 *
 * The search goes along the times (Lowe, "Testing for linearizability", 2017: just-in-time
 * linearization). Between its invoke and its answer an operation is pending. When it is answered,
 * it must have taken effect: each configuration (a state, and the pending operations that have
 * taken effect) is continued in all orders of pending operations that end with this one, and the
 * others are dropped. So the search is exact, and linear in the number of operations; it grows with
 * the number that overlap.
 *
 * Some steps are not tried, because they cannot help:
 *   - an operation that need not have taken effect, and would change nothing;
 *   - one that would change nothing, and waits (automaton.h), before it must or before another one
 * of its own worker that waits for it;
 *   - of twins, one that can be used later than another: the other may be used now, and this one in
 *     its place.
 * An operation without an end is forgotten once it is over. If it is spare it is only counted.
 */
#include "automaton.h"

#include "memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, CONFIGURATIONS = LB_SPEC_CONFIGURATIONS };

/* The state; which of the pending operations have taken effect; how many of the spare ones have
 * not; and the guarantees that the order up to here has broken since the last break. */
struct configuration {
    struct lb_spec_state state;
    uint64_t done;
    uint32_t spare[LB_SPEC_SPARES];
    unsigned broken;
    uint32_t by,
        other; /* of the last step that broke one: its operation, and struct lb_spec_next */
};

struct configurations {
    struct configuration all[CONFIGURATIONS];
    uint32_t n;
};

struct order_key {
    uint64_t time;
    uint32_t rank, log, position, number;
};

struct lb_search {
    struct lb_search_budget *budget;
    const struct lb_object *object;
    struct order_key *keys;    /* room for n_room operations, and as many numbers twice */
    uint32_t *calls, *returns; /* by low; those that were answered, by high */
    size_t n_room, n_returns;
    uint32_t slots[SLOTS];  /* pending: numbers of operations */
    uint64_t first[SLOTS];  /* operations of its own log that must take effect before it */
    uint64_t later[SLOTS];  /* ... that were invoked after its answer */
    uint64_t used, repeats; /* slots; those whose operation repeats */
    uint32_t returns_left;
    uint64_t now;     /* the answer that the search has come to */
    unsigned excused; /* guarantees that are not judged any more */
    bool is_forced;   /* the target may break hard guarantees */
    bool gave_up;
    struct configurations current, after, seen; /* after: of the operation that was answered; seen:
                                                   on the path there */
    struct lb_array breaks;
};

static const struct lb_spec_op *op_in(const struct lb_search *s, unsigned slot)
{
    return &s->object->ops[s->slots[slot]];
}

/* --- in order of time --- */

static int by_time(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool is_sorted(const struct order_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (by_time(&keys[i - 1], &keys[i]) > 0)
            return false;
    return true;
}

/* Numbers of operations by low, or of those that were answered by high; returns how many. */
static size_t sort_ops(struct lb_search *s, bool by_high, uint32_t *numbers)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->object->n_ops; i++) {
        const struct lb_spec_op *op = &s->object->ops[i];
        if (!by_high || op->high != LB_SPEC_NEVER)
            s->keys[n++] = (struct order_key){.time = by_high ? op->high : op->low,
                                              .rank = op->rank,
                                              .log = op->log,
                                              .position = op->position,
                                              .number = i};
    }
    if (!is_sorted(s->keys, n))
        qsort(s->keys, n, sizeof *s->keys, by_time);
    for (size_t i = 0; i < n; i++)
        numbers[i] = s->keys[i].number;
    return n;
}

static void make_room(struct lb_search *s, size_t n)
{
    if (n <= s->n_room)
        return;
    free(s->keys);
    free(s->calls);
    free(s->returns);
    s->n_room = n + n / 2 + 16;
    s->keys = lb_malloc(s->n_room * sizeof *s->keys);
    s->calls = lb_malloc(s->n_room * sizeof *s->calls);
    s->returns = lb_malloc(s->n_room * sizeof *s->returns);
}

/* --- configurations --- */

/* The steps of all searches together are limited, so that they are linear in the history. */
static void take_steps(struct lb_search *s, uint64_t n)
{
    uint64_t *left = &s->budget->steps;
    *left -= n < *left ? n : *left;
    s->gave_up = s->gave_up || *left == 0;
}

/* True if all that follows from the other configuration can follow from this one as well, and
 * breaks no more. They differ in operations that need not have taken effect, and still may. */
static bool is_as_good(const struct lb_search *s, const struct configuration *one,
                       const struct configuration *other)
{
    uint64_t left = other->done & ~one->done;
    if ((one->done & ~other->done) != 0 || (one->broken & ~other->broken) != 0 ||
        memcmp(&one->state, &other->state, sizeof one->state) != 0)
        return false;
    for (unsigned i = 1; i < LB_SPEC_SPARES; i++)
        if (one->spare[i] < other->spare[i])
            return false;
    for (; left != 0; left &= left - 1) {
        const struct lb_spec_op *op = op_in(s, (unsigned)__builtin_ctzll(left));
        if (op->must || op->high != LB_SPEC_NEVER)
            return false;
    }
    return true;
}

/* Each spare operation needs something that is still to be answered, or the present state. */
static void drop_spare(const struct lb_search *s, struct configuration *one)
{
    for (unsigned i = 1; i < LB_SPEC_SPARES; i++)
        if (one->spare[i] > s->returns_left + 1)
            one->spare[i] = s->returns_left + 1;
}

/* False: it or a better one is there already, or there is no room for it: the search gives up. */
static bool configurations_add(struct lb_search *s, struct configurations *configurations,
                               struct configuration one)
{
    uint32_t kept = 0;
    drop_spare(s, &one);
    for (uint32_t i = 0; i < configurations->n; i++)
        if (is_as_good(s, &configurations->all[i], &one))
            return false;
    take_steps(s, configurations->n);
    for (uint32_t i = 0; i < configurations->n; i++)
        if (!is_as_good(s, &one, &configurations->all[i])) {
            if (kept != i)
                configurations->all[kept] = configurations->all[i];
            kept++;
        }
    configurations->n = kept;
    if (configurations->n == CONFIGURATIONS) {
        s->gave_up = true;
        return false;
    }
    configurations->all[configurations->n++] = one;
    return true;
}

/* The configurations after the answer become the current ones. */
static void go_on(struct lb_search *s)
{
    s->current.n = s->after.n;
    memcpy(s->current.all, s->after.all, s->after.n * sizeof s->after.all[0]);
    s->after.n = 0;
}

/* --- steps --- */

/* True if a twin of the slot's operation is pending that may as well be used now. Not if this one
 * must come before others of its log that may overlap it. */
static bool is_later_twin(const struct lb_search *s, const struct configuration *from,
                          unsigned slot)
{
    const struct lb_spec_op *mine = op_in(s, slot);
    if (mine->twin == 0)
        return false;
    for (uint64_t left = s->used & ~from->done; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct lb_spec_op *other = op_in(s, i);
        if (i == slot || other->twin != mine->twin || (s->first[i] & ~from->done) != 0)
            continue;
        if (other->high < mine->high ||
            (mine->high == LB_SPEC_NEVER && other->high == LB_SPEC_NEVER && i < slot))
            return true;
    }
    return false;
}

/* True if something else of its own log has to wait for the slot's operation. */
static bool is_waited_for(const struct lb_search *s, const struct configuration *from,
                          unsigned slot)
{
    for (uint64_t left = s->used & ~from->done; left != 0; left &= left - 1)
        if ((s->first[__builtin_ctzll(left)] >> slot & 1) != 0)
            return true;
    return false;
}

/* True if the step must be tried. target: the operation that was answered; SLOTS: none. */
static bool is_worth_it(const struct lb_search *s, const struct configuration *from, unsigned slot,
                        unsigned target, const struct lb_spec_next *next)
{
    const struct lb_spec_op *op = op_in(s, slot);
    bool is_target = slot == target, must = is_target && op->must;
    unsigned hard = next->broken & s->object->automaton->hard & ~s->excused;
    bool is_needed = is_target || (target < SLOTS && (s->first[target] >> slot & 1) != 0);
    if (hard != 0 && !(s->is_forced && is_needed))
        return false;
    if (next->broken == 0 && memcmp(&next->state, &from->state, sizeof from->state) == 0)
        return must || (op->must && (!op->waits || is_waited_for(s, from, slot)));
    return must || !is_later_twin(s, from, slot);
}

static void reach(struct lb_search *s, const struct configuration *next, bool is_target,
                  unsigned target);

/* number: of the operation; LB_SPEC_NONE: a spare one */
static void take(const struct lb_search *s, struct configuration *next,
                 const struct lb_spec_next *step, uint32_t number)
{
    unsigned broken = step->broken & ~s->excused;
    next->state = step->state;
    next->broken |= broken;
    next->by = broken != 0 ? number : next->by;
    next->other = broken != 0 ? step->other : next->other;
}

/* All configurations from this one in which the target's operation is the last that took effect;
 * target SLOTS: all. */
static void continue_from(struct lb_search *s, const struct configuration *from, unsigned target)
{
    const struct lb_automaton *automaton = s->object->automaton;
    struct lb_spec_next steps[LB_SPEC_NEXT];
    take_steps(s, 1);
    for (uint64_t left = s->used & (s->repeats | ~from->done); left != 0 && !s->gave_up;
         left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        if ((s->first[slot] & ~from->done) != 0 || (s->later[slot] & from->done) != 0)
            continue;
        unsigned n = automaton->step(s->object, s->slots[slot], &from->state, s->now, steps);
        for (unsigned i = 0; i < n; i++) {
            if (!is_worth_it(s, from, slot, target, &steps[i]))
                continue;
            struct configuration next = *from;
            next.done |= UINT64_C(1) << slot;
            take(s, &next, &steps[i], s->slots[slot]);
            reach(s, &next, slot == target, target);
        }
    }
    for (unsigned class_no = 1; class_no < LB_SPEC_SPARES && !s->gave_up; class_no++) {
        unsigned n = from->spare[class_no] > 0 && automaton->spare != NULL
                         ? automaton->spare(s->object, class_no, &from->state, steps)
                         : 0;
        for (unsigned i = 0; i < n; i++) {
            struct configuration next = *from;
            next.spare[class_no]--;
            take(s, &next, &steps[i], LB_SPEC_NONE);
            reach(s, &next, false, target);
        }
    }
}

static void reach(struct lb_search *s, const struct configuration *next, bool is_target,
                  unsigned target)
{
    if (is_target)
        configurations_add(s, &s->after, *next);
    else if (configurations_add(s, &s->seen, *next))
        continue_from(s, next, target);
}

/* --- pending operations --- */

static bool begin(struct lb_search *s, uint32_t number)
{
    const struct lb_spec_op *op = &s->object->ops[number];
    if (s->used == UINT64_MAX)
        return false;
    unsigned slot = (unsigned)__builtin_ctzll(~s->used);
    s->slots[slot] = number;
    s->first[slot] = s->later[slot] = 0;
    for (uint64_t left = s->used; left != 0 && op->log != LB_SPEC_NONE; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        const struct lb_spec_op *other = op_in(s, i);
        if (other->log != op->log)
            continue;
        if (other->must && other->position < op->position)
            s->first[slot] |= UINT64_C(1) << i;
        if (op->must && op->position < other->position)
            s->first[i] |= UINT64_C(1) << slot;
        if (op->high != LB_SPEC_NEVER && op->position < other->position)
            s->later[slot] |= UINT64_C(1) << i;
        if (other->high != LB_SPEC_NEVER && other->position < op->position)
            s->later[i] |= UINT64_C(1) << slot;
    }
    s->used |= UINT64_C(1) << slot;
    s->repeats = (s->repeats & ~(UINT64_C(1) << slot)) | (uint64_t)op->repeats << slot;
    return true;
}

/* The slots hold nothing any more; configurations that differed in them only become one. Those that
 * are spare are counted instead. */
static void forget(struct lb_search *s, uint64_t slots, uint64_t spares)
{
    if ((slots | spares) == 0)
        return;
    for (uint32_t i = 0; i < s->current.n; i++) {
        struct configuration next = s->current.all[i];
        for (uint64_t left = spares & ~next.done; left != 0; left &= left - 1)
            next.spare[op_in(s, (unsigned)__builtin_ctzll(left))->spare]++;
        next.done &= ~(slots | spares);
        configurations_add(s, &s->after, next);
    }
    s->used &= ~(slots | spares);
    for (unsigned i = 0; i < SLOTS; i++) {
        s->first[i] &= ~slots;
        s->later[i] &= ~slots;
    }
    go_on(s);
}

static unsigned slot_of(const struct lb_search *s, uint32_t number)
{
    for (uint64_t left = s->used; left != 0; left &= left - 1)
        if (s->slots[__builtin_ctzll(left)] == number)
            return (unsigned)__builtin_ctzll(left);
    return SLOTS;
}

/* True if the operation was answered, and the search has passed that. */
static bool is_past(const struct lb_search *s, uint32_t number)
{
    return s->object->ops[number].high <= s->now && slot_of(s, number) == SLOTS;
}

/* True if the slot's operation can do nothing more, in every configuration. */
static bool is_over(const struct lb_search *s, unsigned slot)
{
    const struct lb_automaton *automaton = s->object->automaton;
    uint32_t about = op_in(s, slot)->about, last = op_in(s, slot)->last;
    bool over = automaton->is_over != NULL &&
                (about == LB_SPEC_NONE || slot_of(s, about) == SLOTS) &&
                (last == 0 || is_past(s, last - 1));
    for (uint32_t i = 0; i < s->current.n && over; i++)
        over = automaton->is_over(s->object, s->slots[slot], &s->current.all[i].state);
    return over;
}

/* True if an operation of its own log has to come before or after the slot's. */
static bool is_ordered(const struct lb_search *s, unsigned slot)
{
    bool is_before = s->first[slot] != 0;
    for (uint64_t left = s->used; left != 0 && !is_before; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        is_before = ((s->first[i] | s->later[i]) >> slot & 1) != 0;
    }
    return is_before;
}

/* True if another operation of its own log cannot follow it. */
static bool blocks(const struct lb_search *s, unsigned slot)
{
    for (uint64_t left = s->used; left != 0; left &= left - 1)
        if ((s->later[__builtin_ctzll(left)] >> slot & 1) != 0)
            return true;
    return false;
}

/* Frees the slots of operations that need not be distinguished any more. One that must take effect
 * keeps its slot until its answer. */
static void forget_over(struct lb_search *s)
{
    uint64_t slots = 0, spares = 0;
    for (uint64_t left = s->used; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(left);
        const struct lb_spec_op *op = op_in(s, slot);
        if (op->high != LB_SPEC_NEVER || op->must || !is_over(s, slot))
            continue;
        if (op->spare == 0 && !blocks(s, slot))
            slots |= UINT64_C(1) << slot;
        else if (op->spare != 0 && !is_ordered(s, slot))
            spares |= UINT64_C(1) << slot;
    }
    forget(s, slots, spares);
}

/* --- breaks --- */

/* Keeps the minimal sets. With more than there is room for, the search gives up. */
static void add_set(struct lb_search *s, struct lb_break *one, unsigned set)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < one->n_sets; i++)
        if ((one->sets[i] & ~set) == 0)
            return;
    for (unsigned i = 0; i < one->n_sets; i++)
        if ((set & ~one->sets[i]) != 0)
            one->sets[kept++] = one->sets[i];
    one->n_sets = kept;
    s->gave_up = s->gave_up || one->n_sets == LB_SPEC_SETS;
    if (!s->gave_up)
        one->sets[one->n_sets++] = set;
}

/* What one order breaks. The first of them is the example. */
static void add_broken(struct lb_search *s, struct lb_break *one, const struct configuration *next)
{
    add_set(s, one, next->broken);
    if (one->by == LB_SPEC_NONE) {
        one->by = next->by;
        one->other = next->other;
    }
}

static void keep_break(struct lb_search *s, const struct lb_break *one)
{
    struct lb_break *slot = lb_array_push(&s->breaks, sizeof *slot);
    *slot = *one;
}

static bool has_clean(const struct configurations *configurations)
{
    for (uint32_t i = 0; i < configurations->n; i++)
        if (configurations->all[i].broken == 0)
            return true;
    return false;
}

static void continue_all(struct lb_search *s, unsigned slot, bool only_clean)
{
    bool must = op_in(s, slot)->must;
    for (uint32_t i = 0; i < s->current.n && !s->gave_up; i++) {
        const struct configuration *from = &s->current.all[i];
        bool done = (from->done >> slot & 1) != 0;
        if (only_clean && from->broken != 0)
            continue;
        if (done || !must)
            configurations_add(s, &s->after, *from);
        s->seen.n = 0;
        if (!done)
            continue_from(s, from, slot);
    }
}

/* No order keeps everything beyond this answer. The search goes on with the orders that broke a
 * soft guarantee before, or else with those in which this operation breaks a hard one. */
static void note_break(struct lb_search *s, unsigned slot, uint32_t number)
{
    struct lb_break one = {.op = number, .by = LB_SPEC_NONE, .other = LB_SPEC_NONE};
    uint32_t n_kept = s->after.n;
    for (uint32_t i = 0; i < n_kept; i++)
        add_broken(s, &one, &s->after.all[i]);
    s->is_forced = true;
    continue_all(s, slot, n_kept > 0);
    s->is_forced = false;
    for (uint32_t i = 0; i < s->after.n; i++) {
        const struct configuration *next = &s->after.all[i];
        if ((next->broken & s->object->automaton->hard) != 0)
            add_broken(s, &one, next);
    }
    if (s->after.n == 0) /* an automaton without a place for it: a defect, and no verdict */
        s->gave_up = true;
    if (s->gave_up)
        return;
    if (n_kept > 0)
        s->after.n = n_kept;
    else
        s->excused |= s->object->automaton->excused;
    struct configurations *kept = &s->seen;
    memcpy(kept->all, s->after.all, s->after.n * sizeof kept->all[0]);
    kept->n = s->after.n;
    s->after.n = 0;
    for (uint32_t i = 0; i < kept->n; i++) {
        kept->all[i].broken = 0;
        kept->all[i].by = kept->all[i].other = LB_SPEC_NONE;
        configurations_add(s, &s->after, kept->all[i]);
    }
    keep_break(s, &one);
}

/* The operation was answered: it took effect, or will not any more. */
static void finish(struct lb_search *s, uint32_t number)
{
    unsigned slot = slot_of(s, number);
    assert(slot < SLOTS); /* its invoke gave it one */
    s->now = s->object->ops[number].high;
    continue_all(s, slot, false);
    if (!s->gave_up && !has_clean(&s->after))
        note_break(s, slot, number);
    if (s->gave_up)
        return;
    go_on(s);
    s->returns_left--;
    forget(s, UINT64_C(1) << slot, 0);
    forget_over(s);
}

/* The history ends: an order is clean if something that is pending still makes it so. */
static void come_to_rest(struct lb_search *s)
{
    struct lb_break one = {.op = LB_SPEC_NONE, .by = LB_SPEC_NONE, .other = LB_SPEC_NONE};
    s->now = LB_SPEC_NEVER;
    for (uint32_t i = 0; i < s->current.n && !s->gave_up; i++) {
        s->seen.n = 0;
        reach(s, &s->current.all[i], false, SLOTS);
        for (uint32_t k = 0; k < s->seen.n; k++) {
            const struct configuration *end = &s->seen.all[k];
            unsigned broken = s->object->automaton->rest(s->object, &end->state) & ~s->excused;
            if ((end->broken | broken) == 0)
                return;
            add_set(s, &one, end->broken | broken);
        }
    }
    if (!s->gave_up)
        keep_break(s, &one);
}

/* --- along the times --- */

static void run(struct lb_search *s)
{
    const struct lb_spec_op *ops = s->object->ops;
    size_t next = 0;
    configurations_add(s, &s->current,
                       (struct configuration){.state = s->object->first, .by = LB_SPEC_NONE});
    for (size_t i = 0; i < s->n_returns; i++) {
        const struct lb_spec_op *op = &ops[s->returns[i]];
        if (op->high >= s->object->known_until) /* operations before it may be missing */
            return;
        for (; next < s->object->n_ops && ops[s->calls[next]].low <= op->high; next++)
            s->gave_up = s->gave_up || !begin(s, s->calls[next]);
        if (s->gave_up)
            return;
        finish(s, s->returns[i]);
        if (s->gave_up)
            return;
    }
    for (; next < s->object->n_ops && s->object->automaton->rest != NULL; next++)
        s->gave_up = s->gave_up || !begin(s, s->calls[next]);
    if (!s->gave_up && s->object->automaton->rest != NULL &&
        s->object->known_until == LB_SPEC_NEVER)
        come_to_rest(s);
}

void lb_search_run(struct lb_search *s, const struct lb_object *object)
{
    s->object = object;
    s->breaks.n = 0;
    s->current.n = s->after.n = s->seen.n = 0;
    s->used = 0;
    s->excused = 0;
    s->gave_up = object->n_ops > s->budget->ops;
    s->budget->ops = s->gave_up ? 0 : s->budget->ops - object->n_ops;
    if (s->gave_up)
        return;
    make_room(s, object->n_ops);
    sort_ops(s, false, s->calls);
    s->n_returns = sort_ops(s, true, s->returns);
    s->returns_left = (uint32_t)s->n_returns;
    run(s);
}

struct lb_search *lb_search_open(struct lb_search_budget *budget)
{
    struct lb_search *s = lb_calloc(1, sizeof *s);
    s->budget = budget;
    return s;
}

void lb_search_close(struct lb_search *s)
{
    free(s->keys);
    free(s->calls);
    free(s->returns);
    free(s->breaks.items);
    free(s);
}

const struct lb_break *lb_search_breaks(const struct lb_search *s, size_t *ret_n)
{
    *ret_n = s->breaks.n;
    return s->breaks.items;
}

bool lb_search_gave_up(const struct lb_search *s)
{
    return s->gave_up;
}

void lb_break_conclude(const struct lb_break *one, unsigned claimed, unsigned *ret_violated,
                       unsigned *ret_either)
{
    unsigned in_all = claimed, in_any = 0;
    bool is_kept = one->n_sets == 0; /* an order keeps all that is claimed */
    for (unsigned i = 0; i < one->n_sets; i++) {
        unsigned set = one->sets[i] & claimed;
        in_all &= set;
        in_any |= set;
        is_kept = is_kept || set == 0;
    }
    *ret_violated = is_kept ? 0 : in_all;
    *ret_either = is_kept || in_all != 0 ? 0 : in_any;
}
