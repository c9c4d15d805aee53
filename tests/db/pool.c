/* Workers that share a pool of sessions: a pool must not change the verdict, it must keep its size
 * in all events, and a lock that stays in a session goes to the next worker.
 */
#include "fixture.h"
#include "run.h"

#include "histogram.h"

enum { WORKERS = 8 };

/* One run, of a built-in strategy or of a user's file. */
struct trial {
    struct lb_scenario scenario;
    const struct lb_strategy *strategy;
    struct lb_strategy own;
    struct lb_file *file;
    struct lb_stop stop;
    lb_progress_fn *progress;
    struct lb_outcome *outcome;
    struct fixture *f;
    const struct lb_target *target;
    /* watch() */
    int64_t most, victim;
    bool is_replaced;
};

static void start_with(struct trial *t, struct fixture *f, uint64_t pool, const char *scenario)
{
    *t = (struct trial){.f = f, .target = &f->target};
    assert_int_equal(lb_scenario_load(scenario, &t->scenario, &f->err), 0);
    t->scenario.workers = WORKERS;
    t->scenario.pool = pool;
    t->scenario.warmup_ns = 0;
    t->scenario.progress_bound_ns = 0;
}

static void go(struct trial *t, const char *strategy, const char *text)
{
    struct fixture *f = t->f;
    const struct lb_embedded *e = strategy != NULL ? lb_embedded_find(strategy, f->db->name) : NULL;
    t->strategy = strategy != NULL ? lb_strategy_find(strategy) : &t->own;
    if (text == NULL)
        text = (const char *)e->text;
    size_t length = strategy != NULL ? *e->length : strlen(text);
    int shape = strategy != NULL ? (int)t->strategy->shape : -1;
    if (lb_file_parse("pool", text, length, shape, &t->file, &f->err) != 0)
        fail_msg("%s", f->err.message);
    if (strategy == NULL)
        lb_strategy_of_file(t->file, &t->own);
    struct lb_run_plan plan = {.strategy = t->strategy,
                               .file = t->file,
                               .target = t->target,
                               .scenario = &t->scenario,
                               .seed = 1,
                               .record = true};
    if (lb_run(&plan, &t->stop, t->progress, t, &t->outcome, &f->err) != 0)
        fail_msg("%s on %s: %s", t->strategy->name, f->target.label, f->err.message);
}

static void end(struct trial *t)
{
    lb_outcome_free(t->outcome);
    lb_file_free(t->file);
}

static void must_hold(const struct trial *t, const char *strategy)
{
    const struct lb_judgement *j = &t->outcome->judgement;
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (j->findings[g].verdict == LB_V_VIOLATED)
            fail_msg("%s on %s: %s is violated: %s", strategy, t->f->target.label,
                     lb_guarantee_name((enum lb_guarantee)g),
                     j->findings[g].n_witnesses > 0 ? j->findings[g].witness[0].text : "");
}

/* --- one session is enough for all --- */

/* Holds in a row, in a transaction, in the session itself; and eight that want the one session. */
static void one_session_serves_eight_workers(void **state)
{
    enum { EACH = 5 };
    static const char *const locks[] = {"lease-upsert", "lock-row",         "fifo-poll-safe",
                                        "row-lock",     "advisory-session", NULL};
    struct fixture *f = *state;
    for (size_t i = 0; locks[i] != NULL; i++) {
        struct trial t;
        if (lb_embedded_find(locks[i], f->db->name) == NULL)
            continue;
        start_with(&t, f, 1, "mutex-hot");
        t.scenario.hold_ns = 100000;
        t.scenario.duration_ns = 0;
        t.scenario.count = EACH;
        go(&t, locks[i], NULL);
        must_hold(&t, locks[i]);
        const struct lb_outcome *o = t.outcome;
        assert_int_equal(o->judgement.findings[LB_G_EXCLUSIVE].verdict, LB_V_HELD);
        assert_int_equal(o->counts[LB_M_ACQUIRE].succeeded, EACH * WORKERS);
        assert_int_equal(o->n_connects, 1);
        assert_true(o->counts[LB_M_POOL].succeeded >= EACH * WORKERS);
        assert_int_equal(o->service[LB_M_POOL]->count, o->counts[LB_M_POOL].succeeded);
        end(&t);
    }
}

static void one_session_serves_a_queue(void **state)
{
    static const char *const queues[] = {"skip-locked",    "skip-locked-hold", "cas",
                                         "advisory-claim", "merge-table-lock", NULL};
    struct fixture *f = *state;
    for (size_t i = 0; queues[i] != NULL; i++) {
        struct trial t;
        if (lb_embedded_find(queues[i], f->db->name) == NULL)
            continue;
        start_with(&t, f, 1, "drain");
        t.scenario.backlog = 40;
        t.scenario.duration_ns = 0;
        go(&t, queues[i], NULL);
        must_hold(&t, queues[i]);
        assert_int_equal(t.outcome->judgement.findings[LB_G_NO_DUPLICATE].verdict, LB_V_HELD);
        assert_int_equal(t.outcome->judgement.findings[LB_G_NO_LOSS].verdict, LB_V_HELD);
        assert_int_equal(t.outcome->n_items, 40);
        assert_int_equal(t.outcome->n_connects, 1);
        end(&t);
    }
}

/* --- the server's side --- */

/* In a database of the test's own: others may run on the same server. */
#define DATABASE "lockbench_pool_test"
#define SESSIONS                                                                                   \
    "FROM pg_stat_activity WHERE datname = '" DATABASE "'"                                         \
    " AND application_name ~ '^lockbench (pool|worker)'"

/* Counts what the server sees; ends one session of two, and the run once there are two again
 * without that one. */
static void watch(void *arg, const struct lb_progress *progress)
{
    struct trial *t = arg;
    struct fixture *f = t->f;
    if (strcmp(progress->phase, "running") != 0)
        return;
    /* The one that was ended may take a while to go, when its successor is there. */
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT count(*) " SESSIONS " AND pid <> %lld", (long long)t->victim);
    int64_t n = query_int(f, f->a, sql);
    if (n > t->most)
        t->most = n;
    if (t->scenario.pool == 0 || t->is_replaced) {
        atomic_store(&t->stop.requested, 1);
        return;
    }
    if (t->victim == 0) {
        t->victim = query_int(f, f->a, "SELECT min(pid) " SESSIONS);
        snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%lld)", (long long)t->victim);
        must(f, f->a, sql);
        return;
    }
    snprintf(sql, sizeof sql, "SELECT count(*) " SESSIONS " AND pid = %lld", (long long)t->victim);
    t->is_replaced = n == (int64_t)t->scenario.pool && query_int(f, f->a, sql) == 0;
}

/* The same server, the test's own database. */
static void retarget(struct fixture *f, struct lb_target *ret_target)
{
    char uri[1000];
    bool is_uri = strstr(f->uri, "://") != NULL;
    const char *joint = !is_uri ? " " : strchr(f->uri, '?') != NULL ? "&" : "?";
    snprintf(uri, sizeof uri, "%s%sdbname=" DATABASE, f->uri, joint);
    must(f, f->a, "DROP DATABASE IF EXISTS " DATABASE " WITH (FORCE)");
    must(f, f->a, "CREATE DATABASE " DATABASE);
    assert_int_equal(lb_target_parse(uri, ret_target, &f->err), 0);
}

static void a_failed_connection_is_replaced(void **state)
{
    enum { SIZE = 2 };
    struct fixture *f = *state;
    struct lb_target target;
    retarget(f, &target);
    /* Then without a pool: the count could have been larger. */
    for (int pooled = 1; pooled >= 0; pooled--) {
        struct trial t;
        start_with(&t, f, pooled ? SIZE : 0, "mutex-spread");
        t.scenario.duration_ns = UINT64_C(600000000000); /* the watch ends it */
        t.progress = watch;
        t.target = &target;
        go(&t, "lease-upsert", NULL);
        must_hold(&t, "lease-upsert");
        assert_int_equal(t.is_replaced, pooled);
        assert_int_equal(t.most, pooled ? SIZE : WORKERS);
        assert_int_equal(t.outcome->n_connects, pooled ? SIZE + 1 : WORKERS);
        assert_int_equal(t.outcome->n_lost, pooled);
        end(&t);
    }
    lb_target_release(&target);
    must(f, f->a, "DROP DATABASE " DATABASE " WITH (FORCE)");
}

/* The fault ends sessions of holders, and free ones, which no worker notices. Each costs one
 * operation: the refused worker throws it away, and does not hand it on. */
static void sessions_that_are_ended_are_thrown_away(void **state)
{
    enum { SIZE = 2, FAULTS = 3 };
    /* Nothing lives in a session; the claim does. */
    static const char *const queues[] = {"merge-table-lock", "skip-locked-hold", NULL};
    struct fixture *f = *state;
    if (f->db->terminate == NULL)
        return;
    for (size_t i = 0; queues[i] != NULL; i++) {
        struct trial t;
        if (lb_embedded_find(queues[i], f->db->name) == NULL)
            continue;
        start_with(&t, f, SIZE, "merge-article");
        t.scenario.put_interval_ns = 2000000;
        t.scenario.claim_interval_ns = 2000000;
        t.scenario.fault = LB_FAULT_DISCONNECT;
        t.scenario.fault_interval_ns = 100000000;
        t.scenario.fault_count = FAULTS;
        t.scenario.duration_ns = 0; /* until all faults are over */
        go(&t, queues[i], NULL);
        must_hold(&t, queues[i]);
        const struct lb_outcome *o = t.outcome;
        assert_in_range(o->n_faults, 1, FAULTS);
        /* Fewer, if a free one was never taken again. More: it was handed on. */
        assert_in_range(o->n_lost, 1, o->n_faults);
        assert_in_range(o->n_connects, SIZE + 1, SIZE + o->n_lost);
        end(&t);
    }
}

/* --- a lock that is left in a session --- */

#define ADVISORY(session)                                                                          \
    "-- strategy: in-session\n-- shape: lock\n-- claims: exclusive\n-- name: setup\n"              \
    "-- name: acquire" session "\n"                                                                \
    "SELECT pg_try_advisory_lock(:space_no::int, :resource_no::int) AS granted;\n"                 \
    "-- name: release\n"                                                                           \
    "SELECT pg_advisory_unlock(:space_no::int, :resource_no::int) AS granted;\n"

/* Ends the run when two were seen to hold it. */
static void watch_overlaps(void *arg, const struct lb_progress *progress)
{
    struct trial *t = arg;
    if (progress->n_overlaps > 0)
        atomic_store(&t->stop.requested, 1);
}

/* A session may lock again what it has: the next worker that gets it is let in as well. */
static void a_lock_left_in_a_returned_session_lets_in_the_next(void **state)
{
    struct fixture *f = *state;
    for (int kept = 0; kept < 2; kept++) {
        struct trial t;
        start_with(&t, f, 2, "mutex-hot");
        t.scenario.hold_ns = 2000000;
        t.scenario.duration_ns = kept ? 0 : UINT64_C(300000000000);
        t.scenario.count = kept ? 20 : 0;
        t.progress = kept ? NULL : watch_overlaps;
        go(&t, NULL, kept ? ADVISORY(" session=keep") : ADVISORY(""));
        assert_int_equal(t.outcome->judgement.findings[LB_G_EXCLUSIVE].verdict,
                         kept ? LB_V_HELD : LB_V_VIOLATED);
        end(&t);
    }
}

int main(void)
{
    static const struct engine_test tests[] = {
        {"one session serves eight workers", one_session_serves_eight_workers, NULL},
        {"one session serves a queue", one_session_serves_a_queue, NULL},
        {"a failed connection is replaced", a_failed_connection_is_replaced, "postgres"},
        {"sessions that are ended are thrown away", sessions_that_are_ended_are_thrown_away, NULL},
        {"a lock left in a returned session lets in the next",
         a_lock_left_in_a_returned_session_lets_in_the_next, "postgres"},
        {NULL, NULL, NULL},
    };
    return run_for_each_engine(tests);
}
