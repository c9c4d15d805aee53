/* Depth-first search with sleep sets and source sets: see search.h. */
#include "path.h"

#include "memory.h"

#include <stdlib.h>

/* The next move to explore at a node, or LB_MOVES: none is left. A worker that was refused goes
 * first, else the one that moved last: the first schedules have the fewest switches. */
static unsigned choose(struct lb_path *path, size_t at)
{
    struct lb_node *node = &path->nodes[at];
    uint32_t left = node->enabled & ~node->asleep & ~node->done;
    if (node->done != 0 || (left & node->wanted) != 0)
        left &= node->wanted;
    if ((left & node->eager) != 0)
        left &= node->eager;
    unsigned before = at > 0 ? path->nodes[at - 1].move : 0;
    for (unsigned i = 0; i < LB_MOVES; i++) {
        unsigned move = i == 0 ? before : i <= before ? i - 1 : i;
        if (!lb_has(left, move))
            continue;
        if (path->options->preemptions >= 0 &&
            lb_path_preemptions(path, at, move) > path->options->preemptions)
            continue;
        return move;
    }
    return LB_MOVES;
}

/* The path, and one move more. Returns 0; 1 if a move did not answer as wanted, *ret_at says which;
 * or an error. */
static int run_path_once(struct lb_path *path, size_t *ret_at, struct lb_error *err)
{
    struct lb_moved moved;
    int r = path->system->reset(path->arg, err);
    for (size_t i = 0; r == 0 && i < path->n; i++) {
        *ret_at = i;
        if (lb_path_is_over(path) || !lb_has(path->system->enabled(path->arg), path->nodes[i].move))
            return 1;
        r = lb_path_make(path, i, true, &moved, err);
        if (r == 0 && moved.answer != lb_path_wanted(&path->nodes[i])) {
            lb_path_note(path, i, moved.answer);
            return 1;
        }
    }
    return r;
}

/* At the end of a schedule: the size of all, in moves. */
static double estimate_whole(const struct lb_path *path)
{
    double left = 0;
    for (size_t i = path->n; i-- > 0;) {
        const struct lb_node *node = &path->nodes[i];
        uint32_t others = node->enabled & node->wanted & ~node->asleep & ~node->done;
        unsigned n_left = (unsigned)__builtin_popcount(others & ~(1u << node->move));
        left = lb_extent_left(&path->extent, &node->extent, n_left, path->result->n_moves, left);
    }
    return (double)path->result->n_moves + left;
}

/* The reported share never falls, and reaches all only at the end. */
static double told_share(const struct lb_search_result *result)
{
    static const double most = 0.999;
    double share = (double)result->n_moves / result->whole;
    share = share > most ? most : share;
    return share > result->share ? share : result->share;
}

/* Makes the moves of the path again and then the one of the node at its end, until they answer as
 * wanted. Returns as lb_path_extend() does; 2: has to stop, or given up, and the path ends behind
 * the move that did not answer so. */
static int go_back(struct lb_path *path, struct lb_error *err)
{
    struct lb_search_result *result = path->result;
    size_t at = 0;
    for (unsigned i = 0; i < LB_MAX_REPLAYS; i++) {
        int r = run_path_once(path, &at, err);
        if (r == 0) {
            at = path->n;
            r = lb_path_extend(path, err);
            if (r < 2)
                return r;
        }
        result->n_repeated++;
        r = r < 0 ? r : path->system->end(path->arg, LB_END_PRUNED, 0, err);
        if (r < 0)
            return r;
        if (lb_path_has_to_stop(path))
            return 2;
    }
    path->n = at + 1;
    path->nodes[path->n].enabled = 0;
    lb_path_copy(path, path->n, &result->differing);
    result->n_unreached++;
    return 2;
}

/* --- depth first --- */

/* Makes the move of the node at the end of the path some times more, if the engine had a choice. */
static int look_for_answers(struct lb_path *path, struct lb_error *err)
{
    struct lb_node *node = &path->nodes[path->n];
    unsigned most = path->options->choice_replays;
    for (unsigned i = 0; node->is_choice && node->n_made < most && i < most; i++) {
        size_t at;
        struct lb_moved moved;
        int r = run_path_once(path, &at, err);
        if (r == 0 && (r = lb_path_make(path, path->n, true, &moved, err)) == 0)
            lb_path_note(path, path->n, moved.answer);
        path->result->n_repeated++;
        r = r < 0 ? r : path->system->end(path->arg, LB_END_PRUNED, 0, err);
        if (r < 0)
            return r;
        if (lb_path_has_to_stop(path))
            return 0;
    }
    return 0;
}

/* Goes back to the deepest node with something left to explore: another answer, another move.
 * Returns 1, 0 if there is none, or an error. */
static int backtrack(struct lb_path *path, struct lb_error *err)
{
    unsigned death = path->n < path->max_length ? choose(path, path->n) : LB_MOVES;
    if (death < LB_MOVES) { /* where all wait */
        lb_path_set(path, death);
        return 1;
    }
    lb_path_leave(path);
    while (path->n > 0) {
        struct lb_node *node = &path->nodes[--path->n];
        int r = look_for_answers(path, err);
        if (r < 0)
            return r;
        if (++node->n_explored < node->n_answers) {
            path->result->n_others++;
            return 1;
        }
        node->done |= 1u << node->move;
        lb_extent_branch(&path->extent, &node->extent, path->result->n_moves);
        unsigned move = choose(path, path->n);
        if (move < LB_MOVES) {
            lb_path_set(path, move);
            return 1;
        }
        lb_path_leave(path);
    }
    return 0;
}

/* Runs on from the end of the path, always with the first choice, until the schedule ends. */
static int run_on(struct lb_path *path, struct lb_error *err)
{
    for (;;) {
        enum lb_ending ending;
        if (!lb_path_look(path, &ending))
            return lb_path_end(path, ending, err);
        if (lb_path_is_over(path))
            return lb_path_end(path, LB_END_PRUNED, err);
        unsigned move = choose(path, path->n);
        if (move == LB_MOVES) {
            path->result->n_asleep++;
            return lb_path_end(path, LB_END_PRUNED, err);
        }
        lb_path_set(path, move);
        int r = lb_path_extend(path, err);
        if (r < 0)
            return r;
        if (r > 0)
            return lb_path_end(path, LB_END_PRUNED, err);
    }
}

static int search_all(struct lb_path *path, struct lb_error *err)
{
    path->nodes[0] = (struct lb_node){0};
    int r = path->system->reset(path->arg, err);
    if (r == 0)
        r = run_on(path, err);
    while (r >= 0) {
        struct lb_search_result *result = path->result;
        result->whole = estimate_whole(path);
        result->share = told_share(result);
        if (lb_path_has_to_stop(path))
            return 0;
        r = backtrack(path, err);
        if (r < 0 || lb_path_has_to_stop(path))
            return r < 0 ? r : 0;
        if (r == 0) {
            result->complete = !result->too_long && result->n_unreached == 0;
            result->share = 1;
            return 0;
        }
        r = go_back(path, err);
        if (r == 0)
            r = run_on(path, err);
        else if (r == 1)
            r = lb_path_end(path, LB_END_PRUNED, err);
    }
    return r;
}

int lb_search(const struct lb_system *system, void *arg, const struct lb_search_options *options,
              struct lb_search_result *ret, struct lb_error *err)
{
    struct lb_path *path = lb_calloc(1, sizeof *path);
    *ret = (struct lb_search_result){0};
    path->system = system;
    path->arg = arg;
    path->options = options;
    path->result = ret;
    path->max_length = options->max_length > 0 && options->max_length < LB_MAX_LENGTH
                           ? options->max_length
                           : LB_MAX_LENGTH;
    lb_random_init(&path->random, options->seed, 0);
    int r = options->likely       ? lb_walk_likely(path, err)
            : options->random > 0 ? lb_walk_random(path, err)
                                  : search_all(path, err);
    free(path);
    return r;
}

/* --- replay --- */

/* Behind the last move: workers that were refused try again, as they may not know yet that they are
 * refused in this state. A schedule that is stuck is so in each order of its moves only then. */
static int try_again(struct lb_path *path, enum lb_ending *ret_end, struct lb_error *err)
{
    uint32_t refused = path->nodes[path->n].eager;
    int r = 0;
    while (r == 0 && lb_path_look(path, ret_end)) {
        uint32_t left = path->nodes[path->n].enabled & refused;
        if (left == 0)
            break;
        lb_path_set(path, (unsigned)__builtin_ctz(left));
        r = lb_path_extend(path, err);
        r = r == 1 ? 0 : r;
    }
    return r;
}

static void note_doubts(const struct lb_path *path, struct lb_replayed *ret)
{
    const struct lb_system *system = path->system;
    ret->is_choice = path->result->n_choices > 0;
    ret->gave_up = system->gave_up != NULL && system->gave_up(path->arg);
}

static int replay(struct lb_path *path, const struct lb_schedule *schedule, struct lb_replayed *ret,
                  struct lb_error *err)
{
    const struct lb_system *system = path->system;
    struct lb_error ignored;
    int r = system->reset(path->arg, err);
    for (size_t i = 0; r == 0 && i < schedule->n; i++) {
        if (!lb_has(system->enabled(path->arg), schedule->moves[i])) {
            system->end(path->arg, LB_END_PRUNED, 0, &ignored);
            return lb_fail(err, LB_E_USAGE, "move %zu of the schedule cannot be made: %s", i + 1,
                           schedule->moves[i] == LB_MOVE_CLOCK ? "the clock is not stepped"
                           : schedule->moves[i] >= LB_MOVE_CUT
                               ? "the worker is not before a commit"
                               : "the worker is blocked, or has finished");
        }
        lb_path_set(path, schedule->moves[i]);
        r = lb_path_extend(path, err);
        r = r == 1 ? 0 : r; /* the search would give it up, but it can be gone on with */
        ret->answers[i] = path->nodes[i].answers[0];
        if (i == ret->at)
            ret->touched = path->nodes[i].touched[schedule->moves[i]];
        note_doubts(path, ret);
        ret->n = i + 1;
    }
    enum lb_ending ending = LB_END_CUT;
    if (r == 0 && ret->wants_left)
        r = try_again(path, &ending, err);
    else if (r == 0)
        lb_path_look(path, &ending);
    note_doubts(path, ret);
    ret->left = 0;
    if (r == 0 && ending == LB_END_DONE && ret->wants_left && system->left != NULL)
        r = system->left(path->arg, &ret->left, err);
    return r < 0 ? r : system->end(path->arg, ending, path->nodes[path->n].waiting, err);
}

int lb_search_replay(const struct lb_system *system, void *arg, const struct lb_schedule *schedule,
                     struct lb_replayed *ret, struct lb_error *err)
{
    struct lb_replayed replayed = {.wants_left = false};
    static const struct lb_search_options plain = {.unreduced = true, .preemptions = -1},
                                          with_touched = {.preemptions = -1};
    struct lb_search_result ignored = {0};
    struct lb_path *path = lb_calloc(1, sizeof *path);
    path->system = system;
    path->arg = arg;
    path->options = ret != NULL && ret->wants_left ? &with_touched : &plain;
    path->result = &ignored;
    path->max_length = LB_MAX_LENGTH;
    ret = ret != NULL ? ret : &replayed;
    ret->n = 0;
    ret->is_choice = ret->gave_up = false;
    int r = replay(path, schedule, ret, err);
    free(path);
    return r;
}
