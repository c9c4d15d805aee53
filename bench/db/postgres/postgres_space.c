/* Spaces of PostgreSQL: see postgres_space.h.
 *
 * A space is a schema of its own, marked by its comment, and registered with the same run id in a
 * table inside of it (see life.h). The space's own session holds an advisory lock keyed by the
 * schema's oid for as long as the run lives; all of it is made in one transaction, so no other
 * session ever sees a part. A schema is swept only if its name, its comment and its entry agree,
 * its owner is the user that sweeps, its lock is free, and its run is dead. A copy of a schema, as
 * from a dump, has another oid than its entry says.
 *
 * Only the own user's schemas are read: a table of another user could be a view, which runs code.
 *
 * Behind a transaction pooler the space's session stays in a transaction, so that the pooler leaves
 * it the backend with the lock. A run behind a pooler does not sweep: its backend may hold another
 * run's lock, and would be granted it again.
 */
#include "postgres_space.h"

#include "clock.h"
#include "leash.h"
#include "memory.h"
#include "postgres_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MARK_LIVE "lockbench: schema of one run, dropped at its end; run "
#define MARK_KEPT "lockbench: schema of one run, kept"

enum {
    LOCK_CLASS = 0x4c42656e, /* first half of the spaces' advisory keys: "LBen" */
    ANSWER_S = 60,           /* a server that says nothing for so long went away */
    PING_S = 5
};

/* As PQexec, but a server that does not answer within timeout_s loses the connection. */
static PGresult *ask(PGconn *pg, const char *sql, unsigned timeout_s, bool *ret_silent)
{
    uint64_t deadline_ns = lb_now_ns() + timeout_s * UINT64_C(1000000000);
    PGresult *last = NULL, *next;
    *ret_silent = false;
    if (PQsendQuery(pg, sql) != 1)
        return NULL;
    for (;;) {
        while (PQisBusy(pg)) {
            if (!lb_pg_wire_wait(pg, NULL, deadline_ns) && PQsocket(pg) >= 0) {
                *ret_silent = true;
                shutdown(PQsocket(pg), SHUT_RDWR); /* libpq finds it lost */
            }
            if (PQconsumeInput(pg) == 0)
                break;
        }
        next = PQgetResult(pg);
        if (next == NULL)
            return last;
        PQclear(last);
        last = next;
    }
}

/* Is the message about the connection, and not the server's answer to a statement? */
static int fail_gone(PGconn *pg, bool silent, unsigned timeout_s, struct lb_error *err)
{
    if (silent)
        return lb_fail(err, LB_E_ENV, "the server went away: no answer within %u s", timeout_s);
    return lb_fail(err, LB_E_ENV, "the server went away: %s", PQerrorMessage(pg));
}

/* Runs SQL text on a raw connection; an error of any kind is LB_E_ENV. */
static int command_within(PGconn *pg, const char *sql, unsigned timeout_s, struct lb_error *err)
{
    bool silent = false;
    PGresult *result = ask(pg, sql, timeout_s, &silent);
    int r = 0;
    if (!lb_pg_succeeded(result)) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (PQstatus(pg) != CONNECTION_OK)
            r = fail_gone(pg, silent, timeout_s, err);
        else
            r = lb_fail(err, LB_E_ENV, "PostgreSQL: %s", PQerrorMessage(pg));
        snprintf(err->native, sizeof err->native, "%s", state != NULL ? state : "");
    }
    PQclear(result);
    return r;
}

static int command(PGconn *pg, const char *sql, struct lb_error *err)
{
    return command_within(pg, sql, ANSWER_S, err);
}

/* Drops a schema whose lock we hold. The sessions of a dead run may linger in the server and keep
 * its tables locked: after a first try they are ended. Nobody else's are. */
static int drop_schema(PGconn *pg, const char *schema, Oid oid, struct lb_error *err)
{
    char sql[700];
    char *name = PQescapeIdentifier(pg, schema, strlen(schema));
    int r = name == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : 0;
    for (int i = 0; name != NULL && i < 2; i++) {
        snprintf(sql, sizeof sql,
                 "SET LOCAL client_min_messages = error; SET LOCAL lock_timeout = '%ds'; "
                 "DROP SCHEMA IF EXISTS %s CASCADE",
                 i == 0 ? 2 : 10, name);
        r = command(pg, sql, err);
        if (r == 0 || strcmp(err->native, "55P03") != 0)
            break;
        struct lb_error ignored;
        command(pg, "ROLLBACK", &ignored);
        snprintf(sql, sizeof sql,
                 "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a WHERE a.pid IN "
                 "(SELECT l.pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation "
                 "WHERE c.relnamespace = %u) AND a.datname = current_database() "
                 "AND a.application_name LIKE 'lockbench%%' AND a.pid <> pg_backend_pid()",
                 oid);
        command(pg, sql, &ignored);
    }
    if (r < 0)
        lb_fail_prefix(err, "cannot drop the schema %s", schema);
    PQfreemem(name);
    return r;
}

/* Reads a schema's entry about its run; all of it as text, so that no foreign operator or cast is
 * used. false: there is no such entry. */
static bool read_entry(PGconn *pg, const char *schema, struct lb_life_self *ret_process,
                       char *ret_mark, size_t size, const char *oid, int64_t *ret_seen_s)
{
    char sql[400];
    char *name = PQescapeIdentifier(pg, schema, strlen(schema));
    snprintf(sql, sizeof sql,
             "SELECT run, space, oid, machine, pid, start, "
             "extract(epoch FROM clock_timestamp() - seen)::bigint FROM %s." LB_LIFE_TABLE,
             name != NULL ? name : "");
    PQfreemem(name);
    PGresult *row = lb_pg_wire_exec(pg, sql);
    bool is_there = lb_pg_succeeded(row) && PQntuples(row) == 1 &&
                    strcmp(PQgetvalue(row, 0, 1), schema) == 0 &&
                    strcmp(PQgetvalue(row, 0, 2), oid) == 0;
    if (is_there) {
        snprintf(ret_mark, size, MARK_LIVE "%s", PQgetvalue(row, 0, 0));
        *ret_process = (struct lb_life_self){.pid = strtoll(PQgetvalue(row, 0, 4), NULL, 10),
                                             .start = strtoll(PQgetvalue(row, 0, 5), NULL, 10)};
        snprintf(ret_process->machine, sizeof ret_process->machine, "%s", PQgetvalue(row, 0, 3));
        *ret_seen_s = strtoll(PQgetvalue(row, 0, 6), NULL, 10);
    }
    PQclear(row);
    return is_there;
}

/* Under its lock: is this schema what a dead run left? Its run may have kept it meanwhile. */
static bool is_left_over(PGconn *pg, const char *schema, const char *oid)
{
    char sql[300], mark[200];
    struct lb_life_self process;
    int64_t seen_s = 0;
    snprintf(sql, sizeof sql,
             "SELECT obj_description(n.oid, 'pg_namespace') FROM pg_namespace n JOIN pg_class c ON "
             "c.relnamespace = n.oid AND c.relname = '" LB_LIFE_TABLE "' AND c.relkind = 'r' AND "
             "c.relowner = n.nspowner WHERE n.oid = %lu",
             strtoul(oid, NULL, 10));
    PGresult *row = lb_pg_wire_exec(pg, sql);
    bool is_ours = lb_pg_succeeded(row) && PQntuples(row) == 1 &&
                   read_entry(pg, schema, &process, mark, sizeof mark, oid, &seen_s) &&
                   strcmp(PQgetvalue(row, 0, 0), mark) == 0;
    PQclear(row);
    return is_ours && lb_life_is_over(&process, seen_s);
}

/* Drops the schemas of dead runs. Those that cannot be dropped now (not ours to drop, or read by
 * another session) are left for another time: they do no harm. */
static int sweep(PGconn *pg, struct lb_error *err)
{
    PGresult *list = lb_pg_wire_exec(
        pg, "SELECT oid, nspname FROM pg_namespace WHERE nspname LIKE 'lockbench\\_%' "
            "AND obj_description(oid, 'pg_namespace') LIKE '" MARK_LIVE "%' "
            "AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)");
    if (!lb_pg_succeeded(list)) {
        PQclear(list);
        return lb_fail(err, LB_E_ENV, "PostgreSQL: %s", PQerrorMessage(pg));
    }
    for (int i = 0; i < PQntuples(list); i++) {
        const char *oid = PQgetvalue(list, i, 0), *schema = PQgetvalue(list, i, 1);
        int32_t key = (int32_t)strtoul(oid, NULL, 10);
        char sql[200];
        struct lb_error ignored;
        snprintf(sql, sizeof sql, "SELECT pg_try_advisory_lock(%d, %d)", LOCK_CLASS, key);
        PGresult *locked = lb_pg_wire_exec(pg, sql);
        bool is_locked = lb_pg_succeeded(locked) && PQgetvalue(locked, 0, 0)[0] == 't';
        PQclear(locked);
        if (!is_locked)
            continue;
        if (is_left_over(pg, schema, oid) && lb_pg_door_drop(pg, schema, &ignored) == 0)
            drop_schema(pg, schema, (Oid)strtoul(oid, NULL, 10), &ignored);
        snprintf(sql, sizeof sql, "SELECT pg_advisory_unlock(%d, %d)", LOCK_CLASS, key);
        command(pg, sql, &ignored);
    }
    PQclear(list);
    return 0;
}

static int fail_create(PGconn *pg, struct lb_error *err)
{
    if (strcmp(err->native, "42501") != 0)
        return lb_fail_prefix(err, "cannot create a schema");
    char *db = PQescapeIdentifier(pg, PQdb(pg), strlen(PQdb(pg)));
    char *user = PQescapeIdentifier(pg, PQuser(pg), strlen(PQuser(pg)));
    lb_fail(err, LB_E_ENV,
            "%s may not create a schema in this database; an owner can allow it: "
            "GRANT CREATE ON DATABASE %s TO %s",
            PQuser(pg), db != NULL ? db : "...", user != NULL ? user : "...");
    snprintf(err->native, sizeof err->native, "42501");
    PQfreemem(db);
    PQfreemem(user);
    return LB_E_ENV;
}

/* The table in the schema that was just made, in the same transaction. */
static int register_run(struct lb_space *space, struct lb_error *err)
{
    char sql[900];
    struct lb_life_self self;
    lb_life_self(&self);
    snprintf(sql, sizeof sql,
             "CREATE TABLE \"%s\"." LB_LIFE_TABLE
             " (run text, space text, oid bigint, machine text, "
             "pid bigint, start bigint, seen timestamptz); "
             "INSERT INTO \"%s\"." LB_LIFE_TABLE " SELECT '%s', nspname, oid, '%s', %lld, %lld, "
             "clock_timestamp() FROM pg_namespace WHERE nspname = '%s'; "
             "COMMENT ON TABLE \"%s\"." LB_LIFE_TABLE " IS 'lockbench: whose run this schema is'",
             space->schema, space->schema, space->run, self.machine, (long long)self.pid,
             (long long)self.start, space->schema, space->schema);
    return command(space->pg, sql, err);
}

/* Creates the schema, marks it, registers the run and takes the lock, all before any other session
 * can see it. */
static int create_schema(struct lb_space *space, const char *hint, struct lb_error *err)
{
    char sql[500];
    lb_life_name(hint, space->run, space->schema);
    snprintf(sql, sizeof sql,
             "BEGIN; SET LOCAL client_min_messages = error; CREATE SCHEMA \"%s\"; "
             "COMMENT ON SCHEMA \"%s\" IS '" MARK_LIVE "%s'",
             space->schema, space->schema, space->run);
    int r = command(space->pg, sql, err);
    if (r < 0)
        return fail_create(space->pg, err);
    r = register_run(space, err);
    if (r < 0)
        return r;
    snprintf(sql, sizeof sql,
             "SELECT oid, pg_advisory_lock(%d, (CASE WHEN oid::bigint > 2147483647 "
             "THEN oid::bigint - 4294967296 ELSE oid::bigint END)::int) "
             "FROM pg_namespace WHERE nspname = '%s'",
             LOCK_CLASS, space->schema);
    PGresult *result = lb_pg_wire_exec(space->pg, sql);
    if (lb_pg_succeeded(result) && PQntuples(result) == 1)
        space->oid = (Oid)strtoul(PQgetvalue(result, 0, 0), NULL, 10);
    else
        r = lb_fail(err, LB_E_ENV, "cannot lock the new schema: %s", PQerrorMessage(space->pg));
    PQclear(result);
    if (r < 0)
        return r;
    return command(space->pg, space->pooled ? "COMMIT AND CHAIN" : "COMMIT", err);
}

/* The marking session has nothing to do but to be there. */
static int open_session(struct lb_space *space, struct lb_error *err)
{
    int r = lb_pg_connect(space->target.uri, "space", "-c search_path=pg_catalog", "pg_catalog",
                          NULL, &space->pg, &space->pooled, err);
    struct lb_error ignored;
    if (r == 0 && !space->pooled && PQserverVersion(space->pg) >= 140000)
        command(space->pg, "SET idle_session_timeout = 0", &ignored);
    return r;
}

/* Takes the lock again, with a new session. */
static int take_again(struct lb_space *space, bool *ret_gone, struct lb_error *err)
{
    char sql[400];
    PQfinish(space->pg);
    space->pg = NULL;
    int r = open_session(space, err);
    if (r < 0)
        return r;
    if (space->pooled)
        r = command(space->pg, "BEGIN", err);
    snprintf(
        sql, sizeof sql,
        "SELECT pg_try_advisory_lock(%d, %d) FROM pg_namespace WHERE oid = %u AND nspname = '%s'",
        LOCK_CLASS, (int32_t)space->oid, space->oid, space->schema);
    bool silent = false;
    PGresult *result = r == 0 ? ask(space->pg, sql, PING_S, &silent) : NULL;
    if (r == 0 && !lb_pg_succeeded(result)) {
        r = fail_gone(space->pg, silent, PING_S, err);
    } else if (r == 0 && PQntuples(result) == 0) {
        *ret_gone = true;
        r = lb_fail(err, LB_E_ENV,
                    "our marking session was ended: the schema %s is gone: another user dropped it",
                    space->schema);
    } else if (r == 0 && PQgetvalue(result, 0, 0)[0] != 't') {
        r = lb_fail(err, LB_E_ENV, "another session holds the mark of the schema %s",
                    space->schema);
    }
    PQclear(result);
    if (r < 0) {
        PQfinish(space->pg); /* the next look begins anew */
        space->pg = NULL;
    }
    return r;
}

/* False only if the server says so: a missing answer is no proof. */
static bool is_there(struct lb_space *space)
{
    char sql[200];
    bool silent = false;
    snprintf(sql, sizeof sql, "%sSELECT 1 FROM pg_namespace WHERE oid = %u AND nspname = '%s'",
             space->pooled ? "ROLLBACK; BEGIN; " : "", space->oid, space->schema);
    PGresult *result = ask(space->pg, sql, PING_S, &silent);
    bool is = !lb_pg_succeeded(result) || PQntuples(result) > 0;
    PQclear(result);
    return is;
}

static int renew(void *arg, bool stamp, bool *ret_gone, struct lb_error *err)
{
    struct lb_space *space = arg;
    char sql[300];
    int r = space->pg == NULL || PQstatus(space->pg) != CONNECTION_OK
                ? -1
                : command_within(space->pg, "SELECT 1", PING_S, err);
    if (r < 0) {
        r = take_again(space, ret_gone, err);
        stamp = true;
    }
    if (r < 0 || !stamp)
        return r;
    snprintf(sql, sizeof sql, "UPDATE \"%s\"." LB_LIFE_TABLE " SET seen = clock_timestamp()%s",
             space->schema, space->pooled ? "; COMMIT AND CHAIN" : "");
    r = command_within(space->pg, sql, PING_S, err);
    /* Only the table may have been dropped: that is no reason to end. */
    if (r < 0 && PQstatus(space->pg) == CONNECTION_OK && !is_there(space)) {
        *ret_gone = true;
        lb_fail(err, LB_E_ENV, "the schema %s is gone: another user dropped it", space->schema);
    }
    return r;
}

/* The number of sessions in a row that may be ended during their work; a server that accepts no
 * more is gone at once. */
enum { SESSIONS = 5 };

static bool is_lost(const struct lb_space *space)
{
    return space->pg != NULL && PQstatus(space->pg) != CONNECTION_OK;
}

int lb_pg_space_open(const struct lb_target *target, const char *hint, struct lb_space **ret_space,
                     struct lb_error *err)
{
    struct lb_space *space = lb_calloc(1, sizeof *space);
    space->target = *target;
    int r = open_session(space, err);
    for (int i = 0; r == 0 && i < SESSIONS; i++) {
        if (!space->pooled) /* through a pooler, no lock can be relied on for that */
            r = sweep(space->pg, err);
        if (r == 0)
            r = create_schema(space, hint, err);
        if (r == 0 || !is_lost(space) || i + 1 == SESSIONS)
            break;
        /* The next session sweeps the schema of the lost one. */
        PQfinish(space->pg);
        space->pg = NULL;
        r = open_session(space, err);
    }
    if (r == 0)
        r = lb_life_begin(&space->life, renew, space, err);
    if (r < 0) {
        PQfinish(space->pg);
        free(space);
        return r;
    }
    *ret_space = space;
    return 0;
}

int lb_pg_space_join(const struct lb_target *target, const char *name, int32_t number,
                     struct lb_space **ret_space, struct lb_error *err)
{
    (void)err;
    struct lb_space *space = lb_calloc(1, sizeof *space);
    space->target = *target;
    space->is_joined = true;
    space->oid = (Oid)number;
    snprintf(space->schema, sizeof space->schema, "%s", name);
    *ret_space = space;
    return 0;
}

/* The session's transaction behind a pooler ends with this. */
static int keep_schema(struct lb_space *space, struct lb_error *err)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "DROP TABLE IF EXISTS \"%s\"." LB_LIFE_TABLE
             "; COMMENT ON SCHEMA \"%s\" IS '" MARK_KEPT "'",
             space->schema, space->schema);
    int r = command(space->pg, sql, err);
    return r < 0 ? lb_fail_prefix(err, "cannot mark the schema %s as kept", space->schema) : r;
}

static int end_schema(struct lb_space *space, bool keep, struct lb_error *err)
{
    int r = 0;
    if (space->has_database && !keep)
        r = lb_pg_door_close(space, err);
    if (r == 0)
        r = keep ? keep_schema(space, err) : drop_schema(space->pg, space->schema, space->oid, err);
    return r;
}

int lb_pg_space_close(struct lb_space *space, bool keep, struct lb_error *err)
{
    char sql[200];
    bool gone = false;
    if (space == NULL)
        return 0;
    if (space->is_joined) {
        free(space);
        return 0;
    }
    lb_life_end(&space->life);
    int r = 0;
    for (int i = 0; i < SESSIONS; i++) {
        r = renew(space, false, &gone, err);
        if (r < 0) {
            if (gone && i > 0)
                r = 0; /* it was dropped, though the answer was lost */
            else if (!gone)
                lb_fail_prefix(err,
                               "the server went away, and the schema %s is left for the next run",
                               space->schema);
            break;
        }
        r = end_schema(space, keep, err);
        if (r == 0 || !is_lost(space) || lb_leash_has_cut())
            break;
    }
    if (space->pooled && r == 0 && !gone) {
        snprintf(sql, sizeof sql, "SELECT pg_advisory_unlock(%d, %d); COMMIT", LOCK_CLASS,
                 (int32_t)space->oid);
        r = command(space->pg, sql, err);
    }
    PQfinish(space->pg);
    free(space);
    return r;
}

int lb_pg_space_check(struct lb_space *space, struct lb_error *err)
{
    return space->is_joined ? 0 : lb_life_check(&space->life, err);
}

int lb_pg_space_look(struct lb_space *space, struct lb_error *err)
{
    return space->is_joined ? 0 : lb_life_look_again(&space->life, err);
}

const char *lb_pg_space_name(const struct lb_space *space)
{
    return space->schema;
}

int32_t lb_pg_space_number(const struct lb_space *space)
{
    return (int32_t)space->oid;
}

/* numbackends, because pg_stat_activity hides from ordinary users which sessions are clients. */
size_t lb_pg_space_room(struct lb_space *space, size_t *ret_limit)
{
    bool silent = false;
    lb_life_hold(&space->life);
    PGresult *result =
        ask(space->pg,
            "SELECT current_setting('max_connections')::int, "
            "current_setting('max_connections')::int "
            "- coalesce(current_setting('reserved_connections', true)::int, 0) "
            "- CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN 0 "
            "ELSE current_setting('superuser_reserved_connections')::int END "
            "- (SELECT sum(numbackends) FROM pg_stat_database)::int",
            ANSWER_S, &silent);
    lb_life_let(&space->life);
    size_t room = SIZE_MAX;
    if (lb_pg_succeeded(result)) {
        long n = strtol(PQgetvalue(result, 0, 1), NULL, 10);
        *ret_limit = (size_t)strtol(PQgetvalue(result, 0, 0), NULL, 10);
        room = n > 0 ? (size_t)n : 0;
    }
    PQclear(result);
    return room;
}
