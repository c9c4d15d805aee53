/* Makes and frees the outcome of a run. See outcome.h. */
#include "outcome.h"

#include "append.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS      UINT64_C(1000000000)
#define MOST_INTERVALS 7200

uint64_t lb_run_interval_ns(const struct lb_scenario *scenario)
{
    const uint64_t most_ns = MOST_INTERVALS * SECOND_NS;
    return scenario->duration_ns <= most_ns
               ? SECOND_NS
               : (scenario->duration_ns + most_ns - 1) / most_ns * SECOND_NS;
}

const char *lb_interval_stage(const struct lb_outcome *outcome, const struct lb_interval *interval)
{
    const struct lb_scenario *scenario = &outcome->config;
    return scenario->n_stages == 0
               ? ""
               : scenario
                     ->stages[lb_stage_at(scenario, interval->start_ns + interval->length_ns / 2)]
                     .name;
}

static const char *setting_of(const struct lb_run_plan *plan, const struct lb_option *option)
{
    const char *value = option->default_value;
    for (size_t i = 0; i < plan->n_settings; i++)
        if (strcmp(plan->settings[i].name, option->name) == 0)
            value = plan->settings[i].value;
    return value;
}

static void describe_options(const struct lb_run_plan *plan, char *buf, size_t size)
{
    const struct lb_option *options[2] = {plan->strategy->options,
                                          plan->file != NULL ? lb_file_options(plan->file) : NULL};
    buf[0] = '\0';
    for (size_t list = 0; list < 2; list++) {
        if (options[list] == NULL || (list == 1 && options[1] == options[0]))
            continue;
        for (const struct lb_option *option = options[list]; option->name != NULL; option++) {
            lb_append(buf, size, "%s%s=%s", buf[0] != '\0' ? " " : "", option->name,
                      setting_of(plan, option));
        }
    }
}

struct lb_outcome *lb_outcome_new(const struct lb_run_plan *plan)
{
    struct lb_outcome *outcome = lb_calloc(1, sizeof *outcome);
    const struct lb_scenario *scenario = plan->scenario;
    outcome->config = *scenario;
    outcome->seed = plan->seed;
    describe_options(plan, outcome->options, sizeof outcome->options);
    size_t n = scenario->workers + scenario->producers + 1;
    outcome->worker_successes = lb_calloc(n, sizeof *outcome->worker_successes);
    for (int i = 0; i < LB_MEASURES; i++)
        outcome->service[i] = lb_histogram_new();
    if (scenario->rate[0] != '\0') {
        static const enum lb_measure responses[] = {LB_M_ACQUIRE, LB_M_PUT, LB_M_CYCLE};
        for (size_t i = 0; i < sizeof responses / sizeof responses[0]; i++) {
            if (responses[i] == LB_M_CYCLE && scenario->shape == LB_QUEUE)
                continue; /* the arrival is the item's, and that is in its claim */
            outcome->response[responses[i]] = lb_histogram_new();
        }
        outcome->pacing = lb_histogram_new();
    }
    return outcome;
}

void lb_outcome_invalidate(struct lb_outcome *outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(outcome->reason, sizeof outcome->reason, format, args);
    va_end(args);
    outcome->state = LB_RUN_INVALID;
}

void lb_facts_free(struct lb_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(facts[i].name);
        free(facts[i].value);
    }
    free(facts);
}

void lb_outcome_free(struct lb_outcome *outcome)
{
    if (outcome == NULL)
        return;
    for (int i = 0; i < LB_MEASURES; i++) {
        lb_histogram_free(outcome->service[i]);
        lb_histogram_free(outcome->response[i]);
    }
    lb_histogram_free(outcome->pacing);
    free(outcome->intervals);
    free(outcome->worker_successes);
    lb_facts_free(outcome->facts, outcome->n_facts);
    lb_facts_free(outcome->nodes, outcome->n_nodes);
    lb_facts_free(outcome->server, outcome->n_server);
    lb_facts_free(outcome->plans, outcome->n_plans);
    free(outcome->waits);
    free(outcome->ranks.rows);
    free(outcome->exploration);
    free(outcome);
}
