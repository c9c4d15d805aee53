/* Bringing a few items into a state: see aged_items.h.
 *
 * Items that are due later: with a section retry, by it. Without, waiting items get a later time in
 * the column that decides: that of which claim says "empty" then, seen by trying.
 */
#include "aged_items.h"

#include "clock.h"

const char *const lb_aged_state_names[LB_AGED_STATES] = {
    [LB_AGED_FINISHED] = "finished", [LB_AGED_FAILED] = "failed",
    [LB_AGED_DELAYED] = "delayed",   [LB_AGED_CLAIMED] = "claimed",
    [LB_AGED_WAITING] = "waiting",   [LB_AGED_OTHER_CLASS] = "other-class",
    [LB_AGED_DEAD] = "dead"};

int lb_aged_answered(const struct lb_session *session, const char *what, int answer,
                     struct lb_error *err)
{
    if (answer <= LB_OK)
        return answer;
    return lb_fail(err, LB_E_UNSUPPORTED, "%s was answered %s%s%s", what, lb_answer_name(answer),
                   session->message[0] != '\0' ? ": " : "", session->message);
}

int lb_aged_end(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                struct lb_error *err)
{
    const struct lb_flow *flow = actor->plan->strategy->flow;
    if (lb_strategy_takes_batch(actor->plan, section)) {
        struct lb_batch batch;
        lb_batch_init(&batch, 1, err);
        batch.items[0] = item;
        batch.n = 1;
        int r = flow->batch(actor, section, &batch, err);
        lb_batch_release(&batch);
        return r;
    }
    return flow->item(actor, section, item, err);
}

static int put(struct lb_actor *actor, int64_t first, uint32_t n, struct lb_error *err)
{
    int r = actor->plan->strategy->flow->put(actor, first, n, "payload", err);
    return lb_aged_answered(actor->session, "putting an item", r, err);
}

/* Claims each of the items, and ends it by section; LB_SECTIONS: keeps it. */
static int claim_all(struct lb_actor *actor, enum lb_section_name section, struct lb_error *err)
{
    for (uint32_t i = 0; i < LB_AGED_ITEMS; i++) {
        struct lb_item item = {0};
        uint32_t n = 0;
        int64_t marked = 0;
        int r = actor->plan->strategy->flow->claim(actor, 1, &item, 1, &n, &marked, err);
        if (r == LB_OK && n == 0)
            r = LB_EMPTY;
        r = lb_aged_answered(actor->session, "the claim of an item", r, err);
        if (r == 0 && section != LB_SECTIONS)
            r = lb_aged_answered(actor->session, lb_section_text(section),
                                 lb_aged_end(actor, section, &item, err), err);
        if (r != 0)
            return r;
    }
    return 0;
}

/* --- due later --- */

/* Sets a column of all items to a day from now. */
static int set_column(struct lb_aged *aged, const struct lb_aged_table *table,
                      const struct lb_aged_column *column, struct lb_conn *conn,
                      struct lb_error *err)
{
    char sql[1500], number[32];
    int64_t due = (lb_unix_ms() + LB_AGED_DELAY_MS) / 1000 * column->epoch;
    snprintf(number, sizeof number, "%lld", (long long)due);
    size_t used =
        (size_t)snprintf(sql, sizeof sql, "UPDATE %s SET %s = ", table->quoted, column->name);
    lb_aged_expression(sql + used, sizeof sql - used,
                       column->epoch > 0 ? number : aged->aging->tomorrow, column->name, "");
    return aged->db->run(conn, sql, err);
}

int lb_aged_claims(struct lb_actor *actor, bool *ret_claims, struct lb_error *err)
{
    struct lb_item item = {0};
    uint32_t n = 0;
    int64_t marked = 0;
    int r = actor->plan->strategy->flow->claim(actor, 1, &item, 1, &n, &marked, err);
    *ret_claims = r == LB_OK && n > 0;
    return r;
}

/* Does a claim find nothing once the items have a later time there? It is tried, and undone. */
static int decides(struct lb_aged *aged, struct lb_actor *actor, const struct lb_aged_table *table,
                   const struct lb_aged_column *column, bool *ret_decides, struct lb_error *err)
{
    struct lb_session *session = actor->session;
    struct lb_error ignored;
    bool claims = false;
    *ret_decides = false;
    int r = lb_session_begin(session, LB_BEGIN_DEFAULT, err);
    if (r == LB_OK)
        r = set_column(aged, table, column, session->conn, err);
    if (r == LB_OK) {
        r = lb_aged_claims(actor, &claims, err);
        *ret_decides = r == LB_EMPTY || (r == LB_OK && !claims);
    }
    lb_session_rollback(session, &ignored);
    return r == LB_E_MEMORY ? r : 0; /* a column that cannot have this value is another one */
}

/* Gives waiting items a later time in the column that decides. */
static int delay_all(struct lb_aged *aged, struct lb_actor *actor, int64_t first,
                     struct lb_error *err)
{
    bool has_rows, is_it = false;
    int r = put(actor, first, LB_AGED_ITEMS, err);
    if (r == 0)
        r = lb_aged_learn(aged, first, LB_AGED_ITEMS, &has_rows, err);
    for (size_t t = 0; t < aged->n_tables && r == 0; t++)
        for (size_t i = 0; i < aged->tables[t].n_columns && r == 0; i++) {
            const struct lb_aged_column *column = &aged->tables[t].columns[i];
            bool may_be = column->kind == LB_AGED_TIME || column->epoch > 0 ||
                          (aged->aging->is_untyped && column->kind != LB_AGED_INT);
            if (aged->tables[t].n_samples == 0 || column->varies || !may_be)
                continue;
            r = decides(aged, actor, &aged->tables[t], column, &is_it, err);
            if (r == 0 && is_it)
                return set_column(aged, &aged->tables[t], column, aged->conn, err);
        }
    return r != 0
               ? r
               : lb_fail(err, LB_E_UNSUPPORTED, "no time of an item keeps it from being claimed");
}

/* Brings the items first to first + LB_AGED_ITEMS - 1 into the state. The queue has no other items.
 * LB_E_UNSUPPORTED with the reason where the protocol has no such state. */
static int make_items(struct lb_aged *aged, struct lb_actor *actor, enum lb_aged_state state,
                      int64_t first, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = actor->plan;
    static const enum lb_section_name ends[LB_AGED_STATES] = {
        [LB_AGED_FINISHED] = LB_S_COMPLETE, [LB_AGED_FAILED] = LB_S_ERROR,
        [LB_AGED_DELAYED] = LB_S_RETRY,     [LB_AGED_CLAIMED] = LB_SECTIONS,
        [LB_AGED_WAITING] = LB_SECTIONS,    [LB_AGED_OTHER_CLASS] = LB_SECTIONS,
        [LB_AGED_DEAD] = LB_SECTIONS};
    const enum lb_section_name end = ends[state];
    if (state == LB_AGED_DELAYED && !lb_strategy_has(plan, LB_S_RETRY))
        return delay_all(aged, actor, first, err);
    if (end != LB_SECTIONS && !lb_strategy_has(plan, end))
        return lb_fail(err, LB_E_UNSUPPORTED, "it has no section %s", lb_section_text(end));
    if (state == LB_AGED_CLAIMED && lb_strategy_holds_in_tx(plan))
        return lb_fail(err, LB_E_UNSUPPORTED, "a claimed item is in an open transaction");
    if (state == LB_AGED_OTHER_CLASS)
        actor->task_class = "other";
    int r = put(actor, first, LB_AGED_ITEMS, err);
    actor->task_class = NULL;
    if (r == 0 && (end != LB_SECTIONS || state == LB_AGED_CLAIMED))
        r = claim_all(actor, end, err);
    return r;
}

int lb_aged_begin(struct lb_aged *aged, struct lb_actor *actor, struct lb_space *space,
                  enum lb_aged_state state, enum lb_aged_statistics statistics, int64_t first,
                  const atomic_int *interrupt, bool *ret_has_rows, struct lb_error *err)
{
    const struct lb_db *db = actor->session->db;
    if (state == LB_AGED_DEAD && db->aging != NULL && db->aging->dead_unit == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s keeps no dead rows: it removes a row at once",
                       db->product);
    int r = lb_aged_open(aged, db, space, err);
    aged->is_dead = state == LB_AGED_DEAD;
    aged->author = lb_strategy_has(actor->plan, LB_S_AGE) ? actor : NULL;
    aged->interrupt = interrupt;
    if (r == 0 && statistics != LB_AGED_DEFAULT)
        r = lb_aged_freeze(aged, err);
    if (r == 0 && statistics == LB_AGED_STALE)
        r = lb_aged_analyse(aged, err);
    if (r == 0)
        r = make_items(aged, actor, state, first, err);
    if (r == 0)
        r = lb_aged_learn(aged, first, LB_AGED_ITEMS, ret_has_rows, err);
    return r;
}

int64_t lb_aged_age_s(enum lb_aged_state state)
{
    return state == LB_AGED_CLAIMED ? 0 : INT64_C(86400) * LB_AGED_DAYS;
}
