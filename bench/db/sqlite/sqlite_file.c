/* Files of SQLite spaces: see sqlite_file.h.
 *
 * A lock file says in its text that it is one: it appears under its name with that text, or not at
 * all, so a file of another content, an empty one too, is the user's.
 *
 * Removing a lock file while others may be about to lock it is safe because whoever has locked one
 * checks that the name still leads to the file that it locked, and otherwise starts again.
 */
#include "sqlite_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX    "lockbench-sqlite-"
#define LOCK_TEXT "lockbench: lock of one run, removed at its end\n"

static const char *const side_files[] = {"-wal", "-shm", "-journal"};

/* --- the -d argument ------------------------------------------------------------------------ */

static const char *choice(const char *value, const char *const *choices)
{
    for (; *choices != NULL; choices++)
        if (strcmp(*choices, value) == 0)
            return *choices;
    return NULL;
}

static int parse_setting(char *setting, struct lb_sqlite_place *place, struct lb_error *err)
{
    static const char *const journals[] = {"wal", "delete", NULL};
    static const char *const levels[] = {"off", "normal", "full", NULL};
    char *value = strchr(setting, '=');
    if (value != NULL)
        *value++ = '\0';
    if (value != NULL && strcmp(setting, "journal") == 0) {
        place->journal = choice(value, journals);
        if (place->journal == NULL)
            return lb_fail(err, LB_E_USAGE, "sqlite: journal is wal or delete, not \"%s\"", value);
    } else if (value != NULL && strcmp(setting, "synchronous") == 0) {
        place->synchronous = choice(value, levels);
        if (place->synchronous == NULL)
            return lb_fail(err, LB_E_USAGE,
                           "sqlite: synchronous is off, normal or full, not \"%s\"", value);
    } else if (value != NULL && strcmp(setting, "library") == 0) {
        if (value[0] == '\0')
            return lb_fail(err, LB_E_USAGE, "sqlite: library needs the path of a shared library");
        snprintf(place->library, sizeof place->library, "%s", value);
    } else {
        return lb_fail(err, LB_E_USAGE,
                       "sqlite: unknown setting \"%s\"; there are journal=wal|delete, "
                       "synchronous=off|normal|full and library=PATH",
                       setting);
    }
    return 0;
}

int lb_sqlite_place_parse(const char *uri, struct lb_sqlite_place *ret_place, struct lb_error *err)
{
    struct lb_sqlite_place place = {.journal = "wal", .synchronous = "normal"};
    const char *path = uri + strlen("sqlite:");
    const char *settings = strrchr(path, '?');
    size_t length = settings != NULL ? (size_t)(settings - path) : strlen(path);
    if (length >= sizeof place.path)
        return lb_fail(err, LB_E_USAGE, "sqlite: the path is too long");
    memcpy(place.path, path, length);
    place.path[length] = '\0';
    if (strcmp(place.path, ":memory:") == 0)
        return lb_fail(err, LB_E_USAGE,
                       "sqlite: a database in memory has one connection only; \"sqlite:\" alone is "
                       "a temporary file");
    if (strncmp(path, "//", 2) == 0 && path[2] != '/')
        return lb_fail(err, LB_E_USAGE,
                       "sqlite: write sqlite:PATH, without //; \"sqlite:\" alone is a temporary "
                       "file");
    if (strncmp(path, "file:", 5) == 0)
        return lb_fail(err, LB_E_USAGE,
                       "sqlite: write sqlite:PATH, without file:; a file of that name is "
                       "sqlite:./file:...");
    if (settings != NULL) {
        char copy[PATH_MAX], *rest = copy, *setting;
        if (strlen(settings + 1) >= sizeof copy)
            return lb_fail(err, LB_E_USAGE, "sqlite: the settings are too long");
        memcpy(copy, settings + 1, strlen(settings + 1) + 1);
        while ((setting = strsep(&rest, "&")) != NULL) {
            int r = parse_setting(setting, &place, err);
            if (r < 0)
                return r;
        }
    }
    *ret_place = place;
    return 0;
}

/* --- the lock file -------------------------------------------------------------------------- */

static bool is_lock_file(int fd)
{
    char text[sizeof LOCK_TEXT];
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           pread(fd, text, sizeof text, 0) == (ssize_t)strlen(LOCK_TEXT) &&
           memcmp(text, LOCK_TEXT, strlen(LOCK_TEXT)) == 0;
}

/* False with errno; a limit on file sizes may take a part only, and says nothing. */
static bool write_text(int fd)
{
    ssize_t n = write(fd, LOCK_TEXT, strlen(LOCK_TEXT));
    if (n >= 0 && n < (ssize_t)strlen(LOCK_TEXT))
        errno = EFBIG;
    return n == (ssize_t)strlen(LOCK_TEXT);
}

/* Makes a locked lock file that no other process has seen yet. Its text is written before it gets
 * its name, where the file system has files without a name. Returns its descriptor; -1 with
 * errno. */
static int make_lock(const char *path)
{
    char folder[PATH_MAX + 16], self[40];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    int fd = open(slash != NULL ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    bool has_name = fd < 0;
    if (has_name)
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    bool ok = flock(fd, LOCK_EX | LOCK_NB) == 0 && write_text(fd) &&
              (has_name || linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0);
    if (ok)
        return fd;
    int saved = errno;
    if (has_name)
        unlink(path);
    close(fd);
    errno = saved;
    return -1;
}

/* Takes the lock without waiting. Returns its descriptor; -1 with errno EWOULDBLOCK while a live
 * run has it, ENOTUNIQ where the name leads to a file that is no lock of ours, or what open() said.
 * *ret_found: there was one already. */
static int take_lock(const char *path, bool create, bool *ret_found)
{
    for (;;) {
        struct stat held, named;
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        *ret_found = fd >= 0;
        if (fd < 0 && (errno != ENOENT || !create))
            return -1;
        if (fd < 0) {
            fd = make_lock(path);
            if (fd >= 0 || errno != EEXIST)
                return fd;
            continue; /* another process was faster */
        }
        if (!is_lock_file(fd) || flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int saved = is_lock_file(fd) ? errno : ENOTUNIQ;
            close(fd);
            errno = saved;
            return -1;
        }
        if (fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev)
            return fd;
        close(fd); /* it was removed between open and flock */
    }
}

static void lock_path(const char *path, char *buf, size_t size)
{
    snprintf(buf, size, "%s-lockbench", path);
}

/* What lies at path. */
enum content { NOTHING, EMPTY, OURS, KEPT, FOREIGN };

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int look(const char *path, enum content *ret_content, struct lb_error *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno != ENOENT)
            return lb_fail(err, LB_E_ENV, "%s: %s", path, strerror(errno));
        *ret_content = NOTHING;
        return 0;
    }
    if (!S_ISREG(st.st_mode))
        return lb_fail(err, LB_E_USAGE, "%s is not a regular file", path);
    if (access(path, R_OK | W_OK) != 0)
        return lb_fail(err, LB_E_ENV, "%s: %s", path,
                       errno == EACCES ? "it is read-only" : strerror(errno));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return lb_fail(err, LB_E_ENV, "%s: %s", path, strerror(errno));
    unsigned char header[100];
    ssize_t n = read(fd, header, sizeof header);
    close(fd);
    if (n == 0)
        *ret_content = EMPTY;
    else if (n == (ssize_t)sizeof header && memcmp(header, "SQLite format 3", 16) == 0 &&
             big_endian(header + 68) == LB_SQLITE_APPLICATION_ID)
        *ret_content = big_endian(header + 60) == LB_SQLITE_KEPT ? KEPT : OURS;
    else
        *ret_content = FOREIGN;
    return 0;
}

/* The side files first: they are worthless without the database, and only it says whose they are.
 */
static void remove_database(const char *path)
{
    char side[PATH_MAX + 16];
    for (size_t i = 0; i < sizeof side_files / sizeof side_files[0]; i++) {
        snprintf(side, sizeof side, "%s%s", path, side_files[i]);
        unlink(side);
    }
    unlink(path);
}

/* --- a path that the user gave -------------------------------------------------------------- */

/* had_lock: there was a lock file, so a dead run of ours left the file; it was about to write an
 * empty database or none. */
static int clear_way(const char *path, bool had_lock, struct lb_error *err)
{
    enum content content = FOREIGN;
    int r = look(path, &content, err);
    if (r < 0)
        return r;
    char side[PATH_MAX + 16];
    struct stat st;
    if (had_lock && content != KEPT && content != FOREIGN) {
        remove_database(path);
        return 0;
    }
    switch (content) {
    case NOTHING:
        for (size_t i = 0; i < sizeof side_files / sizeof side_files[0]; i++) {
            snprintf(side, sizeof side, "%s%s", path, side_files[i]);
            if (lstat(side, &st) == 0) /* SQLite would follow a link to nowhere */
                return lb_fail(err, LB_E_ENV, "%s is in the way: it belongs to no database of ours",
                               side);
        }
        return 0;
    case KEPT:
        return lb_fail(err, LB_E_ENV,
                       "%s was kept by an earlier run: remove it or name another file", path);
    case OURS:
        return lb_fail(err, LB_E_ENV,
                       "%s looks like the database of an earlier run, but its file %s-lockbench is "
                       "missing: remove it or name another file",
                       path, path);
    case EMPTY:
    case FOREIGN:
    default:
        return lb_fail(err, LB_E_ENV,
                       "%s exists and was not made by lockbench: name a file that does not exist",
                       path);
    }
}

static int open_given(struct lb_sqlite_file *file, struct lb_error *err)
{
    char lock[PATH_MAX + 16];
    enum content content;
    bool had_lock = false;
    snprintf(file->path, sizeof file->path, "%s", file->place.path);
    int r = look(file->path, &content, err); /* before a lock file is left beside a foreign file */
    if (r == 0 && (content == KEPT || content == FOREIGN))
        return clear_way(file->path, false, err);
    if (r < 0)
        return r;
    lock_path(file->path, lock, sizeof lock);
    file->lock_fd = take_lock(lock, true, &had_lock);
    if (file->lock_fd < 0) {
        if (errno == EWOULDBLOCK)
            return lb_fail(err, LB_E_ENV, "%s is in use by another lockbench", file->path);
        if (errno == ENOTUNIQ || errno == ELOOP || errno == EISDIR || errno == ENXIO)
            return lb_fail(err, LB_E_ENV,
                           "%s exists and is no lock file of lockbench's: name another database",
                           lock);
        return lb_fail(err, LB_E_ENV, "cannot create %s: %s", lock, strerror(errno));
    }
    r = clear_way(file->path, had_lock, err);
    if (r < 0) {
        if (!had_lock)
            unlink(lock);
        close(file->lock_fd);
    }
    return r;
}

/* --- temporary directories ------------------------------------------------------------------ */

static const char *temporary_root(void)
{
    const char *root = getenv("TMPDIR");
    return root != NULL && root[0] != '\0' ? root : "/tmp";
}

/* libsqlite takes a name that begins with "file:" for a URI, and opens the file that the URI names.
 */
static const char *before_root(const char *root)
{
    return strncmp(root, "file:", 5) == 0 ? "./" : "";
}

/* Removes the directory of a run. The caller must hold its lock. Anything that we did not put there
 * stays, and the directory with it. */
static void remove_folder(const char *folder)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/db", folder);
    remove_database(path);
    snprintf(path, sizeof path, "%s/lock", folder);
    unlink(path);
    rmdir(folder);
}

/* Has this directory been left by a dead run of this user? Without a lock file of ours in it, only
 * an empty one goes: its run died before it had one. */
static void sweep_folder(const char *folder)
{
    enum { GRACE_S = 60 }; /* between mkdtemp and the lock */
    struct stat st;
    char path[PATH_MAX + 16];
    bool found;
    if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & 077) != 0)
        return;
    snprintf(path, sizeof path, "%s/kept", folder);
    if (access(path, F_OK) == 0)
        return;
    snprintf(path, sizeof path, "%s/lock", folder);
    int fd = take_lock(path, false, &found);
    if (fd >= 0) {
        remove_folder(folder);
        close(fd);
    } else if (errno == ENOENT && time(NULL) - st.st_mtime >= GRACE_S) {
        rmdir(folder);
    }
}

static void sweep_root(const char *root)
{
    DIR *dir = opendir(root);
    if (dir == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char folder[PATH_MAX];
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        int n = snprintf(folder, sizeof folder, "%s/%s", root, entry->d_name);
        if (n > 0 && (size_t)n < sizeof folder - 32)
            sweep_folder(folder);
    }
    closedir(dir);
}

static int open_temporary(struct lb_sqlite_file *file, struct lb_error *err)
{
    const char *root = temporary_root();
    if (strlen(root) > PATH_MAX - 100)
        return lb_fail(err, LB_E_ENV, "TMPDIR is too long");
    sweep_root(root);
    for (;;) {
        char lock[PATH_MAX + 16];
        bool found;
        snprintf(file->folder, sizeof file->folder, "%s%s/" PREFIX "XXXXXX", before_root(root),
                 root);
        if (mkdtemp(file->folder) == NULL)
            return lb_fail(err, LB_E_ENV, "cannot create a directory in %s: %s", root,
                           strerror(errno));
        snprintf(lock, sizeof lock, "%s/lock", file->folder);
        file->lock_fd = take_lock(lock, true, &found);
        if (file->lock_fd >= 0)
            break;
        /* A sweeper has it, or has removed the directory, in the instant before it was locked. */
        if (errno == EWOULDBLOCK || errno == ENOENT)
            continue;
        int saved = errno;
        rmdir(file->folder);
        return lb_fail(err, LB_E_ENV, "cannot create %s: %s", lock, strerror(saved));
    }
    snprintf(file->path, sizeof file->path, "%.*s/db", PATH_MAX - 32, file->folder);
    return 0;
}

int lb_sqlite_file_open(const char *uri, struct lb_sqlite_file *ret_file, struct lb_error *err)
{
    struct lb_sqlite_file file = {.lock_fd = -1};
    int r = lb_sqlite_place_parse(uri, &file.place, err);
    if (r == 0)
        r = file.place.path[0] != '\0' ? open_given(&file, err) : open_temporary(&file, err);
    if (r == 0)
        *ret_file = file;
    return r;
}

void lb_sqlite_file_close(struct lb_sqlite_file *file, bool keep)
{
    char lock[PATH_MAX + 16];
    if (file->folder[0] == '\0') {
        lock_path(file->path, lock, sizeof lock);
        if (!keep)
            remove_database(file->path);
        unlink(lock);
    } else if (keep) {
        char kept[PATH_MAX + 16];
        snprintf(lock, sizeof lock, "%s/lock", file->folder);
        snprintf(kept, sizeof kept, "%s/kept", file->folder);
        rename(lock, kept);
    } else {
        remove_folder(file->folder);
    }
    close(file->lock_fd);
    file->lock_fd = -1;
}

int64_t lb_sqlite_file_log_bytes(const struct lb_sqlite_file *file)
{
    char path[PATH_MAX + 16];
    struct stat st;
    snprintf(path, sizeof path, "%s-wal", file->path);
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}
