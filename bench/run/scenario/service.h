/* How long a hold, or the work on an item, lasts: one time, or a distribution of times.
 *
 * Text of the scenario's key `hold`, beside a time:
 *
 *     exp:5ms              exponential, of this mean
 *     lognormal:5ms,1.2    of this median; the logarithm has this standard deviation
 *     pareto:5ms,2.5       of this minimum and this exponent, above 1 (else it has no mean)
 *     file:durations.csv   drawn from the values of a file, each as likely as the others
 *
 * A distribution without an end is cut at its largest value in a million, so that no single draw
 * outlasts the run; mean_ns takes that into account.
 */
#ifndef LB_SERVICE_H
#define LB_SERVICE_H

#include "error.h"
#include "random.h"

#include <stdbool.h>
#include <stddef.h>

struct lb_scenario;

enum lb_service_kind {
    LB_SERVICE_CONSTANT,
    LB_SERVICE_EXPONENTIAL,
    LB_SERVICE_LOGNORMAL,
    LB_SERVICE_PARETO,
    LB_SERVICE_FILE
};

struct lb_service {
    enum lb_service_kind kind;
    double scale_ns, shape; /* the two numbers of the text */
    double mean_ns, most_ns;
    uint64_t *values; /* of a file, ascending */
    size_t n_values;
};

/* True if text is one of the above, well-formed or not, and no time. */
bool lb_service_is_distribution(const char *text);
/* Reads the text of a distribution, and its file. LB_E_USAGE says what is accepted. */
int lb_service_parse(const char *text, struct lb_service *ret, struct lb_error *err);
/* The scenario's, with the scenario's mean (a stretched scenario has a larger one). */
int lb_service_init(const struct lb_scenario *scenario, struct lb_service *ret,
                    struct lb_error *err);
void lb_service_release(struct lb_service *service);

/* A time in ns. A constant draws nothing. */
uint64_t lb_service_draw(const struct lb_service *service, struct lb_random *random);

#endif
