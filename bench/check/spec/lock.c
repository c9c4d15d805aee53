/* A lock as an automaton: its state is what is held. Two breaks are possible in a step: a grant
 * beyond the capacity, or of a writer beside a reader (exclusive), and a release with an effect by
 * a worker whose grant is over, while the lock is another's (owner-release).
 *
 * A lease and a session end a grant as a release does. They differ in the times, which the builder
 * of the operations knows.
 */
#include "lock.h"

#include <string.h>

static const struct lb_lock_model *model_of(const struct lb_object *object)
{
    return object->context;
}

static void grant(struct lb_lock_state *state, const struct lb_spec_op *op, uint32_t number)
{
    if (op->to != 0) {
        state->readers++;
        return;
    }
    state->permits += op->arg;
    state->holder = number + 1;
}

static void end(struct lb_lock_state *state, const struct lb_spec_op *of, uint32_t number)
{
    if (of->to != 0)
        state->readers--;
    else
        state->permits -= of->arg;
    if (state->holder == number + 1)
        state->holder = 0;
}

static bool is_exceeded(const struct lb_lock_model *model, const struct lb_lock_state *state)
{
    return state->permits > model->capacity || (state->permits > 0 && state->readers > 0);
}

static unsigned step_lock(const struct lb_object *object, uint32_t number,
                          const struct lb_spec_state *from, uint64_t now, struct lb_spec_next *next)
{
    const struct lb_spec_op *op = &object->ops[number];
    const struct lb_lock_model *model = model_of(object);
    struct lb_lock_state state;
    (void)now;
    memcpy(&state, from, sizeof state);
    uint32_t before = state.holder;
    *next = (struct lb_spec_next){.other = before > 0 ? before - 1 : LB_SPEC_NONE};
    switch (op->kind) {
    case LB_LOCK_GRANT:
    case LB_LOCK_BRIEF:
        grant(&state, op, number);
        next->broken = is_exceeded(model, &state) ? model->exceeded : 0;
        if (op->kind == LB_LOCK_BRIEF) {
            end(&state, op, number);
            state.holder = before;
        }
        break;
    case LB_LOCK_END:
        end(&state, &object->ops[op->about], op->about);
        break;
    default: /* LB_LOCK_RELEASE */
        if (before > 0 && object->ops[before - 1].log != op->log)
            next->broken = model->not_owner;
        break;
    }
    memcpy(&next->state, &state, sizeof state);
    return 1;
}

struct lb_automaton lb_lock_automaton(const struct lb_lock_model *model)
{
    return (struct lb_automaton){
        .hard = model->exceeded, .excused = model->not_owner, .step = step_lock};
}
