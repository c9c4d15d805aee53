/* The first line of a program, as a strategy's descriptor: see guest.h. */
#include "guest_process.h"

#include "memory.h"
#include "nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    enum lb_shape shape;
    bool required;
    enum lb_section_name section;
} operations[] = {
    {"enqueue", LB_LOCK, false, LB_S_ENQUEUE},
    {"acquire", LB_LOCK, true, LB_S_ACQUIRE},
    {"renew", LB_LOCK, false, LB_S_RENEW},
    {"release", LB_LOCK, true, LB_S_RELEASE},
    {"cancel", LB_LOCK, false, LB_S_CANCEL},
    {"put", LB_QUEUE, true, LB_S_PUT},
    {"claim", LB_QUEUE, true, LB_S_CLAIM},
    {"complete", LB_QUEUE, true, LB_S_COMPLETE},
    {"error", LB_QUEUE, false, LB_S_ERROR},
    {"free", LB_QUEUE, false, LB_S_FREE},
    {"retry", LB_QUEUE, false, LB_S_RETRY},
    {"renew", LB_QUEUE, false, LB_S_RENEW},
    {"clear-error", LB_QUEUE, false, LB_S_CLEAR_ERROR},
    {"clear-all-errors", LB_QUEUE, false, LB_S_CLEAR_ALL_ERRORS},
    {"reset-all", LB_QUEUE, false, LB_S_RESET_ALL},
    {"recover", LB_QUEUE, false, LB_S_RECOVER},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

enum { LEASE_UNIT_MOST_MS = 60000 };

bool lb_guest_is(const char *word)
{
    size_t n = strlen(word);
    struct stat status;
    if (strchr(word, '/') == NULL || (n > 4 && strcmp(word + n - 4, ".sql") == 0))
        return false;
    return stat(word, &status) == 0 && S_ISREG(status.st_mode) && access(word, X_OK) == 0;
}

static int wrong(const struct lb_guest *guest, struct lb_error *err, const char *what,
                 const char *value)
{
    return lb_fail(err, LB_E_FILE, "%s, first line: %s%s%s%s; see docs/programs.md", guest->path,
                   what, value != NULL ? " \"" : "", value != NULL ? value : "",
                   value != NULL ? "\"" : "");
}

static const char *text_of(const struct lb_guest *guest, const char *key)
{
    return json_string_value(json_object_get(guest->hello, key));
}

static int check_keys(struct lb_guest *guest, struct lb_error *err)
{
    static const char *const keys[] = {
        "hello",      "strategy", "version",    "summary",  "shape",    "claims",
        "engines",    "mode",     "operations", "options",  "lease",    "lease_unit_ms",
        "heartbeats", "batches",  "shared",     "capacity", "attempts", "attributes",
        "key_limit",  "unique",   "priority",   "due",      "rate",     "rate_ms",
        "share",      NULL};
    const char *key;
    json_t *value;
    json_object_foreach(guest->hello, key, value)
    {
        struct lb_nearest nearest;
        char text[128], what[200];
        if (lb_is_one_of(key, keys))
            continue;
        lb_nearest_init(&nearest, key);
        for (size_t i = 0; keys[i] != NULL; i++)
            lb_nearest_offer(&nearest, keys[i]);
        snprintf(what, sizeof what, "unknown key \"%.40s\"%s", key,
                 lb_nearest_text(&nearest, text, sizeof text));
        return wrong(guest, err, what, NULL);
    }
    if (json_integer_value(json_object_get(guest->hello, "hello")) != 1)
        return wrong(guest, err, "\"hello\" must be 1, the protocol's version", NULL);
    return 0;
}

static int read_name(struct lb_guest *guest, struct lb_error *err)
{
    struct lb_strategy *strategy = &guest->strategy;
    const char *name = text_of(guest, "strategy"), *shape = text_of(guest, "shape");
    size_t n = name != NULL ? strlen(name) : 0;
    if (n == 0 || n > 40 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
        return wrong(guest, err, "\"strategy\" must be a name of a-z, 0-9 and -", NULL);
    if (lb_strategy_find(name) != NULL)
        return wrong(guest, err, "there is a built-in strategy of this name:", name);
    if (shape == NULL || (strcmp(shape, "lock") != 0 && strcmp(shape, "queue") != 0))
        return wrong(guest, err, "\"shape\" must be \"lock\" or \"queue\"", NULL);
    const char *summary = text_of(guest, "summary");
    strategy->name = name;
    strategy->shape = strcmp(shape, "lock") == 0 ? LB_LOCK : LB_QUEUE;
    strategy->summary = summary != NULL ? summary : "";
    const char *mode = text_of(guest, "mode");
    strategy->is_pushed = mode != NULL && strcmp(mode, "push") == 0;
    if (mode != NULL && !strategy->is_pushed && strcmp(mode, "pull") != 0)
        return wrong(guest, err, "\"mode\" must be \"pull\" or \"push\", and not", mode);
    strategy->is_lease = json_is_true(json_object_get(guest->hello, "lease"));
    strategy->is_heard_of = json_is_true(json_object_get(guest->hello, "heartbeats"));
    const json_t *unit = json_object_get(guest->hello, "lease_unit_ms");
    json_int_t unit_ms = json_integer_value(unit);
    if (unit != NULL && (unit_ms < 1 || unit_ms > LEASE_UNIT_MOST_MS))
        return wrong(guest, err, "\"lease_unit_ms\" must be a number of 1 to 60000", NULL);
    strategy->lease_unit_ms = (uint32_t)unit_ms;
    strategy->is_shared_capable = json_is_true(json_object_get(guest->hello, "shared"));
    strategy->is_capacity_capable = json_is_true(json_object_get(guest->hello, "capacity"));
    return 0;
}

static int read_claims(struct lb_guest *guest, struct lb_error *err)
{
    const json_t *claims = json_object_get(guest->hello, "claims");
    size_t i;
    json_t *value;
    json_array_foreach(claims, i, value)
    {
        const char *name = json_string_value(value);
        int guarantee = name != NULL ? lb_guarantee_parse(name) : -1;
        if (guarantee < 0)
            return wrong(guest, err,
                         "\"claims\": no guarantee of this name:", name != NULL ? name : "");
        guest->strategy.claims |= LB_G_BIT(guarantee);
    }
    if (guest->strategy.claims == 0)
        return wrong(guest, err, "\"claims\" must be a list of guarantees, as in [\"exclusive\"]",
                     NULL);
    return 0;
}

static int read_engines(struct lb_guest *guest, struct lb_error *err)
{
    const json_t *engines = json_object_get(guest->hello, "engines");
    size_t i, used = 0;
    json_t *value;
    json_array_foreach(engines, i, value)
    {
        const char *name = json_string_value(value);
        if (name == NULL || lb_engine_find(name, strlen(name)) == NULL)
            return wrong(guest, err, "\"engines\": not one of sqlite, postgres, mariadb:",
                         name != NULL ? name : "");
        used += (size_t)snprintf(guest->engines + used, sizeof guest->engines - used, "%s%s",
                                 used > 0 ? "," : "", name);
        if (used >= sizeof guest->engines)
            return wrong(guest, err, "\"engines\" is too long", NULL);
    }
    if (used == 0)
        return wrong(guest, err, "\"engines\" must be a list, as in [\"postgres\"]", NULL);
    guest->strategy.engines = guest->engines;
    return 0;
}

static bool has_operation(const struct lb_guest *guest, const char *name)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(guest->hello, "operations"), i, value)
    {
        if (json_is_string(value) && strcmp(json_string_value(value), name) == 0)
            return true;
    }
    return false;
}

/* The bit of an operation that its shape can have; 0: there is none of this name. */
static unsigned bit_of(const struct lb_guest *guest, const char *name)
{
    for (size_t o = 0; o < OPERATIONS && name != NULL; o++)
        if (operations[o].shape == guest->strategy.shape && strcmp(operations[o].name, name) == 0)
            return 1u << operations[o].section;
    return 0;
}

/* The operations that take all items of a claim at once. */
static int read_batches(struct lb_guest *guest, struct lb_error *err)
{
    static const unsigned batched =
        1u << LB_S_COMPLETE | 1u << LB_S_ERROR | 1u << LB_S_FREE | 1u << LB_S_RENEW;
    const json_t *list = json_object_get(guest->hello, "batches");
    size_t i;
    json_t *value;
    if (list != NULL && guest->strategy.shape == LB_LOCK)
        return wrong(guest, err, "\"batches\" are of a queue only", NULL);
    if (list != NULL && !json_is_array(list))
        return wrong(guest, err, "\"batches\" must be a list of operations", NULL);
    if (list != NULL && guest->strategy.is_pushed)
        return wrong(guest, err, "a queue that pushes has one item at a time, and no \"batches\"",
                     NULL);
    json_array_foreach(list, i, value)
    {
        const char *name = json_string_value(value);
        unsigned bit = bit_of(guest, name) & batched;
        bool does = bit == 1u << LB_S_COMPLETE || (name != NULL && has_operation(guest, name));
        if (bit == 0 || !does)
            return wrong(guest, err, "\"batches\": no operation of it that ends or renews an item:",
                         name != NULL ? name : "");
        guest->strategy.batches |= bit;
    }
    return 0;
}

/* Only the end of a pushed claim is known: no guarantee may depend on its begin. */
static int check_push(const struct lb_guest *guest, struct lb_error *err)
{
    if (!guest->strategy.is_pushed)
        return 0;
    if (guest->strategy.shape == LB_LOCK)
        return wrong(guest, err, "\"mode\" can be \"push\" of a queue only", NULL);
    if (guest->strategy.is_lease)
        return wrong(guest, err, "a queue that pushes cannot have \"lease\"", NULL);
    static const enum lb_guarantee by_time[] = {LB_G_FIFO, LB_G_PRIORITY, LB_G_RATE, LB_G_SHARE};
    for (size_t i = 0; i < sizeof by_time / sizeof by_time[0]; i++)
        if ((guest->strategy.claims & LB_G_BIT(by_time[i])) != 0)
            return wrong(guest, err, "a queue that pushes cannot claim",
                         lb_guarantee_name(by_time[i]));
    if (has_operation(guest, "recover"))
        return wrong(guest, err, "a queue that pushes cannot have the operation", "recover");
    return 0;
}

/* Notes the operations that the program implements. */
static int read_operations(struct lb_guest *guest, struct lb_error *err)
{
    const json_t *list = json_object_get(guest->hello, "operations");
    size_t i;
    json_t *value;
    guest->strategy.flow = &lb_guest_flow;
    for (size_t o = 0; o < OPERATIONS; o++) {
        bool ours = operations[o].shape == guest->strategy.shape;
        if (ours && operations[o].required && list != NULL &&
            !has_operation(guest, operations[o].name))
            return wrong(guest, err, "\"operations\" lacks", operations[o].name);
        if (ours && (operations[o].required || has_operation(guest, operations[o].name)))
            guest->strategy.operations |= 1u << operations[o].section;
    }
    json_array_foreach(list, i, value)
    {
        const char *name = json_string_value(value);
        if (bit_of(guest, name) == 0)
            return wrong(guest, err,
                         "\"operations\": no operation of its shape:", name != NULL ? name : "");
    }
    int rc = check_push(guest, err);
    return rc == 0 ? read_batches(guest, err) : rc;
}

static int read_options(struct lb_guest *guest, struct lb_error *err)
{
    const char *key;
    json_t *value;
    size_t n = 0;
    for (; n < LB_GUEST_COMMON_OPTIONS; n++)
        guest->options[n] = lb_guest_common_options[n];
    json_object_foreach(json_object_get(guest->hello, "options"), key, value)
    {
        if (n == LB_GUEST_OPTIONS || !json_is_string(value))
            return wrong(guest, err, "\"options\" must give a text as default for each:", key);
        guest->options[n++] =
            (struct lb_option){.name = key, .default_value = json_string_value(value)};
    }
    guest->strategy.options = guest->options;
    return 0;
}

/* The option that says how often an item is tried; its value is checked with the others. */
static int read_attempts(struct lb_guest *guest, struct lb_error *err)
{
    const char *name = text_of(guest, "attempts");
    const bool is_claimed = (guest->strategy.claims & LB_G_BIT(LB_G_ATTEMPTS)) != 0;
    if (json_object_get(guest->hello, "attempts") == NULL && !is_claimed)
        return 0;
    for (const struct lb_option *o = guest->options; o->name != NULL && name != NULL; o++)
        if (strcmp(o->name, name) == 0)
            guest->strategy.attempts = o->name;
    return guest->strategy.attempts != NULL
               ? lb_guest_check(guest, NULL, 0, err)
               : wrong(guest, err,
                       "\"attempts\" must name one of its options, which says how often an item is "
                       "tried",
                       NULL);
}

/* A guarantee of items: the attribute that it is about (LB_ATTRIBUTES: none), and the key that
 * states how far it goes. */
static int check_promise(const struct lb_guest *guest, enum lb_guarantee guarantee,
                         enum lb_attribute attribute, const char *key, bool is_right,
                         const char *want, struct lb_error *err)
{
    const bool is_claimed = (guest->strategy.claims & LB_G_BIT(guarantee)) != 0;
    const char *name = lb_guarantee_name(guarantee);
    char text[200];
    if (!is_claimed && json_object_get(guest->hello, key) == NULL)
        return 0;
    snprintf(text, sizeof text, "\"%s\" must be %s%s%s", key, want,
             is_claimed ? ", as it claims " : "", is_claimed ? name : "");
    if (!is_right)
        return wrong(guest, err, text, NULL);
    snprintf(text, sizeof text, "it has \"%s\", and \"attributes\" lacks", key);
    return attribute == LB_ATTRIBUTES || (guest->stated.attributes >> attribute & 1) != 0
               ? 0
               : wrong(guest, err, text, lb_guest_attributes[attribute]);
}

/* Which of two words the key has: 1 or 2; 0: neither. */
static int word_of(const struct lb_guest *guest, const char *key, const char *one, const char *two)
{
    const char *word = text_of(guest, key);
    return word == NULL ? 0 : strcmp(word, one) == 0 ? 1 : strcmp(word, two) == 0 ? 2 : 0;
}

/* A whole number from 1; 0: it is none. */
static uint32_t count_of(const struct lb_guest *guest, const char *key)
{
    enum { MOST = 100000000 };
    const json_int_t number = json_integer_value(json_object_get(guest->hello, key));
    return number >= 1 && number <= MOST ? (uint32_t)number : 0;
}

static int read_promises(struct lb_guest *guest, struct lb_error *err)
{
    struct lb_program *stated = &guest->stated;
    const double share = json_number_value(json_object_get(guest->hello, "share"));
    stated->key_limit = count_of(guest, "key_limit");
    stated->rate = guest->strategy.shape == LB_QUEUE ? count_of(guest, "rate") : 0;
    stated->rate_ms = count_of(guest, "rate_ms");
    stated->share_milli = share > 0 && share <= 1 ? (uint32_t)(share * 1000 + 0.5) : 0;
    stated->unique = word_of(guest, "unique", "until-done", "until-claimed");
    stated->priority = word_of(guest, "priority", "highest-first", "lowest-first");
    int rc = check_promise(guest, LB_G_KEY_LIMIT, LB_A_KEY, "key_limit", stated->key_limit > 0,
                           "a whole number from 1", err);
    if (rc == 0)
        rc = check_promise(guest, LB_G_UNIQUE, LB_A_UNIQUE, "unique", stated->unique > 0,
                           "\"until-done\" or \"until-claimed\"", err);
    if (rc == 0)
        rc = check_promise(guest, LB_G_PRIORITY, LB_A_PRIORITY, "priority", stated->priority > 0,
                           "\"highest-first\" or \"lowest-first\"", err);
    if (rc == 0)
        rc = check_promise(guest, LB_G_RATE, LB_ATTRIBUTES, "rate",
                           stated->rate > 0 && stated->rate_ms > 0,
                           "a whole number from 1, of a queue, and \"rate_ms\" too", err);
    if (rc == 0)
        rc = check_promise(guest, LB_G_SHARE, LB_A_TENANT, "share", stated->share_milli > 0,
                           "a number above 0 and at most 1", err);
    return rc;
}

/* The attributes of items, and the promises about them. */
static int read_attributes(struct lb_guest *guest, struct lb_error *err)
{
    const json_t *list = json_object_get(guest->hello, "attributes");
    size_t i;
    json_t *value;
    if (list != NULL && (guest->strategy.shape == LB_LOCK || !json_is_array(list)))
        return wrong(guest, err, "\"attributes\" must be a list, and are of a queue only", NULL);
    json_array_foreach(list, i, value)
    {
        const char *name = json_string_value(value);
        int a = 0;
        while (a < LB_ATTRIBUTES && (name == NULL || strcmp(lb_guest_attributes[a], name) != 0))
            a++;
        if (a == LB_ATTRIBUTES)
            return wrong(guest, err,
                         "\"attributes\": not one of key, tenant, priority, due, unique_key:",
                         name != NULL ? name : "");
        guest->stated.attributes |= (uint8_t)(1u << a);
    }
    const int due = word_of(guest, "due", "later", "at-once");
    if (json_object_get(guest->hello, "due") != NULL && due == 0)
        return wrong(guest, err, "\"due\" must be \"later\" or \"at-once\"", NULL);
    guest->stated.due_later = due == 1;
    const int rc = read_promises(guest, err);
    if (guest->stated.attributes != 0 || due == 1 || guest->stated.rate > 0)
        guest->strategy.stated = &guest->stated;
    return rc;
}

int lb_guest_read(const char *path, json_t *hello, struct lb_guest **ret_guest,
                  struct lb_error *err)
{
    static int (*const readers[])(struct lb_guest * guest, struct lb_error * err) = {
        check_keys,      read_name,    read_claims,   read_engines,
        read_operations, read_options, read_attempts, read_attributes};
    struct lb_guest *guest = lb_calloc(1, sizeof *guest);
    guest->path = path;
    guest->hello = hello;
    guest->strategy = (struct lb_strategy){.origin = "", .changed = lb_no_changes, .guest = guest};
    int rc = 0;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0] && rc == 0; i++)
        rc = readers[i](guest, err);
    if (rc == 0)
        *ret_guest = guest;
    else
        lb_guest_free(guest);
    return rc;
}

int lb_guest_new(const char *path, uint32_t start_ms, struct lb_guest **ret_guest,
                 struct lb_error *err)
{
    enum { GRACE_MS = 2000 };
    char mark[LB_STRAY_MARK];
    struct lb_guest_process process = {.path = path, .mark = mark, .who = "hello"};
    json_t *hello = NULL;
    lb_stray_mark(mark, sizeof mark);
    int rc = lb_guest_spawn(&process, err);
    if (rc == 0)
        rc = lb_guest_hello(&process, start_ms, &hello, err);
    lb_guest_end(&process, rc == 0 ? GRACE_MS : 0);
    if (rc == 0)
        rc = lb_guest_read(path, hello, ret_guest, err);
    if (rc == 0)
        memcpy((*ret_guest)->mark, mark, sizeof mark);
    else
        lb_stray_end(mark);
    return rc;
}

void lb_guest_free(struct lb_guest *guest)
{
    if (guest == NULL)
        return;
    if (guest->mark[0] != '\0')
        lb_stray_end(guest->mark);
    json_decref(guest->hello);
    free(guest);
}

const struct lb_strategy *lb_guest_strategy(const struct lb_guest *guest)
{
    return &guest->strategy;
}

const char *lb_guest_version(const struct lb_guest *guest)
{
    const char *version = text_of(guest, "version");
    return version != NULL ? version : "";
}
