/* Which moves have to be explored from a state: source sets (Abdulla, Aronis, Jonsson and Sagonas
 * 2014, "Optimal Dynamic Partial Order Reduction", algorithm 1).
 *
 * One move is explored from a state at first. A move that depends on an earlier one, with nothing
 * in between that orders the two, could come before it: the two race. Then a move that begins the
 * other order is wanted at the state before the earlier one. Sleep sets alone would begin all
 * orders, and give most of them up later.
 *
 * This holds for moves that can be made sooner or later in each order. So all moves are wanted
 * where a worker may die, where a commit may be cut, where the clock may move on, on the way to a
 * choice of the engine, and within a try that was given up. A refused try that changed nothing is
 * no part of the order: the node behind it stands for the node before it. Nor is it in the history:
 * races that only the history shows are noted at the end of the schedule, for the other moves.
 */
#include "path.h"

static size_t actor_of(unsigned move)
{
    int worker = lb_move_worker(move);
    return worker >= 0 ? (size_t)worker : LB_MAX_WORKERS;
}

static size_t actor_at(const struct lb_path *path, size_t at)
{
    return actor_of(path->nodes[at].move);
}

static bool happens_before(const struct lb_path *path, size_t a, size_t b)
{
    return path->nodes[b].before[actor_at(path, a)] > a;
}

/* The node that explores what is left of the node at `at`. */
static struct lb_node *in_charge(struct lb_path *path, size_t at)
{
    while (path->nodes[at].is_covered)
        at = path->nodes[at].void_until;
    return &path->nodes[at];
}

void lb_sources_want_all(struct lb_path *path, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        in_charge(path, i)->wanted = UINT32_MAX;
}

/* The move behind which the move at `at` became possible; `at`: there is none. */
static size_t find_enabler(const struct lb_path *path, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if (!lb_has(path->nodes[i].enabled, path->nodes[at].move))
            return i;
    return at;
}

/* The moves that can be the first ones if `last` comes before `first`: of those behind `first` that
 * need not come after it, the ones that come after no other. */
static uint32_t find_initials(const struct lb_path *path, size_t first, size_t last)
{
    size_t begins[LB_ACTORS]; /* of each actor, the number of its first one of these moves */
    uint32_t initials = 0;
    for (size_t actor = 0; actor < LB_ACTORS; actor++)
        begins[actor] = SIZE_MAX;
    for (size_t i = first + 1; i <= last; i++) {
        const struct lb_node *node = &path->nodes[i];
        size_t actor = actor_of(node->move);
        if (node->void_until != 0 || begins[actor] != SIZE_MAX ||
            (i < last && happens_before(path, first, i)))
            continue;
        bool is_initial = true;
        for (size_t other = 0; other < LB_ACTORS; other++)
            is_initial = is_initial && (other == actor || node->before[other] <= begins[other]);
        begins[actor] = i;
        if (is_initial)
            initials |= 1u << node->move;
    }
    return initials;
}

/* The move at `last` could come before the one at `first`. Within a try that changed nothing, more
 * of the moves behind it may have to come after it: each that can be the first one is wanted. */
static void reverse(struct lb_path *path, size_t first, size_t last)
{
    bool is_void = path->nodes[first].void_until != 0;
    struct lb_node *node = in_charge(path, first);
    uint32_t initials = find_initials(path, first, last);
    if (!is_void && (initials & (node->wanted | node->asleep)) != 0)
        return;
    uint32_t possible = initials & node->enabled;
    unsigned move = path->nodes[last].move;
    bool waits = move < LB_MAX_WORKERS && initials == 1u << move && lb_has(node->moved, move);
    if (possible != 0)
        node->wanted |= is_void ? possible : possible & -possible;
    else if (!waits)
        node->wanted = UINT32_MAX;
}

/* The history shows which of the two came first. */
static bool is_in_history(const struct lb_path *path, size_t earlier, size_t later)
{
    const struct lb_node *first = &path->nodes[earlier], *last = &path->nodes[later];
    const struct lb_footprint *a = &first->touched[first->move], *b = &last->touched[last->move];
    return (a->begins & b->ends) != 0 || (a->ends & b->begins) != 0;
}

/* One of the two can change the effect of the other, or was hindered by it: then it only read. */
static bool is_in_effect(const struct lb_path *path, size_t earlier, size_t later)
{
    const struct lb_node *first = &path->nodes[earlier], *last = &path->nodes[later];
    const struct lb_footprint *a = &first->touched[first->move], *b = &last->touched[last->move];
    return (a->blocks && b->blocks) || lb_footprint_conflicts(a, b) || lb_footprint_hinders(a, b);
}

enum races {
    RACES_IN_EFFECT,
    RACES_IN_HISTORY, /* the rest */
    RACES_OF_UNSEEN,  /* all, of a move that the history does not show */
    RACES_NONE
};

/* Computes what comes before the move at `at`, and reverses its races of this kind: earlier moves
 * of others that it depends on, unless a move between them comes after the one and before the
 * other. It comes after such a move in each order of this schedule's moves. Moves of a try that
 * changed nothing bring no others into order: the schedule without them is the same. True if
 * only the history shows some race. */
static bool note(struct lb_path *path, size_t at, enum races which)
{
    struct lb_node *node = &path->nodes[at];
    size_t races[LB_MAX_LENGTH], n_races = 0, enabler = find_enabler(path, at);
    bool has_history = false;
    for (size_t actor = 0; actor < LB_ACTORS; actor++)
        node->before[actor] = 0;
    for (size_t i = at; i-- > 0;) {
        const struct lb_node *earlier = &path->nodes[i];
        if (earlier->is_covered || happens_before(path, i, at))
            continue;
        bool is_own = actor_at(path, i) == actor_at(path, at),
             is_real = (earlier->void_until == 0 && i == enabler) || is_in_effect(path, i, at),
             is_told = which != RACES_OF_UNSEEN && is_in_history(path, i, at);
        has_history |= !is_own && !is_real && is_told;
        if (!is_own && which != RACES_NONE &&
            (which == RACES_IN_HISTORY ? !is_real && is_told : is_real))
            races[n_races++] = i;
        bool is_after = earlier->void_until == 0 && (is_own || is_real || is_told);
        for (size_t actor = 0; actor < LB_ACTORS && is_after; actor++)
            if (node->before[actor] < earlier->before[actor])
                node->before[actor] = earlier->before[actor];
    }
    node->before[actor_of(node->move)] = at + 1;
    for (size_t i = 0; i < n_races; i++)
        reverse(path, races[i], at);
    return has_history;
}

void lb_sources_note(struct lb_path *path, size_t at)
{
    path->nodes[at].owes_history = note(path, at, RACES_IN_EFFECT);
}

void lb_sources_note_void(struct lb_path *path, size_t first, size_t last, unsigned worker,
                          bool is_shown)
{
    for (size_t at = first; at <= last; at++)
        if (actor_at(path, at) == worker)
            note(path, at, is_shown ? RACES_IN_HISTORY : RACES_OF_UNSEEN);
}

void lb_sources_note_again(struct lb_path *path, size_t at)
{
    note(path, at, RACES_NONE);
}

void lb_sources_note_history(struct lb_path *path)
{
    for (size_t at = 0; at < path->n; at++)
        if (path->nodes[at].owes_history && path->nodes[at].void_until == 0) {
            path->nodes[at].owes_history = false;
            note(path, at, RACES_IN_HISTORY);
        }
}
