/* What age needs of MariaDB: see aging.h. The cost of a statement is the number of rows, or index
 * entries, that the server asked the storage engine for: Handler_read_* of the session. EXPLAIN
 * says how the tables are read. Dead rows are none that the server sees: the pages of ANALYZE count
 * them. InnoDB locks the rows that it scans: its monitor says how many the transaction has locked.
 */
#include "mariadb_space.h"

#include "aging.h"

#include "append.h"
#include "life.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS = 64 };

static int query(struct lb_conn *conn, const char *sql, size_t n, const struct lb_value *params,
                 struct lb_rows *rows, struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    enum lb_type types[PARAMS];
    struct lb_stmt *stmt;
    lb_types_of(params, n < PARAMS ? n : PARAMS, types);
    int r = db->prepare(conn, sql, n, types, &stmt, err);
    return r == LB_OK ? db->execute(conn, stmt, params, rows, err) : r;
}

static int read_counters(struct lb_conn *conn, double *ret, struct lb_error *err)
{
    struct lb_rows rows = {0};
    int r = query(conn,
                  "SELECT cast(sum(variable_value) AS int) FROM information_schema.session_status "
                  "WHERE variable_name LIKE 'Handler\\_read\\_%'",
                  0, NULL, &rows, err);
    if (r != LB_OK)
        return r;
    struct lb_value value = lb_conn_head(conn)->db->value(conn, 0, 0);
    *ret = value.type == LB_INT ? (double)value.integer : 0;
    return LB_OK;
}

/* Columns of EXPLAIN: id, select_type, table, type, possible_keys, key, key_len, ref, rows, Extra.
 */
static int note_plan(struct lb_conn *conn, const char *sql, size_t n, const struct lb_value *params,
                     char *plan, size_t size, struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    struct lb_rows rows = {0};
    char *text = lb_format("EXPLAIN %s", sql);
    int r = query(conn, text, n, params, &rows, err);
    free(text);
    plan[0] = '\0';
    for (size_t i = 0; r == LB_OK && rows.n_columns > 9 && i < rows.n_rows; i++) {
        static const struct {
            size_t column;
            const char *before;
        } parts[] = {{3, ""}, {2, " of "}, {5, " by "}, {9, ": "}};
        for (size_t k = 0; k < 4; k++) {
            struct lb_value value = db->value(conn, i, parts[k].column);
            if (value.type == LB_TEXT && value.length > 0)
                lb_append(plan, size, "%s%s%.*s", i > 0 && k == 0 ? ", " : "", parts[k].before,
                          (int)value.length, value.text);
        }
    }
    return r;
}

/* The lines of the monitor about a session:
 *   7 lock struct(s), heap size 1128, 3007 row lock(s)
 *   MariaDB thread id 71, OS thread handle ...
 * A user without the privilege PROCESS does not get them. */
static double read_locked(struct lb_conn *conn)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    struct lb_rows rows = {0};
    struct lb_error ignored;
    char thread[60];
    double locked = 0;
    if (query(conn, "SELECT connection_id()", 0, NULL, &rows, &ignored) != LB_OK)
        return -1;
    snprintf(thread, sizeof thread, "MariaDB thread id %lld,",
             (long long)db->value(conn, 0, 0).integer);
    if (query(conn, "SHOW ENGINE INNODB STATUS", 0, NULL, &rows, &ignored) != LB_OK ||
        rows.n_rows == 0 || rows.n_columns < 3)
        return -1;
    struct lb_value status = db->value(conn, 0, 2);
    char *text = lb_strndup(status.text, status.length);
    char *at = strstr(text, thread);
    if (at == NULL) {
        free(text);
        return -1;
    }
    *at = '\0';
    for (char *line = text; (line = strstr(line, "---TRANSACTION")) != NULL; line++)
        at = line;
    const char *words = strstr(at, " row lock(s)");
    while (words != NULL && words > at && words[-1] >= '0' && words[-1] <= '9')
        words--;
    if (words != NULL)
        locked = strtod(words, NULL);
    free(text);
    return locked;
}

/* Executes the statement, and adds up the pages of all its tables. */
static int analyse(struct lb_conn *conn, const char *sql, size_t n, const struct lb_value *params,
                   double *ret_pages, struct lb_error *err)
{
    static const char key[] = "\"pages_accessed\": ";
    struct lb_rows rows = {0};
    char *text = lb_format("ANALYZE FORMAT=JSON %s", sql);
    *ret_pages = 0;
    int r = query(conn, text, n, params, &rows, err);
    free(text);
    if (r != LB_OK || rows.n_rows == 0)
        return r;
    struct lb_value json = lb_conn_head(conn)->db->value(conn, 0, 0);
    text = lb_strndup(json.text, json.length);
    for (char *at = text; (at = strstr(at, key)) != NULL; at++)
        *ret_pages += strtod(at + strlen(key), NULL);
    free(text);
    return LB_OK;
}

static int touch(struct lb_conn *conn, const char *sql, size_t n_params,
                 const struct lb_value *params, struct lb_touched *ret, struct lb_error *err)
{
    const struct lb_db *db = lb_conn_head(conn)->db;
    double empty = 0, before = 0, after = 0;
    struct lb_rows rows = {0};
    int r = note_plan(conn, sql, n_params, params, ret->plan, sizeof ret->plan, err);
    if (r == LB_OK)
        r = db->run(conn, "SAVEPOINT lb_age", err);
    if (r == LB_OK) /* reading the counters reads rows itself */
        r = read_counters(conn, &empty, err);
    if (r == LB_OK)
        r = read_counters(conn, &before, err);
    if (r == LB_OK)
        r = ret->is_dead_asked ? analyse(conn, sql, n_params, params, &ret->cost, err)
                               : query(conn, sql, n_params, params, &rows, err);
    if (r == LB_OK && !ret->is_dead_asked)
        r = read_counters(conn, &after, err);
    if (r != LB_OK)
        return r;
    ret->locked = read_locked(conn);
    if (!ret->is_dead_asked)
        ret->cost = (after - before) - (before - empty);
    ret->settled_cost = ret->cost;
    memcpy(ret->settled_plan, ret->plan, sizeof ret->plan);
    return db->run(conn, "ROLLBACK TO SAVEPOINT lb_age", err);
}

const struct lb_aging lb_mariadb_aging = {
    .unit = "rows",
    .dead_unit = "pages",
    .columns =
        "SELECT c.table_name, c.column_name, CASE WHEN c.data_type IN ('tinyint', 'smallint', "
        "'mediumint', 'int', 'bigint', 'decimal') THEN 1 WHEN c.data_type IN ('char', 'varchar', "
        "'text') THEN 2 WHEN c.data_type = 'uuid' THEN 3 WHEN c.data_type IN ('datetime', "
        "'timestamp') THEN 4 ELSE 0 END, (EXISTS (SELECT 1 FROM information_schema.statistics s "
        "WHERE s.table_schema = c.table_schema AND s.table_name = c.table_name AND s.column_name = "
        "c.column_name AND s.non_unique = 0) OR EXISTS (SELECT 1 FROM "
        "information_schema.key_column_usage k WHERE k.referenced_table_name IS NOT NULL AND "
        "((k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = "
        "c.column_name) OR (k.referenced_table_schema = c.table_schema AND "
        "k.referenced_table_name = c.table_name AND k.referenced_column_name = c.column_name)))), "
        "coalesce((SELECT s.seq_in_index FROM information_schema.statistics s WHERE s.table_schema "
        "= c.table_schema AND s.table_name = c.table_name AND s.column_name = c.column_name AND "
        "s.index_name = 'PRIMARY'), 0) FROM information_schema.columns c JOIN "
        "information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = "
        "c.table_name WHERE c.table_schema = database() AND t.table_type = 'BASE TABLE' AND "
        "coalesce(c.generation_expression, '') = '' AND c.table_name <> '" LB_LIFE_TABLE
        "' ORDER BY c.table_name, c.ordinal_position",
    .same = "<=>",
    .overriding = "",
    .series = "(SELECT CAST(seq AS SIGNED) AS n FROM seq_%llu_to_%llu) AS g",
    .text = "concat(%c, '~', g.n)",
    .uuid = "CAST(md5(concat(%c, '~', g.n)) AS uuid)",
    .time = "CASE WHEN %c > sysdate(6) + INTERVAL 1 HOUR THEN %c + INTERVAL %s SECOND ELSE %c - "
            "INTERVAL %s SECOND END",
    .tomorrow = "sysdate(6) + INTERVAL 1 DAY",
    .freeze = "ALTER TABLE `%s` STATS_AUTO_RECALC = 0",
    .analyse = "ANALYZE TABLE `%s`",
    .drops_from_table = true,
    .touch = touch,
};
