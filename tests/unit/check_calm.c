/* The judge's short path, for histories that need no closer look, gives the same result as its long
 * path.
 *
 * Random histories are judged as they are, and with one more log. With a lock, that log only
 * cancels a request that it never made; with a queue, it only beats, or is noted as dead. This does
 * not concern the lock or the items (unless a recovery takes those of workers that beat), but no
 * calm history has it, so the judge takes the long way. Both judgements, and that of two threads,
 * must be equal to the last byte. */
#include "check_brute.h"
#include "property.h"

enum { CALM_LOGS = 5, SPANS = 64 };

static struct test_history history;
static struct lb_span spans[CALM_LOGS + 1][SPANS];
static struct lb_log_view logs[CALM_LOGS + 1];
static uint64_t pause_ns; /* between one thing and the next */
static uint64_t slack_ns[CALM_LOGS + 1];
static bool has_recovery;

/* By any of the logs, at its own time or at that one. */
static void note_warm(struct lb_random *random, uint64_t *now, uint64_t time)
{
    uint32_t log = below(random, CALM_LOGS);
    now[log] = time > now[log] ? time : now[log];
    add_event(&history, log,
              (struct lb_event){.time_ns = now[log], .op = LB_OP_WARM, .type = LB_EV_NOTE});
}

/* Asks a few times for a resource, and is refused. Sometimes for another one than it then gets. */
static void ask_in_vain(struct lb_random *random, uint32_t log, uint32_t resource, uint64_t *now)
{
    for (unsigned i = below(random, 3); i > 0; i--) {
        uint64_t from = *now + below(random, 4), to = from + below(random, 5);
        uint32_t other = below(random, 8) == 0 ? below(random, 4) : resource;
        add_op(&history, log, LB_OP_ACQUIRE, from, to, LB_EV_FAIL, other, 0, 1, 0);
        if (below(random, 5) == 0)
            last_event(&history, log)->answer = LB_TIMEOUT;
        *now = to;
    }
}

/* Cycles of workers that take turns at each resource. carelessness: one in this number of grants
 * comes at any time; 0: none. */
static void generate(struct lb_random *random, unsigned carelessness)
{
    uint64_t now[CALM_LOGS] = {0}, is_free[4] = {0};
    unsigned tick = 1 + below(random, 3); /* short ones: many things in one tick */
    history_init(&history, false);
    history.model.progress_bound_ns = below(random, 2) * 200;
    history.model.complete = below(random, 8) > 0;
    history.capacity[3] = 1 + below(random, 2);
    bool polls = below(random, 2) == 0;
    unsigned n = below(random, 120);
    for (unsigned i = 0; i < n; i++) {
        uint32_t log = below(random, CALM_LOGS), resource = below(random, 4);
        if (history.n[log] + 12 > MAX_EVENTS)
            break;
        if (polls)
            ask_in_vain(random, log, resource, &now[log]);
        uint64_t asked = now[log] + below(random, 8) / tick, granted = asked;
        if (carelessness == 0 || below(random, carelessness) > 0)
            granted = granted > is_free[resource] ? granted : is_free[resource];
        granted += below(random, 6) / tick;
        uint64_t left = granted + below(random, 6) / tick, end = left + below(random, 6) / tick;
        acquire(&history, log, resource, asked, granted);
        release(&history, log, resource, left, end);
        last_event(&history, log)[-1].flags = 0; /* it is said of the answer alone */
        last_event(&history, log)->flags = below(random, 8) > 0 ? LB_EVF_EFFECTIVE : 0;
        is_free[resource] = left > is_free[resource] ? left : is_free[resource];
        now[log] = end;
        if (below(random, 40) == 0)
            note_warm(random, now, end + below(random, 3));
    }
    for (uint32_t log = 0; log < CALM_LOGS && polls; log++)
        if (below(random, 4) == 0 && history.n[log] + 12 < MAX_EVENTS)
            ask_in_vain(random, log, below(random, 4), &now[log]);
    if (below(random, 4) == 0) { /* something is under way at the end */
        uint32_t log = below(random, CALM_LOGS);
        size_t n_missing = below(random, 4);
        history.n[log] -= n_missing < history.n[log] ? n_missing : 0;
    }
}

/* --- queues: a few items, claimed again and again --- */

enum { ITEMS = 3 };

/* Classes from here on have no place of their own: item_calm.c, MOST_CLASSES. */
enum { CLASSES = 64 };

/* Seldom another class, in careless histories. */
static uint32_t class_of(struct lb_random *random, unsigned carelessness)
{
    bool is_other = carelessness > 0 && below(random, 4 * carelessness) == 0;
    return !is_other ? 0 : below(random, 2) == 0 ? 1 : CLASSES;
}

static void claim_item(uint32_t log, uint32_t class_no, uint64_t id, uint64_t from, uint64_t to,
                       uint32_t lease_ms)
{
    add_op(&history, log, LB_OP_CLAIM, from, to, LB_EV_NONE, class_no, 0, 1, 0);
    add_event(&history, log,
              (struct lb_event){.time_ns = to,
                                .value = id,
                                .process = log,
                                .arg = lease_ms,
                                .op = LB_OP_ITEM,
                                .type = LB_EV_NOTE});
    add_event(&history, log,
              (struct lb_event){.time_ns = to,
                                .value = 1,
                                .process = log,
                                .object = class_no,
                                .arg = 1,
                                .op = LB_OP_CLAIM,
                                .type = LB_EV_OK});
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A worker resets all items after a time; returns the time of the request. */
static uint64_t reset(struct lb_random *random, uint64_t *now, uint64_t from, unsigned carelessness)
{
    uint32_t other = below(random, CALM_LOGS);
    uint64_t at = (now[other] > from ? now[other] : from) + pause_ns + below(random, 3);
    now[other] = at + below(random, 3);
    bool fails = carelessness > 0 && below(random, 2 * carelessness) == 0;
    add_op(&history, other, LB_OP_RESET_ALL, at, now[other], fails ? LB_EV_FAIL : LB_EV_OK,
           class_of(random, carelessness), 0, 0, 0);
    return at;
}

/* Adds other operations of a worker: it renews its claim, clears an error, or ends the item,
 * perhaps repeatedly. */
static void add_beside(struct lb_random *random, uint32_t log, uint64_t id, uint64_t *from,
                       uint64_t *to)
{
    static const int ops[] = {LB_OP_RENEW_ITEM, LB_OP_CLEAR_ERROR, LB_OP_FREE, LB_OP_COMPLETE};
    int op = ops[below(random, 4)], type = below(random, 4) == 0 ? LB_EV_FAIL : LB_EV_OK;
    add_op(&history, log, op, *from, *to, type, 0, id, 0, 0);
    last_event(&history, log)->flags = below(random, 3) > 0 ? LB_EVF_EFFECTIVE : 0;
    *from = *to + below(random, 3);
    *to = *from + below(random, 3);
}

/* A claim that was not answered ok, though it had noted an item. */
static void fail_claim(struct lb_random *random, uint32_t log, uint64_t *now)
{
    uint64_t from = *now + below(random, 3), to = from + below(random, 4);
    claim_item(log, 0, 1 + below(random, ITEMS), from, to, 0);
    struct lb_event *end = last_event(&history, log);
    end->type = LB_EV_FAIL;
    end->answer = LB_EMPTY;
    end->value = end->arg = 0;
    *now = to;
}

/* The world meddles, or the model asks for more: then nothing is calm. */
static void disturb(struct lb_random *random, uint64_t *now)
{
    uint32_t log = below(random, CALM_LOGS);
    uint64_t at = now[log] + below(random, 3);
    switch (below(random, 10)) {
    case 0:
        add_op(&history, log, LB_OP_RECOVER, at, at + 1, LB_EV_OK, 0, 0, below(random, 2), 0);
        has_recovery = true;
        break;
    case 1:
        note(&history, log, LB_OP_DEATH, at, 0, below(random, CALM_LOGS));
        break;
    case 2:
        note(&history, log, LB_OP_SESSION_END, at, 0, below(random, CALM_LOGS));
        break;
    case 3:
        history.model.strict = true;
        return;
    case 4:
        history.model.lease = true;
        return;
    case 5:
        history.model.period_ns = 1 + below(random, 20);
        return;
    case 6:
        slack_ns[log] = 1 + below(random, 5);
        return;
    default:
        return;
    }
    now[log] = at + 1;
}

/* A log ends before its last operation was answered, or with one of unknown outcome. */
static void end_early(struct lb_random *random, uint32_t log)
{
    if (history.n[log] < 8)
        return;
    if (below(random, 2) == 0)
        history.n[log] -= below(random, 3);
    else if (last_event(&history, log)->type == LB_EV_OK)
        last_event(&history, log)->type = LB_EV_INFO;
}

/* Counts the classes from another number on. */
static void renumber(uint32_t first)
{
    for (uint32_t log = 0; log < CALM_LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++)
            if (history.events[log][i].type != LB_EV_NOTE)
                history.events[log][i].object += first;
}

/* Makes a millisecond, the shortest lease, 10 units of time. */
static void stretch(void)
{
    enum { TIMES = 100000 };
    for (uint32_t log = 0; log < CALM_LOGS; log++) {
        for (size_t i = 0; i < history.n[log]; i++)
            history.events[log][i].time_ns *= TIMES;
        slack_ns[log] *= TIMES;
    }
    history.model.period_ns *= TIMES;
}

/* Ends a claim; returns the earliest time at which the item is available again. One in
 * `carelessness` ends is careless: without effect, in error, by another worker, or not at all. */
static uint64_t end_claim(struct lb_random *random, uint32_t log, uint64_t id, uint64_t *now,
                          unsigned carelessness)
{
    bool is_careless = carelessness > 0 && below(random, carelessness) == 0;
    bool is_freed = below(random, 2) == 0;
    uint64_t from = now[log] + pause_ns + below(random, 4), to = from + below(random, 4);
    unsigned how = is_careless ? below(random, 6) : 6;
    int op = how == 0 ? LB_OP_ERROR : is_freed ? LB_OP_FREE : LB_OP_COMPLETE;
    if (is_careless && below(random, 3) == 0) {
        add_beside(random, log, id, &from, &to);
        now[log] = from;
    }
    if (how == 1)
        return now[log];
    if (how == 5) { /* by another worker, which does not have it */
        log = (log + 1) % CALM_LOGS;
        from = now[log] > from ? now[log] : from;
        to = from + below(random, 4);
    }
    add_op(&history, log, op, from, to, how == 2 ? LB_EV_FAIL : LB_EV_OK,
           class_of(random, carelessness), id, 0, 0);
    last_event(&history, log)->flags = how == 3 ? 0 : LB_EVF_EFFECTIVE;
    now[log] = to;
    return is_freed || how == 4 ? from : reset(random, now, from, carelessness);
}

static void add_one(uint32_t log, int op, int type, uint64_t time, uint64_t value, int flags)
{
    add_event(&history, log,
              (struct lb_event){.time_ns = time,
                                .value = value,
                                .process = log,
                                .arg = op == LB_OP_CLAIM ? (uint32_t)value : 0,
                                .answer = type == LB_EV_FAIL ? LB_BUSY : LB_OK,
                                .op = (uint8_t)op,
                                .flags = (uint8_t)flags,
                                .type = (uint8_t)type});
}

/* Two items that one claim brings are ended by one statement; before it is answered the worker may
 * ask for one more. */
static void add_batch(struct lb_random *random, uint32_t log, uint64_t *now, uint64_t *is_free,
                      unsigned carelessness)
{
    bool is_careless = carelessness > 0 && below(random, carelessness) == 0;
    bool is_freed = below(random, 2) == 0, is_piped = below(random, 2) == 0;
    int op = is_freed ? LB_OP_FREE : LB_OP_COMPLETE;
    uint64_t third = is_freed ? 1 + below(random, ITEMS) : ITEMS;
    uint64_t got = is_careless ? 0 : latest(is_free[0], is_free[1]);
    uint64_t from = now[log] + below(random, 4);
    got = latest(got, from) + below(random, 3);
    uint64_t asked = got + pause_ns + below(random, 4), answered = asked + below(random, 4);
    unsigned place = below(random, 3), failing = is_careless ? below(random, 3) : 2;
    add_one(log, LB_OP_CLAIM, LB_EV_INVOKE, from, 2, 0);
    for (uint64_t id = 1; id <= 2; id++)
        add_one(log, LB_OP_ITEM, LB_EV_NOTE, got, id, 0);
    add_one(log, LB_OP_CLAIM, LB_EV_OK, got, 2, 0);
    for (unsigned i = 0; i < 3; i++) {
        if (is_piped && i == (place > 0 ? place : 2)) /* a batch does not begin with it */
            add_one(log, LB_OP_CLAIM, LB_EV_INVOKE, asked, 1, 0);
        if (i < 2)
            add_one(log, op, LB_EV_INVOKE, asked, i + 1, 0);
    }
    for (unsigned i = 0; i < 2; i++)
        add_one(log, op, i == failing ? LB_EV_FAIL : LB_EV_OK, answered, i + 1,
                i == failing ? 0 : LB_EVF_EFFECTIVE);
    now[log] = answered;
    is_free[0] = is_free[1] = asked;
    if (is_piped) {
        now[log] = latest(answered, is_free[third - 1]) + below(random, 2);
        add_one(log, LB_OP_ITEM, LB_EV_NOTE, now[log], third, 0);
        add_one(log, LB_OP_CLAIM, LB_EV_OK, now[log], 1, 0);
        is_free[third - 1] = end_claim(random, log, third, now, carelessness);
    }
    if (!is_freed)
        is_free[0] = is_free[1] = reset(random, now, asked, carelessness);
}

/* All at once, or one by one. */
static void put_items(struct lb_random *random, uint64_t *now, uint64_t *is_free)
{
    for (uint32_t log = 0; log < CALM_LOGS; log++)
        now[log] = 1 + below(random, 3);
    if (below(random, 2) == 0) {
        now[0] = 1;
        add_op(&history, 0, LB_OP_PUT, 0, 1, LB_EV_OK, 0, 1, ITEMS, 0);
        return;
    }
    for (uint32_t item = 0; item < ITEMS; item++) {
        uint32_t log = below(random, CALM_LOGS);
        uint64_t from = now[log] + below(random, 6);
        now[log] = from + below(random, 6);
        add_op(&history, log, LB_OP_PUT, from, now[log], LB_EV_OK, 0, item + 1, 1, 0);
        is_free[item] = now[log];
    }
}

static void generate_queue(struct lb_random *random, unsigned carelessness)
{
    uint64_t now[CALM_LOGS] = {0}, is_free[ITEMS] = {2, 2, 2};
    history_init(&history, true);
    pause_ns = 6 * below(random, 2);
    history.model.drained = below(random, 2) == 0;
    history.model.strict = below(random, 8) == 0;
    put_items(random, now, is_free);
    unsigned most = below(random, 4) == 0 ? 8 : 90;
    for (unsigned i = below(random, most); i > 0; i--) {
        uint32_t log = below(random, CALM_LOGS), item = below(random, ITEMS);
        uint64_t from = now[log] + below(random, 4), to = from;
        if (carelessness == 0 || below(random, carelessness) > 0)
            to = to > is_free[item] ? to : is_free[item];
        from = to > now[log] + 3 && below(random, 4) > 0 ? to - 3 : from;
        to += below(random, 4);
        if (history.n[log] + 24 > MAX_EVENTS)
            break;
        if (below(random, 4) == 0) {
            add_batch(random, log, now, is_free, carelessness);
            continue;
        }
        bool has_lease = carelessness > 0 && below(random, 2 * carelessness) == 0;
        if (below(random, carelessness > 0 ? 2 * carelessness : 16) == 0)
            fail_claim(random, log, &now[log]);
        if (carelessness > 0 && below(random, 8 * carelessness) == 0)
            disturb(random, now);
        from = latest(from, now[log]);
        to = latest(from, to);
        claim_item(log, class_of(random, carelessness), item + 1, from, to, has_lease);
        now[log] = to;
        is_free[item] = end_claim(random, log, item + 1, now, carelessness);
    }
    for (uint32_t log = 0; log < CALM_LOGS && carelessness > 0; log++)
        if (below(random, 2 * carelessness) == 0)
            end_early(random, log);
    if (below(random, 4) == 0)
        renumber(CLASSES - below(random, 2));
    if (carelessness > 0 && below(random, 2) == 0)
        stretch();
}

/* Cuts the logs into spans, as chunks of a file do, some of them without events. */
static void cut(struct lb_random *random)
{
    for (uint32_t log = 0; log <= CALM_LOGS; log++) {
        size_t at = 0, n = 0, length = 1 + below(random, 30);
        while (at < history.n[log] && n < SPANS) {
            size_t size = n + 1 == SPANS ? MAX_EVENTS : lb_random_below(random, 2 * length);
            size = size < history.n[log] - at ? size : history.n[log] - at;
            spans[log][n++] = (struct lb_span){&history.events[log][at], size};
            at += size;
        }
        logs[log] = (struct lb_log_view){.number = log,
                                         .n_spans = n,
                                         .spans = spans[log],
                                         .n_events = history.n[log],
                                         .uncertainty_ns = slack_ns[log]};
    }
}

static void judge(struct lb_judgement *ret, size_t n_logs, unsigned threads)
{
    struct lb_error err = {0};
    struct lb_history_view view = {.logs = logs, .n_logs = n_logs, .meta = ""};
    for (size_t i = 0; i < n_logs; i++)
        view.n_events += logs[i].n_events;
    memset(ret, 0, sizeof *ret);
    history.model.threads = threads;
    if (lb_check(&view, &history.model, ret, &err) != 0)
        fail_msg("lb_check: %s", err.message);
}

/* Prints the measures that are easy to compare by eye. */
static void print_measures(const char *how, const struct lb_judgement *judgement)
{
    const struct lb_measures *m = &judgement->measures;
    printf("# %s: %llu holds, %llu refusals (%llu unjustified), longest wait %llu, tested", how,
           (unsigned long long)m->n_holds, (unsigned long long)m->n_refusals,
           (unsigned long long)m->n_refusals_unjustified, (unsigned long long)m->longest_wait_ns);
    for (int i = 0; i < LB_GUARANTEES; i++)
        printf(" %llu", (unsigned long long)judgement->findings[i].n_tested);
    printf(", violated");
    for (int i = 0; i < LB_GUARANTEES; i++)
        printf(" %llu", (unsigned long long)judgement->findings[i].n_violations);
    printf("\n");
}

struct shape {
    void (*generate)(struct lb_random *random, unsigned carelessness);
    bool is_queue;
    enum lb_guarantee guarantee;
    unsigned n; /* histories */
};

static const struct shape of_locks = {generate, false, LB_G_EXCLUSIVE, 8000};
static const struct shape of_queues = {generate_queue, true, LB_G_NO_DUPLICATE, 2000};

/* LB_TEST_HISTORIES: where each takes long, as under a sanitizer. */
static uint64_t histories_of(const struct shape *shape)
{
    const char *text = getenv("LB_TEST_HISTORIES");
    return text != NULL ? strtoull(text, NULL, 0) : shape->n;
}

/* Adds the events of the other log. */
static void add_other(bool is_queue, unsigned number)
{
    if (!is_queue)
        add_op(&history, CALM_LOGS, LB_OP_CANCEL, 0, 0, LB_EV_OK, 0, 0, 1, 0);
    else if (has_recovery || number % 2 == 0)
        note(&history, CALM_LOGS, LB_OP_DEATH, 0, 0, CALM_LOGS);
    else
        add_op(&history, CALM_LOGS, LB_OP_BEAT, 0, 0, LB_EV_OK, CALM_LOGS, 0, 1, 0);
}

static void both_ways_say_the_same(void **state)
{
    const struct shape *shape = *state;
    static struct lb_judgement in_short, in_two, at_length;
    struct lb_random random;
    uint64_t seed = lb_test_seed(), n_held = 0, n_violated = 0;
    lb_random_init(&random, seed, 0);
    const uint64_t n = histories_of(shape);
    for (unsigned i = 0; i < n; i++) {
        memset(slack_ns, 0, sizeof slack_ns);
        has_recovery = false;
        shape->generate(&random, i % 3 == 0 ? 0 : 4u << (i % 7));
        history.n[CALM_LOGS] = 0;
        add_other(shape->is_queue, i);
        cut(&random);
        judge(&in_short, CALM_LOGS, 1);
        judge(&in_two, CALM_LOGS, 2);
        judge(&at_length, CALM_LOGS + 1, 1);
        if (memcmp(&in_short, &at_length, sizeof in_short) != 0 ||
            memcmp(&in_two, &at_length, sizeof in_two) != 0) {
            print_history(&history);
            print_measures("in short", &in_short);
            print_measures("in two threads", &in_two);
            print_measures("at length", &at_length);
            fail_msg("history %u of seed %llu is judged in two ways", i, (unsigned long long)seed);
        }
        n_held += in_short.findings[shape->guarantee].verdict == LB_V_HELD;
        n_violated += in_short.findings[shape->guarantee].verdict == LB_V_VIOLATED;
    }
    printf("# %llu held, %llu violated\n", (unsigned long long)n_held,
           (unsigned long long)n_violated);
    assert_true(n_held > n / 4 && n_violated > n / 10);
}

static int judged(size_t n_logs, unsigned threads)
{
    static struct lb_judgement judgement;
    struct lb_error err = {0};
    struct lb_history_view view = {.logs = logs, .n_logs = n_logs, .n_events = 8, .meta = ""};
    history.model.threads = threads;
    return lb_check(&view, &history.model, &judgement, &err);
}

/* One field of one event, or of all, of a worker that is refused once, and then granted. */
static void damage(struct lb_event *e, unsigned how)
{
    switch (how) {
    case 0:
        e->object++;
        break;
    case 1:
        e->process++;
        break;
    case 2:
        e->time_ns = 0;
        break;
    case 3:
        e->time_ns = UINT64_MAX / 2;
        break;
    case 4:
        e->op = LB_OP_ENQUEUE;
        break;
    default:
        e->object = history.model.n_resources;
        break;
    }
}

static void what_breaks_the_grammar_does_so_both_ways(void **state)
{
    enum { EVENTS = 6, WAYS = 6 };
    unsigned n_broken = 0;
    struct lb_random random;
    (void)state;
    lb_random_init(&random, 1, 0);
    memset(slack_ns, 0, sizeof slack_ns);
    for (unsigned i = 0; i < (EVENTS + 1) * WAYS; i++) {
        history_init(&history, false);
        add_op(&history, 1, LB_OP_ACQUIRE, 10, 20, LB_EV_FAIL, 0, 0, 1, 0);
        acquire(&history, 1, 0, 30, 40);
        release(&history, 1, 0, 50, 60);
        last_event(&history, 1)[-1].flags = 0;
        for (unsigned k = 0; k < EVENTS; k++)
            if (i / WAYS == k || i / WAYS == EVENTS)
                damage(&history.events[1][k], i % WAYS);
        add_other(false, 0);
        cut(&random);
        int at_length = judged(CALM_LOGS + 1, 1);
        assert_int_equal(judged(CALM_LOGS, 1), at_length);
        assert_int_equal(judged(CALM_LOGS, 2), at_length);
        n_broken += at_length == LB_E_FILE;
    }
    assert_in_range(n_broken, 20, (EVENTS + 1) * WAYS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"locks", both_ways_say_the_same, NULL, NULL, (void *)(uintptr_t)&of_locks},
        {"queues", both_ways_say_the_same, NULL, NULL, (void *)(uintptr_t)&of_queues},
        cmocka_unit_test(what_breaks_the_grammar_does_so_both_ways),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
