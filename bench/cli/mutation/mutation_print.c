/* Verdicts on mutants, for people and for CI. */
#include "mutation.h"

#include "append.h"
#include "json_object.h"

#include <string.h>

static const char *words_of(enum lb_need need)
{
    static const char *const words[LB_NEEDS] = {"needed", "not needed", "redundant", "slower",
                                                "not shown"};
    return words[need];
}

/* The sentence below the table, of several lines at most. */
static void sum_up(const struct lb_mutation *m, char *buf, size_t size)
{
    const size_t *counts = m->counts;
    snprintf(buf, size,
             "Of %zu clauses %zu are needed (a witness each), %zu are not "
             "needed (every schedule gives the same answers)",
             m->mutants.n, counts[LB_NEEDED], counts[LB_NOT_NEEDED]);
    if (counts[LB_REDUNDANT] > 0)
        lb_append(buf, size, ", %zu are redundant (each with another one)", counts[LB_REDUNDANT]);
    if (counts[LB_SLOWER] > 0)
        lb_append(buf, size, ", %zu only make it faster (without them more is read or locked)",
                  counts[LB_SLOWER]);
    lb_append(buf, size, ", %zu could not be shown.", counts[LB_NOT_SHOWN]);
}

static void print_diff(const char *diff, FILE *out)
{
    for (const char *line = diff; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        fprintf(out, "      %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_one(const struct lb_mutation *m, size_t i, FILE *out)
{
    const struct lb_mutant *mutant = &m->mutants.at[i];
    const struct lb_judged *judged = &m->judged[i];
    fprintf(out, "%4zu %-10s line %d, %s: %s\n", i + 1, words_of(judged->need), mutant->line,
            mutant->section == LB_SECTIONS ? "header" : lb_section_text(mutant->section),
            mutant->clause);
    print_diff(mutant->diff, out);
    if (judged->need == LB_REDUNDANT)
        fprintf(out, "      with %zu: either can go alone, and not both\n", judged->with + 1);
    if (judged->what[0] != '\0')
        fprintf(out, "      %s, by %s: %s\n", judged->what, judged->question, judged->witness);
    if (judged->again[0] != '\0')
        fprintf(out, "      again: %s\n", judged->again);
    if (judged->reason[0] != '\0' && judged->need != LB_NEEDED)
        fprintf(out, "      %s\n", judged->reason);
}

void lb_mutation_print(const struct lb_mutation *m, FILE *out)
{
    char sum[400];
    fprintf(out, "%s on %s\n", m->strategy.name, m->place->target.label);
    for (size_t i = 0; i < m->mutants.n; i++)
        print_one(m, i, out);
    sum_up(m, sum, sizeof sum);
    fprintf(out, "%s\n", sum);
}

/* A description in TAP has no number sign but that of a directive. */
static void print_description(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '#' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

void lb_mutation_print_tap(const struct lb_mutation *m, FILE *out)
{
    char sum[400];
    fprintf(out, "TAP version 13\n1..%zu\n", m->mutants.n);
    for (size_t i = 0; i < m->mutants.n; i++) {
        const struct lb_mutant *mutant = &m->mutants.at[i];
        const struct lb_judged *judged = &m->judged[i];
        bool is_open = judged->need == LB_NOT_SHOWN;
        fprintf(out, "%s %zu - line %d, ", is_open ? "not ok" : "ok", i + 1, mutant->line);
        print_description(mutant->clause, out);
        if (is_open)
            fprintf(out, " # TODO not shown: %s\n", judged->reason);
        else
            fprintf(out, ": %s%s%s\n", words_of(judged->need), judged->what[0] != '\0' ? ", " : "",
                    judged->what);
        if (judged->need == LB_SLOWER)
            fprintf(out, "# %s\n", judged->reason);
        if (judged->witness[0] != '\0')
            fprintf(out, "# %s\n# again: %s\n", judged->witness, judged->again);
    }
    sum_up(m, sum, sizeof sum);
    fprintf(out, "# %s\n", sum);
}

static json_t *mutant_json(const struct lb_mutation *m, size_t i)
{
    const struct lb_mutant *mutant = &m->mutants.at[i];
    const struct lb_judged *judged = &m->judged[i];
    struct lb_object object = lb_object_new();
    lb_put_count(&object, "number", i + 1);
    lb_put_text(&object, "verdict", lb_need_names[judged->need]);
    lb_put_text(&object, "kind", lb_mutant_kind_name(mutant->kind));
    lb_put_text_or_null(&object, "section",
                        mutant->section == LB_SECTIONS ? NULL : lb_section_text(mutant->section));
    lb_put_count(&object, "line", (uint64_t)mutant->line);
    lb_put_text(&object, "clause", mutant->clause);
    lb_put_text(&object, "diff", mutant->diff);
    lb_put_text_or_null(&object, "violated", judged->what);
    lb_put_text_or_null(&object, "question", judged->question);
    lb_put_text_or_null(&object, "witness", judged->witness);
    lb_put_text_or_null(&object, "again", judged->again);
    if (judged->need == LB_REDUNDANT)
        lb_put_count(&object, "with", judged->with + 1);
    lb_put_text_or_null(&object, "reason", judged->need == LB_NEEDED ? NULL : judged->reason);
    lb_put_flag(&object, "differs", judged->differs != 0);
    return lb_object_end(&object);
}

/* An exploration, and how many of the mutants it was asked about it distinguished. */
static json_t *question_json(const struct lb_mutation_question *question)
{
    struct lb_object object = lb_object_new();
    lb_put_text(&object, "question", question->cell.scenario.name);
    lb_put_flag(&object, "complete", question->is_complete);
    lb_put_real(&object, "original_seconds", (double)question->took_ns / 1e9);
    lb_put_count(&object, "asked", question->tally->n_asked);
    lb_put_count(&object, "distinguished", question->tally->n_shown);
    lb_put_real(&object, "mutants_seconds", (double)question->tally->spent_ns / 1e9);
    return lb_object_end(&object);
}

int lb_mutation_print_json(const struct lb_mutation *m, FILE *out, struct lb_error *err)
{
    struct lb_object object = lb_object_new(), counts = lb_object_new(), list = lb_list_new(),
                     questions = lb_list_new();
    char sum[400];
    sum_up(m, sum, sizeof sum);
    for (size_t i = 0; i < m->n_questions; i++)
        if (m->questions[i].cell.is_explored && m->questions[i].is_usable)
            lb_add(&questions, question_json(&m->questions[i]));
    for (int need = 0; need < LB_NEEDS; need++)
        lb_put_count(&counts, lb_need_names[need], m->counts[need]);
    for (size_t i = 0; i < m->mutants.n; i++)
        lb_add(&list, mutant_json(m, i));
    lb_put_text(&object, "strategy", m->strategy.name);
    lb_put_text(&object, "engine", m->place->target.db->name);
    lb_put_text(&object, "target", m->place->target.label);
    lb_put_text(&object, "summary", sum);
    lb_put(&object, "counts", lb_object_end(&counts));
    lb_put_real(&object, "share", lb_mutation_share(m));
    lb_put(&object, "questions", lb_object_end(&questions));
    lb_put(&object, "mutants", lb_object_end(&list));
    return lb_json_print(lb_object_end(&object), JSON_INDENT(2), "the mutants", out, err);
}
