/* The verdicts of `lockbench check` as text, JSON and TAP. */
#ifndef LB_CHECK_PRINT_H
#define LB_CHECK_PRINT_H

#include "check.h"
#include "error.h"

#include <stdio.h>

/* The judged files, and the model. */
struct lb_checked {
    const char *const *files;
    size_t n_files;
    const char *model_name; /* as requested, or from the file */
    uint32_t n_workers;     /* logs with events */
    uint64_t n_events;
    uint64_t start_ns; /* times are printed relative to it */
    bool truncated;
    bool is_unchecked; /* of the first version, without checksums */
    const struct lb_model *model;
    const struct lb_judgement *judgement;
};

/* Each returns 0 or LB_E_ENV. */
int lb_checked_text(const struct lb_checked *checked, unsigned width, FILE *out,
                    struct lb_error *err);
int lb_checked_json(const struct lb_checked *checked, FILE *out, struct lb_error *err);
int lb_checked_tap(const struct lb_checked *checked, FILE *out, struct lb_error *err);

#endif
