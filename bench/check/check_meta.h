/* How a history's file says what it is to be judged against: lines of "key=value" in its meta text.
 *
 *   shape=lock|queue        resources=N         capacity=1*999,3 (value*times, comma)
 *   reentrant=0|1           lease=0|1           claims=exclusive,fenced,...
 *   release=belief|state    drained=0|1         complete=0|1
 *   end_ns=N                progress_bound_ns=N recovery_bound_ns=N
 *   period_ns=N             own_rows=0|1        progress_demand_ns=N
 *   attempts=N              tick_ms=N           returned=0|1
 *   doubt_X=N asked|said REASON (X: lease, attempts, rows, due, clock, limit)
 *
 * Other keys (the strategy's name, the seed) are left alone. A recorder writes the text with
 * complete=0 when it begins and again when it has ended, so that a history whose recorder was
 * killed says by itself that it is incomplete.
 */
#ifndef LB_CHECK_META_H
#define LB_CHECK_META_H

#include "check.h"

#include "error.h"

/* Writes the model as meta lines into buf, NUL-terminated. Returns the length that was needed
 * without the NUL, as snprintf does. */
size_t lb_model_format(const struct lb_model *model, char *buf, size_t size);

/* Reads the keys that are there into *ret_model, over what is in it. *ret_capacity: the capacities,
 * which ret_model->capacity points to; NULL if there are none; the caller frees it. LB_E_FILE for a
 * value that cannot be. */
int lb_model_parse(const char *meta, struct lb_model *ret_model, uint32_t **ret_capacity,
                   struct lb_error *err);

/* The value of a key of a meta text, copied into buf; NULL if it has none. */
char *lb_meta_get(const char *meta, const char *key, char *buf, size_t size);

#endif
