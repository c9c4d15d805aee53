/* Counting what the statements of a session read. */
#ifndef LB_AGED_COST_H
#define LB_AGED_COST_H

#include "aging.h"
#include "program.h"

/* The statements since the last lb_aged_cost_begin. */
struct lb_aged_cost {
    const struct lb_program *program;
    struct lb_session *session;
    bool is_dead_asked; /* as of lb_touched */
    double cost, settled_cost, scanned, sorts;
    double locked;        /* the most rows that a transaction has locked; below 0: not known */
    uint64_t counting_ns; /* that the counting took */
    char plan[1200], settled_plan[1200];
    double margin; /* of the statement whose plan is the nearest to another, as of lb_touched */
    char other_plan[600];
};

/* From now on each statement of the program on this session is counted. cost must outlive it. */
void lb_aged_cost_watch(struct lb_aged_cost *cost, const struct lb_program *program,
                        struct lb_session *session);
void lb_aged_cost_begin(struct lb_aged_cost *cost);

#endif
