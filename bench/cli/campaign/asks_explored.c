/* The explorations of a file, with reasons: see asks.h. */
#include "asks.h"
#include "explored.h"
#include "search.h"

/* The part of the budget that an exploration may take: a tenth, or a twentieth. */
enum { USUAL = 10, SHORT = 20 };

/* With two workers, if the bounds do not say how many. */
static void add(struct lb_asking *m, const char *name, const char *why, unsigned part,
                struct lb_explored_ask bounds)
{
    struct lb_ask *ask = lb_asks_add(m, name, "%s", why);
    bounds.workers = bounds.workers > 0 ? bounds.workers : 2;
    bounds.time_ns = ask->cost_ns = m->outlook->budget_ns / part;
    ask->explored = bounds;
}

/* The lease ends between two statements of a renewal that began within it. */
static void explore_late_renewal(struct lb_asking *m)
{
    if (m->program->sections[LB_S_RENEW].n_statements < 2 || m->program->ends_by_recover)
        return;
    add(m, "explore+renew halves",
        "its renew takes several statements: the lease ends between two of them", SHORT,
        LB_BOUNDS(.renewals = 1, .halves = true, .ticks = 2,
                  .preemptions = lb_asking_on_server(m) ? 2 : 0));
}

/* A renewal beside another who claims: at each point the clock may have moved on. */
static void explore_renewal(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    const char *why = "it has renew: a hold is renewed once, perhaps too late";
    struct lb_explored_ask bounds = {.renewals = 1, .ticks = 1};
    const bool lock = m->strategy->shape == LB_LOCK;
    if (lock)
        bounds.rescuers = f->has_recover && f->recovers_by_time;
    else
        bounds.items = 1;
    if (!lock && !f->has_renew) { /* no renewals: one worker beside the rescuer is enough */
        bounds.workers = 1;
        bounds.rounds = 2;
    }
    if (!lock && f->lease == NULL) {
        bounds.rescuers = 1;
        bounds.preemptions = lb_asking_on_server(m) ? 2 : 0; /* all of it takes minutes there */
        why = f->has_renew
                  ? "it has renew: a claim is renewed once, beside a rescuer"
                  : "it has heartbeat: a process says once that it is alive, beside a rescuer";
    }
    add(m, f->has_renew ? "explore+renew" : "explore+heartbeat", why, USUAL, bounds);
    if (lock)
        explore_late_renewal(m);
}

/* A waiter that counts the lease from its own first look waits on if the clock moved before. A
 * waiter in a line uses the line's rows instead. */
static bool waiters_count(const struct lb_features *f)
{
    return f->lease != NULL && f->has_enqueue && !f->enqueue_writes && f->by_worker_clock;
}

/* The end of a lease bounds how long the dead keep others waiting: that is progress, also where no
 * recovery is claimed. Without a lease, or with a recover, a dead waiter may keep its place. */
static bool clears_line(const struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    return lb_asking_claims(m, LB_G_PROGRESS) && f->has_enqueue && lb_features_lease(f) &&
           !f->has_recover && !waiters_count(f) && !m->program->ends_by_recover;
}

static void explore_dead_holder(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    const bool recovers = lb_asking_claims(m, LB_G_RECOVERY);
    if (!recovers && !clears_line(m))
        return;
    if (waiters_count(f)) {
        lb_asks_leave_out(
            m, "explore+crash",
            "its waiters count the lease by their own clocks, from when they saw the holder: "
            "dead-holder asks for recovery");
    } else if (m->program->ends_by_recover) {
        lb_asks_leave_out(m, "explore+crash",
                          "its holds end when recover comes by: dead-holder asks for recovery");
    } else {
        add(m, "explore+crash",
            recovers ? "it claims recovery: a holder dies at each point"
                     : "it claims progress, and has enqueue: a waiter dies at each point, and its "
                       "lease ends",
            USUAL, LB_BOUNDS(.deaths = 1, .ticks = lb_features_lease(f)));
    }
}

/* A try that is refused may leave the worker's place in a line behind. The worker dies there, while
 * another one holds, which comes again. */
static void explore_dead_waiter(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool leaves_rows = !f->is_one_commit || m->program->sections[LB_S_ACQUIRE].commits_always;
    if (!lb_asking_claims(m, LB_G_RECOVERY) || !lb_features_lease(f) || !leaves_rows ||
        waiters_count(f) || m->program->ends_by_recover)
        return;
    add(m, "explore+dead waiter",
        "it claims recovery, and a refused acquire may leave rows: a waiter dies, and the holder "
        "comes again",
        SHORT, LB_BOUNDS(.deaths = 1, .ticks = 1, .preemptions = 1, .rounds = 2));
}

/* A worker dies between two commits of a claim, or of its end: its item must come again. */
static void explore_lost_items(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!lb_asking_claims(m, LB_G_RECOVERY) || (!lb_features_lease(f) && !f->has_recover))
        return;
    add(m, "explore+crash", "it claims recovery: a worker dies at each point, and its item returns",
        USUAL, LB_BOUNDS(.deaths = 1, .items = 1));
    if (f->takes_many)
        add(m, "explore+two+crash", "it has :n: a worker with two items dies at each point", USUAL,
            LB_BOUNDS(.workers = 1, .deaths = 1, .items = 2, .batch = 2));
    if (f->has_free || f->has_retry)
        add(m, "explore+free+crash",
            f->has_free ? "it has free: a worker that gives back dies, too"
                        : "it has retry: a worker whose item failed dies, too",
            USUAL, LB_BOUNDS(.workers = 1, .deaths = 1, .frees = 1));
}

/* A worker with a lost grant begins anew under another name: only time frees the lock. */
static void explore_cuts(struct lb_asking *m)
{
    static const char name[] = "explore+cut";
    const struct lb_features *f = &m->outlook->features;
    if (!lb_asking_on_server(m) || waiters_count(f) || m->program->ends_by_recover ||
        !lb_asking_claims(m, LB_G_RECOVERY) ||
        (m->strategy->shape != LB_LOCK && !lb_features_lease(f) && !f->has_recover))
        return;
    if (m->outlook->budget_ns < LB_OUTLOOK_LONG_NS) {
        struct lb_ask *ask =
            lb_asks_add(m, name, "a commit's answer is lost at each point: --budget 2m asks it");
        ask->is_left_out = ask->is_deferred = true;
        return;
    }
    add(m, name, "it claims recovery: a commit's answer is lost with the connection, at each point",
        USUAL, LB_BOUNDS(.cuts = 1, .ticks = lb_features_lease(f)));
}

/* A process ends in order while another has an item, which a third worker may get then. */
static void explore_sign_off(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!f->has_unregister || !f->has_recover)
        return;
    add(m, "explore+unregister",
        "it has unregister: a process ends while another works, beside a rescuer", USUAL,
        LB_BOUNDS(.leaves = true, .workers = 3, .items = 2, .rescuers = 1, .preemptions = 1));
}

/* Items that are given back, or fail, when another worker may have them by now: each of these ends
 * asks for its holder, or does not. */
static void explore_late_ends(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool recovers = lb_features_rescues(f);
    if (!lb_features_lease(f) && !recovers)
        return;
    for (int fails = 0; fails < 2; fails++) {
        if (fails ? !f->has_error : !f->has_free && !f->has_retry)
            continue;
        add(m, fails ? "explore+error" : "explore+free",
            fails         ? "it has error: an item fails, perhaps too late"
            : f->has_free ? "it has free: an item is given back, perhaps too late"
                          : "it has retry: an item fails, perhaps too late",
            USUAL,
            LB_BOUNDS(.items = 1, .ticks = 1, .rescuers = recovers,
                      .preemptions = lb_asking_on_server(m), .errors = fails, .frees = !fails));
    }
    bool clears = m->program->sections[LB_S_CLEAR_ERROR].present ||
                  m->program->sections[LB_S_CLEAR_ALL_ERRORS].present;
    if (f->has_error && clears && lb_features_lease(f))
        add(m, "explore+error+operator",
            "its lease may be over when an error is cleared: a token may start again", USUAL,
            LB_BOUNDS(.items = 1, .ticks = 1, .rounds = 2, .preemptions = lb_asking_on_server(m),
                      .errors = true));
}

/* Done items must stay done when errors are cleared, and failed ones when done items are reset. */
static void explore_operator(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool clears_one = f->has_error && m->program->sections[LB_S_CLEAR_ERROR].present;
    if (!f->has_operator && !clears_one)
        return;
    add(m, "explore+operator",
        f->has_error ? "it has errors that an operator clears, beside the workers"
                     : "it has clear-all-errors or reset-all: an operator runs them beside the "
                       "workers",
        USUAL,
        LB_BOUNDS(.items = 2, /* one fails while the other is worked on */
                  .rounds = f->has_error ? 2 : 1, .errors = true,
                  .preemptions = lb_asking_on_server(m)));
    if (lb_features_rescues(f))
        add(m, "explore+rescue+operator",
            "it has recover, and an operator's sections: an operator takes up what a rescuer has "
            "freed, or given up",
            USUAL,
            LB_BOUNDS(.items = 1, .rescuers = 1, .ticks = 1, .preemptions = 1, .rounds = 2,
                      .errors = true, .is_search = true));
}

enum { MOST_LIMIT = LB_MAX_WORKERS - 2 }; /* one more than it, beside two workers */

static void add_limit_at_end(struct lb_asking *m, const char *name, const char *why,
                             struct lb_explored_ask bounds)
{
    bounds.set_to_1 = m->program->key_limit_option;
    bounds.late = 1 + (m->program->key_limit < MOST_LIMIT ? m->program->key_limit : 1);
    add(m, name, why, SHORT, bounds);
}

/* When all workers have ended, a count of items in hand may be too low. Then late workers, one more
 * than the limit, all get an item. */
static void explore_limit_at_end(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (m->program->key_limit_option == NULL && m->program->key_limit >= MOST_LIMIT) {
        lb_asks_leave_out(m, "explore+key at end",
                          "its limit of a key is larger than the number of workers that are "
                          "explored");
        return;
    }
    const uint32_t preemptions = lb_asking_on_server(m) ? 2 : 0;
    const bool frees = f->has_free || f->has_retry;
    add_limit_at_end(m, "explore+key at end",
                     "it claims key-limit: after two workers, others claim as many items of a key "
                     "as they can",
                     LB_BOUNDS(.preemptions = preemptions));
    if (f->has_error || frees)
        add_limit_at_end(m, "explore+key at end alone",
                         "it claims key-limit: the same after one worker that fails, or gives back",
                         LB_BOUNDS(.workers = 1, .errors = f->has_error, .frees = frees,
                                   /* the second error is cleared */
                                   .rounds = (f->has_error ? 3 : 1) + (uint32_t)frees));
    if (lb_features_rescues(f))
        add_limit_at_end(m, "explore+key+rescue at end",
                         "it claims key-limit: the same after one worker and a rescuer",
                         LB_BOUNDS(.workers = 1, .rescuers = 1, .ticks = 1, .deaths = 1,
                                   .preemptions = preemptions));
}

/* Where an option is the limit of a key, or of a rate, it is 1: two items are enough to exceed it.
 */
static void explore_limit(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    const char *option = m->program->key_limit_option;
    if (lb_asking_claims(m, LB_G_RATE) && m->program->rate > 1 && m->program->rate_option != NULL)
        add(m, "explore+rate", "it claims rate: one of two items may be begun in the time", USUAL,
            LB_BOUNDS(.set_to_1 = m->program->rate_option));
    if (!lb_asking_claims(m, LB_G_KEY_LIMIT))
        return;
    if (m->program->key_limit > 1 && option != NULL)
        add(m, "explore+key", "it claims key-limit: of two items of a key, one is in hand", USUAL,
            LB_BOUNDS(.set_to_1 = option));
    explore_limit_at_end(m);
    if (!lb_features_rescues(f))
        return;
    /* On a server, leave time for the crowds: the likely schedules come first. All of it takes
     * minutes there. */
    const bool on_server = lb_asking_on_server(m);
    add(m, "explore+key+rescue",
        "it claims key-limit: an item ends after a rescuer freed it, and another of its key is "
        "claimed",
        on_server ? 15 : USUAL,
        LB_BOUNDS(.set_to_1 = option, .items = 2, .rounds = 2, .rescuers = 1, .ticks = 1,
                  .preemptions = on_server));
    if (on_server)
        add(m, "explore+key+recover",
            "it claims key-limit: a rescuer waits for a claim, and another one follows", USUAL,
            LB_BOUNDS(.set_to_1 = option, .items = 2, .preemptions = 2, .rescuers = 1));
}

/* A worker ends two items one after the other, in each way that there is: an end that names no item
 * ends both. */
static void explore_two(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!f->takes_many || !lb_asking_claims(m, LB_G_NO_LOSS))
        return;
    /* Short, as there is one schedule. */
    const bool frees = f->has_free || f->has_retry;
    const uint32_t rounds = f->has_error || frees ? 3 : 1;
    add(m, "explore+two", "it has :n: a worker ends each of two items by itself", SHORT,
        LB_BOUNDS(.workers = 1, .batch = 2, .errors = f->has_error, .frees = frees,
                  .rounds = rounds, .items = 2 * rounds));
    /* An item that comes back would hide one that failed beside the other. */
    if (f->has_error && frees)
        add(m, "explore+two+error",
            "it has :n and error: a worker fails each of two items by itself", SHORT,
            LB_BOUNDS(.workers = 1, .errors = true, .batch = 2, .rounds = 2, .items = 2));
}

/* A worker that has room for more claims again: a claim that reads back all that its worker has
 * gives out items twice. Of a claim that takes one item, a worker may be meant to have one. */
static void explore_again_in_hand(struct lb_asking *m)
{
    if (!m->outlook->features.takes_many || !lb_asking_claims(m, LB_G_NO_DUPLICATE) ||
        m->outlook->features.is_held_in_tx)
        return;
    add(m, "explore+in hand", "it has :n: a worker with an item in hand claims another one",
        SHORT, /* there is one schedule */
        LB_BOUNDS(.workers = 1, .batch = 2, .items = 2, .again = true));
}

/* Where an option is the number of attempts, it is 1: an item that is given back once has had it.
 */
static void explore_attempts(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    const char *option = m->program->attempts_option;
    if (!lb_asking_claims(m, LB_G_ATTEMPTS) || m->program->attempts <= 1 || option == NULL ||
        (!f->has_free && !f->has_retry))
        return;
    add(m, "explore+attempts", "it claims attempts: an item that may be tried once is given back",
        SHORT, LB_BOUNDS(.set_to_1 = option, .items = 1, .frees = 1));
}

/* A claim that locks several items and takes one hides the others from claims that skip locks. One
 * that loses the first item to another claim may take any of those that are left. */
static void explore_many(struct lb_asking *m)
{
    const bool by_priority = lb_asking_claims(m, LB_G_PRIORITY), skips = lb_asking_on_server(m);
    if (!by_priority && !lb_asking_claims(m, LB_G_FIFO))
        return;
    char why[100];
    snprintf(why, sizeof why, "it claims %s: two claims at more items than they take",
             by_priority ? "priority" : "fifo");
    add(m, "explore+many", why, SHORT, LB_BOUNDS(.items = skips ? 24 : 4, .preemptions = skips));
}

/* Limits, two keys, and puts that meet a claim, or each other. */
static void explore_attributes(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    const bool on_server = lb_asking_on_server(m);
    const uint32_t preemptions = on_server ? 2 : 0;
    explore_attempts(m);
    explore_two(m);
    explore_again_in_hand(m);
    explore_limit(m);
    if (lb_asking_claims(m, LB_G_KEY_LIMIT))
        add(m, "explore+two keys",
            "it claims key-limit: two items of a key, and one of another key", SHORT,
            LB_BOUNDS(.set_to_1 = m->program->key_limit_option, .items = 3, .rounds = 2,
                      .preemptions = preemptions));
    if (lb_asking_claims(m, LB_G_UNIQUE))
        add(m, "explore+unique",
            "it claims unique: two items of a unique key are put while the first is worked on",
            USUAL, LB_BOUNDS(.workers = 1, .items = 1, .putters = 2, .preemptions = preemptions));
    if (lb_asking_claims(m, LB_G_UNIQUE) && (f->has_free || f->has_retry))
        add(m, "explore+unique+free",
            "it claims unique: an item of the key of another one is put before, while and after "
            "that one is given back",
            SHORT,
            LB_BOUNDS(.workers = 1, .items = 1, .putters = 1, .frees = 1,
                      .preemptions = on_server));
    if (lb_asking_claims(m, LB_G_PRIORITY))
        add(m, "explore+urgent put",
            "it claims priority: more urgent items are put while others are claimed", SHORT,
            LB_BOUNDS(.workers = 1, .putters = 1, .items = 3, /* two of one priority */
                      .rounds = 2,
                      .ticks = lb_section_reads_time(&m->program->sections[LB_S_SETUP]) ||
                               lb_section_reads_time(&m->program->sections[LB_S_PUT]),
                      .preemptions = preemptions));
    explore_many(m);
}

/* Items that a rescuer frees while a worker still works on them. */
static void explore_rescue(struct lb_asking *m)
{
    if (!m->outlook->features.recovers_by_time) {
        lb_asks_leave_out(m, "explore+rescue",
                          "recover uses no time: it is for an operator, while no worker runs, and "
                          "is not tested beside workers");
        return;
    }
    if (!lb_asking_claims(m, LB_G_KEY_LIMIT)) /* there, explore+key+rescue has more items */
        add(m, "explore+rescue",
            "it has recover, which uses the time: a rescuer runs at each point of two workers' "
            "claims of one item",
            5,
            LB_BOUNDS(.items = 1,
                      .preemptions = lb_asking_on_server(m), /* all of it takes minutes there */
                      .ticks = 1, .rescuers = 1));
    add(m, "explore+rescue alone", "the same with one worker, and two items", USUAL,
        LB_BOUNDS(.workers = 1, .rounds = 2, .ticks = 1, .rescuers = 1));
}

/* A worker renews and then dies: a renewal that adds to the remaining time keeps the lock ever
 * longer. */
static void explore_dead_renewer(struct lb_asking *m)
{
    add(m, "explore+renew+crash",
        "it has renew, and claims recovery: a worker that has renewed twice dies at each point", 6,
        LB_BOUNDS(.renewals = 2, .ticks = 1, .deaths = 1));
}

/* The second of two puts may commit before the first: a claim that looks behind the last item only
 * never finds the first. */
static void explore_two_puts(struct lb_asking *m)
{
    add(m, "explore+two puts",
        "it claims no-loss: the later of two puts may commit before the other", SHORT,
        LB_BOUNDS(.workers = 1, .items = 1, .preemptions = 1, .putters = 2, .rounds = 2));
}

/* The state that a worker has read may be there again when it writes, and mean another thing. */
static void explore_again(struct lb_asking *m)
{
    add(m, "explore+again",
        "its acquire commits several times: a lock is taken, given back and taken between two of "
        "its statements",
        USUAL, LB_BOUNDS(.rounds = 2, .preemptions = lb_asking_on_server(m) ? 2 : 0));
}

/* A lease ends at each point. Where workers are alone, one may be granted its lost lock again. */
static void explore_clock(struct lb_asking *m)
{
    if (!lb_features_lease(&m->outlook->features) || m->program->ends_by_recover)
        return;
    add(m, "explore+clock", "it is a lease: the clock moves on by one at each point", USUAL,
        LB_BOUNDS(.ticks = 1));
    if (m->strategy->shape == LB_LOCK && lb_asking_claims(m, LB_G_FENCED))
        add(m, "explore+clock alone",
            "it is a lease, and claims fenced: a worker whose lease has ended is granted the lock "
            "again",
            SHORT, LB_BOUNDS(.workers = 1, .ticks = 1, .rounds = 2));
}

/* Leases that end while a worker is taking the lock over, or giving it back. */
static void explore_ends(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (!f->is_one_commit && !m->program->ends_by_recover)
        add(m, "explore+takeover",
            "it is a lease, and its acquire commits several times: two take over the expired "
            "lease, the second one from the first",
            4, LB_BOUNDS(.ticks = 1, .rounds = 2));
    if (f->end_line != f->end_last_line)
        add(m, "explore+release",
            "it is a lease, and its release takes several statements: the lease may end between "
            "them",
            4, LB_BOUNDS(.ticks = 1, .rounds = 2, .preemptions = 2));
}

/* A time that one clock wrote is compared with another: each way breaks another comparison. */
static void explore_clocks(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    for (int behind = 0; behind < 2 && lb_asking_parts_clocks(m); behind++)
        add(m, behind ? "explore+behind" : "explore+ahead",
            behind ? "... and behind it"
                   : "it uses :now, and the server's clock: the workers' are ahead",
            SHORT,
            LB_BOUNDS(.ahead = !behind, .behind = behind, .items = m->strategy->shape == LB_QUEUE,
                      .rescuers = lb_features_rescues(f), .renewals = f->has_renew,
                      .preemptions = lb_asking_on_server(m) ? 2 : 0));
}

static void explore_shared(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (f->has_mode)
        add(m, "explore+reader", "it has :mode: one of the two reads", USUAL,
            LB_BOUNDS(.readers = 1));
    if (f->has_cancel)
        add(m, "explore+cancel", "it has cancel: a worker that is refused gives up, and asks again",
            USUAL, LB_BOUNDS(.rounds = 2, .cancels = true, .preemptions = lb_asking_on_server(m)));
    if (f->has_capacity)
        add(m, "explore+limit", "it has :capacity: three workers, and two of them may hold", USUAL,
            LB_BOUNDS(.workers = 3, .capacity = 2));
    if (f->has_capacity && f->lease != NULL && lb_asking_claims(m, LB_G_PERMITS))
        add(m, "explore+limit+clock",
            "it claims permits, and is a lease: one of two holds, and its lease ends while the "
            "other one acquires",
            USUAL, LB_BOUNDS(.capacity = 2, .ticks = 1));
}

/* A worker that has one lock must not keep another worker from another one: for that, no worker has
 * to be able to have two. */
static void explore_own_locks(struct lb_asking *m)
{
    const unsigned names = 1u << LB_SLOT_RESOURCE | 1u << LB_SLOT_RESOURCE_NO;
    if (!lb_asking_claims(m, LB_G_PROGRESS) || (m->program->uses & names) == 0)
        return;
    add(m, "explore+own lock",
        "it claims progress: each worker has a lock of its own, and none waits for another's",
        SHORT, LB_BOUNDS(.resources = 2, .apart = true));
}

/* A hold that a rescuer has seen may end, and another one begin, before the rescuer frees it. */
static void explore_rescued_locks(struct lb_asking *m)
{
    add(m, "explore+rescue",
        "it has recover, which uses the time: a rescuer runs at each point, and the clock moves on",
        USUAL, LB_BOUNDS(.ticks = 1, .rescuers = 1));
    if (m->program->sections[LB_S_RECOVER].n_statements > 1)
        add(m, "explore+rescue again",
            "its recover takes several statements: a lock is given back and taken between two of "
            "them",
            SHORT,
            LB_BOUNDS(.ticks = 1, .rescuers = 1, .rounds = 2,
                      .preemptions = lb_asking_on_server(m) ? 2 : 0));
}

/* Without deaths, clocks and other roles. */
static void explore_alone(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool lock = m->strategy->shape == LB_LOCK;
    add(m, "explore", "every order of two workers' statements", USUAL, LB_BOUNDS(.workers = 2));
    if (lock && !f->is_one_commit && f->lease == NULL)
        explore_again(m);
    if (!lock)
        return;
    const bool holds = m->program->sections[LB_S_ACQUIRE].tx == LB_TX_HOLD;
    if (!holds && lb_asking_claims(m, LB_G_EXCLUSIVE))
        add(m, "explore+two locks", "each worker has two locks at once", USUAL,
            LB_BOUNDS(.resources = 2));
    if (!holds || lb_asking_on_server(m)) /* one transaction locks all of a SQLite file */
        explore_own_locks(m);
}

void lb_asks_explore(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    bool lock = m->strategy->shape == LB_LOCK;
    if (m->program->reads_replica) {
        lb_asks_leave_out(m, "explore",
                          "it reads on a replica, and explore cannot control its lag");
        return;
    }
    explore_alone(m);
    explore_clocks(m);
    if (!lock)
        explore_attributes(m);
    if (!lock && (f->puts_apart || (f->puts_in_steps && lb_asking_on_server(m))))
        add(m, "explore+put",
            "its put takes several statements: one is put while another is worked on", USUAL,
            LB_BOUNDS(.workers = 1, .putters = 1, .items = 1));
    if (!lock && lb_asking_claims(m, LB_G_NO_LOSS))
        explore_two_puts(m);
    if (lock) {
        explore_dead_holder(m);
        explore_dead_waiter(m);
    } else {
        explore_lost_items(m);
    }
    explore_clock(m);
    if (lock && lb_features_lease(f))
        explore_ends(m);
    if (lock && lb_features_lease(f) && f->has_recover && f->recovers_by_time)
        explore_rescued_locks(m);
    if (!lock && f->has_recover && !f->ends_sessions)
        explore_rescue(m);
    if (!lock) {
        explore_late_ends(m);
        explore_operator(m);
        explore_sign_off(m);
    }
    if ((f->has_renew || f->has_beat) &&
        (lb_features_lease(f) || (!lock && f->recovers_by_time && f->has_recover)))
        explore_renewal(m);
    if (lock && f->has_renew && lb_features_lease(f) && lb_asking_claims(m, LB_G_RECOVERY) &&
        !m->program->ends_by_recover && !waiters_count(f))
        explore_dead_renewer(m);
    if (lock)
        explore_shared(m);
    explore_cuts(m);
    if (m->outlook->budget_ns >= LB_OUTLOOK_LONG_NS)
        add(m, "explore+third", "there is time for a third worker", USUAL, LB_BOUNDS(.workers = 3));
}
