/* Queues: every closed form of the judge against a brute-force search, on random small histories
 * and on mutations of them. The search is in check_queues/. */
#include "check_queues/queue_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct test_history history;
static struct lb_judgement judgement;
struct brute brute;
uint64_t uncertainty_ns;
static uint64_t seed;

/* The keys of all items, in a log of their own. */
static void note_keys(void)
{
    for (uint64_t id = 1; id <= IDS + 1; id++)
        add_event(&history, LOGS,
                  (struct lb_event){.value = id,
                                    .process = LOGS,
                                    .object = LB_A_KEY,
                                    .arg = (uint32_t)(id % KEYS),
                                    .op = LB_OP_ATTRIBUTE,
                                    .type = LB_EV_NOTE});
}

static bool judge_legal(const struct shape *shape)
{
    struct lb_error err = {0};
    size_t n = history.n[LOGS];
    if (shape->legal == legal_keys)
        note_keys();
    int rc = judge_history(&history, &judgement, &err);
    history.n[LOGS] = n;
    if (rc != 0) {
        print_history(&history);
        fail_msg("lb_check: %s", err.message);
    }
    if (shape->legal == legal_empty)
        return judgement.measures.n_empty_unjustified == 0;
    return judgement.findings[shape->guarantee].n_violations == 0;
}

/* The same with an id that lies far from the others, in an unanswered put: the judge then cannot
 * use its table of dense ids, and must give the same verdict. */
static bool judge_sparse(const struct shape *shape)
{
    add_op(&history, LOGS, LB_OP_PUT, 0, 0, LB_EV_INFO, 0, UINT64_C(1) << 50, 1, 0);
    bool legal = judge_legal(shape);
    history.n[LOGS] = 0;
    return legal;
}

/* The same without shortcuts. */
static bool judge_plainly(const struct shape *shape)
{
    history.model.plain = true;
    bool legal = judge_legal(shape);
    history.model.plain = false;
    return legal;
}

/* No item was claimed before it was put. */
static bool has_no_phantom(void)
{
    history.model.drained = false;
    judge_legal(&(const struct shape){.guarantee = LB_G_NO_LOSS});
    return judgement.findings[LB_G_NO_LOSS].n_violations == 0;
}

/* Two claims of one item are for no-duplicate to judge. */
static bool has_no_duplicate(void)
{
    judge_legal(&(const struct shape){.guarantee = LB_G_NO_DUPLICATE});
    return judgement.findings[LB_G_NO_DUPLICATE].n_violations == 0;
}

/* Order is judged for items that were put before they were claimed, once. */
static bool is_ordered(void)
{
    uint64_t seen[IDS + 2] = {0};
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++)
            if (history.events[log][i].type == LB_EV_NOTE &&
                seen[history.events[log][i].value]++ > 0)
                return false;
    return has_no_phantom();
}

/* Histories of which the judge says that it cannot tell, and which the search had no room for. */
static uint64_t n_untold, n_too_much;

/* Violations that the judge may let pass, of those that the search found. */
static uint64_t n_missed, n_illegal;

/* Of the history that was compared last. */
static bool has_duplicates;

static bool compare(const struct shape *shape)
{
    static struct lb_random random;
    static bool has_random;
    if (!has_random)
        lb_random_init(&random, seed, 1);
    has_random = true;
    compare_settled(shape, &random);
    is_too_much = is_close = false;
    bool expected = shape->legal(), plain = judge_plainly(shape), sparse = judge_sparse(shape),
         got = judge_legal(shape);
    if (plain != got) {
        print_history(&history);
        fail_msg("%s: %s without shortcuts; seed %llu", shape->name, plain ? "legal" : "illegal",
                 (unsigned long long)seed);
    }
    n_too_much += is_too_much;
    has_duplicates = judgement.findings[LB_G_NO_DUPLICATE].n_violations > 0;
    if (is_too_much)
        return got;
    if (!expected && got && shape->may_not_tell &&
        judgement.findings[shape->guarantee].verdict == LB_V_NOT_TESTED &&
        judgement.findings[shape->guarantee].n_tested > 0) {
        n_untold++;
        return expected;
    }
    if (is_close && expected && got == sparse)
        return got;
    n_illegal += !expected;
    if (shape->may_miss && !expected && got && sparse) {
        n_missed++;
        return expected;
    }
    if (shape->uncertainty_ns > 0 && !expected && got && sparse)
        return expected;
    if (expected == got && sparse == got)
        return got;
    print_disagreement(&history, &brute);
    fail_msg("%s: %s by search, %s by the judge, %s with sparse ids (%s); seed %llu", shape->name,
             expected ? "legal" : "illegal", got ? "legal" : "illegal",
             sparse ? "legal" : "illegal", judgement.findings[shape->guarantee].witness[0].text,
             (unsigned long long)seed);
    return got;
}

/* What is missing excuses: nothing is violated in a part of what is legal. Owners are judged where
 * no item was claimed twice, which may be so in a part only. */
static void compare_cut(const struct shape *shape)
{
    if ((has_duplicates && shape->legal == legal_owners) || judge_legal(shape))
        return;
    print_history(&history);
    fail_msg("%s: violated in a part of a legal history (%s), of which nothing is missing before "
             "%llu; seed %llu",
             shape->name, judgement.findings[shape->guarantee].witness[0].text,
             (unsigned long long)history.view.whole_ns, (unsigned long long)seed);
}

static void agree(void **state)
{
    const struct shape *shape = *state;
    n_untold = n_too_much = n_missed = n_illegal = 0;
    struct tally tally = compare_histories(
        &(struct comparison){.name = shape->name,
                             .shape = shape,
                             .history = &history,
                             .seed = seed,
                             .tick = shape->tick,
                             .generate = generate,
                             .is_asked = shape->again                 ? has_no_phantom
                                         : shape->once                ? is_ordered
                                         : shape->legal == legal_keys ? has_no_duplicate
                                                                      : NULL,
                             .compare = compare,
                             .compare_cut = shape->legal != legal_empty ? compare_cut : NULL});
    if (n_untold > 0)
        printf("# %s: of %llu illegal histories the judge could not tell\n", shape->name,
               (unsigned long long)n_untold);
    if (n_too_much > 0)
        printf("# %s: %llu histories were too much for the search\n", shape->name,
               (unsigned long long)n_too_much);
    if (n_missed > 0)
        printf("# %s: the judge let %llu of %llu violations pass\n", shape->name,
               (unsigned long long)n_missed, (unsigned long long)n_illegal);
    if (is_commoner(n_missed, n_illegal, 3))
        fail_msg("%s: the judge lets too many violations pass", shape->name);
    if (is_commoner(n_too_much, tally.n, 50) || !tally_is_fair(&tally) ||
        is_commoner(n_untold, tally.n,
                    shape->legal == legal_items ? 10000
                    : shape->strict             ? 5
                                                : 50))
        fail_msg("%s: the histories are too one-sided to tell", shape->name);
}

static struct shape shapes[] = {
    {.name = "items",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "recurring item",
     .pipelines = true,
     .resets = true,
     .recurring = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "uncertain items",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .uncertainty_ns = 2,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "an uncertain recurring item",
     .pipelines = true,
     .resets = true,
     .recurring = true,
     .uncertainty_ns = 1,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "leased items",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .resets = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "recovered items",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "renewed items that are recovered",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "leased items that are recovered",
     .pipelines = true,
     .lease = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "untold renewals of leased items",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .untold = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "brief renewals of items that are recovered",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .brief = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "processes that beat",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .beats = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "processes that beat and renew",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .brief = true,
     .untold = true,
     .beats = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "sessions that end, and renewals",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .renews = true,
     .untold = true,
     .sessions = true,
     .late = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "strangers and renewals",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .strangers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "items that strangers end",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .strangers = true,
     .tick = 1,
     .may_not_tell = true,
     .guarantee = LB_G_NO_DUPLICATE,
     .legal = legal_items},
    {.name = "owners of items that strangers end",
     .pipelines = true,
     .resets = true,
     .strangers = true,
     .tick = 1,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "dequeued items",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .final = true,
     .tick = 1,
     .guarantee = LB_G_NO_DUPLICATE,
     .may_not_tell = true,
     .legal = legal_items},
    {.name = "owners of items",
     .pipelines = true,
     .lease = true,
     .resets = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "owners of recovered items",
     .pipelines = true,
     .resets = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "owners of items with beats, and lost",
     .pipelines = true,
     .recovers = true,
     .resets = true,
     .beats = true,
     .sessions = true,
     .late = true,
     .tick = MS,
     .may_not_tell = true,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "executions",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_ONCE,
     .legal = legal_once},
    {.name = "executions of recovered items",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .renews = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_ONCE,
     .legal = legal_once},
    {.name = "groups",
     .pipelines = true,
     .odd_ends = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "groups of recovered items",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "groups of items that strangers end",
     .pipelines = true,
     .odd_ends = true,
     .strangers = true,
     .tick = 1,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "keys",
     .pipelines = true,
     .odd_ends = true,
     .batches = true,
     .may_miss = true,
     .tick = 1,
     .guarantee = LB_G_KEY_LIMIT,
     .legal = legal_keys},
    {.name = "keys of leased items, in sessions that end",
     .lease = true,
     .batches = true,
     .renews = true,
     .sessions = true,
     .may_miss = true,
     .tick = MS,
     .guarantee = LB_G_KEY_LIMIT,
     .legal = legal_keys},
    {.name = "owners beside ends of unknown outcome",
     .pipelines = true,
     .odd_ends = true,
     .resets = true,
     .recovers = true,
     .strangers = true,
     .late = true,
     .tick = MS,
     .may_not_tell = true,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "owners of leased items, renewed, and lost",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .resets = true,
     .renews = true,
     .untold = true,
     .sessions = true,
     .late = true,
     .tick = MS,
     .may_not_tell = true,
     .guarantee = LB_G_OWNER_RELEASE,
     .legal = legal_owners},
    {.name = "executions in sessions that end",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .resets = true,
     .renews = true,
     .strangers = true,
     .sessions = true,
     .beats = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_ONCE,
     .legal = legal_once},
    {.name = "groups in sessions that end",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .renews = true,
     .untold = true,
     .sessions = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_GROUP_EXCLUSIVE,
     .may_not_tell = true,
     .legal = legal_groups},
    {.name = "loss in sessions that end",
     .pipelines = true,
     .lease = true,
     .odd_ends = true,
     .drained = true,
     .resets = true,
     .renews = true,
     .sessions = true,
     .beats = true,
     .recovers = true,
     .late = true,
     .tick = MS,
     .guarantee = LB_G_NO_LOSS,
     .legal = legal_loss},
    {.name = "order",
     .pipelines = true,
     .may_not_tell = true,
     .odd_ends = true,
     .once = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "order of workers that do both",
     .pipelines = true,
     .odd_ends = true,
     .once = true,
     .mixed = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "order of items that come back",
     .pipelines = true,
     .odd_ends = true,
     .once = true,
     .again = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "order of dequeued items",
     .pipelines = true,
     .odd_ends = true,
     .once = true,
     .final = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_order},
    {.name = "strict order",
     .pipelines = true,
     .odd_ends = true,
     .once = true,
     .strict = true,
     .batches = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_strict},
    {.name = "strict order of workers that do both",
     .pipelines = true,
     .once = true,
     .mixed = true,
     .strict = true,
     .may_not_tell = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_strict},
    {.name = "empty",
     .pipelines = true,
     .odd_ends = true,
     .once = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_FIFO,
     .legal = legal_empty},
    {.name = "loss",
     .pipelines = true,
     .odd_ends = true,
     .drained = true,
     .batches = true,
     .tick = 1,
     .guarantee = LB_G_NO_LOSS,
     .legal = legal_loss},
    {.name = "loss of items that come back",
     .pipelines = true,
     .odd_ends = true,
     .drained = true,
     .resets = true,
     .recovers = true,
     .strangers = true,
     .tick = MS,
     .guarantee = LB_G_NO_LOSS,
     .legal = legal_loss},
};

static void every_shape_is_generated(void **state)
{
    static const enum seen never[] = {SEEN_BARE}; /* it is of locks */
    (void)state;
    expect_seen(never, sizeof never / sizeof never[0]);
}

static void histories_are_settled(void **state)
{
    (void)state;
    const struct settled_tally *t = &settled_tally;
    printf("# of %llu histories %llu were settled in part, and %llu had duplicates; %llu findings "
           "were not told for it, and %llu violated ones had another number of violations\n",
           (unsigned long long)t->n, (unsigned long long)t->n_dropped,
           (unsigned long long)t->n_violated, (unsigned long long)t->n_untold,
           (unsigned long long)t->n_fewer);
    assert_true(t->n_dropped > t->n / 20);
    assert_true(t->n_violated > t->n / 20);
    assert_true(t->n_untold < t->n / 20);
}

/* LB_TEST_MODEL: only the models of that name, in which * and ? stand for others. */
int main(void)
{
    enum { N = sizeof shapes / sizeof shapes[0] };
    const char *only = getenv("LB_TEST_MODEL");
    if (only != NULL)
        cmocka_set_test_filter(only);
    struct CMUnitTest tests[N + 2];
    tests[N] = (struct CMUnitTest)cmocka_unit_test(every_shape_is_generated);
    tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(histories_are_settled);
    for (size_t i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){
            .name = shapes[i].name, .test_func = agree, .initial_state = &shapes[i]};
    seed = lb_test_seed();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
