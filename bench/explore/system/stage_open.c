/* Opening and closing the stage: the space, the strategy's tables, the players. */
#include "stage.h"

#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One schedule of one player. */
static void play(struct lb_player *player)
{
    struct lb_error err = {0};
    player->in_script = true;
    int r = lb_player_script(player, &err);
    player->in_script = false;
    if (r < 0 && !(r == LB_E_INTERRUPTED && player->give_up))
        player->error = err;
    if (lb_session_rollback(&player->session, &err) < 0 && player->error.code == 0)
        player->error = err;
    player->finished = true;
}

/* The player's fiber: one schedule after the other. */
static void play_all(void *arg)
{
    struct lb_player *player = arg;
    for (;;) {
        lb_player_stand(player);
        play(player);
    }
}

/* --- opening --- */

static uint32_t players_of(const struct lb_explore_plan *plan)
{
    return plan->workers + plan->putters + plan->rescuers + plan->blockers;
}

/* Workers come first, then those who put, those who rescue, and those who block. */
static enum lb_role role_of(const struct lb_explore_plan *plan, uint32_t number)
{
    uint32_t n_before_blockers = plan->workers + plan->putters + plan->rescuers;
    return number < plan->workers                   ? LB_ROLE_WORKER
           : number < plan->workers + plan->putters ? LB_ROLE_PUTTER
           : number < n_before_blockers             ? LB_ROLE_RESCUER
                                                    : LB_ROLE_BLOCKER;
}

static int check_plan(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &stage->plan;
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
                       "%s reads on a replica, whose lag is no step that can be taken",
                       strategy->name);
    return lb_run_supported(strategy, plan->file, stage->db, stage->db->caps(stage->control.conn),
                            &scenario, err);
}

static enum lb_isolation isolation_of(const struct lb_stage *stage)
{
    if (stage->plan.isolation != LB_ISO_DEFAULT)
        return stage->plan.isolation;
    if (stage->plan.strategy->isolation != LB_ISO_DEFAULT)
        return stage->plan.strategy->isolation;
    return stage->program->isolation;
}

static int use_clock(struct lb_stage *stage, struct lb_session *session, struct lb_error *err)
{
    char sql[200];
    if (stage->clock->session == NULL)
        return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sql, sizeof sql, stage->clock->session, stage->db->space_name(stage->space));
#pragma GCC diagnostic pop
    int r = stage->db->run(session->conn, sql, err);
    return r > LB_OK ? lb_fail(err, LB_E_ENV, "%s", lb_conn_head(session->conn)->message) : r;
}

int lb_stage_begin_session(struct lb_stage *stage, struct lb_player *player, struct lb_error *err)
{
    const char *opening = lb_exploring(stage->db)->opening;
    int r = opening != NULL ? stage->db->run(player->session.conn, opening, err) : 0;
    if (r >= 0 && stage->clock != NULL)
        r = use_clock(stage, &player->session, err);
    player->session_id = stage->db->session_id(player->session.conn);
    return r < 0 ? r : 0;
}

/* The lease that is explored goes before the file's default, and --opt before both. */
static int new_program(struct lb_stage *stage, struct lb_error *err)
{
    struct lb_explore_plan *plan = &stage->plan;
    struct lb_scaled scaled;
    if (lb_stage_has_programs(stage)) { /* it has no sections */
        stage->program = calloc(1, sizeof *stage->program);
        return stage->program != NULL ? 0 : lb_fail(err, LB_E_MEMORY, "out of memory");
    }
    struct lb_setting *settings = calloc(plan->n_settings + 2, sizeof *settings);
    if (settings == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    lb_file_scale(plan->file, plan->ttl_ms, true, plan->settings, plan->n_settings, &scaled);
    memcpy(settings, scaled.settings, scaled.n_settings * sizeof *settings);
    for (size_t i = 0; i < plan->n_settings; i++)
        settings[scaled.n_settings + i] = plan->settings[i];
    int r = lb_program_new(plan->file, stage->db, plan->strategy->options, settings,
                           scaled.n_settings + plan->n_settings, &stage->program, err);
    free(settings);
    plan->ttl_ms = scaled.lease_ms;
    stage->strategy_plan.limit_ms = scaled.limit_ms;
    return r;
}

static int open_space(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &stage->plan;
    int r = stage->db->space_open(plan->target, plan->strategy->name, &stage->space, err);
    if (r != 0)
        return r;
    struct lb_conn_options options = {.role = "control", .moves_clock = plan->ticks > 0};
    r = lb_session_open(&stage->control, stage->db, stage->space, &options, err);
    if (r != 0)
        return r;
    stage->has_control = true;
    r = check_plan(stage, err);
    if (r == 0 && plan->ticks > 0 && lb_exploring(stage->db)->clock != NULL) {
        stage->clock = lb_exploring(stage->db)->clock;
        r = lb_stage_run_clock(stage, &stage->control, stage->clock->create, 0, err);
        if (r == 0)
            r = use_clock(stage, &stage->control, err);
    }
    if (r != 0)
        return r;
    if (stage->db->is_blocked != NULL && stage->db->session_id(stage->control.conn) == 0)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is behind a pooler: its sessions cannot be told apart",
                       plan->target->label);
    return new_program(stage, err);
}

/* Remembers what the control session executes with parameters: a spec needs it. */
static int remember(void *arg, const struct lb_step *step, struct lb_error *err)
{
    struct lb_stage *stage = arg;
    if (step->kind != LB_STEP_EXECUTE)
        return 0;
    char *params = lb_gate_describe_params(step);
    char *sql = params != NULL ? lb_show_fill_in(lb_show_native(stage, step->sql), params) : NULL;
    char *all = NULL;
    bool ok = sql != NULL &&
              asprintf(&all, "%s%s;\n", stage->setup_sql != NULL ? stage->setup_sql : "", sql) >= 0;
    free(params);
    free(sql);
    if (!ok)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    free(stage->setup_sql);
    stage->setup_sql = all;
    return 0;
}

static void forget_answer(void *arg, const struct lb_step *step, int answer,
                          const struct lb_rows *rows)
{
    (void)arg;
    (void)step;
    (void)answer;
    (void)rows;
}

/* Puts the items one by one, so that their order is known. */
static int put_items(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_flow *flow = stage->plan.strategy->flow;
    stage->control_actor = (struct lb_actor){.plan = &stage->strategy_plan,
                                             .session = &stage->control,
                                             .name = "setup",
                                             .number = stage->n_players};
    stage->control_op = (struct lb_operator){.actor = &stage->control_actor,
                                             .log = &stage->control_log,
                                             .process = stage->n_players,
                                             .n_processes = stage->n_players + 1,
                                             .counts = stage->control_counts};
    stage->control_actor.is_apart = true;
    int r = flow->open(&stage->control_actor, err);
    for (uint32_t i = 0; i < stage->plan.items && r == LB_OK; i++)
        r = lb_operate_put(&stage->control_op, (int64_t)i + 1, 1, "x", err);
    if (r > LB_OK)
        r = lb_fail(err, LB_E_ENV, "an item could not be put: %s %s", lb_answer_name(r),
                    stage->control.message);
    stage->n_setup_events = stage->control_log.n_events;
    return r;
}

static int open_keeper(struct lb_stage *stage, struct lb_error *err)
{
    struct lb_conn_options options = {.isolation = LB_ISO_REPEATABLE_READ, .role = "keeper"};
    if (lb_exploring(stage->db)->keep == NULL)
        return 0;
    int r = lb_session_open(&stage->keeper, stage->db, stage->space, &options, err);
    stage->has_keeper = r == 0;
    return r;
}

/* Steps of the clock show nothing to a statement that asks for another one. */
static void find_unmoved_clock(struct lb_stage *stage)
{
    static const char *const none[] = {NULL};
    const char *const *moved = stage->clock != NULL ? stage->clock->moved : none;
    const struct lb_program *program = stage->program;
    /* Defaults are for what is put; before the clock is stepped they are right in any case. */
    bool is_ignored =
        stage->clock == NULL || !stage->clock->keeps_defaults || stage->plan.putters == 0;
    for (int s = 0; s < LB_SECTIONS && stage->plan.ticks > 0; s++)
        for (size_t i = 0; i < program->sections[s].n_statements; i++)
            if (s != LB_S_TEARDOWN && s != LB_S_COUNT && s != LB_S_PERMITS &&
                !(s == LB_S_SETUP && is_ignored) &&
                lb_footprint_reads_clock(program->sections[s].statements[i].sql, moved,
                                         stage->unmoved, sizeof stage->unmoved))
                return;
}

/* What is set up is rewritten, too, but for what a column's default may be. */
static const char *rewrite_for_setup(void *arg, const char *native)
{
    const struct lb_stage *stage = arg;
    bool keeps = stage->clock == NULL || stage->clock->keeps_defaults;
    return keeps ? native : lb_stage_native(arg, native);
}

/* Putters are told apart by what they put. */
static uint8_t kind_of_player(const struct lb_explore_plan *plan, uint32_t number)
{
    switch (role_of(plan, number)) {
    case LB_ROLE_WORKER:
        return number >= plan->workers - plan->readers ? 1 : 0;
    case LB_ROLE_RESCUER:
        return 2;
    case LB_ROLE_BLOCKER:
        return 3;
    case LB_ROLE_PUTTER:
    default:
        return (uint8_t)(4 + number);
    }
}

/* Which sections players will run: a bit each. */
static uint32_t played_sections(const struct lb_explore_plan *plan)
{
    uint32_t played = plan->rescuers > 0 ? 1u << LB_S_RECOVER : 0;
    if (plan->putters > 0)
        played |= 1u << LB_S_PUT;
    if (plan->renewals > 0)
        played |= 1u << LB_S_RENEW;
    if (plan->strategy->shape == LB_QUEUE)
        played |= 1u << LB_S_SWEEP | 1u << LB_S_REGISTER | 1u << LB_S_HEARTBEAT;
    if (plan->strategy->shape == LB_QUEUE)
        return played | 1u << LB_S_CLAIM | 1u << LB_S_COMPLETE;
    return played | 1u << LB_S_ENQUEUE | 1u << LB_S_ACQUIRE | 1u << LB_S_RELEASE |
           1u << LB_S_CANCEL;
}

/* Rows can be told apart where each statement reads what is committed when it begins. */
static int open_rules(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &stage->plan;
    if (plan->relation != LB_RELATION_ROWS || lb_stage_has_programs(stage))
        return 0;
    const unsigned global = LB_G_BIT(LB_G_FIFO) | LB_G_BIT(LB_G_GROUP_EXCLUSIVE);
    stage->is_local = plan->strategy->shape == LB_QUEUE && (plan->strategy->claims & global) == 0;
    if (!lb_exploring(stage->db)->reads_by_statement || stage->keeps_snapshots ||
        stage->tables.opaque)
        return 0;
    return lb_row_rules_open(&stage->rules, &stage->reset, &stage->tables, stage->program,
                             played_sections(plan), plan->batch, err);
}

/* States are told where nothing but rows, locks and answers tells what comes next: no time goes by,
 * nobody dies, and each statement reads by itself. */
static int open_states(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &stage->plan;
    bool is_queue = plan->strategy->shape == LB_QUEUE;
    bool is_possible = plan->relation == LB_RELATION_ROWS && !lb_stage_has_programs(stage) &&
                       lb_exploring(stage->db)->reads_by_statement && !stage->keeps_snapshots &&
                       !stage->tables.opaque &&
                       plan->deaths + plan->ticks + plan->cuts + plan->blockers == 0 &&
                       !(is_queue && (stage->program->uses >> LB_SLOT_NOW & 1) != 0);
    if (plan->states == LB_STATES_NONE)
        return 0;
    int r = is_possible ? lb_states_open(&stage->states, &stage->reset, &stage->tables,
                                         stage->program, played_sections(plan), err)
                        : 0;
    if (r == 0 && !stage->states.is_on && plan->states == LB_STATES_ASKED)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "option --states: a state of %s on %s cannot be told; leave the option out",
                       plan->strategy->name, stage->db->product);
    return r;
}

/* What blockers execute: one statement for each table. */
static int make_locking(struct lb_stage *stage, struct lb_error *err)
{
    for (size_t i = 0; i < stage->tables.n && stage->plan.blockers > 0; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT 1 FROM %s FOR UPDATE", stage->tables.name[i]);
        stage->locking[i] = strdup(sql);
        if (stage->locking[i] == NULL)
            return lb_fail(err, LB_E_MEMORY, "out of memory");
    }
    if (stage->plan.blockers > 0 && stage->tables.opaque)
        return lb_fail(
            err, LB_E_UNSUPPORTED,
            "a blocker cannot lock the rows of tables whose names are no words, or beside "
            "views, triggers and functions");
    return 0;
}

static bool has_section(const struct lb_stage *stage, enum lb_section_name name)
{
    const struct lb_flow *flow = stage->plan.strategy->flow;
    bool is_queue = stage->plan.strategy->shape == LB_QUEUE;
    if (!lb_stage_has_programs(stage))
        return stage->program->sections[name].present;
    return name == LB_S_RECOVER ? flow->recover != NULL
           : is_queue           ? flow->renew_item != NULL
                                : flow->renew != NULL;
}

/* What is done inside of sessions of ours cannot be done to a program's. */
static int check_programs(const struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &stage->plan;
    const char *what = plan->ticks > 0 || plan->deaths > 0 || plan->cuts > 0 ? "--steps"
                       : plan->blockers > 0                                  ? "--blockers"
                       : plan->isolation != LB_ISO_DEFAULT                   ? "--isolation"
                       : plan->relation == LB_RELATION_STEPS                 ? "--no-reduction"
                                                                             : NULL;
    if (what != NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s is a program: option %s is not for its sessions",
                       plan->strategy->name, what);
    if (stage->db->door_keep == NULL || !stage->db->is_relayed)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s is a program: its statements on %s cannot be scheduled one by one; "
                       "lockbench verify runs it",
                       plan->strategy->name, stage->db->product);
    return 0;
}

/* What every schedule of programs begins with. */
static int keep_database(struct lb_stage *stage, struct lb_error *err)
{
    if (stage->control_actor.plan != NULL)
        stage->plan.strategy->flow->close(&stage->control_actor);
    stage->tables.opaque = true; /* what stands in the statements is all that is known */
    return stage->db->door_keep(stage->space, err);
}

static int set_up(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_explore_plan *plan = &stage->plan;
    stage->capacity[0] = plan->capacity;
    uint32_t limit_ms = stage->strategy_plan.limit_ms;
    if (lb_stage_has_programs(stage) && check_programs(stage, err) != 0)
        return err->code;
    if (plan->renewals > 0 && !has_section(stage, LB_S_RENEW) &&
        (lb_stage_has_programs(stage) || !has_section(stage, LB_S_HEARTBEAT)))
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "%s has neither a section renew nor a section heartbeat",
                       plan->strategy->name);
    if (plan->blockers > 0 && stage->db->lock_rows == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no locks of rows, which a blocker takes",
                       stage->db->product);
    if (plan->rescuers > 0 && !has_section(stage, LB_S_RECOVER))
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no section recover, which a rescuer runs",
                       plan->strategy->name);
    stage->strategy_plan =
        (struct lb_strategy_plan){.strategy = plan->strategy,
                                  .program = lb_stage_has_programs(stage) ? NULL : stage->program,
                                  .is_gated = lb_stage_has_programs(stage),
                                  .stepper = &lb_stage_stepper,
                                  .settings = plan->settings,
                                  .n_settings = plan->n_settings,
                                  .space_no = stage->db->space_number(stage->space),
                                  .n_resources = 1,
                                  .capacity = stage->capacity,
                                  .ttl_ms = plan->ttl_ms,
                                  .limit_ms = limit_ms,
                                  .groups = (stage->program->uses >> LB_SLOT_GROUP & 1) != 0,
                                  .period_ms = plan->period_ms};
    stage->control_events = calloc(LB_PLAYER_EVENTS, sizeof *stage->control_events);
    if (stage->control_events == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    lb_log_in_memory(&stage->control_log, stage->n_players, stage->control_events,
                     LB_PLAYER_EVENTS);
    stage->setup_gate =
        (struct lb_gate){.before = remember, .after = forget_answer, .rewrite = rewrite_for_setup};
    stage->control.gate = &stage->setup_gate;
    stage->control.gate_arg = stage;
    int r = plan->strategy->flow->setup(&stage->strategy_plan, &stage->control, err);
    if (r > LB_OK)
        r = lb_fail(err, LB_E_ENV, "setup of %s was refused: %s %s", plan->strategy->name,
                    lb_answer_name(r), stage->control.message);
    if (r == 0 && plan->strategy->shape == LB_QUEUE)
        r = put_items(stage, err);
    stage->control.gate = NULL;
    if (r == 0 && lb_stage_has_programs(stage))
        r = keep_database(stage, err);
    else if (r == 0)
        r = lb_reset_open(&stage->reset, &stage->control, &stage->tables, err);
    if (r == 0)
        r = make_locking(stage, err);
    if (r == 0)
        r = open_keeper(stage, err);
    if (r != 0)
        return r;
    stage->isolation = isolation_of(stage);
    enum lb_isolation level =
        stage->isolation != LB_ISO_DEFAULT ? stage->isolation : stage->db->default_isolation;
    stage->keeps_snapshots = level >= LB_ISO_REPEATABLE_READ;
    stage->tables.reads_lock = stage->isolation == LB_ISO_SERIALIZABLE && !stage->tables.one_writer;
    size_t n = stage->program->n_statements;
    stage->footprints = calloc(n + 1, sizeof *stage->footprints);
    stage->kinds = calloc(n + 1, sizeof *stage->kinds);
    if (stage->footprints == NULL || stage->kinds == NULL)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    find_unmoved_clock(stage);
    stage->are_alike = !plan->distinct && !lb_stage_has_programs(stage) &&
                       plan->relation <= LB_RELATION_TABLES &&
                       ((plan->without & LB_WITHOUT_NAMES) != 0 ||
                        lb_workers_are_alike(stage->program, &stage->tables));
    for (uint32_t i = 0; i < LB_MAX_WORKERS; i++)
        stage->alike[i] = kind_of_player(plan, i);
    stage->skips_locks = stage->tables.one_writer || lb_stage_has_programs(stage);
    for (size_t i = 0; i < n; i++) {
        const char *sql = stage->program->statements[i].sql;
        stage->kinds[i] = lb_footprint_of_sql(&stage->tables, sql, &stage->footprints[i]);
        stage->skips_locks = stage->skips_locks || lb_footprint_skips_locks(sql);
    }
    r = open_rules(stage, err);
    return r == 0 ? open_states(stage, err) : r;
}

static int open_player(struct lb_stage *stage, uint32_t number, struct lb_error *err)
{
    struct lb_player *player = &stage->players[number];
    const struct lb_strategy *strategy = stage->plan.strategy;
    static const char *const roles[] = {"worker 0", "worker 1", "worker 2", "worker 3",
                                        "worker 4", "worker 5", "worker 6", "worker 7"};
    player->stage = stage;
    player->number = number;
    player->role = role_of(&stage->plan, number);
    player->events = calloc(LB_PLAYER_EVENTS, sizeof *player->events);
    player->items = calloc(LB_CLAIM_ROOM, sizeof *player->items);
    stage->n_players = number + 1;
    bool is_told = stage->plan.watch != NULL || stage->states.is_on;
    if (is_told)
        player->story = calloc(1, LB_STORY_BYTES);
    if (player->events == NULL || player->items == NULL || (player->story == NULL) == is_told)
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    struct lb_conn_options options = {.isolation = stage->isolation,
                                      .role = roles[number],
                                      .no_wait = true,
                                      .moves_clock = stage->clock != NULL};
    int r = lb_session_open(&player->session, stage->db, stage->space, &options, err);
    if (r != 0)
        return r;
    player->has_session = true;
    r = lb_stage_begin_session(stage, player, err);
    if (r != 0)
        return r;
    player->session.gate = &stage->gate;
    player->session.gate_arg = player;
    player->actor.plan = &stage->strategy_plan;
    player->actor.session = &player->session;
    player->actor.number = number;
    player->op = (struct lb_operator){.actor = &player->actor,
                                      .log = &player->log,
                                      .process = number,
                                      .n_processes = players_of(&stage->plan) + 1,
                                      .lease_ms = strategy->is_lease ? stage->plan.ttl_ms : 0,
                                      .counts = player->counts};
    r = lb_carrier_add(stage->carrier, play_all, player, err);
    player->is_open = r == 0;
    return r;
}

static int open_carrier(struct lb_stage *stage, uint32_t n_players, struct lb_error *err)
{
    if (!lb_carrier_is_possible())
        return lb_fail(err, LB_E_ENV, "explore needs epoll_pwait2 (Linux 5.11)");
    return lb_carrier_new(n_players, &stage->carrier, err);
}

int lb_stage_open(struct lb_stage *stage, const struct lb_explore_plan *plan, struct lb_error *err)
{
    *stage = (struct lb_stage){
        .plan = *plan, .db = plan->target->db, .n_acting = plan->workers, .rounds = plan->rounds};
    if (plan->cuts > 0 && stage->db->in_process)
        return lb_fail(err, LB_E_USAGE,
                       "option --steps: cut has no meaning on %s, which has no connection to lose",
                       stage->db->product);
    lb_gate_of_stage(&stage->gate);
    if (stage->plan.strategy->shape == LB_QUEUE && stage->plan.items == 0)
        stage->plan.items = plan->workers * plan->rounds * plan->batch;
    uint32_t n_players = players_of(plan);
    stage->n_players = n_players; /* the control operator's number comes after the players' */
    int r = open_carrier(stage, n_players, err);
    if (r == 0)
        r = open_space(stage, err);
    if (r == 0)
        r = set_up(stage, err);
    stage->n_players = 0;
    for (uint32_t i = 0; i < n_players && r == 0; i++)
        r = open_player(stage, i, err);
    stage->is_open = r == 0;
    if (r == 0)
        lb_carrier_turn(stage->carrier, UINT64_MAX); /* each takes its stand */
    return r;
}

static void close_player(struct lb_player *player)
{
    if (player->is_open)
        player->stage->plan.strategy->flow->close(&player->actor);
    if (player->has_session)
        lb_session_close(&player->session);
    free(player->pending.params);
    free(player->events);
    free(player->items);
    free(player->story);
}

int lb_stage_close(struct lb_stage *stage, struct lb_error *err)
{
    lb_stage_dismiss_all(stage);
    stage->is_open = false;
    lb_stage_forget_acts(stage);
    struct lb_error ignored;
    if (lb_stage_has_programs(stage))
        lb_stepped_end_all(stage);
    if (lb_stage_has_programs(stage) && stage->strategy_plan.shared != NULL)
        stage->plan.strategy->flow->teardown(&stage->strategy_plan, &stage->control, &ignored);
    for (uint32_t i = 0; i < stage->n_players; i++)
        close_player(&stage->players[i]);
    if (stage->control_actor.plan != NULL)
        stage->plan.strategy->flow->close(&stage->control_actor);
    lb_reset_close(&stage->reset);
    lb_row_rules_close(&stage->rules);
    lb_states_close(&stage->states);
    if (stage->has_keeper)
        lb_session_close(&stage->keeper);
    if (stage->has_control)
        lb_session_close(&stage->control);
    int r = stage->space != NULL ? stage->db->space_close(stage->space, stage->plan.keep, err) : 0;
    lb_program_free(stage->program);
    free(stage->footprints);
    free(stage->kinds);
    free(stage->control_events);
    free(stage->setup_sql);
    for (size_t i = 0; i < stage->n_texts; i++)
        free(stage->texts[i]);
    free(stage->texts);
    for (size_t i = 0; i < stage->n_rewritten; i++)
        free(stage->rewritten[i].text);
    for (size_t i = 0; i < LB_FOOTPRINT_TABLES; i++)
        free(stage->locking[i]);
    lb_carrier_free(stage->carrier);
    return r;
}
