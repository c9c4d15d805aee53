/* The sinks by name: see format_list.h. */
#include "format_list.h"
#include "report.h"

#include <string.h>

#define DECLARATION(symbol) extern const struct lb_sink symbol;
LB_FORMAT_LIST(DECLARATION)

#define ENTRY(symbol) &symbol,
static const struct lb_sink *const sinks[] = {LB_FORMAT_LIST(ENTRY)};
enum { SINKS = sizeof sinks / sizeof sinks[0] };

const struct lb_sink *lb_sink_at(size_t i, unsigned of)
{
    for (size_t k = 0; k < SINKS; k++)
        if ((sinks[k]->of & of) != 0 && i-- == 0)
            return sinks[k];
    return NULL;
}

const struct lb_sink *lb_sink_find(const char *name, size_t length, unsigned of)
{
    const struct lb_sink *sink;
    for (size_t i = 0; (sink = lb_sink_at(i, of)) != NULL; i++)
        if (strlen(sink->name) == length && memcmp(sink->name, name, length) == 0)
            return sink;
    return NULL;
}
