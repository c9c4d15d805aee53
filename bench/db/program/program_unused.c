/* Parts of a strategy's file without a meaning: unused options, and comments that look like
 * directives. See program.h.
 */
#include "program_raw.h"

#include <stdio.h>
#include <string.h>

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

/* A comment that begins with a word in small letters and a colon, as directives do. Prose that does
 * is rare; its usual first words are known. */
static bool looks_like_directive(const struct lb_token *comment, char *word, size_t size)
{
    static const char *const prose[] = {"http",  "https",   "note",    "see", "todo",
                                        "fixme", "warning", "example", NULL};
    const char *text = comment->text + 2;
    size_t length = comment->length - 2, n = 0;
    lb_slice_trim(&text, &length);
    while (n < length && ((text[n] >= 'a' && text[n] <= 'z') || text[n] == '-' || text[n] == '_'))
        n++;
    if (!comment->first_on_line || n < 2 || n >= length || n >= size || text[n] != ':')
        return false;
    if (lb_slice_among(text, n, prose) >= 0)
        return false;
    memcpy(word, text, n);
    word[n] = '\0';
    return true;
}

/* Directives stand together: a comment beside one of them was probably meant to be one, too. Text
 * elsewhere is prose. */
bool lb_file_unknown(const struct lb_file *file, int *line, char *word, size_t size)
{
    struct lb_lexer lexer;
    struct lb_token token;
    struct lb_directive directive;
    struct lb_error ignored;
    char found[40] = "";
    int known = -1, candidate = -1; /* lines of the last of each */
    lb_lexer_init(&lexer, file->text, strlen(file->text), 1);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        if (token.kind != LB_T_COMMENT || token.length < 2 || strncmp(token.text, "--", 2) != 0)
            continue;
        bool is_known = lb_directive_read(file, &token, &directive, &ignored) == 1;
        if (is_known)
            known = token.line;
        else if (looks_like_directive(&token, found, sizeof found))
            candidate = token.line;
        bool is_beside = candidate > *line && (known == candidate - 1 || known == candidate + 1);
        if (!is_beside)
            continue;
        snprintf(word, size, "%s", found);
        *line = candidate;
        return true;
    }
    return false;
}
