/* group-exclusive: never two items of one group in hand. It is a limit of 1 (item_limits.c).
 *
 * The history does not name groups: item i is of group i % groups. One that is no number is of none
 * that is known: not tested.
 */
#include "guarantee_kind.h"
#include "item_limits.h"

static bool group_of(const struct lb_case *c, uint64_t id, uint64_t *ret_key)
{
    *ret_key = id % c->model->groups;
    return id >> 63 == 0; /* else it is a text, or a number below 0 */
}

bool lb_group_limit(const struct lb_case *c, struct lb_limit *ret_limit)
{
    *ret_limit = (struct lb_limit){.guarantee = LB_G_GROUP_EXCLUSIVE,
                                   .most = 1,
                                   .untold = "some items have other names than numbers from 0 on: "
                                             "it is not known of which group",
                                   .has_kind = "group",
                                   .key_of = group_of};
    return c->model->groups > 0 && (c->model->claims & LB_G_BIT(LB_G_GROUP_EXCLUSIVE)) != 0;
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->groups == 0 ? "the history does not say which items are of one group" : NULL;
}

const struct lb_guarantee_kind lb_guarantee_group_exclusive = {
    .is_within_class = true, .cannot_say = cannot_say, .nothing = "nothing was claimed"};
