/* Date functions of a connection whose clock can be moved: see sqlite_clock.h. */
#include "sqlite_clock.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The library that runs statements in this thread. SQLite passes a context to a function, and only
 * the library that made it can read it. */
static _Thread_local const struct lb_sqlite_api *calling;

void lb_sqlite_clock_calls(const struct lb_sqlite_api *api)
{
    calling = api;
}

/* What the functions of one connection share. */
struct clock {
    const struct lb_sqlite_api *api;
    sqlite3 *plain; /* has SQLite's own functions */
    sqlite3_int64 ahead_ms;
    sqlite3_int64 still_ms; /* since 1970, where it stands; 0: it runs */
    unsigned n_users;
};

struct function {
    struct clock *clock;
    const char *name, *call; /* call: SQLite's own; NULL: the same */
    int n_before;            /* arguments in front of the time */
};

static void release(void *arg)
{
    struct function *function = arg;
    struct clock *clock = function->clock;
    const struct lb_sqlite_api *api = clock->api;
    free(function);
    if (--clock->n_users > 0)
        return;
    api->close(clock->plain);
    free(clock);
}

/* SQLite's own function of the same arguments, with the clock's lead behind "now". */
static void answer(sqlite3_context *context, int n, sqlite3_value **args)
{
    const struct lb_sqlite_api *api = calling;
    const struct function *function = api->user_data(context);
    int at = function->n_before;
    const char *time = n > at && api->value_type(args[at]) == SQLITE_TEXT
                           ? (const char *)api->value_text(args[at])
                           : NULL;
    bool is_now = n <= at || (time != NULL && strcasecmp(time, "now") == 0);
    const sqlite3_int64 still_ms = function->clock->still_ms;
    const char *now = still_ms != 0 ? "?21, 'unixepoch'" : "'now'";
    char sql[300], ahead[60];
    sqlite3_stmt *stmt = NULL;
    int n_sql = snprintf(sql, sizeof sql, "SELECT %s(",
                         function->call != NULL ? function->call : function->name);
    for (int i = 0; i < (n > at ? n : at + is_now); i++) {
        char arg[40];
        snprintf(arg, sizeof arg, "?%d", i + 1);
        if (is_now && i == at)
            snprintf(arg, sizeof arg, "%s, ?20", now);
        n_sql += snprintf(sql + n_sql, sizeof sql - (size_t)n_sql, "%s%s", i > 0 ? ", " : "", arg);
    }
    snprintf(sql + n_sql, sizeof sql - (size_t)n_sql, ")");
    if (api->prepare_v2(function->clock->plain, sql, -1, &stmt, NULL) != SQLITE_OK) {
        api->result_error(context, api->errmsg(function->clock->plain), -1);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!is_now || i != at)
            api->bind_value(stmt, i + 1, args[i]);
    snprintf(ahead, sizeof ahead, "%+.3f seconds", (double)function->clock->ahead_ms / 1000);
    if (is_now && still_ms != 0)
        api->bind_int64(stmt, 21, still_ms / 1000);
    if (is_now)
        api->bind_text(stmt, 20, ahead, -1, SQLITE_TRANSIENT);
    if (api->step(stmt) == SQLITE_ROW)
        api->result_value(context, api->column_value(stmt, 0));
    api->finalize(stmt);
}

static void set(sqlite3_context *context, int n, sqlite3_value **args)
{
    const struct lb_sqlite_api *api = calling;
    struct function *function = api->user_data(context);
    (void)n;
    sqlite3_int64 ms = api->value_int64(args[0]);
    if (strcmp(function->name, "lockbench_still") == 0)
        function->clock->still_ms = ms;
    else
        function->clock->ahead_ms = ms;
}

static int add(sqlite3 *handle, struct clock *clock, const char *name, const char *call,
               int n_before, int n_args)
{
    struct function *function = lb_malloc(sizeof *function);
    *function = (struct function){clock, name, call, n_before};
    clock->n_users++;
    const struct lb_sqlite_api *api = clock->api;
    bool sets = strncmp(name, "lockbench_", 10) == 0;
    /* Deterministic, as SQLite's own are within one statement. */
    return api->create_function_v2(handle, name, n_args,
                                   SQLITE_UTF8 | (sets ? 0 : SQLITE_DETERMINISTIC), function,
                                   sets ? set : answer, NULL, NULL, release);
}

int lb_sqlite_clock_open(const struct lb_sqlite_api *api, sqlite3 *handle)
{
    static const struct {
        const char *name, *call;
        int n_before, n_args;
    } all[] = {{"lockbench_clock", NULL, 0, 1},
               {"lockbench_still", NULL, 0, 1},
               {"date", NULL, 0, -1},
               {"time", NULL, 0, -1},
               {"datetime", NULL, 0, -1},
               {"julianday", NULL, 0, -1},
               {"unixepoch", NULL, 0, -1},
               {"strftime", NULL, 1, -1},
               {"current_timestamp", "datetime", 0, 0},
               {"current_date", "date", 0, 0},
               {"current_time", "time", 0, 0}};
    struct clock *clock = lb_calloc(1, sizeof *clock);
    clock->api = api;
    int code = api->open(":memory:", &clock->plain);
    clock->n_users = 1; /* while they are added */
    for (size_t i = 0; i < sizeof all / sizeof all[0] && code == SQLITE_OK; i++)
        code = add(handle, clock, all[i].name, all[i].call, all[i].n_before, all[i].n_args);
    if (--clock->n_users == 0) {
        api->close(clock->plain);
        free(clock);
    }
    return code;
}
