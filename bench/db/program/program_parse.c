/* Statement files: text to sections and statements.
 *
 * One pass over the lexer's tokens. A `;` ends a statement, except inside of the body of CREATE
 * TRIGGER, PROCEDURE, FUNCTION or EVENT, where BEGIN .. END nests (CASE counts too, as it ends with
 * END). The purpose of a section, and the sources of its parameters, are checked when an engine is
 * known: see program.c.
 */
#include "memory.h"
#include "nearest.h"
#include "program_raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LB_FILE_BYTES = 4 << 20 };

/* --- section lines: `-- name: claim [postgres,mariadb] when form=cte tx=one begin=immediate` ---
 */

static int section_by_name(const struct lb_file *file, int line, const char *text, size_t length,
                           enum lb_section_name *ret_name, struct lb_error *err)
{
    char word[40], near[LB_NEAREST_TEXT];
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    struct lb_nearest nearest;
    const char *names[LB_SECTIONS];
    size_t n = 0;
    lb_nearest_init(&nearest, word);
    for (int i = 0; i < LB_SECTIONS; i++) {
        if (strcmp(word, lb_section_text((enum lb_section_name)i)) == 0) {
            *ret_name = (enum lb_section_name)i;
            return 0;
        }
        if (lb_section_fits((enum lb_section_name)i, file->shape)) {
            lb_nearest_offer(&nearest, lb_section_text((enum lb_section_name)i));
            names[n++] = lb_section_text((enum lb_section_name)i);
        }
    }
    return lb_file_fail(file, line, err, "unknown section \"%s\"%s", word,
                        lb_nearest_or_all(&nearest, names, n, near, sizeof near));
}

static int read_tx(const struct lb_file *file, struct lb_raw_section *section, const char *value,
                   size_t length, struct lb_error *err)
{
    static const char *const words[] = {
        [LB_TX_EACH] = "each", [LB_TX_ONE] = "one", [LB_TX_HOLD] = "hold", NULL};
    const int tx = lb_slice_among(value, length, words);
    if (tx < 0)
        return lb_file_fail(file, section->line, err, "tx=%.*s: each, one or hold is meant",
                            (int)length, value);
    section->tx = (enum lb_tx)tx;
    if (section->tx == LB_TX_HOLD && section->name != LB_S_ACQUIRE && section->name != LB_S_CLAIM)
        return lb_file_fail(file, section->line, err,
                            "tx=hold: only acquire and claim begin a hold");
    return 0;
}

static int read_session(const struct lb_file *file, struct lb_raw_section *section,
                        const char *value, size_t length, struct lb_error *err)
{
    if (!lb_slice_is(value, length, "keep"))
        return lb_file_fail(file, section->line, err, "session=%.*s: keep is meant", (int)length,
                            value);
    if (section->name != LB_S_ACQUIRE && section->name != LB_S_CLAIM)
        return lb_file_fail(file, section->line, err,
                            "session=keep: only acquire and claim begin a hold");
    section->keeps_session = true;
    return 0;
}

static int read_commit(const struct lb_file *file, struct lb_raw_section *section,
                       const char *value, size_t length, struct lb_error *err)
{
    if (!lb_slice_is(value, length, "always"))
        return lb_file_fail(file, section->line, err, "commit=%.*s: always is meant", (int)length,
                            value);
    section->commits_always = true;
    return 0;
}

static int read_begin(const struct lb_file *file, struct lb_raw_section *section, const char *value,
                      size_t length, struct lb_error *err)
{
    static const char *const words[] = {"deferred", "immediate", "exclusive", NULL};
    const int begin = lb_slice_among(value, length, words);
    if (begin < 0)
        return lb_file_fail(file, section->line, err,
                            "begin=%.*s: deferred, immediate or exclusive is meant", (int)length,
                            value);
    section->begin = (enum lb_begin)(LB_BEGIN_DEFERRED + begin);
    return 0;
}

/* One word of the line: tx=.., begin=.., commit=always, session=keep, or behind `when` a condition.
 */
static int section_word(const struct lb_file *file, struct lb_raw_section *section,
                        const char *word, size_t length, bool in_when, struct lb_error *err)
{
    const char *equals = memchr(word, '=', length);
    if (equals == NULL)
        return lb_file_fail(file, section->line, err,
                            "section %s: \"%.*s\" is not understood; tx=.., begin=.., commit=.., "
                            "session=.., [engine] or when option=value may follow the name",
                            lb_section_text(section->name), (int)length, word);
    size_t key = (size_t)(equals - word);
    const char *value = equals + 1;
    size_t value_length = length - key - 1;
    if (lb_slice_is(word, key, "tx"))
        return read_tx(file, section, value, value_length, err);
    if (lb_slice_is(word, key, "begin"))
        return read_begin(file, section, value, value_length, err);
    if (lb_slice_is(word, key, "commit"))
        return read_commit(file, section, value, value_length, err);
    if (lb_slice_is(word, key, "session"))
        return read_session(file, section, value, value_length, err);
    if (!in_when)
        return lb_file_fail(file, section->line, err,
                            "section %s: \"%.*s\": conditions follow the word when",
                            lb_section_text(section->name), (int)length, word);
    bool negated = key > 0 && word[key - 1] == '!';
    if (key == (negated ? 1 : 0) || value_length == 0)
        return lb_file_fail(file, section->line, err,
                            "section %s: \"%.*s\": write option=value or option!=value",
                            lb_section_text(section->name), (int)length, word);
    if (section->n_conditions == LB_FILE_CONDITIONS)
        return lb_file_fail(file, section->line, err, "section %s: more than %d conditions",
                            lb_section_text(section->name), LB_FILE_CONDITIONS);
    section->conditions[section->n_conditions++] =
        (struct lb_condition){.name = word,
                              .name_length = key - (negated ? 1 : 0),
                              .values = value,
                              .values_length = value_length,
                              .negated = negated};
    return 0;
}

static int read_engines(const struct lb_file *file, struct lb_raw_section *section,
                        const char *text, size_t length, struct lb_error *err)
{
    const char *item;
    size_t n;
    section->engines = text;
    section->engines_length = length;
    while (lb_slice_next(&text, &length, ',', &item, &n)) {
        size_t name;
        bool applies;
        bool is_read = lb_raw_engine(item, n, 0, &name, &applies);
        if (lb_engine_find(item, name) == NULL)
            return lb_file_fail(file, section->line, err,
                                "section %s: no engine \"%.*s\"; sqlite, postgres or mariadb",
                                lb_section_text(section->name), (int)n, item);
        if (!is_read)
            return lb_file_fail(file, section->line, err,
                                "section %s: \"%.*s\": write a version as in \"postgres >= 17\", "
                                "\"postgres < 17\" or \"postgres >= 15 < 17\"",
                                lb_section_text(section->name), (int)n, item);
    }
    return 0;
}

/* Cuts the next blank-separated word, or [list]. *ret_gap: how many blanks stood before it. */
static bool next_word(const char **at, size_t *left, const char **ret_word, size_t *ret_length,
                      size_t *ret_gap)
{
    const char *p = *at, *end = p + *left;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    *ret_gap = (size_t)(p - *at);
    *ret_word = p;
    if (p < end && *p == '[')
        while (p < end && *p != ']')
            p++;
    while (p < end && *p != ' ' && *p != '\t' && (p == *ret_word || *p != '['))
        p++;
    *ret_length = (size_t)(p - *ret_word);
    *left = (size_t)(end - p);
    *at = p;
    return *ret_length > 0;
}

/* The rest of a `-- name:` line. */
static int read_section_line(struct lb_file *file, const struct lb_directive *directive,
                             struct lb_raw_section *ret_section, struct lb_error *err)
{
    const char *at = directive->value, *word;
    size_t left = directive->value_length, length, gap;
    bool in_when = false;
    struct lb_raw_section section = {.line = directive->line, .answer = SIZE_MAX};
    if (!next_word(&at, &left, &word, &length, &gap))
        return lb_file_fail(file, section.line, err, "name: which section?");
    if (section_by_name(file, section.line, word, length, &section.name, err) != 0)
        return LB_E_FILE;
    if (!lb_section_fits(section.name, file->shape))
        return lb_file_fail(file, section.line, err, "section %s belongs to a %s, and this is a %s",
                            lb_section_text(section.name),
                            file->shape == LB_LOCK ? "queue" : "lock",
                            file->shape == LB_LOCK ? "lock" : "queue");
    while (next_word(&at, &left, &word, &length, &gap)) {
        if (word[0] == '[') {
            if (length < 3 || word[length - 1] != ']')
                return lb_file_fail(file, section.line, err, "section %s: [engine] does not end",
                                    lb_section_text(section.name));
            if (read_engines(file, &section, word + 1, length - 2, err) != 0)
                return LB_E_FILE;
        } else if (lb_slice_is(word, length, "when")) {
            in_when = true;
        } else if (gap > 1 && memchr(word, '=', length) == NULL) {
            break; /* a remark, set apart by blanks */
        } else if (section_word(file, &section, word, length, in_when, err) != 0) {
            return LB_E_FILE;
        }
    }
    if (section.begin != LB_BEGIN_DEFAULT && section.tx == LB_TX_EACH)
        return lb_file_fail(file, section.line, err, "section %s: begin= needs tx=one or tx=hold",
                            lb_section_text(section.name));
    if (section.commits_always && section.tx != LB_TX_ONE)
        return lb_file_fail(file, section.line, err, "section %s: commit=always needs tx=one",
                            lb_section_text(section.name));
    *ret_section = section;
    return 0;
}

/* --- statements --- */

/* A statement as it is being read. */
struct reading {
    struct lb_file *file;
    struct lb_error *err;
    struct lb_raw_section *section; /* NULL in the header */
    const char *start, *end;        /* of the statement under way; NULL: none */
    int line;
    size_t n_words;
    char first[24];     /* its first keyword */
    bool is_definition; /* CREATE TRIGGER and the like: BEGIN .. END nests */
    bool is_create;
    int depth;
    bool after_end; /* the word before was END: END IF closes no BEGIN */
    bool after_for; /* .. was FOR, or NO KEY behind it: FOR UPDATE writes nothing */
    bool changes, locks, has_returning;
    const char *columns;
    int answer_line;   /* the same of `-- answer: row` */
    int require_line;  /* of a `-- require: row` that waits for its statement; 0: none */
    enum lb_when when; /* `-- if: row` and `-- else`, which wait for theirs */
    int when_line;
    enum lb_on_error on_error;
    int on_error_line, replica_line;
};

static void begin_statement(struct reading *r, const struct lb_token *token)
{
    r->start = token->text;
    r->line = token->line;
    r->n_words = 0;
    r->first[0] = '\0';
    r->is_definition = r->is_create = r->after_end = r->after_for = false;
    r->changes = r->locks = r->has_returning = false;
    r->columns = NULL;
    r->depth = 0;
}

/* Counts BEGIN and CASE against END inside of a definition's body. */
static void follow_block(struct reading *r, const struct lb_token *token)
{
    static const char *const closers[] = {"if", "loop", "while", "repeat", "for", NULL};
    if (r->after_end) {
        if (lb_token_is_any(token, closers))
            r->depth++; /* END IF closed an IF, which was not counted */
    } else if (lb_token_is(token, "begin") || lb_token_is(token, "case")) {
        r->depth++;
    }
    r->after_end = lb_token_is(token, "end");
    if (r->after_end && r->depth > 0)
        r->depth--;
}

static void follow_word(struct reading *r, const struct lb_token *token)
{
    static const char *const definitions[] = {"trigger", "procedure", "function", "event", NULL};
    static const char *const tables[] = {"table", "index", "view", NULL};
    static const char *const writes[] = {"insert", "delete", "merge", NULL};
    if (r->n_words++ == 0)
        snprintf(r->first, sizeof r->first, "%.*s", (int)token->length, token->text);
    if (r->n_words == 1)
        r->is_create = lb_token_is(token, "create");
    else if (lb_token_is_any(token, tables))
        r->is_create = false; /* a table may be called event */
    else if (r->is_create && r->n_words <= 8 && lb_token_is_any(token, definitions))
        r->is_definition = true;
    if (r->is_definition)
        follow_block(r, token);
    if (lb_token_is_any(token, writes) || (lb_token_is(token, "update") && !r->after_for))
        r->changes = true;
    if (r->after_for && (lb_token_is(token, "update") || lb_token_is(token, "share")))
        r->locks = true;
    r->after_for = lb_token_is(token, "for") ||
                   (r->after_for && (lb_token_is(token, "no") || lb_token_is(token, "key")));
    if (lb_token_is(token, "returning")) {
        r->has_returning = true;
        r->columns = token->text + token->length;
    }
}

/* Transactions are the section's business: the harness has to know when one is open. */
static int refuse_transactions(struct reading *r)
{
    static const char *const words[] = {"begin", "start", "commit", "rollback",
                                        "end",   "abort", NULL};
    const int found = lb_slice_among(r->first, strlen(r->first), words);
    if (found < 0)
        return 0;
    return lb_file_fail(r->file, r->line, r->err,
                        "%s in section %s: a section does not open or end transactions itself; say "
                        "tx=one or tx=hold on its \"-- name:\" line",
                        words[found], lb_section_text(r->section->name));
}

static int end_statement(struct reading *r)
{
    static const char *const reads[] = {"select", "with",    "values", "table", "show",
                                        "call",   "explain", "pragma", NULL};
    struct lb_file *file = r->file;
    if (r->start == NULL)
        return 0;
    if (refuse_transactions(r) != 0)
        return LB_E_FILE;
    if (file->n_statements == LB_FILE_STATEMENTS)
        return lb_file_fail(file, r->line, r->err, "more than %d statements", LB_FILE_STATEMENTS);
    bool is_read = lb_slice_among(r->first, strlen(r->first), reads) >= 0;
    bool is_write = !is_read || r->changes || r->locks;
    if (r->replica_line != 0 && is_write)
        return lb_file_fail(file, r->replica_line, r->err,
                            "on: replica: a statement that writes or locks goes to the primary");
    file->statements[file->n_statements++] = (struct lb_raw_statement){
        .text = r->start,
        .length = (size_t)(r->end - r->start),
        .line = r->line,
        .when = r->when,
        .on_error = r->on_error,
        .has_on_error = r->on_error_line != 0,
        .require_row = r->require_line != 0,
        .is_write = is_write,
        .on_replica = r->replica_line != 0,
        .has_rows = is_read || r->has_returning,
        .columns = r->columns != NULL ? r->columns : r->start,
    };
    if (r->answer_line != 0)
        r->section->answer = r->section->n_statements;
    r->section->n_statements++;
    r->start = NULL;
    r->require_line = r->answer_line = r->when_line = r->on_error_line = r->replica_line = 0;
    r->when = LB_WHEN_ALWAYS;
    return 0;
}

static int end_section(struct reading *r)
{
    if (end_statement(r) != 0)
        return LB_E_FILE;
    if (r->require_line != 0)
        return lb_file_fail(r->file, r->require_line, r->err, "require: is above no statement");
    if (r->answer_line != 0)
        return lb_file_fail(r->file, r->answer_line, r->err, "answer: is above no statement");
    if (r->when_line != 0)
        return lb_file_fail(r->file, r->when_line, r->err, "%s is above no statement",
                            r->when == LB_WHEN_ROW ? "if: row" : "else");
    if (r->on_error_line != 0)
        return lb_file_fail(r->file, r->on_error_line, r->err, "on-error: is above no statement");
    if (r->replica_line != 0)
        return lb_file_fail(r->file, r->replica_line, r->err, "on: is above no statement");
    return 0;
}

static int begin_section(struct reading *r, const struct lb_directive *directive)
{
    struct lb_file *file = r->file;
    if (end_section(r) != 0)
        return LB_E_FILE;
    if (r->section == NULL && lb_header_finish(file, r->err) != 0)
        return LB_E_FILE;
    if (file->n_sections == LB_FILE_SECTIONS)
        return lb_file_fail(file, directive->line, r->err, "more than %d sections",
                            LB_FILE_SECTIONS);
    struct lb_raw_section *section = &file->sections[file->n_sections];
    if (read_section_line(file, directive, section, r->err) != 0)
        return LB_E_FILE;
    file->n_sections++;
    section->first = file->n_statements;
    r->section = section;
    return 0;
}

/* Above the first statement it speaks of the section, above a later one of that statement. */
static int on_error_line(struct reading *r, const struct lb_directive *directive)
{
    static const char *const words[] = {"busy", "retry", "fail", NULL};
    bool is_first = r->section->n_statements == 0;
    enum lb_on_error *into = is_first || r->start != NULL ? &r->section->on_error : &r->on_error;
    if (!is_first && r->start == NULL)
        r->on_error_line = directive->line;
    const int found = lb_slice_among(directive->value, directive->value_length, words);
    if (found < 0)
        return lb_file_fail(r->file, directive->line, r->err,
                            "on-error: \"%.*s\" is not busy, retry or fail",
                            (int)directive->value_length, directive->value);
    *into = (enum lb_on_error)(LB_ON_ERROR_BUSY + found);
    return 0;
}

static int when_line(struct reading *r, const struct lb_directive *directive)
{
    bool is_if = lb_directive_is(directive, "if");
    if (r->section->n_statements == 0)
        return lb_file_fail(r->file, directive->line, r->err,
                            "%s: it asks what the statement above came to, and there is none",
                            is_if ? "if" : "else");
    if (lb_section_is_schema(r->section->name))
        return lb_file_fail(r->file, directive->line, r->err,
                            "%s: section %s runs all of its statements", is_if ? "if" : "else",
                            lb_section_text(r->section->name));
    if (r->when_line != 0)
        return lb_file_fail(r->file, directive->line, r->err,
                            "a statement has one condition: if: row, or else");
    r->when = is_if ? LB_WHEN_ROW : LB_WHEN_NO_ROW;
    r->when_line = directive->line;
    return 0;
}

/* `-- require: row`, `answer` and `if` like it; `-- else`, which has no value; `-- on: replica`. */
static int row_line(struct reading *r, const struct lb_directive *directive)
{
    int key_length = (int)directive->key_length;
    bool is_else = lb_directive_is(directive, "else"), is_on = lb_directive_is(directive, "on");
    if (is_on && lb_replica_line(r->file, directive, r->section->name, r->err) != 0)
        return LB_E_FILE;
    if (is_else && directive->value_length > 0)
        return lb_file_fail(r->file, directive->line, r->err,
                            "else: nothing stands behind it on its line; the statement for no "
                            "row is below it");
    if (!is_else && !is_on && !lb_slice_is(directive->value, directive->value_length, "row"))
        return lb_file_fail(r->file, directive->line, r->err, "%.*s: only \"row\" can be",
                            key_length, directive->key);
    if (r->start != NULL)
        return lb_file_fail(r->file, directive->line, r->err,
                            "%.*s: belongs above a statement, not inside of one (is a ; missing?)",
                            key_length, directive->key);
    if (is_on) {
        r->replica_line = directive->line;
        r->file->needs |= LB_CAP_REPLICA;
        return 0;
    }
    if (is_else || lb_directive_is(directive, "if"))
        return when_line(r, directive);
    if (lb_directive_is(directive, "require")) {
        r->require_line = directive->line;
        return 0;
    }
    if (r->section->answer != SIZE_MAX)
        return lb_file_fail(r->file, directive->line, r->err,
                            "answer: a statement above answers already");
    r->answer_line = directive->line;
    return 0;
}

static int take_directive(struct reading *r, const struct lb_directive *directive)
{
    static const char *const keys[] = {"require", "answer", "on-error", "if", "else", "on", NULL};
    bool in_section = lb_slice_among(directive->key, directive->key_length, keys) >= 0 ||
                      (lb_directive_is(directive, "needs") && r->section != NULL);
    if (lb_directive_is(directive, "name"))
        return begin_section(r, directive);
    if (!in_section)
        return lb_header_line(r->file, directive, r->err);
    if (r->section == NULL)
        return lb_file_fail(r->file, directive->line, r->err, "\"%.*s:\" belongs in a section",
                            (int)directive->key_length, directive->key);
    if (lb_directive_is(directive, "on-error"))
        return on_error_line(r, directive);
    if (lb_directive_is(directive, "needs"))
        return lb_needs_read(r->file, directive, &r->section->needs, r->err);
    return row_line(r, directive);
}

static int take_token(struct reading *r, const struct lb_token *token)
{
    struct lb_directive directive;
    switch (token->kind) {
    case LB_T_BAD:
        return lb_file_fail(r->file, token->line, r->err, "%s", token->what);
    case LB_T_BLANK:
        return 0;
    case LB_T_COMMENT: {
        int found = lb_directive_read(r->file, token, &directive, r->err);
        return found == 1 ? take_directive(r, &directive) : found == 0 ? 0 : LB_E_FILE;
    }
    case LB_T_SEMICOLON:
        if (r->start != NULL && r->is_definition && r->depth > 0) {
            r->after_end = false;
            return 0;
        }
        return end_statement(r);
    case LB_T_HINT:
        if (r->start == NULL)
            return 0; /* a comment between statements */
        break;
    default:
        if (r->start == NULL && (*token->text == '\\' || lb_token_is(token, "delimiter")))
            return lb_file_fail(r->file, token->line, r->err,
                                "%s: a command of a client's, and no SQL: leave it out",
                                *token->text == '\\' ? "\\" : "DELIMITER");
        if (r->section == NULL)
            return lb_file_fail(r->file, token->line, r->err,
                                "a statement before the first \"-- name:\" line");
        if (r->start == NULL)
            begin_statement(r, token);
        if (token->kind == LB_T_WORD)
            follow_word(r, token);
        break;
    }
    r->end = token->text + token->length;
    return 0;
}

/* Checks the sections that every file of its shape must have, for any engine. */
static int require_sections(const struct lb_file *file, struct lb_error *err)
{
    size_t n;
    const enum lb_section_name *required = lb_required_sections(file->shape, &n);
    for (size_t i = 0; i < n; i++)
        if (!lb_file_has(file, required[i]))
            return lb_file_fail(file, 1, err, "section %s is missing: a %s needs it",
                                lb_section_text(required[i]),
                                file->shape == LB_LOCK ? "lock" : "queue");
    return 0;
}

static int read_all(struct lb_file *file, size_t length, struct lb_error *err)
{
    struct reading r = {.file = file, .err = err};
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, file->text, length, 1);
    do {
        token = lb_lexer_next(&lexer);
        if (token.kind != LB_T_END && take_token(&r, &token) != 0)
            return LB_E_FILE;
    } while (token.kind != LB_T_END);
    if (r.start != NULL && r.depth > 0)
        return lb_file_fail(file, r.line, err, "a body that does not end: END is missing");
    if (r.section == NULL && lb_header_finish(file, err) != 0)
        return LB_E_FILE;
    if (end_section(&r) != 0)
        return LB_E_FILE;
    int rc = require_sections(file, err);
    return rc != 0 || file->is_built_in ? rc : lb_timing_settle(file, err);
}

int lb_file_parse(const char *origin, const char *text, size_t length, int shape_hint,
                  struct lb_file **ret_file, struct lb_error *err)
{
    struct lb_file *file = lb_calloc(1, sizeof *file);
    file->origin = lb_strdup(origin);
    file->text = lb_malloc(length + 1);
    memcpy(file->text, text, length);
    file->text[length] = '\0';
    /* Each header value is copied once, and the line it came from has room for the copy's NUL. */
    file->strings = lb_malloc(2 * length + 64);
    file->is_built_in = shape_hint >= 0;
    file->shape = (enum lb_shape)shape_hint;
    file->summary = file->origin_text = "";
    int line = 1;
    const char *nul = memchr(text, '\0', length);
    for (const char *p = text; nul != NULL && p < nul; p++)
        line += *p == '\n';
    int r = nul == NULL ? read_all(file, length, err)
                        : lb_file_fail(file, line, err, "a NUL byte: this is no text file");
    if (r != 0) {
        lb_file_free(file);
        return r;
    }
    *ret_file = file;
    return 0;
}

int lb_file_read(const char *path, int shape_hint, struct lb_file **ret_file, struct lb_error *err)
{
    struct stat st;
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno));
    if (fstat(fileno(in), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > LB_FILE_BYTES) {
        fclose(in);
        return lb_fail(err, LB_E_FILE, "%s: not a text file of at most %d MiB", path,
                       LB_FILE_BYTES >> 20);
    }
    char *text = lb_malloc((size_t)st.st_size + 1);
    size_t length = fread(text, 1, (size_t)st.st_size, in);
    /* Some editors begin a file with a byte order mark. */
    size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    int r = ferror(in) ? lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno))
                       : lb_file_parse(path, text + mark, length - mark, shape_hint, ret_file, err);
    free(text);
    fclose(in);
    return r;
}

void lb_file_free(struct lb_file *file)
{
    if (file == NULL)
        return;
    free(file->origin);
    free(file->text);
    free(file->strings);
    lb_file_free(file->before);
    free(file);
}
