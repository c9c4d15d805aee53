/* Numbers that an INSERT draws within itself, and that another statement uses; and answers that
 * chance decides. */
#include "drawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

extern const struct lb_db lb_db_sqlite;

#define INSERT "INSERT INTO line (who) VALUES (:worker)"
#define LATER  "SELECT 1 AS n FROM line WHERE no < :ticket"

/* Statements on a table with the numbered column no; column: the reported one, NULL: none. */
static const struct {
    const char *insert, *other, *column;
} cases[] = {
    {INSERT, LATER, "no"},
    {INSERT, "SELECT who FROM line ORDER BY who, line.no LIMIT 1", "no"},
    {INSERT, "SELECT min(no) AS least FROM line", "no"},
    {INSERT, "SELECT who FROM line WHERE no BETWEEN 1 AND :ticket", "no"},
    {INSERT, "SELECT who FROM line WHERE :ticket > \"no\"", "no"},
    {INSERT, "SELECT who FROM line WHERE (who, no) <= (:worker, :ticket)", "no"},
    {INSERT, "SELECT who FROM line WHERE coalesce(no, 0) + 1 < :ticket", "no"},
    {INSERT, "SELECT rank() OVER (ORDER BY no) AS n FROM line", "no"},
    {INSERT " RETURNING no", LATER, "no"},
    {"INSERT INTO line VALUES (NULL, :worker)", LATER, "no"},
    {"INSERT INTO line (no, who) VALUES (DEFAULT, :worker)", LATER, "no"},
    {"WITH x AS (SELECT 1) INSERT INTO line (who) SELECT :worker", LATER, "no"},
    {"INSERT INTO other (who, n) VALUES (:worker, nextval('s'))",
     "SELECT n FROM other ORDER BY n LIMIT 1", "n"},
    {"INSERT INTO other (who, n, m) SELECT :worker, NEXT VALUE FOR s, coalesce(1, 2)",
     "SELECT n FROM other ORDER BY n LIMIT 1", "n"},
    /* Nobody asks for the order. */
    {INSERT, "DELETE FROM line WHERE no = :ticket", NULL},
    {INSERT, "SELECT who FROM line WHERE no <> :ticket", NULL},
    {INSERT, "SELECT no, who FROM line WHERE who < :worker ORDER BY who", NULL},
    {INSERT, "UPDATE line SET who = NULL WHERE no = :ticket AND who > 'a'", NULL},
    {INSERT, "SELECT no FROM line WHERE who -> 'a' = 'b'", NULL},
    {INSERT, "SELECT max(who) AS who, (SELECT 1) AS no FROM line", NULL},
    {INSERT, "SELECT n FROM other WHERE no < 1", NULL}, /* another table's */
    {INSERT, "SELECT 1 AS n FROM line -- WHERE no < 1", NULL},
    /* Somebody else drew it. */
    {"INSERT INTO line (no, who) VALUES (:ticket, :worker)", LATER, NULL},
    {"INSERT INTO other (n, who) VALUES (:ticket, :worker)",
     "SELECT n FROM other ORDER BY n LIMIT 1", NULL},
    {"INSERT INTO other (who, n) VALUES (:worker, nextval('s'))",
     "SELECT n FROM other ORDER BY who", NULL},
    {"UPDATE line SET who = :worker", LATER, NULL},
};

static void look(const char *insert, const char *other, bool one_writer, uint32_t played,
                 struct lb_drawn *ret)
{
    struct lb_tables tables = {.n = 2,
                               .name = {"line", "other"},
                               .n_numbers = 1,
                               .number = {{.table = 0, .column = "no"}},
                               .one_writer = one_writer};
    struct lb_statement statements[] = {{.sql = insert}, {.sql = other}};
    static struct lb_program program;
    program.sections[LB_S_ENQUEUE] =
        (struct lb_section){.n_statements = 1, .statements = &statements[0]};
    program.sections[LB_S_ACQUIRE] =
        (struct lb_section){.n_statements = 1, .statements = &statements[1]};
    *ret = (struct lb_drawn){.table = "old"};
    lb_find_drawn(&tables, &program, played, ret);
}

static void what_is_drawn_in_an_insert_is_found_if_somebody_goes_by_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_drawn drawn;
        look(cases[i].insert, cases[i].other, false, UINT32_MAX, &drawn);
        if (strcmp(drawn.column, cases[i].column != NULL ? cases[i].column : "") != 0)
            fail_msg("%s; %s: \"%s\"", cases[i].insert, cases[i].other, drawn.column);
        assert_int_equal(drawn.table[0] == '\0', cases[i].column == NULL);
    }
}

static void what_nobody_can_come_between_is_not(void **state)
{
    struct lb_drawn drawn;
    (void)state;
    look(INSERT, LATER, true, UINT32_MAX, &drawn); /* one writer */
    assert_string_equal(drawn.table, "");
    look(INSERT, LATER, false, 1u << LB_S_ACQUIRE, &drawn); /* all rows are there before */
    assert_string_equal(drawn.table, "");
}

static void chance_counts_where_it_decides(void **state)
{
    static const struct {
        const char *sql;
        bool decides;
    } texts[] = {
        {"SELECT id FROM job WHERE done = 0 ORDER BY random() LIMIT 1", true},
        {"SELECT id FROM job ORDER BY id LIMIT 1 OFFSET abs(random()) % 4", true},
        {"SELECT 1 AS lucky WHERE abs(random()) % 3 = 0", true},
        {"SELECT CASE WHEN random() < 0.5 THEN 1 END AS x", true},
        {"DELETE FROM job WHERE id IN (SELECT id FROM job ORDER BY RAND() LIMIT 1)", true},
        {"UPDATE job SET stamp = gen_random_uuid() WHERE id = :id", false},
        {"SELECT UUID() AS stamp", false},
        {"INSERT INTO job SELECT id FROM old WHERE id = :id RETURNING random()", false},
        {"INSERT INTO job (id) VALUES (:id) ON CONFLICT (id) DO UPDATE SET stamp = random()",
         false},
        {"SELECT id FROM job WHERE random = 1 ORDER BY uuid", false},
        {"SELECT id FROM job WHERE name = 'random()'", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct lb_statement statement = {.sql = texts[i].sql, .line = 7};
        struct lb_program program = {.db = &lb_db_sqlite};
        program.sections[LB_S_CLAIM] =
            (struct lb_section){.n_statements = 1, .statements = &statement};
        if (lb_find_random(&program, 1u << LB_S_CLAIM) != (texts[i].decides ? 7 : 0))
            fail_msg("%s", texts[i].sql);
        assert_int_equal(lb_find_random(&program, 1u << LB_S_COMPLETE), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_drawn_in_an_insert_is_found_if_somebody_goes_by_it),
        cmocka_unit_test(what_nobody_can_come_between_is_not),
        cmocka_unit_test(chance_counts_where_it_decides),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
