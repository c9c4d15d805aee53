/* Verdicts with and without the clocks' uncertainty: see twice.h. */
#include "twice.h"

#include "memory.h"
#include "units.h"

#include <stdio.h>
#include <stdlib.h>

/* How often the uncertainty that would settle a near miss is halved: to some thousandth of itself.
 */
enum { STEPS = 10 };

static uint64_t largest(const uint64_t *uncertainty_ns, size_t n)
{
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = uncertainty_ns[i] > most ? uncertainty_ns[i] : most;
    return most;
}

/* No clock is off by more than limit_ns. */
static int judge_within(struct lb_history_view *view, const struct lb_model *model,
                        const uint64_t *uncertainty_ns, uint64_t limit_ns,
                        struct lb_judgement *ret_judgement, struct lb_error *err)
{
    for (size_t i = 0; i < view->n_logs; i++)
        view->logs[i].uncertainty_ns = uncertainty_ns[i] < limit_ns ? uncertainty_ns[i] : limit_ns;
    return lb_check(view, model, ret_judgement, err);
}

static bool is_near(const struct lb_judgement *certain, const struct lb_judgement *possible, int g)
{
    return possible->findings[g].verdict == LB_V_VIOLATED &&
           certain->findings[g].verdict != LB_V_VIOLATED;
}

/* The largest uncertainty with which each of the near ones would be certain, to within a step. */
static int settle(struct lb_history_view *view, const struct lb_model *model,
                  const uint64_t *uncertainty_ns, const struct lb_judgement *certain,
                  const struct lb_judgement *possible, struct lb_judgement *scratch,
                  struct lb_near_miss near[LB_GUARANTEE_ROOM], struct lb_error *err)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        uint64_t low = 0, high = largest(uncertainty_ns, view->n_logs);
        if (!is_near(certain, possible, g))
            continue;
        for (int i = 0; i < STEPS && high - low > 1; i++) {
            uint64_t middle = low + (high - low) / 2;
            int rc = judge_within(view, model, uncertainty_ns, middle, scratch, err);
            if (rc != 0)
                return rc;
            if (scratch->findings[g].verdict == LB_V_VIOLATED)
                low = middle;
            else
                high = middle;
        }
        near[g] = (struct lb_near_miss){possible->findings[g].n_violations, low};
    }
    return 0;
}

static void tell(struct lb_finding *finding, const struct lb_near_miss *near, uint64_t most_ns)
{
    char is[32], would[32];
    finding->verdict = LB_V_NOT_TESTED;
    snprintf(finding->reason, sizeof finding->reason,
             "%llu possible violation%s, none certain: the clocks are known to within %s; it would "
             "take %s",
             (unsigned long long)near->n_violations, near->n_violations == 1 ? "" : "s",
             lb_format_ns(most_ns, is, sizeof is),
             lb_format_ns(near->settles_ns, would, sizeof would));
}

int lb_judge_twice(struct lb_history_view *view, const struct lb_model *model,
                   struct lb_judgement *ret_judgement, struct lb_near_miss near[LB_GUARANTEE_ROOM],
                   struct lb_error *err)
{
    uint64_t *uncertainty_ns = lb_calloc(view->n_logs, sizeof *uncertainty_ns);
    struct lb_judgement *others = lb_calloc(2, sizeof *others);
    for (size_t i = 0; i < view->n_logs; i++)
        uncertainty_ns[i] = view->logs[i].uncertainty_ns;
    int rc = lb_check(view, model, ret_judgement, err);
    if (rc == 0)
        rc = judge_within(view, model, uncertainty_ns, 0, &others[0], err);
    if (rc == 0)
        rc = settle(view, model, uncertainty_ns, ret_judgement, &others[0], &others[1], near, err);
    for (int g = 0; g < LB_GUARANTEES && rc == 0; g++)
        if (is_near(ret_judgement, &others[0], g))
            tell(&ret_judgement->findings[g], &near[g], largest(uncertainty_ns, view->n_logs));
    for (size_t i = 0; i < view->n_logs; i++)
        view->logs[i].uncertainty_ns = uncertainty_ns[i];
    free(uncertainty_ns);
    free(others);
    return rc;
}
