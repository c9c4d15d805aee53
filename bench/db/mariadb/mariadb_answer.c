/* What MariaDB's errors mean: see mariadb_conn.h.
 *
 * Source: https://mariadb.com/kb/en/mariadb-error-codes/.
 */
#include "mariadb_conn.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <string.h>

/* The answer for an error number, or a negative error. */
static int answer_of(unsigned code, bool is_nowait)
{
    switch (code) {
    case ER_LOCK_WAIT_TIMEOUT:
        return is_nowait ? LB_BUSY : LB_TIMEOUT;
    case 3572: /* MySQL's own code for NOWAIT */
        return LB_BUSY;
    case ER_QUERY_INTERRUPTED:
    case ER_STATEMENT_TIMEOUT:
        return LB_TIMEOUT;
    case ER_CHECKREAD:         /* the row has changed since the snapshot was taken */
    case ER_TABLE_DEF_CHANGED: /* the table has */
        return LB_CONFLICT;
    case ER_LOCK_DEADLOCK:
        return LB_DEADLOCK;
    case ER_DUP_ENTRY:
    case ER_DUP_ENTRY_WITH_KEY_NAME:
    case ER_DUP_KEY:
        return LB_DUPLICATE;
    case CR_SERVER_GONE_ERROR:
    case CR_SERVER_LOST:
    case CR_SERVER_LOST_EXTENDED:
    case CR_CONNECTION_ERROR:
    case ER_CONNECTION_KILLED:
    case ER_SERVER_SHUTDOWN:
    case ER_UNKNOWN_COM_ERROR:   /* Galera: this member has left the quorum */
    case ER_ERROR_DURING_COMMIT: /* ... while it committed: the outcome is unknown */
        return LB_LOST;
    case ER_BAD_NULL_ERROR:
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2:
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2:
    case ER_CONSTRAINT_FAILED:
    case ER_SIGNAL_EXCEPTION:
        return LB_OTHER;
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_OPTION_PREVENTS_STATEMENT: /* read_only */
    case ER_CANT_CREATE_DB:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
    case ER_GET_ERRNO:
        return LB_E_ENV;
    case CR_OUT_OF_MEMORY:
        return LB_E_MEMORY;
    default:
        return LB_E_SQL;
    }
}

int lb_maria_answer(struct lb_conn *conn, unsigned code, const char *message, bool is_nowait,
                    struct lb_error *err)
{
    snprintf(conn->head.native, sizeof conn->head.native, "%u", code);
    snprintf(conn->head.message, sizeof conn->head.message, "%s", message);
    int r = answer_of(code, is_nowait);
    if (r == LB_LOST)
        conn->head.lost = true;
    if (r < 0) {
        lb_fail(err, r, "%s", conn->head.message);
        memcpy(err->native, conn->head.native, sizeof err->native);
    }
    return r;
}

int lb_maria_outcome(struct lb_conn *conn, bool is_nowait, struct lb_error *err)
{
    return lb_maria_answer(conn, mysql_errno(conn->my), mysql_error(conn->my), is_nowait, err);
}
