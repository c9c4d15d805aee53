/* Lengths of time that stand in a statement's text: no option makes them short, and nothing that
 * waits for them can be asked.
 *
 * The text is divided into conditions and items, between AND, WHERE, SET, a comma and the like. A
 * number is a length if it is added to a time (SET until = now() + 30), or compared with an
 * expression with a time in it (unixepoch() - taken > 300); so is a condition that computes with a
 * time and has no parameter at all (taken + seconds < :now: a column's value is as fixed); and a
 * text that names a unit, where a time takes one ('-30 seconds', interval '5 minutes').
 */
#include "program_raw.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { AT = LB_WINDOW };

struct part {
    unsigned depth;          /* of parentheses */
    uint64_t queries, calls; /* bit per depth: these parentheses are a query's, a function's */
    bool has_time, has_sign, has_plus, has_comparison, has_parameter;
    bool adds;       /* a sign, a unit or a function that makes a later time */
    bool asks_older; /* something < a time, or a time > something */
};

/* `=>` names an argument. */
static bool is_comparison(const struct lb_token *token)
{
    return lb_token_begins(token, '<') ||
           (lb_token_begins(token, '>') && !lb_token_begins(token - 1, '='));
}

static bool is_parameter(const struct lb_token *token)
{
    return token->kind == LB_T_OPTION || token->kind == LB_T_POSITION ||
           (token->kind == LB_T_PARAM && !lb_asks_for_time(token));
}

static double value_of(const struct lb_window *w, const struct lb_token *token)
{
    char text[32] = "";
    size_t n = (size_t)(w->lexer.end - token->text);
    memcpy(text, token->text, n < sizeof text ? n : sizeof text - 1);
    return strtod(text, NULL);
}

/* Is what ends before `i` and goes on behind `k` multiplied by more than numbers? */
static bool is_scaled(const struct lb_window *w, int i, int k)
{
    const struct lb_token *t = w->token;
    while (k + 2 <= 2 * LB_WINDOW && (lb_token_begins(&t[k], '*') || lb_token_begins(&t[k], '/') ||
                                      lb_token_begins(&t[k], '.') || lb_token_begins(&t[k], ':'))) {
        bool is_factor = lb_token_begins(&t[k], '*') || lb_token_begins(&t[k], '/');
        if (is_factor && !lb_token_is_number(&t[k + 1]) && t[k + 1].kind != LB_T_QUOTED &&
            !lb_token_is(&t[k + 1], "interval"))
            return true;
        k += 2;
    }
    while (i >= 1 && (lb_token_begins(&t[i], '*') || lb_token_begins(&t[i], '.'))) {
        if (lb_token_begins(&t[i], '*') && !lb_token_is_number(&t[i - 1]))
            return true;
        i -= 2;
    }
    return false;
}

/* --- texts --- */

/* 5 minutes, 300 s, 00:05:00, 30; but not 1 microsecond, which keeps two times apart. */
static bool is_length_text(const char *text, size_t length)
{
    static const char *const units[] = {"s", "m", "h", "d", "w", "y"};
    size_t i = 0;
    while (i < length && (isdigit((unsigned char)text[i]) || text[i] == '.'))
        i++;
    if (i == 0 || strtod(text, NULL) < 0)
        return false;
    if (i < length && text[i] == ':')
        return true;
    if (strtod(text, NULL) <= 0)
        return false;
    while (i < length && text[i] == ' ')
        i++;
    if (i == length || text[i] == '\'')
        return true;
    if (length - i >= 2 &&
        (strncasecmp(text + i, "mi", 2) == 0 || strncasecmp(text + i, "ms", 2) == 0))
        return length - i >= 3 && strncasecmp(text + i, "min", 3) == 0;
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++)
        if (strncasecmp(text + i, units[u], 1) == 0)
            return true;
    return false;
}

static bool has_unit(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (isalpha((unsigned char)text[i]))
            return true;
    return false;
}

static bool is_constant_text(const struct lb_window *w, const struct part *part)
{
    const struct lb_token *t = &w->token[AT];
    if (t->kind != LB_T_QUOTED || *t->text != '\'' || t->length < 3)
        return false;
    const char *text = t->text + 1;
    size_t length = t->length - 2;
    bool is_modifier = *text == '+' || *text == '-';
    if (is_modifier) { /* datetime('now', '-30 seconds') */
        text++;
        length--;
    }
    if (!is_length_text(text, length))
        return false;
    if (is_modifier)
        return has_unit(text, length) && !is_scaled(w, AT - 1, AT + 1);
    if (lb_token_is(&t[-1], "interval"))
        return !is_scaled(w, AT - 2, AT + 1);
    if ((t[1].length == 2 && lb_token_begins(&t[1], ':') && lb_token_is(&t[2], "interval")) ||
        (lb_token_is(&t[1], "as") && lb_token_is(&t[2], "interval")))
        return !is_scaled(w, AT - 1, AT + 1);
    return lb_token_adds(&t[-1]) && part->has_time && has_unit(text, length);
}

/* --- numbers --- */

static bool is_constant_number(const struct lb_window *w, const struct part *part)
{
    const struct lb_token *t = &w->token[AT];
    if (!lb_token_is_number(t) || lb_token_begins(&t[-1], '.'))
        return false;
    double value = value_of(w, t);
    if (value <= 0)
        return false;
    if (lb_token_is(&t[-1], "interval")) /* INTERVAL 30 SECOND */
        return !lb_token_is(&t[1], "microsecond") && !is_scaled(w, AT - 2, AT + 1);
    if (lb_token_begins(&t[-1], ',') && lb_token_is(&t[-4], "timestampadd"))
        return !lb_token_is(&t[-2], "microsecond") && !is_scaled(w, AT - 2, AT + 1);
    if (!part->has_time || is_scaled(w, AT - 1, AT + 1))
        return false;
    if (is_comparison(&t[-1]) || (lb_token_begins(&t[-1], '=') && is_comparison(&t[-2])))
        return !part->has_parameter;
    /* One is a count's step; a half rounds; and the other is where Julian days begin. */
    return lb_token_adds(&t[-1]) && value != 1 && value != 0.5 && value != 2440587.5;
}

/* make_interval(mins => 5) */
static bool is_constant_call(const struct lb_window *w)
{
    const struct lb_token *t = &w->token[AT];
    if (!lb_token_is(t, "make_interval"))
        return false;
    struct lb_lexer lexer;
    struct lb_token token;
    bool has_length = false;
    lb_lexer_init(&lexer, t->text, (size_t)(w->lexer.end - t->text), t->line);
    do {
        token = lb_lexer_next(&lexer);
        if (is_parameter(&token))
            return false;
        has_length = has_length || (lb_token_is_number(&token) && value_of(w, &token) > 0);
    } while (token.kind != LB_T_END && token.kind != LB_T_BAD && !lb_token_begins(&token, ')'));
    return has_length;
}

/* --- a statement --- */

static bool ends_part(const struct lb_token *token, const struct part *part)
{
    static const char *const words[] = {
        "and",    "or",   "where",     "set",    "on",        "when",  "then",  "else", "having",
        "select", "from", "returning", "values", "duplicate", "order", "limit", "for",  NULL};
    return token->kind == LB_T_END || token->kind == LB_T_SEMICOLON ||
           lb_token_is_any(token, words) ||
           (lb_token_begins(token, ',') && (part->calls >> part->depth & 1) == 0);
}

static void add(struct part *part, const struct lb_window *w)
{
    static const char *const queries[] = {"select", "with", NULL};
    static const char *const lists[] = {"values", "in", "any", NULL};
    static const char *const adders[] = {"interval", "make_interval", "timestampadd", "addtime",
                                         NULL};
    const struct lb_token *t = &w->token[AT];
    if (lb_token_begins(t, '(') && part->depth < 63) {
        bool is_query = lb_token_is_any(&t[1], queries);
        bool is_call = !is_query && t[-1].kind == LB_T_WORD && !lb_token_is_any(&t[-1], lists);
        uint64_t bit = UINT64_C(1) << ++part->depth;
        part->queries = (part->queries & ~bit) | (is_query ? bit : 0);
        part->calls = (part->calls & ~bit) | (is_call ? bit : 0);
    } else if (lb_token_begins(t, ')') && part->depth > 0) {
        if ((part->queries >> part->depth & 1) != 0)
            part->has_time = part->has_sign = part->has_comparison = false;
        part->depth--;
    } else if (lb_asks_for_time(t)) {
        part->has_time = true;
    }
    double next = lb_token_is_number(&t[1]) ? value_of(w, &t[1]) : -1;
    bool converts = next == 0 || next == 0.5 || next == 1 || next == 2440587.5;
    part->has_sign = part->has_sign || (lb_token_adds(t) && !converts);
    part->has_plus = part->has_plus || (lb_token_begins(t, '+') && !converts);
    part->has_comparison = part->has_comparison || is_comparison(t);
    if (is_comparison(t))
        part->asks_older = lb_token_begins(t, '<') != part->has_time;
    part->has_parameter = part->has_parameter || is_parameter(t);
    part->adds = part->adds || (lb_token_begins(t, '+') && !converts) ||
                 lb_token_is_any(t, adders) ||
                 (t->kind == LB_T_QUOTED && t->length > 2 && t->text[1] == '+');
}

/* Comparing with a future time is a look ahead; a condition "younger than a time" is no lease's
 * end.
 */
static bool asks_older(const struct part *part)
{
    return part->has_time && part->has_comparison && part->asks_older && !part->has_plus;
}

struct lb_constant lb_constant_length(const struct lb_raw_statement *statement, bool has_option)
{
    struct lb_constant ret = {0};
    struct lb_window w;
    struct part part = {0};
    if (!lb_sql_reads_time(statement->text, statement->length))
        return ret;
    bool is_found = false; /* in this part */
    lb_window_start(&w, statement->text, statement->length, statement->line);
    for (;;) {
        lb_window_slide(&w);
        const struct lb_token *t = &w.token[AT];
        bool computes = !has_option && part.has_time && part.has_sign && part.has_comparison &&
                        !part.has_parameter;
        bool ends = ends_part(t, &part) || t->kind == LB_T_BAD;
        is_found = is_found || (ends && computes) || is_constant_text(&w, &part) ||
                   is_constant_number(&w, &part) || is_constant_call(&w);
        if (!ends) {
            add(&part, &w);
            continue;
        }
        if (is_found) {
            ret.line = statement->line;
            ret.is_other = ret.is_other || (part.has_comparison && !asks_older(&part));
        }
        ret.looks_older = ret.looks_older || asks_older(&part);
        if (part.has_time && part.adds && !part.has_comparison && !part.has_parameter)
            ret.later_line = statement->line;
        if (t->kind == LB_T_END || t->kind == LB_T_BAD)
            return ret;
        is_found = false;
        part = (struct part){.depth = part.depth, .queries = part.queries, .calls = part.calls};
    }
}

struct lb_constant lb_section_constant(const struct lb_file *file, const struct lb_section *section)
{
    struct lb_constant all = {0};
    bool has_option = lb_file_lease(file) != NULL || lb_file_limit(file) != NULL;
    const struct lb_raw_section *raw = lb_raw_of(file, section);
    for (size_t i = 0; raw != NULL && i < raw->n_statements; i++) {
        struct lb_constant found =
            lb_constant_length(&file->statements[raw->first + i], has_option);
        all.line = all.line != 0 ? all.line : found.line;
        all.is_other = all.is_other || found.is_other;
        all.looks_older = all.looks_older || found.looks_older;
        all.later_line = all.later_line != 0 ? all.later_line : found.later_line;
    }
    return all;
}

int lb_put_off_line(const struct lb_file *file, const struct lb_program *program)
{
    const struct lb_section *claim = &program->sections[LB_S_CLAIM];
    const struct lb_section *put = &program->sections[LB_S_PUT];
    return lb_section_constant(file, claim).looks_older ? lb_section_constant(file, put).later_line
                                                        : 0;
}
