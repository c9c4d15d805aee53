/* What age needs of PostgreSQL: see aging.h.
 *
 * The cost of a statement is the number of pages that EXPLAIN (ANALYZE, BUFFERS) counts at the top
 * of its plan, found in memory or read. It is counted twice: with a plan for these parameters, and
 * with the plan that the server chooses after five executions, which may be one for all parameters.
 */
#include "postgres_space.h"

#include "aging.h"

#include "append.h"
#include "life.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind the first "key": of an EXPLAIN document: the top node's, as its attributes come
 * before its children. */
static double first_number(const char *json, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    return at != NULL ? strtod(at + strlen(quoted), NULL) : 0;
}

/* Counts the rows of the space that this transaction has locked or written. They carry its number,
 * or the number of one of its savepoints, which is larger. */
static int read_locked(struct lb_conn *conn, double *ret, struct lb_error *err)
{
    static const char ask[] =
        "SELECT 'SELECT sum(n)::bigint FROM (' || string_agg(format('SELECT count(*) AS n FROM %I "
        "WHERE greatest(xmax::text::bigint, xmin::text::bigint) >= "
        "pg_current_xact_id()::xid::text::bigint', relname), ' UNION ALL ') || ') AS t' FROM "
        "pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND "
        "relname <> '" LB_LIFE_TABLE "'";
    const struct lb_db *db = lb_conn_head(conn)->db;
    const char *sql = ask;
    struct lb_stmt *stmt;
    struct lb_rows rows = {0};
    char *text = NULL;
    int r = LB_OK;
    *ret = 0;
    for (int i = 0; i < 2 && r == LB_OK && sql != NULL; i++) {
        r = db->prepare(conn, sql, 0, NULL, &stmt, err);
        if (r == LB_OK)
            r = db->execute(conn, stmt, NULL, &rows, err);
        struct lb_value value =
            r == LB_OK ? db->value(conn, 0, 0) : (struct lb_value){.type = LB_NULL};
        sql = text = i == 0 && value.type == LB_TEXT ? lb_strndup(value.text, value.length) : text;
        if (i == 1 && value.type == LB_INT)
            *ret = (double)value.integer;
    }
    free(text);
    return r;
}

/* The kinds of nodes from the top, with the indexes and tables that they read. */
static void note_plan(const char *json, char *plan, size_t size)
{
    static const struct {
        const char *key, *before;
    } keys[] = {{"\"Node Type\": \"", ", "},
                {"\"Index Name\": \"", " by "},
                {"\"Relation Name\": \"", " of "}};
    plan[0] = '\0';
    for (const char *at = json; (at = strchr(at, '"')) != NULL; at++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            size_t n = strlen(keys[k].key);
            if (strncmp(at, keys[k].key, n) != 0)
                continue;
            int length = (int)strcspn(at + n, "\"");
            lb_append(plan, size, "%s%.*s", plan[0] != '\0' ? keys[k].before : "", length, at + n);
            at += n + (size_t)length;
            break;
        }
}

static void put_literal(FILE *out, const struct lb_value *value)
{
    switch (value->type) {
    case LB_INT:
        fprintf(out, "'%lld'", (long long)value->integer);
        break;
    case LB_REAL:
        fprintf(out, "'%.17g'", value->real);
        break;
    case LB_TEXT:
        fputs(" E'", out);
        for (uint32_t i = 0; i < value->length; i++)
            fprintf(out, strchr("'\\", value->text[i]) != NULL ? "\\%c" : "%c", value->text[i]);
        fputc('\'', out);
        break;
    case LB_NULL:
    default:
        fputs("NULL", out);
    }
}

/* PREPARE and EXECUTE, as texts to free. */
static void make_texts(const char *sql, size_t n, const struct lb_value *params, char **prepare,
                       char **execute)
{
    size_t size;
    FILE *out = lb_open_memory(prepare, &size);
    fputs("PREPARE lb_age", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i == 0 ? " (" : ", ",
                params[i].type == LB_INT    ? "bigint"
                : params[i].type == LB_REAL ? "float8"
                                            : "unknown");
    fprintf(out, "%s AS %s", n > 0 ? ")" : "", sql);
    lb_close_memory(out);
    out = lb_open_memory(execute, &size);
    fputs("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE lb_age", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? " (" : ", ", out);
        put_literal(out, &params[i]);
    }
    fputs(n > 0 ? ")" : "", out);
    lb_close_memory(out);
}

/* Runs an EXPLAIN of format JSON. The caller frees *ret_json. */
static int explained(struct lb_conn *conn, const char *statement, char **ret_json,
                     struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    struct lb_stmt *stmt;
    struct lb_rows rows = {0};
    int r = db->prepare(conn, statement, 0, NULL, &stmt, err);
    if (r == LB_OK)
        r = db->execute(conn, stmt, NULL, &rows, err);
    if (r != LB_OK)
        return r;
    struct lb_value value = db->value(conn, 0, 0);
    *ret_json = lb_strndup(value.text, value.length);
    return LB_OK;
}

static int explain(struct lb_conn *conn, const char *execute, const char *mode, double *ret_cost,
                   double *ret_locked, char *plan, size_t size, struct lb_error *err)
{
    enum { PLANNED = 5 };
    const struct lb_db *db = lb_conn_head(conn)->db;
    char set[100];
    snprintf(set, sizeof set, "SAVEPOINT lb_age; SET LOCAL plan_cache_mode = %s", mode);
    int r = db->run(conn, set, err);
    char *plain = lb_format("EXPLAIN %s", strstr(execute, "EXECUTE"));
    for (int i = 0; i < PLANNED && r == LB_OK; i++)
        r = db->run(conn, plain, err);
    free(plain);
    char *json = NULL;
    if (r == LB_OK)
        r = explained(conn, execute, &json, err);
    if (r != LB_OK)
        return r;
    *ret_cost = first_number(json, "Shared Hit Blocks") + first_number(json, "Shared Read Blocks");
    note_plan(json, plan, size);
    free(json);
    r = read_locked(conn, ret_locked, err);
    if (r != LB_OK)
        return r;
    return db->run(conn, "ROLLBACK TO SAVEPOINT lb_age; RELEASE SAVEPOINT lb_age", err);
}

/* Plans once more, without executing: the estimate, and the plan. */
static int estimate(struct lb_conn *conn, const char *explain, double *ret_cost, char *plan,
                    size_t size, struct lb_error *err)
{
    char *json = NULL;
    int r = explained(conn, explain, &json, err);
    if (r != LB_OK)
        return r;
    *ret_cost = first_number(json, "Total Cost");
    note_plan(json, plan, size);
    free(json);
    return LB_OK;
}

/* The planner chooses the plan with the least estimate. Without one of its methods it has to choose
 * another: the nearer that estimate is, the nearer is a change. */
static int find_other(struct lb_conn *conn, const char *statement, struct lb_touched *ret,
                      struct lb_error *err)
{
    static const char *const without[] = {
        "enable_seqscan = off", "enable_nestloop = off", "enable_hashjoin = off",
        "enable_sort = off",
        ("enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL "
         "enable_bitmapscan = off")};
    const double impossible = 1e9; /* the method is used all the same: 1e10 is added */
    const struct lb_db *db = lb_conn_head(conn)->db;
    char sql[200], own[sizeof ret->plan], plan[sizeof ret->other_plan];
    double cost = 0, other = 0;
    char *explain = lb_format("EXPLAIN (FORMAT JSON) %s", statement);
    int r = db->run(conn, "SAVEPOINT lb_age; SET LOCAL plan_cache_mode = force_custom_plan", err);
    if (r == LB_OK)
        r = estimate(conn, explain, &cost, own, sizeof own, err);
    for (size_t i = 0; i < sizeof without / sizeof without[0] && r == LB_OK; i++) {
        snprintf(sql, sizeof sql, "SAVEPOINT lb_plan; SET LOCAL %s", without[i]);
        r = db->run(conn, sql, err);
        if (r == LB_OK)
            r = estimate(conn, explain, &other, plan, sizeof plan, err);
        if (r == LB_OK && strcmp(plan, own) != 0 && other < impossible && cost > 0 &&
            (ret->margin == 0 || other / cost < ret->margin)) {
            ret->margin = other / cost;
            memcpy(ret->other_plan, plan, sizeof plan);
        }
        if (r == LB_OK)
            r = db->run(conn, "ROLLBACK TO SAVEPOINT lb_plan; RELEASE SAVEPOINT lb_plan", err);
    }
    free(explain);
    return r == LB_OK ? db->run(conn, "ROLLBACK TO SAVEPOINT lb_age; RELEASE SAVEPOINT lb_age", err)
                      : r;
}

static int touch(struct lb_conn *conn, const char *sql, size_t n_params,
                 const struct lb_value *params, struct lb_touched *ret, struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    char *prepare, *execute;
    make_texts(sql, n_params, params, &prepare, &execute);
    int r = db->run(conn, prepare, err);
    if (r == LB_OK)
        r = explain(conn, execute, "force_custom_plan", &ret->cost, &ret->locked, ret->plan,
                    sizeof ret->plan, err);
    if (r == LB_OK)
        r = explain(conn, execute, "auto", &ret->settled_cost, &ret->locked, ret->settled_plan,
                    sizeof ret->settled_plan, err);
    if (r == LB_OK)
        /* Without parameters a prepared statement is planned once for all. */
        r = find_other(conn, n_params > 0 ? strstr(execute, "EXECUTE") : sql, ret, err);
    if (r == LB_OK)
        r = db->run(conn, "DEALLOCATE lb_age", err);
    free(prepare);
    free(execute);
    return r;
}

const struct lb_aging lb_postgres_aging = {
    .unit = "pages",
    .dead_unit = "pages",
    .columns =
        "SELECT c.relname::text, a.attname::text, CASE WHEN t.typname IN ('int2', 'int4', 'int8', "
        "'numeric') THEN 1 WHEN t.typcategory = 'S' THEN 2 WHEN t.typname = 'uuid' THEN 3 WHEN "
        "t.typname IN ('timestamp', 'timestamptz') THEN 4 ELSE 0 END, (EXISTS (SELECT 1 FROM "
        "pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey)) OR "
        "EXISTS (SELECT 1 FROM pg_constraint k WHERE k.contype = 'f' AND ((k.conrelid = c.oid AND "
        "a.attnum = ANY (k.conkey)) OR (k.confrelid = c.oid AND a.attnum = ANY "
        "(k.confkey)))))::int, coalesce((SELECT array_position(i.indkey, a.attnum) + 1 FROM "
        "pg_index i WHERE i.indrelid = c.oid AND i.indisprimary), 0) FROM pg_attribute a JOIN "
        "pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid WHERE "
        "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT "
        "c.relispartition AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND "
        "c.relname <> '" LB_LIFE_TABLE "' ORDER BY c.relname, a.attnum",
    .same = "IS NOT DISTINCT FROM",
    .overriding = " OVERRIDING SYSTEM VALUE",
    .series = "generate_series(%llu::bigint, %llu::bigint, -1) AS g (n)",
    .text = "%c || '~' || g.n",
    .uuid = "md5(%c || '~' || g.n)::uuid",
    .time = "CASE WHEN %c > clock_timestamp() + interval '1 hour' THEN %c + %s * interval '1 "
            "second' ELSE %c - %s * interval '1 second' END",
    .tomorrow = "clock_timestamp() + interval '1 day'",
    .freeze = "ALTER TABLE \"%s\" SET (autovacuum_enabled = false)",
    .analyse = "VACUUM ANALYZE \"%s\"",
    .index_keys =
        "DO $$ DECLARE k record; BEGIN FOR k IN SELECT oid, conrelid::regclass AS t, (SELECT "
        "string_agg(quote_ident(attname), ', ' ORDER BY place) FROM unnest(conkey) WITH "
        "ORDINALITY AS u (number, place) JOIN pg_attribute ON attrelid = conrelid AND attnum = "
        "number) AS c FROM pg_constraint WHERE contype = 'f' AND connamespace = "
        "current_schema()::regnamespace LOOP EXECUTE format('CREATE INDEX lb_age_key_%s ON %s "
        "(%s)', k.oid, k.t, k.c); END LOOP; END $$",
    .drop_keys = "DO $$ DECLARE k record; BEGIN FOR k IN SELECT indexname FROM pg_indexes WHERE "
                 "schemaname = current_schema() AND indexname LIKE 'lb_age_key_%' LOOP EXECUTE "
                 "format('DROP INDEX %I', k.indexname); END LOOP; END $$",
    .open_since =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid "
        "<> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) "
        "AND xact_start < clock_timestamp() - interval '%s milliseconds'",
    .touch = touch,
};
