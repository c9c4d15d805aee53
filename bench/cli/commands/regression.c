/* The regression gate: see regression.h. */
#include "regression.h"

#include "append.h"
#include "nearest.h"
#include "ranking.h"
#include "servers.h"
#include "units.h"
#include "views.h"

#include <string.h>

/* "5%" or "0.05". A bare 5 may be meant as either, and as 500 % nothing would be slower. */
static int parse_threshold(const char *text, double *ret, struct lb_error *err)
{
    char number[32];
    size_t n = strlen(text);
    bool percent = n > 0 && text[n - 1] == '%';
    double value = -1;
    if (n < sizeof number) {
        memcpy(number, text, n + 1);
        if (percent)
            number[n - 1] = '\0';
        if (lb_parse_double(number, &value) == 0 && percent)
            value /= 100;
    }
    if (!(value >= 0 && value < (percent ? 10 : 1)))
        return lb_fail(
            err, LB_E_USAGE,
            "option --threshold: '%s' is not a share such as 5%% or 0.05 (below 1, or below "
            "1000%%)",
            text);
    *ret = value;
    return 0;
}

/* --metric p99,rate */
static int parse_metrics(const char *text, struct lb_diff_options *options, struct lb_error *err)
{
    while (*text != '\0') {
        char name[16];
        size_t n = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        int metric = lb_metric_parse(name);
        if (metric < 0)
            return lb_fail(err, LB_E_USAGE,
                           "option --metric: unknown metric '%.*s' (rate, p50, p95, p99, cpu)",
                           (int)n, text);
        options->metrics[metric] = true;
        text += n + (text[n] == ',');
    }
    return 0;
}

int lb_gate_options(const struct lb_args *args, struct lb_diff_options *ret, struct lb_error *err)
{
    int rc = 0;
    *ret = (struct lb_diff_options){.threshold = 0.05,
                                    .allowed = (const char *const *)args->allowed.words,
                                    .n_allowed = args->allowed.n};
    if (args->threshold != NULL)
        rc = parse_threshold(args->threshold, &ret->threshold, err);
    for (size_t i = 0; i < args->metrics.n && rc == 0; i++)
        rc = parse_metrics(args->metrics.words[i], ret, err);
    if (args->metrics.n == 0)
        ret->metrics[LB_METRIC_RATE] = true;
    return rc;
}

enum lb_exit lb_gate_status(const struct lb_diff *diff)
{
    return diff->n_violated > 0                         ? LB_EXIT_VIOLATED
           : diff->n_outcomes[LB_DIFF_SLOWER] > 0       ? LB_EXIT_REGRESSION
           : diff->n_outcomes[LB_DIFF_INCONCLUSIVE] > 0 ? LB_EXIT_INCONCLUSIVE
                                                        : LB_EXIT_OK;
}

/* ---- compare --baseline ---- */

/* "; did you mean main?", or all that there are. */
static const char *name_saved(const char *directory, const char *wanted, char *buf, size_t size)
{
    struct lb_nearest nearest;
    char **names;
    long n = lb_result_names(directory, &names);
    lb_nearest_init(&nearest, wanted);
    for (long i = 0; i < n; i++)
        lb_nearest_offer(&nearest, names[i]);
    lb_nearest_text(&nearest, buf, size);
    if (n <= 0)
        snprintf(buf, size, "; %s has no result yet: --save NAME makes one", directory);
    for (long i = 0; i < n; i++)
        lb_append(buf, size, "%s%s", i == 0 ? "; there are " : ", ", names[i]);
    lb_result_names_free(names, n);
    return buf;
}

int lb_baseline_load(struct lb_baseline *baseline, const struct lb_args *args, struct lb_error *err)
{
    char path[600];
    if (args->baseline == NULL) {
        const char *flag = args->threshold != NULL ? "threshold"
                           : args->metrics.n > 0   ? "metric"
                           : args->allowed.n > 0   ? "allow"
                                                   : NULL;
        if (lb_gate_is_against_reference(args) && args->metrics.n + args->allowed.n == 0)
            return lb_gate_options(args, &baseline->options, err);
        return flag == NULL ? 0
                            : lb_fail(err, LB_E_USAGE,
                                      "option --%s: needs --baseline NAME to compare with%s", flag,
                                      args->threshold != NULL ? ", or --reference NAME" : "");
    }
    int rc = lb_gate_options(args, &baseline->options, err);
    if (rc != 0)
        return rc;
    bool is_path = strchr(args->baseline, '/') != NULL;
    const char *directory = args->output != NULL ? args->output : LB_RESULTS;
    snprintf(path, sizeof path, "%s%s%s", is_path ? "" : directory, is_path ? "" : "/",
             args->baseline);
    rc = lb_stored_load(path, &baseline->base, err);
    if (rc != 0) {
        char text[600];
        struct lb_error why = *err;
        bool is_missing = !is_path && !lb_result_exists(path);
        return lb_fail(err, rc, "option --baseline: %s%s", why.message,
                       is_missing ? name_saved(directory, args->baseline, text, sizeof text) : "");
    }
    baseline->is_given = true;
    return 0;
}

static int compare(struct lb_baseline *baseline, const struct lb_report *report,
                   struct lb_error *err)
{
    lb_diff_release(&baseline->diff);
    lb_stored_release(&baseline->new);
    int rc = lb_stored_of_json(lb_json_report(report), &baseline->new, err);
    return rc == 0 ? lb_diff_make(&baseline->base, &baseline->new, &baseline->options,
                                  &baseline->diff, err)
                   : rc;
}

int lb_baseline_check(struct lb_baseline *baseline, const struct lb_report *report,
                      struct lb_error *err)
{
    if (!baseline->is_given)
        return 0;
    int rc = compare(baseline, report, err);
    for (size_t i = 0; i < baseline->diff.n_rows && rc == 0; i++)
        if (baseline->diff.rows[i].new != NULL)
            return 0;
    if (rc == 0)
        rc = lb_fail(err, LB_E_USAGE, "%s has none of the planned cells: %s on %s, %s, for one",
                     baseline->base.path, report->cells[0].name, report->cells[0].engine,
                     report->cells[0].scenario.name);
    return lb_fail_prefix(err, "option --baseline");
}

int lb_baseline_compare(struct lb_baseline *baseline, struct lb_report *report,
                        struct lb_error *err)
{
    if (!baseline->is_given)
        return 0;
    int rc = compare(baseline, report, err);
    if (rc == 0)
        report->diff = &baseline->diff;
    return rc;
}

bool lb_baseline_violates(const struct lb_baseline *baseline, const struct lb_cell *cell)
{
    for (size_t i = 0; baseline->is_given && i < baseline->base.n_cells; i++) {
        const struct lb_stored_cell *base = &baseline->base.cells[i];
        if (strcmp(base->strategy, cell->name) == 0 && strcmp(base->engine, cell->engine) == 0 &&
            strcmp(base->scenario, cell->scenario.name) == 0)
            return strcmp(base->verdict, "violated") == 0;
    }
    return false;
}

void lb_baseline_release(struct lb_baseline *baseline)
{
    lb_diff_release(&baseline->diff);
    lb_stored_release(&baseline->base);
    lb_stored_release(&baseline->new);
}

/* ---- compare --reference --threshold ---- */

bool lb_gate_is_against_reference(const struct lb_args *args)
{
    return args->reference != NULL && args->threshold != NULL && args->baseline == NULL;
}

/* As diff does: slower means shown to be slower by more than the threshold; not slower means shown
 * not to be slower by twice as much. */
static enum lb_exit settle(const struct lb_rank_table *table, const struct lb_rank *rank,
                           double threshold)
{
    char ratio[80];
    const char *name = lb_rank_name(rank), *scenario = rank->cell->scenario.name;
    const char *reference = lb_rank_name(&table->ranks[table->reference]);
    if (rank->verdict == LB_STATS_SLOWER && rank->ratio.value < 1 - threshold) {
        fprintf(stderr, "lockbench: %s is slower than %s on %s, %s: %s of its rate\n", name,
                reference, rank->cell->engine, scenario, lb_rank_ratio(rank, ratio, sizeof ratio));
        return LB_EXIT_REGRESSION;
    }
    if (rank->ratio.interval.low >= 1 / (1 + 2 * threshold))
        return LB_EXIT_OK;
    fprintf(
        stderr,
        "lockbench: it is open whether %s is slower than %s on %s, %s: %s of its rate; a slowdown "
        "of %.3g %% is not excluded: run more rounds\n",
        name, reference, rank->cell->engine, scenario, lb_rank_ratio(rank, ratio, sizeof ratio),
        200 * threshold);
    return LB_EXIT_INCONCLUSIVE;
}

/* The cell of the reference for this one; NULL: none, or it is the reference. */
static const struct lb_cell *reference_of(const struct lb_report *report,
                                          const struct lb_cell *cell)
{
    if (strcmp(cell->name, report->reference) == 0)
        return NULL;
    for (size_t i = 0; i < report->n_cells; i++)
        if (strcmp(report->cells[i].name, report->reference) == 0 &&
            lb_ranking_same_table(&report->cells[i], cell))
            return &report->cells[i];
    return NULL;
}

/* A cell that cannot be compared must not pass a gate. */
static enum lb_exit cannot_tell(const struct lb_report *report, const struct lb_cell *cell)
{
    fprintf(stderr, "lockbench: %s cannot be compared with %s on %s, %s: %s\n", cell->name,
            report->reference, cell->engine, cell->scenario.name,
            lb_ranking_is_without(cell) ? "it had no success"
                                        : "too few runs of the two were complete");
    return LB_EXIT_INCONCLUSIVE;
}

enum lb_exit lb_gate_reference(const struct lb_report *report, double threshold)
{
    struct lb_ranking ranking;
    size_t n = 0;
    lb_ranking_make(report, LB_RANK_RATE, &ranking);
    enum lb_exit status = LB_EXIT_OK;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_rank_table *table = NULL;
        const struct lb_cell *cell = &report->cells[i], *reference = reference_of(report, cell);
        if (reference == NULL || cell->state != LB_CELL_DONE || cell->shows_break)
            continue;
        const struct lb_rank *rank = lb_ranking_find(&ranking, cell, &table);
        bool is_ranked = rank != NULL && lb_ranking_find(&ranking, reference, &table) != NULL;
        status = lb_exit_worse(status, is_ranked ? settle(table, rank, threshold)
                                                 : cannot_tell(report, cell));
        n++;
    }
    lb_ranking_release(&ranking);
    if (n == 0) {
        fprintf(stderr, "lockbench: nothing was run beside %s that could be compared with it\n",
                report->reference);
        status = LB_EXIT_INCONCLUSIVE;
    }
    return status;
}

enum lb_exit lb_gate_servers(const struct lb_report *report)
{
    enum lb_exit status = LB_EXIT_OK;
    struct lb_ranking rankings[LB_RANK_MEASURES];
    lb_rankings_make(report, rankings);
    switch (lb_servers_result(rankings)) {
    case LB_SERVERS_SLOWER:
        status = LB_EXIT_REGRESSION;
        break;
    case LB_SERVERS_UNDECIDED:
        status = LB_EXIT_INCONCLUSIVE;
        break;
    case LB_SERVERS_ALIKE:
    default:
        break;
    }
    /* A server on which nothing could be measured must not pass. */
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        const struct lb_rank_table *table;
        if (cell->compares_servers && cell->state == LB_CELL_DONE && !cell->shows_break &&
            lb_ranking_find(&rankings[LB_RANK_RATE], cell, &table) == NULL)
            status = lb_exit_worse(status, LB_EXIT_INCONCLUSIVE);
    }
    lb_rankings_release(rankings);
    return status;
}
