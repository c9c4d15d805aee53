/* The answers and end states of an exploration, to compare with those of another one. */
#ifndef LB_STATES_H
#define LB_STATES_H

#include "explore.h"

/* A set, in order after lb_states_end. */
struct lb_digests {
    uint64_t *at;
    size_t n, room;
};

/* The different results of an exploration's schedules. Times count by leases: those of two
 * explorations differ. */
struct lb_states {
    struct lb_digests all;          /* the answers and the rows */
    struct lb_digests untimed;      /* ... without the values of times */
    struct lb_digests answers;      /* ... alone, without the values of tokens */
    const struct lb_digests *known; /* the first answers that are not in this set are kept: */
    bool knows_rows;                /* ... it is one of answers with rows, and both are kept */
    char *unknown;                  /* ... here; NULL: there were none */
    uint64_t patient_until_ns;      /* with unknown answers the exploration ends by this time */
    bool enough;                    /* ... and has ended so */
    bool failed;                    /* a schedule has more answers than are kept */
    bool violated;                  /* some schedule violated something */
    unsigned sections;     /* 1u << enum lb_section_name: of which some worker had an answer */
    unsigned vain;         /* likewise: ... that changed and found no row */
    int64_t start_unix_ms; /* when the exploration began, */
    double ttl_ms;         /* ... and its lease */
};

/* Empties it, and begins. watch: for the exploration's plan; it refers to states. */
void lb_states_begin(struct lb_states *states, uint32_t ttl_ms, struct lb_explore_watch *ret_watch);
/* After the exploration: brings them in an order. */
void lb_states_end(struct lb_states *states);
bool lb_states_equal(const struct lb_states *a, const struct lb_states *b, bool untimed);
bool lb_states_answer_alike(const struct lb_states *a, const struct lb_states *b);
void lb_states_free(struct lb_states *states);

/* For tests: the digests of a schedule's result. */
struct lb_state_digest {
    uint64_t all, untimed, answers;
};
struct lb_state_digest lb_states_digest(const struct lb_states *states, const char *state);

#endif
