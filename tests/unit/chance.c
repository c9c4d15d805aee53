/* Items by chance are noticed. Another answer is a branch of the search, and is explored. */
#include "search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORKERS = 2, STEPS = 2 };

enum kind {
    SURE,
    TOSS, /* answers 0 or 1 */
    NAME  /* answers the same, and names others */
};

struct fake {
    enum kind kind; /* of the first worker's first step */
    unsigned at[WORKERS];
    unsigned n_drawn;
};

static int reset(void *arg, struct lb_error *err)
{
    struct fake *fake = arg;
    (void)err;
    fake->at[0] = fake->at[1] = 0;
    return 0;
}

static uint32_t enabled(void *arg)
{
    const struct fake *fake = arg;
    return (fake->at[0] < STEPS ? 1u : 0) | (fake->at[1] < STEPS ? 2u : 0);
}

static bool finished(void *arg)
{
    return enabled(arg) == 0;
}

/* Every third draw is another one. */
static int move(void *arg, unsigned worker, struct lb_moved *ret, struct lb_error *err)
{
    struct fake *fake = arg;
    (void)err;
    unsigned drawn = worker == 0 && fake->at[0] == 0 ? ++fake->n_drawn % 3 == 0 : 0;
    ret->answer = fake->kind == TOSS ? drawn : 1;
    ret->told = fake->kind == NAME ? drawn : 1;
    fake->at[worker]++;
    return 0;
}

static int end(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err)
{
    (void)arg;
    (void)ending;
    (void)waiting;
    (void)err;
    return 0;
}

static void items_by_chance_are_noticed(void **state)
{
    static const struct lb_system system = {
        .reset = reset, .enabled = enabled, .finished = finished, .move = move, .end = end};
    static const struct lb_search_options options = {.preemptions = -1, .unreduced = true};
    (void)state;
    for (enum kind kind = SURE; kind <= NAME; kind++) {
        struct fake fake = {.kind = kind};
        struct lb_search_result result;
        struct lb_error err = {0};
        assert_int_equal(lb_search(&system, &fake, &options, &result, &err), 0);
        assert_true(result.complete);
        assert_int_equal(result.is_random, kind == NAME);
        assert_int_equal(result.n_others > 0, kind == TOSS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(items_by_chance_are_noticed)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
