/* Finished runs, kept for --resume: see checkpoint.h.
 *
 *   magic, which program, length and CRC of the plan, the plan
 *   cell, round, packed length, length, CRC of the packed bytes, packed bytes     for each run
 */
#include "checkpoint.h"

#include "array.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC "lockbench checkpoint 1\r\n"

struct head {
    char magic[28];
    uint32_t program; /* CRC of the executable */
    uint32_t plan_bytes, plan_crc;
};

struct record {
    uint32_t cell, round, packed_bytes, bytes, crc;
};

enum { LARGEST = 1 << 28 };

/* A run that was loaded for lb_checkpoint_take. */
struct kept {
    uint32_t cell, round;
    struct lb_outcome *outcome; /* NULL: taken */
};

struct lb_checkpoint {
    char path[700];
    int fd;
    json_t *plan;
    bool grows; /* the report's cells are not all known before the first run */
    bool *has;  /* cell * n_repeat + round; NULL if it grows */
    struct kept *kept;
    size_t n_kept;
    size_t n_runs, n_repeat;
    bool is_resumed;
};

static uint32_t crc_of(const void *bytes, size_t n)
{
    return (uint32_t)crc32(0, bytes, (uInt)n);
}

/* Another build may have another layout. */
static const char OWN_PROGRAM[] = "/proc/self/exe";

static uint32_t crc_of_file(const char *path)
{
    unsigned char buf[1 << 16];
    uLong crc = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n;
    while (fd >= 0 && (n = read(fd, buf, sizeof buf)) > 0)
        crc = crc32(crc, buf, (uInt)n);
    if (fd >= 0)
        close(fd);
    return (uint32_t)crc;
}

/* ---- the plan ---- */

static json_t *cell_plan(const struct lb_cell *cell)
{
    json_t *config = json_object(), *options = json_object();
    char text[300];
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        lb_scenario_get(&cell->scenario, key, text, sizeof text);
        json_object_set_new(config, key->name, json_string(text));
    }
    char phases[LB_STAGES * 100];
    json_object_set_new(config, "phases",
                        json_string(lb_stages_text(&cell->scenario, phases, sizeof phases)));
    for (size_t i = 0; i < cell->n_settings; i++)
        json_object_set_new(options, cell->settings[i].name, json_string(cell->settings[i].value));
    const char *sql = cell->file != NULL ? lb_file_text(cell->file) : "";
    uint32_t crc =
        cell->strategy->guest != NULL ? crc_of_file(cell->strategy_path) : crc_of(sql, strlen(sql));
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:o, s:o}", "strategy", cell->name, "engine",
                     cell->engine, "target", cell->target != NULL ? cell->target->label : "",
                     "scenario", cell->scenario.name, "statements", (json_int_t)crc, "after-setup",
                     cell->after_setup != NULL ? cell->after_setup : "", "options", options,
                     "config", config);
}

static json_t *make_plan(const struct lb_report *report)
{
    json_t *cells = json_array();
    for (size_t i = 0; cells != NULL && i < report->n_cells; i++)
        if (json_array_append_new(cells, cell_plan(&report->cells[i])) != 0) {
            json_decref(cells);
            cells = NULL;
        }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:s, s:i, s:o}", "command",
                     report->command, "question", report->question, "start_unix_ms",
                     (json_int_t)report->start_unix_ms, "seed", (json_int_t)report->seed, "repeat",
                     (json_int_t)report->n_repeat, "costs", report->costs, "keep-history",
                     report->keeps_histories, "no-record", !report->records, "keep",
                     report->keeps_tables, "machine", report->environment.machine, "cores",
                     (int)report->environment.n_cores, "cells", cells);
}

static void value_text(const json_t *value, char *buf, size_t size)
{
    size_t n = value == NULL ? 0 : json_dumpb(value, buf, size - 1, JSON_ENCODE_ANY);
    buf[n < size ? n : size - 1] = '\0';
    if (value == NULL)
        snprintf(buf, size, "not set");
}

/* The first key in which two objects differ; NULL: none. Arrays are the caller's. */
static const char *first_difference(json_t *then, json_t *now)
{
    const char *key;
    json_t *value;
    json_object_foreach(then, key, value)
    {
        if (!json_is_array(value) && !json_is_object(value) &&
            !json_equal(value, json_object_get(now, key)))
            return key;
    }
    json_object_foreach(now, key, value)
    {
        if (json_object_get(then, key) == NULL)
            return key;
    }
    return NULL;
}

static int refuse(const struct lb_checkpoint *checkpoint, const char *where, const char *key,
                  json_t *then, json_t *now, struct lb_error *err)
{
    char was[200], is[200];
    value_text(json_object_get(then, key), was, sizeof was);
    value_text(json_object_get(now, key), is, sizeof is);
    if (strcmp(key, "statements") == 0)
        return lb_fail(err, LB_E_USAGE,
                       "option --resume: %s was begun with other statements of %s: go on with "
                       "those, or begin anew",
                       checkpoint->path, where);
    return lb_fail(err, LB_E_USAGE,
                   "option --resume: %s was begun with %s%s%s %s, and now it is %s: give the same "
                   "options, or begin anew",
                   checkpoint->path, where, where[0] != '\0' ? ": " : "", key, was, is);
}

static int compare_cell(const struct lb_checkpoint *checkpoint, json_t *then, json_t *now,
                        struct lb_error *err)
{
    static const char *const parts[] = {"options", "config"};
    char where[500];
    snprintf(where, sizeof where, "%s on %s, %s",
             json_string_value(json_object_get(then, "strategy")),
             json_string_value(json_object_get(then, "engine")),
             json_string_value(json_object_get(then, "scenario")));
    const char *key = first_difference(then, now);
    if (key != NULL)
        return refuse(checkpoint, where, key, then, now, err);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        json_t *a = json_object_get(then, parts[i]), *b = json_object_get(now, parts[i]);
        if ((key = first_difference(a, b)) != NULL)
            return refuse(checkpoint, where, key, a, b, err);
    }
    return 0;
}

static int compare_plans(const struct lb_checkpoint *checkpoint, json_t *now, struct lb_error *err)
{
    json_t *then = checkpoint->plan;
    json_t *a = json_object_get(then, "cells"), *b = json_object_get(now, "cells");
    const char *key = first_difference(then, now);
    int rc = key != NULL ? refuse(checkpoint, "", key, then, now, err) : 0;
    size_t n = json_array_size(a), m = json_array_size(b);
    for (size_t i = 0; i < n && i < m && rc == 0; i++)
        rc = compare_cell(checkpoint, json_array_get(a, i), json_array_get(b, i), err);
    if (rc == 0 && n != m)
        rc = lb_fail(err, LB_E_USAGE,
                     "option --resume: %s was begun with %zu cells, and now there are %zu: give "
                     "the same options, or begin anew",
                     checkpoint->path, n, m);
    return rc;
}

/* ---- the file ---- */

static int cannot(const struct lb_checkpoint *checkpoint, struct lb_error *err)
{
    return lb_fail(err, LB_E_ENV, "%s: %s", checkpoint->path, strerror(errno));
}

static int write_all(const struct lb_checkpoint *checkpoint, const void *bytes, size_t n,
                     struct lb_error *err)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t written = write(checkpoint->fd, at, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return cannot(checkpoint, err);
        at += written;
        n -= (size_t)written;
    }
    return 0;
}

static bool read_all(const struct lb_checkpoint *checkpoint, void *into, size_t n)
{
    for (char *at = into; n > 0;) {
        ssize_t got = read(checkpoint->fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static struct lb_checkpoint *checkpoint_new(const char *directory)
{
    struct lb_checkpoint *checkpoint = lb_calloc(1, sizeof *checkpoint);
    checkpoint->fd = -1;
    snprintf(checkpoint->path, sizeof checkpoint->path, "%s/checkpoint", directory);
    return checkpoint;
}

static void make_table(struct lb_checkpoint *checkpoint, const struct lb_report *report)
{
    checkpoint->n_repeat = (size_t)report->n_repeat;
    if (!checkpoint->grows)
        checkpoint->has =
            lb_calloc(report->n_cells * checkpoint->n_repeat + 1, sizeof *checkpoint->has);
}

int lb_checkpoint_begin(const char *directory, const struct lb_report *report, bool grows,
                        struct lb_checkpoint **ret, struct lb_error *err)
{
    struct lb_checkpoint *checkpoint = checkpoint_new(directory);
    checkpoint->grows = grows;
    checkpoint->plan = make_plan(report);
    char *text = checkpoint->plan != NULL ? json_dumps(checkpoint->plan, JSON_COMPACT) : NULL;
    int rc = text == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : 0;
    make_table(checkpoint, report);
    if (rc == 0) {
        struct head head = {.magic = MAGIC,
                            .program = crc_of_file(OWN_PROGRAM),
                            .plan_bytes = (uint32_t)strlen(text),
                            .plan_crc = crc_of(text, strlen(text))};
        checkpoint->fd =
            open(checkpoint->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (checkpoint->fd < 0 || flock(checkpoint->fd, LOCK_EX | LOCK_NB) != 0)
            rc = cannot(checkpoint, err);
        else
            rc = write_all(checkpoint, &head, sizeof head, err);
        if (rc == 0)
            rc = write_all(checkpoint, text, strlen(text), err);
    }
    free(text);
    if (rc != 0) {
        lb_checkpoint_close(checkpoint);
        return rc;
    }
    *ret = checkpoint;
    return 0;
}

static int read_plan(struct lb_checkpoint *checkpoint, struct lb_error *err)
{
    struct head head;
    if (!read_all(checkpoint, &head, sizeof head) || memcmp(head.magic, MAGIC, sizeof MAGIC) != 0 ||
        head.plan_bytes > LARGEST)
        return lb_fail(err, LB_E_FILE, "%s: not a checkpoint of lockbench", checkpoint->path);
    if (head.program != crc_of_file(OWN_PROGRAM))
        return lb_fail(err, LB_E_FILE,
                       "%s: was written by another build of lockbench: go on with that one, or "
                       "begin anew",
                       checkpoint->path);
    char *text = lb_malloc(head.plan_bytes + 1);
    if (read_all(checkpoint, text, head.plan_bytes) &&
        crc_of(text, head.plan_bytes) == head.plan_crc)
        checkpoint->plan = json_loadb(text, head.plan_bytes, 0, NULL);
    free(text);
    return checkpoint->plan != NULL
               ? 0
               : lb_fail(err, LB_E_FILE, "%s: its plan is damaged", checkpoint->path);
}

int lb_checkpoint_open(const char *directory, bool is_seed_given, struct lb_report *report,
                       struct lb_checkpoint **ret, struct lb_error *err)
{
    struct lb_checkpoint *checkpoint = checkpoint_new(directory);
    int rc = 0;
    checkpoint->is_resumed = true;
    checkpoint->fd = open(checkpoint->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
    if (checkpoint->fd < 0)
        rc = lb_fail(err, LB_E_FILE, "option --resume: %s: %s%s", checkpoint->path, strerror(errno),
                     errno == ENOENT ? ": a result that is whole has none" : "");
    else if (flock(checkpoint->fd, LOCK_EX | LOCK_NB) != 0)
        rc = lb_fail(err, LB_E_USAGE, "option --resume: %s: another lockbench is at it",
                     checkpoint->path);
    else if ((rc = read_plan(checkpoint, err)) != 0)
        lb_fail_prefix(err, "option --resume");
    if (rc != 0) {
        lb_checkpoint_close(checkpoint);
        return rc;
    }
    if (!is_seed_given)
        report->seed = (uint64_t)json_integer_value(json_object_get(checkpoint->plan, "seed"));
    report->start_unix_ms =
        (int64_t)json_integer_value(json_object_get(checkpoint->plan, "start_unix_ms"));
    *ret = checkpoint;
    return 0;
}

static int unpack(const struct lb_checkpoint *checkpoint, const struct record *record,
                  const unsigned char *packed, struct lb_outcome **ret, struct lb_error *err)
{
    uLongf n = record->bytes;
    unsigned char *bytes = lb_malloc((size_t)n + 1);
    int rc = uncompress(bytes, &n, packed, record->packed_bytes) != Z_OK || n != record->bytes
                 ? lb_fail(err, LB_E_FILE, "%s: a run is damaged", checkpoint->path)
                 : lb_outcome_read(bytes, n, ret, err);
    free(bytes);
    return rc;
}

static struct kept *find_kept(const struct lb_checkpoint *checkpoint, size_t cell, size_t round)
{
    for (size_t i = 0; i < checkpoint->n_kept; i++)
        if (checkpoint->kept[i].cell == cell && checkpoint->kept[i].round == round)
            return &checkpoint->kept[i];
    return NULL;
}

static int take_run(struct lb_checkpoint *checkpoint, struct lb_report *report,
                    const struct record *record, const unsigned char *packed, struct lb_error *err)
{
    size_t at = record->cell * checkpoint->n_repeat + record->round;
    struct lb_outcome *outcome = NULL;
    int rc = unpack(checkpoint, record, packed, &outcome, err);
    if (rc != 0)
        return rc;
    if (checkpoint->grows ? find_kept(checkpoint, record->cell, record->round) != NULL
                          : checkpoint->has[at]) {
        lb_outcome_free(outcome);
        return lb_fail(err, LB_E_FILE, "%s: a run is in it twice", checkpoint->path);
    }
    if (checkpoint->grows) { /* for lb_checkpoint_take */
        struct kept *kept = lb_array_add(&checkpoint->kept, &checkpoint->n_kept, sizeof *kept);
        *kept = (struct kept){record->cell, record->round, outcome};
    } else {
        lb_cell_add(&report->cells[record->cell], outcome);
        checkpoint->has[at] = true;
    }
    checkpoint->n_runs++;
    return 0;
}

/* Up to the first record that is not whole, which is cut off. */
static int read_runs(struct lb_checkpoint *checkpoint, struct lb_report *report,
                     struct lb_error *err)
{
    int rc = 0;
    for (;;) {
        off_t start = lseek(checkpoint->fd, 0, SEEK_CUR);
        struct record r;
        bool whole =
            read_all(checkpoint, &r, sizeof r) && r.packed_bytes < LARGEST && r.bytes < LARGEST &&
            (checkpoint->grows || (r.cell < report->n_cells && r.round < checkpoint->n_repeat));
        unsigned char *packed = whole ? lb_malloc(r.packed_bytes + 1) : NULL;
        whole = whole && read_all(checkpoint, packed, r.packed_bytes) &&
                crc_of(packed, r.packed_bytes) == r.crc;
        if (whole)
            rc = take_run(checkpoint, report, &r, packed, err);
        free(packed);
        if (!whole && ftruncate(checkpoint->fd, start) != 0)
            return cannot(checkpoint, err);
        if (!whole || rc != 0)
            return rc;
    }
}

int lb_checkpoint_load(struct lb_checkpoint *checkpoint, struct lb_report *report, bool grows,
                       struct lb_error *err)
{
    checkpoint->grows = grows;
    json_t *now = make_plan(report);
    int rc = now == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory")
                         : compare_plans(checkpoint, now, err);
    json_decref(now);
    if (rc != 0)
        return rc;
    make_table(checkpoint, report);
    return read_runs(checkpoint, report, err);
}

/* Is the server set as it was for an earlier run on this engine? */
static int compare_settings(const struct lb_report *report, const struct lb_cell *cell,
                            const struct lb_outcome *now, struct lb_error *err)
{
    const struct lb_outcome *then = NULL;
    for (size_t i = 0; i < report->n_cells && then == NULL; i++)
        if (report->cells[i].n_runs > 0 && strcmp(report->cells[i].engine, cell->engine) == 0)
            then = report->cells[i].runs[0];
    for (size_t i = 0; then != NULL && i < then->n_facts; i++)
        for (size_t k = 0; k < now->n_facts; k++)
            if (strcmp(then->facts[i].name, now->facts[k].name) == 0 &&
                strcmp(then->facts[i].value, now->facts[k].value) != 0)
                return lb_fail(err, LB_E_USAGE,
                               "option --resume: %s of %s was %s before the interruption, and now "
                               "it is %s: begin anew",
                               then->facts[i].name, cell->engine, then->facts[i].value,
                               now->facts[k].value);
    return 0;
}

int lb_checkpoint_add(struct lb_checkpoint *checkpoint, const struct lb_report *report,
                      const struct lb_cell *cell, size_t round, const struct lb_outcome *outcome,
                      struct lb_error *err)
{
    if (checkpoint == NULL ||
        (outcome->state != LB_RUN_COMPLETE && outcome->state != LB_RUN_INVALID))
        return 0;
    int rc = checkpoint->is_resumed ? compare_settings(report, cell, outcome, err) : 0;
    if (rc != 0)
        return rc;
    char *bytes = NULL;
    size_t n = 0;
    FILE *memory = lb_open_memory(&bytes, &n);
    rc = lb_outcome_write(outcome, memory, err);
    lb_close_memory(memory);
    if (rc == 0 && n >= LARGEST)
        rc = lb_fail(err, LB_E_ENV, "%s: a run of %zu bytes is too large for it", checkpoint->path,
                     n);
    unsigned char *packed = NULL;
    if (rc == 0) {
        uLongf packed_n = compressBound(n);
        packed = lb_malloc(sizeof(struct record) + packed_n);
        if (compress2(packed + sizeof(struct record), &packed_n, (unsigned char *)bytes, n,
                      Z_BEST_SPEED) != Z_OK)
            lb_memory_exhausted(packed_n); /* its only reason */
        struct record record = {.cell = (uint32_t)(cell - report->cells),
                                .round = (uint32_t)round,
                                .packed_bytes = (uint32_t)packed_n,
                                .bytes = (uint32_t)n,
                                .crc = crc_of(packed + sizeof record, packed_n)};
        memcpy(packed, &record, sizeof record);
        rc = write_all(checkpoint, packed, sizeof record + packed_n, err);
        if (rc == 0 && fdatasync(checkpoint->fd) != 0)
            rc = cannot(checkpoint, err);
        if (!checkpoint->grows)
            checkpoint->has[record.cell * checkpoint->n_repeat + round] = rc == 0;
        checkpoint->n_runs += rc == 0;
    }
    free(packed);
    free(bytes);
    return rc;
}

bool lb_checkpoint_has(const struct lb_checkpoint *checkpoint, const struct lb_report *report,
                       const struct lb_cell *cell, size_t round)
{
    return checkpoint != NULL &&
           checkpoint->has[(size_t)(cell - report->cells) * checkpoint->n_repeat + round];
}

struct lb_outcome *lb_checkpoint_take(struct lb_checkpoint *checkpoint,
                                      const struct lb_report *report, const struct lb_cell *cell,
                                      size_t round)
{
    struct kept *kept =
        checkpoint != NULL ? find_kept(checkpoint, (size_t)(cell - report->cells), round) : NULL;
    struct lb_outcome *outcome = kept != NULL ? kept->outcome : NULL;
    if (kept != NULL)
        kept->outcome = NULL;
    return outcome;
}

size_t lb_checkpoint_runs(const struct lb_checkpoint *checkpoint)
{
    return checkpoint != NULL ? checkpoint->n_runs : 0;
}

void lb_checkpoint_remove(const struct lb_checkpoint *checkpoint, const char *directory)
{
    char path[700];
    snprintf(path, sizeof path, "%s/checkpoint", directory);
    if (checkpoint != NULL)
        unlink(path);
}

void lb_checkpoint_close(struct lb_checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    if (checkpoint->fd >= 0)
        close(checkpoint->fd);
    json_decref(checkpoint->plan);
    for (size_t i = 0; i < checkpoint->n_kept; i++)
        lb_outcome_free(checkpoint->kept[i].outcome);
    free(checkpoint->kept);
    free(checkpoint->has);
    free(checkpoint);
}
