/* How a statement's plan shows which rows it sees: a plan that is not understood, or that would be
 * represented by a weaker condition, counts by tables. The plans' texts are PostgreSQL's. */
#include "rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The query for the filter of a scan of item, with the key id. Caller frees; NULL: the table counts
 * as a whole. */
static char *condition_of(const char *filter)
{
    static const struct lb_tables tables = {.n = 1, .name = {"item"}};
    static const struct lb_statement statement = {.n_params = 2,
                                                  .param_slot = {LB_SLOT_ID, LB_SLOT_NOW}};
    struct lb_row_rules rules = {.tables = {{.n_keys = 1, .key = {"id"}}}};
    struct lb_row_statement told = {.is_told = false};
    struct lb_row_reader reader = {
        .rules = &rules, .tables = &tables, .statement = &statement, .told = &told, .batch = 1};
    char *json = NULL;
    assert_true(asprintf(&json,
                         "[{\"Plan\": {\"Node Type\": \"Seq Scan\", \"Relation Name\": \"item\", "
                         "\"Alias\": \"item\", \"Filter\": \"%s\"}}]",
                         filter) > 0);
    lb_row_read_plan(&reader, json);
    free(json);
    assert_true(reader.fails || rules.n_conditions == 1);
    char *condition = reader.fails ? NULL : strdup(rules.condition[0]);
    lb_row_rules_close(&rules);
    return condition;
}

static void asked(const char *filter, const char *wanted)
{
    char *condition = condition_of(filter);
    if (wanted == NULL ? condition != NULL : condition == NULL || strcmp(condition, wanted) != 0)
        fail_msg("%s: %s", filter, condition != NULL ? condition : "by tables");
    free(condition);
}

static void conditions_are_asked_of_rows(void **state)
{
    (void)state;
    asked("(item.status = 0)", "(item.status = 0)");
    asked("((item.status = 0) AND ((item.owner)::text <> 'a AND b'::text))",
          "(item.status = 0) AND ((item.owner)::text <> 'a AND b'::text)");
    asked("(item.due <= clock_timestamp())", "(item.due <= clock_timestamp())");
    asked("(item.status = ANY ('{0,3}'::integer[]))", "(item.status = ANY ('{0,3}'::integer[]))");
    /* Of another table, or what a worker keeps: of another row, maybe. */
    asked("(item.rank = other.rank)", NULL);
    asked("(item.seen = $42)", NULL);
    asked("(item.rank < (SubPlan 1))", NULL);
    /* Conditions that may fail for some row, or have an effect. */
    asked("((1 / item.rank) > 0)", NULL);
    asked("(length((item.owner)::text) > 1)", NULL);
}

/* The transaction's time, and the present time: a worker that stores it has begun before. */
static void the_time_is_asked_by_the_clock_too(void **state)
{
    (void)state;
    asked("(item.due <= now())", "((item.due <= now()) OR (item.due <= clock_timestamp()))");
    asked("(item.due <= CURRENT_TIMESTAMP)",
          "((item.due <= CURRENT_TIMESTAMP) OR (item.due <= clock_timestamp()))");
    asked("(item.due <= LOCALTIMESTAMP)",
          "((item.due <= LOCALTIMESTAMP) OR (item.due <= clock_timestamp()::timestamp))");
    asked("((item.due <= now()) OR (now() > item.until))",
          "(((item.due <= now()) OR (now() > item.until)) OR ((item.due <= clock_timestamp()) OR "
          "(clock_timestamp() > item.until)))");
    static const char *const others[] = {"CURRENT_TIMESTAMP(3)",
                                         "LOCALTIMESTAMP(3)",
                                         "transaction_timestamp()",
                                         "statement_timestamp()",
                                         "CURRENT_TIME",
                                         "CURRENT_TIME(3)",
                                         "LOCALTIME",
                                         "LOCALTIME(3)",
                                         "CURRENT_DATE"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char filter[100];
        snprintf(filter, sizeof filter, "(item.due <= %s)", others[i]);
        asked(filter, NULL);
    }
}

/* A quotation is the engine's, and a name in quotes is no keyword. */
static void texts_are_no_words(void **state)
{
    (void)state;
    asked("((item.note = 'now()'::text) AND (item.due <= now()))",
          "(item.note = 'now()'::text) AND ((item.due <= now()) OR (item.due <= "
          "clock_timestamp()))");
    asked("(item.note = E'a\\\\\\\\'' AND b'::text)", "(item.note = E'a\\\\'' AND b'::text)");
    asked("((item.now < now()))", "((item.now < now()) OR (item.now < clock_timestamp()))");
}

/* Of each length: asked as a whole. */
static void no_condition_is_cut(void **state)
{
    enum { MOST = 90 };
    char filter[MOST * 40] = "((item.due <= now())";
    size_t n_asked = 0;
    (void)state;
    for (unsigned i = 1; i < MOST; i++) {
        char whole[MOST * 44];
        size_t n = strlen(filter);
        snprintf(filter + n, sizeof filter - n, " OR (now() > now())");
        snprintf(whole, sizeof whole, "%s)", filter);
        char *condition = condition_of(whole);
        n_asked += condition != NULL;
        size_t n_clocks = 0;
        for (const char *p = condition; p != NULL && (p = strstr(p, "clock_t")) != NULL; p++)
            n_clocks++;
        if (condition != NULL)
            assert_int_equal(n_clocks, 2 * i + 1);
        free(condition);
    }
    assert_int_equal(n_asked, MOST - 1);
    for (size_t length = 10; length < 1500; length += 7) { /* a text that does not fit */
        char text[1600];
        snprintf(text, sizeof text, "((item.rank = 1) OR (item.owner = '%.*d'::text))", (int)length,
                 0);
        char *condition = condition_of(text);
        if (condition != NULL)
            assert_int_equal(strlen(condition), strlen(text));
        free(condition);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_asked_of_rows),
        cmocka_unit_test(the_time_is_asked_by_the_clock_too),
        cmocka_unit_test(texts_are_no_words),
        cmocka_unit_test(no_condition_is_cut),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
