/* Multiplying the rows of a few items: see aged_rows.h. */
#include "aged_rows.h"

#include "array.h"
#include "clock.h"
#include "exploring.h"
#include "memory.h"
#include "ordinary.h"

#include <stdlib.h>
#include <string.h>

/* --- statements --- */

static int must_be_ok(const struct lb_aged *aged, int answer, const char *what,
                      struct lb_error *err)
{
    if (answer == LB_OK)
        return 0;
    return answer < 0 ? lb_fail_prefix(err, "%s", what)
                      : lb_fail(err, LB_E_UNSUPPORTED, "%s: %s: %s", what, lb_answer_name(answer),
                                lb_conn_head(aged->conn)->message);
}

int lb_aged_run(struct lb_aged *aged, const char *sql, struct lb_error *err)
{
    return must_be_ok(aged, aged->db->run(aged->conn, sql, err), "the tables cannot be aged", err);
}

static int query(struct lb_aged *aged, const char *sql, struct lb_rows *ret_rows,
                 struct lb_error *err)
{
    struct lb_stmt *stmt;
    int r = aged->db->prepare(aged->conn, sql, 0, NULL, &stmt, err);
    if (r == LB_OK)
        r = aged->db->execute(aged->conn, stmt, NULL, ret_rows, err);
    return must_be_ok(aged, r, "the tables cannot be read", err);
}

/* Runs a statement for each table, with its name at %s. */
static int run_for_all(struct lb_aged *aged, const char *format, struct lb_error *err)
{
    char sql[1000];
    int r = 0;
    for (size_t i = 0; i < aged->n_tables && r == 0 && format != NULL; i++) {
        lb_aged_expression(sql, sizeof sql, format, "", aged->tables[i].name);
        r = lb_aged_run(aged, sql, err);
    }
    return r;
}

int lb_aged_freeze(struct lb_aged *aged, struct lb_error *err)
{
    return run_for_all(aged, aged->aging->freeze, err);
}

int lb_aged_analyse(struct lb_aged *aged, struct lb_error *err)
{
    return run_for_all(aged, aged->aging->analyse, err);
}

/* --- the tables --- */

/* NULL: no text, or one that cannot be quoted. */
static char *text_of(const struct lb_value *value, char quote)
{
    if (value->type != LB_TEXT || memchr(value->text, quote, value->length) != NULL ||
        value->length > 200)
        return NULL;
    return quote == '\0' ? lb_format("%.*s", (int)value->length, value->text)
                         : lb_format("%c%.*s%c", quote, (int)value->length, value->text, quote);
}

static int64_t number_at(const struct lb_aged *aged, size_t row, size_t column)
{
    struct lb_value value = aged->db->value(aged->conn, row, column);
    int64_t number = 0;
    lb_value_int(&value, &number);
    return number;
}

/* The last table, if it has this name, or a new one; NULL: its name cannot be quoted. */
static struct lb_aged_table *table_at(struct lb_aged *aged, size_t row)
{
    struct lb_value value = aged->db->value(aged->conn, row, 0);
    if (aged->n_tables > 0) {
        struct lb_aged_table *last = &aged->tables[aged->n_tables - 1];
        if (value.type == LB_TEXT && strlen(last->name) == value.length &&
            memcmp(last->name, value.text, value.length) == 0)
            return last;
    }
    const char quote = lb_exploring(aged->db)->quote;
    char *quoted = text_of(&value, quote);
    if (quoted == NULL)
        return NULL;
    struct lb_aged_table *table = lb_array_add(&aged->tables, &aged->n_tables, sizeof *table);
    table->name = lb_strndup(quoted + 1, strlen(quoted) - 2);
    table->quoted = quoted;
    table->copy = lb_format("%clb_copy_%s%c", quote, table->name, quote);
    table->sample = lb_format("%clb_sample_%s%c", quote, table->name, quote);
    return table;
}

static int read_tables(struct lb_aged *aged, struct lb_error *err)
{
    struct lb_rows rows = {0};
    int r = query(aged, aged->aging->columns, &rows, err);
    for (size_t i = 0; i < rows.n_rows && r == 0; i++) {
        struct lb_aged_table *table = table_at(aged, i);
        struct lb_value value = aged->db->value(aged->conn, i, 1);
        char *name = text_of(&value, lb_exploring(aged->db)->quote);
        if (table == NULL || name == NULL) {
            free(name);
            return lb_fail(err, LB_E_UNSUPPORTED,
                           "a table or a column has a name that cannot be quoted");
        }
        struct lb_aged_column *column =
            lb_array_add(&table->columns, &table->n_columns, sizeof *column);
        *column = (struct lb_aged_column){.name = name,
                                          .kind = (enum lb_aged_kind)number_at(aged, i, 2),
                                          .is_key = number_at(aged, i, 3) != 0,
                                          .primary = (int)number_at(aged, i, 4)};
    }
    return r;
}

int lb_aged_open(struct lb_aged *aged, const struct lb_db *db, struct lb_space *space,
                 struct lb_error *err)
{
    struct lb_conn_options options = {.role = "aging"};
    char sql[1000];
    *aged = (struct lb_aged){.db = db, .aging = db->aging};
    if (db->aging == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "tables of %s cannot be aged", db->product);
    int r = db->open(space, &options, &aged->conn, err);
    if (r == 0 && lb_exploring(db)->prepare_session != NULL)
        r = lb_aged_run(aged, lb_exploring(db)->prepare_session, err);
    if (r == 0)
        r = read_tables(aged, err);
    for (size_t i = 0; i < aged->n_tables && r == 0; i++) {
        snprintf(sql, sizeof sql, "CREATE TEMPORARY TABLE %s AS SELECT * FROM %s",
                 aged->tables[i].copy, aged->tables[i].quoted);
        r = lb_aged_run(aged, sql, err);
    }
    return r;
}

void lb_aged_release(struct lb_aged *aged)
{
    for (size_t i = 0; i < aged->n_tables; i++) {
        for (size_t c = 0; c < aged->tables[i].n_columns; c++)
            free(aged->tables[i].columns[c].name);
        free(aged->tables[i].columns);
        free(aged->tables[i].name);
        free(aged->tables[i].quoted);
        free(aged->tables[i].copy);
        free(aged->tables[i].sample);
    }
    free(aged->tables);
    if (aged->db != NULL)
        aged->db->close(aged->conn);
    *aged = (struct lb_aged){0};
}

/* --- the samples --- */

static uint64_t hash(const void *bytes, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return h;
}

/* A text of digits differs from a number: their columns have different types. */
static uint64_t hash_value(const struct lb_value *value)
{
    return value->type == LB_TEXT ? hash(value->text, value->length)
                                  : hash(&value->integer, sizeof value->integer);
}

/* Reads the values of a column, number at, of the last result. */
static void look_at(const struct lb_aged *aged, struct lb_aged_column *column, size_t at,
                    size_t n_rows)
{
    const bool is_typed = !aged->aging->is_untyped;
    column->n_distinct = 0;
    column->sum = 0;
    column->epoch = 0;
    column->least = INT64_MAX;
    column->most = INT64_MIN;
    bool is_int = true;
    for (size_t row = 0; row < n_rows; row++) {
        struct lb_value value = aged->db->value(aged->conn, row, at);
        uint64_t h = hash_value(&value);
        bool is_seen = false;
        for (size_t before = 0; before < row && !is_seen; before++) {
            struct lb_value other = aged->db->value(aged->conn, before, at);
            is_seen = hash_value(&other) == h;
        }
        if (!is_seen && value.type != LB_NULL) {
            column->n_distinct++;
            column->sum += h;
        }
        int64_t number;
        if (value.type != LB_TEXT && lb_value_int(&value, &number)) {
            column->least = number < column->least ? number : column->least;
            column->most = number > column->most ? number : column->most;
        } else if (value.type != LB_NULL) {
            is_int = false;
        }
        if (!is_typed && column->kind == LB_AGED_OTHER && value.type == LB_TEXT)
            column->kind = LB_AGED_TEXT;
        if (!is_typed && column->kind == LB_AGED_OTHER && value.type == LB_INT)
            column->kind = LB_AGED_INT;
    }
    is_int = is_int && column->least <= column->most && column->kind == LB_AGED_INT;
    static const int64_t units[] = {1, 1000, 1000000};
    for (size_t i = 0; i < sizeof units / sizeof units[0] && is_int; i++)
        if (column->least >= 1400000000 * units[i] && column->most <= 4000000000 * units[i])
            column->epoch = units[i];
}

/* A condition: this row was not there at the start. */
static void put_not_in_copy(FILE *out, const struct lb_aged *aged,
                            const struct lb_aged_table *table)
{
    bool has_key = false;
    for (size_t i = 0; i < table->n_columns; i++)
        has_key = has_key || table->columns[i].primary > 0;
    fprintf(out, "NOT EXISTS (SELECT 1 FROM %s AS c WHERE 1 = 1", table->copy);
    for (size_t i = 0; i < table->n_columns; i++)
        if (!has_key || table->columns[i].primary > 0)
            fprintf(out, " AND %s.%s %s c.%s", table->quoted, table->columns[i].name,
                    aged->aging->same, table->columns[i].name);
    fputs(")", out);
}

/* Deletes the rows of the table that were not there at the start, or makes a table of them. */
static int take_new_rows(struct lb_aged *aged, const struct lb_aged_table *table, bool deletes,
                         struct lb_error *err)
{
    char *sql = NULL;
    size_t size;
    FILE *out = lb_open_memory(&sql, &size);
    if (deletes) {
        fprintf(out, "DELETE FROM %s WHERE ", table->quoted);
    } else {
        fprintf(out, "DROP TABLE IF EXISTS %s; ", table->sample);
        fprintf(out, "CREATE TEMPORARY TABLE %s AS SELECT * FROM %s WHERE ", table->sample,
                table->quoted);
    }
    put_not_in_copy(out, aged, table);
    lb_close_memory(out);
    int r = lb_aged_run(aged, sql, err);
    free(sql);
    return r;
}

static int read_samples(struct lb_aged *aged, struct lb_aged_table *table, struct lb_error *err)
{
    enum { MOST = 200 };
    struct lb_rows rows = {0};
    char *sql = NULL;
    size_t size;
    FILE *out = lb_open_memory(&sql, &size);
    for (size_t i = 0; i < table->n_columns; i++)
        fprintf(out, "%s%s", i == 0 ? "SELECT " : ", ", table->columns[i].name);
    fprintf(out, " FROM %s LIMIT %d", table->sample, MOST);
    lb_close_memory(out);
    int r = query(aged, sql, &rows, err);
    free(sql);
    /* Fewer rows than items: they are not the items' own, such as that of the worker. */
    table->n_samples = r == 0 && rows.n_rows >= aged->n_items ? rows.n_rows : 0;
    for (size_t i = 0; i < table->n_columns && table->n_samples > 0; i++)
        look_at(aged, &table->columns[i], i, rows.n_rows);
    return r;
}

/* Finds the columns that are keys and differ: the item's number, a part of a unique or foreign key,
 * and each column with the same values as such a column. */
static void choose_keys(struct lb_aged *aged, int64_t first)
{
    for (size_t t = 0; t < aged->n_tables; t++)
        for (size_t i = 0; i < aged->tables[t].n_columns; i++) {
            struct lb_aged_column *c = &aged->tables[t].columns[i];
            bool is_item = c->kind == LB_AGED_INT && c->n_distinct == aged->n_items &&
                           c->least == first && c->most == first + (int64_t)aged->n_items - 1;
            c->varies = c->n_distinct > 1 && c->kind != LB_AGED_TIME && c->epoch == 0 &&
                        (c->is_key || is_item);
        }
    for (size_t t = 0; t < aged->n_tables; t++)
        for (size_t i = 0; i < aged->tables[t].n_columns; i++)
            for (size_t u = 0; u < aged->n_tables; u++)
                for (size_t k = 0; k < aged->tables[u].n_columns; k++) {
                    struct lb_aged_column *c = &aged->tables[t].columns[i];
                    const struct lb_aged_column *key = &aged->tables[u].columns[k];
                    c->varies = c->varies || (key->varies && key->is_key && key->sum == c->sum &&
                                              key->n_distinct == c->n_distinct);
                }
}

static int check_keys(struct lb_aged *aged, bool *ret_has_rows, struct lb_error *err)
{
    *ret_has_rows = false;
    aged->stride = 1;
    for (size_t t = 0; t < aged->n_tables; t++)
        for (size_t i = 0; i < aged->tables[t].n_columns && aged->tables[t].n_samples > 0; i++) {
            const struct lb_aged_column *c = &aged->tables[t].columns[i];
            *ret_has_rows = true;
            if (!c->varies || aged->author != NULL)
                continue;
            if (c->kind == LB_AGED_OTHER)
                return lb_fail(err, LB_E_UNSUPPORTED,
                               "column %s of table %s is a key that differs from item to item, of "
                               "a type for which no other values are known",
                               c->name, aged->tables[t].name);
            if (c->kind == LB_AGED_INT && c->most - c->least >= aged->stride)
                aged->stride = c->most - c->least + 1;
        }
    return aged->stride < 1000000
               ? 0
               : lb_fail(err, LB_E_UNSUPPORTED, "the keys of successive items are %lld apart",
                         (long long)aged->stride);
}

int lb_aged_learn(struct lb_aged *aged, int64_t first, uint32_t n, bool *ret_has_rows,
                  struct lb_error *err)
{
    int r = 0;
    aged->n_items = n;
    aged->first = first;
    for (size_t i = 0; i < aged->n_tables && r == 0; i++) {
        r = take_new_rows(aged, &aged->tables[i], false, err);
        if (r == 0)
            r = read_samples(aged, &aged->tables[i], err);
    }
    choose_keys(aged, first);
    return r == 0 ? check_keys(aged, ret_has_rows, err) : r;
}

/* --- the copies --- */

void lb_aged_expression(char *buf, size_t size, const char *format, const char *column,
                        const char *word)
{
    size_t used = 0;
    for (; *format != '\0' && used + 1 < size; format++) {
        const char plain[] = {*format, '\0'};
        bool is_special = *format == '%' && *++format != '\0';
        const char *part = !is_special      ? plain
                           : *format == 'c' ? column
                           : *format == 's' ? word
                                            : "%";
        used += (size_t)snprintf(buf + used, size - used, "%s", part);
    }
}

static void put(FILE *out, const char *format, const char *column, const char *seconds)
{
    char text[4000];
    lb_aged_expression(text, sizeof text, format, column, seconds);
    fputs(text, out);
}

static void put_value(FILE *out, const struct lb_aged *aged, const struct lb_aged_column *column,
                      uint64_t total, int64_t age_s)
{
    char seconds[100], name[250];
    const struct lb_aging *aging = aged->aging;
    bool is_typed = !aging->is_untyped;
    snprintf(name, sizeof name, "s.%s", column->name);
    snprintf(seconds, sizeof seconds, "(%lld.0 * g.n / %llu)", (long long)age_s,
             (unsigned long long)total);
    if (column->varies && column->kind == LB_AGED_INT) {
        fprintf(out, "%s - %lld - %lld * g.n", name, (long long)aged->lowered,
                (long long)aged->stride);
    } else if (column->varies) {
        put(out, column->kind == LB_AGED_UUID ? aging->uuid : aging->text, name, "");
    } else if (column->epoch > 0 && age_s > 0) {
        int64_t age = age_s * column->epoch;
        int64_t soon = (lb_unix_ms() / 1000 + 3600) * column->epoch;
        fprintf(out, "%s + CASE WHEN %s > %lld THEN 1 ELSE -1 END * (%lld * g.n / %llu)", name,
                name, (long long)soon, (long long)age, (unsigned long long)total);
    } else if (age_s > 0 &&
               (column->kind == LB_AGED_TIME || (!is_typed && column->kind != LB_AGED_INT))) {
        put(out, aging->time, name, seconds);
    } else {
        fputs(name, out);
    }
}

static int fill_table(struct lb_aged *aged, const struct lb_aged_table *table, uint64_t from,
                      uint64_t to, uint64_t total, int64_t age_s, struct lb_error *err)
{
    char *sql = NULL;
    size_t size;
    FILE *out = lb_open_memory(&sql, &size);
    fprintf(out, "INSERT INTO %s", table->quoted);
    for (size_t i = 0; i < table->n_columns; i++)
        fprintf(out, "%s%s", i == 0 ? " (" : ", ", table->columns[i].name);
    fprintf(out, ")%s", aged->aging->overriding);
    for (size_t i = 0; i < table->n_columns; i++) {
        fputs(i == 0 ? " SELECT " : ", ", out);
        put_value(out, aged, &table->columns[i], total, age_s);
    }
    fputs(" FROM ", out);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    fprintf(out, aged->aging->series, (unsigned long long)to, (unsigned long long)from + 1);
#pragma GCC diagnostic pop
    fprintf(out, " CROSS JOIN %s AS s ORDER BY g.n DESC", table->sample);
    lb_close_memory(out);
    int r = aged->db->run(aged->conn, sql, err);
    free(sql);
    if (r > 0)
        return lb_fail(err, LB_E_UNSUPPORTED, "the rows of table %s cannot be multiplied: %s",
                       table->name, lb_conn_head(aged->conn)->message);
    return r < 0 ? lb_fail_prefix(err, "the rows of table %s cannot be multiplied", table->name)
                 : 0;
}

/* Marks the tables whose parents are all filled; the rows are (child, parent). */
static bool waits_for_parent(const struct lb_aged *aged, const struct lb_aged_table *table,
                             size_t n_links, char *const *links)
{
    for (size_t i = 0; i < n_links; i++) {
        const char *child = links[2 * i], *parent = links[2 * i + 1];
        if (strcmp(child, table->name) != 0 || strcmp(parent, child) == 0)
            continue;
        for (size_t t = 0; t < aged->n_tables; t++)
            if (strcmp(aged->tables[t].name, parent) == 0 && !aged->tables[t].is_done)
                return true;
    }
    return false;
}

static int read_links(struct lb_aged *aged, char ***ret_links, size_t *ret_n, struct lb_error *err)
{
    struct lb_rows rows = {0};
    int r = query(aged, lb_exploring(aged->db)->links, &rows, err);
    if (r != 0)
        return r;
    char **links = lb_calloc(2 * rows.n_rows, sizeof *links);
    for (size_t i = 0; i < 2 * rows.n_rows; i++) {
        struct lb_value value = aged->db->value(aged->conn, i / 2, i % 2);
        links[i] = text_of(&value, '\0');
        if (links[i] == NULL)
            links[i] = lb_strdup("");
    }
    *ret_links = links;
    *ret_n = rows.n_rows;
    return 0;
}

/* Every table, parents first; no rows, if to is from: the order alone is found. */
static int fill_tables(struct lb_aged *aged, uint64_t from, uint64_t to, uint64_t total,
                       int64_t age_s, struct lb_error *err)
{
    char **links = NULL;
    size_t n_links = 0, n_left = 0;
    int r = read_links(aged, &links, &n_links, err);
    for (size_t t = 0; t < aged->n_tables; t++) {
        aged->tables[t].is_done = aged->tables[t].n_samples == 0;
        n_left += !aged->tables[t].is_done;
    }
    for (size_t t = 0, idle = 0; n_left > 0 && r == 0; t = (t + 1) % aged->n_tables) {
        struct lb_aged_table *table = &aged->tables[t];
        /* A circle of tables: the server says what it makes of it. */
        if (table->is_done ||
            (waits_for_parent(aged, table, n_links, links) && idle < aged->n_tables)) {
            idle++;
            continue;
        }
        if (from < to)
            r = fill_table(aged, table, from, to, total, age_s, err);
        table->is_done = true;
        table->order = n_left--; /* the last one has the least */
        idle = 0;
    }
    for (size_t i = 0; i < 2 * n_links; i++)
        free(links[i]);
    free(links);
    return r;
}

/* --- dead rows --- */

/* All rows that were not there at the start, children first. */
static int remove_all(struct lb_aged *aged, struct lb_error *err)
{
    int r = aged->author != NULL ? fill_tables(aged, 0, 0, 0, 0, err) : 0;
    aged->is_removed = true;
    for (size_t order = 1; order <= aged->n_tables && r == 0; order++)
        for (size_t t = 0; t < aged->n_tables && r == 0; t++)
            if (aged->tables[t].n_samples > 0 && aged->tables[t].order == order)
                r = take_new_rows(aged, &aged->tables[t], true, err);
    return r;
}

/* --- the file's own copies --- */

static int count_rows(struct lb_aged *aged, int64_t *ret_n, struct lb_error *err)
{
    char sql[300];
    int r = 0;
    *ret_n = 0;
    for (size_t i = 0; i < aged->n_tables && r == 0; i++) {
        struct lb_rows rows = {0};
        if (aged->tables[i].n_samples == 0)
            continue;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", aged->tables[i].quoted);
        r = query(aged, sql, &rows, err);
        *ret_n += r == 0 && rows.n_rows > 0 ? number_at(aged, 0, 0) : 0;
    }
    return r;
}

/* Runs section age once for each of the items. */
static int run_author(struct lb_aged *aged, uint64_t n_copies, struct lb_error *err)
{
    struct lb_actor *author = aged->author;
    const struct lb_gate *gate = author->session->gate;
    struct lb_section_result result;
    struct lb_bag bag;
    int64_t before = 0, after = 0;
    int r = count_rows(aged, &before, err);
    author->session->gate = NULL; /* its reads are not counted */
    for (uint32_t i = 0; i < aged->n_items && r == LB_OK; i++) {
        lb_ordinary_fill_class(&bag, author->plan);
        bag.value[LB_SLOT_ID] = lb_int(aged->first + i);
        bag.value[LB_SLOT_N] = lb_int((int64_t)n_copies);
        r = lb_runner_section(&author->runner, LB_S_AGE, &bag, false, NULL, NULL, &result, err);
    }
    author->session->gate = gate;
    if (r > 0)
        r = lb_fail(err, LB_E_UNSUPPORTED, "section age was answered %s: %s", lb_answer_name(r),
                    author->session->message);
    if (r == 0)
        r = count_rows(aged, &after, err);
    if (r == 0 && after - before < (int64_t)(n_copies * aged->n_items))
        r = lb_fail(err, LB_E_UNSUPPORTED,
                    "section age has added %lld rows for %llu copies of each of %u items",
                    (long long)(after - before), (unsigned long long)n_copies, aged->n_items);
    return r;
}

int lb_aged_fill(struct lb_aged *aged, uint64_t from, uint64_t to, uint64_t total, int64_t age_s,
                 struct lb_error *err)
{
    enum { EACH = 8000 };
    const bool has_keys = aged->is_dead && aged->aging->index_keys != NULL;
    /* Else each row that is removed makes the server read all dead rows that may refer to it. */
    int r = has_keys ? lb_aged_run(aged, aged->aging->index_keys, err) : 0;
    /* The oldest come first. */
    while (to > from && r == 0) {
        uint64_t n = to - from < EACH ? to - from : EACH;
        if (aged->author != NULL && aged->is_removed) /* there is nothing to copy */
            r = aged->author->plan->strategy->flow->put(aged->author, aged->first, aged->n_items,
                                                        "payload", err);
        if (r == 0)
            r = aged->author != NULL ? run_author(aged, n, err)
                                     : fill_tables(aged, to - n, to, total, age_s, err);
        to -= n;
        if (r == 0 && aged->is_dead)
            r = remove_all(aged, err);
        if (r == 0 && aged->interrupt != NULL && atomic_load(aged->interrupt) != 0)
            r = lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    }
    return r == 0 && has_keys ? lb_aged_run(aged, aged->aging->drop_keys, err) : r;
}

int lb_aged_open_since(struct lb_aged *aged, uint64_t since_ns, bool *ret_is, struct lb_error *err)
{
    struct lb_rows rows = {0};
    char sql[400], ms[24];
    *ret_is = false;
    if (aged->aging->open_since == NULL)
        return 0;
    snprintf(ms, sizeof ms, "%llu", (unsigned long long)((lb_now_ns() - since_ns) / 1000000));
    lb_aged_expression(sql, sizeof sql, aged->aging->open_since, "", ms);
    int r = query(aged, sql, &rows, err);
    *ret_is = r == 0 && rows.n_rows > 0 && number_at(aged, 0, 0) > 0;
    return r;
}
