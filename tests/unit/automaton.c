/* The search for orders of bench/check/spec, on a lock that is small enough to read: what it finds
 * broken, and which of several guarantees it names. */
#include "automaton.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* --- a lock: its state is the number of the grant that holds it, from 1 --- */

enum { EXCLUSIVE = 1, OWNER = 2, AT_REST = 4, ALL = 7 };
enum { GRANT, RELEASE, EXPIRE };

static unsigned step(const struct lb_object *object, uint32_t number,
                     const struct lb_spec_state *from, uint64_t now, struct lb_spec_next *next)
{
    const struct lb_spec_op *op = &object->ops[number];
    uint64_t held = from->word[0];
    bool is_mine = op->kind != GRANT && held == op->about + 1;
    (void)now;
    next[0] = (struct lb_spec_next){.state = *from, .other = (uint32_t)held - 1};
    if (op->kind == GRANT) {
        next[0].state.word[0] = number + 1;
        next[0].broken = held != 0 ? EXCLUSIVE : 0;
    } else if (is_mine) {
        next[0].state.word[0] = 0;
    } else if (op->kind == RELEASE && held != 0) { /* it frees what another holds, or not */
        next[0].broken = OWNER;
        next[1] = next[0];
        next[1].state.word[0] = 0;
        return 2;
    }
    return 1;
}

static bool is_over(const struct lb_object *object, uint32_t number,
                    const struct lb_spec_state *from)
{
    return from->word[0] != object->ops[number].about + 1;
}

static unsigned rest(const struct lb_object *object, const struct lb_spec_state *from)
{
    (void)object;
    return from->word[0] != 0 ? AT_REST : 0;
}

static const struct lb_automaton lock = {
    .hard = EXCLUSIVE, .excused = OWNER, .step = step, .is_over = is_over};
static const struct lb_automaton lock_at_rest = {
    .hard = EXCLUSIVE, .excused = OWNER, .step = step, .is_over = is_over, .rest = rest};

static struct lb_spec_op grant(uint32_t log, uint64_t low, uint64_t high)
{
    return (struct lb_spec_op){.low = low,
                               .high = high,
                               .log = log,
                               .position = (uint32_t)low,
                               .about = LB_SPEC_NONE,
                               .kind = GRANT,
                               .rank = 1,
                               .must = true};
}

static struct lb_spec_op release(uint32_t log, uint32_t about, uint64_t low, uint64_t high)
{
    return (struct lb_spec_op){.low = low,
                               .high = high,
                               .log = log,
                               .position = (uint32_t)low,
                               .about = about,
                               .kind = RELEASE,
                               .must = high != LB_SPEC_NEVER};
}

/* The lease of a grant can have ended from a time on. */
static struct lb_spec_op expire(uint32_t about, uint64_t low)
{
    return (struct lb_spec_op){
        .low = low, .high = LB_SPEC_NEVER, .log = LB_SPEC_NONE, .about = about, .kind = EXPIRE};
}

/* How many breaks there are; the guarantees that all of them together violate, and of which one is
 * broken. */
static size_t search_with(const struct lb_automaton *automaton, const struct lb_spec_op *ops,
                          uint32_t n, unsigned claimed, unsigned *violated, unsigned *either)
{
    struct lb_search_budget budget = {.ops = 1000, .steps = 100000};
    struct lb_search *search = lb_search_open(&budget);
    struct lb_object object = {
        .automaton = automaton, .ops = ops, .n_ops = n, .known_until = LB_SPEC_NEVER};
    assert_non_null(search);
    size_t n_breaks, n_found = 0;
    lb_search_run(search, &object);
    assert_false(lb_search_gave_up(search));
    const struct lb_break *breaks = lb_search_breaks(search, &n_breaks);
    *violated = *either = 0;
    for (size_t i = 0; i < n_breaks; i++) {
        unsigned one_violated, one_either;
        lb_break_conclude(&breaks[i], claimed, &one_violated, &one_either);
        *violated |= one_violated;
        *either |= one_either;
        n_found += (one_violated | one_either) != 0;
    }
    lb_search_close(search);
    return n_found;
}

#define EXPECT(ops, claimed, want_n, want_violated, want_either)                                   \
    do {                                                                                           \
        unsigned violated, either;                                                                 \
        assert_int_equal(                                                                          \
            search_with(&lock, ops, sizeof(ops) / sizeof *(ops), claimed, &violated, &either),     \
            want_n);                                                                               \
        assert_int_equal(violated, want_violated);                                                 \
        assert_int_equal(either, want_either);                                                     \
    } while (0)

static void grants_that_overlap_have_an_order(void **state)
{
    (void)state;
    const struct lb_spec_op ops[] = {grant(1, 10, 60), grant(2, 20, 30), release(2, 1, 40, 50)};
    EXPECT(ops, ALL, 0, 0, 0);
}

static void each_grant_too_many_is_counted(void **state)
{
    (void)state;
    const struct lb_spec_op ops[] = {grant(1, 10, 20), grant(2, 30, 40), grant(3, 50, 60)};
    EXPECT(ops, ALL, 2, EXCLUSIVE, 0);
    EXPECT(ops, OWNER, 0, 0, 0);
}

static void a_worker_has_an_order_within_a_tick(void **state)
{
    (void)state;
    const struct lb_spec_op ops[] = {grant(1, 10, 20), {.log = 0}, release(1, 0, 20, 30)};
    struct lb_spec_op tied[3];
    memcpy(tied, ops, sizeof tied);
    tied[1] = grant(1, 15, 20); /* granted twice, before the release in its own log */
    EXPECT(tied, ALL, 1, EXCLUSIVE, 0);
    tied[1] = grant(2, 15, 20);
    EXPECT(tied, ALL, 0, 0, 0);
}

static void a_late_release_of_what_another_holds(void **state)
{
    (void)state;
    const struct lb_spec_op ops[] = {grant(1, 10, 20), expire(0, 30), grant(2, 40, 50),
                                     release(1, 0, 60, 70)};
    EXPECT(ops, ALL, 1, OWNER, 0);
    EXPECT(ops, EXCLUSIVE, 0, 0, 0);
}

static void no_order_keeps_both(void **state)
{
    (void)state;
    /* The first release may come before the second grant, or after it. Before: the third grant has
       no place. After: it takes from the second what the third needs. */
    const struct lb_spec_op ops[] = {grant(1, 10, 20), expire(0, 30), grant(2, 40, 80),
                                     release(1, 0, 60, 70), grant(3, 65, 90)};
    EXPECT(ops, ALL, 1, 0, EXCLUSIVE | OWNER);
    EXPECT(ops, EXCLUSIVE, 0, 0, 0);
    EXPECT(ops, OWNER, 0, 0, 0);
}

static void a_hard_guarantee_excuses_what_follows(void **state)
{
    (void)state;
    const struct lb_spec_op ops[] = {grant(1, 10, 20), grant(2, 30, 40), release(1, 0, 50, 60)};
    EXPECT(ops, ALL, 1, EXCLUSIVE, 0);
    EXPECT(ops, OWNER, 0, 0, 0);
}

static void what_is_cut_off_accuses_of_nothing(void **state)
{
    (void)state;
    const struct lb_spec_op ops[] = {grant(1, 10, 20), grant(2, 30, 40)};
    struct lb_search_budget budget = {.ops = 10, .steps = 1000};
    struct lb_search *search = lb_search_open(&budget);
    struct lb_object object = {.automaton = &lock, .ops = ops, .n_ops = 2, .known_until = 40};
    size_t n;
    lb_search_run(search, &object);
    lb_search_breaks(search, &n);
    assert_int_equal(n, 0);
    lb_search_close(search);
}

static void the_end_of_the_history_is_looked_at(void **state)
{
    (void)state;
    unsigned violated, either;
    struct lb_spec_op ops[] = {grant(1, 10, 20), release(1, 0, 30, 40), grant(2, 50, 60)};
    assert_int_equal(search_with(&lock_at_rest, ops, 2, ALL, &violated, &either), 0);
    assert_int_equal(search_with(&lock_at_rest, ops, 3, ALL, &violated, &either), 1);
    assert_int_equal(violated, AT_REST);
    ops[2] = grant(2, 50, LB_SPEC_NEVER); /* it may not have been granted */
    ops[2].must = false;
    assert_int_equal(search_with(&lock_at_rest, ops, 3, ALL, &violated, &either), 0);
}

static void minimal_sets_are_compared(void **state)
{
    (void)state;
    const struct lb_break one = {.sets = {EXCLUSIVE, OWNER | AT_REST}, .n_sets = 2};
    unsigned violated, either;
    lb_break_conclude(&one, ALL, &violated, &either);
    assert_int_equal(violated, 0);
    assert_int_equal(either, ALL);
    lb_break_conclude(&one, EXCLUSIVE, &violated, &either); /* an order breaks only the others */
    assert_int_equal(violated | either, 0);
    const struct lb_break two = {.sets = {EXCLUSIVE | OWNER, OWNER | AT_REST}, .n_sets = 2};
    lb_break_conclude(&two, ALL, &violated, &either);
    assert_int_equal(violated, OWNER);
    assert_int_equal(either, 0);
}

static void too_much_at_one_time_is_given_up(void **state)
{
    (void)state;
    struct lb_spec_op ops[70];
    for (uint32_t i = 0; i < 70; i++)
        ops[i] = grant(i, 10, 100);
    struct lb_search_budget budget = {.ops = 1000, .steps = 100000};
    struct lb_search *search = lb_search_open(&budget);
    struct lb_object object = {
        .automaton = &lock, .ops = ops, .n_ops = 70, .known_until = LB_SPEC_NEVER};
    size_t n;
    lb_search_run(search, &object);
    lb_search_breaks(search, &n);
    assert_int_equal(n, 0);
    assert_true(lb_search_gave_up(search));
    lb_search_close(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_that_overlap_have_an_order),
        cmocka_unit_test(each_grant_too_many_is_counted),
        cmocka_unit_test(a_worker_has_an_order_within_a_tick),
        cmocka_unit_test(a_late_release_of_what_another_holds),
        cmocka_unit_test(no_order_keeps_both),
        cmocka_unit_test(a_hard_guarantee_excuses_what_follows),
        cmocka_unit_test(what_is_cut_off_accuses_of_nothing),
        cmocka_unit_test(the_end_of_the_history_is_looked_at),
        cmocka_unit_test(minimal_sets_are_compared),
        cmocka_unit_test(too_much_at_one_time_is_given_up),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
