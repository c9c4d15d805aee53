/* Waiting for MariaDB: see mariadb_wire.h. */
#include "mariadb_wire.h"

#include "carrier.h"
#include "leash.h"

#include <stddef.h>
#include <stdint.h>

/* Is the call to be made in parts? The connection gets what libmariadb needs for that. */
static bool is_carried(MYSQL *my)
{
    my_bool is_ready = 0;
    if (my == NULL || !lb_carrier_is_here())
        return false;
    if (mysql_get_optionv(my, MYSQL_OPT_NONBLOCK, &is_ready) == 0 && is_ready != 0)
        return true;
    return mysql_options(my, MYSQL_OPT_NONBLOCK, NULL) == 0;
}

/* Waits for the event that the call wants, without a time-out, as none was requested. If the socket
 * cannot be watched, the call will notice. */
static int await(MYSQL *my, int wanted)
{
    lb_carrier_wait_once(mysql_get_socket(my), (wanted & MYSQL_WAIT_WRITE) != 0, UINT64_MAX);
    return wanted & ~MYSQL_WAIT_TIMEOUT;
}

/* Of a connection that was lost there is none. */
static int socket_of(MYSQL *my)
{
    return my != NULL ? mysql_get_socket(my) : -1;
}

/* handle: MYSQL * or MYSQL_STMT *; args with the handle, all_args with the result's place, too. */
#define CALL(type, function, my, handle, args, all_args)                                           \
    do {                                                                                           \
        type ret;                                                                                  \
        struct lb_leash_wait wait;                                                                 \
        lb_leash_begin(&wait, socket_of(my), NULL, NULL);                                          \
        if (!is_carried(my))                                                                       \
            ret = function args;                                                                   \
        else                                                                                       \
            for (int wanted = function##_start all_args; wanted != 0;)                             \
                wanted = function##_cont(&ret, handle, await(my, wanted));                         \
        lb_leash_end(&wait);                                                                       \
        return ret;                                                                                \
    } while (0)

int lb_maria_wire_real_query(MYSQL *my, const char *sql, unsigned long length)
{
    CALL(int, mysql_real_query, my, my, (my, sql, length), (&ret, my, sql, length));
}

MYSQL_RES *lb_maria_wire_store_result(MYSQL *my)
{
    CALL(MYSQL_RES *, mysql_store_result, my, my, (my), (&ret, my));
}

int lb_maria_wire_next_result(MYSQL *my)
{
    CALL(int, mysql_next_result, my, my, (my), (&ret, my));
}

int lb_maria_wire_stmt_prepare(MYSQL_STMT *stmt, const char *sql, unsigned long length)
{
    CALL(int, mysql_stmt_prepare, stmt->mysql, stmt, (stmt, sql, length),
         (&ret, stmt, sql, length));
}

int lb_maria_wire_stmt_execute(MYSQL_STMT *stmt)
{
    CALL(int, mysql_stmt_execute, stmt->mysql, stmt, (stmt), (&ret, stmt));
}

int lb_maria_wire_stmt_fetch(MYSQL_STMT *stmt)
{
    CALL(int, mysql_stmt_fetch, stmt->mysql, stmt, (stmt), (&ret, stmt));
}

int lb_maria_wire_stmt_next_result(MYSQL_STMT *stmt)
{
    CALL(int, mysql_stmt_next_result, stmt->mysql, stmt, (stmt), (&ret, stmt));
}

my_bool lb_maria_wire_stmt_free_result(MYSQL_STMT *stmt)
{
    CALL(my_bool, mysql_stmt_free_result, stmt->mysql, stmt, (stmt), (&ret, stmt));
}

int lb_maria_wire_ping(MYSQL *my)
{
    CALL(int, mysql_ping, my, my, (my), (&ret, my));
}

int lb_maria_wire_select_db(MYSQL *my, const char *database)
{
    CALL(int, mysql_select_db, my, my, (my, database), (&ret, my, database));
}
