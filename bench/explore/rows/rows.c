/* Questions to the server, asked once: see rows.h. */
#include "rows.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the catalogue --- */

#define HERE "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')"

/* Rows (table, anything): features that the rule does not cover. A key of another type may be equal
 * and look different. */
static const char odd_sql[] =
    "SELECT c.relname::text, '' FROM pg_class c WHERE " HERE
    " AND (c.relkind = 'p' OR c.relrowsecurity OR EXISTS (SELECT 1 FROM pg_index i WHERE "
    "i.indrelid = c.oid AND ((i.indisunique AND NOT i.indisprimary) OR i.indisexclusion OR "
    "i.indexprs IS NOT NULL)) OR EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND "
    "a.attgenerated <> '') OR EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = c.oid AND "
    "k.condeferrable) OR EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = "
    "c.oid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = c.oid AND i.indisprimary AND "
    "a.atttypid::regtype NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, "
    "'text'::regtype, 'varchar'::regtype)))";
static const char keys_sql[] =
    "SELECT c.relname::text, a.attname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) WHERE i.indisprimary "
    "AND " HERE " ORDER BY c.relname, a.attnum";
static const char numbers_sql[] =
    "SELECT c.relname::text, '' FROM pg_class c WHERE " HERE
    " AND (EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '') "
    "OR EXISTS (SELECT 1 FROM pg_attrdef d WHERE d.adrelid = c.oid AND pg_get_expr(d.adbin, "
    "d.adrelid) ~ 'nextval|random|uuid'))";

struct opening {
    struct lb_row_rules *rules;
    const struct lb_tables *tables;
    struct lb_reset *reset;
    uint32_t locked, coarse;
    char *json;
};

/* NULL: it is no table of the space. */
static struct lb_row_table *table_of(const struct opening *opening, const char *name)
{
    size_t i = lb_tables_find(opening->tables, name);
    return i < opening->tables->n ? &opening->rules->tables[i] : NULL;
}

static void take_odd(void *arg, const char *name, const char *unused)
{
    struct lb_row_table *table = table_of(arg, name);
    (void)unused;
    if (table != NULL)
        table->is_odd = true;
}

static void take_numbers(void *arg, const char *name, const char *unused)
{
    struct lb_row_table *table = table_of(arg, name);
    (void)unused;
    if (table != NULL)
        table->has_numbers = true;
}

static void take_key(void *arg, const char *name, const char *column)
{
    struct lb_row_table *table = table_of(arg, name);
    if (table == NULL)
        return;
    if (table->n_keys == LB_ROW_KEYS || !lb_footprint_is_word(column))
        table->is_odd = true;
    else
        snprintf(table->key[table->n_keys++], sizeof table->key[0], "%s", column);
}

/* What refers to another table locks rows of it, or goes with them, also where no statement writes
 * it: by ON DELETE, ON UPDATE. */
static void take_link(void *arg, const char *child, const char *parent)
{
    struct opening *opening = arg;
    size_t n = opening->tables->n, a = lb_tables_find(opening->tables, child),
           b = lb_tables_find(opening->tables, parent);
    if (a < n && b < n && (opening->locked >> b & 1) != 0)
        opening->coarse |= 1u << a | 1u << b;
}

static void take_json(void *arg, const char *text, const char *unused)
{
    struct opening *opening = arg;
    (void)unused;
    free(opening->json);
    opening->json = lb_strdup(text);
}

/* --- words --- */

/* What makes a statement's answer depend on more than the rows that it reads one by one. */
static const char *const odd_words[] = {
    "share",    "max",       "min",         "distinct", "group",     "having",
    "over",     "union",     "except",      "fetch",    "intersect", "offset",
    "lateral",  "recursive", "window",      "merge",    "array_agg", "string_agg",
    "json_agg", "jsonb_agg", "tablesample", "conflict", NULL};

/* "a, t.b DESC", behind ORDER BY, as far as the list goes: the columns. false: something else. */
static bool read_order(const struct lb_token *token, char column[8][64], size_t *ret_n)
{
    static const char *const ends[] = {"limit", "for", NULL}, *const also[] = {"asc",   "desc",
                                                                               "nulls", "first",
                                                                               "last",  NULL};
    bool wants_column = true;
    for (*ret_n = 0;; token++) {
        if (token->kind == LB_T_END || lb_token_is_sign(token, ")") ||
            lb_token_is_sign(token, ";") || lb_token_is_any(token, ends))
            return !wants_column;
        if (!wants_column && (lb_token_is_sign(token, ",") || lb_token_is_any(token, also))) {
            wants_column = lb_token_is_sign(token, ",");
            continue;
        }
        if (token->kind == LB_T_WORD && lb_token_is_sign(token + 1, "."))
            token += 2;
        const char *name;
        size_t length;
        lb_token_name(token, &name, &length);
        if (!wants_column || length == 0 || length >= 64 || *ret_n == 8 ||
            token->kind == LB_T_PARAM || lb_token_is_any(token, also))
            return false;
        snprintf(column[(*ret_n)++], 64, "%.*s", (int)length, name);
        wants_column = false;
    }
}

static bool is_key(const struct lb_row_table *table, const char *column)
{
    for (size_t k = 0; k < table->n_keys; k++)
        if (strcasecmp(table->key[k], column) == 0)
            return true;
    return false;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

/* Takes the order of the one scan by a condition. false: it does not say which row is the first. */
static bool take_order(struct lb_row_reader *reader, const struct lb_token *order)
{
    char column[8][64];
    size_t n, n_keys = 0;
    struct lb_row_ref *ref = NULL;
    for (unsigned i = 0; i < reader->told->n_refs; i++)
        if (!reader->told->refs[i].is_keyed && !reader->told->refs[i].is_joined)
            ref = &reader->told->refs[i];
    if (reader->n_conditional != 1 || ref == NULL || !read_order(order, column, &n))
        return false;
    struct lb_row_table *table = &reader->rules->tables[ref->table];
    for (size_t i = 0; i < n; i++) {
        if (is_key(table, column[i])) {
            n_keys++;
        } else if (!has_word(table->order, column[i])) {
            size_t used = strlen(table->order);
            if (used + strlen(column[i]) + 3 > sizeof table->order)
                return false;
            snprintf(table->order + used, sizeof table->order - used, "%s%s", used > 0 ? ", " : "",
                     column[i]);
        }
    }
    if (ref->condition < 0 || n_keys < table->n_keys || n_keys == 0)
        return false;
    table->ordered |= 1u << ref->condition;
    return true;
}

/* "1", or ":n" where that is 1, and nothing that is calculated from it. */
static bool is_one(const struct lb_row_reader *reader, const struct lb_token *token)
{
    const struct lb_token *behind = token->kind != LB_T_END ? token + 1 : token;
    if (behind->kind == LB_T_OTHER && !lb_token_is_sign(behind, ")"))
        return false;
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    return lb_token_is_sign(token, "1") ||
           (token->kind == LB_T_PARAM && length == 1 && *name == 'n' && reader->batch == 1);
}

/* The words that the plan does not show: which row is the first, and how many there are. */
static void look_at_words(struct lb_row_reader *reader)
{
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, reader->statement->sql, reader->tables->dialect);
    const struct lb_token *order = NULL;
    bool has_limit = false;
    bool is_odd = !tokens.is_understood;
    for (size_t i = 0; i < tokens.n; i++) {
        const struct lb_token *token = &tokens.at[i];
        bool is_order = lb_token_is(token, "order") && lb_token_is(token + 1, "by");
        bool is_limit = lb_token_is(token, "limit");
        is_odd = is_odd || lb_token_is_any(token, odd_words) || (is_order && order != NULL) ||
                 (is_limit && (has_limit || order == NULL || !is_one(reader, token + 1)));
        order = is_order ? token + 2 : order;
        has_limit = has_limit || is_limit;
    }
    if (is_odd || (order != NULL && !take_order(reader, order)))
        reader->fails = true;
    lb_tokens_free(&tokens);
}

/* --- statements --- */

/* "$1" becomes "$41": the planner's own parameters begin with $0. NULL: it is not understood. */
static char *shift(const char *native)
{
    char *text = NULL;
    size_t size;
    FILE *out = lb_open_memory(&text, &size);
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, native, strlen(native), 1);
    lexer.dialect = LB_SQL_POSTGRES;
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        if (token.kind == LB_T_POSITION && *token.text == '$')
            fprintf(out, "$%ld", strtol(token.text + 1, NULL, 10) + LB_ROW_PARAM_SHIFT);
        else
            fwrite(token.text, 1, token.length, out);
    }
    lb_close_memory(out);
    if (token.kind == LB_T_END)
        return text;
    free(text);
    return NULL;
}

static int run(const struct opening *opening, const char *sql)
{
    struct lb_error ignored;
    const struct lb_session *session = opening->reset->session;
    return session->db->run(session->conn, sql, &ignored);
}

/* The statement's plan in opening->json. false: there is none. */
static bool explain(struct opening *opening, const struct lb_statement *statement)
{
    char *shifted = shift(statement->native);
    if (shifted == NULL)
        return false;
    char types[700] = "", values[700] = "";
    struct lb_error ignored;
    for (size_t i = 0; i < LB_ROW_PARAM_SHIFT + statement->n_params; i++) {
        strcat(types, i == 0 ? "int" : i < LB_ROW_PARAM_SHIFT ? ", int" : ", unknown");
        strcat(values, i == 0 ? "NULL" : ", NULL");
    }
    char *prepare = lb_format("PREPARE lb_plan (%s) AS %s", types, shifted);
    char *explains = lb_format("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE lb_plan (%s)", values);
    bool ok = run(opening, prepare) == 0;
    if (ok)
        ok = lb_reset_query(opening->reset, explains, take_json, opening, &ignored) == 0;
    if (ok)
        run(opening, "DEALLOCATE lb_plan");
    free(shifted);
    free(prepare);
    free(explains);
    return ok && opening->json != NULL;
}

static void read_statement(struct opening *opening, const struct lb_statement *statement,
                           struct lb_row_statement *told, uint32_t batch)
{
    struct lb_row_reader reader = {.rules = opening->rules,
                                   .tables = opening->tables,
                                   .statement = statement,
                                   .told = told,
                                   .batch = batch};
    struct lb_footprint touched;
    lb_footprint_of_sql(opening->tables, statement->sql, &touched);
    uint32_t named = touched.reads | touched.writes | touched.commits;
    if (statement->n_params > 20 || (named & LB_ALL_TABLES & touched.commits) != 0 ||
        !explain(opening, statement))
        reader.fails = true;
    else
        lb_row_read_plan(&reader, opening->json);
    if (!reader.fails)
        look_at_words(&reader);
    opening->locked |= reader.fails && touched.writes != 0 ? named : reader.locks;
    if (reader.fails)
        opening->coarse |= named;
    told->is_told = !reader.fails;
}

/* --- queries for rows --- */

static void add_rows_of(FILE *out, const struct lb_row_rules *rules, size_t i, const char *name)
{
    const struct lb_row_table *table = &rules->tables[i];
    fprintf(out, "SELECT %zu, concat_ws(chr(31)", i);
    for (size_t k = 0; k < table->n_keys; k++)
        fprintf(out, ", t.\"%s\"", table->key[k]);
    if (table->order[0] != '\0')
        fprintf(out, "), md5(row(%s)::text), 0::bigint", table->order);
    else
        fprintf(out, "), ''::text, 0::bigint");
    for (size_t c = 0; c < rules->n_conditions; c++)
        if (rules->table_of[c] == i)
            fprintf(out,
                    " | (coalesce((SELECT %s FROM (SELECT t.*) AS %s), false)::int::bigint << %zu)",
                    rules->condition[c], rules->alias[c], c);
    fprintf(out, ", ''::text FROM \"%s\" AS t WHERE ", name);
}

static void make_queries(struct opening *opening)
{
    struct lb_row_rules *rules = opening->rules;
    size_t size;
    FILE *own = lb_open_memory(&rules->own_sql, &size);
    FILE *committed = lb_open_memory(&rules->committed_sql, &size);
    fprintf(own, "SELECT -1, ''::text, ''::text, 0::bigint, "
                 "coalesce(pg_current_xact_id_if_assigned()::xid::text, '')");
    fprintf(committed, "SELECT -1, ''::text, ''::text, 0::bigint, ''::text");
    for (size_t i = 0; i < opening->tables->n; i++)
        if ((rules->fine >> i & 1) != 0) {
            fprintf(own, " UNION ALL ");
            add_rows_of(own, rules, i, opening->tables->name[i]);
            fprintf(own, "t.xmin = pg_current_xact_id_if_assigned()::xid");
            fprintf(committed, " UNION ALL ");
            add_rows_of(committed, rules, i, opening->tables->name[i]);
            fprintf(committed, "t.xmax = $1::text::xid");
        }
    lb_close_memory(own);
    lb_close_memory(committed);
    struct lb_error ignored; /* a condition that cannot be asked outside of its statement */
    if (lb_reset_query(opening->reset, rules->own_sql, take_odd, opening, &ignored) != 0)
        rules->fine = 0;
}

int lb_row_rules_open(struct lb_row_rules *rules, struct lb_reset *reset,
                      const struct lb_tables *tables, const struct lb_program *program,
                      uint32_t played, uint32_t batch, struct lb_error *err)
{
    struct opening opening = {.rules = rules, .tables = tables, .reset = reset};
    *rules = (struct lb_row_rules){
        .statements = lb_calloc(program->n_statements + 1, sizeof *rules->statements)};
    int r = lb_reset_query(reset, odd_sql, take_odd, &opening, err);
    if (r == 0)
        r = lb_reset_query(reset, keys_sql, take_key, &opening, err);
    if (r == 0)
        r = lb_reset_query(reset, numbers_sql, take_numbers, &opening, err);
    if (r != 0)
        return r;
    run(&opening, "SET enable_indexscan = off; SET enable_bitmapscan = off; "
                  "SET enable_indexonlyscan = off; SET enable_mergejoin = off; "
                  "SET enable_memoize = off; SET plan_cache_mode = force_generic_plan");
    for (int s = 0; s < LB_SECTIONS; s++)
        for (size_t i = 0; (played >> s & 1) != 0 && i < program->sections[s].n_statements; i++) {
            const struct lb_statement *statement = &program->sections[s].statements[i];
            read_statement(&opening, statement, &rules->statements[statement - program->statements],
                           batch);
        }
    free(opening.json);
    run(&opening, "RESET enable_indexscan; RESET enable_bitmapscan; RESET enable_indexonlyscan; "
                  "RESET enable_mergejoin; RESET enable_memoize; RESET plan_cache_mode");
    r = lb_reset_query(reset, reset->exploring->links, take_link, &opening, err);
    if (r != 0)
        return r;
    uint32_t all = (1u << tables->n) - 1;
    rules->fixed = all & ~opening.locked & ~opening.coarse;
    rules->fine = opening.locked & ~opening.coarse & all;
    for (size_t i = 0; i < tables->n; i++)
        if (rules->tables[i].is_odd || rules->tables[i].n_keys == 0)
            rules->fine &= ~(1u << i);
    make_queries(&opening);
    return 0;
}

void lb_row_rules_close(struct lb_row_rules *rules)
{
    for (size_t i = 0; i < rules->n_conditions; i++) {
        free(rules->condition[i]);
        free(rules->alias[i]);
    }
    free(rules->statements);
    free(rules->own_sql);
    free(rules->committed_sql);
    *rules = (struct lb_row_rules){0};
}
