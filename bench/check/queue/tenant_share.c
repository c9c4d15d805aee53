/* share: no tenant is below a stated part of its fair share while it has work (`-- share: 0.5`).
 *
 * The fair share of a claim is 1/n for each of the n tenants that have work. An item waits for
 * certain from the answer to its put to the request of its first claim. It can be there from the
 * request of its put to the answer of its last claim, or for ever, if that did not end it. A tenant
 * certainly has work during a claim if, all the time from its request to its answer, more of its
 * items wait for certain than the claims of unknown outcome until then may have taken. It perhaps
 * has work if an item of it can be there at any moment of that time. So there are two sums of fair
 * shares: the least, over the claims at which it certainly has work, with n as large as it can be;
 * and the most.
 *
 * Claims, divided by the least sum, are the largest share that the tenant can have been served.
 * That is a violation if it is below the bound by more than chance explains, where each claim
 * serves the tenant with the probability that the bound asks for: by MARGIN standard errors (claims
 * less these probabilities are a martingale, so that the claims need not be independent). It is
 * held if the smallest share of each tenant with enough work is above the bound by as much, and by
 * MARGIN standard errors of its scatter between BLOCKS parts of the history. Each claim counts,
 * also of an item that came back. A claim of unknown outcome may have served any tenant.
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

static const char too_little[] =
    "some tenants did not have work for as many claims as a judgement needs";
static const char unknown_tenant[] = "the history does not say the tenant of each item";

struct span {
    uint64_t from, to;
};

/* An item, a claim, or both. All spans are open: their ends are outside. */
struct one {
    uint32_t tenant;
    struct span surely, perhaps; /* from >= to: it is no item; to LB_NEVER: to the end */
    uint64_t low, high;          /* of the claim; LB_NEVER: it is none */
};

struct edge {
    uint64_t time;
    int64_t change;
};

struct tenant {
    uint32_t value, is_sure;
    struct span *surely, *perhaps;
    size_t n_surely, n_perhaps, at_surely, at_perhaps; /* at: the first that ends later */
    double served[BLOCKS], least[BLOCKS], most[BLOCKS];
};

struct judge {
    struct lb_case *c;
    struct one *all; /* by tenant, and later by request */
    struct span *spans;
    struct edge *edges; /* of one tenant */
    struct tenant *tenants;
    size_t n, n_tenants, n_claims;
    double taken; /* items that claims of unknown outcome may have taken */
};

static int by_tenant(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    return (one->tenant > other->tenant) - (one->tenant < other->tenant);
}

static int by_request(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    return one->low != other->low     ? (one->low > other->low) - (one->low < other->low)
           : one->high != other->high ? (one->high > other->high) - (one->high < other->high)
                                      : by_tenant(a, b);
}

/* Ends first: spans are open. */
static int by_time(const void *a, const void *b)
{
    const struct edge *one = a, *other = b;
    return one->time != other->time ? (one->time > other->time) - (one->time < other->time)
                                    : (one->change > other->change) - (one->change < other->change);
}

/* --- items and claims --- */

static void push(const struct lb_case *c, struct lb_array *all, struct one one)
{
    if (one.high > c->known_ns) /* other claims of that time may be missing */
        one.low = one.high = LB_NEVER;
    struct one *slot = lb_array_push(all, sizeof *slot);
    *slot = one;
}

/* The claims of an odd item, from its events. *last: the latest answer; LB_NEVER: the item may have
 * come back after the last claim. */
static void add_claims(const struct lb_case *c, const struct lb_id *id, uint32_t tenant, size_t *at,
                       struct lb_array *all, uint64_t *last)
{
    const struct lb_item_record *items = c->items.items;
    uint64_t begun = 0, back = 0;
    while (*at < c->items.n && c->by_id[*at].key < id->id)
        ++*at;
    for (; *at < c->items.n && c->by_id[*at].key == id->id; ++*at) {
        const struct lb_item_record *e = &items[c->by_id[*at].index];
        if (e->op == LB_OP_ITEM) {
            begun = e->low > begun ? e->low : begun;
            *last = e->high > *last ? e->high : *last;
            push(c, all, (struct one){.tenant = tenant, .low = e->low, .high = e->high});
        } else if (e->op != LB_OP_RENEW_ITEM && e->op != LB_OP_COMPLETE && e->op != LB_OP_ERROR) {
            back = e->high > back ? e->high : back;
        }
    }
    *last = back >= begun && back > 0 ? LB_NEVER : *last;
}

/* *at: of its events, if it is odd. */
static void add_item(const struct lb_case *c, const struct lb_id *id, uint32_t tenant, size_t *at,
                     struct lb_array *all)
{
    const bool is_whole = c->model->complete && !c->history->truncated;
    struct one one = {.tenant = tenant, .low = LB_NEVER, .high = LB_NEVER};
    uint64_t last = id->is_claimed ? id->claim_high : LB_NEVER;
    if (id->is_odd)
        add_claims(c, id, tenant, at, all, &last);
    one.perhaps.from = id->put_low > 0 ? id->put_low - 1 : 0;
    one.perhaps.to = last == LB_NEVER || id->is_open || c->may_have_reopened ? LB_NEVER : last + 1;
    if (lb_id_acknowledged(id) && (id->is_claimed || (is_whole && !id->is_odd))) {
        const uint64_t to = id->is_claimed ? id->claim_low : LB_NEVER;
        one.surely = (struct span){id->put_high, to < c->known_ns ? to : c->known_ns};
    }
    if (id->is_claimed && !id->is_odd) {
        one.low = id->claim_low;
        one.high = id->claim_high;
    }
    push(c, all, one);
}

static void collect(struct lb_case *c, struct lb_array *all)
{
    size_t at = 0;
    for (const struct lb_id *id = c->ids; id < c->ids + c->n_ids; id++)
        for (uint32_t i = 0; i < id->n && id->is_put; i++) {
            uint32_t tenant = 0;
            if (id->is_put_again || !lb_attribute_of(c, LB_A_TENANT, id->id + i, &tenant)) {
                c->doubt[LB_G_SHARE] = unknown_tenant;
                all->n = 0;
                return;
            }
            add_item(c, id, tenant, &at, all);
        }
}

/* --- tenants --- */

/* When more items are there than claims of unknown outcome may have taken. Returns the number of
 * spans. */
static size_t overlay(const struct judge *judge, const struct one *all, size_t n, bool is_sure,
                      struct span *spans)
{
    const struct lb_unknown_claim *unknown = judge->c->unknown.items;
    struct edge *edges = judge->edges;
    size_t n_edges = 0, n_spans = 0;
    int64_t level = 0;
    for (size_t i = 0; i < n; i++) {
        const struct span *span = is_sure ? &all[i].surely : &all[i].perhaps;
        if (span->from >= span->to)
            continue;
        edges[n_edges++] = (struct edge){span->from, 1};
        edges[n_edges++] = (struct edge){span->to, -1};
    }
    for (size_t i = 0; i < judge->c->unknown.n && is_sure; i++)
        edges[n_edges++] = (struct edge){unknown[i].low, -(int64_t)unknown[i].n};
    if (n_edges > 0)
        qsort(edges, n_edges, sizeof *edges, by_time);
    for (size_t i = 0; i < n_edges; i++) {
        const int64_t before = level;
        level += edges[i].change;
        if (before <= 0 && level > 0)
            spans[n_spans].from = edges[i].time;
        if (before > 0 && level <= 0)
            spans[n_spans++].to = edges[i].time;
    }
    return n_spans;
}

static void make_tenants(struct judge *judge)
{
    struct tenant *tenant = judge->tenants = lb_calloc(judge->n_tenants, sizeof *judge->tenants);
    judge->spans = lb_malloc(2 * judge->n * sizeof *judge->spans);
    judge->edges = lb_malloc((2 * judge->n + judge->c->unknown.n) * sizeof *judge->edges);
    for (size_t i = 0, first = 0; i < judge->n; i++) {
        const struct one *one = &judge->all[first];
        if (i + 1 < judge->n && judge->all[i + 1].tenant == one->tenant)
            continue;
        *tenant = (struct tenant){.value = one->tenant,
                                  .surely = judge->spans + first,
                                  .perhaps = judge->spans + judge->n + first};
        tenant->n_surely = overlay(judge, one, i + 1 - first, true, tenant->surely);
        tenant->n_perhaps = overlay(judge, one, i + 1 - first, false, tenant->perhaps);
        tenant++;
        first = i + 1;
    }
}

/* The tenants with work during one claim. Claims come in order of their requests. */
static void share_out(struct judge *judge, const struct one *claim, size_t block)
{
    size_t n_sure = 0, n_perhaps = 0;
    for (struct tenant *t = judge->tenants; t < judge->tenants + judge->n_tenants; t++) {
        while (t->at_surely < t->n_surely && t->surely[t->at_surely].to <= claim->low)
            t->at_surely++;
        while (t->at_perhaps < t->n_perhaps && t->perhaps[t->at_perhaps].to <= claim->low)
            t->at_perhaps++;
        t->is_sure = t->at_surely < t->n_surely && t->surely[t->at_surely].from < claim->low &&
                     t->surely[t->at_surely].to > claim->high;
        t->is_sure |=
            t->at_perhaps < t->n_perhaps && t->perhaps[t->at_perhaps].from < claim->high ? 2 : 0;
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
    struct lb_witness *witness = lb_violation(c, LB_G_SHARE);
    char name[LB_ITEM_NAME];
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
    double largest = (sum(tenant->served) + judge->taken) / least;
    double smallest = sum(tenant->served) / (most + judge->taken);
    double margin = fmax(chance(most, bound), scatter(tenant->served, tenant->most));
    if (largest + chance(least, bound) < bound)
        report(judge, tenant, largest);
    else if (smallest - margin < bound)
        c->doubt[LB_G_SHARE] = "there were too few claims to tell the share of each tenant from "
                               "the bound";
}

static void judge_tenants(struct judge *judge)
{
    qsort(judge->all, judge->n, sizeof *judge->all, by_request);
    for (size_t i = 0; i < judge->n_claims; i++)
        share_out(judge, &judge->all[i], i * BLOCKS / judge->n_claims);
    for (size_t i = 0; i < judge->n_tenants; i++)
        judge_tenant(judge, &judge->tenants[i]);
}

static int judge_share(struct lb_case *c)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    struct lb_array all = {0};
    struct judge judge = {.c = c};
    if (!lb_wants_share(c))
        return 0;
    collect(c, &all);
    judge.all = all.items;
    judge.n = all.n;
    if (judge.n > 0)
        qsort(judge.all, judge.n, sizeof *judge.all, by_tenant);
    for (size_t i = 0; i < judge.n; i++) {
        judge.n_claims += judge.all[i].low != LB_NEVER;
        judge.n_tenants += i == 0 || judge.all[i].tenant != judge.all[i - 1].tenant;
    }
    for (size_t i = 0; i < c->unknown.n; i++)
        judge.taken += (double)unknown[i].n;
    if (judge.n_claims > 0 && judge.n_tenants > MOST_WORK / (judge.n_claims + c->unknown.n)) {
        c->doubt[LB_G_SHARE] = "there are too many tenants";
    } else if (judge.n_claims > 0) {
        make_tenants(&judge);
        judge_tenants(&judge);
    }
    free(judge.spans);
    free(judge.edges);
    free(judge.tenants);
    free(all.items);
    return 0;
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
    else if (c->classes_differ)
        snprintf(buf, size, "a claim takes items of one class, and these are of several");
    return buf;
}

const struct lb_guarantee_kind lb_guarantee_share = {.judge_queue = judge_share,
                                                     .cannot_say = cannot_say,
                                                     .nothing = too_little,
                                                     .overrule = overrule};
