/* Values of all rounds together, for rankings: only ranking*.c include this. */
#ifndef LB_RANKING_POOLED_H
#define LB_RANKING_POOLED_H

#include "ranking.h"

/* True if the run counts for this measure. Rounds whose generator was late count, except for the
 * waits. */
bool lb_rank_uses(const struct lb_outcome *run, enum lb_measured measured);
/* What a cell lacks to be compared: "640 of 1000 waits"; NULL: nothing. */
const char *lb_pooled_lacks(const struct lb_cell *cell, enum lb_measured measured, char *buf,
                            size_t size);
/* As lb_blocks_replay, of one look; sets noise, looks and alpha of the table, and pooled of its
 * ranks. */
void lb_pooled_compare(struct lb_rank_table *table, enum lb_measured measured, size_t reference,
                       uint64_t seed, struct lb_block_result *results);

#endif
