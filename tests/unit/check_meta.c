/* Models as the meta text of a history: written text is read back, and other text is rejected. */
#include "check_meta.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const uint32_t capacity[] = {1, 1, 1, 3, 2, 2};
    struct lb_model model = {.n_resources = 6,
                             .capacity = capacity,
                             .lease = true,
                             .claims = LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_RECOVERY),
                             .release = LB_RELEASE_STATE,
                             .complete = true,
                             .end_ns = UINT64_C(123456789012345),
                             .progress_bound_ns = 7,
                             .progress_demand_ns = 6,
                             .item_waits = true,
                             .recovery_bound_ns = 8,
                             .period_ns = 9};
    char text[1000];
    size_t n = lb_model_format(&model, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_non_null(strstr(text, "capacity=1*3,3*1,2*2\n"));
    assert_non_null(strstr(text, "claims=exclusive,recovery\n"));
    char longer[1100];
    snprintf(longer, sizeof longer, "strategy=x\n%sseed=5", text);
    struct lb_model read = {0};
    struct lb_error err = {0};
    uint32_t *read_capacity = NULL;
    assert_int_equal(lb_model_parse(longer, &read, &read_capacity, &err), 0);
    assert_memory_equal(read_capacity, capacity, sizeof capacity);
    assert_ptr_equal(read.capacity, read_capacity);
    assert_int_equal(read.period_ns, 9);
    assert_int_equal(read.progress_demand_ns, 6);
    assert_true(read.item_waits);
    char again[1000];
    lb_model_format(&read, again, sizeof again);
    assert_string_equal(again, text);
    free(read_capacity);
    char value[10];
    assert_string_equal(lb_meta_get(longer, "seed", value, sizeof value), "5");
    assert_string_equal(lb_meta_get(longer, "strategy", value, sizeof value), "x");
    assert_null(lb_meta_get(longer, "see", value, sizeof value));
    char small[10];
    assert_int_equal(lb_model_format(&model, small, sizeof small), n);
}

static void keys_that_are_missing_change_nothing(void **state)
{
    (void)state;
    struct lb_model model = {.queue = true, .claims = 5, .end_ns = 9};
    struct lb_error err = {0};
    uint32_t *capacity = NULL;
    assert_int_equal(lb_model_parse("", &model, &capacity, &err), 0);
    assert_true(model.queue);
    assert_int_equal(model.claims, 5);
    assert_int_equal(model.end_ns, 9);
    assert_null(capacity);
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {"shape=cake",
                                        "resources=x",
                                        "resources=-1",
                                        "resources=1\ncapacity=0",
                                        "lease=2",
                                        "claims=exclu",
                                        "release=never",
                                        "resources=2\ncapacity=1*3",
                                        "end_ns=1e9",
                                        "reentrant=",
                                        "resources=2\ncapacity=1",
                                        "resources=999999999999",
                                        "complete=true",
                                        "resources=2\ncapacity=1*2,1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lb_model model = {.end_ns = 3};
        struct lb_error err = {0};
        uint32_t *capacity = NULL;
        if (lb_model_parse(wrong[i], &model, &capacity, &err) != LB_E_FILE)
            fail_msg("%s was taken", wrong[i]);
        assert_int_equal(model.end_ns, 3);
        assert_null(capacity);
        assert_non_null(strstr(err.message, "meta text"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(keys_that_are_missing_change_nothing),
        cmocka_unit_test(wrong_values_are_named),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
