/* How many items of a queue are in which state, as its own statement counts them: the section
 * `count`, a plain read that takes no lock of the protocol's.
 */
#include "ordinary.h"

#include <string.h>

const char *const lb_count_names[LB_COUNTED] = {"pending", "active", "done", "failed"};

struct counter {
    struct lb_session *session;
    int64_t *counts;
    unsigned found; /* bits */
};

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    (void)arg;
    (void)step;
    (void)err;
    return 0;
}

/* The columns have no slots, so they are read where the result passes by. */
static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    struct counter *counter = arg;
    const struct lb_session *session = counter->session;
    (void)step;
    if (answer != LB_OK || rows == NULL || rows->n_rows != 1)
        return;
    for (size_t c = 0; c < rows->n_columns; c++)
        for (size_t i = 0; i < LB_COUNTED; i++) {
            struct lb_value value = session->db->value(session->conn, 0, c);
            if (strcmp(session->db->column(session->conn, c), lb_count_names[i]) == 0 &&
                lb_value_int(&value, &counter->counts[i]))
                counter->found |= 1U << i;
        }
}

int lb_count_items(const struct lb_strategy_plan *plan, struct lb_runner *runner,
                   int64_t ret_counts[LB_COUNTED], struct lb_error *err)
{
    static const struct lb_gate gate = {.before = before, .after = after};
    struct lb_session *session = runner->session;
    struct counter counter = {.session = session, .counts = ret_counts};
    struct lb_section_result result;
    struct lb_bag bag;
    lb_ordinary_fill_class(&bag, plan);
    session->gate = &gate;
    session->gate_arg = &counter;
    int answer = lb_runner_section(runner, LB_S_COUNT, &bag, false, NULL, NULL, &result, err);
    session->gate = NULL;
    if (answer == LB_OK && counter.found != (1U << LB_COUNTED) - 1)
        return lb_fail(err, LB_E_FILE,
                       "%s: count must answer one row (pending, active, done, failed)",
                       plan->strategy->name);
    return answer;
}
