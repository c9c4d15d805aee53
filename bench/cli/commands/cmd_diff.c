/* lockbench diff: a regression gate between two stored results. */
#include "cli.h"
#include "regression.h"
#include "terminal.h"

#include <unistd.h>

static int parse(const struct lb_args *args, struct lb_diff_options *options, struct lb_error *err)
{
    if (args->positional.n != 2)
        return lb_fail(err, LB_E_USAGE,
                       "diff takes two results, BASE and NEW: directories that -o made");
    return lb_gate_options(args, options, err);
}

static int print(const struct lb_args *args, const struct lb_diff *diff, struct lb_error *err)
{
    if (lb_args_wants(args, "json"))
        return lb_diff_json(diff, stdout, err);
    if (lb_args_wants(args, "markdown"))
        return lb_diff_markdown(diff, stdout, err);
    lb_diff_text(diff, stdout, !args->no_color && lb_terminal_color(STDOUT_FILENO),
                 lb_terminal_is(STDOUT_FILENO), lb_terminal_width(STDOUT_FILENO));
    return 0;
}

enum lb_exit lb_command_diff(const struct lb_args *args)
{
    struct lb_diff_options options;
    struct lb_stored base = {0}, new = {0};
    struct lb_diff diff = {0};
    struct lb_error err;
    int rc = parse(args, &options, &err);
    if (rc == 0)
        rc = lb_stored_load(args->positional.words[0], &base, &err);
    if (rc == 0)
        rc = lb_stored_load(args->positional.words[1], &new, &err);
    if (rc == 0)
        rc = lb_diff_make(&base, &new, &options, &diff, &err);
    if (rc == 0)
        rc = print(args, &diff, &err);
    enum lb_exit status = rc != 0 ? lb_cli_complain_of_output(&err) : lb_gate_status(&diff);
    lb_diff_release(&diff);
    lb_stored_release(&base);
    lb_stored_release(&new);
    return status;
}
