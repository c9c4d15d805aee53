/* What explore needs of PostgreSQL: see exploring.h. */
#include "postgres_space.h"

#include "exploring.h"
#include "life.h"

#include <stddef.h>

#define CALLED                                                                                     \
    "coalesce(nullif(a.application_name, ''), 'no application_name') || coalesce(', user ' || "    \
    "a.usename, '')"

/* PostgreSQL finds functions of the space before its own; keywords become functions. A sequence
 * holds how far the clock is ahead: its value is in no transaction, so blocked statements see it
 * too. now() keeps its value from the begin of its transaction, statement_timestamp() from that of
 * its statement: both are set in the session at that time. */
static const char *const moved[] = {"now",
                                    "clock_timestamp",
                                    "statement_timestamp",
                                    "transaction_timestamp",
                                    "current_timestamp",
                                    "localtimestamp",
                                    "current_date",
                                    NULL};
static const char *const runs_on[] = {"clock_timestamp", NULL};
static const char *const unstated[] = {"now",
                                       "clock_timestamp",
                                       "transaction_timestamp",
                                       "current_timestamp",
                                       "localtimestamp",
                                       "current_date",
                                       NULL};
static const struct lb_clock_word words[] = {{"current_timestamp", "\"current_timestamp\"()"},
                                             {"localtimestamp", "\"localtimestamp\"()"},
                                             {"current_date", "\"current_date\"()"},
                                             {NULL, NULL}};
static const struct lb_server_clock server_clock = {
    .create =
        "CREATE SEQUENCE lb_clock MINVALUE 0 START 0; "
        "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
        "'SELECT pg_catalog.clock_timestamp() + (SELECT last_value FROM lb_clock) * interval ''1 "
        "ms'''; "
        "CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql STABLE AS "
        "'SELECT pg_catalog.now() + coalesce(nullif(current_setting(''lockbench.clock'', true), "
        "''''), (SELECT last_value::text FROM lb_clock))::bigint * interval ''1 ms'''; "
        "CREATE FUNCTION transaction_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS "
        "'SELECT now()'; "
        "CREATE FUNCTION \"current_timestamp\"() RETURNS timestamptz LANGUAGE sql STABLE AS "
        "'SELECT now()'; "
        "CREATE FUNCTION \"localtimestamp\"() RETURNS timestamp LANGUAGE sql STABLE AS "
        "'SELECT now()::timestamp'; "
        "CREATE FUNCTION \"current_date\"() RETURNS date LANGUAGE sql STABLE AS "
        "'SELECT now()::date'; "
        "CREATE FUNCTION statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS "
        "'SELECT pg_catalog.statement_timestamp() + "
        "coalesce(nullif(current_setting(''lockbench.statement'', true), ''''), ''0'')::bigint * "
        "interval ''1 ms'''",
    .still =
        "CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE "
        "AS 'SELECT to_timestamp(%1$lld / 1000.0) + (SELECT last_value FROM lb_clock) * "
        "interval ''1 ms'''; "
        "CREATE OR REPLACE FUNCTION now() RETURNS timestamptz LANGUAGE sql STABLE AS "
        "'SELECT to_timestamp(%1$lld / 1000.0) + coalesce(nullif(current_setting("
        "''lockbench.clock'', true), ''''), (SELECT last_value::text FROM lb_clock))::bigint * "
        "interval ''1 ms'''; "
        "CREATE OR REPLACE FUNCTION statement_timestamp() RETURNS timestamptz LANGUAGE sql "
        "STABLE AS 'SELECT to_timestamp(%1$lld / 1000.0) + coalesce(nullif(current_setting("
        "''lockbench.statement'', true), ''''), ''0'')::bigint * interval ''1 ms'''",
    .session = "SET search_path = \"%s\", pg_catalog",
    .set = "SELECT setval('lb_clock', %lld)",
    .begin = "SET LOCAL lockbench.clock = %lld",
    .runs_on = runs_on,
    .statement = "SET lockbench.statement = %lld",
    .unstated = unstated,
    .words = words,
    .moved = moved};

/* A snapshot shows transactions of the whole server. */
static const char *const tells_under_way[] = {"pg_current_snapshot", "txid_current_snapshot",
                                              "backend_xid", NULL};

const struct lb_exploring lb_postgres_exploring = {
    .prepare_session = "SET synchronous_commit = off",
    .opening = "SET synchronous_commit = off", /* nothing here has to survive */
    .tables = "SELECT c.relname::text, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY "
              "a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT "
              "a.attisdropped AND a.attgenerated = '') FROM pg_class c WHERE c.relnamespace = "
              "current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT "
              "c.relispartition AND c.relname <> '" LB_LIFE_TABLE "' ORDER BY c.relname",
    .links = "SELECT c.relname::text, p.relname::text FROM pg_constraint JOIN pg_class c ON c.oid "
             "= conrelid JOIN pg_class p ON p.oid = confrelid WHERE contype = 'f' AND "
             "connamespace = current_schema()::regnamespace",
    .n_opaque = "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = "
                "current_schema()::regnamespace AND relkind IN ('v', 'm', 'f')) + (SELECT "
                "count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE "
                "c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal) + "
                "(SELECT count(*) FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE "
                "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')) + "
                "(SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE "
                "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')) + "
                "(SELECT count(*) FROM pg_proc WHERE pronamespace = "
                "current_schema()::regnamespace AND proname NOT IN ('clock_timestamp', 'now', "
                "'statement_timestamp', 'transaction_timestamp', 'current_timestamp', "
                "'localtimestamp', 'current_date'))",
    .heirs = "SELECT relname::text, 'it inherits from a table' FROM pg_class WHERE relnamespace = "
             "current_schema()::regnamespace AND relkind = 'r' AND NOT relispartition AND oid IN "
             "(SELECT inhrelid FROM pg_inherits)",
    .copy = "CREATE TEMP TABLE \"lb_copy_%s\" AS TABLE \"%s\"",
    .empty = "DELETE FROM \"%s\"",
    .fill = "INSERT INTO \"%s\" (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM \"lb_copy_%s\"",
    .sequences = "SELECT format('SELECT setval(%L, %s, %L)', quote_ident(sequencename), "
                 "coalesce(last_value, start_value), last_value IS NOT NULL) FROM pg_sequences "
                 "WHERE schemaname = current_schema() AND sequencename <> 'lb_clock'",
    .numbered = "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON "
                "a.attrelid = c.oid WHERE c.relnamespace = current_schema()::regnamespace AND "
                "c.relkind IN ('r', 'p') AND (a.attidentity <> '' OR EXISTS (SELECT 1 FROM "
                "pg_attrdef d WHERE d.adrelid = c.oid AND d.adnum = a.attnum AND "
                "pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval%'))",
    .vacuum = "VACUUM \"%s\"",
    .triggers =
        "SELECT format('ALTER TABLE %I DISABLE %s %I', c.relname, e.kind, e.name), "
        "format('ALTER TABLE %I ENABLE %s %s %I', c.relname, CASE e.enabled WHEN 'A' THEN "
        "'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, e.kind, e.name) FROM (SELECT tgrelid, "
        "'TRIGGER', tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal "
        "UNION ALL SELECT ev_class, 'RULE', rulename, ev_enabled FROM pg_rewrite) AS e (relation, "
        "kind, name, enabled) JOIN pg_class c ON c.oid = e.relation WHERE c.relnamespace = "
        "current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND e.enabled <> 'D' ORDER BY "
        "1",
    .session = "SELECT pg_advisory_unlock_all()",
    .has_locks_of = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = $1 LIMIT 1",
    .has_locks = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() "
                 "LIMIT 1",
    /* The first row that is changed or locked gives a transaction its number. */
    .has_no_row = "SELECT 1 WHERE txid_current_if_assigned() IS NULL",
    .blockers = "SELECT unnest(pg_blocking_pids($1::int))",
    .holders =
        "SELECT coalesce(l.pid, 0), CASE WHEN l.pid IS NULL THEN 'a prepared transaction' "
        "ELSE format('process %s (%s)', l.pid, min(" CALLED ")) END FROM pg_locks l "
        "JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_stat_activity a ON a.pid = l.pid "
        "WHERE c.relnamespace = current_schema()::regnamespace AND c.relname <> "
        "'" LB_LIFE_TABLE "' AND l.granted AND l.mode <> 'AccessShareLock' AND "
        "coalesce(a.backend_type, '') <> 'autovacuum worker' GROUP BY l.pid ORDER BY 1",
    .is_sure_of_holders = true,
    .session_name = "SELECT CASE WHEN $1::int = 0 THEN 'a prepared transaction' ELSE (SELECT "
                    "format('process %s (%s)', a.pid, " CALLED ") FROM pg_stat_activity a WHERE "
                    "a.pid = $1::int AND a.backend_type <> 'autovacuum worker') END",
    /* A transaction has its number before it has the lock of that number, and the lock for longer.
     * Programs are in a database that has the name of the space. */
    .under_way =
        "SELECT CASE WHEN l.locktype IS NULL THEN -1 ELSE coalesce(l.pid, 0) END, "
        "txid_snapshot_xmax(s.s) FROM (SELECT txid_current_snapshot() AS s) s CROSS JOIN LATERAL "
        "txid_snapshot_xip(s.s) AS x LEFT JOIN pg_locks l ON l.locktype = 'transactionid' AND "
        "l.granted AND l.mode = 'ExclusiveLock' AND l.transactionid::text::bigint = x % 4294967296 "
        "LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE x < $1::bigint AND a.datname IS "
        "DISTINCT FROM current_schema()",
    .tells_under_way = tells_under_way,
    .one_batch = true,
    .quote = '"',
    .queues_in_order = true, /* src/backend/storage/lmgr/README: a waiter joins the end of the
                                queue, and the lock is granted from its front */
    .has_specs = true,
    .reads_by_statement = true,
    .clock = &server_clock,
};
