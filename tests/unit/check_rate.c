/* The guarantee rate: histories written by hand, and random ones that are compared with a search
 * over all orders of the claims. In an order each claim takes effect as early as the ones before it
 * allow: if that is too late for one of them, the order has no moments for all. The search shares
 * no code with the judge. */
#include "check_expect.h"
#include "property.h"

enum { CLAIMS = 7, WORKERS = 6, RATE_MS = 100 };

/* The judge's window: less a millisecond, and a thousandth (lb_lease_margin). */
static const uint64_t window = (RATE_MS - 1) * (uint64_t)MS - RATE_MS * 1000;

struct begun {
    uint64_t low, high;
    uint32_t n;
};

static void begin(uint32_t most)
{
    history_init(&history, true);
    history.model.rate = most;
    history.model.rate_ms = RATE_MS;
    history.model.drained = false;
}

static void claim_some(uint32_t log, uint64_t first, uint32_t n, uint64_t from, uint64_t to)
{
    put(&history, 0, first, n, from, from);
    add_op(&history, log, LB_OP_CLAIM, from, to, LB_EV_OK, 0, n, n, 0);
    struct lb_event ok = *last_event(&history, log);
    history.n[log]--;
    for (uint32_t i = 0; i < n; i++)
        note(&history, log, LB_OP_ITEM, to, first + i, 0);
    add_event(&history, log, ok);
}

static void refused(uint32_t log, uint64_t from, uint64_t to)
{
    add_op(&history, log, LB_OP_CLAIM, from, to, LB_EV_FAIL, 0, 0, 1, 0);
}

/* --- by hand --- */

static void more_in_a_window_than_allowed_are_a_violation(void **state)
{
    (void)state;
    begin(2);
    claim_some(1, 1, 1, 1 * MS, 2 * MS);
    claim_some(2, 2, 1, 3 * MS, 4 * MS);
    claim_some(1, 3, 1, 50 * MS, 60 * MS);
    expect_text(LB_G_RATE,
                "3 items were begun between 1.000 ms and 60.000 ms, and at most 2 may be "
                "in 100 ms: the last one by worker 1");
    assert_int_equal(judgement.findings[LB_G_RATE].witness[0].n_ops, 3);
    begin(2);
    claim_some(1, 1, 3, 1 * MS, 2 * MS);
    expect(LB_G_RATE, LB_V_VIOLATED); /* one claim of three */
    begin(2);
    claim_some(1, 1, 3, 1 * MS, 900 * MS);
    expect(LB_G_RATE, LB_V_VIOLATED); /* ... which took long */
    history.model.claims &= ~(unsigned)LB_G_BIT(LB_G_RATE);
    expect(LB_G_RATE, LB_V_NOT_CLAIMED);
}

static void a_window_apart_is_far_enough(void **state)
{
    (void)state;
    for (int near = 0; near < 2; near++) {
        begin(1);
        claim_some(1, 1, 1, 1 * MS, 1 * MS);
        claim_some(1, 2, 1, 1 * MS + window - (uint64_t)near, 1 * MS + window - (uint64_t)near);
        expect(LB_G_RATE, near ? LB_V_VIOLATED : LB_V_HELD);
        begin(1); /* only perhaps so near */
        claim_some(1, 1, 1, 0, 1 * MS);
        claim_some(2, 2, 1, 1 * MS + window - 1, 1 * MS + window - (uint64_t)near);
        expect(LB_G_RATE, LB_V_HELD);
    }
}

/* Each two of three can be apart, and not all three. */
static void moments_must_exist_for_all(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        begin(1);
        claim_some(1, 1, 1, 10 * MS, 10 * MS + window);
        claim_some(2, 2, 1, 10 * MS, 10 * MS + window);
        claim_some(3, 3, 1, 10 * MS, 10 * MS + 2 * window - (late ? 0 : 1));
        expect(LB_G_RATE, late ? LB_V_NOT_TESTED : LB_V_VIOLATED);
    }
    begin(1); /* the long one must let the short one go first, and wait */
    claim_some(1, 1, 1, 0, 500 * MS);
    claim_some(2, 2, 1, 50 * MS, 60 * MS);
    refused(3, 61 * MS, 62 * MS);
    expect(LB_G_RATE, LB_V_HELD);
}

static void what_shows_nothing_is_not_tested(void **state)
{
    (void)state;
    begin(2);
    claim_some(1, 1, 1, 1 * MS, 2 * MS);
    claim_some(2, 2, 1, 3 * MS, 4 * MS);
    expect(LB_G_RATE, LB_V_NOT_TESTED); /* two, and no third claim */
    refused(2, 5 * MS, 6 * MS);
    expect(LB_G_RATE, LB_V_HELD);
    history.model.rate = 3;
    expect(LB_G_RATE, LB_V_NOT_TESTED); /* the limit was not reached */
    history.model.rate = 0;
    expect(LB_G_RATE, LB_V_NOT_TESTED); /* it is not known */
    history.model.rate = 1;
    history.model.rate_ms = 1;
    expect(LB_G_RATE, LB_V_NOT_TESTED); /* no clock can tell such a window */
    begin(1);
    claim_some(1, 1, 1, 1 * MS, 2 * MS);
    refused(2, 5 * MS, 6 * MS);
    add_op(&history, 3, LB_OP_CLAIM, 7 * MS, 8 * MS, LB_EV_INFO, 0, 1, 1, 0);
    expect(LB_G_RATE, LB_V_HELD); /* a claim of unknown outcome may have begun nothing */
}

/* --- compared with a search --- */

static struct begun all[CLAIMS];
static uint32_t n_all, most;

/* k items have begun, at start[]; chosen: which claims these are of. */
static bool has_order(unsigned chosen, uint32_t k, uint64_t *start)
{
    if (chosen == (1u << n_all) - 1)
        return true;
    for (uint32_t i = 0; i < n_all; i++) {
        uint64_t at = all[i].low;
        if ((chosen >> i & 1) != 0)
            continue;
        if (k > 0 && start[k - 1] > at)
            at = start[k - 1];
        for (uint32_t t = 0; t < all[i].n; t++)
            if (k + t >= most && k + t - most < k && start[k + t - most] + window > at)
                at = start[k + t - most] + window;
        if (at > all[i].high || all[i].n > most)
            continue;
        for (uint32_t t = 0; t < all[i].n; t++)
            start[k + t] = at;
        if (has_order(chosen | 1u << i, k + all[i].n, start))
            return true;
    }
    return false;
}

static void make_random(struct lb_random *random)
{
    static const uint64_t parts[] = {1, 2, 4, 5, 10};
    const uint64_t unit = window / parts[lb_random_below(random, 5)];
    const bool has_batches = lb_random_below(random, 4) == 0;
    const uint64_t pause = 1 + lb_random_below(random, 2 * (window / unit) + 2);
    const uint64_t length = 1 + lb_random_below(random, 3 * (window / unit));
    uint64_t time[WORKERS + 1] = {0}, id = 1;
    most = 1 + (uint32_t)lb_random_below(random, 3);
    n_all = 2 + (uint32_t)lb_random_below(random, CLAIMS - 1);
    begin(most);
    for (uint32_t i = 0; i < n_all; i++) {
        const uint32_t log = 1 + (uint32_t)lb_random_below(random, WORKERS);
        struct begun *one = &all[i];
        one->n = has_batches ? 1 + (uint32_t)lb_random_below(random, 3) : 1;
        one->low = time[log] + lb_random_below(random, pause) * unit;
        one->high = one->low + lb_random_below(random, length) * unit;
        time[log] = one->high;
        add_op(&history, log, LB_OP_CLAIM, one->low, one->high, LB_EV_OK, 0, one->n, one->n, 0);
        struct lb_event ok = *last_event(&history, log);
        history.n[log]--;
        for (uint32_t k = 0; k < one->n; k++)
            note(&history, log, LB_OP_ITEM, one->high, id++, 0);
        add_event(&history, log, ok);
        if (lb_random_below(random, 4) == 0)
            refused(log, one->high, one->high);
    }
}

static void the_verdicts_are_those_of_a_search(void **state)
{
    const char *wanted = getenv("LB_TEST_HISTORIES");
    const unsigned long n = wanted != NULL ? strtoul(wanted, NULL, 10) : 20000;
    unsigned long n_violated = 0, n_hard = 0, n_missed = 0, n_batches = 0;
    struct lb_random random;
    (void)state;
    lb_random_init(&random, lb_test_seed(), 0);
    for (unsigned long i = 0; i < n; i++) {
        uint64_t start[3 * CLAIMS];
        bool is_single = true;
        make_random(&random);
        const bool is_possible = has_order(0, 0, start);
        const struct lb_finding *finding = judged(LB_G_RATE);
        const bool is_violated = finding->verdict == LB_V_VIOLATED;
        for (uint32_t k = 0; k < n_all; k++)
            is_single = is_single && all[k].n == 1;
        if (is_violated ? is_possible : is_single && !is_possible)
            fail_msg("history %lu: %s, though the search says %s", i,
                     lb_verdict_name(finding->verdict), is_possible ? "possible" : "impossible");
        n_violated += is_violated;
        n_hard += is_violated && strstr(finding->witness[0].text, "no moment") != NULL;
        n_batches += !is_single;
        n_missed += !is_single && !is_possible && !is_violated;
    }
    printf("# %lu histories: %lu violated, %lu of them without a crowd; %lu have claims of several "
           "items, and %lu violations of these are missed\n",
           n, n_violated, n_hard, n_batches, n_missed);
    assert_in_range(n_violated, n / 5, n - n / 5);
    assert_in_range(n_hard, n / 100, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_in_a_window_than_allowed_are_a_violation),
        cmocka_unit_test(a_window_apart_is_far_enough),
        cmocka_unit_test(moments_must_exist_for_all),
        cmocka_unit_test(what_shows_nothing_is_not_tested),
        cmocka_unit_test(the_verdicts_are_those_of_a_search),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
