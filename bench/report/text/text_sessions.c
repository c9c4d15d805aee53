/* Two lines about sessions: how long workers waited for one of a pool, which is a part of every
 * latency of theirs; and what it cost readers, who only looked.
 */
#include "text.h"
#include "units.h"

#include <stdio.h>

/* The words of a cell up to its numbers; false: the line is not about it. */
typedef bool words_fn(const struct lb_scenario *scenario, char *buf, size_t size);

static bool pool_words(const struct lb_scenario *scenario, char *buf, size_t size)
{
    unsigned long long workers = scenario->workers, sessions = scenario->pool;
    workers += scenario->producers;
    snprintf(buf, size, "%llu session%s for %llu workers; waited for one", sessions,
             sessions == 1 ? "" : "s", workers);
    return sessions > 0;
}

static bool reader_words(const struct lb_scenario *scenario, char *buf, size_t size)
{
    unsigned long long readers = scenario->readers;
    snprintf(buf, size, "%llu session%s counted the items beside the workers", readers,
             readers == 1 ? "" : "s");
    return readers > 0;
}

static void print_cell(const struct lb_sink_state *state, const struct lb_cell *cell,
                       enum lb_measure measure, const char *title, const char *words,
                       const char *counted)
{
    char p50[32], p99[32], worst[32];
    struct lb_histogram *all = lb_histogram_new();
    for (size_t i = 0; i < cell->n_runs; i++)
        lb_histogram_add(all, cell->runs[i]->service[measure]);
    lb_text_say(state, 0, "%s: %s on %s, %s: %s: p50 %s, p99 %s, at most %s (%llu %s).", title,
                cell->name, cell->engine, cell->scenario.name, words,
                lb_format_ns(lb_histogram_quantile(all, 0.5), p50, sizeof p50),
                lb_format_ns(lb_histogram_quantile(all, 0.99), p99, sizeof p99),
                lb_format_ns(all->max, worst, sizeof worst), (unsigned long long)all->count,
                counted);
    lb_histogram_free(all);
}

static void print_cells(const struct lb_sink_state *state, enum lb_measure measure,
                        const char *title, words_fn *words_of, const char *counted)
{
    char words[100];
    bool is_first = true;
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        if (cell->n_runs == 0 || !words_of(&cell->scenario, words, sizeof words))
            continue;
        if (is_first)
            fputc('\n', state->out);
        is_first = false;
        print_cell(state, cell, measure, title, words, counted);
    }
}

void lb_text_sessions(const struct lb_sink_state *state)
{
    print_cells(state, LB_M_POOL, "pool", pool_words, "times taken");
    print_cells(state, LB_M_READ, "readers", reader_words, "reads");
}
