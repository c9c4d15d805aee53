/* Names to things: see select.h. Unknown names are answered with the nearest known ones; nothing is
 * run before every name, file and option is known to be right. */
#include "select.h"
#include "select_parts.h"

#include "array.h"
#include "cli.h"
#include "combinations.h"
#include "fault_scenarios.h"
#include "nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- strategies --- */

static bool is_path(const char *word, const char *ending)
{
    size_t n = strlen(word), e = strlen(ending);
    return strchr(word, '/') != NULL || (n > e && strcmp(word + n - e, ending) == 0);
}

static struct lb_protocol *add_protocol(struct lb_selection *selection)
{
    return lb_array_add(&selection->protocols, &selection->n_protocols,
                        sizeof *selection->protocols);
}

static void add_strategy(struct lb_selection *selection, const struct lb_strategy *strategy,
                         bool is_named)
{
    for (size_t i = 0; i < selection->n_protocols; i++) {
        struct lb_protocol *protocol = &selection->protocols[i];
        if (protocol->strategy == strategy) {
            protocol->is_named |= is_named;
            return;
        }
    }
    struct lb_protocol *protocol = add_protocol(selection);
    protocol->strategy = strategy;
    protocol->path = strategy->name;
    protocol->is_named = is_named;
}

static int add_user_file(struct lb_selection *selection, const char *path, struct lb_error *err)
{
    struct lb_file *file;
    int rc = lb_file_read(path, -1, &file, err);
    if (rc != 0)
        return rc;
    struct lb_protocol *protocol = add_protocol(selection);
    protocol->user_file = file;
    protocol->path = lb_words_add(&selection->texts, path, strlen(path));
    protocol->is_named = true;
    return 0; /* protocol->strategy: once the array has stopped growing */
}

/* How long the program may take to say its first line: wanted before the options are known. */
static int start_limit(const struct lb_args *args, uint32_t *ret_ms, struct lb_error *err)
{
    static const char key[] = "start_ms=";
    struct lb_setting setting = {"start_ms", NULL};
    size_t n = 0;
    for (size_t i = 0; i < args->options.n; i++)
        if (strncmp(args->options.words[i], key, sizeof key - 1) == 0) {
            setting.value = args->options.words[i] + sizeof key - 1;
            n = 1;
        }
    return lb_guest_limit("start_ms", &setting, n, ret_ms, err);
}

static int add_guest(struct lb_selection *selection, const char *path, uint32_t start_ms,
                     struct lb_error *err)
{
    struct lb_guest *guest;
    path = lb_words_add(&selection->texts, path, strlen(path));
    int rc = lb_guest_new(path, start_ms, &guest, err);
    if (rc != 0)
        return rc;
    struct lb_protocol *protocol = add_protocol(selection);
    protocol->guest = guest;
    protocol->strategy = lb_guest_strategy(guest);
    protocol->path = path;
    protocol->is_named = true;
    return 0;
}

int lb_select_unknown(const char *word, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128];
    lb_nearest_init(&nearest, word);
    for (const struct lb_strategy *const *s = lb_strategies; *s != NULL; s++)
        lb_nearest_offer(&nearest, (*s)->name);
    lb_nearest_text(&nearest, text, sizeof text);
    return lb_fail(err, LB_E_USAGE, "unknown strategy '%s'%s", word,
                   text[0] != '\0' ? text : "; see lockbench list strategies");
}

/* all, locks, queues, controls: false if word is none of them. */
static bool in_set(const struct lb_selection *selection, const char *word,
                   const struct lb_strategy *strategy, bool controls, bool *ret_in)
{
    bool wanted = controls || !strategy->is_control;
    if (selection->is_choice)
        wanted = !strategy->is_control &&
                 (selection->with_published || !lb_strategy_is_broken(strategy));
    if (strcmp(word, "all") == 0)
        *ret_in = wanted;
    else if (strcmp(word, "locks") == 0)
        *ret_in = wanted && strategy->shape == LB_LOCK;
    else if (strcmp(word, "queues") == 0)
        *ret_in = wanted && strategy->shape == LB_QUEUE;
    else if (strcmp(word, "controls") == 0)
        *ret_in = strategy->is_control;
    else
        return false;
    return true;
}

static int select_word(struct lb_selection *selection, const char *word, bool controls,
                       struct lb_error *err)
{
    bool is_set = false;
    if (lb_guest_is(word))
        return add_guest(selection, word, selection->start_ms, err);
    if (is_path(word, ".sql"))
        return add_user_file(selection, word, err);
    for (const struct lb_strategy *const *s = lb_strategies; *s != NULL; s++) {
        bool in = strcmp(word, (*s)->name) == 0;
        bool named = in;
        is_set |= in || in_set(selection, word, *s, controls, &in);
        if (in)
            add_strategy(selection, *s, named);
    }
    return is_set ? 0 : lb_select_unknown(word, err);
}

/* Calls take for each of the comma-separated names. */
static int each_name(struct lb_selection *selection, const char *list,
                     int (*take)(struct lb_selection *, const char *, bool, struct lb_error *),
                     bool flag, const char *option, struct lb_error *err)
{
    for (const char *at = list;;) {
        char word[256];
        size_t n = strcspn(at, ",");
        if (n == 0 || n >= sizeof word)
            return lb_fail(err, LB_E_USAGE, "option %s: '%s' has %s name", option, list,
                           n == 0 ? "an empty" : "too long a");
        memcpy(word, at, n);
        word[n] = '\0';
        int rc = take(selection, word, flag, err);
        if (rc != 0)
            return rc;
        if (at[n] == '\0')
            return 0;
        at += n + 1;
    }
}

static int check_sql_dir(const char *dir, struct lb_error *err)
{
    struct stat status;
    if (dir != NULL && (stat(dir, &status) != 0 || !S_ISDIR(status.st_mode)))
        return lb_fail(err, LB_E_FILE, "option --sql-dir: %s is not a directory", dir);
    return 0;
}

/* The built-in statements of a strategy for one engine, or those in sql_dir. *ret_file NULL: none.
 */
static int load_statements(const struct lb_strategy *strategy, const char *engine,
                           const char *sql_dir, struct lb_file **ret_file, struct lb_error *err)
{
    char path[600];
    struct stat status;
    if (sql_dir != NULL) {
        snprintf(path, sizeof path, "%s/%s/%s.sql", sql_dir, strategy->name, engine);
        if (stat(path, &status) == 0)
            return lb_file_read(path, (int)strategy->shape, ret_file, err);
    }
    const struct lb_embedded *embedded = lb_embedded_find(strategy->name, engine);
    if (embedded == NULL) {
        *ret_file = NULL;
        return 0;
    }
    snprintf(path, sizeof path, "sql/%s/%s.sql", strategy->name, engine);
    return lb_file_parse(path, (const char *)embedded->text, *embedded->length,
                         (int)strategy->shape, ret_file, err);
}

/* Several files may have the same name, like two versions of one file, or a built-in's name: the
 * path distinguishes their rows and files. */
static int label_files(struct lb_selection *selection, struct lb_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < selection->n_protocols && rc == 0; i++) {
        struct lb_protocol *protocol = &selection->protocols[i];
        bool is_alone = true;
        if (protocol->user_file == NULL)
            continue;
        /* A program says its name later. */
        for (size_t k = 0; k < selection->n_protocols; k++)
            is_alone &=
                k == i || selection->protocols[k].strategy == NULL ||
                strcmp(selection->protocols[k].strategy->name, protocol->strategy->name) != 0;
        if (is_alone)
            continue;
        for (size_t k = 0; k < i && rc == 0; k++)
            if (strcmp(selection->protocols[k].path, protocol->path) == 0)
                rc = lb_fail(err, LB_E_USAGE, "option -s: %s is given twice", protocol->path);
        char label[sizeof((struct lb_cell *)NULL)->name];
        /* Of a long path the end tells more. */
        size_t room = sizeof label / 2, n = strlen(protocol->path);
        snprintf(label, sizeof label, "%.*s(%s%s)", (int)(sizeof label / 3),
                 protocol->strategy->name, n > room ? "..." : "",
                 protocol->path + (n > room ? n - room : 0));
        protocol->label = lb_words_add(&selection->texts, label, strlen(label));
    }
    return rc;
}

/* The version before joins the file of -s, which owns it. */
static int take_before(struct lb_selection *selection, const char *path, struct lb_error *err)
{
    struct lb_protocol *protocol = &selection->protocols[0];
    struct lb_file *before;
    char label[sizeof((struct lb_cell *)NULL)->name];
    if (lb_guest_is(path) || (selection->n_protocols > 0 && protocol->guest != NULL))
        return lb_fail(err, LB_E_USAGE,
                       "option --with: takes no program: let one program be either version, by "
                       "the worker's name in \"open\" (docs/programs.md)");
    if (selection->n_protocols != 1 || protocol->user_file == NULL)
        return lb_fail(err, LB_E_USAGE,
                       "option --with: takes one strategy file with -s, the version that comes "
                       "after %s",
                       path);
    int rc = lb_file_read(path, -1, &before, err);
    if (rc != 0)
        return rc;
    rc = lb_file_take_before(protocol->user_file, before, err);
    if (rc != 0) {
        lb_file_free(before);
        return rc;
    }
    const size_t room = sizeof label / 2, n = strlen(path);
    snprintf(label, sizeof label, "%.*s(with %s%s)", (int)(sizeof label / 3),
             lb_file_strategy(protocol->user_file), n > room ? "..." : "",
             path + (n > room ? n - room : 0));
    protocol->label = lb_words_add(&selection->texts, label, strlen(label));
    return 0;
}

static int select_strategies(struct lb_selection *selection, const struct lb_args *args,
                             const struct lb_select_defaults *defaults, struct lb_error *err)
{
    int rc = check_sql_dir(args->sql_dir, err);
    if (rc == 0)
        rc = start_limit(args, &selection->start_ms, err);
    if (rc == 0 && args->strategies.n == 0) {
        if (defaults->strategies == NULL)
            return lb_fail(err, LB_E_USAGE, "%s needs -s STRATEGY; see lockbench list strategies",
                           args->command->name);
        rc = each_name(selection, defaults->strategies, select_word, defaults->controls, "-s", err);
    }
    for (size_t i = 0; i < args->strategies.n && rc == 0; i++)
        rc = each_name(selection, args->strategies.words[i], select_word, true, "-s", err);
    if (rc == 0 && args->with != NULL)
        rc = take_before(selection, args->with, err);
    for (size_t i = 0; i < selection->n_protocols && rc == 0; i++) {
        struct lb_protocol *protocol = &selection->protocols[i];
        if (protocol->guest != NULL)
            continue;
        if (protocol->user_file != NULL) {
            lb_strategy_of_file(protocol->user_file, &protocol->own);
            protocol->strategy = &protocol->own;
            continue;
        }
        for (size_t e = 0; e < LB_MOST_ENGINES && lb_engines[e] != NULL && rc == 0; e++)
            rc = load_statements(protocol->strategy, lb_engines[e]->name, args->sql_dir,
                                 &protocol->files[e], err);
    }
    return rc == 0 ? label_files(selection, err) : rc;
}

/* --- targets --- */

/* "new=postgresql://...": the length of the name; 0: there is none. Behind the '=' stands a scheme,
 * as "host=db" is a connection string of libpq's. */
static size_t name_length(const char *uri)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t n = strspn(uri, letters);
    return uri[n] == '=' && uri[n + 1 + strspn(uri + n + 1, letters)] == ':' ? n : 0;
}

static struct lb_place *find_place(struct lb_selection *selection, const char *name)
{
    for (size_t i = 0; i < selection->n_places; i++)
        if (strcmp(selection->places[i].engine, name) == 0)
            return &selection->places[i];
    return NULL;
}

/* Later targets of an engine are numbered, unless the user names them. */
static int name_place(struct lb_selection *selection, struct lb_place *place, const char *uri,
                      size_t length, struct lb_error *err)
{
    size_t nth = 1;
    for (size_t i = 0; i < selection->n_places; i++)
        nth += selection->places[i].target.db->name == place->target.db->name;
    snprintf(place->engine, sizeof place->engine, "%s", place->target.db->name);
    if (nth > 1)
        snprintf(place->engine, sizeof place->engine, "%s:%zu", place->target.db->name, nth);
    if (length == 0)
        return 0;
    if (length >= sizeof place->engine)
        return lb_fail(err, LB_E_USAGE, "option -d: the name '%.*s' has more than %zu characters",
                       (int)length, uri, sizeof place->engine - 1);
    snprintf(place->engine, sizeof place->engine, "%.*s", (int)length, uri);
    place->is_named = true;
    if (find_place(selection, place->engine) != NULL)
        return lb_fail(err, LB_E_USAGE, "option -d: two servers have the name '%s'", place->engine);
    return 0;
}

static int add_place(struct lb_selection *selection, const char *uri, struct lb_error *err)
{
    size_t length = name_length(uri);
    struct lb_place *place = lb_array_add(&selection->places, &selection->n_places, sizeof *place);
    selection->n_places--; /* not before it is whole */
    int rc = lb_target_parse(length > 0 ? uri + length + 1 : uri, &place->target, err);
    if (rc != 0)
        return rc < 0 ? lb_fail_prefix(err, "option -d") : rc;
    rc = name_place(selection, place, uri, length, err);
    if (rc == 0)
        selection->n_places++;
    return rc;
}

int lb_select_connect(struct lb_selection *selection, struct lb_error *err)
{
    bool wanted = false;
    for (size_t i = 0; i < selection->n_protocols; i++)
        wanted |= !selection->protocols[i].strategy->no_database;
    for (size_t i = 0; i < selection->n_places && wanted; i++) {
        struct lb_place *place = &selection->places[i];
        const struct lb_db *db = place->target.db;
        struct lb_conn_options options = {.role = "control"};
        struct lb_space *space;
        struct lb_conn *conn;
        int rc = db->space_open(&place->target, "probe", &space, err);
        if (rc != 0)
            return rc;
        rc = db->open(space, &options, &conn, err);
        if (rc == 0) {
            place->caps = db->caps(conn);
            place->versioned = *db;
            place->versioned.version = db->version_of(conn);
            place->target.db = &place->versioned;
            db->close(conn);
        }
        struct lb_error close_error;
        int close_rc = db->space_close(space, false, rc == 0 ? err : &close_error);
        if (rc != 0 || close_rc != 0)
            return rc != 0 ? rc : close_rc;
    }
    return 0;
}

const struct lb_file *lb_protocol_file(const struct lb_protocol *protocol, const struct lb_db *db)
{
    if (protocol->user_file != NULL)
        return protocol->user_file;
    for (size_t e = 0; e < LB_MOST_ENGINES && lb_engines[e] != NULL; e++)
        if (lb_engines[e]->name == db->name)
            return protocol->files[e];
    return NULL;
}

int lb_select_versions(struct lb_selection *selection, struct lb_error *err)
{
    bool is_asked = false;
    for (size_t i = 0; i < selection->n_protocols; i++) {
        const struct lb_file *file = selection->protocols[i].user_file;
        is_asked |= file != NULL && lb_file_names_versions(file);
    }
    return is_asked ? lb_select_connect(selection, err) : 0;
}

void lb_select_assume(struct lb_selection *selection)
{
    for (size_t i = 0; i < selection->n_places; i++)
        selection->places[i].caps = UINT64_MAX;
}

/* --- scenarios --- */

static struct lb_question *find_question(struct lb_selection *selection, const char *name)
{
    for (size_t i = 0; i < selection->n_questions; i++)
        if (strcmp(selection->questions[i].path, name) == 0)
            return &selection->questions[i];
    return NULL;
}

static int add_question(struct lb_selection *selection, const char *name, bool unused,
                        struct lb_error *err)
{
    (void)unused;
    if (find_question(selection, name) != NULL)
        return 0;
    struct lb_scenario scenario;
    int rc = lb_scenario_load(name, &scenario, err);
    if (rc != 0)
        return rc;
    struct lb_question *question =
        lb_array_add(&selection->questions, &selection->n_questions, sizeof *question);
    question->scenario = scenario;
    question->path = lb_words_add(&selection->texts, name, strlen(name));
    return 0;
}

bool lb_select_plans(const struct lb_protocol *protocol, const struct lb_args *args,
                     const struct lb_select_defaults *defaults)
{
    return defaults->plans && (protocol->user_file != NULL || protocol->guest != NULL) &&
           args->scenarios.n == 0 && args->faults == NULL && args->n_overrides == 0 &&
           !args->matrix;
}

const char *lb_select_default(enum lb_shape shape, const struct lb_args *args)
{
    bool arrives = args->plan.slo != NULL && args->plan.demand != NULL && args->plan.at == NULL;
    for (size_t i = 0; i < args->n_overrides; i++) {
        const char *name = args->overrides[i].key->name;
        if (strcmp(name, "rate") == 0 || strcmp(name, "producers") == 0)
            arrives = strpbrk(args->overrides[i].value, "123456789") != NULL;
    }
    return shape == LB_LOCK ? "mutex-hot" : arrives ? "steady" : "drain";
}

bool lb_select_shows_breaks(const struct lb_selection *selection,
                            const struct lb_strategy *strategy,
                            const struct lb_select_defaults *defaults)
{
    return defaults->breaks &&
           (!selection->is_choice || selection->with_published || lb_strategy_is_broken(strategy));
}

static int select_scenarios(struct lb_selection *selection, const struct lb_args *args,
                            const struct lb_select_defaults *defaults, struct lb_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < args->scenarios.n && rc == 0; i++)
        rc = each_name(selection, args->scenarios.words[i], add_question, false, "-S", err);
    for (size_t i = 0; i < selection->n_protocols && rc == 0; i++) {
        const struct lb_protocol *protocol = &selection->protocols[i];
        const struct lb_strategy *strategy = protocol->strategy;
        if (lb_select_plans(protocol, args, defaults))
            continue;
        if (args->scenarios.n == 0) {
            rc = add_question(selection, lb_select_default(strategy->shape, args), false, err);
            bool shows =
                args->faults == NULL && lb_select_shows_breaks(selection, strategy, defaults);
            for (const struct lb_break *b = strategy->breaks;
                 shows && b != NULL && b->why != NULL && rc == 0; b++)
                if (b->scenario != NULL)
                    rc = add_question(selection, b->scenario, false, err);
            continue;
        }
        bool fits = false;
        for (size_t q = 0; q < selection->n_questions; q++)
            fits |= selection->questions[q].scenario.shape == strategy->shape;
        if (!fits && protocol->is_named)
            rc = lb_fail(err, LB_E_USAGE, "%s is a %s, and no scenario given is for %ss",
                         strategy->name, lb_shape_name(strategy->shape),
                         lb_shape_name(strategy->shape));
    }
    if (rc == 0 && args->faults != NULL)
        rc = lb_select_faults(selection, args->faults, err);
    return rc == 0 ? lb_sweep_apply(selection, args, err) : rc;
}

/* --- options of strategies --- */

int lb_select_setting(struct lb_selection *selection, const char *text, size_t length,
                      struct lb_error *err)
{
    const char *value = memchr(text, '=', length);
    if (value == NULL || value == text)
        return lb_fail(err, LB_E_USAGE, "option --opt: '%.*s' is not NAME=VALUE", (int)length,
                       text);
    struct lb_words *texts = &selection->texts;
    struct lb_setting *setting =
        lb_array_add(&selection->settings, &selection->n_settings, sizeof *setting);
    setting->name = lb_words_add(texts, text, (size_t)(value - text));
    setting->value = lb_words_add(texts, value + 1, length - (size_t)(value + 1 - text));
    return 0;
}

int lb_select_plain(const struct lb_words *words, struct lb_setting *settings, struct lb_error *err)
{
    if (words->n > LB_PLAIN_SETTINGS)
        return lb_fail(err, LB_E_USAGE, "more than %d times --opt", LB_PLAIN_SETTINGS);
    for (size_t i = 0; i < words->n; i++) {
        char *equals = strchr(words->words[i], '=');
        if (equals == NULL)
            return lb_fail(err, LB_E_USAGE, "option --opt: '%s' is not NAME=VALUE",
                           words->words[i]);
        *equals = '\0';
        settings[i] = (struct lb_setting){words->words[i], equals + 1};
    }
    return 0;
}

static bool has_option(const struct lb_option *options, const char *name,
                       struct lb_nearest *nearest)
{
    for (; options != NULL && options->name != NULL; options++) {
        lb_nearest_offer(nearest, options->name);
        if (strcmp(options->name, name) == 0)
            return true;
    }
    return false;
}

bool lb_select_has_option(const struct lb_protocol *protocol, const char *name,
                          struct lb_nearest *nearest)
{
    bool has = has_option(protocol->strategy->options, name, nearest);
    for (size_t e = 0; e < LB_MOST_ENGINES && !has; e++)
        has = protocol->files[e] != NULL &&
              has_option(lb_file_options(protocol->files[e]), name, nearest);
    if (!has && protocol->user_file != NULL)
        has = has_option(lb_file_options(protocol->user_file), name, nearest);
    return has;
}

static int select_settings(struct lb_selection *selection, const struct lb_args *args,
                           struct lb_error *err)
{
    for (size_t i = 0; i < args->options.n; i++) {
        int rc = lb_select_setting(selection, args->options.words[i],
                                   strlen(args->options.words[i]), err);
        if (rc != 0)
            return rc;
        const char *name = selection->settings[i].name;
        struct lb_nearest nearest;
        char text[128];
        bool known = false;
        lb_nearest_init(&nearest, name);
        for (size_t p = 0; p < selection->n_protocols && !known; p++)
            known = lb_select_has_option(&selection->protocols[p], name, &nearest);
        if (!known)
            return lb_fail(err, LB_E_USAGE, "option --opt: no strategy given has an option '%s'%s",
                           name, lb_nearest_text(&nearest, text, sizeof text));
    }
    return 0;
}

/* [NAME:]FILE.sql, for one server or for all. */
static int read_after_setup(struct lb_selection *selection, const char *word, struct lb_error *err)
{
    enum { LARGEST = 1 << 16 };
    const struct lb_place *only = NULL;
    const char *path = word;
    for (size_t i = 0; i < selection->n_places; i++) {
        const struct lb_place *place = &selection->places[i];
        size_t n = strlen(place->engine);
        if (strncmp(word, place->engine, n) == 0 && word[n] == ':' && word + n + 1 > path) {
            only = place;
            path = word + n + 1;
        }
    }
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return lb_fail(err, LB_E_FILE, "option --after-setup: %s: %s", path, strerror(errno));
    char text[LARGEST];
    size_t n = fread(text, 1, sizeof text, file);
    bool is_sql = !ferror(file) && n < sizeof text && memchr(text, '\0', n) == NULL;
    fclose(file);
    if (!is_sql)
        return lb_fail(err, LB_E_FILE, "option --after-setup: %s: not a file of SQL below 64 KiB",
                       path);
    const char *kept = lb_words_add(&selection->texts, text, n);
    for (size_t i = 0; i < selection->n_places; i++) {
        struct lb_place *place = &selection->places[i];
        if (only != NULL && place != only)
            continue;
        if (place->after_setup != NULL)
            return lb_fail(err, LB_E_USAGE, "option --after-setup: %s has two files: %s and %s",
                           place->engine, place->after_setup_path, path);
        place->after_setup = kept;
        place->after_setup_path = path; /* of args, which outlive the selection */
    }
    return 0;
}

int lb_select(struct lb_selection *selection, const struct lb_args *args,
              const struct lb_select_defaults *defaults, struct lb_error *err)
{
    *selection =
        (struct lb_selection){.is_choice = defaults->chooses, .with_published = args->published};
    int rc = select_strategies(selection, args, defaults, err);
    for (size_t i = 0; i < args->targets.n && rc == 0; i++)
        rc = add_place(selection, args->targets.words[i], err);
    if (args->targets.n == 0 && rc == 0)
        rc = add_place(selection, "sqlite:", err);
    if (rc == 0)
        rc = select_scenarios(selection, args, defaults, err);
    if (rc == 0)
        rc = select_settings(selection, args, err);
    for (size_t i = 0; i < args->after_setup.n && rc == 0; i++)
        rc = read_after_setup(selection, args->after_setup.words[i], err);
    return rc;
}

void lb_selection_release(struct lb_selection *selection)
{
    for (size_t i = 0; i < selection->n_protocols; i++) {
        lb_file_free(selection->protocols[i].user_file);
        lb_guest_free(selection->protocols[i].guest);
        for (size_t e = 0; e < LB_MOST_ENGINES; e++)
            lb_file_free(selection->protocols[i].files[e]);
    }
    for (size_t i = 0; i < selection->n_places; i++)
        lb_target_release(&selection->places[i].target);
    for (size_t i = 0; i < selection->n_outlooks; i++)
        free(selection->outlooks[i]);
    free(selection->outlooks);
    free(selection->protocols);
    free(selection->places);
    free(selection->questions);
    free(selection->settings);
    lb_words_release(&selection->texts);
    *selection = (struct lb_selection){0};
}
