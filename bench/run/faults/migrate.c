/* The fault migrate: section migrate of the strategy's file runs once, while the workers go on with
 * their statements. Another session has read the tables and keeps its transaction open for
 * fault-length, as a report or a backup does: a migration that needs the tables for itself waits
 * behind it, and the workers wait behind the migration.
 *
 * A session of its own looks at the waiting sessions, again and again. A wait counts from the first
 * look to the last one, so the figures are lower bounds. A migration that the server
 * gives up for contention (lock_timeout, a deadlock) is begun again after the scenario's poll.
 */
#include "beside.h"
#include "fault_kind.h"
#include "ordinary.h"
#include "victim.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WAITERS = 256, LOOK_NS = 1000000 };

struct waiter {
    int64_t id;
    uint64_t since_ns, seen_ns;
};

struct migrating {
    struct lb_active_run *run;
    struct lb_session session, watcher;
    struct lb_migration *result;
    struct lb_error err;
    int answer; /* of the last try */
    atomic_bool is_over;
    atomic_ulong tries;
    struct waiter waiters[WAITERS]; /* all that were ever seen */
    size_t n_waiters;
    uint64_t looked_ns;       /* the last look */
    unsigned long seen_tries; /* and the try that was under way */
};

/* --- the migration --- */

static bool is_contention(int answer)
{
    return answer == LB_BUSY || answer == LB_TIMEOUT || answer == LB_CONFLICT ||
           answer == LB_DEADLOCK;
}

static void *migrate(void *arg)
{
    struct migrating *m = arg;
    struct lb_team *team = m->run->team;
    struct lb_error ignored;
    const uint64_t begun_ns = lb_now_ns();
    do {
        atomic_fetch_add(&m->tries, 1);
        m->answer = lb_ordinary_migrate(&m->run->plan, &m->session, &m->err);
        lb_session_rollback(&m->session, &ignored);
    } while (is_contention(m->answer) &&
             lb_team_wait(team, lb_now_ns() + team->scenario->poll_ns, LB_PHASE_STOP));
    m->result->took_ns = lb_now_ns() - begun_ns;
    m->result->n_tries = atomic_load(&m->tries);
    m->result->is_done = m->answer == 0;
    atomic_store(&m->is_over, true);
    return NULL;
}

/* --- the watcher --- */

static void note(struct migrating *m, int64_t id, uint64_t now_ns)
{
    struct waiter *waiter = m->waiters;
    while (waiter < m->waiters + m->n_waiters && waiter->id != id)
        waiter++;
    if (waiter == m->waiters + WAITERS)
        return;
    if (waiter == m->waiters + m->n_waiters) {
        *waiter = (struct waiter){.id = id};
        m->n_waiters++;
    }
    if (waiter->seen_ns != 0 && waiter->seen_ns == m->looked_ns)
        m->result->waited_ns += now_ns - waiter->seen_ns;
    else
        waiter->since_ns = now_ns;
    waiter->seen_ns = now_ns;
    if (now_ns - waiter->since_ns > m->result->longest_ns)
        m->result->longest_ns = now_ns - waiter->since_ns;
}

/* An engine without waiters() has one writer: a worker that waits while the migration does not,
 * waits for it. */
static void look_at_workers(struct migrating *m, uint64_t now_ns)
{
    for (uint32_t i = 0; i < m->run->n_started; i++) {
        struct lb_worker *worker = &m->run->workers[i];
        if (lb_beside_is_blocked(&m->watcher, worker))
            note(m, (int64_t)worker->number + 1, now_ns);
    }
}

static int look(struct migrating *m, struct lb_error *err)
{
    const struct lb_db *db = m->run->team->db;
    const int64_t id = db->session_id(m->session.conn);
    const uint64_t now_ns = lb_now_ns();
    const unsigned long tries = atomic_load(&m->tries);
    int64_t ids[WAITERS];
    if (tries != m->seen_tries)
        m->looked_ns = 0; /* nothing waits from one try to the next */
    m->seen_tries = tries;
    int blocked = db->is_blocked(m->watcher.conn, id, err);
    if (blocked > 0 && m->looked_ns > 0)
        m->result->blocked_ns += now_ns - m->looked_ns;
    int n = blocked >= 0 && db->waiters != NULL
                ? db->waiters(m->watcher.conn, id, ids, WAITERS, err)
                : 0;
    for (int i = 0; i < n; i++)
        note(m, ids[i], now_ns);
    if (blocked == 0 && db->waiters == NULL)
        look_at_workers(m, now_ns);
    m->looked_ns = now_ns;
    return blocked < 0 ? blocked : n < 0 ? n : 0;
}

static bool can_watch(const struct migrating *m)
{
    const struct lb_db *db = m->run->team->db;
    const struct lb_scenario *scenario = m->run->request->scenario;
    return db->is_blocked != NULL && db->session_id(m->session.conn) != 0 &&
           (db->waiters != NULL || (scenario->processes == 0 && scenario->pool == 0));
}

/* Until the migration is over. The reader's transaction ends after its time, or with the run. */
static int watch(struct migrating *m, struct lb_session *reader, struct lb_error *err)
{
    struct lb_team *team = m->run->team;
    const uint64_t until_ns = lb_now_ns() + m->run->request->scenario->fault_length_ns;
    struct lb_error ignored;
    int rc = 0;
    m->result->is_watched = can_watch(m);
    while (!atomic_load(&m->is_over)) {
        if (rc == 0 && m->result->is_watched)
            rc = look(m, err);
        bool goes_on = lb_team_wait(team, lb_now_ns() + LOOK_NS, LB_PHASE_DRAIN);
        if (reader->in_tx && (!goes_on || lb_now_ns() >= until_ns))
            lb_session_rollback(reader, &ignored);
        if (!goes_on && lb_team_phase(team) >= LB_PHASE_ABORT)
            lb_session_cancel(&m->session);
    }
    m->result->n_sessions = m->n_waiters;
    return rc;
}

static int read_tables(const struct lb_db *db, struct lb_session *reader, struct lb_error *err)
{
    int answer = lb_session_begin(reader, LB_BEGIN_DEFERRED, err);
    if (answer == LB_OK)
        answer = db->lock_rows != NULL ? db->lock_rows(reader->conn, INT64_MAX, err)
                                       : db->take_snapshot(reader->conn, err);
    return answer < 0 ? answer : 0;
}

static int run_beside(struct migrating *m, struct lb_session *reader, struct lb_error *err)
{
    const struct lb_scenario *scenario = m->run->request->scenario;
    pthread_t thread;
    int rc = scenario->fault_length_ns > 0 ? read_tables(m->run->team->db, reader, err) : 0;
    if (rc != 0)
        return rc;
    if (pthread_create(&thread, NULL, migrate, m) != 0)
        return lb_fail(err, LB_E_ENV, "cannot start the thread of the migration");
    rc = watch(m, reader, err);
    pthread_join(thread, NULL);
    if (m->answer == 0 || is_contention(m->answer))
        return rc;
    *err = m->err;
    return err->code;
}

static int inject_outside(struct lb_active_run *run, struct lb_session *reader, struct lb_log *log,
                          struct lb_error *err)
{
    struct lb_team *team = run->team;
    struct lb_migration *result = &run->outcome->migration;
    struct migrating m = {.run = run, .result = result};
    const struct lb_conn_options migration = {.role = "migration"}, watcher = {.role = "watcher"};
    struct lb_error ignored;
    if (result->took_ns > 0) {
        lb_team_wait(team, UINT64_MAX, LB_PHASE_DRAIN);
        return 0;
    }
    int rc = lb_session_open(&m.session, team->db, run->space, &migration, err);
    if (rc != 0)
        return rc;
    rc = lb_session_open(&m.watcher, team->db, run->space, &watcher, err);
    if (rc == 0) {
        lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_MIGRATE, UINT32_MAX, 0);
        atomic_fetch_add(&team->n_faults, 1);
        rc = run_beside(&m, reader, err);
        lb_session_rollback(reader, &ignored);
        atomic_fetch_add(&team->n_faults_over, 1);
        lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_MIGRATE, UINT32_MAX, 1);
        lb_session_close(&m.watcher);
    }
    lb_session_close(&m.session);
    return rc;
}

static int check(const struct lb_run_plan *plan, struct lb_error *err)
{
    if (plan->file != NULL && lb_file_before(plan->file) != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "fault migrate: with --with the migration runs before the workers start");
    if (plan->scenario->fault_count > 1)
        return lb_fail(err, LB_E_UNSUPPORTED, "fault migrate happens once: --fault-count 1");
    return 0;
}

const struct lb_fault_kind lb_fault_migrate = {
    .suits = lb_fault_suits_databases,
    .check = check,
    .needs = LB_S_MIGRATE,
    .inject_outside = inject_outside,
    .isolation = LB_ISO_REPEATABLE_READ,
    .lock_keys = "fault-interval=500ms fault-length=500ms fault-count=1",
    .queue_keys = "fault-interval=500ms fault-length=500ms fault-count=1 hold=5ms"};
