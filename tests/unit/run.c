/* Runs on strategies that need no database: what the harness itself counts, times and sees. The
 * fake flows here test the harness's own arithmetic only.
 */
#include "run.h"
#include "random.h"
#include "worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "property.h"

static int fake_setup(struct lb_strategy_plan *plan, struct lb_session *session,
                      struct lb_error *err)
{
    (void)session;
    (void)err;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    plan->shared = &mutex;
    return LB_OK;
}

static int fake_open(struct lb_actor *actor, struct lb_error *err)
{
    (void)err;
    actor->state = NULL;
    return LB_OK;
}

static void fake_close(struct lb_actor *actor)
{
    (void)actor;
}

static int fake_teardown(struct lb_strategy_plan *plan, struct lb_session *session,
                         struct lb_error *err)
{
    (void)plan;
    (void)session;
    (void)err;
    return LB_OK;
}

static void nap(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&left, NULL);
}

/* 1 ms of service, and one stall of 500 ms half a second into the run. */
enum { STALL_MS = 500, SERVICE_US = 1000, RATE_PER_S = 200, SECONDS = 5 };
/* A run ends when its thread is woken, and more arrive until then. */
enum { ROOM = 2 * RATE_PER_S * SECONDS };

/* When each of its operations began and ended: an account of its own, beside the harness's. */
struct stall {
    bool done;
    size_t n;
    uint64_t start_ns[ROOM + 1], end_ns[ROOM + 1];
};

static struct stall the_stall;

static int stall_open(struct lb_actor *actor, struct lb_error *err)
{
    (void)err;
    memset(&the_stall, 0, sizeof the_stall);
    actor->state = &the_stall;
    return LB_OK;
}

static int stall_acquire(struct lb_actor *actor, const struct lb_request *request,
                         struct lb_grant *grant, struct lb_error *err)
{
    (void)request;
    (void)grant;
    (void)err;
    struct stall *stall = actor->state;
    size_t i = stall->n < ROOM ? stall->n++ : ROOM;
    stall->start_ns[i] = lb_now_ns();
    if (!stall->done && stall->start_ns[i] - stall->start_ns[0] > 1000000000u) {
        stall->done = true;
        nap(STALL_MS * UINT64_C(1000000));
    }
    nap(SERVICE_US * UINT64_C(1000));
    stall->end_ns[i] = lb_now_ns();
    return LB_OK;
}

static int fake_release(struct lb_actor *actor, const struct lb_request *request,
                        struct lb_grant *grant, struct lb_error *err)
{
    (void)actor;
    (void)request;
    (void)err;
    grant->effective = true;
    return LB_OK;
}

static int no_acquire(struct lb_actor *actor, const struct lb_request *request,
                      struct lb_grant *grant, struct lb_error *err)
{
    (void)actor;
    (void)request;
    (void)grant;
    (void)err;
    return LB_OK;
}

/* How many are in there; of all processes. */
static atomic_int *n_stuck;

/* Whatever happens, it stays in there. */
static int stuck_acquire(struct lb_actor *actor, const struct lb_request *request,
                         struct lb_grant *grant, struct lb_error *err)
{
    static volatile bool is_let_out;
    (void)actor;
    (void)request;
    (void)grant;
    (void)err;
    atomic_fetch_add(n_stuck, 1);
    while (!is_let_out)
        pause();
    return 0;
}

/* Of the run that is under way. */
static struct lb_stop the_stop;

/* Grants only when the run has stopped, which it does with this. */
static int late_acquire(struct lb_actor *actor, const struct lb_request *request,
                        struct lb_grant *grant, struct lb_error *err)
{
    (void)request;
    (void)grant;
    (void)err;
    struct lb_worker *worker =
        (struct lb_worker *)(void *)((char *)actor - offsetof(struct lb_worker, actor));
    atomic_store(&the_stop.requested, 1);
    lb_team_wait(worker->team, UINT64_MAX, LB_PHASE_STOP);
    return LB_OK;
}

static int mutex_acquire(struct lb_actor *actor, const struct lb_request *request,
                         struct lb_grant *grant, struct lb_error *err)
{
    (void)request;
    (void)grant;
    (void)err;
    pthread_mutex_lock(actor->plan->shared);
    return LB_OK;
}

static int mutex_release(struct lb_actor *actor, const struct lb_request *request,
                         struct lb_grant *grant, struct lb_error *err)
{
    (void)request;
    (void)err;
    grant->effective = true;
    pthread_mutex_unlock(actor->plan->shared);
    return LB_OK;
}

/* A lock that takes itself back at the first renewal. */
static int lent_renew(struct lb_actor *actor, const struct lb_request *request,
                      struct lb_grant *grant, struct lb_error *err)
{
    (void)request;
    (void)grant;
    (void)err;
    actor->state = actor; /* told */
    pthread_mutex_unlock(actor->plan->shared);
    return LB_REFUSED;
}

static int lent_release(struct lb_actor *actor, const struct lb_request *request,
                        struct lb_grant *grant, struct lb_error *err)
{
    if (actor->state == NULL)
        return mutex_release(actor, request, grant, err);
    actor->state = NULL;
    return LB_REFUSED;
}

static int broken_acquire(struct lb_actor *actor, const struct lb_request *request,
                          struct lb_grant *grant, struct lb_error *err)
{
    (void)actor;
    (void)request;
    (void)grant;
    return lb_fail(err, LB_E_SQL, "the statement is wrong");
}

typedef int lock_fn(struct lb_actor *actor, const struct lb_request *request,
                    struct lb_grant *grant, struct lb_error *err);
static const struct fake {
    lb_actor_fn *open;
    lock_fn *acquire, *release, *renew;
} fakes[] = {
    {stall_open, stall_acquire, fake_release, NULL},
    {fake_open, no_acquire, fake_release, NULL},
    {fake_open, mutex_acquire, mutex_release, NULL},
    {fake_open, broken_acquire, fake_release, NULL},
    {fake_open, mutex_acquire, lent_release, lent_renew},
    {fake_open, late_acquire, fake_release, NULL},
    {fake_open, stuck_acquire, fake_release, NULL},
};
enum which { STALL, OPEN_DOOR, MUTEX, BROKEN, LENT, LATE, STUCK };
static enum which current; /* of the run under way */

static int open_current(struct lb_actor *actor, struct lb_error *err)
{
    return fakes[current].open(actor, err);
}

static int lock_current(struct lb_actor *actor, enum lb_section_name section,
                        const struct lb_request *request, struct lb_grant *grant,
                        struct lb_error *err)
{
    const struct fake *fake = &fakes[current];
    lock_fn *does = section == LB_S_ACQUIRE ? fake->acquire
                    : section == LB_S_RENEW ? fake->renew
                                            : fake->release;
    return does(actor, request, grant, err);
}

static const struct lb_flow flow = {.setup = fake_setup,
                                    .open = open_current,
                                    .lock = lock_current,
                                    .close = fake_close,
                                    .teardown = fake_teardown};

/* Ends the run when this number of successes was measured and, if set, this number of overlaps was
 * seen. */
struct enough {
    uint64_t n_successes, n_overlaps;
    uint64_t n_before; /* of the warm-up, and until the first look */
    bool is_measured;
    bool in_the_judge; /* interrupts that, and not the run */
};

static void watch(void *arg, const struct lb_progress *progress)
{
    struct enough *enough = arg;
    if (n_stuck != NULL && atomic_load(n_stuck) == 2) /* both are in there */
        atomic_store(&the_stop.requested, 1);
    if (enough != NULL && enough->in_the_judge && strcmp(progress->phase, "checking") == 0)
        atomic_fetch_add(&the_stop.requested, 1);
    if (enough == NULL || enough->in_the_judge || strcmp(progress->phase, "running") != 0)
        return;
    if (!enough->is_measured)
        enough->n_before = progress->n_successes;
    enough->is_measured = true;
    if (progress->n_successes >= enough->n_before + enough->n_successes &&
        progress->n_overlaps >= enough->n_overlaps)
        atomic_store(&the_stop.requested, 1);
}

/* Runs a fake under "key value" pairs; NULL ends them. */
static int run_fake(enum which which, const char *const *pairs, struct enough *enough,
                    struct lb_outcome **ret_outcome, struct lb_error *err)
{
    struct lb_strategy strategy = {.name = "fake",
                                   .shape = LB_LOCK,
                                   .no_database = true,
                                   .claims = LB_G_BIT(LB_G_EXCLUSIVE),
                                   .operations = which == LENT ? 1u << LB_S_RENEW : 0,
                                   .flow = &flow};
    struct lb_scenario scenario;
    the_stop = (struct lb_stop){0};
    current = which;
    lb_scenario_init(&scenario);
    for (; pairs[0] != NULL; pairs += 2)
        assert_int_equal(lb_scenario_set(&scenario, pairs[0], pairs[1], err), 0);
    struct lb_run_plan plan = {
        .strategy = &strategy, .scenario = &scenario, .seed = 7, .record = true};
    return lb_run(&plan, &the_stop, watch, enough, ret_outcome, err);
}

static struct lb_outcome *run_until(enum which which, const char *const *pairs,
                                    struct enough *enough)
{
    struct lb_outcome *outcome = NULL;
    struct lb_error err = {0};
    if (run_fake(which, pairs, enough, &outcome, &err) != 0)
        fail_msg("%s", err.message);
    return outcome;
}

static struct lb_outcome *must_run(enum which which, const char *const *pairs)
{
    return run_until(which, pairs, NULL);
}

static double within(const struct lb_histogram *histogram, double q)
{
    return (double)lb_histogram_quantile(histogram, q) / 1e9;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Coordinated omission: arrivals that a stall kept waiting are in the response, from when they were
 * meant to start, and not in the service.
 *
 * Without noise, with arrivals at rate r, service time s and a stall of length S, the arrival x
 * after the stall's start is answered S - x (1 - r s) later: of n arrivals, quantile q is
 * S - (n (1 - q) / r)(1 - r s). A loaded machine only adds to that, so it is a lower bound.
 *
 * The values themselves are held between two accounts of the strategy's own: an operation ends
 * after the strategy returned and before it is called again. Both hold on any machine, however
 * long it takes between two readings of the clock. */
struct account {
    size_t n;
    uint64_t least_ns[ROOM], most_ns[ROOM];
};

/* Of the first n operations: responses to arrivals in even gaps from zero_ns, or services. */
static void take_account(struct account *account, size_t n, bool is_response, uint64_t zero_ns)
{
    const uint64_t gap_ns = 1000000000u / RATE_PER_S;
    account->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t intended_ns = zero_ns + i * gap_ns;
        uint64_t from_ns = is_response ? intended_ns : the_stall.start_ns[i];
        /* The service begins a little before the strategy is called: after the one before. */
        uint64_t before_ns = is_response ? intended_ns : i > 0 ? the_stall.end_ns[i - 1] : 0;
        uint64_t until_ns = i + 1 < the_stall.n ? the_stall.start_ns[i + 1] : UINT64_MAX / 2;
        account->least_ns[i] = the_stall.end_ns[i] - from_ns;
        account->most_ns[i] = until_ns - before_ns;
    }
    qsort(account->least_ns, n, sizeof *account->least_ns, compare_u64);
    qsort(account->most_ns, n, sizeof *account->most_ns, compare_u64);
}

/* The schedule's zero, estimated from the earliest start relative to its arrival: later than the
 * zero by the smallest of the delays. */
static uint64_t schedule_zero(size_t n)
{
    uint64_t zero_ns = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t this_ns = the_stall.start_ns[i] - i * (1000000000u / RATE_PER_S);
        zero_ns = this_ns < zero_ns ? this_ns : zero_ns;
    }
    return zero_ns;
}

static void assert_agrees(const struct lb_histogram *histogram, const struct account *account,
                          const char *name)
{
    const double least_delay = 0.01; /* see schedule_zero */
    for (int percent = 50; percent <= 99; percent += 7) {
        size_t rank = (account->n * (size_t)percent + 99) / 100 - 1;
        double least = (double)account->least_ns[rank] / 1e9;
        double most = (double)account->most_ns[rank] / 1e9;
        double measured = within(histogram, percent / 100.0);
        print_message("# p%d: %s %.4f s, by the strategy's account %.4f to %.4f\n", percent, name,
                      measured, least, most);
        assert_true(measured > least * 0.996); /* the bucket's error */
        assert_true(measured < most * 1.004 + least_delay);
    }
}

/* True if enough arrivals were answered to see the stall, in turn and none skipped. A late start of
 * the harness does not matter here: both accounts include it. */
static bool can_tell(const struct lb_outcome *outcome)
{
    enum { ENOUGH = 300 };
    return (outcome->state == LB_RUN_COMPLETE || outcome->state == LB_RUN_INVALID) &&
           the_stall.done && outcome->counts[LB_M_ACQUIRE].skipped == 0 &&
           outcome->response[LB_M_ACQUIRE]->count >= ENOUGH &&
           outcome->response[LB_M_ACQUIRE]->count < ROOM;
}

static void a_stall_is_in_the_response_not_in_the_service(void **state)
{
    (void)state;
    struct lb_outcome *outcome = NULL;
    for (unsigned tries = 1;; tries++) {
        lb_outcome_free(outcome);
        outcome =
            must_run(STALL, (const char *[]){"workers", "1", "resources", "1", "hold", "0", "rate",
                                             "200/s", "duration", "5s", "warmup", "0", NULL});
        if (can_tell(outcome) || tries == LB_TEST_MOST_TRIES) {
            lb_test_count_tries(tries, can_tell(outcome));
            break;
        }
        print_message("# again: %s\n", outcome->reason);
    }
    /* Not skip(), which prints "not ok" in TAP. */
    if (!can_tell(outcome)) {
        lb_outcome_free(outcome);
        print_message("# not tested: in three runs this machine was too busy to tell\n");
        return;
    }
    const struct lb_histogram *response = outcome->response[LB_M_ACQUIRE];
    const struct lb_histogram *service = outcome->service[LB_M_ACQUIRE];
    size_t n = (size_t)response->count;
    assert_true(n <= the_stall.n);
    static struct account account;
    take_account(&account, n, true, schedule_zero(n));
    assert_agrees(response, &account, "response");
    take_account(&account, n, false, 0);
    assert_agrees(service, &account, "service");
    for (int percent = 50; percent <= 99; percent += 7) {
        double formula = STALL_MS / 1e3 - (double)n * (100 - percent) / 100.0 / RATE_PER_S *
                                              (1 - RATE_PER_S * SERVICE_US / 1e6);
        /* The stall may begin anywhere between two arrivals. */
        assert_true(within(response, percent / 100.0) > formula * 0.996 - 1.0 / RATE_PER_S);
    }
    assert_true(service->max >= STALL_MS * UINT64_C(1000000));
    /* The seconds tell responses too: of that of the stall more than half waited. A p99 of 200
     * values is none. */
    uint64_t highest_ns = 0;
    for (size_t i = 0; i < outcome->n_intervals; i++) {
        const struct lb_interval *interval = &outcome->intervals[i];
        highest_ns = interval->p50_ns > highest_ns ? interval->p50_ns : highest_ns;
        if (interval->n_successes < 900)
            assert_int_equal(interval->p99_ns, 0);
    }
    assert_true(highest_ns > 20000000);
    const struct lb_counts *counts = &outcome->counts[LB_M_ACQUIRE];
    assert_int_equal(counts->planned, counts->started + counts->skipped);
    lb_outcome_free(outcome);
}

static void what_cannot_wait_is_skipped_and_counted(void **state)
{
    (void)state;
    struct lb_outcome *outcome = must_run(
        STALL, (const char *[]){"workers", "1", "hold", "0", "rate", "2k/s", "max-pending", "50",
                                "count", "500", "duration", "10m", "warmup", "0", NULL});
    const struct lb_counts *counts = &outcome->counts[LB_M_ACQUIRE];
    /* 500 services of 1 ms take half a second at least, in which 1000 arrive. */
    assert_true(counts->skipped > 400);
    assert_int_equal(counts->planned, counts->started + counts->skipped);
    /* Nobody waits behind more than 50 others and the one that is served, and then is served. */
    uint64_t longest_ns = 0;
    for (size_t i = 1; i < the_stall.n; i++) {
        uint64_t ns = the_stall.start_ns[i] - the_stall.start_ns[i - 1];
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    assert_int_equal(the_stall.n, 500);
    assert_true(lb_histogram_quantile(outcome->response[LB_M_ACQUIRE], 0.5) < 55 * longest_ns);
    lb_outcome_free(outcome);
}

/* The run may end between the arrival that a worker has taken and its operation, and does for one
 * of n arrivals in 19 of 20 runs: that arrival was neither planned nor begun. */
static void what_is_taken_at_the_end_is_not_planned(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        must_run(OPEN_DOOR, (const char *[]){"workers", "400", "hold", "0", "rate", "2M/s",
                                             "duration", "20ms", "warmup", "0", NULL});
    const struct lb_counts *counts = &outcome->counts[LB_M_ACQUIRE];
    assert_int_equal(counts->planned, counts->started + counts->skipped);
    lb_outcome_free(outcome);
}

/* Of a burst all are due at one instant: as many as may wait are served, not none. */
static void a_burst_waits_as_far_as_it_may(void **state)
{
    (void)state;
    /* The worker ends after 100; were fewer let wait, it would wait for more, which do not come. */
    struct lb_outcome *outcome =
        must_run(MUTEX, (const char *[]){"workers", "1", "hold", "0", "rate",
                                         "phases:burst:150,pause@1000s", "max-pending", "100",
                                         "count", "100", "duration", "60s", "warmup", "0", NULL});
    const struct lb_counts *counts = &outcome->counts[LB_M_ACQUIRE];
    assert_int_equal(counts->started, 100);
    assert_in_range(counts->skipped, 40, 60);
    lb_outcome_free(outcome);
}

/* Arrivals that come faster than they can be skipped: nothing is begun, and that is no measurement.
 */
static void a_generator_that_only_skips_is_invalid(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        must_run(MUTEX, (const char *[]){"workers", "1", "hold", "0", "rate", "100M/s", "duration",
                                         "300ms", "warmup", "0", NULL});
    if (outcome->counts[LB_M_ACQUIRE].planned >
        0) { /* else the worker was not run in all that time */
        assert_int_equal(outcome->state, LB_RUN_INVALID);
        assert_non_null(strstr(outcome->reason, "the generator fell behind"));
    }
    lb_outcome_free(outcome);
}

/* One in four, not by chance; alone, each waits for a successor until two more leases are over. */
static void overruns_come_evenly(void **state)
{
    (void)state;
    enum { TTL_MS = 1000 };
    struct lb_outcome *outcome = must_run(
        OPEN_DOOR, (const char *[]){"workers", "1", "hold", "0", "ttl", "1s", "overrun", "0.25",
                                    "count", "8", "duration", "0", "warmup", "0", NULL});
    const struct lb_histogram *holds = outcome->service[LB_M_HOLD];
    assert_int_equal(holds->count, 8);
    assert_true(lb_histogram_quantile(holds, 6.0 / 8) < TTL_MS * UINT64_C(1000000));
    assert_true(lb_histogram_quantile(holds, 7.0 / 8) >= 2 * TTL_MS * UINT64_C(1000000));
    lb_outcome_free(outcome);
}

static void an_open_door_is_seen_by_all_witnesses(void **state)
{
    (void)state;
    static const char *const modes[] = {"0", "2"};
    /* So many that their holds take longer than the run, also one that began slowly. */
    for (size_t i = 0; i < 2; i++) {
        struct lb_outcome *outcome =
            run_until(OPEN_DOOR,
                      (const char *[]){"workers", "4", "processes", modes[i], "hold", "1ms",
                                       "duration", "10m", "warmup", "0", NULL},
                      &(struct enough){.n_successes = 1000, .n_overlaps = 500});
        const struct lb_finding *exclusive = &outcome->judgement.findings[LB_G_EXCLUSIVE];
        assert_int_equal(exclusive->verdict, LB_V_VIOLATED);
        assert_true(exclusive->n_violations > 10);
        assert_true(outcome->live.n_overlaps > 10);
        assert_true(outcome->live.n_lost_updates > 10);
        assert_true(outcome->live.hold_sum_exceeds);
        assert_true(outcome->witnesses_agree);
        lb_outcome_free(outcome);
    }
}

static void a_mutex_holds(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        run_until(MUTEX,
                  (const char *[]){"workers", "4", "hold", "100us", "duration", "10m", "warmup",
                                   "50ms", NULL},
                  &(struct enough){.n_successes = 100});
    assert_int_equal(outcome->judgement.findings[LB_G_EXCLUSIVE].verdict, LB_V_HELD);
    assert_int_equal(outcome->live.n_overlaps, 0);
    assert_int_equal(outcome->live.n_lost_updates, 0);
    assert_false(outcome->live.hold_sum_exceeds);
    assert_true(outcome->counts[LB_M_ACQUIRE].succeeded > 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < outcome->n_workers; i++)
        sum += outcome->worker_successes[i];
    assert_int_equal(sum, outcome->counts[LB_M_ACQUIRE].succeeded);
    lb_outcome_free(outcome);
}

static void what_is_granted_after_the_measured_part_is_not_held(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        must_run(LATE, (const char *[]){"workers", "1", "duration", "10m", "warmup", "0", NULL});
    const struct lb_finding *finding = &outcome->judgement.findings[LB_G_EXCLUSIVE];
    assert_int_equal(outcome->judgement.measures.n_holds, 1);
    assert_int_equal(outcome->counts[LB_M_ACQUIRE].succeeded, 0);
    assert_int_equal(finding->verdict, LB_V_NOT_TESTED);
    assert_non_null(strstr(finding->reason, "nothing was granted in the measured part"));
    lb_outcome_free(outcome);
}

static void who_is_told_that_the_lock_is_gone_lets_go(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        must_run(LENT, (const char *[]){"workers", "2", "hold", "20ms", "renew", "2ms", "count",
                                        "8", "duration", "0", "warmup", "0", NULL});
    assert_int_equal(outcome->judgement.findings[LB_G_EXCLUSIVE].verdict, LB_V_HELD);
    assert_int_equal(outcome->live.n_overlaps, 0);
    assert_true(outcome->witnesses_agree);
    lb_outcome_free(outcome);
}

static void a_killed_holder_is_buried_and_replaced(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        must_run(OPEN_DOOR, (const char *[]){"workers", "2", "hold", "2ms", "think", "2ms", "fault",
                                             "kill", "fault-interval", "30ms", "fault-count", "5",
                                             "duration", "0", "warmup", "0", NULL});
    assert_int_equal(outcome->n_faults, 5);
    assert_int_equal(outcome->judgement.measures.n_deaths, outcome->n_faults);
    assert_true(outcome->witnesses_agree);
    lb_outcome_free(outcome);
}

/* All workers there were are dead when their successors are only just made. */
static void the_only_worker_is_replaced_as_well(void **state)
{
    (void)state;
    struct lb_outcome *outcome =
        must_run(OPEN_DOOR, (const char *[]){"workers", "1", "hold", "2ms", "fault", "kill",
                                             "fault-interval", "20ms", "fault-count", "3",
                                             "duration", "0", "warmup", "0", NULL});
    assert_int_equal(outcome->n_faults, 3);
    lb_outcome_free(outcome);
}

static void a_rejected_statement_ends_the_run_with_its_reason(void **state)
{
    (void)state;
    struct lb_outcome *outcome = NULL;
    struct lb_error err = {0};
    int rc =
        run_fake(BROKEN, (const char *[]){"workers", "3", "duration", "10s", "warmup", "0", NULL},
                 NULL, &outcome, &err);
    assert_int_equal(rc, LB_E_SQL);
    assert_string_equal(err.message, "the statement is wrong");
    assert_null(outcome);
}

/* --- killed, and by whom --- */

static bool is_warned(const struct lb_outcome *outcome, const char *words)
{
    for (size_t i = 0; i < outcome->n_warnings; i++)
        if (strstr(outcome->warnings[i], words) != NULL)
            return true;
    return false;
}

static void who_does_not_end_is_killed_by_the_run(void **state)
{
    (void)state;
    n_stuck =
        mmap(NULL, sizeof *n_stuck, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(n_stuck, MAP_FAILED);
    struct lb_outcome *outcome =
        must_run(STUCK, (const char *const[]){"workers", "2", "processes", "2", "resources", "2",
                                              "duration", "10m", "warmup", "0", NULL});
    munmap(n_stuck, sizeof *n_stuck);
    n_stuck = NULL;
    assert_true(is_warned(outcome, "the process of worker 0 did not end with the run, nor those of "
                                   "1 others, and was killed"));
    assert_false(is_warned(outcome, "not by this run"));
    lb_outcome_free(outcome);
}

/* --- interrupted while it is judged --- */

static void who_interrupts_the_judge_keeps_the_numbers(void **state)
{
    (void)state;
    struct lb_outcome *outcome = run_until(
        MUTEX,
        (const char *const[]){"workers", "2", "count", "20", "duration", "0", "warmup", "0", NULL},
        &(struct enough){.in_the_judge = true});
    const struct lb_finding *finding = &outcome->judgement.findings[LB_G_EXCLUSIVE];
    assert_int_equal(finding->verdict, LB_V_NOT_TESTED);
    assert_string_equal(finding->reason, "interrupted while the history was judged");
    assert_true(outcome->witnesses_agree);
    assert_true(outcome->counts[LB_M_ACQUIRE].succeeded > 0);
    lb_outcome_free(outcome);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stall_is_in_the_response_not_in_the_service),
        cmocka_unit_test(what_cannot_wait_is_skipped_and_counted),
        cmocka_unit_test(what_is_taken_at_the_end_is_not_planned),
        cmocka_unit_test(a_burst_waits_as_far_as_it_may),
        cmocka_unit_test(a_generator_that_only_skips_is_invalid),
        cmocka_unit_test(overruns_come_evenly),
        cmocka_unit_test(an_open_door_is_seen_by_all_witnesses),
        cmocka_unit_test(a_mutex_holds),
        cmocka_unit_test(what_is_granted_after_the_measured_part_is_not_held),
        cmocka_unit_test(who_is_told_that_the_lock_is_gone_lets_go),
        cmocka_unit_test(a_killed_holder_is_buried_and_replaced),
        cmocka_unit_test(the_only_worker_is_replaced_as_well),
        cmocka_unit_test(a_rejected_statement_ends_the_run_with_its_reason),
        cmocka_unit_test(who_does_not_end_is_killed_by_the_run),
        cmocka_unit_test(who_interrupts_the_judge_keeps_the_numbers),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
