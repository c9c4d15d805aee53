/* Did every item go to a worker of its class? See workers/classes.c. */
#include "proofs.h"

#include "classes.h"

#include <stdio.h>

int lb_classes_check(const struct lb_active_run *run, struct lb_error *err)
{
    const struct lb_scenario *scenario = run->request->scenario;
    if (scenario->shape != LB_QUEUE || scenario->classes < 2)
        return 0;
    if (run->program == NULL || (run->program->uses >> LB_SLOT_CLASS & 1) == 0)
        return lb_fail(err, LB_E_UNSUPPORTED, "classes: %s knows no class",
                       run->request->strategy->name);
    return 0;
}

void lb_classes_prove(const struct lb_active_run *run, struct lb_proof *ret_proof)
{
    const struct lb_outcome *outcome = run->outcome;
    uint64_t n_strays = atomic_load(&run->team->n_strays);
    ret_proof->verdict = n_strays > 0            ? LB_V_VIOLATED
                         : outcome->n_items == 0 ? LB_V_NOT_TESTED
                                                 : LB_V_HELD;
    snprintf(ret_proof->name, sizeof ret_proof->name, "classes");
    if (n_strays > 0)
        snprintf(
            ret_proof->text, sizeof ret_proof->text,
            "%llu times an item was handed to a worker of another class; the last was item %lld "
            "of class%llu",
            (unsigned long long)n_strays, (long long)atomic_load(&run->team->stray_id),
            (unsigned long long)lb_class_of(run->request->scenario,
                                            atomic_load(&run->team->stray_id)));
    else
        snprintf(ret_proof->text, sizeof ret_proof->text,
                 "every item went to a worker of its own class: %llu items of %llu classes in one "
                 "table; order, keys and limits may be within a class, and were not judged",
                 (unsigned long long)outcome->n_items,
                 (unsigned long long)run->request->scenario->classes);
}
