/* The tests of a file or a program, chosen by its features, with reasons: the list of an outlook,
 * in the order of execution.
 */
#ifndef LB_ASKS_H
#define LB_ASKS_H

#include "outlook.h"

struct lb_asking {
    const struct lb_strategy *strategy;
    const struct lb_db *db;
    const struct lb_program
        *program; /* NULL: it is a program of another kind, see lb_asks_program */
    const struct lb_outlook_site *site;
    struct lb_outlook *outlook;
};

bool lb_asking_claims(const struct lb_asking *m, enum lb_guarantee guarantee);
/* Sessions can be ended, and wait for each other's rows. */
bool lb_asking_on_server(const struct lb_asking *m);
/* A lock whose lease may be counted before a wait. */
bool lb_asking_counts_by_server(const struct lb_asking *m);

/* One time of it is by the workers' clocks, and another by the server's. */
bool lb_asking_parts_clocks(const struct lb_asking *m);

/* Adds an ask to the list. Further arguments: what why, a format, wants. Borrowed from the list. */
struct lb_ask *lb_asks_add(struct lb_asking *m, const char *name, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a run of a scenario, under a fault; NULL: none. */
struct lb_ask *lb_asks_add_run(struct lb_asking *m, const char *scenario, const char *fault,
                               const char *why);
/* Adds keys of the scenario: "hold=5ms ttl=1s". */
void lb_ask_set(struct lb_ask *ask, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a test that is impossible, with the reason. */
void lb_asks_leave_out(struct lb_asking *m, const char *name, const char *why);

/* Adds explorations: two workers' statements in every order, with deaths, clocks, renewals. */
void lb_asks_explore(struct lb_asking *m);
/* What crowds, short leases and faults are to show. */
void lb_asks_stress(struct lb_asking *m);
/* All that a program is asked. */
void lb_asks_program(struct lb_asking *m);

#endif
