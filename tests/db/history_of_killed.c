/* Histories whose writers were killed with SIGKILL at a random moment are read up to the last whole
 * event, and keep the grammar of operations.
 *
 * Without arguments: writers of its own. With files as arguments: prints the contents of each, and
 * fails if one cannot be read, or shows an item twice. With --acknowledged FILE: one line "put ID",
 * "claim ID" or "complete ID" for each that was answered ok. So killed.t looks at what the whole
 * program left behind, and compares it with the database.
 */
#include "check_meta.h"
#include "clock.h"
#include "random.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Returns 0, or an error's code; *ret_events on 0. */
static int read_killed(const char *path, uint64_t *ret_events, struct lb_error *err)
{
    struct lb_history_view view;
    int rc = lb_history_open(path, &view, err);
    if (rc != 0)
        return rc;
    struct lb_model model = {.n_resources = 1};
    uint32_t *capacity = NULL;
    struct lb_judgement judgement;
    rc = lb_model_parse(view.meta, &model, &capacity, err);
    /* The end is the last thing that is known. */
    for (size_t i = 0; i < view.n_logs; i++)
        for (size_t k = 0; k < view.logs[i].n_spans; k++) {
            const struct lb_span *span = &view.logs[i].spans[k];
            if (span->n > 0 && span->events[span->n - 1].time_ns > model.end_ns)
                model.end_ns = span->events[span->n - 1].time_ns;
        }
    if (rc == 0)
        rc = lb_check(&view, &model, &judgement, err);
    if (rc == 0 && model.complete)
        rc = lb_fail(err, LB_E_FILE, "%s: it says that it is complete", path);
    const struct lb_finding *twice = &judgement.findings[LB_G_NO_DUPLICATE];
    if (rc == 0 && twice->n_violations > 0)
        rc = lb_fail(err, LB_E_FILE, "%s: %s", path, twice->witness[0].text);
    *ret_events = view.n_events;
    free(capacity);
    lb_history_release(&view);
    return rc;
}

static void print_acknowledged(const struct lb_event *event)
{
    if (event->type == LB_EV_NOTE && event->op == LB_OP_ITEM)
        printf("claim %llu\n", (unsigned long long)event->value);
    if (event->type != LB_EV_OK)
        return;
    for (uint32_t i = 0; event->op == LB_OP_PUT && i < event->arg; i++)
        printf("put %llu\n", (unsigned long long)event->value + i);
    if (event->op == LB_OP_COMPLETE)
        printf("complete %llu\n", (unsigned long long)event->value);
}

static int acknowledged(const char *path)
{
    struct lb_history_view view;
    struct lb_error err;
    if (lb_history_open(path, &view, &err) != 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (size_t i = 0; i < view.n_logs; i++)
        for (size_t k = 0; k < view.logs[i].n_spans; k++)
            for (size_t n = 0; n < view.logs[i].spans[k].n; n++)
                print_acknowledged(&view.logs[i].spans[k].events[n]);
    lb_history_release(&view);
    return 0;
}

static int read_files(int n, char **paths)
{
    int failures = 0;
    for (int i = 0; i < n; i++) {
        uint64_t n_events = 0;
        struct lb_error err = {0};
        int rc = read_killed(paths[i], &n_events, &err);
        failures += rc != 0;
        printf("%s %d - %s: ", rc == 0 ? "ok" : "not ok", i + 1, paths[i]);
        if (rc == 0)
            printf("%llu events\n", (unsigned long long)n_events);
        else
            printf("%s\n", err.message);
    }
    printf("1..%d\n", n);
    return failures > 0;
}

/* Appends until it is killed; its appended events are counted in shared memory. */
static _Noreturn void write_for_ever(struct lb_history *history, int count_fd)
{
    struct lb_log log;
    lb_log_init(&log, history, 0);
    for (uint64_t n = 0;; n++) {
        struct lb_event event = {.time_ns = lb_now_ns(), .op = LB_OP_ACQUIRE};
        event.type = n % 2 == 0 ? LB_EV_INVOKE : LB_EV_FAIL;
        event.answer = n % 2 == 0 ? LB_OK : LB_BUSY;
        if (lb_log_append(&log, &event) != 0)
            _exit(1);
        uint64_t done = n + 1;
        if (pwrite(count_fd, &done, sizeof done, 0) != (ssize_t)sizeof done)
            _exit(1);
    }
}

static void what_was_appended_is_read(void **state)
{
    (void)state;
    const char *text = getenv("LB_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : lb_now_ns();
    printf("# seed %llu\n", (unsigned long long)seed);
    struct lb_random random;
    lb_random_init(&random, seed, 0);
    for (int i = 0; i < 10; i++) {
        char path[] = "/tmp/lockbench-killed.XXXXXX", count_path[] = "/tmp/lockbench-count.XXXXXX";
        struct lb_error err = {0};
        struct lb_history *history;
        int fd = mkstemp(path), count_fd = mkstemp(count_path);
        assert_true(fd >= 0 && count_fd >= 0);
        close(fd);
        unlink(path);
        assert_int_equal(lb_history_create(path, &history, &err), 0);
        pid_t child = fork();
        if (child == 0)
            write_for_ever(history, count_fd);
        struct timespec wait = {.tv_nsec = (long)lb_random_below(&random, 30000000)};
        nanosleep(&wait, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        uint64_t appended = 0, n_events = 0;
        (void)!pread(count_fd, &appended, sizeof appended, 0);
        int rc = read_killed(path, &n_events, &err);
        if (rc != 0)
            print_error("%s\n", err.message);
        assert_int_equal(rc, 0);
        /* The count is written after the event: the last event may not be in it. */
        assert_in_range(n_events, appended, appended + 1);
        lb_history_free(history);
        close(count_fd);
        unlink(path);
        unlink(count_path);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--acknowledged") == 0)
        return acknowledged(argv[2]);
    if (argc > 1)
        return read_files(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_appended_is_read)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
