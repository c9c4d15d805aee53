/* Other processes of this machine, as /proc shows them. */
#ifndef LB_PROC_H
#define LB_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The process at the other end of a local socket; 0: it is not on this machine, or not visible. */
pid_t lb_proc_peer(int fd);
/* The state of a process ('Z' and 'X': it is dead), and its start in clock ticks since the boot.
 * False: unknown. */
bool lb_proc_began(pid_t pid, char *ret_state, int64_t *ret_start);
/* The parent of a process; 0: unknown. */
pid_t lb_proc_parent(pid_t pid);
/* True if the program of a process has this name. */
bool lb_proc_is(pid_t pid, const char *name);
/* The CPU time of a process, of its children, and of their children that have ended. Negative:
 * unknown. */
double lb_proc_cpu_ns(pid_t pid);
/* The resident memory of a process; negative: unknown. */
double lb_proc_memory_bytes(pid_t pid);

#endif
