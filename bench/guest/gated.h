/* The gate of one worker's program: what its statements meet on their way to the server. Private to
 * bench/guest. */
#ifndef LB_GATED_H
#define LB_GATED_H

#include "guest_process.h"

struct lb_guest_gate;

/* A relay in front of door, for the program of this actor, as the actor's plan asks for it. Free
 * with lb_guest_gate_close. Errors as lb_relay_new. */
int lb_guest_gate_open(struct lb_actor *actor, const struct lb_door *door,
                       struct lb_guest_gate **ret_gate, struct lb_error *err);
/* Where the program connects to. */
const struct lb_door *lb_guest_gate_door(const struct lb_guest_gate *gate);
/* NULL: it has a thread of its own. Else whoever waits for the program drives it. */
struct lb_relay *lb_guest_gate_relay(struct lb_guest_gate *gate);
/* Has the stepper ended it? err is then what it said. */
bool lb_guest_gate_is_over(const struct lb_guest_gate *gate, struct lb_error *err);
/* Mark the begin and the end of an operation: requests in between belong to it. */
void lb_guest_gate_begin(struct lb_guest_gate *gate, const json_t *request);
void lb_guest_gate_end(struct lb_guest_gate *gate);
/* Accepts NULL. */
void lb_guest_gate_close(struct lb_guest_gate *gate);

#endif
