/* PostgreSQL targets, and connections to them: see postgres_space.h. */
#include "postgres_space.h"

#include "leash.h"
#include "memory.h"
#include "postgres_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_VERSION = 100000 };

bool lb_pg_match(const char *uri)
{
    if (strncmp(uri, "postgresql://", 13) == 0 || strncmp(uri, "postgres://", 11) == 0)
        return true;
    /* A conninfo string: it begins with "key =". */
    uri += strspn(uri, " ");
    size_t key = strspn(uri, "abcdefghijklmnopqrstuvwxyz_");
    return key > 0 && uri[key + strspn(uri + key, " ")] == '=';
}

static const char *option_value(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val != NULL && options->val[0] != '\0' ? options->val : NULL;
    return NULL;
}

static int parse_uri(const char *uri, PQconninfoOption **ret_options, struct lb_error *err)
{
    PQconninfoOption *options = PQconninfoParse(uri, NULL);
    /* libpq's reason is not repeated: it quotes the string, with the password in it. */
    if (options == NULL)
        return lb_fail(err, LB_E_USAGE,
                       "not a valid PostgreSQL URI or connection string (in a URI, special "
                       "characters of a user name or password are written as %%XX)");
    const char *port = option_value(options, "port");
    if (port != NULL && port[strspn(port, "0123456789,")] != '\0') {
        PQconninfoFree(options);
        return lb_fail(err, LB_E_USAGE,
                       "the port in the PostgreSQL URI is not a number (special characters of a "
                       "user name or password are written as %%XX)");
    }
    *ret_options = options;
    return 0;
}

int lb_pg_describe(const char *uri, char *label, size_t size, struct lb_error *err)
{
    PQconninfoOption *options = NULL;
    int r = parse_uri(uri, &options, err);
    if (r < 0)
        return r;
    const char *user = option_value(options, "user"), *host = option_value(options, "host"),
               *port = option_value(options, "port"), *db = option_value(options, "dbname");
    if (host == NULL)
        host = option_value(options, "hostaddr");
    bool in_query = host != NULL && (host[0] == '/' || strchr(host, ',') != NULL);
    /* Without it a repetition would take the first of several that answers, be it a standby. */
    const char *which = option_value(options, "target_session_attrs");
    bool chooses = which != NULL && strchr(host != NULL ? host : "", ',') != NULL &&
                   which[strspn(which, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
    snprintf(label, size, "postgresql://%s%s%s%s%s/%s%s%s%s%s%s%s", user ? user : "",
             user ? "@" : "", host && !in_query ? host : "", port && !in_query ? ":" : "",
             port && !in_query ? port : "", db ? db : "", in_query ? "?host=" : "",
             in_query ? host : "", port && in_query ? "&port=" : "", port && in_query ? port : "",
             chooses ? "&target_session_attrs=" : "", chooses ? which : "");
    PQconninfoFree(options);
    return 0;
}

/* libpq's reason without the password, whatever it quotes. */
static int fail_connect(PGconn *pg, const char *password, struct lb_error *err)
{
    const char *reason = pg != NULL ? PQerrorMessage(pg) : "out of memory";
    size_t n = strlen(reason); /* it ends with ": " where the time ran out */
    lb_fail(err, LB_E_ENV, "cannot connect to PostgreSQL: %s%s", reason,
            n == 0 || reason[n - 1] == ' ' ? "no answer within connect_timeout" : "");
    bool is_secret = password != NULL && strlen(password) > 2; /* shorter ones are in any text */
    for (char *at = err->message; is_secret && (at = strstr(at, password)) != NULL;)
        for (size_t i = 0; password[i] != '\0'; i++)
            *at++ = '*';
    return LB_E_ENV;
}

static unsigned timeout_of(const PQconninfoOption *options)
{
    const char *own = option_value(options, "connect_timeout");
    return own != NULL && !lb_leash_is_pulled() ? (unsigned)strtoul(own, NULL, 10)
                                                : lb_leash_connect_s();
}

static bool has_hosts(const PQconninfoOption *options)
{
    const char *host = option_value(options, "host"), *address = option_value(options, "hostaddr");
    return (host != NULL && strchr(host, ',') != NULL) ||
           (address != NULL && strchr(address, ',') != NULL);
}

/* Connects with the target's own settings, and with start-up options behind the user's own (NULL:
 * none, not even the user's). *ret_refused: a pooler does not take options. */
static int connect_pg(const char *uri, const char *role, const char *extra, const char *which,
                      PGconn **ret_pg, bool *ret_refused, struct lb_error *err)
{
    enum { MAX_KEYS = 64 };
    const char *keys[MAX_KEYS + 5], *values[MAX_KEYS + 5];
    PQconninfoOption *options = NULL;
    char name[64], timeout[16];
    size_t n = 0;
    if (lb_leash_connect_s() == 0)
        return lb_fail(err, LB_E_ENV, "cannot connect to PostgreSQL: the server does not answer");
    int r = parse_uri(uri, &options, err);
    if (r < 0)
        return r;
    snprintf(name, sizeof name, "lockbench%s%s", role ? " " : "", role ? role : "");
    const char *own = option_value(options, "options"),
               *password = option_value(options, "password");
    if (own == NULL)
        own = getenv("PGOPTIONS");
    char *merged = lb_format("%s%s%s", extra != NULL && own != NULL ? own : "",
                             extra != NULL && own != NULL ? " " : "", extra != NULL ? extra : "");
    unsigned timeout_s = timeout_of(options);
    snprintf(timeout, sizeof timeout, "%u", timeout_s);
    keys[n] = "connect_timeout";
    values[n++] = timeout;
    for (const PQconninfoOption *o = options; o->keyword != NULL && n < MAX_KEYS; o++)
        if (o->val != NULL && strcmp(o->keyword, "options") != 0 &&
            strcmp(o->keyword, "connect_timeout") != 0) {
            keys[n] = o->keyword;
            values[n++] = o->val;
        }
    keys[n] = "application_name";
    values[n++] = name;
    keys[n] = "options";
    values[n++] = merged;
    if (which != NULL) { /* the last setting counts */
        keys[n] = "target_session_attrs";
        values[n++] = which;
    }
    keys[n] = values[n] = NULL;
    PGconn *pg = lb_pg_wire_connect(keys, values, has_hosts(options), timeout_s);
    *ret_refused = false;
    if (pg == NULL || PQstatus(pg) != CONNECTION_OK) {
        r = fail_connect(pg, password, err);
        *ret_refused = strstr(err->message, "unsupported startup parameter") != NULL;
        PQfinish(pg);
    } else if (PQserverVersion(pg) < OLDEST_VERSION) {
        r = lb_fail(err, LB_E_ENV, "the server is PostgreSQL %s; 10 is the oldest that works",
                    PQparameterStatus(pg, "server_version"));
        PQfinish(pg);
    } else {
        *ret_pg = pg;
    }
    free(merged);
    PQconninfoFree(options);
    return r;
}

/* Did the start-up options arrive? A pooler can be told to ignore them. */
static bool has_search_path(PGconn *pg, const char *schema)
{
    int sent = PQsendQuery(pg, "SELECT current_setting('search_path')");
    PGresult *result = lb_pg_wire_answer(pg, NULL, sent);
    bool has = lb_pg_succeeded(result) && strcmp(PQgetvalue(result, 0, 0), schema) == 0;
    PQclear(result);
    return has;
}

int lb_pg_connect(const char *uri, const char *role, const char *options, const char *search_path,
                  const char *which, PGconn **ret_pg, bool *ret_pooled, struct lb_error *err)
{
    bool refused = false;
    PGconn *pg = NULL;
    int r = connect_pg(uri, role, options, which, &pg, &refused, err);
    if (r < 0 && refused)
        r = connect_pg(uri, role, NULL, which, &pg, &refused, err);
    if (r < 0)
        return r;
    *ret_pg = pg;
    *ret_pooled = !has_search_path(pg, search_path);
    return 0;
}
