/* The stage: see stage.h. This file lets players go and waits until all are quiet. */
#include "stage.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

/* How long a statement is given before the engine is asked whether it waits, and between two
 * questions. Neither decides anything: an answer that arrives wins. */
#define FIRST_LOOK_NS UINT64_C(400000)
#define NEXT_LOOK_NS  UINT64_C(100000)
#define AGAIN_NS      UINT64_C(40000000)

static struct lb_player *player_of(struct lb_stage *stage, unsigned move)
{
    return &stage->players[lb_move_worker(move)];
}

static bool can_block(const struct lb_stage *stage)
{
    return !stage->tables.one_writer && stage->db->is_blocked != NULL;
}

/* --- waiting until everyone is quiet --- */

/* Takes note of the players that have stopped. */
static void see_arrivals(struct lb_stage *stage)
{
    for (uint32_t i = 0; i < stage->n_players; i++) {
        struct lb_player *player = &stage->players[i];
        bool acts = player->state == LB_PLAYER_ACTS || player->state == LB_PLAYER_BLOCKED;
        if (acts && player->stands)
            player->state = player->finished ? LB_PLAYER_FINISHED : LB_PLAYER_STANDS;
    }
}

static bool anyone(const struct lb_stage *stage, enum lb_player_state state)
{
    for (uint32_t i = 0; i < stage->n_players; i++)
        if (stage->players[i].state == state)
            return true;
    return false;
}

/* Are all that act waiting for locks? 1, 0, or an error. Players that act at the same time may set
 * each other free while the engine is being asked: only answers with nobody going on in between
 * count. */
static int all_blocked(struct lb_stage *stage, struct lb_error *err)
{
    for (uint32_t i = 0; i < stage->n_players; i++) {
        struct lb_player *player = &stage->players[i];
        if (player->state != LB_PLAYER_ACTS)
            continue;
        int r = stage->db->is_blocked(stage->control.conn, player->session_id, err);
        if (r <= 0)
            return r;
    }
    return lb_carrier_turn(stage->carrier, 0) ? 0 : 1;
}

/* Until every player that acts has stopped, or the time has come. */
static void carry(struct lb_stage *stage, uint64_t until_ns)
{
    do {
        lb_carrier_turn(stage->carrier, until_ns);
        see_arrivals(stage);
    } while (anyone(stage, LB_PLAYER_ACTS) && lb_now_ns() < until_ns);
}

/* Until every player that acts has stopped, or is blocked. */
static int settle(struct lb_stage *stage, uint64_t first_look_ns, struct lb_error *err)
{
    uint64_t look_ns = first_look_ns;
    for (;; look_ns = NEXT_LOOK_NS) {
        carry(stage, can_block(stage) ? lb_now_ns() + look_ns : UINT64_MAX);
        if (!anyone(stage, LB_PLAYER_ACTS))
            return 0;
        int r = all_blocked(stage, err);
        if (r < 0)
            return r;
        for (uint32_t i = 0; r > 0 && i < stage->n_players; i++)
            if (stage->players[i].state == LB_PLAYER_ACTS) {
                stage->players[i].state = LB_PLAYER_BLOCKED;
                stage->players[i].has_waited = true;
            }
    }
}

/* Locks may have been given back: who was blocked may act again. */
static int settle_blocked(struct lb_stage *stage, struct lb_error *err)
{
    uint32_t n_before;
    do {
        uint32_t n_after = 0;
        n_before = 0;
        for (uint32_t i = 0; i < stage->n_players; i++)
            if (stage->players[i].state == LB_PLAYER_BLOCKED) {
                stage->players[i].state = LB_PLAYER_ACTS;
                n_before++;
            }
        int r = n_before > 0 ? settle(stage, stage->tables.scans_lock ? FIRST_LOOK_NS : 0, err) : 0;
        if (r < 0)
            return r;
        for (uint32_t i = 0; i < stage->n_players; i++)
            n_after += stage->players[i].state == LB_PLAYER_BLOCKED;
        if (n_after == n_before)
            return 0;
    } while (n_before > 0); /* those set free may set others free */
    return 0;
}

static void let_go(struct lb_player *player)
{
    player->state = LB_PLAYER_ACTS;
    player->stands = player->has_waited = false;
    lb_carrier_let_go(player->stage->carrier, player->number);
}

/* Ends the player's script where it is; its transaction is rolled back. */
static int dismiss(struct lb_stage *stage, struct lb_player *player, struct lb_error *err)
{
    int r = 0;
    player->give_up = true;
    see_arrivals(stage);
    if (player->state == LB_PLAYER_ACTS || player->state == LB_PLAYER_BLOCKED) {
        /* Only what waits is cancelled: the end of another may have set it free, and then the
         * cancellation would hit its rollback. */
        player->state = LB_PLAYER_ACTS;
        r = settle(stage, 0, err);
        if (player->state == LB_PLAYER_BLOCKED && lb_stage_has_programs(stage))
            lb_stepped_cancel(player);
        else if (player->state == LB_PLAYER_BLOCKED)
            lb_session_cancel(&player->session);
    } else if (player->state == LB_PLAYER_STANDS && !player->in_script) {
        player->state = LB_PLAYER_FINISHED;
    }
    while (player->state != LB_PLAYER_FINISHED) {
        if (player->state == LB_PLAYER_STANDS)
            let_go(player);
        lb_carrier_turn(stage->carrier, UINT64_MAX);
        see_arrivals(stage);
    }
    const char *sql = lb_exploring(stage->db)->session;
    if (r == 0 && sql != NULL && stage->used_advisory && player->session.conn != NULL)
        r = stage->db->run(player->session.conn, sql, err);
    return r < 0 ? r : 0;
}

void lb_stage_dismiss_all(struct lb_stage *stage)
{
    struct lb_error ignored;
    for (uint32_t i = 0; i < stage->n_players; i++)
        if (stage->players[i].is_open && stage->players[i].state != LB_PLAYER_FINISHED)
            dismiss(stage, &stage->players[i], &ignored);
}

/* --- the system --- */

static void reset_player(struct lb_player *player)
{
    const struct lb_stage *stage = player->stage;
    bool is_absent = player->role == LB_ROLE_WORKER && player->number >= stage->n_acting;
    player->state = is_absent ? LB_PLAYER_FINISHED : LB_PLAYER_STANDS;
    player->finished = player->may_go = player->gave_up = player->give_up = false;
    player->is_cut = player->is_lost = false;
    player->has_seen = player->saw_it_outlived = false;
    player->tx_writes = player->tx_locks = 0;
    player->tx_changed = player->tx_is_split = player->tx_keeps_snapshot = false;
    player->try_moves = player->n_refusals = 0;
    player->last_refusal = LB_OK;
    player->story_n = player->story_try = 0;
    player->claims = player->began = 0;
    player->op.process = player->number;
    player->op.holds = player->op.continued = false;
    player->op.log_error = 0;
    player->actor.clock_skew_ms = 0;
    lb_log_in_memory(&player->log, player->number, player->events, LB_PLAYER_EVENTS);
}

static int turn_clock_back(struct lb_stage *stage, struct lb_error *err)
{
    const struct lb_server_clock *clock = stage->clock;
    int r = lb_stage_run_clock(stage, &stage->control,
                               clock->set_back != NULL ? clock->set_back : clock->set, 0, err);
    const char *back = clock->statement_back != NULL ? clock->statement_back : clock->statement;
    if (r == 0)
        r = lb_stage_run_clock(stage, &stage->control, back, 0, err);
    for (uint32_t i = 0; i < stage->n_players && r == 0; i++)
        if (stage->players[i].session.conn != NULL)
            r = lb_stage_run_clock(stage, &stage->players[i].session, back, 0, err);
    return r;
}

static int stage_reset(void *arg, struct lb_error *err)
{
    struct lb_stage *stage = arg;
    int r = lb_stage_has_programs(stage) ? lb_stepped_reset(stage, err)
                                         : lb_reset_run(&stage->reset, stage->written, err);
    if (r == 0 && stage->has_keeper)
        r = stage->db->run(stage->keeper.conn, lb_exploring(stage->db)->keep, err);
    if (r == 0 && stage->clock_is_ahead)
        r = turn_clock_back(stage, err);
    stage->clock_is_ahead = stage->outlived = false;
    for (uint32_t i = 0; i < stage->n_players && r == 0; i++) {
        struct lb_player *player = &stage->players[i];
        if (player->session.conn == NULL) {
            r = lb_session_reconnect(&player->session, err);
            if (r == 0)
                r = lb_stage_begin_session(stage, player, err);
        }
        reset_player(player);
    }
    stage->written = 0;
    stage->used_advisory = false;
    stage->n_moves = 0;
    stage->n_deaths = stage->n_ticks = stage->n_cuts = 0;
    stage->n_before_leases = 0;
    stage->clock_ms = 0;
    stage->n_seen = 0;
    stage->control_log.next = stage->control_events + stage->n_setup_events;
    stage->control_log.n_events = stage->n_setup_events;
    lb_stage_forget_acts(stage);
    return r;
}

static bool may_die(const struct lb_stage *stage, const struct lb_player *player)
{
    return stage->n_deaths < stage->plan.deaths && player->in_script &&
           (player->state == LB_PLAYER_STANDS || player->state == LB_PLAYER_BLOCKED);
}

static bool may_be_cut(const struct lb_stage *stage, const struct lb_player *player)
{
    return stage->n_cuts < stage->plan.cuts && player->state == LB_PLAYER_STANDS &&
           player->in_script && player->next_kind == LB_STEP_COMMIT &&
           player->role != LB_ROLE_BLOCKER;
}

/* How often nobody is to be able to go on before that is believed. MariaDB says that a session
 * waits for GET_LOCK or LOCK TABLES until the session has woken up, which takes as long as it
 * takes. */
static int patience(const struct lb_stage *stage)
{
    return stage->tables.scans_lock ? 50 : 1;
}

static uint32_t stage_enabled(void *arg)
{
    struct lb_stage *stage = arg;
    uint32_t enabled = 0;
    if (!anyone(stage, LB_PLAYER_STANDS) && anyone(stage, LB_PLAYER_BLOCKED)) {
        /* Before it is called a deadlock: ask again. */
        struct lb_error ignored;
        for (int i = 0; i < patience(stage) && !anyone(stage, LB_PLAYER_STANDS); i++) {
            if (i > 0)
                lb_carrier_turn(stage->carrier, lb_now_ns() + AGAIN_NS);
            settle_blocked(stage, &ignored);
        }
    }
    for (uint32_t i = 0; i < stage->n_players; i++) {
        const struct lb_player *player = &stage->players[i];
        if (player->state == LB_PLAYER_STANDS)
            enabled |= 1u << i;
        if (may_die(stage, player))
            enabled |= 1u << (LB_MOVE_DEATH + i);
        if (may_be_cut(stage, player))
            enabled |= 1u << (LB_MOVE_CUT + i);
    }
    if (stage->n_ticks < stage->plan.ticks && stage->n_moves > 0 && enabled != 0)
        enabled |= 1u << LB_MOVE_CLOCK;
    return enabled;
}

static bool stage_finished(void *arg)
{
    const struct lb_stage *stage = arg;
    for (uint32_t i = 0; i < stage->n_players; i++)
        if (stage->players[i].state != LB_PLAYER_FINISHED)
            return false;
    return true;
}

/* Of which items something begins. A claim's are those that it has been answered so far: if it ends
 * with another one, that was wrong. */
static uint64_t objects_begun(struct lb_stage *stage, struct lb_player *player,
                              const struct lb_event *event)
{
    switch (event->op) {
    case LB_OP_CLAIM:
        player->began = stage->is_local && player->claims != 0 ? player->claims : LB_ALL_OBJECTS;
        return player->began;
    case LB_OP_COMPLETE:
        return lb_object_of(stage, event->value);
    default:
        return LB_ALL_OBJECTS;
    }
}

static uint64_t objects_ended(struct lb_stage *stage, struct lb_player *player,
                              const struct lb_event *event, uint64_t claimed)
{
    switch (event->op) {
    case LB_OP_CLAIM:
        if (event->type != LB_EV_OK)
            return LB_ALL_OBJECTS;
        stage->doubts = stage->doubts || (claimed & ~player->began) != 0;
        return claimed;
    case LB_OP_COMPLETE:
        return lb_object_of(stage, event->value);
    default:
        return LB_ALL_OBJECTS;
    }
}

/* What the history sees of this player's part in the move. An operation that began and was refused
 * in it is not seen. The times are moved on by the steps of the clock; for people, when nothing
 * depends on them, they are numbers of steps. */
static void look_at_events(struct lb_stage *stage, struct lb_player *player)
{
    uint64_t begun = 0, claimed = 0;
    for (size_t i = player->n_events_before; i < player->log.n_events; i++) {
        struct lb_event *event = &player->events[i];
        event->time_ns += (uint64_t)stage->clock_ms * 1000000u;
        if (stage->counts_steps)
            event->time_ns = stage->start_ns + (stage->n_moves + 1) * LB_STEP_NS + stage->n_seen++;
        if (event->op == LB_OP_ITEM)
            claimed |= lb_object_of(stage, event->value);
        if (event->type == LB_EV_INVOKE) /* with those of its batch before it */
            begun |= objects_begun(stage, player, event);
        if (event->type == LB_EV_FAIL)
            begun &= event->op == LB_OP_COMPLETE ? ~lb_object_of(stage, event->value) : 0;
        if (event->type == LB_EV_OK || event->type == LB_EV_INFO) {
            player->touched.ends |= objects_ended(stage, player, event, claimed);
            player->touched.begins |= begun;
            begun = 0;
        }
    }
    player->touched.begins |= begun;
    if ((stage->plan.without & LB_WITHOUT_REAL_TIME) != 0)
        player->touched.begins = player->touched.ends = 0;
    if ((stage->plan.without & LB_WITHOUT_COMMITS) != 0)
        player->touched.commits = 0;
}

/* A try of the player was refused. Moves of others that came to nothing do not disturb it. */
static void take_refusal(struct lb_stage *stage, struct lb_player *player, struct lb_refused *ret)
{
    *ret = player->refused;
    if (ret->trace == LB_TRACE_LOCKS && !stage->skips_locks)
        ret->trace = LB_TRACE_NOTHING; /* others can only have waited */
    for (size_t i = ret->first; i <= stage->n_moves; i++)
        if (stage->moves[i] != player->number && !stage->idle[i])
            ret->is_own = false;
    if (!lb_refused_is_void(ret)) {
        player->n_refusals++;
        return;
    }
    for (size_t i = ret->first; i <= stage->n_moves && ret->is_own; i++)
        stage->idle[i] = true;
}

static void collect(struct lb_stage *stage, struct lb_player *player, bool is_mover,
                    struct lb_moved *ret)
{
    stage->written |= player->touched.writes | player->touched.commits;
    look_at_events(stage, player);
    lb_footprint_add(&ret->touched, &player->touched);
    ret->answer =
        (ret->answer ^ player->digest ^ (uint64_t)player->state) * UINT64_C(0x9e3779b97f4a7c15);
    if (player->refused.is_refused)
        take_refusal(stage, player, &ret->refused[player->number]);
    if (((player->touched.reads | player->touched.writes) & LB_BIT_ADVISORY) != 0)
        stage->used_advisory = true;
    stage->n_acts_total += player->n_executed;
    lb_stage_take_acts(stage, player, !is_mover);
}

/* Is the one thing that happened in the move that its mover queued up for a table's lock? */
static bool only_queues(const struct lb_stage *stage, const struct lb_player *mover)
{
    struct lb_footprint touches;
    struct lb_act pending;
    uint32_t touched = mover->touched.reads | mover->touched.writes | mover->touched.commits;
    if (stage->unreduced || mover->state != LB_PLAYER_BLOCKED || touched != 0 ||
        mover->tx_keeps_snapshot)
        return false;
    lb_player_pending(mover, &touches, &pending);
    free(pending.params);
    return touches.queues;
}

/* A statement that is blocked has no answer yet: what it may touch stands for what it touches. */
static void note_blocked(struct lb_stage *stage, struct lb_player *player, struct lb_moved *ret)
{
    if (player->state != LB_PLAYER_BLOCKED || player->was_blocked)
        return;
    struct lb_footprint touches;
    struct lb_act pending;
    lb_player_pending(player, &touches, &pending);
    if (player->tx_keeps_snapshot) /* which has been taken */
        touches.reads |= LB_ALL_TABLES;
    lb_footprint_add(&ret->touched, &touches);
    ret->touched.blocks = true;
    stage->written |= touches.writes;
    pending.move = (uint16_t)stage->n_moves;
    if (stage->details && stage->n_acts < LB_MAX_ACTS)
        stage->acts[stage->n_acts++] = pending;
    else
        free(pending.params);
}

static void die(struct lb_stage *stage, struct lb_player *player)
{
    uint64_t now_ns = stage->counts_steps
                          ? stage->start_ns + (stage->n_moves + 1) * LB_STEP_NS + stage->n_seen
                          : lb_now_ns() + (uint64_t)stage->clock_ms * 1000000u;
    stage->n_seen += 2;
    struct lb_event note = {.time_ns = now_ns,
                            .process = stage->n_players,
                            .arg = player->number,
                            .op = LB_OP_DEATH,
                            .type = LB_EV_NOTE};
    lb_log_append(&stage->control_log, &note);
    note.op = LB_OP_SESSION_END;
    note.time_ns++;
    lb_log_append(&stage->control_log, &note);
}

int lb_stage_run_clock(struct lb_stage *stage, struct lb_session *session, const char *format,
                       int64_t n, struct lb_error *err)
{
    char sql[1000];
    if (format == NULL)
        return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sql, sizeof sql, format, (long long)n);
#pragma GCC diagnostic pop
    int r = stage->db->run(session->conn, sql, err);
    return r > LB_OK ? lb_fail(err, LB_E_ENV, "the server's clock cannot be moved: %s",
                               lb_conn_head(session->conn)->message)
                     : r;
}

const char *lb_stage_native(struct lb_stage *stage, const char *native)
{
    if (stage->clock == NULL || stage->clock->words == NULL)
        return native;
    for (size_t i = 0; i < stage->n_rewritten; i++)
        if (stage->rewritten[i].native == native)
            return stage->rewritten[i].text;
    char *text = stage->n_rewritten < LB_REWRITTEN
                     ? lb_clock_rewrite(stage->clock, native, 2 * (int64_t)stage->plan.ttl_ms)
                     : NULL;
    if (text == NULL)
        return native;
    stage->rewritten[stage->n_rewritten++] = (struct lb_rewritten){native, text};
    return text;
}

/* Somebody has died, or was not told what came of its commit: leases run from now. */
static void leases_begin(struct lb_stage *stage)
{
    stage->outlived = false;
    stage->n_before_leases = stage->n_moves + 1;
    for (uint32_t i = 0; i < stage->n_players; i++)
        stage->players[i].has_seen = stage->players[i].saw_it_outlived = false;
}

static void leases_end(struct lb_stage *stage)
{
    stage->outlived = true;
    for (uint32_t i = 0; i < stage->n_players; i++)
        stage->players[i].saw_it_outlived = stage->players[i].has_seen;
}

static int tick(struct lb_stage *stage, struct lb_error *err)
{
    stage->n_ticks++;
    leases_end(stage);
    /* Twice: the judge allows for clocks that run at different rates. */
    stage->clock_ms += 2 * (int64_t)stage->plan.ttl_ms;
    for (uint32_t i = 0; i < stage->n_players; i++)
        stage->players[i].actor.clock_skew_ms = stage->clock_ms;
    if (stage->clock == NULL)
        return 0;
    stage->clock_is_ahead = true;
    int r = lb_stage_run_clock(stage, &stage->control, stage->clock->set, stage->clock_ms, err);
    return r != 0 ? r
                  : lb_stage_run_clock(stage, &stage->control, stage->clock->statement,
                                       stage->clock_ms, err);
}

static int act(struct lb_stage *stage, unsigned move, struct lb_error *err)
{
    if (move == LB_MOVE_CLOCK)
        return tick(stage, err);
    struct lb_player *player = player_of(stage, move);
    if (lb_move_is_death(move)) {
        stage->n_deaths++;
        leases_begin(stage);
        int r = dismiss(stage, player, err);
        die(stage, player);
        return r;
    }
    bool ends = player->next_kind == LB_STEP_COMMIT || player->next_kind == LB_STEP_ROLLBACK;
    if (ends && player->tx_writes != 0 && !player->tx_failed && lb_player_tells_rows(player))
        lb_player_ask_rows(player);
    player->may_go = true;
    player->is_cut = move >= LB_MOVE_CUT;
    if (player->is_cut) {
        stage->n_cuts++;
        leases_begin(stage);
    }
    if (player->try_moves++ == 0)
        player->try_first = stage->n_moves;
    let_go(player);
    return settle(stage, FIRST_LOOK_NS, err);
}

/* Did several wait at the same time, and one of them go on? */
static bool had_choice(const struct lb_stage *stage, const struct lb_player *mover)
{
    unsigned n_waited = 0, n_went_on = 0;
    for (uint32_t i = 0; i < stage->n_players; i++) {
        const struct lb_player *player = &stage->players[i];
        if (!player->was_blocked && !(player == mover && player->has_waited))
            continue;
        n_waited++;
        n_went_on += player->state != LB_PLAYER_BLOCKED;
    }
    return n_waited >= 2 && n_went_on > 0;
}

/* Somebody else has ended it: with what it held gone, no verdict could be believed. */
static bool has_lost_session(const struct lb_player *player, bool has_moved)
{
    has_moved = has_moved || (player->was_blocked && player->state != LB_PLAYER_BLOCKED);
    return has_moved && player->session.conn == NULL && !player->give_up;
}

static int stage_move(void *arg, unsigned move, struct lb_moved *ret, struct lb_error *err)
{
    struct lb_stage *stage = arg;
    struct lb_player *mover = move == LB_MOVE_CLOCK ? NULL : player_of(stage, move);
    for (uint32_t i = 0; i < stage->n_players; i++) {
        struct lb_player *player = &stage->players[i];
        player->touched = (struct lb_footprint){0};
        player->owed = NULL;
        player->refused.is_refused = player->may_free = false;
        player->digest = player->number;
        player->n_events_before = player->log.n_events;
        player->n_executed = 0;
        player->was_blocked = player->state == LB_PLAYER_BLOCKED;
        player->held = player->tx_locks;
    }
    bool had_blocked = anyone(stage, LB_PLAYER_BLOCKED);
    if (mover != NULL)
        mover->own = (struct lb_own_rows){.n = 0};
    stage->again = ret->is_again;
    stage->moves[stage->n_moves] = (uint8_t)move;
    stage->idle[stage->n_moves] = false;
    int r = act(stage, move, err);
    if (r == 0 && (mover == NULL || move >= LB_MOVE_DEATH || mover->may_free) &&
        anyone(stage, LB_PLAYER_BLOCKED))
        r = settle_blocked(stage, err);
    if (r != 0)
        return r;
    if (move >= LB_MOVE_DEATH) /* or the clock, or a cut */
        ret->touched = (struct lb_footprint){.reads = LB_TOUCHES_ALL,
                                             .writes = LB_TOUCHES_ALL,
                                             .commits = LB_TOUCHES_ALL,
                                             .begins = LB_ALL_OBJECTS,
                                             .ends = LB_ALL_OBJECTS};
    if (mover != NULL) {
        lb_player_tell_rows(mover);
        collect(stage, mover, true, ret);
    }
    if (had_blocked) /* in which order locks are given back decides who gets them first */
        ret->touched.reads |= ret->touched.commits;
    bool is_alone = mover != NULL && move < LB_MOVE_DEATH;
    for (uint32_t i = 0; i < stage->n_players; i++) {
        struct lb_player *player = &stage->players[i];
        if (player != mover && player->was_blocked && player->state != LB_PLAYER_BLOCKED) {
            collect(stage, player, false, ret);
            is_alone = false;
        }
    }
    for (uint32_t i = 0; i < stage->n_players; i++) {
        struct lb_player *player = &stage->players[i];
        note_blocked(stage, player, ret);
        is_alone = is_alone &&
                   (player == mover || player->was_blocked == (player->state == LB_PLAYER_BLOCKED));
        if (player->error.code != 0) {
            *err = player->error;
            player->error.code = 0;
            return err->code;
        }
        if (has_lost_session(player, player == mover && move < LB_MOVE_DEATH))
            return lb_fail(err, LB_E_ENV, "worker %u has lost its connection: %s", i,
                           player->session.message);
    }
    if (!is_alone || had_blocked) /* who waits may be waiting for any row */
        ret->touched.by_row = 0;
    if (is_alone && ret->touched.writes != LB_TOUCHES_ALL) {
        ret->touched.holds = mover->held & mover->tx_locks;
        ret->touched.queues = only_queues(stage, mover);
    }
    ret->is_choice = had_choice(stage, mover);
    stage->n_moves++;
    return 0;
}

static int stage_end(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err)
{
    struct lb_stage *stage = arg;
    int r = 0;
    unsigned stuck = ending == LB_END_STUCK ? lb_stage_stuck(stage, waiting) : 0;
    for (uint32_t i = 0; i < stage->n_players; i++)
        if (stage->players[i].gave_up && ending != LB_END_PRUNED) {
            stage->n_given_up++;
            break;
        }
    size_t n_events[LB_MAX_WORKERS];
    for (uint32_t i = 0; i < stage->n_players; i++)
        n_events[i] = stage->players[i].log.n_events;
    for (uint32_t i = 0; i < stage->n_players && r == 0; i++)
        if (stage->players[i].state != LB_PLAYER_FINISHED || stage->used_advisory)
            r = dismiss(stage, &stage->players[i], err);
    if (r != 0 || ending == LB_END_PRUNED)
        return r;
    /* What the dismissed did on their way out is not part of the schedule. */
    for (uint32_t i = 0; i < stage->n_players; i++)
        stage->players[i].log.n_events = n_events[i];
    char *state = NULL; /* before the judge drains a queue */
    if (stage->plan.watch != NULL)
        r = lb_stage_describe(stage, &state, err);
    if (r == 0)
        r = lb_stage_judge(stage, ending != LB_END_CUT, err);
    if (r >= 0 && state != NULL)
        stage->plan.watch->ended(stage->plan.watch->arg, state, r | (int)stuck);
    free(state);
    return r < 0 ? r : r | (int)stuck;
}

const struct lb_system lb_stage_system = {.reset = stage_reset,
                                          .enabled = stage_enabled,
                                          .finished = stage_finished,
                                          .move = stage_move,
                                          .end = stage_end,
                                          .state = lb_stage_state};
