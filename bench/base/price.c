/* The price of servers and workers: see price.h. */
#include "price.h"

#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "0.40/h". Returns 0 or -1. */
static int parse_amount(const char *text, size_t length, double *ret_amount)
{
    char amount[32];
    if (length < 3 || length - 2 >= sizeof amount || memcmp(text + length - 2, "/h", 2) != 0)
        return -1;
    snprintf(amount, sizeof amount, "%.*s", (int)(length - 2), text);
    if (lb_parse_double(amount, ret_amount) != 0 || !isfinite(*ret_amount) || *ret_amount < 0)
        return -1;
    return 0;
}

int lb_price_parse(const char *text, struct lb_price *ret_price, struct lb_error *err)
{
    static const char worker[] = ",worker=";
    size_t server = strcspn(text, ",");
    const char *rest = text + server;
    *ret_price = (struct lb_price){.is_given = true};
    int rc = parse_amount(text, server, &ret_price->server_per_h);
    if (rc == 0 && rest[0] != '\0') {
        size_t skip = sizeof worker - 1;
        rc = strncmp(rest, worker, skip) != 0 ||
                     parse_amount(rest + skip, strlen(rest + skip), &ret_price->worker_per_h) != 0
                 ? -1
                 : 0;
    }
    if (rc != 0 || ret_price->server_per_h + ret_price->worker_per_h <= 0)
        return lb_fail(err, LB_E_USAGE,
                       "option --price: '%s' is no price; an hour of the server, and of a worker "
                       "if it costs extra: 0.40/h,worker=0.05/h",
                       text);
    return 0;
}

double lb_price_per_h(const struct lb_price *price, double n_workers)
{
    return price->server_per_h + price->worker_per_h * n_workers;
}

double lb_price_per_million(const struct lb_price *price, double n_workers, double jobs_per_s)
{
    return price->is_given && jobs_per_s > 0
               ? lb_price_per_h(price, n_workers) / (jobs_per_s * 3600) * 1e6
               : NAN;
}

char *lb_price_format(double amount, char *buf, size_t size)
{
    if (isnan(amount))
        snprintf(buf, size, "n/a");
    else
        snprintf(buf, size, amount >= 100 ? "%.0f" : "%.3g", amount);
    return buf;
}
