/* Advice on attributes of items: see advice.h. */
#include "advice.h"

struct lb_advice lb_advise_attribute(const struct lb_outlook *o, enum lb_guarantee guarantee)
{
    switch (guarantee) {
    case LB_G_ATTEMPTS:
        return (struct lb_advice){
            .quotes = {&o->begin, &o->back, &o->retry, &o->recover},
            .text = "count each attempt in the statement that claims, so that a dead worker's "
                    "counts as well, and let claim, retry and recover all refuse an item that has "
                    "had its number of attempts"};
    case LB_G_UNIQUE:
        return (struct lb_advice){
            .quotes = {&o->unique_index, &o->put, &o->end, &o->error},
            .text = "two puts that do not see each other add two items of one key: let a unique "
                    "index on the key of unfinished items refuse the second. Or a put is refused "
                    "without an item: believe a refusal only if the other item is committed, and "
                    "let each end of an item, also an error, free its key"};
    case LB_G_PRIORITY:
        return (struct lb_advice){
            .quotes = {&o->begin, &o->put},
            .text = "order by the priority first, and lock only those that are claimed. Where a "
                    "row says how urgent the first item is, write it in the item's transaction"};
    case LB_G_RATE:
        return (struct lb_advice){
            .quotes = {&o->begin},
            .text = "let a claim lock one row, and then count the last T: two windows side by "
                    "side let twice as many begin, and so do a full bucket and its refill"};
    case LB_G_SHARE:
        return (struct lb_advice){
            .quotes = {&o->begin, &o->put},
            .text = "a tenant with many items is served more often, or an order of the tenants "
                    "keeps some waiting: let each claim look at the first item of every tenant, "
                    "take that of the tenant that was served the longest time ago, and note the "
                    "turn in the same transaction"};
    case LB_G_KEY_LIMIT:
        return (struct lb_advice){
            .quotes = {&o->begin, &o->begin_end, &o->end},
            .text = "two claims take the last place of a key together: let a claim lock a row of "
                    "the key before it counts, or take the place with an UPDATE with the limit as "
                    "condition. Or another worker's place is given back: let an end that changes "
                    "no item give back nothing, and each end a place of its own key"};
    default:
        return (struct lb_advice){.text = NULL};
    }
}
