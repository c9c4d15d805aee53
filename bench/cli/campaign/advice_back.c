/* Advice on items that come back, and should not, or do not come back: see advice.h. */
#include "advice.h"

#include "program_features.h"

const char lb_advice_asking[] =
    "let what ends a claim ask which claim it is: count the claims in a column, return it as "
    "token, "
    "and add AND attempt = :token (the holder alone will not do where one worker may claim an item "
    "twice)";

bool lb_advice_shows(const struct lb_cell *cell, enum lb_guarantee guarantee, int op)
{
    const struct lb_outcome *run = NULL;
    const struct lb_finding *finding = lb_cell_finding(cell, guarantee, &run);
    for (size_t i = 0; finding->n_witnesses > 0 && i < finding->witness[0].n_ops; i++)
        if (finding->witness[0].ops[i].op == op)
            return true;
    return false;
}

/* True if a worker can die between two statements of the section. */
static bool has_between(const struct lb_outlook *o, const struct lb_quote *quote)
{
    int section = LB_S_SETUP, n = 0;
    for (size_t i = 0; i < o->n_statements; i++)
        if (o->statements[i].line == quote->line)
            section = o->statements[i].section;
    for (size_t i = 0; i < o->n_statements; i++)
        n += o->statements[i].section == section;
    return n > 1;
}

/* An item that was given back is not found again. */
static const char *lost_text(const struct lb_features *f)
{
    return f->has_free
               ? "an item that is given back is not found again: claim must look for the values "
                 "that free leaves, in each column that it asks for"
               : "an item that is retried is not found again: claim must look for the values that "
                 "retry leaves, in each column that it asks for, and retry must free all that the "
                 "claim has taken, such as a group or a place";
}

struct lb_advice lb_advise_end(const struct lb_outlook *o, const struct lb_cell *cell,
                               enum lb_guarantee guarantee)
{
    const struct lb_explored_ask *ask = &cell->explored;
    bool explored = cell->is_explored;
    bool lost = guarantee == LB_G_NO_LOSS || guarantee == LB_G_RECOVERY;
    /* A recovery that the finding shows explains it without an end that it does not show. */
    bool guesses = explored && (lost || !lb_advice_shows(cell, guarantee, LB_OP_RECOVER));
    bool frees = o->free.line != 0 &&
                 (lb_advice_shows(cell, guarantee, LB_OP_FREE) || (guesses && ask->frees > 0));
    bool fails = o->error.line != 0 && (lb_advice_shows(cell, guarantee, LB_OP_ERROR) ||
                                        (guesses && ask->errors && ask->rounds < 2));
    if (!frees && !fails)
        return (struct lb_advice){.text = NULL};
    struct lb_advice advice = {.quotes = {frees ? &o->free : &o->error}};
    if (frees && !explored) /* some were retried instead */
        advice.quotes[1] = &o->retry;
    if (!lost) {
        advice.quotes[2] = o->features.recovers_by_time ? &o->recover : NULL;
        advice.quotes[3] = guarantee == LB_G_OWNER_RELEASE ? &o->token : NULL;
        advice.text = lb_advice_asking;
    } else if (explored && ask->deaths > 0 && has_between(o, advice.quotes[0])) {
        advice.text = "a worker that dies between two statements of this end leaves a state that "
                      "neither claim nor recover finds: let them commit together (tx=one)";
    } else {
        advice.quotes[2] = &o->begin;
        advice.text = frees ? lost_text(&o->features)
                            : "an item that fails keeps back others, or is not found again: let "
                              "error free all that its claim has taken, such as its group or lane";
    }
    return advice;
}

static bool deaths_are_final(const struct lb_features *f)
{
    return !f->has_recover && !f->has_sweep && f->lease == NULL && !f->is_session_bound;
}

struct lb_advice lb_advise_back(const struct lb_outlook *outlook, enum lb_guarantee guarantee,
                                const struct lb_cell *cell)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_scenario *s = &cell->scenario;
    const bool is_lost = guarantee == LB_G_NO_LOSS;
    if (cell->is_explored && is_lost && cell->explored.batch > 1)
        return LB_ADVICE(
            cell->explored.frees > 0
                ? "the end of one item ends another of the same worker, which is then neither done "
                  "nor claimable: let each end name its own item alone (AND id = :id). Or an item "
                  "that comes back is not found: let claim look for the values that free, or "
                  "retry, leaves"
                : "the end of one item ends another of the same worker, which is then neither done "
                  "nor claimable: let each end name its own item alone (AND id = :id)",
            &outlook->end, &outlook->free, &outlook->error,
            cell->explored.frees > 0 ? &outlook->begin : NULL);
    bool frees_several = cell->is_explored ? cell->explored.batch > 1 && cell->explored.frees > 0
                                           : s->batch > 1 && s->free_share > 0;
    if (cell->is_explored && !frees_several)
        return (struct lb_advice){.text = NULL};
    if (is_lost && lb_fault_is(s->fault, LB_FAULT_KILLS) && deaths_are_final(f))
        return LB_ADVICE("a dead worker keeps its item: add a section recover, let claims be "
                         "leases, or leave out no-loss",
                         &outlook->begin);
    if (!is_lost && s->fault == LB_FAULT_TERM && outlook->stop.line != 0)
        return LB_ADVICE("stop gives back what other workers have: let it ask for its own worker",
                         &outlook->stop);
    if (!is_lost && frees_several && outlook->free.line != 0 && !f->free_asks_id)
        return LB_ADVICE(f->has_free ? "free gives back other items of the claim, too: let it name "
                                       "its own item (AND id = :id)"
                                     : "retry gives back other items of the claim, too: let it "
                                       "name its own item (AND id = :id)",
                         &outlook->free);
    return (struct lb_advice){.text = NULL};
}

struct lb_advice lb_advise_operator(const struct lb_outlook *outlook)
{
    struct lb_advice advice = {
        .text =
            "let an operator's section put back what has failed, or reset-all what is done, and "
            "nothing else: ask for the state"};
    advice.quotes[0] = &outlook->operator;
    return advice;
}
