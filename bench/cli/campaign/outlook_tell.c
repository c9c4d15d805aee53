/* The results of an outlook, in words for the author of the file: see outlook.h.
 *
 * A paragraph per guarantee that was broken: what happened (of an explored schedule where there is
 * one: it is the shortest), the lines that allow it, the change, and the command that shows it
 * alone. Lines and change are derived from the file's features, and so are hints and no verdict:
 * the verdict comes from the history.
 */
#include "outlook.h"

#include "advice.h"
#include "array.h"
#include "definitions.h"
#include "text_clean.h"
#include "untested.h"

#include <limits.h>
#include <string.h>

void lb_outlook_tell_plan(const struct lb_outlook *outlook, FILE *out)
{
    const struct lb_features *f = &outlook->features;
    const char *separator = "";
    fprintf(out, "# plan of %s on %s: ", outlook->strategy, outlook->engine);
    for (size_t i = 0; i < outlook->n_asks; i++) {
        if (outlook->asks[i].is_left_out)
            continue;
        fprintf(out, "%s%s", separator, outlook->asks[i].name);
        separator = ", ";
    }
    fputs(" (--plan says why)\n", out);
    char path[PATH_MAX], text[sizeof outlook->unknown.text];
    if (outlook->unknown.line != 0)
        fprintf(out, "# warning: %s:%d: \"%s:\" is not a directive: this line changes nothing\n",
                lb_shown(outlook->path, path, sizeof path), outlook->unknown.line,
                lb_shown(outlook->unknown.text, text, sizeof text));
    const struct lb_timing *const timings[] = {f->lease, f->limit};
    for (size_t i = 0; i < sizeof timings / sizeof timings[0]; i++)
        if (timings[i] != NULL)
            fprintf(out, "# %s: %s, %s line %d; each scenario sets it\n",
                    i == 0 ? "lease" : "limit of recover", timings[i]->name,
                    timings[i]->is_said ? "as said in" : "inferred from", timings[i]->line);
    if (f->constant_line != 0)
        fprintf(out,
                "# line %d uses a length of time that no option sets: %s; make it one, and "
                "crowds and deaths are tested, too\n",
                f->constant_line,
                f->has_fixed_lease ? "exploring moves the clocks past it"
                                   : "recovery from deaths is not tested");
    if (f->later_line != 0)
        fprintf(out,
                "# line %d puts an item off for as long as no option says: whether it comes again "
                "is not tested; make it one\n",
                f->later_line);
    if (f->whole_line != 0)
        fprintf(out,
                "# clock: line %d has whole seconds only, a lease or limit that uses it ends up to "
                "a second early or late\n",
                f->whole_line);
}

/* --- findings --- */

/* The cell that shows it best: explored before stressed, in the order of the plan. */
static struct lb_cell *shown_by(const struct lb_outlook *outlook, struct lb_report *report,
                                enum lb_guarantee guarantee)
{
    struct lb_cell *stressed = NULL;
    for (size_t i = 0; i < report->n_cells; i++) {
        struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != outlook || cell->state != LB_CELL_DONE ||
            lb_cell_expectation(cell, guarantee) != LB_EXPECT_BROKEN)
            continue;
        const struct lb_outcome *run;
        if (cell->is_explored && lb_cell_finding(cell, guarantee, &run)->n_witnesses > 0)
            return cell;
        stressed = stressed != NULL ? stressed : cell;
    }
    return stressed;
}

static void add_line(struct lb_hint *hint, const struct lb_quote *quote)
{
    if (quote->line == 0 || hint->n_lines == LB_HINT_LINES)
        return;
    hint->lines[hint->n_lines].line = quote->line;
    hint->lines[hint->n_lines++].text = quote->text;
}

/* All statements of the section of that line; of setup, which makes all tables, that line. shown:
 * bits of the statements that are there by now. */
static void add_section(const struct lb_outlook *outlook, const struct lb_quote *quote,
                        uint64_t *shown, struct lb_hint *hint)
{
    int section = LB_S_SETUP;
    for (size_t i = 0; i < outlook->n_statements; i++)
        if (outlook->statements[i].line == quote->line)
            section = outlook->statements[i].section;
    for (size_t i = 0; i < outlook->n_statements; i++) {
        const struct lb_quote *it = &outlook->statements[i];
        if (section == LB_S_SETUP ? it->line != quote->line : it->section != section)
            continue;
        if ((*shown >> i & 1) == 0 && (i == 0 || it->line != it[-1].line))
            add_line(hint, it);
        *shown |= UINT64_C(1) << i;
    }
}

/* What the test plays beside claims and their ends: without that, earlier tests of the plan did not
 * show it. Where the operator is to blame, the errors before are not. */
static void add_played(const struct lb_outlook *o, const struct lb_cell *cell,
                       const struct lb_advice *advice, uint64_t *shown, struct lb_hint *hint)
{
    const struct lb_explored_ask *ask = &cell->explored;
    const struct lb_scenario *s = &cell->scenario;
    bool explored = cell->is_explored;
    bool fails = (explored ? ask->errors : s->error > 0) && advice->quotes[0] != &o->operator;
    bool frees = explored ? ask->frees > 0 : s->free_share > 0;
    bool is_lost = hint->guarantee == LB_G_NO_LOSS;
    bool is_counted = hint->guarantee == LB_G_RATE || hint->guarantee == LB_G_KEY_LIMIT;
    bool has_ends = explored && o->shape == LB_LOCK && !ask->cancels &&
                    (ask->rounds > 1 || (ask->resources > 1 && !ask->apart));
    const struct {
        bool is_played;
        const struct lb_quote *quote;
    } all[] = {{is_counted || has_ends, &o->end}, {explored && ask->renewals > 0, &o->renew},
               {fails, &o->error},
               {fails, &o->operator},
                {frees, &o->free},
                {frees, &o->retry},
                {explored ? ask->rescuers > 0 : is_lost && s->recover_ns > 0, &o->recover},
                {explored && ask->putters > 0, &o->put},
                {explored && ask->leaves, &o->leave},
                {!explored && s->fault == LB_FAULT_TERM, &o->stop}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].is_played && all[i].quote->line != 0)
            add_section(o, all[i].quote, shown, hint);
}

/* Guarantees that two transactions break together if neither sees the other. */
static const unsigned of_two = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_FENCED) |
                               LB_G_BIT(LB_G_NO_DUPLICATE) | LB_G_BIT(LB_G_NO_LOSS) |
                               LB_G_BIT(LB_G_FIFO) | LB_G_BIT(LB_G_GROUP_EXCLUSIVE) |
                               LB_G_BIT(LB_G_KEY_LIMIT) | LB_G_BIT(LB_G_UNIQUE) |
                               LB_G_BIT(LB_G_PRIORITY) | LB_G_BIT(LB_G_RATE);

/* True if the operation is one transaction. */
static bool is_transaction(const struct lb_features *f, int op)
{
    switch (op) {
    case LB_OP_ACQUIRE:
    case LB_OP_CLAIM:
        return f->is_one_commit;
    case LB_OP_PUT:
        return !f->puts_apart;
    case LB_OP_COMPLETE:
        return !f->end_parted;
    case LB_OP_RECOVER:
        return !f->recovers_apart;
    default:
        return false;
    }
}

/* True if the finding shows transactions of two workers that were open at one time: the isolation
 * level of the file's head decides what each sees of the other. */
static bool are_both_open(const struct lb_outlook *outlook, enum lb_guarantee guarantee,
                          const struct lb_cell *cell)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
    if (outlook->isolation.line == 0 || (of_two & LB_G_BIT(guarantee)) == 0 ||
        finding->n_witnesses == 0)
        return false;
    const struct lb_witness *witness = &finding->witness[0];
    for (size_t i = 0; i < witness->n_ops; i++)
        for (size_t k = 0; k < witness->n_ops; k++) {
            const struct lb_witness_op *a = &witness->ops[i], *b = &witness->ops[k];
            bool are_two = a->log != b->log && is_transaction(f, a->op) && is_transaction(f, b->op);
            bool is_held = f->is_held_in_tx && (a->op == LB_OP_ACQUIRE || a->op == LB_OP_CLAIM);
            if (are_two && a->invoke_ns <= b->invoke_ns && (is_held || b->invoke_ns < a->end_ns))
                return true; /* a hold that is a transaction is open until its release */
        }
    return false;
}

/* The lines that allow it, the definitions of what they use, and the fix: all statements of a
 * section. */
static void make_hint(const struct lb_outlook *outlook, const struct lb_report *report,
                      const struct lb_cell *cell, enum lb_guarantee guarantee, struct lb_hint *ret)
{
    struct lb_advice advice = {.text = NULL};
    *ret = (struct lb_hint){.guarantee = guarantee, .path = outlook->path};
    if (!outlook->is_guest && lb_file_before(cell->file) == NULL) /* of two: which one is wrong? */
        advice = lb_advise(outlook, report, guarantee, cell);
    const struct lb_quote *definitions[LB_DEFINED_SHOWN];
    uint64_t shown = 0;
    for (size_t i = 0; i < sizeof advice.quotes / sizeof advice.quotes[0]; i++)
        if (advice.quotes[i] != NULL && advice.quotes[i]->line != 0)
            add_section(outlook, advice.quotes[i], &shown, ret);
    if (advice.text == NULL)
        return;
    add_played(outlook, cell, &advice, &shown, ret);
    if (outlook->trigger.line != 0) /* part of what writes */
        add_section(outlook, &outlook->trigger, &shown, ret);
    size_t n = lb_outlook_definitions(outlook, shown, definitions);
    for (size_t i = 0; i < n; i++)
        add_line(ret, definitions[i]);
    bool overlaps = are_both_open(outlook, guarantee, cell);
    if (overlaps)
        add_line(ret, &outlook->isolation);
    snprintf(ret->fix, sizeof ret->fix, "%s%s", advice.text,
             overlaps ? ". Both transactions were open at one time: the isolation level decides "
                        "what each sees of the other"
                      : "");
}

void lb_outlook_add_hints(const struct lb_outlook *outlook, struct lb_report *report)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        struct lb_cell *cell = shown_by(outlook, report, (enum lb_guarantee)g);
        if (cell == NULL)
            continue;
        struct lb_hint *hint = lb_array_add(&cell->hints, &cell->n_hints, sizeof *hint);
        make_hint(outlook, report, cell, (enum lb_guarantee)g, hint);
    }
}

static void print_hint(const struct lb_hint *hint, FILE *out)
{
    char path[PATH_MAX], text[200];
    for (size_t i = 0; i < hint->n_lines; i++)
        fprintf(out, "#   %s:%d: %s\n", lb_shown(hint->path, path, sizeof path),
                hint->lines[i].line, lb_shown(hint->lines[i].text, text, sizeof text));
    if (hint->fix[0] != '\0')
        fprintf(out, "#   The fix: %s\n", hint->fix);
}

static void print_name(const struct lb_outlook *outlook, enum lb_guarantee guarantee, FILE *out)
{
    fprintf(out, "# %s on %s breaks %s:\n", outlook->strategy, outlook->engine,
            lb_guarantee_name(guarantee));
}

static void print_finding(const struct lb_outlook *outlook, const struct lb_cell *cell,
                          const struct lb_hint *hint, FILE *out)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, hint->guarantee, &run);
    char command[1200];
    fputs("#\n", out);
    print_name(outlook, hint->guarantee, out);
    fprintf(out, "#   %s\n",
            finding->n_witnesses > 0 ? finding->witness[0].text : "see the command below");
    print_hint(hint, out);
    fprintf(out, "#   shown by: %s\n", lb_reproduce(cell, run, finding, command, sizeof command));
}

/* The cell of the file that shows it, and the hint of that cell; NULL: it is not broken. */
static const struct lb_cell *find_hint(const struct lb_outlook *outlook,
                                       const struct lb_report *report, enum lb_guarantee guarantee,
                                       const struct lb_hint **ret)
{
    for (size_t i = 0; i < report->n_cells; i++) {
        *ret = lb_cell_hint(&report->cells[i], guarantee);
        if (report->cells[i].outlook == outlook && *ret != NULL)
            return &report->cells[i];
    }
    return NULL;
}

/* What the scenarios themselves disprove, such as the classes of items. Returns how many. */
static unsigned print_disproved(const struct lb_outlook *outlook, const struct lb_report *report,
                                FILE *out)
{
    unsigned n = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        const struct lb_outcome *run = NULL;
        char command[1200];
        if (cell->outlook != outlook || cell->n_runs == 0 ||
            lb_cell_proof(cell, &run) == LB_EXPECT_NOTHING || run->proof.verdict != LB_V_VIOLATED)
            continue;
        n++;
        fprintf(out, "#\n# %s on %s breaks %s:\n#   %s\n#   shown by: %s\n", outlook->strategy,
                outlook->engine, run->proof.name, run->proof.text,
                lb_reproduce(cell, run, NULL, command, sizeof command));
    }
    return n;
}

/* --- when nothing was found --- */

struct tally {
    unsigned n_scenarios, n_faults, n_complete, n_bounded, n_invalid, n_asked, n_failed;
    uint64_t n_schedules, elapsed_ns;
};

static struct tally tally_of(const struct lb_outlook *outlook, const struct lb_report *report)
{
    struct tally t = {0};
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        t.n_asked += cell->outlook == outlook;
        t.n_failed += cell->outlook == outlook && cell->state == LB_CELL_FAILED;
        if (cell->outlook != outlook || cell->n_runs == 0)
            continue;
        const struct lb_outcome *run = cell->runs[0];
        for (size_t r = 0; r < cell->n_runs; r++)
            t.elapsed_ns += cell->runs[r]->elapsed_ns;
        t.n_invalid += run->state == LB_RUN_INVALID && !run->lacks_fault;
        if (run->exploration != NULL) {
            t.n_schedules += run->exploration->n_schedules;
            t.n_complete += run->exploration->complete;
            t.n_bounded += !run->exploration->complete;
        } else if (cell->scenario.fault != LB_FAULT_NONE) {
            t.n_faults++;
        } else {
            t.n_scenarios++;
        }
    }
    return t;
}

/* Which explorations did not come to their end, and why: nothing is known of the rest. */
static void print_bounded(const struct lb_outlook *outlook, const struct lb_report *report,
                          FILE *out)
{
    bool is_for_time = false;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != outlook || cell->n_runs == 0 || cell->runs[0]->exploration == NULL ||
            cell->runs[0]->exploration->complete)
            continue;
        const char *covered = cell->runs[0]->exploration->covered;
        fprintf(out, "# not explored to the end: %s, %s\n", cell->scenario.name, covered);
        is_for_time = is_for_time || strstr(covered, "ended after") != NULL;
    }
    if (is_for_time)
        fputs("# --budget 10m goes on for longer\n", out);
}

/* Tests that are impossible for this file or on this server. They have no cell. */
static void print_left_out(const struct lb_outlook *outlook, FILE *out)
{
    const char *separator = "; left out: ";
    for (size_t i = 0; i < outlook->n_asks; i++) {
        const struct lb_ask *ask = &outlook->asks[i];
        if (!ask->is_left_out || ask->is_deferred)
            continue;
        fprintf(out, "%s%s", separator, ask->name);
        separator = ", ";
    }
    if (separator[0] == ',')
        fputs(" (--plan says why)", out);
}

static const struct lb_cell *first_of(const struct lb_outlook *outlook,
                                      const struct lb_report *report)
{
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].outlook == outlook)
            return &report->cells[i];
    return NULL;
}

static void print_tally(const struct lb_outlook *outlook, const struct lb_report *report,
                        unsigned n_broken, FILE *out)
{
    struct tally t = tally_of(outlook, report);
    const struct lb_cell *first = first_of(outlook, report);
    fputs("#\n", out);
    print_bounded(outlook, report, out);
    fprintf(out, "# %s on %s: ", outlook->strategy, outlook->engine);
    if (t.n_failed > 0 && t.n_scenarios + t.n_faults + t.n_complete + t.n_bounded == 0) {
        fprintf(out, "nothing was tested: %u of %u tests ended in an error%s\n", t.n_failed,
                t.n_asked, t.n_asked > t.n_failed ? "; the others were not tried" : "");
        return;
    }
    if (n_broken == 0)
        fputs("no violation", out);
    else
        fprintf(out, "%u guarantee%s broken", n_broken, n_broken == 1 ? "" : "s");
    fprintf(out, " in %.0f s: ", (double)t.elapsed_ns / 1e9);
    if (!outlook->is_guest)
        fprintf(out, "%llu schedules explored", (unsigned long long)t.n_schedules);
    if (t.n_complete + t.n_bounded > 0)
        fprintf(out, " (%u of %u explorations complete)", t.n_complete, t.n_complete + t.n_bounded);
    fprintf(out, "%s%u scenario%s, %u under faults", outlook->is_guest ? "" : ", ",
            t.n_scenarios + t.n_faults, t.n_scenarios + t.n_faults == 1 ? "" : "s", t.n_faults);
    if (t.n_invalid > 0)
        fprintf(out, ", %u inconclusive", t.n_invalid);
    if (t.n_failed > 0)
        fprintf(out, ", %u ended in an error", t.n_failed);
    if (first != NULL)
        lb_untested_print(report, first, "; not tested: ", out);
    print_left_out(outlook, out);
    fputc('\n', out);
}

void lb_outlook_tell_end(const struct lb_outlook *outlook, const struct lb_report *report,
                         FILE *out, FILE *diagnostics)
{
    unsigned n_broken = 0;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_hint *hint;
        const struct lb_cell *cell = find_hint(outlook, report, (enum lb_guarantee)g, &hint);
        if (cell == NULL)
            continue;
        n_broken++;
        print_finding(outlook, cell, hint, out);
        if (diagnostics == NULL || outlook->is_guest)
            continue;
        fflush(out); /* a reader of both sees them in their order */
        print_name(outlook, hint->guarantee, diagnostics);
        print_hint(hint, diagnostics);
    }
    n_broken += print_disproved(outlook, report, out);
    print_tally(outlook, report, n_broken, out);
}
