/* What a protocol's own tables say: how many items of a queue are in which state (the section
 * `count`, a plain read that takes no lock of the protocol's), and how many permits of a resource
 * can be taken (the section `permits`, asked by an operator when all is quiet).
 */
#include "ordinary.h"

#include <string.h>

/* A row of numbers, by the names of its columns. */
struct reading {
    const struct lb_session *session;
    const char *const *names;
    size_t n;
    int64_t *values;
    unsigned found;             /* bits */
    const struct lb_gate *gate; /* of the session before */
    void *gate_arg;
};

/* The columns have no slots, so they are read where the result passes by. */
static void after(void *arg, const struct lb_step *step, int answer, const struct lb_rows *rows)
{
    struct reading *reading = arg;
    const struct lb_session *session = reading->session;
    (void)step;
    if (answer != LB_OK || rows == NULL || rows->n_rows != 1)
        return;
    for (size_t c = 0; c < rows->n_columns; c++)
        for (size_t i = 0; i < reading->n; i++) {
            struct lb_value value = session->db->value(session->conn, 0, c);
            if (strcmp(session->db->column(session->conn, c), reading->names[i]) == 0 &&
                lb_value_int(&value, &reading->values[i]))
                reading->found |= 1U << i;
        }
}

/* The session's own gate, with the clock of an exploration, stays in force. */
static int before(void *arg, const struct lb_step *step, struct lb_error *err)
{
    const struct reading *reading = arg;
    const struct lb_gate *gate = reading->gate;
    return gate != NULL && gate->before != NULL ? gate->before(reading->gate_arg, step, err) : 0;
}

static const char *rewrite(void *arg, const char *native)
{
    const struct reading *reading = arg;
    const struct lb_gate *gate = reading->gate;
    return gate != NULL && gate->rewrite != NULL ? gate->rewrite(reading->gate_arg, native)
                                                 : native;
}

static int read_row(struct lb_runner *runner, enum lb_section_name name, struct lb_bag *bag,
                    struct reading *reading, struct lb_error *err)
{
    static const struct lb_gate gate = {.before = before, .after = after, .rewrite = rewrite};
    struct lb_session *session = runner->session;
    struct lb_section_result result;
    reading->session = session;
    reading->gate = session->gate;
    reading->gate_arg = session->gate_arg;
    session->gate = &gate;
    session->gate_arg = reading;
    int answer = lb_runner_section(runner, name, bag, false, NULL, NULL, &result, err);
    session->gate = reading->gate;
    session->gate_arg = reading->gate_arg;
    return answer;
}

int lb_count_items(const struct lb_strategy_plan *plan, struct lb_runner *runner,
                   int64_t ret_counts[LB_COUNTED], struct lb_error *err)
{
    static const char *const names[LB_COUNTED] = {"pending", "active", "done", "failed"};
    struct reading reading = {.names = names, .n = LB_COUNTED, .values = ret_counts};
    struct lb_bag bag;
    lb_ordinary_fill_class(&bag, plan);
    int answer = read_row(runner, LB_S_COUNT, &bag, &reading, err);
    if (answer == LB_OK && reading.found != (1U << LB_COUNTED) - 1)
        return lb_fail(err, LB_E_FILE,
                       "%s: count must answer one row (pending, active, done, failed)",
                       plan->strategy->name);
    return answer;
}

int lb_permits_ask(const struct lb_strategy_plan *plan, struct lb_runner *runner, uint32_t resource,
                   int64_t clock_skew_ms, int64_t *ret_free, struct lb_error *err)
{
    static const char *const names[] = {"free"};
    int64_t free = 0;
    struct reading reading = {.names = names, .n = 1, .values = &free};
    struct lb_bag bag;
    lb_ordinary_fill_resource(&bag, plan, resource);
    bag.value[LB_SLOT_NOW].integer += clock_skew_ms;
    int answer = read_row(runner, LB_S_PERMITS, &bag, &reading, err);
    if (answer == LB_BUSY || (answer == LB_OK && reading.found == 0))
        return lb_fail(err, LB_E_FILE, "%s:%d: permits must answer one row with a number, free",
                       plan->program->origin, plan->program->sections[LB_S_PERMITS].line);
    *ret_free = free;
    return answer;
}
