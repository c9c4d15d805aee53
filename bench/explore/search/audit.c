/* Schedules that were left out, and are run all the same: see search.h.
 *
 * A schedule that was run stands for those that come of it by swapping two neighbouring moves that
 * are independent, and by renaming workers that are alike. A sample of such pairs is kept while the
 * search goes on. Both schedules of a pair must then come to the same: see audit_run.c.
 */
#include "path.h"

/* May the moves at i and i + 1 be made in the other order? What the second one would touch if it
 * came first is not known yet: see claims_the_same(). */
static bool can_swap(const struct lb_path *path, size_t i)
{
    const struct lb_node *a = &path->nodes[i], *b = &path->nodes[i + 1];
    return a->move < LB_MAX_WORKERS && b->move < LB_MAX_WORKERS && a->move != b->move &&
           lb_has(a->enabled, b->move) && !a->is_choice && !b->is_choice &&
           !lb_footprint_dependent(&a->touched[a->move], &b->touched[b->move]);
}

/* Where two moves can be swapped, from a random place on; path->n: nowhere. */
static size_t find_swap(const struct lb_path *path, struct lb_random *random)
{
    size_t n = path->n - 1, start = lb_random_below(random, n);
    for (size_t k = 0; k < n; k++)
        if (can_swap(path, (start + k) % n))
            return (start + k) % n;
    return path->n;
}

/* Two workers that are alike, and have both begun. */
static bool find_alike(const struct lb_path *path, struct lb_random *random, unsigned *ret_a,
                       unsigned *ret_b)
{
    const uint8_t *alike = path->options->alike;
    uint32_t moved = path->nodes[path->n].moved;
    unsigned start = (unsigned)lb_random_below(random, LB_MAX_WORKERS * LB_MAX_WORKERS);
    for (unsigned k = 0; alike != NULL && k < LB_MAX_WORKERS * LB_MAX_WORKERS; k++) {
        unsigned pair = (start + k) % (LB_MAX_WORKERS * LB_MAX_WORKERS);
        *ret_a = pair / LB_MAX_WORKERS;
        *ret_b = pair % LB_MAX_WORKERS;
        if (*ret_a < *ret_b && alike[*ret_a] == alike[*ret_b] && lb_has(moved, *ret_a) &&
            lb_has(moved, *ret_b))
            return true;
    }
    return false;
}

static uint8_t renamed(uint8_t move, unsigned a, unsigned b)
{
    int worker = lb_move_worker(move);
    if (worker == (int)a)
        return (uint8_t)(move - a + b);
    return worker == (int)b ? (uint8_t)(move - b + a) : move;
}

static void keep(struct lb_audit *audit, const struct lb_audit_pair *pair)
{
    audit->n_offered++;
    size_t place =
        audit->n < LB_AUDIT_PAIRS ? audit->n++ : lb_random_below(&audit->random, audit->n_offered);
    if (place < LB_AUDIT_PAIRS)
        audit->pairs[place] = *pair;
}

void lb_audit_offer(struct lb_audit *audit, const struct lb_path *path, bool is_reduced)
{
    struct lb_audit_pair pair = {.at = LB_MAX_LENGTH, .run = {.n = path->n}};
    unsigned a, b;
    if (path->n < 2)
        return;
    for (size_t i = 0; i < path->n; i++)
        pair.run.moves[i] = path->nodes[i].move;
    pair.left_out = pair.run;
    if (find_alike(path, &audit->random, &a, &b)) {
        for (size_t i = 0; i < pair.run.n; i++)
            pair.left_out.moves[i] = renamed(pair.run.moves[i], a, b);
        keep(audit, &pair);
    }
    pair.left_out = pair.run;
    pair.at = is_reduced ? find_swap(path, &audit->random) : path->n;
    if (pair.at == path->n)
        return;
    pair.left_out.moves[pair.at] = pair.run.moves[pair.at + 1];
    pair.left_out.moves[pair.at + 1] = pair.run.moves[pair.at];
    keep(audit, &pair);
}
