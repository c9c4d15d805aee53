/* The table of the facts about each guarantee, made of guarantee_list.h. */
#include "guarantee_kind.h"

#define DECLARATION(id, symbol, name, traits, summary)                                             \
    extern const struct lb_guarantee_kind lb_guarantee_##symbol;
LB_GUARANTEE_LIST(DECLARATION)

#define ENTRY(id, symbol, name, traits, summary) [LB_G_##id] = &lb_guarantee_##symbol,
const struct lb_guarantee_kind *const lb_guarantee_kinds[] = {LB_GUARANTEE_LIST(ENTRY)};
