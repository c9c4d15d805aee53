/* Collects the results of the other ranks, once all workers have ended: see peers.h. */
#include "peers.h"

#include "memory.h"

static void pull(struct lb_active_run *run, uint32_t rank)
{
    struct lb_peers *peers = run->peers;
    peers->all[rank].is_pulled = true;
    lb_parcel_begin(&peers->parcel, LB_MSG_PULL, peers->run);
    if (lb_parcel_send(&peers->parcel, peers->link, rank) != 0)
        peers->all[rank].is_lost = true;
}

/* A last look at each clock, behind all that was done by it. */
static void close_clocks(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    for (uint32_t r = 1; r < peers->n; r++) {
        struct lb_peer *peer = &peers->all[r];
        size_t before = peer->offsets.n;
        peer->ping_ns = 0; /* one that was sent before the end will not do */
        while (!peer->is_lost && peer->offsets.n == before) {
            lb_peers_ask_clock(run, r);
            run->company->poll(run);
        }
        if (!peer->is_lost && !lb_offsets_close(&peer->offsets) && peers->astray[0] == '\0')
            snprintf(
                peers->astray, sizeof peers->astray,
                "the clock of rank %u on %s ran at another speed than rank 0's by more than %d "
                "ppm, or was set",
                r, peer->host, LB_DRIFT_PPM);
    }
}

static bool take_histories(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    bool more = false;
    for (uint32_t r = 1; r < peers->n; r++) {
        struct lb_peer *peer = &peers->all[r];
        if (peer->has_history || peer->is_lost)
            continue;
        more = true;
        if (!peer->is_pulled)
            pull(run, r);
    }
    return more;
}

void lb_peers_gather(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    if (peers == NULL)
        return;
    peers->astray[0] = '\0';
    peers->n_logs = run->share.n_logs;
    peers->uncertainty_ns = lb_calloc(peers->n_logs, sizeof *peers->uncertainty_ns);
    close_clocks(run);
    while (run->history != NULL && take_histories(run)) {
        run->company->poll(run);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}
