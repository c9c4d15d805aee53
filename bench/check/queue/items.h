/* Private to the queue's part of bench/check: one item, and what happened to it. */
#ifndef LB_CHECK_ITEMS_H
#define LB_CHECK_ITEMS_H

#include "judges.h"
#include "scan_logs.h"

/* Something that can take effect between low and high. */
struct lb_moment {
    uint64_t low, high;
    uint64_t least;                    /* the smallest low from here to the end of its kind */
    const struct lb_item_event *event; /* of an item; NULL: of everybody's */
    uint32_t class_no;
    uint32_t log, position;
    uint32_t
        age_ms; /* recovery: how old a claim of the living must be; 0: it takes none of theirs */
    uint8_t op;
    bool is_certain; /* it took effect */
    bool is_owner;   /* an end by who had claimed the item */
};

/* Moments by op and class, and by high within them. Zeroed to begin with. */
struct lb_moments {
    struct lb_array array; /* struct lb_moment */
    /* private: the index of many, see moments.c */
    struct lb_array kinds;
    uint64_t *highs;
    uint32_t *slices;
};

/* Adds one; lb_moments_sort must follow before they are asked. 0 or LB_E_MEMORY, both. */
int lb_moments_add(struct lb_moments *moments, const struct lb_moment *moment);
int lb_moments_sort(struct lb_moments *moments);
void lb_moments_release(struct lb_moments *moments);
/* The first of an operation that can take effect at a time or later; NULL. More follow up to the
 * end, which is stored. */
const struct lb_moment *lb_moments_from(const struct lb_moments *moments, int op, uint32_t class_no,
                                        uint64_t from, const struct lb_moment **ret_end);
/* The earliest time, not before from, at which one of an operation can take effect; LB_NEVER. */
uint64_t lb_moments_earliest(const struct lb_moments *moments, int op, uint32_t class_no,
                             uint64_t from);

/* When a session ended, at the earliest and latest, by log and then in order. */
struct lb_session_end {
    uint32_t log;
    uint32_t event; /* of its own worker's note, in the log; LB_NONE: another's */
    uint64_t low, high;
};

/* What concerns all items, looked up once. */
struct lb_item_world {
    struct lb_moments openers;    /* reset-all, clear-all, and recoveries, of all classes as one */
    uint32_t old_ms;              /* the smallest age that a recovery asks for; 0: none does */
    struct lb_array session_ends; /* struct lb_session_end */
    uint64_t operations_left;     /* that item_order.c may still look at, over all items; */
    uint64_t steps_left;          /* ... and steps that it may take */
};

struct lb_item_core;
struct lb_in_hand;

struct lb_item_group {
    struct lb_case *c;
    struct lb_item_world *world;
    const struct lb_item_event **events; /* of one id, by log and then in order */
    size_t n;
    struct lb_item_event *resumed; /* some of these: renewals, as claims */
    /* Ends by workers that had not claimed the item, which may end anybody's claim, and clears of
     * this item. If a claim may have been taken from its worker before the worker ended it: all
     * ends, since such a one may have ended another's. */
    struct lb_moments others;
    size_t n_strangers, n_owners;
    bool is_once; /* its claims are executions: nothing but their workers' ends undoes them (once.c)
                   */
    struct lb_item_core *cores; /* one a claim, by start */
    size_t n_cores;
    struct lb_in_hand *hand;  /* where the claims of all items go; NULL: nobody wants them */
    uint64_t first_duplicate; /* when it was first claimed twice; LB_NEVER */
};

struct lb_item_core {
    uint64_t start, end;
    uint64_t alone; /* the end, if nothing but its own operations, its lease or its loss ended it */
    uint64_t done;  /* by then its worker had certainly finished the item; LB_NEVER */
    uint64_t before;       /* the latest end of what its log had claimed before */
    size_t place;          /* of its claim among the events */
    bool is_finished_late; /* ... and the claim may have been taken from it before, by others than
                              that end of its own */
    bool may_be_owners; /* group_exclusive.c: what ended it may have ended its own worker's claim */
    const struct lb_item_event *claim;
};

static inline bool lb_item_closes(int op)
{
    return op == LB_OP_COMPLETE || op == LB_OP_ERROR || op == LB_OP_FREE;
}

/* Did the end certainly take effect? Without the flag, an answer ok may mean that nothing changed.
 */
static inline bool lb_item_certain(const struct lb_item_event *e)
{
    return e->type == LB_EV_OK && (e->flags & LB_EVF_EFFECTIVE) != 0;
}

/* Is place i that of something which the worker of the claim at place did while it was its newest?
 */
static inline bool lb_item_own(const struct lb_item_group *group, size_t place, size_t i)
{
    return i < group->n && group->events[i]->log == group->events[place]->log &&
           (group->events[i]->op != LB_OP_ITEM ||
            (group->is_once && group->events[i]->is_resumed)); /* a renewal is the same work */
}

int lb_item_world_init(struct lb_item_world *world, struct lb_case *c);
void lb_item_world_release(struct lb_item_world *world);
/* Fills the group's others. */
int lb_item_others(struct lb_item_group *group);
/* The core of the claim at a place. */
struct lb_item_core lb_item_core_of(const struct lb_item_group *group, size_t place);
/* When the lease of the claim at a place can have ended, as far as its own worker prolonged it. */
uint64_t lb_item_lease(const struct lb_item_group *group, size_t place);
/* The same, as prolonged before place i. */
uint64_t lb_item_lease_until(const struct lb_item_group *group, size_t place, size_t i);
/* The earliest time at which others than its worker can have taken the claim at a place, as it
 * stood before place i; LB_NEVER. */
uint64_t lb_item_taken(const struct lb_item_group *group, size_t place, size_t i);
/* The earliest time at which a claimer was lost with what it held, or taken to be; LB_NEVER. */
uint64_t lb_item_lost(const struct lb_item_group *group, const struct lb_item_event *claim);
/* The earliest time at which a recovery can have taken the claim; LB_NEVER. */
uint64_t lb_item_recovery(const struct lb_item_group *group, const struct lb_moment *recovery,
                          const struct lb_item_event *claim);
/* The same, if it was before the worker's process beat again: then it certainly can have. */
uint64_t lb_item_recovery_before(const struct lb_item_group *group,
                                 const struct lb_moment *recovery,
                                 const struct lb_item_event *claim);
/* When its claimer was lost but for unknown outcomes of its own ends of the claim. */
uint64_t lb_item_lost_before(const struct lb_item_group *group, size_t place);
/* The same as the first for any recovery. */
uint64_t lb_item_recovered(const struct lb_item_group *group, const struct lb_item_event *claim);
/* The first recovery that can take the claim; as lb_moments_from. */
const struct lb_moment *lb_item_recoveries(const struct lb_item_group *group,
                                           const struct lb_item_event *claim,
                                           const struct lb_moment **ret_end);

/* The earliest time at which one who had not claimed the item, or whose claim was over, can have
 * ended this claim by op; LB_NEVER. */
uint64_t lb_item_ended(const struct lb_item_group *group, const struct lb_item_event *claim,
                       int op);

/* Did the claim's worker finish the item, with effect, when the claim may have been taken back, and
 * was the item claimed after that? */
bool lb_item_was_done(const struct lb_item_group *group, const struct lb_item_core *core);

/* Did all of it happen in one class? An item that changes its class is not followed. */
bool lb_item_one_class(const struct lb_item_group *group);
/* Is it plain that there is an order of what happened to the item in which each reset took effect
 * once? No core meets another. */
bool lb_item_plain(const struct lb_item_group *group);
/* Is there an order of what happened to the item in which each took effect once? Stores the core of
 * the claim that has no place in it, or NULL, and whether the search was given up. Without strict,
 * a recovery may take a claim as long as it could have taken it before its worker's process beat.
 */
int lb_item_order(const struct lb_item_group *group, bool strict,
                  const struct lb_item_core **ret_core, bool *ret_gave_up);

/* Was the item certainly another's while the end took effect? There is an order of what had
 * happened by then, and in each of them it was. */
int lb_item_others_claim(const struct lb_item_group *group, const struct lb_item_event *end,
                         bool *ret_others, bool *ret_gave_up);

int lb_judge_item_owner(struct lb_item_group *group);

/* Items that were claimed again and again and need no closer look: item_calm.c. They are odd no
 * longer; what their events would have said is known. Before the events of the others are read. */
int lb_judge_calm_items(struct lb_case *c);

/* Two cores that meet: the second one starts no earlier. */
typedef void lb_meeting_fn(struct lb_item_group *group, const struct lb_item_core *first,
                           const struct lb_item_core *second);
/* Tells each of the group's cores, which are sorted, that meets one before it. */
int lb_item_sweep(struct lb_item_group *group, lb_meeting_fn *meets);
int lb_item_sort_cores(struct lb_item_group *group);
/* How many of the group's cores, which are sorted, start before a time: that is when their claims
 * were answered. */
size_t lb_item_cores_from(const struct lb_item_group *group, uint64_t time);
/* The same, quick if the answer is not far from a place that was found before. */
size_t lb_item_cores_near(const struct lb_item_group *group, uint64_t time, size_t near);
/* Makes an end of a claim by op at low the time at which the item can be claimable again. */
uint64_t lb_item_reopened(const struct lb_item_group *group, int op, uint32_t class_no,
                          uint64_t low);

/* No item executed twice: once.c. */
int lb_judge_once(const struct lb_item_group *item);

/* --- processes that say that they are alive: beats.c --- */

/* Once the logs were read. */
void lb_beats_sort(struct lb_case *c);
/* A claim, as it stood before its process beat since; returns the first beat after that. */
size_t lb_beats_begin(const struct lb_case *c, struct lb_item_event *claim);
/* Until when the beats that were heard of it keep recoveries of an age off. */
uint64_t lb_beats_kept(const struct lb_case *c, const struct lb_item_event *claim, uint32_t age_ms);
/* The beat at place i was in time. */
void lb_beats_heard(struct lb_item_event *claim, size_t i);

/* The claims of all items, in groups: group_exclusive.c. */
struct lb_in_hand {
    struct lb_array cores;  /* struct lb_item_core */
    struct lb_array events; /* struct lb_item_event *, of which the cores speak: its own */
};
/* Does somebody want to know, and does the history say which items are of one group? */
bool lb_wants_groups(const struct lb_case *c);
/* Keeps events of which cores speak; NULL is allowed. It frees them also when this fails. */
int lb_in_hand_keep(struct lb_in_hand *hand, struct lb_item_event *events, struct lb_case *c);
/* Adds the claims of one item, and keeps what was resumed of it. */
int lb_in_hand_add(struct lb_in_hand *hand, const struct lb_item_group *group);
void lb_in_hand_release(struct lb_in_hand *hand);
int lb_judge_groups(struct lb_in_hand *hand, struct lb_item_world *world, struct lb_case *c);

/* Puts a claim in the place of each renewal that took effect when the item may have been taken from
 * its worker, who had it at that time, and may not have had it without a break; and notes of each
 * claim what kept recoveries off. After lb_item_others. */
int lb_item_resume(struct lb_item_group *group);
/* Did a process beat again after a recovery may have taken one of the claims? */
bool lb_item_revived(const struct lb_item_group *group);

#endif
