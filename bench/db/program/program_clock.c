/* Times that have whole seconds only, by the words of a statement: NOW() of MariaDB,
 * datetime('now') of SQLite, extract(epoch FROM now())::int of PostgreSQL, :now / 1000, a column of
 * type DATETIME. A lease or limit that uses them ends up to a second early or late, and a lease may
 * be over at the moment in which it is granted. A lease that counts seconds itself is judged as one
 * second
 * shorter: see lb_file_scale. A hint, like all features: see program_features.h.
 */
#include "program_features.h"

#include "program_raw.h"

#include <ctype.h>
#include <string.h>

static bool is_any_of(const struct lb_token *token, const char *const *words)
{
    for (; token->kind == LB_T_WORD && *words != NULL; words++)
        if (lb_token_is(token, *words))
            return true;
    return false;
}

/* The arguments behind a function's name, without the parentheses; *ret_length 0: there are none.
 */
static const char *arguments(const struct lb_token *name, size_t *ret_length)
{
    const char *at = name->text + name->length;
    unsigned depth = 0;
    *ret_length = 0;
    at += strspn(at, " \t\r\n");
    if (*at != '(')
        return at;
    const char *first = at + 1;
    for (; *at != '\0'; at++) {
        depth += *at == '(';
        if (*at == ')' && --depth == 0)
            break;
    }
    *ret_length = (size_t)(at - first);
    return first;
}

static bool has_word(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (strncmp(text + i, word, n) == 0)
            return true;
    return false;
}

static bool is_whole_in_mariadb(const struct lb_token *token)
{
    static const char *const clocks[] = {"now",       "current_timestamp", "sysdate",
                                         "localtime", "localtimestamp",    "utc_timestamp",
                                         NULL};
    size_t n;
    const char *args = arguments(token, &n);
    args += strspn(args, " ");
    if (lb_token_is(token, "unix_timestamp") && token->kind == LB_T_WORD)
        return n == 0;
    return is_any_of(token, clocks) && (n == 0 || *args < '1' || *args > '6');
}

static bool is_whole_in_sqlite(const struct lb_token *token)
{
    static const char *const clocks[] = {"current_timestamp", "datetime", "unixepoch", NULL};
    size_t n;
    const char *args = arguments(token, &n);
    if (lb_token_is(token, "strftime") && token->kind == LB_T_WORD)
        return has_word(args, n, "%s") && !has_word(args, n, "%f") && !has_word(args, n, "%J");
    return is_any_of(token, clocks) && !has_word(args, n, "subsec");
}

static bool is_op(const struct lb_token *token, char c)
{
    return token->kind == LB_T_OTHER && token->length > 0 && *token->text == c;
}

static bool is_whole_in_postgres(const struct lb_token *token)
{
    static const char *const clocks[] = {"current_timestamp", "localtimestamp", NULL};
    size_t n;
    const char *args = arguments(token, &n);
    if (lb_token_is(token, "date_trunc") && token->kind == LB_T_WORD)
        return has_word(args, n, "second") && !has_word(args, n, "millisecond") &&
               !has_word(args, n, "microsecond");
    return is_any_of(token, clocks) && n > 0 && *args == '0';
}

/* :now / 1000 and the like: on MariaDB the quotient has a fraction, unless it is rounded. */
static bool is_whole_now(const struct lb_window *window, const char *engine)
{
    static const char *const rounders[] = {"floor", "round", "trunc", "truncate", NULL};
    const struct lb_token *t = &window->token[LB_WINDOW], *after = t + 1;
    if (t->kind != LB_T_PARAM || !lb_asks_for_time(t))
        return false;
    if (is_op(after, ':')) /* a cast */
        after += 2;
    bool is_rounded = is_op(t - 1, '(') && is_any_of(t - 2, rounders);
    bool divides = is_op(after, '/') || lb_token_is(after, "div");
    if (!divides || strncmp(after[1].text, "1000", 4) != 0 ||
        isdigit((unsigned char)after[1].text[4]))
        return false;
    return is_rounded || lb_token_is(after, "div") ||
           (strcmp(engine, "mariadb") != 0 && after[1].text[4] != '.');
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
    bool is_cast = (is_op(t - 1, ':') && is_op(t - 2, ')')) || lb_token_is(t - 1, "as");
    epoch->is_asked = epoch->is_asked || lb_token_is(t, "epoch") ||
                      (t->kind == LB_T_QUOTED && t->length == 7 && has_word(t->text, 7, "epoch"));
    epoch->is_whole = epoch->is_whole || is_any_of(t, rounders) || (is_cast && is_any_of(t, types));
    epoch->is_finer =
        epoch->is_finer || (t->kind == LB_T_OTHER && strncmp(t->text, "1000", 4) == 0);
}

static int whole_seconds(const char *sql, size_t length, int line, const char *engine)
{
    bool is_postgres = strcmp(engine, "postgres") == 0;
    bool (*const is_whole)(const struct lb_token *) = strcmp(engine, "mariadb") == 0
                                                          ? is_whole_in_mariadb
                                                      : is_postgres ? is_whole_in_postgres
                                                                    : is_whole_in_sqlite;
    struct lb_window window;
    struct epoch epoch = {0};
    lb_window_start(&window, sql, length, line);
    for (;;) {
        lb_window_slide(&window);
        const struct lb_token *t = &window.token[LB_WINDOW];
        if (t->kind == LB_T_END || t->kind == LB_T_BAD)
            break;
        if ((t->kind == LB_T_WORD && is_whole(t)) || is_whole_now(&window, engine))
            return t->line;
        note_epoch(&window, &epoch);
    }
    return is_postgres && epoch.is_asked && epoch.is_whole && !epoch.is_finer ? line : 0;
}

static int whole_columns(const char *sql, size_t length, int line, const char *engine)
{
    static const char *const types[] = {"datetime", "timestamp", "timestamptz", NULL};
    struct lb_lexer lexer;
    struct lb_token token, before = {0};
    bool is_mariadb = strcmp(engine, "mariadb") == 0;
    if (!is_mariadb && strcmp(engine, "postgres") != 0)
        return 0;
    lb_lexer_init(&lexer, sql, length, line);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END && token.kind != LB_T_BAD) {
        size_t n = 0;
        bool is_column = before.kind == LB_T_WORD || before.kind == LB_T_QUOTED;
        if (is_column && is_any_of(&token, types)) {
            const char *digits = arguments(&token, &n);
            if (is_mariadb ? n == 0 : n > 0 && *digits == '0')
                return token.line;
        }
        if (token.kind != LB_T_BLANK)
            before = token;
    }
    return 0;
}

int lb_whole_seconds(const struct lb_statement *statement, const char *engine)
{
    return whole_seconds(statement->sql, strlen(statement->sql), statement->line, engine);
}

int lb_whole_columns(const struct lb_statement *statement, const char *engine)
{
    return whole_columns(statement->sql, strlen(statement->sql), statement->line, engine);
}

bool lb_file_is_whole(const struct lb_file *file, const char *engine)
{
    const unsigned asked = 1u << LB_S_ACQUIRE | 1u << LB_S_CLAIM | 1u << LB_S_RENEW |
                           1u << LB_S_HEARTBEAT | 1u << LB_S_RECOVER;
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct lb_raw_section *section = &file->sections[i];
        bool is_setup = section->name == LB_S_SETUP;
        if ((!is_setup && (asked >> section->name & 1) == 0) ||
            !lb_raw_section_for(section, engine))
            continue;
        for (size_t k = section->first; k < section->first + section->n_statements; k++) {
            const struct lb_raw_statement *raw = &file->statements[k];
            if (is_setup ? whole_columns(raw->text, raw->length, raw->line, engine) != 0
                         : whole_seconds(raw->text, raw->length, raw->line, engine) != 0)
                return true;
        }
    }
    return false;
}
