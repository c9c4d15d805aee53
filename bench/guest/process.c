/* A process of a program, and lines to and from it: see guest_process.h. */
#include "guest_process.h"

#include "carrier.h"
#include "clock.h"
#include "memory.h"
#include "order.h"
#include "relay.h"
#include "text_clean.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_END, WRITE_END, ERRORS_ROOM = 1 << 20 };

/* In the child, between fork and exec: only what is allowed there. */
static _Noreturn void become(const char *path, char **environment, const int *in, const int *out,
                             const int *errors, int report, pid_t parent)
{
    char *const argv[] = {(char *)(uintptr_t)path, NULL};
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (int i = 1; i < NSIG; i++) /* SIGPIPE and those of the terminal may be ignored here */
        signal(i, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in[READ_END], STDIN_FILENO) >= 0 && dup2(out[WRITE_END], STDOUT_FILENO) >= 0 &&
        dup2(errors[WRITE_END], STDERR_FILENO) >= 0)
        execve(path, argv, environment);
    int error = errno;
    ssize_t ignored = write(report, &error, sizeof error);
    (void)ignored;
    _exit(127);
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

int lb_guest_spawn(struct lb_guest_process *process, struct lb_error *err)
{
    int fds[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    int *in = fds, *out = fds + 2, *errors = fds + 4, *report = fds + 6, error = 0;
    for (size_t i = 0; i < 8 && error == 0; i += 2)
        error = pipe2(fds + i, O_CLOEXEC) == 0 ? 0 : errno;
    char **environment = lb_stray_environment(process->mark);
    pid_t parent = getpid(), pid = error == 0 ? fork() : -1;
    if (pid == 0)
        become(process->path, environment, in, out, errors, report[WRITE_END], parent);
    int fork_error = errno;
    free(environment);
    if (pid < 0) {
        error = error != 0 ? error : fork_error;
        close_all(fds, 8);
        return lb_fail(err, LB_E_ENV, "%s: cannot start a process: %s", process->path,
                       strerror(error));
    }
    setpgid(pid, pid); /* as the child does: the first one wins */
    close(report[WRITE_END]);
    report[WRITE_END] = -1;
    bool failed = read(report[READ_END], &error, sizeof error) == (ssize_t)sizeof error;
    if (failed) {
        waitpid(pid, NULL, 0);
        close_all(fds, 8);
        return lb_fail(err, LB_E_FILE, "%s: cannot be run: %s", process->path, strerror(error));
    }
    process->pid = pid;
    process->life = pidfd_open(pid, 0); /* -1: its end is seen by its output */
    process->to = in[WRITE_END];
    process->from = out[READ_END];
    process->errors = errors[READ_END];
    in[WRITE_END] = out[READ_END] = errors[READ_END] = -1;
    close_all(fds, 8);
    fcntl(process->to, F_SETFL, O_NONBLOCK);
    fcntl(process->from, F_SETFL, O_NONBLOCK);
    fcntl(process->errors, F_SETFL, O_NONBLOCK);
    fcntl(process->errors, F_SETPIPE_SZ, ERRORS_ROOM); /* it is read between requests only */
    return 0;
}

/* --- standard error ------------------------------------------------------------------------- */

static void take_errors(struct lb_guest_process *process, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n') {
            process->partial[process->n_partial] = '\0';
            if (process->n_partial > 0)
                memcpy(process->last, process->partial, process->n_partial + 1);
            process->n_partial = 0;
        } else if (process->n_partial + 1 < sizeof process->partial) {
            process->partial[process->n_partial++] = text[i];
        }
    }
}

/* false: it has closed it. */
static bool read_errors(struct lb_guest_process *process)
{
    char text[4096];
    ssize_t n;
    while (process->errors >= 0 && (n = read(process->errors, text, sizeof text)) != 0) {
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        take_errors(process, text, (size_t)n);
    }
    return false;
}

static void hide(char *text, const char *secret, size_t n)
{
    if (n < 3) /* shorter ones are in any text */
        return;
    for (char *at = text; (at = memmem(at, strlen(at), secret, n)) != NULL; at += n)
        memset(at, '*', n);
}

void lb_guest_hide(const struct lb_door *door, char *text)
{
    if (door == NULL)
        return;
    /* As it stands in the URI, too: there special characters are written in another way. */
    const char *user = strstr(door->uri, "://");
    const char *at = user != NULL ? strchr(user, '@') : NULL;
    const char *colon = at != NULL ? memchr(user + 3, ':', (size_t)(at - user - 3)) : NULL;
    hide(text, door->password, strlen(door->password));
    if (colon != NULL)
        hide(text, colon + 1, (size_t)(at - colon - 1));
}

void lb_guest_clean(const struct lb_door *door, char *text)
{
    lb_guest_hide(door, text);
    lb_clean_text(text);
}

int lb_guest_fail(struct lb_guest_process *process, int code, const char *what,
                  struct lb_error *err, const char *format, ...)
{
    char said[sizeof process->last], text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    read_errors(process);
    take_errors(process, "\n", 1);
    snprintf(said, sizeof said, "%s", process->last);
    lb_guest_clean(process->door, said);
    lb_guest_clean(process->door, text);
    return lb_fail(err, code, "%s, %s, %s: %s%s%s", process->path, process->who, what, text,
                   said[0] != '\0' ? "; its last line on standard error: " : "", said);
}

/* --- lines ---------------------------------------------------------------------------------- */

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

/* It has closed its output: how has it ended? */
static int fail_ended(struct lb_guest_process *process, const char *what, struct lb_error *err)
{
    enum { PATIENCE_MS = 200 };
    siginfo_t info = {0};
    for (int i = 0; i < PATIENCE_MS && info.si_pid == 0; i++) {
        if (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            break;
        if (info.si_pid == 0)
            usleep(1000);
    }
    if (info.si_pid == 0)
        return lb_guest_fail(process, LB_E_PROGRAM, what, err, "it has closed its standard output");
    return lb_guest_fail(process, LB_E_PROGRAM, what, err, "the program ended with %s %d",
                         info.si_code == CLD_EXITED ? "status" : "signal", info.si_status);
}

/* In a fiber: the others go on until one of them can be read, or deadline_ns passes. */
static void let_others(const struct pollfd *fds, size_t n, uint64_t deadline_ns)
{
    int all = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < n; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        if (fds[i].fd >= 0)
            epoll_ctl(all, EPOLL_CTL_ADD, fds[i].fd, &event);
    }
    lb_carrier_wait_once(all, false, deadline_ns);
    close(all);
}

/* Waits for one of its pipes, and drives its relay. false: not by deadline_ns, or the relay has
 * ended. */
static bool await(struct lb_guest_process *process, bool writing, uint64_t deadline_ns)
{
    enum { FDS = 4 };
    struct lb_relay *relay = process->relay;
    struct pollfd fds[FDS] = {
        {.fd = writing ? process->to : process->from, .events = writing ? POLLOUT : POLLIN},
        {.fd = process->errors, .events = POLLIN},
        {.fd = process->life, .events = POLLIN},
        {.fd = relay != NULL ? lb_relay_fd(relay) : -1, .events = POLLIN}};
    for (;;) {
        if (relay != NULL && !lb_relay_pump(relay))
            return false;
        if (relay != NULL && !writing && lb_carrier_is_here())
            let_others(fds, FDS, lb_min_u64(lb_relay_due_ns(relay), deadline_ns));
        uint64_t now_ns = lb_now_ns();
        uint64_t until_ns =
            relay != NULL ? lb_min_u64(lb_relay_due_ns(relay), deadline_ns) : deadline_ns;
        const struct timespec left = lb_timespec(until_ns > now_ns ? until_ns - now_ns : 0);
        int n = ppoll(fds, FDS, &left, NULL);
        if (n == 0 && until_ns == deadline_ns)
            return false;
        if (fds[1].revents != 0 && !read_errors(process)) {
            close(process->errors);
            process->errors = fds[1].fd = -1;
        }
        if (n > 0 && (fds[0].revents != 0 || fds[2].revents != 0))
            return true;
        for (size_t i = 0; i < FDS; i++)
            fds[i].revents = 0;
    }
}

int lb_guest_send(struct lb_guest_process *process, const json_t *request, uint64_t deadline_ns,
                  const char *what, struct lb_error *err)
{
    char *text = json_dumps(request, JSON_COMPACT);
    if (text == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    size_t n = strlen(text), done = 0;
    int rc = 0;
    text[n++] = '\n'; /* instead of the NUL */
    while (done < n && rc == 0) {
        ssize_t some = write(process->to, text + done, n - done);
        if (some > 0)
            done += (size_t)some;
        else if (errno == EPIPE)
            rc = fail_ended(process, what, err);
        else if (errno != EAGAIN && errno != EINTR)
            rc = lb_guest_fail(process, LB_E_PROGRAM, what, err, "cannot be written to: %s",
                               strerror(errno));
        else if (!await(process, true, deadline_ns))
            rc = lb_guest_fail(process, LB_E_PROGRAM, what, err, "it does not read its requests");
    }
    free(text);
    return rc;
}

static int parse(struct lb_guest_process *process, size_t length, const char *what,
                 json_t **ret_line, struct lb_error *err)
{
    json_error_t why;
    json_t *line = json_loadb(process->text, length, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(line)) {
        *ret_line = line;
        return 0;
    }
    char said[100];
    snprintf(said, sizeof said, "%.*s", (int)(length < 90 ? length : 90), process->text);
    if (line == NULL)
        lb_guest_fail(process, LB_E_FILE, what, err, "its line is no JSON (%s): %s", why.text,
                      said);
    else
        lb_guest_fail(process, LB_E_FILE, what, err, "its line is no JSON object: %s", said);
    json_decref(line);
    return LB_E_FILE;
}

/* Room for one more read. */
static int grow(struct lb_guest_process *process, const char *what, struct lb_error *err)
{
    enum { FIRST = 4096 };
    if (process->n < process->room)
        return 0;
    if (process->room >= LB_GUEST_LINE)
        return lb_guest_fail(process, LB_E_FILE, what, err, "its line is longer than %d bytes",
                             LB_GUEST_LINE);
    process->room = process->room == 0 ? FIRST : process->room * 2;
    process->text = lb_realloc(process->text, process->room, 1);
    return 0;
}

int lb_guest_receive(struct lb_guest_process *process, uint64_t deadline_ns, const char *what,
                     json_t **ret_line, struct lb_error *err)
{
    size_t seen = 0;
    for (;;) {
        char *end =
            process->n > seen ? memchr(process->text + seen, '\n', process->n - seen) : NULL;
        if (end != NULL) {
            size_t length = (size_t)(end - process->text);
            int rc = parse(process, length, what, ret_line, err);
            process->n -= length + 1;
            memmove(process->text, end + 1, process->n);
            return rc;
        }
        seen = process->n;
        int rc = grow(process, what, err);
        if (rc != 0)
            return rc;
        bool is_over = has_ended(process->pid); /* its children may still hold its output */
        ssize_t n = read(process->from, process->text + process->n, process->room - process->n);
        if (n > 0)
            process->n += (size_t)n;
        else if (n == 0 || is_over || (errno != EAGAIN && errno != EINTR))
            return fail_ended(process, what, err);
        else if (!await(process, false, deadline_ns))
            return LB_E_INTERRUPTED; /* the caller knows how long it was */
    }
}

/* --- the end -------------------------------------------------------------------------------- */

void lb_guest_end(struct lb_guest_process *process, uint32_t grace_ms)
{
    enum { LOOK_NS = 1000000 };
    if (process->pid > 0) {
        uint64_t give_up_ns = lb_now_ns() + grace_ms * UINT64_C(1000000);
        close(process->to);
        while (!has_ended(process->pid) && lb_now_ns() < give_up_ns) {
            read_errors(process);
            usleep(LOOK_NS / 1000);
        }
        kill(-process->pid, SIGKILL); /* before it is reaped: the number is still its own */
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        close(process->from);
        if (process->life >= 0)
            close(process->life);
        if (process->errors >= 0)
            close(process->errors);
    }
    free(process->text);
    process->text = NULL;
    process->n = process->room = 0;
    process->pid = 0;
}

int lb_guest_hello(struct lb_guest_process *process, uint32_t start_ms, json_t **ret_hello,
                   struct lb_error *err)
{
    int rc = lb_guest_receive(process, lb_now_ns() + start_ms * UINT64_C(1000000), "start",
                              ret_hello, err);
    if (rc == LB_E_INTERRUPTED)
        rc = lb_guest_fail(process, LB_E_PROGRAM, "start", err,
                           "no first line within %u ms; --opt start_ms=N gives it more", start_ms);
    return rc;
}
