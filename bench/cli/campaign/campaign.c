/* Running the cells of a report: see campaign.h.
 *
 * Runs are interleaved: every cell once, then every cell again, each round in a random order of its
 * own, so that a slow minute of the machine falls on all cells alike. All cells of a round have the
 * same seed. Sinks hear of a cell once its last run is over, in the order of the report.
 */
#include "campaign.h"

#include "ask_again.h"
#include "budget.h"
#include "campaign_status.h"
#include "clock.h"
#include "combinations.h"
#include "dry_run.h"
#include "explored.h"
#include "leash.h"
#include "memory.h"
#include "nearest.h"
#include "outputs.h"
#include "progress.h"
#include "regression.h"
#include "signals.h"
#include "storage.h"
#include "telemetry.h"
#include "tracing.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lb_scheduler {
    uint64_t history_limit; /* events; see run_plan.h */
    const struct lb_campaign *campaign;
    struct lb_selection selection;
    struct lb_report report;
    struct lb_storage storage;
    struct lb_baseline baseline;
    struct lb_outputs outputs;
    struct lb_progress_view view;
    struct lb_telemetry telemetry;
    struct lb_top top;
    const struct lb_stop *stop;
    size_t n_told; /* cells that have been written of */
    bool by_budget;
    struct lb_looks *looks;     /* of a budget's tables; the cells borrow it */
    struct lb_trace_file trace; /* --trace */
    struct lb_error err;
};

static void add_options(struct lb_report *report, const char *name, const struct lb_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        lb_command_option(report->invocation, sizeof report->invocation, name, words->words[i]);
}

/* What selects and configures, with labels for targets: they have no password. */
static void describe_command(struct lb_report *report, const struct lb_args *args,
                             const struct lb_selection *selection)
{
    char *buf = report->invocation, number[32];
    size_t size = sizeof report->invocation;
    lb_command_start(buf, size, lb_run_ranks(), args->command->name);
    if (args->matrix)
        lb_command_add(buf, size, "--matrix");
    add_options(report, "-s", &args->strategies);
    lb_command_option(buf, size, "--with", args->with);
    for (size_t i = 0; i < args->targets.n && i < selection->n_places; i++) {
        const struct lb_place *place = &selection->places[i];
        char text[1000];
        snprintf(text, sizeof text, "%s%s%s", place->is_named ? place->engine : "",
                 place->is_named ? "=" : "", place->target.label);
        lb_command_option(buf, size, "-d", text);
    }
    add_options(report, "-S", &args->scenarios);
    add_options(report, "--opt", &args->options);
    lb_command_option(buf, size, "--faults", args->faults);
    for (size_t i = 0; i < args->n_overrides; i++) {
        const struct lb_key *key = args->overrides[i].key;
        char flag[64];
        bool no = key->type == LB_KEY_FLAG && args->overrides[i].value[0] == 'n';
        snprintf(flag, sizeof flag, "--%s%s", no ? "no-" : "", key->name);
        if (key->type == LB_KEY_FLAG)
            lb_command_add(buf, size, flag);
        else
            lb_command_option(buf, size, flag, args->overrides[i].value);
    }
    lb_command_option(buf, size, "--workers", args->plan.workers);
    lb_command_option(buf, size, "--slo", args->plan.slo);
    lb_command_option(buf, size, "--arrivals", args->plan.arrivals);
    lb_command_option(buf, size, "--demand", args->plan.demand);
    lb_command_option(buf, size, "--at", args->plan.at);
    add_options(report, "--after-setup", &args->after_setup);
    lb_command_option(buf, size, "--reference", args->reference);
    lb_command_option(buf, size, "--budget", args->budget);
    lb_command_option(buf, size, "--repeat", args->repeat);
    snprintf(number, sizeof number, "%llu", (unsigned long long)report->seed);
    lb_command_option(buf, size, "--seed", number);
}

/* The numbers of workers, and all other options of a plan, except the demand: it costs no run. */
static void describe_question(struct lb_report *report, const struct lb_args *args)
{
    lb_command_option(report->question, sizeof report->question, "--workers", args->plan.workers);
    lb_command_option(report->question, sizeof report->question, "--slo", args->plan.slo);
    lb_command_option(report->question, sizeof report->question, "--arrivals", args->plan.arrivals);
    lb_command_option(report->question, sizeof report->question, "--at", args->plan.at);
}

/* A baseline is reported only in formats with a place for it. */
static int load_baseline(struct lb_scheduler *state)
{
    int rc = lb_baseline_load(&state->baseline, state->campaign->args, &state->err);
    if (rc != 0 || !state->baseline.is_given || lb_outputs_have(&state->outputs, &lb_sink_text) ||
        lb_outputs_have(&state->outputs, &lb_sink_json) ||
        lb_outputs_have(&state->outputs, &lb_sink_markdown))
        return rc;
    return lb_fail(&state->err, LB_E_USAGE,
                   "option --baseline: needs --format text, json or markdown, not %s",
                   state->outputs.all[0].sink->name);
}

/* Rounds go on for a time unless a number of runs was requested, or is needed: a gate compares
 * cells that were run alike. */
static int choose_budget(struct lb_scheduler *state, struct lb_error *err)
{
    const struct lb_args *args = state->campaign->args;
    struct lb_report *report = &state->report;
    if (state->campaign->budgeting == NULL) /* verify's is that of a plan: outlook.h */
        return 0;
    const char *other = args->repeat != NULL     ? "--repeat"
                        : args->save != NULL     ? "--save"
                        : args->baseline != NULL ? "--baseline"
                                                 : NULL;
    if (args->budget != NULL && other != NULL)
        return lb_fail(err, LB_E_USAGE,
                       "option --budget: not together with %s, which fixes the number of runs",
                       other);
    state->by_budget = other == NULL && state->campaign->budgeting->applies(report);
    if (args->budget != NULL && !state->by_budget)
        return lb_fail(err, LB_E_USAGE,
                       "option --budget: needs two strategies that can be compared under one "
                       "scenario, and no sweep; see --repeat");
    if (state->by_budget) {
        report->n_repeat = 1; /* the minimum; the final number is known at the end */
        report->budget_ns = args->budget_ns > 0 ? args->budget_ns : LB_BUDGET_TABLE_NS;
        report->keeps_length = lb_args_give(args, "duration") || lb_args_give(args, "warmup");
        snprintf(report->question, sizeof report->question, "--budget %s",
                 args->budget != NULL ? args->budget : "");
    }
    return 0;
}

/* A reference must be one of the compared strategies or servers. */
static int check_reference(const struct lb_report *report, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128];
    if (report->reference == NULL)
        return 0;
    lb_nearest_init(&nearest, report->reference);
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        const char *name = cell->compares_servers ? cell->engine : cell->name;
        if (strcmp(name, report->reference) == 0)
            return 0;
        lb_nearest_offer(&nearest, name);
    }
    return lb_fail(
        err, LB_E_USAGE, "option --reference: '%s' is none of the %s%s", report->reference,
        report->n_cells > 0 && report->cells[0].compares_servers ? "servers" : "strategies",
        lb_nearest_text(&nearest, text, sizeof text));
}

static int read_history_limit(struct lb_scheduler *state)
{
    const char *text = state->campaign->args->history_limit;
    if (lb_parse_count(text != NULL ? text : "500k", &state->history_limit) == 0)
        return 0;
    return lb_fail(&state->err, LB_E_USAGE,
                   "option --history-limit: '%s' is no number of events, such as 500k, or 0", text);
}

static int prepare(struct lb_scheduler *state)
{
    const struct lb_args *args = state->campaign->args;
    struct lb_report *report = &state->report;
    struct lb_error *err = &state->err;
    int rc = lb_outputs_choose(&state->outputs,
                               state->campaign->of != 0 ? state->campaign->of : LB_OF_RUNS);
    if (rc == 0 && args->price != NULL)
        rc = lb_price_parse(args->price, &report->price, err);
    if (rc == 0)
        rc = read_history_limit(state);
    if (rc == 0)
        rc = load_baseline(state);
    snprintf(report->command, sizeof report->command, "%s", args->command->name);
    report->seed = args->seed_number;
    report->n_repeat = args->repeat == NULL && state->campaign->n_repeat > 0
                           ? state->campaign->n_repeat
                           : args->n_repeat;
    report->reference = args->reference;
    report->costs = args->costs;
    report->has_series = args->series != NULL;
    report->keeps_histories = args->keep_history;
    report->records = !args->no_record;
    report->keeps_tables = args->keep;
    report->start_unix_ms = lb_unix_ms();
    lb_environment_read(&report->environment);
    if (rc == 0 && args->dry_run && args->resume != NULL)
        rc = lb_fail(err, LB_E_USAGE, "option --dry-run: not together with --resume");
    if (rc == 0)
        rc = lb_storage_prepare(&state->storage, args, report, err);
    if (rc == 0)
        rc = lb_select(&state->selection, args, &state->campaign->defaults, err);
    if (rc == 0 && args->dry_run)
        lb_select_assume(&state->selection);
    else if (rc == 0)
        rc = lb_select_connect(&state->selection, err);
    describe_command(report, args, &state->selection);
    describe_question(report, args);
    if (rc == 0)
        rc = lb_select_cells(&state->selection, args, &state->campaign->defaults, report, err);
    if (rc == 0)
        rc = lb_sweep_check_use(report, args, err);
    if (rc == 0 && state->campaign->explores)
        lb_explored_add(report);
    for (size_t i = 0; i < report->n_cells && rc == 0 && state->campaign->refuse_skips; i++)
        if (report->cells[i].state == LB_CELL_SKIPPED)
            rc = lb_fail(err, LB_E_UNSUPPORTED, "%s", report->cells[i].reason);
    if (rc == 0)
        rc = check_reference(report, err);
    if (rc == 0)
        rc = choose_budget(state, err);
    if (rc == 0)
        rc = lb_baseline_check(&state->baseline, report, err);
    if (rc == 0)
        rc = lb_tracing_open(args, report, &state->trace, err);
    return rc == 0 && !args->dry_run
               ? lb_storage_open(&state->storage, args,
                                 state->campaign->schedule != NULL || state->by_budget, report, err)
               : rc;
}

/* The target answers no more: its other cells are not tried. */
static void give_up_target(struct lb_scheduler *state, const struct lb_target *target,
                           const char *why)
{
    for (size_t i = 0; i < state->report.n_cells && target != NULL; i++) {
        struct lb_cell *cell = &state->report.cells[i];
        if (cell->target == target && cell->state == LB_CELL_PENDING) {
            cell->state = LB_CELL_NOT_RUN;
            snprintf(cell->reason, sizeof cell->reason, "%s", why);
        }
    }
}

/* By the user; or the output has no reader, and nothing is kept. */
bool lb_scheduler_stopped(const struct lb_scheduler *state)
{
    return atomic_load(&state->stop->requested) > 0 ||
           (!state->storage.is_stored && lb_reader_is_gone());
}

static void tell_failure(struct lb_scheduler *state, const struct lb_cell *cell, const char *why)
{
    lb_progress_clear(&state->view);
    fprintf(stderr, "lockbench: %s on %s, %s: %s\n", cell->name, cell->engine, cell->scenario.name,
            why);
}

/* In a run before the last one: it has been said. */
static bool was_gone(const struct lb_cell *cell)
{
    bool gone = false;
    for (size_t i = 0; i + 1 < cell->n_runs; i++)
        gone |= cell->runs[i]->state == LB_RUN_SERVER_GONE;
    return gone;
}

static void show(void *arg, const struct lb_progress *progress)
{
    struct lb_scheduler *state = arg;
    lb_progress_show(&state->view, progress);
    lb_telemetry_tell(&state->telemetry, &state->report, state->view.cell, progress);
}

/* Keeps the outcome in the cell, and for --resume. */
static int take_outcome(struct lb_scheduler *state, struct lb_cell *cell, size_t round,
                        struct lb_outcome *outcome)
{
    bool is_more = cell->outlook != NULL && round >= state->report.n_repeat; /* ask_again.h */
    int rc = lb_checkpoint_add(is_more ? NULL : state->storage.checkpoint, &state->report, cell,
                               round, outcome, &state->err);
    if (rc == 0)
        lb_cell_add(cell, outcome);
    else
        lb_outcome_free(outcome);
    if (rc == 0 && outcome->state == LB_RUN_SERVER_GONE) {
        if (!was_gone(cell))
            tell_failure(state, cell, outcome->reason);
        give_up_target(state, cell->target, outcome->reason);
    }
    return rc;
}

/* There is no outcome, and the report goes on. */
static void take_failure(struct lb_scheduler *state, struct lb_cell *cell, int rc,
                         const struct lb_error *err)
{
    if (rc == LB_E_INTERRUPTED)
        return; /* the cell stays as it is */
    if (rc == LB_E_UNSUPPORTED && cell->n_runs == 0 && !state->campaign->refuse_skips) {
        cell->state = LB_CELL_SKIPPED;
        snprintf(cell->reason, sizeof cell->reason, "%s", err->message);
        return;
    }
    cell->state = LB_CELL_FAILED;
    cell->error = *err;
    tell_failure(state, cell, err->message);
    if (lb_error_is_outside(rc))
        give_up_target(state, cell->target, err->message);
    if (rc == LB_E_SQL)
        lb_outlook_give_up(&state->report, cell);
}

/* A run may take this much longer than the budget that it is a part of: set-up and end included.
 * Then statements that have not returned are cancelled. */
#define OVER_BUDGET_NS UINT64_C(20000000000)

static int run_once(struct lb_scheduler *state, struct lb_cell *cell,
                    const struct lb_scenario *scenario, size_t round)
{
    const struct lb_args *args = state->campaign->args;
    char path[1000];
    struct lb_run_plan plan = {.strategy = cell->strategy,
                               .file = cell->file,
                               .target = cell->target,
                               .scenario = scenario,
                               .settings = cell->settings,
                               .n_settings = cell->n_settings,
                               .seed = state->report.seed + round,
                               .restart_command = args->restart,
                               .failover_command = args->failover,
                               .after_setup = cell->after_setup,
                               .trace = args->trace != NULL ? &state->trace : NULL,
                               .sample_waits = args->costs || state->campaign->sample_waits ||
                                               cell->compares_servers,
                               .read_plans = cell->compares_servers && cell->n_runs == 0,
                               .has_series = args->series != NULL,
                               .history_limit = state->history_limit,
                               .record = !args->no_record,
                               .keep = args->keep,
                               .is_watched = state->telemetry.endpoint != NULL || args->top};
    if (args->keep_history) {
        lb_store_history_path(&state->storage.store, &state->report, cell, round, path,
                              sizeof path);
        if (args->resume != NULL)
            unlink(path); /* of this run, which was cut short */
        plan.history_path = path;
    }
    struct lb_outcome *outcome;
    struct lb_error err = {0};
    state->view.cell = cell;
    uint64_t since_ns = lb_now_ns();
    uint64_t budget_ns = cell->outlook != NULL ? cell->outlook->budget_ns : state->report.budget_ns;
    lb_leash_due(budget_ns > 0 ? since_ns + budget_ns + OVER_BUDGET_NS : 0);
    int rc;
    if (cell->is_explored) {
        struct lb_explore_plan explore = lb_explored_plan(cell, args, plan.seed, state->stop);
        if (cell->outlook != NULL) /* more of the same have time in the rest of the plan */
            explore.search.patience_ns = explore.time_ns / 4;
        rc = lb_explored_run(cell, &explore, &outcome, &err);
    } else {
        rc = lb_run(&plan, state->stop, show, state, &outcome, &err);
    }
    lb_leash_due(0);
    cell->took_ns += lb_now_ns() - since_ns;
    lb_telemetry_over(&state->telemetry, &state->report, cell, rc == 0 ? outcome : NULL);
    if (rc == 0)
        return take_outcome(state, cell, round, outcome);
    take_failure(state, cell, rc, &err);
    return 0;
}

static bool is_sweep(const struct lb_report *report)
{
    bool varies = false;
    for (size_t i = 0; i < report->n_cells; i++)
        varies |= lb_scenario_is_swept(report->cells[i].scenario.name);
    return varies;
}

/* Fisher and Yates. With one round of different things the order of the report is as good as any,
 * and easier to follow; the points of a sweep must not drift with the machine. */
static void order_round(const struct lb_scheduler *state, size_t *order, size_t round)
{
    struct lb_random random;
    for (size_t i = 0; i < state->report.n_cells; i++)
        order[i] = i;
    if (state->report.n_repeat == 1 && !is_sweep(&state->report))
        return;
    lb_random_init(&random, state->report.seed, round);
    for (size_t i = state->report.n_cells; i > 1; i--) {
        size_t j = (size_t)lb_random_below(&random, i), swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

/* Tells the sink of all cells, in order, up to the first that may still run. */
static void tell(struct lb_scheduler *state, bool all)
{
    while (state->n_told < state->report.n_cells) {
        const struct lb_cell *cell = &state->report.cells[state->n_told];
        bool is_over = cell->state == LB_CELL_DONE ? cell->n_runs >= state->report.n_repeat
                                                   : cell->state != LB_CELL_PENDING;
        if (!is_over && !all)
            return;
        lb_outputs_cell(&state->outputs, cell);
        state->n_told++;
    }
}

/* Earlier lines have taken all of the plan's time. */
static void leave_out(struct lb_scheduler *state, struct lb_cell *cell)
{
    cell->state = LB_CELL_SKIPPED;
    snprintf(cell->reason, sizeof cell->reason,
             "does not fit into %.3g s: --budget 10m asks it too",
             (double)cell->outlook->budget_ns / 1e9);
    lb_progress_done(&state->view, cell);
    tell(state, false);
}

static int run_rounds(struct lb_scheduler *state)
{
    struct lb_report *report = &state->report;
    size_t *order = lb_calloc(report->n_cells, sizeof *order);
    int rc = 0;
    tell(state, false); /* resumed cells may be complete */
    for (size_t round = 0; round < report->n_repeat && rc == 0; round++) {
        order_round(state, order, round);
        for (size_t i = 0; i < report->n_cells && rc == 0 && !lb_scheduler_stopped(state); i++) {
            struct lb_cell *cell = &report->cells[order[i]];
            if ((cell->state != LB_CELL_PENDING && cell->state != LB_CELL_DONE) ||
                lb_checkpoint_has(state->storage.checkpoint, report, cell, round))
                continue;
            if (lb_is_out_of_budget(report, cell)) {
                leave_out(state, cell);
                continue;
            }
            if (cell->is_explored && cell->outlook != NULL)
                cell->explored.time_ns = lb_exploring_time(report, cell);
            rc = run_once(state, cell, &cell->scenario, round);
            lb_progress_done(&state->view, cell);
            while (rc == 0 && round + 1 == report->n_repeat && !lb_scheduler_stopped(state) &&
                   lb_is_asked_again(report, cell)) {
                state->view.n_total++;
                rc = run_once(state, cell, &cell->scenario, cell->n_runs);
                lb_progress_done(&state->view, cell);
            }
            tell(state, false);
        }
    }
    free(order);
    return rc;
}

struct lb_report *lb_scheduler_report(struct lb_scheduler *scheduler)
{
    return &scheduler->report;
}

void lb_scheduler_expect(struct lb_scheduler *scheduler, size_t n_runs)
{
    scheduler->view.n_total = n_runs;
}

void lb_scheduler_left(struct lb_scheduler *scheduler, uint64_t left_ns)
{
    scheduler->view.has_left = true;
    scheduler->view.left_ns = left_ns;
}

int lb_scheduler_run(struct lb_scheduler *scheduler, struct lb_cell *cell,
                     const struct lb_scenario *scenario, size_t round, bool *ret_resumed,
                     struct lb_error *err)
{
    struct lb_outcome *kept =
        lb_checkpoint_take(scheduler->storage.checkpoint, &scheduler->report, cell, round);
    *ret_resumed = kept != NULL;
    if (kept != NULL) {
        lb_cell_add(cell, kept);
        return 0;
    }
    int rc = run_once(scheduler, cell, scenario, round);
    if (rc != 0)
        *err = scheduler->err;
    lb_progress_done(&scheduler->view, cell);
    return rc;
}

/* Where nothing was measured nothing is lost that cannot be stored: why has been said. */
static bool has_runs(const struct lb_report *report)
{
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].n_runs > 0 || report->cells[i].state != LB_CELL_FAILED)
            return true;
    return false;
}

static bool compares_servers(const struct lb_report *report)
{
    bool compares = false;
    for (size_t i = 0; i < report->n_cells; i++)
        compares |= report->cells[i].compares_servers;
    return compares;
}

/* Writes everything; a failure to write is reported, and does not hide findings. */
static enum lb_exit finish(struct lb_scheduler *state)
{
    enum lb_exit written = LB_EXIT_OK;
    state->report.interrupted = lb_scheduler_stopped(state);
    lb_progress_clear(&state->view);
    tell(state, true);
    int rc = lb_baseline_compare(&state->baseline, &state->report, &state->err);
    if (rc == 0 && state->report.diff != NULL)
        written = lb_gate_status(state->report.diff);
    else if (rc == 0 && lb_gate_is_against_reference(state->campaign->args))
        written = lb_gate_reference(&state->report, state->baseline.options.threshold);
    else if (rc == 0 && compares_servers(&state->report))
        written = lb_gate_servers(&state->report);
    if (rc != 0)
        written = lb_cli_complain(&state->err);
    for (size_t i = 0; i < state->selection.n_outlooks; i++)
        lb_outlook_add_hints(state->selection.outlooks[i], &state->report);
    if (lb_storage_finish(&state->storage, &state->report, &state->err) != 0)
        written = lb_exit_worse(written, has_runs(&state->report) ? lb_cli_complain(&state->err)
                                                                  : lb_exit_of(state->err.code));
    bool is_stdout;
    if (lb_outputs_end(&state->outputs, state->selection.outlooks, state->selection.n_outlooks,
                       &is_stdout) != 0 &&
        !(is_stdout && lb_reader_is_gone()))
        written = lb_exit_worse(written, is_stdout ? lb_cli_complain_of_output(&state->err)
                                                   : lb_cli_complain(&state->err));
    if (lb_campaign_judged_nothing(state->campaign, &state->report))
        written = lb_exit_worse(written, LB_EXIT_INCONCLUSIVE);
    if (state->campaign->args->strict && lb_campaign_left_untested(&state->report))
        written = lb_exit_worse(written, LB_EXIT_INCONCLUSIVE);
    return lb_exit_worse(lb_campaign_status(state->campaign, &state->report, &state->baseline),
                         written);
}

static void announce(const struct lb_scheduler *state)
{
    enum { LONG_S = 60 };
    const struct lb_report *report = &state->report;
    uint64_t seconds = lb_dry_run_ns(report) / 1000000000u;
    if (state->by_budget && !state->campaign->args->quiet) {
        char text[32];
        lb_format_span(
            state->campaign->budgeting->forecast(report, state->campaign->args->budget_ns), text,
            sizeof text);
        fprintf(stderr,
                "lockbench: this takes about %s, and less if all is decided before; --budget says "
                "how long, --repeat 1 is a first look\n",
                text);
        return;
    }
    if (state->campaign->args->quiet || seconds <= LONG_S || state->campaign->schedule != NULL)
        return;
    char text[32];
    lb_format_span(seconds * 1000000000u, text, sizeof text);
    fprintf(stderr, "lockbench: this takes %s %s%s\n",
            lb_dry_run_is_open(report) ? "at least" : "about", text,
            report->n_repeat > 1 ? "; --repeat 1 is a first look" : "");
}

static enum lb_exit run_all(struct lb_scheduler *state)
{
    const struct lb_args *args = state->campaign->args;
    size_t n_cells = 0;
    for (size_t i = 0; i < state->report.n_cells; i++)
        n_cells += state->report.cells[i].state == LB_CELL_PENDING ||
                   state->report.cells[i].state == LB_CELL_DONE;
    lb_progress_init(&state->view, args->quiet, args->progress_ns,
                     n_cells * state->report.n_repeat);
    if (args->top)
        state->view.top = &state->top;
    state->view.n_done = state->view.n_resumed = state->storage.n_resumed;
    announce(state);
    lb_outputs_begin(&state->outputs, state->selection.outlooks, state->selection.n_outlooks);
    fflush(stdout);
    enum lb_exit status = LB_EXIT_OK;
    if (state->campaign->schedule == NULL && !state->by_budget)
        lb_forecast_init(&state->view.forecast, &state->report, lb_now_ns());
    if (state->campaign->schedule != NULL)
        status = state->campaign->schedule(state, state->campaign->arg);
    else if (state->by_budget ? state->campaign->budgeting->run(state, args->budget_ns,
                                                                &state->looks, &state->err)
                              : run_rounds(state))
        status = lb_cli_complain(&state->err);
    return lb_exit_worse(status, finish(state));
}

/* --plan: prints the planned tests, and runs nothing. */
static enum lb_exit show_plan(struct lb_scheduler *state)
{
    const struct lb_selection *selection = &state->selection;
    for (size_t i = 0; i < selection->n_outlooks; i++)
        lb_outlook_print(selection->outlooks[i], stdout);
    if (selection->n_outlooks > 0)
        return LB_EXIT_OK;
    lb_fail(&state->err, LB_E_USAGE,
            "option --plan: is for strategies in files and programs, where no scenario, fault or "
            "flag of a run is given");
    return lb_cli_complain(&state->err);
}

/* --dry-run: the cells, and the time; nothing is opened, made or run. */
static enum lb_exit preview(struct lb_scheduler *state)
{
    const struct lb_campaign *campaign = state->campaign;
    int rc = campaign->preview != NULL ? campaign->preview(state, campaign->arg, &state->err) : 0;
    uint64_t budget_ns =
        state->by_budget ? campaign->budgeting->forecast(&state->report, campaign->args->budget_ns)
                         : 0;
    bool grows = campaign->schedule != NULL, is_line = lb_outputs_print(&state->outputs, "jsonl");
    if (rc == 0 && (is_line || lb_outputs_print(&state->outputs, "json")))
        rc = lb_dry_run_json(&state->report, budget_ns, grows, is_line, stdout, &state->err);
    else if (rc == 0)
        lb_dry_run_print(&state->report, budget_ns, grows, stdout);
    return rc == 0 ? LB_EXIT_OK : lb_cli_complain(&state->err);
}

enum lb_exit lb_campaign_run(const struct lb_campaign *campaign)
{
    struct lb_scheduler state = {.campaign = campaign, .stop = lb_signals_install()};
    enum lb_exit status;
    state.outputs.args = campaign->args;
    state.outputs.report = &state.report;
    state.outputs.usual = campaign->sink;
    state.outputs.err = &state.err;
    int rc = prepare(&state);
    const bool is_run = !campaign->args->show_plan && !campaign->args->dry_run;
    if (rc == 0 && is_run)
        rc = lb_top_open(&state.top, campaign->args, state.stop, &state.err);
    if (rc == 0 && is_run)
        rc = lb_telemetry_open(&state.telemetry, campaign->args, &state.err);
    if (rc == 0 && is_run)
        rc = lb_outputs_open(&state.outputs);
    if (rc == 0 && campaign->args->show_plan) {
        status = show_plan(&state);
    } else if (rc == 0 && campaign->args->dry_run) {
        status = preview(&state);
    } else if (rc == 0) {
        status = run_all(&state);
    } else {
        status = lb_cli_complain(&state.err);
        lb_outputs_fail(&state.outputs);
    }
    lb_telemetry_close(&state.telemetry);
    for (size_t i = 0; i < state.report.n_cells; i++)
        lb_cell_release(&state.report.cells[i]);
    free(state.report.cells);
    free(state.looks);
    lb_storage_release(&state.storage);
    lb_baseline_release(&state.baseline);
    lb_selection_release(&state.selection);
    if (lb_tracing_close(&state.trace, campaign->args, &state.err) != 0)
        status = lb_exit_worse(status, lb_cli_complain(&state.err));
    return status;
}
