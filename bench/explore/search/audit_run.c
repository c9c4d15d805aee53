/* Runs the pairs of an audit: see audit.c. */
#include "clock.h"
#include "search.h"

/* What a schedule came to. */
struct outcome {
    int violated; /* or LB_E_USAGE: it cannot be run to its end */
    struct lb_replayed replayed;
};

static int replay(const struct lb_system *system, void *arg, const struct lb_schedule *schedule,
                  size_t at, struct outcome *ret, struct lb_error *err)
{
    ret->replayed = (struct lb_replayed){.wants_left = true, .at = at};
    ret->violated = lb_search_replay(system, arg, schedule, &ret->replayed, err);
    return ret->violated < 0 && ret->violated != LB_E_USAGE ? ret->violated : 0;
}

/* at: the moves from there on are swapped; LB_MAX_LENGTH: none is, but workers may be renamed, and
 * an answer says whose it is. */
static bool is_same(const struct outcome *a, const struct outcome *b, size_t at, bool is_renamed)
{
    bool same = a->violated == b->violated && a->replayed.n == b->replayed.n &&
                (is_renamed || a->replayed.left == b->replayed.left);
    for (size_t i = 0; i < a->replayed.n && same && !is_renamed; i++) {
        size_t k = i == at ? i + 1 : i == at + 1 ? at : i;
        same = a->replayed.answers[i] == b->replayed.answers[k];
    }
    return same;
}

/* Of two moves from one state, each was made there as the first one. The search leaves an order out
 * only if they are independent as they were then. */
static bool claims_the_same(const struct outcome *run, const struct outcome *left_out,
                            bool is_renamed)
{
    return is_renamed || left_out->replayed.n <= left_out->replayed.at ||
           !lb_footprint_dependent(&run->replayed.touched, &left_out->replayed.touched);
}

/* 1: the two differ, again and again; 0: they came to the same once; 2: they need not, or it cannot
 * be told, since one schedule does not come to the same twice. A claim in random order has as few
 * as two answers: only many tries tell it from an error. */
static int compare(const struct lb_audit_pair *pair, const struct lb_system *system, void *arg,
                   struct lb_error *err)
{
    enum { TRIES = 20 };
    struct outcome run = {0}, left_out = {0}, before = {0};
    bool is_renamed = pair->at == LB_MAX_LENGTH;
    int r = 0, differs = 1;
    for (unsigned i = 0; i < TRIES && r == 0 && differs == 1; i++) {
        r = replay(system, arg, &pair->run, pair->at, &run, err);
        if (r == 0)
            r = replay(system, arg, &pair->left_out, pair->at, &left_out, err);
        if (run.replayed.is_choice || left_out.replayed.is_choice || run.replayed.gave_up ||
            left_out.replayed.gave_up || run.violated < 0 ||
            !claims_the_same(&run, &left_out, is_renamed) ||
            (i > 0 && !is_same(&run, &before, LB_MAX_LENGTH, false)))
            differs = 2;
        else if (is_same(&run, &left_out, pair->at, is_renamed))
            differs = 0;
        before = run;
    }
    return r < 0 ? r : differs;
}

int lb_audit_run(struct lb_audit *audit, const struct lb_system *system, void *arg,
                 uint64_t deadline_ns, const atomic_int *interrupt, struct lb_error *err)
{
    size_t start = audit->n > 0 ? lb_random_below(&audit->random, audit->n) : 0;
    for (size_t i = 0; i < audit->n && audit->differs == NULL; i++) {
        const struct lb_audit_pair *pair = &audit->pairs[(start + i) % audit->n];
        if ((interrupt != NULL && atomic_load(interrupt) != 0) ||
            (i > 0 && lb_now_ns() >= deadline_ns))
            break;
        int r = compare(pair, system, arg, err);
        if (r < 0)
            return r;
        audit->n_audited += r != 2;
        audit->differs = r == 1 ? pair : NULL;
    }
    return 0;
}
