/* What a file reads on a replica, and where it asks again: for lint.
 *
 * A replica returns the state of a moment ago. A condition checked only there is a guess by the
 * time the primary is written. So each column in the WHERE of a statement on a replica is searched
 * in the WHERE of the section's later statements on the primary. By names alone: it may be wrong
 * where a function of the file's does the work.
 */
#include "program_features.h"
#include "program_raw.h"

#include <string.h>

/* The next name of a column in the WHERE of a statement; false: there is no more. */
static bool next_column(struct lb_lexer *lexer, bool *in_where, struct lb_token *ret)
{
    static const char *const others[] = {"and",    "or",       "not",  "is",   "null",  "in",
                                         "exists", "select",   "from", "true", "false", "between",
                                         "like",   "interval", "as",   "case", "when",  "then",
                                         "else",   "end",      "any",  "all",  NULL};
    static const char *const behind[] = {"order",     "limit", "for", "group",
                                         "returning", "fetch", NULL};
    struct lb_token token;
    while ((token = lb_lexer_next(lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        const bool is_where = lb_token_is(&token, "where");
        *in_where = is_where || (*in_where && !lb_token_is_any(&token, behind));
        bool is_other = token.kind != LB_T_WORD || is_where || lb_token_is_any(&token, others);
        bool is_called = token.text + token.length < lexer->end && token.text[token.length] == '(';
        *ret = token;
        if (*in_where && !is_other && !is_called)
            return true;
    }
    return false;
}

static void open_statement(struct lb_lexer *lexer, const struct lb_statement *statement)
{
    lb_lexer_init(lexer, statement->sql, strlen(statement->sql), statement->line);
}

static bool asks_for(const struct lb_statement *statement, const struct lb_token *column)
{
    struct lb_lexer lexer;
    struct lb_token token;
    bool in_where = false;
    open_statement(&lexer, statement);
    while (next_column(&lexer, &in_where, &token))
        if (lb_token_equals(&token, column))
            return true;
    return false;
}

static bool is_asked_again(const struct lb_section *section, size_t index)
{
    struct lb_lexer lexer;
    struct lb_token column;
    bool in_where = false;
    open_statement(&lexer, &section->statements[index]);
    while (next_column(&lexer, &in_where, &column)) {
        bool found = false;
        for (size_t i = index + 1; i < section->n_statements && !found; i++)
            found =
                !section->statements[i].on_replica && asks_for(&section->statements[i], &column);
        if (!found)
            return false;
    }
    return index + 1 < section->n_statements;
}

int lb_replica_unasked(const struct lb_program *program)
{
    for (int name = 0; name < LB_SECTIONS; name++) {
        const struct lb_section *section = &program->sections[name];
        for (size_t i = 0; i < section->n_statements; i++)
            if (section->statements[i].on_replica && !is_asked_again(section, i))
                return section->statements[i].line;
    }
    return 0;
}
