/* The fault that stops the server at once and starts it again.
 *
 * Only the user knows how to do that, and gives the command. It is refused if another user has a
 * session on the server, before the run and before each restart: their work would be cut off as
 * well. That the command restarted this server, and not another, is seen by our own session: it
 * must be lost.
 */
#include "restart.h"

#include "fault_kind.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { COMMAND_S = 300, BACK_S = 30 };

static int check(const struct lb_run_plan *plan, struct lb_error *err)
{
    if (plan->restart_command == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "fault restart needs --restart-command, which stops and starts the server "
                       "of -d: a private one only");
    return 0;
}

int lb_restart_private(struct lb_session *session, enum lb_fault fault, const char *label,
                       struct lb_error *err)
{
    uint64_t n = 0;
    int rc = session->db->strangers(session->conn, &n, err);
    if (rc == 0 && n > 0)
        rc = lb_fail(err, LB_E_UNSUPPORTED,
                     "fault %s is for private servers: %s has %llu session%s of others",
                     lb_fault_name(fault), label, (unsigned long long)n, n == 1 ? "" : "s");
    return rc;
}

/* In a process group of its own: stopping the run does not stop the server half-way. */
static int spawn(const char *command, char *const *environment, pid_t *ret_pid)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(ret_pid, "/bin/sh", &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Ours, and STEP before it. */
static char **environment_with(char *step)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **copy = lb_calloc(n + 2, sizeof *copy);
    copy[0] = step;
    for (size_t i = 0, to = 1; i < n; i++)
        if (strncmp(environ[i], "STEP=", 5) != 0)
            copy[to++] = environ[i];
    return copy;
}

int lb_restart_run_command(const char *name, const char *command, const char *step,
                           struct lb_error *err)
{
    pid_t pid;
    char variable[40];
    snprintf(variable, sizeof variable, "STEP=%s", step != NULL ? step : "");
    char **environment = environment_with(variable);
    int status = 0, error = spawn(command, environment, &pid);
    free(environment);
    if (error != 0)
        return lb_fail(err, LB_E_ENV, "cannot run the %s command: %s", name, strerror(error));
    uint64_t give_up_ns = lb_now_ns() + COMMAND_S * UINT64_C(1000000000);
    pid_t gone;
    while ((gone = waitpid(pid, &status, WNOHANG)) == 0 || (gone < 0 && errno == EINTR)) {
        if (lb_now_ns() > give_up_ns) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return lb_fail(err, LB_E_ENV, "the %s command did not end within %d s: %s", name,
                           COMMAND_S, command);
        }
        usleep(2000);
    }
    if (gone < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return lb_fail(err, LB_E_ENV, "the %s command failed (%s %d%s%s): %s", name,
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                       step != NULL ? ", step " : "", step != NULL ? step : "", command);
    return 0;
}

int lb_restart_come_back(struct lb_session *session, struct lb_team *team, struct lb_error *err)
{
    uint64_t give_up_ns = lb_now_ns() + BACK_S * UINT64_C(1000000000);
    int rc;
    while ((rc = lb_session_reconnect(session, err)) != 0)
        if (lb_now_ns() > give_up_ns || !lb_team_wait(team, lb_now_ns() + 50000000, LB_PHASE_ABORT))
            break;
    return rc;
}

/* The programs lose their sessions, and may not outlive that. */
static void cut_off_programs(struct lb_active_run *run)
{
    for (uint32_t i = 0; i < run->n_started; i++)
        atomic_fetch_add(&run->workers[i].actor.n_cuts, 1);
}

static int restart(struct lb_active_run *run, struct lb_session *session, struct lb_log *log,
                   struct lb_error *err)
{
    struct lb_team *team = run->team;
    const char *label = run->request->target->label;
    int rc = lb_restart_private(session, LB_FAULT_RESTART, label, err);
    if (rc != 0)
        return rc;
    atomic_fetch_add(&team->n_faults, 1);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_RESTART, UINT32_MAX, 0);
    cut_off_programs(run);
    rc = lb_restart_run_command("restart", run->request->restart_command, NULL, err);
    if (rc == 0 && team->db->run(session->conn, "SELECT 1", err) == LB_OK)
        rc = lb_fail(err, LB_E_USAGE, "the restart command has not restarted %s: %s", label,
                     run->request->restart_command);
    if (rc == 0)
        rc = lb_restart_come_back(session, team, err);
    atomic_fetch_add(&team->n_faults_over, 1);
    lb_note_append(log, run->share.first_log + 1, LB_OP_FAULT, LB_FAULT_RESTART, UINT32_MAX, 1);
    return rc;
}

static bool suits(const struct lb_db *db)
{
    return db != NULL && db->strangers != NULL;
}

const struct lb_fault_kind lb_fault_restart = {
    .suits = suits,
    .check = check,
    .inject_outside = restart,
    .lock_keys = "fault-interval=800ms fault-count=2 duration=5s",
    .queue_keys = "fault-interval=800ms fault-count=2 duration=5s hold=20ms"};
