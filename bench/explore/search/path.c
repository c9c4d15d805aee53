/* A schedule as it is being made: see path.h. */
#include "path.h"

#include "clock.h"

#include <string.h>

#define DEATHS (((1u << LB_MAX_WORKERS) - 1) << LB_MOVE_DEATH)
#define FAULTS (~((1u << LB_MAX_WORKERS) - 1)) /* and the clock */

/* Are moves left out that come to the same as others? */
static bool is_reduced(const struct lb_path *path)
{
    const struct lb_search_options *options = path->options;
    return !options->unreduced && !options->likely && options->preemptions < 0 &&
           options->random == 0;
}

/* Of the workers of a kind that have not begun, the first one may. */
static uint32_t in_order(const struct lb_path *path, uint32_t moved, uint32_t enabled)
{
    const uint8_t *alike = path->options->alike;
    if (alike == NULL || !is_reduced(path))
        return enabled;
    for (unsigned w = 1; w < LB_MAX_WORKERS; w++)
        for (unsigned before = 0; before < w; before++)
            if (alike[before] == alike[w] && !lb_has(moved, w) && !lb_has(moved, before) &&
                lb_has(enabled, before))
                enabled &= ~(1u << w);
    return enabled;
}

/* --- one move --- */

/* True if, since node `first`, another move could have changed the worker's answer. */
static bool is_outdated(const struct lb_path *path, size_t first, size_t last, unsigned worker,
                        const struct lb_footprint *touched)
{
    for (size_t i = first; i <= last; i++) {
        const struct lb_node *node = &path->nodes[i];
        if (node->move != worker && lb_footprint_conflicts(&node->touched[node->move], touched))
            return true;
    }
    return false;
}

/* A try of the worker was refused in the move at `last`. false: give this schedule up. */
static bool take_refusal(struct lb_path *path, size_t last, unsigned worker,
                         const struct lb_refused *refused)
{
    struct lb_node *child = &path->nodes[last + 1], *start = &path->nodes[refused->first];
    bool is_void = lb_refused_is_void(refused);
    child->eager |= 1u << worker;
    if (is_void && !refused->is_own && is_reduced(path)) {
        path->result->n_void++; /* as without it */
        start->restless |= 1u << worker;
        lb_sources_want_all(path, refused->first, last);
        return false;
    }
    if (refused->trace == LB_TRACE_CHANGES) /* its own change may be what the next try needs */
        return true;
    if (!refused->is_own && is_outdated(path, refused->first, last, worker, &refused->touched))
        return true;
    if (is_void && refused->is_own) {
        /* The state is that of `start`, but for the worker, which waits. A worker that waited then
         * still does; one refused because of this try does not. */
        child->waiting = start->waiting;
        memcpy(child->waits_for, start->waits_for, sizeof child->waits_for);
    }
    child->waiting |= 1u << worker;
    child->waits_for[worker] = refused->touched;
    if (refused->first == last) /* a try that ends where it begins would be refused again */
        child->waits_for[worker].begins = 0;
    if (!is_void || !is_reduced(path))
        return true;
    child->asleep = (start->asleep | start->done) & ~(1u << worker);
    child->restless = start->restless & child->asleep;
    memcpy(child->touched, start->touched, sizeof child->touched);
    uint32_t made = start->done | 1u << start->move;
    child->wanted = start->wanted == UINT32_MAX ? UINT32_MAX : start->wanted & ~made;
    start->wanted = made;
    start->is_covered = true;
    for (size_t i = refused->first; i <= last; i++) {
        path->nodes[i].void_until = last + 1;
        path->nodes[i].wanted |= i > refused->first ? child->asleep : 0;
    }
    lb_sources_note_void(path, refused->first, last, worker, refused->is_shown);
    return true;
}

/* True if a try that begins behind the move may come to something else, or be later in the
 * history. */
static bool wakes(const struct lb_footprint *moved, const struct lb_footprint *refused)
{
    return (moved->ends & refused->begins) != 0 || lb_footprint_conflicts(moved, refused);
}

/* Fills the node behind the one at `last`; `moved` is the effect of its move. */
static bool make_child(struct lb_path *path, size_t last, const struct lb_moved *moved)
{
    struct lb_node *node = &path->nodes[last], *child = &path->nodes[last + 1];
    unsigned move = node->move;
    int worker = lb_move_worker(move);
    if (node->n_explored == 0)
        node->touched[move] = moved->touched;
    else /* whatever it answers */
        lb_footprint_add(&node->touched[move], &moved->touched);
    uint32_t mover = worker >= 0 ? 1u << worker : 0;
    child->moved = node->moved | mover;
    child->eager = node->eager & ~mover;
    child->waiting = node->waiting;
    child->enabled = 0;
    child->asleep = child->done = child->restless = child->wanted = 0;
    child->is_covered = child->owes_history = false;
    child->void_until = 0;
    child->extent = (struct lb_extent_node){.n = 0};
    memcpy(child->waits_for, node->waits_for, sizeof child->waits_for);
    for (unsigned w = 0; w < LB_MAX_WORKERS; w++)
        if (lb_has(child->waiting, w) &&
            ((int)w == worker || wakes(&moved->touched, &node->waits_for[w])))
            child->waiting &= ~(1u << w);
    if (is_reduced(path)) {
        lb_sources_note(path, last);
        uint32_t candidates = node->asleep | node->done;
        for (unsigned m = 0; m < LB_MOVES; m++)
            if (lb_has(candidates, m) && m != move && lb_move_worker(m) != worker &&
                !lb_footprint_dependent(&node->touched[m], &node->touched[move])) {
                child->asleep |= 1u << m;
                child->touched[m] = node->touched[m];
            }
        child->restless = node->restless & child->asleep;
    }
    bool go_on = true;
    for (unsigned w = 0; w < LB_MAX_WORKERS; w++)
        if (moved->refused[w].is_refused)
            go_on = take_refusal(path, last, w, &moved->refused[w]) && go_on;
    for (size_t i = 0; i <= last && !go_on; i++)
        if (path->nodes[i].is_covered && path->nodes[i].void_until == last + 1) {
            path->nodes[i].is_covered = false; /* nothing is explored behind it */
            path->nodes[i].wanted = UINT32_MAX;
        }
    return go_on;
}

/* Did the engine choose on the way there, or in that move? */
static bool had_choice(const struct lb_path *path, size_t at)
{
    for (size_t i = 0; i <= at; i++)
        if (path->nodes[i].is_choice)
            return true;
    return false;
}

void lb_path_leave(struct lb_path *path)
{
    const struct lb_node *child = &path->nodes[path->n];
    for (size_t i = 0; i < path->n; i++) {
        struct lb_node *start = &path->nodes[i];
        if (!start->is_covered || start->void_until != path->n)
            continue;
        start->is_covered = false;
        for (unsigned m = 0; m < LB_MOVES; m++)
            if (lb_has(child->done & ~start->done, m))
                start->touched[m] = child->touched[m];
        start->done |= child->done;
    }
}

void lb_path_set(struct lb_path *path, unsigned move)
{
    struct lb_node *node = &path->nodes[path->n];
    for (size_t i = 0; i <= path->n; i++)
        if (path->nodes[i].void_until > path->n) { /* another move ends the try, or none */
            path->nodes[i].void_until = 0;
            path->nodes[i].is_covered = false;
            if (i < path->n)
                lb_sources_note_again(path, i);
        }
    node->wanted |= 1u << move;
    node->move = (uint8_t)move;
    node->n_answers = node->n_explored = 0;
    node->is_choice = false;
    node->n_made = 0;
    node->extent.begun = path->result->n_moves;
}

int lb_path_make(struct lb_path *path, size_t at, bool is_again, struct lb_moved *ret,
                 struct lb_error *err)
{
    struct lb_node *node = &path->nodes[at];
    path->result->n_moves++;
    *ret = (struct lb_moved){.is_again = is_again};
    int r = path->system->move(path->arg, node->move, ret, err);
    node->n_made++;
    if (ret->is_choice && !node->is_choice)
        path->result->n_choices++;
    node->is_choice = node->is_choice || ret->is_choice;
    if (ret->is_choice)
        lb_sources_want_all(path, 0, at);
    if (node->n_answers == 0)
        node->told = ret->told;
    else if (r == 0 && ret->answer == node->answers[0] && ret->told != node->told)
        path->result->is_random = path->result->is_random || !had_choice(path, at);
    return r;
}

void lb_path_note(struct lb_path *path, size_t at, uint64_t answer)
{
    struct lb_node *node = &path->nodes[at];
    for (unsigned i = 0; i < node->n_answers; i++)
        if (node->answers[i] == answer)
            return;
    if (node->n_answers == LB_MAX_ANSWERS) {
        path->result->differs = true;
        lb_path_copy(path, at + 1, &path->result->differing);
        return;
    }
    if (node->n_answers > 0)
        lb_sources_want_all(path, 0, at);
    node->answers[node->n_answers++] = answer;
}

int lb_path_extend(struct lb_path *path, struct lb_error *err)
{
    struct lb_node *node = &path->nodes[path->n];
    struct lb_moved moved;
    int r = lb_path_make(path, path->n, !is_reduced(path), &moved, err);
    if (r < 0)
        return r;
    lb_path_note(path, path->n, moved.answer);
    if (moved.answer != lb_path_wanted(node))
        return 2;
    bool go_on = make_child(path, path->n, &moved);
    path->n++;
    return go_on ? 0 : 1;
}

/* --- where it stands --- */

int lb_path_preemptions(const struct lb_path *path, size_t at, unsigned move)
{
    const struct lb_node *node = &path->nodes[at];
    if (at == 0)
        return 0;
    unsigned before = path->nodes[at - 1].move;
    bool is_switch = move != before && before < LB_MAX_WORKERS && lb_has(node->enabled, before);
    return node->preemptions + is_switch;
}

bool lb_path_look(struct lb_path *path, enum lb_ending *ret_end)
{
    struct lb_node *node = &path->nodes[path->n];
    uint32_t possible = path->system->enabled(path->arg);
    node->enabled = possible & ~node->waiting; /* a waiting worker may still die */
    node->enabled = in_order(path, node->moved, node->enabled);
    if ((node->enabled & ~node->asleep & ~DEATHS) == 0) /* the rest may end in vain */
        node->asleep &= ~node->restless;
    if (!is_reduced(path) || (node->enabled & FAULTS) != 0)
        lb_sources_want_all(path, path->n > 0 ? path->n - 1 : 0, path->n);
    node->preemptions =
        path->n == 0 ? 0 : lb_path_preemptions(path, path->n - 1, path->nodes[path->n - 1].move);
    if ((node->enabled & ~DEATHS) == 0) {
        *ret_end = path->system->finished(path->arg) ? LB_END_DONE : LB_END_STUCK;
        return false;
    }
    if (path->n >= path->max_length) {
        path->result->too_long = true;
        *ret_end = LB_END_CUT;
        return false;
    }
    return true;
}

void lb_path_copy(const struct lb_path *path, size_t n, struct lb_schedule *ret)
{
    ret->n = n;
    for (size_t i = 0; i < n; i++)
        ret->moves[i] = path->nodes[i].move;
}

int lb_path_end(struct lb_path *path, enum lb_ending ending, struct lb_error *err)
{
    struct lb_search_result *result = path->result;
    const struct lb_node *last = &path->nodes[path->n];
    lb_sources_note_history(path);
    int r = path->system->end(path->arg, ending, last->waiting, err);
    if (r < 0)
        return r;
    if (ending != LB_END_PRUNED)
        result->n_schedules++;
    if (ending == LB_END_STUCK)
        result->n_stuck++;
    if (path->options->audit != NULL && (ending == LB_END_DONE || ending == LB_END_STUCK))
        lb_audit_offer(path->options->audit, path, is_reduced(path));
    if (path->n > result->longest)
        result->longest = path->n;
    for (unsigned bit = 0; bit < LB_VIOLATIONS; bit++)
        if ((r & ~result->violated & 1 << bit) != 0)
            lb_path_copy(path, path->n, &result->first[bit]);
    if (r > 0 && result->violated == 0)
        result->violated_ns = lb_now_ns();
    result->violated |= r;
    return r;
}

bool lb_search_is_over(const struct lb_search_options *options)
{
    return (options->interrupt != NULL && atomic_load(options->interrupt) != 0) ||
           (options->deadline_ns != 0 && lb_now_ns() >= options->deadline_ns);
}

/* The first schedule may end a little later, but a signal ends it, too. */
bool lb_path_is_over(const struct lb_path *path)
{
    static const uint64_t late_ns = UINT64_C(1000000000);
    struct lb_search_options options = *path->options;
    if (options.deadline_ns != 0 && path->result->n_schedules == 0)
        options.deadline_ns += late_ns;
    return lb_search_is_over(&options);
}

bool lb_path_has_to_stop(struct lb_path *path)
{
    const struct lb_search_options *options = path->options;
    struct lb_search_result *result = path->result;
    if (options->progress != NULL)
        options->progress(options->progress_arg, result);
    if (options->void_from_now != NULL && *options->void_from_now)
        return true;
    if (options->enough != NULL && *options->enough)
        return true;
    if (result->violated != 0 && !options->all) /* even if another reason would have ended it now */
        return true;
    result->interrupted = options->interrupt != NULL && atomic_load(options->interrupt) != 0;
    result->timed_out = (options->deadline_ns != 0 && lb_now_ns() >= options->deadline_ns) ||
                        (options->patience_ns != 0 && result->violated != 0 &&
                         lb_now_ns() - result->violated_ns >= options->patience_ns);
    return result->interrupted || result->timed_out || result->differs ||
           (options->max_schedules > 0 && result->n_schedules >= options->max_schedules);
}
