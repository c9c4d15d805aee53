/* Where the results of a campaign are kept, and how one that was interrupted goes on: -o, --save,
 * --resume. */
#ifndef LB_STORAGE_H
#define LB_STORAGE_H

#include "args.h"
#include "checkpoint.h"

struct lb_storage {
    struct lb_store store;
    bool is_stored, grows;
    struct lb_checkpoint *checkpoint; /* NULL: there is nothing to resume */
    size_t n_resumed;                 /* runs that were there already */
};

/* Before the cells are made: with --resume the report gets its seed and its start. */
int lb_storage_prepare(struct lb_storage *storage, const struct lb_args *args,
                       struct lb_report *report, struct lb_error *err);
/* With the report's cells: makes the result's directory, or takes the finished runs from it. grows:
 * further runs are decided on the way. */
int lb_storage_open(struct lb_storage *storage, const struct lb_args *args, bool grows,
                    struct lb_report *report, struct lb_error *err);
/* Writes the result, and sets report->directory. If it cannot be written, or is incomplete, the
 * finished runs are kept if it can be resumed, with a message how; else nothing is kept. */
int lb_storage_finish(struct lb_storage *storage, struct lb_report *report, struct lb_error *err);
void lb_storage_release(struct lb_storage *storage);

#endif
