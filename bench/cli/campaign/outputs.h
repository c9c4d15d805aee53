/* The outputs of a campaign while it runs: --format NAME or NAME:FILE, any number of times.
 */
#ifndef LB_OUTPUTS_H
#define LB_OUTPUTS_H

#include "cli.h"
#include "outlook.h"
#include "output.h"
#include "report.h"

#define LB_OUTPUTS_MOST 8

struct lb_written {
    const struct lb_sink *sink;
    struct lb_sink_state state;
    const char *path;        /* NULL: standard output; borrowed from the arguments */
    struct lb_output output; /* of a path */
};

struct lb_outputs {
    const struct lb_args *args;
    const struct lb_report *report;
    const struct lb_sink *usual; /* for standard output, if no word is about that */
    struct lb_error *err;
    struct lb_written all[LB_OUTPUTS_MOST];
    size_t n;
    size_t n_open;           /* the first n_open have open files */
    struct lb_output series; /* --series; without a file: not open */
};

/* Reads the words of --format; of: the kind of output, enum lb_sink_use. args, report, usual and
 * err are set by then, and borrowed until the end. LB_E_USAGE with a message. */
int lb_outputs_choose(struct lb_outputs *outputs, unsigned of);
/* Opens the files, before anything is run. */
int lb_outputs_open(struct lb_outputs *outputs);

/* As of struct lb_sink, for each of them. outlooks: of the files that have a plan. */
void lb_outputs_begin(struct lb_outputs *outputs, struct lb_outlook *const *outlooks, size_t n);
void lb_outputs_cell(struct lb_outputs *outputs, const struct lb_cell *cell);
/* Ends them and puts the files in place. Returns 0, or the error of writing one of them: then that
 * file is not replaced. *ret_stdout: it was standard output. */
int lb_outputs_end(struct lb_outputs *outputs, struct lb_outlook *const *outlooks, size_t n,
                   bool *ret_stdout);
/* Nothing was begun: says why on standard output, where the format has words for that. No file is
 * replaced. */
void lb_outputs_fail(struct lb_outputs *outputs);

/* Is one of them of a sink? */
bool lb_outputs_have(const struct lb_outputs *outputs, const struct lb_sink *sink);
/* Is standard output of the format of this name? */
bool lb_outputs_print(const struct lb_outputs *outputs, const char *name);

#endif
