/* The verdict on one schedule: its history goes to the same judge as a run's. */
#include "testbed.h"

#include "append.h"
#include "clock.h"
#include "facts.h"
#include "memory.h"
#include "random.h"
#include "strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- draining --- */

static bool has_item(const struct lb_event *events, size_t from, size_t to, uint64_t id)
{
    for (size_t k = from; k < to; k++)
        if (events[k].op == LB_OP_ITEM && events[k].value == id)
            return true;
    return false;
}

/* True if each of n_items items was claimed: by a task, or by the control session from this event
 * on. */
static bool are_claimed(const struct lb_testbed *testbed, uint64_t n_items, size_t first)
{
    for (uint64_t id = 1; id <= n_items; id++) {
        bool is = has_item(testbed->control_events, first, testbed->control_log.n_events, id);
        for (uint32_t i = 0; i < testbed->n_tasks && !is; i++)
            is = has_item(testbed->tasks[i].events, 0, testbed->tasks[i].log.n_events, id);
        if (!is)
            return false;
    }
    return true;
}

/* Dates the control session's events after all events of the tasks. */
static void date_drain(struct lb_testbed *testbed, size_t first)
{
    for (size_t i = first; i < testbed->control_log.n_events; i++) {
        struct lb_event *event = &testbed->control_events[i];
        if (testbed->counts_steps)
            event->time_ns =
                testbed->start_ns + (testbed->n_moves + 1) * LB_STEP_NS + testbed->n_seen++;
        event->time_ns += (uint64_t)testbed->clock_ms * 1000000u;
    }
}

/* The number of claims that took an item and were refused by their next statement: such items come
 * back like a dead worker's, if at all. */
static uint64_t n_parted(const struct lb_testbed *testbed)
{
    const struct lb_strategy_plan *plan = &testbed->strategy_plan;
    uint64_t n = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        n += testbed->tasks[i].actor.runner.n_parted;
    return testbed->plan.strategy->is_lease || lb_strategy_has(plan, LB_S_RECOVER) ? n : 0;
}

/* How often a worker may have lost items in its hands. */
static uint64_t n_lost(const struct lb_testbed *testbed)
{
    return testbed->n_deaths + testbed->n_cuts + n_parted(testbed);
}

/* True if a worker may still have an item without ever ending it, because it is dead or got no
 * answer. Only the end of a lease frees it. */
static bool is_kept(const struct lb_testbed *testbed)
{
    if (lb_testbed_returns(testbed))
        return false;
    bool outlived =
        testbed->plan.strategy->is_lease && testbed->outlived && testbed->unmoved[0] == '\0';
    return n_lost(testbed) > 0 && !outlived;
}

/* Does the control session put one item more, and give it back? Workers give nothing back: once is
 * enough to know whether it comes again, and then each schedule shows the same. */
static bool gives_back(const struct lb_testbed *testbed)
{
    return lb_strategy_has(&testbed->strategy_plan, LB_S_FREE) && testbed->n_deaths == 0 &&
           testbed->n_cuts == 0 && (!testbed->gave_back || testbed->back_is_lost);
}

static bool closes(int op)
{
    return op == LB_OP_COMPLETE || op == LB_OP_ERROR || op == LB_OP_FREE;
}

static bool has_processes(const struct lb_testbed *testbed)
{
    return lb_strategy_has(&testbed->strategy_plan, LB_S_HEARTBEAT) ||
           lb_strategy_has(&testbed->strategy_plan, LB_S_REGISTER);
}

/* How many ends the protocol has refused. */
static unsigned n_ends_refused(const struct lb_testbed *testbed)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        for (size_t k = 0; k < task->log.n_events; k++)
            n += task->events[k].type == LB_EV_FAIL && task->events[k].answer == LB_REFUSED &&
                 closes(task->events[k].op);
    }
    return n;
}

/* True if a worker lost its item to time: time has passed, and its end was refused. Then the item
 * waits, or will, or another worker has claimed it. */
static bool lost_to_time(const struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const struct lb_program *program = testbed->program;
    bool by_time =
        plan->strategy->is_lease ||
        (program->recovers_by_time && lb_strategy_has(&testbed->strategy_plan, LB_S_RECOVER));
    return by_time && testbed->n_ticks > 0 && plan->strategy->shape == LB_QUEUE &&
           n_lost(testbed) == 0 && testbed->n_given_up == 0 && program->attempts == 0 &&
           plan->skew_ms == 0 && plan->period_ms == 0 && testbed->unmoved[0] == '\0' &&
           !has_processes(testbed) && !lb_testbed_has_programs(testbed) &&
           n_ends_refused(testbed) > 0;
}

bool lb_testbed_returns(const struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const struct lb_strategy_plan *sections = &testbed->strategy_plan;
    const struct lb_program *program = testbed->program;
    /* A process that is alive keeps what it has, also what it does not know of. At the end all have
     * been silent for longer than the limit. */
    bool end_of_themselves =
        lb_strategy_has(sections, LB_S_HEARTBEAT) && program->recovers_by_time && plan->cuts == 0;
    return plan->deaths + plan->cuts > 0 && plan->strategy->shape == LB_QUEUE &&
           !lb_testbed_has_programs(testbed) &&
           (plan->strategy->claims & LB_G_BIT(LB_G_RECOVERY)) != 0 && program->attempts == 0 &&
           testbed->unmoved[0] == '\0' &&
           (plan->strategy->is_lease || lb_strategy_has(sections, LB_S_RECOVER)) &&
           (!has_processes(testbed) || end_of_themselves);
}

/* The control session's statements ask for the clock that was moved, too. An item that a worker
 * gave back a moment ago is due by that clock only if it runs on. */
static int keep_pace(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    if (step->kind != LB_STEP_EXECUTE || testbed->clock_ms == 0)
        return 0;
    return lb_testbed_state_time(testbed, &testbed->control, err);
}

static const struct lb_gate drain_gate = {.before = keep_pace, .rewrite = lb_testbed_native};

/* All workers have ended. Time ends the leases of the dead, and an operator frees what they have.
 * A freed item may be due some time later. */
static int give_back_all(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_strategy *strategy = testbed->plan.strategy;
    bool by_time = testbed->program->recovers_by_time;
    int r = lb_testbed_tick(testbed, err);
    lb_testbed_set_control(testbed);
    if (r != 0 || !lb_strategy_has(&testbed->strategy_plan, LB_S_RECOVER) ||
        (strategy->is_lease && !by_time))
        return r;
    size_t first = testbed->control_log.n_events;
    /* It may free one item at a time. */
    for (unsigned n = n_ends_refused(testbed); n > 1 && r >= 0; n--)
        r = lb_operate_class(&testbed->control_op, LB_OP_RECOVER, err);
    if (r >= 0)
        r = lb_operate_class(&testbed->control_op, LB_OP_RECOVER, err);
    date_drain(testbed, first);
    if (r < 0)
        return r;
    r = lb_testbed_tick(testbed, err);
    lb_testbed_set_control(testbed);
    return r;
}

/* Does the schedule prove that a refused end is wrong? A worker has two items, and nothing but its
 * own ends can take one of them away. */
static bool trusts_refusals(const struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    return plan->batch > 1 && plan->workers == 1 && plan->rescuers + plan->putters == 0 &&
           plan->ticks + plan->deaths + plan->cuts == 0 && plan->skew_ms == 0 &&
           plan->period_ms == 0 && testbed->n_given_up == 0;
}

/* Is it for certain that no worker and no transaction keeps an item from the control session? */
static bool is_alone(const struct lb_testbed *testbed)
{
    uint64_t n_parted = testbed->control_actor.runner.n_parted;
    int64_t n_in_hand = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        n_parted += task->actor.runner.n_parted;
        for (const struct lb_event *event = task->events; event < task->events + task->log.n_events;
             event++) {
            n_in_hand += event->op == LB_OP_ITEM;
            n_in_hand -= event->type == LB_EV_OK && closes(event->op);
        }
    }
    return n_in_hand == 0 && testbed->n_deaths + testbed->n_cuts + n_parted == 0 &&
           testbed->random_line == 0 && !lb_testbed_has_programs(testbed);
}

/* How many statements the engine has refused. */
static uint64_t n_refused(const struct lb_session *session)
{
    uint64_t n = 0;
    for (int answer = LB_OK + 1; answer < LB_ANSWERS; answer++)
        n += session->n_answers[answer];
    return n;
}

/* Claims and completes until there is no item: LB_EMPTY, or another answer, or an error. back: the
 * item that is given back once; 0: none. A claim that finds an item, and is refused it by its next
 * statement, may be right while another worker has it. The session that is alone finds the same one
 * again and again: it will never get any item. */
static int claim_all(struct lb_testbed *testbed, uint64_t n_items, int64_t back,
                     struct lb_error *err)
{
    static const uint32_t one = 1;
    enum { IN_VAIN = 5 };
    struct lb_operator *op = &testbed->control_op;
    struct lb_item *items = testbed->tasks[0].items;
    const bool alone = is_alone(testbed);
    unsigned n_vain = 0;
    int r = LB_OK;
    for (uint64_t i = 0; i <= 2 * n_items + 2 + IN_VAIN && r == LB_OK; i++) {
        uint64_t n_before = n_refused(&testbed->control);
        uint32_t n = 0;
        r = lb_testbed_outlive_strangers(testbed, err);
        if (r < 0)
            break;
        r = lb_operate_claim(op, one, items, LB_CLAIM_ROOM, &n, err);
        if (r == LB_BUSY && alone && n_refused(&testbed->control) == n_before) {
            r = ++n_vain < IN_VAIN ? LB_OK : LB_EMPTY;
            continue;
        }
        n_vain = 0;
        for (uint32_t k = 0; k < n && r == LB_OK; k++) {
            if (items[k].id == back) {
                back = 0;
                r = lb_operate_item(op, LB_OP_FREE, &items[k], err);
                if (r <= LB_OK)
                    continue;
            }
            r = lb_operate_item(op, LB_OP_COMPLETE, &items[k], err);
        }
    }
    return r;
}

/* Time passes, recover frees what is old, and that is claimed. */
static int wait_and_claim(struct lb_testbed *testbed, uint64_t n_items, size_t *ret_first,
                          struct lb_error *err)
{
    date_drain(testbed, *ret_first);
    int r = give_back_all(testbed, err);
    *ret_first = testbed->control_log.n_events;
    return r < 0 ? r : claim_all(testbed, n_items, 0, err);
}

/* Every item that was put has been claimed, or is now, by the control session, until the queue is
 * empty. */
static int drain(struct lb_testbed *testbed, bool *ret_drained, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    uint64_t n_items = plan->items + plan->putters * plan->rounds;
    size_t first = testbed->control_log.n_events;
    int64_t back = gives_back(testbed) ? (int64_t)n_items + 1 : 0;
    bool is_late = lost_to_time(testbed);
    bool come_back = plan->frees > 0 || plan->errors || is_late ||
                     trusts_refusals(testbed); /* claimed once, they may lie there again */
    *ret_drained = back == 0 && !come_back && are_claimed(testbed, n_items, first) &&
                   testbed->n_deaths + testbed->n_cuts == 0;
    if (*ret_drained || is_kept(testbed))
        return 0;
    lb_testbed_set_control(testbed);
    testbed->control.gate = testbed->clock != NULL ? &drain_gate : NULL;
    testbed->control.gate_arg = testbed;
    int r = plan->strategy->flow->open(&testbed->control_actor, err);
    if (r == LB_OK && lb_testbed_returns(testbed) && n_lost(testbed) > 0) {
        r = give_back_all(testbed, err);
        first = testbed->control_log.n_events;
    }
    if (r == LB_OK && lb_strategy_has(&testbed->strategy_plan, LB_S_REGISTER)) {
        r = plan->strategy->flow->class(&testbed->control_actor, LB_S_REGISTER, err);
        r = r < 0 ? r : LB_OK; /* a claim may ask for a process that is registered */
    }
    if (r == LB_OK && back > 0)
        r = lb_testbed_put(&testbed->control_op, back, err);
    if (r == LB_DUPLICATE && back > 0) { /* its key is that of an item that waits */
        back = 0;
        r = LB_OK;
    }
    testbed->gave_back = testbed->gave_back || back > 0;
    if (r == LB_OK)
        r = claim_all(testbed, n_items, back, err);
    /* Only now: an item that is claimable before its time comes back by no recovery. */
    if (r == LB_EMPTY && is_late)
        r = wait_and_claim(testbed, n_items, &first, err);
    testbed->control.gate = NULL;
    testbed->written = LB_TOUCHES_ALL;
    date_drain(testbed, first);
    /* There is no other worker: a duplicate of a row that one left behind is always refused. */
    bool is_refused =
        r == LB_DUPLICATE && !plan->strategy->is_lease && testbed->n_deaths + testbed->n_cuts == 0;
    *ret_drained = r == LB_EMPTY || is_refused;
    return r < 0 ? r : 0;
}

/* All workers have finished: reads the permits from the tables. A dead worker's transaction may
 * have locked them. */
static int ask_permits(struct lb_testbed *testbed, struct lb_error *err)
{
    struct lb_runner runner = {0};
    int64_t n_free = 0;
    if ((testbed->plan.strategy->claims & LB_G_BIT(LB_G_PERMITS)) == 0 || testbed->n_deaths > 0)
        return 0;
    int r = lb_runner_init(&runner, testbed->program, &testbed->control, err);
    if (r != 0)
        return r;
    testbed->control.gate = testbed->clock != NULL ? &drain_gate : NULL;
    testbed->control.gate_arg = testbed;
    lb_testbed_set_control(testbed);
    r = lb_permits_ask(&testbed->strategy_plan, &runner, 0, testbed->control_actor.clock_skew_ms,
                       &n_free, err);
    testbed->control.gate = NULL;
    lb_runner_release(&runner);
    uint64_t now_ns = testbed->counts_steps
                          ? testbed->start_ns + (testbed->n_moves + 2) * LB_STEP_NS
                          : lb_now_ns() + (uint64_t)testbed->clock_ms * 1000000u;
    if (r == LB_OK)
        lb_log_append(&testbed->control_log, &(struct lb_event){.time_ns = now_ns,
                                                                .value = (uint64_t)n_free,
                                                                .process = testbed->n_tasks,
                                                                .op = LB_OP_PERMITS,
                                                                .type = LB_EV_NOTE});
    return r < 0 ? r : 0;
}

static struct lb_model model_of(const struct lb_testbed *testbed, bool drained, uint64_t end_ns)
{
    const struct lb_strategy *strategy = testbed->plan.strategy;
    /* Each of several producers has its own numbers, so that a higher one may be put first. */
    const unsigned unordered = testbed->plan.putters > 1 ? LB_G_BIT(LB_G_FIFO) : 0;
    struct lb_model model = {
        .queue = strategy->shape == LB_QUEUE,
        .n_resources = testbed->strategy_plan.n_resources,
        .capacity = testbed->capacity,
        .lease = strategy->is_lease,
        .claims = strategy->claims & ~unordered,
        .release = LB_RELEASE_BELIEF,
        .drained = drained,
        .returned = drained && lb_testbed_returns(testbed) && n_lost(testbed) > 0,
        .refused_free = drained && (trusts_refusals(testbed) || lost_to_time(testbed)),
        .clocks_apart = testbed->plan.skews_all,
        .groups = testbed->strategy_plan.groups,
        .complete = true, /* a hold at its end continues */
        .end_ns = end_ns};
    lb_facts_take(testbed->program, &model);
    if (testbed->program->rate > 0)
        lb_facts_doubt_due(&model, "some items were not claimed, and may wait for the rate");
    return model;
}

/* All workers have ended, and an item that cannot be claimed may wait for a place of its key: that
 * is no schedule that shows the queue to be right. */
static void doubt_keys(struct lb_testbed *testbed, bool drained)
{
    const struct lb_finding *finding = &testbed->judgement.findings[LB_G_NO_LOSS];
    if (!drained || n_lost(testbed) > 0 || testbed->program->key_limit == 0 ||
        finding->verdict != LB_V_NOT_TESTED || finding->is_doubted)
        return;
    testbed->doubted[LB_G_NO_LOSS] = *finding;
    testbed->doubted[LB_G_NO_LOSS].is_doubted = true;
}

int lb_testbed_judge(struct lb_testbed *testbed, bool complete, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const struct lb_strategy *strategy = plan->strategy;
    bool drained = false;
    int r = 0;
    if (strategy->shape == LB_QUEUE && complete &&
        ((strategy->claims & LB_G_BIT(LB_G_NO_LOSS)) != 0 || lb_testbed_returns(testbed)))
        r = drain(testbed, &drained, err);
    if (r == 0 && strategy->shape == LB_LOCK && complete)
        r = ask_permits(testbed, err);
    if (r < 0)
        return r;
    struct lb_span spans[LB_MAX_WORKERS + 1];
    struct lb_log_view logs[LB_MAX_WORKERS + 1];
    struct lb_history_view view = {.n_logs = testbed->n_tasks + 1, .logs = logs, .meta = ""};
    for (uint32_t i = 0; i <= testbed->n_tasks; i++) {
        bool is_task = i < testbed->n_tasks;
        const struct lb_log *log = is_task ? &testbed->tasks[i].log : &testbed->control_log;
        spans[i] = (struct lb_span){is_task ? testbed->tasks[i].events : testbed->control_events,
                                    log->n_events};
        logs[i] = (struct lb_log_view){
            .number = i, .n_spans = 1, .spans = &spans[i], .n_events = log->n_events};
        view.n_events += log->n_events;
    }
    view.start_ns = testbed->start_ns;
    uint64_t end_ns =
        testbed->counts_steps
            ? testbed->start_ns + (testbed->n_moves + 1) * LB_STEP_NS + testbed->n_seen
            : lb_now_ns();
    end_ns += (uint64_t)testbed->clock_ms * 1000000u;
    struct lb_model model = model_of(testbed, drained, end_ns);
    r = lb_check(&view, &model, &testbed->judgement, err);
    if (r < 0)
        return r;
    lb_facts_name_versions(plan->file, &testbed->judgement);
    if (testbed->judgement.findings[LB_G_NO_LOSS].verdict == LB_V_VIOLATED ||
        testbed->judgement.findings[LB_G_NO_LOSS].is_doubted)
        testbed->back_is_lost = testbed->gave_back;
    int bits = 0;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        if (testbed->judgement.findings[g].verdict == LB_V_VIOLATED)
            bits |= 1 << g;
        if (testbed->judgement.findings[g].verdict != LB_V_NOT_TESTED)
            testbed->tested |= LB_G_BIT(g);
        if (testbed->judgement.findings[g].is_doubted)
            testbed->doubted[g] = testbed->judgement.findings[g];
    }
    doubt_keys(testbed, drained);
    return bits;
}

/* --- watching --- */

/* The result of a SELECT, one row a line, with a name before each. */
static int describe_rows(struct lb_testbed *testbed, const char *name, const char *sql,
                         struct lb_prepared *prepared, FILE *out, struct lb_error *err)
{
    struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql};
    struct lb_rows rows = {0};
    int r = lb_session_execute(&testbed->control, prepared, &step, sql, &rows, err);
    for (size_t row = 0; row < rows.n_rows && r == LB_OK; row++) {
        fputs(name, out);
        for (size_t column = 0; column < rows.n_columns; column++) {
            struct lb_value value = testbed->db->value(testbed->control.conn, row, column);
            int64_t number;
            if (value.type == LB_TEXT)
                fprintf(out, "%.*s ", (int)value.length, value.text);
            else if (value.type == LB_REAL)
                fprintf(out, "%.6f ", value.real);
            else if (lb_value_int(&value, &number))
                fprintf(out, "%lld ", (long long)number);
            else
                fputs("- ", out);
        }
        fputc('\n', out);
    }
    return r > LB_OK
               ? lb_fail(err, LB_E_ENV, "the state cannot be read: %s", testbed->control.message)
               : r;
}

static int describe_tables(struct lb_testbed *testbed, FILE *out, struct lb_error *err)
{
    char quote = lb_exploring(testbed->db)->quote, sql[100], name[80];
    int r = 0;
    for (size_t i = 0; i < testbed->tables.n && r == 0; i++) {
        snprintf(sql, sizeof sql, "SELECT * FROM %c%s%c", quote, testbed->tables.name[i], quote);
        snprintf(name, sizeof name, "%s ", testbed->tables.name[i]);
        r = describe_rows(testbed, name, sql, &testbed->left[i], out, err);
    }
    return r;
}

int lb_testbed_describe(struct lb_testbed *testbed, char **ret_state, struct lb_error *err)
{
    const struct lb_explore_watch *watch = testbed->plan.watch;
    char *state = NULL;
    size_t size;
    FILE *out = lb_open_memory(&state, &size);
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        fprintf(out, "w%u:%.*s\n", i, (int)testbed->tasks[i].story_n, testbed->tasks[i].story);
    int r = watch->sql != NULL
                ? describe_rows(testbed, "", watch->sql, &testbed->watching, out, err)
                : describe_tables(testbed, out, err);
    lb_close_memory(out);
    if (r == 0)
        *ret_state = state;
    else
        free(state);
    return r;
}

/* --- what is left --- */

/* Times differ from replay to replay. */
static uint64_t digest_of_value(const struct lb_value *value)
{
    static const int64_t times = 1000000000; /* numbers from here on may be some */
    int64_t number;
    bool is_number = lb_value_int(value, &number);
    if (value->type == LB_REAL || (is_number && (number >= times || number <= -times)))
        return 1;
    if (is_number)
        return lb_mix(2, (uint64_t)number);
    if (value->type != LB_TEXT)
        return 3;
    uint64_t digest = 4;
    for (size_t i = 0; i < value->length; i++) {
        if (value->text[i] == ':') /* 12:00 */
            return 1;
        digest = lb_mix(digest, (unsigned char)value->text[i]);
    }
    return digest;
}

int lb_testbed_left(void *arg, uint64_t *ret, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    char quote = lb_exploring(testbed->db)->quote;
    *ret = 0;
    for (size_t i = 0; i < testbed->tables.n && !lb_testbed_has_programs(testbed); i++) {
        char sql[100];
        struct lb_rows rows = {0};
        snprintf(sql, sizeof sql, "SELECT * FROM %c%s%c", quote, testbed->tables.name[i], quote);
        struct lb_step step = {.kind = LB_STEP_EXECUTE, .sql = sql};
        int r = lb_session_execute(&testbed->control, &testbed->left[i], &step, sql, &rows, err);
        if (r != LB_OK)
            return r < 0 ? r
                         : lb_fail(err, LB_E_ENV, "the table %s cannot be read: %s",
                                   testbed->tables.name[i], testbed->control.message);
        for (size_t row = 0; row < rows.n_rows; row++) {
            uint64_t digest = i + 1;
            for (size_t column = 0; column < rows.n_columns; column++) {
                struct lb_value value = testbed->db->value(testbed->control.conn, row, column);
                digest = lb_mix(digest, digest_of_value(&value));
            }
            *ret += digest * UINT64_C(0x9e3779b97f4a7c15); /* rows have no order */
        }
    }
    return 0;
}

/* --- no worker can go on --- */

static void describe(struct lb_testbed *testbed, uint32_t waiting, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        struct lb_task *task = &testbed->tasks[i];
        const char *sep = text[0] != '\0' ? "; " : "";
        if (task->state == LB_TASK_BLOCKED) {
            const char *sql = task->pending.sql;
            lb_append(text, size, "%sworker %u is blocked in %.160s", sep, i,
                      sql != NULL ? sql : "a statement");
        } else if ((waiting >> i & 1) != 0) {
            lb_append(text, size, "%sworker %u is answered \"%s\" again and again", sep, i,
                      lb_answer_name(task->last_refusal));
        }
    }
}

/* True if the task is the only one that has not ended, of a lock, and others have died before. */
static bool waits_for_dead(const struct lb_testbed *testbed, const struct lb_task *task)
{
    if (testbed->plan.strategy->shape != LB_LOCK || testbed->n_deaths == 0 || !testbed->outlived ||
        !task->has_seen || !task->saw_it_outlived)
        return false;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        if (&testbed->tasks[i] != task && testbed->tasks[i].state != LB_TASK_FINISHED)
            return false;
    return true;
}

int lb_testbed_count_vain(struct lb_testbed *testbed, struct lb_task *task, struct lb_error *err)
{
    uint64_t left = 0;
    if (!task->refused.is_refused)
        return 0;
    if (!waits_for_dead(testbed, task)) {
        task->n_vain = 0;
        return 0;
    }
    int r = lb_testbed_left(testbed, &left, err);
    task->n_vain = task->n_vain > 0 && left == task->left ? task->n_vain + 1 : 1;
    task->left = left;
    return r;
}

uint32_t lb_testbed_in_vain(const struct lb_testbed *testbed)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        if (testbed->tasks[i].gave_up && testbed->tasks[i].n_vain > 1)
            bits |= 1u << i;
    return bits;
}

/* An engine ends deadlocks. If a worker has died, or does not know the outcome of its commit, the
 * others may wait for its lock: in vain only if neither the end of the session nor, for a lease,
 * time frees it. */
unsigned lb_testbed_stuck(struct lb_testbed *testbed, uint32_t waiting)
{
    unsigned n_blocked = 0, n_empty = 0, n_waiting = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        n_blocked += task->state == LB_TASK_BLOCKED;
        n_waiting += waiting >> i & 1;
        n_empty += (waiting >> i & 1) != 0 && task->last_refusal == LB_EMPTY;
    }
    /* A queue that has nothing left is no finding. */
    if (n_blocked == 0 && n_empty == n_waiting)
        return 0;
    bool is_deadlock = n_blocked >= 2 && n_waiting == 0;
    char *text = is_deadlock ? testbed->deadlock : testbed->stuck;
    uint64_t *count = is_deadlock ? &testbed->n_deadlocks : &testbed->n_stuck;
    if ((*count)++ == 0)
        describe(testbed, waiting, text, sizeof testbed->stuck);
    const struct lb_strategy *strategy = testbed->plan.strategy;
    if (is_deadlock || testbed->plan.period_ms > 0) /* an item that is not due yet is no finding */
        return 0;
    if (testbed->n_deaths == 0 && testbed->n_cuts == 0)
        return strategy->claims & LB_G_BIT(LB_G_PROGRESS);
    /* A clock that stood still has ended no lease. A waiter that counts from when it saw its holder
     * must have seen it before. */
    bool outlived = testbed->outlived && testbed->unmoved[0] == '\0';
    bool remembers = lb_strategy_has(&testbed->strategy_plan, LB_S_ENQUEUE);
    for (uint32_t i = 0; i < testbed->n_tasks && remembers; i++)
        if ((waiting >> i & 1) != 0 && !testbed->tasks[i].saw_it_outlived)
            outlived = false;
    /* Nor does it end by itself if an operator ends it, perhaps earlier. */
    outlived = outlived && !testbed->program->ends_by_recover;
    if (strategy->is_lease && !outlived)
        return 0;
    /* The end of a lease bounds a wait for the dead, also where no recovery is claimed. */
    bool is_bounded = strategy->is_lease && strategy->shape == LB_LOCK &&
                      (strategy->claims & LB_G_BIT(LB_G_RECOVERY)) == 0 &&
                      !lb_strategy_has(&testbed->strategy_plan, LB_S_RECOVER);
    return strategy->claims & LB_G_BIT(is_bounded ? LB_G_PROGRESS : LB_G_RECOVERY);
}
