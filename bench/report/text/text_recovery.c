/* What deaths cost, strategy by strategy: the table below the TAP lines of verify --faults. Printed
 * where a cell had deaths.
 */
#include "memory.h"
#include "text.h"

#include "table.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lb_column columns[] = {
    {"strategy", false}, {"engine", false}, {"scenario", false}, {"deaths", true},
    {"recovered", true}, {"median", true},  {"p95", true},       {"longest", true},
    {"leases", true},    {"lost", true},    {"stuck", true},     {"doubled", true},
    {"by hand", false},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

struct sums {
    struct lb_measures measures;
    uint64_t lost, doubled;
    const char *none; /* the text for times if nothing recovered */
};

static struct sums sums_of(const struct lb_cell *cell)
{
    struct sums sums = {.measures = lb_cell_measures(cell),
                        .none = "n/a"}; /* the run ended too early to say */
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_judgement *judgement = &cell->runs[i]->judgement;
        const uint64_t n_stuck = judgement->measures.n_stuck;
        if (n_stuck > 0 || judgement->findings[LB_G_RECOVERY].n_violations > 0)
            sums.none = "never";
        /* Stuck items have a column of their own. */
        uint64_t lost = judgement->findings[LB_G_NO_LOSS].n_violations;
        bool is_counted = judgement->findings[LB_G_RECOVERY].verdict == LB_V_NOT_CLAIMED;
        uint64_t stuck = is_counted ? n_stuck : 0;
        sums.lost += lost > stuck ? lost - stuck : 0;
        sums.doubled += judgement->findings[LB_G_NO_DUPLICATE].n_violations;
    }
    return sums;
}

static void add_time(struct lb_table *table, const struct sums *sums, uint64_t ns)
{
    char text[32];
    lb_table_add(table,
                 sums->measures.n_recovered > 0 ? lb_format_ns(ns, text, sizeof text) : sums->none,
                 LB_INK_PLAIN);
}

static const char *by_hand(const struct lb_strategy *strategy)
{
    if (strategy->by_hand != NULL)
        return strategy->by_hand;
    bool recovers = strategy->is_lease || (strategy->claims & LB_G_BIT(LB_G_RECOVERY)) != 0;
    return strategy->shape == LB_QUEUE && !recovers ? "run recover from a job of your own"
                                                    : "nothing";
}

static void add_row(struct lb_table *table, const struct lb_cell *cell, const struct sums *sums)
{
    char leases[32] = "";
    if (cell->strategy->is_lease && cell->scenario.ttl_ns > 0 && sums->measures.n_recovered > 0)
        snprintf(leases, sizeof leases, "%.2f",
                 (double)sums->measures.p50_recovery_ns / (double)cell->scenario.ttl_ns);
    lb_text_add_cell(table, cell);
    lb_table_addf(table, "%llu", (unsigned long long)sums->measures.n_deaths);
    if (sums->measures.n_deaths > 0 && sums->measures.n_deaths == sums->measures.n_deaths_beside)
        lb_table_add(table, "n/a", LB_INK_PLAIN);
    else
        lb_table_addf(table, "%llu", (unsigned long long)sums->measures.n_recovered);
    add_time(table, sums, sums->measures.p50_recovery_ns);
    add_time(table, sums, sums->measures.p95_recovery_ns);
    add_time(table, sums, sums->measures.max_recovery_ns);
    lb_table_add(table, leases, LB_INK_PLAIN);
    lb_table_addf(table, "%llu", (unsigned long long)sums->lost);
    lb_table_addf(table, "%llu", (unsigned long long)sums->measures.n_stuck);
    lb_table_addf(table, "%llu", (unsigned long long)sums->doubled);
    lb_table_add(table, by_hand(cell->strategy), LB_INK_PLAIN);
}

/* Every line as a comment, so that TAP's readers skip it. */
static void print_commented(const struct lb_table *table, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = lb_open_memory(&text, &size);
    lb_table_print(table, memory, false);
    lb_close_memory(memory);
    fputs("# From a death to the next grant; leases: the median, in lengths of the lease.\n", out);
    for (char *line = text; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        fprintf(out, "# %s\n", line);
        line = end;
    }
    free(text);
}

void lb_text_recovery(const struct lb_report *report, FILE *out)
{
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    for (size_t i = 0; i < report->n_cells; i++) {
        struct sums sums = sums_of(&report->cells[i]);
        if (sums.measures.n_deaths > 0)
            add_row(table, &report->cells[i], &sums);
    }
    if (!lb_table_is_empty(table))
        print_commented(table, out);
    lb_table_free(table);
}
