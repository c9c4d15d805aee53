/* no-loss and no phantom: every item that was put is claimed, and none that was not.
 *
 * Phantom: a claimed id that no put names (failed puts did not happen), or that was claimed for
 * certain before its put was asked for.
 *
 * Loss, judged when the queue was drained: an id whose put was acknowledged and that no claim
 * brought; or whose last claim gave it back (free) and nobody claimed it again. Claims of unknown
 * outcome, and items that a claim returned beyond those recorded, may have brought as many
 * others: only what exceeds them is lost for certain.
 */
#include "check_internal.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
    const struct lb_put *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static uint64_t last_id(const struct lb_put *put)
{
    return put->first + (put->n - 1);
}

int lb_put_index_init(struct lb_put_index *index, struct lb_case *c)
{
    *index = (struct lb_put_index){.puts = c->puts.items, .n = c->puts.n};
    index->reach = malloc((index->n + 1) * sizeof *index->reach);
    if (index->reach == NULL)
        return lb_out_of_memory(c);
    if (index->n > 0)
        qsort(index->puts, index->n, sizeof *index->puts, by_first);
    for (size_t i = 0; i < index->n; i++) {
        uint64_t last = last_id(&index->puts[i]);
        index->reach[i] = i > 0 && index->reach[i - 1] > last ? index->reach[i - 1] : last;
    }
    return 0;
}

void lb_put_index_release(struct lb_put_index *index)
{
    free(index->reach);
}

const struct lb_put *lb_put_find(const struct lb_put_index *index, uint64_t id, size_t *hint)
{
    while (*hint < index->n && index->puts[*hint].first <= id)
        ++*hint;
    const struct lb_put *best = NULL;
    for (size_t i = *hint; i > 0 && index->reach[i - 1] >= id; i--) {
        const struct lb_put *put = &index->puts[i - 1];
        if (last_id(put) >= id && (best == NULL || put->low < best->low))
            best = put;
    }
    return best;
}

static void report_phantom(struct lb_case *c, const struct lb_claimed *claim,
                           const struct lb_put *put)
{
    const struct lb_item_event *item = (const struct lb_item_event *)c->items.items + claim->first;
    struct lb_finding *finding = lb_finding_of(c, LB_G_NO_LOSS);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], asked[LB_AT];
    lb_witness_add(c, witness, item->log, item->event);
    witness->at_ns = item->high;
    if (put == NULL) {
        lb_witness_text(witness, "item %lld was claimed by worker %u at %s, but was never put",
                        (long long)item->id, c->history->logs[item->log].number,
                        lb_at(c, item->high, at, sizeof at));
        return;
    }
    lb_witness_add(c, witness, put->log, put->event);
    lb_witness_text(witness,
                    "item %lld was claimed by worker %u at %s, before worker %u put it at %s",
                    (long long)item->id, c->history->logs[item->log].number,
                    lb_at(c, item->high, at, sizeof at), c->history->logs[put->log].number,
                    lb_at(c, put->low, asked, sizeof asked));
}

/* --- the claimed ids --- */

static void add_event(struct lb_claimed *claimed, const struct lb_item_event *e, uint32_t position)
{
    if (e->op == LB_OP_ITEM) {
        if (claimed->first == LB_NONE || e->high < claimed->high) {
            claimed->low = e->low;
            claimed->high = e->high;
            claimed->first = position;
        }
        if (e->high > claimed->last_high)
            claimed->last_high = e->high;
    }
}

/* Was the item certainly free after its last claim? The events of one id. */
static bool is_given_back(const struct lb_case *c, const struct lb_key *keys, size_t n,
                          uint64_t last_high)
{
    const struct lb_item_event *items = c->items.items;
    bool given_back = false;
    for (size_t k = 0; k < n; k++) {
        const struct lb_item_event *e = &items[keys[k].index];
        if (e->high <= last_high)
            continue;
        if (e->op != LB_OP_FREE && e->op != LB_OP_RENEW_ITEM)
            return false; /* finished, or something else, after the last claim */
        if (e->op == LB_OP_FREE && e->type == LB_EV_OK && (e->flags & LB_EVF_EFFECTIVE) != 0 &&
            e->low > last_high)
            given_back = true;
    }
    return given_back;
}

static int collect_id(struct lb_case *c, const struct lb_key *keys, size_t n)
{
    const struct lb_item_event *items = c->items.items;
    struct lb_claimed one = {.id = keys[0].key, .first = LB_NONE};
    for (size_t k = 0; k < n; k++)
        add_event(&one, &items[keys[k].index], keys[k].index);
    if (one.first == LB_NONE)
        return 0;
    if (n > 1 && c->model->drained)
        one.given_back = is_given_back(c, keys, n, one.last_high);
    struct lb_claimed *slot = lb_array_push(&c->claimed, sizeof *slot);
    if (slot == NULL)
        return lb_out_of_memory(c);
    *slot = one;
    return 0;
}

int lb_index_items(struct lb_case *c)
{
    size_t n = c->items.n;
    const struct lb_item_event *items = c->items.items;
    c->by_id = malloc((n + 1) * sizeof *c->by_id);
    if (c->by_id == NULL)
        return lb_out_of_memory(c);
    for (size_t i = 0; i < n; i++)
        c->by_id[i] = (struct lb_key){.key = items[i].id, .index = (uint32_t)i};
    int rc = lb_sort(c->by_id, n) != 0 ? lb_out_of_memory(c) : 0;
    for (size_t i = 0; i < n && rc == 0;) {
        size_t first = i;
        while (i < n && c->by_id[i].key == c->by_id[first].key)
            i++;
        rc = collect_id(c, c->by_id + first, i - first);
    }
    return rc;
}

/* --- loss --- */

static void report_lost(struct lb_case *c, const struct lb_put *put, uint64_t id, uint64_t n_lost)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_NO_LOSS);
    finding->n_violations += n_lost;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT];
    lb_witness_add(c, witness, put->log, put->event);
    witness->at_ns = put->high;
    lb_witness_text(witness,
                    "item %lld was put by worker %u, acknowledged at %s, and is neither claimed "
                    "nor claimable after the queue was drained%s",
                    (long long)id, c->history->logs[put->log].number,
                    lb_at(c, put->high, at, sizeof at), n_lost > 1 ? "; others are lost too" : "");
}

/* Acknowledged ids that are in nobody's hands, and the first of them. */
static void judge_lost(struct lb_case *c, const struct lb_put_index *puts,
                       const struct lb_claimed *claimed, size_t n)
{
    uint64_t n_missing = 0, n_excused = 0, next_id = 0, first_id = 0;
    const struct lb_put *first_put = NULL;
    size_t k = 0;
    for (size_t i = 0; i < puts->n; i++) {
        const struct lb_put *put = &puts->puts[i];
        if (put->type != LB_EV_OK)
            continue;
        uint64_t id = put->first > next_id ? put->first : next_id, last = last_id(put);
        while (id <= last) {
            while (k < n && claimed[k].id < id)
                k++;
            bool is_claimed = k < n && claimed[k].id == id;
            uint64_t gap = is_claimed
                               ? claimed[k].given_back
                               : (k < n && claimed[k].id <= last ? claimed[k].id : last + 1) - id;
            if (gap > 0 && first_put == NULL) {
                first_put = put;
                first_id = id;
            }
            n_missing += gap;
            id += is_claimed ? 1 : gap;
            if (id == 0)
                break; /* past the largest number */
        }
        next_id = last + 1 > next_id ? last + 1 : next_id;
    }
    for (size_t i = 0; i < c->unknown.n; i++)
        n_excused += ((const struct lb_unknown_claim *)c->unknown.items)[i].n;
    if (n_missing > n_excused)
        report_lost(c, first_put, first_id, n_missing - n_excused);
}

int lb_judge_loss(struct lb_case *c)
{
    struct lb_put_index puts;
    int rc = lb_put_index_init(&puts, c);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < puts.n; i++)
        lb_finding_of(c, LB_G_NO_LOSS)->n_tested += puts.puts[i].n;
    const struct lb_claimed *ids = c->claimed.items;
    size_t hint = 0;
    for (size_t i = 0; i < c->claimed.n; i++) {
        const struct lb_put *put = lb_put_find(&puts, ids[i].id, &hint);
        if (put == NULL || ids[i].high < put->low)
            report_phantom(c, &ids[i], put);
    }
    if (c->model->drained)
        judge_lost(c, &puts, ids, c->claimed.n);
    lb_put_index_release(&puts);
    return 0;
}
