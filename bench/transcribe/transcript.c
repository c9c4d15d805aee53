/* Writes a recording as a file, with its head, set-up and teardown: see transcript.h. */
#include "transcript.h"

#include "guarantee.h"
#include "memory.h"
#include "nearest.h"
#include "section.h"
#include "text_clean.h"

#include <stdlib.h>
#include <string.h>

/* A session's lock that goes with no transaction. */
static const char *session_of(const struct lb_section_writer *w)
{
    static const char *const locks[] = {"pg_advisory_lock", "pg_advisory_lock_shared",
                                        "pg_try_advisory_lock", "pg_try_advisory_lock_shared"};
    for (size_t i = 0; i < w->parts[0].n; i++)
        for (size_t k = 0; k < sizeof locks / sizeof locks[0]; k++)
            if (lb_part_has(&w->parts[0].parts[i], locks[k]))
                return " session=keep";
    return "";
}

/* --- set-up --- */

static bool has_literal(const struct lb_part *part, const char *literal)
{
    struct lb_piece_reader reader = {.at = part->text, .end = part->text + part->n};
    char text[200];
    for (;;) {
        struct lb_piece piece = lb_piece_next(&reader);
        if (piece.kind == LB_PIECE_END)
            return false;
        if (lb_section_literal(part, piece, text, sizeof text) && strcmp(text, literal) == 0)
            return true;
    }
}

/* The schema that the statement makes, if it is one that has a name of its own. */
static bool is_schema(const struct lb_part *part, char *ret_name, size_t size)
{
    struct lb_piece_reader reader = {.at = part->text, .end = part->text + part->n};
    if (!lb_part_begins(part, "create schema"))
        return false;
    for (int n = lb_part_begins(part, "create schema if not exists") ? 5 : 2; n > 0; n--)
        lb_piece_word(&reader);
    struct lb_piece piece = lb_piece_word(&reader);
    snprintf(ret_name, size, "%.*s", (int)piece.n, piece.text);
    return piece.n > 0 && piece.n < size && lb_piece_word(&reader).kind == LB_PIECE_END;
}

/* A program has a database of its own, a file has not: an existing schema belongs to another user,
 * and must not be used, or dropped at the end. */
static void write_schema(struct lb_section_writer *w, const char *name)
{
    lb_section_note(w, false, "made here, and dropped by teardown; it must not be there before");
    fprintf(w->file, "CREATE SCHEMA %s;\n", name);
}

static void write_teardown(struct lb_section_writer *w)
{
    char name[80];
    lb_section_take(w, "teardown");
    bool has_section = w->parts[0].n > 0;
    if (has_section)
        lb_section_write(w, "teardown", "");
    for (size_t i = 0; i < w->parts[0].n; i++)
        if (lb_part_begins(&w->parts[0].parts[i], "drop schema"))
            return;
    lb_section_take(w, "setup");
    for (size_t i = 0; i < w->parts[0].n; i++) {
        const struct lb_part *part = &w->parts[0].parts[i];
        if (part->statement->answer != LB_OK || !is_schema(part, name, sizeof name))
            continue;
        if (!has_section)
            lb_section_begin(w, "teardown", "");
        fprintf(w->file, "DROP SCHEMA %s CASCADE;\n", name);
        has_section = true;
    }
}

/* Writes the rows that the first worker creates for all on demand, such as a row of a table of
 * names. */
static void write_once(struct lb_section_writer *w)
{
    static const char *const operations[] = {"enqueue", "acquire", "put", "claim"};
    for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++) {
        lb_section_take(w, operations[o]);
        if (w->once.n == 0)
            continue;
        struct lb_parts once = w->once;
        lb_section_take(w, "setup");
        w->parts[0] = once;
        w->parts[1].n = w->parts[2].n = 0;
        lb_section_note(w, false, "only the first %s sent this", operations[o]);
        for (size_t i = 0; i < once.n; i++)
            lb_section_statement(w, 0, i, false, "");
    }
    lb_section_take(w, "setup");
}

/* Statements with a resource's name are the section resource's; of several there is one for each.
 */
static void write_setup(struct lb_section_writer *w)
{
    lb_section_take(w, "setup");
    const struct lb_parts *parts = &w->parts[0];
    bool has_resource = false;
    lb_section_begin(w, "setup", parts->begins ? " tx=one" : "");
    if (parts->n_left_out > 0)
        lb_section_note(w, true, "%zu of its statements are not here: they have more than 32 kB",
                        parts->n_left_out);
    for (size_t i = 0; i < parts->n; i++) {
        const struct lb_part *part = &parts->parts[i];
        bool is_one = has_literal(part, "'r1'"), is_other = has_literal(part, "'r0'");
        if (part->statement->answer != LB_OK || (w->is_lock && is_other && !is_one))
            continue;
        if (w->is_lock && is_one && !is_other) {
            has_resource = true;
            continue;
        }
        char schema[80];
        if (is_schema(part, schema, sizeof schema)) {
            write_schema(w, schema);
            continue;
        }
        if (w->is_lock && is_one)
            lb_section_note(w, true, "it is for all resources; the section resource is for each");
        lb_section_statement(w, 0, i, false, "");
    }
    write_once(w);
    if (!has_resource)
        return;
    lb_section_begin(w, "resource", "");
    for (size_t i = 0; i < parts->n; i++)
        if (has_literal(&parts->parts[i], "'r1'") && !has_literal(&parts->parts[i], "'r0'") &&
            parts->parts[i].statement->answer == LB_OK)
            lb_section_statement(w, 0, i, false, "");
}

static const char *const required[] = {"acquire", "release", "put", "claim", "complete", NULL};

static void write_all(struct lb_section_writer *w)
{
    static const char *const of_locks[] = {"enqueue", "acquire", "renew",
                                           "release", "cancel",  NULL};
    static const char *const of_queues[] = {"put",         "claim",   "renew",
                                            "complete",    "error",   "free",
                                            "clear-error", "recover", "clear-all-errors",
                                            "reset-all",   NULL};
    write_setup(w);
    for (const char *const *o = w->is_lock ? of_locks : of_queues; *o != NULL; o++) {
        lb_section_take(w, *o);
        if (strcmp(*o, "cancel") == 0) /* only who waits in vain does it */
            w->parts[0] = w->parts[LB_RECORDED_REFUSED];
        bool is_done =
            w->samples[0] != NULL || (strcmp(*o, "cancel") == 0 && w->samples[2] != NULL);
        if (is_done && w->parts[0].n == 0 && !lb_is_one_of(*o, required)) {
            fprintf(w->file, "\n-- (no statement is sent by %s)\n", *o);
            continue;
        }
        bool begins = strcmp(*o, "acquire") == 0 || strcmp(*o, "claim") == 0;
        if (is_done)
            lb_section_write(w, *o, begins ? session_of(w) : "");
        if (strcmp(*o, "put") == 0) /* the claiming worker does not have its answers */
            w->values.n = w->values.n_own = 0;
    }
    write_teardown(w);
}

static void write_opening(struct lb_section_writer *w)
{
    lb_section_take(w, "open");
    const struct lb_parts *parts = &w->parts[0];
    if (parts->n > 0)
        fprintf(w->file, "--\n-- When it opens, each worker sends, which no section does\n");
    for (size_t i = 0; i < parts->n; i++) {
        char text[200];
        const struct lb_part *part = &parts->parts[i];
        snprintf(text, sizeof text, "%.*s", (int)(part->n < 150 ? part->n : 150), part->text);
        fprintf(w->file, "--     %s%s\n", lb_clean_text(text), part->n > 150 ? "..." : "");
    }
}

static void write_head(struct lb_section_writer *w, FILE *file, const char *path,
                       const char *version)
{
    const struct lb_strategy *strategy = w->recording->strategy;
    char said[400];
    w->file = file;
    snprintf(said, sizeof said, "%s%s%s", path, version[0] != '\0' ? ", version " : "", version);
    fprintf(file, "%s%s\n", LB_TRANSCRIPT_BEGIN, lb_clean_text(said));
    fprintf(file,
            "-- A start for a file of your own: remarks in parentheses say where it may differ.\n");
    write_opening(w);
    fprintf(file, "\n-- strategy: %s-recorded\n-- shape: %s\n-- claims: ", strategy->name,
            w->is_lock ? "lock" : "queue");
    for (int i = 0, n = 0; i < LB_GUARANTEES; i++)
        if ((strategy->claims & LB_G_BIT(i)) != 0)
            fprintf(file, "%s%s", n++ > 0 ? ", " : "", lb_guarantee_name((enum lb_guarantee)i));
    fprintf(file, "\n");
    if (w->recording->attempts > 0)
        fprintf(file, "-- attempts: %u\n", w->recording->attempts);
    lb_section_take(w, w->is_lock ? "acquire" : "claim");
    if (w->parts[0].is_serializable || w->parts[0].is_repeatable)
        fprintf(file, "-- isolation: %s\n",
                w->parts[0].is_serializable ? "serializable" : "repeatable read");
    if (w->values.has_ttl)
        fprintf(file, "-- option: ttl_ms = 30000 (length of the lease)\n");
    if (w->values.has_ttl && strategy->is_lease)
        fprintf(file, "-- lease: ttl_ms\n");
    else if (strategy->is_lease)
        lb_section_note(w, true,
                        "the length of its lease was not found: it stands as a number somewhere");
}

void lb_transcript_write(FILE *file, const struct lb_recording *recording, const char *path,
                         const char *version, size_t *ret_n_open)
{
    struct lb_section_writer *w = lb_calloc(1, sizeof *w);
    char *text = NULL;
    size_t n = 0;
    FILE *body = lb_open_memory(&text, &n);
    w->recording = recording;
    w->is_lock = recording->strategy->shape == LB_LOCK;
    w->file = body;
    write_all(w);
    lb_close_memory(body);
    write_head(w, file, path, version);
    fputs(text, file);
    *ret_n_open = w->n_open;
    free(text);
    free(w);
}
