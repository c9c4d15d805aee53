/* group-exclusive: never two items of one group in hand.
 *
 * A group is an automaton of its own (spec/item.c), and the operations on all its items are its
 * operations. The history does not name groups: item i is of group i % groups. One that is no
 * number is of none that is known: not tested.
 */
#include "guarantee_kind.h"
#include "item_ops.h"

#include <stdlib.h>

bool lb_wants_groups(const struct lb_case *c)
{
    return c->model->groups > 0 && (c->model->claims & LB_G_BIT(LB_G_GROUP_EXCLUSIVE)) != 0;
}

static uint64_t item_of(const struct lb_object *object, uint32_t number)
{
    const struct lb_item_model *model = object->context;
    return lb_item_record_of(model->context, number)->id;
}

static void report(const struct lb_item_ops *ops, const struct lb_break *one)
{
    struct lb_case *c = ops->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_GROUP_EXCLUSIVE);
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    uint32_t before = lb_item_ops_claim_before(ops, one->by, one->other);
    const struct lb_item_record *first = lb_item_record_of(ops, before);
    const struct lb_item_record *second = lb_item_record_of(ops, one->by);
    uint64_t end = lb_item_ops_end(ops, before), other_end = lb_item_ops_end(ops, one->by);
    char at[LB_AT], first_at[LB_AT];
    end = other_end < end ? other_end : end;
    lb_witness_add(c, witness, first->log, first->event);
    lb_witness_add(c, witness, second->log, second->event);
    witness->at_ns = second->high;
    witness->overlap_ns = end != LB_NEVER && end > second->high ? end - second->high : 0;
    lb_witness_text(witness,
                    "item %s was claimed by %s, answered at %s, and item %s of the same group by "
                    "%s, answered at %s, while the first was still in hand",
                    LB_ITEM_OF(c, first->id), lb_who(c, first->log, LB_WHOM),
                    lb_at(c, first->high, first_at, sizeof first_at), LB_ITEM_OF(c, second->id),
                    lb_who(c, second->log, LB_WHOM), lb_at(c, second->high, at, sizeof at));
}

static int search_group(struct lb_item_ops *ops, struct lb_search *search, uint64_t most)
{
    struct lb_case *c = ops->c;
    const struct lb_item_model model = {
        .claimed_twice = 1, .recovers = lb_item_ops_recovers, .item_of = item_of, .context = ops};
    const struct lb_automaton automaton = lb_group_automaton(&model);
    size_t n = 0;
    int rc = lb_item_ops_finish(ops, most);
    if (rc == 0)
        rc = lb_item_ops_search(ops, search, &automaton, &model);
    if (rc != 0)
        return rc;
    const struct lb_break *breaks = lb_search_breaks(search, &n);
    for (size_t i = 0; i < n; i++)
        report(ops, &breaks[i]);
    if (ops->doubt != NULL || lb_search_gave_up(search))
        c->doubt[LB_G_GROUP_EXCLUSIVE] =
            ops->doubt != NULL ? ops->doubt
                               : "too much happened to a group of items at one time: the search "
                                 "for an order was given up";
    return 0;
}

/* The items of which the group is known, by group and then by id: the keys' indexes are places in
 * by_id, and extra is the number of records. */
static size_t list_items(struct lb_case *c, struct lb_key *keys)
{
    size_t n = 0, next = 0;
    for (size_t i = 0, end = 0; i < c->items.n; i = end) {
        uint64_t id = c->by_id[i].key;
        while (end < c->items.n && c->by_id[end].key == id)
            end++;
        if (lb_item_is_put_again(c, id, &next))
            continue;
        if (id >> 63 != 0) /* a text, or a number below 0 */
            c->doubt[LB_G_GROUP_EXCLUSIVE] = "some items have other names than numbers from 0 on: "
                                             "it is not known of which group";
        else
            keys[n++] = (struct lb_key){
                .key = id % c->model->groups, .index = (uint32_t)i, .extra = (uint32_t)(end - i)};
    }
    return n;
}

int lb_judge_groups(struct lb_case *c, struct lb_item_ops *ops, struct lb_search *search,
                    uint64_t most)
{
    struct lb_key *keys = malloc((c->items.n + 1) * sizeof *keys);
    struct lb_array places = {0};
    size_t n = keys != NULL ? list_items(c, keys) : 0;
    int rc = keys == NULL || lb_sort(keys, n) != 0 ? lb_out_of_memory(c) : 0;
    ops->purpose = LB_FOR_GROUP;
    lb_item_ops_clear(ops);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = lb_item_gather(c, keys[i].index, keys[i].extra, &places);
        if (rc == 0)
            rc = lb_item_ops_add(ops, places.items, places.n);
        if (rc == 0 && (i + 1 == n || keys[i + 1].key != keys[i].key)) {
            rc = search_group(ops, search, most);
            lb_item_ops_clear(ops);
        }
    }
    lb_finding_of(c, LB_G_GROUP_EXCLUSIVE)->n_tested = c->out->measures.n_claims;
    free(places.items);
    free(keys);
    return rc;
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->groups == 0 ? "the history does not say which items are of one group" : NULL;
}

const struct lb_guarantee_kind lb_guarantee_group_exclusive = {.cannot_say = cannot_say,
                                                               .nothing = "nothing was claimed"};
