/* The questions that mutants are asked: see mutation_ask.h. */
#include "mutation_ask.h"

#include <stdlib.h>
#include <string.h>

static struct lb_mutation_question *add_question(struct lb_mutation *m, const struct lb_cell *cell,
                                                 const char *name, bool is_extra)
{
    struct lb_mutation_question *question = &m->questions[m->n_questions++];
    *question =
        (struct lb_mutation_question){.cell = *cell, .is_extra = is_extra, .place = m->n_questions};
    question->cell.strategy_path = m->name;
    if (name != NULL)
        snprintf(question->cell.scenario.name, sizeof question->cell.scenario.name, "%s", name);
    return question;
}

/* The first question of the plan that is run, or the one of this name. */
static const struct lb_cell *find_run(const struct lb_report *report, const char *name)
{
    const struct lb_cell *first = NULL;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->is_explored || cell->state != LB_CELL_PENDING)
            continue;
        if (strcmp(cell->scenario.name, name) == 0)
            return cell;
        first = first == NULL ? cell : first;
    }
    return first;
}

/* Runs that the plan of the original has no reason for, and that of a mutant may have: with clocks
 * that are wrong, and with several classes. */
static void add_runs(struct lb_mutation *m)
{
    static const struct {
        const char *name;
        enum lb_skewed skewed;
    } ways[] = {{"clocks ahead", LB_SKEWED_HALF}, {"clocks behind", LB_SKEWED_BEHIND}};
    const struct lb_cell *run = find_run(&m->report, "renewed in time");
    bool is_timed = m->strategy.is_lease || lb_file_limit(m->file) != NULL;
    /* A protocol by the workers' clocks may well break if they are wrong. */
    bool is_by_server = is_timed && !lb_file_uses(m->file, LB_SLOT_NOW);
    for (size_t i = 0; i < 2 && run != NULL && is_by_server; i++) {
        struct lb_mutation_question *question = add_question(m, run, ways[i].name, true);
        question->cell.scenario.skewed = ways[i].skewed;
        question->cell.scenario.skew_ns = 10 * run->scenario.ttl_ns;
        question->is_usable = true;
    }
    run = find_run(&m->report, "drain");
    if (run != NULL && m->strategy.shape == LB_QUEUE && lb_file_uses(m->file, LB_SLOT_CLASS)) {
        struct lb_mutation_question *question = add_question(m, run, "two classes", true);
        question->cell.scenario.classes = 2;
        question->is_usable = true;
    }
}

/* A second round, a second item in hand, and items that are given back. */
static void add_explorations(struct lb_mutation *m, const struct lb_cell *first)
{
    struct lb_explored_ask *ask = &add_question(m, first, "explore+rounds", true)->cell.explored;
    ask->rounds = 2;
    ask->ticks = m->strategy.is_lease;
    if (m->strategy.shape != LB_QUEUE)
        return;
    ask = &add_question(m, first, "explore+batch", true)->cell.explored;
    ask->batch = 2;
    ask->items = 3;
    ask->renewals = m->program->sections[LB_S_RENEW].present;
    ask->ticks = m->strategy.is_lease;
    if (!m->program->sections[LB_S_FREE].present)
        return;
    ask = &add_question(m, first, "explore+free", true)->cell.explored;
    /* A stale one needs another worker that has the item by now. */
    bool recovers = m->program->sections[LB_S_RECOVER].present && m->program->recovers_by_time;
    ask->frees = ask->items = 1;
    ask->rescuers = recovers;
    ask->ticks = m->strategy.is_lease || recovers;
    ask->rounds = ask->ticks > 0 ? 1 : 2;
}

/* The questions of the plan; behind its explorations, and behind its runs, those that a mutant
 * alone gives reason for. */
int lb_mutation_questions(struct lb_mutation *m, struct lb_error *err)
{
    enum { EXTRA = 6 };
    const struct lb_report *report = &m->report;
    m->questions = calloc(report->n_cells + EXTRA, sizeof *m->questions);
    if (m->questions == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    const struct lb_cell *first = NULL;
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].is_explored && report->cells[i].state == LB_CELL_PENDING) {
            first = first == NULL ? &report->cells[i] : first;
            /* All of it: a bounded search is not complete, and cannot be compared. */
            add_question(m, &report->cells[i], NULL, false)->cell.explored.preemptions = 0;
        }
    if (first != NULL)
        add_explorations(m, first);
    for (size_t i = 0; i < report->n_cells; i++)
        if (!report->cells[i].is_explored && report->cells[i].state == LB_CELL_PENDING)
            add_question(m, &report->cells[i], NULL, false)->is_usable = true;
    add_runs(m);
    return 0;
}
