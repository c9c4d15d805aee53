/* Where the results of a campaign are kept: -o, --save. */
#ifndef LB_STORAGE_H
#define LB_STORAGE_H

#include "args.h"
#include "report.h"

struct lb_storage {
    struct lb_store store;
    bool is_stored;
};

/* Checks the name, before the cells are made. */
int lb_storage_prepare(const struct lb_args *args, struct lb_error *err);
/* With the report's cells: makes the result's directory. */
int lb_storage_open(struct lb_storage *storage, const struct lb_args *args,
                    const struct lb_report *report, struct lb_error *err);
/* Writes the result, and sets report->directory. If it cannot be written, nothing is kept. */
int lb_storage_finish(struct lb_storage *storage, struct lb_report *report, struct lb_error *err);

#endif
