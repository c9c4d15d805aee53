/* A played schedule for people and for other tools. Private to bench/explore. */
#ifndef LB_SHOW_H
#define LB_SHOW_H

#include "testbed.h"

/* The records of the schedule that was played last, with details, as rows of a table. */
void lb_show_table(const struct lb_testbed *testbed, struct lb_explored *explored);

/* In the witnesses' words times become numbers of steps. */
void lb_show_steps(struct lb_finding *finding);
/* Describes each violation in one sentence. */
void lb_show_words(struct lb_explored *explored);

/* The statement with its placeholders replaced by the literals of params, one per line; caller
 * frees. */
char *lb_show_fill_in(const char *native, const char *params);
const char *lb_show_native(const struct lb_testbed *testbed, const char *sql);

/* spec.c: the same for PostgreSQL's isolationtester. Caller frees. */
char *lb_show_spec(const struct lb_testbed *testbed, const struct lb_explored *explored);

/* spec.c: the statements that made the tables and their rows. Caller frees. */
char *lb_show_setup(const struct lb_testbed *testbed);

#endif
