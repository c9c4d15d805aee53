/* Statements in the words of one client: see show_parts.h. */
#include "show_parts.h"

#include "program_lex.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum lb_dialect dialect; /* of the servers that it speaks to */
} clients[] = {
    [LB_CLIENT_FILE] = {"", LB_SQL_ANY},           [LB_CLIENT_PSQL] = {"psql", LB_SQL_POSTGRES},
    [LB_CLIENT_MYSQL] = {"mysql", LB_SQL_MARIADB}, [LB_CLIENT_SQLITE] = {"sqlite", LB_SQL_SQLITE},
    [LB_CLIENT_JDBC] = {"jdbc", LB_SQL_ANY},       [LB_CLIENT_LIBPQ] = {"libpq", LB_SQL_POSTGRES}};
enum { CLIENTS = sizeof clients / sizeof clients[0] };

static const struct {
    const char *example, *meaning;
} slots[LB_SLOT_FIXED] = {
    [LB_SLOT_WORKER] = {"w1", "name of the caller; no two workers have the same"},
    [LB_SLOT_RESOURCE] = {"r0", "name of the lock"},
    [LB_SLOT_RESOURCE_NO] = {"0", "number of the lock"},
    [LB_SLOT_MODE] = {"exclusive", "exclusive or shared"},
    [LB_SLOT_CAPACITY] = {"1", "how many may hold the lock"},
    [LB_SLOT_TTL_MS] = {"30000", "length of a lease in milliseconds; longer than any honest hold"},
    [LB_SLOT_NOW] = {"1700000000000", "the caller's clock, in milliseconds since 1970"},
    [LB_SLOT_N] = {"1", "how many items"},
    [LB_SLOT_PAYLOAD] = {"work", "content of the item"},
    [LB_SLOT_ID] = {"1", "number of the item"},
    [LB_SLOT_TOKEN] = {"1", "token that acquire or claim returned for this hold"},
    [LB_SLOT_PERIOD_MS] = {"1000", "period of recurring work in milliseconds"},
    [LB_SLOT_SPACE_NO] = {"1", "a number of the application's own, for advisory locks"},
    [LB_SLOT_CLASS] = {"mail", "kind of task, where one table has several"},
    [LB_SLOT_TICKET] = {"1", "number that enqueue returned"},
    [LB_SLOT_IDS] = {"", "list of the items that are ended together"},
    [LB_SLOT_TOKENS] = {"", "list of their tokens, in the same order"},
    [LB_SLOT_ITEMS] = {"", "list of both"},
    [LB_SLOT_GROUP] = {"g0", "group of the item"},
    [LB_SLOT_PROCESS] = {"p1", "name of the caller's process"},
    [LB_SLOT_HOST] = {"h1", "machine of the caller's process"},
    [LB_SLOT_DELAY_MS] = {"1000", "milliseconds until a failed item is due again"},
};

int lb_client_find(const char *name, const struct lb_db **engine, enum lb_client *ret,
                   struct lb_error *err)
{
    int found = LB_CLIENT_PSQL;
    while (found < CLIENTS && strcmp(clients[found].name, name) != 0)
        found++;
    if (found == CLIENTS)
        return lb_fail(err, LB_E_USAGE,
                       "option --as: '%s' is not one of psql, mysql, sqlite, jdbc, libpq", name);
    bool is_any = clients[found].dialect == LB_SQL_ANY;
    for (size_t e = 0; !is_any && *engine == NULL && lb_engines[e] != NULL; e++)
        if (lb_engines[e]->dialect == clients[found].dialect)
            *engine = lb_engines[e];
    if (!is_any && *engine != NULL && (*engine)->dialect != clients[found].dialect)
        return lb_fail(err, LB_E_USAGE, "option --as: %s does not speak to %s", name,
                       (*engine)->product);
    *ret = (enum lb_client)found;
    return 0;
}

/* --- parameters --- */

bool lb_client_uses(const struct lb_program *program, size_t slot)
{
    for (size_t s = 0; s < program->n_statements; s++)
        for (size_t p = 0; p < program->statements[s].n_params; p++)
            if (program->statements[s].param_slot[p] == slot)
                return true;
    return false;
}

static bool is_text(const struct lb_program *program, size_t slot)
{
    for (size_t s = 0; s < program->n_statements; s++)
        for (size_t p = 0; p < program->statements[s].n_params; p++)
            if (program->statements[s].param_slot[p] == slot)
                return program->statements[s].param_type[p] == LB_TEXT;
    return false;
}

/* The example of a list depends on the engine. */
static void example_of(const struct lb_program *program, size_t slot, char *buf, size_t size)
{
    const struct lb_value *value = &program->defaults[slot];
    bool is_postgres = program->db->dialect == LB_SQL_POSTGRES;
    if (slot == LB_SLOT_IDS || slot == LB_SLOT_TOKENS)
        snprintf(buf, size, is_postgres ? "{1}" : "[1]");
    else if (slot == LB_SLOT_ITEMS)
        snprintf(buf, size, "[{\"id\": 1, \"token\": 1}]");
    else if (slot < LB_SLOT_FIXED)
        snprintf(buf, size, "%s", slots[slot].example);
    else if (value->type == LB_INT)
        snprintf(buf, size, "%" PRId64, value->integer);
    else if (value->type == LB_TEXT)
        snprintf(buf, size, "%.*s", (int)value->length, value->text);
    else
        snprintf(buf, size, "1");
}

static void print_value(const struct lb_program *program, enum lb_client client, size_t slot)
{
    const char *name = program->slot_name[slot], *quote = is_text(program, slot) ? "'" : "";
    char value[100];
    example_of(program, slot, value, sizeof value);
    if (client == LB_CLIENT_PSQL)
        printf("\\set %s %s%s%s\n", name, quote, value, quote);
    else if (client == LB_CLIENT_MYSQL)
        printf("SET @%s = %s%s%s;\n", name, quote, value, quote);
    else if (client == LB_CLIENT_SQLITE && quote[0] != '\0')
        printf(".parameter set :%s \"'%s'\"\n", name, value);
    else if (client == LB_CLIENT_SQLITE)
        printf(".parameter set :%s %s\n", name, value);
}

void lb_client_legend(const struct lb_program *program, enum lb_client client)
{
    static const char *const signs[CLIENTS] = {":", ":", "@", ":", "", ""};
    bool is_first = true;
    for (size_t slot = 0; slot < program->n_slots; slot++) {
        if (program->slot_name[slot] == NULL || !lb_client_uses(program, slot))
            continue;
        const char *meaning = slot < LB_SLOT_FIXED ? slots[slot].meaning
                              : program->defaults[slot].type != LB_NULL
                                  ? "option of the strategy"
                                  : "what a statement before returned under this name";
        printf("%s--   %s%s (%s): %s\n", is_first ? "--\n-- Parameters\n" : "", signs[client],
               program->slot_name[slot], is_text(program, slot) ? "text" : "integer", meaning);
        is_first = false;
    }
    if (client != LB_CLIENT_PSQL && client != LB_CLIENT_MYSQL && client != LB_CLIENT_SQLITE)
        return;
    printf("\n-- Examples: set your own values.\n");
    for (size_t slot = 0; slot < program->n_slots; slot++)
        if (program->slot_name[slot] != NULL && lb_client_uses(program, slot))
            print_value(program, client, slot);
}

/* --- statements --- */

/* MySQL and MariaDB take no variable behind LIMIT, but a placeholder. */
static bool has_limit(const char *sql)
{
    struct lb_lexer lexer;
    struct lb_token token;
    bool is_behind = false;
    lb_lexer_init(&lexer, sql, strlen(sql), 1);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END) {
        if (token.kind == LB_T_PARAM && is_behind)
            return true;
        if (token.kind != LB_T_BLANK)
            is_behind = lb_token_is(&token, "limit") || lb_token_is(&token, "offset");
    }
    return false;
}

/* Inside of a text in single quotes, as PREPARE takes it. */
static void print_quoted(const struct lb_token *token)
{
    for (size_t i = 0; i < token->length; i++) {
        if (token->text[i] == '\'' || token->text[i] == '\\')
            putchar(token->text[i]);
        putchar(token->text[i]);
    }
}

static void print_parameter(enum lb_client client, bool is_prepared, size_t n,
                            const struct lb_statement *statement, const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    if (client == LB_CLIENT_LIBPQ)
        printf("$%zu", n + 1);
    else if (client == LB_CLIENT_JDBC || is_prepared)
        putchar('?');
    else if (client == LB_CLIENT_MYSQL)
        printf("@%.*s", (int)length, name);
    else if (client == LB_CLIENT_PSQL && statement->param_type[n] == LB_TEXT)
        printf(":'%.*s'", (int)length, name);
    else
        printf(":%.*s", (int)length, name);
}

static void print_statement(const struct lb_program *program, const struct lb_statement *statement,
                            enum lb_client client)
{
    struct lb_lexer lexer;
    struct lb_token token;
    size_t n = 0;
    bool is_prepared = client == LB_CLIENT_MYSQL && has_limit(statement->sql);
    bool is_numbered = client == LB_CLIENT_JDBC || client == LB_CLIENT_LIBPQ;
    for (size_t p = 0; is_numbered && p < statement->n_params; p++)
        printf("%s%s%zu = %s (%s)%s", p == 0 ? "-- " : ", ", client == LB_CLIENT_LIBPQ ? "$" : "",
               p + 1, program->slot_name[statement->param_slot[p]],
               statement->param_type[p] == LB_TEXT ? "text" : "bigint",
               p + 1 == statement->n_params ? "\n" : "");
    if (is_prepared)
        printf("PREPARE lockbench FROM '");
    lb_lexer_init(&lexer, statement->sql, strlen(statement->sql), 1);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END) {
        if (token.kind == LB_T_PARAM)
            print_parameter(client, is_prepared, n++, statement, &token);
        else if (is_prepared)
            print_quoted(&token);
        else if (client == LB_CLIENT_JDBC && token.kind == LB_T_POSITION && *token.text == '?')
            printf("??");
        else
            printf("%.*s", (int)token.length, token.text);
    }
    puts(is_prepared ? "';" : ";");
    for (size_t p = 0; is_prepared && p < statement->n_params; p++)
        printf("%s@%s%s", p == 0 ? "EXECUTE lockbench USING " : ", ",
               program->slot_name[statement->param_slot[p]],
               p + 1 == statement->n_params ? ";\n" : "");
}

void lb_client_warn_recover(const struct lb_program *program, FILE *out)
{
    const char *what = program->shape == LB_LOCK ? "holds" : "items";
    if (program->sections[LB_S_HEARTBEAT].present)
        return;
    if (program->recovers_by_time)
        fprintf(
            out,
            "-- Warning! This also takes the %s of a live worker that is slower than the limit.\n"
            "-- Set the limit above the longest honest work, or let workers renew.\n",
            what);
    else
        fprintf(out,
                "-- Warning! This takes the %s of all workers, also of those that are alive.\n"
                "-- Run it only while no worker runs.\n",
                what);
}

static void print_section(const struct lb_program *program, enum lb_section_name name,
                          enum lb_client client)
{
    static const char *const begins[] = {[LB_BEGIN_DEFAULT] = "BEGIN",
                                         [LB_BEGIN_DEFERRED] = "BEGIN DEFERRED",
                                         [LB_BEGIN_IMMEDIATE] = "BEGIN IMMEDIATE",
                                         [LB_BEGIN_EXCLUSIVE] = "BEGIN EXCLUSIVE"};
    const struct lb_section *section = &program->sections[name];
    putchar('\n');
    if (name == LB_S_RECOVER)
        lb_client_warn_recover(program, stdout);
    printf("-- %s\n", lb_section_text(name));
    if (section->tx != LB_TX_EACH)
        printf("%s;\n", begins[section->begin]);
    for (size_t i = 0; i < section->n_statements; i++) {
        const struct lb_statement *statement = &section->statements[i];
        if (statement->when != LB_WHEN_ALWAYS)
            printf("-- Only if the statement before %s a row.\n",
                   statement->when == LB_WHEN_ROW ? "returned or changed"
                                                  : "neither returned nor changed");
        if (statement->on_replica)
            puts("-- On a replica.");
        if (statement->require_row)
            puts("-- If this neither returns nor changes a row, stop here.");
        print_statement(program, statement, client);
    }
    bool ends_hold = name == LB_S_RELEASE || name == LB_S_COMPLETE || name == LB_S_ERROR ||
                     name == LB_S_FREE || name == LB_S_RETRY;
    bool is_held = program->sections[LB_S_ACQUIRE].tx == LB_TX_HOLD ||
                   program->sections[LB_S_CLAIM].tx == LB_TX_HOLD;
    if (section->tx == LB_TX_ONE || (ends_hold && is_held))
        puts("COMMIT;");
    else if (section->tx == LB_TX_HOLD)
        puts("-- The transaction stays open until the hold ends.");
}

void lb_client_sections(const struct lb_program *program, enum lb_client client)
{
    for (int name = 0; name < LB_SECTIONS; name++)
        if (program->sections[name].present)
            print_section(program, (enum lb_section_name)name, client);
}
