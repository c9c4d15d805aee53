/* The part of a rank that does not lead: see peers/peers.h for who leads. */
#include "clock.h"
#include "faults.h"
#include "intervals.h"
#include "memory.h"
#include "parcel.h"
#include "part.h"
#include "peers.h"
#include "run_parts.h"
#include "settle.h"
#include "skew.h"
#include "warnings.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_NS UINT64_C(100000000)
#define AWAKE_NS    UINT64_C(1500000)
#define EARLY_NS    UINT64_C(300000)
#define SPIN_NS     UINT64_C(500000) /* so soon the next question of a burst comes */
#define IDLE_NS     UINT64_C(1000000000)
enum { NAP_NS = 50000, EVENTS_AT_ONCE = 8000, MOST_SETTINGS = 256 };

/* Where the history has been sent up to. */
struct reading {
    struct lb_history_view view;
    bool has_view;
    size_t log, span, event;
};

struct follower {
    struct lb_link *link;
    struct lb_skew skew;
    struct lb_parcel in, out;
    uint64_t run, patience_ns, heard_ns, awake_ns, told_ns;
    uint64_t asked_ns;                   /* the next question for our clock; 0: not announced */
    uint64_t spin_ns;                    /* until then, and not longer, without sleep */
    uint64_t due_ns[LB_PHASE_ABORT + 1]; /* of phases that were announced; 0: it was not */
    uint64_t wave, epoch, flags;         /* flags: as last reported */
    bool is_unchanged, is_measured, has_failed, is_over, is_lost, is_told_bye;
    struct reading reading;
};

static void send_out(struct follower *f)
{
    lb_parcel_send(&f->out, f->link, 0);
}

static void answer_ping(struct follower *f, uint64_t number)
{
    uint64_t sent_ns = lb_parcel_take_u64(&f->in), n_left = lb_parcel_take_u64(&f->in);
    lb_parcel_begin(&f->out, LB_MSG_PONG, number);
    lb_parcel_put_u64(&f->out, sent_ns);
    lb_parcel_put_u64(&f->out, lb_skew_shown(&f->skew, lb_now_ns()));
    send_out(f);
    uint64_t now_ns = lb_now_ns(), next_ns = lb_parcel_take_u64(&f->in);
    f->awake_ns = n_left > 0 ? now_ns + AWAKE_NS : 0;
    f->spin_ns = n_left > 0 ? now_ns + SPIN_NS : 0;
    f->asked_ns = next_ns > EARLY_NS && !f->in.failed ? now_ns + next_ns - EARLY_NS : 0;
}

/* --- while a run is under way --- */

static bool is_done(const struct lb_active_run *run)
{
    return run->n_started > 0 && lb_common_counted(&run->team->common, LB_ENDED) >= run->n_started;
}

/* The state that others may wait for. */
static uint64_t flags_of(struct lb_active_run *run)
{
    const struct follower *f = run->follower;
    return (f->is_unchanged ? 1U : 0U) | (lb_part_is_emptied(run->team) ? 2U : 0U) |
           (is_done(run) ? 4U : 0U);
}

static void tell_progress(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    f->flags = flags_of(run); /* first: a finished worker has counted all */
    struct lb_elsewhere so_far = {.n_successes = lb_run_successes(run),
                                  .n_refusals = lb_run_refusals(run),
                                  .n_overlaps = lb_live_overlaps(run->live),
                                  .n_faults = atomic_load(&run->team->n_faults),
                                  .n_faults_over = atomic_load(&run->team->n_faults_over)};
    lb_run_waits(run, so_far.sums);
    lb_parcel_begin(&f->out, LB_MSG_PROGRESS, f->run);
    lb_parcel_put(&f->out, &so_far, sizeof so_far);
    lb_parcel_put_u64(&f->out, f->wave);
    lb_parcel_put_u64(&f->out, f->flags);
    send_out(f);
    f->told_ns = lb_now_ns();
}

static void tell_failure(struct follower *f, const struct lb_error *error)
{
    if (f->has_failed)
        return;
    f->has_failed = true;
    lb_parcel_begin(&f->out, LB_MSG_FAILED, f->run);
    lb_parcel_put(&f->out, error, sizeof *error);
    send_out(f);
}

static void tell_ended(struct follower *f)
{
    lb_parcel_begin(&f->out, LB_MSG_ENDED, f->run);
    send_out(f);
}

/* Some events of one log, by the clock that we show. */
static void send_events(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    struct reading *at = &f->reading;
    struct lb_error err;
    if (!at->has_view && run->history != NULL &&
        lb_history_view(run->history, &at->view, &err) == 0)
        at->has_view = true;
    lb_parcel_begin(&f->out, LB_MSG_EVENTS, f->run);
    while (at->has_view && at->log < at->view.n_logs) {
        const struct lb_log_view *log = &at->view.logs[at->log];
        if (at->span == log->n_spans) {
            at->log++;
            at->span = at->event = 0;
            continue;
        }
        const struct lb_span *span = &log->spans[at->span];
        size_t n = span->n - at->event < EVENTS_AT_ONCE ? span->n - at->event : EVENTS_AT_ONCE;
        lb_parcel_put_u64(&f->out, log->number);
        lb_parcel_put_u64(&f->out, n);
        for (size_t i = 0; i < n; i++) {
            struct lb_event event = span->events[at->event + i];
            event.time_ns = lb_skew_shown(&f->skew, event.time_ns);
            lb_parcel_put(&f->out, &event, sizeof event);
        }
        at->event += n;
        if (at->event == span->n) {
            at->span++;
            at->event = 0;
        }
        if (n > 0) {
            send_out(f);
            return;
        }
        lb_parcel_begin(&f->out, LB_MSG_EVENTS, f->run);
    }
    lb_parcel_put_u64(&f->out, !at->has_view || at->view.truncated);
    lb_parcel_put_u64(&f->out, 0);
    send_out(f);
}

static void take_phase(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    uint64_t phase = lb_parcel_take_u64(&f->in), at_ns = lb_parcel_take_u64(&f->in);
    if (phase > LB_PHASE_ABORT)
        return;
    f->due_ns[phase] = phase == LB_PHASE_ABORT ? lb_now_ns() : lb_skew_real(&f->skew, at_ns);
}

static void take_one(struct lb_active_run *run, enum lb_message what, uint64_t number)
{
    struct follower *f = run->follower;
    f->heard_ns = lb_now_ns();
    if (what == LB_MSG_PING)
        answer_ping(f, number);
    if (number != f->run && what != LB_MSG_BYE)
        return;
    if (what == LB_MSG_PHASE)
        take_phase(run);
    if (what == LB_MSG_WAVE) {
        f->wave = lb_parcel_take_u64(&f->in);
        f->is_unchanged = lb_part_wave(run, &f->epoch);
        tell_progress(run);
    }
    if (what == LB_MSG_DRAINED) {
        atomic_store(&run->team->drained, true);
        lb_common_wake(&run->team->common);
    }
    if (what == LB_MSG_ORDER)
        run->n_told++;
    if (what == LB_MSG_PULL)
        send_events(run);
    f->is_over = f->is_over || what == LB_MSG_OVER || what == LB_MSG_BYE;
    f->is_told_bye = f->is_told_bye || what == LB_MSG_BYE;
}

static void enter_phase(struct lb_active_run *run, enum lb_phase phase, uint64_t at_ns)
{
    struct follower *f = run->follower;
    struct lb_team *team = run->team;
    if (run->first_ns == 0)
        run->first_ns = team->schedule_start_ns = at_ns;
    if (phase == LB_PHASE_MEASURE) {
        lb_phases_measure(run, at_ns);
        f->is_measured = true;
        return;
    }
    if (phase > LB_PHASE_MEASURE && lb_team_phase(team) == LB_PHASE_MEASURE)
        lb_phases_measured(run);
    lb_team_raise(team, phase);
}

/* Those that are due, in their order; sleep ends before the next one is due. */
static void enter_phases(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    uint64_t now_ns = lb_now_ns();
    run->wake_ns = 0;
    for (int p = (int)lb_team_phase(run->team) + 1; p <= (int)LB_PHASE_ABORT; p++) {
        uint64_t due_ns = f->due_ns[p];
        if (due_ns == 0)
            continue;
        if (due_ns <= now_ns)
            enter_phase(run, (enum lb_phase)p, due_ns);
        else if (run->wake_ns == 0 || due_ns < run->wake_ns)
            run->wake_ns = due_ns;
    }
}

static void poll(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    struct lb_team *team = run->team;
    enum lb_message what;
    uint32_t from;
    uint64_t number;
    if (f->asked_ns != 0 && lb_now_ns() >= f->asked_ns) {
        f->awake_ns = lb_now_ns() + AWAKE_NS;
        f->asked_ns = 0;
    }
    for (;;) {
        while (lb_parcel_receive(&f->in, f->link, &from, &what, &number))
            take_one(run, what, number);
        uint64_t now_ns = lb_now_ns();
        if (now_ns >= f->awake_ns)
            break;
        /* If no question is due soon, leave the core to the workers. */
        if (now_ns >= f->spin_ns)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    enter_phases(run);
    if (f->asked_ns != 0 && (run->wake_ns == 0 || f->asked_ns < run->wake_ns))
        run->wake_ns = f->asked_ns;
    const struct lb_error *error = lb_team_error(team);
    if (error != NULL)
        tell_failure(f, error);
    if (lb_now_ns() > f->told_ns + PROGRESS_NS || flags_of(run) != f->flags)
        tell_progress(run);
    if (f->is_over)
        lb_team_raise(team, LB_PHASE_ABORT);
    if (lb_now_ns() > f->heard_ns + f->patience_ns && lb_team_phase(team) < LB_PHASE_ABORT) {
        f->is_over = f->is_lost = true;
        lb_team_raise(team, LB_PHASE_ABORT);
    }
}

static bool are_ready(const struct lb_active_run *run)
{
    (void)run;
    return true;
}

/* They may be told to stop, when others have not done their count yet. */
static bool have_ended(const struct lb_active_run *run)
{
    return lb_team_phase(run->team) >= LB_PHASE_STOP;
}

static const struct lb_company company = {poll, are_ready, have_ended};

/* --- one run --- */

/* The run to make, as described by rank 0. The texts belong to the message. */
struct order {
    struct lb_parcel parcel; /* its memory */
    struct lb_scenario all, own;
    struct lb_strategy user;
    struct lb_file *file;
    struct lb_target target;
    struct lb_setting settings[MOST_SETTINGS];
    struct lb_joining joining;
    struct lb_run_plan plan;
    struct lb_share share;
};

static int read_order(struct follower *f, struct order *order, struct lb_error *err)
{
    struct lb_parcel *in = &order->parcel;
    uint32_t n_ranks = (uint32_t)lb_parcel_take_u64(in);
    lb_parcel_take(in, &order->all, sizeof order->all);
    const char *name = lb_parcel_take_text(in);
    bool is_built_in = lb_parcel_take_u64(in) != 0;
    int shape = (int)lb_parcel_take_u64(in);
    const char *text = lb_parcel_take_text(in), *uri = lb_parcel_take_text(in);
    order->joining.space = lb_parcel_take_text(in);
    order->joining.number = (int32_t)lb_parcel_take_u64(in);
    order->joining.next_id = (int64_t)lb_parcel_take_u64(in) + f->link->rank;
    order->plan.seed = lb_parcel_take_u64(in);
    order->plan.record = lb_parcel_take_u64(in) != 0;
    order->plan.n_settings = (size_t)lb_parcel_take_u64(in);
    for (size_t i = 0; i < order->plan.n_settings && i < MOST_SETTINGS; i++) {
        order->settings[i].name = lb_parcel_take_text(in);
        order->settings[i].value = lb_parcel_take_text(in);
    }
    if (in->failed || order->plan.n_settings > MOST_SETTINGS || name == NULL || text == NULL ||
        uri == NULL || order->joining.space == NULL)
        return lb_fail(err, LB_E_INTERNAL, "what rank 0 told to run cannot be read");
    int rc = lb_target_parse(uri, &order->target, err);
    if (rc == 0)
        rc = lb_file_parse(name, text, strlen(text), is_built_in ? shape : -1, &order->file, err);
    if (rc != 0)
        return rc;
    lb_share_scenario(&order->all, f->link->rank, n_ranks, &order->own);
    order->plan.strategy = is_built_in ? lb_strategy_find(name) : &order->user;
    if (!is_built_in)
        lb_strategy_of_file(order->file, &order->user);
    order->plan.file = order->file;
    order->plan.target = &order->target;
    order->plan.scenario = &order->own;
    order->plan.settings = order->settings;
    lb_share_make(&order->all, lb_run_beats(&order->plan), f->link->rank, n_ranks, &order->share);
    return order->plan.strategy != NULL
               ? 0
               : lb_fail(err, LB_E_INTERNAL, "this build has no strategy %s", name);
}

static void send_result(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    struct lb_error err = {0};
    struct lb_part part;
    char *bytes;
    size_t n;
    int rc = lb_run_settle(run, &err);
    lb_run_warn_of_ends(run);
    if (rc != 0) {
        tell_failure(f, &err);
        tell_ended(f);
        return;
    }
    FILE *out = lb_open_memory(&bytes, &n);
    lb_outcome_write(run->outcome, out, &err); /* into memory: it cannot fail */
    lb_close_memory(out);
    lb_part_take(run, &part);
    lb_parcel_begin(&f->out, LB_MSG_RESULT, f->run);
    lb_parcel_put(&f->out, &part, sizeof part);
    lb_parcel_put(&f->out, bytes, n);
    send_out(f);
    free(bytes);
}

/* Works, and then stays until the run is over for all. */
static void work(struct lb_active_run *run)
{
    struct follower *f = run->follower;
    struct lb_team *team = run->team;
    struct lb_error err;
    while (!lb_phases_tick(run, LB_READY, run->n_started, UINT64_MAX) &&
           lb_team_phase(team) < LB_PHASE_ABORT)
        continue;
    if (lb_team_phase(team) < LB_PHASE_ABORT &&
        lb_watchdog_start(&run->watchdog, run->workers, run->n_slots, run->share.first_log + 2,
                          &err) != 0)
        lb_team_fail(team, &err);
    if (lb_team_phase(team) < LB_PHASE_ABORT && lb_faults_start(run, &err) != 0)
        lb_team_fail(team, &err);
    if (lb_team_phase(team) < LB_PHASE_ABORT) {
        lb_parcel_begin(&f->out, LB_MSG_READY, f->run);
        send_out(f);
    }
    while (lb_team_phase(team) < LB_PHASE_STOP)
        lb_phases_tick(run, LB_ENDED, run->n_started, UINT64_MAX);
    if (f->is_measured && run->stop_ns == 0)
        lb_phases_measured(run);
    lb_phases_stop(run);
    if (f->is_measured)
        send_result(run);
    else
        tell_ended(f);
}

static void follow_run(struct follower *f)
{
    struct order *order = lb_calloc(1, sizeof *order);
    struct lb_error err = {0}, ignored;
    struct lb_active_run run = {.company = &company, .follower = f};
    order->parcel = f->in;
    f->in = (struct lb_parcel){0};
    memset(f->due_ns, 0, sizeof f->due_ns);
    f->wave = f->epoch = f->flags = f->told_ns = 0;
    f->is_unchanged = f->is_measured = f->has_failed = f->is_over = false;
    f->reading = (struct reading){0};
    int rc = read_order(f, order, &err);
    run.request = &order->plan;
    run.share = order->share;
    run.joining = &order->joining;
    if (rc == 0) {
        run.outcome = lb_outcome_new(run.request);
        rc = lb_run_set_up(&run, &err);
    }
    if (rc == 0)
        rc = lb_run_start_workers(&run, &err);
    if (rc != 0)
        tell_failure(f, &err);
    f->heard_ns = lb_now_ns();
    if (run.n_started > 0)
        work(&run);
    else
        tell_ended(f);
    while (run.team != NULL && !f->is_over)
        lb_phases_tick(&run, LB_ENDED, UINT32_MAX, UINT64_MAX);
    if (f->reading.has_view)
        lb_history_release(&f->reading.view);
    if (run.outcome != NULL) {
        lb_run_clean_up(&run, &ignored);
        lb_run_release(&run);
        lb_outcome_free(run.outcome);
    }
    lb_file_free(order->file);
    lb_target_release(&order->target);
    lb_parcel_release(&order->parcel);
    free(order);
}

int lb_follow(struct lb_link *link, struct lb_error *err)
{
    struct follower f = {.link = link, .patience_ns = lb_peers_patience_ns()};
    enum lb_message what;
    uint32_t from;
    uint64_t number, busy_ns = lb_now_ns();
    if (lb_skew_read(&f.skew, link->rank) != 0)
        return lb_fail(err, LB_E_USAGE, "LOCKBENCH_TEST_CLOCKS cannot be read");
    lb_peers_introduce(&f.out);
    send_out(&f);
    while (!f.is_lost && !f.is_told_bye) {
        if (!lb_parcel_receive(&f.in, link, &from, &what, &number)) {
            /* A rank that has nothing to do leaves the machine to those that have. */
            bool is_idle = lb_now_ns() > busy_ns + IDLE_NS;
            if (lb_now_ns() > f.awake_ns)
                nanosleep(&(struct timespec){.tv_nsec = is_idle ? 20000000 : 1000000}, NULL);
            continue;
        }
        if (what == LB_MSG_PING)
            answer_ping(&f, number);
        if (what == LB_MSG_BYE)
            break;
        if (what == LB_MSG_RUN) {
            f.run = number;
            follow_run(&f);
            busy_ns = lb_now_ns();
        }
    }
    lb_parcel_release(&f.in);
    lb_parcel_release(&f.out);
    return f.is_lost
               ? lb_fail(err, LB_E_RANK, "rank 0 was not heard of: it was killed, or stands still")
               : 0;
}
