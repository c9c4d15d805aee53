/* What explore found, as text: coverage, verdicts, and the witness as a table with one column per
 * worker and one row per step. */
#include "cmd_explore_text.h"

#include "append.h"
#include "table.h"
#include "text_clean.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

/* --- the table --- */

/* Appends what of text at *at fits into width, breaking at blanks. */
static void add_piece(char *line, size_t size, const char **at, size_t width)
{
    const char *p = *at;
    size_t n = strlen(p), fits = n, used = strlen(line);
    if (n > width) {
        fits = width;
        while (fits > width / 2 && p[fits] != ' ')
            fits--;
        if (p[fits] != ' ')
            fits = width;
    }
    snprintf(line + used, size - used, "%.*s", (int)fits, p);
    p += fits;
    *at = p + strspn(p, " ");
}

/* All white space as single blanks. */
static void squeeze(const char *text, char *buf, size_t size)
{
    size_t n = 0;
    for (text += strspn(text, " \t\r\n"); *text != '\0' && n + 1 < size; text++) {
        bool blank = isspace((unsigned char)*text);
        if (blank && (isspace((unsigned char)text[1]) || text[1] == '\0'))
            continue;
        buf[n++] = blank ? ' ' : *text;
    }
    buf[n] = '\0';
}

static void describe_answer(const struct lb_explored_step *step, char *buf, size_t size)
{
    if (step->is_death || step->worker < 0) {
        buf[0] = '\0';
        return;
    }
    snprintf(buf, size, "%s", step->was_blocked ? "blocked" : step->is_late ? "goes on: " : "");
    if (!step->was_blocked && step->answer != LB_OK)
        lb_append(buf, size, "%s", lb_answer_name(step->answer));
    else if (!step->was_blocked && step->kind == LB_STEP_EXECUTE && step->rows[0] != '\0')
        lb_append(buf, size, "%s", step->rows);
    else if (!step->was_blocked && step->kind == LB_STEP_EXECUTE)
        lb_append(buf, size, "%lld row%s", (long long)step->n_changed,
                  step->n_changed == 1 ? "" : "s");
    else if (!step->was_blocked)
        lb_append(buf, size, "ok");
    if (step->note[0] != '\0')
        lb_append(buf, size, "%s** %s", buf[0] != '\0' ? "  " : "", step->note);
}

/* Text in one column of the table, over as many lines as it needs. */
static void print_lines(FILE *out, const char *number, uint32_t column, size_t width,
                        const char *text, const char *mark)
{
    const char *at = text;
    bool first = true;
    do {
        char line[1000];
        snprintf(line, sizeof line, "%5s ", first ? number : "");
        for (uint32_t i = 0; i <= column; i++) {
            if (i < column)
                lb_append(line, sizeof line, "| %-*s", (int)width, "");
            else
                lb_append(line, sizeof line, "| %s", first ? mark : "  ");
        }
        add_piece(line, sizeof line, &at, first ? width - strlen(mark) : width - 2);
        fprintf(out, "%s\n", lb_clean_text(line));
        first = false;
    } while (*at != '\0');
}

static void print_table(FILE *out, const struct lb_explored *explored, unsigned screen)
{
    uint32_t n_columns = explored->witness_workers;
    for (size_t i = 0; i < explored->table.n_steps; i++)
        if (explored->table.steps[i].worker >= (int)n_columns)
            n_columns = (uint32_t)explored->table.steps[i].worker + 1;
    enum { NARROWEST = 26, WIDEST = 200 };
    size_t width = (screen - 6) / n_columns > 2 ? (screen - 6) / n_columns - 2 : 0;
    width = width < NARROWEST ? NARROWEST : width > WIDEST / n_columns ? WIDEST / n_columns : width;
    fputs(" step ", out);
    for (uint32_t i = 0; i < n_columns; i++)
        fprintf(out, i + 1 < n_columns ? "| worker %-*u" : "| worker %*u\n",
                i + 1 < n_columns ? (int)width - 7 : 1, i);
    uint32_t last_move = UINT32_MAX;
    for (size_t i = 0; i < explored->table.n_steps; i++) {
        const struct lb_explored_step *step = &explored->table.steps[i];
        char number[16] = "", text[4000], answer[800];
        uint32_t column = step->worker < 0 ? 0 : (uint32_t)step->worker;
        if (step->move != last_move)
            snprintf(number, sizeof number, "%u", step->move + 1);
        last_move = step->move;
        squeeze(step->sql, text, sizeof text);
        if (!step->is_late)
            print_lines(out, number, column, width, text, "");
        describe_answer(step, answer, sizeof answer);
        if (answer[0] != '\0' && (step->kind != LB_STEP_BEGIN || strcmp(answer, "ok") != 0))
            print_lines(out, step->is_late ? number : "", column, width, answer, "-> ");
    }
}

/* --- the rest --- */

/* A paragraph of the result, indented by two. */
__attribute__((format(printf, 3, 4))) static void say(FILE *out, unsigned width, const char *format,
                                                      ...)
{
    char text[2400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    lb_print_wrapped(out, text, 2, width);
}

static void print_coverage(FILE *out, const struct lb_explored *explored, unsigned width)
{
    const struct lb_search_result *search = &explored->search;
    if (explored->search.n_moves == 0)
        return;
    char likely[60] = "";
    if (search->n_likely > 0 && search->n_likely < search->n_schedules)
        snprintf(likely, sizeof likely, " (%llu likely one%s first)",
                 (unsigned long long)search->n_likely, search->n_likely == 1 ? "" : "s");
    say(out, width,
        "%s%s%s: %llu schedule%s run%s, %llu pruned, %llu audited, %llu steps (longest schedule "
        "%zu), "
        "%llu statement%s, %.2f s",
        explored->complete           ? "complete"
        : explored->stopped_at_first ? "ended at the first violation"
                                     : "bounded",
        explored->bounds[0] != '\0' ? ": " : "", explored->bounds,
        (unsigned long long)search->n_schedules, search->n_schedules == 1 ? "" : "s", likely,
        (unsigned long long)search->n_asleep + search->n_void,
        (unsigned long long)explored->n_audited, (unsigned long long)search->n_moves,
        search->longest, (unsigned long long)explored->n_statements,
        explored->n_statements == 1 ? "" : "s", (double)explored->elapsed_ns / 1e9);
    if (explored->inside[0] != '\0')
        say(out, width, "%s", explored->inside);
    if (search->n_choices > 0)
        say(out, width,
            "choices of the engine among waiting sessions: %llu; other answers that were seen, and "
            "followed too: %llu (replays for them: %llu)",
            (unsigned long long)search->n_choices, (unsigned long long)search->n_others,
            (unsigned long long)search->n_repeated);
}

const char *lb_explored_verdict(const struct lb_explored *explored, enum lb_guarantee guarantee)
{
    enum lb_verdict verdict = explored->findings[guarantee].verdict;
    bool is_bounded = verdict == LB_V_HELD && !explored->complete;
    return is_bounded ? "no violation found" : lb_verdict_name(verdict);
}

static void print_verdicts(FILE *out, const struct lb_explored *explored, unsigned width)
{
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *finding = &explored->findings[g];
        if (finding->verdict == LB_V_NOT_CLAIMED)
            continue;
        fprintf(out, "  %-14s %s%s%s\n", lb_guarantee_name((enum lb_guarantee)g),
                lb_explored_verdict(explored, (enum lb_guarantee)g),
                finding->verdict == LB_V_NOT_TESTED ? ": " : "",
                finding->verdict == LB_V_NOT_TESTED ? finding->reason : "");
    }
    if (explored->n_deadlocks > 0)
        say(out, width, "deadlock in %llu schedule%s: %s",
            (unsigned long long)explored->n_deadlocks, explored->n_deadlocks == 1 ? "" : "s",
            explored->deadlock);
    if (explored->n_stuck > 0)
        say(out, width, "no worker could go on in %llu schedule%s: %s",
            (unsigned long long)explored->n_stuck, explored->n_stuck == 1 ? "" : "s",
            explored->stuck);
}

static void print_witness(FILE *out, const struct lb_explored *explored, const char *command,
                          unsigned width)
{
    char schedule[LB_MAX_LENGTH * 2 + 1];
    lb_schedule_print(&explored->schedule, schedule, sizeof schedule);
    fputc('\n', out);
    if (explored->words[0] != '\0') {
        say(out, width, "%s", explored->words);
        fputc('\n', out);
    }
    print_table(out, explored, width);
    fputc('\n', out);
    char chosen[100] = "";
    if (explored->confirmed && explored->n_confirming > 2)
        snprintf(chosen, sizeof chosen, " (in %u replays: the engine chooses who goes on)",
                 explored->n_confirming);
    say(out, width, "%zu statement%s of %u worker%s x %u round%s in %zu step%s%s%s",
        explored->table.n_statements, explored->table.n_statements == 1 ? "" : "s",
        explored->witness_workers, explored->witness_workers == 1 ? "" : "s",
        explored->witness_rounds, explored->witness_rounds == 1 ? "" : "s", explored->schedule.n,
        explored->schedule.n == 1 ? "" : "s",
        explored->is_nondeterministic
            ? ". NOT CONFIRMED: no second replay answered so; the engine is not "
              "deterministic here, or the statements ask for the time"
        : explored->violated == 0 ? ""
                                  : ", replayed twice with the same answers",
        chosen);
    fprintf(out, "  again: %s --replay %s\n", command, schedule);
    for (int g = 0; g < LB_GUARANTEES; g++) {
        if (explored->others[g].n == 0)
            continue;
        lb_schedule_print(&explored->others[g], schedule, sizeof schedule);
        fputc('\n', out);
        say(out, width, "%s is violated by another schedule: %s",
            lb_guarantee_name((enum lb_guarantee)g), explored->findings[g].witness[0].text);
        fprintf(out,
                "  again: the same with --replay %s, and --workers, --rounds and --items as they "
                "were asked for\n",
                schedule);
    }
}

void lb_explored_print(FILE *out, const struct lb_explored *explored, const char *command,
                       unsigned width)
{
    fprintf(out, "%s on %s, %u worker%s x %u round%s\n", explored->strategy, explored->target,
            explored->workers, explored->workers == 1 ? "" : "s", explored->rounds,
            explored->rounds == 1 ? "" : "s");
    print_coverage(out, explored, width);
    if (explored->search.n_moves > 0)
        print_verdicts(out, explored, width);
    if (explored->search.differs) {
        char schedule[LB_MAX_LENGTH * 2 + 1];
        lb_schedule_print(&explored->search.differing, schedule, sizeof schedule);
        say(out, width,
            "not deterministic: the last step of %s had more than %d different answers when it was "
            "replayed; nothing can be concluded",
            schedule, LB_MAX_ANSWERS);
    }
    if (explored->has_witness)
        print_witness(out, explored, command, width);
}
