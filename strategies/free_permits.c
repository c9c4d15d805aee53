/* How many permits of a resource can be taken, as the protocol's own tables say: the section
 * `permits`, asked by an operator when all is quiet.
 */
#include "free_permits.h"

#include "ordinary.h"

#include <string.h>

struct reading {
    const struct lb_session *session;
    int64_t free;
    bool found;
};

static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    (void)arg;
    (void)step;
    (void)err;
    return 0;
}

/* The column has no slot, so it is read where the result passes by. */
static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    struct reading *reading = arg;
    const struct lb_session *session = reading->session;
    (void)step;
    if (answer != LB_OK || rows == NULL || rows->n_rows != 1)
        return;
    for (size_t c = 0; c < rows->n_columns; c++) {
        struct lb_value value = session->db->value(session->conn, 0, c);
        if (strcmp(session->db->column(session->conn, c), "free") == 0 &&
            lb_value_int(&value, &reading->free))
            reading->found = true;
    }
}

int lb_permits_ask(const struct lb_strategy_plan *plan, struct lb_runner *runner, uint32_t resource,
                   int64_t *ret_free, struct lb_error *err)
{
    static const struct lb_gate gate = {.before = before, .after = after};
    struct lb_session *session = runner->session;
    const struct lb_gate *gate_before = session->gate;
    void *arg_before = session->gate_arg;
    struct reading reading = {.session = session};
    struct lb_section_result result;
    struct lb_bag bag;
    lb_ordinary_fill_resource(&bag, plan, resource);
    session->gate = &gate;
    session->gate_arg = &reading;
    int answer = lb_runner_section(runner, LB_S_PERMITS, &bag, false, NULL, NULL, &result, err);
    session->gate = gate_before;
    session->gate_arg = arg_before;
    if (answer == LB_BUSY || (answer == LB_OK && !reading.found))
        return lb_fail(err, LB_E_FILE, "%s:%d: permits must answer one row with a number, free",
                       plan->program->origin, plan->program->sections[LB_S_PERMITS].line);
    *ret_free = reading.free;
    return answer;
}
