/* The statements that an exploration steps through, of one version or of two. */
#include "memory.h"
#include "program_features.h"
#include "testbed.h"

#include <stdlib.h>
#include <string.h>

static enum lb_isolation isolation_of(const struct lb_testbed *testbed)
{
    if (testbed->plan.isolation != LB_ISO_DEFAULT)
        return testbed->plan.isolation;
    if (testbed->plan.strategy->isolation != LB_ISO_DEFAULT)
        return testbed->plan.strategy->isolation;
    return testbed->program->isolation;
}

/* A lease whose length stands in its statement cannot be set: the clocks go past any. */
static void take_fixed_lease(struct lb_testbed *testbed)
{
    struct lb_explore_plan *plan = &testbed->plan;
    struct lb_features features;
    lb_features_read(plan->file, testbed->program, &features);
    if (features.constant_line == 0 && !features.has_fixed_lease)
        return;
    plan->ttl_ms = plan->ttl_ms > LB_LONG_LEASE_MS ? plan->ttl_ms : LB_LONG_LEASE_MS;
    if (!features.has_fixed_lease)
        return;
    if (!lb_file_is_lease_fixed(plan->file))
        lb_program_guess_lease(testbed->program, features.constant_line);
    testbed->leased = *plan->strategy;
    testbed->leased.is_lease = true;
    plan->strategy = &testbed->leased;
}

/* The lease that is explored goes before the file's default, and --opt before both. */
static int program_of(struct lb_testbed *testbed, const struct lb_file *file,
                      struct lb_scaled *scaled, struct lb_program **ret_program,
                      struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    struct lb_setting *settings = lb_calloc(plan->n_settings + LB_SCALED, sizeof *settings);
    lb_file_scale(file, plan->ttl_ms, true, plan->settings, plan->n_settings, scaled);
    memcpy(settings, scaled->settings, scaled->n_settings * sizeof *settings);
    size_t n = scaled->n_settings;
    for (size_t i = 0; i < plan->n_settings; i++)
        if (file == plan->file ||
            lb_options_have(lb_file_options(file), plan->settings[i].name, NULL))
            settings[n++] = plan->settings[i];
    int r =
        lb_program_new(file, testbed->db, plan->strategy->options, settings, n, ret_program, err);
    free(settings);
    return r;
}

/* Statements are looked up in one array, so that the version before appends its own. The rules
 * about rows and about alike workers know one version only. */
static int new_program_before(struct lb_testbed *testbed, struct lb_error *err)
{
    struct lb_explore_plan *plan = &testbed->plan;
    struct lb_scaled scaled;
    int r = program_of(testbed, lb_file_before(plan->file), &scaled, &testbed->program_before, err);
    if (r == 0)
        r = lb_program_agree(testbed->program, testbed->program_before, err);
    if (r == 0 &&
        (scaled.lease_ms != plan->ttl_ms || scaled.limit_ms != testbed->strategy_plan.limit_ms))
        r = lb_fail(err, LB_E_UNSUPPORTED,
                    "the two versions have leases of %u and %u ms: give --ttl, and no --opt for "
                    "them",
                    scaled.lease_ms, plan->ttl_ms);
    if (r == 0)
        lb_program_append(testbed->program, testbed->program_before);
    plan->distinct = true;
    if (plan->relation < LB_RELATION_TABLES)
        plan->relation = LB_RELATION_TABLES;
    return r;
}

int lb_testbed_new_program(struct lb_testbed *testbed, struct lb_error *err)
{
    struct lb_explore_plan *plan = &testbed->plan;
    struct lb_scaled scaled;
    if (lb_testbed_has_programs(testbed)) { /* it has no sections */
        testbed->program = lb_calloc(1, sizeof *testbed->program);
        if (plan->strategy->stated != NULL)
            *testbed->program = *plan->strategy->stated;
        testbed->isolation = isolation_of(testbed);
        return 0;
    }
    int r = program_of(testbed, plan->file, &scaled, &testbed->program, err);
    if (r != 0)
        return r;
    plan->ttl_ms = scaled.lease_ms;
    testbed->strategy_plan.limit_ms = scaled.limit_ms;
    if (lb_file_before(plan->file) != NULL)
        r = new_program_before(testbed, err);
    if (r == 0)
        take_fixed_lease(testbed);
    testbed->isolation = isolation_of(testbed);
    return r;
}
