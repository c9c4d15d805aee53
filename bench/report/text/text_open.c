/* Open loop: the planned work, the executed part, and the lateness of the generator itself. A
 * latency from the intended start means little without these.
 */
#include "append.h"
#include "table.h"
#include "text.h"
#include "units.h"

#include <stdio.h>

enum lb_measure lb_open_measure(const struct lb_outcome *run)
{
    return run->config.shape == LB_QUEUE ? LB_M_PUT : LB_M_ACQUIRE;
}

static void print_cell(const struct lb_sink_state *state, const struct lb_cell *cell)
{
    uint64_t planned = 0, skipped = 0, censored = 0, done = 0, elapsed_ns = 0;
    char text[500], p50[32], p99[32], worst[32], due_rate[32], rate[32], done_rate[32];
    struct lb_histogram *pacing = lb_histogram_new();
    uint64_t due = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        const struct lb_counts *counts = &run->counts[lb_open_measure(run)];
        due += run->n_due;
        planned += counts->planned;
        skipped += counts->skipped;
        censored += counts->censored;
        done += counts->succeeded;
        elapsed_ns += run->elapsed_ns;
        if (run->pacing != NULL)
            lb_histogram_add(pacing, run->pacing);
    }
    double seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : 1;
    snprintf(
        text, sizeof text,
        "open loop: %s on %s, %s: %s arrivals/s were scheduled, %s/s taken up, %s/s succeeded; of "
        "%llu taken up %llu were skipped and %llu under way at the end.",
        cell->name, cell->engine, cell->scenario.name,
        lb_format_count((double)due / seconds, due_rate, sizeof due_rate),
        lb_format_count((double)planned / seconds, rate, sizeof rate),
        lb_format_count((double)done / seconds, done_rate, sizeof done_rate),
        (unsigned long long)planned, (unsigned long long)skipped, (unsigned long long)censored);
    if (pacing->count > 0)
        lb_append(text, sizeof text, " Free workers began %s late (p50; p99 %s, at most %s).",
                  lb_format_ns(lb_histogram_quantile(pacing, 0.5), p50, sizeof p50),
                  lb_format_ns(lb_histogram_quantile(pacing, 0.99), p99, sizeof p99),
                  lb_format_ns(pacing->max, worst, sizeof worst));
    lb_print_wrapped(state->out, text, 0, state->width);
    lb_histogram_free(pacing);
}

void lb_text_open(const struct lb_sink_state *state)
{
    bool is_first = true;
    for (size_t i = 0; i < state->report->n_cells; i++) {
        const struct lb_cell *cell = &state->report->cells[i];
        if (cell->n_runs == 0 || cell->runs[0]->pacing == NULL)
            continue;
        if (is_first)
            fputc('\n', state->out);
        is_first = false;
        print_cell(state, cell);
    }
}
