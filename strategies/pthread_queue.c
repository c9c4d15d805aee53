/* A control that must pass: a queue in memory behind one pthread mutex, no database.
 *
 * Items are a table by id (the harness numbers them from 1); the ready ones are linked in the order
 * in which they became ready. All of it lies in memory that forked workers share; pages that no
 * item reaches cost nothing. The mutex is robust: a state is one store, and the links that a killed
 * worker left half done are made anew from the states.
 */
#include "clock.h"
#include "shared.h"
#include "strategy.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { MAX_ITEMS = 1 << 25 };

enum state { ABSENT, READY, ACTIVE, DONE, FAILED };

struct entry {
    uint64_t claimed_ns; /* when it became ACTIVE */
    uint32_t owner;      /* the actor's number, while ACTIVE */
    uint32_t next;       /* the next READY item; 0: the last */
    uint8_t state;
};

struct queue {
    pthread_mutex_t mutex; /* protects all of it */
    uint32_t first, last;  /* READY items; 0: none */
    uint32_t end;          /* no item at or above is there */
    struct entry entries[MAX_ITEMS];
};

static int setup(struct lb_strategy_plan *plan, struct lb_session *session, struct lb_error *err)
{
    (void)session;
    struct queue *queue = lb_shared_new(sizeof *queue);
    pthread_mutexattr_t attributes;
    if (queue == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory for a queue of %d items", MAX_ITEMS);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&queue->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    plan->shared = queue;
    return LB_OK;
}

static int teardown(struct lb_strategy_plan *plan, struct lb_session *session, struct lb_error *err)
{
    (void)session;
    (void)err;
    lb_shared_free(plan->shared, sizeof(struct queue));
    plan->shared = NULL;
    return LB_OK;
}

static void make_ready(struct queue *queue, uint32_t id)
{
    queue->entries[id].state = READY;
    queue->entries[id].next = 0;
    if (queue->first == 0)
        queue->first = id;
    else
        queue->entries[queue->last].next = id;
    queue->last = id;
}

static void link_again(struct queue *queue)
{
    queue->first = queue->last = 0;
    for (uint32_t id = 1; id < queue->end; id++)
        if (queue->entries[id].state == READY)
            make_ready(queue, id);
}

static int lock(struct queue *queue, struct lb_error *err)
{
    int r = pthread_mutex_lock(&queue->mutex);
    if (r == EOWNERDEAD) {
        link_again(queue);
        r = pthread_mutex_consistent(&queue->mutex);
    }
    return r == 0 ? 0 : lb_fail(err, LB_E_INTERNAL, "pthread_mutex_lock: %s", strerror(r));
}

static void unlock(struct queue *queue)
{
    pthread_mutex_unlock(&queue->mutex);
}

static int put(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
               struct lb_error *err)
{
    struct queue *queue = actor->plan->shared;
    (void)payload;
    if (first < 1 || first > MAX_ITEMS - (int64_t)n)
        return lb_fail(err, LB_E_UNSUPPORTED, "pthread-queue holds %d items at most", MAX_ITEMS);
    int r = lock(queue, err);
    if (r != 0)
        return r;
    uint32_t id = (uint32_t)first;
    bool is_new = true;
    for (uint32_t i = 0; i < n; i++)
        is_new = is_new && queue->entries[id + i].state == ABSENT;
    if (is_new && id + n > queue->end)
        queue->end = id + n;
    for (uint32_t i = 0; is_new && i < n; i++)
        make_ready(queue, id + i);
    unlock(queue);
    return is_new ? LB_OK : LB_DUPLICATE;
}

static int claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                 uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err)
{
    struct queue *queue = actor->plan->shared;
    uint32_t got = 0;
    int r = lock(queue, err);
    if (r != 0)
        return r;
    for (; got < n && got < max && queue->first != 0; got++) {
        struct entry *entry = &queue->entries[queue->first];
        items[got].id = queue->first;
        items[got].has_token = false;
        entry->owner = actor->number;
        entry->claimed_ns = lb_now_ns();
        entry->state = ACTIVE;
        queue->first = entry->next;
    }
    unlock(queue);
    if (got == 0)
        return LB_EMPTY;
    *ret_n = got;
    *ret_marked = got;
    return LB_OK;
}

/* Moves one item from a state to another, if it is there and, when active, ours. */
static int move(struct lb_actor *actor, const struct lb_item *item, enum state from, enum state to,
                struct lb_error *err)
{
    struct queue *queue = actor->plan->shared;
    int answer = LB_REFUSED;
    int r = lock(queue, err);
    if (r != 0)
        return r;
    if (item->id >= 1 && item->id < (int64_t)queue->end) {
        struct entry *entry = &queue->entries[item->id];
        if (entry->state == from && (from != ACTIVE || entry->owner == actor->number)) {
            if (to == READY)
                make_ready(queue, (uint32_t)item->id);
            else
                entry->state = (uint8_t)to;
            answer = LB_OK;
        }
    }
    unlock(queue);
    return answer;
}

static int change_item(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                       struct lb_error *err)
{
    return section == LB_S_COMPLETE      ? move(actor, item, ACTIVE, DONE, err)
           : section == LB_S_ERROR       ? move(actor, item, ACTIVE, FAILED, err)
           : section == LB_S_CLEAR_ERROR ? move(actor, item, FAILED, READY, err)
                                         : move(actor, item, ACTIVE, READY, err);
}

/* Of active items, only those that were claimed a ttl ago: nothing but that tells a dead owner's
 * items from a living one's. */
static int change_all(struct lb_actor *actor, enum lb_section_name section, struct lb_error *err)
{
    enum state from = section == LB_S_CLEAR_ALL_ERRORS ? FAILED
                      : section == LB_S_RESET_ALL      ? DONE
                                                       : ACTIVE;
    uint64_t ttl_ns = actor->plan->ttl_ms * UINT64_C(1000000), now_ns = lb_now_ns();
    struct queue *queue = actor->plan->shared;
    int r = lock(queue, err);
    if (r != 0)
        return r;
    for (uint32_t id = 1; id < queue->end; id++)
        if (queue->entries[id].state == from &&
            (from != ACTIVE || now_ns - queue->entries[id].claimed_ns >= ttl_ns))
            make_ready(queue, id);
    unlock(queue);
    return LB_OK;
}

static const struct lb_flow flow = {
    .setup = setup,
    .open = lb_open_nothing,
    .put = put,
    .claim = claim,
    .item = change_item,
    .class = change_all,
    .close = lb_close_nothing,
    .teardown = teardown,
};

const struct lb_strategy lb_strategy_pthread_queue = {
    .name = "pthread-queue",
    .summary = "control: a queue behind a pthread mutex, right and without a database",
    .origin = "POSIX",
    .changed = lb_no_changes,
    .shape = LB_QUEUE,
    .is_control = true,
    .no_database = true,
    .claims = LB_CLAIMS_OWNED_ITEMS | LB_G_BIT(LB_G_FIFO),
    .flow = &flow,
    .operations = 1u << LB_S_COMPLETE | 1u << LB_S_ERROR | 1u << LB_S_FREE |
                  1u << LB_S_CLEAR_ERROR | 1u << LB_S_CLEAR_ALL_ERRORS | 1u << LB_S_RESET_ALL |
                  1u << LB_S_RECOVER,
};
