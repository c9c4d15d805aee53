/* Stops one thread of a process, and no other, as no signal can: stop_holder PID SECONDS
 *
 * The thread is one that does nothing for a while, as a worker does in a long hold. The first one,
 * which leads the others, is left alone, and so is one that never does anything. Prints "stopped",
 * waits, lets it go on and prints "continued". Exit status 3: this machine does not allow it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST = 256, QUIET_MS = 100, TRIES = 600, FEW = 5 };

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* How often it has waited for something; -1: it is not there. */
static long waits_of(int pid, int tid)
{
    char path[64], line[128];
    long n = -1;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
            n = strtol(line + 24, NULL, 10);
    fclose(file);
    return n;
}

static size_t list(int pid, int *tids)
{
    char path[32];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *directory = opendir(path);
    for (struct dirent *e; directory != NULL && n < MOST && (e = readdir(directory)) != NULL;)
        if (atoi(e->d_name) > 0 && atoi(e->d_name) != pid)
            tids[n++] = atoi(e->d_name);
    if (directory != NULL)
        closedir(directory);
    return n;
}

/* A thread that waits for one thing all the time, and did not before; 0: none does. */
static int find_quiet(int pid)
{
    int tids[MOST];
    long waits[MOST];
    size_t n = list(pid, tids);
    for (size_t i = 0; i < n; i++)
        waits[i] = waits_of(pid, tids[i]);
    sleep_ms(QUIET_MS);
    long most = FEW;
    int tid = 0;
    for (size_t i = 0; i < n; i++)
        if (waits[i] > most && waits_of(pid, tids[i]) == waits[i]) {
            most = waits[i];
            tid = tids[i];
        }
    return tid;
}

int main(int argc, char **argv)
{
    int pid = argc == 3 ? atoi(argv[1]) : 0, tid = 0;
    if (pid <= 0) {
        fputs("usage: stop_holder PID SECONDS\n", stderr);
        return 2;
    }
    for (int i = 0; i < TRIES && tid == 0; i++)
        tid = find_quiet(pid);
    if (tid == 0 || ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0 ||
        ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 || waitpid(tid, NULL, __WALL) != tid) {
        fprintf(stderr, "stop_holder: thread %d: %s\n", tid, strerror(errno));
        return 3;
    }
    puts("stopped");
    fflush(stdout);
    sleep_ms((long)(strtod(argv[2], NULL) * 1000));
    if (ptrace(PTRACE_DETACH, tid, NULL, NULL) != 0)
        return 3;
    puts("continued");
    return 0;
}
