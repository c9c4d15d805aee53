/* What the judge says in short, where nothing needs a closer look, is what it says at length.
 *
 * Random histories of a lock are judged as they are, and with one more log that only cancels what
 * it never asked for: that says nothing of the lock, but is none of a calm history's cycles, so the
 * judge takes the long way. Both judgements must be equal to the last byte. */
#include "check_brute.h"
#include "property.h"

enum { CALM_LOGS = 5, SPANS = 64 };

static struct test_history history;
static struct lb_span spans[CALM_LOGS + 1][SPANS];
static struct lb_log_view logs[CALM_LOGS + 1];

/* By any of the logs, at its own time or at that one. */
static void note_warm(struct lb_random *random, uint64_t *now, uint64_t time)
{
    uint32_t log = below(random, CALM_LOGS);
    now[log] = time > now[log] ? time : now[log];
    add_event(&history, log,
              (struct lb_event){.time_ns = now[log], .op = LB_OP_WARM, .type = LB_EV_NOTE});
}

/* Cycles of workers that take turns at each resource. carelessness: one in so many is granted at
 * any time; 0: none. */
static void generate(struct lb_random *random, unsigned carelessness)
{
    uint64_t now[CALM_LOGS] = {0}, is_free[4] = {0};
    unsigned tick = 1 + below(random, 3); /* short ones: many things in one tick */
    history_init(&history, false);
    history.model.progress_bound_ns = below(random, 2) * 200;
    unsigned n = below(random, 120);
    for (unsigned i = 0; i < n; i++) {
        uint32_t log = below(random, CALM_LOGS), resource = below(random, 4);
        uint64_t asked = now[log] + below(random, 8) / tick, granted = asked;
        if (carelessness == 0 || below(random, carelessness) > 0)
            granted = granted > is_free[resource] ? granted : is_free[resource];
        granted += below(random, 6) / tick;
        uint64_t left = granted + below(random, 6) / tick, end = left + below(random, 6) / tick;
        if (history.n[log] + 6 > MAX_EVENTS)
            break;
        acquire(&history, log, resource, asked, granted);
        release(&history, log, resource, left, end);
        last_event(&history, log)[-1].flags = 0; /* it is said of the answer alone */
        last_event(&history, log)->flags = below(random, 8) > 0 ? LB_EVF_EFFECTIVE : 0;
        is_free[resource] = left > is_free[resource] ? left : is_free[resource];
        now[log] = end;
        if (below(random, 40) == 0)
            note_warm(random, now, end + below(random, 3));
    }
    if (below(random, 4) == 0) { /* something is under way at the end */
        uint32_t log = below(random, CALM_LOGS);
        size_t n_missing = below(random, 4);
        history.n[log] -= n_missing < history.n[log] ? n_missing : 0;
    }
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
        logs[log] = (struct lb_log_view){
            .number = log, .n_spans = n, .spans = spans[log], .n_events = history.n[log]};
    }
}

static void judge(struct lb_judgement *ret, size_t n_logs)
{
    struct lb_error err = {0};
    struct lb_history_view view = {.logs = logs, .n_logs = n_logs, .meta = ""};
    for (size_t i = 0; i < n_logs; i++)
        view.n_events += logs[i].n_events;
    memset(ret, 0, sizeof *ret);
    if (lb_check(&view, &history.model, ret, &err) != 0)
        fail_msg("lb_check: %s", err.message);
}

static void both_ways_say_the_same(void **state)
{
    (void)state;
    static struct lb_judgement in_short, at_length;
    struct lb_random random;
    uint64_t seed = lb_test_seed(), n_held = 0, n_violated = 0;
    lb_random_init(&random, seed, 0);
    for (unsigned i = 0; i < 20000; i++) {
        generate(&random, i % 3 == 0 ? 0 : 4u << (i % 7));
        history.n[CALM_LOGS] = 0;
        add_op(&history, CALM_LOGS, LB_OP_CANCEL, 0, 0, LB_EV_OK, 0, 0, 0, 0);
        cut(&random);
        judge(&in_short, CALM_LOGS);
        judge(&at_length, CALM_LOGS + 1);
        if (memcmp(&in_short, &at_length, sizeof in_short) != 0) {
            print_history(&history);
            fail_msg("history %u of seed %llu is judged in two ways", i, (unsigned long long)seed);
        }
        n_held += in_short.findings[LB_G_EXCLUSIVE].verdict == LB_V_HELD;
        n_violated += in_short.findings[LB_G_EXCLUSIVE].verdict == LB_V_VIOLATED;
    }
    assert_true(n_held > 5000 && n_violated > 2000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_say_the_same),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
