/* Operations of a strategy as the rest of lockbench calls them: with the actor's state asserted,
 * times taken, events recorded and answers counted. The strategy's table is never called raw.
 *
 * One operator belongs to one worker (or one worker of explore). Each call is one attempt: one
 * invoke event and exactly one end event (of a batch, for each item). After an outcome that is
 * unknown (LB_LOST) the operator's process is retired: its next operation carries a new process
 * number.
 *
 * Times: start_ns and end_ns of the last operation. The end of one operation serves as the start of
 * the next when the caller says that nothing happened between (lb_operator_continue): a clock read
 * is a sixth of the whole cost of a recorded operation.
 */
#ifndef LB_OPERATION_H
#define LB_OPERATION_H

#include "clock.h"
#include "history.h"
#include "measure.h"
#include "strategy.h"

/* Lends the actor a session for each operation, where workers share fewer than they are. take:
 * before the operation; may wait. false: the run ends first, and the operation answers LB_TIMEOUT
 * without having asked the database. give: after it; a session that a hold lives in is kept. */
struct lb_lender {
    bool (*take)(void *arg, enum lb_op which);
    void (*give)(void *arg, enum lb_op which, int answer);
};

struct lb_operator {
    struct lb_actor *actor;
    struct lb_log *log;             /* NULL: not recorded */
    uint32_t process;               /* its present process number */
    uint32_t n_processes;           /* how many logs there are: the step between process numbers */
    uint32_t lease_ms;              /* length of a lease; 0 if the strategy has none */
    bool measured;                  /* counts only what happens in the measured part */
    bool continued;                 /* end_ns is still now */
    uint64_t start_ns, end_ns;      /* of the last operation */
    enum lb_op last;                /* the last request */
    struct lb_counts *counts;       /* LB_MEASURES of them */
    bool may_last;                  /* a committed grant outlasts the session, and is recorded so */
    bool holds;                     /* between a grant and its release */
    const struct lb_lender *lender; /* NULL: the actor's session is its own */
    void *lender_arg;
    const _Atomic uint64_t
        *waited_ns; /* set by others: its session was waiting for a row; NULL: not tracked */
    int log_error;  /* the history could not be written: an enum lb_errcode */
};

/* The next operation begins when the last one ended. */
static inline void lb_operator_continue(struct lb_operator *op)
{
    op->continued = true;
}

/* Locks. Answers and errors as in strategy.h. */
int lb_operate_enqueue(struct lb_operator *op, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err);
int lb_operate_acquire(struct lb_operator *op, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err);
int lb_operate_renew(struct lb_operator *op, const struct lb_request *request,
                     struct lb_grant *grant, struct lb_error *err);
int lb_operate_release(struct lb_operator *op, const struct lb_request *request,
                       struct lb_grant *grant, struct lb_error *err);
int lb_operate_cancel(struct lb_operator *op, const struct lb_request *request,
                      struct lb_grant *grant, struct lb_error *err);

/* Queues. */
int lb_operate_put(struct lb_operator *op, int64_t first, uint32_t n, const char *payload,
                   struct lb_error *err);
int lb_operate_claim(struct lb_operator *op, uint32_t n, struct lb_item *items, uint32_t max,
                     uint32_t *ret_n, struct lb_error *err);
/* The section by which an item is ended, changed or renewed. */
enum lb_section_name lb_operate_section(enum lb_op which);
/* One item's end or change: which is LB_OP_COMPLETE, LB_OP_ERROR, LB_OP_FREE, LB_OP_CLEAR_ERROR or
 * LB_OP_RENEW_ITEM. LB_E_UNSUPPORTED if the strategy has no such operation. */
int lb_operate_item(struct lb_operator *op, enum lb_op which, struct lb_item *item,
                    struct lb_error *err);
/* The same for a batch, where lb_strategy_takes_batch says so: LB_OP_COMPLETE, LB_OP_ERROR,
 * LB_OP_FREE or LB_OP_RENEW_ITEM. Recorded item by item: an invoke for each, one behind another,
 * and then, in the same order, their ends. Items that the statement reached besides are recorded
 * with them. */
int lb_operate_batch(struct lb_operator *op, enum lb_op which, struct lb_batch *batch,
                     struct lb_error *err);
/* An end, and behind it, in one round trip, the next claim; where lb_strategy_unpiped has no
 * objection, and without a lender. pipeline->item or batch, n, items and max are given; which:
 * LB_OP_COMPLETE, LB_OP_ERROR or LB_OP_FREE. Recorded as one group: the invokes, all at the time of
 * the sending, and then the ends in the same order, the claim's last. Start and end of the operator
 * are those of the claim. claim_measured: whether the claim counts; the end does as op->measured
 * says. */
void lb_operate_pipeline(struct lb_operator *op, enum lb_op which, struct lb_pipeline *pipeline,
                         bool claim_measured);
/* The item failed, and is due again later: recorded as LB_OP_FREE. */
int lb_operate_retry(struct lb_operator *op, struct lb_item *item, struct lb_error *err);
/* A process, before its first claim: recorded as LB_OP_RECOVER. */
int lb_operate_sweep(struct lb_operator *op, struct lb_error *err);
/* Records that the process of the operator's actor, with that log number, is alive; enrolls: for
 * the first time, by section register. */
int lb_operate_beat(struct lb_operator *op, bool enrolls, uint32_t log, struct lb_error *err);
/* Section stop of a worker that was asked to stop; not recorded, as a worker that goes has nothing.
 */
int lb_operate_stop(struct lb_operator *op, struct lb_error *err);
/* The process of the worker with that log ends in order, with nothing in hand: recorded as the end
 * of its session. */
int lb_operate_sign_off(struct lb_operator *op, uint32_t log, struct lb_error *err);
/* The whole class: LB_OP_CLEAR_ALL, LB_OP_RESET_ALL or LB_OP_RECOVER. */
int lb_operate_class(struct lb_operator *op, enum lb_op which, struct lb_error *err);

/* Records a write to the guarded row with the holder's token: answer LB_OK accepted, LB_REFUSED. */
void lb_operator_note_write(struct lb_operator *op, uint32_t resource, const struct lb_grant *grant,
                            uint64_t start_ns, int answer);

#endif
