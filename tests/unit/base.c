/* Units, random streams, names, lines, orders, texts. */
#include "append.h"
#include "array.h"
#include "clock.h"
#include "guarantee.h"
#include "lines.h"
#include "nearest.h"
#include "order.h"
#include "random.h"
#include "text_clean.h"
#include "units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void times_need_a_unit(void **state)
{
    (void)state;
    uint64_t ns = 7;
    assert_int_equal(lb_parse_ns("10s", &ns), 0);
    assert_int_equal(ns, 10000000000u);
    assert_int_equal(lb_parse_ns("500us", &ns), 0);
    assert_int_equal(ns, 500000);
    assert_int_equal(lb_parse_ns("2.5ms", &ns), 0);
    assert_int_equal(ns, 2500000);
    assert_int_equal(lb_parse_ns("0", &ns), 0);
    assert_int_equal(ns, 0);
    static const char *const bad[] = {
        "", "10", "-1s", "1x", "s", "1 s", "nan", "inf", "0x1s", "1e3s", "9999999999999x", "0.4ns"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(lb_parse_ns(bad[i], &ns), LB_UNITS_NOT);
    assert_int_equal(lb_parse_ns(LB_NS_MOST, &ns), 0);
    assert_int_equal(lb_parse_ns("2562048h", &ns), LB_UNITS_LARGE);
    char digits[400];
    memset(digits, '9', sizeof digits);
    memcpy(digits + sizeof digits - 3, "ms", 3);
    assert_int_equal(lb_parse_ns(digits, &ns), LB_UNITS_LARGE);
}

static void counts_take_suffixes(void **state)
{
    (void)state;
    uint64_t n = 0;
    assert_int_equal(lb_parse_count("1k", &n), 0);
    assert_int_equal(n, 1000);
    assert_int_equal(lb_parse_count("2Ki", &n), 0);
    assert_int_equal(n, 2048);
    assert_int_equal(lb_parse_count("1.5M", &n), 0);
    assert_int_equal(n, 1500000);
    assert_int_equal(lb_parse_count("1.5", &n), LB_UNITS_NOT);
    assert_int_equal(lb_parse_count("-1", &n), LB_UNITS_NOT);
    assert_int_equal(lb_parse_count("k", &n), LB_UNITS_NOT);
    assert_int_equal(lb_parse_count("10000000000000000000", &n), LB_UNITS_LARGE);
    assert_int_equal(lb_parse_count("9999999999G", &n), LB_UNITS_LARGE);
}

static void durations_have_three_digits(void **state)
{
    (void)state;
    char buf[32];
    assert_string_equal(lb_format_ns(12, buf, sizeof buf), "12 ns");
    assert_string_equal(lb_format_ns(12000000, buf, sizeof buf), "12.0 ms");
    assert_string_equal(lb_format_ns(431000, buf, sizeof buf), "431 us");
    assert_string_equal(lb_format_ns(2040000000, buf, sizeof buf), "2.04 s");
    assert_string_equal(lb_format_ns(999600, buf, sizeof buf), "1.00 ms");
    assert_string_equal(lb_format_count(950, buf, sizeof buf), "950");
    assert_string_equal(lb_format_count(12400, buf, sizeof buf), "12.4k");
}

static void streams_differ_and_repeat(void **state)
{
    (void)state;
    struct lb_random a, b, c;
    lb_random_init(&a, 42, 0);
    lb_random_init(&b, 42, 0);
    lb_random_init(&c, 42, 1);
    int equal = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = lb_random_next(&a);
        assert_int_equal(x, lb_random_next(&b));
        equal += x == lb_random_next(&c);
    }
    assert_int_equal(equal, 0);
    for (int i = 0; i < 10000; i++) {
        assert_true(lb_random_below(&a, 7) < 7);
        double u = lb_random_unit(&a);
        assert_true(u >= 0 && u < 1);
    }
}

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < LB_GUARANTEES; i++)
        assert_int_equal(lb_guarantee_parse(lb_guarantee_name((enum lb_guarantee)i)), i);
    assert_int_equal(lb_guarantee_parse("exclusiv"), -1);
    assert_int_equal(lb_edit_distance("exclusiv", "exclusive"), 1);
    assert_int_equal(lb_edit_distance("", "abc"), 3);
    assert_int_equal(lb_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(lb_edit_distance("drian", "drain"), 1);
    assert_int_equal(lb_edit_distance("rnu", "run"), 1);
    assert_int_equal(lb_edit_distance("ca", "abc"), 3);
}

/* A thread that is descheduled between two readings of a clock does not change the clock. */
static void the_clock_is_real(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++)
        assert_true(lb_clock_is_real());
}

static void lines_have_a_bound(void **state)
{
    (void)state;
    char path[] = "/tmp/lb-lines-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct lb_lines lines;
    struct lb_error err;
    assert_int_equal(write(fd, "one\n\nlast", 9), 9);
    assert_int_equal(lb_lines_open(&lines, path, &err), 0);
    assert_int_equal(lb_lines_next(&lines, &err), 1);
    assert_string_equal(lines.text, "one");
    assert_int_equal(lb_lines_next(&lines, &err), 1);
    assert_string_equal(lines.text, "");
    assert_int_equal(lb_lines_next(&lines, &err), 1);
    assert_string_equal(lines.text, "last");
    assert_int_equal(lines.number, 3);
    assert_int_equal(lb_lines_next(&lines, &err), 0);
    lb_lines_close(&lines);

    /* A hole of a terabyte, and a line that is too long without one. */
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    assert_int_equal(lb_lines_open(&lines, path, &err), 0);
    assert_int_equal(lb_lines_next(&lines, &err), 1);
    assert_int_equal(lb_lines_next(&lines, &err), 1);
    assert_int_equal(lb_lines_next(&lines, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, ":3: a NUL byte: not a text file"));
    lb_lines_close(&lines);
    char *many = malloc(LB_LONGEST_LINE);
    assert_non_null(many);
    memset(many, 'x', LB_LONGEST_LINE);
    assert_int_equal(pwrite(fd, many, LB_LONGEST_LINE, 0), LB_LONGEST_LINE);
    assert_int_equal(pwrite(fd, "\nx", 2, LB_LONGEST_LINE), 2);
    assert_int_equal(lb_lines_open(&lines, path, &err), 0);
    assert_int_equal(lb_lines_next(&lines, &err), 1);
    assert_int_equal(lines.length, LB_LONGEST_LINE);
    assert_int_equal(pwrite(fd, "x", 1, LB_LONGEST_LINE), 1);
    lb_lines_close(&lines);
    assert_int_equal(lb_lines_open(&lines, path, &err), 0);
    assert_int_equal(lb_lines_next(&lines, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, ":1: the line is longer than 16 MiB"));
    lb_lines_close(&lines);
    free(many);
    close(fd);
    unlink(path);
}

static void appended_texts_are_cut(void **state)
{
    (void)state;
    char buf[8] = "a";
    lb_append(buf, sizeof buf, "%d", 23);
    assert_string_equal(buf, "a23");
    lb_append(buf, sizeof buf, "%s", "456789");
    lb_append(buf, sizeof buf, "more");
    assert_string_equal(buf, "a234567");
}

static void numbers_are_found_by_order(void **state)
{
    (void)state;
    const struct {
        uint64_t key;
        char name;
    } items[] = {{2, 'a'}, {2, 'b'}, {UINT64_MAX, 'c'}};
    assert_int_equal(lb_order_find(items, 3, sizeof items[0], 0), 0);
    assert_int_equal(lb_order_find(items, 3, sizeof items[0], 2), 0);
    assert_int_equal(lb_order_find(items, 3, sizeof items[0], 3), 2);
    assert_int_equal(lb_order_find(items, 3, sizeof items[0], UINT64_MAX), 2);
    assert_int_equal(lb_order_find(items, 2, sizeof items[0], 3), 2);
    assert_int_equal(lb_order_find(NULL, 0, sizeof items[0], 3), 0);
    int64_t signs[] = {1, -1, INT64_MIN, INT64_MAX};
    qsort(signs, 4, sizeof *signs, lb_order_i64);
    assert_true(signs[0] == INT64_MIN && signs[1] == -1 && signs[3] == INT64_MAX);
    uint64_t large[] = {UINT64_MAX, 1, (uint64_t)INT64_MAX + 1};
    qsort(large, 3, sizeof *large, lb_order_u64);
    assert_true(large[0] == 1 && large[2] == UINT64_MAX);
    uint32_t small[] = {UINT32_MAX, 1};
    qsort(small, 2, sizeof *small, lb_order_u32);
    assert_int_equal(small[0], 1);
    double reals[] = {0.5, -1e300, 0.25};
    qsort(reals, 3, sizeof *reals, lb_order_double);
    assert_true(reals[0] < -1 && reals[2] > 0.4);
}

static void short_arrays_grow_by_one(void **state)
{
    (void)state;
    struct item {
        uint32_t number;
    } *items = NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < 100; i++) {
        struct item *item = lb_array_add(&items, &n, sizeof *item);
        assert_non_null(item);
        assert_int_equal(item->number, 0);
        item->number = i + 1;
    }
    assert_int_equal(n, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(items[i].number, i + 1);
    free(items);
}

static void words_are_found_whole(void **state)
{
    static const char *const names[] = {"kill", "pause", NULL};
    (void)state;
    assert_true(lb_is_one_of("pause", names));
    assert_false(lb_is_one_of("paus", names));
    assert_true(lb_is_listed("kill", "kill,pause"));
    assert_true(lb_is_listed("pause", "kill,pause"));
    assert_false(lb_is_listed("paus", "kill,pause"));
    assert_false(lb_is_listed("ill", "kill,pause"));
    assert_false(lb_is_listed("kill", NULL));
}

static void special_characters_are_replaced(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    lb_print_clean(out, "a<b>\n\033", "<>", (const char *const[]){"&lt;", "&gt;"});
    fclose(out);
    assert_string_equal(text, "a&lt;b&gt; ?");
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_need_a_unit),
        cmocka_unit_test(counts_take_suffixes),
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(streams_differ_and_repeat),
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(lines_have_a_bound),
        cmocka_unit_test(the_clock_is_real),
        cmocka_unit_test(appended_texts_are_cut),
        cmocka_unit_test(numbers_are_found_by_order),
        cmocka_unit_test(short_arrays_grow_by_one),
        cmocka_unit_test(words_are_found_whole),
        cmocka_unit_test(special_characters_are_replaced),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
