/* The guarantee share, on random histories: against the definition of docs/guarantees.md, tried
 * moment by moment for each claim and tenant, and on lotteries that serve each tenant just as often
 * as the bound asks for. Shares no code with the judge but the formula of the margins. */
#include "check_expect.h"
#include "property.h"

#include "attribute.h"

enum { ITEMS = 300, TENANTS = 3, ROOM = 2000 };

static struct item {
    uint32_t tenant;
    uint64_t put_low, put_high, low, high; /* low never: it is not claimed */
} items[ROOM];
static size_t n_items;

static const uint64_t never = UINT64_MAX;

static void add_item(uint32_t tenant, uint64_t put_low, uint64_t put_high)
{
    items[n_items++] = (struct item){tenant, put_low, put_high, never, never};
}

/* In two arrays of its own: a history has few events for each log. */
static struct lb_event events[2][4 * ROOM];
static size_t n_events[2];

static void append(int log, int type, int op, uint64_t at, uint64_t value, uint32_t arg)
{
    events[log][n_events[log]++] =
        (struct lb_event){.time_ns = at,
                          .value = value,
                          .process = (uint32_t)log,
                          .arg = arg,
                          .object = op == LB_OP_ATTRIBUTE ? LB_A_TENANT : 0,
                          .op = (uint8_t)op,
                          .type = (uint8_t)type};
}

static const struct lb_finding *judge_items(uint32_t share_milli)
{
    struct lb_span spans[2];
    struct lb_log_view logs[2] = {0};
    struct lb_history_view view = {.meta = "", .n_logs = 2, .logs = logs};
    struct lb_model model = {
        .queue = true, .claims = ~0u, .complete = true, .share_milli = share_milli};
    struct lb_error err = {0};
    n_events[0] = n_events[1] = 0;
    for (size_t i = 0; i < n_items; i++) { /* puts, and claims, come in order of their times */
        append(0, LB_EV_NOTE, LB_OP_ATTRIBUTE, items[i].put_low, i + 1, items[i].tenant);
        append(0, LB_EV_INVOKE, LB_OP_PUT, items[i].put_low, i + 1, 1);
        append(0, LB_EV_OK, LB_OP_PUT, items[i].put_high, i + 1, 1);
    }
    for (uint64_t last = 0, found = 1; found != 0;) {
        found = 0;
        for (size_t i = 0; i < n_items; i++)
            if (items[i].low != never && items[i].low > last &&
                (found == 0 || items[i].low < items[found - 1].low))
                found = i + 1;
        if (found == 0)
            break;
        const struct item *item = &items[found - 1];
        append(1, LB_EV_INVOKE, LB_OP_CLAIM, item->low, 0, 1);
        append(1, LB_EV_NOTE, LB_OP_ITEM, item->high, found, 0);
        append(1, LB_EV_OK, LB_OP_CLAIM, item->high, 1, 1);
        last = item->low;
    }
    for (uint32_t i = 0; i < 2; i++) {
        spans[i] = (struct lb_span){.events = events[i], .n = n_events[i]};
        logs[i] = (struct lb_log_view){
            .number = i, .n_spans = 1, .spans = &spans[i], .n_events = n_events[i]};
        view.n_events += n_events[i];
    }
    if (lb_check(&view, &model, &judgement, &err) != 0)
        fail_msg("lb_check: %s", err.message);
    return &judgement.findings[LB_G_SHARE];
}

/* --- the definition --- */

/* Has the tenant work, for certain or perhaps, at this moment? Moments are at halves of the ticks,
 * between two events. */
static bool has_work(uint32_t tenant, double at, bool surely)
{
    for (size_t i = 0; i < n_items; i++)
        if (items[i].tenant == tenant &&
            (surely ? at > (double)items[i].put_high && at < (double)items[i].low
                    : at >= (double)items[i].put_low && at <= (double)items[i].high))
            return true;
    return false;
}

static double sure_of(const struct item *claim, uint32_t tenant, bool surely)
{
    bool all = true, any = false;
    for (double at = (double)claim->low; at <= (double)claim->high; at += 0.5) {
        all = all && has_work(tenant, at, surely);
        any = any || has_work(tenant, at, surely);
    }
    return surely ? all : any;
}

/* The tenants that are below the bound by more than the margin. */
static uint64_t count_starved(double bound)
{
    double served[TENANTS] = {0}, least[TENANTS] = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < n_items; i++) {
        double n_perhaps = 0;
        if (items[i].low == never)
            continue;
        for (uint32_t t = 0; t < TENANTS; t++)
            n_perhaps += sure_of(&items[i], t, false);
        served[items[i].tenant]++;
        for (uint32_t t = 0; t < TENANTS; t++)
            least[t] += sure_of(&items[i], t, true) / n_perhaps;
    }
    for (uint32_t t = 0; t < TENANTS; t++)
        n += least[t] * bound >= 3.9 * 3.9 &&
             served[t] / least[t] + 3.9 * sqrt(bound / least[t]) < bound;
    return n;
}

/* Puts at first, or now and then; claims one after the other, of a tenant that is drawn with these
 * weights. */
static void make_history(struct lb_random *random, size_t n, const unsigned *weights,
                         bool puts_later)
{
    uint64_t time = 10;
    n_items = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t from = puts_later ? time : 2,
                 length = puts_later ? 2 * lb_random_below(random, 3) : 0;
        add_item((uint32_t)lb_random_below(random, 6) / 4 +
                     (uint32_t)lb_random_below(random, 6) / 5,
                 from, from + length);
        time = from + length + 2 * lb_random_below(random, 2);
    }
    time = puts_later ? 20 : 10;
    for (size_t k = 0; k < n; k++) {
        uint64_t high = time + 2 * lb_random_below(random, 3);
        uint64_t drawn = 0, total = 0;
        bool is_there[TENANTS] = {false};
        size_t first[TENANTS];
        for (size_t i = n; i-- > 0;)
            if (items[i].low == never && items[i].put_low < time) {
                is_there[items[i].tenant] = true;
                first[items[i].tenant] = i;
            }
        for (uint32_t t = 0; t < TENANTS; t++)
            total += is_there[t] ? weights[t] : 0;
        if (total == 0) {
            time += 2;
            continue;
        }
        drawn = lb_random_below(random, total);
        for (uint32_t t = 0; t < TENANTS; t++) {
            if (!is_there[t])
                continue;
            if (drawn < weights[t]) {
                items[first[t]].low = time;
                items[first[t]].high = high;
                break;
            }
            drawn -= weights[t];
        }
        time = high + 2;
    }
}

static void the_verdicts_are_those_of_the_definition(void **state)
{
    const char *wanted = getenv("LB_TEST_HISTORIES");
    const unsigned long n = wanted != NULL ? strtoul(wanted, NULL, 10) : 100;
    unsigned long n_starved = 0, n_held = 0;
    struct lb_random random;
    (void)state;
    lb_random_init(&random, lb_test_seed(), 0);
    for (unsigned long i = 0; i < n; i++) {
        const unsigned weights[TENANTS] = {1 + (unsigned)lb_random_below(&random, 20),
                                           1 + (unsigned)lb_random_below(&random, 3), 1};
        const uint32_t milli = 300 + 100 * (uint32_t)lb_random_below(&random, 8);
        make_history(&random, ITEMS, weights, lb_random_below(&random, 2) == 0);
        const struct lb_finding *finding = judge_items(milli);
        uint64_t starved = count_starved(milli / 1000.0);
        if (finding->n_violations != starved)
            fail_msg("history %lu: %llu tenants are starved, and the judge says %llu", i,
                     (unsigned long long)starved, (unsigned long long)finding->n_violations);
        n_starved += starved > 0;
        n_held += finding->verdict == LB_V_HELD;
    }
    printf("# %lu histories: %lu violated, %lu held\n", n, n_starved, n_held);
    assert_in_range(n_starved, n / 30, n - n / 10);
}

/* A lottery whose chances are the bound itself: 1,000 of these have some violations by chance, at
 * most 1 of 100. */
static void a_lottery_is_rarely_accused(void **state)
{
    static const unsigned weights[TENANTS] = {4, 1, 1}; /* 1/6 for the small ones: half of 1/3 */
    const char *wanted = getenv("LB_TEST_HISTORIES");
    const unsigned long n = wanted != NULL ? strtoul(wanted, NULL, 10) : 300;
    unsigned long n_violated = 0;
    struct lb_random random;
    (void)state;
    lb_random_init(&random, lb_test_seed(), 1);
    for (unsigned long i = 0; i < n; i++) {
        make_history(&random, ITEMS, weights, false);
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
