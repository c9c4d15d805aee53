/* The messages of the wire, cut in every place: the result is the same, and memory is bounded. */
#include "wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
    char text[60000];
    size_t n;
};

static void add(struct bytes *bytes, char type, const char *body, size_t n)
{
    uint32_t length = (uint32_t)n + 4;
    bytes->text[bytes->n++] = type;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes->text[bytes->n++] = (char)(length >> shift);
    memcpy(bytes->text + bytes->n, body, n);
    bytes->n += n;
}

#define ADD(bytes, type, body) add(bytes, type, body, sizeof(body) - 1)

/* One request: two statements, prepared under a name and under none. */
static void make_request(struct bytes *bytes)
{
    ADD(bytes, 'P', "one\0SELECT $1, $2\0\0\2\0\0\0\27\0\0\0\31");
    ADD(bytes, 'B', "\0one\0\0\2\0\1\0\0\0\2\0\0\0\4\0\0\1\5\0\0\0\4it's\0\0");
    ADD(bytes, 'E', "\0\0\0\0\0");
    ADD(bytes, 'P', "\0DELETE FROM t\0\0\0");
    ADD(bytes, 'B', "\0\0\0\0\0\0\0\0");
    ADD(bytes, 'E', "\0\0\0\0\0");
    ADD(bytes, 'S', "");
}

static void test_request_in_pieces(void **state)
{
    static struct lb_wire_front front;
    struct bytes bytes = {.n = 0};
    (void)state;
    make_request(&bytes);
    for (size_t at = 0; at <= bytes.n; at++) {
        struct lb_wire_cutter cutter = {.n_kept = 0};
        unsigned n_ends = 0, n_messages = 0;
        for (size_t i = 0; i < bytes.n;) {
            bool ends;
            size_t until = i < at ? at : bytes.n;
            long n = lb_wire_cut(&cutter, bytes.text + i, until - i, &ends);
            assert_true(n > 0);
            i += (size_t)n;
            n_messages += ends;
            if (ends && lb_wire_front_take(&front, &cutter, false) == LB_WIRE_ENDS)
                n_ends++;
        }
        assert_int_equal(n_messages, 7);
        assert_int_equal(n_ends, 1);
        assert_int_equal(front.request.n_statements, 2);
        assert_true(front.request.awaits_ready);
        assert_string_equal(front.request.text, "SELECT $1, $2; DELETE FROM t");
        assert_string_equal(front.request.params, "");
        assert_false(front.request.is_cut);
        lb_wire_front_next(&front);
    }
    lb_wire_front_free(&front);
}

static void take(struct lb_wire_front *front, const struct bytes *bytes)
{
    struct lb_wire_cutter cutter = {.n_kept = 0};
    for (size_t i = 0; i < bytes->n;) {
        bool ends;
        i += (size_t)lb_wire_cut(&cutter, bytes->text + i, bytes->n - i, &ends);
        if (ends)
            lb_wire_front_take(front, &cutter, false);
    }
}

static void test_parameters(void **state)
{
    static struct lb_wire_front front;
    struct bytes bytes = {.n = 0};
    (void)state;
    ADD(&bytes, 'P', "one\0SELECT $1, $2\0\0\2\0\0\0\27\0\0\0\31");
    ADD(&bytes, 'B', "\0one\0\0\2\0\1\0\0\0\2\0\0\0\4\0\0\1\5\0\0\0\4it's\0\0");
    ADD(&bytes, 'E', "\0\0\0\0\0");
    ADD(&bytes, 'H', "");
    take(&front, &bytes);
    assert_string_equal(front.request.params, "261\n'it''s'\n");
    assert_false(front.request.awaits_ready);
    lb_wire_front_free(&front);
}

/* A message that lies about its contents, or is longer than the kept part, is read as far as
 * possible. */
static void test_lies(void **state)
{
    static struct lb_wire_front front;
    struct bytes bytes = {.n = 0};
    static char text[LB_WIRE_KEPT + 10000];
    (void)state;
    ADD(&bytes, 'B', "\0one\0\x7f\xff\0\0");
    ADD(&bytes, 'B', "\0one\0\0\0\0\1\x7f\xff\xff\xff");
    ADD(&bytes, 'E', "nobody\0\0\0\0\0");
    memset(text, 'x', sizeof text);
    add(&bytes, 'Q', text, sizeof text);
    take(&front, &bytes);
    assert_int_equal(front.request.n_statements, 2);
    assert_true(front.request.is_cut);
    assert_true(strlen(front.request.text) < LB_WIRE_TEXT);
    for (unsigned i = 0; i < 3 * LB_WIRE_NAMES; i++) {
        struct bytes one = {.n = 0};
        char body[40] = {0};
        int n = snprintf(body, sizeof body, "s%u", i);
        add(&one, 'P', body, (size_t)n + 4);
        take(&front, &one);
    }
    assert_int_equal(front.n_prepared, LB_WIRE_NAMES);
    lb_wire_front_free(&front);
    struct lb_wire_cutter cutter = {.n_kept = 0};
    bool ends;
    assert_int_equal(lb_wire_cut(&cutter, "Q\0\0\0\3", 5, &ends), -1);
}

static void test_answers(void **state)
{
    static struct lb_wire_back back;
    struct bytes bytes = {.n = 0};
    struct lb_wire_cutter cutter = {.n_kept = 0};
    unsigned n_ready = 0;
    (void)state;
    ADD(&bytes, 'K', "\0\0\1\0secr");
    ADD(&bytes, 'T', "\0\1id\0\0\0\0\0\0\0\0\0\0\27\0\4\0\0\0\0\0\0");
    ADD(&bytes, 'D', "\0\1\0\0\0\00242");
    ADD(&bytes, 'C', "SELECT 1\0");
    ADD(&bytes, 'C', "INSERT 0 3\0");
    ADD(&bytes, 'E', "SERROR\0C23505\0Mthere is one\0\0");
    ADD(&bytes, 'Z', "E");
    for (size_t i = 0; i < bytes.n;) {
        bool ends;
        i += (size_t)lb_wire_cut(&cutter, bytes.text + i, bytes.n - i, &ends);
        n_ready += ends && lb_wire_back_take(&back, &cutter);
    }
    assert_int_equal(n_ready, 1);
    assert_int_equal(back.pid, 256);
    assert_int_equal(back.status, 'E');
    assert_int_equal(back.answer.n_done, 2);
    assert_int_equal(back.answer.n_rows, 1);
    assert_int_equal(back.answer.n_changed, 3);
    assert_string_equal(back.answer.rows, "id=42");
    assert_string_equal(back.answer.sqlstate, "23505");
    assert_string_equal(back.answer.message, "there is one");
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_request_in_pieces),
                                       cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_lies), cmocka_unit_test(test_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
