/* Private to the queue's part of bench/check: what concerns all items. */
#ifndef LB_CHECK_ITEMS_H
#define LB_CHECK_ITEMS_H

#include "judges.h"
#include "scan_logs.h"

/* Something that can take effect between low and high, on all items of a class. */
struct lb_moment {
    uint64_t low, high;
    uint64_t least; /* the smallest low from here to the end of its kind */
    uint32_t class_no;
    uint32_t log, position;
    uint32_t
        age_ms; /* recovery: how old a claim of the living must be; 0: it takes none of theirs */
    uint8_t op;
    bool is_certain; /* it took effect */
};

/* When a session ended, at the earliest and latest, by log and then in order. */
struct lb_session_end {
    uint32_t log;
    uint32_t event; /* of its own worker's note, in the log; LB_NONE: another's */
    uint64_t low, high;
};

/* What concerns all items, looked up once: item_world.c. Zeroed to begin with; the owner frees the
 * arrays. */
struct lb_item_world {
    struct lb_array openers;      /* struct lb_moment: reset-all, clear-all, and recoveries, of all
                                     classes as one; by op and class, and by high within them */
    struct lb_array session_ends; /* struct lb_session_end */
    uint64_t longest;             /* of the openers that certainly took effect */
};
void lb_item_world_init(struct lb_item_world *world, struct lb_case *c);
/* The first opener that can take effect at a time or later; NULL. More follow up to the end, which
 * is stored. */
const struct lb_moment *lb_openers_from(const struct lb_item_world *world, int op,
                                        uint32_t class_no, uint64_t from,
                                        const struct lb_moment **ret_end);

static inline bool lb_item_closes(int op)
{
    return op == LB_OP_COMPLETE || op == LB_OP_ERROR || op == LB_OP_FREE;
}

/* True if the end certainly took effect. Without the flag, an answer ok may mean that nothing
 * changed. */
static inline bool lb_item_certain(const struct lb_item_record *e)
{
    return e->type == LB_EV_OK && (e->flags & LB_EVF_EFFECTIVE) != 0;
}

/* Items that were claimed again and again and need no closer look: item_calm.c. They are odd no
 * longer: their verdict is known. Called before the events of the others are read. */
int lb_judge_calm_items(struct lb_case *c);

/* --- processes that say that they are alive: beats.c --- */

/* Once the logs were read. */
void lb_beats_sort(struct lb_case *c);
/* The place of the first beat of a log that was answered at a time or later, or of its end. */
size_t lb_beats_from(const struct lb_case *c, uint32_t log, uint64_t time);
bool lb_beats_any(const struct lb_case *c, uint32_t log);

/* --- attributes: item_attributes.c --- */

/* False: the history does not say it, or says two things. */
bool lb_attribute_of(const struct lb_case *c, enum lb_attribute attribute, uint64_t id,
                     uint32_t *ret_value);

/* --- unique keys: unique.c --- */

/* True if it is claimed, and it is known how long an item is unique. */
bool lb_wants_unique(const struct lb_case *c);

/* --- how many are begun in a time: rate.c --- */

/* True if it is claimed, and its numbers are known. */
bool lb_wants_rate(const struct lb_case *c);

/* True if it is claimed, and the bound is known: tenant_share.c. */
static inline bool lb_wants_share(const struct lb_case *c)
{
    return c->model->share_milli > 0 && (c->model->claims & LB_G_BIT(LB_G_SHARE)) != 0;
}

/* --- limits of items in hand: item_limits.c --- */

/* True if one is claimed, and its number is known. */
bool lb_wants_limits(const struct lb_case *c);
/* True if the guarantee attempts is claimed, and its number is known. */
static inline bool lb_wants_attempts(const struct lb_case *c)
{
    return c->model->attempts > 0 && (c->model->claims & LB_G_BIT(LB_G_ATTEMPTS)) != 0;
}
struct lb_item_ops;
struct lb_search;
/* most: as in lb_item_ops_finish. */
void lb_judge_limits(struct lb_case *c, struct lb_item_ops *ops, struct lb_search *search,
                     uint64_t most);

/* --- its records: item_records.c --- */

/* True if two items were put under the id's name: they cannot be distinguished. Calls must be in
 * order of the ids, with one *next, which is 0 at first. */
bool lb_item_is_put_again(const struct lb_case *c, uint64_t id, size_t *next);
/* The place of an id that was claimed, or NULL. Calls as above. */
struct lb_id *lb_item_id(const struct lb_case *c, uint64_t id, size_t *next);
/* Points to the n records of one id, which begin at a place of c->by_id. */
void lb_item_gather(const struct lb_case *c, size_t first, size_t n, struct lb_array *places);

#endif
