/* Units, random streams, names, lines. */
#include "clock.h"
#include "guarantee.h"
#include "lines.h"
#include "random.h"
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_need_a_unit),           cmocka_unit_test(counts_take_suffixes),
        cmocka_unit_test(durations_have_three_digits), cmocka_unit_test(streams_differ_and_repeat),
        cmocka_unit_test(names_go_both_ways),          cmocka_unit_test(lines_have_a_bound),
        cmocka_unit_test(the_clock_is_real),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
