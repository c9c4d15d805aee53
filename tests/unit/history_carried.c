/* A history of which chunks were taken out while it was written. */
#include "history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct lb_event event_of(uint32_t log, uint64_t i)
{
    return (struct lb_event){.time_ns = 1000 + i,
                             .value = i * 3 + log,
                             .process = log,
                             .op = LB_OP_ACQUIRE,
                             .type = i % 2 ? LB_EV_FAIL : LB_EV_INVOKE};
}

static void append_events(struct lb_log *log, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct lb_event event = event_of(log->number, i);
        assert_int_equal(lb_log_append(log, &event), 0);
    }
}

/* The first two of three full chunks are replaced by a few events. */
static void chunks_can_be_taken_out(void **state)
{
    (void)state;
    struct lb_error err;
    struct lb_history *history;
    struct lb_history_view view;
    struct lb_log log, other;
    struct lb_chunk chunk;
    static struct lb_event events[LB_CHUNK_EVENTS];
    enum { CHUNKS = 5, LEFT = 3, REST = LB_CHUNK_EVENTS + 17 };
    assert_int_equal(lb_history_create(NULL, &history, &err), 0);
    lb_log_init(&log, history, 0);
    lb_log_init(&other, history, 1);
    append_events(&log, 2 * LB_CHUNK_EVENTS + REST);
    append_events(&other, 5);
    assert_int_equal(lb_history_chunks(history), CHUNKS); /* the first is log 0's tail */
    for (uint64_t i = 0; i < CHUNKS; i++) {
        assert_int_equal(lb_history_look(history, i, &chunk, events, &err), 0);
        assert_int_equal(chunk.state, i % 4 == 0 ? LB_CHUNK_TAIL : LB_CHUNK_WHOLE);
        assert_int_equal(chunk.log, i == 4);
        assert_int_equal(chunk.n, i == 0 ? 17 : i == 4 ? 5 : LB_CHUNK_EVENTS);
    }
    assert_int_equal(lb_history_look(history, CHUNKS, &chunk, events, &err), 0);
    assert_int_equal(chunk.state, LB_CHUNK_UNWRITTEN);
    assert_int_equal(lb_history_take_out(history, 1, &err), 0);
    assert_int_equal(lb_history_view(history, &view, &err), LB_E_FILE); /* nothing in its place */
    struct lb_event left[LEFT] = {event_of(0, 1), event_of(0, 2), event_of(0, 9)};
    const struct lb_carried carried[] = {{.events = left, .n = LEFT, .n_chunks = 2}};
    lb_history_carry(history, carried, 1); /* the second chunk is there still, and is left out */
    assert_int_equal(lb_history_view(history, &view, &err), 0);
    assert_int_equal(view.n_logs, 2);
    assert_int_equal(view.logs[0].n_events, LEFT + REST);
    assert_int_equal(view.n_events, LEFT + REST + 5);
    assert_int_equal(view.truncated, false);
    assert_memory_equal(view.logs[0].spans[0].events, left, sizeof left);
    for (uint64_t i = 0; i < LB_CHUNK_EVENTS; i++) {
        struct lb_event expected = event_of(0, 2 * LB_CHUNK_EVENTS + i);
        assert_memory_equal(&view.logs[0].spans[1].events[i], &expected, sizeof expected);
    }
    lb_history_release(&view);
    lb_history_free(history);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_can_be_taken_out)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
