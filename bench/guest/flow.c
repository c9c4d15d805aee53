/* The operations of a strategy, asked of a program: see guest.h.
 *
 * Each operation is one request and one answer, matched by id:
 *   > {"id":2,"do":"acquire","resource":"r0"}
 *   < {"id":2,"ok":true,"token":17}
 * Any line that does not answer the open request ends the run: a program that answers twice, or
 * answers something else, cannot be judged.
 *
 * A program that pushes receives one request to work, and then reports by itself when a handler
 * begins:
 *   < {"event":"claimed","item":41}
 * It handles one item at a time, and answers the completion when the library has written it.
 * Silence does not mean that the queue is empty.
 */
#include "gated.h"

#include "clock.h"
#include "memory.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all workers of a run share: plan->shared. */
struct shared {
    struct lb_door door;
    const char *engine;
};

/* One worker's. */
struct state {
    struct lb_guest_process process;
    struct lb_guest_gate *gate; /* NULL: it connects by itself */
    char who[64];
    uint32_t start_ms, answer_ms;
    json_int_t id;
    bool is_working; /* it pushes, and has received "work" */
    bool has_item;   /* it pushed an item, which it has in hand */
    json_t *event;   /* an event that no claim has consumed yet; NULL: none */
};

enum { GRACE_MS = 2000, QUIET_MS = 3000 };

/* --- one request ---------------------------------------------------------------------------- */

static int double_answer(struct state *state, const char *what, json_int_t id, struct lb_error *err)
{
    if (id > 0 && id < state->id)
        return lb_guest_fail(&state->process, LB_E_FILE, what, err,
                             "it has answered request %lld twice", (long long)id);
    return lb_guest_fail(&state->process, LB_E_FILE, what, err,
                         "its answer has the id %lld, the request has %lld", (long long)id,
                         (long long)state->id);
}

/* True if a fault has ended its sessions since it was opened. */
static bool is_cut_off(const struct lb_actor *actor)
{
    return atomic_load(&actor->n_cuts) != actor->n_cuts_before;
}

/* Exactly one of ok, busy, empty, refused and error. */
static int read_answer(struct lb_actor *actor, struct state *state, const char *what,
                       const json_t *answer, struct lb_error *err)
{
    static const struct {
        const char *key;
        enum lb_answer answer;
    } kinds[] = {{"ok", LB_OK}, {"busy", LB_BUSY}, {"empty", LB_EMPTY}, {"refused", LB_REFUSED}};
    const json_t *id = json_object_get(answer, "id");
    if (!json_is_integer(id))
        return lb_guest_fail(&state->process, LB_E_FILE, what, err, "its answer has no id");
    if (json_integer_value(id) != state->id)
        return double_answer(state, what, json_integer_value(id), err);
    int n = 0, r = LB_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (json_is_true(json_object_get(answer, kinds[i].key))) {
            n++;
            r = (int)kinds[i].answer;
        }
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (n + (error != NULL) != 1)
        return lb_guest_fail(&state->process, LB_E_FILE, what, err,
                             "its answer must have one of \"ok\":true, \"busy\":true, "
                             "\"empty\":true, \"refused\":true and \"error\":\"text\"");
    if (error == NULL)
        return r;
    snprintf(actor->said, sizeof actor->said, "%s", error);
    lb_guest_clean(state->process.door, actor->said);
    /* A program that lost its connection does not know the outcome of the request. */
    return json_is_true(json_object_get(answer, "unknown")) || is_cut_off(actor) ? LB_LOST
                                                                                 : LB_OTHER;
}

/* Receives an answer. Events pushed meanwhile are kept for the next claim. */
static int receive(struct lb_actor *actor, uint64_t deadline_ns, const char *what,
                   json_t **ret_answer, struct lb_error *err)
{
    struct state *state = actor->state;
    for (;;) {
        json_t *line = NULL;
        int rc = lb_guest_receive(&state->process, deadline_ns, what, &line, err);
        bool is_event =
            rc == 0 && actor->plan->strategy->is_pushed && json_object_get(line, "event") != NULL;
        if (!is_event) {
            *ret_answer = line;
            return rc;
        }
        if (state->has_item || state->event != NULL || !state->is_working) {
            json_decref(line);
            return lb_guest_fail(&state->process, LB_E_FILE, what, err, "%s",
                                 state->is_working
                                     ? "it claims another item while one is in hand: its library "
                                       "must run one handler at a time, and its answer to the end "
                                       "of an item must come before the next event"
                                     : "an event before it received \"work\"");
        }
        state->event = line;
    }
}

/* Sends request, which is freed, and reads its answer; *ret_answer, if wanted, is the caller's. */
static int ask(struct lb_actor *actor, json_t *request, json_t **ret_answer, struct lb_error *err)
{
    struct state *state = actor->state;
    json_t *answer = NULL;
    if (state == NULL || state->process.pid == 0) {
        json_decref(request);
        return LB_LOST;
    }
    char what[40];
    snprintf(what, sizeof what, "%s", json_string_value(json_object_get(request, "do")));
    json_object_set_new(request, "id", json_integer(++state->id));
    uint64_t deadline_ns = lb_now_ns() + state->answer_ms * UINT64_C(1000000);
    if (state->gate != NULL)
        lb_guest_gate_begin(state->gate, request);
    int rc = lb_guest_send(&state->process, request, deadline_ns, what, err);
    json_decref(request);
    if (rc == 0)
        rc = receive(actor, deadline_ns, what, &answer, err);
    if (state->gate != NULL)
        lb_guest_gate_end(state->gate);
    if (rc == LB_E_INTERRUPTED && state->gate != NULL && lb_guest_gate_is_over(state->gate, err))
        return rc;
    if (rc == LB_E_INTERRUPTED)
        rc = lb_guest_fail(&state->process, LB_E_PROGRAM, what, err,
                           "no answer within %u ms; --opt answer_ms=N gives it more",
                           state->answer_ms);
    if (rc == 0)
        rc = read_answer(actor, state, what, answer, err);
    /* Killed as the run was given up; or it did not outlive its connection, which was cut. */
    if (rc < 0 && (atomic_load(&actor->is_cancelled) || (rc == LB_E_PROGRAM && is_cut_off(actor))))
        rc = LB_LOST;
    if (rc == LB_OK && ret_answer != NULL)
        *ret_answer = answer;
    else
        json_decref(answer);
    return rc;
}

static json_t *request_for(const char *what)
{
    return json_pack("{s:s}", "do", what);
}

static int no_token(struct lb_actor *actor, const char *what, struct lb_error *err)
{
    struct state *state = actor->state;
    return lb_guest_fail(&state->process, LB_E_FILE, what, err, "\"token\" must be a whole number");
}

/* An optional whole number. false: it is there, and is none. */
static bool read_number(const json_t *answer, const char *key, int64_t *ret, bool *ret_has)
{
    const json_t *value = json_object_get(answer, key);
    *ret_has = json_is_integer(value);
    if (*ret_has)
        *ret = json_integer_value(value);
    return value == NULL || json_is_null(value) || *ret_has;
}

/* --- life ----------------------------------------------------------------------------------- */

static json_t *describe_door(const char *engine, const struct lb_door *door)
{
    json_t *target = json_pack("{s:s}", "engine", engine);
    const struct {
        const char *key, *value;
    } parts[] = {{"host", door->host},     {"port", door->port},
                 {"user", door->user},     {"password", door->password},
                 {"socket", door->socket}, {"database", door->database},
                 {"path", door->path}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].value[0] != '\0')
            json_object_set_new(target, parts[i].key, json_string(parts[i].value));
    return target;
}

static json_t *describe_run(const struct lb_actor *actor)
{
    const struct lb_strategy_plan *plan = actor->plan;
    json_t *options =
        json_pack("{s:I, s:I, s:I}", "ttl_ms", (json_int_t)plan->ttl_ms, "limit_ms",
                  (json_int_t)plan->limit_ms, "resources", (json_int_t)plan->n_resources);
    for (const struct lb_option *o = plan->strategy->options; o->name != NULL; o++) {
        const char *value =
            lb_setting_of(plan->settings, plan->n_settings, o->name, o->default_value);
        json_object_set_new(options, o->name, json_string(value));
    }
    return options;
}

/* Where faults find its sessions: a number, or a list of them. */
static void note_sessions(struct lb_actor *actor, const json_t *answer)
{
    enum { MOST = sizeof actor->sessions / sizeof actor->sessions[0] };
    const json_t *said = json_object_get(answer, "session");
    size_t i;
    json_t *value;
    actor->n_sessions = 0;
    if (json_is_integer(said))
        actor->sessions[actor->n_sessions++] = json_integer_value(said);
    json_array_foreach(said, i, value)
    {
        if (json_is_integer(value) && actor->n_sessions < MOST)
            actor->sessions[actor->n_sessions++] = json_integer_value(value);
    }
}

static void end(struct lb_actor *actor, uint32_t grace_ms)
{
    struct state *state = actor->state;
    atomic_store(&actor->program, 0);
    lb_guest_end(&state->process, grace_ms);
    json_decref(state->event);
    state->event = NULL;
    state->is_working = state->has_item = false;
    lb_guest_gate_close(state->gate);
    state->gate = NULL;
}

/* Starts a process, or another one in place of one that is lost, and opens it. */
static int guest_open(struct lb_actor *actor, struct lb_error *err)
{
    const struct lb_strategy_plan *plan = actor->plan;
    const struct shared *shared = plan->shared;
    const struct lb_door *door = &shared->door;
    struct state *state = actor->state;
    json_t *hello = NULL, *answer = NULL;
    if (atomic_load(&actor->is_cancelled))
        return LB_LOST;
    if (state == NULL)
        actor->state = state = lb_calloc(1, sizeof *state);
    else
        end(actor, 0);
    snprintf(state->who, sizeof state->who, "worker %s", actor->name);
    state->id = 0;
    state->process = (struct lb_guest_process){.path = plan->strategy->guest->path,
                                               .mark = plan->strategy->guest->mark,
                                               .who = state->who,
                                               .door = &shared->door};
    atomic_store(&actor->cut, LB_CUT_NOTHING);
    int rc = lb_guest_limit("start_ms", plan->settings, plan->n_settings, &state->start_ms, err);
    if (rc == 0)
        rc = lb_guest_limit("answer_ms", plan->settings, plan->n_settings, &state->answer_ms, err);
    if (rc == 0 && plan->is_gated && (!actor->is_apart || plan->is_setup_gated))
        rc = lb_guest_gate_open(actor, door, &state->gate, err);
    if (rc == 0 && state->gate != NULL) {
        door = lb_guest_gate_door(state->gate);
        state->process.relay = lb_guest_gate_relay(state->gate);
    }
    if (rc == 0)
        rc = lb_guest_spawn(&state->process, err);
    if (rc == 0)
        atomic_store(&actor->program, (int)state->process.pid);
    if (rc == 0)
        rc = lb_guest_hello(&state->process, state->start_ms, &hello, err);
    json_decref(hello);
    if (rc == 0)
        rc = ask(actor,
                 json_pack("{s:s, s:s, s:s, s:o, s:o}", "do", "open", "worker", actor->name, "uri",
                           door->uri, "target", describe_door(shared->engine, door), "options",
                           describe_run(actor)),
                 &answer, err);
    if (rc == LB_OK)
        note_sessions(actor, answer);
    json_decref(answer);
    if (rc > LB_OK && rc != LB_LOST)
        rc = lb_guest_fail(&state->process, LB_E_PROGRAM, "open", err, "%s: %s", lb_answer_name(rc),
                           actor->said);
    if (rc < 0 && atomic_load(&actor->is_cancelled))
        rc = LB_LOST;
    if (rc < 0)
        end(actor, 0);
    return rc;
}

static void guest_close(struct lb_actor *actor)
{
    struct state *state = actor->state;
    struct lb_error ignored;
    if (state == NULL)
        return;
    if (state->process.pid > 0) {
        json_t *request = json_pack("{s:I, s:s}", "id", state->id + 1, "do", "close");
        lb_guest_send(&state->process, request, lb_now_ns() + GRACE_MS * UINT64_C(1000000), "close",
                      &ignored);
        json_decref(request);
    }
    end(actor, atomic_load(&actor->is_cancelled) ? 0 : GRACE_MS);
    free(state);
    actor->state = NULL;
}

/* setup and teardown: a process of their own, asked once. */
static int ask_once(const struct lb_strategy_plan *plan, const char *what, struct lb_error *err)
{
    struct lb_actor actor = {.plan = plan, .is_apart = true};
    json_t *resources = json_array();
    snprintf(actor.name, sizeof actor.name, "%s", what);
    for (uint32_t i = 0; i < plan->n_resources; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%u", i);
        json_array_append_new(resources, json_string(name));
    }
    int rc = guest_open(&actor, err);
    if (rc == LB_OK)
        rc = ask(&actor, json_pack("{s:s, s:O}", "do", what, "resources", resources), NULL, err);
    json_decref(resources);
    if (rc > LB_OK)
        rc = lb_fail(err, LB_E_PROGRAM, "%s, %s: %s%s%s", plan->strategy->guest->path, what,
                     lb_answer_name(rc), actor.said[0] != '\0' ? ": " : "", actor.said);
    guest_close(&actor);
    return rc;
}

static int guest_setup(struct lb_strategy_plan *plan, struct lb_session *session,
                       struct lb_error *err)
{
    struct shared *shared = lb_calloc(1, sizeof *shared);
    shared->engine = session->db->name;
    plan->shared = shared;
    int rc = session->db->door(session->space, &shared->door, err);
    if (rc == 0)
        rc = ask_once(plan, "setup", err);
    if (rc != 0) {
        free(shared);
        plan->shared = NULL;
    }
    return rc;
}

static int guest_teardown(struct lb_strategy_plan *plan, struct lb_session *session,
                          struct lb_error *err)
{
    (void)session;
    int rc = ask_once(plan, "teardown", err);
    free(plan->shared);
    plan->shared = NULL;
    return rc;
}

/* --- locks ---------------------------------------------------------------------------------- */

static json_t *lock_request(const char *what, const struct lb_request *request,
                            const struct lb_grant *grant)
{
    char name[16];
    snprintf(name, sizeof name, "r%u", request->resource);
    json_t *made = json_pack("{s:s, s:s}", "do", what, "resource", name);
    if (request->shared)
        json_object_set_new(made, "mode", json_string("shared"));
    if (request->capacity > 1)
        json_object_set_new(made, "capacity", json_integer(request->capacity));
    if (grant->has_token)
        json_object_set_new(made, "token", json_integer(grant->token));
    if (grant->has_ticket)
        json_object_set_new(made, "ticket", json_integer(grant->ticket));
    return made;
}

static int guest_lock(struct lb_actor *actor, enum lb_section_name section,
                      const struct lb_request *request, struct lb_grant *grant,
                      struct lb_error *err)
{
    const char *what = lb_section_text(section);
    bool takes = section != LB_S_RELEASE && section != LB_S_CANCEL, had = grant->has_token, has;
    int64_t token = grant->token;
    json_t *answer = NULL;
    if (section == LB_S_ENQUEUE)
        grant->has_ticket = grant->has_token = false;
    int rc = ask(actor, lock_request(what, request, grant), &answer, err);
    if (rc == LB_OK && takes && !read_number(answer, "token", &grant->token, &grant->has_token))
        rc = no_token(actor, what, err);
    if (rc == LB_OK && takes && read_number(answer, "ticket", &grant->ticket, &has) && has)
        grant->has_ticket = true;
    json_decref(answer);
    /* A library may give a new token with each renewal; one that says none keeps its own. */
    if (section == LB_S_RENEW && (rc != LB_OK || !grant->has_token)) {
        grant->token = token;
        grant->has_token = had;
    }
    if (section == LB_S_RELEASE)
        grant->effective = rc == LB_OK;
    return rc;
}

/* --- queues --------------------------------------------------------------------------------- */

static const char *class_of(const struct lb_actor *actor)
{
    return actor->task_class != NULL ? actor->task_class : "default";
}

/* The attributes that its first line asks for. */
static void add_attributes(json_t *request, const struct lb_strategy_plan *plan, int64_t id)
{
    const struct lb_attribute_source *source = plan->attributes;
    for (int a = 0; a < LB_ATTRIBUTES && source != NULL; a++) {
        char text[24];
        if ((plan->strategy->stated->attributes >> a & 1) == 0)
            continue;
        const uint32_t number = source->value_of(source, (enum lb_attribute)a, id);
        snprintf(text, sizeof text, "%s%u",
                 lb_attribute_letters[a] != NULL ? lb_attribute_letters[a] : "", number);
        json_object_set_new(request, lb_guest_attributes[a],
                            lb_attribute_letters[a] != NULL ? json_string(text)
                                                            : json_integer((int32_t)number));
    }
}

static int guest_put(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
                     struct lb_error *err)
{
    int rc = LB_OK;
    for (uint32_t i = 0; i < n && rc == LB_OK; i++) {
        const int64_t id = first + (int64_t)i;
        json_t *request = json_pack("{s:s, s:I, s:s, s:s}", "do", "put", "item", (json_int_t)id,
                                    "class", class_of(actor), "payload", payload);
        add_attributes(request, actor->plan, id);
        rc = ask(actor, request, NULL, err);
        if (rc == LB_REFUSED && lb_strategy_refuses(actor->plan, LB_DUPLICATE))
            rc = LB_DUPLICATE;
    }
    return rc;
}

/* The item of an event, which is freed. */
static int read_event(struct lb_actor *actor, json_t *event, struct lb_item *item,
                      struct lb_error *err)
{
    struct state *state = actor->state;
    const char *kind = json_string_value(json_object_get(event, "event"));
    const json_t *id = json_object_get(event, "item");
    int rc = LB_OK;
    if (kind == NULL || strcmp(kind, "claimed") != 0 || !json_is_integer(id))
        rc = lb_guest_fail(&state->process, LB_E_FILE, "claim", err,
                           "an event must be \"claimed\", with a whole number \"item\"");
    else if (!read_number(event, "token", &item->token, &item->has_token))
        rc = no_token(actor, "claim", err);
    else
        item->id = json_integer_value(id);
    json_decref(event);
    return rc;
}

/* Returns the item that a pushing program has claimed by itself, if it does so within a moment. */
static int guest_await(struct lb_actor *actor, struct lb_item *items, uint32_t max, uint32_t *ret_n,
                       int64_t *ret_marked, struct lb_error *err)
{
    struct state *state = actor->state;
    json_t *event = NULL;
    if (max == 0)
        return LB_EMPTY;
    if (state != NULL && state->process.pid != 0 && !state->is_working) {
        state->is_working = true; /* its first event may come before its answer */
        int rc = ask(actor, request_for("work"), NULL, err);
        if (rc != LB_OK)
            return rc;
    }
    if (state == NULL || state->process.pid == 0)
        return LB_LOST;
    event = state->event;
    state->event = NULL;
    if (event == NULL) {
        uint64_t until_ns = lb_now_ns() + QUIET_MS * UINT64_C(1000000);
        int rc = lb_guest_receive(&state->process, until_ns, "claim", &event, err);
        if (rc == LB_E_INTERRUPTED)
            return LB_EMPTY;
        if (rc != 0)
            return atomic_load(&actor->is_cancelled) || (rc == LB_E_PROGRAM && is_cut_off(actor))
                       ? LB_LOST
                       : rc;
    }
    int rc = read_event(actor, event, &items[0], err);
    state->has_item = rc == LB_OK;
    *ret_n = 1;
    *ret_marked = 1;
    return rc;
}

static int guest_claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                       uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err)
{
    struct state *state = actor->state;
    json_t *answer = NULL;
    if (actor->plan->strategy->is_pushed)
        return guest_await(actor, items, max, ret_n, ret_marked, err);
    int rc = ask(
        actor,
        json_pack("{s:s, s:I, s:s}", "do", "claim", "n", (json_int_t)n, "class", class_of(actor)),
        &answer, err);
    if (rc != LB_OK)
        return rc;
    const json_t *list = json_object_get(answer, "items");
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value)
    {
        struct lb_item *item = &items[i];
        const json_t *id = json_object_get(value, "item");
        if (!json_is_integer(id)) {
            rc = lb_guest_fail(&state->process, LB_E_FILE, "claim", err,
                               "\"items\" must be objects with a whole number \"item\"");
            break;
        }
        if (i >= max)
            continue; /* counted, not stored */
        item->id = json_integer_value(id);
        if (!read_number(value, "token", &item->token, &item->has_token))
            rc = no_token(actor, "claim", err);
    }
    *ret_n = (uint32_t)json_array_size(list);
    *ret_marked = (int64_t)*ret_n;
    if (rc == LB_OK && *ret_n == 0)
        rc = lb_guest_fail(&state->process, LB_E_FILE, "claim", err,
                           "\"ok\" without \"items\"; a queue without any answers \"empty\":true");
    json_decref(answer);
    return rc;
}

static int guest_item(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                      struct lb_error *err)
{
    json_t *request =
        json_pack("{s:s, s:I}", "do", lb_section_text(section), "item", (json_int_t)item->id);
    if (item->has_token)
        json_object_set_new(request, "token", json_integer(item->token));
    int rc = ask(actor, request, NULL, err);
    struct state *state = actor->state;
    if (state != NULL && section != LB_S_RENEW)
        state->has_item = false;
    return rc;
}

/* {"do":"complete","items":[{"item":41,"token":3},...]}. The answer's "items" are the numbers of
 * those that were reached, the others were refused; without them all were. */
static int guest_batch(struct lb_actor *actor, enum lb_section_name section, struct lb_batch *batch,
                       struct lb_error *err)
{
    const char *what = lb_section_text(section);
    json_t *list = json_array(), *answer = NULL;
    for (uint32_t i = 0; i < batch->n; i++) {
        json_t *one = json_pack("{s:I}", "item", (json_int_t)batch->items[i]->id);
        if (batch->items[i]->has_token)
            json_object_set_new(one, "token", json_integer(batch->items[i]->token));
        json_array_append_new(list, one);
    }
    lb_batch_begin(batch);
    int rc = ask(actor, json_pack("{s:s, s:o}", "do", what, "items", list), &answer, err);
    if (rc != LB_OK) {
        memset(batch->answers, rc < 0 ? LB_OTHER : rc, batch->n);
        return rc;
    }
    const json_t *reached = json_object_get(answer, "items");
    size_t i;
    json_t *id;
    if (reached == NULL)
        memset(batch->answers, LB_OK, batch->n);
    json_array_foreach(reached, i, id)
    {
        if (!json_is_integer(id))
            break;
        lb_batch_reach(batch, json_integer_value(id));
    }
    struct state *state = actor->state;
    if (reached != NULL && (!json_is_array(reached) || i < json_array_size(reached)))
        rc = lb_guest_fail(&state->process, LB_E_FILE, what, err,
                           "\"items\" must be a list of the whole numbers of those that were done");
    lb_batch_end(batch);
    json_decref(answer);
    return rc;
}

static int guest_class(struct lb_actor *actor, enum lb_section_name section, struct lb_error *err)
{
    json_t *request = request_for(lb_section_text(section));
    if (section == LB_S_RECOVER)
        json_object_set_new(request, "older_than_ms", json_integer(actor->plan->limit_ms));
    return ask(actor, request, NULL, err);
}

const struct lb_flow lb_guest_flow = {
    .setup = guest_setup,
    .open = guest_open,
    .lock = guest_lock,
    .put = guest_put,
    .claim = guest_claim,
    .item = guest_item,
    .batch = guest_batch,
    .class = guest_class,
    .close = guest_close,
    .teardown = guest_teardown,
};
