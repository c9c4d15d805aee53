/* The fault kill: the holder's process is gone, with its threads and their locks or items. */
#include "victim.h"

const struct lb_fault_kind lb_fault_kill = {
    .inject = lb_victim_die,
    .is_last = true,
    .lock_keys = "fault-interval=250ms fault-count=20 duration=7s stale=300ms",
    .queue_keys = "fault-interval=60ms fault-count=20 duration=3s"};
