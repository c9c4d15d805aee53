/* The guarantees, by name. docs/guarantees.md defines each one and explains how it is decided. */
#ifndef LB_GUARANTEE_H
#define LB_GUARANTEE_H

#include <stddef.h>

struct lb_error;

enum lb_guarantee {
    LB_G_EXCLUSIVE,     /* never more holders than the capacity; no reader beside a writer */
    LB_G_FENCED,        /* tokens grow with real-time order; stale writes are refused */
    LB_G_OWNER_RELEASE, /* every effective release was by the current owner */
    LB_G_NO_DUPLICATE,  /* no item is claimed twice without being given back between */
    LB_G_NO_LOSS,       /* every item put is claimed; none that was not put */
    LB_G_BOUNDED_CLAIM, /* claim(n) marks at most n rows, and returns those it marked */
    LB_G_FIFO,          /* claims, or grants, follow the order of puts, or tickets */
    LB_G_PROGRESS,      /* no worker waits longer than the scenario's bound */
    LB_G_RECOVERY,      /* a dead holder's lock or item is granted again within the bound */
    LB_G_ONCE,          /* work on an item is not begun twice, unless it was given back or reset */
    LB_G_GROUP_EXCLUSIVE, /* no two items of one group are in hand at one time */
    LB_G_PERMITS,         /* a stored count of permits is right whenever all is quiet */
    LB_GUARANTEES
};

#define LB_G_BIT(guarantee) (1u << (guarantee))

enum lb_verdict {
    LB_V_HELD,        /* claimed, tested, no violation in the history */
    LB_V_VIOLATED,    /* a witness shows it */
    LB_V_NOT_CLAIMED, /* the strategy does not promise it */
    LB_V_NOT_TESTED   /* the history cannot decide it; a reason is given */
};

/* "exclusive", "owner-release", ...; stable. */
const char *lb_guarantee_name(enum lb_guarantee guarantee);
/* One line for people. */
const char *lb_guarantee_summary(enum lb_guarantee guarantee);
/* The guarantee of that name, or -1. */
int lb_guarantee_parse(const char *name);
/* "exclusive, fenced, ...": all of them. Returns buf. */
char *lb_guarantees_text(char *buf, size_t size);
/* Bits of the names in "a,b". LB_E_USAGE: the first that is none, of option --claims. */
int lb_guarantees_parse(const char *text, unsigned *ret_claims, struct lb_error *err);
/* "held", "violated", "not claimed", "not tested". */
const char *lb_verdict_name(enum lb_verdict verdict);

#endif
