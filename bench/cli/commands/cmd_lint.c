/* lockbench lint: checks a strategy's file without running it.
 *
 * Mistakes end it; likely mistakes are warnings. Without a server the file is read for each engine
 * that it supports, with each choice of each option. With -d, its setup is run in a space of its
 * own, the server is asked to prepare every statement, and everything is removed again; nothing of
 * the protocol is executed.
 */
#include "cli.h"
#include "select.h"
#include "text_clean.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The resources to ask one server; all released at the end. */
struct asking {
    struct lb_target target;
    struct lb_space *space;
    struct lb_session session;
    bool has_session;
    struct lb_program *program;
};

static int prepare_all(struct asking *ask, const struct lb_strategy *strategy, struct lb_error *err)
{
    static const uint32_t capacity[1] = {1};
    struct lb_strategy_plan plan = {.strategy = strategy,
                                    .program = ask->program,
                                    .space_no = ask->target.db->space_number(ask->space),
                                    .n_resources = 1,
                                    .capacity = capacity,
                                    .ttl_ms = 30000};
    struct lb_runner runner = {0};
    int r = strategy->flow->setup(&plan, &ask->session, err);
    bool is_set_up = r == 0;
    if (r == 0)
        r = lb_runner_init(&runner, ask->program, &ask->session, err);
    if (r == 0)
        r = lb_runner_prepare(&runner, err);
    lb_runner_release(&runner);
    /* Also behind an error: what the file makes outside of its space would be in the way of the
     * next time. */
    struct lb_error closing = {0};
    int torn = is_set_up ? strategy->flow->teardown(&plan, &ask->session, &closing) : 0;
    if (r == 0 && torn != 0)
        *err = closing;
    return r != 0 ? r : torn;
}

static int ask_server(struct asking *ask, const char *uri, const struct lb_file *file,
                      const struct lb_setting *settings, size_t n_settings, struct lb_error *err)
{
    struct lb_strategy strategy;
    struct lb_conn_options options = {.role = "check", .lock_timeout_ms = 10000};
    lb_strategy_of_file(file, &strategy);
    int r = lb_target_parse(uri, &ask->target, err);
    if (r != 0)
        return r;
    if (!lb_file_supports(file, ask->target.db, err))
        return LB_E_UNSUPPORTED;
    r = lb_program_new(file, ask->target.db, strategy.options, settings, n_settings, &ask->program,
                       err);
    if (r != 0)
        return r;
    r = ask->target.db->space_open(&ask->target, strategy.name, &ask->space, err);
    if (r != 0)
        return r;
    r = lb_session_open(&ask->session, ask->target.db, ask->space, &options, err);
    ask->has_session = r == 0;
    return r == 0 ? prepare_all(ask, &strategy, err) : r;
}

static int check_on(const char *uri, const struct lb_file *file, const struct lb_setting *settings,
                    size_t n_settings, struct lb_error *err)
{
    struct asking ask = {0};
    struct lb_error closing;
    int r = ask_server(&ask, uri, file, settings, n_settings, err);
    if (ask.has_session)
        lb_session_close(&ask.session);
    if (ask.space != NULL && ask.target.db->space_close(ask.space, false, &closing) != 0 &&
        r == 0) {
        *err = closing;
        r = closing.code;
    }
    if (r == 0)
        printf("%s: every statement is prepared by %s\n", lb_file_strategy(file), ask.target.label);
    lb_program_free(ask.program);
    lb_target_release(&ask.target);
    return r;
}

/* Of a program: its first line, as it was understood. */
static int check_program(const char *path, const struct lb_setting *settings, size_t n_settings,
                         struct lb_error *err)
{
    struct lb_guest *guest;
    uint32_t start_ms = 0;
    int r = lb_guest_limit("start_ms", settings, n_settings, &start_ms, err);
    if (r == 0)
        r = lb_guest_new(path, start_ms, &guest, err);
    if (r != 0)
        return r;
    const struct lb_strategy *strategy = lb_guest_strategy(guest);
    char version[100];
    snprintf(version, sizeof version, "%s", lb_guest_version(guest));
    printf("%s: a program%s%s, a %s%s, for %s; it claims", strategy->name,
           version[0] != '\0' ? ", version " : "", lb_clean_text(version),
           lb_shape_name(strategy->shape), strategy->is_lease ? " with a lease" : "",
           strategy->engines);
    for (int i = 0; i < LB_GUARANTEES; i++)
        if ((strategy->claims & LB_G_BIT(i)) != 0)
            printf(" %s", lb_guarantee_name((enum lb_guarantee)i));
    printf("\n");
    for (const struct lb_option *o = strategy->options; o->name != NULL; o++)
        printf("  --opt %s=%s\n", o->name, o->default_value);
    lb_guest_free(guest);
    return 0;
}

/* --- warnings --- */

struct warnings {
    const char *path;
    int lines[32]; /* of those that another engine's variant may repeat */
    size_t n;
};

static bool is_new(struct warnings *w, int line)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->lines[i] == line)
            return false;
    if (w->n < sizeof w->lines / sizeof w->lines[0])
        w->lines[w->n++] = line;
    return true;
}

static void warn_of_features(struct warnings *w, const struct lb_db *db, const struct lb_file *file,
                             const struct lb_features *f)
{
    unsigned claims = lb_file_claims(file);
    bool is_lock = lb_file_shape(file) == LB_LOCK;
    if ((claims & LB_G_BIT(LB_G_FENCED)) != 0 && !f->has_token && !f->is_held_in_tx &&
        is_new(w, f->begin_line))
        printf("%s:%d: warning: it claims fenced, and nothing uses a column token of %s\n", w->path,
               f->begin_line, is_lock ? "acquire" : "claim");
    if ((claims & LB_G_BIT(LB_G_OWNER_RELEASE)) != 0 && f->unasked_line != 0 &&
        !f->is_session_bound && is_new(w, f->unasked_line))
        printf(
            "%s:%d: warning: it claims owner-release, and %s asks for neither holder nor token\n",
            w->path, f->unasked_line, lb_section_text(f->unasked));
    if (f->renew_line != 0 && !f->renew_asks && !f->is_session_bound && is_new(w, f->renew_line))
        printf("%s:%d: warning: renew checks neither holder nor token: a late worker prolongs "
               "another's hold\n",
               w->path, f->renew_line);
    bool comes_back = lb_features_lease(f) || f->has_recover || f->is_session_bound;
    if ((claims & LB_G_BIT(LB_G_RECOVERY)) != 0 && !comes_back && is_new(w, f->begin_line))
        printf("%s:%d: warning: it claims recovery, and has neither a lease, nor recover, nor "
               "tx=hold\n",
               w->path, f->begin_line);
    if (f->constant_line != 0 && is_new(w, f->constant_line))
        printf(
            "%s:%d: warning: a length of time that no option sets: verify cannot make it short\n",
            w->path, f->constant_line);
    if (f->whole_line != 0 && is_new(w, f->whole_line))
        printf(
            "%s:%d: warning: this time has whole seconds only on %s: a lease or limit that "
            "uses it ends up to a second early or late (MariaDB: NOW(6), datetime(6); PostgreSQL: "
            "clock_timestamp(); SQLite: julianday('now'))\n",
            w->path, f->whole_line, db->name);
}

/* Facts that verdicts depend on and that the file does not state. */
static void ask_for_facts(struct warnings *w, const struct lb_program *program)
{
    char text[200];
    for (int g = 0; g < LB_GUESSES; g++) {
        const struct lb_guess *guess = &program->guesses[g];
        if (guess->line != 0 && is_new(w, guess->line))
            printf("%s:%d: warning: %s; else some verdicts are missing\n", w->path, guess->line,
                   lb_guess_text((enum lb_guessed)g, guess, text, sizeof text));
    }
}

static void warn_of_processes(struct warnings *w, const struct lb_program *program,
                              const struct lb_features *features)
{
    bool is_beat;
    int line = lb_process_unknown(program, features, &is_beat);
    if (line == 0 || !is_new(w, line))
        return;
    if (is_beat)
        printf("%s:%d: warning: heartbeat changes rows of a table into which nothing is inserted: "
               "add a section register, which says that a process is there\n",
               w->path, line);
    else
        printf("%s:%d: warning: it writes down :process, and nothing says which processes are "
               "alive: add the sections register and heartbeat, or let claims end by a time\n",
               w->path, line);
}

/* Is the file for this engine? With -d it is for the engines that are named there. */
static bool is_meant(const struct lb_args *args, const struct lb_db *engine)
{
    struct lb_error ignored;
    bool is = args->targets.n == 0;
    for (size_t i = 0; i < args->targets.n && !is; i++) {
        struct lb_target target = {0};
        is = lb_target_parse(args->targets.words[i], &target, &ignored) == 0 && target.db == engine;
        lb_target_release(&target);
    }
    return is;
}

/* The statements as a run has them, with what it sets for the lease and for delays. */
static int new_program(const struct lb_file *file, const struct lb_db *db,
                       const struct lb_setting *settings, size_t n_settings,
                       struct lb_program **ret_program, struct lb_error *err)
{
    enum { TTL_MS = 30000 };
    struct lb_setting all[LB_PLAIN_SETTINGS + LB_SCALED];
    struct lb_scaled scaled;
    lb_file_scale(file, TTL_MS, false, settings, n_settings, &scaled);
    memcpy(all, scaled.settings, scaled.n_settings * sizeof *all);
    memcpy(all + scaled.n_settings, settings, n_settings * sizeof *all);
    return lb_program_new(file, db, NULL, all, scaled.n_settings + n_settings, ret_program, err);
}

static void warn(const char *path, const struct lb_file *file, const struct lb_args *args,
                 const struct lb_setting *settings)
{
    struct warnings w = {.path = path}, asked = {.path = path};
    const struct lb_option *option;
    struct lb_error ignored;
    size_t from = 0;
    int line = 0;
    char word[40];
    while (lb_file_unknown(file, &line, word, sizeof word))
        printf("%s:%d: warning: \"%s:\" is not a directive: this line is a comment and changes "
               "nothing; lockbench-strategy(5) has all directives\n",
               path, line, word);
    while ((option = lb_file_unused(file, &from, &line)) != NULL)
        printf("%s:%d: warning: option %s is used by no statement and no condition\n", path, line,
               option->name);
    for (size_t e = 0; lb_engines[e] != NULL; e++) {
        struct lb_program *program = NULL;
        struct lb_features features;
        if (!is_meant(args, lb_engines[e]) || !lb_file_supports(file, lb_engines[e], &ignored) ||
            new_program(file, lb_engines[e], settings, args->options.n, &program, &ignored) != 0)
            continue;
        lb_features_read(file, program, &features);
        if (features.has_fixed_lease && !lb_file_is_lease_fixed(file))
            lb_program_guess_lease(program, features.constant_line);
        ask_for_facts(&asked, program);
        warn_of_features(&w, lb_engines[e], file, &features);
        warn_of_processes(&w, program, &features);
        line = lb_replica_unasked(program);
        if (line != 0 && is_new(&w, line))
            printf(
                "%s:%d: warning: a replica lags, and the primary is not asked again for all that "
                "it is asked here: put the conditions into the statement that writes\n",
                path, line);
        lb_program_free(program);
    }
}

static int lint(const char *path, const struct lb_args *args, const struct lb_setting *settings,
                struct lb_error *err)
{
    struct lb_file *file = NULL;
    char shown[PATH_MAX];
    if (lb_guest_is(path))
        return args->targets.n > 0
                   ? lb_fail(err, LB_E_USAGE, "option -d: lint asks no server about a program")
                   : check_program(path, settings, args->options.n, err);
    int r = lb_file_read(path, -1, &file, err);
    if (r == 0)
        r = lb_file_check(file, NULL, err);
    if (r == 0) {
        warn(lb_shown(path, shown, sizeof shown), file, args, settings);
        printf("%s: a %s, right as far as can be said without a server\n", lb_file_strategy(file),
               lb_file_shape(file) == LB_LOCK ? "lock" : "queue");
    }
    for (size_t i = 0; i < args->targets.n && r == 0; i++)
        r = check_on(args->targets.words[i], file, settings, args->options.n, err);
    lb_file_free(file);
    if (r == LB_E_SQL)
        err->code = r =
            LB_E_FILE; /* a statement that the server rejects here is the file's mistake */
    return r;
}

enum lb_exit lb_command_lint(const struct lb_args *args)
{
    struct lb_setting settings[LB_PLAIN_SETTINGS];
    struct lb_error err = {0};
    enum lb_exit status = LB_EXIT_OK;
    int r = lb_select_plain(&args->options, settings, &err);
    if (r == 0 && args->positional.n == 0)
        r = lb_fail(&err, LB_E_USAGE, "lint wants a file: lockbench lint ./my-lock.sql");
    if (r != 0)
        return lb_cli_complain(&err);
    for (size_t i = 0; i < args->positional.n; i++)
        if (lint(args->positional.words[i], args, settings, &err) != 0)
            status = lb_cli_complain(&err);
    return status;
}
