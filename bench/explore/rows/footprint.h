/* What a step touched, and which steps may be swapped: the independence relation of the search.
 *
 * A space's tables are numbered, one bit each; all sequences are one more, as are advisory locks. A
 * step reads committed state, writes (uncommitted changes and locks that it takes), and commits
 * (makes changes visible, or gives locks back). Two steps are independent when neither can tell
 * whether the other came first. docs/design/explore.md has the argument.
 */
#ifndef LB_FOOTPRINT_H
#define LB_FOOTPRINT_H

#include "program_lex.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LB_FOOTPRINT_ROWS = 6, LB_FOOTPRINT_REFS = 6 };

/* A row that was changed or locked, and the conditions that it meets, before or after. */
struct lb_touched_row {
    uint64_t key; /* digest */
    uint32_t meets;
    uint8_t table;
};

/* How a table was read: one row of it, or those that meet a condition (-1: all). */
struct lb_touched_ref {
    uint64_t key;
    int8_t condition;
    bool is_keyed;
    uint8_t table;
};

struct lb_footprint {
    uint32_t reads, writes, commits;
    uint32_t by_row;       /* tables of which rows and refs say all */
    uint64_t begins, ends; /* objects, one bit each, of which the history sees an operation begin,
                              or end, here */
    bool draws;            /* writes the sequences' bit only for the time that it may store */
    uint32_t holds;        /* tables that the mover had locked as a whole before, and still has */
    bool numbers; /* it draws by inserting: a number lost by a failed INSERT is assumed not to
                     matter */
    bool queues;  /* all that it did was to queue up for the lock of the table it writes */
    bool blocks;  /* a wait began in it */
    uint8_t n_rows, n_refs;
    struct lb_touched_row rows[LB_FOOTPRINT_ROWS];
    struct lb_touched_ref refs[LB_FOOTPRINT_REFS];
};

#define LB_ALL_OBJECTS UINT64_MAX
#define LB_TOUCHES_ALL UINT32_MAX
#define LB_ALL_TABLES  ((1u << LB_FOOTPRINT_TABLES) - 1)

void lb_footprint_add(struct lb_footprint *into, const struct lb_footprint *other);
/* One row more, or one way of reading more; where there is no room the table counts as a whole. */
void lb_footprint_add_row(struct lb_footprint *into, const struct lb_touched_row *row);
void lb_footprint_add_ref(struct lb_footprint *into, const struct lb_touched_ref *ref);
/* Of the tables in `common`: those in which neither sees what the other touched. */
uint32_t lb_footprint_apart(const struct lb_footprint *a, const struct lb_footprint *b,
                            uint32_t common);

/* Another's place in the queue for a table's lock does not affect the lock holder's work on the
 * table, until the lock is released. */
static inline uint32_t lb_footprint_undisturbed(const struct lb_footprint *holder,
                                                const struct lb_footprint *queued)
{
    return queued->queues ? holder->holds & ~holder->commits : 0;
}

/* True if they touch one of the tables in `common`, and each other's rows in it. */
static inline bool lb_footprint_meets(const struct lb_footprint *a, const struct lb_footprint *b,
                                      uint32_t common)
{
    common &= ~lb_footprint_undisturbed(a, b) & ~lb_footprint_undisturbed(b, a);
    uint32_t by_row = common & a->by_row & b->by_row;
    return by_row == 0 ? common != 0 : (common & ~lb_footprint_apart(a, b, by_row)) != 0;
}

/* True if one can change the effect of the other. Two commits alone cannot: the state after both is
 * the same. (While a worker is blocked they can, and then a commit reads, too: see testbed.c.) */
static inline bool lb_footprint_conflicts(const struct lb_footprint *a,
                                          const struct lb_footprint *b)
{
    return lb_footprint_meets(a, b,
                              (a->writes & b->writes) | (a->commits & (b->reads | b->writes)) |
                                  (b->commits & (a->reads | a->writes)));
}

/* True if a lock of one may have been in the way of the other, which then only read. Made in the
 * other order the two may conflict. */
static inline bool lb_footprint_hinders(const struct lb_footprint *a, const struct lb_footprint *b)
{
    return lb_footprint_meets(a, b, (a->writes & b->reads) | (b->writes & a->reads));
}

/* ... or if the history shows their order, or a deadlock does: the first waiter is checked first,
 * and ended. */
static inline bool lb_footprint_dependent(const struct lb_footprint *a,
                                          const struct lb_footprint *b)
{
    return (a->begins & b->ends) != 0 || (a->ends & b->begins) != 0 || (a->blocks && b->blocks) ||
           lb_footprint_conflicts(a, b);
}

/* --- statements --- */

enum { LB_FOOTPRINT_TABLES = 29 };

/* The tables of a space, as far as they distinguish statements. */
struct lb_tables {
    size_t n;
    char name[LB_FOOTPRINT_TABLES][64];
    uint32_t group[LB_FOOTPRINT_TABLES]; /* bits of the table and of the tables tied to it by
                                            foreign keys */
    uint32_t numbered;                   /* tables, a bit each, in which an INSERT draws a number */
    size_t n_numbers;                    /* ... and for which columns, as far as there is room */
    struct {
        size_t table;
        char column[64];
    } number[LB_FOOTPRINT_TABLES];
    bool opaque; /* views, triggers, functions, names that are no words: a statement's text does not
                    say what it touches */
    bool one_writer;         /* one write lock for the whole database (SQLite) */
    bool reads_lock;         /* plain reads take locks, or are watched (SERIALIZABLE) */
    bool scans_lock;         /* a write that finds no row may leave locks behind (InnoDB) */
    enum lb_dialect dialect; /* of the statements */
};

/* The number of the table of this name; tables->n: there is none. */
size_t lb_tables_find(const struct lb_tables *tables, const char *name);

#define LB_BIT_SEQUENCES (1u << 29)
#define LB_BIT_ADVISORY  (1u << 30)
#define LB_BIT_WRITER    (1u << 31)

enum lb_statement_kind {
    LB_PLAIN_READ, /* a SELECT without locks and without functions that do something */
    LB_WRITE       /* anything else */
};

/* The tables that the statement may touch by its text. commits: effects that do not wait for the
 * end of the transaction: locks of a session, whole tables. queues: it does nothing but wait for
 * the lock of one whole table, in a mode that only one transaction can have. */
enum lb_statement_kind lb_footprint_of_sql(const struct lb_tables *tables, const char *sql,
                                           struct lb_footprint *ret);
/* The first word of the statement that asks for the time and is not in `moved` (NULL ends it): a
 * copy in buf; false: there is none. */
bool lb_footprint_reads_clock(const struct lb_tables *tables, const char *sql,
                              const char *const *moved, char *buf, size_t size);
/* Can a table of this name be found among a statement's words? */
bool lb_footprint_is_word(const char *name);
/* Does it lock only rows that it returns or changes? Not those of a sub-select, or before an
 * OFFSET. False also for an INSERT, which looks at keys that are not committed yet. */
bool lb_footprint_locks_its_rows(const struct lb_tables *tables, const char *sql);
/* May it insert rows? */
bool lb_footprint_inserts(const struct lb_tables *tables, const char *sql);
/* May it insert nothing because of a key that another transaction has not committed yet? */
bool lb_footprint_looks_at_keys(const struct lb_tables *tables, const char *sql);
/* Is it refused, or does it pass over rows, where others would wait for a row's or a table's lock?
 */
bool lb_footprint_skips_rows(const struct lb_tables *tables, const char *sql);
/* ... or for any lock? */
bool lb_footprint_skips_locks(const struct lb_tables *tables, const char *sql);

/* The effect on the session's advisory locks of a statement that returns the number 1. */
enum lb_user_lock {
    LB_USER_LOCK_NONE,     /* whatever it returns */
    LB_USER_LOCK_TAKEN,    /* one more: SELECT GET_LOCK(...) */
    LB_USER_LOCK_RELEASED, /* one less: SELECT RELEASE_LOCK(...) */
    LB_USER_LOCK_UNTOLD    /* its answer does not say it */
};
enum lb_user_lock lb_footprint_user_lock(const struct lb_tables *tables, const char *sql);

#endif
