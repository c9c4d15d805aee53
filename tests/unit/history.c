/* The recorded history: writing and reading back, killed writers, a full disk, cut files. */
#include "history.h"
#include "clock.h"
#include "interchange.h"
#include "property.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char dir[64], path[96];
};

static int make_place(void **state)
{
    static struct place place;
    snprintf(place.dir, sizeof place.dir, "/tmp/lb-history-XXXXXX");
    if (mkdtemp(place.dir) == NULL)
        return -1;
    snprintf(place.path, sizeof place.path, "%s/history.lbh", place.dir);
    *state = &place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    unlink(place->path);
    return rmdir(place->dir);
}

/* Event number i of log: every field depends on both. */
static struct lb_event event_of(uint32_t log, uint64_t i)
{
    return (struct lb_event){
        .time_ns = 1000 + i,
        .value = i * 3 + log,
        .process = log,
        .object = (uint32_t)(i % 7),
        .arg = (uint32_t)i,
        .op = LB_OP_ACQUIRE,
        .answer = i % 2 ? LB_BUSY : LB_OK,
        .flags = LB_EVF_SHARED,
        .type = i % 2 ? LB_EV_FAIL : LB_EV_INVOKE,
    };
}

static void append_events(struct lb_log *log, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct lb_event event = event_of(log->number, i);
        assert_int_equal(lb_log_append(log, &event), 0);
    }
}

/* Whole, in order, nothing invented. */
static void assert_events(const struct lb_log_view *log)
{
    uint64_t i = 0;
    for (size_t s = 0; s < log->n_spans; s++)
        for (size_t k = 0; k < log->spans[s].n; k++, i++) {
            struct lb_event expected = event_of(log->number, i);
            assert_memory_equal(&log->spans[s].events[k], &expected, sizeof expected);
        }
    assert_int_equal(i, log->n_events);
}

static void what_is_written_is_read(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history *history;
    assert_int_equal(lb_history_create(place->path, &history, &err), 0);
    /* Nothing, one event, a chunk to the last event, a chunk and one, many chunks. */
    static const uint64_t counts[] = {0, 1, LB_CHUNK_EVENTS, LB_CHUNK_EVENTS + 1,
                                      3 * LB_CHUNK_EVENTS + 17};
    enum { LOGS = sizeof counts / sizeof counts[0] };
    struct lb_log logs[LOGS];
    for (uint32_t i = 0; i < LOGS; i++) {
        lb_log_init(&logs[i], history, i);
        append_events(&logs[i], counts[i]);
    }
    assert_int_equal(lb_history_set_meta(history, "shape=lock\n", &err), 0);
    assert_int_equal(lb_history_set_meta(history, "shape=queue\nseed=1\n", &err), 0);
    for (int closed = 0; closed < 2; closed++) {
        struct lb_history_view view;
        if (closed)
            assert_int_equal(lb_history_open(place->path, &view, &err), 0);
        else
            assert_int_equal(lb_history_view(history, &view, &err), 0);
        assert_int_equal(view.n_logs, LOGS);
        assert_string_equal(view.meta, "shape=queue\nseed=1\n");
        assert_false(view.truncated);
        assert_true(view.start_ns > 0 && view.start_ns <= lb_now_ns());
        uint64_t sum = 0;
        for (uint32_t i = 0; i < LOGS; i++) {
            assert_int_equal(view.logs[i].number, i);
            assert_int_equal(view.logs[i].n_events, counts[i]);
            assert_events(&view.logs[i]);
            sum += counts[i];
        }
        assert_int_equal(view.n_events, sum);
        lb_history_release(&view);
        if (!closed)
            lb_history_free(history);
    }
    /* A history is never overwritten. */
    assert_int_equal(lb_history_create(place->path, &history, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, place->path));
}

static void meta_is_cut_at_a_line(void **state)
{
    (void)state;
    struct lb_error err;
    struct lb_history *history;
    struct lb_history_view view;
    assert_int_equal(lb_history_create(NULL, &history, &err), 0);
    char *text = malloc(LB_META_BYTES * 2);
    memset(text, 'x', LB_META_BYTES * 2);
    text[LB_META_BYTES * 2 - 1] = '\0';
    text[100] = text[200] = '\n';
    assert_int_equal(lb_history_set_meta(history, text, &err), 0);
    assert_int_equal(lb_history_view(history, &view, &err), 0);
    assert_int_equal(strlen(view.meta), 201);
    assert_memory_equal(view.meta, text, 201);
    lb_history_release(&view);
    lb_history_free(history);
    free(text);
}

static void *write_many(void *arg)
{
    append_events(arg, 5 * LB_CHUNK_EVENTS + 5);
    return NULL;
}

static void threads_share_a_file(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    struct lb_error err;
    struct lb_history *history;
    assert_int_equal(lb_history_create(NULL, &history, &err), 0);
    pthread_t threads[THREADS];
    struct lb_log logs[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        lb_log_init(&logs[i], history, i);
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &logs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct lb_history_view view;
    assert_int_equal(lb_history_view(history, &view, &err), 0);
    assert_int_equal(view.n_logs, THREADS);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(view.logs[i].n_events, 5 * LB_CHUNK_EVENTS + 5);
        assert_events(&view.logs[i]);
    }
    lb_history_release(&view);
    lb_history_free(history);
}

/* Each child counts what it has appended; it is killed at a random moment. Its log must hold all of
 * that, and may hold one event more. */
static void killed_writers_leave_whole_events(void **state)
{
    struct place *place = *state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    enum { WRITERS = 3 };
    volatile uint64_t *appended = mmap(NULL, WRITERS * sizeof *appended, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(appended != MAP_FAILED);
    for (int round = 0; round < 20; round++) {
        struct lb_error err;
        struct lb_history *history;
        assert_int_equal(lb_history_create(place->path, &history, &err), 0);
        pid_t pids[WRITERS];
        for (uint32_t i = 0; i < WRITERS; i++) {
            appended[i] = 0;
            pids[i] = fork();
            assert_true(pids[i] >= 0);
            if (pids[i] == 0) {
                struct lb_log log;
                lb_log_init(&log, history, i);
                for (uint64_t k = 0; k < 40 * LB_CHUNK_EVENTS; k++) {
                    struct lb_event event = event_of(i, k);
                    lb_log_append(&log, &event);
                    appended[i] = k + 1;
                }
                pause();
                _exit(0);
            }
        }
        usleep((useconds_t)(1000 + lb_random_below(&random, 20000)));
        for (int i = 0; i < WRITERS; i++) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
        }
        struct lb_history_view view;
        for (int reopened = 0; reopened < 2; reopened++) {
            if (reopened)
                assert_int_equal(lb_history_open(place->path, &view, &err), 0);
            else
                assert_int_equal(lb_history_view(history, &view, &err), 0);
            for (size_t i = 0; i < WRITERS; i++) {
                uint64_t n = i < view.n_logs ? view.logs[i].n_events : 0;
                assert_true(n == appended[i] || n == appended[i] + 1);
                if (n > 0)
                    assert_events(&view.logs[i]);
            }
            lb_history_release(&view);
        }
        lb_history_free(history);
        unlink(place->path);
    }
}

static void a_full_disk_is_an_error_not_a_signal(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history *history;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* In a process of its own: limits are not taken back. */
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {LB_HISTORY_HEADER_BYTES + 2 * LB_CHUNK_BYTES + 4096,
                               LB_HISTORY_HEADER_BYTES + 2 * LB_CHUNK_BYTES + 4096};
        setrlimit(RLIMIT_FSIZE, &limit);
        if (lb_history_create(place->path, &history, &err) != 0)
            _exit(1);
        struct lb_log log;
        lb_log_init(&log, history, 0);
        uint64_t appended = 0;
        for (uint64_t i = 0; i < 10 * LB_CHUNK_EVENTS; i++) {
            struct lb_event event = event_of(0, i);
            if (lb_log_append(&log, &event) == 0)
                appended++;
        }
        if (log.failed != LB_E_ENV)
            _exit(2);
        _exit(appended == log.n_events && appended == 2 * LB_CHUNK_EVENTS ? 0 : 3);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    struct lb_history_view view;
    assert_int_equal(lb_history_open(place->path, &view, &err), 0);
    assert_true(view.truncated);
    assert_int_equal(view.n_events, 2 * LB_CHUNK_EVENTS);
    assert_events(&view.logs[0]);
    lb_history_release(&view);
}

/* --- malformed files --- */

static char *slurp(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *ret_size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*ret_size + 1);
    assert_int_equal(fread(bytes, 1, *ret_size, file), *ret_size);
    fclose(file);
    return bytes;
}

static void spill(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Two threads read the same as one, and report the same errors. */
static int open_twice(const char *path, struct lb_history_view *view, struct lb_error *err)
{
    const struct lb_read_options in_two = {.format = LB_HISTORY_BINARY, .threads = 2};
    struct lb_history_view other;
    struct lb_read_facts facts;
    struct lb_error other_err = {0};
    int code = lb_history_open(path, view, err);
    assert_int_equal(lb_history_read(path, &in_two, &other, &facts, &other_err), code);
    if (code != 0) {
        if (strstr(err->message, "(empty)") == NULL) /* which the other takes for a text */
            assert_string_equal(other_err.message, err->message);
        return code;
    }
    assert_int_equal(other.n_logs, view->n_logs);
    assert_int_equal(other.truncated, view->truncated);
    assert_int_equal(other.whole_ns, view->whole_ns);
    for (size_t i = 0; i < view->n_logs; i++) {
        assert_int_equal(other.logs[i].n_spans, view->logs[i].n_spans);
        for (size_t s = 0; s < view->logs[i].n_spans; s++)
            assert_int_equal(other.logs[i].spans[s].n, view->logs[i].spans[s].n);
    }
    lb_history_release(&other);
    return code;
}

static int open_and_walk(const char *path, struct lb_history_view *view, struct lb_error *err)
{
    int code = open_twice(path, view, err);
    if (code == 0)
        for (size_t i = 0; i < view->n_logs; i++)
            assert_events(&view->logs[i]);
    return code;
}

static void a_cut_file_is_read_up_to_the_last_whole_event(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history *history;
    struct lb_history_view view;
    assert_int_equal(lb_history_create(place->path, &history, &err), 0);
    struct lb_log logs[2];
    for (uint32_t i = 0; i < 2; i++) {
        lb_log_init(&logs[i], history, i);
        append_events(&logs[i], 20);
    }
    lb_history_free(history);
    size_t size;
    char *bytes = slurp(place->path, &size);
    assert_int_equal(size, LB_HISTORY_HEADER_BYTES + 2 * LB_CHUNK_BYTES);

    /* Every offset in the neighbourhood of data; steps elsewhere. */
    uint64_t last = 0;
    for (size_t cut = 0; cut <= size;) {
        if (truncate(place->path, 0) != 0)
            fail();
        spill(place->path, bytes, cut);
        int code = open_and_walk(place->path, &view, &err);
        if (cut < LB_HISTORY_HEADER_BYTES) {
            assert_int_equal(code, LB_E_FILE);
            assert_int_equal(strncmp(err.message, place->path, strlen(place->path)), 0);
        } else {
            assert_int_equal(code, 0);
            assert_int_equal(view.truncated, cut < size);
            assert_true(view.n_events >= last);
            last = view.n_events;
            lb_history_release(&view);
        }
        size_t in_chunk =
            cut < LB_HISTORY_HEADER_BYTES ? cut : (cut - LB_HISTORY_HEADER_BYTES) % LB_CHUNK_BYTES;
        bool near = in_chunk < 64 + 25 * 32 || in_chunk > LB_CHUNK_BYTES - 3 || cut + 3 > size ||
                    (cut < LB_HISTORY_HEADER_BYTES && cut + 3 > LB_HISTORY_HEADER_BYTES);
        cut += near ? 1 : 509;
    }
    assert_int_equal(last, 40);
    free(bytes);
}

struct damage {
    size_t offset;
    const char *bytes;
    size_t n;
    const char *message;
};

static void damaged_files_are_refused(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history *history;
    struct lb_history_view view;
    assert_int_equal(lb_history_create(place->path, &history, &err), 0);
    struct lb_log log;
    lb_log_init(&log, history, 0);
    assert_int_equal(lb_history_set_meta(history, "shape=lock\n", &err), 0);
    append_events(&log, LB_CHUNK_EVENTS + 3);
    lb_history_free(history);
    size_t size;
    char *bytes = slurp(place->path, &size);
    /* The tail comes first, then the full chunk that was made of it. */
    enum { TAIL = LB_HISTORY_HEADER_BYTES, FULL = TAIL + LB_CHUNK_BYTES, SEAL = 88 };
    static const struct damage damages[] = {
        {0, "X", 1, "not a lockbench history"},
        {17, "\n", 1, "not a lockbench history"}, /* line ends changed in a transfer */
        {24, "\3", 1, "version 3"},
        {24, "\1", 1, "the version, 1,"},
        {40, "X", 1, "the header does not fit"},
        {256, "X", 1, "the text of the header does not fit"},
        {72, "X", 1, "the header does not fit"},
        {88, "X", 1, "the file as a whole"},
        {28, "\1", 1, "do not fit its version"},
        {56, "\1", 1, "the header says 1"},
        {68, "\xff\xff\xff\xff", 4, "text does not end"},
        {TAIL, "X", 1, "not a chunk"},
        {TAIL + 4, "\xff\xff\xff\xff", 4, "not a chunk"},
        {TAIL + 12, "\2", 1, "not a chunk"},
        {TAIL + 8, "\2", 1, "chunk 1 is missing"},
        {TAIL + 12, "\0", 1, "ends early"},
        {FULL + 4, "\1", 1, "chunk 0 is missing"},
        {FULL + 8, "\1", 1, "chunk 0 is missing"},
        {FULL + 12, "\1", 1, "goes on after its tail"},
        {FULL + 64 + 32 + 31, "\0", 1, "ends early"},
        {FULL + 64 + 31, "\6", 1, "not an event"},
        {FULL + 64 + 30, "\100", 1, "not an event"},
        {FULL + 64 + 29, "\12", 1, "not an event"},
        {FULL + 64 + 28, "\0", 1, "not an event"},
        {FULL + 64 + 28, "\377", 1, "not an event"},
        {TAIL + 64 + 28, "\377", 1, "not an event"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        char saved[4];
        memcpy(saved, bytes + damages[i].offset, damages[i].n);
        memcpy(bytes + damages[i].offset, damages[i].bytes, damages[i].n);
        /* Times and checksums differ from run to run: the damage may equal the original bytes. */
        if (memcmp(bytes + damages[i].offset, saved, damages[i].n) == 0)
            bytes[damages[i].offset] ^= 1;
        spill(place->path, bytes, size);
        memcpy(bytes + damages[i].offset, saved, damages[i].n);
        assert_int_equal(open_twice(place->path, &view, &err), LB_E_FILE);
        if (strstr(err.message, damages[i].message) == NULL)
            fail_msg("damage %zu: \"%s\" lacks \"%s\"", i, err.message, damages[i].message);
    }
    spill(place->path, bytes, size);
    assert_int_equal(open_and_walk(place->path, &view, &err), 0);
    assert_int_equal(view.n_events, LB_CHUNK_EVENTS + 3);
    lb_history_release(&view);

    /* Damage that leaves valid events: found by the checksums alone. */
    static const size_t bits[] = {TAIL + 64 + 3,       TAIL + 64 + 8 + 7, TAIL + 64 + 32 + 18,
                                  TAIL + 64 + 64 + 24, FULL + 64 + 16,    FULL + 64 + 8000 * 32 + 9,
                                  TAIL + 16,           FULL + 23};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        bytes[bits[i]] ^= 1;
        spill(place->path, bytes, size);
        bytes[bits[i]] ^= 1;
        assert_int_equal(open_twice(place->path, &view, &err), LB_E_FILE);
        assert_non_null(strstr(err.message, "does not fit its checksum"));
    }
    memset(bytes + SEAL, 0, 8); /* as in a program that was killed */

    /* Killed after the copy and before, or while, the tail was cleared: the tail is void. */
    for (size_t cleared = 0; cleared < 5000; cleared += 1000) {
        memcpy(bytes + TAIL, bytes + FULL, LB_CHUNK_BYTES);
        bytes[TAIL + 12] = 1;
        memset(bytes + TAIL + LB_CHUNK_HEADER_BYTES, 0, cleared);
        spill(place->path, bytes, size);
        assert_int_equal(open_and_walk(place->path, &view, &err), 0);
        assert_false(view.truncated);
        assert_int_equal(view.n_events, LB_CHUNK_EVENTS);
        lb_history_release(&view);
    }
    /* Killed while the copy was made: its header is missing, the tail is whole. */
    memcpy(bytes + TAIL, bytes + FULL, LB_CHUNK_BYTES);
    bytes[TAIL + 12] = 1;
    memset(bytes + FULL, 0, LB_CHUNK_HEADER_BYTES);
    spill(place->path, bytes, size);
    assert_int_equal(open_and_walk(place->path, &view, &err), 0);
    assert_int_equal(view.n_events, LB_CHUNK_EVENTS);
    lb_history_release(&view);
    /* The same sequence twice is not that. */
    bytes[TAIL + 12] = 0;
    memcpy(bytes + FULL, bytes + TAIL, LB_CHUNK_BYTES);
    spill(place->path, bytes, size);
    assert_int_equal(open_twice(place->path, &view, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, "two chunks 0"));
    free(bytes);
}

/* A file of the first version: the same without checksums. */
static void the_first_version_is_read(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history *history;
    struct lb_history_view view;
    assert_int_equal(lb_history_create(place->path, &history, &err), 0);
    struct lb_log log;
    lb_log_init(&log, history, 0);
    append_events(&log, LB_CHUNK_EVENTS + 3);
    lb_history_free(history);
    assert_int_equal(open_twice(place->path, &view, &err), 0);
    assert_false(view.is_unchecked);
    lb_history_release(&view);
    size_t size;
    char *bytes = slurp(place->path, &size);
    bytes[24] = 1;
    memset(bytes + 72, 0, 24);
    for (size_t chunk = LB_HISTORY_HEADER_BYTES; chunk < size; chunk += LB_CHUNK_BYTES)
        memset(bytes + chunk + 16, 0, 8);
    spill(place->path, bytes, size);
    assert_int_equal(open_and_walk(place->path, &view, &err), 0);
    assert_true(view.is_unchecked);
    assert_false(view.truncated);
    assert_int_equal(view.n_events, LB_CHUNK_EVENTS + 3);
    lb_history_release(&view);
    free(bytes);
}

/* One damage: a bit, a byte, an event, a sector, a page, a chunk, or two pages that change places.
 */
static void damage_at_random(struct lb_random *random, char *bytes, size_t size)
{
    static const size_t zeroed[] = {1, 4, 8, 32, 512, 4096, 65536, LB_CHUNK_BYTES};
    size_t kind = lb_random_below(random, 16), pages = size / 4096;
    size_t near = lb_random_below(random, size / LB_CHUNK_BYTES) * LB_CHUNK_BYTES;
    near += LB_HISTORY_HEADER_BYTES;
    /* Where the data are: a header, the first events, or anywhere. */
    size_t from = lb_random_below(random, 3) == 0   ? lb_random_below(random, size)
                  : lb_random_below(random, 4) == 0 ? lb_random_below(random, 512)
                                                    : near + lb_random_below(random, 1000);
    from = from < size ? from : size - 1;
    if (kind < 6) {
        bytes[from] ^= (char)(1 << lb_random_below(random, 8));
    } else if (kind < 7) {
        bytes[from] = (char)lb_random_below(random, 256);
    } else if (kind < 15) {
        size_t n = zeroed[kind - 7];
        from -= lb_random_below(random, 2) ? from % n : 0;
        memset(bytes + from, 0, n < size - from ? n : size - from);
    } else {
        char page[4096];
        char *a = bytes + lb_random_below(random, pages) * sizeof page;
        char *b = bytes + from / sizeof page * sizeof page;
        b = b + sizeof page <= bytes + size ? b : a;
        memcpy(page, a, sizeof page);
        memcpy(a, b, sizeof page);
        memcpy(b, page, sizeof page);
    }
}

static bool same_events(const struct lb_history_view *view, const uint64_t *counts, size_t n_logs)
{
    for (size_t i = 0; i < n_logs; i++)
        if ((i < view->n_logs ? view->logs[i].n_events : 0) != counts[i])
            return false;
    for (size_t i = 0; i < view->n_logs; i++) {
        uint64_t number = 0;
        for (size_t s = 0; s < view->logs[i].n_spans; s++)
            for (size_t k = 0; k < view->logs[i].spans[s].n; k++, number++) {
                struct lb_event expected = event_of((uint32_t)i, number);
                if (memcmp(&view->logs[i].spans[s].events[k], &expected, sizeof expected) != 0)
                    return false;
            }
    }
    return view->n_logs <= n_logs;
}

/* Whatever happens to a file, closed or left by a killed program: it is refused, or said to be cut,
 * or its events and its text are those that were written. */
static void damage_never_changes_what_is_read(void **state)
{
    struct place *place = *state;
    struct lb_random random;
    uint64_t seed = lb_test_seed();
    lb_random_init(&random, seed, 0);
    static const char meta[] = "shape=lock\nclaims=exclusive\ncomplete=1\n";
    const uint64_t counts[] = {17, LB_CHUNK_EVENTS + 9, 0, 400};
    enum { LOGS = sizeof counts / sizeof counts[0] };
    struct lb_error err;
    struct lb_history *history;
    assert_int_equal(lb_history_create(place->path, &history, &err), 0);
    assert_int_equal(lb_history_set_meta(history, meta, &err), 0);
    for (uint32_t i = 0; i < LOGS; i++) {
        struct lb_log log;
        lb_log_init(&log, history, i);
        append_events(&log, counts[i]);
    }
    lb_history_free(history);
    size_t size, n_refused = 0, n_cut = 0;
    char *whole = slurp(place->path, &size), *bytes = malloc(size);
    for (int round = 0; round < 600; round++) {
        memcpy(bytes, whole, size);
        if (round % 2)
            memset(bytes + 88, 0, 8); /* killed: no seal */
        damage_at_random(&random, bytes, size);
        spill(place->path, bytes, size);
        struct lb_history_view view;
        if (open_twice(place->path, &view, &err) != 0) {
            n_refused++;
            continue;
        }
        n_cut += view.truncated;
        if (!view.truncated && (view.is_unchecked || !same_events(&view, counts, LOGS) ||
                                (strcmp(view.meta, meta) != 0 && view.meta[0] != '\0')))
            fail_msg("round %d: damage was not seen (seed %llu)", round, (unsigned long long)seed);
        lb_history_release(&view);
    }
    print_message("# of 600 damaged files %zu were refused, %zu cut\n", n_refused, n_cut);
    assert_true(n_refused > 100 && n_cut > 0 && n_refused + n_cut < 600);
    free(bytes);
    free(whole);
}

/* The tail lies at the front: cut off behind it, the chunks that came before its events go. */
static void a_cut_behind_the_tail_ends_the_log_before_it(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history *history;
    struct lb_history_view view;
    assert_int_equal(lb_history_create(place->path, &history, &err), 0);
    struct lb_log log;
    lb_log_init(&log, history, 0);
    append_events(&log, 3 * LB_CHUNK_EVENTS + 3);
    lb_history_free(history);
    for (int chunks = 3; chunks > 0; chunks--) {
        /* In the middle of an event, then at a chunk's border. */
        off_t size = LB_HISTORY_HEADER_BYTES + chunks * LB_CHUNK_BYTES;
        assert_int_equal(truncate(place->path, size + LB_CHUNK_HEADER_BYTES + 100 * 32 + 7), 0);
        assert_int_equal(open_and_walk(place->path, &view, &err), 0);
        assert_true(view.truncated);
        assert_int_equal(view.n_events, (chunks - 1) * LB_CHUNK_EVENTS + 100);
        lb_history_release(&view);
        assert_int_equal(truncate(place->path, size), 0);
        assert_int_equal(open_and_walk(place->path, &view, &err), 0);
        assert_true(view.truncated);
        assert_int_equal(view.n_events, (chunks - 1) * LB_CHUNK_EVENTS);
        lb_history_release(&view);
    }
}

static void other_files_are_refused(void **state)
{
    struct place *place = *state;
    struct lb_error err;
    struct lb_history_view view;
    assert_int_equal(open_twice(place->path, &view, &err), LB_E_FILE);
    spill(place->path, "", 0);
    assert_int_equal(open_twice(place->path, &view, &err), LB_E_FILE);
    assert_int_equal(lb_history_open(place->dir, &view, &err), LB_E_FILE);
    assert_int_equal(lb_history_open("/dev/null", &view, &err), LB_E_FILE);
    struct lb_history *history;
    assert_int_equal(lb_history_create("/nowhere/at/all", &history, &err), LB_E_FILE);
}

static void operations_have_names(void **state)
{
    (void)state;
    int n = 0;
    for (int op = -1; op < 300; op++) {
        if (lb_op_name(op) == NULL)
            continue;
        assert_int_equal(lb_op_parse(lb_op_name(op)), op);
        n++;
    }
    assert_int_equal(n, 28);
    assert_int_equal(lb_op_parse("acquire"), LB_OP_ACQUIRE);
    assert_int_equal(lb_op_parse("nothing"), -1);
    assert_string_equal(lb_event_type_name(LB_EV_INFO), "info");
    assert_string_equal(lb_event_type_name(77), "?");
}

#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(what_is_written_is_read),
        cmocka_unit_test(meta_is_cut_at_a_line),
        cmocka_unit_test(threads_share_a_file),
        IN_A_PLACE(killed_writers_leave_whole_events),
        IN_A_PLACE(a_full_disk_is_an_error_not_a_signal),
        IN_A_PLACE(a_cut_file_is_read_up_to_the_last_whole_event),
        IN_A_PLACE(damaged_files_are_refused),
        IN_A_PLACE(the_first_version_is_read),
        IN_A_PLACE(damage_never_changes_what_is_read),
        IN_A_PLACE(a_cut_behind_the_tail_ends_the_log_before_it),
        IN_A_PLACE(other_files_are_refused),
        cmocka_unit_test(operations_have_names),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
