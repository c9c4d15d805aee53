/* The regression gate: see diff.h. */
#include "diff.h"

#include "memory.h"
#include "nearest.h"

#include <stdlib.h>
#include <string.h>

const char *lb_diff_outcome_name(enum lb_diff_outcome outcome)
{
    static const char *const names[LB_DIFF_OUTCOMES] = {[LB_DIFF_SLOWER] = "slower",
                                                        [LB_DIFF_INCONCLUSIVE] = "inconclusive",
                                                        [LB_DIFF_NOT_SLOWER] = "not slower",
                                                        [LB_DIFF_EQUIVALENT] = "equivalent",
                                                        [LB_DIFF_FASTER] = "faster"};
    return names[outcome];
}

bool lb_diff_violates(const struct lb_diff_row *row)
{
    return row->new != NULL &&strcmp(row->new->verdict, "violated") == 0 &&
           strcmp(row->base->verdict, "violated") != 0;
}

/* ---- which cells, and were they run alike ---- */

static bool same_cell(const struct lb_stored_cell *a, const struct lb_stored_cell *b)
{
    return strcmp(a->strategy, b->strategy) == 0 && strcmp(a->engine, b->engine) == 0 &&
           strcmp(a->scenario, b->scenario) == 0;
}

/* "setting version" may be called just version. */
static bool is_called(const char *key, const char *name)
{
    const char *word = strrchr(key, ' ');
    return strcmp(name, key) == 0 || (word != NULL && strcmp(name, word + 1) == 0);
}

static bool is_allowed(const struct lb_diff_options *options, const char *key)
{
    for (size_t i = 0; i < options->n_allowed; i++)
        if (is_called(key, options->allowed[i]))
            return true;
    return false;
}

struct key_search {
    const char *name;
    bool found;
    struct lb_nearest nearest;
    char all[700];
};

/* A key may come more than once; settings, of which a server has many, are found but not listed. */
static void look_at_key(void *arg, const char *key)
{
    struct key_search *search = arg;
    size_t n = strlen(search->all), length = strlen(key);
    search->found = search->found || is_called(key, search->name);
    lb_nearest_offer(&search->nearest, key);
    bool is_listed = false;
    for (const char *at = search->all; (at = strstr(at, key)) != NULL && !is_listed; at++)
        is_listed =
            (at == search->all || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0');
    if (!is_listed && strncmp(key, "setting ", 8) != 0 && n + length + 3 < sizeof search->all)
        snprintf(search->all + n, sizeof search->all - n, "%s%s", n > 0 ? ", " : "", key);
}

/* A key that no result has is a mistake: it would allow nothing. */
static int check_allowed(const struct lb_diff *diff, struct lb_error *err)
{
    for (size_t i = 0; i < diff->options.n_allowed; i++) {
        struct key_search search = {.name = diff->options.allowed[i]};
        char near[128];
        lb_nearest_init(&search.nearest, search.name);
        lb_stored_keys(diff->base, look_at_key, &search);
        lb_stored_keys(diff->new, look_at_key, &search);
        lb_nearest_text(&search.nearest, near, sizeof near);
        if (!search.found)
            return lb_fail(err, LB_E_USAGE,
                           "option --allow: neither result has a key '%.60s'%s; there are %s, and "
                           "the server's settings",
                           search.name, near, search.all);
    }
    return 0;
}

enum { MOST_DIFFERENCES = 200 };

/* The first difference that is not allowed, or NULL; all are in list. */
static const struct lb_difference *forbidden(const struct lb_diff *diff,
                                             const struct lb_stored_cell *base,
                                             const struct lb_stored_cell *new,
                                             struct lb_difference *list, size_t *ret_n)
{
    size_t n = lb_stored_differences(diff->base, base, diff->new, new, list, MOST_DIFFERENCES);
    *ret_n = n < MOST_DIFFERENCES ? n : MOST_DIFFERENCES;
    for (size_t i = 0; i < *ret_n; i++)
        if (!is_allowed(&diff->options, list[i].key))
            return &list[i];
    return NULL;
}

static void add_notes(struct lb_diff *diff, const struct lb_difference *list, size_t n)
{
    struct lb_difference *grown = lb_realloc(diff->notes, diff->n_notes + n, sizeof *grown);
    diff->notes = grown;
    for (size_t i = 0; i < n; i++) {
        bool is_new = true;
        for (size_t k = 0; k < diff->n_notes && is_new; k++)
            is_new = strcmp(grown[k].key, list[i].key) != 0 ||
                     strcmp(grown[k].base, list[i].base) != 0 ||
                     strcmp(grown[k].new, list[i].new) != 0;
        if (is_new)
            grown[diff->n_notes++] = list[i];
    }
}

/* The cell of the new result that belongs to base: of several of one name (a sweep) the one that
 * was run alike. LB_E_USAGE if there are some, and none was. */
static int find_partner(struct lb_diff *diff, const struct lb_stored_cell *base,
                        struct lb_difference *list, const struct lb_stored_cell **ret,
                        struct lb_error *err)
{
    struct lb_difference first;
    bool found = false;
    *ret = NULL;
    for (size_t i = 0; i < diff->new->n_cells; i++) {
        const struct lb_stored_cell *new = &diff->new->cells[i];
        size_t n;
        if (!same_cell(base, new))
            continue;
        const struct lb_difference *wrong = forbidden(diff, base, new, list, &n);
        if (wrong == NULL) {
            *ret = new;
            add_notes(diff, list, n);
            return 0;
        }
        if (!found)
            first = *wrong;
        found = true;
    }
    if (!found)
        return 0;
    return lb_fail(err, LB_E_USAGE,
                   "%s on %s, %s was not run alike: %s is %s in the base and %s in the new result",
                   base->strategy, base->engine, base->scenario, first.key, first.base, first.new);
}

/* ---- comparing ---- */

static void cannot(struct lb_diff_row *row, const char *format, const char *detail)
{
    row->outcome = LB_DIFF_INCONCLUSIVE;
    snprintf(row->reason, sizeof row->reason, "%s%s", format, detail);
}

static int compare_row(struct lb_diff_row *row, struct lb_error *err)
{
    const struct lb_compare_options options = {.level = LB_DIFF_LEVEL,
                                               .higher_is_better = row->metric == LB_METRIC_RATE};
    const struct lb_stored_cell *base = row->base, *new = row->new;
    if (new == NULL) {
        cannot(row, "the new result does not have it", "");
        return 0;
    }
    if (new->n_runs == 0) {
        cannot(row, "the new result has no complete run of it: ",
               new->reason[0] != '\0' ? new->reason : new->verdict);
        return 0;
    }
    if (base->values[row->metric] == NULL || new->values[row->metric] == NULL) {
        cannot(row, "too few samples in a run of the ",
               base->values[row->metric] == NULL ? "base" : "new result");
        return 0;
    }
    const struct lb_runs a = {base->values[row->metric], base->start_ms, base->n_runs};
    const struct lb_runs b = {new->values[row->metric], new->start_ms, new->n_runs};
    row->is_compared = true;
    return lb_stats_compare(&a, &b, &options, &row->comparison, err);
}

/* Is a slowdown of twice the threshold outside of the ratio's interval? */
static bool excludes_slowdown(const struct lb_diff_row *row, double threshold)
{
    const struct lb_confidence *interval = &row->comparison.ratio.interval;
    double most = 1 + 2 * threshold;
    if (interval->coverage < LB_DIFF_LEVEL)
        return false;
    return row->metric == LB_METRIC_RATE ? interval->low >= 1 / most : interval->high <= most;
}

static void settle_row(struct lb_diff_row *row, size_t n_family, double threshold)
{
    const struct lb_comparison *c = &row->comparison;
    row->reason[0] = '\0';
    switch (c->verdict) {
    case LB_STATS_FASTER:
        row->outcome = LB_DIFF_FASTER;
        return;
    case LB_STATS_SLOWER:
        row->outcome = LB_DIFF_SLOWER;
        return;
    case LB_STATS_EQUIVALENT:
        row->outcome = LB_DIFF_EQUIVALENT;
        return;
    case LB_STATS_INCONCLUSIVE:
    default:
        break;
    }
    if (excludes_slowdown(row, threshold)) {
        row->outcome = LB_DIFF_NOT_SLOWER;
        return;
    }
    row->outcome = LB_DIFF_INCONCLUSIVE;
    bool few = lb_stats_least_p(c->n_base, c->n_new) * (double)n_family > 1 - LB_DIFF_LEVEL;
    if (few)
        snprintf(row->reason, sizeof row->reason, "%s", c->reason);
    else
        snprintf(row->reason, sizeof row->reason,
                 "too much noise: a slowdown of %.3g %% is not excluded", 200 * threshold);
}

static void take_power(struct lb_diff_row *row, size_t n_family, double threshold)
{
    const struct lb_comparison *c = &row->comparison;
    const struct lb_power_of of = {.sd = c->sd,
                                   .n_base = c->n_base,
                                   .n_new = c->n_new,
                                   .n_family = n_family,
                                   .is_paired = c->is_paired,
                                   .level = LB_DIFF_LEVEL,
                                   .band = threshold};
    row->shows = lb_stats_shows(&of);
    row->runs_for = lb_stats_runs_for(&of);
}

/* Verdicts of all rows that were compared, as one family. */
static void decide(struct lb_diff *diff)
{
    size_t n = 0;
    struct lb_comparison *family = lb_malloc((diff->n_rows + 1) * sizeof *family);
    for (size_t i = 0; i < diff->n_rows; i++)
        if (diff->rows[i].is_compared)
            family[n++] = diff->rows[i].comparison;
    struct lb_compare_options options = {
        .level = LB_DIFF_LEVEL, .band = diff->options.threshold, .higher_is_better = true};
    lb_stats_decide(family, n, &options);
    size_t n_family = n;
    n = 0;
    for (size_t i = 0; i < diff->n_rows; i++) {
        struct lb_diff_row *row = &diff->rows[i];
        if (row->is_compared) {
            row->comparison = family[n++];
            /* Decided as if more were better: turned around where less is. */
            enum lb_stats_verdict *verdict = &row->comparison.verdict;
            if (row->metric != LB_METRIC_RATE && *verdict <= LB_STATS_SLOWER)
                *verdict = *verdict == LB_STATS_FASTER ? LB_STATS_SLOWER : LB_STATS_FASTER;
            settle_row(row, n_family, diff->options.threshold);
            take_power(row, n_family, diff->options.threshold);
        }
        diff->n_outcomes[row->outcome]++;
    }
    free(family);
}

static int add_rows(struct lb_diff *diff, const struct lb_stored_cell *base,
                    struct lb_difference *list, struct lb_error *err)
{
    const struct lb_stored_cell *new;
    int rc = find_partner(diff, base, list, &new, err);
    bool counted = false;
    for (int m = 0; m < LB_METRICS && rc == 0; m++) {
        if (!diff->options.metrics[m])
            continue;
        struct lb_diff_row *row = &diff->rows[diff->n_rows++];
        *row = (struct lb_diff_row){.base = base, .new = new, .metric = (enum lb_metric)m};
        rc = compare_row(row, err);
        if (!counted && lb_diff_violates(row))
            diff->n_violated++;
        counted = true;
    }
    return rc;
}

int lb_diff_make(const struct lb_stored *base, const struct lb_stored *new,
                 const struct lb_diff_options *options, struct lb_diff *ret, struct lb_error *err)
{
    struct lb_diff *diff = ret;
    *diff = (struct lb_diff){.base = base, .new = new, .options = *options};
    diff->rows = lb_calloc(base->n_cells * LB_METRICS + 1, sizeof *diff->rows);
    struct lb_difference *list = lb_calloc(MOST_DIFFERENCES, sizeof *list);
    int rc = check_allowed(diff, err);
    for (size_t i = 0; i < base->n_cells && rc == 0; i++)
        if (base->cells[i].n_runs > 0)
            rc = add_rows(diff, &base->cells[i], list, err);
    if (rc == 0 && diff->n_rows == 0)
        rc = lb_fail(err, LB_E_USAGE, "%s: no complete run to compare with", base->path);
    if (rc == 0)
        decide(diff);
    free(list);
    return rc;
}

void lb_diff_release(struct lb_diff *diff)
{
    free(diff->rows);
    free(diff->notes);
    *diff = (struct lb_diff){0};
}
