/* Stored results, read back: what lockbench diff compares. */
#ifndef LB_STORED_H
#define LB_STORED_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One number of a run that can be compared. */
enum lb_metric {
    LB_METRIC_RATE, /* successes per second */
    LB_METRIC_P50,  /* of acquire or claim, ns; from the intended start if there is one */
    LB_METRIC_P95,
    LB_METRIC_P99,
    LB_METRIC_CPU, /* lockbench's own per success, ns */
    LB_METRICS
};
/* "rate", "p50", ..., "cpu". */
const char *lb_metric_name(enum lb_metric metric);
/* The metric of that name, or -1. */
int lb_metric_parse(const char *name);
/* "12.4k/s", "3.10 ms". Returns buf. */
char *lb_metric_format(enum lb_metric metric, double value, char *buf, size_t size);

struct json_t;

/* A cell of a stored result. Texts belong to the result. */
struct lb_stored_cell {
    const char *strategy, *engine, *scenario;
    const char *verdict, *reason; /* reason: "" if there is none */
    size_t n_runs;                /* that came to their end */
    double *values[LB_METRICS];   /* n_runs each; NULL if a run has too few samples for it */
    int64_t *start_ms;            /* n_runs */
    const struct json_t *json;
};

struct lb_stored {
    char path[600]; /* of run.json */
    const char *version, *started;
    size_t n_cells;
    struct lb_stored_cell *cells;
    struct json_t *json;
};

/* Reads a result: its directory, its run.json, or the NAME of one saved under results/. Returns 0
 * or LB_E_FILE. */
int lb_stored_load(const char *path, struct lb_stored *ret, struct lb_error *err);
/* The same of a report that was not stored: its lb_json_report, which is the result's from here on,
 * also after an error; NULL: out of memory. */
int lb_stored_of_json(struct json_t *json, struct lb_stored *ret, struct lb_error *err);
void lb_stored_release(struct lb_stored *result);

/* The text of a member; "": there is none. */
const char *lb_stored_text(const struct json_t *object, const char *key);

/* One thing in which two results' cells were not run alike. */
struct lb_difference {
    char key[100]; /* "workers", "opt form", "setting fsync", "cores" */
    char base[200], new[200];
};
/* Writes the first room differences between the configurations, options, server settings and
 * machines of two cells; returns how many there are. */
size_t lb_stored_differences(const struct lb_stored *base_result, const struct lb_stored_cell *base,
                             const struct lb_stored *new_result, const struct lb_stored_cell *new,
                             struct lb_difference *ret, size_t room);

/* Calls each for every key in which a cell of the result could differ from another's; some come
 * more than once. */
void lb_stored_keys(const struct lb_stored *result, void (*each)(void *arg, const char *key),
                    void *arg);

#endif
