/* A stored result in other formats: see views.h. */
#include "views.h"

#include "append.h"
#include "array.h"
#include "memory.h"
#include "nearest.h"
#include "regular_file.h"
#include "text_clean.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WIDTH = 100 }; /* as without a terminal */

bool lb_view_fits(const struct lb_sink *view, const struct lb_report *report)
{
    bool plans = report->n_plans > 0;
    return view->file != NULL && view != &lb_sink_json &&
           (view->of & (plans ? LB_OF_PLANS : LB_OF_RUNS)) != 0;
}

int lb_view_write(const struct lb_sink *sink, const struct lb_report *report, FILE *out,
                  struct lb_error *err)
{
    struct lb_sink_state state = {
        .out = out, .report = report, .width = WIDTH, .verbose = true, .err = err};
    if (sink->begin != NULL)
        sink->begin(&state);
    for (size_t i = 0; i < report->n_cells && sink->cell != NULL; i++)
        sink->cell(&state, &report->cells[i]);
    if (sink->end != NULL)
        sink->end(&state);
    if (state.rc == 0 && ferror(out))
        return lb_fail(err, LB_E_ENV, "%s", strerror(errno));
    return state.rc;
}

/* ---- reading ---- */

/* The directory of a result, by its path or the name that it was saved under. */
static bool locate(const char *path, const char *file, char *buf, size_t size)
{
    struct stat st;
    const char *const folders[] = {"", "results/"};
    for (size_t i = 0; i < (strchr(path, '/') == NULL ? 2 : 1); i++) {
        snprintf(buf, size, "%s%s/%s", folders[i], path, file);
        if (stat(buf, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

bool lb_result_exists(const char *path)
{
    char file[1000];
    return strlen(path) < 900 && locate(path, "run.json", file, sizeof file);
}

static const struct lb_sink *find_view(const char *format, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128], all[100] = "";
    const struct lb_sink *view;
    lb_nearest_init(&nearest, format);
    for (size_t i = 0; (view = lb_sink_at(i, LB_OF_RUNS)) != NULL; i++) {
        if (view->file == NULL)
            continue;
        if (strcmp(view->name, format) == 0)
            return view;
        lb_nearest_offer(&nearest, view->name);
        lb_append(all, sizeof all, "%s%s", all[0] != '\0' ? ", " : "", view->name);
    }
    lb_fail(err, LB_E_USAGE, "option --format: unknown format '%s'%s (of a stored result: %s)",
            format, lb_nearest_text(&nearest, text, sizeof text), all);
    return NULL;
}

/* A result may come from anywhere: nothing in it controls the terminal. */
static int print_file(FILE *in, FILE *out, struct lb_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int rc = 0;
    while (rc == 0 && (n = getline(&line, &room, in)) > 0) {
        size_t length = (size_t)n;
        bool has_end = line[length - 1] == '\n';
        length -= has_end;
        bool has_return = length > 0 && line[length - 1] == '\r';
        length -= has_return;
        char *clean = lb_clean_copy(line, length);
        if (fprintf(out, "%s%s%s", clean, has_return ? "\r" : "", has_end ? "\n" : "") < 0)
            rc = lb_fail(err, LB_E_ENV, "%s", strerror(errno));
        free(clean);
    }
    free(line);
    return rc;
}

/* Each format is a file of its own: a good one does not prove that the result is complete. */
static int check_whole(const char *path, const struct lb_sink *view, struct lb_error *err)
{
    struct lb_stored stored;
    char name[1000];
    locate(path, "run.json", name, sizeof name);
    int rc = lb_stored_load(name, &stored, err);
    if (rc == 0)
        lb_stored_release(&stored);
    if (rc == 0 || view == &lb_sink_json)
        return rc;
    struct lb_error why = *err;
    return lb_fail(err, rc, "%s; the output is from the %s beside it", why.message, view->file);
}

int lb_result_print(const char *path, const char *format, FILE *out, struct lb_error *err)
{
    char name[1000];
    const struct lb_sink *view = find_view(format != NULL ? format : "text", err);
    if (view == NULL)
        return LB_E_USAGE;
    if (!lb_result_exists(path))
        return lb_fail(err, LB_E_FILE, "%s: no stored result: it has no run.json", path);
    if (!locate(path, view->file, name, sizeof name))
        return lb_fail(err, LB_E_FILE,
                       "%s: has no %s: a plan has text, json and csv only, and results of earlier "
                       "versions json only; lockbench report shows them all",
                       path, view->file);
    FILE *in = lb_regular_file_open(name);
    if (in == NULL)
        return lb_fail(err, LB_E_FILE, "%s: %s", name, lb_regular_file_reason(errno));
    int rc = print_file(in, out, err);
    if (rc == 0 && ferror(in))
        rc = lb_fail(err, LB_E_FILE, "%s: %s", name, strerror(errno));
    fclose(in);
    if (rc == 0)
        rc = check_whole(path, view, err);
    return rc;
}

/* ---- what there is ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void lb_result_names_free(char **names, long n)
{
    for (long i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* Those under a temporary name are being written. */
static bool is_result(const char *directory, const char *name)
{
    char path[1000];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s/run.json", directory, name);
    return name[0] != '.' && stat(path, &st) == 0;
}

long lb_result_names(const char *directory, char ***ret)
{
    char **names = NULL;
    size_t n = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (!is_result(directory, entry->d_name))
            continue;
        char **name = lb_array_add(&names, &n, sizeof *name);
        *name = lb_strdup(entry->d_name);
    }
    if (dir != NULL)
        closedir(dir);
    if (n > 1)
        qsort(names, n, sizeof *names, by_name);
    *ret = names;
    return (long)n;
}
