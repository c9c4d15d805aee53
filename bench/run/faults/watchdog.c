/* The watchdog: a thread that ticks beside the workers and notes times at which all of them stood
 * still.
 *
 * A bound on waiting is by the wall clock, and a strategy must not be accused of an event that
 * stopped all workers: a process that was stopped, a machine that slept or starved, a disk or a
 * server that did not answer, a stranger who locked the database. Three ways to tell:
 *
 *   tick   the thread sleeps for TICK_NS; if it wakes much later, it was not run: nor were others.
 *   probe no worker has had a success for a while although one waits: a statement of our own,
 *          which touches nothing of the strategy's, is written to the engine. While that is not
 *          answered either, the engine stands still. A lock that is stuck leaves the engine as
 *          quick as ever, and so does not count.
 *   held   an engine that is a file (SQLite): a process that is none of ours has its lock.
 *   one    a worker tells that it was not run itself, or its process was stopped:
 * workers/starved.c.
 *
 * Its ticks also look at this machine's clock: see clock_set.c.
 *
 * Each time of standing still is a note in the history (LB_OP_STALL), and the judge takes it off
 * the waits: so a stored history is judged as the run was.
 *
 * Limits. The probe is sent only when no worker makes progress, so that it costs nothing otherwise:
 * shorter stalls of an engine are not seen. Under the faults blocker and restart it is not asked:
 * there the engine's silence is the fault.
 */
#include "watchdog.h"

#include "worker.h"

#include <time.h>

#define TICK_NS UINT64_C(10000000)
/* The delay of a tick, and the time of a probe, from which on they are noted; and the probe's
 * interval. */
#define LATE_NS  UINT64_C(50000000)
#define PAUSE_NS UINT64_C(50000000)
/* A share of the bound, within limits: enough of a wait must be left to be looked at. */
#define QUIET_SHARE  8
#define QUIET_MIN_NS UINT64_C(50000000)
#define QUIET_MAX_NS UINT64_C(200000000)

static const char probe_setup[] = "CREATE TABLE lb_probe (id INTEGER PRIMARY KEY, n INTEGER)";
static const char probe_row[] = "INSERT INTO lb_probe (id, n) VALUES (1, 0)";
static const char probe_sql[] = "UPDATE lb_probe SET n = 1 - n WHERE id = 1";

static uint64_t quiet_ns(const struct lb_scenario *scenario)
{
    uint64_t bound_ns = scenario->progress_bound_ns;
    if (bound_ns == 0 ||
        (scenario->recovery_bound_ns > 0 && scenario->recovery_bound_ns < bound_ns))
        bound_ns = scenario->recovery_bound_ns;
    uint64_t ns = bound_ns / QUIET_SHARE;
    return ns < QUIET_MIN_NS ? QUIET_MIN_NS : ns > QUIET_MAX_NS ? QUIET_MAX_NS : ns;
}

static bool is_bounded(const struct lb_scenario *scenario)
{
    return scenario->progress_bound_ns > 0 || scenario->recovery_bound_ns > 0;
}

int lb_watchdog_setup(struct lb_watchdog *watchdog, const struct lb_team *team,
                      struct lb_session *control, struct lb_error *err)
{
    const struct lb_scenario *scenario = team->scenario;
    const struct lb_db *db = team->db;
    watchdog->team = team;
    watchdog->quiet_ns = quiet_ns(scenario);
    watchdog->is_bounded = is_bounded(scenario);
    if (control == NULL || team->history == NULL || !watchdog->is_bounded ||
        scenario->fault == LB_FAULT_BLOCKER || lb_fault_is(scenario->fault, LB_FAULT_IS_COMMANDED))
        return 0;
    if (db->probe_open != NULL) {
        watchdog->probe = db->probe_open(team->space);
        watchdog->probes = watchdog->probe != NULL;
        return 0;
    }
    if (db->in_process)
        return 0;
    int rc = db->run(control->conn, probe_setup, err);
    if (rc == LB_OK)
        rc = db->run(control->conn, probe_row, err);
    watchdog->probes = rc == LB_OK;
    return rc < 0 ? rc : 0;
}

static void note(struct lb_watchdog *watchdog, uint64_t from_ns, uint64_t until_ns,
                 enum lb_stall stall)
{
    lb_log_append(&watchdog->log, &(struct lb_event){.time_ns = until_ns,
                                                     .value = until_ns - from_ns,
                                                     .process = watchdog->log.number,
                                                     .arg = stall,
                                                     .op = LB_OP_STALL,
                                                     .type = LB_EV_NOTE});
}

/* Notes stalls that workers report themselves. */
static void note_starved(struct lb_watchdog *watchdog)
{
    for (uint32_t i = 0; i < watchdog->n_slots && watchdog->is_bounded; i++) {
        _Atomic uint64_t *since = &watchdog->workers[i].starved_since_ns;
        uint64_t from_ns = atomic_load_explicit(since, memory_order_relaxed);
        if (from_ns != 0)
            note(watchdog, atomic_exchange(since, 0), lb_now_ns(), LB_STALL_ONE);
    }
}

/* True if a worker waits, and none has had a success for a while. Relaxed: late by a tick at
 * most. */
static bool is_suspicious(struct lb_watchdog *watchdog, uint64_t now_ns)
{
    uint64_t n_granted = 0, since_ns = UINT64_MAX;
    for (uint32_t i = 0; i < watchdog->n_slots; i++) {
        const struct lb_worker *worker = &watchdog->workers[i];
        n_granted += atomic_load_explicit(&worker->progress, memory_order_relaxed);
        uint64_t waits_ns = atomic_load_explicit(&worker->waits_since_ns, memory_order_relaxed);
        if (waits_ns != 0 && waits_ns < since_ns)
            since_ns = waits_ns;
    }
    if (n_granted != watchdog->n_granted)
        watchdog->success_ns = now_ns;
    watchdog->n_granted = n_granted;
    return since_ns != UINT64_MAX && now_ns >= since_ns + watchdog->quiet_ns &&
           now_ns >= watchdog->success_ns + watchdog->quiet_ns;
}

/* A lost connection is made anew: a missing server answers no session. */
static bool ask_server(struct lb_watchdog *watchdog)
{
    const struct lb_db *db = watchdog->team->db;
    const struct lb_conn_options options = {.role = "watchdog"};
    struct lb_error ignored;
    if (watchdog->conn == NULL || lb_conn_head(watchdog->conn)->lost) {
        struct lb_conn *fresh = NULL;
        int rc = db->open(watchdog->team->space, &options, &fresh, &ignored);
        pthread_mutex_lock(&watchdog->conn_lock);
        struct lb_conn *old = watchdog->conn;
        watchdog->conn = rc == 0 ? fresh : NULL;
        pthread_mutex_unlock(&watchdog->conn_lock);
        db->close(old);
        if (rc != 0)
            return false;
    }
    return db->run(watchdog->conn, probe_sql, &ignored) == LB_OK;
}

/* A noted stall begins no earlier than the last success and the last answer in time: the time
 * before may have been normal. */
static uint64_t unsound_since(const struct lb_watchdog *watchdog, uint64_t asked_ns)
{
    uint64_t ns = asked_ns - watchdog->quiet_ns;
    if (ns < watchdog->sound_ns)
        ns = watchdog->sound_ns;
    return ns < watchdog->success_ns ? watchdog->success_ns : ns;
}

static void ask_engine(struct lb_watchdog *watchdog)
{
    uint64_t asked_ns = lb_now_ns();
    bool is_held = false, answered = true;
    if (watchdog->probe != NULL)
        is_held = watchdog->team->db->probe(watchdog->probe);
    else
        answered = ask_server(watchdog);
    uint64_t now_ns = lb_now_ns();
    bool is_slow = now_ns >= asked_ns + LATE_NS;
    if (is_held || is_slow || !answered)
        note(watchdog, unsound_since(watchdog, asked_ns), now_ns,
             is_held ? LB_STALL_HELD : LB_STALL_ENGINE);
    /* Until here it is noted, or was sound. */
    watchdog->sound_ns = now_ns;
}

static void *watchdog_main(void *arg)
{
    struct lb_watchdog *watchdog = arg;
    uint64_t ask_ns = 0;
    watchdog->success_ns = watchdog->sound_ns = lb_now_ns();
    lb_clock_watch_look(&watchdog->clock, &watchdog->log);
    while (!atomic_load(&watchdog->is_asked)) {
        uint32_t seen = lb_event_seen(&watchdog->ask);
        uint64_t due_ns = lb_now_ns() + TICK_NS;
        if (!atomic_load(&watchdog->is_asked))
            lb_event_wait(&watchdog->ask, seen, due_ns);
        uint64_t now_ns = lb_now_ns();
        if (watchdog->is_bounded && now_ns >= due_ns + LATE_NS) {
            note(watchdog, due_ns, now_ns, LB_STALL_TICK);
            watchdog->success_ns = watchdog->sound_ns = now_ns;
        }
        lb_clock_watch_look(&watchdog->clock, &watchdog->log);
        note_starved(watchdog);
        if (!watchdog->probes || now_ns < ask_ns || !is_suspicious(watchdog, now_ns) ||
            atomic_load(&watchdog->is_asked))
            continue;
        ask_engine(watchdog);
        ask_ns = lb_now_ns() + PAUSE_NS;
    }
    lb_clock_watch_look(&watchdog->clock, &watchdog->log);
    note_starved(watchdog);
    atomic_store(&watchdog->has_ended, true);
    return NULL;
}

int lb_watchdog_start(struct lb_watchdog *watchdog, struct lb_worker *workers, uint32_t n_slots,
                      uint32_t log, struct lb_error *err)
{
    const struct lb_team *team = watchdog->team;
    if (team->history == NULL)
        return 0;
    const struct lb_conn_options options = {.role = "watchdog"};
    watchdog->workers = workers;
    watchdog->n_slots = n_slots;
    pthread_mutex_init(&watchdog->conn_lock, NULL);
    lb_log_init(&watchdog->log, team->history, log);
    /* A server that has no room for one more session is not asked. */
    if (watchdog->probes && watchdog->probe == NULL)
        watchdog->probes = team->db->open(team->space, &options, &watchdog->conn, err) == 0;
    if (pthread_create(&watchdog->thread, NULL, watchdog_main, watchdog) != 0)
        return lb_fail(err, LB_E_ENV, "cannot start the thread of the watchdog: see ulimit -u");
    watchdog->has_thread = true;
    return 0;
}

void lb_watchdog_end(struct lb_watchdog *watchdog)
{
    atomic_store(&watchdog->is_asked, true);
    lb_event_signal(&watchdog->ask);
    for (unsigned n = 1; watchdog->has_thread && !atomic_load(&watchdog->has_ended); n++) {
        pthread_mutex_lock(&watchdog->conn_lock);
        if (watchdog->conn != NULL && n % 32 == 0)
            watchdog->team->db->cancel(watchdog->conn);
        pthread_mutex_unlock(&watchdog->conn_lock);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (watchdog->has_thread)
        pthread_join(watchdog->thread, NULL);
    watchdog->has_thread = false;
    if (watchdog->conn != NULL)
        watchdog->team->db->close(watchdog->conn);
    watchdog->conn = NULL;
}

void lb_watchdog_release(struct lb_watchdog *watchdog)
{
    if (watchdog->probe != NULL)
        watchdog->team->db->probe_close(watchdog->probe);
    watchdog->probe = NULL;
}
