/* The course of a run of minutes or hours: did its level stay, drift, collapse, recover?
 *
 * The level is cut where it changes: binary segmentation by the largest cumulative sum, tested
 * against circular block bootstraps of the noise, because neighbouring points are alike (a
 * checkpoint lasts for several). A piece has a fiftieth of the points, from 5 to 30, so that a few
 * low points are no change. A collapse is a change to at most half of the level before; it begins
 * where the fall to it begins: at a step below 90 % of the level that is still there before the
 * largest one. It has recovered once the level is back at 90 %. Intervals of 95 %
 * are from the same bootstrap.
 *
 * Kuensch 1989 (blocks); Andrews 1991 (their length); Bai 1997 (changes one after the other).
 */
#ifndef LB_COURSE_H
#define LB_COURSE_H

#include "stats.h"

enum lb_course_verdict {
    LB_COURSE_STEADY,    /* the drift over the whole is within LB_COURSE_TOLERANCE */
    LB_COURSE_DRIFTING,  /* it is outside of that, and chance does not explain it */
    LB_COURSE_COLLAPSED, /* see above; it may have recovered */
    LB_COURSE_UNCLEAR    /* too noisy to say */
};
#define LB_COURSE_TOLERANCE 0.10
enum { LB_COURSE_FEWEST = 30 }; /* points */

struct lb_course {
    enum lb_course_verdict verdict;
    struct lb_estimate per_hour;  /* without a collapse: the drift, as a share of the mean */
    struct lb_estimate collapsed; /* when, in the unit of x */
    double before, during;        /* the level before the fall, and after it */
    size_t at;                    /* the point at which the fall begins */
    bool has_recovered;
    struct lb_estimate recovered; /* when */
};

/* "steady", "drifting", "collapsed", "unclear". */
const char *lb_course_name(enum lb_course_verdict verdict);

/* n >= LB_COURSE_FEWEST points in order of x, in seconds, about evenly spaced; y >= 0. Returns 0,
 * or LB_E_USAGE where nothing can be said. */
int lb_course_of(const double *x, const double *y, size_t n, uint64_t seed, struct lb_course *ret,
                 struct lb_error *err);

#endif
