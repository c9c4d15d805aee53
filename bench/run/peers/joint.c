/* Histories of several ranks as one: see joint.h. */
#include "joint.h"

#include "peers.h"

static void doubt_log(struct lb_peers *peers, uint32_t log, uint64_t uncertainty_ns)
{
    if (log < peers->n_logs && peers->uncertainty_ns[log] < uncertainty_ns)
        peers->uncertainty_ns[log] = uncertainty_ns;
}

/* Of another's clock to ours. false: nothing is known of its clock then. */
static bool translate(struct lb_peers *peers, struct lb_peer *peer, uint32_t log, uint64_t *time_ns)
{
    int64_t low, high;
    if (!lb_offsets_at(&peer->offsets, *time_ns, &peer->place, &low, &high))
        return false;
    int64_t middle = low + (high - low) / 2;
    /* Two for rounding, in the order of a log and in the half. */
    uint64_t half_ns = (uint64_t)(high - low) / 2 + 2;
    *time_ns -= (uint64_t)middle;
    doubt_log(peers, log, half_ns);
    if (half_ns > peer->uncertainty_ns)
        peer->uncertainty_ns = half_ns;
    return true;
}

static void fail(struct lb_active_run *run, uint32_t rank, const char *what)
{
    struct lb_peer *peer = &run->peers->all[rank];
    if (run->peers->lost[0] == '\0')
        snprintf(run->peers->lost, sizeof run->peers->lost, "rank %u on %s %s", rank, peer->host,
                 what);
    peer->is_lost = true;
}

void lb_joint_take(struct lb_active_run *run, uint32_t rank, struct lb_parcel *parcel)
{
    struct lb_peers *peers = run->peers;
    struct lb_peer *peer = &peers->all[rank];
    uint32_t log = (uint32_t)lb_parcel_take_u64(parcel);
    uint64_t n = lb_parcel_take_u64(parcel);
    peer->is_pulled = false;
    if (n == 0 || parcel->failed) {
        peer->has_history = true;
        if (log != 0) /* of the last message: not all is there */
            fail(run, rank, "could not keep its whole history: its disk is full");
        return;
    }
    if (log != peer->place_log) {
        peer->place = 0;
        peer->last_ns = 0;
        peer->place_log = log;
    }
    for (uint64_t i = 0; i < n && !peer->is_lost; i++) {
        struct lb_event event;
        lb_parcel_take(parcel, &event, sizeof event);
        if (parcel->failed || log >= peers->n_logs)
            fail(run, rank, "sent a history that is not whole");
        else if (!translate(peers, peer, log, &event.time_ns))
            fail(run, rank, "has events from when nothing was known of its clock");
        if (event.time_ns < peer->last_ns)
            event.time_ns = peer->last_ns;
        peer->last_ns = event.time_ns;
        if (!peer->is_lost)
            lb_builder_add(&peers->builder, log, &event);
    }
}

static void add_own(const struct lb_history_view *own, struct lb_builder *builder)
{
    for (size_t l = 0; l < own->n_logs; l++)
        for (size_t s = 0; s < own->logs[l].n_spans; s++)
            for (size_t i = 0; i < own->logs[l].spans[s].n; i++)
                lb_builder_add(builder, (uint32_t)l, &own->logs[l].spans[s].events[i]);
}

int lb_joint_view(struct lb_active_run *run, struct lb_history_view *ret_view, struct lb_error *err)
{
    struct lb_peers *peers = run->peers;
    struct lb_history_view own;
    int rc = lb_history_view(run->history, &own, err);
    if (rc != 0)
        return rc;
    add_own(&own, &peers->builder);
    lb_builder_finish(&peers->builder, own.meta, ret_view);
    ret_view->start_ns = own.start_ns;
    ret_view->start_unix_ns = own.start_unix_ns;
    ret_view->truncated = own.truncated;
    ret_view->whole_ns = own.whole_ns;
    for (size_t l = 0; l < ret_view->n_logs && l < peers->n_logs; l++)
        ret_view->logs[l].uncertainty_ns = peers->uncertainty_ns[l];
    lb_history_release(&own);
    return 0;
}
