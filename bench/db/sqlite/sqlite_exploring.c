/* What explore needs of SQLite: see exploring.h. */
#include "sqlite_space.h"

#include "exploring.h"

#include <stddef.h>

/* SQLite: its functions are replaced in the connection, see sqlite_clock.c. */
static const char *const moved[] = {"julianday",         "unixepoch",    "strftime",     "datetime",
                                    "current_timestamp", "current_date", "current_time", NULL};
static const struct lb_server_clock server_clock = {.statement = "SELECT lockbench_clock(%lld)",
                                                    .statement_back = "SELECT lockbench_clock(0)",
                                                    .session_still = "SELECT lockbench_still(%lld)",
                                                    .moved = moved};

const struct lb_exploring lb_sqlite_exploring = {
    .prepare_session = "PRAGMA foreign_keys = off; PRAGMA synchronous = off",
    .opening = "PRAGMA synchronous = off", /* nothing here has to survive */
    .tables = "SELECT m.name, (SELECT group_concat('\"' || name || '\"') FROM "
              "pragma_table_info(m.name)) FROM sqlite_schema m WHERE m.type = 'table' "
              "AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name",
    .links = "SELECT m.name, p.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f "
             "JOIN sqlite_schema p ON p.type = 'table' AND lower(p.name) = lower(f.\"table\") "
             "WHERE m.type = 'table'",
    .n_opaque = "SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')",
    .copy = "CREATE TEMP TABLE \"lb_copy_%s\" AS SELECT * FROM main.\"%s\"",
    .empty = "DELETE FROM main.\"%s\"",
    .fill = "INSERT INTO main.\"%s\" (%s) SELECT %s FROM temp.\"lb_copy_%s\"",
    .has_sequences = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'",
    .sequences = "SELECT 'UPDATE main.sqlite_sequence SET seq = ' || "
                 "coalesce((SELECT seq FROM sqlite_sequence WHERE name = m.name), 0) || "
                 "' WHERE name = ''' || m.name || '''' FROM sqlite_schema m "
                 "WHERE m.sql LIKE '%autoincrement%'",
    .triggers =
        "SELECT 'DROP TRIGGER main.\"' || replace(t.name, '\"', '\"\"') || '\"', t.sql FROM "
        "sqlite_schema t JOIN sqlite_schema m ON m.name = t.tbl_name AND m.type = 'table' "
        "WHERE t.type = 'trigger' ORDER BY t.rowid",
    .one_writer = true,
    .quote = '"',
    .clock = &server_clock,
};
