/* What a statement's text says that it may touch.
 *
 * Words and quoted names are compared with the names of the space's tables; nothing is parsed. A
 * word that happens to be a table's name costs schedules, never a finding. A statement touches
 * everything if its words cannot tell (functions that are not known to be harmless, views,
 * triggers), and if the lexer does not understand it.
 */
#include "footprint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

size_t lb_tables_find(const struct lb_tables *tables, const char *name)
{
    size_t i = 0;
    while (i < tables->n && strcmp(tables->name[i], name) != 0)
        i++;
    return i;
}

static bool begins_with(const struct lb_token *word, const char *prefix)
{
    const char *name;
    size_t length;
    lb_token_name(word, &name, &length);
    return length >= strlen(prefix) && strncasecmp(name, prefix, strlen(prefix)) == 0;
}

static bool contains(const struct lb_token *word, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= word->length; i++)
        if (strncasecmp(word->text + i, part, n) == 0)
            return true;
    return false;
}

static bool is_advisory(const struct lb_token *word)
{
    return begins_with(word, "pg_advisory") || begins_with(word, "pg_try_advisory") ||
           lb_token_is(word, "get_lock") || lb_token_is(word, "release_lock") ||
           lb_token_is(word, "release_all_locks");
}

/* An opening parenthesis after these words has no effect on the database. */
static const char *const syntax[] = {
    "and",      "or",   "not",     "in",     "as",     "on",     "values",       "exists",
    "any",      "all",  "some",    "over",   "filter", "using",  "materialized", "then",
    "else",     "when", "case",    "select", "where",  "from",   "with",         "returning",
    "set",      "by",   "limit",   "offset", "union",  "except", "key",          "conflict",
    "distinct", "join", "default", "check",  NULL};
static const char *const types[] = {"numeric", "varchar", "char", "decimal",   "interval", "array",
                                    "row",     "date",    "time", "timestamp", NULL};
static const char *const of_values[] = {
    "count",  "sum",      "min",       "max",         "avg",    "abs",    "mod",
    "floor",  "ceil",     "round",     "lower",       "upper",  "length", "cast",
    "concat", "substr",   "substring", "coalesce",    "nullif", "ifnull", "iif",
    "if",     "greatest", "least",     "cardinality", "unnest", NULL};
static const char *const of_rows[] = {
    "row_number", "rank",           "hashtext",        "array_agg", "first_value",
    "changes",    "last_insert_id", "generate_series", "currval",   "merge_action",
    NULL};
static const char *const of_times[] = {
    "date_part",     "extract",      "make_interval", "to_timestamp", "from_unixtime",
    "timestampdiff", "timestampadd", "date_add",      "date_sub",     NULL};

/* Two that store the time tell by it which of them came first, wherever they store it. */
static const char *const clocks[] = {"now",
                                     "clock_timestamp",
                                     "statement_timestamp",
                                     "transaction_timestamp",
                                     "current_timestamp",
                                     "sysdate",
                                     "unix_timestamp",
                                     "utc_timestamp",
                                     "julianday",
                                     "unixepoch",
                                     "strftime",
                                     "datetime",
                                     NULL};
static const char *const clock_words[] = {"localtimestamp", "current_time", "current_date",
                                          "localtime", NULL};

static bool is_clock(const struct lb_token *word)
{
    return lb_token_is_any(word, clocks) || lb_token_is_any(word, clock_words);
}

static bool is_harmless(const struct lb_token *word)
{
    static const char *const *const lists[] = {syntax, types, of_values, of_rows, of_times, clocks};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (lb_token_is_any(word, lists[i]))
            return true;
    return false;
}

static const char *const strong[] = {"lock",   "truncate", "alter",   "create", "drop",
                                     "vacuum", "cluster",  "reindex", NULL};

/* The first word of other statements does not show which tables they touch: EXECUTE, FETCH, CALL,
 * DO. */
static const char *const known[] = {"select", "with",  "values",  "insert",  "update",
                                    "delete", "merge", "replace", "declare", NULL};

/* These may draw a number or the time by a default of a column. */
static const char *const inserting[] = {"insert", "merge", "replace", NULL};

static const char *const writing[] = {"insert",  "update", "delete", "merge",
                                      "replace", "share",  NULL};

/* LOCK TABLE of one table, in a mode that conflicts with itself: they all conflict with each other.
 * PostgreSQL 15, 13.3.1, table 13.2. */
static bool is_lock_of_one_table(const struct lb_tables *tables, const struct lb_tokens *tokens)
{
    size_t n_tables = 0;
    bool is_alone = tokens->n > 0 && lb_token_is(&tokens->at[0], "lock");
    bool is_shared = true, has_mode = false;
    for (size_t w = 0; w < tokens->n && is_alone; w++) {
        const struct lb_token *word = &tokens->at[w];
        for (size_t i = 0; i < tables->n; i++)
            if (lb_token_names(word, tables->name[i])) /* tables tied to it stay unlocked */
                n_tables += (tables->group[i] & (tables->group[i] - 1)) == 0 ? 1 : 2;
        has_mode = has_mode || lb_token_is(word, "in");
        is_shared = is_shared && !lb_token_is(word, "exclusive");
        /* ROW EXCLUSIVE, and not SHARE ROW EXCLUSIVE */
        bool is_row = lb_token_is(word, "row") && !lb_token_is(word - 1, "share");
        is_alone = !lb_token_is(word, "nowait") && !is_row && !lb_token_is_sign(word, ",") &&
                   !lb_token_is_sign(word, ";");
    }
    return n_tables == 1 && is_alone && !(has_mode && is_shared) && !tables->scans_lock;
}

/* The facts found in a statement's words so far. */
struct seen {
    struct lb_footprint touched;
    bool has_begun, writes, draws, inserts, is_strong, is_lock, unknown;
};

/* No transaction keeps the number, or takes it back. */
static void take_draw(struct lb_footprint *touched)
{
    touched->writes |= LB_BIT_SEQUENCES;
    touched->commits |= LB_BIT_SEQUENCES;
}

static void take_call(const struct lb_token *word, const struct lb_token *before, struct seen *seen)
{
    static const char *const makes_name[] = {"into", "as", "with", "recursive", NULL};
    struct lb_footprint *touched = &seen->touched;
    if (is_advisory(word)) {
        touched->writes |= LB_BIT_ADVISORY;
        /* Session locks are taken and released by calls, those of a transaction end with it. */
        if (!contains(word, "xact"))
            touched->commits |= LB_BIT_ADVISORY;
    } else if (lb_token_is(word, "nextval")) {
        take_draw(touched);
    } else if (lb_token_is(word, "pg_notify") || lb_token_is(word, "pg_current_xact_id")) {
        touched->writes |= LB_BIT_SEQUENCES; /* sent with the commit, in its order */
    } else if (!is_harmless(word) && !lb_token_is_any(before, makes_name)) {
        seen->unknown = true;
    }
}

/* A word or a quoted name; what follows `before` and precedes `behind`. */
static void take_word(const struct lb_tables *tables, const struct lb_token *word,
                      const struct lb_token *before, const struct lb_token *behind,
                      struct seen *seen)
{
    bool is_table = false, is_call = lb_token_is_sign(behind, "("), first = !seen->has_begun;
    seen->has_begun = true;
    for (size_t i = 0; i < tables->n; i++)
        if (lb_token_names(word, tables->name[i])) {
            seen->touched.reads |= tables->group[i];
            is_table = true;
        }
    /* Beside the tables: catalogues, and the state of a sequence. */
    seen->unknown |= lb_token_names(word, "last_value") ||
                     begins_with(word, "information_schema") ||
                     (begins_with(word, "pg_") && !is_call);
    seen->writes |= first && !lb_token_is(word, "select") && !lb_token_is(word, "with") &&
                    !lb_token_is(word, "values");
    seen->writes |= lb_token_is_any(word, writing);
    seen->draws |= is_clock(word) || lb_token_is_any(word, inserting);
    seen->inserts |= lb_token_is_any(word, inserting);
    seen->unknown |= first && !lb_token_is_any(word, known) && !lb_token_is_any(word, strong);
    /* LOCK IN SHARE MODE is taken for LOCK TABLE: one more thing that does not commute. */
    seen->is_strong |= lb_token_is_any(word, strong) && (first || lb_token_is(word, "lock"));
    if (lb_token_is(word, "value") && lb_token_is(before, "next")) /* ... FOR a sequence */
        take_draw(&seen->touched);
    if (is_call && !is_table)
        take_call(word, before, seen);
}

static void take_token(const struct lb_tables *tables, const struct lb_tokens *tokens, size_t i,
                       struct seen *seen)
{
    static const struct lb_token none = {.text = ""};
    const struct lb_token *token = &tokens->at[i];
    if (token->kind == LB_T_WORD || (token->kind == LB_T_QUOTED && token->is_name)) {
        take_word(tables, token, i > 0 ? token - 1 : &none, token + 1, seen);
    } else if (token->kind == LB_T_PARAM) { /* :now */
        struct lb_token bare = *token;
        lb_token_name(token, &bare.text, &bare.length);
        bare.kind = LB_T_WORD;
        seen->draws |= is_clock(&bare);
    }
}

/* Makes a footprint of what the tokens said. */
static enum lb_statement_kind conclude(const struct lb_tables *tables, const struct seen *seen,
                                       struct lb_footprint *ret)
{
    struct lb_footprint touched = seen->touched;
    const bool writes = seen->writes, draws = seen->draws;
    if (seen->unknown) {
        *ret = (struct lb_footprint){
            .reads = LB_TOUCHES_ALL, .writes = LB_TOUCHES_ALL, .commits = LB_TOUCHES_ALL};
        return LB_WRITE;
    }
    bool is_plain = !writes && touched.writes == 0;
    if (tables->reads_lock) /* and the choice of the victim depends on all reads */
        touched.reads |= LB_ALL_TABLES;
    if (writes || tables->reads_lock)
        touched.writes |= touched.reads;
    if (seen->inserts && (touched.reads & tables->numbered) != 0) { /* as nextval() does */
        touched.numbers = (touched.commits & LB_BIT_SEQUENCES) == 0;
        touched.writes |= LB_BIT_SEQUENCES;
        touched.commits |= LB_BIT_SEQUENCES;
    }
    bool is_explicit = (touched.writes & LB_BIT_SEQUENCES) != 0;
    if (writes && draws)
        touched.writes |= LB_BIT_SEQUENCES;
    touched.draws = writes && draws && !is_explicit;
    if (seen->is_strong)
        touched.commits |= touched.reads;
    if (seen->is_strong && tables->scans_lock)
        touched.reads |= LB_BIT_ADVISORY; /* LOCK TABLES is the session's: no transaction ends it */
    if (!is_plain && tables->one_writer)
        touched.writes |= LB_BIT_WRITER;
    /* Where reads are watched every statement counts as touching every table: no telling which. */
    touched.queues = !tables->reads_lock && seen->is_lock;
    *ret = touched;
    return is_plain ? LB_PLAIN_READ : LB_WRITE;
}

enum lb_statement_kind lb_footprint_of_sql(const struct lb_tables *tables, const char *sql,
                                           struct lb_footprint *ret)
{
    struct lb_tokens tokens;
    struct seen seen = {.unknown = tables->opaque};
    lb_tokens_read(&tokens, sql, tables->dialect);
    seen.unknown |= !tokens.is_understood;
    for (size_t i = 0; i < tokens.n; i++)
        take_token(tables, &tokens, i, &seen);
    seen.is_lock = is_lock_of_one_table(tables, &tokens);
    lb_tokens_free(&tokens);
    return conclude(tables, &seen, ret);
}

bool lb_footprint_reads_clock(const struct lb_tables *tables, const char *sql,
                              const char *const *moved, char *buf, size_t size)
{
    struct lb_tokens tokens;
    bool reads = false;
    lb_tokens_read(&tokens, sql, tables->dialect);
    for (size_t i = 0; i < tokens.n && !reads; i++) {
        const struct lb_token *word = &tokens.at[i];
        bool is_servers = i > 1 && lb_token_is_sign(word - 1, ".") &&
                          lb_token_is(word - 2, "pg_catalog"); /* not the space's function */
        reads = is_clock(word) && (is_servers || !lb_token_is_any(word, moved));
        if (reads)
            snprintf(buf, size, "%.*s", (int)word->length, word->text);
    }
    if (!tokens.is_understood && !reads)
        snprintf(buf, size, "a text that lockbench does not understand");
    reads = reads || !tokens.is_understood;
    lb_tokens_free(&tokens);
    return reads;
}

bool lb_footprint_is_word(const char *name)
{
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

bool lb_footprint_locks_its_rows(const struct lb_tables *tables, const char *sql)
{
    struct lb_tokens tokens;
    size_t n_selects = 0, n_locking = 0;
    lb_tokens_read(&tokens, sql, tables->dialect);
    bool is_select = tokens.n > 0 && lb_token_is(&tokens.at[0], "select");
    bool is_change = tokens.n > 0 &&
                     (lb_token_is(&tokens.at[0], "update") || lb_token_is(&tokens.at[0], "delete"));
    for (size_t i = 0; i < tokens.n; i++) {
        n_selects += lb_token_is(&tokens.at[i], "select") || lb_token_is(&tokens.at[i], "offset");
        n_locking += lb_token_is(&tokens.at[i], "for");
    }
    bool is_understood = tokens.is_understood;
    lb_tokens_free(&tokens);
    return is_understood && (is_select || is_change) &&
           (n_locking == 0 || (is_select && n_selects == 1));
}

/* Has the statement one of the words, or one that begins with `prefix`? True also if it is not
 * understood. */
static bool has_any(const struct lb_tables *tables, const char *sql, const char *const *words,
                    const char *prefix)
{
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, sql, tables->dialect);
    bool has = !tokens.is_understood;
    for (size_t i = 0; i < tokens.n && !has; i++)
        has = lb_token_is_any(&tokens.at[i], words) ||
              (prefix != NULL && begins_with(&tokens.at[i], prefix));
    lb_tokens_free(&tokens);
    return has;
}

bool lb_footprint_inserts(const struct lb_tables *tables, const char *sql)
{
    return has_any(tables, sql, inserting, NULL);
}

bool lb_footprint_looks_at_keys(const struct lb_tables *tables, const char *sql)
{
    static const char *const words[] = {"conflict", "replace", "duplicate", "ignore", NULL};
    return has_any(tables, sql, words, NULL);
}

bool lb_footprint_skips_rows(const struct lb_tables *tables, const char *sql)
{
    static const char *const words[] = {
        "nowait", "skip", "wait", "lock_timeout", "lock_wait_timeout", "innodb_lock_wait_timeout",
        NULL};
    return lb_sql_has_any(sql, tables->dialect, words);
}

/* The place of the parenthesis that ends the arguments of the call at `call`; n: there is none. */
static size_t end_of_call(const struct lb_tokens *tokens, size_t call)
{
    size_t depth = 0;
    for (size_t i = call + 1; i < tokens->n && lb_token_is_sign(&tokens->at[call + 1], "("); i++) {
        depth += lb_token_is_sign(&tokens->at[i], "(");
        depth -= lb_token_is_sign(&tokens->at[i], ")");
        if (depth == 0)
            return i;
    }
    return tokens->n;
}

/* GET_LOCK with a limit that is longer than any move of an exploration: it waits. */
static bool waits_in_call(const struct lb_tokens *tokens, size_t call)
{
    enum { LONG_S = 5 };
    size_t end = end_of_call(tokens, call);
    return end < tokens->n && end > call + 3 && lb_token_is_sign(&tokens->at[end - 2], ",") &&
           lb_token_is_number(&tokens->at[end - 1]) &&
           strtod(tokens->at[end - 1].text, NULL) >= LONG_S;
}

bool lb_footprint_skips_locks(const struct lb_tables *tables, const char *sql)
{
    struct lb_tokens tokens;
    bool skips = lb_footprint_skips_rows(tables, sql);
    lb_tokens_read(&tokens, sql, tables->dialect);
    for (size_t i = 0; i < tokens.n && !skips; i++)
        skips = begins_with(&tokens.at[i], "pg_try_advisory") ||
                (lb_token_is(&tokens.at[i], "get_lock") && !waits_in_call(&tokens, i));
    lb_tokens_free(&tokens);
    return skips;
}

enum lb_user_lock lb_footprint_user_lock(const struct lb_tables *tables, const char *sql)
{
    struct lb_tokens tokens;
    size_t n_calls = 0;
    enum lb_user_lock lock = LB_USER_LOCK_UNTOLD;
    lb_tokens_read(&tokens, sql, tables->dialect);
    for (size_t i = 0; i < tokens.n; i++)
        n_calls += is_advisory(&tokens.at[i]);
    if (n_calls == 1 && lb_token_is(&tokens.at[0], "select") && is_advisory(&tokens.at[1])) {
        size_t end = end_of_call(&tokens, 1) + 1;
        bool is_all =
            end == tokens.n || (end + 2 == tokens.n && lb_token_is(&tokens.at[end], "as"));
        if (is_all && lb_token_is(&tokens.at[1], "get_lock"))
            lock = LB_USER_LOCK_TAKEN;
        else if (is_all && lb_token_is(&tokens.at[1], "release_lock"))
            lock = LB_USER_LOCK_RELEASED;
    }
    if (n_calls == 0 && tokens.is_understood)
        lock = LB_USER_LOCK_NONE;
    lb_tokens_free(&tokens);
    return lock;
}
