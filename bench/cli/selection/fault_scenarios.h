/* --faults: each scenario that was selected is asked again under each fault of a list. */
#ifndef LB_FAULT_SCENARIOS_H
#define LB_FAULT_SCENARIOS_H

#include "select.h"

/* Puts a scenario under a fault: sets the keys that let it show, and adds "+fault" to its name. */
int lb_fault_preset(struct lb_scenario *scenario, const char *fault, struct lb_error *err);
/* Replaces the selection's scenarios: one for each of them and each fault of the list ("all", or
 * names separated by commas). LB_E_USAGE names what is accepted. */
int lb_select_faults(struct lb_selection *selection, const char *list, struct lb_error *err);

#endif
