/* Programs: a statement file for one engine and one set of option values.
 *
 * Choosing: of each section the one variant whose [engines] and `when` conditions hold.
 * Translating: each statement is run through the lexer again; `{option}` becomes the option's
 * value, `:name` the engine's placeholder and a slot. Every occurrence of a parameter is a
 * placeholder of its own, so that a server may infer a different type for each.
 * Checking: a parameter must have a source (the harness, an option, or a column of a statement that
 * runs before); a name without one is a mistake in the file, found here and not as a NULL at run
 * time.
 */
#include "program_building.h"

#include "memory.h"
#include "nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- parameters: who fills them? --- */

/* Does a result of this statement have a column of that name? Judged by the words in it, so that
 * it can say yes wrongly (the name stands elsewhere in a SELECT), but never no. */
static bool has_column(const struct lb_raw_statement *statement, const char *name, size_t length)
{
    if (!statement->has_rows)
        return false;
    struct lb_lexer lexer;
    struct lb_token token;
    bool after_start = true;
    size_t skipped = (size_t)(statement->columns - statement->text);
    lb_lexer_init(&lexer, statement->columns, statement->length - skipped, 0);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END) {
        bool is_same = token.length == length && strncasecmp(token.text, name, length) == 0;
        if (token.kind == LB_T_WORD && is_same)
            return true;
        if (token.kind == LB_T_QUOTED && token.length == length + 2 &&
            strncasecmp(token.text + 1, name, length) == 0)
            return true;
        if (token.kind == LB_T_OTHER && *token.text == '*' && after_start)
            return true; /* SELECT *, RETURNING *, t.* */
        if (token.kind != LB_T_BLANK && token.kind != LB_T_HINT)
            after_start = lb_token_is(&token, "select") ||
                          (token.kind == LB_T_OTHER && (*token.text == '.' || *token.text == ','));
    }
    return false;
}

static bool section_has_column(const struct lb_building *b, const struct lb_raw_section *section,
                               size_t n_statements, const char *name, size_t length)
{
    for (size_t i = 0; section != NULL && i < n_statements; i++)
        if (has_column(&b->file->statements[section->first + i], name, length))
            return true;
    return false;
}

/* What a section inherits: the bag of a hold or an item comes from these. */
static bool inherits_column(const struct lb_building *b, enum lb_section_name name,
                            const char *column, size_t length)
{
    static const enum lb_section_name sources[] = {LB_S_ENQUEUE, LB_S_ACQUIRE, LB_S_CLAIM,
                                                   LB_S_RENEW};
    bool has_bag = lb_section_is(name, LB_SECTION_HAS_BAG);
    for (size_t i = 0; has_bag && i < sizeof sources / sizeof sources[0]; i++) {
        const struct lb_raw_section *section = b->chosen[sources[i]];
        if (sources[i] != name && section != NULL &&
            section_has_column(b, section, section->n_statements, column, length))
            return true;
    }
    return false;
}

static bool harness_fills(const struct lb_building *b, int slot, enum lb_section_name section)
{
    bool is_lock = b->file->shape == LB_LOCK;
    switch (slot) {
    case LB_SLOT_RESOURCE:
    case LB_SLOT_RESOURCE_NO:
        return is_lock && !lb_section_is_schema(section) && section != LB_S_RECOVER;
    case LB_SLOT_MODE:
        return is_lock && !lb_section_is_schema(section) && section != LB_S_RECOVER &&
               section != LB_S_RESOURCE;
    case LB_SLOT_CAPACITY:
        return is_lock;
    case LB_SLOT_N:
        return !is_lock && (section == LB_S_PUT || section == LB_S_CLAIM || section == LB_S_AGE);
    case LB_SLOT_PAYLOAD:
    case LB_SLOT_GROUP:
    case LB_SLOT_KEY:
    case LB_SLOT_TENANT:
    case LB_SLOT_PRIORITY:
    case LB_SLOT_DUE:
    case LB_SLOT_UNIQUE_KEY:
        return section == LB_S_PUT;
    case LB_SLOT_ID:
        return !is_lock && section != LB_S_CLAIM && !lb_section_is_schema(section) &&
               !lb_section_is(section, LB_SECTION_IS_OF_PROCESS);
    case LB_SLOT_PROCESS:
    case LB_SLOT_HOST:
        return !is_lock && !lb_section_is_schema(section) &&
               !lb_section_is_for_lockbench(section) && section != LB_S_PUT;
    case LB_SLOT_DELAY_MS:
        return section == LB_S_RETRY;
    case LB_SLOT_CLASS:
        return !is_lock;
    case LB_SLOT_IDS:
    case LB_SLOT_ITEMS:
        return !is_lock && lb_section_is(section, LB_SECTION_MAY_TAKE_BATCH);
    case LB_SLOT_TOKENS:
        return !is_lock && lb_section_is(section, LB_SECTION_MAY_TAKE_BATCH) &&
               inherits_column(b, section, "token", strlen("token"));
    case LB_SLOT_TOKEN:
    case LB_SLOT_TICKET:
        return false;
    default:
        return slot >= 0;
    }
}

static int check_filled(struct lb_building *b, const struct lb_raw_section *section, size_t index,
                        const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    int slot = lb_fixed_slot(name, length);
    if (harness_fills(b, slot, section->name) || lb_building_option(b, name, length) >= 0 ||
        section_has_column(b, section, index, name, length) ||
        inherits_column(b, section->name, name, length))
        return 0;
    if (slot == LB_SLOT_IDS || slot == LB_SLOT_ITEMS || slot == LB_SLOT_TOKENS)
        return lb_file_fail(b->file, token->line, b->err,
                            "section %s: nothing fills :%s here: it is for complete, error, free "
                            "and renew of a queue%s",
                            lb_section_text(section->name), lb_fixed_slots[slot].name,
                            slot == LB_SLOT_TOKENS ? " whose claim returns a column token" : "");
    if (slot >= 0)
        return lb_file_fail(b->file, token->line, b->err,
                            "section %s: nothing fills :%.*s here: no statement before it returns "
                            "a column of that name",
                            lb_section_text(section->name), (int)length, name);
    char word[64], near[LB_NEAREST_TEXT];
    const char *names[LB_SLOT_FIXED + LB_SLOTS];
    size_t n = 0;
    struct lb_nearest nearest;
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    lb_nearest_init(&nearest, word);
    for (int i = 0; i < LB_SLOT_FIXED; i++)
        names[n++] = lb_fixed_slots[i].name;
    for (size_t i = 0; i < b->n_options && n < sizeof names / sizeof names[0]; i++)
        names[n++] = b->options[i]->name;
    for (size_t i = 0; i < n; i++)
        lb_nearest_offer(&nearest, names[i]);
    return lb_file_fail(b->file, token->line, b->err,
                        "section %s: unknown parameter :%s: neither lockbench's, nor an option, "
                        "nor a column that a statement before it returns%s",
                        lb_section_text(section->name), word,
                        lb_nearest_or_all(&nearest, names, n, near, sizeof near));
}

/* --- translating --- */

/* The slot of a parameter, made if it is new; LB_SLOTS when there is no more room. */
static size_t slot_of(struct lb_building *b, const char *name, size_t length)
{
    struct lb_program *program = b->program;
    for (size_t i = 0; i < program->n_slots; i++)
        if (lb_slice_is(name, length, program->slot_name[i]))
            return i;
    if (program->n_slots == LB_SLOTS)
        return LB_SLOTS;
    program->slot_name[program->n_slots] = lb_arena_copy(&b->arena, name, length);
    return program->n_slots++;
}

static void set_default(struct lb_building *b, size_t slot)
{
    const char *name = b->program->slot_name[slot];
    int i = lb_building_option(b, name, strlen(name));
    int64_t number;
    if (i < 0)
        return;
    const char *value = b->resolved[i].value;
    b->program->defaults[slot] =
        lb_building_is_integer(value, &number) ? lb_int(number) : lb_text(value, strlen(value));
}

static int add_parameter(struct lb_building *b, const struct lb_raw_section *section, size_t index,
                         const struct lb_token *token, struct lb_statement *statement)
{
    const char *name;
    size_t length;
    char placeholder[16];
    if (check_filled(b, section, index, token) != 0)
        return LB_E_FILE;
    lb_token_name(token, &name, &length);
    size_t slot = slot_of(b, name, length);
    if (slot == LB_SLOTS || statement->n_params == LB_PARAMS)
        return lb_file_fail(b->file, token->line, b->err, "more than %d parameters",
                            slot == LB_SLOTS ? LB_SLOTS : LB_PARAMS);
    set_default(b, slot);
    bool is_column = section_has_column(b, section, index, name, length) ||
                     inherits_column(b, section->name, name, length);
    if (is_column)
        b->program->carries |= UINT64_C(1) << slot;
    enum lb_type type = b->program->defaults[slot].type;
    /* Columns and options named as an attribute are the file's own. */
    bool is_attribute = slot >= LB_SLOT_KEY && slot < LB_SLOT_FIXED && section->name == LB_S_PUT &&
                        !is_column && type == LB_NULL;
    if (slot < LB_SLOT_KEY || is_attribute) {
        type = lb_fixed_slots[slot].type;
        b->program->uses |= UINT32_C(1) << slot;
    }
    if (is_attribute)
        b->program->attributes |= (uint8_t)(1u << (slot - LB_SLOT_KEY));
    statement->param_slot[statement->n_params] = (uint8_t)slot;
    statement->param_type[statement->n_params] = type;
    int n = b->db->placeholder(statement->n_params++, placeholder, sizeof placeholder);
    lb_growing_add(&b->sql, token->text, token->length);
    lb_growing_add(&b->native, placeholder, n > 0 ? (size_t)n : strlen(placeholder));
    return 0;
}

static int add_option(struct lb_building *b, const struct lb_token *token)
{
    const char *name;
    size_t length;
    lb_token_name(token, &name, &length);
    int i = lb_building_option(b, name, length);
    if (i < 0)
        return lb_file_fail(b->file, token->line, b->err, "{%.*s}: there is no such option",
                            (int)length, name);
    if (b->options[i]->choices == NULL)
        return lb_file_fail(b->file, token->line, b->err,
                            "{%s}: only an option with a list of choices can be text of a "
                            "statement; write :%s",
                            b->options[i]->name, b->options[i]->name);
    const char *value = b->resolved[i].value;
    lb_growing_add(&b->sql, value, strlen(value));
    lb_growing_add(&b->native, value, strlen(value));
    return 0;
}

static int translate_token(struct lb_building *b, const struct lb_raw_section *section,
                           size_t index, const struct lb_token *token,
                           struct lb_statement *statement)
{
    switch (token->kind) {
    case LB_T_PARAM:
        return add_parameter(b, section, index, token, statement);
    case LB_T_OPTION:
        return add_option(b, token);
    case LB_T_POSITION:
        /* PostgreSQL has operators with a question mark in them. */
        if (*token->text == '$' || !b->db->has_question_operators)
            return lb_file_fail(b->file, token->line, b->err, "%.*s: parameters are written :name",
                                (int)token->length, token->text);
        break;
    case LB_T_COMMENT:
        return 0;
    default:
        break;
    }
    lb_growing_add(&b->sql, token->text, token->length);
    lb_growing_add(&b->native, token->text, token->length);
    return 0;
}

static int translate(struct lb_building *b, const struct lb_raw_section *section, size_t index)
{
    const struct lb_raw_statement *raw = &b->file->statements[section->first + index];
    struct lb_statement *statement = &b->statements[b->program->n_statements];
    *statement =
        (struct lb_statement){.when = raw->when,
                              .on_error = raw->has_on_error ? raw->on_error : section->on_error,
                              .require_row = raw->require_row,
                              .is_write = raw->is_write,
                              .on_replica = raw->on_replica,
                              .line = raw->line};
    b->sql.length = b->native.length = 0;
    struct lb_lexer lexer;
    struct lb_token token;
    lb_lexer_init(&lexer, raw->text, raw->length, raw->line);
    while ((token = lb_lexer_next(&lexer)).kind != LB_T_END) {
        int r = translate_token(b, section, index, &token, statement);
        if (r != 0)
            return r;
    }
    lb_growing_add(&b->sql, "", 1);
    lb_growing_add(&b->native, "", 1);
    statement->sql = lb_arena_copy(&b->arena, b->sql.bytes, b->sql.length - 1);
    statement->native = lb_arena_copy(&b->arena, b->native.bytes, b->native.length - 1);
    b->program->n_statements++;
    b->program->reads_replica |= raw->on_replica;
    return 0;
}

/* Does the section delete rows? Judged by the word, outside of texts and comments. */
static bool deletes(const struct lb_building *b, const struct lb_raw_section *section)
{
    for (size_t i = 0; section != NULL && i < section->n_statements; i++) {
        const struct lb_raw_statement *statement = &b->file->statements[section->first + i];
        struct lb_lexer lexer;
        struct lb_token token;
        lb_lexer_init(&lexer, statement->text, statement->length, statement->line);
        while ((token = lb_lexer_next(&lexer)).kind != LB_T_END)
            if (lb_token_is(&token, "delete"))
                return true;
    }
    return false;
}

/* The sections whose hold's end may be nothing but a commit, and the completion of what its claim
 * has deleted. */
static bool may_be_empty(const struct lb_building *b, enum lb_section_name name)
{
    const struct lb_raw_section *begin =
        b->chosen[b->file->shape == LB_LOCK ? LB_S_ACQUIRE : LB_S_CLAIM];
    bool ends = name == LB_S_RELEASE || name == LB_S_COMPLETE || name == LB_S_FREE;
    return lb_section_is_schema(name) || (ends && begin != NULL && begin->tx == LB_TX_HOLD) ||
           (name == LB_S_COMPLETE && deletes(b, begin));
}

/* The slots of the statement's parameters, a bit each. */
static uint64_t slots_of(const struct lb_statement *statement)
{
    uint64_t slots = 0;
    for (size_t i = 0; i < statement->n_params; i++)
        slots |= UINT64_C(1) << statement->param_slot[i];
    return slots;
}

/* The statement of put that answers if none is marked: the last one that has the item's number.
 * A statement after it (for a class that may be known already) does not concern the item. */
static size_t putting(const struct lb_section *section)
{
    size_t last = section->n_statements > 0 ? section->n_statements - 1 : 0;
    for (size_t k = section->n_statements; k-- > 0;) {
        const struct lb_statement *one = &section->statements[k];
        if (one->when != LB_WHEN_ALWAYS)
            return last;
        if ((slots_of(one) >> LB_SLOT_ID & 1) != 0)
            return k;
    }
    return last;
}

static int build_sections(struct lb_building *b)
{
    struct lb_program *program = b->program;
    for (int i = 0; i < LB_SECTIONS; i++) {
        const struct lb_raw_section *raw = b->chosen[i];
        if (raw == NULL)
            continue;
        if (raw->n_statements == 0 && !may_be_empty(b, raw->name))
            return lb_file_fail(b->file, raw->line, b->err, "section %s has no statement%s",
                                lb_section_text(raw->name),
                                raw->name == LB_S_COMPLETE
                                    ? "; it may be empty if the claim deletes its items"
                                    : "");
        program->needs |= raw->needs;
        program->sections[i] = (struct lb_section){.present = true,
                                                   .tx = raw->tx,
                                                   .keeps_session = raw->keeps_session,
                                                   .commits_always = raw->commits_always,
                                                   .begin = raw->begin,
                                                   .on_error = raw->on_error,
                                                   .n_statements = raw->n_statements,
                                                   .answer = raw->answer,
                                                   .line = raw->line};
        if (raw->answer == SIZE_MAX)
            program->sections[i].answer = raw->n_statements > 0 ? raw->n_statements - 1 : 0;
        for (size_t k = 0; k < raw->n_statements; k++) {
            int r = translate(b, raw, k);
            if (r != 0)
                return r;
        }
    }
    return 0;
}

/* A section that ends or prolongs a whole claim has no value of a single item. */
static int check_batches(struct lb_building *b)
{
    static const enum lb_section_name names[] = {LB_S_COMPLETE, LB_S_ERROR, LB_S_FREE, LB_S_RENEW};
    const uint64_t lists = 1u << LB_SLOT_IDS | 1u << LB_SLOT_TOKENS | 1u << LB_SLOT_ITEMS;
    struct lb_program *program = b->program;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct lb_section *section = &program->sections[names[n]];
        uint64_t used = 0;
        for (size_t k = 0; k < section->n_statements; k++)
            used |= slots_of(&section->statements[k]);
        section->takes_batch = (used & lists) != 0;
        if (!section->takes_batch)
            continue;
        for (size_t slot = 0; slot < program->n_slots; slot++) {
            const char *name = program->slot_name[slot];
            bool is_items = slot == LB_SLOT_ID || inherits_column(b, names[n], name, strlen(name));
            if ((used >> slot & 1) != 0 && is_items)
                return lb_file_fail(
                    b->file, section->line, b->err,
                    "section %s: :%s is one item's, but the section is for all items "
                    "of a claim at once; use :ids, :tokens and :items alone",
                    lb_section_text(names[n]), name);
        }
    }
    return 0;
}

/* The item put must be the item claimed: its number comes from :id. Without :n the section puts one
 * item, and is run once for each. */
static int check_put(struct lb_building *b)
{
    struct lb_program *program = b->program;
    const struct lb_section *put = &program->sections[LB_S_PUT];
    uint64_t used = 0;
    for (size_t k = 0; k < put->n_statements; k++)
        used |= slots_of(&put->statements[k]);
    bool has_id = (used >> LB_SLOT_ID & 1) != 0, has_n = (used >> LB_SLOT_N & 1) != 0;
    bool has_group = (used >> LB_SLOT_GROUP & 1) != 0;
    program->puts_one = !has_n;
    if (program->attributes != 0 && has_n)
        return lb_file_fail(b->file, put->line, b->err,
                            "section put has :n and attributes of one item (:key, :tenant, "
                            ":priority, :due or :unique_key). Without :n it is run once for each "
                            "item");
    if (has_group && has_n)
        return lb_file_fail(b->file, put->line, b->err,
                            "section put has :n and :group: items of one put would all be of one "
                            "group. Without :n it is run once for each item");
    if (!has_group && put->present && (b->file->claims & LB_G_BIT(LB_G_GROUP_EXCLUSIVE)) != 0)
        return lb_file_fail(b->file, put->line, b->err,
                            "claims group-exclusive, and section put does not use :group, the "
                            "group of the item that it puts");
    if (!put->present || has_id)
        return 0;
    return lb_file_fail(b->file, put->line, b->err,
                        "section put does not use :id, the number of the item that it puts");
}

/* Statements that can be asked for their columns: CALL and the like cannot. */
static bool has_known_columns(const struct lb_raw_statement *statement)
{
    static const char *const words[] = {"select", "with",    "values", "update", "insert",
                                        "delete", "replace", "merge",  NULL};
    struct lb_lexer lexer;
    lb_lexer_init(&lexer, statement->text, statement->length, statement->line);
    struct lb_token first = lb_lexer_next(&lexer);
    return lb_token_is_any(&first, words);
}

static int check_permits(struct lb_building *b)
{
    const struct lb_section *permits = &b->program->sections[LB_S_PERMITS];
    const struct lb_raw_section *raw = b->chosen[LB_S_PERMITS];
    if ((b->file->claims & LB_G_BIT(LB_G_PERMITS)) == 0)
        return 0;
    if (!permits->present)
        return lb_file_fail(
            b->file, b->program->sections[LB_S_ACQUIRE].line, b->err,
            "claims permits, and has no section permits, which says how many are free");
    if (raw == NULL || raw->n_statements == 0)
        return 0;
    const struct lb_raw_statement *answer = &b->file->statements[raw->first + permits->answer];
    if (!has_known_columns(answer) || has_column(answer, "free", 4))
        return 0;
    return lb_file_fail(b->file, answer->line, b->err,
                        "section permits: the statement that answers returns no column free: "
                        "SELECT ... AS free, how many permits of :resource can be taken");
}

/* Nobody knows what was claimed unless the statement that answers says it: where its condition
 * keeps it from being run, the one above it does. Only one that found no row need not. */
static int check_claim(struct lb_building *b)
{
    const struct lb_raw_section *claim = b->chosen[LB_S_CLAIM];
    if (claim == NULL || claim->n_statements == 0)
        return 0;
    const struct lb_raw_statement *answer = NULL;
    bool is_covered[LB_WHEN_NO_ROW + 1] = {false}; /* one below answers in this case */
    for (size_t i = b->program->sections[LB_S_CLAIM].answer + 1; i-- > 0;) {
        const struct lb_raw_statement *one = &b->file->statements[claim->first + i];
        bool answers = !is_covered[one->when == LB_WHEN_NO_ROW ? LB_WHEN_NO_ROW : LB_WHEN_ROW];
        is_covered[one->when] = true;
        if (answers && has_known_columns(one) && !has_column(one, "id", 2))
            answer = one;
        if (one->when == LB_WHEN_ALWAYS)
            break;
    }
    if (answer == NULL)
        return 0;
    return lb_file_fail(b->file, answer->line, b->err,
                        "section claim: the statement that answers returns no column id: add "
                        "RETURNING id, or put \"-- answer: row\" above the statement that "
                        "returns it");
}

static bool compares_time(const struct lb_building *b, enum lb_section_name section)
{
    const struct lb_section *is = &b->program->sections[section];
    for (size_t k = 0; k < is->n_statements; k++)
        if (lb_sql_compares_time(is->statements[k].sql, b->db->dialect))
            return true;
    return false;
}

/* Does it ask how old a claim is? Whoever does not takes what the living have as well. A time that
 * it only writes down (SET freed_at = now() WHERE ...) asks nothing. */
static bool recovers_by_time(const struct lb_building *b, enum lb_section_name section)
{
    const struct lb_section *recover = &b->program->sections[section];
    if (b->file->limit.is_said && b->file->limit.name == NULL)
        return recover->present && b->file->limit.is_fixed;
    const struct lb_timing *lease = lb_file_lease(b->file);
    const struct lb_timing *limit =
        lease != NULL && lease->by_recover ? lease : lb_file_limit(b->file);
    for (size_t k = 0; k < recover->n_statements; k++) {
        const struct lb_statement *statement = &recover->statements[k];
        for (size_t i = 0; i < statement->n_params; i++) {
            const char *name = b->program->slot_name[statement->param_slot[i]];
            if (statement->param_slot[i] == LB_SLOT_TTL_MS ||
                (limit != NULL && strcmp(name, limit->name) == 0))
                return true;
        }
    }
    return compares_time(b, section);
}

/* A lock's recover frees what its acquire never takes over: no statement there compares a time. */
static bool frees_instead(const struct lb_building *b)
{
    const struct lb_section *sections = b->program->sections;
    return sections[LB_S_ACQUIRE].present && sections[LB_S_RECOVER].present &&
           !compares_time(b, LB_S_ACQUIRE);
}

static int keep_statements(struct lb_building *b)
{
    struct lb_program *program = b->program;
    size_t bytes = (program->n_statements + 1) * sizeof(struct lb_statement);
    struct lb_statement *kept = lb_arena_alloc(&b->arena, bytes);
    memcpy(kept, b->statements, program->n_statements * sizeof *kept);
    program->statements = kept;
    for (int i = 0; i < LB_SECTIONS; i++) {
        program->sections[i].statements = kept;
        kept += program->sections[i].n_statements;
    }
    if (b->chosen[LB_S_PUT] != NULL && b->chosen[LB_S_PUT]->answer == SIZE_MAX)
        program->sections[LB_S_PUT].answer = putting(&program->sections[LB_S_PUT]);
    program->recovers_by_time = recovers_by_time(b, LB_S_RECOVER);
    lb_building_settle_facts(b);
    program->strangers_line = lb_building_strangers_line(b);
    const struct lb_timing *lease = lb_file_lease(b->file);
    program->ends_by_recover = (lease != NULL && lease->by_recover) || frees_instead(b);
    program->sweeps_by_life =
        program->sections[LB_S_HEARTBEAT].present || recovers_by_time(b, LB_S_SWEEP);
    int r = check_put(b);
    if (r == 0)
        r = check_permits(b);
    if (r == 0)
        r = lb_building_check_promises(b);
    if (r == 0)
        r = check_batches(b);
    return r == 0 ? check_claim(b) : r;
}

static int build(struct lb_building *b, const struct lb_option *options,
                 const struct lb_setting *settings, size_t n_settings)
{
    int r = lb_building_add_options(b, options);
    if (r == 0)
        r = lb_building_add_options(b, b->file->options);
    for (size_t i = 0; r == 0 && i < n_settings; i++)
        r = lb_building_set_option(b, &settings[i]);
    if (r != 0)
        return r;
    lb_building_keep_settings(b);
    b->program->origin = lb_arena_copy(&b->arena, b->file->origin, strlen(b->file->origin));
    /* A lease length that the file declares is in force whether or not a statement has it. */
    for (size_t i = 0; i < LB_SLOT_FIXED; i++)
        set_default(b, i);
    r = lb_building_choose(b);
    if (r == 0)
        r = lb_building_check_space(b);
    if (r == 0)
        r = build_sections(b);
    if (r == 0)
        r = keep_statements(b);
    return r;
}

int lb_program_new(const struct lb_file *file, const struct lb_db *db,
                   const struct lb_option *options, const struct lb_setting *settings,
                   size_t n_settings, struct lb_program **ret_program, struct lb_error *err)
{
    struct lb_program *program = lb_calloc(1, sizeof *program);
    struct lb_building *b = lb_calloc(1, sizeof *b);
    b->file = file;
    b->db = db;
    b->program = program;
    b->err = err;
    program->db = db;
    program->shape = file->shape;
    program->isolation = file->isolation;
    program->needs = file->needs;
    program->n_slots = LB_SLOT_FIXED;
    for (size_t i = 0; i < LB_SLOT_FIXED; i++)
        program->slot_name[i] = lb_fixed_slots[i].name;
    int r = build(b, options, settings, n_settings);
    program->memory = b->arena.chunks;
    free(b->sql.bytes);
    free(b->native.bytes);
    free(b);
    if (r != 0) {
        lb_program_free(program);
        return r;
    }
    *ret_program = program;
    return 0;
}

void lb_program_free(struct lb_program *program)
{
    if (program == NULL)
        return;
    lb_arena_free(program->memory);
    free(program->appended);
    free(program);
}
