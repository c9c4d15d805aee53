/* lockbench list results. */
#ifndef LB_LIST_RESULTS_H
#define LB_LIST_RESULTS_H

#include "cli.h"

/* Lists the stored results of a directory, results/ if none is given. */
enum lb_exit lb_list_results(const struct lb_args *args);

#endif
