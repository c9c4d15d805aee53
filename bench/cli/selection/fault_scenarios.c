/* Scenarios under faults: see fault_scenarios.h.
 *
 * A scenario keeps its workers and gets the times by which a fault can be told from its absence: a
 * lease much longer than a hold and much shorter than a pause, faults some leases apart, and a
 * bound on the recovery that every lease and session meets. Holds are long enough for a backlog of
 * 1,000 items to outlast some faults. Flags given by the user come after and
 * win.
 */
#include "fault_scenarios.h"

#include "array.h"
#include "fault_kind.h"
#include "nearest.h"

#include <stdlib.h>
#include <string.h>

struct preset {
    const char *name;
    bool is_fault;
    const char *keys; /* as lb_scenario_set_all takes them; NULL: none */
};

/* For all faults. They take too much of so short a run for a bound on waits. */
static const char for_locks[] =
    "workers=4 hold=5ms poll=5ms backoff=fixed ttl=200ms stale=500ms duration=3s warmup=0 "
    "recovery-bound=2500ms progress-bound=0";
static const char for_queues[] =
    "ttl=500ms recover=200ms hold=1ms duration=3s warmup=0 recovery-bound=3s progress-bound=0";

/* Keys of the scenario that are no faults, but are requested in the same way. */
static const char skewed_locks[] = "skew=400ms workers=2 hold=160ms think=1ms";
static const char skewed_queues[] = "skew=1s";

/* The faults in their order, and the skew at last; false: there are no more. */
static bool preset_at(size_t i, bool lock, struct preset *ret)
{
    if (i + 1 > LB_FAULTS)
        return false;
    if (i + 1 == LB_FAULTS) {
        *ret = (struct preset){"skew", false, lock ? skewed_locks : skewed_queues};
        return true;
    }
    const struct lb_fault_kind *kind = lb_fault_kinds[i + 1];
    *ret = (struct preset){lb_fault_name((enum lb_fault)(i + 1)), true,
                           lock ? kind->lock_keys : kind->queue_keys};
    return true;
}

static int put_under(struct lb_scenario *scenario, const struct preset *preset,
                     struct lb_error *err)
{
    bool lock = scenario->shape == LB_LOCK;
    size_t used = strnlen(scenario->name, sizeof scenario->name - 16);
    snprintf(scenario->name + used, sizeof scenario->name - used, "+%s", preset->name);
    int rc = lb_scenario_set_all(scenario, lock ? for_locks : for_queues, err);
    if (rc == 0 && preset->is_fault)
        rc = lb_scenario_set(scenario, "fault", preset->name, err);
    return rc == 0 && preset->keys != NULL ? lb_scenario_set_all(scenario, preset->keys, err) : rc;
}

int lb_fault_preset(struct lb_scenario *scenario, const char *fault, struct lb_error *err)
{
    struct preset preset;
    for (size_t i = 0; preset_at(i, scenario->shape == LB_LOCK, &preset); i++)
        if (strcmp(preset.name, fault) == 0)
            return put_under(scenario, &preset, err);
    return lb_fail(err, LB_E_USAGE, "unknown fault '%s'", fault);
}

static int check_list(const char *list, struct lb_error *err)
{
    for (const char *at = list; at != NULL;) {
        const char *comma = strchr(at, ',');
        char name[32], text[128];
        snprintf(name, sizeof name, "%.*s", (int)(comma != NULL ? comma - at : (int)strlen(at)),
                 at);
        struct lb_nearest nearest;
        lb_nearest_init(&nearest, name);
        bool known = strcmp(name, "all") == 0;
        struct preset preset;
        for (size_t i = 0; preset_at(i, true, &preset); i++) {
            lb_nearest_offer(&nearest, preset.name);
            known |= strcmp(name, preset.name) == 0;
        }
        if (!known)
            return lb_fail(err, LB_E_USAGE,
                           "option --faults: unknown fault '%s'%s (all" LB_FAULT_NAMES ", skew)",
                           name, lb_nearest_text(&nearest, text, sizeof text));
        at = comma != NULL ? comma + 1 : NULL;
    }
    return 0;
}

int lb_select_faults(struct lb_selection *selection, const char *list, struct lb_error *err)
{
    struct lb_question *questions = NULL;
    size_t n = 0;
    int rc = check_list(list, err);
    for (size_t q = 0; q < selection->n_questions && rc == 0; q++) {
        const struct lb_question *base = &selection->questions[q];
        struct preset preset;
        for (size_t i = 0; rc == 0 && preset_at(i, base->scenario.shape == LB_LOCK, &preset); i++) {
            if (!lb_is_listed("all", list) && !lb_is_listed(preset.name, list))
                continue;
            struct lb_question *question = lb_array_add(&questions, &n, sizeof *question);
            *question = *base;
            rc = put_under(&question->scenario, &preset, err);
        }
    }
    if (rc != 0) {
        free(questions);
        return rc;
    }
    free(selection->questions);
    selection->questions = questions;
    selection->n_questions = n;
    return 0;
}
