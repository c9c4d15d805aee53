/* How far the clock of another rank is from ours: bounds, no estimate.
 *
 * We send at time a of our clock, the other reads its clock as b, and we have its answer at z. It
 * read b at some moment between a and z, so theirs minus ours was between b - z and b - a: for any
 * network delays, in either direction. Of two clocks that differ in speed by at most LB_DRIFT_PPM a
 * bound holds at another time too, if it is widened by this drift for the time between. At any time
 * all bounds hold at once: the result is their intersection.
 *
 * Times of the other clock may be anything; only differences are looked at.
 */
#ifndef LB_OFFSETS_H
#define LB_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kernel that follows another clock may make its own faster or slower by 500 ppm, and its quartz
 * be off by 100 ppm; the other may do the opposite. */
enum { LB_DRIFT_PPM = 1200 };

struct lb_bound {
    uint64_t at_ns;    /* by the other clock */
    int64_t low, high; /* theirs minus ours */
};

/* Zeroed: nothing is known. */
struct lb_offsets {
    struct lb_bound *all; /* by time */
    size_t n, room;
    bool contradicts; /* no two clocks that run within LB_DRIFT_PPM of each other say this */
};

/* Adds the bound from one exchange; call in order of time. */
void lb_offsets_add(struct lb_offsets *offsets, uint64_t sent_ns, uint64_t theirs_ns,
                    uint64_t received_ns);
/* Once all are there: lets each of them profit from those after it. false: they contradict. */
bool lb_offsets_close(struct lb_offsets *offsets);
/* After the close: the bounds at a time of the other clock. false: it lies before the first
 * exchange or after the last, where nothing is known. *place: of the last question, which makes the
 * next one, for a later time, quick. */
bool lb_offsets_at(const struct lb_offsets *offsets, uint64_t theirs_ns, size_t *place,
                   int64_t *ret_low, int64_t *ret_high);
/* Our time on the other clock, roughly, by the last exchange. */
uint64_t lb_offsets_theirs(const struct lb_offsets *offsets, uint64_t ours_ns);
void lb_offsets_release(struct lb_offsets *offsets);

#endif
