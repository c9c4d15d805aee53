/* One strategy on several servers of one engine: verdicts, rate, wait and cost of each server
 * beside those of the reference, in a sentence. The statistics are those of ranking.h.
 */
#ifndef LB_SERVERS_H
#define LB_SERVERS_H

#include "ranking.h"

enum lb_servers_result {
    LB_SERVERS_ALIKE, /* none is shown slower, and none is undecided */
    LB_SERVERS_SLOWER,
    LB_SERVERS_UNDECIDED
};

/* True if the table compares servers, and not strategies. */
bool lb_servers_are_asked(const struct lb_rank_table *table);
/* lb_rank_choice; or, of servers, a sentence for each that is not the reference: "new (PostgreSQL
 * 18.4) against old (15.18), skip-locked: same verdicts; 1.08 [1.03, 1.13] of the successes/s
 * (faster), ...". rankings: all LB_RANK_MEASURES of the same report. Returns buf. */
char *lb_servers_or_choice(const struct lb_rank_table *rates, const struct lb_ranking *rankings,
                           char *buf, size_t size);
/* Beside the reference's: "the same", "changed" or "n/a". */
const char *lb_servers_plans(const struct lb_cell *base, const struct lb_cell *cell);
/* The number of wait events that the reference did not have, or "n/a". Returns buf. */
char *lb_servers_waits(const struct lb_cell *base, const struct lb_cell *cell, char *buf,
                       size_t size);
/* The worst of all tables that compare servers: slower by the rate, or in an open loop by the p99
 * of the wait. ALIKE if servers are not compared. */
enum lb_servers_result lb_servers_result(const struct lb_ranking *rankings);

#endif
