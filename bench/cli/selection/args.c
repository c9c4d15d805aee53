/* Arguments: see args.h. popt's own --help would exit; ours is an ordinary flag. */
#include "array.h"
#include "cli.h"
#include "combinations.h"
#include "format_names.h"
#include "help.h"
#include "memory.h"
#include "nearest.h"
#include "take.h"
#include "units.h"

#include <assert.h>
#include <popt.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROGRESS_S = 1000000 };

enum flag_kind {
    FLAG_SWITCH, /* bool */
    FLAG_TEXT,   /* char *: the last one wins */
    FLAG_WORDS   /* struct lb_words: may be given several times */
};

struct flag {
    const char *name;
    char letter;
    enum flag_kind kind;
    size_t offset; /* in struct lb_args */
    unsigned groups;
    const char *argument;
    const char *help; /* %s: the command's formats, see format_names.h */
};

#define TO(field) offsetof(struct lb_args, field)

static const struct flag flags[] = {
    {"strategy", 's', FLAG_WORDS, TO(strategies), LB_FLAGS_SELECT, "NAME[,NAME...]",
     "strategies by name, all, locks, queues or controls, or a file ./my.sql"},
    {"database", 'd', FLAG_WORDS, TO(targets), LB_FLAGS_SELECT, "URI",
     "the database; may be repeated; default: a temporary SQLite file"},
    {"database", 'd', FLAG_WORDS, TO(targets), LB_FLAGS_LINT, "URI",
     "also has this server prepare every statement; may be repeated"},
    {"database", 'd', FLAG_WORDS, TO(targets), LB_FLAGS_SHOW, "ENGINE",
     "sqlite, postgres or mariadb, or a URI; default: postgres where it has statements for it"},
    {"strategy", 's', FLAG_WORDS, TO(strategies), LB_FLAGS_RECORD, "PATH",
     "the program: an executable file, see docs/programs.md"},
    {"database", 'd', FLAG_WORDS, TO(targets), LB_FLAGS_RECORD, "URI",
     "the PostgreSQL server; the program has a database of its own there"},
    {"output", 'o', FLAG_TEXT, TO(output), LB_FLAGS_RECORD, "FILE.sql",
     "the strategy file to write; only one that record has written is replaced"},
    {"scenario", 'S', FLAG_WORDS, TO(scenarios), LB_FLAGS_SCENARIO, "NAME[,NAME...]",
     "scenarios by name, or a file ./my.ini; default: mutex-hot for locks, drain for queues"},
    {"opt", 0, FLAG_WORDS, TO(options),
     LB_FLAGS_SELECT | LB_FLAGS_SHOW | LB_FLAGS_LINT | LB_FLAGS_RECORD, "NAME=VALUE",
     "sets an option of the strategy; may be repeated"},
    {"sql-dir", 0, FLAG_TEXT, TO(sql_dir), LB_FLAGS_SELECT, "DIR",
     "reads statements from DIR/<strategy>/<engine>.sql, where that file exists"},
    {"faults", 0, FLAG_TEXT, TO(faults), LB_FLAGS_FAULTS, "NAME[,NAME...]",
     "runs each scenario once under each fault: all" LB_FAULT_NAMES ", skew"},
    {"restart-command", 0, FLAG_TEXT, TO(restart), LB_FLAGS_RUN, "COMMAND",
     "for the fault restart: a command that kills the server of -d and starts it again; the "
     "server must be private"},
    {"failover-command", 0, FLAG_TEXT, TO(failover), LB_FLAGS_RUN, "COMMAND",
     "for the faults failover, partition and cancel-sync: a command that is run with STEP set to "
     "stall, failover or split, and rebuild; the servers of -d must be private"},
    {"with", 0, FLAG_TEXT, TO(with), LB_FLAGS_WITH, "OLD.sql",
     "every second worker runs this version, on the same tables; see lockbench(1)"},
    {"matrix", 0, FLAG_SWITCH, TO(matrix), LB_FLAGS_MATRIX, NULL,
     "runs each strategy at each isolation level of each target and prints one table "
     "(--format %s)"},
    {"no-explore", 0, FLAG_SWITCH, TO(no_explore), LB_FLAGS_EXPLORED, NULL,
     "does not explore interleavings, as with -S or a scenario key"},
    {"plan", 0, FLAG_SWITCH, TO(show_plan), LB_FLAGS_EXPLORED, NULL,
     "runs nothing: prints what a strategy file would be asked, and why"},
    {"strict", 0, FLAG_SWITCH, TO(strict), LB_FLAGS_EXPLORED, NULL,
     "exit status 5 if anything was not tested"},
    {"budget", 0, FLAG_TEXT, TO(budget), LB_FLAGS_EXPLORED, "TIME",
     "how long a strategy file is asked at most, on each engine (60s)"},
    {"budget", 0, FLAG_TEXT, TO(budget), LB_FLAGS_MUTATE, "TIME",
     "the maximum time for all mutants together (5m)"},
    {"mutant", 0, FLAG_TEXT, TO(mutant), LB_FLAGS_MUTATE, "N",
     "prints mutant N, or without two conditions N+M"},
    {"jobs", 0, FLAG_TEXT, TO(jobs), LB_FLAGS_MUTATE, "N",
     "asks mutants in N processes at a time (1)"},
    {"fail-under", 0, FLAG_TEXT, TO(fail_under), LB_FLAGS_MUTATE, "SHARE",
     "exits with 4 if fewer mutants are distinguished: 90%"},
    {"format", 0, FLAG_TEXT, TO(format), LB_FLAGS_MUTATE, "FORMAT", "%s"},
    {"slo", 0, FLAG_TEXT, TO(plan.slo), LB_FLAGS_PLAN, "PXX<TIME",
     "also finds the highest arrival rate that keeps this percentile of the wait below TIME"},
    {"demand", 0, FLAG_TEXT, TO(plan.demand), LB_FLAGS_PLAN, "RATE",
     "also says how many workers this rate needs, and how much headroom is left"},
    {"at", 0, FLAG_TEXT, TO(plan.at), LB_FLAGS_PLAN, "N",
     "number of workers for --slo and for the stated throughput (default: nearest the peak)"},
    {"arrivals", 0, FLAG_TEXT, TO(plan.arrivals), LB_FLAGS_PLAN, "KIND",
     "with --slo: poisson (the default) or even"},
    {"seed", 0, FLAG_TEXT, TO(seed),
     LB_FLAGS_RUN | LB_FLAGS_EXPLORE | LB_FLAGS_PLAN | LB_FLAGS_MUTATE, "N",
     "seed of all random choices"},
    {"repeat", 0, FLAG_TEXT, TO(repeat), LB_FLAGS_RUN | LB_FLAGS_PLAN, "N",
     "number of runs of each cell, interleaved in random order; the table shows medians"},
    {"budget", 0, FLAG_TEXT, TO(budget), LB_FLAGS_BASELINE, "TIME",
     "rounds go on until all is decided, at most so long; 60s for each table if not given"},
    {"reference", 0, FLAG_TEXT, TO(reference), LB_FLAGS_BASELINE, "NAME",
     "the strategy that the others are compared with; the fastest that held if not given"},
    {"published", 0, FLAG_SWITCH, TO(published), LB_FLAGS_BASELINE, NULL,
     "also runs published protocols that are known to be broken, and shows how each breaks"},
    {"verbose", 'v', FLAG_SWITCH, TO(verbose), LB_FLAGS_BASELINE | LB_FLAGS_PLAN, NULL,
     "prints all tables, warnings and settings below the answer"},
    {"price", 0, FLAG_TEXT, TO(price), LB_FLAGS_BASELINE | LB_FLAGS_PLAN, "PRICE",
     "price of an hour of the server, and of a worker: 0.40/h,worker=0.05/h; for a million jobs"},
    {"after-setup", 0, FLAG_WORDS, TO(after_setup), LB_FLAGS_RUN | LB_FLAGS_PLAN, "[NAME:]FILE.sql",
     "runs these statements after the tables are made, on the server NAME or on all: indexes, ..."},
    {"resume", 0, FLAG_TEXT, TO(resume), LB_FLAGS_RUN | LB_FLAGS_PLAN, "DIR",
     "continues an interrupted result in DIR: does only the missing runs"},
    {"keep", 0, FLAG_SWITCH, TO(keep), LB_FLAGS_RUN | LB_FLAGS_EXPLORE | LB_FLAGS_PLAN, NULL,
     "does not drop the tables at the end"},
    {"costs", 0, FLAG_SWITCH, TO(costs), LB_FLAGS_COSTS, NULL,
     "shows costs per success on the server and on this machine, and samples wait events"},
    {"series", 0, FLAG_TEXT, TO(series), LB_FLAGS_COSTS, "FILE",
     "writes a row for each second to FILE (CSV): rate, waits, backlog, CPU, the server's figures"},
    {"metrics", 0, FLAG_TEXT, TO(metrics_at), LB_FLAGS_COSTS, "[HOST:]PORT",
     "serves live figures to Prometheus at http://HOST:PORT/metrics, to this machine only; 0: any "
     "free port"},
    {"top", 0, FLAG_SWITCH, TO(top), LB_FLAGS_COSTS, NULL,
     "shows throughput, latency, workers, faults and overlaps on the whole terminal while runs go "
     "on"},
    {"no-record", 0, FLAG_SWITCH, TO(no_record), LB_FLAGS_RUN | LB_FLAGS_PLAN, NULL,
     "records no history: measures only, tests no guarantee"},
    {"history-limit", 0, FLAG_TEXT, TO(history_limit), LB_FLAGS_RUN, "N",
     "judges and drops completed items of a queue each N events of its history (500k); 0: at the "
     "end"},
    {"keep-history", 0, FLAG_SWITCH, TO(keep_history), LB_FLAGS_RUN, NULL,
     "stores the recorded histories in the result's directory (needs -o)"},
    {"trace", 0, FLAG_TEXT, TO(trace), LB_FLAGS_RUN, "FILE",
     "writes each statement of a program on PostgreSQL to FILE, as a line of JSON"},
    {"format", 0, FLAG_WORDS, TO(formats), LB_FLAGS_OUTPUT, "FORMAT[:FILE]",
     "%s, to standard output or to a file; may be repeated"},
    {"output", 'o', FLAG_TEXT, TO(output), LB_FLAGS_OUTPUT, "DIR",
     "stores the result in DIR/<time>-<name>/"},
    {"output", 'o', FLAG_TEXT, TO(output), LB_FLAGS_REPORT, "FILE",
     "where to write the page; - is standard output; default: DIR/report.html"},
    {"charts", 0, FLAG_SWITCH, TO(charts), LB_FLAGS_OUTPUT, NULL,
     "draws charts even if the output is not a terminal"},
    {"json", 0, FLAG_SWITCH, TO(json),
     LB_FLAGS_OUTPUT | LB_FLAGS_DIFF | LB_FLAGS_EXPLORE | LB_FLAGS_CHECK | LB_FLAGS_LIST |
         LB_FLAGS_SHOW | LB_FLAGS_AGE,
     NULL, "the same as --format json"},
    {"dry-run", 0, FLAG_SWITCH, TO(dry_run), LB_FLAGS_RUN | LB_FLAGS_PLAN, NULL,
     "runs nothing and connects to nothing: prints what would be run, and how long it takes"},
    {"progress", 'P', FLAG_TEXT, TO(progress), LB_FLAGS_OUTPUT, "TIME",
     "prints a line on stderr every TIME; a plain number is seconds"},
    {"quiet", 'q', FLAG_SWITCH, TO(quiet), LB_FLAGS_OUTPUT | LB_FLAGS_EXPLORE, NULL,
     "shows no progress on stderr"},
    {"save", 0, FLAG_TEXT, TO(save), LB_FLAGS_BASELINE, "NAME",
     "stores the result as results/NAME (with -o DIR: DIR/NAME), for --baseline and diff"},
    {"baseline", 0, FLAG_TEXT, TO(baseline), LB_FLAGS_BASELINE, "NAME",
     "compares with the result saved as NAME; exits as diff does"},
    {"threshold", 0, FLAG_TEXT, TO(threshold), LB_FLAGS_DIFF | LB_FLAGS_BASELINE, "SHARE",
     "treats a slowdown up to this as noise (5%)"},
    {"metric", 0, FLAG_WORDS, TO(metrics), LB_FLAGS_DIFF | LB_FLAGS_BASELINE, "NAME[,NAME...]",
     "what to compare: rate (default), p50, p95, p99, cpu; may be repeated"},
    {"allow", 0, FLAG_WORDS, TO(allowed), LB_FLAGS_DIFF | LB_FLAGS_BASELINE, "KEY",
     "compares even if this key of the configuration differs; may be repeated"},
    {"format", 0, FLAG_TEXT, TO(format), LB_FLAGS_DIFF, "FORMAT", "%s"},
    {"no-color", 0, FLAG_SWITCH, TO(no_color), LB_FLAGS_OUTPUT | LB_FLAGS_DIFF, NULL,
     "prints no colour, as does NO_COLOR in the environment"},
    {"workers", 0, FLAG_TEXT, TO(explore.workers), LB_FLAGS_EXPLORE, "N",
     "number of workers; for a queue: consumers (2)"},
    {"rounds", 0, FLAG_TEXT, TO(explore.rounds), LB_FLAGS_EXPLORE, "N",
     "rounds of each worker: acquire to release, or claim to complete (1)"},
    {"readers", 0, FLAG_TEXT, TO(explore.readers), LB_FLAGS_EXPLORE, "N",
     "locks: number of workers that acquire in shared mode (0)"},
    {"capacity", 0, FLAG_TEXT, TO(explore.capacity), LB_FLAGS_EXPLORE, "N",
     "locks: number of allowed holders (1)"},
    {"items", 0, FLAG_TEXT, TO(explore.items), LB_FLAGS_EXPLORE, "N",
     "queues: number of items at the start (one per claim)"},
    {"producers", 0, FLAG_TEXT, TO(explore.producers), LB_FLAGS_EXPLORE, "N",
     "queues: number of workers that put one item in each round (0)"},
    {"rescuers", 0, FLAG_TEXT, TO(explore.rescuers), LB_FLAGS_EXPLORE, "N",
     "number of rescuers: each runs recover once per round, at any time (0)"},
    {"blockers", 0, FLAG_TEXT, TO(explore.blockers), LB_FLAGS_EXPLORE, "N",
     "number of sessions that lock all rows, change none, and let them go, once per round (0)"},
    {"renewals", 0, FLAG_TEXT, TO(explore.renewals), LB_FLAGS_EXPLORE, "N",
     "number of heartbeats in each hold, or for each item that was claimed (0)"},
    {"frees", 0, FLAG_TEXT, TO(explore.frees), LB_FLAGS_EXPLORE, "N",
     "queues: number of rounds of each worker that end with free, before the others (0)"},
    {"late", 0, FLAG_TEXT, TO(explore.late), LB_FLAGS_EXPLORE, "N",
     "queues: number of workers that claim one item each when all others have ended (0)"},
    {"also", 0, FLAG_TEXT, TO(explore.also), LB_FLAGS_EXPLORE, "LIST",
     "plays: errors (of a queue), cancels (of a lock), others (classes), skew, lag, ahead, behind, "
     "period, equal, again (of a queue), apart, halves (of a lock)"},
    {"resources", 0, FLAG_TEXT, TO(explore.resources), LB_FLAGS_EXPLORE, "N",
     "locks: number of resources that each worker holds at once (1)"},
    {"claims", 0, FLAG_TEXT, TO(explore.claims), LB_FLAGS_EXPLORE, "LIST",
     "judges these guarantees instead of those that the strategy claims"},
    {"batch", 0, FLAG_TEXT, TO(explore.batch), LB_FLAGS_EXPLORE, "N",
     "queues: items that a worker has in hand at once (1): of one claim, or of as many claims if "
     "each takes one item"},
    {"isolation", 0, FLAG_TEXT, TO(explore.isolation), LB_FLAGS_EXPLORE, "LEVEL",
     "read-committed, repeatable-read or serializable"},
    {"steps", 0, FLAG_TEXT, TO(explore.steps), LB_FLAGS_EXPLORE, "LIST",
     "also explores clock (a lease runs out once), crash (a worker dies between two statements) "
     "and cut (a commit's answer is lost with the connection)"},
    {"ttl", 0, FLAG_TEXT, TO(explore.ttl), LB_FLAGS_EXPLORE, "TIME", "length of a lease (10 min)"},
    {"polls", 0, FLAG_TEXT, TO(explore.polls), LB_FLAGS_EXPLORE, "N",
     "gives an operation up after N refused tries that changed something (5)"},
    {"preemptions", 0, FLAG_TEXT, TO(explore.preemptions), LB_FLAGS_EXPLORE, "N",
     "tries only schedules with at most N switches away from a worker that could continue"},
    {"random", 0, FLAG_TEXT, TO(explore.random), LB_FLAGS_EXPLORE, "N",
     "tries N random schedules (PCT) instead of all"},
    {"depth", 0, FLAG_TEXT, TO(explore.depth), LB_FLAGS_EXPLORE, "N",
     "with --random: number of priority changes, plus one (3)"},
    {"first", 0, FLAG_SWITCH, TO(explore.first), LB_FLAGS_EXPLORE, NULL,
     "stops at the first violation of any guarantee"},
    {"no-reduction", 0, FLAG_SWITCH, TO(explore.no_reduction), LB_FLAGS_EXPLORE, NULL,
     "tries equivalent orders as well"},
    {"audit", 0, FLAG_TEXT, TO(explore.audit), LB_FLAGS_EXPLORE, "SHARE",
     "time for schedules that were left out, of the search's (10%; 0: none)"},
    {"max-schedules", 0, FLAG_TEXT, TO(explore.max_schedules), LB_FLAGS_EXPLORE, "N",
     "stops after N schedules"},
    {"choices", 0, FLAG_TEXT, TO(explore.choices), LB_FLAGS_EXPLORE, "N",
     "how often to replay a step in which the engine chose who continues (10)"},
    {"time", 0, FLAG_TEXT, TO(explore.time), LB_FLAGS_EXPLORE, "TIME", "stops after TIME"},
    {"replay", 0, FLAG_TEXT, TO(explore.replay), LB_FLAGS_EXPLORE, "SCHEDULE",
     "runs one schedule, as printed with a violation, and judges it"},
    {"spec", 0, FLAG_TEXT, TO(explore.spec), LB_FLAGS_EXPLORE, "FILE",
     "writes a violating schedule for PostgreSQL's isolationtester"},
    {"aged", 0, FLAG_TEXT, TO(age.aged), LB_FLAGS_AGE, "STATE[,STATE...]",
     "what fills the tables: finished, failed, delayed, claimed, waiting, other-class, "
     "dead (finished,failed,delayed)"},
    {"rows", 0, FLAG_TEXT, TO(age.rows), LB_FLAGS_AGE, "N",
     "the most items of each state (64000); the sizes below are a fourth each"},
    {"statistics", 0, FLAG_TEXT, TO(age.statistics), LB_FLAGS_AGE, "KIND",
     "the server's statistics of the tables: fresh (the default), stale or default"},
    {"slo", 0, FLAG_TEXT, TO(age.slo), LB_FLAGS_AGE, "PXX<TIME",
     "also says at how many items a claim alone takes that long"},
    {"demand", 0, FLAG_TEXT, TO(age.demand), LB_FLAGS_AGE, "RATE",
     "items put per second, such as 300/s: numbers of items become days"},
    {"model", 0, FLAG_TEXT, TO(check.model), LB_FLAGS_CHECK, "MODEL",
     "mutex, reentrant, semaphore:K, rwlock, lease, queue or fifo; not needed for lockbench's "
     "own files"},
    {"strict", 0, FLAG_SWITCH, TO(check.strict), LB_FLAGS_CHECK, NULL,
     "of a queue: judges fifo, and with it whether \"empty\" was said only of an empty queue"},
    {"claims", 0, FLAG_TEXT, TO(check.claims), LB_FLAGS_CHECK, "LIST",
     "judges these guarantees instead of the model's"},
    {"release", 0, FLAG_TEXT, TO(check.release), LB_FLAGS_CHECK, "SEMANTICS",
     "what a failed release means: belief (no longer held; the default) or state (still held)"},
    {"progress-bound", 0, FLAG_TEXT, TO(check.progress), LB_FLAGS_CHECK, "TIME",
     "the longest wait that is allowed"},
    {"recovery-bound", 0, FLAG_TEXT, TO(check.recovery), LB_FLAGS_CHECK, "TIME",
     "the longest time from a holder's death to the next grant"},
    {"uncertainty", 0, FLAG_TEXT, TO(check.uncertainty), LB_FLAGS_CHECK, "TIME[,TIME...]",
     "how far the files' clocks may be off: one value for all, or one for each file"},
    {"threads", 0, FLAG_TEXT, TO(check.threads), LB_FLAGS_CHECK, "1|2",
     "how many threads read and judge; the result is the same"},
    {"ignore", 0, FLAG_TEXT, TO(check.ignore), LB_FLAGS_CHECK, "NAME[,NAME...]",
     "operations to ignore; * for all unknown ones"},
    {"export", 0, FLAG_TEXT, TO(check.export), LB_FLAGS_CHECK, "FORMAT",
     "writes the history as edn or jsonl instead of judging it"},
    {"plain", 0, FLAG_SWITCH, TO(check.plain), LB_FLAGS_CHECK, NULL,
     "judges without shortcuts, which takes longer; with --export: writes only what Knossos' and "
     "Jepsen's models know"},
    {"strategy", 's', FLAG_WORDS, TO(strategies), LB_FLAGS_LIST, "NAME[,NAME...]",
     "prints all about these strategies: source, options, known breaks, and changes from the "
     "source"},
    {"names", 0, FLAG_SWITCH, TO(names), LB_FLAGS_LIST, NULL,
     "prints names only, one on each line"},
    {"format", 0, FLAG_TEXT, TO(format),
     LB_FLAGS_EXPLORE | LB_FLAGS_AGE | LB_FLAGS_CHECK | LB_FLAGS_LIST, "FORMAT", "%s"},
    {"as", 0, FLAG_TEXT, TO(as), LB_FLAGS_SHOW, "CLIENT",
     "with the placeholders of psql, mysql, sqlite, jdbc or libpq, ready to paste"},
    {"format", 0, FLAG_TEXT, TO(format), LB_FLAGS_SHOW, "FORMAT",
     "of a stored result: %s; default: text"},
    {"help", 'h', FLAG_SWITCH, TO(help), LB_FLAGS_GENERAL, NULL,
     "shows this help; --help all: every option"},
};

static const struct {
    unsigned group;
    const char *title;
} titles[] = {
    {LB_FLAGS_SELECT, "What to run:"},
    {LB_FLAGS_WITH, "During a deploy:"},
    {LB_FLAGS_SHOW, "What to show:"},
    {LB_FLAGS_LINT, "What to ask:"},
    {LB_FLAGS_RECORD, "What to record:"},
    {LB_FLAGS_MATRIX, "Instead of TAP:"},
    {LB_FLAGS_EXPLORED, "Beside the scenarios:"},
    {LB_FLAGS_FAULTS, "What goes wrong:"},
    {LB_FLAGS_PLAN, "What to plan:"},
    {LB_FLAGS_RUN, "How to run it:"},
    {LB_FLAGS_COSTS, "What to measure:"},
    {LB_FLAGS_EXPLORE, "What to explore:"},
    {LB_FLAGS_MUTATE, "What to leave out:"},
    {LB_FLAGS_AGE, "How it ages:"},
    {LB_FLAGS_CHECK, "How to judge:"},
    {LB_FLAGS_SCENARIO, "Scenario (each key of the .ini file; see lockbench-scenario(5)):"},
    {LB_FLAGS_DIFF, "How to compare:"},
    {LB_FLAGS_BASELINE, "Against an earlier result:"},
    {LB_FLAGS_OUTPUT, "Output:"},
    {LB_FLAGS_LIST, "Output:"},
    {LB_FLAGS_REPORT, "Output:"},
    {LB_FLAGS_GENERAL, "General:"},
};

enum {
    MOST_FLAGS = 160,
    GROUPS = sizeof titles / sizeof titles[0],
    FLAGS = sizeof flags / sizeof flags[0],
    KEY_VALUE = 1000,    /* popt's value of the first key's flag */
    NO_KEY_VALUE = 2000, /* and of --no-<key> */
    PGBENCH_VALUE = 3000 /* and of the first of pgbench_flags */
};

/* Short options as in pgbench. There, numbers have no units. */
static const struct {
    char letter;
    const char *key, *unit, *argument, *help;
} pgbench_flags[] = {{'c', "workers", "", "N", "as of pgbench: --workers"},
                     {'j', "threads", "", "N", "as of pgbench: --threads"},
                     {'T', "duration", "s", "SECONDS", "as of pgbench: --duration"},
                     {'R', "rate", "/s", "RATE", "as of pgbench: --rate; a number is per second"}};
enum { PGBENCH_FLAGS = sizeof pgbench_flags / sizeof pgbench_flags[0] };

/* popt's tables, made for one command. */
struct tables {
    struct poptOption top[GROUPS + 1];
    struct poptOption options[MOST_FLAGS + GROUPS];
    char no_names[MOST_FLAGS][32];
    char format_help[2][300]; /* of flags whose help names formats */
    size_t n_format_help;
    size_t n_options, n_top, n_no_names;
};

static void add_option(struct tables *tables, const char *name, char letter, unsigned popt_type,
                       int value, const char *help, const char *argument)
{
    tables->options[tables->n_options++] = (struct poptOption){.longName = name,
                                                               .shortName = letter,
                                                               .argInfo = popt_type,
                                                               .val = value,
                                                               .descrip = help,
                                                               .argDescrip = argument};
}

/* "shape" belongs to the scenario's file: on a command line the strategy decides it. */
static bool key_is_flag(const struct lb_key *key)
{
    return key->type != LB_KEY_SHAPE;
}

static void add_key_options(struct tables *tables)
{
    for (size_t i = 0; lb_scenario_keys[i].name != NULL; i++) {
        const struct lb_key *key = &lb_scenario_keys[i];
        if (!key_is_flag(key))
            continue;
        if (key->type != LB_KEY_FLAG) {
            add_option(tables, key->name, 0, POPT_ARG_STRING, KEY_VALUE + (int)i, key->help,
                       key->argument);
            continue;
        }
        char *no_name = tables->no_names[tables->n_no_names++];
        snprintf(no_name, sizeof tables->no_names[0], "no-%s", key->name);
        add_option(tables, key->name, 0, POPT_ARG_NONE, KEY_VALUE + (int)i, key->help, NULL);
        add_option(tables, no_name, 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN,
                   NO_KEY_VALUE + (int)i, NULL, NULL);
    }
    for (int i = 0; i < PGBENCH_FLAGS; i++)
        add_option(tables, NULL, pgbench_flags[i].letter, POPT_ARG_STRING, PGBENCH_VALUE + i,
                   pgbench_flags[i].help, pgbench_flags[i].argument);
}

/* The flag's help, with the names of the formats where it has "%s". */
static const char *help_of(struct tables *tables, const struct flag *flag,
                           const struct lb_command *command, unsigned group)
{
    const char *gap = strstr(flag->help, "%s");
    struct lb_format_names formats;
    char names[200];
    if (gap == NULL)
        return flag->help;
    lb_formats_of(&formats, group, command);
    assert(tables->n_format_help < sizeof tables->format_help / sizeof tables->format_help[0]);
    char *help = tables->format_help[tables->n_format_help++];
    snprintf(help, sizeof tables->format_help[0], "%.*s%s%s", (int)(gap - flag->help), flag->help,
             lb_formats_text(&formats, " or ", names, sizeof names), gap + 2);
    return help;
}

static void make_tables(struct tables *tables, const struct lb_command *command)
{
    memset(tables, 0, sizeof *tables);
    for (size_t g = 0; g < GROUPS; g++) {
        unsigned group = titles[g].group;
        if ((command->groups & group) == 0)
            continue;
        struct poptOption *first = &tables->options[tables->n_options];
        if (group == LB_FLAGS_SCENARIO)
            add_key_options(tables);
        for (size_t i = 0; i < FLAGS; i++)
            if (flags[i].groups & group)
                add_option(tables, flags[i].name, flags[i].letter,
                           flags[i].kind == FLAG_SWITCH ? POPT_ARG_NONE : POPT_ARG_STRING,
                           (int)i + 1, help_of(tables, &flags[i], command, group),
                           flags[i].argument);
        tables->n_options++; /* the zeroed entry that ends this group */
        tables->top[tables->n_top++] = (struct poptOption){
            .argInfo = POPT_ARG_INCLUDE_TABLE, .arg = first, .descrip = titles[g].title};
    }
}

/* --- values --- */

const char *lb_words_add(struct lb_words *words, const char *word, size_t n)
{
    char **place = lb_array_add(&words->words, &words->n, sizeof *place);
    return *place = lb_strndup(word, n);
}

void lb_words_release(struct lb_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->words[i]);
    free(words->words);
    *words = (struct lb_words){0};
}

/* Takes value over. */
static int add_override(struct lb_args *args, const struct lb_key *key, char *value,
                        struct lb_error *err)
{
    struct lb_override *override =
        lb_array_add(&args->overrides, &args->n_overrides, sizeof *override);
    *override = (struct lb_override){key, value};
    int rc = lb_sweep_check(key, value, err);
    if (rc == LB_E_USAGE) { /* "workers: ..." becomes "option --workers: ..." */
        struct lb_error why = *err;
        lb_fail(err, rc, "option --%s", why.message);
    }
    return rc;
}

/* Takes value over. */
static int take_pgbench(struct lb_args *args, int flag, char *value, struct lb_error *err)
{
    const struct lb_key *key = lb_scenario_key(pgbench_flags[flag].key);
    const char *colon = strrchr(value, ':'); /* "poisson:800" */
    const char *number = colon != NULL ? colon + 1 : value;
    bool is_number = number[0] != '\0' && strspn(number, "0123456789.") == strlen(number);
    if (!is_number)
        return add_override(args, key, value, err);
    char *with_unit = lb_format("%s%s", value, pgbench_flags[flag].unit);
    free(value);
    return add_override(args, key, with_unit, err);
}

/* Takes one option's value over; value is NULL for switches. */
static int take(struct lb_args *args, int option, char *value, struct lb_error *err)
{
    if (option >= PGBENCH_VALUE)
        return take_pgbench(args, option - PGBENCH_VALUE, value, err);
    if (option >= KEY_VALUE) {
        bool negated = option >= NO_KEY_VALUE;
        const struct lb_key *key = &lb_scenario_keys[option - (negated ? NO_KEY_VALUE : KEY_VALUE)];
        if (key->type == LB_KEY_FLAG)
            value = lb_strdup(negated ? "no" : "yes");
        return add_override(args, key, value, err);
    }
    const struct flag *flag = &flags[option - 1];
    void *field = (char *)args + flag->offset;
    switch (flag->kind) {
    case FLAG_SWITCH:
        *(bool *)field = true;
        break;
    case FLAG_TEXT:
        free(*(char **)field);
        *(char **)field = value;
        break;
    case FLAG_WORDS:
    default:
        lb_words_add(field, value, strlen(value));
        free(value);
    }
    return 0;
}

/* "unknown option --wrkers; did you mean --workers?" */
static int unknown_option(const struct tables *tables, const char *given,
                          const struct lb_command *command, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128], dashed[LB_NEAREST_NAMES][40];
    size_t dashes = strspn(given, "-"), length = strcspn(given + dashes, "=");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), given + dashes);
    if (strcmp(name, "check-file") == 0)
        return lb_fail(err, LB_E_USAGE,
                       "option --check-file is a command of its own: lockbench lint FILE");
    lb_nearest_init(&nearest, name);
    for (size_t i = 0; i < tables->n_options; i++)
        if (tables->options[i].longName != NULL)
            lb_nearest_offer(&nearest, tables->options[i].longName);
    for (size_t i = 0; i < nearest.n; i++) {
        snprintf(dashed[i], sizeof dashed[i], "--%s", nearest.names[i]);
        nearest.names[i] = dashed[i];
    }
    return lb_fail(err, LB_E_USAGE, "unknown option %.*s for %s%s", (int)(dashes + length), given,
                   command->name, lb_nearest_text(&nearest, text, sizeof text));
}

/* --json is --format json, whichever way the command takes that. */
static int take_json(struct lb_args *args, struct lb_error *err)
{
    static const char json[] = "json";
    if (!args->json)
        return 0;
    if ((args->command->groups & LB_FLAGS_OUTPUT) != 0) {
        lb_words_add(&args->formats, json, strlen(json));
        return 0;
    }
    if (args->format != NULL && strcmp(args->format, json) != 0)
        return lb_fail(err, LB_E_USAGE, "option --json: not together with --format %s",
                       args->format);
    free(args->format);
    args->format = lb_strdup(json);
    return 0;
}

static int parse_progress(struct lb_args *args, struct lb_error *err)
{
    static const char kind[] = "a time above 0, such as 5s";
    uint64_t seconds;
    if (args->progress == NULL)
        return 0;
    int rc = lb_parse_count(args->progress, &seconds);
    if (rc == 0 && seconds < MOST_PROGRESS_S)
        args->progress_ns = seconds * UINT64_C(1000000000);
    else if (rc == 0 || rc == LB_UNITS_LARGE)
        return lb_fail(err, LB_E_USAGE, "option --progress: '%s' is too large: below %d s",
                       args->progress, MOST_PROGRESS_S);
    else if ((rc = lb_take_time("progress", args->progress, kind, &args->progress_ns, err)) != 0)
        return rc;
    if (args->progress_ns == 0)
        return lb_fail(err, LB_E_USAGE, "option --progress: '%s' is not %s", args->progress, kind);
    return args->quiet ? lb_fail(err, LB_E_USAGE, "option --progress: not together with --quiet")
                       : 0;
}

static int parse_numbers(struct lb_args *args, struct lb_error *err)
{
    static const char from_1s[] = "a time from 1s, such as 3m";
    int rc = take_json(args, err);
    if (rc == 0)
        rc = lb_format_check(args, err);
    if (rc == 0)
        rc = parse_progress(args, err);
    if (rc != 0)
        return rc;
    /* Seeds are exact in every JSON reader: below 2^53. A drawn one is short enough to type. */
    args->seed_number = lb_random_seed() & 0xffffffff;
    args->n_repeat = 1;
    if (args->seed != NULL && (lb_parse_count(args->seed, &args->seed_number) != 0 ||
                               args->seed_number >= UINT64_C(1) << 53))
        return lb_fail(err, LB_E_USAGE, "option --seed: '%s' is not a number below 2^53",
                       args->seed);
    if (lb_take_count("repeat", args->repeat, 1, 10000, &args->n_repeat, err) != 0)
        return LB_E_USAGE;
    if (lb_take_time("budget", args->budget, from_1s, &args->budget_ns, err) != 0)
        return LB_E_USAGE;
    if (args->budget != NULL && args->budget_ns < UINT64_C(1000000000))
        return lb_fail(err, LB_E_USAGE, "option --budget: '%s' is not %s", args->budget, from_1s);
    if (args->keep_history && args->output == NULL && args->save == NULL && args->resume == NULL)
        return lb_fail(err, LB_E_USAGE,
                       "option --keep-history: needs -o DIR to keep the histories in");
    return 0;
}

static int take_all(struct lb_args *args, poptContext context, const struct tables *tables,
                    struct lb_error *err)
{
    int option;
    while ((option = poptGetNextOpt(context)) > 0) {
        int rc = take(args, option, poptGetOptArg(context), err);
        if (rc != 0)
            return rc;
    }
    const char *given = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    if (option == POPT_ERROR_BADOPT)
        return unknown_option(tables, given, args->command, err);
    if (option < -1)
        return lb_fail(err, LB_E_USAGE, "option %s: %s", given, poptStrerror(option));
    const char *word;
    while ((word = poptGetArg(context)) != NULL) {
        if (args->help && strcmp(word, "all") == 0) {
            args->help_all = true;
            continue;
        }
        size_t length = strlen(word);
        bool is_file = length > 4 && strcmp(word + length - 4, ".sql") == 0;
        if (args->positional.n == args->command->max_positional && is_file)
            return lb_fail(err, LB_E_USAGE,
                           "unexpected argument '%s' for %s: a strategy in a file is -s %s%s", word,
                           args->command->name, strchr(word, '/') == NULL ? "./" : "", word);
        if (args->positional.n == args->command->max_positional)
            return lb_fail(err, LB_E_USAGE, "unexpected argument '%s' for %s", word,
                           args->command->name);
        lb_words_add(&args->positional, word, strlen(word));
    }
    return args->help ? 0 : parse_numbers(args, err);
}

int lb_args_parse(struct lb_args *args, const struct lb_command *command, int argc, char **argv,
                  struct lb_error *err)
{
    struct tables tables;
    *args = (struct lb_args){.command = command};
    make_tables(&tables, command);
    const char **arguments = lb_calloc((size_t)argc + 2, sizeof *arguments);
    arguments[0] = command->name;
    for (int i = 0; i < argc; i++)
        arguments[i + 1] = argv[i];
    poptContext context = poptGetContext(NULL, argc + 1, arguments, tables.top, 0);
    if (context == NULL)
        lb_memory_exhausted(sizeof tables);
    int rc = take_all(args, context, &tables, err);
    poptFreeContext(context);
    free(arguments);
    return rc;
}

void lb_args_release(struct lb_args *args)
{
    lb_words_release(&args->positional);
    for (size_t i = 0; i < args->n_overrides; i++)
        free(args->overrides[i].value);
    free(args->overrides);
    for (size_t i = 0; i < FLAGS; i++) { /* two commands may have a flag of the same name */
        void *value = (char *)args + flags[i].offset;
        if (flags[i].kind == FLAG_WORDS) {
            lb_words_release(value);
        } else if (flags[i].kind == FLAG_TEXT) {
            free(*(char **)value);
            *(char **)value = NULL;
        }
    }
    *args = (struct lb_args){0};
}

bool lb_args_wants(const struct lb_args *args, const char *format)
{
    return args->format != NULL && strcmp(args->format, format) == 0;
}

bool lb_args_give(const struct lb_args *args, const char *key)
{
    for (size_t i = 0; i < args->n_overrides; i++)
        if (strcmp(args->overrides[i].key->name, key) == 0)
            return true;
    return false;
}

enum lb_args_kind lb_args_kind(const struct lb_command *command, const char *name)
{
    const struct lb_key *key =
        (command->groups & LB_FLAGS_SCENARIO) != 0 ? lb_scenario_key(name) : NULL;
    if (key != NULL && key_is_flag(key))
        return key->type == LB_KEY_FLAG ? LB_ARGS_NEGATABLE : LB_ARGS_VALUE;
    for (size_t i = 0; i < FLAGS; i++)
        if ((flags[i].groups & command->groups) != 0 && strcmp(flags[i].name, name) == 0)
            return flags[i].kind == FLAG_SWITCH ? LB_ARGS_SWITCH : LB_ARGS_VALUE;
    return LB_ARGS_UNKNOWN;
}

int lb_args_help(const struct lb_command *command, bool all, FILE *out)
{
    struct tables tables;
    make_tables(&tables, command);
    return lb_help_print(command, tables.top, all, out) ? 0 : -1;
}
