/* Results as JSON: the document that run.json holds, and one object per line.
 *
 * The schema has a version; docs/result.schema.json describes it. Units stand in the key names.
 * A missing measurement is null, never 0.
 */
#include "json.h"
#include "batches.h"
#include "costs.h"
#include "diff.h"
#include "json_object.h"
#include "matrix_title.h"
#include "ranking.h"
#include "report.h"
#include "servers.h"
#include "untested.h"

#include <math.h>
#include <string.h>

enum { STEPS_PER_HALVING = 4 }; /* of a spectrum */

/* "put-interval" of type time -> "put_interval_ns". */
static void config_name(const struct lb_key *key, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s", key->name,
             key->type == LB_KEY_TIME    ? "_ns"
             : key->type == LB_KEY_HOLD  ? "_ns"
             : key->type == LB_KEY_BYTES ? "_bytes"
             : key->type == LB_KEY_SHARE ? "_share"
                                         : "");
    for (char *c = buf; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
}

static json_t *config_json(const struct lb_scenario *scenario)
{
    struct lb_object object = lb_object_new();
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        char name[64], text[300];
        const char *field = (const char *)scenario + key->offset;
        uint64_t count;
        double share;
        config_name(key, name, sizeof name);
        switch (key->type) {
        case LB_KEY_COUNT:
        case LB_KEY_BYTES:
        case LB_KEY_TIME:
        case LB_KEY_HOLD: /* the mean */
            memcpy(&count, field, sizeof count);
            lb_put_count(&object, name, count);
            break;
        case LB_KEY_SHARE:
        case LB_KEY_EXPONENT:
            memcpy(&share, field, sizeof share);
            lb_put(&object, name, json_real(share));
            break;
        case LB_KEY_FLAG:
            lb_scenario_get(scenario, key, text, sizeof text);
            lb_put(&object, name, json_boolean(text[0] == 'y'));
            break;
        case LB_KEY_TEXT:
        case LB_KEY_SHAPE:
        case LB_KEY_CHOICE:
        case LB_KEY_ISOLATION:
        default:
            lb_scenario_get(scenario, key, text, sizeof text);
            lb_put_text(&object, name, text);
        }
    }
    if (scenario->holds[0] != '\0')
        lb_put_text(&object, "hold_distribution", scenario->holds);
    char phases[LB_STAGES * 100];
    if (scenario->n_stages > 0)
        lb_put_text(&object, "phases", lb_stages_text(scenario, phases, sizeof phases));
    return lb_object_end(&object);
}

static json_t *hint_json(const struct lb_hint *hint)
{
    if (hint == NULL)
        return json_null();
    struct lb_object object = lb_object_new(), lines = lb_list_new();
    lb_put_text(&object, "path", hint->path);
    for (size_t i = 0; i < hint->n_lines; i++) {
        struct lb_object line = lb_object_new();
        lb_put_count(&line, "line", (uint64_t)hint->lines[i].line);
        lb_put_text(&line, "text", hint->lines[i].text);
        lb_add(&lines, lb_object_end(&line));
    }
    lb_put(&object, "lines", lb_object_end(&lines));
    lb_put_text_or_null(&object, "fix", hint->fix[0] != '\0' ? hint->fix : NULL);
    return lb_object_end(&object);
}

static json_t *guarantees_json(const struct lb_cell *cell)
{
    struct lb_object all = lb_object_new();
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_outcome *run;
        const struct lb_finding *finding = lb_cell_finding(cell, (enum lb_guarantee)g, &run);
        if (finding == NULL)
            continue;
        struct lb_object object = lb_object_new();
        lb_put_text(&object, "verdict", lb_verdict_name(finding->verdict));
        lb_put_text(&object, "expectation",
                    lb_expectation_name(lb_cell_expectation(cell, (enum lb_guarantee)g)));
        lb_put_count(&object, "violations", finding->n_violations);
        lb_put_count(&object, "tested", finding->n_tested);
        lb_put(&object, "reason",
               finding->verdict == LB_V_NOT_TESTED ? json_string(finding->reason) : json_null());
        struct lb_object witnesses = lb_list_new();
        for (size_t i = 0; i < finding->n_witnesses; i++)
            lb_add(&witnesses, lb_witness_json(&finding->witness[i], run->start_ns, false));
        lb_put(&object, "witnesses", lb_object_end(&witnesses));
        lb_put(&object, "hint", hint_json(lb_cell_hint(cell, (enum lb_guarantee)g)));
        lb_put(&all, lb_guarantee_name((enum lb_guarantee)g), lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *comparison_json(const struct lb_rank_table *table, const struct lb_rank *rank,
                               enum lb_measured measured)
{
    const struct lb_rank *reference = &table->ranks[table->reference];
    char text[80];
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "measured", lb_measured_name(measured));
    lb_put_text(&object, "strategy", rank->cell->name);
    lb_put_text(&object, "reference", lb_rank_name(reference));
    lb_put_text(&object, "engine", rank->cell->engine);
    lb_put_text(&object, "scenario", rank->cell->scenario.name);
    lb_put(&object, "median", lb_estimate_json(&rank->median));
    lb_put(&object, "reference_median", lb_estimate_json(&reference->median));
    lb_put(&object, "ratio", lb_estimate_json(&rank->ratio));
    lb_put_text(&object, "text", lb_rank_ratio(rank, text, sizeof text));
    lb_put_real(&object, "pooled", measured == LB_RANK_RATE ? NAN : rank->pooled);
    lb_put_real(&object, "reference_pooled", measured == LB_RANK_RATE ? NAN : reference->pooled);
    lb_put_count(&object, "rounds", rank->n_rounds);
    lb_put_text(&object, "letters", rank->letters);
    lb_put_text(&object, "verdict", lb_stats_verdict_name(rank->verdict));
    lb_put_text(&object, "is", lb_rank_is(table, rank, measured));
    return lb_object_end(&object);
}

static json_t *looks_json(const struct lb_rank_table *table, enum lb_measured measured)
{
    const struct lb_looks *looks =
        measured == LB_RANK_RATE ? table->ranks[0].cell->looks : NULL; /* the others: one look */
    struct lb_object all = lb_list_new();
    for (size_t i = 0; i < table->n_looks; i++) {
        struct lb_object object = lb_object_new();
        lb_put_count(&object, "rounds", looks != NULL ? looks->at[i].n_rounds : table->n_rounds);
        lb_put_real(&object, "alpha", looks != NULL ? looks->at[i].alpha : table->alpha);
        lb_add(&all, lb_object_end(&object));
    }
    return lb_object_end(&all);
}

static json_t *ranking_json(const struct lb_report *report, const struct lb_rank_table *table,
                            const struct lb_ranking *rankings, enum lb_measured measured)
{
    const struct lb_rank *reference = &table->ranks[table->reference];
    char text[LB_RANK_TEXT];
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "measured", lb_measured_name(measured));
    lb_put_text(&object, "engine", reference->cell->engine);
    lb_put_text(&object, "scenario", reference->cell->scenario.name);
    lb_put_text(&object, "reference", lb_rank_name(reference));
    lb_put_flag(&object, "named", table->is_named);
    lb_put_flag(&object, "servers", lb_servers_are_asked(table));
    lb_put_text(&object, "answer", lb_rank_answer(table, measured, text, sizeof text));
    lb_put(&object, "choice",
           measured == LB_RANK_RATE
               ? json_string(lb_servers_or_choice(table, rankings, text, sizeof text))
               : json_null());
    lb_put_text(&object, "power", lb_rank_power(table, measured, text, sizeof text));
    for (int m = LB_RANK_RATE + 1; m < LB_RANK_MEASURES; m++)
        lb_put(&object, lb_measured_name((enum lb_measured)m),
               measured == LB_RANK_RATE
                   ? json_string(lb_rank_beside(report, table, &rankings[m], text, sizeof text))
                   : json_null());
    lb_put_count(&object, "rounds", table->n_rounds);
    lb_put(&object, "looks", looks_json(table, measured));
    lb_put_real(&object, "noise", table->noise.sd);
    lb_put_real(&object, "round_noise", table->noise.round_sd);
    lb_put_real(&object, "shows", table->shows);
    lb_put_count(&object, "pairs_open", table->n_open);
    struct lb_object ranks = lb_list_new(), without = lb_list_new();
    for (size_t i = 0; i < table->n; i++) {
        struct lb_object rank = lb_object_new();
        lb_put_text(&rank, "strategy", table->ranks[i].cell->name);
        lb_put_text(&rank, "engine", table->ranks[i].cell->engine);
        lb_put_text(&rank, "letters", table->ranks[i].letters);
        lb_add(&ranks, lb_object_end(&rank));
    }
    for (size_t i = 0; i < table->n_without; i++)
        lb_add(&without, lb_json_text(table->without[i]->name));
    lb_put(&object, "ranks", lb_object_end(&ranks));
    lb_put(&object, "not_ranked", lb_object_end(&without));
    return lb_object_end(&object);
}

/* Tables, and each of their strategies but the reference; empty where no two cells were run twice.
 */
static void put_rankings(struct lb_object *object, const struct lb_report *report)
{
    struct lb_object tables = lb_list_new(), rows = lb_list_new();
    struct lb_ranking rankings[LB_RANK_MEASURES];
    lb_rankings_make(report, rankings);
    for (int m = 0; m < LB_RANK_MEASURES; m++) {
        const struct lb_ranking *ranking = &rankings[m];
        for (size_t t = 0; t < ranking->n_tables; t++) {
            const struct lb_rank_table *table = &ranking->tables[t];
            lb_add(&tables, ranking_json(report, table, rankings, ranking->measured));
            for (size_t i = 0; i < table->n; i++)
                if (i != table->reference)
                    lb_add(&rows, comparison_json(table, &table->ranks[i], ranking->measured));
        }
    }
    lb_rankings_release(rankings);
    lb_put(object, "rankings", lb_object_end(&tables));
    lb_put(object, "comparisons", lb_object_end(&rows));
}

/* Empty where all claims were of one size. */
static void put_batches(struct lb_object *object, const struct lb_report *report)
{
    struct lb_object rows = lb_list_new();
    struct lb_batches batches;
    char text[80];
    lb_batches_make(report, &batches);
    for (size_t i = 0; i < batches.n; i++) {
        const struct lb_batch_row *row = &batches.rows[i];
        struct lb_object one = lb_object_new();
        lb_put_count(&one, "cell", (uint64_t)(row->cell - report->cells));
        lb_put_text(&one, "strategy", row->cell->name);
        lb_put_text(&one, "engine", row->cell->engine);
        lb_put_text(&one, "scenario", row->cell->scenario.name);
        lb_put_count(&one, "batch", row->cell->scenario.batch);
        lb_put_real(&one, "successes_per_s", row->successes_per_s);
        lb_put_count(&one, "in_hand_ns",
                     row->in_hand_ns > 0 ? (uint64_t)row->in_hand_ns : UINT64_MAX);
        lb_put_text(&one, "at_a_death", lb_batch_fate(row, text, sizeof text));
        lb_add(&rows, lb_object_end(&one));
    }
    lb_batches_release(&batches);
    lb_put(object, "batches", lb_object_end(&rows));
}

static json_t *summary_json(const struct lb_report *report, const struct lb_cell *cell)
{
    struct lb_summary summary;
    char name[32];
    struct lb_object object = lb_object_new();
    lb_cell_summarise(cell, &summary);
    lb_put_real(&object, "successes_per_s", summary.successes_per_s);
    struct lb_estimate rate;
    lb_put(&object, "successes_per_s_interval",
           lb_cell_rate(cell, &rate) ? lb_estimate_json(&rate) : json_null());
    lb_put_real(&object, "attempts_per_success",
                summary.n_successes > 0 ? summary.attempts_per_success : NAN);
    lb_put_real(&object, "cpu_us_per_success",
                summary.n_successes > 0 ? summary.cpu_us_per_success : NAN);
    lb_put_real(&object, "jain", summary.jain);
    if (report->price.is_given)
        lb_put_real(&object, "price_per_million",
                    lb_price_per_million(&report->price, (double)cell->scenario.workers,
                                         summary.successes_per_s));
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        snprintf(name, sizeof name, "%s_ns", lb_quantile_names[q]);
        lb_put_count(&object, name, summary.quantile_ns[q]);
    }
    lb_put_count(&object, "max_ns", summary.has_latency ? summary.max_ns : UINT64_MAX);
    return lb_object_end(&object);
}

/* 1/(1-p), ns, ...: from p = 0 with a fixed number of steps for each halving of 1-p, up to the last
 * that has a sample, and then the maximum. */
static json_t *spectrum_json(const struct lb_histogram *histogram)
{
    struct lb_object list = lb_list_new();
    for (int step = 0; exp2((double)step / STEPS_PER_HALVING) < (double)histogram->count; step++) {
        double inverse = exp2((double)step / STEPS_PER_HALVING);
        lb_add(&list, json_real(inverse));
        lb_add(&list, lb_json_count(lb_histogram_quantile(histogram, 1 - 1 / inverse)));
    }
    lb_add(&list, lb_json_count(histogram->count));
    lb_add(&list, lb_json_count(histogram->max));
    return lb_object_end(&list);
}

/* The waits of all runs. */
static json_t *spectra_json(const struct lb_cell *cell)
{
    static const char *const names[] = {"acquire", "acquire-response"};
    struct lb_object object = lb_object_new();
    struct lb_histogram *sum = lb_histogram_new();
    for (size_t i = 0; i < 2; i++) {
        lb_cell_histogram(cell, i == 1, sum);
        if (sum->count > 0)
            lb_put(&object, names[i], spectrum_json(sum));
    }
    lb_histogram_free(sum);
    return lb_object_end(&object);
}

static json_t *costs_json(const struct lb_cell *cell)
{
    struct lb_object object = lb_object_new();
    struct lb_costs costs;
    lb_cell_costs(cell, &costs);
    for (int c = 0; c < LB_COSTS; c++)
        lb_put_real(&object, lb_cost_key((enum lb_cost)c),
                    costs.values[c] < 0 ? NAN : costs.values[c]);
    return lb_object_end(&object);
}

static json_t *cell_json(const struct lb_report *report, const struct lb_cell *cell)
{
    struct lb_object object = lb_object_new(), options = lb_object_new();
    char text[1200], history[300] = "";
    lb_put_text(&object, "strategy", cell->name);
    lb_put_text(&object, "shape", lb_shape_name(cell->strategy->shape));
    lb_put_flag(&object, "control", cell->strategy->is_control);
    lb_put_text(&object, "engine", cell->engine);
    lb_put(&object, "target",
           cell->target != NULL ? json_string(cell->target->label) : json_null());
    lb_put_text(&object, "scenario", cell->scenario.name);
    lb_put_text(&object, "question", cell->scenario.question);
    for (size_t i = 0; i < cell->n_settings; i++)
        lb_put_text(&options, cell->settings[i].name, cell->settings[i].value);
    lb_put(&object, "options", lb_object_end(&options));
    lb_put(&object, "config", config_json(&cell->scenario));
    lb_put(&object, "after_setup",
           cell->after_setup != NULL ? json_string(cell->after_setup) : json_null());
    lb_put_text(&object, "verdict", lb_standing_name(lb_cell_standing(cell)));
    char missed[1000];
    const char *reason = cell->state == LB_CELL_FAILED ? cell->error.message
                         : cell->reason[0] != '\0'     ? cell->reason
                                                   : lb_cell_missed(cell, missed, sizeof missed);
    lb_put_text_or_null(&object, "reason", reason);
    if (cell->n_runs > 0) {
        lb_put(&object, "summary", summary_json(report, cell));
        lb_put(&object, "costs_per_success", costs_json(cell));
        lb_put(&object, "spectra", spectra_json(cell));
        lb_put(&object, "guarantees", guarantees_json(cell));
        lb_put_text(&object, "reproduce",
                    lb_reproduce(cell, cell->runs[0], NULL, text, sizeof text));
    }
    struct lb_object runs = lb_list_new();
    for (size_t i = 0; i < cell->n_runs; i++) {
        if (report->keeps_histories)
            lb_store_history_name(report, cell, i, history, sizeof history);
        lb_add(&runs, lb_run_json(cell->runs[i], history));
    }
    lb_put(&object, "runs", lb_object_end(&runs));
    return lb_object_end(&object);
}

static json_t *environment_json(const struct lb_environment *environment)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "machine", environment->machine);
    lb_put_count(&object, "cores", (uint64_t)environment->n_cores);
    lb_put_text(&object, "system", environment->system);
    lb_put_count(&object, "memory_bytes", environment->memory_bytes);
    return lb_object_end(&object);
}

static struct lb_object header_object(const struct lb_report *report)
{
    struct lb_object object = lb_object_new();
    char text[32];
    lb_put_text(&object, "schema", "lockbench-result");
    lb_put(&object, "schema_version", json_integer(LB_RESULT_SCHEMA));
    lb_put_text(&object, "lockbench", LB_VERSION);
    lb_put_text(&object, "command", report->command);
    lb_put_text(&object, "started", lb_matrix_utc(report, text, sizeof text));
    lb_put_count(&object, "seed", report->seed);
    lb_put_count(&object, "repeat", report->n_repeat);
    lb_put(&object, "budget_ns",
           report->budget_ns > 0 ? json_integer((json_int_t)report->budget_ns) : json_null());
    lb_put(&object, "environment", environment_json(&report->environment));
    return object;
}

static int write_json(json_t *json, size_t flags, FILE *out, struct lb_error *err)
{
    return lb_json_print(json, flags, "the results", out, err);
}

static void put_plans(struct lb_object *object, const struct lb_report *report)
{
    lb_put(object, "plans", lb_json_plans(report));
    lb_put(object, "choice", lb_json_choice(report));
}

/* Scenarios and guarantees that a verification did not test. */
static json_t *untested_json(const struct lb_report *report)
{
    struct lb_object list = lb_list_new();
    struct lb_untested one;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *first = &report->cells[i];
        size_t at = 0;
        while (lb_untested_begins(report, first) && lb_untested_next(report, first, &at, &one)) {
            struct lb_object object = lb_object_new();
            lb_put_text(&object, "strategy", one.cell->name);
            lb_put_text(&object, "engine", one.cell->engine);
            lb_put(&object, "scenario",
                   one.is_guarantee ? json_null() : json_string(one.cell->scenario.name));
            lb_put(&object, "guarantee",
                   one.is_guarantee ? json_string(lb_guarantee_name(one.guarantee)) : json_null());
            lb_put_text(&object, "reason", one.reason);
            lb_add(&list, lb_object_end(&object));
        }
    }
    return lb_object_end(&list);
}

json_t *lb_json_report(const struct lb_report *report)
{
    struct lb_object object = header_object(report);
    lb_put_flag(&object, "interrupted", report->interrupted);
    struct lb_object cells = lb_list_new();
    for (size_t i = 0; i < report->n_cells; i++)
        lb_add(&cells, cell_json(report, &report->cells[i]));
    lb_put(&object, "cells", lb_object_end(&cells));
    if (strcmp(report->command, "verify") == 0)
        lb_put(&object, "not_tested", untested_json(report));
    put_batches(&object, report);
    put_rankings(&object, report);
    lb_put(&object, "baseline", report->diff != NULL ? lb_diff_object(report->diff) : json_null());
    if (report->n_plans > 0)
        put_plans(&object, report);
    return lb_object_end(&object);
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
    struct lb_object object = header_object(state->report);
    state->rc = write_json(lb_object_end(&object), JSON_COMPACT, state->out, state->err);
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
    struct lb_object object = lb_object_new();
    if (state->rc != 0 || state->report->n_plans == 0)
        return;
    put_plans(&object, state->report);
    state->rc = write_json(lb_object_end(&object), JSON_COMPACT, state->out, state->err);
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
