/* Results of schedules as digests: see states.h. */
#include "states.h"

#include "clock.h"
#include "memory.h"
#include "random.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LONGEST_ANSWERS = 3300
}; /* of a worker: explore keeps 4,000 characters, and no last one in part */

/* A point in time as a number of leases since the exploration began. */
static int64_t leases_until(const struct lb_states *states, double unix_ms)
{
    return llround((unix_ms - (double)states->start_unix_ms) / states->ttl_ms);
}

/* "2026-11-24 20:17:01.5+00" at `at`: the characters it takes, 0 if it is no such time. */
static size_t read_date(const char *at, double *ret_unix_ms)
{
    struct tm tm = {0};
    const char *day = strptime(at, "%Y-%m-%d", &tm);
    const char *rest =
        day != NULL && (*day == ' ' || *day == 'T') ? strptime(day + 1, "%H:%M:%S", &tm) : NULL;
    if (rest == NULL)
        return 0;
    *ret_unix_ms = (double)timegm(&tm) * 1000;
    size_t length = (size_t)(rest - at);
    return length + strspn(at + length, ".0123456789+-:");
}

/* A number at `at`, as ms since 1970 if its size may be a time's. Returns its length. */
static size_t read_number(const char *at, double *ret_value, double *ret_unix_ms, bool *ret_is_real)
{
    char *end;
    double value = strtod(at, &end);
    double size = fabs(value);
    size_t length = (size_t)(end - at);
    *ret_is_real = memchr(at, '.', length) != NULL;
    *ret_value = value;
    *ret_unix_ms = size >= 1e14                                   ? value / 1000
                   : size >= 1e11                                 ? value
                   : size >= 1e9                                  ? value * 1000
                   : *ret_is_real && size > 2440588 && size < 1e7 ? (value - 2440587.5) * 86400000
                                                                  : NAN;
    return length;
}

static bool begins_number(const char *start, const char *at)
{
    bool is_signed = *at == '-' && isdigit((unsigned char)at[1]);
    bool is_apart = at == start || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
    return is_apart && (isdigit((unsigned char)*at) || is_signed);
}

/* The length of a token's value, which means nothing by itself; 0: there is none at `at`. */
static size_t token_at(const char *line, const char *at)
{
    static const char name[] = "token=";
    const size_t n = sizeof name - 1;
    return (size_t)(at - line) >= n && memcmp(at - n, name, n) == 0 ? strcspn(at, " ;)\n") : 0;
}

static bool is_answers(const char *line)
{
    return line[0] == 'w' && isdigit((unsigned char)line[1]) && memchr(line, ':', 4) != NULL;
}

/* has_times, has_tokens: their values count. */
static uint64_t digest_of_line(const struct lb_states *states, const char *line, size_t length,
                               bool has_times, bool has_tokens)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (const char *at = line; at < line + length;) {
        double value, unix_ms;
        bool is_real;
        size_t n_token = has_tokens ? 0 : token_at(line, at);
        if (n_token > 0 || !begins_number(line, at)) {
            digest = n_token > 0 ? digest : lb_mix(digest, (unsigned char)*at);
            at += n_token > 0 ? n_token : 1;
            continue;
        }
        size_t n = read_date(at, &unix_ms);
        if (n == 0) {
            n = read_number(at, &value, &unix_ms, &is_real);
            if (isnan(unix_ms)) {
                /* The time that is left of a lease, or another length: a few ms make no other one.
                 */
                bool is_length = is_real || fabs(value) > states->ttl_ms / 4;
                double whole = is_length ? round(value / states->ttl_ms * 20) : value;
                digest = lb_mix(digest, is_length);
                if (has_times || !is_length)
                    digest = lb_mix(digest, (uint64_t)(int64_t)whole);
                at += n;
                continue;
            }
        }
        digest = lb_mix(digest, 't');
        if (has_times)
            digest = lb_mix(digest, (uint64_t)leases_until(states, unix_ms));
        at += n;
    }
    return digest;
}

struct lb_state_digest lb_states_digest(const struct lb_states *states, const char *state)
{
    struct lb_state_digest ret = {1, 1, 1};
    uint64_t rows = 0, untimed = 0;
    for (const char *line = state; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        uint64_t all = digest_of_line(states, line, length, true, true);
        uint64_t without = digest_of_line(states, line, length, false, true);
        if (is_answers(line)) {
            ret.all = lb_mix(ret.all, all);
            ret.untimed = lb_mix(ret.untimed, without);
            ret.answers = lb_mix(ret.answers, digest_of_line(states, line, length, true, false));
        } else { /* rows have no order */
            rows += all * UINT64_C(0x9e3779b97f4a7c15);
            untimed += without * UINT64_C(0x9e3779b97f4a7c15);
        }
        line += length + (line[length] == '\n');
    }
    ret.all = lb_mix(ret.all, rows);
    ret.untimed = lb_mix(ret.untimed, untimed);
    return ret;
}

static void note_sections(struct lb_states *states, const char *state)
{
    for (int name = 0; name < LB_SECTIONS; name++) {
        char word[40];
        snprintf(word, sizeof word, " %s ", lb_section_text((enum lb_section_name)name));
        if ((states->sections >> name & 1) == 0 && strstr(state, word) != NULL)
            states->sections |= 1u << name;
        snprintf(word, sizeof word, " %s ok 0()", lb_section_text((enum lb_section_name)name));
        if ((states->vain >> name & 1) == 0 && strstr(state, word) != NULL)
            states->vain |= 1u << name;
    }
}

static void add(struct lb_digests *digests, uint64_t digest)
{
    /* The last ones are the likeliest to be met again. */
    for (size_t i = digests->n, tries = 0; i > 0 && tries < 64; i--, tries++)
        if (digests->at[i - 1] == digest)
            return;
    if (digests->n == digests->room) {
        digests->room = digests->room * 2 + 256;
        digests->at = lb_realloc(digests->at, digests->room, sizeof *digests->at);
    }
    digests->at[digests->n++] = digest;
}

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* The lines of the workers; also with the rows. */
static char *copy_answers(const char *state, bool has_rows)
{
    const char *end = state;
    while (is_answers(end))
        end += strcspn(end, "\n") + 1;
    return has_rows ? lb_strdup(state) : lb_strndup(state, (size_t)(end - state));
}

static void ended(void *arg, const char *state, int violated)
{
    struct lb_states *states = arg;
    const struct lb_digests *known = states->known;
    const struct lb_state_digest digest = lb_states_digest(states, state);
    note_sections(states, state);
    states->violated |= violated != 0;
    add(&states->all, digest.all);
    add(&states->untimed, digest.untimed);
    add(&states->answers, digest.answers);
    for (const char *line = state; is_answers(line); line += strcspn(line, "\n") + 1)
        states->failed |= strcspn(line, "\n") > LONGEST_ANSWERS;
    const uint64_t *key = states->knows_rows ? &digest.all : &digest.answers;
    if (known != NULL && states->unknown == NULL &&
        (known->n == 0 || bsearch(key, known->at, known->n, sizeof *known->at, compare) == NULL))
        states->unknown = copy_answers(state, states->knows_rows);
    states->enough = states->unknown != NULL && lb_now_ns() >= states->patient_until_ns;
}

static void anew(void *arg)
{
    struct lb_states *states = arg;
    states->all.n = states->untimed.n = states->answers.n = 0;
    free(states->unknown);
    states->unknown = NULL;
    states->sections = states->vain = 0;
    states->violated = states->enough = false;
}

void lb_states_begin(struct lb_states *states, uint32_t ttl_ms, struct lb_explore_watch *ret_watch)
{
    anew(states);
    states->start_unix_ms = lb_unix_ms();
    states->ttl_ms = ttl_ms;
    *ret_watch = (struct lb_explore_watch){
        .ended = ended, .anew = anew, .arg = states, .enough = &states->enough};
}

static void bring_in_order(struct lb_digests *digests)
{
    size_t n = 0;
    if (digests->n > 1)
        qsort(digests->at, digests->n, sizeof *digests->at, compare);
    for (size_t i = 0; i < digests->n; i++)
        if (n == 0 || digests->at[n - 1] != digests->at[i])
            digests->at[n++] = digests->at[i];
    digests->n = n;
}

void lb_states_end(struct lb_states *states)
{
    bring_in_order(&states->all);
    bring_in_order(&states->untimed);
    bring_in_order(&states->answers);
}

static bool are_equal(const struct lb_digests *a, const struct lb_digests *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof *a->at) == 0);
}

bool lb_states_equal(const struct lb_states *a, const struct lb_states *b, bool untimed)
{
    return !a->failed && !b->failed &&
           (untimed ? are_equal(&a->untimed, &b->untimed) : are_equal(&a->all, &b->all));
}

bool lb_states_answer_alike(const struct lb_states *a, const struct lb_states *b)
{
    return are_equal(&a->answers, &b->answers);
}

void lb_states_free(struct lb_states *states)
{
    free(states->all.at);
    free(states->untimed.at);
    free(states->answers.at);
    free(states->unknown);
    *states = (struct lb_states){0};
}
