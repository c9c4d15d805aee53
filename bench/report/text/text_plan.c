/* Plans for people: the points and the curve, the search, and the answers in words. */
#include "chart.h"
#include "memory.h"
#include "plan_limits.h"
#include "table.h"
#include "text.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* --- the sweep --- */

/* Median of the valid runs at one number of workers, and how many there are. */
static size_t median_at(const struct lb_plan *plan, uint64_t workers, struct lb_estimate *ret)
{
    double *values = lb_calloc(plan->n_points + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < plan->n_points; i++)
        if (plan->points[i].valid && plan->points[i].workers == workers)
            values[n++] = plan->points[i].run->successes_per_s;
    if (n > 0) {
        lb_stats_sort(values, n);
        *ret =
            (struct lb_estimate){lb_stats_quantile(values, n, 0.5), {values[0], values[n - 1], 0}};
    }
    free(values);
    return n;
}

static void print_points(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    static const struct lb_column columns[] = {
        {"workers", true}, {"runs", true},  {"success/s", true}, {"least", true},
        {"most", true},    {"curve", true}, {"95 %", false}};
    struct lb_table *table = lb_table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t l = 0; l < plan->question->n_levels; l++) {
        uint64_t workers = plan->question->levels[l];
        struct lb_estimate median, curve;
        struct lb_error err;
        char text[80], low[32], high[32];
        size_t n = median_at(plan, workers, &median);
        lb_table_addf(table, "%llu", (unsigned long long)workers);
        snprintf(text, sizeof text, "%zu", n);
        lb_table_add(table, text, n > 0 ? LB_INK_PLAIN : LB_INK_WARN);
        for (int i = 0; i < 3; i++)
            if (n == 0)
                lb_table_add(table, "n/a", LB_INK_WARN);
            else
                lb_table_add_number(table, i == 0   ? median.value
                                           : i == 1 ? median.interval.low
                                                    : median.interval.high);
        if (!plan->has_fit || lb_usl_predict(&plan->fit, (double)workers, &curve, &err) != 0) {
            lb_table_add(table, "", LB_INK_PLAIN);
            lb_table_add(table, "", LB_INK_PLAIN);
            continue;
        }
        lb_table_add_number(table, curve.value);
        snprintf(text, sizeof text, "%s to %s",
                 lb_format_count(curve.interval.low, low, sizeof low),
                 lb_format_count(curve.interval.high, high, sizeof high));
        lb_table_add(table, text, LB_INK_DIM);
    }
    lb_table_show(table, 0, NULL, state->out, state->color);
}

/* The medians over the curve. */
static void print_chart(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    struct lb_chart_place points[LB_PLAN_LEVELS], curve[LB_PLAN_BAND];
    size_t n = 0;
    if (!state->charts)
        return;
    for (size_t l = 0; l < plan->question->n_levels; l++) {
        struct lb_estimate median;
        if (median_at(plan, plan->question->levels[l], &median) > 0)
            points[n++] =
                (struct lb_chart_place){.x = (double)plan->question->levels[l], .y = median.value};
    }
    for (size_t i = 0; i < plan->n_band; i++) {
        const struct lb_estimate *rate = &plan->band[i].rate;
        curve[i] = (struct lb_chart_place){plan->band[i].workers, rate->value, rate->interval.low,
                                           rate->interval.high};
    }
    fputc('\n', state->out);
    lb_chart_curve(state, "workers", "/s", points, n, curve, plan->n_band);
}

static void print_fit(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    const struct lb_usl_fit *fit = &plan->fit;
    char lambda[32];
    if (!plan->has_fit)
        return;
    lb_text_say(state, 2,
                "curve: N workers carry lambda N / (1 + sigma (N-1) + kappa N (N-1)), lambda %s/s, "
                "sigma %.4g (95 %%: %.3g to %.3g), kappa %.4g (%.3g to %.3g); R2 %.3f, largest "
                "deviation %.0f %%.",
                lb_format_count(fit->best.lambda, lambda, sizeof lambda), fit->best.sigma,
                fit->sigma.low, fit->sigma.high, fit->best.kappa, fit->kappa.low, fit->kappa.high,
                fit->r_squared, fit->worst_residual * 100);
}

/* --- the search --- */

static void print_trials(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    static const struct lb_column columns[] = {{"trial", false}, {"workers", true}, {"rate", true},
                                               {"", true},       {"served", true},  {"", false},
                                               {"", false}};
    struct lb_column own[sizeof columns / sizeof columns[0]];
    char name[16];
    if (plan->n_trials == 0)
        return;
    memcpy(own, columns, sizeof own);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(plan->question->slo.text, "<"),
             plan->question->slo.text);
    own[3].title = name;
    own[5].title = plan->question->slo.text;
    struct lb_table *table = lb_table_new(own, sizeof own / sizeof own[0]);
    fputc('\n', state->out);
    for (size_t i = 0; i < plan->n_trials; i++) {
        const struct lb_trial *trial = &plan->trials[i];
        lb_table_add(table, lb_trial_phase_name(trial->phase), LB_INK_PLAIN);
        lb_table_addf(table, "%llu", (unsigned long long)trial->run->config.workers);
        lb_table_addf(table, "%.4g/s", trial->rate_per_s);
        lb_table_add_time(table, trial->latency_ns);
        lb_table_addf(table, "%.1f %%", trial->achieved * 100);
        lb_table_add(table,
                     !trial->valid ? "invalid"
                     : trial->ok   ? "held"
                                   : "missed",
                     !trial->valid ? LB_INK_WARN
                     : trial->ok   ? LB_INK_GOOD
                                   : LB_INK_BAD);
        /* In short: a row is a line. The answer has the whole of the one that counts. */
        char reason[sizeof trial->reason];
        snprintf(reason, sizeof reason, "%.*s", (int)strcspn(trial->reason, ":"), trial->reason);
        lb_table_add(table, reason, LB_INK_DIM);
    }
    if (!plan->need.is_asked) /* all have the same number */
        lb_table_hide(table, "workers");
    lb_table_show(table, 0, NULL, state->out, state->color);
}

/* --- the answers --- */

static void print_heading(const struct lb_sink_state *state, const char *title, enum lb_ink ink)
{
    lb_print_ink(state->out, title, ink, state->color);
    fputc('\n', state->out);
}

static void print_answers(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    static const enum lb_ink inks[] = {[LB_PLAN_ANSWERED] = LB_INK_GOOD,
                                       [LB_PLAN_MISSED] = LB_INK_BAD,
                                       [LB_PLAN_REFUSED] = LB_INK_WARN};
    struct lb_plan_limit limits[LB_PLAN_LIMITS];
    fputc('\n', state->out);
    for (size_t i = 0; i < plan->n_answers; i++) {
        const struct lb_plan_answer *answer = &plan->answers[i];
        print_heading(state, answer->question, inks[answer->verdict]);
        lb_text_say(state, 2, "%s%s", answer->text, answer->doubtful ? " Doubtful." : "");
    }
    size_t n = lb_plan_limits(state->report, plan, limits);
    if (n > 0)
        print_heading(state, "limits", LB_INK_DIM);
    for (size_t i = 0; i < n; i++)
        lb_text_say(state, 2, "%.0f %% %s.", limits[i].share * 100, limits[i].text);
    if (plan->misfit[0] != '\0') {
        print_heading(state, "law", LB_INK_DIM);
        lb_text_say(state, 2, "%s.", plan->misfit);
    }
    if (plan->doubts[0] != '\0') {
        print_heading(state, "doubtful", LB_INK_WARN);
        lb_text_say(state, 2, "%s.", plan->doubts);
    }
}

static void print_title(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    fputc('\n', state->out);
    lb_text_say(state, 0, "%s on %s, %s%s%s", plan->strategy, plan->engine, plan->scenario.name,
                plan->scenario.question[0] != '\0' ? ": " : "", plan->scenario.question);
    lb_text_config(state, &plan->scenario, NULL);
}

/* What the answers are from. */
static void print_measured(const struct lb_sink_state *state, const struct lb_plan *plan)
{
    if (lb_plan_sweeps(plan->question)) {
        fputc('\n', state->out);
        print_points(state, plan);
        print_chart(state, plan);
        print_fit(state, plan);
    }
    print_trials(state, plan);
}

/* --- which of several --- */

static void print_choice(const struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    struct lb_plan_choice rows[LB_PLAN_CHOICES];
    size_t n_rows = lb_plan_choices(report, rows);
    if (report->n_plans < 2)
        return;
    fputc('\n', state->out);
    print_heading(state, "which to take", LB_INK_GOOD);
    for (size_t i = 0; i < n_rows; i++) {
        char rate[32];
        lb_text_say(state, 2, "Up to %s/s: %s on %s%s, with up to %.0f worker%s.%s",
                    lb_format_count(rows[i].up_to_per_s, rate, sizeof rate), rows[i].plan->strategy,
                    rows[i].plan->engine,
                    rows[i].plan->scenario.aged[0] != '\0' ? " with aged tables" : "",
                    rows[i].workers, rows[i].workers > 1.5 ? "s" : "",
                    rows[i].clear ? "" : " By its interval another one may carry as much.");
    }
    if (n_rows == 0)
        lb_print_wrapped(state->out, "No plan has an answer to choose by.", 2, state->width);
    else if (lb_plan_sweeps(report->plans[0].question))
        lb_print_wrapped(state->out, "Beyond: none.", 2, state->width);
}

/* The answers first; under them what was measured, and with -v all warnings. */
static void plan_end(struct lb_sink_state *state)
{
    const struct lb_report *report = state->report;
    if (state->verbose)
        lb_text_head(state);
    for (size_t i = 0; i < report->n_plans; i++) {
        print_title(state, &report->plans[i]);
        print_answers(state, &report->plans[i]);
        print_measured(state, &report->plans[i]);
    }
    print_choice(state);
    if (state->verbose) {
        lb_text_details(state);
        return;
    }
    lb_text_problems(state);
    fputc('\n', state->out);
    lb_text_head(state);
    lb_print_wrapped(state->out, "-v prints all warnings.", 0, state->width);
}

const struct lb_sink lb_sink_plan = {.name = "text",
                                     .summary = "tables for people",
                                     .of = LB_OF_PLANS,
                                     .file = "report.txt",
                                     .end = plan_end};
