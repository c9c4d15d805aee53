/* From a guarantee that was broken, a file's features and the run that showed it to what to change:
 * see advice.h.
 */
#include "advice.h"

#include <string.h>

/* True if a worker died, or could die, between two statements of an acquire or claim that commits
 * each of them. */
static bool dies_between(const struct lb_outlook *o, const struct lb_cell *cell)
{
    return o->features.begin_parted &&
           (cell->is_explored ? cell->explored.deaths > 0
                              : lb_fault_is(cell->scenario.fault, LB_FAULT_KILLS));
}

static struct lb_advice advise_death(const struct lb_outlook *o)
{
    struct lb_advice advice = {.quotes = {&o->begin, &o->begin_end, &o->recover}};
    advice.text = o->shape == LB_LOCK
                      ? "a worker that dies between two statements of acquire leaves a state in "
                        "which no other is granted the lock: let them commit together (tx=one), "
                        "or write the holder and the lease's end in one statement"
                      : "a worker that dies between two statements of its claim leaves a state "
                        "that neither claim nor recover finds: let them commit together (tx=one), "
                        "or let recover look for that state too";
    return advice;
}

/* --- tokens, order, progress, loss --- */

static struct lb_advice advise_fenced(const struct lb_outlook *o)
{
    static const char *const texts[] = {
        [LB_TOKEN_NONE] = "acquire returns no token: count the grants in a column of the lock's "
                          "row, and return it as token",
        [LB_TOKEN_COUNTED] =
            "the token has to be larger than that of each earlier grant, also of those that are "
            "given back: count it in the statement that takes the lock, in a row that stays",
        [LB_TOKEN_KEPT] = "the statement that takes the lock returns a number that it does not "
                          "count up: SET fence = fence + 1 in each way in which a lock is taken",
        [LB_TOKEN_TIME] = "the token is a time: two grants may have the same one, and a clock may "
                          "be set back. Count the grants in a column instead: SET fence = fence + "
                          "1, and return that as token",
        [LB_TOKEN_READ_BEFORE] =
            "the token is read before the lock is taken, and another worker may be granted the "
            "lock in between, with the same token: count it up in the statement that takes the "
            "lock, SET "
            "fence = fence + 1, and return it from there (or read it behind that)",
        [LB_TOKEN_DRAWN_BEFORE] =
            "the number is drawn before the lock is taken: the first to draw may be granted last, "
            "with the smaller number. Draw it in the statement that takes the lock"};
    const struct lb_features *f = &o->features;
    struct lb_advice advice = {.quotes = {&o->token, &o->begin_end}, .text = texts[f->token]};
    if (f->token == LB_TOKEN_NONE)
        advice.quotes[0] = &o->begin;
    if (f->token == LB_TOKEN_COUNTED && f->end_deletes) {
        advice.quotes[1] = &o->end;
        advice.text = "release deletes the row in which the token is counted, and the next grant "
                      "begins anew: keep the row, and mark it as free";
    }
    return advice;
}

/* Was the guarantee broken where one worker was alone? */
static bool breaks_alone(const struct lb_outlook *o, const struct lb_report *report,
                         enum lb_guarantee guarantee)
{
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].outlook == o && report->cells[i].scenario.workers == 1 &&
            lb_cell_expectation(&report->cells[i], guarantee) == LB_EXPECT_BROKEN)
            return true;
    return false;
}

static struct lb_advice advise_line(const struct lb_outlook *o)
{
    if (!o->features.has_enqueue)
        return LB_ADVICE(
            "nothing remembers who asked first: add a section enqueue that puts each waiter into a "
            "line, and let acquire grant it to the first of the line only",
            &o->begin);
    return LB_ADVICE(
        "acquire must grant it only if no smaller number waits, and numbers must commit in the "
        "order in which they are drawn, or a later number that commits first sees none ahead: lock "
        "the line (SELECT ... FOR UPDATE, tx=one) before enqueue draws one",
        &o->enqueue, &o->begin);
}

static struct lb_advice advise_order(const struct lb_outlook *o, const struct lb_report *report,
                                     const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    if (!f->has_order)
        return LB_ADVICE("claim takes what the engine happens to find first: ORDER BY the number "
                         "or time that put gives to each item",
                         &o->begin);
    if (breaks_alone(o, report, LB_G_FIFO))
        return LB_ADVICE(
            "claim's ORDER BY is not the order in which items are put: order by a number (not by a "
            "text, where 10 comes before 9) or time that put gives, ascending",
            &o->begin, &o->put);
    if (cell->scenario.tx_pause_ns > 0)
        return LB_ADVICE("a number is drawn before its transaction commits, and a later one that "
                         "commits first is claimed first: let puts draw and commit one after the "
                         "other (a lock around them), or do not promise fifo",
                         &o->put, &o->begin);
    if (f->skips_locked)
        return LB_ADVICE("SKIP LOCKED goes past an item that another claim has locked, and may let "
                         "go of again: where the order has to hold, let claims wait for each other",
                         &o->begin, &o->begin_end);
    return LB_ADVICE("claim must take the first of all items put: order by the number that put "
                     "gives, and let claims, and puts, come one after the other",
                     &o->begin, &o->put);
}

/* True if a guarantee was broken in runs, and no worker was granted anything in any of them. */
static bool is_never_granted(const struct lb_outlook *o, const struct lb_report *report,
                             enum lb_guarantee guarantee)
{
    bool is_broken = false;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != o || cell->is_explored || cell->n_runs == 0)
            continue;
        const struct lb_measures *measures = &cell->runs[0]->judgement.measures;
        if (measures->n_holds > 0 || measures->n_claims > 0)
            return false;
        is_broken = is_broken || lb_cell_expectation(cell, guarantee) == LB_EXPECT_BROKEN;
    }
    return is_broken;
}

static struct lb_advice advise_progress(const struct lb_outlook *o, const struct lb_report *report,
                                        const struct lb_cell *cell)
{
    bool dies_in_line = o->features.has_enqueue && cell->is_explored && cell->explored.deaths > 0;
    struct lb_advice advice = {.quotes = {&o->begin, &o->begin_end, &o->end}};
    if (o->shape == LB_QUEUE)
        advice.text = "an item is ready, and claims do not take it for too long: let claim look "
                      "for all that is ready, the oldest first";
    else if (o->features.compares_null && !dies_in_line)
        advice.text = "release writes NULL, and acquire compares with = or <=, which is never true "
                      "of NULL: ask IS NULL, or let release write what acquire asks for";
    else if (is_never_granted(o, report, LB_G_PROGRESS))
        advice.text =
            "no worker is ever granted it: acquire must ask for the values that setup, or "
            "resource, writes (a column that starts as NULL is never = or <= anything)";
    else if (o->features.has_enqueue)
        advice.text = "a waiter in the line keeps back those behind: cancel and release must "
                      "delete the row of their own waiter, and one that died must not count";
    else if (cell->is_explored)
        advice.text = "in this order no worker can take it any more: release, and setup or "
                      "resource before the first grant, must write exactly the values that "
                      "acquire asks for";
    else if (cell->scenario.writers > 0)
        advice.text = "new readers enter while a writer waits: let a waiting writer write down its "
                      "name, and admit readers only where there is none";
    else
        advice.text = "chance decides which waiter gets it, and one waits for too long: give "
                      "waiters a line (a section enqueue), or a lock of the engine's";
    return advice;
}

static const char overwriting[] =
    "put writes over an item that is there, so one of the two is lost, or done again: let put only "
    "insert, and fail where the number is taken (no REPLACE, no ON CONFLICT ... DO UPDATE)";

static struct lb_advice advise_loss(const struct lb_outlook *o, const struct lb_report *report,
                                    const struct lb_cell *cell)
{
    if (is_never_granted(o, report, LB_G_NO_LOSS))
        return LB_ADVICE(
            "claim never finds the items that put writes: ask for the values that put, and the "
            "defaults of the table, leave in each column (one that starts as NULL is never = or <= "
            "anything, and NOT of that is not true either)",
            &o->put, &o->begin);
    bool comes_back = cell->scenario.free_share > 0 || cell->scenario.fault == LB_FAULT_POISON;
    if (!cell->is_explored && (comes_back || cell->scenario.error > 0) && o->back.line != 0)
        return LB_ADVICE("an item that is given back is not found again: claim must look for the "
                         "values that free, retry or error leaves, by the state of the item and "
                         "not by a position that has gone on (or the position must go back)",
                         cell->scenario.error > 0 ? &o->error : NULL,
                         comes_back || o->error.line == 0 ? &o->back : NULL,
                         comes_back ? &o->retry : NULL, &o->begin);
    if (o->features.put_overwrites)
        return LB_ADVICE(overwriting, &o->put);
    struct lb_advice advice = lb_advise_back(o, LB_G_NO_LOSS, cell);
    if (advice.text == NULL)
        advice = lb_advise_end(o, cell, LB_G_NO_LOSS);
    if (advice.text != NULL)
        return advice;
    if (dies_between(o, cell))
        return advise_death(o);
    if (cell->is_explored && cell->explored.putters == 1)
        return LB_ADVICE(
            o->features.puts_apart
                ? "put commits several times, and others use the state in between: put an item in "
                  "one transaction (tx=one)"
                : "put depends on a row that it has read, and that changes before its own rows can "
                  "be seen: let it lock the row that it looks at first (SELECT ... FOR UPDATE), so "
                  "that who ends an item waits for the put, and finds it",
            &o->put, &o->end);
    if (cell->is_explored ? cell->explored.putters > 1 : cell->scenario.producers > 0)
        return LB_ADVICE(
            "an item is not found: a put may commit after one with a larger number, so claim must "
            "look for all that is ready, and not only behind its last number",
            &o->put, &o->begin, &o->begin_end);
    return LB_ADVICE(
        "no claim finds the item any more: let the statement that takes items return each of them, "
        "and the statements that end a claim name its own item alone; and where an item waits for "
        "others, let one statement count the end of each (n = n + 1)",
        &o->begin, &o->begin_end, &o->end);
}

/* --- holds and claims --- */

static struct lb_advice advise_unasked(const struct lb_outlook *o)
{
    struct lb_advice advice = {.quotes = {&o->unasked}};
    if (o->features.recovers_by_time)
        advice.quotes[1] = &o->recover;
    if (o->unasked.line == 0) {
        advice.quotes[0] = &o->end;
        advice.quotes[2] = &o->end_last;
        advice.quotes[3] = &o->token;
        advice.text =
            "the statement that ends a hold has a condition that is true of a later hold as well: "
            "ask for the grant's own number, which acquire or claim returns as token and "
            "which grows with each: AND token = :token";
        return advice;
    }
    advice.text = o->shape == LB_LOCK ? "let what ends a hold ask whose it is: AND holder = "
                                        ":worker, or better the grant's own "
                                        "number, which acquire returns as token: AND token = :token"
                                      : lb_advice_asking;
    return advice;
}

/* Was the cell about renewals, which nothing else had shown to be wrong before? */
static bool is_renewed(const struct lb_cell *cell)
{
    return cell->is_explored ? cell->explored.renewals > 0 : cell->scenario.renew_ns > 0;
}

static struct lb_advice advise_heartbeat(const struct lb_outlook *o)
{
    return LB_ADVICE("free only what a process has that was not heard of for the limit: let "
                     "recover compare the time of the heartbeat and not that of the claim, "
                     "and sweep ask for living processes and not for the machine",
                     &o->beat, &o->recover, &o->sweep);
}

static struct lb_advice advise_renewal(const struct lb_outlook *o, const struct lb_cell *cell)
{
    bool by_recover = o->features.lease == NULL || o->features.ends_by_recover;
    bool rescues = cell->is_explored ? cell->explored.rescuers > 0 : o->features.has_recover;
    struct lb_advice advice = {.quotes = {&o->renew, by_recover || rescues ? &o->recover : NULL,
                                          by_recover ? NULL : &o->begin}};
    if (o->shape == LB_LOCK && by_recover)
        advice.text = "let recover ask for the time that renew writes, and not for that of the "
                      "grant, and let renew check the holder: AND holder = :worker, or better AND "
                      "token = :token";
    else if (o->shape == LB_LOCK && rescues)
        advice.text = "let renew write the time that acquire and recover ask for, and not that of "
                      "the grant, and check the holder: AND holder = :worker, or better AND token "
                      "= :token";
    else
        advice.text =
            o->shape == LB_LOCK
                ? "let renew write the time that acquire reads, and check the holder: AND "
                  "holder = :worker, or better AND token = :token"
                : "let renew write the time that claim or recover reads, let recover ask for "
                  "that time and not for that of the claim, and let renew check the "
                  "claim: count the claims in a column, return it as token, and "
                  "add AND attempt = :token";
    return advice;
}

/* What an operator frees, or does not. */
static struct lb_advice advise_recover(const struct lb_outlook *o)
{
    return LB_ADVICE("let recover use the time of the hold, written by acquire itself (and by "
                     "renew): it must free only holds older than its limit",
                     &o->begin, &o->recover);
}

/* All workers' clocks agreed, and were not the server's. */
static bool are_clocks_apart(const struct lb_cell *cell)
{
    if (cell->is_explored)
        return cell->explored.ahead || cell->explored.behind;
    return cell->scenario.skew_ns > 0 && cell->scenario.skewed != LB_SKEWED_HALF;
}

static struct lb_advice advise_clocks(const struct lb_outlook *o)
{
    return LB_ADVICE("a time that one clock wrote is compared with another: write and compare each "
                     "time by one clock, best the server's (clock_timestamp(), SYSDATE(6), "
                     "julianday('now')), which all workers share; :now is the worker's own",
                     &o->by_worker, &o->by_server);
}

static struct lb_advice advise_lock_recovery(const struct lb_outlook *o, const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    if (f->lease == NULL && !f->is_session_bound)
        return LB_ADVICE(
            "nothing ends what a dead holder has: store until when a hold lasts and let acquire "
            "take over what is past, or keep the hold in its session (tx=hold)",
            &o->begin);
    if (dies_between(o, cell))
        return advise_death(o);
    if (f->lease != NULL && f->ends_by_recover)
        return advise_recover(o);
    if (is_renewed(cell))
        return advise_renewal(o, cell);
    if (f->lease != NULL)
        return LB_ADVICE(
            "acquire has to take over what is past: let its condition ask for the time that the "
            "last grant (or renewal) wrote, and let that be no more than a lease ahead",
            &o->begin, &o->begin_end);
    return LB_ADVICE("what a dead holder's session had is free, and acquire is still refused: let "
                     "it ask for nothing that a dead holder leaves committed",
                     &o->begin, &o->begin_end);
}

static struct lb_advice advise_two_locks(const struct lb_outlook *o)
{
    return LB_ADVICE("with two locks at once, the end of one hold ends another, or acquire grants "
                     "another lock: let each statement name its own lock (AND name = :resource, "
                     "and one unlock of that key, not of all)",
                     &o->end, &o->end_last, &o->begin, &o->begin_end);
}

/* Advice on two holders at once, by the explored steps. */
static struct lb_advice advise_exclusive(const struct lb_outlook *o, const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    if (cell->is_explored && cell->explored.rescuers > 0 && cell->explored.renewals == 0)
        return advise_recover(o);
    if (cell->is_explored && cell->explored.rounds > 1 && o->end_last.line != 0)
        return LB_ADVICE(
            "release looks whose the hold is in one statement, and ends it in another: in between "
            "the lease can end, and another worker's hold is ended. Ask in the statement that "
            "writes: AND holder = :worker, or better AND token = :token",
            &o->end, &o->end_last);
    if (strcmp(cell->scenario.name, "blocker") == 0)
        return LB_ADVICE(
            "what a statement sets, and the values it inserts, are computed before it waits for "
            "the row, and so was the lease's end: its holder begins with the rest of it, which may "
            "be nothing. Lock the row first, by a statement of its own (tx=one, SELECT ... FOR "
            "UPDATE), and ask for the time in the one behind it (clock_timestamp(), SYSDATE(6)); "
            "or do not wait (SKIP LOCKED, NOWAIT); or return left_ms, the rest of the lease, and "
            "let a worker without a rest try again. A holder that counts the lease from before "
            "its request, and stops then, is safe: this finding does not concern such holders",
            &o->clock);
    if (is_renewed(cell))
        return advise_renewal(o, cell);
    bool no_time = cell->is_explored && cell->explored.ticks == 0 && cell->explored.deaths == 0;
    if (f->has_enqueue && f->lease == NULL)
        return advise_line(o);
    if (cell->is_explored && cell->explored.resources > 1)
        return advise_two_locks(o);
    if (no_time && o->begin_end.line == 0)
        return LB_ADVICE(
            "acquire itself lets a second one in while the first one holds: let the statement that "
            "writes check that no other worker holds it, by a unique name",
            &o->begin);
    if (!no_time && f->lease != NULL && o->unasked.line != 0)
        return advise_unasked(o);
    if (f->lease != NULL && f->ends_by_recover && f->is_one_commit)
        return advise_recover(o);
    if (o->begin_end.line != 0)
        return LB_ADVICE("the first statement's result may be outdated when the last one writes: "
                         "let the writing statement check itself (WHERE ... IS NULL) and look at "
                         "how many rows it changed, or lock what is read (tx=one, FOR UPDATE)",
                         &o->begin, &o->begin_end);
    if (f->lease != NULL)
        return LB_ADVICE(
            "acquire takes over what is not past yet: let the statement that writes compare the "
            "lease's end with the time, and let the end be a lease ahead of that time",
            &o->begin);
    return LB_ADVICE(
        "what acquire locks, or marks, must last until the release: in one session and transaction "
        "(tx=hold, session=keep), or in a row that only its holder frees",
        &o->begin, &o->end);
}

static struct lb_advice advise_permits(const struct lb_outlook *o)
{
    return LB_ADVICE("change the count only together with the row of a holder, in one transaction, "
                     "and only if that row was there: a worker that takes over an expired hold "
                     "gives its permit back once, and the late release finds no row and changes "
                     "nothing; or store no count, and count the holders",
                     &o->begin, &o->begin_end, &o->unasked);
}

/* A waiter that gave up has removed the place of another worker. */
static bool is_cancelled(const struct lb_outlook *o, enum lb_guarantee guarantee,
                         const struct lb_cell *cell)
{
    bool gives_up = cell->is_explored
                        ? cell->explored.cancels
                        : cell->scenario.tries > 0 || cell->scenario.acquire_timeout_ns > 0;
    if (cell->is_explored && gives_up) /* without, it held */
        return o->leave_line.line != 0 && guarantee != LB_G_FENCED;
    return o->cancel.line != 0 && gives_up &&
           (guarantee == LB_G_EXCLUSIVE || guarantee == LB_G_FIFO ||
            guarantee == LB_G_OWNER_RELEASE);
}

static struct lb_advice advise_lock(const struct lb_outlook *o, const struct lb_report *report,
                                    enum lb_guarantee guarantee, const struct lb_cell *cell)
{
    if (is_cancelled(o, guarantee, cell) && o->enqueue.line != 0 && guarantee != LB_G_PROGRESS &&
        strcmp(o->leave_line.text, o->end.text) == 0)
        return LB_ADVICE("after one has left the line, enqueue draws a place that another has, or "
                         "that is before another's: count the numbers up in a row that stays",
                         &o->enqueue, &o->begin);
    if (is_cancelled(o, guarantee, cell))
        return LB_ADVICE(
            o->cancel.line != 0
                ? "cancel removes the place, or the hold, of another worker: let it delete the row "
                  "of its own caller only, AND worker = :worker or AND n = :ticket"
                : "cancel changes something else than its caller's place in the line: let it "
                  "delete that row, only that, and give back nothing that was not granted",
            o->cancel.line != 0 ? &o->cancel : &o->leave_line);
    switch (guarantee) {
    case LB_G_FENCED:
        return advise_fenced(o);
    case LB_G_FIFO:
        return advise_line(o);
    case LB_G_PROGRESS:
        return advise_progress(o, report, cell);
    case LB_G_RECOVERY:
        return advise_lock_recovery(o, cell);
    case LB_G_PERMITS:
        return advise_permits(o);
    case LB_G_OWNER_RELEASE:
        return advise_unasked(o);
    case LB_G_EXCLUSIVE:
        return advise_exclusive(o, cell);
    default:
        return (struct lb_advice){.text = NULL};
    }
}

static const char sweeping[] =
    "a process that starts is not alone: let its sweep free only items of processes that are not "
    "alive (register, heartbeat), or claims that are too old";

/* An item that was completed is claimed again. */
static struct lb_advice advise_done(const struct lb_outlook *o, const struct lb_cell *cell,
                                    bool was_recovered)
{
    const struct lb_features *f = &o->features;
    if (was_recovered && f->recovers_apart)
        return LB_ADVICE("recover finds items in one statement and puts them back in another, and "
                         "an item that is completed in between comes back: do both in one "
                         "statement, or in one transaction that locks the items first (tx=one, FOR "
                         "UPDATE), or let the statement that writes ask again for the state",
                         &o->recover_first, &o->recover, &o->end);
    if (was_recovered)
        return LB_ADVICE("recover puts back an item that is done: let it ask for the state that "
                         "claim writes, and let complete change that state",
                         &o->recover, &o->end);
    if (f->put_overwrites)
        return LB_ADVICE(overwriting, &o->put);
    if (f->has_period)
        return LB_ADVICE("claim takes an item that is done before it is due again: let it ask for "
                         "the state and for the time at which the item is due",
                         &o->begin, &o->begin_end, &o->end);
    if (cell->scenario.rounds > 1 && o->operator.line != 0)
        return lb_advise_operator(o);
    return LB_ADVICE("claim takes an item that is done: let complete delete it, or write a state "
                     "that claim does not ask for",
                     &o->begin, &o->begin_end, &o->end);
}

static const char parted_claim[] =
    "a selected item is marked by another transaction: two see the same item in between. Select "
    "and mark in one statement, or in one transaction (tx=one) with FOR UPDATE";

/* True if the item was completed while the claim that took it again was under way. */
static bool is_done_meanwhile(const struct lb_cell *cell)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, LB_G_NO_DUPLICATE, &run);
    if (finding->n_witnesses == 0)
        return false;
    const struct lb_witness *witness = &finding->witness[0];
    const struct lb_witness_op *claim = &witness->ops[witness->n_ops - 1];
    for (size_t i = 0; i < witness->n_ops; i++)
        if (witness->ops[i].op == LB_OP_COMPLETE && claim->invoke_ns < witness->ops[i].end_ns)
            return true;
    return false;
}

/* Two have the same item in hand. */
static struct lb_advice advise_duplicate(const struct lb_outlook *o, const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    bool was_recovered = lb_advice_shows(cell, LB_G_NO_DUPLICATE, LB_OP_RECOVER);
    if (is_done_meanwhile(cell) && !f->is_one_commit && !was_recovered)
        return LB_ADVICE(parted_claim, &o->begin, &o->begin_end, &o->end);
    if (lb_advice_shows(cell, LB_G_NO_DUPLICATE, LB_OP_COMPLETE))
        return advise_done(o, cell, was_recovered);
    if (f->has_renew && is_renewed(cell))
        return advise_renewal(o, cell);
    if (cell->is_explored && cell->explored.leaves)
        return LB_ADVICE("a process that ends in order also signs off others, and their items are "
                         "freed: let unregister remove the row of its own process only",
                         &o->leave, &o->recover);
    if (cell->is_explored && cell->explored.errors &&
        o->operator.line != 0 &&(cell->explored.rounds > 1 || !f->has_error))
        return lb_advise_operator(o);
    struct lb_advice advice = lb_advise_back(o, LB_G_NO_DUPLICATE, cell);
    if (advice.text == NULL)
        advice = lb_advise_end(o, cell, LB_G_NO_DUPLICATE);
    if (advice.text != NULL)
        return advice;
    if (f->has_sweep && cell->is_explored && cell->explored.rescuers == 0)
        return LB_ADVICE(sweeping, &o->sweep, &o->begin);
    if (!f->is_one_commit)
        return LB_ADVICE(parted_claim, &o->begin, &o->begin_end);
    if (f->has_beat && (was_recovered || !cell->is_explored))
        return advise_heartbeat(o);
    if (f->has_recover && was_recovered)
        return LB_ADVICE("let recover take only claims older than its limit, by the time that the "
                         "claim itself wrote",
                         &o->begin, &o->recover);
    if (f->has_sweep && !cell->is_explored)
        return LB_ADVICE(sweeping, &o->begin, &o->sweep);
    if (o->begin_end.line == 0)
        return LB_ADVICE("claim itself takes what another has in hand: let the statement that "
                         "marks an item ask, once it has the row, that it is free or its time is "
                         "over, and let no two workers have one name",
                         &o->begin);
    if (!f->begin_writes && !f->is_session_bound)
        return LB_ADVICE(
            "nothing that claim writes keeps a second worker from the same items: mark them as "
            "taken in the statement, or the transaction, that selects them, or let only one worker "
            "have the name under which they are handed out",
            &o->begin, &o->begin_end);
    return LB_ADVICE("the selected item is not locked, or is selected anew after a wait: select it "
                     "FOR UPDATE (SKIP LOCKED) in the transaction that marks it, or let the "
                     "statement that marks it ask that it is free",
                     &o->begin, &o->begin_end);
}

static struct lb_advice advise_queue_recovery(const struct lb_outlook *o,
                                              const struct lb_cell *cell)
{
    const struct lb_features *f = &o->features;
    struct lb_advice advice = lb_advise_end(o, cell, LB_G_RECOVERY);
    if (advice.text != NULL && cell->is_explored && cell->explored.deaths > 0)
        return advice;
    if (cell->is_explored && cell->explored.batch > 1)
        return LB_ADVICE("a worker ends one of its items and dies, and another does not come back: "
                         "let complete name its own item alone (AND id = :id)",
                         &o->end, &o->end_last, &o->recover);
    if (f->has_beat)
        return LB_ADVICE("a dead process's items must come back: let each process beat for itself "
                         "alone, and let recover find also the items of a process without a row",
                         &o->beat, &o->recover);
    if (f->lease != NULL && !f->has_recover)
        return LB_ADVICE("a dead worker's items must be claimed again when the lease is over: let "
                         "claim check that time",
                         &o->begin);
    if (!f->has_recover)
        return LB_ADVICE("nothing brings back what the dead have claimed: add a section recover, "
                         "or let claims be leases",
                         &o->begin);
    if (dies_between(o, cell))
        return advise_death(o);
    return LB_ADVICE(
        "recover does not find all items of dead workers: let it look for every state in which a "
        "claim, or its end, leaves an item, also where no owner, process or time is written",
        &o->recover, &o->begin, lb_advice_shows(cell, LB_G_RECOVERY, LB_OP_FREE) ? &o->free : NULL);
}

static struct lb_advice advise_bounded(const struct lb_outlook *o)
{
    if (!o->features.has_limit && !o->features.takes_many)
        return LB_ADVICE(
            "claim marks all that is ready: let it take no more than requested (LIMIT :n)",
            &o->begin, &o->begin_end);
    return LB_ADVICE("a sub-select with LIMIT, behind IN or FROM, may be run once for each row: "
                     "select in a WITH query, which is run once, or write = (SELECT ... LIMIT 1), "
                     "or = ANY (ARRAY (SELECT ... LIMIT :n))",
                     &o->begin, &o->begin_end);
}

/* Two items of a group in one claim: nothing was given back before. */
static bool takes_group_twice(const struct lb_cell *cell)
{
    return cell->is_explored && cell->explored.batch > 1 &&
           !lb_advice_shows(cell, LB_G_GROUP_EXCLUSIVE, LB_OP_FREE) &&
           !lb_advice_shows(cell, LB_G_GROUP_EXCLUSIVE, LB_OP_ERROR);
}

/* On the guarantees about attributes of items: keys, tenants, priorities, unique keys, and rates.
 */
static struct lb_advice advise_attribute(const struct lb_outlook *o, enum lb_guarantee guarantee)
{
    switch (guarantee) {
    case LB_G_ATTEMPTS:
        return LB_ADVICE("count each attempt in the statement that claims, so that a dead worker's "
                         "counts as well, and let claim, retry and recover all refuse an item that "
                         "has had its number of attempts",
                         &o->begin, &o->back, &o->retry, &o->recover);
    case LB_G_UNIQUE:
        return LB_ADVICE("two puts that do not see each other add two items of one key: let a "
                         "unique index on the key of unfinished items refuse the second. Or a put "
                         "is refused without an item: believe a refusal only if the other item is "
                         "committed, and let each end of an item, also an error, free its key",
                         &o->unique_index, &o->put, &o->end, &o->error);
    case LB_G_PRIORITY:
        return LB_ADVICE(
            "order by the priority first, and lock only those that are claimed. Where a row says "
            "how urgent the first item is, write it in the item's transaction",
            &o->begin, &o->put);
    case LB_G_RATE:
        return LB_ADVICE("let a claim lock one row, and then count the last T: two windows side by "
                         "side let twice as many begin, and so do a full bucket and its refill",
                         &o->begin);
    case LB_G_SHARE:
        return LB_ADVICE("a tenant with many items is served more often, or an order of the "
                         "tenants keeps some waiting: let each claim look at the first item of "
                         "every tenant, take that of the tenant that was served the longest time "
                         "ago, and note the turn in the same transaction",
                         &o->begin, &o->put);
    case LB_G_KEY_LIMIT:
        return LB_ADVICE(
            "two claims take the last place of a key together: let a claim lock a row of the key "
            "before it counts, or take the place with an UPDATE with the limit as condition. Or "
            "another worker's place is given back: let an end that changes no item give back "
            "nothing, and each end a place of its own key",
            &o->begin, &o->begin_end, &o->end);
    default:
        return (struct lb_advice){.text = NULL};
    }
}

static struct lb_advice advise_queue(const struct lb_outlook *o, const struct lb_report *report,
                                     enum lb_guarantee guarantee, const struct lb_cell *cell)
{
    struct lb_advice advice;
    switch (guarantee) {
    case LB_G_OWNER_RELEASE:
        advice = lb_advise_end(o, cell, guarantee);
        return advice.text != NULL && o->features.unasked != LB_S_RETRY ? advice
                                                                        : advise_unasked(o);
    case LB_G_NO_DUPLICATE:
        advice = advise_duplicate(o, cell);
        if (o->features.end_parted) /* an item may be let go before it is marked as done */
            advice.quotes[3] = &o->end;
        return advice;
    case LB_G_NO_LOSS:
        return advise_loss(o, report, cell);
    case LB_G_FIFO:
        return advise_order(o, report, cell);
    case LB_G_PROGRESS:
        return advise_progress(o, report, cell);
    case LB_G_BOUNDED_CLAIM:
        return advise_bounded(o);
    case LB_G_ONCE:
        return LB_ADVICE("an item that was claimed and is not done may have been begun: mark it "
                         "for people to look at, or promise only that nothing is lost",
                         &o->begin, &o->recover);
    case LB_G_GROUP_EXCLUSIVE:
        advice = lb_advise_end(o, cell, guarantee);
        if (advice.text != NULL && !takes_group_twice(cell))
            return advice;
        return LB_ADVICE(
            "one claim takes two items of a group, or two claims that do not see each other take "
            "two items of one group: let a unique index on the group of items in hand refuse the "
            "second, or the claim lock a row of the group. Or what ends an item sets a group free "
            "of which another has an item: let it name the item's own group, and ask whose it is",
            &o->begin, &o->begin_end, &o->end);
    case LB_G_RECOVERY:
        return advise_queue_recovery(o, cell);
    default:
        return advise_attribute(o, guarantee);
    }
}

struct lb_advice lb_advise(const struct lb_outlook *outlook, const struct lb_report *report,
                           enum lb_guarantee guarantee, const struct lb_cell *cell)
{
    if (are_clocks_apart(cell))
        return advise_clocks(outlook);
    if (outlook->shape == LB_QUEUE)
        return advise_queue(outlook, report, guarantee, cell);
    struct lb_advice advice = advise_lock(outlook, report, guarantee, cell);
    if (guarantee == LB_G_EXCLUSIVE && outlook->features.has_capacity)
        advice.quotes[3] = &outlook->resource; /* it may make too many places */
    return advice;
}
