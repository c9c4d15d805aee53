/* The testbed: see testbed.h. This file lets tasks go and waits until all are quiet. */
#include "testbed.h"

#include "clock.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* How long a statement is given before the engine is asked whether it waits, and between two
 * questions. Neither decides anything: an answer that arrives wins. */
#define FIRST_LOOK_NS UINT64_C(400000)
#define NEXT_LOOK_NS  UINT64_C(100000)
#define AGAIN_NS      UINT64_C(40000000)

static struct lb_task *task_of(struct lb_testbed *testbed, unsigned move)
{
    return &testbed->tasks[lb_move_worker(move)];
}

static bool can_block(const struct lb_testbed *testbed)
{
    return !testbed->tables.one_writer && testbed->db->is_blocked != NULL;
}

/* --- waiting until everyone is quiet --- */

/* Takes note of the tasks that have stopped. */
static void see_arrivals(struct lb_testbed *testbed)
{
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        struct lb_task *task = &testbed->tasks[i];
        bool records = task->state == LB_TASK_RUNS || task->state == LB_TASK_BLOCKED;
        if (records && task->stands)
            task->state = task->finished ? LB_TASK_FINISHED : LB_TASK_STANDS;
    }
}

static bool anyone(const struct lb_testbed *testbed, enum lb_task_state state)
{
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        if (testbed->tasks[i].state == state)
            return true;
    return false;
}

/* Returns 1 if all running tasks wait for locks, 0 if not, or an error. Tasks that run at the same
 * time may release each other during the query: an answer counts only if no task went on
 * meanwhile. */
static int all_blocked(struct lb_testbed *testbed, struct lb_error *err)
{
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        struct lb_task *task = &testbed->tasks[i];
        if (task->state != LB_TASK_RUNS)
            continue;
        int r = testbed->db->is_blocked(testbed->control.conn, task->session_id, err);
        if (r <= 0)
            return r;
    }
    return lb_carrier_turn(testbed->carrier, 0) ? 0 : 1;
}

/* Until every task that runs has stopped, or the time has come. */
static void carry(struct lb_testbed *testbed, uint64_t until_ns)
{
    do {
        lb_carrier_turn(testbed->carrier, until_ns);
        see_arrivals(testbed);
    } while (anyone(testbed, LB_TASK_RUNS) && lb_now_ns() < until_ns);
}

/* Until every task that runs has stopped, or is blocked. */
static int settle(struct lb_testbed *testbed, uint64_t first_look_ns, struct lb_error *err)
{
    uint64_t look_ns = first_look_ns, patience_ends_ns = 0;
    for (;; look_ns = NEXT_LOOK_NS) {
        carry(testbed, can_block(testbed) ? lb_now_ns() + look_ns : UINT64_MAX);
        if (!anyone(testbed, LB_TASK_RUNS))
            return 0;
        int r = all_blocked(testbed, err);
        if (r > 0) {
            r = lb_testbed_look_for_strangers(testbed, &patience_ends_ns, err);
            r = r < 0 ? r : !r;
        }
        if (r < 0)
            return r;
        for (uint32_t i = 0; r > 0 && i < testbed->n_tasks; i++)
            if (testbed->tasks[i].state == LB_TASK_RUNS) {
                testbed->tasks[i].state = LB_TASK_BLOCKED;
                testbed->tasks[i].has_waited = true;
            }
    }
}

/* Locks may have been given back: a blocked task may run again. */
static int settle_blocked(struct lb_testbed *testbed, struct lb_error *err)
{
    uint32_t n_before;
    do {
        uint32_t n_after = 0;
        n_before = 0;
        for (uint32_t i = 0; i < testbed->n_tasks; i++)
            if (testbed->tasks[i].state == LB_TASK_BLOCKED) {
                testbed->tasks[i].state = LB_TASK_RUNS;
                n_before++;
            }
        int r =
            n_before > 0 ? settle(testbed, testbed->tables.scans_lock ? FIRST_LOOK_NS : 0, err) : 0;
        if (r < 0)
            return r;
        for (uint32_t i = 0; i < testbed->n_tasks; i++)
            n_after += testbed->tasks[i].state == LB_TASK_BLOCKED;
        if (n_after == n_before)
            return 0;
    } while (n_before > 0); /* those set free may set others free */
    return 0;
}

static void let_go(struct lb_task *task)
{
    task->state = LB_TASK_RUNS;
    task->stands = task->has_waited = task->is_in_line = false;
    lb_carrier_let_go(task->testbed->carrier, task->number);
}

/* Ends the task's script where it is; its transaction is rolled back. */
static int dismiss(struct lb_testbed *testbed, struct lb_task *task, struct lb_error *err)
{
    int r = 0;
    task->give_up = true;
    see_arrivals(testbed);
    if (task->state == LB_TASK_RUNS || task->state == LB_TASK_BLOCKED) {
        /* Only what waits is cancelled: the end of another may have set it free, and then the
         * cancellation would hit its rollback. */
        task->state = LB_TASK_RUNS;
        testbed->is_leaving = true;
        r = settle(testbed, 0, err);
        testbed->is_leaving = false;
        if (task->state == LB_TASK_BLOCKED && lb_testbed_has_programs(testbed))
            lb_stepped_cancel(task);
        else if (task->state == LB_TASK_BLOCKED)
            lb_session_cancel(&task->session);
    } else if (task->state == LB_TASK_STANDS && !task->in_script) {
        task->state = LB_TASK_FINISHED;
    }
    while (task->state != LB_TASK_FINISHED) {
        if (task->state == LB_TASK_STANDS)
            let_go(task);
        lb_carrier_turn(testbed->carrier, UINT64_MAX);
        see_arrivals(testbed);
    }
    const char *sql = lb_exploring(testbed->db)->session;
    if (r == 0 && sql != NULL && testbed->used_advisory && task->session.conn != NULL)
        r = testbed->db->run(task->session.conn, sql, err);
    return r < 0 ? r : 0;
}

void lb_testbed_dismiss_all(struct lb_testbed *testbed)
{
    struct lb_error ignored;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        if (testbed->tasks[i].is_open && testbed->tasks[i].state != LB_TASK_FINISHED)
            dismiss(testbed, &testbed->tasks[i], &ignored);
}

/* --- the system --- */

static void reset_task(struct lb_task *task)
{
    const struct lb_testbed *testbed = task->testbed;
    bool is_absent = task->role == LB_ROLE_WORKER && task->number >= testbed->n_running;
    task->state = is_absent ? LB_TASK_FINISHED : LB_TASK_STANDS;
    task->finished = task->may_go = task->gave_up = task->give_up = false;
    task->is_cut = task->is_lost = task->has_tried = false;
    task->has_seen = task->saw_it_outlived = false;
    task->n_vain = 0;
    task->tx_writes = task->tx_locks = task->try_moves = task->n_refusals = 0;
    task->tx_found = task->tx_changed = task->tx_is_split = task->tx_keeps_snapshot = false;
    task->own_is_last = task->has_tables = false;
    task->n_user_locks = 0;
    task->last_refusal = LB_OK;
    task->story_n = task->story_try = 0;
    task->claims = task->began = task->actor.runner.n_parted = 0;
    task->op.process = task->number;
    task->op.holds = task->op.continued = task->has_it = false;
    task->op.log_error = 0;
    task->actor.clock_skew_ms = lb_task_skew_ms(task);
    lb_log_in_memory(&task->log, task->number, task->events, LB_TASK_EVENTS);
    task->n_events_seen = 0;
}

static int testbed_reset(void *arg, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    int r = 0; /* locks of the workers' own are held up to here */
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++)
        if (testbed->plan.apart && testbed->tasks[i].session.conn != NULL)
            r = lb_session_rollback(&testbed->tasks[i].session, err);
    if (r < 0)
        return r;
    r = lb_testbed_has_programs(testbed) ? lb_stepped_reset(testbed, err)
                                         : lb_reset_run(&testbed->reset, testbed->written, err);
    if (r == LB_E_ENV)
        r = lb_testbed_name_holders(testbed, err);
    if (r == 0 && testbed->has_snapshot)
        r = testbed->db->run(testbed->snapshot.conn, lb_exploring(testbed->db)->keep, err);
    if (r == 0 && testbed->clock_is_ahead)
        r = lb_testbed_turn_clock_back(testbed, err);
    testbed->clock_is_ahead = testbed->outlived = false;
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++) {
        struct lb_task *task = &testbed->tasks[i];
        if (task->session.conn == NULL) {
            r = lb_session_reconnect(&task->session, err);
            if (r == 0)
                r = lb_testbed_begin_session(testbed, task, err);
        }
        reset_task(task);
    }
    testbed->written = 0;
    testbed->used_advisory = false;
    testbed->n_moves = 0;
    testbed->n_deaths = testbed->n_ticks = testbed->n_cuts = 0;
    testbed->n_before_leases = 0;
    testbed->clock_ms = 0;
    testbed->n_seen = 0;
    testbed->control_log.next = testbed->control_events + testbed->n_setup_events;
    testbed->control_log.n_events = testbed->n_setup_events;
    lb_testbed_forget_records(testbed);
    return r;
}

static bool may_die(const struct lb_testbed *testbed, const struct lb_task *task)
{
    return testbed->n_deaths < testbed->plan.deaths && task->in_script &&
           task->role != LB_ROLE_LATE &&
           (task->state == LB_TASK_STANDS || task->state == LB_TASK_BLOCKED);
}

static bool may_be_cut(const struct lb_testbed *testbed, const struct lb_task *task)
{
    return testbed->n_cuts < testbed->plan.cuts && task->state == LB_TASK_STANDS &&
           task->in_script && task->next_kind == LB_STEP_COMMIT && task->role != LB_ROLE_BLOCKER &&
           task->role != LB_ROLE_LATE;
}

/* The late worker that is next, once all others have ended: each claims, and then each completes.
 * Number n_tasks: none. */
static uint32_t next_late(const struct lb_testbed *testbed)
{
    uint32_t next = testbed->n_tasks;
    for (uint32_t i = testbed->n_tasks; i-- > 0;) {
        const struct lb_task *task = &testbed->tasks[i];
        if (task->role != LB_ROLE_LATE && task->state != LB_TASK_FINISHED)
            return testbed->n_tasks;
        bool is_first =
            next == testbed->n_tasks || !task->has_tried || testbed->tasks[next].has_tried;
        if (task->role == LB_ROLE_LATE && task->state == LB_TASK_STANDS && is_first)
            next = i;
    }
    return next;
}

/* How often the engine must report that no task can go on before this counts. MariaDB reports that
 * a session waits for GET_LOCK or LOCK TABLES until the session has woken up, which takes an
 * unknown time. */
static int patience(const struct lb_testbed *testbed)
{
    return testbed->tables.scans_lock ? 50 : 1;
}

static uint32_t testbed_enabled(void *arg)
{
    struct lb_testbed *testbed = arg;
    uint32_t enabled = 0;
    if (!anyone(testbed, LB_TASK_STANDS) && anyone(testbed, LB_TASK_BLOCKED)) {
        /* Before it is called a deadlock: ask again. */
        struct lb_error ignored;
        for (int i = 0; i < patience(testbed) && !anyone(testbed, LB_TASK_STANDS); i++) {
            if (i > 0)
                lb_carrier_turn(testbed->carrier, lb_now_ns() + AGAIN_NS);
            settle_blocked(testbed, &ignored);
        }
    }
    const uint32_t late = testbed->plan.late > 0 ? next_late(testbed) : testbed->n_tasks;
    if (late < testbed->n_tasks)
        return 1u << late;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        const struct lb_task *task = &testbed->tasks[i];
        if (task->state == LB_TASK_STANDS && task->role != LB_ROLE_LATE)
            enabled |= 1u << i;
        if (may_die(testbed, task))
            enabled |= 1u << (LB_MOVE_DEATH + i);
        if (may_be_cut(testbed, task))
            enabled |= 1u << (LB_MOVE_CUT + i);
    }
    if (enabled != 0 && lb_testbed_may_tick(testbed))
        enabled |= 1u << LB_MOVE_CLOCK;
    return enabled;
}

static bool testbed_finished(void *arg)
{
    const struct lb_testbed *testbed = arg;
    return !anyone(testbed, LB_TASK_STANDS) && !anyone(testbed, LB_TASK_RUNS) &&
           !anyone(testbed, LB_TASK_BLOCKED);
}

static uint32_t testbed_holders(void *arg)
{
    const struct lb_testbed *testbed = arg;
    uint32_t holders = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        holders |= testbed->tasks[i].has_it ? 1u << i : 0;
    return holders;
}

/* Of which items something begins. A claim's are those that it has been answered so far: if it ends
 * with another one, that was wrong. */
static uint64_t objects_begun(struct lb_testbed *testbed, struct lb_task *task,
                              const struct lb_event *event)
{
    switch (event->op) {
    case LB_OP_CLAIM:
        task->began = testbed->is_local && task->claims != 0 ? task->claims : LB_ALL_OBJECTS;
        return task->began;
    case LB_OP_COMPLETE:
        return lb_object_of(testbed, event->value);
    default:
        return LB_ALL_OBJECTS;
    }
}

static uint64_t objects_ended(struct lb_testbed *testbed, struct lb_task *task,
                              const struct lb_event *event, uint64_t claimed)
{
    switch (event->op) {
    case LB_OP_CLAIM:
        if (event->type != LB_EV_OK)
            return LB_ALL_OBJECTS;
        testbed->doubts = testbed->doubts || (claimed & ~task->began) != 0;
        return claimed;
    case LB_OP_COMPLETE:
        return lb_object_of(testbed, event->value);
    default:
        return LB_ALL_OBJECTS;
    }
}

/* A refused acquire of a worker that dies later shows that it was still in line. */
static bool is_in_line(const struct lb_testbed *testbed, enum lb_op op)
{
    return op == LB_OP_ACQUIRE && testbed->plan.deaths + testbed->plan.cuts > 0 &&
           (testbed->plan.strategy->claims & LB_G_BIT(LB_G_FIFO)) != 0;
}

/* True if the judge uses the begin of a failed operation. A release that fails, or a refused
 * renewal, ends the hold. */
static bool is_judged(const struct lb_testbed *testbed, const struct lb_event *event)
{
    if (event->op == LB_OP_RELEASE)
        return true;
    return event->op == LB_OP_RENEW ? event->answer == LB_REFUSED : is_in_line(testbed, event->op);
}

/* What the history sees of this task's part in the move. An operation that began and was refused
 * in it is not seen, except where the judge uses it. The times are moved on by the steps of the
 * clock; for people, when nothing depends on them, they are numbers of steps. */
static void look_at_events(struct lb_testbed *testbed, struct lb_task *task)
{
    uint64_t begun = 0, claimed = 0;
    for (size_t i = task->n_events_seen; i < task->log.n_events; i++) {
        struct lb_event *event = &task->events[i];
        event->time_ns += (uint64_t)testbed->clock_ms * 1000000u;
        if (testbed->counts_steps)
            event->time_ns =
                testbed->start_ns + (testbed->n_moves + 1) * LB_STEP_NS + testbed->n_seen++;
        if (event->op == LB_OP_ITEM)
            claimed |= lb_object_of(testbed, event->value);
        if (event->type == LB_EV_INVOKE) /* with those of its batch before it */
            begun |= objects_begun(testbed, task, event);
        if (event->type == LB_EV_FAIL && !is_judged(testbed, event))
            begun &= event->op == LB_OP_COMPLETE ? ~lb_object_of(testbed, event->value) : 0;
        if (event->type == LB_EV_OK || event->type == LB_EV_INFO) {
            task->touched.ends |= objects_ended(testbed, task, event, claimed);
            task->touched.begins |= begun;
            begun = 0;
        }
    }
    task->n_events_seen = task->log.n_events;
    task->touched.begins |= begun;
    if ((testbed->plan.without & LB_WITHOUT_REAL_TIME) != 0)
        task->touched.begins = task->touched.ends = 0;
    if ((testbed->plan.without & LB_WITHOUT_COMMITS) != 0)
        task->touched.commits = 0;
}

/* A try of the task was refused. Moves of others without effect do not disturb it. */
static void take_refusal(struct lb_testbed *testbed, struct lb_task *task, struct lb_refused *ret)
{
    *ret = task->refused;
    ret->is_shown = is_in_line(testbed, task->op.last);
    ret->touched.begins = LB_ALL_OBJECTS;
    if (ret->trace == LB_TRACE_LOCKS && !testbed->skips_locks)
        ret->trace = LB_TRACE_NOTHING; /* others can only have waited */
    for (size_t i = ret->first; i <= testbed->n_moves; i++)
        ret->is_own = ret->is_own && (testbed->moves[i] == task->number || testbed->idle[i]);
    if (!lb_refused_is_void(ret)) {
        task->n_refusals++;
        return;
    }
    for (size_t i = ret->first; i <= testbed->n_moves && ret->is_own; i++)
        testbed->idle[i] = true;
    if (task->op.last != LB_OP_RELEASE)
        return;
    /* The search runs the moves of others behind this try only. For the judge a hold ends when its
     * release begins, whatever the answer: with this try in the history no move of others would be
     * seen within the hold. The schedule without the try has the same history as this one. */
    task->log.n_events = task->try_event = task->refused_event; /* the next try has begun */
    task->log.next = task->events + task->refused_event;
    if (task->n_events_seen > task->refused_event)
        task->n_events_seen = task->refused_event;
}

static void collect(struct lb_testbed *testbed, struct lb_task *task, bool is_mover,
                    struct lb_moved *ret)
{
    testbed->written |= task->touched.writes | task->touched.commits;
    if (task->refused.is_refused)
        take_refusal(testbed, task, &ret->refused[task->number]);
    look_at_events(testbed, task);
    lb_footprint_add(&ret->touched, &task->touched);
    ret->answer =
        (ret->answer ^ task->digest ^ (uint64_t)task->state) * UINT64_C(0x9e3779b97f4a7c15);
    ret->told = (ret->told ^ task->told) * UINT64_C(0x9e3779b97f4a7c15);
    if (((task->touched.reads | task->touched.writes) & LB_BIT_ADVISORY) != 0)
        testbed->used_advisory = true;
    testbed->n_records_total += task->n_executed;
    lb_testbed_take_records(testbed, task, !is_mover);
}

/* Is the one thing that happened in the move that its mover queued up for a table's lock? */
static bool only_queues(const struct lb_testbed *testbed, const struct lb_task *mover)
{
    uint32_t touched = mover->touched.reads | mover->touched.writes | mover->touched.commits;
    return !testbed->unreduced && mover->state == LB_TASK_BLOCKED && touched == 0 &&
           !mover->tx_keeps_snapshot && lb_task_pending(mover).queues;
}

/* A statement that is blocked has no answer yet: the tables that it may touch count as touched. */
static void note_blocked(struct lb_testbed *testbed, struct lb_task *task, struct lb_moved *ret)
{
    if (task->state != LB_TASK_BLOCKED || task->was_blocked)
        return;
    struct lb_footprint touches = lb_task_pending(task);
    task->is_in_line = touches.queues && lb_exploring(testbed->db)->queues_in_order;
    if (task->tx_keeps_snapshot) /* which has been taken */
        touches.reads |= LB_ALL_TABLES;
    lb_footprint_add(&ret->touched, &touches);
    ret->touched.blocks = true;
    testbed->written |= touches.writes;
    if (!testbed->details || testbed->n_records == LB_MAX_RECORDS)
        return;
    struct lb_step_record *record = &testbed->records[testbed->n_records++];
    *record = task->pending;
    record->params = record->params != NULL ? lb_strdup(record->params) : NULL;
    record->move = (uint16_t)testbed->n_moves;
    record->was_blocked = true;
}

static void die(struct lb_testbed *testbed, struct lb_task *task)
{
    uint64_t now_ns =
        testbed->counts_steps
            ? testbed->start_ns + (testbed->n_moves + 1) * LB_STEP_NS + testbed->n_seen
            : lb_now_ns() + (uint64_t)testbed->clock_ms * 1000000u;
    testbed->n_seen += 2;
    struct lb_event note = {.time_ns = now_ns,
                            .process = testbed->n_tasks,
                            .arg = task->number,
                            .op = LB_OP_DEATH,
                            .type = LB_EV_NOTE};
    lb_log_append(&testbed->control_log, &note);
    note.op = LB_OP_SESSION_END;
    note.time_ns++;
    lb_log_append(&testbed->control_log, &note);
}

static int make(struct lb_testbed *testbed, unsigned move, struct lb_error *err)
{
    if (move == LB_MOVE_CLOCK)
        return lb_testbed_tick(testbed, err);
    struct lb_task *task = task_of(testbed, move);
    if (lb_move_is_death(move)) {
        testbed->n_deaths++;
        lb_testbed_begin_leases(testbed);
        int r = dismiss(testbed, task, err);
        die(testbed, task);
        return r;
    }
    bool ends = task->next_kind == LB_STEP_COMMIT || task->next_kind == LB_STEP_ROLLBACK;
    if (ends && task->tx_writes != 0 && !task->tx_failed && !task->own_is_last &&
        lb_task_tells_rows(task))
        lb_task_ask_rows(task);
    task->may_go = true;
    task->is_cut = move >= LB_MOVE_CUT;
    if (task->is_cut) {
        testbed->n_cuts++;
        lb_testbed_begin_leases(testbed);
    }
    if (task->try_moves++ == 0)
        task->try_first = testbed->n_moves;
    let_go(task);
    return settle(testbed, FIRST_LOOK_NS, err);
}

/* Did several wait at the same time, and one of them go on that need not be the first? */
static bool had_choice(const struct lb_testbed *testbed, const struct lb_task *mover)
{
    unsigned n_waited = 0, n_went_on = 0, n_in_line = 0;
    for (const struct lb_task *t = testbed->tasks; t < testbed->tasks + testbed->n_tasks; t++) {
        bool has_waited = t->was_blocked || (t == mover && t->has_waited);
        n_waited += has_waited;
        n_went_on += has_waited && t->state != LB_TASK_BLOCKED;
        n_in_line += has_waited && t->is_in_line;
    }
    return n_waited >= 2 && n_went_on > 0 && n_in_line < n_waited;
}

/* Another user has ended it: its locks are gone, so there is no verdict. */
static bool has_lost_session(const struct lb_task *task, bool has_moved)
{
    has_moved = has_moved || (task->was_blocked && task->state != LB_TASK_BLOCKED);
    return has_moved && task->session.conn == NULL && !task->give_up;
}

/* Resets the record of a move. */
static void begin_move(struct lb_task *task)
{
    task->touched = (struct lb_footprint){0};
    task->owed = NULL;
    task->refused.is_refused = task->may_free = false;
    task->digest = task->told = task->number;
    task->n_executed = 0;
    task->was_blocked = task->state == LB_TASK_BLOCKED;
    task->held = task->tx_locks;
}

/* Takes over the task's error, if there is one. */
static int take_error(struct lb_task *task, bool is_mover, struct lb_error *err)
{
    if (task->error.code != 0) {
        *err = task->error;
        task->error.code = 0;
        return err->code;
    }
    if (has_lost_session(task, is_mover))
        return lb_fail(err, LB_E_ENV, "worker %u has lost its connection: %s", task->number,
                       task->session.message);
    return 0;
}

static int testbed_move(void *arg, unsigned move, struct lb_moved *ret, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    struct lb_task *mover = move == LB_MOVE_CLOCK ? NULL : task_of(testbed, move);
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        begin_move(&testbed->tasks[i]);
    bool had_blocked = anyone(testbed, LB_TASK_BLOCKED);
    if (mover != NULL && !mover->own_is_last)
        mover->own = (struct lb_own_rows){.n = 0};
    testbed->again = ret->is_again;
    testbed->moves[testbed->n_moves] = (uint8_t)move;
    testbed->idle[testbed->n_moves] = false;
    int r = lb_testbed_outlive_strangers(testbed, err);
    if (r == 0)
        r = make(testbed, move, err);
    if (r == 0 && (mover == NULL || move >= LB_MOVE_DEATH || mover->may_free) &&
        anyone(testbed, LB_TASK_BLOCKED))
        r = settle_blocked(testbed, err);
    if (r != 0)
        return r;
    if (move >= LB_MOVE_DEATH) /* or the clock, or a cut */
        ret->touched = (struct lb_footprint){.reads = LB_TOUCHES_ALL,
                                             .writes = LB_TOUCHES_ALL,
                                             .commits = LB_TOUCHES_ALL,
                                             .begins = LB_ALL_OBJECTS,
                                             .ends = LB_ALL_OBJECTS};
    if (mover != NULL) {
        lb_task_tell_rows(mover);
        collect(testbed, mover, true, ret);
    }
    if (had_blocked) /* in which order locks are given back decides who gets them first */
        ret->touched.reads |= ret->touched.commits;
    bool is_alone = mover != NULL && move < LB_MOVE_DEATH;
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        struct lb_task *task = &testbed->tasks[i];
        if (task != mover && task->was_blocked && task->state != LB_TASK_BLOCKED) {
            collect(testbed, task, false, ret);
            is_alone = false;
        }
    }
    for (uint32_t i = 0; i < testbed->n_tasks; i++) {
        struct lb_task *task = &testbed->tasks[i];
        note_blocked(testbed, task, ret);
        is_alone =
            is_alone && (task == mover || task->was_blocked == (task->state == LB_TASK_BLOCKED));
        if (take_error(task, task == mover && move < LB_MOVE_DEATH, err) != 0)
            return err->code;
    }
    if (!is_alone || had_blocked) /* a waiting task may wait for any row */
        ret->touched.by_row = 0;
    if (is_alone && ret->touched.writes != LB_TOUCHES_ALL) {
        ret->touched.holds = mover->held & mover->tx_locks;
        ret->touched.queues = only_queues(testbed, mover);
    }
    ret->is_choice = had_choice(testbed, mover);
    testbed->n_moves++;
    return mover != NULL ? lb_testbed_count_vain(testbed, mover, err) : 0;
}

static bool testbed_gave_up(void *arg)
{
    const struct lb_testbed *testbed = arg;
    bool gave_up = false;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        gave_up = gave_up || testbed->tasks[i].gave_up;
    return gave_up;
}

static uint32_t testbed_tired(void *arg)
{
    const struct lb_testbed *testbed = arg;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        bits |= testbed->tasks[i].has_seen && testbed->tasks[i].n_refusals > 0 ? 1u << i : 0;
    return bits;
}

static int testbed_end(void *arg, enum lb_ending ending, uint32_t waiting, struct lb_error *err)
{
    struct lb_testbed *testbed = arg;
    bool is_blocked = ending == LB_END_STUCK && anyone(testbed, LB_TASK_BLOCKED);
    int r = is_blocked ? lb_testbed_expect_no_strangers(testbed, err) : 0;
    if (r != 0)
        return r;
    uint64_t n_stood_still = testbed->n_stuck + testbed->n_deadlocks;
    if (ending == LB_END_DONE)
        waiting = lb_testbed_in_vain(testbed);
    bool is_stuck = ending == LB_END_STUCK || (ending == LB_END_DONE && waiting != 0);
    unsigned stuck = is_stuck ? lb_testbed_stuck(testbed, waiting) : 0;
    bool ended = ending == LB_END_DONE || ending == LB_END_STUCK,
         gave_up = testbed_gave_up(testbed);
    for (int m = 0; m < LB_MEASURES; m++) {
        testbed->refusals[m].n += testbed->refusals[m].is_there && ending != LB_END_PRUNED;
        testbed->refusals[m].is_there = false;
    }
    testbed->n_given_up += gave_up && ending != LB_END_PRUNED;
    testbed->n_through +=
        ended && !gave_up && testbed->n_stuck + testbed->n_deadlocks == n_stood_still;
    size_t n_events[LB_MAX_WORKERS];
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        n_events[i] = testbed->tasks[i].log.n_events;
    for (uint32_t i = 0; i < testbed->n_tasks && r == 0; i++)
        if (testbed->tasks[i].state != LB_TASK_FINISHED || testbed->used_advisory)
            r = dismiss(testbed, &testbed->tasks[i], err);
    if (r != 0 || ending == LB_END_PRUNED)
        return r;
    /* Steps of dismissed tasks on their way out are not part of the schedule. */
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        testbed->tasks[i].log.n_events = n_events[i];
    /* A task may have gone on after the last move. */
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        look_at_events(testbed, &testbed->tasks[i]);
    char *state = NULL; /* before the judge drains a queue */
    if (testbed->plan.watch != NULL)
        r = lb_testbed_describe(testbed, &state, err);
    if (r == 0)
        r = lb_testbed_judge(testbed, ending != LB_END_CUT, err);
    if (r >= 0 && state != NULL)
        testbed->plan.watch->ended(testbed->plan.watch->arg, state, r | (int)stuck);
    free(state);
    return r < 0 ? r : r | (int)stuck;
}

const struct lb_system lb_testbed_system = {.reset = testbed_reset,
                                            .enabled = testbed_enabled,
                                            .finished = testbed_finished,
                                            .move = testbed_move,
                                            .end = testbed_end,
                                            .left = lb_testbed_left,
                                            .holders = testbed_holders,
                                            .gave_up = testbed_gave_up,
                                            .tired = testbed_tired};
