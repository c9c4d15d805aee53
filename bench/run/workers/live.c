/* Witnesses that need no log: see live.h. */
#include "live.h"

#include "shared.h"
#include "watched.h"

#include <stdatomic.h>

struct resource {
    _Alignas(64) _Atomic uint32_t writer; /* the worker inside, + 1; 0: none */
    _Atomic uint32_t depth;               /* writers of a resource with capacity above 1 */
    _Atomic uint32_t readers;
    uint32_t capacity;
    _Atomic uint64_t counter; /* guarded: written back by each exclusive holder */
    _Atomic uint64_t hold_ns; /* sum of exclusive holds */
};

/* What one worker counts: beside the resource it would be another locked instruction, and a control
 * has but four of them. */
struct tally {
    _Alignas(64) _Atomic uint64_t updates; /* of all counters; written by one */
};

struct lb_live {
    size_t size; /* of this struct with its resources */
    uint32_t n_resources;
    uint32_t first_worker, n_workers;
    struct tally *tallies;   /* one per worker */
    _Atomic uint64_t *items; /* see mark_of(); NULL: no queue */
    _Atomic uint64_t n_overlaps;
    /* Of the first overlap; written by whoever raises n_overlaps from 0. */
    uint32_t resource, first, second;
    struct resource resources[];
};

struct lb_live *lb_live_new(const struct lb_live_size *of)
{
    size_t size = sizeof(struct lb_live) + of->n_resources * sizeof(struct resource);
    struct lb_live *live = lb_shared_new(size);
    if (live == NULL)
        return NULL;
    live->size = size;
    live->n_resources = of->n_resources;
    live->first_worker = of->first_worker;
    live->n_workers = of->n_workers;
    for (uint32_t i = 0; i < of->n_resources; i++)
        live->resources[i].capacity = of->capacity != NULL ? of->capacity[i] : 1;
    live->tallies = lb_shared_new(of->n_workers * sizeof *live->tallies);
    if (of->has_items)
        live->items = lb_shared_new(LB_WATCHED_ITEMS * sizeof *live->items);
    if (live->tallies == NULL || (of->has_items && live->items == NULL)) {
        lb_live_free(live);
        return NULL;
    }
    return live;
}

void lb_live_touch(struct lb_live *live)
{
    if (live->items != NULL)
        lb_shared_touch(live->items, LB_WATCHED_ITEMS * sizeof *live->items);
}

void lb_live_free(struct lb_live *live)
{
    if (live == NULL)
        return;
    lb_shared_free(live->items, LB_WATCHED_ITEMS * sizeof *live->items);
    lb_shared_free(live->tallies, live->n_workers * sizeof *live->tallies);
    lb_shared_free(live, live->size);
}

static void overlap(struct lb_live *live, uint32_t resource, uint32_t first, uint32_t second)
{
    /* Relaxed: a count, and details that are read after the workers were joined. */
    if (atomic_fetch_add_explicit(&live->n_overlaps, 1, memory_order_relaxed) != 0)
        return;
    live->resource = resource;
    live->first = first;
    live->second = second;
}

/* The worker inside is unknown if only a count is kept. */
static const uint32_t UNKNOWN = UINT32_MAX;

uint64_t lb_live_enter(struct lb_live *live, uint32_t number, bool shared, uint32_t worker)
{
    struct resource *resource = &live->resources[number];
    if (resource->capacity > 1) {
        /* Sequentially consistent, as all exchanges here: two workers that enter at the same time
         * must not both miss the other. */
        bool is_full = false;
        if (shared)
            atomic_fetch_add(&resource->readers, 1);
        else
            is_full = atomic_fetch_add(&resource->depth, 1) >= resource->capacity;
        /* The limit is on writers, as the judge has it; readers and writers exclude each other. */
        if (is_full || atomic_load(shared ? &resource->depth : &resource->readers) > 0)
            overlap(live, number, UNKNOWN, worker);
        return 0;
    }
    if (shared) {
        atomic_fetch_add(&resource->readers, 1);
        uint32_t writer = atomic_load(&resource->writer);
        if (writer != 0)
            overlap(live, number, writer - 1, worker);
        return 0;
    }
    uint32_t before = atomic_exchange(&resource->writer, worker + 1);
    if (before != 0)
        overlap(live, number, before - 1, worker);
    else if (atomic_load(&resource->readers) != 0)
        overlap(live, number, UNKNOWN, worker);
    /* Relaxed: the counter must not order anything, or it would help the lock under test. */
    return atomic_load_explicit(&resource->counter, memory_order_relaxed);
}

void lb_live_leave(struct lb_live *live, uint32_t number, bool shared, uint32_t worker,
                   uint64_t seen)
{
    struct resource *resource = &live->resources[number];
    if (resource->capacity > 1) {
        atomic_fetch_sub(shared ? &resource->readers : &resource->depth, 1);
        return;
    }
    if (shared) {
        atomic_fetch_sub(&resource->readers, 1);
        return;
    }
    atomic_store_explicit(&resource->counter, seen + 1, memory_order_relaxed);
    _Atomic uint64_t *updates = &live->tallies[worker - live->first_worker].updates;
    atomic_store_explicit(updates, atomic_load_explicit(updates, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    uint32_t mark = atomic_exchange(&resource->writer, 0);
    if (mark != worker + 1)
        overlap(live, number, mark == 0 ? UNKNOWN : mark - 1, worker);
}

void lb_live_held(struct lb_live *live, uint32_t number, bool shared, uint64_t hold_ns)
{
    struct resource *resource = &live->resources[number];
    if (shared || resource->capacity > 1)
        return;
    /* Not an atomic addition, which would cost as much as the lock of a control. Of two who add at
     * the same time one may be lost: these two held at the same time, and the sum is too small. */
    atomic_store_explicit(&resource->hold_ns,
                          atomic_load_explicit(&resource->hold_ns, memory_order_relaxed) + hold_ns,
                          memory_order_relaxed);
}

bool lb_live_is_held(const struct lb_live *live, uint32_t number)
{
    /* Relaxed: to know when to ask, not what will be answered. */
    return atomic_load_explicit(&live->resources[number].writer, memory_order_relaxed) != 0;
}

bool lb_live_is_taken_over(const struct lb_live *live, uint32_t number, uint32_t worker)
{
    /* Relaxed: likewise. */
    uint32_t writer = atomic_load_explicit(&live->resources[number].writer, memory_order_relaxed);
    return writer != 0 && writer != worker + 1;
}

/* The item, and the worker that has claimed it, + 1. */
enum { WORKER_BITS = 20 };
static const uint64_t WORKER_MASK = (UINT64_C(1) << WORKER_BITS) - 1;

static uint64_t mark_of(int64_t id, uint32_t worker)
{
    return (uint64_t)id << WORKER_BITS | (worker + 1);
}

/* True if the mark belongs to this item. */
static bool is_of(uint64_t mark, int64_t id)
{
    return mark >> WORKER_BITS == (uint64_t)id;
}

void lb_live_item(struct lb_live *live, int64_t id, uint32_t worker)
{
    if (id < 1 || live->items == NULL)
        return;
    uint64_t before = atomic_exchange(&live->items[lb_watched_place(id)], mark_of(id, worker));
    if (is_of(before, id))
        overlap(live, (uint32_t)id, (uint32_t)(before & WORKER_MASK) - 1, worker);
}

bool lb_live_item_is_taken_over(const struct lb_live *live, int64_t id, uint32_t worker)
{
    if (id < 1 || live->items == NULL)
        return false;
    uint64_t owner = atomic_load_explicit(&live->items[lb_watched_place(id)], memory_order_relaxed);
    return is_of(owner, id) && owner != mark_of(id, worker);
}

void lb_live_item_back(struct lb_live *live, int64_t id)
{
    if (id < 1 || live->items == NULL)
        return;
    _Atomic uint64_t *place = &live->items[lb_watched_place(id)];
    uint64_t mark = atomic_load(place);
    if (is_of(mark, id)) /* if another worker's mark is there by now, it stays */
        atomic_compare_exchange_strong(place, &mark, 0);
}

void lb_live_die(struct lb_live *live, uint32_t number, bool shared, uint32_t worker)
{
    struct resource *resource = &live->resources[number];
    uint32_t mine = worker + 1;
    if (resource->capacity > 1)
        atomic_fetch_sub(shared ? &resource->readers : &resource->depth, 1);
    else if (shared)
        atomic_fetch_sub(&resource->readers, 1);
    else
        atomic_compare_exchange_strong(&resource->writer, &mine, 0);
}

uint64_t lb_live_overlaps(const struct lb_live *live)
{
    return atomic_load_explicit(&live->n_overlaps, memory_order_relaxed);
}

void lb_live_result(const struct lb_live *live, uint64_t wall_ns, struct lb_live_witness *ret)
{
    *ret = (struct lb_live_witness){.n_overlaps = lb_live_overlaps(live),
                                    .resource = live->resource,
                                    .first = live->first,
                                    .second = live->second};
    uint64_t n_updates = 0, n_counted = 0;
    for (uint32_t i = 0; i < live->n_workers; i++)
        n_updates += atomic_load_explicit(&live->tallies[i].updates, memory_order_relaxed);
    for (uint32_t i = 0; i < live->n_resources; i++) {
        const struct resource *resource = &live->resources[i];
        n_counted += atomic_load_explicit(&resource->counter, memory_order_relaxed);
        if (atomic_load_explicit(&resource->hold_ns, memory_order_relaxed) > wall_ns)
            ret->hold_sum_exceeds = true;
    }
    /* No counter is above the updates that it got; but for one whose worker was killed between the
     * two. */
    ret->n_lost_updates = n_counted < n_updates ? n_updates - n_counted : 0;
}

void lb_live_add(struct lb_live_witness *sum, const struct lb_live_witness *one)
{
    if (sum->n_overlaps == 0 && one->n_overlaps > 0) {
        sum->resource = one->resource;
        sum->first = one->first;
        sum->second = one->second;
    }
    sum->n_overlaps += one->n_overlaps;
    sum->n_lost_updates += one->n_lost_updates;
    sum->hold_sum_exceeds |= one->hold_sum_exceeds;
}
