/* The specification of a lock, with its modes, limit, owner and fence: see lock.c and automaton.h.
 */
#ifndef LB_SPEC_LOCK_H
#define LB_SPEC_LOCK_H

#include "automaton.h"

struct lb_lock_state {
    uint64_t permits; /* of the writers */
    uint32_t readers;
    uint32_t holder; /* the last writer's grant that has not ended, plus 1; 0: there is none */
    uint32_t fence;  /* the grant with the largest token, plus 1; 0: none had one */
    uint32_t zero[7];
};
_Static_assert(sizeof(struct lb_lock_state) == sizeof(struct lb_spec_state), "one state");

/* Kinds of operations. A grant is called by its number. */
enum lb_lock_kind {
    LB_LOCK_GRANT,  /* of `arg` permits; `to` not 0: of a reader, which has no number of permits */
    LB_LOCK_END,    /* about a grant: its release, or the end of its lease or session */
    LB_LOCK_BRIEF,  /* a grant and its end at one moment */
    LB_LOCK_RELEASE /* with an effect, by a worker whose own grant had ended before */
};

enum {
    LB_LOCK_IS_SHARED = 1, /* a reader, which has no number of permits */
    LB_LOCK_IS_FENCED = 2, /* it has a token */
    LB_LOCK_ENDS_OTHER = 4 /* a release: it ends the hold of the owner */
};

struct lb_lock_model {
    unsigned exceeded;   /* the guarantee exclusive */
    unsigned not_owner;  /* owner-release */
    unsigned not_larger; /* fenced; 0: not judged */
    uint64_t capacity;
    uint64_t (*token_of)(const struct lb_object *object, uint32_t number);
    const void *context; /* of this function */
};

/* The context of their objects is a struct lb_lock_model. */
struct lb_automaton lb_lock_automaton(const struct lb_lock_model *model);

#endif
