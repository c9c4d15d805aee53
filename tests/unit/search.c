/* The search over schedules, on systems made of arithmetic.
 *
 * A program is a few steps per worker over three shared variables. The unreduced search runs every
 * order of the steps; the reduced one must end in the same set of final states, and run exactly one
 * schedule of each class of equivalent orders.
 */
#include "search.h"
#include "property.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 3, STEPS = 5, WORKERS = 4, FINALS = 60000 };

enum kind {
    READ,   /* local = digest(local, variable) */
    ADD,    /* variable += 1 */
    SET,    /* variable = local; */
    AWAIT,  /* refused until the variable is at least 1; then as READ */
    LOCK,   /* blocked while a worker has it */
    SNAP,   /* as LOCK, and reads when it begins to wait */
    UNLOCK, /* and the first of those who are blocked goes on, or any of them */
    PEEK,   /* as READ, taken for something that locks */
    RACE,   /* not deterministic: answers differently each time */
    TOSS,   /* answers 0 or 1 by chance */
    HICCUP  /* answers differently in its first replay only */
};

struct step {
    enum kind kind;
    unsigned variable;
};

struct program {
    unsigned n_workers, n_steps;
    struct step steps[WORKERS][STEPS];
    int violation_at; /* final value of variable 0 that is a violation; -1: none */
    bool chooses;     /* any of the blocked goes on, not always the first */
    bool hides;       /* a wrong relation: nobody sees what another adds */
    bool gives_up;    /* a worker has been refused too often */
    uint64_t draw;    /* which numbers are drawn */
};

struct state {
    unsigned at[WORKERS];
    unsigned blocked[WORKERS]; /* 0, or its place in the queue */
    unsigned n_blocked;
    uint64_t variable[VARIABLES], local[WORKERS];
    int owner[VARIABLES];
};

struct fake {
    const struct program *program;
    struct state now;
    unsigned n_races;
    struct lb_random random;
    struct lb_footprint made[LB_MAX_LENGTH];
    uint8_t moves[LB_MAX_LENGTH];
    size_t n_moves;
    uint64_t finals[FINALS], classes[FINALS];
    size_t n_finals, n_classes, n_stuck;
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

static uint32_t fake_enabled(void *arg)
{
    const struct fake *fake = arg;
    uint32_t enabled = 0;
    for (unsigned w = 0; w < fake->program->n_workers; w++)
        if (fake->now.at[w] < fake->program->n_steps && !fake->now.blocked[w])
            enabled |= 1u << w;
    return enabled;
}

static bool is_finished(const struct fake *fake, const struct state *now)
{
    for (unsigned w = 0; w < fake->program->n_workers; w++)
        if (now->at[w] < fake->program->n_steps)
            return false;
    return true;
}

static bool fake_finished(void *arg)
{
    const struct fake *fake = arg;
    return is_finished(fake, &fake->now);
}

/* The worker that waits for the variable, by place in the queue. */
static unsigned queue_for(const struct program *program, const struct state *now, unsigned variable,
                          unsigned *ret)
{
    unsigned n = 0;
    for (unsigned place = 1; place <= now->n_blocked; place++)
        for (unsigned w = 0; w < program->n_workers; w++)
            if (now->blocked[w] == place && program->steps[w][now->at[w]].variable == variable)
                ret[n++] = w;
    return n;
}

static void hand_over(struct state *now, unsigned variable, unsigned to)
{
    now->owner[variable] = (int)to;
    now->blocked[to] = 0;
    now->at[to]++;
}

/* Returns the worker that has the lock now, from 1 on; 0: none. */
static unsigned unlock(struct fake *fake, unsigned variable)
{
    unsigned queue[WORKERS];
    unsigned n = queue_for(fake->program, &fake->now, variable, queue);
    fake->now.owner[variable] = -1;
    if (n == 0)
        return 0;
    unsigned first = queue[fake->program->chooses ? lb_random_below(&fake->random, n) : 0];
    hand_over(&fake->now, variable, first);
    return first + 1;
}

static int fake_move(void *arg, unsigned move, struct lb_moved *ret, struct lb_error *err)
{
    struct fake *fake = arg;
    struct state *now = &fake->now;
    const struct step *step = &fake->program->steps[move][now->at[move]];
    uint32_t bit = 1u << step->variable;
    uint64_t *variable = &now->variable[step->variable];
    unsigned queue[WORKERS], n_waiting;
    (void)err;
    bool advance = true;
    ret->answer = 1;
    if (step->kind != UNLOCK && step->kind != LOCK && step->kind != SNAP)
        for (unsigned i = 0; i < VARIABLES; i++)
            if (now->owner[i] == (int)move)
                ret->touched.holds |= 1u << i << 8;
    switch (step->kind) {
    case AWAIT:
    case READ:
        ret->touched.reads = bit;
        if (step->kind == AWAIT && *variable == 0) {
            ret->refused[move] = (struct lb_refused){.is_refused = true,
                                                     .is_own = true,
                                                     .first = fake->n_moves,
                                                     .touched = ret->touched};
            advance = false;
            break;
        }
        now->local[move] = lb_test_mix(now->local[move], *variable + 7);
        ret->answer = *variable;
        break;
    case ADD:
        ret->touched.writes = bit;
        ret->touched.commits = fake->program->hides ? 0 : bit;
        ++*variable;
        break;
    case SET:
        ret->touched.writes = ret->touched.commits = bit;
        *variable = lb_test_mix(now->local[move], move + 1);
        break;
    case SNAP:
    case LOCK: /* of those that it has itself, too: for ever */
        if (step->kind == SNAP) {
            ret->touched.reads = bit;
            now->local[move] = lb_test_mix(now->local[move], *variable + 13);
        }
        ret->touched.writes = bit << 8;
        if (now->owner[step->variable] < 0) {
            now->owner[step->variable] = (int)move;
        } else {
            ret->touched.queues = step->kind == LOCK && now->owner[step->variable] != (int)move;
            now->blocked[move] = ++now->n_blocked;
            advance = false;
        }
        break;
    case UNLOCK:
        ret->touched.commits = ret->touched.reads = bit << 8;
        n_waiting = queue_for(fake->program, now, step->variable, queue);
        if (now->owner[step->variable] == (int)move)
            ret->answer = unlock(fake, step->variable);
        ret->is_choice = n_waiting > 1;
        break;
    case PEEK:
        ret->touched.reads = bit;
        ret->touched.writes = bit << 8;
        now->local[move] = lb_test_mix(now->local[move], *variable + 11);
        ret->answer = *variable;
        break;
    case RACE:
        ret->answer = fake->n_races++;
        break;
    case TOSS:
        ret->answer = lb_random_below(&fake->random, 2);
        break;
    case HICCUP:
        ret->answer = fake->n_races++ == 1;
        break;
    }
    if (advance)
        now->at[move]++;
    fake->made[fake->n_moves] = ret->touched;
    fake->moves[fake->n_moves++] = (uint8_t)move;
    return 0;
}

/* The class of a schedule: its lexically smallest reordering of independent moves, found by taking
 * again and again the smallest move that can come first. */
static uint64_t class_of(const struct fake *fake)
{
    bool used[LB_MAX_LENGTH] = {false};
    uint64_t digest = 5;
    for (size_t k = 0; k < fake->n_moves; k++) {
        size_t best = LB_MAX_LENGTH;
        for (size_t i = 0; i < fake->n_moves; i++) {
            bool can = !used[i];
            for (size_t j = 0; j < i && can; j++)
                if (!used[j] && (fake->moves[j] == fake->moves[i] ||
                                 lb_footprint_dependent(&fake->made[j], &fake->made[i])))
                    can = false;
            if (can && (best == LB_MAX_LENGTH || fake->moves[i] < fake->moves[best]))
                best = i;
        }
        used[best] = true;
        digest = lb_test_mix(digest, fake->moves[best] + 1u);
    }
    return digest;
}

static uint64_t digest_of(const struct fake *fake, const struct state *now, enum lb_ending ending)
{
    uint64_t digest = ending;
    for (unsigned i = 0; i < VARIABLES; i++)
        digest = lb_test_mix(digest, now->variable[i]);
    for (unsigned w = 0; w < fake->program->n_workers; w++)
        digest = lb_test_mix(lb_test_mix(digest, now->local[w]), now->at[w]);
    return digest;
}

static int fake_end(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err)
{
    struct fake *fake = arg;
    (void)waiting;
    (void)err;
    if (ending == LB_END_PRUNED)
        return 0;
    fake->n_stuck += ending == LB_END_STUCK;
    lb_test_note(fake->finals, &fake->n_finals, FINALS, digest_of(fake, &fake->now, ending));
    lb_test_note(fake->classes, &fake->n_classes, FINALS, class_of(fake));
    return fake->program->violation_at >= 0 &&
           fake->now.variable[0] == (uint64_t)fake->program->violation_at;
}

static int fake_left(void *arg, uint64_t *ret, struct lb_error *err)
{
    const struct fake *fake = arg;
    (void)err;
    *ret = digest_of(fake, &fake->now, LB_END_DONE);
    return 0;
}

static bool fake_gave_up(void *arg)
{
    return ((const struct fake *)arg)->program->gives_up;
}

static const struct lb_system system_of_fakes = {.reset = fake_reset,
                                                 .enabled = fake_enabled,
                                                 .finished = fake_finished,
                                                 .move = fake_move,
                                                 .end = fake_end,
                                                 .left = fake_left,
                                                 .gave_up = fake_gave_up};

static struct fake *run(const struct program *program, const struct lb_search_options *options,
                        struct lb_search_result *result)
{
    struct lb_error err = {0};
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->program = program;
    lb_random_init(&fake->random, 1 + program->draw, 0);
    assert_int_equal(lb_search(&system_of_fakes, fake, options, result, &err), 0);
    return fake;
}

static bool same_set(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++) {
        size_t k = 0;
        while (k < n_b && b[k] != a[i])
            k++;
        if (k == n_b)
            return false;
    }
    return true;
}

/* 3 workers with 4 steps each on variables of their own: 34,650 orders, one class. */
static void independent_steps_need_one_schedule(void **state)
{
    (void)state;
    struct program program = {.n_workers = 3, .n_steps = 4, .violation_at = -1};
    for (unsigned w = 0; w < 3; w++)
        for (unsigned i = 0; i < 4; i++)
            program.steps[w][i] = (struct step){ADD, w};
    struct lb_search_result reduced, all;
    free(run(&program, &(struct lb_search_options){.preemptions = -1}, &reduced));
    free(run(&program, &(struct lb_search_options){.preemptions = -1, .unreduced = true}, &all));
    assert_int_equal(reduced.n_schedules, 1);
    assert_int_equal(all.n_schedules, 34650);
    assert_true(reduced.complete);
    assert_true(all.complete);
}

static struct step random_step(struct lb_random *random, bool with_locks)
{
    static const enum kind kinds[] = {READ, READ, ADD, SET, AWAIT, LOCK, UNLOCK, PEEK, SNAP};
    return (struct step){kinds[lb_random_below(random, with_locks ? 9 : 4)],
                         (unsigned)lb_random_below(random, VARIABLES)};
}

/* Without refusals and locks: the same final states, and exactly one schedule of each class. */
static void reduction_loses_nothing(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 1);
    for (int round = 0; round < 300; round++) {
        struct program program = {.n_workers = 2 + (unsigned)lb_random_below(&random, 2),
                                  .violation_at = -1};
        program.n_steps = program.n_workers == 2 ? 4 : 3;
        for (unsigned w = 0; w < program.n_workers; w++)
            for (unsigned i = 0; i < program.n_steps; i++)
                program.steps[w][i] = random_step(&random, false);
        struct lb_search_result reduced, all;
        struct fake *few =
            run(&program, &(struct lb_search_options){.preemptions = -1, .all = true}, &reduced);
        struct fake *many = run(
            &program,
            &(struct lb_search_options){.preemptions = -1, .all = true, .unreduced = true}, &all);
        assert_true(same_set(few->finals, few->n_finals, many->finals, many->n_finals));
        assert_true(same_set(few->classes, few->n_classes, many->classes, many->n_classes));
        assert_int_equal(reduced.n_schedules, many->n_classes);
        free(few);
        free(many);
    }
}

/* With waiting and blocking: the same final states, stuck ones included. */
static void reduction_keeps_waits_and_locks(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 2);
    size_t n_stuck = 0, n_fewer = 0;
    for (int round = 0; round < 600; round++) {
        struct program program = {.n_workers = 2 + (unsigned)lb_random_below(&random, 2),
                                  .violation_at = -1};
        program.n_steps = program.n_workers == 2 ? 4 : 3;
        for (unsigned w = 0; w < program.n_workers; w++)
            for (unsigned i = 0; i < program.n_steps; i++)
                program.steps[w][i] = random_step(&random, true);
        struct lb_search_result reduced, all;
        struct fake *few =
            run(&program, &(struct lb_search_options){.preemptions = -1, .all = true}, &reduced);
        struct fake *many = run(
            &program,
            &(struct lb_search_options){.preemptions = -1, .all = true, .unreduced = true}, &all);
        assert_true(same_set(few->finals, few->n_finals, many->finals, many->n_finals));
        assert_true(reduced.n_schedules <= all.n_schedules);
        assert_true(reduced.complete && all.complete);
        assert_int_equal(few->n_stuck > 0, many->n_stuck > 0);
        n_stuck += few->n_stuck > 0;
        n_fewer += reduced.n_schedules < all.n_schedules;
        free(few);
        free(many);
    }
    assert_true(n_stuck > 8); /* the programs do get stuck now and then */
    assert_true(n_fewer > 200);
}

/* Explores, and audits all pairs. Returns how many were; *ret_differs: a pair does not agree. */
static uint64_t audit(const struct program *program, bool *ret_differs)
{
    struct lb_audit *audit = calloc(1, sizeof *audit);
    struct lb_search_result result;
    struct lb_error err = {0};
    assert_non_null(audit);
    lb_random_init(&audit->random, 1, 1);
    struct lb_search_options options = {.preemptions = -1, .all = true, .audit = audit};
    struct fake *fake = run(program, &options, &result);
    assert_int_equal(lb_audit_run(audit, &system_of_fakes, fake, UINT64_MAX, NULL, &err), 0);
    uint64_t n = audit->n_audited;
    *ret_differs = audit->differs != NULL;
    free(fake);
    free(audit);
    return n;
}

/* The pairs of a right relation always agree. Of a wrong one the audit finds a pair that does not.
 */
static void the_audit_finds_a_wrong_reduction(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 8);
    uint64_t n_audited = 0;
    unsigned n_wrong = 0;
    bool differs;
    for (int round = 0; round < 600; round++) {
        struct program program = {.n_workers = 2, .n_steps = 4, .violation_at = -1};
        for (unsigned w = 0; w < program.n_workers; w++)
            for (unsigned i = 0; i < program.n_steps; i++)
                program.steps[w][i] = random_step(&random, true);
        n_audited += audit(&program, &differs);
        assert_false(differs);
        program.hides = true;
        audit(&program, &differs);
        n_wrong += differs;
    }
    print_message("# %llu pairs agreed; a wrong relation was found in %u of 600 programs\n",
                  (unsigned long long)n_audited, n_wrong);
    assert_true(n_audited > 600 && n_wrong > 10);
    struct program simple = {.n_workers = 2,
                             .n_steps = 1,
                             .violation_at = -1,
                             .hides = true,
                             .steps = {{{ADD, 0}}, {{READ, 0}}}};
    assert_true(audit(&simple, &differs) == 1 && differs);
    simple.gives_up = true; /* the number of tries decides, and the relation does not cover it */
    assert_true(audit(&simple, &differs) == 0 && !differs);
}

/* A statement that draws at random differs from run to run, which is no wrong reduction. */
static void the_audit_accuses_no_draw(void **state)
{
    (void)state;
    struct program program = {
        .n_workers = 2, .n_steps = 2, .steps = {{{TOSS, 0}, {ADD, 1}}, {{ADD, 2}, {ADD, 2}}}};
    program.violation_at = -1;
    bool differs = false;
    for (program.draw = 0; program.draw < 400 && !differs; program.draw++)
        audit(&program, &differs);
    assert_false(differs);
}

/* All final states, by recursion over copies of the state: every move, and of every unlock every
 * choice. */
static void find_finals(struct fake *fake, const struct state *now, uint64_t *finals, size_t *n)
{
    const struct program *program = fake->program;
    unsigned n_moves = 0;
    for (unsigned w = 0; w < program->n_workers; w++) {
        const struct step *step = &program->steps[w][now->at[w]];
        bool waits = now->at[w] < program->n_steps && step->kind == AWAIT &&
                     now->variable[step->variable] == 0;
        if (now->at[w] == program->n_steps || now->blocked[w] != 0 || waits)
            continue;
        n_moves++;
        unsigned queue[WORKERS], n_queue = 0;
        if (step->kind == UNLOCK && now->owner[step->variable] == (int)w)
            n_queue = queue_for(program, now, step->variable, queue);
        for (unsigned i = 0; i < n_queue; i++) {
            struct state next = *now;
            next.at[w]++;
            hand_over(&next, step->variable, queue[i]);
            find_finals(fake, &next, finals, n);
        }
        if (n_queue > 0)
            continue;
        struct lb_moved ignored = {0};
        struct lb_error err = {0};
        fake->now = *now;
        fake->n_moves = 0;
        assert_int_equal(fake_move(fake, w, &ignored, &err), 0);
        struct state next = fake->now;
        find_finals(fake, &next, finals, n);
    }
    if (n_moves == 0)
        lb_test_note(finals, n, FINALS,
                     digest_of(fake, now, is_finished(fake, now) ? LB_END_DONE : LB_END_STUCK));
}

/* An engine that lets any of the blocked workers go on: every choice, and its consequences, are
 * found. One of two stays unseen in 60 replays with a probability of 1e-18. */
static void every_choice_of_the_engine_is_followed(void **state)
{
    (void)state;
    static struct fake truth;
    static uint64_t finals[FINALS];
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 3);
    size_t n_choosing = 0;
    for (int round = 0; round < 600; round++) {
        struct program program = {
            .n_workers = 3, .n_steps = 4, .violation_at = -1, .chooses = true};
        for (unsigned w = 0; w < program.n_workers; w++) {
            for (unsigned i = 0; i < program.n_steps; i++)
                program.steps[w][i] = random_step(&random, true);
            program.steps[w][0] = (struct step){w > 0 ? SNAP : LOCK, 0};
            program.steps[w][1] = (struct step){w > 0 ? READ : ADD, 0};
            program.steps[w][2] = (struct step){UNLOCK, 0};
        }
        struct lb_search_result result;
        struct fake *fake =
            run(&program,
                &(struct lb_search_options){.preemptions = -1, .all = true, .choice_replays = 60},
                &result);
        size_t n = 0;
        struct lb_error err = {0};
        truth.program = &program;
        fake_reset(&truth, &err);
        struct state start = truth.now;
        find_finals(&truth, &start, finals, &n);
        for (size_t i = 0; i < fake->n_finals; i++) {
            size_t k = 0;
            while (k < n && finals[k] != fake->finals[i])
                k++;
            assert_true(k < n);
        }
        assert_true(result.complete);
        assert_int_equal(result.n_unreached, 0);
        assert_int_equal(fake->n_finals, n);
        n_choosing += result.n_choices > 0;
        free(fake);
    }
    assert_true(n_choosing > 100);
}

/* Two workers that read and then write what they read: the lost update needs one preemption. */
static void preemptions_are_bounded(void **state)
{
    (void)state;
    struct program program = {
        .n_workers = 2, .n_steps = 2, .steps = {{{READ, 0}, {ADD, 0}}, {{READ, 0}, {ADD, 0}}}};
    program.violation_at = -1;
    for (int bound = 0; bound < 4; bound++) {
        struct lb_search_result result;
        free(run(&program, &(struct lb_search_options){.preemptions = bound}, &result));
        static const unsigned expected[] = {2, 4, 6, 6};
        assert_int_equal(result.n_schedules, expected[bound]);
        assert_true(result.complete);
    }
}

static const struct program three_adders = {.n_workers = 3,
                                            .n_steps = 4,
                                            .steps = {{{READ, 1}, {ADD, 0}, {READ, 1}, {ADD, 1}},
                                                      {{READ, 2}, {READ, 1}, {ADD, 0}, {ADD, 2}},
                                                      {{ADD, 2}, {READ, 0}, {ADD, 0}, {READ, 2}}},
                                            .violation_at = 3};

static void a_violation_is_found_and_shrunk(void **state)
{
    (void)state;
    struct lb_error err = {0};
    struct lb_search_result result;
    struct fake *fake = run(&three_adders, &(struct lb_search_options){.preemptions = -1}, &result);
    assert_int_equal(result.violated, 1);
    struct lb_schedule schedule = result.first[0];
    assert_int_equal(schedule.n, 12);
    uint64_t n_replays = 0;
    assert_int_equal(lb_search_shrink(&system_of_fakes, fake, 1, NULL, &schedule, &n_replays, &err),
                     0);
    assert_true(n_replays > 0);
    /* Up to each worker's own addition: 2, 3 and 3 moves, one worker after the other. */
    assert_int_equal(schedule.n, 8);
    assert_int_equal(lb_schedule_switches(&schedule), 2);
    free(fake);
}

static void random_schedules_depend_on_the_seed_only(void **state)
{
    (void)state;
    struct lb_search_result a, b;
    struct lb_search_options options = {
        .preemptions = -1, .random = 200, .depth = 3, .seed = 42, .all = true};
    struct fake *one = run(&three_adders, &options, &a), *two = run(&three_adders, &options, &b);
    assert_int_equal(a.n_schedules, 200);
    assert_true(same_set(one->classes, one->n_classes, two->classes, two->n_classes));
    assert_int_equal(a.n_moves, b.n_moves);
    assert_true(one->n_classes > 3);
    free(one);
    free(two);
}

static void an_engine_that_answers_differently_is_noticed(void **state)
{
    (void)state;
    struct program program = {
        .n_workers = 2, .n_steps = 2, .steps = {{{RACE, 0}, {ADD, 0}}, {{ADD, 0}, {ADD, 0}}}};
    program.violation_at = -1;
    struct lb_search_result result;
    free(run(&program, &(struct lb_search_options){.preemptions = -1}, &result));
    assert_true(result.differs);
    assert_false(result.complete);
    assert_int_equal(result.differing.moves[result.differing.n - 1], 0);
}

static void an_answer_that_does_not_come_again_is_given_up(void **state)
{
    (void)state;
    struct program program = {
        .n_workers = 2, .n_steps = 2, .steps = {{{HICCUP, 0}, {ADD, 0}}, {{ADD, 0}, {ADD, 0}}}};
    program.violation_at = -1;
    struct lb_search_result result;
    free(run(&program, &(struct lb_search_options){.preemptions = -1, .unreduced = true}, &result));
    assert_int_equal(result.n_schedules, 6); /* all of them */
    assert_int_equal(result.n_unreached,
                     1); /* and the consequences of the other answer are unknown */
    assert_int_equal(result.n_repeated, 1 + LB_MAX_REPLAYS);
    assert_int_equal(result.differing.n, 1);
    assert_false(result.differs);
    assert_false(result.complete);
}

static void watch_share(void *arg, const struct lb_search_result *so_far)
{
    double *last = arg;
    assert_true(so_far->share >= *last && so_far->share <= 1 + 1e-9);
    *last = so_far->share;
}

static void the_share_that_is_done_grows_to_all(void **state)
{
    (void)state;
    double share = 0;
    struct lb_search_options options = {.preemptions = -1,
                                        .all = true,
                                        .unreduced = true,
                                        .max_schedules = 17325,
                                        .progress = watch_share,
                                        .progress_arg = &share};
    struct program program = {.n_workers = 3, .n_steps = 4, .violation_at = -1};
    struct lb_search_result result;
    free(run(&program, &options, &result)); /* half of 34,650 orders */
    assert_true(result.share > 0.3 && result.share < 0.7);
    options.max_schedules = 0;
    share = 0;
    free(run(&program, &options, &result));
    assert_true(result.complete);
    assert_true(result.share == 1);
}

static void a_move_that_cannot_be_made_is_refused(void **state)
{
    (void)state;
    struct lb_error err = {0};
    struct lb_schedule schedule;
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->program = &three_adders;
    assert_int_equal(lb_schedule_parse("00000", &schedule, &err), 0);
    assert_int_equal(lb_search_replay(&system_of_fakes, fake, &schedule, NULL, &err), LB_E_USAGE);
    free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_steps_need_one_schedule),
        cmocka_unit_test(reduction_loses_nothing),
        cmocka_unit_test(reduction_keeps_waits_and_locks),
        cmocka_unit_test(the_audit_finds_a_wrong_reduction),
        cmocka_unit_test(the_audit_accuses_no_draw),
        cmocka_unit_test(preemptions_are_bounded),
        cmocka_unit_test(a_violation_is_found_and_shrunk),
        cmocka_unit_test(random_schedules_depend_on_the_seed_only),
        cmocka_unit_test(an_engine_that_answers_differently_is_noticed),
        cmocka_unit_test(an_answer_that_does_not_come_again_is_given_up),
        cmocka_unit_test(every_choice_of_the_engine_is_followed),
        cmocka_unit_test(the_share_that_is_done_grows_to_all),
        cmocka_unit_test(a_move_that_cannot_be_made_is_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
