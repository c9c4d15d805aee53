/* The gate of one worker's program: see gated.h.
 *
 * Faults: the worker gives orders through its actor, and the relay's thread carries them out with
 * the next request that comes. A connection is cut in turns before a request goes out and behind
 * it, before its answer: the program cannot tell which, and must not guess.
 *
 * The trace: one line of JSON for each request that was let through, in one write to a file that is
 * opened for appending, so that the lines of several workers do not mix.
 */
#include "gated.h"

#include "clock.h"
#include "memory.h"
#include "relay.h"
#include "text_clean.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lb_guest_gate {
    struct lb_actor *actor;
    struct lb_relay *relay;
    const struct lb_door *door;
    pthread_mutex_t lock; /* of what follows, which the worker writes and the relay reads */
    char operation[40], thing[40];
    char worker[sizeof((struct lb_actor *)0)->name]; /* which the worker changes with its session */
    json_int_t id;
    bool is_within;
    bool is_over;
    struct lb_error why;
    /* Of the statement that is stepped, without passwords. */
    char sql[LB_WIRE_TEXT], params[LB_WIRE_PARAMS], rows[sizeof((struct lb_wire_answer *)0)->rows];
};

/* Asterisks up to the end of $tag$...$tag$. Returns what is behind it; NULL: at begins none. */
static char *hide_dollars(char *at)
{
    size_t n = *at == '$' ? 1 + strcspn(at + 1, "$ \t\r\n'") : 0;
    if (n == 0 || at[n] != '$')
        return NULL;
    n++;
    char *body = at + n, *end = memmem(body, strlen(body), at, n);
    size_t length = end != NULL ? (size_t)(end - body) : strlen(body);
    memset(body, '*', length);
    return body + length;
}

/* Hides the text between the quotes of PASSWORD '...', as in CREATE and ALTER ROLE. */
static void hide_literals(char *sql)
{
    static const char word[] = "password";
    for (char *at = sql; (at = strcasestr(at, word)) != NULL;) {
        at += sizeof word - 1;
        char *p = at + strspn(at, " \t\r\n");
        bool has_escapes = (p[0] == 'E' || p[0] == 'e') && p[1] == '\'';
        bool is_unicode = (p[0] == 'U' || p[0] == 'u') && p[1] == '&' && p[2] == '\'';
        p += is_unicode ? 2 : has_escapes;
        char *behind = hide_dollars(p);
        if (behind != NULL)
            at = behind;
        if (*p != '\'')
            continue;
        for (p++; *p != '\0' && (*p != '\'' || p[1] == '\''); p++) {
            if (*p == '\'' || (has_escapes && p[0] == '\\' && p[1] != '\0'))
                *p++ = '*';
            *p = '*';
        }
        at = p;
    }
}

static const char *hidden(const struct lb_guest_gate *gate, const char *text, char *copy,
                          size_t size)
{
    snprintf(copy, size, "%s", text);
    lb_guest_hide(gate->door, copy);
    return copy;
}

/* The answers that contention can cause, by the server's codes. */
static int answer_of(const struct lb_relay_statement *statement)
{
    static const struct {
        const char *sqlstate;
        enum lb_answer answer;
    } known[] = {{"55P03", LB_BUSY},
                 {"57014", LB_TIMEOUT},
                 {"40001", LB_CONFLICT},
                 {"40P01", LB_DEADLOCK},
                 {"23505", LB_DUPLICATE}};
    if (statement->is_lost)
        return LB_LOST;
    if (!statement->answer->has_failed)
        return LB_OK;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].sqlstate, statement->answer->sqlstate) == 0)
            return (int)known[i].answer;
    return LB_OTHER;
}

static struct lb_stepped stepped_of(struct lb_guest_gate *gate,
                                    const struct lb_relay_statement *statement)
{
    const struct lb_wire_request *request = statement->request;
    hidden(gate, request->text, gate->sql, sizeof gate->sql);
    hide_literals(gate->sql);
    return (struct lb_stepped){
        .sql = gate->sql,
        .params = hidden(gate, request->params, gate->params, sizeof gate->params),
        .operation = gate->operation,
        .is_cut = request->is_cut,
        .n_statements = request->n_statements,
        .session = statement->pid,
        .in_tx = statement->status != 'I',
        .answer = answer_of(statement),
        .n_rows = statement->answer->n_rows,
        .n_changed = statement->answer->n_changed,
        .rows = hidden(gate, statement->answer->rows, gate->rows, sizeof gate->rows)};
}

static enum lb_relay_verdict step(void *arg, const struct lb_relay_statement *statement,
                                  uint64_t *ret_until_ns)
{
    struct lb_guest_gate *gate = arg;
    struct lb_stepped stepped = stepped_of(gate, statement);
    (void)ret_until_ns;
    int rc = gate->actor->plan->stepper->asks(gate->actor, &stepped, &gate->why);
    gate->is_over = rc < 0;
    return rc < 0 ? LB_RELAY_END : LB_RELAY_GO;
}

static void stepped(void *arg, const struct lb_relay_statement *statement)
{
    struct lb_guest_gate *gate = arg;
    struct lb_stepped done = stepped_of(gate, statement);
    gate->actor->plan->stepper->answered(gate->actor, &done);
}

static enum lb_relay_verdict asks(void *arg, const struct lb_relay_statement *statement,
                                  uint64_t *ret_until_ns)
{
    const struct lb_guest_gate *gate = arg;
    struct lb_actor *actor = gate->actor;
    uint64_t now_ns = lb_now_ns();
    if (statement->n_asked == 0 && now_ns < atomic_load(&actor->slow_until_ns)) {
        *ret_until_ns = now_ns + atomic_load(&actor->slow_ns);
        return LB_RELAY_WAIT;
    }
    switch (atomic_exchange(&actor->cut, LB_CUT_NOTHING)) {
    case LB_CUT_BEFORE:
        return LB_RELAY_CUT_BEFORE;
    case LB_CUT_AFTER:
        return LB_RELAY_CUT_AFTER;
    default:
        return LB_RELAY_GO;
    }
}

/* Adds a copy of the text that is safe in one line: bytes that are not UTF-8 are left out. */
static void put_text(json_t *line, const struct lb_guest_gate *gate, const char *key,
                     const char *text)
{
    char *copy = lb_clean_copy(text, strlen(text));
    lb_guest_clean(gate->door, copy);
    hide_literals(copy);
    json_object_set_new(line, key, json_string(copy));
    free(copy);
}

/* "1\n'x'\n" as a list. */
static json_t *list_of(const struct lb_guest_gate *gate, const char *params)
{
    json_t *list = json_array();
    for (const char *p = params; *p != '\0';) {
        size_t n = strcspn(p, "\n");
        char *copy = lb_clean_copy(p, n);
        lb_guest_clean(gate->door, copy);
        json_array_append_new(list, json_string(copy));
        free(copy);
        p += n + (p[n] == '\n');
    }
    return list;
}

static void put_operation(json_t *line, struct lb_guest_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    json_object_set_new(line, "worker", json_string(gate->worker));
    if (gate->is_within) {
        json_object_set_new(line, "operation", json_string(gate->operation));
        json_object_set_new(line, "id", json_integer(gate->id));
        if (gate->thing[0] != '\0')
            json_object_set_new(line, "of", json_string(gate->thing));
    }
    pthread_mutex_unlock(&gate->lock);
}

static void put_answer(json_t *line, const struct lb_guest_gate *gate,
                       const struct lb_relay_statement *statement)
{
    const struct lb_wire_answer *answer = statement->answer;
    const char status[] = {statement->status, '\0'};
    if (statement->cut != NULL)
        json_object_set_new(line, "cut", json_string(statement->cut));
    if (statement->cut != NULL && strcmp(statement->cut, "before") == 0)
        return;
    if (statement->is_lost) {
        json_object_set_new(line, "lost", json_true());
        return;
    }
    json_object_set_new(line, "rows", json_integer((json_int_t)answer->n_rows));
    json_object_set_new(line, "changed", json_integer(answer->n_changed));
    if (answer->has_failed) {
        put_text(line, gate, "sqlstate", answer->sqlstate);
        put_text(line, gate, "error", answer->message);
    }
    json_object_set_new(line, "transaction",
                        json_string(statement->status == 'T'   ? "open"
                                    : statement->status == 'E' ? "failed"
                                    : statement->status == 'I' ? "none"
                                                               : status));
}

static void answered(void *arg, const struct lb_relay_statement *statement)
{
    struct lb_guest_gate *gate = arg;
    const struct lb_strategy_plan *plan = gate->actor->plan;
    const struct lb_wire_request *request = statement->request;
    if (plan->trace == NULL || atomic_load(&plan->trace->error) != 0)
        return;
    json_t *line = json_pack("{s:s}", "strategy", plan->strategy->name);
    put_operation(line, gate);
    put_text(line, gate, "sql", request->text);
    if (request->is_cut)
        json_object_set_new(line, "shortened", json_true());
    if (request->n_statements > 1)
        json_object_set_new(line, "statements", json_integer(request->n_statements));
    if (request->params[0] != '\0')
        json_object_set_new(line, "parameters", list_of(gate, request->params));
    json_object_set_new(line, "connection", json_integer(statement->link));
    json_object_set_new(line, "session", json_integer(statement->pid));
    json_object_set_new(line, "start_ns", json_integer((json_int_t)statement->start_ns));
    json_object_set_new(line, "end_ns", json_integer((json_int_t)statement->end_ns));
    put_answer(line, gate, statement);
    char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    if (text == NULL)
        return;
    size_t n = strlen(text);
    text[n++] = '\n'; /* instead of the NUL */
    ssize_t written = write(plan->trace->fd, text, n);
    if (written != (ssize_t)n)
        atomic_store(&plan->trace->error, written < 0 ? errno : ENOSPC);
    free(text);
}

static const struct lb_relay_hooks hooks = {.asks = asks, .answered = answered};
static const struct lb_relay_hooks stepping = {.asks = step, .answered = stepped};

int lb_guest_gate_open(struct lb_actor *actor, const struct lb_door *door,
                       struct lb_guest_gate **ret_gate, struct lb_error *err)
{
    struct lb_guest_gate *gate = lb_calloc(1, sizeof *gate);
    gate->actor = actor;
    gate->door = door;
    snprintf(gate->worker, sizeof gate->worker, "%s", actor->name);
    pthread_mutex_init(&gate->lock, NULL);
    bool is_stepped = actor->plan->stepper != NULL;
    int rc = lb_relay_new(door, is_stepped ? &stepping : &hooks, gate, &gate->relay, err);
    if (rc == 0 && !is_stepped)
        rc = lb_relay_start(gate->relay, err);
    if (rc == 0)
        *ret_gate = gate;
    else
        lb_guest_gate_close(gate);
    return rc;
}

const struct lb_door *lb_guest_gate_door(const struct lb_guest_gate *gate)
{
    return lb_relay_door(gate->relay);
}

struct lb_relay *lb_guest_gate_relay(struct lb_guest_gate *gate)
{
    return gate->actor->plan->stepper != NULL ? gate->relay : NULL;
}

bool lb_guest_gate_is_over(const struct lb_guest_gate *gate, struct lb_error *err)
{
    if (gate->is_over)
        *err = gate->why;
    return gate->is_over;
}

void lb_guest_gate_begin(struct lb_guest_gate *gate, const json_t *request)
{
    const char *resource = json_string_value(json_object_get(request, "resource"));
    const json_t *item = json_object_get(request, "item");
    pthread_mutex_lock(&gate->lock);
    gate->is_within = true;
    snprintf(gate->worker, sizeof gate->worker, "%s", gate->actor->name);
    gate->id = json_integer_value(json_object_get(request, "id"));
    snprintf(gate->operation, sizeof gate->operation, "%s",
             json_string_value(json_object_get(request, "do")));
    gate->thing[0] = '\0';
    if (resource != NULL)
        snprintf(gate->thing, sizeof gate->thing, "%s", resource);
    else if (json_is_integer(item))
        snprintf(gate->thing, sizeof gate->thing, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(item));
    pthread_mutex_unlock(&gate->lock);
}

void lb_guest_gate_end(struct lb_guest_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_within = false;
    pthread_mutex_unlock(&gate->lock);
}

void lb_guest_gate_close(struct lb_guest_gate *gate)
{
    if (gate == NULL)
        return;
    lb_relay_free(gate->relay);
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}
