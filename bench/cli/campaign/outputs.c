/* The outputs of a campaign while it runs: see outputs.h. */
#include "outputs.h"

#include "format_names.h"
#include "memory.h"
#include "series.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The canonical path of a place; a missing part keeps its names. NULL: there is none. */
static char *place_of(const char *path)
{
    char *real = realpath(path, NULL), *joined = NULL;
    if (real != NULL)
        return real;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    size_t end = n;
    while (n > 0 && path[n - 1] != '/')
        n--;
    char *folder = n > 0 ? lb_strndup(path, n > 1 ? n - 1 : n) : lb_strdup(".");
    real = end > 0 ? place_of(folder) : NULL;
    if (real != NULL && end - n == 1 && path[n] == '.')
        joined = lb_strdup(real);
    else if (real != NULL)
        joined = lb_format("%s/%.*s", real, (int)(end - n), path + n);
    free(folder);
    free(real);
    return joined;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    if (stat(a, &one) == 0 && stat(b, &other) == 0)
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    char *place = place_of(a), *second = place_of(b);
    bool is = place != NULL && second != NULL && strcmp(place, second) == 0;
    free(place);
    free(second);
    return is;
}

/* NULL: standard output. */
static bool is_same_place(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0 || is_same_file(a, b);
}

/* With 2>&1 a reader would be told of each failure twice. */
static bool is_one_stream(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

static struct lb_written *add(struct lb_outputs *outputs, const struct lb_sink *sink,
                              const char *path)
{
    const struct lb_args *args = outputs->args;
    bool terminal = path == NULL && lb_terminal_is(STDOUT_FILENO);
    struct lb_written *written = &outputs->all[outputs->n++];
    *written = (struct lb_written){
        .sink = sink,
        .path = path,
        .state = {.out = stdout,
                  .report = outputs->report,
                  .color = terminal && !args->no_color && lb_terminal_color(STDOUT_FILENO),
                  .charts = args->charts || terminal,
                  .utf8 = lb_terminal_utf8(),
                  .terminal = terminal,
                  .has_stderr = path == NULL && !terminal && !is_one_stream(),
                  .verbose = args->verbose || path != NULL,
                  .width = lb_terminal_width(path == NULL ? STDOUT_FILENO : -1),
                  .err = outputs->err}};
    return written;
}

static int check_place(const struct lb_outputs *outputs, const struct lb_sink *sink,
                       const char *path)
{
    for (size_t i = 0; i < outputs->n; i++) {
        const struct lb_written *other = &outputs->all[i];
        if (!is_same_place(other->path, path))
            continue;
        if (path == NULL)
            return lb_fail(outputs->err, LB_E_USAGE,
                           "option --format: %s and %s cannot both go to standard output; write "
                           "one to a file: --format %s:FILE",
                           other->sink->name, sink->name, sink->name);
        return lb_fail(outputs->err, LB_E_USAGE, "option --format: %s and %s cannot both go to %s",
                       other->sink->name, sink->name, path);
    }
    /* One is kept for standard output. */
    return outputs->n < LB_OUTPUTS_MOST - 1
               ? 0
               : lb_fail(outputs->err, LB_E_USAGE, "option --format: more than %d times",
                         LB_OUTPUTS_MOST - 1);
}

static struct lb_written *of_stdout(struct lb_outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->all[i].path == NULL)
            return &outputs->all[i];
    return add(outputs, outputs->usual, NULL);
}

int lb_outputs_choose(struct lb_outputs *outputs, unsigned of)
{
    const struct lb_words *words = &outputs->args->formats;
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->words[i], *colon = strchr(word, ':');
        const char *path = colon == NULL || strcmp(colon, ":-") == 0 ? NULL : colon + 1;
        const struct lb_sink *sink = lb_sink_find(word, strcspn(word, ":"), of);
        if (sink == NULL) {
            struct lb_format_names formats;
            lb_formats_of_sinks(&formats, of);
            return lb_format_unknown(&formats, word, outputs->err);
        }
        if (path != NULL && path[0] == '\0')
            return lb_fail(outputs->err, LB_E_USAGE, "option --format: '%s' names no file", word);
        int rc = check_place(outputs, sink, path);
        if (rc != 0)
            return rc;
        add(outputs, sink, path);
    }
    of_stdout(outputs);
    return 0;
}

int lb_outputs_open(struct lb_outputs *outputs)
{
    int rc = 0;
    for (; outputs->n_open < outputs->n && rc == 0; outputs->n_open += rc == 0) {
        struct lb_written *written = &outputs->all[outputs->n_open];
        if (written->path == NULL)
            continue;
        rc = lb_output_open(&written->output, written->path, outputs->err);
        written->state.out = written->output.file;
    }
    if (rc != 0)
        return lb_fail_prefix(outputs->err, "option --format");
    rc = outputs->args->series != NULL
             ? lb_output_open(&outputs->series, outputs->args->series, outputs->err)
             : 0;
    return rc == 0 ? 0 : lb_fail_prefix(outputs->err, "option --series");
}

/* Writes --series, or with an error before it leaves its file as it was. */
static int end_series(struct lb_outputs *outputs, int rc)
{
    if (outputs->series.file == NULL)
        return rc;
    struct lb_error err;
    int written = rc == 0 ? lb_series_write(outputs->report, outputs->series.file, &err) : rc;
    written = lb_output_close(&outputs->series, written, &err);
    outputs->series.file = NULL;
    if (rc != 0 || written == 0)
        return rc;
    *outputs->err = err;
    return lb_fail_prefix(outputs->err, "option --series: %s", outputs->args->series);
}

void lb_outputs_begin(struct lb_outputs *outputs, struct lb_outlook *const *outlooks, size_t n)
{
    for (size_t i = 0; i < outputs->n; i++) {
        struct lb_written *written = &outputs->all[i];
        if (written->sink->begin != NULL)
            written->sink->begin(&written->state);
        for (size_t k = 0; written->sink == &lb_sink_tap && k < n; k++)
            lb_outlook_tell_plan(outlooks[k], written->state.out);
    }
}

void lb_outputs_cell(struct lb_outputs *outputs, const struct lb_cell *cell)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->all[i].sink->cell != NULL)
            outputs->all[i].sink->cell(&outputs->all[i].state, cell);
}

int lb_outputs_end(struct lb_outputs *outputs, struct lb_outlook *const *outlooks, size_t n,
                   bool *ret_stdout)
{
    int worst = 0;
    *ret_stdout = false;
    for (size_t i = 0; i < outputs->n; i++) {
        struct lb_written *written = &outputs->all[i];
        if (written->sink->end != NULL)
            written->sink->end(&written->state);
        for (size_t k = 0; written->sink == &lb_sink_tap && k < n; k++)
            lb_outlook_tell_end(outlooks[k], outputs->report, written->state.out,
                                written->state.has_stderr ? stderr : NULL);
        int rc = written->state.rc;
        if (rc != 0 && written->path != NULL)
            lb_fail_prefix(outputs->err, "%s", written->path);
        if (written->path != NULL)
            rc = lb_output_close(&written->output, rc, outputs->err);
        if (rc != 0 && worst == 0) {
            worst = rc;
            *ret_stdout = written->path == NULL;
        }
    }
    outputs->n_open = 0;
    return end_series(outputs, worst);
}

void lb_outputs_fail(struct lb_outputs *outputs)
{
    struct lb_written *written = of_stdout(outputs);
    struct lb_error ignored;
    for (size_t i = 0; i < outputs->n_open; i++)
        if (outputs->all[i].path != NULL)
            lb_output_close(&outputs->all[i].output, LB_E_ENV, &ignored);
    end_series(outputs, LB_E_ENV);
    if (written->sink->fail != NULL)
        written->sink->fail(&written->state);
}

bool lb_outputs_have(const struct lb_outputs *outputs, const struct lb_sink *sink)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->all[i].sink == sink)
            return true;
    return false;
}

bool lb_outputs_print(const struct lb_outputs *outputs, const char *name)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->all[i].path == NULL)
            return strcmp(outputs->all[i].sink->name, name) == 0;
    return false;
}
