/* The price of servers and workers (--price), in the user's own currency. */
#ifndef LB_PRICE_H
#define LB_PRICE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct lb_price {
    double server_per_h, worker_per_h;
    bool is_given;
};

/* Parses "0.40/h" or "0.40/h,worker=0.05/h". Returns 0 or LB_E_USAGE. */
int lb_price_parse(const char *text, struct lb_price *ret_price, struct lb_error *err);
/* The server and n workers, for an hour. */
double lb_price_per_h(const struct lb_price *price, double n_workers);
/* A million jobs at this rate. NAN: no price was given, or nothing succeeds. */
double lb_price_per_million(const struct lb_price *price, double n_workers, double jobs_per_s);
/* "1.17" or "0.0287": three digits, or all before the point; "n/a" for NAN. Returns buf. */
char *lb_price_format(double amount, char *buf, size_t size);

#endif
