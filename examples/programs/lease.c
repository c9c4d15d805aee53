/* A lease with a fence in a table of SQLite, as a program for lockbench: the smallest one in C.
 *
 *   cc -o lease examples/programs/lease.c $(pkg-config --cflags --libs sqlite3 jansson)
 *   lockbench verify -s ./lease -d sqlite:
 */
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

static const char hello[] =
    "{\"hello\":1,\"strategy\":\"lease-c\",\"shape\":\"lock\",\"lease\":true,"
    "\"claims\":[\"exclusive\",\"owner-release\",\"fenced\"],"
    "\"engines\":[\"sqlite\"]}";
static const char acquire[] =
    "UPDATE lease SET owner = ?2, until = " NOW " + ?3, token = token + 1 "
    "WHERE name = ?1 AND until <= " NOW " RETURNING token";
static const char release[] = "UPDATE lease SET owner = NULL, until = 0 "
                              "WHERE name = ?1 AND token = ?4 RETURNING token";

static sqlite3 *db;
static char me[64];
static long long ttl_ms;

/* One statement; the number that it returns, or -1. */
static long long ask(const char *sql, const char *resource, long long token)
{
    sqlite3_stmt *statement = NULL;
    long long got = -1;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, resource, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(statement, 2, me, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(statement, 3, ttl_ms);
        sqlite3_bind_int64(statement, 4, token);
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
            got = sqlite3_column_int64(statement, 0);
    }
    if (rc != SQLITE_OK && rc != SQLITE_DONE) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_finalize(statement);
    return got;
}

static void open_file(const json_t *request)
{
    const json_t *target = json_object_get(request, "target");
    const json_t *options = json_object_get(request, "options");
    snprintf(me, sizeof me, "%s", json_string_value(json_object_get(request, "worker")));
    ttl_ms = json_integer_value(json_object_get(options, "ttl_ms"));
    if (sqlite3_open(json_string_value(json_object_get(target, "path")), &db) != SQLITE_OK)
        exit(1);
    sqlite3_busy_timeout(db, 10000);
}

static void set_up(const json_t *request)
{
    size_t i;
    json_t *name;
    ask("CREATE TABLE lease (name TEXT PRIMARY KEY, owner TEXT, until INTEGER, token INTEGER)", "",
        0);
    json_array_foreach(json_object_get(request, "resources"), i, name)
        ask("INSERT INTO lease VALUES (?1, NULL, 0, 0)", json_string_value(name), 0);
}

int main(void)
{
    char line[65536];
    setvbuf(stdout, NULL, _IOLBF, 0); /* an answer must not wait in a buffer */
    puts(hello);
    while (fgets(line, sizeof line, stdin) != NULL) {
        json_t *request = json_loads(line, 0, NULL);
        long long id = json_integer_value(json_object_get(request, "id"));
        const char *what = json_string_value(json_object_get(request, "do"));
        const char *resource = json_string_value(json_object_get(request, "resource"));
        long long token = json_integer_value(json_object_get(request, "token"));
        if (strcmp(what, "open") == 0)
            open_file(request);
        if (strcmp(what, "setup") == 0)
            set_up(request);
        if (strcmp(what, "acquire") == 0 && (token = ask(acquire, resource, 0)) < 0)
            printf("{\"id\":%lld,\"busy\":true}\n", id);
        else if (strcmp(what, "release") == 0 && ask(release, resource, token) < 0)
            printf("{\"id\":%lld,\"refused\":true}\n", id);
        else
            printf("{\"id\":%lld,\"ok\":true,\"token\":%lld}\n", id, token);
        json_decref(request);
    }
    sqlite3_close(db);
    return 0;
}
