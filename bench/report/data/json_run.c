/* A run as JSON: its measurements and circumstances. See json.h. */
#include "json.h"
#include "json_object.h"
#include "run_course.h"
#include "steady.h"
#include "text.h"

#include <math.h>

static json_t *facts_json(const struct lb_fact *facts, size_t n)
{
    struct lb_object object = lb_object_new();
    for (size_t i = 0; i < n; i++)
        lb_put_text(&object, facts[i].name, facts[i].value);
    return lb_object_end(&object);
}

static json_t *histogram_json(const struct lb_histogram *histogram)
{
    if (histogram == NULL)
        return json_null();
    struct lb_object object = lb_object_new();
    char name[32];
    lb_put_count(&object, "count", histogram->count);
    lb_put_count(&object, "overflow", histogram->overflow);
    lb_put_count(&object, "min_ns", histogram->count > 0 ? histogram->min : UINT64_MAX);
    lb_put_count(&object, "max_ns", histogram->count > 0 ? histogram->max : UINT64_MAX);
    lb_put_real(&object, "mean_ns", histogram->count > 0 ? lb_histogram_mean(histogram) : NAN);
    for (size_t q = 0; q < LB_QUANTILES; q++) {
        snprintf(name, sizeof name, "%s_ns", lb_quantile_names[q]);
        lb_put_count(&object, name,
                     lb_histogram_enough(histogram, lb_quantiles[q])
                         ? lb_histogram_quantile(histogram, lb_quantiles[q])
                         : UINT64_MAX);
    }
    return lb_object_end(&object);
}

static json_t *operation_json(const struct lb_outcome *run, int measure)
{
    const struct lb_counts *counts = &run->counts[measure];
    struct lb_object object = lb_object_new(), answers = lb_object_new();
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"planned", counts->planned},   {"skipped", counts->skipped},
                {"started", counts->started},   {"finished", counts->finished},
                {"censored", counts->censored}, {"succeeded", counts->succeeded},
                {"given_up", counts->given_up}, {"gave_up", counts->gave_up},
                {"attempts", counts->attempts}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        lb_put_count(&object, rows[i].name, rows[i].value);
    for (int answer = 0; answer < LB_ANSWERS; answer++)
        lb_put_count(&answers, lb_answer_name(answer), counts->answers[answer]);
    lb_put(&object, "answers", lb_object_end(&answers));
    lb_put(&object, "service", histogram_json(run->service[measure]));
    lb_put(&object, "response", histogram_json(run->response[measure]));
    return lb_object_end(&object);
}

static json_t *proof_json(const struct lb_proof *proof)
{
    if (proof->name[0] == '\0')
        return json_null();
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "name", proof->name);
    lb_put_text(&object, "verdict", lb_verdict_name(proof->verdict));
    lb_put_text(&object, "text", proof->text);
    return lb_object_end(&object);
}

static json_t *live_json(const struct lb_outcome *run)
{
    struct lb_object object = lb_object_new();
    lb_put_count(&object, "overlaps", run->live.n_overlaps);
    lb_put_count(&object, "lost_updates", run->live.n_lost_updates);
    lb_put_flag(&object, "hold_sum_exceeds", run->live.hold_sum_exceeds);
    lb_put_flag(&object, "agrees_with_history", run->witnesses_agree);
    return lb_object_end(&object);
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
    struct lb_object object = lb_object_new();
    for (int measure = 0; measure < LB_MEASURES; measure++)
        if (run->counts[measure].started > 0 || run->counts[measure].planned > 0)
            lb_put(&object, lb_measure_name((enum lb_measure)measure),
                   operation_json(run, measure));
    return lb_object_end(&object);
}

/* Sessions per sample, on average, by wait event. */
static json_t *waits_json(const struct lb_outcome *run)
{
    if (run->n_wait_samples == 0)
        return json_null();
    struct lb_object object = lb_object_new(), sessions = lb_object_new();
    lb_put_count(&object, "samples", run->n_wait_samples);
    for (size_t i = 0; i < run->n_waits; i++)
        lb_put(&sessions, run->waits[i].name,
               json_real((double)run->waits[i].n / (double)run->n_wait_samples));
    lb_put(&object, "sessions", lb_object_end(&sessions));
    return lb_object_end(&object);
}

static json_t *steady_json(const struct lb_outcome *run)
{
    struct lb_object object = lb_object_new();
    struct lb_steadiness steady;
    lb_run_steadiness(run, &steady);
    lb_put_text(&object, "verdict", lb_steadiness_name(steady.verdict));
    lb_put_text_or_null(&object, "reason", steady.reason);
    lb_put(&object, "change",
           steady.verdict == LB_RUN_NOT_JUDGED ? json_null() : lb_estimate_json(&steady.change));
    return lb_object_end(&object);
}

/* The arrivals: the plan, and the lateness of the generator itself. */
static json_t *open_loop_json(const struct lb_outcome *run)
{
    if (run->pacing == NULL)
        return json_null();
    struct lb_object object = lb_object_new();
    const struct lb_counts *counts = &run->counts[lb_open_measure(run)];
    double seconds = run->elapsed_ns > 0 ? (double)run->elapsed_ns / 1e9 : 1;
    lb_put_count(&object, "planned", counts->planned);
    lb_put_count(&object, "skipped", counts->skipped);
    lb_put_count(&object, "censored", counts->censored);
    lb_put_count(&object, "due", run->n_due);
    lb_put_real(&object, "due_per_s", (double)run->n_due / seconds);
    lb_put_real(&object, "planned_per_s", (double)counts->planned / seconds);
    lb_put_real(&object, "achieved_per_s", (double)counts->succeeded / seconds);
    lb_put(&object, "wake_late", histogram_json(run->pacing));
    return lb_object_end(&object);
}

static json_t *migration_json(const struct lb_migration *migration)
{
    if (migration->took_ns == 0)
        return json_null();
    struct lb_object object = lb_object_new();
    lb_put_count(&object, "took_ns", migration->took_ns);
    lb_put_count(&object, "tries", migration->n_tries);
    lb_put(&object, "done", json_boolean(migration->is_done));
    lb_put(&object, "watched", json_boolean(migration->is_watched));
    lb_put_count(&object, "blocked_ns", migration->blocked_ns);
    lb_put_count(&object, "sessions_waited", migration->n_sessions);
    lb_put_count(&object, "waited_ns", migration->waited_ns);
    lb_put_count(&object, "longest_wait_ns", migration->longest_ns);
    return lb_object_end(&object);
}

/* The phases of the scenario; a phase that did not come is left out. */
static json_t *phases_json(const struct lb_outcome *run)
{
    json_t *phases = json_array();
    for (uint32_t i = 0; i < run->config.n_stages; i++) {
        const struct lb_stage_figures *figures = &run->stages[i];
        struct lb_object object = lb_object_new();
        if (figures->length_ns == 0)
            continue;
        lb_put_text(&object, "name", run->config.stages[i].name);
        lb_put_count(&object, "start_ns", figures->start_ns);
        lb_put_count(&object, "length_ns", figures->length_ns);
        lb_put_count(&object, "successes", figures->n_successes);
        lb_put_count(&object, "due", figures->n_due);
        lb_put_count(&object, "p50_ns", figures->p50_ns > 0 ? figures->p50_ns : UINT64_MAX);
        lb_put_count(&object, "p99_ns", figures->p99_ns > 0 ? figures->p99_ns : UINT64_MAX);
        json_array_append_new(phases, lb_object_end(&object));
    }
    return phases;
}

/* What became of the rate over minutes or hours; null: the run is too short. */
static json_t *course_json(const struct lb_outcome *run)
{
    struct lb_course course;
    double dead_rows;
    if (!lb_run_course(run, &course, &dead_rows))
        return json_null();
    struct lb_object object = lb_object_new();
    char text[400];
    bool collapsed = course.verdict == LB_COURSE_COLLAPSED;
    lb_put_text(&object, "verdict", lb_course_name(course.verdict));
    lb_put_text(&object, "text", lb_run_course_text(run, &course, dead_rows, text, sizeof text));
    lb_put(&object, "drift_per_hour", collapsed ? json_null() : lb_estimate_json(&course.per_hour));
    lb_put(&object, "collapsed_s", collapsed ? lb_estimate_json(&course.collapsed) : json_null());
    lb_put_real(&object, "dead_rows", dead_rows);
    lb_put(&object, "recovered_s",
           course.has_recovered ? lb_estimate_json(&course.recovered) : json_null());
    return lb_object_end(&object);
}

static json_t *row_json(const struct lb_rank_row *row)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "host", row->host);
    lb_put_count(&object, "workers", row->n_workers);
    lb_put_count(&object, "successes", row->n_successes);
    lb_put_count(&object, "cpu_ns", row->cpu_ns);
    lb_put(&object, "clock_offset_ns", json_integer((json_int_t)row->offset_ns));
    lb_put_count(&object, "clock_uncertainty_ns", row->uncertainty_ns);
    lb_put_count(&object, "clock_exchanges", row->n_exchanges);
    lb_put_count(&object, "late_ns", row->late_ns);
    lb_put_flag(&object, "lost", row->is_lost);
    return lb_object_end(&object);
}

static json_t *near_json(const struct lb_ranks *ranks)
{
    struct lb_object object = lb_object_new();
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_near_miss *near = &ranks->near[g];
        if (near->n_violations == 0)
            continue;
        struct lb_object one = lb_object_new();
        lb_put_count(&one, "violations", near->n_violations);
        lb_put_count(&one, "settles_ns", near->settles_ns);
        lb_put(&object, lb_guarantee_name((enum lb_guarantee)g), lb_object_end(&one));
    }
    return lb_object_end(&object);
}

/* null where one rank did it all. */
static json_t *ranks_json(const struct lb_ranks *ranks)
{
    if (ranks->n == 0)
        return json_null();
    struct lb_object object = lb_object_new(), rows = lb_list_new();
    for (uint32_t r = 0; r < ranks->n; r++)
        lb_add(&rows, row_json(&ranks->rows[r]));
    lb_put(&object, "rows", lb_object_end(&rows));
    lb_put_count(&object, "uncertainty_ns", ranks->uncertainty_ns);
    lb_put(&object, "possible", near_json(ranks));
    return lb_object_end(&object);
}

json_t *lb_run_json(const struct lb_outcome *run, const char *history)
{
    struct lb_object object = lb_object_new();
    lb_put_text_or_null(&object, "history", history);
    lb_put_count(&object, "seed", run->seed);
    lb_put_text(&object, "state", state_name(run->state));
    lb_put_text_or_null(&object, "reason", run->reason);
    lb_put(&object, "start_unix_ms", json_integer(run->start_unix_ms));
    lb_put_count(&object, "duration_ns", run->config.duration_ns);
    lb_put_count(&object, "warmup_ns", run->config.warmup_ns);
    lb_put_count(&object, "elapsed_ns", run->elapsed_ns);
    lb_put(&object, "steady_state", steady_json(run));
    lb_put(&object, "course", course_json(run));
    if (run->config.n_stages > 0)
        lb_put(&object, "phases", phases_json(run));
    lb_put(&object, "open_loop", open_loop_json(run));
    lb_put_text(&object, "options", run->options);
    lb_put_real(&object, "successes_per_s", run->successes_per_s);
    lb_put_real(&object, "attempts_per_success", run->attempts_per_success);
    lb_put_count(&object, "items", run->n_items);
    lb_put(&object, "operations", operations_json(run));
    struct lb_object workers = lb_list_new(), warnings = lb_list_new();
    for (uint32_t i = 0; i < run->n_workers; i++)
        lb_add(&workers, lb_json_count(run->worker_successes[i]));
    lb_put(&object, "worker_successes", lb_object_end(&workers));
    lb_put(&object, "measures", lb_measures_json(&run->judgement.measures));
    lb_put(&object, "live_witness", live_json(run));
    lb_put_count(&object, "events", run->n_events);
    lb_put_count(&object, "events_settled", run->n_settled);
    lb_put_text_or_null(&object, "events_kept_because", run->kept);
    lb_put_count(&object, "statements", run->n_statements);
    lb_put_count(&object, "connects", run->n_connects);
    lb_put_count(&object, "connections_lost", run->n_lost);
    lb_put_count(&object, "faults", run->n_faults);
    lb_put_count(&object, "guard_lost_updates", run->n_guard_lost);
    lb_put(&object, "migration", migration_json(&run->migration));
    lb_put(&object, "proof", proof_json(&run->proof));
    lb_put_count(&object, "threads", run->n_threads);
    lb_put_count(&object, "cpu_user_ns", run->has_cpu ? run->cpu_user_ns : UINT64_MAX);
    lb_put_count(&object, "cpu_system_ns", run->has_cpu ? run->cpu_system_ns : UINT64_MAX);
    lb_put_count(&object, "switches_voluntary", run->n_switches_voluntary);
    lb_put_count(&object, "switches_involuntary", run->n_switches_involuntary);
    lb_put(&object, "server_settings", facts_json(run->facts, run->n_facts));
    lb_put(&object, "nodes", facts_json(run->nodes, run->n_nodes));
    lb_put(&object, "server_costs", facts_json(run->server, run->n_server));
    lb_put_count(&object, "successes_all", run->n_successes_all);
    for (size_t i = 0; i < run->n_warnings; i++)
        lb_add(&warnings, lb_json_text(run->warnings[i]));
    lb_put(&object, "warnings", lb_object_end(&warnings));
    lb_put(&object, "waits", waits_json(run));
    lb_put(&object, "plans", facts_json(run->plans, run->n_plans));
    lb_put(&object, "ranks", ranks_json(&run->ranks));
    return lb_object_end(&object);
}
