/* lockbench show: a strategy's statements for one engine, with its options filled in; or a stored
 * result, in a format of choice.
 *
 * The output is a strategy file of lockbench-strategy(5): it can be pasted from, changed, and given
 * to -s. Sections that the chosen options leave out are not printed.
 */
#include "cli.h"
#include "select.h"
#include "show_parts.h"
#include "strategy.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

/* The shown strategy, and its source. */
struct shown {
    const struct lb_strategy *strategy;
    struct lb_strategy own; /* of a user's file */
    const struct lb_db *db;
    struct lb_file *file;
    struct lb_program *program;
};

/* -d takes an engine's name here as well as a URI. */
static int find_engine(struct shown *shown, const struct lb_args *args, struct lb_error *err)
{
    struct lb_target target;
    if (args->targets.n > 1)
        return lb_fail(err, LB_E_USAGE, "option --database: show takes one engine");
    if (args->targets.n == 0)
        return 0;
    const char *text = args->targets.words[0];
    shown->db = lb_engine_find(text, strlen(text));
    if (shown->db != NULL)
        return 0;
    if (text[strcspn(text, ":=?/")] == '\0') /* a word alone is no URI */
        return lb_fail(
            err, LB_E_USAGE,
            "option --database: '%s' is no engine: sqlite, postgres or mariadb, or a URI", text);
    int r = lb_target_parse(text, &target, err);
    if (r != 0)
        return r;
    shown->db = target.db;
    lb_target_release(&target);
    return 0;
}

static int open_own(struct shown *shown, const char *path, struct lb_error *err)
{
    if (lb_guest_is(path))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is a program, which has no statements to show; "
                       "lockbench lint %s shows its first line",
                       path, path);
    int r = lb_file_read(path, -1, &shown->file, err);
    if (r != 0)
        return r;
    lb_strategy_of_file(shown->file, &shown->own);
    shown->strategy = &shown->own;
    for (size_t e = 0; shown->db == NULL && lb_engines[e] != NULL; e++)
        if (lb_file_supports(shown->file, lb_engines[e], err))
            shown->db = lb_engines[e];
    if (shown->db == NULL)
        return LB_E_UNSUPPORTED;
    return lb_file_supports(shown->file, shown->db, err) ? 0 : LB_E_UNSUPPORTED;
}

/* Without -d: PostgreSQL, or the first engine that the strategy has statements for. */
static const struct lb_embedded *embedded(struct shown *shown)
{
    const struct lb_db *preferred = lb_engine_find("postgres", strlen("postgres"));
    const struct lb_embedded *found = NULL;
    if (shown->db != NULL)
        return lb_embedded_find(shown->strategy->name, shown->db->name);
    if (preferred != NULL)
        found = lb_embedded_find(shown->strategy->name, preferred->name);
    shown->db = found != NULL ? preferred : NULL;
    for (size_t e = 0; found == NULL && lb_engines[e] != NULL; e++) {
        found = lb_embedded_find(shown->strategy->name, lb_engines[e]->name);
        shown->db = lb_engines[e];
    }
    return found;
}

static int open_built_in(struct shown *shown, const char *name, struct lb_error *err)
{
    char origin[80];
    shown->strategy = lb_strategy_find(name);
    if (shown->strategy == NULL)
        return lb_select_unknown(name, err);
    if (shown->strategy->no_database)
        return lb_fail(err, LB_E_USAGE, "%s has no statements: it runs without a database", name);
    const struct lb_embedded *sql = embedded(shown);
    if (sql == NULL)
        return lb_fail(err, LB_E_USAGE, "%s has no statements for %s", name, shown->db->product);
    snprintf(origin, sizeof origin, "sql/%s/%s.sql", name, shown->db->name);
    return lb_file_parse(origin, (const char *)sql->text, *sql->length, (int)shown->strategy->shape,
                         &shown->file, err);
}

static int open_program(struct shown *shown, const struct lb_args *args, struct lb_error *err)
{
    struct lb_setting settings[LB_PLAIN_SETTINGS];
    int r = lb_select_plain(&args->options, settings, err);
    return r != 0 ? r
                  : lb_program_new(shown->file, shown->db, shown->strategy->options, settings,
                                   args->options.n, &shown->program, err);
}

/* A strategy's name comes first: a result of the same name has a path. */
static bool is_result(const char *what)
{
    return lb_strategy_find(what) == NULL && lb_result_exists(what);
}

static enum lb_exit show_result(const struct lb_args *args)
{
    struct lb_error err;
    if (args->targets.n > 0 || args->options.n > 0 || args->as != NULL)
        lb_fail(&err, LB_E_USAGE, "option %s: is for a strategy, and %s is a stored result",
                args->targets.n > 0   ? "-d"
                : args->options.n > 0 ? "--opt"
                                      : "--as",
                args->positional.words[0]);
    else if (lb_result_print(args->positional.words[0], args->format, stdout, &err) == 0)
        return LB_EXIT_OK;
    return err.code == LB_E_ENV ? lb_cli_complain_of_output(&err) : lb_cli_complain(&err);
}

enum lb_exit lb_command_show(const struct lb_args *args)
{
    struct shown shown = {0};
    enum lb_client client = LB_CLIENT_FILE;
    struct lb_error err;
    if (args->positional.n == 1 && is_result(args->positional.words[0]))
        return show_result(args);
    int r = args->positional.n == 1
                ? find_engine(&shown, args, &err)
                : lb_fail(&err, LB_E_USAGE,
                          "show takes one thing: a strategy's name, a file ./my.sql, or the "
                          "directory of a stored result");
    if (r == 0 && args->format != NULL)
        r = lb_fail(&err, LB_E_USAGE, "option --format: is for stored results, and %s is none",
                    args->positional.words[0]);
    if (r == 0 && args->as != NULL)
        r = lb_client_find(args->as, &shown.db, &client, &err);
    if (r == 0) {
        const char *what = args->positional.words[0];
        size_t length = strlen(what);
        bool is_file =
            strchr(what, '/') != NULL || (length > 4 && strcmp(what + length - 4, ".sql") == 0);
        r = is_file ? open_own(&shown, what, &err) : open_built_in(&shown, what, &err);
    }
    if (r == 0)
        r = open_program(&shown, args, &err);
    if (r == 0) {
        lb_show_header(shown.strategy, shown.file, shown.program, stdout);
        lb_client_legend(shown.program, client);
        if (client == LB_CLIENT_FILE)
            lb_show_sections(shown.program, stdout);
        else
            lb_client_sections(shown.program, client);
    }
    lb_program_free(shown.program);
    lb_file_free(shown.file);
    return r == 0 ? LB_EXIT_OK : lb_cli_complain(&err);
}
