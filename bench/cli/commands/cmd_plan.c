/* lockbench plan: the throughput of N workers, the workers for a demand, and the headroom.
 *
 * Each selected strategy x target x scenario is a plan. Its runs become cells of the report, one
 * for each number of workers and for each rate, so that all that reads results reads these too.
 */
#include "array.h"
#include "campaign.h"
#include "combinations.h"
#include "dry_run.h"
#include "memory.h"
#include "order.h"
#include "plan.h"
#include "schedule.h"
#include "take.h"
#include "units.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_NS UINT64_C(2000000000)
#define WARMUP_NS   UINT64_C(500000000)
#define BUDGET_NS   UINT64_C(105000000000) /* of each plan: with its report within two minutes */
enum { REPEAT = 3, MOST_REPEAT = 8, BACKLOG = 4000, REST_MS = 500 };
static const char default_workers[] = "1,2,4,8,16,32";

struct planner {
    struct lb_plan_question question;
    struct lb_args args;       /* the user's, without what the plan decides itself */
    struct lb_cell *templates; /* the selected cells; those that cannot run are SKIPPED */
    size_t n_templates;
    struct lb_plan *plans; /* of the templates that can run */
    size_t *template_of;   /* of each plan */
    size_t n_plans;
    struct lb_scheduler *scheduler;
    size_t n_done, n_expected; /* runs */
    bool resumed;              /* the last one was there from before an interruption */
};

/* --- the question --- */

/* One number is the most that may be used: some are measured up to it. */
static void spread(struct lb_plan_question *question)
{
    uint64_t most = question->levels[0], last = 0;
    question->n_levels = 0;
    for (int i = 0; i < LB_USL_MIN_LEVELS; i++) {
        double share = pow((double)most, (double)i / (LB_USL_MIN_LEVELS - 1));
        uint64_t level = (uint64_t)(share + 0.5);
        last = level > last ? level : last + 1;
        question->levels[question->n_levels++] = last;
    }
}

static int read_levels(struct lb_plan_question *question, const char *list, struct lb_error *err)
{
    const struct lb_key *key = lb_scenario_key("workers");
    size_t n = lb_sweep_values(key, list);
    if (n > LB_PLAN_LEVELS)
        return lb_fail(err, LB_E_USAGE, "option --workers: more than %d numbers", LB_PLAN_LEVELS);
    for (size_t i = 0; i < n; i++) {
        char text[300];
        uint64_t *level = &question->levels[question->n_levels++];
        if (lb_parse_count(lb_sweep_value(key, list, i, text, sizeof text), level) != 0 ||
            *level == 0)
            return lb_fail(err, LB_E_USAGE, "option --workers: '%s' is not a number above 0", text);
    }
    qsort(question->levels, n, sizeof question->levels[0], lb_order_u64);
    if (n == 1 && question->levels[0] >= LB_USL_MIN_LEVELS)
        spread(question);
    return 0;
}

/* A trace is no demand, but it has some: its mean, and that of its busiest tenth. */
static int refuse_trace(const char *text, const char *option, struct lb_error *err)
{
    enum { PARTS = 10 };
    struct lb_schedule schedule;
    char length[32];
    int rc = lb_schedule_open(&schedule, text, 0, err);
    if (rc != 0)
        return lb_fail_prefix(err, "option --%s", option);
    const size_t n = schedule.n_trace;
    const uint64_t last_ns = n > 0 ? schedule.trace[n - 1] : 0;
    size_t most = 0, at = 0;
    for (uint64_t part = 1; part <= PARTS; part++) {
        const size_t before = at;
        while (at < n && (part == PARTS || schedule.trace[at] < last_ns / PARTS * part))
            at++;
        most = at - before > most ? at - before : most;
    }
    lb_schedule_close(&schedule);
    if (last_ns < PARTS)
        return lb_fail(err, LB_E_USAGE, "option --%s: '%s' has no arrivals at different times",
                       option, text);
    const double seconds = (double)last_ns / 1e9;
    return lb_fail(
        err, LB_E_USAGE,
        "option --%s: a plan is for one rate, and '%s' has %zu arrivals in %s: %.3g/s, and "
        "%.3g/s in its busiest tenth; plan for the latter, and check it by `run --rate %s`",
        option, text, n, lb_format_ns(last_ns, length, sizeof length), (double)n / seconds,
        (double)(most * PARTS) / seconds, text);
}

/* A plain rate: "800/s". */
static int read_demand(struct lb_plan_question *question, const char *text, const char *option,
                       struct lb_error *err)
{
    return text != NULL && lb_schedule_is_trace(text)
               ? refuse_trace(text, option, err)
               : lb_take_rate(option, text, "800/s", &question->demand_per_s, err);
}

static int read_question(struct planner *planner, const struct lb_args *args, struct lb_error *err)
{
    struct lb_plan_question *question = &planner->question;
    const struct lb_plan_args *plan = &args->plan;
    const char *workers = default_workers, *demand = NULL;
    for (size_t i = 0; i < args->n_overrides; i++) {
        if (strcmp(args->overrides[i].key->name, "workers") == 0)
            workers = args->overrides[i].value;
        if (strcmp(args->overrides[i].key->name, "rate") == 0)
            demand = args->overrides[i].value;
    }
    if (plan->demand != NULL && demand != NULL)
        return lb_fail(err, LB_E_USAGE,
                       "option --rate: not together with --demand: both are the "
                       "load to plan for");
    if (plan->demand != NULL)
        demand = plan->demand;
    question->n_repeat = args->repeat != NULL ? args->n_repeat : REPEAT;
    question->most_repeat = args->repeat != NULL ? args->n_repeat : MOST_REPEAT;
    question->budget_ns = BUDGET_NS;
    question->seed = args->seed_number;
    int rc = read_levels(question, workers, err);
    if (rc == 0)
        rc = read_demand(question, demand, plan->demand != NULL ? "demand" : "rate", err);
    if (rc == 0 && plan->slo != NULL) {
        rc = lb_slo_parse(plan->slo, &question->slo, err);
        question->has_slo = rc == 0;
        if (rc != 0)
            lb_fail_prefix(err, "option --slo");
    }
    if (rc == 0 && args->price != NULL)
        rc = question->demand_per_s > 0
                 ? lb_price_parse(args->price, &question->price, err)
                 : lb_fail(err, LB_E_USAGE,
                           "option --price: give --demand, the load that is paid for");
    if (rc == 0 && plan->at != NULL &&
        (lb_parse_count(plan->at, &question->at) != 0 || question->at == 0))
        rc = lb_fail(err, LB_E_USAGE, "option --at: '%s' is not a number above 0", plan->at);
    if (rc == 0 && plan->arrivals != NULL) {
        question->even = strcmp(plan->arrivals, "even") == 0;
        if (!question->even && strcmp(plan->arrivals, "poisson") != 0)
            rc = lb_fail(err, LB_E_USAGE, "option --arrivals: '%s' is neither poisson nor even",
                         plan->arrivals);
        else if (plan->slo == NULL)
            rc = lb_fail(err, LB_E_USAGE, "option --arrivals: has a meaning with --slo only");
    }
    return rc;
}

/* The selecting arguments, without --workers, which lists the sweep. */
static void copy_args(struct planner *planner, const struct lb_args *args)
{
    struct lb_args *own = &planner->args;
    *own = *args;
    own->n_repeat = planner->question.n_repeat;
    own->n_overrides = 0;
    own->overrides = lb_calloc(args->n_overrides, sizeof *own->overrides);
    for (size_t i = 0; i < args->n_overrides; i++)
        if (strcmp(args->overrides[i].key->name, "rate") == 0)
            own->plan.demand = args->overrides[i].value;
        else if (strcmp(args->overrides[i].key->name, "workers") != 0)
            own->overrides[own->n_overrides++] = args->overrides[i];
        else
            own->plan.workers = args->overrides[i].value;
}

/* --- the lab --- */

/* Sets a plan's defaults: runs that are long enough, and no bound on waits, which grow with the
 * workers by design. */
static void adapt(const struct lb_args *args, struct lb_scenario *scenario)
{
    if (!lb_args_give(args, "duration"))
        scenario->duration_ns = DURATION_NS;
    if (!lb_args_give(args, "warmup"))
        scenario->warmup_ns = scenario->drain ? 0 : WARMUP_NS;
    if (!lb_args_give(args, "progress-bound"))
        scenario->progress_bound_ns = 0;
    if (!lb_args_give(args, "backlog") && scenario->drain && scenario->backlog < BACKLOG)
        scenario->backlog = BACKLOG;
}

/* The report's cell for this scenario of a template: the one that is there, or a new one. */
static struct lb_cell *find_cell(struct planner *planner, const struct lb_cell *template,
                                 const struct lb_scenario *scenario)
{
    struct lb_report *report = lb_scheduler_report(planner->scheduler);
    for (size_t i = 0; i < report->n_cells; i++) {
        struct lb_cell *cell = &report->cells[i];
        if (cell->strategy == template->strategy && strcmp(cell->name, template->name) == 0 &&
            strcmp(cell->engine, template->engine) == 0 &&
            strcmp(cell->scenario.name, scenario->name) == 0 &&
            cell->scenario.duration_ns == scenario->duration_ns)
            return cell;
    }
    struct lb_cell *cell = lb_array_add(&report->cells, &report->n_cells, sizeof *cell);
    *cell = *template;
    cell->settings = lb_copy(template->settings, template->n_settings, sizeof *cell->settings);
    cell->scenario = *scenario;
    return cell;
}

static struct lb_cell *cell_of(struct planner *planner, const struct lb_plan *plan,
                               const struct lb_scenario *scenario)
{
    size_t template = planner->template_of[plan - planner->plans];
    return find_cell(planner, &planner->templates[template], scenario);
}

static int measure(void *arg, const struct lb_plan *plan, const struct lb_scenario *scenario,
                   const struct lb_outcome **ret_run, struct lb_error *err)
{
    struct planner *planner = arg;
    if (lb_scheduler_stopped(planner->scheduler))
        return lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    int rc = lb_scenario_validate(scenario, err);
    if (rc != 0)
        return rc;
    struct lb_cell *cell = cell_of(planner, plan, scenario);
    size_t n_runs = cell->n_runs;
    planner->n_done++;
    if (planner->n_expected < planner->n_done) /* trials: as many as it takes */
        planner->n_expected = planner->n_done;
    lb_scheduler_expect(planner->scheduler, planner->n_expected);
    rc =
        lb_scheduler_run(planner->scheduler, cell, &cell->scenario, n_runs, &planner->resumed, err);
    if (rc != 0)
        return rc;
    if (cell->n_runs > n_runs && cell->runs[n_runs]->state != LB_RUN_INTERRUPTED) {
        const struct lb_outcome *run = cell->runs[n_runs];
        if (run->state == LB_RUN_SERVER_GONE)
            return lb_fail(err, LB_E_ENV, "%s", run->reason);
        *ret_run = run;
        return 0;
    }
    if (cell->state == LB_CELL_FAILED) {
        *err = cell->error;
        return err->code;
    }
    return lb_scheduler_stopped(planner->scheduler)
               ? lb_fail(err, LB_E_INTERRUPTED, "interrupted")
               : lb_fail(err, LB_E_UNSUPPORTED, "%s", cell->reason);
}

/* Meanwhile the server writes and vacuums the remains of an overload; a signal ends the wait. */
static void rest(void *arg)
{
    const struct planner *planner = arg;
    poll(NULL, 0, planner->resumed ? 0 : REST_MS);
}

/* --- the plans --- */

/* The cell of the one run that an answer about a number of workers begins with. */
static void make_first_cells(struct planner *planner)
{
    for (size_t p = 0; p < planner->n_plans; p++) {
        struct lb_scenario scenario;
        lb_plan_first_scenario(&planner->plans[p], &scenario);
        cell_of(planner, &planner->plans[p], &scenario);
    }
}

/* The sweep's cells, in the order of the numbers of workers; they are run in another one. */
static void make_cells(struct planner *planner)
{
    for (size_t p = 0; p < planner->n_plans; p++)
        for (size_t l = 0; l < planner->question.n_levels; l++) {
            struct lb_scenario scenario;
            lb_plan_point_scenario(&planner->plans[p], planner->question.levels[l], &scenario);
            cell_of(planner, &planner->plans[p], &scenario);
        }
}

/* Takes the selected cells out of the report, which gets one for each thing that is run. */
static int make_plans(struct planner *planner, struct lb_error *err)
{
    struct lb_report *report = lb_scheduler_report(planner->scheduler);
    planner->templates = report->cells;
    planner->n_templates = report->n_cells;
    report->cells = NULL;
    report->n_cells = 0;
    planner->plans = lb_calloc(planner->n_templates, sizeof *planner->plans);
    planner->template_of = lb_calloc(planner->n_templates, sizeof *planner->template_of);
    for (size_t i = 0; i < planner->n_templates; i++) {
        struct lb_cell *template = &planner->templates[i];
        if (template->state == LB_CELL_SKIPPED) {
            find_cell(planner, template, &template->scenario);
            continue;
        }
        if (template->scenario.n_stages > 0)
            return lb_fail(err, LB_E_USAGE, "a plan is for one load, and scenario %s has phases",
                           template->scenario.name);
        adapt(&planner->args, &template->scenario);
        planner->template_of[planner->n_plans] = i;
        lb_plan_init(&planner->plans[planner->n_plans++], &planner->question, template->name,
                     template->engine, &template->scenario);
    }
    if (lb_plan_sweeps(&planner->question))
        make_cells(planner);
    else
        make_first_cells(planner);
    return 0;
}

/* Sets the reason of planned runs that were not made, except after the user's stop. */
static void explain_pending(struct planner *planner)
{
    struct lb_report *report = lb_scheduler_report(planner->scheduler);
    for (size_t i = 0; i < report->n_cells; i++) {
        struct lb_cell *cell = &report->cells[i];
        if (cell->state != LB_CELL_PENDING || lb_scheduler_stopped(planner->scheduler))
            continue;
        cell->state = LB_CELL_NOT_RUN;
        for (size_t p = 0; p < planner->n_plans; p++)
            if (strcmp(planner->plans[p].strategy, cell->name) == 0 &&
                strcmp(planner->plans[p].engine, cell->engine) == 0)
                snprintf(cell->reason, sizeof cell->reason, "%s", planner->plans[p].refusal);
    }
}

static enum lb_exit status_of(const struct planner *planner)
{
    static const enum lb_exit statuses[] = {[LB_PLAN_ANSWERED] = LB_EXIT_OK,
                                            [LB_PLAN_MISSED] = LB_EXIT_REGRESSION,
                                            [LB_PLAN_REFUSED] = LB_EXIT_INCONCLUSIVE};
    enum lb_exit status = LB_EXIT_OK;
    for (size_t i = 0; i < planner->n_plans; i++)
        status = lb_exit_worse(status, statuses[lb_plan_verdict(&planner->plans[i])]);
    return status;
}

/* Measures the points that decide the demand; and then uncertain points, with the remaining
 * time. */
static int refine(struct lb_plan *plan, const struct lb_lab *lab, struct lb_error *err)
{
    size_t n_points = plan->n_points;
    int rc = lb_plan_refine(plan, lab, err);
    if (rc == 0)
        rc = lb_plan_repeat(plan, 1, true, lab, err);
    if (plan->n_points > n_points)
        lb_plan_fit(plan);
    return rc;
}

static int preview(struct lb_scheduler *scheduler, void *arg, struct lb_error *err)
{
    struct planner *planner = arg;
    planner->scheduler = scheduler;
    return make_plans(planner, err);
}

/* The answers depend on the server and on the length of a hold, which are easily forgotten. */
static void tell_defaults(const struct planner *planner)
{
    const struct lb_scenario *scenario = &planner->plans[0].scenario;
    char text[32];
    if (planner->args.targets.n == 0 &&
        !planner->templates[planner->template_of[0]].strategy->no_database)
        fputs("lockbench: without -d URI this plan is for a temporary SQLite file\n", stderr);
    if (lb_args_give(&planner->args, "hold"))
        return;
    if (scenario->hold_ns == 0)
        fputs("lockbench: jobs take no time in this plan: --hold TIME says how long one takes\n",
              stderr);
    else
        fprintf(stderr, "lockbench: a job takes %s in this plan: --hold TIME says how long\n",
                lb_format_ns(scenario->hold_ns, text, sizeof text));
}

static void tell(const struct planner *planner, const struct lb_report *report)
{
    const struct lb_plan_question *question = &planner->question;
    bool is_open = question->most_repeat > question->n_repeat;
    tell_defaults(planner);
    if (!lb_plan_sweeps(question)) {
        fprintf(stderr,
                "lockbench: one run of %llu workers gives a first answer; open loops that then "
                "measure it take a minute or two, and longer below 100 arrivals a second\n",
                (unsigned long long)lb_plan_first_workers(&planner->plans[0]));
        return;
    }
    lb_dry_run_tell_plan(report, planner->n_plans, question->n_levels, question->has_slo,
                         is_open ? planner->n_plans * question->budget_ns : 0);
}

static enum lb_exit schedule(struct lb_scheduler *scheduler, void *arg)
{
    struct planner *planner = arg;
    struct lb_error err;
    const struct lb_lab lab = {planner, measure, rest};
    planner->scheduler = scheduler;
    planner->question.seed = lb_scheduler_report(scheduler)->seed; /* resumed: the one from then */
    int rc = make_plans(planner, &err);
    struct lb_report *report = lb_scheduler_report(scheduler);
    report->plans = planner->plans;
    report->n_plans = planner->n_plans;
    bool sweeps = lb_plan_sweeps(&planner->question);
    planner->n_expected =
        sweeps ? planner->n_plans * planner->question.n_levels * (size_t)planner->question.n_repeat
               : 0;
    if (rc == 0 && planner->n_plans == 0)
        rc = lb_fail(&err, LB_E_UNSUPPORTED, "nothing to plan: %s", planner->templates[0].reason);
    if (rc == 0 && !planner->args.quiet)
        tell(planner, report);
    if (rc == 0 && sweeps)
        rc = lb_plan_sweep(planner->plans, planner->n_plans, &lab, &err);
    bool by_sweep = !lb_plan_asks_need(&planner->question); /* else open loops answer */
    if (rc == 0 && by_sweep)
        rc = lb_plan_repeat(planner->plans, planner->n_plans, false, &lab, &err);
    for (size_t i = 0; i < planner->n_plans && sweeps; i++)
        lb_plan_fit(&planner->plans[i]);
    for (size_t i = 0; i < planner->n_plans && rc == 0 && by_sweep; i++)
        rc = refine(&planner->plans[i], &lab, &err);
    for (size_t i = 0; i < planner->n_plans && rc == 0; i++)
        rc = lb_plan_search(&planner->plans[i], &lab, &err);
    for (size_t i = 0; i < planner->n_plans; i++)
        planner->plans[i].interrupted |= rc == LB_E_INTERRUPTED;
    for (size_t i = 0; i < planner->n_plans; i++)
        lb_plan_answer(&planner->plans[i]);
    explain_pending(planner);
    return rc != 0 && rc != LB_E_INTERRUPTED ? lb_cli_complain(&err) : status_of(planner);
}

static void release(struct planner *planner)
{
    for (size_t i = 0; i < planner->n_plans; i++)
        lb_plan_release(&planner->plans[i]);
    for (size_t i = 0; i < planner->n_templates; i++)
        lb_cell_release(&planner->templates[i]);
    free(planner->plans);
    free(planner->template_of);
    free(planner->templates);
    free(planner->args.overrides);
}

enum lb_exit lb_command_plan(const struct lb_args *args)
{
    struct planner planner = {.n_plans = 0};
    struct lb_error err;
    enum lb_exit status;
    if (read_question(&planner, args, &err) != 0) {
        status = lb_cli_complain(&err);
    } else if (lb_plan_check(&planner.question, &err) != 0) {
        lb_cli_complain(&err);
        status = LB_EXIT_INCONCLUSIVE;
    } else {
        copy_args(&planner, args);
        const struct lb_campaign campaign = {.args = &planner.args,
                                             .of = LB_OF_PLANS,
                                             .sink = &lb_sink_plan,
                                             .sample_waits = true,
                                             .schedule = schedule,
                                             .preview = preview,
                                             .judges_runs = true,
                                             .arg = &planner};
        status = lb_campaign_run(&campaign);
    }
    release(&planner);
    return status;
}
