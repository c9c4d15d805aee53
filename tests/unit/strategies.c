/* The built-in strategies as data: names, twins, breaks, statements for every engine. */
#include "scenario.h"
#include "strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_are_unique_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        assert_ptr_equal(lb_strategy_find(s->name), s);
        assert_string_not_equal(s->summary, "");
        assert_string_not_equal(s->origin, "");
        assert_non_null(s->changed); /* may be empty; whether it is there, tests/meta/ asks */
        assert_int_equal(strspn(s->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(s->name));
        assert_true(s->claims != 0);
    }
    assert_null(lb_strategy_find("no-such-strategy"));
}

static void twins_exist_and_have_the_same_shape(void **state)
{
    (void)state;
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        if (s->twin == NULL)
            continue;
        const struct lb_strategy *twin = lb_strategy_find(s->twin);
        if (twin == NULL || twin->shape != s->shape)
            fail_msg("%s: twin %s", s->name, s->twin);
    }
}

/* "form=in": an option and one of its choices. */
static bool is_choice(const struct lb_strategy *s, const char *setting, size_t length)
{
    const char *equals = memchr(setting, '=', length);
    assert_non_null(equals);
    size_t name = (size_t)(equals - setting), value = length - name - 1;
    for (const struct lb_option *o = s->options; o != NULL && o->name != NULL; o++) {
        if (strlen(o->name) != name || strncmp(o->name, setting, name) != 0)
            continue;
        for (size_t i = 0; o->choices != NULL && o->choices[i] != NULL; i++)
            if (strlen(o->choices[i]) == value && memcmp(o->choices[i], equals + 1, value) == 0)
                return true;
    }
    return false;
}

/* Settings with blanks between them. */
static void check_break_options(const struct lb_strategy *s, const char *options)
{
    for (const char *p = options; *p != '\0';) {
        size_t length = strcspn(p, " ");
        if (!is_choice(s, p, length))
            fail_msg("%s: break with %s", s->name, options);
        p += length + strspn(p + length, " ");
    }
}

static void breaks_are_of_what_is_claimed(void **state)
{
    (void)state;
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        for (const struct lb_break *b = s->breaks; b != NULL && b->why != NULL; b++) {
            struct lb_scenario scenario;
            struct lb_error err;
            if ((s->claims & LB_G_BIT(b->guarantee)) == 0)
                fail_msg("%s: breaks %s and does not claim it", s->name,
                         lb_guarantee_name((enum lb_guarantee)b->guarantee));
            if (b->options != NULL)
                check_break_options(s, b->options);
            if (b->scenario == NULL)
                continue;
            if (lb_scenario_load(b->scenario, &scenario, &err) != 0)
                fail_msg("%s: %s", s->name, err.message);
            assert_int_equal(scenario.shape, s->shape);
        }
    }
}

static void statements_are_right_for_every_choice(void **state)
{
    (void)state;
    for (const struct lb_embedded *e = lb_embedded_sql; e->strategy != NULL; e++) {
        const struct lb_strategy *s = lb_strategy_find(e->strategy);
        const struct lb_db *const *db = lb_engines;
        struct lb_file *file = NULL;
        struct lb_error err;
        assert_non_null(s);
        assert_ptr_equal(lb_embedded_find(e->strategy, e->engine), e);
        if (lb_file_parse(e->strategy, (const char *)e->text, *e->length, (int)s->shape, &file,
                          &err) != 0 ||
            lb_file_check(file, s->options, &err) != 0)
            fail_msg("%s/%s: %s", e->strategy, e->engine, err.message);
        while (*db != NULL && strcmp((*db)->name, e->engine) != 0)
            db++;
        assert_non_null(*db); /* the file's name is an engine's */
        lb_file_free(file);
    }
}

static void what_needs_statements_has_them(void **state)
{
    (void)state;
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        size_t n = 0;
        for (const struct lb_embedded *e = lb_embedded_sql; e->strategy != NULL; e++)
            n += strcmp(e->strategy, s->name) == 0;
        if ((n == 0) != s->no_database)
            fail_msg("%s: %zu files in sql/", s->name, n);
    }
}

static void the_last_setting_counts(void **state)
{
    (void)state;
    const struct lb_setting settings[] = {{.name = "form", .value = "in"},
                                          {.name = "times", .value = "1"},
                                          {.name = "form", .value = "cte"}};
    assert_string_equal(lb_setting_of(settings, 3, "form", "default"), "cte");
    assert_string_equal(lb_setting_of(settings, 2, "form", "default"), "in");
    assert_string_equal(lb_setting_of(settings, 3, "none", "default"), "default");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_and_found),
        cmocka_unit_test(twins_exist_and_have_the_same_shape),
        cmocka_unit_test(breaks_are_of_what_is_claimed),
        cmocka_unit_test(statements_are_right_for_every_choice),
        cmocka_unit_test(what_needs_statements_has_them),
        cmocka_unit_test(the_last_setting_counts),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
