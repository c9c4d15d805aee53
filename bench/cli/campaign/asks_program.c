/* The tests of a program, chosen by its first line, with reasons: see asks.h.
 *
 * Its statements are not known before they are sent, so this depends on the shape, on the way in
 * which a dead worker's hold ends (a lease, a recovery, missing heartbeats), and on the engine. The
 * scenarios and faults are those of -S and --faults, so that each line can be run alone.
 */
#include "asks.h"

#include <stdio.h>
#include <string.h>

enum { MOST_OF_A_DRAIN_MS = 4000, LONG_UNIT_MS = 2000, FEW_ATTEMPTS = 10 };

/* How long it takes, with its times stretched to the program's unit; a backlog is empty before. */
static void reckon(const struct lb_asking *m, struct lb_ask *ask)
{
    struct lb_scenario scenario;
    struct lb_error ignored = {0};
    if (lb_ask_scenario(m->outlook, ask, &scenario, &ignored) != 0)
        return;
    const uint64_t most_ns = MOST_OF_A_DRAIN_MS * UINT64_C(1000000);
    if (scenario.drain && scenario.fault == LB_FAULT_NONE && scenario.duration_ns > most_ns)
        scenario.duration_ns = most_ns;
    lb_scenario_fit_unit(&scenario, m->strategy->lease_unit_ms);
    ask->cost_ns = scenario.warmup_ns + scenario.duration_ns;
}

/* fault NULL: none. duration NULL: the scenario's. Four workers are a crowd, too: interpreters take
 * long to start. */
static struct lb_ask *add(struct lb_asking *m, const char *scenario, const char *fault,
                          const char *duration, const char *why)
{
    struct lb_ask *ask = lb_asks_add_run(m, scenario, fault, why);
    if (strcmp(scenario, "drain") == 0 || strcmp(scenario, "mutex-hot") == 0)
        lb_ask_set(ask, "workers=4");
    /* One process puts the backlog, an item at a time. A fault needs one that lasts. */
    if (strcmp(scenario, "drain") == 0 && fault == NULL)
        lb_ask_set(ask, "backlog=300");
    if (duration != NULL)
        lb_ask_set(ask, "duration=%s", duration);
    reckon(m, ask);
    return ask;
}

static void add_named(struct lb_asking *m, const char *name, const char *scenario, const char *keys,
                      const char *why)
{
    struct lb_ask *ask = add(m, scenario, NULL, NULL, why);
    snprintf(ask->name, sizeof ask->name, "%s", name);
    lb_ask_set(ask, "%s", keys);
    reckon(m, ask);
}

/* What its first line promises of keys, unique keys, priorities, rates and tenants. */
static void ask_attributes(struct lb_asking *m)
{
    if (lb_asking_claims(m, LB_G_KEY_LIMIT))
        add_named(m, "keys", "drain", "keys=2 hold=3ms", "it claims key-limit: items of two keys");
    if (lb_asking_claims(m, LB_G_UNIQUE))
        add_named(m, "unique", "steady", "producers=4 put-interval=0 hold=0 unique=0.9",
                  "it claims unique: producers put items of one unique key together");
    if (lb_asking_claims(m, LB_G_PRIORITY))
        add_named(m, "priorities", "drain", "hold=2ms priority=0:0.4,9:0.3,10:0.3",
                  "it claims priority: a crowd at a backlog of three priorities");
    if (lb_asking_claims(m, LB_G_RATE))
        add_named(m, "rate", "drain", "hold=1ms poll-max=5ms duration=2500ms",
                  "it claims rate: a crowd at a backlog for several windows");
    if (lb_asking_claims(m, LB_G_SHARE))
        add_named(m, "shares", "drain", "backlog=1000 tenants=hot:0.8,small:2",
                  "it claims share: most items are of one of three tenants");
}

/* Pauses holders for so long that their lock or item goes to another worker. */
static void stop_holders(struct lb_asking *m, const char *scenario)
{
    const struct lb_strategy *strategy = m->strategy;
    if (!strategy->is_lease && !strategy->is_heard_of)
        return;
    /* With a long unit, one pause and its consequences are enough. */
    add(m, scenario, "pause", strategy->lease_unit_ms > LONG_UNIT_MS ? "2s" : NULL,
        strategy->is_heard_of
            ? "its processes say that they are alive: one is stopped, and is late to say so"
            : "it has a lease: holders are stopped for longer, and go on");
}

static void lose_connections(struct lb_asking *m, const char *scenario, bool comes_back)
{
    if (!lb_asking_on_server(m))
        return;
    if (!comes_back) {
        lb_asks_leave_out(m, "kill, disconnect, cut",
                          "its first line declares no lease, session or recovery that frees what "
                          "dead workers hold: use --faults to test them");
        return;
    }
    if (m->db->is_relayed)
        add(m, scenario, "cut", NULL, "connections are cut before a statement, and behind it");
    else
        add(m, scenario, "disconnect", NULL, "the server ends sessions while they hold");
}

static void ask_lock(struct lb_asking *m)
{
    add(m, "mutex-hot", NULL, NULL, "a crowd at one lock");
    if (m->strategy->is_lease)
        add(m, "overrun", NULL, NULL, "it has a lease: holds outlast it");
    add(m, "dead-holder", NULL, NULL, "holders are killed");
    stop_holders(m, "mutex-hot");
    lose_connections(m, "mutex-hot", true);
}

static void ask_queue(struct lb_asking *m)
{
    const struct lb_strategy *strategy = m->strategy;
    bool recovers = (strategy->operations >> LB_S_RECOVER & 1) != 0;
    bool comes_back = strategy->is_lease || strategy->is_heard_of || recovers;
    add(m, "drain", NULL, NULL, "a crowd at a backlog, and its books");
    ask_attributes(m);
    if (strategy->is_lease)
        add(m, "queue-overrun", NULL, NULL, "it has a lease: work outlasts it");
    else if (strategy->is_pushed)
        add(m, "queue-overrun", NULL, NULL,
            "it calls a handler: work outlasts what handlers are given");
    if (recovers)
        add(m, "queue-rescue", NULL, NULL, "it has recover: items are taken from the slow as well");
    stop_holders(m, "drain");
    if (comes_back)
        add(m, "drain", "kill", NULL, "a dead worker's items come back: consumers are killed");
    lose_connections(m, "drain", comes_back);
    const struct lb_strategy_plan plan = {.strategy = strategy};
    const uint32_t attempts = lb_strategy_attempts(&plan);
    if (attempts > 0 && attempts <= FEW_ATTEMPTS)
        add(m, "poison", NULL, NULL,
            "it limits the attempts: some items kill, or fail, whoever claims them");
}

void lb_asks_program(struct lb_asking *m)
{
    if (m->strategy->shape == LB_LOCK)
        ask_lock(m);
    else
        ask_queue(m);
}
