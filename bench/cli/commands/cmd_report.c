/* lockbench report: stored results as one HTML page that needs nothing else. */
#include "cli.h"
#include "memory.h"
#include "output.h"
#include "page.h"
#include "text_clean.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the page goes: -o, or report.html in the one result's directory. */
static int choose_output(const struct lb_args *args, char *buf, size_t size, struct lb_error *err)
{
    const struct lb_words *results = &args->positional;
    struct stat st;
    if (results->n == 0)
        return lb_fail(err, LB_E_USAGE, "report takes results: directories that -o made");
    if (args->output == NULL && results->n > 1)
        return lb_fail(err, LB_E_USAGE, "report of several results needs -o FILE.html");
    if (args->output != NULL)
        snprintf(buf, size, "%s", args->output);
    else if (stat(results->words[0], &st) == 0 && !S_ISDIR(st.st_mode))
        return lb_fail(err, LB_E_USAGE, "%s is not a directory: say with -o where the page goes",
                       results->words[0]);
    else
        snprintf(buf, size, "%s%s/report.html", stat(results->words[0], &st) != 0 ? "results/" : "",
                 results->words[0]);
    return 0;
}

static int write_file(struct lb_stored *results, size_t n, const char *path, struct lb_error *err)
{
    struct lb_output output;
    int rc = lb_output_open(&output, path, err);
    if (rc != 0)
        return rc;
    rc = lb_page_write(results, n, output.file, err);
    if (rc == LB_E_ENV)
        lb_fail_prefix(err, "cannot write %s", path);
    return lb_output_close(&output, rc, err);
}

enum lb_exit lb_command_report(const struct lb_args *args)
{
    struct lb_error err;
    struct stat st;
    char path[1000], shown[1000];
    size_t n = 0;
    struct lb_stored *results = lb_calloc(args->positional.n, sizeof *results);
    int rc = choose_output(args, path, sizeof path, &err);
    while (rc == 0 && n < args->positional.n) {
        rc = lb_page_load(args->positional.words[n], &results[n], &err);
        n += rc == 0;
    }
    bool to_stdout = rc == 0 && strcmp(path, "-") == 0;
    if (rc == 0)
        rc = to_stdout ? lb_page_write(results, n, stdout, &err)
                       : write_file(results, n, path, &err);
    if (rc == 0 && !to_stdout && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        printf("%s (%.1f MB)\n", lb_shown(path, shown, sizeof shown), (double)st.st_size / 1e6);
    for (size_t i = 0; i < n; i++)
        lb_stored_release(&results[i]);
    free(results);
    return rc != 0 ? lb_cli_complain_of_output(&err) : LB_EXIT_OK;
}
