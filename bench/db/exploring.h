/* What explore needs of an engine, beside db.h: the SQL that puts a space back as it was, and that
 * moves the clock of the server. One const struct per engine, in a file of its own
 * (postgres_exploring.c, ...), which lb_db.exploring names. A statement is NULL where there is
 * nothing to do.
 */
#ifndef LB_EXPLORING_H
#define LB_EXPLORING_H

#include "db.h"

struct lb_clock_word;

/* The server's clock, if explore can move it. */
struct lb_server_clock {
    const char *create; /* once, in the space, before set-up */
    /* Both stop the clock at %1$lld ms since 1970, plus what it is ahead: once, behind create, or
     * on each session. NULL: nothing to do for it. */
    const char *still, *session_still;
    const char *session;  /* on each session of the space; %s: the space's name */
    const char *set;      /* over the control session: sets how many ms the clock is ahead; %lld */
    const char *set_back; /* ... and is not any more; NULL: set to 0 */
    const char *begin;    /* in each transaction, behind its begin: the same; %lld */
    const char *const *runs_on;  /* words for a time that begin does not fix: where statements have
                                    no others, begin is left out; NULL: it never is */
    const char *statement;       /* before each statement, while the clock is ahead; %lld */
    const char *const *unstated; /* words for a time that statement does not fix: where statements
                                    have no others, statement is left out; NULL: it never is */
    const char *statement_back;  /* on the sessions, when it is not any more; NULL: with 0 */
    /* Of a clock that stands still, in place of statement, and once on each session: %lld ms since
     * 1970. NULL: statement is for both. */
    const char *still_statement;
    /* Words that are replaced in statements: those of a clock that stands still, of defaults of
     * columns (in CREATE and ALTER), and the others. NULL: none; of the first two: like the others.
     */
    const struct lb_clock_word *still_words, *default_words, *words;
    const char *const *moved; /* words that ask for it, and are answered so */
};

/* instead: of the word and its call. In it @ stands for both, ! for the call alone, # for the
 * seconds of a step, and $ for the seconds since 1970 at which the clock stands. With @ or !, a
 * word without a call is a name. */
struct lb_clock_word {
    const char *word, *instead;
};

struct lb_exploring {
    const char *prepare_session;     /* once, of the control session */
    const char *opening;             /* once on each session, before anything else */
    const char *tables;              /* rows (name, columns that can be inserted). Required */
    const char *links;               /* rows (child, parent). Required */
    const char *n_opaque;            /* a number: views, triggers, functions. Required */
    const char *heirs;               /* rows (table that cannot be put back, why) */
    const char *copy, *empty, *fill; /* %s: name, columns where there are two. Required */
    const char *freeze;              /* %s: name; from then on its statistics stay as they are */
    const char *has_sequences;       /* a number; NULL: the next can be asked in any case */
    const char *numbered;            /* rows (table, column): a number is drawn for it */
    const char *sequences;           /* rows (statement): each puts one sequence back */
    bool asks_sequences;             /* ... no: each answers with such a statement, outside of
                                        transactions */
    const char *vacuum;              /* %s: name */
    /* Rows (statement, statement): keeps a trigger or a rule from acting when rows are put back,
     * and lets it act again. Required. */
    const char *triggers;
    /* Gives back what a session holds beyond its transaction: advisory locks. */
    const char *session;
    /* A row: the session holds advisory locks beyond its transaction; NULL: it cannot be asked. */
    const char *has_locks;
    /* The same of the session whose number is its parameter. */
    const char *has_locks_of;
    /* A row: the transaction has changed no row, and locked none; NULL: it cannot be asked. */
    const char *has_no_row;
    /* Sessions that keep session $1 waiting, by their numbers; 0: a transaction without a session.
     */
    const char *blockers;
    bool tells_blockers_late; /* its result may be 0.1 s old */
    /* A row: session $1 waits for a lock on a whole table, and the engine does not report the
     * holder.
     */
    const char *waits_for_table;
    /* Rows (number, what people call it): sessions that have locks on the space's tables; or, where
     * the engine does not tell, that may have some. */
    const char *holders;
    bool is_sure_of_holders;
    const char *session_name; /* A row (what people call it): session $1 */
    /* Rows (session; 0: none, -1: it is gone; the number that the next transaction gets):
     * transactions under way, of any database, with a number below $1. NULL: no statement can
     * observe them. */
    const char *under_way;
    const char *const *tells_under_way; /* words by which statements can; NULL ends it */
    /* On a session of its own before each schedule: until it is run again nothing is purged.
     * Deleted rows then take locks for the whole schedule, and not only until a purge at an unknown
     * time. */
    const char *keep;
    const char *counters;                /* rows (table, statement) */
    const struct lb_server_clock *clock; /* NULL: it cannot be moved */
    bool one_batch;                      /* one message is cheaper than prepared statements */
    bool one_writer;                     /* one write lock for the whole database */
    bool scans_lock;                     /* a write that finds no row may leave locks behind */
    bool queues_in_order;                /* a table's lock goes to the waiters in the order in which
                                            they came */
    bool has_specs;                      /* the product has an isolation tester that reads specs */
    bool reads_by_statement; /* read committed: each statement reads what is committed when it
                                begins */
    char quote;              /* around names */
};

/* An engine that cannot be explored has nothing to run. */
static inline const struct lb_exploring *lb_exploring(const struct lb_db *db)
{
    static const struct lb_exploring none = {.quote = '"'};
    return db->exploring != NULL ? db->exploring : &none;
}

#endif
