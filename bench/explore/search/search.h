/* The search over schedules: which of the waiting workers goes next, in every way that matters.
 *
 * The system under search is a table of functions: it is started anew for each schedule, and told
 * one move at a time. Nothing here knows of databases or threads.
 *
 * Depth first, by re-execution, with sleep sets (Godefroid 1996, "Partial-Order Methods for the
 * Verification of Concurrent Systems"): after a move was explored at a state it sleeps in the
 * branches of its siblings until a move that depends on it is made. Of each class of schedules that
 * differ only in the order of independent moves, exactly one is run to its end. The move was made
 * at that very state, so the relation may use its actual effects and not only its possible ones.
 * Source sets (see sources.c) leave out most of the branches that would turn out to be such
 * reorderings.
 *
 * A move may have several answers: which of two waiting sessions gets what they wait for is the
 * engine's own choice. Each answer that was seen is a branch of its own, and a state in which the
 * engine chose is replayed some times to see more of them. To go on in a branch the path to it is
 * replayed until all its moves have answered so; one whose answer does not come again is given up,
 * and the result is not called complete.
 *
 * A refused try that changed nothing (a poll) leaves the state as it was. The worker then waits
 * until a move is made that could change the answer, which makes busy loops finite; and the moves
 * left to explore before the try are explored behind it instead.
 *
 * Symmetry: workers of a kind are interchangeable. Of the schedules that differ only by their names
 * those are explored in which each begins after those of its kind with lower numbers. That is a set
 * closed under swapping independent moves: the first moves of two of a kind are never neighbours in
 * another order.
 *
 * Likely schedules: a few in which a violation is found if there is a simple one. Most need one
 * switch at the wrong moment (Musuvathi and Qadeer 2007, "Iterative Context Bounding"): between a
 * worker's read and its reaction, or while it has its lock or item. So one worker is stopped after
 * each of its moves in turn, and the others go on until they are granted something, or to their
 * end. The clock moves, and a worker dies or loses an answer, where it is stopped.
 *
 * Audit: of the schedules that were left out a sample is run afterwards, and must come to the same
 * as those that stand for them.
 *
 * Random schedules: PCT (Burckhardt et al. 2010, "A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs"): random priorities, which drop at d - 1 random places; a bug of
 * depth d among n workers and k moves is found with a probability of at least 1 / (n k^(d-1)).
 */
#ifndef LB_SEARCH_H
#define LB_SEARCH_H

#include "error.h"
#include "footprint.h"
#include "random.h"

#include <stdatomic.h>

/* Moves are numbers: worker w takes its next step; worker w dies; the clocks move on; worker w
 * takes its next step, a commit, and loses the answer with its connection. */
enum {
    LB_MAX_WORKERS = 8,
    LB_MOVE_DEATH = LB_MAX_WORKERS,
    LB_MOVE_CLOCK = 2 * LB_MAX_WORKERS,
    LB_MOVE_CUT,
    LB_MOVES = LB_MOVE_CUT + LB_MAX_WORKERS,
    LB_MAX_LENGTH = 400,  /* moves of one schedule */
    LB_MAX_ANSWERS = 8,   /* that one move at one state may have */
    LB_MAX_REPLAYS = 500, /* of a path, until its moves answer as wanted */
    LB_VIOLATIONS = 24    /* bits that tell violations apart */
};

/* A schedule: the moves, in order. */
struct lb_schedule {
    size_t n;
    uint8_t moves[LB_MAX_LENGTH];
};

/* The worker that a move is about; -1: the clock. */
static inline int lb_move_worker(unsigned move)
{
    return move < LB_MOVE_CLOCK    ? (int)(move % LB_MAX_WORKERS)
           : move == LB_MOVE_CLOCK ? -1
                                   : (int)(move - LB_MOVE_CUT);
}

static inline bool lb_move_is_death(unsigned move)
{
    return move >= LB_MOVE_DEATH && move < LB_MOVE_CLOCK;
}

/* The traces of a try that was refused, and will be made again. */
enum lb_trace {
    LB_TRACE_NOTHING, /* nothing, and no other worker could see it */
    LB_TRACE_LOCKS,   /* nothing, but on its way it held locks that others do not only wait for */
    LB_TRACE_CHANGES  /* something */
};

/* Such a try, completed by a move. */
struct lb_refused {
    bool is_refused; /* there is one */
    bool is_own;     /* no other worker has acted since it began */
    bool is_shown;   /* the history shows that it began, and was refused */
    size_t first;    /* number of the move that began it */
    enum lb_trace trace;
    struct lb_footprint touched; /* by all of it; begins: the next one would begin */
};

static inline bool lb_refused_is_void(const struct lb_refused *refused)
{
    return refused->trace == LB_TRACE_NOTHING ||
           (refused->trace == LB_TRACE_LOCKS && refused->is_own);
}

/* The effect of a move. */
struct lb_moved {
    bool is_again;               /* in: its effect is known, and need not be found out */
    struct lb_footprint touched; /* by the mover, and by those that it set free */
    uint64_t answer;             /* digest of all answers */
    uint64_t told;               /* digest of what the answers name, such as items: no branch */
    bool is_choice;              /* several waited, and one of them went on */
    struct lb_refused refused[LB_MAX_WORKERS];
};

enum lb_ending {
    LB_END_DONE,  /* all workers have finished */
    LB_END_STUCK, /* no worker can go on: those left are blocked, or wait for each other */
    LB_END_CUT,   /* too long, or the rest is not of interest: the part so far is judged */
    LB_END_PRUNED /* explored elsewhere: not judged */
};

struct lb_system {
    /* Everything as at the beginning. */
    int (*reset)(void *arg, struct lb_error *err);
    /* Bits of the moves that can be made now. */
    uint32_t (*enabled)(void *arg);
    /* Have all workers finished (or died)? */
    bool (*finished)(void *arg);
    int (*move)(void *arg, unsigned move, struct lb_moved *ret, struct lb_error *err);
    /* The schedule ends here; waiting: bits of the workers that are refused and wait. Returns a
     * negative error, or bits of the violated guarantees (0: none). */
    int (*end)(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err);
    /* A digest of the data when all workers have finished; may be NULL. */
    int (*left)(void *arg, uint64_t *ret, struct lb_error *err);
    /* Bits of the workers that have what they asked for. */
    uint32_t (*holders)(void *arg);
    /* True if a worker has given an operation up after the most refusals. May be NULL. */
    bool (*gave_up)(void *arg);
    /* Bits of the workers that were refused, learned nothing, and would ask again; may be NULL. */
    uint32_t (*tired)(void *arg);
};

struct lb_search_result;

/* A schedule that was run, and one that was left out because the first one stands for it. */
struct lb_audit_pair {
    struct lb_schedule run, left_out;
    size_t at; /* the moves at this place and behind it are swapped; LB_MAX_LENGTH: workers that are
                  alike are renamed */
};

enum { LB_AUDIT_PAIRS = 64 };

/* A random sample of such pairs. random: to be initialised by the caller. */
struct lb_audit {
    struct lb_random random;
    uint64_t n_offered, n_audited;
    size_t n;
    struct lb_audit_pair pairs[LB_AUDIT_PAIRS];
    const struct lb_audit_pair *differs; /* whose schedules do not come to the same; NULL: none */
};

struct lb_search_options {
    bool unreduced;       /* no sleep sets and source sets: every order of the moves */
    const uint8_t *alike; /* per worker, the number of its kind: those of a kind can be renamed, and
                             begin in the order of their numbers. NULL: none are alike */
    int preemptions; /* maximum number of switches away from a worker that could go on; -1: any.
                        Implies unreduced: sleep sets could defer an omitted order to a schedule
                        beyond the bound */
    uint64_t max_schedules; /* 0: no limit */
    uint64_t deadline_ns;   /* CLOCK_MONOTONIC; 0: none */
    size_t max_length;      /* moves; 0: LB_MAX_LENGTH */
    bool likely;            /* the likely schedules instead of all; alike: the kinds of workers,
                               each of which is stopped once */
    bool several_hold;      /* likely: a worker is also stopped while one of its kind holds */
    bool peer_dies;         /* ... and the fault is not for the holder */
    uint64_t random;        /* number of random schedules to run instead of all */
    unsigned depth;         /* PCT's d */
    uint64_t seed;
    unsigned choice_replays; /* of each move with a choice, at least, to see what else it answers */
    bool all;                /* do not stop at the first violation */
    uint64_t patience_ns;    /* of a search for all: it ends so long after the first violation; 0:
                                when it is complete */
    const atomic_int *interrupt; /* stop when not 0; may be NULL */
    const bool
        *void_from_now;     /* stop when true: reported effects of moves are wrong; may be NULL */
    const bool *enough;     /* stop when true: no other schedule is of interest; may be NULL */
    struct lb_audit *audit; /* filled with pairs; NULL: none are wanted */
    /* Called after each schedule, with the results so far; may be NULL. */
    void (*progress)(void *arg, const struct lb_search_result *so_far);
    void *progress_arg;
};

struct lb_search_result {
    uint64_t n_schedules; /* run to their end */
    uint64_t n_likely;    /* of them: likely ones, before the search for all */
    uint64_t n_asleep;    /* given up: a reordering of independent moves of another one */
    uint64_t n_void;      /* given up: another one with a futile try more */
    uint64_t n_moves;     /* made, re-execution included */
    uint64_t n_stuck;     /* schedules in which no worker could go on */
    uint64_t n_choices;   /* moves at states where the engine had a choice */
    uint64_t n_others;    /* answers that moves had beside their first one: explored, too */
    uint64_t n_repeated;  /* replays that did not answer as wanted */
    uint64_t n_unreached; /* answers that did not come again: not explored to their end */
    size_t longest;       /* moves */
    double share;         /* of the search that is done, roughly: see extent.h; random: of
                             their number. Never less than before */
    double whole;         /* moves that all of it will take, as estimated now; random: 0 */
    bool complete;        /* everything was explored, behind every answer that was seen */
    bool is_random;       /* a move, made again with the same answer, named others: no branch */
    bool too_long;        /* some schedule was cut at the longest length */
    bool interrupted;     /* by the user */
    bool timed_out;       /* ended at the deadline */
    int violated;         /* bits, of the first violating schedule, or of all */
    uint64_t violated_ns; /* when the first one was seen */
    bool differs;         /* a move had more answers than can be distinguished */
    struct lb_schedule differing; /* up to that move, or to one whose answer did not come again */
    struct lb_schedule first[LB_VIOLATIONS]; /* per bit: the first schedule that violates it */
};

/* Returns 0, or the system's error. */
int lb_search(const struct lb_system *system, void *arg, const struct lb_search_options *options,
              struct lb_search_result *ret, struct lb_error *err);

/* The result of a replay. */
struct lb_replayed {
    size_t n;       /* moves that were made */
    bool is_choice; /* of the engine, in some move: another replay may be another one */
    bool gave_up;   /* a worker: in another order it may have been refused less often */
    uint64_t answers[LB_MAX_LENGTH]; /* a digest for each move */
    bool wants_left;             /* in: left and touched are wanted. Behind the schedule, refused
                                    workers try again until they wait */
    size_t at;                   /* in: the number of the move that touched is about */
    struct lb_footprint touched; /* by that move */
    uint64_t left; /* a digest of the data at its end; 0: not all workers came to their ends */
};

/* Makes the moves of a schedule, then ends it. Returns what end() returned; LB_E_USAGE if a move
 * cannot be made. ret may be NULL. */
int lb_search_replay(const struct lb_system *system, void *arg, const struct lb_schedule *schedule,
                     struct lb_replayed *ret, struct lb_error *err);

/* Runs both schedules of each pair, in turn, until the deadline, but those of one pair in any case.
 * They have to come to the same verdict, the same answers and the same data. A pair of which one
 * schedule does not come to the same twice is not counted. 0, or the system's error. */
int lb_audit_run(struct lb_audit *audit, const struct lb_system *system, void *arg,
                 uint64_t deadline_ns, const atomic_int *interrupt, struct lb_error *err);

/* Makes a violating schedule as short as it gets, then as little switching as it gets, by replaying
 * variants of it that still violate `violated`. *n_replays grows by their number. until: its
 * deadline_ns and interrupt end that early; NULL: nothing does. */
int lb_search_shrink(const struct lb_system *system, void *arg, int violated,
                     const struct lb_search_options *until, struct lb_schedule *schedule,
                     uint64_t *n_replays, struct lb_error *err);
/* Has the time come, or the user interrupted? */
bool lb_search_is_over(const struct lb_search_options *options);

/* "0110", "01x0t1c1": a digit is a worker's step, xN worker N's death, t the clock, cN a commit of
 * worker N whose answer is lost. */
void lb_schedule_print(const struct lb_schedule *schedule, char *buf, size_t size);
int lb_schedule_parse(const char *text, struct lb_schedule *ret, struct lb_error *err);
/* Changes of worker between neighbouring moves. */
size_t lb_schedule_switches(const struct lb_schedule *schedule);

#endif
