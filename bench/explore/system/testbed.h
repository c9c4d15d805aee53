/* The testbed: a strategy's workers, as tasks that run one at a time. Private to bench/explore.
 *
 * A task is a unit that the search's scheduler can release: a worker, a putter, a rescuer, or a
 * blocker. It is a fiber with a session of its own; all are carried by the thread that searches
 * (see carrier.h), so that a step costs a switch of stacks and the database's time, and nothing is
 * shared between threads. A task's gate stops it before each step; the searcher lets one go and
 * waits until everyone is quiet again: at a gate, finished, or blocked in the engine. The engine,
 * queried over the control session, decides if a task is blocked; no time limit does.
 *
 * One move of a task is one statement, commit or rollback, with the steps before and after it that
 * no other task can distinguish from it: begin, the harness's own steps, the commit of a
 * transaction that changed nothing. docs/design/explore.md gives the reason.
 */
#ifndef LB_TESTBED_H
#define LB_TESTBED_H

#include "carrier.h"
#include "drawn.h"
#include "explore.h"
#include "operation.h"
#include "reset.h"
#include "rows.h"
#include "search.h"

enum lb_task_state {
    LB_TASK_STANDS,  /* before a step, or before its first */
    LB_TASK_RUNS,    /* was let go and has not stopped yet */
    LB_TASK_BLOCKED, /* runs, and the engine says that it waits for another */
    LB_TASK_FINISHED /* all rounds done, or dead */
};

/* An executed statement, for tables, words and specs. */
struct lb_step_record {
    uint16_t move; /* number of the move that it belongs to */
    uint8_t task;
    uint8_t kind; /* enum lb_step_kind */
    int8_t answer;
    bool is_late;     /* was blocked, and answered in another's move */
    bool was_blocked; /* blocked, and never answered */
    const char *sql;
    size_t n_rows;
    int64_t n_changed;
    char *params, *rows; /* as text, when details are wanted */
    char note[48];       /* "holds r0 from here" */
};

/* The work of a task in its rounds. */
enum lb_role {
    LB_ROLE_WORKER,  /* acquires and releases, or claims and completes */
    LB_ROLE_PUTTER,  /* puts an item */
    LB_ROLE_RESCUER, /* runs `recover` */
    LB_ROLE_BLOCKER, /* locks rows and changes none, as a report or a backup does */
    LB_ROLE_LATE     /* claims when all others have ended */
};

/* A row that a task's transaction has changed or locked: as others see it (before), and as the
 * task does (after). Which conditions it meets, and digests of its key and its place in orders.
 */
struct lb_own_row {
    uint64_t key, order_before, order_after;
    uint32_t meets_before, meets_after;
    bool is_before, is_after;
    uint8_t table;
};

enum { LB_OWN_ROWS = 6 };

struct lb_own_rows {
    struct lb_own_row rows[LB_OWN_ROWS];
    size_t n;
    bool too_many;
};

enum {
    LB_MAX_RECORDS = 1000,
    LB_RECORDS_OF_MOVE = 16,
    LB_TASK_EVENTS = 2000,
    LB_STORY_BYTES = 4000
};

#define LB_STEP_NS UINT64_C(1000000)

struct lb_testbed;

/* Operations of a kind that the server refused, but not by contention. */
struct lb_server_refusals {
    uint64_t n;      /* schedules in which it did */
    bool is_there;   /* ... in this one, too */
    char first[300]; /* the statement's place, and the server's message */
};

struct lb_task {
    struct lb_testbed *testbed;
    uint32_t number;
    bool is_open; /* its fiber is there: number `number` of the carrier */
    enum lb_task_state state;
    bool stands;   /* has stopped since it was last let go */
    bool finished; /* has come to the end of its script */

    struct lb_session session;
    bool has_session;
    struct lb_actor actor;
    struct lb_operator op;
    struct lb_log log;
    struct lb_event *events;
    struct lb_counts counts[LB_MEASURES];
    struct lb_item *items;
    enum lb_role role;

    bool may_go;    /* let go, and has not used it yet */
    bool is_cut;    /* ... and is to lose the answer of its commit, and its connection */
    bool in_script; /* has begun, and not finished */
    bool has_tried; /* late: has made its claim, with an item or without one */
    bool has_it;    /* was granted the lock, or items, and has not given them back */
    bool is_lost;   /* its connection was cut so */
    bool give_up;   /* ends its script at the next gate */
    struct lb_error error;
    struct lb_step_record pending; /* the step under way */
    struct lb_step step;           /* of a program: the same */
    struct lb_prepared has_locks;  /* see lb_exploring.has_locks */
    struct lb_prepared has_no_row; /* see lb_exploring.has_no_row */
    int64_t session_id;
    bool was_blocked; /* before this move */

    /* The transaction and the try under way. */
    uint32_t tx_writes;
    uint32_t tx_locks;      /* tables that it has locked as a whole */
    uint32_t held;          /* ... before this move */
    bool tx_is_split;       /* one statement that commits by itself */
    bool has_tables;        /* the session has MariaDB's LOCK TABLES */
    int n_user_locks;       /* that the session has; -1: its statements do not tell */
    bool tx_keeps_snapshot; /* of several statements, which read by one snapshot */
    bool tx_is_one;         /* it has one statement */
    bool tx_found;          /* some statement of it returned or changed rows */
    bool tx_changed;        /* rows were changed in it */
    bool tx_failed;         /* nothing can be asked in it any more */
    struct lb_own_rows own; /* of the transaction, if they were queried */
    bool own_is_last;       /* ... behind its last statement: until its end they stay the same */
    int next_kind;          /* enum lb_step_kind of the step before which it stands */
    const struct lb_row_statement
        *owed; /* executed in this move; its rows are still to be asked for */
    struct lb_footprint owed_touched; /* what it touched otherwise */
    struct lb_prepared own_rows;
    struct lb_prepared locking[LB_FOOTPRINT_TABLES]; /* a blocker's statements */
    uint64_t claims;      /* items that the claim under way has been answered: lb_object_of */
    uint64_t began;       /* those whose claim the history has seen begin */
    unsigned try_moves;   /* moves that the present try has taken */
    size_t try_first;     /* number of the first of them */
    size_t try_event;     /* number of its first event in the log */
    size_t refused_event; /* the same, of the try that was refused in this move */
    enum lb_trace trace;  /* its traces so far */
    struct lb_footprint try_touched;
    struct lb_refused refused; /* in this move */
    unsigned n_refusals;       /* of the present operation, that count */
    bool gave_up;              /* some operation was given up after too many refusals */
    int last_refusal;          /* enum lb_answer of the last refused try, LB_OK: none */
    bool has_seen; /* asked since the last death or cut, was refused, and learned nothing new */
    bool saw_it_outlived; /* ... and a lease has passed since */
    unsigned n_vain; /* refused tries since then that left the tables alike, times aside, ... */
    uint64_t left;   /* ... as this digest, with no other worker there */

    char *story;               /* its answers, without refused tries; NULL: not wanted */
    size_t story_n, story_try; /* bytes so far, and before the try under way */

    /* This move's. */
    struct lb_footprint touched;
    bool may_free;   /* it has done something that may set others free */
    bool has_waited; /* the statement under way was blocked */
    bool is_in_line; /* ... in a queue that is served in order: the engine has no choice */
    uint64_t digest;
    uint64_t told;        /* likewise of the items that it was given */
    size_t n_events_seen; /* by look_at_events */
    uint64_t n_executed;
    struct lb_step_record records[LB_RECORDS_OF_MOVE]; /* with details */
    size_t n_records;
};

/* Forty days: no lease that stands in a statement's text is longer. */
#define LB_LONG_LEASE_MS UINT32_C(3456000000)

/* The attributes of its items. */
struct lb_explored_items {
    struct lb_attribute_source source;
    const struct lb_explore_plan *plan;
    bool lowest_first; /* the lowest priority is the most urgent */
};

struct lb_testbed {
    struct lb_explore_plan plan; /* as requested, with defaults filled in */
    struct lb_strategy leased;   /* the plan's, where its lease stands in the text */
    const struct lb_db *db;
    struct lb_space *space;
    struct lb_session control;
    bool has_control;
    struct lb_session snapshot; /* MariaDB: keeps what is deleted, see lb_exploring.keep */
    bool has_snapshot;
    struct lb_program *program;
    struct lb_footprint *footprints; /* one per statement of the program */
    enum lb_statement_kind *kinds;
    struct lb_explored_items explored_items;
    struct lb_strategy_plan strategy_plan, plan_before; /* of odd workers, with two versions */
    struct lb_program *program_before;                  /* NULL: there is one version */
    uint32_t capacity[LB_EXPLORE_RESOURCES];
    struct lb_gate gate;
    struct lb_gate setup_gate;                    /* of the control session during set-up */
    struct lb_prepared watching;                  /* the watch's statement */
    struct lb_prepared left[LB_FOOTPRINT_TABLES]; /* ... and those of lb_testbed_left() */
    struct lb_prepared blockers, waits_for_table, under_way;
    bool sees_strangers; /* a statement's result may depend on others' open transactions */
    bool is_leaving;     /* a task is being dismissed: its waits do not matter */
    bool is_dirty;       /* programs have changed the database while they opened */
    bool is_coarse;      /* a program's statement has changed something and committed in one step */
    char **texts;        /* of programs' statements; executed records borrow them */
    size_t n_texts;
    char *setup_sql; /* what it executed with parameters, filled in; one per line */
    struct lb_reset reset;
    bool has_rules;            /* they were queried */
    struct lb_row_rules rules; /* empty: tables only */
    struct lb_prepared committed_rows;
    bool are_alike; /* workers of a kind differ by their names only, see symmetry.c */
    uint8_t alike[LB_MAX_WORKERS];
    bool again;    /* the move's effect is known: it has been made before */
    bool doubts;   /* an assumption of the rules was seen to be wrong */
    bool is_local; /* no claimed guarantee is about the order of different items */
    const struct lb_server_clock *clock; /* moves with the clock steps; NULL: stays */
    bool fixes_time;       /* a statement may ask for the time at which its transaction began */
    bool states_time;      /* ... or for that at which it began itself */
    uint32_t with_default; /* tables with a default that is the time at which its statement began */
    bool clock_is_ahead;
    struct lb_rewritten {
        const char *native;
        char *text;
    } * rewritten; /* statements with the clock's words replaced */
    size_t n_rewritten;
    char *locking[LB_FOOTPRINT_TABLES]; /* a blocker's statements, one for each table */
    char unmoved[60]; /* a word by which some statement asks for a clock that stays; "" */
    struct lb_tables tables;
    struct lb_drawn drawn;         /* within an INSERT, which is one step */
    int random_line;               /* of a statement whose answer chance decides; 0: none */
    struct lb_actor control_actor; /* puts the backlog; drains */
    struct lb_operator control_op;
    struct lb_log control_log;
    struct lb_event *control_events;
    size_t n_setup_events; /* the backlog's: the same in every schedule */
    struct lb_counts control_counts[LB_MEASURES];

    struct lb_task tasks[LB_MAX_WORKERS];
    uint32_t n_tasks;
    uint32_t n_running; /* of the plan's workers: those behind have finished from the start */
    uint32_t rounds;    /* of each */
    struct lb_carrier *carrier;
    bool unreduced;    /* every step is a move */
    bool skips_locks;  /* some statement does not wait for locks, but is refused, or skips rows */
    bool skips_rows;   /* ... where rows or tables are locked */
    bool locks_tables; /* some statement locks a whole table */
    bool details;      /* records with parameters and rows */
    bool is_open;      /* gates stop */
    bool keeps_snapshots; /* a transaction reads by one snapshot: REPEATABLE READ and above */
    enum lb_isolation isolation;
    uint64_t start_ns;
    bool counts_steps; /* times in the history are numbers of steps, LB_STEP_NS each */
    uint64_t n_seen;   /* events of this schedule */

    /* The schedule under way. */
    uint32_t written;   /* tables that were written since the last reset */
    bool used_advisory; /* advisory locks may be left */
    size_t n_moves;
    uint8_t moves[LB_MAX_LENGTH];
    bool idle[LB_MAX_LENGTH]; /* the move was part of a try that was refused and left nothing */
    struct lb_step_record records[LB_MAX_RECORDS];
    size_t n_records;
    unsigned n_deaths, n_ticks, n_cuts;
    bool is_born_with_time;        /* initial rows can be old: the clock may move first */
    size_t n_before_leases;        /* moves up to the last death or cut */
    bool moves_clock;              /* in steps, or when all workers have ended */
    bool outlived;                 /* a lease has passed since the last death, or cut */
    int64_t clock_ms;              /* what the clock steps add up to */
    struct lb_judgement judgement; /* of the last schedule that was judged */
    bool gave_back;                /* an item, once all were through */
    bool back_is_lost;             /* that item, or another one, did not come again */
    struct lb_finding doubted[LB_GUARANTEE_ROOM]; /* of a schedule that one reading accuses */
    unsigned tested;                /* LB_G_BIT()s that some schedule so far has tested */
    char deadlock[600], stuck[600]; /* the first, in words */
    uint64_t n_deadlocks, n_stuck;
    uint64_t n_through;       /* schedules in which all workers finished, and none gave up */
    uint64_t n_records_total; /* statements executed, of all schedules */
    uint64_t n_given_up;      /* schedules in which a worker gave up after too many refusals */
    struct lb_server_refusals refusals[LB_MEASURES];
};

/* testbed_open.c: opens the space, sets the strategy up, starts the tasks. Closed also after a
 * failure. */
int lb_testbed_open(struct lb_testbed *testbed, const struct lb_explore_plan *plan,
                    struct lb_error *err);
int lb_testbed_close(struct lb_testbed *testbed, struct lb_error *err);
/* testbed_program.c: chooses the statements for the engine, and with them the isolation. */
int lb_testbed_new_program(struct lb_testbed *testbed, struct lb_error *err);
/* Asks the server for what tells rows apart. Only who leaves out schedules needs it. */
int lb_testbed_open_rules(struct lb_testbed *testbed, struct lb_error *err);
/* testbed.c: ends every task's script where it is: after a failure, before the testbed is closed.
 */
void lb_testbed_dismiss_all(struct lb_testbed *testbed);
/* The testbed as a system to be searched. arg is the testbed. */
extern const struct lb_system lb_testbed_system;

/* testbed_clock.c: runs the initial statements on a task's new connection. */
int lb_testbed_begin_session(struct lb_testbed *testbed, struct lb_task *task,
                             struct lb_error *err);
/* Finds a statement that may ask for a clock that steps do not move: testbed->unmoved. A clock that
 * stands still is LB_E_UNSUPPORTED beside it. */
int lb_testbed_find_unmoved_clock(struct lb_testbed *testbed, struct lb_error *err);
/* Finds out if some statement may ask for the time at which it, or its transaction, began. */
void lb_testbed_know_times(struct lb_testbed *testbed);
/* Tells a session the time of its next statement, if one may ask for it. */
int lb_testbed_state_time(struct lb_testbed *testbed, struct lb_session *session,
                          struct lb_error *err);
/* Lets a session of the space use the clock that moves. */
int lb_testbed_use_clock(struct lb_testbed *testbed, struct lb_session *session,
                         struct lb_error *err);
/* Runs a statement of the testbed's clock over this session; n: ms, where it has a place. */
int lb_testbed_run_clock(struct lb_testbed *testbed, struct lb_session *session, const char *format,
                         int64_t n, struct lb_error *err);

/* Before a schedule. */
int lb_testbed_turn_clock_back(struct lb_testbed *testbed, struct lb_error *err);
/* Somebody has died, or was not told what came of its commit: leases run from now. */
void lb_testbed_begin_leases(struct lb_testbed *testbed);

/* gate.c: a hold begins: tells it where a watch compares schedules. */
void lb_task_tell_hold(struct lb_task *task);
/* By how much the task's own clock is wrong. */
int64_t lb_task_skew_ms(const struct lb_task *task);
/* Sets the clock of the control session, which puts and drains, to the present one. */
void lb_testbed_set_control(struct lb_testbed *testbed);
bool lb_testbed_may_tick(const struct lb_testbed *testbed);
/* Moves the clocks on by more than a lease. */
int lb_testbed_tick(struct lb_testbed *testbed, struct lb_error *err);
/* True if what a dead worker had in hand, and one whose connection was lost, can be given back at
 * the end of a schedule. */
bool lb_testbed_returns(const struct lb_testbed *testbed);

/* The statement as it is executed while the clock can be moved. For gates: arg is the testbed. */
const char *lb_testbed_native(void *arg, const char *native);

/* The number of the program's statement with this text; n_statements: it is none of them. */
static inline size_t lb_testbed_statement(const struct lb_testbed *testbed, const char *sql)
{
    size_t i = 0;
    while (i < testbed->program->n_statements && testbed->program->statements[i].sql != sql)
        i++;
    return i;
}

/* gate.c */
void lb_gate_of_testbed(struct lb_gate *gate);
/* The parameters as SQL literals, one per line. */
char *lb_gate_describe_params(const struct lb_step *step);
/* What the step under way of a task that is blocked may touch. */
struct lb_footprint lb_task_pending(const struct lb_task *task);
/* An operation is about to be tried: the gate before it, and its accounts. */
int lb_task_begin_try(struct lb_task *task, enum lb_step_kind kind, struct lb_error *err);
/* The kind of operation that the server refused in too many schedules for a verdict; LB_MEASURES:
 * none. */
enum lb_measure lb_testbed_refused(const struct lb_testbed *testbed, uint64_t n_schedules);
/* True if it was refused, and must be tried again. learned: the next try starts with this one's
 * answer. */
bool lb_task_retries(struct lb_task *task, int answer, bool learned);
void lb_task_note(struct lb_task *task, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Takes over what the task did in this move. */
void lb_testbed_take_records(struct lb_testbed *testbed, struct lb_task *task, bool is_late);
/* Frees what the records own. */
void lb_testbed_forget_records(struct lb_testbed *testbed);

/* touched.c: notes the effects of a statement, in its transaction or committed; or of anything
 * else. */
void lb_task_touch(struct lb_task *task, struct lb_footprint *touched);
void lb_task_add_touched(struct lb_task *task, const struct lb_footprint *touched);
/* gate.c: locks_tables, skips_locks and skips_rows, from the statements' words. */
void lb_testbed_know_locks(struct lb_testbed *testbed);
/* touched.c: adds the rows to what the statement, or the end of its transaction, has touched. */
bool lb_task_tells_rows(const struct lb_task *task);
/* By the task: true if the engine says that its transaction has changed no row, and locked none. */
bool lb_task_has_no_row(struct lb_task *task);
/* By the thread that searches, while the task stands still: queries the rows that its transaction
 * has touched.
 */
void lb_task_ask_rows(struct lb_task *task);
/* Notes an executed statement. false: its effects are pending until its rows have been queried. */
bool lb_task_tell_statement(struct lb_task *task, const struct lb_step *step, int answer,
                            const struct lb_rows *rows, struct lb_footprint *touched);
/* By the thread that searches, when all are quiet: adds the pending effects. */
void lb_task_tell_rows(struct lb_task *task);
void lb_task_tell_end(struct lb_task *task, struct lb_footprint *touched);

/* The bit of an item among what the history sees begin and end. */
static inline uint64_t lb_object_of(const struct lb_testbed *testbed, uint64_t item)
{
    return testbed->is_local ? UINT64_C(1) << (item % 64) : LB_ALL_OBJECTS;
}

/* strangers.c: sessions that are none of ours. How long one may keep a task, or the control
 * session, waiting. */
uint32_t lb_testbed_patience_ms(const struct lb_explore_plan *plan);
/* Called when all running tasks are blocked. 1: one of them by a stranger, which may release its
 * lock: look again; 0: none. An error when that has lasted too long. *ends_ns: 0 before the first
 * look. */
int lb_testbed_look_for_strangers(struct lb_testbed *testbed, uint64_t *ends_ns,
                                  struct lb_error *err);
/* If a statement can see strangers' transactions: waits for the end of those that are older than
 * the tasks' next moves. An error when that takes too long. */
int lb_testbed_outlive_strangers(struct lb_testbed *testbed, struct lb_error *err);
/* Nobody can go on: because of a stranger? Then an error. */
int lb_testbed_expect_no_strangers(struct lb_testbed *testbed, struct lb_error *err);
/* Something was violated. An error if a stranger has locks on the tables meanwhile. */
int lb_testbed_expect_no_holders(struct lb_testbed *testbed, struct lb_error *err);
/* The control session had to wait for too long: names the sessions that have, or may have, the
 * lock. */
int lb_testbed_name_holders(struct lb_testbed *testbed, struct lb_error *err);

/* symmetry.c: do the statements only store, return and compare the name of their worker? */
bool lb_workers_are_alike(const struct lb_program *program, const struct lb_tables *tables);

/* Within the task's fiber: it stands until it is let go. */
void lb_task_stand(struct lb_task *task);

/* stepped.c: tasks that are programs. Is this testbed's strategy one? */
static inline bool lb_testbed_has_programs(const struct lb_testbed *testbed)
{
    return testbed->plan.strategy->guest != NULL;
}
extern const struct lb_stepper lb_testbed_stepper;
enum lb_statement_kind lb_stepped_footprint(const char *sql, enum lb_dialect dialect,
                                            struct lb_footprint *ret);
/* Everything as after set-up, with new processes. */
int lb_stepped_reset(struct lb_testbed *testbed, struct lb_error *err);
void lb_stepped_end_all(struct lb_testbed *testbed);
/* The task is blocked, and its program ends. */
void lb_stepped_cancel(struct lb_task *task);

/* script.c: runs a task from its first step to its last. */
int lb_task_script(struct lb_task *task, struct lb_error *err);

/* judge.c: a digest of the rows of all tables. Times, and other numbers that are as large, do not
 * count. */
int lb_testbed_left(void *arg, uint64_t *ret, struct lb_error *err);
/* How the schedule ended, for the plan's watch. Caller frees. */
int lb_testbed_describe(struct lb_testbed *testbed, char **ret_state, struct lb_error *err);
/* The verdict on the schedule under way: bits of enum lb_guarantee. */
int lb_testbed_judge(struct lb_testbed *testbed, bool complete, struct lb_error *err);
/* Called when no worker can go on: returns the claimed guarantees that this breaks, as LB_G_BIT()s.
 * Counts it and sets the reason.
 * waiting: bits of the refused. */
unsigned lb_testbed_stuck(struct lb_testbed *testbed, uint32_t waiting);
/* To be called at the end of each move. A try that only writes the time, as a sign of life, changes
 * nothing: after two such tries with no other worker there, the next one is refused as well. */
int lb_testbed_count_vain(struct lb_testbed *testbed, struct lb_task *task, struct lb_error *err);
/* Bits of the tasks that gave up after such tries. */
uint32_t lb_testbed_in_vain(const struct lb_testbed *testbed);

/* Items have different payloads: a put may refuse one that equals another. */
static inline int lb_testbed_put(struct lb_operator *op, int64_t id, struct lb_error *err)
{
    char payload[24];
    snprintf(payload, sizeof payload, "x%lld", (long long)id);
    return lb_operate_put(op, id, 1, payload, err);
}

#endif
