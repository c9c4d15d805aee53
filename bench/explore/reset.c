/* Putting a space back: see reset.h. All SQL that differs between engines is in one table. */
#include "reset.h"

#include "life.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lb_dialect {
    const char *engine;
    const char *prepare_session; /* of the control session; NULL: nothing */
    const char *opening;         /* see lb_reset_opening_sql */
    const char *tables;          /* rows (name, columns that can be inserted) */
    const char *links;           /* rows (child, parent) */
    const char *n_opaque;        /* views, triggers, functions */
    const char *heirs;           /* rows (table that cannot be put back); NULL: there are none */
    const char *copy, *empty, *fill; /* %s: name, columns where there are two */
    const char *freeze;              /* %s: name; its statistics stay as they are; NULL: they do */
    const char *has_sequences;       /* NULL: the next can be asked in any case */
    const char *numbered;  /* rows (table whose rows draw a number); NULL: told by counters */
    const char *sequences; /* rows (statement): each puts one sequence back */
    const char *vacuum;    /* NULL: not needed */
    const char *session;   /* see lb_reset_session_sql */
    const char *has_locks; /* see lb_reset_has_locks_sql */
    const char *keep;      /* see lb_reset_keep_sql */
    const char *counters;  /* rows (table, statement); NULL: none */
    bool one_batch;        /* one message is cheaper than prepared statements */
    bool one_writer, scans_lock;
    char quote;
};

static const struct lb_dialect dialects[] = {
    {.engine = "sqlite",
     .prepare_session = "PRAGMA foreign_keys = off; PRAGMA synchronous = off",
     .opening = "PRAGMA synchronous = off", /* nothing here has to survive */
     .tables = "SELECT m.name, (SELECT group_concat('\"' || name || '\"') FROM "
               "pragma_table_info(m.name)) FROM sqlite_schema m WHERE m.type = 'table' "
               "AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name",
     .links = "SELECT m.name, p.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f "
              "JOIN sqlite_schema p ON p.type = 'table' AND lower(p.name) = lower(f.\"table\") "
              "WHERE m.type = 'table'",
     .n_opaque = "SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')",
     .copy = "CREATE TEMP TABLE \"lb_copy_%s\" AS SELECT * FROM main.\"%s\"",
     .empty = "DELETE FROM main.\"%s\"",
     .fill = "INSERT INTO main.\"%s\" (%s) SELECT %s FROM temp.\"lb_copy_%s\"",
     .has_sequences = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'",
     .sequences = "SELECT 'UPDATE main.sqlite_sequence SET seq = ' || "
                  "coalesce((SELECT seq FROM sqlite_sequence WHERE name = m.name), 0) || "
                  "' WHERE name = ''' || m.name || '''' FROM sqlite_schema m "
                  "WHERE m.sql LIKE '%autoincrement%'",
     .one_writer = true,
     .quote = '"'},
    {.engine = "postgres",
     .tables = "SELECT c.relname::text, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY "
               "a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT "
               "a.attisdropped AND a.attgenerated = '') FROM pg_class c WHERE c.relnamespace = "
               "current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT "
               "c.relispartition AND c.relname <> '" LB_LIFE_TABLE "' ORDER BY c.relname",
     .links = "SELECT c.relname::text, p.relname::text FROM pg_constraint JOIN pg_class c ON c.oid "
              "= conrelid JOIN pg_class p ON p.oid = confrelid WHERE contype = 'f' AND "
              "connamespace = current_schema()::regnamespace",
     .n_opaque = "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = "
                 "current_schema()::regnamespace AND relkind IN ('v', 'm', 'f')) + (SELECT "
                 "count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE "
                 "c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal) + "
                 "(SELECT count(*) FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE "
                 "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')) + "
                 "(SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE "
                 "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')) + "
                 "(SELECT count(*) FROM pg_proc WHERE pronamespace = "
                 "current_schema()::regnamespace AND proname NOT IN ('clock_timestamp', 'now', "
                 "'statement_timestamp', 'transaction_timestamp'))",
     .heirs = "SELECT relname::text FROM pg_class WHERE relnamespace = "
              "current_schema()::regnamespace AND relkind = 'r' AND NOT relispartition AND oid IN "
              "(SELECT inhrelid FROM pg_inherits)",
     .copy = "CREATE TEMP TABLE \"lb_copy_%s\" AS TABLE \"%s\"",
     .empty = "DELETE FROM \"%s\"",
     .fill = "INSERT INTO \"%s\" (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM \"lb_copy_%s\"",
     .sequences = "SELECT format('SELECT setval(%L, %s, %L)', quote_ident(sequencename), "
                  "coalesce(last_value, start_value), last_value IS NOT NULL) FROM pg_sequences "
                  "WHERE schemaname = current_schema() AND sequencename <> 'lb_clock'",
     .numbered = "SELECT c.relname::text, '' FROM pg_class c WHERE c.relnamespace = "
                 "current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND (EXISTS (SELECT 1 "
                 "FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '') OR EXISTS "
                 "(SELECT 1 FROM pg_attrdef d WHERE d.adrelid = c.oid AND pg_get_expr(d.adbin, "
                 "d.adrelid) LIKE '%nextval%'))",
     .vacuum = "VACUUM \"%s\"",
     .session = "SELECT pg_advisory_unlock_all()",
     .has_locks = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() "
                  "LIMIT 1",
     .one_batch = true,
     .quote = '"'},
    {.engine = "mariadb",
     .prepare_session = "SET foreign_key_checks = 0",
     .tables = "SELECT t.table_name, (SELECT group_concat(concat('`', c.column_name, '`') ORDER BY "
               "c.ordinal_position SEPARATOR ', ') FROM information_schema.columns c WHERE "
               "c.table_schema = t.table_schema AND c.table_name = t.table_name AND "
               "coalesce(c.generation_expression, '') = '') FROM information_schema.tables t "
               "WHERE t.table_schema = database() AND t.table_type = 'BASE TABLE' AND "
               "t.table_name <> '" LB_LIFE_TABLE "' "
               "ORDER BY t.table_name",
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
     .scans_lock = true,
     .quote = '`'},
};

enum { VACUUM_EVERY = 20 };

/* engine is NULL: cannot be explored. */
static const struct lb_dialect *dialect_of(const struct lb_db *db)
{
    static const struct lb_dialect none = {.engine = NULL};
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++)
        if (strcmp(dialects[i].engine, db->name) == 0)
            return &dialects[i];
    return &none;
}

const char *lb_reset_opening_sql(const struct lb_db *db)
{
    return dialect_of(db)->opening;
}

const char *lb_reset_session_sql(const struct lb_db *db)
{
    return dialect_of(db)->session;
}

const char *lb_reset_has_locks_sql(const struct lb_db *db)
{
    return dialect_of(db)->has_locks;
}

const char *lb_reset_links_sql(const struct lb_reset *reset)
{
    return reset->dialect->links;
}

const char *lb_reset_keep_sql(const struct lb_db *db)
{
    return dialect_of(db)->keep;
}

static int must_be_ok(const struct lb_reset *reset, int answer, struct lb_error *err)
{
    if (answer <= LB_OK)
        return answer;
    if (answer == LB_LOST)
        return lb_fail(err, LB_E_ENV, "the server went away: %s", reset->session->message);
    return lb_fail(err, LB_E_ENV, "the space cannot be put back: %s: %s", lb_answer_name(answer),
                   reset->session->message);
}

static int run(const struct lb_reset *reset, const char *sql, struct lb_error *err)
{
    const struct lb_session *session = reset->session;
    return must_be_ok(reset, session->db->run(session->conn, sql, err), err);
}

__attribute__((format(printf, 1, 2))) static char *text(const char *format, ...)
{
    char *ret = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&ret, format, args) < 0)
        ret = NULL;
    va_end(args);
    return ret;
}

int lb_reset_query(const struct lb_reset *reset, const char *sql,
                   int (*take)(void *arg, const char *a, const char *b, struct lb_error *err),
                   void *arg, struct lb_error *err)
{
    struct lb_session *session = reset->session;
    struct lb_prepared prepared = {0};
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql};
    struct lb_rows rows = {0};
    int r = must_be_ok(reset, lb_session_execute(session, &prepared, &step, sql, &rows, err), err);
    for (size_t row = 0; row < rows.n_rows && r == 0; row++) {
        char *cell[2] = {NULL, NULL};
        for (size_t column = 0; column < rows.n_columns && column < 2; column++) {
            struct lb_value value = session->db->value(session->conn, row, column);
            int64_t number;
            if (value.type == LB_TEXT)
                cell[column] = text("%.*s", (int)value.length, value.text);
            else if (lb_value_int(&value, &number))
                cell[column] = text("%lld", (long long)number);
        }
        r = take(arg, cell[0] != NULL ? cell[0] : "", cell[1] != NULL ? cell[1] : "", err);
        free(cell[0]);
        free(cell[1]);
    }
    return r;
}

struct opening {
    struct lb_reset *reset;
    struct lb_tables *tables;
    bool has_sequences;
    bool comes_before[LB_FOOTPRINT_TABLES][LB_FOOTPRINT_TABLES]; /* child, parent */
};

static int take_table(void *arg, const char *name, const char *columns, struct lb_error *err)
{
    struct opening *opening = arg;
    struct lb_tables *tables = opening->tables;
    const struct lb_dialect *dialect = opening->reset->dialect;
    if (strlen(name) >= sizeof tables->name[0] || strchr(name, dialect->quote) != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "explore cannot put back a table named %s", name);
    if (tables->n == LB_FOOTPRINT_TABLES)
        return lb_fail(err, LB_E_UNSUPPORTED, "explore can put back at most %d tables",
                       LB_FOOTPRINT_TABLES);
    struct lb_reset_table *table = &opening->reset->tables[tables->n];
    snprintf(tables->name[tables->n], sizeof tables->name[0], "%s", name);
    tables->group[tables->n] = 1u << tables->n;
    tables->opaque = tables->opaque || !lb_footprint_is_word(name);
    tables->n++;
    opening->reset->n_tables = tables->n;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    table->empty = text(dialect->empty, name);
    table->fill = text(dialect->fill, name, columns, columns, name);
#pragma GCC diagnostic pop
    return table->empty == NULL || table->fill == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory")
                                                       : 0;
}

static size_t table_of(const struct lb_tables *tables, const char *name)
{
    size_t i = 0;
    while (i < tables->n && strcmp(tables->name[i], name) != 0)
        i++;
    return i;
}

static int take_link(void *arg, const char *child, const char *parent, struct lb_error *err)
{
    struct opening *opening = arg;
    struct lb_tables *tables = opening->tables;
    size_t a = table_of(tables, child), b = table_of(tables, parent);
    (void)err;
    if (a == tables->n || b == tables->n)
        return 0;
    opening->comes_before[a][b] = true;
    uint32_t both = tables->group[a] | tables->group[b];
    for (size_t i = 0; i < tables->n; i++)
        if ((tables->group[i] & both) != 0)
            tables->group[i] |= both;
    return 0;
}

static int take_opaque(void *arg, const char *n, const char *unused, struct lb_error *err)
{
    struct opening *opening = arg;
    (void)unused;
    (void)err;
    opening->tables->opaque = opening->tables->opaque || strcmp(n, "0") != 0;
    return 0;
}

static int take_heir(void *arg, const char *name, const char *unused, struct lb_error *err)
{
    (void)arg;
    (void)unused;
    return lb_fail(err, LB_E_UNSUPPORTED, "explore cannot put back %s: it inherits from a table",
                   name);
}

static int take_has_sequences(void *arg, const char *n, const char *unused, struct lb_error *err)
{
    (void)unused;
    (void)err;
    ((struct opening *)arg)->has_sequences = strcmp(n, "0") != 0;
    return 0;
}

static int take_sequence(void *arg, const char *statement, const char *unused, struct lb_error *err)
{
    struct lb_reset *reset = ((struct opening *)arg)->reset;
    (void)unused;
    if (reset->n_sequences == LB_FOOTPRINT_TABLES)
        return lb_fail(err, LB_E_UNSUPPORTED, "explore can put back at most %d sequences",
                       LB_FOOTPRINT_TABLES);
    char *sql = strdup(statement);
    if (sql == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    reset->sequences[reset->n_sequences++].sql = sql;
    return 0;
}

static int take_counter(void *arg, const char *name, const char *statement, struct lb_error *err)
{
    struct opening *opening = arg;
    size_t i = table_of(opening->tables, name);
    if (i == opening->tables->n)
        return 0;
    opening->tables->numbered |= 1u << i;
    opening->reset->tables[i].counter = strdup(statement);
    return opening->reset->tables[i].counter == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory")
                                                     : 0;
}

/* No rollback takes the number back (but SQLite's). */
static int take_numbered(void *arg, const char *name, const char *unused, struct lb_error *err)
{
    struct opening *opening = arg;
    size_t i = table_of(opening->tables, name);
    (void)unused;
    (void)err;
    if (i < opening->tables->n)
        opening->tables->numbered |= 1u << i;
    return 0;
}

/* Children before parents. Tables that refer to each other in a circle come last, in any order. */
static void sort_tables(const struct opening *opening)
{
    struct lb_reset *reset = opening->reset;
    bool placed[LB_FOOTPRINT_TABLES] = {false};
    for (size_t n = 0; n < reset->n_tables; n++) {
        size_t best = LB_FOOTPRINT_TABLES;
        for (size_t i = 0; i < reset->n_tables; i++) {
            bool free_now = !placed[i];
            for (size_t child = 0; child < reset->n_tables; child++)
                if (child != i && !placed[child] && opening->comes_before[child][i])
                    free_now = false;
            if (!placed[i] && (best == LB_FOOTPRINT_TABLES || free_now))
                best = i;
            if (free_now)
                break;
        }
        if (best == LB_FOOTPRINT_TABLES)
            break; /* not reached: one is always left */
        placed[best] = true;
        reset->order[n] = (unsigned)best;
    }
}

static int copy_tables(struct lb_reset *reset, const struct lb_tables *tables, struct lb_error *err)
{
    int r = 0;
    for (size_t i = 0; i < tables->n && r == 0; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        char *sql = text(reset->dialect->copy, tables->name[i], tables->name[i]);
#pragma GCC diagnostic pop
        r = sql == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : run(reset, sql, err);
        free(sql);
        if (r != 0 || reset->dialect->freeze == NULL)
            continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        sql = text(reset->dialect->freeze, tables->name[i]);
#pragma GCC diagnostic pop
        r = sql == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : run(reset, sql, err);
        free(sql);
    }
    return r;
}

int lb_reset_open(struct lb_reset *reset, struct lb_session *session, struct lb_tables *ret_tables,
                  struct lb_error *err)
{
    struct opening opening = {.reset = reset, .tables = ret_tables};
    *reset = (struct lb_reset){.session = session, .dialect = dialect_of(session->db)};
    *ret_tables = (struct lb_tables){0};
    const struct lb_dialect *dialect = reset->dialect;
    if (dialect->engine == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s cannot be explored", session->db->product);
    int r = dialect->prepare_session != NULL ? run(reset, dialect->prepare_session, err) : 0;
    if (r == 0)
        r = lb_reset_query(reset, dialect->tables, take_table, &opening, err);
    if (r == 0)
        r = lb_reset_query(reset, dialect->links, take_link, &opening, err);
    if (r == 0)
        r = lb_reset_query(reset, dialect->n_opaque, take_opaque, &opening, err);
    if (r == 0 && dialect->heirs != NULL)
        r = lb_reset_query(reset, dialect->heirs, take_heir, &opening, err);
    opening.has_sequences = true;
    if (r == 0 && dialect->has_sequences != NULL)
        r = lb_reset_query(reset, dialect->has_sequences, take_has_sequences, &opening, err);
    if (r == 0 && dialect->sequences != NULL && opening.has_sequences)
        r = lb_reset_query(reset, dialect->sequences, take_sequence, &opening, err);
    if (r == 0 && dialect->numbered != NULL)
        r = lb_reset_query(reset, dialect->numbered, take_numbered, &opening, err);
    if (r == 0 && dialect->counters != NULL)
        r = lb_reset_query(reset, dialect->counters, take_counter, &opening, err);
    if (r == 0)
        r = copy_tables(reset, ret_tables, err);
    if (r != 0)
        return r;
    sort_tables(&opening);
    for (size_t i = 0; i < ret_tables->n; i++)
        reset->group[i] = ret_tables->opaque ? LB_TOUCHES_ALL : ret_tables->group[i];
    ret_tables->one_writer = dialect->one_writer;
    ret_tables->scans_lock = dialect->scans_lock;
    return 0;
}

void lb_reset_close(struct lb_reset *reset)
{
    for (size_t i = 0; i < reset->n_tables; i++) {
        free(reset->tables[i].empty);
        free(reset->tables[i].fill);
        free(reset->tables[i].counter);
    }
    for (size_t i = 0; i < reset->n_sequences; i++)
        free(reset->sequences[i].sql);
    *reset = (struct lb_reset){0};
}

/* --- putting back --- */

static int run_prepared(struct lb_reset *reset, struct lb_prepared *prepared, const char *sql,
                        struct lb_error *err)
{
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql};
    struct lb_rows rows;
    return must_be_ok(reset, lb_session_execute(reset->session, prepared, &step, sql, &rows, err),
                      err);
}

static bool is_written(const struct lb_reset *reset, size_t table, uint32_t written)
{
    return (reset->group[table] & written) != 0;
}

static int run_one_by_one(struct lb_reset *reset, uint32_t written, struct lb_error *err)
{
    struct lb_session *session = reset->session;
    int r = must_be_ok(reset, lb_session_begin(session, LB_BEGIN_DEFAULT, err), err);
    for (size_t n = 0; n < reset->n_tables && r == 0; n++) {
        struct lb_reset_table *table = &reset->tables[reset->order[n]];
        if (is_written(reset, reset->order[n], written))
            r = run_prepared(reset, &table->empty_prepared, table->empty, err);
    }
    for (size_t n = reset->n_tables; n-- > 0 && r == 0;) {
        struct lb_reset_table *table = &reset->tables[reset->order[n]];
        if (is_written(reset, reset->order[n], written))
            r = run_prepared(reset, &table->fill_prepared, table->fill, err);
    }
    for (size_t i = 0; i < reset->n_sequences && r == 0; i++)
        r = run_prepared(reset, &reset->sequences[i].prepared, reset->sequences[i].sql, err);
    if (r == 0)
        r = must_be_ok(reset, lb_session_commit(session, err), err);
    for (size_t i = 0; i < reset->n_tables && r == 0; i++)
        if (is_written(reset, i, written) && reset->tables[i].counter != NULL)
            r = run(reset, reset->tables[i].counter, err);
    return r;
}

struct batch {
    size_t n;
    char sql[16000];
};

static void add(struct batch *batch, const char *sql)
{
    size_t left = sizeof batch->sql - batch->n;
    int n = snprintf(batch->sql + batch->n, left, "%s%s", batch->n > 0 ? "; " : "", sql);
    batch->n += n > 0 && (size_t)n < left ? (size_t)n : left - 1;
}

static int run_batch(struct lb_reset *reset, uint32_t written, bool vacuum, struct lb_error *err)
{
    struct batch batch = {0};
    int r = 0;
    for (size_t n = 0; n < reset->n_tables; n++)
        if (is_written(reset, reset->order[n], written))
            add(&batch, reset->tables[reset->order[n]].empty);
    if (vacuum) {
        r = batch.n > 0 ? run(reset, batch.sql, err) : 0;
        for (size_t n = 0; n < reset->n_tables && r == 0; n++) {
            char sql[200];
            const char *name = reset->tables[reset->order[n]].empty + strlen("DELETE FROM ");
            snprintf(sql, sizeof sql, "VACUUM %s", name);
            if (is_written(reset, reset->order[n], written))
                r = run(reset, sql, err);
        }
        batch = (struct batch){0};
    }
    for (size_t n = reset->n_tables; n-- > 0;)
        if (is_written(reset, reset->order[n], written))
            add(&batch, reset->tables[reset->order[n]].fill);
    for (size_t i = 0; i < reset->n_sequences; i++)
        add(&batch, reset->sequences[i].sql);
    return r == 0 && batch.n > 0 ? run(reset, batch.sql, err) : r;
}

int lb_reset_run(struct lb_reset *reset, uint32_t written, struct lb_error *err)
{
    if (written == 0)
        return 0;
    if (!reset->dialect->one_batch)
        return run_one_by_one(reset, written, err);
    bool vacuum = reset->dialect->vacuum != NULL && ++reset->n_since >= VACUUM_EVERY;
    if (vacuum)
        reset->n_since = 0;
    return run_batch(reset, vacuum ? LB_TOUCHES_ALL : written, vacuum, err);
}
