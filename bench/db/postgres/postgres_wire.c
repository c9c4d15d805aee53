/* Waiting for PostgreSQL: see postgres_wire.h.
 * Source: https://www.postgresql.org/docs/current/libpq-async.html.
 */
#include "postgres_wire.h"

#include "clock.h"
#include "leash.h"
#include "postgres_cancel.h"

#include <poll.h>
#include <sys/ioctl.h>

/* Under TLS or GSSAPI libpq may hold back bytes that the socket does not report: it is polled for
 * them now and then. */
#define LOOK_NS UINT64_C(1000000)

/* Waits for the socket; a slice of the time, so that the caller sees when the program is to end. */
static bool await_connection(int socket, bool writes, uint64_t deadline_ns)
{
    const uint64_t slice_ns = UINT64_C(200000000);
    uint64_t until_ns = lb_now_ns() + slice_ns;
    until_ns = deadline_ns < until_ns ? deadline_ns : until_ns;
    if (lb_carrier_is_here())
        return lb_carrier_wait_once(socket, writes, until_ns);
    uint64_t now_ns = lb_now_ns();
    struct pollfd want = {.fd = socket, .events = writes ? POLLOUT : POLLIN};
    return poll(&want, 1, now_ns < until_ns ? (int)((until_ns - now_ns + 999999) / 1000000) : 0) !=
           0;
}

/* libpq prints notices, and the last words of a server that goes away, on standard error. The
 * callers report what matters. */
static void ignore_notice(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

/* libpq's own way, which cannot be interrupted, gives each of several hosts its time. */
static PGconn *connect_now(const char *const *keys, const char *const *values)
{
    PGconn *pg = PQconnectdbParams(keys, values, 0);
    PQsetNoticeProcessor(pg, ignore_notice, NULL);
    return pg;
}

PGconn *lb_pg_wire_connect(const char *const *keys, const char *const *values, bool has_hosts,
                           unsigned timeout_s)
{
    if (!lb_carrier_is_here() && has_hosts && !lb_leash_is_pulled())
        return connect_now(keys, values);
    PGconn *pg = PQconnectStartParams(keys, values, 0);
    PQsetNoticeProcessor(pg, ignore_notice, NULL);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    bool is_pulled = lb_leash_is_pulled();
    uint64_t deadline_ns =
        timeout_s > 0 ? lb_now_ns() + timeout_s * UINT64_C(1000000000) : UINT64_MAX;
    while (pg != NULL && PQstatus(pg) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
           state != PGRES_POLLING_FAILED) {
        if (await_connection(PQsocket(pg), state == PGRES_POLLING_WRITING, deadline_ns)) {
            state = PQconnectPoll(pg);
            continue;
        }
        uint64_t now_ns = lb_now_ns();
        uint64_t last_ns = now_ns + lb_leash_connect_s() * UINT64_C(1000000000);
        if (!is_pulled && lb_leash_is_pulled() && last_ns < deadline_ns)
            deadline_ns = last_ns;
        is_pulled = lb_leash_is_pulled();
        if (now_ns >= deadline_ns)
            break;
    }
    return pg;
}

/* Nothing is missed: a carrier reports what comes after the look, poll() what is there. */
static bool wait_until(PGconn *pg, struct lb_watch *watch, uint64_t deadline_ns)
{
    int socket = PQsocket(pg), unread = 0;
    if (!lb_carrier_is_here()) {
        uint64_t now_ns = lb_now_ns();
        uint64_t ms = now_ns < deadline_ns ? (deadline_ns - now_ns + 999999) / 1000000 : 0;
        struct pollfd want = {.fd = socket, .events = POLLIN};
        return poll(&want, 1, ms < INT32_MAX ? (int)ms : INT32_MAX) != 0;
    }
    /* One read takes what fits into libpq's buffer. */
    if (ioctl(socket, FIONREAD, &unread) == 0 && unread > 0)
        return true;
    return watch != NULL ? lb_carrier_wait_readable(watch, socket, deadline_ns)
                         : lb_carrier_wait_once(socket, false, deadline_ns);
}

/* The leash's: of a session, which has a watch. What the space does at the end is not cancelled. */
static void cancel(void *pg)
{
    struct lb_pg_cancel *request = lb_pg_cancel_new(pg);
    if (request == NULL)
        return;
    lb_pg_cancel_ask(request);
    lb_pg_cancel_free(request);
}

bool lb_pg_wire_wait(PGconn *pg, struct lb_watch *watch, uint64_t deadline_ns)
{
    struct lb_leash_wait wait;
    lb_leash_begin(&wait, PQsocket(pg), NULL, NULL);
    bool has_come = wait_until(pg, watch, deadline_ns);
    lb_leash_end(&wait);
    return has_come;
}

static void await_in_fiber(PGconn *pg, struct lb_watch *watch)
{
    bool hides = PQsslInUse(pg) != 0 || PQgssEncInUse(pg) != 0;
    for (bool again = false; PQisBusy(pg); again = true) {
        uint64_t deadline_ns = hides ? lb_now_ns() + LOOK_NS : UINT64_MAX;
        /* Mostly the first wait brings the whole answer: no check for unread data before it. */
        bool waited = again || watch == NULL
                          ? wait_until(pg, watch, deadline_ns)
                          : lb_carrier_wait_readable(watch, PQsocket(pg), deadline_ns);
        if ((!waited && !hides) || PQconsumeInput(pg) == 0)
            break; /* PQgetResult says what is wrong */
    }
}

PGresult *lb_pg_wire_next(PGconn *pg, struct lb_watch *watch)
{
    struct lb_leash_wait wait;
    lb_leash_begin(&wait, PQsocket(pg), watch != NULL ? cancel : NULL, pg);
    if (lb_carrier_is_here())
        await_in_fiber(pg, watch);
    PGresult *result = PQgetResult(pg);
    lb_leash_end(&wait);
    return result;
}

PGresult *lb_pg_wire_exec(PGconn *pg, const char *sql)
{
    struct lb_leash_wait wait;
    lb_leash_begin(&wait, PQsocket(pg), NULL, NULL);
    PGresult *result = PQexec(pg, sql);
    lb_leash_end(&wait);
    return result;
}

/* The server's last words, as opposed to libpq's own, which come after. */
static bool is_farewell(const PGresult *last, const PGresult *next)
{
    return last != NULL && PQresultErrorField(last, PG_DIAG_SQLSTATE) != NULL &&
           PQresultStatus(next) == PGRES_FATAL_ERROR &&
           PQresultErrorField(next, PG_DIAG_SQLSTATE) == NULL;
}

PGresult *lb_pg_wire_answer(PGconn *pg, struct lb_watch *watch, int sent)
{
    PGresult *last = NULL, *next;
    while (sent == 1 && (next = lb_pg_wire_next(pg, watch)) != NULL) {
        if (is_farewell(last, next)) {
            PQclear(next);
            continue;
        }
        PQclear(last);
        last = next;
        ExecStatusType status = PQresultStatus(last);
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
            PQclear(PQexec(pg, "")); /* which ends it */
            break;
        }
    }
    return last;
}
