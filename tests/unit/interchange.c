/* The interchange formats: files of other tools are understood, errors are refused with their line,
 * and lockbench's own files are read back unchanged. */
#include "interchange.h"
#include "builder.h"
#include "property.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int parse(const char *text, const char *ignore, struct lb_history_view *view,
                 struct lb_read_facts *facts, struct lb_error *err)
{
    struct lb_read_options options = {.ignore = ignore};
    return lb_history_parse(text, strlen(text), "file", &options, view, facts, err);
}

static void must_parse(const char *text, struct lb_history_view *view, struct lb_read_facts *facts)
{
    struct lb_error err;
    if (parse(text, NULL, view, facts, &err) != 0)
        fail_msg("refused: %s", err.message);
}

static const struct lb_event *event(const struct lb_history_view *view, size_t log, size_t i)
{
    assert_true(log < view->n_logs && i < view->logs[log].n_events);
    for (size_t s = 0;; s++) {
        if (i < view->logs[log].spans[s].n)
            return &view->logs[log].spans[s].events[i];
        i -= view->logs[log].spans[s].n;
    }
}

static void assert_event(const struct lb_event *e, int type, int op, uint32_t process,
                         uint64_t time_ns, uint64_t value)
{
    assert_int_equal(e->type, type);
    assert_int_equal(e->op, op);
    assert_int_equal(e->process, process);
    assert_int_equal(e->time_ns, time_ns);
    assert_int_equal(e->value, value);
}

/* As jepsen.etcd printed them; the times of processes 0 and 4 cross. */
static const char mutex_edn[] =
    "[{:type :invoke, :f :release, :process 4, :time 584312016, :index 3}\n"
    " {:type :fail, :f :release, :process 4, :time 585400396, :error :not-held, :index 4}\n"
    " {:type :invoke, :f :acquire, :process 0, :time 584353142, :index 5}\n"
    " {:type :ok, :f :acquire, :process 0, :time 585436373, :index 8}\n"
    " {:type :info, :f :start, :process :nemesis, :time 585436374, :index 9}\n"
    " {:type :invoke, :f :acquire, :process 4, :time 585436375, :index 10}\n"
    " {:type :fail, :f :acquire, :process 4, :time 585436376, :error :already-held, :index 11}\n"
    " {:type :invoke, :f :release, :process 0, :time 585436377, :index 12}\n"
    " {:type :info, :f :release, :process 0, :time 585436378, :error [:oops \"a ] b\"]}]\n";

static void a_mutex_of_jepsen_is_read(void **state)
{
    (void)state;
    struct lb_history_view view;
    struct lb_read_facts facts;
    must_parse(mutex_edn, &view, &facts);
    assert_true(facts.is_lock && !facts.is_queue && facts.format == LB_HISTORY_EDN);
    assert_int_equal(facts.n_nemesis, 1);
    assert_int_equal(facts.n_objects, 1);
    assert_int_equal(facts.n_open, 0);
    assert_int_equal(view.n_logs, 2);
    assert_int_equal(view.n_events, 8);
    assert_event(event(&view, 0, 1), LB_EV_FAIL, LB_OP_RELEASE, 4, 585400396, 0);
    assert_int_equal(event(&view, 0, 1)->answer, LB_REFUSED);
    assert_int_equal(event(&view, 0, 3)->answer, LB_BUSY);
    assert_event(event(&view, 1, 0), LB_EV_INVOKE, LB_OP_ACQUIRE, 0, 584353142, 0);
    assert_int_equal(event(&view, 1, 0)->arg, 1);
    assert_event(event(&view, 1, 1), LB_EV_OK, LB_OP_ACQUIRE, 0, 585436373, 0);
    assert_int_equal(event(&view, 1, 3)->type, LB_EV_INFO);
    assert_int_equal(event(&view, 1, 3)->answer, LB_LOST);
    lb_history_release(&view);
}

static void a_fenced_lock_of_hazelcast_is_read(void **state)
{
    (void)state;
    static const char text[] =
        "{:type :invoke, :f :acquire, :value 77123, :process 1, :time 10, :index 0}\n"
        "{:type :ok, :f :acquire, :value {:client \"hz.client_1\", :fence 41, :uid 77123},"
        " :process 1, :time 20, :index 1}\n"
        "{:type :invoke, :f :release, :value 77124, :process 1, :time 30, :index 2}\n"
        "{:type :ok, :f :release, :value {:client \"hz.client_1\", :fence 0, :uid 77124},"
        " :process 1, :time 40, :index 3, :debug #{{:a 1} \\} nil}}\n";
    struct lb_history_view view;
    struct lb_read_facts facts;
    must_parse(text, &view, &facts);
    assert_event(event(&view, 0, 1), LB_EV_OK, LB_OP_ACQUIRE, 1, 20, 41);
    assert_int_equal(event(&view, 0, 1)->flags, LB_EVF_TOKEN);
    assert_int_equal(event(&view, 0, 3)->flags, LB_EVF_EFFECTIVE);
    lb_history_release(&view);
}

static const char queue_edn[] =
    "; a queue\n"
    "{:type :invoke, :f :enqueue, :value 5, :process 0}\n"
    "{:type :ok, :f :enqueue, :value 5, :process 0}\n"
    "{:type :invoke, :f :enqueue, :value \"x\", :process 1}\n"
    "{:type :ok, :f :enqueue, :value \"x\", :process 1}\n"
    "{:type :invoke, :f :dequeue, :value nil, :process 0}\n"
    "{:type :ok, :f :dequeue, :value 5, :process 0}\n"
    "{:type :invoke, :f :dequeue, :value nil, :process 1}\n"
    "{:type :fail, :f :dequeue, :value nil, :process 1, :error :empty}\n"
    "{:type :invoke, :f :drain, :value nil, :process 0}\n"
    "{:type :ok, :f :drain, :value [\"x\" 7], :process 0}\n";

static void a_queue_of_jepsen_is_read(void **state)
{
    (void)state;
    struct lb_history_view view;
    struct lb_read_facts facts;
    must_parse(queue_edn, &view, &facts);
    assert_true(facts.is_queue && !facts.is_lock && facts.is_drained);
    /* No times: the order of the lines. */
    assert_event(event(&view, 0, 0), LB_EV_INVOKE, LB_OP_PUT, 0, 1, 5);
    assert_int_equal(event(&view, 0, 0)->arg, 1);
    uint64_t x = event(&view, 1, 0)->value;
    assert_true(x >> 63 == 1);
    assert_event(event(&view, 0, 2), LB_EV_INVOKE, LB_OP_CLAIM, 0, 5, 0);
    assert_event(event(&view, 0, 3), LB_EV_NOTE, LB_OP_ITEM, 0, 6, 5);
    assert_event(event(&view, 0, 4), LB_EV_OK, LB_OP_CLAIM, 0, 6, 1);
    assert_event(event(&view, 1, 3), LB_EV_FAIL, LB_OP_CLAIM, 1, 8, 0);
    assert_int_equal(event(&view, 1, 3)->answer, LB_EMPTY);
    assert_event(event(&view, 0, 6), LB_EV_NOTE, LB_OP_ITEM, 0, 10, x);
    assert_event(event(&view, 0, 7), LB_EV_NOTE, LB_OP_ITEM, 0, 10, 7);
    assert_event(event(&view, 0, 8), LB_EV_OK, LB_OP_CLAIM, 0, 10, 2);
    lb_history_release(&view);

    /* A put after the drain, or one whose outcome is open: something may be left. */
    static const char *const later[] = {"{:type :invoke, :f :enqueue, :value 9, :process 0}\n"
                                        "{:type :ok, :f :enqueue, :value 9, :process 0}\n",
                                        "{:type :invoke, :f :enqueue, :value 9, :process 0}\n"};
    for (size_t i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s", queue_edn, later[i]);
        must_parse(text, &view, &facts);
        assert_false(facts.is_drained);
        assert_int_equal(facts.n_open, i);
        lb_history_release(&view);
    }
}

static void tuples_name_the_resource(void **state)
{
    (void)state;
    static const char text[] =
        "#jepsen.history.Op{:type :invoke, :f :acquire, :value [:b nil], :process 1, :time 1}\n"
        "{:type :invoke, :f :acquire, :value #some/tag [:a nil], :process 2, :time 2}\n"
        "{:type :ok, :f :acquire, :value [:a {:fence 3N}], :process 2, :time 3}\n"
        "#_{:type :nonsense} {:type :ok, :f :acquire, :value (:b 8), :process 1, :time 4}";
    struct lb_history_view view;
    struct lb_read_facts facts;
    must_parse(text, &view, &facts);
    assert_int_equal(facts.n_objects, 2);
    assert_int_equal(event(&view, 0, 0)->object, 0);
    assert_int_equal(event(&view, 1, 0)->object, 1);
    assert_int_equal(event(&view, 1, 1)->object, 1);
    assert_int_equal(event(&view, 1, 1)->value, 3);
    assert_int_equal(event(&view, 1, 1)->flags, LB_EVF_TOKEN);
    assert_event(event(&view, 0, 1), LB_EV_OK, LB_OP_ACQUIRE, 1, 4, 8);
    lb_history_release(&view);
}

static void json_lines_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "{\"type\":\"invoke\",\"f\":\"acquire\",\"process\":3,\"time\":7,\"index\":0,"
        "\"value\":null}\n"
        "\n"
        " { \"index\" : 1 , \"x\":[1.5e3,-0.1,{\"fence\":9},true,\"\\u00e9\\\"\"], "
        "\"type\":\"ok\", \"value\":{\"fence\":12,\"more\":[]},\r\n"
        /* one operation per line */;
    struct lb_history_view view;
    struct lb_read_facts facts;
    struct lb_error err;
    assert_int_equal(parse(text, NULL, &view, &facts, &err), LB_E_FILE);
    assert_string_equal(err.message, "file:3: the line ends in the middle of an operation");
    char good[600];
    snprintf(good, sizeof good, "%.*s\"f\":\"acquire\",\"time\":8,\"process\":3}",
             (int)(sizeof text - 3), text);
    must_parse(good, &view, &facts);
    assert_int_equal(facts.format, LB_HISTORY_JSONL);
    assert_event(event(&view, 0, 0), LB_EV_INVOKE, LB_OP_ACQUIRE, 3, 7, 0);
    assert_event(event(&view, 0, 1), LB_EV_OK, LB_OP_ACQUIRE, 3, 8, 12);
    assert_int_equal(event(&view, 0, 1)->flags, LB_EVF_TOKEN);
    lb_history_release(&view);
}

#define INVOKE  "{:type :invoke, :f :acquire, :process 1, :time 5, :index 5}\n"
#define OK      "{:type :ok, :f :acquire, :process 1, :time 6, :index 6}\n"
#define JINVOKE "{\"type\":\"invoke\",\"f\":\"acquire\",\"process\":1,\"time\":5}\n"

static void what_is_wrong_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        /* the form */
        {"", "no operations"},
        {"\n; nothing\n", "no operations"},
        {"hello", "file:1: an operation must be a map"},
        {INVOKE "{:type :ok, :f :acquire", "file:2: the file ends in the middle"},
        {INVOKE "{:type :ok, :f", "file:2: the file ends in the middle"},
        {INVOKE "{:type :ok, :f }", "file:2: a key without a value"},
        {INVOKE "{:type :ok, :type :ok}", "file:2: \"type\" appears twice"},
        {"[" INVOKE OK, "file:3: the vector of operations does not end"},
        {"[" INVOKE OK "] 5", "file:3: something follows"},
        {INVOKE OK "]", "file:3: an operation must be a map"},
        {INVOKE "{:type :ok, :x \"a\n\n", "file:2: a string does not end"},
        {INVOKE "{:type :ok, :x ]}", "file:2: unexpected ']'"},
        {INVOKE "{:type :ok, :x [1 2)}", "file:2: unexpected ')'"},
        {INVOKE "{:type :ok, :x 12a}", "file:2: not a number"},
        {INVOKE "{:type :ok, : 1}", "file:2: a keyword without a name"},
        {INVOKE "{:type :ok, :time 9223372036854775808}", "file:2: a number is too large"},
        {JINVOKE "{\"type\":\"ok\"", "file:2: the line ends in the middle"},
        {JINVOKE "{\"type\":\"ok\",}", "file:2: unexpected '}'"},
        {JINVOKE "{\"type\":\"ok\"} {}", "file:2: something follows the operation"},
        {JINVOKE "{\"type\":ok}", "file:2: unexpected 'o'"},
        {JINVOKE "{\"x\":01}", "file:2: not a number"},
        {JINVOKE "{\"x\":1.}", "file:2: not a number"},
        {JINVOKE "{\"x\":\"a\nb\"}", "file:2: a string does not end"},
        {JINVOKE "{\"x\":\"\\x\"}", "file:2: not an escape"},
        {JINVOKE "{\"x\":\"\\u12g4\"}", "file:2: not an escape"},
        {JINVOKE "[]", "file:2: an operation must be an object"},
        {JINVOKE "{\"x\":[1 2]}", "file:2: unexpected '2'"},
        /* the keys */
        {"{:f :acquire, :process 1}", "file:1: an operation without a type"},
        {"{:type :done, :f :acquire, :process 1}", "file:1: type must be"},
        {"{:type :invoke, :process 1}", "file:1: an operation without an f"},
        {"{:type :invoke, :f :acquire}", "file:1: an operation without a process"},
        {"{:type :invoke, :f :acquire, :process -1}", "file:1: process must be a number"},
        {"{:type :invoke, :f :acquire, :process :a}\n"
         "{:type :invoke, :f :acquire, :process 2147483648}",
         "file:2: process must be a number below 2147483648 where others have names"},
        {"{:type :invoke, :f :acquire, :process 1, :time 1.5}", "file:1: time must be"},
        {"{:type :invoke, :f :acquire, :process 1, :time -2}", "file:1: time must be"},
        {INVOKE "{:type :ok, :f :acquire, :process 1}", "file:2: some operations have a time"},
        {INVOKE "{:type :ok, :f :acquire, :process 1, :time 6, :log 1}",
         "file:2: some operations have a log"},
        {"{:type :invoke, :f :acquire, :process 1, :object -1}", "file:1: object must be"},
        {"{:type :invoke, :f :acquire, :process 1, :shared 1}", "file:1: shared must be"},
        {"{:type :invoke, :f :acquire, :process 1, :token :a}", "file:1: token must be"},
        {"{:type :invoke, :f :acquire, :process 1, :index :a}", "file:1: index must be"},
        /* order and grammar */
        {INVOKE INVOKE, "file:2: index 5 comes after index 5"},
        {OK, "file:1: process 1 ends acquire, but has not invoked it"},
        {INVOKE "{:type :invoke, :f :release, :process 1, :time 6}",
         "file:2: process 1 invokes release, but what it invoked in line 1 has not ended"},
        {INVOKE "{:type :ok, :f :release, :process 1, :time 6}",
         "file:2: process 1 ends release, but invoked acquire in line 1"},
        {INVOKE OK "{:type :ok, :f :acquire, :process 1, :time 6}",
         "file:3: process 1 ends acquire, but has not invoked it"},
        {INVOKE "{:type :ok, :f :acquire, :process 1, :time 4}",
         "file:2: the time of process 1 goes back by 1 ns"},
        {INVOKE "{:type :info, :f :acquire, :process 1, :time 6}\n"
                "{:type :invoke, :f :acquire, :process 1, :time 6}",
         "file:3: process 1 goes on after an unknown outcome"},
        {INVOKE OK "{:type :invoke, :f :dequeue, :process 2, :time 6}",
         "file:3: an operation of a queue in a history of a lock (line 1)"},
        {"{:type :invoke, :f :dequeue, :process 1}\n{:type :ok, :f :dequeue, :process 1}",
         "file:2: an ok without the item"},
        {"{:type :invoke, :f :drain, :process 1}\n{:type :ok, :f :drain, :process 1, :value 3}",
         "file:2: drain must have a vector"},
        {INVOKE "{:type :invoke, :f :read, :process 2, :time 6}\n"
                "{:type :invoke, :f :cas, :process 3, :time 6}\n"
                "{:type :ok, :f :read, :process 2, :time 6}",
         "file:2: unknown operations: read (2), cas (1); name them with --ignore"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct lb_history_view view;
        struct lb_read_facts facts;
        struct lb_error err = {0};
        assert_int_equal(parse(bad[i].text, NULL, &view, &facts, &err), LB_E_FILE);
        if (strstr(err.message, bad[i].message) == NULL)
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.message, bad[i].message);
    }
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    static const char *const openings[] = {"[", "{", "#{", "#_", "#a ", "{1 ", "#_#a [", "#a #_"};
    enum { DEEP = 200000 };
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++)
        for (int json = 0; json < 2; json++) {
            size_t n = strlen(openings[i]);
            char *text = malloc(DEEP * n + 100), *p = text;
            p += sprintf(p, json ? "{\"value\":" : "{:value ");
            for (int k = 0; k < DEEP; k++, p += n)
                memcpy(p, openings[i], n);
            *p = '\0';
            struct lb_history_view view;
            struct lb_read_facts facts;
            struct lb_error err;
            assert_int_equal(parse(text, NULL, &view, &facts, &err), LB_E_FILE);
            free(text);
        }
}

static void unknown_operations_can_be_ignored(void **state)
{
    (void)state;
    static const char text[] = INVOKE "{:type :invoke, :f :read, :process 2, :time 6}\n"
                                      "{:type :invoke, :f :cas, :process 1, :time 6}\n" OK;
    struct lb_history_view view;
    struct lb_read_facts facts;
    struct lb_error err;
    assert_int_equal(parse(text, "read", &view, &facts, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, "file:3: unknown operations: cas (1)"));
    static const char *const lists[] = {"read,cas", "cas,read,more", "*", "read,*"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(parse(text, lists[i], &view, &facts, &err), 0);
        assert_int_equal(facts.n_ignored, 2);
        assert_int_equal(view.n_events, 2);
        lb_history_release(&view);
    }
    /* Known operations can be, too; then nothing is left of this one. */
    assert_int_equal(parse(INVOKE OK, "acquire", &view, &facts, &err), 0);
    assert_int_equal(facts.n_ignored, 2);
    assert_int_equal(view.n_events, 0);
    lb_history_release(&view);
}

/* Cut anywhere, a file is refused or is a history of fewer operations; it never crashes. */
static void a_cut_file_never_crashes(void **state)
{
    (void)state;
    static const char *const texts[] = {mutex_edn, queue_edn, JINVOKE};
    for (size_t t = 0; t < 3; t++)
        for (size_t n = 0; n < strlen(texts[t]); n++) {
            char *text = malloc(n + 1); /* its own block: the sanitizer sees its end */
            memcpy(text, texts[t], n);
            text[n] = '\0';
            struct lb_history_view view;
            struct lb_read_facts facts;
            struct lb_error err;
            int code = parse(text, NULL, &view, &facts, &err);
            if (code == 0)
                lb_history_release(&view);
            else
                assert_int_equal(code, LB_E_FILE);
            /* Only the last line end may be missing from a vector. */
            assert_true(code != 0 || t > 0 || n + 1 == strlen(texts[t]));
            free(text);
        }
}

/* --- round trips --- */

static void add(struct lb_builder *builder, uint32_t log, struct lb_event e)
{
    lb_builder_add(builder, log, &e);
}

static uint64_t any_number(struct lb_random *random)
{
    static const uint64_t edges[] = {0, 1, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX};
    return lb_random_below(random, 4) == 0 ? edges[lb_random_below(random, 5)]
                                           : lb_random_next(random) >> lb_random_below(random, 64);
}

/* A history that keeps the grammar; otherwise anything that events can be. */
static void random_history(struct lb_random *random, bool queue, struct lb_history_view *view)
{
    static const uint8_t lock_ops[] = {LB_OP_ENQUEUE, LB_OP_ACQUIRE, LB_OP_RENEW,
                                       LB_OP_RELEASE, LB_OP_CANCEL,  LB_OP_WRITE};
    static const uint8_t queue_ops[] = {
        LB_OP_PUT,         LB_OP_CLAIM,     LB_OP_COMPLETE,  LB_OP_ERROR,      LB_OP_FREE,
        LB_OP_CLEAR_ERROR, LB_OP_CLEAR_ALL, LB_OP_RESET_ALL, LB_OP_RENEW_ITEM, LB_OP_RECOVER};
    struct lb_builder builder = {0};
    uint32_t n_logs = 1 + (uint32_t)lb_random_below(random, 5);
    for (uint32_t log = 0; log < n_logs; log++) {
        uint64_t now = lb_random_below(random, 1000);
        uint32_t process = log;
        int n = (int)lb_random_below(random, 200);
        /* The first operation tells the shape. */
        for (int i = 0; i < n + (log == 0); i++) {
            uint8_t op = i == 0  ? (queue ? LB_OP_PUT : LB_OP_ACQUIRE)
                         : queue ? queue_ops[lb_random_below(random, sizeof queue_ops)]
                                 : lock_ops[lb_random_below(random, sizeof lock_ops)];
            struct lb_event e = {.time_ns = now += lb_random_below(random, 3),
                                 .value = any_number(random),
                                 .process = process,
                                 .object = (uint32_t)lb_random_below(random, 3),
                                 .arg = (uint32_t)any_number(random),
                                 .op = op,
                                 .flags = (uint8_t)lb_random_below(random, 8),
                                 .type = LB_EV_INVOKE};
            if (op == LB_OP_PUT && e.value > UINT64_MAX - e.arg)
                e.value -= e.arg; /* of ids that there are */
            if (op == LB_OP_ACQUIRE && e.arg == 0)
                e.arg = 1; /* permits */
            add(&builder, log, e);
            bool may_batch = op == LB_OP_COMPLETE || op == LB_OP_ERROR || op == LB_OP_FREE;
            uint64_t n_more = may_batch && lb_random_below(random, 3) == 0
                                  ? 1 + lb_random_below(random, 4)
                                  : 0; /* a batch */
            for (uint64_t k = 0; k < n_more; k++) {
                e.value = any_number(random);
                add(&builder, log, e);
            }
            bool is_piped = may_batch && lb_random_below(random, 3) == 0;
            if (is_piped) { /* a claim goes out behind it */
                struct lb_event claim = e;
                claim.op = LB_OP_CLAIM;
                claim.value = 0;
                add(&builder, log, claim);
            }
            if (i == n && log > 0 && lb_random_below(random, 3) == 0)
                break; /* never ends */
            while (lb_random_below(random, 4) == 0) {
                static const uint8_t notes[] = {LB_OP_ITEM,        LB_OP_FAULT,   LB_OP_DEATH,
                                                LB_OP_SESSION_END, LB_OP_WARM,    LB_OP_STALL,
                                                LB_OP_WAITED,      LB_OP_RESTART, LB_OP_CLOCK};
                struct lb_event note = e;
                note.type = LB_EV_NOTE;
                size_t first = e.op != LB_OP_CLAIM; /* items are noted in claims only */
                note.op = notes[first + lb_random_below(random, sizeof notes - first)];
                note.value = any_number(random);
                if (note.op == LB_OP_CLOCK)
                    note.object %= LB_CLOCKS;
                if (note.op == LB_OP_STALL || note.op == LB_OP_RESTART || note.op == LB_OP_CLOCK)
                    note.value >>= 2; /* a length of time */
                note.arg %= note.op == LB_OP_STALL ? LB_STALLS : LB_MAX_LOGS;
                add(&builder, log, note);
            }
            e.time_ns = now += lb_random_below(random, 3);
            if (!queue || op == LB_OP_CLAIM) /* an end names the requested item */
                e.value = any_number(random);
            e.arg = (uint32_t)any_number(random);
            e.flags = (uint8_t)lb_random_below(random, 8);
            e.type = (uint8_t)(LB_EV_OK + lb_random_below(random, 3));
            e.answer = (uint8_t)lb_random_below(random, LB_ANSWERS);
            add(&builder, log, e);
            bool is_unknown = e.type == LB_EV_INFO;
            for (uint64_t k = 0; k < n_more; k++) {
                e.value = any_number(random);
                e.type = (uint8_t)(LB_EV_OK + lb_random_below(random, 3));
                is_unknown = is_unknown || e.type == LB_EV_INFO;
                add(&builder, log, e);
            }
            for (uint64_t k = 0; is_piped && k < 3; k++) { /* two items, and then the end */
                e.op = k < 2 ? LB_OP_ITEM : LB_OP_CLAIM;
                e.value = k < 2 ? any_number(random) : 2;
                e.type = (uint8_t)(k < 2 ? LB_EV_NOTE : LB_EV_OK);
                add(&builder, log, e);
            }
            if (is_unknown)
                process += n_logs;
        }
    }
    lb_builder_finish(&builder, "shape=x\nname=\"a\\b\"\n\ttab\x01", view);
    view->start_unix_ns = 1700000000123456789u;
}

static char *written(const struct lb_history_view *view, enum lb_history_format format,
                     enum lb_write_dialect dialect, size_t *ret_size)
{
    char *text = NULL;
    struct lb_error err;
    FILE *out = open_memstream(&text, ret_size);
    assert_non_null(out);
    assert_int_equal(lb_history_write(view, format, dialect, out, &err), 0);
    fclose(out);
    return text;
}

static void what_is_written_comes_back(void **state)
{
    struct lb_random *random = *state;
    for (int round = 0; round < 200; round++) {
        struct lb_history_view before, after;
        struct lb_read_facts facts;
        struct lb_error err;
        size_t size;
        random_history(random, round % 2, &before);
        enum lb_history_format format = round % 4 < 2 ? LB_HISTORY_EDN : LB_HISTORY_JSONL;
        char *text = written(&before, format, LB_WRITE_FULL, &size);
        if (lb_history_parse(text, size, "file", NULL, &after, &facts, &err) != 0)
            fail_msg("round %d: %s", round, err.message);
        assert_int_equal(facts.format, format);
        assert_int_equal(facts.is_queue, round % 2);
        assert_int_equal(after.n_logs, before.n_logs);
        assert_int_equal(after.start_unix_ns, before.start_unix_ns);
        assert_string_equal(after.meta, before.meta);
        for (size_t log = 0; log < before.n_logs; log++) {
            assert_int_equal(after.logs[log].n_events, before.logs[log].n_events);
            for (size_t i = 0; i < before.logs[log].n_events; i++)
                if (memcmp(event(&after, log, i), event(&before, log, i), 32) != 0)
                    fail_msg("round %d: log %zu, event %zu differs", round, log, i);
        }
        lb_history_release(&after);
        lb_history_release(&before);
        free(text);
    }
}

/* An export cannot give the names themselves: events have numbers. It must be readable all the
 * same. */
static void processes_with_names_come_back(void **state)
{
    (void)state;
    for (int format = LB_HISTORY_EDN; format <= LB_HISTORY_JSONL; format++)
        for (int dialect = LB_WRITE_FULL; dialect <= LB_WRITE_PLAIN; dialect++) {
            struct lb_history_view before, after;
            struct lb_read_facts facts;
            size_t size;
            must_parse("{:type :invoke, :f :acquire, :process :a}\n"
                       "{:type :invoke, :f :acquire, :process \"b\"}\n"
                       "{:type :ok, :f :acquire, :process :a}\n",
                       &before, &facts);
            char *text = written(&before, (enum lb_history_format)format,
                                 (enum lb_write_dialect)dialect, &size);
            must_parse(text, &after, &facts);
            assert_int_equal(after.n_logs, 2);
            assert_int_equal(event(&after, 0, 1)->process, LB_NAMED_PROCESS);
            assert_int_equal(event(&after, 1, 0)->process, LB_NAMED_PROCESS + 1);
            lb_history_release(&after);
            lb_history_release(&before);
            free(text);
        }
}

static void the_plain_dialect_is_what_models_know(void **state)
{
    (void)state;
    struct lb_builder builder = {0};
    struct lb_history_view view;
    size_t size;
    add(&builder, 0,
        (struct lb_event){
            .time_ns = 10, .op = LB_OP_PUT, .value = 7, .arg = 2, .type = LB_EV_INVOKE});
    add(&builder, 0,
        (struct lb_event){.time_ns = 20, .op = LB_OP_PUT, .value = 7, .arg = 2, .type = LB_EV_OK});
    add(&builder, 1,
        (struct lb_event){
            .time_ns = 20, .op = LB_OP_CLAIM, .process = 1, .arg = 5, .type = LB_EV_INVOKE});
    for (uint64_t item = 7; item < 9; item++)
        add(&builder, 1,
            (struct lb_event){
                .time_ns = 30, .op = LB_OP_ITEM, .process = 1, .value = item, .type = LB_EV_NOTE});
    add(&builder, 1,
        (struct lb_event){.time_ns = 30,
                          .op = LB_OP_CLAIM,
                          .process = 1,
                          .value = 2,
                          .arg = 2,
                          .type = LB_EV_OK});
    add(&builder, 1,
        (struct lb_event){
            .time_ns = 40, .op = LB_OP_COMPLETE, .process = 1, .value = 7, .type = LB_EV_INVOKE});
    lb_builder_finish(&builder, "x=y\n", &view);
    char *text = written(&view, LB_HISTORY_EDN, LB_WRITE_PLAIN, &size);
    assert_string_equal(text,
                        "{:type :invoke, :f :enqueue, :process 0, :time 10, :index 0, :value 7}\n"
                        "{:type :invoke, :f :enqueue, :process 2, :time 10, :index 1, :value 8}\n"
                        "{:type :invoke, :f :dequeue, :process 1, :time 20, :index 2, :value nil}\n"
                        "{:type :invoke, :f :dequeue, :process 3, :time 20, :index 3, :value nil}\n"
                        "{:type :ok, :f :enqueue, :process 0, :time 20, :index 4, :value 7}\n"
                        "{:type :ok, :f :enqueue, :process 2, :time 20, :index 5, :value 8}\n"
                        "{:type :ok, :f :dequeue, :process 1, :time 30, :index 6, :value 7}\n"
                        "{:type :ok, :f :dequeue, :process 3, :time 30, :index 7, :value 8}\n");
    struct lb_history_view again;
    struct lb_read_facts facts;
    must_parse(text, &again, &facts);
    assert_true(facts.is_queue);
    lb_history_release(&again);
    lb_history_release(&view);
    free(text);
}

static void files_and_pipes_are_read(void **state)
{
    (void)state;
    char path[] = "/tmp/lb-jepsen-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct lb_history_view view;
    struct lb_read_facts facts;
    struct lb_error err;
    assert_int_equal(lb_history_read(path, NULL, &view, &facts, &err), LB_E_FILE); /* empty */
    /* Sizes around a page: the NUL behind the last byte must be there. */
    for (int filler = 3900; filler < 4200; filler++) {
        assert_int_equal(ftruncate(fd, 0), 0);
        dprintf(fd, INVOKE ";%*s\n" OK, filler, "");
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        assert_int_equal(lb_history_read(path, NULL, &view, &facts, &err), 0);
        assert_int_equal(view.n_events, 2);
        lb_history_release(&view);
    }
    int saved = dup(STDIN_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], INVOKE OK, strlen(INVOKE OK)), strlen(INVOKE OK));
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    assert_int_equal(lb_history_read("-", NULL, &view, &facts, &err), 0);
    assert_int_equal(view.n_events, 2);
    lb_history_release(&view);
    close(ends[0]);
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    assert_int_equal(lb_history_read("-", NULL, &view, &facts, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, "stdin"));
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);

    /* The binary format through the same door. */
    unlink(path);
    struct lb_history *history;
    struct lb_log log;
    assert_int_equal(lb_history_create(path, &history, &err), 0);
    lb_log_init(&log, history, 0);
    struct lb_event e = {.time_ns = 1, .op = LB_OP_ACQUIRE, .type = LB_EV_INVOKE};
    assert_int_equal(lb_log_append(&log, &e), 0);
    lb_history_free(history);
    assert_int_equal(lb_history_read(path, NULL, &view, &facts, &err), 0);
    assert_int_equal(facts.format, LB_HISTORY_BINARY);
    assert_int_equal(view.n_events, 1);
    lb_history_release(&view);
    struct lb_read_options as_text = {.format = LB_HISTORY_JSONL};
    assert_int_equal(lb_history_read(path, &as_text, &view, &facts, &err), LB_E_FILE);
    unlink(path);
    assert_int_equal(lb_history_read(path, NULL, &view, &facts, &err), LB_E_FILE);
    assert_int_equal(lb_history_read("/tmp", NULL, &view, &facts, &err), LB_E_FILE);
}

int main(void)
{
    uint64_t seed = lb_test_seed();
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mutex_of_jepsen_is_read),
        cmocka_unit_test(a_fenced_lock_of_hazelcast_is_read),
        cmocka_unit_test(a_queue_of_jepsen_is_read),
        cmocka_unit_test(tuples_name_the_resource),
        cmocka_unit_test(json_lines_are_read),
        cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(unknown_operations_can_be_ignored),
        cmocka_unit_test(a_cut_file_never_crashes),
        cmocka_unit_test_prestate(what_is_written_comes_back, &random),
        cmocka_unit_test(processes_with_names_come_back),
        cmocka_unit_test(the_plain_dialect_is_what_models_know),
        cmocka_unit_test(files_and_pipes_are_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
