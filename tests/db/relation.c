/* What exploring leaves out changes nothing: random protocols, explored by the relation and in
 * every order of their moves, end in the same states, with the same answers and verdicts.
 *
 * A protocol is a queue of two to four statements: claims of all kinds, and their completions, over
 * a table of items, a log that draws numbers, and a counter, with constraints, indexes and now and
 * then a trigger. If there are too many orders, the comparison is with the relation by tables.
 *
 * Those in tests/db/relation were made to hide an order: what triggers, cascades, clocks and
 * counters do.
 *
 * LB_TEST_PROGRAMS: how many protocols on SQLite, and a tenth of that on PostgreSQL (80).
 * LB_TEST_SCHEDULES: the maximum for each, to see a protocol that was skipped.
 *
 * Only with scripts/test --all: it is a soak of random programs.
 */
#include "fixture.h"

#include "clock.h"
#include "explore.h"

#include "relation_protocols.h"

#include <ctype.h>
#include <glob.h>

enum { MAX_STATES = 4000, MOST_SCHEDULES = 1000, MOST_ON_POSTGRES = 300, MAX_PLAYERS = 3 };

struct states {
    size_t n;
    uint64_t digest[MAX_STATES];
    char *text[MAX_STATES];
    bool too_many;
    uint32_t workers;
};

/* Of the environment; to look at some protocols more closely. */
static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t digest_of(const char *text)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return digest;
}

/* The state with worker w called to[w]. Caller frees. */
static char *rename_workers(const char *state, uint32_t n, const uint32_t *to)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (uint32_t place = 0; place <= n; place++) {
        const char *line = state; /* of the worker that is called so; then the rest */
        for (uint32_t w = 0; w < n && (place == n || to[w] != place); w++)
            line = strchr(line, '\n') + 1;
        const char *end = place < n ? strchr(line, '\n') + 1 : line + strlen(line);
        for (const char *p = line; p < end; p++) {
            bool is_name = *p == 'w' && p[1] >= '0' && p[1] < '0' + (int)n && !isalnum(p[2]) &&
                           (p == state || !isalnum(p[-1]));
            if (is_name)
                fprintf(out, "w%u", to[*++p - '0']);
            else
                fputc(*p, out);
        }
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Workers can be renamed: the first of all texts that come of it stands for the state. */
static char *canonical(const char *state, uint32_t n)
{
    static const uint32_t orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                          {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    char *best = NULL;
    for (size_t i = 0; i < (n == 3 ? 6 : 2); i++) {
        char *text = rename_workers(state, n, orders[i]);
        if (best == NULL || strcmp(text, best) < 0) {
            free(best);
            best = text;
        } else {
            free(text);
        }
    }
    return best;
}

static void ended(void *arg, const char *state, int violated)
{
    struct states *states = arg;
    char *text = NULL, *renamed = canonical(state, states->workers);
    if (states->too_many || asprintf(&text, "%sviolated %d\n", renamed, violated) < 0)
        text = NULL;
    free(renamed);
    if (text == NULL)
        return;
    uint64_t digest = digest_of(text);
    for (size_t i = 0; i < states->n; i++)
        if (states->digest[i] == digest) {
            free(text);
            return;
        }
    if (states->n == MAX_STATES) {
        states->too_many = true;
        free(text);
        return;
    }
    states->digest[states->n] = digest;
    states->text[states->n++] = text;
}

static void forget(struct states *states)
{
    for (size_t i = 0; i < states->n; i++)
        free(states->text[i]);
    *states = (struct states){.n = 0};
}

static void anew(void *arg)
{
    struct states *states = arg;
    uint32_t workers = states->workers;
    forget(states);
    states->workers = workers;
}

/* The first state of a that b has not; NULL: none. */
static const char *missing(const struct states *a, const struct states *b)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t k = 0;
        while (k < b->n && b->digest[k] != a->digest[i])
            k++;
        if (k == b->n)
            return a->text[i];
    }
    return NULL;
}

/* --- the comparison --- */

static const char states_sql[] =
    "SELECT 'item', id, status, rank, coalesce(owner, '-'), token FROM item UNION ALL "
    "SELECT 'log', no, item, 0, who, 0 FROM log UNION ALL "
    "SELECT 'done', id, 0, 0, '-', 0 FROM done UNION ALL "
    "SELECT 'counter', id, n, 0, '-', 0 FROM counter ORDER BY 1, 2";

struct run {
    struct states states;
    uint64_t n_schedules;
    bool complete, chose, gave_up;
};

/* 0, or an error: the protocol cannot be set up or explored. */
static int explore(const struct lb_target *target, const struct lb_strategy *strategy,
                   const struct lb_file *file, const struct protocol *protocol,
                   enum lb_relation relation, unsigned broken, struct run *ret,
                   struct lb_error *err)
{
    struct lb_explored *explored;
    ret->states.workers = protocol->workers;
    const struct lb_explore_watch watch = {.sql = protocol->states != NULL ? protocol->states
                                                                           : states_sql,
                                           .ended = ended,
                                           .anew = anew,
                                           .arg = &ret->states};
    struct lb_explore_plan plan = {
        .strategy = strategy,
        .file = file,
        .target = target,
        .workers = protocol->workers,
        .rounds = 1,
        .capacity = 1,
        .items = protocol->items,
        .batch = 1,
        .polls = 3,
        .ttl_ms = 600000,
        .relation = relation,
        .without = broken,
        .watch = &watch,
        .search = {.preemptions = -1,
                   .choice_replays = 0,
                   .max_schedules =
                       number_of("LB_TEST_SCHEDULES",
                                 protocol->on_postgres ? MOST_ON_POSTGRES : MOST_SCHEDULES),
                   .all = true}};
    if (protocol->stands_still)
        lb_explore_stand_still(&plan, lb_unix_ms());
    int r = lb_explore(&plan, &explored, err);
    if (r != 0)
        return r;
    ret->n_schedules = explored->search.n_schedules;
    ret->complete = explored->complete && !ret->states.too_many;
    ret->gave_up = strstr(explored->bounds, "given up") != NULL || explored->search.too_long;
    ret->chose = explored->search.n_choices > 0 || explored->search.n_unreached > 0 ||
                 explored->search.differs || explored->n_deadlocks > 0;
    lb_explored_free(explored);
    return 0;
}

struct tally {
    uint64_t n, n_tables, n_skipped, n_schedules, n_all;
};

/* Explores by the relation, and by one that is coarser. Adds what each comes to. 0, an error, or 1:
 * no comparison, since not all was explored or the server chose. */
static int explore_both(const struct lb_target *target, const struct lb_strategy *strategy,
                        const struct lb_file *file, const struct protocol *protocol,
                        unsigned broken, struct run *fine, struct run *full, uint64_t *n_tables,
                        struct lb_error *err)
{
    const enum lb_relation references[] = {
        protocol->every_step ? LB_RELATION_STEPS : LB_RELATION_MOVES, LB_RELATION_TABLES};
    int r = explore(target, strategy, file, protocol, LB_RELATION_ROWS, broken, fine, err);
    if (r != 0 || fine->chose || !fine->complete)
        return r != 0 ? r : 1;
    full->complete = full->gave_up = false;
    for (size_t i = 0; i < (protocol->every_step ? 1 : 2) && !full->complete && r == 0; i++) {
        if (full->gave_up) /* or was cut, which the relation does at other places, or not at all */
            anew(&full->states);
        r = explore(target, strategy, file, protocol, references[i], 0, full, err);
        *n_tables += i;
    }
    return r != 0 ? r : full->chose || !full->complete;
}

/* Compares one protocol. NULL, or the difference (caller frees). The position of rows in a table
 * may differ from one run to the next, and a claim of any row takes another one: a difference is
 * run again, and must be in all runs. */
static char *compare(const struct lb_target *target, const struct protocol *protocol,
                     unsigned broken, struct tally *tally)
{
    enum { RUNS = 3 };
    static struct run fine, full;
    struct lb_error err = {0};
    struct lb_file *file = NULL;
    struct lb_strategy strategy;
    const char *lost = NULL, *invented = NULL;
    char *text = NULL;
    int r = 0;
    if (lb_file_parse("random.sql", protocol->text, strlen(protocol->text), -1, &file, &err) != 0)
        fail_msg("%s\n%s", err.message, protocol->text);
    lb_strategy_of_file(file, &strategy);
    /* Those by hand can be compared, but were not on a server that other programs used. */
    const bool must_be = protocol->states != NULL;
    unsigned tries = 0;
    for (unsigned i = 0; i < RUNS && (r == 0 || (r > 0 && must_be)); i++) {
        tries++;
        forget(&fine.states);
        forget(&full.states);
        r = explore_both(target, &strategy, file, protocol, broken, &fine, &full, &tally->n_tables,
                         &err);
        if (r != 0)
            continue;
        lost = missing(&full.states, &fine.states);
        invented = missing(&fine.states, &full.states);
        if (lost == NULL && invented == NULL)
            break;
    }
    if (must_be && tries > 1)
        lb_test_count_tries(tries, r == 0);
    if (r < 0)
        print_message("# %s\n%s", err.message, protocol->text);
    if (r != 0) {
        tally->n_skipped++;
    } else {
        tally->n++;
        tally->n_schedules += fine.n_schedules;
        tally->n_all += full.n_schedules;
        if ((lost != NULL || invented != NULL) &&
            asprintf(&text, "%u workers, %u items: %s\n%s\n%s", protocol->workers, protocol->items,
                     lost != NULL ? "left out" : "invented", lost != NULL ? lost : invented,
                     protocol->text) < 0)
            text = NULL;
    }
    forget(&fine.states);
    forget(&full.states);
    lb_file_free(file);
    return text;
}

static unsigned programs(void)
{
    return (unsigned)number_of("LB_TEST_PROGRAMS", 80);
}

static void go(const char *uri, unsigned n)
{
    static struct protocol protocol;
    struct lb_target target;
    struct lb_error err = {0};
    struct tally tally = {0};
    uint64_t seed = lb_test_seed();
    assert_int_equal(lb_target_parse(uri, &target, &err), 0);
    unsigned first = (unsigned)number_of("LB_TEST_FIRST_PROGRAM", 0); /* to look at one of them */
    for (unsigned i = first; i < n; i++) {
        struct maker m = {.protocol = &protocol};
        lb_random_init(&m.random, seed, i);
        protocol.on_postgres = strcmp(target.db->name, "postgres") == 0;
        protocol.stands_still = protocol.on_postgres && i % 2 == 1;
        make_protocol(&m);
        char *differs = compare(&target, &protocol, 0, &tally);
        if (differs != NULL) {
            printf("%s", differs);
            fail_msg("protocol %u of seed %" PRIu64, i, seed);
        }
    }
    printf("# %s: %" PRIu64 " of %u protocols compared, %" PRIu64
           " with the relation by tables; %" PRIu64 " schedules stood for %" PRIu64 "\n",
           target.db->name, tally.n, n, tally.n_tables, tally.n_schedules, tally.n_all);
    assert_true(first > 0 || tally.n >= n / 4);
    lb_target_release(&target);
}

/* The first of the seed's random protocols by which it shows that the rule is broken; n: none. */
static unsigned first_caught(const char *uri, unsigned broken, uint64_t seed, unsigned n)
{
    static struct protocol protocol;
    struct lb_target target;
    struct lb_error err = {0};
    struct tally tally = {0};
    bool caught = false;
    unsigned i = 0;
    assert_int_equal(lb_target_parse(uri, &target, &err), 0);
    for (; i < n && !caught; i++) {
        struct maker m = {.protocol = &protocol};
        lb_random_init(&m.random, seed, i);
        protocol.on_postgres = strcmp(target.db->name, "postgres") == 0;
        make_protocol(&m);
        char *differs = compare(&target, &protocol, broken, &tally);
        caught = differs != NULL;
        free(differs);
    }
    lb_target_release(&target);
    return caught ? i - 1 : n;
}

/* Owned by the caller; NULL: none, with a note. */
static char *uri_of(const char *engine)
{
    const char *uris = getenv("LB_TEST_URIS");
    const char *start = uris != NULL ? strstr(uris, engine) : NULL;
    if (start == NULL)
        printf("# no %s server\n", engine);
    return start != NULL ? strndup(start, strcspn(start, "\n")) : NULL;
}

static void nothing_is_left_out_on_sqlite(void **state)
{
    (void)state;
    go("sqlite:", programs());
}

static void nothing_is_left_out_on_postgres(void **state)
{
    char *uri = uri_of("postgres");
    (void)state;
    if (uri == NULL)
        return;
    go(uri, (unsigned)number_of("LB_TEST_PROGRAMS_POSTGRES", programs() / 10));
    free(uri);
}

/* --- protocols that were made to hide an order --- */

/* tests/db/relation: the first line is "-- ENGINE WORKERS ITEMS STATES", where STATES is what is
 * compared, beside the answers. "-- every step" asks for every order of the steps, and not only of
 * the moves: the end of a transaction that others cannot tell is a step, and no move. "-- a clock
 * that runs": it asks for a clock that cannot stand still. */
static bool read_attack(const char *path, const char *engine, struct protocol *ret)
{
    static char states[1000];
    char name[20];
    unsigned workers = 0, items = 0;
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t n = fread(ret->text, 1, sizeof ret->text - 1, file);
    ret->text[n] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_int_equal(sscanf(ret->text, "-- %19s %u %u %999[^\n]", name, &workers, &items, states),
                     4);
    ret->workers = workers;
    ret->items = items;
    ret->states = states;
    ret->on_postgres = strcmp(engine, "postgres") == 0;
    ret->every_step = strstr(ret->text, "\n-- every step\n") != NULL;
    return strcmp(name, engine) == 0;
}

static void go_by_hand(const char *uri, bool stands_still)
{
    static struct protocol protocol;
    struct lb_target target;
    struct lb_error err = {0};
    struct tally tally = {0};
    glob_t found;
    char pattern[500];
    assert_int_equal(lb_target_parse(uri, &target, &err), 0);
    const char *only = getenv("LB_TEST_ATTACK"); /* to look at one of them */
    snprintf(pattern, sizeof pattern, "%s/tests/db/relation/%s.sql", getenv("LB_SOURCE"),
             only != NULL ? only : "*");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    unsigned n_differ = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (!read_attack(found.gl_pathv[i], target.db->name, &protocol))
            continue;
        protocol.stands_still = stands_still;
        if (stands_still && strstr(protocol.text, "\n-- a clock that runs\n") != NULL)
            continue;
        uint64_t n_skipped = tally.n_skipped, n = tally.n_schedules, n_all = tally.n_all;
        char *differs = compare(&target, &protocol, 0, &tally);
        printf("# %s: %" PRIu64 " schedules stood for %" PRIu64 "\n", found.gl_pathv[i],
               tally.n_schedules - n, tally.n_all - n_all);
        if (differs != NULL || tally.n_skipped > n_skipped) {
            fprintf(stderr, "# %s: %s\n", found.gl_pathv[i],
                    differs != NULL ? differs : "not compared");
            n_differ++;
        }
        free(differs);
    }
    globfree(&found);
    lb_target_release(&target);
    assert_int_equal(n_differ, 0);
}

static void nothing_hides_on_sqlite(void **state)
{
    (void)state;
    go_by_hand("sqlite:", false);
}

static void hide_on(const char *engine, bool also_stands_still)
{
    char *uri = uri_of(engine);
    if (uri == NULL)
        return;
    go_by_hand(uri, false);
    if (also_stands_still)
        go_by_hand(uri, true);
    free(uri);
}

static void nothing_hides_on_mariadb(void **state)
{
    (void)state;
    hide_on("mariadb", false);
}

static void nothing_hides_on_postgres(void **state)
{
    (void)state;
    hide_on("postgres", true);
}

/* The rows of a condition, and real-time order, both matter: without either, a violation is
 * missed. */
static bool is_caught(const char *uri, unsigned broken, const char *text, uint32_t workers,
                      uint32_t items)
{
    static struct protocol protocol;
    struct lb_target target;
    struct lb_error err = {0};
    struct tally tally = {0};
    assert_int_equal(lb_target_parse(uri, &target, &err), 0);
    protocol = (struct protocol){.workers = workers, .items = items};
    snprintf(protocol.text, sizeof protocol.text, "%s", text);
    char *right = compare(&target, &protocol, 0, &tally);
    char *differs = compare(&target, &protocol, broken, &tally);
    bool caught = right == NULL && differs != NULL && tally.n == 2;
    if (right != NULL)
        print_message("%s", right);
    free(right);
    free(differs);
    lb_target_release(&target);
    return caught;
}

static const char freeing[] =
    "-- strategy: freeing\n-- shape: queue\n-- claims: no-duplicate\n-- name: setup\n"
    "CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, rank int DEFAULT 0, "
    "owner varchar(20), token int DEFAULT 0);\n"
    "CREATE TABLE log (no int, item int, who text);\nCREATE TABLE done (id int);\n"
    "CREATE TABLE counter (id int, n int);\n"
    "-- name: put\nINSERT INTO item (id) VALUES (:id);\n"
    "-- name: claim\nUPDATE item SET status = 1, token = token + 1 WHERE id = (SELECT id FROM item "
    "WHERE status = 0 ORDER BY id LIMIT 1 %s) RETURNING id, token;\n"
    "-- name: complete\nUPDATE item SET status = 0 WHERE id = :id;\n"
    "-- name: teardown\nDROP TABLE item;\nDROP TABLE log;\nDROP TABLE done;\nDROP TABLE counter;\n";

/* The stored times show the order of two completions to the next claim. */
static const char telling[] =
    "-- strategy: telling\n-- shape: queue\n-- claims: no-duplicate\n-- name: setup\n"
    "CREATE TABLE item (id int PRIMARY KEY, status int NOT NULL DEFAULT 0, token int DEFAULT 0, "
    "modified timestamptz DEFAULT clock_timestamp());\n"
    "-- name: put\nINSERT INTO item (id) VALUES (:id);\n"
    "-- name: claim\nUPDATE item SET status = 1 WHERE id = (SELECT id FROM item "
    "WHERE status IN (0, 3) ORDER BY modified, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, "
    "token;\n"
    "-- name: complete\nUPDATE item SET status = 3, modified = clock_timestamp() WHERE id = :id;\n"
    "-- name: teardown\nDROP TABLE item;\n";

static const char order_sql[] =
    "SELECT row_number() OVER (ORDER BY modified), id FROM item ORDER BY 1";

/* Nothing but the history tells one order from another. */
static const char apart[] =
    "-- strategy: apart\n-- shape: lock\n-- claims: exclusive\n-- name: setup\n"
    "CREATE TABLE item (id int, status int, rank int, owner varchar(20), token int);\n"
    "CREATE TABLE log (no int, item int, who varchar(20));\nCREATE TABLE done (id int);\n"
    "CREATE TABLE counter (id int, n int);\n"
    "-- name: acquire\nSELECT 1 AS one;\n-- name: release\nSELECT 1 AS one;\n"
    "-- name: teardown\nDROP TABLE item;\nDROP TABLE log;\nDROP TABLE done;\n"
    "DROP TABLE counter;\n";

/* ... that only a look at the tables of its own tells: the broken rule finds less. */
static bool loses_once(const char *uri, unsigned broken, const char *text, const char *states)
{
    static struct protocol protocol;
    static struct run right, wrong;
    struct lb_target target;
    struct lb_error err = {0};
    struct lb_file *file = NULL;
    struct lb_strategy strategy;
    assert_int_equal(lb_target_parse(uri, &target, &err), 0);
    protocol = (struct protocol){.workers = 3, .items = 3, .states = states};
    assert_int_equal(lb_file_parse("lost.sql", text, strlen(text), -1, &file, &err), 0);
    lb_strategy_of_file(file, &strategy);
    int r = explore(&target, &strategy, file, &protocol, LB_RELATION_ROWS, 0, &right, &err);
    if (r == 0)
        r = explore(&target, &strategy, file, &protocol, LB_RELATION_ROWS, broken, &wrong, &err);
    if (r != 0)
        print_message("# %s\n", err.message);
    bool lost = r == 0 && right.complete && wrong.complete &&
                missing(&right.states, &wrong.states) != NULL &&
                missing(&wrong.states, &right.states) == NULL;
    if (!lost)
        print_message("# right: complete %d, %zu states of %" PRIu64 " schedules, broken: complete "
                      "%d, %zu of %" PRIu64 "\n",
                      right.complete, right.states.n, right.n_schedules, wrong.complete,
                      wrong.states.n, wrong.n_schedules);
    forget(&right.states);
    forget(&wrong.states);
    lb_file_free(file);
    lb_target_release(&target);
    return lost;
}

/* On a disturbed server a search may end early, or distinguish more orders: that does not concern
 * the rule. Once is enough to see it broken. */
static bool loses(const char *uri, unsigned broken, const char *text, const char *states)
{
    for (unsigned tries = 1;; tries++) {
        bool is_lost = loses_once(uri, broken, text, states);
        if (is_lost || tries == LB_TEST_MOST_TRIES) {
            lb_test_count_tries(tries, is_lost);
            return is_lost;
        }
    }
}

static void a_broken_rule_is_caught(void **state)
{
    const char *uris = getenv("LB_TEST_URIS");
    const char *start = uris != NULL ? strstr(uris, "postgres") : NULL;
    char text[2000];
    (void)state;
    assert_true(is_caught("sqlite:", LB_WITHOUT_REAL_TIME, apart, 2, 1));
    assert_true(first_caught("sqlite:", LB_WITHOUT_COMMITS, 5, 20) < 20);
    assert_true(first_caught("sqlite:", LB_WITHOUT_NAMES, 2, 20) < 20);
    if (start == NULL)
        return;
    char *uri = strndup(start, strcspn(start, "\n"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, freeing, "FOR UPDATE SKIP LOCKED");
#pragma GCC diagnostic pop
    assert_true(is_caught(uri, LB_WITHOUT_CONDITIONS, text, 2, 2));
    assert_true(loses(uri, LB_WITHOUT_ORDER, telling, order_sql));
    free(uri);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_out_on_sqlite),
        cmocka_unit_test(nothing_is_left_out_on_postgres),
        cmocka_unit_test(nothing_hides_on_sqlite),
        cmocka_unit_test(nothing_hides_on_postgres),
        cmocka_unit_test(nothing_hides_on_mariadb),
        cmocka_unit_test(a_broken_rule_is_caught),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
