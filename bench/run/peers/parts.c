/* The ranks' parts put together: see parts.h. Histograms are added bucket by bucket, so that the
 * sum equals the count of one process.
 */
#include "parts.h"

#include "memory.h"
#include "peers.h"

#include <string.h>

struct lb_part lb_parts_sum(const struct lb_active_run *run)
{
    struct lb_part sum = {0};
    for (uint32_t r = 1; run->peers != NULL && r < run->peers->n; r++) {
        const struct lb_part *part = &run->peers->all[r].part;
        sum.n_granted += part->n_granted;
        sum.n_successes += part->n_successes;
        sum.n_guarded += part->n_guarded;
        sum.n_restarts += part->n_restarts;
        sum.n_parted += part->n_parted;
        lb_live_add(&sum.live, &part->live);
    }
    return sum;
}

static void add_histogram(struct lb_histogram *sum, const struct lb_histogram *one)
{
    if (sum != NULL && one != NULL)
        lb_histogram_add(sum, one);
}

static void add_one(struct lb_outcome *sum, const struct lb_outcome *one, uint32_t first_seat)
{
    for (int m = 0; m < LB_MEASURES; m++) {
        lb_counts_add(&sum->counts[m], &one->counts[m]);
        add_histogram(sum->service[m], one->service[m]);
        add_histogram(sum->response[m], one->response[m]);
    }
    add_histogram(sum->pacing, one->pacing);
    for (uint32_t i = 0; i < one->n_workers; i++)
        sum->worker_successes[first_seat + i] += one->worker_successes[i];
    sum->n_workers += one->n_workers;
    sum->n_items += one->n_items;
    sum->n_lost += one->n_lost;
    sum->n_faults += one->n_faults;
    sum->n_statements += one->n_statements;
    sum->n_connects += one->n_connects;
    sum->n_threads += one->n_threads;
    sum->has_cpu = sum->has_cpu && one->has_cpu;
    sum->cpu_user_ns += one->cpu_user_ns;
    sum->cpu_system_ns += one->cpu_system_ns;
    sum->n_switches_voluntary += one->n_switches_voluntary;
    sum->n_switches_involuntary += one->n_switches_involuntary;
}

static uint64_t successes_of(const struct lb_outcome *outcome)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < outcome->n_workers; i++)
        n += outcome->worker_successes[i];
    return n;
}

static uint64_t late_of(const struct lb_outcome *outcome)
{
    return outcome->pacing != NULL ? lb_histogram_quantile(outcome->pacing, 0.99) : 0;
}

static struct lb_rank_row row_of(const struct lb_outcome *outcome, const char *host)
{
    struct lb_rank_row row = {.n_workers = outcome->n_workers,
                              .n_successes = successes_of(outcome),
                              .cpu_ns = outcome->cpu_user_ns + outcome->cpu_system_ns,
                              .late_ns = late_of(outcome)};
    memcpy(row.host, host, sizeof row.host);
    return row;
}

static struct lb_rank_row row_of_peer(const struct lb_peer *peer)
{
    struct lb_rank_row row = {.n_workers = peer->n_workers};
    if (peer->outcome != NULL)
        row = row_of(peer->outcome, peer->host);
    memcpy(row.host, peer->host, sizeof row.host);
    row.is_lost = peer->is_lost;
    row.n_exchanges = peer->offsets.n;
    row.uncertainty_ns = peer->uncertainty_ns;
    if (peer->offsets.n > 0) {
        const struct lb_bound *last = &peer->offsets.all[peer->offsets.n - 1];
        row.offset_ns = last->low + (last->high - last->low) / 2;
    }
    return row;
}

void lb_parts_add(struct lb_active_run *run, double *busy_ns, double *edge_ns)
{
    struct lb_outcome *outcome = run->outcome;
    struct lb_peers *peers = run->peers;
    if (peers == NULL)
        return;
    outcome->ranks.rows = lb_calloc(peers->n, sizeof *outcome->ranks.rows);
    outcome->ranks.n = peers->n;
    outcome->ranks.rows[0] = row_of(outcome, peers->host);
    for (uint32_t r = 1; r < peers->n; r++) {
        const struct lb_peer *peer = &peers->all[r];
        outcome->ranks.rows[r] = row_of_peer(peer);
        if (peer->uncertainty_ns > outcome->ranks.uncertainty_ns)
            outcome->ranks.uncertainty_ns = peer->uncertainty_ns;
        if (peer->outcome == NULL)
            continue;
        double busy = peer->outcome->in_flight * (double)peer->outcome->elapsed_ns;
        *busy_ns += busy;
        *edge_ns += busy * peer->outcome->in_flight_edge;
        add_one(outcome, peer->outcome, peer->share.first_seat);
    }
}

void lb_parts_invalidate(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    struct lb_peers *peers = run->peers;
    if (peers == NULL || outcome->state == LB_RUN_SERVER_GONE)
        return;
    if (peers->lost[0] != '\0')
        lb_outcome_invalidate(outcome, "%s", peers->lost);
    for (uint32_t r = 1; r < peers->n && outcome->state == LB_RUN_COMPLETE; r++) {
        const struct lb_peer *peer = &peers->all[r];
        if (peer->outcome != NULL && peer->outcome->state == LB_RUN_INVALID)
            lb_outcome_invalidate(outcome, "rank %u on %s: %.200s", r, peer->host,
                                  peer->outcome->reason);
    }
}
