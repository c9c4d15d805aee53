/* The guarantee share, on random histories: against the definition of docs/guarantees.md, counted
 * moment by moment for each tenant, and on lotteries that serve each tenant just as often as the
 * bound asks for. Shares no code with the judge but the formula of the margins. */
#include "check_expect.h"
#include "property.h"

#include "attribute.h"

enum {
    ITEMS = 300,
    TENANTS = 3,
    WORKERS = 3,
    UNKNOWN = 3,
    CLAIMS = ITEMS + ITEMS / 8,
    MOMENTS =
        14 * ITEMS, /* a claim takes less than 6 ticks, and there are up to 9/8 of the items */
    LOGS = 1 + WORKERS + UNKNOWN + ITEMS, /* an unknown outcome is the last of its process */
    EVENTS = 6 * ITEMS,
    BLOCKS = 20
};

static const uint64_t never = UINT64_MAX;

/* Time is in ticks; a moment is half a tick, on an event or between two. */
static struct item {
    uint32_t tenant;
    uint64_t put_low, put_high; /* put_high never: the outcome is unknown */
    uint64_t low;               /* of its first claim; never: it has none */
    uint64_t high;              /* of its last claim */
    bool is_finished;           /* ... which ended it */
} items[ITEMS];
static struct claim {
    uint64_t low, high;
    uint32_t tenant;
} claims[CLAIMS]; /* in order of their requests */
static struct {
    uint64_t low;
    uint32_t n;
} unknown[UNKNOWN]; /* claims */
static size_t n_items, n_claims, n_unknown, n_logs;

static struct lb_event events[LOGS][EVENTS];
static size_t n_events[LOGS];

static void append(size_t log, int type, int op, uint64_t at, uint64_t value, uint32_t arg)
{
    events[log][n_events[log]++] =
        (struct lb_event){.time_ns = at,
                          .value = value,
                          .process = (uint32_t)log,
                          .arg = arg,
                          .object = op == LB_OP_ATTRIBUTE ? LB_A_TENANT : 0,
                          .op = (uint8_t)op,
                          .flags = type == LB_EV_OK ? LB_EVF_EFFECTIVE : 0,
                          .type = (uint8_t)type};
}

/* --- random histories --- */

struct recipe {
    uint32_t n, n_claims;    /* of items; of claims at most: it may end before the queue is empty */
    uint32_t parts[TENANTS]; /* how many of the items are a tenant's */
    uint32_t weights[TENANTS]; /* of its claims, by lot; all 0: the tenants take turns */
    uint32_t n_workers, n_unknown;
    bool puts_later, puts_fail, comes_back;
};

static uint32_t draw(struct lb_random *random, const uint32_t *weights)
{
    uint64_t drawn = lb_random_below(random, (uint64_t)weights[0] + weights[1] + weights[2]);
    return drawn < weights[0] ? 0 : drawn < (uint64_t)weights[0] + weights[1] ? 1 : 2;
}

static void make_puts(struct lb_random *random, const struct recipe *recipe)
{
    uint64_t time = 10;
    for (; n_items < recipe->n; n_items++) {
        const uint64_t from = recipe->puts_later ? time : 2;
        const uint64_t to = from + (recipe->puts_later ? lb_random_below(random, 4) : 0);
        const bool fails = recipe->puts_fail && lb_random_below(random, 16) == 0;
        const size_t log = fails ? n_logs++ : 0;
        struct item *item = &items[n_items];
        *item = (struct item){draw(random, recipe->parts), from, fails ? never : to, never, 0, 0};
        append(log, LB_EV_NOTE, LB_OP_ATTRIBUTE, from, n_items + 1, item->tenant);
        append(log, LB_EV_INVOKE, LB_OP_PUT, from, n_items + 1, 1);
        append(log, fails ? LB_EV_INFO : LB_EV_OK, LB_OP_PUT, to, n_items + 1, 1);
        time = to + lb_random_below(random, 3);
    }
}

/* A claim, and perhaps the end of its item. Returns true if that comes back. */
static bool serve(struct lb_random *random, const struct recipe *recipe, size_t log, uint64_t low,
                  size_t i)
{
    const uint64_t high = low + lb_random_below(random, 5);
    const uint64_t fate = recipe->comes_back ? lb_random_below(random, 8) : 2;
    struct item *item = &items[i];
    append(log, LB_EV_INVOKE, LB_OP_CLAIM, low, 0, 1);
    append(log, LB_EV_NOTE, LB_OP_ITEM, high, i + 1, 0);
    append(log, LB_EV_OK, LB_OP_CLAIM, high, 1, 1);
    for (int k = 0; k < 2 && fate > 0; k++)
        append(log, k == 0 ? LB_EV_INVOKE : LB_EV_OK, fate == 1 ? LB_OP_FREE : LB_OP_COMPLETE, high,
               i + 1, 0);
    claims[n_claims++] = (struct claim){low, high, item->tenant};
    item->low = low < item->low ? low : item->low;
    item->high = high > item->high ? high : item->high;
    item->is_finished = fate > 1;
    return fate == 1;
}

/* The next items of each tenant; n_items: none. */
struct line {
    size_t next[TENANTS], back[TENANTS]; /* back: one that was freed */
    uint32_t turn;
};

static size_t first_of(const struct line *line, uint32_t tenant, uint64_t time)
{
    const size_t back = line->back[tenant], next = line->next[tenant];
    return back < n_items && items[back].high < time      ? back
           : next < n_items && items[next].put_low < time ? next
                                                          : n_items;
}

static void move_on(struct line *line, uint32_t tenant)
{
    size_t *next = &line->next[tenant];
    while (*next < n_items && (items[*next].tenant != tenant || items[*next].low != never))
        ++*next;
}

static uint32_t choose(struct lb_random *random, const struct recipe *recipe, const bool *is_there,
                       uint32_t *turn)
{
    uint32_t weights[TENANTS];
    for (uint32_t t = 0; t < TENANTS; t++)
        weights[t] = is_there[t] ? recipe->weights[t] : 0;
    if (weights[0] + weights[1] + weights[2] > 0)
        return draw(random, weights);
    do
        *turn = (*turn + 1) % TENANTS;
    while (!is_there[*turn]);
    return *turn;
}

static void make_claims(struct lb_random *random, const struct recipe *recipe)
{
    uint64_t free_at[WORKERS] = {20, 20, 20}, time = 20;
    struct line line = {.back = {n_items, n_items, n_items}};
    for (uint32_t k = 0; k < recipe->n_claims; k++) {
        bool is_there[TENANTS], is_any = false;
        uint32_t w = 0;
        for (uint32_t i = 1; i < recipe->n_workers; i++)
            w = free_at[i] < free_at[w] ? i : w;
        time = (free_at[w] > time ? free_at[w] : time) + 1 + lb_random_below(random, 2);
        for (uint32_t t = 0; t < TENANTS; t++) {
            move_on(&line, t);
            is_there[t] = first_of(&line, t, time) < n_items;
            is_any = is_any || is_there[t];
        }
        if (!is_any)
            continue;
        const uint32_t t = choose(random, recipe, is_there, &line.turn);
        const size_t i = first_of(&line, t, time);
        line.back[t] = i == line.back[t] ? n_items : line.back[t];
        if (serve(random, recipe, 1 + w, time, i))
            line.back[t] = i;
        free_at[w] = claims[n_claims - 1].high;
    }
    for (; n_unknown < recipe->n_unknown; n_unknown++) {
        const size_t log = n_logs++;
        unknown[n_unknown].low = 10 + lb_random_below(random, time);
        unknown[n_unknown].n = 1 + (uint32_t)lb_random_below(random, 3);
        append(log, LB_EV_INVOKE, LB_OP_CLAIM, unknown[n_unknown].low, 0, unknown[n_unknown].n);
        append(log, LB_EV_INFO, LB_OP_CLAIM, unknown[n_unknown].low + 2, 0, 0);
    }
}

static void make_history(struct lb_random *random, const struct recipe *recipe)
{
    n_items = n_claims = n_unknown = 0;
    n_logs = 1 + WORKERS;
    memset(n_events, 0, sizeof n_events);
    make_puts(random, recipe);
    make_claims(random, recipe);
}

static const struct lb_finding *judge_items(uint32_t share_milli)
{
    static struct lb_span spans[LOGS];
    static struct lb_log_view logs[LOGS];
    struct lb_history_view view = {.meta = "", .n_logs = n_logs, .logs = logs};
    struct lb_model model = {.queue = true,
                             .claims = LB_G_BIT(LB_G_SHARE),
                             .complete = true,
                             .share_milli = share_milli};
    struct lb_error err = {0};
    for (uint32_t i = 0; i < n_logs; i++) {
        spans[i] = (struct lb_span){.events = events[i], .n = n_events[i]};
        logs[i] = (struct lb_log_view){
            .number = i, .n_spans = n_events[i] > 0, .spans = &spans[i], .n_events = n_events[i]};
        view.n_events += n_events[i];
    }
    if (lb_check(&view, &model, &judgement, &err) != 0)
        fail_msg("lb_check: %s", err.message);
    return &judgement.findings[LB_G_SHARE];
}

/* --- the definition --- */

/* Up to each moment of a tenant: how many there were at which it did not certainly have work, and
 * at which it perhaps had. */
static uint32_t idle[TENANTS][MOMENTS + 1], busy[TENANTS][MOMENTS + 1];

/* Adds items from one moment to another, both of them among these. */
static void add(int32_t *change, uint64_t from, uint64_t to, int32_t n)
{
    if (from > to)
        return;
    change[from] += n;
    change[to + 1] -= n;
}

static void count_moments(uint32_t tenant)
{
    static int32_t waiting[MOMENTS + 1], there[MOMENTS + 1];
    const uint64_t last = MOMENTS - 1;
    int32_t n_waiting = 0, n_there = 0;
    memset(waiting, 0, sizeof waiting);
    memset(there, 0, sizeof there);
    for (size_t i = 0; i < n_items; i++) {
        const struct item *item = &items[i];
        if (item->tenant != tenant)
            continue;
        if (item->put_high != never)
            add(waiting, 2 * item->put_high + 1, item->low == never ? last : 2 * item->low - 1, 1);
        add(there, 2 * item->put_low, item->is_finished ? 2 * item->high : last, 1);
    }
    for (size_t i = 0; i < n_unknown; i++)
        add(waiting, 2 * unknown[i].low, last, -(int32_t)unknown[i].n);
    for (size_t m = 0; m < MOMENTS; m++) {
        n_waiting += waiting[m];
        n_there += there[m];
        idle[tenant][m + 1] = idle[tenant][m] + (n_waiting <= 0);
        busy[tenant][m + 1] = busy[tenant][m] + (n_there > 0);
    }
}

struct sums {
    double served, least, most;
};

static enum lb_verdict define_tenant(const struct sums *blocks, double bound)
{
    struct sums all = {0};
    double taken = 0, squares = 0;
    for (int b = 0; b < BLOCKS; b++) {
        all.served += blocks[b].served;
        all.least += blocks[b].least;
        all.most += blocks[b].most;
    }
    for (size_t i = 0; i < n_unknown; i++)
        taken += unknown[i].n;
    if (all.least * bound < 3.9 * 3.9)
        return all.least > 0 ? LB_V_NOT_TESTED : LB_V_NOT_CLAIMED;
    if ((all.served + taken) / all.least + 3.9 * sqrt(bound / all.least) < bound)
        return LB_V_VIOLATED;
    for (int b = 0; b < BLOCKS; b++)
        squares += pow(blocks[b].served - all.served / all.most * blocks[b].most, 2);
    double scatter = 3.9 * sqrt(squares * BLOCKS / (BLOCKS - 1)) / all.most;
    double margin = fmax(scatter, 3.9 * sqrt(bound / all.most));
    return all.served / (all.most + taken) - margin < bound ? LB_V_NOT_TESTED : LB_V_HELD;
}

/* The verdict, and how many tenants are starved. */
static enum lb_verdict define(double bound, uint64_t *ret_n)
{
    struct sums sums[TENANTS][BLOCKS] = {0};
    unsigned seen = 0;
    for (uint32_t t = 0; t < TENANTS; t++)
        count_moments(t);
    for (size_t i = 0; i < n_claims; i++) {
        const uint64_t from = 2 * claims[i].low, to = 2 * claims[i].high + 1;
        const size_t b = i * BLOCKS / n_claims;
        bool is_sure[TENANTS], is_perhaps[TENANTS];
        int n_sure = 0, n_perhaps = 0;
        for (uint32_t t = 0; t < TENANTS; t++) {
            is_sure[t] = idle[t][to] == idle[t][from];
            is_perhaps[t] = busy[t][to] > busy[t][from];
            n_sure += is_sure[t];
            n_perhaps += is_perhaps[t];
        }
        sums[claims[i].tenant][b].served++;
        for (uint32_t t = 0; t < TENANTS; t++) {
            sums[t][b].least += is_sure[t] ? 1.0 / n_perhaps : 0;
            sums[t][b].most += is_perhaps[t] ? 1.0 / (n_sure > 0 ? n_sure : 1) : 0;
        }
    }
    *ret_n = 0;
    for (uint32_t t = 0; t < TENANTS; t++) {
        const enum lb_verdict verdict = define_tenant(sums[t], bound);
        seen |= 1u << verdict;
        *ret_n += verdict == LB_V_VIOLATED;
    }
    return *ret_n > 0                                                           ? LB_V_VIOLATED
           : (seen >> LB_V_NOT_TESTED & 1) != 0 || (seen >> LB_V_HELD & 1) == 0 ? LB_V_NOT_TESTED
                                                                                : LB_V_HELD;
}

/* --- the tests --- */

static struct recipe draw_recipe(struct lb_random *random)
{
    /* turns; lots; lots that starve all tenants but the first */
    static const uint32_t most[] = {0, 4, 60};
    const bool is_even = lb_random_below(random, 3) > 0;
    const uint32_t of_first = most[lb_random_below(random, 3)];
    struct recipe recipe = {.n = ITEMS * 2 / 3 + (uint32_t)lb_random_below(random, ITEMS / 3),
                            .n_workers = 1 + (uint32_t)lb_random_below(random, WORKERS),
                            .puts_later = lb_random_below(random, 5) == 0,
                            .puts_fail = lb_random_below(random, 4) == 0,
                            .comes_back = lb_random_below(random, 3) == 0};
    recipe.n_claims = lb_random_below(random, 3) > 0 ? recipe.n / 2 : recipe.n + recipe.n / 8;
    if (lb_random_below(random, 4) == 0)
        recipe.n_unknown = 1 + (uint32_t)lb_random_below(random, UNKNOWN);
    for (uint32_t t = 0; t < TENANTS; t++) {
        recipe.parts[t] = is_even ? 1 : 1 + (uint32_t)lb_random_below(random, 6);
        recipe.weights[t] = of_first == 0 ? 0
                            : t == 0 ? of_first / 2 + (uint32_t)lb_random_below(random, of_first)
                                     : 1 + (uint32_t)lb_random_below(random, 2);
    }
    if (lb_random_below(random, 2) == 0)
        recipe.parts[2] = 0;
    return recipe;
}

static void the_verdicts_are_those_of_the_definition(void **state)
{
    const char *wanted = getenv("LB_TEST_HISTORIES");
    const unsigned long n = wanted != NULL ? strtoul(wanted, NULL, 10) : 5000;
    unsigned long counted[LB_V_NOT_TESTED + 1] = {0};
    struct lb_random random;
    (void)state;
    lb_random_init(&random, lb_test_seed(), 0);
    for (unsigned long i = 0; i < n; i++) {
        const struct recipe recipe = draw_recipe(&random);
        /* .2 to .4 are often held, and .8 to 1 violated */
        const uint32_t milli = (lb_random_below(&random, 2) == 0 ? 200 : 800) +
                               100 * (uint32_t)lb_random_below(&random, 3);
        uint64_t n_starved;
        make_history(&random, &recipe);
        const struct lb_finding *finding = judge_items(milli);
        const enum lb_verdict verdict = define(milli / 1000.0, &n_starved);
        if (finding->verdict != verdict || finding->n_violations != n_starved)
            fail_msg("history %lu, bound %u: %s (%s), %llu tenants starved; by definition %s, %llu",
                     i, milli, lb_verdict_name(finding->verdict), finding->reason,
                     (unsigned long long)finding->n_violations, lb_verdict_name(verdict),
                     (unsigned long long)n_starved);
        counted[verdict]++;
    }
    printf("# %lu histories: %lu violated, %lu held, %lu not tested\n", n, counted[LB_V_VIOLATED],
           counted[LB_V_HELD], counted[LB_V_NOT_TESTED]);
    assert_in_range(counted[LB_V_VIOLATED], n / 20, n);
    assert_in_range(counted[LB_V_HELD], n / 20, n);
    assert_in_range(counted[LB_V_NOT_TESTED], n / 20, n);
}

/* A lottery whose chances are the bound itself: 1,000 of these have some violations by chance, at
 * most 1 of 100. */
static void a_lottery_is_rarely_accused(void **state)
{
    /* 1/6 for the small ones: half of 1/3 */
    static const struct recipe recipe = {
        .n = ITEMS, .n_claims = ITEMS, .parts = {20, 14, 2}, .weights = {4, 1, 1}, .n_workers = 1};
    const char *wanted = getenv("LB_TEST_HISTORIES");
    const unsigned long n = wanted != NULL ? strtoul(wanted, NULL, 10) : 300;
    unsigned long n_violated = 0;
    struct lb_random random;
    (void)state;
    lb_random_init(&random, lb_test_seed(), 1);
    for (unsigned long i = 0; i < n; i++) {
        make_history(&random, &recipe);
        n_violated += judge_items(500)->verdict == LB_V_VIOLATED;
    }
    printf("# %lu of %lu lotteries are accused\n", n_violated, n);
    assert_in_range(n_violated, 0, n / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdicts_are_those_of_the_definition),
        cmocka_unit_test(a_lottery_is_rarely_accused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
