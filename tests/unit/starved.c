/* Since when was a worker not run? What is not noted accuses a right strategy. */
#include "starved.h"

#include "stops.h"
#include "worker.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FORKED 100
#define LOOKED 200
#define NOW    900

static struct lb_stops fresh(void)
{
    return (struct lb_stops){.looked_ns = FORKED};
}

/* A rescuer, stopped as soon as it was there. */
static void stopped_before_the_first_look(void **state)
{
    (void)state;
    struct lb_stops stops = fresh();
    assert_int_equal(lb_stops_look(&stops, LOOKED, LB_STOP_STOPPED, false), 0);
    assert_int_equal(lb_stops_look(&stops, LOOKED + 1, LB_STOP_SAME, false), 0);
    assert_int_equal(lb_stops_look(&stops, NOW, LB_STOP_CONTINUED, false), FORKED);
    assert_int_equal(lb_stops_look(&stops, NOW + 1, LB_STOP_ENDED, false), 0);
}

/* The observer was late itself. */
static void stopped_and_continued_between_two_looks(void **state)
{
    (void)state;
    struct lb_stops stops = fresh();
    assert_int_equal(lb_stops_look(&stops, LOOKED, LB_STOP_SAME, false), 0);
    assert_int_equal(lb_stops_look(&stops, NOW, LB_STOP_CONTINUED, false), LOOKED);
}

static void stopped_again_before_it_was_seen_to_go_on(void **state)
{
    (void)state;
    struct lb_stops stops = fresh();
    lb_stops_look(&stops, LOOKED, LB_STOP_STOPPED, false);
    lb_stops_look(&stops, LOOKED + 100, LB_STOP_STOPPED, false);
    assert_int_equal(lb_stops_look(&stops, NOW, LB_STOP_CONTINUED, false), FORKED);
}

static void killed_while_it_was_stopped(void **state)
{
    (void)state;
    struct lb_stops stops = fresh();
    lb_stops_look(&stops, LOOKED, LB_STOP_SAME, false);
    lb_stops_look(&stops, LOOKED + 100, LB_STOP_STOPPED, false);
    assert_int_equal(lb_stops_look(&stops, NOW, LB_STOP_ENDED, false), LOOKED);
    assert_int_equal(stops.stopped_ns, 0);
}

/* A fault's stop is a part of the run, seen or not, and only that one is. */
static void stopped_by_a_fault(void **state)
{
    (void)state;
    struct lb_stops stops = fresh();
    assert_int_equal(lb_stops_look(&stops, LOOKED, LB_STOP_STOPPED, true), 0);
    stops.is_resumed = true;
    assert_int_equal(lb_stops_look(&stops, LOOKED + 100, LB_STOP_CONTINUED, false), 0);
    stops.is_resumed = true; /* the stop itself was not seen */
    assert_int_equal(lb_stops_look(&stops, LOOKED + 200, LB_STOP_CONTINUED, false), 0);
    assert_int_equal(lb_stops_look(&stops, LOOKED + 300, LB_STOP_CONTINUED, true), 0);
    assert_int_equal(lb_stops_look(&stops, LOOKED + 400, LB_STOP_SAME, false), 0);
    assert_int_equal(lb_stops_look(&stops, NOW, LB_STOP_CONTINUED, false), LOOKED + 400);
}

/* Its own thread reports it first, with a shorter time: the note covers both. */
static void the_earliest_start_is_kept(void **state)
{
    (void)state;
    struct lb_scenario scenario;
    lb_scenario_init(&scenario);
    struct lb_team team = {.scenario = &scenario};
    struct lb_worker worker = {.team = &team};
    lb_worker_starved(&worker, LOOKED);
    lb_worker_starved(&worker, FORKED);
    lb_worker_starved(&worker, NOW);
    assert_int_equal(atomic_load(&worker.starved_since_ns), FORKED);
}

/* How long this thread has been ready without a processor; 0: the system does not say. */
static unsigned long long delay_ns(void)
{
    unsigned long long run = 0, delayed = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file != NULL && fscanf(file, "%llu %llu", &run, &delayed) != 2)
        delayed = 0;
    if (file != NULL)
        fclose(file);
    return delayed;
}

/* Waits, on one processor with a rival, until this thread has lost this much CPU; false: it never
 * does.
 */
static bool starve(unsigned long long lost_ns)
{
    enum { MINUTES = 3 };
    unsigned long long before = delay_ns();
    uint64_t end_ns = lb_now_ns() + MINUTES * UINT64_C(60000000000);
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t rival = fork();
    if (rival == 0)
        alarm(2 * MINUTES * 60); /* in case it is not ended */
    while (rival == 0)
        continue;
    while (rival > 0 && delay_ns() - before < lost_ns && lb_now_ns() < end_ns)
        continue;
    if (rival > 0) {
        kill(rival, SIGKILL);
        waitpid(rival, NULL, 0);
    }
    sched_setaffinity(0, sizeof all, &all);
    return delay_ns() - before >= lost_ns;
}

/* What a thread loses before its first operation is noted, if it was looked at when it began. */
static void starved_before_the_first_operation(void **state)
{
    (void)state;
    struct lb_scenario scenario;
    lb_scenario_init(&scenario);
    struct lb_team team = {.scenario = &scenario};
    struct lb_worker looked_at = {.team = &team}, other = {.team = &team};
    uint64_t begun_ns = lb_now_ns();
    lb_worker_look_at(&looked_at, begun_ns);
    if (!starve(60000000)) {
        print_message("# the system does not say how long a thread waited for a processor\n");
        return;
    }
    looked_at.op.end_ns = other.op.end_ns = lb_now_ns();
    lb_worker_look(&looked_at);
    lb_worker_look(&other);
    assert_int_equal(atomic_load(&other.starved_since_ns), 0); /* it may all be from before it */
    uint64_t since_ns = atomic_load(&looked_at.starved_since_ns);
    assert_true(since_ns >= begun_ns && since_ns < looked_at.op.end_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_before_the_first_look),
        cmocka_unit_test(stopped_and_continued_between_two_looks),
        cmocka_unit_test(stopped_again_before_it_was_seen_to_go_on),
        cmocka_unit_test(killed_while_it_was_stopped),
        cmocka_unit_test(stopped_by_a_fault),
        cmocka_unit_test(the_earliest_start_is_kept),
        cmocka_unit_test(starved_before_the_first_operation),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
