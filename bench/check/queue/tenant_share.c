/* share: no tenant is below a stated part of its fair share while it has work (`-- share: 0.5`).
 *
 * The fair share of a claim is 1/n for each of the n tenants that have work. A tenant certainly has
 * work during a claim if its items wait for certain (from the answer to the put to the request of
 * the claim) all the time from the claim's request to its answer; it perhaps has work if an item of
 * it can be there at any moment of that time. So there are two sums of fair shares: the least, over
 * the claims at which it certainly has work, with n as large as it can be; and the most.
 *
 * Claims, divided by the least sum, are the largest share that the tenant can have been served.
 * That is a violation if it is below the bound by more than chance explains, where each claim
 * serves the tenant with the probability that the bound asks for: by MARGIN standard errors (claims
 * less these probabilities are a martingale, so that the claims need not be independent). It is
 * held if the smallest share of each tenant with enough work is above the bound by as much, and by
 * MARGIN standard errors of its scatter between BLOCKS parts of the history. Each item counts when
 * it is claimed for the first time. A claim of unknown outcome may have served any tenant.
 */
#include "guarantee_kind.h"
#include "items.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 20, MOST_WORK = 1000000000 };
#define MARGIN                                                                                     \
    3.9 /* standard errors that one of 1,000 samples of BLOCKS parts exceeds (Student, 19 degrees) \
         */

struct span {
    uint64_t from, to;
};

struct one {
    uint32_t tenant;
    struct span surely, perhaps; /* LB_NEVER: to the end */
    uint64_t low, high;          /* of the claim; LB_NEVER: it was not claimed */
};

struct tenant {
    uint32_t value, is_sure;
    size_t first, n; /* its items */
    struct span *surely, *perhaps;
    size_t n_surely, n_perhaps, at_surely, at_perhaps; /* at: the first that ends later */
    double served[BLOCKS], least[BLOCKS], most[BLOCKS];
};

struct judge {
    struct lb_case *c;
    struct one *all; /* by tenant, and later by request */
    struct span *spans;
    struct tenant *tenants;
    size_t n, n_tenants, n_claims;
};

static int by_tenant(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    return (one->tenant > other->tenant) - (one->tenant < other->tenant);
}

static int by_request(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    return (one->low > other->low) - (one->low < other->low);
}

static int by_from(const void *a, const void *b)
{
    const struct span *one = a, *other = b;
    return (one->from > other->from) - (one->from < other->from);
}

static int collect(const struct lb_case *c, struct lb_array *all)
{
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        for (uint32_t i = 0; i < id->n && id->is_put && !id->is_put_again; i++) {
            struct one one = {.surely = {LB_NEVER, 0},
                              .perhaps = {id->put_low, LB_NEVER},
                              .low = LB_NEVER,
                              .high = LB_NEVER};
            if (!lb_attribute_of(c, LB_A_TENANT, id->id + i, &one.tenant))
                continue;
            if (lb_id_acknowledged(id))
                one.surely = (struct span){id->put_high, LB_NEVER};
            if (id->is_claimed) {
                one.low = one.surely.to = id->claim_low;
                one.high = one.perhaps.to = id->claim_high;
            }
            struct one *slot = lb_array_push(all, sizeof *slot);
            if (slot == NULL)
                return LB_E_MEMORY;
            *slot = one;
        }
    return 0;
}

/* Sorts spans, and joins those that overlap. Returns how many are left. */
static size_t join(struct span *spans, size_t n)
{
    size_t kept = 0;
    if (n > 0)
        qsort(spans, n, sizeof *spans, by_from);
    for (size_t i = 0; i < n; i++) {
        if (spans[i].from >= spans[i].to)
            continue;
        if (kept > 0 && spans[i].from < spans[kept - 1].to)
            spans[kept - 1].to =
                spans[i].to > spans[kept - 1].to ? spans[i].to : spans[kept - 1].to;
        else
            spans[kept++] = spans[i];
    }
    return kept;
}

static int make_tenants(struct judge *judge)
{
    qsort(judge->all, judge->n, sizeof *judge->all, by_tenant);
    for (size_t i = 0; i < judge->n; i++)
        judge->n_tenants += i == 0 || judge->all[i].tenant != judge->all[i - 1].tenant;
    judge->spans = malloc(2 * judge->n * sizeof *judge->spans);
    judge->tenants = calloc(judge->n_tenants, sizeof *judge->tenants);
    if (judge->spans == NULL || judge->tenants == NULL)
        return LB_E_MEMORY;
    struct tenant *tenant = judge->tenants;
    for (size_t i = 0, first = 0; i < judge->n; i++) {
        const struct one *one = &judge->all[i];
        judge->spans[i] = one->surely;
        judge->spans[judge->n + i] = one->perhaps;
        if (i + 1 < judge->n && judge->all[i + 1].tenant == one->tenant)
            continue;
        *tenant = (struct tenant){.value = one->tenant,
                                  .surely = judge->spans + first,
                                  .perhaps = judge->spans + judge->n + first};
        tenant->n_surely = join(tenant->surely, i + 1 - first);
        tenant->n_perhaps = join(tenant->perhaps, i + 1 - first);
        tenant++;
        first = i + 1;
    }
    return 0;
}

/* The tenants with work during one claim. Claims come in order of their requests. */
static void share_out(struct judge *judge, const struct one *claim, size_t block)
{
    size_t n_sure = 0, n_perhaps = 0;
    for (struct tenant *t = judge->tenants; t < judge->tenants + judge->n_tenants; t++) {
        while (t->at_surely < t->n_surely && t->surely[t->at_surely].to <= claim->low)
            t->at_surely++;
        while (t->at_perhaps < t->n_perhaps && t->perhaps[t->at_perhaps].to < claim->low)
            t->at_perhaps++;
        t->is_sure = t->at_surely < t->n_surely && t->surely[t->at_surely].from < claim->low &&
                     t->surely[t->at_surely].to > claim->high;
        t->is_sure |=
            t->at_perhaps < t->n_perhaps && t->perhaps[t->at_perhaps].from <= claim->high ? 2 : 0;
        n_sure += t->is_sure & 1;
        n_perhaps += t->is_sure >> 1;
        t->served[block] += t->value == claim->tenant;
    }
    for (struct tenant *t = judge->tenants; t < judge->tenants + judge->n_tenants; t++) {
        t->least[block] += (t->is_sure & 1) != 0 ? 1.0 / (double)n_perhaps : 0;
        t->most[block] += (t->is_sure & 2) != 0 ? 1.0 / (double)(n_sure > 0 ? n_sure : 1) : 0;
    }
}

static double sum(const double *values)
{
    double total = 0;
    for (int b = 0; b < BLOCKS; b++)
        total += values[b];
    return total;
}

/* MARGIN standard errors of independent claims, each of which serves the tenant as the bound says.
 */
static double chance(double due, double bound)
{
    return MARGIN * sqrt(bound / due);
}

/* MARGIN standard errors of the ratio of two sums, by its scatter between the blocks. */
static double scatter(const double *served, const double *due)
{
    double share = sum(served) / sum(due), squares = 0;
    for (int b = 0; b < BLOCKS; b++)
        squares += (served[b] - share * due[b]) * (served[b] - share * due[b]);
    return MARGIN * sqrt(squares * BLOCKS / (BLOCKS - 1)) / sum(due);
}

static void report(struct judge *judge, const struct tenant *tenant, double share)
{
    struct lb_case *c = judge->c;
    struct lb_finding *finding = lb_finding_of(c, LB_G_SHARE);
    char name[LB_ITEM_NAME];
    finding->n_violations++;
    struct lb_witness *witness = lb_witness_new(finding);
    if (witness == NULL)
        return;
    witness->at_ns = c->end_ns;
    lb_witness_text(witness,
                    "tenant %s was served at most %.2f of its fair share: %.0f of %zu claims, and "
                    "%.1f are fair while it had work; the bound is %.2f",
                    lb_key_name(c->history->names, tenant->value, name, sizeof name), share,
                    sum(tenant->served), judge->n_claims, sum(tenant->least),
                    c->model->share_milli / 1000.0);
}

static const char too_little[] =
    "some tenants did not have work for as many claims as a judgement needs";

static void judge_tenant(struct judge *judge, const struct tenant *tenant)
{
    struct lb_case *c = judge->c;
    const double bound = c->model->share_milli / 1000.0, least = sum(tenant->least),
                 most = sum(tenant->most);
    if (least * bound < MARGIN * MARGIN) { /* even without a claim it might be chance */
        if (least > 0)
            c->doubt[LB_G_SHARE] = too_little;
        return;
    }
    lb_finding_of(c, LB_G_SHARE)->n_tested++;
    double largest = (sum(tenant->served) + (double)c->unknown.n) / least;
    double smallest = sum(tenant->served) / most;
    double margin = fmax(chance(most, bound), scatter(tenant->served, tenant->most));
    if (largest + chance(least, bound) < bound)
        report(judge, tenant, largest);
    else if (smallest - margin < bound)
        c->doubt[LB_G_SHARE] = "there were too few claims to tell the share of each tenant from "
                               "the bound";
}

static int judge_share(struct lb_case *c)
{
    struct lb_array all = {0};
    struct judge judge = {.c = c};
    if (c->model->share_milli == 0 || (c->model->claims & LB_G_BIT(LB_G_SHARE)) == 0)
        return 0;
    int rc = collect(c, &all);
    judge.all = all.items;
    judge.n = all.n;
    if (rc == 0 && judge.n > 0)
        rc = make_tenants(&judge);
    for (size_t i = 0; i < judge.n && rc == 0; i++)
        judge.n_claims += judge.all[i].low != LB_NEVER;
    if (rc == 0 && judge.n_claims > 0 && judge.n_tenants > MOST_WORK / judge.n_claims) {
        c->doubt[LB_G_SHARE] = "there are too many tenants";
    } else if (rc == 0 && judge.n_claims > 0) {
        qsort(judge.all, judge.n, sizeof *judge.all, by_request);
        for (size_t i = 0; i < judge.n_claims; i++)
            share_out(&judge, &judge.all[i], i * BLOCKS / judge.n_claims);
        for (size_t i = 0; i < judge.n_tenants; i++)
            judge_tenant(&judge, &judge.tenants[i]);
    }
    free(judge.spans);
    free(judge.tenants);
    free(all.items);
    return rc == 0 ? 0 : lb_out_of_memory(c);
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->share_milli == 0          ? "the bound is not known (-- share: 0.5)"
           : c->attributes[LB_A_TENANT].n == 0 ? "the history does not say the tenants of items"
                                               : c->doubt[LB_G_SHARE];
}

/* What keeps an item from being claimed, without the history showing it. */
static const char *overrule(const struct lb_case *c, char *buf, size_t size)
{
    if (lb_wants_limits(c) || c->attributes[LB_A_DUE].n > 0 ||
        c->model->doubts[LB_DOUBT_DUE].reason[0] != '\0')
        snprintf(buf, size, "items of a tenant may wait for their group or key, or not be due");
    return buf;
}

const struct lb_guarantee_kind lb_guarantee_share = {.judge_queue = judge_share,
                                                     .cannot_say = cannot_say,
                                                     .nothing = too_little,
                                                     .overrule = overrule};
