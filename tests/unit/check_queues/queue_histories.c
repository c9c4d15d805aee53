/* Random histories of a queue that works, mostly. */
#include "queue_search.h"

struct simulation {
    const struct shape *shape;
    struct lb_random *random;
    struct item items[IDS + 2];
    uint32_t n_put;
    uint64_t now[LOGS];
    uint32_t process[LOGS];
    uint32_t held[LOGS][8], n_held[LOGS];
    uint64_t beat[LOGS]; /* when the worker's process last beat */
    uint32_t think, busy, wrong_percent;
    bool rushes; /* much of one worker within a tick, and the operator claims, too */
};

static void operate(struct simulation *s, uint32_t log, int op, int type, uint64_t id, uint32_t n,
                    uint32_t end_arg, bool effective)
{
    uint32_t busy = s->busy * (s->shape->recurring && log == OPERATOR ? 4 : 1);
    busy = s->rushes && chance(s->random, 60) ? 0 : busy;
    uint64_t from = s->now[log], to = from + below(s->random, busy + 1) * s->shape->tick;
    add_op(&history, log, op, from, to, type, 0, id, n, 0);
    struct lb_event *end = last_event(&history, log);
    end->process = s->process[log];
    if (type != LB_EV_NONE) {
        end[-1].process = s->process[log];
        end->arg = end_arg;
        uint8_t refusal = chance(s->random, 50) ? LB_REFUSED : LB_DEADLOCK;
        end->answer = type == LB_EV_OK || op == LB_OP_CLAIM ? end->answer : refusal;
        end->flags = type == LB_EV_OK && effective ? LB_EVF_EFFECTIVE : 0;
    }
    if (op == LB_OP_CLAIM && s->shape->final)
        end[type != LB_EV_NONE ? -1 : 0].flags = LB_EVF_FINAL;
    s->now[log] = type == LB_EV_NONE ? UINT64_MAX : to;
    if (type == LB_EV_INFO) {
        s->process[log] += 100;
        if (!s->shape->sessions || chance(s->random, 50)) /* else it goes on with its items */
            s->n_held[log] = 0;
    }
}

static int random_end(struct simulation *s)
{
    if (!s->shape->odd_ends || chance(s->random, 90))
        return LB_EV_OK;
    uint32_t dice = below(s->random, 10);
    return dice < 5 ? LB_EV_FAIL : dice < 9 ? LB_EV_INFO : LB_EV_NONE;
}

static void produce(struct simulation *s, uint32_t log)
{
    uint32_t n = s->shape->batches && chance(s->random, 30) ? 2 : 1;
    if (s->n_put + n > (s->shape->recurring ? 1 : s->shape->late ? 2 : IDS)) {
        s->now[log] = s->shape->mixed ? s->now[log] : UINT64_MAX;
        return;
    }
    int type = random_end(s);
    operate(s, log, LB_OP_PUT, type, s->n_put + 1, n, n, false);
    for (uint32_t i = 0; i < n; i++) {
        s->n_put++;
        s->items[s->n_put].state = type == LB_EV_FAIL ? ABSENT : NEW;
    }
}

/* The item that a claim gets; 0: there is none. */
static uint32_t choose_item(struct simulation *s, uint32_t log)
{
    if (!s->shape->once && chance(s->random, s->wrong_percent))
        return 1 + below(s->random, s->n_put + (s->n_put == 0 || chance(s->random, 5)));
    for (uint32_t id = 1; id <= s->n_put; id++) {
        struct item *item = &s->items[id];
        bool over = s->shape->lease && item->state == ACTIVE && item->expires < s->now[log];
        if (item->state == ACTIVE && item->ghost != 0 && item->ghost <= s->now[log]) {
            item->ghost = 0;
            item->state = NEW;
        }
        if (item->state != NEW && !over)
            continue;
        if (s->shape->once && chance(s->random, s->wrong_percent))
            continue; /* out of order */
        return id;
    }
    return 0;
}

static void consume(struct simulation *s, uint32_t log)
{
    uint32_t id = choose_item(s, log);
    int type = random_end(s);
    uint32_t wanted = s->shape->batches && chance(s->random, 30) ? 2 : 1;
    if (id == 0)
        type = LB_EV_FAIL;
    if (type != LB_EV_OK) {
        /* Others skip the items that it may have, until it is rolled back. */
        if (type != LB_EV_FAIL && s->shape->once && chance(s->random, 60)) {
            s->items[id].state = ACTIVE;
            s->items[id].ghost = s->now[log] + (1 + below(s->random, 12)) * s->shape->tick;
        }
        operate(s, log, LB_OP_CLAIM, type, 0, wanted, wanted, false);
        return;
    }
    uint64_t from = s->now[log];
    operate(s, log, LB_OP_CLAIM, type, 0, wanted, 1, false);
    struct lb_event ok = *last_event(&history, log);
    history.n[log]--;
    uint32_t got = 0;
    while (id != 0 && got < wanted) {
        note(&history, log, LB_OP_ITEM, ok.time_ns, id, s->shape->lease ? LEASE_MS : 0);
        last_event(&history, log)->flags = s->shape->final ? LB_EVF_FINAL : 0;
        last_event(&history, log)->process = s->process[log];
        s->items[id].state = ACTIVE;
        s->items[id].claimed = from;
        s->items[id].owner = log;
        s->items[id].expires = from + LEASE_MS * MS;
        s->held[log][s->n_held[log]++] = id;
        got++;
        id = got < wanted ? choose_item(s, log) : 0;
    }
    ok.value = ok.arg = got;
    add_event(&history, log, ok);
}

/* A claim that went out behind the end at a place of the log, before the answer to that: its invoke
 * follows the other one directly, with the same time and process. */
static void claim_behind(struct simulation *s, uint32_t log, size_t at)
{
    struct lb_event *events = history.events[log];
    struct lb_event end = events[at + 1];
    if (at + 1 == history.n[log]) { /* neither is ever answered */
        struct lb_event claim = events[at];
        claim.op = LB_OP_CLAIM;
        claim.value = 0;
        claim.arg = 1;
        add_event(&history, log, claim);
        return;
    }
    consume(s, log);
    events[at + 1] = events[at + 2];
    events[at + 1].time_ns = events[at].time_ns;
    events[at + 2] = end;
    for (size_t i = at + 1; i < history.n[log]; i++)
        events[i].process = events[at].process;
}

static void finish(struct simulation *s, uint32_t log)
{
    uint32_t id = s->held[log][0], dice = below(s->random, 100);
    if ((s->shape->lease && dice < 25) || (s->shape->renews && dice < 40)) {
        bool is_lost = s->shape->renews && !chance(s->random, s->wrong_percent) &&
                       (s->items[id].state != ACTIVE || s->items[id].owner != log);
        is_lost = is_lost && (!s->shape->sessions || s->items[id].state != NEW);
        int type = is_lost ? LB_EV_FAIL : random_end(s);
        if (type == LB_EV_OK && !chance(s->random, s->wrong_percent)) {
            s->items[id].claimed = s->now[log];
            s->items[id].state = ACTIVE;
            s->items[id].owner = log;
        }
        uint32_t told_ms = s->shape->untold && chance(s->random, 60)  ? 0
                           : s->shape->brief && chance(s->random, 60) ? 1 + below(s->random, 3)
                                                                      : LEASE_MS;
        uint32_t asked_ms = chance(s->random, 50) ? 0 : told_ms > 0 ? told_ms : LEASE_MS;
        operate(s, log, LB_OP_RENEW_ITEM, type, id, asked_ms, told_ms, chance(s->random, 90));
        return;
    }
    int type = random_end(s);
    int op = s->shape->recurring ? LB_OP_COMPLETE
             : dice < 40         ? LB_OP_FREE
             : dice < 60         ? LB_OP_ERROR
                                 : LB_OP_COMPLETE;
    if (s->shape->drained && op == LB_OP_ERROR)
        op = LB_OP_COMPLETE;
    s->n_held[log]--;
    memmove(s->held[log], s->held[log] + 1, s->n_held[log] * sizeof s->held[log][0]);
    if (chance(s->random, 10))
        return; /* forgotten */
    size_t at = history.n[log];
    operate(s, log, op, type, id, 0, 0, chance(s->random, 95));
    if (type == LB_EV_OK)
        s->items[id].state = op == LB_OP_FREE ? NEW : op == LB_OP_ERROR ? ERROR : COMPLETE;
    if (s->shape->pipelines && s->n_held[log] < 3 && chance(s->random, 40))
        claim_behind(s, log, at);
}

/* Ends an item that it need not have. The effect is unknown: the queue goes on as if there were
 * none, or as if the item had been free. */
static void meddle(struct simulation *s, uint32_t log)
{
    static const int ops[] = {LB_OP_COMPLETE, LB_OP_FREE, LB_OP_ERROR};
    uint32_t id = 1 + below(s->random, s->n_put + (s->n_put == 0));
    int type = random_end(s);
    operate(s, log, ops[below(s->random, 3)], type, id, 0, 0, chance(s->random, 90));
    bool has_ended = s->items[id].state == COMPLETE || s->items[id].state == ERROR;
    if ((s->items[id].state == ACTIVE && chance(s->random, 40)) ||
        (has_ended && chance(s->random, s->wrong_percent)))
        s->items[id].state = NEW;
}

/* A worker's process says that it is alive. */
static void beat(struct simulation *s, uint32_t log, uint32_t worker)
{
    uint64_t from = s->now[log];
    int type = random_end(s);
    operate(s, log, LB_OP_BEAT, type, 0, 0, chance(s->random, 30) ? 2 : LEASE_MS, true);
    struct lb_event *end = last_event(&history, log);
    end->object = worker;
    if (type != LB_EV_NONE)
        end[-1].object = worker;
    if (type == LB_EV_OK)
        s->beat[worker] = from;
}

/* A log notes that a worker's session has ended; its items may be others' by now. */
static void end_session(struct simulation *s, uint32_t log, uint32_t worker)
{
    note(&history, log, LB_OP_SESSION_END, s->now[log], 0, worker);
    last_event(&history, log)->process = s->process[log];
    for (uint32_t id = 1; id <= IDS; id++)
        if (s->items[id].state == ACTIVE && s->items[id].owner == worker && chance(s->random, 80))
            s->items[id].state = NEW;
}

/* Adds a note about a worker that changes nothing. */
static bool tell(struct simulation *s, uint32_t log)
{
    bool is_other = log == OPERATOR;
    uint32_t worker = is_other ? FIRST_CONSUMER + below(s->random, 2) : log;
    if (log == PRODUCER || (!s->shape->beats && !s->shape->sessions) || !chance(s->random, 25))
        return false;
    if (s->shape->beats && (!s->shape->sessions || chance(s->random, 60)))
        beat(s, log, worker);
    else
        end_session(s, log, worker);
    return true;
}

static void administer(struct simulation *s)
{
    static const int ops[] = {LB_OP_RESET_ALL, LB_OP_CLEAR_ALL, LB_OP_CLEAR_ERROR};
    int op = s->shape->recurring ? LB_OP_RESET_ALL : ops[below(s->random, 3)], type = random_end(s);
    if (s->shape->recovers && chance(s->random, 70)) {
        uint64_t age = 3 + below(s->random, 4), asked = s->now[OPERATOR];
        /* It may ask for less than it takes. */
        operate(s, OPERATOR, LB_OP_RECOVER, type, 0, (uint32_t)age - below(s->random, 3), 0, true);
        for (uint32_t id = 1; id <= IDS && type == LB_EV_OK; id++) {
            struct item *item = &s->items[id];
            uint64_t last = item->claimed;
            if (s->beat[item->owner] > last && !chance(s->random, s->wrong_percent))
                last = s->beat[item->owner];
            if (item->state == ACTIVE && last + age * MS <= asked + 2 * MS)
                item->state = NEW;
        }
        return;
    }
    uint32_t one = 1 + below(s->random, IDS);
    operate(s, OPERATOR, op, type, op == LB_OP_CLEAR_ERROR ? one : 0, 0, 0, true);
    for (uint32_t id = 1; id <= IDS && type == LB_EV_OK; id++) {
        struct item *item = &s->items[id];
        if ((op == LB_OP_RESET_ALL && item->state == COMPLETE) ||
            (op == LB_OP_CLEAR_ALL && item->state == ERROR) ||
            (op == LB_OP_CLEAR_ERROR && item->state == ERROR && id == one))
            item->state = NEW;
    }
}

void generate(const struct shape *shape, struct lb_random *random)
{
    struct simulation s = {.shape = shape, .random = random};
    history_init(&history, true);
    history.model.lease = shape->lease;
    history.model.drained = shape->drained;
    history.model.strict = shape->strict;
    history.model.groups = shape->legal == legal_groups ? GROUPS : 0;
    history.model.key_limit = shape->legal == legal_keys ? 2 : 0;
    uncertainty_ns = shape->uncertainty_ns;
    for (uint32_t log = 0; log < LOGS; log++)
        history.logs[log].uncertainty_ns = uncertainty_ns;
    s.think = 1 + below(random, 6);
    s.busy = below(random, 6);
    s.wrong_percent = below(random, 2) * below(random, 70);
    s.rushes = chance(random, 15);
    uint32_t first_process = chance(random, 30) ? LB_NAMED_PROCESS : 0;
    for (uint32_t log = 0; log < LOGS; log++) {
        s.process[log] = first_process + log;
        s.now[log] = log == PRODUCER ? 0 : (1 + below(random, 8)) * shape->tick;
    }
    if (!shape->resets)
        s.now[OPERATOR] = shape->mixed ? s.now[OPERATOR] : UINT64_MAX;
    for (uint32_t steps = 6 + below(random, 12); steps > 0; steps--) {
        uint32_t log = 0;
        for (uint32_t i = 1; i < LOGS; i++)
            if (s.now[i] < s.now[log])
                log = i;
        if (s.now[log] == UINT64_MAX)
            break;
        bool produces = shape->mixed ? chance(random, 45) : log == PRODUCER;
        if (tell(&s, log))
            ;
        else if (produces)
            produce(&s, log);
        else if (log == OPERATOR && !shape->mixed && !(s.rushes && chance(random, 35)))
            administer(&s);
        else if (shape->strangers && chance(random, 20))
            meddle(&s, log);
        else if (s.n_held[log] == 0 || (s.n_held[log] < 3 && chance(random, 25)))
            consume(&s, log);
        else
            finish(&s, log);
        if (s.rushes && chance(random, 60))
            continue;
        if (s.now[log] != UINT64_MAX)
            s.now[log] += (log == OPERATOR ? 4 : 1) * below(random, s.think + 1) * shape->tick;
        if (shape->late && log == FIRST_CONSUMER + 1 && s.n_held[log] > 0 &&
            s.now[log] != UINT64_MAX)
            s.now[log] += below(random, 7) * shape->tick;
        if (shape->late && log == FIRST_CONSUMER && s.n_held[log] > 0 && chance(random, 50) &&
            s.now[log] != UINT64_MAX)
            s.now[log] += (9 + below(random, 12)) * shape->tick;
    }
}
