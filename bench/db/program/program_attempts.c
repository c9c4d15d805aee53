/* The maximum number of attempts of an item, by the words of the statements.
 *
 * A column compared with a number counts as a count of attempts if its name says so (attempts,
 * retry_count), or if a statement counts it up by one, and none counts it down, as with permits. A
 * column that is only counted down, and compared with nothing, has the remaining attempts. The
 * number may be in the statement, or be an option, or another column: then its default gives it,
 * unless put writes it.
 */
#include "program_raw.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { AT = LB_WINDOW, UNKNOWN = 1 };

static bool is_same(const struct lb_token *a, const struct lb_token *b)
{
    return a->kind == LB_T_WORD && b->kind == LB_T_WORD && lb_token_equals(a, b);
}

/* A file's text ends with a NUL, and so does what a test gives. */
static double value_of(const struct lb_token *token)
{
    return strtod(token->text, NULL);
}

static bool is_called_attempts(const struct lb_token *token)
{
    static const char *const stems[] = {"attempt", "tries", "retr", "receive", "deliver", "fail"};
    if (token->kind != LB_T_WORD)
        return false;
    for (size_t s = 0; s < sizeof stems / sizeof stems[0]; s++)
        for (size_t i = 0; i + strlen(stems[s]) <= token->length; i++)
            if (strncasecmp(token->text + i, stems[s], strlen(stems[s])) == 0)
                return true;
    return false;
}

/* n = n + 1, n = job.n + 1, n = coalesce(n, 0) + 1: at the sign. */
static bool counts_by_one(const struct lb_window *w, const struct lb_token *name, char sign)
{
    const struct lb_token *t = &w->token[AT];
    if (!lb_token_begins(t, sign) || !lb_token_is_number(&t[1]) || value_of(&t[1]) != 1)
        return false;
    if (lb_token_begins(&t[-1], ')'))
        return is_same(&t[-4], name) && lb_token_begins(&t[-7], '=') && is_same(&t[-8], name);
    int before = lb_token_begins(&t[-2], '.') ? -4 : -2;
    return is_same(&t[-1], name) && lb_token_begins(&t[before], '=') &&
           is_same(&t[before - 1], name);
}

static bool is_counted(const struct lb_file *file, const struct lb_token *name, char sign)
{
    for (size_t i = 0; i < file->n_statements && name->kind == LB_T_WORD; i++) {
        const struct lb_raw_statement *raw = &file->statements[i];
        struct lb_window w;
        lb_window_start(&w, raw->text, raw->length, raw->line);
        do {
            lb_window_slide(&w);
            if (counts_by_one(&w, name, sign))
                return true;
        } while (w.token[AT].kind != LB_T_END && w.token[AT].kind != LB_T_BAD);
    }
    return false;
}

/* What a column begins with: its default, but where put writes it. 0: no table has it. */
static double first_value(const struct lb_file *file, const struct lb_token *name)
{
    double value = 0;
    for (size_t i = 0; i < file->n_sections; i++) {
        const struct lb_raw_section *section = &file->sections[i];
        bool is_put = section->name == LB_S_PUT;
        for (size_t k = 0; k < section->n_statements; k++) {
            const struct lb_raw_statement *raw = &file->statements[section->first + k];
            struct lb_window w;
            if (!is_put && section->name != LB_S_SETUP)
                continue;
            lb_window_start(&w, raw->text, raw->length, raw->line);
            do {
                lb_window_slide(&w);
                const struct lb_token *t = &w.token[AT];
                bool is_it = is_same(t, name);
                if (is_it && is_put)
                    return UNKNOWN;
                value = is_it && value == 0 ? UNKNOWN : value;
                for (int n = 1; is_it && n < LB_WINDOW && !lb_token_begins(&t[n], ','); n++)
                    if (lb_token_is(&t[n], "default") && lb_token_is_number(&t[n + 1]))
                        value = value_of(&t[n + 1]);
            } while (w.token[AT].kind != LB_T_END && w.token[AT].kind != LB_T_BAD);
        }
    }
    return value;
}

/* The number that a count is compared with; 0: it is none. */
static double limit_of(const struct lb_file *file, const struct lb_token *count,
                       const struct lb_token *token, const struct lb_setting *settings,
                       size_t n_settings, const char **ret_option)
{
    if (!is_called_attempts(count) &&
        (!is_counted(file, count, '+') || is_counted(file, count, '-')))
        return 0;
    if (lb_token_is_number(token))
        return value_of(token);
    if (token->kind == LB_T_WORD && is_counted(file, count, '+')) /* and no time (failed_at) */
        return first_value(file, token);
    for (size_t i = 0; i < n_settings && token->kind == LB_T_PARAM; i++)
        if (lb_slice_is(token->text + 1, token->length - 1, settings[i].name)) {
            *ret_option = settings[i].name;
            return strtod(settings[i].value, NULL);
        }
    return 0;
}

/* Is it counted down from its first value, and asked to be above nothing? */
static double left_of(const struct lb_file *file, const struct lb_token *token,
                      const struct lb_token *other)
{
    bool is_nothing = lb_token_is_number(other) && value_of(other) == 0;
    return is_nothing && is_counted(file, token, '-') && !is_counted(file, token, '+')
               ? first_value(file, token)
               : 0;
}

/* The last token of the column or the number that begins here: o.n, coalesce(n, 0). */
static const struct lb_token *name_before(const struct lb_token *t)
{
    return lb_token_begins(t, ')') && lb_token_begins(t - 2, ',') ? t - 3 : t;
}

/* n BETWEEN 0 AND 2, n NOT BETWEEN 3 AND 9, n IN (0, 1, 2), n NOT IN (3): what the count stays
 * below. One value alone (n IN (0)) is a state, as with n = 0. */
static double limit_of_set(const struct lb_file *file, const struct lb_token *t,
                           const struct lb_setting *settings, size_t n_settings,
                           const char **ret_option)
{
    bool is_not = lb_token_is(&t[-1], "not"), is_list = lb_token_is(t, "in");
    const struct lb_token *count = name_before(is_not ? &t[-2] : &t[-1]),
                          *most = &t[is_not ? 1 : 3];
    if (is_list) {
        unsigned n = 0;
        most = &t[2];
        for (unsigned i = 2; i < LB_WINDOW && lb_token_is_number(&t[i]); i += 2, n++)
            if ((value_of(&t[i]) > value_of(most)) != is_not)
                most = &t[i];
        if (n < 2 && !is_not)
            return 0;
    }
    double limit = limit_of(file, count, most, settings, n_settings, ret_option);
    return limit > 0 && !is_not ? limit + 1 : limit;
}

/* The token behind <, <=, <> and !=; or behind >, if it begins the operator; NULL: t begins none.
 */
static const struct lb_token *behind_operator(const struct lb_token *t)
{
    bool is_less = lb_token_begins(t, '<') || lb_token_begins(t, '!');
    bool is_more =
        lb_token_begins(t, '>') && !lb_token_begins(&t[-1], '=') && !lb_token_begins(&t[-1], '<');
    if (!is_less && !is_more)
        return NULL;
    return lb_token_begins(&t[1], '=') || (is_less && lb_token_begins(&t[1], '>')) ? &t[2] : &t[1];
}

double lb_attempts_limit(const struct lb_file *file, const struct lb_raw_statement *statement,
                         const struct lb_setting *settings, size_t n_settings,
                         const char **ret_option)
{
    struct lb_window w;
    lb_window_start(&w, statement->text, statement->length, statement->line);
    do {
        lb_window_slide(&w);
        const struct lb_token *t = &w.token[AT];
        double limit = 0;
        if (lb_token_is(t, "between") || lb_token_is(t, "in"))
            limit = limit_of_set(file, t, settings, n_settings, ret_option);
        if (limit > 0)
            return limit;
        const struct lb_token *right = behind_operator(t);
        if (right == NULL)
            continue;
        if (right->kind == LB_T_WORD && lb_token_begins(right + 1, '.'))
            right += 2;
        const struct lb_token *left = name_before(&t[-1]);
        limit = limit_of(file, left, right, settings, n_settings, ret_option);
        limit = limit > 0 ? limit : limit_of(file, right, left, settings, n_settings, ret_option);
        limit = limit > 0 ? limit : left_of(file, left, right);
        if (limit > 0)
            return limit;
    } while (w.token[AT].kind != LB_T_END && w.token[AT].kind != LB_T_BAD);
    return 0;
}
