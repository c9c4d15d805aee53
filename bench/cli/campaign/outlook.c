/* From a file's features to what it is asked: see outlook.h.
 *
 * The order is that of what finds most for its time: two workers explored, then crowds, then what
 * happens when a lease or a limit is outlived, then deaths and lost connections. What does not fit
 * into the budget is left out from the end, and said so.
 */
#include "outlook.h"

#include "fault_scenarios.h"

#include <stdarg.h>
#include <string.h>

enum { USUAL_S = 60, STRETCH_MOST = 12 };
#define SECOND_NS UINT64_C(1000000000)

struct making {
    const struct lb_strategy *strategy;
    const struct lb_db *db;
    const struct lb_program *program;
    const struct lb_outlook_site *site;
    struct lb_outlook *outlook;
};

static bool claims(const struct making *m, enum lb_guarantee guarantee)
{
    return (m->strategy->claims & LB_G_BIT(guarantee)) != 0;
}

/* Sessions can be ended, and wait for each other's rows. */
static bool is_server(const struct lb_db *db)
{
    return db->terminate != NULL;
}

__attribute__((format(printf, 3, 4))) static struct lb_ask *add(struct making *m, const char *name,
                                                                const char *why, ...)
{
    struct lb_outlook *outlook = m->outlook;
    struct lb_ask *ask = &outlook->asks[outlook->n_asks];
    va_list args;
    if (outlook->n_asks < LB_ASKS - 1)
        outlook->n_asks++;
    *ask = (struct lb_ask){0};
    snprintf(ask->name, sizeof ask->name, "%s", name);
    va_start(args, why);
    vsnprintf(ask->why, sizeof ask->why, why, args);
    va_end(args);
    return ask;
}

static void leave_out(struct making *m, const char *name, const char *why)
{
    add(m, name, "%s", why)->is_left_out = true;
}

/* --- exploring --- */

static struct lb_ask *add_explored(struct making *m, const char *name, const char *why)
{
    struct lb_ask *ask = add(m, name, "%s", why);
    ask->explored = (struct lb_explored_ask){.workers = 2, .time_ns = m->outlook->budget_ns / 10};
    ask->cost_ns = ask->explored.time_ns;
    return ask;
}

/* A renewal beside another who claims: at each point the clock may have moved on. */
static void explore_renewal(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    struct lb_ask *ask = add_explored(m, f->has_renew ? "explore+renew" : "explore+heartbeat",
                                      "it has renew: a hold is renewed once, perhaps too late");
    ask->explored.renewals = ask->explored.ticks = 1;
    if (m->strategy->shape == LB_LOCK) {
        ask->explored.rescuers = f->has_recover && f->recovers_by_time;
        return;
    }
    ask->explored.items = 1;
    if (!f->has_renew) { /* one heart: beside the rescuer nobody else is needed */
        ask->explored.workers = 1;
        ask->explored.rounds = 2;
    }
    if (f->lease == NULL) {
        ask->explored.rescuers = 1;
        ask->explored.preemptions = is_server(m->db) ? 2 : 0; /* all of it takes minutes there */
        snprintf(ask->why, sizeof ask->why,
                 f->has_renew
                     ? "it has renew: a claim is renewed once, beside a rescuer"
                     : "it has heartbeat: a process says once that it is alive, beside a rescuer");
    }
}

/* A lock whose lease may be counted before a wait. */
static bool counts_by_server(const struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    return m->strategy->shape == LB_LOCK && is_server(m->db) && f->is_one_commit &&
           !f->by_worker_clock && f->begin_clock_line != 0;
}

static void explore_all(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool lock = m->strategy->shape == LB_LOCK;
    struct lb_ask *ask;
    if (m->program->reads_replica) {
        leave_out(m, "explore", "it reads on a replica, whose lag is no step that can be taken");
        return;
    }
    add_explored(m, "explore", "every order of two workers' statements");
    /* Who counts the lease from when he saw its holder waits on when the clock moved before. */
    bool waiter_counts = f->lease != NULL && f->has_enqueue && f->by_worker_clock;
    if (lock && claims(m, LB_G_RECOVERY) && waiter_counts) {
        leave_out(m, "explore+crash",
                  "its waiters count the lease by their own clocks, from when they saw the holder: "
                  "dead-holder asks for recovery");
    } else if (lock && claims(m, LB_G_RECOVERY) && m->program->ends_by_recover) {
        leave_out(m, "explore+crash",
                  "its holds end when recover comes by: dead-holder asks for recovery");
    } else if (lock && claims(m, LB_G_RECOVERY)) {
        ask = add_explored(m, "explore+crash", "it claims recovery: a holder dies at each point");
        ask->explored.deaths = 1;
        ask->explored.ticks = f->lease != NULL;
    }
    if (f->lease != NULL && !m->program->ends_by_recover) {
        ask = add_explored(m, "explore+clock",
                           "it is a lease: the clock moves on by one at each point");
        ask->explored.ticks = 1;
    }
    if (lock && f->lease != NULL && f->end_line != f->end_last_line) {
        ask = add_explored(m, "explore+release",
                           "it is a lease, and its release takes several statements: the lease "
                           "may end between them");
        ask->explored.ticks = 1;
        ask->explored.rounds = ask->explored.preemptions = 2;
        ask->explored.time_ns = ask->cost_ns = m->outlook->budget_ns / 4;
    }
    if (lock && f->lease != NULL && f->has_recover && f->recovers_by_time) {
        ask = add_explored(m, "explore+rescue",
                           "it has recover, which goes by time: a rescuer runs at each point, and "
                           "the clock moves on");
        ask->explored.ticks = ask->explored.rescuers = 1;
    }
    if (!lock && f->has_recover && f->recovers_by_time && !f->ends_sessions) {
        ask = add_explored(m, "explore+rescue",
                           "it has recover, which goes by time: a rescuer runs at each point of "
                           "two workers' claims of one item, with one interruption");
        ask->explored.items = ask->explored.preemptions = 1;
        ask->explored.time_ns = ask->cost_ns = m->outlook->budget_ns / 5;
        ask->explored.ticks = ask->explored.rescuers = 1;
        ask = add_explored(m, "explore+rescue alone", "the same with one worker, and two items");
        ask->explored.workers = 1;
        ask->explored.rounds = 2;
        ask->explored.ticks = ask->explored.rescuers = 1;
    }
    if ((f->has_renew || f->has_beat) &&
        (f->lease != NULL || (!lock && f->recovers_by_time && f->has_recover)))
        explore_renewal(m);
    if (lock && f->has_mode) {
        ask = add_explored(m, "explore+reader", "it has :mode: one of the two reads");
        ask->explored.readers = 1;
    }
    if (lock && f->has_capacity) {
        ask = add_explored(m, "explore+limit",
                           "it has :capacity: three workers, two of whom may hold");
        ask->explored.workers = 3;
        ask->explored.capacity = 2;
    }
    if (m->outlook->budget_ns >= 5 * USUAL_S * SECOND_NS) {
        ask = add_explored(m, "explore+third", "there is time for a third worker");
        ask->explored.workers = 3;
    }
}

/* --- stressing --- */

/* fault NULL: none. Further arguments: keys and values, NULL ends. */
static struct lb_ask *add_stressed(struct making *m, const char *scenario, const char *fault,
                                   uint64_t cost_ms, const char *why)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s%s", scenario, fault != NULL ? "+" : "",
             fault != NULL ? fault : "");
    struct lb_ask *ask = add(m, name, "%s", why);
    ask->scenario = scenario;
    ask->fault = fault;
    ask->cost_ns = cost_ms * 1000000u;
    return ask;
}

static void set(struct lb_ask *ask, const char *key, const char *value)
{
    size_t i = 0;
    while (i + 3 < sizeof ask->keys / sizeof ask->keys[0] && ask->keys[i] != NULL)
        i += 2;
    ask->keys[i] = key;
    ask->keys[i + 1] = value;
}

static void set_all(struct lb_ask *ask, const char *const *keys)
{
    for (; *keys != NULL; keys += 2)
        set(ask, keys[0], keys[1]);
}

/* Sessions and transactions that are lost or cut end holds by themselves; so does time. */
static bool survives_loss(const struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    return f->is_session_bound || f->lease != NULL || (f->has_recover && f->recovers_by_time);
}

static void set_fault_times(const struct making *m, struct lb_ask *ask, const char *count,
                            const char *duration)
{
    set(ask, "fault-count", count);
    set(ask, "duration", duration);
    if (!claims(m, LB_G_RECOVERY))
        set(ask, "recovery-bound", "0");
    set(ask, "progress-bound", "0");
}

static void lose_connections(struct making *m, const char *scenario)
{
    if (!is_server(m->db))
        return;
    if (!survives_loss(m)) {
        leave_out(m, "disconnect, cut",
                  "what a lost connection held stays held: neither a session, a lease nor a "
                  "recovery ends it");
        return;
    }
    struct lb_ask *ask =
        add_stressed(m, scenario, "disconnect", 2000, "the server ends sessions while they hold");
    set_fault_times(m, ask, "8", "2s");
    ask = add_stressed(m, scenario, "cut", 2000, "connections are cut behind a statement");
    set_fault_times(m, ask, "8", "2s");
}

/* What was acknowledged may be lost with a server. How it is made to go only the user knows. */
static void fail_over(struct making *m, const char *scenario)
{
    if (m->site->fails_over)
        add_stressed(m, scenario, "failover", 12000,
                     "-d names several servers, and there is --failover-command: one is lost while "
                     "somebody holds");
    else if (m->site->has_several)
        leave_out(m, "failover",
                  "-d names several servers: say how one takes another's place with "
                  "--failover-command, if they are private");
}

static const char *crowd_reason(const struct making *m, const char *otherwise)
{
    return m->program->reads_replica ? "it reads on a replica, which lags: a crowd" : otherwise;
}

/* Holders rest so often that a wait can begin when nobody has a lease, and nobody's release waits
 * ahead: after that the server would compute it anew. It is long against what a busy machine takes
 * to let the second one in. */
static void make_wait(struct making *m)
{
    struct lb_ask *ask =
        add_stressed(m, "blocker", NULL, 6000,
                     "its lease is counted from the server's time: another session makes it wait");
    static const char *const keys[] = {"hold",     "50ms", "think", "400ms",        "ttl",
                                       "150ms",    "poll", "5ms",   "fault-length", "500ms",
                                       "duration", "6s",   NULL};
    set_all(ask, keys);
}

/* Renewals in time keep what is held; too late, they are refused if another may have it. */
static void stress_renewals(struct making *m, const char *scenario)
{
    static const char *const in_time[] = {"renew", "60ms", "hold", "450ms", "ttl", "200ms", NULL};
    /* Holds of half a second: a crowd would wait for longer than is allowed. */
    static const char *const few[] = {"workers", "3", "progress-bound", "0", "poll-max",
                                      "5ms",     NULL};
    static const char *const late[] = {"renew", "260ms", "hold", "500ms", "ttl", "200ms", NULL};
    if (!m->outlook->features.has_renew)
        return;
    struct lb_ask *ask = add_stressed(m, scenario, NULL, 3000,
                                      "it has renew: it is renewed in time, and outlasts its time");
    snprintf(ask->name, sizeof ask->name, "renewed in time");
    set_all(ask, in_time);
    if (m->strategy->shape == LB_LOCK)
        set_all(ask, few);
    ask = add_stressed(m, scenario, NULL, 3000,
                       "it has renew: it is renewed when another may have it by now");
    snprintf(ask->name, sizeof ask->name, "renewed late");
    set_all(ask, late);
    if (m->strategy->shape == LB_LOCK)
        set_all(ask, few);
}

/* One heart for all that a process has: in time, nobody may take it; too late, whoever wakes up has
 * been given up. */
static void stress_heartbeats(struct making *m)
{
    static const char *const in_time[] = {"renew", "50ms", "hold", "450ms", "ttl", "200ms", NULL};
    static const char *const late[] = {"renew", "260ms", "hold", "500ms", "ttl", "200ms", NULL};
    const struct lb_features *f = &m->outlook->features;
    if (!f->has_beat || !f->has_recover)
        return;
    struct lb_ask *ask =
        add_stressed(m, "queue-rescue", NULL, 3000,
                     "it has heartbeat: processes are heard of in time, and work for longer");
    snprintf(ask->name, sizeof ask->name, "heartbeats in time");
    set_all(ask, in_time);
    ask = add_stressed(m, "queue-rescue", NULL, 3000,
                       "it has heartbeat: processes are thought to be dead, and are alive");
    snprintf(ask->name, sizeof ask->name, "heartbeats late");
    set_all(ask, late);
}

static void stress_lease(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    add_stressed(m, "overrun", NULL, 5000,
                 f->unasked_line != 0
                     ? "it is a lease, and its release asks for no holder: holds outlast it"
                     : "it is a lease: holds outlast it");
    if (counts_by_server(m))
        make_wait(m);
    struct lb_ask *ask = add_stressed(m, "mutex-hot", "pause", 3000,
                                      "it is a lease: holders sleep past it, and wake up");
    set_fault_times(m, ask, "0", "3s");
    if (!f->has_token)
        set(ask, "guard", "no");
    stress_renewals(m, "mutex-hot");
}

static void stress_lock(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    add_stressed(m, "mutex-hot", NULL, 2200, crowd_reason(m, "a crowd at one lock"));
    fail_over(m, "mutex-hot");
    if (f->has_enqueue || f->n_begin > 1 || claims(m, LB_G_FIFO)) {
        struct lb_ask *ask = add_stressed(m, "mutex-pair", NULL, 2200,
                                          "it takes several statements: two meet at a free lock");
        set(ask, "duration", "2s");
    }
    if (f->lease != NULL)
        stress_lease(m);
    if (f->has_mode)
        add_stressed(m, "readers-writers", NULL, 2200, "it has :mode: many read, some write");
    if (f->has_capacity)
        add_stressed(m, "limited", NULL, 2200, "it has :capacity: three may hold");
    if (claims(m, LB_G_PERMITS) && f->has_capacity && f->lease != NULL) {
        struct lb_ask *ask =
            add_stressed(m, "overrun", NULL, 3000,
                         "it claims permits: three may hold, and outlast their leases");
        snprintf(ask->name, sizeof ask->name, "limited overrun");
        set(ask, "capacity", "3");
        set(ask, "duration", "2s");
        set(ask, "progress-bound", "0");
    }
    if (f->has_period)
        add_stressed(m, "periodic-job", NULL, 4000,
                     "it has :period_ms: a job is due again and again");
    if (claims(m, LB_G_RECOVERY)) {
        /* Orders to die are drawn: there are more than workers, in case that few of these ever
           hold. Behind the last one there is time for the bound. */
        struct lb_ask *ask =
            add_stressed(m, "dead-holder", NULL, 4500, "it claims recovery: holders are killed");
        set(ask, "recovery-bound", "1500ms");
        set(ask, "fault-count", "8");
        set(ask, "duration", "4s");
    }
    lose_connections(m, "mutex-hot");
    struct lb_ask *ask =
        add_stressed(m, "mutex-spread", NULL, 1200, "several locks, few workers each");
    set(ask, "resources", "4");
    set(ask, "duration", "1s");
    set(ask, "progress-bound", "0");
}

static void rescue(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (f->lease != NULL)
        add_stressed(
            m, "queue-overrun", NULL, 3000,
            f->unasked_line != 0
                ? "claims are leases, and what ends one asks for no holder: work outlasts it"
                : "claims are leases: work outlasts them");
    if (f->lease != NULL && f->has_free) {
        struct lb_ask *ask = add_stressed(m, "queue-overrun", NULL, 3000,
                                          "claims are leases, and it has free: who outlasts his "
                                          "lease gives the item back");
        snprintf(ask->name, sizeof ask->name, "give back late");
        set(ask, "free", "0.5");
    }
    if (f->lease != NULL)
        stress_renewals(m, "queue-overrun");
    else if (f->has_recover && f->recovers_by_time)
        stress_renewals(m, "queue-rescue");
    stress_heartbeats(m);
    if (f->has_recover && f->recovers_by_time)
        add_stressed(m, "queue-rescue", NULL, 3000,
                     f->unasked_line != 0
                         ? "recover takes items from the slow as well, and what ends "
                           "a claim asks for no holder"
                         : "recover takes items from the slow as well");
    else if (f->has_recover && f->lease == NULL)
        leave_out(m, "queue-rescue",
                  "recover asks for no time: it frees what the living have too, and is not run "
                  "beside them");
}

/* Puts wait before they commit, and consumers are faster than these: whoever goes by a number sees
 * a later one before an earlier one is there. */
static void put_slowly(struct making *m)
{
    static const char *const keys[] = {
        "producers", "4", "put-interval", "60ms", "tx-pause", "10ms", "workers", "2",
        "hold",      "0", "poll",         "1ms",  "poll-max", "2ms",  NULL};
    if (!is_server(m->db))
        return; /* one writer: nobody is faster */
    struct lb_ask *ask = add_stressed(m, "steady", NULL, 2500,
                                      "its put is a transaction: numbers commit out of order");
    snprintf(ask->name, sizeof ask->name, "slow commits");
    set_all(ask, keys);
}

/* One producer, one consumer that is slower: enough wait in line for their order to be seen, with
 * numbers of one, two and three digits. */
static void claim_in_line(struct making *m)
{
    static const char *const keys[] = {"producers", "1",   "put-interval", "1ms", "workers", "1",
                                       "hold",      "2ms", "duration",     "1s",  NULL};
    struct lb_ask *ask =
        add_stressed(m, "steady", NULL, 1500, "it claims fifo: a long line, and one at a time");
    snprintf(ask->name, sizeof ask->name, "in line");
    set_all(ask, keys);
}

/* More workers than groups, which take their time: somebody always waits for a group. */
static void work_in_groups(struct making *m)
{
    static const char *const keys[] = {"groups", "3", "hold", "3ms", "backlog", "300", NULL};
    struct lb_ask *ask =
        add_stressed(m, "drain", NULL, 2000, "it claims group-exclusive: items of three groups");
    snprintf(ask->name, sizeof ask->name, "groups");
    set_all(ask, keys);
}

static void stress_queue(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    struct lb_ask *ask = add_stressed(m, "drain", NULL, 2000,
                                      crowd_reason(m, "a crowd at a backlog, and its books"));
    if (claims(m, LB_G_PROGRESS))
        set(ask, "progress-bound", "5s");
    fail_over(m, "steady");
    if (claims(m, LB_G_BOUNDED_CLAIM))
        add_stressed(m, "overclaim", NULL, 500,
                     "it claims bounded-claim: one worker, counted rows");
    if (f->takes_many) {
        ask = add_stressed(m, "drain", NULL, 1500, "it has :n: five items in each claim");
        snprintf(ask->name, sizeof ask->name, "drain by five");
        set(ask, "batch", "5");
    }
    if (claims(m, LB_G_NO_LOSS) || claims(m, LB_G_NO_DUPLICATE) || claims(m, LB_G_FIFO))
        add_stressed(m, "steady", NULL, 2500, "two producers put while consumers claim");
    if (f->puts_in_tx)
        put_slowly(m);
    if (claims(m, LB_G_FIFO))
        claim_in_line(m);
    if (claims(m, LB_G_GROUP_EXCLUSIVE))
        work_in_groups(m);
    rescue(m);
    if (f->has_retry && f->has_recover && f->recovers_by_time) {
        ask = add_stressed(m, "queue-rescue", NULL, 3000,
                           "it has retry: who is too slow lets the item be tried again");
        snprintf(ask->name, sizeof ask->name, "retried late");
        set(ask, "free", "0.5");
    }
    if (f->has_free || f->has_error || f->has_retry) {
        ask = add_stressed(m, "give-back", NULL, 1200,
                           f->has_free    ? "it has free: items come back while others are taken"
                           : f->has_retry ? "it has retry: items fail, and are due again later"
                                          : "it has error: items fail");
        if (!f->has_free && !f->has_retry)
            set(ask, "free", "0");
        if (f->has_error)
            set(ask, "error", "0.1");
    }
    bool frees_dead =
        f->is_session_bound || f->lease != NULL || (f->has_recover && f->recovers_by_time);
    if (frees_dead || f->has_sweep || claims(m, LB_G_RECOVERY)) {
        ask = add_stressed(
            m, "steady", "kill", claims(m, LB_G_RECOVERY) ? 5500 : 3500,
            f->has_sweep ? "it has sweep: consumers are killed, and others start beside the living"
            : claims(m, LB_G_RECOVERY) ? "it claims recovery: consumers are killed"
                                       : "what the dead have comes back: consumers are killed");
        set_fault_times(m, ask, "8", claims(m, LB_G_RECOVERY) ? "4s" : "2s");
        set(ask, "recover", f->recovers_by_time ? "100ms" : "0");
        if (claims(m, LB_G_RECOVERY))
            set(ask, "recovery-bound", "2s");
    }
    if (f->lease != NULL) {
        ask = add_stressed(m, "steady", "pause", 3500,
                           "claims are leases: consumers sleep past them");
        set_fault_times(m, ask, "0", "3s");
    }
    lose_connections(m, "steady");
    if (f->has_period)
        add_stressed(m, "recurring-checkout", NULL, 7000, "it has :period_ms: items are due again");
}

/* --- as a whole --- */

static void say_untested(struct making *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (f->constant_line != 0)
        add(m, "kill",
            "line %d goes by a length of time that no option sets: make it one, so that "
            "it can be made short",
            f->constant_line)
            ->is_left_out = true;
    if (f->by_worker_clock)
        leave_out(m, "skew",
                  "it goes by its workers' clocks (:now), which have to agree: --faults skew shows "
                  "what happens if they do not");
    if (m->strategy->isolation == LB_ISO_DEFAULT && is_server(m->db))
        leave_out(m, "isolation", "the server's default: --matrix asks for each level");
}

/* A length of time in the text stays as it is: nothing that waits for it is asked. */
static void drop_constants(struct lb_outlook *outlook)
{
    if (outlook->features.constant_line == 0)
        return;
    size_t n = 0;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        const struct lb_ask *ask = &outlook->asks[i];
        bool waits = ask->explored.deaths > 0 || strstr(ask->name, "kill") != NULL ||
                     strcmp(ask->name, "dead-holder") == 0 ||
                     strstr(ask->name, "disconnect") != NULL || strstr(ask->name, "cut") != NULL;
        if (!waits)
            outlook->asks[n++] = *ask;
    }
    outlook->n_asks = n;
}

static void fit_budget(struct lb_outlook *outlook)
{
    uint64_t used_ns = 0;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        struct lb_ask *ask = &outlook->asks[i];
        if (ask->is_left_out)
            continue;
        if (used_ns > 0 && used_ns + ask->cost_ns > outlook->budget_ns) {
            ask->is_left_out = true;
            snprintf(ask->why, sizeof ask->why,
                     "does not fit into %.3g s: --budget 10m asks it too",
                     (double)outlook->budget_ns / 1e9);
            continue;
        }
        used_ns += ask->cost_ns;
    }
}

/* What nothing else wants is for the explorations, which a busy machine slows down. */
static void share_rest(struct lb_outlook *outlook)
{
    uint64_t used_ns = 0, n = 0;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        const struct lb_ask *ask = &outlook->asks[i];
        if (ask->is_left_out)
            continue;
        used_ns += ask->cost_ns;
        n += ask->scenario == NULL;
    }
    if (n == 0 || used_ns >= outlook->budget_ns)
        return;
    uint64_t share_ns = (outlook->budget_ns - used_ns) / n;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        struct lb_ask *ask = &outlook->asks[i];
        if (ask->is_left_out || ask->scenario != NULL)
            continue;
        ask->explored.time_ns += share_ns;
        ask->cost_ns += share_ns;
    }
}

/* The statement of that line, on one line. */
static void quote(const struct lb_program *program, int line, struct lb_quote *ret)
{
    const char *sql = NULL;
    for (size_t i = 0; i < program->n_statements && line != 0 && sql == NULL; i++)
        if (program->statements[i].line == line)
            sql = program->statements[i].sql;
    if (sql == NULL)
        return;
    size_t n = 0;
    ret->line = line;
    for (const char *p = sql; *p != '\0' && n + 5 < sizeof ret->text; p++) {
        bool is_blank = (unsigned char)*p <= ' ';
        if (!is_blank || (n > 0 && ret->text[n - 1] != ' '))
            ret->text[n++] = is_blank ? ' ' : *p;
    }
    if (n + 5 >= sizeof ret->text)
        n += (size_t)snprintf(ret->text + n, sizeof ret->text - n, "...");
    ret->text[n] = '\0';
}

static void quote_all(const struct lb_program *program, struct lb_outlook *outlook)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_section *begin =
        &program->sections[program->shape == LB_LOCK ? LB_S_ACQUIRE : LB_S_CLAIM];
    quote(program, f->begin_line, &outlook->begin);
    if (begin->n_statements > 1)
        quote(program, begin->statements[begin->n_statements - 1].line, &outlook->begin_end);
    quote(program, f->unasked_line, &outlook->unasked);
    quote(program, f->end_line, &outlook->end);
    if (f->end_last_line != f->end_line)
        quote(program, f->end_last_line, &outlook->end_last);
    quote(program, f->renew_line, &outlook->renew);
    quote(program, f->recover_line, &outlook->recover);
    quote(program, f->beat_line, &outlook->beat);
    quote(program, f->sweep_line, &outlook->sweep);
    quote(program, f->begin_clock_line, &outlook->clock);
}

void lb_outlook_make(const struct lb_strategy *strategy, const struct lb_file *file,
                     const struct lb_program *program, const struct lb_outlook_site *site,
                     uint64_t budget_ns, struct lb_outlook *ret)
{
    *ret = (struct lb_outlook){.budget_ns = budget_ns,
                               .strategy = strategy->name,
                               .shape = strategy->shape,
                               .claims = strategy->claims};
    struct making m = {
        .strategy = strategy, .db = program->db, .program = program, .site = site, .outlook = ret};
    lb_features_read(file, program, &ret->features);
    quote_all(program, ret);
    explore_all(&m);
    if (strategy->shape == LB_LOCK)
        stress_lock(&m);
    else
        stress_queue(&m);
    drop_constants(ret);
    say_untested(&m);
    fit_budget(ret);
    share_rest(ret);
}

/* --- the scenario of an ask --- */

/* A lease in seconds cannot be 200 ms. */
static uint64_t stretch_of(const struct lb_outlook *outlook, const struct lb_scenario *scenario)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_timing *timing = f->lease != NULL ? f->lease : f->limit;
    if (timing == NULL || !scenario->ttl_is_said)
        return 1;
    uint64_t unit_ns = timing->unit_ms * UINT64_C(1000000);
    return (unit_ns + scenario->ttl_ns - 1) / scenario->ttl_ns;
}

int lb_ask_scenario(const struct lb_outlook *outlook, const struct lb_ask *ask,
                    struct lb_scenario *ret, struct lb_error *err)
{
    int rc = lb_scenario_load(ask->scenario, ret, err);
    if (rc == 0 && ask->fault != NULL)
        rc = lb_fault_preset(ret, ask->fault, err);
    for (size_t i = 0; rc == 0 && ask->keys[i] != NULL; i += 2)
        rc = lb_scenario_set(ret, ask->keys[i], ask->keys[i + 1], err);
    if (rc != 0)
        return rc;
    uint64_t factor = stretch_of(outlook, ret);
    if (factor > STRETCH_MOST)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "its lease or limit cannot be made short enough: count it in ms");
    if (factor > 1)
        lb_scenario_stretch(ret, factor);
    snprintf(ret->name, sizeof ret->name, "%s", ask->name);
    return lb_scenario_validate(ret, err);
}

/* --- telling it --- */

static void print_timing(const struct lb_timing *timing, const char *what, FILE *out)
{
    if (timing == NULL) {
        fprintf(out, "  %-6s none\n", what);
        return;
    }
    fprintf(out, "  %-6s %s, %s line %d", what, timing->name,
            timing->is_said ? "as said in" : "inferred from", timing->line);
    if (timing->default_ms > 0)
        fprintf(out, "; %lld ms by default, which each scenario replaces",
                (long long)timing->default_ms);
    fputs(timing->by_recover ? "; recover ends it\n" : "\n", out);
}

void lb_outlook_print(const struct lb_outlook *outlook, FILE *out)
{
    const struct lb_features *f = &outlook->features;
    uint64_t sum_ns = 0;
    unsigned n = 0;
    for (size_t i = 0; i < outlook->n_asks; i++)
        sum_ns += outlook->asks[i].is_left_out ? 0 : outlook->asks[i].cost_ns;
    fprintf(out, "%s on %s: at most %.0f s of %.0f s\n", outlook->strategy, outlook->engine,
            (double)sum_ns / 1e9, (double)outlook->budget_ns / 1e9);
    print_timing(f->lease, "lease", out);
    print_timing(f->limit, "limit", out);
    if (f->whole_line != 0)
        fprintf(out,
                "  clock  line %d has whole seconds only: what goes by it ends up to a second "
                "early or late\n",
                f->whole_line);
    for (size_t i = 0; i < outlook->n_asks; i++)
        if (!outlook->asks[i].is_left_out)
            fprintf(out, "  %2u %-20s %4.1f s  %s\n", ++n, outlook->asks[i].name,
                    (double)outlook->asks[i].cost_ns / 1e9, outlook->asks[i].why);
    for (size_t i = 0; i < outlook->n_asks; i++)
        if (outlook->asks[i].is_left_out)
            fprintf(out, "   - %-20s  left out: %s\n", outlook->asks[i].name, outlook->asks[i].why);
}
