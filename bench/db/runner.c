/* Running the sections of a program on one session.
 *
 * The hot path: copy the parameters from the bag, execute, copy the wanted columns back. Which
 * column goes to which slot is looked up by name once per prepared statement. Nothing is allocated
 * or formatted per execution.
 */
#include "program_raw.h"

#include "carrier.h"
#include "clock.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAPPED = LB_SLOTS };

struct lb_runner_statement {
    struct lb_prepared prepared;
    size_t n_columns; /* of the result that the map was made for; 0: not made yet */
    int granted;      /* the column of that name; -1: none */
    int left;         /* left_ms */
    bool has_id;
    size_t n_mapped;
    struct {
        uint16_t column;
        uint16_t slot;
    } map[MAPPED];
};

/* --- bags --- */

void lb_bag_init(struct lb_bag *bag, const struct lb_program *program)
{
    memcpy(bag->value, program->defaults, sizeof bag->value);
    bag->used = 0;
}

static bool is_own_text(const struct lb_bag *bag, const struct lb_value *value)
{
    return value->type == LB_TEXT && value->text >= bag->text &&
           value->text < bag->text + sizeof bag->text;
}

bool lb_bag_set(struct lb_bag *bag, size_t slot, const struct lb_value *value)
{
    struct lb_value *into = &bag->value[slot];
    if (value->type != LB_TEXT) {
        *into = *value;
        return true;
    }
    size_t left = sizeof bag->text - bag->used;
    uint32_t length = value->length;
    char *room = bag->text + bag->used;
    /* Texts at or above `used` are those of an abandoned row: their place is taken anew. */
    if (is_own_text(bag, into) && into->length >= length &&
        into->text + length <= bag->text + bag->used) {
        room = bag->text + (into->text - bag->text);
    } else {
        if (length > left)
            length = (uint32_t)left;
        bag->used += length;
    }
    memcpy(room, value->text, length);
    *into = lb_text(room, length);
    return length == value->length;
}

void lb_bag_copy(struct lb_bag *into, const struct lb_bag *from)
{
    memcpy(into->value, from->value, sizeof into->value);
    memcpy(into->text, from->text, from->used);
    into->used = from->used;
    for (size_t i = 0; i < LB_SLOTS; i++)
        if (is_own_text(from, &from->value[i]))
            into->value[i].text = into->text + (from->value[i].text - from->text);
}

/* --- life --- */

int lb_runner_init(struct lb_runner *runner, const struct lb_program *program,
                   struct lb_session *session, struct lb_error *err)
{
    (void)err;
    runner->program = program;
    runner->ahead = 0;
    runner->session = session;
    runner->statements = lb_calloc(program->n_statements + 1, sizeof *runner->statements);
    return 0;
}

void lb_runner_release(struct lb_runner *runner)
{
    free(runner->statements);
    runner->statements = NULL;
}

int lb_runner_prepare(struct lb_runner *runner, struct lb_error *err)
{
    const struct lb_program *program = runner->program;
    struct lb_session *session = runner->session;
    for (int i = 0; i < LB_SECTIONS; i++) {
        const struct lb_section *section = &program->sections[i];
        if (lb_section_is_schema((enum lb_section_name)i))
            continue; /* those are run once, and not prepared */
        for (size_t k = 0; k < section->n_statements; k++) {
            const struct lb_statement *statement = &section->statements[k];
            struct lb_stmt *stmt = NULL;
            int r = session->db->prepare(session->conn, statement->native, statement->n_params,
                                         statement->param_type, &stmt, err);
            if (r > 0)
                r = lb_fail(err, LB_E_SQL, "%s: %s", lb_answer_name(r),
                            lb_conn_head(session->conn)->message);
            if (r < 0)
                return lb_fail_prefix(err, "%s:%d", program->origin, statement->line);
        }
    }
    return 0;
}

/* --- one statement --- */

static void map_columns(const struct lb_runner *runner, struct lb_runner_statement *state,
                        size_t n_columns)
{
    const struct lb_program *program = runner->program;
    const struct lb_session *session = runner->session;
    const uint32_t always = 1u << LB_SLOT_ID | 1u << LB_SLOT_TOKEN | 1u << LB_SLOT_TICKET;
    state->n_columns = n_columns;
    state->n_mapped = 0;
    state->granted = state->left = -1;
    state->has_id = false;
    for (size_t i = 0; i < n_columns && i < UINT16_MAX; i++) {
        const char *name = session->db->column(session->used, i);
        int slot = lb_program_slot(program, name);
        if (strcasecmp(name, "granted") == 0)
            state->granted = (int)i;
        if (strcasecmp(name, "left_ms") == 0)
            state->left = (int)i;
        state->has_id = state->has_id || slot == LB_SLOT_ID;
        if (slot < 0 || ((program->carries | always) & UINT64_C(1) << slot) == 0)
            continue;
        if (state->n_mapped < MAPPED) {
            state->map[state->n_mapped].column = (uint16_t)i;
            state->map[state->n_mapped++].slot = (uint16_t)slot;
        }
    }
}

static bool is_granted(const struct lb_value *value)
{
    switch (value->type) {
    case LB_INT:
        return value->integer != 0;
    case LB_REAL:
        return value->real != 0;
    case LB_TEXT:
        return value->length > 0 && strchr("tTyY123456789", value->text[0]) != NULL;
    case LB_NULL:
    default:
        return false;
    }
}

/* left_ms: a number, which may have decimals. NULL: nothing is said. */
static int take_left(const struct lb_value *value, bool *ret_is_over, struct lb_error *err)
{
    char text[64], *end = text;
    double left_ms = value->type == LB_INT ? (double)value->integer : value->real;
    *ret_is_over = false;
    if (value->type == LB_NULL)
        return 0;
    if (value->type == LB_TEXT) {
        snprintf(text, sizeof text, "%.*s", (int)value->length, value->text);
        left_ms = strtod(text, &end);
        if (end == text || *end != '\0' || value->length >= sizeof text)
            return lb_fail(err, LB_E_SQL,
                           "column left_ms is '%s'; it has to be a number of milliseconds", text);
    }
    *ret_is_over = !(left_ms > 0);
    return 0;
}

static int fill_bag(const struct lb_runner *runner, const struct lb_runner_statement *state,
                    size_t row, struct lb_bag *bag, struct lb_error *err)
{
    const struct lb_session *session = runner->session;
    for (size_t i = 0; i < state->n_mapped; i++) {
        struct lb_value value = session->db->value(session->used, row, state->map[i].column);
        if (!lb_bag_set(bag, state->map[i].slot, &value))
            return lb_fail(err, LB_E_FILE,
                           "column %s: %u bytes do not fit; the texts that a row carries to later "
                           "statements may have %zu bytes together",
                           runner->program->slot_name[state->map[i].slot], value.length,
                           sizeof bag->text);
    }
    return 0;
}

/* What a section's run has come to so far. */
struct progress {
    struct lb_section_result *result;
    struct lb_bag *bag;
    void (*each_row)(void *arg, const struct lb_bag *bag);
    void *arg;
    bool found;   /* the statement, up to the answering one, returned or changed a row */
    bool decided; /* the same of the last one without a condition */
    enum lb_on_error on_error; /* of the refused statement */
    bool seen_id;              /* a statement returned a candidate item */
    bool has_kept;             /* a statement changed something, and its transaction is over */
    bool is_plain;             /* set-up: statements without parameters are not prepared */
};

static int execute_plain(struct lb_runner *runner, const struct lb_statement *statement,
                         struct progress *progress, struct lb_error *err)
{
    struct lb_session *session = runner->session;
    if (session->conn == NULL)
        return LB_LOST;
    progress->found = true;
    return session->db->run(session->conn, lb_session_native(session, statement->native), err);
}

static bool is_skipped(const struct lb_statement *statement, bool decided)
{
    return statement->when == LB_WHEN_ROW      ? !decided
           : statement->when == LB_WHEN_NO_ROW ? decided
                                               : false;
}

/* Does the statement at index answer, as none behind it will that may? */
static bool answers(const struct lb_section *section, size_t index, const struct progress *progress)
{
    bool is_plain = section->statements[index].when == LB_WHEN_ALWAYS;
    bool decided = is_plain ? progress->found : progress->decided;
    if (index > section->answer)
        return false;
    for (size_t i = index + 1; i <= section->answer; i++)
        if (!is_skipped(&section->statements[i], decided))
            return false;
    return true;
}

static int take_rows(struct lb_runner *runner, const struct lb_section *section, size_t index,
                     struct lb_runner_statement *state, const struct lb_rows *rows,
                     struct progress *progress, struct lb_error *err)
{
    const struct lb_session *session = runner->session;
    struct lb_section_result *result = progress->result;
    bool had_id = progress->seen_id;
    if (rows->n_changed > 0)
        result->n_changed = rows->n_changed;
    if (rows->n_columns > 0 && state->n_columns != rows->n_columns)
        map_columns(runner, state, rows->n_columns);
    progress->found = rows->n_columns > 0 ? rows->n_rows > 0 : rows->n_changed > 0;
    if (rows->n_rows > 0 && state->granted >= 0) {
        struct lb_value value = session->db->value(session->used, 0, (size_t)state->granted);
        progress->found = is_granted(&value);
        result->contended = !progress->found;
    }
    bool is_answer = answers(section, index, progress);
    if (is_answer)
        result->n_answered = rows->n_columns > 0 ? (int64_t)rows->n_rows : rows->n_changed;
    if (rows->n_rows == 0) {
        result->contended = had_id;
        return 0;
    }
    if (state->left >= 0) {
        struct lb_value value = session->db->value(session->used, 0, (size_t)state->left);
        int r = take_left(&value, &result->is_over, err);
        if (r != 0)
            return r;
    }
    progress->seen_id = progress->seen_id || state->has_id;
    size_t used = progress->bag->used;
    size_t n_rows = is_answer && progress->each_row != NULL && progress->found ? rows->n_rows : 1;
    for (size_t i = 0; i < n_rows; i++) {
        progress->bag->used = used; /* each row's texts take the place of the one before */
        int r = fill_bag(runner, state, i, progress->bag, err);
        if (r != 0)
            return r;
        if (is_answer && progress->each_row != NULL && progress->found)
            progress->each_row(progress->arg, progress->bag);
    }
    return 0;
}

static struct lb_runner_statement *state_of(const struct lb_runner *runner,
                                            const struct lb_statement *statement)
{
    return &runner->statements[statement - runner->program->statements];
}

/* params: room for LB_PARAMS, which lives as long as the step. */
static struct lb_step step_of(enum lb_section_name name, const struct lb_statement *statement,
                              const struct lb_bag *bag, struct lb_value *params)
{
    for (size_t i = 0; i < statement->n_params; i++)
        params[i] = bag->value[statement->param_slot[i]];
    return (struct lb_step){.kind = LB_STEP_EXECUTE,
                            .sql = statement->sql,
                            .section = lb_section_text(name),
                            .params = params,
                            .n_params = statement->n_params,
                            .on_replica = statement->on_replica};
}

static int run_statement(struct lb_runner *runner, enum lb_section_name name, size_t index,
                         struct progress *progress, struct lb_error *err)
{
    const struct lb_section *section = &runner->program->sections[name];
    const struct lb_statement *statement = &section->statements[index];
    if (progress->is_plain && statement->n_params == 0)
        return execute_plain(runner, statement, progress, err);
    struct lb_runner_statement *state = state_of(runner, statement);
    struct lb_value params[LB_PARAMS];
    struct lb_rows rows = {0};
    struct lb_step step = step_of(name, statement, progress->bag, params);
    int r =
        lb_session_execute(runner->session, &state->prepared, &step, statement->native, &rows, err);
    if (r != LB_OK)
        return r;
    progress->has_kept = progress->has_kept || (rows.n_changed > 0 && !runner->session->in_tx);
    return take_rows(runner, section, index, state, &rows, progress, err);
}

/* --- sections --- */

/* Anything from nothing to twice the mean: with a pause of one length, transactions would end in
 * the order in which they began, which a pause must disturb. */
static void pause_about(struct lb_runner *runner)
{
    lb_carrier_sleep(lb_now_ns() + lb_random_below(&runner->random, 2 * runner->tx_pause_ns + 1));
}

static bool may_pause(enum lb_section_name name)
{
    return name == LB_S_ENQUEUE || name == LB_S_PUT || name == LB_S_CLAIM;
}

/* The engine refused the statement in this line: reports can name it. */
static void note_place(struct lb_runner *runner, int line)
{
    runner->session->refused_file = runner->program->origin;
    runner->session->refused_line = line;
}

/* Up to the statement that answers. */
static int run_to_answer(struct lb_runner *runner, enum lb_section_name name,
                         struct progress *progress, struct lb_error *err)
{
    const struct lb_section *section = &runner->program->sections[name];
    progress->found = true; /* a section without statements is done by its commit */
    for (size_t i = 0; i < section->n_statements && i <= section->answer; i++) {
        const struct lb_statement *statement = &section->statements[i];
        if (is_skipped(statement, progress->decided))
            continue;
        int r = run_statement(runner, name, i, progress, err);
        if (r < 0)
            return lb_fail_prefix(err, "%s:%d", runner->program->origin,
                                  section->statements[i].line);
        if (r > 0) {
            note_place(runner, statement->line);
            progress->result->by_engine = true;
            progress->on_error = statement->on_error;
            return r;
        }
        if (statement->when == LB_WHEN_ALWAYS)
            progress->decided = progress->found;
        if (statement->require_row && !progress->found)
            return LB_BUSY;
    }
    return progress->found || lb_section_is(name, LB_SECTION_NEEDS_NO_ROW) ? LB_OK : LB_BUSY;
}

/* The statements behind the one that answers: UNLOCK TABLES and the like. They run whatever it
 * answered, unless the transaction is lost anyway; their rows mean nothing. */
static int clean_up(struct lb_runner *runner, enum lb_section_name name, struct progress *progress,
                    int answer, struct lb_error *err)
{
    struct lb_section_result kept = *progress->result;
    struct lb_error later;
    const struct lb_section *section = &runner->program->sections[name];
    bool lost = answer == LB_LOST || ((answer < 0 || kept.by_engine) && runner->session->in_tx);
    for (size_t i = section->answer + 1; i < section->n_statements && !lost; i++) {
        if (is_skipped(&section->statements[i], progress->decided))
            continue;
        int r = run_statement(runner, name, i, progress, &later);
        lost = r == LB_LOST || (r != LB_OK && runner->session->in_tx);
        if (r == LB_OK && section->statements[i].when == LB_WHEN_ALWAYS)
            progress->decided = progress->found;
        if (answer < 0 || r == LB_OK)
            continue;
        answer = r;
        note_place(runner, section->statements[i].line);
        progress->on_error = section->statements[i].on_error;
        kept.by_engine = r > 0;
        if (r < 0) {
            *err = later;
            lb_fail_prefix(err, "%s:%d", runner->program->origin, section->statements[i].line);
        }
    }
    *progress->result = kept;
    return answer;
}

/* Ends the transaction that the answer r leaves behind. */
static int settle(struct lb_runner *runner, enum lb_section_name name, bool had_tx, bool ends_hold,
                  struct lb_section_result *result, int r, struct lb_error *err)
{
    struct lb_session *session = runner->session;
    const struct lb_section *section = &runner->program->sections[name];
    struct lb_error ignored;
    if (!session->in_tx)
        return r;
    /* An absent row says nothing against what the hold has done so far: it is committed. */
    bool absent = r == LB_BUSY && !result->by_engine;
    bool keep = r == LB_OK || (absent && (had_tx || section->commits_always));
    if (!keep) {
        lb_session_rollback(session, &ignored);
        return r;
    }
    if (had_tx ? !ends_hold : section->tx == LB_TX_HOLD)
        return r;
    if (runner->tx_pause_ns > 0 && may_pause(name))
        pause_about(runner);
    int committed = lb_session_commit(session, err);
    if (committed == LB_OK)
        return r;
    note_place(runner, section->line);
    result->by_engine = true;
    if (session->in_tx)
        lb_session_rollback(session, &ignored);
    return committed;
}

/* Once for each connection, and as far as the server can: a statement that it rejects now is
 * prepared when it is first executed, and the error is reported then. */
static void prepare_ahead(struct lb_runner *runner)
{
    const struct lb_program *program = runner->program;
    struct lb_session *session = runner->session;
    if (session->db->prepares_ahead == NULL || session->gate != NULL || session->conn == NULL ||
        runner->ahead == session->generation + 1 || !session->db->prepares_ahead(session->conn))
        return;
    runner->ahead = session->generation + 1; /* 0: on none */
    for (size_t i = 0; i < program->n_statements && !lb_conn_head(session->conn)->lost; i++) {
        const struct lb_statement *statement = &program->statements[i];
        struct lb_prepared *prepared = &runner->statements[i].prepared;
        struct lb_error ignored;
        bool is_new = !statement->on_replica &&
                      (prepared->stmt == NULL || prepared->generation != session->generation);
        if (is_new && session->db->prepare(session->conn, statement->native, statement->n_params,
                                           statement->param_type, &prepared->stmt, &ignored) == 0)
            prepared->generation = session->generation;
        else if (is_new)
            prepared->stmt = NULL;
    }
}

static bool is_contention(int answer)
{
    return answer == LB_BUSY || answer == LB_TIMEOUT || answer == LB_CONFLICT ||
           answer == LB_DEADLOCK || answer == LB_DUPLICATE;
}

static int run_once(struct lb_runner *runner, enum lb_section_name name, bool ends_hold,
                    struct progress *progress, struct lb_error *err)
{
    struct lb_session *session = runner->session;
    const struct lb_section *section = &runner->program->sections[name];
    bool had_tx = session->in_tx;
    unsigned n_retries = progress->result->n_retries;
    *progress->result = (struct lb_section_result){.n_retries = n_retries};
    progress->seen_id = progress->decided = progress->has_kept = false;
    progress->on_error = section->on_error;
    if (!had_tx && section->tx != LB_TX_EACH) {
        if (!progress->is_plain)
            prepare_ahead(runner);
        int r = lb_session_begin(session, section->begin, err);
        if (r != LB_OK) {
            note_place(runner, section->line);
            progress->result->by_engine = r > 0;
            return r;
        }
    }
    int r = run_to_answer(runner, name, progress, err);
    if (section->answer + 1 < section->n_statements)
        r = clean_up(runner, name, progress, r, err);
    r = settle(runner, name, had_tx, ends_hold, progress->result, r, err);
    bool is_half = progress->has_kept && progress->result->by_engine && is_contention(r);
    runner->n_halves += is_half;
    runner->n_parted += is_half && name == LB_S_CLAIM;
    return r;
}

/* `-- on-error:` of a code that the engine answered. A protocol may also refuse by a CHECK, or by
 * RAISE: busy says so. */
static int judge(struct lb_runner *runner, enum lb_section_name name, enum lb_on_error on_error,
                 int answer, struct lb_error *err)
{
    const struct lb_section *section = &runner->program->sections[name];
    if (on_error == LB_ON_ERROR_BUSY && (is_contention(answer) || answer == LB_OTHER))
        return LB_BUSY;
    if (on_error != LB_ON_ERROR_FAIL || !is_contention(answer))
        return answer;
    return lb_fail(err, LB_E_SQL, "%s:%d: section %s: on-error: fail: %s: %s",
                   runner->program->origin, section->line, lb_section_text(name),
                   lb_answer_name(answer), runner->session->message);
}

int lb_runner_section(struct lb_runner *runner, enum lb_section_name name, struct lb_bag *bag,
                      bool ends_hold, void (*each_row)(void *arg, const struct lb_bag *bag),
                      void *arg, struct lb_section_result *ret, struct lb_error *err)
{
    const struct lb_section *section = &runner->program->sections[name];
    if (!section->present)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no section %s", runner->program->origin,
                       lb_section_text(name));
    struct lb_section_result result = {0};
    struct progress progress = {.result = &result,
                                .bag = bag,
                                .each_row = each_row,
                                .arg = arg,
                                .is_plain = lb_section_is_schema(name)};
    /* A hold's failed transaction is gone with its locks: no second try. */
    bool can_retry = !runner->session->in_tx;
    int r = run_once(runner, name, ends_hold, &progress, err);
    while (can_retry && progress.on_error == LB_ON_ERROR_RETRY && result.by_engine &&
           is_contention(r) && result.n_retries < LB_RETRIES) {
        result.n_retries++;
        if (each_row != NULL)
            each_row(arg, NULL);
        r = run_once(runner, name, ends_hold, &progress, err);
    }
    if (result.by_engine)
        r = judge(runner, name, progress.on_error, r, err);
    if (r < 0)
        return r;
    *ret = result;
    return r;
}

/* --- pipelines --- */

const char *lb_section_unpiped(const struct lb_section *section)
{
    const struct lb_statement *first = section->statements;
    if (!section->present)
        return "is not there";
    if (section->n_statements == 0)
        return "has no statement";
    if (section->n_statements > 1)
        return "has several statements, and each waits for the answer to the one before";
    if (section->tx != LB_TX_EACH)
        return "has a transaction around its statement: its COMMIT waits for the answer";
    if (first->on_error == LB_ON_ERROR_RETRY)
        return "is tried again by itself (on-error: retry)";
    return first->on_replica ? "is for the replica" : NULL;
}

/* Receives the result of a sent section of one statement. */
static void receive(struct lb_runner *runner, struct lb_piped_section *piped,
                    const struct lb_step *step)
{
    const struct lb_section *section = &runner->program->sections[piped->name];
    const struct lb_statement *statement = section->statements;
    struct progress progress = {.result = &piped->result,
                                .bag = piped->bag,
                                .each_row = piped->each_row,
                                .arg = piped->arg};
    struct lb_rows rows = {0};
    struct lb_error *err = &piped->err;
    int r = lb_session_receive(runner->session, step, &rows, err);
    piped->end_ns = lb_now_ns();
    if (r == LB_OK) {
        r = take_rows(runner, section, 0, state_of(runner, statement), &rows, &progress, err);
        if (r == 0)
            r = progress.found || lb_section_is(piped->name, LB_SECTION_NEEDS_NO_ROW) ? LB_OK
                                                                                      : LB_BUSY;
    } else {
        piped->result.by_engine = r > 0;
    }
    piped->answer = r;
}

void lb_runner_pipeline(struct lb_runner *runner, struct lb_piped_section *sections, size_t n)
{
    struct lb_value params[LB_PIPED][LB_PARAMS];
    struct lb_step steps[LB_PIPED];
    bool is_sent[LB_PIPED] = {false};
    const struct lb_program *program = runner->program;
    for (size_t i = 0; i < n; i++) {
        struct lb_piped_section *piped = &sections[i];
        const struct lb_statement *statement = program->sections[piped->name].statements;
        piped->result = (struct lb_section_result){0};
        steps[i] = step_of(piped->name, statement, piped->bag, params[i]);
        piped->answer = lb_session_ready(runner->session, &state_of(runner, statement)->prepared,
                                         &steps[i], statement->native, &piped->err);
        piped->result.by_engine = piped->answer > 0;
        is_sent[i] = piped->answer == 0;
    }
    for (size_t i = 0; i < n; i++) {
        const struct lb_statement *statement = program->sections[sections[i].name].statements;
        if (is_sent[i])
            sections[i].answer =
                lb_session_send(runner->session, &state_of(runner, statement)->prepared, &steps[i],
                                &sections[i].err);
        is_sent[i] = is_sent[i] && sections[i].answer == 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct lb_piped_section *piped = &sections[i];
        const struct lb_statement *statement = program->sections[piped->name].statements;
        piped->end_ns = lb_now_ns();
        if (is_sent[i])
            receive(runner, piped, &steps[i]);
        if (piped->result.by_engine) {
            note_place(runner, statement->line);
            piped->answer =
                judge(runner, piped->name, statement->on_error, piped->answer, &piped->err);
        } else if (piped->answer < 0) {
            lb_fail_prefix(&piped->err, "%s:%d", program->origin, statement->line);
        }
    }
}
