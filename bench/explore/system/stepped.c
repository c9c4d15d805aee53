/* Tasks that are programs of the user's: see guest.h. The gate between them and the server sees
 * their statements, and holds each until it is released; the touched tables are not known. Every
 * schedule begins with new processes and with the database as it was after set-up.
 */
#include "testbed.h"

#include "array.h"
#include "memory.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what a statement is --- */

/* Texts live as long as the testbed: records borrow them. */
static const char *keep_text(struct lb_testbed *testbed, const char *text)
{
    for (size_t i = 0; i < testbed->n_texts; i++)
        if (strcmp(testbed->texts[i], text) == 0)
            return testbed->texts[i];
    testbed->sees_strangers = testbed->sees_strangers || lb_sql_sees_strangers(testbed->db, text);
    char **kept = lb_array_add(&testbed->texts, &testbed->n_texts, sizeof *kept);
    return *kept = lb_strdup(text);
}

/* Is the text one statement, "COMMIT;" or "COMMIT WORK;"? */
static bool is_alone(const struct lb_tokens *tokens)
{
    size_t n = tokens->n;
    for (size_t i = 0; i + 1 < n; i++)
        if (tokens->at[i].kind == LB_T_SEMICOLON)
            return false;
    return tokens->is_understood && n > 0;
}

static bool has_word(const struct lb_tokens *tokens, const char *const *words)
{
    for (size_t i = 0; i < tokens->n; i++)
        if (lb_token_is_any(&tokens->at[i], words))
            return true;
    return false;
}

static enum lb_step_kind kind_of_tokens(const struct lb_tokens *tokens)
{
    static const char *const commits[] = {"commit", "end", NULL};
    static const char *const rolls_back[] = {"rollback", "abort", NULL};
    static const char *const to[] = {"to", "prepared", NULL};
    if (!is_alone(tokens) || has_word(tokens, to))
        return LB_STEP_EXECUTE;
    const struct lb_token *first = &tokens->at[0];
    if (lb_token_is(first, "begin") ||
        (lb_token_is(first, "start") && lb_token_is(first + 1, "transaction")))
        return LB_STEP_BEGIN;
    if (lb_token_is_any(first, commits))
        return LB_STEP_COMMIT;
    return lb_token_is_any(first, rolls_back) ? LB_STEP_ROLLBACK : LB_STEP_EXECUTE;
}

static enum lb_step_kind kind_of_text(const char *text, enum lb_dialect dialect)
{
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, text, dialect);
    enum lb_step_kind kind = kind_of_tokens(&tokens);
    lb_tokens_free(&tokens);
    return kind;
}

/* All tables count as one. */
enum lb_statement_kind lb_stepped_footprint(const char *sql, enum lb_dialect dialect,
                                            struct lb_footprint *ret)
{
    static const char *const words[] = {"from", "table", NULL};
    enum { ALL_TABLES = 1 };
    const struct lb_tables none = {.dialect = dialect};
    struct lb_tokens tokens;
    enum lb_statement_kind kind = lb_footprint_of_sql(&none, sql, ret);
    if (ret->writes == LB_TOUCHES_ALL)
        return kind;
    lb_tokens_read(&tokens, sql, dialect);
    bool has_tables =
        tokens.n == 0 || !lb_token_is(&tokens.at[0], "select") || has_word(&tokens, words);
    lb_tokens_free(&tokens);
    if (has_tables)
        ret->reads |= ALL_TABLES;
    if (has_tables && kind != LB_PLAIN_READ)
        ret->writes |= ALL_TABLES | LB_BIT_SEQUENCES;
    return kind;
}

/* Has it changed something and committed at once? By itself; with a COMMIT in the same text; or
 * beside a transaction of another connection of the program. */
static bool commits_at_once(const struct lb_step *step, enum lb_dialect dialect, bool in_tx)
{
    static const char *const ends[] = {"commit", "end", NULL};
    struct lb_footprint touched;
    struct lb_tokens tokens;
    lb_stepped_footprint(step->sql, dialect, &touched);
    if (step->kind != LB_STEP_EXECUTE || (touched.writes & ~LB_BIT_ADVISORY) == 0)
        return false;
    lb_tokens_read(&tokens, step->sql, dialect);
    bool may_end = !is_alone(&tokens) && (!tokens.is_understood || has_word(&tokens, ends));
    lb_tokens_free(&tokens);
    return !in_tx || may_end;
}

/* --- the gate --- */

static int asks(struct lb_actor *actor, const struct lb_stepped *stepped, struct lb_error *err)
{
    struct lb_task *task = actor->session->gate_arg;
    struct lb_testbed *testbed = task->testbed;
    struct lb_footprint touched;
    if (!task->in_script) { /* while it opens */
        if (lb_stepped_footprint(stepped->sql, testbed->db->dialect, &touched) != LB_PLAIN_READ)
            testbed->is_dirty = true;
        return 0;
    }
    if (stepped->is_cut)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "worker %u sends a statement that is too long to be explored: %.60s...",
                       task->number, stepped->sql);
    const char *sql = keep_text(testbed, stepped->sql);
    task->session_id = stepped->session;
    task->step = (struct lb_step){.kind = kind_of_text(sql, testbed->db->dialect),
                                  .sql = sql,
                                  .section = keep_text(testbed, stepped->operation)};
    int r = testbed->gate.before(task, &task->step, err);
    if (r == 0 && testbed->details && task->step.kind == LB_STEP_EXECUTE) {
        free(task->pending.params);
        task->pending.params = lb_strdup(stepped->params);
    }
    return r;
}

static void answered(struct lb_actor *actor, const struct lb_stepped *stepped)
{
    struct lb_task *task = actor->session->gate_arg;
    const struct lb_rows rows = {.n_rows = stepped->n_rows, .n_changed = stepped->n_changed};
    if (!task->in_script)
        return;
    task->session.in_tx = stepped->in_tx;
    if (commits_at_once(&task->step, task->testbed->db->dialect, stepped->in_tx))
        task->testbed->is_coarse = true;
    size_t n_records = task->n_records;
    task->testbed->gate.after(task, &task->step, stepped->answer,
                              stepped->answer == LB_OK ? &rows : NULL);
    if (task->n_records > n_records && task->records[n_records].rows != NULL) {
        free(task->records[n_records].rows);
        task->records[n_records].rows = lb_strdup(stepped->rows);
    }
}

const struct lb_stepper lb_testbed_stepper = {.asks = asks, .answered = answered};

/* --- life --- */

static void end_program(struct lb_testbed *testbed, struct lb_actor *actor)
{
    atomic_store(&actor->is_cancelled, true); /* at once */
    testbed->plan.strategy->flow->close(actor);
    atomic_store(&actor->is_cancelled, false);
}

void lb_stepped_end_all(struct lb_testbed *testbed)
{
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        end_program(testbed, &testbed->tasks[i].actor);
    if (testbed->control_actor.plan != NULL)
        end_program(testbed, &testbed->control_actor);
}

int lb_stepped_reset(struct lb_testbed *testbed, struct lb_error *err)
{
    bool is_changed = testbed->is_dirty || (testbed->written & ~LB_BIT_ADVISORY) != 0;
    lb_stepped_end_all(testbed);
    int r = testbed->db->door_back(testbed->space, is_changed, err);
    testbed->is_dirty = false;
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++) {
        struct lb_task *task = &testbed->tasks[i];
        task->session.in_tx = false;
        if (task->role == LB_ROLE_WORKER && task->number >= testbed->n_running)
            continue;
        snprintf(task->actor.name, sizeof task->actor.name, "w%u", i);
        r = testbed->plan.strategy->flow->open(&task->actor, err);
        if (r > LB_OK)
            r = lb_fail(err, LB_E_PROGRAM, "%s, worker %u: cannot be opened: %s %s",
                        testbed->plan.strategy->name, i, lb_answer_name(r), task->actor.said);
    }
    return r;
}

/* A session that waits in the server is not woken by its program's end: that is done when the next
 * schedule begins. */
void lb_stepped_cancel(struct lb_task *task)
{
    int program = atomic_load(&task->actor.program);
    atomic_store(&task->actor.is_cancelled, true);
    if (program > 0)
        kill(-program, SIGKILL);
}
