/* --trace: see tracing.h. */
#include "tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
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

int lb_tracing_open(const struct lb_args *args, const struct lb_report *report, int *ret_fd,
                    struct lb_error *err)
{
    enum { BEHIND_STANDARD = 3 };
    int rc = 0;
    for (size_t i = 0; i < report->n_cells && args->trace != NULL && rc == 0; i++)
        rc = check_cell(&report->cells[i], err);
    if (rc != 0 || args->trace == NULL || args->dry_run)
        return rc;
    int fd = open(args->trace, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    int kept = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, BEHIND_STANDARD) : -1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (kept < 0)
        return lb_fail(err, LB_E_ENV, "option --trace: %s: cannot be written: %s", args->trace,
                       strerror(error));
    *ret_fd = kept;
    return 0;
}
