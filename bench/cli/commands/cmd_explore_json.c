/* What explore found, as JSON. */
#include "cmd_explore_text.h"
#include "json_object.h"

static json_t *step_json(const struct lb_explored_step *step)
{
    struct lb_object object = lb_object_new();
    lb_put_count(&object, "step", step->move + UINT64_C(1));
    lb_put(&object, "worker", json_integer(step->worker));
    lb_put_text(&object, "statement", step->sql);
    lb_put_text(&object, "answer", step->was_blocked ? "blocked" : lb_answer_name(step->answer));
    lb_put_count(&object, "rows", step->n_rows);
    lb_put(&object, "changed", json_integer((json_int_t)step->n_changed));
    lb_put_flag(&object, "late", step->is_late);
    lb_put_flag(&object, "death", step->is_death);
    lb_put_text(&object, "result", step->rows);
    lb_put_text(&object, "note", step->note);
    return lb_object_end(&object);
}

static json_t *witness_json(const struct lb_explored *explored, const char *command)
{
    struct lb_object object = lb_object_new(), violated = lb_list_new(), steps = lb_list_new();
    char schedule[LB_MAX_LENGTH * 2 + 1], replay[LB_MAX_LENGTH * 2 + 1100];
    lb_schedule_print(&explored->schedule, schedule, sizeof schedule);
    snprintf(replay, sizeof replay, "%s --replay %s", command, schedule);
    for (int g = 0; g < LB_GUARANTEES; g++)
        if ((explored->violated >> g & 1) != 0)
            lb_add(&violated, lb_json_text(lb_guarantee_name((enum lb_guarantee)g)));
    for (size_t i = 0; i < explored->table.n_steps; i++)
        lb_add(&steps, step_json(&explored->table.steps[i]));
    lb_put_text(&object, "schedule", schedule);
    lb_put_text(&object, "replay", replay);
    lb_put_count(&object, "workers", explored->witness_workers);
    lb_put_count(&object, "rounds", explored->witness_rounds);
    lb_put_count(&object, "statements", explored->table.n_statements);
    lb_put_flag(&object, "confirmed", explored->confirmed);
    lb_put(&object, "violated", lb_object_end(&violated));
    lb_put_text(&object, "words", explored->words);
    lb_put_text(&object, "setup", explored->setup);
    lb_put(&object, "steps", lb_object_end(&steps));
    return lb_object_end(&object);
}

static json_t *verdicts_json(const struct lb_explored *explored)
{
    struct lb_object verdicts = lb_object_new();
    for (int g = 0; g < LB_GUARANTEES; g++)
        lb_put_text(&verdicts, lb_guarantee_name((enum lb_guarantee)g),
                    lb_explored_verdict(explored, (enum lb_guarantee)g));
    return lb_object_end(&verdicts);
}

static void put_search(struct lb_object *object, const struct lb_explored *explored)
{
    const struct lb_search_result *search = &explored->search;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"schedules", search->n_schedules},
                {"likely_first", search->n_likely},
                {"pruned_asleep", search->n_asleep},
                {"pruned_void", search->n_void},
                {"audited", explored->n_audited},
                {"steps", search->n_moves},
                {"choices", search->n_choices},
                {"other_answers", search->n_others},
                {"answers_not_reached", search->n_unreached},
                {"repeated_replays", search->n_repeated},
                {"longest_schedule", search->longest},
                {"statements", explored->n_statements},
                {"elapsed_ns", explored->elapsed_ns},
                {"deadlocks", explored->n_deadlocks},
                {"stuck", explored->n_stuck}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        lb_put_count(object, rows[i].name, rows[i].value);
}

void lb_explored_json(FILE *out, const struct lb_explored *explored, const char *command)
{
    struct lb_object object = lb_object_new();
    struct lb_error err;
    lb_put_text(&object, "strategy", explored->strategy);
    lb_put_text(&object, "engine", explored->engine);
    lb_put_text(&object, "target", explored->target);
    lb_put_count(&object, "workers", explored->workers);
    lb_put_count(&object, "rounds", explored->rounds);
    lb_put_flag(&object, "complete", explored->complete);
    lb_put_text(&object, "bounds", explored->bounds);
    lb_put_text(&object, "inside", explored->inside);
    put_search(&object, explored);
    lb_put_flag(&object, "nondeterministic",
                explored->search.differs || explored->is_nondeterministic);
    lb_put(&object, "verdicts", verdicts_json(explored));
    if (explored->has_witness)
        lb_put(&object, "witness", witness_json(explored, command));
    lb_json_print(lb_object_end(&object), JSON_INDENT(2), "what was explored", out, &err);
}
