/* What a statement's text says that it may touch.
 *
 * Words are compared with the names of the space's tables; nothing is parsed. A word that happens
 * to be a table's name costs schedules, never a finding. What the words cannot tell (functions that
 * are not known to be harmless, views, triggers) is taken to touch everything.
 */
#include "footprint.h"

#include <ctype.h>
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
                                       "pg_current_xact_id",
                                       NULL};

static const char *const strong[] = {"lock",   "truncate", "alter",   "create", "drop",
                                     "vacuum", "cluster",  "reindex", NULL};

/* What other statements begin with does not say what they touch: EXECUTE, FETCH, CALL, DO. */
static const char *const known[] = {"select", "with",  "values",  "insert",  "update",
                                    "delete", "merge", "replace", "declare", NULL};

static const char *const writing[] = {"insert",  "update", "delete", "merge",
                                      "replace", "share",  NULL};

/* LOCK TABLE of one table, in a mode that conflicts with itself: they all conflict with each other.
 * PostgreSQL 15, 13.3.1, table 13.2. */
static bool is_lock_of_one_table(const struct lb_tables *tables, const char *sql)
{
    struct word word, before = {"", 0, false};
    size_t n_words = 0, n_tables = 0;
    bool is_alone = true, is_shared = true, has_mode = false;
    for (const char *at = sql; next_word(&at, &word); before = word) {
        for (size_t i = 0; i < tables->n; i++)
            n_tables += is(&word, tables->name[i]);
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

enum lb_statement_kind lb_footprint_of_sql(const struct lb_tables *tables, const char *sql,
                                           struct lb_footprint *ret)
{
    struct word word, before = {"", 0, false};
    struct lb_footprint touched = {0};
    bool writes = false, is_strong = false, unknown = tables->opaque, first = true;
    for (const char *at = sql; next_word(&at, &word); before = word, first = false) {
        bool is_table = false;
        for (size_t i = 0; i < tables->n; i++)
            if (is(&word, tables->name[i])) {
                touched.reads |= tables->group[i];
                is_table = true;
            }
        /* Beside the tables: catalogues, and the state of a sequence. */
        unknown = unknown || is(&word, "last_value") || begins_with(&word, "information_schema") ||
                  (begins_with(&word, "pg_") && !word.is_call);
        if (first && !is(&word, "select") && !is(&word, "with") && !is(&word, "values"))
            writes = true;
        writes = writes || is_one_of(&word, writing);
        unknown = unknown || (first && !is_one_of(&word, known) && !is_one_of(&word, strong));
        /* LOCK IN SHARE MODE is taken for LOCK TABLE: one more thing that does not commute. */
        is_strong = is_strong || (is_one_of(&word, strong) && (first || is(&word, "lock")));
        if (!word.is_call || is_table || isdigit((unsigned char)word.text[0]))
            continue;
        if (is_advisory(&word)) {
            touched.writes |= LB_BIT_ADVISORY;
            /* Locks of a session come and go by calls, those of a transaction go with it. */
            if (!contains(&word, "xact"))
                touched.commits |= LB_BIT_ADVISORY;
        } else if (is(&word, "nextval")) {
            touched.writes |= LB_BIT_SEQUENCES; /* no transaction keeps it, or takes it back */
            touched.commits |= LB_BIT_SEQUENCES;
        } else if (is(&word, "pg_notify")) {
            touched.writes |= LB_BIT_SEQUENCES; /* sent with the commit, in its order */
        } else if (!is_one_of(&word, harmless) && !is(&before, "into") && !is(&before, "as") &&
                   !is(&before, "with") && !is(&before, "recursive")) {
            unknown = true;
        }
    }
    if (unknown) {
        *ret = (struct lb_footprint){
            .reads = LB_TOUCHES_ALL, .writes = LB_TOUCHES_ALL, .commits = LB_TOUCHES_ALL};
        return LB_WRITE;
    }
    bool is_plain = !writes && touched.writes == 0;
    if (writes || tables->reads_lock)
        touched.writes |= touched.reads;
    if (is_strong)
        touched.commits |= touched.reads;
    if (is_strong && tables->scans_lock)
        touched.reads |= LB_BIT_ADVISORY; /* LOCK TABLES is the session's: no transaction ends it */
    if (!is_plain && tables->one_writer)
        touched.writes |= LB_BIT_WRITER;
    touched.queues = is_lock_of_one_table(tables, sql);
    *ret = touched;
    return is_plain ? LB_PLAIN_READ : LB_WRITE;
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
