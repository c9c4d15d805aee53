/* lockbench check: judges recorded histories, lockbench's own or another tool's.
 *
 * A history of lockbench's own says in its file what it is to be judged against; of any other the
 * model must be told, because operations alone do not say how many may hold a lock. Several files
 * are joined: workers of several processes, or hosts.
 */
#include "check_join.h"
#include "check_meta.h"
#include "check_print.h"
#include "cli.h"
#include "interchange.h"
#include "memory.h"
#include "pair.h"
#include "take.h"
#include "terminal.h"
#include "twice.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct loaded {
    struct lb_history_view *views;
    struct lb_read_facts *facts;
    uint64_t *uncertainty_ns;
    size_t n; /* views that are open */
    struct lb_names *names;
    struct lb_history_view joined;
    struct lb_history_view *view; /* the judged history */
    struct lb_model model;
    uint32_t *capacity;
    char model_name[80];
};

#define LOCK  (LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_PROGRESS) | LB_G_BIT(LB_G_RECOVERY))
#define OWNED (LOCK | LB_G_BIT(LB_G_OWNER_RELEASE) | LB_G_BIT(LB_G_FENCED))
#define QUEUE                                                                                      \
    (LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_NO_LOSS) | LB_G_BIT(LB_G_BOUNDED_CLAIM) |         \
     LB_G_BIT(LB_G_OWNER_RELEASE) | LB_G_BIT(LB_G_PROGRESS))

static const struct {
    const char *name;
    bool queue, reentrant, lease;
    unsigned claims;
} models[] = {{"mutex", false, false, false, OWNED},
              {"reentrant", false, true, false, OWNED},
              {"semaphore", false, false, false, LOCK},
              {"rwlock", false, false, false, OWNED},
              {"lease", false, false, true, OWNED},
              {"queue", true, false, false, QUEUE},
              {"fifo", true, false, false, QUEUE | LB_G_BIT(LB_G_FIFO)}};

static void loaded_release(struct loaded *loaded)
{
    lb_join_release(&loaded->joined);
    for (size_t i = 0; i < loaded->n; i++)
        lb_history_release(&loaded->views[i]);
    lb_names_free(loaded->names);
    free(loaded->views);
    free(loaded->facts);
    free(loaded->uncertainty_ns);
    free(loaded->capacity);
}

/* --- options --- */

static int parse_uncertainty(const char *text, uint64_t *uncertainty_ns, size_t n,
                             struct lb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        char one[64];
        size_t length = strcspn(text, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        int rc = length >= sizeof one
                     ? lb_fail(err, LB_E_USAGE, "option --uncertainty: '%s' is not a time", one)
                     : lb_take_time("uncertainty", one, "a time", &uncertainty_ns[i], err);
        if (rc != 0)
            return rc;
        if (i == 0 && text[length] == '\0') { /* one for all */
            for (i = 1; i < n; i++)
                uncertainty_ns[i] = uncertainty_ns[0];
            return 0;
        }
        if ((text[length] == '\0') != (i + 1 == n))
            return lb_fail(err, LB_E_USAGE,
                           "option --uncertainty: give one time, or one for each of the %zu files",
                           n);
        text += length + 1;
    }
    return 0;
}

static int check_words(const struct lb_args *args, struct lb_error *err)
{
    const char *export = args->check.export, *release = args->check.release;
    const char *threads = args->check.threads;
    if (args->positional.n == 0)
        return lb_fail(err, LB_E_USAGE, "check takes the files of a history; - is standard input");
    if (export != NULL && strcmp(export, "edn") != 0 && strcmp(export, "jsonl") != 0)
        return lb_fail(err, LB_E_USAGE, "option --export: unknown format '%s' (edn, jsonl)",
                       export);
    if (release != NULL && strcmp(release, "belief") != 0 && strcmp(release, "state") != 0)
        return lb_fail(err, LB_E_USAGE, "option --release: unknown semantics '%s' (belief, state)",
                       release);
    if (threads != NULL && strcmp(threads, "1") != 0 && strcmp(threads, "2") != 0)
        return lb_fail(err, LB_E_USAGE, "option --threads: '%s' is neither 1 nor 2", threads);
    return 0;
}

/* Two, if there is a second processor and --threads is not 1. */
static unsigned threads_of(const struct lb_args *args)
{
    const char *threads = args->check.threads;
    return threads != NULL ? strcmp(threads, "2") == 0 ? 2 : 1 : lb_processors() > 1 ? 2 : 1;
}

/* --- the model --- */

static int unknown_model(const char *name, struct lb_error *err)
{
    return lb_fail(err, LB_E_USAGE,
                   "option --model: unknown model '%s' (mutex, reentrant, semaphore:K, rwlock, "
                   "lease, queue, fifo)",
                   name);
}

static void set_capacity(struct loaded *loaded, uint64_t capacity)
{
    uint32_t n = 1;
    for (size_t i = 0; i < loaded->n; i++)
        if (loaded->facts[i].n_objects > n)
            n = loaded->facts[i].n_objects;
    loaded->capacity = lb_calloc(n, sizeof *loaded->capacity);
    for (uint32_t i = 0; i < n; i++)
        loaded->capacity[i] = (uint32_t)capacity;
    loaded->model.n_resources = n;
    loaded->model.capacity = loaded->capacity;
}

/* The model that was named on the command line, for a history of any tool. */
static int named_model(struct loaded *loaded, const char *text, struct lb_error *err)
{
    size_t length = strcspn(text, ":"), i = 0;
    uint64_t capacity = 1;
    while (i < sizeof models / sizeof models[0] &&
           (strlen(models[i].name) != length || strncmp(models[i].name, text, length) != 0))
        i++;
    if (i == sizeof models / sizeof models[0])
        return unknown_model(text, err);
    bool semaphore = strcmp(models[i].name, "semaphore") == 0;
    if ((text[length] == ':') != semaphore)
        return unknown_model(text, err);
    if (semaphore && (lb_parse_count(text + length + 1, &capacity) != 0 || capacity < 1 ||
                      capacity > UINT32_MAX))
        return lb_fail(err, LB_E_USAGE, "option --model: '%s' is not a number of holders",
                       text + length + 1);
    loaded->model.queue = models[i].queue;
    loaded->model.reentrant = models[i].reentrant;
    loaded->model.lease = models[i].lease;
    loaded->model.claims = models[i].claims;
    loaded->model.n_resources = 0;
    loaded->model.capacity = NULL;
    free(loaded->capacity);
    loaded->capacity = NULL;
    snprintf(loaded->model_name, sizeof loaded->model_name, "%s", text);
    if (semaphore)
        set_capacity(loaded, capacity);
    return 0;
}

static bool tells_model(const struct lb_history_view *view)
{
    char shape[16];
    return view->meta != NULL && lb_meta_get(view->meta, "shape", shape, sizeof shape) != NULL;
}

/* "b.jsonl:1": where a file says what it is a history of. */
static const char *meta_place(const struct loaded *loaded, const struct lb_args *args, size_t file,
                              char *buf, size_t size)
{
    size_t line = loaded->facts[file].meta_line;
    snprintf(buf, size, line > 0 ? "%s:%zu" : "%s", args->positional.words[file], line);
    return buf;
}

static int contradict(const struct loaded *loaded, const struct lb_args *args, size_t other,
                      const char *key, const char *first, const char *second, struct lb_error *err)
{
    char place[320], first_place[sizeof place];
    return lb_fail(err, LB_E_FILE,
                   "%s: %s is %s, and %s in %s: files that are checked together must be of one run",
                   meta_place(loaded, args, other, place, sizeof place), key, second, first,
                   meta_place(loaded, args, 0, first_place, sizeof first_place));
}

static int compare_key(const struct loaded *loaded, const struct lb_args *args, size_t other,
                       const char *key, struct lb_error *err)
{
    char first[200] = "not said", second[sizeof first] = "not said";
    lb_meta_get(loaded->view->meta, key, first, sizeof first);
    lb_meta_get(loaded->views[other].meta, key, second, sizeof second);
    return strcmp(first, second) == 0 ? 0
                                      : contradict(loaded, args, other, key, first, second, err);
}

/* Files of one run must agree on the model, since the first file's would apply to all. Values set
 * by options are not compared. */
static int check_same_run(const struct lb_args *args, const struct loaded *loaded, size_t other,
                          const struct lb_model *one, struct lb_error *err)
{
    const struct lb_check_args *options = &args->check;
    bool named = options->model != NULL;
    const struct {
        const char *key;
        bool is_told; /* by an option */
    } keys[] = {{"shape", named},
                {"resources", named},
                {"reentrant", named},
                {"lease", named},
                {"claims", named || options->claims != NULL},
                {"release", options->release != NULL},
                {"progress_bound_ns", options->progress != NULL},
                {"recovery_bound_ns", options->recovery != NULL},
                {"period_ns", false}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int rc = keys[i].is_told ? 0 : compare_key(loaded, args, other, keys[i].key, err);
        if (rc != 0)
            return rc;
    }
    const uint32_t *ours = loaded->model.capacity, *its = one->capacity;
    for (uint32_t i = 0; !named && i < loaded->model.n_resources; i++) {
        uint32_t a = ours != NULL ? ours[i] : 1, b = its != NULL ? its[i] : 1;
        char key[40], first[16], second[16];
        if (a == b)
            continue;
        snprintf(key, sizeof key, "capacity of resource %u", i);
        snprintf(first, sizeof first, "%u", a);
        snprintf(second, sizeof second, "%u", b);
        return contradict(loaded, args, other, key, first, second, err);
    }
    return 0;
}

/* One file's meta text. */
static int parse_meta(const struct lb_args *args, const struct loaded *loaded, size_t file,
                      struct lb_model *model, uint32_t **ret_capacity, struct lb_error *err)
{
    char place[320];
    int rc = lb_model_parse(loaded->views[file].meta, model, ret_capacity, err);
    if (rc != 0)
        lb_fail_prefix(err, "%s", meta_place(loaded, args, file, place, sizeof place));
    return rc;
}

/* The model from the files themselves: lockbench's own have it in their meta text. The whole is as
 * complete, and as drained, as all of its files. */
static int told_model(const struct lb_args *args, struct loaded *loaded, struct lb_error *err)
{
    char strategy[64];
    bool named = lb_meta_get(loaded->view->meta, "strategy", strategy, sizeof strategy) != NULL;
    snprintf(loaded->model_name, sizeof loaded->model_name, "of %s", named ? strategy : "the file");
    int rc = parse_meta(args, loaded, 0, &loaded->model, &loaded->capacity, err);
    for (size_t i = 1; i < loaded->n && rc == 0; i++) {
        struct lb_model one = {.complete = true, .drained = true};
        uint32_t *capacity = NULL;
        rc = parse_meta(args, loaded, i, &one, &capacity, err);
        if (rc == 0 && tells_model(&loaded->views[i]))
            rc = check_same_run(args, loaded, i, &one, err);
        free(capacity);
        loaded->model.complete = loaded->model.complete && one.complete;
        loaded->model.drained = loaded->model.drained && one.drained;
        if (one.groups != loaded->model.groups)
            loaded->model.groups = 0; /* they contradict each other */
        if (one.key_limit != loaded->model.key_limit)
            loaded->model.key_limit = 0;
        if (one.rate != loaded->model.rate || one.rate_ms != loaded->model.rate_ms)
            loaded->model.rate = 0;
        if (one.share_milli != loaded->model.share_milli)
            loaded->model.share_milli = 0;
        if (one.unique != loaded->model.unique)
            loaded->model.unique = LB_UNIQUE_NOT;
        if (one.priority != loaded->model.priority)
            loaded->model.priority = LB_PRIORITY_NONE;
        if (one.attempts > 0 &&
            (loaded->model.attempts == 0 || one.attempts < loaded->model.attempts))
            loaded->model.attempts = one.attempts;
    }
    /* The end time is by one file's clock, or missing: use the last event's time. */
    if (loaded->view == &loaded->joined || loaded->view->truncated)
        loaded->model.end_ns = 0;
    return rc;
}

/* A history of a lock is none of a queue: said of the file's line, where there are lines. The model
 * is the option's, or the first file's. */
static int check_shape(const struct lb_args *args, const struct loaded *loaded,
                       struct lb_error *err)
{
    for (size_t i = 0; i < loaded->n; i++) {
        const struct lb_read_facts *facts = &loaded->facts[i];
        if (loaded->model.queue ? facts->is_lock : facts->is_queue)
            return lb_fail(err, LB_E_USAGE, "%s:%zu: an operation of a %s, but %s%s is of a %s",
                           args->positional.words[i], facts->first_line,
                           facts->is_lock ? "lock" : "queue",
                           args->check.model != NULL ? "--model " : "the model ",
                           args->check.model != NULL ? args->check.model : loaded->model_name,
                           loaded->model.queue ? "queue" : "lock");
    }
    return 0;
}

static int make_model(const struct lb_args *args, struct loaded *loaded, struct lb_error *err)
{
    const struct lb_check_args *options = &args->check;
    struct lb_model *model = &loaded->model;
    bool drained = true;
    for (size_t i = 0; i < loaded->n; i++)
        drained = drained && loaded->facts[i].is_drained;
    *model = (struct lb_model){.complete = true, .drained = drained};
    int rc = 0;
    if (tells_model(loaded->view))
        rc = told_model(args, loaded, err);
    else if (options->model == NULL)
        rc = lb_fail(err, LB_E_USAGE,
                     "%s does not say what it is a history of: give --model mutex, reentrant, "
                     "semaphore:K, rwlock, lease, queue or fifo",
                     args->positional.words[0]);
    if (rc == 0 && options->model != NULL)
        rc = named_model(loaded, options->model, err);
    model->threads = threads_of(args);
    model->plain = options->plain;
    if (rc == 0)
        rc = check_shape(args, loaded, err);
    if (rc == 0 && options->strict && !model->queue)
        rc = lb_fail(err, LB_E_USAGE, "option --strict: is for queues (--model queue or fifo)");
    if (rc == 0 && options->claims != NULL)
        rc = lb_guarantees_parse(options->claims, &model->claims, err);
    if (rc == 0 && options->strict) {
        model->strict = true;
        model->claims |= LB_G_BIT(LB_G_FIFO);
        strncat(loaded->model_name, ", strict",
                sizeof loaded->model_name - strlen(loaded->model_name) - 1);
    }
    if (rc == 0)
        rc = lb_take_time("progress-bound", options->progress, "a time", &model->progress_bound_ns,
                          err);
    if (rc == 0)
        rc = lb_take_time("recovery-bound", options->recovery, "a time", &model->recovery_bound_ns,
                          err);
    if (rc == 0 && options->release != NULL)
        model->release =
            strcmp(options->release, "state") == 0 ? LB_RELEASE_STATE : LB_RELEASE_BELIEF;
    if (model->progress_bound_ns == 0 && options->claims == NULL)
        model->claims &= ~LB_G_BIT(LB_G_PROGRESS);
    if (model->recovery_bound_ns == 0 && options->claims == NULL)
        model->claims &= ~LB_G_BIT(LB_G_RECOVERY);
    return rc;
}

/* --- files --- */

static int load(const struct lb_args *args, struct loaded *loaded, struct lb_error *err)
{
    size_t n = args->positional.n;
    loaded->views = lb_calloc(n, sizeof *loaded->views);
    loaded->facts = lb_calloc(n, sizeof *loaded->facts);
    loaded->uncertainty_ns = lb_calloc(n, sizeof *loaded->uncertainty_ns);
    loaded->names = lb_names_new();
    int rc = 0;
    if (args->check.uncertainty != NULL)
        rc = parse_uncertainty(args->check.uncertainty, loaded->uncertainty_ns, n, err);
    struct lb_read_options options = {
        .ignore = args->check.ignore, .names = loaded->names, .threads = threads_of(args)};
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = lb_history_read(args->positional.words[i], &options, &loaded->views[i],
                             &loaded->facts[i], err);
        loaded->n += rc == 0;
    }
    if (rc == 0 && (n > 1 || loaded->uncertainty_ns[0] > 0)) {
        lb_join(loaded->views, n, loaded->uncertainty_ns, &loaded->joined);
        loaded->view = &loaded->joined;
    } else if (rc == 0) {
        loaded->view = &loaded->views[0];
    }
    return rc;
}

static int export(const struct lb_args *args, const struct loaded *loaded, struct lb_error *err)
{
    return lb_history_write(
        loaded->view, strcmp(args->check.export, "edn") == 0 ? LB_HISTORY_EDN : LB_HISTORY_JSONL,
        args->check.plain ? LB_WRITE_PLAIN : LB_WRITE_FULL, stdout, err);
}

static int print(const struct lb_args *args, const struct lb_checked *checked, struct lb_error *err)
{
    if (lb_args_wants(args, "json"))
        return lb_checked_json(checked, stdout, err);
    if (lb_args_wants(args, "tap"))
        return lb_checked_tap(checked, stdout, err);
    return lb_checked_text(checked, lb_terminal_width(STDOUT_FILENO), stdout, err);
}

/* 1: something was violated; 5: nothing could be tested, or it depends on the clocks, or on a fact
 * that is not known, whether something was violated; 0: something held and nothing else. */
static enum lb_exit status_of(const struct lb_judgement *judgement,
                              const struct lb_near_miss near[LB_GUARANTEE_ROOM])
{
    bool held = false, is_open = false;
    for (int i = 0; i < LB_GUARANTEES; i++) {
        if (judgement->findings[i].verdict == LB_V_VIOLATED)
            return LB_EXIT_VIOLATED;
        held = held || judgement->findings[i].verdict == LB_V_HELD;
        is_open = is_open || near[i].n_violations > 0 || judgement->findings[i].is_asked;
    }
    return held && !is_open ? LB_EXIT_OK : LB_EXIT_INCONCLUSIVE;
}

/* Clocks that may be off: a violation that is not certain excludes "held". */
static int judge_clocks(const struct lb_args *args, struct loaded *loaded,
                        struct lb_judgement *judgement, struct lb_near_miss near[LB_GUARANTEE_ROOM],
                        struct lb_error *err)
{
    if (args->check.uncertainty == NULL)
        return lb_check(loaded->view, &loaded->model, judgement, err);
    return lb_judge_twice(loaded->view, &loaded->model, judgement, near, err);
}

static int judge(const struct lb_args *args, struct loaded *loaded, enum lb_exit *ret_status,
                 struct lb_error *err)
{
    struct lb_judgement *judgement = lb_calloc(1, sizeof *judgement);
    struct lb_near_miss near[LB_GUARANTEE_ROOM] = {{0}};
    int rc = make_model(args, loaded, err);
    if (rc == 0) {
        rc = judge_clocks(args, loaded, judgement, near, err);
        if (rc == LB_E_FILE)
            lb_fail_prefix(err, "%s", args->positional.words[0]);
    }
    if (rc == 0) {
        struct lb_checked checked = {.files = (const char *const *)args->positional.words,
                                     .n_files = args->positional.n,
                                     .model_name = loaded->model_name,
                                     .n_events = loaded->view->n_events,
                                     .start_ns = loaded->view->start_ns,
                                     .truncated = loaded->view->truncated,
                                     .is_unchecked = loaded->view->is_unchecked,
                                     .model = &loaded->model,
                                     .judgement = judgement};
        for (size_t i = 0; i < loaded->view->n_logs; i++)
            checked.n_workers += loaded->view->logs[i].n_events > 0;
        rc = print(args, &checked, err);
        *ret_status = status_of(judgement, near);
    }
    free(judgement);
    return rc;
}

enum lb_exit lb_command_check(const struct lb_args *args)
{
    struct loaded loaded = {0};
    struct lb_error err;
    enum lb_exit status = LB_EXIT_OK;
    int rc = check_words(args, &err);
    if (rc == 0)
        rc = load(args, &loaded, &err);
    if (rc == 0 && args->check.export != NULL)
        rc = export(args, &loaded, &err);
    else if (rc == 0)
        rc = judge(args, &loaded, &status, &err);
    loaded_release(&loaded);
    return rc != 0 ? lb_cli_complain_of_output(&err) : status;
}
