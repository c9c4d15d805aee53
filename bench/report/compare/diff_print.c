/* A comparison of two results, written: text, JSON, Markdown. See diff.h. */
#include "append.h"
#include "diff.h"
#include "json_object.h"
#include "ranking.h"
#include "table.h"

#include <math.h>

/* "1 slower, 3 equivalent": the verdicts with counts, worst first. */
static void summary(const struct lb_diff *diff, char *buf, size_t size)
{
    buf[0] = '\0';
    if (diff->n_violated > 0)
        snprintf(buf, size, "%zu newly violated", diff->n_violated);
    for (int i = 0; i < LB_DIFF_OUTCOMES; i++)
        if (diff->n_outcomes[i] > 0)
            lb_append(buf, size, "%s%zu %s", buf[0] != '\0' ? ", " : "", diff->n_outcomes[i],
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
    size_t fewest = SIZE_MAX, most_runs = 0, n = 0;
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
    char needs[64];
    if (most_runs == 0)
        snprintf(needs, sizeof needs, "more than 1000");
    else if (is_beyond)
        snprintf(needs, sizeof needs, "%zu to more than 1000", fewest);
    else if (fewest < most_runs)
        snprintf(needs, sizeof needs, "%zu to %zu", fewest, most_runs);
    else
        snprintf(needs, sizeof needs, "%zu", fewest);
    lb_append(buf, size,
              "; for one of %.3g %% to be significant in as many, %s runs of each are needed.",
              100 * diff->options.threshold, needs);
    return buf;
}

static const char *verdict_text(const struct lb_diff_row *row)
{
    return lb_diff_violates(row) ? "VIOLATED" : lb_diff_outcome_name(row->outcome);
}

/* True if it has figures, or a violation to show. Other text goes below the table. */
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

/* The rows that have figures, for every format. with_reason: behind the verdict. */
static struct lb_table *diff_table(const struct lb_diff *diff, bool with_reason)
{
    static const struct lb_column columns[] = {
        {"strategy", false}, {"engine", false}, {"scenario", false},
        {"metric", false},   {"base", true},    {"new", true},
        {"ratio", true},     {"p", true},       {"verdict", false}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    for (size_t i = 0; i < diff->n_rows; i++) {
        const struct lb_diff_row *row = &diff->rows[i];
        struct texts t;
        char verdict[300];
        if (!has_row(row))
            continue;
        row_texts(row, &t);
        bool says_why = with_reason && row->reason[0] != '\0';
        snprintf(verdict, sizeof verdict, "%s%s%s", verdict_text(row), says_why ? ": " : "",
                 says_why ? row->reason : "");
        const char *const cells[COLUMNS] = {row->base->strategy,
                                            row->base->engine,
                                            row->base->scenario,
                                            lb_metric_name(row->metric),
                                            t.base,
                                            t.new,
                                            t.ratio,
                                            t.p,
                                            verdict};
        for (int c = 0; c < COLUMNS; c++)
            lb_table_add(table, cells[c], c == COLUMNS - 1 ? ink_of(row) : LB_INK_PLAIN);
    }
    return table;
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

/* The gate's level, and the coverage with few runs. */
static char *intervals_text(const struct lb_diff *diff, char *buf, size_t size)
{
    struct lb_coverage coverage = {1};
    for (size_t i = 0; i < diff->n_rows; i++)
        if (diff->rows[i].is_compared)
            lb_coverage_take(&coverage, &diff->rows[i].comparison);
    return lb_coverage_text(&coverage, LB_DIFF_LEVEL, buf, size);
}

void lb_diff_text(const struct lb_diff *diff, FILE *out, bool color, bool terminal, unsigned width)
{
    struct lb_table *table = diff_table(diff, false);
    char text[500], intervals[100];
    print_head(diff, out, width);
    fputc('\n', out);
    static const char *const least[] = {"p", "engine", "metric", "scenario", "base", "new", NULL};
    if (!lb_table_is_empty(table)) {
        lb_table_show(table, width, terminal ? least : NULL, out, color);
        fputc('\n', out);
    } else {
        lb_table_free(table);
    }
    print_reasons(diff, out, width);
    summary(diff, text, sizeof text);
    lb_append(text, sizeof text,
              " (threshold %.3g %%; medians, and ratios by Hodges and Lehmann, with %s; two-sided "
              "p after Holm)",
              100 * diff->options.threshold, intervals_text(diff, intervals, sizeof intervals));
    lb_print_wrapped(out, text, 0, width);
    if (power_text(diff, text, sizeof text)[0] != '\0')
        lb_print_wrapped(out, text, 0, width);
}

/* ---- JSON ---- */

static void put_comparison(struct lb_object *object, const struct lb_diff_row *row)
{
    const struct lb_comparison *c = &row->comparison;
    lb_put(object, "base", lb_estimate_json(&c->base));
    lb_put(object, "new", lb_estimate_json(&c->new));
    lb_put(object, "ratio", lb_estimate_json(&c->ratio));
    lb_put_real(object, "p", c->p);
    lb_put_real(object, "p_adjusted", c->p_adjusted);
    lb_put_flag(object, "paired", c->is_paired);
    lb_put_real(object, "shows", row->shows);
    lb_put_count(object, "runs_for_threshold", row->runs_for > 0 ? row->runs_for : UINT64_MAX);
}

static json_t *row_json(const struct lb_diff_row *row)
{
    static const char *const units[LB_METRICS] = {"per_s", "ns", "ns", "ns", "ns"};
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "strategy", row->base->strategy);
    lb_put_text(&object, "engine", row->base->engine);
    lb_put_text(&object, "scenario", row->base->scenario);
    lb_put_text(&object, "metric", lb_metric_name(row->metric));
    lb_put_text(&object, "unit", units[row->metric]);
    lb_put_text(&object, "outcome", lb_diff_outcome_name(row->outcome));
    lb_put_flag(&object, "newly_violated", lb_diff_violates(row));
    lb_put_text(&object, "base_verdict", row->base->verdict);
    if (row->new != NULL)
        lb_put_text(&object, "new_verdict", row->new->verdict);
    lb_put_count(&object, "base_runs", row->base->n_runs);
    lb_put_count(&object, "new_runs", row->new != NULL ? row->new->n_runs : 0);
    if (row->reason[0] != '\0')
        lb_put_text(&object, "reason", row->reason);
    if (row->is_compared)
        put_comparison(&object, row);
    return lb_object_end(&object);
}

json_t *lb_diff_object(const struct lb_diff *diff)
{
    struct lb_object object = lb_object_new(), rows = lb_list_new(), notes = lb_list_new();
    for (size_t i = 0; i < diff->n_rows; i++)
        lb_add(&rows, row_json(&diff->rows[i]));
    for (size_t i = 0; i < diff->n_notes; i++) {
        struct lb_object note = lb_object_new();
        lb_put_text(&note, "key", diff->notes[i].key);
        lb_put_text(&note, "base", diff->notes[i].base);
        lb_put_text(&note, "new", diff->notes[i].new);
        lb_add(&notes, lb_object_end(&note));
    }
    lb_put_text(&object, "schema", "lockbench-diff");
    lb_put_count(&object, "schema_version", 1);
    lb_put_text(&object, "lockbench", LB_VERSION);
    lb_put_text(&object, "base", diff->base->path);
    lb_put_text(&object, "new", diff->new->path);
    lb_put_real(&object, "threshold", diff->options.threshold);
    lb_put(&object, "not_alike", lb_object_end(&notes));
    lb_put(&object, "rows", lb_object_end(&rows));
    return lb_object_end(&object);
}

int lb_diff_json(const struct lb_diff *diff, FILE *out, struct lb_error *err)
{
    return lb_json_print(lb_diff_object(diff), JSON_INDENT(2), "the comparison", out, err);
}

/* ---- Markdown ---- */

int lb_diff_markdown(const struct lb_diff *diff, FILE *out, struct lb_error *err)
{
    char text[300];
    summary(diff, text, sizeof text);
    fprintf(out, "**lockbench: %s** (threshold %.3g %%)\n\n", text, 100 * diff->options.threshold);
    lb_table_markdown(diff_table(diff, true), out);
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
