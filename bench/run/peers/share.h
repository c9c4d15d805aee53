/* One rank's part of a run that several ranks do together (peers.h). Alone: all of it. */
#ifndef LB_SHARE_H
#define LB_SHARE_H

#include "scenario.h"
#include "schedule.h"

/* Logs beside the workers': the controlling thread's, the faults', the watchdog's, and those of
 * sessions that help to put a backlog. */
enum { LB_FIRST_PUT_LOG = 3, LB_PUT_LOGS = 3, LB_EXTRA_LOGS = LB_FIRST_PUT_LOG + LB_PUT_LOGS };

struct lb_share {
    uint32_t rank, n_ranks;
    uint32_t first_worker; /* the number of the first of its workers */
    uint32_t first_seat;   /* likewise, where those who replace the killed have no number */
    uint32_t first_log;    /* of the logs beside the workers' */
    uint32_t n_logs;       /* of all ranks: the step between process numbers */
    uint32_t n_workers;    /* of all ranks, and how many of them are no producers */
    uint32_t n_consumers;
    uint64_t n_sessions; /* of all ranks' workers */
    bool has_producers;  /* any rank */
    struct lb_arrivals arrivals;
};

/* The number of ranks, of n_ranks, that have work: each has a worker, and a session of a pool, a
 * thread and a process, where they are counted. */
uint32_t lb_share_ranks(const struct lb_scenario *all, uint32_t n_ranks);
/* beats: the strategy has heartbeats, which have logs of their own. */
void lb_share_make(const struct lb_scenario *all, bool beats, uint32_t rank, uint32_t n_ranks,
                   struct lb_share *ret);
/* The scenario of all as it is for one rank. */
void lb_share_scenario(const struct lb_scenario *all, uint32_t rank, uint32_t n_ranks,
                       struct lb_scenario *ret_own);

#endif
