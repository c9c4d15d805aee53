/* Advice on the guarantees about attributes of items: keys, tenants, priorities, unique keys, and
 * rates.
 */
#ifndef LB_ADVICE_ATTRIBUTE_H
#define LB_ADVICE_ATTRIBUTE_H

#include "advice.h"

/* text NULL: the guarantee is none of these. */
struct lb_advice lb_advise_attribute(const struct lb_outlook *outlook, enum lb_guarantee guarantee);

#endif
