/* The features of a protocol, as far as its statements show them: the input of `verify`'s plans.
 *
 * Everything here is read off the text of one engine's statements, and may be wrong where a
 * function of the file's own does the work. Nothing is judged by it: it only says what is worth a
 * try, and which line a finding speaks of.
 */
#ifndef LB_PROGRAM_FEATURES_H
#define LB_PROGRAM_FEATURES_H

#include "program.h"

/* Where the token of a grant comes from. */
enum lb_token_source {
    LB_TOKEN_NONE,
    LB_TOKEN_COUNTED,      /* by the statement that takes the lock, or behind it */
    LB_TOKEN_KEPT,         /* that statement returns what is there, and counts nothing */
    LB_TOKEN_TIME,         /* it is a time */
    LB_TOKEN_READ_BEFORE,  /* by a statement before the one that takes the lock */
    LB_TOKEN_DRAWN_BEFORE, /* likewise, from a sequence */
};

struct lb_features {
    const struct lb_timing *lease, *limit; /* the file's; NULL: none */
    bool has_recover, recovers_by_time;
    bool recovers_apart;  /* recover takes several statements, and commits each */
    bool ends_sessions;   /* recover ends the sessions of others */
    bool ends_by_recover; /* only recover ends a hold that its holder does not end */
    bool has_free, has_error, has_retry, has_enqueue, has_renew, has_cancel;
    bool has_operator;        /* clear-all-errors, or reset-all */
    bool has_beat, has_sweep; /* processes that say that they are alive, and that tidy up first */
    bool has_unregister;      /* ... and that end in order */
    bool is_held_in_tx;       /* the hold is one transaction, which needs no fence */
    bool free_asks_id;        /* free, or retry if there is none, names an item, or a list */
    bool has_token;           /* acquire or claim returns one */
    bool takes_many;          /* claim has :n */
    bool ends_many;           /* ends or renewals of a claim are for all its items at once */
    bool has_mode, has_capacity;
    bool enqueue_writes;   /* else a waiter knows only its own reads */
    bool puts_in_tx;       /* put commits a transaction of its own */
    bool puts_in_steps;    /* put takes several statements, */
    bool puts_apart;       /* ... and commits several times */
    bool has_period;       /* work is due again */
    bool by_worker_clock;  /* acquire or claim uses :now */
    bool is_session_bound; /* the hold is a transaction's or a session's, and ends with it */
    bool is_one_commit;    /* all that acquire or claim does takes effect at one moment */
    bool begin_parted;     /* it writes in several statements, and commits each */
    bool end_parted;       /* complete takes several statements, and commits each */
    unsigned n_begin;      /* statements in acquire or claim */
    int begin_line;        /* of the first of them */
    int cancel_line;  /* of a cancel that asks neither for its caller nor for its ticket; 0: none */
    int unasked_line; /* of a statement that ends a hold and asks for neither holder nor token;
                         0: all ask */
    enum lb_section_name unasked; /* its section */
    int renew_line;               /* of renew's first statement that changes something; 0: none */
    bool renew_asks;              /* one of its statements asks for holder or token */
    int end_line, end_last_line;  /* of release's first and last statement, or of complete's
                                     first; 0: it has none */
    int beat_line;                /* of heartbeat's last statement; 0: none */
    int sweep_line;               /* of sweep's last statement that changes something; 0: none */
    int recover_line;             /* of recover's last statement that changes something; 0: none */
    int recover_first_line;       /* of its first statement, if that is another one; 0: none */
    int constant_line; /* of a length of time in acquire, claim or recover that no option sets;
                          0: none */
    int later_line;    /* of a delay of items given back, or failed, that no option sets; 0: none */
    bool has_fixed_lease; /* ... of acquire or claim is a lease, as the file says, or may be one */
    int isolation_line;   /* of the directive; 0: there is none */
    int whole_line;       /* of a time with whole seconds only, used by a lease or limit; 0: none */
    int worker_clock_line,
        server_clock_line; /* of statements that use :now, and the server's time; 0: none */
    enum lb_token_source token;
    int token_line;      /* of the statement of acquire or claim that returns it; 0: none does */
    bool put_overwrites; /* put writes over an item that is there */
    bool begin_writes;   /* acquire or claim has a statement that is no plain SELECT */
    bool has_order;      /* acquire or claim has ORDER BY */
    bool has_limit;      /* ... LIMIT */
    bool skips_locked;   /* ... SKIP LOCKED */
    bool compares_null;  /* release writes NULL, and acquire has no IS NULL */
    bool end_deletes;    /* release deletes a row */
    int operator_line;   /* of clear-all-errors, reset-all or clear-error; 0: none */
    int back_line; /* of the statement that gives an item back, or ends it in error; 0: none */
    int enqueue_line, put_line; /* of the last statements that change something; 0: none */
    int begin_clock_line; /* of the statement of acquire or claim that asks for the server's time,
                             of several that which has the lease */
};

/* True if its lease, or limit, counts whole seconds. */
bool lb_features_counts_seconds(const struct lb_features *features);

/* Is its hold a lease, of whatever length? */
bool lb_features_lease(const struct lb_features *features);
/* May a rescuer run its recover beside the workers? It asks for the time, and ends no sessions. */
bool lb_features_rescues(const struct lb_features *features);

/* Borrows from file. */
void lb_features_read(const struct lb_file *file, const struct lb_program *program,
                      struct lb_features *ret);

/* Its part for the advice beside a finding: lb_features_read calls it. */
void lb_features_read_traits(const struct lb_program *program, struct lb_features *ret);

/* Of a lock whose acquire inserts a row: the line of the release, if that has :worker or :token in
 * each statement. It may change a row of its worker's own: then a late one ends no other hold. 0:
 * it is not so. */
int lb_program_own_rows_line(const struct lb_program *program);
/* True if a statement may take a lock that is no row's and ends with its session. Also for NULL:
 * the strategy is a program: its statements are not known. */
bool lb_program_locks_sessions(const struct lb_program *program);

/* The line of a statement on a replica, with a condition that its section does not ask the primary
 * for afterwards; 0: there is none. */
int lb_replica_unasked(const struct lb_program *program);

/* The line of a statement with processes that no statement inserts: of a heartbeat that changes
 * rows of a table into which nothing is inserted, or of the first :process of a file that has
 * neither register, heartbeat nor a time by which claims end. 0: there is none. */
int lb_process_unknown(const struct lb_program *program, const struct lb_features *features,
                       bool *ret_is_beat);

/* The line of a time in a statement, or of a column's type in a CREATE, that has whole seconds
 * only; 0: there is none. */
int lb_whole_seconds(const struct lb_statement *statement, const struct lb_db *db);
int lb_whole_columns(const struct lb_statement *statement, const struct lb_db *db);

#endif
