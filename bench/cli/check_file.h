/* lockbench run --check-file: what can be said of a strategy's file without running it. */
#ifndef LB_CHECK_FILE_H
#define LB_CHECK_FILE_H

#include "cli.h"

enum lb_exit lb_check_file(const struct lb_args *args);

#endif
