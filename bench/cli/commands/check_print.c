/* The verdicts of `lockbench check`: see check_print.h. */
#include "check_print.h"

#include "json_object.h"
#include "report.h"
#include "table.h"
#include "text_clean.h"
#include "units.h"

#include <limits.h>
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
        lb_print_wrapped(out, finding->witness[i].text, 4, width);
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
        fprintf(out, "%llu of %llu refusals came while no worker can have held it\n",
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
        fprintf(out, "%llu deaths in a hold, %llu recovered%s%s%s\n",
                (unsigned long long)m->n_deaths, (unsigned long long)m->n_recovered,
                m->n_recovered > 0 ? ", at most " : "",
                m->n_recovered > 0 ? lb_format_ns(m->max_recovery_ns, wait, sizeof wait) : "",
                m->n_recovered > 0 ? " later" : "");
}

int lb_checked_text(const struct lb_checked *checked, unsigned width, FILE *out,
                    struct lb_error *err)
{
    char events[32], file[PATH_MAX];
    for (size_t i = 0; i < checked->n_files; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", lb_shown(checked->files[i], file, sizeof file));
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

static json_t *finding_json(const struct lb_checked *checked, const struct lb_finding *finding)
{
    struct lb_object object = lb_object_new(), witnesses = lb_list_new();
    lb_put_text(&object, "verdict", lb_verdict_name(finding->verdict));
    lb_put_text_or_null(&object, "reason", finding->reason);
    lb_put_count(&object, "violations", finding->n_violations);
    lb_put_count(&object, "tested", finding->n_tested);
    for (size_t i = 0; i < finding->n_witnesses; i++)
        lb_add(&witnesses, lb_witness_json(&finding->witness[i], checked->start_ns, true));
    lb_put(&object, "witnesses", lb_object_end(&witnesses));
    return lb_object_end(&object);
}

int lb_checked_json(const struct lb_checked *checked, FILE *out, struct lb_error *err)
{
    struct lb_object object = lb_object_new(), files = lb_list_new(), guarantees = lb_object_new();
    for (size_t i = 0; i < checked->n_files; i++)
        lb_add(&files, lb_json_text(checked->files[i]));
    for (int i = 0; i < LB_GUARANTEES; i++)
        lb_put(&guarantees, lb_guarantee_name((enum lb_guarantee)i),
               finding_json(checked, &checked->judgement->findings[i]));
    lb_put_text(&object, "schema", "lockbench-check");
    lb_put_count(&object, "schema_version", 1);
    lb_put(&object, "files", lb_object_end(&files));
    lb_put_text(&object, "model", checked->model_name);
    lb_put_text(&object, "release", release_name(checked));
    lb_put_count(&object, "events", checked->n_events);
    lb_put_count(&object, "workers", checked->n_workers);
    lb_put_flag(&object, "truncated", checked->truncated);
    lb_put_flag(&object, "without_checksums", checked->is_unchecked);
    lb_put(&object, "guarantees", lb_object_end(&guarantees));
    lb_put(&object, "measures", lb_measures_json(&checked->judgement->measures));
    int rc = lb_json_print(lb_object_end(&object), JSON_INDENT(2), "the verdicts", out, err);
    return rc == 0 ? finish(out, err) : rc;
}

/* --- TAP 13 --- */

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
            lb_print_yaml(out, "message", finding->witness[0].text);
        fprintf(out, "  violations: %llu\n  tested: %llu\n  ...\n",
                (unsigned long long)finding->n_violations, (unsigned long long)finding->n_tested);
    }
    fprintf(out, "1..%zu\n", n);
    return finish(out, err);
}
