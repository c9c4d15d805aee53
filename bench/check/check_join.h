/* Several histories of one system as one: workers in several processes, or on several hosts. */
#ifndef LB_CHECK_JOIN_H
#define LB_CHECK_JOIN_H

#include "history.h"

/* Joins n views, at least one. The logs of a later view are renumbered behind those of the earlier
 * ones, also in the notes that name them. Times: histories whose clocks count from the same moment
 * (one host; their realtime starts agree with their monotonic ones within ten seconds) keep them;
 * others are laid over each other by their realtime starts, which is only as good as the hosts'
 * clocks agree: uncertainty_ns[i], if not NULL, is how far those of view i can be off, and makes
 * its operations longer by as much on both sides. The events are copied; the views may be released
 * afterwards. The result has the first view's meta. Free with lb_join_release. */
void lb_join(const struct lb_history_view *views, size_t n, const uint64_t *uncertainty_ns,
             struct lb_history_view *ret_view);
void lb_join_release(struct lb_history_view *view);

#endif
