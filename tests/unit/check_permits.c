/* permits: the free permits in the tables, against the possible holders. By hand, and against a
 * search over random histories: each grant and release is tried at each moment of its interval.
 */
#include "check_history.h"

#include "property.h"

enum { LOGS = 4, CAPACITY = 3, PLACES = 3, HORIZON = 24 };

static struct test_history history;
static struct lb_judgement judgement;

static void begin(void)
{
    history_init(&history, false);
    history.capacity[0] = CAPACITY;
}

/* A query from..at: n_free are free. */
static void ask(uint64_t from, uint64_t at, int64_t n_free)
{
    note(&history, LOGS, LB_OP_PERMITS, at * 1000, (uint64_t)n_free, (uint32_t)(at - from));
}

static const struct lb_finding *judged(void)
{
    struct lb_error err = {0};
    if (judge_history(&history, &judgement, &err) != 0)
        fail_msg("lb_check: %s", err.message);
    return &judgement.findings[LB_G_PERMITS];
}

static void expect(int64_t n_free, enum lb_verdict verdict)
{
    ask(90, 91, n_free);
    const struct lb_finding *finding = judged();
    if (finding->verdict != verdict)
        fail_msg("%lld free: %s, and not %s (%s %s)", (long long)n_free,
                 lb_verdict_name(finding->verdict), lb_verdict_name(verdict), finding->reason,
                 finding->witness[0].text);
    history.n[LOGS] = 0;
}

static void released(void **state)
{
    (void)state;
    begin();
    assert_int_equal(judged()->verdict, LB_V_NOT_TESTED);
    acquire(&history, 0, 0, 1000, 2000);
    release(&history, 0, 0, 3000, 4000);
    expect(3, LB_V_HELD);
    expect(2, LB_V_VIOLATED);
    assert_string_equal(
        judgement.findings[LB_G_PERMITS].witness[0].text,
        "at 0.091 ms the tables say that 2 of 3 permits of resource 0 can be taken, "
        "while 0 are held");
    expect(4, LB_V_VIOLATED);
    history.model.claims = 0;
    expect(4, LB_V_NOT_CLAIMED);
}

static void held(void **state)
{
    (void)state;
    begin();
    history.model.end_ns = 100000;
    acquire(&history, 0, 0, 1000, 2000);
    acquire(&history, 1, 0, 1000, 2000);
    add_op(&history, 1, LB_OP_RELEASE, 3000, 4000, LB_EV_INFO, 0, 0, 0, 0);
    expect(0, LB_V_VIOLATED);
    expect(1, LB_V_HELD); /* the second release may have done nothing, */
    expect(2, LB_V_HELD); /* or not; the first one is certainly held */
    expect(3, LB_V_VIOLATED);
}

static void leased(void **state)
{
    (void)state;
    begin();
    history.model.lease = true;
    /* A lease of 1 ms, which lasts 2.001 ms at the latest. */
    add_op(&history, 0, LB_OP_ACQUIRE, 1000, 2000, LB_EV_OK, 0, 0, 1, 0);
    ask(1500, 1501, 2);
    assert_int_equal(judged()->verdict, LB_V_HELD);
    history.n[LOGS] = 0;
    ask(9000, 9001, 2); /* it was never given back */
    assert_int_equal(judged()->verdict, LB_V_VIOLATED);
    history.n[LOGS] = 0;
    ask(9000, 9001, 3);
    assert_int_equal(judged()->verdict, LB_V_HELD);
}

/* --- against a search --- */

static uint64_t below(struct lb_random *random, uint64_t n)
{
    return lb_random_next(random) % n;
}

struct grant {
    uint64_t low, high;         /* of the grant; high NEVER: perhaps never */
    uint64_t end_low, end_high; /* of the release; low NEVER: none */
    int64_t permits;
};

#define NEVER UINT64_MAX

static struct grant grants[LOGS * 2 * PLACES];
static uint32_t n_grants;

static void generate(struct lb_random *random)
{
    begin();
    history.model.end_ns = 1000 * 1000;
    n_grants = 0;
    for (uint32_t log = 0; log < LOGS; log++) {
        uint64_t now = 1 + below(random, 6);
        for (uint32_t i = 0; i < PLACES && now < HORIZON; i++) {
            uint64_t asked = now, got = now + below(random, 4);
            int type = below(random, 8) == 0 ? LB_EV_INFO : LB_EV_OK;
            add_op(&history, log, LB_OP_ACQUIRE, asked * 1000, got * 1000, type, 0, 0, 0, 0);
            struct grant *grant = &grants[n_grants++];
            *grant = (struct grant){asked, type == LB_EV_OK ? got : NEVER, NEVER, NEVER, 1};
            if (type == LB_EV_INFO)
                break; /* retired */
            uint64_t end = got + 1 + below(random, 5), done = end + below(random, 4);
            if (end >= HORIZON || below(random, 8) == 0)
                break;
            type = below(random, 8) == 0 ? LB_EV_INFO : LB_EV_OK;
            add_op(&history, log, LB_OP_RELEASE, end * 1000, done * 1000, type, 0, 0, 0,
                   type == LB_EV_OK ? LB_EVF_EFFECTIVE : 0);
            grant->end_low = end;
            grant->end_high = type == LB_EV_OK ? done : NEVER;
            if (type == LB_EV_INFO)
                break;
            now = done + 1 + below(random, 4);
        }
    }
}

/* How a release names the grant that it ends. */
enum naming { BY_TOKEN, BY_PERMITS, NOT_AT_ALL, NAMINGS };

/* One thing more of a log that may hold several grants, of one or two permits: another, or a
 * release of any of them, at now. When it ended; NEVER: with an unknown outcome. */
static uint64_t one_more(struct lb_random *random, uint32_t log, uint32_t first, enum naming naming,
                         uint64_t now)
{
    uint32_t open[2 * PLACES], n_open = 0;
    for (uint32_t i = first; i < n_grants; i++)
        if (grants[i].end_low == NEVER)
            open[n_open++] = i;
    int type = below(random, 10) == 0 ? LB_EV_INFO : LB_EV_OK;
    uint64_t done = now + below(random, 4), end = type == LB_EV_OK ? done : NEVER;
    if (n_open == 0 || below(random, 2) == 0) {
        uint32_t permits = 1 + (uint32_t)below(random, 2);
        uint8_t flags = naming == BY_TOKEN && type == LB_EV_OK ? LB_EVF_TOKEN : 0;
        add_op(&history, log, LB_OP_ACQUIRE, now * 1000, done * 1000, type, 0, n_grants + 1,
               permits, flags);
        grants[n_grants++] = (struct grant){now, end, NEVER, NEVER, permits};
        return end;
    }
    uint32_t number = open[below(random, n_open)];
    struct grant *grant = &grants[number];
    uint8_t flags = (uint8_t)((type == LB_EV_OK ? LB_EVF_EFFECTIVE : 0) |
                              (naming == BY_TOKEN ? LB_EVF_TOKEN : 0));
    add_op(&history, log, LB_OP_RELEASE, now * 1000, done * 1000, type, 0, number + 1,
           naming == BY_PERMITS ? (uint32_t)grant->permits : 0, flags);
    grant->end_low = now;
    grant->end_high = end;
    return end;
}

static void generate_several(struct lb_random *random, enum naming naming)
{
    begin();
    history.model.end_ns = 1000 * 1000;
    n_grants = 0;
    for (uint32_t log = 0; log < LOGS; log++) {
        uint32_t first = n_grants;
        uint64_t now = 1 + below(random, 6);
        for (int i = 0; i < 2 * PLACES && now < HORIZON; i++) {
            uint64_t end = one_more(random, log, first, naming, now);
            for (uint32_t k = first; k < n_grants && end == NEVER; k++) /* retired */
                if (grants[k].end_low == NEVER)
                    grants[k].end_low = now; /* its permits may be free */
            now = end == NEVER ? NEVER : end + 1 + below(random, 4);
        }
    }
}

/* Can it be held, and can it be free, at a moment within? */
static void at_moment(const struct grant *grant, uint64_t moment, bool *ret_held, bool *ret_free)
{
    bool may_have_begun = grant->low <= moment, must_have_begun = grant->high < moment;
    bool may_have_ended = grant->end_low <= moment, must_have_ended = grant->end_high < moment;
    *ret_held = may_have_begun && !must_have_ended;
    *ret_free = !must_have_begun || may_have_ended;
}

static bool is_legal(uint64_t from, uint64_t to, int64_t n_free)
{
    for (uint64_t moment = from; moment <= to; moment++) {
        int64_t least = 0, most = 0;
        for (uint32_t i = 0; i < n_grants; i++) {
            bool may_hold, may_be_free;
            at_moment(&grants[i], moment, &may_hold, &may_be_free);
            most += may_hold ? grants[i].permits : 0;
            least += may_be_free ? 0 : grants[i].permits;
        }
        if (CAPACITY - n_free >= least && CAPACITY - n_free <= most)
            return true;
    }
    return false;
}

/* Does something begin or end in the course of it? */
static bool is_quiet(uint64_t from, uint64_t to)
{
    for (uint32_t log = 0; log < LOGS; log++)
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            bool is_answered = e->type == LB_EV_INVOKE && i + 1 < history.n[log];
            uint64_t low = e->time_ns / 1000, high = is_answered ? e[1].time_ns / 1000 : low;
            if (e->type == LB_EV_INVOKE && low <= to && high >= from)
                return false;
        }
    return true;
}

static void agrees_on(struct lb_random *random, int i, uint64_t seed, bool is_exact,
                      uint64_t *n_legal, uint64_t *n_quiet)
{
    uint64_t from = below(random, 2 * HORIZON), to = from + below(random, 3);
    int64_t n_free = (int64_t)below(random, CAPACITY + 3) - 1;
    ask(from, to, n_free);
    bool expected = is_legal(from, to, n_free), quiet = is_quiet(from, to);
    bool got = judged()->n_violations == 0;
    *n_legal += expected;
    *n_quiet += quiet;
    if (expected != got && (expected || (quiet && is_exact)))
        fail_msg("history %d: %lld free, asked at %llu to %llu: %s by search, %s by the judge "
                 "(%s); seed %llu",
                 i, (long long)n_free, (unsigned long long)from, (unsigned long long)to,
                 expected ? "legal" : "illegal", got ? "legal" : "illegal",
                 judgement.findings[LB_G_PERMITS].witness[0].text, (unsigned long long)seed);
    if (!expected && got && quiet)
        assert_int_equal(judgement.findings[LB_G_PERMITS].verdict, LB_V_NOT_TESTED);
}

static void agrees(void **state)
{
    enum { HISTORIES = 10000 };
    struct lb_random random;
    uint64_t n_legal = 0, n_quiet = 0, seed = lb_test_seed();
    (void)state;
    lb_random_init(&random, seed, 0);
    for (int i = 0; i < HISTORIES; i++) {
        generate(&random);
        agrees_on(&random, i, seed, true, &n_legal, &n_quiet);
    }
    printf("# %d histories, %llu legal, %llu asked when all was quiet\n", HISTORIES,
           (unsigned long long)n_legal, (unsigned long long)n_quiet);
    assert_true(n_legal > HISTORIES / 5 && n_legal < HISTORIES * 4 / 5 && n_quiet > HISTORIES / 5);
}

/* Releases in any order: which one is of which grant must be told, or is not judged. */
static void several_agree(void **state)
{
    enum { HISTORIES = 10000 };
    struct lb_random random;
    uint64_t n_legal = 0, n_quiet = 0, seed = lb_test_seed();
    (void)state;
    lb_random_init(&random, seed, 1);
    for (int i = 0; i < HISTORIES; i++) {
        enum naming naming = (enum naming)below(&random, NAMINGS);
        generate_several(&random, naming);
        agrees_on(&random, i, seed, naming != NOT_AT_ALL, &n_legal, &n_quiet);
    }
    printf("# %d histories, %llu legal, %llu asked when all was quiet\n", HISTORIES,
           (unsigned long long)n_legal, (unsigned long long)n_quiet);
    assert_true(n_legal > HISTORIES / 5 && n_legal < HISTORIES * 4 / 5 && n_quiet > HISTORIES / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(released), cmocka_unit_test(held),
                                       cmocka_unit_test(leased), cmocka_unit_test(agrees),
                                       cmocka_unit_test(several_agree)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
