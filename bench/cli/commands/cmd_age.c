/* lockbench age: what an old table costs. */
#include "cli.h"
#include "cmd_age_text.h"
#include "memory.h"
#include "plan.h"
#include "select.h"
#include "signals.h"
#include "take.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 256, MOST_ROWS = 16000000, SMALLEST = 1000, STEP = 4, LEAST_SIZES = 3 };
static const uint64_t default_rows = 64000;
static const char default_states[] = "finished,failed,delayed";

static int read_states(const char *list, unsigned *ret_states, struct lb_error *err)
{
    unsigned states = 0;
    for (const char *at = list; *at != '\0';) {
        size_t n = strcspn(at, ",");
        int found = -1;
        for (int s = 0; s < LB_AGED_STATES; s++)
            if (strlen(lb_aged_state_names[s]) == n && strncmp(lb_aged_state_names[s], at, n) == 0)
                found = s;
        if (found < 0)
            return lb_fail(err, LB_E_USAGE,
                           "option --aged: '%.*s' is not finished, failed, delayed, claimed, "
                           "waiting, other-class or dead",
                           (int)n, at);
        states |= 1u << found;
        at += n + (at[n] == ',');
    }
    *ret_states = states;
    return states != 0 ? 0 : lb_fail(err, LB_E_USAGE, "option --aged: names no state");
}

/* From the largest size down, a fourth each, to a thousand; at least three. */
static int read_sizes(const char *text, struct lb_age_plan *plan, struct lb_error *err)
{
    uint64_t rows = default_rows, sizes[LB_AGE_SIZES];
    if (lb_take_count("rows", text, LEAST_ROWS, MOST_ROWS, &rows, err) != 0)
        return LB_E_USAGE;
    size_t n = 0;
    for (; n < LB_AGE_SIZES && (n < LEAST_SIZES || rows >= SMALLEST); rows /= STEP)
        sizes[n++] = rows - rows % LB_AGED_ITEMS;
    for (size_t i = 0; i < n; i++)
        plan->sizes[i] = sizes[n - 1 - i];
    plan->n_sizes = n;
    return 0;
}

static int read_question(const struct lb_age_args *args, struct lb_age_plan *plan,
                         struct lb_age_view *view, struct lb_error *err)
{
    struct lb_slo slo = {0};
    int r = read_states(args->aged != NULL ? args->aged : default_states, &plan->states, err);
    if (r == 0)
        r = read_sizes(args->rows, plan, err);
    if (r == 0)
        r = lb_take_rate("demand", args->demand, "300/s", &view->demand_per_s, err);
    if (r == 0 && args->slo != NULL) {
        r = lb_slo_parse(args->slo, &slo, err);
        if (r != 0)
            return lb_fail_prefix(err, "option --slo");
        view->bound_ns = slo.bound_ns;
        snprintf(view->slo, sizeof view->slo, "%s", slo.text);
    }
    if (r != 0 || args->statistics == NULL)
        return r;
    for (int i = 0; lb_aged_statistics_names[i] != NULL; i++)
        if (strcmp(lb_aged_statistics_names[i], args->statistics) == 0) {
            plan->statistics = view->statistics = (enum lb_aged_statistics)i;
            return 0;
        }
    return lb_fail(err, LB_E_USAGE, "option --statistics: '%s' is not fresh, stale or default",
                   args->statistics);
}

static enum lb_exit age_one(const struct lb_args *args, struct lb_age_plan *plan,
                            struct lb_age_view *view, const struct lb_protocol *protocol,
                            const struct lb_target *target, struct lb_error *err)
{
    struct lb_age *age = lb_calloc(1, sizeof *age);
    plan->strategy = protocol->strategy;
    plan->file = lb_protocol_file(protocol, target->db);
    plan->target = target;
    view->strategy = protocol->strategy->name;
    view->target = target->db->product;
    view->age = age;
    int r = lb_age_measure(plan, age, err);
    enum lb_exit status = r != 0                 ? lb_exit_of(r)
                          : lb_age_grows(age)    ? LB_EXIT_REGRESSION
                          : lb_age_is_known(age) ? LB_EXIT_OK
                                                 : LB_EXIT_INCONCLUSIVE;
    bool is_shown = r == 0 || (r == LB_E_INTERRUPTED && lb_age_is_known(age));
    if (is_shown && lb_args_wants(args, "json"))
        lb_age_json(stdout, view);
    else if (is_shown)
        lb_age_print(stdout, view);
    free(age);
    return status;
}

enum lb_exit lb_command_age(const struct lb_args *args)
{
    static const struct lb_select_defaults defaults = {.strategies = NULL};
    struct lb_selection selection = {0};
    struct lb_age_plan plan = {0};
    struct lb_age_view view = {0};
    struct lb_error err = {0};
    enum lb_exit status = LB_EXIT_OK;
    const struct lb_stop *stop = lb_signals_install();
    int r = read_question(&args->age, &plan, &view, &err);
    if (r == 0)
        r = lb_select(&selection, args, &defaults, &err);
    if (r == 0)
        r = lb_select_versions(&selection, &err);
    if (r != 0) {
        lb_selection_release(&selection);
        return lb_cli_complain(&err);
    }
    plan.settings = selection.settings;
    plan.n_settings = selection.n_settings;
    plan.interrupt = &stop->requested;
    bool is_one = selection.n_protocols * selection.n_places == 1;
    for (size_t p = 0; p < selection.n_protocols; p++)
        for (size_t t = 0; t < selection.n_places && status != LB_EXIT_INTERRUPTED; t++) {
            err.code = 0;
            enum lb_exit one = age_one(args, &plan, &view, &selection.protocols[p],
                                       &selection.places[t].target, &err);
            if (err.code == LB_E_UNSUPPORTED && !is_one) {
                fprintf(stderr, "lockbench: skipped: %s\n", err.message);
                continue;
            }
            if (err.code != 0)
                lb_cli_complain(&err);
            status = lb_exit_worse(status, one);
        }
    lb_selection_release(&selection);
    return status;
}
