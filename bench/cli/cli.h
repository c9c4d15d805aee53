/* The command line: a table of commands, one cmd_<verb>.c each.
 *
 * Results go to stdout, progress and messages to stderr. Nothing here exits: every function hands
 * an exit status back, up to main().
 */
#ifndef LB_CLI_H
#define LB_CLI_H

#include "args.h"
#include "error.h"

enum lb_exit {
    LB_EXIT_OK = 0,           /* all as claimed */
    LB_EXIT_VIOLATED = 1,     /* a guarantee was violated */
    LB_EXIT_USAGE = 2,        /* a wrong option or name, a bad file */
    LB_EXIT_ENVIRONMENT = 3,  /* cannot connect, no permission, disk full, server gone */
    LB_EXIT_REGRESSION = 4,   /* slower than the base, or an SLO missed */
    LB_EXIT_INCONCLUSIVE = 5, /* the measurement does not hold, or lockbench itself is wrong */
    LB_EXIT_INTERRUPTED = 130 /* by a signal; what was measured is still written */
};

/* The exit status that an enum lb_errcode stands for. */
enum lb_exit lb_exit_of(int errcode);
/* The graver of two statuses. */
enum lb_exit lb_exit_worse(enum lb_exit a, enum lb_exit b);

struct lb_command {
    const char *name;
    const char *arguments; /* of its usage line, "-s STRATEGY [-d URI]" */
    const char *summary;   /* one line */
    unsigned groups;       /* enum lb_flag_group bits: the flags it takes */
    size_t max_positional;
    enum lb_exit (*run)(const struct lb_args *args);
    /* Instead of run: takes the words after the command's name as they are. */
    enum lb_exit (*run_words)(const struct lb_command *command, int argc, char **argv);
};

/* Commands in the order of --help; name NULL ends. */
extern const struct lb_command lb_commands[];

enum lb_exit lb_command_list(const struct lb_args *args);
enum lb_exit lb_command_show(const struct lb_args *args);
enum lb_exit lb_command_lint(const struct lb_args *args);
enum lb_exit lb_command_run(const struct lb_args *args);
enum lb_exit lb_command_compare(const struct lb_args *args);
enum lb_exit lb_command_verify(const struct lb_args *args);
enum lb_exit lb_command_plan(const struct lb_args *args);
enum lb_exit lb_command_diff(const struct lb_args *args);
enum lb_exit lb_command_explore(const struct lb_args *args);
enum lb_exit lb_command_record(const struct lb_args *args);
enum lb_exit lb_command_report(const struct lb_args *args);
enum lb_exit lb_command_check(const struct lb_args *args);
enum lb_exit lb_command_experiment(const struct lb_command *command, int argc, char **argv);

/* For what measures: LB_E_ENV where the monotonic clock is not the system's. */
int lb_cli_check_clock(struct lb_error *err);

/* The whole program. */
enum lb_exit lb_cli_main(int argc, char **argv);

/* "lockbench: message" on stderr; returns the exit status that the error stands for. */
enum lb_exit lb_cli_complain(const struct lb_error *err);
/* The same for a command that was printing: what standard output does not take is told once, at
 * the end of the program. */
enum lb_exit lb_cli_complain_of_output(const struct lb_error *err);

#endif
