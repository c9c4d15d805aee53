/* lockbench list -s NAME: a strategy's source, the changes from it, its options, and its known
 * breaks.
 */
#include "list.h"

#include "json_object.h"
#include "select.h"

static json_t *engines_of(const struct lb_strategy *strategy)
{
    struct lb_object engines = lb_list_new();
    if (strategy->no_database)
        lb_add(&engines, lb_json_text("memory"));
    for (size_t e = 0; lb_engines[e] != NULL; e++)
        if (lb_embedded_find(strategy->name, lb_engines[e]->name) != NULL)
            lb_add(&engines, lb_json_text(lb_engines[e]->name));
    return lb_object_end(&engines);
}

static json_t *claims_of(const struct lb_strategy *strategy)
{
    struct lb_object claims = lb_list_new();
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (strategy->claims & LB_G_BIT(g))
            lb_add(&claims, lb_json_text(lb_guarantee_name((enum lb_guarantee)g)));
    return lb_object_end(&claims);
}

static json_t *texts_json(const char *const *texts)
{
    struct lb_object all = lb_list_new();
    for (size_t i = 0; texts[i] != NULL; i++)
        lb_add(&all, lb_json_text(texts[i]));
    return lb_object_end(&all);
}

static json_t *options_of(const struct lb_strategy *strategy)
{
    struct lb_object options = lb_list_new();
    for (const struct lb_option *o = strategy->options; o != NULL && o->name != NULL; o++) {
        struct lb_object option = lb_object_new();
        lb_put_text(&option, "name", o->name);
        lb_put_text(&option, "default", o->default_value);
        lb_put_text(&option, "help", o->help != NULL ? o->help : "");
        if (o->choices != NULL)
            lb_put(&option, "choices", texts_json(o->choices));
        lb_add(&options, lb_object_end(&option));
    }
    return lb_object_end(&options);
}

static json_t *breaks_of(const struct lb_strategy *strategy)
{
    struct lb_object breaks = lb_list_new();
    for (const struct lb_break *b = strategy->breaks; b != NULL && b->why != NULL; b++) {
        struct lb_object one = lb_object_new();
        const char *const named[][2] = {{"engines", b->engines}, {"scenario", b->scenario},
                                        {"options", b->options}, {"room", b->room},
                                        {"faults", b->faults},   {"topologies", b->topologies}};
        lb_put_text(&one, "guarantee", lb_guarantee_name((enum lb_guarantee)b->guarantee));
        lb_put_text(&one, "why", b->why);
        for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
            if (named[i][1] != NULL)
                lb_put_text(&one, named[i][0], named[i][1]);
        lb_add(&breaks, lb_object_end(&one));
    }
    return lb_object_end(&breaks);
}

static json_t *strategy_json(const struct lb_strategy *strategy)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "strategy", strategy->name);
    lb_put_text(&object, "summary", strategy->summary);
    lb_put_text(&object, "shape", lb_shape_name(strategy->shape));
    lb_put_text(&object, "kind", strategy->is_control ? "control" : "protocol");
    lb_put_text(&object, "origin", strategy->origin);
    lb_put(&object, "engines", engines_of(strategy));
    lb_put(&object, "claims", claims_of(strategy));
    lb_put_text(&object, "twin", strategy->twin != NULL ? strategy->twin : "");
    lb_put(&object, "options", options_of(strategy));
    lb_put(&object, "breaks", breaks_of(strategy));
    lb_put(&object, "changed", texts_json(strategy->changed));
    return lb_object_end(&object);
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
        const char *const parts[][2] = {
            {"on", b->engines}, {"-S", b->scenario},  {"--opt", b->options},
            {"where", b->room}, {"under", b->faults}, {"where the servers are", b->topologies}};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            if (parts[i][1] != NULL)
                printf("; %s %s", parts[i][0], parts[i][1]);
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

enum lb_exit lb_list_strategies(const struct lb_words *names, bool json)
{
    struct lb_error err;
    struct lb_object whole = lb_object_new(), all = lb_list_new();
    for (size_t i = 0; i < names->n; i++) {
        const struct lb_strategy *strategy = lb_strategy_find(names->words[i]);
        if (strategy == NULL) {
            lb_select_unknown(names->words[i], &err);
            json_decref(all.json);
            json_decref(whole.json);
            return lb_cli_complain(&err);
        }
        lb_add(&all, strategy_json(strategy));
    }
    for (size_t i = 0; i < names->n && !json; i++) {
        if (i > 0)
            putchar('\n');
        print_strategy(lb_strategy_find(names->words[i]));
    }
    lb_put(&whole, "strategies", lb_object_end(&all));
    json_t *made = lb_object_end(&whole);
    if (json && lb_json_print(made, JSON_INDENT(2), "the strategies", stdout, &err) != 0)
        return lb_cli_complain(&err);
    if (!json)
        json_decref(made);
    return LB_EXIT_OK;
}
