/* What explore needs of MariaDB: see exploring.h. */
#include "mariadb_space.h"

#include "exploring.h"
#include "life.h"

#include <stddef.h>

/* MariaDB: a session's NOW() is set before each statement, also in defaults of columns. SYSDATE()
 * is the server's own, also in a statement that has waited: the offset to add is encoded in locks
 * that the control session has while the clock is ahead, one for each move of the clock up to
 * three, since these are visible at once and belong to no snapshot. Their names contain a part of
 * SYSDATE() without a character: then the server looks for them at each row, as it calls SYSDATE()
 * at each. A clock that stands still keeps SYSDATE() in a place where it decides nothing: plans
 * depend on it. */
#define CLOCK_LOCK(no) "concat('lb_clock" no "_', database())"
#define IS_CLOCK_LOCK(no)                                                                          \
    "(IS_USED_LOCK(concat('lb_clock" no "_', database(), left(SYSDATE(), 0))) IS NOT NULL)"
#define AHEAD                                                                                      \
    "INTERVAL # * (" IS_CLOCK_LOCK("1") " + " IS_CLOCK_LOCK("2") " + " IS_CLOCK_LOCK("3") ") "     \
                                                                                          "SECOND"
static const char *const moved[] = {"now",
                                    "sysdate",
                                    "current_timestamp",
                                    "localtimestamp",
                                    "utc_timestamp",
                                    "unix_timestamp",
                                    "current_date",
                                    "current_time",
                                    "localtime",
                                    "datetime", /* a type */
                                    NULL};
static const struct lb_clock_word words[] = {{"sysdate", "(@ + " AHEAD ")"}, {NULL, NULL}};
static const struct lb_clock_word still_words[] = {
    {"sysdate", "(least(@ + INTERVAL 10 YEAR, from_unixtime($)) + " AHEAD ")"}, {NULL, NULL}};
static const struct lb_clock_word default_words[] = {{"sysdate", "now!"}, {NULL, NULL}};
static const struct lb_server_clock server_clock = {
    .set = "DO get_lock(concat('lb_clock', 1 + " IS_CLOCK_LOCK("1") " + " IS_CLOCK_LOCK(
        "2") ", '_', database()), 0)",
    .set_back = "DO release_lock(" CLOCK_LOCK("1") "), release_lock(" CLOCK_LOCK(
        "2") "), release_lock(" CLOCK_LOCK("3") ")",
    .statement = "SET timestamp = unix_timestamp(sysdate(6)) + %lld / 1000",
    .statement_back = "SET timestamp = DEFAULT",
    .still_statement = "SET timestamp = %lld / 1000",
    .words = words,
    .still_words = still_words,
    .default_words = default_words,
    .moved = moved};

const struct lb_exploring lb_mariadb_exploring = {
    .prepare_session = "SET foreign_key_checks = 0",
    .tables = "SELECT t.table_name, (SELECT group_concat(concat('`', c.column_name, '`') ORDER BY "
              "c.ordinal_position SEPARATOR ', ') FROM information_schema.columns c WHERE "
              "c.table_schema = t.table_schema AND c.table_name = t.table_name AND "
              "coalesce(c.generation_expression, '') = '') FROM information_schema.tables t "
              "WHERE t.table_schema = database() AND t.table_type = 'BASE TABLE' AND "
              "t.table_name <> '" LB_LIFE_TABLE "' "
              "ORDER BY t.table_name",
    .blockers = "SELECT b.trx_mysql_thread_id FROM information_schema.innodb_lock_waits w JOIN "
                "information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id JOIN "
                "information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id WHERE "
                "r.trx_mysql_thread_id = ?",
    .tells_blockers_late = true,
    .waits_for_table = "SELECT 1 FROM information_schema.processlist WHERE id = ? AND (state LIKE "
                       "'Waiting for table %lock' OR state LIKE 'Waiting for backup lock' OR state "
                       "LIKE 'Waiting for global read lock')",
    .holders = "SELECT p.id, concat('connection ', p.id, ' (', p.user, ')') FROM "
               "information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = "
               "t.trx_mysql_thread_id ORDER BY 1",
    .session_name = "SELECT concat('connection ', id, ' (', user, ')') FROM "
                    "information_schema.processlist WHERE id = ?",
    .heirs = "SELECT table_name, 'it is system-versioned' FROM information_schema.tables WHERE "
             "table_schema = database() AND table_type = 'SYSTEM VERSIONED'",
    .links = "SELECT table_name, referenced_table_name FROM "
             "information_schema.referential_constraints WHERE constraint_schema = database()",
    .n_opaque = "SELECT (SELECT count(*) FROM information_schema.views WHERE table_schema = "
                "database()) + (SELECT count(*) FROM information_schema.triggers WHERE "
                "trigger_schema = database()) + (SELECT count(*) FROM "
                "information_schema.routines WHERE routine_schema = database())",
    .copy = "CREATE TEMPORARY TABLE `lb_copy_%s` AS SELECT * FROM `%s`",
    .empty = "TRUNCATE TABLE `%s`", /* deleted rows would keep their locks until a purge */
    .fill = "INSERT INTO `%s` (%s) SELECT %s FROM `lb_copy_%s`",
    .freeze = "ALTER TABLE `%s` STATS_AUTO_RECALC = 0", /* in the background, at any time */
    .session = "UNLOCK TABLES; DO release_all_locks()",
    .keep = "START TRANSACTION WITH CONSISTENT SNAPSHOT", /* ends the one before */
    .counters = "SELECT table_name, concat('ALTER TABLE `', table_name, '` AUTO_INCREMENT = ', "
                "auto_increment) FROM information_schema.tables WHERE table_schema = database() "
                "AND auto_increment IS NOT NULL",
    /* The cache of a sequence is not visible; RESTART clears it. */
    .sequences = "SELECT concat('SELECT concat(''ALTER SEQUENCE `', table_name, '` RESTART '', "
                 "next_not_cached_value) FROM `', table_name, '`') FROM information_schema.tables "
                 "WHERE table_schema = database() AND table_type = 'SEQUENCE'",
    .asks_sequences = true,
    .triggers =
        "SELECT concat('DROP TRIGGER `', replace(trigger_name, '`', '``'), '`'), concat('CREATE "
        "DEFINER = `', replace(definer, '@', '`@`'), '` TRIGGER `', replace(trigger_name, '`', "
        "'``'), '` ', action_timing, ' ', event_manipulation, ' ON `', "
        "replace(event_object_table, '`', '``'), '` FOR EACH ROW ', action_statement) FROM "
        "information_schema.triggers WHERE trigger_schema = database() ORDER BY "
        "event_object_table, event_manipulation, action_timing, action_order",
    .numbered = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema "
                "= database() AND (column_default LIKE '%nextval(%' OR extra LIKE "
                "'%auto_increment%')",
    .scans_lock = true,
    .quote = '`',
    .clock = &server_clock,
};
