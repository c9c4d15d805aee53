/* Resets a space: see reset.h. Engine-specific parts are in each engine's exploring.h. */
#include "reset.h"

#include "array.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VACUUM_EVERY = 20 };

static int must_be_ok(const struct lb_reset *reset, int answer, struct lb_error *err)
{
    if (answer <= LB_OK)
        return answer;
    if (answer == LB_LOST)
        return lb_fail(err, LB_E_ENV, "the server went away: %s", reset->session->message);
    const char *said = lb_conn_head(reset->session->conn)->message;
    return lb_fail(err, LB_E_ENV, "the space cannot be put back: %s: %s", lb_answer_name(answer),
                   said[0] != '\0' ? said : reset->session->message);
}

static int run(const struct lb_reset *reset, const char *sql, struct lb_error *err)
{
    const struct lb_session *session = reset->session;
    return must_be_ok(reset, session->db->run(session->conn, sql, err), err);
}

int lb_reset_query(const struct lb_reset *reset, const char *sql,
                   void (*take)(void *arg, const char *a, const char *b), void *arg,
                   struct lb_error *err)
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
                cell[column] = lb_format("%.*s", (int)value.length, value.text);
            else if (lb_value_int(&value, &number))
                cell[column] = lb_format("%lld", (long long)number);
        }
        take(arg, cell[0] != NULL ? cell[0] : "", cell[1] != NULL ? cell[1] : "");
        free(cell[0]);
        free(cell[1]);
    }
    return r;
}

struct opening {
    struct lb_reset *reset;
    struct lb_tables *tables;
    struct lb_error refusal; /* why the space cannot be put back; code 0: it can */
    bool has_no_sequences;
    bool comes_before[LB_FOOTPRINT_TABLES][LB_FOOTPRINT_TABLES]; /* child, parent */
};

static void take_table(void *arg, const char *name, const char *columns)
{
    struct opening *opening = arg;
    struct lb_tables *tables = opening->tables;
    const struct lb_exploring *exploring = opening->reset->exploring;
    if (opening->refusal.code != 0)
        return;
    if (strlen(name) >= sizeof tables->name[0] || strchr(name, exploring->quote) != NULL)
        lb_fail(&opening->refusal, LB_E_UNSUPPORTED, "explore cannot put back a table named %s",
                name);
    else if (tables->n == LB_FOOTPRINT_TABLES)
        lb_fail(&opening->refusal, LB_E_UNSUPPORTED, "explore can put back at most %d tables",
                LB_FOOTPRINT_TABLES);
    if (opening->refusal.code != 0)
        return;
    struct lb_reset_table *table = &opening->reset->tables[tables->n];
    snprintf(tables->name[tables->n], sizeof tables->name[0], "%s", name);
    tables->group[tables->n] = 1u << tables->n;
    tables->opaque = tables->opaque || !lb_footprint_is_word(name);
    tables->n++;
    opening->reset->n_tables = tables->n;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    table->empty = lb_format(exploring->empty, name);
    table->fill = lb_format(exploring->fill, name, columns, columns, name);
#pragma GCC diagnostic pop
}

static void take_link(void *arg, const char *child, const char *parent)
{
    struct opening *opening = arg;
    struct lb_tables *tables = opening->tables;
    size_t a = lb_tables_find(tables, child), b = lb_tables_find(tables, parent);
    if (a == tables->n || b == tables->n)
        return;
    opening->comes_before[a][b] = true;
    uint32_t both = tables->group[a] | tables->group[b];
    for (size_t i = 0; i < tables->n; i++)
        if ((tables->group[i] & both) != 0)
            tables->group[i] |= both;
}

static void take_opaque(void *arg, const char *n, const char *unused)
{
    struct opening *opening = arg;
    (void)unused;
    opening->tables->opaque = opening->tables->opaque || strcmp(n, "0") != 0;
}

static void take_heir(void *arg, const char *name, const char *why)
{
    struct opening *opening = arg;
    if (opening->refusal.code == 0)
        lb_fail(&opening->refusal, LB_E_UNSUPPORTED, "explore cannot put back %s: %s", name, why);
}

static void take_has_sequences(void *arg, const char *n, const char *unused)
{
    (void)unused;
    ((struct opening *)arg)->has_no_sequences = strcmp(n, "0") == 0;
}

static void take_sequence(void *arg, const char *statement, const char *unused)
{
    struct opening *opening = arg;
    struct lb_reset *reset = opening->reset;
    (void)unused;
    if (reset->n_sequences == LB_FOOTPRINT_TABLES)
        lb_fail(&opening->refusal, LB_E_UNSUPPORTED, "explore can put back at most %d sequences",
                LB_FOOTPRINT_TABLES);
    else
        reset->sequences[reset->n_sequences++].sql = lb_strdup(statement);
}

static void take_trigger(void *arg, const char *stop, const char *start)
{
    struct lb_reset *reset = ((struct opening *)arg)->reset;
    struct lb_reset_trigger *trigger =
        lb_array_add(&reset->triggers, &reset->n_triggers, sizeof *trigger);
    *trigger = (struct lb_reset_trigger){lb_strdup(stop), lb_strdup(start)};
}

static void take_answer(void *arg, const char *statement, const char *unused)
{
    char **answer = arg;
    (void)unused;
    free(*answer);
    *answer = lb_strdup(statement);
}

/* The statements by which sequences are put back, and have been: the first schedule begins as all
 * others do. */
static int ask_sequences(struct lb_reset *reset, struct lb_error *err)
{
    int r = 0;
    for (size_t i = 0; i < reset->n_sequences && r == 0; i++) {
        char *answer = NULL;
        r = lb_reset_query(reset, reset->sequences[i].sql, take_answer, &answer, err);
        if (r == 0 && answer == NULL)
            r = lb_fail(err, LB_E_ENV, "a sequence cannot be put back: %s",
                        reset->sequences[i].sql);
        if (r != 0) {
            free(answer);
            break;
        }
        free(reset->sequences[i].sql);
        reset->sequences[i].sql = answer;
        r = run(reset, answer, err);
    }
    return r;
}

static void take_counter(void *arg, const char *name, const char *statement)
{
    struct opening *opening = arg;
    size_t i = lb_tables_find(opening->tables, name);
    if (i == opening->tables->n)
        return;
    opening->tables->numbered |= 1u << i;
    opening->reset->tables[i].counter = lb_strdup(statement);
}

/* No rollback takes the number back (but SQLite's). */
static void take_numbered(void *arg, const char *name, const char *column)
{
    struct opening *opening = arg;
    struct lb_tables *tables = opening->tables;
    size_t i = lb_tables_find(tables, name);
    if (i == tables->n)
        return;
    tables->numbered |= 1u << i;
    if (tables->n_numbers == LB_FOOTPRINT_TABLES)
        return;
    tables->number[tables->n_numbers].table = i;
    snprintf(tables->number[tables->n_numbers].column, sizeof tables->number[0].column, "%s",
             column);
    tables->n_numbers++;
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

/* format: with places for the table's name; NULL: nothing to do. */
static int run_with_name(struct lb_reset *reset, const char *format, const char *name,
                         struct lb_error *err)
{
    if (format == NULL)
        return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    char *sql = lb_format(format, name, name);
#pragma GCC diagnostic pop
    int r = run(reset, sql, err);
    free(sql);
    return r;
}

static int copy_tables(struct lb_reset *reset, const struct lb_tables *tables, struct lb_error *err)
{
    int r = 0;
    for (size_t i = 0; i < tables->n && r == 0; i++) {
        r = run_with_name(reset, reset->exploring->copy, tables->name[i], err);
        if (r == 0)
            r = run_with_name(reset, reset->exploring->freeze, tables->name[i], err);
    }
    return r;
}

int lb_reset_open(struct lb_reset *reset, struct lb_session *session, struct lb_tables *ret_tables,
                  struct lb_error *err)
{
    struct opening opening = {.reset = reset, .tables = ret_tables};
    *reset = (struct lb_reset){.session = session, .exploring = lb_exploring(session->db)};
    *ret_tables = (struct lb_tables){0};
    const struct lb_exploring *exploring = reset->exploring;
    if (session->db->exploring == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s cannot be explored", session->db->product);
    const struct {
        const char *sql; /* NULL: this engine has none */
        void (*take)(void *arg, const char *a, const char *b);
    } questions[] = {
        {exploring->tables, take_table},       {exploring->links, take_link},
        {exploring->n_opaque, take_opaque},    {exploring->triggers, take_trigger},
        {exploring->heirs, take_heir},         {exploring->has_sequences, take_has_sequences},
        {exploring->sequences, take_sequence}, {exploring->numbered, take_numbered},
        {exploring->counters, take_counter}};
    int r = exploring->prepare_session != NULL ? run(reset, exploring->prepare_session, err) : 0;
    for (size_t i = 0;
         i < sizeof questions / sizeof questions[0] && r == 0 && opening.refusal.code == 0; i++)
        if (questions[i].sql != NULL &&
            (questions[i].take != take_sequence || !opening.has_no_sequences))
            r = lb_reset_query(reset, questions[i].sql, questions[i].take, &opening, err);
    if (r == 0 && opening.refusal.code != 0) {
        *err = opening.refusal;
        r = err->code;
    }
    if (r == 0 && exploring->asks_sequences)
        r = ask_sequences(reset, err);
    if (r == 0)
        r = copy_tables(reset, ret_tables, err);
    if (r != 0)
        return r;
    sort_tables(&opening);
    for (size_t i = 0; i < ret_tables->n; i++)
        reset->group[i] = ret_tables->opaque ? LB_TOUCHES_ALL : ret_tables->group[i];
    ret_tables->one_writer = exploring->one_writer;
    ret_tables->scans_lock = exploring->scans_lock;
    ret_tables->dialect = session->db->dialect;
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
    for (size_t i = 0; i < reset->n_triggers; i++) {
        free(reset->triggers[i].stop);
        free(reset->triggers[i].start);
    }
    free(reset->triggers);
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
    bool in_tx = !reset->exploring->asks_sequences; /* as MariaDB's counters, it is DDL */
    for (size_t i = 0; i < reset->n_sequences && r == 0 && in_tx; i++)
        r = run_prepared(reset, &reset->sequences[i].prepared, reset->sequences[i].sql, err);
    if (r == 0)
        r = must_be_ok(reset, lb_session_commit(session, err), err);
    for (size_t i = 0; i < reset->n_sequences && r == 0 && !in_tx; i++)
        r = run(reset, reset->sequences[i].sql, err);
    for (size_t i = 0; i < reset->n_tables && r == 0; i++)
        if (is_written(reset, i, written) && reset->tables[i].counter != NULL)
            r = run(reset, reset->tables[i].counter, err);
    return r;
}

/* Statements that are sent at once. */
struct batch {
    FILE *out;
    char *sql;
    size_t size, n;
};

static void begin(struct batch *batch)
{
    *batch = (struct batch){0};
    batch->out = lb_open_memory(&batch->sql, &batch->size);
}

static void add(struct batch *batch, const char *sql)
{
    fprintf(batch->out, "%s%s", batch->n++ > 0 ? "; " : "", sql);
}

static int send_batch(struct lb_reset *reset, struct batch *batch, struct lb_error *err)
{
    lb_close_memory(batch->out);
    int r = batch->n > 0 ? run(reset, batch->sql, err) : 0;
    free(batch->sql);
    return r;
}

static int vacuum_tables(struct lb_reset *reset, uint32_t written, struct lb_error *err)
{
    int r = 0;
    for (size_t n = 0; n < reset->n_tables && r == 0; n++) {
        char sql[200];
        const char *name = reset->tables[reset->order[n]].empty + strlen("DELETE FROM ");
        snprintf(sql, sizeof sql, "VACUUM %s", name);
        if (is_written(reset, reset->order[n], written))
            r = run(reset, sql, err);
    }
    return r;
}

static int run_batch(struct lb_reset *reset, uint32_t written, bool vacuum, struct lb_error *err)
{
    struct batch batch;
    begin(&batch);
    for (size_t n = 0; n < reset->n_tables; n++)
        if (is_written(reset, reset->order[n], written))
            add(&batch, reset->tables[reset->order[n]].empty);
    if (vacuum) {
        int r = send_batch(reset, &batch, err);
        r = r != 0 ? r : vacuum_tables(reset, written, err);
        if (r != 0)
            return r;
        begin(&batch);
    }
    for (size_t n = reset->n_tables; n-- > 0;)
        if (is_written(reset, reset->order[n], written))
            add(&batch, reset->tables[reset->order[n]].fill);
    for (size_t i = 0; i < reset->n_sequences; i++)
        add(&batch, reset->sequences[i].sql);
    return send_batch(reset, &batch, err);
}

static int put_back(struct lb_reset *reset, uint32_t written, struct lb_error *err)
{
    if (!reset->exploring->one_batch)
        return run_one_by_one(reset, written, err);
    bool vacuum = reset->exploring->vacuum != NULL && ++reset->n_since >= VACUUM_EVERY;
    if (vacuum)
        reset->n_since = 0;
    return run_batch(reset, vacuum ? LB_TOUCHES_ALL : written, vacuum, err);
}

int lb_reset_run(struct lb_reset *reset, uint32_t written, struct lb_error *err)
{
    if (written == 0)
        return 0;
    int r = 0;
    for (size_t i = 0; i < reset->n_triggers && r == 0; i++)
        r = run(reset, reset->triggers[i].stop, err);
    if (r == 0)
        r = put_back(reset, written, err);
    for (size_t i = 0; i < reset->n_triggers && r == 0; i++)
        r = run(reset, reset->triggers[i].start, err);
    return r;
}
