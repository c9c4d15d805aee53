/* From a plan to a result: search, shrink, replay, tell. */
#include "explore.h"

#include "append.h"
#include "clock.h"
#include "extent.h"
#include "leash.h"
#include "memory.h"
#include "show.h"
#include "testbed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)LB_GUARANTEE_ROOM <= (int)LB_VIOLATIONS, "each guarantee has its bit");

/* Adds the results of the likely schedules, which ran before all others. */
static void add_likely(struct lb_search_result *result, const struct lb_search_result *likely)
{
    for (unsigned bit = 0; bit < LB_VIOLATIONS; bit++)
        if ((likely->violated >> bit & 1) != 0)
            result->first[bit] = likely->first[bit];
    result->violated |= likely->violated;
    result->n_likely = likely->n_schedules;
    result->n_schedules += likely->n_schedules;
    result->n_moves += likely->n_moves;
    result->n_stuck += likely->n_stuck;
    result->is_random = result->is_random || likely->is_random;
    result->longest = result->longest > likely->longest ? result->longest : likely->longest;
}

/* A few likely schedules, and then all of them. With a watch, which checks the omissions of the
 * full search, the likely ones are skipped. */
static int search(struct lb_testbed *testbed, struct lb_search_options *options,
                  struct lb_search_result *ret, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    struct lb_search_result likely = {0};
    uint32_t n_others = plan->putters + plan->rescuers + plan->blockers;
    bool is_alone = testbed->n_running + n_others == 1;
    int r = 0;
    bool has_one_order = is_alone && plan->ticks + plan->deaths + plan->cuts == 0;
    if (!has_one_order && plan->watch == NULL && plan->relation != LB_RELATION_STEPS &&
        options->random == 0) {
        struct lb_search_options few = *options;
        few.preemptions = -1;
        uint64_t n_given_up = testbed->n_given_up;
        few.likely = true;
        few.several_hold = plan->capacity > 1;
        few.peer_dies = plan->capacity <= 1 && plan->deaths > 0 && plan->rounds > 1;
        few.audit = options->alike != NULL ? options->audit : NULL;
        few.alike = testbed->alike;
        r = lb_search(&lb_testbed_system, testbed, &few, &likely, err);
        testbed->n_given_up = n_given_up; /* in the search for all they may not be */
        likely.n_likely = likely.n_schedules;
        bool is_full = options->max_schedules > 0 && likely.n_schedules >= options->max_schedules;
        if (r != 0 || likely.interrupted || likely.timed_out || likely.differs || is_full ||
            (likely.violated != 0 && !options->all)) {
            *ret = likely;
            return r;
        }
        uint64_t due_ns = likely.violated_ns + options->patience_ns;
        if (likely.violated != 0 && options->patience_ns > 0 && due_ns < options->deadline_ns)
            options->deadline_ns = due_ns;
        options->max_schedules -= options->max_schedules > 0 ? likely.n_schedules : 0;
    }
    if (!is_alone) /* else there is no other worker with moves that could commute */
        r = lb_testbed_open_rules(testbed, err);
    if (r == 0)
        r = lb_search(&lb_testbed_system, testbed, options, ret, err);
    add_likely(ret, &likely);
    return r;
}

/* The search looks at the time between two statements. One that does not return ends later: MariaDB
 * may need two seconds to report that no worker can go on. 0: nothing is bounded. */
static void bound_statements(const struct lb_testbed *testbed, uint64_t deadline_ns)
{
    const uint64_t late_s = testbed->tables.scans_lock ? 4 : 1;
    lb_leash_due(deadline_ns != 0 ? deadline_ns + late_s * UINT64_C(1000000000) : 0);
}

static int run_search(struct lb_testbed *testbed, const struct lb_explore_plan *plan,
                      struct lb_audit *audit, struct lb_search_result *ret, struct lb_error *err)
{
    testbed->unreduced = plan->relation == LB_RELATION_STEPS;
    testbed->start_ns = lb_now_ns();
    struct lb_search_options options = plan->search;
    options.unreduced = plan->relation >= LB_RELATION_MOVES;
    options.void_from_now = &testbed->doubts;
    options.alike = testbed->are_alike ? testbed->alike : NULL;
    options.deadline_ns = plan->time_ns > 0 ? testbed->start_ns + plan->time_ns : 0;
    options.audit = audit;
    options.enough = plan->watch != NULL ? plan->watch->enough : NULL;
    bound_statements(testbed, options.deadline_ns);
    int r = search(testbed, &options, ret, err);
    if (r != 0 || !testbed->doubts)
        return r;
    /* An assumption of the finer relation is wrong: search again without it. */
    options.void_from_now = NULL;
    testbed->is_local = testbed->doubts = false;
    testbed->rules.fine = testbed->rules.fixed = 0;
    testbed->n_given_up = testbed->n_deadlocks = testbed->n_stuck = testbed->n_through = 0;
    memset(testbed->refusals, 0, sizeof testbed->refusals);
    if (plan->watch != NULL)
        plan->watch->anew(plan->watch->arg);
    options.max_schedules = plan->search.max_schedules;
    if (audit != NULL)
        audit->n = audit->n_offered = 0;
    return search(testbed, &options, ret, err);
}

/* Says which schedule the other one stood for in vain. */
static int fail_audit(const struct lb_audit_pair *pair, struct lb_error *err)
{
    char run[2 * LB_MAX_LENGTH + 1], left_out[2 * LB_MAX_LENGTH + 1];
    lb_schedule_print(&pair->run, run, sizeof run);
    lb_schedule_print(&pair->left_out, left_out, sizeof left_out);
    return lb_fail(err, LB_E_ENV,
                   "an error of lockbench: the schedule %s was left out, but does not come to the "
                   "same as %s; nothing that was found holds. See both with --replay, explore with "
                   "--no-reduction, and please report it",
                   left_out, run);
}

/* Runs some schedules that the search has left out. */
static int run_audit(struct lb_testbed *testbed, struct lb_audit *audit,
                     struct lb_explored *explored, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    uint64_t now_ns = lb_now_ns();
    double share_ns = (double)(now_ns - testbed->start_ns) * plan->audit;
    int r = lb_audit_run(audit, &lb_testbed_system, testbed, now_ns + (uint64_t)share_ns,
                         plan->search.interrupt, err);
    explored->n_audited = audit->n_audited;
    return r == 0 && audit->differs != NULL ? fail_audit(audit->differs, err) : r;
}

/* --- the witness --- */

/* The deadline of the work after the search: half of its time. 0: no limit. */
static uint64_t deadline_after(const struct lb_testbed *testbed, uint64_t now_ns)
{
    static const uint64_t least_ns = UINT64_C(1000000000);
    uint64_t half_ns = testbed->plan.time_ns / 2;
    return testbed->plan.time_ns == 0 ? 0 : now_ns + (half_ns > least_ns ? half_ns : least_ns);
}

static void set_finding(const struct lb_testbed *testbed, struct lb_explored *explored, int g)
{
    struct lb_finding *finding = &explored->findings[g];
    *finding = testbed->judgement.findings[g];
    lb_show_steps(finding);
    if (finding->verdict == LB_V_VIOLATED)
        return;
    finding->verdict = LB_V_VIOLATED;
    finding->n_witnesses = 1;
    snprintf(finding->witness[0].text, sizeof finding->witness[0].text, "no worker can go on: %s",
             testbed->stuck);
}

/* Replays the schedule until two replays in which it violated gave the same answers: which of the
 * waiting sessions goes on is the engine's choice, and the violation may need one of them. A
 * schedule that violates nothing is believed at once. Returns what the last replay violated. */
static int confirm(struct lb_testbed *testbed, struct lb_explored *explored, bool is_violation,
                   struct lb_error *err)
{
    enum { REPLAYS = 200, IN_ANY_CASE = 20 };
    uint64_t deadline_ns = deadline_after(testbed, lb_now_ns());
    struct lb_replayed now = {.wants_left = false}, before = now;
    int r = 0, violated = 0;
    explored->confirmed = false;
    testbed->details = true;
    testbed->counts_steps = testbed->plan.ticks == 0 && testbed->program->rate == 0;
    for (unsigned i = 0; i < REPLAYS && !explored->confirmed; i++) {
        if (i >= IN_ANY_CASE && deadline_ns != 0 && lb_now_ns() >= deadline_ns)
            break;
        testbed->start_ns = lb_now_ns();
        r = lb_search_replay(&lb_testbed_system, testbed, &explored->schedule, &now, err);
        explored->n_confirming++;
        if (is_violation && r == LB_E_USAGE)
            r = 0; /* the engine let another one go on, and a move of the search's is not possible
                    */
        if (r < 0 || (r == 0 && !is_violation))
            break;
        explored->confirmed =
            r != 0 && r == violated &&
            memcmp(now.answers, before.answers, now.n * sizeof now.answers[0]) == 0;
        if (r != 0) {
            violated = r;
            before = now;
        }
    }
    testbed->details = testbed->counts_steps = false;
    return r;
}

static int make_witness(struct lb_testbed *testbed, struct lb_explored *explored, bool is_violation,
                        struct lb_error *err)
{
    int violated = confirm(testbed, explored, is_violation, err);
    if (violated < 0)
        return violated;
    int r = violated != 0 ? lb_testbed_expect_no_holders(testbed, err) : 0;
    if (r < 0)
        return r;
    explored->is_nondeterministic = (is_violation || violated != 0) && !explored->confirmed;
    explored->has_witness = true;
    explored->witness_workers = testbed->n_running;
    explored->witness_rounds = testbed->rounds;
    explored->witness_items = testbed->plan.items;
    explored->violated = violated;
    for (int g = 0; g < LB_GUARANTEES; g++)
        if ((violated >> g & 1) != 0)
            set_finding(testbed, explored, g);
    lb_show_words(explored);
    lb_show_table(testbed, explored);
    explored->setup = lb_show_setup(testbed);
    if (lb_exploring(testbed->db)->has_specs && !lb_testbed_has_programs(testbed))
        explored->spec = lb_show_spec(testbed, explored);
    return 0;
}

static unsigned lowest(int violated)
{
    return (unsigned)__builtin_ctz((unsigned)violated);
}

/* Searches with fewer workers or rounds, for no longer than the search that found the violation
 * took, unless that was short. Takes the first schedule that violates the same. */
static int search_smaller(struct lb_testbed *testbed, struct lb_explored *explored, int wanted,
                          uint64_t budget_ns, uint64_t deadline_ns, struct lb_error *err)
{
    static const uint64_t least_ns = 300000000;
    struct lb_search_result found;
    struct lb_search_options options = {.unreduced = testbed->plan.relation >= LB_RELATION_MOVES,
                                        .preemptions = testbed->plan.search.preemptions,
                                        .choice_replays = testbed->plan.search.choice_replays,
                                        .interrupt = testbed->plan.search.interrupt};
    testbed->start_ns = lb_now_ns();
    options.deadline_ns = testbed->start_ns + (budget_ns > least_ns ? budget_ns : least_ns);
    if (deadline_ns != 0 && options.deadline_ns > deadline_ns)
        options.deadline_ns = deadline_ns;
    if (testbed->start_ns >= options.deadline_ns)
        return 0;
    int r = search(testbed, &options, &found, err);
    if (r != 0)
        return r;
    explored->n_replays += found.n_schedules;
    if ((found.violated & wanted) == 0)
        return 0;
    explored->schedule = found.first[lowest(found.violated & wanted)];
    return 1;
}

/* The smallest case that shows the violation: fewest workers, then fewest rounds. The worker's
 * number decides which one reads, puts, rescues, blocks or is late: then all workers stay. */
static int find_smallest(struct lb_testbed *testbed, struct lb_explored *explored, int wanted,
                         uint64_t budget_ns, uint64_t deadline_ns, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    uint32_t others = plan->readers + plan->putters + plan->rescuers + plan->blockers + plan->late;
    uint32_t fewest = others > 0 ? plan->workers : 1;
    int r = 0;
    for (uint32_t workers = fewest; workers <= plan->workers && r == 0; workers++)
        for (uint32_t rounds = 1; rounds <= plan->rounds && r == 0; rounds++) {
            testbed->n_running = workers;
            testbed->rounds = rounds;
            if (workers == plan->workers && rounds == plan->rounds)
                return 0;
            r = search_smaller(testbed, explored, wanted, budget_ns, deadline_ns, err);
        }
    if (r == 0) { /* no time was left, or the engine chose otherwise: the requested case */
        testbed->n_running = plan->workers;
        testbed->rounds = plan->rounds;
    }
    return r < 0 ? r : 0;
}

static int shrink(struct lb_testbed *testbed, struct lb_explored *explored, struct lb_error *err)
{
    unsigned first = lowest(explored->search.violated);
    /* Of a search that ended at its first violation all that its schedule violated is as good. */
    int wanted = explored->stopped_at_first ? explored->search.violated : 1 << first;
    explored->schedule = explored->search.first[first];
    uint64_t now_ns = lb_now_ns(), deadline_ns = deadline_after(testbed, now_ns);
    const struct lb_search_options until = {.deadline_ns = deadline_ns,
                                            .interrupt = testbed->plan.search.interrupt};
    uint64_t two_thirds_ns = deadline_ns == 0 ? 0 : deadline_ns - (deadline_ns - now_ns) / 3;
    int r =
        find_smallest(testbed, explored, wanted, now_ns - testbed->start_ns, two_thirds_ns, err);
    testbed->start_ns = lb_now_ns();
    if (r == 0)
        r = lb_search_shrink(&lb_testbed_system, testbed, wanted, &until, &explored->schedule,
                             &explored->n_replays, err);
    return r;
}

/* --- the result --- */

/* Holders that are dead, or do not know that they hold, and whether those who wait for them go on:
 * a lease needs its time for that. */
static bool shows_recovery(const struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const struct lb_strategy *strategy = plan->strategy;
    bool is_outlived = strategy->is_lease && plan->ticks > 0 && !testbed->program->ends_by_recover;
    if (plan->deaths + plan->cuts == 0)
        return false;
    if (lb_testbed_returns(testbed))
        return true;
    return strategy->shape == LB_LOCK
               ? !strategy->is_lease || is_outlived
               : is_outlived && (strategy->claims & LB_G_BIT(LB_G_NO_LOSS)) != 0;
}

/* Can more items of a key be in hand together than the file says? Late workers have theirs when the
 * others have ended. A lost connection makes one worker two. */
static bool can_exceed_limit(const struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const uint32_t limit = testbed->program->key_limit, n_early = plan->workers * plan->batch,
                   n_items = plan->items + plan->putters * plan->rounds;
    uint32_t n_of_key = 0;
    for (uint32_t i = 0; i < n_items; i++) /* see explored_value() */
        n_of_key += plan->late > 0 || i / 2 % 2 == 0;
    return plan->cuts > 0 || ((n_early > limit || plan->late > limit) && n_of_key > limit);
}

/* Why no statements could have violated the guarantee; NULL: some could. */
static const char *nobody_to_meet(const struct lb_explore_plan *plan, int g)
{
    bool is_alone = plan->workers == 1;
    if (g == LB_G_UNIQUE && plan->putters == 0)
        return "no item is put beside the claims: give --producers 2";
    if (g == LB_G_FIFO && plan->putters > 1)
        return "several producers do not put in the order of the numbers: give "
               "--producers 1";
    if (plan->rescuers + plan->blockers + plan->ticks + plan->cuts > 0)
        return NULL; /* time, or another name, makes one worker two */
    if (g == LB_G_EXCLUSIVE && plan->strategy->shape == LB_LOCK && plan->readers == plan->workers)
        return "all workers only read";
    if (g == LB_G_EXCLUSIVE && plan->workers <= plan->capacity)
        return is_alone ? "there is one worker" : "there are no more workers than may hold";
    if (is_alone && g == LB_G_OWNER_RELEASE)
        return "there is one worker";
    if (!is_alone || plan->batch > 1 || plan->late > 0) /* an item twice, or two of a group */
        return NULL;
    if (g == LB_G_GROUP_EXCLUSIVE || g == LB_G_KEY_LIMIT)
        return "there is one worker";
    if (plan->rounds == 1 &&
        (g == LB_G_FENCED || g == LB_G_NO_DUPLICATE || g == LB_G_FIFO || g == LB_G_ONCE))
        return "there is one worker, with one round";
    return NULL;
}

/* In many schedules the server refused a kind of operation. */
static bool tell_refusals(const struct lb_testbed *testbed, uint64_t n_schedules, char *buf,
                          size_t size)
{
    bool is_queue = testbed->plan.strategy->shape == LB_QUEUE;
    enum lb_measure measure = lb_testbed_refused(testbed, n_schedules);
    if (measure == LB_MEASURES)
        return false;
    snprintf(buf, size,
             "in %llu of %llu schedules the server refused %s, and not by contention; the first: "
             "%.280s",
             (unsigned long long)testbed->refusals[measure].n, (unsigned long long)n_schedules,
             measure == LB_M_ENQUEUE   ? "enqueues"
             : measure == LB_M_ACQUIRE ? (is_queue ? "claims" : "acquires")
             : measure == LB_M_PUT     ? "puts"
             : is_queue                ? "completions"
                                       : "releases",
             testbed->refusals[measure].first);
    return true;
}

/* No worker could go on, or the ones that could gave up. */
static bool tell_no_end(const struct lb_testbed *testbed, const struct lb_explored *explored, int g,
                        char *buf, size_t size)
{
    bool dies = testbed->plan.deaths + testbed->plan.cuts > 0;
    bool is_stuck = !dies && explored->n_stuck >= explored->search.n_schedules;
    if (!is_stuck && (g != LB_G_PROGRESS || testbed->n_through > 0))
        return false;
    snprintf(buf, size, "%s",
             testbed->n_given_up > 0 ? "in every schedule a worker gave an operation up"
                                     : "in no schedule could all workers finish");
    return true;
}

/* For a claimed guarantee without a violation: the reason why it was not tested. false: it was
 * tested. */
static bool tell_untested(const struct lb_testbed *testbed, const struct lb_explored *explored,
                          int g, char *buf, size_t size)
{
    const struct lb_strategy *strategy = testbed->plan.strategy;
    const struct lb_finding *last = &testbed->judgement.findings[g];
    bool dies = testbed->plan.deaths + testbed->plan.cuts > 0;
    bool wants_clock = strategy->is_lease && testbed->plan.ticks == 0;
    /* Of what was in the hands of those who died, or were not told, nothing is known. */
    bool was_tested = (testbed->tested & LB_G_BIT(g)) != 0 &&
                      !(g == LB_G_NO_LOSS && dies && !lb_testbed_returns(testbed));
    bool not_tested =
        !was_tested && g != LB_G_PROGRESS && !(g == LB_G_RECOVERY && shows_recovery(testbed));
    if (explored->search.n_schedules == 0) {
        snprintf(buf, size, "no schedule came to its end");
        return true;
    }
    if (testbed->unmoved[0] != '\0' && testbed->plan.ticks > 0) {
        snprintf(buf, size, "the clock could not be moved: a statement asks for %s",
                 testbed->unmoved);
        return true;
    }
    if (tell_refusals(testbed, explored->search.n_schedules, buf, size) ||
        (!not_tested && tell_no_end(testbed, explored, g, buf, size)))
        return true;
    const char *nobody = nobody_to_meet(&testbed->plan, g);
    if (g == LB_G_KEY_LIMIT && nobody == NULL && !can_exceed_limit(testbed))
        nobody = "no more items of a key than its limit can be in hand: give --late with one more";
    if (not_tested && g == LB_G_RECOVERY && (!dies || wants_clock))
        snprintf(buf, size, "%s: ask with --steps %s", dies ? "no lease ends" : "nobody dies",
                 strategy->is_lease ? "clock,crash" : "crash");
    else if (not_tested && g == LB_G_RECOVERY && strategy->shape == LB_LOCK &&
             testbed->program->ends_by_recover)
        snprintf(buf, size,
                 "only recover frees what a dead worker holds: run -S dead-holder tests it");
    else if (not_tested)
        snprintf(buf, size, "%s",
                 last->verdict == LB_V_NOT_TESTED ? last->reason
                                                  : "what the dead, and those who lost an answer, "
                                                    "had in hand was not claimed anew");
    else if (nobody != NULL)
        snprintf(buf, size, "%s", nobody);
    else if (g == LB_G_OWNER_RELEASE && wants_clock && !dies)
        snprintf(buf, size, "no lease ends before a release: ask with --steps clock");
    else if (explored->search.violated != 0 && !explored->complete)
        snprintf(buf, size, "%s",
                 explored->stopped_at_first ? "the search ended at the first violation"
                                            : "the search is bounded, and found a violation of "
                                              "something else");
    else
        return false;
    return true;
}

static void set_verdicts(const struct lb_testbed *testbed, struct lb_explored *explored)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        struct lb_finding *finding = &explored->findings[g];
        bool claimed = (testbed->plan.strategy->claims & LB_G_BIT(g)) != 0;
        *finding = (struct lb_finding){.verdict = claimed ? LB_V_HELD : LB_V_NOT_CLAIMED,
                                       .n_tested = explored->search.n_schedules};
        if ((explored->search.violated >> g & 1) != 0)
            finding->verdict = LB_V_VIOLATED;
        else if (testbed->doubted[g].is_doubted)
            *finding = testbed->doubted[g];
        else if (claimed &&
                 tell_untested(testbed, explored, g, finding->reason, sizeof finding->reason))
            finding->verdict = LB_V_NOT_TESTED;
    }
}

static bool has_alike(const struct lb_testbed *testbed)
{
    for (uint32_t i = 1; i < testbed->n_tasks && testbed->are_alike; i++)
        if (testbed->alike[i] == testbed->alike[i - 1])
            return true;
    return false;
}

/* A schedule is run once, and chance may answer it in another way: the text, or a claim that was
 * made again, shows it. Another answer is no sign: a busy engine gives one (MariaDB's purge has
 * rows locked), and the search follows it. */
static void tell_random(const struct lb_testbed *testbed, struct lb_explored *explored)
{
    if (testbed->random_line > 0)
        snprintf(explored->random, sizeof explored->random, "answers are random: line %d",
                 testbed->random_line);
    else if (explored->search.is_random)
        snprintf(explored->random, sizeof explored->random,
                 "answers are random: a claim that was made again was given other items");
}

static void set_coverage(const struct lb_testbed *testbed, struct lb_explored *explored)
{
    const struct lb_search_result *search = &explored->search;
    const struct lb_search_options *options = &testbed->plan.search;
    char *text = explored->bounds, share[32];
    size_t size = sizeof explored->bounds;
    explored->complete = search->complete && testbed->n_given_up == 0 && !testbed->is_coarse;
    tell_random(testbed, explored);
    explored->is_distinct = !has_alike(testbed);
    explored->stopped_at_first =
        search->violated != 0 && !options->all && !search->interrupted && !search->timed_out;
    text[0] = '\0';
    if (options->random > 0)
        lb_append(text, size, "random schedules; ");
    if (options->preemptions >= 0)
        lb_append(text, size, "at most %d preemption%s; ", options->preemptions,
                  options->preemptions == 1 ? "" : "s");
    if (explored->random[0] != '\0')
        lb_append(text, size, "%s; ", explored->random);
    if (testbed->is_coarse)
        lb_append(text, size, "a program's statement that commits by itself is one step; ");
    if (search->too_long)
        lb_append(text, size, "schedules cut at %d moves; ", LB_MAX_LENGTH);
    if (testbed->n_given_up > 0)
        lb_append(text, size, "in %llu schedule%s an operation was given up after %u refusal%s; ",
                  (unsigned long long)testbed->n_given_up, testbed->n_given_up == 1 ? "" : "s",
                  testbed->plan.polls, testbed->plan.polls == 1 ? "" : "s");
    if (search->n_unreached > 0)
        lb_append(text, size, "%llu answer%s of the engine did not come again in %d replays; ",
                  (unsigned long long)search->n_unreached, search->n_unreached == 1 ? "" : "s",
                  LB_MAX_REPLAYS);
    if (search->interrupted)
        lb_append(text, size, "interrupted; ");
    else if (search->timed_out) {
        bool is_early = options->patience_ns > 0 && search->violated != 0;
        uint64_t took_ns = is_early ? lb_now_ns() - testbed->start_ns : testbed->plan.time_ns;
        lb_append(text, size, "ended after %.5g s%s, %s of the search; ", (double)took_ns / 1e9,
                  is_early ? ", with a violation found" : "",
                  lb_extent_words(search->share, share, sizeof share));
    } else if (!search->complete && options->max_schedules > 0 &&
               search->n_schedules >= options->max_schedules)
        lb_append(text, size, "at most %llu schedule%s; ",
                  (unsigned long long)options->max_schedules,
                  options->max_schedules == 1 ? "" : "s");
    size_t n = strlen(text);
    if (n >= 2)
        text[n - 2] = '\0';
    if (options->preemptions >= 0 || explored->random[0] != '\0')
        explored->complete = false;
}

/* Violations by other schedules get their words from the first such schedule, as found. One that
 * does not recur stays without words. */
static int find_others(struct lb_testbed *testbed, struct lb_explored *explored,
                       struct lb_error *err)
{
    enum { TRIES = 20 };
    const int others = explored->search.violated & ~explored->violated;
    int r = 0;
    testbed->n_running = testbed->plan.workers;
    testbed->rounds = testbed->plan.rounds;
    testbed->counts_steps = testbed->plan.ticks == 0 && testbed->program->rate == 0;
    testbed->start_ns = lb_now_ns();
    for (int g = 0; g < LB_GUARANTEES && r >= 0; g++)
        for (int i = 0; i < TRIES && r >= 0 && (others >> g & 1) != 0; i++) {
            r = lb_search_replay(&lb_testbed_system, testbed, &explored->search.first[g], NULL,
                                 err);
            if (r == LB_E_USAGE)
                r = 0; /* the engine let another one go on */
            if (r < 0 || (r >> g & 1) == 0)
                continue;
            set_finding(testbed, explored, g);
            explored->others[g] = explored->search.first[g];
            break;
        }
    testbed->counts_steps = false;
    return r < 0 ? r : 0;
}

/* Violations that no order of whole statements shows, and the way to show them. */
static void tell_inside(const struct lb_testbed *testbed, struct lb_explored *explored)
{
    const struct lb_drawn *drawn = &testbed->drawn;
    if (drawn->table[0] == '\0')
        return;
    snprintf(explored->inside, sizeof explored->inside,
             "not explored: the inside of the INSERT into %s. It draws %s before its row exists, "
             "others may act in between unless a lock keeps them waiting, and a statement depends "
             "on that order. To explore it, draw "
             "the number from a sequence in one statement, and insert it in the next",
             drawn->table, drawn->column);
}

static int explore(struct lb_testbed *testbed, const struct lb_explore_plan *plan,
                   struct lb_explored *explored, struct lb_error *err)
{
    int r;
    if (plan->replay != NULL) {
        explored->schedule = *plan->replay;
        testbed->unreduced = plan->relation == LB_RELATION_STEPS;
        return make_witness(testbed, explored, false, err);
    }
    struct lb_audit *audit = plan->audit > 0 ? lb_calloc(1, sizeof *audit) : NULL;
    if (audit != NULL)
        lb_random_init(&audit->random, plan->search.seed, 1);
    r = run_search(testbed, plan, audit, &explored->search, err);
    if (r != 0) {
        free(audit);
        return r;
    }
    explored->n_statements = testbed->n_records_total;
    explored->n_deadlocks = testbed->n_deadlocks;
    explored->n_stuck = testbed->n_stuck;
    memcpy(explored->deadlock, testbed->deadlock, sizeof explored->deadlock);
    memcpy(explored->stuck, testbed->stuck, sizeof explored->stuck);
    set_coverage(testbed, explored);
    tell_inside(testbed, explored);
    set_verdicts(testbed, explored);
    uint64_t half_ns = deadline_after(testbed, lb_now_ns());
    bound_statements(testbed, half_ns == 0 ? 0 : half_ns + plan->time_ns);
    if (audit != NULL)
        r = run_audit(testbed, audit, explored, err);
    free(audit);
    if (r == 0 && explored->search.violated != 0 && !explored->search.differs &&
        plan->watch == NULL) {
        r = shrink(testbed, explored, err);
        if (r == 0)
            r = make_witness(testbed, explored, true, err);
        if (r == 0)
            r = find_others(testbed, explored, err);
    }
    return r;
}

/* Whichever session met it first has said it in its own words. */
static void name_lost_server(struct lb_testbed *testbed, struct lb_error *err)
{
    static const char words[] = "the server went away";
    struct lb_conn *conn = testbed->control.conn;
    struct lb_error ignored;
    bool is_lost = conn == NULL || lb_conn_head(conn)->lost ||
                   testbed->db->run(conn, "SELECT 1", &ignored) == LB_LOST;
    if (is_lost && strncmp(err->message, words, sizeof words - 1) != 0)
        lb_fail_prefix(err, "%s", words);
}

/* What the opening may take beside the time of the search. */
#define OPENING_NS UINT64_C(10000000000)

int lb_explore(const struct lb_explore_plan *plan, struct lb_explored **ret, struct lb_error *err)
{
    struct lb_testbed *testbed = lb_calloc(1, sizeof *testbed);
    struct lb_explored *explored = lb_calloc(1, sizeof *explored);
    snprintf(explored->strategy, sizeof explored->strategy, "%s", plan->strategy->name);
    snprintf(explored->engine, sizeof explored->engine, "%s", plan->target->db->name);
    snprintf(explored->target, sizeof explored->target, "%s", plan->target->label);
    explored->workers = plan->workers;
    explored->rounds = plan->rounds;
    uint64_t start_ns = lb_now_ns();
    bound_statements(testbed, plan->time_ns > 0 ? start_ns + OPENING_NS + plan->time_ns : 0);
    int r = lb_testbed_open(testbed, plan, err);
    r = r != 0 ? r : explore(testbed, plan, explored, err);
    /* Statements fail in many ways when their tables were dropped. */
    if (r < 0 && r != LB_E_INTERRUPTED && testbed->space != NULL &&
        testbed->db->space_look != NULL && testbed->db->space_look(testbed->space, err) < 0)
        r = err->code;
    if (r == LB_E_ENV && testbed->has_control)
        name_lost_server(testbed, err);
    if (r < 0 && lb_leash_is_pulled())
        r = lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    else if (r < 0 && lb_leash_is_due()) {
        err->code = LB_E_LATE;
        r = lb_fail_prefix(err, "a statement did not end in time");
    }
    struct lb_error close_error;
    int closed = lb_testbed_close(testbed, r == 0 ? err : &close_error);
    lb_leash_due(0);
    r = r == 0 ? closed : r;
    explored->elapsed_ns = lb_now_ns() - start_ns;
    free(testbed);
    if (r != 0) {
        lb_explored_free(explored);
        return r;
    }
    *ret = explored;
    return 0;
}

void lb_explored_free(struct lb_explored *explored)
{
    if (explored == NULL)
        return;
    for (size_t i = 0; i < explored->table.n_steps; i++) {
        free(explored->table.steps[i].sql);
        free(explored->table.steps[i].rows);
        free(explored->table.steps[i].note);
    }
    free(explored->table.steps);
    free(explored->setup);
    free(explored->spec);
    free(explored);
}
