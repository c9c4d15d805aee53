/* A connection to PostgreSQL, and what postgres.c and postgres_server.c have of each other. */
#ifndef LB_POSTGRES_CONN_H
#define LB_POSTGRES_CONN_H

#include "postgres_cancel.h"
#include "postgres_space.h"
#include "postgres_wire.h"

enum { NUMBER_SIZE = 32 }; /* room for a number as text */
enum { OID_INT8 = 20, OID_FLOAT8 = 701, MAX_PARAMS = 64 };

struct lb_stmt {
    struct lb_stmt *next;
    char name[16];
    char *sql;
    size_t n_params;
    Oid types[MAX_PARAMS];
};

struct lb_conn {
    struct lb_conn_head head;
    bool cut;         /* see lb_db.cut */
    bool send_failed; /* of a pipeline */
    unsigned n_piped; /* statements of it whose result was not received yet */
    PGconn *pg;
    struct lb_watch watch; /* of its socket */
    struct lb_pg_cancel *cancel;
    bool pooled;        /* behind a transaction pooler */
    bool begins_late;   /* see lb_conn_options; */
    bool owes_begin;    /* ... then: BEGIN has not been sent yet */
    bool notified;      /* something came on a channel since wait_notified was last asked */
    char settings[300]; /* pooled: what each transaction starts with */
    PGresult *result;   /* the last one that execute() answered LB_OK with */
    PGresult *aside;    /* see lb_db.set_aside */
    struct lb_stmt *stmts;
    unsigned n_stmts;
    bool can_ask_blocked; /* the statement of is_blocked is prepared */
    char *text;           /* text parameters with their NUL */
    size_t text_size;
};

/* Fills err from the last message. */
void lb_pg_set_error(struct lb_conn *conn, int code, struct lb_error *err);
/* Turns a result that is not a success into an answer or an error, and clears it. */
int lb_pg_outcome(struct lb_conn *conn, PGresult *result, struct lb_error *err);
/* Sends the BEGIN that is owed, before a statement that does not carry it along. */
int lb_pg_pay_begin(struct lb_conn *conn, struct lb_error *err);
/* A statement without parameters and without rows. */
int lb_pg_run(struct lb_conn *conn, const char *sql, struct lb_error *err);
/* Takes what is left of the answer. */
void lb_pg_drain(struct lb_conn *conn);

/* As the members of struct lb_db. */
void lb_pg_cancel(struct lb_conn *conn);
int64_t lb_pg_session_id(struct lb_conn *conn);
int lb_pg_is_blocked(struct lb_conn *control, int64_t session_id, struct lb_error *err);
int lb_pg_waiters(struct lb_conn *control, int64_t session_id, int64_t *ret_ids, size_t max,
                  struct lb_error *err);
int lb_pg_terminate(struct lb_conn *control, int64_t session_id, struct lb_error *err);
int lb_pg_strangers(struct lb_conn *conn, uint64_t *ret_n, struct lb_error *err);
int lb_pg_cancel_sync(struct lb_conn *control, uint64_t *ret_n, struct lb_error *err);
int lb_pg_facts(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
int lb_pg_levels(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
int32_t lb_pg_server_pid(struct lb_conn *conn);
int lb_pg_socket(const struct lb_conn *conn);
int lb_pg_counters(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
int lb_pg_up_since(struct lb_conn *conn, int64_t *ret_since_us, uint64_t *ret_up_us,
                   struct lb_error *err);
int lb_pg_waits(struct lb_conn *control, lb_fact_fn *fact, void *arg, struct lb_error *err);

#endif
