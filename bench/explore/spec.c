/* A schedule for PostgreSQL's isolationtester.
 *
 * Each move becomes a step of its worker's session, and the schedule the one permutation. The moves
 * of a blocked worker after its release belong to the step in which it was blocked, since
 * isolationtester sends a step as one message; but statements after an error are a step of their
 * own, because the rest of a message is skipped behind an error. At the end, transactions that the
 * schedule leaves open are rolled back, first those without a waiting statement.
 *
 * Source: src/test/isolation/README of PostgreSQL.
 */
#include "show.h"

#include "array.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spec_step {
    int worker;
    size_t number; /* within its session */
    char *sql;
    bool failed; /* nothing can be added behind an error */
};

struct spec {
    struct spec_step *steps;
    size_t n_steps;
    size_t n_of[LB_MAX_WORKERS];
    bool in_tx[LB_MAX_WORKERS], is_blocked[LB_MAX_WORKERS];
};

static void append(struct spec_step *step, const char *sql)
{
    char *before = step->sql;
    size_t n = strlen(sql);
    while (n > 0 && (sql[n - 1] == ';' || sql[n - 1] == ' ' || sql[n - 1] == '\n'))
        n--;
    step->sql = lb_format("%s%s%.*s;", before != NULL ? before : "", before != NULL ? "\n    " : "",
                          (int)n, sql);
    free(before);
}

static struct spec_step *new_step(struct spec *spec, int worker)
{
    struct spec_step *step = lb_array_add(&spec->steps, &spec->n_steps, sizeof *step);
    *step = (struct spec_step){.worker = worker, .number = ++spec->n_of[worker]};
    return step;
}

/* The step to which what is shown belongs: the session's last one, if it is of the same move. Good
 * until the next step is made. */
static struct spec_step *step_for(struct spec *spec, const struct lb_explored_step *shown,
                                  const uint32_t *last_move)
{
    bool follows = shown->is_late || last_move[shown->worker] == shown->move;
    for (size_t i = spec->n_steps; i-- > 0 && follows;)
        if (spec->steps[i].worker == shown->worker) {
            if (spec->steps[i].failed)
                break;
            return &spec->steps[i];
        }
    return new_step(spec, shown->worker);
}

static void add_steps(struct spec *spec, const struct lb_explored_table *table)
{
    uint32_t last_move[LB_MAX_WORKERS];
    memset(last_move, 0xff, sizeof last_move);
    for (size_t i = 0; i < table->n_steps; i++) {
        const struct lb_explored_step *shown = &table->steps[i];
        if (shown->worker < 0 || shown->is_death) {
            if (shown->is_death)
                append(new_step(spec, shown->worker), "ROLLBACK");
            continue;
        }
        if (shown->kind > LB_STEP_ROLLBACK)
            continue;
        bool is_answer = shown->is_late && spec->is_blocked[shown->worker];
        struct spec_step *step = step_for(spec, shown, last_move);
        if (!is_answer)
            append(step, shown->sql);
        last_move[shown->worker] = shown->move;
        step->failed = !shown->was_blocked && shown->answer != LB_OK;
        spec->is_blocked[shown->worker] = shown->was_blocked;
        if (shown->kind == LB_STEP_BEGIN)
            spec->in_tx[shown->worker] = true;
        if (shown->kind == LB_STEP_COMMIT || shown->kind == LB_STEP_ROLLBACK)
            spec->in_tx[shown->worker] = false;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int w = 0; w < LB_MAX_WORKERS; w++)
            if (spec->in_tx[w] && spec->is_blocked[w] == (pass == 1))
                append(new_step(spec, w), "ROLLBACK");
}

/* Statements without parameters in the file's order, then what was executed with some. */
static void print_statements(FILE *out, const struct lb_testbed *testbed, const char *indent)
{
    const struct lb_section *setup = &testbed->program->sections[LB_S_SETUP];
    for (size_t i = 0; i < setup->n_statements; i++)
        if (setup->statements[i].n_params == 0)
            fprintf(out, "%s%s;\n", indent, setup->statements[i].native);
    for (const char *at = testbed->setup_sql; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, "\n");
        fprintf(out, "%s%.*s\n", indent, (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static void print_setup(FILE *out, const struct lb_testbed *testbed)
{
    fputs("setup\n{\n    CREATE SCHEMA lockbench_spec;\n    SET search_path = lockbench_spec;\n",
          out);
    print_statements(out, testbed, "    ");
    fputs("}\n\nteardown\n{\n    DROP SCHEMA lockbench_spec CASCADE;\n}\n", out);
}

static void print_sessions(FILE *out, const struct spec *spec, enum lb_isolation isolation)
{
    for (int w = 0; w < LB_MAX_WORKERS; w++) {
        if (spec->n_of[w] == 0)
            continue;
        fprintf(out, "\nsession w%d\nsetup\n{\n    SET search_path = lockbench_spec;\n", w);
        if (isolation != LB_ISO_DEFAULT)
            fprintf(out, "    SET default_transaction_isolation = '%s';\n",
                    lb_isolation_name(isolation));
        fputs("}\n", out);
        for (size_t i = 0; i < spec->n_steps; i++)
            if (spec->steps[i].worker == w)
                fprintf(out, "step w%d_%zu\n{\n    %s\n}\n", w, spec->steps[i].number,
                        spec->steps[i].sql != NULL ? spec->steps[i].sql : "");
    }
    fputs("\npermutation", out);
    for (size_t i = 0; i < spec->n_steps; i++)
        fprintf(out, " w%d_%zu", spec->steps[i].worker, spec->steps[i].number);
    fputc('\n', out);
}

char *lb_show_spec(const struct lb_testbed *testbed, const struct lb_explored *explored)
{
    struct spec spec = {.n_steps = 0};
    char *text = NULL, schedule[LB_MAX_LENGTH * 2 + 1];
    size_t size;
    FILE *out = lb_open_memory(&text, &size);
    lb_schedule_print(&explored->schedule, schedule, sizeof schedule);
    add_steps(&spec, &explored->table);
    fprintf(out, "# %s, %u workers x %u rounds, schedule %s\n# %s\n\n", explored->strategy,
            explored->witness_workers, explored->witness_rounds, schedule, explored->words);
    print_setup(out, testbed);
    print_sessions(out, &spec, testbed->isolation);
    lb_close_memory(out);
    for (size_t i = 0; i < spec.n_steps; i++)
        free(spec.steps[i].sql);
    free(spec.steps);
    return text;
}

char *lb_show_setup(const struct lb_testbed *testbed)
{
    char *text = NULL;
    size_t size;
    FILE *out = lb_open_memory(&text, &size);
    print_statements(out, testbed, "");
    lb_close_memory(out);
    return text;
}
