/* The clocks that a step of the clock moves: the server's, where it can be done. See reset.h. */
#include "reset.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* PostgreSQL finds functions of the space before its own; what is no function becomes one. A
 * sequence tells how far the clock is ahead: what it says is in no transaction, and statements that
 * are blocked see it too. now() stays what it was when its transaction began, statement_timestamp()
 * when its statement did: the session is told at that time. */
static const char *const moved_in_postgres[] = {"now",
                                                "clock_timestamp",
                                                "statement_timestamp",
                                                "transaction_timestamp",
                                                "current_timestamp",
                                                "localtimestamp",
                                                "current_date",
                                                NULL};
static const struct lb_clock_word words_of_postgres[] = {{"current_timestamp", "now()"},
                                                         {"localtimestamp", "now()::timestamp"},
                                                         {"current_date", "now()::date"},
                                                         {NULL, NULL}};
static const struct lb_server_clock postgres_clock = {
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
        "CREATE FUNCTION statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS "
        "'SELECT pg_catalog.statement_timestamp() + "
        "coalesce(nullif(current_setting(''lockbench.statement'', true), ''''), ''0'')::bigint * "
        "interval ''1 ms'''",
    .session = "SET search_path = \"%s\", pg_catalog",
    .set = "SELECT setval('lb_clock', %lld)",
    .begin = "SET LOCAL lockbench.clock = %lld",
    .statement = "SET lockbench.statement = %lld",
    .words = words_of_postgres,
    .moved = moved_in_postgres};

/* MariaDB: a session's NOW() is what it is told, before each statement. SYSDATE() is the server's
 * own, also of a statement that has waited: what is added to it is told by a lock that the control
 * session has while the clock is ahead, since that is seen at once and belongs to no snapshot. */
static const char *const moved_in_mariadb[] = {"now",
                                               "sysdate",
                                               "current_timestamp",
                                               "localtimestamp",
                                               "utc_timestamp",
                                               "unix_timestamp",
                                               "current_date",
                                               "current_time",
                                               "localtime",
                                               NULL};
static const struct lb_clock_word words_of_mariadb[] = {
    {"sysdate",
     "+ INTERVAL IF(IS_USED_LOCK(concat('lb_clock_', database())) IS NULL, 0, %lld) MICROSECOND"},
    {NULL, NULL}};
static const struct lb_server_clock mariadb_clock = {
    .set = "DO get_lock(concat('lb_clock_', database()), 0)",
    .set_back = "DO release_lock(concat('lb_clock_', database()))",
    .statement = "SET timestamp = unix_timestamp(sysdate(6)) + %lld / 1000",
    .statement_back = "SET timestamp = DEFAULT",
    .words = words_of_mariadb,
    .keeps_defaults = true,
    .moved = moved_in_mariadb};

/* SQLite: its functions are replaced in the connection, see sqlite_clock.c. */
static const char *const moved_in_sqlite[] = {
    "julianday",         "unixepoch",    "strftime",     "datetime",
    "current_timestamp", "current_date", "current_time", NULL};
static const struct lb_server_clock sqlite_clock = {.statement = "SELECT lockbench_clock(%lld)",
                                                    .statement_back = "SELECT lockbench_clock(0)",
                                                    .moved = moved_in_sqlite};

const struct lb_server_clock *lb_reset_clock(const struct lb_db *db)
{
    return strcmp(db->name, "postgres") == 0  ? &postgres_clock
           : strcmp(db->name, "mariadb") == 0 ? &mariadb_clock
           : strcmp(db->name, "sqlite") == 0  ? &sqlite_clock
                                              : NULL;
}

/* Length of the word's call behind it, "(6)"; 0: none. */
static size_t call_at(const char *p)
{
    size_t blank = strspn(p, " ");
    const char *end = p[blank] == '(' ? strchr(p + blank, ')') : NULL;
    return end != NULL ? (size_t)(end - p) + 1 : 0;
}

static void write_word(FILE *out, const char *from, size_t n, const struct lb_clock_word *word,
                       int64_t ahead_ms)
{
    if (word->instead[0] != '+') {
        fprintf(out, "%s", word->instead);
        return;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(out, "(%.*s ", (int)n, from);
    fprintf(out, word->instead, (long long)ahead_ms * 1000);
    fprintf(out, ")");
#pragma GCC diagnostic pop
}

char *lb_clock_rewrite(const struct lb_server_clock *clock, const char *native, int64_t ahead_ms)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    for (const char *p = native; *p != '\0';) {
        const char *from = p;
        const struct lb_clock_word *word = clock->words;
        if (*p == '\'' || *p == '"' || *p == '`') {
            const char *end = strchr(p + 1, *p);
            p = end != NULL ? end + 1 : p + strlen(p);
        } else if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (isalpha((unsigned char)*p) || *p == '_') {
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
            size_t n = (size_t)(p - from);
            while (word->word != NULL &&
                   (strlen(word->word) != n || strncasecmp(word->word, from, n) != 0))
                word++;
            if (word->word != NULL) {
                p += call_at(p);
                write_word(out, from, (size_t)(p - from), word, ahead_ms);
                continue;
            }
        } else {
            p++;
        }
        fwrite(from, 1, (size_t)(p - from), out);
    }
    return fclose(out) == 0 ? text : NULL;
}
