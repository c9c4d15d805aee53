/* The specification of a lock, with its modes, its limit and its owner: see lock.c and automaton.h.
 */
#ifndef LB_SPEC_LOCK_H
#define LB_SPEC_LOCK_H

#include "automaton.h"

struct lb_lock_state {
    uint64_t permits; /* of the writers */
    uint32_t readers;
    uint32_t holder; /* the last writer's grant that has not ended, plus 1; 0: there is none */
    uint64_t zero[4];
};
_Static_assert(sizeof(struct lb_lock_state) == sizeof(struct lb_spec_state), "one state");

/* Kinds of operations. A grant is called by its number. */
enum lb_lock_kind {
    LB_LOCK_GRANT,  /* of `arg` permits; `to` not 0: of a reader, which has no number of permits */
    LB_LOCK_END,    /* about a grant: its release, or the end of its lease or session */
    LB_LOCK_BRIEF,  /* a grant and its end at one moment */
    LB_LOCK_RELEASE /* with an effect, by a worker whose own grant had ended before */
};

struct lb_lock_model {
    unsigned exceeded;  /* the guarantee exclusive */
    unsigned not_owner; /* owner-release */
    uint64_t capacity;
};

/* The context of their objects is a struct lb_lock_model. */
struct lb_automaton lb_lock_automaton(const struct lb_lock_model *model);

#endif
