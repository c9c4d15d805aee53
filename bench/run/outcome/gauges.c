/* Figures of the server and of this program: see gauges.h.
 *
 * The thread asks the server once in each interval, on a session of its own, because an answer may
 * have to wait: for a table's size PostgreSQL takes a lock, and a protocol may lock the table. Such
 * a question is given up after LOCK_WAIT_MS. The controlling thread, which closes the intervals,
 * takes the last answer and never waits for one.
 *
 * Totals of the server become rates: the difference between two answers, by the time between them.
 */
#include "gauges.h"

#include "books.h"
#include "memory.h"
#include "proc.h"
#include "traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOCK_WAIT_MS = 300 };

enum kind {
    LEVEL, /* as it is */
    PER_S, /* of a total: by the second */
    SINCE  /* of a total: the difference */
};

static const struct {
    const char *name, *counter; /* counter: the server's name; NULL: not the server's */
    enum kind kind;
} gauge_list[LB_GAUGES] = {
    [LB_G_BACKLOG] = {"backlog", NULL, LEVEL},
    [LB_G_CPU] = {"cpu", NULL, PER_S},
    [LB_G_MEMORY_BYTES] = {"memory_bytes", NULL, LEVEL},
    [LB_G_SERVER_CPU] = {"server_cpu", NULL, PER_S},
    [LB_G_LIVE_ROWS] = {"live_rows", "live_rows", LEVEL},
    [LB_G_DEAD_ROWS] = {"dead_rows", "dead_rows", LEVEL},
    [LB_G_TABLE_BYTES] = {"table_bytes", "table_bytes", LEVEL},
    [LB_G_INDEX_BYTES] = {"index_bytes", "index_bytes", LEVEL},
    [LB_G_DATABASE_BYTES] = {"database_bytes", "database_bytes", LEVEL},
    [LB_G_BUFFERS_HIT] = {"buffers_hit_per_s", "buffers_hit", PER_S},
    [LB_G_BUFFERS_READ] = {"buffers_read_per_s", "buffers_read", PER_S},
    [LB_G_WAL_BYTES] = {"wal_bytes_per_s", "wal_bytes", PER_S},
    [LB_G_CHECKPOINTS] = {"checkpoints", "checkpoints", SINCE},
    [LB_G_VACUUMS] = {"vacuums", "vacuums", LEVEL},
    [LB_G_LOCKS] = {"locks", "locks", LEVEL},
    [LB_G_LOCKS_WAITED] = {"locks_waited", "locks_waited", LEVEL},
    [LB_G_HISTORY_LENGTH] = {"history_length", "history_list_length", LEVEL},
    [LB_G_WAITING] = {"waiting", NULL, LEVEL},
    [LB_G_NET_SENT] = {"net_sent_bytes_per_s", NULL, PER_S},
    [LB_G_NET_RECEIVED] = {"net_received_bytes_per_s", NULL, PER_S},
};

const char *lb_gauge_name(enum lb_gauge gauge)
{
    return gauge_list[gauge].name;
}

/* Totals as they are, not yet rates. */
struct answer {
    uint64_t at_ns; /* 0: there is none */
    double values[LB_GAUGES];
    char wait[LB_GAUGE_WAIT];
};

struct lb_gauges {
    struct lb_active_run *run;
    struct lb_session session;
    bool has_session;
    pid_t server; /* 0: not on this machine */
    struct lb_traffic traffic;
    pthread_t thread;
    pthread_mutex_t lock; /* of the next */
    struct answer last;
    struct answer taken; /* the controlling thread's: of the interval before */
};

static void clear(struct answer *answer)
{
    *answer = (struct answer){.at_ns = 0};
    for (int g = 0; g < LB_GAUGES; g++)
        answer->values[g] = (double)NAN;
}

static void take_counter(void *arg, const char *name, const char *value)
{
    struct answer *answer = arg;
    for (int g = 0; g < LB_GAUGES; g++)
        if (gauge_list[g].counter != NULL && strcmp(gauge_list[g].counter, name) == 0)
            answer->values[g] = strtod(value, NULL);
}

/* Sessions that wait, and the most common event that they wait for. */
struct waits {
    struct answer *answer;
    double most;
};

static void take_wait(void *arg, const char *name, const char *value)
{
    struct waits *waits = arg;
    double n = strtod(value, NULL);
    if (strcmp(name, "running") == 0 || strcmp(name, "idle in transaction") == 0)
        return;
    waits->answer->values[LB_G_WAITING] += n;
    if (n <= waits->most)
        return;
    waits->most = n;
    snprintf(waits->answer->wait, sizeof waits->answer->wait, "%s", name);
}

static bool open_session(struct lb_gauges *gauges)
{
    struct lb_team *team = gauges->run->team;
    static const struct lb_conn_options options = {.role = "series",
                                                   .lock_timeout_ms = LOCK_WAIT_MS};
    struct lb_error ignored;
    struct lb_session *session = &gauges->session;
    if (gauges->has_session) {
        if (session->conn == NULL || lb_conn_head(session->conn)->lost)
            return lb_session_reconnect(session, &ignored) == 0;
        return true;
    }
    gauges->has_session =
        lb_session_open(session, team->db, gauges->run->space, &options, &ignored) == 0;
    if (gauges->has_session && team->db->server_pid != NULL)
        gauges->server = team->db->server_pid(session->conn);
    return gauges->has_session;
}

static void ask(struct lb_gauges *gauges)
{
    const struct lb_db *db = gauges->run->team->db;
    struct lb_error ignored;
    struct answer answer;
    struct waits waits = {.answer = &answer};
    clear(&answer);
    bool is_open = open_session(gauges);
    struct lb_conn *conn = gauges->session.conn;
    if (is_open && db->counters != NULL)
        db->counters(conn, take_counter, &answer, &ignored);
    if (is_open && !lb_conn_head(conn)->lost && db->levels != NULL)
        db->levels(conn, take_counter, &answer, &ignored);
    if (is_open && !lb_conn_head(conn)->lost && db->waits != NULL) {
        answer.values[LB_G_WAITING] = 0;
        if (db->waits(conn, take_wait, &waits, &ignored) != 0)
            answer.values[LB_G_WAITING] = (double)NAN;
    }
    double cpu_ns = gauges->server > 0 ? lb_proc_cpu_ns(gauges->server) : -1;
    if (cpu_ns >= 0)
        answer.values[LB_G_SERVER_CPU] = cpu_ns / 1e9;
    /* Sessions of other processes have their sockets there. */
    if (is_open && db->socket != NULL && gauges->run->processes == NULL &&
        !lb_conn_head(conn)->lost && lb_traffic_count(&gauges->traffic, db->socket(conn)) == 0) {
        answer.values[LB_G_NET_SENT] = (double)gauges->traffic.sent;
        answer.values[LB_G_NET_RECEIVED] = (double)gauges->traffic.received;
    }
    answer.at_ns = lb_now_ns();
    pthread_mutex_lock(&gauges->lock);
    gauges->last = answer;
    pthread_mutex_unlock(&gauges->lock);
}

static void *gauges_main(void *arg)
{
    struct lb_gauges *gauges = arg;
    struct lb_team *team = gauges->run->team;
    do
        ask(gauges);
    while (lb_team_wait(team, lb_now_ns() + lb_run_interval_ns(team->scenario), LB_PHASE_DRAIN));
    if (gauges->has_session)
        lb_session_close(&gauges->session);
    return NULL;
}

/* The CPU time of this program so far. Of processes that ended it counts what they have used. */
static double own_cpu_ns(const struct lb_active_run *run)
{
    if (run->processes != NULL)
        return lb_proc_cpu_ns(getpid());
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

int lb_gauges_start(struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_db *db = run->team->db;
    run->own_cpu_ns = own_cpu_ns(run);
    run->own_cpu_at_ns = lb_now_ns();
    /* No connection of an engine inside this process may be open while it forks. */
    if ((!run->request->has_series && run->request->scenario->n_stages == 0) || db == NULL ||
        (db->in_process && run->processes != NULL))
        return 0;
    struct lb_gauges *gauges = lb_calloc(1, sizeof *gauges);
    gauges->run = run;
    clear(&gauges->last);
    clear(&gauges->taken);
    pthread_mutex_init(&gauges->lock, NULL);
    if (pthread_create(&gauges->thread, NULL, gauges_main, gauges) != 0) {
        free(gauges);
        return lb_fail(err, LB_E_ENV, "cannot start the thread of the series");
    }
    run->gauges = gauges;
    return 0;
}

void lb_gauges_cancel(struct lb_gauges *gauges)
{
    if (gauges != NULL && gauges->has_session)
        lb_session_cancel(&gauges->session);
}

void lb_gauges_end(struct lb_gauges *gauges)
{
    if (gauges == NULL)
        return;
    pthread_join(gauges->thread, NULL);
    pthread_mutex_destroy(&gauges->lock);
    free(gauges->traffic.sockets.items);
    free(gauges);
}

static void take_own(struct lb_active_run *run, struct lb_interval *interval)
{
    double cpu_ns = own_cpu_ns(run), memory = lb_proc_memory_bytes(getpid());
    uint64_t now_ns = lb_now_ns();
    double *values = interval->gauges;
    if (run->own_cpu_at_ns > 0 && cpu_ns >= run->own_cpu_ns && now_ns > run->own_cpu_at_ns)
        values[LB_G_CPU] = (cpu_ns - run->own_cpu_ns) / (double)(now_ns - run->own_cpu_at_ns);
    run->own_cpu_ns = cpu_ns;
    run->own_cpu_at_ns = now_ns;
    if (memory >= 0)
        values[LB_G_MEMORY_BYTES] = memory;
    if (run->request->scenario->shape == LB_QUEUE && run->company == NULL) {
        double n_put = (double)(lb_run_items_put(run) - run->request->scenario->dead_rows);
        values[LB_G_BACKLOG] = fmax(0, n_put - (double)lb_run_completions(run));
    }
}

static void take_server(struct lb_gauges *gauges, struct lb_interval *interval)
{
    pthread_mutex_lock(&gauges->lock);
    struct answer last = gauges->last;
    pthread_mutex_unlock(&gauges->lock);
    if (last.at_ns == 0 || last.at_ns == gauges->taken.at_ns)
        return; /* the server has not answered since */
    double seconds = (double)(last.at_ns - gauges->taken.at_ns) / 1e9;
    for (int g = 0; g < LB_GAUGES; g++) {
        if (g == LB_G_BACKLOG || g == LB_G_CPU || g == LB_G_MEMORY_BYTES)
            continue; /* of this program */
        double value = last.values[g], change = value - gauges->taken.values[g];
        if (gauge_list[g].kind == LEVEL)
            interval->gauges[g] = value;
        else if (change >= 0) /* a server that was started again counts from 0 */
            interval->gauges[g] = gauge_list[g].kind == PER_S ? change / seconds : change;
    }
    snprintf(interval->wait, sizeof interval->wait, "%s", last.wait);
    gauges->taken = last;
}

void lb_gauges_take(struct lb_active_run *run, struct lb_interval *interval)
{
    for (int g = 0; g < LB_GAUGES; g++)
        interval->gauges[g] = (double)NAN;
    interval->wait[0] = '\0';
    take_own(run, interval);
    if (run->gauges != NULL)
        take_server(run->gauges, interval);
}
