/* Processes that a program has let go: see strays.h.
 *
 * A process that has made itself leader of a session is in no group of ours, and its parent is
 * gone. What it keeps, unless it wants to hide, is the environment that the program was started
 * with. One of another user cannot be looked at, nor killed, and stays.
 */
#include "strays.h"

#include "clock.h"
#include "memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

void lb_stray_mark(char *mark, size_t size)
{
    snprintf(mark, size, "LOCKBENCH_PROGRAM=%ld-%llx", (long)getpid(),
             (unsigned long long)lb_now_ns());
}

char **lb_stray_environment(const char *mark)
{
    size_t n = 0, n_name = strcspn(mark, "=") + 1, used = 0;
    while (environ[n] != NULL)
        n++;
    char **copy = lb_calloc(n + 2, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], mark, n_name) != 0)
            copy[used++] = environ[i];
    copy[used] = (char *)(uintptr_t)mark;
    return copy;
}

/* Is the mark one of the settings? They may be many: they are read in pieces, with the end of the
 * one before kept in front. */
static bool has_mark(int fd, const char *mark)
{
    char text[8192];
    const size_t n_mark = strlen(mark) + 1; /* with the NUL behind it */
    size_t kept = 0;
    for (;;) {
        ssize_t n = read(fd, text + kept, sizeof text - kept);
        if (n <= 0)
            return false;
        size_t have = kept + (size_t)n;
        if (memmem(text, have, mark, n_mark) != NULL)
            return true;
        kept = have < n_mark ? have : n_mark;
        memmove(text, text + have - kept, kept);
    }
}

/* true: one was killed, which may have started another one meanwhile. */
static bool end_some(const char *mark)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool has_ended = false;
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        char path[300];
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid <= 1 || pid == (long)getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (has_mark(fd, mark) && kill((pid_t)pid, SIGKILL) == 0)
            has_ended = true;
        close(fd);
    }
    if (processes != NULL)
        closedir(processes);
    return has_ended;
}

void lb_stray_end(const char *mark)
{
    enum { MOST_ROUNDS = 20, LOOK_US = 1000 };
    for (unsigned i = 0; i < MOST_ROUNDS && end_some(mark); i++)
        usleep(LOOK_US);
}
