/* The facts about each guarantee for the judge: rows of a table, by guarantee_list.h. Private to
 * bench/check. */
#ifndef LB_GUARANTEE_KIND_H
#define LB_GUARANTEE_KIND_H

#include "case.h"

struct lb_guarantee_kind {
    /* Counts violations, and what it tested, after the logs were read. A guarantee without a judge
     * is counted by another's judge, or while the logs are read. */
    int (*judge_lock)(struct lb_case *c);
    int (*judge_queue)(struct lb_case *c);
    /* It needs the findings of all others, and is also judged where the shortcut for calm locks
     * judged the others. */
    bool is_last;
    /* The shortcut for calm locks (lock_calm.c) gives judge_lock's findings, too. */
    bool has_shortcut;
    /* Items of several classes may be judged apart: a violation among all of them may be none. */
    bool is_within_class;
    /* A history without a grant can show that it held. */
    bool needs_no_grant;
    /* Why it is not tested where the test found nothing to look at. */
    const char *nothing;
    /* Why the history cannot show whether it held, after the test; NULL: it can. */
    const char *(*cannot_say)(const struct lb_case *c);
    /* Why no violation that was found counts either; "": each does. Returns buf. */
    const char *(*overrule)(const struct lb_case *c, char *buf, size_t size);
    unsigned doubts; /* 1 << LB_DOUBT_...: facts that it depends on */
};

/* One per line of guarantee_list.h. */
extern const struct lb_guarantee_kind *const lb_guarantee_kinds[];

#endif
