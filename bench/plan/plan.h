/* Capacity: how much a number of workers carries, how many a demand needs, how much is left.
 *
 * Two measurements, each of many runs:
 *   sweep   closed loop: every worker asks again as soon as it can. Throughput over the number of
 *           workers, fitted to the Universal Scalability Law (usl.h).
 *   search open loop: arrivals come whether or not a worker is free. The highest rate at which a
 *           percentile of the time from arrival to grant stays below a bound (the SLO).
 *
 * This module decides which runs to make; the lab makes them. The command line's lab calls lb_run,
 * the lab of the tests simulates. Nothing here prints.
 */
#ifndef LB_PLAN_H
#define LB_PLAN_H

#include "price.h"
#include "run.h"
#include "usl.h"

enum {
    LB_PLAN_LEVELS = 64,   /* numbers of workers in a sweep, at most */
    LB_PLAN_TRIALS = 64,   /* of one search, at most */
    LB_PLAN_BAND = 48,     /* reported points of the fitted curve, at most */
    LB_PLAN_ANSWERS = 9,   /* at most */
    LB_PLAN_CONFIRM = 3,   /* longer runs that confirm the rate that a search found */
    LB_PLAN_ADDED = 6,     /* numbers of workers that are measured besides, at most */
    LB_PLAN_SAMPLES = 1000 /* of the bootstrap */
};

struct lb_slo {
    char text[32];   /* "p99<50ms" */
    double quantile; /* 0.99 */
    uint64_t bound_ns;
};
/* Parses "p99<50ms", "p99.9<1s". LB_E_USAGE says what is accepted. */
int lb_slo_parse(const char *text, struct lb_slo *ret, struct lb_error *err);

/* The questions. The same for all plans of one invocation. */
struct lb_plan_question {
    uint64_t levels[LB_PLAN_LEVELS]; /* numbers of workers, ascending */
    size_t n_levels;
    uint64_t n_repeat;    /* runs at each, at least */
    uint64_t most_repeat; /* at most, where they differ; not above n_repeat: no more */
    uint64_t budget_ns;   /* that a plan may take for more of them */
    bool has_slo;
    struct lb_slo slo;
    double demand_per_s;   /* 0: none */
    uint64_t at;           /* workers that the answers are for; 0: nearest to the peak */
    struct lb_price price; /* with a demand only */
    bool even;             /* arrivals evenly spaced, not at random (Poisson) */
    uint64_t seed;
};
/* Refuses questions that need no measurement to be refused. Returns 0 or LB_E_USAGE. */
int lb_plan_check(const struct lb_plan_question *question, struct lb_error *err);

/* One run of the sweep. */
struct lb_plan_point {
    uint64_t workers;
    uint64_t round;               /* of the sweep, from 0 */
    const struct lb_outcome *run; /* the lab's */
    uint64_t took_ns;             /* with its set-up and its verdict */
    bool valid;                   /* it counts in the fit */
    bool drifts;                  /* throughput rose or fell by more than 10 % during the run */
    char reason[200];             /* of an invalid one */
};

enum lb_trial_phase { LB_TRIAL_FIRST, LB_TRIAL_BRACKET, LB_TRIAL_BISECT, LB_TRIAL_CONFIRM };
const char *lb_trial_phase_name(enum lb_trial_phase phase);

/* One run of the search. ok: the SLO held, at least 99 % of the arrivals were served, at most 1 %
 * of the operations failed, and the backlog did not grow. */
struct lb_trial {
    enum lb_trial_phase phase;
    double rate_per_s;
    const struct lb_outcome *run;
    uint64_t latency_ns;   /* the SLO's percentile; UINT64_MAX: too few samples */
    double achieved;       /* share of the arrivals that were served, but for those in flight */
    double errors;         /* share of the operations that failed */
    double backlog_growth; /* arrivals per second that were left over, as a share of the rate */
    bool ok, valid;
    char reason[200]; /* why it is not ok, or not valid */
};

enum lb_slo_state {
    LB_SLO_NOT_ASKED,
    LB_SLO_FOUND,     /* rate: confirmed; interval: up to the lowest rate that failed */
    LB_SLO_AT_LEAST,  /* confirmed, but no higher rate could be measured: reason */
    LB_SLO_NEVER_MET, /* not even at the lowest rate that was tried */
    LB_SLO_UNKNOWN    /* interrupted, or the trials were invalid: reason */
};
const char *lb_slo_state_name(enum lb_slo_state state);

enum lb_plan_verdict {
    LB_PLAN_ANSWERED,
    LB_PLAN_MISSED,  /* the answer is no: the demand cannot be carried, the SLO is not met */
    LB_PLAN_REFUSED, /* the measurement does not allow an answer: reason */
};
const char *lb_plan_verdict_name(enum lb_plan_verdict verdict);

struct lb_plan_answer {
    const char *question; /* "carry", "knee", "peak", "slo", "workers", "headroom" */
    enum lb_plan_verdict verdict;
    bool doubtful;     /* answered, but see the plan's doubts */
    char text[500];    /* a sentence */
    bool has_estimate; /* of the requested quantity; headroom: share of the capacity */
    struct lb_estimate estimate;
};

/* How many workers keep the SLO at the demand, measured in an open loop. */
struct lb_plan_need {
    bool is_asked;
    bool has_first;      /* the first answer, from one run: see lb_plan_first_answer */
    uint64_t first;      /* by it; 0: no number that may be tried */
    double claim_s;      /* the time of a claim, */
    double service_s;    /* ... and of a whole job, in that run */
    double service_scv;  /* its variance as a share of the squared mean */
    double first_wait_s; /* the SLO's percentile with the first answer, or with the most workers */
    uint64_t workers;    /* keep it in LB_PLAN_CONFIRM runs, and one fewer did not; 0: none found */
    uint64_t most;       /* the largest number that may be tried */
    uint64_t kept;       /* without an answer: kept it in one run at least; 0: none, */
    bool is_confirmed;   /* ... and in LB_PLAN_CONFIRM runs, */
    uint64_t failed;     /* ... and the largest number that did not; 0: none */
    bool is_missed;      /* not even `most` keep it */
    char reason[300];    /* why none was found, or how one fewer failed; "" */
    uint64_t worst_ns;   /* the SLO's percentile in the worst of the runs that confirm it */
    uint64_t n_fewer, n_fewer_failed; /* valid runs of one worker fewer, and those that missed it */
};

/* The capacity of one strategy on one engine under one scenario. */
struct lb_plan {
    const struct lb_plan_question *question;
    char strategy[96], engine[32];
    struct lb_scenario scenario;  /* without workers and rate */
    struct lb_plan_point *points; /* owned, in the order in which they were run */
    size_t n_points;
    bool interrupted;

    bool has_fit;
    struct lb_usl_fit fit;
    char refusal[300]; /* why there is no fit */
    char doubts[500];  /* reasons to doubt the answers; "": none */
    bool by_points;    /* the law does not fit: the answers come from the measured points */
    char misfit[200];  /* how far the law is off, then */
    struct {
        double workers;
        struct lb_estimate rate;
    } band[LB_PLAN_BAND];
    size_t n_band;
    bool has_knee, has_peak;
    struct lb_estimate knee_n, knee_x, peak_n, peak_x;

    uint64_t at; /* workers of the search and of the answers; 0: not known yet */
    enum lb_slo_state slo_state;
    struct lb_trial *trials; /* owned */
    size_t n_trials;
    struct lb_estimate slo_rate;
    char slo_reason[300];
    struct lb_plan_need need;

    struct lb_plan_answer answers[LB_PLAN_ANSWERS];
    size_t n_answers;
};

/* Runs one scenario for a plan. *ret_run belongs to the lab and lives as long as it does.
 * LB_E_INTERRUPTED ends all; any other error ends the plan that it is for. */
struct lb_lab {
    void *arg;
    int (*measure)(void *arg, const struct lb_plan *plan, const struct lb_scenario *scenario,
                   const struct lb_outcome **ret_run, struct lb_error *err);
    /* Waits until the server is quiet after an overload. May be NULL. */
    void (*rest)(void *arg);
};

/* A thread for each session, unless the scenario says how many: the points of one curve must not
 * differ in how they are carried, as they would if that were chosen for each. */
void lb_plan_give_threads(struct lb_scenario *scenario);
/* The scenario of a point of the sweep. */
void lb_plan_point_scenario(const struct lb_plan *plan, uint64_t workers, struct lb_scenario *ret);

/* The scenario is copied. Release with lb_plan_release. */
void lb_plan_init(struct lb_plan *plan, const struct lb_plan_question *question,
                  const char *strategy, const char *engine, const struct lb_scenario *scenario);
void lb_plan_release(struct lb_plan *plan);

/* Runs the sweeps of all plans, interleaved: every point of every plan once, in random order, then
 * all of them again, so that a slow minute of the machine falls on all alike. Plans whose runs fail
 * keep the reason as their refusal. 0, or LB_E_INTERRUPTED: plans are marked, measurements are
 * kept. */
int lb_plan_sweep(struct lb_plan *plans, size_t n, const struct lb_lab *lab, struct lb_error *err);
/* Runs numbers of workers again whose throughput is not known well yet, all plans in turns, while
 * there is time. refined: the points that decide the demand were measured (lb_plan_refine), so no
 * time is reserved for them. 0, LB_E_INTERRUPTED or LB_E_MEMORY. */
int lb_plan_repeat(struct lb_plan *plans, size_t n, bool refined, const struct lb_lab *lab,
                   struct lb_error *err);
/* Fits what was measured: fit, band, knee, peak, at. */
void lb_plan_fit(struct lb_plan *plan);
/* Measures the numbers of workers on which the answer to the demand hangs, LB_PLAN_ADDED at most.
 * Fit again after it. 0, LB_E_INTERRUPTED or LB_E_MEMORY. */
int lb_plan_refine(struct lb_plan *plan, const struct lb_lab *lab, struct lb_error *err);
/* Makes one more run with this number of workers. An error of this plan alone is kept as its
 * refusal. */
int lb_plan_measure(struct lb_plan *plan, uint64_t workers, uint64_t round,
                    const struct lb_lab *lab, struct lb_error *err);
/* True if the question is how many workers keep the SLO at the demand. */
bool lb_plan_asks_need(const struct lb_plan_question *question);
/* True if closed loops answer something: false where only the need is asked. */
bool lb_plan_sweeps(const struct lb_plan_question *question);
/* The scenario of the run that the first answer is from, and its number of workers. */
void lb_plan_first_scenario(const struct lb_plan *plan, struct lb_scenario *ret);
uint64_t lb_plan_first_workers(const struct lb_plan *plan);
/* Fills the need's first answer from that run. */
void lb_plan_first_answer(struct lb_plan *plan, const struct lb_outcome *run);
/* With an SLO: searches the number of workers that the demand needs, if there is one, and the rate
 * of the SLO, if there is no demand or `at` says with how many workers. 0 or LB_E_INTERRUPTED, with
 * what is known. */
int lb_plan_search(struct lb_plan *plan, const struct lb_lab *lab, struct lb_error *err);
/* Puts it all into words. */
void lb_plan_answer(struct lb_plan *plan);
/* The mean throughput of the valid runs with a number of workers; 0: there is none. */
double lb_plan_mean_at(const struct lb_plan *plan, uint64_t workers);
/* From the measured points: the throughput of a number of workers, the fewest workers that reach a
 * rate, and the point of the highest throughput (and if it is the largest measured number). False:
 * not known, or outside the measured range.
 */
bool lb_plan_points_at(const struct lb_plan *plan, double workers, struct lb_estimate *ret_rate);
bool lb_plan_points_workers(const struct lb_plan *plan, double rate, struct lb_estimate *ret_n);
/* The same without an interval; INFINITY: not known. */
double lb_plan_points_need(const struct lb_plan *plan, double rate);
bool lb_plan_points_peak(const struct lb_plan *plan, double *ret_n, struct lb_estimate *ret_rate,
                         bool *ret_is_last);
/* Is the answer to the demand from the points? Where they reach it, where the law says that they
 * should have, and where the law does not fit. Has a fit. */
bool lb_plan_demand_by_points(const struct lb_plan *plan);
/* The worst verdict of its answers. */
enum lb_plan_verdict lb_plan_verdict(const struct lb_plan *plan);

/* The share of the arrivals of an open loop that were served, or can still be under way. */
double lb_trial_served(const struct lb_outcome *run);
#define LB_TRIAL_SERVED 0.99 /* a load is carried if at least this share is served */
/* Judges one trial by the SLO: fills all of it but phase, rate and run. */
void lb_trial_judge(struct lb_trial *trial, const struct lb_slo *slo);

/* The capacity of a plan: the rate of the SLO if one is requested, else the peak, or the throughput
 * of the largest measured number of workers. False: not known. */
bool lb_plan_capacity(const struct lb_plan *plan, struct lb_estimate *ret_rate);

/* --- which of several? --- */

/* Up to this demand, take this plan's strategy. */
struct lb_plan_choice {
    double up_to_per_s;
    const struct lb_plan *plan;
    double workers; /* that it needs for that */
    bool clear;     /* of the last row: no other one carries as much, even by its interval */
};
/* Rows in ascending order of demand, of the plans usable[i]; returns how many. At each demand the
 * one that needs the fewest workers; one is kept while it needs no more than a quarter and one
 * more. */
size_t lb_plan_choose(const struct lb_plan *plans, const bool *usable, size_t n,
                      struct lb_plan_choice *ret, size_t room);

#endif
