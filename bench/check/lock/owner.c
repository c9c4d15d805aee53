/* owner-release, and exclusive within one tick: what only the order of operations shows.
 *
 * Releases by workers that hold nothing are found while reading: nothing was granted, it was given
 * back, or a release of it was refused. Here: a release with an effect by a holder whose hold had
 * ended before, because its lease was certainly over, or because it had given it back (a release
 * that failed, by belief). And a worker that was granted a second hold, and then gave the first one
 * back, all within one tick of the clock: it had both, which the cores do not show.
 *
 * Each of them is searched for an order that keeps both guarantees (spec/lock.c), among the holds
 * that were there at that time. Each grant takes effect at its answer, and each end at its earliest
 * time: to move them there only makes holds shorter, so an order that keeps both guarantees keeps
 * them afterwards as well. So operations of several ticks never overlap, but for the release.
 *
 * The owner is judged only where the lock excluded until then, also by the cores: otherwise both
 * may own something of their own (two rows of a table that is polled in order of numbers), which is
 * for exclusive to say. For the same reason resources with a capacity above 1 are left out: there
 * the other worker may own another slot.
 *
 * A release of its worker's own row (own_rows), of a lock with a row for each holder, removes an
 * unused row: it had an effect, but ended no other worker's ownership. A worker that is let in
 * beside the owner after it breaks exclusive.
 */
#include "guarantee_kind.h"
#include "judges.h"
#include "lock.h"
#include "order.h"

#include <stdlib.h>

enum { EXCEEDED = 1, NOT_OWNER = 2 };

/* A part of the time of one resource that is searched. */
struct window {
    uint64_t low, high;
    uint32_t resource;
    const struct lb_tie *tie;           /* why; NULL: the release is */
    const struct lb_late_release *late; /* NULL: the tie is */
};

/* The holds of a resource that have not ended. */
struct recent {
    uint32_t *holds;
    uint32_t n, room;
};

struct judge {
    struct lb_case *c;
    struct recent *resources;
    struct lb_array windows; /* struct window, by low */
    struct lb_array ops;     /* struct lb_spec_op; detail: the hold */
    struct lb_search_budget budget;
    struct lb_search *search;
    uint64_t n_ties; /* violations of exclusive that the cores do not show */
};

/* --- in words --- */

/* owner: the hold that it ended; NULL: its session had ended before. */
static void report_release(struct lb_case *c, const struct lb_late_release *late,
                           const struct lb_hold *owner)
{
    struct lb_witness *witness = lb_violation(c, LB_G_OWNER_RELEASE);
    if (witness == NULL)
        return;
    char at[LB_AT], from[LB_AT];
    lb_witness_add(c, witness, late->log, late->grant);
    lb_witness_add(c, witness, late->log, late->event);
    witness->at_ns = late->low;
    if (owner == NULL) {
        lb_witness_text(witness,
                        "%s released resource %u at %s with effect, though its session, which "
                        "had been granted it, had ended",
                        lb_who(c, late->log, LB_WHOM), (unsigned)late->id,
                        lb_at(c, late->low, at, sizeof at));
        return;
    }
    lb_witness_add_hold(c, witness, owner);
    lb_witness_text(witness,
                    "%s released resource %u at %s with effect, though %s and %s had owned the "
                    "lock since %s",
                    lb_who(c, late->log, LB_WHOM), (unsigned)late->id,
                    lb_at(c, late->low, at, sizeof at),
                    late->by_lease ? "its lease was over" : "it had given it back before",
                    lb_who(c, owner->log, LB_WHOM), lb_at(c, owner->start, from, sizeof from));
}

static void report_tie(struct lb_case *c, const struct lb_tie *tie)
{
    struct lb_witness *witness = lb_witness_new(lb_finding_of(c, LB_G_EXCLUSIVE));
    const struct lb_hold *hold = &lb_holds(c)[tie->hold];
    char at[LB_AT];
    if (witness == NULL)
        return;
    lb_witness_add_hold(c, witness, hold);
    for (size_t i = tie->hold + 1u; i < c->holds.n; i++) { /* the grant that came beside it */
        const struct lb_hold *other = &lb_holds(c)[i];
        if (other->log != hold->log)
            break;
        if (other->resource != hold->resource || other->start != tie->time)
            continue;
        lb_witness_add_hold(c, witness, other);
        break;
    }
    witness->at_ns = tie->time;
    lb_witness_text(witness,
                    "%s was granted resource %u at %s beside what was held, and gave the earlier "
                    "hold of its own back only after that, within one tick of the clock",
                    lb_who(c, hold->log, LB_WHOM), hold->resource,
                    lb_at(c, tie->time, at, sizeof at));
}

/* --- the operations of a window --- */

/* Where the end of a hold stands in its log, if other operations of its worker share its tick;
 * NULL: nothing there orders it. Its session may have ended it at any time before. */
static const struct lb_tie *tie_of(const struct lb_case *c, uint32_t hold)
{
    const struct lb_tie key = {.hold = hold};
    const struct lb_tie *tie =
        c->ties.n > 0 ? bsearch(&key, c->ties.items, c->ties.n, sizeof key, lb_order_u32) : NULL;
    const struct lb_hold *its = &lb_holds(c)[hold];
    return tie != NULL && its->cut == tie->time && !its->is_lost ? tie : NULL;
}

static void add_op(struct judge *judge, struct lb_spec_op op)
{
    struct lb_spec_op *slot = lb_array_push(&judge->ops, sizeof *slot);
    op.must = true;
    *slot = op;
}

/* Of answers at one time, releases come first: a break of exclusive excuses them. */
enum rank { RELEASES, ENDS, GRANTS };

static void add_hold(struct judge *judge, uint32_t number, uint64_t until)
{
    const struct lb_hold *hold = &lb_holds(judge->c)[number];
    const struct lb_tie *tie = tie_of(judge->c, number);
    bool is_brief = hold->cut <= hold->start && tie == NULL;
    uint32_t grant = (uint32_t)judge->ops.n;
    add_op(judge, (struct lb_spec_op){.low = is_brief ? hold->cut : hold->start,
                                      .high = hold->start,
                                      .log = hold->log,
                                      .position = hold->event,
                                      .about = LB_SPEC_NONE,
                                      .arg = hold->permits,
                                      .to = hold->is_shared ? LB_LOCK_IS_SHARED : 0,
                                      .kind = is_brief ? LB_LOCK_BRIEF : LB_LOCK_GRANT,
                                      .rank = GRANTS,
                                      .detail = hold});
    if (is_brief || hold->cut > until)
        return;
    add_op(judge, (struct lb_spec_op){.low = hold->cut,
                                      .high = hold->cut,
                                      .log = tie != NULL ? hold->log : LB_SPEC_NONE,
                                      .position = tie != NULL ? tie->position : 0,
                                      .about = grant,
                                      .kind = LB_LOCK_END,
                                      .rank = ENDS});
}

/* next: in the case's order, the first hold that is not among the recent ones. */
static void fill(struct judge *judge, const struct window *window, size_t next)
{
    struct lb_case *c = judge->c;
    const struct recent *recent = &judge->resources[window->resource];
    const struct lb_late_release *late = window->late;
    judge->ops.n = 0;
    for (uint32_t i = 0; i < recent->n; i++)
        if (lb_holds(c)[recent->holds[i]].cut >= window->low)
            add_hold(judge, recent->holds[i], window->high);
    for (; next < c->holds.n && lb_holds(c)[c->order[next]].start <= window->high; next++) {
        const struct lb_hold *hold = &lb_holds(c)[c->order[next]];
        /* A hold with an empty core owned nothing for certain, except in the eyes of its worker. */
        bool is_known = late == NULL || hold->cut >= hold->start || hold->log == late->log;
        if (hold->resource == window->resource && is_known)
            add_hold(judge, c->order[next], window->high);
    }
    if (late == NULL)
        return;
    add_op(judge, (struct lb_spec_op){.low = late->low,
                                      .high = late->high,
                                      .log = late->log,
                                      .position = late->event,
                                      .about = LB_SPEC_NONE,
                                      .kind = LB_LOCK_RELEASE,
                                      .rank = RELEASES});
}

/* --- a window --- */

/* The guarantees that are broken in the window, in every order; *ret_owner: the hold that a release
 * ended. */
static void search(struct judge *judge, const struct window *window, unsigned *ret_broken,
                   const struct lb_hold **ret_owner)
{
    const struct lb_case *c = judge->c;
    const struct lb_lock_model model = {.exceeded = EXCEEDED,
                                        .not_owner = NOT_OWNER,
                                        .capacity = lb_capacity_of(c->model, window->resource)};
    const struct lb_automaton automaton = lb_lock_automaton(&model);
    const struct lb_spec_op *ops = judge->ops.items;
    const struct lb_object object = {.automaton = &automaton,
                                     .ops = ops,
                                     .n_ops = (uint32_t)judge->ops.n,
                                     .known_until = LB_SPEC_NEVER,
                                     .context = &model};
    size_t n;
    *ret_broken = 0;
    lb_search_run(judge->search, &object);
    const struct lb_break *breaks = lb_search_breaks(judge->search, &n);
    for (size_t i = 0; i < n; i++) {
        unsigned violated, either;
        lb_break_conclude(&breaks[i], EXCEEDED | NOT_OWNER, &violated, &either);
        *ret_broken |= violated | either;
        /* Where the lock excluded no more, each may own something. */
        if ((violated & EXCEEDED) == 0 && ((violated | either) & NOT_OWNER) != 0 &&
            breaks[i].other != LB_SPEC_NONE)
            *ret_owner = ops[breaks[i].other].detail;
    }
}

/* True if the history does not say whose lock it was: something is missing, the lock did not
 * exclude, or another's lease may have gone on that its session's end had ended. */
static bool is_unknown(struct lb_case *c, const struct lb_late_release *late)
{
    if (lb_capacity_of(c->model, (uint32_t)late->id) > 1 ||
        c->first_violation[late->id] < late->high)
        return true;
    if (late->high >= c->had_again)
        c->doubt[LB_G_OWNER_RELEASE] =
            "a session may have ended, or not, while a lock was held: its owner is not judged";
    return late->high >= c->had_again;
}

static void judge_window(struct judge *judge, const struct window *window, size_t next)
{
    struct lb_case *c = judge->c;
    const struct lb_late_release *late = window->late;
    const struct lb_hold *owner = NULL;
    uint64_t *violated = &c->first_violation[window->resource];
    unsigned broken = 0;
    if (late != NULL && (late->high >= c->known_ns || late->by_session || is_unknown(c, late))) {
        if (late->high < c->known_ns && late->by_session)
            report_release(c, late, NULL);
        return;
    }
    if (late == NULL && *violated <= window->high) /* the cores show as much */
        return;
    fill(judge, window, next);
    search(judge, window, &broken, &owner);
    if (lb_search_gave_up(judge->search)) {
        c->doubt[late != NULL ? LB_G_OWNER_RELEASE : LB_G_EXCLUSIVE] =
            "too much happened to a lock at one time: the search for an order was given up";
    } else if (late != NULL && owner != NULL) {
        report_release(c, late, owner);
    } else if (late == NULL && (broken & EXCEEDED) != 0) {
        report_tie(c, window->tie);
        judge->n_ties++;
        *violated = window->high;
    }
}

/* --- all windows --- */

static int by_low(const void *a, const void *b)
{
    const struct window *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->resource > y->resource) - (x->resource < y->resource);
}

static void add_window(struct judge *judge, struct window window)
{
    struct window *slot = lb_array_push(&judge->windows, sizeof *slot);
    *slot = window;
}

static void find_windows(struct judge *judge)
{
    struct lb_case *c = judge->c;
    const struct lb_tie *ties = c->ties.items;
    const struct lb_late_release *late = c->late.items;
    for (size_t i = 0; i < c->ties.n; i++)
        if (lb_holds(c)[ties[i].hold].cut == ties[i].time)
            add_window(judge, (struct window){.low = ties[i].time,
                                              .high = ties[i].time,
                                              .resource = ties[i].resource,
                                              .tie = &ties[i]});
    for (size_t i = 0; i < c->late.n && !c->model->own_rows; i++)
        add_window(judge, (struct window){.low = late[i].low,
                                          .high = late[i].high,
                                          .resource = (uint32_t)late[i].id,
                                          .late = &late[i]});
}

static void remember(struct lb_case *c, struct recent *recent, uint32_t number)
{
    const struct lb_hold *hold = &lb_holds(c)[number];
    uint32_t kept = 0;
    if (hold->cut <= hold->start)
        return;
    for (uint32_t i = 0; i < recent->n; i++)
        if (lb_holds(c)[recent->holds[i]].cut > hold->start)
            recent->holds[kept++] = recent->holds[i];
    recent->n = kept;
    if (kept == recent->room) {
        uint32_t room = kept == 0 ? 4 : kept * 2;
        recent->holds = lb_realloc(recent->holds, room, sizeof *recent->holds);
        recent->room = room;
    }
    recent->holds[recent->n++] = number;
}

/* Ties of one resource and tick are searched once. */
static bool is_again(const struct window *windows, size_t i)
{
    return i > 0 && windows[i].tie != NULL && windows[i - 1].tie != NULL &&
           by_low(&windows[i - 1], &windows[i]) == 0;
}

static void judge_all(struct judge *judge)
{
    struct lb_case *c = judge->c;
    const struct window *windows = judge->windows.items;
    for (size_t i = 0, next = 0; i < judge->windows.n; i++) {
        for (; next < c->holds.n; next++) {
            const struct lb_hold *hold = &lb_holds(c)[c->order[next]];
            if (hold->start >= windows[i].low)
                break;
            remember(c, &judge->resources[hold->resource], c->order[next]);
        }
        if (!is_again(windows, i))
            judge_window(judge, &windows[i], next);
    }
}

void lb_orders_open(struct lb_case *c)
{
    if (c->ties.n == 0 && c->late.n == 0)
        return;
    c->first_violation = lb_malloc(c->n_resources * sizeof *c->first_violation);
    memset(c->first_violation, 0xff, c->n_resources * sizeof *c->first_violation); /* LB_NEVER */
    if (c->ties.n > 0)
        qsort(c->ties.items, c->ties.n, sizeof(struct lb_tie), lb_order_u32);
}

uint64_t lb_judge_orders(struct lb_case *c)
{
    struct judge judge = {.c = c,
                          .budget = {.ops = (1 << 24) + 4 * c->history->n_events,
                                     .steps = (1 << 26) + 16 * c->history->n_events}};
    if (c->ties.n == 0 && c->late.n == 0)
        return 0;
    judge.resources = lb_calloc((size_t)c->n_resources + 1, sizeof *judge.resources);
    judge.search = lb_search_open(&judge.budget);
    find_windows(&judge);
    if (judge.windows.n > 0) {
        qsort(judge.windows.items, judge.windows.n, sizeof(struct window), by_low);
        judge_all(&judge);
    }
    for (uint32_t i = 0; i < c->n_resources; i++)
        free(judge.resources[i].holds);
    free(judge.resources);
    free(judge.windows.items);
    free(judge.ops.items);
    lb_search_close(judge.search);
    return judge.n_ties;
}

static int judge_owner(struct lb_case *c)
{
    lb_finding_of(c, LB_G_OWNER_RELEASE)->n_tested = c->n_releases; /* see lb_judge_orders */
    return 0;
}

const struct lb_guarantee_kind lb_guarantee_owner_release = {
    .judge_lock = judge_owner, /* of queues: items.c */
    .has_shortcut = true,
    .nothing = "nothing was released",
    .doubts = 1u << LB_DOUBT_ROWS};
