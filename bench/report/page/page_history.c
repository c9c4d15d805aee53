/* A history as the report page draws it: counted into bins of time, so that its size does not grow
 * with the history's, and in full only around the violations.
 *
 *   bins    successes, refusals, and per resource how many hold it on average and where too many do
 *   heat    how long grants took, by time and by third of an octave
 *   faults  when and whom; put together where there are more than a picture can show
 *   zooms   every hold around a witness of run.json, found in the history by its own operation
 */
#include "memory.h"
#include "page.h"

#include "check_meta.h"
#include "order.h"
#include "page_holds.h"
#include "scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BINS = 240,
    HEAT_COLUMNS = BINS / 2,
    HEAT_ROWS = 128, /* thirds of an octave from 1 ns: up to 2^42 ns */
    MOST_STRIPS = 8,
    MOST_FAULTS = 300,
    MOST_ZOOM_HOLDS = 400
};

/* A drawn line: a resource, or a class of items. */
struct strip {
    uint32_t object;
    uint64_t n_holds, n_over;
    double held_ns[BINS]; /* sum over its holds */
    uint32_t over[BINS];  /* grants when it was held by as many as may */
};

struct drawing {
    const struct lb_page_digest *digest;
    const struct lb_history_view *view;
    uint64_t length_ns;
    double bin_ns;
    struct strip *strips;
    size_t n_strips;
    uint32_t *capacity; /* of the resources; NULL: 1 each */
    uint32_t n_capacities;
    bool is_lease;
};

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static size_t bin_of(const struct drawing *d, uint64_t at_ns)
{
    if (at_ns <= d->digest->start_ns)
        return 0;
    size_t bin = (size_t)((double)(at_ns - d->digest->start_ns) / d->bin_ns);
    return bin < BINS ? bin : BINS - 1;
}

/* --- rates and waits --- */

static json_t *counts_json(const uint64_t *counts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, integer(counts[i]));
    return array;
}

static size_t heat_row(uint64_t ns)
{
    double row = ns > 1 ? floor(3 * log2((double)ns)) : 0;
    return row < HEAT_ROWS ? (size_t)row : HEAT_ROWS - 1;
}

/* Column, row, count, column, row, count, ...: most places are empty. */
static json_t *heat_json(const struct drawing *d, uint32_t (*heat)[HEAT_ROWS])
{
    json_t *array = json_array();
    for (size_t column = 0; column < HEAT_COLUMNS; column++)
        for (size_t row = 0; row < HEAT_ROWS; row++) {
            if (heat[column][row] == 0)
                continue;
            json_array_append_new(array, integer(column));
            json_array_append_new(array, integer(row));
            json_array_append_new(array, integer(heat[column][row]));
        }
    return json_pack("{s:i, s:f, s:i, s:o}", "columns", HEAT_COLUMNS, "column_ns",
                     d->bin_ns * (BINS / (double)HEAT_COLUMNS), "rows_per_octave", 3, "cells",
                     array);
}

static void put_answers(const struct drawing *d, json_t *into)
{
    uint64_t successes[BINS] = {0}, refusals[BINS] = {0};
    uint32_t(*heat)[HEAT_ROWS] = lb_calloc(HEAT_COLUMNS, sizeof *heat);
    for (size_t i = 0; i < d->digest->n_answers; i++) {
        const struct lb_page_answer *answer = &d->digest->answers[i];
        size_t bin = bin_of(d, answer->at_ns);
        successes[bin] += answer->n_successes;
        refusals[bin] += answer->n_successes == 0;
        if (answer->n_successes > 0)
            heat[bin * HEAT_COLUMNS / BINS][heat_row(answer->wait_ns)]++;
    }
    json_object_set_new(into, "successes", counts_json(successes, BINS));
    json_object_set_new(into, "refusals", counts_json(refusals, BINS));
    json_object_set_new(into, "heat", heat_json(d, heat));
    free(heat);
}

/* --- holds --- */

static struct strip *strip_of(struct drawing *d, uint32_t object)
{
    size_t low = 0, high = d->n_strips;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (d->strips[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return &d->strips[low]; /* it is there: make_strips has seen every hold */
}

static void make_strips(struct drawing *d)
{
    size_t n = d->digest->n_holds, n_different = 0;
    uint32_t *objects = lb_malloc((n + 1) * sizeof *objects);
    for (size_t i = 0; i < n; i++)
        if (n_different == 0 || objects[n_different - 1] != d->digest->holds[i].object)
            objects[n_different++] = d->digest->holds[i].object;
    qsort(objects, n_different, sizeof *objects, lb_order_u32);
    d->strips = lb_calloc(n_different + 1, sizeof *d->strips);
    for (size_t i = 0; i < n_different; i++)
        if (d->n_strips == 0 || d->strips[d->n_strips - 1].object != objects[i])
            d->strips[d->n_strips++].object = objects[i];
    free(objects);
}

static void add_time(struct drawing *d, struct strip *strip, const struct lb_page_hold *hold)
{
    double start = (double)(hold->start_ns - d->digest->start_ns);
    double end = (double)(hold->end_ns - d->digest->start_ns);
    for (size_t bin = bin_of(d, hold->start_ns); bin < BINS && (double)bin * d->bin_ns < end;
         bin++) {
        double from = fmax(start, (double)bin * d->bin_ns);
        double to = fmin(end, (double)(bin + 1) * d->bin_ns);
        strip->held_ns[bin] += to > from ? to - from : 0;
    }
}

static uint64_t capacity_of(const struct drawing *d, const struct lb_page_hold *hold)
{
    bool known = !d->digest->is_queue && d->capacity != NULL && hold->object < d->n_capacities;
    return known ? d->capacity[hold->object] : 1;
}

/* Does this hold of one id begin when those before it leave no room? Earlier ones that are over are
 * taken out of alive, which holds positions. */
static bool is_over(const struct drawing *d, const struct lb_page_hold *hold, size_t *alive,
                    size_t *n_alive)
{
    uint64_t writers = 0;
    size_t kept = 0, n_shared = 0;
    for (size_t i = 0; i < *n_alive; i++) {
        const struct lb_page_hold *other = &d->digest->holds[alive[i]];
        if (other->end_ns <= hold->start_ns)
            continue;
        alive[kept++] = alive[i];
        n_shared += other->is_shared;
        writers += other->is_shared ? 0 : other->permits;
    }
    *n_alive = kept;
    if (hold->is_shared)
        return writers > 0;
    return n_shared > 0 || writers + hold->permits > capacity_of(d, hold);
}

/* A counted overlap for each hold that began when there was no room for it. */
static void fill_strips(struct drawing *d)
{
    size_t n_alive = 0, room = 64;
    size_t *alive = lb_malloc(room * sizeof *alive);
    for (size_t i = 0; i < d->digest->n_holds; i++) {
        const struct lb_page_hold *hold = &d->digest->holds[i];
        struct strip *strip = strip_of(d, hold->object);
        if (i > 0 && hold->id != hold[-1].id)
            n_alive = 0;
        strip->n_holds++;
        add_time(d, strip, hold);
        if (is_over(d, hold, alive, &n_alive)) {
            strip->n_over++;
            strip->over[bin_of(d, hold->start_ns)]++;
        }
        if (n_alive == room)
            alive = lb_realloc(alive, room *= 2, sizeof *alive);
        alive[n_alive++] = i;
    }
    free(alive);
}

static int worst_first(const void *a, const void *b)
{
    const struct strip *x = a, *y = b;
    if (x->n_over != y->n_over)
        return x->n_over > y->n_over ? -1 : 1;
    if (x->n_holds != y->n_holds)
        return x->n_holds > y->n_holds ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static json_t *strip_json(const struct drawing *d, const struct strip *strip)
{
    json_t *held = json_array(), *over = json_array();
    for (size_t i = 0; i < BINS; i++) {
        json_array_append_new(held,
                              integer((uint64_t)llround(1000 * strip->held_ns[i] / d->bin_ns)));
        if (strip->over[i] == 0)
            continue;
        json_array_append_new(over, integer(i));
        json_array_append_new(over, integer(strip->over[i]));
    }
    uint64_t capacity = capacity_of(d, &(struct lb_page_hold){.object = strip->object});
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "object", (json_int_t)strip->object,
                     "capacity", integer(capacity), "holds", integer(strip->n_holds), "over",
                     integer(strip->n_over), "held_permille", held, "over_bins", over);
}

static void put_strips(struct drawing *d, json_t *into)
{
    make_strips(d);
    fill_strips(d);
    qsort(d->strips, d->n_strips, sizeof *d->strips, worst_first);
    json_t *array = json_array();
    for (size_t i = 0; i < d->n_strips && i < MOST_STRIPS; i++)
        json_array_append_new(array, strip_json(d, &d->strips[i]));
    json_object_set_new(into, "strips", array);
    json_object_set_new(into, "n_strips", integer(d->n_strips));
}

/* --- faults --- */

static void put_faults(const struct drawing *d, json_t *into)
{
    const struct lb_page_digest *digest = d->digest;
    json_t *array = json_array();
    double gap_ns = digest->n_faults > MOST_FAULTS ? (double)d->length_ns / MOST_FAULTS : 0;
    for (size_t i = 0; i < digest->n_faults;) {
        const struct lb_page_fault *first = &digest->faults[i];
        uint64_t end_ns = first->end_ns != UINT64_MAX ? first->end_ns : first->begin_ns;
        size_t n = 1;
        while (i + n < digest->n_faults && first[n].kind == first->kind &&
               (double)(first[n].begin_ns - first->begin_ns) < gap_ns) {
            uint64_t other = first[n].end_ns != UINT64_MAX ? first[n].end_ns : first[n].begin_ns;
            end_ns = other > end_ns ? other : end_ns;
            n++;
        }
        const char *kind =
            first->kind < LB_FAULTS ? lb_fault_name((enum lb_fault)first->kind) : "?";
        json_array_append_new(array,
                              json_pack("{s:s, s:I, s:o, s:o, s:o}", "kind", kind, "worker",
                                        (json_int_t)first->log, "begin_ns",
                                        integer(first->begin_ns - digest->start_ns), "end_ns",
                                        integer(end_ns - digest->start_ns), "n", integer(n)));
        i += n;
    }
    json_object_set_new(into, "faults", array);
}

/* --- zooms --- */

static uint64_t time_of(const json_t *op, const char *key, uint64_t otherwise)
{
    const json_t *value = json_object_get(op, key);
    return json_is_integer(value) && json_integer_value(value) >= 0
               ? (uint64_t)json_integer_value(value)
               : otherwise;
}

/* Was this operation of a witness recorded here? */
static bool is_recorded(const struct drawing *d, const json_t *op)
{
    const json_t *invoke = json_object_get(op, "invoke_ns");
    json_int_t worker = json_integer_value(json_object_get(op, "worker"));
    const char *name = json_string_value(json_object_get(op, "op"));
    if (!json_is_integer(invoke) || worker < 0 || worker >= (json_int_t)d->view->n_logs ||
        name == NULL)
        return false;
    const struct lb_log_view *log = &d->view->logs[worker];
    uint64_t at_ns = d->digest->start_ns + (uint64_t)json_integer_value(invoke);
    for (size_t s = 0; s < log->n_spans; s++) {
        const struct lb_span *span = &log->spans[s];
        if (span->n == 0 || span->events[span->n - 1].time_ns < at_ns)
            continue;
        for (size_t i = 0; i < span->n && span->events[i].time_ns <= at_ns; i++)
            if (span->events[i].time_ns == at_ns && span->events[i].type == LB_EV_INVOKE &&
                strcmp(lb_op_name(span->events[i].op), name) == 0)
                return true;
    }
    return false;
}

struct window {
    uint64_t from_ns, to_ns; /* after the history's start */
    const json_t *operations;
    bool by_value; /* of a queue: items, and not classes */
};

static bool concerns(const struct window *window, const struct lb_page_hold *hold)
{
    size_t i;
    json_t *op;
    json_array_foreach(window->operations, i, op)
    {
        const json_t *id = json_object_get(op, window->by_value ? "value" : "object");
        if (json_is_integer(id) && (uint64_t)json_integer_value(id) == hold->id)
            return true;
    }
    return false;
}

/* From the first to the last operation and half as much again on either side. */
static struct window window_of(const struct drawing *d, const json_t *operations)
{
    uint64_t first = UINT64_MAX, last = 0;
    size_t i;
    json_t *op;
    json_array_foreach(operations, i, op)
    {
        uint64_t begin = time_of(op, "invoke_ns", 0);
        uint64_t end = time_of(op, "end_ns", d->length_ns);
        first = begin < first ? begin : first;
        last = end > last ? end : last;
    }
    last = last < d->length_ns ? last : d->length_ns;
    first = first < last ? first : last;
    uint64_t margin = (last - first) / 2 + 1000;
    return (struct window){.from_ns = first > margin ? first - margin : 0,
                           .to_ns = last + margin < d->length_ns ? last + margin : d->length_ns,
                           .operations = operations,
                           .by_value = d->digest->is_queue};
}

/* Worker, object or item, from, to, 1: of the witness, 1: never given back. */
static json_t *zoom_holds(const struct drawing *d, const struct window *window, size_t *ret_omitted)
{
    json_t *array = json_array();
    size_t n = 0;
    *ret_omitted = 0;
    for (int others = 0; others <= 1; others++) /* those that matter first */
        for (size_t i = 0; i < d->digest->n_holds; i++) {
            const struct lb_page_hold *hold = &d->digest->holds[i];
            uint64_t start = hold->start_ns - d->digest->start_ns;
            uint64_t end = hold->end_ns - d->digest->start_ns;
            if (end < window->from_ns || start > window->to_ns ||
                concerns(window, hold) == (others == 1))
                continue;
            if (n == MOST_ZOOM_HOLDS) {
                (*ret_omitted)++;
                continue;
            }
            json_array_append_new(array, json_pack("[I, I, I, I, i, i]", (json_int_t)hold->log,
                                                   (json_int_t)hold->id, (json_int_t)start,
                                                   (json_int_t)end, others == 0, hold->is_open));
            n++;
        }
    return array;
}

static json_t *zoom_json(const struct drawing *d, const char *guarantee, size_t number,
                         const json_t *operations)
{
    struct window window = window_of(d, operations);
    size_t omitted;
    json_t *holds = zoom_holds(d, &window, &omitted);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "guarantee", guarantee, "witness",
                     integer(number), "from_ns", integer(window.from_ns), "to_ns",
                     integer(window.to_ns), "holds", holds, "omitted", integer(omitted));
}

/* Those of the cell's witnesses that are of this run. */
static void put_zooms(const struct drawing *d, json_t *guarantees, json_t *into)
{
    json_t *array = json_array(), *guarantee, *witness;
    const char *name;
    size_t number;
    json_object_foreach(guarantees, name, guarantee)
    {
        json_array_foreach(json_object_get(guarantee, "witnesses"), number, witness)
        {
            const json_t *operations = json_object_get(witness, "operations");
            if (is_recorded(d, json_array_get(operations, 0)))
                json_array_append_new(array, zoom_json(d, name, number, operations));
        }
    }
    json_object_set_new(into, "zooms", array);
}

/* --- all of it --- */

static void draw(struct drawing *d, json_t *cell, json_t *into)
{
    const struct lb_page_digest *digest = d->digest;
    uint64_t warm_ns = digest->warm_ns > digest->start_ns ? digest->warm_ns - digest->start_ns : 0;
    json_object_set_new(into, "events", integer(d->view->n_events));
    json_object_set_new(into, "cut_off", json_boolean(d->view->truncated));
    json_object_set_new(into, "is_queue", json_boolean(digest->is_queue));
    json_object_set_new(into, "is_lease", json_boolean(d->is_lease));
    json_object_set_new(into, "length_ns", integer(d->length_ns));
    json_object_set_new(into, "warm_ns", integer(warm_ns));
    json_object_set_new(into, "bin_ns", json_real(d->bin_ns));
    put_answers(d, into);
    put_strips(d, into);
    put_faults(d, into);
    put_zooms(d, json_object_get(cell, "guarantees"), into);
}

int lb_page_history(const char *path, json_t *cell, json_t **ret, struct lb_error *err)
{
    struct lb_history_view view;
    struct lb_page_digest digest = {0};
    struct lb_model model = {0};
    struct drawing d = {.digest = &digest, .view = &view};
    int rc = lb_history_open(path, &view, err);
    if (rc != 0)
        return rc;
    if (view.meta != NULL && lb_model_parse(view.meta, &model, &d.capacity, err) != 0)
        rc = lb_fail_prefix(err, "%s", path);
    if (rc == 0)
        rc = lb_page_digest_make(&view, &digest, err);
    if (rc == 0) {
        d.n_capacities = model.n_resources;
        d.is_lease = model.lease;
        d.length_ns = digest.end_ns > digest.start_ns ? digest.end_ns - digest.start_ns : 1;
        d.bin_ns = (double)d.length_ns / BINS;
        *ret = json_object();
        draw(&d, cell, *ret);
    }
    free(d.strips);
    free(d.capacity);
    lb_page_digest_release(&digest);
    lb_history_release(&view);
    return rc;
}
