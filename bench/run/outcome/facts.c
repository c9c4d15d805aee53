/* From a file's facts to the judge's doubts: see facts.h. */
#include "facts.h"

#include "program_features.h"

#include <stdio.h>
#include <string.h>

void lb_facts_doubt_due(struct lb_model *model, const char *reason)
{
    struct lb_doubt *doubt = &model->doubts[LB_DOUBT_DUE];
    doubt->is_said = true;
    snprintf(doubt->reason, sizeof doubt->reason, "%s", reason);
}

void lb_facts_ask_strangers(const struct lb_program *program, struct lb_model *model)
{
    struct lb_doubt *doubt = &model->doubts[LB_DOUBT_DUE];
    if (program == NULL || program->strangers_line == 0 || program->is_due_said ||
        doubt->reason[0] != '\0')
        return;
    snprintf(
        doubt->reason, sizeof doubt->reason,
        "line %d: another's open transaction may hide items (explore waits for its end): write "
        "\"-- due: later\" or \"-- due: at-once\" into the header",
        program->strangers_line);
}

/* A key is free for good where the file has no statement by which its item comes back. */
static enum lb_unique until(const struct lb_program *program, const struct lb_model *model)
{
    /* Sections that bring back an item in error, or one that is claimed. The history shows what the
     * others bring back: free, error, recover. */
    static const enum lb_section_name of_ended[] = {LB_S_CLEAR_ERROR, LB_S_CLEAR_ALL_ERRORS},
                                      of_claimed[] = {LB_S_SWEEP, LB_S_STOP};
    const enum lb_unique unique = (enum lb_unique)program->unique;
    const bool is_claimed = unique == LB_UNIQUE_UNTIL_CLAIMED;
    if (program->n_statements == 0) /* a program's: it is not known */
        return unique;
    for (size_t i = 0; i < 2; i++)
        if (program->sections[is_claimed ? of_claimed[i] : of_ended[i]].present)
            return unique;
    if (unique == LB_UNIQUE_NOT ||
        (is_claimed &&
         (model->lease || program->guesses[LB_GUESS_LEASE].line != 0 ||
          program->sections[LB_S_CLAIM].tx == LB_TX_HOLD || lb_program_locks_sessions(program))))
        return unique;
    return is_claimed ? LB_UNIQUE_UNTIL_GONE : LB_UNIQUE_UNTIL_ENDED;
}

void lb_facts_take(const struct lb_program *program, struct lb_model *model)
{
    static const enum lb_doubted doubted[LB_GUESSES] = {
        [LB_GUESS_LEASE] = LB_DOUBT_LEASE, [LB_GUESS_ATTEMPTS] = LB_DOUBT_ATTEMPTS,
        [LB_GUESS_ROWS] = LB_DOUBT_ROWS,   [LB_GUESS_DUE] = LB_DOUBT_DUE,
        [LB_GUESS_CLOCK] = LB_DOUBT_CLOCK, [LB_GUESS_LIMIT] = LB_DOUBT_LIMIT,
    };
    if (program == NULL)
        return;
    model->attempts = program->attempts;
    model->unique = until(program, model);
    model->priority = (enum lb_priority)program->priority;
    model->key_limit = program->key_limit;
    model->share_milli = program->share_milli;
    model->rate = program->rate;
    model->rate_ms = program->rate_ms;
    model->own_rows = program->own_rows;
    model->tick_ms = program->tick_ms;
    /* Without a period of the scenario's, items of recurring work are due again at once. */
    if (model->queue && lb_program_recurs(program) && model->period_ns == 0)
        model->period_ns = 1;
    for (int g = 0; g < LB_GUESSES; g++) {
        const struct lb_guess *guess = &program->guesses[g];
        struct lb_doubt *doubt = &model->doubts[doubted[g]];
        char text[160];
        if (guess->line == 0)
            continue;
        doubt->value = guess->value;
        lb_guess_text((enum lb_guessed)g, guess, text, sizeof text);
        snprintf(doubt->reason, sizeof doubt->reason, "line %d: %s", guess->line, text);
    }
    if (program->due_later)
        lb_facts_doubt_due(model, "some items were not claimed, and may be due later, as the file "
                                  "says (-- due: later)");
}

void lb_facts_name_versions(const struct lb_file *file, struct lb_judgement *judgement)
{
    const struct lb_file *before = lb_file_before(file);
    for (int g = 0; g < LB_GUARANTEES && before != NULL; g++) {
        struct lb_finding *finding = &judgement->findings[g];
        for (size_t i = 0; i < finding->n_witnesses; i++) {
            char *text = finding->witness[i].text;
            size_t n = strlen(text);
            snprintf(text + n, sizeof finding->witness[i].text - n,
                     " (workers with odd numbers run %s)", lb_file_path(before));
        }
    }
}
