/* The gate of a player: where it stops, and what each step is counted as.
 *
 * A player that is let go may use that for one statement, commit or rollback. On the way there it
 * passes begin and the harness's own steps without stopping, so that an operation is invoked right
 * before its first statement, and a hold given up right before the first statement of its release:
 * of all the moments at which that could happen, this one leaves the fewest excuses.
 */
#include "stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- footprints of statements --- */

static enum lb_statement_kind kind_of(const struct lb_stage *stage, const char *sql,
                                      struct lb_footprint *ret)
{
    const struct lb_program *program = stage->program;
    if (lb_stage_has_programs(stage))
        return lb_stepped_footprint(sql, ret);
    for (size_t i = 0; i < program->n_statements; i++)
        if (program->statements[i].sql == sql) {
            *ret = stage->footprints[i];
            return stage->kinds[i];
        }
    return lb_footprint_of_sql(&stage->tables, sql, ret);
}

static bool begins_with(const char *sql, const char *word)
{
    return strncasecmp(sql, word, strlen(word)) == 0;
}

/* Can a statement that returned and changed nothing be taken for a read? Not an insert: it may have
 * drawn a number, and it looks at keys that are not committed yet. Not one that had to wait: it has
 * locked the row that it waited for before it found that it does not match any more. At
 * SERIALIZABLE what was looked for in vain is watched, too. */
static bool leaves_nothing(const struct lb_player *player, const struct lb_footprint *touched,
                           const char *sql)
{
    const struct lb_stage *stage = player->stage;
    return !player->has_waited && !stage->tables.scans_lock && !stage->tables.reads_lock &&
           touched->commits == 0 && !lb_footprint_locks_aside(sql) &&
           (touched->writes & LB_BIT_ADVISORY) == 0 && touched->writes != LB_TOUCHES_ALL &&
           (begins_with(sql, "update") || begins_with(sql, "delete") || begins_with(sql, "select"));
}

static void touch(struct lb_player *player, const struct lb_footprint *touched)
{
    lb_footprint_add(&player->touched, touched);
    lb_footprint_add(&player->try_touched, touched);
}

void lb_player_touch(struct lb_player *player, struct lb_footprint *touched)
{
    if (player->session.in_tx)
        player->tx_writes |= touched->writes & ~(touched->commits & LB_BIT_ADVISORY);
    else
        touched->commits |= touched->writes;
    touch(player, touched);
}

static void leave_trace(struct lb_player *player, enum lb_trace trace)
{
    if (player->trace < trace)
        player->trace = trace;
}

static bool found_something(const struct lb_rows *rows)
{
    return rows != NULL && (rows->n_rows > 0 || rows->n_changed > 0);
}

/* Rows were changed; within a transaction, so far only for itself. */
static void count_change(struct lb_player *player)
{
    player->tx_changed = player->session.in_tx;
    leave_trace(player, player->session.in_tx ? LB_TRACE_LOCKS : LB_TRACE_CHANGES);
}

/* What a refused statement leaves behind depends on the engine. */
static void refused_statement(struct lb_player *player, const struct lb_step *step, int answer,
                              struct lb_footprint *touched)
{
    const struct lb_tables *tables = &player->stage->tables;
    if (tables->one_writer) {
        touched->reads |= LB_BIT_WRITER; /* who has the write lock is what it was refused for */
        touched->writes = player->tx_writes & LB_BIT_WRITER;
    } else if (!tables->scans_lock || answer == LB_DEADLOCK) {
        /* The transaction is rolled back: what it had locked is free. */
        touched->commits |= player->tx_writes;
        player->tx_writes = player->tx_locks = 0;
        player->tx_changed = false;
        if (!begins_with(step->sql, "insert"))
            touched->writes = 0;
    }
}

/* Which items the claim will end with, as far as its answers say. */
static void note_claims(struct lb_player *player, const struct lb_step *step,
                        const struct lb_rows *rows)
{
    const struct lb_session *session = &player->session;
    if (rows == NULL || step->section == NULL || strcmp(step->section, "claim") != 0)
        return;
    for (size_t column = 0; column < rows->n_columns; column++)
        for (size_t row = 0; row < rows->n_rows; row++) {
            struct lb_value value = session->db->value(session->conn, row, column);
            int64_t id;
            if (strcmp(session->db->column(session->conn, column), "id") == 0 &&
                lb_value_int(&value, &id))
                player->claims |= lb_object_of(player->stage, (uint64_t)id);
        }
}

static void count_execute(struct lb_player *player, const struct lb_step *step, int answer,
                          const struct lb_rows *rows)
{
    struct lb_stage *stage = player->stage;
    struct lb_footprint touched;
    bool is_write = kind_of(stage, step->sql, &touched) == LB_WRITE;
    if (player->tx_keeps_snapshot) /* which may be taken here, for whatever is read later */
        touched.reads |= LB_ALL_TABLES;
    if (answer == LB_OK && is_write && !found_something(rows) &&
        leaves_nothing(player, &touched, step->sql))
        touched.writes = 0;
    bool is_told = lb_player_tell_statement(player, step, answer, rows, &touched);
    note_claims(player, step, rows);
    player->may_free = player->may_free || answer != LB_OK || touched.commits != 0;
    player->tx_failed = player->tx_failed || answer != LB_OK;
    if (answer != LB_OK)
        refused_statement(player, step, answer, &touched);
    else if (touched.writes == LB_TOUCHES_ALL || (is_write && rows != NULL && rows->n_changed > 0))
        count_change(player);
    else if (touched.writes != 0)
        leave_trace(player, LB_TRACE_LOCKS);
    bool has_drawn = (answer != LB_OK && !touched.numbers) || found_something(rows);
    if ((touched.commits & LB_BIT_SEQUENCES) != 0 && has_drawn)
        leave_trace(player, LB_TRACE_CHANGES); /* no rollback takes a number back */
    if (player->session.in_tx && answer == LB_OK && touched.queues)
        player->tx_locks |= touched.writes;
    if (is_told)
        lb_player_touch(player, &touched);
    else /* for the next gate: what it is will be told before */
        player->tx_writes |= touched.writes & ~LB_BIT_SEQUENCES;
}

static void count_end_of_tx(struct lb_player *player, enum lb_step_kind kind, int answer)
{
    struct lb_footprint touched = {.commits = player->tx_writes};
    if (answer == LB_OK && !player->tx_failed)
        lb_player_tell_end(player, &touched);
    if (player->stage->tables.reads_lock) /* of two that cannot both commit, the first one does */
        touched.reads = player->tx_writes;
    player->may_free = true;
    touch(player, &touched);
    if (kind == LB_STEP_COMMIT && answer == LB_OK && player->tx_changed)
        leave_trace(player, LB_TRACE_CHANGES);
    if (answer == LB_OK || answer == LB_LOST) {
        player->tx_writes = player->tx_locks = 0;
        player->tx_changed = false;
    }
}

static void count_begin(struct lb_player *player, int answer)
{
    struct lb_footprint touched = {0};
    if (answer != LB_OK)
        player->may_go = false; /* that was the move */
    player->tx_keeps_snapshot =
        answer == LB_OK && player->stage->keeps_snapshots && !player->tx_is_split;
    player->tx_is_one = player->tx_is_split;
    player->tx_failed = false;
    player->tx_is_split = false;
    if (player->stage->tables.one_writer) {
        if (answer == LB_OK) {
            player->tx_writes = touched.writes = LB_BIT_WRITER;
            leave_trace(player, LB_TRACE_LOCKS);
        }
        touched.reads = LB_BIT_WRITER;
    }
    struct lb_stage *stage = player->stage;
    if (answer == LB_OK && stage->clock != NULL)
        lb_stage_run_clock(stage, &player->session, stage->clock->begin, stage->clock_ms,
                           &player->error);
    touch(player, &touched);
}

/* --- acts --- */

static void append_value(char *text, size_t size, const struct lb_value *value)
{
    size_t n = strlen(text);
    switch (value->type) {
    case LB_INT:
        snprintf(text + n, size - n, "%lld", (long long)value->integer);
        break;
    case LB_REAL:
        snprintf(text + n, size - n, "%g", value->real);
        break;
    case LB_TEXT: /* quotes doubled, as SQL has it */
        n += (size_t)snprintf(text + n, size - n, "'");
        for (uint32_t i = 0; i < value->length && n + 3 < size; i++) {
            if (value->text[i] == '\'')
                text[n++] = '\'';
            text[n++] = value->text[i];
        }
        snprintf(text + n, size - n, "'");
        break;
    case LB_NULL:
    default:
        snprintf(text + n, size - n, "NULL");
        break;
    }
}

/* Parameters: one literal per line of text. */
char *lb_gate_describe_params(const struct lb_step *step)
{
    char text[2000] = "";
    for (size_t i = 0; i < step->n_params && strlen(text) + 2 < sizeof text; i++) {
        append_value(text, sizeof text - 2, &step->params[i]);
        strcat(text, "\n");
    }
    return strdup(text);
}

/* The rows: "id=1 payload='x'; id=2 ...". */
static char *describe_rows(const struct lb_player *player, const struct lb_rows *rows)
{
    enum { SHOWN = 4 };
    char text[600] = "";
    const struct lb_session *session = &player->session;
    for (size_t row = 0; row < rows->n_rows && row < SHOWN; row++)
        for (size_t column = 0; column < rows->n_columns; column++) {
            struct lb_value value = session->db->value(session->conn, row, column);
            size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, "%s%s=",
                     column > 0 ? " "
                     : row > 0  ? "; "
                                : "",
                     session->db->column(session->conn, column));
            append_value(text, sizeof text, &value);
        }
    return strdup(text);
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

/* The step under way: looked at when the player is blocked in it. */
static void set_pending(struct lb_player *player, const struct lb_step *step)
{
    char *params = player->stage->details && step->kind == LB_STEP_EXECUTE
                       ? lb_gate_describe_params(step)
                       : NULL;
    free(player->pending.params);
    player->pending = (struct lb_act){.player = (uint8_t)player->number,
                                      .kind = (uint8_t)step->kind,
                                      .sql = step->sql,
                                      .section = step->section,
                                      .params = params};
}

void lb_player_pending(const struct lb_player *player, struct lb_footprint *ret_touches,
                       struct lb_act *ret_act)
{
    *ret_act = player->pending;
    if (ret_act->params != NULL)
        ret_act->params = strdup(ret_act->params);
    *ret_touches = (struct lb_footprint){0};
    if (ret_act->kind == LB_STEP_EXECUTE)
        kind_of(player->stage, ret_act->sql, ret_touches);
    ret_act->was_blocked = true;
}

static void add_act(struct lb_player *player, const struct lb_step *step, int answer,
                    const struct lb_rows *rows)
{
    uint64_t digest = mix(player->digest, (uint64_t)step->kind * 64 + (uint64_t)(answer + 16));
    if (rows != NULL && step->kind == LB_STEP_EXECUTE)
        digest = mix(mix(digest, rows->n_rows), (uint64_t)rows->n_changed);
    player->digest = digest;
    player->n_executed += step->kind <= LB_STEP_ROLLBACK;
    if (!player->stage->details || player->n_acts == LB_ACTS_OF_MOVE)
        return;
    struct lb_act *act = &player->acts[player->n_acts++];
    *act = player->pending;
    player->pending.params = NULL;
    act->answer = (int8_t)answer;
    if (rows != NULL && step->kind == LB_STEP_EXECUTE) {
        act->n_rows = rows->n_rows;
        act->n_changed = rows->n_changed;
        act->rows = describe_rows(player, rows);
    }
}

void lb_player_note(struct lb_player *player, const char *format, ...)
{
    if (player->n_acts == 0)
        return;
    struct lb_act *last = &player->acts[player->n_acts - 1];
    va_list args;
    va_start(args, format);
    vsnprintf(last->note, sizeof last->note, format, args);
    va_end(args);
}

/* What the worker was told is part of what a test compares. */
static void tell_story(struct lb_player *player, const struct lb_step *step, int answer,
                       const struct lb_rows *rows)
{
    if (player->story == NULL || step->kind != LB_STEP_EXECUTE)
        return;
    char *told = rows != NULL && answer == LB_OK ? describe_rows(player, rows) : NULL;
    size_t left = LB_STORY_BYTES - player->story_n;
    int n = snprintf(player->story + player->story_n, left, " %s %s %lld(%s)", step->section,
                     lb_answer_name(answer),
                     (long long)(rows != NULL && answer == LB_OK ? rows->n_changed : 0),
                     told != NULL ? told : "");
    player->story_n += n > 0 && (size_t)n < left ? (size_t)n : 0;
    free(told);
}

static void forget(struct lb_act *acts, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        free(acts[i].params);
        free(acts[i].rows);
    }
    *n = 0;
}

void lb_stage_take_acts(struct lb_stage *stage, struct lb_player *player, bool is_late)
{
    for (size_t i = 0; i < player->n_acts; i++) {
        player->acts[i].move = (uint16_t)stage->n_moves;
        player->acts[i].is_late = is_late;
    }
    if (stage->n_acts + player->n_acts <= LB_MAX_ACTS) {
        memcpy(stage->acts + stage->n_acts, player->acts, player->n_acts * sizeof *player->acts);
        stage->n_acts += player->n_acts;
        player->n_acts = 0;
    }
    forget(player->acts, &player->n_acts);
}

void lb_stage_forget_acts(struct lb_stage *stage)
{
    forget(stage->acts, &stage->n_acts);
    for (uint32_t i = 0; i < stage->n_players; i++)
        forget(stage->players[i].acts, &stage->players[i].n_acts);
}

/* --- stopping --- */

void lb_player_stand(struct lb_player *player)
{
    player->stands = true;
    lb_carrier_stand();
}

static int stop(struct lb_player *player, struct lb_error *err)
{
    lb_player_stand(player);
    return player->give_up ? lb_fail(err, LB_E_INTERRUPTED, "the schedule ends here") : 0;
}

/* The end of a transaction that others cannot tell from its last statement. */
static bool passes_unseen(const struct lb_player *player, enum lb_step_kind kind)
{
    if (player->stage->unreduced || player->stage->tables.reads_lock)
        return false;
    if (kind != LB_STEP_COMMIT && kind != LB_STEP_ROLLBACK)
        return false;
    return (player->tx_writes & ~LB_BIT_WRITER) == 0;
}

/* The server commits, and the connection is cut before the answer comes. Whatever the server says,
 * the worker is not told. What the session has beyond the transaction is given back before others
 * go on: when a server notices the end of a connection is its own affair. */
static int lose_answer(struct lb_player *player, struct lb_error *err)
{
    const struct lb_stage *stage = player->stage;
    struct lb_conn *conn = player->session.conn;
    const char *sql = lb_exploring(stage->db)->session;
    player->is_cut = false;
    player->is_lost = true;
    int r = stage->db->commit(conn, err);
    if (r > LB_OK)
        r = stage->db->rollback(conn, err);
    if (r == LB_OK && sql != NULL && stage->used_advisory)
        r = stage->db->run(conn, sql, err);
    return r < 0 ? r : LB_LOST;
}

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_player *player = arg;
    player->next_kind = (int)step->kind;
    bool consumes = step->kind == LB_STEP_EXECUTE || step->kind == LB_STEP_COMMIT ||
                    step->kind == LB_STEP_ROLLBACK;
    if (!player->stage->is_open || !player->in_script)
        return 0;
    if (player->give_up)
        return lb_fail(err, LB_E_INTERRUPTED, "the schedule ends here");
    if (!player->may_go) {
        bool passes = (step->kind == LB_STEP_ENTER && !player->stage->unreduced) ||
                      passes_unseen(player, step->kind);
        int r = passes ? 0 : stop(player, err);
        if (r != 0)
            return r;
    }
    if (consumes || (player->stage->unreduced && step->kind != LB_STEP_POLL))
        player->may_go = false;
    set_pending(player, step);
    if (step->kind == LB_STEP_COMMIT && player->is_cut)
        return lose_answer(player, err);
    const struct lb_stage *stage = player->stage;
    if (step->kind == LB_STEP_EXECUTE && stage->clock != NULL && stage->clock_ms > 0)
        return lb_stage_run_clock(player->stage, &player->session, stage->clock->statement,
                                  stage->clock_ms, err);
    return 0;
}

static const char *rewrite(void *arg, const char *native)
{
    const struct lb_player *player = arg;
    return lb_stage_native(player->stage, native);
}

static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    struct lb_player *player = arg;
    if (!player->stage->is_open || !player->in_script)
        return;
    switch (step->kind) {
    case LB_STEP_EXECUTE:
        count_execute(player, step, answer, rows);
        break;
    case LB_STEP_BEGIN:
        count_begin(player, answer);
        break;
    case LB_STEP_COMMIT:
    case LB_STEP_ROLLBACK:
        count_end_of_tx(player, step->kind, answer);
        break;
    case LB_STEP_ENTER:
    case LB_STEP_LEAVE:
    case LB_STEP_POLL:
    default:
        break;
    }
    /* In which order several are found, or locked, depends on where they stand. */
    if (rows != NULL && step->kind == LB_STEP_EXECUTE && (rows->n_rows > 1 || rows->n_changed > 1))
        player->stage->states.is_on = false;
    add_act(player, step, answer, rows);
    tell_story(player, step, answer, rows);
}

/* Is the autocommitted statement run as begin, execute, commit? Plain reads are not: nobody can
 * come between their execution and their end. */
static bool splits(void *arg, const struct lb_step *step)
{
    struct lb_player *player = arg;
    struct lb_footprint ignored;
    player->tx_is_split = player->in_script && player->stage->is_open &&
                          kind_of(player->stage, step->sql, &ignored) == LB_WRITE;
    return player->tx_is_split;
}

void lb_gate_of_stage(struct lb_gate *gate)
{
    *gate = (struct lb_gate){.before = before,
                             .after = after,
                             .split_autocommit = true,
                             .splits = splits,
                             .rewrite = rewrite};
}

/* --- tries --- */

int lb_player_begin_try(struct lb_player *player, enum lb_step_kind kind, struct lb_error *err)
{
    player->trace = LB_TRACE_NOTHING;
    player->story_try = player->story_n;
    player->claims = 0;
    player->try_moves = player->may_go ? 1 : 0;
    player->try_touched = (struct lb_footprint){0};
    return lb_session_pass(&player->session, kind, err);
}

/* Has the refused try left a lock with the session? What no engine can be asked is taken for left
 * if it was not the try's only statement. */
static bool keeps_session_locks(struct lb_player *player)
{
    struct lb_session *session = &player->session;
    const char *sql = lb_exploring(session->db)->has_locks;
    if ((player->try_touched.commits & LB_BIT_ADVISORY) == 0 || session->conn == NULL)
        return false;
    if (lb_stage_has_programs(player->stage))
        return lb_stepped_keeps_locks(player);
    if (sql == NULL)
        return player->try_moves > 1;
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql};
    struct lb_rows rows = {0};
    session->gate = NULL;
    int r = lb_session_execute(session, &player->has_locks, &step, sql, &rows, &player->error);
    session->gate = &player->stage->gate;
    return r != LB_OK || rows.n_rows > 0;
}

bool lb_player_retries(struct lb_player *player, int answer, bool learned)
{
    if (answer <= LB_OK || answer == LB_LOST)
        return false;
    player->last_refusal = answer;
    player->has_seen = !learned && player->try_first >= player->stage->n_before_leases;
    player->story_n = player->story_try;
    if (player->session.in_tx || learned || keeps_session_locks(player))
        leave_trace(player, LB_TRACE_CHANGES);
    player->refused = (struct lb_refused){.is_refused = true,
                                          .is_own = true,
                                          .first = player->try_first,
                                          .trace = player->trace,
                                          .touched = player->try_touched};
    return true;
}
