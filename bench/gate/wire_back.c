/* What a server sends: answers, and where they end. See wire.h. */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_columns(struct lb_wire_back *back, const struct lb_wire_cutter *message)
{
    struct lb_wire_body body = lb_wire_body_of(message);
    uint32_t n = lb_wire_number(&body, 2);
    back->n_columns = 0;
    while (back->n_columns < n && back->n_columns < LB_WIRE_COLUMNS) {
        const char *name = lb_wire_string(&body);
        lb_wire_number(&body, 4);
        lb_wire_number(&body, 2);
        uint32_t type = lb_wire_number(&body, 4);
        lb_wire_number(&body, 2);
        lb_wire_number(&body, 4);
        uint32_t format = lb_wire_number(&body, 2);
        if (body.has_failed)
            return;
        snprintf(back->columns[back->n_columns].name, sizeof back->columns[0].name, "%s", name);
        back->columns[back->n_columns].type = type;
        back->columns[back->n_columns++].is_binary = format == 1;
    }
}

/* The first rows, as far as there is room. */
static void take_row(struct lb_wire_back *back, const struct lb_wire_cutter *message)
{
    enum { SHOWN = 4 };
    struct lb_wire_answer *answer = &back->answer;
    struct lb_wire_body body = lb_wire_body_of(message);
    const size_t size = sizeof answer->rows;
    if (++answer->n_rows > SHOWN)
        return;
    uint32_t n = lb_wire_number(&body, 2);
    for (uint32_t i = 0; i < n && !body.has_failed; i++) {
        uint32_t length = lb_wire_number(&body, 4);
        bool is_null = length == UINT32_MAX, is_told = i < back->n_columns;
        const char *bytes = is_null ? "" : lb_wire_bytes(&body, length);
        size_t used = strlen(answer->rows);
        if (bytes == NULL || used + 48 > size)
            return;
        used += (size_t)snprintf(answer->rows + used, size - used, "%s%s%s",
                                 i > 0                ? " "
                                 : answer->n_rows > 1 ? "; "
                                                      : "",
                                 is_told ? back->columns[i].name : "", is_told ? "=" : "");
        if (is_null)
            snprintf(answer->rows + used, size - used, "NULL");
        else
            lb_wire_literal(answer->rows + used, size - used, bytes, length,
                            is_told && back->columns[i].is_binary,
                            is_told ? back->columns[i].type : 0);
    }
}

/* "UPDATE 3", "INSERT 0 2", "SELECT 5". */
static void complete(struct lb_wire_answer *answer, const char *tag)
{
    const char *number = strrchr(tag, ' ');
    bool is_read = strncmp(tag, "SELECT", 6) == 0 || strncmp(tag, "FETCH", 5) == 0 ||
                   strncmp(tag, "MOVE", 4) == 0;
    answer->n_done++;
    if (number != NULL && !is_read)
        answer->n_changed += strtoll(number + 1, NULL, 10);
}

static void fail(struct lb_wire_answer *answer, const struct lb_wire_cutter *message)
{
    struct lb_wire_body body = lb_wire_body_of(message);
    answer->has_failed = true;
    for (;;) {
        uint32_t field = lb_wire_number(&body, 1);
        const char *text = field != 0 ? lb_wire_string(&body) : "";
        if (field == 0)
            return;
        if (field == 'C')
            snprintf(answer->sqlstate, sizeof answer->sqlstate, "%s", text);
        else if (field == 'M')
            snprintf(answer->message, sizeof answer->message, "%s", text);
    }
}

bool lb_wire_back_take(struct lb_wire_back *back, const struct lb_wire_cutter *message)
{
    struct lb_wire_body body = lb_wire_body_of(message);
    switch (message->type) {
    case 'K':
        back->pid = lb_wire_number(&body, 4);
        return false;
    case 'Z':
        back->status = message->n_kept > 0 ? message->kept[0] : 'I';
        back->is_copying = false;
        return true;
    case 'T':
        describe_columns(back, message);
        return false;
    case 'D':
        take_row(back, message);
        return false;
    case 'C':
        back->is_copying = false;
        complete(&back->answer, message->kept);
        return false;
    case 'I': /* an empty statement */
    case 's': /* a portal that was not read to its end */
    case 'V': /* a function's result */
        back->answer.n_done++;
        return false;
    case 'E':
        back->is_copying = false;
        fail(&back->answer, message);
        return false;
    case 'G':
        back->is_copying = true;
        return false;
    case 'W':
        back->is_stream = true;
        return false;
    default: /* notices, notifications, parameters, answers to Parse, Bind, Describe and Close */
        return false;
    }
}

void lb_wire_back_next(struct lb_wire_back *back)
{
    back->answer = (struct lb_wire_answer){.n_done = 0};
    back->n_columns = 0;
}
