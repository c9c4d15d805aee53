/* exclusive, within one tick: a worker's own operations keep their order.
 *
 * Operations of different workers that share a tick are concurrent, so the sweep of exclusive.c
 * lets holds end before others start. But a worker that was granted a second hold, and then gave
 * the first one back, had both, even if the clock did not move. Only there the sweep can be wrong,
 * and only there this is asked.
 *
 * Claim: for such a tick a legal order exists iff the grants answered in it and the releases
 * requested in it can be put into an order that keeps each worker's own and in which the holders
 * never exceed the capacity.
 *   Grants that are moved to their answers, and releases that are moved to their invokes, only make
 *   holds shorter, so the order need be looked for there only; between ticks the holders are those
 *   whose cores cover the time.
 * The orders are searched: a state is how far each worker has come. More than MOST_STATES, and the
 * verdict is "not tested".
 */
#include "judges.h"

#include <stdlib.h>

enum { MOST_STATES = 1 << 14, MOST_TRACKS = 64 };

/* A grant, or an end, in the tick. */
struct point {
    uint32_t hold, position;
    bool is_end;
};

/* An ordered track: the points first .. first + n - 1. */
struct track {
    size_t first, n;
};

struct tick {
    struct lb_case *c;
    struct lb_array points; /* struct point, by track and in order */
    struct track tracks[MOST_TRACKS];
    size_t n_tracks;
    uint64_t capacity;
    uint64_t writers, readers; /* permits, and holds, before the tick */
    uint8_t *seen;
    size_t at[MOST_TRACKS];
};

static const struct point *points_of(const struct tick *tick)
{
    return tick->points.items;
}

static bool is_legal(const struct tick *tick, uint64_t writers, uint64_t readers)
{
    return writers <= tick->capacity && (writers == 0 || readers == 0);
}

static size_t state_of(const struct tick *tick)
{
    size_t state = 0;
    for (size_t i = 0; i < tick->n_tracks; i++)
        state = state * (tick->tracks[i].n + 1) + tick->at[i];
    return state;
}

/* Can all go on to the end from here? */
static bool goes_on(struct tick *tick, uint64_t writers, uint64_t readers)
{
    size_t state = state_of(tick);
    bool all = true;
    if ((tick->seen[state / 8] >> state % 8 & 1) != 0)
        return false;
    tick->seen[state / 8] |= (uint8_t)(1u << state % 8);
    for (size_t i = 0; i < tick->n_tracks; i++) {
        const struct track *track = &tick->tracks[i];
        if (tick->at[i] == track->n)
            continue;
        all = false;
        const struct point *point = &points_of(tick)[track->first + tick->at[i]];
        const struct lb_hold *hold = &lb_holds(tick->c)[point->hold];
        uint64_t w = writers, r = readers, by = hold->is_shared ? 1 : hold->permits;
        uint64_t *count = hold->is_shared ? &r : &w;
        *count = point->is_end ? *count - by : *count + by;
        if (!is_legal(tick, w, r))
            continue;
        tick->at[i]++;
        bool found = goes_on(tick, w, r);
        tick->at[i]--;
        if (found)
            return true;
    }
    return all;
}

static int by_track(const void *a, const void *b, const struct lb_case *c, bool is_own)
{
    const struct point *x = a, *y = b;
    uint32_t p = is_own ? lb_holds(c)[x->hold].log : x->hold;
    uint32_t q = is_own ? lb_holds(c)[y->hold].log : y->hold;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->is_end - y->is_end; /* a hold that ends at once: granted first */
}

/* Insertion: a tick has few points. */
static void sort_points(struct tick *tick, bool is_own)
{
    struct point *points = tick->points.items;
    for (size_t i = 1; i < tick->points.n; i++)
        for (size_t k = i; k > 0 && by_track(&points[k - 1], &points[k], tick->c, is_own) > 0;
             k--) {
            struct point swap = points[k];
            points[k] = points[k - 1];
            points[k - 1] = swap;
        }
}

/* Is there an order? is_own: that keeps each worker's own; else each hold is by itself, as the
 * sweep has it. -1: not known; LB_E_MEMORY. */
static int has_order(struct tick *tick, bool is_own)
{
    const struct point *points = points_of(tick);
    size_t n_states = 1;
    sort_points(tick, is_own);
    tick->n_tracks = 0;
    for (size_t i = 0, first = 0; i < tick->points.n; i++) {
        bool ends =
            i + 1 == tick->points.n || (is_own ? lb_holds(tick->c)[points[i].hold].log !=
                                                     lb_holds(tick->c)[points[i + 1].hold].log
                                               : points[i].hold != points[i + 1].hold);
        if (!ends)
            continue;
        if (tick->n_tracks == MOST_TRACKS || n_states > MOST_STATES)
            return -1;
        tick->tracks[tick->n_tracks] = (struct track){first, i + 1 - first};
        tick->at[tick->n_tracks++] = 0;
        n_states *= i + 2 - first;
        first = i + 1;
    }
    if (n_states > MOST_STATES)
        return -1;
    memset(tick->seen, 0, MOST_STATES / 8 + 1);
    return is_legal(tick, tick->writers, tick->readers) &&
           goes_on(tick, tick->writers, tick->readers);
}

static void report(struct lb_case *c, const struct lb_tie *tie)
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

static int add_point(struct tick *tick, uint32_t hold, uint32_t position, bool is_end)
{
    struct point *point = lb_array_push(&tick->points, sizeof *point);
    if (point == NULL)
        return lb_out_of_memory(tick->c);
    *point = (struct point){.hold = hold, .position = position, .is_end = is_end};
    return 0;
}

/* Where the hold's end stands in its log, if another grant came between; else right behind it, as
 * that of a session may. */
static uint32_t end_position(const struct lb_case *c, uint32_t hold)
{
    const struct lb_tie *ties = c->ties.items;
    for (size_t i = 0; i < c->ties.n; i++)
        if (ties[i].hold == hold && !lb_holds(c)[hold].is_lost)
            return ties[i].position;
    return lb_holds(c)[hold].event;
}

/* first .. first + n - 1 of c->ties are of one resource and tick. */
static int judge_tick(struct tick *tick, const struct lb_tie *tie, uint64_t *ret_n)
{
    struct lb_case *c = tick->c;
    int rc = 0;
    tick->points.n = 0;
    tick->writers = tick->readers = 0;
    tick->capacity = c->model->capacity == NULL ? 1 : c->model->capacity[tie->resource];
    for (size_t i = 0; i < c->holds.n && rc == 0; i++) {
        uint32_t number = c->order[i];
        const struct lb_hold *hold = &lb_holds(c)[number];
        if (hold->start > tie->time)
            break;
        if (hold->resource != tie->resource || hold->cut < tie->time || hold->is_piece ||
            hold->cut < hold->start)
            continue;
        if (hold->start < tie->time) {
            tick->writers += hold->is_shared ? 0 : hold->permits;
            tick->readers += hold->is_shared;
        } else {
            rc = add_point(tick, number, hold->event, false);
        }
        if (hold->cut == tie->time && rc == 0)
            rc = add_point(tick, number, end_position(c, number), true);
    }
    int is_legal = rc == 0 ? has_order(tick, true) : 1;
    int is_told = is_legal == 0 ? has_order(tick, false) : 1;
    if (is_legal == 0 && is_told == 1) { /* the sweep did not see it */
        report(c, tie);
        (*ret_n)++;
        if (c->first_violation != NULL && c->first_violation[tie->resource] > tie->time)
            c->first_violation[tie->resource] = tie->time;
    } else if (is_legal < 0 || is_told < 0) {
        c->doubt[LB_G_EXCLUSIVE] = "too much happened within one tick of the clock";
    }
    return rc;
}

static int by_tick(const void *a, const void *b)
{
    const struct lb_tie *x = a, *y = b;
    if (x->resource != y->resource)
        return x->resource < y->resource ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

bool lb_hold_ends_behind_grant(const struct lb_case *c, uint32_t hold)
{
    const struct lb_tie *ties = c->ties.items;
    struct lb_tie key = {.resource = lb_holds(c)[hold].resource, .time = lb_holds(c)[hold].cut};
    size_t low = 0, high = c->ties.n;
    while (low < high) { /* the first of the tick */
        size_t middle = low + (high - low) / 2;
        if (by_tick(&ties[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < c->ties.n && by_tick(&ties[low], &key) == 0 && ties[low].hold != hold)
        low++;
    return low < c->ties.n && by_tick(&ties[low], &key) == 0 && !lb_holds(c)[hold].is_lost;
}

int lb_judge_ties(struct lb_case *c, uint64_t *ret_n)
{
    /* Each is looked for among all holds. */
    const size_t most_ticks = ((size_t)1 << 28) / (c->holds.n + 1);
    struct lb_tie *ties = c->ties.items;
    struct tick tick = {.c = c};
    size_t n_ticks = 0;
    int rc = 0;
    *ret_n = 0;
    if (c->ties.n == 0)
        return 0;
    qsort(ties, c->ties.n, sizeof *ties, by_tick);
    tick.seen = malloc(MOST_STATES / 8 + 1);
    if (tick.seen == NULL)
        return lb_out_of_memory(c);
    for (size_t i = 0; i < c->ties.n && rc == 0 && n_ticks <= most_ticks; i++) {
        bool is_same = i > 0 && by_tick(&ties[i - 1], &ties[i]) == 0;
        if (is_same || lb_holds(c)[ties[i].hold].cut != ties[i].time)
            continue;
        if (n_ticks++ == most_ticks)
            c->doubt[LB_G_EXCLUSIVE] = "too many operations of one worker share a tick";
        else
            rc = judge_tick(&tick, &ties[i], ret_n);
    }
    free(tick.points.items);
    free(tick.seen);
    return rc;
}

bool lb_hold_ends_behind(const struct lb_case *c, uint32_t hold, const struct lb_hold *granted)
{
    const struct lb_tie *ties = c->ties.items;
    if (lb_holds(c)[hold].is_lost) /* its session may have ended before that */
        return false;
    for (size_t i = 0; i < c->ties.n && lb_holds(c)[hold].end == granted->start; i++)
        if (ties[i].hold == hold && ties[i].time == granted->start &&
            ties[i].position > granted->event)
            return true;
    return false;
}
