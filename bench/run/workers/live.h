/* Witnesses that need no log: what the workers see of each other in this process while they hold.
 *
 * One word per resource is exchanged on enter and on leave; a guarded counter is read on enter and
 * written back on leave, so that two holders lose an update; the holds' lengths are summed. Each
 * of them can miss an overlap, none can invent one:
 *   enter finds another's mark  =>  that worker entered and has not left
 *   leave misses its own mark   =>  another worker entered or left in between
 * So their reports must also be in the history; the reverse need not hold.
 */
#ifndef LB_LIVE_H
#define LB_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Witnesses that need no log. */
struct lb_live_witness {
    uint64_t n_overlaps;     /* owner word: another worker was inside (or too many were) */
    uint64_t n_lost_updates; /* guarded counter: written back over another worker's write */
    bool hold_sum_exceeds;   /* exclusive: sum of holds > wall time */
    uint32_t resource;       /* of the first overlap */
    uint32_t first, second;  /* workers of the first overlap */
};

struct lb_live; /* shared by all workers of one process */

struct lb_live_size {
    uint32_t n_resources;
    const uint32_t *capacity;         /* one per resource; NULL: 1 of each */
    bool has_items;                   /* of a queue */
    uint32_t first_worker, n_workers; /* their numbers go up from the first */
};

/* Takes all memory that it will use. */
void lb_live_touch(struct lb_live *live);
/* NULL: out of memory. */
struct lb_live *lb_live_new(const struct lb_live_size *size);
void lb_live_free(struct lb_live *live);

/* Locks. Returns the guarded counter's value to hand back to leave. worker from 0. */
uint64_t lb_live_enter(struct lb_live *live, uint32_t resource, bool shared, uint32_t worker);
void lb_live_leave(struct lb_live *live, uint32_t resource, bool shared, uint32_t worker,
                   uint64_t seen);
/* After leave and before the release: how long it held, as the history will have it. */
void lb_live_held(struct lb_live *live, uint32_t resource, bool shared, uint64_t hold_ns);

/* Is a writer inside of a resource of capacity 1 now? */
bool lb_live_is_held(const struct lb_live *live, uint32_t resource);
/* Is one inside who is not this worker? */
bool lb_live_is_taken_over(const struct lb_live *live, uint32_t resource, uint32_t worker);

/* Queues: an item was claimed; it may be claimed again after lb_live_item_back. An item
 * that a later one has displaced is not watched (watched.h). */
void lb_live_item(struct lb_live *live, int64_t id, uint32_t worker);
/* Has another claimed it since this worker did? */
bool lb_live_item_is_taken_over(const struct lb_live *live, int64_t id, uint32_t worker);
void lb_live_item_back(struct lb_live *live, int64_t id);

/* The worker is about to die inside: its marks go with it. resource and shared are those of its
 * hold; a consumer has no such mark and gives its items back instead. */
void lb_live_die(struct lb_live *live, uint32_t resource, bool shared, uint32_t worker);

uint64_t lb_live_overlaps(const struct lb_live *live);
/* After all workers ended. wall_ns: from the first possible acquire to the last possible release.
 */
void lb_live_result(const struct lb_live *live, uint64_t wall_ns,
                    struct lb_live_witness *ret_witness);
/* Adds what the workers of another rank saw. */
void lb_live_add(struct lb_live_witness *sum, const struct lb_live_witness *one);

#endif
