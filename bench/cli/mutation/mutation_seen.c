/* Which questions can show a mutant: see mutation_ask.h. */
#include "mutation_ask.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool mentions(const struct lb_mutant *mutant, const char *word)
{
    return strstr(mutant->clause, word) != NULL;
}

static bool asks_worker_clock(const struct lb_mutant *mutant)
{
    return mutant->kind == LB_MUTANT_CLOCK && strstr(mutant->diff, ":now") != NULL;
}

/* What every exploration uses before its first step. */
static bool is_before_all(enum lb_section_name section)
{
    return section == LB_S_SETUP || section == LB_S_PUT || section == LB_SECTIONS;
}

/* True if whole transactions hide what the clause is for: locks, the time before a wait for one,
 * and conditions that are asked again behind it. */
static bool is_for_waits(const struct lb_mutant *mutant)
{
    bool begins = mutant->section == LB_S_ACQUIRE || mutant->section == LB_S_CLAIM;
    return mutant->kind == LB_MUTANT_LOCK || mutant->kind == LB_MUTANT_TRANSACTION ||
           mutant->kind == LB_MUTANT_ISOLATION ||
           (mutant->kind == LB_MUTANT_CLOCK && !asks_worker_clock(mutant)) ||
           (mutant->kind == LB_MUTANT_CONDITION && begins);
}

/* May some worker, or the judge, run the section? */
static bool may_run(const struct lb_explored_ask *ask, enum lb_section_name section)
{
    switch (section) {
    case LB_S_RENEW:
        return ask->renewals > 0;
    case LB_S_RECOVER:
        return ask->rescuers + ask->deaths + ask->cuts > 0;
    case LB_S_FREE:
    case LB_S_RETRY:
        return ask->frees > 0;
    case LB_S_ERROR:
    case LB_S_CLEAR_ERROR:
    case LB_S_CLEAR_ALL_ERRORS:
    case LB_S_RESET_ALL:
        return ask->errors;
    case LB_S_CANCEL:
        return ask->cancels;
    case LB_S_COMPLETE: /* the first rounds give the items back */
        return ask->rounds == 0 ? ask->frees == 0 : ask->rounds > ask->frees;
    default:
        return true;
    }
}

bool lb_mutant_is_met(const struct lb_mutation_question *question, const struct lb_mutant *mutant)
{
    const struct lb_explored_ask *ask = &question->cell.explored;
    bool is_table = is_before_all(mutant->section);
    if (!question->cell.is_explored || !question->is_usable ||
        (ask->skew || ask->lag) != asks_worker_clock(mutant) ||
        ask->equal != lb_mutant_is_of_a_moment(mutant))
        return false;
    /* The server's clocks stand still: without a step they do not differ. */
    if (mutant->kind == LB_MUTANT_CLOCK && !asks_worker_clock(mutant) && ask->ticks == 0)
        return false;
    if (ask->whole && is_for_waits(mutant))
        return false;
    if (ask->renewals > 1 && ask->deaths > 0 && mutant->section != LB_S_RENEW)
        return false;
    if (question->only != 0 && !is_table && (question->only >> mutant->section & 1) == 0)
        return false;
    return is_table || (question->states.sections >> mutant->section & 1) != 0 ||
           (!question->is_complete && may_run(ask, mutant->section));
}

/* One item hides a clause that distinguishes it from others. */
static bool is_for_items(const struct lb_mutant *mutant)
{
    bool selects = mutant->kind == LB_MUTANT_ORDER || mutant->kind == LB_MUTANT_LIMIT ||
                   mentions(mutant, "id") || mentions(mutant, ":items");
    return mutant->section == LB_S_CLEAR_ERROR || mutant->section == LB_S_CLEAR_ALL_ERRORS ||
           mutant->section == LB_S_RESET_ALL || (selects && !is_before_all(mutant->section));
}

bool lb_mutant_is_covered(const struct lb_mutation *m, const struct lb_mutation_question *question,
                          const struct lb_mutant *mutant)
{
    bool is_covered = question->is_complete;
    for (size_t i = 0; i < m->n_questions && !is_covered; i++)
        is_covered = m->questions[i].larger == question->place &&
                     lb_mutant_is_met(&m->questions[i], mutant) &&
                     !(m->questions[i].has_fewer_items && is_for_items(mutant)) &&
                     lb_mutant_is_covered(m, &m->questions[i], mutant);
    return is_covered;
}

bool lb_mutation_is_contest(const struct lb_mutation_question *question)
{
    const struct lb_explored_ask *ask = &question->cell.explored;
    return ask->workers + ask->rescuers + ask->putters > 1;
}

/* True if a side of the comparison is a time. A subquery is not: it may count rows by their time.
 */
static bool compares_times(const struct lb_mutant *mutant)
{
    char *sides = lb_strdup(mutant->clause);
    size_t depth = 0, hidden = 0; /* the depth of the subquery, from 1; 0: none */
    for (char *at = sides; *at != '\0'; at++) {
        const char sign = *at;
        depth += sign == '(';
        if (hidden == 0 && sign == '(' && strncasecmp(at + 1, "select", 6) == 0)
            hidden = depth;
        *at = hidden > 0 ? ' ' : sign;
        if (sign == ')' && hidden == depth)
            hidden = 0;
        depth -= sign == ')' && depth > 0;
    }
    bool are_times = lb_sql_reads_time(sides, strlen(sides)) || strstr(sides, ":now") != NULL;
    free(sides);
    return are_times;
}

/* A condition with a number that is compared: attempts, a capacity. */
static bool is_limit(const struct lb_mutant *mutant)
{
    bool compares = mentions(mutant, "<") || mentions(mutant, ">");
    return (mutant->kind == LB_MUTANT_CONDITION || mutant->kind == LB_MUTANT_COMPARISON) &&
           compares && !compares_times(mutant);
}

/* Kinds of explorations, as bits. */
enum sort { ANY = 1, BATCH = 2, RESOURCES = 4, OTHERS = 8, PERIOD = 16, SKEW = 32 };

static unsigned sorts_of(const struct lb_explored_ask *ask)
{
    return ANY | (ask->batch > 1 ? BATCH : 0) |
           (ask->resources > 1 && !ask->apart ? RESOURCES : 0) | (ask->others ? OTHERS : 0) |
           (ask->period ? PERIOD : 0) | (ask->skew || ask->lag ? SKEW : 0);
}

/* Was the section run in a complete exploration of this sort? */
static bool is_run_in(const struct lb_mutation *m, const struct lb_mutant *mutant, enum sort sort)
{
    for (size_t i = 0; i < m->n_questions; i++) {
        const struct lb_mutation_question *question = &m->questions[i];
        if (question->is_complete && (sorts_of(&question->cell.explored) & sort) != 0 &&
            (question->states.sections >> mutant->section & 1) != 0 &&
            lb_mutant_is_met(question, mutant))
            return true;
    }
    return false;
}

/* Did the section ever find nothing to change, in an exploration that the mutant is asked? */
static bool was_in_vain(const struct lb_mutation *m, const struct lb_mutant *mutant)
{
    for (size_t i = 0; i < m->n_questions; i++)
        if (m->questions[i].is_complete &&
            (m->questions[i].states.vain >> mutant->section & 1) != 0 &&
            lb_mutant_is_met(&m->questions[i], mutant))
            return true;
    return false;
}

const char lb_mutant_untried[] = "no exploration runs this section where it must change nothing";

/* Why no exploration can show that the clause is not needed; NULL: they can. */
const char *lb_mutant_unseen(const struct lb_mutation *m, const struct lb_mutant *mutant)
{
    bool ends = mutant->section == LB_S_COMPLETE || mutant->section == LB_S_RENEW ||
                mutant->section == LB_S_ERROR || mutant->section == LB_S_FREE ||
                mutant->section == LB_S_CLEAR_ERROR;
    bool begins = mutant->section == LB_S_ACQUIRE || mutant->section == LB_S_CLAIM;
    bool is_table = is_before_all(mutant->section);
    if (!is_table && !is_run_in(m, mutant, ANY))
        return "no complete exploration runs this section";
    if (mutant->kind == LB_MUTANT_ORDER)
        return "the engine may choose any row, and explorations see one choice";
    if (asks_worker_clock(mutant) && !is_run_in(m, mutant, SKEW))
        return "in explorations the workers' clocks are right";
    if (begins && lb_file_uses(m->file, LB_SLOT_PERIOD_MS) && !is_run_in(m, mutant, PERIOD))
        return "in explorations what is done is due again at once";
    if (is_limit(mutant))
        return "explorations may not reach this limit";
    if (mentions(mutant, ":resource") && !is_run_in(m, mutant, RESOURCES))
        return "no complete exploration of this section has two resources";
    if (mentions(mutant, ":group") ||
        (lb_file_uses(m->file, LB_SLOT_GROUP) && mutant->kind == LB_MUTANT_CONDITION))
        return "explorations have one group";
    if (m->program->key_limit > 0 && mutant->kind == LB_MUTANT_CONDITION)
        return "explorations do not reach the limit of one key beside another key in each section";
    if (m->program->rate > 0 && begins &&
        (mutant->kind == LB_MUTANT_CONDITION || mutant->kind == LB_MUTANT_CLOCK))
        return "explorations may not reach the rate";
    if (mentions(mutant, ":class") && !is_run_in(m, mutant, OTHERS))
        return "no complete exploration of this section has items of another class";
    bool has_one = m->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD &&
                   !lb_section_has_param(&m->program->sections[LB_S_CLAIM], LB_SLOT_N);
    if (ends && m->strategy.shape == LB_QUEUE && (has_one || !is_run_in(m, mutant, BATCH)) &&
        (mentions(mutant, ":id") || mentions(mutant, ":items")))
        return "in explorations a worker has one item in hand";
    if (mutant->kind == LB_MUTANT_CONDITION && !is_table && !begins && !was_in_vain(m, mutant))
        return lb_mutant_untried;
    return NULL;
}

/* A comparison with the time: the two forms differ where both sides are equal. */
bool lb_mutant_is_of_a_moment(const struct lb_mutant *mutant)
{
    return mutant->kind == LB_MUTANT_COMPARISON && compares_times(mutant);
}

/* True if this run is what shows the mutant, if anything does. */
bool lb_mutant_is_likely(const struct lb_mutation_question *question,
                         const struct lb_mutant *mutant)
{
    const struct lb_scenario *scenario = &question->cell.scenario;
    if (asks_worker_clock(mutant))
        return scenario->skew_ns > 0;
    if (mentions(mutant, ":resource"))
        return scenario->resources > 1;
    if (mentions(mutant, ":class"))
        return scenario->classes > 1;
    if (mentions(mutant, ":id"))
        return scenario->batch > 1;
    return mutant->section == LB_S_RENEW && scenario->renew_ns > 0;
}
