/* Which scenarios can be run: see scenario.h. Each key by itself was checked when it was set; here
 * their combination is checked. A key that has no meaning for the scenario's shape must keep its
 * default.
 */
#include "scenario.h"

#include "aged_table.h"
#include "memory.h"
#include "strategy.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lb_scenario_capacities(const struct lb_scenario *scenario, uint32_t **ret_capacity,
                           struct lb_error *err)
{
    size_t n = (size_t)scenario->resources, n_given = 0;
    uint32_t given[LB_MAX_CAPACITIES];
    const char *at = scenario->capacity;
    for (;;) {
        char *end;
        while (*at == ' ')
            at++;
        errno = 0;
        unsigned long value = strtoul(at, &end, 10);
        if (!isdigit((unsigned char)*at) || errno != 0 || value < 1 || value > 1000000)
            return lb_fail(err, LB_E_USAGE,
                           "capacity: '%s' is not a number from 1 to 1000000, or one per resource",
                           scenario->capacity);
        if (n_given == LB_MAX_CAPACITIES)
            return lb_fail(err, LB_E_USAGE, "capacity: more than %d numbers", LB_MAX_CAPACITIES);
        given[n_given++] = (uint32_t)value;
        at = end + strspn(end, " ");
        if (*at == '\0')
            break;
        if (*at++ != ',')
            return lb_fail(err, LB_E_USAGE, "capacity: '%s' needs commas between its numbers",
                           scenario->capacity);
    }
    if (n_given != 1 && n_given != n)
        return lb_fail(err, LB_E_USAGE,
                       "capacity: %zu numbers for %zu resources; give one number, or one for each",
                       n_given, n);
    uint32_t *capacity = lb_malloc(n * sizeof *capacity);
    for (size_t i = 0; i < n; i++)
        capacity[i] = given[n_given == 1 ? 0 : i];
    *ret_capacity = capacity;
    return 0;
}

/* Keys of the other shape keep their defaults. */
static int validate_shape(const struct lb_scenario *scenario, struct lb_error *err)
{
    struct lb_scenario defaults;
    lb_scenario_init(&defaults);
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        char value[300], default_value[300];
        if (lb_key_applies(key, scenario->shape))
            continue;
        lb_scenario_get(scenario, key, value, sizeof value);
        lb_scenario_get(&defaults, key, default_value, sizeof default_value);
        if (strcmp(value, default_value) != 0)
            return lb_fail(err, LB_E_USAGE, "%s has no meaning for a %s scenario", key->name,
                           lb_shape_name(scenario->shape));
    }
    return 0;
}

/* Sessions go from worker to worker: nothing may need one of a certain worker. */
static int validate_pool(const struct lb_scenario *s, struct lb_error *err)
{
    bool can_be = s->fault == LB_FAULT_NONE || lb_fault_is(s->fault, LB_FAULT_IS_FOR_POOLS);
    char names[200];
    if (s->pool == 0)
        return 0;
    if (s->pool > s->workers + s->producers)
        return lb_fail(err, LB_E_USAGE, "pool: at most one session per worker");
    if (s->processes > 0)
        return lb_fail(err, LB_E_USAGE, "pool: processes cannot share connections");
    if (s->threads > 0 && s->threads < s->workers + s->producers)
        return lb_fail(err, LB_E_USAGE, "pool: each worker needs a thread to wait in: threads 0");
    if (!can_be)
        return lb_fail(err, LB_E_USAGE,
                       "pool: fault %s befalls a worker with a session of its own; %s",
                       lb_fault_name(s->fault),
                       lb_faults_named(LB_FAULT_IS_FOR_POOLS, "or", names, sizeof names));
    if (s->guard || s->rows > 0)
        return lb_fail(err, LB_E_USAGE, "pool: %s needs a session per worker",
                       s->guard ? "guard" : "rows");
    return 0;
}

/* The expected count at the end must be known, and so must the table that a reader reads. */
static int validate_counting(const struct lb_scenario *s, struct lb_error *err)
{
    bool is_disturbed = s->fault != LB_FAULT_NONE || s->recover_ns > 0 || s->period_ns > 0;
    if (s->rounds > 0 && (is_disturbed || s->rows > 0))
        return lb_fail(err, LB_E_USAGE, "rounds: not with fault, recover, period or rows");
    if (s->rounds > 1 && (!s->drain || s->producers > 0))
        return lb_fail(err, LB_E_USAGE, "rounds: more than one needs drain, and no producers");
    if (s->classes > s->workers)
        return lb_fail(err, LB_E_USAGE, "classes: at most one for each worker: %llu",
                       (unsigned long long)s->workers);
    if (s->classes > 1 && (s->rounds > 0 || s->recover_ns > 0 || s->rows > 0 ||
                           s->locked_ahead > 0 || s->dead_rows > 0))
        return lb_fail(err, LB_E_USAGE,
                       "classes: not with rounds, recover, rows, locked-ahead or dead-rows");
    char names[200];
    if (s->readers > 0 && s->fault != LB_FAULT_NONE && s->n_stages == 0 &&
        !lb_fault_is(s->fault, LB_FAULT_IS_FOR_READERS))
        return lb_fail(err, LB_E_USAGE, "readers: not with fault %s; %s", lb_fault_name(s->fault),
                       lb_faults_named(LB_FAULT_IS_FOR_READERS, "or", names, sizeof names));
    return 0;
}

/* How many there are, and which faults they can have. */
static int validate_workers(const struct lb_scenario *s, struct lb_error *err)
{
    if (s->workers == 0 && s->producers == 0)
        return lb_fail(err, LB_E_USAGE, "workers: at least 1 is needed");
    if (s->workers + s->producers > LB_MOST_WORKERS)
        return lb_fail(err, LB_E_USAGE, "workers: at most %d with the producers", LB_MOST_WORKERS);
    if (s->rate[0] != '\0' && s->shape == LB_QUEUE && s->producers == 0)
        return lb_fail(err, LB_E_USAGE,
                       "rate: %s has no producers, who put the arrivals: use -S steady, or leave "
                       "-S out, or give --producers",
                       s->name);
    if (s->fault != LB_FAULT_NONE && s->fault_interval_ns == 0)
        return lb_fail(err, LB_E_USAGE, "fault-interval: 0 leaves no time for anything else");
    const uint64_t n = s->workers + s->producers;
    if (lb_fault_is(s->fault, LB_FAULT_KILLS) && s->processes > 0 && s->processes != n)
        return lb_fail(err, LB_E_USAGE, "processes: fault %s wants one for each worker: %llu",
                       lb_fault_name(s->fault), (unsigned long long)n);
    if (s->fault == LB_FAULT_POISON && s->fault_count > 0 && s->fault_count >= s->workers)
        return lb_fail(err, LB_E_USAGE,
                       "fault-count: of poison, the number of poisonous items: fewer than workers, "
                       "%llu, so that some are left for the others",
                       (unsigned long long)s->workers);
    return 0;
}

/* What carries the workers. */
static int validate_threads(const struct lb_scenario *s, struct lb_error *err)
{
    if (s->renew_ns > 0 && s->ttl_ns == 0)
        return lb_fail(err, LB_E_USAGE, "renew: needs a ttl");
    if (s->processes > s->workers + s->producers)
        return lb_fail(err, LB_E_USAGE, "processes: at most one per worker");
    if (s->threads > s->workers + s->producers)
        return lb_fail(err, LB_E_USAGE, "threads: at most one per worker");
    bool shares_threads = s->threads > 0 && s->threads < s->workers + s->producers;
    if (shares_threads && s->processes > 0)
        return lb_fail(err, LB_E_USAGE, "threads: in processes each worker has its own");
    if (shares_threads && s->fault != LB_FAULT_NONE)
        return lb_fail(err, LB_E_USAGE,
                       "threads: a fault stops its victim's thread, so each worker needs its own");
    if (s->resources == 0 || s->resources > 1000000)
        return lb_fail(err, LB_E_USAGE, "resources: from 1 to 1000000");
    return 0;
}

/* Checks the end of the run, and the rows that items update. */
static int validate_end(const struct lb_scenario *s, struct lb_error *err)
{
    if (s->duration_ns == 0 && s->count == 0 && !s->drain &&
        (s->fault == LB_FAULT_NONE || s->fault_count == 0))
        return lb_fail(err, LB_E_USAGE,
                       "duration: 0 needs count, drain or fault-count: nothing else ends it");
    if (s->drain && s->producers > 0)
        return lb_fail(err, LB_E_USAGE, "drain: with producers the queue may never be empty");
    if (s->drain && s->warmup_ns > 0)
        return lb_fail(err, LB_E_USAGE, "warmup: a drain is measured from its first claim; set 0");
    if (s->shape == LB_QUEUE && s->backlog == 0 && s->producers == 0)
        return lb_fail(err, LB_E_USAGE, "backlog: 0 without producers: there is nothing to claim");
    if (s->rows > 0 && (s->rows < s->backlog || s->rows > 1000000000 || s->producers > 0 ||
                        !s->drain || s->error >= 1))
        return lb_fail(err, LB_E_USAGE,
                       "rows: needs drain, no producers, error below 1, and from one row per item "
                       "of the backlog to 1G");
    if (s->partial && (s->rows == 0 || s->error == 0))
        return lb_fail(err, LB_E_USAGE, "partial: needs rows and error");
    if (s->skewed != LB_SKEWED_HALF && s->skew_ns == 0)
        return lb_fail(err, LB_E_USAGE, "skewed: needs skew: by how much?");
    if (s->ids != LB_IDS_UNIQUE && s->duplicate_ids)
        return lb_fail(err, LB_E_USAGE, "ids: not with duplicate-ids, which gives them");
    if (s->period_ns > 0 && s->shape == LB_QUEUE && (s->drain || s->period_ns < 10000000))
        return lb_fail(err, LB_E_USAGE,
                       "period: of a queue, from 10ms, and without drain: it is never empty");
    if (s->rows > 0 && s->fault != LB_FAULT_NONE)
        return lb_fail(err, LB_E_USAGE,
                       "rows: with a fault, an update may be done whose item is not: it is not "
                       "judged");
    return 0;
}

/* Checks the rows before the backlog. */
static int validate_backlog(const struct lb_scenario *s, struct lb_error *err)
{
    if (s->locked_ahead > 0 && (s->locked_ahead < 20 || s->locked_ahead > s->backlog))
        return lb_fail(err, LB_E_USAGE, "locked-ahead: from 20 to the backlog");
    if ((s->locked_ahead > 0 || s->dead_rows > 0) && s->period_ns > 0)
        return lb_fail(err, LB_E_USAGE, "locked-ahead and dead-rows: not with a period");
    if ((s->locked_ahead > 0 || s->dead_rows > 0) &&
        (s->processes > 0 || lb_fault_is(s->fault, LB_FAULT_KILLS)))
        return lb_fail(err, LB_E_USAGE, "locked-ahead and dead-rows: not with processes");
    if ((s->locked_ahead > 0 || s->dead_rows > 0) && s->rows > 0)
        return lb_fail(err, LB_E_USAGE, "locked-ahead and dead-rows: not with rows");
    if (s->aged[0] == '\0' && s->statistics != LB_AGED_FRESH)
        return lb_fail(err, LB_E_USAGE, "statistics: of aged tables: aged=finished=1M");
    if (s->aged[0] != '\0' && (s->rounds > 0 || s->readers > 0 || s->rows > 0 || s->period_ns > 0))
        return lb_fail(err, LB_E_USAGE, "aged: not with rounds, readers, rows or period");
    return 0;
}

static int validate_sizes(const struct lb_scenario *s, struct lb_error *err)
{
    if (s->batch == 0 || s->batch > LB_CLAIM_MAX)
        return lb_fail(err, LB_E_USAGE, "batch: from 1 to %d", LB_CLAIM_MAX);
    if (s->put_batch == 0 || s->put_batch > LB_CLAIM_MAX)
        return lb_fail(err, LB_E_USAGE, "put-batch: from 1 to %d", LB_CLAIM_MAX);
    if (s->put_batch > 1 && s->producers == 0)
        return lb_fail(err, LB_E_USAGE, "put-batch: of producers, and there are none");
    if (s->put_batch > 1 && s->rate[0] != '\0')
        return lb_fail(err, LB_E_USAGE,
                       "put-batch: not with rate: there each item arrives by itself");
    if (s->put_batch > 1 && s->classes > 1)
        return lb_fail(err, LB_E_USAGE,
                       "put-batch: not with classes: a put is of one class of task");
    if (s->payload_bytes > 1 << 20)
        return lb_fail(err, LB_E_USAGE, "payload: at most 1 MiB (1Mi)");
    if (s->writers > 0 && s->shared > 0)
        return lb_fail(err, LB_E_USAGE,
                       "writers: not with shared: it says which workers ask in shared mode");
    if (s->error + s->free_share > 1)
        return lb_fail(err, LB_E_USAGE, "error and free: together at most 1");
    if (s->poll_max_ns < s->poll_ns)
        return lb_fail(err, LB_E_USAGE, "poll-max: below poll");
    if (s->overrun > 0 && s->ttl_ns == 0)
        return lb_fail(err, LB_E_USAGE, "overrun: needs a ttl");
    if (s->ttl_ns > UINT64_C(86400000000000))
        return lb_fail(err, LB_E_USAGE, "ttl: at most 24h");
    return 0;
}

const char *lb_scenario_unpiped(const struct lb_scenario *s)
{
    return s->pool > 0                ? "not with pool: its sessions go from worker to worker"
           : s->claim_interval_ns > 0 ? "not with claim-interval: claims wait for their time"
           : s->rounds > 1            ? "not with rounds: between two of them no worker may claim"
           : s->rows > 0              ? "not with rows: an item's range is updated in between"
                                      : NULL;
}

static int validate_pipeline(const struct lb_scenario *s, struct lb_error *err)
{
    const char *why = s->pipeline ? lb_scenario_unpiped(s) : NULL;
    return why == NULL ? 0 : lb_fail(err, LB_E_USAGE, "pipeline: %s", why);
}

int lb_scenario_validate(const struct lb_scenario *scenario, struct lb_error *err)
{
    static int (*const validate[])(const struct lb_scenario *s, struct lb_error *err) = {
        validate_workers, validate_pool,  validate_counting, validate_threads,  validate_end,
        validate_backlog, validate_sizes, validate_pipeline, lb_stages_validate};
    uint32_t *capacity;
    int rc = validate_shape(scenario, err);
    if (rc != 0)
        return rc;
    rc = lb_scenario_capacities(scenario, &capacity, err);
    if (rc != 0)
        return rc;
    free(capacity);
    for (size_t i = 0; i < sizeof validate / sizeof validate[0] && rc == 0; i++)
        rc = validate[i](scenario, err);
    return rc;
}
