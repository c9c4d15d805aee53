/* Parts of the text report. Private to bench/report. */
#ifndef LB_TEXT_H
#define LB_TEXT_H

#include "report.h"

struct lb_table;

/* Prints a paragraph: indented, and wrapped at the width of the output. */
void lb_text_say(const struct lb_sink_state *state, unsigned indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The first columns of a row: strategy, engine and scenario. */
void lb_text_add_cell(struct lb_table *table, const struct lb_cell *cell);

/* Program, seed, machine; each target with its server's version. */
void lb_text_head(const struct lb_sink_state *state);
/* The keys that say what the scenario did, and did not vary among the cells of first's question
 * (first NULL: all but the number of workers); times and shares that are off are left out. */
void lb_text_config(const struct lb_sink_state *state, const struct lb_scenario *scenario,
                    const struct lb_cell *first);
/* The text under the tables: each violation, each cell without numbers with the reason, the place
 * of the result. */
void lb_text_details(const struct lb_sink_state *state);

/* The table of faults, if there is anything to show. */
void lb_text_faults(const struct lb_sink_state *state);
/* What deaths cost, as comments of TAP, if there were any. */
void lb_text_recovery(const struct lb_report *report, FILE *out);
/* The table of costs, if it is wanted. */
void lb_text_costs(const struct lb_sink_state *state);

/* If claims of several sizes are compared: throughput, and its price. */
void lb_text_batches(const struct lb_sink_state *state);
struct lb_batches;
/* Its rows, for every format. The caller frees it. */
struct lb_table *lb_text_batch_table(const struct lb_batches *batches);

/* The planned and the executed work of an open loop. */
void lb_text_open(const struct lb_sink_state *state);
/* Of runs with a pool or with readers: how long workers waited for a session, how long reads took.
 */
void lb_text_sessions(const struct lb_sink_state *state);
/* Of runs that several ranks did together: a line for each. */
void lb_text_ranks(const struct lb_sink_state *state);
/* The operation whose arrivals an open loop plans. */
enum lb_measure lb_open_measure(const struct lb_outcome *run);

/* The phases of each run of a scenario that has some. */
void lb_text_phases(const struct lb_sink_state *state);
/* Each run over time, where --series asks for it. */
void lb_text_series(const struct lb_sink_state *state);
/* Whether the runs had reached a steady state. */
void lb_text_steady(const struct lb_sink_state *state);
/* Of long runs that kept their history until the end: why. */
void lb_text_kept(const struct lb_sink_state *state);
/* Names the guarantees that rows claim and that no run of the row tested. */
void lb_text_untested(const struct lb_sink_state *state);

/* What to choose, for each table that has an answer. False: there was none. */
bool lb_text_answer(const struct lb_sink_state *state);
/* Waits by tenant and by priority, if items have these. */
void lb_text_waits(const struct lb_sink_state *state);
/* Its rows, for every format. The caller frees it. */
struct lb_table *lb_text_wait_table(const struct lb_report *report);
/* Of a plan: violations, what could not be run and why, and where it is stored. */
void lb_text_problems(const struct lb_sink_state *state);

struct lb_rank_table;
/* The rows of a ranking, for every format: strategy, success/s, ratio, rounds, group, is. The
 * caller frees it. */
struct lb_table *lb_text_rank_table(const struct lb_rank_table *ranks);
/* The table of differences to the fastest strategy, if there is anything to compare. */
void lb_text_ranking(const struct lb_sink_state *state);

#endif
