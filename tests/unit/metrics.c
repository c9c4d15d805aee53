/* The text for Prometheus: counters go on over the runs of a case, buckets are cumulative, and a
 * hostile name stays inside of its quotes.
 */
#include "metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct lb_metrics_case plain = {"lock-row", "sqlite", "mutex-hot"};

#define NAMES "{strategy=\"lock-row\",engine=\"sqlite\",scenario=\"mutex-hot\""

/* Of a run with these waits. */
static struct lb_metrics_run run_of(const uint64_t *waits_ns, size_t n)
{
    struct lb_metrics_run run = {.phase = "running", .n_workers = 3, .n_successes = n};
    static struct lb_coarse coarse;
    memset(&coarse, 0, sizeof coarse);
    for (size_t i = 0; i < n; i++)
        lb_coarse_record(&coarse, waits_ns[i]);
    lb_coarse_add(&coarse, run.waits);
    return run;
}

static char *text_of(struct lb_metrics *metrics)
{
    char *text = lb_metrics_text(metrics);
    assert_non_null(text);
    return text;
}

static void has(const char *text, const char *line)
{
    char whole[300];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (strstr(text, whole) == NULL)
        fail_msg("no line %s in:\n%s", line, text);
}

static void counters_go_on_over_runs(void **state)
{
    (void)state;
    struct lb_metrics *metrics;
    const uint64_t few[] = {900, 1500, 1600}, more[] = {3000, 70000000000};
    uint64_t violations[LB_GUARANTEE_ROOM] = {[LB_G_EXCLUSIVE] = 4, [LB_G_FIFO] = 9};
    metrics = lb_metrics_new();
    struct lb_metrics_run run = run_of(few, 3);
    run.n_refusals = 7;
    lb_metrics_tell(metrics, 2, &plain, &run);
    char *text = text_of(metrics);
    has(text, "lockbench_running" NAMES ",phase=\"running\"} 1");
    has(text, "lockbench_workers" NAMES "} 3");
    has(text, "lockbench_runs_total" NAMES "} 0");
    assert_null(strstr(text, "violations_total{"));
    free(text);
    lb_metrics_over(metrics, 2, LB_G_BIT(LB_G_EXCLUSIVE) | LB_G_BIT(LB_G_PROGRESS), violations);
    text = text_of(metrics);
    assert_null(strstr(text, "lockbench_running{"));
    free(text);
    run = run_of(more, 2);
    run.n_refusals = 1;
    lb_metrics_tell(metrics, 2, &plain, &run);
    text = text_of(metrics);
    has(text, "lockbench_successes_total" NAMES "} 5");
    has(text, "lockbench_refusals_total" NAMES "} 8");
    has(text, "lockbench_wait_seconds_bucket" NAMES ",le=\"1.024e-06\"} 1");
    has(text, "lockbench_wait_seconds_bucket" NAMES ",le=\"2.048e-06\"} 3");
    has(text, "lockbench_wait_seconds_bucket" NAMES ",le=\"4.096e-06\"} 4");
    has(text, "lockbench_wait_seconds_bucket" NAMES ",le=\"68.7194767\"} 4");
    has(text, "lockbench_wait_seconds_bucket" NAMES ",le=\"+Inf\"} 5");
    has(text, "lockbench_wait_seconds_count" NAMES "} 5");
    has(text, "lockbench_violations_total" NAMES ",guarantee=\"exclusive\"} 4");
    has(text, "lockbench_violations_total" NAMES ",guarantee=\"progress\"} 0");
    assert_null(strstr(text, "guarantee=\"fifo\"")); /* not judged */
    has(text, "lockbench_runs_total" NAMES "} 1");
    free(text);
    lb_metrics_free(metrics);
}

/* The middles of the buckets, added up, are within 7 % of the waits' sum. */
static void the_sum_is_near(void **state)
{
    (void)state;
    struct lb_metrics *metrics;
    uint64_t waits[200];
    double sum = 0;
    for (size_t i = 0; i < 200; i++) {
        waits[i] = (i + 1) * (i + 1) * 977;
        sum += (double)waits[i] / 1e9;
    }
    metrics = lb_metrics_new();
    struct lb_metrics_run run = run_of(waits, 200);
    lb_metrics_tell(metrics, 0, &plain, &run);
    char *text = text_of(metrics);
    const char *at = strstr(text, "lockbench_wait_seconds_sum" NAMES "} ");
    assert_non_null(at);
    double told = strtod(strchr(at, '}') + 2, NULL);
    assert_true(told > sum * 0.93 && told < sum * 1.07);
    free(text);
    lb_metrics_free(metrics);
}

static void names_stay_in_their_quotes(void **state)
{
    (void)state;
    struct lb_metrics *metrics;
    const struct lb_metrics_case hostile = {"a\"} 1\nb 2", "c\\", "d"};
    struct lb_metrics_run run = {.phase = "setup"};
    metrics = lb_metrics_new();
    lb_metrics_tell(metrics, 0, &hostile, &run);
    char *text = text_of(metrics);
    has(text,
        "lockbench_successes_total{strategy=\"a\\\"} 1\\nb 2\",engine=\"c\\\\\",scenario=\"d\"} 0");
    assert_null(strstr(text, "\nb 2"));
    free(text);
    lb_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_go_on_over_runs),
        cmocka_unit_test(the_sum_is_near),
        cmocka_unit_test(names_stay_in_their_quotes),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1;
}
