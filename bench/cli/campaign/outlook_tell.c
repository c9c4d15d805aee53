/* What came of an outlook, in words for whoever wrote the file: see outlook.h.
 *
 * A paragraph per guarantee that was broken: what happened (of an explored schedule where there is
 * one: it is the shortest), the lines that allow it, what to change, and the command that shows it
 * alone. Which lines and what to change is read off the file's features, and so is a hint and no
 * verdict: the verdict is the history's.
 */
#include "outlook.h"

#include <stdlib.h>
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
    if (outlook->unknown.line != 0)
        fprintf(out, "# warning: %s:%d: \"%s:\" is not a directive: this line changes nothing\n",
                outlook->path, outlook->unknown.line, outlook->unknown.text);
    const struct lb_timing *const timings[] = {f->lease, f->limit};
    for (size_t i = 0; i < sizeof timings / sizeof timings[0]; i++)
        if (timings[i] != NULL)
            fprintf(out, "# %s: %s, %s line %d; each scenario sets it\n",
                    i == 0 ? "lease" : "limit of recover", timings[i]->name,
                    timings[i]->is_said ? "as said in" : "inferred from", timings[i]->line);
    if (f->whole_line != 0)
        fprintf(out,
                "# clock: line %d has whole seconds only, what goes by it ends up to a second "
                "early or late\n",
                f->whole_line);
}

/* --- what to change --- */

struct advice {
    const struct lb_quote *quotes[3];
    const char *text;
};

static struct advice advise_unasked(const struct lb_outlook *o)
{
    struct advice advice = {.quotes = {&o->unasked}};
    if (o->features.recovers_by_time)
        advice.quotes[1] = &o->recover;
    advice.text = o->shape == LB_LOCK ? "let what ends a hold ask whose it is: AND holder = "
                                        ":worker, or better the grant's own "
                                        "number, which acquire returns as token: AND token = :token"
                                      : "let what ends a claim ask which claim it is: count the "
                                        "claims in a column, return it as "
                                        "token, and add AND attempt = :token (the holder alone "
                                        "will not do where one worker may "
                                        "claim an item twice)";
    return advice;
}

/* Was the cell about renewals, which nothing else had shown to be wrong before? */
static bool is_renewed(const struct lb_cell *cell)
{
    return cell->is_explored ? cell->explored.renewals > 0 : cell->scenario.renew_ns > 0;
}

static struct advice advise_heartbeat(const struct lb_outlook *o)
{
    return (struct advice){
        .quotes = {&o->beat, &o->recover, &o->sweep},
        .text = "free only what a process has that was not heard of for the limit: let recover go "
                "by the time that heartbeat writes and not by that of the claim, and sweep by who "
                "is alive and not by the machine"};
}

static struct advice advise_renewal(const struct lb_outlook *o)
{
    struct advice advice = {.quotes = {&o->renew, &o->begin}};
    if (o->features.lease == NULL)
        advice.quotes[1] = &o->recover;
    advice.text = o->shape == LB_LOCK
                      ? "let renew write the time that acquire goes by, and ask whose hold it "
                        "prolongs: AND holder = :worker, or better AND token = :token"
                      : "let renew write the time that claim or recover goes by, and ask which "
                        "claim it prolongs: count the claims in a column, return it as token, and "
                        "add AND attempt = :token";
    return advice;
}

/* What an operator frees, or does not. */
static struct advice advise_recover(const struct lb_outlook *o)
{
    return (struct advice){
        .quotes = {&o->begin, &o->recover},
        .text = "let recover go by the time of the hold, written by acquire itself (and by renew): "
                "it frees what is older than its limit, and nothing else"};
}

/* All workers' clocks agreed, and were not the server's. */
static bool are_clocks_apart(const struct lb_cell *cell)
{
    return !cell->is_explored && cell->scenario.skew_ns > 0 &&
           cell->scenario.skewed != LB_SKEWED_HALF;
}

static struct advice advise_clocks(const struct lb_outlook *o)
{
    return (struct advice){
        .quotes = {&o->by_worker, &o->by_server},
        .text = "a time that one clock wrote is compared with another: write and compare each time "
                "by one clock, best the server's (clock_timestamp(), SYSDATE(6), "
                "julianday('now')), which all workers share; :now is the worker's own"};
}

static struct advice advise_lock(const struct lb_outlook *o, enum lb_guarantee guarantee,
                                 const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    if (guarantee == LB_G_RECOVERY && f->lease == NULL && !f->is_session_bound)
        return (struct advice){
            .quotes = {&o->begin},
            .text = "nothing ends what a dead holder has: store until when a hold lasts and let "
                    "acquire take over what is past, or keep the hold in its session (tx=hold)"};
    if (guarantee == LB_G_RECOVERY && f->lease != NULL && f->lease->by_recover)
        return advise_recover(o);
    if (guarantee == LB_G_EXCLUSIVE && cell->is_explored && cell->explored.rescuers > 0 &&
        cell->explored.renewals == 0)
        return advise_recover(o);
    if (guarantee == LB_G_EXCLUSIVE && cell->is_explored && cell->explored.rounds > 1 &&
        o->end_last.line != 0)
        return (struct advice){
            .quotes = {&o->end, &o->end_last},
            .text = "release looks whose the hold is in one statement, and ends it in another: in "
                    "between the lease can end, and somebody else's hold is ended. Ask in the "
                    "statement that writes: AND holder = :worker, or better AND token = :token"};
    if (guarantee == LB_G_EXCLUSIVE && strcmp(cell->scenario.name, "blocker") == 0)
        return (struct advice){
            .quotes = {&o->clock},
            .text =
                "what a statement sets, and the values it inserts, are computed before it waits "
                "for the row, and so was the lease's end. Lock the row first, by a statement of "
                "its "
                "own (tx=one, SELECT ... FOR UPDATE), and ask for the time in the one behind it "
                "(clock_timestamp(), SYSDATE(6)); or return left_ms, how much is left, and let "
                "who has nothing left try again"};
    if (guarantee == LB_G_PERMITS)
        return (struct advice){
            .quotes = {&o->begin, &o->begin_end, &o->unasked},
            .text = "change the count only together with the row of a holder, in one transaction, "
                    "and only if that row was there: whoever takes over what is past gives its "
                    "permit back once, and its late release finds no row and changes nothing; or "
                    "store no count, and count the holders"};
    if (guarantee == LB_G_EXCLUSIVE && is_renewed(cell))
        return advise_renewal(o);
    bool no_time = cell->is_explored && cell->explored.ticks == 0 && cell->explored.deaths == 0;
    if (guarantee == LB_G_EXCLUSIVE && no_time && o->begin_end.line == 0)
        return (struct advice){
            .quotes = {&o->begin},
            .text = "acquire itself lets a second one in while the first one holds: let the "
                    "statement that writes ask that nobody else holds it, by a name that no two "
                    "have"};
    if (guarantee == LB_G_OWNER_RELEASE ||
        (guarantee == LB_G_EXCLUSIVE && !no_time && f->lease != NULL && o->unasked.line != 0))
        return advise_unasked(o);
    if (guarantee == LB_G_EXCLUSIVE && f->lease != NULL && f->lease->by_recover && f->is_one_commit)
        return advise_recover(o);
    if (guarantee == LB_G_EXCLUSIVE && o->begin_end.line != 0)
        return (struct advice){
            .quotes = {&o->begin, &o->begin_end},
            .text = "what the first statement saw need not hold when the last one writes: let the "
                    "writing statement ask itself (WHERE ... IS NULL) and look at how many rows it "
                    "changed, or lock what is read (tx=one, FOR UPDATE)"};
    return (struct advice){.quotes = {&o->begin, &o->begin_end}};
}

/* Two have the same item in hand. */
static struct advice advise_duplicate(const struct lb_outlook *o, const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    if (f->has_renew && is_renewed(cell))
        return advise_renewal(o);
    if (!f->is_one_commit)
        return (struct advice){
            .quotes = {&o->begin, &o->begin_end},
            .text =
                "what is selected is marked by another transaction: two see the same item in "
                "between. Select and mark in one statement, or in one transaction (tx=one) with "
                "FOR UPDATE"};
    if (f->has_beat)
        return advise_heartbeat(o);
    if (f->has_recover)
        return (struct advice){
            .quotes = {&o->begin, &o->recover},
            .text = "let recover go by the time of the claim, written by the claim itself: what it "
                    "takes must be older than its limit"};
    if (f->has_sweep)
        return (struct advice){
            .quotes = {&o->begin, &o->sweep},
            .text = "a process that starts is not alone: let its sweep free only what nobody has "
                    "who is alive (register, heartbeat), or what was claimed too long ago"};
    if (o->begin_end.line == 0)
        return (struct advice){
            .quotes = {&o->begin},
            .text = "claim itself takes what another has in hand: let the statement that marks an "
                    "item ask, once it has the row, that it is free or its time is over, and let "
                    "no two workers have one name"};
    return (struct advice){.quotes = {&o->begin, &o->begin_end}};
}

static struct advice advise_queue(const struct lb_outlook *o, enum lb_guarantee guarantee,
                                  const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    if (guarantee == LB_G_OWNER_RELEASE)
        return advise_unasked(o);
    if (guarantee == LB_G_NO_DUPLICATE)
        return advise_duplicate(o, cell);
    if (guarantee == LB_G_RECOVERY && f->has_beat)
        return (struct advice){
            .quotes = {&o->beat, &o->recover},
            .text = "what a dead process has must come back: let each process speak for itself "
                    "alone, and let recover find also what a process has whose row is gone"};
    if (guarantee == LB_G_ONCE)
        return (struct advice){
            .quotes = {&o->begin, &o->recover},
            .text = "what was claimed and is not done may have been begun: mark it for people to "
                    "look at instead of giving it to the next worker, or promise no more than that "
                    "nothing is lost, and let the work bear being done twice"};
    if (guarantee == LB_G_GROUP_EXCLUSIVE)
        return (struct advice){
            .quotes = {&o->begin, &o->begin_end},
            .text = "two claims that do not see each other take two items of one group: let the "
                    "database refuse the second (a unique index on the group of what is in hand, "
                    "or a row of its own for each group that the claim locks)"};
    if (guarantee == LB_G_RECOVERY && f->lease != NULL && !f->has_recover)
        return (struct advice){.quotes = {&o->begin},
                               .text = "what the dead have claimed must be claimed again when its "
                                       "lease is over: let claim ask for that time"};
    if (guarantee == LB_G_RECOVERY && !f->has_recover)
        return (struct advice){.quotes = {&o->begin},
                               .text = "nothing brings back what the dead have claimed: add a "
                                       "section recover, or let claims be leases"};
    if (guarantee == LB_G_BOUNDED_CLAIM)
        return (struct advice){
            .quotes = {&o->begin, &o->begin_end},
            .text =
                "a sub-select with LIMIT may be run once for each row: join it (FROM), or write "
                "= (SELECT ... LIMIT 1), and give the table a primary key"};
    return (struct advice){.quotes = {&o->begin, &o->begin_end}};
}

/* --- findings --- */

/* The cell that shows it best: explored before stressed, in the order of the plan. */
static const struct lb_cell *shown_by(const struct lb_outlook *outlook,
                                      const struct lb_report *report, enum lb_guarantee guarantee)
{
    const struct lb_cell *stressed = NULL;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != outlook || cell->state != LB_CELL_DONE ||
            lb_cell_expectation(cell, guarantee) != LB_EXPECT_BROKEN)
            continue;
        if (cell->is_explored)
            return cell;
        stressed = stressed != NULL ? stressed : cell;
    }
    return stressed;
}

static void print_finding(const struct lb_outlook *outlook, const struct lb_cell *cell,
                          enum lb_guarantee guarantee, FILE *out)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
    struct advice advice = {.text = NULL};
    if (!outlook->is_guest && are_clocks_apart(cell))
        advice = advise_clocks(outlook);
    else if (!outlook->is_guest)
        advice = outlook->shape == LB_LOCK ? advise_lock(outlook, guarantee, cell)
                                           : advise_queue(outlook, guarantee, cell);
    char command[1200];
    fprintf(out, "#\n# %s on %s breaks %s:\n", outlook->strategy, outlook->engine,
            lb_guarantee_name(guarantee));
    fprintf(out, "#   %s\n",
            finding->n_witnesses > 0 ? finding->witness[0].text : "see the command below");
    for (size_t i = 0, last = 0; i < sizeof advice.quotes / sizeof advice.quotes[0]; i++) {
        const struct lb_quote *quote = advice.quotes[i];
        if (quote == NULL || quote->line == 0 || (size_t)quote->line == last)
            continue;
        fprintf(out, "#   %s:%d: %s\n", outlook->path, quote->line, quote->text);
        last = (size_t)quote->line;
    }
    if (advice.text != NULL)
        fprintf(out, "#   to change: %s\n", advice.text);
    fprintf(out, "#   shown by: %s\n", lb_reproduce(cell, run, finding, command, sizeof command));
}

/* --- when nothing was found --- */

struct tally {
    unsigned n_scenarios, n_faults, n_complete, n_bounded;
    uint64_t n_schedules, elapsed_ns;
};

static struct tally tally_of(const struct lb_outlook *outlook, const struct lb_report *report)
{
    struct tally t = {0};
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != outlook || cell->n_runs == 0)
            continue;
        const struct lb_outcome *run = cell->runs[0];
        for (size_t r = 0; r < cell->n_runs; r++)
            t.elapsed_ns += cell->runs[r]->elapsed_ns;
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

static void print_tally(const struct lb_outlook *outlook, const struct lb_report *report,
                        unsigned n_broken, FILE *out)
{
    struct tally t = tally_of(outlook, report);
    fprintf(out, "#\n# %s on %s: ", outlook->strategy, outlook->engine);
    if (n_broken == 0)
        fputs("no violation", out);
    else
        fprintf(out, "%u guarantee%s broken", n_broken, n_broken == 1 ? "" : "s");
    fprintf(out, " in %.0f s: ", (double)t.elapsed_ns / 1e9);
    if (!outlook->is_guest)
        fprintf(out, "%llu schedules explored", (unsigned long long)t.n_schedules);
    if (t.n_complete + t.n_bounded > 0)
        fprintf(out, " (%u of %u explorations complete)", t.n_complete, t.n_complete + t.n_bounded);
    fprintf(out, "%s%u scenario%s, %u under faults\n", outlook->is_guest ? "" : ", ",
            t.n_scenarios + t.n_faults, t.n_scenarios + t.n_faults == 1 ? "" : "s", t.n_faults);
}

void lb_outlook_tell_end(const struct lb_outlook *outlook, const struct lb_report *report,
                         FILE *out)
{
    unsigned n_broken = 0;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_cell *cell = shown_by(outlook, report, (enum lb_guarantee)g);
        if (cell == NULL)
            continue;
        n_broken++;
        print_finding(outlook, cell, (enum lb_guarantee)g, out);
    }
    print_tally(outlook, report, n_broken, out);
}
