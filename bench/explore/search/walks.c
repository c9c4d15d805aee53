/* Schedules one by one, chosen by chance or because something is likely to go wrong: see search.h.
 */
#include "path.h"

/* --- random --- */

/* The enabled move of the highest priority. Deaths and clock steps have priorities of their own. */
static unsigned highest(uint32_t enabled, const uint64_t *priority)
{
    unsigned best = LB_MOVES;
    for (unsigned move = 0; move < LB_MOVES; move++)
        if (lb_has(enabled, move) && (best == LB_MOVES || priority[move] > priority[best]))
            best = move;
    return best;
}

static int search_one_random(struct lb_path *path, size_t guess, struct lb_error *err)
{
    enum { MAX_DEPTH = 16 };
    uint64_t priority[LB_MOVES];
    size_t change[MAX_DEPTH];
    unsigned depth = path->options->depth < MAX_DEPTH ? path->options->depth : MAX_DEPTH;
    for (unsigned i = 0; i < LB_MOVES; i++)
        priority[i] = depth + lb_random_below(&path->random, UINT64_C(1) << 40);
    for (unsigned i = 1; i < depth; i++)
        change[i] = lb_random_below(&path->random, guess > 0 ? guess : 1);
    path->n = 0;
    path->nodes[0] = (struct lb_node){0};
    int r = path->system->reset(path->arg, err);
    while (r == 0) {
        enum lb_ending ending;
        if (!lb_path_look(path, &ending))
            return lb_path_end(path, ending, err);
        uint32_t enabled = path->nodes[path->n].enabled;
        unsigned move = highest(enabled, priority);
        for (unsigned i = 1; i < depth; i++)
            if (change[i] == path->n)
                priority[move] = depth - i;
        lb_path_set(path, highest(enabled, priority));
        r = lb_path_extend(path, err);
    }
    return r;
}

int lb_walk_random(struct lb_path *path, struct lb_error *err)
{
    int r = 0;
    for (uint64_t i = 0; i < path->options->random && r >= 0; i++) {
        r = search_one_random(path, path->result->longest, err);
        path->result->share = (double)(i + 1) / (double)path->options->random;
        if (r >= 0 && lb_path_has_to_stop(path))
            return 0;
    }
    return r < 0 ? r : 0;
}

/* --- likely --- */

enum { MOST_LIKELY = 100 };

/* One likely schedule: who goes on until when. */
struct turns {
    unsigned worker; /* whose turn it is */
    unsigned most;   /* the first one is stopped after so many moves, if it is not granted
                        something before */
    bool to_the_end; /* the others are not stopped when they are granted something */
    bool is_first, is_over, is_disturbed;
    unsigned n_made; /* in this turn */
    uint32_t holders;
    bool was_stopped; /* the first one, after `most` moves */
    bool has_met;     /* something else than the first worker has moved */
};

static bool ends_turn(struct turns *turns, uint32_t enabled, bool is_granted)
{
    if (!lb_has(enabled, turns->worker))
        return true;
    if (!turns->is_first)
        return is_granted && !turns->to_the_end;
    turns->was_stopped = turns->n_made >= turns->most && !is_granted;
    return turns->n_made >= turns->most || is_granted;
}

/* What happens to a worker that is stopped for the first time; LB_MOVES: nothing. */
static unsigned disturb(struct turns *turns, uint32_t enabled)
{
    static const unsigned kinds[] = {LB_MOVE_DEATH, LB_MOVE_CUT};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && turns->is_first; i++)
        if (lb_has(enabled, kinds[i] + turns->worker)) {
            turns->is_first = false;
            turns->is_disturbed = true;
            return kinds[i] + turns->worker;
        }
    turns->is_first = false;
    return LB_MOVES;
}

static unsigned next_turn(struct turns *turns, uint32_t enabled, uint32_t holders)
{
    bool is_granted = lb_has(holders & ~turns->holders, turns->worker);
    turns->holders = holders;
    turns->is_over = turns->is_over || ends_turn(turns, enabled, is_granted);
    if (!turns->is_over) {
        turns->n_made++;
        return turns->worker;
    }
    unsigned move = disturb(turns, enabled);
    if (move < LB_MOVES)
        return move;
    bool waits = !lb_has(enabled, turns->worker);
    if (lb_has(enabled, LB_MOVE_CLOCK) && (holders != 0 || turns->is_disturbed || waits))
        return LB_MOVE_CLOCK;
    for (unsigned i = 1; i <= LB_MAX_WORKERS; i++) {
        unsigned worker = (turns->worker + i) % LB_MAX_WORKERS;
        if (!lb_has(enabled, worker))
            continue;
        turns->worker = worker;
        turns->is_over = false;
        turns->n_made = 1;
        return worker;
    }
    return (unsigned)__builtin_ctz(enabled); /* nobody is left but who may die, or the clock */
}

static int walk_in_turns(struct lb_path *path, struct turns *turns, struct lb_error *err)
{
    unsigned first = turns->worker;
    path->n = 0;
    path->nodes[0] = (struct lb_node){0};
    int r = path->system->reset(path->arg, err);
    while (r == 0) {
        enum lb_ending ending;
        if (!lb_path_look(path, &ending))
            return lb_path_end(path, ending, err);
        uint32_t enabled = path->nodes[path->n].enabled;
        unsigned move = next_turn(turns, enabled, path->system->holders(path->arg));
        turns->has_met = turns->has_met || move != first;
        lb_path_set(path, move);
        r = lb_path_extend(path, err);
    }
    return r;
}

/* Stops the worker after one move, after two, and so on, until it is granted something or has come
 * to its end before. Returns 1 when that was enough, 0, or an error. */
static int stop_after_each(struct lb_path *path, unsigned worker, bool to_the_end,
                           struct lb_error *err)
{
    struct turns turns = {.was_stopped = true, .has_met = true};
    for (unsigned most = 1; turns.was_stopped && turns.has_met; most++) {
        turns = (struct turns){
            .worker = worker, .most = most, .to_the_end = to_the_end, .is_first = true};
        int r = walk_in_turns(path, &turns, err);
        if (r < 0)
            return r;
        if (lb_path_has_to_stop(path) || path->result->n_schedules >= MOST_LIKELY)
            return 1;
    }
    return turns.has_met ? 0 : 1; /* there is nobody else */
}

int lb_walk_likely(struct lb_path *path, struct lb_error *err)
{
    const uint8_t *kind = path->options->alike;
    int r = path->system->reset(path->arg, err);
    uint32_t enabled = r == 0 ? path->system->enabled(path->arg) : 0;
    for (unsigned i = 0; i < 2 * LB_MAX_WORKERS && r == 0; i++) {
        unsigned worker = i % LB_MAX_WORKERS;
        bool is_same = false;
        for (unsigned before = 0; before < worker && kind != NULL; before++)
            is_same = is_same || (kind[before] == kind[worker] && lb_has(enabled, before));
        if (lb_has(enabled, worker) && !is_same)
            r = stop_after_each(path, worker, i >= LB_MAX_WORKERS, err);
    }
    return r < 0 ? r : 0;
}
