/* Strategies by name, and users' files as strategies: see strategy.h. */
#include "strategy.h"

#include <stdlib.h>
#include <string.h>

const char *const lb_no_changes[] = {NULL};

const struct lb_strategy *lb_strategy_find(const char *name)
{
    for (size_t i = 0; lb_strategies[i] != NULL; i++)
        if (strcmp(lb_strategies[i]->name, name) == 0)
            return lb_strategies[i];
    return NULL;
}

const struct lb_embedded *lb_embedded_find(const char *strategy, const char *engine)
{
    for (const struct lb_embedded *e = lb_embedded_sql; e->strategy != NULL; e++)
        if (strcmp(e->strategy, strategy) == 0 && strcmp(e->engine, engine) == 0)
            return e;
    return NULL;
}

void lb_strategy_of_file(const struct lb_file *file, struct lb_strategy *ret_strategy)
{
    *ret_strategy = (struct lb_strategy){
        .name = lb_file_strategy(file),
        .summary = lb_file_summary(file),
        .origin = lb_file_origin(file),
        .changed = lb_no_changes,
        .shape = lb_file_shape(file),
        .is_shared_capable = lb_file_uses(file, LB_SLOT_MODE),
        .is_capacity_capable = lb_file_uses(file, LB_SLOT_CAPACITY),
        .is_lease = lb_file_lease(file) != NULL,
        .needs = lb_file_needs(file),
        .claims = lb_file_claims(file),
        .isolation = lb_file_isolation(file),
        .flow = &lb_ordinary_flow,
    };
}

bool lb_strategy_holds_in_tx(const struct lb_strategy_plan *plan)
{
    return plan->program != NULL && plan->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD;
}

const char *const lb_attribute_letters[LB_ATTRIBUTES] = {
    [LB_A_KEY] = "key", [LB_A_TENANT] = "tenant", [LB_A_UNIQUE] = "unique"};

const struct lb_program *lb_strategy_stated(const struct lb_strategy_plan *plan)
{
    return plan->program != NULL ? plan->program : plan->strategy->stated;
}

bool lb_strategy_refuses(const struct lb_strategy_plan *plan, int answer)
{
    const struct lb_program *stated = lb_strategy_stated(plan);
    return answer == LB_DUPLICATE && stated != NULL && stated->unique != 0;
}

const char *lb_setting_of(const struct lb_setting *settings, size_t n, const char *name,
                          const char *by_default)
{
    while (n-- > 0)
        if (strcmp(settings[n].name, name) == 0)
            return settings[n].value;
    return by_default;
}

uint32_t lb_strategy_attempts(const struct lb_strategy_plan *plan)
{
    const char *name = plan->strategy->attempts, *value = "0";
    if (plan->program != NULL || name == NULL)
        return plan->program != NULL ? plan->program->attempts : 0;
    for (const struct lb_option *o = plan->strategy->options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0)
            value = o->default_value;
    value = lb_setting_of(plan->settings, plan->n_settings, name, value);
    return (uint32_t)strtoul(value, NULL, 10);
}

bool lb_strategy_takes_batch(const struct lb_strategy_plan *plan, enum lb_section_name section)
{
    bool takes = plan->program != NULL ? plan->program->sections[section].takes_batch
                                       : (plan->strategy->batches >> section & 1) != 0;
    return takes && plan->strategy->flow->batch != NULL;
}

const char *lb_strategy_unpiped(const struct lb_strategy_plan *plan, enum lb_section_name section)
{
    if (plan->program == NULL || plan->strategy->flow->pipeline == NULL)
        return "is more than statements";
    return lb_section_unpiped(&plan->program->sections[section]);
}

bool lb_strategy_has(const struct lb_strategy_plan *plan, enum lb_section_name name)
{
    if (plan->program != NULL)
        return plan->program->sections[name].present;
    return (plan->strategy->operations >> name & 1) != 0;
}
