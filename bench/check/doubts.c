/* Verdicts that do not depend on a guess.
 *
 * A doubt is a fact that the history cannot show. The history is judged with the fact and without
 * it. A guarantee that one of both readings violates, and the other does not, is not judged: the
 * reason asks for the directive that says the fact. So a guess never leads to "held" and never
 * accuses.
 *
 * A lease is the only fact that changes which guarantee is violated: a release that comes late ends
 * another's hold if there is a lease, and if there is none the lock was granted to two. The
 * protocol is broken in both readings; the finding is that of the reading with the lease.
 */
#include "guarantee_kind.h"
#include "judges.h"

#include <stdio.h>
#include <stdlib.h>

/* Which guarantees the fact is about. Times are about all. */
static unsigned scope_of(enum lb_doubted doubted)
{
    unsigned bits = 0;
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (doubted == LB_DOUBT_LEASE || doubted == LB_DOUBT_CLOCK || doubted == LB_DOUBT_LIMIT ||
            (lb_guarantee_kinds[g]->doubts >> doubted & 1) != 0)
            bits |= LB_G_BIT(g);
    return bits;
}

static unsigned violated_of(const struct lb_judgement *judgement)
{
    unsigned bits = 0;
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (judgement->findings[g].verdict == LB_V_VIOLATED)
            bits |= LB_G_BIT(g);
    return bits;
}

void lb_finding_doubt(struct lb_finding *finding, const char *reason, bool is_asked)
{
    finding->verdict = LB_V_NOT_TESTED;
    finding->n_violations = 0;
    finding->n_witnesses = 0;
    finding->is_doubted = true;
    finding->is_asked = is_asked;
    snprintf(finding->reason, sizeof finding->reason, "%s", reason);
}

static void ask(struct lb_finding *finding, const struct lb_doubt *doubt)
{
    lb_finding_doubt(finding, doubt->reason, !doubt->is_said);
}

/* The judgement is that with a lease. */
static int doubt_lease(const struct lb_history_view *history, const struct lb_model *model,
                       struct lb_judgement *judgement, struct lb_judgement *other,
                       struct lb_error *err)
{
    struct lb_model without = *model;
    without.lease = false;
    without.no_lease = true;
    int rc = lb_check_once(history, &without, other, err);
    if (rc != 0)
        return rc;
    unsigned with_it = violated_of(judgement), without_it = violated_of(other);
    for (int g = 0; g < LB_GUARANTEES; g++) {
        bool is_accused = (with_it >> g & 1) != 0, is_held = !is_accused;
        if ((is_accused && without_it == 0) || (is_held && (without_it >> g & 1) != 0))
            ask(&judgement->findings[g], &model->doubts[LB_DOUBT_LEASE]);
    }
    return 0;
}

/* A recovery that takes items of the living can excuse a violation. A
 * guarantee that only the strict reading violates is not judged. */
static int doubt_limit(const struct lb_history_view *history, const struct lb_model *model,
                       struct lb_judgement *judgement, struct lb_judgement *other,
                       struct lb_error *err)
{
    struct lb_model strict = *model;
    strict.takes_dead = true;
    int rc = lb_check_once(history, &strict, other, err);
    for (int g = 0; g < LB_GUARANTEES && rc == 0; g++)
        if (judgement->findings[g].verdict == LB_V_HELD &&
            other->findings[g].verdict == LB_V_VIOLATED)
            ask(&judgement->findings[g], &model->doubts[LB_DOUBT_LIMIT]);
    return rc;
}

static void assume(struct lb_model *model, enum lb_doubted doubted)
{
    if (doubted == LB_DOUBT_ATTEMPTS)
        model->attempts = model->doubts[doubted].value;
    else if (doubted == LB_DOUBT_ROWS)
        model->own_rows = true;
    else if (doubted == LB_DOUBT_CLOCK)
        model->tick_ms = model->doubts[doubted].value;
    else if (doubted == LB_DOUBT_LIMIT)
        model->takes_living = true;
    else
        model->drained = false;
}

int lb_check_doubted(const struct lb_history_view *history, const struct lb_model *model,
                     struct lb_judgement *ret_judgement, struct lb_error *err)
{
    int rc = lb_check_once(history, model, ret_judgement, err);
    struct lb_model assumed = *model;
    struct lb_judgement *other = NULL;
    for (int d = 0; d < LB_DOUBTS && rc == 0; d++) {
        unsigned in_doubt = violated_of(ret_judgement) & scope_of((enum lb_doubted)d);
        bool is_lease = d == LB_DOUBT_LEASE, is_limit = d == LB_DOUBT_LIMIT;
        if (model->doubts[d].reason[0] == '\0' || (!is_lease && !is_limit && in_doubt == 0))
            continue;
        other = other != NULL ? other : lb_malloc(sizeof *other);
        if (is_lease) {
            rc = doubt_lease(history, model, ret_judgement, other, err);
            continue;
        }
        if (is_limit)
            rc = doubt_limit(history, model, ret_judgement, other, err);
        if (rc != 0 || in_doubt == 0)
            continue;
        assume(&assumed, (enum lb_doubted)d);
        rc = lb_check_once(history, &assumed, other, err);
        for (int g = 0; g < LB_GUARANTEES && rc == 0; g++)
            if ((in_doubt >> g & 1) != 0 && other->findings[g].verdict != LB_V_VIOLATED)
                ask(&ret_judgement->findings[g], &model->doubts[d]);
    }
    free(other);
    return rc;
}
