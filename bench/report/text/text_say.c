/* What the parts of the text report share: paragraphs, and the first columns of a row. */
#include "memory.h"
#include "table.h"
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>

void lb_text_say(const struct lb_sink_state *state, unsigned indent, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = lb_vformat(format, args);
    va_end(args);
    lb_print_wrapped(state->out, text, indent, state->width);
    free(text);
}

void lb_text_add_cell(struct lb_table *table, const struct lb_cell *cell)
{
    lb_table_add(table, cell->name, LB_INK_PLAIN);
    lb_table_add(table, cell->engine, LB_INK_PLAIN);
    lb_table_add(table, cell->scenario.name, LB_INK_PLAIN);
}
