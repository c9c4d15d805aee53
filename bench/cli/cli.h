/* The command line: a table of commands, one cmd_<verb>.c each.
 *
 * Results go to stdout, progress and messages to stderr. Nothing here exits: every function hands
 * an exit status back, up to main().
 */
#ifndef LB_CLI_H
#define LB_CLI_H

#include "args.h"
#include "complain.h"

struct lb_command {
    const char *name;
    const char *arguments; /* of its usage line, "-s STRATEGY [-d URI]" */
    const char *summary;   /* one line */
    unsigned groups;       /* enum lb_flag_group bits: the flags it takes */
    size_t max_positional;
    enum lb_exit (*run)(const struct lb_args *args);
    /* Instead of run: takes the words after the command's name as they are, and all commands, in
     * the order of --help; name NULL ends. */
    enum lb_exit (*run_words)(const struct lb_command *command, const struct lb_command *commands,
                              int argc, char **argv);
};

enum lb_exit lb_command_list(const struct lb_args *args);
enum lb_exit lb_command_show(const struct lb_args *args);
enum lb_exit lb_command_lint(const struct lb_args *args);
enum lb_exit lb_command_run(const struct lb_args *args);
enum lb_exit lb_command_compare(const struct lb_args *args);
enum lb_exit lb_command_verify(const struct lb_args *args);
enum lb_exit lb_command_plan(const struct lb_args *args);
enum lb_exit lb_command_diff(const struct lb_args *args);
enum lb_exit lb_command_explore(const struct lb_args *args);
enum lb_exit lb_command_mutate(const struct lb_args *args);
enum lb_exit lb_command_age(const struct lb_args *args);
enum lb_exit lb_command_record(const struct lb_args *args);
enum lb_exit lb_command_report(const struct lb_args *args);
enum lb_exit lb_command_check(const struct lb_args *args);
enum lb_exit lb_command_experiment(const struct lb_command *command,
                                   const struct lb_command *commands, int argc, char **argv);

/* The whole program. */
enum lb_exit lb_cli_main(int argc, char **argv);

#endif
