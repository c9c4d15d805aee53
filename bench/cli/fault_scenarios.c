/* Scenarios under faults: see fault_scenarios.h.
 *
 * A scenario keeps its workers and gets the times by which a fault can be told from its absence: a
 * lease much longer than a hold and much shorter than a pause, faults some leases apart, and a
 * bound on the recovery that every lease and session meets. Flags given by the user come after and
 * win.
 */
#include "fault_scenarios.h"

#include "nearest.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 20 };

struct preset {
    const char *name;
    const char *keys[KEYS]; /* key, value, ... */
};

/* For all faults. */
static const char *const for_locks[] = {
    "workers", "4",   "hold",           "5ms",    "poll",           "5ms",      "backoff",
    "fixed",   "ttl", "200ms",          "stale",  "500ms",          "duration", "3s",
    "warmup",  "0",   "recovery-bound", "2500ms", "progress-bound", "10s",      NULL};
static const char *const for_queues[] = {
    "ttl",    "500ms", "recover",        "200ms", "hold",           "1ms", "duration", "3s",
    "warmup", "0",     "recovery-bound", "3s",    "progress-bound", "10s", NULL};

/* One, in the middle of the run, and a lease that outlasts it. */
#define SWITCHES(name)                                                                             \
    "fault", name, "fault-interval", "500ms", "fault-length", "1s", "fault-count", "1",            \
        "duration", "0", "ttl", "20s", "progress-bound", "60s", "recovery-bound", "60s"

static const struct preset lock_presets[] = {
    {"kill",
     {"fault", "kill", "fault-interval", "250ms", "fault-count", "20", "duration", "7s", "stale",
      "300ms"}},
    {"pause",
     {"fault", "pause", "fault-interval", "450ms", "fault-length", "400ms", "guard", "yes"}},
    {"disconnect", {"fault", "disconnect", "fault-interval", "200ms"}},
    {"cut", {"fault", "cut", "fault-interval", "200ms"}},
    {"slow", {"fault", "slow", "fault-interval", "200ms", "fault-length", "30ms"}},
    {"blocker", {"fault", "blocker", "fault-interval", "200ms", "fault-length", "350ms"}},
    {"snapshot", {"fault", "snapshot", "fault-interval", "200ms", "fault-length", "500ms"}},
    {"restart",
     {"fault", "restart", "fault-interval", "800ms", "fault-count", "2", "duration", "5s"}},
    {"full", {"fault", "full", "fault-interval", "200ms", "fault-length", "200ms"}},
    {"failover", {SWITCHES("failover")}},
    {"partition", {SWITCHES("partition")}},
    {"cancel-sync", {SWITCHES("cancel-sync")}},
    {"skew", {"skew", "400ms", "workers", "2", "hold", "160ms", "think", "1ms"}},
    {0},
};

static const struct preset queue_presets[] = {
    {"kill", {"fault", "kill", "fault-interval", "60ms", "fault-count", "20", "duration", "3s"}},
    /* Nobody frees what a live consumer has: that would be the operator's mistake. */
    {"pause",
     {"fault", "pause", "fault-interval", "700ms", "fault-length", "900ms", "recover", "0"}},
    {"disconnect", {"fault", "disconnect", "fault-interval", "200ms"}},
    {"cut", {"fault", "cut", "fault-interval", "200ms"}},
    {"slow", {"fault", "slow", "fault-interval", "200ms", "fault-length", "30ms"}},
    {"blocker", {"fault", "blocker", "fault-interval", "200ms", "fault-length", "300ms"}},
    {"snapshot", {"fault", "snapshot", "fault-interval", "200ms", "fault-length", "500ms"}},
    {"restart",
     {"fault", "restart", "fault-interval", "800ms", "fault-count", "2", "duration", "5s"}},
    {"full", {"fault", "full", "fault-interval", "200ms", "fault-length", "200ms"}},
    {"failover", {SWITCHES("failover"), "recover", "0"}},
    {"partition", {SWITCHES("partition"), "recover", "0"}},
    {"cancel-sync", {SWITCHES("cancel-sync"), "recover", "0"}},
    {"skew", {"skew", "1s"}},
    {0},
};

static int set_keys(struct lb_scenario *scenario, const char *const *keys, size_t most,
                    struct lb_error *err)
{
    int rc = 0;
    for (size_t i = 0; i + 1 < most && keys[i] != NULL && rc == 0; i += 2)
        rc = lb_scenario_set(scenario, keys[i], keys[i + 1], err);
    return rc;
}

static int put_under(struct lb_scenario *scenario, const struct preset *preset,
                     struct lb_error *err)
{
    bool lock = scenario->shape == LB_LOCK;
    size_t used = strnlen(scenario->name, sizeof scenario->name - 16);
    snprintf(scenario->name + used, sizeof scenario->name - used, "+%s", preset->name);
    int rc = set_keys(scenario, lock ? for_locks : for_queues, SIZE_MAX, err);
    return rc == 0 ? set_keys(scenario, preset->keys, KEYS, err) : rc;
}

int lb_fault_preset(struct lb_scenario *scenario, const char *fault, struct lb_error *err)
{
    const struct preset *preset = scenario->shape == LB_LOCK ? lock_presets : queue_presets;
    while (preset->name != NULL && strcmp(preset->name, fault) != 0)
        preset++;
    return preset->name != NULL ? put_under(scenario, preset, err)
                                : lb_fail(err, LB_E_USAGE, "unknown fault '%s'", fault);
}

static int add(struct lb_question **questions, size_t *n, const struct lb_question *base,
               const struct preset *preset, struct lb_error *err)
{
    struct lb_question *grown = realloc(*questions, (*n + 1) * sizeof *grown);
    if (grown == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    *questions = grown;
    struct lb_question *question = &grown[(*n)++];
    *question = *base;
    return put_under(&question->scenario, preset, err);
}

static bool is_in(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
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
        for (const struct preset *p = lock_presets; p->name != NULL; p++) {
            lb_nearest_offer(&nearest, p->name);
            known |= strcmp(name, p->name) == 0;
        }
        if (!known)
            return lb_fail(err, LB_E_USAGE,
                           "option --faults: unknown fault '%s'%s (all, kill, pause, disconnect, "
                           "cut, slow, blocker, snapshot, restart, full, failover, partition, "
                           "cancel-sync, skew)",
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
        const struct preset *preset =
            base->scenario.shape == LB_LOCK ? lock_presets : queue_presets;
        for (; preset->name != NULL && rc == 0; preset++)
            if (is_in(list, "all") || is_in(list, preset->name))
                rc = add(&questions, &n, base, preset, err);
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
