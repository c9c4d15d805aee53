/* The leader's side of a run that several ranks do together. Private to bench/run.
 *
 * Rank 0 leads: it sets up, raises the phases, judges and reports. The others follow (follow.c).
 * All shared state of ranks goes through here: the run, phases, ids, the draining of a queue,
 * counters, clocks, and in the end the results. The leader measures the others' clocks ten times a
 * second (offsets.h), and takes a rank for lost that has not answered for the patience.
 */
#ifndef LB_PEERS_H
#define LB_PEERS_H

#include "builder.h"
#include "offsets.h"
#include "parcel.h"
#include "part.h"
#include "run_state.h"

#include <stdio.h>

struct lb_peer {
    char host[64];
    bool is_met, is_ready, has_ended, has_history, is_lost;
    struct lb_share share; /* its own part of the workers */
    uint32_t n_workers;
    enum lb_phase told;               /* the last phase sent to it */
    uint64_t heard_ns;                /* by our clock */
    uint64_t measure_due_ns, ping_ns; /* the ping that is under way; 0: none */
    uint32_t n_pings_left;            /* of the present burst */
    uint64_t quickest_ns;             /* answer in it */
    struct lb_offsets offsets;
    struct lb_elsewhere so_far;
    uint64_t wave;                 /* the last that it has seen */
    bool is_done;                  /* all its workers have ended */
    bool is_unchanged, is_emptied; /* since the wave before; now */
    struct lb_part part;
    struct lb_outcome *outcome;
    uint64_t uncertainty_ns;
    size_t place; /* of the last question about its clock */
    uint32_t place_log;
    uint64_t last_ns; /* of the log that is being taken */
    bool is_pulled;   /* events were requested, but have not arrived yet */
};

struct lb_peers {
    struct lb_link *link;
    struct lb_peer *all; /* by rank; [0] is not used */
    uint32_t n_ranks;    /* the leader included */
    uint32_t n;          /* of these, the first n take part in the present run */
    uint64_t run;        /* the number of the present run */
    uint64_t patience_ns;
    char *where; /* the URI of a run that is under way; "": none */
    size_t where_size;
    char host[64];
    /* Is the queue drained? See drain in peers.c. */
    uint64_t wave, own_epoch;
    int step;
    bool own_unchanged;
    struct lb_builder builder; /* the history of all ranks */
    uint64_t *uncertainty_ns;  /* of its logs */
    uint32_t n_logs;
    char lost[300];   /* which rank was lost, and why; "": none */
    char astray[300]; /* whose clock cannot be bounded; "": none */
    struct lb_parcel parcel;
};

/* Meets the other ranks, once. LB_E_RANK if one does not come, or is of another build. */
int lb_peers_meet(struct lb_link *link, struct lb_peers **ret_peers, struct lb_error *err);
/* Writes a rank's introduction. */
void lb_peers_introduce(struct lb_parcel *parcel);
/* For so long a rank may be silent: LOCKBENCH_RANK_PATIENCE. */
uint64_t lb_peers_patience_ns(void);
/* Tells them that there is nothing more to do. true: one of them was lost. Accepts NULL. */
bool lb_peers_part(struct lb_peers *peers);

/* Can these ranks run this together? 0, or LB_E_UNSUPPORTED. */
int lb_peers_check(const struct lb_run_plan *request, struct lb_error *err);
/* The space exists: sends the run to the others, which begin to connect. */
int lb_peers_begin(struct lb_active_run *run, const struct lb_scenario *all, struct lb_error *err);
/* Draws the rank that has the victim of a fault, and tells it. false: it is our own. */
bool lb_peers_order(struct lb_active_run *run);
/* Agrees with the others on a moment at which a phase begins, and waits for it; alone it is now.
 * The caller raises the phase. */
uint64_t lb_peers_agree(struct lb_active_run *run, enum lb_phase phase);
extern const struct lb_company lb_peers_company;

/* After the end: bounds of their clocks, results, histories (where recorded), as one view. */
void lb_peers_gather(struct lb_active_run *run);
/* The run is over for all: their sessions are closed. */
void lb_peers_end(struct lb_active_run *run);

/* Private to the peers: a burst of questions to one rank, answered or not. */
void lb_peers_ask_clock(struct lb_active_run *run, uint32_t rank);

#endif
