/* key-limit: never more than K items of one key in hand (`-- key-limit: K`; item_limits.c). The
 * history says the key of each item before its put. */
#include "guarantee_kind.h"
#include "item_limits.h"

static bool key_of(const struct lb_case *c, uint64_t id, uint64_t *ret_key)
{
    uint32_t key = 0;
    bool is_known = lb_attribute_of(c, LB_A_KEY, id, &key);
    *ret_key = key;
    return is_known;
}

bool lb_key_limit(const struct lb_case *c, struct lb_limit *ret_limit)
{
    *ret_limit = (struct lb_limit){.guarantee = LB_G_KEY_LIMIT,
                                   .most = c->model->key_limit,
                                   .untold = "the history does not say the key of each item",
                                   .has_kind = "key",
                                   .key_of = key_of};
    return c->model->key_limit > 0; /* claimed or not: its items wait for each other */
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->key_limit == 0         ? "the limit is not known (-- key-limit: K)"
           : c->attributes[LB_A_KEY].n == 0 ? "the history does not say the keys of items"
                                            : NULL;
}

const struct lb_guarantee_kind lb_guarantee_key_limit = {
    .is_within_class = true,
    .cannot_say = cannot_say,
    .nothing = "as many items of a key as the file allows were never in hand together"};
