/* What a file makes outside of its run's space.
 *
 * The tables of a run lie in a space of their own, by their plain names. It is dropped at the end,
 * and an explorer puts it back thousands of times. A table in a schema that the file names is
 * neither: the second run finds what the first one left, and its verdict is about that.
 */
#include "program_building.h"

/* The next token that means something. */
static struct lb_token next(struct lb_lexer *lexer)
{
    struct lb_token token;
    do
        token = lb_lexer_next(lexer);
    while (token.kind == LB_T_BLANK || token.kind == LB_T_COMMENT || token.kind == LB_T_HINT);
    return token;
}

static bool is_one_of(const struct lb_token *token, const char *const *words)
{
    for (; *words != NULL; words++)
        if (lb_token_is(token, *words))
            return true;
    return false;
}

/* CREATE UNLOGGED TABLE IF NOT EXISTS a.b: the lexer stands behind the dot. PostgreSQL's temporary
 * schema is nobody else's. */
static bool names_schema(struct lb_lexer *lexer, struct lb_token *ret_schema)
{
    static const char *const made[] = {"table",  "sequence", "view",      "type",
                                       "domain", "function", "procedure", NULL};
    static const char *const before[] = {"or",       "replace",   "temp",         "temporary",
                                         "unlogged", "recursive", "materialized", NULL};
    static const char *const between[] = {"if", "not", "exists", NULL};
    struct lb_token token = next(lexer);
    while (is_one_of(&token, before))
        token = next(lexer);
    if (!is_one_of(&token, made))
        return false;
    do
        token = next(lexer);
    while (is_one_of(&token, between));
    *ret_schema = token;
    bool is_name = token.kind == LB_T_WORD || token.kind == LB_T_QUOTED;
    token = next(lexer);
    return is_name && !lb_token_is(ret_schema, "pg_temp") && token.kind == LB_T_OTHER &&
           *token.text == '.';
}

int lb_building_check_space(struct lb_building *b)
{
    static const char *const spaces[] = {"schema", "database", NULL};
    const struct lb_raw_section *setup = b->chosen[LB_S_SETUP];
    if (setup == NULL || b->db->terminate == NULL) /* no server: a file is its space */
        return 0;
    for (size_t i = 0; i < setup->n_statements; i++) {
        const struct lb_raw_statement *statement = &b->file->statements[setup->first + i];
        struct lb_lexer lexer;
        lb_lexer_init(&lexer, statement->text, statement->length, statement->line);
        struct lb_token token = next(&lexer), schema;
        if (!lb_token_is(&token, "create"))
            continue;
        struct lb_lexer behind = lexer;
        token = next(&behind);
        if (is_one_of(&token, spaces))
            return lb_file_fail(b->file, statement->line, b->err,
                                "setup makes a %.*s: each run has a space of its own, which is put "
                                "back and dropped; leave it out, and write the names of tables "
                                "alone",
                                (int)token.length, token.text);
        if (names_schema(&lexer, &schema))
            return lb_file_fail(b->file, schema.line, b->err,
                                "setup makes something in %.*s: each run has a space of its own, "
                                "which is put back and dropped; write the name without %.*s",
                                (int)schema.length, schema.text, (int)schema.length, schema.text);
    }
    return 0;
}
