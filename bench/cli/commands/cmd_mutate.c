/* lockbench mutate: which clause protects a lock or a queue? */
#include "cli.h"
#include "clock.h"
#include "memory.h"
#include "mutation.h"
#include "show_parts.h"
#include "signals.h"
#include "take.h"
#include "terminal.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUDGET_NS UINT64_C(300000000000)

static const struct lb_select_defaults defaults = {.plans = true};

/* The statements of a built-in strategy for one engine, as a user's file. */
static int write_out(const struct lb_protocol *protocol, const struct lb_selection *selection,
                     const struct lb_db *db, char **ret_text, struct lb_error *err)
{
    struct lb_program *program;
    const struct lb_file *file = lb_protocol_file(protocol, db);
    size_t size;
    if (file == NULL || protocol->strategy->flow != &lb_ordinary_flow)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s: %s", protocol->strategy->name,
                       file == NULL ? "it has no statements for this engine"
                                    : "its statements are run by code of its own, which has no "
                                      "mutants");
    int r = lb_program_new(file, db, protocol->strategy->options, selection->settings,
                           selection->n_settings, &program, err);
    if (r != 0)
        return r;
    FILE *out = lb_open_memory(ret_text, &size);
    lb_show_header(protocol->strategy, file, program, out);
    lb_show_sections(program, out);
    lb_close_memory(out);
    lb_program_free(program);
    return 0;
}

static int read_original(struct lb_mutation *m, const struct lb_selection *selection,
                         struct lb_error *err)
{
    const struct lb_protocol *protocol = &selection->protocols[0];
    char *text = NULL;
    int r = 0;
    if (protocol->guest != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is a program: mutants are made of the statements of a file",
                       protocol->path);
    if (protocol->user_file == NULL)
        r = write_out(protocol, selection, m->place->target.db, &text, err);
    const char *source = text != NULL ? text : "";
    if (r == 0 && protocol->user_file != NULL)
        source = lb_file_text(protocol->user_file);
    if (r == 0)
        r = lb_file_parse(protocol->path, source, strlen(source), -1, &m->file, err);
    free(text);
    if (r != 0)
        return r;
    /* The text that write_out() made has the values of its options. */
    bool is_own = protocol->user_file != NULL;
    lb_strategy_of_file(m->file, &m->strategy);
    m->protocol = (struct lb_protocol){
        .strategy = &m->strategy, .path = m->name, .is_named = true, .user_file = m->file};
    m->selection = (struct lb_selection){.protocols = &m->protocol,
                                         .n_protocols = 1,
                                         .places = m->place,
                                         .n_places = 1,
                                         .settings = is_own ? selection->settings : NULL,
                                         .n_settings = is_own ? selection->n_settings : 0};
    if (!lb_file_supports(m->file, m->place->target.db, err))
        return LB_E_UNSUPPORTED;
    return lb_program_new(m->file, m->place->target.db, NULL, m->selection.settings,
                          m->selection.n_settings, &m->program, err);
}

/* "7", or "3+5": prints the text. */
static int print_mutant(const struct lb_mutation *m, const char *asked, struct lb_error *err)
{
    uint64_t numbers[2] = {0};
    char first[16];
    size_t n = strcspn(asked, "+");
    const char *second = asked[n] == '+' ? asked + n + 1 : NULL;
    snprintf(first, sizeof first, "%.*s", (int)n, asked);
    bool is_number = n < sizeof first && lb_parse_count(first, &numbers[0]) == 0 &&
                     (second == NULL || lb_parse_count(second, &numbers[1]) == 0);
    bool exists = is_number && numbers[0] >= 1 && numbers[0] <= m->mutants.n &&
                  (second == NULL || (numbers[1] >= 1 && numbers[1] <= m->mutants.n));
    const struct lb_mutant *a = exists ? &m->mutants.at[numbers[0] - 1] : NULL;
    const struct lb_mutant *b = exists && second != NULL ? &m->mutants.at[numbers[1] - 1] : NULL;
    if (!exists || (b != NULL && !lb_mutants_pair(a, b)))
        return lb_fail(err, LB_E_USAGE,
                       "option --mutant: '%s' is not a number from 1 to %zu, or two of conditions "
                       "of one statement (3+5)",
                       asked, m->mutants.n);
    char *both = b != NULL ? lb_mutants_without(m->file, a, b) : NULL;
    fputs(both != NULL ? both : a->text, stdout);
    free(both);
    return 0;
}

/* built_in: it, and its options; for a user's file no break is known. */
static void print_accused(const struct lb_mutation *m, const struct lb_selection *built_in)
{
    const struct lb_cell cell = {.strategy = built_in->protocols[0].strategy,
                                 .target = &m->place->target,
                                 .settings = built_in->settings,
                                 .n_settings = built_in->n_settings};
    const struct lb_break *known = NULL;
    for (int g = 0; g < LB_GUARANTEES && known == NULL; g++)
        if (strcmp(lb_guarantee_name((enum lb_guarantee)g), m->accused.what) == 0)
            known = lb_cell_known_break(&cell, (enum lb_guarantee)g);
    fprintf(stderr,
            "lockbench: %s itself violates %s (%s): its mutants mean nothing\n"
            "  %s\n",
            m->strategy.name, m->accused.what, m->accused.question, m->accused.witness);
    if (known != NULL)
        fprintf(stderr, "  known: %s\n", known->why);
    fprintf(stderr, "  again: %s\n", m->accused.again);
}

static enum lb_exit print_verdicts(const struct lb_mutation *m, const struct lb_selection *built_in,
                                   double least, struct lb_error *err)
{
    if (m->is_accused) {
        print_accused(m, built_in);
        return LB_EXIT_VIOLATED;
    }
    if (lb_args_wants(m->args, "json")) {
        if (lb_mutation_print_json(m, stdout, err) != 0)
            return lb_cli_complain_of_output(err);
    } else if (lb_args_wants(m->args, "tap")) {
        lb_mutation_print_tap(m, stdout);
    } else {
        lb_mutation_print(m, stdout);
    }
    if (atomic_load(&m->stop->requested) != 0)
        return LB_EXIT_INTERRUPTED;
    if (lb_mutation_share(m) >= least)
        return LB_EXIT_OK;
    fprintf(stderr, "lockbench: %.0f %% of the mutants are distinguished: under %.0f %%\n",
            100 * lb_mutation_share(m), 100 * least);
    return LB_EXIT_REGRESSION;
}

static int prepare(struct lb_mutation *m, struct lb_selection *selection, struct lb_error *err)
{
    int r = lb_select(selection, m->args, &defaults, err);
    if (r == 0 && selection->n_protocols * selection->n_places != 1)
        r = lb_fail(err, LB_E_USAGE, "mutate takes one strategy and one target");
    if (r != 0)
        return r;
    m->place = &selection->places[0];
    m->name = selection->protocols[0].path;
    r = read_original(m, selection, err);
    if (r == 0)
        lb_mutants_make(m->file, m->program, m->selection.settings, m->selection.n_settings,
                        &m->mutants);
    return r;
}

static int judge(struct lb_mutation *m, struct lb_selection *selection, struct lb_error *err)
{
    struct lb_args asked = *m->args;
    asked.budget_ns = 0; /* of verify's plan: the usual one */
    int r = lb_select_connect(selection, err);
    if (r == 0)
        r = lb_select_cells(&m->selection, &asked, &defaults, &m->report, err);
    if (r == 0)
        r = lb_mutation_judge(m, err);
    return r;
}

static void release(struct lb_mutation *m, struct lb_selection *selection)
{
    for (size_t i = 0; i < m->n_questions; i++) {
        lb_states_free(&m->questions[i].states);
        lb_states_free(&m->questions[i].distinct);
    }
    free(m->questions);
    for (size_t i = 0; i < m->report.n_cells; i++)
        lb_cell_release(&m->report.cells[i]);
    free(m->report.cells);
    for (size_t i = 0; i < m->selection.n_outlooks; i++)
        free(m->selection.outlooks[i]);
    free(m->selection.outlooks);
    lb_mutation_release(m);
    lb_mutants_free(&m->mutants);
    lb_program_free(m->program);
    lb_file_free(m->file);
    lb_selection_release(selection);
}

enum lb_exit lb_command_mutate(const struct lb_args *args)
{
    struct lb_selection selection = {0};
    struct lb_mutation m = {.args = args, .stop = lb_signals_install()};
    struct lb_error err = {0};
    enum lb_exit status = LB_EXIT_OK;
    double least = 0;
    uint64_t n_jobs = 1;
    m.is_shown = lb_terminal_is(STDERR_FILENO);
    m.start_ns = lb_now_ns();
    m.still_unix_ms = lb_unix_ms();
    m.end_ns = m.start_ns + (args->budget_ns > 0 ? args->budget_ns : BUDGET_NS);
    int r = lb_take_share("fail-under", args->fail_under, &least, &err);
    if (r == 0)
        r = lb_take_count("jobs", args->jobs, 1, LB_MOST_JOBS, &n_jobs, &err);
    m.n_jobs = (unsigned)n_jobs;
    if (r == 0)
        r = prepare(&m, &selection, &err);
    if (r == 0 && args->mutant != NULL)
        r = print_mutant(&m, args->mutant, &err);
    else if (r == 0)
        r = judge(&m, &selection, &err);
    if (r != 0)
        status = lb_cli_complain(&err);
    else if (args->mutant == NULL)
        status = print_verdicts(&m, &selection, least, &err);
    release(&m, &selection);
    return status;
}
