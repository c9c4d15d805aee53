/* A gate on a session: before each statement of the program, lb_aging.touch executes it in the open
 * transaction, counts, and undoes it. */
#include "aged_cost.h"

#include "append.h"
#include "clock.h"
#include "program_lex.h"

#include <string.h>

static const struct lb_statement *find(const struct lb_program *program, const struct lb_step *step)
{
    for (size_t i = 0; i < program->n_statements && step->kind == LB_STEP_EXECUTE; i++)
        if (program->statements[i].sql == step->sql)
            return &program->statements[i];
    return NULL;
}

/* Others, such as LOCK TABLE or LISTEN, read no rows. */
static bool reads_rows(const char *sql, enum lb_dialect dialect)
{
    static const char *const words[] = {"select", "insert", "update",  "delete", "with",
                                        "merge",  "values", "replace", NULL};
    return lb_sql_begins(sql, dialect, words);
}

static void append(char *text, size_t size, const char *more)
{
    lb_append(text, size, "%s%s", text[0] != '\0' ? "; " : "", more);
}

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_aged_cost *cost = arg;
    struct lb_session *session = cost->session;
    const struct lb_statement *statement = find(cost->program, step);
    struct lb_touched touched = {.is_dead_asked = cost->is_dead_asked};
    if (statement == NULL || step->on_replica || session->conn == NULL ||
        !reads_rows(statement->native, cost->program->db->dialect))
        return 0;
    uint64_t start_ns = lb_now_ns();
    int r = session->db->aging->touch(session->conn, statement->native, step->n_params,
                                      step->params, &touched, err);
    cost->counting_ns += lb_now_ns() - start_ns;
    if (r != LB_OK)
        return r;
    cost->cost += touched.cost;
    cost->settled_cost += touched.settled_cost;
    cost->locked = touched.locked > cost->locked ? touched.locked : cost->locked;
    cost->scanned += touched.scanned;
    cost->sorts += touched.sorts;
    if (touched.margin > 0 && (cost->margin == 0 || touched.margin < cost->margin)) {
        cost->margin = touched.margin;
        memcpy(cost->other_plan, touched.other_plan, sizeof cost->other_plan);
    }
    append(cost->plan, sizeof cost->plan, touched.plan);
    append(cost->settled_plan, sizeof cost->settled_plan, touched.settled_plan);
    return 0;
}

void lb_aged_cost_watch(struct lb_aged_cost *cost, const struct lb_program *program,
                        struct lb_session *session)
{
    static const struct lb_gate gate = {.before = before, .split_autocommit = true};
    *cost = (struct lb_aged_cost){.program = program, .session = session};
    session->gate = &gate;
    session->gate_arg = cost;
}

void lb_aged_cost_begin(struct lb_aged_cost *cost)
{
    cost->cost = cost->settled_cost = cost->scanned = cost->sorts = 0;
    cost->locked = -1;
    cost->counting_ns = 0;
    cost->margin = 0;
    cost->other_plan[0] = '\0';
    cost->plan[0] = cost->settled_plan[0] = '\0';
}
