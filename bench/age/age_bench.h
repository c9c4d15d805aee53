/* A strategy that is set up in a space of its own, to count what its statements read. Private to
 * bench/age. */
#ifndef LB_AGE_BENCH_H
#define LB_AGE_BENCH_H

#include "age.h"
#include "aged_cost.h"

enum { LB_AGE_RESOURCES = 512 }; /* of a lock, at most */

struct lb_age_bench {
    const struct lb_age_plan *plan;
    const struct lb_db *db;
    struct lb_space *space;
    struct lb_program *program;
    struct lb_session session;
    struct lb_session snapshot; /* of dead rows: the server keeps them for it */
    bool has_session, has_snapshot, is_set_up, is_open;
    struct lb_strategy_plan strategy_plan;
    uint32_t capacity[LB_AGE_RESOURCES];
    struct lb_actor actor;
    struct lb_aged aged;
    struct lb_aged_cost cost;
    struct lb_age *age;
    struct lb_age_state *state;
    int64_t next_id;
    size_t size; /* which one is measured */
};

/* Opens the space of bench->plan, sets up, and opens the actor. n_resources: of a lock. Close in
 * any case. */
int lb_age_open(struct lb_age_bench *bench, uint32_t n_resources, struct lb_error *err);
/* r: the error so far. Returns it, or that of closing. */
int lb_age_close(struct lb_age_bench *bench, int r, struct lb_error *err);

#endif
