/* The parts of lockbench list. */
#ifndef LB_LIST_H
#define LB_LIST_H

#include "cli.h"

/* Lists the stored results of a directory, results/ if none is given. */
enum lb_exit lb_list_results(const struct lb_args *args);

/* All that is known of strategies, in the order given; format "text" or "json". Returns an exit
 * status. */
enum lb_exit lb_list_strategies(const struct lb_words *names, bool json);

#endif
