/* The attributes of a scenario's items: drawn from its distributions by the seed and the item's
 * number. */
#ifndef LB_ATTRIBUTES_H
#define LB_ATTRIBUTES_H

#include "attribute.h"
#include "scenario.h"

/* Is it a distribution, such as "0:0.9,9:0.1"? "" is the default one. 0 or LB_E_USAGE. */
int lb_attributes_check(const char *key, const char *text, struct lb_error *err);
/* Caller frees with free. The texts of the scenario were checked. */
struct lb_attribute_source *lb_attributes_new(const struct lb_scenario *scenario, uint64_t seed);
/* The share of the items that the most frequent key has. */
double lb_attributes_hottest(const struct lb_scenario *scenario);
/* True if an item may be due later than it is put. */
bool lb_attributes_delay(const struct lb_scenario *scenario);

#endif
