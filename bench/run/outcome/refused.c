/* Statements that the server refused for a reason other than contention: a CHECK, RAISE, a
 * duplicate key in an operation that takes nothing. A few of these say nothing against a protocol.
 * If a third of the releases, completions, acquires, claims or puts end so, the file is broken, and
 * "held" would describe a protocol that was not executed.
 *
 * A key that is there already may be how an acquire or a claim says no. Errors listed in `--
 * on-error: busy` are answered "busy", and do not count. Faults that make the server itself refuse
 * do not concern the file.
 */
#include "refused.h"

#include <stdio.h>

enum { LEAST = 10, SHARE = 3 };

static struct lb_refused of_measure(const struct lb_active_run *run, enum lb_measure measure)
{
    const struct lb_counts *counts = &run->outcome->counts[measure];
    const uint64_t *answers = counts->answers;
    enum lb_fault fault = run->request->scenario->fault;
    bool is_queue = run->request->scenario->shape == LB_QUEUE;
    bool refuses = measure == LB_M_PUT && lb_strategy_refuses(&run->plan, LB_DUPLICATE);
    bool takes = measure == LB_M_ENQUEUE || measure == LB_M_ACQUIRE;
    struct lb_refused of = {.what = measure == LB_M_ENQUEUE   ? "enqueues"
                                    : measure == LB_M_ACQUIRE ? (is_queue ? "claims" : "acquires")
                                    : measure == LB_M_PUT     ? "puts"
                                    : is_queue                ? "completions"
                                                              : "releases",
                            .n = answers[LB_OTHER] + (takes || refuses ? 0 : answers[LB_DUPLICATE]),
                            .n_tries = answers[LB_OK] + answers[LB_EMPTY] + answers[LB_REFUSED] +
                                       answers[LB_OTHER] + answers[LB_DUPLICATE] +
                                       (takes ? answers[LB_BUSY] : 0)};
    of.is_much = of.n >= LEAST && SHARE * of.n >= of.n_tries && fault != LB_FAULT_FULL &&
                 !lb_fault_is(fault, LB_FAULT_IS_COMMANDED);
    return of;
}

struct lb_refused lb_refused_of(const struct lb_active_run *run)
{
    static const enum lb_measure measures[] = {LB_M_RELEASE, LB_M_ACQUIRE, LB_M_ENQUEUE, LB_M_PUT};
    struct lb_refused worst = {0};
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) {
        struct lb_refused of = of_measure(run, measures[i]);
        if (of.n > 0 && (worst.what == NULL || (double)of.n * (double)worst.n_tries >
                                                   (double)worst.n * (double)of.n_tries))
            worst = of;
    }
    return worst;
}

void lb_refused_judge(struct lb_active_run *run)
{
    struct lb_outcome *outcome = run->outcome;
    const struct lb_first *first = &run->team->refused;
    struct lb_refused of = lb_refused_of(run);
    bool is_idle = outcome->counts[LB_M_ACQUIRE].answers[LB_OK] == 0;
    uint64_t n = atomic_load(&first->n);
    if (outcome->state != LB_RUN_COMPLETE || (!of.is_much && !(is_idle && n >= LEAST)))
        return;
    const char *text = atomic_load(&first->state) == 2 ? first->text : NULL;
    if (!of.is_much) /* a release that is refused for ever may have begun before the warm-up ended
                      */
        lb_outcome_invalidate(
            outcome,
            "not tested: nothing was granted in the measured part, and the server refused %llu "
            "operations, not by contention; the first: %.160s",
            (unsigned long long)n, text != NULL ? text : "");
    else
        lb_outcome_invalidate(
            outcome,
            "not tested: the server refused %llu of %llu %s, and not by contention%s%.160s",
            (unsigned long long)of.n, (unsigned long long)of.n_tries, of.what,
            text != NULL ? "; the first: " : "", text != NULL ? text : "");
}
