/* The sections of a statement file: their names, shapes and properties. */
#include "program_raw.h"

enum { LOCK = 1u << LB_LOCK, QUEUE = 1u << LB_QUEUE, BOTH = LOCK | QUEUE };

static const struct {
    const char *text;
    unsigned shapes, is; /* bits of enum lb_section_is */
} sections[LB_SECTIONS] = {
    [LB_S_SETUP] = {"setup", BOTH, LB_SECTION_IS_SCHEMA | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_RESOURCE] = {"resource", LOCK, LB_SECTION_NEEDS_NO_ROW},
    [LB_S_ENQUEUE] = {"enqueue", LOCK, LB_SECTION_NEEDS_NO_ROW | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_ACQUIRE] = {"acquire", LOCK, LB_SECTION_HAS_BAG | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_RENEW] = {"renew", BOTH,
                    LB_SECTION_HAS_BAG | LB_SECTION_MAY_TAKE_BATCH | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_RELEASE] = {"release", LOCK, LB_SECTION_HAS_BAG | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_CANCEL] = {"cancel", LOCK, LB_SECTION_HAS_BAG | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_PUT] = {"put", QUEUE, 0},
    [LB_S_CLAIM] = {"claim", QUEUE, LB_SECTION_CAN_READ_REPLICA},
    [LB_S_COMPLETE] = {"complete", QUEUE,
                       LB_SECTION_HAS_BAG | LB_SECTION_MAY_TAKE_BATCH |
                           LB_SECTION_CAN_READ_REPLICA},
    [LB_S_ERROR] = {"error", QUEUE,
                    LB_SECTION_HAS_BAG | LB_SECTION_MAY_TAKE_BATCH | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_FREE] = {"free", QUEUE,
                   LB_SECTION_HAS_BAG | LB_SECTION_MAY_TAKE_BATCH | LB_SECTION_CAN_READ_REPLICA},
    [LB_S_RETRY] = {"retry", QUEUE, LB_SECTION_HAS_BAG},
    [LB_S_CLEAR_ERROR] = {"clear-error", QUEUE, LB_SECTION_HAS_BAG},
    [LB_S_CLEAR_ALL_ERRORS] = {"clear-all-errors", QUEUE, LB_SECTION_NEEDS_NO_ROW},
    [LB_S_RESET_ALL] = {"reset-all", QUEUE, LB_SECTION_NEEDS_NO_ROW},
    [LB_S_RECOVER] = {"recover", BOTH, LB_SECTION_NEEDS_NO_ROW},
    [LB_S_REGISTER] = {"register", QUEUE, LB_SECTION_IS_OF_PROCESS | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_HEARTBEAT] = {"heartbeat", QUEUE, LB_SECTION_IS_OF_PROCESS},
    [LB_S_UNREGISTER] = {"unregister", QUEUE, LB_SECTION_IS_OF_PROCESS | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_SWEEP] = {"sweep", QUEUE, LB_SECTION_IS_OF_PROCESS | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_STOP] = {"stop", QUEUE, LB_SECTION_IS_OF_PROCESS | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_COUNT] = {"count", QUEUE, LB_SECTION_IS_FOR_LOCKBENCH},
    [LB_S_AGE] = {"age", QUEUE, LB_SECTION_IS_FOR_LOCKBENCH | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_PERMITS] = {"permits", LOCK, LB_SECTION_IS_FOR_LOCKBENCH},
    [LB_S_MIGRATE] = {"migrate", BOTH, LB_SECTION_IS_SCHEMA | LB_SECTION_NEEDS_NO_ROW},
    [LB_S_TEARDOWN] = {"teardown", BOTH, LB_SECTION_IS_SCHEMA | LB_SECTION_NEEDS_NO_ROW},
};

const char *lb_section_text(enum lb_section_name name)
{
    return sections[name].text;
}

bool lb_section_is(enum lb_section_name name, enum lb_section_is what)
{
    return (sections[name].is & what) != 0;
}

bool lb_section_is_schema(enum lb_section_name name)
{
    return lb_section_is(name, LB_SECTION_IS_SCHEMA);
}

bool lb_section_is_for_lockbench(enum lb_section_name name)
{
    return lb_section_is(name, LB_SECTION_IS_FOR_LOCKBENCH);
}

bool lb_section_fits(enum lb_section_name name, enum lb_shape shape)
{
    return (sections[name].shapes >> shape & 1) != 0;
}
