/* The part of a rank that does not lead: see peers/peers.h for who leads. */
#ifndef LB_FOLLOW_H
#define LB_FOLLOW_H

#include "error.h"
#include "link.h"

/* Follows rank 0 until it says that there is nothing more to do. LB_E_RANK: it was not heard of in
 * the middle of a run. */
int lb_follow(struct lb_link *link, struct lb_error *err);

#endif
