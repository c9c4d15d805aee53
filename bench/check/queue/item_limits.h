/* Limits of how many items of one kind are in hand together. Private to bench/check. */
#ifndef LB_CHECK_LIMITS_H
#define LB_CHECK_LIMITS_H

#include "item_ops.h"

struct lb_limit {
    enum lb_guarantee guarantee;
    uint32_t most;        /* items of one key in hand */
    const char *untold;   /* why an item's key may not be known */
    const char *has_kind; /* "of the same group" */
    bool (*key_of)(const struct lb_case *c, uint64_t id, uint64_t *ret_key);
};

/* The limits that are claimed with a known number. Returns their count. */
enum { LB_LIMITS = 2 };
size_t lb_limits_of(const struct lb_case *c, struct lb_limit limits[LB_LIMITS]);

/* The keys of which an item may be in hand at the end, sorted, once for each such item (struct
 * lb_key). */
void lb_limits_open(const struct lb_case *c, const struct lb_limit *limit,
                    struct lb_array *ret_open);

/* --- the limits: a file each --- */

bool lb_group_limit(const struct lb_case *c, struct lb_limit *ret_limit);
bool lb_key_limit(const struct lb_case *c, struct lb_limit *ret_limit);

#endif
