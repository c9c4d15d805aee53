/* The explorations of the original, and the order in which mutants are asked them: see
 * mutation_ask.h.
 *
 * First each question gets a short time. Then those that take little more are explored to their
 * end, the shortest one first. Smaller cases take the place of the others, and are explored
 * likewise.
 */
#include "mutation_ask.h"

#include "clock.h"
#include "learnt.h"

#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)
/* Of the time: for the plan's explorations, for each round of smaller cases as much more. None
 * begins later than the last one. */
enum { ORIGINAL_PERCENT = 25, SMALLER_PERCENT = 10, LATEST_PERCENT = 60 };
/* A twelfth of the time is for a first look at each of them. */
enum { LOOKS = 12 };

/* --- the order --- */

static uint64_t price_of(const struct lb_mutation_question *question)
{
    return lb_learnt_price(question->cell.scenario.name, question->took_ns);
}

static unsigned class_of(const struct lb_mutation_question *question)
{
    return !question->cell.is_explored ? 2 : !question->is_complete;
}

/* Explorations before runs, those that were complete first. Runs stay in the order of the plan. */
static int compare_prices(const void *left, const void *right)
{
    const struct lb_mutation_question *a = left, *b = right;
    if (class_of(a) != class_of(b))
        return class_of(a) < class_of(b) ? -1 : 1;
    uint64_t x = a->cell.is_explored ? price_of(a) : 0;
    uint64_t y = b->cell.is_explored ? price_of(b) : 0;
    if (x != y)
        return x < y ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* --- explorations --- */

/* The time in which the original's exploration would be complete, roughly; 0: it need not be. Its
 * share is one of the search, without set-up and the look at a violation. */
static double expected_ns(const struct lb_mutation_question *question)
{
    const uint64_t time_ns = question->cell.explored.time_ns,
                   searched_ns = question->took_ns < time_ns ? question->took_ns : time_ns;
    if (!question->is_usable || question->is_complete || question->cell.explored.is_search)
        return 0;
    return question->share > 0 ? (double)searched_ns / question->share : 1e18;
}

static int explore_original(struct lb_mutation *m, struct lb_mutation_question *question,
                            uint64_t time_ns, struct lb_error *err)
{
    uint64_t start_ns = lb_now_ns();
    int r = lb_explore_original(m, question, time_ns, err);
    question->took_ns = lb_now_ns() - start_ns;
    return r;
}

/* Each of them for a short time, from `first` on. */
static int look_at_originals(struct lb_mutation *m, size_t first, uint64_t time_ns,
                             struct lb_error *err)
{
    const uint64_t last_ns = m->start_ns + (m->end_ns - m->start_ns) * LATEST_PERCENT / 100;
    int r = 0;
    for (size_t i = first; i < m->n_questions && r == 0 && !m->is_accused; i++) {
        if (!m->questions[i].cell.is_explored)
            continue;
        bool is_late = lb_now_ns() >= last_ns;
        m->is_cut_short |= is_late && first == 0; /* without smaller cases most are known */
        if (is_late || lb_mutation_is_stopped(m))
            return 0;
        r = explore_original(m, &m->questions[i], time_ns, err);
    }
    return r;
}

/* The one of those from `first` on that would be complete first, within that time; NULL: none. */
static struct lb_mutation_question *take_shortest(struct lb_mutation *m, size_t first,
                                                  uint64_t most_ns)
{
    struct lb_mutation_question *shortest = NULL;
    for (size_t i = first; i < m->n_questions; i++) {
        struct lb_mutation_question *question = &m->questions[i];
        double ns = expected_ns(question);
        if (ns > 0 && ns <= (double)most_ns && !question->is_tried &&
            (shortest == NULL || ns < expected_ns(shortest)))
            shortest = question;
    }
    if (shortest != NULL)
        shortest->is_tried = true;
    return shortest;
}

/* The short ones as long as they take. A rough guess may be too low. */
static int complete_originals(struct lb_mutation *m, size_t first, uint64_t most_ns,
                              uint64_t end_ns, struct lb_error *err)
{
    struct lb_mutation_question *question;
    int r = 0;
    while (r == 0 && !m->is_accused && !lb_mutation_is_stopped(m) &&
           (question = take_shortest(m, first, most_ns)) != NULL) {
        uint64_t now_ns = lb_now_ns(), time_ns = 3 * (uint64_t)expected_ns(question) + SECOND_NS;
        if ((double)now_ns + expected_ns(question) > (double)end_ns)
            break;
        r = explore_original(m, question, time_ns < most_ns ? time_ns : most_ns, err);
    }
    return r;
}

int lb_mutation_explore_originals(struct lb_mutation *m, struct lb_error *err)
{
    const uint64_t budget_ns = m->end_ns - m->start_ns, n_jobs = m->n_jobs > 1 ? m->n_jobs : 1;
    uint64_t look_ns = budget_ns / LOOKS / (m->n_questions + 1),
             /* One that takes longer would not be complete for all mutants. */
        most_ns = budget_ns * n_jobs / (m->mutants.n + 1);
    look_ns = look_ns < SECOND_NS / 4 ? SECOND_NS / 4 : look_ns;
    most_ns = most_ns < 5 * SECOND_NS ? 5 * SECOND_NS : most_ns;
    unsigned percent = ORIGINAL_PERCENT;
    int r = 0;
    for (size_t first = 0, n; first < m->n_questions && r == 0; first = n) {
        n = m->n_questions;
        r = look_at_originals(m, first, look_ns, err);
        if (r == 0)
            r = complete_originals(m, first, most_ns, m->start_ns + budget_ns * percent / 100, err);
        for (size_t i = first; i < n && r == 0 && !m->is_accused; i++)
            if (expected_ns(&m->questions[i]) > 0)
                lb_mutation_add_smaller(m, i);
        percent += SMALLER_PERCENT;
    }
    qsort(m->questions, m->n_questions, sizeof *m->questions, compare_prices);
    return r;
}
