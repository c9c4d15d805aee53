/* Verdicts by one reading of the history. Private to the judge. */
#ifndef LB_DOUBTS_H
#define LB_DOUBTS_H

#include "check.h"

/* As lb_check, also if a clock was set. */
int lb_check_doubted(const struct lb_history_view *history, const struct lb_model *model,
                     struct lb_judgement *ret_judgement, struct lb_error *err);
/* The same without model->doubts. */
int lb_check_once(const struct lb_history_view *history, const struct lb_model *model,
                  struct lb_judgement *ret_judgement, struct lb_error *err);

#endif
