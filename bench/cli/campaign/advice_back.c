/* Advice on items that come back, and should not, or do not come back: see advice.h. */
#include "advice.h"

#include "program_features.h"

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
        return (struct lb_advice){
            .quotes = {&outlook->end, &outlook->free, &outlook->error},
            .text = "the end of one item ends another of the same worker, which is then neither "
                    "done nor claimable: let each end name its own item alone (AND id = :id)"};
    bool frees_several = cell->is_explored ? cell->explored.batch > 1 && cell->explored.frees > 0
                                           : s->batch > 1 && s->free_share > 0;
    if (cell->is_explored && !frees_several)
        return (struct lb_advice){.text = NULL};
    if (is_lost && lb_fault_is(s->fault, LB_FAULT_KILLS) && deaths_are_final(f))
        return (struct lb_advice){
            .quotes = {&outlook->begin},
            .text = "a dead worker keeps its item: add a section recover, let claims be leases, or "
                    "leave out no-loss"};
    if (!is_lost && s->fault == LB_FAULT_TERM && outlook->stop.line != 0)
        return (struct lb_advice){
            .quotes = {&outlook->stop},
            .text = "stop gives back what other workers have: let it ask for its own worker"};
    if (!is_lost && frees_several && outlook->free.line != 0 && !f->free_asks_id)
        return (struct lb_advice){
            .quotes = {&outlook->free, &outlook->free_last},
            .text = "free gives back other items of the claim, too: let it name its own item "
                    "(AND id = :id)"};
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
