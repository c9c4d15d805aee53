/* Are workers interchangeable? They are if their names are only stored, returned and compared for
 * equality (a scalarset: Ip and Dill 1996, "Better Verification Through Symmetry"): then renaming
 * them turns each schedule into another one with the same answers.
 *
 * The names are followed through the statements' words: from :worker and :process into the columns
 * that are set to it or compared with it, and on from those. Where one of them is ordered,
 * calculated with, part of a key or of an index, or where the words are not understood, workers are
 * not taken to be alike. That costs schedules.
 */
#include "testbed.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAMES = 16, MOST_LENGTH = 64 };

struct names {
    char column[MAX_NAMES][MOST_LENGTH]; /* that may hold a worker's name */
    size_t n;
    bool has_grown, fails;
};

/* The parameters that differ from worker to worker. */
static bool is_of_worker(const struct lb_token *token, const char *name, size_t length)
{
    return token->kind == LB_T_PARAM && ((length == 6 && strncasecmp(name, "worker", 6) == 0) ||
                                         (length == 7 && strncasecmp(name, "process", 7) == 0));
}

/* A word, a parameter or a quoted name. Columns become parameters: ":owner" and "owner" are the
 * same. */
static bool is_word(const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    return length > 0;
}

static bool is_name(const struct names *names, const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    bool is = is_of_worker(token, name, length);
    for (size_t i = 0; i < names->n && !is; i++)
        is = length == strlen(names->column[i]) && strncasecmp(names->column[i], name, length) == 0;
    return is;
}

static void add(struct names *names, const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    if (length == 0 || length >= MOST_LENGTH || names->n == MAX_NAMES) {
        names->fails = true;
    } else if (!is_name(names, token)) {
        memcpy(names->column[names->n], name, length);
        names->column[names->n++][length] = '\0';
        names->has_grown = true;
    }
}

/* --- one statement --- */

/* One of these words or signs. */
static bool is_any(const struct lb_token *token, const char *const *list)
{
    for (; *list != NULL; list++)
        if (lb_token_is(token, *list) || lb_token_is_sign(token, *list))
            return true;
    return false;
}

static const char *const equalities[] = {"=", "<>", "!=", NULL};

/* The word before the parenthesis that encloses token i; NULL: none does. */
static const struct lb_token *encloser(const struct lb_token *tokens, size_t i)
{
    static const struct lb_token nothing = {.text = ""};
    for (size_t depth = 0; i-- > 0;) {
        depth += lb_token_is_sign(&tokens[i], ")");
        if (lb_token_is_sign(&tokens[i], "(") && depth-- == 0)
            return i > 0 ? &tokens[i - 1] : &nothing;
    }
    return NULL;
}

/* The number of the list's item in which token i stands, counted from its start; *ret_start. */
static size_t place(const struct lb_token *tokens, size_t i, size_t *ret_start)
{
    size_t commas = 0;
    for (size_t depth = 0; i-- > 0;) {
        depth += lb_token_is_sign(&tokens[i], ")");
        if (depth == 0 &&
            (lb_token_is_sign(&tokens[i], "(") || lb_token_is(&tokens[i], "select"))) {
            *ret_start = i;
            return commas;
        }
        depth -= lb_token_is_sign(&tokens[i], "(") ? 1 : 0;
        commas += depth == 0 && lb_token_is_sign(&tokens[i], ",");
    }
    *ret_start = 0;
    return commas;
}

/* Does a subquery that returns a name, and whose SELECT is at i, leave it under the same name?
 * It does as WITH x AS (SELECT ...) and FROM (SELECT ...) AS x without a list of columns. IN and
 * EXISTS compare only. */
static bool keeps_names(const struct lb_token *tokens, size_t n, size_t i)
{
    static const char *const compares[] = {"in", "exists", NULL};
    static const char *const queries[] = {"from", "join", NULL};
    if (i < 2 || !lb_token_is_sign(&tokens[i - 1], "("))
        return true;
    const struct lb_token *word = &tokens[i - 2];
    while (word > tokens && (lb_token_is(word, "materialized") || lb_token_is(word, "not")))
        word--;
    if (lb_token_is(word, "as"))
        return word > tokens && !lb_token_is_sign(word - 1, ")"); /* "WITH x (a, b) AS (SELECT" */
    if (lb_token_is_any(word, compares))
        return true;
    size_t k = i, depth = 1;
    for (; k < n && depth > 0; k++)
        depth += lb_token_is_sign(&tokens[k], "(") ? 1 : -(size_t)lb_token_is_sign(&tokens[k], ")");
    k += k < n && lb_token_is(&tokens[k], "as");
    return lb_token_is_any(word, queries) && !(k + 1 < n && lb_token_is_sign(&tokens[k + 1], "("));
}

/* Finds the column for an inserted name at i: "INSERT INTO t (a, b) VALUES (x, y)", or SELECT x,
 * y. */
static void insert_at(struct names *names, const struct lb_token *tokens, size_t n, size_t i)
{
    size_t start, k, open, at = place(tokens, i, &start);
    bool is_select = lb_token_is(&tokens[start], "select");
    if (!is_select && (start == 0 || !lb_token_is(&tokens[start - 1], "values"))) {
        names->fails = true; /* of several rows, or something else */
        return;
    }
    size_t close = is_select ? start - 1 : start - 2; /* of the columns */
    bool is_named = is_select && !keeps_names(tokens, n, start);
    bool is_blind =
        start > 1 &&
        (lb_token_is(&tokens[start - 2], "into") || lb_token_is_sign(&tokens[start - 2], ".") ||
         lb_token_is(&tokens[start - 1], "union") || lb_token_is(&tokens[start - 1], "all"));
    if (is_named || is_blind) {
        names->fails = true;
        return;
    }
    if (start < 4 || !lb_token_is_sign(&tokens[close], ")")) {
        names->fails = names->fails || !is_select;
        return; /* another SELECT: its column keeps its name */
    }
    for (open = close; open > 0 && !lb_token_is_sign(&tokens[open], "("); open--)
        ;
    if (open < 3 ||
        !(lb_token_is(&tokens[open - 2], "into") || lb_token_is(&tokens[open - 1], "insert"))) {
        names->fails = !is_select;
        return;
    }
    for (k = open + 1; at > 0 && k < close; k++)
        at -= lb_token_is_sign(&tokens[k], ",");
    if (k < close && k < n)
        add(names, &tokens[k]);
    else
        names->fails = true;
}

/* Behind "::text" and "::varchar(9)", if they stand at i. */
static size_t behind_cast(const struct lb_token *tokens, size_t n, size_t i)
{
    while (i + 1 < n && lb_token_is_sign(&tokens[i], "::")) {
        i += 2;
        if (i + 2 < n && lb_token_is_sign(&tokens[i], "(") && lb_token_is_sign(&tokens[i + 2], ")"))
            i += 3;
    }
    return i;
}

/* Only a few tokens are allowed beside a name at i. */
static void look_at(struct names *names, const struct lb_token *tokens, size_t n, size_t i)
{
    static const struct lb_token none = {.kind = LB_T_SEMICOLON, .text = ";", .length = 1};
    static const char *const before[] = {",",   "(",     "select", "returning", ".",
                                         "and", "where", "or",     "on",        NULL},
                             *const behind[] = {",",       ")",         ";",    "as",     "from",
                                                "where",   "and",       "or",   "is",     "limit",
                                                "for",     "returning", "text", "end",    "on",
                                                "varchar", "order",     "when", "select", "union",
                                                "in",      "not",       NULL},
                             *const calls[] = {"values", "coalesce", "nullif", "cast",  "in",
                                               "exists", "and",      "or",     "where", "not",
                                               "as",     "=",        "<>",     "from",  "select",
                                               "any",    "array",    "on",     "when",  "then",
                                               "(",      NULL};
    const struct lb_token *left = i > 0 ? &tokens[i - 1] : &none;
    size_t next = behind_cast(tokens, n, i + 1);
    const struct lb_token *right = next < n ? &tokens[next] : &none;
    if (lb_token_is_sign(left, ".")) /* "item.owner" */
        left = i > 2 ? &tokens[i - 3] : &none;
    bool left_equals = is_any(left, equalities), right_equals = is_any(right, equalities);
    if (left_equals && i > 1)
        add(names, lb_token_is_sign(&tokens[i - 1], ".") ? left - 1 : &tokens[i - 2]);
    if (right_equals && next + 1 < n) {
        bool is_qualified = next + 3 < n && lb_token_is_sign(&tokens[next + 2], ".");
        const struct lb_token *other = &tokens[is_qualified ? next + 3 : next + 1];
        if (!lb_token_is(other, "null"))
            add(names, other);
    }
    const struct lb_token *outside = encloser(tokens, i);
    /* A list of columns: "INSERT INTO t (owner, ...)", "ON CONFLICT (owner)". */
    bool in_columns = outside != NULL && outside > tokens + 1 && lb_token_is(outside - 1, "into");
    if (!left_equals && !is_any(left, before) && !right_equals)
        names->fails = true;
    if (!right_equals && !is_any(right, behind))
        names->fails = true;
    if (outside != NULL && outside->length > 0 && !in_columns && !is_any(outside, calls))
        names->fails = true;
    bool is_any_of = outside != NULL && lb_token_is(outside, "any");
    if (is_any_of && (outside == tokens || !is_any(outside - 1, equalities)))
        names->fails = true;
    if (lb_token_is(right, "as") && next + 1 < n)
        add(names, &tokens[next + 1]);
    bool is_value =
        lb_token_is_sign(left, ",") || lb_token_is_sign(left, "(") || lb_token_is(left, "select");
    if (is_value && !left_equals && !right_equals && !in_columns && !lb_token_is(right, "is"))
        insert_at(names, tokens, n, i);
}

/* "owner varchar(64) NOT NULL UNIQUE": the words before i, to the beginning of the column. */
static bool is_of_named_column(const struct names *names, const struct lb_token *tokens, size_t i,
                               bool is_ddl)
{
    for (size_t depth = 0; i-- > 0;) {
        depth += is_ddl && lb_token_is_sign(&tokens[i], ")");
        if (depth == 0 && (lb_token_is_sign(&tokens[i], ",") || lb_token_is_sign(&tokens[i], "(")))
            return false;
        depth -= depth > 0 && lb_token_is_sign(&tokens[i], "(");
        if (depth == 0 && is_name(names, &tokens[i]))
            return true;
    }
    return false;
}

/* Where the columns of a key begin whose word stands at i: "UNIQUE (", "PRIMARY KEY (", "KEY name
 * ("; n: it is that of the column before it, or its own word tells (CREATE UNIQUE INDEX). */
static size_t columns_of_key(const struct lb_token *tokens, size_t n, size_t i, bool is_ddl)
{
    size_t from = i + 1;
    from += from < n && lb_token_is(&tokens[from], "key");
    if (from < n && lb_token_is(&tokens[from], "index"))
        return n;
    from += is_ddl && from + 1 < n && is_word(&tokens[from]) &&
            lb_token_is_sign(&tokens[from + 1], "(");
    return from < n && lb_token_is_sign(&tokens[from], "(") ? from : n;
}

/* SELECT DISTINCT, up to FROM; or ORDER BY 1, which may be any column that is returned. */
static bool sorts_result(const struct names *names, const struct lb_token *tokens, size_t n,
                         size_t i)
{
    static const char *const by[] = {"order", "group", "partition", NULL};
    size_t depth = 0;
    bool is_distinct = lb_token_is(&tokens[i], "distinct"), may_return = false;
    if (!is_distinct && !lb_token_is_any(&tokens[i], by))
        return false;
    for (size_t k = 0; k < n && !may_return; k++)
        may_return = is_name(names, &tokens[k]) || lb_token_is_sign(&tokens[k], "*");
    for (size_t k = i + 1; k < n && may_return && !lb_token_is(&tokens[k], "from"); k++) {
        if (lb_token_is_sign(&tokens[k], ")") && depth-- == 0)
            return false;
        depth += lb_token_is_sign(&tokens[k], "(");
        bool is_item = lb_token_is(&tokens[k - 1], "by") || lb_token_is_sign(&tokens[k - 1], ",");
        if (is_distinct ? is_name(names, &tokens[k])
                        : depth == 0 && is_item && lb_token_is_number(&tokens[k]))
            return true;
    }
    return false;
}

/* Ordered, grouped, or made a key or an index of: after these words, to the end of the list. */
static bool is_ordered(const struct names *names, const struct lb_token *tokens, size_t n)
{
    static const char *const lists[] = {"order",   "group",    "partition", "index", "unique",
                                        "primary", "conflict", "using",     "check", NULL},
                             *const keys[] = {"primary", "unique", "check", "key", NULL},
                             *const parts[] = {"primary", "unique", "foreign", NULL},
                             *const ends[] = {";", "limit", "for", "rows", "do", NULL};
    bool is_ddl = n > 0 && (lb_token_is(&tokens[0], "create") || lb_token_is(&tokens[0], "alter"));
    for (size_t i = 0; i < n; i++) {
        if (sorts_result(names, tokens, n, i))
            return true;
        bool is_computed = is_ddl && lb_token_is(&tokens[i], "as") && i + 1 < n;
        bool is_key =
            is_ddl && i > 0 && lb_token_is(&tokens[i], "key") && !is_any(&tokens[i - 1], parts);
        if (is_computed && lb_token_is(&tokens[i + 1], "identity"))
            continue;
        if (!is_key && !is_computed && !is_any(&tokens[i], lists))
            continue;
        size_t depth = 0, from = i + 1;
        from += is_computed && lb_token_is_sign(&tokens[from], "("); /* a column's expression */
        if (is_of_named_column(names, tokens, i, is_ddl))
            return true;
        if (is_any(&tokens[i], keys) && (from = columns_of_key(tokens, n, i, is_ddl)) == n)
            continue;
        for (size_t k = from; k < n && !is_any(&tokens[k], ends); k++) {
            depth += lb_token_is_sign(&tokens[k], "(");
            if (lb_token_is_sign(&tokens[k], ")") && (depth == 0 || (--depth == 0 && from > i + 1)))
                break;
            if (is_name(names, &tokens[k]))
                return true;
        }
    }
    return false;
}

/* A text that may be the name of a worker (w0) or of its process (p0), or the beginning of one. So
 * may be each text that is not written in plain quotes, and each number that is written as
 * characters: 0x7730. */
static bool names_one(const struct lb_token *token, bool is_first)
{
    bool is_hex = token->kind == LB_T_OTHER && token->length > 2 && token->text[0] == '0' &&
                  (token->text[1] == 'x' || token->text[1] == 'X');
    if (token->kind != LB_T_QUOTED || token->length < 3)
        return is_hex;
    bool is_bound = !is_first && token[-1].kind == LB_T_WORD &&
                    token[-1].text + token[-1].length == token->text; /* x'7730', _utf8'w0' */
    bool is_plain = !is_bound && strchr("'\"`[", *token->text) != NULL &&
                    memchr(token->text, '\\', token->length) == NULL;
    const int first = is_plain ? tolower((unsigned char)token->text[1]) : '\0';
    return !is_plain || (first == 'w' && token->length <= 6) ||
           (first == 'p' && !isalpha((unsigned char)token->text[2]));
}

static void look_at_tokens(struct names *names, const struct lb_token *tokens, size_t n)
{
    bool is_create = n > 0 && lb_token_is(&tokens[0], "create");
    for (size_t i = 0; i < n && !names->fails; i++) {
        if (names_one(&tokens[i], i == 0))
            names->fails = true;
        if (!is_create && is_name(names, &tokens[i]))
            look_at(names, tokens, n, i);
    }
    if (is_ordered(names, tokens, n))
        names->fails = true;
}

static void look_at_statement(struct names *names, const char *sql, enum lb_dialect dialect)
{
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, sql, dialect);
    if (tokens.is_understood)
        look_at_tokens(names, tokens.at, tokens.n);
    else
        names->fails = true;
    lb_tokens_free(&tokens);
}

bool lb_workers_are_alike(const struct lb_program *program, const struct lb_tables *tables)
{
    struct names names = {.n = 0};
    if (tables->opaque)
        return false;
    do {
        names.has_grown = false;
        for (int s = 0; s < LB_SECTIONS && !names.fails; s++)
            for (size_t i = 0; i < program->sections[s].n_statements && !names.fails; i++) {
                const char *sql = program->sections[s].statements[i].sql;
                struct lb_footprint touched;
                bool is_played = !lb_section_is_schema((enum lb_section_name)s) &&
                                 !lb_section_is_for_lockbench((enum lb_section_name)s);
                lb_footprint_of_sql(tables, sql, &touched);
                if (is_played && touched.writes == LB_TOUCHES_ALL)
                    return false; /* a function may look at anything */
                look_at_statement(&names, sql, tables->dialect);
            }
    } while (names.has_grown && !names.fails);
    return !names.fails;
}
