/* Violations in plain words, and as a drawing. Times are relative to the history's start. */
#include "judges.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/* In a text that is being made this stands before the last three digits of each instant. */
enum { NANOSECONDS = '\x01', DIGITS = 3 };

/* Do two instants look alike to the microsecond, and are not? One within the first looks like 0. */
static bool needs_nanoseconds(const char *text)
{
    for (const char *mark = text; (mark = strchr(mark, NANOSECONDS)) != NULL; mark++) {
        const char *from = mark; /* of "181.680" */
        while (from > text && (isdigit((unsigned char)from[-1]) || from[-1] == '.'))
            from--;
        size_t length = (size_t)(mark - from);
        if (strncmp(from, "0.000", length) == 0 && strncmp(mark + 1, "000", DIGITS) != 0)
            return true;
        for (const char *other = mark + 1; (other = strchr(other, NANOSECONDS)) != NULL; other++)
            if (strncmp(other - length, from, length) == 0 &&
                strncmp(other + 1, mark + 1, DIGITS) != 0)
                return true;
    }
    return false;
}

/* Removes the marks, and the digits after them if these do not matter. */
static void settle_instants(char *text)
{
    bool keeps = needs_nanoseconds(text);
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from != NANOSECONDS)
            *to++ = *from;
        else if (!keeps)
            from += strnlen(from + 1, DIGITS);
    }
    *to = '\0';
}

char *lb_at(const struct lb_case *c, uint64_t time_ns, char *buf, size_t size)
{
    uint64_t start = c->history->start_ns;
    bool before = time_ns < start;
    uint64_t ns = before ? start - time_ns : time_ns - start;
    snprintf(buf, size, "%llu.%03u%c%03u ms%s", (unsigned long long)(ns / 1000000),
             (unsigned)(ns / 1000 % 1000), NANOSECONDS, (unsigned)(ns % 1000),
             before ? " before the start" : "");
    return buf;
}

const char *lb_who(const struct lb_case *c, uint32_t log, char buf[LB_WHO])
{
    const struct lb_log_view *view = &c->history->logs[log];
    if (view->name != NULL)
        snprintf(buf, LB_WHO, "%s", view->name);
    else
        snprintf(buf, LB_WHO, "worker %u", view->number);
    return buf;
}

struct lb_witness *lb_witness_new(struct lb_finding *finding)
{
    if (finding->n_witnesses == LB_WITNESSES)
        return NULL;
    struct lb_witness *witness = &finding->witness[finding->n_witnesses++];
    memset(witness, 0, sizeof *witness);
    return witness;
}

struct lb_witness *lb_violation(struct lb_case *c, enum lb_guarantee guarantee)
{
    struct lb_finding *finding = lb_finding_of(c, guarantee);
    finding->n_violations++;
    return lb_witness_new(finding);
}

void lb_witness_add(const struct lb_case *c, struct lb_witness *witness, uint32_t log,
                    uint32_t event)
{
    const struct lb_event *e = lb_case_event(c, log, event);
    bool is_invoke = e->type == LB_EV_INVOKE;
    uint32_t invoke_at = is_invoke ? event : lb_case_invoke(c, log, event);
    uint32_t end_at = is_invoke ? lb_case_end(c, log, event) : event;
    const struct lb_event *invoke = lb_case_event(c, log, invoke_at);
    const struct lb_event *item = !is_invoke && e->type == LB_EV_NOTE ? e : NULL;
    if (item != NULL)
        end_at = lb_case_end(c, log, event);
    const struct lb_event *end = end_at == LB_NONE ? NULL : lb_case_event(c, log, end_at);
    if (witness->n_ops == LB_WITNESS_OPS)
        return;
    const struct lb_event *told = item != NULL ? item : end != NULL ? end : invoke;
    bool is_id = invoke->op >= LB_OP_PUT && invoke->op <= LB_OP_RENEW_ITEM;
    struct lb_witness_op *op = &witness->ops[witness->n_ops++];
    *op = (struct lb_witness_op){.log = c->history->logs[log].number,
                                 .process = invoke->process,
                                 .op = invoke->op,
                                 .type = end == NULL ? LB_EV_NONE : end->type,
                                 .answer = end == NULL ? LB_OK : end->answer,
                                 .object = invoke->object,
                                 .value = told->value,
                                 .has_value = (told->flags & LB_EVF_TOKEN) != 0 || item != NULL ||
                                              (is_id && invoke->op != LB_OP_CLAIM),
                                 .invoke_ns = invoke->time_ns,
                                 .end_ns = end == NULL ? LB_NEVER : end->time_ns};
    lb_who(c, log, op->who);
}

void lb_witness_add_hold(const struct lb_case *c, struct lb_witness *witness,
                         const struct lb_hold *hold)
{
    lb_witness_add(c, witness, hold->log, hold->event);
    for (uint32_t i = hold->event + 1; i < c->history->logs[hold->log].n_events; i++) {
        const struct lb_event *e = lb_case_event(c, hold->log, i);
        if (e->op == LB_OP_RELEASE && e->type == LB_EV_INVOKE && e->object == hold->resource &&
            lb_low(e->time_ns, lb_slack(c, hold->log)) >= hold->end) {
            lb_witness_add(c, witness, hold->log, i);
            return;
        }
        if (lb_low(e->time_ns, lb_slack(c, hold->log)) > hold->end)
            return; /* ended otherwise */
    }
}

void lb_witness_text(struct lb_witness *witness, const char *format, ...)
{
    char text[LB_WITNESS_TEXT + 40]; /* with room for the marks */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    settle_instants(text);
    snprintf(witness->text, sizeof witness->text, "%s", text);
}

/* --- drawing --- */

struct canvas {
    uint64_t from, to;
    size_t width;
};

static size_t column(const struct canvas *canvas, uint64_t time_ns)
{
    if (time_ns <= canvas->from)
        return 0;
    if (time_ns >= canvas->to)
        return canvas->width - 1;
    double share = (double)(time_ns - canvas->from) / (double)(canvas->to - canvas->from);
    return (size_t)(share * (double)(canvas->width - 1) + 0.5);
}

/* One line: dots while nothing is going on, '-' during an operation, '#' while it is held. */
static void draw_line(const struct canvas *canvas, const struct lb_witness *witness, size_t first,
                      char *line)
{
    const struct lb_witness_op *op = &witness->ops[first];
    const struct lb_witness_op *release = NULL;
    if (first + 1 < witness->n_ops && witness->ops[first + 1].op == LB_OP_RELEASE &&
        witness->ops[first + 1].log == op->log && op->op == LB_OP_ACQUIRE)
        release = &witness->ops[first + 1];
    memset(line, '.', canvas->width);
    line[canvas->width] = '\0';
    size_t granted = column(canvas, op->end_ns);
    memset(line + column(canvas, op->invoke_ns), '-', granted - column(canvas, op->invoke_ns) + 1);
    if (op->op == LB_OP_ACQUIRE && op->type == LB_EV_OK) {
        size_t until = release != NULL ? column(canvas, release->invoke_ns) : canvas->width - 1;
        if (until < granted)
            until = granted;
        memset(line + granted, '#', until - granted + 1);
        if (release != NULL)
            memset(line + until + 1, '-',
                   column(canvas, release->end_ns) > until ? column(canvas, release->end_ns) - until
                                                           : 0);
        line[granted] = '[';
        line[until] = release != NULL ? ']' : '>';
    }
}

static void bounds(const struct lb_witness *witness, struct canvas *canvas)
{
    canvas->from = LB_NEVER;
    canvas->to = 0;
    for (size_t i = 0; i < witness->n_ops; i++) {
        const struct lb_witness_op *op = &witness->ops[i];
        uint64_t end = op->end_ns == LB_NEVER ? op->invoke_ns : op->end_ns;
        if (op->invoke_ns < canvas->from)
            canvas->from = op->invoke_ns;
        if (end > canvas->to)
            canvas->to = end;
    }
    if (canvas->to <= canvas->from)
        canvas->to = canvas->from + 1;
}

char *lb_witness_draw(const struct lb_witness *witness, uint64_t start_ns, size_t width, char *buf,
                      size_t size)
{
    enum { WIDEST = 200, NARROWEST = 20 };
    char line[WIDEST + 1];
    struct canvas canvas = {0};
    if (size == 0)
        return buf;
    buf[0] = '\0';
    if (witness->n_ops == 0)
        return buf;
    bounds(witness, &canvas);
    size_t label = 12;
    for (size_t i = 0; i < witness->n_ops; i++) {
        size_t length = strlen(witness->ops[i].who) + 1;
        label = length > label ? length : label;
    }
    width = width > label + NARROWEST ? width - label : NARROWEST;
    canvas.width = width < WIDEST ? width : WIDEST;
    size_t used = 0;
    for (size_t i = 0; i < witness->n_ops && used < size; i++) {
        const struct lb_witness_op *op = &witness->ops[i];
        if (i > 0 && op->op == LB_OP_RELEASE && witness->ops[i - 1].op == LB_OP_ACQUIRE &&
            witness->ops[i - 1].log == op->log)
            continue; /* drawn with its acquire */
        draw_line(&canvas, witness, i, line);
        int n = snprintf(buf + used, size - used, "%-*s%s\n", (int)label, op->who, line);
        used += n > 0 ? (size_t)n : 0;
    }
    if (used < size) {
        double from =
            (double)(canvas.from - (start_ns < canvas.from ? start_ns : canvas.from)) / 1e6;
        double to = (double)(canvas.to - (start_ns < canvas.to ? start_ns : canvas.to)) / 1e6;
        char left[LB_AT], right[LB_AT];
        int digits = canvas.to - canvas.from < 1000 ? 6 : 3;
        snprintf(left, sizeof left, "%.*f ms", digits, from);
        snprintf(right, sizeof right, "%.*f ms", digits, to);
        snprintf(buf + used, size - used, "%*s%s%*s\n", (int)label, "", left,
                 (int)(canvas.width - (strlen(left) < canvas.width ? strlen(left) : 0)), right);
    }
    return buf;
}
