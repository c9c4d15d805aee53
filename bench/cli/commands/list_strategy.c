/* lockbench list -s NAME: where a strategy comes from, what of the source was changed, its options,
 * and what it is known to break.
 */
#include "list_strategy.h"
#include "nearest.h"

#include <jansson.h>
#include <string.h>

static json_t *engines_of(const struct lb_strategy *strategy)
{
    json_t *engines = json_array();
    if (strategy->no_database)
        json_array_append_new(engines, json_string("memory"));
    for (size_t e = 0; lb_engines[e] != NULL; e++)
        if (lb_embedded_find(strategy->name, lb_engines[e]->name) != NULL)
            json_array_append_new(engines, json_string(lb_engines[e]->name));
    return engines;
}

static json_t *claims_of(const struct lb_strategy *strategy)
{
    json_t *claims = json_array();
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (strategy->claims & LB_G_BIT(g))
            json_array_append_new(claims, json_string(lb_guarantee_name((enum lb_guarantee)g)));
    return claims;
}

static json_t *options_of(const struct lb_strategy *strategy)
{
    json_t *options = json_array();
    for (const struct lb_option *o = strategy->options; o != NULL && o->name != NULL; o++) {
        json_t *option = json_pack("{s:s, s:s, s:s}", "name", o->name, "default", o->default_value,
                                   "help", o->help != NULL ? o->help : "");
        json_t *choices = json_array();
        for (size_t i = 0; o->choices != NULL && o->choices[i] != NULL; i++)
            json_array_append_new(choices, json_string(o->choices[i]));
        if (o->choices != NULL)
            json_object_set(option, "choices", choices);
        json_decref(choices);
        json_array_append_new(options, option);
    }
    return options;
}

static json_t *breaks_of(const struct lb_strategy *strategy)
{
    json_t *breaks = json_array();
    for (const struct lb_break *b = strategy->breaks; b != NULL && b->why != NULL; b++) {
        json_t *one = json_pack("{s:s, s:s}", "guarantee",
                                lb_guarantee_name((enum lb_guarantee)b->guarantee), "why", b->why);
        const char *const named[][2] = {{"engines", b->engines}, {"scenario", b->scenario},
                                        {"options", b->options}, {"room", b->room},
                                        {"faults", b->faults},   {"topologies", b->topologies}};
        for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
            if (named[i][1] != NULL)
                json_object_set_new(one, named[i][0], json_string(named[i][1]));
        json_array_append_new(breaks, one);
    }
    return breaks;
}

static json_t *strategy_json(const struct lb_strategy *strategy)
{
    json_t *changed = json_array();
    for (size_t i = 0; strategy->changed[i] != NULL; i++)
        json_array_append_new(changed, json_string(strategy->changed[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o}", "strategy",
                     strategy->name, "summary", strategy->summary, "shape",
                     lb_shape_name(strategy->shape), "kind",
                     strategy->is_control ? "control" : "protocol", "origin", strategy->origin,
                     "engines", engines_of(strategy), "claims", claims_of(strategy), "twin",
                     strategy->twin != NULL ? strategy->twin : "", "options", options_of(strategy),
                     "breaks", breaks_of(strategy), "changed", changed);
}

static void print_words(const char *title, json_t *words)
{
    size_t i;
    json_t *word;
    printf("  %-9s", title);
    json_array_foreach(words, i, word)
    {
        printf("%s%s", i > 0 ? ", " : " ", json_string_value(word));
    }
    putchar('\n');
    json_decref(words);
}

static void print_options(const struct lb_strategy *strategy)
{
    for (const struct lb_option *o = strategy->options; o != NULL && o->name != NULL; o++) {
        printf("%s    %s=", o == strategy->options ? "  options (--opt NAME=VALUE)\n" : "",
               o->name);
        for (size_t i = 0; o->choices != NULL && o->choices[i] != NULL; i++)
            printf("%s%s", i > 0 ? "|" : "", o->choices[i]);
        if (o->choices == NULL)
            fputs("NUMBER", stdout);
        printf("  %s (default: %s)\n", o->help != NULL ? o->help : "", o->default_value);
    }
}

static void print_breaks(const struct lb_strategy *strategy)
{
    for (const struct lb_break *b = strategy->breaks; b != NULL && b->why != NULL; b++) {
        printf("%s    %s: %s", b == strategy->breaks ? "  known to break\n" : "",
               lb_guarantee_name((enum lb_guarantee)b->guarantee), b->why);
        if (b->engines != NULL)
            printf("; on %s", b->engines);
        if (b->scenario != NULL)
            printf("; -S %s", b->scenario);
        if (b->options != NULL)
            printf("; --opt %s", b->options);
        if (b->room != NULL)
            printf("; where %s", b->room);
        if (b->faults != NULL)
            printf("; under %s", b->faults);
        if (b->topologies != NULL)
            printf("; where the servers are %s", b->topologies);
        putchar('\n');
    }
}

static void print_strategy(const struct lb_strategy *strategy)
{
    printf("%s: %s\n  source     %s\n  shape      %s%s\n", strategy->name, strategy->summary,
           strategy->origin, lb_shape_name(strategy->shape),
           strategy->is_control ? ", control" : "");
    print_words("engines", engines_of(strategy));
    print_words("claims", claims_of(strategy));
    if (strategy->twin != NULL)
        printf("  twin       %s\n", strategy->twin);
    print_options(strategy);
    print_breaks(strategy);
    puts(strategy->changed[0] != NULL ? "  changed from the source"
                                      : "  changed from the source: nothing");
    for (size_t i = 0; strategy->changed[i] != NULL; i++)
        printf("    - %s\n", strategy->changed[i]);
}

static const struct lb_strategy *find(const char *name, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128];
    const struct lb_strategy *found = lb_strategy_find(name);
    if (found != NULL)
        return found;
    lb_nearest_init(&nearest, name);
    for (size_t i = 0; lb_strategies[i] != NULL; i++)
        lb_nearest_offer(&nearest, lb_strategies[i]->name);
    lb_fail(err, LB_E_USAGE, "unknown strategy '%s'%s", name,
            lb_nearest_text(&nearest, text, sizeof text)[0] != '\0'
                ? text
                : "; see lockbench list strategies");
    return NULL;
}

enum lb_exit lb_list_strategies(const struct lb_words *names, bool json)
{
    struct lb_error err;
    json_t *all = json_array();
    for (size_t i = 0; i < names->n; i++) {
        const struct lb_strategy *strategy = find(names->words[i], &err);
        if (strategy == NULL) {
            json_decref(all);
            return lb_cli_complain(&err);
        }
        json_array_append_new(all, strategy_json(strategy));
    }
    for (size_t i = 0; i < names->n && !json; i++) {
        if (i > 0)
            putchar('\n');
        print_strategy(find(names->words[i], &err));
    }
    json_t *whole = json_pack("{s:o}", "strategies", all);
    int rc = json && (whole == NULL || json_dumpf(whole, stdout, JSON_INDENT(2)) != 0) ? -1 : 0;
    if (json)
        putchar('\n');
    json_decref(whole);
    if (rc != 0) {
        lb_fail(&err, LB_E_MEMORY, "out of memory");
        return lb_cli_complain(&err);
    }
    return LB_EXIT_OK;
}
