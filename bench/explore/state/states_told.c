/* What a state's text is made of that is not asked of the engine: see states.h. */
#include "testbed.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- times --- */

/* Times of about now: as numbers of milliseconds or microseconds they have so many digits. */
enum { MS_DIGITS = 13, US_DIGITS = 16, MOST_TIMES = 512 };
#define DAY_MS UINT64_C(86400000)

struct times {
    uint64_t value[MOST_TIMES];
    size_t n;
};

/* The time at p, of n digits; 0: it is none. */
static uint64_t time_of(const char *p, size_t n, uint64_t now_ms)
{
    if (n != MS_DIGITS && n != US_DIGITS)
        return 0;
    uint64_t value = strtoull(p, NULL, 10), ms = n == MS_DIGITS ? value : value / 1000;
    return ms > now_ms - DAY_MS && ms < now_ms + DAY_MS ? value : 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void find_times(const char *text, size_t size, uint64_t now_ms, struct times *times)
{
    times->n = 0;
    for (size_t i = 0, n; i<size; i += n> 0 ? n : 1) {
        for (n = 0; i + n < size && isdigit((unsigned char)text[i + n]); n++)
            ;
        uint64_t value = time_of(text + i, n, now_ms);
        if (value != 0 && times->n < MOST_TIMES)
            times->value[times->n++] = value;
    }
    qsort(times->value, times->n, sizeof times->value[0], compare);
    size_t kept = 0;
    for (size_t i = 0; i < times->n; i++)
        if (kept == 0 || times->value[kept - 1] != times->value[i])
            times->value[kept++] = times->value[i];
    times->n = kept;
}

static uint64_t place_of(const struct times *times, uint64_t value)
{
    size_t place = 0;
    while (place < times->n && times->value[place] != value)
        place++;
    return place < times->n ? place : value;
}

static void mix(uint64_t digest[2], uint64_t value)
{
    digest[0] = (digest[0] ^ value) * UINT64_C(0x100000001b3);
    digest[1] = (digest[1] ^ (value + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
    digest[1] ^= digest[1] >> 29;
}

void lb_states_digest(const char *text, size_t size, uint64_t now_ms, uint64_t ret[2])
{
    struct times times;
    find_times(text, size, now_ms, &times);
    ret[0] = UINT64_C(0xcbf29ce484222325);
    ret[1] = UINT64_C(0x2545f4914f6cdd1d);
    for (size_t i = 0; i < size;) {
        size_t n = 0;
        while (i + n < size && isdigit((unsigned char)text[i + n]))
            n++;
        uint64_t value = time_of(text + i, n, now_ms);
        if (value != 0) {
            mix(ret, 256 + n);
            mix(ret, place_of(&times, value));
            i += n;
            continue;
        }
        for (n = n > 0 ? n : 1; n > 0; n--, i++)
            mix(ret, (unsigned char)text[i]);
    }
}

bool lb_states_tie(const char *rows, uint64_t now_ms)
{
    struct times times = {.n = 0};
    uint64_t row = 0, row_of[MOST_TIMES];
    for (const char *p = rows; *p != '\0';) {
        size_t n = strspn(p, "0123456789");
        uint64_t value = n > 0 ? time_of(p, n, now_ms) : 0;
        for (size_t i = 0; value != 0 && i < times.n; i++)
            if (times.value[i] == value && row_of[i] != row)
                return true;
        if (value != 0 && times.n < MOST_TIMES) {
            row_of[times.n] = row;
            times.value[times.n++] = value;
        }
        row += *p == '\x1e';
        p += n > 0 ? n : 1;
    }
    return times.n == MOST_TIMES;
}

/* --- the history --- */

/* An operation's beginning or end. */
struct point {
    uint64_t time_ns, value, objects;
    uint32_t process, object, arg;
    uint16_t number; /* of the operation among its task's */
    uint8_t op, type, flags;
};

struct points {
    struct point *all;
    size_t n;
};

/* Tries that came to nothing, of which the next one tells all. */
static bool is_try(const struct lb_event *event)
{
    return event->op == LB_OP_ACQUIRE || event->op == LB_OP_CLAIM || event->op == LB_OP_ENQUEUE;
}

/* An operation that goes on: which objects it is about is not known, or what it was answered. */
static uint64_t objects_of_open(const struct lb_task *task, const struct lb_event *event)
{
    if (event->op == LB_OP_CLAIM && task->claims != 0)
        return task->claims;
    return event->op == LB_OP_COMPLETE ? lb_object_of(task->testbed, event->value) : LB_ALL_OBJECTS;
}

/* Adds the beginning and the end of each operation of the task's that counts. */
static void add_points(const struct lb_task *task, struct points *points)
{
    const struct lb_testbed *testbed = task->testbed;
    size_t begun = SIZE_MAX; /* the beginning of what goes on */
    uint64_t items = 0;
    uint16_t number = 0;
    for (size_t i = 0; i < task->log.n_events; i++) {
        const struct lb_event *event = &task->events[i];
        struct point point = {event->time_ns, event->value, LB_ALL_OBJECTS, event->process,
                              event->object,  event->arg,   number,         event->op,
                              event->type,    event->flags};
        if (event->type == LB_EV_INVOKE) {
            begun = begun == SIZE_MAX ? points->n : begun; /* a batch has several */
            items = event->op == LB_OP_CLAIM ? 0 : items;
            point.objects = objects_of_open(task, event);
        } else if (event->type == LB_EV_FAIL && is_try(event) && begun != SIZE_MAX) {
            points->n = begun;
            begun = SIZE_MAX;
            continue;
        } else if (event->op == LB_OP_ITEM) {
            items |= lb_object_of(testbed, event->value);
            point.objects = lb_object_of(testbed, event->value);
        } else if (event->op == LB_OP_CLAIM && begun != SIZE_MAX) {
            point.objects = points->all[begun].objects = items;
            begun = SIZE_MAX;
            number++;
        } else {
            point.objects =
                event->op == LB_OP_COMPLETE ? lb_object_of(testbed, event->value) : LB_ALL_OBJECTS;
            begun = SIZE_MAX;
            number++;
        }
        points->all[points->n++] = point;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return x->time_ns != y->time_ns   ? (x->time_ns < y->time_ns ? -1 : 1)
           : x->process != y->process ? (x->process < y->process ? -1 : 1)
                                      : 0;
}

/* Between two ends nobody can tell which beginning was the first, and the other way round. */
static int by_name(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static void tell_block(struct point *points, size_t n, FILE *out)
{
    qsort(points, n, sizeof *points, by_name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%u.%u:%u/%u/%u/%u/%u=%llu ", points[i].process, points[i].number,
                points[i].op, points[i].type, points[i].flags, points[i].object, points[i].arg,
                (unsigned long long)points[i].value);
    fputc(';', out);
}

/* What was told of the objects: blocks of beginnings, and of ends, in turn. */
static void tell_objects(const struct points *points, uint64_t objects, struct point *some,
                         FILE *out)
{
    size_t n = 0, first = 0;
    for (size_t i = 0; i < points->n; i++)
        if ((points->all[i].objects & objects) != 0)
            some[n++] = points->all[i];
    for (size_t i = 1; i <= n; i++)
        if (i == n || (some[i].type == LB_EV_INVOKE) != (some[first].type == LB_EV_INVOKE)) {
            tell_block(some + first, i - first, out);
            first = i;
        }
    fputc('\n', out);
}

void lb_states_tell_history(const struct lb_testbed *testbed, FILE *out)
{
    size_t n = 1;
    uint64_t objects = 0;
    for (uint32_t i = 0; i < testbed->n_tasks; i++)
        n += testbed->tasks[i].log.n_events;
    struct points points = {.all = calloc(n, sizeof *points.all)};
    struct point *some = calloc(n, sizeof *some);
    for (uint32_t i = 0; i < testbed->n_tasks && points.all != NULL; i++)
        add_points(&testbed->tasks[i], &points);
    if (points.all != NULL && some != NULL) {
        qsort(points.all, points.n, sizeof *points.all, by_time);
        for (size_t i = 0; i < points.n; i++)
            objects |= points.all[i].objects;
        for (unsigned bit = 0; bit < 64 && testbed->is_local; bit++)
            if ((objects >> bit & 1) != 0)
                tell_objects(&points, UINT64_C(1) << bit, some, out);
        if (!testbed->is_local)
            tell_objects(&points, LB_ALL_OBJECTS, some, out);
    } else {
        fputc('?', out); /* told apart from any other by what comes with it */
    }
    free(points.all);
    free(some);
}
