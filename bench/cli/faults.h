/* --faults: each scenario that was selected is asked again under each fault of a list. */
#ifndef LB_FAULTS_H
#define LB_FAULTS_H

#include "select.h"

/* Replaces the selection's scenarios: one for each of them and each fault of the list ("all", or
 * names separated by commas), with the keys that let the fault show. LB_E_USAGE names what is
 * accepted. */
int lb_select_faults(struct lb_selection *selection, const char *list, struct lb_error *err);

#endif
