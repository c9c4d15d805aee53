/* Keeping results: see storage.h. */
#include "storage.h"

#include "regression.h"
#include "text_clean.h"

#include <stdio.h>
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

/* The directory to go on in decides where the result is kept. */
static int check_resume(const struct lb_args *args, struct lb_error *err)
{
    const char *flag = args->output != NULL ? "-o" : args->save != NULL ? "--save" : NULL;
    return flag == NULL ? 0
                        : lb_fail(err, LB_E_USAGE, "option --resume: goes on in %s: leave out %s",
                                  args->resume, flag);
}

int lb_storage_prepare(struct lb_storage *storage, const struct lb_args *args,
                       struct lb_report *report, struct lb_error *err)
{
    if (args->resume == NULL)
        return args->save != NULL ? check_name(args->save, err) : 0;
    int rc = check_resume(args, err);
    return rc == 0 ? lb_checkpoint_open(args->resume, args->seed != NULL, report,
                                        &storage->checkpoint, err)
                   : rc;
}

static int open_new(struct lb_storage *storage, const struct lb_args *args,
                    const struct lb_report *report, struct lb_error *err)
{
    const char *directory = args->output != NULL ? args->output : LB_RESULTS;
    char name[150];
    snprintf(name, sizeof name, "%s", args->save != NULL ? args->save : report->command);
    if (report->n_cells == 1 && args->save == NULL)
        snprintf(name, sizeof name, "%s-%s-%s", report->cells[0].strategy->name,
                 report->cells[0].engine, report->cells[0].scenario.name);
    int rc = lb_store_open(&storage->store, directory, name, args->save != NULL,
                           report->start_unix_ms, err);
    storage->is_stored = rc == 0;
    if (rc != 0 || (!storage->grows && report->n_cells * report->n_repeat < 2))
        return rc;
    rc = lb_checkpoint_begin(storage->store.temporary, report, storage->grows, &storage->checkpoint,
                             err);
    if (rc != 0)
        lb_store_discard(&storage->store);
    return rc;
}

int lb_storage_open(struct lb_storage *storage, const struct lb_args *args, bool grows,
                    struct lb_report *report, struct lb_error *err)
{
    storage->grows = grows;
    if (args->resume == NULL)
        return args->output != NULL || args->save != NULL ? open_new(storage, args, report, err)
                                                          : 0;
    int rc = lb_checkpoint_load(storage->checkpoint, report, grows, err);
    if (rc == 0)
        rc = lb_store_resume(&storage->store, args->resume, err);
    storage->is_stored = rc == 0;
    storage->n_resumed = lb_checkpoint_runs(storage->checkpoint);
    return rc;
}

/* Runs that there should be. Cells that cannot run need none. */
static size_t n_wanted(const struct lb_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].state != LB_CELL_SKIPPED)
            n += (size_t)report->n_repeat;
    return n;
}

/* If the planned number is unknown: true if a run was cut short, or could not be begun. */
static bool was_cut_short(const struct lb_report *report)
{
    bool cut = report->interrupted;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        cut |= cell->state == LB_CELL_FAILED && lb_error_is_outside(cell->error.code);
        for (size_t r = 0; r < cell->n_runs; r++)
            cut |= cell->runs[r]->state == LB_RUN_SERVER_GONE;
    }
    return cut;
}

/* After a result that can be resumed, and is not whole. */
static void tell_how_to_go_on(const struct lb_storage *storage, const struct lb_report *report,
                              const char *directory)
{
    char of[32] = "";
    if (!storage->grows)
        snprintf(of, sizeof of, " of %zu", n_wanted(report));
    fprintf(
        stderr,
        "lockbench: %zu%s runs are done; to go on, the same command with --resume %s instead of -o "
        "or --save\n",
        lb_checkpoint_runs(storage->checkpoint), of, directory);
}

int lb_storage_finish(struct lb_storage *storage, struct lb_report *report, struct lb_error *err)
{
    if (!storage->is_stored)
        return 0;
    int rc = lb_store_close(&storage->store, report, err);
    bool is_whole = storage->grows ? !was_cut_short(report)
                                   : lb_checkpoint_runs(storage->checkpoint) >= n_wanted(report);
    const char *directory = rc == 0 ? storage->store.final : storage->store.temporary;
    if (rc == 0)
        report->directory = directory;
    if (rc != 0 && storage->checkpoint == NULL)
        lb_store_discard(&storage->store);
    else if (storage->checkpoint != NULL && (rc != 0 || !is_whole))
        tell_how_to_go_on(storage, report, directory);
    else
        lb_checkpoint_remove(storage->checkpoint, directory);
    return rc;
}

void lb_storage_release(struct lb_storage *storage)
{
    lb_checkpoint_close(storage->checkpoint);
    storage->checkpoint = NULL;
}
