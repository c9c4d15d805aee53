/* exclusive: never more holders than the capacity, no reader beside a writer.
 *
 * A hold certainly covers its core, the open interval (s, e) from the acquire's ok to the release's
 * invoke. Claim: a legal order of all operations exists iff no set of holds that together exceed
 * the capacity has a moment in common in all of their cores.
 *   If they have, then at that moment every one of them was held whatever the order.
 *   If not, let each grant take effect at its ok and each release at its invoke, releases
 *   before grants at one moment: the holders at any time are those whose cores cover it.
 * Intervals have a moment in common iff they have one in pairs (Helly), that is iff the latest of
 * their starts is before the earliest of their ends; hence a sweep by start decides: a hold that
 * starts at s meets those that began before and end after s. Moments are exact only to a
 * tick, so operations that share a tick are concurrent, and ends come before starts.
 *
 * A core may be empty: s >= e. (Granted and released in one tick; a lease that can have been over
 * before its grant was answered; clocks that are too uncertain.) The hold still was somewhere
 * around [e, s]: it began by s and ended no earlier than e, so it meets every core that strictly
 * covers [e, s], in every order, and it need not meet any other: but for an earlier one of the same
 * worker, which began before it. Two empty cores never cover each other.
 *
 * Counted: the holds that were granted when the capacity was used up. The others of a violation's
 * set are those that end last, which is also the set that is together the longest. Of a violation
 * of permits the set is made only if it is among the first thousand.
 *
 * One resource costs its latest end while its holds come one after another; the first that meets
 * another makes a heap by end. O(n log(n)), and for an empty core O(those that are held then).
 */
#include "guarantee_kind.h"
#include "judges.h"

#include "units.h"

#include <stdio.h>
#include <stdlib.h>

enum { LOOKED_AT = 1000 }; /* violations of permits: their sets are made */

struct entry {
    uint64_t end;
    uint32_t hold;
};

struct resource {
    uint64_t latest, latest_writer, latest_reader; /* ends */
    uint32_t latest_hold, latest_writer_hold, latest_reader_hold;
    uint32_t n, room;   /* in the heap */
    uint64_t permits;   /* of the writers in the heap */
    struct entry *heap; /* by end, earliest first; NULL until two holds met */
};

/* A violating set, kept by reference until it is put into words. */
struct overlap {
    uint64_t length, at;
    uint32_t holds[LB_WITNESS_OPS / 2];
    uint32_t n; /* in the set; only the first few are kept */
    bool is_set;
};

struct sweep {
    struct lb_case *c;
    bool cut; /* judge what the database granted, rather than what holders believed */
    struct resource *resources;
    uint64_t n_violations;
    uint64_t max_depth;
    struct overlap first, shortest, longest;
};

static uint64_t end_of(const struct sweep *sweep, const struct lb_hold *hold)
{
    if (sweep->cut)
        return hold->cut;
    uint64_t death = hold->is_dead ? sweep->c->logs[hold->log].gone_ns : LB_NEVER;
    return death < hold->end ? death : hold->end; /* the dead believe nothing */
}

/* --- the heap of the holds that have not ended --- */

static void sift_up(struct entry *heap, uint32_t i)
{
    struct entry entry = heap[i];
    while (i > 0 && heap[(i - 1) / 2].end > entry.end) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = entry;
}

static void sift_down(struct entry *heap, uint32_t n)
{
    struct entry entry = heap[0];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && heap[child + 1].end < heap[child].end)
            child++;
        if (heap[child].end >= entry.end)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = entry;
}

static void heap_push(struct sweep *sweep, struct resource *r, uint32_t hold)
{
    if (r->n == r->room) {
        uint32_t room = r->room == 0 ? 4 : r->room * 2;
        r->heap = lb_realloc(r->heap, room, sizeof *r->heap);
        r->room = room;
    }
    const struct lb_hold *h = &lb_holds(sweep->c)[hold];
    r->heap[r->n] = (struct entry){.end = end_of(sweep, h), .hold = hold};
    sift_up(r->heap, r->n++);
    r->permits += h->is_shared ? 0 : h->permits;
}

static void heap_drop_ended(struct sweep *sweep, struct resource *r, uint64_t now)
{
    while (r->n > 0 && r->heap[0].end <= now) {
        const struct lb_hold *h = &lb_holds(sweep->c)[r->heap[0].hold];
        r->permits -= h->is_shared ? 0 : h->permits;
        r->heap[0] = r->heap[--r->n];
        if (r->n > 0)
            sift_down(r->heap, r->n);
    }
}

static bool is_swept(const struct sweep *sweep, const struct lb_hold *hold)
{
    return sweep->cut || !hold->is_piece;
}

/* --- violations --- */

static int by_end_descending(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->end < y->end ? 1 : x->end > y->end ? -1 : 0;
}

/* Adds the members of a set whose hold alone does not exceed the capacity: of the n others, those
 * that end last. */
static void add_members(struct sweep *sweep, struct overlap *set, struct entry *others, uint32_t n)
{
    const struct lb_hold *holds = lb_holds(sweep->c), *hold = &holds[set->holds[0]];
    uint64_t sum = hold->permits, capacity = lb_capacity_of(sweep->c->model, hold->resource);
    uint64_t end = end_of(sweep, hold);
    qsort(others, n, sizeof *others, by_end_descending);
    for (uint32_t i = 0; i < n && sum <= capacity; i++) {
        sum += holds[others[i].hold].permits;
        if (set->n < LB_WITNESS_OPS / 2)
            set->holds[set->n] = others[i].hold;
        set->n++;
        end = others[i].end < end ? others[i].end : end;
    }
    set->length = end > hold->start ? end - hold->start : 0;
}

/* The hold and those held that end last, as few as exceed the capacity. Together they exceed it. */
static void smallest_set(struct sweep *sweep, const struct resource *r, struct overlap *ret_overlap)
{
    uint32_t n = 0;
    struct entry *writers = lb_malloc(((size_t)r->n + 1) * sizeof *writers);
    for (uint32_t i = 0; i < r->n; i++)
        if (!lb_holds(sweep->c)[r->heap[i].hold].is_shared)
            writers[n++] = r->heap[i];
    add_members(sweep, ret_overlap, writers, n);
    free(writers);
}

static struct overlap pair(const struct sweep *sweep, uint32_t hold, uint32_t other)
{
    uint64_t start = lb_holds(sweep->c)[hold].start;
    uint64_t a = end_of(sweep, &lb_holds(sweep->c)[hold]);
    uint64_t b = end_of(sweep, &lb_holds(sweep->c)[other]);
    uint64_t end = a < b ? a : b;
    return (struct overlap){.length = end > start ? end - start : 0,
                            .at = start,
                            .holds = {hold, other},
                            .n = 2,
                            .is_set = true};
}

static void note_overlap(struct sweep *sweep, const struct overlap *overlap)
{
    uint64_t *first = sweep->c->first_violation;
    uint32_t resource = lb_holds(sweep->c)[overlap->holds[0]].resource;
    sweep->n_violations++;
    if (first != NULL && sweep->cut && first[resource] == LB_NEVER)
        first[resource] = overlap->at;
    if (!sweep->first.is_set)
        sweep->first = *overlap;
    if (overlap->n == 1 && sweep->n_violations > LOOKED_AT)
        return;
    if (!sweep->shortest.is_set || overlap->length < sweep->shortest.length)
        sweep->shortest = *overlap;
    if (!sweep->longest.is_set || overlap->length > sweep->longest.length)
        sweep->longest = *overlap;
}

/* Checks if the hold that starts now, with those that have not ended, exceeds the resource's
 * limit. */
static void judge_start(struct sweep *sweep, const struct resource *r, uint32_t number)
{
    const struct lb_hold *holds = lb_holds(sweep->c), *hold = &holds[number];
    uint64_t capacity = lb_capacity_of(sweep->c->model, hold->resource);
    struct overlap overlap = {0};
    if (hold->is_shared) {
        if (r->latest_writer <= hold->start)
            return;
        overlap = pair(sweep, number, r->latest_writer_hold);
    } else if (r->n > 0 && capacity <= 1) {
        overlap = pair(sweep, number, r->latest_hold);
    } else if (r->permits + hold->permits > capacity) {
        overlap = (struct overlap){.at = hold->start, .holds = {number}, .n = 1, .is_set = true};
        if (sweep->n_violations < LOOKED_AT)
            smallest_set(sweep, r, &overlap);
    } else if (r->latest_reader > hold->start) { /* room, but a reader excludes a writer */
        overlap = pair(sweep, number, r->latest_reader_hold);
    }
    if (overlap.is_set)
        note_overlap(sweep, &overlap);
}

/* The same for a hold whose core is empty: only those count that cover it on both sides. */
static void judge_empty(struct sweep *sweep, const struct resource *r, uint32_t number)
{
    const struct lb_hold *holds = lb_holds(sweep->c), *hold = &holds[number];
    const struct entry alone = {.end = r->latest, .hold = r->latest_hold};
    const struct entry *heap = r->n > 0 ? r->heap : &alone;
    uint32_t n = r->n > 0 ? r->n : r->latest >= hold->start, n_covers = 0;
    uint64_t capacity = lb_capacity_of(sweep->c->model, hold->resource), permits = hold->permits;
    struct overlap overlap = {0};
    struct entry *covers = lb_malloc((n + 1) * sizeof *covers);
    for (uint32_t i = 0; i < n; i++) {
        const struct lb_hold *other = &holds[heap[i].hold];
        bool is_own = other->log == hold->log && other->event < hold->event; /* granted before */
        if ((other->start >= end_of(sweep, hold) && !is_own) || heap[i].end <= hold->start)
            continue;
        if (!other->is_shared) {
            permits += other->permits;
            covers[n_covers++] = heap[i];
        }
        if (hold->is_shared != other->is_shared ||
            (!hold->is_shared && !other->is_shared && capacity <= 1))
            overlap = pair(sweep, number, heap[i].hold);
    }
    if (!overlap.is_set && !hold->is_shared && permits > capacity) {
        overlap = (struct overlap){.at = hold->start, .holds = {number}, .n = 1, .is_set = true};
        add_members(sweep, &overlap, covers, n_covers);
    }
    free(covers);
    if (overlap.is_set)
        note_overlap(sweep, &overlap);
}

static void sweep_hold(struct sweep *sweep, uint32_t number)
{
    const struct lb_hold *hold = &lb_holds(sweep->c)[number];
    struct resource *r = &sweep->resources[hold->resource];
    uint64_t end = end_of(sweep, hold);
    if (end <= hold->start) {
        judge_empty(sweep, r, number);
        return;
    }
    if (r->latest <= hold->start) { /* alone */
        r->n = 0;
        r->permits = 0;
        if (hold->permits > 1 && !hold->is_shared)
            judge_start(sweep, r, number);
    } else {
        if (r->n == 0)
            heap_push(sweep, r, r->latest_hold);
        heap_drop_ended(sweep, r, hold->start);
        judge_start(sweep, r, number);
    }
    if (r->n > 0)
        heap_push(sweep, r, number);
    if (end > r->latest) {
        r->latest = end;
        r->latest_hold = number;
    }
    if (!hold->is_shared && end > r->latest_writer) {
        r->latest_writer = end;
        r->latest_writer_hold = number;
    }
    if (hold->is_shared && end > r->latest_reader) {
        r->latest_reader = end;
        r->latest_reader_hold = number;
    }
    uint64_t depth = r->n > 0 ? r->n : 1;
    if (depth > sweep->max_depth)
        sweep->max_depth = depth;
}

static int sweep_all(struct sweep *sweep)
{
    const struct lb_case *c = sweep->c;
    sweep->resources = lb_calloc((size_t)c->n_resources + 1, sizeof *sweep->resources);
    int rc = 0;
    enum { OFTEN = 1 << 16 };
    for (size_t i = 0; i < c->holds.n && rc == 0; i++) {
        if (i % OFTEN == 0)
            rc = lb_case_goes_on(c);
        if (rc == 0 && is_swept(sweep, &lb_holds(c)[c->order[i]]))
            sweep_hold(sweep, c->order[i]);
    }
    for (uint32_t i = 0; i < c->n_resources; i++)
        free(sweep->resources[i].heap);
    free(sweep->resources);
    return rc;
}

/* --- words --- */

/* The engine's word that the grant waited, which is why its lease cannot have begun before; else
 * "".
 */
static void tell_wait(const struct lb_case *c, const struct lb_hold *hold, char *text, size_t size)
{
    uint32_t invoke = lb_case_invoke(c, hold->log, hold->event);
    const struct lb_event *waited = NULL, *ok = lb_case_event(c, hold->log, hold->event);
    for (uint32_t i = invoke + 1; i < hold->event; i++)
        if (lb_case_event(c, hold->log, i)->op == LB_OP_WAITED)
            waited = lb_case_event(c, hold->log, i);
    text[0] = '\0';
    if (waited == NULL || ok->arg == 0)
        return;
    char at[LB_AT], over[LB_AT], lease[LB_AT];
    uint64_t length = (uint64_t)ok->arg * 1000000u;
    snprintf(text, size,
             "; the server said that the grant of %s still waited at %s, so that its lease of %s "
             "is not over before %s: it was counted from before the wait",
             lb_who(c, hold->log, LB_WHOM), lb_at(c, waited->time_ns, at, sizeof at),
             lb_format_ns(length, lease, sizeof lease),
             lb_at(c, waited->time_ns + length, over, sizeof over));
}

static void describe_pair(struct lb_case *c, struct lb_witness *witness,
                          const struct lb_hold *later, const struct lb_hold *earlier,
                          uint64_t earlier_end)
{
    char at[LB_AT], from[LB_AT], to[LB_AT], together[LB_AT], waited[240];
    bool for_ever = earlier_end > c->end_ns;
    tell_wait(c, earlier, waited, sizeof waited);
    lb_witness_text(witness,
                    "%s was granted resource %u%s at %s while %s held it%s from %s %s%s: "
                    "%s together%s",
                    lb_who(c, later->log, LB_WHOM), later->resource,
                    later->is_shared ? " (shared)" : "", lb_at(c, later->start, at, sizeof at),
                    lb_who(c, earlier->log, LB_WHOM), earlier->is_shared ? " (shared)" : "",
                    lb_at(c, earlier->start, from, sizeof from),
                    for_ever ? (earlier->is_dead ? "and died in it" : "on") : "to ",
                    for_ever ? "" : lb_at(c, earlier_end, to, sizeof to),
                    lb_format_ns(witness->overlap_ns, together, sizeof together), waited);
}

static void describe(struct sweep *sweep, const struct overlap *overlap)
{
    struct lb_case *c = sweep->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_EXCLUSIVE);
    if (!overlap->is_set)
        return;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    witness->overlap_ns = overlap->length;
    witness->at_ns = overlap->at;
    for (uint32_t i = 0; i < overlap->n && i < LB_WITNESS_OPS / 2; i++)
        lb_witness_add_hold(c, witness, &lb_holds(c)[overlap->holds[i]]);
    const struct lb_hold *hold = &lb_holds(c)[overlap->holds[0]];
    uint32_t capacity = lb_capacity_of(sweep->c->model, hold->resource);
    if (overlap->n == 2 && capacity <= 1) {
        const struct lb_hold *other = &lb_holds(c)[overlap->holds[1]];
        describe_pair(c, witness, hold, other, end_of(sweep, other));
        return;
    }
    char at[LB_AT], together[LB_AT];
    lb_witness_text(witness,
                    "%s was granted %u of resource %u at %s as one of %u holders together "
                    "for %s; its capacity is %u",
                    lb_who(c, hold->log, LB_WHOM), hold->permits, hold->resource,
                    lb_at(c, hold->start, at, sizeof at), overlap->n,
                    lb_format_ns(overlap->length, together, sizeof together), capacity);
}

static bool same(const struct overlap *a, const struct overlap *b)
{
    return a->is_set && b->is_set && a->holds[0] == b->holds[0];
}

/* A lease that was over when it was granted excludes no worker. The database itself reported this
 * in the granting statement: it holds in every order of the operations. */
static void describe_over(struct lb_case *c)
{
    struct lb_witness *witness =
        c->over.n > 0 ? lb_witness_new(lb_finding_of(c, LB_G_EXCLUSIVE)) : NULL;
    char at[LB_AT];
    if (witness == NULL)
        return;
    const struct lb_hold *hold = &lb_holds(c)[*(const uint32_t *)c->over.items];
    lb_witness_add_hold(c, witness, hold);
    witness->at_ns = hold->start;
    lb_witness_text(witness,
                    "%s was granted resource %u at %s by a lease that was already over by "
                    "the database's clock",
                    lb_who(c, hold->log, LB_WHOM), hold->resource,
                    lb_at(c, hold->start, at, sizeof at));
}

static int judge_exclusive(struct lb_case *c)
{
    struct lb_measures *measures = &c->out->measures;
    struct lb_finding *finding = lb_finding_of(c, LB_G_EXCLUSIVE);
    struct sweep cut = {.c = c, .cut = true}, uncut = {.c = c};
    lb_orders_open(c);
    int rc = sweep_all(&cut);
    if (rc == 0 && c->has_cuts)
        rc = sweep_all(&uncut);
    if (rc != 0)
        return rc;
    const uint64_t n_ties = lb_judge_orders(c);
    cut.n_violations += n_ties;
    uncut.n_violations += n_ties;
    finding->n_violations = cut.n_violations + c->over.n;
    for (size_t i = 0; i < c->history->n_logs; i++)
        measures->n_holds += c->logs[i].n_holds - c->logs[i].n_pieces;
    finding->n_tested = measures->n_holds;
    measures->n_cut_violations = cut.n_violations;
    measures->n_uncut_violations = c->has_cuts ? uncut.n_violations : cut.n_violations;
    measures->max_depth = c->has_cuts ? uncut.max_depth : cut.max_depth;
    describe_over(c);
    describe(&cut, &cut.first);
    if (!same(&cut.shortest, &cut.first))
        describe(&cut, &cut.shortest);
    if (!same(&cut.longest, &cut.first) && !same(&cut.longest, &cut.shortest))
        describe(&cut, &cut.longest);
    return 0;
}

const struct lb_guarantee_kind lb_guarantee_exclusive = {
    .judge_lock = judge_exclusive, .has_shortcut = true, .nothing = "nothing was granted"};
