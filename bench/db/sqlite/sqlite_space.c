/* Spaces of SQLite: see sqlite_space.h. */
#include "sqlite_space.h"

#include "memory.h"
#include "shared.h"
#include "sqlite_probe.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lb_sqlite_match(const char *uri)
{
    return strncmp(uri, "sqlite:", 7) == 0;
}

int lb_sqlite_describe(const char *uri, char *label, size_t size, struct lb_error *err)
{
    struct lb_sqlite_place place;
    int r = lb_sqlite_place_parse(uri, &place, err);
    if (r == 0)
        snprintf(label, size, "%s", uri);
    return r;
}

/* Makes the file a database of ours: the application id first and in the file itself, before WAL
 * mode could keep it in the log, so that a crash at any point leaves an empty file or one that
 * names its owner. */
static int make_database(struct lb_space *space, struct lb_error *err)
{
    const struct lb_sqlite_place *place = &space->file.place;
    const struct lb_sqlite_api *api = &space->api;
    const char *path = space->file.path;
    sqlite3 *handle = NULL;
    sqlite3_stmt *stmt = NULL;
    char sql[80];
    int r = 0;
    if (api->open_v2(path, &handle,
                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                     NULL) != SQLITE_OK)
        goto failed;
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d", LB_SQLITE_APPLICATION_ID);
    if (api->exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        goto failed;
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s", place->journal);
    if (api->prepare_v2(handle, sql, -1, &stmt, NULL) != SQLITE_OK || api->step(stmt) != SQLITE_ROW)
        goto failed;
    const char *mode = (const char *)api->column_text(stmt, 0);
    if (mode == NULL || strcmp(mode, place->journal) != 0)
        r = lb_fail(err, LB_E_ENV, "%s: the file system does not allow journal mode %s", path,
                    place->journal);
    goto out;
failed:
    r = lb_fail(err, LB_E_ENV, "%s: %s", path, api->errmsg(handle));
out:
    api->finalize(stmt);
    api->close(handle);
    return r;
}

static void free_space(struct lb_space *space)
{
    lb_shared_free(space->n_refused, sizeof *space->n_refused);
    free(space);
}

int lb_sqlite_space_open(const struct lb_target *target, const char *hint,
                         struct lb_space **ret_space, struct lb_error *err)
{
    (void)hint; /* the file's name is given */
    struct lb_space *space = lb_calloc(1, sizeof *space);
    /* Shared: the conns may be opened in forked processes. */
    space->n_refused = lb_shared_new(sizeof *space->n_refused);
    if (space->n_refused == NULL)
        lb_memory_exhausted(sizeof *space->n_refused);
    struct lb_sqlite_place place;
    int r = lb_sqlite_place_parse(target->uri, &place, err);
    if (r == 0) /* before there is a file */
        r = lb_sqlite_library_load(place.library, &space->api, err);
    if (r == 0)
        r = lb_sqlite_file_open(target->uri, &space->file, err);
    bool has_file = r == 0;
    if (has_file)
        r = make_database(space, err);
    if (r < 0) {
        if (has_file)
            lb_sqlite_file_close(&space->file, false);
        free_space(space);
        return r;
    }
    pthread_mutex_init(&space->lock, NULL);
    *ret_space = space;
    return 0;
}

/* Marks the file, so that a later run does not take it for the leftovers of a dead one. */
static int mark_kept(const struct lb_space *space, struct lb_error *err)
{
    const struct lb_sqlite_api *api = &space->api;
    const char *path = space->file.path;
    sqlite3 *handle = NULL;
    char sql[60];
    int r = 0;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", LB_SQLITE_KEPT);
    if (api->open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
            SQLITE_OK ||
        api->exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK ||
        api->exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) != SQLITE_OK)
        r = lb_fail(err, LB_E_ENV, "cannot mark %s as kept: %s", path, api->errmsg(handle));
    api->close(handle);
    return r;
}

int lb_sqlite_space_close(struct lb_space *space, bool keep, struct lb_error *err)
{
    if (space == NULL)
        return 0;
    assert(space->conns == NULL);
    int r = keep ? mark_kept(space, err) : 0;
    lb_sqlite_file_close(&space->file, keep);
    pthread_mutex_destroy(&space->lock);
    free_space(space);
    return r;
}

struct lb_probe *lb_sqlite_space_probe(struct lb_space *space)
{
    return lb_sqlite_probe_open(space->file.path);
}

const char *lb_sqlite_space_name(const struct lb_space *space)
{
    return space->file.path;
}

int lb_sqlite_door(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err)
{
    if (space->file.place.library[0] != '\0')
        return lb_fail(
            err, LB_E_USAGE,
            "sqlite: library is for strategies of SQL: a program opens the file with the "
            "SQLite that it has itself");
    *ret_door = (struct lb_door){0};
    snprintf(ret_door->path, sizeof ret_door->path, "%s", space->file.path);
    snprintf(ret_door->uri, sizeof ret_door->uri, "sqlite:%s", space->file.path);
    return 0;
}

int32_t lb_sqlite_space_number(const struct lb_space *space)
{
    (void)space; /* the file is not shared */
    return 1;
}
