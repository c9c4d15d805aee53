/* What list -s prints: all that is known of a strategy, and not only a row of the table. */
#ifndef LB_LIST_STRATEGY_H
#define LB_LIST_STRATEGY_H

#include "cli.h"

/* In the order given; format "text" or "json". Returns an exit status. */
enum lb_exit lb_list_strategies(const struct lb_words *names, bool json);

#endif
