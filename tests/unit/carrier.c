/* Carriers: deadlines in order, sockets, edges that arrive while no fiber waits, answers larger
 * than one read, signals. No test checks a duration.
 */
#include "carrier.h"
#include "clock.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static struct lb_carrier *make(uint32_t room)
{
    struct lb_carrier *carrier = NULL;
    struct lb_error err;
    assert_int_equal(lb_carrier_new(room, &carrier, &err), 0);
    return carrier;
}

static void add(struct lb_carrier *carrier, void (*work)(void *), void *arg)
{
    struct lb_error err;
    assert_int_equal(lb_carrier_add(carrier, work, arg, &err), 0);
}

static void start(struct lb_carrier *carrier)
{
    struct lb_error err;
    assert_int_equal(lb_carrier_start(carrier, &err), 0);
}

static void end(struct lb_carrier *carrier)
{
    lb_carrier_join(carrier);
    lb_carrier_free(carrier);
}

/* --- deadlines --- */

enum { SLEEPERS = 300 };

struct sleeper {
    uint64_t until_ns, begun_ns, woken_ns;
    unsigned *n_woken;
    unsigned place;
};

static void sleep_once(void *arg)
{
    struct sleeper *sleeper = arg;
    assert_true(lb_carrier_is_here());
    sleeper->begun_ns = lb_now_ns();
    lb_carrier_sleep(sleeper->until_ns);
    sleeper->woken_ns = lb_now_ns();
    sleeper->place = (*sleeper->n_woken)++;
}

/* True if every fiber that was started after this one began before this one's deadline: it slept
 * until then. */
static bool slept(const struct sleeper *sleepers, unsigned i)
{
    return i + 1 < SLEEPERS && sleepers[i + 1].begun_ns < sleepers[i].until_ns;
}

static void sleepers_wake_in_order(void **state)
{
    (void)state;
    struct sleeper sleepers[SLEEPERS];
    unsigned n_woken = 0;
    struct lb_carrier *carrier = make(SLEEPERS);
    uint64_t now_ns = lb_now_ns();
    for (unsigned i = 0; i < SLEEPERS; i++) {
        /* 7 generates the numbers below the prime 1009: deadlines in no order, each its own */
        sleepers[i] = (struct sleeper){.until_ns = now_ns + (i * 7919u % 1009u) * MS / 20 + 20 * MS,
                                       .n_woken = &n_woken};
        add(carrier, sleep_once, &sleepers[i]);
    }
    start(carrier);
    end(carrier);
    assert_int_equal(n_woken, SLEEPERS);
    for (unsigned i = 0; i < SLEEPERS; i++) {
        assert_true(sleepers[i].woken_ns >= sleepers[i].until_ns);
        for (unsigned k = 0; k < SLEEPERS; k++)
            assert_true(sleepers[i].until_ns >= sleepers[k].until_ns ||
                        sleepers[i].place < sleepers[k].place || !slept(sleepers, i) ||
                        !slept(sleepers, k));
    }
}

static void a_thread_can_sleep_too(void **state)
{
    (void)state;
    uint64_t until_ns = lb_now_ns() + MS;
    assert_false(lb_carrier_is_here());
    lb_carrier_sleep(until_ns);
    assert_true(lb_now_ns() >= until_ns);
}

/* --- sockets --- */

struct end {
    int fd;
    struct lb_watch watch;
    size_t n_bytes, n_done;
    bool begins, in_time;
};

static void open_pair(struct end *a, struct end *b)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    *a = (struct end){.fd = fds[0]};
    *b = (struct end){.fd = fds[1]};
}

static void close_pair(struct end *a, struct end *b)
{
    close(a->fd);
    close(b->fd);
}

/* Reads some bytes; waits only when there are none, as libpq's user must. */
static size_t read_some(struct end *end, char *bytes, size_t size)
{
    for (;;) {
        ssize_t n = read(end->fd, bytes, size);
        if (n >= 0)
            return (size_t)n;
        assert_int_equal(errno, EAGAIN);
        assert_true(lb_carrier_wait_readable(&end->watch, end->fd, UINT64_MAX));
    }
}

static void play_ping_pong(void *arg)
{
    struct end *end = arg;
    char ball = 'x';
    for (size_t i = 0; i < end->n_bytes; i++) {
        if (end->begins)
            assert_int_equal(write(end->fd, &ball, 1), 1);
        assert_int_equal(read_some(end, &ball, 1), 1);
        if (!end->begins)
            assert_int_equal(write(end->fd, &ball, 1), 1);
        end->n_done++;
    }
}

/* Both players of a pair are of one carrier, which must never wait for one of them alone. */
static void many_sockets_share_a_carrier(void **state)
{
    (void)state;
    enum { PAIRS = 200, ROUNDS = 50 };
    struct end *ends = calloc(2 * PAIRS, sizeof *ends);
    assert_non_null(ends);
    struct lb_carrier *carrier = make(2 * PAIRS);
    for (size_t i = 0; i < PAIRS; i++) {
        open_pair(&ends[2 * i], &ends[2 * i + 1]);
        ends[2 * i].begins = true;
        for (size_t k = 0; k < 2; k++) {
            ends[2 * i + k].n_bytes = ROUNDS;
            add(carrier, play_ping_pong, &ends[2 * i + k]);
        }
    }
    start(carrier);
    end(carrier);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_int_equal(ends[2 * i].n_done, ROUNDS);
        close_pair(&ends[2 * i], &ends[2 * i + 1]);
    }
    free(ends);
}

static void wait_in_vain_then_read(void *arg)
{
    struct end *end = arg;
    char bytes[4];
    end->in_time = lb_carrier_wait_readable(&end->watch, end->fd, lb_now_ns() + MS);
    lb_carrier_sleep(lb_now_ns() + 5 * MS); /* data that arrives meanwhile must not be lost */
    assert_true(lb_carrier_wait_readable(&end->watch, end->fd, UINT64_MAX));
    end->n_done = read_some(end, bytes, sizeof bytes);
}

static void write_after_a_while(void *arg)
{
    struct end *end = arg;
    lb_carrier_sleep(lb_now_ns() + 3 * MS);
    assert_int_equal(write(end->fd, "abc", 3), 3);
}

static void an_edge_is_remembered(void **state)
{
    (void)state;
    struct end a, b;
    open_pair(&a, &b);
    struct lb_carrier *carrier = make(2);
    add(carrier, wait_in_vain_then_read, &a);
    add(carrier, write_after_a_while, &b);
    start(carrier);
    end(carrier);
    assert_int_equal(a.n_done, 3);
    close_pair(&a, &b);
}

static void wait_past_the_deadline(void *arg)
{
    struct end *end = arg;
    uint64_t deadline_ns = lb_now_ns() + MS;
    end->in_time = lb_carrier_wait_readable(&end->watch, end->fd, deadline_ns);
    assert_true(lb_now_ns() >= deadline_ns);
    end->in_time = end->in_time || lb_carrier_wait_once(end->fd, false, lb_now_ns() + MS);
}

static void waits_end_at_their_deadline(void **state)
{
    (void)state;
    struct end a, b;
    open_pair(&a, &b);
    a.in_time = true;
    struct lb_carrier *carrier = make(1);
    add(carrier, wait_past_the_deadline, &a);
    start(carrier);
    end(carrier);
    assert_false(a.in_time);
    close_pair(&a, &b);
}

static void read_until_closed(void *arg)
{
    struct end *end = arg;
    char bytes[1000];
    size_t n;
    while ((n = read_some(end, bytes, sizeof bytes)) > 0)
        end->n_done += n;
}

static void write_all_and_close(void *arg)
{
    struct end *end = arg;
    char bytes[5000] = {0};
    while (end->n_done < end->n_bytes) {
        ssize_t n = write(end->fd, bytes, sizeof bytes);
        if (n < 0)
            assert_true(lb_carrier_wait_once(end->fd, true, UINT64_MAX));
        else
            end->n_done += (size_t)n;
    }
    close(end->fd);
    end->fd = -1;
}

static void a_stream_and_its_end_arrive(void **state)
{
    (void)state;
    struct end a, b;
    open_pair(&a, &b);
    b.n_bytes = 2000000;
    struct lb_carrier *carrier = make(2);
    add(carrier, read_until_closed, &a);
    add(carrier, write_all_and_close, &b);
    start(carrier);
    end(carrier);
    assert_int_equal(a.n_done, b.n_done);
    close(a.fd);
}

static void read_slowly(void *arg)
{
    struct end *end = arg;
    char byte;
    lb_carrier_sleep(lb_now_ns() + MS); /* all that will come has come, in one edge */
    while (lb_carrier_wait_readable(&end->watch, end->fd, UINT64_MAX) &&
           read(end->fd, &byte, 1) == 1)
        end->n_done++;
}

static void write_and_close(void *arg)
{
    struct end *end = arg;
    assert_int_equal(write(end->fd, "abc", 3), 3);
    close(end->fd);
}

static void wait_in_vain(void *arg)
{
    struct end *end = arg;
    end->in_time = lb_carrier_wait_readable(&end->watch, end->fd, lb_now_ns());
}

/* As of a server that says why it ends the connection, and ends it. */
static void an_end_behind_data_is_seen(void **state)
{
    (void)state;
    struct end a, b;
    open_pair(&a, &b);
    struct lb_carrier *carrier = make(3);
    add(carrier, wait_in_vain, &a); /* the socket is watched from now on */
    add(carrier, read_slowly, &a);
    add(carrier, write_and_close, &b);
    start(carrier);
    end(carrier);
    assert_int_equal(a.n_done, 3);
    close(a.fd);
}

/* --- signals --- */

struct news {
    struct lb_carrier *carrier;
    atomic_int number;
    atomic_uint n_waiting;
    unsigned n_heard;
};

static void wait_for_news(void *arg)
{
    struct news *news = arg;
    atomic_fetch_add(&news->n_waiting, 1);
    while (atomic_load(&news->number) == 0)
        lb_carrier_wait_signal(UINT64_MAX);
    news->n_heard++;
}

static void wait_for_none(void *arg)
{
    struct news *news = arg;
    lb_carrier_wait_signal(lb_now_ns() + MS);
    news->n_heard++;
}

static void a_signal_wakes_all_who_wait_for_it(void **state)
{
    (void)state;
    enum { N = 100 };
    struct news news = {.carrier = make(N)};
    for (unsigned i = 0; i < N; i++)
        add(news.carrier, wait_for_news, &news);
    start(news.carrier);
    while (atomic_load(&news.n_waiting) < N / 2) /* some wait, some are still to look */
        sched_yield();
    atomic_store(&news.number, 1);
    lb_carrier_signal(news.carrier);
    end(news.carrier);
    assert_int_equal(news.n_heard, N);
}

static void a_wait_for_a_signal_can_end_without(void **state)
{
    (void)state;
    struct news news = {.carrier = make(1)};
    add(news.carrier, wait_for_none, &news);
    start(news.carrier);
    end(news.carrier);
    assert_int_equal(news.n_heard, 1);
}

static void a_carrier_need_not_start(void **state)
{
    (void)state;
    struct news news = {0};
    struct lb_carrier *carrier = make(2);
    add(carrier, wait_for_news, &news);
    lb_carrier_join(carrier);
    lb_carrier_free(carrier);
    lb_carrier_free(NULL);
    assert_int_equal(atomic_load(&news.n_waiting), 0);
}

/* --- driven by hand --- */

struct dancer {
    struct end *end;
    unsigned n_steps, n_bytes;
};

/* A step each time it is let go; in the second it waits for a byte. */
static void dance(void *arg)
{
    struct dancer *dancer = arg;
    char byte;
    for (;;) {
        lb_carrier_stand();
        if (++dancer->n_steps == 2) {
            lb_carrier_wait_readable(&dancer->end->watch, dancer->end->fd, UINT64_MAX);
            dancer->n_bytes += read(dancer->end->fd, &byte, 1) == 1;
        }
    }
}

static void fibers_go_on_when_let_go(void **state)
{
    (void)state;
    struct end near, far;
    open_pair(&near, &far);
    struct dancer dancers[2] = {{.end = &near}, {.end = &near}};
    struct lb_carrier *carrier = make(2);
    add(carrier, dance, &dancers[0]);
    add(carrier, dance, &dancers[1]);
    assert_true(lb_carrier_turn(carrier, UINT64_MAX)); /* both take their stand */
    assert_int_equal(dancers[0].n_steps + dancers[1].n_steps, 0);
    assert_false(lb_carrier_turn(carrier, 0)); /* no fiber is released */
    lb_carrier_let_go(carrier, 1);
    assert_true(lb_carrier_turn(carrier, UINT64_MAX));
    assert_int_equal(dancers[0].n_steps, 0);
    assert_int_equal(dancers[1].n_steps, 1);
    lb_carrier_let_go(carrier, 1);
    assert_true(lb_carrier_turn(carrier, UINT64_MAX)); /* it waits for its byte */
    assert_false(lb_carrier_turn(carrier, lb_now_ns() + MS));
    assert_int_equal(dancers[1].n_steps, 2);
    lb_carrier_let_go(carrier, 0); /* while the other waits */
    assert_true(lb_carrier_turn(carrier, UINT64_MAX));
    assert_int_equal(dancers[0].n_steps, 1);
    assert_int_equal(write(far.fd, "x", 1), 1);
    assert_true(lb_carrier_turn(carrier, UINT64_MAX));
    assert_int_equal(dancers[1].n_bytes, 1);
    assert_false(lb_carrier_is_here());
    lb_carrier_free(carrier); /* they stand for ever */
    close_pair(&near, &far);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleepers_wake_in_order),
        cmocka_unit_test(a_thread_can_sleep_too),
        cmocka_unit_test(many_sockets_share_a_carrier),
        cmocka_unit_test(an_edge_is_remembered),
        cmocka_unit_test(waits_end_at_their_deadline),
        cmocka_unit_test(a_stream_and_its_end_arrive),
        cmocka_unit_test(an_end_behind_data_is_seen),
        cmocka_unit_test(a_signal_wakes_all_who_wait_for_it),
        cmocka_unit_test(a_wait_for_a_signal_can_end_without),
        cmocka_unit_test(a_carrier_need_not_start),
        cmocka_unit_test(fibers_go_on_when_let_go),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
