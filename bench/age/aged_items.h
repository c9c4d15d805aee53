/* The states of an aged table, and the few items that a protocol itself brings into each. */
#ifndef LB_AGED_ITEMS_H
#define LB_AGED_ITEMS_H

#include "aged_rows.h"
#include "strategy.h"

enum lb_aged_state {
    LB_AGED_FINISHED,
    LB_AGED_FAILED,
    LB_AGED_DELAYED, /* due later */
    LB_AGED_CLAIMED, /* in hand */
    LB_AGED_WAITING, /* a backlog */
    LB_AGED_OTHER_CLASS,
    LB_AGED_DEAD, /* removed, and kept for an old snapshot, which the caller holds */
    LB_AGED_STATES
};

extern const char *const lb_aged_state_names[LB_AGED_STATES]; /* "finished" */

/* The server's statistics of the tables. */
enum lb_aged_statistics {
    LB_AGED_FRESH,  /* they are analysed as they are */
    LB_AGED_STALE,  /* they were analysed before they were filled */
    LB_AGED_DEFAULT /* the server is left alone */
};

enum {
    LB_AGED_ITEMS = 4, /* that are brought into a state */
    LB_AGED_DAYS = 90, /* the age of the oldest copy */
    LB_AGED_DELAY_MS = 86400000
};

/* Opens, makes the items, and learns: aged is then ready for lb_aged_fill, unless the items have
 * left no rows.  The strategy is set up, the actor open. */
int lb_aged_begin(struct lb_aged *aged, struct lb_actor *actor, struct lb_space *space,
                  enum lb_aged_state state, enum lb_aged_statistics statistics, int64_t first,
                  const atomic_int *interrupt, bool *ret_has_rows, struct lb_error *err);
/* The age of the oldest copy of a state. */
int64_t lb_aged_age_s(enum lb_aged_state state);
/* Does a claim get an item? The caller undoes it. An answer, or an error. */
int lb_aged_claims(struct lb_actor *actor, bool *ret_claims, struct lb_error *err);
/* An answer above LB_OK as LB_E_UNSUPPORTED; what: "the claim of an item". */
int lb_aged_answered(const struct lb_session *session, const char *what, int answer,
                     struct lb_error *err);
/* Ends one item by section complete, error, free or retry; by its batch where it takes batches. */
int lb_aged_end(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                struct lb_error *err);

#endif
