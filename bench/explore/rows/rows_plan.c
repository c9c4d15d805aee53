/* Reads a statement's scans from EXPLAIN: see rows.h.
 *
 * The plan is made with sequential scans only and with parameters left open, so that each scan's
 * filter is the statement's whole condition on a row by itself. Anything unexpected makes the
 * statement one that is not understood.
 */
#include "rows.h"

#include "memory.h"
#include "nearest.h"
#include "program_lex.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts of conditions --- */

static struct lb_token token_at(const char *at)
{
    struct lb_lexer lexer;
    lb_lexer_init(&lexer, at, strlen(at), 1);
    lexer.dialect = LB_SQL_POSTGRES;
    return lb_lexer_next(&lexer);
}

/* Takes parentheses off that enclose everything, and casts behind it: "((a)::text)" is "a". */
static void strip(char *text)
{
    while (text[0] == '(') {
        size_t n = strlen(text), depth = 0, end = 0;
        for (struct lb_token token = token_at(text); token.length > 0;
             token = token_at(token.text + token.length)) {
            depth += lb_token_is_sign(&token, "(");
            if (!lb_token_is_sign(&token, ")") || --depth > 0)
                continue;
            end = (size_t)(token.text - text);
            break;
        }
        bool has_cast =
            strncmp(text + end + 1, "::", 2) == 0 &&
            strspn(text + end + 3, "abcdefghijklmnopqrstuvwxyz 0123456789") == n - end - 3;
        if (end == 0 || (end != n - 1 && !has_cast))
            return;
        memmove(text, text + 1, end - 1);
        text[end - 1] = '\0';
    }
}

/* The place of `what` in text outside of parentheses and quotes; NULL: nowhere. */
static char *find_outside(char *text, const char *what)
{
    size_t depth = 0;
    for (struct lb_token token = token_at(text); token.length > 0;
         token = token_at(token.text + token.length)) {
        if (depth == 0 && strncmp(token.text, what, strlen(what)) == 0)
            return text + (token.text - text);
        depth += lb_token_is_sign(&token, "(");
        depth -= lb_token_is_sign(&token, ")") && depth > 0;
    }
    return NULL;
}

/* Which parameter, from 0, if that is all there is; -1: something else. */
static int param_of(const char *text)
{
    char copy[100];
    char *end;
    snprintf(copy, sizeof copy, "%s", text);
    strip(copy);
    if (copy[0] != '$')
        return -1;
    long n = strtol(copy + 1, &end, 10);
    if (strncmp(end, "::", 2) == 0)
        end += strlen(end);
    return *end == '\0' && n > LB_ROW_PARAM_SHIFT ? (int)n - LB_ROW_PARAM_SHIFT - 1 : -1;
}

static bool is_column(const char *text, const char *alias, const char *column)
{
    char copy[300], wanted[200];
    snprintf(copy, sizeof copy, "%s", text);
    strip(copy);
    snprintf(wanted, sizeof wanted, "%s.%s", alias, column);
    return strcmp(copy, wanted) == 0;
}

/* Parameters that are the same in each execution: their value as a literal; NULL: another one. */
static const char *constant(const struct lb_row_reader *reader, int param, char *buf, size_t size)
{
    if (param < 0 || (size_t)param >= reader->statement->n_params)
        return NULL;
    switch (reader->statement->param_slot[param]) {
    case LB_SLOT_CLASS:
        return "'default'";
    case LB_SLOT_GROUP: /* all items are of one */
        return "'group0'";
    case LB_SLOT_RESOURCE:
        return "'r0'";
    case LB_SLOT_RESOURCE_NO:
        return "0";
    case LB_SLOT_N:
        snprintf(buf, size, "%u", reader->batch);
        return buf;
    default:
        return NULL;
    }
}

/* True if comparing with it, and nothing else, distinguishes two rows. A value that a worker keeps
 * between statements may belong to another row. */
static bool is_plain(const struct lb_row_reader *reader, int param)
{
    char buf[20];
    if (param < 0 || (size_t)param >= reader->statement->n_params)
        return false;
    uint8_t slot = reader->statement->param_slot[param];
    return constant(reader, param, buf, sizeof buf) != NULL || slot == LB_SLOT_WORKER ||
           slot == LB_SLOT_ID || slot == LB_SLOT_TOKEN || slot == LB_SLOT_MODE ||
           slot == LB_SLOT_TTL_MS || slot == LB_SLOT_PERIOD_MS || slot == LB_SLOT_PAYLOAD;
}

/* Is the word a name, and a table's or a function's that the condition on one row may not use?
 * Calls may tell the time, but no time of day, and no date: the clock is not asked for those, see
 * add_own.
 */
static bool is_foreign(const struct lb_token *word, const char *alias)
{
    static const char *const harmless[] = {
        "clock_timestamp", "now", "any", "and", "or", "not", NULL};
    static const char *const times_of_day[] = {"current_time", "current_date", "localtime", NULL};
    bool is_alias = strlen(alias) == word->length && memcmp(alias, word->text, word->length) == 0;
    return (lb_token_is_sign(word + 1, ".") && !is_alias) || lb_token_is_any(word, times_of_day) ||
           (lb_token_is_sign(word + 1, "(") && !lb_token_is_any(word, harmless)) ||
           (word->length >= 7 && memcmp(word->text, "SubPlan", 7) == 0);
}

/* Writes the condition with the constants filled in. False if a token is not allowed. */
static bool write_own(const struct lb_row_reader *reader, const char *text,
                      const struct lb_tokens *tokens, const char *alias, FILE *out, bool *ret_open)
{
    const char *at = text; /* written up to here */
    char buf[20];
    for (size_t i = 0; i < tokens->n; i++) {
        const struct lb_token *token = &tokens->at[i];
        if (token->kind == LB_T_POSITION) {
            int param = (int)strtol(token->text + 1, NULL, 10) - LB_ROW_PARAM_SHIFT - 1;
            const char *value = constant(reader, param, buf, sizeof buf);
            if (value == NULL && !is_plain(reader, param))
                return false;
            *ret_open = *ret_open || value == NULL;
            fprintf(out, "%.*s%s", (int)(token->text - at), at, value != NULL ? value : "NULL");
            at = token->text + token->length;
        } else if (token->kind == LB_T_WORD) {
            if (is_foreign(token, alias))
                return false;
            while (lb_token_is_sign(&tokens->at[i + 1], ".") && i + 2 < tokens->n)
                i += 2;
        } else if (token->is_name ||
                   (token->kind == LB_T_OTHER && strcspn(token->text, "/%~@#^") < token->length)) {
            return false;
        }
    }
    fputs(at, out);
    return tokens->is_understood;
}

/* True if the condition uses the columns of `alias` only, and can be evaluated on any row without
 * an error. *ret_own: the condition with the constants filled in; caller frees. *ret_open: it has
 * other parameters. */
static bool is_own(const struct lb_row_reader *reader, const char *text, const char *alias,
                   char **ret_own, bool *ret_open)
{
    struct lb_tokens tokens;
    size_t size;
    FILE *out = lb_open_memory(ret_own, &size);
    *ret_open = false;
    lb_tokens_read(&tokens, text, LB_SQL_POSTGRES);
    bool is = write_own(reader, text, &tokens, alias, out, ret_open);
    lb_tokens_free(&tokens);
    lb_close_memory(out);
    return is;
}

/* --- scans --- */

/* The number of the node's table; tables->n: it has none. */
static size_t table_of(const struct lb_row_reader *reader, const json_t *node)
{
    const char *name = json_string_value(json_object_get(node, "Relation Name"));
    return lb_tables_find(reader->tables, name != NULL ? name : "");
}

static void add_condition(struct lb_row_rules *rules, struct lb_row_ref *ref, const char *alias,
                          const char *text)
{
    if (ref->condition >= 0) { /* of the same scan: and */
        char *first = rules->condition[ref->condition];
        rules->condition[ref->condition] = lb_format("%s AND (%s)", first, text);
        free(first);
        return;
    }
    if (rules->n_conditions == LB_ROW_CONDITIONS)
        return; /* none is the same as one that is always met */
    size_t i = rules->n_conditions++;
    rules->table_of[i] = ref->table;
    rules->alias[i] = lb_strdup(alias);
    rules->condition[i] = lb_format("(%s)", text);
    ref->condition = (int8_t)i;
}

/* The condition with the transaction's time replaced by the time now; caller frees. *ret_is_timed:
 * it was there. */
static char *by_clock(const char *text, bool *ret_is_timed)
{
    static const char *const times[][2] = {{"now", "clock_timestamp"},
                                           {"current_timestamp", "clock_timestamp()"},
                                           {"localtimestamp", "clock_timestamp()::timestamp"}};
    char *asked = NULL;
    size_t size;
    const char *at = text; /* written up to here */
    FILE *out = lb_open_memory(&asked, &size);
    *ret_is_timed = false;
    for (struct lb_token token = token_at(text); token.length > 0;
         token = token_at(token.text + token.length))
        for (size_t t = 0; t < sizeof times / sizeof times[0]; t++) {
            bool is_column = t == 0 && token.text[token.length] != '('; /* item.now */
            if (!lb_token_is(&token, times[t][0]) || is_column)
                continue;
            *ret_is_timed = true;
            fprintf(out, "%.*s%s", (int)(token.text - at), at, times[t][1]);
            at = token.text + token.length;
        }
    fputs(at, out);
    lb_close_memory(out);
    return asked;
}

/* A transaction's now() lies before times that it stores by the clock; that of a later transaction
 * does not. So the condition is evaluated with either. */
static void add_own(struct lb_row_rules *rules, struct lb_row_ref *ref, const char *alias,
                    const char *text)
{
    bool is_timed;
    char *now = by_clock(text, &is_timed);
    char *either = lb_format("(%s) OR (%s)", text, now);
    add_condition(rules, ref, alias, is_timed ? either : text);
    free(now);
    free(either);
}

/* True for a column of another scan ("next.id"), and for the result of a sub-select ("$0"): NULL if
 * that has no row. Anything else may have a value in any case. Strips the text. */
static bool is_of_a_row(char *text)
{
    strip(text);
    bool is_name = strchr(text, '.') != NULL && !isdigit((unsigned char)text[0]);
    return (is_name || text[0] == '$') && text[strcspn(text, " (:'")] == '\0';
}

/* The key is joined with something: of one value, or nothing is known of it. *ret_is_computed: it
 * may have that value without a row of another scan. */
static bool is_joined_key(const struct lb_row_reader *reader, const char *text, const char *alias,
                          uint8_t table, bool *ret_is_computed)
{
    const struct lb_row_table *facts = &reader->rules->tables[table];
    char copy[600];
    snprintf(copy, sizeof copy, "%s", text);
    char *equals = find_outside(copy, " = ");
    if (equals == NULL || facts->n_keys != 1)
        return false;
    *equals = '\0';
    bool is_left = is_column(copy, alias, facts->key[0]),
         is = is_left || is_column(equals + 3, alias, facts->key[0]);
    *ret_is_computed = is && !is_of_a_row(is_left ? equals + 3 : copy);
    return is;
}

/* One of the conditions that a scan's filter joins by AND. */
static void take_conjunct(struct lb_row_reader *reader, struct lb_row_ref *ref, const char *alias,
                          char *text)
{
    const struct lb_row_table *facts = &reader->rules->tables[ref->table];
    char *own = NULL;
    bool is_open, is_computed;
    strip(text);
    char *equals = find_outside(text, " = ");
    if (equals != NULL) {
        char left[500], right[500];
        snprintf(left, sizeof left, "%.*s", (int)(equals - text), text);
        snprintf(right, sizeof right, "%s", equals + 3);
        int param = param_of(right);
        for (size_t k = 0; k < facts->n_keys && param >= 0; k++)
            if (is_column(left, alias, facts->key[k]) && is_plain(reader, param)) {
                reader->has_more[reader->told->n_refs - 1] = true;
                ref->param[k] = (int8_t)param;
                return;
            }
    }
    if (is_own(reader, text, alias, &own, &is_open)) {
        reader->has_more[reader->told->n_refs - 1] = true;
        if (!is_open) /* with an open parameter: it says less, and asks of one row only */
            add_own(reader->rules, ref, alias, own);
    } else if (is_joined_key(reader, text, alias, ref->table, &is_computed)) {
        ref->is_joined = true;
        reader->has_others = reader->has_others || is_computed;
    } else {
        reader->fails = true;
    }
    free(own);
}

static void take_filter(struct lb_row_reader *reader, struct lb_row_ref *ref, const char *alias,
                        const char *filter)
{
    if (filter == NULL)
        return;
    char *copy = lb_strdup(filter);
    strip(copy);
    for (char *at = copy; at != NULL;) {
        char *next = find_outside(at, " AND ");
        if (next != NULL) {
            *next = '\0';
            next += strlen(" AND ");
        }
        take_conjunct(reader, ref, alias, at);
        at = next;
    }
    free(copy);
}

static void take_scan(struct lb_row_reader *reader, const json_t *node, bool locks)
{
    size_t table = table_of(reader, node);
    const char *alias = json_string_value(json_object_get(node, "Alias"));
    struct lb_row_statement *told = reader->told;
    if (table == reader->tables->n || alias == NULL || strchr(alias, '"') != NULL ||
        told->n_refs == LB_ROW_REFS) {
        reader->fails = true;
        return;
    }
    if (locks)
        reader->locks |= 1u << table;
    unsigned i = told->n_refs++;
    struct lb_row_ref *ref = &told->refs[i];
    *ref = (struct lb_row_ref){.table = (uint8_t)table, .condition = -1, .param = {-1, -1, -1}};
    snprintf(reader->alias[i], sizeof reader->alias[i], "%s", alias);
    reader->is_locked[i] = locks;
    take_filter(reader, ref, alias, json_string_value(json_object_get(node, "Filter")));
    const struct lb_row_table *facts = &reader->rules->tables[table];
    ref->is_keyed = facts->n_keys > 0;
    for (size_t k = 0; k < facts->n_keys; k++)
        ref->is_keyed = ref->is_keyed && ref->param[k] >= 0;
}

/* What joins two inputs: each of its conditions has to be one on a whole key. */
static void take_join(struct lb_row_reader *reader, const char *condition)
{
    if (condition == NULL)
        return;
    char *copy = lb_strdup(condition);
    strip(copy);
    bool found = false, is_computed;
    for (unsigned i = 0; i < reader->told->n_refs && find_outside(copy, " AND ") == NULL; i++)
        if (is_joined_key(reader, copy, reader->alias[i], reader->told->refs[i].table,
                          &is_computed)) {
            reader->has_others = reader->has_others || is_computed;
            reader->told->refs[i].is_joined = true;
            found = true;
        }
    reader->fails = reader->fails || !found;
    free(copy);
}

/* --- nodes --- */

static void take_modify(struct lb_row_reader *reader, const json_t *node)
{
    const char *operation = json_string_value(json_object_get(node, "Operation"));
    const char *alias = json_string_value(json_object_get(node, "Alias"));
    size_t table = table_of(reader, node);
    if (operation == NULL || strcmp(operation, "Merge") == 0 || table == reader->tables->n ||
        alias == NULL || json_object_get(node, "Conflict Resolution") != NULL ||
        reader->n_targets == LB_ROW_REFS) {
        reader->fails = true;
        return;
    }
    reader->locks |= 1u << table;
    reader->told->changes |= 1u << table;
    if (strcmp(operation, "Insert") != 0)
        snprintf(reader->target[reader->n_targets++], sizeof reader->target[0], "%s", alias);
}

static void take_node(struct lb_row_reader *reader, const json_t *node, bool locks)
{
    static const char *const others[] = {"Limit",
                                         "LockRows",
                                         "Sort",
                                         "CTE Scan",
                                         "Result",
                                         "Nested Loop",
                                         "Hash Join",
                                         "Hash",
                                         "Materialize",
                                         "Function Scan",
                                         "Incremental Sort",
                                         "ProjectSet",
                                         "Subquery Scan",
                                         "ModifyTable",
                                         "Seq Scan",
                                         NULL};
    const char *type = json_string_value(json_object_get(node, "Node Type"));
    if (type == NULL || !lb_is_one_of(type, others)) {
        reader->fails = true;
        return;
    }
    bool is_scan = strcmp(type, "Seq Scan") == 0;
    const char *once = json_string_value(json_object_get(node, "One-Time Filter"));
    const char *join = json_string_value(json_object_get(node, "Join Type"));
    bool has_filter = json_object_get(node, "Filter") != NULL;
    if ((!is_scan && has_filter) || once != NULL ||
        (join != NULL && strcmp(join, "Inner") != 0 && strcmp(join, "Semi") != 0))
        reader->fails = true;
    const char *parent = json_string_value(json_object_get(node, "Parent Relationship"));
    const char *subplan = json_string_value(json_object_get(node, "Subplan Name"));
    reader->n_limits += strcmp(type, "Limit") == 0;
    reader->has_others = reader->has_others || strcmp(type, "Result") == 0 ||
                         strcmp(type, "Function Scan") == 0 || strcmp(type, "ProjectSet") == 0;
    reader->n_sources += parent != NULL && strcmp(parent, "InitPlan") == 0 && subplan != NULL;
    locks = locks || strcmp(type, "LockRows") == 0;
    if (strcmp(type, "ModifyTable") == 0)
        take_modify(reader, node);
    if (is_scan)
        take_scan(reader, node, locks);
    size_t i;
    json_t *child;
    json_array_foreach(json_object_get(node, "Plans"), i, child)
    {
        take_node(reader, child, locks);
    }
    take_join(reader, json_string_value(json_object_get(node, "Hash Cond")));
    take_join(reader, json_string_value(json_object_get(node, "Join Filter")));
}

/* A joined scan must be that of the changed table, and touches the one row that it changed: all
 * joined rows are changed if it has no other condition, and if it has one, it must be joined on one
 * key. */
static void look_at_refs(struct lb_row_reader *reader)
{
    struct lb_row_statement *told = reader->told;
    for (unsigned i = 0; i < told->n_refs; i++) {
        struct lb_row_ref *ref = &told->refs[i];
        bool is_target = false;
        if (ref->is_keyed)
            continue;
        if (!ref->is_joined) {
            reader->n_conditional++;
            continue;
        }
        for (unsigned t = 0; t < reader->n_targets; t++)
            is_target = is_target || strcmp(reader->target[t], reader->alias[i]) == 0;
        bool is_one = reader->n_limits == 1 && reader->n_sources == 1;
        ref->follows_lock = told->n_refs == 2 && reader->is_locked[1 - i] &&
                            !told->refs[1 - i].is_joined && !reader->has_more[i] &&
                            !reader->has_others;
        if (is_target && (is_one || !reader->has_more[i]))
            continue;
        /* It reads rows that no statement changes, or more than can be represented. */
        reader->rules->tables[ref->table].is_odd = true;
    }
}

void lb_row_read_plan(struct lb_row_reader *reader, const char *json)
{
    json_error_t ignored;
    json_t *root = json_loads(json, 0, &ignored);
    const json_t *plan = json_object_get(json_array_get(root, 0), "Plan");
    if (plan == NULL)
        reader->fails = true;
    else
        take_node(reader, plan, false);
    look_at_refs(reader);
    json_decref(root);
}
