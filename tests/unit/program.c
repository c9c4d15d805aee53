/* Statement files: the lexer's corners, the format, and every mistake with its file and line. */
#include "program.h"
#include "program_features.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int dollar(size_t n, char *buf, size_t size)
{
    return snprintf(buf, size, "$%zu", n + 1);
}

static int question(size_t n, char *buf, size_t size)
{
    (void)n;
    return snprintf(buf, size, "?");
}

static const struct lb_db postgres = {
    .name = "postgres", .placeholder = dollar, .has_question_operators = true};
static const struct lb_db mariadb = {.name = "mariadb", .placeholder = question};

static struct lb_program *build(const char *text, const struct lb_db *db,
                                const struct lb_setting *settings, size_t n_settings,
                                struct lb_error *err)
{
    struct lb_file *file = NULL;
    struct lb_program *program = NULL;
    memset(err, 0, sizeof *err);
    if (lb_file_parse("x.sql", text, strlen(text), -1, &file, err) != 0)
        return NULL;
    if (lb_program_new(file, db, NULL, settings, n_settings, &program, err) != 0)
        program = NULL;
    lb_file_free(file);
    return program;
}

#define LOCK_HEADER  "-- strategy: x\n-- shape: lock\n"
#define LOCK_REST    "-- name: release\nUPDATE t SET o = NULL WHERE o = :worker\n"
#define LOCK_SETUP   "-- name: setup\nCREATE TABLE t (o text);\n"
#define QUEUE_HEADER "-- strategy: x\n-- shape: queue\n"
#define QUEUE_REST                                                                                 \
    "-- name: setup\nCREATE TABLE q (id int);\n-- name: put\nINSERT INTO q VALUES (:id);\n"        \
    "-- name: complete\nDELETE FROM q WHERE id = :id;\n"

#define QUEUE_BATCH                                                                                \
    "-- name: setup\nCREATE TABLE q (id int);\n-- name: put\nINSERT INTO q VALUES (:id);\n"        \
    "-- name: claim\nUPDATE q SET a = 2 RETURNING id, lot;\n-- name: complete\n"

static const char good_lock[] =
    "-- A comment before everything.\n"
    "-- strategy: my-lock\n"
    "-- shape: lock                       (or: queue)\n"
    "-- claims: exclusive, owner-release, fenced\n"
    "-- isolation: read committed         (optional)\n"
    "-- needs: returning\n"
    "-- summary: one row a lock (and no more)\n"
    "-- origin: a book\n"
    "-- option: ttl_ms = 1000             (lease length)\n"
    "-- option: order = asc | desc\n"
    "\n"
    "-- name: setup\n"
    "CREATE TABLE my_lock (name text PRIMARY KEY, owner text DEFAULT ':no;', fence bigint);\n"
    "-- name: resource                    once per resource\n"
    "INSERT INTO my_lock (name) VALUES (:resource);\n"
    "-- name: acquire\n"
    "UPDATE my_lock -- a comment; with a semicolon and :a_parameter\n"
    "SET owner = :worker, fence = fence + 1\n"
    "WHERE name = :resource AND owner IS NULL RETURNING fence::bigint AS token;\n"
    "-- name: release\n"
    "-- require: row\n"
    "SELECT 1 FROM my_lock WHERE name = :resource ORDER BY name {order} FOR UPDATE;\n"
    "UPDATE my_lock SET owner = NULL WHERE name = :resource AND owner = :worker\n"
    "AND fence = :token\n"
    "-- name: teardown\n"
    "DROP TABLE my_lock;\n";

static void a_header_is_read(void **state)
{
    (void)state;
    struct lb_file *file = NULL;
    struct lb_error err = {0};
    assert_int_equal(lb_file_parse("x.sql", good_lock, strlen(good_lock), -1, &file, &err), 0);
    assert_string_equal(lb_file_strategy(file), "my-lock");
    assert_string_equal(lb_file_summary(file), "one row a lock (and no more)");
    assert_string_equal(lb_file_origin(file), "a book");
    assert_int_equal(lb_file_shape(file), LB_LOCK);
    assert_int_equal(lb_file_isolation(file), LB_ISO_READ_COMMITTED);
    assert_int_equal(lb_file_claims(file), LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_OWNER_RELEASE) |
                                               LB_G_BIT(LB_G_FENCED));
    assert_int_equal(lb_file_needs(file), LB_CAP_RETURNING);
    const struct lb_option *options = lb_file_options(file);
    assert_string_equal(options[0].name, "ttl_ms");
    assert_string_equal(options[0].default_value, "1000");
    assert_string_equal(options[0].help, "lease length");
    assert_null(options[0].choices);
    assert_string_equal(options[1].default_value, "asc");
    assert_string_equal(options[1].choices[1], "desc");
    assert_null(options[1].choices[2]);
    assert_null(options[2].name);
    assert_true(lb_file_uses(file, LB_SLOT_RESOURCE));
    assert_false(lb_file_uses(file, LB_SLOT_MODE));
    assert_true(lb_file_supports(file, &mariadb, &err));
    lb_file_free(file);
}

static void a_program_has_placeholders_and_slots(void **state)
{
    (void)state;
    struct lb_error err;
    struct lb_setting desc = {"order", "DESC"};
    struct lb_program *program = build(good_lock, &postgres, &desc, 1, &err);
    assert_non_null(program);
    const struct lb_section *acquire = &program->sections[LB_S_ACQUIRE];
    assert_int_equal(acquire->n_statements, 1);
    assert_string_equal(acquire->statements[0].native,
                        "UPDATE my_lock \nSET owner = $1, fence = fence + 1\n"
                        "WHERE name = $2 AND owner IS NULL RETURNING fence::bigint AS token");
    assert_int_equal(acquire->statements[0].line, 17);
    assert_int_equal(acquire->statements[0].n_params, 2);
    assert_int_equal(acquire->statements[0].param_slot[0], LB_SLOT_WORKER);
    assert_int_equal(acquire->statements[0].param_type[0], LB_TEXT);
    const struct lb_section *release = &program->sections[LB_S_RELEASE];
    assert_int_equal(release->n_statements, 2);
    assert_true(release->statements[0].require_row);
    assert_true(release->statements[0].is_write); /* it locks */
    assert_string_equal(release->statements[0].sql, "SELECT 1 FROM my_lock WHERE name = :resource "
                                                    "ORDER BY name desc FOR UPDATE");
    assert_string_equal(release->statements[1].native,
                        "UPDATE my_lock SET owner = NULL WHERE name = $1 AND owner = $2\n"
                        "AND fence = $3");
    assert_false(release->statements[1].require_row);
    assert_int_equal(program->defaults[LB_SLOT_TTL_MS].type, LB_INT);
    assert_int_equal(program->defaults[LB_SLOT_TTL_MS].integer, 1000);
    assert_int_equal(program->carries, 1u << LB_SLOT_TOKEN);
    assert_int_equal(program->uses,
                     1u << LB_SLOT_WORKER | 1u << LB_SLOT_RESOURCE | 1u << LB_SLOT_TOKEN);
    assert_int_equal(program->n_settings, 2);
    assert_string_equal(program->settings[1].value, "desc");
    assert_int_equal(program->needs, LB_CAP_RETURNING);
    lb_program_free(program);

    program = build(good_lock, &mariadb, NULL, 0, &err);
    assert_non_null(program);
    assert_non_null(strstr(program->sections[LB_S_RELEASE].statements[0].native, "name asc"));
    assert_non_null(strstr(program->sections[LB_S_RELEASE].statements[1].native, "owner = ?"));
    lb_program_free(program);
}

/* What acquire's statement becomes; NULL: the file was refused. */
static void check_native(const char *statement, const char *native)
{
    char text[2000];
    struct lb_error err;
    snprintf(text, sizeof text, LOCK_HEADER LOCK_SETUP "-- name: acquire\n%s\n" LOCK_REST,
             statement);
    struct lb_program *program = build(text, &postgres, NULL, 0, &err);
    if (program == NULL)
        fail_msg("%s", err.message);
    assert_string_equal(program->sections[LB_S_ACQUIRE].statements[0].native, native);
    assert_int_equal(program->sections[LB_S_ACQUIRE].n_statements, 1);
    lb_program_free(program);
}

static void the_lexer_leaves_quoted_text_alone(void **state)
{
    (void)state;
    check_native("SELECT 'it''s :worker; {x}', :worker", "SELECT 'it''s :worker; {x}', $1");
    check_native("SELECT \"a:b;\", `c:d;` , :mode", "SELECT \"a:b;\", `c:d;` , $1");
    check_native("SELECT E'\\' :worker;', 1", "SELECT E'\\' :worker;', 1");
    check_native("SELECT '\\', :worker", "SELECT '\\', $1");
    check_native("SELECT $$;:worker$$, $a$ $$ ; $b$ $a$", "SELECT $$;:worker$$, $a$ $$ ; $b$ $a$");
    check_native("SELECT now()::text, x := 1, :now::bigint",
                 "SELECT now()::text, x := 1, $1::bigint");
    check_native("SELECT /*+ hint ; :x */ 1 -- gone ; :y\n, 2", "SELECT /*+ hint ; :x */ 1 \n, 2");
    check_native("SELECT '{1,2}'::int[], a ? 'b', 1e5, a[1:2]",
                 "SELECT '{1,2}'::int[], a ? 'b', 1e5, a[1:2]");
    check_native("SELECT :worker, :worker", "SELECT $1, $2");
    check_native("SELECT 1 -- name: is at no line's start", "SELECT 1");
    check_native("SELECT 'a\n-- name: claim\nb'", "SELECT 'a\n-- name: claim\nb'");
    check_native("/* before */ SELECT 1 /* after */ ;", "SELECT 1 /* after */");
    check_native("SELECT ';' ; ; ;", "SELECT ';'");
}

/* Locks that end with their session, by the statements and no comment. */
static void session_locks_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *statement;
        bool locks;
    } cases[] = {
        {"UPDATE x SET a = :resource /* no advisory lock */", false},
        {"UPDATE x SET get_locks = :resource WHERE b = 'LOCK TABLE x'", false},
        {"SELECT PG_advisory_lock(hashtext(:resource))", true},
        {"SELECT pg_advisory_xact_lock(hashtext(:resource))", false},
        {"/* x */ LOCK TABLE x /* :resource */", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1000];
        struct lb_file *file = NULL;
        struct lb_program *program = NULL;
        struct lb_error err = {0};
        snprintf(
            text, sizeof text,
            "-- strategy: x\n-- shape: lock\n-- claims: exclusive\n-- name: setup\nCREATE TABLE x "
            "(a "
            "int);\n-- name: acquire\n%s;\n-- name: release\nSELECT 1;\n-- name: teardown\nDROP "
            "TABLE x;\n",
            cases[i].statement);
        assert_int_equal(lb_file_parse("x.sql", text, strlen(text), -1, &file, &err), 0);
        assert_int_equal(lb_program_new(file, &postgres, NULL, NULL, 0, &program, &err), 0);
        if (lb_program_locks_sessions(program) != cases[i].locks)
            fail_msg("%s", cases[i].statement);
        lb_program_free(program);
        lb_file_free(file);
    }
    assert_true(lb_program_locks_sessions(NULL));
}

static void bodies_are_one_statement(void **state)
{
    (void)state;
    static const char text[] = LOCK_HEADER
        "-- name: setup\n"
        "CREATE TABLE event (a int);\n"
        "CREATE TRIGGER t1 AFTER UPDATE ON t BEGIN\n"
        "  UPDATE t SET a = CASE WHEN b THEN 1 ELSE 2 END;\n"
        "  DELETE FROM u;\n"
        "END;\n"
        "CREATE OR REPLACE PROCEDURE p() BEGIN IF x THEN SET y = 1; END IF; BEGIN END; END;\n"
        "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;\n"
        "-- name: acquire\nSELECT 1;\n" LOCK_REST;
    struct lb_error err;
    struct lb_program *program = build(text, &postgres, NULL, 0, &err);
    if (program == NULL)
        fail_msg("%s", err.message);
    assert_int_equal(program->sections[LB_S_SETUP].n_statements, 4);
    assert_string_equal(program->sections[LB_S_SETUP].statements[1].native +
                            strlen(program->sections[LB_S_SETUP].statements[1].native) - 3,
                        "END");
    lb_program_free(program);
}

static void sections_are_chosen_by_engine_and_option(void **state)
{
    (void)state;
    static const char text[] =
        QUEUE_HEADER "-- option: form = cte | in\n"
                     "-- option: mode_of = share row exclusive | exclusive\n"
                     "-- option: stale_ms = 0\n" QUEUE_REST
                     "-- name: claim [postgres] when form=cte tx=one begin=immediate\n"
                     "-- needs: merge\n"
                     "SELECT 1 AS id;\n"
                     "-- name: claim [postgres] when form=in\n"
                     "LOCK TABLE q IN {mode_of} MODE; SELECT 2 AS id;\n"
                     "-- name: claim [sqlite, mariadb] tx=hold\n"
                     "SELECT 3 AS id;\n"
                     "-- name: error when stale_ms=0\nSELECT 4;\n"
                     "-- name: error when stale_ms!=0\nSELECT :stale_ms;\n"
                     "-- name: free\n-- on-error: retry\nSELECT 5;\n";
    struct lb_error err;
    struct lb_setting settings[] = {
        {"form", "cte"}, {"form", "in"}, {"mode_of", "Share-Row_exclusive"}, {"stale_ms", "7"}};
    struct lb_program *program = build(text, &postgres, NULL, 0, &err);
    assert_non_null(program);
    const struct lb_section *claim = &program->sections[LB_S_CLAIM];
    assert_string_equal(claim->statements[0].native, "SELECT 1 AS id");
    assert_int_equal(claim->tx, LB_TX_ONE);
    assert_int_equal(claim->begin, LB_BEGIN_IMMEDIATE);
    assert_int_equal(program->needs, LB_CAP_MERGE);
    assert_int_equal(program->sections[LB_S_FREE].on_error, LB_ON_ERROR_RETRY);
    assert_int_equal(claim->on_error, LB_ON_ERROR_ANSWER);
    lb_program_free(program);

    program = build(text, &postgres, settings, 4, &err);
    assert_non_null(program);
    claim = &program->sections[LB_S_CLAIM];
    assert_string_equal(claim->statements[0].native, "LOCK TABLE q IN share row exclusive MODE");
    assert_string_equal(claim->statements[1].native, "SELECT 2 AS id");
    assert_string_equal(program->sections[LB_S_ERROR].statements[0].native, "SELECT $1");
    assert_int_equal(program->needs, 0);
    int slot = lb_program_slot(program, "stale_ms");
    assert_true(slot >= LB_SLOT_FIXED);
    assert_int_equal(program->defaults[slot].integer, 7);
    lb_program_free(program);

    program = build(text, &mariadb, NULL, 0, &err);
    assert_non_null(program);
    assert_int_equal(program->sections[LB_S_CLAIM].tx, LB_TX_HOLD);
    lb_program_free(program);
}

struct mistake {
    const char *text, *message;
};

static void mistakes_are_reported_by_line(void **state)
{
    (void)state;
    static const struct mistake mistakes[] = {
        {"", "x.sql:1: no \"-- strategy: NAME\" line"},
        {"-- strategy: x\n-- name: setup\n", "x.sql:1: no \"-- shape: lock\" or \"queue\""},
        {"-- strategy: X y\n", "x.sql:1: strategy: \"X y\" is no name"},
        {"-- strategy: x\n-- strategy: y\n", "x.sql:2: strategy: given twice"},
        {"\n-- shape: ring\n", "x.sql:2: shape: \"ring\" is neither lock nor queue"},
        {LOCK_HEADER "-- claims: exclusiv\n",
         "x.sql:3: unknown guarantee \"exclusiv\"; did you mean exclusive or group-exclusive? "
         "(there are exclusive, "},
        {LOCK_HEADER "-- claims: no-loss\n-- name: setup\n",
         "x.sql:1: claims: no-loss is for a queue, and this is a lock"},
        {LOCK_HEADER "-- isolation: strict\n", "x.sql:3: isolation: \"strict\" is not"},
        {LOCK_HEADER "-- needs: skiplocked\n",
         "x.sql:3: unknown capability \"skiplocked\"; did you mean skip_locked"},
        {LOCK_HEADER "-- isolaton: serializable\n",
         "x.sql:3: unknown directive \"isolaton:\"; did you mean \"isolation:\"?"},
        {LOCK_HEADER "-- option: ttl_ms\n", "x.sql:3: option: write \"name = default\""},
        {LOCK_HEADER "-- option: A = 1\n", "x.sql:3: option: \"A\" is no name"},
        {LOCK_HEADER "-- option: a =\n", "x.sql:3: option a: has no default"},
        {LOCK_HEADER "-- option: a = 1\n-- option: a = 2\n",
         "x.sql:4: option a: declared twice (line 3)"},
        {LOCK_HEADER "-- option: a = b | | c\n", "x.sql:3: option a: an empty choice"},
        {LOCK_HEADER "-- option: worker = me\n",
         "x.sql:3: option: \"worker\" is a parameter that lockbench fills"},
        {LOCK_HEADER "SELECT 1;\n", "x.sql:3: a statement before the first \"-- name:\" line"},
        {LOCK_HEADER "-- name: aquire\n",
         "x.sql:3: unknown section \"aquire\"; did you mean acquire"},
        {LOCK_HEADER "-- name: claim\n",
         "x.sql:3: section claim belongs to a queue, and this is a lock"},
        {LOCK_HEADER "-- name: heartbeat\nSELECT 1;\n",
         "x.sql:3: section heartbeat belongs to a queue, and this is a lock"},
        {LOCK_HEADER "-- name:\n", "x.sql:3: name: which section?"},
        {LOCK_HEADER "-- name: acquire [oracle]\n",
         "x.sql:3: section acquire: no engine \"oracle\""},
        {LOCK_HEADER "-- name: acquire tx=two\n", "x.sql:3: tx=two: each, one or hold"},
        {LOCK_HEADER "-- name: release tx=hold\n", "x.sql:3: tx=hold: only acquire and claim"},
        {LOCK_HEADER "-- name: acquire tx=one begin=now\n", "x.sql:3: begin=now: deferred"},
        {LOCK_HEADER "-- name: acquire begin=immediate\n",
         "x.sql:3: section acquire: begin= needs tx=one or tx=hold"},
        {LOCK_HEADER "-- name: acquire tx=one commit=never\n",
         "x.sql:3: commit=never: always is meant"},
        {LOCK_HEADER "-- name: acquire commit=always\n",
         "x.sql:3: section acquire: commit=always needs tx=one"},
        {LOCK_HEADER "-- name: acquire tx=hold commit=always\n",
         "x.sql:3: section acquire: commit=always needs tx=one"},
        {LOCK_HEADER "-- name: acquire session=lose\n", "x.sql:3: session=lose: keep is meant"},
        {LOCK_HEADER "-- name: release session=keep\n",
         "x.sql:3: session=keep: only acquire and claim begin a hold"},
        {LOCK_HEADER "-- name: acquire fast\n",
         "x.sql:3: section acquire: \"fast\" is not understood"},
        {LOCK_HEADER "-- name: acquire form=cte\n",
         "x.sql:3: section acquire: \"form=cte\": conditions follow the word when"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire when form=cte\nSELECT 1;\n" LOCK_REST,
         "x.sql:5: section acquire: when form: there is no such option"},
        {LOCK_HEADER "-- option: form = a | b\n" LOCK_SETUP
                     "-- name: acquire when form=c\nSELECT 1;\n" LOCK_REST,
         "x.sql:6: section acquire: when form=c: the option has no such value"},
        {LOCK_HEADER LOCK_SETUP
         "-- name: acquire\nSELECT 1;\n-- name: acquire\nSELECT 2;\n" LOCK_REST,
         "x.sql:7: section acquire applies to postgres as well as the one in line 5"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1;\n",
         "x.sql:1: section release is missing: a lock needs it"},
        {QUEUE_HEADER QUEUE_REST, "x.sql:1: section claim is missing: a queue needs it"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n" LOCK_REST,
         "x.sql:5: section acquire has no statement"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT\n 1, :workr;\n" LOCK_REST,
         "x.sql:7: section acquire: unknown parameter :workr"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT :token;\n" LOCK_REST,
         "x.sql:6: section acquire: nothing fills :token here"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nUPDATE t SET token = 1 RETURNING fence;\n"
                                "-- name: release\nUPDATE t SET a = 1 WHERE token = :token;\n",
         "x.sql:8: section release: nothing fills :token here"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT :n;\n" LOCK_REST,
         "x.sql:6: section acquire: nothing fills :n here"},
        {LOCK_HEADER "-- name: setup\nINSERT INTO t VALUES (:resource);\n"
                     "-- name: acquire\nSELECT 1;\n" LOCK_REST,
         "x.sql:4: section setup: nothing fills :resource here"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT {form};\n" LOCK_REST,
         "x.sql:6: {form}: there is no such option"},
        {LOCK_HEADER "-- option: form = x\n" LOCK_SETUP
                     "-- name: acquire\nSELECT {form};\n" LOCK_REST,
         "x.sql:7: {form}: only an option with a list of choices"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT $1;\n" LOCK_REST,
         "x.sql:6: $1: parameters are written :name"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nBEGIN;\nSELECT 1;\nCOMMIT;\n" LOCK_REST,
         "x.sql:6: begin in section acquire: a section does not open or end transactions"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1;\nSTART TRANSACTION\n" LOCK_REST,
         "x.sql:7: start in section acquire"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1;\n rollback;\n" LOCK_REST,
         "x.sql:7: rollback in section acquire"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 'x;\n" LOCK_REST,
         "x.sql:6: a string that does not end"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT $x$;\n" LOCK_REST,
         "x.sql:6: a dollar-quoted text that does not end"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n/* SELECT 1;\n" LOCK_REST,
         "x.sql:6: a comment that does not end"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n/* a /* b */ c */ SELECT 1;\n" LOCK_REST,
         "x.sql:6: a comment inside of a comment"},
        {LOCK_HEADER "-- name: setup\nCREATE TRIGGER t AFTER UPDATE ON t BEGIN DELETE FROM u;\n",
         "x.sql:4: a body that does not end: END is missing"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- require: row\n" LOCK_REST,
         "x.sql:6: require: is above no statement"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1\n-- require: row\n" LOCK_REST,
         "x.sql:7: require: belongs above a statement, not inside of one"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- require: rows\nSELECT 1;\n",
         "x.sql:6: require: only \"row\" can be"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- answer: row\n" LOCK_REST,
         "x.sql:6: answer: is above no statement"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- answer: row\nSELECT 1;\n-- answer: row\n",
         "x.sql:8: answer: a statement above answers already"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1;\n-- name: release\nSELECT :ids;\n",
         "x.sql:8: section release: nothing fills :ids here: it is for complete, error, free "
         "and renew of a queue"},
        {QUEUE_HEADER QUEUE_BATCH "",
         "x.sql:9: section complete has no statement; it may be empty if the claim deletes its "
         "items"},
        {QUEUE_HEADER QUEUE_BATCH "UPDATE q SET a = 1 WHERE id = ANY (:tokens::bigint[]);\n",
         "x.sql:10: section complete: nothing fills :tokens here: it is for complete, error, "
         "free and renew of a queue whose claim returns a column token"},
        {QUEUE_HEADER QUEUE_BATCH "DELETE FROM q WHERE id = ANY (:ids::bigint[]) AND id = :id;\n",
         "x.sql:9: section complete: :id is one item's, but the section is for all items of a "
         "claim at once; use :ids, :tokens and :items alone"},
        {QUEUE_HEADER QUEUE_BATCH "DELETE FROM q WHERE id = ANY (:ids::bigint[]) AND n = :lot;\n",
         "x.sql:9: section complete: :lot is one item's"},
        {LOCK_HEADER "-- require: row\n", "x.sql:3: \"require:\" belongs in a section"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- on-error: ignore\n",
         "x.sql:6: on-error: \"ignore\" is not busy, retry or fail"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- on: standby\nSELECT 1;\n",
         "x.sql:6: on: \"standby\": only \"replica\" can be"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- on: replica\nUPDATE t SET a = 1;\n",
         "x.sql:6: on: replica: a statement that writes or locks goes to the primary"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\n-- on: replica\nSELECT 1 FROM t FOR UPDATE;\n",
         "x.sql:6: on: replica: a statement that writes or locks goes to the primary"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1;\n-- on: replica\n-- name: release\n",
         "x.sql:7: on: is above no statement"},
        {LOCK_HEADER LOCK_SETUP "-- name: acquire\nSELECT 1\n-- on: replica\nFROM t;\n",
         "x.sql:7: on: belongs above a statement, not inside of one (is a ; missing?)"},
        {LOCK_HEADER "-- name: setup\n-- on: replica\nSELECT 1;\n",
         "x.sql:4: on: replica: section setup is run on the primary alone"},
        {LOCK_HEADER "-- on: replica\n", "x.sql:3: \"on:\" belongs in a section"},
        {LOCK_HEADER LOCK_SETUP "-- on_error: busy\n",
         "x.sql:5: unknown directive \"on_error:\"; did you mean \"on-error:\"?"},
        {LOCK_HEADER LOCK_SETUP "-- claims: fifo\n",
         "x.sql:5: \"claims:\" belongs in the header, before the first section"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct lb_error err;
        struct lb_program *program = build(mistakes[i].text, &postgres, NULL, 0, &err);
        assert_null(program);
        assert_int_equal(err.code, LB_E_FILE);
        if (strstr(err.message, mistakes[i].message) != err.message)
            fail_msg("file %zu: got \"%s\", not \"%s\"", i, err.message, mistakes[i].message);
        assert_null(strchr(err.message, '\n'));
    }
}

static void settings_are_checked(void **state)
{
    (void)state;
    static const char text[] =
        LOCK_HEADER "-- option: wait_ms = 5\n-- option: form = cte | in\n" LOCK_SETUP
                    "-- name: acquire\nSELECT :wait_ms;\n" LOCK_REST;
    static const struct {
        struct lb_setting setting;
        const char *message;
    } wrong[] = {
        {{"wait", "1"}, "the strategy has no option \"wait\"; did you mean wait_ms"},
        {{"wait_ms", "soon"}, "option wait_ms: \"soon\" is not a whole number"},
        {{"form", "eq"}, "option form: \"eq\" is none of: cte, in"},
    };
    struct lb_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(build(text, &postgres, &wrong[i].setting, 1, &err));
        assert_int_equal(err.code, LB_E_USAGE);
        assert_ptr_equal(strstr(err.message, wrong[i].message), err.message);
    }
}

static void an_engine_without_its_sections_is_unsupported(void **state)
{
    (void)state;
    static const char text[] =
        LOCK_HEADER LOCK_SETUP "-- name: acquire [postgres]\nSELECT 1;\n" LOCK_REST;
    struct lb_file *file = NULL;
    struct lb_error err;
    assert_null(build(text, &mariadb, NULL, 0, &err));
    assert_int_equal(err.code, LB_E_UNSUPPORTED);
    assert_int_equal(lb_file_parse("x.sql", text, strlen(text), -1, &file, &err), 0);
    assert_true(lb_file_supports(file, &postgres, &err));
    assert_false(lb_file_supports(file, &mariadb, &err));
    assert_string_equal(err.message, "x.sql: has no section acquire for mariadb");
    assert_int_equal(lb_file_check(file, NULL, &err), 0);
    lb_file_free(file);
}

static void a_check_visits_every_choice(void **state)
{
    (void)state;
    static const char text[] = LOCK_HEADER
        "-- option: form = good | bad\n" LOCK_SETUP "-- name: acquire when form=good\nSELECT 1;\n"
        "-- name: acquire when form=bad\nSELECT :nothing;\n" LOCK_REST;
    struct lb_file *file = NULL;
    struct lb_error err;
    assert_int_equal(lb_file_parse("x.sql", text, strlen(text), -1, &file, &err), 0);
    assert_int_equal(lb_file_check(file, NULL, &err), LB_E_FILE);
    assert_ptr_equal(strstr(err.message, "x.sql:9: section acquire: unknown parameter :nothing"),
                     err.message);
    lb_file_free(file);
}

static void built_in_files_have_no_header(void **state)
{
    (void)state;
    static const char text[] = "-- Prose.\n-- shape: lock\n";
    struct lb_file *file = NULL;
    struct lb_error err;
    assert_int_equal(lb_file_parse("b.sql", text, strlen(text), LB_LOCK, &file, &err), LB_E_FILE);
    assert_ptr_equal(strstr(err.message, "b.sql:2: \"shape:\" in a file of sections only"),
                     err.message);
    static const char nul[] = "-- a\n-- b\0c";
    assert_int_equal(lb_file_parse("b.sql", nul, sizeof nul - 1, LB_LOCK, &file, &err), LB_E_FILE);
    assert_string_equal(err.message, "b.sql:2: a NUL byte: this is no text file");
    assert_int_equal(lb_file_read("/nonexistent.sql", -1, &file, &err), LB_E_FILE);
    assert_int_equal(lb_file_read("/", -1, &file, &err), LB_E_FILE);
}

static void bags_keep_their_texts(void **state)
{
    (void)state;
    struct lb_error err;
    struct lb_program *program = build(good_lock, &postgres, NULL, 0, &err);
    assert_non_null(program);
    struct lb_bag bag, copy;
    lb_bag_init(&bag, program);
    assert_int_equal(bag.value[LB_SLOT_TTL_MS].integer, 1000);
    char text[] = "hello";
    struct lb_value value = lb_text(text, 5);
    assert_true(lb_bag_set(&bag, LB_SLOT_PAYLOAD, &value));
    text[0] = 'j';
    lb_bag_copy(&copy, &bag);
    memset(bag.text, 'x', sizeof bag.text);
    assert_int_equal(copy.value[LB_SLOT_PAYLOAD].length, 5);
    assert_memory_equal(copy.value[LB_SLOT_PAYLOAD].text, "hello", 5);
    char large[600];
    memset(large, 'y', sizeof large);
    value = lb_text(large, sizeof large);
    assert_false(lb_bag_set(&copy, LB_SLOT_WORKER, &value));
    assert_int_equal(copy.value[LB_SLOT_WORKER].length, sizeof copy.text - 5);
    /* A shorter text takes the old one's place: a bag used again and again does not fill up. */
    for (int i = 0; i < 1000; i++) {
        value = lb_text("abc", 3);
        assert_true(lb_bag_set(&copy, LB_SLOT_PAYLOAD, &value));
    }
    lb_program_free(program);
}

/* The purpose of a length of time, by its place in the statement. */
static void test_timing(void **state)
{
    static const struct {
        const char *options, *claim, *recover; /* text behind WHERE or SET */
        const char *lease, *limit;
    } cases[] = {
        {"", "a = now() + :ttl_ms", "b < now()", "ttl_ms", NULL},
        {"", "a = 1", "b < :now - :ttl_ms", NULL, "ttl_ms"},
        {"-- option: old_ms = 9\n", "a = now()", "b + :old_ms < now()", NULL, "old_ms"},
        {"-- option: age = 9\n", "a = 1", "b < now() - :age * interval '1 second'", NULL, "age"},
        {"-- option: max_run = 9\n", "b < :now - :max_run", "b = 1", "max_run", NULL},
        {"-- option: attempts = 9\n", "b = now() AND n < :attempts", "n >= 1", NULL, NULL},
        {"-- option: attempts = 9\n", "b = 1", "n < 2 AND m = :attempts", NULL, NULL},
        {"-- option: retry_ms = 9\n", "a = now() + :retry_ms", "b = 1", NULL, NULL},
        {"-- option: t_ms = 9\n-- option: u_ms = 99\n", "a = now() + :t_ms", "b < now() - :u_ms",
         "t_ms", "u_ms"},
        {"-- lease: none\n", "a = now() + :ttl_ms", "b < now()", NULL, NULL},
        {"-- option: form = a | b\n", "b = now() + :form", "b = 1", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[800];
        struct lb_file *file;
        struct lb_error err;
        snprintf(text, sizeof text,
                 QUEUE_HEADER "%s" QUEUE_REST
                              "-- name: claim\nUPDATE q SET %s RETURNING id;\n-- name: recover\n"
                              "UPDATE q SET c = 0 WHERE %s;\n",
                 cases[i].options, cases[i].claim, cases[i].recover);
        assert_int_equal(lb_file_parse("x.sql", text, strlen(text), -1, &file, &err), 0);
        const struct lb_timing *lease = lb_file_lease(file), *limit = lb_file_limit(file);
        print_message("%s / %s\n", cases[i].claim, cases[i].recover);
        assert_int_equal(lease != NULL, cases[i].lease != NULL);
        assert_int_equal(limit != NULL, cases[i].limit != NULL);
        if (lease != NULL)
            assert_string_equal(lease->name, cases[i].lease);
        if (limit != NULL)
            assert_string_equal(limit->name, cases[i].limit);
        lb_file_free(file);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timing),
        cmocka_unit_test(a_header_is_read),
        cmocka_unit_test(a_program_has_placeholders_and_slots),
        cmocka_unit_test(the_lexer_leaves_quoted_text_alone),
        cmocka_unit_test(session_locks_are_found),
        cmocka_unit_test(bodies_are_one_statement),
        cmocka_unit_test(sections_are_chosen_by_engine_and_option),
        cmocka_unit_test(mistakes_are_reported_by_line),
        cmocka_unit_test(settings_are_checked),
        cmocka_unit_test(an_engine_without_its_sections_is_unsupported),
        cmocka_unit_test(a_check_visits_every_choice),
        cmocka_unit_test(built_in_files_have_no_header),
        cmocka_unit_test(bags_keep_their_texts),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
