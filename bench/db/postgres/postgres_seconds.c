/* Times of PostgreSQL that have whole seconds only. */
#include "postgres_space.h"

#include "whole_seconds.h"

#include <string.h>

static bool is_column(const struct lb_token *type, const char *args, size_t n_args)
{
    (void)type;
    return n_args > 0 && *args == '0';
}

static bool is_time(const struct lb_token *word, const char *args, size_t n_args)
{
    static const char *const clocks[] = {"current_timestamp", "localtimestamp", NULL};
    if (lb_token_is(word, "date_trunc"))
        return memmem(args, n_args, "second", 6) != NULL &&
               memmem(args, n_args, "millisecond", 11) == NULL &&
               memmem(args, n_args, "microsecond", 11) == NULL;
    return lb_token_is_any(word, clocks) && is_column(word, args, n_args);
}

const struct lb_whole_seconds lb_postgres_whole_seconds = {
    .is_time = is_time, .is_column = is_column, .divides_wholly = true, .has_epoch = true};
