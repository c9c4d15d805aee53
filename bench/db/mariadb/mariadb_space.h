/* The parts of the MariaDB engine that are about a target and a run, not about a statement:
 * connecting, spaces. mariadb.c has the rest; other modules do not include this.
 */
#ifndef LB_MARIADB_SPACE_H
#define LB_MARIADB_SPACE_H

#include "db.h"
#include "life.h"
#include "mariadb_uri.h"

#include <mysql.h>

struct lb_space {
    struct lb_mariadb_uri uri;
    MYSQL *my;
    size_t node;           /* that my has reached */
    char run[LB_LIFE_RUN]; /* the run's id, in the database's comment and in its table */
    char name[LB_LIFE_NAME];
    int32_t number;
    bool is_joined;      /* it is another process's */
    struct lb_life life; /* guards my while the run lives */
};

/* As the members of struct lb_db. */
int lb_maria_describe(const char *uri, char *label, size_t size, struct lb_error *err);
int lb_maria_space_open(const struct lb_target *target, const char *hint,
                        struct lb_space **ret_space, struct lb_error *err);
int lb_maria_space_join(const struct lb_target *target, const char *name, int32_t number,
                        struct lb_space **ret_space, struct lb_error *err);
int lb_maria_space_close(struct lb_space *space, bool keep, struct lb_error *err);
int lb_maria_space_check(struct lb_space *space, struct lb_error *err);
int lb_maria_space_look(struct lb_space *space, struct lb_error *err);
const char *lb_maria_space_name(const struct lb_space *space);
int32_t lb_maria_space_number(const struct lb_space *space);
int lb_maria_door(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err);
size_t lb_maria_space_room(struct lb_space *space, size_t *ret_limit);

/* How a connection is made. */
struct lb_maria_wish {
    const char *database; /* NULL: none */
    bool is_of_space;     /* it is lockbench's own, and was there */
    const char *role;     /* for the server's process list */
    const char *init;     /* SQL that sets the session up; NULL: none */
    unsigned answer_s;    /* a server that says nothing for so long loses it; 0: never */
    size_t node;          /* which to begin with */
    bool only;            /* and no other will do */
    bool as_it_is;        /* ready or not, with any state of replication */
};

/* A connection, or NULL with err; *ret_node, if wanted, is the node that it reached. A member of a
 * Galera cluster that is not ready counts as one that does not answer, and one of several is
 * waited for until it has seen what the others have done so far. */
MYSQL *lb_maria_connect(const struct lb_mariadb_uri *uri, const struct lb_maria_wish *wish,
                        size_t *ret_node, struct lb_error *err);
/* Runs SQL text and reads its results to the end; the last result set is returned through
 * ret_result, if wanted (NULL: there was none). 0, or 1 with mysql_errno() set. */
int lb_maria_query(MYSQL *my, const char *sql, MYSQL_RES **ret_result);
/* The same, where an error of any kind is LB_E_ENV. */
int lb_maria_command(MYSQL *my, const char *sql, MYSQL_RES **ret_result, struct lb_error *err);

extern const struct lb_exploring lb_mariadb_exploring;
extern const struct lb_aging lb_mariadb_aging;
extern const struct lb_whole_seconds lb_mariadb_whole_seconds;

#endif
