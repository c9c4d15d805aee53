/* Which strategy is the fastest, and how sure is that? Strategies of one engine under one scenario
 * against each other, or one strategy on several servers of one engine, within the rounds in which
 * they were run (see blocks.h).
 */
#ifndef LB_RANKING_H
#define LB_RANKING_H

#include "blocks.h"
#include "report.h"

#define LB_RANKING_LEVEL 0.95
#define LB_RANKING_BAND  0.05 /* within it two are equivalent */

/* The compared quantity. Lower latencies and costs are better; they come from all rounds together,
 * and are compared by a block bootstrap (lb_blocks_resample). */
enum lb_measured { LB_RANK_RATE, LB_RANK_P99, LB_RANK_CPU, LB_RANK_MEASURES };
const char *lb_measured_name(enum lb_measured measured); /* "rate", "p99", "cpu" */
/* "success/s", "p99 of the wait", "CPU per success" */
const char *lb_measured_title(enum lb_measured measured);

/* A cell in its table. */
struct lb_rank {
    const struct lb_cell *cell;
    struct lb_estimate
        median;        /* of its runs, with the interval of its own; p99, CPU: NAN if none */
    double pooled;     /* p99, CPU: of all rounds together, in ns or us */
    bool held;         /* may be chosen: nothing is violated, and it keeps up with the load */
    bool is_undecided; /* not held, and only because the measurement does not tell */
    bool is_behind;    /* not held, and only because it does not keep up */
    char why[64];      /* not held: "violated", "served 87.0 %"; "" */
    double served;     /* share of the arrivals, of an open loop; NAN */
    struct lb_estimate ratio; /* to the reference; the intervals of a table hold together */
    size_t n_rounds;          /* that the ratio is of */
    size_t look;              /* that decided it, from 0 */
    enum lb_stats_verdict verdict;
    char letters[LB_LETTERS_TEXT]; /* strategies that share one do not differ; "" with a named
                                      reference */
};

/* Ranks of one engine under one scenario: the best first. */
struct lb_rank_table {
    struct lb_rank *ranks;
    size_t n;
    size_t reference; /* the best of those that held, or the one that was named */
    bool is_named;
    size_t n_without; /* cells without a success */
    const struct lb_cell **without;
    size_t n_rounds, n_looks;
    double alpha; /* of the last look */
    struct lb_block_noise noise;
    double shows;       /* difference that n_rounds rounds show in 80 of 100 cases; INFINITY */
    size_t band_rounds; /* rounds that would show LB_RANKING_BAND; 0: too many to say */
    size_t n_open;      /* pairs that are not decided */
    bool *is_open;      /* [i * n + j] */
};

struct lb_ranking {
    enum lb_measured measured;
    struct lb_rank_table *tables; /* in the order of the report */
    size_t n_tables;
};

/* Ranks all cells with at least two complete runs and a success; for p99 and CPU with as many
 * rounds and waits as are needed. No table where there are no two of them: see lb_rank_beside.
 * Release with lb_ranking_release. */
void lb_ranking_make(const struct lb_report *report, enum lb_measured measured,
                     struct lb_ranking *ret);
void lb_ranking_release(struct lb_ranking *ranking);
/* All of them: room for LB_RANK_MEASURES. */
void lb_rankings_make(const struct lb_report *report, struct lb_ranking *ret);
void lb_rankings_release(struct lb_ranking *rankings);
/* The rank of a cell, and its table; NULL: it has none. */
const struct lb_rank *lb_ranking_find(const struct lb_ranking *ranking, const struct lb_cell *cell,
                                      const struct lb_rank_table **ret_table);

/* Do two cells belong into one table? */
bool lb_ranking_same_table(const struct lb_cell *a, const struct lb_cell *b);
/* The strategy, or, if servers are compared, the server. */
const char *lb_rank_name(const struct lb_rank *rank);
/* Has a cell had no success in any complete run? */
bool lb_ranking_is_without(const struct lb_cell *cell);

/* --- in words (ranking_words.c): the same in every sink --- */

/* "0.770 [0.700, 0.850]". All return buf. */
char *lb_rank_ratio(const struct lb_rank *rank, char *buf, size_t size);
/* Its verdict against the reference: "slower", "equivalent", "not shown slower", "the fastest", ...
 */
const char *lb_rank_is(const struct lb_rank_table *table, const struct lb_rank *rank,
                       enum lb_measured measured);
/* "Fastest: table-lock. Not shown slower: none. ..." */
char *lb_rank_answer(const struct lb_rank_table *table, enum lb_measured measured, char *buf,
                     size_t size);
/* The rank to choose: the best of those that held and free what a dead worker had, or, if none
 * does, the best of those that held. In an open loop all of them carry the same load, and the best
 * is the one that waits least, or costs least if the waits tell none of them apart. rates: a table
 * of rates; rankings: of the same report. */
struct lb_choice {
    const struct lb_rank *rank;        /* NULL: there is none */
    const struct lb_rank_table *table; /* that ranks it */
    enum lb_measured measured;         /* in that table */
    bool recovers;
    bool is_alike; /* open loop: no measure tells those that keep up apart */
};
struct lb_choice lb_rank_choose(const struct lb_rank_table *rates,
                                const struct lb_ranking *rankings);
/* True if the strategy frees what a dead worker had. */
bool lb_rank_recovers(const struct lb_rank *rank);
/* The table of another measure with the same cells; NULL: there is none. */
const struct lb_rank_table *lb_rank_table_of(const struct lb_ranking *ranking,
                                             const struct lb_rank_table *rates);
/* One sentence for choosing, which weighs verdicts and recovery as well. */
char *lb_rank_choice(const struct lb_rank_table *rates, const struct lb_ranking *rankings,
                     char *buf, size_t size);
/* Of aged tables: the successes/s of each strategy beside those with fresh ones, and first of all
 * the strategy that is the fastest with fresh tables, if it is shown slower here; otherwise "". */
char *lb_rank_aged(const struct lb_rank_table *rates, const struct lb_ranking *ranking, char *buf,
                   size_t size);
/* "Which is the fastest?", "Which keep up with 300/s?" */
char *lb_rank_question(const struct lb_rank_table *rates, char *buf, size_t size);
/* True if the load is given, by a rate of arrivals. */
bool lb_rank_is_open(const struct lb_rank_table *table);
/* The difference that these rounds can show, and the rounds for a smaller one. */
char *lb_rank_power(const struct lb_rank_table *table, enum lb_measured measured, char *buf,
                    size_t size);
/* Beside the table of rates: "p99 of the wait: Lowest: table-lock. ...", with the difference that
 * these rounds can show and the strategies without values; or the reason why it is not compared.
 * others: p99 or CPU. */
char *lb_rank_beside(const struct lb_report *report, const struct lb_rank_table *rates,
                     const struct lb_ranking *others, char *buf, size_t size);
enum { LB_RANK_TEXT = 4000 }; /* room for any of these */
/* How the intervals and letters are to be read; the same for all tables. */
#define LB_RANK_READING                                                                            \
    "Ratios are of rates in the same round, with intervals that hold together at 95 % for all "    \
    "pairs of a table; strategies that share a letter do not differ significantly; equivalent: "   \
    "within 5 %."

/* Are there two cells that could be compared, had they been run more than once? */
bool lb_ranking_lacks_runs(const struct lb_report *report);
/* The text for a single run. */
#define LB_ONE_RUN                                                                                 \
    "One run per cell: it shows what was violated and the size of the numbers. It cannot tell a "  \
    "difference between strategies from noise. --repeat 5 runs each cell 5 times; compare "        \
    "without --repeat makes as many rounds as fit into --budget."

/* "95 % intervals", and how much the least of them cover where the runs are too few for that: take
 * goes over all comparisons. */
struct lb_coverage {
    double least; /* begin with 1 */
};
void lb_coverage_take(struct lb_coverage *coverage, const struct lb_comparison *comparison);
char *lb_coverage_text(const struct lb_coverage *coverage, double level, char *buf, size_t size);
/* "0.048", "<0.001". */
char *lb_p_text(double p, char *buf, size_t size);

/* Median successes/s over the complete runs of a cell, with its interval. False with fewer than two
 * of them. */
bool lb_cell_rate(const struct lb_cell *cell, struct lb_estimate *ret);

#endif
