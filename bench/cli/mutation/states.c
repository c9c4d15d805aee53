/* Results of schedules as digests: see states.h. */
#include "states.h"

#include "clock.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

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

static uint64_t digest_of_line(const struct lb_states *states, const char *line, size_t length)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (const char *at = line; at < line + length;) {
        double value, unix_ms;
        bool is_real;
        if (!begins_number(line, at)) {
            digest = mix(digest, (unsigned char)*at++);
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
                digest = mix(mix(digest, is_length), (uint64_t)(int64_t)whole);
                at += n;
                continue;
            }
        }
        digest = mix(mix(digest, 't'), (uint64_t)leases_until(states, unix_ms));
        at += n;
    }
    return digest;
}

uint64_t lb_states_digest(const struct lb_states *states, const char *state)
{
    uint64_t stories = 1, rows = 0;
    for (const char *line = state; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        uint64_t digest = digest_of_line(states, line, length);
        if (line[0] == 'w' && isdigit((unsigned char)line[1]) && memchr(line, ':', 4) != NULL)
            stories = mix(stories, digest);
        else
            rows += digest * UINT64_C(0x9e3779b97f4a7c15); /* they have no order */
        line += length + (line[length] == '\n');
    }
    return mix(stories, rows);
}

static void note_sections(struct lb_states *states, const char *state)
{
    for (int name = 0; name < LB_SECTIONS; name++) {
        char word[40];
        snprintf(word, sizeof word, " %s ", lb_section_text((enum lb_section_name)name));
        if ((states->sections >> name & 1) == 0 && strstr(state, word) != NULL)
            states->sections |= 1u << name;
    }
}

static void ended(void *arg, const char *state, int violated)
{
    struct lb_states *states = arg;
    uint64_t digest = lb_states_digest(states, state);
    note_sections(states, state);
    states->violated |= violated != 0;
    /* The last ones are the likeliest to be met again. */
    for (size_t i = states->n, tries = 0; i > 0 && tries < 64; i--, tries++)
        if (states->digests[i - 1] == digest)
            return;
    if (states->n == states->room) {
        size_t room = states->room * 2 + 256;
        uint64_t *grown = reallocarray(states->digests, room, sizeof *grown);
        states->failed |= grown == NULL;
        if (grown == NULL)
            return;
        states->digests = grown;
        states->room = room;
    }
    states->digests[states->n++] = digest;
}

static void anew(void *arg)
{
    struct lb_states *states = arg;
    states->n = 0;
    states->sections = 0;
    states->violated = false;
}

void lb_states_begin(struct lb_states *states, uint32_t ttl_ms, struct lb_explore_watch *ret_watch)
{
    anew(states);
    states->start_unix_ms = lb_unix_ms();
    states->ttl_ms = ttl_ms;
    *ret_watch = (struct lb_explore_watch){.ended = ended, .anew = anew, .arg = states};
}

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

void lb_states_end(struct lb_states *states)
{
    size_t n = 0;
    if (states->n > 1)
        qsort(states->digests, states->n, sizeof *states->digests, compare);
    for (size_t i = 0; i < states->n; i++)
        if (n == 0 || states->digests[n - 1] != states->digests[i])
            states->digests[n++] = states->digests[i];
    states->n = n;
}

bool lb_states_equal(const struct lb_states *a, const struct lb_states *b)
{
    return !a->failed && !b->failed && a->n == b->n &&
           (a->n == 0 || memcmp(a->digests, b->digests, a->n * sizeof *a->digests) == 0);
}

void lb_states_free(struct lb_states *states)
{
    free(states->digests);
    *states = (struct lb_states){0};
}
