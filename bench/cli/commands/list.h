/* The parts of lockbench list. */
#ifndef LB_LIST_H
#define LB_LIST_H

#include "cli.h"
#include "table.h"

/* Prints a table, and frees it. On a terminal a line is at most as long as that is wide, without
 * the columns of order as far as need be; elsewhere a row is one line, for grep. */
void lb_list_table(struct lb_table *table, const char *const *order);

/* Lists the stored results of a directory, results/ if none is given. */
enum lb_exit lb_list_results(const struct lb_args *args);

/* All that is known of strategies, in the order given; format "text" or "json". Returns an exit
 * status. */
enum lb_exit lb_list_strategies(const struct lb_words *names, bool json);

#endif
