/* The guarantees, one line each. A new one is a line here, at the end, and a file in bench/check
 * that defines lb_guarantee_<symbol> (see guarantee_kind.h): help, lists, directives, options,
 * verdicts and reports in every format use this list. docs/guarantees.md defines each one and
 * explains how it is decided; docs/glossary.md has a line for each.
 *
 * A line: constant, symbol, name, properties (LB_GUARANTEE_IS_...), promise in one line.
 */
#ifndef LB_GUARANTEE_LIST_H
#define LB_GUARANTEE_LIST_H

enum lb_guarantee_trait {
    LB_GUARANTEE_IS_FOR_LOCKS = 1 << 0,
    LB_GUARANTEE_IS_FOR_QUEUES = 1 << 1,
    /* It is judged of each item alone: other items cannot break it. */
    LB_GUARANTEE_IS_OF_ONE_ITEM = 1 << 2,
    LB_GUARANTEE_IS_FOR_BOTH = LB_GUARANTEE_IS_FOR_LOCKS | LB_GUARANTEE_IS_FOR_QUEUES
};

#define LB_GUARANTEE_LIST(GUARANTEE)                                                               \
    GUARANTEE(EXCLUSIVE, exclusive, "exclusive", LB_GUARANTEE_IS_FOR_LOCKS,                        \
              "never more holders than the capacity allows")                                       \
    GUARANTEE(FENCED, fenced, "fenced", LB_GUARANTEE_IS_FOR_LOCKS,                                 \
              "tokens grow with each grant, and stale writes are refused")                         \
    GUARANTEE(OWNER_RELEASE, owner_release, "owner-release",                                       \
              LB_GUARANTEE_IS_FOR_BOTH | LB_GUARANTEE_IS_OF_ONE_ITEM,                              \
              "only the current owner's release has an effect")                                    \
    GUARANTEE(NO_DUPLICATE, no_duplicate, "no-duplicate",                                          \
              LB_GUARANTEE_IS_FOR_QUEUES | LB_GUARANTEE_IS_OF_ONE_ITEM,                            \
              "no item is claimed twice unless it was given back")                                 \
    GUARANTEE(NO_LOSS, no_loss, "no-loss",                                                         \
              LB_GUARANTEE_IS_FOR_QUEUES | LB_GUARANTEE_IS_OF_ONE_ITEM,                            \
              "every item that was put is claimed, and no other")                                  \
    GUARANTEE(BOUNDED_CLAIM, bounded_claim, "bounded-claim",                                       \
              LB_GUARANTEE_IS_FOR_QUEUES | LB_GUARANTEE_IS_OF_ONE_ITEM,                            \
              "a claim of n marks at most n rows and returns them")                                \
    GUARANTEE(FIFO, fifo, "fifo", LB_GUARANTEE_IS_FOR_BOTH,                                        \
              "grants and claims follow the order of arrival")                                     \
    GUARANTEE(PROGRESS, progress, "progress",                                                      \
              LB_GUARANTEE_IS_FOR_BOTH | LB_GUARANTEE_IS_OF_ONE_ITEM,                              \
              "no worker waits longer than the scenario's bound")                                  \
    GUARANTEE(RECOVERY, recovery, "recovery",                                                      \
              LB_GUARANTEE_IS_FOR_BOTH | LB_GUARANTEE_IS_OF_ONE_ITEM,                              \
              "a dead holder's lock or item is granted again within the bound")                    \
    GUARANTEE(ONCE, once, "once", LB_GUARANTEE_IS_FOR_QUEUES | LB_GUARANTEE_IS_OF_ONE_ITEM,        \
              "no item is executed twice, whatever becomes of its worker")                         \
    GUARANTEE(GROUP_EXCLUSIVE, group_exclusive, "group-exclusive", LB_GUARANTEE_IS_FOR_QUEUES,     \
              "never two items of one group in hand")                                              \
    GUARANTEE(PERMITS, permits, "permits", LB_GUARANTEE_IS_FOR_LOCKS,                              \
              "a stored count of permits is the capacity less the holders")                        \
    GUARANTEE(ATTEMPTS, attempts, "attempts",                                                      \
              LB_GUARANTEE_IS_FOR_QUEUES | LB_GUARANTEE_IS_OF_ONE_ITEM,                            \
              "no item is claimed more often than the file says (-- attempts: N)")                 \
    GUARANTEE(KEY_LIMIT, key_limit, "key-limit", LB_GUARANTEE_IS_FOR_QUEUES,                       \
              "never more items of one key in hand than the file says (-- key-limit: K)")          \
    GUARANTEE(UNIQUE, unique, "unique", LB_GUARANTEE_IS_FOR_QUEUES,                                \
              "one unfinished item of a unique key, and none is refused without one")              \
    GUARANTEE(PRIORITY, priority, "priority", LB_GUARANTEE_IS_FOR_QUEUES,                          \
              "no item is claimed while a more urgent one waits")                                  \
    GUARANTEE(RATE, rate, "rate", LB_GUARANTEE_IS_FOR_QUEUES,                                      \
              "never more items begun in a window than the file says (-- rate: N/T)")              \
    GUARANTEE(SHARE, share, "share", LB_GUARANTEE_IS_FOR_QUEUES,                                   \
              "no tenant below a part of its fair share while it has work (-- share: 0.5)")

#endif
