/* Verdicts by one reading of the history. Private to the judge. */
#ifndef LB_DOUBTS_H
#define LB_DOUBTS_H

#include "check.h"

/* As lb_check, but without model->doubts. */
int lb_check_once(const struct lb_history_view *history, const struct lb_model *model,
                  struct lb_judgement *ret_judgement, struct lb_error *err);

#endif
