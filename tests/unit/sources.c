/* The reduced search against every order of the moves, on random programs with all that makes an
 * order special: tries of two moves that are refused, locks, deaths, cuts, a clock, and workers
 * that are alike.
 */
#include "property.h"
#include "search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 3, STEPS = 4, WORKERS = 3, FINALS = 60000, CLOCK = 0, MOST = 20000 };

enum kind {
    READ, /* local = digest(local, variable) */
    ADD,  /* variable += 1 */
    SET,  /* variable = local */
    CLEAR,
    TRY,  /* two moves: looks at the variable; refused if the next variable is 0 */
    LOCK, /* blocked while a worker has it */
    POLL, /* as LOCK, but refused */
    SKIP, /* as LOCK, but goes on without it, and remembers that */
    PUT,  /* variable += 3; its answer may be lost with the session, and its locks */
    UNLOCK,
    END, /* in the history; there a granted TRY or POLL has its beginning, too */
    KINDS
};

struct step {
    enum kind kind;
    unsigned variable;
};

struct program {
    unsigned n_workers, n_steps, ticks, deaths, cuts;
    bool alike; /* the first two workers */
    struct step steps[WORKERS][STEPS];
};

struct state {
    unsigned at[WORKERS], blocked[WORKERS], n_blocked, n_ticks, n_deaths, n_cuts, n_ended;
    bool dead[WORKERS], tries[WORKERS];
    uint64_t variable[VARIABLES], local[WORKERS], seen[WORKERS], ended[WORKERS];
    size_t began[WORKERS]; /* the first move of a try */
    int owner[VARIABLES];
};

struct fake {
    const struct program *program;
    struct state now;
    uint8_t moves[LB_MAX_LENGTH];
    bool idle[LB_MAX_LENGTH];
    size_t n_moves;
    uint64_t finals[FINALS];
    size_t n_finals;
};

static int fake_reset(void *arg, struct lb_error *err)
{
    struct fake *fake = arg;
    (void)err;
    fake->now = (struct state){0};
    for (unsigned i = 0; i < VARIABLES; i++)
        fake->now.owner[i] = -1;
    fake->n_moves = 0;
    return 0;
}

static bool is_over(const struct fake *fake, unsigned w)
{
    return fake->now.dead[w] || fake->now.at[w] == fake->program->n_steps;
}

static uint32_t fake_enabled(void *arg)
{
    const struct fake *fake = arg;
    const struct state *now = &fake->now;
    uint32_t enabled = 0;
    for (unsigned w = 0; w < fake->program->n_workers; w++) {
        if (!is_over(fake, w) && !now->blocked[w])
            enabled |= 1u << w;
        if (!is_over(fake, w) && now->n_deaths < fake->program->deaths)
            enabled |= 1u << (LB_MOVE_DEATH + w);
        if (!is_over(fake, w) && now->n_cuts < fake->program->cuts &&
            fake->program->steps[w][now->at[w]].kind == PUT)
            enabled |= 1u << (LB_MOVE_CUT + w);
    }
    if (now->n_ticks < fake->program->ticks && fake->n_moves > 0 && enabled != 0)
        enabled |= 1u << LB_MOVE_CLOCK;
    return enabled;
}

static bool fake_finished(void *arg)
{
    const struct fake *fake = arg;
    for (unsigned w = 0; w < fake->program->n_workers; w++)
        if (!is_over(fake, w))
            return false;
    return true;
}

static void unlock(struct fake *fake, unsigned variable)
{
    struct state *now = &fake->now;
    unsigned next = WORKERS;
    for (unsigned w = 0; w < fake->program->n_workers; w++)
        if (now->blocked[w] != 0 && fake->program->steps[w][now->at[w]].variable == variable &&
            (next == WORKERS || now->blocked[w] < now->blocked[next]))
            next = w;
    now->owner[variable] = next < WORKERS ? (int)next : -1;
    if (next < WORKERS) {
        now->blocked[next] = 0;
        now->at[next]++;
    }
}

static void touch_all(struct lb_moved *ret)
{
    ret->touched.reads = ret->touched.writes = ret->touched.commits = LB_TOUCHES_ALL;
    ret->touched.begins = ret->touched.ends = LB_ALL_OBJECTS;
}

static void end_session(struct fake *fake, unsigned w)
{
    for (unsigned i = 0; i < VARIABLES; i++)
        if (fake->now.owner[i] == (int)w)
            unlock(fake, i);
}

static void die(struct fake *fake, unsigned w)
{
    struct state *now = &fake->now;
    now->n_deaths++;
    now->dead[w] = true;
    now->blocked[w] = 0;
    end_session(fake, w);
}

/* A refused POLL, and a SKIP in vain, only look at the lock. */
static void poll(struct fake *fake, unsigned w, const struct step *step, struct lb_moved *ret)
{
    struct state *now = &fake->now;
    uint32_t bit = 1u << step->variable << 8;
    bool is_free = now->owner[step->variable] < 0;
    if (step->kind == POLL) {
        ret->touched.begins = 1;
        now->local[w] = is_free ? lb_test_mix(now->local[w], now->n_ended) : now->local[w];
    }
    if (step->kind == SKIP)
        now->local[w] = lb_test_mix(now->local[w], is_free);
    if (is_free) {
        ret->touched.writes = bit;
        now->owner[step->variable] = (int)w;
    } else {
        ret->touched.reads = bit;
    }
    if (is_free || step->kind == SKIP) {
        now->at[w]++;
        return;
    }
    ret->refused[w] = (struct lb_refused){
        .is_refused = true, .is_own = true, .first = fake->n_moves, .touched = ret->touched};
    fake->idle[fake->n_moves] = true;
}

static void try(struct fake *fake, unsigned w, const struct step *step, struct lb_moved *ret)
{
    struct state *now = &fake->now;
    unsigned needed = (step->variable + 1) % VARIABLES;
    if (!now->tries[w]) {
        now->tries[w] = true;
        now->began[w] = fake->n_moves;
        now->seen[w] = now->variable[step->variable];
        now->ended[w] = now->n_ended;
        ret->touched.reads = 1u << step->variable;
        ret->touched.begins = 1;
        return;
    }
    now->tries[w] = false;
    ret->touched.reads = 1u << needed;
    ret->answer = now->variable[needed];
    if (now->variable[needed] > 0) {
        now->local[w] =
            lb_test_mix(lb_test_mix(now->local[w], now->seen[w]), now->variable[needed]);
        now->local[w] = lb_test_mix(now->local[w], now->ended[w]);
        now->at[w]++;
        return;
    }
    struct lb_refused *refused = &ret->refused[w];
    *refused = (struct lb_refused){.is_refused = true, .is_own = true, .first = now->began[w]};
    refused->touched.reads = 1u << needed | 1u << step->variable;
    refused->touched.begins = 1;
    for (size_t i = refused->first; i < fake->n_moves; i++)
        refused->is_own = refused->is_own && (fake->moves[i] == w || fake->idle[i]);
    for (size_t i = refused->first; i <= fake->n_moves && refused->is_own; i++)
        fake->idle[i] = true;
}

static void make(struct fake *fake, unsigned w, struct lb_moved *ret)
{
    struct state *now = &fake->now;
    const struct step *step = &fake->program->steps[w][now->at[w]];
    uint32_t bit = 1u << step->variable;
    switch (step->kind) {
    case READ:
        ret->touched.reads = bit;
        ret->answer = now->variable[step->variable];
        now->local[w] = lb_test_mix(now->local[w], ret->answer + 7);
        now->at[w]++;
        break;
    case ADD:
    case SET:
    case CLEAR:
    case PUT:
        ret->touched.writes = ret->touched.commits = bit;
        if (step->kind == ADD || step->kind == PUT)
            now->variable[step->variable] += step->kind == PUT ? 3 : 1;
        else if (step->kind == CLEAR)
            now->variable[step->variable] = 0;
        else
            now->variable[step->variable] =
                lb_test_mix(now->local[w], fake->program->alike ? 1 : w + 1);
        now->at[w]++;
        break;
    case TRY:
        try(fake, w, step, ret);
        break;
    case LOCK:
        ret->touched.writes = bit << 8;
        if (now->owner[step->variable] < 0) {
            now->owner[step->variable] = (int)w;
            now->at[w]++;
        } else {
            now->blocked[w] = ++now->n_blocked;
        }
        break;
    case POLL:
    case SKIP:
        poll(fake, w, step, ret);
        break;
    case END:
        ret->touched.ends = 1;
        now->n_ended++;
        now->at[w]++;
        break;
    case UNLOCK:
    case KINDS:
    default:
        ret->touched.commits = ret->touched.reads = bit << 8;
        if (now->owner[step->variable] == (int)w)
            unlock(fake, step->variable);
        now->at[w]++;
        break;
    }
}

static int fake_move(void *arg, unsigned move, struct lb_moved *ret, struct lb_error *err)
{
    struct fake *fake = arg;
    (void)err;
    fake->moves[fake->n_moves] = (uint8_t)move;
    fake->idle[fake->n_moves] = false;
    ret->answer = 1;
    if (move < WORKERS) {
        make(fake, move, ret);
    } else {
        touch_all(ret);
        if (move == LB_MOVE_CLOCK) {
            fake->now.n_ticks++;
            fake->now.variable[CLOCK] += 100;
        } else if (lb_move_is_death(move)) {
            die(fake, move - LB_MOVE_DEATH);
        } else {
            unsigned w = move - LB_MOVE_CUT;
            fake->now.n_cuts++;
            make(fake, w, ret);
            fake->now.local[w] = lb_test_mix(fake->now.local[w], 5);
            end_session(fake, w);
            touch_all(ret);
        }
    }
    fake->n_moves++;
    return 0;
}

/* Of workers that are alike the names do not count. */
static int fake_end(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err)
{
    struct fake *fake = arg;
    const struct state *now = &fake->now;
    uint64_t of[WORKERS], digest = ending;
    (void)waiting;
    (void)err;
    if (ending == LB_END_PRUNED)
        return 0;
    for (unsigned i = 0; i < VARIABLES; i++)
        digest = lb_test_mix(digest, now->variable[i]);
    for (unsigned w = 0; w < WORKERS; w++)
        of[w] = lb_test_mix(lb_test_mix(lb_test_mix(now->local[w], now->at[w]), now->dead[w]),
                            now->blocked[w] != 0);
    if (fake->program->alike && of[0] > of[1]) {
        uint64_t first = of[0];
        of[0] = of[1];
        of[1] = first;
    }
    for (unsigned w = 0; w < WORKERS; w++)
        digest = lb_test_mix(digest, of[w]);
    lb_test_note(fake->finals, &fake->n_finals, FINALS, digest);
    return 0;
}

static const struct lb_system system_of_fakes = {.reset = fake_reset,
                                                 .enabled = fake_enabled,
                                                 .finished = fake_finished,
                                                 .move = fake_move,
                                                 .end = fake_end};

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static struct fake *run(const struct program *program, const struct lb_search_options *options,
                        struct lb_search_result *result)
{
    struct lb_error err = {0};
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->program = program;
    assert_int_equal(lb_search(&system_of_fakes, fake, options, result, &err), 0);
    qsort(fake->finals, fake->n_finals, sizeof fake->finals[0], compare);
    return fake;
}

static void print(const struct program *program)
{
    static const char *const names[KINDS] = {"READ", "ADD",  "SET", "CLEAR",  "TRY", "LOCK",
                                             "POLL", "SKIP", "PUT", "UNLOCK", "END"};
    print_message("# ticks %u, deaths %u, cuts %u, alike %d\n", program->ticks, program->deaths,
                  program->cuts, program->alike);
    for (unsigned w = 0; w < program->n_workers; w++) {
        print_message("# worker %u:", w);
        for (unsigned i = 0; i < program->n_steps; i++)
            print_message(" %s %u", names[program->steps[w][i].kind],
                          program->steps[w][i].variable);
        print_message("\n");
    }
}

/* Few kinds and variables meet more often. */
static void make_program(struct lb_random *random, struct program *ret)
{
    enum kind few[KINDS];
    const unsigned n_kinds = 2 + (unsigned)lb_random_below(random, KINDS - 1);
    const unsigned n_variables = 1 + (unsigned)lb_random_below(random, VARIABLES);
    for (unsigned i = 0; i < n_kinds; i++)
        few[i] = (enum kind)lb_random_below(random, KINDS);
    *ret = (struct program){.n_workers = 2 + (unsigned)lb_random_below(random, 2)};
    ret->n_steps = ret->n_workers == 2 ? 4 : 3;
    unsigned n_faults = (unsigned)lb_random_below(random, 8);
    ret->n_steps -= n_faults > 0;
    if (lb_random_below(random, 4) == 0)
        ret->n_steps = 1 + (unsigned)lb_random_below(random, ret->n_steps);
    ret->ticks = n_faults & 1;
    ret->deaths = n_faults >> 1 & 1;
    ret->cuts = n_faults >> 2;
    ret->alike = lb_random_below(random, 3) == 0;
    for (unsigned w = 0; w < ret->n_workers; w++)
        for (unsigned i = 0; i < ret->n_steps; i++)
            ret->steps[w][i] = ret->alike && w == 1
                                   ? ret->steps[0][i]
                                   : (struct step){few[lb_random_below(random, n_kinds)],
                                                   (unsigned)lb_random_below(random, n_variables)};
}

struct counts {
    uint64_t n_compared, n_reduced, n_all, n_asleep;
};

/* Both searches have to come to the same ends. Not compared if every order is too many. */
static void compare_both(const struct program *program, struct counts *counts)
{
    static const uint8_t kinds[LB_MAX_WORKERS] = {0, 0, 1, 2, 3, 4, 5, 6};
    struct lb_search_options options = {
        .preemptions = -1, .all = true, .alike = program->alike ? kinds : NULL};
    struct lb_search_result reduced, all;
    struct fake *few = run(program, &options, &reduced);
    options.unreduced = true;
    options.max_schedules = MOST;
    struct fake *many = run(program, &options, &all);
    bool same = few->n_finals == many->n_finals &&
                memcmp(few->finals, many->finals, few->n_finals * sizeof few->finals[0]) == 0;
    if (all.complete && !same)
        print(program);
    assert_true(!all.complete || same);
    assert_true(reduced.complete);
    counts->n_compared += all.complete;
    counts->n_reduced += reduced.n_schedules;
    counts->n_asleep += reduced.n_asleep;
    counts->n_all += all.n_schedules;
    free(few);
    free(many);
}

/* LB_TEST_PROGRAMS: how many. */
static void no_end_is_lost(void **state)
{
    (void)state;
    const char *text = getenv("LB_TEST_PROGRAMS");
    const long n = text != NULL ? strtol(text, NULL, 10) : 2000;
    struct lb_random random;
    struct counts counts = {0};
    lb_random_init(&random, lb_test_seed(), 1);
    for (long round = 0; round < n; round++) {
        struct program program;
        make_program(&random, &program);
        compare_both(&program, &counts);
    }
    print_message("# %llu programs, %llu schedules for %llu, and %llu given up\n",
                  (unsigned long long)counts.n_compared, (unsigned long long)counts.n_reduced,
                  (unsigned long long)counts.n_all, (unsigned long long)counts.n_asleep);
    assert_true(counts.n_compared > (uint64_t)n / 2 && counts.n_reduced < counts.n_all / 4);
}

/* A try that was given up within another order is in vain at the end; a worker dies while all wait,
 * which frees the other one; and it dies where it waits while another one, which has seen its lock,
 * has ended. */
static void ends_in_vain_are_found(void **state)
{
    (void)state;
    static const struct program in_vain = {
        .n_workers = 2,
        .n_steps = 3,
        .ticks = 1,
        .steps = {{{TRY, 2}, {LOCK, 0}, {UNLOCK, 1}}, {{ADD, 1}, {CLEAR, 0}, {UNLOCK, 0}}}};
    static const struct program all_wait = {
        .n_workers = 2,
        .n_steps = 3,
        .deaths = 1,
        .steps = {{{POLL, 1}, {POLL, 1}, {POLL, 2}}, {{POLL, 1}, {POLL, 0}, {READ, 2}}}};
    static const struct program one_waits = {
        .n_workers = 2,
        .n_steps = 2,
        .deaths = 1,
        .steps = {{{SKIP, 0}, {SKIP, 0}}, {{POLL, 0}, {POLL, 0}}}};
    struct counts counts = {0};
    compare_both(&in_vain, &counts);
    compare_both(&all_wait, &counts);
    compare_both(&one_waits, &counts);
    assert_int_equal(counts.n_compared, 3);
}

/* The history shows which operations have ended before another one begins: a try of two moves
 * begins in between, or a refused try of one move hides the order of two others. */
static void the_history_is_an_order(void **state)
{
    (void)state;
    static const struct program begins_between = {
        .n_workers = 3,
        .n_steps = 2,
        .deaths = 1,
        .steps = {{{TRY, 0}, {POLL, 0}}, {{PUT, 0}, {SET, 1}}, {{END, 0}, {ADD, 1}}}};
    static const struct program is_hidden = {
        .n_workers = 3,
        .n_steps = 2,
        .steps = {{{CLEAR, 0}, {END, 0}}, {{SET, 1}, {POLL, 1}}, {{SET, 1}, {POLL, 1}}}};
    struct counts counts = {0};
    compare_both(&begins_between, &counts);
    compare_both(&is_hidden, &counts);
    assert_int_equal(counts.n_compared, 2);
}

/* A refused try that changed nothing comes after moves of others, and its worker's next moves do
 * not for that. */
static void a_refused_try_is_no_order(void **state)
{
    (void)state;
    static const struct program looks_first = {
        .n_workers = 2,
        .n_steps = 4,
        .steps = {{{SET, 2}, {UNLOCK, 0}, {READ, 0}, {TRY, 0}},
                  {{PUT, 1}, {SET, 0}, {TRY, 1}, {PUT, 2}}}};
    static const struct program three = {.n_workers = 3,
                                         .n_steps = 3,
                                         .steps = {{{SET, 0}, {TRY, 0}, {READ, 1}},
                                                   {{SET, 1}, {SET, 0}, {SKIP, 0}},
                                                   {{SET, 0}, {SET, 0}, {SKIP, 0}}}};
    struct counts counts = {0};
    compare_both(&looks_first, &counts);
    compare_both(&three, &counts);
    assert_int_equal(counts.n_compared, 2);
}

/* Each of three workers gets the lock in some order. The two that do not only look, and still none
 * of them can be moved before the one that does. */
static void a_lock_that_is_seen_is_an_order(void **state)
{
    (void)state;
    static const struct program program = {
        .n_workers = 3, .n_steps = 1, .steps = {{{SKIP, 0}}, {{SKIP, 0}}, {{SKIP, 0}}}};
    struct counts counts = {0};
    compare_both(&program, &counts);
    assert_int_equal(counts.n_compared, 1);
    assert_int_equal(counts.n_reduced, 3);
}

/* Three workers that each add to two variables of their own: one schedule, and none is begun in
 * vain. */
static void no_order_is_begun_in_vain(void **state)
{
    (void)state;
    struct program program = {.n_workers = 3, .n_steps = 2};
    struct lb_search_result result;
    for (unsigned w = 0; w < 3; w++)
        for (unsigned i = 0; i < 2; i++)
            program.steps[w][i] = (struct step){ADD, w};
    free(run(&program, &(struct lb_search_options){.preemptions = -1, .all = true}, &result));
    assert_int_equal(result.n_schedules, 1);
    assert_int_equal(result.n_asleep, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_end_is_lost),
                                       cmocka_unit_test(ends_in_vain_are_found),
                                       cmocka_unit_test(the_history_is_an_order),
                                       cmocka_unit_test(a_refused_try_is_no_order),
                                       cmocka_unit_test(a_lock_that_is_seen_is_an_order),
                                       cmocka_unit_test(no_order_is_begun_in_vain)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
