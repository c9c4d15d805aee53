/* Facts that a verdict depends on and that a history cannot show: the number of tries of an item,
 * the owner of the rows that a release changes, the time at which an item is due, and the lease.
 *
 * The file states each one in a directive. Where it does not, and its text hints at one, the hint
 * is kept with its line: it makes a verdict a question, and never an answer.
 */
#include "exploring.h"
#include "nearest.h"
#include "program_building.h"
#include "program_features.h"
#include "program_lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first of these options that is not 0, be it by its default. */
static bool guess_due_by(const struct lb_building *b, unsigned options, struct lb_guess *guess)
{
    for (size_t i = 0; i < b->file->n_options; i++) {
        const char *name = b->file->options[i].name;
        int k = lb_building_option(b, name, strlen(name));
        if ((options >> i & 1) == 0 || k < 0 || strcmp(b->resolved[k].value, "0") == 0)
            continue;
        guess->line = b->file->option_line[i];
        snprintf(guess->directive, sizeof guess->directive, "-- due: %.40s", name);
        return true;
    }
    return false;
}

/* Is an item that is put, was given back, or failed, due at a time that only the statement, or an
 * option that is set, knows? What put adds to a time is when the item is due only if claim asks
 * whether a time is over: it may also be when the item is dropped. */
static void guess_due(const struct lb_building *b, struct lb_guess *guess)
{
    static const enum lb_section_name ends[] = {LB_S_FREE, LB_S_RETRY, LB_S_ERROR};
    const struct lb_section *sections = b->program->sections;
    bool looks_older = lb_section_constant(b->file, &sections[LB_S_CLAIM]).looks_older;
    if (guess_due_by(b, b->file->delays, guess) ||
        (looks_older && guess_due_by(b, b->file->put_delays, guess)))
        return;
    guess->line = lb_put_off_line(b->file, b->program);
    for (size_t e = 0; e < sizeof ends / sizeof ends[0] && guess->line == 0; e++)
        guess->line = lb_section_constant(b->file, &sections[ends[e]]).later_line;
    snprintf(guess->directive, sizeof guess->directive, "-- due: later");
}

static void guess_rows(const struct lb_program *program, struct lb_guess *guess)
{
    guess->line = lb_program_own_rows_line(program);
    snprintf(guess->directive, sizeof guess->directive, "-- rows: own");
}

/* Of several limits the least. */
static void guess_attempts(const struct lb_building *b, struct lb_guess *guess)
{
    for (int s = 0; s < LB_SECTIONS; s++) {
        const struct lb_raw_section *raw = lb_raw_of(b->file, &b->program->sections[s]);
        for (size_t i = 0; raw != NULL && s != LB_S_SETUP && i < raw->n_statements; i++) {
            const struct lb_raw_statement *statement = &b->file->statements[raw->first + i];
            const char *option = NULL;
            double limit =
                lb_attempts_limit(b->file, statement, b->resolved, b->n_options, &option);
            if (limit < 1 || (guess->line != 0 && limit >= guess->value))
                continue;
            guess->line = statement->line;
            guess->value = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
            if (option != NULL)
                snprintf(guess->directive, sizeof guess->directive, "-- attempts: %.40s", option);
            else
                snprintf(guess->directive, sizeof guess->directive, "-- attempts: %u",
                         guess->value);
        }
    }
}

/* The word, or the value of the option that it names; NULL: it is not stated. */
static const char *value_of(const struct lb_building *b, const struct lb_stated *stated)
{
    if (stated->text == NULL)
        return NULL;
    int k = lb_building_option(b, stated->text, strlen(stated->text));
    return k >= 0 ? b->resolved[k].value : stated->text;
}

/* An option is taken for the lease by its name, or by its place beside a time. */
static void guess_lease(const struct lb_file *file, struct lb_guess *guess)
{
    const struct lb_timing *lease = lb_file_lease(file);
    if (lease == NULL || lease->is_said || strcmp(lease->name, "ttl_ms") == 0)
        return;
    guess->line = lease->line;
    snprintf(guess->directive, sizeof guess->directive, "-- %s: %.40s",
             lease->by_recover ? "limit" : "lease", lease->name);
}

enum { SECOND_MS = 1000 };

/* A hold taken late in one second ends early in another. */
static void guess_clock(const struct lb_building *b, struct lb_guess *guess)
{
    const struct lb_timing *lease = lb_file_lease(b->file), *limit = lb_file_limit(b->file);
    if ((lease == NULL || lease->unit_ms < SECOND_MS) &&
        (limit == NULL || limit->unit_ms < SECOND_MS))
        return;
    guess->line = lb_file_whole_line(b->file, b->db);
    guess->value = SECOND_MS;
    snprintf(guess->directive, sizeof guess->directive, "-- precision: seconds");
}

/* The statement by which a section takes claims that are old, as far as its text shows; NULL: it
 * has :ttl_ms, or no time at all. */
static const struct lb_statement *takes_old(const struct lb_building *b, enum lb_section_name name)
{
    const struct lb_section *section = &b->program->sections[name];
    const struct lb_statement *found = NULL;
    for (size_t k = 0; k < section->n_statements; k++) {
        const struct lb_statement *statement = &section->statements[k];
        if (lb_statement_has_param(statement, LB_SLOT_TTL_MS))
            return NULL;
        if (found == NULL && lb_sql_compares_time(statement->sql, b->db->dialect))
            found = statement;
    }
    return found;
}

/* Of a queue: recover, or sweep, takes claims of living workers that are old enough. */
static void guess_limit(const struct lb_building *b, struct lb_guess *guess)
{
    const struct lb_timing *limit = lb_file_limit(b->file);
    const struct lb_statement *statement = takes_old(b, LB_S_RECOVER);
    if (statement == NULL)
        statement = takes_old(b, LB_S_SWEEP);
    if (statement == NULL)
        return;
    guess->line = statement->line;
    snprintf(guess->directive, sizeof guess->directive, "-- limit: %.40s",
             limit != NULL ? limit->name : "fixed");
}

/* A number of ms: "1s", or an option, with the unit of its name (window_ms). 0: it is neither. */
static uint32_t time_of(const struct lb_building *b, const struct lb_stated *stated)
{
    const char *value = value_of(b, stated);
    char *end, name[40];
    if (value == NULL)
        return 0;
    unsigned long number = strtoul(value, &end, 10);
    if (value == stated->text)
        snprintf(name, sizeof name, "x_%s", end + strspn(end, " "));
    else
        snprintf(name, sizeof name, "%s", *end == '\0' ? stated->text : "");
    unsigned long unit = lb_unit_of_name(name);
    return number < UINT32_MAX && number * unit < UINT32_MAX ? (uint32_t)(number * unit) : 0;
}

/* The option of that name, if it may be 1. */
static const char *option_of(const struct lb_file *file, const char *name)
{
    for (size_t i = 0; i < file->n_options; i++) {
        const struct lb_option *option = &file->options[i];
        if (strcmp(option->name, name) == 0 &&
            (option->choices == NULL || lb_is_one_of("1", option->choices)))
            return option->name;
    }
    return NULL;
}

static void settle_rate(const struct lb_building *b)
{
    const struct lb_file *file = b->file;
    const char *most = value_of(b, &file->rate);
    b->program->rate = most != NULL ? (uint32_t)strtoul(most, NULL, 10) : 0;
    b->program->rate_ms = time_of(b, &file->rate_time);
    b->program->rate_option = most != NULL ? option_of(file, file->rate.text) : NULL;
}

void lb_program_guess_lease(struct lb_program *program, int line)
{
    program->guesses[LB_GUESS_LEASE] = (struct lb_guess){line, "-- lease: fixed", 0};
}

void lb_building_settle_facts(struct lb_building *b)
{
    struct lb_program *program = b->program;
    const struct lb_file *file = b->file;
    const char *attempts = value_of(b, &file->attempts), *rows = value_of(b, &file->rows);
    const char *due = value_of(b, &file->due);
    program->attempts_text = file->attempts.text;
    program->attempts_option = attempts != NULL ? option_of(file, file->attempts.text) : NULL;
    program->attempts = attempts != NULL ? (uint32_t)strtoul(attempts, NULL, 10) : 0;
    const char *key_limit = value_of(b, &file->key_limit);
    program->key_limit = key_limit != NULL ? (uint32_t)strtoul(key_limit, NULL, 10) : 0;
    program->key_limit_option = key_limit != NULL ? option_of(file, file->key_limit.text) : NULL;
    settle_rate(b);
    const char *share = value_of(b, &file->share);
    const double part = share != NULL ? strtod(share, NULL) : 0;
    program->share_milli = part > 0 && part <= 1 ? (uint32_t)(part * 1000 + 0.5) : 0;
    const char *unique = value_of(b, &file->unique);
    program->unique = unique == NULL ? 0 : strcmp(unique, "until-claimed") == 0 ? 2 : 1;
    const char *priority = value_of(b, &file->priority);
    program->priority = priority == NULL ? 0 : strcmp(priority, "lowest-first") == 0 ? 2 : 1;
    program->own_rows = rows != NULL && strcmp(rows, "own") == 0;
    program->is_due_said = due != NULL;
    program->due_later = due != NULL && strcmp(due, "at-once") != 0 && strcmp(due, "0") != 0;
    const char *clock = value_of(b, &file->clock);
    program->tick_ms = clock != NULL && strcmp(clock, "fine") != 0 && strcmp(clock, "0") != 0
                           ? SECOND_MS
                           : b->db->inexact_ms;
    if (file->is_built_in) /* its descriptor says what it is */
        return;
    bool asks_for_loss = (file->claims & LB_G_BIT(LB_G_NO_LOSS)) != 0;
    bool asks_for_owner = (file->claims & LB_G_BIT(LB_G_OWNER_RELEASE)) != 0;
    guess_lease(file, &program->guesses[LB_GUESS_LEASE]);
    if (asks_for_loss && attempts == NULL)
        guess_attempts(b, &program->guesses[LB_GUESS_ATTEMPTS]);
    if (asks_for_loss && due == NULL)
        guess_due(b, &program->guesses[LB_GUESS_DUE]);
    if (clock == NULL)
        guess_clock(b, &program->guesses[LB_GUESS_CLOCK]);
    if (file->shape == LB_QUEUE && !file->limit.is_said)
        guess_limit(b, &program->guesses[LB_GUESS_LIMIT]);
    if (file->shape == LB_LOCK && asks_for_owner && rows == NULL)
        guess_rows(program, &program->guesses[LB_GUESS_ROWS]);
}

char *lb_guess_text(enum lb_guessed guessed, const struct lb_guess *guess, char *buf, size_t size)
{
    static const char *const other[LB_GUESSES] = {"-- lease: none",     "-- attempts: unlimited",
                                                  "-- rows: shared",    "-- due: at-once",
                                                  "-- precision: fine", "-- limit: none"};
    static const char *const what[LB_GUESSES] = {
        "a hold may end by itself",
        "an item may be tried a few times only",
        "a release may change a row of its worker's own",
        "an item may be due later",
        "a lease or limit may end up to a second early or late",
        "a recovery may take what a living worker has"};
    bool is_limit = strncmp(guess->directive, "-- limit", strlen("-- limit")) == 0;
    snprintf(buf, size, "%s: write \"%s\" or \"%s\" into the header", what[guessed],
             guess->directive, is_limit ? "-- limit: none" : other[guessed]);
    return buf;
}

bool lb_sql_sees_strangers(const struct lb_db *db, const char *sql)
{
    const char *const *words = lb_exploring(db)->tells_under_way;
    return words != NULL && lb_sql_has_any(sql, db->dialect, words);
}

/* Also by a function that set-up makes. */
int lb_building_strangers_line(const struct lb_building *b)
{
    for (size_t i = 0; i < b->program->n_statements; i++)
        if (lb_sql_sees_strangers(b->db, b->program->statements[i].sql))
            return b->program->statements[i].line;
    return 0;
}
