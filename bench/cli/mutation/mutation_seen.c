/* Which questions can show a mutant: see mutation_ask.h. */
#include "mutation_ask.h"

#include <string.h>

static bool mentions(const struct lb_mutant *mutant, const char *word)
{
    return strstr(mutant->clause, word) != NULL;
}

bool lb_mutant_is_met(const struct lb_mutation_question *question, const struct lb_mutant *mutant)
{
    const struct lb_explored_ask *ask = &question->cell.explored;
    bool is_table = mutant->section == LB_S_SETUP || mutant->section == LB_SECTIONS;
    if (!question->cell.is_explored || !question->is_usable)
        return false;
    if (ask->renewals > 1 && ask->deaths > 0 && mutant->section != LB_S_RENEW)
        return false;
    return is_table || (question->states.sections >> mutant->section & 1) != 0 ||
           !question->is_complete;
}

/* A condition with a number that is compared: attempts, a capacity. */
static bool is_limit(const struct lb_mutant *mutant)
{
    bool compares = mentions(mutant, "<") || mentions(mutant, ">");
    return (mutant->kind == LB_MUTANT_CONDITION || mutant->kind == LB_MUTANT_COMPARISON) &&
           compares && !lb_sql_reads_time(mutant->clause, strlen(mutant->clause)) &&
           !mentions(mutant, ":now");
}

/* Can a worker have several items in hand? */
static bool takes_many(const struct lb_mutation *m)
{
    const struct lb_section *claim = &m->program->sections[LB_S_CLAIM];
    for (size_t s = 0; s < claim->n_statements; s++)
        for (size_t p = 0; p < claim->statements[s].n_params; p++)
            if (claim->statements[s].param_slot[p] == LB_SLOT_N)
                return true;
    return false;
}

/* Why no exploration can show that the clause is not needed; NULL: they can. */
const char *lb_mutant_unseen(const struct lb_mutation *m, const struct lb_mutant *mutant)
{
    bool ends = mutant->section == LB_S_COMPLETE || mutant->section == LB_S_RENEW ||
                mutant->section == LB_S_ERROR || mutant->section == LB_S_FREE;
    bool begins = mutant->section == LB_S_ACQUIRE || mutant->section == LB_S_CLAIM;
    bool is_table = mutant->section == LB_S_SETUP || mutant->section == LB_SECTIONS;
    unsigned sections = 0, of_batches = 0;
    for (size_t i = 0; i < m->n_questions; i++) {
        const struct lb_mutation_question *question = &m->questions[i];
        sections |= question->states.sections;
        if (question->is_complete && question->cell.explored.batch > 1)
            of_batches |= question->states.sections;
    }
    if (!is_table && (sections >> mutant->section & 1) == 0)
        return "no exploration runs this section";
    if (mutant->kind == LB_MUTANT_ORDER)
        return "without an order the engine may choose any row, and an exploration sees one choice";
    if (mutant->kind == LB_MUTANT_CLOCK && strstr(mutant->diff, ":now") != NULL)
        return "in explorations the workers' clocks are right";
    if (begins && lb_file_uses(m->file, LB_SLOT_PERIOD_MS))
        return "in explorations what is done is due again at once";
    if (is_limit(mutant))
        return "explorations may not reach this limit";
    if (mentions(mutant, ":resource"))
        return "explorations have one resource";
    if (mentions(mutant, ":class") || mentions(mutant, ":group"))
        return "explorations have one class and one group";
    if (ends && m->strategy.shape == LB_QUEUE &&
        (!takes_many(m) || (of_batches >> mutant->section & 1) == 0) &&
        (mentions(mutant, ":id") || mentions(mutant, ":items")))
        return "in explorations a worker has one item in hand";
    return NULL;
}

/* A comparison with the time: the two forms differ where both sides are equal. */
bool lb_mutant_is_of_a_moment(const struct lb_mutant *mutant)
{
    return mutant->kind == LB_MUTANT_COMPARISON &&
           (lb_sql_reads_time(mutant->clause, strlen(mutant->clause)) || mentions(mutant, ":now"));
}

/* True if this run is what shows the mutant, if anything does. */
bool lb_mutant_is_likely(const struct lb_mutation_question *question,
                         const struct lb_mutant *mutant)
{
    const struct lb_scenario *scenario = &question->cell.scenario;
    if (mutant->kind == LB_MUTANT_CLOCK && strstr(mutant->diff, ":now") != NULL)
        return scenario->skew_ns > 0;
    if (mentions(mutant, ":resource"))
        return scenario->resources > 1;
    if (mentions(mutant, ":class"))
        return scenario->classes > 1;
    if (mentions(mutant, ":id"))
        return scenario->batch > 1;
    return mutant->section == LB_S_RENEW && scenario->renew_ns > 0;
}
