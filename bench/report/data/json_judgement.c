/* What the judge counted and saw, as JSON: of a run, and of a history that check was given. */
#include "cell_waits.h"
#include "json_object.h"
#include "report.h"

struct json_t *lb_measures_json(const struct lb_measures *m)
{
    struct lb_object object = lb_object_new();
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"holds", m->n_holds},
                {"claims", m->n_claims},
                {"refusals", m->n_refusals},
                {"refusals_unjustified", m->n_refusals_unjustified},
                {"empty", m->n_empty},
                {"empty_unjustified", m->n_empty_unjustified},
                {"longest_wait_ns", m->longest_wait_ns},
                {"overtakes", m->n_overtakes},
                {"overtakes_of_one_max", m->max_overtakes},
                {"depth_max", m->max_depth},
                {"lease_overlaps_cut", m->n_cut_violations},
                {"lease_overlaps_uncut", m->n_uncut_violations},
                {"stale_writes_accepted", m->n_stale_writes_accepted},
                {"stale_writes_refused", m->n_stale_writes_refused},
                {"items_taken", m->n_taken_items},
                {"items_taken_claims", m->n_taken_claims},
                {"deaths", m->n_deaths},
                {"recovered", m->n_recovered},
                {"stuck", m->n_stuck},
                {"recovery_p50_ns", m->p50_recovery_ns},
                {"recovery_p95_ns", m->p95_recovery_ns},
                {"recovery_max_ns", m->max_recovery_ns},
                {"restarts", m->n_restarts},
                {"stalls", m->n_stalls},
                {"stalled_ns", m->stalled_ns}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        lb_put_count(&object, rows[i].name, rows[i].value);
    lb_put_real(&object, "jain", m->jain);
    lb_put_real(&object, "gini", m->gini);
    lb_put(&object, "waits", lb_waits_json(m->waits));
    return lb_object_end(&object);
}

static json_t *operation_json(const struct lb_witness_op *op, uint64_t start_ns, bool names)
{
    struct lb_object object = lb_object_new();
    lb_put_count(&object, "worker", op->log);
    if (names)
        lb_put_text(&object, "who", op->who);
    lb_put_count(&object, "process", op->process);
    lb_put_text(&object, "op", lb_op_name(op->op));
    lb_put_text_or_null(&object, "end",
                        op->type == LB_EV_NONE ? NULL : lb_event_type_name(op->type));
    lb_put_text(&object, "answer", lb_answer_name(op->answer));
    lb_put_count(&object, "object", op->object);
    lb_put(&object, "value", op->has_value ? json_integer((json_int_t)op->value) : json_null());
    lb_put(&object, "invoke_ns", json_integer((json_int_t)(op->invoke_ns - start_ns)));
    lb_put(&object, "end_ns",
           op->end_ns == UINT64_MAX ? json_null()
                                    : json_integer((json_int_t)(op->end_ns - start_ns)));
    return lb_object_end(&object);
}

struct json_t *lb_witness_json(const struct lb_witness *witness, uint64_t start_ns, bool names)
{
    struct lb_object object = lb_object_new(), operations = lb_list_new();
    lb_put_text(&object, "text", witness->text);
    lb_put_count(&object, "overlap_ns", witness->overlap_ns);
    for (size_t i = 0; i < witness->n_ops; i++)
        lb_add(&operations, operation_json(&witness->ops[i], start_ns, names));
    lb_put(&object, "operations", lb_object_end(&operations));
    return lb_object_end(&object);
}
