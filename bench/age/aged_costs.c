/* Costs at one size: see aged_costs.h. The counts are those of lockbench age, and exact. */
#include "aged_costs.h"

#include "age_bench.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2000, ROUNDS = 3 };

/* --- queues --- */

static void take_state(const struct lb_age *age, enum lb_aged_state state, const char *items,
                       struct lb_costs *ret)
{
    for (size_t op = 0; op < LB_AGE_OPS && age->states[state].n_points > 0; op++) {
        const struct lb_age_curve *curve = &age->states[state].curves[op];
        struct lb_cost *cost = &ret->at[ret->n];
        if (!curve->is_there || curve->refused[0] != '\0' || ret->n == LB_COSTS)
            continue;
        snprintf(cost->name, sizeof cost->name, "%s, %d %s items", lb_age_op_names[op], ROWS,
                 items);
        cost->cost = curve->points[0].cost;
        cost->locked = curve->points[0].locked;
        ret->n++;
    }
}

static int measure_queue(const struct lb_age_plan *asked, struct lb_costs *ret,
                         struct lb_error *err)
{
    struct lb_age_plan plan = *asked;
    struct lb_age *age = lb_calloc(1, sizeof *age);
    plan.states = 1u << LB_AGED_FINISHED | 1u << LB_AGED_WAITING;
    plan.sizes[0] = ROWS;
    plan.n_sizes = 1;
    int r = lb_age_measure(&plan, age, err);
    take_state(age, LB_AGED_FINISHED, "finished", ret);
    take_state(age, LB_AGED_WAITING, "waiting", ret);
    free(age);
    return r;
}

/* --- locks --- */

/* Of one resource: the counts of the last round stay. */
static int count(struct lb_age_bench *bench, size_t i, enum lb_section_name section,
                 const struct lb_request *request, struct lb_grant *grant, struct lb_costs *ret,
                 struct lb_error *err)
{
    lb_aged_cost_begin(&bench->cost);
    int r = bench->plan->strategy->flow->lock(&bench->actor, section, request, grant, err);
    struct lb_cost *cost = &ret->at[i];
    snprintf(cost->name, sizeof cost->name, "%s, %d resources", lb_section_text(section),
             LB_AGE_RESOURCES);
    cost->cost = bench->cost.cost;
    cost->locked = bench->cost.locked;
    ret->n = i + 1 > ret->n ? i + 1 : ret->n;
    return lb_aged_answered(&bench->session, lb_section_text(section), r, err);
}

static int count_round(struct lb_age_bench *bench, uint32_t resource, struct lb_costs *ret,
                       struct lb_error *err)
{
    static const enum lb_section_name sections[] = {LB_S_ENQUEUE, LB_S_ACQUIRE, LB_S_RENEW,
                                                    LB_S_RELEASE};
    const struct lb_request request = {.resource = resource, .capacity = 1};
    struct lb_grant grant = {0};
    size_t n = 0;
    int r = 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0] && r == 0; i++)
        if (lb_strategy_has(&bench->strategy_plan, sections[i]))
            r = count(bench, n++, sections[i], &request, &grant, ret, err);
    return r;
}

/* Holds a half of the resources, if one worker can have several. */
static void hold_half(struct lb_age_bench *bench)
{
    const struct lb_flow *flow = bench->plan->strategy->flow;
    struct lb_error ignored;
    int r = bench->program->sections[LB_S_ACQUIRE].tx == LB_TX_HOLD ? LB_BUSY : LB_OK;
    for (uint32_t i = 0; i < LB_AGE_RESOURCES / 2 && r == LB_OK; i++) {
        const struct lb_request request = {.resource = i, .capacity = 1};
        struct lb_grant grant = {0};
        if (lb_strategy_has(&bench->strategy_plan, LB_S_ENQUEUE))
            r = flow->lock(&bench->actor, LB_S_ENQUEUE, &request, &grant, &ignored);
        if (r == LB_OK)
            r = flow->lock(&bench->actor, LB_S_ACQUIRE, &request, &grant, &ignored);
    }
}

static int measure_lock(const struct lb_age_plan *plan, struct lb_costs *ret, struct lb_error *err)
{
    struct lb_age_bench *bench = lb_calloc(1, sizeof *bench);
    bench->plan = plan;
    bench->db = plan->target->db;
    int r = lb_age_open(bench, LB_AGE_RESOURCES, err);
    if (r == 0) {
        hold_half(bench);
        lb_aged_cost_watch(&bench->cost, bench->program, &bench->session);
    }
    for (uint32_t round = 1; round <= ROUNDS && r == 0; round++)
        r = count_round(bench, LB_AGE_RESOURCES - round, ret, err);
    r = lb_age_close(bench, r, err);
    free(bench);
    return r;
}

/* --- both --- */

int lb_costs_measure(const struct lb_age_plan *plan, struct lb_costs *ret, struct lb_error *err)
{
    *ret = (struct lb_costs){0};
    if (plan->target->db->aging == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s does not count what statements read",
                       plan->target->db->product);
    ret->unit = plan->target->db->aging->unit;
    return plan->strategy->shape == LB_QUEUE ? measure_queue(plan, ret, err)
                                             : measure_lock(plan, ret, err);
}

static double growth(double from, double to)
{
    return from >= 0 && to >= 1.5 * from && to >= from + 5 ? to - from : 0;
}

bool lb_costs_grew(const struct lb_costs *from, const struct lb_costs *to, char *words, size_t size)
{
    double most = 0;
    for (size_t i = 0; i < from->n; i++)
        for (size_t k = 0; k < to->n; k++) {
            const struct lb_cost *a = &from->at[i], *b = &to->at[k];
            double read = growth(a->cost, b->cost), locked = growth(a->locked, b->locked);
            if (strcmp(a->name, b->name) != 0 || (read <= most && locked <= most))
                continue;
            bool is_read = read >= locked;
            most = is_read ? read : locked;
            snprintf(words, size, "%s: %.0f %s, and %.0f with the clause", a->name,
                     is_read ? b->cost : b->locked, is_read ? from->unit : "rows locked",
                     is_read ? a->cost : a->locked);
        }
    return most > 0;
}
