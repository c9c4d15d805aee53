/* From a file to its mutants: see mutants.h. */
#include "making.h"

#include "memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *lb_mutant_kind_name(enum lb_mutant_kind kind)
{
    static const char *const names[] = {[LB_MUTANT_CONDITION] = "condition",
                                        [LB_MUTANT_COMPARISON] = "comparison",
                                        [LB_MUTANT_LOCK] = "lock",
                                        [LB_MUTANT_ORDER] = "order",
                                        [LB_MUTANT_LIMIT] = "limit",
                                        [LB_MUTANT_CLOCK] = "clock",
                                        [LB_MUTANT_COUNT] = "count",
                                        [LB_MUTANT_STATEMENT] = "statement",
                                        [LB_MUTANT_REQUIRE] = "require",
                                        [LB_MUTANT_KEY] = "key",
                                        [LB_MUTANT_TRANSACTION] = "transaction",
                                        [LB_MUTANT_ISOLATION] = "isolation",
                                        [LB_MUTANT_DELETE] = "delete",
                                        [LB_MUTANT_CHOICE] = "choice",
                                        [LB_MUTANT_CONFLICT] = "conflict"};
    return names[kind];
}

void lb_mutants_free(struct lb_mutants *mutants)
{
    for (size_t i = 0; i < mutants->n; i++) {
        free(mutants->at[i].text);
        free(mutants->at[i].clause);
        free(mutants->at[i].diff);
    }
    free(mutants->at);
    *mutants = (struct lb_mutants){0};
}

bool lb_mutants_pair(const struct lb_mutant *a, const struct lb_mutant *b)
{
    bool counts = (a->kind == LB_MUTANT_COUNT) != (b->kind == LB_MUTANT_COUNT);
    return a->length > 0 && b->length > 0 && (counts || a->statement == b->statement) &&
           (a->at + a->length <= b->at || b->at + b->length <= a->at);
}

char *lb_mutants_without(const struct lb_file *file, const struct lb_mutant *a,
                         const struct lb_mutant *b)
{
    const struct lb_mutant *first = a->at < b->at ? a : b, *second = first == a ? b : a;
    const struct lb_edit edits[] = {
        {first->at, first->length, first->kind == LB_MUTANT_COUNT ? "" : "1 = 1"},
        {second->at, second->length, second->kind == LB_MUTANT_COUNT ? "" : "1 = 1"}};
    return lb_making_apply(file->text, edits, 2);
}

/* --- sections --- */

/* Does the directive on this line speak of the statement below it alone? */
static bool is_of_statement(const char *line, size_t length, bool is_first)
{
    static const char *const words[] = {"require:", "if:", "else", "answer:", "on:", "on-error:"};
    while (length > 0 && (*line == '-' || isspace((unsigned char)*line))) {
        line++;
        length--;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0] - is_first; i++)
        if (length >= strlen(words[i]) && strncasecmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* Cuts the statement, and the directives that speak of it. only: the directive that alone is cut;
 * NULL: all of it. */
static void without_statement(struct lb_making *m, size_t from, bool is_first, const char *only)
{
    const struct lb_raw_statement *raw = &m->file->statements[m->statement];
    const char *text = m->file->text;
    struct lb_edit edits[LB_EDITS];
    size_t n = 0, end = m->base + raw->length, clause = m->base, length = raw->length;
    for (size_t at = from; at < m->base && n + 1 < LB_EDITS;) {
        size_t line = strcspn(text + at, "\n");
        bool is_wanted = only == NULL || memmem(text + at, line, only, strlen(only)) != NULL;
        if (at + line < m->base && is_wanted && is_of_statement(text + at, line, is_first)) {
            edits[n++] = (struct lb_edit){at, line + 1, ""};
            clause = only != NULL ? at : clause;
            length = only != NULL ? line : length;
        }
        at += line + 1;
    }
    if (only == NULL) {
        end += strcspn(text + end, ";");
        edits[n++] = (struct lb_edit){m->base, end - m->base + (text[end] == ';'), ""};
    }
    if (n > 0)
        lb_making_add(m, only != NULL ? LB_MUTANT_REQUIRE : LB_MUTANT_STATEMENT, edits, n, clause,
                      length);
}

static size_t line_start(const char *text, int line)
{
    size_t at = 0;
    for (; line > 1 && text[at] != '\0'; line--)
        at += strcspn(text + at, "\n") + 1;
    return at;
}

/* Removes tx=one, and the words that have no meaning without it. */
static void split_transaction(struct lb_making *m)
{
    static const char *const words[] = {" tx=one", " commit=always"};
    const char *text = m->file->text;
    struct lb_edit edits[2];
    size_t n = 0, at = line_start(text, m->section->line), length = strcspn(text + at, "\n");
    if (m->section->tx != LB_TX_ONE || m->section->n_statements < 2)
        return;
    for (size_t i = 0; i < 2; i++) {
        const char *found = memmem(text + at, length, words[i], strlen(words[i]));
        if (found != NULL)
            edits[n++] = (struct lb_edit){(size_t)(found - text), strlen(words[i]), ""};
    }
    if (n == 2 && edits[0].at > edits[1].at) {
        struct lb_edit other = edits[0];
        edits[0] = edits[1];
        edits[1] = other;
    }
    m->statement = SIZE_MAX;
    if (n > 0)
        lb_making_add(m, LB_MUTANT_TRANSACTION, edits, n, edits[0].at + 1, edits[0].length - 1);
}

/* Does the plan of a run, or an exploration, call the section on behalf of a worker? */
static bool is_for_workers(enum lb_section_name name)
{
    return name != LB_S_RESOURCE && !lb_section_is_for_lockbench(name) && name != LB_S_MIGRATE &&
           name != LB_S_STOP && name != LB_S_TEARDOWN;
}

/* from: the end of the statement before it, or of the section's line. */
static void take_statement(struct lb_making *m, size_t from)
{
    const struct lb_raw_statement *raw = &m->file->statements[m->statement];
    bool is_setup = m->section->name == LB_S_SETUP;
    bool is_first = m->statement == m->section->first;
    char *sql = lb_strndup(raw->text, raw->length);
    m->sql = sql;
    m->base = (size_t)(raw->text - m->file->text);
    lb_tokens_read(&m->tokens, sql, m->program->db->dialect);
    /* ALTER TABLE adds keys. */
    bool is_apart = !is_setup || lb_making_is(m, 0, "insert") || lb_making_is(m, 0, "alter");
    if (m->tokens.is_understood && is_setup)
        lb_making_keys(m);
    else if (m->tokens.is_understood)
        lb_making_clauses(m);
    if (raw->require_row)
        without_statement(m, from, is_first, "require");
    if (m->section->n_statements > 1 && is_apart)
        without_statement(m, from, is_first, NULL);
    lb_tokens_free(&m->tokens);
    free(sql);
}

/* A changed statement of that kind could end the sessions of the server's other users. */
static bool ends_sessions(const struct lb_making *m)
{
    const struct lb_raw_statement *all = m->file->statements + m->section->first;
    for (size_t i = 0; i < m->section->n_statements; i++) {
        struct lb_lexer lexer;
        struct lb_token token;
        lb_lexer_init(&lexer, all[i].text, all[i].length, 1);
        while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD)
            if (lb_token_ends_session(&token))
                return true;
    }
    return false;
}

static void take_section(struct lb_making *m)
{
    const char *text = m->file->text;
    const struct lb_raw_section *section = m->section;
    size_t line = line_start(text, section->line);
    size_t from = line + strcspn(text + line, "\n") + 1;
    for (size_t i = 0; i < section->n_statements; i++) {
        m->statement = section->first + i;
        take_statement(m, from);
        from = m->base + m->file->statements[m->statement].length;
        from += strcspn(text + from, ";\n");
    }
    split_transaction(m);
}

static void lower_isolation(struct lb_making *m)
{
    static const char key[] = "-- isolation:";
    const char *lower = m->file->isolation == LB_ISO_SERIALIZABLE      ? " repeatable read"
                        : m->file->isolation == LB_ISO_REPEATABLE_READ ? " read committed"
                                                                       : NULL;
    const char *found = strstr(m->file->text, key);
    if (lower == NULL || found == NULL)
        return;
    size_t at = (size_t)(found - m->file->text), value = at + sizeof key - 1;
    struct lb_edit edit = {value, strcspn(m->file->text + value, "\n"), lower};
    m->section = NULL;
    m->statement = SIZE_MAX;
    lb_making_add(m, LB_MUTANT_ISOLATION, &edit, 1, at, value + edit.length - at);
}

void lb_mutants_make(const struct lb_file *file, const struct lb_program *program,
                     const struct lb_setting *settings, size_t n_settings, struct lb_mutants *ret)
{
    struct lb_making m = {.file = file,
                          .program = program,
                          .settings = settings,
                          .n_settings = n_settings,
                          .mutants = ret};
    *ret = (struct lb_mutants){0};
    lower_isolation(&m);
    for (int name = 0; name < LB_SECTIONS; name++) {
        m.section = lb_raw_of(file, &program->sections[name]);
        if (m.section != NULL && is_for_workers((enum lb_section_name)name) && !ends_sessions(&m))
            take_section(&m);
    }
}
