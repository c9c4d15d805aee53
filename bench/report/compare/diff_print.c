/* A comparison of two results, written: text, JSON, Markdown. See diff.h. */
#include "diff.h"
#include "ranking.h"
#include "table.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* "1 slower, 3 equivalent": what is there, worst first. */
static void summary(const struct lb_diff *diff, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    if (diff->n_violated > 0)
        used += (size_t)snprintf(buf, size, "%zu newly violated", diff->n_violated);
    for (int i = 0; i < LB_DIFF_OUTCOMES && used < size; i++)
        if (diff->n_outcomes[i] > 0)
            used += (size_t)snprintf(buf + used, size - used, "%s%zu %s", used > 0 ? ", " : "",
                                     diff->n_outcomes[i],
                                     lb_diff_outcome_name((enum lb_diff_outcome)i));
}

/* "1.62k/s [1.58k/s, 1.70k/s]" */
static void median_text(enum lb_metric metric, const struct lb_estimate *e, char *buf, size_t size)
{
    char value[32], low[32], high[32];
    snprintf(buf, size, "%s [%s, %s]", lb_metric_format(metric, e->value, value, sizeof value),
             lb_metric_format(metric, e->interval.low, low, sizeof low),
             lb_metric_format(metric, e->interval.high, high, sizeof high));
}

static void ratio_text(const struct lb_estimate *e, char *buf, size_t size)
{
    snprintf(buf, size, "%.3f [%.3f, %.3f]", e->value, e->interval.low, e->interval.high);
}

/* "9.6 %", "140 %", "none". */
static char *difference_text(double share, char *buf, size_t size)
{
    if (!isfinite(share))
        snprintf(buf, size, "none");
    else
        snprintf(buf, size, share < 0.995 ? "%.2g %%" : "%.0f %%", 100 * share);
    return buf;
}

/* What the rows could find, and what the threshold needs: from the best row to the worst. */
static char *power_text(const struct lb_diff *diff, char *buf, size_t size)
{
    double least = (double)INFINITY, most = 0;
    size_t fewest = SIZE_MAX, most_runs = 0, n = 0, used;
    bool is_beyond = false;
    char low[32], high[32];
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct lb_diff_row *row = &diff->rows[i];
        if (!row->is_compared || isnan(row->comparison.sd))
            continue;
        n++;
        least = fmin(least, row->shows);
        most = fmax(most, row->shows);
        is_beyond |= row->runs_for == 0;
        fewest = row->runs_for > 0 && row->runs_for < fewest ? row->runs_for : fewest;
        most_runs = row->runs_for > most_runs ? row->runs_for : most_runs;
    }
    buf[0] = '\0';
    if (n == 0)
        return buf;
    if (!isfinite(least))
        snprintf(buf, size, "So few runs show no difference, however large, in 80 of 100 cases");
    else
        snprintf(buf, size, "These runs show a difference of %s%s%s in 80 of 100 cases",
                 difference_text(least, low, sizeof low), most > least ? " to " : "",
                 most > least
                     ? isfinite(most) ? difference_text(most, high, sizeof high) : "none at all"
                     : "");
    used = strlen(buf);
    char needs[64];
    if (most_runs == 0)
        snprintf(needs, sizeof needs, "more than 1000");
    else if (is_beyond)
        snprintf(needs, sizeof needs, "%zu to more than 1000", fewest);
    else if (fewest < most_runs)
        snprintf(needs, sizeof needs, "%zu to %zu", fewest, most_runs);
    else
        snprintf(needs, sizeof needs, "%zu", fewest);
    snprintf(buf + used, size - used,
             "; for one of %.3g %% to be significant in as many, %s runs of each are needed.",
             100 * diff->options.threshold, needs);
    return buf;
}

static const char *verdict_text(const struct lb_diff_row *row)
{
    return lb_diff_violates(row) ? "VIOLATED" : lb_diff_outcome_name(row->outcome);
}

/* Has it figures, or a violation to show? What else it has to say stands below the table. */
static bool has_row(const struct lb_diff_row *row)
{
    return row->is_compared || lb_diff_violates(row);
}

struct texts {
    char base[80], new[80], ratio[60], p[24];
};

static void row_texts(const struct lb_diff_row *row, struct texts *t)
{
    *t = (struct texts){.p = ""};
    if (!row->is_compared)
        return;
    median_text(row->metric, &row->comparison.base, t->base, sizeof t->base);
    median_text(row->metric, &row->comparison.new, t->new, sizeof t->new);
    ratio_text(&row->comparison.ratio, t->ratio, sizeof t->ratio);
    char p[16];
    snprintf(t->p, sizeof t->p, "%s%s", lb_p_text(row->comparison.p_adjusted, p, sizeof p),
             row->comparison.is_paired ? " paired" : "");
}

/* ---- text ---- */

static enum lb_ink ink_of(const struct lb_diff_row *row)
{
    if (lb_diff_violates(row) || row->outcome == LB_DIFF_SLOWER)
        return LB_INK_BAD;
    if (row->outcome == LB_DIFF_INCONCLUSIVE)
        return LB_INK_WARN;
    return row->outcome == LB_DIFF_FASTER ? LB_INK_GOOD : LB_INK_PLAIN;
}

static void print_head(const struct lb_diff *diff, FILE *out, unsigned width)
{
    char text[1600];
    snprintf(text, sizeof text, "base: %s, %s, lockbench %s\nnew: %s, %s, lockbench %s\n",
             diff->base->path, diff->base->started, diff->base->version, diff->new->path,
             diff->new->started, diff->new->version);
    lb_print_wrapped(out, text, 0, width);
    for (size_t i = 0; i < diff->n_notes; i++) {
        const struct lb_difference *note = &diff->notes[i];
        snprintf(text, sizeof text, "not alike, as allowed: %s is %s in the base and %s in the new",
                 note->key, note->base, note->new);
        lb_print_wrapped(out, text, 0, width);
    }
}

static void print_reasons(const struct lb_diff *diff, FILE *out, unsigned width)
{
    char text[600];
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct lb_diff_row *row = &diff->rows[i];
        if (row->reason[0] == '\0' && !lb_diff_violates(row))
            continue;
        snprintf(text, sizeof text, "%s on %s, %s, %s: %s", row->base->strategy, row->base->engine,
                 row->base->scenario, lb_metric_name(row->metric),
                 lb_diff_violates(row) ? "violates a guarantee that the base kept" : row->reason);
        lb_print_wrapped(out, text, 0, width);
    }
}

/* The gate's level, and what so few runs cover. */
static char *intervals_text(const struct lb_diff *diff, char *buf, size_t size)
{
    struct lb_coverage coverage = {1};
    for (size_t i = 0; i < diff->n_rows; i++)
        if (diff->rows[i].is_compared)
            lb_coverage_take(&coverage, &diff->rows[i].comparison);
    return lb_coverage_text(&coverage, LB_DIFF_LEVEL, buf, size);
}

int lb_diff_text(const struct lb_diff *diff, FILE *out, bool color, bool terminal, unsigned width,
                 struct lb_error *err)
{
    static const struct lb_column columns[] = {
        {"strategy", false}, {"engine", false}, {"scenario", false},
        {"metric", false},   {"base", true},    {"new", true},
        {"ratio", true},     {"p", true},       {"verdict", false}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    if (table == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    size_t n_shown = 0;
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct lb_diff_row *row = &diff->rows[i];
        struct texts t;
        if (!has_row(row))
            continue;
        row_texts(row, &t);
        n_shown++;
        const char *const cells[COLUMNS] = {row->base->strategy,
                                            row->base->engine,
                                            row->base->scenario,
                                            lb_metric_name(row->metric),
                                            t.base,
                                            t.new,
                                            t.ratio,
                                            t.p,
                                            verdict_text(row)};
        for (int c = 0; c < COLUMNS; c++)
            lb_table_add(table, cells[c], c == COLUMNS - 1 ? ink_of(row) : LB_INK_PLAIN);
    }
    char text[500], intervals[100];
    print_head(diff, out, width);
    fputc('\n', out);
    static const char *const least[] = {"p", "engine", "metric", "scenario", "base", "new", NULL};
    char hidden[100] = "";
    if (terminal)
        lb_table_fit(table, width, least, hidden, sizeof hidden);
    int rc = n_shown > 0 ? lb_table_print(table, out, color) : 0;
    lb_table_free(table);
    if (rc != 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    lb_print_hidden(out, hidden, width);
    if (n_shown > 0)
        fputc('\n', out);
    print_reasons(diff, out, width);
    summary(diff, text, sizeof text);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             " (threshold %.3g %%; medians, and ratios by Hodges and Lehmann, with %s; two-sided p "
             "after Holm)",
             100 * diff->options.threshold, intervals_text(diff, intervals, sizeof intervals));
    lb_print_wrapped(out, text, 0, width);
    if (power_text(diff, text, sizeof text)[0] != '\0')
        lb_print_wrapped(out, text, 0, width);
    return 0;
}

/* ---- JSON ---- */

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *estimate_json(const struct lb_estimate *e)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "value", real(e->value), "low", real(e->interval.low),
                     "high", real(e->interval.high), "coverage", real(e->interval.coverage));
}

static json_t *row_json(const struct lb_diff_row *row)
{
    static const char *const units[LB_METRICS] = {"per_s", "ns", "ns", "ns", "ns"};
    const struct lb_comparison *c = &row->comparison;
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:s*, s:i, s:i}", "strategy", row->base->strategy,
        "engine", row->base->engine, "scenario", row->base->scenario, "metric",
        lb_metric_name(row->metric), "unit", units[row->metric], "outcome",
        lb_diff_outcome_name(row->outcome), "newly_violated", lb_diff_violates(row), "base_verdict",
        row->base->verdict, "new_verdict", row->new != NULL ? row->new->verdict : NULL, "base_runs",
        (int)row->base->n_runs, "new_runs", row->new != NULL ? (int)row->new->n_runs : 0);
    if (json != NULL && row->reason[0] != '\0')
        json_object_set_new(json, "reason", json_string(row->reason));
    if (json == NULL || !row->is_compared)
        return json;
    json_t *more =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "base", estimate_json(&c->base),
                  "new", estimate_json(&c->new), "ratio", estimate_json(&c->ratio), "p", real(c->p),
                  "p_adjusted", real(c->p_adjusted), "paired", c->is_paired, "shows",
                  real(row->shows), "runs_for_threshold",
                  row->runs_for > 0 ? json_integer((json_int_t)row->runs_for) : json_null());
    if (more == NULL || json_object_update(json, more) != 0) {
        json_decref(json);
        json = NULL;
    }
    json_decref(more);
    return json;
}

json_t *lb_diff_object(const struct lb_diff *diff)
{
    json_t *rows = json_array(), *notes = json_array();
    int failed = rows == NULL || notes == NULL;
    for (size_t i = 0; i < diff->n_rows; i++)
        failed |= json_array_append_new(rows, row_json(&diff->rows[i]));
    for (size_t i = 0; i < diff->n_notes; i++)
        failed |= json_array_append_new(
            notes, json_pack("{s:s, s:s, s:s}", "key", diff->notes[i].key, "base",
                             diff->notes[i].base, "new", diff->notes[i].new));
    json_t *json = json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:o, s:o}", "schema", "lockbench-diff",
                             "schema_version", 1, "lockbench", LB_VERSION, "base", diff->base->path,
                             "new", diff->new->path, "threshold", diff->options.threshold,
                             "not_alike", notes, "rows", rows);
    if (failed) {
        json_decref(json);
        json = NULL;
    }
    return json;
}

int lb_diff_json(const struct lb_diff *diff, FILE *out, struct lb_error *err)
{
    json_t *json = lb_diff_object(diff);
    if (json == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    int rc = json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 &&
                     fputc('\n', out) != EOF
                 ? 0
                 : lb_fail(err, LB_E_ENV, "cannot write the comparison as JSON");
    json_decref(json);
    return rc;
}

/* ---- Markdown ---- */

int lb_diff_markdown(const struct lb_diff *diff, FILE *out, struct lb_error *err)
{
    char text[300];
    summary(diff, text, sizeof text);
    fprintf(out, "**lockbench: %s** (threshold %.3g %%)\n\n", text, 100 * diff->options.threshold);
    fputs("| strategy | engine | scenario | metric | base | new | ratio | p | verdict |\n"
          "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
          out);
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct lb_diff_row *row = &diff->rows[i];
        struct texts t;
        char verdict[300];
        if (!has_row(row))
            continue;
        row_texts(row, &t);
        snprintf(verdict, sizeof verdict, "%s%s%s", verdict_text(row),
                 row->reason[0] != '\0' ? ": " : "", row->reason);
        const char *const cells[] = {row->base->strategy,
                                     row->base->engine,
                                     row->base->scenario,
                                     lb_metric_name(row->metric),
                                     t.base,
                                     t.new,
                                     t.ratio,
                                     t.p,
                                     verdict};
        for (size_t c = 0; c < sizeof cells / sizeof cells[0]; c++)
            lb_markdown_cell(out, cells[c]);
        fputs("|\n", out);
    }
    char intervals[100];
    fprintf(
        out,
        "\nMedians, and ratios (new/base) by Hodges and Lehmann, with %s; two-sided p after Holm "
        "over the table. %s\n",
        intervals_text(diff, intervals, sizeof intervals), power_text(diff, text, sizeof text));
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct lb_diff_row *row = &diff->rows[i];
        if (has_row(row))
            continue;
        snprintf(text, sizeof text, "%s on %s, %s, %s: %s", row->base->strategy, row->base->engine,
                 row->base->scenario, lb_metric_name(row->metric), row->reason);
        fputs("\n- ", out);
        lb_markdown_text(out, text);
        fputc('\n', out);
    }
    for (size_t i = 0; i < diff->n_notes; i++)
        fprintf(out, "\nNot alike, as allowed: `%s` is `%s` in the base, `%s` in the new result.\n",
                diff->notes[i].key, diff->notes[i].base, diff->notes[i].new);
    return ferror(out) ? lb_fail(err, LB_E_ENV, "cannot write the comparison") : 0;
}
