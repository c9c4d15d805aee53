/* --matrix: each question is asked at each isolation level that a target tells apart. */
#ifndef LB_LEVELS_H
#define LB_LEVELS_H

#include "select.h"

/* The question as a cell of the matrix asks it: at that level (LB_ISO_DEFAULT: it stays as it is),
 * and for a short time unless the user gave one. */
int lb_levels_ask(const struct lb_question *question, const struct lb_strategy *strategy,
                  enum lb_isolation level, const struct lb_args *args,
                  struct lb_question *ret_asked, struct lb_error *err);

/* Is the level among those of the matrix? All that the engine tells apart, or the one that the
 * scenario asks for, or with --isolation default the engine's own; without a database (NULL) there
 * is none, LB_ISO_DEFAULT. */
bool lb_levels_include(const struct lb_db *db, const struct lb_scenario *scenario,
                       enum lb_isolation level, const struct lb_args *args);

/* Makes the cell a SKIP if the level means nothing to the engine, or is not the strategy's. */
void lb_levels_fit(const struct lb_db *db, enum lb_isolation level, struct lb_cell *cell);

#endif
