/* Holds, waits and faults of a recorded history, for a picture of it: as the holders believed. The
 * verdicts are the judge's (bench/check), and are not made here. */
#ifndef LB_PAGE_HOLDS_H
#define LB_PAGE_HOLDS_H

#include "history.h"

/* From a grant to its release's invoke; of an item from its claim to the end of the work on it. */
struct lb_page_hold {
    uint64_t start_ns, end_ns;
    uint64_t id;     /* resource, or item */
    uint64_t token;  /* of a lock's grant, if has_token */
    uint32_t object; /* resource, or class */
    uint32_t log;
    uint32_t permits;
    bool is_shared, has_token;
    bool is_open; /* was never given back: ends with its holder's death, or with the history */
};

/* A grant after its first try, or an attempt that was refused. */
struct lb_page_answer {
    uint64_t at_ns;
    uint64_t wait_ns;     /* since the first try; of a grant */
    uint32_t n_successes; /* grants, or items; 0: refused */
};

struct lb_page_fault {
    uint64_t begin_ns, end_ns; /* end UINT64_MAX: a moment, or none was noted */
    uint64_t kind;             /* enum lb_fault */
    uint32_t log;
};

/* All times are as in the history. Release with lb_page_digest_release. */
struct lb_page_digest {
    bool is_queue, is_reentrant;
    uint64_t start_ns, warm_ns, end_ns;
    struct lb_page_hold *holds; /* by id, then by start */
    struct lb_page_answer *answers;
    struct lb_page_fault *faults; /* by begin */
    size_t n_holds, n_answers, n_faults;
};

/* Reads a view's logs. Accepts any order of events that lb_history_open lets through: events that
 * do not fit together are left out. 0, or LB_E_ENV: more holds
 * than can be counted. */
int lb_page_digest_make(const struct lb_history_view *view, struct lb_page_digest *ret,
                        struct lb_error *err);
void lb_page_digest_release(struct lb_page_digest *digest);

#endif
