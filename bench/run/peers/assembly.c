/* Ranks come together for a run, and part: see peers.h. */
#include "peers.h"

#include "clock.h"
#include "control.h"
#include "memory.h"
#include "run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 20, MOST_S = 3600 };
#define MEET_NS UINT64_C(60000000000)

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* --- meeting --- */

void lb_peers_introduce(struct lb_parcel *parcel)
{
    char host[64] = "?";
    gethostname(host, sizeof host - 1);
    lb_parcel_begin(parcel, LB_MSG_MEET, 0);
    lb_parcel_put_text(parcel, LB_VERSION);
    lb_parcel_put_u64(parcel, sizeof(struct lb_outcome));
    lb_parcel_put_u64(parcel, sizeof(struct lb_scenario));
    lb_parcel_put_text(parcel, host);
}

static int meet_one(struct lb_peers *peers, uint32_t rank, struct lb_parcel *parcel,
                    struct lb_error *err)
{
    struct lb_peer *peer = &peers->all[rank];
    const char *version = lb_parcel_take_text(parcel);
    bool same = version != NULL && strcmp(version, LB_VERSION) == 0 &&
                lb_parcel_take_u64(parcel) == sizeof(struct lb_outcome) &&
                lb_parcel_take_u64(parcel) == sizeof(struct lb_scenario);
    const char *host = same ? lb_parcel_take_text(parcel) : NULL;
    snprintf(peer->host, sizeof peer->host, "%s", host != NULL ? host : "?");
    peer->is_met = true;
    peer->heard_ns = lb_now_ns();
    if (same)
        return 0;
    return lb_fail(
        err, LB_E_ENV,
        "rank %u is another build of lockbench than rank 0: install the same on all hosts", rank);
}

static bool all_met(const struct lb_peers *peers)
{
    bool met = true;
    for (uint32_t r = 1; r < peers->n_ranks; r++)
        met = met && peers->all[r].is_met;
    return met;
}

uint64_t lb_peers_patience_ns(void)
{
    const char *text = getenv("LOCKBENCH_RANK_PATIENCE");
    long s = text != NULL ? strtol(text, NULL, 10) : PATIENCE_S;
    return (uint64_t)(s > 0 && s <= MOST_S ? s : PATIENCE_S) * 1000000000u;
}

int lb_peers_meet(struct lb_link *link, struct lb_peers **ret_peers, struct lb_error *err)
{
    struct lb_peers *peers = lb_calloc(1, sizeof *peers);
    peers->all = lb_calloc(link->n_ranks, sizeof *peers->all);
    peers->link = link;
    peers->n_ranks = link->n_ranks;
    peers->patience_ns = lb_peers_patience_ns();
    gethostname(peers->host, sizeof peers->host - 1);
    struct lb_parcel parcel = {0};
    uint64_t wait_ns = peers->patience_ns > MEET_NS ? peers->patience_ns : MEET_NS, number;
    uint64_t give_up_ns = lb_now_ns() + wait_ns;
    int rc = 0;
    while (rc == 0 && !all_met(peers) && lb_now_ns() < give_up_ns) {
        enum lb_message what;
        uint32_t from;
        if (!lb_parcel_receive(&parcel, link, &from, &what, &number))
            nap();
        else if (what == LB_MSG_MEET && from > 0 && from < peers->n_ranks)
            rc = meet_one(peers, from, &parcel, err);
    }
    lb_parcel_release(&parcel);
    if (rc == 0 && !all_met(peers))
        rc = lb_fail(err, LB_E_RANK, "not all of the %u ranks have come", peers->n_ranks);
    *ret_peers = peers;
    return rc;
}

bool lb_peers_part(struct lb_peers *peers)
{
    if (peers == NULL)
        return false;
    bool lost = !all_met(peers);
    for (uint32_t r = 1; r < peers->n_ranks; r++) {
        lost |= peers->all[r].is_lost;
        lb_parcel_begin(&peers->parcel, LB_MSG_BYE, 0);
        lb_parcel_send(&peers->parcel, peers->link, r);
        lb_offsets_release(&peers->all[r].offsets);
        lb_outcome_free(peers->all[r].outcome);
    }
    lb_parcel_release(&peers->parcel);
    free(peers->all);
    free(peers);
    return lost;
}

/* --- one run --- */

int lb_peers_check(const struct lb_run_plan *request, struct lb_error *err)
{
    const struct lb_scenario *s = request->scenario;
    const struct lb_strategy *strategy = request->strategy;
    const struct lb_db *db = strategy->no_database ? NULL : request->target->db;
    bool is_queue = s->shape == LB_QUEUE;
    char faults[120];
    const struct {
        const char *what;
        bool is_asked;
    } beyond[] = {{"--rounds", is_queue && s->rounds > 0},
                  {"--rows", is_queue && s->rows > 0},
                  {"--readers", is_queue && s->readers > 0},
                  {"phases", s->n_stages > 0},
                  {"--period", s->period_ns > 0},
                  {"--classes", is_queue && s->classes > 1},
                  {"--locked-ahead", is_queue && s->locked_ahead > 0},
                  {"--aged", is_queue && s->aged[0] != '\0'},
                  {"--dead-rows", is_queue && s->dead_rows > 0},
                  {"--keep-history", request->history_path != NULL}};
    if (strategy->flow != &lb_ordinary_flow || db == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s does not work from several ranks: its sessions are "
                       "not lockbench's own",
                       strategy->name);
    if (db->space_join == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s runs inside of one process: ranks need a server that all of them reach",
                       db->product);
    if (s->fault != LB_FAULT_NONE && !lb_fault_is(s->fault, LB_FAULT_IS_THE_HOLDERS))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "several ranks: fault %s is not offered, but %s: use one process, lockbench",
                       lb_fault_name(s->fault),
                       lb_faults_named(LB_FAULT_IS_THE_HOLDERS, "and", faults, sizeof faults));
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        if (beyond[i].is_asked)
            return lb_fail(err, LB_E_UNSUPPORTED,
                           "several ranks: %s is not offered: use one process, "
                           "lockbench",
                           beyond[i].what);
    return 0;
}

static void describe_run(struct lb_active_run *run, const struct lb_scenario *all)
{
    const struct lb_run_plan *request = run->request;
    struct lb_parcel *parcel = &run->peers->parcel;
    bool is_built_in = lb_strategy_find(request->strategy->name) == request->strategy;
    lb_parcel_begin(parcel, LB_MSG_RUN, run->peers->run);
    lb_parcel_put_u64(parcel, run->peers->n);
    lb_parcel_put(parcel, all, sizeof *all);
    lb_parcel_put_text(parcel, request->strategy->name);
    lb_parcel_put_u64(parcel, is_built_in);
    lb_parcel_put_u64(parcel, request->strategy->shape);
    lb_parcel_put_text(parcel, lb_file_text(request->file));
    lb_parcel_put_text(parcel, request->target->uri);
    lb_parcel_put_text(parcel, request->target->db->space_name(run->space));
    lb_parcel_put_u64(parcel, (uint64_t)request->target->db->space_number(run->space));
    lb_parcel_put_u64(parcel, (uint64_t)lb_common_next_id(&run->team->common));
    lb_parcel_put_u64(parcel, request->seed);
    lb_parcel_put_u64(parcel, request->record);
    lb_parcel_put_u64(parcel, request->n_settings);
    for (size_t i = 0; i < request->n_settings; i++) {
        lb_parcel_put_text(parcel, request->settings[i].name);
        lb_parcel_put_text(parcel, request->settings[i].value);
    }
}

static void begin_peer(struct lb_active_run *run, uint32_t rank, const struct lb_scenario *all)
{
    struct lb_peer *peer = &run->peers->all[rank];
    struct lb_scenario own;
    struct lb_share share;
    lb_share_scenario(all, rank, run->peers->n, &own);
    lb_share_make(all, lb_run_beats(run->request), rank, run->peers->n, &share);
    lb_offsets_release(&peer->offsets);
    lb_outcome_free(peer->outcome);
    struct lb_peer fresh = {
        .is_met = true,
        .is_lost = peer->is_lost,
        .n_workers = (uint32_t)(own.workers + (all->shape == LB_QUEUE ? own.producers : 0)),
        .share = share,
        .heard_ns = lb_now_ns(),
        .place_log = UINT32_MAX};
    memcpy(fresh.host, peer->host, sizeof fresh.host);
    *peer = fresh;
}

int lb_peers_begin(struct lb_active_run *run, const struct lb_scenario *all, struct lb_error *err)
{
    struct lb_peers *peers = run->peers;
    if (peers == NULL)
        return 0;
    if (peers->lost[0] != '\0')
        return lb_fail(err, LB_E_RANK, "%s", peers->lost);
    peers->run++;
    peers->wave = 0;
    peers->step = 0;
    peers->own_epoch = 0;
    for (uint32_t r = 1; r < peers->n; r++)
        begin_peer(run, r, all);
    /* Nothing that a rank does comes before the first look at its clock. */
    for (uint32_t r = 1; r < peers->n; r++) {
        struct lb_peer *peer = &peers->all[r];
        while (peer->offsets.n == 0 && !peer->is_lost && lb_control_interrupted(run) < 2) {
            lb_peers_ask_clock(run, r);
            run->company->poll(run);
        }
        describe_run(run, all);
        if (!peer->is_lost && lb_parcel_send(&peers->parcel, peers->link, r) != 0)
            return lb_fail(err, LB_E_RANK, "rank %u on %s cannot be sent to", r, peer->host);
    }
    const struct lb_error *error = lb_team_error(run->team);
    if (error != NULL) {
        *err = *error;
        return err->code;
    }
    return 0;
}

void lb_peers_end(struct lb_active_run *run)
{
    struct lb_peers *peers = run->peers;
    for (uint32_t r = 1; peers != NULL && r < peers->n; r++) {
        lb_parcel_begin(&peers->parcel, LB_MSG_OVER, peers->run);
        lb_parcel_send(&peers->parcel, peers->link, r);
    }
    if (peers == NULL)
        return;
    lb_builder_release(&peers->builder);
    free(peers->uncertainty_ns);
    peers->uncertainty_ns = NULL;
}
