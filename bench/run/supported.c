/* Can a scenario be asked of a strategy on an engine? See run.h. */
#include "run.h"

#include "faults.h"
#include "nearest.h"

#include <stdlib.h>

/* For a program: lockbench does not control its sessions. */
static int program_supported(const struct lb_strategy *strategy, const struct lb_db *db,
                             const struct lb_scenario *scenario, struct lb_error *err)
{
    const struct {
        const char *key;
        bool is_asked;
    } beyond[] = {{"isolation", scenario->isolation != LB_ISO_DEFAULT},
                  {"skew", scenario->skew_ns > 0},
                  {"period", scenario->period_ns > 0},
                  {"rows", scenario->rows > 0},
                  {"pipeline", scenario->pipeline},
                  {"aged", scenario->aged[0] != '\0'},
                  {"dead-rows", scenario->dead_rows > 0},
                  {"locked-ahead", scenario->locked_ahead > 0},
                  {"tx-pause", scenario->tx_pause_ns > 0},
                  {"the snapshot of a phase", lb_stages_snapshot(scenario) != NULL}};
    if (!lb_is_listed(db->name, strategy->engines))
        return lb_fail(err, LB_E_UNSUPPORTED, "%s is for %s, and not for %s", strategy->name,
                       strategy->engines, db->product);
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        if (beyond[i].is_asked)
            return lb_fail(err, LB_E_UNSUPPORTED,
                           "%s is a program: %s cannot be set for the sessions of its own",
                           strategy->name, beyond[i].key);
    return lb_fault_check(strategy, scenario, db, err);
}

static int check_pipeline(const struct lb_db *db, uint64_t caps, const struct lb_scenario *scenario,
                          struct lb_error *err)
{
    if (!scenario->pipeline || (caps & LB_CAP_PIPELINE) != 0)
        return 0;
    return lb_fail(err, LB_E_UNSUPPORTED, "pipeline: %s %s", db->product,
                   db->in_process
                       ? "is inside of this process: there is no round trip"
                       : "cannot: its client library has no pipelines of prepared statements");
}

/* Of a lock: does the strategy admit as many holders? */
static int check_capacities(const struct lb_strategy *strategy, const struct lb_scenario *scenario,
                            struct lb_error *err)
{
    uint32_t *capacity = NULL;
    bool is_one = true;
    int rc = lb_scenario_capacities(scenario, &capacity, err);
    for (uint64_t i = 0; rc == 0 && i < scenario->resources; i++)
        is_one = is_one && capacity[i] <= 1;
    free(capacity);
    if (rc == 0 && !is_one)
        rc = lb_fail(err, LB_E_UNSUPPORTED, "%s admits one holder per resource", strategy->name);
    return rc;
}

/* For a file of statements. */
static int file_supported(const struct lb_strategy *strategy, const struct lb_file *file,
                          const struct lb_db *db, uint64_t caps, const struct lb_scenario *scenario,
                          struct lb_error *err)
{
    if (file == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no statements for %s", strategy->name,
                       db->product);
    if (!lb_file_supports(file, db, err)) {
        err->code = LB_E_UNSUPPORTED;
        return LB_E_UNSUPPORTED;
    }
    if (scenario->period_ns > 0 && !lb_file_uses(file, LB_SLOT_PERIOD_MS))
        return lb_fail(err, LB_E_UNSUPPORTED, "%s knows no period", strategy->name);
    if (scenario->put_batch > 1 && lb_file_uses(file, LB_SLOT_UNIQUE_KEY))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "put-batch: %s refuses single items (:unique_key), and a put of several "
                       "would be refused in part: 1",
                       strategy->name);
    if (caps != 0 && (strategy->needs & ~caps & LB_CAP_REPLICA) != 0)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s reads on a replica, and -d names one server: give it several hosts",
                       strategy->name);
    if (caps != 0 && check_pipeline(db, caps, scenario, err) != 0)
        return err->code;
    uint64_t missing = caps != 0 ? strategy->needs & ~caps : 0;
    if (missing != 0)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s needs %s, which this %s does not have",
                       strategy->name, lb_cap_name(missing & (~missing + 1)), db->product);
    return 0;
}

int lb_run_supported(const struct lb_strategy *strategy, const struct lb_file *file,
                     const struct lb_db *db, uint64_t caps, const struct lb_scenario *scenario,
                     struct lb_error *err)
{
    if (strategy->shape != scenario->shape)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s is a %s, scenario %s asks for a %s",
                       strategy->name, strategy->shape == LB_LOCK ? "lock" : "queue",
                       scenario->name, scenario->shape == LB_LOCK ? "lock" : "queue");
    if ((scenario->shared > 0 || scenario->writers > 0) && !strategy->is_shared_capable)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no shared mode", strategy->name);
    if (scenario->shape == LB_LOCK && !strategy->is_capacity_capable &&
        check_capacities(strategy, scenario, err) != 0)
        return err->code;
    if (strategy->no_database && scenario->period_ns > 0)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s knows no period", strategy->name);
    bool shares_threads =
        scenario->threads > 0 && scenario->threads < scenario->workers + scenario->producers;
    bool calls_block = strategy->no_database || strategy->guest != NULL || db->is_carried == NULL;
    if (shares_threads && calls_block)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "threads: a call to %s blocks its thread: 0, or one for each worker",
                       strategy->no_database || strategy->guest != NULL ? strategy->name
                                                                        : db->product);
    if (scenario->pool > 0 && strategy->flow != &lb_ordinary_flow)
        return lb_fail(err, LB_E_UNSUPPORTED, "pool: %s %s", strategy->name,
                       strategy->no_database ? "has no sessions" : "needs one session per worker");
    const char *phase = lb_stages_snapshot(scenario);
    if (strategy->no_database && phase != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "phase %s: a snapshot needs a database", phase);
    if (strategy->no_database)
        return scenario->pipeline
                   ? lb_fail(err, LB_E_UNSUPPORTED,
                             "pipeline: %s has no server: there is no round trip", strategy->name)
                   : 0;
    if (strategy->guest != NULL)
        return program_supported(strategy, db, scenario, err);
    return file_supported(strategy, file, db, caps, scenario, err);
}
