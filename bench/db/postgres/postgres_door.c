/* A database of a run's own, for programs, whose libraries have schemas of fixed names: see
 * postgres_space.h. It has the name of the run's schema, and is dropped before that: a schema that
 * a dead run left tells of its database, too.
 */
#include "postgres_space.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is it there, and ours to drop? */
static bool is_there(PGconn *pg, const char *name)
{
    const char *const values[] = {name};
    PGresult *result = PQexecParams(pg,
                                    "SELECT 1 FROM pg_database WHERE datname = $1 AND datdba = "
                                    "(SELECT oid FROM pg_roles WHERE rolname = current_user)",
                                    1, NULL, values, NULL, NULL, 0);
    bool is = lb_pg_succeeded(result) && PQntuples(result) == 1;
    PQclear(result);
    return is;
}

/* What the database was when programs were set up: "NAME_0" beside it. */
static void name_copy(const char *name, char *copy, size_t size)
{
    snprintf(copy, size, "%s_0", name);
}

static int drop(PGconn *pg, const char *name, struct lb_error *err)
{
    char sql[300];
    if (!is_there(pg, name))
        return 0;
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name);
    PQclear(PQexec(pg, sql)); /* of the programs, whose processes are gone */
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS \"%s\"%s", name,
             PQserverVersion(pg) >= 130000 ? " WITH (FORCE)" : "");
    PGresult *result = PQexec(pg, sql);
    int r = lb_pg_succeeded(result) ? 0
                                    : lb_fail(err, LB_E_ENV, "cannot drop the database %s: %s",
                                              name, PQerrorMessage(pg));
    PQclear(result);
    return r;
}

int lb_pg_door_drop(PGconn *pg, const char *name, struct lb_error *err)
{
    char copy[130];
    name_copy(name, copy, sizeof copy);
    int r = drop(pg, name, err);
    return r == 0 ? drop(pg, copy, err) : r;
}

/* from NULL: an empty one. */
static int create(PGconn *pg, const char *name, const char *from, struct lb_error *err)
{
    char sql[300];
    snprintf(sql, sizeof sql, "CREATE DATABASE \"%s\"%s%s%s", name,
             from != NULL ? " TEMPLATE \"" : "", from != NULL ? from : "",
             from != NULL ? "\"" : "");
    PGresult *result = PQexec(pg, sql);
    int r = 0;
    if (!lb_pg_succeeded(result)) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (state != NULL && strcmp(state, "42501") == 0)
            r = lb_fail(err, LB_E_ENV,
                        "%s may not create a database, which a program as strategy needs; an "
                        "administrator can allow it: ALTER ROLE \"%s\" CREATEDB",
                        PQuser(pg), PQuser(pg));
        else
            r = lb_fail(err, LB_E_ENV, "cannot create a database: %s", PQerrorMessage(pg));
    }
    PQclear(result);
    return r;
}

/* Percent-encoded, behind what is there. */
static void add(char *uri, size_t size, const char *text)
{
    size_t n = strlen(uri);
    for (; *text != '\0' && n + 4 < size; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text) != NULL)
            uri[n++] = *text;
        else
            n += (size_t)snprintf(uri + n, 4, "%%%02X", (unsigned char)*text);
    }
    uri[n] = '\0';
}

static void add_raw(char *uri, size_t size, const char *text)
{
    size_t n = strlen(uri);
    snprintf(uri + n, size - n, "%s", text);
}

static void add_setting(struct lb_door *door, bool *first, const char *key, const char *value)
{
    add_raw(door->uri, sizeof door->uri, *first ? "?" : "&");
    add_raw(door->uri, sizeof door->uri, key);
    add_raw(door->uri, sizeof door->uri, "=");
    add(door->uri, sizeof door->uri, value);
    *first = false;
}

/* The target's own settings, with another database; a socket's folder can only stand behind. */
static void write_uri(const char *given, struct lb_door *door)
{
    static const char *const said[] = {"user",    "password",        "host", "port", "dbname",
                                       "options", "application_name"};
    bool first = true, is_socket = door->socket[0] != '\0';
    snprintf(door->uri, sizeof door->uri, "postgresql://");
    add(door->uri, sizeof door->uri, door->user);
    if (door->password[0] != '\0') {
        add_raw(door->uri, sizeof door->uri, ":");
        add(door->uri, sizeof door->uri, door->password);
    }
    add_raw(door->uri, sizeof door->uri, "@");
    if (!is_socket) {
        bool is_v6 = strchr(door->host, ':') != NULL;
        add_raw(door->uri, sizeof door->uri, is_v6 ? "[" : "");
        add_raw(door->uri, sizeof door->uri, door->host);
        add_raw(door->uri, sizeof door->uri, is_v6 ? "]:" : ":");
        add_raw(door->uri, sizeof door->uri, door->port);
    }
    add_raw(door->uri, sizeof door->uri, "/");
    add(door->uri, sizeof door->uri, door->database);
    if (is_socket) {
        add_setting(door, &first, "host", door->socket);
        add_setting(door, &first, "port", door->port);
    }
    PQconninfoOption *options = PQconninfoParse(given, NULL);
    for (PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        bool is_said = o->val == NULL;
        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
            is_said |= strcmp(o->keyword, said[i]) == 0;
        if (!is_said)
            add_setting(door, &first, o->keyword, o->val);
    }
    PQconninfoFree(options);
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static int connect_door(struct lb_space *space, PGconn **ret_pg, struct lb_error *err)
{
    bool pooled = false;
    return lb_pg_connect(space->target.uri, "space", "-c search_path=pg_catalog", "pg_catalog",
                         NULL, ret_pg, &pooled, err);
}

/* A pooler knows the databases of its configuration: the new one only if it passes all on. */
static int check_pooler(const struct lb_door *door, struct lb_error *err)
{
    PGconn *pg = PQconnectdb(door->uri);
    bool is_there = PQstatus(pg) == CONNECTION_OK;
    PQfinish(pg);
    return is_there ? 0
                    : lb_fail(err, LB_E_UNSUPPORTED,
                              "a program has a database of its own, to which the pooler does not "
                              "connect: it needs a line for all others, in PgBouncer's "
                              "[databases]: * = host=...; or name the server itself");
}

int lb_pg_door(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err)
{
    PGconn *pg = NULL;
    bool pooled = false;
    int r = lb_pg_connect(space->target.uri, "space", "-c search_path=pg_catalog", "pg_catalog",
                          NULL, &pg, &pooled, err);
    if (r < 0)
        return r;
    *ret_door = (struct lb_door){0};
    r = create(pg, space->schema, NULL, err);
    space->has_database = r == 0;
    if (r == 0) {
        const char *host = or_empty(PQhost(pg));
        snprintf(host[0] == '/' ? ret_door->socket : ret_door->host, sizeof ret_door->host, "%s",
                 host);
        snprintf(ret_door->port, sizeof ret_door->port, "%s", or_empty(PQport(pg)));
        snprintf(ret_door->user, sizeof ret_door->user, "%s", or_empty(PQuser(pg)));
        snprintf(ret_door->password, sizeof ret_door->password, "%s", or_empty(PQpass(pg)));
        snprintf(ret_door->database, sizeof ret_door->database, "%s", space->schema);
        write_uri(space->target.uri, ret_door);
    }
    PQfinish(pg);
    return r == 0 && pooled ? check_pooler(ret_door, err) : r;
}

int lb_pg_door_close(struct lb_space *space, struct lb_error *err)
{
    PGconn *pg = NULL;
    if (!space->pooled)
        return lb_pg_door_drop(space->pg, space->schema, err);
    /* The space's own session is in a transaction, where no database can be dropped. */
    int r = connect_door(space, &pg, err);
    if (r < 0)
        return r;
    r = lb_pg_door_drop(pg, space->schema, err);
    PQfinish(pg);
    return r;
}

/* Nobody is connected any more, and what they held is free. */
static int send_away(PGconn *pg, const char *name, struct lb_error *err)
{
    char sql[300];
    int n = 1;
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name);
    while (n > 0) {
        PGresult *result = PQexec(pg, sql);
        bool ok = lb_pg_succeeded(result);
        n = PQntuples(result);
        PQclear(result);
        if (!ok)
            return lb_fail(err, LB_E_ENV, "the programs' sessions cannot be ended: %s",
                           PQerrorMessage(pg));
        if (n > 0)
            usleep(1000);
    }
    return 0;
}

int lb_pg_door_keep(struct lb_space *space, struct lb_error *err)
{
    PGconn *pg = NULL;
    char copy[130];
    name_copy(space->schema, copy, sizeof copy);
    int r = connect_door(space, &pg, err);
    if (r < 0)
        return r;
    r = send_away(pg, space->schema, err);
    if (r == 0)
        r = create(pg, copy, space->schema, err);
    PQfinish(pg);
    return r;
}

int lb_pg_door_back(struct lb_space *space, bool is_changed, struct lb_error *err)
{
    PGconn *pg = NULL;
    char copy[130];
    name_copy(space->schema, copy, sizeof copy);
    int r = connect_door(space, &pg, err);
    if (r < 0)
        return r;
    r = send_away(pg, space->schema, err);
    if (r == 0 && is_changed)
        r = drop(pg, space->schema, err);
    if (r == 0 && is_changed)
        r = create(pg, space->schema, copy, err);
    PQfinish(pg);
    return r;
}
