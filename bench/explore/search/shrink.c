/* Schedules as text, and as short as they get.
 *
 * Shrinking keeps a variant if it still violates what the original did. Variants are tried from
 * coarse to fine until none helps: cut the tail, leave one move out, move one move next to another
 * of the same worker. Each is replayed on the real system, so nothing is assumed about moves that a
 * variant makes impossible, or gives another meaning. None is replayed twice, unless the engine had
 * a choice in it, nor one that begins as another did until it could not go on.
 */
#include "search.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lb_schedule_print(const struct lb_schedule *schedule, char *buf, size_t size)
{
    size_t n = 0;
    if (size > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < schedule->n && n + 3 < size; i++) {
        unsigned move = schedule->moves[i];
        if (move == LB_MOVE_CLOCK)
            n += (size_t)snprintf(buf + n, size - n, "t");
        else
            n += (size_t)snprintf(buf + n, size - n, "%s%d",
                                  lb_move_is_death(move) ? "x"
                                  : move >= LB_MOVE_CUT  ? "c"
                                                         : "",
                                  lb_move_worker(move));
    }
}

int lb_schedule_parse(const char *text, struct lb_schedule *ret, struct lb_error *err)
{
    struct lb_schedule schedule = {0};
    for (const char *at = text; *at != '\0'; at++) {
        unsigned base = 0;
        if (schedule.n == LB_MAX_LENGTH)
            return lb_fail(err, LB_E_USAGE, "a schedule has at most %d moves", LB_MAX_LENGTH);
        if (*at == 't') {
            schedule.moves[schedule.n++] = LB_MOVE_CLOCK;
            continue;
        }
        if (*at == 'x' || *at == 'c') {
            base = *at == 'x' ? LB_MOVE_DEATH : LB_MOVE_CUT;
            at++;
        }
        if (*at < '0' || *at >= '0' + LB_MAX_WORKERS)
            return lb_fail(err, LB_E_USAGE,
                           "\"%s\" is not a schedule: a digit is a step of that worker, x and a "
                           "digit its death, t a step of the clock, c and a digit a commit of that "
                           "worker whose answer is lost",
                           text);
        schedule.moves[schedule.n++] = (uint8_t)(base + (unsigned)(*at - '0'));
    }
    *ret = schedule;
    return 0;
}

size_t lb_schedule_switches(const struct lb_schedule *schedule)
{
    size_t n = 0;
    for (size_t i = 1; i < schedule->n; i++)
        n += schedule->moves[i] != schedule->moves[i - 1];
    return n;
}

enum { MOST_TRIED = 4096 };

struct shrinker {
    const struct lb_system *system;
    void *arg;
    int violated;
    const struct lb_search_options *until;
    struct lb_schedule *best;
    uint64_t n_replays;
    uint64_t tried[MOST_TRIED]; /* digests */
    size_t n_tried;
};

enum tried { IN_VAIN, IMPOSSIBLE };

/* Of the first n moves. */
static uint64_t digest_of(const struct lb_schedule *schedule, size_t n, enum tried what)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325) + (uint64_t)what;
    for (size_t i = 0; i < n; i++)
        digest = lb_mix(digest, schedule->moves[i] + UINT64_C(1));
    return digest;
}

static bool is_noted(const struct shrinker *shrinker, uint64_t digest)
{
    for (size_t i = 0; i < shrinker->n_tried; i++)
        if (shrinker->tried[i] == digest)
            return true;
    return false;
}

static bool is_tried(const struct shrinker *shrinker, const struct lb_schedule *variant)
{
    for (size_t n = 1; n <= variant->n; n++)
        if (is_noted(shrinker, digest_of(variant, n, IMPOSSIBLE)))
            return true;
    return is_noted(shrinker, digest_of(variant, variant->n, IN_VAIN));
}

static void note_tried(struct shrinker *shrinker, uint64_t digest)
{
    if (shrinker->n_tried < MOST_TRIED)
        shrinker->tried[shrinker->n_tried++] = digest;
}

static bool is_better(const struct lb_schedule *a, const struct lb_schedule *b)
{
    return a->n != b->n ? a->n < b->n : lb_schedule_switches(a) < lb_schedule_switches(b);
}

/* Keeps the variant if it is better and violates the same. Returns 1 if so, 0, or an error. */
static int try_variant(struct shrinker *shrinker, const struct lb_schedule *variant,
                       struct lb_error *err)
{
    if (!is_better(variant, shrinker->best) || is_tried(shrinker, variant) ||
        (shrinker->until != NULL && lb_search_is_over(shrinker->until)))
        return 0;
    struct lb_replayed replayed = {.wants_left = false};
    shrinker->n_replays++;
    int r = lb_search_replay(shrinker->system, shrinker->arg, variant, &replayed, err);
    if (r < 0 && r != LB_E_USAGE)
        return r;
    if (r < 0 || (r & shrinker->violated) == 0) {
        if (!replayed.is_choice)
            note_tried(shrinker, r < 0 ? digest_of(variant, replayed.n + 1, IMPOSSIBLE)
                                       : digest_of(variant, variant->n, IN_VAIN));
        return 0;
    }
    *shrinker->best = *variant;
    return 1;
}

static void leave_out(struct lb_schedule *schedule, size_t at, size_t n)
{
    memmove(schedule->moves + at, schedule->moves + at + n, schedule->n - at - n);
    schedule->n -= n;
}

static void bring(struct lb_schedule *schedule, size_t from, size_t to)
{
    uint8_t move = schedule->moves[from];
    if (from < to)
        memmove(schedule->moves + from, schedule->moves + from + 1, to - from);
    else
        memmove(schedule->moves + to + 1, schedule->moves + to, from - to);
    schedule->moves[to] = move;
}

/* The shortest beginning that shows it. */
static int cut_tail(struct shrinker *shrinker, struct lb_error *err)
{
    size_t low = 1, high = shrinker->best->n; /* a violation does not go away with more moves */
    while (low < high) {
        struct lb_schedule variant = *shrinker->best;
        variant.n = low + (high - low) / 2;
        int r = try_variant(shrinker, &variant, err);
        if (r < 0)
            return r;
        if (r > 0)
            high = variant.n;
        else
            low = variant.n + 1;
    }
    return 0;
}

static int drop_moves(struct shrinker *shrinker, struct lb_error *err)
{
    int any = 0;
    for (size_t size = shrinker->best->n / 2; size > 0; size /= 2)
        for (size_t at = shrinker->best->n; at-- > 0;) {
            if (at + size > shrinker->best->n)
                continue;
            struct lb_schedule variant = *shrinker->best;
            leave_out(&variant, at, size);
            int r = try_variant(shrinker, &variant, err);
            if (r < 0)
                return r;
            any |= r;
        }
    return any;
}

static int join_moves(struct shrinker *shrinker, struct lb_error *err)
{
    int any = 0;
    for (size_t from = 0; from < shrinker->best->n; from++)
        for (size_t to = 0; to < shrinker->best->n; to++) {
            struct lb_schedule variant = *shrinker->best;
            if (from == to)
                continue;
            bring(&variant, from, to);
            int r = try_variant(shrinker, &variant, err);
            if (r < 0)
                return r;
            any |= r;
        }
    return any;
}

int lb_search_shrink(const struct lb_system *system, void *arg, int violated,
                     const struct lb_search_options *until, struct lb_schedule *schedule,
                     uint64_t *n_replays, struct lb_error *err)
{
    struct shrinker *shrinker = lb_calloc(1, sizeof *shrinker);
    shrinker->system = system;
    shrinker->arg = arg;
    shrinker->violated = violated;
    shrinker->until = until;
    shrinker->best = schedule;
    int r = cut_tail(shrinker, err);
    bool any = true;
    while (r >= 0 && any) {
        any = false;
        if ((r = drop_moves(shrinker, err)) > 0)
            any = true;
        if (r >= 0 && (r = join_moves(shrinker, err)) > 0)
            any = true;
    }
    *n_replays += shrinker->n_replays;
    free(shrinker);
    return r < 0 ? r : 0;
}
