/* Random histories of locks: workers that take, renew and give back, each with a clock of its own.
 */
#include "lock_search.h"

struct held {
    uint32_t resource, permits, token, flags;
};

struct worker {
    struct lb_random *random;
    const struct shape *shape;
    uint32_t log, process;
    uint64_t now;
    uint32_t think, busy, hold, renew_percent;
    struct held held[4];
    uint32_t n_held;
};

static uint64_t pass(struct worker *w, uint32_t most)
{
    w->now += below(w->random, most + 1) * w->shape->tick;
    return w->now;
}

/* An operation; returns how it ended. */
static int operate(struct worker *w, int op, int type, int answer, const struct held *held,
                   uint32_t arg, uint32_t end_arg, int end_flags)
{
    uint64_t from = pass(w, w->think), to = pass(w, w->busy);
    add_op(&history, w->log, op, from, to, type, held->resource, held->token, arg,
           (int)held->flags);
    struct lb_event *end = last_event(&history, w->log);
    if (type != LB_EV_NONE) {
        end->answer = (uint8_t)answer;
        end->arg = end_arg;
        end->flags = (uint8_t)(end->flags | end_flags);
        end[-1].process = end->process = w->process;
    } else {
        end->process = w->process;
    }
    if (type == LB_EV_INFO) {
        w->process += 100;
        w->n_held = 0;
    }
    return type;
}

static int random_end(struct worker *w, uint32_t ok_percent)
{
    if (!w->shape->odd_ends || chance(w->random, w->shape->late ? 95 : ok_percent))
        return LB_EV_OK;
    uint32_t dice = below(w->random, 10);
    return dice < 5 ? LB_EV_FAIL : dice < 8 ? LB_EV_INFO : LB_EV_NONE;
}

static uint32_t draw_token(struct worker *w)
{
    /* Grows with time, most of the time. */
    uint32_t token = (uint32_t)(w->now / w->shape->tick);
    return chance(w->random, 85) ? 10 + token : 10 + below(w->random, 40);
}

static bool take(struct worker *w)
{
    const struct shape *shape = w->shape;
    struct held held = {.resource = below(w->random, shape->resources),
                        .permits = 1 + below(w->random, shape->max_permits),
                        .flags = chance(w->random, shape->shared_percent) ? LB_EVF_SHARED : 0};
    uint32_t lease_ms = !shape->lease || (shape->later && chance(w->random, 50)) ? 0
                        : shape->fleeting ? 2 + below(w->random, 2)
                                          : 8;
    int committed = shape->sessions && chance(w->random, 20) ? LB_EVF_COMMITTED : 0;
    if (shape->tickets) {
        held.token = chance(w->random, 98) ? 10 + (uint32_t)(w->now / shape->tick) : draw_token(w);
        held.flags |= LB_EVF_TOKEN;
        operate(w, LB_OP_ENQUEUE, LB_EV_OK, LB_OK, &held, 0, 0, 0);
        held.token = 0;
        held.flags &= ~(uint32_t)LB_EVF_TOKEN;
        if (shape->odd_ends && chance(w->random, 10))
            return operate(w, LB_OP_CANCEL, LB_EV_OK, LB_OK, &held, 0, 0, 0) == LB_EV_OK;
    }
    int type = random_end(w, 85);
    if (shape->tokens) {
        held.token = draw_token(w);
        held.flags |= LB_EVF_TOKEN;
    }
    operate(w, LB_OP_ACQUIRE, type, type == LB_EV_FAIL ? LB_BUSY : LB_OK, &held, held.permits,
            lease_ms, type == LB_EV_OK ? committed : 0);
    if (type == LB_EV_OK)
        w->held[w->n_held++] = held;
    return type != LB_EV_NONE;
}

static bool give(struct worker *w)
{
    uint32_t i = below(w->random, w->n_held);
    const struct held held = w->held[i];
    if (w->shape->lease && chance(w->random, w->renew_percent)) {
        int type = random_end(w, 85);
        bool refused = chance(w->random, 50);
        uint32_t told_ms = w->shape->untold && chance(w->random, 60)  ? 0
                           : w->shape->brief && chance(w->random, 60) ? 2 + below(w->random, 2)
                                                                      : 8;
        uint32_t asked_ms = chance(w->random, 50) ? 0 : told_ms > 0 ? told_ms : 8;
        operate(w, LB_OP_RENEW, type,
                type == LB_EV_FAIL ? (refused ? LB_REFUSED : LB_CONFLICT) : LB_OK, &held, asked_ms,
                told_ms, 0);
        return type != LB_EV_NONE;
    }
    if (w->shape->writes && chance(w->random, 60)) {
        bool refused = chance(w->random, 20);
        operate(w, LB_OP_WRITE, refused ? LB_EV_FAIL : LB_EV_OK, refused ? LB_REFUSED : LB_OK,
                &held, 0, 0, 0);
        return true;
    }
    int type = random_end(w, w->shape->retry ? 60 : 80);
    bool refused = chance(w->random, 40);
    struct held said = held;
    if (w->shape->bare)
        said.flags = said.permits = 0;
    operate(w, LB_OP_RELEASE, type, type == LB_EV_FAIL ? (refused ? LB_REFUSED : LB_BUSY) : LB_OK,
            &said, said.permits, said.permits, chance(w->random, 90) ? LB_EVF_EFFECTIVE : 0);
    bool listens = !w->shape->retry || chance(w->random, 50);
    if (type == LB_EV_OK || (type == LB_EV_FAIL && refused && listens)) {
        memmove(&w->held[i], &w->held[i + 1], (w->n_held - i - 1) * sizeof w->held[0]);
        w->n_held--;
    }
    return type != LB_EV_NONE;
}

/* A worker notes that its session, or another's, has ended; its lock may then belong to another
 * worker. */
static void end_session(struct worker *w, uint32_t n_logs)
{
    bool is_own = chance(w->random, 70);
    uint32_t of = is_own ? w->log : below(w->random, n_logs);
    note(&history, w->log, LB_OP_SESSION_END, w->now, 0, of);
    last_event(&history, w->log)->process = w->process;
    if (of == w->log && chance(w->random, 60))
        w->n_held = 0;
}

void generate(const struct shape *shape, struct lb_random *random)
{
    history_init(&history, false);
    for (int i = 0; i < 4; i++)
        history.capacity[i] = shape->capacity;
    history.model.reentrant = shape->reentrant;
    history.model.lease = shape->lease;
    history.model.release = shape->release;
    if (shape->alone)
        history.model.claims &= ~LB_G_BIT(LB_G_EXCLUSIVE);
    uint32_t n_logs = 2 + below(random, LOGS - 1),
             most_held = shape->max_permits > 1 || shape->reentrant || shape->bare ? 2 : 1;
    if (shape->late)
        n_logs = 2 + chance(random, 20);
    if (chance(random, 10) && !shape->lease && !shape->tickets)
        most_held = 2; /* one worker, two grants */
    uint32_t think = 1 + below(random, 12), busy = below(random, 5), hold = below(random, 6);
    uint32_t first_process = chance(random, 30) ? LB_NAMED_PROCESS : 0;
    for (uint32_t log = 0; log < n_logs; log++) {
        struct worker w = {.random = random,
                           .shape = shape,
                           .log = log,
                           .process = first_process + log,
                           .think = think,
                           .busy = busy,
                           .hold = hold};
        w.renew_percent = 40;
        pass(&w, shape->late && log == 0 ? 3 : 20);
        if (shape->late && log == 0) {
            w.renew_percent = shape->brief ? 30 : 3;
            w.hold = 24;
        } else if (shape->late) {
            w.now = 9 * shape->tick;
            w.hold = 12;
            pass(&w, 5);
        }
        for (uint32_t n = 1 + below(random, 5); n > 0; n--) {
            bool more = w.n_held == 0 || (w.n_held < most_held && chance(random, 30));
            if (shape->retry && w.n_held == 1 && most_held == 1 && chance(random, 15))
                more = true; /* it takes another, as if it had given the first one back */
            w.think = more ? think : w.hold;
            if (shape->sessions && chance(random, 20)) {
                end_session(&w, n_logs);
                continue;
            }
            if (!(more ? take(&w) : give(&w)))
                break;
        }
    }
    history.model.end_ns = 0;
}
