/* Workers in forked processes.
 *
 * SQLite's locks belong to a process, and only a process can be killed or stopped. The team, the
 * workers, their histograms and the history are in shared memory, so a child only has to run
 * its workers' threads; the parent leads it through the team's phase and learns of its death
 * from wait().
 *
 * No connection may be open while a process forks: SQLite keeps its file locks in tables that a
 * child would inherit without owning the locks (see "How to corrupt an SQLite database file", 2.6).
 * So the control session is closed before and opened again after.
 */
#include "run_parts.h"

#include "beater.h"
#include "memory.h"
#include "starved.h"
#include "stops.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct lb_process {
    pid_t pid; /* 0: reaped */
    struct lb_stops stops;
};

/* Worker i runs in the process i modulo the scenario's processes; one that replaces a killed worker
 * has a process of its own. */
static bool runs_in(const struct lb_active_run *run, uint32_t slot, uint32_t i)
{
    uint32_t first = (uint32_t)run->request->scenario->processes;
    return slot < first ? i < run->n_workers && i % first == slot
                        : i == run->n_workers + slot - first;
}

static bool all_ended(const struct lb_active_run *run, uint32_t slot)
{
    for (uint32_t i = 0; i < run->n_slots; i++)
        if (runs_in(run, slot, i) && !atomic_load(&run->workers[i].ended))
            return false;
    return true;
}

/* Of the workers of one process; see runs_in. */
static struct lb_beater *start_beater(struct lb_active_run *run, uint32_t slot)
{
    uint32_t n_first = (uint32_t)run->request->scenario->processes;
    bool is_first = slot < n_first;
    uint32_t first = is_first ? slot : run->n_workers + slot - n_first;
    struct lb_beater *beater = NULL;
    struct lb_error err = {0};
    if (is_first && slot >= run->n_workers) /* more processes than workers: it has none */
        return NULL;
    if (lb_beater_start(run->workers, first, is_first ? n_first : run->n_slots,
                        is_first ? run->n_workers : run->n_slots,
                        run->share.first_log + LB_EXTRA_LOGS + 1 + first, &beater, &err) != 0)
        lb_team_fail(run->team, &err);
    return beater;
}

/* The whole life of a child. */
static _Noreturn void child_main(struct lb_active_run *run, uint32_t slot, pid_t parent)
{
    enum { PATIENCE_NS = 100000000 };
    struct lb_team *team = run->team;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    /* Ctrl-C reaches the whole group; the parent decides what it means. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    struct lb_error err;
    for (uint32_t i = 0; i < run->n_slots; i++) {
        if (runs_in(run, slot, i))
            lb_worker_late(&run->workers[i], run->processes[slot].stops.looked_ns);
        if (runs_in(run, slot, i) && lb_worker_start(&run->workers[i], &err) != 0) {
            lb_team_fail(team, &err);
            _exit(1);
        }
    }
    struct lb_beater *beater = start_beater(run, slot);
    for (;;) {
        uint32_t seen = lb_common_seen(&team->common);
        if (all_ended(run, slot))
            break;
        lb_common_wait(&team->common, seen, lb_now_ns() + PATIENCE_NS);
        if (lb_team_phase(team) < LB_PHASE_ABORT)
            continue;
        for (uint32_t i = 0; i < run->n_slots; i++)
            if (runs_in(run, slot, i))
                lb_worker_cancel(&run->workers[i]);
    }
    for (uint32_t i = 0; i < run->n_slots; i++)
        if (runs_in(run, slot, i))
            pthread_join(run->workers[i].thread, NULL);
    lb_beater_end(beater);
    _exit(0);
}

static int start_process(struct lb_active_run *run, uint32_t slot, struct lb_error *err)
{
    pid_t parent = getpid();
    fflush(NULL); /* buffered output must not be written twice */
    run->processes[slot].stops.looked_ns = lb_now_ns();
    pid_t pid = fork();
    if (pid == 0)
        child_main(run, slot, parent);
    if (pid < 0)
        return lb_fail(err, LB_E_ENV, "cannot fork process %u: %s: see ulimit -u", slot + 1,
                       strerror(errno));
    run->processes[slot].pid = pid;
    return 0;
}

/* A worker that has no process will never count itself. */
static void count_absent(struct lb_active_run *run, struct lb_worker *worker)
{
    if (!atomic_exchange(&worker->ready, true))
        lb_common_count(&run->team->common, LB_READY);
    if (!atomic_exchange(&worker->ended, true))
        lb_common_count(&run->team->common, LB_ENDED);
}

int lb_processes_start(struct lb_active_run *run, struct lb_error *err)
{
    uint32_t first = (uint32_t)run->request->scenario->processes;
    run->processes = lb_calloc(first + run->n_slots - run->n_workers, sizeof *run->processes);
    if (run->has_control && run->control.db->in_process) {
        lb_session_close(&run->control);
        run->has_control = false;
        run->control_closed = true;
    }
    int rc = 0;
    for (; run->n_processes < first && rc == 0; run->n_processes += rc == 0)
        rc = start_process(run, run->n_processes, err);
    run->n_started = run->n_workers;
    if (rc != 0)
        lb_team_raise(run->team, LB_PHASE_ABORT);
    for (uint32_t slot = run->n_processes; slot < first; slot++)
        for (uint32_t i = 0; i < run->n_workers; i++)
            if (runs_in(run, slot, i))
                count_absent(run, &run->workers[i]);
    return rc;
}

/* A worker's process is gone before the worker had ended: it died with it. */
static void bury_worker(struct lb_active_run *run, struct lb_worker *worker, int status)
{
    worker->died = true;
    worker->death_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    worker->died_ns = lb_now_ns();
    lb_worker_waits(worker, 0);
    if (run->history != NULL && !atomic_load(&worker->dying)) {
        /* Not by its own hand: the note of its death is ours. */
        uint32_t process = run->share.first_log;
        lb_note_append(&run->control_log, process, LB_OP_DEATH, 0, worker->number, 0);
        lb_note_append(&run->control_log, process, LB_OP_SESSION_END, 0, worker->number, 0);
    }
    count_absent(run, worker);
}

/* A new worker takes the seat of one that was killed, or stopped, by order. */
static void replace_worker(struct lb_active_run *run, const struct lb_worker *dead)
{
    struct lb_error err;
    bool is_ordered = atomic_load(&dead->dying) || atomic_load(&dead->is_stopping);
    if (!is_ordered || run->n_started == run->n_slots || lb_team_phase(run->team) >= LB_PHASE_STOP)
        return;
    struct lb_worker *fresh = &run->workers[run->n_started];
    fresh->role = dead->role;
    fresh->seat = dead->seat;
    run->n_started++;
    atomic_fetch_add(&run->team->n_successors, 1);
    if (start_process(run, run->n_processes, &err) != 0) {
        count_absent(run, fresh);
        lb_team_fail(run->team, &err);
        return;
    }
    run->n_processes++;
}

static void bury(struct lb_active_run *run, uint32_t slot, int status)
{
    run->processes[slot].pid = 0;
    uint32_t n_started = run->n_started;
    for (uint32_t i = 0; i < n_started; i++) {
        struct lb_worker *worker = &run->workers[i];
        if (!runs_in(run, slot, i))
            continue;
        bool has_ended = atomic_load(&worker->ended);
        if (!has_ended)
            bury_worker(run, worker, status);
        if (!has_ended || atomic_load(&worker->is_stopping))
            replace_worker(run, worker);
    }
    lb_common_wake(&run->team->common);
}

/* Continues what a fault has stopped, once its time is over. */
static void resume(struct lb_active_run *run, uint32_t slot, bool now)
{
    for (uint32_t i = 0; i < run->n_started; i++) {
        struct lb_worker *worker = &run->workers[i];
        uint64_t resume_ns = atomic_load(&worker->resume_ns);
        if (!runs_in(run, slot, i) || resume_ns == 0 || (!now && lb_now_ns() < resume_ns))
            continue;
        atomic_store(&worker->resume_ns, 0);
        run->processes[slot].stops.is_resumed = true;
        kill(run->processes[slot].pid, SIGCONT);
    }
}

/* Has a fault stopped it, on purpose? */
static bool is_in_fault(const struct lb_active_run *run, uint32_t slot)
{
    for (uint32_t i = 0; i < run->n_started; i++)
        if (runs_in(run, slot, i) && atomic_load(&run->workers[i].resume_ns) != 0)
            return true;
    return false;
}

/* Notes the state of a process: if another program has stopped it, none of its workers could go on.
 */
static void look(struct lb_active_run *run, uint32_t slot, uint64_t now_ns, enum lb_stop_seen seen)
{
    struct lb_stops *stops = &run->processes[slot].stops;
    uint64_t since_ns = lb_stops_look(stops, now_ns, seen, is_in_fault(run, slot));
    for (uint32_t i = 0; i < run->n_started && since_ns != 0; i++)
        if (runs_in(run, slot, i))
            lb_worker_starved(&run->workers[i], since_ns);
}

void lb_processes_watch(struct lb_active_run *run)
{
    for (uint32_t slot = 0; slot < run->n_processes; slot++) {
        pid_t pid = run->processes[slot].pid;
        if (pid <= 0)
            continue;
        resume(run, slot, false);
        int status;
        uint64_t now_ns = lb_now_ns(); /* before it is looked at: it may be stopped at once */
        bool is_news = waitpid(pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == pid;
        bool has_ended = is_news && !WIFSTOPPED(status) && !WIFCONTINUED(status);
        look(run, slot, now_ns,
             !is_news             ? LB_STOP_SAME
             : has_ended          ? LB_STOP_ENDED
             : WIFSTOPPED(status) ? LB_STOP_STOPPED
                                  : LB_STOP_CONTINUED);
        if (has_ended)
            bury(run, slot, status);
    }
}

/* They do not end, and lockbench is about to kill them itself. */
static void give_up(struct lb_active_run *run, uint32_t slot)
{
    for (uint32_t i = 0; i < run->n_started; i++)
        if (runs_in(run, slot, i) && !atomic_load(&run->workers[i].ended))
            run->workers[i].is_given_up = true;
}

void lb_processes_end(struct lb_active_run *run, bool kill_now)
{
    for (uint32_t slot = 0; slot < run->n_processes; slot++) {
        pid_t pid = run->processes[slot].pid;
        if (pid <= 0)
            continue;
        resume(run, slot, true);
        if (kill_now) {
            give_up(run, slot);
            kill(pid, SIGKILL);
        }
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        look(run, slot, lb_now_ns(), LB_STOP_ENDED);
        bury(run, slot, status);
    }
}
