/* Opening and closing the testbed: the space, the strategy's tables, the tasks. */
#include "testbed.h"

#include "memory.h"
#include "ordinary.h"
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two items have one key, and the next two another one: two are enough to exceed a limit, and a
 * third is of a key that the first ones must not touch. Late workers need one key. Its tenant is
 * that of its key. The second and the third item have the same priority, and the next ones, which
 * may be put beside claims, are more urgent. The first item of each putter has the unique key of
 * item 1: its put meets the other's put, or a claim or end of item 1. */
static uint32_t explored_value(const struct lb_attribute_source *source,
                               enum lb_attribute attribute, int64_t id)
{
    const struct lb_explored_items *items = (const struct lb_explored_items *)source;
    const int64_t n_before = id - 1 - items->plan->items; /* of those that are put beside claims */
    switch (attribute) {
    case LB_A_KEY:
    case LB_A_TENANT:
        return items->plan->late > 0 ? 0 : (uint32_t)((id - 1) / 2 % 2);
    case LB_A_PRIORITY:
        return (uint32_t)(items->lowest_first ? -id / 2 : id / 2);
    case LB_A_UNIQUE:
        return n_before >= 0 && n_before % items->plan->rounds == 0 ? 1 : (uint32_t)id;
    case LB_A_DUE:
    case LB_ATTRIBUTES:
        break;
    }
    return 0;
}

/* One schedule of one task. */
static void play(struct lb_task *task)
{
    struct lb_error err = {0};
    task->in_script = true;
    int r = lb_task_script(task, &err);
    task->in_script = false;
    if (r < 0 && !(r == LB_E_INTERRUPTED && task->give_up))
        task->error = err;
    /* A lock of a worker's own is kept to the end of the schedule. */
    const bool keeps = task->testbed->plan.apart && !task->give_up && r >= 0;
    if (!keeps && lb_session_rollback(&task->session, &err) < 0 && task->error.code == 0)
        task->error = err;
    task->finished = true;
}

static int connect_task(struct lb_task *task, struct lb_error *err)
{
    struct lb_testbed *testbed = task->testbed;
    static const char *const roles[] = {"worker 0", "worker 1", "worker 2", "worker 3",
                                        "worker 4", "worker 5", "worker 6", "worker 7"};
    struct lb_conn_options options = {.isolation = testbed->isolation,
                                      .role = roles[task->number],
                                      .no_wait = true,
                                      .begins_late = true,
                                      .moves_clock = testbed->clock != NULL};
    int r = lb_session_open(&task->session, testbed->db, testbed->space, &options, err);
    if (r != 0)
        return r;
    task->has_session = true;
    task->session.gate = &testbed->gate;
    task->session.gate_arg = task;
    return lb_testbed_begin_session(testbed, task, err);
}

/* The task's fiber: it connects, while others do, too; then one schedule after the other. */
static void play_all(void *arg)
{
    struct lb_task *task = arg;
    struct lb_error err;
    if (connect_task(task, &err) < 0)
        task->error = err;
    for (;;) {
        lb_task_stand(task);
        play(task);
    }
}

/* --- opening --- */

static uint32_t tasks_of(const struct lb_explore_plan *plan)
{
    return plan->workers + plan->putters + plan->rescuers + plan->blockers + plan->late;
}

/* Workers come first, then those who put, those who rescue, those who block, and late ones. */
static enum lb_role role_of(const struct lb_explore_plan *plan, uint32_t number)
{
    uint32_t n_before_blockers = plan->workers + plan->putters + plan->rescuers;
    return number < plan->workers                        ? LB_ROLE_WORKER
           : number < plan->workers + plan->putters      ? LB_ROLE_PUTTER
           : number < n_before_blockers                  ? LB_ROLE_RESCUER
           : number < n_before_blockers + plan->blockers ? LB_ROLE_BLOCKER
                                                         : LB_ROLE_LATE;
}

static int check_plan(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const struct lb_strategy *strategy = plan->strategy;
    struct lb_scenario scenario;
    lb_scenario_init(&scenario);
    scenario.shape = strategy->shape;
    scenario.workers = plan->workers;
    scenario.shared = plan->readers > 0 ? 0.5 : 0;
    snprintf(scenario.capacity, sizeof scenario.capacity, "%u", plan->capacity);
    snprintf(scenario.name, sizeof scenario.name, "explore");
    if (strategy->no_database)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no statements to step through",
                       strategy->name);
    if ((strategy->needs & LB_CAP_REPLICA) != 0)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s reads on a replica, and explore cannot control its lag", strategy->name);
    return lb_run_supported(strategy, plan->file, testbed->db,
                            testbed->db->caps(testbed->control.conn), &scenario, err);
}

static int open_space(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    int r = testbed->db->space_open(plan->target, plan->strategy->name, &testbed->space, err);
    if (r != 0)
        return r;
    testbed->moves_clock =
        plan->ticks > 0 || (plan->deaths + plan->cuts > 0 && plan->strategy->shape == LB_QUEUE &&
                            (plan->strategy->claims & LB_G_BIT(LB_G_RECOVERY)));
    bool stands = plan->still_unix_ms != 0;
    struct lb_conn_options options = {.role = "control",
                                      .moves_clock = testbed->moves_clock || stands,
                                      .lock_timeout_ms = lb_testbed_patience_ms(plan)};
    r = lb_session_open(&testbed->control, testbed->db, testbed->space, &options, err);
    if (r != 0)
        return r;
    testbed->has_control = true;
    r = check_plan(testbed, err);
    const struct lb_server_clock *clock = lb_exploring(testbed->db)->clock;
    if (r == 0 && stands && clock == NULL)
        r = lb_fail(err, LB_E_UNSUPPORTED, "the clock of %s cannot stand still",
                    testbed->db->product);
    if (r == 0 && (testbed->moves_clock || stands) && clock != NULL) {
        testbed->clock = clock;
        r = lb_testbed_run_clock(testbed, &testbed->control, testbed->clock->create, 0, err);
        if (r == 0 && stands)
            r = lb_testbed_run_clock(testbed, &testbed->control, testbed->clock->still,
                                     plan->still_unix_ms, err);
        if (r == 0)
            r = lb_testbed_use_clock(testbed, &testbed->control, err);
    }
    if (r != 0)
        return r;
    if (testbed->db->is_blocked != NULL && testbed->db->session_id(testbed->control.conn) == 0)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is behind a pooler: its sessions cannot be distinguished",
                       plan->target->label);
    return lb_testbed_new_program(testbed, err);
}

/* Remembers what the control session executes with parameters: a spec needs it. */
static int remember(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    (void)err;
    if (step->kind != LB_STEP_EXECUTE)
        return 0;
    char *params = lb_gate_describe_params(step), *before = testbed->setup_sql;
    char *sql = lb_show_fill_in(lb_show_native(testbed, step->sql), params);
    testbed->setup_sql = lb_format("%s%s;\n", before != NULL ? before : "", sql);
    free(params);
    free(sql);
    free(before);
    return 0;
}

/* Items of another class, of which the history knows nothing: one is done, one has failed, one is
 * in hand (unless its transaction would stay open), and one is ready. */
static int put_others(struct lb_testbed *testbed, struct lb_error *err)
{
    enum { OTHERS = 1000 };
    static const enum lb_op ends[] = {LB_OP_COMPLETE, LB_OP_ERROR, LB_OP_CLAIM};
    const size_t n_ends = testbed->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD ? 2 : 3;
    struct lb_operator *op = &testbed->control_op;
    struct lb_item *item = lb_calloc(LB_CLAIM_ROOM, sizeof *item);
    int64_t id = (int64_t)testbed->plan.items;
    uint32_t n = 0;
    int r = LB_OK;
    op->log = NULL;
    testbed->control_actor.task_class = "other";
    for (size_t i = 0; i < n_ends && r == LB_OK; i++) {
        r = lb_testbed_put(op, OTHERS + ++id, err);
        if (r == LB_OK)
            r = lb_operate_claim(op, 1, item, LB_CLAIM_ROOM, &n, err);
        bool has_end = ends[i] == LB_OP_COMPLETE ||
                       (ends[i] == LB_OP_ERROR && testbed->program->sections[LB_S_ERROR].present);
        if (r == LB_OK && n > 0 && has_end)
            r = lb_operate_item(op, ends[i], item, err);
        r = r > LB_OK ? LB_OK : r; /* what lies in the table counts, and no answer */
    }
    if (r == LB_OK)
        r = lb_testbed_put(op, OTHERS + ++id, err);
    op->log = &testbed->control_log;
    testbed->control_actor.task_class = NULL;
    free(item);
    return r;
}

/* Puts the items one by one, so that their order is known. */
static int put_items(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_flow *flow = testbed->plan.strategy->flow;
    const bool is_judged = (testbed->plan.strategy->claims & LB_G_BIT(LB_G_UNIQUE)) != 0;
    testbed->control_actor = (struct lb_actor){
        .plan = testbed->program_before != NULL ? &testbed->plan_before : &testbed->strategy_plan,
        .session = &testbed->control,
        .name = "setup",
        .number = testbed->n_tasks};
    testbed->control_op = (struct lb_operator){.actor = &testbed->control_actor,
                                               .log = &testbed->control_log,
                                               .process = testbed->n_tasks,
                                               .n_processes = testbed->n_tasks + 1,
                                               .counts = testbed->control_counts};
    testbed->control_actor.is_apart = true;
    lb_testbed_set_control(testbed);
    int r = flow->open(&testbed->control_actor, err);
    if (r == LB_OK && testbed->plan.others)
        r = put_others(testbed, err);
    for (uint32_t i = 0; i < testbed->plan.items && r == LB_OK; i++) {
        r = lb_testbed_put(&testbed->control_op, (int64_t)i + 1, err);
        r = r == LB_DUPLICATE && is_judged ? LB_OK : r; /* of different keys none may be refused */
    }
    if (r > LB_OK)
        r = lb_fail(err, LB_E_ENV, "an item could not be put: %s %s", lb_answer_name(r),
                    testbed->control.message);
    testbed->control_actor.plan = &testbed->strategy_plan;
    testbed->n_setup_events = testbed->control_log.n_events;
    return r;
}

static int open_snapshot(struct lb_testbed *testbed, struct lb_error *err)
{
    struct lb_conn_options options = {.isolation = LB_ISO_REPEATABLE_READ, .role = "snapshot"};
    if (lb_exploring(testbed->db)->keep == NULL)
        return 0;
    int r = lb_session_open(&testbed->snapshot, testbed->db, testbed->space, &options, err);
    testbed->has_snapshot = r == 0;
    return r;
}

/* True for locks and items with a creation time in their rows: the clock may move before the first
 * request. */
static bool is_born_with_time(const struct lb_program *program)
{
    static const enum lb_section_name births[] = {LB_S_SETUP, LB_S_RESOURCE, LB_S_PUT};
    for (size_t b = 0; program != NULL && b < sizeof births / sizeof births[0]; b++) {
        const struct lb_section *section = &program->sections[births[b]];
        for (size_t i = 0; i < section->n_statements; i++) {
            const struct lb_statement *statement = &section->statements[i];
            if (lb_sql_reads_time(statement->sql, strlen(statement->sql)))
                return true;
            for (size_t k = 0; k < statement->n_params; k++)
                if (statement->param_slot[k] == LB_SLOT_NOW)
                    return true;
        }
    }
    return false;
}

/* Putters differ by their items, late workers by their order. */
static uint8_t kind_of_task(const struct lb_explore_plan *plan, uint32_t number)
{
    switch (role_of(plan, number)) {
    case LB_ROLE_WORKER:
        return number >= plan->workers - plan->readers ? 1 : 0;
    case LB_ROLE_RESCUER:
        return 2;
    case LB_ROLE_BLOCKER:
        return 3;
    case LB_ROLE_LATE:
    case LB_ROLE_PUTTER:
    default:
        return (uint8_t)(4 + number);
    }
}

/* Which sections tasks will run: a bit each. */
static uint32_t played_sections(const struct lb_explore_plan *plan)
{
    uint32_t played = plan->rescuers > 0 ? 1u << LB_S_RECOVER : 0;
    if (plan->putters > 0)
        played |= 1u << LB_S_PUT;
    if (plan->renewals > 0)
        played |= 1u << LB_S_RENEW;
    if (plan->frees > 0)
        played |= 1u << LB_S_FREE | 1u << LB_S_RETRY;
    if (plan->errors)
        played |= 1u << LB_S_ERROR | 1u << LB_S_CLEAR_ERROR | 1u << LB_S_CLEAR_ALL_ERRORS |
                  1u << LB_S_RESET_ALL;
    if (plan->strategy->shape == LB_QUEUE)
        played |=
            1u << LB_S_SWEEP | 1u << LB_S_REGISTER | 1u << LB_S_HEARTBEAT | 1u << LB_S_UNREGISTER;
    if (plan->strategy->shape == LB_QUEUE)
        return played | 1u << LB_S_CLAIM | 1u << LB_S_COMPLETE;
    return played | 1u << LB_S_ENQUEUE | 1u << LB_S_ACQUIRE | 1u << LB_S_RELEASE |
           1u << LB_S_CANCEL;
}

/* Rows can be distinguished if each statement reads the data committed at its begin. */
int lb_testbed_open_rules(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    if (plan->relation != LB_RELATION_ROWS || plan->whole || plan->resources > 1 ||
        lb_testbed_has_programs(testbed) || testbed->has_rules)
        return 0;
    testbed->has_rules = true;
    const unsigned local = lb_guarantees_with(LB_GUARANTEE_IS_OF_ONE_ITEM);
    testbed->is_local = plan->strategy->shape == LB_QUEUE && (plan->strategy->claims & ~local) == 0;
    if (!lb_exploring(testbed->db)->reads_by_statement || testbed->keeps_snapshots ||
        testbed->tables.opaque)
        return 0;
    return lb_row_rules_open(&testbed->rules, &testbed->reset, &testbed->tables, testbed->program,
                             played_sections(plan), plan->batch, err);
}

/* What blockers execute: one statement for each table. */
static int make_locking(struct lb_testbed *testbed, struct lb_error *err)
{
    for (size_t i = 0; i < testbed->tables.n && testbed->plan.blockers > 0; i++)
        testbed->locking[i] = lb_format("SELECT 1 FROM %s FOR UPDATE", testbed->tables.name[i]);
    if (testbed->plan.blockers > 0 && testbed->tables.opaque)
        return lb_fail(
            err, LB_E_UNSUPPORTED,
            "a blocker cannot lock the rows of tables whose names are no words, or beside "
            "views, triggers and functions");
    return 0;
}

static bool has_section(const struct lb_testbed *testbed, enum lb_section_name name)
{
    return lb_testbed_has_programs(testbed) ? (testbed->plan.strategy->operations >> name & 1) != 0
                                            : testbed->program->sections[name].present;
}

/* Faults inside sessions of ours are impossible for a program's. */
static int check_programs(const struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const char *what = plan->ticks > 0 || plan->deaths > 0 || plan->cuts > 0 ? "--steps"
                       : plan->blockers > 0                                  ? "--blockers"
                       : plan->isolation != LB_ISO_DEFAULT                   ? "--isolation"
                       : plan->relation == LB_RELATION_STEPS                 ? "--no-reduction"
                                                                             : NULL;
    if (what != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s is a program: option %s is not for its sessions",
                       plan->strategy->name, what);
    if (plan->strategy->is_pushed)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is a program that pushes: it sends its statements whenever it likes; "
                       "lockbench verify runs it",
                       plan->strategy->name);
    if (testbed->db->door_keep == NULL || !testbed->db->is_relayed)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is a program: its statements on %s cannot be scheduled one by one; "
                       "lockbench verify runs it",
                       plan->strategy->name, testbed->db->product);
    return 0;
}

/* What every schedule of programs begins with. */
static int keep_database(struct lb_testbed *testbed, struct lb_error *err)
{
    if (testbed->control_actor.plan != NULL)
        testbed->plan.strategy->flow->close(&testbed->control_actor);
    testbed->tables.opaque = true; /* only the statements' texts are known */
    return testbed->db->door_keep(testbed->space, err);
}

/* Refuses steps that the protocol or the engine lacks. A program's sections have no text. */
static int check_wants(const struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const struct lb_section *sections = testbed->program->sections;
    const bool is_guest = lb_testbed_has_programs(testbed);
    const char *name = plan->strategy->name;
    const struct {
        bool is_wanted, is_there;
        const char *who, *lack;
    } wants[] = {
        {plan->renewals > 0,
         has_section(testbed, LB_S_RENEW) || (!is_guest && has_section(testbed, LB_S_HEARTBEAT)),
         name, "has neither a section renew nor a section heartbeat"},
        {!is_guest, !testbed->program->makes_schema, name,
         "makes a schema of its own, which cannot be put back from schedule to schedule: write its "
         "tables without a schema to explore it"},
        {plan->blockers > 0, testbed->db->lock_rows != NULL, testbed->db->product,
         "has no locks of rows, which a blocker takes"},
        {plan->rescuers > 0, has_section(testbed, LB_S_RECOVER), name,
         "has no section recover, which a rescuer runs"},
        {plan->resources > 1, !is_guest && (plan->apart || sections[LB_S_ACQUIRE].tx != LB_TX_HOLD),
         name, "holds its lock by a transaction, and can hold no second one beside it"},
        {plan->errors,
         !is_guest &&
             (has_section(testbed, LB_S_ERROR) || has_section(testbed, LB_S_CLEAR_ALL_ERRORS) ||
              has_section(testbed, LB_S_RESET_ALL)),
         name, "has neither error nor an operator's section, which --also=errors runs"},
        {plan->cancels, has_section(testbed, LB_S_CANCEL), name,
         "has no section cancel, which --also=cancels runs"},
        {plan->others, !is_guest && lb_section_has_param(&sections[LB_S_CLAIM], LB_SLOT_CLASS),
         name, "has no :class in claim, which --also=others uses"},
        {plan->again, !is_guest && lb_section_has_param(&sections[LB_S_CLAIM], LB_SLOT_N), name,
         "has no :n in claim, which --also=again sets to 1"},
        {plan->frees > 0,
         !is_guest && (has_section(testbed, LB_S_FREE) || has_section(testbed, LB_S_RETRY)), name,
         "has no section free or retry, which --frees runs"},
    };
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++)
        if (wants[i].is_wanted && !wants[i].is_there)
            return lb_fail(err, LB_E_UNSUPPORTED, "%s %s", wants[i].who, wants[i].lack);
    return 0;
}

static void plan_strategy(struct lb_testbed *testbed)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const bool is_guest = lb_testbed_has_programs(testbed);
    const uint32_t n_resources = plan->resources > 1 ? plan->resources : 1;
    for (uint32_t i = 0; i < n_resources; i++)
        testbed->capacity[i] = plan->capacity;
    testbed->explored_items = (struct lb_explored_items){
        .source = {.value_of = explored_value},
        .plan = &testbed->plan,
        .lowest_first = testbed->program->priority == LB_PRIORITY_LOWEST};
    testbed->strategy_plan = (struct lb_strategy_plan){
        .strategy = plan->strategy,
        .program = is_guest ? NULL : testbed->program,
        .is_gated = is_guest,
        .stepper = &lb_testbed_stepper,
        .settings = plan->settings,
        .n_settings = plan->n_settings,
        .space_no = testbed->db->space_number(testbed->space),
        .n_resources = n_resources,
        .capacity = testbed->capacity,
        .ttl_ms = plan->ttl_ms,
        .limit_ms = testbed->strategy_plan.limit_ms,
        .attributes = testbed->program->attributes == 0 ? NULL : &testbed->explored_items.source,
        .groups = (testbed->program->uses >> LB_SLOT_GROUP & 1) != 0,
        .still_unix_ms = plan->still_unix_ms,
        .period_ms = plan->period_ms};
    testbed->plan_before = testbed->strategy_plan;
    testbed->plan_before.program = testbed->program_before;
}

/* The strategy's tables and items, and how they are put back. */
static int make_tables(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    testbed->control_events = lb_calloc(LB_TASK_EVENTS, sizeof *testbed->control_events);
    lb_log_in_memory(&testbed->control_log, testbed->n_tasks, testbed->control_events,
                     LB_TASK_EVENTS);
    testbed->setup_gate = (struct lb_gate){.before = remember, .rewrite = lb_testbed_native};
    testbed->control.gate = &testbed->setup_gate;
    testbed->control.gate_arg = testbed;
    bool has_before = testbed->program_before != NULL;
    int r = plan->strategy->flow->setup(
        has_before ? &testbed->plan_before : &testbed->strategy_plan, &testbed->control, err);
    if (r > LB_OK)
        r = lb_fail(err, LB_E_ENV, "setup of %s was refused: %s %s", plan->strategy->name,
                    lb_answer_name(r), testbed->control.message);
    if (r == 0 && plan->strategy->shape == LB_QUEUE)
        r = put_items(testbed, err);
    if (r == 0 && has_before)
        r = lb_ordinary_migrate(&testbed->strategy_plan, &testbed->control, err) != 0 ? err->code
                                                                                      : 0;
    testbed->control.gate = NULL;
    if (r != 0)
        return r;
    if (lb_testbed_has_programs(testbed))
        return keep_database(testbed, err);
    r = lb_reset_open(&testbed->reset, &testbed->control, &testbed->tables, err);
    return r == LB_E_ENV ? lb_testbed_name_holders(testbed, err) : r;
}

/* Reads the facts that the statements state, and the relation of their moves. */
static int know_statements(struct lb_testbed *testbed, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &testbed->plan;
    const bool is_guest = lb_testbed_has_programs(testbed);
    enum lb_isolation level =
        testbed->isolation != LB_ISO_DEFAULT ? testbed->isolation : testbed->db->default_isolation;
    testbed->keeps_snapshots = level >= LB_ISO_REPEATABLE_READ;
    testbed->tables.reads_lock =
        testbed->isolation == LB_ISO_SERIALIZABLE && !testbed->tables.one_writer;
    size_t n = testbed->program->n_statements;
    testbed->footprints = lb_calloc(n + 1, sizeof *testbed->footprints);
    testbed->kinds = lb_calloc(n + 1, sizeof *testbed->kinds);
    if (lb_testbed_find_unmoved_clock(testbed, err) != 0)
        return err->code;
    if (!is_guest) {
        lb_find_drawn(&testbed->tables, testbed->program, played_sections(plan), &testbed->drawn);
        testbed->random_line = lb_find_random(testbed->program, played_sections(plan));
    }
    lb_testbed_know_times(testbed);
    testbed->is_born_with_time = is_born_with_time(testbed->program);
    testbed->are_alike = !plan->distinct && !plan->apart && plan->skew_ms == 0 &&
                         !(plan->errors && plan->rounds > 1) && !is_guest &&
                         plan->relation <= LB_RELATION_TABLES &&
                         ((plan->without & LB_WITHOUT_NAMES) != 0 ||
                          lb_workers_are_alike(testbed->program, &testbed->tables));
    for (uint32_t i = 0; i < LB_MAX_WORKERS; i++)
        testbed->alike[i] = kind_of_task(plan, i);
    testbed->sees_strangers = testbed->program->strangers_line != 0;
    for (size_t i = 0; i < n; i++) {
        const char *sql = testbed->program->statements[i].sql;
        testbed->kinds[i] = lb_footprint_of_sql(&testbed->tables, sql, &testbed->footprints[i]);
    }
    lb_testbed_know_locks(testbed);
    return 0;
}

static int set_up(struct lb_testbed *testbed, struct lb_error *err)
{
    int r = lb_testbed_has_programs(testbed) ? check_programs(testbed, err) : 0;
    if (r == 0)
        r = check_wants(testbed, err);
    if (r != 0)
        return r;
    plan_strategy(testbed);
    r = make_tables(testbed, err);
    if (r == 0)
        r = make_locking(testbed, err);
    if (r == 0)
        r = open_snapshot(testbed, err);
    return r == 0 ? know_statements(testbed, err) : r;
}

static int open_task(struct lb_testbed *testbed, uint32_t number, struct lb_error *err)
{
    struct lb_task *task = &testbed->tasks[number];
    const struct lb_strategy *strategy = testbed->plan.strategy;
    task->testbed = testbed;
    task->number = number;
    task->role = role_of(&testbed->plan, number);
    task->events = lb_calloc(LB_TASK_EVENTS, sizeof *task->events);
    task->items = lb_calloc(LB_CLAIM_ROOM, sizeof *task->items);
    testbed->n_tasks = number + 1;
    if (testbed->plan.watch != NULL)
        task->story = lb_calloc(1, LB_STORY_BYTES);
    task->actor.plan = testbed->program_before != NULL && number % 2 == 1 ? &testbed->plan_before
                                                                          : &testbed->strategy_plan;
    task->actor.session = &task->session;
    task->actor.number = number;
    task->op = (struct lb_operator){.actor = &task->actor,
                                    .log = &task->log,
                                    .process = number,
                                    .n_processes = tasks_of(&testbed->plan) + 1,
                                    .lease_ms = strategy->is_lease ? testbed->plan.ttl_ms : 0,
                                    .counts = task->counts};
    int r = lb_carrier_add(testbed->carrier, play_all, task, err);
    task->is_open = r == 0;
    return r;
}

/* Each begins to connect: the server has that to do while the tables are set up. Two turns send
 * what it needs to start a session. */
static int begin_tasks(struct lb_testbed *testbed, uint32_t n_tasks, struct lb_error *err)
{
    int r = 0;
    for (uint32_t i = 0; i < n_tasks && r == 0; i++)
        r = open_task(testbed, i, err);
    lb_carrier_turn(testbed->carrier, 0);
    lb_carrier_turn(testbed->carrier, 0);
    return r;
}

/* Until each has taken its stand, also where something has failed: half a connection cannot be
 * closed. */
static int await_tasks(struct lb_testbed *testbed, struct lb_error *err)
{
    int r = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        struct lb_task *task = &testbed->tasks[i];
        while (task->is_open && !task->stands)
            lb_carrier_turn(testbed->carrier, UINT64_MAX);
        if (task->error.code != 0 && r == 0) {
            *err = task->error;
            r = err->code;
        }
        task->error.code = 0;
    }
    return r;
}

static int open_carrier(struct lb_testbed *testbed, uint32_t n_tasks, struct lb_error *err)
{
    if (!lb_carrier_is_possible())
        return lb_fail(err, LB_E_ENV, "explore needs epoll_pwait2 (Linux 5.11)");
    return lb_carrier_new(n_tasks, &testbed->carrier, err);
}

int lb_testbed_open(struct lb_testbed *testbed, const struct lb_explore_plan *plan,
                    struct lb_error *err)
{
    *testbed = (struct lb_testbed){
        .plan = *plan, .db = plan->target->db, .n_running = plan->workers, .rounds = plan->rounds};
    if (plan->cuts > 0 && testbed->db->in_process)
        return lb_fail(err, LB_E_USAGE,
                       "option --steps: cut has no meaning on %s, which has no connection to lose",
                       testbed->db->product);
    lb_gate_of_testbed(&testbed->gate);
    if (testbed->plan.strategy->shape == LB_QUEUE && testbed->plan.items == 0)
        testbed->plan.items = plan->workers * plan->rounds * plan->batch + plan->late;
    uint32_t n_tasks = tasks_of(plan);
    int r = open_carrier(testbed, n_tasks, err);
    if (r == 0)
        r = open_space(testbed, err);
    if (r == 0)
        r = begin_tasks(testbed, n_tasks, err);
    if (r == 0)
        r = set_up(testbed, err);
    struct lb_error later;
    int connected = await_tasks(testbed, r == 0 ? err : &later);
    r = r == 0 ? connected : r;
    testbed->is_open = r == 0;
    return r;
}

static void close_task(struct lb_task *task)
{
    if (task->is_open)
        task->testbed->plan.strategy->flow->close(&task->actor);
    if (task->has_session)
        lb_session_close(&task->session);
    free(task->pending.params);
    free(task->events);
    free(task->items);
    free(task->story);
}

int lb_testbed_close(struct lb_testbed *testbed, struct lb_error *err)
{
    lb_testbed_dismiss_all(testbed);
    testbed->is_open = false;
    lb_testbed_forget_records(testbed);
    struct lb_error ignored;
    if (lb_testbed_has_programs(testbed))
        lb_stepped_end_all(testbed);
    if (lb_testbed_has_programs(testbed) && testbed->strategy_plan.shared != NULL)
        testbed->plan.strategy->flow->teardown(&testbed->strategy_plan, &testbed->control,
                                               &ignored);
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        close_task(&testbed->tasks[i]);
    if (testbed->control_actor.plan != NULL)
        testbed->plan.strategy->flow->close(&testbed->control_actor);
    lb_reset_close(&testbed->reset);
    lb_row_rules_close(&testbed->rules);
    if (testbed->has_snapshot)
        lb_session_close(&testbed->snapshot);
    if (testbed->has_control)
        lb_session_close(&testbed->control);
    int r = testbed->space != NULL
                ? testbed->db->space_close(testbed->space, testbed->plan.keep, err)
                : 0;
    lb_program_free(testbed->program_before);
    lb_program_free(testbed->program);
    free(testbed->footprints);
    free(testbed->kinds);
    free(testbed->control_events);
    free(testbed->setup_sql);
    for (size_t i = 0; i < testbed->n_texts; i++)
        free(testbed->texts[i]);
    free(testbed->texts);
    for (size_t i = 0; i < testbed->n_rewritten; i++)
        free(testbed->rewritten[i].text);
    free(testbed->rewritten);
    for (size_t i = 0; i < LB_FOOTPRINT_TABLES; i++)
        free(testbed->locking[i]);
    lb_carrier_free(testbed->carrier);
    return r;
}
