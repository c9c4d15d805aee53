/* Ends the item in hand and claims the next one in one round trip: libpq's pipeline mode.
 *
 * Each is a transaction of its own, as without a pipeline: the outcome of the end does not decide
 * the claim, which the server begins when the end was committed or refused. So a serialization
 * failure of one does not affect the other. If the connection is lost in between, the outcome of
 * unanswered statements is unknown.
 *
 * It is for sections of one statement, since a second one of the end would wait for the answer to
 * its first.
 */
#include "ordinary.h"

void lb_ordinary_pipeline(struct lb_actor *actor, struct lb_pipeline *p)
{
    struct lb_claiming claiming;
    struct lb_bag of_batch, *bag = &of_batch;
    if (p->batch != NULL) {
        lb_ordinary_fill_batch(&of_batch, actor, p->batch);
    } else {
        lb_ordinary_fill_item(actor, p->item);
        bag = &p->item->bag;
    }
    lb_ordinary_begin_claim(&claiming, actor, p->n, p->items, p->max);
    struct lb_piped_section sections[LB_PIPED] = {
        {.name = p->section,
         .bag = bag,
         .each_row = p->batch != NULL ? lb_ordinary_catch_id : NULL,
         .arg = p->batch},
        {.name = LB_S_CLAIM,
         .bag = &claiming.bag,
         .each_row = lb_ordinary_catch_item,
         .arg = &claiming}};
    lb_runner_pipeline(&actor->runner, sections, LB_PIPED);
    p->ended_ns = sections[0].end_ns;
    p->end_err = sections[0].err;
    p->claim_err = sections[1].err;
    p->end_answer = p->batch != NULL
                        ? lb_ordinary_end_batch(p->batch, sections[0].answer, &sections[0].result)
                        : lb_ordinary_refused(sections[0].answer, &sections[0].result);
    p->claim_answer =
        lb_ordinary_end_claim(actor, &claiming, sections[1].answer, &sections[1].result, &p->got,
                              &p->marked, &p->claim_err);
}
