/* Statements whose answers do not depend on where rows stand: see states.h. Words only. */
#include "states.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Locks that several may have, answers that are made of several rows, and what a session keeps. */
static const char *const odd[] = {"share",
                                  "distinct",
                                  "over",
                                  "window",
                                  "array_agg",
                                  "string_agg",
                                  "json_agg",
                                  "lock",
                                  "truncate",
                                  "jsonb_agg",
                                  "tablesample",
                                  "currval",
                                  "lastval",
                                  "savepoint",
                                  "ctid",
                                  "xmin",
                                  "xmax",
                                  "cmin",
                                  "cmax",
                                  "tableoid",
                                  "random",
                                  "prepare",
                                  "declare",
                                  "fetch",
                                  "set_config",
                                  "pg_locks",
                                  "current_setting",
                                  "shared",
                                  "isolation",
                                  "listen",
                                  "unlisten",
                                  "pg_advisory_lock_shared",
                                  "pg_try_advisory_lock_shared",
                                  "pg_stat_activity",
                                  "txid_current",
                                  "pg_current_xact_id",
                                  NULL};

enum { MOST_FRAMES = 24 };

/* One pair of parentheses. */
struct frame {
    bool is_select, is_exists, has_order, is_ordered, has_limit, reads_table, reads_other, locks;
};

struct reading {
    const struct lb_tables *tables;
    const char *const *ordering;
    struct frame frames[MOST_FRAMES];
    size_t n;
    bool wants_source, wants_order, is_odd, picks_any, has_unordered;
};

static bool is(const char *word, size_t n, const char *text)
{
    return strlen(text) == n && strncasecmp(word, text, n) == 0;
}

static bool is_one_of(const char *word, size_t n, const char *const *list)
{
    for (; *list != NULL; list++)
        if (is(word, n, *list))
            return true;
    return false;
}

static bool is_table(const struct lb_tables *tables, const char *word, size_t n)
{
    for (size_t i = 0; i < tables->n; i++)
        if (is(word, n, tables->name[i]))
            return true;
    return false;
}

static void end_frame(struct reading *reading)
{
    const struct frame *frame = &reading->frames[reading->n - 1];
    bool ordered = frame->has_order && frame->is_ordered;
    if (frame->has_order && !frame->is_ordered && frame->has_limit)
        reading->is_odd = true;
    if (frame->has_limit && !ordered) {
        reading->is_odd = reading->is_odd || frame->reads_table;
        reading->picks_any = true;
    }
    if (frame->is_select && frame->reads_table && !ordered && !frame->is_exists) {
        reading->has_unordered = true;
        if (frame->locks && reading->n > 1)
            reading->is_odd = true;
    }
}

static void take_word(struct reading *reading, const char *word, size_t n, const char *before,
                      size_t n_before)
{
    struct frame *frame = &reading->frames[reading->n - 1];
    bool compares =
        is(word, n, "distinct") && (is(before, n_before, "is") || is(before, n_before, "not"));
    if (is_one_of(word, n, odd) && !compares)
        reading->is_odd = true;
    if (reading->wants_source) {
        frame->reads_table = frame->reads_table || is_table(reading->tables, word, n);
        reading->wants_source = false;
    }
    if (is(word, n, "select"))
        frame->is_select = true;
    else if (is(word, n, "from") || is(word, n, "join"))
        reading->wants_source = true;
    else if (is(word, n, "by") && is(before, n_before, "order"))
        frame->has_order = reading->wants_order = true;
    else if (is(word, n, "limit") || is(word, n, "offset") || is(word, n, "for"))
        reading->wants_order = false;
    if (is(word, n, "limit") || is(word, n, "offset"))
        frame->has_limit = true;
    frame->locks = frame->locks || (is(word, n, "update") && is(before, n_before, "for"));
    if (reading->wants_order && is_one_of(word, n, reading->ordering))
        frame->is_ordered = true;
}

/* The end of what is no code: a literal, a comment. */
static const char *skip(const char *p)
{
    if (*p == '\'') {
        p += 1 + strcspn(p + 1, "'");
        return p + (*p != '\0');
    }
    if (p[0] == '-' && p[1] == '-')
        return p + strcspn(p, "\n");
    const char *end = strstr(p, "*/");
    return end != NULL ? end + 2 : p + strlen(p);
}

static void take_parenthesis(struct reading *reading, bool opens, bool is_exists)
{
    if (opens && reading->n == MOST_FRAMES) {
        reading->is_odd = true;
    } else if (opens) {
        reading->wants_source = false;
        reading->frames[reading->n++] = (struct frame){.is_exists = is_exists};
    } else if (reading->n > 1) {
        end_frame(reading);
        reading->n--;
    }
}

bool lb_states_is_orderly(const struct lb_tables *tables, const char *sql,
                          const char *const *ordering)
{
    struct reading reading = {.tables = tables, .ordering = ordering, .n = 1};
    const char *before = "";
    size_t n_before = 0;
    for (const char *p = sql; *p != '\0' && !reading.is_odd;) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_')
            n++;
        if (n > 0) {
            take_word(&reading, p, n, before, n_before);
            before = p;
            n_before = n;
            p += n;
        } else if (*p == '\'' || (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*')) {
            p = skip(p);
        } else {
            if (*p == '(' || *p == ')')
                take_parenthesis(&reading, *p == '(', is(before, n_before, "exists"));
            if (*p == '"' || *p == '$' || *p == '\\')
                reading.is_odd = true;
            if (*p == ',' && reading.n > 0 && !reading.wants_order)
                reading.wants_source = reading.frames[reading.n - 1].reads_table;
            p++;
        }
    }
    end_frame(&reading);
    return !reading.is_odd && !(reading.picks_any && reading.has_unordered);
}
