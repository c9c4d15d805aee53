/* What a program sees of a server through libpq: parameters and results in binary, prepared
 * statements, errors, pipelines with several requests and with a Flush, single rows, COPY,
 * notifications, cancel. One line each. Which server is in the environment. */
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *what, PGresult *result)
{
    printf("%s: %s", what, PQresStatus(PQresultStatus(result)));
    if (PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL)
        printf(" %s", PQresultErrorField(result, PG_DIAG_SQLSTATE));
    for (int row = 0; row < PQntuples(result) && row < 3; row++)
        for (int column = 0; column < PQnfields(result); column++)
            if (PQfformat(result, column) == 1)
                printf(" [%d bytes, first %d]", PQgetlength(result, row, column),
                       PQgetvalue(result, row, column)[0]);
            else
                printf(" %.40s", PQgetvalue(result, row, column));
    printf(" rows=%d tag=%s\n", PQntuples(result), PQcmdStatus(result));
    PQclear(result);
}

static void all(PGconn *pg, const char *what)
{
    for (int none = 0; none < 2;) {
        PGresult *result = PQgetResult(pg);
        none = result == NULL ? none + 1 : 0;
        if (result != NULL && PQresultStatus(result) == PGRES_PIPELINE_SYNC)
            none = 2;
        if (result != NULL)
            show(what, result);
    }
}

static void pipelines(PGconn *pg)
{
    const char *const ok[] = {"41"}, *const bad[] = {"0"};
    PQenterPipelineMode(pg);
    PQsendQueryParams(pg, "SELECT 1 + $1::int", 1, NULL, ok, NULL, NULL, 0);
    PQsendQueryParams(pg, "INSERT INTO d VALUES ($1::int, 'pipeline')", 1, NULL, ok, NULL, NULL, 0);
    PQpipelineSync(pg);
    PQsendQueryParams(pg, "SELECT 1 / $1::int", 1, NULL, bad, NULL, NULL, 0);
    PQsendQueryParams(pg, "SELECT 'never'", 0, NULL, NULL, NULL, NULL, 0);
    PQpipelineSync(pg);
    PQsendQueryParams(pg, "SELECT 'flushed' || $1::int", 1, NULL, ok, NULL, NULL, 0);
    PQsendFlushRequest(pg);
    PQflush(pg);
    all(pg, "pipeline 1");
    all(pg, "pipeline 2");
    show("flush", PQgetResult(pg));
    PQclear(PQgetResult(pg));
    PQpipelineSync(pg);
    all(pg, "pipeline 3");
    printf("left: %d\n", PQexitPipelineMode(pg));
}

static void copies(PGconn *pg)
{
    static char line[20000];
    long total = 0;
    int n;
    char *bytes;
    memset(line, 'y', sizeof line);
    PQclear(PQexec(pg, "COPY d FROM STDIN"));
    for (int i = 0; i < 100; i++) {
        int length = snprintf(line, sizeof line, "%d\t", 1000 + i);
        line[length] = 'y';
        line[sizeof line - 1] = '\n';
        PQputCopyData(pg, line, sizeof line);
    }
    PQputCopyEnd(pg, NULL);
    show("copy in", PQgetResult(pg));
    PQclear(PQgetResult(pg));
    PQclear(PQexecParams(pg, "COPY d FROM STDIN", 0, NULL, NULL, NULL, NULL, 0));
    PQputCopyData(pg, "7\textended\n", 11);
    PQputCopyEnd(pg, NULL);
    show("copy in, extended", PQgetResult(pg));
    PQclear(PQgetResult(pg));
    PQclear(PQexec(pg, "COPY d FROM STDIN"));
    PQputCopyData(pg, "x\tno number\n", 12);
    PQputCopyEnd(pg, NULL);
    show("copy in, an error", PQgetResult(pg));
    PQclear(PQgetResult(pg));
    PQclear(PQexec(pg, "COPY d TO STDOUT"));
    while ((n = PQgetCopyData(pg, &bytes, 0)) > 0) {
        total += n;
        PQfreemem(bytes);
    }
    printf("copy out: %ld bytes\n", total);
    show("behind it", PQgetResult(pg));
    PQclear(PQgetResult(pg));
}

static void notifications(PGconn *pg)
{
    PGnotify *notify = NULL;
    PGconn *other = PQconnectdb("");
    PQclear(PQexec(pg, "LISTEN door"));
    PQclear(PQexec(other, "NOTIFY door, 'open'"));
    while ((notify = PQnotifies(pg)) == NULL) {
        struct pollfd fd = {.fd = PQsocket(pg), .events = POLLIN};
        poll(&fd, 1, -1);
        PQconsumeInput(pg);
    }
    printf("notified: %s %s\n", notify->relname, notify->extra);
    PQfreemem(notify);
    PQfinish(other);
}

int main(void)
{
    PGconn *pg = PQconnectdb("");
    PGconn *other = PQconnectdb("");
    char error[256];
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (PQstatus(pg) != CONNECTION_OK)
        printf("%s", PQerrorMessage(pg));
    show("table", PQexec(pg, "DROP TABLE IF EXISTS d; CREATE TABLE d (id int, what text)"));
    uint32_t number = htonl(7);
    const char *const values[] = {(const char *)&number, "it's"};
    const int lengths[] = {4, 4}, formats[] = {1, 0};
    const Oid types[] = {23, 25};
    show("binary", PQexecParams(pg, "INSERT INTO d VALUES ($1, $2) RETURNING id, what", 2, types,
                                values, lengths, formats, 1));
    show("prepare", PQprepare(pg, "one", "SELECT id FROM d WHERE id = $1", 1, types));
    for (int i = 0; i < 3; i++)
        show("prepared", PQexecPrepared(pg, "one", 1, values, lengths, formats, 0));
    show("describe", PQdescribePrepared(pg, "one"));
    show("error", PQexec(pg, "SELECT 1 / 0"));
    show("syntax", PQexec(pg, "SELEC"));
    show("empty", PQexec(pg, ""));
    show("several",
         PQexec(pg, "BEGIN; INSERT INTO d VALUES (8, 'x'); SAVEPOINT s; SELECT count(*) FROM d"));
    printf("status %d\n", (int)PQtransactionStatus(pg));
    show("rollback", PQexec(pg, "ROLLBACK"));
    PQsendQuery(pg, "SELECT generate_series(1, 5)");
    PQsetSingleRowMode(pg);
    for (PGresult *r; (r = PQgetResult(pg)) != NULL;)
        show("single row", r);
    pipelines(pg);
    copies(pg);
    notifications(pg);
    PQsendQuery(pg, "SELECT pg_sleep(600)");
    for (int waits = 0; !waits;) { /* until the server has begun it */
        char sql[120];
        snprintf(sql, sizeof sql,
                 "SELECT 1 FROM pg_stat_activity WHERE pid = %d AND wait_event = 'PgSleep'",
                 PQbackendPID(pg));
        PGresult *result = PQexec(other, sql);
        waits = PQntuples(result);
        PQclear(result);
    }
    PGcancel *cancel = PQgetCancel(pg);
    printf("cancel %d\n", PQcancel(cancel, error, sizeof error));
    PQfreeCancel(cancel);
    all(pg, "cancelled");
    size_t size = 3000000;
    char *big = malloc(size + 100);
    sprintf(big, "SELECT length('");
    memset(big + 15, 'z', size);
    strcpy(big + 15 + size, "')");
    show("a long statement", PQexec(pg, big));
    big[15 + size] = '\0';
    const char *const long_value[] = {big + 15};
    show("a long parameter",
         PQexecParams(pg, "SELECT length($1::text)", 1, NULL, long_value, NULL, NULL, 0));
    show("a long row", PQexec(pg, "SELECT repeat('w', 2000000)"));
    free(big);
    PQfinish(other);
    PQfinish(pg);
    return 0;
}
