/* A lock as an automaton: its state is the grants in hand, and the largest token. Three breaks are
 * possible in a step: a grant beyond the capacity, or of a writer beside a reader (exclusive); a
 * grant whose token is not larger than those before it (fenced); and a release with an effect by a
 * worker whose grant is over, while the lock is another's (owner-release).
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
    if ((op->to & LB_LOCK_IS_SHARED) != 0) {
        state->readers++;
        return;
    }
    state->permits += op->arg;
    state->holder = number + 1;
}

static void end(struct lb_lock_state *state, const struct lb_spec_op *of, uint32_t number)
{
    if ((of->to & LB_LOCK_IS_SHARED) != 0)
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

/* True if the grant has no token, or a larger one than all before it, which is then the largest. */
static bool is_larger(const struct lb_object *object, uint32_t number, struct lb_lock_state *state)
{
    const struct lb_lock_model *model = model_of(object);
    if (model->not_larger == 0 || (object->ops[number].to & LB_LOCK_IS_FENCED) == 0)
        return true;
    if (state->fence > 0 && (int64_t)model->token_of(object, number) <=
                                (int64_t)model->token_of(object, state->fence - 1))
        return false;
    state->fence = number + 1;
    return true;
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
        if (!is_larger(object, number, &state)) {
            next->broken |= model->not_larger;
            next->other = state.fence - 1;
        }
        if (op->kind == LB_LOCK_BRIEF) {
            end(&state, op, number);
            state.holder = before;
        }
        break;
    case LB_LOCK_END:
        if (!op->must && before != op->about + 1) /* it has ended, or has not begun */
            return 0;
        end(&state, &object->ops[op->about], op->about);
        break;
    default: /* LB_LOCK_RELEASE */
        if (before > 0 && object->ops[before - 1].log != op->log) {
            next->broken = model->not_owner;
            if ((op->to & LB_LOCK_ENDS_OTHER) != 0)
                end(&state, &object->ops[before - 1], before - 1);
        }
        break;
    }
    memcpy(&next->state, &state, sizeof state);
    return 1;
}

static bool is_lock_over(const struct lb_object *object, uint32_t number,
                         const struct lb_spec_state *from)
{
    struct lb_lock_state state;
    memcpy(&state, from, sizeof state);
    return object->ops[number].kind == LB_LOCK_END && state.holder != object->ops[number].about + 1;
}

struct lb_automaton lb_lock_automaton(const struct lb_lock_model *model)
{
    return (struct lb_automaton){.hard = model->exceeded,
                                 .excused = model->not_owner | model->not_larger,
                                 .step = step_lock,
                                 .is_over = is_lock_over};
}
