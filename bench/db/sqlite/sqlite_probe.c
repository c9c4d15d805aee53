/* See sqlite_probe.h.
 *
 * The kernel tells who has a POSIX lock (F_GETLK), so nothing is locked to find out. Where SQLite's
 * locks are: "File Locking And Concurrency In SQLite Version 3" (os.h: PENDING_BYTE), and
 * "WAL-mode File Format", 2.1 (the -shm file's write lock).
 */
#include "sqlite_probe.h"

#include "memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PENDING = 0x40000000, RESERVED = PENDING + 1, SHARED = PENDING + 2, SHARED_BYTES = 510 };
enum { SHM_WRITE = 120 };

struct lb_probe {
    char path[PATH_MAX];
    int database, shm; /* -1: not open */
    int scratch;       /* a nameless file beside the database; -1: there is none */
};

struct lb_probe *lb_sqlite_probe_open(const char *path)
{
    struct lb_probe *probe = lb_calloc(1, sizeof *probe);
    snprintf(probe->path, sizeof probe->path, "%s", path);
    probe->database = probe->shm = -1;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    probe->scratch = open(slash != NULL ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return probe;
}

void lb_sqlite_probe_close(struct lb_probe *probe)
{
    if (probe == NULL)
        return;
    const int files[] = {probe->database, probe->shm, probe->scratch};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(probe);
}

/* A child's process is one of ours: the workers of a run may live there. */
static bool is_child(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true; /* gone, and its locks with it */
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *end = strrchr(text, ')'); /* of the name; state and parent follow */
    return end == NULL || strlen(end) < 4 || strtol(end + 4, NULL, 10) == (long)getpid();
}

/* Has a stranger a lock on those bytes that one of this type would have to wait for? */
static bool is_held(int file, short type, off_t first, off_t n)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = n};
    return file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK &&
           !is_child(lock.l_pid);
}

/* A write-ahead log's index goes with its last connection: a new one is a new file. */
static int shm_of(struct lb_probe *probe)
{
    char path[PATH_MAX + 8];
    struct stat st;
    if (probe->shm >= 0 && fstat(probe->shm, &st) == 0 && st.st_nlink == 0) {
        close(probe->shm);
        probe->shm = -1;
    }
    snprintf(path, sizeof path, "%s-shm", probe->path);
    if (probe->shm < 0)
        probe->shm = open(path, O_RDWR | O_CLOEXEC);
    return probe->shm;
}

bool lb_sqlite_probe(struct lb_probe *probe)
{
    if (probe->scratch >= 0 && pwrite(probe->scratch, "", 1, 0) == 1)
        fdatasync(probe->scratch);
    if (probe->database < 0)
        probe->database = open(probe->path, O_RDWR | O_CLOEXEC);
    int shm = shm_of(probe);
    if (is_held(shm, F_WRLCK, SHM_WRITE, 1))
        return true;
    /* With a write-ahead log every connection has the shared lock, and none waits for it. */
    return is_held(probe->database, F_WRLCK, PENDING, 2) ||
           is_held(probe->database, shm >= 0 ? F_RDLCK : F_WRLCK, SHARED, SHARED_BYTES);
}
