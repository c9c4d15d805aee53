/* A database of a run's own, for programs, since their libraries use schemas with fixed names: see
 * postgres_space.h. It has the name of the run's schema, and is dropped before that: a schema that
 * a dead run left leads to its database, too.
 */
#include "postgres_space.h"

#include "postgres_wire.h"
#include "text_clean.h"
#include "uri_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOOR "door" /* the role of a session that makes or drops databases */

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

/* The name of the copy of the database after the programs' set-up: "NAME_0". */
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
    PQclear(lb_pg_wire_exec(pg, sql)); /* sessions of programs that have ended */
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS \"%s\"%s", name,
             PQserverVersion(pg) >= 130000 ? " WITH (FORCE)" : "");
    PGresult *result = lb_pg_wire_exec(pg, sql);
    int r = lb_pg_succeeded(result) ? 0
                                    : lb_fail(err, LB_E_ENV, "cannot drop the database %s: %s",
                                              name, PQerrorMessage(pg));
    PQclear(result);
    return r;
}

/* A server completes CREATE DATABASE although its client is dead, and the database is invisible
 * until then. So the sessions of this name's run, which may be creating it, end first. */
static int end_creation(PGconn *pg, const char *name, struct lb_error *err)
{
    enum { TRIES = 100, PAUSE_US = 20000 };
    char sql[400];
    const char *run = strrchr(name, '_');
    if (run == NULL || run[1 + strspn(run + 1, "0123456789abcdef")] != '\0')
        return 0; /* no run has such a name */
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
             "AND application_name = 'lockbench " DOOR " %s'",
             run + 1);
    for (int i = 0; i < TRIES; i++) {
        PGresult *result = lb_pg_wire_exec(pg, sql);
        bool is_over = lb_pg_succeeded(result) && PQntuples(result) == 0;
        PQclear(result);
        if (is_over)
            return 0;
        usleep(PAUSE_US);
    }
    return lb_fail(err, LB_E_ENV, "a session that creates the database %s does not end", name);
}

int lb_pg_door_drop(PGconn *pg, const char *name, struct lb_error *err)
{
    char copy[130];
    name_copy(name, copy, sizeof copy);
    int r = end_creation(pg, name, err);
    if (r == 0)
        r = drop(pg, name, err);
    return r == 0 ? drop(pg, copy, err) : r;
}

static int create(PGconn *pg, const char *name, const char *from, struct lb_error *err)
{
    char sql[300];
    snprintf(sql, sizeof sql, "CREATE DATABASE \"%s\" TEMPLATE \"%s\"", name, from);
    PGresult *result = lb_pg_wire_exec(pg, sql);
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
        snprintf(err->native, sizeof err->native, "%s", state != NULL ? state : "");
    }
    PQclear(result);
    return r;
}

/* --- a new database -------------------------------------------------------------------------
 *
 * It is a copy of template1, as the user expects: with the extensions that are installed there.
 * The server cannot copy a database with sessions, and one that an administration tool left open in
 * template1 would keep every program from running. Then template0 is copied, if template1 has
 * nothing more than that.
 */

/* Describes a session in template1; "" if there is none. */
static void find_session(PGconn *pg, char *ret_text, size_t size)
{
    PGresult *result =
        PQexec(pg, "SELECT pid, coalesce(usename, ''), coalesce(application_name, '') "
                   "FROM pg_stat_activity WHERE datname = 'template1' AND pid <> pg_backend_pid() "
                   "AND backend_type = 'client backend' ORDER BY backend_start LIMIT 1");
    ret_text[0] = '\0';
    if (lb_pg_succeeded(result) && PQntuples(result) == 1) {
        const char *program = PQgetvalue(result, 0, 2);
        snprintf(ret_text, size, "session %s (user %s%s%s)", PQgetvalue(result, 0, 0),
                 PQgetvalue(result, 0, 1), program[0] != '\0' ? ", " : "", program);
        lb_clean_text(ret_text);
    }
    PQclear(result);
}

static bool is_true(PGconn *pg, const char *sql)
{
    PGresult *result = PQexec(pg, sql);
    bool is = lb_pg_succeeded(result) && PQntuples(result) == 1 &&
              strcmp(PQgetvalue(result, 0, 0), "t") == 0;
    PQclear(result);
    return is;
}

/* The same server and user, another database. May be NULL, or not connected. */
static PGconn *connect_other(PGconn *pg, const char *database)
{
    enum { MAX_KEYS = 64, TIMEOUT_S = 10 };
    const char *keys[MAX_KEYS + 1], *values[MAX_KEYS + 1];
    size_t n = 0;
    PQconninfoOption *options = PQconninfo(pg);
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL && n < MAX_KEYS; o++)
        if (o->val != NULL) {
            keys[n] = o->keyword;
            values[n++] = strcmp(o->keyword, "dbname") == 0 ? database : o->val;
        }
    keys[n] = values[n] = NULL;
    PGconn *other = lb_pg_wire_connect(keys, values, true, TIMEOUT_S);
    PQconninfoFree(options);
    return other;
}

/* Is it what it was when the server was made? Nobody may look into template0, but all that was made
 * since has numbers from 16384. false also if template1 cannot be looked into. */
static bool is_template1_plain(PGconn *pg)
{
    if (!is_true(pg, "SELECT count(DISTINCT (encoding, datcollate, datctype)) = 1 FROM pg_database "
                     "WHERE datname IN ('template0', 'template1')"))
        return false;
    PGconn *look = connect_other(pg, "template1");
    bool is = PQstatus(look) == CONNECTION_OK &&
              is_true(look, "SELECT NOT EXISTS (SELECT 1 FROM (SELECT oid FROM pg_extension "
                            "UNION ALL SELECT oid FROM pg_namespace UNION ALL SELECT oid FROM "
                            "pg_class UNION ALL SELECT oid FROM pg_proc UNION ALL SELECT oid FROM "
                            "pg_type UNION ALL SELECT oid FROM pg_cast UNION ALL SELECT oid FROM "
                            "pg_event_trigger UNION ALL SELECT oid FROM pg_default_acl) AS made "
                            "WHERE oid::bigint >= 16384)");
    PQfinish(look);
    return is;
}

/* pooled: a look into template1 would leave a session of the pooler's there. */
static int create_new(PGconn *pg, const char *name, bool pooled, struct lb_error *err)
{
    char who[300], now[300];
    find_session(pg, who, sizeof who);
    if (who[0] != '\0' && !pooled && is_template1_plain(pg))
        return create(pg, name, "template0", err);
    int r = create(pg, name, "template1", err);
    if (r == 0 || strcmp(err->native, "55006") != 0)
        return r;
    if (who[0] == '\0' && !pooled && is_template1_plain(pg)) /* it came in between */
        return create(pg, name, "template0", err);
    find_session(pg, now, sizeof now);
    return lb_fail(err, LB_E_ENV,
                   "cannot create a database: template1, of which new ones are copies, is used by "
                   "%s; end that session, and try again",
                   now[0] != '\0'   ? now
                   : who[0] != '\0' ? who
                                    : "another session");
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
    lb_uri_add(door->uri, sizeof door->uri, value);
    *first = false;
}

/* The target's own settings, with another database; a socket's folder can only stand behind. */
static void write_uri(const char *given, struct lb_door *door)
{
    static const char *const said[] = {"user",    "password",        "host", "port", "dbname",
                                       "options", "application_name"};
    bool first = true, is_socket = door->socket[0] != '\0';
    snprintf(door->uri, sizeof door->uri, "postgresql://");
    lb_uri_add(door->uri, sizeof door->uri, door->user);
    if (door->password[0] != '\0') {
        add_raw(door->uri, sizeof door->uri, ":");
        lb_uri_add(door->uri, sizeof door->uri, door->password);
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
    lb_uri_add(door->uri, sizeof door->uri, door->database);
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

/* Its name tells whose it is when the run is dead: see end_creation. */
static int connect_door(struct lb_space *space, PGconn **ret_pg, bool *ret_pooled,
                        struct lb_error *err)
{
    char role[40];
    snprintf(role, sizeof role, DOOR " %s", space->run);
    return lb_pg_connect(space->target.uri, role, "-c search_path=pg_catalog", "pg_catalog", NULL,
                         ret_pg, ret_pooled, err);
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
    int r = connect_door(space, &pg, &pooled, err);
    if (r < 0)
        return r;
    *ret_door = (struct lb_door){0};
    r = create_new(pg, space->schema, pooled, err);
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
    int r = connect_door(space, &pg, &(bool){false}, err);
    if (r < 0)
        return r;
    r = lb_pg_door_drop(pg, space->schema, err);
    PQfinish(pg);
    return r;
}

/* Ends all connections, which frees their locks. */
static int send_away(PGconn *pg, const char *name, struct lb_error *err)
{
    char sql[300];
    int n = 1;
    snprintf(sql, sizeof sql,
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name);
    while (n > 0) {
        PGresult *result = lb_pg_wire_exec(pg, sql);
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
    int r = connect_door(space, &pg, &(bool){false}, err);
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
    int r = connect_door(space, &pg, &(bool){false}, err);
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

void lb_pg_door_types(struct lb_space *space, const char *sql, char *ret_types, size_t size)
{
    struct lb_error ignored;
    PGconn *pg = NULL;
    ret_types[0] = '\0';
    if (connect_door(space, &pg, &(bool){false}, &ignored) < 0)
        return;
    PGconn *there = connect_other(pg, space->schema);
    PQclear(PQexec(there, "SET search_path = \"$user\", public"));
    PGresult *result = PQprepare(there, "asked", sql, 0, NULL);
    if (lb_pg_succeeded(result)) {
        PQclear(result);
        result = PQexec(there, "SELECT array_to_string(parameter_types::text[], E'\\n') "
                               "FROM pg_catalog.pg_prepared_statements WHERE name = 'asked'");
        if (lb_pg_succeeded(result) && PQntuples(result) == 1)
            snprintf(ret_types, size, "%s", PQgetvalue(result, 0, 0));
    }
    PQclear(result);
    PQfinish(there);
    PQfinish(pg);
}
