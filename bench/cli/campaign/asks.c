/* The list of a file's tests: see asks.h. */
#include "asks.h"

#include "fault_scenarios.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

bool lb_asking_claims(const struct lb_asking *m, enum lb_guarantee guarantee)
{
    return (m->strategy->claims & LB_G_BIT(guarantee)) != 0;
}

bool lb_asking_on_server(const struct lb_asking *m)
{
    return m->db->terminate != NULL;
}

bool lb_asking_counts_by_server(const struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    return m->strategy->shape == LB_LOCK && lb_asking_on_server(m) && f->is_one_commit &&
           !f->by_worker_clock && f->begin_clock_line != 0;
}

bool lb_asking_parts_clocks(const struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    return f->worker_clock_line != 0 && f->server_clock_line != 0 &&
           (f->lease != NULL || f->recovers_by_time);
}

struct lb_ask *lb_asks_add(struct lb_asking *m, const char *name, const char *why, ...)
{
    struct lb_outlook *outlook = m->outlook;
    struct lb_ask *ask = &outlook->asks[outlook->n_asks];
    va_list args;
    if (outlook->n_asks < LB_ASKS - 1)
        outlook->n_asks++;
    *ask = (struct lb_ask){0};
    snprintf(ask->name, sizeof ask->name, "%s", name);
    va_start(args, why);
    vsnprintf(ask->why, sizeof ask->why, why, args);
    va_end(args);
    return ask;
}

struct lb_ask *lb_asks_add_run(struct lb_asking *m, const char *scenario, const char *fault,
                               const char *why)
{
    char name[40];
    snprintf(name, sizeof name, "%s%s%s", scenario, fault != NULL ? "+" : "",
             fault != NULL ? fault : "");
    struct lb_ask *ask = lb_asks_add(m, name, "%s", why);
    ask->scenario = scenario;
    ask->fault = fault;
    return ask;
}

void lb_ask_set(struct lb_ask *ask, const char *format, ...)
{
    const size_t used = strlen(ask->keys);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(ask->keys + used + 1, sizeof ask->keys - used - 1, format, args);
    va_end(args);
    assert(n >= 0 && (size_t)n < sizeof ask->keys - used - 1);
    if (n > 0)
        ask->keys[used] = ' ';
}

void lb_asks_leave_out(struct lb_asking *m, const char *name, const char *why)
{
    lb_asks_add(m, name, "%s", why)->is_left_out = true;
}

/* --- the scenario of an ask --- */

enum { STRETCH_MOST = 12 };
#define LONG_PERIOD_NS UINT64_C(3600000000000) /* nothing is due again in a run */
#define SOME_DEATHS_NS UINT64_C(2000000000)    /* the first ones come late on a busy machine */

/* A lease in seconds cannot be 200 ms. By whole seconds one of a second may be over at once. */
static uint64_t stretch_of(const struct lb_outlook *outlook, const struct lb_scenario *scenario)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_timing *timing = f->lease != NULL ? f->lease : f->limit;
    if (timing == NULL || !scenario->ttl_is_said)
        return 1;
    uint64_t unit_ns = timing->unit_ms * UINT64_C(1000000);
    if (lb_features_counts_seconds(f) && timing->unit_ms == 1000)
        unit_ns *= 2;
    return (unit_ns + scenario->ttl_ns - 1) / scenario->ttl_ns;
}

/* A scenario of a stretched lease: the run has fewer of them than of short ones, and the tolerance
 * beyond the lease grows at most twofold. */
static void stretch(struct lb_scenario *s, uint64_t factor)
{
    const uint64_t bound_ns = s->recovery_bound_ns, ttl_ns = s->ttl_ns;
    const uint64_t duration_ns = s->duration_ns;
    lb_scenario_stretch(s, factor);
    if (s->fault != LB_FAULT_POISON) /* it needs a lease for each attempt */
        s->duration_ns = factor > 3 ? s->duration_ns / 3 : duration_ns;
    if (bound_ns == 0 || s->fault_interval_ns == 0)
        return;
    s->recovery_bound_ns = bound_ns + 2 * (s->ttl_ns - ttl_ns);
    if (s->fault == LB_FAULT_POISON)
        return;
    /* The bound counts from when the lease or the limit of the dead is over. */
    uint64_t behind_ns = s->recovery_bound_ns + s->ttl_ns + s->fault_interval_ns;
    if (s->fault == LB_FAULT_KILL && s->duration_ns < behind_ns + SOME_DEATHS_NS)
        s->duration_ns = behind_ns + SOME_DEATHS_NS;
    uint64_t n =
        s->duration_ns > behind_ns ? (s->duration_ns - behind_ns) / s->fault_interval_ns + 1 : 1;
    if (s->fault_count == 0 || s->fault_count > n)
        s->fault_count = n;
}

int lb_ask_scenario(const struct lb_outlook *outlook, const struct lb_ask *ask,
                    struct lb_scenario *ret, struct lb_error *err)
{
    int rc = lb_scenario_load(ask->scenario, ret, err);
    if (rc == 0 && ask->fault != NULL)
        rc = lb_fault_preset(ret, ask->fault, err);
    if (rc == 0)
        rc = lb_scenario_set_all(ret, ask->keys, err);
    if (rc != 0)
        return rc;
    if (outlook->features.has_period && ret->shape == LB_QUEUE && ret->period_ns == 0) {
        if (ret->drain)
            return lb_fail(err, LB_E_UNSUPPORTED, "its work is due again: it is never drained");
        ret->period_ns = LONG_PERIOD_NS;
    }
    uint64_t factor = stretch_of(outlook, ret);
    if (factor > STRETCH_MOST && ret->fault == LB_FAULT_TERM && ret->recovery_bound_ns == 0) {
        ret->ttl_is_said = false; /* items that are given back wait for no limit */
        return 0;
    }
    if (factor > STRETCH_MOST)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "its lease or limit cannot be made short enough: count it in ms");
    if (factor > 1)
        stretch(ret, factor);
    snprintf(ret->name, sizeof ret->name, "%s", ask->name);
    return lb_scenario_validate(ret, err);
}
