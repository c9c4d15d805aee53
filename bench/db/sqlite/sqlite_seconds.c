/* Times of SQLite that have whole seconds only. */
#include "sqlite_space.h"

#include "whole_seconds.h"

#include <string.h>

static bool is_time(const struct lb_token *word, const char *args, size_t n_args)
{
    static const char *const clocks[] = {"current_timestamp", "datetime", "unixepoch", NULL};
    if (lb_token_is(word, "strftime"))
        return memmem(args, n_args, "%s", 2) != NULL && memmem(args, n_args, "%f", 2) == NULL &&
               memmem(args, n_args, "%J", 2) == NULL;
    return lb_token_is_any(word, clocks) && memmem(args, n_args, "subsec", 6) == NULL;
}

const struct lb_whole_seconds lb_sqlite_whole_seconds = {.is_time = is_time,
                                                         .divides_wholly = true};
