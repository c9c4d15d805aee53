/* The results of runs, and the sinks that print them: text, json, jsonl, csv, tap.
 *
 * A cell is one strategy on one target under one scenario; it is run once or more. A report is all
 * cells of one invocation. The command line fills them; sinks only read. Numbers of a cell are the
 * medians over its runs, percentiles are never averaged.
 */
#ifndef LB_REPORT_H
#define LB_REPORT_H

#include "plan.h"
#include "price.h"

#include <stdio.h>

/* Of run.json. Keys may be added within a version; what reads results reads all before it, too. */
enum { LB_RESULT_SCHEMA = 2 };

enum lb_cell_state {
    LB_CELL_PENDING, /* not yet, or never because the user stopped */
    LB_CELL_DONE,    /* at least one run came to an outcome */
    LB_CELL_SKIPPED, /* strategy, engine and scenario do not fit: reason */
    LB_CELL_FAILED,  /* it should have run and could not: error */
    LB_CELL_NOT_RUN  /* the target failed before its turn: reason */
};

/* The looks that were taken at the rounds of a table (see blocks.h), where rounds go on until they
 * decide: in order, each with the share of the error that was spent on it. */
enum { LB_MOST_LOOKS = 64 };
struct lb_looks {
    size_t n;
    struct {
        size_t n_rounds;
        double alpha;
    } at[LB_MOST_LOOKS];
};

/* The bounds of a cell's exploration; 0: the default. */
struct lb_explored_ask {
    uint32_t workers, rounds, readers, capacity, rescuers, renewals;
    uint32_t resources;    /* lock: that each worker holds at once */
    uint32_t frees, batch; /* queue */
    /* what --also names */
    bool errors, cancels, others, skew, lag, ahead, behind, period, equal, again, apart, halves;
    uint32_t items;       /* queue: put before the start */
    uint32_t putters;     /* queue: workers that put one more, beside the others */
    uint32_t late;        /* queue: workers that claim when all others have ended */
    bool whole;           /* a transaction is one step */
    bool leaves;          /* asked for the end of a process, by unregister */
    bool is_search;       /* has too many schedules to be complete on any engine */
    uint32_t preemptions; /* maximum number; 0: no bound */
    const char *set_to_1; /* queue: this option, unless it was given; NULL: none. Borrowed */
    uint32_t deaths, ticks, cuts; /* steps of a crash, of a clock, of a lost answer */
    uint64_t time_ns;             /* the search ends after so long */
};

enum { LB_HINT_LINES = 80 };

/* Where a broken guarantee comes from: lines of the strategy's file that allow it, and the change
 * that helps. It is derived from the file's words, and no verdict. */
struct lb_hint {
    enum lb_guarantee guarantee;
    const char *path; /* of the file. Borrowed */
    size_t n_lines;
    struct {
        int line;         /* from 1 */
        const char *text; /* its beginning. Borrowed */
    } lines[LB_HINT_LINES];
    char fix[1000]; /* "": nothing is known to help */
};

struct lb_cell {
    const struct lb_strategy *strategy; /* borrowed */
    const struct lb_target *target;     /* NULL: no database. Borrowed */
    const struct lb_file *file;         /* borrowed; NULL: no statements */
    char name[96];                      /* the strategy's, "[options]" if they are part of it */
    const char *strategy_path;          /* as -s takes it: name or file. Borrowed */
    const char *scenario_path;          /* as -S takes it. Borrowed */
    const char *after_setup;            /* text of --after-setup; NULL: none. Borrowed */
    const char *after_setup_path;
    char engine[32]; /* "postgres"; "postgres:2" for a second target of it; "new" of -d new=URI */
    bool compares_servers;       /* the strategy on several servers of one engine is the question */
    struct lb_scenario scenario; /* as run: file, then flags */
    struct lb_setting *settings; /* owned array of borrowed texts */
    size_t n_settings;
    bool has_own_ttl;             /* no ttl was set: it is the default of its file */
    bool has_own_pipeline;        /* likewise, of its file's header */
    bool shows_break;             /* its options were not requested: a known break needs them */
    bool is_explored;             /* not stressed: the scenario is but a name */
    const struct lb_looks *looks; /* of its table; NULL: one, after all rounds. Borrowed */
    struct lb_explored_ask explored;
    const struct lb_outlook *outlook; /* verify's plan for a user's file: this cell is part of it.
                                         Borrowed; NULL: none */
    enum lb_cell_state state;
    char reason[300];
    struct lb_error error;
    uint64_t took_ns; /* all its runs of this session, with their overhead */
    size_t n_runs;
    struct lb_outcome **runs; /* owned */
    struct lb_hint *hints;    /* owned; for guarantees that this cell shows best to be broken */
    size_t n_hints;
};

struct lb_environment {
    char machine[128]; /* CPU model */
    long n_cores;
    char system[128]; /* kernel and release */
    uint64_t memory_bytes;
};

struct lb_diff;

struct lb_report {
    char command[16];      /* "compare" */
    char invocation[1200]; /* the whole command, without passwords */
    char question[400];    /* of a plan: what decides on its runs besides the cells; "": no plan */
    uint64_t seed;
    uint64_t n_repeat;     /* with a budget: the most rounds of any cell */
    uint64_t budget_ns;    /* 0: n_repeat runs of each cell */
    bool keeps_length;     /* with a budget: the user has said how long a run is */
    const char *reference; /* the strategy that the others are compared with; NULL: the fastest */
    struct lb_price price; /* --price */
    bool costs;            /* are shown */
    bool has_series;       /* the intervals are shown: --series */
    bool records, keeps_tables; /* not --no-record; --keep */
    int64_t start_unix_ms;
    struct lb_environment environment;
    bool interrupted;
    bool keeps_histories;       /* in the directory, by lb_store_history_name */
    const char *directory;      /* where it is stored; NULL: nowhere */
    const struct lb_diff *diff; /* against a baseline; NULL: there is none. Borrowed */
    size_t n_cells;
    struct lb_cell *cells;
    size_t n_plans; /* of lockbench plan; their runs are those of cells. Borrowed */
    const struct lb_plan *plans;
};

void lb_environment_read(struct lb_environment *environment);
void lb_cell_release(struct lb_cell *cell);
/* Takes the outcome over. */
void lb_cell_add(struct lb_cell *cell, struct lb_outcome *outcome);
/* Of all runs what deaths cost and leases let through: sums, and of times the worst. */
struct lb_measures lb_cell_measures(const struct lb_cell *cell);
/* NULL: it has none of the guarantee. */
const struct lb_hint *lb_cell_hint(const struct lb_cell *cell, enum lb_guarantee guarantee);

/* --- what a cell came to --- */

enum { LB_QUANTILES = 5 };
extern const double lb_quantiles[LB_QUANTILES]; /* .5 .9 .95 .99 .999 */
extern const char *const lb_quantile_names[LB_QUANTILES];

/* Medians over the runs. A quantile that a run has too few samples for is that of all runs
 * together; UINT64_MAX when they have too few as well. The maximum is that of all runs. */
struct lb_summary {
    double successes_per_s, attempts_per_success, cpu_us_per_success, jain;
    uint64_t n_successes;
    uint64_t quantile_ns[LB_QUANTILES], max_ns; /* of acquire or claim; response if there is one */
    bool has_latency;
};
void lb_cell_summarise(const struct lb_cell *cell, struct lb_summary *ret_summary);
/* The CPU time of one success; UINT64_MAX: not known. */
uint64_t lb_summary_cpu_ns(const struct lb_summary *summary);
/* True if both are the same scenario, at points of a sweep that may differ. */
bool lb_cell_same_question(const struct lb_cell *a, const struct lb_cell *b);
/* Is the cell with this number not alike any before it? */
typedef bool lb_cell_alike(const struct lb_cell *a, const struct lb_cell *b);
bool lb_cell_is_first(const struct lb_report *report, size_t cell, lb_cell_alike *is_alike);
/* The waits of all runs together, into sum, which is emptied before: from the intended start where
 * there is one, or from the actual one. */
void lb_cell_histogram(const struct lb_cell *cell, bool from_intended,
                       struct lb_histogram *ret_sum);
/* The waits of a run, from the intended start where there is one; NULL: none. */
const struct lb_histogram *lb_run_wait(const struct lb_outcome *run);

/* True if the run is invalid only because the generator of its arrivals fell behind: its waits are
 * too long by that. Its verdicts, the share that was served and the CPU stand. */
bool lb_run_is_late(const struct lb_outcome *run);
/* True if it is late, and two other runs of its cell are complete: in a comparison those decide. */
bool lb_run_is_spared(const struct lb_cell *cell, const struct lb_outcome *run);

enum lb_standing {
    LB_STANDS_HELD,
    LB_STANDS_VIOLATED,
    LB_STANDS_MISSED,       /* a break that is known to show here did not; nothing else either */
    LB_STANDS_UNTESTED,     /* nothing that is claimed was judged: no history, for one */
    LB_STANDS_INCONCLUSIVE, /* the history ends early, the measurement does not hold, or a
                               fact is asked for */
    LB_STANDS_SKIPPED,
    LB_STANDS_FAILED,
    LB_STANDS_NOT_RUN
};
enum lb_standing lb_cell_standing(const struct lb_cell *cell);
const char *lb_standing_name(enum lb_standing standing); /* "held", "violated", "not tested" */
/* "held", "VIOLATED exclusive fifo", "not caught", "not tested", "inconclusive", "SKIP", "error",
 * "not run", and in how many of several runs. Returns buf. */
char *lb_cell_verdict(const struct lb_cell *cell, char *buf, size_t size);

/* The finding that stands for all runs of the cell: violated before held before not tested. NULL
 * without runs. *ret_run is the run it comes from. */
const struct lb_finding *lb_cell_finding(const struct lb_cell *cell, enum lb_guarantee guarantee,
                                         const struct lb_outcome **ret_run);

/* What a verdict means against what the strategy promises and is known to break. */
enum lb_expectation {
    LB_EXPECT_NOTHING, /* neither claimed nor known broken */
    LB_EXPECT_KEPT,    /* claimed, held */
    LB_EXPECT_BROKEN,  /* claimed, violated: a finding */
    LB_EXPECT_CAUGHT,  /* known broken, violated: as it should be */
    LB_EXPECT_MISSED,  /* known broken by this scenario, not caught */
    LB_EXPECT_UNTESTED /* the history cannot tell: the finding's reason */
};
enum lb_expectation lb_cell_expectation(const struct lb_cell *cell, enum lb_guarantee guarantee);
const char *lb_expectation_name(enum lb_expectation expectation); /* "kept", "caught", ... */
/* "claimed and held", "known to be broken, and caught", ... */
const char *lb_expectation_meaning(enum lb_expectation expectation);
/* The same of what the scenario proves itself (see struct lb_proof); *ret_run is the run that it
 * comes from, NULL if there is nothing to prove. */
enum lb_expectation lb_cell_proof(const struct lb_cell *cell, const struct lb_outcome **ret_run);
/* Of the guarantees whose known break was not caught in this cell: which, why it is broken, and how
 * often it was tested. Returns buf; "" if there is none. */
char *lb_cell_missed(const struct lb_cell *cell, char *buf, size_t size);
/* A guarantee that was not tested in this cell, though a known break must show there; NULL: none.
 */
const struct lb_finding *lb_cell_open_break(const struct lb_cell *cell);
/* True if the strategy is known to break a guarantee with its default options, on any engine, and
 * without a fault. */
bool lb_strategy_is_broken(const struct lb_strategy *strategy);
/* The strategy's known break that may show in this cell; NULL: none. */
const struct lb_break *lb_cell_known_break(const struct lb_cell *cell, enum lb_guarantee guarantee);
/* Why it is known to be broken, as the strategy says; "" if it is not known to be. */
const char *lb_cell_why_broken(const struct lb_cell *cell, enum lb_guarantee guarantee);

/* Appends a word to a command, quoted for a POSIX shell if it must be. */
void lb_command_add(char *buf, size_t size, const char *word);
/* Appends an option with its value; nothing, if that is NULL. */
void lb_command_option(char *buf, size_t size, const char *option, const char *value);
/* Appends -s, --with and -d of a cell; and each --opt. */
void lb_command_subject(char *buf, size_t size, const struct lb_cell *cell);
void lb_command_settings(char *buf, size_t size, const struct lb_cell *cell);
/* Begins a command of this program, as it is started for n_ranks ranks (0 or 1: without MPI). */
void lb_command_start(char *buf, size_t size, uint32_t n_ranks, const char *command);
/* The command that repeats this run, with the password left out. finding: one of the run's; an
 * explored violation is then played alone; NULL: all violations. Returns buf. */
char *lb_reproduce(const struct lb_cell *cell, const struct lb_outcome *run,
                   const struct lb_finding *finding, char *buf, size_t size);

/* The name of a disagreement between history and witnesses, in all outputs. */
extern const char lb_disagreement[];

/* --- sinks --- */

struct lb_sink_state {
    FILE *out;
    const struct lb_report *report;
    bool color;      /* escape sequences are welcome */
    bool charts;     /* small charts are welcome: a terminal, or asked for */
    bool utf8;       /* charts may be drawn with more than ASCII */
    bool terminal;   /* tables are to fit its width */
    bool has_stderr; /* standard error goes elsewhere, as in a test harness: failures are told there
                      */
    bool verbose;    /* text: all of it, not only the answer */
    unsigned width;  /* columns */
    size_t n_lines;
    bool is_done; /* tap: no more lines, after Bail out! or 1..0 */
    struct lb_error *err;
    int rc; /* LB_E_ENV, if a sink could not write */
};

/* begin once, cell as each comes to its end (in the order of the report), end once. fail instead of
 * all of these when nothing could be begun: state->err says why. NULL: does not care. */
struct lb_sink {
    const char *name, *summary;
    unsigned of;      /* enum lb_sink_use, as bits */
    const char *file; /* in a stored result's directory; NULL: not stored */
    void (*begin)(struct lb_sink_state *state);
    void (*cell)(struct lb_sink_state *state, const struct lb_cell *cell);
    void (*end)(struct lb_sink_state *state);
    void (*fail)(struct lb_sink_state *state);
};
/* Of what can it tell? */
enum lb_sink_use { LB_OF_RUNS = 1 << 0, LB_OF_PLANS = 1 << 1, LB_OF_MATRICES = 1 << 2 };
/* What commands print without --format, and what some look for. */
extern const struct lb_sink lb_sink_text, lb_sink_json, lb_sink_csv, lb_sink_tap, lb_sink_markdown,
    lb_sink_plan, lb_matrix_markdown;
/* The sink number i (from 0) of those that can print runs, plans or matrices, in the order of
 * format_list.h; NULL: there are no more. */
const struct lb_sink *lb_sink_at(size_t i, unsigned of);
/* By the first letters of a word; NULL: there is none. */
const struct lb_sink *lb_sink_find(const char *name, size_t length, unsigned of);

struct json_t;
/* The whole report as one JSON document; NULL: a text of it cannot be in JSON. */
struct json_t *lb_json_report(const struct lb_report *report);
/* What the judge counted, as an object. */
struct json_t *lb_measures_json(const struct lb_measures *m);
/* One witness; times are relative to start_ns. names: workers by name, too. */
struct json_t *lb_witness_json(const struct lb_witness *witness, uint64_t start_ns, bool names);
/* Writes the whole report as one JSON document. 0 or LB_E_ENV. */
int lb_json_write(const struct lb_report *report, FILE *out, struct lb_error *err);

/* --- results on disk --- */

/* A result's directory while it is being written; final only once all is there. */
struct lb_store {
    char temporary[512], final[512];
    bool is_named;
};
/* Makes DIR if need be, and in it a temporary directory. is_named: the name was chosen, and must be
 * free; else the time goes before it. */
int lb_store_open(struct lb_store *store, const char *dir, const char *name, bool is_named,
                  int64_t unix_ms, struct lb_error *err);
/* Goes on in a directory that was left: by a kill under its temporary name, or after an
 * interruption under its final one. */
int lb_store_resume(struct lb_store *store, const char *directory, struct lb_error *err);
/* Writes run.json and gives the directory its name (with a number if a name that was not chosen is
 * taken). When a file cannot be written nothing is left. */
int lb_store_close(struct lb_store *store, const struct lb_report *report, struct lb_error *err);
/* Half a result is none: removes the temporary directory. */
void lb_store_discard(const struct lb_store *store);
/* Path of a cell's kept history; run counts from 0. */
void lb_store_history_path(const struct lb_store *store, const struct lb_report *report,
                           const struct lb_cell *cell, size_t run, char *buf, size_t size);
/* The same without the directory, as run.json names it. */
void lb_store_history_name(const struct lb_report *report, const struct lb_cell *cell, size_t run,
                           char *buf, size_t size);

#endif
