/* A played schedule as rows: the statements with their parameters filled in, and the answers. */
#include "show.h"

#include "append.h"
#include "array.h"
#include "memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parameters --- */

/* The n-th literal of a record's parameters, one per line. */
static const char *literal(const char *params, size_t n, size_t *ret_length)
{
    for (; n > 0 && params != NULL; n--) {
        params = strchr(params, '\n');
        params = params != NULL ? params + 1 : NULL;
    }
    *ret_length = params != NULL ? strcspn(params, "\n") : 0;
    return params;
}

/* Length of a quoted or commented stretch at p, 0: none. */
static size_t stretch(const char *p)
{
    if (*p == '\'') {
        const char *end = strchr(p + 1, '\'');
        return end != NULL ? (size_t)(end - p) + 1 : strlen(p);
    }
    if (p[0] == '-' && p[1] == '-')
        return strcspn(p, "\n");
    return 0;
}

/* The statement with its placeholders ("$1", "?1", "?", in the engine's own form) replaced by the
 * literals of this execution. */
char *lb_show_fill_in(const char *native, const char *params)
{
    char *text = NULL;
    size_t size, unnamed = 0;
    FILE *out = lb_open_memory(&text, &size);
    for (const char *p = native; *p != '\0';) {
        size_t skip = stretch(p), length;
        if (skip > 0) {
            fwrite(p, 1, skip, out);
            p += skip;
            continue;
        }
        bool numbered = (*p == '$' || *p == '?') && isdigit((unsigned char)p[1]);
        if (!numbered && *p != '?') {
            fputc(*p++, out);
            continue;
        }
        char *end = NULL;
        size_t n = numbered ? strtoul(p + 1, &end, 10) - 1 : unnamed++;
        const char *value = literal(params, n, &length);
        if (value != NULL)
            fwrite(value, 1, length, out);
        else
            fputc('?', out);
        p = numbered ? end : p + 1;
    }
    lb_close_memory(out);
    return text;
}

const char *lb_show_native(const struct lb_testbed *testbed, const char *sql)
{
    size_t i = lb_testbed_statement(testbed, sql);
    return i < testbed->program->n_statements ? testbed->program->statements[i].native : sql;
}

/* --- rows --- */

static const char *text_of(const struct lb_step_record *record)
{
    switch (record->kind) {
    case LB_STEP_BEGIN:
        return "BEGIN";
    case LB_STEP_COMMIT:
        return "COMMIT";
    case LB_STEP_ROLLBACK:
        return "ROLLBACK";
    case LB_STEP_ENTER:
        return "(is inside)";
    case LB_STEP_LEAVE:
        return "(is about to leave)";
    default:
        return "";
    }
}

static struct lb_explored_step *add_step(struct lb_explored_table *table)
{
    return lb_array_add(&table->steps, &table->n_steps, sizeof *table->steps);
}

static void show_record(const struct lb_testbed *testbed, const struct lb_step_record *record,
                        struct lb_explored_table *table)
{
    *add_step(table) = (struct lb_explored_step){
        .move = record->move,
        .worker = record->task,
        .kind = (enum lb_step_kind)record->kind,
        .is_late = record->is_late,
        .was_blocked = record->was_blocked,
        .answer = record->answer,
        .n_rows = record->n_rows,
        .n_changed = record->n_changed,
        .sql = record->kind == LB_STEP_EXECUTE
                   ? lb_show_fill_in(lb_show_native(testbed, record->sql), record->params)
                   : lb_strdup(text_of(record)),
        .rows = lb_strdup(record->rows != NULL ? record->rows : ""),
        .note = lb_strdup(record->note)};
}

/* A death, or a step of the clock. */
static void show_fault(const struct lb_testbed *testbed, uint32_t move, unsigned which,
                       struct lb_explored_table *table)
{
    const uint32_t tick_ms = testbed->plan.tick_ms;
    bool is_half = tick_ms > 0 && tick_ms < testbed->plan.ttl_ms,
         is_death = lb_move_is_death(which);
    *add_step(table) =
        (struct lb_explored_step){.move = move,
                                  .worker = lb_move_worker(which),
                                  .kind = LB_STEP_LEAVE,
                                  .is_death = is_death,
                                  .sql = lb_strdup(is_death  ? "dies"
                                                   : is_half ? "time passes: more than half a lease"
                                                             : "time passes: one lease"),
                                  .rows = lb_strdup(""),
                                  .note = lb_strdup("")};
}

void lb_show_table(const struct lb_testbed *testbed, struct lb_explored *explored)
{
    struct lb_explored_table *table = &explored->table;
    const struct lb_schedule *schedule = &explored->schedule;
    size_t a = 0;
    for (size_t move = 0; move < schedule->n; move++) {
        if (schedule->moves[move] >= LB_MOVE_DEATH && schedule->moves[move] < LB_MOVE_CUT)
            show_fault(testbed, (uint32_t)move, schedule->moves[move], table);
        for (; a < testbed->n_records && testbed->records[a].move == move; a++) {
            const struct lb_step_record *record = &testbed->records[a];
            bool is_harness = record->kind > LB_STEP_ROLLBACK;
            if (is_harness && (!testbed->unreduced || record->kind == LB_STEP_POLL))
                continue;
            show_record(testbed, record, table);
            table->n_statements += !is_harness && record->kind != LB_STEP_BEGIN && !record->is_late;
        }
    }
}

/* --- words --- */

/* "6.000 ms" at p, which stands for step 6: its length, else 0. */
static size_t step_at(const char *p, unsigned long *ret_step)
{
    char *end;
    if (!isdigit((unsigned char)*p))
        return 0;
    *ret_step = strtoul(p, &end, 10);
    if (*end == '.')
        end += 1 + strspn(end + 1, "0");
    return strncmp(end, " ms", 3) == 0 ? (size_t)(end - p) + 3 : 0;
}

static void say_steps(char *words, size_t size, const char *text)
{
    size_t n = 0;
    for (const char *p = text; *p != '\0' && n + 40 < size;) {
        unsigned long step = 0;
        size_t skip = step_at(p, &step);
        bool inside = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '.');
        if (skip == 0 || inside) {
            words[n++] = *p++;
            continue;
        }
        bool is_length = strncmp(p + skip, " together", 9) == 0;
        n += (size_t)snprintf(words + n, size - n, is_length ? "%lu step%s" : "step %lu%s", step,
                              is_length && step != 1 ? "s" : "");
        p += skip;
    }
    words[n] = '\0';
}

void lb_show_steps(struct lb_finding *finding)
{
    for (size_t i = 0; i < finding->n_witnesses; i++) {
        char text[sizeof finding->witness[i].text];
        memcpy(text, finding->witness[i].text, sizeof text);
        say_steps(finding->witness[i].text, sizeof text, text);
    }
}

void lb_show_words(struct lb_explored *explored)
{
    char *words = explored->words;
    words[0] = '\0';
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *finding = &explored->findings[g];
        if ((explored->violated >> g & 1) == 0 || strlen(words) + 100 > sizeof explored->words)
            continue;
        lb_append(words, sizeof explored->words, "%s%s is violated: %s",
                  words[0] != '\0' ? ". " : "", lb_guarantee_name((enum lb_guarantee)g),
                  finding->n_witnesses > 0 ? finding->witness[0].text : "");
    }
}
