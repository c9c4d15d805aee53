/* From mutants to verdicts: see mutation.h.
 *
 * First every exploration of the plan of `verify` is asked about the original. Each mutant is asked
 * the same questions, the likeliest first, up to a violation, or other answers. Where all
 * explorations are complete and come to the same answers and end states, the clause is not needed.
 * Explorations that were not complete, and the runs of the plan, are for the mutants that are still
 * open. The rest of the time looks for violations by mutants with other answers.
 */
#include "mutation_ask.h"

#include "clock.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
/* Of the time: for runs. */
enum { RUNS_PERCENT = 15 };

const char *const lb_need_names[LB_NEEDS] = {[LB_NEEDED] = "needed",
                                             [LB_NOT_NEEDED] = "not_needed",
                                             [LB_REDUNDANT] = "redundant",
                                             [LB_SLOWER] = "slower",
                                             [LB_NOT_SHOWN] = "not_shown"};

/* --- a mutant by explorations --- */

static bool is_uncovered(const struct lb_mutation *m, const struct lb_mutation_question *question,
                         const struct lb_mutant *mutant)
{
    return !question->is_extra && !question->cell.explored.is_search &&
           lb_mutant_is_met(question, mutant) && !lb_mutant_is_covered(m, question, mutant);
}

/* Must it be complete, and is not? Smaller cases need not, if another one is. */
static bool is_missed(const struct lb_mutation *m, const struct lb_mutation_question *question,
                      const struct lb_mutant *mutant)
{
    return question->larger == 0 && is_uncovered(m, question, mutant);
}

/* The explorations that were compared, or those that were missed. */
static void tell_questions(const struct lb_mutation *m, const struct lb_mutant *mutant,
                           bool complete, const char *words, char *buf, size_t size)
{
    size_t n = (size_t)snprintf(buf, size, "%s", words);
    const char *separator = " ";
    for (size_t i = 0; i < m->n_questions && n < size; i++) {
        const struct lb_mutation_question *question = &m->questions[i];
        if (complete ? !lb_mutant_is_met(question, mutant) || !question->is_complete
                     : !is_missed(m, question, mutant))
            continue;
        n += (size_t)snprintf(buf + n, size - n, "%s%s", separator, question->cell.scenario.name);
        separator = ", ";
    }
}

/* Does it run all steps of the clause's section beside another worker, or with wrong clocks? */
static bool is_tried_beside(const struct lb_mutation_question *question,
                            const struct lb_mutant *mutant)
{
    const struct lb_explored_ask *ask = &question->cell.explored;
    return lb_mutant_is_met(question, mutant) &&
           ((lb_mutation_is_contest(question) && !ask->whole) || ask->skew || ask->lag);
}

/* Of a mutant that no exploration shows. */
static void conclude(const struct lb_mutation *m, const struct lb_mutant *mutant,
                     struct lb_judged *judged)
{
    const char *unseen = lb_mutant_unseen(m, mutant);
    bool all_complete = true, any_complete = false, is_explored = false;
    for (size_t i = 0; i < m->n_questions; i++) {
        const struct lb_mutation_question *question = &m->questions[i];
        all_complete &= !is_missed(m, question, mutant);
        any_complete |= question->is_complete && is_tried_beside(question, mutant);
        is_explored |= question->cell.is_explored && question->is_usable;
    }
    if (lb_mutation_is_stopped(m)) {
        snprintf(judged->reason, sizeof judged->reason, "interrupted before all was asked");
    } else if (m->is_cut_short) {
        snprintf(judged->reason, sizeof judged->reason,
                 "the time was too short to explore the original");
    } else if (!is_explored && m->refused[0] != '\0') {
        snprintf(judged->reason, sizeof judged->reason, "%s", m->refused);
    } else if (lb_mutant_is_of_a_moment(mutant) && !any_complete) {
        snprintf(judged->reason, sizeof judged->reason,
                 "it matters only when two times are equal, and no complete exploration makes them "
                 "so");
    } else if (judged->differs) {
        snprintf(judged->reason, sizeof judged->reason,
                 "an exploration has other answers or end states, but nothing that is claimed is "
                 "violated");
    } else if (unseen != NULL) {
        judged->is_untried =
            unseen == lb_mutant_untried && all_complete && any_complete && !judged->is_incomplete;
        snprintf(judged->reason, sizeof judged->reason, "%s", unseen);
    } else if (!all_complete) {
        tell_questions(m, mutant, false, "the time was too short to be complete in", judged->reason,
                       sizeof judged->reason);
    } else if (!any_complete) {
        snprintf(judged->reason, sizeof judged->reason,
                 "the time was too short: all steps of two workers were explored in no question "
                 "that runs this section");
    } else if (judged->is_incomplete) {
        snprintf(
            judged->reason, sizeof judged->reason,
            "an exploration of the mutant is not complete: the time was too short, or it cannot "
            "be made");
    } else {
        judged->need = LB_NOT_NEEDED;
        tell_questions(m, mutant, true, "every schedule comes to the same in", judged->reason,
                       sizeof judged->reason);
    }
}

/* Until then explorations go on: the runs have their own part. */
static uint64_t exploring_left_ns(const struct lb_mutation *m)
{
    uint64_t left_ns = lb_mutation_left_ns(m),
             runs_ns = (m->end_ns - m->start_ns) * RUNS_PERCENT / 100;
    return left_ns > runs_ns ? left_ns - runs_ns : 0;
}

/* A mutant, or a pair of them. */
struct variant {
    const struct lb_mutant *mutant; /* of a pair: the first one */
    const char *text;
    char path[64];
    struct lb_subject subject; /* its file and path: from parse() to drop() */
};

static struct variant variant_of(const struct lb_mutation *m, size_t i)
{
    struct variant v = {.mutant = &m->mutants.at[i],
                        .text = m->mutants.at[i].text,
                        .subject = {.judged = &m->judged[i]}};
    snprintf(v.subject.number, sizeof v.subject.number, "%zu", i + 1);
    return v;
}

static int parse(struct variant *v, struct lb_error *err)
{
    snprintf(v->path, sizeof v->path, "./mutant-%s.sql", v->subject.number);
    v->subject.path = v->path;
    return lb_file_parse(v->path, v->text, strlen(v->text), -1, &v->subject.file, err);
}

static void drop(struct variant *v)
{
    lb_file_free(v->subject.file);
    v->subject.file = NULL;
}

/* One question of one text. 1: it is wrong; 0; or an error. */
static int ask(const struct lb_mutation *m, struct lb_mutation_question *question,
               struct variant *v, uint64_t left_ns, struct lb_error *err)
{
    struct lb_judged *judged = v->subject.judged;
    bool is_compared = false;
    if (!lb_mutant_is_met(question, v->mutant))
        return 0;
    uint64_t start_ns = lb_now_ns(), time_ns = question->took_ns;
    if (question->is_complete)
        time_ns += 3 * time_ns + 5 * SECOND_NS; /* the machine may be busy */
    if (left_ns < question->took_ns + SECOND_NS / 2) {
        judged->is_incomplete |= question->is_complete;
        return 0;
    }
    int r = parse(v, err);
    if (r != 0)
        return r;
    bool was_open = judged->need == LB_NOT_SHOWN;
    r = lb_ask_exploration(m, question, &v->subject, time_ns < left_ns ? time_ns : left_ns,
                           &is_compared, err);
    judged->is_incomplete |= r == 0 && question->is_complete && !is_compared;
    question->tally->n_asked += was_open;
    question->tally->n_shown += was_open && judged->need != LB_NOT_SHOWN;
    question->tally->spent_ns += lb_now_ns() - start_ns;
    drop(v);
    return r;
}

/* Of a text that answers otherwise, or leaves other rows, and violates nothing that is claimed. */
static int ask_answers(struct lb_mutation *m, struct variant *v, bool with_rows,
                       struct lb_error *err)
{
    struct lb_judged *judged = v->subject.judged;
    uint64_t asked = with_rows ? judged->rows : judged->answers & ~judged->sought;
    int r = asked != 0 ? parse(v, err) : 0;
    judged->sought |= with_rows ? 0 : asked;
    for (size_t k = 0; k < m->n_questions && asked != 0 && r == 0; k++) {
        uint64_t took_ns = m->questions[k].took_ns, left_ns = lb_mutation_left_ns(m);
        uint64_t time_ns = 8 * took_ns + 5 * SECOND_NS;
        if (k < LB_MOST_EXPLORATIONS && (asked >> k & 1) != 0 &&
            left_ns > 2 * took_ns + SECOND_NS / 2)
            r = lb_ask_answers(m, &m->questions[k], &v->subject, with_rows,
                               time_ns < left_ns ? time_ns : left_ns, err);
        m->questions[k].tally->n_shown += r == 1;
    }
    drop(v);
    return r < 0 ? r : 0;
}

static bool is_open(const struct lb_judged *judged)
{
    return judged->need == LB_NOT_SHOWN;
}

/* Other answers show a need as well. */
static bool is_like_the_original(const struct lb_judged *judged)
{
    return is_open(judged) && judged->answers == 0;
}

static bool has_other_answers(const struct lb_judged *judged)
{
    return judged->need == LB_NEEDED && strncmp(judged->what, "other ", 6) == 0;
}

/* Each exploration of all those mutants, the likeliest first, but no exploration twice. */
static int explore_mutants(struct lb_mutation *m, bool complete,
                           bool (*wants)(const struct lb_judged *judged), struct lb_error *err)
{
    int r = 0;
    for (size_t k = 0; k < m->n_questions && r >= 0; k++)
        for (size_t i = 0; i < m->mutants.n && r >= 0 && !lb_mutation_is_stopped(m); i++) {
            struct lb_judged *judged = &m->judged[i];
            if (!lb_mutation_is_mine(m, i) || !m->questions[k].cell.is_explored ||
                m->questions[k].is_complete != complete || k < judged->n_asked || !wants(judged))
                continue;
            struct variant v = variant_of(m, i);
            r = ask(m, &m->questions[k], &v, exploring_left_ns(m), err);
            judged->n_asked = k + 1;
        }
    return r < 0 ? r : 0;
}

static int seek_answers(struct lb_mutation *m, bool with_rows, struct lb_error *err)
{
    int r = 0;
    for (size_t i = 0; i < m->mutants.n && r == 0 && !lb_mutation_is_stopped(m); i++)
        /* A number that is not raised is another one in the row, and that means nothing. */
        if (lb_mutation_is_mine(m, i) && is_open(&m->judged[i]) &&
            !(with_rows && m->mutants.at[i].kind == LB_MUTANT_COUNT)) {
            struct variant v = variant_of(m, i);
            r = ask_answers(m, &v, with_rows, err);
        }
    return r;
}

static int conclude_open(struct lb_mutation *m, struct lb_error *err)
{
    int r = seek_answers(m, false, err);
    if (r == 0)
        r = seek_answers(m, true, err);
    for (size_t i = 0; i < m->mutants.n && r == 0; i++)
        if (lb_mutation_is_mine(m, i) && is_open(&m->judged[i]))
            conclude(m, &m->mutants.at[i], &m->judged[i]);
    return r;
}

/* Those that answer otherwise need not be asked more, unless that was chance. */
static int compare_mutants(struct lb_mutation *m, struct lb_error *err)
{
    int r = explore_mutants(m, true, is_like_the_original, err);
    if (r == 0)
        r = seek_answers(m, false, err);
    if (r == 0)
        r = explore_mutants(m, true, is_open, err);
    return r == 0 ? conclude_open(m, err) : r;
}

static int compare_all(struct lb_mutation *m, struct lb_error *err)
{
    return lb_mutation_in_parts(m, compare_mutants, err);
}

/* Each process gets as many of the open mutants that are asked this; NULL: of all open ones. */
static void take_turns(struct lb_mutation *m, const struct lb_mutation_question *question)
{
    size_t turn = 0;
    for (int asked = 1; asked >= 0; asked--)
        for (size_t i = 0; i < m->mutants.n; i++)
            if (asked == (is_open(&m->judged[i]) &&
                          (question == NULL || lb_mutant_is_met(question, &m->mutants.at[i]))))
                m->judged[i].turn = turn++;
}

/* Explorations that were not complete: for a violation. */
static int search_mutants(struct lb_mutation *m, struct lb_error *err)
{
    return explore_mutants(m, false, is_open, err);
}

static int search_open(struct lb_mutation *m, struct lb_error *err)
{
    take_turns(m, NULL);
    return lb_mutation_in_parts(m, search_mutants, err);
}

static int search_claims(struct lb_mutation *m, struct lb_error *err)
{
    return explore_mutants(m, true, has_other_answers, err);
}

/* A violation of a claim means more than other answers. */
static int search_all_claims(struct lb_mutation *m, struct lb_error *err)
{
    return lb_mutation_in_parts(m, search_claims, err);
}

static const struct lb_mutation_question *largest(const struct lb_mutation *m,
                                                  const struct lb_mutation_question *question)
{
    for (size_t k = 0; k < m->n_questions && question->larger != 0;)
        if (m->questions[k].place == question->larger) {
            question = &m->questions[k];
            k = 0;
        } else {
            k++;
        }
    return question;
}

/* True if no complete exploration does what this one would: see is_tried_beside(). */
static bool is_first_beside(const struct lb_mutation *m,
                            const struct lb_mutation_question *question,
                            const struct lb_mutant *mutant)
{
    bool is = !question->cell.explored.is_search && is_tried_beside(question, mutant);
    for (size_t k = 0; k < m->n_questions && is; k++)
        is = !m->questions[k].is_complete || !is_tried_beside(&m->questions[k], mutant);
    return is;
}

/* Does it miss this exploration, and no smaller case that is shorter? */
static bool misses(const struct lb_mutation *m, const struct lb_mutation_question *question,
                   size_t i)
{
    const struct lb_mutant *mutant = &m->mutants.at[i];
    if (!is_open(&m->judged[i]))
        return false;
    if (is_first_beside(m, question, mutant))
        return true;
    bool is = is_uncovered(m, question, mutant) && is_missed(m, largest(m, question), mutant);
    for (size_t k = 0; k < m->n_questions && is; k++)
        is =
            m->questions[k].larger != question->place || !is_uncovered(m, &m->questions[k], mutant);
    return is;
}

static int ask_missed(struct lb_mutation *m, struct lb_error *err)
{
    int r = 0;
    for (size_t i = 0; i < m->mutants.n && r >= 0 && m->missed->is_complete; i++) {
        struct variant v = variant_of(m, i);
        if (lb_mutation_is_mine(m, i) && is_open(&m->judged[i]))
            r = ask(m, m->missed, &v, exploring_left_ns(m), err);
    }
    return r < 0 ? r : conclude_open(m, err);
}

static size_t count_misses(const struct lb_mutation *m, const struct lb_mutation_question *question)
{
    size_t n = 0;
    for (size_t i = 0; i < m->mutants.n; i++)
        n += misses(m, question, i);
    return n;
}

/* The question that most mutants miss, of those that were not taken before; NULL: there is none. */
static struct lb_mutation_question *take_most_missed(struct lb_mutation *m, size_t *ret_n)
{
    struct lb_mutation_question *most = NULL;
    *ret_n = 0;
    for (size_t k = 0; k < m->n_questions; k++) {
        size_t n = m->questions[k].is_taken ? 0 : count_misses(m, &m->questions[k]);
        if (n <= *ret_n)
            continue;
        *ret_n = n;
        most = &m->questions[k];
    }
    if (most != NULL)
        most->is_taken = true;
    return most;
}

/* Explorations that were not complete, where the time that is left may do for the original and for
 * all mutants that are still open. */
static int explore_missed(struct lb_mutation *m, struct lb_error *err)
{
    const size_t n_jobs = m->n_jobs > 1 ? m->n_jobs : 1;
    size_t n;
    int r = 0;
    while (r == 0 && !m->is_accused && !lb_mutation_is_stopped(m) &&
           (m->missed = take_most_missed(m, &n)) != NULL) {
        uint64_t start_ns = lb_now_ns(),
                 time_ns = exploring_left_ns(m) / ((n + n_jobs - 1) / n_jobs + 2);
        if (time_ns < 3 * m->missed->took_ns / 2)
            continue;
        r = lb_explore_original(m, m->missed, time_ns, err);
        m->missed->took_ns = lb_now_ns() - start_ns;
        take_turns(m, m->missed);
        r = r < 0 ? r : lb_mutation_in_parts(m, ask_missed, err);
    }
    return r;
}

/* --- pairs --- */

/* Can the clause go alone? Without token = token + 1 the rows differ, and perhaps nothing else. */
static bool can_go(const struct lb_mutation *m, size_t i)
{
    const struct lb_judged *judged = &m->judged[i];
    return judged->need == LB_NOT_NEEDED || judged->is_untried ||
           (judged->need == LB_NOT_SHOWN && m->mutants.at[i].kind == LB_MUTANT_COUNT &&
            judged->differs && judged->answers == 0);
}

/* Conditions of one statement that can each go alone, but not together. */
static int judge_pair(struct lb_mutation *m, size_t a, size_t b, struct lb_error *err)
{
    struct lb_judged both = {.need = LB_NOT_SHOWN};
    char *text = lb_mutants_without(m->file, &m->mutants.at[a], &m->mutants.at[b]);
    struct variant v = {.mutant = &m->mutants.at[a], .text = text, .subject = {.judged = &both}};
    snprintf(v.subject.number, sizeof v.subject.number, "%zu+%zu", a + 1, b + 1);
    int r = 0;
    for (size_t k = 0; k < m->n_questions && r == 0; k++)
        if (m->questions[k].is_complete)
            r = ask(m, &m->questions[k], &v, lb_mutation_left_ns(m), err);
    if (r == 0 && is_open(&both))
        r = ask_answers(m, &v, false, err);
    free(text);
    if (r < 0 || is_open(&both))
        return r < 0 ? r : 0;
    both.need = LB_REDUNDANT;
    both.with = b;
    m->judged[a] = both;
    if (can_go(m, b)) {
        m->judged[b] = both;
        m->judged[b].with = a;
    }
    return 0;
}

/* May the clause of mutant b go together with that of a? */
static bool is_partner(const struct lb_mutation *m, size_t a, size_t b)
{
    bool is_tried_again = b < a || m->mutants.at[a].kind == LB_MUTANT_COUNT;
    if (m->judged[a].is_paired && m->judged[b].is_paired)
        return false;
    return b != a && (can_go(m, b) || (is_tried_again && m->judged[b].need == LB_REDUNDANT)) &&
           lb_mutants_pair(&m->mutants.at[a], &m->mutants.at[b]);
}

static int judge_pairs(struct lb_mutation *m, struct lb_error *err)
{
    int r = 0;
    for (size_t a = 0; a < m->mutants.n; a++)
        for (size_t b = 0; b < m->mutants.n && r == 0; b++)
            if (can_go(m, a) && is_partner(m, a, b) && !lb_mutation_is_stopped(m))
                r = judge_pair(m, a, b, err);
    for (size_t i = 0; i < m->mutants.n; i++)
        m->judged[i].is_paired = can_go(m, i) || m->judged[i].need == LB_REDUNDANT;
    return r;
}

/* --- runs --- */

static int run_mutant(struct lb_mutation *m, struct lb_mutation_question *question, size_t i,
                      struct lb_error *err)
{
    struct variant v = variant_of(m, i);
    int r = parse(&v, err);
    if (r == 0)
        r = lb_ask_run(m, question, &v.subject, err);
    drop(&v);
    return r == 1 ? lb_run_original(m, question, err) : r;
}

static bool can_be_run(const struct lb_mutation *m, size_t i)
{
    return is_open(&m->judged[i]) && !lb_mutant_is_of_a_moment(&m->mutants.at[i]) &&
           !m->is_accused && !lb_mutation_is_stopped(m);
}

/* Each question of all mutants that are open: first of those that it is likely to show. */
static int run_open(struct lb_mutation *m, struct lb_error *err)
{
    int r = 0;
    for (size_t k = 0; k < 2 * m->n_questions && r == 0; k++) {
        struct lb_mutation_question *question = &m->questions[k % m->n_questions];
        const struct lb_scenario *scenario = &question->cell.scenario;
        /* A queue that is emptied ends before its time. */
        uint64_t cost_ns =
            scenario->drain ? 2 * SECOND_NS : scenario->duration_ns + scenario->warmup_ns;
        bool wants_likely = k < m->n_questions;
        if (question->cell.is_explored || !question->is_usable)
            continue;
        for (size_t i = 0; i < m->mutants.n && r == 0; i++)
            if (can_be_run(m, i) &&
                lb_mutant_is_likely(question, &m->mutants.at[i]) == wants_likely &&
                lb_mutation_left_ns(m) > cost_ns)
                r = run_mutant(m, question, i, err);
    }
    return r;
}

/* --- costs --- */

static void count_verdicts(struct lb_mutation *m)
{
    memset(m->counts, 0, sizeof m->counts);
    for (size_t i = 0; i < m->mutants.n; i++)
        m->counts[m->judged[i].need]++;
}

/* Of clauses that are not needed. Where the costs cannot be counted, the verdict stays. */
static int judge_costs(struct lb_mutation *m, struct lb_error *err)
{
    struct lb_costs original, costs;
    uint64_t start_ns = lb_now_ns();
    count_verdicts(m);
    if (m->counts[LB_NOT_NEEDED] == 0 || lb_mutation_left_ns(m) == 0 || lb_mutation_is_stopped(m))
        return 0;
    lb_ask_costs(m, m->file, &original);
    uint64_t took_ns = lb_now_ns() - start_ns;
    int r = 0;
    for (size_t i = 0; i < m->mutants.n && r == 0 && original.n > 0; i++) {
        struct lb_judged *judged = &m->judged[i];
        char words[200];
        if (judged->need != LB_NOT_NEEDED || lb_mutation_left_ns(m) < 2 * took_ns ||
            lb_mutation_is_stopped(m))
            continue;
        struct variant v = variant_of(m, i);
        r = parse(&v, err);
        if (r == 0)
            lb_ask_costs(m, v.subject.file, &costs);
        drop(&v);
        if (r != 0 || !lb_costs_grew(&original, &costs, words, sizeof words))
            continue;
        judged->need = LB_SLOWER;
        snprintf(judged->reason, sizeof judged->reason, "every schedule comes to the same, but %s",
                 words);
    }
    return r;
}

/* --- all --- */

/* The memory for the verdicts, and for the tally of each question. */
static int share(struct lb_mutation *m, struct lb_error *err)
{
    size_t tallies_at = sizeof *m->shared + m->mutants.n * sizeof *m->judged;
    tallies_at += -tallies_at % _Alignof(struct lb_tally);
    m->shared_size = tallies_at + m->room * sizeof *m->shared->tallies;
    m->shared = lb_shared_new(m->shared_size);
    if (m->shared == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    m->shared->tallies = (struct lb_tally *)(void *)((char *)m->shared + tallies_at);
    m->judged = m->shared->judged;
    m->n_parts = 1;
    for (size_t i = 0; i < m->mutants.n; i++) {
        m->judged[i].need = LB_NOT_SHOWN;
        m->judged[i].turn = i;
        snprintf(m->judged[i].reason, sizeof m->judged[i].reason, "no time was left for it");
    }
    for (size_t k = 0; k < m->n_questions; k++)
        m->questions[k].tally = &m->shared->tallies[k];
    return 0;
}

void lb_mutation_release(struct lb_mutation *m)
{
    lb_shared_free(m->shared, m->shared_size);
}

int lb_mutation_judge(struct lb_mutation *m, struct lb_error *err)
{
    typedef int step(struct lb_mutation * m, struct lb_error * err);
    static step *const steps[] = {lb_mutation_explore_originals,
                                  compare_all,
                                  judge_pairs,
                                  search_open,
                                  explore_missed,
                                  judge_pairs,
                                  judge_costs,
                                  run_open,
                                  search_all_claims};
    lb_mutation_questions(m);
    int r = share(m, err);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && r == 0 && !m->is_accused; i++)
        r = steps[i](m, err);
    if (m->is_shown)
        fputs("\r\033[K", stderr);
    count_verdicts(m);
    return r;
}

double lb_mutation_share(const struct lb_mutation *m)
{
    size_t n = m->mutants.n;
    return n == 0 ? 1 : (double)(n - m->counts[LB_NOT_SHOWN]) / (double)n;
}
