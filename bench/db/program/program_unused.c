/* Options of a strategy's file that nothing in it uses: see program.h. */
#include "program_raw.h"

static bool names_it(const struct lb_token *token, const char *option)
{
    const char *name;
    size_t length;
    if (token->kind != LB_T_PARAM && token->kind != LB_T_OPTION)
        return false;
    lb_token_name(token, &name, &length);
    return lb_slice_is(name, length, option);
}

static bool is_in_statement(const struct lb_raw_statement *statement, const char *option)
{
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, statement->text, statement->length, statement->line);
    do {
        token = lb_lexer_next(&lexer);
        if (names_it(&token, option))
            return true;
    } while (token.kind != LB_T_END && token.kind != LB_T_BAD);
    return false;
}

static bool is_in_condition(const struct lb_raw_section *section, const char *option)
{
    for (size_t i = 0; i < section->n_conditions; i++)
        if (lb_slice_is(section->conditions[i].name, section->conditions[i].name_length, option))
            return true;
    return false;
}

const struct lb_option *lb_file_unused(const struct lb_file *file, size_t *from, int *ret_line)
{
    for (; *from < file->n_options; ++*from) {
        const struct lb_option *option = &file->options[*from];
        bool is_used = false;
        for (size_t i = 0; i < file->n_statements && !is_used; i++)
            is_used = is_in_statement(&file->statements[i], option->name);
        for (size_t i = 0; i < file->n_sections && !is_used; i++)
            is_used = is_in_condition(&file->sections[i], option->name);
        if (is_used)
            continue;
        *ret_line = file->option_line[(*from)++];
        return option;
    }
    return NULL;
}
