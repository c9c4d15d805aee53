/* Which scenarios a file is put under, with which keys and faults, and why: see asks.h. */
#include "asks.h"

/* fault NULL: none. keys: of the scenario, as lb_ask_set takes them. */
static struct lb_ask *add_stressed(struct lb_asking *m, const char *scenario, const char *fault,
                                   uint64_t cost_ms, const char *why, const char *keys)
{
    struct lb_ask *ask = lb_asks_add_run(m, scenario, fault, why);
    ask->cost_ns = cost_ms * 1000000u;
    lb_ask_set(ask, "%s", keys);
    return ask;
}

/* Without a fault, under a name of its own. */
static struct lb_ask *add_named(struct lb_asking *m, const char *scenario, uint64_t cost_ms,
                                const char *name, const char *why, const char *keys)
{
    struct lb_ask *ask = add_stressed(m, scenario, NULL, cost_ms, why, keys);
    snprintf(ask->name, sizeof ask->name, "%s", name);
    return ask;
}

/* Sessions and transactions that are lost or cut end holds by themselves; so does time. */
static bool survives_loss(const struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    return f->is_session_bound || f->lease != NULL || (f->has_recover && f->recovers_by_time);
}

static void set_fault_times(const struct lb_asking *m, struct lb_ask *ask, const char *count,
                            const char *duration)
{
    lb_ask_set(ask, "fault-count=%s duration=%s progress-bound=0%s", count, duration,
               lb_asking_claims(m, LB_G_RECOVERY) ? "" : " recovery-bound=0");
}

static void lose_connections(struct lb_asking *m, const char *scenario)
{
    if (!lb_asking_on_server(m))
        return;
    if (!survives_loss(m)) {
        lb_asks_leave_out(m, "disconnect, cut",
                          "the hold of a lost connection stays: neither a session, a lease nor a "
                          "recovery ends it");
        return;
    }
    struct lb_ask *ask = add_stressed(m, scenario, "disconnect", 2000,
                                      "the server ends sessions while they hold", "");
    set_fault_times(m, ask, "8", "2s");
    ask = add_stressed(m, scenario, "cut", 3500, "connections are cut behind a statement", "");
    set_fault_times(m, ask, "8", "2s");
    const struct lb_features *f = &m->outlook->features;
    if (m->strategy->shape == LB_QUEUE && f->has_free)
        lb_ask_set(ask, "free=0.5");
    if (m->strategy->shape == LB_QUEUE && lb_asking_claims(m, LB_G_RECOVERY))
        lb_ask_set(ask, "ttl=300ms recover=%s", f->recovers_by_time ? "100ms" : "0");
}

/* Acknowledged commits may be lost with a server. Only the user knows how to fail over. */
static void fail_over(struct lb_asking *m, const char *scenario)
{
    if (m->site->fails_over)
        add_stressed(m, scenario, "failover", 12000,
                     "-d names several servers, and there is --failover-command: one is lost while "
                     "somebody holds",
                     "");
    else if (m->site->has_several)
        lb_asks_leave_out(m, "failover",
                          "-d names several servers: say how one takes another's place with "
                          "--failover-command, if they are private");
}

static const char *crowd_reason(const struct lb_asking *m, const char *otherwise)
{
    return m->program->reads_replica ? "it reads on a replica, which lags: a crowd" : otherwise;
}

/* Holders rest often enough that a wait can begin when no worker has a lease, and no release waits
 * ahead: after that the server would compute it anew. It is long against what a busy machine takes
 * to let the second one in. */
static void make_wait(struct lb_asking *m)
{
    add_stressed(m, "blocker", NULL, 6000,
                 "its lease is counted from the server's time: another session makes it wait",
                 "hold=50ms think=400ms ttl=150ms poll=5ms fault-length=500ms duration=6s");
}

/* Renewals in time keep what is held; too late, they are refused if another may have it. */
static void stress_renewals(struct lb_asking *m, const char *scenario)
{
    if (!m->outlook->features.has_renew)
        return;
    for (int is_late = 0; is_late < 2; is_late++) {
        struct lb_ask *ask = add_named(
            m, scenario, 3000, is_late ? "renewed late" : "renewed in time",
            is_late ? "it has renew: it is renewed when another may have it by now"
                    : "it has renew: it is renewed in time, and outlasts its time",
            is_late ? "renew=260ms hold=500ms ttl=200ms" : "renew=60ms hold=450ms ttl=200ms");
        if (m->program->sections[LB_S_RENEW].takes_batch)
            lb_ask_set(ask, "batch=3 put-interval=40ms");
        /* Holds of half a second: a crowd would wait for longer than is allowed. */
        if (m->strategy->shape == LB_LOCK)
            lb_ask_set(ask, "workers=3 progress-bound=0 poll-max=5ms");
    }
}

/* One heartbeat for all items of a process: after a beat in time, no other worker may take them;
 * after a late one, the process has lost them. */
static void stress_heartbeats(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!f->has_beat || !f->has_recover)
        return;
    add_named(m, "queue-rescue", 3000, "heartbeats in time",
              "it has heartbeat: processes are heard of in time, and work for longer",
              "renew=50ms hold=450ms ttl=200ms");
    add_named(m, "queue-rescue", 3000, "heartbeats late",
              "it has heartbeat: processes are thought to be dead, and are alive",
              "renew=260ms hold=500ms ttl=200ms");
}

/* Clocks that agree with each other, and not with the server's: a file that uses one kind alone
 * does not notice. Comparing the server's clock with a time from :now, or the other way round, is
 * wrong in one of the two directions. */
static void part_clocks(struct lb_asking *m)
{
    static const char *const ways[] = {"ahead", "behind"};
    const struct lb_features *f = &m->outlook->features;
    bool is_lock = m->strategy->shape == LB_LOCK;
    bool rescues = !is_lock && f->lease == NULL;
    if (!lb_asking_parts_clocks(m))
        return;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct lb_ask *ask = add_stressed(m,
                                          is_lock   ? "mutex-hot"
                                          : rescues ? "queue-rescue"
                                                    : "queue-overrun",
                                          NULL, 2500, "",
                                          "ttl=200ms hold=60ms poll=5ms backoff=fixed duration=2s "
                                          "warmup=0 progress-bound=0");
        snprintf(ask->name, sizeof ask->name, "clocks %s", ways[i]);
        snprintf(ask->why, sizeof ask->why,
                 "line %d uses :now, line %d the server's clock: all workers' clocks are %s",
                 f->worker_clock_line, f->server_clock_line, i == 0 ? "ahead of it" : "behind it");
        /* A length in the text cannot be made short. */
        lb_ask_set(ask, "skewed=%s skew=%s %s", ways[i], f->constant_line != 0 ? "100h" : "500ms",
                   is_lock ? "workers=3" : "put-interval=40ms");
        if (f->has_renew || f->has_beat)
            lb_ask_set(ask, "renew=50ms hold=150ms");
    }
}

static void stress_lease(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    add_stressed(m, "overrun", NULL, 5000,
                 f->unasked_line != 0
                     ? "it is a lease, and its release asks for no holder: holds outlast it"
                     : "it is a lease: holds outlast it",
                 "");
    if (lb_asking_counts_by_server(m))
        make_wait(m);
    struct lb_ask *ask = add_stressed(m, "mutex-hot", "pause", 3000,
                                      "it is a lease: holders sleep past it, and wake up", "");
    set_fault_times(m, ask, "0", "3s");
    if (!f->has_token)
        lb_ask_set(ask, "guard=no");
    stress_renewals(m, "mutex-hot");
}

/* By count and not by time, so that a slow server grants something as well. */
static void give_up(struct lb_asking *m)
{
    add_named(m, "mutex-hot", 2200, "give up", "it has cancel: waiters give up soon",
              "tries=3 workers=3 hold=5ms poll-max=2ms");
}

/* One writer, and readers that leave no gap between them. Holds are long against what a busy
 * machine takes between two of a reader's. The bound follows from them: see demand.c. */
static void let_writers_wait(struct lb_asking *m)
{
    add_named(m, "readers-writers", 3500, "one writer",
              "it has :mode, and claims progress: one writes, five read",
              "shared=0 writers=1 workers=6 hold=10ms think=500us tx-pause=0 poll=500us "
              "poll-max=2ms progress-bound=900ms duration=3s");
}

/* Orders to die are drawn: there are more than workers, in case that few of these ever hold. Behind
 * the last one there is time for the bound. */
static void kill_holders(struct lb_asking *m)
{
    add_stressed(m, "dead-holder", NULL, 4500, "it claims recovery: holders are killed",
                 "recovery-bound=1500ms fault-count=8 duration=4s");
}

/* Holds that outlast their leases where several may hold, or read. */
static void overrun_others(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (f->lease == NULL)
        return;
    if (f->has_mode)
        add_named(m, "overrun", 5000, "readers overrun",
                  "it has :mode, and is a lease: readers outlast theirs, too", "shared=0.5");
    if (lb_asking_claims(m, LB_G_PERMITS) && f->has_capacity)
        add_named(m, "overrun", 3000, "limited overrun",
                  "it claims permits: three may hold, and outlast their leases",
                  "capacity=3 duration=2s progress-bound=0");
}

/* Cheap tests that show what no other shows come first: a busy machine has no time for the last
 * ones. */
static void stress_lock(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    add_stressed(m, "mutex-hot", NULL, 2200, crowd_reason(m, "a crowd at one lock"), "");
    add_stressed(m, "mutex-spread", NULL, 1200, "four locks, two workers each",
                 "resources=4 duration=1s progress-bound=0");
    fail_over(m, "mutex-hot");
    if (f->has_enqueue || f->n_begin > 1 || lb_asking_claims(m, LB_G_FIFO))
        add_stressed(m, "mutex-pair", NULL, 2200,
                     "it takes several statements: two meet at a free lock", "duration=2s");
    if (f->has_mode)
        add_stressed(m, "readers-writers", NULL, 4200, "it has :mode: many read, some write", "");
    if (f->has_mode && lb_asking_claims(m, LB_G_PROGRESS))
        let_writers_wait(m);
    if (f->has_cancel)
        give_up(m);
    if (f->has_capacity)
        add_stressed(m, "limited", NULL, 2200, "it has :capacity: three may hold", "");
    part_clocks(m);
    if (lb_asking_claims(m, LB_G_RECOVERY))
        kill_holders(m);
    if (f->lease != NULL)
        stress_lease(m);
    overrun_others(m);
    if (f->has_period)
        add_stressed(m, "periodic-job", NULL, 4000,
                     "it has :period_ms: a job is due again and again", "");
    lose_connections(m, "mutex-hot");
}

/* A claim that is over is ended in every way that the protocol has: each of them asks for the
 * holder by itself, or does not. */
static void end_late(struct lb_asking *m, const char *scenario)
{
    const struct lb_features *f = &m->outlook->features;
    /* Each claim has some that are new, and some that were another's before. */
    if (f->ends_many && f->takes_many)
        add_named(m, scenario, 3000, "batches late",
                  "it ends, or prolongs, all items of a claim at once: a slow worker has some that "
                  "are others' by now",
                  "batch=4 put-interval=15ms workers=6 hold=100ms ttl=200ms");
    static const struct {
        enum lb_guarantee guarantee;
        const char *name, *keys, *why;
    } sets[] = {
        {LB_G_GROUP_EXCLUSIVE, "groups late", "groups=2",
         "it claims group-exclusive: a slow worker ends an item of a group that has gone on"},
        {LB_G_KEY_LIMIT, "keys late", "keys=2",
         "it claims key-limit: a slow worker ends an item of a key that has gone on"}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (!lb_asking_claims(m, sets[i].guarantee))
            continue;
        struct lb_ask *ask = add_named(m, scenario, 3000, sets[i].name, sets[i].why, sets[i].keys);
        if (f->has_free || f->has_retry) /* or completed */
            lb_ask_set(ask, "free=0.3");
    }
    if (f->has_free || f->has_retry)
        add_named(m, scenario, 3000, "give back late",
                  "it has free or retry: a slow worker gives the item back", "free=0.5");
    if (f->has_error)
        add_named(m, scenario, 3000, "fail late", "it has error: a slow worker's item fails",
                  "error=0.5");
}

static void rescue(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    /* Some of these items are completed late, too: see the order in stress_lock. */
    if (f->lease != NULL)
        end_late(m, "queue-overrun");
    else if (f->has_recover && f->recovers_by_time)
        end_late(m, "queue-rescue");
    if (f->lease != NULL)
        add_stressed(m, "queue-overrun", NULL, 3000,
                     f->unasked_line != 0
                         ? "claims are leases, and their ends check no holder: work outlasts them"
                         : "claims are leases: work outlasts them",
                     "");
    if (f->lease != NULL)
        stress_renewals(m, "queue-overrun");
    else if (f->has_recover && f->recovers_by_time)
        stress_renewals(m, "queue-rescue");
    stress_heartbeats(m);
    if (f->has_recover && f->recovers_by_time)
        add_stressed(m, "queue-rescue", NULL, 3000,
                     f->unasked_line != 0 ? "recover takes items from slow workers as well, and "
                                            "the ends of claims check no holder"
                                          : "recover takes items from the slow as well",
                     "");
    else if (f->has_recover && f->lease == NULL)
        lb_asks_leave_out(
            m, "queue-rescue",
            "recover asks for no time: it frees what the living have too, and is not run "
            "beside them");
}

/* Puts wait before they commit, and consumers are faster than these: a claim in order of numbers
 * sees a later one before an earlier one exists. */
static void put_slowly(struct lb_asking *m)
{
    if (lb_asking_on_server(m)) /* else there is one writer: puts cannot overtake */
        add_named(m, "steady", 3200, "slow commits",
                  "its put is a transaction: numbers commit out of order",
                  "producers=4 put-interval=100ms tx-pause=10ms workers=2 hold=0 poll=1ms "
                  "poll-max=2ms duration=3s");
}

/* Two sessions put more than one consumer takes: enough wait to show an order, also by digits. */
static void claim_in_line(struct lb_asking *m)
{
    add_named(m, "steady", 1500, "in line", "it claims fifo: a long line, and one at a time",
              "producers=2 put-interval=2ms workers=1 hold=2ms duration=1s");
}

/* More workers than groups, or keys, which take their time: a worker always waits for one. */
static void work_in(struct lb_asking *m, enum lb_guarantee guarantee)
{
    const bool is_group = guarantee == LB_G_GROUP_EXCLUSIVE;
    const char *what = is_group ? "groups" : "keys";
    const char *drawn = is_group ? "hold=3ms backlog=300 groups=3" : "hold=3ms backlog=300 keys=2";
    const struct lb_features *f = &m->outlook->features;
    char reason[64];
    snprintf(reason, sizeof reason, "it claims %s: items of %s", lb_guarantee_name(guarantee),
             is_group ? "three groups" : "two keys");
    struct lb_ask *ask = add_named(m, "drain", 2000, what, reason, drawn);
    if (!is_group && m->program->key_limit > 3) /* more workers than that of each key */
        lb_ask_set(ask, "workers=%d", m->program->key_limit < 8 ? 18 : 64);
    if (f->has_free || f->has_retry)
        lb_ask_set(ask, "free=0.2");
    if (!f->takes_many)
        return;
    snprintf(reason, sizeof reason, "it claims %s, and has :n: two items in each claim",
             lb_guarantee_name(guarantee));
    ask = add_named(m, "drain", 1500, is_group ? "groups by two" : "keys by two", reason, drawn);
    lb_ask_set(ask, "batch=2");
}

/* Jobs that never end keep their keys, and no other key: nothing is recovered, or due to be. */
static void stress_keys(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!lb_asking_claims(m, LB_G_KEY_LIMIT))
        return;
    work_in(m, LB_G_KEY_LIMIT);
    if (!f->has_recover || !f->recovers_by_time)
        return;
    /* With a recovery-bound of 0, the items of the dead are stuck after a second. */
    struct lb_ask *ask = add_stressed(
        m, "drain", "kill", 3000, "it claims key-limit: keys of dead workers block no other key",
        "backlog=200 keys=20 hold=20ms recover=0 fault-count=3 ttl=30s duration=3s "
        "recovery-bound=1m progress-bound=0");
    snprintf(ask->name, sizeof ask->name, "keys blocked");
}

/* Backlogs of which one tenant has most items. A claim in order of the puts serves each of the
 * others a quarter of its fair share, which shows a violation of larger bounds, or a sixteenth. */
static void stress_shares(struct lb_asking *m)
{
    if (!lb_asking_claims(m, LB_G_SHARE))
        return;
    add_named(m, "drain", 2000, "shares", "it claims share: most items are of one of five tenants",
              "backlog=2000 tenants=hot:0.8,small:4");
    if (m->program->share_milli < 400)
        add_named(m, "drain", 3000, "small shares",
                  "it claims a small share: all but one of twenty items are of one tenant",
                  "backlog=4000 tenants=hot:0.95,small:4");
}

/* Two classes of task in one table: each worker is for one of them. A claim that does not ask for
 * the class may be meant for all classes. */
static void share_table(struct lb_asking *m)
{
    const struct lb_section *sections = m->program->sections;
    if (!lb_section_has_param(&sections[LB_S_PUT], LB_SLOT_CLASS) ||
        m->outlook->features.has_period)
        return;
    if (!lb_section_has_param(&sections[LB_S_CLAIM], LB_SLOT_CLASS)) {
        lb_asks_leave_out(m, "two classes",
                          "its put has :class and its claim has not: workers take items of every "
                          "class (run -S task-classes shows these)");
        return;
    }
    add_named(m, "drain", 1500, "two classes",
              "its put and claim have :class: items of two classes, and workers of one class each",
              "classes=2");
}

/* Keys, tenants, windows of time, and classes of items. */
static void stress_attributes(struct lb_asking *m)
{
    stress_keys(m);
    stress_shares(m);
    /* A crowd at a backlog that is larger than some windows allow. */
    if (lb_asking_claims(m, LB_G_RATE))
        add_named(m, "drain", 2500, "rate",
                  "it claims rate: a crowd at a backlog for several windows",
                  "hold=1ms poll-max=5ms duration=2500ms");
    share_table(m);
}

/* Items that come back while others are taken; of a claim of several, while the others of it are
 * still in hand. */
static void give_back(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!f->has_free && !f->has_error && !f->has_retry)
        return;
    for (int i = 0; i < (f->takes_many ? 2 : 1); i++) {
        bool by_five = i > 0;
        struct lb_ask *ask =
            add_stressed(m, "give-back", NULL, 1200,
                         by_five ? "it has :n: some of the items of a claim come back, or fail"
                         : f->has_free  ? "it has free: items come back while others are taken"
                         : f->has_retry ? "it has retry: items fail, and are due again later"
                                        : "it has error: items fail",
                         by_five ? "batch=5" : "");
        if (by_five)
            snprintf(ask->name, sizeof ask->name, "give-back by five");
        if (!f->has_free && !f->has_retry)
            lb_ask_set(ask, "free=0");
        if (f->has_error)
            lb_ask_set(ask, "error=0.1");
    }
}

/* Done items must stay done when errors are cleared, and failed ones failed when all is reset. */
static void operate(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!f->has_operator)
        return;
    struct lb_ask *ask = add_stressed(m, "rounds", NULL, 1500,
                                      "it has clear-all-errors or reset-all: an operator runs them "
                                      "when all is done, or has failed",
                                      f->has_error ? "backlog=60 error=0.3" : "backlog=60 error=0");
    if (!f->has_free && !f->has_retry)
        lb_ask_set(ask, "free=0");
}

/* Consumers that die. */
static void kill_consumers(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool claims = lb_asking_claims(m, LB_G_RECOVERY);
    struct lb_ask *ask = add_stressed(
        m, "steady", "kill", claims ? 5500 : 3500,
        f->has_sweep ? "it has sweep: consumers are killed, and others start beside the living"
        : claims     ? "it claims recovery: consumers are killed"
                     : "items of dead consumers come back: consumers are killed",
        f->recovers_by_time ? "recover=100ms" : "recover=0");
    set_fault_times(m, ask, "8", claims ? "4s" : "2s");
    if (claims)
        lb_ask_set(ask, "recovery-bound=2s");
}

/* Consumers that die though nothing is promised, and those that sleep past their leases. */
static void lose_workers(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool frees_dead =
        f->is_session_bound || f->lease != NULL || (f->has_recover && f->recovers_by_time);
    if ((frees_dead || f->has_sweep) && !lb_asking_claims(m, LB_G_RECOVERY))
        kill_consumers(m);
    if (f->lease != NULL) {
        struct lb_ask *ask = add_stressed(m, "steady", "pause", 3500,
                                          "claims are leases: consumers sleep past them", "");
        set_fault_times(m, ask, "0", "3s");
    }
}

/* So long that an item which always comes back is claimed more often than is allowed. */
static void poison(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    const uint32_t attempts = m->program->attempts;
    if (!f->has_error && !f->has_retry && attempts == 0)
        return;
    struct lb_ask *ask = add_stressed(
        m, "steady", "poison", attempts > 15 ? 9000 : 4000,
        attempts > 0   ? "it limits the attempts: some items kill, or fail, whoever claims them"
        : f->has_error ? "it has error: some items kill, or fail, whoever claims them"
                       : "it has retry: some items kill, or fail, whoever claims them",
        "put-interval=40ms");
    lb_ask_set(ask, "recover=%s duration=%s recovery-bound=%s progress-bound=%s",
               f->recovers_by_time ? "40ms" : "0", attempts > 15 ? "8s" : "3500ms",
               lb_asking_claims(m, LB_G_RECOVERY) ? "2s" : "0",
               lb_asking_claims(m, LB_G_PROGRESS) ? "2s" : "0");
}

/* Without a bound on recovery, an item that is not given back is stuck: no-loss reports it. */
static void stop_workers(struct lb_asking *m)
{
    if (!m->program->sections[LB_S_STOP].present)
        return;
    struct lb_ask *ask = add_stressed(m, "steady", "term", 4500,
                                      "it has stop: workers are asked to stop, and are replaced",
                                      "hold=25ms" /* others have something in hand, too */
                                      " put-interval=30ms");
    lb_ask_set(ask, "recover=%s recovery-bound=%s",
               m->outlook->features.recovers_by_time ? "100ms" : "0",
               lb_asking_claims(m, LB_G_RECOVERY) ? "2s" : "0");
}

/* Keys that are free for a moment; and those of items that are in hand for a while, or in error. */
static void put_again(struct lb_asking *m)
{
    if (!lb_asking_claims(m, LB_G_UNIQUE))
        return;
    add_named(m, "steady", 2000, "unique",
              "it claims unique: producers put items of one unique key together",
              "producers=6 put-interval=0 hold=0 unique=0.9");
    struct lb_ask *ask =
        add_named(m, "steady", 2000, "unique in hand",
                  "it claims unique: items of a key are put while one is worked on, or failed",
                  "producers=6 put-interval=4ms hold=exp:2ms unique=0.9");
    if (m->outlook->features.has_error)
        lb_ask_set(ask, "error=0.2");
}

/* A claim that asks only if an item is due takes it from a worker that needs longer than a period.
 */
static void recur(struct lb_asking *m)
{
    add_stressed(m, "recurring-checkout", NULL, 7000, "it has :period_ms: items are due again", "");
    add_named(m, "recurring-checkout", 2000, "slow work",
              "it has :period_ms: an item is worked on for longer than that",
              "backlog=3 period=50ms hold=120ms workers=6 processes=2 duration=2s");
}

static void stress_queue(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (f->has_period) /* never drained */
        recur(m);
    else
        add_stressed(m, "drain", NULL, 2000, crowd_reason(m, "a crowd at a backlog, and its books"),
                     "");
    fail_over(m, "steady");
    if (lb_asking_claims(m, LB_G_BOUNDED_CLAIM))
        add_stressed(m, "overclaim", NULL, 500, "it claims bounded-claim: one worker, counted rows",
                     "");
    if (f->takes_many)
        add_named(m, "drain", 1500, "drain by five", "it has :n: five items in each claim",
                  "batch=5");
    give_back(m);
    operate(m);
    if (lb_asking_claims(m, LB_G_GROUP_EXCLUSIVE))
        work_in(m, LB_G_GROUP_EXCLUSIVE);
    stress_attributes(m);
    put_again(m);
    if (lb_asking_claims(m, LB_G_PRIORITY))
        add_named(m, "drain", 2000, "priorities",
                  "it claims priority: a crowd at a backlog of three priorities",
                  "backlog=300 hold=2ms priority=0:0.4,9:0.3,10:0.3");
    if (lb_asking_claims(m, LB_G_NO_LOSS) || lb_asking_claims(m, LB_G_NO_DUPLICATE) ||
        lb_asking_claims(m, LB_G_FIFO) || lb_asking_claims(m, LB_G_PROGRESS))
        add_stressed(m, "steady", NULL, 2500, "two producers put while consumers claim",
                     lb_asking_claims(m, LB_G_PROGRESS) ? "progress-bound=1800ms" : "");
    if (f->puts_in_tx)
        put_slowly(m);
    if (lb_asking_claims(m, LB_G_FIFO))
        claim_in_line(m);
    if (lb_asking_claims(m, LB_G_RECOVERY))
        kill_consumers(m); /* nothing else asks for it */
    part_clocks(m);
    rescue(m);
    lose_workers(m);
    poison(m);
    stop_workers(m);
    lose_connections(m, "steady");
}

void lb_asks_stress(struct lb_asking *m)
{
    if (m->strategy->shape == LB_LOCK)
        stress_lock(m);
    else
        stress_queue(m);
}
