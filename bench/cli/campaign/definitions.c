/* The lines of setup that define what each statement uses: see outlook.h.
 *
 * A column's type, a collation, a missing unique key or a sequence's cache can be the whole
 * mistake, and no statement of a finding shows it. Words are compared with names, as elsewhere: a
 * column that has the name of another thing costs a line, and no verdict depends on it.
 */
#include "definitions.h"

#include "program_lex.h"

#include <string.h>
#include <strings.h>

enum { TABLES = 32 };

_Static_assert(LB_QUOTED <= 64, "each statement has its bit");

struct table {
    struct lb_token name;
    uint64_t users; /* statements, by their place in the outlook */
};

struct reading {
    struct lb_outlook *outlook;
    const struct lb_statement *statements[LB_QUOTED];
    struct lb_tokens words[LB_QUOTED];
    struct table tables[TABLES];
    size_t n_tables;
};

/* Has the token the name of a thing? Also if it is the text in nextval('numbers'). */
static bool is_name_of(const struct lb_token *token, const struct lb_token *thing)
{
    const char *text, *name;
    size_t length, n;
    lb_token_name(token, &text, &length);
    lb_token_name(thing, &name, &n);
    if (token->kind == LB_T_QUOTED && length == 0 && token->length > 2) {
        text = token->text + 1;
        length = token->length - 2;
    }
    return (token->kind == LB_T_WORD || token->kind == LB_T_QUOTED) && n > 0 && length == n &&
           strncasecmp(text, name, n) == 0;
}

/* Bits of the statements that have the name; compares: behind WHERE, ON or ORDER BY. */
static uint64_t users_of(const struct reading *r, const struct lb_token *name, bool compares)
{
    static const char *const asking[] = {"where", "on", "by", "using", NULL};
    uint64_t users = 0;
    for (size_t i = 0; i < r->outlook->n_statements; i++) {
        bool is_asked = !compares;
        for (size_t k = 0; k < r->words[i].n; k++) {
            const struct lb_token *token = &r->words[i].at[k];
            is_asked = is_asked || lb_token_is_any(token, asking);
            if (is_asked && is_name_of(token, name))
                users |= UINT64_C(1) << i;
        }
    }
    return users;
}

void lb_quote_set(struct lb_quote *ret, int line, const char *text, size_t length)
{
    size_t n = 0;
    ret->line = line;
    for (size_t i = 0; i < length && n + 5 < sizeof ret->text; i++) {
        bool is_blank = (unsigned char)text[i] <= ' ';
        if (!is_blank || (n > 0 && ret->text[n - 1] != ' '))
            ret->text[n++] = is_blank ? ' ' : text[i];
    }
    if (n + 5 >= sizeof ret->text)
        n += (size_t)snprintf(ret->text + n, sizeof ret->text - n, "...");
    ret->text[n] = '\0';
}

/* A column or key: its line; a statement's first word: all of the statement. */
static void define(struct reading *r, size_t statement, const struct lb_token *token,
                   uint64_t used_by, uint64_t compared_by, bool is_key)
{
    struct lb_outlook *outlook = r->outlook;
    const char *sql = r->statements[statement]->sql, *from = token->text;
    bool is_whole = token == r->words[statement].at;
    int line = r->statements[statement]->line + token->line - 1;
    struct lb_definition *ret = &outlook->definitions[outlook->n_definitions];
    if (used_by == 0)
        return;
    if (outlook->n_definitions > 0 && ret[-1].quote.line == line) { /* two columns in one line */
        ret[-1].used_by |= used_by;
        ret[-1].compared_by |= compared_by;
        ret[-1].is_key = ret[-1].is_key || is_key;
        return;
    }
    if (outlook->n_definitions == LB_DEFINED)
        return;
    while (from > sql && from[-1] != '\n')
        from--;
    *ret = (struct lb_definition){.used_by = used_by, .compared_by = compared_by, .is_key = is_key};
    lb_quote_set(&ret->quote, line, from, is_whole ? strlen(from) : strcspn(from, "\n"));
    outlook->n_definitions++;
}

/* CREATE UNIQUE INDEX IF NOT EXISTS a.b: the place of INDEX, and of b. False: it is no CREATE. */
static bool read_create(const struct lb_tokens *words, size_t *ret_kind, size_t *ret_name)
{
    static const char *const before[] = {"or",       "replace", "temp",   "temporary",
                                         "unlogged", "unique",  "global", "local",
                                         "fulltext", "spatial", NULL};
    static const char *const between[] = {"if", "not", "exists", "concurrently", NULL};
    size_t i = 1;
    if (words->n < 3 || !lb_token_is(&words->at[0], "create"))
        return false;
    while (i + 1 < words->n && lb_token_is_any(&words->at[i], before))
        i++;
    *ret_kind = i++;
    while (i + 1 < words->n && lb_token_is_any(&words->at[i], between))
        i++;
    while (i + 2 < words->n && lb_token_is_sign(&words->at[i + 1], "."))
        i += 2;
    *ret_name = i;
    return i < words->n;
}

/* The first of a table's keys, or of a column that is one. */
static bool is_key(const struct lb_token *item, const struct lb_token *end)
{
    static const char *const kinds[] = {"primary", "unique", "key",     "index",    "constraint",
                                        "foreign", "check",  "exclude", "fulltext", NULL};
    static const char *const keys[] = {"primary", "unique", NULL};
    if (item->kind == LB_T_WORD && lb_token_is_any(item, kinds))
        return true;
    for (const struct lb_token *token = item; token < end; token++)
        if (lb_token_is_any(token, keys))
            return true;
    return false;
}

/* One column, or one key, of a table. */
static void define_item(struct reading *r, size_t statement, const struct lb_token *item,
                        const struct lb_token *end, uint64_t users)
{
    bool shows_all = item < end && is_key(item, end);
    uint64_t used_by = shows_all ? users : users_of(r, item, false) & users;
    uint64_t compared_by = shows_all ? users : users_of(r, item, true) & users;
    if (item < end)
        define(r, statement, item, used_by, compared_by, shows_all);
}

/* The columns and keys that are used; the CREATE itself if none is found. */
static void define_table(struct reading *r, size_t statement, const struct lb_token *name,
                         uint64_t users)
{
    const struct lb_tokens *words = &r->words[statement];
    const struct lb_token *end = words->at + words->n, *item = NULL;
    const size_t n_before = r->outlook->n_definitions;
    int depth = 0;
    for (const struct lb_token *token = name + 1; token < end && depth >= 0; token++) {
        bool opens = lb_token_is_sign(token, "("), closes = lb_token_is_sign(token, ")");
        if ((closes && depth == 1) || (depth == 1 && lb_token_is_sign(token, ","))) {
            define_item(r, statement, item, token, users);
            item = token + 1;
        } else if (opens && depth == 0) {
            item = token + 1;
        }
        depth += opens - closes;
        depth = closes && depth == 0 ? -1 : depth; /* the rest is about the whole table */
    }
    if (r->outlook->n_definitions == n_before)
        define(r, statement, &words->at[0], users, users, false);
}

/* A table's users, if the statement has its name: an index, an ALTER. */
static uint64_t users_of_tables(const struct reading *r, size_t statement)
{
    uint64_t users = 0;
    for (size_t k = 0; k < r->n_tables; k++)
        for (size_t i = 0; i < r->words[statement].n; i++)
            if (is_name_of(&r->words[statement].at[i], &r->tables[k].name))
                users |= r->tables[k].users;
    return users;
}

/* A sequence, type or domain is also used by those who use a table that has its name. */
static uint64_t users_through(const struct reading *r, const struct lb_token *name)
{
    uint64_t users = users_of(r, name, false), through = users;
    for (size_t i = 0; i < r->outlook->n_statements; i++)
        if ((users >> i & 1) != 0 && r->outlook->statements[i].section == LB_S_SETUP)
            through |= users_of_tables(r, i);
    return through;
}

static void define_statement(struct reading *r, size_t statement)
{
    static const char *const named[] = {"sequence", "type", "domain", "view", "collation", NULL};
    static const char *const of_table[] = {"index", "trigger", NULL};
    const struct lb_tokens *words = &r->words[statement];
    size_t kind = 0, name = 0;
    uint64_t users = 0;
    bool creates = read_create(words, &kind, &name);
    bool alters = words->n > 0 && lb_token_is(&words->at[0], "alter");
    if (!creates && !alters)
        return;
    bool is_of_table = alters || lb_token_is_any(&words->at[kind], of_table);
    if (is_of_table)
        users = users_of_tables(r, statement);
    else if (lb_token_is(&words->at[kind], "table"))
        define_table(r, statement, &words->at[name], users_of(r, &words->at[name], false));
    else if (lb_token_is_any(&words->at[kind], named))
        users = users_through(r, &words->at[name]);
    define(r, statement, &words->at[0], users, users, is_of_table);
}

void lb_outlook_define(const struct lb_program *program, struct lb_outlook *outlook)
{
    struct reading r = {.outlook = outlook};
    size_t n = 0, kind, name;
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; i < program->sections[s].n_statements && n < outlook->n_statements; i++)
            r.statements[n++] = &program->sections[s].statements[i];
    for (size_t i = 0; i < n; i++)
        lb_tokens_read(&r.words[i], r.statements[i]->sql, program->db->dialect);
    for (size_t i = 0; i < n && r.n_tables < TABLES; i++)
        if (outlook->statements[i].section == LB_S_SETUP &&
            read_create(&r.words[i], &kind, &name) && lb_token_is(&r.words[i].at[kind], "table"))
            r.tables[r.n_tables++] =
                (struct table){r.words[i].at[name], users_of(&r, &r.words[i].at[name], false)};
    for (size_t i = 0; i < n; i++)
        if (outlook->statements[i].section == LB_S_SETUP)
            define_statement(&r, i);
    for (size_t i = 0; i < n; i++)
        lb_tokens_free(&r.words[i]);
}

size_t lb_outlook_definitions(const struct lb_outlook *outlook, uint64_t shown,
                              const struct lb_quote *ret[LB_DEFINED_SHOWN])
{
    uint64_t chosen = 0;
    size_t n_chosen = 0, n = 0;
    enum { KEYS, COMPARED, USED, PASSES };
    for (int pass = KEYS; pass < PASSES; pass++)
        for (size_t i = 0; i < outlook->n_definitions && n_chosen < LB_DEFINED_SHOWN; i++) {
            const struct lb_definition *it = &outlook->definitions[i];
            uint64_t wanted_by = pass == USED ? it->used_by : it->compared_by;
            bool is_new =
                (chosen >> i & 1) == 0 && (wanted_by & shown) != 0 && (pass != KEYS || it->is_key);
            for (size_t k = 0; k < outlook->n_statements; k++)
                if ((shown >> k & 1) != 0 && outlook->statements[k].line == it->quote.line)
                    is_new = false;
            chosen |= (uint64_t)is_new << i;
            n_chosen += is_new;
        }
    for (size_t i = 0; i < outlook->n_definitions; i++)
        if ((chosen >> i & 1) != 0)
            ret[n++] = &outlook->definitions[i].quote;
    return n;
}
