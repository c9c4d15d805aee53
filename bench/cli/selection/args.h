/* Arguments: flags as data, parsed with libpopt.
 *
 * A flag is one row of a const table: its name, its help line, and where in struct lb_args its
 * value goes. The flags of the scenario are made from the scenario's key table, so that every key
 * is a flag. A command names the groups of flags that it takes; any other flag is an error.
 */
#ifndef LB_ARGS_H
#define LB_ARGS_H

#include "report.h"

enum lb_flag_group {
    LB_FLAGS_SELECT = 1 << 0,    /* -s -d --opt --sql-dir */
    LB_FLAGS_RUN = 1 << 1,       /* --seed --repeat --keep --keep-history */
    LB_FLAGS_OUTPUT = 1 << 2,    /* --format -o --quiet --no-color */
    LB_FLAGS_SCENARIO = 1 << 3,  /* -S, and one per scenario key */
    LB_FLAGS_LIST = 1 << 4,      /* -s --names --format */
    LB_FLAGS_GENERAL = 1 << 5,   /* --help; every command takes it */
    LB_FLAGS_DIFF = 1 << 6,      /* --threshold --metric --allow --format --no-color */
    LB_FLAGS_EXPLORE = 1 << 7,   /* explore's own, besides the selection */
    LB_FLAGS_FAULTS = 1 << 8,    /* --faults */
    LB_FLAGS_REPORT = 1 << 9,    /* -o of report */
    LB_FLAGS_LINT = 1 << 10,     /* -d and --opt of lint */
    LB_FLAGS_COSTS = 1 << 11,    /* --costs */
    LB_FLAGS_CHECK = 1 << 12,    /* check's own */
    LB_FLAGS_MATRIX = 1 << 13,   /* --matrix */
    LB_FLAGS_BASELINE = 1 << 14, /* --save --baseline, and how to compare */
    LB_FLAGS_SHOW = 1 << 15,     /* -d and --opt of show */
    LB_FLAGS_PLAN = 1 << 16,     /* plan's own, besides the selection */
    LB_FLAGS_EXPLORED = 1 << 17, /* --no-explore */
    LB_FLAGS_RECORD = 1 << 18,   /* -s -d --opt -o of record */
    LB_FLAGS_MUTATE = 1 << 19,   /* --budget --mutant --jobs --fail-under --format */
    LB_FLAGS_AGE = 1 << 20,      /* age's own, besides the selection */
    LB_FLAGS_WITH = 1 << 21      /* --with */
};

struct lb_words {
    char **words;
    size_t n;
};

struct lb_override {
    const struct lb_key *key;
    char *value;
};

/* As given; NULL: not. */
struct lb_explore_args {
    char *workers, *rounds, *polls, *readers, *capacity, *items, *producers, *batch, *rescuers,
        *blockers, *renewals, *frees, *late, *also, *resources, *claims, *isolation, *ttl, *steps,
        *preemptions, *random, *depth, *max_schedules, *choices, *time, *replay, *spec, *audit;
    bool first, no_reduction;
};

struct lb_check_args {
    char *model, *claims, *release, *progress, *recovery, *uncertainty, *ignore, *export, *threads;
    bool plain, strict;
};

struct lb_plan_args {
    char *slo, *demand, *at, *arrivals;
    const char *workers; /* of the sweep. Borrowed: no flag of its own */
};

struct lb_age_args {
    char *aged, *statistics, *rows, *slo, *demand;
};

struct lb_args {
    const struct lb_command *command;
    struct lb_words strategies, targets, scenarios, options, metrics, allowed, formats, positional,
        after_setup;
    char *sql_dir, *format, *output, *seed, *repeat, *budget, *reference, *threshold, *faults,
        *save, *baseline, *restart, *failover, *resume, *progress, *metrics_at, *trace, *as,
        *mutant, *fail_under, *jobs, *with, *series, *price, *history_limit;
    bool keep, keep_history, no_record, quiet, no_color, names, help, help_all, costs, matrix,
        charts, no_explore, show_plan, dry_run, json, top, published, verbose, strict;
    struct lb_explore_args explore; /* from here on, args.c frees what flags have set */
    struct lb_check_args check;
    struct lb_plan_args plan;
    struct lb_age_args age;
    struct lb_override *overrides; /* in the order given */
    size_t n_overrides;
    /* Made from the above by lb_args_parse. */
    uint64_t seed_number; /* drawn if none was given */
    uint64_t n_repeat;
    uint64_t budget_ns;   /* 0: not given */
    uint64_t progress_ns; /* interval of the lines of progress; 0: after each run */
};

/* Parses what follows the command's name. 0 or LB_E_USAGE. Release in any case. */
int lb_args_parse(struct lb_args *args, const struct lb_command *command, int argc, char **argv,
                  struct lb_error *err);
void lb_args_release(struct lb_args *args);
/* Of a command with one output: is --format this one? */
bool lb_args_wants(const struct lb_args *args, const char *format);
/* True if a flag sets this key of the scenario. */
bool lb_args_give(const struct lb_args *args, const char *key);

enum lb_args_kind {
    LB_ARGS_UNKNOWN,   /* the command has no such option */
    LB_ARGS_VALUE,     /* --name=VALUE */
    LB_ARGS_SWITCH,    /* --name */
    LB_ARGS_NEGATABLE, /* --name and --no-name */
};
enum lb_args_kind lb_args_kind(const struct lb_command *command, const char *name);

/* Writes the command's usage and flags; without all, the common ones. 0, or -1 if out failed. */
int lb_args_help(const struct lb_command *command, bool all, FILE *out);

/* Appends a copy of the first n bytes of word, which stays where it is, and returns it. */
const char *lb_words_add(struct lb_words *words, const char *word, size_t n);
void lb_words_release(struct lb_words *words);

#endif
