/* The calls of libmariadb that wait for the server, in a thread of one's own or in a fiber of a
 * carrier: each as the function of the same name. In a fiber libmariadb's own non-blocking form is
 * used, and the socket is waited for through the carrier. Each wait is on the leash (leash.h).
 *
 * Source: https://mariadb.com/kb/en/using-the-non-blocking-library/.
 */
#ifndef LB_MARIADB_WIRE_H
#define LB_MARIADB_WIRE_H

#include <mysql.h>

int lb_maria_wire_real_query(MYSQL *my, const char *sql, unsigned long length);
MYSQL_RES *lb_maria_wire_store_result(MYSQL *my);
int lb_maria_wire_next_result(MYSQL *my);
int lb_maria_wire_ping(MYSQL *my);
int lb_maria_wire_select_db(MYSQL *my, const char *database);

int lb_maria_wire_stmt_prepare(MYSQL_STMT *stmt, const char *sql, unsigned long length);
int lb_maria_wire_stmt_execute(MYSQL_STMT *stmt);
int lb_maria_wire_stmt_fetch(MYSQL_STMT *stmt);
int lb_maria_wire_stmt_next_result(MYSQL_STMT *stmt);
my_bool lb_maria_wire_stmt_free_result(MYSQL_STMT *stmt);

#endif
