/* lockbench diff: a regression gate between two stored results. */
#include "cli.h"
#include "diff.h"
#include "terminal.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "5%" or "0.05". */
static int parse_threshold(const char *text, double *ret, struct lb_error *err)
{
    char number[32];
    size_t n = strlen(text);
    bool percent = n > 0 && text[n - 1] == '%';
    double value = -1;
    if (n < sizeof number) {
        memcpy(number, text, n + 1);
        if (percent)
            number[n - 1] = '\0';
        if (lb_parse_double(number, &value) == 0 && percent)
            value /= 100;
    }
    if (!(value >= 0 && value < 10))
        return lb_fail(err, LB_E_USAGE, "option --threshold: '%s' is not a share such as 5%%",
                       text);
    *ret = value;
    return 0;
}

/* --metric p99,rate */
static int parse_metrics(const char *text, struct lb_diff_options *options, struct lb_error *err)
{
    while (*text != '\0') {
        char name[16];
        size_t n = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        int metric = lb_metric_parse(name);
        if (metric < 0)
            return lb_fail(err, LB_E_USAGE,
                           "option --metric: unknown metric '%.*s' (rate, p50, p95, p99, cpu)",
                           (int)n, text);
        options->metrics[metric] = true;
        text += n + (text[n] == ',');
    }
    return 0;
}

static int parse(const struct lb_args *args, struct lb_diff_options *options, struct lb_error *err)
{
    *options = (struct lb_diff_options){.threshold = 0.05,
                                        .allowed = (const char *const *)args->allowed.words,
                                        .n_allowed = args->allowed.n};
    int rc = 0;
    if (args->positional.n != 2)
        return lb_fail(err, LB_E_USAGE,
                       "diff takes two results, BASE and NEW: directories that -o made");
    if (args->format != NULL && strcmp(args->format, "text") != 0 &&
        strcmp(args->format, "json") != 0 && strcmp(args->format, "markdown") != 0)
        return lb_fail(err, LB_E_USAGE,
                       "option --format: unknown format '%s' (text, json, markdown)", args->format);
    if (args->threshold != NULL)
        rc = parse_threshold(args->threshold, &options->threshold, err);
    for (size_t i = 0; i < args->metrics.n && rc == 0; i++)
        rc = parse_metrics(args->metrics.words[i], options, err);
    if (args->metrics.n == 0)
        options->metrics[LB_METRIC_RATE] = true;
    return rc;
}

static int print(const struct lb_args *args, const struct lb_diff *diff, struct lb_error *err)
{
    const char *format = args->format != NULL ? args->format : "text";
    if (strcmp(format, "json") == 0)
        return lb_diff_json(diff, stdout, err);
    if (strcmp(format, "markdown") == 0)
        return lb_diff_markdown(diff, stdout, err);
    return lb_diff_text(diff, stdout, !args->no_color && lb_terminal_color(STDOUT_FILENO),
                        lb_terminal_width(STDOUT_FILENO), err);
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
    enum lb_exit status = LB_EXIT_OK;
    if (rc != 0)
        status = lb_cli_complain(&err);
    else if (diff.n_violated > 0)
        status = LB_EXIT_VIOLATED;
    else if (diff.n_outcomes[LB_DIFF_SLOWER] > 0)
        status = LB_EXIT_REGRESSION;
    else if (diff.n_outcomes[LB_DIFF_INCONCLUSIVE] > 0)
        status = LB_EXIT_INCONCLUSIVE;
    lb_diff_release(&diff);
    lb_stored_release(&base);
    lb_stored_release(&new);
    return status;
}
