/* Are workers interchangeable? They are if their names are only stored, returned and compared for
 * equality (a scalarset: Ip and Dill 1996, "Better Verification Through Symmetry"): then renaming
 * them turns each schedule into another one with the same answers.
 *
 * The names are followed through the statements' words: from :worker into the columns that are set
 * to it or compared with it, and on from those. Where one of them is ordered, calculated with, part
 * of a key or of an index, or where the words are not understood, workers are not taken to be
 * alike. That costs schedules.
 */
#include "testbed.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAMES = 16, MAX_TOKENS = 1500 };

struct token {
    const char *text;
    size_t n;
};

struct names {
    struct token column[MAX_NAMES]; /* that may hold a worker's name */
    size_t n;
    bool has_grown, fails;
};

/* Words with their colon ("id", ":worker"), texts, operators, single characters. */
static size_t split(const char *sql, struct token *tokens)
{
    size_t n = 0;
    for (const char *p = sql; *p != '\0' && n < MAX_TOKENS;) {
        const char *from = p;
        if (isspace((unsigned char)*p)) {
            p++;
            continue;
        }
        if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
            continue;
        }
        if (*p == '\'') {
            for (p++; *p != '\0' && *p != '\''; p++)
                ;
            p += *p != '\0';
        } else if (isalnum((unsigned char)*p) || *p == '_' ||
                   (*p == ':' && isalpha((unsigned char)p[1]))) {
            for (p++; isalnum((unsigned char)*p) || *p == '_'; p++)
                ;
        } else if (strchr("<>=!|:", *p) != NULL) {
            p += strspn(p, "<>=!|");
            p += p == from ? strspn(p, ":") : 0;
        } else {
            p++;
        }
        tokens[n++] = (struct token){from, (size_t)(p - from)};
    }
    return n;
}

static bool is(const struct token *token, const char *text)
{
    return strlen(text) == token->n && strncasecmp(token->text, text, token->n) == 0;
}

static bool is_any(const struct token *token, const char *const *list)
{
    for (; *list != NULL; list++)
        if (is(token, *list))
            return true;
    return false;
}

static bool is_word(const struct token *token)
{
    return token->n > 0 && (isalpha((unsigned char)token->text[0]) || token->text[0] == '_');
}

/* ":owner" and "owner" are the same: columns become parameters. */
static struct token bare(const struct token *token)
{
    bool is_param = token->n > 0 && token->text[0] == ':';
    return (struct token){token->text + is_param, token->n - is_param};
}

static bool is_name(const struct names *names, const struct token *token)
{
    struct token it = bare(token);
    if (is(token, ":worker"))
        return true;
    for (size_t i = 0; i < names->n && it.n > 0; i++)
        if (names->column[i].n == it.n && strncasecmp(names->column[i].text, it.text, it.n) == 0)
            return true;
    return false;
}

static void add(struct names *names, const struct token *token)
{
    struct token it = bare(token);
    if (!is_word(&it) || names->n == MAX_NAMES) {
        names->fails = true;
    } else if (!is_name(names, token)) {
        names->column[names->n++] = it;
        names->has_grown = true;
    }
}

/* --- one statement --- */

static const char *const equalities[] = {"=", "<>", "!=", NULL};

/* The word before the parenthesis that encloses token i; NULL: none does. */
static const struct token *encloser(const struct token *tokens, size_t i)
{
    static const struct token nothing = {"", 0};
    for (size_t depth = 0; i-- > 0;) {
        depth += is(&tokens[i], ")");
        if (is(&tokens[i], "(") && depth-- == 0)
            return i > 0 ? &tokens[i - 1] : &nothing;
    }
    return NULL;
}

/* The number of the list's item in which token i stands, counted from its start; *ret_start. */
static size_t place(const struct token *tokens, size_t i, size_t *ret_start)
{
    size_t commas = 0;
    for (size_t depth = 0; i-- > 0;) {
        depth += is(&tokens[i], ")");
        if (depth == 0 && (is(&tokens[i], "(") || is(&tokens[i], "select"))) {
            *ret_start = i;
            return commas;
        }
        depth -= is(&tokens[i], "(") ? 1 : 0;
        commas += depth == 0 && is(&tokens[i], ",");
    }
    *ret_start = 0;
    return commas;
}

/* A name stands at i in what is inserted: into which column? "INSERT INTO t (a, b) VALUES (x, y)",
 * or SELECT x, y. */
static void insert_at(struct names *names, const struct token *tokens, size_t n, size_t i)
{
    size_t start, k, open, at = place(tokens, i, &start);
    bool is_select = is(&tokens[start], "select");
    if (!is_select && (start == 0 || !is(&tokens[start - 1], "values"))) {
        names->fails = true; /* of several rows, or something else */
        return;
    }
    size_t close = is_select ? start - 1 : start - 2; /* of the columns */
    bool is_named = is_select && start > 2 && is(&tokens[start - 2], "as") &&
                    is(&tokens[start - 3], ")"); /* "WITH x (a, b) AS (SELECT ..." */
    bool is_blind = start > 1 && (is(&tokens[start - 2], "into") || is(&tokens[start - 2], ".") ||
                                  is(&tokens[start - 1], "union") || is(&tokens[start - 1], "all"));
    if (is_named || is_blind) {
        names->fails = true;
        return;
    }
    if (start < 4 || !is(&tokens[close], ")")) {
        names->fails = names->fails || !is_select;
        return; /* another SELECT: its column keeps its name */
    }
    for (open = close; open > 0 && !is(&tokens[open], "("); open--)
        ;
    if (open < 3 || !(is(&tokens[open - 2], "into") || is(&tokens[open - 1], "insert"))) {
        names->fails = !is_select;
        return;
    }
    for (k = open + 1; at > 0 && k < close; k++)
        at -= is(&tokens[k], ",");
    if (k < close && k < n)
        add(names, &tokens[k]);
    else
        names->fails = true;
}

/* What stands beside a name at i must be one of few things. */
static void look_at(struct names *names, const struct token *tokens, size_t n, size_t i)
{
    static const struct token none = {";", 1};
    static const char *const before[] = {",",   "(",     "select", "returning", "distinct", ".",
                                         "and", "where", "or",     "on",        NULL},
                             *const behind[] = {",",       ")",         ";",     "as",   "from",
                                                "where",   "and",       "or",    "is",   "limit",
                                                "for",     "returning", "text",  "end",  "on",
                                                "varchar", "::",        "order", "when", "select",
                                                "union",   "in",        "not",   NULL},
                             *const calls[] = {"values", "coalesce", "nullif", "cast",  "in",
                                               "exists", "and",      "or",     "where", "not",
                                               "as",     "=",        "<>",     "from",  "select",
                                               "any",    "array",    "on",     "when",  "then",
                                               "(",      NULL};
    const struct token *left = i > 0 ? &tokens[i - 1] : &none;
    const struct token *right = i + 1 < n ? &tokens[i + 1] : &none;
    if (is(left, ".")) /* "item.owner" */
        left = i > 2 ? &tokens[i - 3] : &none;
    bool left_equals = is_any(left, equalities), right_equals = is_any(right, equalities);
    if (left_equals && i > 1)
        add(names, &tokens[is(&tokens[i - 1], ".") ? i - 4 : i - 2]);
    if (right_equals && i + 2 < n) {
        bool is_qualified = i + 4 < n && is(&tokens[i + 3], ".");
        struct token other = bare(&tokens[is_qualified ? i + 4 : i + 2]);
        if (!is(&other, "null"))
            add(names, &other);
    }
    const struct token *outside = encloser(tokens, i);
    /* A list of columns: "INSERT INTO t (owner, ...)", "ON CONFLICT (owner)". */
    bool in_columns = outside != NULL && outside > tokens + 1 && is(outside - 1, "into");
    if (!left_equals && !is_any(left, before) && !right_equals)
        names->fails = true;
    if (!right_equals && !is_any(right, behind))
        names->fails = true;
    if (outside != NULL && outside->n > 0 && !in_columns && !is_any(outside, calls))
        names->fails = true;
    if (is(right, "as") && i + 2 < n)
        add(names, &tokens[i + 2]);
    bool is_value = is(left, ",") || is(left, "(") || is(left, "select");
    if (is_value && !left_equals && !right_equals && !in_columns && is(right, "is") == false)
        insert_at(names, tokens, n, i);
}

/* "owner varchar(64) NOT NULL UNIQUE": the words before i, to the beginning of the column. */
static bool is_of_named_column(const struct names *names, const struct token *tokens, size_t i,
                               bool is_ddl)
{
    for (size_t depth = 0; i-- > 0;) {
        depth += is_ddl && is(&tokens[i], ")");
        if (depth == 0 && (is(&tokens[i], ",") || is(&tokens[i], "(")))
            return false;
        depth -= depth > 0 && is(&tokens[i], "(");
        if (depth == 0 && is_name(names, &tokens[i]))
            return true;
    }
    return false;
}

/* Where the columns of a key begin whose word stands at i: "UNIQUE (", "PRIMARY KEY (", "KEY name
 * ("; n: it is that of the column before it, or its own word tells (CREATE UNIQUE INDEX). */
static size_t columns_of_key(const struct token *tokens, size_t n, size_t i, bool is_ddl)
{
    size_t from = i + 1;
    from += from < n && is(&tokens[from], "key");
    if (from < n && is(&tokens[from], "index"))
        return n;
    from += is_ddl && from + 1 < n && is_word(&tokens[from]) && is(&tokens[from + 1], "(");
    return from < n && is(&tokens[from], "(") ? from : n;
}

/* Ordered, grouped, or made a key or an index of: after these words, to the end of the list. */
static bool is_ordered(const struct names *names, const struct token *tokens, size_t n)
{
    static const char *const lists[] = {"order",   "group",    "partition", "index", "unique",
                                        "primary", "conflict", "using",     "check", NULL},
                             *const keys[] = {"primary", "unique", "check", "key", NULL},
                             *const parts[] = {"primary", "unique", "foreign", NULL},
                             *const ends[] = {";", "limit", "for", "rows", "do", NULL};
    bool is_ddl = n > 0 && (is(&tokens[0], "create") || is(&tokens[0], "alter"));
    for (size_t i = 0; i < n; i++) {
        bool is_key = is_ddl && i > 0 && is(&tokens[i], "key") && !is_any(&tokens[i - 1], parts);
        if (!is_key && !is_any(&tokens[i], lists))
            continue;
        size_t depth = 0, from = i + 1;
        if (is_of_named_column(names, tokens, i, is_ddl))
            return true;
        if (is_any(&tokens[i], keys) && (from = columns_of_key(tokens, n, i, is_ddl)) == n)
            continue;
        for (size_t k = from; k < n && !is_any(&tokens[k], ends); k++) {
            depth += is(&tokens[k], "(");
            if (is(&tokens[k], ")") && (depth == 0 || (--depth == 0 && from > i + 1)))
                break;
            if (is_name(names, &tokens[k]))
                return true;
        }
    }
    return false;
}

/* A text that may be a worker's name, or the beginning of one. */
static bool names_one(const struct token *token)
{
    return token->n >= 3 && token->text[0] == '\'' &&
           tolower((unsigned char)token->text[1]) == 'w' && token->n <= 6;
}

static void look_at_statement(struct names *names, const char *sql)
{
    struct token tokens[MAX_TOKENS];
    size_t n = split(sql, tokens);
    names->fails = names->fails || n == MAX_TOKENS;
    bool is_create = n > 0 && is(&tokens[0], "create");
    for (size_t i = 0; i < n && !names->fails; i++) {
        if (names_one(&tokens[i]))
            names->fails = true;
        if (!is_create && is_name(names, &tokens[i]))
            look_at(names, tokens, n, i);
    }
    if (is_ordered(names, tokens, n))
        names->fails = true;
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
                bool is_played =
                    s != LB_S_SETUP && s != LB_S_TEARDOWN && s != LB_S_COUNT && s != LB_S_PERMITS;
                lb_footprint_of_sql(tables, sql, &touched);
                if (is_played && touched.writes == LB_TOUCHES_ALL)
                    return false; /* a function may look at anything */
                look_at_statement(&names, sql);
            }
    } while (names.has_grown && !names.fails);
    return !names.fails;
}
