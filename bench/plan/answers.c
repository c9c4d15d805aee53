/* The answers in words, each with its interval and with what speaks against it: see plan.h. */
#include "plan.h"

#include "units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *lb_plan_verdict_name(enum lb_plan_verdict verdict)
{
    static const char *const names[] = {"answered", "missed", "refused"};
    return names[verdict];
}

__attribute__((format(printf, 4, 5))) static struct lb_plan_answer *
add(struct lb_plan *plan, const char *question, enum lb_plan_verdict verdict, const char *format,
    ...)
{
    struct lb_plan_answer *answer = &plan->answers[plan->n_answers++];
    va_list args;
    *answer = (struct lb_plan_answer){.question = question, .verdict = verdict};
    va_start(args, format);
    vsnprintf(answer->text, sizeof answer->text, format, args);
    va_end(args);
    return answer;
}

static void give(struct lb_plan_answer *answer, const struct lb_estimate *estimate)
{
    answer->has_estimate = true;
    answer->estimate = *estimate;
}

/* " (75 %: 1.85k to 1.92k/s)"; "" of one run, which has no interval. Returns buf. */
static char *within(const struct lb_estimate *estimate, const char *range, char *buf, size_t size)
{
    buf[0] = '\0';
    if (estimate->interval.coverage > 0)
        snprintf(buf, size, " (%.0f %%: %s)", estimate->interval.coverage * 100, range);
    return buf;
}

/* "1.85k to 1.92k/s". Returns buf. */
static char *rates(const struct lb_estimate *rate, char *buf, size_t size)
{
    char low[32], high[32] = "unlimited";
    if (isfinite(rate->interval.high))
        lb_format_count(rate->interval.high, high, sizeof high);
    snprintf(buf, size, "%s to %s/s", lb_format_count(rate->interval.low, low, sizeof low), high);
    return buf;
}

/* "80 to 120"; an end beyond twice what was measured is "more than" that. Returns buf. */
static char *workers(const struct lb_plan *plan, const struct lb_estimate *n, char *buf,
                     size_t size)
{
    double reach = LB_USL_MAX_REACH * plan->fit.largest_n;
    if (n->interval.high > reach)
        snprintf(buf, size, "%.0f to more than %.0f", n->interval.low, reach);
    else
        snprintf(buf, size, "%.0f to %.0f", n->interval.low, n->interval.high);
    return buf;
}

static const char *plural(double n)
{
    return n > 0.5 && n < 1.5 ? "" : "s";
}

/* What N workers carry: the curve's value, and beside it what was measured there. */
static void answer_carry(struct lb_plan *plan)
{
    struct lb_estimate rate;
    struct lb_error err;
    char text[32], range[80], measured[64] = "";
    double n = (double)plan->at, mean = lb_plan_mean_at(plan, plan->at);
    if (lb_usl_predict(&plan->fit, n, &rate, &err) != 0) {
        add(plan, "carry", LB_PLAN_REFUSED, "%s.", err.message);
        return;
    }
    if (mean > 0) { /* the curve's interval is of the curve: it may miss what was measured there */
        rate.interval.low = fmin(rate.interval.low, mean);
        rate.interval.high = fmax(rate.interval.high, mean);
    }
    if (mean > 0)
        snprintf(measured, sizeof measured, "; measured there: %s/s",
                 lb_format_count(mean, text, sizeof text));
    give(add(plan, "carry", LB_PLAN_ANSWERED, "%.0f worker%s carr%s %s/s (95 %%: %s)%s.", n,
             plural(n), n > 1 ? "y" : "ies", lb_format_count(rate.value, text, sizeof text),
             rates(&rate, range, sizeof range), measured),
         &rate);
}

static void answer_places(struct lb_plan *plan)
{
    char x[32], range[80], where[64];
    if (plan->has_knee)
        give(add(plan, "knee", LB_PLAN_ANSWERED,
                 "Up to about %.0f worker%s (95 %%: %s) each further one adds more work than "
                 "waiting; there %s/s are carried.",
                 plan->knee_n.value, plural(plan->knee_n.value),
                 workers(plan, &plan->knee_n, where, sizeof where),
                 lb_format_count(plan->knee_x.value, x, sizeof x)),
             &plan->knee_n);
    if (plan->has_peak)
        give(add(plan, "peak", LB_PLAN_ANSWERED,
                 "The peak is %s/s (95 %%: %s) with %.0f worker%s (95 %%: %s); more make it "
                 "slower.",
                 lb_format_count(plan->peak_x.value, x, sizeof x),
                 rates(&plan->peak_x, range, sizeof range), plan->peak_n.value,
                 plural(plan->peak_n.value), workers(plan, &plan->peak_n, where, sizeof where)),
             &plan->peak_x);
    else
        add(plan, "peak", LB_PLAN_ANSWERED,
            "No peak is in sight: throughput still grew at %.0f workers, and nothing is said "
            "beyond %.0f.",
            plan->fit.largest_n, LB_USL_MAX_REACH * plan->fit.largest_n);
}

static const char *arrivals_of(const struct lb_plan *plan)
{
    return plan->question->even ? "evenly spaced" : "random (Poisson)";
}

static void answer_slo(struct lb_plan *plan)
{
    const struct lb_slo *slo = &plan->question->slo;
    char low[32], high[32] = "";
    const char *arrivals = arrivals_of(plan);
    lb_format_count(plan->slo_rate.value, low, sizeof low);
    if (isfinite(plan->slo_rate.interval.high))
        lb_format_count(plan->slo_rate.interval.high, high, sizeof high);
    switch (plan->slo_state) {
    case LB_SLO_FOUND:
        give(add(plan, "slo", LB_PLAN_ANSWERED,
                 "%s holds up to %s/s of %s arrivals with %llu workers: confirmed in %d of %d "
                 "runs; at %s/s it failed.",
                 slo->text, low, arrivals, (unsigned long long)plan->at, LB_PLAN_CONFIRM,
                 LB_PLAN_CONFIRM, high),
             &plan->slo_rate);
        break;
    case LB_SLO_AT_LEAST:
        give(add(plan, "slo", LB_PLAN_REFUSED,
                 "%s holds at %s/s of %s arrivals with %llu workers, and perhaps at more: %s.",
                 slo->text, low, arrivals, (unsigned long long)plan->at, plan->slo_reason),
             &plan->slo_rate);
        break;
    case LB_SLO_NEVER_MET:
        add(plan, "slo", LB_PLAN_MISSED, "%s was never met with %llu workers: %s.", slo->text,
            (unsigned long long)plan->at, plan->slo_reason);
        break;
    case LB_SLO_UNKNOWN:
        add(plan, "slo", LB_PLAN_REFUSED, "How much %s allows is not known: %s.", slo->text,
            plan->slo_reason);
        break;
    case LB_SLO_NOT_ASKED:
    default:
        break;
    }
}

/* --- from the points --- */

static void points_carry(struct lb_plan *plan)
{
    struct lb_estimate rate;
    char text[32], range[80], interval[100];
    if (!lb_plan_points_at(plan, (double)plan->at, &rate)) {
        add(plan, "carry", LB_PLAN_REFUSED,
            "What %llu workers carry was not measured, and the law does not fit: put that number "
            "among --workers.",
            (unsigned long long)plan->at);
        return;
    }
    within(&rate, rates(&rate, range, sizeof range), interval, sizeof interval);
    give(add(plan, "carry", LB_PLAN_ANSWERED, "%llu worker%s carr%s %s/s%s, as measured.",
             (unsigned long long)plan->at, plan->at == 1 ? "" : "s", plan->at == 1 ? "ies" : "y",
             lb_format_count(rate.value, text, sizeof text), interval),
         &rate);
}

static void points_peak(struct lb_plan *plan)
{
    struct lb_estimate rate;
    double n;
    bool is_last;
    char text[32], range[80], interval[100];
    if (!lb_plan_points_peak(plan, &n, &rate, &is_last))
        return;
    within(&rate, rates(&rate, range, sizeof range), interval, sizeof interval);
    give(add(plan, "peak", LB_PLAN_ANSWERED,
             "The most that was measured is %s/s%s, with %.0f worker%s%s.",
             lb_format_count(rate.value, text, sizeof text), interval, n, plural(n),
             is_last ? ", the most that were tried: more may carry more" : ""),
         &rate);
}

static void points_workers(struct lb_plan *plan)
{
    double demand = plan->question->demand_per_s, peak_n;
    struct lb_estimate n, with, without, peak;
    char rate[32], x[32], y[32], fewer[80] = "", range[64], interval[100];
    bool is_last;
    lb_format_count(demand, rate, sizeof rate);
    if (!lb_plan_points_workers(plan, demand, &n)) {
        if (lb_plan_points_peak(plan, &peak_n, &peak, &is_last))
            add(plan, "workers", is_last ? LB_PLAN_REFUSED : LB_PLAN_MISSED,
                "%s/s were not reached: %.0f worker%s carr%s %s/s%s.", rate, peak_n, plural(peak_n),
                peak_n > 1.5 ? "y" : "ies", lb_format_count(peak.value, x, sizeof x),
                is_last ? ", the most that were tried" : ", and more carry less");
        return;
    }
    if (!lb_plan_points_at(plan, n.value, &with))
        return;
    if (n.value > 1.5 && lb_plan_points_at(plan, n.value - 1, &without))
        snprintf(fewer, sizeof fewer, "%.0f carr%s %s/s, ", n.value - 1,
                 n.value > 2.5 ? "y" : "ies", lb_format_count(without.value, x, sizeof x));
    if (isfinite(n.interval.high))
        snprintf(range, sizeof range, "%.0f to %.0f", n.interval.low, n.interval.high);
    else
        snprintf(range, sizeof range, "%.0f, or it is not reached", n.interval.low);
    within(&n, range, interval, sizeof interval);
    give(add(plan, "workers", LB_PLAN_ANSWERED, "%s/s need %.0f worker%s%s: %s%.0f carr%s %s/s.",
             rate, n.value, plural(n.value), interval, fewer, n.value, n.value > 1.5 ? "y" : "ies",
             lb_format_count(with.value, y, sizeof y)),
         &n);
}

/* How many workers the demand needs. */
static void answer_workers(struct lb_plan *plan)
{
    double demand = plan->question->demand_per_s;
    struct lb_estimate n;
    struct lb_error err;
    char rate[32], where[64];
    lb_format_count(demand, rate, sizeof rate);
    if (lb_usl_workers_for(&plan->fit, demand, &n, &err) == 0) {
        give(add(plan, "workers", LB_PLAN_ANSWERED, "%s/s need %.0f worker%s (95 %%: %s).", rate,
                 n.value, plural(n.value), workers(plan, &n, where, sizeof where)),
             &n);
        return;
    }
    bool unreachable = plan->has_peak && demand > plan->peak_x.value;
    add(plan, "workers", unreachable ? LB_PLAN_MISSED : LB_PLAN_REFUSED, "%s.", err.message);
}

/* How many keep the SLO at the demand: as measured, beside what closed loops alone would say. */
static void answer_need(struct lb_plan *plan)
{
    const struct lb_plan_need *need = &plan->need;
    const char *slo = plan->question->slo.text;
    double n = (double)need->workers;
    char rate[32], worst[32], some[64] = "", fewer[400] = "";
    lb_format_count(plan->question->demand_per_s, rate, sizeof rate);
    if (need->workers == 0 && plan->interrupted) {
        add(plan, "workers", LB_PLAN_REFUSED,
            "How many workers keep %s at %s/s is not known: interrupted.", slo, rate);
        return;
    }
    if (need->workers == 0 && need->is_missed) {
        add(plan, "workers", LB_PLAN_MISSED,
            "%s is not kept at %s/s with up to %llu workers, in open loop: %.200s.", slo, rate,
            (unsigned long long)need->most, need->reason);
        return;
    }
    if (need->workers == 0) {
        char kept[64] = "", failed[64] = "";
        if (need->kept > 0)
            snprintf(kept, sizeof kept, "%llu kept it, in %s%d runs; ",
                     (unsigned long long)need->kept, need->is_confirmed ? "" : "fewer than ",
                     LB_PLAN_CONFIRM);
        if (need->failed > 0)
            snprintf(failed, sizeof failed, "%llu did not; ", (unsigned long long)need->failed);
        add(plan, "workers", LB_PLAN_REFUSED,
            "How many workers keep %s at %s/s is not known, with up to %llu: %s%s%.200s.", slo,
            rate, (unsigned long long)need->most, kept, failed, need->reason);
        return;
    }
    if (need->n_fewer_failed < need->n_fewer)
        snprintf(some, sizeof some, " in %llu of %llu", (unsigned long long)need->n_fewer_failed,
                 (unsigned long long)need->n_fewer);
    if (need->workers > 1)
        snprintf(fewer, sizeof fewer, "; %.0f did not%s (%.200s)", n - 1, some, need->reason);
    const struct lb_estimate estimate = {n, {n, n, 0}};
    give(add(plan, "workers", LB_PLAN_ANSWERED,
             "%s/s need %.0f worker%s under %s, measured in open loop with %s arrivals: %.0f kept "
             "it in "
             "%d of %d runs (at most %s)%s.",
             rate, n, plural(n), slo, arrivals_of(plan), n, LB_PLAN_CONFIRM, LB_PLAN_CONFIRM,
             lb_format_ns(need->worst_ns, worst, sizeof worst), fewer),
         &estimate);
}

/* The first answer, beside which the measured one stands. */
static void answer_first(struct lb_plan *plan)
{
    const struct lb_plan_need *need = &plan->need;
    const char *slo = plan->question->slo.text;
    double n = (double)need->first;
    char rate[32], service[32], wait[32];
    if (!need->has_first)
        return;
    lb_format_count(plan->question->demand_per_s, rate, sizeof rate);
    lb_format_ns((uint64_t)(need->service_s * 1e9), service, sizeof service);
    if (need->first == 0) {
        add(plan, "first answer", LB_PLAN_ANSWERED,
            "A job took %s in the first run. By queueing theory (G/G/c), no number of workers up "
            "to %llu keeps %s at %s/s.",
            service, (unsigned long long)need->most, slo, rate);
        return;
    }
    const struct lb_estimate estimate = {n, {n, n, 0}};
    give(add(plan, "first answer", LB_PLAN_ANSWERED,
             "A job took %s in the first run. By queueing theory (G/G/c), %.0f worker%s keep%s %s "
             "at "
             "%s/s (%s).",
             service, n, plural(n), n > 1.5 ? "" : "s", slo, rate,
             lb_format_ns((uint64_t)(need->first_wait_s * 1e9), wait, sizeof wait)),
         &estimate);
}

/* How much is left above the demand: of the rate under the SLO where there is one. */
static void answer_headroom(struct lb_plan *plan)
{
    double demand = plan->question->demand_per_s;
    struct lb_estimate capacity, left;
    char rate[32], whole[32], range[64] = "";
    if (!lb_plan_capacity(plan, &capacity))
        return;
    bool by_slo = plan->slo_state != LB_SLO_NOT_ASKED;
    left.value = 1 - demand / capacity.value;
    left.interval = (struct lb_confidence){
        1 - demand / capacity.interval.low,
        isfinite(capacity.interval.high) ? 1 - demand / capacity.interval.high : 1,
        capacity.interval.coverage};
    if (left.interval.coverage > 0)
        snprintf(range, sizeof range, " (%.0f to %.0f %%)", left.interval.low * 100,
                 left.interval.high * 100);
    lb_format_count(demand, rate, sizeof rate);
    lb_format_count(capacity.value, whole, sizeof whole);
    const char *of = by_slo                              ? "that the SLO allows"
                     : plan->has_peak || plan->by_points ? "of the peak"
                                                         : "of the most workers that were measured";
    if (left.value >= 0)
        give(add(plan, "headroom", LB_PLAN_ANSWERED,
                 "Headroom: %s/s leave %.0f %%%s of the %s/s %s.", rate, left.value * 100, range,
                 whole, of),
             &left);
    else
        give(add(plan, "headroom", LB_PLAN_MISSED,
                 "No headroom: %s/s are %.0f %% more than the %s/s %s.", rate,
                 (demand / capacity.value - 1) * 100, whole, of),
             &left);
}

/* The price of a million jobs at the demand, with the workers that it needs, and of a day. */
static void answer_price(struct lb_plan *plan)
{
    const struct lb_price *price = &plan->question->price;
    const double demand = plan->question->demand_per_s;
    for (size_t i = 0; i < plan->n_answers && price->is_given; i++) {
        const struct lb_plan_answer *need = &plan->answers[i];
        if (strcmp(need->question, "workers") != 0 || !need->has_estimate)
            continue;
        char rate[32], million[32], hour[32], day[32];
        const double n = need->estimate.value, per_h = lb_price_per_h(price, n),
                     amount = lb_price_per_million(price, n, demand);
        const struct lb_estimate estimate = {amount, {amount, amount, 0}};
        give(add(plan, "price", LB_PLAN_ANSWERED,
                 "A million jobs cost %s at %s/s with %.0f worker%s (%s an hour). A day costs %s, "
                 "also without a job.",
                 lb_price_format(amount, million, sizeof million),
                 lb_format_count(demand, rate, sizeof rate), n, plural(n),
                 lb_price_format(per_h, hour, sizeof hour),
                 lb_price_format(per_h * 24, day, sizeof day)),
             &estimate);
        return;
    }
}

static void answer_demand(struct lb_plan *plan)
{
    double demand = plan->question->demand_per_s;
    plan->n_answers = 0;
    if (plan->has_fit) {
        if (plan->by_points) {
            points_carry(plan);
            points_peak(plan);
        } else {
            answer_carry(plan);
            answer_places(plan);
        }
        for (size_t i = 0; i < plan->n_answers; i++)
            plan->answers[i].doubtful = plan->doubts[0] != '\0';
    } else if (lb_plan_sweeps(plan->question)) {
        add(plan, "carry", LB_PLAN_REFUSED, "No curve: %s.", plan->refusal);
    }
    answer_slo(plan);
    if (lb_plan_asks_need(plan->question)) {
        answer_need(plan);
        answer_first(plan);
        if (plan->slo_state == LB_SLO_NOT_ASKED)
            return; /* the most of a closed loop is no measure of what an SLO leaves */
    } else if (demand > 0 && plan->has_fit) {
        size_t first = plan->n_answers;
        if (lb_plan_demand_by_points(plan))
            points_workers(plan);
        else
            answer_workers(plan);
        plan->answers[first].doubtful = plan->doubts[0] != '\0';
    }
    if (demand > 0)
        answer_headroom(plan);
}

void lb_plan_answer(struct lb_plan *plan)
{
    answer_demand(plan);
    answer_price(plan);
}

enum lb_plan_verdict lb_plan_verdict(const struct lb_plan *plan)
{
    /* A demand that cannot be met decides the verdict, even if other questions have no answer. */
    enum lb_plan_verdict worst = LB_PLAN_ANSWERED;
    for (size_t i = 0; i < plan->n_answers; i++) {
        if (plan->answers[i].verdict == LB_PLAN_MISSED)
            return LB_PLAN_MISSED;
        if (plan->answers[i].verdict == LB_PLAN_REFUSED)
            worst = LB_PLAN_REFUSED;
    }
    return worst;
}
