/* Scenarios: the key table, and keys as text: see scenario.h.
 *
 * One const table describes every key: its type, its place in struct lb_scenario, its help line and
 * the shapes it has a meaning for. Files, flags and results all go through that table, so that they
 * cannot drift apart.
 */
#include "scenario.h"

#include "aged_table.h"
#include "append.h"
#include "attributes.h"
#include "nearest.h"
#include "schedule.h"
#include "service.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(key, kind, field, where, arg, text)                                                    \
    {                                                                                              \
        .name = key, .type = kind, .offset = offsetof(struct lb_scenario, field), .shapes = where, \
        .argument = arg, .help = text                                                              \
    }

const struct lb_key lb_scenario_keys[] = {
    KEY("shape", LB_KEY_SHAPE, shape, LB_KEY_BOTH, "lock|queue",
        "the kind of strategy for the scenario"),
    KEY("workers", LB_KEY_COUNT, workers, LB_KEY_BOTH, "N",
        "number of workers; of a queue: consumers"),
    KEY("processes", LB_KEY_COUNT, processes, LB_KEY_BOTH, "N",
        "number of processes for the workers; 0: threads of one process"),
    KEY("threads", LB_KEY_COUNT, threads, LB_KEY_BOTH, "N",
        "number of threads that carry the sessions; 0: chosen by lockbench"),
    KEY("pool", LB_KEY_COUNT, pool, LB_KEY_BOTH, "N",
        "number of sessions that the workers share; 0: one for each worker"),
    KEY("producers", LB_KEY_COUNT, producers, LB_KEY_QUEUE, "N",
        "number of workers that put items"),
    KEY("resources", LB_KEY_COUNT, resources, LB_KEY_LOCK, "N", "number of named resources"),
    KEY("zipf", LB_KEY_EXPONENT, zipf, LB_KEY_LOCK, "S",
        "chooses the k-th resource in proportion to 1/k^S; 0: all alike"),
    KEY("capacity", LB_KEY_TEXT, capacity, LB_KEY_LOCK, "K[,K...]",
        "number of allowed holders; one number for all resources, or one for each"),
    KEY("rate", LB_KEY_RATE, rate, LB_KEY_BOTH, "RATE",
        "open loop: 800/s, poisson:800/s, phases:..., trace:FILE; see lockbench-scenario(5)"),
    KEY("max-pending", LB_KEY_COUNT, max_pending, LB_KEY_BOTH, "N",
        "open loop: number of arrivals that may wait; further ones are skipped and counted"),
    KEY("shared", LB_KEY_SHARE, shared, LB_KEY_LOCK, "SHARE", "share of shared acquires, 0 to 1"),
    KEY("writers", LB_KEY_COUNT, writers, LB_KEY_LOCK, "N",
        "number of workers that always ask in exclusive mode, while all others read; 0: by shared"),
    KEY("hold", LB_KEY_HOLD, hold_ns, LB_KEY_BOTH, "TIME",
        "time of a hold, or on one item: 5ms, exp:5ms, ..."),
    KEY("think", LB_KEY_TIME, think_ns, LB_KEY_LOCK, "TIME",
        "pause between a release and the next acquire"),
    KEY("poll", LB_KEY_TIME, poll_ns, LB_KEY_BOTH, "TIME",
        "pause after a busy or empty answer, before the next try"),
    KEY("backoff", LB_KEY_CHOICE, backoff, LB_KEY_BOTH, "fixed|exponential|jitter",
        "how the pause grows with consecutive refusals"),
    KEY("poll-max", LB_KEY_TIME, poll_max_ns, LB_KEY_BOTH, "TIME", "longest pause"),
    KEY("tries", LB_KEY_COUNT, tries, LB_KEY_BOTH, "N", "gives up after N refusals; 0: never"),
    KEY("acquire-timeout", LB_KEY_TIME, acquire_timeout_ns, LB_KEY_LOCK, "TIME",
        "gives up waiting after TIME; 0: never"),
    KEY("ttl", LB_KEY_TIME, ttl_ns, LB_KEY_BOTH, "TIME", "length of a lease"),
    KEY("stale", LB_KEY_TIME, stale_ns, LB_KEY_LOCK, "TIME",
        "age at which polls delete other workers' requests; 0: never"),
    KEY("overrun", LB_KEY_SHARE, overrun, LB_KEY_LOCK, "SHARE",
        "share of holds that outlast their lease"),
    KEY("tx-pause", LB_KEY_TIME, tx_pause_ns, LB_KEY_BOTH, "TIME",
        "mean pause between the last statement and COMMIT of enqueue and claim"),
    KEY("backlog", LB_KEY_COUNT, backlog, LB_KEY_QUEUE, "N", "items put before the start"),
    KEY("locked-ahead", LB_KEY_COUNT, locked_ahead, LB_KEY_QUEUE, "N",
        "another session locks the first N items of the backlog"),
    KEY("dead-rows", LB_KEY_COUNT, dead_rows, LB_KEY_QUEUE, "N",
        "number of dead rows, kept by an old snapshot"),
    KEY("aged", LB_KEY_AGED, aged, LB_KEY_QUEUE, "STATE=N[,STATE=N...]",
        "items that fill the tables before the start: finished, failed, delayed or other-class"),
    KEY("statistics", LB_KEY_CHOICE, statistics, LB_KEY_QUEUE, "fresh|stale|default",
        "of the aged tables, at the server: fresh, stale (of the empty tables) or default"),
    KEY("rows", LB_KEY_COUNT, rows, LB_KEY_QUEUE, "N",
        "each item updates its range of a table of N rows; 0: none"),
    KEY("batch", LB_KEY_COUNT, batch, LB_KEY_QUEUE, "N", "items per claim"),
    KEY("pipeline", LB_KEY_FLAG, pipeline, LB_KEY_QUEUE, NULL,
        "sends the end of a claim's last items and the next claim in one round trip; "
        "--no-pipeline: waits for each answer"),
    KEY("put-interval", LB_KEY_TIME, put_interval_ns, LB_KEY_QUEUE, "TIME",
        "pause between two puts of one producer; 0: none"),
    KEY("put-batch", LB_KEY_COUNT, put_batch, LB_KEY_QUEUE, "N", "items per put of a producer"),
    KEY("claim-interval", LB_KEY_TIME, claim_interval_ns, LB_KEY_QUEUE, "TIME",
        "pause between two claims of one consumer; 0: none"),
    KEY("payload", LB_KEY_BYTES, payload_bytes, LB_KEY_QUEUE, "BYTES", "size of an item"),
    KEY("error", LB_KEY_SHARE, error, LB_KEY_QUEUE, "SHARE", "share of items that end in error"),
    KEY("free", LB_KEY_SHARE, free_share, LB_KEY_QUEUE, "SHARE",
        "share of items that are given back"),
    KEY("period", LB_KEY_TIME, period_ns, LB_KEY_BOTH, "TIME", "period of recurring work; 0: none"),
    KEY("drain", LB_KEY_FLAG, drain, LB_KEY_QUEUE, NULL,
        "ends when the backlog is empty; --no-drain: ends by time"),
    KEY("classes", LB_KEY_COUNT, classes, LB_KEY_QUEUE, "N",
        "number of task classes in the queue's table, each with its own items and workers; 0: one"),
    KEY("groups", LB_KEY_COUNT, groups, LB_KEY_QUEUE, "N",
        "number of groups that items are of, where the strategy puts them with :group; 0: 4"),
    KEY("keys", LB_KEY_COUNT, keys, LB_KEY_QUEUE, "N",
        "number of keys that items have, where the strategy puts them with :key; 0: 8"),
    KEY("key-zipf", LB_KEY_EXPONENT, key_zipf, LB_KEY_QUEUE, "S",
        "the k-th key is chosen in proportion to 1/k^S; 0: all alike"),
    KEY("tenants", LB_KEY_PARTS, tenants, LB_KEY_QUEUE, "NAME:SHARE[,NAME:N]",
        "tenants of items put with :tenant, and their shares; the last N have the rest; default "
        "hot:0.8,small:49"),
    KEY("priority", LB_KEY_PARTS, priority, LB_KEY_QUEUE, "P:SHARE[,P:SHARE...]",
        "priorities of items put with :priority; default 0:0.9,9:0.1"),
    KEY("due", LB_KEY_PARTS, due, LB_KEY_QUEUE, "TIME:SHARE[,TIME:SHARE...]",
        "when items put with :due may be claimed; default now:1"),
    KEY("unique", LB_KEY_SHARE, unique, LB_KEY_QUEUE, "SHARE",
        "share of items put with the :unique_key of an earlier item; 0: half of them"),
    KEY("rounds", LB_KEY_COUNT, rounds, LB_KEY_QUEUE, "N",
        "drains the backlog N times, and compares the strategy's count with the history; 0: does "
        "not"),
    KEY("readers", LB_KEY_COUNT, readers, LB_KEY_QUEUE, "N",
        "number of sessions that read the queue's count all the while"),
    KEY("duration", LB_KEY_TIME, duration_ns, LB_KEY_BOTH, "TIME", "length of the measured part"),
    KEY("count", LB_KEY_COUNT, count, LB_KEY_BOTH, "N",
        "ends after N operations of each worker; 0: no limit"),
    KEY("warmup", LB_KEY_TIME, warmup_ns, LB_KEY_BOTH, "TIME",
        "length of the part before, which is not measured"),
    KEY("lock-timeout", LB_KEY_TIME, lock_timeout_ns, LB_KEY_BOTH, "TIME",
        "longest lock wait in the engine; 0: no limit"),
    KEY("isolation", LB_KEY_ISOLATION, isolation, LB_KEY_BOTH, "LEVEL",
        "default, read-committed, repeatable-read or serializable"),
    KEY("progress-bound", LB_KEY_TIME, progress_bound_ns, LB_KEY_BOTH, "TIME",
        "longest wait that is allowed; 0: not judged"),
    KEY("fault", LB_KEY_FAULT, fault, LB_KEY_BOTH, "KIND",
        "the injected fault: none" LB_FAULT_NAMES),
    KEY("fault-interval", LB_KEY_TIME, fault_interval_ns, LB_KEY_BOTH, "TIME",
        "time between two faults"),
    KEY("fault-length", LB_KEY_TIME, fault_length_ns, LB_KEY_BOTH, "TIME",
        "length of a pause, blocker, snapshot or full disk; delay of a slow statement"),
    KEY("grace", LB_KEY_TIME, grace_ns, LB_KEY_BOTH, "TIME",
        "of the fault term: how long a worker that is to stop may take before it is killed"),
    KEY("fault-count", LB_KEY_COUNT, fault_count, LB_KEY_BOTH, "N",
        "number of faults at most; 0: as many as the time allows; the run still lasts for its "
        "duration, or with "
        "duration 0 until the last fault is over"),
    KEY("skew", LB_KEY_TIME, skew_ns, LB_KEY_BOTH, "TIME", "workers' clocks are wrong by TIME"),
    KEY("skewed", LB_KEY_CHOICE, skewed, LB_KEY_BOTH, "half|ahead|behind",
        "which clocks skew makes wrong: every second worker's is ahead, or all are ahead of the "
        "server's, or behind it"),
    KEY("renew", LB_KEY_TIME, renew_ns, LB_KEY_BOTH, "TIME",
        "time between two renewals of a held lease, or of a claimed item; 0: never renewed; "
        "between two heartbeats of a process; 0: a quarter of recover's limit"),
    KEY("recover", LB_KEY_TIME, recover_ns, LB_KEY_QUEUE, "TIME",
        "how often a consumer frees items that were claimed longer than ttl ago; 0: never"),
    KEY("recovery-bound", LB_KEY_TIME, recovery_bound_ns, LB_KEY_BOTH, "TIME",
        "longest time from a holder's death to the next grant; 0: not judged"),
    KEY("partial", LB_KEY_FLAG, partial, LB_KEY_QUEUE, NULL,
        "an item that ends in error has updated half of its range; --no-partial: nothing"),
    KEY("ids", LB_KEY_CHOICE, ids, LB_KEY_BOTH, "unique|spid|guid|host",
        "what a worker calls itself; spid: a number that is used again after a death"),
    KEY("duplicate-ids", LB_KEY_FLAG, duplicate_ids, LB_KEY_BOTH, NULL,
        "pairs of workers use the same id; --no-duplicate-ids: each has its own"),
    KEY("guard", LB_KEY_FLAG, guard, LB_KEY_LOCK, NULL,
        "reads and writes a guarded row in each hold; --no-guard: does not"),
    {.name = NULL},
};

_Static_assert(sizeof(enum lb_shape) == sizeof(int) && sizeof(enum lb_ids) == sizeof(int),
               "choices are stored as int");
_Static_assert(sizeof lb_scenario_keys / sizeof lb_scenario_keys[0] <= LB_MOST_KEYS,
               "a file's reader notes each key");

const char *lb_shape_name(enum lb_shape shape)
{
    return shape == LB_LOCK ? "lock" : "queue";
}

size_t lb_scenario_base(const char *name)
{
    return strcspn(name, "[");
}

bool lb_scenario_is_swept(const char *name)
{
    const char *varies = name + lb_scenario_base(name);
    return varies[0] != '\0' && strcmp(varies, LB_SCENARIO_AGED) != 0;
}

const struct lb_key *lb_scenario_key(const char *name)
{
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++)
        if (strcmp(key->name, name) == 0)
            return key;
    return NULL;
}

void lb_scenario_init(struct lb_scenario *scenario)
{
    *scenario = (struct lb_scenario){
        .shape = LB_LOCK,
        .workers = 8,
        .resources = 1,
        .capacity = "1",
        .poll_ns = 1000000,
        .backoff = LB_BACKOFF_JITTER,
        .poll_max_ns = 50000000,
        .max_pending = 1000,
        .fault_interval_ns = 200000000,
        .fault_length_ns = 300000000,
        .grace_ns = 100000000,
        .ttl_ns = UINT64_C(30000000000),
        .batch = 1,
        .put_batch = 1,
        .payload_bytes = 32,
        .duration_ns = UINT64_C(2000000000),
        .warmup_ns = 200000000,
        .lock_timeout_ns = UINT64_C(10000000000),
    };
}

static uint64_t *u64_field(struct lb_scenario *scenario, const struct lb_key *key)
{
    return (uint64_t *)(void *)((char *)scenario + key->offset);
}

/* The words of "fixed|exponential|jitter" by their number, in the order of the enum. NULL: there
 * are no more. */
static const char *choice_at(const struct lb_key *key, int choice, size_t *ret_length)
{
    const char *at = key->argument;
    for (; choice > 0 && at != NULL; choice--) {
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    *ret_length = at != NULL ? strcspn(at, "|") : 0;
    return at;
}

static int find_choice(const struct lb_key *key, const char *value)
{
    size_t n;
    const char *word;
    for (int i = 0; (word = choice_at(key, i, &n)) != NULL; i++)
        if (strlen(value) == n && memcmp(value, word, n) == 0)
            return i;
    return -1;
}

/* "fixed, exponential or jitter" */
static const char *choices_text(const struct lb_key *key, char *buf, size_t size)
{
    size_t n, next;
    const char *word;
    buf[0] = '\0';
    for (int i = 0; (word = choice_at(key, i, &n)) != NULL; i++)
        lb_append(buf, size, "%s%.*s",
                  i == 0                                 ? ""
                  : choice_at(key, i + 1, &next) != NULL ? ", "
                                                         : " or ",
                  (int)n, word);
    return buf;
}

static int find_fault(const char *name)
{
    for (int i = 0; i < LB_FAULTS; i++)
        if (strcmp(name, lb_fault_name((enum lb_fault)i)) == 0)
            return i;
    return -1;
}

static int parse_flag(const char *text)
{
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0)
            return (int)i % 2;
    return -1;
}

static int set_rate(struct lb_scenario *scenario, const char *value, struct lb_error *err)
{
    struct lb_schedule schedule;
    bool closed = strcmp(value, "none") == 0 || value[0] == '\0';
    if (strlen(value) >= sizeof scenario->rate)
        return lb_fail(err, LB_E_USAGE, "rate: longer than %zu characters",
                       sizeof scenario->rate - 1);
    int rc = closed ? 0 : lb_schedule_open(&schedule, value, 0, err);
    if (rc == 0 && !closed)
        lb_schedule_close(&schedule);
    if (rc == 0)
        snprintf(scenario->rate, sizeof scenario->rate, "%s", closed ? "" : value);
    return rc;
}

static int set_hold(struct lb_scenario *scenario, const char *value, struct lb_error *err)
{
    struct lb_service service;
    if (strlen(value) >= sizeof scenario->holds)
        return lb_fail(err, LB_E_USAGE, "hold: longer than %zu characters",
                       sizeof scenario->holds - 1);
    int rc = lb_service_parse(value, &service, err);
    if (rc != 0)
        return rc;
    lb_service_release(&service);
    scenario->hold_ns = (uint64_t)llround(service.mean_ns);
    scenario->hold_most_ns = (uint64_t)service.most_ns;
    snprintf(scenario->holds, sizeof scenario->holds, "%s", value);
    return 0;
}

static int set_aged(struct lb_scenario *scenario, const char *value, struct lb_error *err)
{
    struct lb_aged_table_plan plan;
    const char *text = strcmp(value, "none") == 0 ? "" : value;
    if (strlen(text) >= sizeof scenario->aged)
        return lb_fail(err, LB_E_USAGE, "aged: longer than %zu characters",
                       sizeof scenario->aged - 1);
    int rc = lb_aged_table_parse(text, &plan, err);
    if (rc == 0)
        snprintf(scenario->aged, sizeof scenario->aged, "%s", text);
    return rc;
}

static int set_parts(struct lb_scenario *scenario, const struct lb_key *key, const char *value,
                     struct lb_error *err)
{
    const char *text = strcmp(value, "none") == 0 ? "" : value;
    int rc = lb_attributes_check(key->name, text, err);
    if (rc == 0)
        snprintf((char *)scenario + key->offset, sizeof scenario->tenants, "%s", text);
    return rc;
}

/* The largest count that a key takes: of workers and readers also what scenario_check.c allows. */
static uint64_t most_of(const struct lb_key *key)
{
    switch (key->offset) {
    case offsetof(struct lb_scenario, workers):
    case offsetof(struct lb_scenario, producers):
        return LB_MOST_WORKERS;
    case offsetof(struct lb_scenario, readers):
        return LB_MOST_READERS;
    case offsetof(struct lb_scenario, keys):
        return LB_MOST_ITEM_KEYS;
    default:
        return 1000000000;
    }
}

/* A number, and of the right form, but too large: the most that is taken instead; "" if it is
 * something else. */
static const char *too_large(const struct lb_key *key, const char *value, char *buf, size_t size)
{
    uint64_t number = 0;
    bool is_count = key->type == LB_KEY_COUNT || key->type == LB_KEY_BYTES;
    buf[0] = '\0';
    if (is_count) {
        int rc = lb_parse_count(value, &number);
        if (rc == LB_UNITS_LARGE || (rc == 0 && number > most_of(key)))
            snprintf(buf, size, "%llu", (unsigned long long)most_of(key));
    } else if ((key->type == LB_KEY_TIME || key->type == LB_KEY_HOLD) &&
               lb_parse_ns(value, &number) == LB_UNITS_LARGE) {
        bool is_ttl = key->offset == offsetof(struct lb_scenario, ttl_ns);
        snprintf(buf, size, "%s", is_ttl ? "24h" : LB_NS_MOST); /* as scenario_check.c has it */
    }
    return buf;
}

/* Stores value in key's field. Returns NULL, or a description of the accepted values. */
static const char *store(struct lb_scenario *scenario, const struct lb_key *key, const char *value)
{
    char *field = (char *)scenario + key->offset;
    uint64_t number;
    double share;
    int choice;
    switch (key->type) {
    case LB_KEY_COUNT:
    case LB_KEY_BYTES:
        if (lb_parse_count(value, &number) != 0 || number > most_of(key))
            return "a count such as 8 or 1k";
        *u64_field(scenario, key) = number;
        return NULL;
    case LB_KEY_HOLD:
        scenario->holds[0] = '\0';
        __attribute__((fallthrough));
    case LB_KEY_TIME:
        if (lb_parse_ns(value, &number) != 0)
            return "a time with its unit, such as 10s, 5ms or 500us";
        *u64_field(scenario, key) = number;
        return NULL;
    case LB_KEY_SHARE:
        if (lb_parse_double(value, &share) != 0 || share < 0 || share > 1)
            return "a share from 0 to 1";
        *(double *)(void *)field = share;
        return NULL;
    case LB_KEY_EXPONENT:
        if (lb_parse_double(value, &share) != 0 || share < 0 || share > 10)
            return "an exponent from 0 to 10";
        *(double *)(void *)field = share;
        return NULL;
    case LB_KEY_TEXT: /* the only text is the capacity */
        if (value[0] == '\0' || strlen(value) >= sizeof scenario->capacity ||
            strspn(value, "0123456789, ") != strlen(value))
            return "a number, or one number per resource such as 1,2,4";
        snprintf(field, sizeof scenario->capacity, "%s", value);
        return NULL;
    case LB_KEY_FLAG:
        if ((choice = parse_flag(value)) < 0)
            return "yes or no";
        *(bool *)(void *)field = choice == 1;
        return NULL;
    case LB_KEY_SHAPE:
    case LB_KEY_CHOICE:
        if ((choice = find_choice(key, value)) < 0)
            return key->argument;
        memcpy(field, &choice, sizeof choice);
        return NULL;
    case LB_KEY_FAULT:
        if ((choice = find_fault(value)) < 0)
            return "one of none" LB_FAULT_NAMES;
        scenario->fault = (enum lb_fault)choice;
        return NULL;
    case LB_KEY_ISOLATION:
    default:
        if ((choice = lb_isolation_parse(value)) < 0)
            return "default, read-committed, repeatable-read or serializable";
        scenario->isolation = (enum lb_isolation)choice;
        return NULL;
    }
}

int lb_scenario_set(struct lb_scenario *scenario, const char *key_name, const char *value,
                    struct lb_error *err)
{
    const struct lb_key *key = lb_scenario_key(key_name);
    if (key == NULL) {
        char text[128];
        struct lb_nearest nearest;
        lb_nearest_init(&nearest, key_name);
        for (key = lb_scenario_keys; key->name != NULL; key++)
            lb_nearest_offer(&nearest, key->name);
        return lb_fail(err, LB_E_USAGE, "unknown key '%s'%s", key_name,
                       lb_nearest_text(&nearest, text, sizeof text));
    }
    if (key->type == LB_KEY_RATE)
        return set_rate(scenario, value, err);
    if (key->type == LB_KEY_HOLD && lb_service_is_distribution(value))
        return set_hold(scenario, value, err);
    if (key->type == LB_KEY_AGED)
        return set_aged(scenario, value, err);
    if (key->type == LB_KEY_PARTS)
        return set_parts(scenario, key, value, err);
    const char *accepted = store(scenario, key, value);
    char most[32], choices[100];
    if (accepted != NULL && accepted == key->argument)
        accepted = choices_text(key, choices, sizeof choices);
    if (accepted != NULL && too_large(key, value, most, sizeof most)[0] != '\0')
        return lb_fail(err, LB_E_USAGE, "%s: '%s' is too large: at most %s", key->name, value,
                       most);
    if (accepted != NULL)
        return lb_fail(err, LB_E_USAGE, "%s: '%s' is not %s", key->name, value, accepted);
    scenario->ttl_is_said |= key->offset == offsetof(struct lb_scenario, ttl_ns);
    scenario->progress_bound_is_said |=
        key->offset == offsetof(struct lb_scenario, progress_bound_ns);
    scenario->pipeline_is_said |= key->offset == offsetof(struct lb_scenario, pipeline);
    return 0;
}

int lb_scenario_set_all(struct lb_scenario *scenario, const char *keys, struct lb_error *err)
{
    char text[300];
    int rc = 0;
    snprintf(text, sizeof text, "%s", keys);
    for (char *rest = text, *word; rc == 0 && (word = strsep(&rest, " ")) != NULL;) {
        const char *key = strsep(&word, "=");
        if (word != NULL)
            rc = lb_scenario_set(scenario, key, word, err);
    }
    return rc;
}

void lb_scenario_stretch(struct lb_scenario *s, uint64_t factor)
{
    uint64_t *const times[] = {&s->hold_ns,           &s->hold_most_ns, &s->ttl_ns,
                               &s->put_interval_ns,   &s->renew_ns,     &s->fault_interval_ns,
                               &s->fault_length_ns,   &s->grace_ns,     &s->recovery_bound_ns,
                               &s->progress_bound_ns, &s->duration_ns,  &s->poll_ns,
                               &s->poll_max_ns,       &s->skew_ns};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        *times[i] *= factor;
}

void lb_scenario_fit_unit(struct lb_scenario *s, uint32_t unit_ms)
{
    uint64_t unit_ns = unit_ms * UINT64_C(1000000);
    if (unit_ns == 0 || s->ttl_ns == 0)
        return;
    if (s->ttl_ns < unit_ns)
        lb_scenario_stretch(s, (unit_ns + s->ttl_ns - 1) / s->ttl_ns);
    s->ttl_ns = (s->ttl_ns + unit_ns - 1) / unit_ns * unit_ns;
}

/* The largest unit that leaves a whole number. */
static void format_time(uint64_t ns, char *buf, size_t size)
{
    static const struct {
        uint64_t factor;
        const char *unit;
    } units[] = {{3600000000000, "h"}, {60000000000, "m"}, {1000000000, "s"},
                 {1000000, "ms"},      {1000, "us"},       {1, "ns"}};
    size_t i = 0;
    if (ns == 0) {
        snprintf(buf, size, "0");
        return;
    }
    while (ns % units[i].factor != 0)
        i++;
    snprintf(buf, size, "%llu%s", (unsigned long long)(ns / units[i].factor), units[i].unit);
}

void lb_scenario_get(const struct lb_scenario *scenario, const struct lb_key *key, char *buf,
                     size_t size)
{
    const char *field = (const char *)scenario + key->offset, *word;
    uint64_t number = 0;
    size_t length;
    double share;
    bool flag;
    int choice;
    switch (key->type) {
    case LB_KEY_COUNT:
    case LB_KEY_BYTES:
        memcpy(&number, field, sizeof number);
        snprintf(buf, size, "%llu", (unsigned long long)number);
        return;
    case LB_KEY_HOLD:
        if (scenario->holds[0] != '\0') {
            snprintf(buf, size, "%s", scenario->holds);
            return;
        }
        __attribute__((fallthrough));
    case LB_KEY_TIME:
        memcpy(&number, field, sizeof number);
        format_time(number, buf, size);
        return;
    case LB_KEY_SHARE:
    case LB_KEY_EXPONENT:
        memcpy(&share, field, sizeof share);
        snprintf(buf, size, "%.15g", share);
        return;
    case LB_KEY_RATE:
    case LB_KEY_AGED:
    case LB_KEY_PARTS:
        snprintf(buf, size, "%s", field[0] != '\0' ? field : "none");
        return;
    case LB_KEY_TEXT:
        snprintf(buf, size, "%s", field);
        return;
    case LB_KEY_FLAG:
        memcpy(&flag, field, sizeof flag);
        snprintf(buf, size, "%s", flag ? "yes" : "no");
        return;
    case LB_KEY_SHAPE:
    case LB_KEY_CHOICE:
        memcpy(&choice, field, sizeof choice);
        word = choice_at(key, choice, &length);
        snprintf(buf, size, "%.*s", (int)length, word != NULL ? word : "");
        return;
    case LB_KEY_FAULT:
        snprintf(buf, size, "%s", lb_fault_name(scenario->fault));
        return;
    case LB_KEY_ISOLATION:
    default:
        snprintf(buf, size, "%s", lb_isolation_name(scenario->isolation));
        for (char *c = buf; *c != '\0'; c++)
            if (*c == ' ')
                *c = '-';
        return;
    }
}

uint64_t lb_scenario_deaths(const struct lb_scenario *scenario)
{
    if (scenario->fault == LB_FAULT_POISON)
        return LB_POISON_DEATHS;
    if (!lb_fault_is(scenario->fault, LB_FAULT_KILLS))
        return 0;
    uint64_t n = scenario->duration_ns / scenario->fault_interval_ns + 1;
    if (scenario->duration_ns == 0 && scenario->fault_count > 0)
        return scenario->fault_count;
    return scenario->fault_count > 0 && scenario->fault_count < n ? scenario->fault_count : n;
}
