/* The verdicts of `lockbench check`: see check_print.h. */
#include "check_print.h"

#include "report.h"
#include "units.h"

#include <jansson.h>
#include <string.h>

static const char *release_name(const struct lb_checked *checked)
{
    return checked->model->release == LB_RELEASE_STATE ? "state" : "belief";
}

static int finish(FILE *out, struct lb_error *err)
{
    if (fflush(out) != 0 || ferror(out))
        return lb_fail(err, LB_E_ENV, "cannot write the verdicts");
    return 0;
}

/* --- text --- */

/* text in lines of width columns, behind an indent. */
static void print_wrapped(FILE *out, const char *text, unsigned width, unsigned indent)
{
    unsigned column = indent;
    fprintf(out, "%*s", (int)indent, "");
    while (*text != '\0') {
        unsigned word = (unsigned)strcspn(text, " ");
        if (column > indent && column + 1 + word > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)word, text);
        column += word;
        text += word + (text[word] == ' ');
    }
    fputc('\n', out);
}

static void print_drawing(const struct lb_checked *checked, const struct lb_witness *witness,
                          unsigned width, FILE *out)
{
    char drawing[4000];
    lb_witness_draw(witness, checked->start_ns, width < 100 ? width - 4 : 96, drawing,
                    sizeof drawing);
    for (const char *line = drawing; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        fprintf(out, "    %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_finding(const struct lb_checked *checked, int guarantee, unsigned width,
                          FILE *out)
{
    const struct lb_finding *finding = &checked->judgement->findings[guarantee];
    char violations[32], tested[32];
    const char *name = lb_guarantee_name((enum lb_guarantee)guarantee);
    lb_format_count((double)finding->n_violations, violations, sizeof violations);
    lb_format_count((double)finding->n_tested, tested, sizeof tested);
    fprintf(out, "%-14s %s", name, lb_verdict_name(finding->verdict));
    if (finding->verdict == LB_V_HELD)
        fprintf(out, " (%s tested)", tested);
    if (finding->verdict == LB_V_VIOLATED)
        fprintf(out, " (%s of %s)", violations, tested);
    if (finding->verdict == LB_V_NOT_TESTED)
        fprintf(out, ": %s", finding->reason);
    fputc('\n', out);
    for (size_t i = 0; i < finding->n_witnesses && finding->verdict == LB_V_VIOLATED; i++) {
        print_wrapped(out, finding->witness[i].text, width, 4);
        if (finding->witness[i].overlap_ns > 0 || i == 0)
            print_drawing(checked, &finding->witness[i], width, out);
    }
}

static void print_measures(const struct lb_checked *checked, FILE *out)
{
    const struct lb_measures *m = &checked->judgement->measures;
    char wait[32], n[32];
    fprintf(
        out, "\n%s %s, longest wait %s, Jain's index %.3f, Gini's %.3f",
        lb_format_count((double)(checked->model->queue ? m->n_claims : m->n_holds), n, sizeof n),
        checked->model->queue ? "claims" : "grants",
        lb_format_ns(m->longest_wait_ns, wait, sizeof wait), m->jain, m->gini);
    if (!checked->model->queue)
        fprintf(out, ", at most %llu at once", (unsigned long long)m->max_depth);
    fputc('\n', out);
    if (m->n_refusals_unjustified > 0)
        fprintf(out, "%llu of %llu refusals came while nobody can have held it\n",
                (unsigned long long)m->n_refusals_unjustified, (unsigned long long)m->n_refusals);
    if (m->n_empty_unjustified > 0)
        fprintf(out, "%llu of %llu answers \"empty\" came while something was there\n",
                (unsigned long long)m->n_empty_unjustified, (unsigned long long)m->n_empty);
    if (m->n_overtakes > 0)
        fprintf(out, "%llu overtakes, at most %llu of one waiter\n",
                (unsigned long long)m->n_overtakes, (unsigned long long)m->max_overtakes);
    if (checked->model->lease && !checked->model->queue)
        fprintf(out,
                "leases: %llu overlaps as the database granted them, %llu as their holders "
                "believed, %llu stale writes accepted, %llu refused\n",
                (unsigned long long)m->n_cut_violations, (unsigned long long)m->n_uncut_violations,
                (unsigned long long)m->n_stale_writes_accepted,
                (unsigned long long)m->n_stale_writes_refused);
    if (m->n_taken_items > 0)
        fprintf(out,
                "%llu item%s claimed %llu times: a recovery, or the end of a lease, took them "
                "from workers that were alive; %llu stale writes accepted, %llu refused\n",
                (unsigned long long)m->n_taken_items, m->n_taken_items == 1 ? " was" : "s were",
                (unsigned long long)m->n_taken_claims,
                (unsigned long long)m->n_stale_writes_accepted,
                (unsigned long long)m->n_stale_writes_refused);
    if (m->n_restarts > 0)
        fprintf(out, "the database server was started anew %llu time%s, and not by the run\n",
                (unsigned long long)m->n_restarts, m->n_restarts == 1 ? "" : "s");
    if (m->n_deaths > 0)
        fprintf(out, "%llu deaths in a hold, %llu recovered, at most %s later\n",
                (unsigned long long)m->n_deaths, (unsigned long long)m->n_recovered,
                lb_format_ns(m->max_recovery_ns, wait, sizeof wait));
}

int lb_checked_text(const struct lb_checked *checked, unsigned width, FILE *out,
                    struct lb_error *err)
{
    char events[32];
    for (size_t i = 0; i < checked->n_files; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", checked->files[i]);
    fprintf(out, ": %s events of %u worker%s; model %s, unclear releases by %s%s%s\n\n",
            lb_format_count((double)checked->n_events, events, sizeof events), checked->n_workers,
            checked->n_workers == 1 ? "" : "s", checked->model_name, release_name(checked),
            checked->truncated ? "; cut off" : "",
            checked->is_unchecked ? "; without checksums (an older version of the format): "
                                    "damage cannot be seen"
                                  : "");
    for (int i = 0; i < LB_GUARANTEES; i++)
        if (checked->judgement->findings[i].verdict != LB_V_NOT_CLAIMED)
            print_finding(checked, i, width, out);
    print_measures(checked, out);
    return finish(out, err);
}

/* --- JSON --- */

static json_t *witness_json(const struct lb_checked *checked, const struct lb_witness *witness)
{
    json_t *ops = json_array();
    for (size_t i = 0; i < witness->n_ops; i++) {
        const struct lb_witness_op *op = &witness->ops[i];
        json_t *end = op->end_ns == UINT64_MAX
                          ? json_null()
                          : json_integer((json_int_t)(op->end_ns - checked->start_ns));
        json_t *value = op->has_value ? json_integer((json_int_t)op->value) : json_null();
        json_t *type =
            op->type == LB_EV_NONE ? json_null() : json_string(lb_event_type_name(op->type));
        if (json_array_append_new(
                ops,
                json_pack("{s:i, s:s, s:I, s:s, s:o, s:s, s:i, s:o, s:I, s:o}", "worker",
                          (int)op->log, "who", op->who, "process", (json_int_t)op->process, "op",
                          lb_op_name(op->op), "end", type, "answer", lb_answer_name(op->answer),
                          "object", (int)op->object, "value", value, "invoke_ns",
                          (json_int_t)(op->invoke_ns - checked->start_ns), "end_ns", end)) != 0)
            break;
    }
    return json_pack("{s:s, s:I, s:o}", "text", witness->text, "overlap_ns",
                     (json_int_t)witness->overlap_ns, "operations", ops);
}

static json_t *finding_json(const struct lb_checked *checked, const struct lb_finding *finding)
{
    json_t *witnesses = json_array();
    for (size_t i = 0; i < finding->n_witnesses; i++)
        json_array_append_new(witnesses, witness_json(checked, &finding->witness[i]));
    json_t *reason = finding->reason[0] != '\0' ? json_string(finding->reason) : json_null();
    return json_pack("{s:s, s:o, s:I, s:I, s:o}", "verdict", lb_verdict_name(finding->verdict),
                     "reason", reason, "violations", (json_int_t)finding->n_violations, "tested",
                     (json_int_t)finding->n_tested, "witnesses", witnesses);
}

int lb_checked_json(const struct lb_checked *checked, FILE *out, struct lb_error *err)
{
    json_t *files = json_array(), *guarantees = json_object();
    for (size_t i = 0; i < checked->n_files; i++)
        json_array_append_new(files, json_string(checked->files[i]));
    for (int i = 0; i < LB_GUARANTEES; i++)
        json_object_set_new(guarantees, lb_guarantee_name((enum lb_guarantee)i),
                            finding_json(checked, &checked->judgement->findings[i]));
    json_t *root = json_pack("{s:s, s:i, s:o, s:s, s:s, s:I, s:I, s:b, s:b, s:o, s:o}", "schema",
                             "lockbench-check", "schema_version", 1, "files", files, "model",
                             checked->model_name, "release", release_name(checked), "events",
                             (json_int_t)checked->n_events, "workers",
                             (json_int_t)checked->n_workers, "truncated", checked->truncated,
                             "without_checksums", checked->is_unchecked, "guarantees", guarantees,
                             "measures", lb_measures_json(&checked->judgement->measures));
    int rc = root == NULL ? lb_fail(err, LB_E_MEMORY, "out of memory for the verdicts") : 0;
    if (rc == 0 && json_dumpf(root, out, JSON_INDENT(2)) != 0)
        rc = lb_fail(err, LB_E_ENV, "cannot write the verdicts");
    if (rc == 0) {
        fputc('\n', out);
        rc = finish(out, err);
    }
    json_decref(root);
    return rc;
}

/* --- TAP 13 --- */

static void print_quoted(FILE *out, const char *key, const char *text)
{
    fprintf(out, "  %s: \"", key);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputs("\"\n", out);
}

int lb_checked_tap(const struct lb_checked *checked, FILE *out, struct lb_error *err)
{
    size_t n = 0;
    fputs("TAP version 13\n", out);
    for (int i = 0; i < LB_GUARANTEES; i++) {
        const struct lb_finding *finding = &checked->judgement->findings[i];
        if (finding->verdict == LB_V_NOT_CLAIMED)
            continue;
        fprintf(out, "%s %zu - %s", finding->verdict == LB_V_VIOLATED ? "not ok" : "ok", ++n,
                lb_guarantee_name((enum lb_guarantee)i));
        if (finding->verdict == LB_V_NOT_TESTED) {
            fprintf(out, " # SKIP %s\n", finding->reason);
            continue;
        }
        fputs("\n  ---\n", out);
        if (finding->n_witnesses > 0 && finding->verdict == LB_V_VIOLATED)
            print_quoted(out, "message", finding->witness[0].text);
        fprintf(out, "  violations: %llu\n  tested: %llu\n  ...\n",
                (unsigned long long)finding->n_violations, (unsigned long long)finding->n_tested);
    }
    fprintf(out, "1..%zu\n", n);
    return finish(out, err);
}
