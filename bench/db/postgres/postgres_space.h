/* The parts of the PostgreSQL engine that are about a target and a run, not about a statement:
 * reading -d arguments, connecting, spaces. postgres.c has the rest; other modules do not include
 * this.
 */
#ifndef LB_POSTGRES_SPACE_H
#define LB_POSTGRES_SPACE_H

#include "db.h"
#include "life.h"

#include <libpq-fe.h>

struct lb_space {
    struct lb_target target; /* borrowed */
    PGconn *pg;
    bool pooled; /* its session stays in a transaction, so that the pooler leaves it its backend */
    char run[LB_LIFE_RUN]; /* the run's id, in the schema's comment and in its table */
    char schema[LB_LIFE_NAME];
    Oid oid;
    bool is_joined;      /* it is another process's */
    bool has_database;   /* of the same name, for programs: postgres_door.c */
    struct lb_life life; /* guards pg while the run lives */
};

/* As the members of struct lb_db. */
bool lb_pg_match(const char *uri);
int lb_pg_describe(const char *uri, char *label, size_t size, struct lb_error *err);
int lb_pg_space_open(const struct lb_target *target, const char *hint, struct lb_space **ret_space,
                     struct lb_error *err);
int lb_pg_space_join(const struct lb_target *target, const char *name, int32_t number,
                     struct lb_space **ret_space, struct lb_error *err);
int lb_pg_space_close(struct lb_space *space, bool keep, struct lb_error *err);
int lb_pg_space_check(struct lb_space *space, struct lb_error *err);
int lb_pg_space_look(struct lb_space *space, struct lb_error *err);
const char *lb_pg_space_name(const struct lb_space *space);
int32_t lb_pg_space_number(const struct lb_space *space);
size_t lb_pg_space_room(struct lb_space *space, size_t *ret_limit);

int lb_pg_door(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err);
/* Drops the database of that name, if there is one and it is the user's. */
int lb_pg_door_drop(PGconn *pg, const char *name, struct lb_error *err);
/* The same for a space's own, at its end. */
int lb_pg_door_close(struct lb_space *space, struct lb_error *err);
int lb_pg_door_keep(struct lb_space *space, struct lb_error *err);
int lb_pg_door_back(struct lb_space *space, bool is_changed, struct lb_error *err);
void lb_pg_door_types(struct lb_space *space, const char *sql, char *ret_types, size_t size);

/* Connects with the target's own settings, and with start-up options behind the user's own. A
 * pooler that takes no options gets none. *ret_pooled: the options did not arrive, so that each
 * transaction has to carry its settings; search_path is the one that was given in options. which:
 * of several hosts, instead of the target's own target_session_attrs; NULL: as that says. */
int lb_pg_connect(const char *uri, const char *role, const char *options, const char *search_path,
                  const char *which, PGconn **ret_pg, bool *ret_pooled, struct lb_error *err);
bool lb_pg_succeeded(const PGresult *result);

extern const struct lb_exploring lb_postgres_exploring;
extern const struct lb_aging lb_postgres_aging;
extern const struct lb_whole_seconds lb_postgres_whole_seconds;

#endif
