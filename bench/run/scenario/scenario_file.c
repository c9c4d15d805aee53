/* Scenario files: see scenario.h. The lines are read by ini_text.h. */
#include "ini_text.h"
#include "nearest.h"
#include "scenario.h"
#include "text_clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct lb_scenario *scenario;
    bool seen[LB_MOST_KEYS]; /* a key is set once */
    bool in_stage;
};

static int take_section(void *arg, int line, const char *name, struct lb_error *err)
{
    struct reading *reading = arg;
    (void)line;
    reading->in_stage = strcmp(name, "scenario") != 0;
    return reading->in_stage ? lb_stage_add(reading->scenario, name, err) : 0;
}

static int take_pair(void *arg, int line, const char *section, const char *name, const char *value,
                     struct lb_error *err)
{
    struct reading *reading = arg;
    (void)line, (void)section;
    if (reading->in_stage)
        return lb_stage_set(reading->scenario, name, value, err);
    const struct lb_key *key = lb_scenario_key(name);
    int rc = lb_scenario_set(reading->scenario, name, value, err);
    if (rc != 0)
        return rc;
    bool *seen = &reading->seen[key - lb_scenario_keys];
    if (*seen)
        return lb_fail(err, LB_E_FILE, "%s is set a second time", name);
    *seen = true;
    return 0;
}

static bool starts_with(const char *text, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - text) >= n && memcmp(text, word, n) == 0;
}

/* The first paragraph of the comment at the top, as one line; without a leading "Question:". */
static void take_question(const char *text, size_t length, char *question, size_t size)
{
    size_t used = 0;
    const char *end = text + length;
    for (const char *line = text; line < end && *line == '#';) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline : end;
        const char *word = line; /* the text has no NUL at its end */
        while (word < stop && (*word == '#' || *word == ' '))
            word++;
        if (word >= stop || starts_with(word, stop, "Expected"))
            break;
        if (starts_with(word, stop, "Question:"))
            word += strlen("Question:");
        if (word < stop && *word == ' ')
            word++;
        int n = snprintf(question + used, size - used, "%s%.*s", used > 0 ? " " : "",
                         (int)(stop - word), word);
        if (n < 0 || (size_t)n >= size - used)
            break;
        used += (size_t)n;
        line = newline != NULL ? newline + 1 : end;
    }
}

int lb_scenario_parse(const char *origin, const char *text, size_t length,
                      struct lb_scenario *ret_scenario, struct lb_error *err)
{
    struct lb_scenario scenario;
    lb_scenario_init(&scenario);
    struct reading reading = {.scenario = &scenario};
    const struct lb_ini ini = {origin, take_section, take_pair, &reading};
    int rc = lb_ini_parse(&ini, text, length, err);
    if (rc != 0)
        return rc;
    struct lb_error why;
    if (lb_scenario_validate(&scenario, &why) != 0)
        return lb_fail(err, LB_E_FILE, "%s: %s", origin, why.message);
    take_question(text, length, scenario.question, sizeof scenario.question);
    const char *base = strrchr(origin, '/');
    base = base != NULL ? base + 1 : origin;
    size_t n = strlen(base);
    if (n > 4 && strcmp(base + n - 4, ".ini") == 0)
        n -= 4;
    snprintf(scenario.name, sizeof scenario.name, "%.*s", (int)n, base);
    lb_clean_text(scenario.name);
    *ret_scenario = scenario;
    return 0;
}

static int read_file(const char *path, struct lb_scenario *ret_scenario, struct lb_error *err)
{
    char *text = NULL;
    size_t length;
    int rc = lb_ini_read(path, "a scenario", &text, &length, err);
    if (rc == 0)
        rc = lb_scenario_parse(path, text, length, ret_scenario, err);
    free(text);
    return rc;
}

bool lb_scenario_is_file(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') != NULL || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

int lb_scenario_load(const char *name, struct lb_scenario *ret_scenario, struct lb_error *err)
{
    if (lb_scenario_is_file(name))
        return read_file(name, ret_scenario, err);
    struct lb_nearest nearest;
    lb_nearest_init(&nearest, name);
    for (const struct lb_embedded_scenario *e = lb_embedded_scenarios; e->name != NULL; e++) {
        lb_nearest_offer(&nearest, e->name);
        if (strcmp(e->name, name) != 0)
            continue;
        char origin[100];
        snprintf(origin, sizeof origin, "scenarios/%s.ini", name);
        int rc = lb_scenario_parse(origin, (const char *)e->text, *e->length, ret_scenario, err);
        if (rc == 0) /* the bounds of built-in scenarios grow with what the user changes */
            ret_scenario->progress_bound_is_said = false;
        return rc;
    }
    char text[128];
    return lb_fail(err, LB_E_USAGE, "unknown scenario '%s'%s", name,
                   lb_nearest_text(&nearest, text, sizeof text)[0] != '\0'
                       ? text
                       : "; see lockbench list scenarios");
}
