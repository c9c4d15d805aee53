/* How much of a search is done, while it goes on.
 *
 * The size of the remaining branches is estimated from the finished ones (after Knuth 1975,
 * "Estimating the efficiency of backtrack programs", which takes each to be as large as its
 * neighbours). Sleep sets make later branches smaller than the first one of a state, so how much
 * smaller is learnt: of all states so far, by the branch's number. Sizes are moves that were made,
 * re-execution included, so that the estimate is one of time, too.
 */
#ifndef LB_EXTENT_H
#define LB_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LB_EXTENT_BRANCHES = 25 };

/* Of a search. */
struct lb_extent {
    double first[LB_EXTENT_BRANCHES]; /* the sizes of first branches, for states with an n-th one */
    double later[LB_EXTENT_BRANCHES]; /* ... and the n-th ones */
};

/* Of a state on the path. */
struct lb_extent_node {
    uint64_t begun; /* the size of everything when its present branch was begun */
    double first;   /* size of its first branch */
    unsigned n;     /* branches that are done */
};

/* Its present branch is done. now: the size of everything. */
void lb_extent_branch(struct lb_extent *extent, struct lb_extent_node *node, uint64_t now);
/* The remaining size behind the state: `below` of its present branch, and n_left others. */
double lb_extent_left(const struct lb_extent *extent, const struct lb_extent_node *node,
                      unsigned n_left, uint64_t now, double below);

/* "roughly 12 %", "less than 0.1 %". All outputs use the same words. Returns buf. */
char *lb_extent_words(double share, char *buf, size_t size);

/* How steady the estimate is: its range since a quarter to a half of the time that has passed. All
 * zero at first. */
struct lb_steadiness {
    double least[2], most[2]; /* of all, in sizes: before, and in the present span */
    uint64_t ends_ns;         /* of the span; the next one is as long as all before it */
};
/* Notes the present estimate of the whole. */
void lb_steadiness_note(struct lb_steadiness *steady, uint64_t passed_ns, double whole);
/* The estimate of the whole to report. *ret_is_least: the estimates differed by more than three
 * times lately, and it is half of the least of them; else it is amid them. */
double lb_steadiness_whole(const struct lb_steadiness *steady, bool *ret_is_least);

#endif
