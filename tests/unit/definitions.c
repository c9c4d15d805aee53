/* The lines of setup that a finding shows below its statements. */
#include "definitions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct lb_db lb_db_sqlite;

enum { MOST = 6 };

/* Statements of setup, each with its line, and one that is shown, in line 90. */
static void look(const struct lb_statement *setup, size_t n, const char *shown, char *ret,
                 size_t size)
{
    static struct lb_program program;
    static struct lb_outlook outlook;
    struct lb_statement claim = {.sql = shown, .line = 90};
    const struct lb_quote *quotes[LB_DEFINED_SHOWN];
    program = (struct lb_program){.db = &lb_db_sqlite};
    program.sections[LB_S_SETUP] = (struct lb_section){.n_statements = n, .statements = setup};
    program.sections[LB_S_CLAIM] = (struct lb_section){.n_statements = 1, .statements = &claim};
    outlook = (struct lb_outlook){.n_statements = n + 1};
    for (size_t i = 0; i < n; i++)
        outlook.statements[i] = (struct lb_quote){.section = LB_S_SETUP, .line = setup[i].line};
    outlook.statements[n] = (struct lb_quote){.section = LB_S_CLAIM, .line = 90};
    lb_outlook_define(&program, &outlook);
    size_t n_shown = lb_outlook_definitions(&outlook, UINT64_C(1) << n, quotes), at = 0;
    for (size_t i = 0; i < n_shown; i++)
        at += (size_t)snprintf(ret + at, size - at, "%d: %s\n", quotes[i]->line, quotes[i]->text);
}

#define TABLE                                                                                      \
    "CREATE TABLE IF NOT EXISTS \"job\" (\n    id bigint PRIMARY KEY,\n    \"lock\" text DEFAULT " \
    "(1 + "                                                                                        \
    "2),\n"                                                                                        \
    "    payload text,\n    state char(1) COLLATE NOCASE, tries int\n)"

static const struct {
    struct lb_statement setup[MOST];
    size_t n;
    const char *shown, *lines;
} cases[] = {
    /* columns that are used, and keys */
    {{{.sql = TABLE, .line = 10}},
     1,
     "SELECT id FROM job WHERE state = 'x'",
     "11: id bigint PRIMARY KEY,\n14: state char(1) COLLATE NOCASE, tries int\n"},
    {{{.sql = TABLE, .line = 10}},
     1,
     "UPDATE job SET payload = :p WHERE \"lock\" = :l",
     "11: id bigint PRIMARY KEY,\n12: \"lock\" text DEFAULT (1 + 2),\n13: payload text,\n"},
    /* other tables are not; neither is the name of a parameter */
    {{{.sql = TABLE, .line = 10}, {.sql = "CREATE TABLE other (state int, x int)", .line = 20}},
     2,
     "SELECT x FROM other WHERE x = :state",
     "20: CREATE TABLE other (state int, x int)\n"},
    /* a table of which no column is found */
    {{{.sql = "CREATE TABLE job AS SELECT 1 AS id, 2 AS state", .line = 10}},
     1,
     "SELECT id FROM job",
     "10: CREATE TABLE job AS SELECT 1 AS id, 2 AS state\n"},
    /* indexes, what ALTER adds, and a sequence that a default draws from */
    {{{.sql = "CREATE SEQUENCE arrival AS bigint CACHE 20", .line = 1},
      {.sql = "CREATE SEQUENCE another", .line = 2},
      {.sql = "CREATE TABLE job (\nid int,\nplace bigint DEFAULT nextval('arrival')\n)", .line = 3},
      {.sql = "CREATE INDEX i\n  ON job (place) WHERE id > 0", .line = 7},
      {.sql = "ALTER TABLE job ADD CONSTRAINT one UNIQUE (place)", .line = 9},
      {.sql = "CREATE UNIQUE INDEX k ON other (place)", .line = 11}},
     6,
     "INSERT INTO job (id) VALUES (:id)",
     "1: CREATE SEQUENCE arrival AS bigint CACHE 20\n4: id int,\n"
     "7: CREATE INDEX i ON job (place) WHERE id > 0\n"
     "9: ALTER TABLE job ADD CONSTRAINT one UNIQUE (place)\n"},
    /* of many: compared columns come before written ones */
    {{{.sql = "CREATE TABLE t (\na int,\nb int,\nc int,\nd int,\ne int,\nf int,\ng int,\nh int,\n"
              "i int,\nPRIMARY KEY (a)\n)",
       .line = 1}},
     1,
     "UPDATE t SET a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1 WHERE h = 1 AND i = 1",
     "2: a int,\n3: b int,\n4: c int,\n5: d int,\n6: e int,\n9: h int,\n10: i int,\n"
     "11: PRIMARY KEY (a)\n"},
    /* and keys before these */
    {{{.sql = "CREATE TABLE t (\na int,\nb int,\nc int,\nd int,\ne int,\nf int,\ng int,\nh int,\n"
              "i int,\nPRIMARY KEY (a)\n)",
       .line = 1}},
     1,
     "DELETE FROM t WHERE a + b + c + d + e + f + g + h + i > 1",
     "2: a int,\n3: b int,\n4: c int,\n5: d int,\n6: e int,\n7: f int,\n8: g int,\n"
     "11: PRIMARY KEY (a)\n"},
    /* all triggers of a table */
    {{{.sql = "CREATE TABLE t (id int)", .line = 1},
      {.sql = "CREATE TRIGGER one AFTER INSERT ON t BEGIN SELECT 1; END", .line = 2},
      {.sql = "CREATE TRIGGER two AFTER UPDATE ON t BEGIN SELECT 2; END", .line = 3},
      {.sql = "CREATE TRIGGER three AFTER UPDATE ON other BEGIN SELECT 3; END", .line = 4}},
     4,
     "UPDATE t SET id = 1",
     "1: CREATE TABLE t (id int)\n2: CREATE TRIGGER one AFTER INSERT ON t BEGIN SELECT 1; END\n"
     "3: CREATE TRIGGER two AFTER UPDATE ON t BEGIN SELECT 2; END\n"},
};

static void what_a_statement_uses_is_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char lines[2000] = "";
        look(cases[i].setup, cases[i].n, cases[i].shown, lines, sizeof lines);
        assert_string_equal(lines, cases[i].lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_statement_uses_is_shown)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
