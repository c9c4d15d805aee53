/* What the judge counted, as JSON: of a run, and of a history that check was given. */
#include "json_object.h"
#include "report.h"

struct json_t *lb_measures_json(const struct lb_measures *m)
{
    struct object object = object_new();
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"holds", m->n_holds},
                {"claims", m->n_claims},
                {"refusals", m->n_refusals},
                {"refusals_unjustified", m->n_refusals_unjustified},
                {"empty", m->n_empty},
                {"empty_unjustified", m->n_empty_unjustified},
                {"longest_wait_ns", m->longest_wait_ns},
                {"overtakes", m->n_overtakes},
                {"overtakes_of_one_max", m->max_overtakes},
                {"depth_max", m->max_depth},
                {"lease_overlaps_cut", m->n_cut_violations},
                {"lease_overlaps_uncut", m->n_uncut_violations},
                {"stale_writes_accepted", m->n_stale_writes_accepted},
                {"stale_writes_refused", m->n_stale_writes_refused},
                {"items_taken", m->n_taken_items},
                {"items_taken_claims", m->n_taken_claims},
                {"deaths", m->n_deaths},
                {"recovered", m->n_recovered},
                {"stuck", m->n_stuck},
                {"recovery_p50_ns", m->p50_recovery_ns},
                {"recovery_p95_ns", m->p95_recovery_ns},
                {"recovery_max_ns", m->max_recovery_ns},
                {"restarts", m->n_restarts},
                {"stalls", m->n_stalls},
                {"stalled_ns", m->stalled_ns}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_count(&object, rows[i].name, rows[i].value);
    put(&object, "jain", json_real(m->jain));
    put(&object, "gini", json_real(m->gini));
    return object_end(&object);
}
