/* MariaDB targets and spaces: see mariadb_space.h.
 *
 * A space is a database of its own, marked by its comment, and registered with the same run id in a
 * table inside of it (see life.h). The space's own session holds a user lock (GET_LOCK) of the same
 * name from before the database exists until after it is gone. A database is swept only if its
 * name, its comment and its entry agree, its lock is free, and its run is dead; one that has no
 * table yet has nothing to lose.
 */
#include "mariadb_space.h"

#include "append.h"
#include "leash.h"
#include "mariadb_wire.h"
#include "memory.h"
#include "uri_text.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK_LIVE "lockbench: database of one run, dropped at its end; run "
#define MARK_KEPT "lockbench: database of one run, kept"

enum { ANSWER_S = 60 }; /* a server that says nothing for so long went away */
enum { LINGER_S = 10 }; /* so long a session that was lost may still have its lock */
enum { SESSIONS = 5 };  /* that may be ended during their work, in a row */

/* --- connecting ----------------------------------------------------------------------------- */

int lb_maria_describe(const char *text, char *label, size_t size, struct lb_error *err)
{
    struct lb_mariadb_uri uri;
    int r = lb_mariadb_uri_parse(text, &uri, err);
    if (r < 0)
        return r;
    const struct lb_mariadb_node *first = &uri.nodes[0];
    bool by_socket = first->socket[0] != '\0';
    char nodes[400] = "", one[300];
    for (size_t i = 0; i < uri.n_nodes; i++) {
        lb_mariadb_node_format(&uri.nodes[i], one, sizeof one);
        lb_append(nodes, sizeof nodes, "%s%s", i > 0 ? "," : "", one);
    }
    snprintf(label, size, "mariadb://%s%s%s/%s%s%s%s%s", uri.user, uri.has_user ? "@" : "",
             by_socket ? first->host : nodes, uri.database, by_socket ? "?socket=" : "",
             by_socket ? nodes : "", uri.first ? (by_socket ? "&" : "?") : "",
             uri.first ? "spread=first" : "");
    return 0;
}

static int fail_mysql(MYSQL *my, const char *what, struct lb_error *err)
{
    lb_fail(err, LB_E_ENV, "%s: %s", what, mysql_error(my));
    snprintf(err->native, sizeof err->native, "%u", mysql_errno(my));
    return LB_E_ENV;
}

/* Answers with the second column of the first row; "" if there is none. */
static bool ask_status(MYSQL *my, const char *sql, char *buf, size_t size)
{
    MYSQL_RES *result = NULL;
    bool answered = lb_maria_query(my, sql, &result) == 0;
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    snprintf(buf, size, "%s", row != NULL && row[1] != NULL ? row[1] : "");
    mysql_free_result(result);
    return answered;
}

/* A member that is no part of the quorum lets clients in, and refuses their statements. One that
 * lags behind may not know the run's database yet. */
static int settle(MYSQL *my, const struct lb_mariadb_uri *uri, const char *database,
                  struct lb_error *err)
{
    char ready[40], provider[40];
    if (!ask_status(my, "SHOW STATUS LIKE 'wsrep_ready'", ready, sizeof ready) ||
        !ask_status(my, "SHOW VARIABLES LIKE 'wsrep_on'", provider, sizeof provider))
        return fail_mysql(my, "cannot ask MariaDB whether it is ready", err);
    bool is_member = strcmp(provider, "ON") == 0;
    if (is_member && strcmp(ready, "ON") != 0)
        return lb_fail(err, LB_E_ENV, "this member of the cluster is not ready");
    if (is_member && lb_maria_query(my,
                                    "SET SESSION wsrep_sync_wait = 1; SELECT 1; "
                                    "SET SESSION wsrep_sync_wait = DEFAULT",
                                    NULL) != 0)
        return fail_mysql(my, "cannot wait for the cluster's earlier transactions", err);
    if (uri->n_nodes > 1 && database != NULL && lb_maria_wire_select_db(my, database) != 0)
        return fail_mysql(my, "cannot use the database", err);
    return 0;
}

static bool wants_ssl(const struct lb_mariadb_uri *uri)
{
    return uri->ssl >= LB_SSL_REQUIRED || uri->ssl_ca[0] != '\0' || uri->ssl_cert[0] != '\0' ||
           uri->ssl_key[0] != '\0';
}

static void set_ssl(MYSQL *my, const struct lb_mariadb_uri *uri)
{
    const my_bool yes = 1, no = 0;
    if (uri->ssl == LB_SSL_DISABLED) {
        mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &no);
        return;
    }
    if (uri->ssl_ca[0] != '\0')
        mysql_options(my, MYSQL_OPT_SSL_CA, uri->ssl_ca);
    if (uri->ssl_cert[0] != '\0')
        mysql_options(my, MYSQL_OPT_SSL_CERT, uri->ssl_cert);
    if (uri->ssl_key[0] != '\0')
        mysql_options(my, MYSQL_OPT_SSL_KEY, uri->ssl_key);
    if (wants_ssl(uri))
        mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &yes);
    /* The library verifies the chain and the name together, or nothing. */
    if (uri->ssl >= LB_SSL_VERIFY_CA)
        mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
}

static MYSQL *connect_node(const struct lb_mariadb_uri *uri, const struct lb_mariadb_node *node,
                           const struct lb_maria_wish *wish, struct lb_error *err)
{
    unsigned timeout_s = lb_leash_connect_s();
    char name[64], where[300];
    if (timeout_s == 0) {
        lb_fail(err, LB_E_ENV, "cannot connect to MariaDB: the server does not answer");
        return NULL;
    }
    MYSQL *my = mysql_init(NULL);
    if (my == NULL)
        lb_memory_exhausted(sizeof *my);
    snprintf(name, sizeof name, "lockbench %s", wish->role != NULL ? wish->role : "");
    mysql_options(my, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
    set_ssl(my, uri);
    if (wish->answer_s > 0)
        mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &wish->answer_s);
    mysql_options(my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options4(my, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", name);
    if (wish->init != NULL)
        mysql_options(my, MYSQL_INIT_COMMAND, wish->init);
    if (uri->session_variables[0] != '\0' && !wish->as_it_is)
        mysql_options(my, MYSQL_INIT_COMMAND, uri->session_variables);
    bool connected = mysql_real_connect(my, node->host[0] != '\0' ? node->host : NULL,
                                        uri->has_user ? uri->user : NULL,
                                        uri->has_password ? uri->password : NULL,
                                        uri->n_nodes > 1 ? NULL : wish->database, node->port,
                                        node->socket[0] != '\0' ? node->socket : NULL,
                                        CLIENT_FOUND_ROWS | CLIENT_MULTI_STATEMENTS) != NULL;
    int r;
    if (!connected)
        r = fail_mysql(my, "cannot connect to MariaDB", err);
    else if (wants_ssl(uri) && mysql_get_ssl_cipher(my) == NULL) /* the library goes on without */
        r = lb_fail(err, LB_E_ENV,
                    "cannot connect to MariaDB: the server does not offer TLS; ssl-mode=disabled "
                    "does without");
    else
        r = wish->as_it_is ? 0 : settle(my, uri, wish->database, err);
    if (r < 0 && connected &&
        (mysql_errno(my) == CR_SERVER_GONE_ERROR || mysql_errno(my) == CR_SERVER_LOST))
        lb_fail(err, LB_E_ENV, "the server went away: %s", mysql_error(my));
    if (r == 0)
        return my;
    /* Of several nodes one may not have it yet. */
    if (wish->is_of_space && uri->n_nodes == 1 && mysql_errno(my) == ER_BAD_DB_ERROR)
        lb_fail(err, LB_E_ENV, "the database %s is gone: another user dropped it", wish->database);
    if (uri->n_nodes > 1) {
        lb_mariadb_node_format(node, where, sizeof where);
        lb_fail_prefix(err, "%s", where);
    }
    mysql_close(my);
    return NULL;
}

MYSQL *lb_maria_connect(const struct lb_mariadb_uri *uri, const struct lb_maria_wish *wish,
                        size_t *ret_node, struct lb_error *err)
{
    size_t tries = wish->only ? 1 : uri->n_nodes;
    for (size_t i = 0; i < tries; i++) {
        size_t node = (wish->node + i) % uri->n_nodes;
        MYSQL *my = connect_node(uri, &uri->nodes[node], wish, err);
        if (my == NULL)
            continue;
        if (ret_node != NULL)
            *ret_node = node;
        return my;
    }
    return NULL;
}

int lb_maria_query(MYSQL *my, const char *sql, MYSQL_RES **ret_result)
{
    MYSQL_RES *last = NULL;
    int next = 0; /* mysql_next_result: 0 there is one, -1 there is none, else it failed */
    bool failed = lb_maria_wire_real_query(my, sql, strlen(sql)) != 0;
    while (!failed && next == 0) {
        MYSQL_RES *result = lb_maria_wire_store_result(my);
        if (result != NULL) {
            mysql_free_result(last);
            last = result;
        } else if (mysql_errno(my) != 0) {
            failed = true;
            break;
        }
        next = lb_maria_wire_next_result(my);
        failed = next > 0;
    }
    if (!failed && ret_result != NULL)
        *ret_result = last;
    else
        mysql_free_result(last);
    return failed ? 1 : 0;
}

int lb_maria_command(MYSQL *my, const char *sql, MYSQL_RES **ret_result, struct lb_error *err)
{
    if (lb_maria_query(my, sql, ret_result) == 0)
        return 0;
    return fail_mysql(my, "MariaDB", err);
}

/* One number; -1 if there is none. */
static int64_t command_int(MYSQL *my, const char *sql)
{
    MYSQL_RES *result = NULL;
    struct lb_error ignored;
    int64_t n = -1;
    if (lb_maria_command(my, sql, &result, &ignored) < 0 || result == NULL)
        return -1;
    MYSQL_ROW row = mysql_fetch_row(result);
    if (row != NULL && row[0] != NULL)
        n = strtoll(row[0], NULL, 10);
    mysql_free_result(result);
    return n;
}

/* --- spaces --------------------------------------------------------------------------------- */

/* Drops a database whose lock we hold. The sessions of a dead run may linger in the server and keep
 * its tables locked: after a first try they are ended. */
static int drop_database(MYSQL *my, const char *name, struct lb_error *err)
{
    char sql[300];
    int r = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql,
                 "SET SESSION lock_wait_timeout = %d; DROP DATABASE IF EXISTS `%s`",
                 i == 0 ? 2 : 10, name);
        r = lb_maria_command(my, sql, NULL, err);
        if (r == 0 || strtol(err->native, NULL, 10) != ER_LOCK_WAIT_TIMEOUT)
            break;
        MYSQL_RES *list = NULL;
        struct lb_error ignored;
        snprintf(sql, sizeof sql,
                 "SELECT id FROM information_schema.processlist WHERE db = '%s' "
                 "AND id <> CONNECTION_ID()",
                 name);
        if (lb_maria_command(my, sql, &list, &ignored) == 0 && list != NULL)
            for (MYSQL_ROW row; (row = mysql_fetch_row(list)) != NULL;) {
                snprintf(sql, sizeof sql, "KILL %lld", strtoll(row[0], NULL, 10));
                lb_maria_command(my, sql, NULL, &ignored);
            }
        mysql_free_result(list);
    }
    if (r < 0)
        lb_fail_prefix(err, "cannot drop the database %s", name);
    return r;
}

/* Does the entry of a database agree with its name and comment, and is its run dead? */
static bool is_entry_of_dead(MYSQL *my, const char *name, const char *run)
{
    char sql[300];
    MYSQL_RES *result = NULL;
    struct lb_error ignored;
    snprintf(sql, sizeof sql,
             "SELECT run, space, machine, pid, start, TIMESTAMPDIFF(SECOND, seen, UTC_TIMESTAMP()) "
             "FROM `%s`." LB_LIFE_TABLE,
             name);
    if (lb_maria_command(my, sql, &result, &ignored) < 0 || result == NULL)
        return false;
    bool is_dead = false;
    MYSQL_ROW row = mysql_num_rows(result) == 1 ? mysql_fetch_row(result) : NULL;
    bool is_whole = row != NULL;
    for (int i = 0; i < 6 && is_whole; i++)
        is_whole = row[i] != NULL;
    if (is_whole && strcmp(row[0], run) == 0 && strcmp(row[1], name) == 0) {
        struct lb_life_self process = {.pid = strtoll(row[3], NULL, 10),
                                       .start = strtoll(row[4], NULL, 10)};
        snprintf(process.machine, sizeof process.machine, "%s", row[2]);
        is_dead = lb_life_is_over(&process, strtoll(row[5], NULL, 10));
    }
    mysql_free_result(result);
    return is_dead;
}

/* Under its lock: true if a dead run left this database. A view in place of the table would run
 * foreign code. */
static bool is_left_over(MYSQL *my, const char *name)
{
    char sql[400], run[20] = "";
    MYSQL_RES *result = NULL;
    struct lb_error ignored;
    snprintf(sql, sizeof sql,
             "SELECT schema_comment FROM information_schema.schemata WHERE schema_name = '%s'",
             name);
    if (lb_maria_command(my, sql, &result, &ignored) < 0 || result == NULL)
        return false;
    MYSQL_ROW row = mysql_fetch_row(result);
    bool is_marked =
        row != NULL && row[0] != NULL && strncmp(row[0], MARK_LIVE, strlen(MARK_LIVE)) == 0;
    if (is_marked)
        snprintf(run, sizeof run, "%s", row[0] + strlen(MARK_LIVE));
    mysql_free_result(result);
    if (!is_marked)
        return false;
    snprintf(sql, sizeof sql,
             "SELECT COALESCE(SUM(IF(table_name = '" LB_LIFE_TABLE
             "' AND table_type = 'BASE TABLE', "
             "1, 2)), 0) FROM information_schema.tables WHERE table_schema = '%s' "
             "AND table_name = '" LB_LIFE_TABLE "'",
             name);
    if (command_int(my, sql) == 1)
        return is_entry_of_dead(my, name, run);
    snprintf(sql, sizeof sql,
             "SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '%s') + "
             "(SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '%s')",
             name, name);
    return command_int(my, sql) == 0;
}

/* Drops the databases of dead runs. Those that cannot be dropped now are left for another time. */
static int sweep(MYSQL *my, struct lb_error *err)
{
    MYSQL_RES *list = NULL;
    int r = lb_maria_command(
        my,
        "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE "
        "'lockbench\\_%' AND schema_comment LIKE '" MARK_LIVE "%'",
        &list, err);
    if (r < 0)
        return r;
    for (MYSQL_ROW row; list != NULL && (row = mysql_fetch_row(list)) != NULL;) {
        char sql[300];
        struct lb_error ignored;
        if (strspn(row[0], "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(row[0]))
            continue; /* we give no such names */
        snprintf(sql, sizeof sql, "SELECT GET_LOCK('%s', 0)", row[0]);
        if (command_int(my, sql) != 1)
            continue;
        if (is_left_over(my, row[0]))
            drop_database(my, row[0], &ignored);
        snprintf(sql, sizeof sql, "SELECT RELEASE_LOCK('%s')", row[0]);
        command_int(my, sql);
    }
    mysql_free_result(list);
    return 0;
}

static int fail_create(MYSQL *my, struct lb_error *err)
{
    MYSQL_RES *result = NULL;
    struct lb_error ignored;
    char user[200] = "...";
    if (strtol(err->native, NULL, 10) != ER_DBACCESS_DENIED_ERROR)
        return lb_fail_prefix(err, "cannot create a database");
    if (lb_maria_command(my,
                         "SELECT CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', "
                         "QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))",
                         &result, &ignored) == 0 &&
        result != NULL) {
        MYSQL_ROW row = mysql_fetch_row(result);
        if (row != NULL && row[0] != NULL)
            snprintf(user, sizeof user, "%s", row[0]);
        mysql_free_result(result);
    }
    lb_fail(err, LB_E_ENV,
            "this user may not create a database for the run; an administrator can allow it: "
            "GRANT ALL ON `lockbench\\_%%`.* TO %s",
            user);
    snprintf(err->native, sizeof err->native, "%d", ER_DBACCESS_DENIED_ERROR);
    return LB_E_ENV;
}

static int take_lock(struct lb_space *space, int wait_s, struct lb_error *err)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT GET_LOCK('%s', %d)", space->name, wait_s);
    if (command_int(space->my, sql) == 1)
        return 0;
    return lb_fail(err, LB_E_ENV, "MariaDB: cannot take the lock %s: %s", space->name,
                   mysql_errno(space->my) != 0 ? mysql_error(space->my) : "another session has it");
}

static int register_run(struct lb_space *space, struct lb_error *err)
{
    char sql[900];
    struct lb_life_self self;
    lb_life_self(&self);
    snprintf(sql, sizeof sql,
             "CREATE TABLE `%s`." LB_LIFE_TABLE " (run varchar(20), space varchar(64), "
             "machine varchar(100), pid bigint, start bigint, seen datetime) ENGINE = InnoDB "
             "COMMENT 'lockbench: whose run this database is'; "
             "INSERT INTO `%s`." LB_LIFE_TABLE " VALUES ('%s', '%s', '%s', %lld, %lld, "
             "UTC_TIMESTAMP())",
             space->name, space->name, space->run, space->name, self.machine, (long long)self.pid,
             (long long)self.start);
    return lb_maria_command(space->my, sql, NULL, err);
}

/* The lock first, so that no other run ever sees the database without it. */
static int create_database(struct lb_space *space, const char *hint, struct lb_error *err)
{
    char sql[300];
    lb_life_name(hint, space->run, space->name);
    int r = take_lock(space, 0, err);
    if (r < 0)
        return r;
    snprintf(sql, sizeof sql,
             "CREATE DATABASE `%s` CHARACTER SET utf8mb4 COMMENT '" MARK_LIVE "%s'", space->name,
             space->run);
    if (lb_maria_command(space->my, sql, NULL, err) < 0)
        return fail_create(space->my, err);
    r = register_run(space, err);
    if (r < 0) {
        struct lb_error ignored;
        drop_database(space->my, space->name, &ignored);
    }
    return r;
}

/* The session must not be ended for being idle: its lock is the run's sign of life. */
static int open_session(struct lb_space *space, const char *database, struct lb_error *err)
{
    const struct lb_maria_wish wish = {.database = database,
                                       .role = "space",
                                       .init = "SET SESSION wait_timeout = 31536000",
                                       .answer_s = ANSWER_S};
    space->my = lb_maria_connect(&space->uri, &wish, &space->node, err);
    return space->my != NULL ? 0 : err->code;
}

/* Of our name: 0 or 1; negative if the server does not say. */
static int64_t count_databases(struct lb_space *space)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '%s'",
             space->name);
    return command_int(space->my, sql);
}

/* Takes the lock again, with a new session. The server may not have seen yet that the old one is
 * gone. */
static int take_again(struct lb_space *space, bool *ret_gone, struct lb_error *err)
{
    mysql_close(space->my);
    int r = open_session(space, NULL, err);
    if (r < 0)
        return r;
    int64_t n = count_databases(space);
    *ret_gone = n == 0;
    if (n == 1)
        r = take_lock(space, LINGER_S, err);
    else if (n == 0)
        r = lb_fail(
            err, LB_E_ENV,
            "our marking session was ended: the database %s is gone: another user dropped it",
            space->name);
    else
        r = lb_fail(err, LB_E_ENV, "the server went away: %s", mysql_error(space->my));
    if (r < 0) {
        mysql_close(space->my); /* the next look begins anew */
        space->my = NULL;
    }
    return r;
}

static int renew(void *arg, bool stamp, bool *ret_gone, struct lb_error *err)
{
    struct lb_space *space = arg;
    char sql[200];
    if (space->my == NULL || lb_maria_wire_ping(space->my) != 0) {
        int r = take_again(space, ret_gone, err);
        if (r < 0)
            return r;
        stamp = true;
    }
    if (!stamp)
        return 0;
    snprintf(sql, sizeof sql, "UPDATE `%s`." LB_LIFE_TABLE " SET seen = UTC_TIMESTAMP()",
             space->name);
    int r = lb_maria_command(space->my, sql, NULL, err);
    if (r < 0 && count_databases(space) == 0) {
        *ret_gone = true;
        lb_fail(err, LB_E_ENV, "the database %s is gone: another user dropped it", space->name);
    }
    return r;
}

static bool is_lost(const struct lb_space *space)
{
    return space->my == NULL || lb_maria_wire_ping(space->my) != 0;
}

static const char *wanted_database(const struct lb_space *space)
{
    return space->uri.database[0] != '\0' ? space->uri.database : NULL;
}

/* Objects made by a lost session are ours alone: their name is not known elsewhere. */
static int begin_again(struct lb_space *space, struct lb_error *err)
{
    struct lb_error ignored;
    mysql_close(space->my);
    int r = open_session(space, wanted_database(space), err);
    if (r == 0 && space->name[0] != '\0')
        drop_database(space->my, space->name, &ignored);
    return r;
}

static int make_database(struct lb_space *space, const char *hint, struct lb_error *err)
{
    int r = 0;
    for (int i = 0; r == 0 && i < SESSIONS; i++) {
        r = sweep(space->my, err);
        if (r == 0)
            r = create_database(space, hint, err);
        if (r == 0 || !is_lost(space) || i + 1 == SESSIONS)
            break;
        r = begin_again(space, err);
    }
    return r;
}

static int new_space(const struct lb_target *target, struct lb_space **ret_space,
                     struct lb_error *err)
{
    if (mysql_library_init(0, NULL, NULL) != 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    struct lb_space *space = lb_calloc(1, sizeof *space);
    int r = lb_mariadb_uri_parse(target->uri, &space->uri, err);
    if (r == 0)
        *ret_space = space;
    else
        free(space);
    return r;
}

int lb_maria_space_open(const struct lb_target *target, const char *hint,
                        struct lb_space **ret_space, struct lb_error *err)
{
    struct lb_space *space = NULL;
    int r = new_space(target, &space, err);
    if (r < 0)
        return r;
    r = open_session(space, wanted_database(space), err);
    if (r == 0 && mysql_get_server_version(space->my) < 100600)
        r = lb_fail(err, LB_E_ENV, "the server is %s; MariaDB 10.6 is the oldest that works",
                    mysql_get_server_info(space->my));
    if (r == 0)
        r = make_database(space, hint, err);
    if (r == 0) {
        space->number = (int32_t)mysql_thread_id(space->my);
        r = lb_life_begin(&space->life, renew, space, err);
    }
    if (r < 0) {
        mysql_close(space->my);
        free(space);
        return r;
    }
    *ret_space = space;
    return 0;
}

int lb_maria_space_join(const struct lb_target *target, const char *name, int32_t number,
                        struct lb_space **ret_space, struct lb_error *err)
{
    struct lb_space *space = NULL;
    int r = new_space(target, &space, err);
    if (r < 0)
        return r;
    space->is_joined = true;
    space->number = number;
    snprintf(space->name, sizeof space->name, "%s", name);
    *ret_space = space;
    return 0;
}

static int keep_database(struct lb_space *space, struct lb_error *err)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "DROP TABLE IF EXISTS `%s`." LB_LIFE_TABLE "; ALTER DATABASE `%s` COMMENT '" MARK_KEPT
             "'",
             space->name, space->name);
    int r = lb_maria_command(space->my, sql, NULL, err);
    return r < 0 ? lb_fail_prefix(err, "cannot mark the database %s as kept", space->name) : r;
}

int lb_maria_space_close(struct lb_space *space, bool keep, struct lb_error *err)
{
    bool gone = false;
    if (space == NULL)
        return 0;
    if (space->is_joined) {
        free(space);
        return 0;
    }
    lb_life_end(&space->life);
    int r = 0;
    for (int i = 0; i < SESSIONS; i++) {
        r = renew(space, false, &gone, err);
        if (r < 0 && gone && i > 0) {
            r = 0; /* it was dropped, though the answer was lost */
            break;
        }
        /* A drop that was cut short may have left the database without our table. */
        if (r < 0 && (gone || is_lost(space)))
            break;
        r = keep ? keep_database(space, err) : drop_database(space->my, space->name, err);
        if (r == 0 || !is_lost(space) || lb_leash_has_cut())
            break;
    }
    if (r < 0 && !gone && is_lost(space))
        lb_fail_prefix(err, "the server went away, and the database %s is left for the next run",
                       space->name);
    mysql_close(space->my);
    free(space);
    return r;
}

int lb_maria_space_check(struct lb_space *space, struct lb_error *err)
{
    return space->is_joined ? 0 : lb_life_check(&space->life, err);
}

int lb_maria_space_look(struct lb_space *space, struct lb_error *err)
{
    return space->is_joined ? 0 : lb_life_look_again(&space->life, err);
}

const char *lb_maria_space_name(const struct lb_space *space)
{
    return space->name;
}

/* The space is a database of its own. Of several nodes, the first. */
int lb_maria_door(struct lb_space *space, struct lb_door *ret_door, struct lb_error *err)
{
    const struct lb_mariadb_uri *uri = &space->uri;
    const struct lb_mariadb_node *node = &uri->nodes[0];
    (void)err;
    *ret_door = (struct lb_door){0};
    snprintf(ret_door->user, sizeof ret_door->user, "%s", uri->user);
    snprintf(ret_door->password, sizeof ret_door->password, "%s", uri->password);
    snprintf(ret_door->host, sizeof ret_door->host, "%s",
             node->host[0] != '\0' ? node->host : "localhost");
    snprintf(ret_door->socket, sizeof ret_door->socket, "%s", node->socket);
    snprintf(ret_door->port, sizeof ret_door->port, "%u", node->port != 0 ? node->port : 3306);
    snprintf(ret_door->database, sizeof ret_door->database, "%s", space->name);
    char *text = ret_door->uri;
    const size_t size = sizeof ret_door->uri;
    snprintf(text, size, "mysql://");
    lb_uri_add(text, size, ret_door->user);
    if (ret_door->password[0] != '\0')
        strcat(text, ":");
    lb_uri_add(text, size, ret_door->password);
    snprintf(text + strlen(text), size - strlen(text), "@%s:%s/%s", ret_door->host, ret_door->port,
             ret_door->database);
    if (ret_door->socket[0] != '\0')
        strcat(text, "?socket=");
    lb_uri_add(text, size, ret_door->socket);
    return 0;
}

int32_t lb_maria_space_number(const struct lb_space *space)
{
    return space->number;
}

size_t lb_maria_space_room(struct lb_space *space, size_t *ret_limit)
{
    lb_life_hold(&space->life);
    int64_t limit = command_int(space->my, "SELECT @@max_connections");
    int64_t used =
        command_int(space->my, "SELECT variable_value FROM information_schema."
                               "global_status WHERE variable_name = 'Threads_connected'");
    lb_life_let(&space->life);
    if (limit < 0 || used < 0)
        return SIZE_MAX;
    *ret_limit = (size_t)limit;
    return limit > used ? (size_t)(limit - used) : 0;
}
