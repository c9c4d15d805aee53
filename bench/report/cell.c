/* The result of a cell: medians, verdicts, and their meaning for the strategy's promises.
 *
 * A verdict over several runs is the worst of them: one violation is a violation. "Held" is said
 * only of runs that reached their end; a violation found in a run that was cut short still stands.
 */
#include "memory.h"
#include "order.h"
#include "report.h"

#include "append.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

const double lb_quantiles[LB_QUANTILES] = {.5, .9, .95, .99, .999};
const char *const lb_quantile_names[LB_QUANTILES] = {"p50", "p90", "p95", "p99", "p999"};

void lb_cell_release(struct lb_cell *cell)
{
    for (size_t i = 0; i < cell->n_runs; i++)
        lb_outcome_free(cell->runs[i]);
    free(cell->runs);
    free(cell->settings);
    free(cell->hints);
    cell->runs = NULL;
    cell->settings = NULL;
    cell->hints = NULL;
    cell->n_runs = cell->n_settings = cell->n_hints = 0;
}

const struct lb_hint *lb_cell_hint(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    for (size_t i = 0; i < cell->n_hints; i++)
        if (cell->hints[i].guarantee == guarantee)
            return &cell->hints[i];
    return NULL;
}

void lb_cell_add(struct lb_cell *cell, struct lb_outcome *outcome)
{
    struct lb_outcome **run = lb_array_add(&cell->runs, &cell->n_runs, sizeof *run);
    *run = outcome;
    cell->state = LB_CELL_DONE;
}

bool lb_cell_is_first(const struct lb_report *report, size_t cell, lb_cell_alike *is_alike)
{
    for (size_t i = 0; i < cell; i++)
        if (is_alike(&report->cells[i], &report->cells[cell]))
            return false;
    return true;
}

/* --- sums --- */

struct lb_measures lb_cell_measures(const struct lb_cell *cell)
{
    struct lb_measures sum = {0};
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_measures *m = &cell->runs[i]->judgement.measures;
        sum.n_deaths += m->n_deaths;
        sum.n_recovered += m->n_recovered;
        sum.n_deaths_beside += m->n_deaths_beside;
        sum.n_stuck += m->n_stuck;
        sum.p50_recovery_ns = lb_max_u64(sum.p50_recovery_ns, m->p50_recovery_ns);
        sum.p95_recovery_ns = lb_max_u64(sum.p95_recovery_ns, m->p95_recovery_ns);
        sum.max_recovery_ns = lb_max_u64(sum.max_recovery_ns, m->max_recovery_ns);
        sum.n_cut_violations += m->n_cut_violations;
        sum.n_uncut_violations += m->n_uncut_violations;
        sum.n_stale_writes_accepted += m->n_stale_writes_accepted;
        sum.n_stale_writes_refused += m->n_stale_writes_refused;
    }
    return sum;
}

/* --- medians --- */

/* The values are reordered. */
static double median(double *values, size_t n)
{
    lb_stats_sort(values, n);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void lb_cell_histogram(const struct lb_cell *cell, bool from_intended, struct lb_histogram *ret_sum)
{
    lb_histogram_reset(ret_sum);
    for (size_t r = 0; r < cell->n_runs; r++) {
        const struct lb_outcome *run = cell->runs[r];
        const struct lb_histogram *one =
            from_intended ? run->response[LB_M_ACQUIRE] : run->service[LB_M_ACQUIRE];
        if (one != NULL)
            lb_histogram_add(ret_sum, one);
    }
}

const struct lb_histogram *lb_run_wait(const struct lb_outcome *run)
{
    return run->response[LB_M_ACQUIRE] != NULL ? run->response[LB_M_ACQUIRE]
                                               : run->service[LB_M_ACQUIRE];
}

static double value_of(const struct lb_outcome *run, int which)
{
    switch (which) {
    case 0:
        return run->successes_per_s;
    case 1:
        return run->attempts_per_success;
    case 2: {
        double n = run->successes_per_s * (double)run->elapsed_ns / 1e9;
        return n > 0 && run->has_cpu ? (double)(run->cpu_user_ns + run->cpu_system_ns) / 1e3 / n
                                     : 0;
    }
    case 3:
        return run->judgement.measures.jain;
    default:
        return (double)run->counts[LB_M_ACQUIRE].succeeded;
    }
}

/* Those that a single run has too few waits for: of the waits of all runs together. */
static void pool_quantiles(const struct lb_cell *cell, struct lb_summary *summary)
{
    struct lb_histogram *sum = lb_histogram_new();
    for (size_t i = 0; i < cell->n_runs; i++)
        if (lb_run_wait(cell->runs[i]) != NULL)
            lb_histogram_add(sum, lb_run_wait(cell->runs[i]));
    for (size_t q = 0; q < LB_QUANTILES; q++)
        if (summary->quantile_ns[q] == UINT64_MAX && lb_histogram_enough(sum, lb_quantiles[q]))
            summary->quantile_ns[q] = lb_histogram_quantile(sum, lb_quantiles[q]);
    lb_histogram_free(sum);
}

void lb_cell_summarise(const struct lb_cell *cell, struct lb_summary *ret_summary)
{
    struct lb_summary summary = {0};
    size_t n = cell->n_runs;
    double medians[5] = {0};
    for (size_t q = 0; q < LB_QUANTILES; q++)
        summary.quantile_ns[q] = UINT64_MAX;
    if (n == 0) {
        *ret_summary = summary;
        return;
    }
    double *values = lb_malloc(n * sizeof *values);
    for (int which = 0; which < 5; which++) {
        for (size_t i = 0; i < n; i++)
            values[i] = value_of(cell->runs[i], which);
        medians[which] = median(values, n);
    }
    summary.successes_per_s = medians[0];
    summary.attempts_per_success = medians[1];
    summary.cpu_us_per_success = medians[2];
    summary.jain = medians[3];
    summary.n_successes = (uint64_t)medians[4];
    for (size_t i = 0; i < n; i++) {
        const struct lb_histogram *latency = lb_run_wait(cell->runs[i]);
        if (latency != NULL && latency->max > summary.max_ns)
            summary.max_ns = latency->max;
    }
    bool pools = false;
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        bool enough = true;
        for (size_t i = 0; i < n && enough; i++) {
            const struct lb_histogram *latency = lb_run_wait(cell->runs[i]);
            enough = latency != NULL && lb_histogram_enough(latency, lb_quantiles[q]);
            values[i] = enough ? (double)lb_histogram_quantile(latency, lb_quantiles[q]) : 0;
            summary.has_latency |= latency != NULL && latency->count > 0;
        }
        if (enough)
            summary.quantile_ns[q] = (uint64_t)median(values, n);
        pools |= !enough;
    }
    free(values);
    if (pools && n > 1)
        pool_quantiles(cell, &summary);
    *ret_summary = summary;
}

uint64_t lb_summary_cpu_ns(const struct lb_summary *summary)
{
    return summary->cpu_us_per_success > 0 ? (uint64_t)(summary->cpu_us_per_success * 1e3)
                                           : UINT64_MAX;
}

bool lb_cell_same_question(const struct lb_cell *a, const struct lb_cell *b)
{
    size_t n = lb_scenario_base(a->scenario.name);
    return n == lb_scenario_base(b->scenario.name) &&
           strncmp(a->scenario.name, b->scenario.name, n) == 0;
}

/* --- verdicts --- */

static bool disproves(const struct lb_outcome *run)
{
    return run->proof.name[0] != '\0' && run->proof.verdict == LB_V_VIOLATED;
}

static bool run_violates(const struct lb_outcome *run)
{
    if (disproves(run))
        return true;
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (run->judgement.findings[g].verdict == LB_V_VIOLATED)
            return true;
    return false;
}

enum lb_standing lb_cell_standing(const struct lb_cell *cell)
{
    switch (cell->state) {
    case LB_CELL_SKIPPED:
        return LB_STANDS_SKIPPED;
    case LB_CELL_FAILED:
        return LB_STANDS_FAILED;
    case LB_CELL_PENDING:
    case LB_CELL_NOT_RUN:
        return LB_STANDS_NOT_RUN;
    case LB_CELL_DONE:
    default:
        break;
    }
    enum lb_standing standing = LB_STANDS_HELD;
    bool is_tested = false;
    for (size_t i = 0; i < cell->n_runs; i++) {
        bool is_asked = false;
        for (int g = 0; g < LB_GUARANTEES; g++) {
            const struct lb_finding *finding = &cell->runs[i]->judgement.findings[g];
            is_tested |= finding->verdict == LB_V_HELD;
            is_asked |= finding->is_asked;
        }
        if (run_violates(cell->runs[i]))
            return LB_STANDS_VIOLATED;
        if (is_asked || cell->runs[i]->state != LB_RUN_COMPLETE ||
            lb_ranks_are_near(&cell->runs[i]->ranks))
            standing = LB_STANDS_INCONCLUSIVE;
    }
    char missed[2];
    if (standing == LB_STANDS_HELD && lb_cell_missed(cell, missed, sizeof missed)[0] != '\0')
        return LB_STANDS_MISSED;
    return standing == LB_STANDS_HELD && !is_tested ? LB_STANDS_UNTESTED : standing;
}

const char *lb_standing_name(enum lb_standing standing)
{
    static const char *const names[] = {
        [LB_STANDS_HELD] = "held",           [LB_STANDS_VIOLATED] = "violated",
        [LB_STANDS_SKIPPED] = "skipped",     [LB_STANDS_INCONCLUSIVE] = "inconclusive",
        [LB_STANDS_FAILED] = "error",        [LB_STANDS_NOT_RUN] = "not run",
        [LB_STANDS_UNTESTED] = "not tested", [LB_STANDS_MISSED] = "not caught",
    };
    return names[standing];
}

char *lb_cell_verdict(const struct lb_cell *cell, char *buf, size_t size)
{
    enum lb_standing standing = lb_cell_standing(cell);
    snprintf(buf, size, "%s",
             standing == LB_STANDS_VIOLATED  ? "VIOLATED"
             : standing == LB_STANDS_SKIPPED ? "SKIP"
                                             : lb_standing_name(standing));
    if (standing != LB_STANDS_VIOLATED)
        return buf;
    size_t n_bad = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        n_bad += run_violates(cell->runs[i]);
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_outcome *run;
        const struct lb_finding *finding = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (finding != NULL && finding->verdict == LB_V_VIOLATED)
            lb_append(buf, size, " %s", lb_guarantee_name((enum lb_guarantee)g));
    }
    const struct lb_outcome *proven;
    if (lb_cell_proof(cell, &proven) != LB_EXPECT_NOTHING && disproves(proven))
        lb_append(buf, size, " %s", proven->proof.name);
    if (cell->n_runs > 1)
        lb_append(buf, size, " %zu/%zu", n_bad, cell->n_runs);
    return buf;
}

/* A strategy that is known to break something does the work more than once, or never. */
const char lb_disagreement[] =
    "The history and the witnesses that need no log disagree: this is a bug of lockbench. Please "
    "report it with the seed.";

enum lb_expectation lb_cell_proof(const struct lb_cell *cell, const struct lb_outcome **ret_run)
{
    static const int weight[] = {
        [LB_V_VIOLATED] = 0, [LB_V_HELD] = 1, [LB_V_NOT_TESTED] = 2, [LB_V_NOT_CLAIMED] = 3};
    const struct lb_outcome *worst = NULL;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        if (run->proof.name[0] != '\0' &&
            (worst == NULL || weight[run->proof.verdict] < weight[worst->proof.verdict]))
            worst = run;
    }
    *ret_run = worst;
    if (worst == NULL)
        return LB_EXPECT_NOTHING;
    if (worst->proof.verdict == LB_V_VIOLATED)
        return cell->strategy->breaks != NULL ? LB_EXPECT_CAUGHT : LB_EXPECT_BROKEN;
    return worst->proof.verdict == LB_V_HELD ? LB_EXPECT_KEPT : LB_EXPECT_UNTESTED;
}

/* Of several runs the least speaks for the cell. A question of one run is not answered by another
 * run, in which the fact did not matter. */
static int weight_of(const struct lb_finding *finding)
{
    static const int weight[] = {
        [LB_V_VIOLATED] = 0, [LB_V_HELD] = 2, [LB_V_NOT_TESTED] = 3, [LB_V_NOT_CLAIMED] = 4};
    return finding->is_asked ? 1 : weight[finding->verdict];
}

const struct lb_finding *lb_cell_finding(const struct lb_cell *cell, enum lb_guarantee guarantee,
                                         const struct lb_outcome **ret_run)
{
    const struct lb_finding *best = NULL;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_finding *finding = &cell->runs[i]->judgement.findings[guarantee];
        if (best != NULL && weight_of(finding) >= weight_of(best))
            continue;
        best = finding;
        *ret_run = cell->runs[i];
    }
    return best;
}

/* Is name one of a comma-separated list? */
static bool in_list(const char *name, size_t length, const char *list)
{
    for (const char *at = list;;) {
        size_t n = strcspn(at, ",");
        if (n == length && strncmp(at, name, n) == 0)
            return true;
        if (at[n] == '\0')
            return false;
        at += n + 1;
    }
}

static bool is_name(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && strncmp(known, name, length) == 0;
}

/* The value that was given for an option; NULL: none. */
static const char *given(const struct lb_cell *cell, const char *name, size_t length)
{
    const char *value = NULL;
    for (size_t i = 0; i < cell->n_settings; i++)
        if (is_name(cell->settings[i].name, name, length))
            value = cell->settings[i].value;
    return value;
}

/* The value of an option in this cell: given, from a key of the scenario, or its default.
 * NULL: the strategy has no such option. */
static const char *option_of(const struct lb_cell *cell, const char *name, size_t length)
{
    const char *value = given(cell, name, length);
    for (const struct lb_option *o = cell->strategy->options;
         value == NULL && o != NULL && o->name != NULL; o++)
        if (is_name(o->name, name, length))
            value = cell->scenario.stale_ns > 0 && is_name("stale_ms", name, length)
                        ? "given"
                        : o->default_value;
    return value;
}

/* Does the cell meet all of "a=1 b!=2"? must_be_given: defaults do not count. */
static bool meets(const struct lb_cell *cell, const char *wanted, bool must_be_given)
{
    while (wanted != NULL && *wanted != '\0') {
        size_t n = strcspn(wanted, " "), length = strcspn(wanted, "!=");
        bool differs = wanted[length] == '!';
        const char *value = wanted + length + (differs ? 2 : 1);
        const char *has = option_of(cell, wanted, length);
        size_t value_length = n - (size_t)(value - wanted);
        bool equal = has != NULL && is_name(has, value, value_length);
        if (has == NULL || equal == differs ||
            (must_be_given && given(cell, wanted, length) == NULL))
            return false;
        wanted += n + strspn(wanted + n, " ");
    }
    return true;
}

bool lb_run_is_late(const struct lb_outcome *run)
{
    return run->state == LB_RUN_INVALID &&
           strncmp(run->reason, LB_LATE_GENERATOR, sizeof LB_LATE_GENERATOR - 1) == 0;
}

bool lb_run_is_spared(const struct lb_cell *cell, const struct lb_outcome *run)
{
    size_t n_complete = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        n_complete += cell->runs[i]->state == LB_RUN_COMPLETE;
    return lb_run_is_late(run) && n_complete >= 2;
}

bool lb_strategy_is_broken(const struct lb_strategy *strategy)
{
    const struct lb_cell cell = {.strategy = strategy};
    for (const struct lb_break *b = strategy->breaks; b != NULL && b->why != NULL; b++)
        if (b->options == NULL && b->faults == NULL && b->topologies == NULL &&
            meets(&cell, b->room, false))
            return true;
    return false;
}

/* The topology of the servers, as the first run found it: "async"; "": one server, or no run. */
static const char *topology_of(const struct lb_cell *cell)
{
    for (size_t i = 0; cell->n_runs > 0 && i < cell->runs[0]->n_facts; i++)
        if (strcmp(cell->runs[0]->facts[i].name, "topology") == 0)
            return cell->runs[0]->facts[i].value;
    return "";
}

static bool may_show(const struct lb_break *b, const struct lb_cell *cell,
                     enum lb_guarantee guarantee)
{
    const char *fault = lb_fault_name(cell->scenario.fault), *topology = topology_of(cell);
    /* A target with a name is still of its engine. */
    const char *engine = cell->target != NULL ? cell->target->db->name : cell->engine;
    return b->guarantee == guarantee && meets(cell, b->options, true) &&
           meets(cell, b->room, false) &&
           (b->faults == NULL || in_list(fault, strlen(fault), b->faults)) &&
           (b->topologies == NULL || in_list(topology, strlen(topology), b->topologies)) &&
           (b->engines == NULL || in_list(engine, strcspn(engine, ":"), b->engines));
}

/* The n-th known break of the guarantee that may show in this cell: its strategy's, then, of a
 * built-in one whose grants are commits, what replication breaks. */
static const struct lb_break *known_break(const struct lb_cell *cell, enum lb_guarantee guarantee,
                                          size_t n)
{
    const struct lb_strategy *strategy = cell->strategy;
    for (const struct lb_break *b = strategy->breaks; b != NULL && b->why != NULL; b++)
        if (may_show(b, cell, guarantee) && n-- == 0)
            return b;
    if (strategy->ends_with_session || lb_strategy_find(strategy->name) != strategy)
        return NULL;
    for (const struct lb_break *b = lb_replication_breaks; b->why != NULL; b++)
        if (!(strategy->keeps_fence && guarantee == LB_G_FENCED) && may_show(b, cell, guarantee) &&
            n-- == 0)
            return b;
    return NULL;
}

const struct lb_break *lb_cell_known_break(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    return known_break(cell, guarantee, 0);
}

const char *lb_cell_why_broken(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    const struct lb_break *known = lb_cell_known_break(cell, guarantee);
    return known != NULL ? known->why : "";
}

static size_t n_words(const char *list)
{
    size_t n = 0;
    for (const char *c = list; c != NULL && *c != '\0'; c += strspn(c, " ")) {
        c += strcspn(c, " ");
        n++;
    }
    return n;
}

/* Has the user switched off what the scenario shows it by? */
static bool is_switched_off(const struct lb_break *known, const struct lb_cell *cell)
{
    struct lb_scenario packaged;
    struct lb_error ignored;
    return known->scenario != NULL && cell->scenario.overrun <= 0 &&
           lb_scenario_load(known->scenario, &packaged, &ignored) == 0 && packaged.overrun > 0;
}

/* Is this the cell in which the break is to show? Without options it is the defaults that show it;
 * with others beside its own it may show, and need not. */
static bool is_shown_by(const struct lb_break *known, const struct lb_cell *cell)
{
    if (cell->is_explored || n_words(known->options) != cell->n_settings)
        return false;
    /* A break that depends on the user's own limits may show, but need not. */
    const struct lb_cell plain = {.strategy = cell->strategy};
    if (known->options == NULL && !meets(&plain, known->room, false))
        return false;
    /* Another level may fix it. */
    const struct lb_db *db = cell->target != NULL ? cell->target->db : NULL;
    if (cell->scenario.isolation != LB_ISO_DEFAULT && db != NULL &&
        cell->scenario.isolation != db->default_isolation)
        return false;
    /* A fault is another question, unless it is the scenario's own. */
    bool is_own = known->scenario != NULL && known->faults != NULL;
    if ((cell->scenario.fault != LB_FAULT_NONE || cell->scenario.skew_ns > 0) && !is_own)
        return false;
    size_t n = lb_scenario_base(cell->scenario.name);
    return known->scenario == NULL ||
           (strlen(known->scenario) == n && strncmp(known->scenario, cell->scenario.name, n) == 0 &&
            !is_switched_off(known, cell));
}

const char *lb_expectation_name(enum lb_expectation expectation)
{
    static const char *const names[] = {
        [LB_EXPECT_NOTHING] = "none",  [LB_EXPECT_KEPT] = "kept",
        [LB_EXPECT_BROKEN] = "broken", [LB_EXPECT_CAUGHT] = "caught",
        [LB_EXPECT_MISSED] = "missed", [LB_EXPECT_UNTESTED] = "not tested"};
    return names[expectation];
}

const char *lb_expectation_meaning(enum lb_expectation expectation)
{
    static const char *const meanings[] = {[LB_EXPECT_NOTHING] = "not claimed",
                                           [LB_EXPECT_KEPT] = "claimed and held",
                                           [LB_EXPECT_BROKEN] = "claimed but violated",
                                           [LB_EXPECT_CAUGHT] = "known to be broken, and caught",
                                           [LB_EXPECT_MISSED] =
                                               "known to be broken, but not caught",
                                           [LB_EXPECT_UNTESTED] = "not tested"};
    return meanings[expectation];
}

enum lb_expectation lb_cell_expectation(const struct lb_cell *cell, enum lb_guarantee guarantee)
{
    const struct lb_outcome *run;
    const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
    const struct lb_break *known;
    bool may_break = known_break(cell, guarantee, 0) != NULL, must_break = false;
    for (size_t n = 0; (known = known_break(cell, guarantee, n)) != NULL; n++)
        must_break |= is_shown_by(known, cell);
    if (finding == NULL)
        return LB_EXPECT_NOTHING;
    switch (finding->verdict) {
    case LB_V_VIOLATED:
        return may_break ? LB_EXPECT_CAUGHT : LB_EXPECT_BROKEN;
    case LB_V_HELD:
        if (run->state != LB_RUN_COMPLETE)
            return LB_EXPECT_UNTESTED;
        return must_break ? LB_EXPECT_MISSED : LB_EXPECT_KEPT;
    case LB_V_NOT_TESTED:
        return LB_EXPECT_UNTESTED;
    case LB_V_NOT_CLAIMED:
    default:
        return LB_EXPECT_NOTHING;
    }
}

const struct lb_finding *lb_cell_open_break(const struct lb_cell *cell)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_break *known;
        const struct lb_outcome *run;
        const struct lb_finding *finding = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (finding == NULL || finding->verdict != LB_V_NOT_TESTED)
            continue;
        for (size_t n = 0; (known = known_break(cell, (enum lb_guarantee)g, n)) != NULL; n++)
            if (is_shown_by(known, cell))
                return finding;
    }
    return NULL;
}

char *lb_cell_missed(const struct lb_cell *cell, char *buf, size_t size)
{
    buf[0] = '\0';
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_outcome *run;
        enum lb_guarantee guarantee = (enum lb_guarantee)g;
        if (lb_cell_expectation(cell, guarantee) != LB_EXPECT_MISSED)
            continue;
        const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
        lb_append(buf, size,
                  "%s%s is known to be broken, but was not caught in %llu tested in %.*s: %s",
                  buf[0] != '\0' ? "; " : "", lb_guarantee_name(guarantee),
                  (unsigned long long)finding->n_tested, (int)lb_scenario_base(cell->scenario.name),
                  cell->scenario.name, lb_cell_why_broken(cell, guarantee));
    }
    return buf;
}

void lb_store_history_name(const struct lb_report *report, const struct lb_cell *cell, size_t run,
                           char *buf, size_t size)
{
    snprintf(buf, size, "history");
    if (report->n_cells > 1)
        lb_append(buf, size, "-%s-%s-%s", cell->name, cell->engine, cell->scenario.name);
    /* How many runs a budget allows is known only at its end. What a stall has spoilt is run again.
     */
    if (report->n_repeat > 1 || report->budget_ns > 0 || run > 0)
        lb_append(buf, size, "-%zu", run + 1);
    lb_append(buf, size, ".lbh");
    for (char *c = buf; *c != '\0'; c++)
        if (strchr("/:[]= ", *c) != NULL)
            *c = '_';
}
