/* --trace: see tracing.h. */
#include "tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_cell(const struct lb_cell *cell, struct lb_error *err)
{
    if (cell->strategy->guest == NULL)
        return lb_fail(err, LB_E_USAGE,
                       "option --trace: %s is no program; explore shows the statements of files "
                       "and built-in strategies",
                       cell->strategy->name);
    if (cell->target == NULL || !cell->target->db->is_relayed)
        return lb_fail(err, LB_E_USAGE,
                       "option --trace: the statements of a program on %s cannot be seen: there is "
                       "no gate for its protocol",
                       cell->target != NULL ? cell->target->db->product : "no database");
    return 0;
}

/* Any other file is the user's, and its name a mistake. */
static int check_file(const char *path, struct lb_error *err)
{
    static const char begin[] = "{\"strategy\":";
    char bytes[sizeof begin] = "";
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof begin - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n == (ssize_t)sizeof begin - 1 && memcmp(bytes, begin, sizeof begin - 1) == 0)
        return 0;
    return lb_fail(err, LB_E_USAGE,
                   "option --trace: %s is there already, and is no trace: give another name", path);
}

/* Statements are the user's data: no other user may read them. */
static int open_file(const char *path)
{
    enum { BEHIND_STANDARD = 3 };
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    int kept = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, BEHIND_STANDARD) : -1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return kept;
}

int lb_tracing_open(const struct lb_args *args, const struct lb_report *report,
                    struct lb_trace_file *trace, struct lb_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < report->n_cells && args->trace != NULL && rc == 0; i++)
        rc = check_cell(&report->cells[i], err);
    if (rc == 0 && args->trace != NULL)
        rc = check_file(args->trace, err);
    if (rc != 0 || args->trace == NULL || args->dry_run)
        return rc;
    int fd = open_file(args->trace);
    if (fd < 0)
        return lb_fail(err, LB_E_ENV, "option --trace: %s: cannot be written: %s", args->trace,
                       strerror(errno));
    trace->fd = fd;
    return 0;
}

int lb_tracing_close(struct lb_trace_file *trace, const struct lb_args *args, struct lb_error *err)
{
    if (trace->fd > 0 && close(trace->fd) != 0 && atomic_load(&trace->error) == 0)
        atomic_store(&trace->error, errno);
    trace->fd = 0;
    int error = atomic_load(&trace->error);
    return error == 0 ? 0
                      : lb_fail(err, LB_E_ENV,
                                "option --trace: %s: cannot be written: %s; statements are missing "
                                "in it",
                                args->trace, strerror(error));
}
