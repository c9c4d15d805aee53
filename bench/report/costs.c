/* Costs per success: see costs.h.
 *
 * The server's counters run from the end of the set-up to the last worker's end, so they are
 * divided by all successes, those of the warm-up and of draining too; CPU and context switches are
 * of the measured part, and divided by its successes. Counters of the whole server (WAL, row lock
 * waits) contain what others did there meanwhile.
 */
#include "costs.h"

#include "memory.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* counters: of the server, which are added; none: of the run itself, see total. */
static const struct {
    const char *name, *key, *counters[3];
} costs[LB_COSTS] = {
    [LB_COST_STATEMENTS] = {"statements", "statements", {NULL}},
    [LB_COST_WAL_BYTES] = {"WAL", "wal_bytes", {"wal_bytes"}},
    [LB_COST_DEAD_ROWS] = {"dead rows", "dead_rows", {"rows_updated", "rows_deleted"}},
    [LB_COST_ROWS_READ] = {"rows read", "rows_read", {"rows_read"}},
    [LB_COST_GROWTH_BYTES] = {"growth",
                              "growth_bytes",
                              {"table_bytes", "index_bytes", "database_bytes"}},
    [LB_COST_RETRIES] = {"lock retries", "lock_retries", {"busy_retries"}},
    [LB_COST_LOCK_WAITS] = {"lock waits", "lock_waits", {"row_lock_waits"}},
    [LB_COST_CPU_NS] = {"cpu here", "client_cpu_ns", {NULL}},
    [LB_COST_SWITCHES] = {"switches", "client_context_switches", {NULL}},
};

const char *lb_cost_name(enum lb_cost cost)
{
    return costs[cost].name;
}

const char *lb_cost_key(enum lb_cost cost)
{
    return costs[cost].key;
}

char *lb_cost_format(enum lb_cost cost, double value, char *buf, size_t size)
{
    if (value < 0)
        snprintf(buf, size, "n/a");
    else if (cost == LB_COST_CPU_NS)
        lb_format_ns((uint64_t)value, buf, size);
    else if (cost == LB_COST_WAL_BYTES || cost == LB_COST_GROWTH_BYTES)
        snprintf(buf, size, "%.0f B", value);
    else
        snprintf(buf, size, value < 0.1 && value > 0 ? "%.4f" : "%.2f", value);
    return buf;
}

/* Adds a counter of the server to *sum; false if it does not tell. */
static bool counter(const struct lb_outcome *run, const char *name, double *sum)
{
    for (size_t i = 0; i < run->n_server; i++)
        if (strcmp(run->server[i].name, name) == 0) {
            *sum += strtod(run->server[i].value, NULL);
            return true;
        }
    return false;
}

/* The cost of all of the run; negative: not known. */
static double total(const struct lb_outcome *run, enum lb_cost cost)
{
    double sum = 0;
    bool known = false;
    if (cost == LB_COST_STATEMENTS)
        return run->n_server > 0 ? (double)run->n_statements : -1;
    if (cost == LB_COST_CPU_NS)
        return run->has_cpu ? (double)(run->cpu_user_ns + run->cpu_system_ns) : -1;
    if (cost == LB_COST_SWITCHES)
        return run->has_cpu ? (double)(run->n_switches_voluntary + run->n_switches_involuntary)
                            : -1;
    for (size_t i = 0; i < sizeof costs[cost].counters / sizeof costs[cost].counters[0]; i++)
        if (costs[cost].counters[i] != NULL)
            known |= counter(run, costs[cost].counters[i], &sum);
    /* A vacuum may shrink a table. */
    return !known ? -1 : sum < 0 ? 0 : sum;
}

static double per_success(const struct lb_outcome *run, enum lb_cost cost)
{
    bool is_measured_part = cost == LB_COST_CPU_NS || cost == LB_COST_SWITCHES;
    double n = is_measured_part ? run->successes_per_s * (double)run->elapsed_ns / 1e9
                                : (double)run->n_successes_all;
    double value = total(run, cost);
    return value < 0 || n <= 0 ? -1 : value / n;
}

void lb_cell_costs(const struct lb_cell *cell, struct lb_costs *ret)
{
    double *values = lb_malloc((cell->n_runs + 1) * sizeof *values);
    for (int c = 0; c < LB_COSTS; c++) {
        size_t n = 0;
        for (size_t i = 0; i < cell->n_runs; i++) {
            values[n] = per_success(cell->runs[i], (enum lb_cost)c);
            n += values[n] >= 0;
        }
        lb_stats_sort(values, n);
        ret->values[c] = n == 0 ? -1 : (values[(n - 1) / 2] + values[n / 2]) / 2;
    }
    free(values);
}

static int most_first(const void *a, const void *b)
{
    const struct lb_wait_share *x = a, *y = b;
    if (x->sessions > y->sessions || x->sessions < y->sessions)
        return x->sessions > y->sessions ? -1 : 1;
    return strcmp(x->name, y->name);
}

size_t lb_cell_waits(const struct lb_cell *cell, struct lb_wait_share *ret, size_t room)
{
    struct lb_wait_share all[64] = {{0}};
    size_t n = 0;
    uint64_t samples = 0;
    for (size_t r = 0; r < cell->n_runs; r++) {
        const struct lb_outcome *run = cell->runs[r];
        samples += run->n_wait_samples;
        for (size_t w = 0; w < run->n_waits; w++) {
            size_t i = 0;
            while (i < n && strcmp(all[i].name, run->waits[w].name) != 0)
                i++;
            if (i == n && n < sizeof all / sizeof all[0])
                all[n++] = (struct lb_wait_share){run->waits[w].name, 0};
            if (i < n)
                all[i].sessions += (double)run->waits[w].n;
        }
    }
    for (size_t i = 0; i < n; i++)
        all[i].sessions /= (double)(samples > 0 ? samples : 1);
    qsort(all, n, sizeof *all, most_first);
    if (n > room)
        n = room;
    memcpy(ret, all, n * sizeof *all);
    return n;
}
