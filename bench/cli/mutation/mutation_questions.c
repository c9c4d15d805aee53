/* The questions that mutants are asked: see mutation_ask.h. */
#include "mutation_ask.h"

#include "explored.h"
#include "memory.h"

#include <string.h>

static struct lb_mutation_question *add_question(struct lb_mutation *m, const struct lb_cell *cell,
                                                 const char *name, bool is_extra)
{
    struct lb_mutation_question *question = &m->questions[m->n_questions++];
    *question =
        (struct lb_mutation_question){.cell = *cell, .is_extra = is_extra, .place = m->n_questions};
    if (m->shared != NULL)
        question->tally = &m->shared->tallies[m->n_questions - 1];
    question->cell.strategy_path = m->name;
    if (name != NULL)
        snprintf(question->cell.scenario.name, sizeof question->cell.scenario.name, "%s", name);
    return question;
}

bool lb_mutation_make_smaller(struct lb_explored_ask *ask, bool whole)
{
    bool was_whole = ask->whole, has_more_puts = ask->putters > 0 && ask->rounds > 1;
    if (whole) {
        ask->whole = true;
        return !was_whole;
    }
    if (ask->items > 1)
        ask->items = 1;
    else if (has_more_puts || (ask->workers > 1 && ask->rounds > 1))
        ask->rounds = 1;
    else
        return false;
    return true;
}

enum { NUMBERS = 29 };

static void list_numbers(const struct lb_explored_ask *ask, uint32_t ret[NUMBERS])
{
    const uint32_t numbers[NUMBERS] = {ask->workers,   ask->rounds > 0 ? ask->rounds : 1,
                                       ask->readers,   ask->capacity,
                                       ask->rescuers,  ask->renewals,
                                       ask->resources, ask->frees,
                                       ask->errors,    ask->batch > 0 ? ask->batch : 1,
                                       ask->cancels,   ask->others,
                                       ask->skew,      ask->lag,
                                       ask->period,    ask->equal,
                                       ask->items,     ask->putters,
                                       ask->deaths,    ask->ticks,
                                       ask->cuts,      ask->whole,
                                       ask->leaves,    ask->ahead,
                                       ask->behind,    ask->again,
                                       ask->apart,     ask->halves,
                                       ask->late};
    memcpy(ret, numbers, sizeof numbers);
}

static bool are_equal(const struct lb_explored_ask *a, const struct lb_explored_ask *b)
{
    uint32_t numbers[NUMBERS], others[NUMBERS];
    list_numbers(a, numbers);
    list_numbers(b, others);
    return a->set_to_1 == NULL && b->set_to_1 == NULL &&
           memcmp(numbers, others, sizeof numbers) == 0;
}

/* The place for a smaller case of question i: that of an equal one that is still to be explored. */
static struct lb_mutation_question *take_place(struct lb_mutation *m, size_t i,
                                               const struct lb_cell *cell)
{
    size_t n = 0;
    for (size_t k = 0; k < m->n_questions; k++) {
        n += m->questions[k].cell.is_explored;
        if (k > i && m->questions[k].cell.is_explored && !m->questions[k].is_usable &&
            m->questions[k].larger == 0 &&
            are_equal(&m->questions[k].cell.explored, &cell->explored))
            return &m->questions[k];
    }
    return m->n_questions < m->room && n < LB_MOST_EXPLORATIONS ? add_question(m, cell, NULL, true)
                                                                : NULL;
}

static void add_smaller(struct lb_mutation *m, size_t i, bool whole)
{
    const struct lb_mutation_question *large = &m->questions[i];
    struct lb_cell cell = large->cell;
    if (!lb_mutation_make_smaller(&cell.explored, whole))
        return;
    const char *name = large->cell.scenario.name, *smaller = "";
    if (!whole)
        smaller =
            cell.explored.rounds < large->cell.explored.rounds ? ", one round" : ", fewer items";
    size_t kept = whole ? strlen(name) : strcspn(name, ",");
    snprintf(cell.scenario.name, sizeof cell.scenario.name, "%.*s%s%s", (int)kept, name, smaller,
             cell.explored.whole ? ", whole transactions" : "");
    struct lb_mutation_question *question = take_place(m, i, &cell);
    if (question == NULL)
        return;
    question->cell = cell;
    question->is_extra &= large->is_extra;
    question->only = large->only;
    question->is_of_answers = large->is_of_answers;
    question->has_fewer_items = large->has_fewer_items || !whole;
    question->larger = large->place;
}

/* All steps of the same workers without a rescuer, a clock and deaths. It stands for no other one.
 */
static void add_calm(struct lb_mutation *m, size_t i)
{
    struct lb_cell cell = m->questions[i].cell;
    struct lb_explored_ask *ask = &cell.explored;
    ask->rescuers = ask->ticks = ask->deaths = ask->cuts = 0;
    snprintf(cell.scenario.name, sizeof cell.scenario.name, "%.*s, calm",
             (int)strcspn(m->questions[i].cell.scenario.name, ","),
             m->questions[i].cell.scenario.name);
    for (size_t k = 0; k < m->n_questions; k++)
        if (are_equal(&m->questions[k].cell.explored, ask))
            return;
    take_place(m, i, &cell);
}

void lb_mutation_add_smaller(struct lb_mutation *m, size_t i)
{
    const struct lb_mutation_question *large = &m->questions[i];
    const struct lb_section *sections = m->program->sections;
    bool holds = sections[LB_S_ACQUIRE].tx == LB_TX_HOLD || sections[LB_S_CLAIM].tx == LB_TX_HOLD;
    bool is_skewed = large->cell.explored.skew || large->cell.explored.lag;
    if (large->larger == 0 && !holds && (!large->is_extra || is_skewed)) {
        add_smaller(m, i, true);
        add_calm(m, i);
    }
    add_smaller(m, i, false);
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
}

enum { EXTRA = 26 };

/* As long as the plan's first exploration, and with as many workers if the bounds do not say it. */
static struct lb_mutation_question *add_exploration(struct lb_mutation *m,
                                                    const struct lb_cell *first, const char *name,
                                                    unsigned only, struct lb_explored_ask bounds)
{
    struct lb_mutation_question *question = add_question(m, first, name, true);
    question->only = only;
    question->cell.explored = bounds;
    question->cell.explored.time_ns = first->explored.time_ns;
    if (bounds.workers == 0)
        question->cell.explored.workers = first->explored.workers;
    return question;
}

static bool takes_many(const struct lb_mutation *m)
{
    return lb_section_has_param(&m->program->sections[LB_S_CLAIM], LB_SLOT_N);
}

static bool any_reads_time(const struct lb_program *program, unsigned sections)
{
    for (unsigned i = 0; i < LB_SECTIONS; i++)
        if ((sections >> i & 1) != 0 && lb_section_reads_time(&program->sections[i]))
            return true;
    return false;
}

/* Errors, the operator that clears them, and items of another class. */
static void add_operators(struct lb_mutation *m, const struct lb_cell *first, bool recovers)
{
    const struct lb_section *sections = m->program->sections;
    const unsigned operators = 1u << LB_S_ERROR | 1u << LB_S_CLEAR_ERROR |
                               1u << LB_S_CLEAR_ALL_ERRORS | 1u << LB_S_RESET_ALL;
    const bool has_class = lb_section_has_param(&sections[LB_S_CLAIM], LB_SLOT_CLASS);
    const bool ticks = m->strategy.is_lease || recovers;
    if (sections[LB_S_ERROR].present) {
        add_exploration(
            m, first, "explore+errors", operators,
            LB_BOUNDS(.errors = true, .items = 1, .rescuers = recovers, .ticks = ticks));
        add_exploration(m, first, "explore+operators", operators,
                        LB_BOUNDS(.errors = true, .rounds = 2, .items = 1,
                                  .ticks = any_reads_time(m->program, operators)));
        add_exploration(m, first, "explore+errors alone", 0,
                        LB_BOUNDS(.errors = true, .others = has_class, .workers = 1, .rounds = 4,
                                  .items = 5, .batch = takes_many(m) ? 2 : 1));
    }
    if (has_class)
        add_exploration(
            m, first, "explore+others", 0,
            LB_BOUNDS(.others = true, .workers = 1, .rescuers = recovers, .ticks = ticks));
}

/* With clocks that are wrong, and locks that are due again later. */
static void add_times(struct lb_mutation *m, const struct lb_cell *first, bool recovers)
{
    const struct lb_section *sections = m->program->sections;
    bool is_timed = m->strategy.is_lease || lb_file_limit(m->file) != NULL;
    bool is_lock = m->strategy.shape == LB_LOCK, renews = sections[LB_S_RENEW].present;
    if (lb_file_uses(m->file, LB_SLOT_PERIOD_MS) && is_lock)
        add_exploration(m, first, "explore+period", 0, LB_BOUNDS(.period = true, .ticks = 1));
    for (unsigned one = 0; one < 2; one++)
        add_exploration(m, first, one ? "explore+equal alone" : "explore+equal", 0,
                        LB_BOUNDS(.equal = true, .ticks = 1, .workers = one, .rounds = 1 + one,
                                  .rescuers = recovers, .renewals = renews, .items = !is_lock));
    if (lb_file_uses(m->file, LB_SLOT_NOW))
        return;
    add_exploration(m, first, "explore+skew", 0,
                    LB_BOUNDS(.skew = true, .items = !is_lock, .ticks = is_timed,
                              .rescuers = recovers, .renewals = renews));
    for (int lags = 0; lags < 2 && !is_lock; lags++)
        add_exploration(m, first, lags ? "explore+lag alone" : "explore+skew alone", 0,
                        LB_BOUNDS(.skew = !lags, .lag = lags, .workers = 1, .rounds = 5,
                                  .errors = sections[LB_S_ERROR].present,
                                  .frees = sections[LB_S_FREE].present));
}

/* An operator's recover, at any time: it takes what living workers have, and no guarantee is asked.
 */
static void add_recover(struct lb_mutation *m, const struct lb_cell *first)
{
    const struct lb_section *sections = m->program->sections;
    bool is_queue = m->strategy.shape == LB_QUEUE, by_worker = lb_file_uses(m->file, LB_SLOT_NOW);
    const bool has_class = lb_section_has_param(&sections[LB_S_CLAIM], LB_SLOT_CLASS);
    for (int lags = 0; lags < (by_worker ? 1 : 2); lags++)
        add_exploration(
            m, first, lags ? "explore+recover+lag" : "explore+recover", 0,
            LB_BOUNDS(.lag = lags, .workers = 1, .rescuers = 1, .rounds = 2,
                      .items = is_queue ? 3 : 0, .errors = is_queue && sections[LB_S_ERROR].present,
                      .others = is_queue && has_class && sections[LB_S_CLAIM].tx != LB_TX_HOLD))
            ->is_of_answers = true;
}

/* A second item in hand. Where a claim takes one, a worker may be meant to have one: what the
 * original does with two is no violation. */
static void add_hands(struct lb_mutation *m, const struct lb_cell *first)
{
    const struct lb_section *sections = m->program->sections;
    for (unsigned alone = 0; alone < 2; alone++)
        add_exploration(m, first, alone ? "explore+batch alone" : "explore+batch", 0,
                        LB_BOUNDS(.batch = 2, .items = alone ? 6 : 3, .workers = alone,
                                  .renewals = sections[LB_S_RENEW].present,
                                  .ticks = m->strategy.is_lease && !alone, .rounds = alone ? 3 : 0,
                                  .frees = alone && sections[LB_S_FREE].present,
                                  .errors = alone && sections[LB_S_ERROR].present))
            ->is_of_answers = !takes_many(m);
}

/* A second round, a second item in hand, and items that are given back. */
static void add_explorations(struct lb_mutation *m, const struct lb_cell *first)
{
    const struct lb_section *sections = m->program->sections;
    /* A recover that ends sessions would end those of the exploration's own workers. */
    bool has_recover = sections[LB_S_RECOVER].present && !first->outlook->features.ends_sessions;
    bool recovers = has_recover && m->program->recovers_by_time;
    const bool is_lease = m->strategy.is_lease, ticks = is_lease || recovers;
    add_exploration(m, first, "explore+rounds", 0, LB_BOUNDS(.rounds = 2, .ticks = is_lease));
    add_times(m, first, recovers);
    if (has_recover && !m->program->recovers_by_time)
        add_recover(m, first);
    if (m->strategy.shape != LB_QUEUE && lb_file_uses(m->file, LB_SLOT_MODE)) {
        add_exploration(m, first, "explore+readers", 0, LB_BOUNDS(.readers = 2));
        /* One reader leaves, and the other one stays: then a writer comes. */
        add_exploration(m, first, "explore+readers and writer", 0,
                        LB_BOUNDS(.readers = 2, .workers = 3));
    }
    if (m->strategy.shape != LB_QUEUE) {
        if (sections[LB_S_RENEW].present && sections[LB_S_ACQUIRE].tx != LB_TX_HOLD)
            add_exploration(
                m, first, "explore+two locks+renew", 1u << LB_S_RENEW,
                LB_BOUNDS(.resources = 2, .renewals = 1, .workers = 1, .ticks = is_lease));
        return;
    }
    add_operators(m, first, recovers);
    add_hands(m, first);
    if (!sections[LB_S_FREE].present)
        return;
    add_exploration(m, first, "explore+free alone", 0,
                    LB_BOUNDS(.frees = 1, .workers = 1, .rounds = 2, .items = 2,
                              .batch = takes_many(m) ? 2 : 1));
    /* A stale one needs another worker that has the item by now. */
    add_exploration(m, first, "explore+free", 1u << LB_S_FREE,
                    LB_BOUNDS(.frees = 1, .items = 1, .rescuers = recovers, .ticks = ticks,
                              .rounds = ticks ? 1 : 2));
}

/* True if the plan has the same exploration. */
static bool is_of_plan(const struct lb_mutation *m, const struct lb_explored_ask *ask)
{
    for (size_t i = 0; i < m->n_questions && !m->questions[i].is_extra; i++)
        if (are_equal(&m->questions[i].cell.explored, ask))
            return true;
    return false;
}

static void drop_repeated(struct lb_mutation *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_questions; i++)
        if (!m->questions[i].is_extra || !is_of_plan(m, &m->questions[i].cell.explored))
            m->questions[n++] = m->questions[i];
    m->n_questions = n;
}

/* The questions of the plan; behind its explorations, and behind its runs, those that a mutant
 * alone gives reason for. */
void lb_mutation_questions(struct lb_mutation *m)
{
    const struct lb_report *report = &m->report;
    m->room = 3 * (report->n_cells + EXTRA);
    m->questions = lb_calloc(m->room, sizeof *m->questions);
    const struct lb_cell *first = NULL;
    for (size_t i = 0; i < report->n_cells; i++)
        if (report->cells[i].is_explored && report->cells[i].state == LB_CELL_PENDING) {
            first = first == NULL ? &report->cells[i] : first;
            /* All of it: a bounded search is not complete, and cannot be compared. */
            add_question(m, &report->cells[i], NULL, false)->cell.explored.preemptions = 0;
        }
    if (first != NULL)
        add_explorations(m, first);
    drop_repeated(m);
    for (size_t i = 0; i < report->n_cells; i++)
        if (!report->cells[i].is_explored && report->cells[i].state == LB_CELL_PENDING)
            add_question(m, &report->cells[i], NULL, false)->is_usable = true;
    add_runs(m);
}
