/* Features of a protocol by the words of its statements: see program_features.h. */
#include "program_features.h"

#include "program_raw.h"

#include <string.h>

static bool any_token(const struct lb_statement *statement,
                      bool (*test)(const struct lb_token *token))
{
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, statement->sql, strlen(statement->sql), statement->line);
    do {
        token = lb_lexer_next_word(&lexer);
        if (test(&token))
            return true;
    } while (token.kind != LB_T_END && token.kind != LB_T_BAD);
    return false;
}

bool lb_section_has_param(const struct lb_section *section, int slot)
{
    for (size_t i = 0; i < section->n_statements; i++)
        if (lb_statement_has_param(&section->statements[i], slot))
            return true;
    return false;
}

bool lb_section_reads_time(const struct lb_section *section)
{
    for (size_t i = 0; i < section->n_statements; i++)
        if (lb_sql_reads_time(section->statements[i].sql, strlen(section->statements[i].sql)))
            return true;
    return false;
}

bool lb_program_recurs(const struct lb_program *program)
{
    return (program->uses >> LB_SLOT_PERIOD_MS & 1) != 0;
}

/* --- what a hold is bound to --- */

static const char *const session_locks[] = {"pg_advisory_lock",
                                            "pg_try_advisory_lock",
                                            "pg_advisory_lock_shared",
                                            "pg_try_advisory_lock_shared",
                                            "get_lock",
                                            NULL};

static bool locks_in_session(const struct lb_token *token)
{
    return lb_token_is_any(token, session_locks);
}

bool lb_program_locks_sessions(const struct lb_program *program)
{
    static const char *const lock[] = {"lock", NULL};
    if (program == NULL)
        return true;
    for (int s = 0; s < LB_SECTIONS; s++)
        if (program->sections[s].keeps_session)
            return true;
    for (size_t i = 0; i < program->n_statements; i++) {
        const char *sql = program->statements[i].sql;
        if (lb_sql_has_any(sql, program->db->dialect, session_locks) ||
            lb_sql_begins(sql, program->db->dialect, lock))
            return true;
    }
    return false;
}

static bool unlocks_session(const struct lb_token *token)
{
    static const char *const words[] = {"pg_advisory_unlock",        "release_lock",
                                        "pg_advisory_unlock_all",    "release_all_locks",
                                        "pg_advisory_unlock_shared", NULL};
    return lb_token_is_any(token, words);
}

static bool names_session(const struct lb_token *token)
{
    static const char *const words[] = {
        "pg_backend_pid",   "connection_id",          "pg_advisory_unlock",
        "release_lock",     "pg_advisory_unlock_all", "pg_advisory_unlock_shared",
        "pg_stat_activity", "release_all_locks",      NULL};
    return lb_token_is_any(token, words);
}

/* True if the statement checks whose hold it ends: by holder, token, or another value from the
 * grant. */
static bool asks_whose(const struct lb_program *program, const struct lb_statement *statement)
{
    for (size_t i = 0; i < statement->n_params; i++) {
        unsigned slot = statement->param_slot[i];
        bool is_carried = slot >= LB_SLOT_FIXED && (program->carries >> slot & 1) != 0;
        if (slot == LB_SLOT_WORKER || slot == LB_SLOT_PROCESS || slot == LB_SLOT_TOKEN ||
            slot == LB_SLOT_TICKET || slot == LB_SLOT_TOKENS || slot == LB_SLOT_ITEMS || is_carried)
            return true;
    }
    return any_token(statement, names_session);
}

static bool is_insert(const struct lb_token *token)
{
    return lb_token_is(token, "insert");
}

static bool is_or(const struct lb_token *token)
{
    return lb_token_is(token, "or");
}

int lb_program_own_rows_line(const struct lb_program *program)
{
    const struct lb_section *begin = &program->sections[LB_S_ACQUIRE];
    const struct lb_section *end = &program->sections[LB_S_RELEASE];
    bool inserts = false;
    int line = 0;
    for (size_t i = 0; i < begin->n_statements; i++)
        inserts = inserts || any_token(&begin->statements[i], is_insert);
    for (size_t i = 0; i < end->n_statements; i++) {
        const struct lb_statement *statement = &end->statements[i];
        if (!statement->is_write)
            continue;
        if ((!lb_statement_has_param(statement, LB_SLOT_WORKER) &&
             !lb_statement_has_param(statement, LB_SLOT_TOKEN)) ||
            any_token(statement, is_or))
            return 0;
        line = line != 0 ? line : statement->line;
    }
    return inserts ? line : 0;
}

/* The first write of a cancel that removes another worker's place in the line as well. */
static int find_cancel(const struct lb_program *program)
{
    const struct lb_section *section = &program->sections[LB_S_CANCEL];
    int line = 0;
    for (size_t i = 0; i < section->n_statements; i++) {
        const struct lb_statement *statement = &section->statements[i];
        if (asks_whose(program, statement))
            return 0;
        line = line == 0 && statement->is_write ? statement->line : line;
    }
    return line;
}

static void find_unasked(const struct lb_program *program, struct lb_features *ret)
{
    static const enum lb_section_name ends[] = {LB_S_RELEASE, LB_S_COMPLETE, LB_S_ERROR, LB_S_FREE,
                                                LB_S_RETRY};
    ret->cancel_line = find_cancel(program);
    for (size_t e = 0; e < sizeof ends / sizeof ends[0] && ret->unasked_line == 0; e++) {
        const struct lb_section *section = &program->sections[ends[e]];
        bool asks = false;
        int line = 0;
        for (size_t i = 0; i < section->n_statements; i++) {
            const struct lb_statement *statement = &section->statements[i];
            asks = asks || asks_whose(program, statement);
            line = line == 0 && statement->is_write ? statement->line : line;
        }
        if (asks || line == 0)
            continue;
        ret->unasked_line = line;
        ret->unasked = ends[e];
    }
}

static struct lb_constant find_constant(const struct lb_file *file,
                                        const struct lb_section *section, struct lb_features *ret)
{
    struct lb_constant found = lb_section_constant(file, section);
    if (ret->constant_line == 0)
        ret->constant_line = found.line;
    return found;
}

/* Is a hold over after a length that stands in the text of the statements that begin it? If the
 * file does not say so, it is a guess. */
static bool has_fixed_lease(const struct lb_file *file, const struct lb_constant *constant,
                            const struct lb_features *f)
{
    if (file->lease.is_said)
        return file->lease.is_fixed;
    return constant->line != 0 && !constant->is_other && constant->looks_older &&
           f->lease == NULL && f->limit == NULL && !f->has_recover && !f->has_period &&
           !f->is_session_bound;
}

/* --- all of them --- */

/* The server's own time, and not :now. Also in the text of a function. */
static bool asks_server_time(const struct lb_token *token)
{
    size_t n = token->length, tag = 0;
    if (token->kind == LB_T_QUOTED && token->text[0] == '$')
        tag = (size_t)((const char *)memchr(token->text + 1, '$', n - 1) + 1 - token->text);
    return (token->kind == LB_T_WORD || tag > 0) && lb_sql_reads_time(token->text + tag, n - tag);
}

static void read_begin(const struct lb_file *file, const struct lb_program *program,
                       struct lb_features *ret)
{
    bool is_lock = program->shape == LB_LOCK;
    const struct lb_section *begin = &program->sections[is_lock ? LB_S_ACQUIRE : LB_S_CLAIM];
    int token = lb_program_slot(program, "token");
    ret->n_begin = (unsigned)begin->n_statements;
    ret->begin_line = begin->n_statements > 0 ? begin->statements[0].line : begin->line;
    ret->by_worker_clock = lb_section_has_param(begin, LB_SLOT_NOW);
    ret->takes_many = lb_section_has_param(begin, LB_SLOT_N);
    ret->is_held_in_tx = begin->tx == LB_TX_HOLD;
    ret->is_session_bound = begin->tx == LB_TX_HOLD || begin->keeps_session;
    ret->is_one_commit = begin->tx != LB_TX_EACH || begin->n_statements == 1;
    ret->has_token = token >= 0 && (program->carries >> token & 1) != 0;
    int lease = ret->lease != NULL ? lb_program_slot(program, ret->lease->name) : -1;
    bool knows_lease = false;
    bool locks = false, unlocks = false; /* a gate that is closed and opened again holds nothing */
    for (size_t i = 0; i < begin->n_statements; i++) {
        const struct lb_statement *statement = &begin->statements[i];
        locks = locks || any_token(statement, locks_in_session);
        unlocks = unlocks || any_token(statement, unlocks_session);
        if (!any_token(statement, asks_server_time))
            continue;
        bool has_lease =
            lease >= 0 && lb_statement_has_param(statement, lease); /* it says when it is over */
        if (ret->begin_clock_line == 0 || (has_lease && !knows_lease))
            ret->begin_clock_line = statement->line;
        knows_lease = knows_lease || has_lease;
    }
    ret->is_session_bound = ret->is_session_bound || (locks && !unlocks);
    struct lb_constant constant = find_constant(file, begin, ret);
    ret->has_fixed_lease = has_fixed_lease(file, &constant, ret);
}

/* Finds which clock each statement uses: acquire or claim first, column defaults last. */
static void find_clocks(const struct lb_program *program, struct lb_features *ret)
{
    static const enum lb_section_name names[] = {
        LB_S_ACQUIRE, LB_S_CLAIM,   LB_S_RENEW,   LB_S_HEARTBEAT, LB_S_REGISTER, LB_S_RECOVER,
        LB_S_SWEEP,   LB_S_ENQUEUE, LB_S_RELEASE, LB_S_COMPLETE,  LB_S_ERROR,    LB_S_FREE,
        LB_S_RETRY,   LB_S_CANCEL,  LB_S_PUT,     LB_S_RESOURCE,  LB_S_SETUP};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const struct lb_section *section = &program->sections[names[n]];
        for (size_t i = 0; i < section->n_statements; i++) {
            const struct lb_statement *statement = &section->statements[i];
            if (ret->worker_clock_line == 0 && lb_statement_has_param(statement, LB_SLOT_NOW))
                ret->worker_clock_line = statement->line;
            if (ret->server_clock_line == 0 && any_token(statement, asks_server_time))
                ret->server_clock_line = statement->line;
        }
    }
}

/* Where times are compared, and where they are kept. */
static void find_whole_seconds(const struct lb_program *program, struct lb_features *ret)
{
    static const enum lb_section_name names[] = {LB_S_ACQUIRE,   LB_S_CLAIM,   LB_S_RENEW,
                                                 LB_S_HEARTBEAT, LB_S_RECOVER, LB_S_SETUP};
    bool goes_by_time = ret->lease != NULL || ret->limit != NULL || ret->recovers_by_time;
    for (size_t n = 0; n < sizeof names / sizeof names[0] && goes_by_time; n++) {
        const struct lb_section *section = &program->sections[names[n]];
        for (size_t i = 0; i < section->n_statements && ret->whole_line == 0; i++)
            ret->whole_line = names[n] == LB_S_SETUP
                                  ? lb_whole_columns(&section->statements[i], program->db)
                                  : lb_whole_seconds(&section->statements[i], program->db);
    }
}

bool lb_features_counts_seconds(const struct lb_features *features)
{
    const struct lb_timing *timing = features->lease != NULL ? features->lease : features->limit;
    return features->whole_line != 0 && timing != NULL && timing->unit_ms >= 1000;
}

bool lb_features_lease(const struct lb_features *features)
{
    return features->lease != NULL || features->has_fixed_lease;
}

bool lb_features_rescues(const struct lb_features *features)
{
    return features->has_recover && features->recovers_by_time && !features->ends_sessions;
}

static bool asks_id(const struct lb_section *section)
{
    return section->takes_batch || lb_section_has_param(section, LB_SLOT_ID) ||
           lb_section_has_param(section, LB_SLOT_TOKEN);
}

static void read_recover(const struct lb_section *recover, struct lb_features *ret)
{
    ret->recovers_apart = recover->n_statements > 1 && recover->tx == LB_TX_EACH;
    for (size_t i = 0; i < recover->n_statements; i++) {
        if (recover->statements[i].is_write)
            ret->recover_line = recover->statements[i].line;
        ret->ends_sessions =
            ret->ends_sessions || any_token(&recover->statements[i], lb_token_ends_session);
    }
    if (recover->n_statements > 1 && recover->statements[0].line != ret->recover_line)
        ret->recover_first_line = recover->statements[0].line;
}

void lb_features_read(const struct lb_file *file, const struct lb_program *program,
                      struct lb_features *ret)
{
    const struct lb_section *sections = program->sections;
    const struct lb_section *recover = &sections[LB_S_RECOVER];
    *ret = (struct lb_features){.lease = lb_file_lease(file),
                                .limit = lb_file_limit(file),
                                .isolation_line = file->isolation_line};
    ret->has_recover = recover->present;
    ret->recovers_by_time = program->recovers_by_time;
    ret->has_free = sections[LB_S_FREE].present;
    ret->free_asks_id = asks_id(&sections[ret->has_free ? LB_S_FREE : LB_S_RETRY]);
    ret->has_error = sections[LB_S_ERROR].present;
    ret->has_retry = sections[LB_S_RETRY].present;
    ret->has_operator = sections[LB_S_CLEAR_ALL_ERRORS].present || sections[LB_S_RESET_ALL].present;
    ret->ends_many = sections[LB_S_COMPLETE].takes_batch || sections[LB_S_ERROR].takes_batch ||
                     sections[LB_S_FREE].takes_batch || sections[LB_S_RENEW].takes_batch;
    ret->has_beat = sections[LB_S_HEARTBEAT].present;
    ret->has_sweep = sections[LB_S_SWEEP].present;
    ret->has_unregister = sections[LB_S_UNREGISTER].present;
    ret->has_enqueue = sections[LB_S_ENQUEUE].present;
    ret->has_renew = sections[LB_S_RENEW].present;
    ret->has_cancel = sections[LB_S_CANCEL].present;
    for (size_t i = 0; i < sections[LB_S_ENQUEUE].n_statements; i++)
        ret->enqueue_writes = ret->enqueue_writes || sections[LB_S_ENQUEUE].statements[i].is_write;
    ret->has_mode = (program->uses >> LB_SLOT_MODE & 1) != 0;
    ret->has_capacity = (program->uses >> LB_SLOT_CAPACITY & 1) != 0;
    ret->puts_in_tx = sections[LB_S_PUT].present && sections[LB_S_PUT].tx == LB_TX_ONE;
    ret->puts_in_steps = sections[LB_S_PUT].n_statements > 1;
    ret->puts_apart = ret->puts_in_steps && sections[LB_S_PUT].tx == LB_TX_EACH;
    ret->has_period = lb_program_recurs(program);
    read_begin(file, program, ret);
    find_unasked(program, ret);
    (void)find_constant(file, recover, ret);
    (void)find_constant(file, &sections[LB_S_SWEEP], ret);
    ret->later_line = lb_put_off_line(file, program);
    static const enum lb_section_name returns[] = {LB_S_FREE, LB_S_RETRY, LB_S_ERROR};
    for (size_t i = 0; i < sizeof returns / sizeof returns[0] && ret->later_line == 0; i++)
        ret->later_line = lb_section_constant(file, &sections[returns[i]]).later_line;
    const struct lb_section *end = &sections[LB_S_RELEASE];
    if (end->n_statements > 0) {
        ret->end_line = end->statements[0].line;
        ret->end_last_line = end->statements[end->n_statements - 1].line;
    }
    for (size_t i = sections[LB_S_RENEW].n_statements; i-- > 0;) {
        const struct lb_statement *statement = &sections[LB_S_RENEW].statements[i];
        if (statement->is_write)
            ret->renew_line = statement->line;
        ret->renew_asks = ret->renew_asks || asks_whose(program, statement);
    }
    read_recover(recover, ret);
    for (size_t i = 0; i < sections[LB_S_HEARTBEAT].n_statements; i++)
        ret->beat_line = sections[LB_S_HEARTBEAT].statements[i].line;
    for (size_t i = 0; i < sections[LB_S_SWEEP].n_statements; i++)
        if (sections[LB_S_SWEEP].statements[i].is_write)
            ret->sweep_line = sections[LB_S_SWEEP].statements[i].line;
    find_whole_seconds(program, ret);
    find_clocks(program, ret);
    lb_features_read_traits(program, ret);
}
