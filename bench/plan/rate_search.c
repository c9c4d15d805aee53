/* The search for the highest rate under an SLO: see plan.h.
 *
 * Bracket by a factor of 1.5, upwards from a rate that should be easy (or downwards when it is
 * not), then bisect until the bracket is 3 % wide, then confirm the lower end by three runs of
 * twice the length. A rate that is not confirmed gives way to one 3 % lower, twice, and then to
 * ones that are further and further down, so that a noisy machine costs a wide interval and not an
 * hour. What failed stays failed: the interval reaches from the confirmed rate to the lowest one
 * that failed.
 */
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FACTOR      1.5
#define RESOLUTION  1.03
#define FIRST_SHARE 0.6 /* of the throughput in the closed loop */
#define LEAST_SHARE 0.05
/* A trial is at least so long that the percentile has five times the samples that it needs at all,
 * or this long. */
#define SAMPLES    5
#define LONGEST_NS UINT64_C(60000000000)
#define WARMUP_NS  UINT64_C(500000000)
#define NEED_NS    1e10

const char *lb_slo_state_name(enum lb_slo_state state)
{
    static const char *const names[] = {"not asked", "found", "at least", "never met", "unknown"};
    return names[state];
}

enum { ATTEMPTS = 3, CHANCES = 4 };

struct search {
    struct lb_plan *plan;
    const struct lb_lab *lab;
    uint64_t workers; /* of the trials */
    double least;     /* rates below are not tried */
    double low, high; /* passed, failed; 0 and INFINITY: none yet */
    bool ended;       /* state and reason are set */
    struct lb_error *err;
};

static void end(struct search *search, enum lb_slo_state state, const char *reason)
{
    struct lb_plan *plan = search->plan;
    plan->slo_state = state;
    snprintf(plan->slo_reason, sizeof plan->slo_reason, "%s", reason);
    search->ended = true;
}

static void make_scenario(const struct lb_plan *plan, uint64_t workers, double rate, bool longer,
                          struct lb_scenario *ret)
{
    const struct lb_slo *slo = &plan->question->slo;
    *ret = plan->scenario;
    ret->workers = workers;
    snprintf(ret->rate, sizeof ret->rate, "%s%.3f/s", plan->question->even ? "" : "poisson:", rate);
    snprintf(ret->name, sizeof ret->name, "%.100s[workers=%llu rate=%.60s]", plan->scenario.name,
             (unsigned long long)ret->workers, ret->rate);
    if (ret->shape == LB_QUEUE) {
        /* Arrivals are put, and must not wait for one slow put. */
        ret->producers = ret->producers < 4 ? 4 : ret->producers;
        ret->backlog = 0;
        ret->drain = false;
        if (ret->warmup_ns == 0) /* a drain has none */
            ret->warmup_ns = WARMUP_NS;
    }
    lb_plan_give_threads(ret);
    ret->count = 0;
    double least_ns = 1e9 * 10 / (1 - slo->quantile) / rate;
    double wanted_ns = fmax(fmin(SAMPLES * least_ns, 2e10), 1.2 * least_ns);
    if (!lb_plan_sweeps(plan->question)) { /* the rate is known: a few long trials */
        wanted_ns = fmax(1.2 * least_ns, fmin(2 * least_ns, NEED_NS));
        longer = false;
    }
    double length_ns = fmax((double)ret->duration_ns, fmin(wanted_ns, (double)LONGEST_NS));
    ret->duration_ns = (uint64_t)(longer ? 2 * length_ns : length_ns);
}

/* One trial; a run that was not valid is repeated, for others may have used the machine. */
static int try_rate(struct search *search, enum lb_trial_phase phase, double rate,
                    const struct lb_trial **ret_trial)
{
    struct lb_plan *plan = search->plan;
    struct lb_trial *trial = NULL;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct lb_scenario scenario;
        struct lb_error why;
        const struct lb_outcome *run = NULL;
        if (plan->n_trials == LB_PLAN_TRIALS) {
            end(search, LB_SLO_UNKNOWN, "no end after as many trials as are made");
            return 0;
        }
        make_scenario(plan, search->workers, rate, phase == LB_TRIAL_CONFIRM, &scenario);
        int rc = search->lab->measure(search->lab->arg, plan, &scenario, &run, &why);
        if (rc == LB_E_INTERRUPTED || rc == LB_E_MEMORY) {
            *search->err = why;
            return rc;
        }
        if (rc != 0) {
            end(search, LB_SLO_UNKNOWN, why.message);
            return 0;
        }
        trial = &plan->trials[plan->n_trials++];
        *trial = (struct lb_trial){.phase = phase, .rate_per_s = rate, .run = run};
        lb_trial_judge(trial, &plan->question->slo);
        if (!trial->ok && search->lab->rest != NULL)
            search->lab->rest(search->lab->arg);
        if (trial->valid)
            break;
    }
    *ret_trial = trial;
    return 0;
}

/* No attempt at this trial was valid: the search ends with the certain results. */
static void give_up(struct search *search, const struct lb_trial *trial)
{
    char text[300];
    snprintf(text, sizeof text, "at %.4g/s the run was not valid: %s", trial->rate_per_s,
             trial->reason);
    end(search, LB_SLO_UNKNOWN, text);
}

/* Tries a rate and moves the bracket's end. */
static int probe(struct search *search, enum lb_trial_phase phase, double rate)
{
    const struct lb_trial *trial = NULL;
    int rc = try_rate(search, phase, rate, &trial);
    if (rc != 0 || search->ended)
        return rc;
    if (!trial->valid)
        give_up(search, trial);
    else if (trial->ok)
        search->low = rate;
    else
        search->high = rate;
    return 0;
}

static int bracket(struct search *search, double rate)
{
    int rc = 0;
    while (rc == 0 && !search->ended && !(search->low > 0 && isfinite(search->high))) {
        rc = probe(search, LB_TRIAL_BRACKET, rate);
        rate = search->low > 0 ? rate * FACTOR : rate / FACTOR;
        if (rc == 0 && !search->ended && rate < search->least) {
            const struct lb_plan *plan = search->plan;
            char text[300];
            snprintf(text, sizeof text, "not even at %.4g/s: %s", search->high,
                     plan->trials[plan->n_trials - 1].reason);
            end(search, LB_SLO_NEVER_MET, text);
        }
    }
    return rc;
}

static int bisect(struct search *search)
{
    int rc = 0;
    while (rc == 0 && !search->ended && search->high / search->low > RESOLUTION)
        rc = probe(search, LB_TRIAL_BISECT, sqrt(search->low * search->high));
    return rc;
}

/* Three longer runs at the lower end; all must pass, or it becomes the upper end. After an invalid
 * trial at a higher rate this says what is sure below it. */
static int confirm(struct search *search)
{
    struct lb_plan *plan = search->plan;
    double rate = search->low, step = RESOLUTION;
    unsigned refused = 0;
    int rc = 0;
    while (rc == 0 && rate >= search->least) {
        unsigned passed = 0;
        const struct lb_trial *trial = NULL;
        bool failed = false;
        for (; passed < LB_PLAN_CONFIRM && rc == 0 && !failed; passed += !failed) {
            rc = try_rate(search, LB_TRIAL_CONFIRM, rate, &trial);
            if (rc != 0 || search->ended)
                return rc;
            if (!trial->valid) {
                give_up(search, trial);
                return rc;
            }
            failed = !trial->ok;
        }
        if (rc == 0 && !failed) {
            plan->slo_state = isfinite(search->high) ? LB_SLO_FOUND : LB_SLO_AT_LEAST;
            plan->slo_rate = (struct lb_estimate){rate, {rate, search->high, 0}};
            return 0;
        }
        search->high = rate;
        rate /= step;
        if (++refused >= 2)
            step *= step;
    }
    if (rc == 0)
        end(search, LB_SLO_NEVER_MET, "no rate was confirmed");
    return rc;
}

/* After the search ended at a rate that could not be measured, the best rate that passed is still
 * worth confirming: "at least this rate". */
static int confirm_what_passed(struct search *search)
{
    struct lb_plan *plan = search->plan;
    char reason[sizeof plan->slo_reason];
    bool was_cut = search->ended && plan->slo_state == LB_SLO_UNKNOWN;
    if (search->ended && (!was_cut || search->low <= 0))
        return 0;
    memcpy(reason, plan->slo_reason, sizeof reason);
    search->ended = false;
    int rc = confirm(search);
    if (rc == 0 && was_cut && plan->slo_state == LB_SLO_FOUND)
        plan->slo_state = LB_SLO_AT_LEAST;
    if (rc == 0 && was_cut)
        memcpy(plan->slo_reason, reason, sizeof reason);
    return rc;
}

/* Lower rates are not tried: they do not characterise the strategy, or give too few samples in the
 * longest trial. */
static double least_rate(const struct lb_plan *plan, double known)
{
    double measurable = 12 / (1 - plan->question->slo.quantile) / ((double)LONGEST_NS / 1e9);
    return fmin(fmax(known * LEAST_SHARE, measurable), known * FIRST_SHARE);
}

static double throughput_at(const struct lb_plan *plan)
{
    double mean = lb_plan_mean_at(plan, plan->at), most = 0;
    for (size_t i = 0; i < plan->n_points; i++)
        if (plan->points[i].valid)
            most = fmax(most, plan->points[i].run->successes_per_s);
    return mean > 0 ? mean : plan->has_fit ? lb_usl_at(&plan->fit.best, (double)plan->at) : most;
}

/* --- how many workers keep it at the demand --- */

void lb_plan_first_scenario(const struct lb_plan *plan, struct lb_scenario *ret)
{
    make_scenario(plan, lb_plan_first_workers(plan), plan->question->demand_per_s, false, ret);
}

/* One trial of so many workers at the demand; one fewer than the answer leaves its reason. */
static int try_workers(struct search *search, enum lb_trial_phase phase, uint64_t workers,
                       bool *ret_ok)
{
    struct lb_plan_need *need = &search->plan->need;
    const struct lb_trial *trial = NULL;
    search->workers = workers;
    *ret_ok = false;
    int rc = try_rate(search, phase, search->plan->question->demand_per_s, &trial);
    if (rc != 0 || search->ended)
        return rc;
    if (!trial->valid) {
        char text[300];
        snprintf(text, sizeof text, "the run of %llu was not valid: %s",
                 (unsigned long long)workers, trial->reason);
        end(search, LB_SLO_UNKNOWN, text);
        return 0;
    }
    if (phase == LB_TRIAL_FIRST)
        lb_plan_first_answer(search->plan, trial->run);
    *ret_ok = trial->ok;
    if (!trial->ok)
        snprintf(need->reason, sizeof need->reason, "%s", trial->reason);
    else if (phase == LB_TRIAL_CONFIRM && trial->latency_ns > need->worst_ns)
        need->worst_ns = trial->latency_ns;
    return 0;
}

/* *ret_ok: true if this number keeps the SLO in LB_PLAN_CONFIRM runs (is_confirmed: it has), and
 * one fewer fails again. *ret_fewer: true if one fewer keeps it twice: it failed by chance. */
static int confirm_workers(struct search *search, uint64_t workers, bool is_confirmed, bool *ret_ok,
                           bool *ret_fewer)
{
    struct lb_plan_need *need = &search->plan->need;
    int rc = 0;
    *ret_ok = true;
    *ret_fewer = false;
    if (!is_confirmed)
        need->worst_ns = 0;
    for (int i = is_confirmed ? LB_PLAN_CONFIRM : 0;
         i < LB_PLAN_CONFIRM && *ret_ok && rc == 0 && !search->ended; i++)
        rc = try_workers(search, LB_TRIAL_CONFIRM, workers, ret_ok);
    uint64_t worst_ns = need->worst_ns;
    bool keeps = rc == 0 && !search->ended && *ret_ok && workers > 1;
    for (int i = 0; i < 2 && keeps && rc == 0 && !search->ended; i++)
        rc = try_workers(search, LB_TRIAL_CONFIRM, workers - 1, &keeps);
    *ret_fewer = keeps;
    need->worst_ns = worst_ns;
    return rc;
}

/* The first answer, then its neighbour, then the middle. */
static uint64_t next_workers(const struct lb_plan_need *need, uint64_t failed, uint64_t kept)
{
    const uint64_t most = need->most, first = need->first;
    if (need->has_first && first == 0 && kept == 0)
        return most;
    if (first > failed && (kept == 0 || first < kept))
        return first;
    if (first > 0 && kept > 0 && (first == kept || first == failed))
        return first == kept ? kept - 1 : failed + 1;
    uint64_t more = failed + (failed + 2) / 3;
    if (kept == 0)
        return more < most ? more : most;
    return failed == 0 ? kept - 1 : (failed + kept) / 2;
}

/* How one fewer than the answer did, in all of its trials. */
static void count_fewer(const struct lb_plan *plan, struct lb_plan_need *need)
{
    for (size_t i = 0; i < plan->n_trials; i++) {
        const struct lb_trial *trial = &plan->trials[i];
        if (trial->valid && trial->run->config.workers + 1 == need->workers) {
            need->n_fewer++;
            need->n_fewer_failed += !trial->ok;
        }
    }
}

/* One run of a few workers gives the first answer, which is the next number that is tried. A number
 * that was confirmed stays confirmed: where chance decides about one fewer, that one gets CHANCES
 * to be confirmed itself, and was seen to fail. */
static int search_workers(struct search *search)
{
    struct lb_plan *plan = search->plan;
    struct lb_plan_need *need = &plan->need;
    uint64_t failed = 0, kept = 0, at = lb_plan_first_workers(plan), confirmed = 0, worst_ns = 0;
    int n_chances = 0;
    bool ok, is_again = false; /* the most workers failed once: that may be chance */
    need->most = plan->question->levels[plan->question->n_levels - 1];
    int rc = try_workers(search, LB_TRIAL_FIRST, at, &ok);
    if (rc == 0 && !search->ended)
        *(ok ? &kept : &failed) = at;
    at = next_workers(need, failed, kept);
    while (rc == 0 && !search->ended && failed < need->most) {
        bool fewer;
        if (kept != failed + 1) {
            rc = try_workers(search, LB_TRIAL_BRACKET, at, &ok);
            if (at == need->most && !ok && !is_again) {
                is_again = true;
                continue;
            }
            if (!search->ended)
                *(ok ? &kept : &failed) = at;
        } else {
            need->worst_ns = worst_ns;
            rc = confirm_workers(search, kept, kept == confirmed, &ok, &fewer);
            n_chances = kept == confirmed || !ok ? n_chances : 0;
            if (ok && rc == 0 && (!fewer || ++n_chances == CHANCES))
                need->workers = kept;
            if (need->workers > 0 || search->ended)
                break;
            worst_ns = ok ? need->worst_ns : worst_ns;
            confirmed = ok ? kept : confirmed;
            failed = ok ? 0 : kept;
            kept = ok ? kept - 1 : confirmed;
        }
        at = next_workers(need, failed, kept);
    }
    need->kept = kept;
    need->is_confirmed = kept > 0 && kept == confirmed;
    need->failed = failed;
    count_fewer(plan, need);
    need->is_missed = rc == 0 && !search->ended && need->workers == 0;
    if (search->ended && need->workers == 0)
        memcpy(need->reason, plan->slo_reason, sizeof need->reason);
    return rc;
}

int lb_plan_search(struct lb_plan *plan, const struct lb_lab *lab, struct lb_error *err)
{
    if (!plan->question->has_slo)
        return 0;
    double known = plan->at > 0 ? throughput_at(plan) : 0;
    struct search search = {.plan = plan,
                            .lab = lab,
                            .workers = plan->at,
                            .least = least_rate(plan, known),
                            .high = INFINITY,
                            .err = err};
    plan->need.is_asked = lb_plan_asks_need(plan->question);
    if (plan->need.is_asked) {
        int needed = search_workers(&search);
        plan->interrupted |= needed == LB_E_INTERRUPTED;
        if (needed == LB_E_INTERRUPTED)
            snprintf(plan->need.reason, sizeof plan->need.reason, "interrupted");
        plan->slo_state = LB_SLO_NOT_ASKED;
        plan->slo_reason[0] = '\0';
        if (needed != 0 || plan->question->at == 0)
            return needed;
        search.workers = plan->at;
        search.ended = false;
    }
    plan->slo_state = LB_SLO_UNKNOWN;
    plan->slo_reason[0] = '\0';
    if (known <= 0) {
        end(&search, LB_SLO_UNKNOWN, "no throughput is known to begin with");
        return 0;
    }
    int rc = bracket(&search, known * FIRST_SHARE);
    if (rc == 0 && !search.ended)
        rc = bisect(&search);
    if (rc == 0)
        rc = confirm_what_passed(&search);
    if (rc == LB_E_INTERRUPTED) {
        char text[200] = "interrupted before the first trial had passed";
        plan->interrupted = true;
        if (search.low > 0)
            snprintf(text, sizeof text, "interrupted: %.4g/s passed once, but was not confirmed",
                     search.low);
        end(&search, LB_SLO_UNKNOWN, text);
    }
    return rc;
}
