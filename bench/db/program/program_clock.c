/* Times that have whole seconds only, by the words of a statement: NOW() of MariaDB,
 * datetime('now') of SQLite, extract(epoch FROM now())::int of PostgreSQL, :now / 1000, a column of
 * type DATETIME. A lease or limit that uses them ends up to a second early or late, and a lease may
 * be over at the moment in which it is granted.
 * A hint, like all features: see program_features.h.
 */
#include "program_features.h"

#include "program_raw.h"
#include "whole_seconds.h"

#include <ctype.h>
#include <string.h>

/* The arguments behind a function's name, without the parentheses; *ret_length 0: there are none.
 */
static const char *arguments(const struct lb_token *name, const char *end, size_t *ret_length)
{
    struct lb_lexer lexer;
    const char *behind = name->text + name->length;
    lb_lexer_init(&lexer, behind, (size_t)(end - behind), 1);
    struct lb_token token = lb_lexer_next_word(&lexer);
    *ret_length = 0;
    if (!lb_token_is_sign(&token, "("))
        return behind;
    const char *first = lexer.at;
    for (unsigned depth = 1; depth > 0 && token.kind != LB_T_END && token.kind != LB_T_BAD;) {
        token = lb_lexer_next_word(&lexer);
        depth += lb_token_is_sign(&token, "(");
        depth -= lb_token_is_sign(&token, ")");
    }
    *ret_length = (size_t)(token.text - first);
    return first;
}

/* :now / 1000 and the like: the quotient may have a fraction, unless it is rounded. */
static bool is_whole_now(const struct lb_window *window, bool divides_wholly)
{
    static const char *const rounders[] = {"floor", "round", "trunc", "truncate", NULL};
    const struct lb_token *t = &window->token[LB_WINDOW], *after = t + 1;
    if (t->kind != LB_T_PARAM || !lb_asks_for_time(t))
        return false;
    if (lb_token_begins(after, ':')) /* a cast */
        after += 2;
    bool is_rounded = lb_token_begins(t - 1, '(') && lb_token_is_any(t - 2, rounders);
    bool divides = lb_token_begins(after, '/') || lb_token_is(after, "div");
    if (!divides || strncmp(after[1].text, "1000", 4) != 0 ||
        isdigit((unsigned char)after[1].text[4]))
        return false;
    return is_rounded || lb_token_is(after, "div") || (divides_wholly && after[1].text[4] != '.');
}

/* The seconds since 1970 as a whole number: extract(epoch FROM now())::int, floor(...), CAST(... AS
 * bigint); but not milliseconds (* 1000). */
struct epoch {
    bool is_asked, is_whole, is_finer;
};

static void note_epoch(const struct lb_window *window, struct epoch *epoch)
{
    static const char *const rounders[] = {"floor", "round", "trunc", NULL};
    static const char *const types[] = {"int", "integer", "bigint", "int4", "int8", NULL};
    const struct lb_token *t = &window->token[LB_WINDOW];
    bool is_cast =
        (lb_token_begins(t - 1, ':') && lb_token_begins(t - 2, ')')) || lb_token_is(t - 1, "as");
    epoch->is_asked =
        epoch->is_asked || lb_token_is(t, "epoch") ||
        (t->kind == LB_T_QUOTED && t->length == 7 && memmem(t->text, 7, "epoch", 5) != NULL);
    epoch->is_whole =
        epoch->is_whole || lb_token_is_any(t, rounders) || (is_cast && lb_token_is_any(t, types));
    epoch->is_finer =
        epoch->is_finer || (t->kind == LB_T_OTHER && strncmp(t->text, "1000", 4) == 0);
}

static int whole_seconds(const char *sql, size_t length, int line,
                         const struct lb_whole_seconds *whole)
{
    struct lb_window window;
    struct epoch epoch = {0};
    lb_window_start(&window, sql, length, line);
    for (;;) {
        lb_window_slide(&window);
        const struct lb_token *t = &window.token[LB_WINDOW];
        size_t n = 0;
        if (t->kind == LB_T_END || t->kind == LB_T_BAD)
            break;
        const char *args = t->kind == LB_T_WORD ? arguments(t, sql + length, &n) : NULL;
        if ((args != NULL && whole->is_time(t, args, n)) ||
            is_whole_now(&window, whole->divides_wholly))
            return t->line;
        note_epoch(&window, &epoch);
    }
    return whole->has_epoch && epoch.is_asked && epoch.is_whole && !epoch.is_finer ? line : 0;
}

static int whole_columns(const char *sql, size_t length, int line,
                         const struct lb_whole_seconds *whole)
{
    static const char *const types[] = {"datetime", "timestamp", "timestamptz", NULL};
    struct lb_lexer lexer;
    struct lb_token token, before = {0};
    if (whole->is_column == NULL)
        return 0;
    lb_lexer_init(&lexer, sql, length, line);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        size_t n = 0;
        bool is_column = before.kind == LB_T_WORD || before.kind == LB_T_QUOTED;
        if (is_column && lb_token_is_any(&token, types)) {
            const char *args = arguments(&token, sql + length, &n);
            if (whole->is_column(&token, args, n))
                return token.line;
        }
        if (token.kind != LB_T_BLANK)
            before = token;
    }
    return 0;
}

int lb_whole_seconds(const struct lb_statement *statement, const struct lb_db *db)
{
    return whole_seconds(statement->sql, strlen(statement->sql), statement->line,
                         db->whole_seconds);
}

int lb_whole_columns(const struct lb_statement *statement, const struct lb_db *db)
{
    return whole_columns(statement->sql, strlen(statement->sql), statement->line,
                         db->whole_seconds);
}

int lb_file_whole_line(const struct lb_file *file, const struct lb_db *db)
{
    const unsigned asked = 1u << LB_S_ACQUIRE | 1u << LB_S_CLAIM | 1u << LB_S_RENEW |
                           1u << LB_S_HEARTBEAT | 1u << LB_S_RECOVER;
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct lb_raw_section *section = &file->sections[i];
        bool is_setup = section->name == LB_S_SETUP;
        if ((!is_setup && (asked >> section->name & 1) == 0) || !lb_raw_section_for(section, db))
            continue;
        for (size_t k = section->first; k < section->first + section->n_statements; k++) {
            const struct lb_raw_statement *raw = &file->statements[k];
            const int line =
                is_setup ? whole_columns(raw->text, raw->length, raw->line, db->whole_seconds)
                         : whole_seconds(raw->text, raw->length, raw->line, db->whole_seconds);
            if (line != 0)
                return line;
        }
    }
    return 0;
}
