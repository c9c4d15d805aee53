/* Settles a part of a recorded history of a queue, at two random times, and compares the verdicts
 * with those of the whole history.
 *
 *   settle_history FILE TIMES SEED
 *
 * A line for each verdict of the whole history, then "N times, D with a dropped part, U untold".
 * Exit status 1 if a verdict differs, unless it is not tested because of the dropped part.
 */
#include "check.h"
#include "check_meta.h"
#include "memory.h"
#include "random.h"
#include "settling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    struct lb_event *all, *events; /* the whole log; kept events, and room for all */
    size_t n_all, n, at;
};

static struct lb_error err;

static int fail(const char *what)
{
    fprintf(stderr, "settle_history: %s: %s\n", what, err.message);
    return 1;
}

static void read_parts(const struct lb_history_view *view, struct part *parts)
{
    for (size_t i = 0; i < view->n_logs; i++) {
        const struct lb_log_view *log = &view->logs[i];
        parts[i] = (struct part){.all = calloc(log->n_events + 1, sizeof *parts->all),
                                 .events = calloc(log->n_events + 1, sizeof *parts->all),
                                 .n_all = log->n_events};
        size_t n = 0;
        for (size_t s = 0; s < log->n_spans && parts[i].all != NULL; s++, n += log->spans[s - 1].n)
            memcpy(&parts[i].all[n], log->spans[s].events, log->spans[s].n * sizeof *parts->all);
    }
}

/* Of the record at a time, all or a part may be dropped. */
static void settle(struct lb_settled *settled, const struct lb_model *model, struct part *parts,
                   size_t n_logs, uint64_t time, struct lb_random *random)
{
    struct lb_settle_log *logs = lb_calloc(n_logs, sizeof *logs);
    for (size_t i = 0; i < n_logs; i++) {
        struct part *part = &parts[i];
        size_t seen = part->at;
        while (seen < part->n_all && part->all[seen].time_ns <= time)
            seen++;
        size_t n = lb_random_below(random, 2) == 0
                       ? seen
                       : part->at + lb_random_below(random, (uint32_t)(seen - part->at + 1));
        memcpy(&part->events[part->n], &part->all[part->at], (seen - part->at) * sizeof *part->all);
        logs[i] =
            (struct lb_settle_log){part->events, part->n + n - part->at, part->n + seen - part->at};
        part->at = n;
    }
    lb_settle(settled, model, logs, n_logs, time);
    for (size_t i = 0; i < n_logs; i++)
        parts[i].n = logs[i].n;
    free(logs);
}

static int judge_rest(const struct lb_history_view *whole, struct part *parts,
                      const struct lb_model *model, struct lb_judgement *ret)
{
    struct lb_log_view *logs = calloc(whole->n_logs, sizeof *logs);
    struct lb_span *spans = calloc(whole->n_logs, sizeof *spans);
    struct lb_history_view view = *whole;
    view.logs = logs;
    view.n_events = 0;
    for (size_t i = 0; i < whole->n_logs && logs != NULL && spans != NULL; i++) {
        struct part *part = &parts[i];
        memcpy(&part->events[part->n], &part->all[part->at],
               (part->n_all - part->at) * sizeof *part->all);
        spans[i] = (struct lb_span){part->events, part->n + part->n_all - part->at};
        logs[i] = (struct lb_log_view){
            .number = (uint32_t)i, .n_spans = 1, .spans = &spans[i], .n_events = spans[i].n};
        view.n_events += spans[i].n;
        part->n = part->at = 0;
    }
    int rc = logs == NULL || spans == NULL ? LB_E_MEMORY : lb_check(&view, model, ret, &err);
    free(logs);
    free(spans);
    return rc;
}

/* 0: the same; 1: not told because of the dropped part; 2: another verdict. */
static int differ(const struct lb_finding *a, const struct lb_finding *b)
{
    if (a->verdict == b->verdict && a->n_tested == b->n_tested)
        return 0;
    return b->verdict == LB_V_NOT_TESTED && strstr(b->reason, "dropped") != NULL ? 1 : 2;
}

static int compare(const struct lb_judgement *whole, const struct lb_judgement *rest,
                   int n_untold[])
{
    int status = 0;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        const struct lb_finding *a = &whole->findings[g], *b = &rest->findings[g];
        int how = a->verdict != LB_V_NOT_CLAIMED ? differ(a, b) : 0;
        n_untold[g] += how == 1;
        if (how < 2)
            continue;
        status = 1;
        printf("%s: %s of %llu, and %s of %llu: %s\n", lb_guarantee_name((enum lb_guarantee)g),
               lb_verdict_name(a->verdict), (unsigned long long)a->n_tested,
               lb_verdict_name(b->verdict), (unsigned long long)b->n_tested,
               b->n_witnesses > 0 ? b->witness[0].text : b->reason);
    }
    return status;
}

int main(int argc, char **argv)
{
    static struct lb_judgement whole, rest;
    struct lb_history_view view;
    struct lb_model model = {.complete = true};
    uint32_t *capacity = NULL;
    struct lb_random random;
    if (argc != 4 || lb_history_open(argv[1], &view, &err) != 0)
        return fail(argc == 4 ? argv[1] : "usage: settle_history FILE TIMES SEED");
    if (lb_model_parse(view.meta, &model, &capacity, &err) != 0)
        return fail(argv[1]);
    const char *refusal = lb_settle_refusal(&model);
    struct part *parts = calloc(view.n_logs + 1, sizeof *parts);
    if (refusal != NULL || parts == NULL || lb_check(&view, &model, &whole, &err) != 0)
        return fail(refusal != NULL ? refusal : argv[1]);
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (whole.findings[g].verdict != LB_V_NOT_CLAIMED)
            printf("%s %s\n", lb_guarantee_name((enum lb_guarantee)g),
                   lb_verdict_name(whole.findings[g].verdict));
    uint64_t last_ns = view.start_ns, length_ns;
    read_parts(&view, parts);
    for (size_t i = 0; i < view.n_logs; i++)
        if (parts[i].n_all > 0 && parts[i].all[parts[i].n_all - 1].time_ns > last_ns)
            last_ns = parts[i].all[parts[i].n_all - 1].time_ns;
    length_ns = last_ns - view.start_ns;
    lb_random_init(&random, strtoull(argv[3], NULL, 10), 1);
    const int times = (int)strtol(argv[2], NULL, 10);
    int n_dropped = 0, n_untold[LB_GUARANTEE_ROOM] = {0}, status = 0;
    for (int i = 0; i < times; i++) {
        struct lb_settled *settled = lb_settled_new();
        double a = lb_random_unit(&random), b = a + (1 - a) * lb_random_unit(&random);
        settle(settled, &model, parts, view.n_logs,
               view.start_ns + (uint64_t)(a * (double)length_ns), &random);
        settle(settled, &model, parts, view.n_logs,
               view.start_ns + (uint64_t)(b * (double)length_ns), &random);
        model.settled = settled;
        if (judge_rest(&view, parts, &model, &rest) != 0)
            return fail(argv[1]);
        n_dropped += lb_settled_events(settled) > 0;
        status |= compare(&whole, &rest, n_untold);
        lb_settled_free(settled);
    }
    printf("%d times, %d with a dropped part\n", times, n_dropped);
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (n_untold[g] > 0)
            printf("%s untold %d times\n", lb_guarantee_name((enum lb_guarantee)g), n_untold[g]);
    return status;
}
