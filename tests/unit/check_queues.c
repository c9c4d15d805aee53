/* Queues: every closed form of the judge against a brute-force search, on random small histories
 * and on mutations of them. Items are followed one by one: new, active, complete, in error. */
#include "check_brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
    PRODUCER,
    FIRST_CONSUMER,
    OPERATOR = 3,
    LOGS = 4,
    IDS = 10,
    MS = 1000000,
    LEASE_MS = 8,
    GROUPS = 5
};

static struct test_history history;
static struct lb_judgement judgement;
static struct brute brute;
static uint64_t seed, uncertainty_ns;

struct shape {
    const char *name;
    bool lease, odd_ends, once, resets, late, drained, batches;
    bool recurring;          /* one item, done again and again */
    bool recovers;           /* what was claimed long ago is freed */
    bool renews;             /* claims are renewed: leases always are */
    bool final;              /* items are taken out for good */
    bool strangers;          /* items are ended by who never claimed them */
    bool mixed;              /* who produces consumes, too */
    bool may_not_tell;       /* not tested, for a reason, is no disagreement */
    bool strict;             /* "empty" is judged with the order */
    bool again;              /* order: of items that come back, the first claim */
    uint64_t uncertainty_ns; /* of all clocks: the judge may let a violation pass */
    uint64_t tick;
    enum lb_guarantee guarantee;
    bool (*legal)(void);
};

/* --- random histories: a queue that works, mostly --- */

struct item {
    enum { ABSENT, NEW, ACTIVE, COMPLETE, ERROR } state;
    uint64_t claimed, expires;
    uint64_t ghost; /* until then a claim that was never answered has it; 0: none */
};

struct simulation {
    const struct shape *shape;
    struct lb_random *random;
    struct item items[IDS + 2];
    uint32_t n_put;
    uint64_t now[LOGS];
    uint32_t process[LOGS];
    uint32_t held[LOGS][8], n_held[LOGS];
    uint32_t think, busy, wrong_percent;
};

static void operate(struct simulation *s, uint32_t log, int op, int type, uint64_t id, uint32_t n,
                    uint32_t end_arg, bool effective)
{
    uint32_t busy = s->busy * (s->shape->recurring && log == OPERATOR ? 4 : 1);
    uint64_t from = s->now[log], to = from + below(s->random, busy + 1) * s->shape->tick;
    add_op(&history, log, op, from, to, type, 0, id, n, 0);
    struct lb_event *end = last_event(&history, log);
    end->process = s->process[log];
    if (type != LB_EV_NONE) {
        end[-1].process = s->process[log];
        end->arg = end_arg;
        end->answer = type == LB_EV_OK || op == LB_OP_CLAIM ? end->answer : LB_REFUSED;
        end->flags = type == LB_EV_OK && effective ? LB_EVF_EFFECTIVE : 0;
    }
    if (op == LB_OP_CLAIM && s->shape->final)
        end[type != LB_EV_NONE ? -1 : 0].flags = LB_EVF_FINAL;
    s->now[log] = type == LB_EV_NONE ? UINT64_MAX : to;
    if (type == LB_EV_INFO) {
        s->process[log] += 100;
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
        /* What it may have had others skip, until it is rolled back. */
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
        s->items[id].expires = from + LEASE_MS * MS;
        s->held[log][s->n_held[log]++] = id;
        got++;
        id = got < wanted ? choose_item(s, log) : 0;
    }
    ok.value = ok.arg = got;
    add_event(&history, log, ok);
}

static void finish(struct simulation *s, uint32_t log)
{
    uint32_t id = s->held[log][0], dice = below(s->random, 100);
    if ((s->shape->lease && dice < 25) || (s->shape->renews && dice < 40)) {
        bool is_lost = s->shape->renews && s->items[id].state != ACTIVE &&
                       !chance(s->random, s->wrong_percent);
        int type = is_lost ? LB_EV_FAIL : random_end(s);
        if (type == LB_EV_OK && !chance(s->random, s->wrong_percent))
            s->items[id].claimed = s->now[log];
        operate(s, log, LB_OP_RENEW_ITEM, type, id, 0, LEASE_MS, chance(s->random, 90));
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
    operate(s, log, op, type, id, 0, 0, chance(s->random, 95));
    if (type == LB_EV_OK)
        s->items[id].state = op == LB_OP_FREE ? NEW : op == LB_OP_ERROR ? ERROR : COMPLETE;
}

/* Ends an item that it need not have. What that changed is not known: the queue goes on as if it
 * were nothing, or as if it had been free. */
static void meddle(struct simulation *s, uint32_t log)
{
    static const int ops[] = {LB_OP_COMPLETE, LB_OP_FREE, LB_OP_ERROR};
    uint32_t id = 1 + below(s->random, s->n_put + (s->n_put == 0));
    int type = random_end(s);
    operate(s, log, ops[below(s->random, 3)], type, id, 0, 0, chance(s->random, 90));
    if (s->items[id].state == ACTIVE && chance(s->random, 40))
        s->items[id].state = NEW;
}

static void administer(struct simulation *s)
{
    static const int ops[] = {LB_OP_RESET_ALL, LB_OP_CLEAR_ALL, LB_OP_CLEAR_ERROR};
    int op = s->shape->recurring ? LB_OP_RESET_ALL : ops[below(s->random, 3)], type = random_end(s);
    if (s->shape->recovers && chance(s->random, 70)) {
        uint64_t age = 3 + below(s->random, 4), asked = s->now[OPERATOR];
        /* It may ask for less than it takes. */
        operate(s, OPERATOR, LB_OP_RECOVER, type, 0, (uint32_t)age - below(s->random, 3), 0, true);
        for (uint32_t id = 1; id <= IDS && type == LB_EV_OK; id++)
            if (s->items[id].state == ACTIVE && s->items[id].claimed + age * MS <= asked + 2 * MS)
                s->items[id].state = NEW;
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

static bool legal_groups(void);

static void generate(const struct shape *shape, struct lb_random *random)
{
    struct simulation s = {.shape = shape, .random = random};
    history_init(&history, true);
    history.model.lease = shape->lease;
    history.model.drained = shape->drained;
    history.model.strict = shape->strict;
    history.model.groups = shape->legal == legal_groups ? GROUPS : 0;
    uncertainty_ns = shape->uncertainty_ns;
    for (uint32_t log = 0; log < LOGS; log++)
        history.logs[log].uncertainty_ns = uncertainty_ns;
    s.think = 1 + below(random, 6);
    s.busy = below(random, 6);
    s.wrong_percent = below(random, 2) * below(random, 70);
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
        if (produces)
            produce(&s, log);
        else if (log == OPERATOR && !shape->mixed)
            administer(&s);
        else if (shape->strangers && chance(random, 20))
            meddle(&s, log);
        else if (s.n_held[log] == 0 || (s.n_held[log] < 3 && chance(random, 25)))
            consume(&s, log);
        else
            finish(&s, log);
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

/* --- one item: from the history to operations --- */

/* In place of a log: done by the database, at any time from the given one on. */
enum { DATABASE = LOGS };
/* END: the first end of a claim that certainly had an effect. KEEP: a renewal of what its worker
 * may have ended. */
enum kind { CLAIM, RENEW, KEEP, CLOSE, END, EXPIRE, GONE, CLEAR, RESET, LEAVE, PUT, TAKE, RECOVER };

/* The recoveries that took a claim of the item: each is one moment, and takes one. */
enum { USED_SHIFT = 40 };

enum { RENEWALS = 20 };

struct claim_info {
    uint32_t log;
    const struct lb_event *note;
    uint64_t low, high, expiry_low, expiry_high;
    uint64_t renewed_low[RENEWALS]; /* from when its age counts, by number of the renewal */
    uint32_t n_renewals;
    bool is_closed, is_ended; /* perhaps; certainly */
};

static struct claim_info claims[BRUTE_OPS];
static uint32_t n_claims, first_claim; /* first: of the item that is being translated */

/* What a worker asked for comes after what it had asked for before, even if it is not known whether
 * it happened. */
static uint32_t place_now; /* in the log, from 1 */

static void add_brute(int kind, uint32_t who, uint64_t low, uint64_t high, bool optional,
                      uint64_t a, uint32_t log)
{
    uint64_t most = UINT64_MAX - uncertainty_ns;
    brute_add(&brute, (struct brute_op){.low = low > uncertainty_ns ? low - uncertainty_ns : 0,
                                        .high = high < most ? high + uncertainty_ns : UINT64_MAX,
                                        .optional = optional,
                                        .kind = kind,
                                        .who = who,
                                        .a = a,
                                        .place = place_now,
                                        .log = log == DATABASE ? 0 : log + 1});
}

static uint64_t after_ms(uint64_t low, uint64_t ms)
{
    uint64_t length = ms * UINT64_C(1000000), margin = 1000000 + ms * UINT64_C(1000);
    return low + (length > margin ? length - margin : 0);
}

static uint64_t lease_low(uint64_t low)
{
    return after_ms(low, LEASE_MS);
}

static uint64_t lease_high(uint64_t high)
{
    return high + LEASE_MS * UINT64_C(1000000) + (1000000 + LEASE_MS * UINT64_C(1000));
}

static const struct lb_event *end_of(uint32_t log, size_t i)
{
    for (size_t k = i + 1; k < history.n[log]; k++)
        if (history.events[log][k].type != LB_EV_NOTE)
            return &history.events[log][k];
    return NULL;
}

static void translate_claim(uint32_t log, const struct lb_event *invoke, const struct lb_event *end,
                            uint64_t id)
{
    if (end == NULL || end->type != LB_EV_OK)
        return;
    for (const struct lb_event *note = invoke + 1; note < end; note++) {
        if (note->value != id)
            continue;
        struct claim_info *c = &claims[n_claims++];
        *c = (struct claim_info){
            .log = log, .note = note, .low = invoke->time_ns, .high = end->time_ns};
        /* An item that is there twice was claimed twice, in this order. */
        place_now = (uint32_t)(note - history.events[log]) + 1;
        add_brute(CLAIM, n_claims, invoke->time_ns, end->time_ns, false, 0, log);
        c->renewed_low[0] = c->low;
        if (note->arg > 0) {
            c->expiry_high = lease_high(end->time_ns);
            add_brute(EXPIRE, n_claims, lease_low(invoke->time_ns), UINT64_MAX, true, 0, DATABASE);
        }
    }
}

/* The newest claim of a log before an event; 0: none. Claims are numbered from 1. */
static uint32_t claim_before(uint32_t log, const struct lb_event *event)
{
    uint32_t found = 0;
    for (uint32_t i = first_claim; i < n_claims; i++)
        if (claims[i].log == log && claims[i].note < event)
            found = i + 1;
    return found;
}

static void translate_op(uint32_t log, const struct lb_event *invoke, const struct lb_event *end,
                         uint64_t id)
{
    int type = end == NULL ? LB_EV_NONE : end->type, op = invoke->op;
    bool mine = invoke->value == id;
    uint64_t high = type == LB_EV_OK ? end->time_ns : UINT64_MAX;
    uint32_t who = claim_before(log, invoke);
    if (type == LB_EV_FAIL)
        return;
    if (op == LB_OP_RESET_ALL || op == LB_OP_CLEAR_ALL || (op == LB_OP_CLEAR_ERROR && mine))
        add_brute(op == LB_OP_RESET_ALL ? RESET : CLEAR, 0, invoke->time_ns, high, type != LB_EV_OK,
                  0, log);
    bool renews = op == LB_OP_RENEW_ITEM && mine && who > 0 &&
                  (type != LB_EV_OK || (end->flags & LB_EVF_EFFECTIVE) != 0);
    if (renews && type == LB_EV_OK) {
        uint32_t number = ++claims[who - 1].n_renewals;
        claims[who - 1].expiry_high = lease_high(end->time_ns);
        int kind = claims[who - 1].is_closed ? KEEP : RENEW;
        claims[who - 1].renewed_low[number] = kind == RENEW ? invoke->time_ns : UINT64_MAX;
        add_brute(kind, who, invoke->time_ns, high, false, number, log);
        if (claims[who - 1].note->arg > 0)
            add_brute(EXPIRE, who, lease_low(invoke->time_ns), UINT64_MAX, true, number, log);
    } else if (renews) {
        claims[who - 1].expiry_high = UINT64_MAX;
    }
    if ((op == LB_OP_FREE || op == LB_OP_ERROR || op == LB_OP_COMPLETE) && mine) {
        bool certain = type == LB_EV_OK && (end->flags & LB_EVF_EFFECTIVE) != 0;
        bool is_first = certain && who > 0 && !claims[who - 1].is_ended;
        if (who > 0)
            claims[who - 1].is_closed = true;
        if (is_first)
            claims[who - 1].is_ended = true;
        /* Who never claimed it may have ended anybody's claim, or nobody's. */
        add_brute(is_first ? END : CLOSE, who, invoke->time_ns, high, !certain || who == 0,
                  (uint64_t)op, log);
    }
}

/* A recovery, for each claim that can have been old enough. */
static void translate_recovery(uint32_t log, const struct lb_event *invoke,
                               const struct lb_event *end, uint32_t number)
{
    bool ok = end != NULL && end->type == LB_EV_OK;
    if (end != NULL && end->type == LB_EV_FAIL)
        return;
    for (uint32_t i = 0; i < n_claims && invoke->arg > 0; i++)
        for (uint32_t k = 0; k <= claims[i].n_renewals; k++) {
            if (claims[i].renewed_low[k] == UINT64_MAX)
                continue;
            uint64_t old = after_ms(claims[i].renewed_low[k], invoke->arg);
            uint64_t low = old > invoke->time_ns ? old : invoke->time_ns;
            if (ok && low > end->time_ns)
                continue;
            add_brute(RECOVER, i + 1, low, ok ? end->time_ns : UINT64_MAX, true, number, log);
            brute.ops[brute.n - 1].b = k;
        }
}

static void translate_recoveries(void)
{
    uint32_t number = 0;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            place_now = (uint32_t)i + 1;
            if (e->type == LB_EV_INVOKE && e->op == LB_OP_RECOVER)
                translate_recovery(log, e, end_of(log, i), number++);
        }
}

/* All that concerns item id, but recoveries. */
static void translate_one(uint64_t id)
{
    first_claim = n_claims;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *invoke = &history.events[log][i], *end = end_of(log, i);
            place_now = (uint32_t)i + 1;
            if (invoke->type != LB_EV_INVOKE)
                continue;
            if (invoke->op == LB_OP_CLAIM)
                translate_claim(log, invoke, end, id);
            else
                translate_op(log, invoke, end, id);
            uint32_t who = claim_before(log, invoke);
            /* The connection is gone, and with it what this worker held. */
            for (; end != NULL && end->type == LB_EV_INFO && who > first_claim; who--)
                if (claims[who - 1].log == log && (claims[who - 1].note->flags & LB_EVF_FINAL) == 0)
                    add_brute(GONE, who, invoke->time_ns, UINT64_MAX, true, 0, DATABASE);
        }
}

static void translate_item(uint64_t id)
{
    brute.n = n_claims = 0;
    translate_one(id);
    translate_recoveries();
}

/* state: 0 new; else kind, claim << 4, renewals << 12, those that its age counts from << 20; above
 * USED_SHIFT the recoveries */
static bool step_item(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t used = *state >> USED_SHIFT << USED_SHIFT, now = *state ^ used;
    uint64_t kind = now & 15, who = now >> 4 & 255;
    uint64_t recovery = op->kind == RECOVER ? UINT64_C(1) << USED_SHIFT << op->a : 0;
    switch (op->kind) {
    case CLAIM:
        *state = used | ACTIVE | (uint64_t)op->who << 4;
        return now == 0;
    case KEEP:
        if (kind == ACTIVE && who == op->who)
            *state = used | (now >> 20 << 20) | ACTIVE | (uint64_t)op->who << 4 | op->a << 12;
        return true;
    case RENEW: /* of what is nobody's: its worker has it again */
        *state = used | ACTIVE | (uint64_t)op->who << 4 | op->a << 12 | op->a << 20;
        return kind == 0 || (kind == ACTIVE && who == op->who);
    case EXPIRE:
        *state = used;
        return kind == ACTIVE && who == op->who && (now >> 12 & 255) == op->a;
    case GONE:
        *state = used;
        return kind == ACTIVE && who == op->who;
    case RECOVER:
        *state = used | recovery;
        return kind == ACTIVE && who == op->who && now >> 20 == op->b && (used & recovery) == 0;
    case END: /* given back, and claimed by nobody since: it ends what is free */
    case CLOSE:
        if ((kind == ACTIVE && (who == op->who || op->who == 0)) || /* 0: a stranger's, anybody's */
            (kind == 0 && op->kind == END))
            *state = used | (op->a == LB_OP_FREE ? 0 : op->a == LB_OP_ERROR ? ERROR : COMPLETE);
        return true;
    case CLEAR:
        *state = kind == ERROR ? used : *state;
        return true;
    case RESET:
        *state = kind == COMPLETE ? used : *state;
        return true;
    default: /* LEAVE: the late end in question */
        return kind != ACTIVE || claims[who - 1].log == claims[op->who - 1].log;
    }
}

static bool legal_items(void)
{
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        translate_item(id);
        brute.step = step_item;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

/* --- owners --- */

static bool legal_end(uint64_t id, uint32_t log, const struct lb_event *invoke,
                      const struct lb_event *end)
{
    translate_item(id);
    uint32_t who = claim_before(log, invoke);
    if (who == 0)
        return true;
    brute_cut(&brute, end->time_ns, log + 1, (uint32_t)(invoke - history.events[log]) + 1);
    brute.step = step_item;
    if (!brute_legal(&brute))
        return true;
    place_now = (uint32_t)(end - history.events[log]) + 1;
    add_brute(LEAVE, who, invoke->time_ns, end->time_ns, false, 0, log);
    return brute_legal(&brute);
}

static bool legal_owners(void)
{
    for (uint32_t log = 0; log < LOGS; log++) {
        bool out[IDS + 2] = {false}, unclear[IDS + 2] = {false};
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            bool closer = e->op == LB_OP_FREE || e->op == LB_OP_ERROR || e->op == LB_OP_COMPLETE;
            const struct lb_event *end = e->type == LB_EV_INVOKE ? end_of(log, i) : NULL;
            if (e->type == LB_EV_NOTE) {
                out[e->value] = true;
                unclear[e->value] = false;
            }
            if (!closer || e->type != LB_EV_INVOKE || (end != NULL && end->type == LB_EV_FAIL))
                continue;
            if (end == NULL || end->type != LB_EV_OK) {
                unclear[e->value] = true;
                continue;
            }
            if ((end->flags & LB_EVF_EFFECTIVE) == 0)
                continue;
            if ((!out[e->value] && !unclear[e->value]) ||
                (out[e->value] && !legal_end(e->value, log, e, end)))
                return false;
            out[e->value] = false;
        }
    }
    return true;
}

/* --- order: state is the queue, four bits an item, the head lowest; above HAD_SHIFT the items that
 * were taken before, and may have been given back: nobody says where they stand in line --- */

enum { HAD_SHIFT = 48 };

static bool step_order(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t had = *state >> HAD_SHIFT << HAD_SHIFT, queue = *state ^ had;
    uint64_t item = UINT64_C(1) << HAD_SHIFT << op->who;
    if (op->kind == LEAVE) /* told that there is nothing */
        return queue == 0;
    if (op->kind == PUT) {
        unsigned shift = 0;
        while ((queue >> shift & 15) != 0)
            shift += 4;
        *state |= (uint64_t)op->who << shift;
        return true;
    }
    if (op->kind == CLAIM && (had & item) != 0)
        return true; /* it came back */
    if ((queue & 15) == 0 || (op->kind == CLAIM && (queue & 15) != op->who))
        return false;
    item = UINT64_C(1) << HAD_SHIFT << (queue & 15);
    *state = queue >> 4 | had | (op->kind == TAKE && op->a == LB_EVF_FINAL ? 0 : item);
    return true;
}

/* All puts and claims, and what was told to be empty. */
static void translate_order(bool with_empty)
{
    brute.n = 0;
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            const struct lb_event *end = e->type == LB_EV_INVOKE ? end_of(log, i) : NULL;
            bool ok = end != NULL && end->type == LB_EV_OK;
            place_now = (uint32_t)i + 1; /* items of one operation are concurrent */
            if (with_empty && e->type == LB_EV_INVOKE && e->op == LB_OP_CLAIM && end != NULL &&
                end->type == LB_EV_FAIL)
                add_brute(LEAVE, 0, e->time_ns, end->time_ns, false, 0, log);
            if (e->type != LB_EV_INVOKE || (end != NULL && end->type == LB_EV_FAIL))
                continue;
            if (e->op == LB_OP_PUT)
                for (uint32_t k = 0; k < e->arg; k++)
                    add_brute(PUT, (uint32_t)e->value + k, e->time_ns,
                              ok ? end->time_ns : UINT64_MAX, !ok, 0, log);
            if (e->op == LB_OP_CLAIM && ok)
                for (const struct lb_event *n = e + 1; n < end; n++)
                    add_brute(CLAIM, (uint32_t)n->value, e->time_ns, end->time_ns, false, 0, log);
            if (e->op == LB_OP_CLAIM && !ok)
                for (uint32_t k = 0; k < e->arg; k++)
                    add_brute(TAKE, 0, e->time_ns, UINT64_MAX, true, e->flags & LB_EVF_FINAL, log);
        }
}

static bool legal_order(void)
{
    translate_order(false);
    brute.step = step_order;
    return brute_legal(&brute);
}

/* Is it linearizable as a queue? */
static bool legal_strict(void)
{
    translate_order(true);
    brute.step = step_order;
    return brute_legal(&brute);
}

/* --- empty: each must have an order in which nothing is there; state is a set of items --- */

static bool step_bag(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t bit = UINT64_C(1) << op->who;
    if (op->kind == LEAVE)
        return *state == 0;
    if (op->kind == TAKE) { /* it may have taken anything, and as much as it likes */
        *state = 0;
        return true;
    }
    if (((*state & bit) != 0) == (op->kind == PUT))
        return false;
    *state ^= bit;
    return true;
}

static bool legal_empty(void)
{
    bool claimed[IDS + 2] = {false};
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 1; i < history.n[log]; i++) {
            const struct lb_event *end = &history.events[log][i];
            if (end->op != LB_OP_CLAIM || end->type != LB_EV_FAIL)
                continue;
            translate_order(false);
            memset(claimed, 0, sizeof claimed);
            for (uint32_t k = 0; k < brute.n; k++)
                if (brute.ops[k].kind == CLAIM)
                    claimed[brute.ops[k].who] = true;
            /* By claims of unknown outcome: what nobody claimed, and what came back. */
            uint64_t taken = UINT64_MAX, lent = UINT64_MAX;
            for (uint32_t k = 0; k < brute.n; k++) {
                if (brute.ops[k].kind != TAKE)
                    continue;
                taken = brute.ops[k].low < taken ? brute.ops[k].low : taken;
                if (brute.ops[k].a != LB_EVF_FINAL && brute.ops[k].low < lent)
                    lent = brute.ops[k].low;
            }
            uint32_t n = brute.n, kept = 0;
            for (uint32_t k = 0; k < n; k++)
                if (brute.ops[k].kind != TAKE)
                    brute.ops[kept++] = brute.ops[k];
            brute.n = kept;
            for (uint32_t k = 0; k < kept; k++)
                if (brute.ops[k].kind == CLAIM && lent < brute.ops[k].low)
                    brute.ops[k].low = lent;
            for (uint32_t k = 0; k < kept; k++)
                if (brute.ops[k].kind == PUT && !claimed[brute.ops[k].who] && taken != UINT64_MAX)
                    add_brute(CLAIM, brute.ops[k].who, taken, UINT64_MAX, true, 0, log);
            add_brute(LEAVE, 0, end[-1].time_ns, end->time_ns, false, 0, log);
            for (uint32_t k = 0; k < brute.n; k++)
                brute.ops[k].log = 0;
            brute.step = step_bag;
            if (!brute_legal(&brute))
                return false;
        }
    return true;
}

/* --- once: what ends an execution is its own worker's end, and what asks for another; state as in
 * step_item, without renewals --- */

static bool step_once(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t kind = *state & 15, who = *state >> 4;
    switch (op->kind) {
    case CLAIM:
        *state = ACTIVE | (uint64_t)op->who << 4;
        return kind == 0;
    case END:
    case CLOSE:
        if (kind == ACTIVE && who == op->who)
            *state = op->a == LB_OP_FREE ? 0 : op->a == LB_OP_ERROR ? ERROR : COMPLETE;
        return true;
    case CLEAR:
        *state = kind == ERROR ? 0 : *state;
        return true;
    case RESET:
        *state = kind == COMPLETE ? 0 : *state;
        return true;
    default: /* what takes a claim from its worker undoes nothing of his work */
        return true;
    }
}

static bool legal_once(void)
{
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        translate_item(id);
        brute.step = step_once;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

/* --- groups: state: the claim in hand; above USED_SHIFT the recoveries that took one --- */

static uint64_t claim_item[BRUTE_OPS];

static bool step_group(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t used = *state >> USED_SHIFT << USED_SHIFT, who = *state ^ used;
    uint64_t recovery = op->kind == RECOVER ? UINT64_C(1) << USED_SHIFT << op->a : 0;
    switch (op->kind) {
    case CLAIM:
        *state = used | op->who;
        return who == 0;
    case END:
    case CLOSE: /* who is 0: a stranger's, of the item b */
        if (who > 0 && (op->who > 0 ? who == op->who : claim_item[who - 1] == op->b))
            *state = used;
        return true;
    case GONE:
        *state = used;
        return who == op->who;
    case RECOVER:
        *state = used | recovery;
        return who == op->who && (used & recovery) == 0;
    default:
        return true;
    }
}

static bool legal_groups(void)
{
    for (uint64_t group = 0; group < GROUPS; group++) {
        brute.n = n_claims = 0;
        for (uint64_t id = 1; id <= IDS + 1; id++) {
            uint32_t first = brute.n;
            if (id % GROUPS != group)
                continue;
            translate_one(id);
            for (; first < brute.n; first++)
                brute.ops[first].b = id;
            for (uint32_t i = first_claim; i < n_claims; i++)
                claim_item[i] = id;
        }
        translate_recoveries();
        brute.step = step_group;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

/* --- loss: counted again, item by item --- */

static bool legal_loss(void)
{
    uint64_t n_missing = 0, n_excused = 0;
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        uint64_t put_low = UINT64_MAX, first = UINT64_MAX, last = 0, freed = 0;
        const struct lb_event *claim = NULL, *put = NULL;
        uint32_t n_claims_of = 0, claimer = LOGS, putter = LOGS;
        bool acked = false, finished = false;
        for (uint32_t log = 0; log < LOGS; log++)
            for (size_t i = 0; i < history.n[log]; i++) {
                const struct lb_event *e = &history.events[log][i];
                const struct lb_event *end = end_of(log, i);
                if (e->type == LB_EV_NOTE && e->value == id && end != NULL &&
                    end->type == LB_EV_OK) {
                    first = end->time_ns < first ? end->time_ns : first;
                    last = end->time_ns > last ? end->time_ns : last;
                    n_claims_of++;
                    claimer = log;
                    claim = e;
                }
                if (e->type == LB_EV_INVOKE && e->op == LB_OP_PUT && e->value <= id &&
                    id < e->value + e->arg && (end == NULL || end->type != LB_EV_FAIL)) {
                    put_low = e->time_ns;
                    putter = log;
                    put = e;
                    acked = end != NULL && end->type == LB_EV_OK;
                }
            }
        if (first < put_low || (n_claims_of == 1 && claimer == putter && claim < put))
            return false; /* a phantom */
        for (uint32_t log = 0; log < LOGS; log++)
            for (size_t i = 0; i < history.n[log]; i++) {
                const struct lb_event *e = &history.events[log][i];
                const struct lb_event *end = e->type == LB_EV_INVOKE ? end_of(log, i) : NULL;
                if (e->type != LB_EV_INVOKE || e->value != id || e->op < LB_OP_COMPLETE ||
                    (end != NULL && end->type == LB_EV_FAIL))
                    continue;
                bool ok = end != NULL && end->type == LB_EV_OK;
                if (e->op == LB_OP_FREE && ok && (end->flags & LB_EVF_EFFECTIVE) != 0 &&
                    e->time_ns > last)
                    freed = 1;
                if (e->op != LB_OP_FREE && (!ok || end->time_ns > last))
                    finished = true;
            }
        n_missing += acked && (last == 0 || (freed && !finished));
    }
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            const struct lb_event *end = end_of(log, i);
            if (e->type == LB_EV_INVOKE && e->op == LB_OP_CLAIM &&
                (end == NULL || end->type == LB_EV_INFO))
                n_excused += e->arg;
        }
    return n_missing <= n_excused;
}

/* --- the comparison --- */

static bool judge_legal(const struct shape *shape)
{
    struct lb_error err = {0};
    if (judge_history(&history, &judgement, &err) != 0) {
        print_history(&history);
        fail_msg("lb_check: %s", err.message);
    }
    if (shape->legal == legal_empty)
        return judgement.measures.n_empty_unjustified == 0;
    return judgement.findings[shape->guarantee].n_violations == 0;
}

/* The same with an id that lies far from the others, in a put that nobody answered: the judge then
 * cannot use its table of dense ids, and must say the same. */
static bool judge_sparse(const struct shape *shape)
{
    add_op(&history, LOGS, LB_OP_PUT, 0, 0, LB_EV_INFO, 0, UINT64_C(1) << 50, 1, 0);
    bool legal = judge_legal(shape);
    history.n[LOGS] = 0;
    return legal;
}

/* No item was claimed before it was put. */
static bool has_no_phantom(void)
{
    history.model.drained = false;
    judge_legal(&(const struct shape){.guarantee = LB_G_NO_LOSS});
    return judgement.findings[LB_G_NO_LOSS].n_violations == 0;
}

/* Order is asked of items that were put before they were claimed, once. */
static bool is_ordered(void)
{
    uint64_t seen[IDS + 2] = {0};
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++)
            if (history.events[log][i].type == LB_EV_NOTE &&
                seen[history.events[log][i].value]++ > 0)
                return false;
    return has_no_phantom();
}

/* Histories of which the judge says that it cannot tell. */
static uint64_t n_untold;

static bool compare(const struct shape *shape)
{
    bool expected = shape->legal(), sparse = judge_sparse(shape), got = judge_legal(shape);
    if (!expected && got && shape->may_not_tell &&
        judgement.findings[shape->guarantee].verdict == LB_V_NOT_TESTED &&
        judgement.findings[shape->guarantee].n_tested > 0) {
        n_untold++;
        return expected;
    }
    if (shape->uncertainty_ns > 0 && !expected && got && sparse)
        return expected;
    if (expected == got && sparse == got)
        return got;
    print_disagreement(&history, &brute);
    fail_msg("%s: %s by search, %s by the judge, %s with sparse ids (%s); seed %llu", shape->name,
             expected ? "legal" : "illegal", got ? "legal" : "illegal",
             sparse ? "legal" : "illegal", judgement.findings[shape->guarantee].witness[0].text,
             (unsigned long long)seed);
    return got;
}

/* What is missing excuses: nothing is violated in a part of what is legal. */
static void compare_cut(const struct shape *shape)
{
    if (judge_legal(shape))
        return;
    print_history(&history);
    fail_msg("%s: violated in a part of a legal history (%s), of which nothing is missing before "
             "%llu; seed %llu",
             shape->name, judgement.findings[shape->guarantee].witness[0].text,
             (unsigned long long)history.view.whole_ns, (unsigned long long)seed);
}

static void agree(void **state)
{
    const struct shape *shape = *state;
    n_untold = 0;
    struct tally tally = compare_histories(
        &(struct comparison){.name = shape->name,
                             .shape = shape,
                             .history = &history,
                             .seed = seed,
                             .tick = shape->tick,
                             .generate = generate,
                             .is_asked = shape->again  ? has_no_phantom
                                         : shape->once ? is_ordered
                                                       : NULL,
                             .compare = compare,
                             .compare_cut = shape->legal != legal_empty ? compare_cut : NULL});
    if (n_untold > 0)
        printf("# %s: of %llu illegal histories the judge could not tell\n", shape->name,
               (unsigned long long)n_untold);
    if (!tally_is_fair(&tally) || n_untold * (shape->legal == legal_items ? 10000
                                              : shape->strict             ? 5
                                                                          : 50) >
                                      tally.n)
        fail_msg("%s: the histories are too one-sided to tell", shape->name);
}

static struct shape shapes[] = {
    {.name = "items",
     .odd_ends = true,
     .resets = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "recurring item",
     .resets = true,
     .recurring = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "uncertain items",
     .odd_ends = true,
     .resets = true,
     .uncertainty_ns = 2,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "an uncertain recurring item",
     .resets = true,
     .recurring = true,
     .uncertainty_ns = 1,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "leased items",
     .lease = true,
     .odd_ends = true,
     .resets = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "recovered items",
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "renewed items that are recovered",
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "leased items that are recovered",
     .lease = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "items that strangers end",
     .odd_ends = true,
     .resets = true,
     .strangers = true,
     .tick = 1,
     .may_not_tell = true,
     .guarantee = LB_G_NO_DUPLICATE,
     .legal = legal_items},
    {.name = "owners of items that strangers end",
     .resets = true,
     .strangers = true,
     .tick = 1,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "dequeued items",
     .odd_ends = true,
     .resets = true,
     .final = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "owners of items",
     .lease = true,
     .resets = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "owners of recovered items",
     .resets = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "executions",
     .odd_ends = true,
     .resets = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_ONCE,
     .may_not_tell = true,
     .legal = legal_once},
    {.name = "executions of recovered items",
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_ONCE,
     .may_not_tell = true,
     .legal = legal_once},
    {.name = "groups",
     .odd_ends = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "groups of recovered items",
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "groups of items that strangers end",
     .odd_ends = true,
     .strangers = true,
     .tick = 1,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "order",
     .may_not_tell = true,
     .odd_ends = true,
     .once = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "order of who does both",
     .odd_ends = true,
     .once = true,
     .mixed = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "order of items that come back",
     .odd_ends = true,
     .once = true,
     .again = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "order of dequeued items",
     .odd_ends = true,
     .once = true,
     .final = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "strict order",
     .odd_ends = true,
     .once = true,
     .strict = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_strict},
    {.name = "strict order of who does both",
     .once = true,
     .mixed = true,
     .strict = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_strict},
    {.name = "empty",
     .odd_ends = true,
     .once = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_empty},
    {.name = "loss",
     .odd_ends = true,
     .drained = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_NO_LOSS,
     .legal = legal_loss},
};

int main(void)
{
    enum { N = sizeof shapes / sizeof shapes[0] };
    struct CMUnitTest tests[N];
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){
            .name = shapes[i].name, .test_func = agree, .initial_state = &shapes[i]};
    seed = lb_test_seed();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
