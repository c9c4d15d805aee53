/* A connection to MariaDB, and what mariadb.c and mariadb_server.c have of each other. */
#ifndef LB_MARIADB_CONN_H
#define LB_MARIADB_CONN_H

#include "mariadb_space.h"
#include "result_rows.h"

enum { MAX_PARAMS = 64, MAX_COLUMNS = 64, TEXT_SIZE = 256, NO_BOUND_S = 31536000 };

/* Where a column of the current row arrives. */
struct column {
    char *name;
    enum lb_type type;
    union {
        long long integer;
        double real;
        char text[TEXT_SIZE]; /* longer ones are fetched again */
    };
    unsigned long length;
    my_bool is_null;
};

struct lb_stmt {
    struct lb_stmt *next;
    MYSQL_STMT *handle;
    size_t n_params;
    bool is_nowait;
    bool is_write; /* rows that it returns are rows that it changed: INSERT ... RETURNING */
    unsigned n_columns;
    struct column *columns;
};

struct lb_conn {
    struct lb_conn_head head;
    bool cut; /* see lb_db.cut */
    struct lb_space *space;
    MYSQL *my;
    size_t node;      /* of the target's */
    unsigned long id; /* of the session; my->thread_id is not for other threads */
    struct lb_stmt *stmts, *last;
    struct lb_result result;
};

/* Turns an error into an answer or an error, and keeps it as the connection's last one. is_nowait:
 * the statement does not wait for locks. */
int lb_maria_answer(struct lb_conn *conn, unsigned code, const char *message, bool is_nowait,
                    struct lb_error *err);
/* The same of the connection's last error. */
int lb_maria_outcome(struct lb_conn *conn, bool is_nowait, struct lb_error *err);

/* As the members of struct lb_db. */
int64_t lb_maria_session_id(struct lb_conn *conn);
void lb_maria_cancel(struct lb_conn *conn);
int lb_maria_is_blocked(struct lb_conn *control, int64_t session_id, struct lb_error *err);
int lb_maria_waiters(struct lb_conn *control, int64_t session_id, int64_t *ret_ids, size_t max,
                     struct lb_error *err);
int lb_maria_terminate(struct lb_conn *control, int64_t session_id, struct lb_error *err);
int lb_maria_strangers(struct lb_conn *conn, uint64_t *ret_n, struct lb_error *err);
int lb_maria_facts(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
int lb_maria_levels(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
int32_t lb_maria_server_pid(struct lb_conn *conn);
int lb_maria_socket(const struct lb_conn *conn);
int lb_maria_counters(struct lb_conn *conn, lb_fact_fn *fact, void *arg, struct lb_error *err);
int lb_maria_up_since(struct lb_conn *conn, int64_t *ret_since_us, uint64_t *ret_up_us,
                      struct lb_error *err);
int lb_maria_waits(struct lb_conn *control, lb_fact_fn *fact, void *arg, struct lb_error *err);

#endif
