/* Schedules one by one, chosen by chance or because something is likely to go wrong: see search.h.
 */
#include "path.h"

/* Runs one schedule; choose: which of the enabled moves is the next. Returns what its end did, or
 * an error. */
static int walk(struct lb_path *path,
                unsigned (*choose)(void *arg, const struct lb_path *path, uint32_t enabled),
                void *arg, struct lb_error *err)
{
    path->n = 0;
    path->nodes[0] = (struct lb_node){0};
    int r = path->system->reset(path->arg, err);
    while (r == 0) {
        enum lb_ending ending;
        if (!lb_path_look(path, &ending))
            return lb_path_end(path, ending, err);
        if (lb_path_is_over(path))
            return lb_path_end(path, LB_END_PRUNED, err);
        lb_path_set(path, choose(arg, path, path->nodes[path->n].enabled));
        r = lb_path_extend(path, err);
    }
    return r;
}

/* --- random --- */

enum { MAX_DEPTH = 16 };

struct dice {
    uint64_t priority[LB_MOVES];
    size_t change[MAX_DEPTH]; /* places at which the priority drops */
    unsigned depth;
};

/* The enabled move of the highest priority. Deaths and clock steps have priorities of their own. */
static unsigned highest(uint32_t enabled, const uint64_t *priority)
{
    unsigned best = LB_MOVES;
    for (unsigned move = 0; move < LB_MOVES; move++)
        if (lb_has(enabled, move) && (best == LB_MOVES || priority[move] > priority[best]))
            best = move;
    return best;
}

static unsigned choose_by_dice(void *arg, const struct lb_path *path, uint32_t enabled)
{
    struct dice *dice = arg;
    unsigned move = highest(enabled, dice->priority);
    for (unsigned i = 1; i < dice->depth; i++)
        if (dice->change[i] == path->n)
            dice->priority[move] = dice->depth - i;
    return highest(enabled, dice->priority);
}

static int search_one_random(struct lb_path *path, size_t guess, struct lb_error *err)
{
    unsigned wanted = path->options->depth;
    struct dice dice = {.depth = wanted < MAX_DEPTH ? wanted : MAX_DEPTH};
    for (unsigned i = 0; i < LB_MOVES; i++)
        dice.priority[i] = dice.depth + lb_random_below(&path->random, UINT64_C(1) << 40);
    for (unsigned i = 1; i < dice.depth; i++)
        dice.change[i] = lb_random_below(&path->random, guess > 0 ? guess : 1);
    return walk(path, choose_by_dice, &dice, err);
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

enum phase {
    OPENS,   /* one goes before the one that is to be stopped, until it is granted something */
    STOPS,   /* the worker to be stopped makes its moves */
    GOES_ON, /* the others, and then the stopped one, and so in turn */
};

/* One likely schedule: the order of workers, and their stops. */
struct turns {
    unsigned stopped;   /* the worker that is stopped, if it is not granted something before */
    unsigned most;      /* ... after this number of moves */
    bool is_late;       /* time does not pass before the worker is stopped */
    bool spares_opener; /* the fault is for the stopped worker, while the opener holds */
    bool to_the_end;    /* the running worker is not stopped when it is granted something */
    enum phase phase;
    unsigned worker; /* the worker that moves now */
    unsigned n_made; /* in this turn */
    bool is_over, was_offered, is_disturbed;
    uint32_t holders;
    uint32_t served;  /* those others that were granted something meanwhile */
    bool was_stopped; /* after `most` moves */
    bool has_met;     /* something else has moved since */
};

static bool ends_turn(struct turns *turns, uint32_t enabled, bool is_granted)
{
    if (!lb_has(enabled, turns->worker))
        return true;
    if (turns->phase != STOPS)
        return is_granted && (turns->phase == OPENS || !turns->to_the_end);
    turns->was_stopped = turns->n_made >= turns->most && !is_granted;
    return turns->n_made >= turns->most || is_granted;
}

/* The fault for the stopped worker; LB_MOVES: none. */
static unsigned disturb(struct turns *turns, uint32_t enabled)
{
    static const unsigned kinds[] = {LB_MOVE_DEATH, LB_MOVE_CUT};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !turns->was_offered; i++)
        if (lb_has(enabled, kinds[i] + turns->worker)) {
            turns->was_offered = turns->is_disturbed = true;
            return kinds[i] + turns->worker;
        }
    turns->was_offered = true;
    return LB_MOVES;
}

/* tired: bits of the workers that only time can help. After a fault it passes for them. */
static unsigned next_turn(struct turns *turns, uint32_t enabled, uint32_t holders, uint32_t tired)
{
    bool is_granted = lb_has(holders & ~turns->holders, turns->worker);
    turns->holders = holders;
    if (is_granted && turns->phase == GOES_ON)
        turns->served |= 1u << turns->worker;
    bool is_tired = turns->is_disturbed && turns->phase == GOES_ON &&
                    lb_has(tired, turns->worker) && lb_has(enabled, LB_MOVE_CLOCK);
    turns->is_over = turns->is_over || is_tired || ends_turn(turns, enabled, is_granted);
    if (!turns->is_over) {
        turns->n_made++;
        return turns->worker;
    }
    bool is_spared = turns->spares_opener && turns->phase == OPENS;
    unsigned move = is_spared ? LB_MOVES : disturb(turns, enabled);
    if (move < LB_MOVES)
        return move;
    bool is_gone = turns->is_disturbed && turns->worker == turns->stopped;
    bool waits = !is_gone && (is_tired || !lb_has(enabled, turns->worker));
    /* After a fault at once, or once the others wait: a waiter may count from when it looked. The
     * holder that comes again waits behind a dead one of its kind. */
    bool is_awaited = turns->spares_opener && turns->is_disturbed && turns->to_the_end;
    bool is_due =
        (holders != 0 && !is_awaited) || waits || (turns->is_disturbed && !turns->to_the_end);
    is_due = is_due && !(turns->is_late && turns->phase == OPENS);
    if (lb_has(enabled, LB_MOVE_CLOCK) && is_due)
        return LB_MOVE_CLOCK;
    unsigned next = turns->phase == OPENS ? turns->stopped : turns->worker + 1;
    /* The stopped one goes on last: others may have waited for the one before. */
    uint32_t others = enabled & ~turns->served & ~(1u << turns->stopped);
    others = turns->phase == OPENS ? 0 : others;
    for (unsigned i = 0; i < 2 * LB_MAX_WORKERS; i++) {
        unsigned worker = (next + i) % LB_MAX_WORKERS;
        if (!lb_has(i < LB_MAX_WORKERS ? others : enabled, worker))
            continue;
        turns->phase = turns->phase == OPENS && worker == turns->stopped ? STOPS : GOES_ON;
        turns->worker = worker;
        turns->is_over = false;
        turns->n_made = 1;
        return worker;
    }
    return (unsigned)__builtin_ctz(enabled); /* only deaths or the clock are left */
}

static unsigned choose_in_turns(void *arg, const struct lb_path *path, uint32_t enabled)
{
    struct turns *turns = arg;
    uint32_t tired = path->system->tired != NULL ? path->system->tired(path->arg) : 0;
    unsigned move = next_turn(turns, enabled, path->system->holders(path->arg), tired);
    turns->has_met = turns->has_met || (turns->phase != OPENS && move != turns->stopped);
    return move;
}

/* Stops the worker after one move, after two, and so on, until it is granted something or has come
 * to its end before. opener: the first worker to move, or the worker itself. Returns 1 when that
 * was enough, 0, or an error. */
static int stop_after_each(struct lb_path *path, unsigned worker, unsigned opener, bool to_the_end,
                           struct lb_error *err)
{
    const uint8_t *kind = path->options->alike;
    bool has_peer = opener != worker && kind != NULL && kind[opener] == kind[worker];
    struct turns turns = {.was_stopped = true, .has_met = true};
    for (unsigned most = 1; turns.was_stopped && turns.has_met; most++) {
        turns = (struct turns){.stopped = worker,
                               .most = most,
                               .is_late = has_peer,
                               .spares_opener = has_peer && path->options->peer_dies,
                               .to_the_end = to_the_end,
                               .phase = opener == worker ? STOPS : OPENS,
                               .worker = opener};
        int r = walk(path, choose_in_turns, &turns, err);
        if (r < 0)
            return r;
        if (lb_path_has_to_stop(path) || path->result->n_schedules >= MOST_LIKELY)
            return 1;
    }
    return turns.has_met ? 0 : 1; /* there is no other worker */
}

/* The first worker of its kind that can begin. */
static bool stands_for_its_kind(const uint8_t *kind, uint32_t enabled, unsigned worker)
{
    for (unsigned before = 0; before < worker && kind != NULL; before++)
        if (kind[before] == kind[worker] && lb_has(enabled, before))
            return false;
    return lb_has(enabled, worker);
}

/* Each kind is stopped so twice: the others are granted something meanwhile, or come to their ends.
 * Then those of other kinds than the first worker are, while that has what it asked for: who
 * rescues, say, has nothing to do before. So is the second of the first worker's kind, where
 * several may hold: the first one's lease may end meanwhile. And so it is where it may die as the
 * first one waits: that one comes again, behind a dead waiter. */
int lb_walk_likely(struct lb_path *path, struct lb_error *err)
{
    const uint8_t *kind = path->options->alike;
    int r = path->system->reset(path->arg, err);
    uint32_t enabled = r == 0 ? path->system->enabled(path->arg) : 0;
    unsigned first = enabled != 0 ? (unsigned)__builtin_ctz(enabled) : LB_MOVES;
    for (unsigned i = 0; i < 4 * LB_MAX_WORKERS && r == 0; i++) {
        unsigned worker = i % LB_MAX_WORKERS;
        bool has_opener = i >= 2 * LB_MAX_WORKERS, to_the_end = i / LB_MAX_WORKERS % 2 == 1;
        bool is_other = worker != first && kind != NULL;
        bool is_second = (path->options->several_hold || path->options->peer_dies) && has_opener &&
                         worker == first + 1;
        if (is_second ? lb_has(enabled, worker)
                      : stands_for_its_kind(kind, enabled, worker) && (is_other || !has_opener))
            r = stop_after_each(path, worker, has_opener ? first : worker, to_the_end, err);
    }
    return r < 0 ? r : 0;
}
