/* Keeping results: see storage.h. */
#include "storage.h"

#include "regression.h"
#include "text_clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_name(const char *name, struct lb_error *err)
{
    char clean[101];
    snprintf(clean, sizeof clean, "%s", name);
    bool ok = name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
              strcmp(lb_clean_text(clean), name) == 0; /* shorter than clean, and printable */
    return ok ? 0
              : lb_fail(err, LB_E_USAGE,
                        "option --save: '%s' is not a name: no path, no dot at its start, at most "
                        "100 bytes of printable UTF-8",
                        name);
}

int lb_storage_prepare(const struct lb_args *args, struct lb_error *err)
{
    return args->save != NULL ? check_name(args->save, err) : 0;
}

int lb_storage_open(struct lb_storage *storage, const struct lb_args *args,
                    const struct lb_report *report, struct lb_error *err)
{
    const char *directory = args->output != NULL ? args->output : LB_RESULTS;
    char name[150];
    if (args->output == NULL && args->save == NULL)
        return 0;
    snprintf(name, sizeof name, "%s", args->save != NULL ? args->save : report->command);
    if (report->n_cells == 1 && args->save == NULL)
        snprintf(name, sizeof name, "%s-%s-%s", report->cells[0].strategy->name,
                 report->cells[0].engine, report->cells[0].scenario.name);
    int rc = lb_store_open(&storage->store, directory, name, args->save != NULL,
                           report->start_unix_ms, err);
    storage->is_stored = rc == 0;
    return rc;
}

int lb_storage_finish(struct lb_storage *storage, struct lb_report *report, struct lb_error *err)
{
    if (!storage->is_stored)
        return 0;
    int rc = lb_store_close(&storage->store, report, err);
    if (rc == 0)
        report->directory = storage->store.final;
    else
        lb_store_discard(&storage->store);
    return rc;
}
