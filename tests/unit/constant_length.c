/* Lengths of time that stand in a statement's text: which are found, and what only looks like one.
 */
#include "program_raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lb_constant length_in(const char *sql, bool has_option)
{
    struct lb_raw_statement statement = {.text = sql, .length = strlen(sql), .line = 7};
    return lb_constant_length(&statement, has_option);
}

static void check(const char *const *statements, size_t n, bool has_option, int expected)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < n; i++)
        if (length_in(statements[i], has_option).line != expected) {
            print_error("%s: %s\n", expected != 0 ? "not found" : "found", statements[i]);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

#define CHECK(list, has_option, expected)                                                          \
    check(list, sizeof(list) / sizeof *(list), has_option, expected)

static void lengths_are_found(void **state)
{
    static const char *const statements[] = {
        "UPDATE j SET state = 'new' WHERE taken < unixepoch('subsec') - 300",
        "UPDATE j SET state = 'new' WHERE unixepoch() - taken > 300 AND class = :class",
        "UPDATE j SET state = 'new' WHERE (julianday('now') - taken) * 86400.0 >= 300",
        "UPDATE j SET state = 1 WHERE t < (julianday('now') - 2440587.5) * 86400.0 - 5 * 60",
        "UPDATE j SET state = 'new' WHERE taken < :now - 300000",
        "UPDATE j SET state = 'new' WHERE taken < datetime('now', '-30 seconds')",
        "UPDATE j SET until = strftime('%s', 'now') + 30 WHERE id = :id",
        "UPDATE j SET until = now() + interval '5 min', owner = :worker WHERE name = :resource",
        "UPDATE j SET until = now() + interval '00:05:00' WHERE name = :resource",
        "UPDATE j SET until = now() + '5 minutes'::interval WHERE name = :resource",
        "UPDATE j SET until = now() + CAST('300 s' AS interval) WHERE name = :resource",
        "UPDATE j SET until = now() + '1 hour' WHERE name = :resource",
        "UPDATE j SET until = now() + 5 * interval '1 minute' WHERE name = :resource",
        "UPDATE j SET until = now() + interval '1 second' * 300 WHERE name = :resource",
        "UPDATE j SET until = now() + make_interval(mins => 5) WHERE name = :resource",
        "UPDATE j SET until = now() + make_interval(0, 0, 0, 0, 0, 300) WHERE name = :resource",
        "UPDATE j SET until = NOW(6) + INTERVAL 30 SECOND WHERE name = :resource",
        "UPDATE j SET until = NOW(6) + INTERVAL '30' SECOND WHERE name = :resource",
        "UPDATE j SET until = TIMESTAMPADD(SECOND, 30, NOW(6)) WHERE name = :resource",
        "UPDATE j SET state = 'new' WHERE TIMESTAMPDIFF(SECOND, taken, NOW(6)) > 30",
        "UPDATE j SET until = UNIX_TIMESTAMP(NOW(6)) + 300.0 WHERE name = :resource",
    };
    (void)state;
    CHECK(statements, false, 7);
    CHECK(statements, true, 7);
}

/* A column's value is as fixed; but where there is an option, it is the wait of one item, say. */
static void columns_are_as_fixed(void **state)
{
    static const char *const statements[] = {
        "UPDATE j SET state = 'new' WHERE taken + seconds < unixepoch()",
        "UPDATE j SET state = 'new' WHERE state = 'busy' AND now() - taken > patience",
    };
    (void)state;
    CHECK(statements, false, 7);
    CHECK(statements, true, 0);
}

static void others_are_not(void **state)
{
    static const char *const statements[] = {
        "UPDATE j SET until = now() + :ttl_ms * interval '1 millisecond' WHERE id = :id",
        "UPDATE j SET until = now() + interval '1 second' * :ttl_s WHERE id = :id",
        "UPDATE j SET until = now() + (:ttl_ms / 1000.0) * interval '1 second' WHERE id = :id",
        "UPDATE j SET until = now() + interval '1 second' * (:ttl_ms / 1000.0) WHERE id = :id",
        "UPDATE j SET until = now() + interval '{ttl_s} seconds' WHERE id = :id",
        "UPDATE j SET until = now() + make_interval(secs => :ttl_ms / 1000.0) WHERE id = :id",
        "UPDATE j SET until = NOW(6) + INTERVAL :ttl_ms * 1000 MICROSECOND WHERE id = :id",
        "UPDATE j SET until = NOW(6) + INTERVAL 1000 * :ttl_ms MICROSECOND WHERE id = :id",
        "UPDATE j SET until = TIMESTAMPADD(MICROSECOND, 1000 * :ttl_ms, NOW(6)) WHERE id = :id",
        "UPDATE j SET until = unixepoch() + 60 * :ttl_min WHERE id = :id",
        "UPDATE j SET until = julianday('now') + :ttl_ms / 86400000.0 WHERE id = :id",
        "UPDATE j SET until = strftime('%f', 'now', printf('+%.3f seconds', :ttl_ms / 1000.0))",
        "UPDATE j SET until = strftime('%f', 'now', '+' || :ttl_ms / 1000.0 || ' seconds')",
        "UPDATE j SET until = now() - interval '1 microsecond' WHERE id = :id",
        "UPDATE j SET attempt = attempt + 1, taken = now() WHERE attempt < 5 AND run_at <= now()",
        "UPDATE j SET taken = strftime('%s', 'now'), attempt = attempt + 2 WHERE id = :id",
        "UPDATE j SET until = (julianday('now') - 2440587.5) * 86400000 + :ttl_ms WHERE u < :now",
        "UPDATE j SET state = 'new' WHERE (julianday('now') - 2440587.5) * 86400000 > until",
        "UPDATE j SET state = 1 WHERE CAST(round(unixepoch() + 0.5) AS INTEGER) > until",
        "INSERT INTO p SELECT :worker WHERE (SELECT count(*) FROM p WHERE until > now()) < 3",
        "SELECT id FROM j WHERE run_at <= now() ORDER BY priority + unixepoch() - put LIMIT 5",
        "UPDATE j SET state = 'new' WHERE taken < now() - :limit_ms * interval '1 millisecond'",
        "UPDATE j SET state = 'new' WHERE attempt > 300",
        "SELECT id FROM j WHERE until < strftime('%s', 'now') + 0",
    };
    (void)state;
    CHECK(statements, false, 0);
    CHECK(statements, true, 0);
}

/* Which of them is the end of a lease. */
static void leases_are_told_apart(void **state)
{
    static const struct {
        const char *sql;
        bool is_other, looks_older;
    } table[] = {
        {"UPDATE j SET until = now() + interval '30 s' WHERE until <= now()", false, true},
        {"UPDATE j SET owner = :worker WHERE now() - taken > interval '30 s'", false, true},
        {"UPDATE j SET owner = :worker WHERE taken < unixepoch() - 30", false, true},
        {"UPDATE j SET owner = :worker WHERE TIMESTAMPDIFF(SECOND, taken, NOW()) > 30", false,
         true},
        {"UPDATE j SET deadline = now() + interval '30 s' WHERE owner IS NULL", false, false},
        {"UPDATE j SET state = 1 WHERE put > now() - interval '7 days'", true, false},
        {"UPDATE j SET state = 1 WHERE run_at <= now() + interval '1 second'", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct lb_constant found = length_in(table[i].sql, false);
        if (found.line != 7 || found.is_other != table[i].is_other ||
            found.looks_older != table[i].looks_older)
            fail_msg("%s: line %d, other %d, older %d", table[i].sql, found.line, found.is_other,
                     found.looks_older);
    }
}

/* When is what was given back due again? */
static void what_is_put_off_is_known(void **state)
{
    static const char *const later[] = {
        "UPDATE j SET run_at = now() + interval '5 seconds' WHERE id = :id",
        "UPDATE j SET run_at = now() + power(2, attempt) * interval '1 second' WHERE id = :id",
        "UPDATE j SET run_at = unixepoch() + 15 * attempt WHERE id = :id",
        "UPDATE j SET run_at = datetime('now', '+' || attempt || ' minutes') WHERE id = :id",
        "UPDATE j SET run_at = DATE_ADD(NOW(6), INTERVAL attempt SECOND) WHERE id = :id",
    };
    static const char *const known[] = {
        "UPDATE j SET run_at = now() + :backoff_s * interval '1 second' WHERE id = :id",
        "UPDATE j SET run_at = unixepoch() + :backoff_s * attempt WHERE id = :id",
        "UPDATE j SET run_at = now(), attempt = attempt + 3 WHERE id = :id",
        "UPDATE j SET run_at = unixepoch('subsec') WHERE id = :id",
        "UPDATE j SET attempt = attempt + 3 WHERE run_at < now() + interval '1 second'",
    };
    (void)state;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (length_in(later[i], true).later_line != 7)
            fail_msg("not put off: %s", later[i]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (length_in(known[i], true).later_line != 0)
            fail_msg("put off: %s", known[i]);
}

static void attempts_are_limited(void **state)
{
    static const struct {
        const char *sql;
        double limit;
    } table[] = {
        {"UPDATE j SET state = 1 WHERE attempts < :max_attempts", 3},
        {"UPDATE j SET state = 1 WHERE :max_attempts > j.attempts", 3},
        {"UPDATE j SET state = CASE WHEN receives >= 5 THEN 'dead' ELSE 'new' END", 5},
        {"UPDATE j SET attempts = attempts + 1 WHERE run_at < :now", 0},
        {"UPDATE j SET state = 1 WHERE (SELECT count(*) FROM j WHERE owner = 2) < 4", 0},
        {"UPDATE j SET state = 1 WHERE attempts = :token", 0},
        {"UPDATE j SET n = n + 1 WHERE n < 4", 4}, /* with any name */
        {"UPDATE j SET n = j.n + 1 WHERE 4 > n", 4},
        {"UPDATE j SET n = coalesce(n, 0) + 1 WHERE coalesce(n, 0) < :max_attempts", 3},
        {"UPDATE j SET version = version + 1 WHERE version = :token AND at < 4", 0},
        {"UPDATE j SET free = free + 1, x = (CASE WHEN free < 4 THEN 1 END), free = free - 1", 0},
        {"UPDATE j SET n = n - 1 WHERE n > 0", 6}, /* counted down from what it begins with */
        {"UPDATE j SET attempts = attempts + 1 WHERE attempts < most", 5},
        {"UPDATE j SET failed_at = now() WHERE failed_at < most", 0},
        {"UPDATE j SET attempts = attempts + 1 WHERE attempts < j.given", 1}, /* put says it */
        {"UPDATE j SET state = 1 WHERE attempts BETWEEN 0 AND 4", 5},
        {"UPDATE j SET state = 1 WHERE NOT (j.attempts >= 5)", 5},
        {"UPDATE j SET state = 1 WHERE attempts NOT BETWEEN :max_attempts AND 99", 3},
        {"UPDATE j SET n = n + 1 WHERE coalesce(n, 0) BETWEEN 0 AND 4", 5},
        {"UPDATE j SET state = 1 WHERE attempts IN (0, 4, 1)", 5},
        {"UPDATE j SET state = 1 WHERE attempts NOT IN (9, 4)", 4},
        {"UPDATE j SET state = 1 WHERE attempts <> 5 AND state != 7", 5},
        {"UPDATE j SET state = 1 WHERE 5 != attempts", 5},
        {"UPDATE j SET state = 1 WHERE attempts IN (0)", 0}, /* a state, as with = 0 */
        {"UPDATE j SET state = 1 WHERE at BETWEEN 0 AND 4 AND state IN (1, 2)", 0},
    };
    static const char table_of[] = "CREATE TABLE j (n int NOT NULL DEFAULT 6, most int DEFAULT 5, "
                                   "given int DEFAULT 30)";
    static const char put[] = "INSERT INTO j (id, given) VALUES (:id, :most)";
    const struct lb_setting settings[] = {{"max_attempts", "3"}};
    struct lb_file *file = calloc(1, sizeof *file);
    (void)state;
    assert_non_null(file);
    file->n_statements = file->n_sections = 3;
    file->sections[0] = (struct lb_raw_section){.name = LB_S_SETUP, .n_statements = 1};
    file->sections[1] = (struct lb_raw_section){.name = LB_S_PUT, .first = 1, .n_statements = 1};
    file->sections[2] = (struct lb_raw_section){.name = LB_S_CLAIM, .first = 2, .n_statements = 1};
    file->statements[0] =
        (struct lb_raw_statement){.text = table_of, .length = sizeof table_of - 1};
    file->statements[1] = (struct lb_raw_statement){.text = put, .length = sizeof put - 1};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *sql = table[i].sql;
        struct lb_raw_statement statement = {.text = sql, .length = strlen(sql), .line = 7};
        file->statements[2] = statement;
        const char *option = NULL;
        if ((int)lb_attempts_limit(file, &statement, settings, 1, &option) != (int)table[i].limit)
            fail_msg("not %.0f: %s", table[i].limit, sql);
        if ((option != NULL) != (table[i].limit == 3)) /* the option's default */
            fail_msg("not by an option: %s", sql);
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_found),        cmocka_unit_test(columns_are_as_fixed),
        cmocka_unit_test(others_are_not),           cmocka_unit_test(leases_are_told_apart),
        cmocka_unit_test(what_is_put_off_is_known), cmocka_unit_test(attempts_are_limited),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("constant lengths", tests, NULL, NULL);
}
