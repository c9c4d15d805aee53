/* How long a scenario may itself keep a worker waiting, whatever the protocol. */
#ifndef LB_DEMAND_H
#define LB_DEMAND_H

#include "scenario.h"

/* The longest wait that a correct protocol may cause: the holds of all other workers, an unlucky
 * poller, and the fault's effect. UINT64_MAX: there is no such time (a fault takes all of it).
 * is_lease: a dead worker's hold is free after the ttl. */
uint64_t lb_scenario_demand_ns(const struct lb_scenario *scenario, bool is_lease);
/* The bound on waits that is judged: the user's own, or the scenario's, but no shorter than
 * demand_ns. 0: none is. */
uint64_t lb_scenario_bound_ns(const struct lb_scenario *scenario, uint64_t demand_ns);

#endif
