/* The table of the kinds of faults, made of fault_list.h. */
#include "fault_kind.h"

#define DECLARATION(id, symbol, name, traits, summary)                                             \
    extern const struct lb_fault_kind lb_fault_##symbol;
LB_FAULT_LIST(DECLARATION)

#define ENTRY(id, symbol, name, traits, summary) [LB_FAULT_##id] = &lb_fault_##symbol,
const struct lb_fault_kind *const lb_fault_kinds[LB_FAULTS] = {LB_FAULT_LIST(ENTRY)};
