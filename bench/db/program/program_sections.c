/* The sections of a statement file: their names, and the shape that each is of. */
#include "program_raw.h"

static const char *const section_names[LB_SECTIONS] = {
    [LB_S_SETUP] = "setup",
    [LB_S_RESOURCE] = "resource",
    [LB_S_ENQUEUE] = "enqueue",
    [LB_S_ACQUIRE] = "acquire",
    [LB_S_RENEW] = "renew",
    [LB_S_RELEASE] = "release",
    [LB_S_CANCEL] = "cancel",
    [LB_S_PUT] = "put",
    [LB_S_CLAIM] = "claim",
    [LB_S_COMPLETE] = "complete",
    [LB_S_ERROR] = "error",
    [LB_S_FREE] = "free",
    [LB_S_RETRY] = "retry",
    [LB_S_CLEAR_ERROR] = "clear-error",
    [LB_S_CLEAR_ALL_ERRORS] = "clear-all-errors",
    [LB_S_RESET_ALL] = "reset-all",
    [LB_S_RECOVER] = "recover",
    [LB_S_REGISTER] = "register",
    [LB_S_HEARTBEAT] = "heartbeat",
    [LB_S_UNREGISTER] = "unregister",
    [LB_S_SWEEP] = "sweep",
    [LB_S_STOP] = "stop",
    [LB_S_COUNT] = "count",
    [LB_S_AGE] = "age",
    [LB_S_PERMITS] = "permits",
    [LB_S_MIGRATE] = "migrate",
    [LB_S_TEARDOWN] = "teardown",
};

const char *lb_section_text(enum lb_section_name name)
{
    return section_names[name];
}

bool lb_section_is_schema(enum lb_section_name name)
{
    return name == LB_S_SETUP || name == LB_S_MIGRATE || name == LB_S_TEARDOWN;
}

bool lb_section_is_for_lockbench(enum lb_section_name name)
{
    return name == LB_S_COUNT || name == LB_S_PERMITS || name == LB_S_AGE;
}

bool lb_section_fits(enum lb_section_name name, enum lb_shape shape)
{
    switch (name) {
    case LB_S_RESOURCE:
    case LB_S_ENQUEUE:
    case LB_S_ACQUIRE:
    case LB_S_RELEASE:
    case LB_S_CANCEL:
    case LB_S_PERMITS:
        return shape == LB_LOCK;
    case LB_S_PUT:
    case LB_S_CLAIM:
    case LB_S_COMPLETE:
    case LB_S_ERROR:
    case LB_S_FREE:
    case LB_S_RETRY:
    case LB_S_REGISTER:
    case LB_S_HEARTBEAT:
    case LB_S_UNREGISTER:
    case LB_S_SWEEP:
    case LB_S_STOP:
    case LB_S_CLEAR_ERROR:
    case LB_S_CLEAR_ALL_ERRORS:
    case LB_S_RESET_ALL:
    case LB_S_COUNT:
    case LB_S_AGE:
        return shape == LB_QUEUE;
    default:
        return true;
    }
}
