/* The likely schedules, and shrinking, on a gate that is made of arithmetic: each worker looks
 * whether the gate is free, takes it, and leaves it. Two who have it at the same time are a
 * violation.
 */
#include "search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKERS = 3, MOST_ENDED = 1000 };

enum fault {
    NONE,   /* a worker that takes it looks again */
    LOOKED, /* a worker that saw it free takes it */
    LATE,   /* a worker that saw it free takes it, if it was taken and left since */
    LEASED, /* ... or it was taken for longer than a lease: the clock has moved */
    MORTAL, /* no fault; but a worker may die, and the clock moves, once each */
    CUT,    /* ... lose an answer, and go on */
    SHARED, /* as LEASED, and one other may have it beside */
    RESCUED /* no fault; but the last worker frees the gate of the holder that it saw, even if
               another has it now */
};

enum step { LOOK, TAKE, LEAVE, STEPS };

struct gate {
    enum fault fault;
    unsigned n_workers;
    unsigned at[WORKERS];
    bool saw_it_free[WORKERS], has_it[WORKERS];
    unsigned saw; /* RESCUED: by the last one */
    bool is_late, has_expired, is_violated;
    bool is_dead;   /* or has been cut */
    char text[400]; /* all schedules, a blank behind each */
    uint64_t moves; /* of this schedule, as digits */
    uint64_t ended[MOST_ENDED];
    size_t n_ended, n_twice;
};

static int gate_reset(void *arg, struct lb_error *err)
{
    struct gate *gate = arg;
    (void)err;
    for (unsigned w = 0; w < WORKERS; w++) {
        gate->at[w] = w < gate->n_workers ? LOOK : STEPS;
        gate->saw_it_free[w] = gate->has_it[w] = false;
    }
    gate->is_late = gate->has_expired = gate->is_violated = gate->is_dead = false;
    gate->moves = 0;
    return 0;
}

static uint32_t gate_enabled(void *arg)
{
    const struct gate *gate = arg;
    bool has_time = gate->fault == LEASED || gate->fault == SHARED || gate->fault == MORTAL ||
                    gate->fault == CUT;
    uint32_t enabled = has_time && !gate->has_expired ? 1u << LB_MOVE_CLOCK : 0;
    uint32_t workers = 0;
    for (unsigned w = 0; w < WORKERS; w++)
        workers |= gate->at[w] < STEPS ? 1u << w : 0;
    if (gate->fault == MORTAL && !gate->is_dead)
        enabled |= workers << LB_MOVE_DEATH;
    if (gate->fault == CUT && !gate->is_dead)
        enabled |= workers << LB_MOVE_CUT;
    return workers == 0 ? 0 : enabled | workers;
}

static bool gate_finished(void *arg)
{
    return gate_enabled(arg) == 0;
}

static uint32_t gate_holders(void *arg)
{
    const struct gate *gate = arg;
    uint32_t holders = 0;
    for (unsigned w = 0; w < WORKERS; w++)
        holders |= gate->has_it[w] ? 1u << w : 0;
    return holders;
}

/* Does the worker get it? */
static bool is_let_in(const struct gate *gate, unsigned w)
{
    bool is_free = gate_holders((void *)(uintptr_t)gate) == 0;
    switch (gate->fault) {
    case LOOKED:
        return gate->saw_it_free[w];
    case LATE:
        return is_free || (gate->saw_it_free[w] && gate->is_late);
    case LEASED:
        return is_free || gate->has_expired;
    case SHARED:
        return true;
    case NONE:
    default:
        return is_free;
    }
}

/* Nobody has it: there is nothing to rescue. */
static void rescue(struct gate *gate, unsigned move)
{
    uint32_t holders = gate_holders(gate);
    if (gate->at[move] == LOOK) {
        gate->saw = holders;
        gate->at[move] = holders != 0 ? TAKE : STEPS;
        return;
    }
    gate->is_violated = gate->is_violated || (holders != 0 && holders != gate->saw);
    for (unsigned w = 0; w < WORKERS; w++)
        gate->has_it[w] = false;
    gate->at[move] = STEPS;
}

static int gate_move(void *arg, unsigned move, struct lb_moved *ret, struct lb_error *err)
{
    struct gate *gate = arg;
    (void)err;
    ret->answer = 1;
    ret->touched.reads = ret->touched.writes = ret->touched.commits = 1;
    gate->moves = gate->moves * 11 + 1 + (move < WORKERS ? move : 9);
    const struct lb_schedule one = {.n = 1, .moves = {(uint8_t)move}};
    size_t n = strlen(gate->text);
    lb_schedule_print(&one, gate->text + n, sizeof gate->text - n - 1);
    if (move == LB_MOVE_CLOCK) {
        gate->has_expired = true;
        return 0;
    }
    if (move >= LB_MOVE_DEATH)
        gate->is_dead = true;
    if (move >= LB_MOVE_CUT)
        return 0;
    if (lb_move_is_death(move)) {
        gate->at[lb_move_worker(move)] = STEPS;
        gate->has_it[lb_move_worker(move)] = false;
        return 0;
    }
    if (gate->fault == RESCUED && move + 1 == gate->n_workers) {
        rescue(gate, move);
        return 0;
    }
    switch (gate->at[move]++) {
    case LOOK:
        gate->saw_it_free[move] = gate_holders(gate) == 0;
        break;
    case TAKE:
        if (is_let_in(gate, move)) {
            gate->is_violated = gate->is_violated ||
                                (gate_holders(gate) != 0 && gate->fault != SHARED) ||
                                (gate->fault == LATE && gate->is_late && gate->saw_it_free[move]);
            gate->has_it[move] = true;
        } else {
            gate->at[move] = STEPS;
        }
        break;
    default:
        gate->has_it[move] = false;
        for (unsigned w = 0; w < WORKERS; w++) /* a worker is between its look and its step */
            gate->is_late = gate->is_late || (gate->at[w] == TAKE && gate->saw_it_free[w]);
        break;
    }
    return 0;
}

static int gate_end(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err)
{
    struct gate *gate = arg;
    (void)waiting;
    (void)err;
    if (strlen(gate->text) + 20 < sizeof gate->text)
        strcat(gate->text, " ");
    for (size_t i = 0; i < gate->n_ended; i++)
        gate->n_twice += gate->ended[i] == gate->moves;
    if (gate->n_ended < MOST_ENDED)
        gate->ended[gate->n_ended++] = gate->moves;
    return ending != LB_END_PRUNED && gate->is_violated;
}

static const struct lb_system system_of_gates = {.reset = gate_reset,
                                                 .enabled = gate_enabled,
                                                 .finished = gate_finished,
                                                 .move = gate_move,
                                                 .end = gate_end,
                                                 .holders = gate_holders};

/* text: NULL, or room for all schedules. */
static struct lb_search_result search_and_tell(enum fault fault, unsigned n_workers, bool likely,
                                               char text[400])
{
    struct gate gate = {.fault = fault, .n_workers = n_workers};
    uint8_t alike[LB_MAX_WORKERS] = {0};
    alike[n_workers - 1] = fault == RESCUED ? 1 : 0;
    struct lb_search_options options = {.preemptions = -1,
                                        .likely = likely,
                                        .several_hold = fault == SHARED,
                                        .alike = alike,
                                        .all = text != NULL};
    struct lb_search_result result;
    struct lb_error err = {0};
    assert_int_equal(lb_search(&system_of_gates, &gate, &options, &result, &err), 0);
    if (text != NULL)
        strcpy(text, gate.text);
    return result;
}

static struct lb_search_result search(enum fault fault, unsigned n_workers, bool likely)
{
    return search_and_tell(fault, n_workers, likely, NULL);
}

static void who_looked_is_stopped_before_he_takes(void **state)
{
    (void)state;
    struct lb_search_result result = search(LOOKED, 2, true);
    assert_int_equal(result.violated, 1);
    assert_int_equal(result.n_schedules, 1);
    char text[20];
    lb_schedule_print(&result.first[0], text, sizeof text);
    assert_string_equal(text, "011010");
    assert_true(search(LOOKED, 2, false).n_schedules > 1);
}

static void the_others_go_on_to_their_end_too(void **state)
{
    (void)state;
    struct lb_search_result result = search(LATE, 2, true);
    assert_int_equal(result.violated, 1);
    char text[20];
    lb_schedule_print(&result.first[0], text, sizeof text);
    assert_string_equal(text, "011100");
}

static void the_clock_moves_while_somebody_has_it(void **state)
{
    (void)state;
    struct lb_search_result result = search(LEASED, 2, true);
    assert_int_equal(result.violated, 1);
    assert_int_equal(result.n_schedules, 1);
}

/* Before any worker has anything, a rescuer has no work in which it could be stopped. */
static void who_rescues_is_stopped_while_somebody_has_it(void **state)
{
    (void)state;
    struct lb_search_result result = search(RESCUED, 3, true);
    assert_int_equal(result.violated, 1);
    char text[20];
    lb_schedule_print(&result.first[0], text, sizeof text);
    assert_string_equal(text, "00201121");
}

/* Each of them, in order: the stopped worker, the time, and the following moves. */
static void which_are_likely(void **state)
{
    static const struct {
        enum fault fault;
        unsigned n_workers;
        const char *schedules;
    } cases[] = {{NONE, 1, "000 "},
                 {NONE, 2, "01101 00110 011100 00110 "},
                 {LEASED, 2, "011t010 00t1101 0111t00 00t1110 "},
                 {SHARED, 2, "011t010 00t1101 0111t00 00t1110 001t011 0011t01 001t011 0011t01 "},
                 {MORTAL, 2, "0x0t111 00x0t111 0x0111 00x0111 "},
                 {CUT, 2, "0c0t1101 00c0t110 0c0111t00 00c0t110 "},
                 {RESCUED, 2, "0100 00110 1000 0100 00110 1000 00101 00110 00101 00110 "}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        search_and_tell(cases[i].fault, cases[i].n_workers, true, text);
        assert_string_equal(text, cases[i].schedules);
    }
}

static void what_is_right_is_right_in_likely_schedules(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= WORKERS; n++) {
        struct lb_search_result result = search(NONE, n, true);
        assert_int_equal(result.violated, 0);
        assert_true(result.n_schedules >= 1 && result.n_schedules <= 4);
        assert_false(result.complete); /* not all was explored */
        assert_true(search(NONE, n, false).complete);
    }
}

/* One schedule needs one replay, whichever way leads to it. */
static void nothing_is_replayed_twice(void **state)
{
    (void)state;
    struct gate gate = {.fault = LOOKED, .n_workers = 3};
    struct lb_schedule schedule;
    struct lb_error err = {0};
    uint64_t n_replays = 0;
    assert_int_equal(lb_schedule_parse("021102210", &schedule, &err), 0);
    assert_int_equal(
        lb_search_shrink(&system_of_gates, &gate, 1, NULL, &schedule, &n_replays, &err), 0);
    assert_int_equal(schedule.n, 4);
    assert_int_equal(lb_schedule_switches(&schedule), 2);
    assert_int_equal(gate.n_ended, n_replays);
    assert_int_equal(gate.n_twice, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_looked_is_stopped_before_he_takes),
        cmocka_unit_test(the_others_go_on_to_their_end_too),
        cmocka_unit_test(the_clock_moves_while_somebody_has_it),
        cmocka_unit_test(who_rescues_is_stopped_while_somebody_has_it),
        cmocka_unit_test(which_are_likely),
        cmocka_unit_test(what_is_right_is_right_in_likely_schedules),
        cmocka_unit_test(nothing_is_replayed_twice),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
