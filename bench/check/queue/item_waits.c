/* progress of items: where the load leaves some workers idle, an item is claimed for the first time
 * within the bound on waits, counted from its put. It is judged for histories in which some items
 * are poison: the others must not wait behind these for ever.
 *
 * A claim of unknown outcome may have had the item.
 */
#include "judges.h"
#include "scan_logs.h"

#include "units.h"

static void report(struct lb_case *c, const struct lb_id *id, uint64_t until)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_PROGRESS);
    finding->n_violations += id->n;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    char at[LB_AT], length[LB_AT], bound[LB_AT];
    lb_witness_add(c, witness, id->put_log, id->put_event);
    if (id->is_claimed)
        lb_witness_add(c, witness, id->claim_log, id->claim_event);
    witness->at_ns = id->put_high + c->model->progress_bound_ns;
    lb_witness_text(witness, "item %s was put by %s at %s and %s %s later; the bound is %s",
                    LB_ITEM_OF(c, id->id), lb_who(c, id->put_log, LB_WHOM),
                    lb_at(c, id->put_high, at, sizeof at),
                    id->is_claimed ? "claimed for the first time" : "still not claimed",
                    lb_format_ns(until - id->put_high, length, sizeof length),
                    lb_format_ns(c->model->progress_bound_ns, bound, sizeof bound));
}

void lb_judge_item_waits(struct lb_case *c)
{
    const uint64_t bound = c->model->progress_bound_ns;
    if (!c->model->item_waits || bound == 0)
        return;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++) {
        uint64_t until = id->is_claimed ? id->claim_high : c->end_ns;
        until = until < c->known_ns ? until : c->known_ns;
        if (id->is_put_again)
            c->doubt[LB_G_PROGRESS] = LB_PUT_AGAIN;
        if (!id->is_put || id->is_put_again || id->put_high == LB_NEVER)
            continue;
        lb_finding_of(c, LB_G_PROGRESS)->n_tested += id->n;
        if (until <= id->put_high || !lb_is_late(c, LB_G_PROGRESS, id->put_high, until, bound))
            continue;
        if (c->unknown.n > 0)
            c->doubt[LB_G_PROGRESS] = "an item was not claimed within the bound, but a claim of "
                                      "unknown outcome may have had it";
        else
            report(c, id, until);
    }
}
