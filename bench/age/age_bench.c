/* Opening and closing: see age_bench.h. */
#include "age_bench.h"

#include <string.h>

enum { TTL_MS = 600000, LOCK_TIMEOUT_MS = 10000 };

int lb_age_open(struct lb_age_bench *bench, uint32_t n_resources, struct lb_error *err)
{
    const struct lb_age_plan *plan = bench->plan;
    struct lb_conn_options options = {.role = "age", .lock_timeout_ms = LOCK_TIMEOUT_MS};
    struct lb_scaled scaled;
    for (size_t i = 0; i < LB_AGE_RESOURCES; i++)
        bench->capacity[i] = 1;
    struct lb_setting settings[64];
    lb_file_scale(plan->file, TTL_MS, false, plan->settings, plan->n_settings, &scaled);
    if (scaled.n_settings + plan->n_settings > 64)
        return lb_fail(err, LB_E_USAGE, "more than %d options", 64 - LB_SCALED);
    memcpy(settings, scaled.settings, scaled.n_settings * sizeof *settings);
    if (plan->n_settings > 0)
        memcpy(settings + scaled.n_settings, plan->settings, plan->n_settings * sizeof *settings);
    int r = lb_program_new(plan->file, bench->db, plan->strategy->options, settings,
                           scaled.n_settings + plan->n_settings, &bench->program, err);
    if (r == 0 && bench->program->makes_schema)
        r = lb_fail(err, LB_E_UNSUPPORTED,
                    "its setup makes a schema: only the tables of the run's "
                    "own schema are aged");
    if (r == 0)
        r = bench->db->space_open(plan->target, plan->strategy->name, &bench->space, err);
    if (r == 0)
        r = lb_session_open(&bench->session, bench->db, bench->space, &options, err);
    bench->has_session = r == 0;
    if (r != 0)
        return r;
    bench->strategy_plan =
        (struct lb_strategy_plan){.strategy = plan->strategy,
                                  .program = bench->program,
                                  .space_no = bench->db->space_number(bench->space),
                                  .n_resources = n_resources,
                                  .capacity = bench->capacity,
                                  .ttl_ms = scaled.lease_ms,
                                  .limit_ms = scaled.limit_ms,
                                  .groups = 1000000,
                                  .delay_ms = LB_AGED_DELAY_MS};
    r = plan->strategy->flow->setup(&bench->strategy_plan, &bench->session, err);
    bench->is_set_up = r == LB_OK;
    bench->actor =
        (struct lb_actor){.plan = &bench->strategy_plan, .session = &bench->session, .name = "age"};
    if (r == LB_OK)
        r = plan->strategy->flow->open(&bench->actor, err);
    bench->is_open = r == LB_OK;
    if (r == LB_OK && lb_strategy_has(&bench->strategy_plan, LB_S_REGISTER))
        r = plan->strategy->flow->class(&bench->actor, LB_S_REGISTER, err);
    return lb_aged_answered(&bench->session, "setup", r, err);
}

int lb_age_close(struct lb_age_bench *bench, int r, struct lb_error *err)
{
    struct lb_error closing;
    bench->session.gate = NULL;
    if (bench->has_snapshot)
        lb_session_close(&bench->snapshot);
    lb_aged_release(&bench->aged);
    if (bench->is_open)
        bench->plan->strategy->flow->close(&bench->actor);
    if (bench->is_set_up)
        bench->plan->strategy->flow->teardown(&bench->strategy_plan, &bench->session, &closing);
    if (bench->has_session)
        lb_session_close(&bench->session);
    if (bench->space != NULL && bench->db->space_close(bench->space, false, &closing) != 0 &&
        r == 0) {
        *err = closing;
        r = closing.code;
    }
    lb_program_free(bench->program);
    return r;
}
