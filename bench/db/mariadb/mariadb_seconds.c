/* Times of MariaDB that have whole seconds only. */
#include "mariadb_space.h"

#include "whole_seconds.h"

#include <string.h>

static bool is_column(const struct lb_token *type, const char *args, size_t n_args)
{
    (void)args;
    return n_args == 0 && !lb_token_is(type, "timestamptz"); /* a type of PostgreSQL alone */
}

static bool is_time(const struct lb_token *word, const char *args, size_t n_args)
{
    static const char *const clocks[] = {"now",       "current_timestamp", "sysdate",
                                         "localtime", "localtimestamp",    "utc_timestamp",
                                         NULL};
    args += strspn(args, " ");
    if (lb_token_is(word, "unix_timestamp"))
        return n_args == 0;
    return lb_token_is_any(word, clocks) && (n_args == 0 || *args < '1' || *args > '6');
}

const struct lb_whole_seconds lb_mariadb_whole_seconds = {.is_time = is_time,
                                                          .is_column = is_column};
