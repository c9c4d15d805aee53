/* The phases of a scenario: see stage.h. */
#include "stage.h"

#include "append.h"
#include "nearest.h"
#include "scenario.h"
#include "schedule.h"
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "phase ";

static bool is_name(const char *text)
{
    size_t n = strlen(text);
    bool is = n > 0 && n < LB_STAGE_NAME;
    for (const char *c = text; *c != '\0'; c++)
        is = is && (islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
    return is;
}

int lb_stage_add(struct lb_scenario *scenario, const char *section, struct lb_error *err)
{
    struct lb_nearest nearest;
    char text[128];
    if (strncmp(section, head, strlen(head)) != 0) {
        lb_nearest_init(&nearest, section);
        lb_nearest_offer(&nearest, "scenario");
        return lb_fail(err, LB_E_FILE, "unknown section [%s]%s", section,
                       lb_nearest_text(&nearest, text, sizeof text));
    }
    const char *name = section + strlen(head);
    if (!is_name(name))
        return lb_fail(err, LB_E_FILE,
                       "phase '%s': a name has lower-case letters, digits and '-', at most %d",
                       name, LB_STAGE_NAME - 1);
    for (uint32_t i = 0; i < scenario->n_stages; i++)
        if (strcmp(scenario->stages[i].name, name) == 0)
            return lb_fail(err, LB_E_FILE, "phase %s: is there a second time", name);
    if (scenario->n_stages == LB_STAGES)
        return lb_fail(err, LB_E_FILE, "more than %d phases", LB_STAGES);
    struct lb_stage *stage = &scenario->stages[scenario->n_stages++];
    *stage = (struct lb_stage){.share = -1};
    snprintf(stage->name, sizeof stage->name, "%s", name);
    return 0;
}

/* "30%" or "0.3"; negative: neither. */
static double parse_share(const char *text)
{
    char copy[32];
    size_t n = strlen(text);
    double value;
    bool is_percent = n > 1 && n < sizeof copy && text[n - 1] == '%';
    snprintf(copy, sizeof copy, "%.*s", (int)(is_percent ? n - 1 : n), text);
    if (n >= sizeof copy || lb_parse_double(copy, &value) != 0 || value < 0)
        return -1;
    return is_percent ? value / 100 : value;
}

static int set_flag(bool *flag, const char *name, const char *value, struct lb_error *err)
{
    *flag = strcmp(value, "yes") == 0;
    return *flag || strcmp(value, "no") == 0
               ? 0
               : lb_fail(err, LB_E_FILE, "%s: '%s' is not yes or no", name, value);
}

/* A percentage, or a rate that does not change. */
static int set_rate(struct lb_stage *stage, const char *value, struct lb_error *err)
{
    struct lb_schedule schedule;
    bool is_percent = strchr(value, '%') != NULL;
    if (strlen(value) >= sizeof stage->rate || (is_percent && parse_share(value) < 0) ||
        (!is_percent &&
         (!isdigit((unsigned char)value[0]) || lb_schedule_init(&schedule, value, 0, err) != 0)))
        return lb_fail(err, LB_E_FILE, "rate: '%s' is not a rate such as 300/s, or 150%%", value);
    snprintf(stage->rate, sizeof stage->rate, "%s", value);
    return 0;
}

int lb_stage_set(struct lb_scenario *scenario, const char *key, const char *value,
                 struct lb_error *err)
{
    static const char *const keys[] = {"share", "rate", "snapshot", "readers", "faults"};
    struct lb_stage *stage = &scenario->stages[scenario->n_stages - 1];
    struct lb_nearest nearest;
    char text[128];
    if (strcmp(key, "share") == 0) {
        stage->share = parse_share(value);
        return stage->share > 0 && stage->share <= 1
                   ? 0
                   : lb_fail(err, LB_E_FILE, "share: '%s' is not a share such as 30%%", value);
    }
    if (strcmp(key, "rate") == 0)
        return set_rate(stage, value, err);
    if (strcmp(key, "snapshot") == 0)
        return set_flag(&stage->snapshot, key, value, err);
    if (strcmp(key, "readers") == 0)
        return set_flag(&stage->readers, key, value, err);
    if (strcmp(key, "faults") == 0)
        return set_flag(&stage->faults, key, value, err);
    lb_nearest_init(&nearest, key);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        lb_nearest_offer(&nearest, keys[i]);
    return lb_fail(err, LB_E_FILE, "unknown key '%s' of a phase%s", key,
                   lb_nearest_text(&nearest, text, sizeof text));
}

/* ---- what fits together ---- */

/* A phase switches on faults and readers that the scenario has. */
static int validate_uses(const struct lb_scenario *s, struct lb_error *err)
{
    const struct lb_stage *faults = NULL, *readers = NULL;
    for (uint32_t i = 0; i < s->n_stages; i++) {
        const struct lb_stage *stage = &s->stages[i];
        faults = stage->faults ? stage : faults;
        readers = stage->readers ? stage : readers;
        if (stage->faults && stage->readers)
            return lb_fail(err, LB_E_USAGE, "phase %s: readers and faults are for two phases",
                           stage->name);
        if (stage->snapshot && s->dead_rows > 0)
            return lb_fail(err, LB_E_USAGE,
                           "phase %s: a snapshot, and dead-rows have one all along", stage->name);
    }
    if (faults != NULL && s->fault == LB_FAULT_NONE)
        return lb_fail(err, LB_E_USAGE, "phase %s: faults = yes, but the scenario has no fault",
                       faults->name);
    if (faults == NULL && s->fault != LB_FAULT_NONE)
        return lb_fail(err, LB_E_USAGE, "fault: no phase has faults = yes");
    if (readers != NULL && s->readers == 0)
        return lb_fail(err, LB_E_USAGE, "phase %s: readers = yes, but the scenario has no readers",
                       readers->name);
    if (readers == NULL && s->readers > 0)
        return lb_fail(err, LB_E_USAGE, "readers: no phase has readers = yes");
    return 0;
}

int lb_stages_validate(const struct lb_scenario *s, struct lb_error *err)
{
    double sum = 0;
    if (s->n_stages == 0)
        return 0;
    for (uint32_t i = 0; i < s->n_stages; i++) {
        if (s->stages[i].share < 0)
            return lb_fail(err, LB_E_USAGE, "phase %s: needs a share", s->stages[i].name);
        sum += s->stages[i].share;
    }
    if (fabs(sum - 1) > 0.0005)
        return lb_fail(err, LB_E_USAGE, "phases: the shares come to %.4g%%, not 100%%", 100 * sum);
    if (s->duration_ns == 0 || s->count > 0 || s->drain)
        return lb_fail(err, LB_E_USAGE, "phases: need a duration, without count and drain");
    if (s->processes > 0 || s->fault == LB_FAULT_KILL)
        return lb_fail(err, LB_E_USAGE, "phases: not with processes, nor with fault kill");
    if (lb_fault_is(s->fault, LB_FAULT_IS_COMMANDED) || s->fault == LB_FAULT_POISON)
        return lb_fail(err, LB_E_USAGE, "phases: not with fault %s", lb_fault_name(s->fault));
    struct lb_schedule schedule;
    int rc = validate_uses(s, err);
    return rc == 0 ? lb_scenario_schedule(s, 0, &schedule, err) : rc;
}

/* ---- times and rates ---- */

uint64_t lb_stage_start_ns(const struct lb_scenario *scenario, uint32_t stage)
{
    double share = 0;
    for (uint32_t i = 0; i < stage && i < scenario->n_stages; i++)
        share += scenario->stages[i].share;
    return stage >= scenario->n_stages ? scenario->duration_ns
                                       : (uint64_t)(share * (double)scenario->duration_ns);
}

uint32_t lb_stage_at(const struct lb_scenario *scenario, uint64_t at_ns)
{
    uint32_t stage = 0;
    while (stage + 1 < scenario->n_stages && lb_stage_start_ns(scenario, stage + 1) <= at_ns)
        stage++;
    return stage;
}

const char *lb_stages_snapshot(const struct lb_scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->n_stages; i++)
        if (scenario->stages[i].snapshot)
            return scenario->stages[i].name;
    return NULL;
}

char *lb_stages_text(const struct lb_scenario *scenario, char *buf, size_t size)
{
    buf[0] = '\0';
    for (uint32_t i = 0; i < scenario->n_stages; i++) {
        const struct lb_stage *stage = &scenario->stages[i];
        lb_append(buf, size, "%s%s %.4g%%%s%s%s%s%s", i > 0 ? ", " : "", stage->name,
                  100 * stage->share, stage->rate[0] != '\0' ? " at " : "", stage->rate,
                  stage->snapshot ? " snapshot" : "", stage->readers ? " readers" : "",
                  stage->faults ? " faults" : "");
    }
    return buf;
}

/* Appends a phase's arrivals. per_s: the scenario's rate. */
static int append_rate(const struct lb_scenario *s, uint32_t i, double per_s, char *text,
                       size_t size, struct lb_error *err)
{
    const struct lb_stage *stage = &s->stages[i];
    uint64_t ns = lb_stage_start_ns(s, i + 1) - lb_stage_start_ns(s, i);
    size_t used = strlen(text);
    double own = per_s;
    if (strchr(stage->rate, '%') != NULL) {
        own = per_s * parse_share(stage->rate);
    } else if (stage->rate[0] != '\0') {
        struct lb_schedule schedule;
        int rc = lb_schedule_init(&schedule, stage->rate, 0, err);
        if (rc != 0)
            return rc;
        own = schedule.phases[0].from_per_s;
    }
    ns += i == 0 ? s->warmup_ns : 0; /* arrivals begin with the warm-up */
    char rate[40] = "pause", time[32] = "";
    if (own > 0)
        snprintf(rate, sizeof rate, "%.9f/s", own);
    if (i + 1 < s->n_stages || own <= 0) /* the last one goes on */
        snprintf(time, sizeof time, "@%lluns", (unsigned long long)ns);
    snprintf(text + used, size - used, "%s%s%s", i > 0 ? "," : "", rate, time);
    return 0;
}

int lb_scenario_schedule(const struct lb_scenario *s, uint64_t seed,
                         struct lb_schedule *ret_schedule, struct lb_error *err)
{
    char text[LB_STAGES * 64];
    double per_s = 0;
    bool has_rates = false;
    for (uint32_t i = 0; i < s->n_stages; i++)
        has_rates |= s->stages[i].rate[0] != '\0';
    if (s->rate[0] != '\0') {
        int rc = lb_schedule_open(ret_schedule, s->rate, seed, err);
        const struct lb_rate_phase *phase = &ret_schedule->phases[0];
        if (rc != 0 || !has_rates)
            return rc;
        lb_schedule_close(ret_schedule);
        if (lb_schedule_is_trace(s->rate))
            return lb_fail(
                err, LB_E_USAGE,
                "rate: '%s': a trace has the rate of each moment, so no phase can have one: "
                "take `rate` out of the phases, or speed=2 for twice as many arrivals",
                s->rate);
        if (ret_schedule->n_phases != 1 || phase->burst || phase->end_ns != UINT64_MAX)
            return lb_fail(err, LB_E_USAGE, "rate: '%s' has phases, and so has the scenario",
                           s->rate);
        per_s = phase->from_per_s;
    } else if (!has_rates) {
        return 0;
    } else {
        return lb_fail(err, LB_E_USAGE,
                       "phases: some have a rate, and the scenario has none: give it one");
    }
    snprintf(text, sizeof text, "%sphases:", ret_schedule->poisson ? "poisson:" : "");
    for (uint32_t i = 0; i < s->n_stages; i++) {
        int rc = append_rate(s, i, per_s, text, sizeof text, err);
        if (rc != 0)
            return rc;
    }
    return lb_schedule_init(ret_schedule, text, seed, err);
}
