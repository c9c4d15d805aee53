/* Advice on the guarantees about attributes of items: keys, tenants, priorities, unique keys, and
 * rates.
 */
#ifndef LB_ADVICE_ATTRIBUTE_H
#define LB_ADVICE_ATTRIBUTE_H

#include "advice.h"

/* Its text is NULL for any other guarantee. */
struct lb_advice lb_advise_attribute(const struct lb_outlook *outlook, enum lb_guarantee guarantee);

#endif
