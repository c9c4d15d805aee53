/* A schedule as it is being made: the states along it, and one move more. Private to search/.
 *
 * The explorer (search.c: all schedules; walks.c: some) decides which move comes next; this module
 * makes it, and computes its effect on waiting workers and sleeping moves.
 */
#ifndef LB_PATH_H
#define LB_PATH_H

#include "extent.h"
#include "random.h"
#include "search.h"

/* Workers, and the clock. */
enum { LB_ACTORS = LB_MAX_WORKERS + 1 };

/* A state on the present path. The moves before it are not stored as states: they are made
 * again. */
struct lb_node {
    uint32_t enabled;   /* moves that can be made, waiting workers' left out */
    uint32_t waiting;   /* workers that were refused and wait */
    uint32_t asleep;    /* moves that need not be made here: explored elsewhere */
    uint32_t done;      /* moves explored from here */
    uint32_t restless;  /* moves done or asleep that begin a try that was given up. A schedule that
                           ends with the try in vain is no reordering of it: they are explored
                           where nothing else can be */
    uint32_t wanted;    /* moves to explore from here: see sources.c. 0: any one */
    uint32_t moved;     /* workers that have begun before */
    uint32_t eager;     /* workers that were refused, and have not moved since: they go first */
    size_t void_until;  /* the node behind the refused try that the move is part of, which changed
                           nothing; 0: it is not part of one */
    bool is_covered;    /* ... and begins: the remaining moves are explored at that node */
    bool owes_history;  /* races of the move that only the history shows are still to be noted */
    int preemptions;    /* on the path to here */
    uint8_t move;       /* the one being explored */
    uint8_t n_answers;  /* that it has had here */
    uint8_t n_explored; /* of these: explored ones */
    bool is_choice;     /* of the engine: see lb_moved */
    uint64_t told;      /* with the first answer */
    unsigned n_made;    /* how often the move was made here */
    struct lb_extent_node extent;
    size_t before[LB_ACTORS]; /* per actor: its moves up to that number happen before this move, or
                                 are it */
    uint64_t answers[LB_MAX_ANSWERS];
    struct lb_footprint touched[LB_MOVES]; /* by the moves done or asleep */
    struct lb_footprint
        waits_for[LB_MAX_WORKERS]; /* the reasons for the refusals of waiting workers */
};

struct lb_path {
    const struct lb_system *system;
    void *arg;
    const struct lb_search_options *options;
    struct lb_search_result *result;
    struct lb_random random;
    size_t max_length;
    struct lb_extent extent;
    size_t n; /* nodes on the path */
    struct lb_node nodes[LB_MAX_LENGTH + 1];
};

static inline bool lb_has(uint32_t set, unsigned move)
{
    return (set >> move & 1) != 0;
}

/* Is there no time left for the rest of this schedule? One is run to its end in any case. */
bool lb_path_is_over(const struct lb_path *path);
/* Between two schedules: is that the end? Tells of the progress. */
bool lb_path_has_to_stop(struct lb_path *path);
/* Switches away from a worker that could go on, with this move at the node `at`. */
int lb_path_preemptions(const struct lb_path *path, size_t at, unsigned move);

/* Is there anything to do at the node at path->n? false: the schedule ended, *ret_end says how. */
bool lb_path_look(struct lb_path *path, enum lb_ending *ret_end);
/* The move that is to be made at the node at path->n. */
void lb_path_set(struct lb_path *path, unsigned move);
/* All is explored behind the node at path->n, and with it the moves that it took over. */
void lb_path_leave(struct lb_path *path);
/* Makes the move of the node at `at`, for the first time or again. */
int lb_path_make(struct lb_path *path, size_t at, bool is_again, struct lb_moved *ret,
                 struct lb_error *err);
/* The move at `at` had this answer: a branch of its own, if it is a new one. */
void lb_path_note(struct lb_path *path, size_t at, uint64_t answer);
/* The answer that leads to where the path goes on. */
static inline uint64_t lb_path_wanted(const struct lb_node *node)
{
    return node->answers[node->n_explored];
}
/* Makes the move of the node at the end of the path, and the node behind it. Returns 0, 1 when the
 * branch is to be given up, 2 when the move did not answer as wanted. */
int lb_path_extend(struct lb_path *path, struct lb_error *err);
/* The schedule ends here. Returns what the system's end() did. */
int lb_path_end(struct lb_path *path, enum lb_ending ending, struct lb_error *err);
void lb_path_copy(const struct lb_path *path, size_t n, struct lb_schedule *ret);

/* sources.c: the move of the node at `at` has been made, and its effect is known: earlier moves
 * that it could come before. */
void lb_sources_note(struct lb_path *path, size_t at);
/* The worker's try from `first` to `last` was refused, and changed nothing. Unless it is shown, the
 * history does not contain it. */
void lb_sources_note_void(struct lb_path *path, size_t first, size_t last, unsigned worker,
                          bool is_shown);
/* The move at `at` is no longer part of such a try. */
void lb_sources_note_again(struct lb_path *path, size_t at);
/* The schedule ends: earlier moves of which only the history shows that they came before. */
void lb_sources_note_history(struct lb_path *path);
/* All moves of the nodes from `first` to `last` are to be explored. */
void lb_sources_want_all(struct lb_path *path, size_t first, size_t last);

/* audit.c: takes a pair of which the schedule that has ended, and was judged, is the first. */
void lb_audit_offer(struct lb_audit *audit, const struct lb_path *path, bool is_reduced);

/* walks.c: schedules one by one. Return 0, or an error. */
int lb_walk_random(struct lb_path *path, struct lb_error *err);
int lb_walk_likely(struct lb_path *path, struct lb_error *err);

#endif
