/* What a statement touches, as exploring reads it from its text, and what therefore commutes. */
#include "footprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct lb_tables tables = {
    .n = 3, .name = {"job", "lock_row", "status"}, .group = {1, 2, 4}};

static void statements_touch_the_tables_they_name(void **state)
{
    (void)state;
    struct lb_footprint touched;
    assert_int_equal(
        lb_footprint_of_sql(&tables, "SELECT count(*) FROM job WHERE id < $1", &touched),
        LB_PLAIN_READ);
    assert_int_equal(touched.reads, 1);
    assert_int_equal(touched.writes, 0);
    assert_int_equal(lb_footprint_of_sql(&tables,
                                         "UPDATE lock_row SET owner = 'job' -- status\n"
                                         " WHERE name = $1",
                                         &touched),
                     LB_WRITE);
    assert_int_equal(touched.reads, 2);
    assert_int_equal(touched.writes, 2);
    assert_int_equal(touched.commits, 0);
    assert_int_equal(
        lb_footprint_of_sql(&tables, "SELECT id FROM job FOR UPDATE SKIP LOCKED", &touched),
        LB_WRITE);
    assert_int_equal(
        lb_footprint_of_sql(&tables, "SELECT pg_try_advisory_lock($1, $2) AS granted", &touched),
        LB_WRITE);
    assert_int_equal(touched.writes, LB_BIT_ADVISORY);
    assert_int_equal(touched.commits, LB_BIT_ADVISORY);
    assert_int_equal(
        lb_footprint_of_sql(&tables, "SELECT id, pg_advisory_xact_lock(1, id) FROM job", &touched),
        LB_WRITE);
    assert_int_equal(touched.reads, 1);
    assert_int_equal(touched.writes, LB_BIT_ADVISORY);
    assert_int_equal(touched.commits, 0);
    assert_int_equal(lb_footprint_of_sql(&tables, "LOCK TABLE job IN EXCLUSIVE MODE", &touched),
                     LB_WRITE);
    assert_int_equal(touched.commits, 1);
    assert_int_equal(lb_footprint_of_sql(&tables, "SELECT nextval('s')", &touched), LB_WRITE);
    assert_int_equal(touched.writes, LB_BIT_SEQUENCES);
    assert_int_equal(touched.commits, LB_BIT_SEQUENCES);
    assert_int_equal(lb_footprint_of_sql(&tables, "SELECT NEXT VALUE FOR s", &touched), LB_WRITE);
    assert_int_equal(touched.commits, LB_BIT_SEQUENCES);
    static const char *const unclear[] = {"SELECT setval('s', 1)",
                                          "SELECT last_value FROM s",
                                          "SELECT count(*) FROM pg_locks",
                                          "FETCH walk",
                                          "EXECUTE something",
                                          "UNLOCK TABLES",
                                          "SELECT mine(id) FROM job",
                                          "SELECT mine/* it's */(id) FROM job",
                                          "SELECT \"mine\"(id) FROM job",
                                          "SELECT id, mine(id) AS \"it's\" FROM job",
                                          "SELECT 'it FROM job"};
    for (size_t i = 0; i < sizeof unclear / sizeof unclear[0]; i++) {
        assert_int_equal(lb_footprint_of_sql(&tables, unclear[i], &touched), LB_WRITE);
        assert_int_equal(touched.writes, LB_TOUCHES_ALL);
    }
    /* Texts and comments have no words. */
    static const char *const plain[] = {
        "SELECT /* status's */ 1 FROM job", "SELECT E'\\'' FROM job -- status",
        "SELECT $a$' status$a$ FROM job", "SELECT 1 AS \"it's\" FROM job",
        "SELECT 1 FROM \"job\" WHERE 'it''s status' IS NOT NULL"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        assert_int_equal(lb_footprint_of_sql(&tables, plain[i], &touched), LB_PLAIN_READ);
        assert_int_equal(touched.reads, 1);
    }
    /* SQLite takes a text for a name where no text can stand. */
    struct lb_tables sqlite = tables;
    sqlite.dialect = LB_SQL_SQLITE;
    lb_footprint_of_sql(&sqlite, "SELECT id FROM 'job'", &touched);
    assert_int_equal(touched.reads, 1);
    /* Who stores the time, or a number that a column draws, tells when it was. */
    lb_footprint_of_sql(&tables, "UPDATE job SET modified = now()", &touched);
    assert_int_equal(touched.writes, 1 | LB_BIT_SEQUENCES);
    lb_footprint_of_sql(&tables, "INSERT INTO job VALUES (1)", &touched);
    assert_int_equal(touched.writes, 1 | LB_BIT_SEQUENCES);
    lb_footprint_of_sql(&tables, "SELECT id FROM job WHERE until < now()", &touched);
    assert_int_equal(touched.writes, 0);
    /* Reads of a serializable transaction are watched. */
    struct lb_tables watched = tables;
    watched.reads_lock = true;
    lb_footprint_of_sql(&watched, "SELECT id FROM job", &touched);
    assert_int_equal(touched.writes, LB_ALL_TABLES);
    /* Its LOCK TABLE counts as touching every table: which one it waits for is not told. */
    lb_footprint_of_sql(&tables, "LOCK TABLE job IN EXCLUSIVE MODE", &touched);
    assert_true(touched.queues);
    lb_footprint_of_sql(&watched, "LOCK TABLE job IN EXCLUSIVE MODE", &touched);
    assert_false(touched.queues);
}

static void locks_beside_the_result_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool locks_its_rows;
    } cases[] = {
        {"SELECT id FROM job WHERE id = 1 FOR UPDATE", true},
        {"/* job's */ SELECT id FROM job WHERE id = 1 FOR UPDATE", true},
        {"UPDATE job SET owner = 'for' WHERE id = 1", true},
        {"UPDATE job /* for */ SET owner = 1", true},
        {"SELECT (SELECT count(*) FROM job) FROM lock_row", true},
        {"SELECT id FROM job OFFSET 1 FOR UPDATE", false},
        {"SELECT 1 FROM (SELECT id FROM job FOR UPDATE) AS j", false},
        {"UPDATE lock_row SET owner = 1 WHERE id = (SELECT id FROM job FOR NO KEY UPDATE)", false},
        {"INSERT INTO job VALUES (1)", false},
        {"UPDATE job SET owner = 'for", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (lb_footprint_locks_its_rows(&tables, cases[i].sql) != cases[i].locks_its_rows)
            fail_msg("%s: %d", cases[i].sql, !cases[i].locks_its_rows);
}

static void waiting_is_told_from_skipping(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool rows, locks;
    } cases[] = {
        {"SELECT id FROM job FOR UPDATE", false, false},
        {"SELECT id FROM job FOR UPDATE SKIP LOCKED", true, true},
        {"SELECT id FROM job FOR UPDATE NOWAIT", true, true},
        {"SELECT id FROM job FOR UPDATE WAIT 1", true, true},
        {"SELECT 'nowait' FROM job FOR UPDATE", false, false},
        {"CREATE FUNCTION f() RETURNS int AS $$ SELECT id FROM job FOR UPDATE SKIP LOCKED $$", true,
         true},
        {"SET STATEMENT innodb_lock_wait_timeout = 0 FOR UPDATE job SET owner = 1", true, true},
        {"SET lock_timeout = 1", true, true},
        {"SELECT 'it FROM job", true, true},
        {"SELECT GET_LOCK(concat('a', :id), 10)", false, false},
        {"SELECT GET_LOCK('a,b', 5)", false, false},
        {"SELECT GET_LOCK('a', 0)", false, true},
        {"SELECT GET_LOCK('a', 1)", false, true},
        {"SELECT GET_LOCK('a', :ttl_ms)", false, true},
        {"SELECT GET_LOCK('a')", false, true},
        {"SELECT GET_LOCK('a', 10", false, true},
        {"SELECT pg_try_advisory_lock(1)", false, true},
        {"SELECT pg_advisory_lock(1)", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool rows = lb_footprint_skips_rows(&tables, cases[i].sql),
             locks = lb_footprint_skips_locks(&tables, cases[i].sql);
        if (rows != cases[i].rows || locks != cases[i].locks)
            fail_msg("%s: %d %d", cases[i].sql, rows, locks);
    }
}

static void an_answer_tells_of_one_advisory_lock(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        enum lb_user_lock lock;
    } cases[] = {
        {"SELECT id FROM job", LB_USER_LOCK_NONE},
        {"SELECT GET_LOCK(concat('a', :id), 10)", LB_USER_LOCK_TAKEN},
        {"select get_lock('a', 10) as granted", LB_USER_LOCK_TAKEN},
        {"SELECT RELEASE_LOCK(concat('a', ('b')))", LB_USER_LOCK_RELEASED},
        {"SELECT RELEASE_LOCK('a') AS given", LB_USER_LOCK_RELEASED},
        {"SELECT RELEASE_ALL_LOCKS()", LB_USER_LOCK_UNTOLD},
        {"SELECT GET_LOCK('a', 1) + GET_LOCK('b', 1)", LB_USER_LOCK_UNTOLD},
        {"SELECT GET_LOCK('a', 1) = 0", LB_USER_LOCK_UNTOLD},
        {"SELECT 1, GET_LOCK('a', 1)", LB_USER_LOCK_UNTOLD},
        {"SELECT GET_LOCK('a', 1), id FROM job", LB_USER_LOCK_UNTOLD},
        {"SELECT GET_LOCK(owner, 1) FROM job", LB_USER_LOCK_UNTOLD},
        {"SELECT GET_LOCK", LB_USER_LOCK_UNTOLD},
        {"SELECT GET_LOCK('a, 1)", LB_USER_LOCK_UNTOLD},
        {"DO RELEASE_LOCK('a')", LB_USER_LOCK_UNTOLD},
        {"SELECT pg_advisory_lock(1)", LB_USER_LOCK_UNTOLD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum lb_user_lock lock = lb_footprint_user_lock(&tables, cases[i].sql);
        if (lock != cases[i].lock)
            fail_msg("%s: %d", cases[i].sql, (int)lock);
    }
}

static void a_table_that_others_are_tied_to_is_not_queued_for(void **state)
{
    (void)state;
    struct lb_footprint touched;
    struct lb_tables tied = tables;
    lb_footprint_of_sql(&tied, "LOCK TABLE job", &touched);
    assert_true(touched.queues);
    tied.group[0] = tied.group[1] = 3; /* a foreign key: LOCK TABLE locks one of the two */
    lb_footprint_of_sql(&tied, "LOCK TABLE job", &touched);
    assert_false(touched.queues);
}

/* The order in which the two are asked about makes no difference. */
static bool are_dependent(const struct lb_footprint *a, const struct lb_footprint *b)
{
    bool is = lb_footprint_dependent(a, b);
    assert_int_equal(lb_footprint_dependent(b, a), is);
    return is;
}

static void what_commutes_is_independent(void **state)
{
    (void)state;
    struct lb_footprint read = {.reads = 1}, write = {.reads = 1, .writes = 1},
                        other = {.reads = 2, .writes = 2}, commit = {.commits = 1},
                        begins = {.begins = true}, ends = {.ends = true};
    assert_false(are_dependent(&read, &read));
    assert_false(are_dependent(&read, &write)); /* not committed: not seen */
    assert_true(are_dependent(&write, &write));
    assert_false(are_dependent(&write, &other));
    assert_true(are_dependent(&read, &commit));
    assert_false(are_dependent(&commit, &commit));
    assert_false(are_dependent(&commit, &other));
    assert_true(are_dependent(&begins, &ends));
    assert_false(are_dependent(&ends, &ends));
    assert_false(are_dependent(&begins, &begins));
    /* If two wait for each other, the engine chooses the victim by the order of arrival. */
    struct lb_footprint waits = {.writes = 1, .blocks = true},
                        waits_too = {.writes = 2, .blocks = true};
    assert_true(are_dependent(&waits, &waits_too));
    assert_false(are_dependent(&waits, &other));
}

/* A statement of table 0, of which rows and ways of reading say all. */
static struct lb_footprint by_row(uint32_t writes, uint32_t commits)
{
    return (struct lb_footprint){
        .reads = writes | !commits, .writes = writes, .commits = commits, .by_row = 1};
}

static void rows_that_nobody_sees_commute(void **state)
{
    (void)state;
    const struct lb_touched_row row = {.key = 7, .meets = 1u << 3};
    struct lb_footprint commit = by_row(0, 1), end = commit, update = by_row(1, 0);
    lb_footprint_add_row(&commit, &row);
    lb_footprint_add_row(&update, &row);
    const struct {
        struct lb_touched_ref ref;
        bool is_seen;
    } readers[] = {
        {{.condition = -1}, true}, /* a scan of all */
        {{.condition = 3}, true},
        {{.condition = 2}, false},
        {{.condition = -1, .is_keyed = true, .key = 7}, true},
        {{.condition = -1, .is_keyed = true, .key = 8}, false},
        {{.condition = 3, .is_keyed = true, .key = 8}, false},
        {{.condition = 2, .is_keyed = true, .key = 7}, false},
        {{.condition = -1, .table = 1}, false},
    };
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        struct lb_footprint read = by_row(0, 0), write = by_row(1, 0);
        lb_footprint_add_ref(&read, &readers[i].ref);
        lb_footprint_add_ref(&write, &readers[i].ref);
        assert_int_equal(are_dependent(&read, &commit), readers[i].is_seen);
        assert_int_equal(are_dependent(&write, &update), readers[i].is_seen);
    }
    /* Two that have touched one row, however they found it. */
    struct lb_footprint same = by_row(1, 0), another = by_row(1, 0);
    lb_footprint_add_row(&same, &row);
    lb_footprint_add_row(&another, &(struct lb_touched_row){.key = 8, .meets = 1u << 3});
    assert_true(are_dependent(&same, &update));
    assert_true(are_dependent(&same, &commit));
    assert_false(are_dependent(&another, &update));
    assert_false(are_dependent(&another, &commit));
    /* One of the two is known by table only. */
    end.by_row = 0;
    assert_true(are_dependent(&another, &end));
}

static void what_is_added_hides_no_row(void **state)
{
    (void)state;
    struct lb_footprint commit = by_row(0, 1), read = by_row(0, 0);
    lb_footprint_add_ref(&read, &(struct lb_touched_ref){.condition = 3});
    lb_footprint_add_row(&commit, &(struct lb_touched_row){.key = 7, .meets = 1});
    assert_false(are_dependent(&read, &commit));
    lb_footprint_add_row(&commit, &(struct lb_touched_row){.key = 7, .meets = 1u << 3});
    assert_true(are_dependent(&read, &commit)); /* the same row, in another version */
    /* More than there is room for. */
    struct lb_footprint many = by_row(0, 1);
    for (uint64_t key = 0; key <= LB_FOOTPRINT_ROWS; key++) {
        assert_false(are_dependent(&read, &many));
        lb_footprint_add_row(&many, &(struct lb_touched_row){.key = key});
    }
    assert_true(are_dependent(&read, &many));
    struct lb_footprint reads = by_row(0, 0), one = by_row(0, 1);
    lb_footprint_add_row(&one, &(struct lb_touched_row){.key = 99});
    for (uint64_t key = 0; key <= LB_FOOTPRINT_REFS; key++) {
        assert_false(are_dependent(&reads, &one));
        lb_footprint_add_ref(
            &reads, &(struct lb_touched_ref){.condition = -1, .is_keyed = true, .key = key});
    }
    assert_true(are_dependent(&reads, &one));
    /* A move of two statements, of which one is known by table only. */
    struct lb_footprint other = by_row(0, 1), coarse = {.reads = 1};
    lb_footprint_add_row(&other, &(struct lb_touched_row){.key = 9});
    assert_false(are_dependent(&read, &other));
    lb_footprint_add(&read, &(struct lb_footprint){.reads = 2});
    assert_false(are_dependent(&read, &other)); /* of another table */
    lb_footprint_add(&read, &coarse);
    assert_true(are_dependent(&read, &other));
    lb_footprint_add(&coarse, &other);
    assert_int_equal(coarse.by_row, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_touch_the_tables_they_name),
        cmocka_unit_test(locks_beside_the_result_are_seen),
        cmocka_unit_test(waiting_is_told_from_skipping),
        cmocka_unit_test(an_answer_tells_of_one_advisory_lock),
        cmocka_unit_test(a_table_that_others_are_tied_to_is_not_queued_for),
        cmocka_unit_test(what_commutes_is_independent),
        cmocka_unit_test(rows_that_nobody_sees_commute),
        cmocka_unit_test(what_is_added_hides_no_row),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
