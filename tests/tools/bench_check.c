/* Measures the judge: writes a history of a lock or queue that works, reads it back and judges it.
 *
 *   bench_check write FILE mutex|poll|queue|skip|again EVENTS WORKERS RESOURCES
 *   bench_check judge FILE [2]  one line: events, seconds, memory, verdict; with 2, in two threads
 *   bench_check read FILE       a text format: bytes, seconds, and seconds of read(2) alone
 *   bench_check memory          the machine's memory bandwidth
 *
 * Writing and judging are processes of their own, so that the judge's memory is its own.
 * scripts/bench-check runs them and holds the bars.
 */
#include "check.h"
#include "check_meta.h"
#include "clock.h"
#include "interchange.h"
#include "random.h"
#include "units.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct writer {
    struct lb_log *logs;
    uint64_t *now;     /* of each worker */
    uint64_t *free_ns; /* of each resource */
    uint32_t workers, resources;
    struct lb_random random;
};

static int fail(const struct lb_error *err)
{
    fprintf(stderr, "bench_check: %s\n", err->message);
    return 1;
}

static void append(struct writer *w, uint32_t log, int op, int type, uint64_t time, uint32_t object,
                   uint64_t value, uint32_t arg, int flags)
{
    struct lb_event event = {.time_ns = time,
                             .value = value,
                             .process = log,
                             .object = object,
                             .arg = arg,
                             .op = (uint8_t)op,
                             .answer = type == LB_EV_FAIL ? LB_BUSY : LB_OK,
                             .flags = (uint8_t)flags,
                             .type = (uint8_t)type};
    if (lb_log_append(&w->logs[log], &event) != 0) {
        fprintf(stderr, "bench_check: cannot write the history (disk full?)\n");
        exit(1);
    }
}

static void pair(struct writer *w, uint32_t log, int op, uint64_t from, uint64_t to,
                 uint32_t object, uint64_t value, uint32_t arg)
{
    append(w, log, op, LB_EV_INVOKE, from, object, value, arg, 0);
    append(w, log, op, LB_EV_OK, to, object, value, op == LB_OP_ACQUIRE ? 0 : arg,
           op == LB_OP_RELEASE || op == LB_OP_COMPLETE || op == LB_OP_FREE ? LB_EVF_EFFECTIVE : 0);
}

/* Acquire and release: 4 events, and with polls two refusals before each grant. */
static uint64_t write_lock(struct writer *w, uint64_t n_events, bool poll)
{
    uint64_t written = 0;
    while (written < n_events) {
        uint32_t log = (uint32_t)lb_random_below(&w->random, w->workers);
        uint32_t resource = (uint32_t)lb_random_below(&w->random, w->resources);
        uint64_t asked = w->now[log] + lb_random_below(&w->random, 500);
        for (int i = 0; i < 2 && poll && asked + 400 < w->free_ns[resource]; i++) {
            append(w, log, LB_OP_ACQUIRE, LB_EV_INVOKE, asked, resource, 0, 1, 0);
            append(w, log, LB_OP_ACQUIRE, LB_EV_FAIL, asked + 100, resource, 0, 1, 0);
            asked += 150;
            written += 2;
        }
        uint64_t granted = asked > w->free_ns[resource] ? asked : w->free_ns[resource];
        granted += 50 + lb_random_below(&w->random, 100);
        uint64_t released = granted + 100 + lb_random_below(&w->random, 200);
        uint64_t end = released + 50 + lb_random_below(&w->random, 50);
        pair(w, log, LB_OP_ACQUIRE, asked, granted, resource, 0, 1);
        pair(w, log, LB_OP_RELEASE, released, end, resource, 0, 1);
        w->free_ns[resource] = released + 10;
        w->now[log] = end;
        written += 4;
    }
    return written;
}

/* An operation of a worker that takes effect no earlier than the clock says; returns when. */
static uint64_t effect(struct writer *w, uint32_t log, uint64_t clock)
{
    uint64_t at = w->now[log] + 30 + lb_random_below(&w->random, 30);
    return at > clock ? at : clock;
}

/* Put, claim, complete: 7 events an item. Items are put and claimed in one order, unless skip: then
 * each worker claims as it gets to it, as with SKIP LOCKED. */
static uint64_t write_queue(struct writer *w, uint64_t n_events, bool skip)
{
    uint64_t written = 0, put = 0, claimed = 0;
    for (uint64_t id = 1; written < n_events; id++, written += 7) {
        uint32_t producer = (uint32_t)lb_random_below(&w->random, w->workers);
        uint32_t consumer = (uint32_t)lb_random_below(&w->random, w->workers);
        put = effect(w, producer, put + 5);
        pair(w, producer, LB_OP_PUT, put - 30, put + 30, 0, id, 1);
        w->now[producer] = put + 40;
        claimed = effect(w, consumer, skip || claimed < put ? put + 5 : claimed + 5);
        append(w, consumer, LB_OP_CLAIM, LB_EV_INVOKE, claimed - 30, 0, 0, 1, 0);
        append(w, consumer, LB_OP_ITEM, LB_EV_NOTE, claimed + 30, 0, id, 0, 0);
        append(w, consumer, LB_OP_CLAIM, LB_EV_OK, claimed + 30, 0, 1, 1, 0);
        pair(w, consumer, LB_OP_COMPLETE, claimed + 40, claimed + 100, 0, id, 0);
        w->now[consumer] = claimed + 110;
    }
    return written;
}

/* A few items, as many as resources, again and again: claimed and freed, or claimed, completed and
 * reset by whoever completed it. */
static uint64_t write_again(struct writer *w, uint64_t n_events)
{
    uint64_t written = 2, clock = w->now[0] + 100;
    pair(w, 0, LB_OP_PUT, w->now[0], clock, 0, 1, w->resources);
    for (uint32_t i = 0; i < w->workers; i++)
        w->now[i] = clock;
    while (written < n_events) {
        uint32_t log = (uint32_t)lb_random_below(&w->random, w->workers);
        uint64_t item = lb_random_below(&w->random, w->resources), id = item + 1;
        bool is_freed = lb_random_below(&w->random, 2) == 0;
        uint64_t at = effect(w, log, w->free_ns[item]);
        append(w, log, LB_OP_CLAIM, LB_EV_INVOKE, at - 30, 0, 0, 1, 0);
        append(w, log, LB_OP_ITEM, LB_EV_NOTE, at + 30, 0, id, 0, 0);
        append(w, log, LB_OP_CLAIM, LB_EV_OK, at + 30, 0, 1, 1, 0);
        pair(w, log, is_freed ? LB_OP_FREE : LB_OP_COMPLETE, at + 40, at + 100, 0, id, 0);
        if (!is_freed)
            pair(w, log, LB_OP_RESET_ALL, at + 110, at + 150, 0, 0, 0);
        w->free_ns[item] = at + (is_freed ? 70 : 130);
        w->now[log] = at + 160;
        written += is_freed ? 5 : 7;
    }
    return written;
}

static int write_history(const char *path, const char *kind, uint64_t n_events, uint32_t workers,
                         uint32_t resources)
{
    struct lb_error err = {0};
    struct lb_history *history;
    if (lb_history_create(path, &history, &err) != 0)
        return fail(&err);
    struct writer w = {.workers = workers, .resources = resources};
    w.logs = calloc(workers, sizeof *w.logs);
    w.now = calloc(workers, sizeof *w.now);
    w.free_ns = calloc(resources, sizeof *w.free_ns);
    if (w.logs == NULL || w.now == NULL || w.free_ns == NULL)
        return 1;
    lb_random_init(&w.random, 1, 0);
    uint64_t start = lb_now_ns();
    for (uint32_t i = 0; i < workers; i++) {
        lb_log_init(&w.logs[i], history, i);
        w.now[i] = start;
    }
    bool skip = strcmp(kind, "skip") == 0, again = strcmp(kind, "again") == 0;
    bool queue = skip || again || strcmp(kind, "queue") == 0;
    if (again)
        write_again(&w, n_events);
    else if (queue)
        write_queue(&w, n_events, skip);
    else
        write_lock(&w, n_events, strcmp(kind, "poll") == 0);
    struct lb_model model = {.queue = queue,
                             .n_resources = queue ? 0 : resources,
                             .claims = ~0u,
                             .drained = true,
                             .complete = true};
    char meta[4096];
    lb_model_format(&model, meta, sizeof meta);
    int rc = lb_history_set_meta(history, meta, &err);
    lb_history_free(history);
    free(w.logs);
    free(w.now);
    free(w.free_ns);
    return rc != 0 ? fail(&err) : 0;
}

/* A field of /proc/self/status in kB. */
static uint64_t status_kb(const char *field)
{
    char line[200];
    uint64_t value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            value = strtoull(line + strlen(field), NULL, 10);
    if (file != NULL)
        fclose(file);
    return value;
}

/* Seconds of CPU of this process so far. */
static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int judge(const char *path, unsigned threads)
{
    struct lb_error err = {0};
    struct lb_history_view view;
    struct lb_model model = {0};
    struct lb_judgement *judgement = calloc(1, sizeof *judgement);
    uint32_t *capacity = NULL;
    struct lb_read_options options = {.format = LB_HISTORY_BINARY, .threads = threads};
    struct lb_read_facts facts;
    uint64_t begin = lb_now_ns();
    if (judgement == NULL || lb_history_read(path, &options, &view, &facts, &err) != 0)
        return fail(&err);
    if (lb_model_parse(view.meta, &model, &capacity, &err) != 0)
        return fail(&err);
    model.threads = threads;
    uint64_t opened = lb_now_ns();
    if (lb_check(&view, &model, judgement, &err) != 0)
        return fail(&err);
    uint64_t end = lb_now_ns();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu events in %.3f s (open %.3f, judge %.3f, CPU %.3f), peak memory %.0f MB, of it "
           "mapped file "
           "%.0f MB; %s %s\n",
           (unsigned long long)view.n_events, (double)(end - begin) / 1e9,
           (double)(opened - begin) / 1e9, (double)(end - opened) / 1e9, cpu_s(),
           (double)usage.ru_maxrss / 1024, (double)status_kb("RssFile:") / 1024,
           model.queue ? "no-duplicate" : "exclusive",
           lb_verdict_name(
               judgement->findings[model.queue ? LB_G_NO_DUPLICATE : LB_G_EXCLUSIVE].verdict));
    lb_history_release(&view);
    free(capacity);
    free(judgement);
    return 0;
}

/* Seconds in which the file's bytes are copied into memory, and how many they are; -1: cannot. */
static double read_alone(const char *path, uint64_t *ret_bytes)
{
    enum { BYTES = 1 << 20 };
    char *buffer = malloc(BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    uint64_t begin = lb_now_ns();
    *ret_bytes = 0;
    while (fd >= 0 && buffer != NULL && (n = read(fd, buffer, BYTES)) > 0)
        *ret_bytes += (uint64_t)n;
    uint64_t end = lb_now_ns();
    free(buffer);
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : (double)(end - begin) / 1e9;
}

static int read_text(const char *path)
{
    struct lb_error err = {0};
    struct lb_history_view view;
    struct lb_read_facts facts;
    uint64_t bytes;
    double alone = read_alone(path, &bytes);
    double cpu = cpu_s();
    uint64_t begin = lb_now_ns();
    if (lb_history_read(path, NULL, &view, &facts, &err) != 0)
        return fail(&err);
    double took = (double)(lb_now_ns() - begin) / 1e9;
    printf("%llu events, %llu bytes in %.3f s, CPU %.3f; read(2) alone %.3f s\n",
           (unsigned long long)view.n_events, (unsigned long long)bytes, took, cpu_s() - cpu,
           alone);
    lb_history_release(&view);
    return 0;
}

/* How fast one core reads memory that no cache holds: the bound of any judge. */
static int memory(void)
{
    enum { WORDS = 64 << 20 };
    uint64_t *words = malloc(WORDS * sizeof *words), best = UINT64_MAX, sum = 0;
    if (words == NULL)
        return 1;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = i;
    for (int round = 0; round < 5; round++) {
        uint64_t begin = lb_now_ns();
        for (size_t i = 0; i < WORDS; i++)
            sum += words[i];
        uint64_t took = lb_now_ns() - begin;
        best = took < best ? took : best;
    }
    printf("memory: one core reads %.1f GB/s (%llu)\n",
           (double)WORDS * sizeof *words / (double)best, (unsigned long long)sum % 10);
    free(words);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t events, workers, resources;
    if (argc == 2 && strcmp(argv[1], "memory") == 0)
        return memory();
    if ((argc == 3 || (argc == 4 && strcmp(argv[3], "2") == 0)) && strcmp(argv[1], "judge") == 0)
        return judge(argv[2], argc == 4 ? 2 : 1);
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return read_text(argv[2]);
    if (argc == 7 && strcmp(argv[1], "write") == 0 && lb_parse_count(argv[4], &events) == 0 &&
        lb_parse_count(argv[5], &workers) == 0 && lb_parse_count(argv[6], &resources) == 0 &&
        workers > 0 && resources > 0)
        return write_history(argv[2], argv[3], events, (uint32_t)workers, (uint32_t)resources);
    fprintf(stderr,
            "usage: bench_check write FILE mutex|poll|queue|skip|again EVENTS WORKERS RESOURCES\n"
            "       bench_check judge FILE [2]\n       bench_check read FILE\n"
            "       bench_check memory\n");
    return 2;
}
