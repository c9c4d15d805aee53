/* A program of the user's as a strategy: see docs/programs.md.
 *
 * One process for each worker, with which lockbench exchanges lines of JSON: a request is written
 * to its standard input, its answer read from its standard output. The times are lockbench's own:
 * before a request is written, after its answer was read. The process is in a group of its own, so
 * that whatever it starts ends with it, and a key pressed in the terminal does not reach it.
 *
 * The program's first line states everything that a built-in strategy's descriptor states.
 */
#ifndef LB_GUEST_H
#define LB_GUEST_H

#include "strategy.h"

struct lb_guest;

/* Is this word of -s a program: an executable file that is no file of SQL? */
bool lb_guest_is(const char *word);

/* Starts the program, reads its first line and ends it. start_ms: how long that line may take. Free
 * with lb_guest_free, after the last use of its strategy. */
int lb_guest_new(const char *path, uint32_t start_ms, struct lb_guest **ret_guest,
                 struct lb_error *err);
void lb_guest_free(struct lb_guest *guest);

const struct lb_strategy *lb_guest_strategy(const struct lb_guest *guest);
/* "" if it says none. */
const char *lb_guest_version(const struct lb_guest *guest);

/* Are these values that the options can have? 0 or LB_E_USAGE. */
int lb_guest_check(const struct lb_guest *guest, const struct lb_setting *settings,
                   size_t n_settings, struct lb_error *err);
/* Which of start_ms and answer_ms is meant by the settings; the default if none. LB_E_USAGE. */
int lb_guest_limit(const char *name, const struct lb_setting *settings, size_t n_settings,
                   uint32_t *ret_ms, struct lb_error *err);

#endif
