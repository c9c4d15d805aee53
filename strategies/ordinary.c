/* The ordinary flow: run the section of that name; a row means granted, or done.
 *
 * Every strategy whose protocol is nothing but statements uses this one, users' files included.
 * What it adds to the runner: it fills the harness's parameters, and turns an absent row into the
 * answer that the operation gives for it:
 *   acquire     busy      another worker holds it
 *   claim       empty     nothing eligible; busy when a candidate had been seen and was lost, or
 *                         when a column `granted` said no
 *   the others  refused   not ours, or not in the right state
 * A hold in an open transaction (tx=hold) whose transaction is gone is refused without a statement.
 */
#include "ordinary.h"
#include "append.h"
#include "clock.h"

#include <stdio.h>
#include <string.h>

static void set_text(struct lb_bag *bag, enum lb_slot slot, const char *text)
{
    bag->value[slot] = lb_text(text, strlen(text)); /* borrowed: outlives the section */
}

/* "r12": by hand, as this is on the hot path. */
static void set_resource(struct lb_bag *bag, uint32_t resource)
{
    char digits[12];
    size_t at = sizeof digits;
    uint32_t rest = resource;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    digits[--at] = 'r';
    struct lb_value name = lb_text(digits + at, sizeof digits - at);
    lb_bag_set(bag, LB_SLOT_RESOURCE, &name);
    bag->value[LB_SLOT_RESOURCE_NO] = lb_int(resource);
}

static int64_t now_ms(const struct lb_strategy_plan *plan)
{
    return (plan->still_unix_ms != 0 ? plan->still_unix_ms : lb_unix_ms()) + plan->clock_ahead_ms;
}

/* Fills the parameters that are the same for all sections. An option of the file named ttl_ms has
 * priority, and so has one named period_ms if the scenario has no period. If :ttl_ms is the age
 * limit of recover instead of a lease, it has that value. */
static void fill_plan(struct lb_bag *bag, const struct lb_strategy_plan *plan)
{
    lb_bag_init(bag, plan->program);
    bag->value[LB_SLOT_SPACE_NO] = lb_int(plan->space_no);
    bag->value[LB_SLOT_NOW] = lb_int(now_ms(plan));
    if (bag->value[LB_SLOT_TTL_MS].type == LB_NULL)
        bag->value[LB_SLOT_TTL_MS] =
            lb_int(plan->strategy->is_lease ? plan->ttl_ms : plan->limit_ms);
    if (bag->value[LB_SLOT_PERIOD_MS].type == LB_NULL || plan->period_ms > 0)
        bag->value[LB_SLOT_PERIOD_MS] = lb_int(plan->period_ms);
}

/* The worker's own clock, and its name. */
static void fill_actor(struct lb_bag *bag, const struct lb_actor *actor)
{
    bag->value[LB_SLOT_NOW] = lb_int(now_ms(actor->plan) + actor->clock_skew_ms);
    set_text(bag, LB_SLOT_WORKER, actor->name);
    set_text(bag, LB_SLOT_PROCESS, actor->process[0] != '\0' ? actor->process : actor->name);
    set_text(bag, LB_SLOT_HOST, actor->host);
}

static void fill_request(struct lb_bag *bag, const struct lb_actor *actor,
                         const struct lb_request *request)
{
    fill_plan(bag, actor->plan);
    fill_actor(bag, actor);
    set_resource(bag, request->resource);
    set_text(bag, LB_SLOT_MODE, request->shared ? "shared" : "exclusive");
    bag->value[LB_SLOT_CAPACITY] = lb_int(request->capacity);
}

/* --- set-up --- */

static int check_caps(const struct lb_strategy_plan *plan, const struct lb_session *session,
                      struct lb_error *err)
{
    uint64_t missing =
        (plan->program->needs | plan->strategy->needs) & ~session->db->caps(session->conn);
    char names[300] = "";
    for (int i = 0; i < LB_CAPS; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if ((missing & bit) != 0)
            lb_append(names, sizeof names, "%s%s", names[0] != '\0' ? ", " : "", lb_cap_name(bit));
    }
    if (missing == 0)
        return 0;
    return lb_fail(err, LB_E_UNSUPPORTED, "%s needs what this server does not have: %s",
                   plan->strategy->name, names);
}

/* 0; an error; or a refusal of the server, with err filled as well. */
static int run_control(const struct lb_strategy_plan *plan, struct lb_runner *runner,
                       enum lb_section_name name, struct lb_bag *bag, struct lb_error *err)
{
    struct lb_section_result result;
    int r = lb_runner_section(runner, name, bag, false, NULL, NULL, &result, err);
    struct lb_conn *conn = runner->session->conn;
    if (r > LB_OK)
        lb_fail(err, LB_E_ENV, "%s:%d: section %s: %s: %s", plan->program->origin,
                plan->program->sections[name].line, lb_section_text(name), lb_answer_name(r),
                conn != NULL ? lb_conn_head(conn)->message : "");
    return r;
}

/* A schema that the file makes itself is the only thing that two runs on a server share. */
static int fail_setup(const struct lb_program *program, int r, struct lb_error *err)
{
    struct lb_error why = *err;
    if (!program->makes_schema || strstr(why.message, "exists") == NULL)
        return r;
    return lb_fail(err, r,
                   "%s; a schema that setup makes is the server's, so that one run at a time can "
                   "have it: wait for the other to end, or drop it if no run is left",
                   why.message);
}

/* A runner, and parameters, for sections on the tables as a whole. */
static int begin_control(const struct lb_strategy_plan *plan, struct lb_session *session,
                         const char *worker, struct lb_runner *runner, struct lb_bag *bag,
                         struct lb_error *err)
{
    int r = lb_runner_init(runner, plan->program, session, err);
    if (r != 0)
        return r;
    fill_plan(bag, plan);
    set_text(bag, LB_SLOT_WORKER, worker);
    set_text(bag, LB_SLOT_CLASS, "default");
    if (plan->capacity != NULL)
        bag->value[LB_SLOT_CAPACITY] = lb_int(plan->capacity[0]);
    return 0;
}

int lb_ordinary_setup(struct lb_strategy_plan *plan, struct lb_session *session,
                      struct lb_error *err)
{
    struct lb_runner runner = {0};
    struct lb_bag bag;
    int r = check_caps(plan, session, err);
    if (r == 0)
        r = begin_control(plan, session, "setup", &runner, &bag, err);
    if (r != 0)
        return r;
    r = run_control(plan, &runner, LB_S_SETUP, &bag, err);
    if (r != 0)
        r = fail_setup(plan->program, r, err);
    bool has_resources = plan->program->sections[LB_S_RESOURCE].present;
    for (uint32_t i = 0; r == 0 && has_resources && i < plan->n_resources; i++) {
        set_resource(&bag, i);
        bag.value[LB_SLOT_CAPACITY] = lb_int(plan->capacity != NULL ? plan->capacity[i] : 1);
        r = run_control(plan, &runner, LB_S_RESOURCE, &bag, err);
    }
    lb_runner_release(&runner);
    return r > 0 ? err->code : r;
}

/* A section on the tables as a whole. Without it there is nothing to do. As run_control. */
static int change_tables(const struct lb_strategy_plan *plan, struct lb_session *session,
                         enum lb_section_name name, struct lb_error *err)
{
    struct lb_runner runner = {0};
    struct lb_bag bag;
    if (!plan->program->sections[name].present)
        return 0;
    int r = begin_control(plan, session, lb_section_text(name), &runner, &bag, err);
    if (r != 0)
        return r;
    r = run_control(plan, &runner, name, &bag, err);
    lb_runner_release(&runner);
    return r;
}

int lb_ordinary_migrate(const struct lb_strategy_plan *plan, struct lb_session *session,
                        struct lb_error *err)
{
    return change_tables(plan, session, LB_S_MIGRATE, err);
}

/* The space is dropped with its contents in any case. */
int lb_ordinary_teardown(struct lb_strategy_plan *plan, struct lb_session *session,
                         struct lb_error *err)
{
    int r = change_tables(plan, session, LB_S_TEARDOWN, err);
    return r > 0 ? err->code : r;
}

/* Also after a reconnect: prepared statements follow the session's generation by themselves. */
int lb_ordinary_open(struct lb_actor *actor, struct lb_error *err)
{
    actor->n_held = 0;
    if (actor->runner.statements != NULL && actor->runner.program == actor->plan->program &&
        actor->runner.session == actor->session)
        return LB_OK;
    lb_runner_release(&actor->runner);
    return lb_runner_init(&actor->runner, actor->plan->program, actor->session, err);
}

void lb_ordinary_close(struct lb_actor *actor)
{
    struct lb_error ignored;
    if (actor->session != NULL)
        lb_session_rollback(actor->session, &ignored); /* a transaction that a hold left open */
    lb_runner_release(&actor->runner);
}

/* --- locks --- */

int lb_ordinary_refused(int answer, const struct lb_section_result *result)
{
    return answer == LB_BUSY && !result->by_engine ? LB_REFUSED : answer;
}

static bool hold_is_gone(const struct lb_actor *actor, enum lb_section_name begun_by)
{
    return actor->plan->program->sections[begun_by].tx == LB_TX_HOLD && !actor->session->in_tx;
}

/* What a section that granted, or prolonged, has returned. */
static void take_grant(struct lb_grant *grant, enum lb_section_name section, bool is_over)
{
    const struct lb_value *value = grant->bag.value;
    if (section != LB_S_ENQUEUE) /* a protocol may give a new token with each renewal */
        grant->has_token = lb_value_int(&value[LB_SLOT_TOKEN], &grant->token);
    if (section != LB_S_RENEW)
        grant->has_ticket = lb_value_int(&value[LB_SLOT_TICKET], &grant->ticket);
    if (section == LB_S_ACQUIRE)
        grant->is_over = is_over;
}

static int lock(struct lb_actor *actor, enum lb_section_name section,
                const struct lb_request *request, struct lb_grant *grant, struct lb_error *err)
{
    struct lb_section_result result;
    const struct lb_program *program = actor->plan->program;
    bool has_line = program->sections[LB_S_ENQUEUE].present, begins = section == LB_S_ACQUIRE;
    bool ends = section == LB_S_RELEASE || section == LB_S_CANCEL;
    if (section == LB_S_ENQUEUE)
        grant->has_ticket = grant->has_token = false;
    if (section == LB_S_RELEASE)
        grant->effective = false;
    if ((section == LB_S_ENQUEUE || section == LB_S_CANCEL) && !program->sections[section].present)
        return LB_OK;
    if (section == LB_S_RELEASE && actor->session->conn == NULL)
        return LB_LOST;
    if ((section == LB_S_RENEW || section == LB_S_RELEASE) && hold_is_gone(actor, LB_S_ACQUIRE))
        return LB_REFUSED;
    /* A place in line belongs to the bag: only its clock is read anew. */
    if (section == LB_S_ENQUEUE || (begins && !has_line))
        fill_request(&grant->bag, actor, request);
    else
        fill_actor(&grant->bag, actor);
    int r = lb_runner_section(&actor->runner, section, &grant->bag, ends, NULL, NULL, &result, err);
    if (r == LB_OK && !ends)
        take_grant(grant, section, result.is_over);
    if (section == LB_S_RELEASE)
        grant->effective = r == LB_OK;
    return r < 0 || begins || section == LB_S_ENQUEUE ? r : lb_ordinary_refused(r, &result);
}

/* --- queues --- */

void lb_ordinary_fill_own_class(struct lb_bag *bag, const struct lb_actor *actor)
{
    fill_plan(bag, actor->plan);
    fill_actor(bag, actor);
    set_text(bag, LB_SLOT_CLASS, actor->task_class != NULL ? actor->task_class : "default");
}

void lb_ordinary_fill_class(struct lb_bag *bag, const struct lb_strategy_plan *plan)
{
    fill_plan(bag, plan);
    set_text(bag, LB_SLOT_WORKER, "operator");
    set_text(bag, LB_SLOT_PROCESS, "operator");
    set_text(bag, LB_SLOT_HOST, "");
    set_text(bag, LB_SLOT_CLASS, "default");
}

static void set_group(struct lb_bag *bag, const struct lb_strategy_plan *plan, int64_t id)
{
    char name[24];
    if (plan->groups == 0)
        return;
    int n = snprintf(name, sizeof name, "group%u", (unsigned)((uint64_t)id % plan->groups));
    struct lb_value value = lb_text(name, (size_t)n);
    lb_bag_set(bag, LB_SLOT_GROUP, &value);
}

static void set_attributes(struct lb_bag *bag, const struct lb_strategy_plan *plan, int64_t id)
{
    const char *const *names = lb_attribute_letters;
    for (int a = 0; a < LB_ATTRIBUTES && plan->attributes != NULL; a++) {
        char text[24];
        if ((plan->program->attributes >> a & 1) == 0)
            continue;
        uint32_t number = plan->attributes->value_of(plan->attributes, (enum lb_attribute)a, id);
        struct lb_value value = lb_int((int32_t)number);
        if (names[a] != NULL)
            value = lb_text(text, (size_t)snprintf(text, sizeof text, "%s%u", names[a], number));
        lb_bag_set(bag, LB_SLOT_KEY + (size_t)a, &value);
    }
}

void lb_ordinary_fill_resource(struct lb_bag *bag, const struct lb_strategy_plan *plan,
                               uint32_t resource)
{
    lb_ordinary_fill_class(bag, plan);
    set_resource(bag, resource);
    bag->value[LB_SLOT_CAPACITY] = lb_int(plan->capacity != NULL ? plan->capacity[resource] : 1);
}

int lb_ordinary_put(struct lb_actor *actor, int64_t first, uint32_t n, const char *payload,
                    struct lb_error *err)
{
    struct lb_section_result result;
    struct lb_bag bag;
    uint32_t each = actor->plan->program->puts_one ? 1 : n;
    int r = LB_OK;
    for (uint32_t done = 0; done < n && r == LB_OK; done += each) {
        lb_ordinary_fill_own_class(&bag, actor);
        set_text(&bag, LB_SLOT_PAYLOAD, payload);
        set_group(&bag, actor->plan, first + done);
        set_attributes(&bag, actor->plan, first + done);
        bag.value[LB_SLOT_ID] = lb_int(first + done);
        bag.value[LB_SLOT_N] = lb_int(each);
        r = lb_runner_section(&actor->runner, LB_S_PUT, &bag, false, NULL, NULL, &result, err);
        if (r == LB_BUSY && !result.by_engine && actor->plan->program->unique != 0)
            r = LB_DUPLICATE;
    }
    return r;
}

void lb_ordinary_begin_claim(struct lb_claiming *claiming, const struct lb_actor *actor, uint32_t n,
                             struct lb_item *items, uint32_t max)
{
    claiming->items = items;
    claiming->max = max;
    claiming->n = 0;
    claiming->lacks_id = false;
    lb_ordinary_fill_own_class(&claiming->bag, actor);
    claiming->bag.value[LB_SLOT_N] = lb_int(n);
}

void lb_ordinary_catch_item(void *arg, const struct lb_bag *bag)
{
    struct lb_claiming *claiming = arg;
    int64_t id;
    if (bag == NULL) {
        claiming->n = 0;
        return;
    }
    if (!lb_value_int(&bag->value[LB_SLOT_ID], &id)) {
        claiming->lacks_id = true;
        return;
    }
    if (claiming->n < claiming->max) {
        struct lb_item *item = &claiming->items[claiming->n];
        item->id = id;
        item->has_token = lb_value_int(&bag->value[LB_SLOT_TOKEN], &item->token);
        lb_bag_copy(&item->bag, bag);
    }
    claiming->n++;
}

int lb_ordinary_end_claim(struct lb_actor *actor, const struct lb_claiming *claiming, int answer,
                          const struct lb_section_result *result, uint32_t *ret_n,
                          int64_t *ret_marked, struct lb_error *err)
{
    if (answer < 0)
        return answer;
    if (claiming->lacks_id)
        return lb_fail(err, LB_E_FILE, "%s:%d: claim must return a column id with a number",
                       actor->plan->program->origin,
                       actor->plan->program->sections[LB_S_CLAIM].line);
    if (answer == LB_BUSY && !result->by_engine && !result->contended)
        return LB_EMPTY;
    if (answer != LB_OK)
        return answer;
    uint32_t n = claiming->n;
    actor->n_held = n < claiming->max ? n : claiming->max;
    *ret_n = n;
    *ret_marked = result->n_changed > (int64_t)n ? result->n_changed : (int64_t)n;
    return LB_OK;
}

int lb_ordinary_claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                      uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err)
{
    struct lb_section_result result;
    struct lb_claiming claiming;
    lb_ordinary_begin_claim(&claiming, actor, n, items, max);
    int r = lb_runner_section(&actor->runner, LB_S_CLAIM, &claiming.bag, false,
                              lb_ordinary_catch_item, &claiming, &result, err);
    return lb_ordinary_end_claim(actor, &claiming, r, &result, ret_n, ret_marked, err);
}

/* A section that takes batches, with a batch of one. */
static int batch_of_one(struct lb_actor *actor, struct lb_item *item, enum lb_section_name name,
                        struct lb_error *err)
{
    struct lb_batch batch;
    lb_batch_init(&batch, 1, err);
    batch.items[0] = item;
    batch.n = 1;
    int r = lb_ordinary_batch(actor, name, &batch, err);
    if (r == LB_OK)
        r = batch.answers[0];
    lb_batch_release(&batch);
    return r;
}

void lb_ordinary_fill_item(const struct lb_actor *actor, struct lb_item *item)
{
    fill_actor(&item->bag, actor);
    item->bag.value[LB_SLOT_ID] = lb_int(item->id);
}

/* By an operator, in no transaction of a claim. */
static int clear_error(struct lb_actor *actor, struct lb_item *item, struct lb_error *err)
{
    struct lb_section_result result;
    lb_ordinary_fill_own_class(&item->bag, actor);
    item->bag.value[LB_SLOT_ID] = lb_int(item->id);
    int r = lb_runner_section(&actor->runner, LB_S_CLEAR_ERROR, &item->bag, false, NULL, NULL,
                              &result, err);
    return r < 0 ? r : lb_ordinary_refused(r, &result);
}

/* Of a claim that is held open in one transaction, the last item that is given back or finished
 * commits it. */
int lb_ordinary_item(struct lb_actor *actor, enum lb_section_name section, struct lb_item *item,
                     struct lb_error *err)
{
    struct lb_section_result result;
    const struct lb_program *program = actor->plan->program;
    bool is_held = program->sections[LB_S_CLAIM].tx == LB_TX_HOLD, ends = section != LB_S_RENEW;
    if (section == LB_S_CLEAR_ERROR)
        return clear_error(actor, item, err);
    if (section == LB_S_RETRY)
        item->bag.value[LB_SLOT_DELAY_MS] = lb_int(actor->plan->delay_ms);
    if (program->sections[section].takes_batch)
        return batch_of_one(actor, item, section, err);
    if (program->sections[section].n_statements == 0 && !is_held)
        return LB_OK; /* the claim has deleted it: only the worker knows of it */
    if (actor->session->conn == NULL)
        return LB_LOST;
    if (is_held && ends && !actor->session->in_tx)
        return LB_REFUSED;
    if (ends && actor->n_held > 0)
        actor->n_held--;
    lb_ordinary_fill_item(actor, item);
    int r = lb_runner_section(&actor->runner, section, &item->bag, ends && actor->n_held == 0, NULL,
                              NULL, &result, err);
    return r < 0 ? r : lb_ordinary_refused(r, &result);
}

int lb_ordinary_class(struct lb_actor *actor, enum lb_section_name section, struct lb_error *err)
{
    struct lb_section_result result;
    struct lb_bag bag;
    lb_ordinary_fill_own_class(&bag, actor);
    int r = lb_runner_section(&actor->runner, section, &bag, false, NULL, NULL, &result, err);
    bool is_for_all = section == LB_S_RECOVER || section == LB_S_SWEEP ||
                      section == LB_S_CLEAR_ALL_ERRORS || section == LB_S_RESET_ALL;
    if (is_for_all && r == LB_BUSY && !result.by_engine)
        return LB_EMPTY; /* there is nothing to do */
    /* No row: the process is not registered. */
    return section == LB_S_HEARTBEAT && r == LB_BUSY ? LB_REFUSED : r;
}

int lb_open_nothing(struct lb_actor *actor, struct lb_error *err)
{
    (void)actor;
    (void)err;
    return LB_OK;
}

void lb_close_nothing(struct lb_actor *actor)
{
    (void)actor;
}

const struct lb_flow lb_ordinary_flow = {
    .setup = lb_ordinary_setup,
    .open = lb_ordinary_open,
    .lock = lock,
    .put = lb_ordinary_put,
    .claim = lb_ordinary_claim,
    .item = lb_ordinary_item,
    .class = lb_ordinary_class,
    .batch = lb_ordinary_batch,
    .pipeline = lb_ordinary_pipeline,
    .close = lb_ordinary_close,
    .teardown = lb_ordinary_teardown,
};
