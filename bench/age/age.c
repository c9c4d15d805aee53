/* Measuring a queue at growing sizes: see age.h. */
#include "age.h"

#include "age_bench.h"
#include "aged_index.h"
#include "clock.h"
#include "memory.h"
#include "ordinary.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const lb_age_op_names[LB_AGE_OPS] = {
    [LB_AGE_PUT] = "put",     [LB_AGE_CLAIM] = "claim", [LB_AGE_COMPLETE] = "complete",
    [LB_AGE_ERROR] = "error", [LB_AGE_RENEW] = "renew", [LB_AGE_RECOVER] = "recover",
    [LB_AGE_COUNT] = "count"};

/* --- operations --- */

static void note(struct lb_age_bench *bench, enum lb_age_op op, uint64_t start_ns)
{
    struct lb_age_point *point = &bench->state->curves[op].points[bench->size];
    const struct lb_aged_cost *cost = &bench->cost;
    bool is_settled = cost->settled_cost > cost->cost;
    point->cost = is_settled ? cost->settled_cost : cost->cost;
    point->scanned = cost->scanned;
    point->sorts = cost->sorts;
    point->locked = cost->locked;
    uint64_t ns = lb_now_ns() - start_ns - cost->counting_ns;
    point->ns = point->ns == 0 || ns < point->ns ? ns : point->ns;
    point->margin = cost->margin;
    memcpy(point->other, cost->other_plan, sizeof point->other);
    snprintf(point->plan, sizeof point->plan, "%s", is_settled ? cost->settled_plan : cost->plan);
    bench->state->curves[op].is_there = true;
}

static int put(struct lb_age_bench *bench, struct lb_error *err)
{
    uint64_t start_ns = lb_now_ns();
    lb_aged_cost_begin(&bench->cost);
    int r = bench->plan->strategy->flow->put(&bench->actor, bench->next_id++, 1, "payload", err);
    note(bench, LB_AGE_PUT, start_ns);
    return lb_aged_answered(&bench->session, "put", r, err);
}

static int claim(struct lb_age_bench *bench, struct lb_item *item, struct lb_error *err)
{
    uint32_t n = 0;
    int64_t marked = 0;
    uint64_t start_ns = lb_now_ns();
    lb_aged_cost_begin(&bench->cost);
    int r = bench->plan->strategy->flow->claim(&bench->actor, 1, item, 1, &n, &marked, err);
    note(bench, LB_AGE_CLAIM, start_ns);
    if (r == LB_OK && n == 0)
        r = LB_EMPTY;
    return lb_aged_answered(&bench->session, "claim", r, err);
}

static int end(struct lb_age_bench *bench, enum lb_age_op op, enum lb_section_name section,
               struct lb_item *item, struct lb_error *err)
{
    uint64_t start_ns = lb_now_ns();
    lb_aged_cost_begin(&bench->cost);
    int r = lb_aged_end(&bench->actor, section, item, err);
    note(bench, op, start_ns);
    return lb_aged_answered(&bench->session, lb_section_text(section), r, err);
}

static int count(struct lb_age_bench *bench, struct lb_error *err)
{
    struct lb_section_result result;
    struct lb_bag bag;
    lb_ordinary_fill_class(&bag, &bench->strategy_plan);
    return lb_runner_section(&bench->actor.runner, LB_S_COUNT, &bag, false, NULL, NULL, &result,
                             err);
}

/* What works on the whole class: in a transaction that is undone. */
static int whole(struct lb_age_bench *bench, enum lb_age_op op, struct lb_error *err)
{
    struct lb_error ignored;
    struct lb_age_curve *curve = &bench->state->curves[op];
    uint64_t start_ns = lb_now_ns();
    lb_aged_cost_begin(&bench->cost);
    int r = lb_session_begin(&bench->session, LB_BEGIN_DEFAULT, err);
    if (r == LB_OK && op == LB_AGE_COUNT)
        r = count(bench, err);
    else if (r == LB_OK)
        r = bench->plan->strategy->flow->class(&bench->actor, LB_S_RECOVER, err);
    note(bench, op, start_ns);
    lb_session_rollback(&bench->session, &ignored);
    if (r > LB_OK && r != LB_BUSY && r != LB_EMPTY)
        snprintf(curve->refused, sizeof curve->refused, "%s", lb_answer_name(r));
    return r < 0 ? r : 0;
}

static int measure_size(struct lb_age_bench *bench, struct lb_error *err)
{
    enum { ITEMS = 3 };
    struct lb_item item = {0};
    const struct lb_strategy_plan *plan = &bench->strategy_plan;
    int r = 0;
    for (int i = 0; i < ITEMS && r == 0; i++)
        r = put(bench, err);
    /* The claim that is kept is that of the last round; the others have warmed what it reads. */
    for (int i = 0; i < ITEMS && r == 0; i++) {
        bool fails = i == 0 && lb_strategy_has(plan, LB_S_ERROR);
        r = claim(bench, &item, err);
        if (r == 0 && lb_strategy_has(plan, LB_S_RENEW))
            r = end(bench, LB_AGE_RENEW, LB_S_RENEW, &item, err);
        if (r == 0)
            r = end(bench, fails ? LB_AGE_ERROR : LB_AGE_COMPLETE,
                    fails ? LB_S_ERROR : LB_S_COMPLETE, &item, err);
    }
    if (r == 0 && lb_strategy_has(plan, LB_S_RECOVER))
        r = whole(bench, LB_AGE_RECOVER, err);
    if (r == 0 && lb_strategy_has(plan, LB_S_COUNT))
        r = whole(bench, LB_AGE_COUNT, err);
    return r;
}

/* --- laws --- */

/* Where the plan changes between two sizes, each plan has a law of its own: that with the most
 * points says how the cost grows, and the last cost how high it is by now. */
static void fit_curve(const struct lb_age *age, size_t n_points, struct lb_age_curve *curve)
{
    double x[LB_AGE_SIZES], y[LB_AGE_SIZES];
    size_t from = 0, n = 0, last = n_points - 1;
    for (size_t i = 0, begin = 0; i < n_points; i++) {
        x[i] = (double)age->sizes[i];
        y[i] = curve->points[i].cost;
        if (i > 0 && strcmp(curve->points[i - 1].plan, curve->points[i].plan) != 0)
            begin = i;
        if (i + 1 - begin >= n) {
            from = begin;
            n = i + 1 - begin;
        }
    }
    if (n < 2) {
        from = 0;
        n = n_points;
    }
    lb_growth_fit(x, y, n_points, &curve->growth);
    if (curve->growth.law == LB_GROWTH_FLAT) /* an early plan that grew is gone */
        return;
    const struct lb_growth whole = curve->growth;
    lb_growth_fit(x + from, y + from, n, &curve->growth);
    /* An early flat plan does not excuse a later one that grows as fast as the items, by four. */
    if (curve->growth.law == LB_GROWTH_FLAT && from + n <= last && y[last] > 3 * y[last - 1])
        curve->growth = whole;
    curve->growth.per_1000 = (y[last] - y[0]) / (x[last] - x[0]) * 1000;
    double fitted = lb_growth_at(&curve->growth, x[last]);
    if (from + n <= last && fitted > 0) {
        curve->growth.a *= y[last] / fitted;
        curve->growth.b *= y[last] / fitted;
    }
}

/* The margin to another plan shrinks by a power of the size; where it is 1, the planner changes. */
static void fit_flip(const struct lb_age *age, size_t n_points, struct lb_age_curve *curve)
{
    const struct lb_age_point *b = &curve->points[n_points - 1], *a = b - 1;
    const double x = (double)age->sizes[n_points - 1];
    if (a->margin <= 1 || b->margin <= 1 || b->margin >= a->margin || strcmp(a->plan, b->plan) != 0)
        return;
    double power = log(a->margin / b->margin) / log(x / (double)age->sizes[n_points - 2]);
    double at = x * pow(b->margin, 1 / power);
    double unit = pow(10, floor(log10(at)) - 1); /* two digits are enough */
    curve->flips_at = at <= LB_AGE_FLIPS ? round(at / unit) * unit : 0;
}

static void fit_state(struct lb_age *age, struct lb_age_state *state)
{
    for (size_t op = 0; op < LB_AGE_OPS && state->n_points > 1; op++) {
        struct lb_age_curve *curve = &state->curves[op];
        if (!curve->is_there || curve->refused[0] != '\0')
            continue;
        fit_curve(age, state->n_points, curve);
        fit_flip(age, state->n_points, curve);
    }
}

/* --- the missing index --- */

/* What the operation that grows costs with an index of these words; it is dropped again. An index
 * that the server does not make costs more than any. */
static int try_index(struct lb_age_bench *bench, const char *words, double *ret_cost,
                     struct lb_error *err)
{
    enum { ROUNDS = 2 };
    char sql[700];
    struct lb_item item = {0};
    struct lb_error ignored;
    double cost = 0;
    snprintf(sql, sizeof sql, "CREATE INDEX lb_age_index ON %s", words);
    if (bench->db->run(bench->aged.conn, sql, &ignored) != LB_OK)
        return 0;
    int r = bench->plan->statistics == LB_AGED_FRESH ? lb_aged_analyse(&bench->aged, err) : 0;
    /* The curve has its points already: they stay. */
    struct lb_age_state *state = bench->state, *with = lb_calloc(1, sizeof *with);
    bench->state = with;
    for (int i = 0; i < ROUNDS && r == 0; i++) {
        r = put(bench, err);
        if (r == 0)
            r = claim(bench, &item, err);
        if (r == 0)
            r = end(bench, LB_AGE_COMPLETE, LB_S_COMPLETE, &item, err);
    }
    cost = with->curves[state->index_op].points[bench->size].cost;
    free(with);
    bench->state = state;
    if (r == 0)
        *ret_cost = cost;
    snprintf(sql, sizeof sql,
             bench->aged.aging->drops_from_table ? "DROP INDEX lb_age_index ON %.*s"
                                                 : "DROP INDEX lb_age_index",
             (int)strcspn(words, " "), words);
    return r == 0 ? lb_aged_run(&bench->aged, sql, err) : r;
}

/* The cheapest of the indexes that the operation's conditions and order ask for, if it ends the
 * growth. */
static int find_index(struct lb_age_bench *bench, struct lb_error *err)
{
    struct lb_age_state *state = bench->state;
    static const enum lb_section_name sections[LB_AGE_OPS] = {
        [LB_AGE_PUT] = LB_S_PUT, [LB_AGE_CLAIM] = LB_S_CLAIM, [LB_AGE_COMPLETE] = LB_S_COMPLETE};
    const struct lb_age_curve *curve = &state->curves[state->index_op];
    const struct lb_section *section = &bench->program->sections[sections[state->index_op]];
    const bool is_partial = (bench->db->caps(bench->session.conn) & LB_CAP_PARTIAL_INDEX) != 0;
    struct lb_aged_indexes indexes = {0};
    double best = curve->points[bench->size].cost / 2;
    int r = 0;
    for (size_t i = 0; i < section->n_statements; i++)
        lb_aged_propose(&indexes, section->statements[i].sql, bench->db->dialect, is_partial);
    for (size_t i = 0; i < indexes.n && r == 0; i++) {
        double cost = DBL_MAX;
        r = try_index(bench, indexes.words[i], &cost, err);
        if (r != 0 || cost >= best)
            continue;
        best = cost;
        state->index_cost = cost;
        snprintf(state->index, sizeof state->index, "%s", indexes.words[i]);
    }
    return r;
}

/* --- another plan beyond the largest size --- */

static int run_of_items(struct lb_age_bench *bench, const char *format, uint64_t items,
                        struct lb_error *err)
{
    char sql[2000], number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)items);
    lb_aged_expression(sql, sizeof sql, format, "", number);
    return lb_aged_answered(&bench->session, "its statistics",
                            bench->db->run(bench->session.conn, sql, err), err);
}

static bool keeps(const struct lb_age_bench *bench)
{
    return bench->db->aging->keep_statistics != NULL && bench->plan->statistics == LB_AGED_FRESH;
}

static int keep_statistics(struct lb_age_bench *bench, struct lb_error *err)
{
    return keeps(bench) ? run_of_items(bench, bench->db->aging->keep_statistics,
                                       bench->plan->sizes[bench->size], err)
                        : 0;
}

/* Measures once more with the statistics of a table of that size. True in ret_differs if the
 * planner has another plan then. */
static int plan_at(struct lb_age_bench *bench, uint64_t items, struct lb_age_state *with,
                   bool *ret_differs, struct lb_error *err)
{
    struct lb_age_state *state = bench->state;
    int r = run_of_items(bench, bench->db->aging->predict_statistics, items, err);
    bench->state = with;
    if (r == 0)
        r = measure_size(bench, err);
    bench->state = state;
    for (int op = 0; op < LB_AGE_OPS && r == 0; op++)
        if (state->curves[op].is_there && strcmp(state->curves[op].points[bench->size].plan,
                                                 with->curves[op].points[bench->size].plan) != 0)
            ret_differs[op] = true;
    return r;
}

/* The planner is asked at LB_AGE_FLIPS first, and only if it changes its mind until there, at the
 * sizes between. */
static int find_flips(struct lb_age_bench *bench, struct lb_error *err)
{
    const double step = 1.25;
    if (!keeps(bench) || bench->size == 0 || bench->age->sizes[bench->size] >= LB_AGE_FLIPS)
        return 0;
    struct lb_age_state *state = bench->state, *with = lb_calloc(1, sizeof *with);
    bool differs[LB_AGE_OPS] = {false}, is_any = false;
    double items = (double)bench->age->sizes[bench->size];
    int r = plan_at(bench, LB_AGE_FLIPS, with, differs, err);
    for (int op = 0; op < LB_AGE_OPS; op++)
        is_any = is_any || differs[op];
    while (r == 0 && is_any && items < LB_AGE_FLIPS) {
        bool now[LB_AGE_OPS] = {false};
        items = fmin(items * step, LB_AGE_FLIPS);
        double unit = pow(10, floor(log10(items)) - 1); /* two digits are enough */
        r = plan_at(bench, (uint64_t)items, with, now, err);
        for (int op = 0; op < LB_AGE_OPS && r == 0; op++) {
            struct lb_age_point *last = &state->curves[op].points[bench->size];
            if (!now[op] || state->curves[op].flips_at > 0)
                continue;
            state->curves[op].flips_at = round(items / unit) * unit;
            snprintf(last->other, sizeof last->other, "%.*s", (int)sizeof last->other - 1,
                     with->curves[op].points[bench->size].plan);
        }
    }
    free(with);
    return r;
}

/* --- one state --- */

static int hold_snapshot(struct lb_age_bench *bench, struct lb_error *err)
{
    struct lb_conn_options options = {.role = "old snapshot", .isolation = LB_ISO_REPEATABLE_READ};
    int r = lb_session_open(&bench->snapshot, bench->db, bench->space, &options, err);
    bench->has_snapshot = r == 0;
    if (r == 0)
        r = lb_session_begin(&bench->snapshot, LB_BEGIN_DEFERRED, err);
    return r == 0 ? bench->db->take_snapshot(bench->snapshot.conn, err) : r;
}

/* A transaction that is open elsewhere in the database keeps the dead rows of the measuring itself,
 * and they stand where an operation reads. They may be all that it reads more. */
static int check_kept(const struct lb_age_bench *bench, bool is_kept, struct lb_error *err)
{
    enum { PAGES = 72 }; /* of one size: three rounds of a few operations, each executed thrice */
    const struct lb_age_point *points = bench->state->curves[bench->state->index_op].points;
    double growth = points[bench->size].cost - points[0].cost;
    if (!is_kept || growth > (double)(PAGES * bench->size))
        return 0;
    return lb_fail(
        err, LB_E_UNSUPPORTED,
        "another session has a transaction open in this database, which keeps dead rows: "
        "end it, use a database of its own, or measure more rows");
}

static int measure_sizes(struct lb_age_bench *bench, enum lb_aged_state state, struct lb_error *err)
{
    const struct lb_age_plan *plan = bench->plan;
    const uint64_t total = plan->sizes[plan->n_sizes - 1] / LB_AGED_ITEMS;
    uint64_t filled = 1; /* the samples themselves */
    uint64_t measured_ns = lb_now_ns();
    bool is_kept = false;
    bool has_rows = false;
    const bool is_dead = state == LB_AGED_DEAD && bench->db->aging->dead_unit != NULL;
    int r = is_dead ? hold_snapshot(bench, err) : 0;
    if (r == 0)
        r = lb_aged_begin(&bench->aged, &bench->actor, bench->space, state, plan->statistics, 1,
                          plan->interrupt, &has_rows, err);
    bench->state->leaves_no_rows = r == 0 && !has_rows;
    if (r != 0 || !has_rows)
        return r;
    bench->next_id = LB_AGED_ITEMS + 1;
    lb_aged_cost_watch(&bench->cost, bench->program, &bench->session);
    bench->cost.is_dead_asked = is_dead;
    for (bench->size = 0; bench->size < plan->n_sizes && r == 0; bench->size++) {
        uint64_t to = plan->sizes[bench->size] / LB_AGED_ITEMS;
        if (atomic_load(plan->interrupt) != 0)
            r = lb_fail(err, LB_E_INTERRUPTED, "interrupted");
        if (r == 0)
            r = lb_aged_fill(&bench->aged, filled - 1, to - 1, total, lb_aged_age_s(state), err);
        filled = to;
        if (r == 0 && plan->statistics == LB_AGED_FRESH)
            r = lb_aged_analyse(&bench->aged, err);
        if (r == 0)
            r = keep_statistics(bench, err);
        if (r == 0 && !is_dead && plan->statistics == LB_AGED_FRESH)
            r = lb_aged_open_since(&bench->aged, measured_ns, &is_kept, err);
        if (r == 0)
            r = measure_size(bench, err);
        measured_ns = lb_now_ns();
        bench->state->n_points += r == 0;
    }
    if (r == 0 || r == LB_E_INTERRUPTED)
        fit_state(bench->age, bench->state);
    if (r != 0)
        return r;
    bench->size = plan->n_sizes - 1;
    while (bench->state->index_op < LB_AGE_OPS &&
           !lb_age_op_grows(bench->state, (int)bench->state->index_op))
        bench->state->index_op++;
    if (bench->state->index_op < LB_AGE_OPS)
        r = check_kept(bench, is_kept, err);
    if (r != 0)
        return r;
    /* The others are not tried with an index; and an index has the dead rows, too. */
    if (bench->state->index_op <= LB_AGE_COMPLETE && !is_dead)
        r = find_index(bench, err);
    if (r == 0)
        r = find_flips(bench, err);
    if (r == LB_E_UNSUPPORTED) /* without these, the curves stand */
        r = err->code = 0;
    return r;
}

static int measure_state(const struct lb_age_plan *plan, enum lb_aged_state state,
                         struct lb_age *age, struct lb_error *err)
{
    struct lb_age_bench *bench = lb_calloc(1, sizeof *bench);
    struct lb_age_state *into = &age->states[state];
    into->is_asked = true;
    bench->plan = plan;
    bench->db = plan->target->db;
    bench->age = age;
    bench->state = into;
    int r = lb_age_open(bench, 1, err);
    bool is_opened = r == 0;
    if (r == 0)
        r = measure_sizes(bench, state, err);
    r = lb_age_close(bench, r, err);
    free(bench);
    if (is_opened && (r == LB_E_UNSUPPORTED || r == LB_E_SQL)) {
        snprintf(into->refused, sizeof into->refused, "%s", err->message);
        err->code = r = 0;
    }
    return r;
}

int lb_age_measure(const struct lb_age_plan *plan, struct lb_age *ret, struct lb_error *err)
{
    int r = 0;
    if (plan->strategy->shape != LB_QUEUE)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s is a lock: only queues have items that age",
                       plan->strategy->name);
    if (plan->file == NULL || plan->target->db->aging == NULL)
        return lb_fail(err, LB_E_UNSUPPORTED, "%s has no statements for %s", plan->strategy->name,
                       plan->target->db->product);
    *ret = (struct lb_age){.unit = plan->target->db->aging->unit,
                           .dead_unit = plan->target->db->aging->dead_unit,
                           .counts_scans = plan->target->db->aging->counts_scans,
                           .n_sizes = plan->n_sizes};
    memcpy(ret->sizes, plan->sizes, sizeof ret->sizes);
    for (int state = 0; state < LB_AGED_STATES && r == 0; state++)
        if ((plan->states >> state & 1) != 0)
            r = measure_state(plan, (enum lb_aged_state)state, ret, err);
    return r;
}

bool lb_age_grows(const struct lb_age *age)
{
    for (int s = 0; s < LB_AGED_STATES; s++)
        for (int op = 0; op < LB_AGE_OPS; op++)
            if (lb_age_is_judged((enum lb_aged_state)s) && lb_age_is_measured(&age->states[s]) &&
                lb_age_op_grows(&age->states[s], op))
                return true;
    return false;
}

bool lb_age_is_known(const struct lb_age *age)
{
    for (int s = 0; s < LB_AGED_STATES; s++)
        if (lb_age_is_measured(&age->states[s]) || age->states[s].leaves_no_rows)
            return true;
    return false;
}
