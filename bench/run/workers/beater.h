/* The processes of a queue's protocol: they register, say again and again that they are alive, and
 * sign off. Private to bench/run.
 *
 * Each consumer is a process of the protocol. Its heart is not in its own thread: one thread of
 * each process of the system beats for all consumers in it, so that they beat while they work, and
 * that one who is killed or stopped does not. A consumer that a fault lets stand still in a thread
 * is passed over.
 */
#ifndef LB_BEATER_H
#define LB_BEATER_H

#include "worker.h"

struct lb_beater;

/* Those of the workers first, first + step, ... below n that are consumers. `log` is the number of
 * the beater's log. *ret_beater: NULL where the protocol has no heartbeat. */
int lb_beater_start(struct lb_worker *workers, uint32_t first, uint32_t step, uint32_t n,
                    uint32_t log, struct lb_beater **ret_beater, struct lb_error *err);
/* After the workers have ended; accepts NULL. */
void lb_beater_end(struct lb_beater *beater);

/* A consumer's process, in its own thread: before its first claim, and after its last. */
void lb_process_begin(struct lb_worker *worker);
void lb_process_end(struct lb_worker *worker);
/* From a claim that brought something until all of it was ended. */
void lb_process_has_items(struct lb_worker *worker, bool has);

#endif
