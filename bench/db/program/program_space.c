/* What a file makes outside of its run's space.
 *
 * The tables of a run lie in a space of their own, by their plain names. It is dropped at the end,
 * and an explorer puts it back thousands of times. A table in a schema that the file names is
 * neither: the second run finds what the first one left, and its verdict is about that.
 *
 * A file may still make a schema and drop it in its teardown, like libraries that name their schema
 * in each statement. Such a file is run, but not explored. It must not use IF NOT EXISTS: the
 * schema that it drops at the end could be another user's.
 */
#include "program_building.h"

#include <string.h>
#include <strings.h>

/* Goes past words; returns the first token that is none of them. */
static struct lb_token past(struct lb_lexer *lexer, const char *const *words)
{
    struct lb_token token = lb_lexer_next_word(lexer);
    while (lb_token_is_any(&token, words))
        token = lb_lexer_next_word(lexer);
    return token;
}

static bool is_name(const struct lb_token *token)
{
    return token->kind == LB_T_WORD || token->kind == LB_T_QUOTED;
}

/* VERB SCHEMA a, or VERB SCHEMA IF NOT EXISTS a: which one? */
static bool is_of_schema(const struct lb_raw_statement *statement, const char *verb,
                         const char *const *between, struct lb_token *ret_name)
{
    static const char *const spaces[] = {"schema", "database", NULL};
    struct lb_lexer lexer;
    lb_lexer_init(&lexer, statement->text, statement->length, statement->line);
    struct lb_token token = lb_lexer_next_word(&lexer);
    if (!lb_token_is(&token, verb))
        return false;
    token = lb_lexer_next_word(&lexer);
    if (!lb_token_is_any(&token, spaces))
        return false;
    *ret_name = past(&lexer, between);
    return true;
}

/* CREATE UNLOGGED TABLE IF NOT EXISTS a.b: what is a? PostgreSQL's temporary schema is private. */
static bool is_in_schema(const struct lb_raw_statement *statement, struct lb_token *ret_schema)
{
    static const char *const made[] = {"table",  "sequence", "view",      "type",
                                       "domain", "function", "procedure", NULL};
    static const char *const before[] = {"create",    "or",           "replace",
                                         "temp",      "temporary",    "unlogged",
                                         "recursive", "materialized", NULL};
    static const char *const between[] = {"if", "not", "exists", NULL};
    struct lb_lexer lexer;
    lb_lexer_init(&lexer, statement->text, statement->length, statement->line);
    struct lb_token token = lb_lexer_next_word(&lexer);
    if (!lb_token_is(&token, "create"))
        return false;
    token = past(&lexer, before);
    if (!lb_token_is_any(&token, made))
        return false;
    *ret_schema = past(&lexer, between);
    token = lb_lexer_next_word(&lexer);
    return is_name(ret_schema) && !lb_token_is(ret_schema, "pg_temp") && token.kind == LB_T_OTHER &&
           *token.text == '.';
}

static bool is_same(const struct lb_token *a, const struct lb_token *b)
{
    return is_name(a) && a->kind == b->kind && a->length == b->length &&
           (a->kind == LB_T_WORD ? strncasecmp(a->text, b->text, a->length)
                                 : memcmp(a->text, b->text, a->length)) == 0;
}

/* Does a statement of the section make, or drop, the schema of that name for sure? */
static bool has_for(const struct lb_building *b, enum lb_section_name section, const char *verb,
                    const char *const *between, const struct lb_token *name)
{
    const struct lb_raw_section *raw = b->chosen[section];
    struct lb_token found;
    for (size_t i = 0; raw != NULL && i < raw->n_statements; i++)
        if (is_of_schema(&b->file->statements[raw->first + i], verb, between, &found) &&
            is_same(&found, name))
            return true;
    return false;
}

static bool is_own(const struct lb_building *b, const struct lb_token *schema)
{
    static const char *const nothing[] = {NULL}, *const if_exists[] = {"if", "exists", NULL};
    return has_for(b, LB_S_SETUP, "create", nothing, schema) &&
           has_for(b, LB_S_TEARDOWN, "drop", if_exists, schema);
}

int lb_building_check_space(struct lb_building *b)
{
    static const char *const if_not_exists[] = {"if", "not", "exists", NULL};
    const struct lb_raw_section *setup = b->chosen[LB_S_SETUP];
    if (setup == NULL || b->db->terminate == NULL) /* no server: a file is its space */
        return 0;
    for (size_t i = 0; i < setup->n_statements; i++) {
        const struct lb_raw_statement *statement = &b->file->statements[setup->first + i];
        struct lb_token schema;
        bool makes = is_of_schema(statement, "create", if_not_exists, &schema);
        if (!makes && !is_in_schema(statement, &schema))
            continue;
        if (!is_own(b, &schema))
            return lb_file_fail(
                b->file, schema.line, b->err,
                "setup makes %s %.*s: each run has a space of its own, which is put "
                "back and dropped; leave the schema out, or make it here without IF "
                "NOT EXISTS and drop it in teardown",
                makes ? "schema" : "something in", (int)schema.length, schema.text);
        b->program->makes_schema = true;
    }
    return 0;
}
