/* The chunked update. Private to bench/run. */
#ifndef LB_CHUNKS_H
#define LB_CHUNKS_H

#include "proof.h"
#include "worker.h"

struct lb_chunks;
enum { LB_CHUNK_SUMS = 5 };
int lb_chunks_setup(struct lb_session *control, uint64_t n_rows, struct lb_error *err);
/* Free with free(). */
struct lb_chunks *lb_chunks_new(const struct lb_db *db);
/* Updates the range of item id, or its first half: the work of a worker that fails in the middle.
 * An answer, or an error; contention is waited out, but inside of the strategy's transaction, which
 * then has to be rolled back. */
int lb_chunks_update(struct lb_worker *worker, int64_t id, bool half, struct lb_error *err);
/* After the run, in which n_lost sessions were lost: was every row updated exactly once? */
int lb_chunks_prove(struct lb_session *control, const struct lb_team *team, uint64_t n_lost,
                    struct lb_proof *ret_proof, struct lb_error *err);

#endif
