/* Names of operations and of events' types: stable, they stand in files. See history.h. */
#include "history.h"

#include <string.h>

static const char *const op_names[] = {
    [LB_OP_ENQUEUE] = "enqueue",
    [LB_OP_ACQUIRE] = "acquire",
    [LB_OP_RENEW] = "renew",
    [LB_OP_RELEASE] = "release",
    [LB_OP_CANCEL] = "cancel",
    [LB_OP_WRITE] = "write",
    [LB_OP_PUT] = "put",
    [LB_OP_CLAIM] = "claim",
    [LB_OP_ITEM] = "item",
    [LB_OP_COMPLETE] = "complete",
    [LB_OP_ERROR] = "error",
    [LB_OP_FREE] = "free",
    [LB_OP_CLEAR_ERROR] = "clear-error",
    [LB_OP_CLEAR_ALL] = "clear-all-errors",
    [LB_OP_RESET_ALL] = "reset-all",
    [LB_OP_RECOVER] = "recover",
    [LB_OP_RENEW_ITEM] = "renew-item",
    [LB_OP_BEAT] = "beat",
    [LB_OP_FAULT] = "fault",
    [LB_OP_DEATH] = "death",
    [LB_OP_SESSION_END] = "session-end",
    [LB_OP_WARM] = "warm",
    [LB_OP_STALL] = "stall",
    [LB_OP_WAITED] = "waited",
    [LB_OP_RESTART] = "restart",
    [LB_OP_PERMITS] = "permits",
    [LB_OP_ATTRIBUTE] = "attribute",
    [LB_OP_CLOCK] = "clock",
};

enum { OPS = sizeof op_names / sizeof op_names[0] };

const char *lb_op_name(int op)
{
    return op >= 0 && op < OPS ? op_names[op] : NULL;
}

int lb_op_parse(const char *name)
{
    for (int op = 0; op < OPS; op++)
        if (op_names[op] != NULL && strcmp(op_names[op], name) == 0)
            return op;
    return -1;
}

const char *lb_event_type_name(int type)
{
    static const char *const names[] = {"none", "invoke", "ok", "fail", "info", "note"};
    return type >= LB_EV_NONE && type <= LB_EV_NOTE ? names[type] : "?";
}
