/* Attributes of a queue's item. Each is a parameter of section put, and a number in the history. */
#ifndef LB_ATTRIBUTE_H
#define LB_ATTRIBUTE_H

#include <stdint.h>

enum lb_attribute {
    LB_A_KEY,      /* at most K items of one key are in hand together */
    LB_A_TENANT,   /* the customer that the item belongs to */
    LB_A_PRIORITY, /* an int32_t, stored as it is */
    LB_A_DUE,      /* after how many ms it may be claimed */
    LB_A_UNIQUE,   /* its unique key: one unfinished item has it at a time */
    LB_ATTRIBUTES
};

/* Where the attributes of items come from: a function of the item's number alone, so that all
 * processes and machines of a run agree. */
struct lb_attribute_source {
    uint32_t (*value_of)(const struct lb_attribute_source *source, enum lb_attribute attribute,
                         int64_t id);
};

#endif
