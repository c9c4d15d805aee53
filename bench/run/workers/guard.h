/* The guarded row. Private to bench/run. */
#ifndef LB_GUARD_H
#define LB_GUARD_H

#include "worker.h"

struct lb_guard;
int lb_guard_setup(struct lb_session *control, uint32_t n_resources, struct lb_error *err);
/* Free with free(). */
struct lb_guard *lb_guard_new(const struct lb_db *db);
/* Shows the grant's token to the row and reads it; then writes it back, incremented, with the
 * token. LB_REFUSED: a later token was seen. */
int lb_guard_read(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                  struct lb_error *err);
int lb_guard_write(struct lb_worker *worker, uint32_t resource, const struct lb_grant *grant,
                   struct lb_error *err);
/* The hold's release was answered; committed: with LB_OK. */
void lb_guard_released(struct lb_worker *worker, bool committed);
/* After the run: writes that were accepted minus what the rows count; elsewhere: those
 * of other ranks. */
int lb_guard_lost_updates(struct lb_session *control, const struct lb_worker *workers,
                          uint32_t n_workers, uint64_t elsewhere, uint64_t *ret_lost,
                          struct lb_error *err);

#endif
