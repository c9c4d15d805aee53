/* Filling the tables of a run: see aged_table.h.
 *
 * All states are made first, a few items each, and then all are multiplied by keys that are the
 * same distance apart: so no two copies have the same key.
 */
#include "aged_table.h"

#include "units.h"

#include <stdlib.h>
#include <string.h>

const char *const lb_aged_statistics_names[] = {
    [LB_AGED_FRESH] = "fresh", [LB_AGED_STALE] = "stale", [LB_AGED_DEFAULT] = "default", NULL};

/* Dead ones are made and removed before the others are there. Delayed items come next: without a
 * section retry, all items are given a later time. */
static const enum lb_aged_state order[] = {LB_AGED_DELAYED, LB_AGED_FINISHED, LB_AGED_FAILED,
                                           LB_AGED_OTHER_CLASS};
enum { STATES = sizeof order / sizeof order[0] };
/* No item of a run has this number. The copies have numbers below 0: in front of the run's items.
 */
enum { SAMPLES = 1000000000 };

static int read_state(const char *name, size_t n, int *ret_state, struct lb_error *err)
{
    for (int s = 0; s < LB_AGED_STATES; s++) {
        if (strlen(lb_aged_state_names[s]) != n || strncmp(lb_aged_state_names[s], name, n) != 0)
            continue;
        if (s == LB_AGED_WAITING)
            return lb_fail(err, LB_E_USAGE, "aged: items that wait are those of backlog");
        if (s == LB_AGED_CLAIMED)
            return lb_fail(err, LB_E_USAGE,
                           "aged: items that are in hand would be recovered during the run");
        *ret_state = s;
        return 0;
    }
    return lb_fail(err, LB_E_USAGE,
                   "aged: '%.*s' is not finished, failed, delayed, other-class or dead", (int)n,
                   name);
}

int lb_aged_table_parse(const char *text, struct lb_aged_table_plan *ret, struct lb_error *err)
{
    struct lb_aged_table_plan plan = {{0}};
    for (const char *at = text; *at != '\0';) {
        char number[32];
        size_t n = strcspn(at, "=,"), length = at[n] == '=' ? strcspn(at + n + 1, ",") : 0;
        int state = 0;
        if (read_state(at, n, &state, err) != 0)
            return LB_E_USAGE;
        snprintf(number, sizeof number, "%.*s", (int)length, at + n + 1);
        if (length == 0 || length >= sizeof number ||
            lb_parse_count(number, &plan.n_items[state]) != 0 || plan.n_items[state] == 0 ||
            plan.n_items[state] > LB_AGED_MOST_ITEMS)
            return lb_fail(err, LB_E_USAGE, "aged: %s=N needs a number from 1 to %d, such as 1M",
                           lb_aged_state_names[state], LB_AGED_MOST_ITEMS);
        at += n + 1 + length;
        at += *at == ',';
    }
    *ret = plan;
    return 0;
}

/* Keys are this far apart from copy to copy: further than any two of the samples. */
static int64_t stride_of(const struct lb_aged *aged, size_t n)
{
    int64_t stride = 1;
    for (size_t t = 0; t < aged[0].n_tables; t++)
        for (size_t c = 0; c < aged[0].tables[t].n_columns; c++) {
            int64_t least = INT64_MAX, most = INT64_MIN;
            for (size_t i = 0; i < n; i++) {
                const struct lb_aged_column *column = &aged[i].tables[t].columns[c];
                if (aged[i].tables[t].n_samples == 0 || !column->varies ||
                    column->kind != LB_AGED_INT)
                    continue;
                least = column->least < least ? column->least : least;
                most = column->most > most ? column->most : most;
            }
            if (least <= most && most - least >= stride)
                stride = most - least + 1;
        }
    return stride;
}

/* An item that a claim gets would be one that was never put. */
static int must_be_empty(struct lb_actor *actor, struct lb_error *err)
{
    struct lb_error ignored;
    bool is_claimed = false;
    int r = lb_session_begin(actor->session, LB_BEGIN_DEFAULT, err);
    if (r == LB_OK)
        r = lb_aged_claims(actor, &is_claimed, err);
    lb_session_rollback(actor->session, &ignored);
    if (r < 0)
        return r;
    return is_claimed
               ? lb_fail(err, LB_E_UNSUPPORTED, "aged: %s lets a worker claim one of these items",
                         actor->plan->strategy->name)
               : 0;
}

static int analyse(const struct lb_db *db, struct lb_space *space, struct lb_error *err)
{
    struct lb_aged aged = {0};
    int r = lb_aged_open(&aged, db, space, err);
    if (r == 0)
        r = lb_aged_analyse(&aged, err);
    lb_aged_release(&aged);
    return r;
}

/* The rows to make: their table, and the statistics that the server has of it. */
struct making {
    const struct lb_aged_table_plan *plan;
    enum lb_aged_statistics statistics;
    struct lb_actor *actor;
    struct lb_space *space;
    const atomic_int *interrupt;
    size_t n; /* states so far */
};

/* A few items in the state. Only stale statistics need the background to be off. The first one
 * sees the tables empty. */
static int begin(struct making *making, struct lb_aged *aged, enum lb_aged_state state,
                 struct lb_error *err)
{
    bool has_rows = false;
    const bool is_stale = making->statistics == LB_AGED_STALE && making->n == 0;
    int r = lb_aged_begin(
        aged, making->actor, making->space, state, is_stale ? LB_AGED_STALE : LB_AGED_DEFAULT,
        SAMPLES + (int64_t)(LB_AGED_ITEMS * making->n), making->interrupt, &has_rows, err);
    making->n++;
    return r == LB_E_UNSUPPORTED ? lb_fail_prefix(err, "aged: %s items", lb_aged_state_names[state])
                                 : r;
}

static int multiply(const struct making *making, struct lb_aged *aged, enum lb_aged_state state,
                    struct lb_error *err)
{
    uint64_t copies = (making->plan->n_items[state] + LB_AGED_ITEMS - 1) / LB_AGED_ITEMS - 1;
    aged->lowered = SAMPLES + (STATES + 1) * LB_AGED_ITEMS;
    return copies > 0 || aged->is_dead
               ? lb_aged_fill(aged, 0, copies > 0 ? copies : 1, copies > 0 ? copies : 1,
                              lb_aged_age_s(state), err)
               : 0;
}

static int make(struct making *making, struct lb_aged *aged, struct lb_error *err)
{
    enum lb_aged_state states[STATES];
    size_t n = 0;
    int r = 0;
    if (making->plan->n_items[LB_AGED_DEAD] > 0) {
        struct lb_aged dead = {0};
        r = begin(making, &dead, LB_AGED_DEAD, err);
        if (r == 0)
            r = multiply(making, &dead, LB_AGED_DEAD, err);
        lb_aged_release(&dead);
    }
    for (size_t i = 0; i < STATES && r == 0; i++) {
        if (making->plan->n_items[order[i]] == 0)
            continue;
        states[n] = order[i];
        r = begin(making, &aged[n++], order[i], err);
    }
    int64_t stride = r == 0 && n > 0 ? stride_of(aged, n) : 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        aged[i].stride = stride;
        r = multiply(making, &aged[i], states[i], err);
    }
    return r;
}

int lb_aged_table_fill(const struct lb_aged_table_plan *plan, enum lb_aged_statistics statistics,
                       struct lb_actor *actor, struct lb_space *space, const atomic_int *interrupt,
                       struct lb_error *err)
{
    struct lb_aged aged[STATES] = {{0}};
    struct making making = {.plan = plan,
                            .statistics = statistics,
                            .actor = actor,
                            .space = space,
                            .interrupt = interrupt};
    struct lb_strategy_plan slow = *actor->plan;
    const struct lb_strategy_plan *usual = actor->plan;
    slow.delay_ms = LB_AGED_DELAY_MS;
    if (usual->program->makes_schema)
        return lb_fail(err, LB_E_UNSUPPORTED,
                       "aged: its setup makes a schema: only the tables of the run's own schema "
                       "are aged");
    actor->plan = &slow;
    int r = make(&making, aged, err);
    if (r == 0 && statistics == LB_AGED_FRESH)
        r = analyse(actor->session->db, space, err);
    if (r == 0)
        r = must_be_empty(actor, err);
    actor->plan = usual;
    for (size_t i = 0; i < STATES; i++)
        lb_aged_release(&aged[i]);
    return r;
}
