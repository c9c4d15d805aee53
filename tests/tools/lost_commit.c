/* Does Galera lose commits that it acknowledged? Two sessions, each on a node of its own, add 1 to
 * the same row in transactions: the row's final value must be the number of COMMITs answered with
 * success. Between UPDATE and COMMIT stands nothing, a SELECT, or the preparation of a statement by
 * the binary protocol, which swallows the error of a transaction that the other node's write has
 * just aborted. See docs/galera-lost-commit.md.
 */
#include <mysql.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 4 }; /* repetitions: the longer, the likelier */

enum between { NOTHING, SELECT, PREPARE, BETWEENS };

static const char *const names[] = {"nothing", "SELECT", "PREPARE"};

struct adder {
    const char *socket;
    enum between between;
    long n, acknowledged, refused;
};

static MYSQL *connect_to(const char *socket)
{
    MYSQL *my = mysql_init(NULL);
    if (my == NULL ||
        mysql_real_connect(my, NULL, "lockbench", NULL, "lockbench", 0, socket, 0) == NULL) {
        fprintf(stderr, "lost_commit: %s\n", my != NULL ? mysql_error(my) : "out of memory");
        exit(3);
    }
    return my;
}

/* true: done. */
static bool query(MYSQL *my, const char *sql)
{
    if (mysql_query(my, sql) != 0)
        return false;
    mysql_free_result(mysql_store_result(my));
    return mysql_errno(my) == 0;
}

static bool prepare(MYSQL *my, MYSQL_STMT **ret_stmt)
{
    static const char sql[] = "SELECT v FROM lost_commit";
    *ret_stmt = mysql_stmt_init(my);
    return *ret_stmt != NULL && mysql_stmt_prepare(*ret_stmt, sql, sizeof sql - 1) == 0;
}

static void *add(void *arg)
{
    struct adder *adder = arg;
    mysql_thread_init();
    MYSQL *my = connect_to(adder->socket);
    for (long i = 0; i < adder->n; i++) {
        MYSQL_STMT *stmts[TIMES] = {NULL};
        bool ok = query(my, "START TRANSACTION") && query(my, "UPDATE lost_commit SET v = v + 1");
        for (int k = 0; ok && k < TIMES && adder->between != NOTHING; k++)
            ok = adder->between == SELECT ? query(my, "SELECT v FROM lost_commit")
                                          : prepare(my, &stmts[k]);
        ok = ok && query(my, "COMMIT");
        *(ok ? &adder->acknowledged : &adder->refused) += 1;
        if (!ok)
            query(my, "ROLLBACK");
        for (int k = 0; k < TIMES && stmts[k] != NULL; k++)
            mysql_stmt_close(stmts[k]); /* outside of the transaction */
    }
    mysql_close(my);
    mysql_thread_end();
    return NULL;
}

static long value(MYSQL *my)
{
    MYSQL_ROW row = NULL;
    long v = -1;
    MYSQL_RES *result =
        mysql_query(my, "SELECT v FROM lost_commit") == 0 ? mysql_store_result(my) : NULL;
    if (result != NULL && (row = mysql_fetch_row(result)) != NULL)
        v = strtol(row[0], NULL, 10);
    mysql_free_result(result);
    return v;
}

int main(int argc, char **argv)
{
    const long n = argc > 3 ? strtol(argv[3], NULL, 10) : 500;
    if (argc < 3 || n < 1) {
        fputs("usage: lost_commit SOCKET1 SOCKET2 [TRANSACTIONS]\n", stderr);
        return 2;
    }
    MYSQL *my = connect_to(argv[1]), *other = connect_to(argv[2]);
    printf("between\tacknowledged\trefused\tin the row\tlost\n");
    for (int between = NOTHING; between < BETWEENS; between++) {
        struct adder adders[2] = {{.socket = argv[1], .between = (enum between)between, .n = n},
                                  {.socket = argv[2], .between = (enum between)between, .n = n}};
        pthread_t threads[2];
        if (!query(my, "CREATE OR REPLACE TABLE lost_commit (id int PRIMARY KEY, v int)") ||
            !query(my, "INSERT INTO lost_commit VALUES (1, 0)") ||
            !query(my, "SET SESSION wsrep_sync_wait = 15") || value(my) != 0 ||
            !query(other, "SET SESSION wsrep_sync_wait = 15") || value(other) != 0)
            return 3;
        for (int i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, add, &adders[i]) != 0)
                return 3;
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        long acknowledged = adders[0].acknowledged + adders[1].acknowledged, in_row = value(my);
        printf("%s\t%ld\t%ld\t%ld\t%ld\n", names[between], acknowledged,
               adders[0].refused + adders[1].refused, in_row, acknowledged - in_row);
    }
    bool dropped = query(my, "DROP TABLE lost_commit");
    mysql_close(my);
    mysql_close(other);
    return dropped ? 0 : 3;
}
