/* The judges of a case once it was read, and the output of findings. Private to bench/check. */
#ifndef LB_JUDGES_H
#define LB_JUDGES_H

#include "case.h"

/* --- merging and sorting: merge.c, sort.c --- */

/* Fills c->order: all holds by start. */
void lb_merge_holds(struct lb_case *c);

/* Sorts by key, stable. UINT32_MAX keys or more count as more than the memory has room for. */
void lb_sort(struct lb_key *keys, size_t n);

/* --- judging --- */

/* Whether the guarantee is violated depends on a fact that is not known: it is not tested.
 * is_asked: see check.h. */
void lb_finding_doubt(struct lb_finding *finding, const char *reason, bool is_asked);
/* As lb_check, also if a clock was set. */
int lb_check_doubted(const struct lb_history_view *history, const struct lb_model *model,
                     struct lb_judgement *ret_judgement, struct lb_error *err);
/* The same by one reading of the history: without model->doubts. */
int lb_check_once(const struct lb_history_view *history, const struct lb_model *model,
                  struct lb_judgement *ret_judgement, struct lb_error *err);

/* Judges a lock of which nothing needs a closer look, and sets c->is_calm; or leaves the case as it
 * is. */
int lb_judge_calm_lock(struct lb_case *c);
/* Before the cores are judged. */
void lb_orders_open(struct lb_case *c);
/* What only the order of operations shows: releases of another's hold, and violations of exclusive,
 * of which it returns the number: owner.c. After the cores have been judged. */
uint64_t lb_judge_orders(struct lb_case *c);
int lb_judge_lock_fifo(struct lb_case *c);
/* Once the logs were read. */
void lb_attributes_sort(struct lb_case *c);
/* The ids of one class, by number: the keys' indexes. Says also what cannot be told. */
void lb_judge_queue_ties(struct lb_case *c, const struct lb_key *keys, size_t n);
int lb_judge_recovery(struct lb_case *c);
/* Progress of items, where the model asks for it. */
void lb_judge_item_waits(struct lb_case *c);
/* Who died, by its claim or grant; the next one, if there was one; and words for both. */
struct lb_recovery {
    uint32_t log, event;
    bool has_next;
    uint32_t next_log, next_event;
    uint64_t death, took_ns;
    const char *had, *came;
};

/* It took longer than the bound. */
void lb_report_recovery(struct lb_case *c, const struct lb_recovery *recovery);
/* Sorts the n lengths and takes count, percentiles and maximum. */
void lb_measure_recovery(struct lb_case *c, uint64_t *took_ns, size_t n);
void lb_judge_fairness(struct lb_case *c);
/* Waits by tenant and by priority: tenant_waits.c. */
void lb_judge_waits(struct lb_case *c);
void lb_judge_answers(struct lb_case *c);
void lb_judge_empty(struct lb_case *c);

/* --- findings: witness.c --- */

/* The finding of a guarantee. */
static inline struct lb_finding *lb_finding_of(struct lb_case *c, enum lb_guarantee guarantee)
{
    return &c->out->findings[guarantee];
}
/* Where the next witness of a finding goes; NULL when all places are taken. Zeroed. */
struct lb_witness *lb_witness_new(struct lb_finding *finding);
/* Counts one violation; returns the same place for its witness. */
struct lb_witness *lb_violation(struct lb_case *c, enum lb_guarantee guarantee);
/* Adds the operation that the end (or unanswered invoke) at position event belongs to. */
void lb_witness_add(const struct lb_case *c, struct lb_witness *witness, uint32_t log,
                    uint32_t event);
/* Adds a grant's acquire and its release, if there was one. */
void lb_witness_add_hold(const struct lb_case *c, struct lb_witness *witness,
                         const struct lb_hold *hold);
/* Formats the instants of lb_at. */
void lb_witness_text(struct lb_witness *witness, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A point in time for lb_witness_text: "12.041 ms" after the history's start there, and with
 * nanoseconds where the text has another one that would look the same. */
char *lb_at(const struct lb_case *c, uint64_t time_ns, char *buf, size_t size);

enum { LB_AT = 48 };
/* Room for one name, until the end of the block that asks. */
#define LB_WHOM ((char[LB_WHO]){0})
/* The owner of a log, for people: "worker 3"; in a foreign history "process 7". */
const char *lb_who(const struct lb_case *c, uint32_t log, char buf[LB_WHO]);

/* An item as its history calls it. */
enum { LB_ITEM_NAME = 48 };
#define LB_ITEM_OF(c, id)                                                                          \
    lb_item_name((c)->history->names, id, (char[LB_ITEM_NAME]){0}, LB_ITEM_NAME)

#endif
