/* A shortcut: an item that was claimed once, and that one worker alone touched and did not free,
 * breaks nothing.
 *
 * Proof. Let each operation take effect at its invoke, in the order of the worker's log,
 * and let no lease, loss or recovery take effect. The only claim finds the item waiting, so no
 * claim is a duplicate and no execution is a second one. The worker's ends find its own claim, or
 * an item that no other worker has, so each of them is the owner's. Nothing makes the item wait
 * again, so that it is not lost. (An end by a worker that had no
 * claim is judged before: items.c.)
 */
#include "items.h"

bool lb_item_is_single(const struct lb_item_record *const *records, size_t n)
{
    if (records[0]->op != LB_OP_ITEM)
        return false;
    for (size_t i = 1; i < n; i++)
        if (records[i]->op == LB_OP_ITEM || records[i]->op == LB_OP_FREE ||
            records[i]->log != records[0]->log)
            return false;
    return true;
}
