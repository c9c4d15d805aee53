/* What age needs of SQLite: see aging.h. The cost of a statement is the number of steps of its
 * virtual machine. The rows of EXPLAIN QUERY PLAN say how it reads the tables.
 *
 * SQLite has no type for times. Texts that begin as a date are taken for times, and so are numbers
 * in the range of today's Julian days.
 */
#include "sqlite_space.h"

#include "aging.h"
#include "append.h"

#include <stdio.h>
#include <string.h>

static int note_plan(struct lb_conn *conn, const char *sql, char *plan, size_t size,
                     struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    char text[8000];
    struct lb_stmt *stmt;
    struct lb_rows rows = {0};
    struct lb_value nulls[64] = {{0}};
    if ((size_t)snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", sql) >= sizeof text)
        return LB_OK;
    int r = db->prepare(conn, text, 64, NULL, &stmt, err);
    if (r == LB_OK)
        r = db->execute(conn, stmt, nulls, &rows, err);
    plan[0] = '\0';
    for (size_t i = 0; r == LB_OK && i < rows.n_rows; i++) {
        struct lb_value detail = db->value(conn, i, 3);
        lb_append(plan, size, "%s%.*s", i > 0 ? ", " : "", (int)detail.length, detail.text);
    }
    return r;
}

static int touch(struct lb_conn *conn, const char *sql, size_t n_params,
                 const struct lb_value *params, struct lb_touched *ret, struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    struct lb_stmt *stmt;
    struct lb_rows rows = {0};
    int r = note_plan(conn, sql, ret->plan, sizeof ret->plan, err);
    if (r == LB_OK)
        r = db->run(conn, "SAVEPOINT lb_age", err);
    if (r == LB_OK)
        r = db->prepare(conn, sql, n_params, NULL, &stmt, err);
    if (r == LB_OK)
        r = db->execute(conn, stmt, params, &rows, err);
    if (r == LB_OK) {
        ret->locked = -1; /* the whole database */
        ret->cost = ret->settled_cost = db->steps(stmt, &ret->scanned, &ret->sorts);
        memcpy(ret->settled_plan, ret->plan, sizeof ret->plan);
        r = db->run(conn, "ROLLBACK TO lb_age; RELEASE lb_age", err);
    }
    return r;
}

#define IS_DATE   "typeof(%c) = 'text' AND %c GLOB '[12][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]*'"
#define IS_JULIAN "typeof(%c) = 'real' AND %c BETWEEN 2455000 AND 2480000"
#define AHEAD     "(julianday(%c) > julianday('now') + 1 / 24.0)"

const struct lb_aging lb_sqlite_aging = {
    .unit = "steps",
    .counts_scans = true,
    .columns =
        "SELECT m.name, p.name, CASE WHEN p.type LIKE '%INT%' THEN 1 WHEN p.type LIKE '%CHAR%' OR "
        "p.type LIKE '%TEXT%' THEN 2 ELSE 0 END, EXISTS (SELECT 1 FROM pragma_index_list(m.name) "
        "i, pragma_index_info(i.name) c WHERE i.\"unique\" AND c.name = p.name) OR p.pk > 0 OR "
        "EXISTS (SELECT 1 FROM pragma_foreign_key_list(m.name) f WHERE f.\"from\" = p.name) OR "
        "EXISTS (SELECT 1 FROM sqlite_schema o, pragma_foreign_key_list(o.name) f WHERE o.type = "
        "'table' AND lower(f.\"table\") = lower(m.name) AND f.\"to\" = p.name), p.pk FROM "
        "sqlite_schema m, pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE "
        "'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, p.cid",
    .same = "IS",
    .overriding = "",
    .series = "(WITH RECURSIVE s (n) AS (SELECT %llu UNION ALL SELECT n - 1 FROM s WHERE n > %llu) "
              "SELECT n FROM s) AS g",
    .text = "%c || '~' || g.n",
    .time = "CASE WHEN " IS_DATE " THEN CASE WHEN length(%c) > 19 THEN strftime('%%Y-%%m-%%d "
            "%%H:%%M:%%f', %c, iif(" AHEAD ", '+', '-') || %s || ' seconds') ELSE datetime(%c, "
            "iif(" AHEAD ", '+', '-') || %s || ' seconds') END WHEN " IS_JULIAN
            " THEN %c + iif(" AHEAD ", 1, -1) * %s / 86400.0 ELSE %c END",
    .tomorrow = "CASE WHEN " IS_DATE " THEN CASE WHEN length(%c) > 19 THEN strftime('%%Y-%%m-%%d "
                "%%H:%%M:%%f', 'now', '+1 day') ELSE datetime('now', '+1 day') END WHEN " IS_JULIAN
                " THEN julianday('now') + 1 ELSE %c END",
    .is_untyped = true,
    .analyse = "ANALYZE \"%s\"",
    .keep_statistics =
        "CREATE TEMP TABLE IF NOT EXISTS lb_statistics (size, tbl, idx, n, value); "
        "WITH RECURSIVE w (tbl, idx, n, rest) AS (SELECT tbl, idx, 0, stat || ' ' FROM "
        "sqlite_stat1 UNION ALL SELECT tbl, idx, n + 1, substr(rest, instr(rest, ' ') + 1) FROM w "
        "WHERE rest <> '') INSERT INTO lb_statistics SELECT %s, tbl, idx, n, CAST(rest AS int) "
        "FROM w WHERE rest <> ''; ANALYZE sqlite_schema",
    .predict_statistics =
        "UPDATE sqlite_stat1 SET stat = coalesce((SELECT group_concat(v, ' ') FROM (SELECT "
        "CAST(max(1, b.value + (b.value - a.value) * (%s.0 - b.size) / (b.size - a.size)) AS "
        "int) AS v FROM lb_statistics b JOIN lb_statistics a ON a.tbl = b.tbl AND a.idx IS b.idx "
        "AND a.n = b.n WHERE b.tbl = sqlite_stat1.tbl AND b.idx IS sqlite_stat1.idx AND b.size = "
        "(SELECT max(size) FROM lb_statistics) AND a.size = (SELECT max(size) FROM lb_statistics "
        "WHERE size < b.size) ORDER BY b.n)), stat); ANALYZE sqlite_schema",
    .touch = touch,
};
