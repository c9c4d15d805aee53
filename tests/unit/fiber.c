/* Fibers: order of running, nesting, stacks, errno, freeing before the end, threads. */
#include "fiber.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct trace {
    char text[200];
};

static struct lb_fiber *make(void (*work)(void *), void *arg)
{
    struct lb_fiber *fiber = NULL;
    struct lb_error err;
    assert_int_equal(lb_fiber_new(work, arg, &fiber, &err), 0);
    return fiber;
}

struct step {
    struct trace *trace;
    char letter;
    int rounds;
};

static void write_letter(struct step *step)
{
    size_t n = strlen(step->trace->text);
    step->trace->text[n] = step->letter;
    step->trace->text[n + 1] = '\0';
}

static void take_turns(void *arg)
{
    struct step *step = arg;
    for (int i = 0; i < step->rounds; i++) {
        write_letter(step);
        lb_fiber_yield();
    }
}

static void fibers_run_when_resumed(void **state)
{
    (void)state;
    struct trace trace = {0};
    struct step a = {.trace = &trace, .letter = 'a', .rounds = 3};
    struct step b = {.trace = &trace, .letter = 'b', .rounds = 1};
    struct lb_fiber *fa = make(take_turns, &a), *fb = make(take_turns, &b);
    assert_string_equal(trace.text, "");
    lb_fiber_resume(fa);
    lb_fiber_resume(fb);
    lb_fiber_resume(fa);
    assert_false(lb_fiber_has_ended(fb));
    lb_fiber_resume(fb);
    assert_true(lb_fiber_has_ended(fb));
    lb_fiber_resume(fa);
    lb_fiber_resume(fa);
    assert_true(lb_fiber_has_ended(fa));
    assert_string_equal(trace.text, "abaa");
    assert_null(lb_fiber_self());
    lb_fiber_free(fa);
    lb_fiber_free(fb);
    lb_fiber_free(NULL);
}

static void outer(void *arg)
{
    struct step *inner = arg;
    struct lb_fiber *self = lb_fiber_self();
    struct step own = {.trace = inner->trace, .letter = 'o'};
    struct lb_fiber *fiber = make(take_turns, inner);
    while (!lb_fiber_has_ended(fiber)) {
        lb_fiber_resume(fiber);
        assert_ptr_equal(lb_fiber_self(), self);
        write_letter(&own);
        lb_fiber_yield();
    }
    lb_fiber_free(fiber);
}

static void a_fiber_can_resume_another(void **state)
{
    (void)state;
    struct trace trace = {0};
    struct step inner = {.trace = &trace, .letter = 'i', .rounds = 2};
    struct lb_fiber *fiber = make(outer, &inner);
    while (!lb_fiber_has_ended(fiber)) {
        lb_fiber_resume(fiber);
        assert_null(lb_fiber_self());
    }
    assert_string_equal(trace.text, "ioioo");
    lb_fiber_free(fiber);
}

/* The contents of a frame must survive while other fibers use their stacks. */
static uint64_t descend(unsigned depth, uint64_t seed)
{
    volatile uint64_t frame[32];
    for (size_t i = 0; i < 32; i++)
        frame[i] = seed * (i + 1);
    uint64_t below = depth > 0 ? descend(depth - 1, seed + 1) : 0;
    if (depth % 16 == 0)
        lb_fiber_yield();
    for (size_t i = 0; i < 32; i++)
        assert_true(frame[i] == seed * (i + 1));
    return below + frame[0];
}

static void dive(void *arg)
{
    uint64_t *seed = arg;
    *seed = descend(300, *seed);
}

static void stacks_are_kept(void **state)
{
    (void)state;
    enum { N = 50 };
    struct lb_fiber *fibers[N];
    uint64_t seeds[N];
    int left = N;
    for (unsigned i = 0; i < N; i++) {
        seeds[i] = i;
        fibers[i] = make(dive, &seeds[i]);
    }
    while (left > 0)
        for (unsigned i = 0; i < N; i++) {
            if (lb_fiber_has_ended(fibers[i]))
                continue;
            lb_fiber_resume(fibers[i]);
            left -= lb_fiber_has_ended(fibers[i]);
        }
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(seeds[i], 301 * i + 300 * 301 / 2);
        lb_fiber_free(fibers[i]);
    }
}

static void set_errno(void *arg)
{
    errno = *(int *)arg;
    lb_fiber_yield();
    *(int *)arg = errno;
}

static void errno_is_the_fibers_own(void **state)
{
    (void)state;
    int a = EBADF, b = ENOENT;
    struct lb_fiber *fa = make(set_errno, &a), *fb = make(set_errno, &b);
    lb_fiber_resume(fa);
    lb_fiber_resume(fb);
    lb_fiber_resume(fa);
    lb_fiber_resume(fb);
    assert_int_equal(a, EBADF);
    assert_int_equal(b, ENOENT);
    lb_fiber_free(fa);
    lb_fiber_free(fb);
}

static void a_fiber_need_not_end(void **state)
{
    (void)state;
    struct trace trace = {0};
    struct step step = {.trace = &trace, .letter = 'x', .rounds = 3};
    struct lb_fiber *never = make(take_turns, &step), *half = make(take_turns, &step);
    lb_fiber_resume(half);
    lb_fiber_free(never);
    lb_fiber_free(half);
    assert_string_equal(trace.text, "x");
}

static void *run_turns(void *arg)
{
    struct step *step = arg;
    struct lb_fiber *fiber = NULL;
    struct lb_error err;
    if (lb_fiber_new(take_turns, step, &fiber, &err) != 0)
        return NULL;
    while (!lb_fiber_has_ended(fiber))
        lb_fiber_resume(fiber);
    lb_fiber_free(fiber);
    return step;
}

static void threads_have_their_own(void **state)
{
    (void)state;
    enum { N = 4 };
    pthread_t threads[N];
    struct trace traces[N] = {0};
    struct step steps[N];
    for (int i = 0; i < N; i++) {
        steps[i] = (struct step){.trace = &traces[i], .letter = (char)('a' + i), .rounds = 100};
        assert_int_equal(pthread_create(&threads[i], NULL, run_turns, &steps[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, &steps[i]);
        assert_int_equal(strlen(traces[i].text), 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fibers_run_when_resumed), cmocka_unit_test(a_fiber_can_resume_another),
        cmocka_unit_test(stacks_are_kept),         cmocka_unit_test(errno_is_the_fibers_own),
        cmocka_unit_test(a_fiber_need_not_end),    cmocka_unit_test(threads_have_their_own),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
