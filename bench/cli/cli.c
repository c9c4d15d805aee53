/* The program: the table of commands, their choice, and the help. */
#include "cli.h"
#include "nearest.h"
#include "signals.h"
#include "title.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MEASURES                                                                                   \
    (LB_FLAGS_SELECT | LB_FLAGS_RUN | LB_FLAGS_OUTPUT | LB_FLAGS_SCENARIO | LB_FLAGS_GENERAL)

static const struct lb_command commands[] = {
    {"list", "[strategies | scenarios | engines | guarantees | faults | formats | results [DIR]]",
     "Lists what is built in, or the stored results.", LB_FLAGS_LIST | LB_FLAGS_GENERAL, 2,
     lb_command_list, NULL},
    {"show", "NAME|FILE.sql|DIR [-d ENGINE] [--as CLIENT] [OPTION...]",
     "Prints a strategy's statements, ready to paste; or a stored result.",
     LB_FLAGS_SHOW | LB_FLAGS_GENERAL, 1, lb_command_show, NULL},
    {"lint", "FILE... [-d URI]... [--opt NAME=VALUE]...",
     "Checks strategy files without running them.", LB_FLAGS_LINT | LB_FLAGS_GENERAL, 1000,
     lb_command_lint, NULL},
    {"run", "-s STRATEGY [-d URI] [-S SCENARIO] [OPTION...]",
     "Runs one strategy under one scenario and judges it.",
     MEASURES | LB_FLAGS_COSTS | LB_FLAGS_WITH, 0, lb_command_run, NULL},
    {"compare", "[-s A,B|all] [-d URI]... [-S SCENARIO,...] [OPTION...]",
     "Runs strategies side by side and judges them.", MEASURES | LB_FLAGS_COSTS | LB_FLAGS_BASELINE,
     0, lb_command_compare, NULL},
    {"verify", "[-s A,B|all] [-d URI]... [-S SCENARIO,...] [OPTION...]",
     "Checks every guarantee, and prints one line of TAP for each.",
     MEASURES | LB_FLAGS_FAULTS | LB_FLAGS_MATRIX | LB_FLAGS_EXPLORED | LB_FLAGS_WITH, 0,
     lb_command_verify, NULL},
    {"plan", "-s A,B [-d URI] [--slo SLO] [--demand RATE] [OPTION...]",
     "Sizes a system: what N workers carry, how many a demand needs.",
     LB_FLAGS_SELECT | LB_FLAGS_PLAN | LB_FLAGS_OUTPUT | LB_FLAGS_SCENARIO | LB_FLAGS_GENERAL, 0,
     lb_command_plan, NULL},
    {"diff", "BASE NEW [OPTION...]", "Compares two stored results: is the new one slower?",
     LB_FLAGS_DIFF | LB_FLAGS_GENERAL, 2, lb_command_diff, NULL},
    {"report", "DIR... [-o FILE.html]", "Shows stored results as one HTML page.",
     LB_FLAGS_REPORT | LB_FLAGS_GENERAL, 1000, lb_command_report, NULL},
    {"explore", "-s STRATEGY [-d URI] [OPTION...]",
     "Tries every interleaving of a few workers' statements.",
     LB_FLAGS_SELECT | LB_FLAGS_EXPLORE | LB_FLAGS_WITH | LB_FLAGS_GENERAL, 0, lb_command_explore,
     NULL},
    {"mutate", "-s STRATEGY [-d URI] [--budget TIME] [OPTION...]",
     "Leaves out one clause at a time: which of them protects the lock?",
     LB_FLAGS_SELECT | LB_FLAGS_MUTATE | LB_FLAGS_GENERAL, 0, lb_command_mutate, NULL},
    {"age", "-s A,B [-d URI]... [--slo SLO] [--demand RATE] [OPTION...]",
     "Shows what an old table costs: finished, failed and delayed items.",
     LB_FLAGS_SELECT | LB_FLAGS_AGE | LB_FLAGS_GENERAL, 0, lb_command_age, NULL},
    {"record", "-s PROGRAM -d URI -o FILE.sql [--opt NAME=VALUE]...",
     "Writes what a program sends to PostgreSQL as a strategy file.",
     LB_FLAGS_RECORD | LB_FLAGS_GENERAL, 0, lb_command_record, NULL},
    {"check", "FILE... [OPTION...]", "Judges a recorded history, from lockbench or another tool.",
     LB_FLAGS_CHECK | LB_FLAGS_GENERAL, 1000, lb_command_check, NULL},
    {.name = "experiment",
     .arguments = "FILE [SECTION...] [OPTION...]",
     .summary = "Runs the commands of a file as one experiment.",
     .groups = LB_FLAGS_GENERAL,
     .run_words = lb_command_experiment},
    {.name = NULL},
};

static void print_help(FILE *out)
{
    fputs("Usage: lockbench COMMAND [OPTION...]\n"
          "Tests and benchmarks locks and job queues that live in SQL tables.\nCommands:\n",
          out);
    for (const struct lb_command *command = commands; command->name != NULL; command++)
        fprintf(out, "  %-10s %s\n", command->name, command->summary);
    fputs("\nlockbench COMMAND --help shows a command's common options, --help all every one;\n"
          "lockbench --version shows the version. The manual is lockbench(1).\n"
          "Exit status: 0 all as claimed; 1 a guarantee was violated; 2 usage or bad file;\n"
          "3 environment; 4 regression or SLO missed; 5 inconclusive; 130 interrupted.\n",
          out);
}

static const struct lb_command *find_command(const char *name)
{
    for (const struct lb_command *command = commands; command->name != NULL; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

static enum lb_exit unknown_command(const char *name)
{
    struct lb_nearest nearest;
    struct lb_error err;
    char text[128];
    lb_nearest_init(&nearest, name);
    for (const struct lb_command *command = commands; command->name != NULL; command++)
        lb_nearest_offer(&nearest, command->name);
    lb_nearest_text(&nearest, text, sizeof text);
    lb_fail(&err, LB_E_USAGE, "unknown command '%s'%s", name,
            text[0] != '\0' ? text : "; see lockbench --help");
    return lb_cli_complain(&err);
}

static enum lb_exit run_command(const struct lb_command *command, int argc, char **argv)
{
    struct lb_args args;
    struct lb_error err;
    enum lb_exit status;
    if (command->run_words != NULL)
        return command->run_words(command, commands, argc, argv);
    int rc = lb_args_parse(&args, command, argc, argv, &err);
    if (rc == 0 && !args.help && (command->groups & LB_FLAGS_SELECT) != 0)
        rc = lb_cli_check_clock(&err);
    if (rc != 0)
        status = lb_cli_complain(&err);
    else if (args.help)
        status =
            lb_args_help(command, args.help_all, stdout) == 0 ? LB_EXIT_OK : LB_EXIT_ENVIRONMENT;
    else
        status = command->run(&args);
    lb_args_release(&args);
    return status;
}

static enum lb_exit choose(int argc, char **argv)
{
    enum lb_exit status = LB_EXIT_OK;
    const char *first = argc > 1 ? argv[1] : NULL;
    const struct lb_command *command;
    if (first == NULL) {
        print_help(stderr);
        return LB_EXIT_USAGE;
    }
    if (strcmp(first, "--version") == 0) {
        puts("lockbench " LB_VERSION);
    } else if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 ||
               (strcmp(first, "help") == 0 && argc == 2)) {
        print_help(stdout);
    } else if (strcmp(first, "help") == 0) {
        command = find_command(argv[2]);
        if (command == NULL)
            return unknown_command(argv[2]);
        lb_args_help(command, argc > 3 && strcmp(argv[3], "all") == 0, stdout);
    } else {
        command = find_command(first);
        if (command == NULL)
            return unknown_command(first);
        status = run_command(command, argc - 2, argv + 2);
    }
    /* A full disk behind a redirection shows up here at the latest. A verdict that could not be
     * written does not count. */
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        int reason = errno;
        if (lb_reader_is_gone())
            lb_end_by_sigpipe();
        /* The failed write has not kept the reason, and the text is lost anyway. */
        if (reason == 0 && write(STDOUT_FILENO, "\n", 1) < 0)
            reason = errno;
        fprintf(stderr, "lockbench: standard output: %s\n",
                reason != 0 ? strerror(reason) : "not all could be written");
        status = LB_EXIT_ENVIRONMENT;
    }
    return status;
}

enum lb_exit lb_cli_main(int argc, char **argv)
{
    /* ps shows the arguments at their original address: ours are copies. */
    char **copies = lb_title_take(argc, argv);
    enum lb_exit status = choose(argc, copies);
    lb_title_free(copies);
    return status;
}
