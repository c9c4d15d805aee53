/* Results as JSON: the document that run.json holds, and one object per line.
 *
 * The schema has a version; docs/result.schema.json describes it. Units stand in the key names.
 * What was not measured is null, never 0.
 */
#include "costs.h"
#include "diff.h"
#include "json_object.h"
#include "json_plan.h"
#include "json_ranks.h"
#include "ranking.h"
#include "report.h"
#include "steady.h"
#include "text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static json_t *facts_json(const struct lb_fact *facts, size_t n)
{
    struct object object = object_new();
    for (size_t i = 0; i < n; i++)
        put_text(&object, facts[i].name, facts[i].value);
    return object_end(&object);
}

/* "put-interval" of type time -> "put_interval_ns". */
static void config_name(const struct lb_key *key, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s", key->name,
             key->type == LB_KEY_TIME            ? "_ns"
             : strcmp(key->name, "payload") == 0 ? "_bytes"
             : strcmp(key->argument ? key->argument : "", "SHARE") == 0 ? "_share"
                                                                        : "");
    for (char *c = buf; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
}

static json_t *config_json(const struct lb_scenario *scenario)
{
    struct object object = object_new();
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        char name[64], text[300];
        const char *field = (const char *)scenario + key->offset;
        uint64_t count;
        double share;
        config_name(key, name, sizeof name);
        switch (key->type) {
        case LB_KEY_COUNT:
        case LB_KEY_TIME:
            memcpy(&count, field, sizeof count);
            put_count(&object, name, count);
            break;
        case LB_KEY_SHARE:
        case LB_KEY_EXPONENT:
            memcpy(&share, field, sizeof share);
            put(&object, name, json_real(share));
            break;
        case LB_KEY_FLAG:
            lb_scenario_get(scenario, key, text, sizeof text);
            put(&object, name, json_boolean(text[0] == 'y'));
            break;
        case LB_KEY_TEXT:
        case LB_KEY_SHAPE:
        case LB_KEY_BACKOFF:
        case LB_KEY_IDS:
        case LB_KEY_ISOLATION:
        default:
            lb_scenario_get(scenario, key, text, sizeof text);
            put_text(&object, name, text);
        }
    }
    return object_end(&object);
}

static json_t *histogram_json(const struct lb_histogram *histogram)
{
    if (histogram == NULL)
        return json_null();
    struct object object = object_new();
    char name[32];
    put_count(&object, "count", histogram->count);
    put_count(&object, "overflow", histogram->overflow);
    put(&object, "min_ns", histogram->count > 0 ? number(histogram->min) : json_null());
    put(&object, "max_ns", histogram->count > 0 ? number(histogram->max) : json_null());
    put(&object, "mean_ns",
        histogram->count > 0 ? json_real(lb_histogram_mean(histogram)) : json_null());
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        snprintf(name, sizeof name, "%s_ns", lb_quantile_names[q]);
        put(&object, name,
            lb_histogram_enough(histogram, lb_quantiles[q])
                ? number(lb_histogram_quantile(histogram, lb_quantiles[q]))
                : json_null());
    }
    return object_end(&object);
}

static json_t *operation_json(const struct lb_outcome *run, int measure)
{
    const struct lb_counts *counts = &run->counts[measure];
    struct object object = object_new(), answers = object_new();
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"planned", counts->planned},   {"skipped", counts->skipped},
                {"started", counts->started},   {"finished", counts->finished},
                {"censored", counts->censored}, {"succeeded", counts->succeeded},
                {"given_up", counts->given_up}, {"gave_up", counts->gave_up},
                {"attempts", counts->attempts}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_count(&object, rows[i].name, rows[i].value);
    for (int answer = 0; answer < LB_ANSWERS; answer++)
        put_count(&answers, lb_answer_name(answer), counts->answers[answer]);
    put(&object, "answers", object_end(&answers));
    put(&object, "service", histogram_json(run->service[measure]));
    put(&object, "response", histogram_json(run->response[measure]));
    return object_end(&object);
}

static json_t *proof_json(const struct lb_proof *proof)
{
    if (proof->name[0] == '\0')
        return json_null();
    struct object object = object_new();
    put_text(&object, "name", proof->name);
    put_text(&object, "verdict", lb_verdict_name(proof->verdict));
    put_text(&object, "text", proof->text);
    return object_end(&object);
}

static json_t *live_json(const struct lb_outcome *run)
{
    struct object object = object_new();
    put_count(&object, "overlaps", run->live.n_overlaps);
    put_count(&object, "lost_updates", run->live.n_lost_updates);
    put(&object, "hold_sum_exceeds", json_boolean(run->live.hold_sum_exceeds));
    put(&object, "agrees_with_history", json_boolean(run->witnesses_agree));
    return object_end(&object);
}

static const char *state_name(enum lb_run_state state)
{
    static const char *const names[] = {[LB_RUN_COMPLETE] = "complete",
                                        [LB_RUN_INTERRUPTED] = "interrupted",
                                        [LB_RUN_SERVER_GONE] = "server gone",
                                        [LB_RUN_INVALID] = "invalid"};
    return names[state];
}

static json_t *operations_json(const struct lb_outcome *run)
{
    struct object object = object_new();
    for (int measure = 0; measure < LB_MEASURES; measure++)
        if (run->counts[measure].started > 0 || run->counts[measure].planned > 0)
            put(&object, lb_measure_name((enum lb_measure)measure), operation_json(run, measure));
    return object_end(&object);
}

/* Sessions per sample, on average, by what they were seen doing. */
static json_t *waits_json(const struct lb_outcome *run)
{
    if (run->n_wait_samples == 0)
        return json_null();
    struct object object = object_new(), sessions = object_new();
    put_count(&object, "samples", run->n_wait_samples);
    for (size_t i = 0; i < run->n_waits; i++)
        put(&sessions, run->waits[i].name,
            json_real((double)run->waits[i].n / (double)run->n_wait_samples));
    put(&object, "sessions", object_end(&sessions));
    return object_end(&object);
}

static json_t *steady_json(const struct lb_outcome *run)
{
    struct object object = object_new();
    struct lb_steadiness steady;
    lb_run_steadiness(run, &steady);
    put_text(&object, "verdict", lb_steadiness_name(steady.verdict));
    put(&object, "reason", steady.reason[0] != '\0' ? json_string(steady.reason) : json_null());
    put(&object, "change",
        steady.verdict == LB_RUN_NOT_JUDGED ? json_null() : estimate_json(&steady.change));
    return object_end(&object);
}

/* Of the arrivals: what was planned, and how late the generator itself was. */
static json_t *open_loop_json(const struct lb_outcome *run)
{
    if (run->pacing == NULL)
        return json_null();
    struct object object = object_new();
    const struct lb_counts *counts = &run->counts[lb_open_measure(run)];
    double seconds = run->elapsed_ns > 0 ? (double)run->elapsed_ns / 1e9 : 1;
    put_count(&object, "planned", counts->planned);
    put_count(&object, "skipped", counts->skipped);
    put_count(&object, "censored", counts->censored);
    put_count(&object, "due", run->n_due);
    put(&object, "due_per_s", json_real((double)run->n_due / seconds));
    put(&object, "planned_per_s", json_real((double)counts->planned / seconds));
    put(&object, "achieved_per_s", json_real((double)counts->succeeded / seconds));
    put(&object, "wake_late", histogram_json(run->pacing));
    return object_end(&object);
}

static json_t *run_json(const struct lb_outcome *run, const char *history)
{
    struct object object = object_new();
    put(&object, "history", history[0] != '\0' ? json_string(history) : json_null());
    put_count(&object, "seed", run->seed);
    put_text(&object, "state", state_name(run->state));
    put(&object, "reason", run->reason[0] != '\0' ? json_string(run->reason) : json_null());
    put(&object, "start_unix_ms", json_integer(run->start_unix_ms));
    put_count(&object, "duration_ns", run->config.duration_ns);
    put_count(&object, "warmup_ns", run->config.warmup_ns);
    put_count(&object, "elapsed_ns", run->elapsed_ns);
    put(&object, "steady_state", steady_json(run));
    put(&object, "open_loop", open_loop_json(run));
    put_text(&object, "options", run->options);
    put(&object, "successes_per_s", json_real(run->successes_per_s));
    put(&object, "attempts_per_success", json_real(run->attempts_per_success));
    put_count(&object, "items", run->n_items);
    put(&object, "operations", operations_json(run));
    json_t *workers = json_array();
    for (uint32_t i = 0; workers != NULL && i < run->n_workers; i++)
        if (json_array_append_new(workers, number(run->worker_successes[i])) != 0)
            object.failed = true;
    put(&object, "worker_successes", workers);
    put(&object, "measures", lb_measures_json(&run->judgement.measures));
    put(&object, "live_witness", live_json(run));
    put_count(&object, "events", run->n_events);
    put_count(&object, "statements", run->n_statements);
    put_count(&object, "connects", run->n_connects);
    put_count(&object, "connections_lost", run->n_lost);
    put_count(&object, "faults", run->n_faults);
    put_count(&object, "guard_lost_updates", run->n_guard_lost);
    put(&object, "proof", proof_json(&run->proof));
    put_count(&object, "threads", run->n_threads);
    put(&object, "cpu_user_ns", run->has_cpu ? number(run->cpu_user_ns) : json_null());
    put(&object, "cpu_system_ns", run->has_cpu ? number(run->cpu_system_ns) : json_null());
    put_count(&object, "switches_voluntary", run->n_switches_voluntary);
    put_count(&object, "switches_involuntary", run->n_switches_involuntary);
    put(&object, "server_settings", facts_json(run->facts, run->n_facts));
    put(&object, "nodes", facts_json(run->nodes, run->n_nodes));
    put(&object, "server_costs", facts_json(run->server, run->n_server));
    put_count(&object, "successes_all", run->n_successes_all);
    json_t *warnings = json_array();
    for (size_t i = 0; warnings != NULL && i < run->n_warnings; i++)
        if (json_array_append_new(warnings, json_string(run->warnings[i])) != 0)
            object.failed = true;
    put(&object, "warnings", warnings);
    put(&object, "waits", waits_json(run));
    put(&object, "ranks", lb_ranks_json(&run->ranks));
    return object_end(&object);
}

static json_t *witness_json(const struct lb_witness *witness, uint64_t start_ns)
{
    struct object object = object_new();
    json_t *ops = json_array();
    put_text(&object, "text", witness->text);
    put_count(&object, "overlap_ns", witness->overlap_ns);
    for (size_t i = 0; ops != NULL && i < witness->n_ops; i++) {
        const struct lb_witness_op *op = &witness->ops[i];
        struct object o = object_new();
        put_count(&o, "worker", op->log);
        put_count(&o, "process", op->process);
        put_text(&o, "op", lb_op_name(op->op));
        put(&o, "end",
            op->type == LB_EV_NONE ? json_null() : json_string(lb_event_type_name(op->type)));
        put_text(&o, "answer", lb_answer_name(op->answer));
        put_count(&o, "object", op->object);
        put(&o, "value", op->has_value ? number(op->value) : json_null());
        put(&o, "invoke_ns", json_integer((json_int_t)(op->invoke_ns - start_ns)));
        put(&o, "end_ns",
            op->end_ns == UINT64_MAX ? json_null()
                                     : json_integer((json_int_t)(op->end_ns - start_ns)));
        if (json_array_append_new(ops, object_end(&o)) != 0)
            object.failed = true;
    }
    put(&object, "operations", ops);
    return object_end(&object);
}

static json_t *guarantees_json(const struct lb_cell *cell)
{
    struct object all = object_new();
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_outcome *run;
        const struct lb_finding *finding = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (finding == NULL)
            continue;
        struct object object = object_new();
        put_text(&object, "verdict", lb_verdict_name(finding->verdict));
        put_text(&object, "expectation",
                 lb_expectation_name(lb_cell_expectation(cell, (enum lb_guarantee)g)));
        put_count(&object, "violations", finding->n_violations);
        put_count(&object, "tested", finding->n_tested);
        put(&object, "reason",
            finding->verdict == LB_V_NOT_TESTED ? json_string(finding->reason) : json_null());
        json_t *witnesses = json_array();
        for (size_t i = 0; witnesses != NULL && i < finding->n_witnesses; i++)
            if (json_array_append_new(witnesses,
                                      witness_json(&finding->witness[i], run->start_ns)) != 0)
                object.failed = true;
        put(&object, "witnesses", witnesses);
        put(&all, lb_guarantee_name((enum lb_guarantee)g), object_end(&object));
    }
    return object_end(&all);
}

static json_t *comparison_json(const struct lb_rank_table *table, const struct lb_rank *rank,
                               enum lb_measured measured)
{
    const struct lb_rank *reference = &table->ranks[table->reference];
    char text[80];
    struct object object = object_new();
    put_text(&object, "measured", lb_measured_name(measured));
    put_text(&object, "strategy", rank->cell->name);
    put_text(&object, "reference", reference->cell->name);
    put_text(&object, "engine", rank->cell->engine);
    put_text(&object, "scenario", rank->cell->scenario.name);
    put(&object, "median", estimate_json(&rank->median));
    put(&object, "reference_median", estimate_json(&reference->median));
    put(&object, "ratio", estimate_json(&rank->ratio));
    put_text(&object, "text", lb_rank_ratio(rank, text, sizeof text));
    put(&object, "pooled",
        measured == LB_RANK_RATE || isnan(rank->pooled) ? json_null() : json_real(rank->pooled));
    put(&object, "reference_pooled",
        measured == LB_RANK_RATE || isnan(reference->pooled) ? json_null()
                                                             : json_real(reference->pooled));
    put_count(&object, "rounds", rank->n_rounds);
    put_text(&object, "letters", rank->letters);
    put_text(&object, "verdict", lb_stats_verdict_name(rank->verdict));
    put_text(&object, "is", lb_rank_is(table, rank, measured));
    return object_end(&object);
}

static json_t *looks_json(const struct lb_rank_table *table, enum lb_measured measured)
{
    const struct lb_looks *looks =
        measured == LB_RANK_RATE ? table->ranks[0].cell->looks : NULL; /* the others: one look */
    json_t *all = json_array();
    for (size_t i = 0; i < table->n_looks && all != NULL; i++) {
        struct object object = object_new();
        put_count(&object, "rounds", looks != NULL ? looks->at[i].n_rounds : table->n_rounds);
        put(&object, "alpha", json_real(looks != NULL ? looks->at[i].alpha : table->alpha));
        json_array_append_new(all, object_end(&object));
    }
    return all;
}

static json_t *ranking_json(const struct lb_report *report, const struct lb_rank_table *table,
                            const struct lb_ranking *rankings, enum lb_measured measured)
{
    const struct lb_rank *reference = &table->ranks[table->reference];
    char text[LB_RANK_TEXT];
    struct object object = object_new();
    put_text(&object, "measured", lb_measured_name(measured));
    put_text(&object, "engine", reference->cell->engine);
    put_text(&object, "scenario", reference->cell->scenario.name);
    put_text(&object, "reference", reference->cell->name);
    put(&object, "named", json_boolean(table->is_named));
    put_text(&object, "answer", lb_rank_answer(table, measured, text, sizeof text));
    put(&object, "choice",
        measured == LB_RANK_RATE ? json_string(lb_rank_choice(table, text, sizeof text))
                                 : json_null());
    put_text(&object, "power", lb_rank_power(table, measured, text, sizeof text));
    for (int m = LB_RANK_RATE + 1; m < LB_RANK_MEASURES; m++)
        put(&object, lb_measured_name((enum lb_measured)m),
            measured == LB_RANK_RATE
                ? json_string(lb_rank_beside(report, table, &rankings[m], text, sizeof text))
                : json_null());
    put_count(&object, "rounds", table->n_rounds);
    put(&object, "looks", looks_json(table, measured));
    put(&object, "noise", json_real(table->noise.sd));
    put(&object, "round_noise", json_real(table->noise.round_sd));
    put(&object, "shows", isfinite(table->shows) ? json_real(table->shows) : json_null());
    put_count(&object, "pairs_open", table->n_open);
    json_t *ranks = json_array(), *without = json_array();
    for (size_t i = 0; i < table->n && ranks != NULL; i++)
        json_array_append_new(ranks, json_pack("{s:s, s:s}", "strategy", table->ranks[i].cell->name,
                                               "letters", table->ranks[i].letters));
    for (size_t i = 0; i < table->n_without && without != NULL; i++)
        json_array_append_new(without, json_string(table->without[i]->name));
    put(&object, "ranks", ranks);
    put(&object, "not_ranked", without);
    return object_end(&object);
}

static int append(json_t *array, json_t *value)
{
    return array != NULL && json_array_append_new(array, value) == 0 ? 0 : -1;
}

/* Tables, and each of their strategies but the reference; empty where no two cells were run twice.
 */
static int put_rankings(struct object *object, const struct lb_report *report)
{
    json_t *tables = json_array(), *rows = json_array();
    struct lb_ranking rankings[LB_RANK_MEASURES];
    struct lb_error err;
    int rc = lb_rankings_make(report, rankings, &err);
    for (int m = 0; m < LB_RANK_MEASURES && rc == 0; m++) {
        const struct lb_ranking *ranking = &rankings[m];
        for (size_t t = 0; rc == 0 && t < ranking->n_tables; t++) {
            const struct lb_rank_table *table = &ranking->tables[t];
            rc = append(tables, ranking_json(report, table, rankings, ranking->measured));
            for (size_t i = 0; i < table->n && rc == 0; i++)
                if (i != table->reference)
                    rc = append(rows, comparison_json(table, &table->ranks[i], ranking->measured));
        }
    }
    lb_rankings_release(rankings);
    put(object, "rankings", tables);
    put(object, "comparisons", rows);
    return rc;
}

static json_t *summary_json(const struct lb_cell *cell)
{
    struct lb_summary summary;
    char name[32];
    struct object object = object_new();
    lb_cell_summarise(cell, &summary);
    put(&object, "successes_per_s", json_real(summary.successes_per_s));
    struct lb_estimate rate;
    put(&object, "successes_per_s_interval",
        lb_cell_rate(cell, &rate) ? estimate_json(&rate) : json_null());
    put(&object, "attempts_per_success",
        summary.n_successes > 0 ? json_real(summary.attempts_per_success) : json_null());
    put(&object, "cpu_us_per_success",
        summary.n_successes > 0 ? json_real(summary.cpu_us_per_success) : json_null());
    put(&object, "jain", json_real(summary.jain));
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        snprintf(name, sizeof name, "%s_ns", lb_quantile_names[q]);
        put_count(&object, name, summary.quantile_ns[q]);
    }
    put(&object, "max_ns", summary.has_latency ? number(summary.max_ns) : json_null());
    return object_end(&object);
}

static json_t *costs_json(const struct lb_cell *cell)
{
    struct object object = object_new();
    struct lb_costs costs;
    lb_cell_costs(cell, &costs);
    for (int c = 0; c < LB_COSTS; c++)
        put(&object, lb_cost_key((enum lb_cost)c),
            costs.values[c] < 0 ? json_null() : json_real(costs.values[c]));
    return object_end(&object);
}

static json_t *cell_json(const struct lb_report *report, const struct lb_cell *cell)
{
    struct object object = object_new(), options = object_new();
    char text[1200], history[300] = "";
    put_text(&object, "strategy", cell->name);
    put_text(&object, "shape", lb_shape_name(cell->strategy->shape));
    put(&object, "control", json_boolean(cell->strategy->is_control));
    put_text(&object, "engine", cell->engine);
    put(&object, "target", cell->target != NULL ? json_string(cell->target->label) : json_null());
    put_text(&object, "scenario", cell->scenario.name);
    put_text(&object, "question", cell->scenario.question);
    for (size_t i = 0; i < cell->n_settings; i++)
        put_text(&options, cell->settings[i].name, cell->settings[i].value);
    put(&object, "options", object_end(&options));
    put(&object, "config", config_json(&cell->scenario));
    put(&object, "after_setup",
        cell->after_setup != NULL ? json_string(cell->after_setup) : json_null());
    put_text(&object, "verdict", lb_standing_name(lb_cell_standing(cell)));
    char missed[1000];
    const char *reason = cell->state == LB_CELL_FAILED ? cell->error.message
                         : cell->reason[0] != '\0'     ? cell->reason
                                                   : lb_cell_missed(cell, missed, sizeof missed);
    put(&object, "reason", reason[0] != '\0' ? json_string(reason) : json_null());
    if (cell->n_runs > 0) {
        put(&object, "summary", summary_json(cell));
        put(&object, "costs_per_success", costs_json(cell));
        put(&object, "guarantees", guarantees_json(cell));
        put_text(&object, "reproduce", lb_reproduce(cell, cell->runs[0], NULL, text, sizeof text));
    }
    json_t *runs = json_array();
    for (size_t i = 0; runs != NULL && i < cell->n_runs; i++) {
        if (report->keeps_histories)
            lb_store_history_name(report, cell, i, history, sizeof history);
        if (json_array_append_new(runs, run_json(cell->runs[i], history)) != 0)
            object.failed = true;
    }
    put(&object, "runs", runs);
    return object_end(&object);
}

static json_t *environment_json(const struct lb_environment *environment)
{
    struct object object = object_new();
    put_text(&object, "machine", environment->machine);
    put_count(&object, "cores", (uint64_t)environment->n_cores);
    put_text(&object, "system", environment->system);
    put_count(&object, "memory_bytes", environment->memory_bytes);
    return object_end(&object);
}

static struct object header_object(const struct lb_report *report)
{
    struct object object = object_new();
    char text[32];
    struct tm tm;
    time_t seconds = (time_t)(report->start_unix_ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    put_text(&object, "schema", "lockbench-result");
    put(&object, "schema_version", json_integer(LB_RESULT_SCHEMA));
    put_text(&object, "lockbench", LB_VERSION);
    put_text(&object, "command", report->command);
    put_text(&object, "started", text);
    put_count(&object, "seed", report->seed);
    put_count(&object, "repeat", report->n_repeat);
    put(&object, "budget_ns",
        report->budget_ns > 0 ? json_integer((json_int_t)report->budget_ns) : json_null());
    put(&object, "environment", environment_json(&report->environment));
    return object;
}

static int write_json(json_t *json, size_t flags, FILE *out, struct lb_error *err)
{
    if (json == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    int rc = json_dumpf(json, out, flags | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', out) != EOF
                 ? 0
                 : lb_fail(err, LB_E_ENV, "cannot write the results as JSON: %s", strerror(errno));
    json_decref(json);
    return rc;
}

static void put_plans(struct object *object, const struct lb_report *report)
{
    put(object, "plans", lb_json_plans(report));
    put(object, "choice", lb_json_choice(report));
}

json_t *lb_json_report(const struct lb_report *report)
{
    struct object object = header_object(report);
    put(&object, "interrupted", json_boolean(report->interrupted));
    json_t *cells = json_array();
    for (size_t i = 0; cells != NULL && i < report->n_cells; i++)
        if (json_array_append_new(cells, cell_json(report, &report->cells[i])) != 0)
            object.failed = true;
    put(&object, "cells", cells);
    if (put_rankings(&object, report) != 0)
        object.failed = true;
    put(&object, "baseline", report->diff != NULL ? lb_diff_object(report->diff) : json_null());
    if (report->n_plans > 0)
        put_plans(&object, report);
    return object_end(&object);
}

int lb_json_write(const struct lb_report *report, FILE *out, struct lb_error *err)
{
    return write_json(lb_json_report(report), JSON_INDENT(2), out, err);
}

static void json_end(struct lb_sink_state *state)
{
    state->rc = lb_json_write(state->report, state->out, state->err);
}

static void jsonl_begin(struct lb_sink_state *state)
{
    struct object object = header_object(state->report);
    state->rc = write_json(object_end(&object), JSON_COMPACT, state->out, state->err);
}

static void jsonl_cell(struct lb_sink_state *state, const struct lb_cell *cell)
{
    if (state->rc == 0)
        state->rc =
            write_json(cell_json(state->report, cell), JSON_COMPACT, state->out, state->err);
    fflush(state->out);
}

/* The plans come last, on one line. */
static void jsonl_end(struct lb_sink_state *state)
{
    struct object object = object_new();
    if (state->rc != 0 || state->report->n_plans == 0)
        return;
    put_plans(&object, state->report);
    state->rc = write_json(object_end(&object), JSON_COMPACT, state->out, state->err);
}

const struct lb_sink lb_sink_json = {.name = "json",
                                     .summary = "the whole result as one document",
                                     .of = LB_OF_RUNS | LB_OF_PLANS,
                                     .file = "run.json",
                                     .end = json_end};
const struct lb_sink lb_sink_jsonl = {.name = "jsonl",
                                      .summary = "a line of JSON as each row ends",
                                      .of = LB_OF_RUNS | LB_OF_PLANS,
                                      .begin = jsonl_begin,
                                      .cell = jsonl_cell,
                                      .end = jsonl_end};
