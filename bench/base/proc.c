/* Other processes of this machine: see proc.h. */
#include "proc.h"

#include <stdio.h>
#include <stdlib.h>
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
    char state;
    long parent;
    int64_t start; /* since the boot */
    unsigned long long user, system, children_user, children_system;
};

/* The numbers behind the state in /proc/PID/stat: proc(5). */
enum { PARENT = 0, USER = 10, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM, START = 18, N_FIELDS };

/* Reads up to n numbers of a line; a negative one wraps. Returns their count. */
static size_t read_numbers(const char *at, uint64_t *numbers, size_t n)
{
    size_t i = 0;
    for (; i < n; i++) {
        char *end;
        numbers[i] = strtoull(at, &end, 10);
        if (end == at)
            break;
        at = end;
    }
    return i;
}

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
    /* " S ppid ...": the state, and numbers. */
    uint64_t fields[N_FIELDS];
    const char *at = close + 1 + strspn(close + 1, " ");
    if (*at == '\0' || read_numbers(at + 1, fields, N_FIELDS) != N_FIELDS)
        return false;
    ret->state = *at;
    ret->parent = (long)fields[PARENT];
    ret->start = (int64_t)fields[START];
    ret->user = fields[USER];
    ret->system = fields[SYSTEM];
    ret->children_user = fields[CHILDREN_USER];
    ret->children_system = fields[CHILDREN_SYSTEM];
    return true;
}

bool lb_proc_began(pid_t pid, char *ret_state, int64_t *ret_start)
{
    struct stat_line line;
    if (!read_stat(pid, &line))
        return false;
    *ret_state = line.state;
    *ret_start = line.start;
    return true;
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
    char *word = NULL;
    size_t room = 0;
    uint64_t child;
    if (!read_stat(pid, &line))
        return -1;
    unsigned long long ticks = line.user + line.system + line.children_user + line.children_system;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    while (getdelim(&word, &room, ' ', file) > 0)
        if (read_numbers(word, &child, 1) == 1 &&
            read_stat((pid_t)child, &line)) /* it may have ended meanwhile */
            ticks += line.user + line.system + line.children_user + line.children_system;
    free(word);
    fclose(file);
    return (double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

double lb_proc_memory_bytes(pid_t pid)
{
    char path[64], text[200];
    uint64_t pages[2]; /* the program, and of it in memory */
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    bool is_read = fgets(text, sizeof text, file) != NULL && read_numbers(text, pages, 2) == 2;
    fclose(file);
    return is_read ? (double)pages[1] * (double)sysconf(_SC_PAGESIZE) : -1;
}
