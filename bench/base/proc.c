/* Other processes of this machine: see proc.h. */
#include "proc.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

pid_t lb_proc_peer(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    return fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

/* What /proc/PID/stat says; times in clock ticks. */
struct stat_line {
    char name[64];
    long parent;
    unsigned long long user, system, children_user, children_system;
};

static bool read_stat(pid_t pid, struct stat_line *ret)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = pid > 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    /* The name may hold anything, parentheses too. */
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (open == NULL || close == NULL || close < open)
        return false;
    snprintf(ret->name, sizeof ret->name, "%.*s", (int)(close - open - 1), open + 1);
    return sscanf(close + 1, " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
                  &ret->parent, &ret->user, &ret->system, &ret->children_user,
                  &ret->children_system) == 5;
}

pid_t lb_proc_parent(pid_t pid)
{
    struct stat_line line;
    return read_stat(pid, &line) ? (pid_t)line.parent : 0;
}

bool lb_proc_is(pid_t pid, const char *name)
{
    struct stat_line line;
    return read_stat(pid, &line) && strcmp(line.name, name) == 0;
}

double lb_proc_cpu_ns(pid_t pid)
{
    struct stat_line line;
    char path[64];
    long child;
    if (!read_stat(pid, &line))
        return -1;
    unsigned long long ticks = line.user + line.system + line.children_user + line.children_system;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    while (fscanf(file, "%ld", &child) == 1)
        if (read_stat((pid_t)child, &line)) /* it may have ended meanwhile */
            ticks += line.user + line.system + line.children_user + line.children_system;
    fclose(file);
    return (double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

double lb_proc_memory_bytes(pid_t pid)
{
    char path[64];
    long long pages = -1;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%*d %lld", &pages) != 1)
        pages = -1;
    fclose(file);
    return pages < 0 ? -1 : (double)pages * (double)sysconf(_SC_PAGESIZE);
}
