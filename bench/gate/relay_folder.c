/* A relay's folder, and the folders of dead relays: see relay_folder.h. A live relay holds the lock
 * of the file in its folder.
 */
#include "relay_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Not TMPDIR: the path of a socket is short. */
#define ROOT   "/tmp"
#define PREFIX "lockbench-gate-"
#define LOCK   "lock"

/* Nothing but the lock and sockets: a folder with something else in it stays. */
static void remove_in(int folder, const char *path)
{
    DIR *dir = fdopendir(folder);
    struct dirent *entry;
    struct stat st;
    if (dir == NULL) {
        close(folder);
        return;
    }
    while ((entry = readdir(dir)) != NULL)
        if (fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode))
            unlinkat(folder, entry->d_name, 0);
    unlinkat(folder, LOCK, 0);
    closedir(dir);
    rmdir(path);
}

/* Has it been left by a dead process of this user? Without a lock in it only an empty one goes: its
 * process died before it had one. */
static void sweep_folder(const char *path)
{
    enum { GRACE_S = 60 }; /* between mkdtemp and the lock */
    struct stat st, held;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    if (fstat(folder, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        close(folder);
        return;
    }
    int lock = openat(folder, LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock < 0 && errno == ENOENT && time(NULL) - st.st_mtime >= GRACE_S)
        rmdir(path);
    bool is_dead = lock >= 0 && fstat(lock, &held) == 0 && S_ISREG(held.st_mode) &&
                   held.st_size == 0 && flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (is_dead)
        remove_in(folder, path);
    else
        close(folder);
    if (lock >= 0)
        close(lock);
}

static void sweep(void)
{
    DIR *dir = opendir(ROOT);
    struct dirent *entry;
    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        char path[sizeof ROOT + sizeof entry->d_name];
        snprintf(path, sizeof path, ROOT "/%s", entry->d_name);
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
            sweep_folder(path);
    }
    closedir(dir);
}

/* false: with errno; or 0, if a sweeper was faster between two of these steps. */
static bool lock_folder(struct lb_relay_folder *folder)
{
    char path[sizeof folder->path + sizeof LOCK];
    struct stat st;
    snprintf(path, sizeof path, "%s/" LOCK, folder->path);
    folder->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (folder->lock < 0)
        return false;
    if (flock(folder->lock, LOCK_EX | LOCK_NB) == 0 && fstat(folder->lock, &st) == 0 &&
        st.st_nlink > 0)
        return true;
    errno = errno == EWOULDBLOCK ? 0 : errno;
    return false;
}

bool lb_relay_folder_make(struct lb_relay_folder *ret_folder)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    enum { TRIES = 8 };
    pthread_once(&once, sweep);
    for (unsigned i = 0; i < TRIES; i++) {
        *ret_folder = (struct lb_relay_folder){.path = ROOT "/" PREFIX "XXXXXX", .lock = -1};
        if (mkdtemp(ret_folder->path) == NULL) {
            ret_folder->path[0] = '\0';
            return false;
        }
        errno = 0;
        if (lock_folder(ret_folder))
            return true;
        int error = errno;
        lb_relay_folder_remove(ret_folder);
        errno = error;
        if (error != 0)
            return false;
    }
    errno = EBUSY;
    return false;
}

void lb_relay_folder_remove(struct lb_relay_folder *folder)
{
    int fd = folder->path[0] != '\0'
                 ? open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    if (fd >= 0)
        remove_in(fd, folder->path);
    if (folder->lock >= 0)
        close(folder->lock);
    *folder = (struct lb_relay_folder){.lock = -1};
}
