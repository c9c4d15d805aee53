/* What a statement's text says that it may touch.
 *
 * Words are compared with the names of the space's tables; nothing is parsed. A word that happens
 * to be a table's name costs schedules, never a finding. What the words cannot tell (functions that
 * are not known to be harmless, views, triggers) is taken to touch everything.
 */
#include "footprint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct word {
    const char *text;
    size_t length;
    bool is_call; /* an opening parenthesis follows */
};

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* --- rows --- */

static uint32_t touches(const struct lb_footprint *footprint)
{
    return footprint->reads | footprint->writes | footprint->commits;
}

void lb_footprint_add_row(struct lb_footprint *into, const struct lb_touched_row *row)
{
    for (size_t i = 0; i < into->n_rows; i++)
        if (into->rows[i].table == row->table && into->rows[i].key == row->key) {
            into->rows[i].meets |= row->meets;
            return;
        }
    if (into->n_rows < LB_FOOTPRINT_ROWS)
        into->rows[into->n_rows++] = *row;
    else
        into->by_row &= ~(1u << row->table);
}

void lb_footprint_add_ref(struct lb_footprint *into, const struct lb_touched_ref *ref)
{
    if (into->n_refs < LB_FOOTPRINT_REFS)
        into->refs[into->n_refs++] = *ref;
    else
        into->by_row &= ~(1u << ref->table);
}

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ digest >> 28;
}

uint64_t lb_footprint_digest(const struct lb_footprint *footprint)
{
    uint64_t digest = mix(footprint->reads, (uint64_t)footprint->writes << 32 | footprint->commits);
    digest = mix(mix(digest, footprint->by_row), footprint->holds);
    digest = mix(digest, footprint->queues);
    for (size_t i = 0; i < footprint->n_rows; i++)
        digest = mix(mix(digest, footprint->rows[i].key),
                     (uint64_t)footprint->rows[i].table << 32 | footprint->rows[i].meets);
    for (size_t i = 0; i < footprint->n_refs; i++) {
        const struct lb_touched_ref *ref = &footprint->refs[i];
        digest =
            mix(mix(digest, ref->key), (uint64_t)ref->table << 16 |
                                           (uint64_t)(uint8_t)ref->condition << 8 | ref->is_keyed);
    }
    return digest;
}

void lb_footprint_add(struct lb_footprint *into, const struct lb_footprint *other)
{
    into->by_row = (into->by_row | ~touches(into)) & (other->by_row | ~touches(other));
    into->reads |= other->reads;
    into->writes |= other->writes;
    into->commits |= other->commits;
    into->by_row &= touches(into);
    into->begins |= other->begins;
    into->ends |= other->ends;
    into->holds &= other->holds;
    into->queues = into->queues && other->queues;
    into->blocks = into->blocks || other->blocks;
    for (size_t i = 0; i < other->n_rows; i++)
        lb_footprint_add_row(into, &other->rows[i]);
    for (size_t i = 0; i < other->n_refs; i++)
        lb_footprint_add_ref(into, &other->refs[i]);
}

/* Could the one who reads so tell whether the row was touched? */
static bool sees(const struct lb_touched_ref *ref, const struct lb_touched_row *row)
{
    return ref->table == row->table && (!ref->is_keyed || ref->key == row->key) &&
           (ref->condition < 0 || (row->meets >> ref->condition & 1) != 0);
}

static uint32_t seen(const struct lb_footprint *reader, const struct lb_footprint *writer)
{
    uint32_t tables = 0;
    for (size_t i = 0; i < reader->n_refs; i++)
        for (size_t k = 0; k < writer->n_rows; k++)
            if (sees(&reader->refs[i], &writer->rows[k]))
                tables |= 1u << reader->refs[i].table;
    return tables;
}

uint32_t lb_footprint_apart(const struct lb_footprint *a, const struct lb_footprint *b,
                            uint32_t common)
{
    uint32_t together = seen(a, b) | seen(b, a);
    for (size_t i = 0; i < a->n_rows; i++)
        for (size_t k = 0; k < b->n_rows; k++)
            if (a->rows[i].table == b->rows[k].table && a->rows[i].key == b->rows[k].key)
                together |= 1u << a->rows[i].table;
    return common & ~together;
}

/* --- words --- */

/* The next word outside of literals and comments; false at the end. */
static bool next_word(const char **at, struct word *ret)
{
    const char *p = *at;
    while (*p != '\0' && !is_word_char(*p)) {
        if (*p == '\'') {
            for (p++; *p != '\0' && *p != '\''; p++)
                ;
            p += *p != '\0';
        } else if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p, "*/");
            p = end != NULL ? end + 2 : p + strlen(p);
        } else {
            p++;
        }
    }
    ret->text = p;
    while (is_word_char(*p))
        p++;
    ret->length = (size_t)(p - ret->text);
    *at = p;
    p += strspn(p, " \t\r\n");
    ret->is_call = *p == '(';
    return ret->length > 0;
}

static bool is(const struct word *word, const char *text)
{
    return strlen(text) == word->length && strncasecmp(word->text, text, word->length) == 0;
}

static bool is_one_of(const struct word *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (is(word, *list))
            return true;
    return false;
}

static bool begins_with(const struct word *word, const char *prefix)
{
    return word->length >= strlen(prefix) && strncasecmp(word->text, prefix, strlen(prefix)) == 0;
}

static bool contains(const struct word *word, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= word->length; i++)
        if (strncasecmp(word->text + i, part, n) == 0)
            return true;
    return false;
}

static bool is_advisory(const struct word *word)
{
    return begins_with(word, "pg_advisory") || begins_with(word, "pg_try_advisory") ||
           is(word, "get_lock") || is(word, "release_lock") || is(word, "release_all_locks");
}

/* Words that an opening parenthesis may follow without any effect on the database. */
static const char *const harmless[] = {"and",
                                       "or",
                                       "not",
                                       "in",
                                       "as",
                                       "on",
                                       "values",
                                       "exists",
                                       "any",
                                       "all",
                                       "some",
                                       "over",
                                       "filter",
                                       "using",
                                       "materialized",
                                       "then",
                                       "else",
                                       "when",
                                       "case",
                                       "select",
                                       "where",
                                       "from",
                                       "with",
                                       "returning",
                                       "set",
                                       "by",
                                       "limit",
                                       "offset",
                                       "union",
                                       "except",
                                       "key",
                                       "conflict",
                                       "distinct",
                                       "count",
                                       "sum",
                                       "min",
                                       "max",
                                       "avg",
                                       "coalesce",
                                       "nullif",
                                       "greatest",
                                       "least",
                                       "abs",
                                       "mod",
                                       "floor",
                                       "ceil",
                                       "round",
                                       "lower",
                                       "upper",
                                       "length",
                                       "cast",
                                       "extract",
                                       "interval",
                                       "array",
                                       "row",
                                       "row_number",
                                       "rank",
                                       "date_part",
                                       "now",
                                       "clock_timestamp",
                                       "statement_timestamp",
                                       "transaction_timestamp",
                                       "make_interval",
                                       "to_timestamp",
                                       "current_timestamp",
                                       "sysdate",
                                       "unix_timestamp",
                                       "utc_timestamp",
                                       "from_unixtime",
                                       "timestampdiff",
                                       "timestampadd",
                                       "date_add",
                                       "date_sub",
                                       "strftime",
                                       "julianday",
                                       "unixepoch",
                                       "datetime",
                                       "date",
                                       "time",
                                       "ifnull",
                                       "iif",
                                       "if",
                                       "concat",
                                       "substr",
                                       "substring",
                                       "hashtext",
                                       "cardinality",
                                       "array_agg",
                                       "unnest",
                                       "numeric",
                                       "varchar",
                                       "char",
                                       "decimal",
                                       "first_value",
                                       "changes",
                                       "timestamp",
                                       "last_insert_id",
                                       "generate_series",
                                       "currval",
                                       "join",
                                       "default",
                                       "check",
                                       "merge_action",
                                       NULL};

static const char *const strong[] = {"lock",   "truncate", "alter",   "create", "drop",
                                     "vacuum", "cluster",  "reindex", NULL};

/* What other statements begin with does not say what they touch: EXECUTE, FETCH, CALL, DO. */
static const char *const known[] = {"select", "with",  "values",  "insert",  "update",
                                    "delete", "merge", "replace", "declare", NULL};

/* Two that store the time tell by it which of them came first, wherever they store it. */
static const char *const clocks[] = {"now",
                                     "clock_timestamp",
                                     "statement_timestamp",
                                     "transaction_timestamp",
                                     "current_timestamp",
                                     "localtimestamp",
                                     "current_time",
                                     "current_date",
                                     "localtime",
                                     "sysdate",
                                     "unix_timestamp",
                                     "utc_timestamp",
                                     "julianday",
                                     "unixepoch",
                                     "strftime",
                                     "datetime",
                                     NULL};

/* ... or draw a number or the time by a default of a column. */
static const char *const inserting[] = {"insert", "merge", "replace", NULL};

static const char *const writing[] = {"insert",  "update", "delete", "merge",
                                      "replace", "share",  NULL};

/* Can its words be told from its texts? Not where a quote may stand for itself: behind a backslash,
 * in a quoted name, between dollars. */
static bool is_readable(const char *sql)
{
    for (const char *p = sql; *p != '\0'; p++) {
        if (*p == '$' && !isdigit((unsigned char)p[1]))
            return false;
        if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n") - 1;
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p, "*/");
            p = end != NULL ? end + 1 : p + strlen(p) - 1;
        } else if (*p == '\'' || *p == '"' || *p == '`') {
            char quote = *p++;
            for (; *p != '\0' && *p != quote; p++)
                if (*p == '\\' || *p == '\'')
                    return false;
            if (*p == '\0')
                return false;
        }
    }
    return true;
}

/* LOCK TABLE of one table, in a mode that conflicts with itself: they all conflict with each other.
 * PostgreSQL 15, 13.3.1, table 13.2. */
static bool is_lock_of_one_table(const struct lb_tables *tables, const char *sql)
{
    struct word word, before = {"", 0, false};
    size_t n_words = 0, n_tables = 0;
    bool is_alone = true, is_shared = true, has_mode = false;
    for (const char *at = sql; next_word(&at, &word); before = word) {
        for (size_t i = 0; i < tables->n; i++)
            if (is(&word, tables->name[i])) /* what is tied to it is not locked with it */
                n_tables += (tables->group[i] & (tables->group[i] - 1)) == 0 ? 1 : 2;
        if (n_words++ == 0 && !is(&word, "lock"))
            return false;
        is_alone = is_alone && !is(&word, "nowait");
        has_mode = has_mode || is(&word, "in");
        if (is(&word, "exclusive"))
            is_shared = false;
        /* ROW EXCLUSIVE, and not SHARE ROW EXCLUSIVE */
        if (is(&word, "row") && !is(&before, "share"))
            is_alone = false;
    }
    return n_tables == 1 && is_alone && !(has_mode && is_shared) && !tables->scans_lock &&
           strchr(sql, ',') == NULL && strchr(sql, ';') == NULL;
}

/* What the words of a statement have said so far. */
struct seen {
    struct lb_footprint touched;
    bool writes, draws, inserts, is_strong, unknown;
};

/* No transaction keeps the number, or takes it back. */
static void take_draw(struct lb_footprint *touched)
{
    touched->writes |= LB_BIT_SEQUENCES;
    touched->commits |= LB_BIT_SEQUENCES;
}

static void take_call(const struct word *word, const struct word *before, struct seen *seen)
{
    struct lb_footprint *touched = &seen->touched;
    if (is_advisory(word)) {
        touched->writes |= LB_BIT_ADVISORY;
        /* Locks of a session come and go by calls, those of a transaction go with it. */
        if (!contains(word, "xact"))
            touched->commits |= LB_BIT_ADVISORY;
    } else if (is(word, "nextval")) {
        take_draw(touched);
    } else if (is(word, "pg_notify") || is(word, "pg_current_xact_id")) {
        touched->writes |= LB_BIT_SEQUENCES; /* sent with the commit, in its order */
    } else if (!is_one_of(word, harmless) && !is(before, "into") && !is(before, "as") &&
               !is(before, "with") && !is(before, "recursive")) {
        seen->unknown = true;
    }
}

static void take_word(const struct lb_tables *tables, const struct word *word,
                      const struct word *before, bool first, struct seen *seen)
{
    bool is_table = false;
    for (size_t i = 0; i < tables->n; i++)
        if (is(word, tables->name[i])) {
            seen->touched.reads |= tables->group[i];
            is_table = true;
        }
    /* Beside the tables: catalogues, and the state of a sequence. */
    seen->unknown |= is(word, "last_value") || begins_with(word, "information_schema") ||
                     (begins_with(word, "pg_") && !word->is_call);
    seen->writes |= first && !is(word, "select") && !is(word, "with") && !is(word, "values");
    seen->writes |= is_one_of(word, writing);
    seen->draws |= is_one_of(word, clocks) || is_one_of(word, inserting);
    seen->inserts |= is_one_of(word, inserting);
    seen->unknown |= first && !is_one_of(word, known) && !is_one_of(word, strong);
    /* LOCK IN SHARE MODE is taken for LOCK TABLE: one more thing that does not commute. */
    seen->is_strong |= is_one_of(word, strong) && (first || is(word, "lock"));
    if (is(word, "value") && is(before, "next")) /* ... FOR a sequence */
        take_draw(&seen->touched);
    if (word->is_call && !is_table && !isdigit((unsigned char)word->text[0]))
        take_call(word, before, seen);
}

enum lb_statement_kind lb_footprint_of_sql(const struct lb_tables *tables, const char *sql,
                                           struct lb_footprint *ret)
{
    struct word word, before = {"", 0, false};
    struct seen seen = {.unknown = tables->opaque || !is_readable(sql)};
    bool first = true;
    for (const char *at = sql; next_word(&at, &word); before = word, first = false)
        take_word(tables, &word, &before, first, &seen);
    struct lb_footprint touched = seen.touched;
    const bool writes = seen.writes, draws = seen.draws;
    if (seen.unknown) {
        *ret = (struct lb_footprint){
            .reads = LB_TOUCHES_ALL, .writes = LB_TOUCHES_ALL, .commits = LB_TOUCHES_ALL};
        return LB_WRITE;
    }
    bool is_plain = !writes && touched.writes == 0;
    if (tables->reads_lock) /* and who has to give way is told by all that was read */
        touched.reads |= LB_ALL_TABLES;
    if (writes || tables->reads_lock)
        touched.writes |= touched.reads;
    if (seen.inserts && (touched.reads & tables->numbered) != 0) { /* as nextval() does */
        touched.numbers = (touched.commits & LB_BIT_SEQUENCES) == 0;
        touched.writes |= LB_BIT_SEQUENCES;
        touched.commits |= LB_BIT_SEQUENCES;
    }
    bool is_explicit = (touched.writes & LB_BIT_SEQUENCES) != 0;
    if (writes && draws)
        touched.writes |= LB_BIT_SEQUENCES;
    touched.draws = writes && draws && !is_explicit;
    if (seen.is_strong)
        touched.commits |= touched.reads;
    if (seen.is_strong && tables->scans_lock)
        touched.reads |= LB_BIT_ADVISORY; /* LOCK TABLES is the session's: no transaction ends it */
    if (!is_plain && tables->one_writer)
        touched.writes |= LB_BIT_WRITER;
    /* Where reads are watched every statement counts as touching every table: no telling which. */
    touched.queues = !tables->reads_lock && is_lock_of_one_table(tables, sql);
    *ret = touched;
    return is_plain ? LB_PLAIN_READ : LB_WRITE;
}

bool lb_footprint_reads_clock(const char *sql, const char *const *moved, char *buf, size_t size)
{
    struct word word;
    const char *start = sql;
    while (next_word(&sql, &word)) {
        /* :now is the worker's own clock, which moves with the steps. */
        bool is_parameter = word.text > start && word.text[-1] == ':';
        if (!is_parameter && is_one_of(&word, clocks) && !is_one_of(&word, moved)) {
            snprintf(buf, size, "%.*s", (int)word.length, word.text);
            return true;
        }
    }
    return false;
}

bool lb_footprint_is_word(const char *name)
{
    while (is_word_char(*name))
        name++;
    return *name == '\0';
}

bool lb_footprint_locks_aside(const char *sql)
{
    struct word word;
    size_t n_selects = 0, n_locking = 0;
    bool is_select = false, first = true;
    for (const char *at = sql; next_word(&at, &word); first = false) {
        is_select = is_select || (first && is(&word, "select"));
        n_selects += is(&word, "select") || is(&word, "offset");
        n_locking += is(&word, "for");
    }
    return n_locking > 0 && (!is_select || n_selects > 1);
}

bool lb_footprint_skips_locks(const char *sql)
{
    static const char *const words[] = {"nowait", "skip", "get_lock", "wait", NULL};
    struct word word;
    for (const char *at = sql; next_word(&at, &word);)
        if (is_one_of(&word, words) || begins_with(&word, "pg_try_advisory"))
            return true;
    return false;
}
