/* How a matrix names its columns, and its time. See matrix_title.h. */
#include "matrix_title.h"

#include <string.h>
#include <time.h>

/* What the fact "topology" means to readers. */
static const char *topology_words(const char *topology)
{
    static const char *const words[][2] = {{"async", ", asynchronous standby"},
                                           {"sync", ", synchronous standby"},
                                           {"galera", ", Galera"},
                                           {"galera-one", ", Galera, one node used"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], topology) == 0)
            return words[i][1];
    return "";
}

/* By the user: -d old=URI. */
static bool is_named(const struct lb_matrix_column *column)
{
    size_t n = strlen(column->db->name);
    return strncmp(column->engine, column->db->name, n) != 0 ||
           (column->engine[n] != '\0' && column->engine[n] != ':');
}

char *lb_matrix_engine_title(const struct lb_matrix_column *column, char *buf, size_t size)
{
    if (column->db == NULL)
        snprintf(buf, size, "no database");
    else
        snprintf(buf, size, "%s%s%s%s%s%s%s%s", column->db->product,
                 column->version[0] != '\0' ? " " : "", column->version,
                 topology_words(column->topology), column->is_pooled ? " through a pooler" : "",
                 is_named(column) ? " (" : "", is_named(column) ? column->engine : "",
                 is_named(column) ? ")" : "");
    return buf;
}

bool lb_matrix_is_default(const struct lb_matrix_column *column)
{
    return column->db != NULL && column->level == column->db->default_isolation;
}

char *lb_matrix_level_title(const struct lb_matrix_column *column, char *buf, size_t size)
{
    bool has_level = column->level != LB_ISO_DEFAULT, has_fault = column->fault[0] != '\0';
    snprintf(buf, size, "%s%s%s%s", has_level ? lb_isolation_name(column->level) : "",
             lb_matrix_is_default(column) ? " (default)" : "", has_level && has_fault ? ", " : "",
             column->fault);
    return buf;
}

char *lb_matrix_utc(const struct lb_report *report, char *buf, size_t size)
{
    struct tm tm;
    time_t seconds = (time_t)(report->start_unix_ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return buf;
}
