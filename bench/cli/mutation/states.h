/* The answers and end states of an exploration, to compare with those of another one. */
#ifndef LB_STATES_H
#define LB_STATES_H

#include "explore.h"

/* The different results of an exploration's schedules. Times count by leases: those of two
 * explorations differ. */
struct lb_states {
    uint64_t *digests;
    size_t n, room;
    bool failed;           /* out of memory */
    bool violated;         /* some schedule violated something */
    unsigned sections;     /* 1u << enum lb_section_name: of which some worker had an answer */
    int64_t start_unix_ms; /* when the exploration began, */
    double ttl_ms;         /* ... and its lease */
};

/* Empties it, and begins. watch: for the exploration's plan; it refers to states. */
void lb_states_begin(struct lb_states *states, uint32_t ttl_ms, struct lb_explore_watch *ret_watch);
/* After the exploration: brings them in an order. */
void lb_states_end(struct lb_states *states);
bool lb_states_equal(const struct lb_states *a, const struct lb_states *b);
void lb_states_free(struct lb_states *states);

/* For tests: the digest of a schedule's result. */
uint64_t lb_states_digest(const struct lb_states *states, const char *state);

#endif
