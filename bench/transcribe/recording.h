/* What a program sends to PostgreSQL in each of its operations, as two workers do them beside each
 * other on two resources, or with two items, and as a third one does them in vain: what differs
 * between them shows what a literal stands for.
 */
#ifndef LB_RECORDING_H
#define LB_RECORDING_H

#include "strategy.h"

enum { LB_RECORDED_TTL_MS = 4219000 }; /* no other number is likely to be the same */

#define LB_RECORDED_PAYLOAD "recorded-payload"

struct lb_recorded_statement {
    char *sql, *params, *rows; /* literals one a line; the first rows */
    char *types;               /* of the parameters, one a line; NULL: not known */
    bool is_cut;               /* the text is not whole */
    int answer;                /* enum lb_answer */
    bool in_tx;                /* behind it */
    uint32_t n_statements;
    int64_t session;
    uint64_t n_rows;
    int64_t n_changed;
};

enum lb_recorded_as { LB_RECORDED_FIRST, LB_RECORDED_SECOND, LB_RECORDED_REFUSED };

/* One operation of one worker. */
struct lb_recorded {
    char operation[20];
    enum lb_recorded_as as;
    int answer; /* enum lb_answer */
    char worker[40];
    uint32_t resource;
    int64_t id, token;
    bool has_id, has_token;
    uint64_t now_ms; /* since 1970, when it began */
    struct lb_recorded_statement *statements;
    size_t n;
};

struct lb_recording {
    const struct lb_strategy *strategy;
    const char *engine; /* as section lines name it */
    struct lb_recorded operations[80];
    size_t n;
    uint32_t attempts; /* of an item at most, as the program says; 0: it does not say */
};

struct lb_recording_plan {
    const struct lb_strategy *strategy; /* a program */
    const struct lb_target *target;
    const struct lb_setting *settings;
    size_t n_settings;
    const atomic_int *interrupt; /* not 0: ends at the next operation */
};

/* Starts the program three times, in a database of its own, and has it do each of its operations.
 * LB_E_UNSUPPORTED: it cannot be recorded; LB_E_INTERRUPTED; or the error for a mistake of the
 * program. Free with lb_recording_free, which accepts NULL. */
int lb_recording_make(const struct lb_recording_plan *plan, struct lb_recording **ret_recording,
                      struct lb_error *err);
void lb_recording_free(struct lb_recording *recording);
/* NULL: it was not done. */
const struct lb_recorded *lb_recording_find(const struct lb_recording *recording,
                                            const char *operation, enum lb_recorded_as as);

#endif
