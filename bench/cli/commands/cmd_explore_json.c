/* What explore found, as JSON. */
#include "cmd_explore_text.h"

#include <jansson.h>

static json_t *steps_of(const struct lb_explored *explored)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < explored->table.n_steps; i++) {
        const struct lb_explored_step *step = &explored->table.steps[i];
        json_array_append_new(
            steps, json_pack("{s:i, s:i, s:s, s:s, s:I, s:I, s:b, s:b, s:s, s:s}", "step",
                             (int)step->move + 1, "worker", step->worker, "statement", step->sql,
                             "answer", step->was_blocked ? "blocked" : lb_answer_name(step->answer),
                             "rows", (json_int_t)step->n_rows, "changed",
                             (json_int_t)step->n_changed, "late", step->is_late, "death",
                             step->is_death, "result", step->rows, "note", step->note));
    }
    return steps;
}

static json_t *witness_of(const struct lb_explored *explored, const char *command)
{
    char schedule[LB_MAX_LENGTH * 2 + 1], replay[LB_MAX_LENGTH * 2 + 1100];
    lb_schedule_print(&explored->schedule, schedule, sizeof schedule);
    snprintf(replay, sizeof replay, "%s --replay %s", command, schedule);
    json_t *violated = json_array();
    for (int g = 0; g < LB_GUARANTEES; g++) {
        if ((explored->violated >> g & 1) != 0)
            json_array_append_new(violated, json_string(lb_guarantee_name((enum lb_guarantee)g)));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o, s:s, s:s, s:o}", "schedule", schedule,
                     "replay", replay, "workers", (json_int_t)explored->witness_workers, "rounds",
                     (json_int_t)explored->witness_rounds, "statements",
                     (json_int_t)explored->table.n_statements, "confirmed", explored->confirmed,
                     "violated", violated, "words", explored->words, "setup", explored->setup,
                     "steps", steps_of(explored));
}

static json_t *verdicts_of(const struct lb_explored *explored)
{
    json_t *verdicts = json_object();
    for (int g = 0; g < LB_GUARANTEES; g++)
        json_object_set_new(verdicts, lb_guarantee_name((enum lb_guarantee)g),
                            json_string(lb_explored_verdict(explored, (enum lb_guarantee)g)));
    return verdicts;
}

int lb_explored_json(FILE *out, const struct lb_explored *explored, const char *command)
{
    const struct lb_search_result *search = &explored->search;
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:b, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, s:I, s:b, s:o}",
        "strategy", explored->strategy, "engine", explored->engine, "target", explored->target,
        "workers", (json_int_t)explored->workers, "rounds", (json_int_t)explored->rounds,
        "complete", explored->complete, "bounds", explored->bounds, "schedules",
        (json_int_t)search->n_schedules, "pruned_asleep", (json_int_t)search->n_asleep,
        "pruned_void", (json_int_t)search->n_void, "pruned_same", (json_int_t)search->n_same,
        "steps", (json_int_t)search->n_moves, "choices", (json_int_t)search->n_choices,
        "other_answers", (json_int_t)search->n_others, "answers_not_reached",
        (json_int_t)search->n_unreached, "repeated_replays", (json_int_t)search->n_repeated,
        "longest_schedule", (json_int_t)search->longest, "statements",
        (json_int_t)explored->n_statements, "elapsed_ns", (json_int_t)explored->elapsed_ns,
        "deadlocks", (json_int_t)explored->n_deadlocks, "stuck", (json_int_t)explored->n_stuck,
        "nondeterministic", search->differs || explored->is_nondeterministic, "verdicts",
        verdicts_of(explored));
    if (root == NULL)
        return -1;
    if (explored->has_witness)
        json_object_set_new(root, "witness", witness_of(explored, command));
    int r = json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
    return r;
}
