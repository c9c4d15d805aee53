/* The relay between a client and a server that are both this test, which lets it work step by step:
 * remains, hostile input, and cut connections. */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct stage {
    char dir[64];
    int listener, client, server;
    struct lb_door door;
    struct lb_relay *relay;
    enum lb_relay_verdict verdict;
    unsigned n_asked, n_answered, n_lost;
    const char *cut;
};

static enum lb_relay_verdict asks(void *arg, const struct lb_relay_statement *statement,
                                  uint64_t *ret_until_ns)
{
    struct stage *stage = arg;
    (void)statement;
    (void)ret_until_ns;
    stage->n_asked++;
    return stage->verdict;
}

static void answered(void *arg, const struct lb_relay_statement *statement)
{
    struct stage *stage = arg;
    stage->n_answered++;
    stage->n_lost += statement->is_lost;
    stage->cut = statement->cut;
}

static const struct lb_relay_hooks hooks = {.asks = asks, .answered = answered};

static int open_socket(const char *dir, bool listens)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", dir);
    assert_true(fd >= 0);
    if (listens) {
        assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(listen(fd, 128), 0);
    } else {
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    }
    return fd;
}

static void pump(struct stage *stage)
{
    for (unsigned i = 0; i < 20; i++)
        lb_relay_pump(stage->relay);
}

static int set_up_without_relay(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    *state = stage;
    snprintf(stage->dir, sizeof stage->dir, "/tmp/lockbench-unit-XXXXXX");
    assert_non_null(mkdtemp(stage->dir));
    stage->listener = open_socket(stage->dir, true);
    stage->client = stage->server = -1;
    snprintf(stage->door.socket, sizeof stage->door.socket, "%s", stage->dir);
    snprintf(stage->door.port, sizeof stage->door.port, "5432");
    snprintf(stage->door.uri, sizeof stage->door.uri, "postgresql://u@/d?host=%s", stage->dir);
    return 0;
}

static int set_up(void **state)
{
    struct lb_error err;
    set_up_without_relay(state);
    struct stage *stage = *state;
    assert_int_equal(lb_relay_new(&stage->door, &hooks, stage, &stage->relay, &err), 0);
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;
    char path[100];
    lb_relay_free(stage->relay);
    close(stage->listener);
    if (stage->client >= 0)
        close(stage->client);
    if (stage->server >= 0)
        close(stage->server);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", stage->dir);
    unlink(path);
    rmdir(stage->dir);
    free(stage);
    return 0;
}

#define SAY(fd, bytes)                                                                             \
    assert_int_equal(send(fd, bytes, sizeof(bytes) - 1, MSG_NOSIGNAL), sizeof(bytes) - 1)

/* Reads the available bytes without waiting. 0: the other side has closed; -1: none. */
static ssize_t hear(int fd, char *bytes, size_t size)
{
    memset(bytes, 0, size);
    return recv(fd, bytes, size, MSG_DONTWAIT);
}

#define START "\0\0\0\x9\0\3\0\0\0"
#define READY "R\0\0\0\x8\0\0\0\0Z\0\0\0\5I"

/* Until the client has sent its first message, and the server knows of it. */
static void begin(struct stage *stage)
{
    stage->client = open_socket(lb_relay_door(stage->relay)->socket, false);
    SAY(stage->client, START);
    pump(stage);
    stage->server = accept(stage->listener, NULL, NULL);
    assert_true(stage->server >= 0);
}

static void begin_session(struct stage *stage)
{
    char bytes[100];
    begin(stage);
    SAY(stage->server, READY);
    pump(stage);
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), sizeof START - 1);
    assert_int_equal(hear(stage->client, bytes, sizeof bytes), sizeof READY - 1);
}

/* --- */

static void test_early_request(void **state)
{
    struct stage *stage = *state;
    char bytes[100];
    begin(stage);
    SAY(stage->client, "Q\0\0\0\xdSELECT 1\0");
    pump(stage);
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), sizeof START - 1);
    assert_int_equal(stage->n_asked, 0);
    SAY(stage->server, READY);
    pump(stage);
    assert_int_equal(stage->n_asked, 1);
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), 14);
}

static void test_first_message(void **state)
{
    struct stage *stage = *state;
    char bytes[100];
    stage->client = open_socket(lb_relay_door(stage->relay)->socket, false);
    SAY(stage->client, "GET / HTTP/1.1\r\n\r\n");
    pump(stage);
    assert_true(hear(stage->client, bytes, sizeof bytes) != -1 || errno == ECONNRESET);
    close(stage->client);
    stage->client = open_socket(lb_relay_door(stage->relay)->socket, false);
    SAY(stage->client, "\0\1\0\0");
    pump(stage);
    assert_int_equal(hear(stage->client, bytes, sizeof bytes), 0);
}

static void test_garbage_behind_a_request(void **state)
{
    struct stage *stage = *state;
    begin_session(stage);
    SAY(stage->client, "Q\0\0\0\xdSELECT 1\0");
    pump(stage);
    SAY(stage->client, "d\0\0\0\3");
    pump(stage);
    assert_int_equal(stage->n_answered, 1);
    assert_int_equal(stage->n_lost, 1);
}

static void test_too_many(void **state)
{
    struct stage *stage = *state;
    int clients[70];
    char bytes[200];
    for (size_t i = 0; i < 70; i++) {
        clients[i] = open_socket(lb_relay_door(stage->relay)->socket, false);
        lb_relay_pump(stage->relay);
    }
    pump(stage);
    assert_int_equal(hear(clients[63], bytes, sizeof bytes), -1);
    assert_true(hear(clients[64], bytes, sizeof bytes) > 5);
    assert_int_equal(bytes[0], 'E');
    assert_non_null(memmem(bytes, sizeof bytes, "C53300", 7));
    for (size_t i = 0; i < 70; i++)
        close(clients[i]);
}

/* The server would wait for more data, in its transaction, for ever. */
static void test_cut_in_copy(void **state)
{
    struct stage *stage = *state;
    char bytes[100];
    begin_session(stage);
    stage->verdict = LB_RELAY_CUT_AFTER;
    SAY(stage->client, "Q\0\0\0\x16"
                       "COPY t FROM STDIN\0");
    pump(stage);
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), 23);
    assert_int_equal(stage->n_answered, 0);
    SAY(stage->server, "G\0\0\0\7\0\0\0");
    pump(stage);
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), 0);
    assert_int_equal(stage->n_answered, 1);
    assert_string_equal(stage->cut, "after");
}

static void test_cut_of_what_is_long(void **state)
{
    struct stage *stage = *state;
    static char text[1 << 17];
    char bytes[100];
    begin_session(stage);
    stage->verdict = LB_RELAY_CUT_AFTER;
    memset(text, 'x', sizeof text);
    memcpy(text, "Q\0\1\0\0", 5);
    for (size_t at = 0; at < 70000;) {
        ssize_t n = send(stage->client, text + at, 70000 - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n <= 0)
            break;
        at += (size_t)n;
        pump(stage);
    }
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), 0);
    assert_int_equal(stage->n_answered, 1);
    assert_string_equal(stage->cut, "before");
}

/* The client asks behind them. */
static void test_last_words(void **state)
{
    static const char words[] = "E\0\0\0\x15SFATAL\0C57P01\0M!\0\0";
    struct stage *stage = *state;
    char bytes[100];
    begin_session(stage);
    SAY(stage->client, "Q\0\0\0\xdSELECT 1\0");
    SAY(stage->server, words);
    shutdown(stage->server, SHUT_RDWR);
    pump(stage);
    assert_true(hear(stage->client, bytes, sizeof bytes) > 5);
    assert_non_null(memmem(bytes, sizeof bytes, "C57P01", 7));
    assert_int_equal(hear(stage->client, bytes, sizeof bytes), 0);
}

/* --- folders --- */

/* The folder of a relay of another process, which lives until it is killed. */
static pid_t start_relay(struct stage *stage, char *dir)
{
    int back[2];
    assert_int_equal(pipe(back), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct lb_relay *relay;
        struct lb_error err;
        if (lb_relay_new(&stage->door, &hooks, stage, &relay, &err) != 0 ||
            write(back[1], lb_relay_door(relay)->socket, 64) != 64)
            _exit(1);
        for (;;)
            pause();
    }
    close(back[1]);
    assert_int_equal(read(back[0], dir, 64), 64);
    close(back[0]);
    return pid;
}

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void end_relay(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_folders_of_the_dead(void **state)
{
    struct stage *stage = *state;
    char dead[64], kept[64], alive[64], another[64], path[100];
    pid_t pid_of_dead = start_relay(stage, dead);
    pid_t pid_of_kept = start_relay(stage, kept);
    pid_t pid_of_alive = start_relay(stage, alive);
    assert_true(is_there(dead) && is_there(kept) && is_there(alive));
    snprintf(path, sizeof path, "%s/lock", kept); /* a file of another program */
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0);
    end_relay(pid_of_dead);
    end_relay(pid_of_kept);
    pid_t pid_of_another = start_relay(stage, another);
    bool was_dead = is_there(dead), was_kept = is_there(kept), was_alive = is_there(alive);
    end_relay(pid_of_alive);
    end_relay(pid_of_another);
    const char *const left[] = {dead, kept, alive, another};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/lock", left[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/.s.PGSQL.5432", left[i]);
        unlink(path);
        rmdir(left[i]);
    }
    assert_false(was_dead);
    assert_true(was_kept);
    assert_true(was_alive);
}

static void exchange(struct stage *stage)
{
    char bytes[100];
    SAY(stage->client, "Q\0\0\0\xdSELECT 1\0");
    pump(stage);
    assert_int_equal(hear(stage->server, bytes, sizeof bytes), 14);
    SAY(stage->server, "Z\0\0\0\5I");
    pump(stage);
    assert_int_equal(hear(stage->client, bytes, sizeof bytes), 6);
}

/* Lets the relay work until the server gets one more connection. */
static int accept_next(struct stage *stage)
{
    int fd;
    fcntl(stage->listener, F_SETFL, O_NONBLOCK);
    while ((fd = accept(stage->listener, NULL, NULL)) < 0) {
        assert_true(errno == EAGAIN);
        lb_relay_pump(stage->relay);
        usleep(1000);
    }
    return fd;
}

/* A server whose queue of connections is full: others go on, and a waiting client gets there. */
static void test_full_queue(void **state)
{
    enum { MORE = 3 };
    struct stage *stage = *state;
    int clients[MORE], servers[MORE];
    char bytes[100];
    begin_session(stage);
    assert_int_equal(listen(stage->listener, 0), 0);
    for (size_t i = 0; i < MORE; i++) {
        clients[i] = open_socket(lb_relay_door(stage->relay)->socket, false);
        SAY(clients[i], START);
        pump(stage);
    }
    assert_true(lb_relay_due_ns(stage->relay) != UINT64_MAX);
    exchange(stage);
    for (size_t i = 0; i < MORE; i++) {
        servers[i] = accept_next(stage);
        for (ssize_t n = -1; n != sizeof START - 1;) {
            pump(stage);
            n = hear(servers[i], bytes, sizeof bytes);
            assert_true(n == -1 || n == sizeof START - 1);
        }
    }
    assert_true(lb_relay_due_ns(stage->relay) == UINT64_MAX);
    for (size_t i = 0; i < MORE; i++) {
        close(clients[i]);
        close(servers[i]);
    }
}

/* A client that leaves before the server was connected leaves nothing behind. */
static void test_gone_before_the_server(void **state)
{
    struct stage *stage = *state;
    begin_session(stage);
    assert_int_equal(listen(stage->listener, 0), 0);
    for (size_t i = 0; i < 3; i++) {
        int client = open_socket(lb_relay_door(stage->relay)->socket, false);
        SAY(client, START);
        pump(stage);
        close(client);
        pump(stage);
    }
    assert_true(lb_relay_due_ns(stage->relay) == UINT64_MAX);
    exchange(stage);
}

/* No descriptor is left: it does not wake for nothing, others go on, and a waiting client gets
 * in. */
static void test_no_descriptors(void **state)
{
    struct stage *stage = *state;
    struct rlimit limit, less;
    begin_session(stage);
    int client = open_socket(lb_relay_door(stage->relay)->socket, false);
    SAY(client, START);
    int next = dup(client);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    less = (struct rlimit){.rlim_cur = (rlim_t)next, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
    lb_relay_pump(stage->relay);
    struct pollfd fd = {.fd = lb_relay_fd(stage->relay), .events = POLLIN};
    int n = poll(&fd, 1, 0);
    bool is_due = lb_relay_due_ns(stage->relay) != UINT64_MAX;
    exchange(stage);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(n, 0);
    assert_true(is_due);
    close(accept_next(stage));
    close(client);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        /* First: a process sweeps once. */
        cmocka_unit_test_setup_teardown(test_folders_of_the_dead, set_up_without_relay, tear_down),
        cmocka_unit_test_setup_teardown(test_early_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_garbage_behind_a_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_in_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_of_what_is_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_last_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_queue, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gone_before_the_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_descriptors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
