/* Files that the user names: see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_write(const char *path, struct lb_error *err)
{
    return lb_fail(err, LB_E_ENV, "cannot write %s: %s", path, strerror(errno));
}

int lb_make_folders(const char *path, struct lb_error *err)
{
    char folder[PATH_MAX];
    if (strlen(path) >= sizeof folder)
        return lb_fail(err, LB_E_USAGE, "%s: the name is too long", path);
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder + 1;; slash++) {
        bool is_end = *slash == '\0';
        if (!is_end && *slash != '/')
            continue;
        *slash = '\0';
        struct stat st;
        if (mkdir(folder, 0777) != 0 &&
            (errno != EEXIST || (is_end && (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))))) {
            /* A folder that is there may refuse the attempt in another way first. */
            int saved = errno;
            bool is_there = stat(folder, &st) == 0 && S_ISDIR(st.st_mode);
            errno = saved == EEXIST ? ENOTDIR : saved;
            if (!is_there)
                return lb_fail(err, LB_E_ENV, "cannot make the directory %s: %s", folder,
                               strerror(errno));
        }
        if (is_end)
            return 0;
        *slash = '/';
    }
}

static int make_parents(const char *path, struct lb_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return lb_make_folders(folder, err);
}

/* Beside the final name, with the mode that the file has. */
static bool open_beside(struct lb_output *output, const struct stat *st)
{
    snprintf(output->temporary, sizeof output->temporary, "%s.%ld.tmp", output->final,
             (long)getpid());
    output->file = fopen(output->temporary, "wxe");
    if (output->file == NULL) {
        output->temporary[0] = '\0';
        return false;
    }
    if (st != NULL)
        (void)!fchmod(fileno(output->file), st->st_mode & 07777);
    return true;
}

int lb_output_open(struct lb_output *output, const char *path, struct lb_error *err)
{
    struct stat st;
    output->path = path;
    output->file = NULL;
    output->temporary[0] = '\0';
    if (strlen(path) >= sizeof output->final)
        return lb_fail(err, LB_E_USAGE, "%.40s...: the name is too long", path);
    snprintf(output->final, sizeof output->final, "%s", path);
    bool is_there = stat(path, &st) == 0;
    if (is_there && S_ISDIR(st.st_mode))
        return lb_fail(err, LB_E_USAGE, "%s is a directory; give it a file's name", path);
    if (!is_there) {
        int r = make_parents(path, err);
        if (r < 0)
            return r;
    }
    struct stat link;
    bool is_new = lstat(path, &link) != 0;
    /* A file with several hard links keeps them, and a file without write permission is not
     * replaced. */
    bool is_plain = is_there && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
                    access(path, W_OK) == 0 && realpath(path, output->final) != NULL;
    if ((is_new || is_plain) && open_beside(output, is_plain ? &st : NULL))
        return 0;
    output->file = fopen(path, "we");
    return output->file != NULL ? 0 : fail_write(path, err);
}

int lb_output_close(struct lb_output *output, int rc, struct lb_error *err)
{
    bool was_written = fflush(output->file) == 0 && !ferror(output->file);
    /* Not every kind of file can be synchronised. */
    if (was_written && output->temporary[0] != '\0')
        was_written = fsync(fileno(output->file)) == 0 || errno == EINVAL || errno == EROFS;
    if (!was_written && rc == 0)
        rc = fail_write(output->path, err);
    if (fclose(output->file) != 0 && rc == 0)
        rc = fail_write(output->path, err);
    if (output->temporary[0] != '\0') {
        if (rc == 0 && rename(output->temporary, output->final) != 0)
            rc = fail_write(output->path, err);
        if (rc != 0)
            unlink(output->temporary);
    }
    return rc;
}
