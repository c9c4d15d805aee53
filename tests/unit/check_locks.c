/* Locks: every closed form of the judge against a brute-force search, on random small histories and
 * on mutations of them. The search is in check_locks/. */
#include "check_locks/lock_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct test_history history;
static struct lb_judgement judgement;
struct brute brute;
static uint64_t seed;

static bool judge_legal(const struct shape *shape)
{
    struct lb_error err = {0};
    if (judge_history(&history, &judgement, &err) != 0) {
        print_history(&history);
        fail_msg("lb_check: %s", err.message);
    }
    if (shape->legal == legal_refusals)
        return judgement.findings[LB_G_EXCLUSIVE].n_violations > 0 ||
               judgement.measures.n_refusals_unjustified == 0;
    return judgement.findings[shape->guarantee].n_violations == 0;
}

/* Histories of which the judge says that it cannot tell. */
static uint64_t n_untold;

static bool notes_others_ends; /* the history that was compared last */

static bool compare(const struct shape *shape)
{
    notes_others_ends = ends_others(&history);
    bool expected = shape->legal(shape), got = judge_legal(shape);
    if (expected == got || (shape->sound_only && !expected))
        return expected;
    if (!expected && shape->legal != legal_refusals &&
        judgement.findings[shape->guarantee].verdict == LB_V_NOT_TESTED &&
        judgement.findings[shape->guarantee].n_tested > 0) {
        n_untold++;
        return expected;
    }
    print_disagreement(&history, &brute);
    fail_msg("%s: %s by search, %s by the judge (%s); seed %llu", shape->name,
             expected ? "legal" : "illegal", got ? "legal" : "illegal",
             judgement.findings[shape->guarantee].witness[0].text, (unsigned long long)seed);
    return got;
}

/* What is missing excuses: nothing is violated in a part of what is legal. If all notes of others'
 * ends are missing, nobody can know that there were any. */
static void compare_cut(const struct shape *shape)
{
    if ((notes_others_ends && !ends_others(&history)) || judge_legal(shape))
        return;
    print_history(&history);
    fail_msg("%s: violated in a part of a legal history (%s), of which nothing is missing before "
             "%llu; seed %llu",
             shape->name, judgement.findings[shape->guarantee].witness[0].text,
             (unsigned long long)history.view.whole_ns, (unsigned long long)seed);
}

/* Of leases, lines, readers and several permits the search knows only workers that have one thing,
 * or place, at a time, and give back what they took: it keeps what a worker does within a tick in
 * order, which for the judge is concurrent, and takes no release for that of other permits. */
static void agree(void **state)
{
    const struct shape *shape = *state;
    n_untold = 0;
    struct tally tally = compare_histories(
        &(struct comparison){.name = shape->name,
                             .shape = shape,
                             .history = &history,
                             .seed = seed,
                             .tick = shape->tick,
                             .generate = generate,
                             .keep_deeds = shape->lease || shape->tickets ||
                                           shape->shared_percent > 0 || shape->max_permits > 1,
                             .compare = compare,
                             .compare_cut = shape->legal != legal_refusals ? compare_cut : NULL});
    if (n_untold > 0)
        printf("# %s: of %llu illegal histories the judge could not tell\n", shape->name,
               (unsigned long long)n_untold);
    if (!tally_is_fair(&tally) || n_untold * 100 > tally.n)
        fail_msg("%s: the histories are too one-sided to tell", shape->name);
}

static struct shape shapes[] = {
    {.name = "mutex",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "mutex by state",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .release = LB_RELEASE_STATE,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "semaphore",
     .capacity = 2,
     .max_permits = 1,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "weighted semaphore",
     .capacity = 3,
     .max_permits = 3,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "readers and writers",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 50,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "some writers",
     .capacity = 2,
     .max_permits = 2,
     .shared_percent = 30,
     .resources = 1,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare mutex",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare readers and writers",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 50,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare readers and writers by state",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 60,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .release = LB_RELEASE_STATE,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare weighted semaphore",
     .capacity = 3,
     .max_permits = 3,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "bare readers beside two writers",
     .capacity = 2,
     .max_permits = 2,
     .shared_percent = 30,
     .resources = 1,
     .bare = true,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "owner of a mutex",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "owner of a mutex by state",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .retry = true,
     .odd_ends = true,
     .tick = 1,
     .release = LB_RELEASE_STATE,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "mutex whose sessions end",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .sessions = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    {.name = "semaphore whose sessions end",
     .capacity = 2,
     .max_permits = 1,
     .resources = 1,
     .sessions = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_holds},
    /* Who renews after another noted the end of its session has it again, which the judge does not
     * count on: it may let a violation pass, and never accuses. */
    {.name = "owner of a mutex whose sessions end",
     .sound_only = true,
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .sessions = true,
     .odd_ends = true,
     .retry = true,
     .tick = 1,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "lease whose sessions end",
     .sound_only = true,
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .sessions = true,
     .odd_ends = true,
     .lease = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_lease},
    {.name = "untold lease whose sessions end",
     .sound_only = true,
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .sessions = true,
     .odd_ends = true,
     .lease = true,
     .untold = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_lease},
    {.name = "owner of a lease whose sessions end",
     .sound_only = true,
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .sessions = true,
     .odd_ends = true,
     .lease = true,
     .late = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "owner of a brief lease whose sessions end",
     .sound_only = true,
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .sessions = true,
     .odd_ends = true,
     .lease = true,
     .brief = true,
     .late = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "reentrant",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .reentrant = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_reentrant},
    {.name = "lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .odd_ends = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_lease},
    {.name = "untold lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .untold = true,
     .odd_ends = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_lease},
    {.name = "owner of an untold lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .untold = true,
     .late = true,
     .tokens = true,
     .odd_ends = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "owner of a lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .late = true,
     .tokens = true,
     .odd_ends = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    {.name = "brief lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .brief = true,
     .odd_ends = true,
     .tokens = true,
     .tick = MS,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_lease},
    {.name = "owner of a brief lease",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .lease = true,
     .brief = true,
     .late = true,
     .tokens = true,
     .odd_ends = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owner},
    /* Of two that are answered within one tick, the judge does not say who came first. */
    {.name = "fences of a lock that excludes",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .tokens = true,
     .sound_only = true,
     .tick = 1,
     .guarantee = LB_G_FENCED,
     .legal = legal_fence},
    {.name = "fences of a lock that excludes, odd ends",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .tokens = true,
     .odd_ends = true,
     .sound_only = true,
     .tick = 1,
     .guarantee = LB_G_FENCED,
     .legal = legal_fence},
    {.name = "fences",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .tokens = true,
     .odd_ends = true,
     .alone = true,
     .tick = 1,
     .guarantee = LB_G_FENCED,
     .legal = legal_tokens},
    {.name = "writes",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .tokens = true,
     .writes = true,
     .alone = true,
     .tick = 1,
     .guarantee = LB_G_FENCED,
     .legal = legal_tokens},
    {.name = "busy",
     .capacity = 1,
     .max_permits = 1,
     .resources = 2,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_EXCLUSIVE,
     .legal = legal_refusals},
    {.name = "line",
     .capacity = 1,
     .max_permits = 1,
     .resources = 1,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
    {.name = "two in line",
     .capacity = 2,
     .max_permits = 1,
     .resources = 1,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
    {.name = "readers in line",
     .capacity = 1,
     .max_permits = 1,
     .shared_percent = 60,
     .resources = 1,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
    {.name = "all in line",
     .sound_only = true,
     .capacity = 2,
     .max_permits = 1,
     .shared_percent = 30,
     .resources = 2,
     .tickets = true,
     .odd_ends = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_line},
};

static void every_shape_is_generated(void **state)
{
    /* These are of queues. */
    static const enum seen never[] = {SEEN_RECOVER, SEEN_STRANGER,    SEEN_AGAIN,     SEEN_BEAT,
                                      SEEN_UNSURE,  SEEN_KEPT,        SEEN_RESUMED,   SEEN_RAISED,
                                      SEEN_PIPED,   SEEN_PIPED_AGAIN, SEEN_PIPED_HALF};
    (void)state;
    expect_seen(never, sizeof never / sizeof never[0]);
}

/* LB_TEST_MODEL: only the models of that name, in which * and ? stand for others. */
int main(void)
{
    enum { N = sizeof shapes / sizeof shapes[0] };
    const char *only = getenv("LB_TEST_MODEL");
    if (only != NULL)
        cmocka_set_test_filter(only);
    struct CMUnitTest tests[N + 1];
    tests[N] = (struct CMUnitTest)cmocka_unit_test(every_shape_is_generated);
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){
            .name = shapes[i].name, .test_func = agree, .initial_state = &shapes[i]};
    seed = lb_test_seed();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
