/* Items of a claim that one statement ends, on every engine: the answer's meaning, and the history
 * of each item. Step by step in one thread: nothing here is about races.
 */
#include "../unit/check_history.h"
#include "fixture.h"
#include "operation.h"

enum { ACTORS = 2 };

/* answer: how the end is answered. ids: by the ids that it ended; number: by how many; others: by
 * ids, and it ends every worker's. */
static const char text[] =
    "-- strategy: batch-test\n"
    "-- shape: queue\n"
    "-- claims: no-duplicate, no-loss, owner-release\n"
    "-- option: answer = ids | number | others\n"
    "-- name: setup\n"
    "CREATE TABLE item (id bigint PRIMARY KEY, status int NOT NULL DEFAULT 0, owner varchar(40),\n"
    "                   token bigint NOT NULL DEFAULT 0, renewals int NOT NULL DEFAULT 0);\n"
    "-- name: put\n"
    "INSERT INTO item (id) VALUES (:id);\n"
    "-- name: claim [postgres, sqlite]\n"
    "UPDATE item SET status = 1, owner = :worker, token = token + 1\n"
    "WHERE id IN (SELECT id FROM item WHERE status = 0 ORDER BY id LIMIT :n)\n"
    "RETURNING id, token;\n"
    "-- name: claim [mariadb] tx=one\n"
    "-- require: row\n"
    "UPDATE item SET status = 1, owner = :worker, token = token + 1\n"
    "WHERE status = 0 ORDER BY id LIMIT :n;\n"
    "SELECT id, token FROM item WHERE status = 1 AND owner = :worker;\n"
    "-- name: complete [postgres] when answer=ids\n"
    "UPDATE item SET status = 2\n"
    "FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)\n"
    "WHERE item.id = mine.id AND item.token = mine.token AND status = 1 RETURNING item.id;\n"
    "-- name: complete [sqlite] when answer=ids\n"
    "UPDATE item SET status = 2 FROM json_each(:items) AS mine\n"
    "WHERE item.id = json_extract(mine.value, '$.id')\n"
    "      AND item.token = json_extract(mine.value, '$.token') AND status = 1 RETURNING id;\n"
    "-- name: complete [mariadb] when answer=ids tx=one\n"
    "-- require: row\n"
    "UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id',\n"
    "                                         token bigint PATH '$.token')) AS mine\n"
    "JOIN item ON item.id = mine.id AND item.token = mine.token SET status = 2 WHERE status = 1;\n"
    "SELECT item.id FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id',\n"
    "                                         token bigint PATH '$.token')) AS mine\n"
    "JOIN item ON item.id = mine.id AND item.token = mine.token WHERE status = 2;\n"
    "-- name: complete [postgres] when answer=number\n"
    "UPDATE item SET status = 2 WHERE id = ANY (:ids::bigint[]) AND status = 1;\n"
    "-- name: complete [sqlite] when answer=number\n"
    "UPDATE item SET status = 2\n"
    "WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 1;\n"
    "-- name: complete [mariadb] when answer=number\n"
    "UPDATE item JOIN JSON_TABLE(:ids, '$[*]' COLUMNS (id bigint PATH '$')) AS mine USING (id)\n"
    "SET status = 2 WHERE status = 1;\n"
    "-- name: complete [postgres, sqlite] when answer=others\n"
    "UPDATE item SET status = 2 WHERE status = 1 AND :ids <> '' RETURNING id;\n"
    "-- name: complete [mariadb] when answer=others tx=one\n"
    "-- require: row\n"
    "UPDATE item SET status = 2 WHERE status = 1 AND :ids <> '';\n"
    "SELECT id FROM item WHERE status = 2;\n"
    "-- name: renew [postgres]\n"
    "UPDATE item SET renewals = renewals + 1\n"
    "FROM unnest(:ids::bigint[], :tokens::bigint[]) AS mine (id, token)\n"
    "WHERE item.id = mine.id AND item.token = mine.token AND status = 1 RETURNING item.id;\n"
    "-- name: renew [sqlite]\n"
    "UPDATE item SET renewals = renewals + 1 FROM json_each(:items) AS mine\n"
    "WHERE item.id = json_extract(mine.value, '$.id')\n"
    "      AND item.token = json_extract(mine.value, '$.token') AND status = 1 RETURNING id;\n"
    "-- name: renew [mariadb] tx=one\n"
    "-- require: row\n"
    "UPDATE JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id',\n"
    "                                         token bigint PATH '$.token')) AS mine\n"
    "JOIN item ON item.id = mine.id AND item.token = mine.token\n"
    "SET renewals = renewals + 1 WHERE status = 1;\n"
    "SELECT item.id FROM JSON_TABLE(:items, '$[*]' COLUMNS (id bigint PATH '$.id',\n"
    "                                         token bigint PATH '$.token')) AS mine\n"
    "JOIN item ON item.id = mine.id AND item.token = mine.token WHERE status = 1;\n";

struct bench {
    struct fixture *f;
    struct lb_strategy strategy;
    struct lb_strategy_plan plan;
    struct lb_file *file;
    struct lb_program *program;
    struct lb_session sessions[ACTORS];
    struct lb_actor actors[ACTORS];
    struct lb_operator ops[ACTORS];
    struct lb_log logs[ACTORS];
    struct lb_item items[ACTORS][8];
    struct lb_batch batches[ACTORS];
};

static struct test_history history;

/* Five items: the first worker claims three of them, the second one the others. */
static void open_bench(struct bench *b, struct fixture *f, const char *answer)
{
    struct lb_setting setting = {"answer", answer};
    struct lb_conn_options options = {.role = "test", .lock_timeout_ms = 20000};
    memset(b, 0, sizeof *b);
    b->f = f;
    history_init(&history, true);
    assert_int_equal(lb_file_parse("batch.sql", text, strlen(text), -1, &b->file, &f->err), 0);
    lb_strategy_of_file(b->file, &b->strategy);
    if (lb_program_new(b->file, f->db, b->strategy.options, &setting, 1, &b->program, &f->err) != 0)
        fail_msg("%s", f->err.message);
    b->plan = (struct lb_strategy_plan){.strategy = &b->strategy, .program = b->program};
    for (uint32_t i = 0; i < ACTORS; i++) {
        struct lb_actor *actor = &b->actors[i];
        assert_int_equal(lb_session_open(&b->sessions[i], f->db, f->space, &options, &f->err), 0);
        *actor = (struct lb_actor){.plan = &b->plan, .session = &b->sessions[i], .number = i};
        snprintf(actor->name, sizeof actor->name, "w%u", i);
        if (i == 0 && b->strategy.flow->setup(&b->plan, actor->session, &f->err) != LB_OK)
            fail_msg("%s", f->err.message);
        assert_int_equal(b->strategy.flow->open(actor, &f->err), LB_OK);
        lb_log_in_memory(&b->logs[i], i, history.events[i], MAX_EVENTS);
        b->ops[i] = (struct lb_operator){
            .actor = actor, .log = &b->logs[i], .process = i, .n_processes = ACTORS};
    }
    assert_int_equal(lb_operate_put(&b->ops[0], 1, 5, "x", &f->err), LB_OK);
    for (uint32_t i = 0; i < ACTORS; i++) {
        uint32_t n = 0;
        assert_int_equal(lb_operate_claim(&b->ops[i], 3, b->items[i], 8, &n, &f->err), LB_OK);
        assert_int_equal(n, 3 - i);
        lb_batch_init(&b->batches[i], 8, &f->err);
        for (; b->batches[i].n < n; b->batches[i].n++)
            b->batches[i].items[b->batches[i].n] = &b->items[i][b->batches[i].n];
    }
    assert_true(lb_strategy_takes_batch(&b->plan, LB_S_COMPLETE));
    assert_false(lb_strategy_takes_batch(&b->plan, LB_S_FREE));
}

static void close_bench(struct bench *b)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        b->strategy.flow->close(&b->actors[i]);
        lb_session_close(&b->sessions[i]);
        lb_batch_release(&b->batches[i]);
    }
    must(b->f, b->f->a, "DROP TABLE item");
    lb_program_free(b->program);
    lb_file_free(b->file);
}

static int complete(struct bench *b, uint32_t actor)
{
    int r = lb_operate_batch(&b->ops[actor], LB_OP_COMPLETE, &b->batches[actor], &b->f->err);
    if (r < 0)
        fail_msg("%s", b->f->err.message);
    return r;
}

/* The last n events of a log: of these types, in this order. */
static void expect_events(const struct bench *b, uint32_t log, size_t n, const int *types)
{
    size_t first = b->logs[log].n_events - n;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(history.events[log][first + i].op, LB_OP_COMPLETE);
        if (history.events[log][first + i].type != types[i])
            fail_msg("event %zu of %zu: %s", i, n,
                     lb_event_type_name(history.events[log][first + i].type));
    }
}

/* The judge's verdict. */
static enum lb_verdict judged(const struct bench *b, enum lb_guarantee guarantee)
{
    static struct lb_judgement judgement;
    struct lb_error err = {0};
    for (uint32_t i = 0; i < ACTORS; i++)
        history.n[i] = b->logs[i].n_events;
    if (judge_history(&history, &judgement, &err) != 0)
        fail_msg("%s", err.message);
    return judgement.findings[guarantee].verdict;
}

static void an_answer_by_ids_tells_of_each(void **state)
{
    struct fixture *f = *state;
    static struct bench b;
    open_bench(&b, f, "ids");
    must(f, f->a,
         "UPDATE item SET token = token + 1 WHERE id = 2"); /* another worker took it over */
    assert_int_equal(complete(&b, 0), LB_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(b.batches[0].answers[i], b.items[0][i].id == 2 ? LB_REFUSED : LB_OK);
    expect_events(&b, 0, 4,
                  (const int[]){LB_EV_INVOKE, b.items[0][0].id == 2 ? LB_EV_FAIL : LB_EV_OK,
                                b.items[0][1].id == 2 ? LB_EV_FAIL : LB_EV_OK,
                                b.items[0][2].id == 2 ? LB_EV_FAIL : LB_EV_OK});
    assert_int_equal(b.ops[0].process, 0);
    assert_int_equal(query_int(f, f->a, "SELECT count(*) FROM item WHERE status = 2"), 2);
    assert_int_equal(complete(&b, 1), LB_OK);
    assert_int_equal(complete(&b, 1), LB_REFUSED); /* nothing is left of it */
    expect_events(&b, 1, 4, (const int[]){LB_EV_INVOKE, LB_EV_INVOKE, LB_EV_FAIL, LB_EV_FAIL});
    assert_int_equal(judged(&b, LB_G_OWNER_RELEASE), LB_V_HELD);
    close_bench(&b);
}

static void a_number_tells_of_all_or_of_none(void **state)
{
    struct fixture *f = *state;
    static struct bench b;
    open_bench(&b, f, "number");
    assert_int_equal(complete(&b, 1), LB_OK);
    expect_events(&b, 1, 4, (const int[]){LB_EV_INVOKE, LB_EV_INVOKE, LB_EV_OK, LB_EV_OK});
    assert_int_equal(complete(&b, 1), LB_REFUSED);
    must(f, f->a, "UPDATE item SET status = 3 WHERE id = 2");
    assert_int_equal(complete(&b, 0), LB_OK);
    for (uint32_t i = 0; i < 3; i++) /* two of three: unknown which */
        assert_int_equal(b.batches[0].answers[i], LB_LOST);
    expect_events(&b, 0, 6,
                  (const int[]){LB_EV_INVOKE, LB_EV_INVOKE, LB_EV_INVOKE, LB_EV_INFO, LB_EV_INFO,
                                LB_EV_INFO});
    assert_int_equal(b.ops[0].process, ACTORS); /* retired, and goes on under another number */
    assert_int_equal(judged(&b, LB_G_OWNER_RELEASE), LB_V_HELD);
    close_bench(&b);
}

static void what_is_ended_besides_is_recorded(void **state)
{
    static struct bench b;
    open_bench(&b, *state, "others");
    assert_int_equal(complete(&b, 0), LB_OK);
    assert_int_equal(b.batches[0].n_others, 2);
    expect_events(&b, 0, 6,
                  (const int[]){LB_EV_INVOKE, LB_EV_OK, LB_EV_OK, LB_EV_OK, LB_EV_OK, LB_EV_OK});
    assert_int_equal(judged(&b, LB_G_OWNER_RELEASE), LB_V_VIOLATED);
    close_bench(&b);
}

static void a_batch_that_is_cut_off_is_unknown(void **state)
{
    struct fixture *f = *state;
    static struct bench b;
    open_bench(&b, f, "ids");
    f->db->cut(b.sessions[0].conn);
    assert_int_equal(complete(&b, 0), LB_LOST);
    expect_events(&b, 0, 6,
                  (const int[]){LB_EV_INVOKE, LB_EV_INVOKE, LB_EV_INVOKE, LB_EV_INFO, LB_EV_INFO,
                                LB_EV_INFO});
    assert_int_equal(complete(&b, 0), LB_LOST); /* it has no connection */
    assert_int_equal(judged(&b, LB_G_OWNER_RELEASE), LB_V_NOT_TESTED);
    close_bench(&b);
}

/* The claims of a batch are prolonged in one statement, and those that are no longer one's own are
 * named; then the batch is ended as ever. */
static void a_batch_is_renewed_item_by_item(void **state)
{
    struct fixture *f = *state;
    static struct bench b;
    open_bench(&b, f, "ids");
    assert_true(lb_strategy_takes_batch(&b.plan, LB_S_RENEW));
    must(f, f->a, "UPDATE item SET token = token + 1 WHERE id = 2");
    struct lb_log *log = &b.logs[0];
    size_t first = log->n_events;
    b.ops[0].lease_ms = 1000;
    assert_int_equal(lb_operate_batch(&b.ops[0], LB_OP_RENEW_ITEM, &b.batches[0], &f->err), LB_OK);
    assert_int_equal(log->n_events, first + 6);
    for (uint32_t i = 0; i < 3; i++) {
        bool is_lost = b.items[0][i].id == 2;
        const struct lb_event *end = &history.events[0][first + 3 + i];
        assert_int_equal(b.batches[0].answers[i], is_lost ? LB_REFUSED : LB_OK);
        assert_int_equal(end->op, LB_OP_RENEW_ITEM);
        assert_int_equal(end->value, b.items[0][i].id);
        assert_int_equal(end->type, is_lost ? LB_EV_FAIL : LB_EV_OK);
        assert_int_equal(end->arg, 1000);
        assert_int_equal((end->flags & LB_EVF_EFFECTIVE) != 0, !is_lost);
    }
    assert_int_equal(query_int(f, f->a, "SELECT sum(renewals) FROM item"), 2);
    assert_int_equal(complete(&b, 0), LB_OK);
    assert_int_equal(judged(&b, LB_G_OWNER_RELEASE), LB_V_HELD);
    assert_int_equal(judged(&b, LB_G_NO_DUPLICATE), LB_V_HELD);
    close_bench(&b);
}

int main(void)
{
    static const struct engine_test tests[] = {
        {"an answer by ids gives the outcome of each item", an_answer_by_ids_tells_of_each, NULL},
        {"a number gives the outcome of all items, or of none", a_number_tells_of_all_or_of_none,
         NULL},
        {"further items that a batch ends are recorded, and judged",
         what_is_ended_besides_is_recorded, NULL},
        {"a batch is renewed item by item", a_batch_is_renewed_item_by_item, NULL},
        {"a batch that is cut off is unknown", a_batch_that_is_cut_off_is_unknown,
         "postgres mariadb"},
        {NULL, NULL, NULL},
    };
    return run_for_each_engine(tests);
}
