/* Mutants of statement files: which clauses are left out, and how each change is shown. */
#include "mutants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A lock whose acquire is the statement that is looked at. */
static const char frame[] = "-- strategy: my-lock\n-- shape: lock\n-- claims: exclusive\n%s"
                            "-- name: setup\n%s;\n-- name: resource\n"
                            "INSERT INTO t (name) VALUES (:resource);\n-- name: acquire%s\n%s;\n"
                            "-- name: release\nDELETE FROM t;\n";
static const char table[] = "CREATE TABLE t (name text)";

/* The diffs of all mutants, but those of the release, in one text. */
static char *mutants_of(const char *engine, const char *header, const char *setup, const char *line,
                        const char *acquire)
{
    char *text = NULL, *all = NULL;
    size_t size;
    struct lb_file *file = NULL;
    struct lb_program *program = NULL;
    struct lb_mutants mutants;
    struct lb_error err = {0};
    assert_true(asprintf(&text, frame, header, setup, line, acquire) > 0);
    int r = lb_file_parse("my.sql", text, strlen(text), -1, &file, &err);
    if (r == 0)
        r = lb_program_new(file, lb_engine_find(engine, strlen(engine)), NULL, NULL, 0, &program,
                           &err);
    if (r != 0)
        fail_msg("%s\n%s", err.message, text);
    lb_mutants_make(file, program, NULL, 0, &mutants);
    FILE *out = open_memstream(&all, &size);
    assert_non_null(out);
    for (size_t i = 0; i < mutants.n; i++)
        if (mutants.at[i].section != LB_S_RELEASE)
            fputs(mutants.at[i].diff, out);
    assert_int_equal(fclose(out), 0);
    lb_mutants_free(&mutants);
    lb_program_free(program);
    lb_file_free(file);
    free(text);
    return all;
}

static void expect(const char *engine, const char *sql, const char *wanted)
{
    char *all = mutants_of(engine, "", table, "", sql);
    if (strcmp(all, wanted) != 0)
        fail_msg("%s: %s\ngot:\n%s\nwanted:\n%s", engine, sql, all, wanted);
    free(all);
}

static void clauses_are_left_out_one_at_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *engine, *sql, *wanted; /* the - line is the statement: left out here */
    } cases[] = {
        {"sqlite", "UPDATE t SET a = 1", ""},
        {"sqlite", "UPDATE t SET a = 1 WHERE b IS NULL", "UPDATE t SET a = 1;\n"},
        {"sqlite", "UPDATE t SET a = 1 WHERE b = 1 AND c = 2",
         "UPDATE t SET a = 1 WHERE c = 2;\nUPDATE t SET a = 1 WHERE b = 1;\n"},
        {"sqlite", "UPDATE t SET a = 1 WHERE b BETWEEN 1 AND 2 AND c = 'x AND y'",
         "UPDATE t SET a = 1 WHERE c = 'x AND y';\nUPDATE t SET a = 1 WHERE b BETWEEN 1 AND 2;\n"},
        {"sqlite", "UPDATE t SET a = 1 WHERE b <= 1 RETURNING b AS token",
         "UPDATE t SET a = 1 WHERE b < 1 RETURNING b AS token;\n"
         "UPDATE t SET a = 1 RETURNING b AS token;\n"},
        {"sqlite", "UPDATE t SET a = 1 WHERE b = 1 AND (c IS NULL OR d < 2)",
         "UPDATE t SET a = 1 WHERE (c IS NULL OR d < 2);\nUPDATE t SET a = 1 WHERE b = 1;\n"
         "UPDATE t SET a = 1 WHERE b = 1 AND (d < 2);\n"
         "UPDATE t SET a = 1 WHERE b = 1 AND (c IS NULL);\n"
         "UPDATE t SET a = 1 WHERE b = 1 AND (c IS NULL OR d <= 2);\n"},
        {"sqlite", "UPDATE t SET n = n + 1, a = 1", "UPDATE t SET a = 1;\n"},
        {"sqlite", "UPDATE t SET a = 1, n = t.n + 1 RETURNING n",
         "UPDATE t SET a = 1 RETURNING n;\n"},
        {"sqlite", "UPDATE t SET a = 1 WHERE b IN (SELECT b FROM t WHERE c = 1 ORDER BY b LIMIT 1)",
         "UPDATE t SET a = 1;\n"
         "UPDATE t SET a = 1 WHERE b IN (SELECT b FROM t ORDER BY b LIMIT 1);\n"
         "UPDATE t SET a = 1 WHERE b IN (SELECT b FROM t WHERE c = 1 ORDER BY b DESC LIMIT 1);\n"
         "UPDATE t SET a = 1 WHERE b IN (SELECT b FROM t WHERE c = 1 ORDER BY b);\n"},
        {"sqlite",
         "INSERT INTO t (name) VALUES (:worker) ON CONFLICT (name) DO UPDATE SET a = 1 "
         "WHERE b = 1 AND c = 2",
         "INSERT INTO t (name) VALUES (:worker);\n"
         "INSERT INTO t (name) VALUES (:worker) ON CONFLICT (name) DO UPDATE SET a = 1 "
         "WHERE c = 2;\n"
         "INSERT INTO t (name) VALUES (:worker) ON CONFLICT (name) DO UPDATE SET a = 1 "
         "WHERE b = 1;\n"
         "INSERT INTO t (name) VALUES (:worker) ON CONFLICT (name) DO UPDATE SET a = 1;\n"},
        {"sqlite", "UPDATE t SET a = julianday('now')",
         "UPDATE t SET a = (:now / 86400000.0 + 2440587.5);\n"},
        {"sqlite", "SELECT row_number() OVER (ORDER BY b) FROM t", ""},
        {"postgres", "SELECT 1 FROM t FOR NO KEY UPDATE SKIP LOCKED",
         "SELECT 1 FROM t;\nSELECT 1 FROM t FOR NO KEY UPDATE;\n"
         "SELECT 1 FROM t FOR SHARE SKIP LOCKED;\n"},
        {"postgres", "SELECT 1 FROM t FOR UPDATE OF t NOWAIT",
         "SELECT 1 FROM t;\nSELECT 1 FROM t FOR UPDATE OF t;\nSELECT 1 FROM t FOR SHARE OF t "
         "NOWAIT;\n"},
        {"postgres", "UPDATE t SET a = clock_timestamp(), b = clock_timestamp()",
         "UPDATE t SET a = now(), b = now();\n"
         "UPDATE t SET a = to_timestamp(:now / 1000.0), b = to_timestamp(:now / 1000.0);\n"},
        {"postgres", "SELECT 1 FROM t JOIN u ON t.a = u.a", "SELECT 1 FROM t JOIN u ON 1 = 1;\n"},
        {"sqlite", "INSERT OR IGNORE INTO t (name) VALUES (:worker)",
         "INSERT INTO t (name) VALUES (:worker);\n"},
        {"sqlite", "UPDATE t SET a = CASE WHEN b < 1 AND c THEN :worker ELSE a || b END, d = 2",
         "UPDATE t SET a = CASE WHEN c THEN :worker ELSE a || b END, d = 2;\n"
         "UPDATE t SET a = CASE WHEN b <= 1 AND c THEN :worker ELSE a || b END, d = 2;\n"
         "UPDATE t SET a = CASE WHEN b < 1 THEN :worker ELSE a || b END, d = 2;\n"
         "UPDATE t SET a = :worker, d = 2;\nUPDATE t SET a = (a || b), d = 2;\n"},
        {"sqlite", "UPDATE t SET a = CASE b WHEN 1 THEN f(c, 2) WHEN 3 THEN 4 END",
         "UPDATE t SET a = (f(c, 2));\nUPDATE t SET a = 4;\nUPDATE t SET a = NULL;\n"},
        {"postgres", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
         "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;\n"},
        {"mariadb", "UPDATE t SET n = LAST_INSERT_ID(n + 1)",
         "UPDATE t SET n = LAST_INSERT_ID(n);\n"},
        {"mariadb", "INSERT IGNORE INTO t (name) VALUES (:worker)",
         "INSERT INTO t (name) VALUES (:worker);\n"},
        {"mariadb",
         "INSERT INTO t (name) VALUES (:worker) ON DUPLICATE KEY UPDATE a = IF(b IS NULL, 1, a)",
         "INSERT INTO t (name) VALUES (:worker);\n"
         "INSERT INTO t (name) VALUES (:worker) ON DUPLICATE KEY UPDATE a = 1;\n"
         "INSERT INTO t (name) VALUES (:worker) ON DUPLICATE KEY UPDATE a = a;\n"},
        {"mariadb", "SELECT 1 FROM t FOR UPDATE SKIP LOCKED",
         "SELECT 1 FROM t;\nSELECT 1 FROM t FOR UPDATE;\n"
         "SELECT 1 FROM t LOCK IN SHARE MODE SKIP LOCKED;\n"},
        {"mariadb", "UPDATE t SET a = SYSDATE(6)",
         "UPDATE t SET a = NOW(6);\nUPDATE t SET a = FROM_UNIXTIME(:now / 1000.0);\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *wanted = NULL;
        size_t size;
        FILE *out = open_memstream(&wanted, &size);
        assert_non_null(out);
        for (const char *line = cases[i].wanted; *line != '\0'; line = strchr(line, '\n') + 1)
            fprintf(out, "- %s;\n+ %.*s\n", cases[i].sql, (int)strcspn(line, "\n"), line);
        assert_int_equal(fclose(out), 0);
        expect(cases[i].engine, cases[i].sql, wanted);
        free(wanted);
    }
}

static void keys_are_left_out_of_setup(void **state)
{
    (void)state;
    char *all = mutants_of("postgres", "",
                           "CREATE TABLE t (name text PRIMARY KEY,\n"
                           "u text UNIQUE NOT NULL,\nr int NOT NULL REFERENCES o (id) ON DELETE "
                           "SET NULL DEFAULT 0,\nCHECK (r > 0));\n"
                           "CREATE INDEX i ON t (u);\nCREATE UNIQUE INDEX j ON t (u) WHERE r = 0",
                           "", "SELECT 1");
    assert_string_equal(all, "- CREATE TABLE t (name text PRIMARY KEY,\n"
                             "+ CREATE TABLE t (name text,\n"
                             "- u text UNIQUE NOT NULL,\n+ u text NOT NULL,\n"
                             "- r int NOT NULL REFERENCES o (id) ON DELETE SET NULL DEFAULT 0,\n"
                             "+ r int NOT NULL DEFAULT 0,\n"
                             "- r int NOT NULL REFERENCES o (id) ON DELETE SET NULL DEFAULT 0,\n"
                             "- CHECK (r > 0));\n"
                             "+ r int NOT NULL REFERENCES o (id) ON DELETE SET NULL DEFAULT 0);\n"
                             "- CREATE UNIQUE INDEX j ON t (u) WHERE r = 0;\n"
                             "+ CREATE INDEX j ON t (u) WHERE r = 0;\n"
                             "- CREATE UNIQUE INDEX j ON t (u) WHERE r = 0;\n"
                             "+ CREATE UNIQUE INDEX j ON t (u);\n");
    free(all);
}

static void keys_are_left_out_of_columns_and_of_alterations(void **state)
{
    (void)state;
    char *all = mutants_of("mariadb", "",
                           "CREATE TABLE t (name text,\n"
                           "r text AS (IF(s = 1, name, NULL)) VIRTUAL UNIQUE,\n"
                           "FOREIGN KEY (name) REFERENCES o (name));\n"
                           "ALTER TABLE t ADD UNIQUE (name)",
                           "", "SELECT 1");
    assert_string_equal(all, "- r text AS (IF(s = 1, name, NULL)) VIRTUAL UNIQUE,\n"
                             "+ r text AS (name) VIRTUAL UNIQUE,\n"
                             "- r text AS (IF(s = 1, name, NULL)) VIRTUAL UNIQUE,\n"
                             "+ r text AS (NULL) VIRTUAL UNIQUE,\n"
                             "- r text AS (IF(s = 1, name, NULL)) VIRTUAL UNIQUE,\n"
                             "+ r text AS (IF(s = 1, name, NULL)) VIRTUAL,\n"
                             "- r text AS (IF(s = 1, name, NULL)) VIRTUAL UNIQUE,\n"
                             "- FOREIGN KEY (name) REFERENCES o (name));\n"
                             "+ r text AS (IF(s = 1, name, NULL)) VIRTUAL UNIQUE);\n"
                             "- ALTER TABLE t ADD UNIQUE (name);\n");
    free(all);
}

static void statements_directives_and_levels_are_left_out(void **state)
{
    (void)state;
    char *all = mutants_of("postgres", "-- isolation: serializable\n", table, " tx=one",
                           "-- require: row\nSELECT 1 FROM t;\nDELETE FROM t");
    assert_string_equal(all, "- -- isolation: serializable\n+ -- isolation: repeatable read\n"
                             "- -- require: row\n"
                             "- -- require: row\n- SELECT 1 FROM t;\n"
                             "- DELETE FROM t;\n"
                             "- -- name: acquire tx=one\n+ -- name: acquire\n");
    free(all);
}

/* Without a condition they could end sessions of others. */
static void sections_that_end_sessions_are_not_changed(void **state)
{
    (void)state;
    static const char *const ends[] = {"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE a = 1",
                                       "SELECT PG_CANCEL_BACKEND(1) FROM t WHERE a = 1 LIMIT 1",
                                       "SELECT no FROM t WHERE a = 1 LIMIT 1;\nKILL :no"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char *all = mutants_of(i == 2 ? "mariadb" : "postgres", "", table, " tx=one", ends[i]);
        assert_string_equal(all, "");
        free(all);
    }
}

/* Two conditions of one statement go together, and a part of one does not. */
static void conditions_pair_within_a_statement(void **state)
{
    (void)state;
    char *text = NULL;
    struct lb_file *file = NULL;
    struct lb_program *program = NULL;
    struct lb_mutants mutants;
    struct lb_error err;
    assert_true(asprintf(&text, frame, "", table, "",
                         "UPDATE t SET a = 1 WHERE b = 1 AND (c = 2 OR d = 3)") > 0);
    assert_int_equal(lb_file_parse("my.sql", text, strlen(text), -1, &file, &err), 0);
    assert_int_equal(
        lb_program_new(file, lb_engine_find("sqlite", 6), NULL, NULL, 0, &program, &err), 0);
    lb_mutants_make(file, program, NULL, 0, &mutants);
    assert_int_equal(mutants.n, 4);
    assert_string_equal(mutants.at[0].clause, "b = 1");
    assert_string_equal(mutants.at[2].clause, "c = 2");
    assert_true(lb_mutants_pair(&mutants.at[0], &mutants.at[2]));
    assert_false(lb_mutants_pair(&mutants.at[1], &mutants.at[2]));
    char *without = lb_mutants_without(file, &mutants.at[2], &mutants.at[0]);
    assert_non_null(strstr(without, "SET a = 1 WHERE 1 = 1 AND (1 = 1 OR d = 3);"));
    free(without);
    lb_mutants_free(&mutants);
    lb_program_free(program);
    lb_file_free(file);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clauses_are_left_out_one_at_a_time),
        cmocka_unit_test(keys_are_left_out_of_setup),
        cmocka_unit_test(keys_are_left_out_of_columns_and_of_alterations),
        cmocka_unit_test(statements_directives_and_levels_are_left_out),
        cmocka_unit_test(sections_that_end_sessions_are_not_changed),
        cmocka_unit_test(conditions_pair_within_a_statement),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
