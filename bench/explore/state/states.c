/* The digest of a state: see states.h. PostgreSQL at READ COMMITTED, while all stand. */
#include "testbed.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERE "c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"

/* A row as text: times as microseconds. */
static const char lines_sql[] =
    "SELECT c.relname::text, string_agg(CASE WHEN a.atttypid IN ('timestamptz'::regtype, "
    "'timestamp'::regtype) THEN format('CASE WHEN isfinite(t.%1$I) THEN (extract(epoch from "
    "t.%1$I) * 1000000)::bigint::text ELSE quote_nullable(t.%1$I::text) END', a.attname) ELSE "
    "format('quote_nullable(t.%I::text)', a.attname) END, ', ' ORDER BY a.attnum) FROM pg_class c "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE " HERE
    " GROUP BY c.relname";
static const char keys_sql[] =
    "SELECT c.relname::text, string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attnum) FROM "
    "pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid "
    "AND a.attnum = ANY (i.indkey) WHERE i.indisprimary AND " HERE " GROUP BY c.relname";
/* Columns that put rows in one order: a key of one column, and stored times. */
static const char ordering_sql[] =
    "SELECT a.attname::text, '' FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND "
    "a.attnum > 0 WHERE " HERE " AND (a.atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype) "
    "OR EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND "
    "i.indnkeyatts = 1 AND a.attnum = ANY (i.indkey)))";
static const char sequences_sql[] =
    "SELECT c.relname::text, pg_sequence_last_value(c.oid)::text FROM pg_class c WHERE "
    "c.relnamespace = current_schema()::regnamespace AND c.relkind = 'S' ORDER BY 1";
static const char locks_sql[] =
    "SELECT pid, classid::bigint, objid::bigint, objsubid, mode FROM pg_locks WHERE locktype = "
    "'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = "
    "current_database()) ORDER BY 1, 2, 3, 4, 5";

enum { MOST_ORDERING = 60 };

struct opening {
    const struct lb_tables *tables;
    char *line[LB_FOOTPRINT_TABLES], *key[LB_FOOTPRINT_TABLES];
    char *ordering[MOST_ORDERING + 1];
    size_t n_ordering;
    bool is_linked, has_sequences;
};

/* --- what is asked once --- */

static int keep(char **into, const char *text, struct lb_error *err)
{
    free(*into);
    *into = strdup(text);
    return *into == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory") : 0;
}

static int take_line(void *arg, const char *name, const char *line, struct lb_error *err)
{
    struct opening *opening = arg;
    for (size_t i = 0; i < opening->tables->n; i++)
        if (strcmp(opening->tables->name[i], name) == 0)
            return keep(&opening->line[i], line, err);
    return 0;
}

static int take_key(void *arg, const char *name, const char *key, struct lb_error *err)
{
    struct opening *opening = arg;
    for (size_t i = 0; i < opening->tables->n; i++)
        if (strcmp(opening->tables->name[i], name) == 0)
            return keep(&opening->key[i], key, err);
    return 0;
}

static int take_ordering(void *arg, const char *column, const char *unused, struct lb_error *err)
{
    struct opening *opening = arg;
    (void)unused;
    return opening->n_ordering < MOST_ORDERING
               ? keep(&opening->ordering[opening->n_ordering++], column, err)
               : 0;
}

static int take_link(void *arg, const char *child, const char *parent, struct lb_error *err)
{
    (void)child;
    (void)parent;
    (void)err;
    ((struct opening *)arg)->is_linked = true;
    return 0;
}

static int take_sequence(void *arg, const char *name, const char *value, struct lb_error *err)
{
    (void)name;
    (void)value;
    (void)err;
    ((struct opening *)arg)->has_sequences = true;
    return 0;
}

static int read_catalogue(struct opening *opening, struct lb_reset *reset, struct lb_error *err)
{
    int r = lb_reset_query(reset, lines_sql, take_line, opening, err);
    if (r == 0)
        r = lb_reset_query(reset, keys_sql, take_key, opening, err);
    if (r == 0)
        r = lb_reset_query(reset, ordering_sql, take_ordering, opening, err);
    if (r == 0)
        r = lb_reset_query(reset, reset->exploring->links, take_link, opening, err);
    return r == 0 ? lb_reset_query(reset, sequences_sql, take_sequence, opening, err) : r;
}

/* --- which statements --- */

static bool is_understood(const struct opening *opening, const struct lb_program *program,
                          uint32_t played)
{
    const char *const *ordering = (const char *const *)opening->ordering;
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++) {
            const char *sql = program->sections[s].statements[i].sql;
            struct lb_footprint touched;
            lb_footprint_of_sql(opening->tables, sql, &touched);
            if (touched.writes == LB_TOUCHES_ALL || touched.reads == LB_TOUCHES_ALL ||
                !lb_states_is_orderly(opening->tables, sql, ordering))
                return false;
        }
    return !opening->is_linked;
}

/* --- the queries --- */

static int make_queries(struct lb_states *states, const struct opening *opening,
                        struct lb_error *err)
{
    static const char own[] = "pg_current_xact_id_if_assigned()::xid";
    size_t size;
    FILE *committed_sql = open_memstream(&states->committed_sql, &size);
    FILE *own_sql = committed_sql != NULL ? open_memstream(&states->own_sql, &size) : NULL;
    if (own_sql == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    fprintf(own_sql, "SELECT -1, coalesce(%s::text, '')", own);
    for (size_t i = 0; i < opening->tables->n; i++) {
        const char *name = opening->tables->name[i], *line = opening->line[i];
        const char *order = opening->key[i] != NULL ? opening->key[i] : "t.ctid";
        fprintf(committed_sql,
                "%sSELECT %zu, (SELECT string_agg(concat_ws(chr(31), chr(1) || t.xmax::text || "
                "chr(2), %s), chr(30) ORDER BY %s) FROM \"%s\" AS t)",
                i > 0 ? " UNION ALL " : "", i, line, order, name);
        fprintf(own_sql,
                " UNION ALL SELECT %zu, (SELECT string_agg(concat_ws(chr(31), (t.xmin = %s)::text, "
                "(t.xmax = %s)::text, %s), chr(30) ORDER BY %s) FROM \"%s\" AS t WHERE t.xmin = %s "
                "OR t.xmax = %s)",
                i, own, own, line, order, name, own, own);
    }
    int a = fclose(committed_sql), b = fclose(own_sql);
    if (a != 0 || b != 0)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    if (opening->has_sequences && (states->sequences_sql = strdup(sequences_sql)) == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    return 0;
}

int lb_states_open(struct lb_states *states, struct lb_reset *reset, const struct lb_tables *tables,
                   const struct lb_program *program, uint32_t played, struct lb_error *err)
{
    struct opening opening = {.tables = tables};
    int r = read_catalogue(&opening, reset, err);
    bool has_all = tables->n > 0;
    for (size_t i = 0; i < tables->n; i++)
        has_all = has_all && opening.line[i] != NULL;
    if (r == 0 && has_all && is_understood(&opening, program, played)) {
        r = make_queries(states, &opening, err);
        states->is_on = r == 0;
    }
    for (size_t i = 0; i < LB_FOOTPRINT_TABLES; i++) {
        free(opening.line[i]);
        free(opening.key[i]);
    }
    for (size_t i = 0; i < opening.n_ordering; i++)
        free(opening.ordering[i]);
    return r;
}

void lb_states_close(struct lb_states *states)
{
    free(states->committed_sql);
    free(states->own_sql);
    free(states->sequences_sql);
    *states = (struct lb_states){0};
}

/* --- asking --- */

struct told {
    struct lb_testbed *testbed;
    FILE *out;
    uint64_t now_ms;
    char xid[LB_MAX_WORKERS][24]; /* of the tasks' transactions; "": none */
    struct {
        uint32_t task, n;
        int64_t class, object, kind;
    } locks[16];
    size_t n_locks;
    bool is_vague; /* something cannot be told */
};

/* For tests. */
static bool is_left_out(const struct told *told, unsigned part)
{
    return (told->testbed->plan.without & part) != 0;
}

typedef void take_row(struct told *told, struct lb_session *session, size_t row, uint32_t task);

static int ask_of(struct told *told, struct lb_session *session, struct lb_prepared *prepared,
                  const char *sql, const struct lb_value *params, size_t n_params, take_row *take,
                  uint32_t task, struct lb_error *err)
{
    struct lb_step step = {
        .kind = LB_STEP_EXECUTE, .sql = sql, .params = params, .n_params = n_params};
    struct lb_rows rows = {0};
    const struct lb_gate *gate = session->gate;
    session->gate = NULL;
    if (session->db->set_aside != NULL) /* the task has not read it yet */
        session->db->set_aside(session->conn);
    int r = lb_session_execute(session, prepared, &step, sql, &rows, err);
    session->gate = gate;
    if (r > LB_OK)
        r = lb_fail(err, LB_E_ENV, "the state cannot be told: %s", session->message);
    for (size_t row = 0; r == 0 && row < rows.n_rows; row++)
        take(told, session, row, task);
    if (session->db->take_back != NULL && session->conn != NULL)
        session->db->take_back(session->conn);
    return r;
}

static int ask(struct told *told, struct lb_session *session, struct lb_prepared *prepared,
               const char *sql, take_row *take, uint32_t task, struct lb_error *err)
{
    return ask_of(told, session, prepared, sql, NULL, 0, take, task, err);
}

static int64_t number_at(struct lb_session *session, size_t row, size_t column)
{
    struct lb_value value = session->db->value(session->conn, row, column);
    int64_t number = 0;
    lb_value_int(&value, &number);
    return number;
}

static char *text_at(struct lb_session *session, size_t row, size_t column)
{
    struct lb_value value = session->db->value(session->conn, row, column);
    return value.type == LB_TEXT ? strndup(value.text, value.length) : strdup("");
}

static void take_own(struct told *told, struct lb_session *session, size_t row, uint32_t task)
{
    char *text = text_at(session, row, 1);
    int64_t table = number_at(session, row, 0);
    if (text != NULL && table < 0)
        snprintf(told->xid[task], sizeof told->xid[task], "%s", text);
    else if (text != NULL && !is_left_out(told, LB_WITHOUT_OWN))
        fprintf(told->out, "own %u %lld:%s\n", task, (long long)table, text);
    told->is_vague = told->is_vague || text == NULL;
    free(text);
}

/* Whose transaction has locked, changed or deleted the row: chr(1), its number, chr(2). */
static void tell_owner(struct told *told, const char *xid, size_t n)
{
    for (uint32_t i = 0; i < LB_MAX_WORKERS && !is_left_out(told, LB_WITHOUT_HOLDERS); i++)
        if (n > 0 && strlen(told->xid[i]) == n && memcmp(told->xid[i], xid, n) == 0)
            fprintf(told->out, "by %u", i);
}

static void take_committed(struct told *told, struct lb_session *session, size_t row,
                           uint32_t unused)
{
    char *text = text_at(session, row, 1);
    (void)unused;
    fprintf(told->out, "table %lld:", (long long)number_at(session, row, 0));
    told->is_vague = told->is_vague || text == NULL || lb_states_tie(text, told->now_ms);
    for (const char *p = text; p != NULL && *p != '\0'; p++) {
        const char *end = *p == '\x01' ? strchr(p, '\x02') : NULL;
        if (end == NULL) {
            if (!is_left_out(told, LB_WITHOUT_ROWS))
                fputc(*p, told->out);
            continue;
        }
        tell_owner(told, p + 1, (size_t)(end - p - 1));
        p = end;
    }
    fputc('\n', told->out);
    free(text);
}

static void take_sequence_value(struct told *told, struct lb_session *session, size_t row,
                                uint32_t unused)
{
    char *name = text_at(session, row, 0), *value = text_at(session, row, 1);
    (void)unused;
    fprintf(told->out, "sequence %s %s\n", name != NULL ? name : "?", value != NULL ? value : "?");
    free(name);
    free(value);
}

static void take_lock(struct told *told, struct lb_session *session, size_t row, uint32_t unused)
{
    const struct lb_testbed *testbed = told->testbed;
    int64_t pid = number_at(session, row, 0);
    char *mode = text_at(session, row, 4);
    (void)unused;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        if (testbed->tasks[i].session_id != pid)
            continue;
        bool has_room = told->n_locks < sizeof told->locks / sizeof told->locks[0];
        if (mode == NULL || strcmp(mode, "ExclusiveLock") != 0 || !has_room) {
            told->is_vague = true;
            continue;
        }
        told->locks[told->n_locks].task = i;
        told->locks[told->n_locks].class = number_at(session, row, 1);
        told->locks[told->n_locks].object = number_at(session, row, 2);
        told->locks[told->n_locks++].kind = number_at(session, row, 3);
    }
    free(mode);
}

static void take_count(struct told *told, struct lb_session *session, size_t row, uint32_t lock)
{
    told->locks[lock].n = (uint32_t)number_at(session, row, 0);
}

/* How often the session has the lock nothing tells: it is given back until there is none, and taken
 * again as often, while everybody stands. What its transaction has is not given back by that. */
#define COUNT_LOCK(key)                                                                            \
    "WITH RECURSIVE back AS (SELECT pg_advisory_unlock(" key ") AS had UNION ALL SELECT "          \
    "pg_advisory_unlock(" key ") FROM back WHERE had) SELECT n, (SELECT "                          \
    "count(pg_advisory_lock(" key ")::text) FROM generate_series(1, n)) FROM (SELECT count(*) AS " \
    "n FROM back WHERE had) AS held"

static int count_lock(struct told *told, size_t i, struct lb_error *err)
{
    static const char by_one[] = COUNT_LOCK("$1::bigint"),
                      by_two[] = COUNT_LOCK("$1::int, $2::int");
    struct lb_states *states = &told->testbed->states;
    uint32_t number = told->locks[i].task;
    struct lb_session *session = &told->testbed->tasks[number].session;
    int64_t class = told->locks[i].class, object = told->locks[i].object;
    if (told->locks[i].kind == 1) {
        struct lb_value key = lb_int((int64_t)((uint64_t) class << 32 | (uint64_t)object));
        return ask_of(told, session, &states->by_one[number], by_one, &key, 1, take_count,
                      (uint32_t)i, err);
    }
    struct lb_value keys[] = {lb_int((int32_t) class), lb_int((int32_t)object)};
    return ask_of(told, session, &states->by_two[number], by_two, keys, 2, take_count, (uint32_t)i,
                  err);
}

static int tell_locks(struct told *told, struct lb_error *err)
{
    struct lb_testbed *testbed = told->testbed;
    if (!testbed->used_advisory || is_left_out(told, LB_WITHOUT_ADVISORY))
        return 0;
    int r = ask(told, &testbed->control, &testbed->states.locks, locks_sql, take_lock, 0, err);
    for (size_t i = 0; r == 0 && i < told->n_locks; i++) {
        const struct lb_task *task = &testbed->tasks[told->locks[i].task];
        if (task->session.in_tx && task->tx_failed)
            told->is_vague = true;
        else
            r = count_lock(told, i, err);
        fprintf(told->out, "lock %u %lld %lld %lld %u\n", told->locks[i].task,
                (long long)told->locks[i].class, (long long)told->locks[i].object,
                (long long)told->locks[i].kind, told->locks[i].n);
    }
    return r;
}

static int tell_database(struct told *told, struct lb_error *err)
{
    struct lb_testbed *testbed = told->testbed;
    struct lb_states *states = &testbed->states;
    int r = 0;
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++) {
        struct lb_task *task = &testbed->tasks[i];
        if (task->session.in_tx && !task->tx_failed)
            r = ask(told, &task->session, &states->own[i], states->own_sql, take_own, i, err);
    }
    if (r == 0)
        r = ask(told, &testbed->control, &states->committed, states->committed_sql, take_committed,
                0, err);
    if (r == 0 && states->sequences_sql != NULL && !is_left_out(told, LB_WITHOUT_SEQUENCES))
        r = ask(told, &testbed->control, &states->sequences, states->sequences_sql,
                take_sequence_value, 0, err);
    return r == 0 ? tell_locks(told, err) : r;
}

/* --- the tasks --- */

/* Who of the others has moved since the task's try began, in tries that are over, and in those
 * that are not: see testbed.c's take_refusal. */
static void tell_others(struct told *told, const struct lb_task *task)
{
    const struct lb_testbed *testbed = told->testbed;
    unsigned over[LB_MAX_WORKERS] = {0}, under_way[LB_MAX_WORKERS] = {0};
    for (size_t i = task->try_first; i < testbed->n_moves; i++) {
        int other = lb_move_worker(testbed->moves[i]);
        if (other < 0 || (uint32_t)other == task->number || testbed->idle[i])
            continue;
        const struct lb_task *it = &testbed->tasks[other];
        if (it->try_moves > 0 && i >= it->try_first)
            under_way[other] = 1;
        else
            over[other] = 1;
    }
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        fprintf(told->out, " %u%u", over[i], under_way[i]);
}

static void tell_memory(struct told *told, const struct lb_bag *bag)
{
    for (size_t i = 0; bag != NULL && i < LB_SLOTS; i++) {
        const struct lb_value *value = &bag->value[i];
        if (value->type == LB_NULL)
            continue;
        fprintf(told->out, " %zu=", i);
        if (value->type == LB_INT)
            fprintf(told->out, "%lld", (long long)value->integer);
        else if (value->type == LB_TEXT)
            fprintf(told->out, "'%.*s'", (int)value->length, value->text);
        else
            fprintf(told->out, "%.17g", value->real);
    }
}

static void tell_task(struct told *told, const struct lb_task *task)
{
    FILE *out = told->out;
    fprintf(out, "task %u: %d %d %d %d%d%d%d%d%d %u %u %x %d\n", task->number, (int)task->state,
            task->next_kind, task->last_refusal, task->session.in_tx, task->tx_failed,
            task->tx_changed, task->gave_up, task->has_seen, task->in_script, task->n_refusals,
            task->tx_writes, task->tx_locks, (int)task->op.holds);
    fprintf(out, "claims %llx %llx %llu\n", (unsigned long long)task->claims,
            (unsigned long long)task->began, (unsigned long long)task->actor.runner.n_parted);
    if (task->story == NULL || task->story_n + LB_STORY_BYTES / 4 > LB_STORY_BYTES)
        told->is_vague = true;
    else
        fprintf(out, "%.*s\n", (int)task->story_n, task->story);
    if (task->state == LB_TASK_FINISHED)
        return;
    tell_memory(told, task->memory);
    if (task->try_moves > 0) {
        const struct lb_footprint *touched = &task->try_touched;
        fprintf(out, "\ntry %d %x %x %x", (int)task->trace, touched->reads, touched->writes,
                touched->commits);
        tell_others(told, task);
    }
    fputc('\n', out);
}

/* --- the state --- */

static bool can_be_told(const struct lb_testbed *testbed)
{
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        bool is_quiet = task->state == LB_TASK_STANDS || task->state == LB_TASK_FINISHED;
        if (!is_quiet || task->session.conn == NULL)
            return false;
    }
    return testbed->states.is_on;
}

int lb_testbed_state(void *arg, struct lb_state *ret, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    char *text = NULL;
    size_t size = 0;
    if (!can_be_told(testbed))
        return 0;
    struct told told = {.testbed = testbed, .now_ms = (uint64_t)lb_unix_ms()};
    told.out = open_memstream(&text, &size);
    if (told.out == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    int r = tell_database(&told, err);
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        tell_task(&told, task);
        if (task->state == LB_TASK_STANDS && task->try_moves > 0) {
            ret->is_trying |= 1u << i;
            ret->try_first[i] = task->try_first;
        }
    }
    lb_states_tell_history(testbed, told.out);
    if (fclose(told.out) != 0)
        r = r != 0 ? r : lb_fail(err, LB_E_MEMORY, "out of memory");
    if (r == 0 && !told.is_vague) {
        lb_states_digest(text, size, told.now_ms, ret->digest);
        ret->is_known = true;
    }
    free(text);
    return r;
}
