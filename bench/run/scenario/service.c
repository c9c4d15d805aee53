/* Distributions of service times: see service.h.
 *
 * Exponential and Pareto times are the inverse of their distribution function, lognormal ones use
 * the method of Box and Muller (1958). Means of times that are cut at the quantile 1 - p: of a
 * Pareto law scale (shape - p^(1 - 1/shape)) / (shape - 1); of a lognormal one by the partial
 * expectation.
 */
#include "service.h"

#include "scenario.h"
#include "units.h"
#include "values_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUT   1e-6              /* the share that is beyond the largest value */
#define CUT_Z 4.753424308822899 /* the standard normal quantile of 1 - CUT */
#define TAU   6.283185307179586

static const char *const accepted =
    "accepted: 5ms, exp:5ms, lognormal:5ms,1.2, pareto:5ms,2.5, file:durations.csv";

static const struct {
    const char *prefix;
    enum lb_service_kind kind;
} kinds[] = {{"exp:", LB_SERVICE_EXPONENTIAL},
             {"lognormal:", LB_SERVICE_LOGNORMAL},
             {"pareto:", LB_SERVICE_PARETO},
             {"file:", LB_SERVICE_FILE}};

bool lb_service_is_distribution(const char *text)
{
    return strchr(text, ':') != NULL;
}

static double normal_cdf(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

/* "5ms", or "5ms,1.2". Returns what is wrong, or NULL. */
static const char *parse_numbers(const char *text, struct lb_service *service)
{
    const bool has_shape = service->kind != LB_SERVICE_EXPONENTIAL;
    const char *comma = strchr(text, ',');
    char time[40];
    uint64_t ns;
    if ((comma != NULL) != has_shape)
        return has_shape ? "needs a time, a comma and a number" : "needs one time";
    snprintf(time, sizeof time, "%.*s", (int)(comma != NULL ? comma - text : 39), text);
    if (lb_parse_ns(time, &ns) != 0 || ns == 0)
        return "needs a time with its unit, such as 5ms";
    service->scale_ns = (double)ns;
    if (has_shape && lb_parse_double(comma + 1, &service->shape) != 0)
        return "needs a number behind its comma";
    if (service->kind == LB_SERVICE_LOGNORMAL && !(service->shape > 0 && service->shape <= 4))
        return "needs a standard deviation of the logarithm above 0, and at most 4";
    if (service->kind == LB_SERVICE_PARETO && !(service->shape > 1 && service->shape <= 100))
        return "needs an exponent above 1, and at most 100: below, there is no mean";
    return NULL;
}

/* mean_ns and most_ns */
static void measure(struct lb_service *service)
{
    const double scale = service->scale_ns, shape = service->shape;
    double sum = 0;
    switch (service->kind) {
    case LB_SERVICE_EXPONENTIAL:
        service->most_ns = -log(CUT) * scale;
        service->mean_ns = (1 - CUT) * scale;
        break;
    case LB_SERVICE_LOGNORMAL:
        service->most_ns = scale * exp(shape * CUT_Z);
        service->mean_ns =
            scale * exp(shape * shape / 2) * normal_cdf(CUT_Z - shape) + CUT * service->most_ns;
        break;
    case LB_SERVICE_PARETO:
        service->most_ns = scale * pow(CUT, -1 / shape);
        service->mean_ns = scale * (shape - pow(CUT, 1 - 1 / shape)) / (shape - 1);
        break;
    case LB_SERVICE_FILE:
        for (size_t i = 0; i < service->n_values; i++)
            sum += (double)service->values[i];
        service->mean_ns = sum / (double)service->n_values;
        service->most_ns = (double)service->values[service->n_values - 1];
        break;
    case LB_SERVICE_CONSTANT:
    default:
        service->mean_ns = service->most_ns = scale;
    }
}

int lb_service_parse(const char *text, struct lb_service *ret, struct lb_error *err)
{
    struct lb_service service = {.kind = LB_SERVICE_CONSTANT};
    const char *rest = text, *wrong = "is not a time with its unit, and no distribution";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(text, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
            continue;
        service.kind = kinds[i].kind;
        rest = text + strlen(kinds[i].prefix);
    }
    if (service.kind == LB_SERVICE_FILE) {
        int rc = lb_values_read("hold", rest, LB_VALUES_DURATIONS, &service.values,
                                &service.n_values, err);
        if (rc != 0)
            return rc;
        wrong = NULL;
    } else if (service.kind != LB_SERVICE_CONSTANT) {
        wrong = parse_numbers(rest, &service);
    }
    if (wrong == NULL) {
        measure(&service);
        wrong = service.most_ns < 0x1p62 ? NULL : "has times that are too long";
    }
    if (wrong == NULL && service.mean_ns < 1)
        wrong = "has only times of 0";
    if (wrong != NULL) {
        lb_service_release(&service);
        return lb_fail(err, LB_E_USAGE, "hold: '%s' %s; %s", text, wrong, accepted);
    }
    *ret = service;
    return 0;
}

int lb_service_init(const struct lb_scenario *scenario, struct lb_service *ret,
                    struct lb_error *err)
{
    const double mean_ns = (double)scenario->hold_ns;
    if (scenario->holds[0] == '\0') {
        *ret = (struct lb_service){.scale_ns = mean_ns, .mean_ns = mean_ns, .most_ns = mean_ns};
        return 0;
    }
    int rc = lb_service_parse(scenario->holds, ret, err);
    if (rc != 0)
        return rc;
    const double factor = round(mean_ns / ret->mean_ns); /* of lb_scenario_stretch() */
    ret->scale_ns *= factor;
    ret->mean_ns *= factor;
    ret->most_ns *= factor;
    for (size_t i = 0; i < ret->n_values; i++)
        ret->values[i] = (uint64_t)((double)ret->values[i] * factor);
    return 0;
}

void lb_service_release(struct lb_service *service)
{
    free(service->values);
    service->values = NULL;
}

uint64_t lb_service_draw(const struct lb_service *service, struct lb_random *random)
{
    if (service->kind == LB_SERVICE_CONSTANT)
        return (uint64_t)service->scale_ns;
    if (service->kind == LB_SERVICE_FILE)
        return service->values[lb_random_below(random, service->n_values)];
    const double unit = 1 - lb_random_unit(random); /* in (0, 1] */
    double ns = 0;
    if (service->kind == LB_SERVICE_EXPONENTIAL)
        ns = -log(unit) * service->scale_ns;
    else if (service->kind == LB_SERVICE_PARETO)
        ns = service->scale_ns * pow(unit, -1 / service->shape);
    else
        ns = service->scale_ns *
             exp(service->shape * sqrt(-2 * log(unit)) * cos(TAU * lb_random_unit(random)));
    return (uint64_t)fmin(ns, service->most_ns);
}
