/* The guarantees, by name. docs/guarantees.md defines each one and explains how it is decided. */
#ifndef LB_GUARANTEE_H
#define LB_GUARANTEE_H

#include "guarantee_list.h"

#include <stdbool.h>
#include <stddef.h>

struct lb_error;

#define LB_GUARANTEE_CONSTANT(id, symbol, name, traits, summary) LB_G_##id,
enum lb_guarantee { LB_GUARANTEE_LIST(LB_GUARANTEE_CONSTANT) LB_GUARANTEES_LISTED };

/* Arrays have room for more than are listed, so that a new line changes the layout of nothing. */
enum { LB_GUARANTEE_ROOM = 24 };
extern const int lb_guarantees_listed;
#define LB_GUARANTEES lb_guarantees_listed

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
bool lb_guarantee_is(enum lb_guarantee guarantee, enum lb_guarantee_trait trait);
/* LB_G_BIT()s of all guarantees with the trait. */
unsigned lb_guarantees_with(enum lb_guarantee_trait trait);
/* The guarantee of that name, or -1. */
int lb_guarantee_parse(const char *name);
/* "exclusive, fenced, ...": all of them. Returns buf. */
char *lb_guarantees_text(char *buf, size_t size);
/* Bits of the names in "a,b". LB_E_USAGE: the first that is none, of option --claims. */
int lb_guarantees_parse(const char *text, unsigned *ret_claims, struct lb_error *err);
/* "held", "violated", "not claimed", "not tested". */
const char *lb_verdict_name(enum lb_verdict verdict);

#endif
