/* Spaces of SQLite: files of their own. sqlite.c has the connections. */
#ifndef LB_SQLITE_SPACE_H
#define LB_SQLITE_SPACE_H

#include "db.h"
#include "sqlite_file.h"
#include "sqlite_library.h"

#include <pthread.h>
#include <stdatomic.h>

struct lb_space {
    struct lb_sqlite_file file;
    struct lb_sqlite_api api;
    pthread_mutex_t lock; /* protects conns and last_id */
    struct lb_conn *conns;
    int64_t last_id;
    _Atomic uint64_t *n_refused; /* calls of busy handlers of all conns, in all processes */
};

/* As the members of struct lb_db. */
bool lb_sqlite_match(const char *uri);
int lb_sqlite_describe(const char *uri, char *label, size_t size, struct lb_error *err);
int lb_sqlite_space_open(const struct lb_target *target, const char *hint,
                         struct lb_space **ret_space, struct lb_error *err);
int lb_sqlite_space_close(struct lb_space *space, bool keep, struct lb_error *err);
struct lb_probe *lb_sqlite_space_probe(struct lb_space *space);
const char *lb_sqlite_space_name(const struct lb_space *space);
int lb_sqlite_door(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err);
int32_t lb_sqlite_space_number(const struct lb_space *space);

extern const struct lb_exploring lb_sqlite_exploring;
extern const struct lb_aging lb_sqlite_aging;
extern const struct lb_whole_seconds lb_sqlite_whole_seconds;

#endif
