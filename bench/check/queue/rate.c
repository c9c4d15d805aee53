/* rate: never more than N items begun in any window of length T (`-- rate: N/T`).
 *
 * A claim begins its items at a moment between its request and its answer, and a window contains
 * one of its two ends. A violation is only what every choice of these moments breaks.
 *
 * More than N items whose claims lie within one window are such a violation, and are looked for
 * first: one sort and one pass. If there are none, moments are looked for. A claim is a job that
 * begins at its moment and takes T on one of N machines: this is the scheduling of equal jobs with
 * release times and deadlines. The earliest deadline is served first. A job that comes too late
 * because one with a later deadline took its place makes a barrier: that place may not begin before
 * one of the jobs behind it is released. A job that comes too late for no such reason has no place
 * in any order (B. Simons, "Multiprocessor scheduling of unit-time jobs with arbitrary release
 * times and deadlines", SIAM J. Comput. 12, 1983).
 *
 * T is shorter by the largest difference of clocks (lb_lease_margin). Items of one claim have
 * moments of their own in the second step, and a claim of unknown outcome began nothing: both can
 * only let a violation pass.
 */
#include "guarantee_kind.h"
#include "items.h"
#include "order.h"

#include <stdlib.h>

enum { MOST_STEPS = 20000000 }; /* of the search for moments: some seconds */

struct judge {
    struct lb_case *c;
    uint64_t window; /* T, less the margin of clocks */
    uint32_t most;   /* N */
    const struct lb_begun *by_low, *by_high;
    const struct lb_refusal *refusals; /* by low */
    size_t n, n_refusals;
};

static int by_high(const void *a, const void *b)
{
    const struct lb_begun *one = a, *other = b;
    return (one->high > other->high) - (one->high < other->high);
}

bool lb_wants_rate(const struct lb_case *c)
{
    return c->model->rate > 0 && c->model->rate_ms > 0 &&
           (c->model->claims & LB_G_BIT(LB_G_RATE)) != 0;
}

/* --- violations --- */

/* A longer claim is certainly inside of no window. */
static bool is_short(const struct judge *judge, const struct lb_begun *begun)
{
    return begun->high - begun->low < judge->window;
}

/* The claims from a place on that lie inside of the window that begins with it. */
static void report_crowd(const struct judge *judge, size_t first)
{
    struct lb_case *c = judge->c;
    struct lb_witness *witness = lb_violation(c, LB_G_RATE);
    const struct lb_begun *begun = judge->by_low;
    const uint64_t from = begun[first].low;
    uint64_t to = from, n = 0;
    uint32_t last = begun[first].log;
    char at[LB_AT], until[LB_AT];
    if (witness == NULL)
        return;
    for (size_t i = first; i < judge->n && n <= judge->most && begun[i].low - from < judge->window;
         i++) {
        const bool is_inside = begun[i].high - from < judge->window;
        if (!is_inside && begun[i].n <= judge->most)
            continue;
        n = is_inside ? n + begun[i].n : begun[i].n;
        last = begun[i].log;
        to = begun[i].high > to ? begun[i].high : to;
        if (witness->n_ops < LB_WITNESS_OPS)
            lb_witness_add(c, witness, begun[i].log, begun[i].event);
    }
    witness->at_ns = to;
    lb_witness_text(witness,
                    "%llu items were begun between %s and %s, and at most %u may be in %u ms: the "
                    "last one by %s",
                    (unsigned long long)n, lb_at(c, from, at, LB_AT), lb_at(c, to, until, LB_AT),
                    judge->most, c->model->rate_ms, lb_who(c, last, LB_WHOM));
}

/* True if a worker was refused, or had to wait, after the window that begins at `from` was full. */
static bool was_asked(const struct judge *judge, uint64_t from, uint64_t full, size_t next)
{
    size_t low = lb_order_find(judge->refusals, judge->n_refusals, sizeof *judge->refusals, full);
    if (low < judge->n_refusals && judge->refusals[low].high - from < judge->window)
        return true;
    while (next < judge->n && judge->by_low[next].low < full)
        next++;
    return next < judge->n && judge->by_low[next].low - from < 3 * judge->window;
}

/* Windows that contain more claims than are allowed, whatever their moments. */
static void find_crowds(const struct judge *judge)
{
    const struct lb_begun *begun = judge->by_low;
    struct lb_finding *finding = lb_finding_of(judge->c, LB_G_RATE);
    uint64_t ended = 0, before = 0, next = 0; /* items, of claims that fit into a window */
    size_t h = 0, i = 0, end;
    for (uint64_t n = 0; i < judge->n; i = end, before += n) {
        const uint64_t from = begun[i].low;
        uint64_t largest = 0;
        for (end = i, n = 0; end < judge->n && begun[end].low == from; end++) {
            n += is_short(judge, &begun[end]) ? begun[end].n : 0;
            largest = begun[end].n > largest ? begun[end].n : largest;
        }
        for (; h < judge->n &&
               (judge->by_high[h].high < from || judge->by_high[h].high - from < judge->window);
             h++)
            ended += is_short(judge, &judge->by_high[h]) ? judge->by_high[h].n : 0;
        const uint64_t inside = ended - before;
        if (inside < judge->most && largest <= judge->most)
            continue;
        const bool is_crowd = inside > judge->most || largest > judge->most;
        if (is_crowd && from >= next) {
            report_crowd(judge, i);
            next = from + judge->window;
        }
        finding->n_tested += is_crowd || was_asked(judge, from, judge->by_high[h - 1].high, end);
    }
}

/* --- moments for all --- */

struct job {
    uint64_t low, high;
    uint32_t log, event;
};

struct moments {
    const struct job *jobs; /* by low */
    size_t n;
    uint32_t *heap; /* released jobs, the earliest deadline first */
    size_t n_heap;
    uint32_t *order; /* the job at each place */
    uint64_t *start, *barrier;
    uint64_t n_steps;
};

static void push(struct moments *m, uint32_t job)
{
    size_t i = m->n_heap++;
    for (; i > 0 && m->jobs[m->heap[(i - 1) / 2]].high > m->jobs[job].high; i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = job;
}

static uint32_t pop(struct moments *m)
{
    const uint32_t first = m->heap[0], last = m->heap[--m->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->n_heap; i = child) {
        if (child + 1 < m->n_heap &&
            m->jobs[m->heap[child + 1]].high < m->jobs[m->heap[child]].high)
            child++;
        if (m->jobs[m->heap[child]].high >= m->jobs[last].high)
            break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = last;
    return first;
}

/* One schedule. Returns the place of the job that comes too late, in order[]; n: none does. */
static size_t fill(struct moments *m, const struct judge *judge)
{
    size_t released = 0, k = 0;
    m->n_heap = 0;
    for (; k < m->n; k++) {
        uint64_t at = lb_max_u64(m->barrier[k], k > 0 ? m->start[k - 1] : 0);
        if (k >= judge->most)
            at = lb_max_u64(at, m->start[k - judge->most] + judge->window);
        if (m->n_heap == 0 && released < m->n)
            at = lb_max_u64(at, m->jobs[released].low);
        while (released < m->n && m->jobs[released].low <= at)
            push(m, (uint32_t)released++);
        m->order[k] = pop(m);
        m->start[k] = at;
        m->n_steps++;
        if (m->jobs[m->order[k]].high < at)
            break;
    }
    return k;
}

/* The job that comes too late lets an earlier place wait. False: nothing can help it. */
static bool add_barrier(struct moments *m, size_t late)
{
    const struct job *job = &m->jobs[m->order[late]];
    uint64_t low = job->low;
    for (size_t i = late; i-- > 0;) {
        const struct job *other = &m->jobs[m->order[i]];
        if (other->high > job->high) {
            m->barrier[i] = lb_max_u64(m->barrier[i], low);
            return true;
        }
        low = other->low < low ? other->low : low;
    }
    return false;
}

static void report_late(const struct judge *judge, const struct moments *m, size_t late)
{
    struct lb_case *c = judge->c;
    struct lb_witness *witness = lb_violation(c, LB_G_RATE);
    const struct job *job = &m->jobs[m->order[late]];
    const size_t first = late > judge->most ? late - judge->most : 0;
    char asked[LB_AT], at[LB_AT];
    if (witness == NULL)
        return;
    for (size_t i = first; i <= late && witness->n_ops < LB_WITNESS_OPS; i++)
        lb_witness_add(c, witness, m->jobs[m->order[i]].log, m->jobs[m->order[i]].event);
    witness->at_ns = job->high;
    lb_witness_text(witness,
                    "%s began an item between %s and %s, and beside the claims before it there is "
                    "no moment for it: at most %u items may be begun in %u ms",
                    lb_who(c, job->log, LB_WHOM), lb_at(c, job->low, asked, LB_AT),
                    lb_at(c, job->high, at, LB_AT), judge->most, c->model->rate_ms);
}

static struct job *list_jobs(const struct judge *judge, size_t n)
{
    size_t k = 0;
    struct job *jobs = lb_malloc((n + 1) * sizeof *jobs);
    for (size_t i = 0; i < judge->n; i++)
        for (uint32_t t = 0; t < judge->by_low[i].n; t++) {
            const struct lb_begun *begun = &judge->by_low[i];
            jobs[k++] = (struct job){begun->low, begun->high, begun->log, begun->event};
        }
    if (n > 0)
        qsort(jobs, n, sizeof *jobs, lb_order_u64);
    return jobs;
}

static int find_moments(const struct judge *judge)
{
    struct moments m = {0};
    for (size_t i = 0; i < judge->n; i++)
        m.n += judge->by_low[i].n;
    if (m.n >= LB_NONE)
        return lb_fail(judge->c->err, LB_E_FILE, "more than %u items were begun", LB_NONE - 1);
    struct job *jobs = list_jobs(judge, m.n);
    m.jobs = jobs;
    m.heap = lb_malloc((m.n + 1) * sizeof *m.heap);
    m.order = lb_malloc((m.n + 1) * sizeof *m.order);
    m.start = lb_malloc((m.n + 1) * sizeof *m.start);
    m.barrier = lb_calloc(m.n + 1, sizeof *m.barrier);
    for (bool goes_on = true; goes_on;) {
        const size_t late = fill(&m, judge);
        goes_on = late < m.n && add_barrier(&m, late);
        if (late < m.n && !goes_on)
            report_late(judge, &m, late);
        if (goes_on && m.n_steps > MOST_STEPS) {
            judge->c->doubt[LB_G_RATE] = "too many claims overlap: the search for moments at which "
                                         "they can have begun was given up";
            goes_on = false;
        }
    }
    free(jobs);
    free(m.heap);
    free(m.order);
    free(m.start);
    free(m.barrier);
    return 0;
}

/* --- all --- */

static int judge_rate(struct lb_case *c)
{
    if (!lb_wants_rate(c))
        return 0;
    struct judge judge = {.c = c,
                          .window = lb_lease_low(c, 0, c->model->rate_ms),
                          .most = c->model->rate,
                          .n = c->begun.n,
                          .n_refusals = c->refusals.n};
    if (judge.window == 0 || judge.n == 0)
        return 0;
    struct lb_begun *copy = lb_malloc(judge.n * sizeof *copy);
    struct lb_refusal *refusals = lb_malloc((judge.n_refusals + 1) * sizeof *refusals);
    memcpy(copy, c->begun.items, judge.n * sizeof *copy);
    if (judge.n_refusals > 0) {
        memcpy(refusals, c->refusals.items, judge.n_refusals * sizeof *refusals);
        qsort(refusals, judge.n_refusals, sizeof *refusals, lb_order_u64);
    }
    qsort(c->begun.items, judge.n, sizeof *copy, lb_order_u64);
    qsort(copy, judge.n, sizeof *copy, by_high);
    judge.by_low = c->begun.items;
    judge.by_high = copy;
    judge.refusals = refusals;
    find_crowds(&judge);
    int rc = lb_finding_of(c, LB_G_RATE)->n_violations == 0 ? find_moments(&judge) : 0;
    free(copy);
    free(refusals);
    return rc;
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->rate == 0 || c->model->rate_ms == 0 ? "the limit is not known (-- rate: N/T)"
           : lb_lease_low(c, 0, c->model->rate_ms) == 0
               ? "the window is shorter than clocks can tell"
               : c->doubt[LB_G_RATE];
}

const struct lb_guarantee_kind lb_guarantee_rate = {
    .is_within_class = true,
    .judge_queue = judge_rate,
    .cannot_say = cannot_say,
    .nothing = "no worker asked for an item while as many were begun as the limit allows"};
