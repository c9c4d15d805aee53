/* Which formats each command has: see format_names.h. */
#include "format_names.h"

#include "append.h"
#include "cli.h"
#include "nearest.h"

#include <string.h>

/* Of commands that print one thing, and run no campaign. */
static const struct {
    unsigned group;
    const char *names[LB_FORMATS_MOST];
} told[] = {{LB_FLAGS_LIST, {"text", "json"}},
            {LB_FLAGS_EXPLORE, {"text", "json"}},
            {LB_FLAGS_MUTATE, {"text", "json", "tap"}},
            {LB_FLAGS_AGE, {"text", "json"}},
            {LB_FLAGS_DIFF, {"text", "json", "markdown"}},
            {LB_FLAGS_CHECK, {"text", "json", "tap"}}};

void lb_formats_of_sinks(struct lb_format_names *formats, unsigned of)
{
    const struct lb_sink *sink;
    for (formats->n = 0; formats->n < LB_FORMATS_MOST; formats->n++) {
        if ((sink = lb_sink_at(formats->n, of)) == NULL)
            return;
        formats->names[formats->n] = sink->name;
    }
}

static void of_stored(struct lb_format_names *formats)
{
    const struct lb_sink *sink;
    formats->n = 0;
    for (size_t i = 0; (sink = lb_sink_at(i, LB_OF_RUNS)) != NULL; i++)
        if (sink->file != NULL && formats->n < LB_FORMATS_MOST)
            formats->names[formats->n++] = sink->name;
}

void lb_formats_of(struct lb_format_names *formats, unsigned group,
                   const struct lb_command *command)
{
    formats->n = 0;
    if (group == LB_FLAGS_OUTPUT) {
        bool plans = (command->groups & LB_FLAGS_PLAN) != 0;
        lb_formats_of_sinks(formats, plans ? LB_OF_PLANS : LB_OF_RUNS);
    } else if (group == LB_FLAGS_MATRIX) {
        lb_formats_of_sinks(formats, LB_OF_MATRICES);
    } else if (group == LB_FLAGS_SHOW) {
        of_stored(formats);
    }
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        for (size_t k = 0; told[i].group == group && told[i].names[k] != NULL; k++)
            formats->names[formats->n++] = told[i].names[k];
}

char *lb_formats_text(const struct lb_format_names *formats, const char *last, char *buf,
                      size_t size)
{
    buf[0] = '\0';
    for (size_t i = 0; i < formats->n; i++)
        lb_append(buf, size, "%s%s",
                  i == 0                ? ""
                  : i + 1 == formats->n ? last
                                        : ", ",
                  formats->names[i]);
    return buf;
}

int lb_format_unknown(const struct lb_format_names *formats, const char *name, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128], all[200];
    lb_nearest_init(&nearest, name);
    for (size_t i = 0; i < formats->n; i++)
        lb_nearest_offer(&nearest, formats->names[i]);
    return lb_fail(err, LB_E_USAGE, "option --format: unknown format '%s'%s (%s)", name,
                   lb_nearest_text(&nearest, text, sizeof text),
                   lb_formats_text(formats, ", ", all, sizeof all));
}

int lb_format_check(const struct lb_args *args, struct lb_error *err)
{
    struct lb_format_names formats;
    if (args->format == NULL)
        return 0;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if ((args->command->groups & told[i].group) == 0)
            continue;
        lb_formats_of(&formats, told[i].group, args->command);
        for (size_t k = 0; k < formats.n; k++)
            if (strcmp(formats.names[k], args->format) == 0)
                return 0;
        return lb_format_unknown(&formats, args->format, err);
    }
    return 0;
}
