/* The kinds of faults, one line each. A new one is a line here, and a file in bench/run/faults that
 * defines lb_fault_<symbol> (see fault_kind.h): help, messages, completion and verify --faults go
 * by this list.
 *
 * A line: constant, symbol, name, properties (LB_FAULT_IS_...), effect.
 */
#ifndef LB_FAULT_LIST_H
#define LB_FAULT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#define LB_FAULT_LIST(FAULT)                                                                       \
    FAULT(KILL, kill, "kill",                                                                      \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_AN_END | LB_FAULT_IS_THE_HOLDERS |                \
              LB_FAULT_KILLS,                                                                      \
          "kills the holder's process; a new participant takes its place")                         \
    FAULT(PAUSE, pause, "pause", LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_THE_HOLDERS,               \
          "stops the holder, with --processes by SIGSTOP, and lets it go on later")                \
    FAULT(DISCONNECT, disconnect, "disconnect",                                                    \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_AN_END |                  \
              LB_FAULT_IS_THE_HOLDERS,                                                             \
          "the server ends the holder's session; the holder lives on")                             \
    FAULT(CUT, cut, "cut",                                                                         \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_AT_THE_GATE | LB_FAULT_IS_AN_END |                \
              LB_FAULT_IS_THE_HOLDERS,                                                             \
          "cuts the connection after the statement that ends the hold was sent")                   \
    FAULT(SLOW, slow, "slow",                                                                      \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_AT_THE_GATE | LB_FAULT_IS_THE_HOLDERS,            \
          "delays every statement of the holder")                                                  \
    FAULT(BLOCKER, blocker, "blocker", LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_FOR_READERS,            \
          "another session locks the strategy's rows without changing them")                       \
    FAULT(SNAPSHOT, snapshot, "snapshot", LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_FOR_READERS,         \
          "another session keeps an old snapshot, so dead rows cannot be removed")                 \
    FAULT(RESTART, restart, "restart",                                                             \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_COMMANDED |               \
              LB_FAULT_IS_AN_END,                                                                  \
          "the server is stopped at once and started again (--restart-command)")                   \
    FAULT(FULL, full, "full", 0, "the disk is full for a time: the database cannot grow")          \
    FAULT(FAILOVER, failover, "failover",                                                          \
          LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_COMMANDED | LB_FAULT_IS_A_SWITCH,                    \
          "replication stalls, the primary is lost, and another server takes its place "           \
          "(--failover-command)")                                                                  \
    FAULT(PARTITION, partition, "partition",                                                       \
          LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_COMMANDED | LB_FAULT_IS_A_SWITCH,                    \
          "as failover, but the old primary lives on behind a cut (--failover-command)")           \
    FAULT(CANCEL_SYNC, cancel_sync, "cancel-sync",                                                 \
          LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_COMMANDED | LB_FAULT_IS_A_SWITCH,                    \
          "as failover, and commits that wait for the standby are told to wait no more "           \
          "(--failover-command)")                                                                  \
    FAULT(POISON, poison, "poison",                                                                \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_AN_END | LB_FAULT_KILLS,                          \
          "each claim of certain items kills the worker, fails, or outlasts the lease")            \
    FAULT(TERM, term, "term",                                                                      \
          LB_FAULT_IS_FOR_PROGRAMS | LB_FAULT_IS_AN_END | LB_FAULT_IS_THE_HOLDERS |                \
              LB_FAULT_KILLS,                                                                      \
          "asks the holder to stop, and kills it after the grace; another takes its place")        \
    FAULT(MIGRATE, migrate, "migrate", LB_FAULT_IS_FOR_POOLS | LB_FAULT_IS_FOR_READERS,            \
          "section migrate runs while the workers do, behind a transaction that has read the "     \
          "tables")

/* All names as one text, each after a comma: "none" LB_FAULT_NAMES. */
#define LB_FAULT_COMMA_NAME(id, symbol, name, traits, summary) ", " name
#define LB_FAULT_NAMES                                         LB_FAULT_LIST(LB_FAULT_COMMA_NAME)

/* Failures during a run, each placed inside a hold, never left to chance. */
#define LB_FAULT_CONSTANT(id, symbol, name, traits, summary) LB_FAULT_##id,
enum lb_fault { LB_FAULT_NONE, LB_FAULT_LIST(LB_FAULT_CONSTANT) LB_FAULTS };

enum lb_fault_trait {
    LB_FAULT_IS_FOR_PROGRAMS = 1 << 0, /* can be done to a program, too */
    LB_FAULT_IS_AT_THE_GATE = 1 << 1,  /* of a program: where its statements pass */
    LB_FAULT_IS_FOR_POOLS = 1 << 2,    /* needs no session of a certain worker */
    LB_FAULT_IS_FOR_READERS = 1 << 3,  /* those who read the count may go on */
    LB_FAULT_IS_AN_END = 1 << 4,       /* of sessions, by the run itself */
    LB_FAULT_IS_COMMANDED = 1 << 5, /* by a command of the user's; the server is away for a while */
    LB_FAULT_IS_A_SWITCH = 1 << 6,  /* of the primary, on replicated servers */
    LB_FAULT_IS_THE_HOLDERS = 1 << 7, /* it needs only the holder, on any rank */
    LB_FAULT_KILLS = 1 << 8           /* worker processes: each worker needs one of its own */
};

const char *lb_fault_name(enum lb_fault fault);
const char *lb_fault_summary(enum lb_fault fault);
bool lb_fault_is(enum lb_fault fault, enum lb_fault_trait trait);
/* The names of those with a trait: "blocker or snapshot". Returns buf. */
char *lb_faults_named(enum lb_fault_trait trait, const char *conjunction, char *buf, size_t size);

#endif
