/* Readers: what a queue's lock costs those who do not want it.
 *
 * A session that only looks, as a dashboard or a report does: it runs the strategy's own count,
 * again and again, with the scenario's poll between, and takes no lock of the protocol's. A lock
 * that readers pass costs them nothing; one that they must wait for costs them what the workers
 * hold it. They are threads of the controlling process, and are no workers: nothing that they do is
 * judged.
 */
#include "readers.h"

#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

/* Between two looks at the scenario's phase, where readers do not read. */
#define REST_NS UINT64_C(50000000)

struct reader {
    struct lb_active_run *run;
    pthread_t thread;
    struct lb_session session;
    struct lb_runner runner;
    bool has_session, has_thread; /* with a session it has a runner */
    struct lb_counts counts;
    struct lb_histogram *service;
};

struct lb_readers {
    size_t n;
    struct reader each[];
};

/* One look. false: its session is over, and so is its work. */
static bool look(struct reader *reader)
{
    struct lb_team *team = reader->run->team;
    int64_t counts[LB_COUNTED];
    struct lb_error err = {0};
    bool measured = lb_team_phase(team) == LB_PHASE_MEASURE;
    uint64_t start_ns = lb_now_ns();
    int answer = lb_count_items(&reader->run->plan, &reader->runner, counts, &err);
    uint64_t end_ns = lb_now_ns();
    if (answer < 0) {
        lb_team_fail(team, &err);
        return false;
    }
    if (measured) {
        struct lb_counts *c = &reader->counts;
        bool is_in_time = lb_team_phase(team) == LB_PHASE_MEASURE;
        c->started++;
        c->attempts++;
        c->answers[answer]++;
        c->censored += !is_in_time;
        c->finished += is_in_time;
        c->succeeded += is_in_time && answer == LB_OK;
        c->given_up += is_in_time && answer != LB_OK;
        if (is_in_time && answer == LB_OK)
            lb_histogram_record(reader->service, end_ns - start_ns);
    }
    return answer != LB_LOST;
}

static void *reader_main(void *arg)
{
    struct reader *reader = arg;
    struct lb_team *team = reader->run->team;
    const uint64_t poll_ns = team->scenario->poll_ns;
    lb_team_wait(team, UINT64_MAX, LB_PHASE_WARMUP);
    while (lb_team_phase(team) < LB_PHASE_STOP) {
        bool rests = atomic_load(&team->no_readers);
        if (!rests && !look(reader))
            break;
        lb_team_wait(team, lb_now_ns() + (rests ? REST_NS : poll_ns), LB_PHASE_STOP);
    }
    return NULL;
}

static int open_reader(struct reader *reader, struct lb_error *err)
{
    struct lb_team *team = reader->run->team;
    struct lb_conn_options options;
    lb_team_conn_options(team, team->plan, &options);
    options.role = "reader";
    reader->service = lb_histogram_new();
    int rc = lb_session_open(&reader->session, team->db, team->space, &options, err);
    if (rc != 0)
        return rc;
    reader->has_session = true;
    lb_runner_init(&reader->runner, team->plan->program, &reader->session, err);
    if (pthread_create(&reader->thread, NULL, reader_main, reader) != 0)
        return lb_fail(err, LB_E_ENV, "cannot start the thread of a reader");
    reader->has_thread = true;
    return 0;
}

int lb_readers_start(struct lb_active_run *run, struct lb_error *err)
{
    const size_t n = run->request->scenario->readers;
    run->readers = lb_calloc(1, sizeof *run->readers + n * sizeof run->readers->each[0]);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        run->readers->each[i].run = run;
        run->readers->n++;
        rc = open_reader(&run->readers->each[i], err);
    }
    return rc;
}

void lb_readers_cancel(struct lb_readers *readers)
{
    for (size_t i = 0; i < readers->n; i++)
        if (readers->each[i].has_session)
            lb_session_cancel(&readers->each[i].session);
}

void lb_readers_end(struct lb_readers *readers)
{
    for (size_t i = 0; readers != NULL && i < readers->n; i++) {
        struct reader *reader = &readers->each[i];
        if (reader->has_thread)
            pthread_join(reader->thread, NULL);
        reader->has_thread = false;
        if (reader->has_session) {
            lb_runner_release(&reader->runner);
            lb_session_close(&reader->session);
        }
        reader->has_session = false;
    }
}

void lb_readers_settle(const struct lb_readers *readers, struct lb_counts *counts,
                       struct lb_histogram *service)
{
    for (size_t i = 0; readers != NULL && i < readers->n; i++) {
        lb_counts_add(counts, &readers->each[i].counts);
        lb_histogram_add(service, readers->each[i].service);
    }
}

void lb_readers_release(struct lb_readers *readers)
{
    lb_readers_end(readers);
    for (size_t i = 0; readers != NULL && i < readers->n; i++)
        lb_histogram_free(readers->each[i].service);
    free(readers);
}
