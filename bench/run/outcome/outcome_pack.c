/* An outcome as bytes, and back: see run.h.
 *
 * The struct itself, then the data behind its pointers, in the order below. Histograms are sparse:
 * of 9,000 buckets a run fills some hundred. Layout and byte order are those of this build, which
 * suffices: the keeper of the bytes also keeps the version of the program that wrote them. Reading
 * checks every length, since a file may have been cut.
 */
#include "outcome.h"

#include "memory.h"

#include <string.h>

/* ---- writing ---- */

static void put(FILE *out, const void *bytes, size_t n)
{
    if (n > 0) /* of an empty list bytes is NULL */
        fwrite(bytes, 1, n, out);
}

static void put_u64(FILE *out, uint64_t value)
{
    put(out, &value, sizeof value);
}

static void put_text(FILE *out, const char *text)
{
    put_u64(out, strlen(text));
    put(out, text, strlen(text));
}

static void put_histogram(FILE *out, const struct lb_histogram *h)
{
    uint64_t n = 0;
    put_u64(out, h != NULL);
    if (h == NULL)
        return;
    put(out, h, offsetof(struct lb_histogram, buckets));
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++)
        n += h->buckets[i] > 0;
    put_u64(out, n);
    for (size_t i = 0; i < LB_HISTOGRAM_BUCKETS; i++)
        if (h->buckets[i] > 0) {
            put_u64(out, i);
            put_u64(out, h->buckets[i]);
        }
}

static void put_facts(FILE *out, const struct lb_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_text(out, facts[i].name);
        put_text(out, facts[i].value);
    }
}

int lb_outcome_write(const struct lb_outcome *outcome, FILE *out, struct lb_error *err)
{
    put(out, outcome, sizeof *outcome);
    for (int m = 0; m < LB_MEASURES; m++) {
        put_histogram(out, outcome->service[m]);
        put_histogram(out, outcome->response[m]);
    }
    put_histogram(out, outcome->pacing);
    put(out, outcome->intervals, outcome->n_intervals * sizeof *outcome->intervals);
    put(out, outcome->worker_successes, outcome->n_workers * sizeof *outcome->worker_successes);
    put_facts(out, outcome->facts, outcome->n_facts);
    put_facts(out, outcome->nodes, outcome->n_nodes);
    put_facts(out, outcome->server, outcome->n_server);
    put_facts(out, outcome->plans, outcome->n_plans);
    put(out, outcome->waits, outcome->n_waits * sizeof *outcome->waits);
    put(out, outcome->ranks.rows, outcome->ranks.n * sizeof *outcome->ranks.rows);
    put(out, outcome->exploration, outcome->exploration != NULL ? sizeof *outcome->exploration : 0);
    return ferror(out) ? lb_fail(err, LB_E_ENV, "cannot write an outcome") : 0;
}

/* ---- reading ---- */

struct source {
    const unsigned char *at;
    size_t left;
    bool failed; /* too short */
};

static void take(struct source *s, void *into, size_t n)
{
    if (s->failed || n > s->left) {
        s->failed = true;
        return;
    }
    memcpy(into, s->at, n);
    s->at += n;
    s->left -= n;
}

static uint64_t take_u64(struct source *s)
{
    uint64_t value = 0;
    take(s, &value, sizeof value);
    return value;
}

/* n elements of size bytes, and a zeroed one behind them; NULL: it is too short. */
static void *take_array(struct source *s, uint64_t n, size_t size)
{
    s->failed = s->failed || n > s->left / size;
    if (s->failed)
        return NULL;
    void *array = lb_calloc((size_t)n + 1, size);
    take(s, array, (size_t)n * size);
    return array;
}

static char *take_text(struct source *s)
{
    return take_array(s, take_u64(s), 1);
}

static struct lb_histogram *take_histogram(struct source *s)
{
    if (take_u64(s) == 0 || s->failed)
        return NULL;
    struct lb_histogram *h = lb_histogram_new();
    take(s, h, offsetof(struct lb_histogram, buckets));
    uint64_t n = take_u64(s);
    for (uint64_t i = 0; i < n && !s->failed; i++) {
        uint64_t index = take_u64(s), count = take_u64(s);
        if (index < LB_HISTOGRAM_BUCKETS)
            h->buckets[index] = count;
        else
            s->failed = true;
    }
    return h;
}

/* *n: as many as there should be; then, as many as there are. */
static struct lb_fact *take_facts(struct source *s, size_t *n)
{
    size_t wanted = *n;
    *n = 0;
    s->failed = s->failed || wanted > s->left;
    if (s->failed)
        return NULL;
    struct lb_fact *facts = lb_calloc(wanted + 1, sizeof *facts);
    for (; *n < wanted && !s->failed; ++*n)
        facts[*n] = (struct lb_fact){take_text(s), take_text(s)};
    return facts;
}

int lb_outcome_read(const unsigned char *bytes, size_t n, struct lb_outcome **ret,
                    struct lb_error *err)
{
    struct source s = {.at = bytes, .left = n};
    struct lb_outcome *o = lb_calloc(1, sizeof *o);
    take(&s, o, sizeof *o);
    /* The data behind the pointers has moved. */
    memset(o->service, 0, sizeof o->service);
    memset(o->response, 0, sizeof o->response);
    o->pacing = NULL;
    o->intervals = NULL;
    o->worker_successes = NULL;
    o->facts = o->nodes = o->server = o->plans = NULL;
    o->waits = NULL;
    o->ranks.rows = NULL;
    bool is_explored = o->exploration != NULL;
    o->exploration = NULL;
    for (int m = 0; m < LB_MEASURES; m++) {
        o->service[m] = take_histogram(&s);
        o->response[m] = take_histogram(&s);
    }
    o->pacing = take_histogram(&s);
    o->intervals = take_array(&s, o->n_intervals, sizeof *o->intervals);
    o->worker_successes = take_array(&s, o->n_workers, sizeof *o->worker_successes);
    o->facts = take_facts(&s, &o->n_facts);
    o->nodes = take_facts(&s, &o->n_nodes);
    o->server = take_facts(&s, &o->n_server);
    o->plans = take_facts(&s, &o->n_plans);
    o->waits = take_array(&s, o->n_waits, sizeof *o->waits);
    o->ranks.rows = take_array(&s, o->ranks.n, sizeof *o->ranks.rows);
    if (is_explored)
        o->exploration = take_array(&s, 1, sizeof *o->exploration);
    if (s.failed || s.left > 0) {
        lb_outcome_free(o);
        return lb_fail(err, LB_E_FILE, "a stored run is not whole");
    }
    *ret = o;
    return 0;
}
