/* Leading other ranks: see peers.h.
 *
 * When is a queue drained? In one rank, once all consumers got "empty" within one epoch
 * (worker_queue.c). Epochs of several ranks are laid beside each other by waves: each wave makes
 * every rank begin a new epoch, and say whether the one before it had stayed as it was, with no
 * worker at work on an item. After the first wave, all ranks make a second; once all have got
 * "empty" in that epoch, a third checks if anything has happened since the first. If not, then
 * between the answers to the first and the questions of the third no rank put, claimed or gave back
 * anything, and all consumers of all ranks got "empty" then.
 */
#include "peers.h"

#include "clock.h"
#include "joint.h"

#include <stdio.h>

#define LEAD_NS       UINT64_C(50000000)
#define PING_EVERY_NS UINT64_C(100000000)
#define PING_AGAIN_NS UINT64_C(50000000) /* after a burst of slow answers */
#define PING_SLOW_NS  UINT64_C(200000)
#define PING_WAIT_NS  UINT64_C(25000000) /* longer than the asked rank may sleep */
#define SPIN_NS       UINT64_C(500000)
enum { BURST = 5, RANKS_A_TICK = 16 };

static void nap(void)
{
    /* Shorter than the asked rank stays awake: AWAKE_NS in follow.c. */
    nanosleep(&(struct timespec){.tv_nsec = 150000}, NULL);
}

static void lose(struct lb_active_run *run, uint32_t rank, const char *why)
{
    struct lb_peers *peers = run->peers;
    struct lb_peer *peer = &peers->all[rank];
    struct lb_error err;
    if (peer->is_lost)
        return;
    peer->is_lost = true;
    if (peers->lost[0] == '\0')
        snprintf(peers->lost, sizeof peers->lost, "rank %u on %s %s", rank, peer->host, why);
    if (lb_team_phase(run->team) >= LB_PHASE_MEASURE) {
        lb_team_raise(run->team, LB_PHASE_STOP);
        return;
    }
    lb_fail(&err, LB_E_RANK, "%s: nothing was measured", peers->lost);
    lb_team_fail(run->team, &err);
}

static void send_to(struct lb_active_run *run, uint32_t rank)
{
    struct lb_peers *peers = run->peers;
    if (lb_parcel_send(&peers->parcel, peers->link, rank) != 0)
        lose(run, rank, "could not be sent to");
}

static void take_all(struct lb_active_run *run);

/* --- clocks --- */

static void ping(struct lb_active_run *run, uint32_t rank)
{
    struct lb_peers *peers = run->peers;
    struct lb_peer *peer = &peers->all[rank];
    uint64_t every_ns = peer->quickest_ns > PING_SLOW_NS ? PING_AGAIN_NS : PING_EVERY_NS;
    peer->n_pings_left--;
    lb_parcel_begin(&peers->parcel, LB_MSG_PING, peers->run);
    peer->ping_ns = lb_now_ns();
    lb_parcel_put_u64(&peers->parcel, peer->ping_ns);
    lb_parcel_put_u64(&peers->parcel, peer->n_pings_left);
    /* So long until the next burst: the other is awake then, and may sleep until then. */
    peer->measure_due_ns = peer->ping_ns + every_ns;
    lb_parcel_put_u64(&peers->parcel, every_ns);
    send_to(run, rank);
}

static void take_pong(struct lb_active_run *run, uint32_t rank, struct lb_parcel *parcel)
{
    uint64_t received_ns = lb_now_ns();
    struct lb_peer *peer = &run->peers->all[rank];
    uint64_t sent_ns = lb_parcel_take_u64(parcel), theirs_ns = lb_parcel_take_u64(parcel);
    if (parcel->failed || sent_ns != peer->ping_ns)
        return;
    peer->ping_ns = 0;
    if (received_ns - sent_ns < peer->quickest_ns)
        peer->quickest_ns = received_ns - sent_ns;
    lb_offsets_add(&peer->offsets, sent_ns, theirs_ns, received_ns);
    if (peer->n_pings_left > 0)
        ping(run, rank);
}

/* Where the first question finds the other asleep, the next ones find it awake. One that is not
 * answered is not asked again: its answer, however late, begins the burst. */
static void begin_burst(struct lb_active_run *run, uint32_t rank)
{
    struct lb_peer *peer = &run->peers->all[rank];
    peer->n_pings_left = BURST;
    peer->quickest_ns = UINT64_MAX;
    peer->measure_due_ns = lb_now_ns() + PING_EVERY_NS;
    if (peer->ping_ns == 0)
        ping(run, rank);
}

/* A rank that was awake a moment ago answers at once: sleeping meanwhile would widen the bound. A
 * rank that does not answer at once has no core, and may need this one. */
static bool is_awaited(const struct lb_peers *peers, bool *ret_spin)
{
    bool is_awaited = false;
    *ret_spin = false;
    for (uint32_t r = 1; r < peers->n; r++) {
        const struct lb_peer *peer = &peers->all[r];
        if (peer->is_lost || peer->ping_ns == 0)
            continue;
        is_awaited = true;
        *ret_spin |= peer->n_pings_left + 1 < BURST && lb_now_ns() < peer->ping_ns + SPIN_NS;
    }
    return is_awaited;
}

static void await_answers(struct lb_active_run *run)
{
    uint64_t until_ns = lb_now_ns() + PING_WAIT_NS;
    bool spin;
    while (is_awaited(run->peers, &spin) && lb_now_ns() < until_ns) {
        if (!spin)
            nap();
        take_all(run);
    }
}

void lb_peers_ask_clock(struct lb_active_run *run, uint32_t rank)
{
    begin_burst(run, rank);
    await_answers(run);
}

/* --- messages --- */

static void take_progress(struct lb_active_run *run, struct lb_peer *peer, struct lb_parcel *parcel)
{
    struct lb_elsewhere so_far;
    lb_parcel_take(parcel, &so_far, sizeof so_far);
    uint64_t wave = lb_parcel_take_u64(parcel), flags = lb_parcel_take_u64(parcel);
    if (parcel->failed)
        return;
    struct lb_elsewhere *sum = &run->elsewhere;
    sum->n_successes += so_far.n_successes - peer->so_far.n_successes;
    sum->n_refusals += so_far.n_refusals - peer->so_far.n_refusals;
    sum->n_overlaps += so_far.n_overlaps - peer->so_far.n_overlaps;
    sum->n_faults += so_far.n_faults - peer->so_far.n_faults;
    sum->n_faults_over += so_far.n_faults_over - peer->so_far.n_faults_over;
    for (size_t i = 0; i < LB_COARSE_BUCKETS; i++)
        sum->sums[i] += so_far.sums[i] - peer->so_far.sums[i];
    peer->so_far = so_far;
    peer->wave = wave;
    peer->is_unchanged = (flags & 1) != 0;
    peer->is_emptied = (flags & 2) != 0;
    peer->is_done = (flags & 4) != 0;
}

static void take_failure(struct lb_active_run *run, uint32_t rank, struct lb_parcel *parcel)
{
    struct lb_peer *peer = &run->peers->all[rank];
    struct lb_error err = {0};
    lb_parcel_take(parcel, &err, sizeof err);
    err.message[sizeof err.message - 1] = '\0';
    struct lb_error told;
    lb_fail(&told, err.code < 0 ? err.code : LB_E_INTERNAL, "rank %u on %s: %s", rank, peer->host,
            err.message);
    lb_team_fail(run->team, &told);
    peer->is_ready = true;
}

static void take_result(struct lb_active_run *run, uint32_t rank, struct lb_parcel *parcel)
{
    struct lb_peer *peer = &run->peers->all[rank];
    struct lb_error err;
    size_t n;
    lb_parcel_take(parcel, &peer->part, sizeof peer->part);
    const unsigned char *bytes = lb_parcel_rest(parcel, &n);
    if (parcel->failed || peer->outcome != NULL ||
        lb_outcome_read(bytes, n, &peer->outcome, &err) != 0) {
        lose(run, rank, "sent a result that is not whole");
        return;
    }
    peer->has_ended = true;
}

static void take_one(struct lb_active_run *run, uint32_t rank, enum lb_message what,
                     struct lb_parcel *parcel)
{
    struct lb_peer *peer = &run->peers->all[rank];
    peer->heard_ns = lb_now_ns();
    switch (what) {
    case LB_MSG_PONG:
        take_pong(run, rank, parcel);
        break;
    case LB_MSG_READY:
        peer->is_ready = true;
        break;
    case LB_MSG_PROGRESS:
        take_progress(run, peer, parcel);
        break;
    case LB_MSG_FAILED:
        take_failure(run, rank, parcel);
        break;
    case LB_MSG_ENDED:
        peer->has_ended = true;
        break;
    case LB_MSG_RESULT:
        take_result(run, rank, parcel);
        break;
    case LB_MSG_EVENTS:
        lb_joint_take(run, rank, parcel);
        break;
    default:
        break;
    }
}

static void take_all(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    struct lb_parcel parcel = {0};
    enum lb_message what;
    uint32_t from;
    uint64_t number;
    while (lb_parcel_receive(&parcel, peers->link, &from, &what, &number))
        if (from > 0 && from < peers->n && number == peers->run && !peers->all[from].is_lost)
            take_one(run, from, what, &parcel);
    lb_parcel_release(&parcel);
}

/* --- is the queue drained? --- */

static void begin_wave(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    peers->wave++;
    for (uint32_t r = 1; r < peers->n; r++) {
        lb_parcel_begin(&peers->parcel, LB_MSG_WAVE, peers->run);
        lb_parcel_put_u64(&peers->parcel, peers->wave);
        send_to(run, r);
    }
    peers->own_unchanged = lb_part_wave(run, &peers->own_epoch);
}

static bool all_have_seen(const struct lb_peers *peers, bool unchanged, bool emptied)
{
    bool all = !unchanged || peers->own_unchanged;
    for (uint32_t r = 1; r < peers->n; r++) {
        const struct lb_peer *peer = &peers->all[r];
        all = all && peer->wave == peers->wave && (!emptied || peer->is_emptied) &&
              (!unchanged || peer->is_unchanged);
    }
    return all;
}

static void drain(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    struct lb_team *team = run->team;
    bool producers = run->share.has_producers;
    if (team->scenario->shape != LB_QUEUE || atomic_load(&team->drained) ||
        (producers && lb_team_phase(team) < LB_PHASE_DRAIN) ||
        lb_team_phase(team) < LB_PHASE_WARMUP)
        return;
    switch (peers->step) {
    case 0: /* all get "empty", each rank in an epoch of its own */
        if (!lb_part_is_emptied(team) || !all_have_seen(peers, false, true))
            return;
        break;
    case 1: /* all have begun the first wave's epoch */
        if (!all_have_seen(peers, false, false))
            return;
        break;
    case 2: /* and got "empty" in the second's */
        if (all_have_seen(peers, false, false) && !all_have_seen(peers, true, false))
            peers->step = 0; /* something had happened in between */
        if (peers->step == 0 || !lb_part_is_emptied(team) || !all_have_seen(peers, true, true))
            return;
        break;
    default: /* the third: has anything happened? */
        if (!all_have_seen(peers, false, false))
            return;
        peers->step = 0;
        if (!all_have_seen(peers, true, false))
            return;
        for (uint32_t r = 1; r < peers->n; r++) {
            lb_parcel_begin(&peers->parcel, LB_MSG_DRAINED, peers->run);
            send_to(run, r);
        }
        atomic_store(&team->drained, true);
        lb_common_wake(&team->common);
        return;
    }
    begin_wave(run);
    peers->step++;
}

/* --- phases --- */

static void tell_phase(struct lb_active_run *run, enum lb_phase phase, uint64_t at_ns)
{
    struct lb_peers *peers = run->peers;
    for (uint32_t r = 1; r < peers->n; r++) {
        struct lb_peer *peer = &peers->all[r];
        if (peer->is_lost || peer->told >= phase)
            continue;
        peer->told = phase;
        lb_parcel_begin(&peers->parcel, LB_MSG_PHASE, peers->run);
        lb_parcel_put_u64(&peers->parcel, phase);
        lb_parcel_put_u64(&peers->parcel, lb_offsets_theirs(&peer->offsets, at_ns));
        send_to(run, r);
    }
}

uint64_t lb_peers_agree(struct lb_active_run *run, enum lb_phase phase)
{
    uint64_t at_ns = lb_now_ns();
    struct lb_team *team = run->team;
    if (run->peers == NULL || lb_team_phase(team) > phase)
        return at_ns;
    at_ns += LEAD_NS;
    tell_phase(run, phase, at_ns);
    enum lb_phase before = lb_team_phase(team);
    while (lb_now_ns() < at_ns && lb_team_phase(team) == before) {
        run->company->poll(run);
        uint32_t seen = lb_common_seen(&team->common);
        uint64_t wake_ns = lb_now_ns() + UINT64_C(1000000);
        lb_common_wait(&team->common, seen, wake_ns < at_ns ? wake_ns : at_ns);
    }
    return lb_now_ns();
}

bool lb_peers_order(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    uint32_t seat = (uint32_t)lb_random_below(&run->fault_random, run->share.n_workers), rank = 0;
    while (rank + 1 < peers->n && seat >= peers->all[rank + 1].share.first_seat)
        rank++;
    if (rank == 0 || peers->all[rank].is_lost)
        return false;
    lb_parcel_begin(&peers->parcel, LB_MSG_ORDER, peers->run);
    send_to(run, rank);
    return true;
}

static void watch(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    uint64_t now_ns = lb_now_ns();
    char why[120];
    uint32_t n_asked = 0;
    for (uint32_t r = 1; r < peers->n; r++) {
        struct lb_peer *peer = &peers->all[r];
        if (peer->is_lost)
            continue;
        /* Once its history is here, it is not needed any more. */
        if (now_ns > peer->heard_ns + peers->patience_ns && !peer->has_history) {
            snprintf(why, sizeof why,
                     "has not answered for %llu s: it was killed, stands still or cannot "
                     "be reached",
                     (unsigned long long)(peers->patience_ns / 1000000000));
            lose(run, r, why);
        } else if (now_ns >= peer->measure_due_ns && n_asked < RANKS_A_TICK && !peer->has_history) {
            n_asked++;
            begin_burst(run, r);
        }
    }
    if (n_asked > 0)
        await_answers(run);
    run->wake_ns = 0;
    for (uint32_t r = 1; r < peers->n; r++) {
        const struct lb_peer *peer = &peers->all[r];
        bool asks = !peer->is_lost && !peer->has_history;
        if (asks && (run->wake_ns == 0 || peer->measure_due_ns < run->wake_ns))
            run->wake_ns = peer->measure_due_ns;
    }
}

static void poll(struct lb_active_run *run)
{
    take_all(run);
    watch(run);
    /* Raised by whoever raised it here. */
    enum lb_phase phase = lb_team_phase(run->team);
    if (phase > LB_PHASE_PREPARE)
        tell_phase(run, phase, lb_now_ns());
    drain(run);
}

static bool are_ready(const struct lb_active_run *run)
{
    bool ready = true;
    for (uint32_t r = 1; r < run->peers->n; r++)
        ready = ready && (run->peers->all[r].is_ready || run->peers->all[r].is_lost);
    return ready;
}

static bool have_ended(const struct lb_active_run *run)
{
    /* Before the stop: their workers have done their count. After it: the ranks have told what came
     * of it. */
    bool ended = true, is_over = lb_team_phase(run->team) >= LB_PHASE_STOP;
    for (uint32_t r = 1; r < run->peers->n; r++) {
        const struct lb_peer *peer = &run->peers->all[r];
        ended = ended && (peer->has_ended || peer->is_lost || (!is_over && peer->is_done));
    }
    return ended;
}

const struct lb_company lb_peers_company = {poll, are_ready, have_ended};
