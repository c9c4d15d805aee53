/* Errors and answers: see error.h. */
#include "error.h"

#include "text_clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Makes a message one line that is safe to print on a terminal, whatever text the engine sent. */
static void make_one_line(char *text)
{
    size_t end = strlen(text);
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
        text[--end] = '\0';
    lb_clean_text(text);
}

int(lb_fail)(struct lb_error *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->code = code;
    err->native[0] = '\0';
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    make_one_line(err->message);
    return code;
}

int lb_fail_prefix(struct lb_error *err, const char *format, ...)
{
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text)
        return err->code;
    snprintf(text + n, sizeof text - (size_t)n, ": %s", err->message);
    memcpy(err->message, text, sizeof text);
    make_one_line(err->message);
    return err->code;
}

const char *lb_answer_name(int answer)
{
    static const char *const names[LB_ANSWERS] = {
        [LB_OK] = "ok",
        [LB_EMPTY] = "empty",
        [LB_BUSY] = "busy",
        [LB_REFUSED] = "refused",
        [LB_TIMEOUT] = "timeout",
        [LB_CONFLICT] = "conflict",
        [LB_DEADLOCK] = "deadlock",
        [LB_DUPLICATE] = "duplicate",
        [LB_LOST] = "lost",
        [LB_OTHER] = "other",
    };
    return answer >= 0 && answer < LB_ANSWERS ? names[answer] : "?";
}
