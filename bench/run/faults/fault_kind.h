/* One kind of fault: its action, its victim, and its run in verify --faults. Each has a file here,
 * and a line in fault_list.h.
 *
 * A fault is either of a worker, which carries it out itself inside of its next hold (inject), or
 * of the world, in a thread of its own (inject_outside). Only one kind of fault is in a run.
 */
#ifndef LB_FAULT_KIND_H
#define LB_FAULT_KIND_H

#include "fault_list.h"
#include "strategy.h"

struct lb_active_run;
struct lb_log;
struct lb_run_plan;
struct lb_worker;

struct lb_fault_kind {
    /* Has it a meaning on an engine? db NULL: no database. NULL: always. */
    bool (*suits)(const struct lb_db *db);
    /* Is everything given that it needs? 0 or LB_E_UNSUPPORTED with a message. Optional. */
    int (*check)(const struct lb_run_plan *plan, struct lb_error *err);

    /* A section that the strategy must have; 0: none. */
    enum lb_section_name needs;

    /* Of a worker, by its own thread, inside of a hold: of request, or of n items. It may block. */
    void (*inject)(struct lb_worker *worker, const struct lb_request *request,
                   const struct lb_item *items, uint32_t n);
    /* The order waits for a later hold of the worker. Arguments as of inject. Optional. */
    bool (*postpones)(struct lb_worker *worker, const struct lb_request *request,
                      const struct lb_item *items, uint32_t n);
    /* May no further worker be told now? By the controlling thread. Optional. */
    bool (*is_enough)(const struct lb_active_run *run);
    /* Before each statement of a worker, on its session; negative: an error. Optional. */
    int (*before)(struct lb_worker *worker, struct lb_error *err);
    bool is_last;     /* a worker that carried it out gets no other order */
    bool is_standing; /* the order stands from the beginning, for each worker; with postpones */

    /* Of the world: once. session: NULL if it has none. 0, or an error that ends the run. */
    int (*inject_outside)(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                          struct lb_error *err);
    enum lb_isolation isolation; /* of its session */
    bool has_no_session;

    /* The scenario's other keys with --faults, as lb_scenario_set_all takes them; NULL: none. */
    const char *lock_keys, *queue_keys;
};

/* By enum lb_fault; LB_FAULT_NONE is NULL. */
extern const struct lb_fault_kind *const lb_fault_kinds[LB_FAULTS];

#endif
