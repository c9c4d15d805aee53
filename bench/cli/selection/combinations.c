/* Questions multiplied by lists of values: see combinations.h.
 *
 * One flag after the other: all questions are copied once per value of its list, so the values of
 * the last list vary fastest. Combinations are checked at the end, when all flags are set.
 */
#include "combinations.h"

#include "aged_table.h"
#include "cli.h"
#include "memory.h"
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_QUESTIONS = 2000 };

/* Phases have commas of their own: "phases:", "repeat:", and both after "poisson:". */
static bool has_phases(const char *rate)
{
    if (strncmp(rate, "poisson:", 8) == 0)
        rate += 8;
    return strncmp(rate, "phases:", 7) == 0 || strncmp(rate, "repeat:", 7) == 0;
}

static bool may_be_list(const struct lb_key *key, const char *text)
{
    switch (key->type) {
    case LB_KEY_COUNT:
    case LB_KEY_BYTES:
    case LB_KEY_TIME:
    case LB_KEY_SHARE:
    case LB_KEY_EXPONENT:
    case LB_KEY_CHOICE:
    case LB_KEY_ISOLATION:
    case LB_KEY_FAULT:
        return true;
    case LB_KEY_RATE:
        return !has_phases(text) && !lb_schedule_is_trace(text);
    case LB_KEY_HOLD:
        return strstr(text, "lognormal:") == NULL && strstr(text, "pareto:") == NULL &&
               strstr(text, "file:") == NULL; /* these have commas of their own */
    case LB_KEY_TEXT:
    case LB_KEY_AGED:
    case LB_KEY_PARTS:
    case LB_KEY_FLAG:
    case LB_KEY_SHAPE:
    default:
        return false;
    }
}

size_t lb_sweep_values(const struct lb_key *key, const char *text)
{
    size_t n = 1;
    if (may_be_list(key, text))
        for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
            n++;
    return n;
}

char *lb_sweep_value(const struct lb_key *key, const char *text, size_t i, char *buf, size_t size)
{
    const char *at = text;
    if (!may_be_list(key, text)) {
        snprintf(buf, size, "%s", text);
        return buf;
    }
    for (; i > 0; i--)
        at += strcspn(at, ",") + 1;
    snprintf(buf, size, "%.*s", (int)strcspn(at, ","), at);
    return buf;
}

/* The value as results echo it: "1k" is 1000, and the same as 1000. */
static int canonical(const struct lb_key *key, const char *text, size_t i, char *buf, size_t size,
                     struct lb_error *err)
{
    struct lb_scenario scratch;
    char value[300];
    lb_scenario_init(&scratch);
    int rc = lb_scenario_set(&scratch, key->name, lb_sweep_value(key, text, i, value, sizeof value),
                             err);
    if (rc == 0)
        lb_scenario_get(&scratch, key, buf, size);
    return rc;
}

/* "90d" */
static bool is_days(const char *text, double *ret_days)
{
    char *end;
    *ret_days = strtod(text, &end);
    return end > text && strcmp(end, "d") == 0;
}

int lb_sweep_check(const struct lb_key *key, const char *text, struct lb_error *err)
{
    size_t n = lb_sweep_values(key, text);
    double days;
    if (key->type == LB_KEY_AGED && is_days(text, &days))
        return 0; /* it needs the demand: see aged_text() */
    if (n > MOST_QUESTIONS)
        return lb_fail(err, LB_E_USAGE, "%s: more than %d values", key->name, MOST_QUESTIONS);
    for (size_t i = 0; i < n; i++) {
        char value[300], other[300];
        int rc = canonical(key, text, i, value, sizeof value, err);
        for (size_t k = 0; k < i && rc == 0; k++) {
            rc = canonical(key, text, k, other, sizeof other, err);
            if (rc == 0 && strcmp(value, other) == 0)
                rc = lb_fail(err, LB_E_USAGE, "%s: '%s' has %s twice", key->name, text, value);
        }
        if (rc != 0)
            return rc;
    }
    return 0;
}

int lb_sweep_rename(struct lb_scenario *scenario, const struct lb_key *key, struct lb_error *err)
{
    char value[300];
    size_t length = strlen(scenario->name), room = sizeof scenario->name;
    bool is_first = length == 0 || scenario->name[length - 1] != ']';
    lb_scenario_get(scenario, key, value, sizeof value);
    if (!is_first)
        length--;
    int n = snprintf(scenario->name + length, room - length, "%s%s=%s]", is_first ? "[" : " ",
                     key->name, value);
    if (n < 0 || (size_t)n >= room - length)
        return lb_fail(err, LB_E_USAGE, "option --%s: too many lists", key->name);
    return 0;
}

/* Commands that compare tables also ask the question of fresh ones. */
static bool asks_fresh_too(const struct lb_args *args, const struct lb_override *override)
{
    return override->key->type == LB_KEY_AGED && strcmp(override->value, "none") != 0 &&
           (strcmp(args->command->name, "compare") == 0 ||
            strcmp(args->command->name, "plan") == 0);
}

/* "90d" at the demand: as many finished items as that time leaves. Other texts stay. buf is for the
 * new one; NULL with an error. */
static const char *aged_text(const struct lb_args *args, const char *value, char *buf, size_t size,
                             struct lb_error *err)
{
    struct lb_schedule schedule;
    double days;
    const double most = LB_AGED_MOST_ITEMS;
    const char *rate = args->plan.demand;
    if (!is_days(value, &days))
        return value;
    for (size_t o = 0; o < args->n_overrides && rate == NULL; o++)
        if (strcmp(args->overrides[o].key->name, "rate") == 0)
            rate = args->overrides[o].value;
    if (rate == NULL) {
        lb_fail(err, LB_E_USAGE,
                "option --aged: %s leaves as many finished items as --%s says, which is not given",
                value, strcmp(args->command->name, "plan") == 0 ? "demand" : "rate");
        return NULL;
    }
    if (lb_schedule_init(&schedule, rate, 0, err) != 0)
        return NULL;
    if (schedule.n_phases != 1) {
        lb_fail(err, LB_E_USAGE, "option --aged: %s needs one rate, such as 3/s", value);
        return NULL;
    }
    const double n = schedule.phases[0].from_per_s * 86400 * days;
    if (!(n >= 1 && n <= most)) {
        lb_fail(err, LB_E_USAGE,
                "option --aged: %s at %s leaves %.0f finished items, and can be 1 to %.0f; give a "
                "number, such as finished=1M",
                value, rate, n, most);
        return NULL;
    }
    snprintf(buf, size, "finished=%.0f", n);
    return buf;
}

/* The question of fresh tables, and behind it that of the aged ones. */
static int add_aged(struct lb_selection *selection, const struct lb_args *args,
                    const struct lb_override *override, struct lb_error *err)
{
    char buf[60];
    const char *value = aged_text(args, override->value, buf, sizeof buf, err);
    if (value == NULL)
        return LB_E_USAGE;
    const size_t n = selection->n_questions;
    struct lb_question *made = lb_calloc(2 * n, sizeof *made);
    int rc = 0;
    selection->n_questions = 0;
    for (size_t q = 0; q < n && rc == 0; q++) {
        struct lb_question *copy = &made[selection->n_questions++];
        *copy = selection->questions[q];
        if (!lb_key_applies(override->key, copy->scenario.shape))
            continue;
        copy[0].scenario.aged[0] = '\0';
        copy[1] = copy[0];
        selection->n_questions++;
        rc = lb_scenario_set(&copy[1].scenario, "aged", value, err);
        size_t length = strlen(copy[1].scenario.name);
        snprintf(copy[1].scenario.name + length, sizeof copy[1].scenario.name - length, "%s",
                 LB_SCENARIO_AGED);
    }
    free(selection->questions);
    selection->questions = made;
    return rc;
}

/* Replaces the questions that the flag has a meaning for by one for each of its values. */
static int multiply(struct lb_selection *selection, const struct lb_override *override,
                    struct lb_error *err)
{
    const struct lb_key *key = override->key;
    size_t n_values = lb_sweep_values(key, override->value), n = 0;
    struct lb_question *made = lb_calloc(selection->n_questions * n_values, sizeof *made);
    int rc = 0;
    for (size_t q = 0; q < selection->n_questions && rc == 0; q++) {
        const struct lb_question *question = &selection->questions[q];
        size_t copies = lb_key_applies(key, question->scenario.shape) ? n_values : 1;
        for (size_t i = 0; i < copies && rc == 0; i++) {
            char value[300];
            struct lb_question *copy = &made[n++];
            *copy = *question;
            if (!lb_key_applies(key, question->scenario.shape))
                continue;
            lb_sweep_value(key, override->value, i, value, sizeof value);
            rc = lb_scenario_set(&copy->scenario, key->name, value, err);
            if (rc == 0 && n_values > 1)
                rc = lb_sweep_rename(&copy->scenario, key, err);
        }
    }
    free(selection->questions);
    selection->questions = made;
    selection->n_questions = n;
    if (rc == 0 && n > MOST_QUESTIONS)
        rc = lb_fail(err, LB_E_USAGE, "option --%s: more than %d combinations", key->name,
                     MOST_QUESTIONS);
    return rc;
}

static bool applies(const struct lb_selection *selection, const struct lb_key *key)
{
    for (size_t i = 0; i < selection->n_questions; i++)
        if (lb_key_applies(key, selection->questions[i].scenario.shape))
            return true;
    return false;
}

/* Why the key has no effect in the scenario; NULL: it has one. */
static const char *why_idle(const char *key, const struct lb_scenario *s)
{
    const char *const no_fault = "needs --fault: which one?";
    const bool is_open = s->rate[0] != '\0', has_fault = s->fault != LB_FAULT_NONE;
    /* Within the run; one that ends by its work is as long as that takes. */
    const bool leases_end = s->duration_ns == 0 || s->count > 0 || s->ttl_ns < s->duration_ns;
    const struct {
        const char *key;
        bool works;
        const char *why;
    } needs[] = {
        {"zipf", s->resources > 1, "needs --resources above 1: one is always the same"},
        {"think", !is_open, "not in an open loop: its rate says when the next one comes"},
        {"max-pending", is_open, "needs --rate: only arrivals of an open loop wait"},
        {"overrun", leases_end, "no lease ends within the run: give a --ttl below --duration"},
        {"fault-interval", has_fault, no_fault},
        {"fault-length", has_fault, no_fault},
        {"fault-count", has_fault, no_fault},
        {"put-interval", s->producers > 0, "of producers, and there are none"}};
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (strcmp(needs[i].key, key) == 0 && !needs[i].works)
            return needs[i].why;
    return NULL;
}

/* An option without an effect in any scenario is a mistake: the user expects another run. A value
 * of 0 has none. A plan finds its rates itself. */
static int check_effect(const struct lb_selection *selection, const struct lb_args *args,
                        const struct lb_override *override, struct lb_error *err)
{
    const char *why = NULL, *key = override->key->name;
    if (strcmp(override->value, "0") == 0 || strcmp(args->command->name, "plan") == 0)
        return 0;
    for (size_t q = 0; q < selection->n_questions; q++)
        if ((why = why_idle(key, &selection->questions[q].scenario)) == NULL)
            return 0;
    return lb_fail(err, LB_E_USAGE, "option --%s: %s", key, why);
}

int lb_sweep_apply(struct lb_selection *selection, const struct lb_args *args, struct lb_error *err)
{
    const struct lb_override *aged = NULL;
    for (size_t o = 0; o < args->n_overrides; o++) {
        const struct lb_override *override = &args->overrides[o];
        bool is_last = true; /* a flag given twice: the last one counts */
        for (size_t i = o + 1; i < args->n_overrides && is_last; i++)
            is_last = args->overrides[i].key != override->key;
        if (!is_last)
            continue;
        bool is_no = override->key->type == LB_KEY_FLAG && override->value[0] == 'n';
        if (!applies(selection, override->key))
            return lb_fail(err, LB_E_USAGE,
                           "option --%s%s: has a meaning for %ss only, and none is to be run",
                           is_no ? "no-" : "", override->key->name,
                           lb_key_applies(override->key, LB_QUEUE) ? "queue" : "lock");
        bool is_doubled = asks_fresh_too(args, override);
        if (is_doubled)
            aged = override;
        int rc = is_doubled ? 0 : multiply(selection, override, err);
        if (rc != 0)
            return rc;
    }
    int rc = aged != NULL ? add_aged(selection, args, aged, err) : 0;
    for (size_t i = 0; i < selection->n_questions && aged != NULL; i++)
        if (selection->questions[i].scenario.aged[0] == '\0')
            selection->questions[i].scenario.statistics = 0;
    for (size_t i = 0; i < selection->n_questions && rc == 0; i++)
        if (lb_scenario_validate(&selection->questions[i].scenario, err) != 0)
            return lb_fail_prefix(err, "scenario %s", selection->questions[i].scenario.name);
    for (size_t o = 0; o < args->n_overrides && rc == 0; o++)
        rc = check_effect(selection, args, &args->overrides[o], err);
    return rc;
}

/* --- what the strategies make of it --- */

/* A program says by its answers what it can do. */
static bool renews(const struct lb_cell *cell)
{
    return cell->strategy->guest != NULL ||
           (cell->file != NULL &&
            (lb_file_has(cell->file, LB_S_RENEW) || lb_file_has(cell->file, LB_S_HEARTBEAT)));
}

static bool is_lease(const struct lb_cell *cell)
{
    return cell->strategy->guest != NULL || cell->strategy->is_lease;
}

static bool puts_with(const struct lb_cell *cell, enum lb_slot slot)
{
    const struct lb_program *stated = cell->strategy->stated;
    if (stated != NULL && slot >= LB_SLOT_KEY && slot < LB_SLOT_FIXED)
        return (stated->attributes >> (slot - LB_SLOT_KEY) & 1) != 0;
    return cell->file != NULL && lb_file_uses(cell->file, slot);
}

/* Of several strategies one that uses it is enough. Not --stale: the fault kill sets it for every
 * lock, and the command that repeats such a run says so. */
static int check_use(const struct lb_report *report, const struct lb_override *override,
                     struct lb_error *err)
{
    static const struct {
        const char *key;
        enum lb_slot slot; /* of a put, if there is no function */
        bool (*uses)(const struct lb_cell *cell);
        const char *why;
    } needs[] = {
        {"groups", LB_SLOT_GROUP, NULL, "queues that put their items with :group"},
        {"keys", LB_SLOT_KEY, NULL, "queues that put their items with :key"},
        {"key-zipf", LB_SLOT_KEY, NULL, "queues that put their items with :key"},
        {"tenants", LB_SLOT_TENANT, NULL, "queues that put their items with :tenant"},
        {"priority", LB_SLOT_PRIORITY, NULL, "queues that put their items with :priority"},
        {"due", LB_SLOT_DUE, NULL, "queues that put their items with :due"},
        {"unique", LB_SLOT_UNIQUE_KEY, NULL, "queues that put their items with :unique_key"},
        {"renew", 0, renews, "strategies with a section renew or heartbeat"},
        {"overrun", 0, is_lease, "leases, which a hold can outlast"}};
    size_t n = sizeof needs / sizeof needs[0], k = 0, n_asked = 0;
    const struct lb_cell *one = NULL;
    while (k < n && strcmp(needs[k].key, override->key->name) != 0)
        k++;
    if (k == n || strcmp(override->value, "0") == 0)
        return 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->state == LB_CELL_SKIPPED || cell->is_explored)
            continue;
        if (needs[k].uses != NULL ? needs[k].uses(cell) : puts_with(cell, needs[k].slot))
            return 0;
        n_asked += one == NULL || cell->strategy != one->strategy;
        one = cell;
    }
    if (n_asked == 0)
        return 0; /* why nothing can be run is said elsewhere */
    return lb_fail(err, LB_E_USAGE, "option --%s: has no effect on %s: it is for %s", needs[k].key,
                   n_asked == 1 ? one->strategy->name : "any of these strategies", needs[k].why);
}

int lb_sweep_check_use(const struct lb_report *report, const struct lb_args *args,
                       struct lb_error *err)
{
    int rc = 0;
    for (size_t o = 0; o < args->n_overrides && rc == 0; o++)
        rc = check_use(report, &args->overrides[o], err);
    return rc;
}
