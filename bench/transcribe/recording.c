/* Drives a program through its operations, and keeps its statements: see recording.h. The gate's
 * stepper lets each statement through at once.
 */
#include "recording.h"

#include "array.h"
#include "clock.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACTORS = 3, RESOURCES = 2, FIRST_ITEM = 700001 };

struct recorder {
    const struct lb_recording_plan *plan;
    struct lb_recording *recording;
    struct lb_recorded *current;   /* NULL: no operation is under way */
    const char *wanted;            /* those of this operation; of setup, those of opening, too */
    struct lb_strategy_plan asked; /* of the program */
    struct lb_strategy_plan brief; /* the same, for a worker that may wait in vain */
    struct lb_setting settings[40];
    struct lb_actor actors[ACTORS];
    struct lb_grant grants[ACTORS];
    struct lb_item items[ACTORS];
    struct lb_space *space;
    struct lb_session control;
    bool has_control, is_set_up;
    size_t n_open;
    int64_t next_item;
};

/* --- what is kept --- */

static int asks(struct lb_actor *actor, const struct lb_stepped *stepped, struct lb_error *err)
{
    (void)actor;
    (void)stepped;
    (void)err;
    return 0;
}

static void keep(struct lb_recorded *operation, const struct lb_stepped *stepped)
{
    struct lb_recorded_statement *kept =
        lb_array_add(&operation->statements, &operation->n, sizeof *kept);
    *kept = (struct lb_recorded_statement){.sql = lb_strdup(stepped->sql),
                                           .params = lb_strdup(stepped->params),
                                           .rows = lb_strdup(stepped->rows),
                                           .is_cut = stepped->is_cut,
                                           .answer = stepped->answer,
                                           .in_tx = stepped->in_tx,
                                           .n_statements = stepped->n_statements,
                                           .session = stepped->session,
                                           .n_rows = stepped->n_rows,
                                           .n_changed = stepped->n_changed};
}

static void answered(struct lb_actor *actor, const struct lb_stepped *stepped)
{
    struct recorder *recorder = actor->plan->stepper->arg;
    if (recorder->current == NULL)
        return;
    bool is_setup = strcmp(recorder->wanted, "setup") == 0;
    bool is_asked =
        (actor->is_apart && is_setup) || strcmp(stepped->operation, recorder->wanted) == 0;
    if (is_asked)
        keep(recorder->current, stepped);
}

const struct lb_recorded *lb_recording_find(const struct lb_recording *recording,
                                            const char *operation, enum lb_recorded_as as)
{
    for (size_t i = 0; i < recording->n; i++)
        if (recording->operations[i].as == as &&
            strcmp(recording->operations[i].operation, operation) == 0)
            return &recording->operations[i];
    return NULL;
}

/* From here on statements belong to this operation, unless it was recorded before. */
static void begin(struct recorder *recorder, const char *operation, enum lb_recorded_as as)
{
    struct lb_recording *recording = recorder->recording;
    recorder->current = NULL;
    recorder->wanted = operation;
    bool has_room = recording->n < sizeof recording->operations / sizeof recording->operations[0];
    if (!has_room || lb_recording_find(recording, operation, as) != NULL)
        return;
    recorder->current = &recording->operations[recording->n++];
    *recorder->current =
        (struct lb_recorded){.as = as, .resource = as == LB_RECORDED_SECOND ? 0 : 1};
    snprintf(recorder->current->operation, sizeof recorder->current->operation, "%s", operation);
    snprintf(recorder->current->worker, sizeof recorder->current->worker, "%s",
             recorder->actors[as].name);
    recorder->current->now_ms = (uint64_t)lb_unix_ms();
}

/* grant or item: the operation's subject; NULL: none. */
static void end(struct recorder *recorder, int answer, const struct lb_grant *grant,
                const struct lb_item *item)
{
    struct lb_recorded *current = recorder->current;
    recorder->current = NULL;
    if (current == NULL)
        return;
    current->answer = answer;
    if (grant != NULL && grant->has_token) {
        current->token = grant->token;
        current->has_token = true;
    }
    if (item != NULL) {
        current->id = item->id;
        current->has_id = true;
        current->token = item->token;
        current->has_token = item->has_token;
    }
}

/* --- what is done --- */

/* A program that was to do something that must be possible. */
static int fail_refused(const struct recorder *recorder, const char *operation, int answer,
                        const struct lb_actor *actor, struct lb_error *err)
{
    return lb_fail(err, LB_E_UNSUPPORTED,
                   "%s cannot be recorded: its %s by %s was answered with %s%s%s, though nothing "
                   "stands against it",
                   recorder->plan->strategy->name, operation, actor->name, lb_answer_name(answer),
                   actor->said[0] != '\0' ? ": " : "", actor->said);
}

static int do_lock(struct recorder *recorder, enum lb_section_name section, enum lb_recorded_as as,
                   bool is_required, struct lb_error *err)
{
    struct lb_actor *actor = &recorder->actors[as];
    struct lb_grant *grant = &recorder->grants[as];
    const struct lb_request request = {.resource = as == LB_RECORDED_SECOND ? 0 : 1, .capacity = 1};
    const char *operation = lb_section_text(section);
    if (!lb_strategy_has(actor->plan, section))
        return 0;
    if (atomic_load(recorder->plan->interrupt) != 0)
        return lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    begin(recorder, operation, as);
    int rc = recorder->plan->strategy->flow->lock(actor, section, &request, grant, err);
    end(recorder, rc, grant, NULL);
    if (rc > LB_OK && is_required)
        rc = fail_refused(recorder, operation, rc, actor, err);
    return rc < 0 ? rc : 0;
}

static int both_lock(struct recorder *recorder, enum lb_section_name section, bool is_required,
                     struct lb_error *err)
{
    int rc = do_lock(recorder, section, LB_RECORDED_FIRST, is_required, err);
    return rc == 0 ? do_lock(recorder, section, LB_RECORDED_SECOND, is_required, err) : rc;
}

/* Another worker holds the lock. If the program blocks waiting for it, we abandon that worker. */
static int refused_lock(struct recorder *recorder, struct lb_error *err)
{
    struct lb_error why;
    struct lb_actor *actor = &recorder->actors[LB_RECORDED_REFUSED];
    int rc = do_lock(recorder, LB_S_ENQUEUE, LB_RECORDED_REFUSED, false, &why);
    if (rc == 0)
        rc = do_lock(recorder, LB_S_ACQUIRE, LB_RECORDED_REFUSED, false, &why);
    if (rc == 0)
        rc = do_lock(recorder, LB_S_CANCEL, LB_RECORDED_REFUSED, false, &why);
    if (rc == LB_E_INTERRUPTED && atomic_load(recorder->plan->interrupt) != 0) {
        *err = why;
        return rc;
    }
    if (rc != 0) { /* its process is of no use any more */
        recorder->plan->strategy->flow->close(actor);
        recorder->n_open--;
    }
    return 0;
}

/* One more grant of the first resource, so that the fences of both differ. */
static int warm_up(struct recorder *recorder, struct lb_error *err)
{
    const struct lb_flow *flow = recorder->plan->strategy->flow;
    const struct lb_request request = {.resource = 1, .capacity = 1};
    struct lb_actor *actor = &recorder->actors[LB_RECORDED_FIRST];
    struct lb_grant grant = {.token = 0};
    recorder->current = NULL;
    int rc = flow->lock(actor, LB_S_ACQUIRE, &request, &grant, err);
    if (rc > LB_OK)
        return fail_refused(recorder, "acquire", rc, actor, err);
    if (rc == LB_OK)
        rc = flow->lock(actor, LB_S_RELEASE, &request, &grant, err);
    return rc < 0 ? rc : 0;
}

static int record_lock(struct recorder *recorder, struct lb_error *err)
{
    int rc = lb_strategy_has(&recorder->asked, LB_S_ENQUEUE) ? 0 : warm_up(recorder, err);
    if (rc == 0)
        rc = both_lock(recorder, LB_S_ENQUEUE, false, err);
    if (rc == 0)
        rc = both_lock(recorder, LB_S_ACQUIRE, true, err);
    if (rc == 0)
        rc = both_lock(recorder, LB_S_RENEW, false, err);
    if (rc == 0)
        rc = refused_lock(recorder, err);
    return rc == 0 ? both_lock(recorder, LB_S_RELEASE, true, err) : rc;
}

static int put(struct recorder *recorder, enum lb_recorded_as as, struct lb_error *err)
{
    struct lb_actor *actor = &recorder->actors[as];
    struct lb_item item = {.id = recorder->next_item++};
    begin(recorder, "put", as);
    int rc = recorder->plan->strategy->flow->put(actor, item.id, 1, LB_RECORDED_PAYLOAD, err);
    end(recorder, rc, NULL, &item);
    return rc > LB_OK ? fail_refused(recorder, "put", rc, actor, err) : rc;
}

static int claim(struct recorder *recorder, enum lb_recorded_as as, struct lb_error *err)
{
    struct lb_actor *actor = &recorder->actors[as];
    struct lb_item *item = &recorder->items[as];
    uint32_t n = 0;
    int64_t marked = 0;
    begin(recorder, "claim", as);
    int rc = recorder->plan->strategy->flow->claim(actor, 1, item, 1, &n, &marked, err);
    end(recorder, rc, NULL, rc == LB_OK && n > 0 ? item : NULL);
    if (as == LB_RECORDED_REFUSED)
        return rc < 0 ? rc : 0;
    return rc > LB_OK ? fail_refused(recorder, "claim", rc, actor, err) : rc;
}

/* One after the other: a library that reads several items and draws one of them would show another
 * one than it takes. */
static int put_and_claim(struct recorder *recorder, struct lb_error *err)
{
    int rc = 0;
    if (atomic_load(recorder->plan->interrupt) != 0)
        return lb_fail(err, LB_E_INTERRUPTED, "interrupted");
    for (int as = LB_RECORDED_FIRST; as <= LB_RECORDED_SECOND && rc == 0; as++) {
        rc = put(recorder, (enum lb_recorded_as)as, err);
        if (rc == 0)
            rc = claim(recorder, (enum lb_recorded_as)as, err);
    }
    return rc;
}

/* If it has the operation: of both items, or of the class. */
static int both(struct recorder *recorder, enum lb_section_name section, struct lb_error *err)
{
    const struct lb_flow *flow = recorder->plan->strategy->flow;
    bool is_class =
        section == LB_S_CLEAR_ALL_ERRORS || section == LB_S_RESET_ALL || section == LB_S_RECOVER;
    int rc = 0;
    if (!lb_strategy_has(&recorder->asked, section))
        return 0;
    for (int as = LB_RECORDED_FIRST; as <= LB_RECORDED_SECOND && rc == 0; as++) {
        struct lb_actor *actor = &recorder->actors[as];
        struct lb_item *item = &recorder->items[as];
        begin(recorder, lb_section_text(section), (enum lb_recorded_as)as);
        rc = is_class ? flow->class(actor, section, err) : flow->item(actor, section, item, err);
        end(recorder, rc, NULL, is_class ? NULL : item);
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

static int record_queue(struct recorder *recorder, struct lb_error *err)
{
    static const enum lb_section_name order[] = {
        LB_S_RENEW,       LB_S_COMPLETE,         LB_S_FREE,      LB_S_ERROR,
        LB_S_CLEAR_ERROR, LB_S_CLEAR_ALL_ERRORS, LB_S_RESET_ALL, LB_S_RECOVER};
    int rc = put_and_claim(recorder, err);
    if (rc == 0)
        rc = claim(recorder, LB_RECORDED_REFUSED, err);
    for (size_t i = 0; i < sizeof order / sizeof order[0] && rc == 0; i++) {
        bool takes_more = order[i] == LB_S_FREE || order[i] == LB_S_ERROR;
        if (takes_more && lb_strategy_has(&recorder->asked, order[i]))
            rc = put_and_claim(recorder, err);
        if (rc == 0)
            rc = both(recorder, order[i], err);
    }
    return rc;
}

/* --- life --- */

static int open_all(struct recorder *recorder, struct lb_error *err)
{
    static const char *const names[ACTORS] = {"recorded-one", "recorded-two", "recorded-three"};
    const struct lb_flow *flow = recorder->plan->strategy->flow;
    int rc = 0;
    for (; recorder->n_open < ACTORS && rc == 0; recorder->n_open++) {
        struct lb_actor *actor = &recorder->actors[recorder->n_open];
        *actor = (struct lb_actor){
            .plan = recorder->n_open == LB_RECORDED_REFUSED ? &recorder->brief : &recorder->asked,
            .session = &recorder->control,
            .number = (uint32_t)recorder->n_open};
        snprintf(actor->name, sizeof actor->name, "%s", names[recorder->n_open]);
        begin(recorder, "open", (enum lb_recorded_as)recorder->n_open);
        rc = flow->open(actor, err);
        end(recorder, rc, NULL, NULL);
        if (rc > LB_OK)
            rc = fail_refused(recorder, "open", rc, actor, err);
        if (rc != 0) {
            flow->close(actor);
            break;
        }
    }
    return rc;
}

static int open_database(struct recorder *recorder, struct lb_error *err)
{
    const struct lb_recording_plan *plan = recorder->plan;
    const struct lb_db *db = plan->target->db;
    struct lb_conn_options options = {.role = "control"};
    if (!db->is_relayed || strstr(plan->strategy->engines, db->name) == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s cannot be recorded on %s: %s",
                       plan->strategy->name, db->product,
                       db->is_relayed ? "it does not work with it"
                                      : "there is no gate for its protocol");
    if (plan->strategy->is_pushed)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s cannot be recorded: it pushes, and so sends its statements whenever it "
                       "likes",
                       plan->strategy->name);
    int rc = db->space_open(plan->target, plan->strategy->name, &recorder->space, err);
    if (rc == 0)
        rc = lb_session_open(&recorder->control, db, recorder->space, &options, err);
    recorder->has_control = rc == 0;
    return rc;
}

static void make_plans(struct recorder *recorder, const struct lb_stepper *stepper)
{
    static const uint32_t capacity[RESOURCES] = {1, 1};
    const struct lb_recording_plan *plan = recorder->plan;
    recorder->asked =
        (struct lb_strategy_plan){.strategy = plan->strategy,
                                  .space_no = plan->target->db->space_number(recorder->space),
                                  .n_resources = RESOURCES,
                                  .capacity = capacity,
                                  .ttl_ms = LB_RECORDED_TTL_MS,
                                  .limit_ms = LB_RECORDED_TTL_MS,
                                  .settings = plan->settings,
                                  .n_settings = plan->n_settings,
                                  .is_gated = true,
                                  .is_setup_gated = true,
                                  .stepper = stepper};
}

/* A worker that may wait in vain gets ten seconds. */
static void make_brief(struct recorder *recorder)
{
    size_t n = 0;
    for (size_t i = 0; i < recorder->plan->n_settings; i++)
        if (n + 1 < sizeof recorder->settings / sizeof recorder->settings[0])
            recorder->settings[n++] = recorder->plan->settings[i];
    recorder->settings[n++] = (struct lb_setting){"answer_ms", "10000"};
    recorder->brief = recorder->asked;
    recorder->brief.settings = recorder->settings;
    recorder->brief.n_settings = n;
}

/* What the server makes of the parameters, while the program's tables are there. */
static void ask_types(struct recorder *recorder)
{
    const struct lb_db *db = recorder->plan->target->db;
    struct lb_recording *recording = recorder->recording;
    char types[2000];
    for (size_t i = 0; i < recording->n && db->door_types != NULL; i++)
        for (size_t s = 0; s < recording->operations[i].n; s++) {
            struct lb_recorded_statement *statement = &recording->operations[i].statements[s];
            if (statement->params[0] == '\0' || statement->n_statements > 1 || statement->is_cut)
                continue;
            db->door_types(recorder->space, statement->sql, types, sizeof types);
            statement->types = lb_strdup(types);
        }
}

static int record(struct recorder *recorder, const struct lb_stepper *stepper, struct lb_error *err)
{
    const struct lb_strategy *strategy = recorder->plan->strategy;
    int rc = open_database(recorder, err);
    if (rc != 0)
        return rc;
    make_plans(recorder, stepper);
    begin(recorder, "setup", LB_RECORDED_FIRST);
    rc = strategy->flow->setup(&recorder->asked, &recorder->control, err);
    end(recorder, rc, NULL, NULL);
    recorder->is_set_up = rc == 0;
    make_brief(recorder);
    if (rc == 0)
        rc = open_all(recorder, err);
    if (rc == 0)
        rc = strategy->shape == LB_LOCK ? record_lock(recorder, err) : record_queue(recorder, err);
    if (rc == 0)
        ask_types(recorder);
    return rc;
}

/* Tears down, also after an error, which is then the one reported. */
static int close_all(struct recorder *recorder, int rc, struct lb_error *err)
{
    const struct lb_strategy *strategy = recorder->plan->strategy;
    struct lb_error why;
    for (size_t i = 0; i < ACTORS; i++)
        if (recorder->actors[i].state != NULL)
            strategy->flow->close(&recorder->actors[i]);
    if (recorder->is_set_up) {
        begin(recorder, "teardown", LB_RECORDED_FIRST);
        int end_rc = strategy->flow->teardown(&recorder->asked, &recorder->control, &why);
        end(recorder, end_rc, NULL, NULL);
        if (end_rc != 0 && rc == 0) {
            *err = why;
            rc = end_rc;
        }
    }
    if (recorder->has_control)
        lb_session_close(&recorder->control);
    if (recorder->space != NULL &&
        recorder->plan->target->db->space_close(recorder->space, false, &why) != 0 && rc == 0) {
        *err = why;
        rc = why.code;
    }
    return rc;
}

int lb_recording_make(const struct lb_recording_plan *plan, struct lb_recording **ret_recording,
                      struct lb_error *err)
{
    struct recorder *recorder = lb_calloc(1, sizeof *recorder);
    struct lb_recording *recording = lb_calloc(1, sizeof *recording);
    const struct lb_stepper stepper = {.asks = asks, .answered = answered, .arg = recorder};
    const struct lb_strategy_plan asked = {
        .strategy = plan->strategy, .settings = plan->settings, .n_settings = plan->n_settings};
    recording->strategy = plan->strategy;
    recording->engine = plan->target->db->name;
    recording->attempts = lb_strategy_attempts(&asked);
    recorder->plan = plan;
    recorder->recording = recording;
    recorder->next_item = FIRST_ITEM;
    int rc = close_all(recorder, record(recorder, &stepper, err), err);
    free(recorder);
    if (rc == 0)
        *ret_recording = recording;
    else
        lb_recording_free(recording);
    return rc;
}

void lb_recording_free(struct lb_recording *recording)
{
    if (recording == NULL)
        return;
    for (size_t i = 0; i < recording->n; i++) {
        struct lb_recorded *operation = &recording->operations[i];
        for (size_t s = 0; s < operation->n; s++) {
            free(operation->statements[s].sql);
            free(operation->statements[s].params);
            free(operation->statements[s].types);
            free(operation->statements[s].rows);
        }
        free(operation->statements);
    }
    free(recording);
}
