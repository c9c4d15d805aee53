/* Explorations and runs of one text: see mutation_ask.h. */
#include "mutation_ask.h"

#include "clock.h"
#include "explored.h"
#include "exploring.h"
#include "leash.h"
#include "progress.h"

#include <string.h>

#define SECOND_NS   UINT64_C(1000000000)
#define OVER_RUN_NS (10 * SECOND_NS) /* what set-up and end of a run may take */
/* For a violation where not all schedules can be run: the likely ones come first. */
#define LONGEST_SEARCH_NS (2 * SECOND_NS)

bool lb_mutation_is_stopped(const struct lb_mutation *m)
{
    return atomic_load(&m->stop->requested) != 0;
}

uint64_t lb_mutation_left_ns(const struct lb_mutation *m)
{
    uint64_t now_ns = lb_now_ns();
    return now_ns < m->end_ns ? m->end_ns - now_ns : 0;
}

static void show_progress(const struct lb_mutation *m, const char *number, const char *question)
{
    char span[32];
    if (m->is_shown)
        fprintf(stderr, "\r\033[Kmutant %s of %zu: %s, at most %s left",
                number[0] != '\0' ? number : "0", m->mutants.n, question,
                lb_format_span(lb_mutation_left_ns(m), span, sizeof span));
}

/* --- violations --- */

static void add_options(const struct lb_mutation *m, char *buf, size_t size)
{
    for (size_t i = 0; i < m->args->options.n; i++)
        lb_command_option(buf, size, "--opt", m->args->options.words[i]);
}

/* The command that writes the mutant, and behind it the one that shows what is wrong. */
static void describe_again(const struct lb_mutation *m, const struct lb_subject *subject,
                           const char *command)
{
    char *buf = subject->judged->again;
    size_t size = sizeof subject->judged->again;
    if (subject->number[0] == '\0') {
        snprintf(buf, size, "%s", command);
        if (m->selection.n_settings == 0) /* else the command has them */
            add_options(m, buf, size);
        return;
    }
    lb_command_start(buf, size, 1, "mutate");
    lb_command_option(buf, size, "-s", m->name);
    lb_command_option(buf, size, "-d", m->place->target.label);
    add_options(m, buf, size);
    lb_command_option(buf, size, "--sql-dir", m->args->sql_dir);
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, " --mutant %s >mutant-%s.sql; %s", subject->number, subject->number,
             command);
}

static void take(const struct lb_subject *subject, const char *what, const struct lb_cell *cell,
                 const char *witness)
{
    struct lb_judged *judged = subject->judged;
    judged->need = LB_NEEDED;
    snprintf(judged->what, sizeof judged->what, "%s", what);
    snprintf(judged->question, sizeof judged->question, "%s", cell->scenario.name);
    snprintf(judged->witness, sizeof judged->witness, "%s", witness);
}

/* True if a claimed guarantee is violated, or the proof of the scenario fails (classes are mixed,
 * counts differ). The subject gets the witness. */
static bool take_violation(const struct lb_mutation *m, const struct lb_subject *subject,
                           const struct lb_cell *cell, const struct lb_outcome *outcome)
{
    const struct lb_finding *findings = outcome->judgement.findings, *found = NULL;
    char command[2000];
    int g = 0;
    while (g < LB_GUARANTEES &&
           (findings[g].verdict != LB_V_VIOLATED || (m->strategy.claims & LB_G_BIT(g)) == 0))
        g++;
    if (g < LB_GUARANTEES) {
        found = &findings[g];
        take(subject, lb_guarantee_name((enum lb_guarantee)g), cell,
             found->n_witnesses > 0 ? found->witness[0].text : "");
    } else if (outcome->proof.name[0] != '\0' && outcome->proof.verdict == LB_V_VIOLATED) {
        take(subject, outcome->proof.name, cell, outcome->proof.text);
    } else {
        return false;
    }
    lb_reproduce(cell, outcome, found, command, sizeof command);
    describe_again(m, subject, command);
    return true;
}

/* There is no schedule to show: the plan meets it. */
static void take_failure(const struct lb_mutation *m, const struct lb_subject *subject,
                         const char *what, const struct lb_cell *cell, const char *why)
{
    char command[600];
    take(subject, what, cell, why);
    lb_command_start(command, sizeof command, 1, "verify");
    lb_command_option(command, sizeof command, "-s", subject->path);
    lb_command_option(command, sizeof command, "-d", m->place->target.label);
    describe_again(m, subject, command);
}

static struct lb_cell cell_of(const struct lb_mutation_question *question,
                              const struct lb_subject *subject)
{
    struct lb_cell cell = question->cell;
    cell.file = subject->file;
    cell.strategy_path = subject->path;
    return cell;
}

/* --- explorations --- */

struct explored {
    bool complete, is_judged, has_deadlocks, is_distinct;
    double share; /* of the search that was done, roughly */
};

static bool is_judged(const struct lb_explored *explored)
{
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (explored->findings[g].verdict == LB_V_HELD ||
            explored->findings[g].verdict == LB_V_VIOLATED)
            return true;
    return false;
}

static void tell_untested(const struct lb_explored *explored, char *buf, size_t size)
{
    buf[0] = '\0';
    for (int g = 0; g < LB_GUARANTEES && buf[0] == '\0'; g++)
        if (explored->findings[g].verdict == LB_V_NOT_TESTED)
            snprintf(buf, size, "%s", explored->findings[g].reason);
}

/* All schedules, up to the first violation, with their results. ret->is_judged false: why has the
 * reason. If time runs out in a statement, the search is not complete; LB_E_LATE: no schedule came
 * to its end. */
static int explore(const struct lb_mutation *m, const struct lb_mutation_question *question,
                   const struct lb_cell *cell, bool distinct, struct lb_states *states,
                   struct explored *ret, char *why, size_t size, struct lb_error *err)
{
    struct lb_explore_watch watch;
    struct lb_explored *explored;
    struct lb_explore_plan plan = lb_explored_plan(cell, m->args, m->args->seed_number, m->stop);
    plan.audit = 0;
    plan.search.all = question->is_of_answers;
    plan.distinct = distinct;
    if (cell->explored.equal)
        lb_explore_equal_times(&plan, m->still_unix_ms);
    else /* the order of times is that of steps of the clock, and not of the machine's load */
        lb_explore_stand_still(&plan, m->still_unix_ms);
    lb_states_begin(states, plan.ttl_ms, &watch);
    states->start_unix_ms = plan.still_unix_ms;
    watch.tells_holds = plan.readers > 1 || plan.capacity > 1;
    struct lb_strategy beside = *cell->strategy;
    beside.claims &= lb_explored_scope(&cell->explored);
    plan.strategy = &beside;
    plan.watch = &watch;
    int r = lb_explore(&plan, &explored, err);
    lb_states_end(states);
    states->violated &= !question->is_of_answers;
    if (r == LB_E_LATE && states->all.n > 0) {
        *ret = (struct explored){.complete = false};
        return err->code = 0;
    }
    if (r != 0)
        return r;
    *ret = (struct explored){.complete = explored->complete && !states->failed,
                             .is_judged = is_judged(explored),
                             .has_deadlocks = explored->n_deadlocks > 0,
                             .is_distinct = explored->is_distinct,
                             .share = explored->search.share};
    tell_untested(explored, why, size);
    lb_explored_free(explored);
    return 0;
}

/* Explores again for the shortest violation. 1: there is one; 0; or an error. */
static int find_violation(const struct lb_mutation *m, const struct lb_mutation_question *question,
                          const struct lb_subject *subject, const struct lb_cell *cell,
                          struct lb_error *err)
{
    struct lb_outcome *outcome;
    struct lb_explore_plan plan = lb_explored_plan(cell, m->args, m->args->seed_number, m->stop);
    plan.audit = 0;
    plan.search.all = plan.whole = false; /* no command asks for whole transactions */
    plan.time_ns /= 2;                    /* to make it short takes as long again */
    bool is_search = !question->is_complete && !question->states.violated;
    if (is_search && plan.time_ns > LONGEST_SEARCH_NS)
        plan.time_ns = LONGEST_SEARCH_NS;
    int r = lb_explored_run(cell, &plan, &outcome, err);
    if (r == LB_E_LATE)
        return err->code = 0;
    if (r != 0)
        return r;
    bool is = take_violation(m, subject, cell, outcome);
    lb_outcome_free(outcome);
    return is;
}

/* True if the engine refuses the text, or a statement of it has no end. An error of the environment
 * is one of the text if the original can still be explored. */
static bool is_of_text(const struct lb_mutation *m, int r)
{
    struct lb_states states = {0};
    struct lb_error ignored;
    struct explored explored;
    char why[200];
    if (r == LB_E_SQL || r == LB_E_FILE || r == LB_E_USAGE)
        return true;
    if (!lb_error_is_outside(r) || !m->questions[0].is_usable || lb_mutation_is_stopped(m))
        return false;
    bool works = explore(m, &m->questions[0], &m->questions[0].cell, false, &states, &explored, why,
                         sizeof why, &ignored) == 0;
    lb_states_free(&states);
    return works;
}

static uint64_t bit_of(const struct lb_mutation *m, const struct lb_mutation_question *question)
{
    return UINT64_C(1) << (question - m->questions) % LB_MOST_EXPLORATIONS;
}

static bool is_untimed(const struct lb_mutation_question *question)
{
    return question->cell.explored.skew || question->cell.explored.lag;
}

static bool are_same(const struct lb_mutation_question *question, const struct lb_states *original,
                     const struct lb_states *states, bool has_deadlocks)
{
    return lb_states_equal(states, original, is_untimed(question)) &&
           has_deadlocks == question->has_deadlocks;
}

/* On one line. */
static void take_answers(const struct lb_subject *subject, const struct lb_cell *cell,
                         const char *what, const char *answers, const char *where)
{
    char witness[sizeof subject->judged->witness];
    size_t n = strlen(answers);
    n -= n > 0 && answers[n - 1] == '\n';
    int most = (int)(n < 300 ? n : 300);
    snprintf(witness, sizeof witness, "%s: %.*s%s", where, most, answers, n > 300 ? " ..." : "");
    for (char *at = strchr(witness, '\n'); at != NULL; at = strchr(at, '\n'))
        *at = ';';
    take(subject, what, cell, witness);
}

/* Compares the results with those of the original, of which all are known. */
static void compare(const struct lb_mutation *m, const struct lb_mutation_question *question,
                    const struct lb_subject *subject, const struct lb_cell *cell,
                    const struct lb_states *states, const struct explored *explored,
                    bool *ret_compared)
{
    struct lb_judged *judged = subject->judged;
    bool is_new = states->unknown != NULL && !states->failed;
    uint64_t bit = bit_of(m, question);
    if (!explored->complete && !is_new)
        return;
    bool is_same =
        !is_new && are_same(question, &question->states, states, explored->has_deadlocks);
    *ret_compared = true;
    judged->differs |= is_same ? 0 : bit;
    if (is_new || !lb_states_answer_alike(states, &question->states))
        judged->answers |= bit;
    else if (!is_same && !is_untimed(question))
        judged->rows |= bit;
    /* The original never answers so: it was explored without a symmetry, and no clock ran. Where
     * chance may choose who goes on, the mutant has to answer so once more (lb_ask_answers). */
    const bool is_by_chance = lb_exploring(m->place->target.db)->tells_blockers_late;
    if (is_new && question->is_distinct && judged->need == LB_NOT_SHOWN && !is_by_chance)
        take_answers(subject, cell, "other answers", states->unknown, "only without the clause");
}

/* Where the original's exploration is not complete there is nothing to compare with. */
static int ask_incomplete(const struct lb_mutation *m, const struct lb_mutation_question *question,
                          const struct lb_subject *subject, const struct lb_cell *cell,
                          struct lb_error *err)
{
    int r = question->is_of_answers ? 0 : find_violation(m, question, subject, cell, err);
    if (r == LB_E_UNSUPPORTED)
        return err->code = 0;
    if (!is_of_text(m, r))
        return r;
    take_failure(m, subject, "does not run", cell, err->message);
    return 1;
}

/* See mutation_ask.h. */
int lb_ask_exploration(const struct lb_mutation *m, struct lb_mutation_question *question,
                       const struct lb_subject *subject, uint64_t time_ns, bool *ret_compared,
                       struct lb_error *err)
{
    struct lb_cell cell = cell_of(question, subject);
    /* A violation means more than other answers: it is sought a little longer. */
    struct lb_states states = {.known = &question->states.answers,
                               .patient_until_ns =
                                   lb_now_ns() + 2 * question->took_ns + SECOND_NS / 2};
    struct explored explored = {0};
    char why[200];
    cell.explored.time_ns = time_ns;
    *ret_compared = false;
    show_progress(m, subject->number, cell.scenario.name);
    if (!question->is_complete)
        return ask_incomplete(m, question, subject, &cell, err);
    int r = explore(m, question, &cell, false, &states, &explored, why, sizeof why, err);
    if (r == LB_E_UNSUPPORTED) { /* without the clause it cannot be asked */
        r = err->code = 0;
    } else if (is_of_text(m, r)) {
        take_failure(m, subject, "does not run", &cell, err->message);
        r = 1;
    } else if (r == 0 && (states.violated || (!explored.complete && !states.enough)) &&
               !question->is_of_answers) {
        r = find_violation(m, question, subject, &cell, err);
    } else if (r == 0 && question->is_judged && !explored.is_judged && explored.complete &&
               !question->cell.explored.period) { /* where a lock is not due, some may wait on */
        take_failure(m, subject, "nothing works", &cell, why);
        r = 1;
    }
    if (r == 0)
        compare(m, question, subject, &cell, &states, &explored, ret_compared);
    lb_states_free(&states);
    return r;
}

/* Sets of answers are only comparable if workers are not taken to be alike. known: the exploration
 * ends with the first answers that are not in it. Returns 1 if the exploration was complete. */
static int explore_distinct(const struct lb_mutation *m,
                            const struct lb_mutation_question *question, const struct lb_cell *cell,
                            const struct lb_digests *known, struct lb_states *ret,
                            bool *ret_deadlocks, struct lb_error *err)
{
    struct explored explored = {0};
    char why[200];
    ret->known = known;
    int r = explore(m, question, cell, true, ret, &explored, why, sizeof why, err);
    *ret_deadlocks = explored.has_deadlocks;
    return r != 0 ? r : explored.complete;
}

static bool are_alike(const struct lb_states *a, const struct lb_states *b, bool with_rows)
{
    return with_rows ? lb_states_equal(a, b, false) : lb_states_answer_alike(a, b);
}

static const struct lb_digests *kept(const struct lb_states *states, bool with_rows)
{
    return with_rows ? &states->all : &states->answers;
}

/* Of the original. 1: it is known; 0; or an error. */
static int know_original(const struct lb_mutation *m, struct lb_mutation_question *question,
                         const struct lb_states **ret, struct lb_error *err)
{
    bool ignored;
    bool is_known = question->is_distinct || question->has_distinct;
    int r = is_known ? 1
                     : explore_distinct(m, question, &question->cell, NULL, &question->distinct,
                                        &ignored, err);
    question->has_distinct = !question->is_distinct && r == 1;
    *ret = question->is_distinct ? &question->states : &question->distinct;
    return r;
}

/* See mutation_ask.h. */
int lb_ask_answers(const struct lb_mutation *m, struct lb_mutation_question *question,
                   const struct lb_subject *subject, bool with_rows, uint64_t time_ns,
                   struct lb_error *err)
{
    const char *what = with_rows ? "other rows" : "other answers";
    const struct lb_states *original = NULL;
    struct lb_cell cell = cell_of(question, subject);
    struct lb_states states = {.knows_rows = with_rows}, again = {.knows_rows = with_rows};
    bool has_deadlocks = false, ignored;
    cell.explored.time_ns = question->cell.explored.time_ns = time_ns;
    show_progress(m, subject->number, cell.scenario.name);
    int r = know_original(m, question, &original, err);
    if (r == 1)
        r = explore_distinct(m, question, &cell, kept(original, with_rows), &states, &has_deadlocks,
                             err);
    if (r >= 0 && states.unknown != NULL && !states.failed) {
        take_answers(subject, &cell, what, states.unknown, "only without the clause");
    } else if (r == 1 && !are_alike(&states, original, with_rows)) { /* the original has more */
        r = explore_distinct(m, question, &question->cell, kept(&states, with_rows), &again,
                             &ignored, err);
        if (r >= 0 && again.unknown != NULL && !again.failed)
            take_answers(subject, &cell, what, again.unknown, "never without the clause");
    } else if (r == 1) { /* the two symmetries had left out different ones */
        bool is_same = are_same(question, original, &states, has_deadlocks);
        uint64_t bit = bit_of(m, question);
        subject->judged->answers &= ~bit;
        subject->judged->differs &= is_same ? ~bit : UINT64_MAX;
        subject->judged->rows &= is_same ? ~bit : UINT64_MAX;
        subject->judged->rows |= is_same || is_untimed(question) ? 0 : bit;
    }
    lb_states_free(&states);
    lb_states_free(&again);
    if (r == LB_E_LATE)
        r = err->code = 0;
    return r < 0 ? r : subject->judged->need == LB_NEEDED;
}

/* --- runs --- */

static int run_once(const struct lb_mutation *m, const struct lb_subject *subject,
                    const struct lb_cell *cell, struct lb_error *err)
{
    const struct lb_run_plan plan = {.strategy = cell->strategy,
                                     .file = cell->file,
                                     .target = cell->target,
                                     .scenario = &cell->scenario,
                                     .settings = cell->settings,
                                     .n_settings = cell->n_settings,
                                     .seed = m->args->seed_number,
                                     .record = true};
    struct lb_outcome *outcome;
    show_progress(m, subject->number, cell->scenario.name);
    lb_leash_due(lb_now_ns() + cell->scenario.duration_ns + cell->scenario.warmup_ns + OVER_RUN_NS);
    int r = lb_run(&plan, m->stop, NULL, NULL, &outcome, err);
    lb_leash_due(0);
    if (r != 0)
        return r;
    bool is = take_violation(m, subject, cell, outcome);
    lb_outcome_free(outcome);
    return is;
}

/* A violation of a bound on time must come twice: the machine may have stood still. */
int lb_ask_run(const struct lb_mutation *m, const struct lb_mutation_question *question,
               const struct lb_subject *subject, struct lb_error *err)
{
    struct lb_cell cell = cell_of(question, subject);
    struct lb_judged *judged = subject->judged, before = *judged;
    int r = run_once(m, subject, &cell, err);
    bool by_clock =
        r == 1 && (strcmp(judged->what, "progress") == 0 || strcmp(judged->what, "recovery") == 0);
    if (by_clock)
        r = run_once(m, subject, &cell, err);
    if (r == 0)
        *judged = before;
    if (!is_of_text(m, r))
        return r;
    take_failure(m, subject, "does not run", &cell, err->message);
    return 1;
}

/* Has the original held where a mutant was violated? */
int lb_run_original(struct lb_mutation *m, struct lb_mutation_question *question,
                    struct lb_error *err)
{
    const struct lb_subject subject = {.file = m->file, .path = m->name, .judged = &m->accused};
    if (question->is_asked)
        return 0;
    int r = lb_ask_run(m, question, &subject, err);
    question->is_asked = r == 0;
    m->is_accused |= r == 1;
    return r < 0 ? r : 0;
}

/* --- costs --- */

void lb_ask_costs(const struct lb_mutation *m, const struct lb_file *file, struct lb_costs *ret)
{
    const struct lb_age_plan plan = {.strategy = &m->strategy,
                                     .file = file,
                                     .target = &m->place->target,
                                     .settings = m->selection.settings,
                                     .n_settings = m->selection.n_settings,
                                     .interrupt = &m->stop->requested};
    struct lb_error ignored;
    show_progress(m, "", "costs");
    if (lb_costs_measure(&plan, ret, &ignored) < 0)
        ret->n = 0;
}

/* --- the original --- */

int lb_explore_original(struct lb_mutation *m, struct lb_mutation_question *question,
                        uint64_t time_ns, struct lb_error *err)
{
    const struct lb_subject subject = {.file = m->file, .path = m->name, .judged = &m->accused};
    struct explored explored;
    char why[200];
    question->cell.explored.time_ns = time_ns;
    show_progress(m, "", question->cell.scenario.name);
    int r = explore(m, question, &question->cell, false, &question->states, &explored, why,
                    sizeof why, err);
    if (r == LB_E_UNSUPPORTED) {
        if (m->refused[0] == '\0')
            snprintf(m->refused, sizeof m->refused, "%s", err->message);
        err->code = 0;
        return 0;
    }
    if (r == 0 && (question->states.violated || !explored.complete) && !question->is_of_answers) {
        r = find_violation(m, question, &subject, &question->cell, err);
        m->is_accused |= r == 1;
    }
    if (r < 0)
        return r;
    question->is_usable = true;
    question->is_complete = explored.complete && !question->states.violated;
    question->is_judged = explored.is_judged;
    question->has_deadlocks = explored.has_deadlocks;
    question->is_distinct = explored.is_distinct;
    question->share = explored.share;
    return 0;
}
