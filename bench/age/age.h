/* What each operation of a queue costs as its tables fill with items that are not its business any
 * more, or not yet.
 *
 * For each state (finished, failed, ...) a space of its own gets more and more rows in that state
 * (see aged_items.h). At each size a few items are put, claimed and ended, and each statement is
 * also executed once in a transaction that is rolled back, which counts what it reads: pages, rows
 * or steps, see aging.h. These counts are exact, so a law can be fitted to a few of them
 * (growth.h).
 */
#ifndef LB_AGE_H
#define LB_AGE_H

#include "aged_items.h"
#include "growth.h"

enum { LB_AGE_SIZES = 10, LB_AGE_FLIPS = 1000000 };

enum lb_age_op {
    LB_AGE_PUT,
    LB_AGE_CLAIM,
    LB_AGE_COMPLETE,
    LB_AGE_ERROR,
    LB_AGE_RENEW,
    LB_AGE_RECOVER,
    LB_AGE_COUNT,
    LB_AGE_OPS
};

extern const char *const lb_age_op_names[LB_AGE_OPS]; /* "put", "claim", ... */

struct lb_age_point {
    double cost;
    double scanned, sorts; /* rows of full scans, and sorts; if lb_age.counts_scans */
    double locked;         /* rows that a transaction has locked; below 0: not known */
    uint64_t ns;           /* that the operation took, the shortest of a few */
    char plan[1200];       /* of its statements */
    double margin;         /* of the plan that is the nearest to another, as of lb_touched */
    char other[600];       /* the other one */
};

struct lb_age_curve {
    bool is_there;     /* the queue has the operation */
    char refused[200]; /* why it was not measured; "": it was */
    struct lb_age_point points[LB_AGE_SIZES];
    struct lb_growth growth;
    double flips_at; /* items, beyond the largest size and up to LB_AGE_FLIPS: by the planner's
                        estimates another plan, other of the last point, is cheaper there; 0: none
                        is known */
};

struct lb_age_state {
    bool is_asked;
    bool leaves_no_rows; /* items in this state: there is nothing that a claim could read */
    char refused[400];   /* why its rows cannot be made; "": they were */
    size_t n_points;     /* sizes that were measured, from the least; fewer: it was interrupted */
    struct lb_age_curve curves[LB_AGE_OPS];
    enum lb_age_op index_op; /* the first operation that grows: the index is for it */
    char index[600];   /* with which it costs half or less at the largest size, as CREATE INDEX ON
                          has it; "": none is known, or none is needed */
    double index_cost; /* of the operation with it */
};

struct lb_age {
    const char *unit, *dead_unit; /* of costs; of those with dead rows */
    bool counts_scans;
    uint64_t sizes[LB_AGE_SIZES]; /* rows in the state */
    size_t n_sizes;
    struct lb_age_state states[LB_AGED_STATES];
};

struct lb_age_plan {
    const struct lb_strategy *strategy;
    const struct lb_file *file;
    const struct lb_target *target;
    const struct lb_setting *settings;
    size_t n_settings;
    unsigned states; /* 1u << enum lb_aged_state */
    enum lb_aged_statistics statistics;
    uint64_t sizes[LB_AGE_SIZES]; /* ascending, multiples of LB_AGED_ITEMS */
    size_t n_sizes;
    const atomic_int *interrupt;
};

/* 0, or an error: LB_E_UNSUPPORTED where the strategy is no queue of statements. With
 * LB_E_INTERRUPTED ret has what was measured until then. */
int lb_age_measure(const struct lb_age_plan *plan, struct lb_age *ret, struct lb_error *err);
/* Does this operation of a measured state? Those on the whole class are not judged. */
static inline bool lb_age_op_grows(const struct lb_age_state *state, int op)
{
    const struct lb_age_curve *curve = &state->curves[op];
    return op < LB_AGE_RECOVER && curve->is_there && curve->refused[0] == '\0' &&
           curve->growth.law >= LB_GROWTH_LINEAR;
}
/* Does an operation on one item cost more with items that are finished, delayed or failed? */
bool lb_age_grows(const struct lb_age *age);
/* True if the state's claims were measured: at two sizes or more. */
static inline bool lb_age_is_measured(const struct lb_age_state *state)
{
    return state->n_points > 1 && state->refused[0] == '\0' && state->curves[LB_AGE_CLAIM].is_there;
}
/* True if an interrupt ended the state's measurement. */
static inline bool lb_age_is_cut(const struct lb_age *age, const struct lb_age_state *state)
{
    return state->is_asked && state->refused[0] == '\0' && !state->leaves_no_rows &&
           state->n_points < age->n_sizes;
}
/* True if anything about claims was measured. */
bool lb_age_is_known(const struct lb_age *age);
/* Is this state one that a claim should not pay for? */
static inline bool lb_age_is_judged(enum lb_aged_state state)
{
    return state == LB_AGED_FINISHED || state == LB_AGED_FAILED || state == LB_AGED_DELAYED ||
           state == LB_AGED_DEAD;
}
/* In which its costs are. */
static inline const char *lb_age_unit(const struct lb_age *age, enum lb_aged_state state)
{
    return state == LB_AGED_DEAD ? age->dead_unit : age->unit;
}

#endif
