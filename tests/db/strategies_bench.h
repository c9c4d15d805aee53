/* A strategy on a target, set up with two or three participants, with each choice of each option.
 */
#ifndef TESTS_STRATEGIES_BENCH_H
#define TESTS_STRATEGIES_BENCH_H

#include "fixture.h"
#include "strategy.h"

enum { ACTORS = 3 };

/* One strategy on one target, set up. */
struct bench {
    struct fixture *f;
    const struct lb_strategy *strategy;
    struct lb_strategy_plan plan;
    struct lb_file *file;
    struct lb_program *program;
    struct lb_space *space;
    struct lb_session control, sessions[ACTORS];
    struct lb_actor actors[ACTORS];
    struct lb_grant grants[ACTORS];
    char title[200];
    bool any_order; /* an option gives up the order of items */
    struct lb_error err;
};

static const uint32_t capacities[2] = {1, 2};

#define CHECK(bench, condition)                                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: line %d: %s (%s)", (bench)->title, __LINE__, #condition,                 \
                     (bench)->err.message);                                                        \
    } while (0)

static void open_bench(struct bench *b)
{
    struct lb_error *err = &b->err;
    const struct lb_db *db = b->f->db;
    struct lb_conn_options options = {.role = "test", .lock_timeout_ms = 100};
    options.isolation = b->strategy->isolation;
    CHECK(b, db->space_open(&b->f->target, "strategy-test", &b->space, err) == 0);
    CHECK(b, lb_session_open(&b->control, db, b->space, &options, err) == 0);
    b->plan.strategy = b->strategy;
    b->plan.program = b->program;
    b->plan.space_no = db->space_number(b->space);
    b->plan.period_ms = b->strategy->shape == LB_QUEUE ? 600000 : 0;
    b->plan.n_resources = 2;
    b->plan.capacity = capacities;
    b->plan.ttl_ms = 600000;
    for (uint32_t i = 0; i < ACTORS; i++) {
        CHECK(b, lb_session_open(&b->sessions[i], db, b->space, &options, err) == 0);
        b->actors[i] = (struct lb_actor){.plan = &b->plan, .session = &b->sessions[i], .number = i};
        snprintf(b->actors[i].name, sizeof b->actors[i].name, "w%u", i);
        CHECK(b, b->strategy->flow->open(&b->actors[i], err) == LB_OK);
    }
}

static void close_bench(struct bench *b)
{
    for (uint32_t i = 0; i < ACTORS; i++) {
        b->strategy->flow->close(&b->actors[i]);
        lb_session_close(&b->sessions[i]);
    }
    lb_session_close(&b->control);
    CHECK(b, b->f->db->space_close(b->space, false, &b->err) == 0);
    lb_program_free(b->program);
    lb_file_free(b->file);
}

typedef void bench_fn(struct bench *b);

/* Runs the test with one set of options, if the engine has what that takes. */
static void with_settings(struct fixture *f, const struct lb_strategy *strategy,
                          const struct lb_setting *settings, size_t n_settings, bench_fn *test)
{
    struct bench b = {.f = f, .strategy = strategy};
    const struct lb_embedded *e = lb_embedded_find(strategy->name, f->db->name);
    size_t n =
        (size_t)snprintf(b.title, sizeof b.title, "%s on %s", strategy->name, f->target.label);
    for (size_t i = 0; i < n_settings && n < sizeof b.title; i++)
        n += (size_t)snprintf(b.title + n, sizeof b.title - n, " %s=%s", settings[i].name,
                              settings[i].value);
    b.any_order = strstr(b.title, "offset=random") != NULL;
    if (e == NULL)
        return;
    CHECK(&b, lb_file_parse(strategy->name, (const char *)e->text, *e->length, (int)strategy->shape,
                            &b.file, &b.err) == 0);
    int r =
        lb_program_new(b.file, f->db, strategy->options, settings, n_settings, &b.program, &b.err);
    if (r == LB_E_UNSUPPORTED) { /* these options mean nothing here */
        lb_file_free(b.file);
        return;
    }
    CHECK(&b, r == 0);
    open_bench(&b);
    r = strategy->flow->setup(&b.plan, &b.control, &b.err);
    CHECK(&b, r == LB_OK || r == LB_E_UNSUPPORTED);
    if (r == LB_OK) {
        test(&b);
        CHECK(&b, strategy->flow->teardown(&b.plan, &b.control, &b.err) == LB_OK);
    }
    close_bench(&b);
}

static void with_each_choice(struct fixture *f, const struct lb_strategy *strategy,
                             const struct lb_setting *always, bench_fn *test)
{
    struct lb_setting settings[2];
    size_t n = 0;
    if (always != NULL)
        settings[n++] = *always;
    with_settings(f, strategy, settings, n, test);
    for (const struct lb_option *o = strategy->options; o != NULL && o->name != NULL; o++) {
        if (always != NULL && strcmp(o->name, always->name) == 0)
            continue;
        settings[n].name = o->name;
        if (strcmp(o->name, "stale_ms") == 0) {
            settings[n].value = "600000";
            with_settings(f, strategy, settings, n + 1, test);
        }
        for (size_t i = 1; o->choices != NULL && o->choices[i] != NULL; i++) {
            settings[n].value = o->choices[i];
            with_settings(f, strategy, settings, n + 1, test);
        }
    }
}

#endif
