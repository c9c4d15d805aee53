/* Depth-first search with sleep sets, and random schedules: see search.h. */
#include "search.h"

#include "clock.h"
#include "random.h"
#include "visited.h"

#include <stdlib.h>
#include <string.h>

#define DEATHS (((1u << LB_MAX_WORKERS) - 1) << LB_MOVE_DEATH)

/* A state on the present path. What was made before it is not stored: it is made again. */
struct node {
    uint32_t enabled;   /* moves that can be made, waiting workers' left out */
    uint32_t waiting;   /* workers that were refused and wait */
    uint32_t asleep;    /* moves that need not be made here: explored elsewhere */
    uint32_t done;      /* moves explored from here */
    uint32_t moved;     /* workers that have begun before */
    bool covered;       /* what is left to explore is explored below */
    int preemptions;    /* on the path to here */
    uint8_t move;       /* the one being explored */
    uint8_t n_answers;  /* that it has had here */
    uint8_t n_explored; /* of them: what they lead to was explored */
    bool is_choice;     /* of the engine: see lb_moved */
    unsigned n_made;    /* how often the move was made here */
    uint64_t answers[LB_MAX_ANSWERS];
    struct lb_footprint touched[LB_MOVES];         /* by the moves done or asleep */
    struct lb_footprint waits_for[LB_MAX_WORKERS]; /* what the waiting were refused over */
};

struct search {
    const struct lb_system *system;
    void *arg;
    const struct lb_search_options *options;
    struct lb_search_result *result;
    struct lb_random random;
    size_t max_length;
    struct lb_visited visited;
    size_t n; /* nodes on the path */
    struct node nodes[LB_MAX_LENGTH + 1];
};

static bool has(uint32_t set, unsigned move)
{
    return (set >> move & 1) != 0;
}

/* Of the workers of a kind that have not begun, the first one may. */
static uint32_t in_order(const struct search *search, uint32_t moved, uint32_t enabled)
{
    const uint8_t *alike = search->options->alike;
    if (alike == NULL || search->options->unreduced || search->options->preemptions >= 0 ||
        search->options->random > 0)
        return enabled;
    for (unsigned w = 1; w < LB_MAX_WORKERS; w++)
        for (unsigned before = 0; before < w; before++)
            if (alike[before] == alike[w] && !has(moved, w) && !has(moved, before) &&
                has(enabled, before))
                enabled &= ~(1u << w);
    return enabled;
}

static bool is_reduced(const struct search *search)
{
    return !search->options->unreduced && search->options->preemptions < 0 &&
           search->options->random == 0;
}

/* --- one move --- */

/* Did anybody else, since node `first`, do what could have changed the worker's answer? */
static bool is_outdated(const struct search *search, size_t first, size_t last, unsigned worker,
                        const struct lb_footprint *touched)
{
    for (size_t i = first; i <= last; i++) {
        const struct node *node = &search->nodes[i];
        if (node->move != worker && lb_footprint_conflicts(&node->touched[node->move], touched))
            return true;
    }
    return false;
}

/* A try of the worker was refused in the move at `last`. false: give this schedule up. */
static bool take_refusal(struct search *search, size_t last, unsigned worker,
                         const struct lb_refused *refused)
{
    struct node *child = &search->nodes[last + 1], *start = &search->nodes[refused->first];
    bool is_void = lb_refused_is_void(refused);
    if (is_void && !refused->is_own && is_reduced(search)) {
        search->result->n_void++; /* as without it */
        return false;
    }
    if (refused->trace == LB_TRACE_CHANGES) /* its own change may be what the next try needs */
        return true;
    if (!refused->is_own && is_outdated(search, refused->first, last, worker, &refused->touched))
        return true;
    if (is_void && refused->is_own) {
        /* The state is that of `start`, but for the worker, which waits. Who waited then still
         * does; who was refused because of this try does not. */
        child->waiting = start->waiting;
        memcpy(child->waits_for, start->waits_for, sizeof child->waits_for);
    }
    child->waiting |= 1u << worker;
    child->waits_for[worker] = refused->touched;
    if (!is_void || !is_reduced(search))
        return true;
    child->asleep = (start->asleep | start->done) & ~(1u << worker);
    memcpy(child->touched, start->touched, sizeof child->touched);
    start->covered = true;
    return true;
}

/* Fills the node behind the one at `last`, whose move did `moved`. */
static bool make_child(struct search *search, size_t last, const struct lb_moved *moved)
{
    struct node *node = &search->nodes[last], *child = &search->nodes[last + 1];
    unsigned move = node->move;
    int worker = lb_move_worker(move);
    if (node->n_explored == 0)
        node->touched[move] = moved->touched;
    else /* whatever it answers */
        lb_footprint_add(&node->touched[move], &moved->touched);
    child->moved = node->moved | (worker >= 0 ? 1u << worker : 0);
    child->waiting = node->waiting;
    child->asleep = child->done = 0;
    child->covered = false;
    memcpy(child->waits_for, node->waits_for, sizeof child->waits_for);
    for (unsigned w = 0; w < LB_MAX_WORKERS; w++)
        if (has(child->waiting, w) &&
            ((int)w == worker || lb_footprint_conflicts(&moved->touched, &node->waits_for[w])))
            child->waiting &= ~(1u << w);
    if (is_reduced(search)) {
        uint32_t candidates = node->asleep | node->done;
        for (unsigned m = 0; m < LB_MOVES; m++)
            if (has(candidates, m) && m != move && lb_move_worker(m) != worker &&
                !lb_footprint_dependent(&node->touched[m], &node->touched[move])) {
                child->asleep |= 1u << m;
                child->touched[m] = node->touched[m];
            }
    }
    bool go_on = true;
    for (unsigned w = 0; w < LB_MAX_WORKERS; w++)
        if (moved->refused[w].is_refused)
            go_on = take_refusal(search, last, w, &moved->refused[w]) && go_on;
    return go_on;
}

/* --- choosing --- */

static int preemptions_with(const struct search *search, size_t at, unsigned move)
{
    const struct node *node = &search->nodes[at];
    if (at == 0)
        return 0;
    unsigned before = search->nodes[at - 1].move;
    bool is_switch = move != before && before < LB_MAX_WORKERS && has(node->enabled, before);
    return node->preemptions + is_switch;
}

/* The next move to explore at a node, or LB_MOVES: none is left. The worker that moved last goes
 * first: the first schedules have the fewest switches. */
static unsigned choose(struct search *search, size_t at)
{
    struct node *node = &search->nodes[at];
    if (node->covered)
        return LB_MOVES;
    uint32_t left = node->enabled & ~node->asleep & ~node->done;
    unsigned before = at > 0 ? search->nodes[at - 1].move : 0;
    for (unsigned i = 0; i < LB_MOVES; i++) {
        unsigned move = i == 0 ? before : i <= before ? i - 1 : i;
        if (!has(left, move))
            continue;
        if (search->options->preemptions >= 0 &&
            preemptions_with(search, at, move) > search->options->preemptions)
            continue;
        return move;
    }
    return LB_MOVES;
}

static void copy_path(const struct search *search, size_t n, struct lb_schedule *ret)
{
    ret->n = n;
    for (size_t i = 0; i < n; i++)
        ret->moves[i] = search->nodes[i].move;
}

static int end_schedule(struct search *search, enum lb_ending ending, struct lb_error *err)
{
    struct lb_search_result *result = search->result;
    const struct node *last = &search->nodes[search->n];
    int r = search->system->end(search->arg, ending, last->waiting, err);
    if (r < 0)
        return r;
    if (ending != LB_END_PRUNED)
        result->n_schedules++;
    if (ending == LB_END_STUCK)
        result->n_stuck++;
    if (search->n > result->longest)
        result->longest = search->n;
    for (unsigned bit = 0; bit < LB_VIOLATIONS; bit++)
        if ((r & ~result->violated & 1 << bit) != 0)
            copy_path(search, search->n, &result->first[bit]);
    result->violated |= r;
    return r;
}

/* Is there anything to do at the node at search->n? false: the schedule ended, *ret_end says how.
 */
static bool look_around(struct search *search, enum lb_ending *ret_end)
{
    struct node *node = &search->nodes[search->n];
    uint32_t possible = search->system->enabled(search->arg);
    node->enabled = possible & ~node->waiting; /* who waits may still die */
    node->enabled = in_order(search, node->moved, node->enabled);
    node->preemptions =
        search->n == 0 ? 0
                       : preemptions_with(search, search->n - 1, search->nodes[search->n - 1].move);
    if ((node->enabled & ~DEATHS) == 0) {
        *ret_end = search->system->finished(search->arg) ? LB_END_DONE : LB_END_STUCK;
        return false;
    }
    if (search->n >= search->max_length) {
        search->result->too_long = true;
        *ret_end = LB_END_CUT;
        return false;
    }
    return true;
}

static int make_move(struct search *search, size_t at, bool is_again, struct lb_moved *ret,
                     struct lb_error *err)
{
    struct node *node = &search->nodes[at];
    search->result->n_moves++;
    *ret = (struct lb_moved){.is_again = is_again};
    int r = search->system->move(search->arg, node->move, ret, err);
    node->n_made++;
    if (ret->is_choice && !node->is_choice)
        search->result->n_choices++;
    node->is_choice = node->is_choice || ret->is_choice;
    return r;
}

/* The answer that leads to where the path goes on. */
static uint64_t wanted_answer(const struct node *node)
{
    return node->answers[node->n_explored];
}

/* The move at `at` had this answer: a branch of its own, if it is a new one. */
static void note_answer(struct search *search, size_t at, uint64_t answer)
{
    struct node *node = &search->nodes[at];
    for (unsigned i = 0; i < node->n_answers; i++)
        if (node->answers[i] == answer)
            return;
    if (node->n_answers == LB_MAX_ANSWERS) {
        search->result->differs = true;
        copy_path(search, at + 1, &search->result->differing);
        return;
    }
    node->answers[node->n_answers++] = answer;
}

bool lb_search_is_over(const struct lb_search_options *options)
{
    return (options->interrupt != NULL && atomic_load(options->interrupt) != 0) ||
           (options->deadline_ns != 0 && lb_now_ns() >= options->deadline_ns);
}

/* Is there no time left for the rest of this schedule? One is run to its end in any case. */
static bool is_over(const struct search *search)
{
    return search->result->n_schedules > 0 && lb_search_is_over(search->options);
}

/* The path, and one move more. Returns 0; 1 if a move did not answer as wanted, *ret_at says which;
 * or an error. */
static int run_path_once(struct search *search, size_t *ret_at, struct lb_error *err)
{
    struct lb_moved moved;
    int r = search->system->reset(search->arg, err);
    for (size_t i = 0; r == 0 && i < search->n; i++) {
        *ret_at = i;
        if (is_over(search) || !has(search->system->enabled(search->arg), search->nodes[i].move))
            return 1;
        r = make_move(search, i, true, &moved, err);
        if (r == 0 && moved.answer != wanted_answer(&search->nodes[i])) {
            note_answer(search, i, moved.answer);
            return 1;
        }
    }
    return r;
}

/* Makes the move of the node at the end of the path, and the node behind it. Returns 0, 1 when the
 * branch is to be given up, 2 when the move did not answer as wanted. */
static int extend(struct search *search, struct lb_error *err)
{
    struct node *node = &search->nodes[search->n];
    struct lb_moved moved;
    int r = make_move(search, search->n, !is_reduced(search), &moved, err);
    if (r < 0)
        return r;
    note_answer(search, search->n, moved.answer);
    if (moved.answer != wanted_answer(node))
        return 2;
    bool go_on = make_child(search, search->n, &moved);
    search->n++;
    return go_on ? 0 : 1;
}

static void set_move(struct search *search, unsigned move)
{
    struct node *node = &search->nodes[search->n];
    node->move = (uint8_t)move;
    node->n_answers = node->n_explored = 0;
    node->is_choice = false;
    node->n_made = 0;
}

/* At the end of a schedule. Knuth 1975, "Estimating the efficiency of backtrack programs": the part
 * of the tree that is left of the path, and the path's own leaf. */
static double share_done(const struct search *search)
{
    double share = 0, branch = 1;
    for (size_t i = 0; i < search->n; i++) {
        const struct node *node = &search->nodes[i];
        uint32_t here = 1u << node->move;
        uint32_t all = node->covered ? node->done | here : (node->enabled & ~node->asleep) | here;
        branch /= __builtin_popcount(all);
        share += branch * __builtin_popcount(node->done & ~here);
    }
    return share + branch;
}

/* What was told once is not taken back, and all is told at the end only. */
static double told_share(const struct search *search, double told)
{
    static const double most = 0.999;
    double share = share_done(search);
    share = share > most ? most : share;
    return share > told ? share : told;
}

static bool has_to_stop(struct search *search)
{
    const struct lb_search_options *options = search->options;
    struct lb_search_result *result = search->result;
    if (options->progress != NULL)
        options->progress(options->progress_arg, result);
    if (options->void_from_now != NULL && *options->void_from_now)
        return true;
    if (result->violated != 0 && !options->all) /* whatever else would have ended it now */
        return true;
    result->interrupted = options->interrupt != NULL && atomic_load(options->interrupt) != 0;
    result->timed_out = options->deadline_ns != 0 && lb_now_ns() >= options->deadline_ns;
    return result->interrupted || result->timed_out || result->differs ||
           (options->max_schedules > 0 && result->n_schedules >= options->max_schedules);
}

/* Makes the moves of the path again and then the one of the node at its end, until they answer as
 * wanted. Returns as extend() does; 2: has to stop, or given up, and the path ends behind the move
 * that did not answer so. */
static int go_back(struct search *search, struct lb_error *err)
{
    struct lb_search_result *result = search->result;
    size_t at = 0;
    for (unsigned i = 0; i < LB_MAX_REPLAYS; i++) {
        int r = run_path_once(search, &at, err);
        if (r == 0) {
            at = search->n;
            r = extend(search, err);
            if (r < 2)
                return r;
        }
        result->n_repeated++;
        r = r < 0 ? r : search->system->end(search->arg, LB_END_PRUNED, 0, err);
        if (r < 0)
            return r;
        if (has_to_stop(search))
            return 2;
    }
    search->n = at + 1;
    copy_path(search, search->n, &result->differing);
    result->n_unreached++;
    return 2;
}

/* --- depth first --- */

/* Makes the move of the node at the end of the path some times more, if the engine had a choice. */
static int look_for_answers(struct search *search, struct lb_error *err)
{
    struct node *node = &search->nodes[search->n];
    unsigned most = search->options->choice_replays;
    for (unsigned i = 0; node->is_choice && node->n_made < most && i < most; i++) {
        size_t at;
        struct lb_moved moved;
        int r = run_path_once(search, &at, err);
        if (r == 0 && (r = make_move(search, search->n, true, &moved, err)) == 0)
            note_answer(search, search->n, moved.answer);
        search->result->n_repeated++;
        r = r < 0 ? r : search->system->end(search->arg, LB_END_PRUNED, 0, err);
        if (r < 0)
            return r;
        if (has_to_stop(search))
            return 0;
    }
    return 0;
}

/* Goes back to the deepest node with something left to explore: another answer, another move.
 * Returns 1, 0 if there is none, or an error. */
static int backtrack(struct search *search, struct lb_error *err)
{
    while (search->n > 0) {
        struct node *node = &search->nodes[--search->n];
        int r = look_for_answers(search, err);
        if (r < 0)
            return r;
        if (++node->n_explored < node->n_answers) {
            search->result->n_others++;
            return 1;
        }
        node->done |= 1u << node->move;
        unsigned move = choose(search, search->n);
        if (move < LB_MOVES) {
            set_move(search, move);
            return 1;
        }
    }
    return 0;
}

/* What the search knows of the state beside the system: who waits for what, and what others have
 * done since a try began that is still going on. */
static void mix_search(const struct search *search, struct lb_state *state)
{
    const struct node *node = &search->nodes[search->n];
    lb_visited_mix(state->digest, node->waiting);
    lb_visited_mix(state->digest, node->moved);
    for (unsigned w = 0; w < LB_MAX_WORKERS; w++) {
        uint64_t since = 0;
        if (has(node->waiting, w))
            lb_visited_mix(state->digest, lb_footprint_digest(&node->waits_for[w]));
        if (!has(state->is_trying, w))
            continue;
        for (size_t i = state->try_first[w]; i < search->n; i++) {
            const struct node *before = &search->nodes[i];
            uint64_t one = lb_footprint_digest(&before->touched[before->move]);
            bool is_new = before->move != w;
            for (size_t k = state->try_first[w]; k < i && is_new; k++)
                is_new =
                    search->nodes[k].move == w ||
                    lb_footprint_digest(&search->nodes[k].touched[search->nodes[k].move]) != one;
            since += is_new ? one * UINT64_C(0x9e3779b97f4a7c15) : 0; /* a set has no order */
        }
        lb_visited_mix(state->digest, since);
    }
}

/* Is there nothing left to explore at the node at the end of the path, since its state was met
 * before? 1, 0, or an error. What was explored from it then need not be again. */
static int recall(struct search *search, struct lb_error *err)
{
    const struct lb_search_options *options = search->options;
    struct node *node = &search->nodes[search->n];
    struct lb_state state = {.is_known = false};
    if (!options->states || !is_reduced(search) || search->n == 0)
        return 0;
    int r = search->system->state(search->arg, &state, err);
    if (r < 0 || !state.is_known)
        return r;
    mix_search(search, &state);
    uint32_t *asleep, now = node->asleep & node->enabled;
    if (!lb_visited_find(&search->visited, state.digest, now, &asleep))
        return 0;
    uint32_t left = *asleep & ~now, explored = node->enabled & ~*asleep;
    *asleep &= now;
    if (left == 0) {
        search->result->n_same++;
        return 1;
    }
    static const struct lb_footprint all = {
        .reads = LB_TOUCHES_ALL, .writes = LB_TOUCHES_ALL, .commits = LB_TOUCHES_ALL};
    for (unsigned move = 0; move < LB_MOVES; move++)
        if (has(explored & ~node->asleep, move)) {
            node->done |= 1u << move;
            node->touched[move] = all; /* what it was is not known here */
        }
    return 0;
}

/* Runs on from the end of the path, always with the first choice, until the schedule ends. */
static int run_on(struct search *search, struct lb_error *err)
{
    for (;;) {
        enum lb_ending ending;
        if (!look_around(search, &ending))
            return end_schedule(search, ending, err);
        if (is_over(search))
            return end_schedule(search, LB_END_PRUNED, err);
        int same = recall(search, err);
        if (same != 0)
            return same < 0 ? same : end_schedule(search, LB_END_PRUNED, err);
        unsigned move = choose(search, search->n);
        if (move == LB_MOVES) {
            search->result->n_asleep++;
            return end_schedule(search, LB_END_PRUNED, err);
        }
        set_move(search, move);
        int r = extend(search, err);
        if (r < 0)
            return r;
        if (r > 0)
            return end_schedule(search, LB_END_PRUNED, err);
    }
}

static int search_all(struct search *search, struct lb_error *err)
{
    search->nodes[0] = (struct node){0};
    int r = search->system->reset(search->arg, err);
    if (r == 0)
        r = run_on(search, err);
    while (r >= 0) {
        struct lb_search_result *result = search->result;
        result->share = told_share(search, result->share);
        if (has_to_stop(search))
            return 0;
        r = backtrack(search, err);
        if (r < 0 || has_to_stop(search))
            return r < 0 ? r : 0;
        if (r == 0) {
            result->complete = !result->too_long && result->n_unreached == 0;
            result->share = 1;
            return 0;
        }
        r = go_back(search, err);
        if (r == 0)
            r = run_on(search, err);
        else if (r == 1)
            r = end_schedule(search, LB_END_PRUNED, err);
    }
    return r;
}

/* --- random --- */

/* The enabled move of the highest priority. Deaths and clock steps have priorities of their own. */
static unsigned highest(uint32_t enabled, const uint64_t *priority)
{
    unsigned best = LB_MOVES;
    for (unsigned move = 0; move < LB_MOVES; move++)
        if (has(enabled, move) && (best == LB_MOVES || priority[move] > priority[best]))
            best = move;
    return best;
}

static int search_one_random(struct search *search, size_t guess, struct lb_error *err)
{
    enum { MAX_DEPTH = 16 };
    uint64_t priority[LB_MOVES];
    size_t change[MAX_DEPTH];
    unsigned depth = search->options->depth < MAX_DEPTH ? search->options->depth : MAX_DEPTH;
    for (unsigned i = 0; i < LB_MOVES; i++)
        priority[i] = depth + lb_random_below(&search->random, UINT64_C(1) << 40);
    for (unsigned i = 1; i < depth; i++)
        change[i] = lb_random_below(&search->random, guess > 0 ? guess : 1);
    search->n = 0;
    search->nodes[0] = (struct node){0};
    int r = search->system->reset(search->arg, err);
    while (r == 0) {
        enum lb_ending ending;
        if (!look_around(search, &ending))
            return end_schedule(search, ending, err);
        uint32_t enabled = search->nodes[search->n].enabled;
        unsigned move = highest(enabled, priority);
        for (unsigned i = 1; i < depth; i++)
            if (change[i] == search->n)
                priority[move] = depth - i;
        set_move(search, highest(enabled, priority));
        r = extend(search, err);
    }
    return r;
}

static int search_random(struct search *search, struct lb_error *err)
{
    int r = 0;
    for (uint64_t i = 0; i < search->options->random && r >= 0; i++) {
        r = search_one_random(search, search->result->longest, err);
        search->result->share = (double)(i + 1) / (double)search->options->random;
        if (r >= 0 && has_to_stop(search))
            return 0;
    }
    return r < 0 ? r : 0;
}

int lb_search(const struct lb_system *system, void *arg, const struct lb_search_options *options,
              struct lb_search_result *ret, struct lb_error *err)
{
    struct search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    *ret = (struct lb_search_result){0};
    search->system = system;
    search->arg = arg;
    search->options = options;
    search->result = ret;
    search->max_length = options->max_length > 0 && options->max_length < LB_MAX_LENGTH
                             ? options->max_length
                             : LB_MAX_LENGTH;
    lb_random_init(&search->random, options->seed, 0);
    int r = options->random > 0 ? search_random(search, err) : search_all(search, err);
    lb_visited_free(&search->visited);
    free(search);
    return r;
}

/* --- replay --- */

static int replay(struct search *search, const struct lb_schedule *schedule, uint64_t *answers,
                  struct lb_error *err)
{
    const struct lb_system *system = search->system;
    struct lb_error ignored;
    int r = system->reset(search->arg, err);
    for (size_t i = 0; r == 0 && i < schedule->n; i++) {
        if (!has(system->enabled(search->arg), schedule->moves[i])) {
            system->end(search->arg, LB_END_PRUNED, 0, &ignored);
            return lb_fail(err, LB_E_USAGE, "move %zu of the schedule cannot be made: %s", i + 1,
                           schedule->moves[i] == LB_MOVE_CLOCK ? "the clock is not stepped"
                           : schedule->moves[i] >= LB_MOVE_CUT
                               ? "the worker is not before a commit"
                               : "the worker is blocked, or has finished");
        }
        set_move(search, schedule->moves[i]);
        r = extend(search, err);
        if (r >= 0 && answers != NULL)
            answers[i] = search->nodes[i].answers[0];
    }
    enum lb_ending ending = LB_END_CUT;
    if (r == 0)
        look_around(search, &ending);
    return r < 0 ? r : system->end(search->arg, ending, search->nodes[search->n].waiting, err);
}

int lb_search_replay(const struct lb_system *system, void *arg, const struct lb_schedule *schedule,
                     uint64_t *answers, struct lb_error *err)
{
    static const struct lb_search_options options = {.unreduced = true, .preemptions = -1};
    struct lb_search_result ignored = {0};
    struct search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    search->system = system;
    search->arg = arg;
    search->options = &options;
    search->result = &ignored;
    search->max_length = LB_MAX_LENGTH;
    int r = replay(search, schedule, answers, err);
    free(search);
    return r;
}
