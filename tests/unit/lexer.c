/* The lexer of SQL. Each engine has texts, names and comments of its own. Comments, blanks and case
 * change no token.
 */
#include "program_lex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "property.h"

static const enum lb_dialect dialects[] = {LB_SQL_POSTGRES, LB_SQL_MARIADB, LB_SQL_SQLITE};

/* The tokens as one text, "a|=|:b"; "?" if they are not understood. */
static const char *split(const char *sql, enum lb_dialect dialect)
{
    static char text[4000];
    size_t n = 0;
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, sql, dialect);
    text[0] = '\0';
    for (size_t i = 0; i < tokens.n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", i > 0 ? "|" : "",
                              (int)tokens.at[i].length, tokens.at[i].text);
    if (!tokens.is_understood)
        snprintf(text, sizeof text, "?");
    lb_tokens_free(&tokens);
    return text;
}

static void each_engine_has_its_own_quotes_and_comments(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *postgres, *mariadb, *sqlite;
    } cases[] = {
        {"a /* it's */ b", "a|b", "a|b", "a|b"},
        {"a /* /* ' */ b", "?", "a|b", "a|b"},
        {"a /* /* ' */ ' */ b", "a|b", "?", "?"},
        {"a -- it's\nb", "a|b", "a|b", "a|b"},
        {"a--1", "a", "a|-|-|1", "a"},
        {"a # it's\nb", "?", "a|b", "?"},
        {"a /*! it's */ b", "a|b", "?", "a|b"},
        {"a /*M! it's */ b", "a|b", "?", "a|b"},
        {"a /*+ it's */ b", "a|b", "a|b", "a|b"},
        {"'it''s'", "'it''s'", "'it''s'", "'it''s'"},
        {"'a\\' b", "?", "?", "'a\\'|b"},
        {"'a\\'b'", "?", "'a\\'b'", "?"},
        {"'a\\n' b", "'a\\n'|b", "'a\\n'|b", "'a\\n'|b"},
        {"E'a\\'b' c", "E'a\\'b'|c", "E|'a\\'b'|c", "?"},
        {"E'a'\n'\\'b'", "?", "E|'a'|'\\'b'", "?"},
        {"$$ it's $$ b", "$$ it's $$|b", "$$ it's $$|b", "$$ it's $$|b"},
        {"$a$ $$ ' $a$ b", "$a$ $$ ' $a$|b", "$a$ $$ ' $a$|b", "$a$ $$ ' $a$|b"},
        {"u&\"a\" b", "?", "u|&|\"a\"|b", "u|&|\"a\"|b"},
        {"\"it's\" b", "\"it's\"|b", "\"it's\"|b", "\"it's\"|b"},
        {"`it's` b", "?", "`it's`|b", "`it's`|b"},
        {"[it's] b", "?", "?", "[it's]|b"},
        {"a[1]", "a|[|1|]", "a|[|1|]", "a|[1]"},
        {"a\\b", "?", "?", "?"},
        {"a\001b", "?", "?", "?"},
        {"1or 2", "?", "?", "?"},
        {"1e5 0xfF 1.5", "1e5|0xfF|1|.|5", "1e5|0xfF|1|.|5", "1e5|0xfF|1|.|5"},
        {"a<>b!=c->>'d'||e::text", "a|<>|b|!=|c|->>|'d'||||e|::|text",
         "a|<>|b|!=|c|->>|'d'||||e|::|text", "a|<>|b|!=|c|->>|'d'||||e|::|text"},
        {"a=:b and c<=$1", "a|=|:b|and|c|<=|$1", "a|=|:b|and|c|<=|$1", "a|=|:b|and|c|<=|$1"},
        {"'a", "?", "?", "?"},
        {"a /* b", "?", "?", "?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wanted[] = {cases[i].postgres, cases[i].mariadb, cases[i].sqlite};
        for (size_t d = 0; d < 3; d++)
            if (strcmp(split(cases[i].sql, dialects[d]), wanted[d]) != 0)
                fail_msg("%s, dialect %d: %s, not %s", cases[i].sql, (int)dialects[d],
                         split(cases[i].sql, dialects[d]), wanted[d]);
    }
}

static void names_are_names_in_quotes_as_well(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        bool is[3]; /* the name "item", on each engine */
    } cases[] = {
        {"ITEM", {true, true, true}},       {"\"item\"", {true, true, true}},
        {"`item`", {false, true, true}},    {"'item'", {false, false, true}},
        {"[item]", {false, false, true}},   {"$$item$$", {false, false, false}},
        {":item", {false, false, false}},   {"items", {false, false, false}},
        {"E'item'", {false, false, false}}, {"item /* s */", {true, true, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t d = 0; d < 3; d++) {
            struct lb_tokens tokens;
            lb_tokens_read(&tokens, cases[i].sql, dialects[d]);
            bool is =
                tokens.is_understood && tokens.n == 1 && lb_token_names(&tokens.at[0], "item");
            lb_tokens_free(&tokens);
            if (is != cases[i].is[d])
                fail_msg("%s, dialect %d: %d", cases[i].sql, (int)dialects[d], is);
        }
}

/* A literal or a name with an apostrophe is no function that cannot be understood. */
static void words_are_found_in_bodies_of_functions_and_not_in_literals(void **state)
{
    (void)state;
    static const char *const words[] = {"backend_xid", NULL};
    static const struct {
        const char *sql;
        bool has;
    } cases[] = {
        {"SELECT backend_xid", true},
        {"SELECT 1", false},
        {"SELECT 'backend_xid'", false},
        {"CREATE FUNCTION f() AS $$ SELECT backend_xid $$", true},
        {"CREATE FUNCTION f() AS 'SELECT backend_xid'", true},
        {"CREATE FUNCTION f() AS $$ SELECT 'it $$", true},
        {"DO $$ BEGIN EXECUTE $e$ SELECT backend_xid $e$; END $$", true},
        {"DO $$ SELECT 'it $$", true},
        {"SELECT 'it", true},
        {"SELECT $q$it's$q$ <> ''", false},
        {"UPDATE item AS \"it's\" SET id = 1", false},
        {"DO LANGUAGE plpgsql $$ BEGIN PERFORM 'it; END $$", true},
        {"DO LANGUAGE 'plpgsql' $$ BEGIN PERFORM 'it; END $$", true},
        {"DO LANGUAGE plpgsql 'BEGIN PERFORM backend_xid; END'", true},
        {"DO 'BEGIN PERFORM ''it'', backend_xid; END' LANGUAGE plpgsql", true},
        {"DO LANGUAGE plpgsql $$ BEGIN PERFORM 1; END $$", false},
        {"DO E'BEGIN PERFORM n\\157w(); END'", true},
        {"CREATE FUNCTION f() RETURNS int AS E'SELECT n\\157w()' LANGUAGE sql", true},
        {"INSERT INTO item VALUES (1) ON CONFLICT DO NOTHING RETURNING E'it\\'s'", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (lb_sql_has_any(cases[i].sql, LB_SQL_POSTGRES, words) != cases[i].has)
            fail_msg("%s: %d", cases[i].sql, !cases[i].has);
}

/* --- any tokens, written in any way --- */

enum { MOST = 30 };

struct text {
    char at[8000];
    size_t n;
};

static void add(struct text *text, const char *words)
{
    text->n += (size_t)snprintf(text->at + text->n, sizeof text->at - text->n, "%s", words);
}

static const char *pick(struct lb_random *random, const char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return list[lb_random_below(random, n)];
}

static const char *any_token(struct lb_random *random, enum lb_dialect dialect)
{
    static const char *const common[] = {"select",   "update",     "item", "owner",  ":worker",
                                         ":n",       "x1",         "(",    ")",      ",",
                                         "=",        "<>",         "<=",   "+",      "*",
                                         ".",        ";",          "10",   "1e5",    "'text'",
                                         "'--'",     "'/*'",       "''",   "'a''b'", "\"name\"",
                                         "\"it's\"", "\"a /* b\"", NULL},
                             *const postgres[] = {"E'a\\'b'", "$$it's$$", "$x$ $$ $x$", "::",
                                                  "->>",      "$1",       NULL},
                             *const mariadb[] = {"'a\\'b'", "`it's`", "\"a\\\"b\"", NULL},
                             *const sqlite[] = {"[it's]", "`it's`", "'a\\'", NULL};
    const char *const *own = dialect == LB_SQL_POSTGRES  ? postgres
                             : dialect == LB_SQL_MARIADB ? mariadb
                                                         : sqlite;
    return pick(random, lb_random_below(random, 4) == 0 ? own : common);
}

static void add_blank(struct text *text, struct lb_random *random, enum lb_dialect dialect)
{
    static const char *const common[] = {" ",          "\n",
                                         "\t ",        " /* it's */ ",
                                         " /* \" */ ", " /* -- */ ",
                                         " -- it's\n", " -- \"\n",
                                         "/**/",       " /* $$ ` [ */ ",
                                         NULL},
                             *const postgres[] = {" /* ' /* \" */ ' */ ", "/* /**/ */", NULL},
                             *const mariadb[] = {" # it's\n", " /* /* ' */ ", NULL},
                             *const sqlite[] = {" /* /* ' */ ", "--'\n", NULL};
    const char *const *own = dialect == LB_SQL_POSTGRES  ? postgres
                             : dialect == LB_SQL_MARIADB ? mariadb
                                                         : sqlite;
    for (size_t n = 1 + lb_random_below(random, 2); n > 0; n--)
        add(text, pick(random, lb_random_below(random, 3) == 0 ? own : common));
}

/* Words may be written in capitals; texts and quoted names may not. */
static void add_token(struct text *text, const char *token, struct lb_random *random)
{
    size_t from = text->n;
    add(text, token);
    bool is_word = strchr("abcdefghijklmnopqrstuvwxyz:", *token) != NULL;
    for (size_t i = from; is_word && i < text->n; i++)
        if (text->at[i] >= 'a' && text->at[i] <= 'z' && lb_random_below(random, 2) == 0)
            text->at[i] = (char)(text->at[i] - 'a' + 'A');
}

static void check_stream(struct lb_random *random, enum lb_dialect dialect)
{
    const char *wanted[MOST];
    struct text text = {.n = 0};
    size_t n = 1 + lb_random_below(random, MOST);
    add_blank(&text, random, dialect);
    for (size_t i = 0; i < n; i++) {
        do /* E'a' 'b' is one text */
            wanted[i] = any_token(random, dialect);
        while (i > 0 && *wanted[i] == '\'' && *wanted[i - 1] == 'E');
        add_token(&text, wanted[i], random);
        add_blank(&text, random, dialect);
    }
    struct lb_tokens tokens;
    lb_tokens_read(&tokens, text.at, dialect);
    if (!tokens.is_understood || tokens.n != n)
        fail_msg("dialect %d: %zu tokens for %zu: %s", (int)dialect, tokens.n, n, text.at);
    for (size_t i = 0; i < n; i++)
        if (tokens.at[i].length != strlen(wanted[i]) ||
            strncasecmp(tokens.at[i].text, wanted[i], tokens.at[i].length) != 0)
            fail_msg("dialect %d: %.*s for %s: %s", (int)dialect, (int)tokens.at[i].length,
                     tokens.at[i].text, wanted[i], text.at);
    assert_int_equal(tokens.at[n].kind, LB_T_END);
    lb_tokens_free(&tokens);
}

static void comments_blanks_and_case_change_no_token(void **state)
{
    (void)state;
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int i = 0; i < 3000; i++)
        check_stream(&random, dialects[i % 3]);
}

/* The lexer reads any bytes to their end, and not beyond it. */
static void any_bytes_are_read_to_their_end(void **state)
{
    (void)state;
    static const char bytes[] = "'\"`[]$/*-#\\:;{}?ea1 \n\001\377u&!M+=";
    struct lb_random random;
    lb_random_init(&random, lb_test_seed(), 0);
    for (int i = 0; i < 5000; i++) {
        char sql[24];
        size_t n = lb_random_below(&random, sizeof sql);
        for (size_t k = 0; k < n; k++)
            sql[k] = bytes[lb_random_below(&random, sizeof bytes - 1)];
        sql[n] = '\0';
        struct lb_tokens tokens;
        lb_tokens_read(&tokens, sql, dialects[i % 3]);
        const char *end = sql;
        for (size_t k = 0; k < tokens.n; k++) {
            assert_true(tokens.at[k].text >= end && tokens.at[k].length > 0);
            end = tokens.at[k].text + tokens.at[k].length;
        }
        assert_true(end <= sql + n);
        lb_tokens_free(&tokens);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_engine_has_its_own_quotes_and_comments),
        cmocka_unit_test(names_are_names_in_quotes_as_well),
        cmocka_unit_test(words_are_found_in_bodies_of_functions_and_not_in_literals),
        cmocka_unit_test(comments_blanks_and_case_change_no_token),
        cmocka_unit_test(any_bytes_are_read_to_their_end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
