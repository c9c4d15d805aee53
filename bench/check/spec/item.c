/* An item of a queue, and a group of items, as automata.
 *
 * An item waits, is claimed, is done or has failed. Two breaks are possible in a step: a claim of
 * an item that does not wait (no-duplicate), and an end with an effect by a worker whose claim is
 * over, while the item is another's (owner-release). A third one is possible at rest: an item that
 * was freed waits still (no-loss).
 *
 * An execution (once) is the same with fewer operations: neither leases nor recoveries nor other
 * workers give work back. A group is a lock: its state is the claim in hand.
 */
#include "item.h"

#include <string.h>

static const struct lb_item_model *model_of(const struct lb_object *object)
{
    return object->context;
}

static struct lb_item_state read_state(const struct lb_spec_state *from)
{
    struct lb_item_state state;
    memcpy(&state, from, sizeof state);
    return state;
}

static unsigned give(struct lb_spec_next *next, const struct lb_item_state *state, unsigned broken,
                     uint32_t other)
{
    memcpy(&next->state, state, sizeof *state);
    next->broken = broken;
    next->other = other;
    return 1;
}

static void set_phase(struct lb_item_state *state, uint32_t phase, uint32_t by)
{
    state->phase = phase;
    state->by = by;
    state->renewed = 0;
}

static bool is_waiting(const struct lb_item_state *state)
{
    return state->phase == LB_ITEM_WAITING || state->phase == LB_ITEM_REOPENED;
}

static bool is_in_hand(const struct lb_item_state *state, uint32_t claim)
{
    return state->phase == LB_ITEM_CLAIMED && state->by == claim;
}

/* The claim that the item has; LB_SPEC_NONE. */
static uint32_t holder(const struct lb_item_state *state)
{
    return state->phase == LB_ITEM_CLAIMED ? state->by : LB_SPEC_NONE;
}

/* --- an item --- */

static unsigned renew(const struct lb_object *object, uint32_t number, struct lb_item_state state,
                      struct lb_spec_next *next)
{
    const struct lb_spec_op *op = &object->ops[number];
    bool is_free = is_waiting(&state), is_mine = is_in_hand(&state, op->about);
    uint32_t other = holder(&state);
    if (op->kind == LB_ITEM_KEEP && !is_mine)
        return give(next, &state, 0, LB_SPEC_NONE);
    set_phase(&state, LB_ITEM_CLAIMED, op->about);
    state.renewed = number + 1;
    return give(next, &state, is_free || is_mine ? 0 : model_of(object)->claimed_twice, other);
}

static unsigned end_item(const struct lb_object *object, uint32_t number,
                         const struct lb_item_state *from, struct lb_spec_next *next)
{
    const struct lb_spec_op *op = &object->ops[number];
    struct lb_item_state ended = *from, freed = *from;
    bool is_bound = op->about != LB_SPEC_NONE;
    set_phase(&ended, op->to, (op->arg & LB_ITEM_END_COUNTS) != 0 ? number : 0);
    set_phase(&freed, LB_ITEM_WAITING, 0);
    if (is_bound && is_in_hand(from, op->about)) {
        unsigned n = give(next, &ended, 0, LB_SPEC_NONE);
        return (op->arg & LB_ITEM_END_LETS_GO) != 0 ? n + give(&next[1], &freed, 0, LB_SPEC_NONE)
                                                    : n;
    }
    if (from->phase == LB_ITEM_CLAIMED && !model_of(object)->is_once) {
        /* It ends another's claim, or finds nothing of its own. */
        bool is_others = is_bound && op->must && object->ops[from->by].log != op->log;
        unsigned broken = is_others ? model_of(object)->not_owner : 0;
        give(&next[0], &ended, broken, from->by);
        return 1 + give(&next[1], from, broken, from->by);
    }
    /* Its claim was taken back, but no other claimed the item since: the end had an effect. */
    if (is_waiting(from) && is_bound && op->must && op->to != LB_ITEM_WAITING &&
        !model_of(object)->is_once)
        return give(next, &ended, 0, LB_SPEC_NONE);
    return give(next, from, 0, LB_SPEC_NONE);
}

static unsigned step_item(const struct lb_object *object, uint32_t number,
                          const struct lb_spec_state *from, uint64_t now, struct lb_spec_next *next)
{
    const struct lb_spec_op *op = &object->ops[number];
    struct lb_item_state state = read_state(from);
    uint32_t other = holder(&state);
    bool is_free = is_waiting(&state);
    switch (op->kind) {
    case LB_ITEM_CLAIM:
        set_phase(&state, LB_ITEM_CLAIMED, number);
        return give(next, &state, is_free ? 0 : model_of(object)->claimed_twice, other);
    case LB_ITEM_RENEW:
    case LB_ITEM_KEEP:
        return renew(object, number, state, next);
    case LB_ITEM_END:
        return end_item(object, number, &state, next);
    case LB_ITEM_OPEN:
        if (state.phase == op->to)
            set_phase(&state, LB_ITEM_REOPENED, 0);
        return give(next, &state, 0, LB_SPEC_NONE);
    case LB_ITEM_BEAT:
        if (op->arg != LB_ITEM_BEAT_UNSURE || state.beat[op->to] == 0)
            state.beat[op->to] = op->arg;
        return give(next, &state, 0, LB_SPEC_NONE);
    case LB_ITEM_EXPIRE:
        if (!is_in_hand(&state, op->about) || state.renewed != op->arg)
            return 0;
        break;
    case LB_ITEM_LOSE:
        if (!is_in_hand(&state, op->about) || state.renewed > op->arg)
            return 0;
        break;
    case LB_ITEM_RECOVER:
        if (state.phase != LB_ITEM_CLAIMED ||
            !model_of(object)->recovers(object, number, &state, now))
            return 0;
        break;
    default: /* LB_ITEM_DUE */
        if (state.phase != LB_ITEM_DONE || state.by != op->about)
            return 0;
        break;
    }
    set_phase(&state, LB_ITEM_WAITING, 0);
    return give(next, &state, 0, LB_SPEC_NONE);
}

static unsigned spare_item(const struct lb_object *object, unsigned spare,
                           const struct lb_spec_state *from, struct lb_spec_next *next)
{
    struct lb_item_state state = read_state(from);
    (void)object;
    if (state.phase != LB_ITEM_CLAIMED)
        return 0;
    set_phase(&state, spare - 1, 0);
    return give(next, &state, 0, LB_SPEC_NONE);
}

static bool is_item_over(const struct lb_object *object, uint32_t number,
                         const struct lb_spec_state *from)
{
    const struct lb_spec_op *op = &object->ops[number];
    struct lb_item_state state = read_state(from);
    switch (op->kind) {
    case LB_ITEM_EXPIRE:
    case LB_ITEM_LOSE:
        return !is_in_hand(&state, op->about);
    case LB_ITEM_END: /* an end of a claim that is over may still be another's: it is spare */
        return (op->arg & LB_ITEM_END_COUNTS) == 0 && !is_in_hand(&state, op->about);
    case LB_ITEM_DUE:
        return state.phase != LB_ITEM_DONE || state.by != op->about;
    case LB_ITEM_BEAT:
        return state.beat[op->to] != 0;
    default:
        return false;
    }
}

static unsigned item_at_rest(const struct lb_object *object, const struct lb_spec_state *from)
{
    return read_state(from).phase == LB_ITEM_WAITING ? model_of(object)->lost : 0;
}

struct lb_automaton lb_item_automaton(const struct lb_item_model *model)
{
    return (struct lb_automaton){.hard = model->claimed_twice,
                                 .excused = model->not_owner,
                                 .step = step_item,
                                 .spare = spare_item,
                                 .is_over = is_item_over,
                                 .rest = model->lost != 0 ? item_at_rest : NULL};
}

/* --- a group of items: CLAIMED, by the claim in hand, or WAITING --- */

static bool is_of_item(const struct lb_object *object, uint32_t number, uint32_t claim)
{
    return model_of(object)->item_of(object, number) == model_of(object)->item_of(object, claim);
}

static unsigned step_group(const struct lb_object *object, uint32_t number,
                           const struct lb_spec_state *from, uint64_t now,
                           struct lb_spec_next *next)
{
    const struct lb_spec_op *op = &object->ops[number];
    struct lb_item_state state = read_state(from), empty = state;
    bool is_taken = state.phase == LB_ITEM_CLAIMED, is_mine = is_in_hand(&state, op->about);
    uint32_t other = holder(&state);
    set_phase(&empty, LB_ITEM_WAITING, 0);
    switch (op->kind) {
    case LB_ITEM_CLAIM:
        set_phase(&state, LB_ITEM_CLAIMED, number);
        return give(next, &state, is_taken ? model_of(object)->claimed_twice : 0, other);
    case LB_ITEM_RENEW:
    case LB_ITEM_KEEP:
        return renew(object, number, state, next);
    case LB_ITEM_END: /* of its own claim, or perhaps of another's of the same item */
        if (is_mine)
            return give(next, &empty, 0, LB_SPEC_NONE);
        give(next, &state, 0, LB_SPEC_NONE);
        return is_taken && is_of_item(object, number, state.by)
                   ? 1 + give(&next[1], &empty, 0, LB_SPEC_NONE)
                   : 1;
    case LB_ITEM_EXPIRE:
        return is_mine && state.renewed == op->arg ? give(next, &empty, 0, LB_SPEC_NONE) : 0;
    case LB_ITEM_LOSE:
        return is_mine && state.renewed <= op->arg ? give(next, &empty, 0, LB_SPEC_NONE) : 0;
    case LB_ITEM_RECOVER:
        return is_taken && model_of(object)->recovers(object, number, &state, now)
                   ? give(next, &empty, 0, LB_SPEC_NONE)
                   : 0;
    case LB_ITEM_BEAT:
        return step_item(object, number, from, now, next);
    default:
        return 0;
    }
}

static bool is_group_over(const struct lb_object *object, uint32_t number,
                          const struct lb_spec_state *from)
{
    const struct lb_spec_op *op = &object->ops[number];
    struct lb_item_state state = read_state(from);
    if (op->kind == LB_ITEM_END)
        return (op->arg & LB_ITEM_END_SHARED) == 0 && !is_in_hand(&state, op->about);
    return op->kind != LB_ITEM_DUE && is_item_over(object, number, from);
}

struct lb_automaton lb_group_automaton(const struct lb_item_model *model)
{
    return (struct lb_automaton){
        .hard = model->claimed_twice, .step = step_group, .is_over = is_group_over};
}
