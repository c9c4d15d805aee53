/* The sections of a recorded strategy: see transcript.h.
 *
 * The statements are those of the first worker, with what stands for its values. The second one's
 * show which literals differ, and the one that was refused shows how a refusal is told: by fewer
 * statements, by no row, or by a column that is false.
 */
#include "transcript.h"

#include "casts.h"
#include "guarantee.h"
#include "pieces.h"
#include "text_clean.h"
#include "values.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ROOM = 1 << 16, NAME = 64 };

/* One section that is being written. */
struct writer {
    FILE *file;
    const struct lb_recording *recording;
    struct lb_values values;
    const struct lb_recorded *samples[LB_VALUE_SAMPLES];
    struct lb_parts parts[LB_VALUE_SAMPLES];
    bool is_lock, has_granted;
    bool names_item; /* an answer of the claim has the item's number as id */
    size_t n_open;
};

static void note(struct writer *w, bool is_open, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(struct writer *w, bool is_open, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(w->file, "-- (%s%s)\n", is_open ? "TO DO, " : "", lb_clean_text(text));
    w->n_open += is_open;
}

/* --- one statement --- */

static bool literal_of(const struct lb_part *part, struct lb_piece piece, char *out, size_t size)
{
    if (piece.kind == LB_PIECE_POSITION)
        return lb_piece_param(part, part->statement->params, piece, out, size);
    if (piece.kind != LB_PIECE_LITERAL || piece.n >= size)
        return false;
    snprintf(out, size, "%.*s", (int)piece.n, piece.text);
    return true;
}

static bool is_blank(struct lb_piece piece)
{
    return piece.kind == LB_PIECE_OTHER && piece.n > 0 && isspace((unsigned char)piece.text[0]);
}

static struct lb_piece next_word(struct lb_piece_reader *reader)
{
    struct lb_piece piece;
    do
        piece = lb_piece_next(reader);
    while (is_blank(piece));
    return piece;
}

/* Do both have the same words, but for literals? */
static bool is_like(const struct lb_part *a, const struct lb_part *b)
{
    struct lb_piece_reader one = {.at = a->text, .end = a->text + a->n};
    struct lb_piece_reader two = {.at = b->text, .end = b->text + b->n};
    for (;;) {
        struct lb_piece x = next_word(&one), y = next_word(&two);
        if (x.kind != y.kind)
            return false;
        if (x.kind == LB_PIECE_END)
            return true;
        if (x.kind != LB_PIECE_LITERAL && (x.n != y.n || strncasecmp(x.text, y.text, x.n) != 0))
            return false;
    }
}

/* The same statement of each sample, NULL where it has none. */
static void beside(const struct writer *w, size_t sample, size_t i,
                   const struct lb_part *ret[LB_VALUE_SAMPLES])
{
    const struct lb_part *own = &w->parts[sample].parts[i];
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++) {
        const struct lb_part *other = i < w->parts[s].n ? &w->parts[s].parts[i] : NULL;
        ret[s] = other != NULL && (other == own || is_like(own, other)) ? other : NULL;
    }
}

/* Writes the statement with what stands for its literals; what is to be said of them to notes. */
static void render(struct writer *w, const struct lb_part *const parts[LB_VALUE_SAMPLES],
                   size_t own, FILE *out, FILE *notes)
{
    static char literals[LB_VALUE_SAMPLES][ROOM], text[ROOM];
    struct lb_piece_reader readers[LB_VALUE_SAMPLES];
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++)
        if (parts[s] != NULL)
            readers[s] =
                (struct lb_piece_reader){.at = parts[s]->text, .end = parts[s]->text + parts[s]->n};
    for (;;) {
        struct lb_piece piece = lb_piece_next(&readers[own]);
        const char *had[LB_VALUE_SAMPLES] = {NULL};
        char said[300] = "";
        if (piece.kind == LB_PIECE_END)
            return;
        if (is_blank(piece)) {
            fputs(memchr(piece.text, '\n', piece.n) != NULL ? "\n" : " ", out);
            continue;
        }
        for (size_t s = 0; s < LB_VALUE_SAMPLES; s++) {
            struct lb_piece other = s == own           ? piece
                                    : parts[s] != NULL ? next_word(&readers[s])
                                                       : (struct lb_piece){.n = 0};
            if (parts[s] != NULL && literal_of(parts[s], other, literals[s], sizeof literals[s]))
                had[s] = literals[s];
        }
        bool is_param = piece.kind == LB_PIECE_POSITION;
        if (piece.kind == LB_PIECE_COLON) { /* a slice of an array */
            fprintf(out, ": %.*s", (int)piece.n - 1, piece.text + 1);
        } else if (had[own] == NULL) {
            fprintf(out, "%.*s", (int)piece.n, piece.text);
            if (is_param) {
                fprintf(notes, "-- (TO DO, the value of %.*s is not known)\n", (int)piece.n,
                        piece.text);
                w->n_open++;
            }
        } else {
            bool is_known = lb_values_resolve(&w->values, had, is_param, w->is_lock, text,
                                              sizeof text, said, sizeof said);
            if (is_param)
                lb_cast_write(parts[own], piece, text, out);
            else
                fputs(text, out);
            if (said[0] != '\0') {
                fprintf(notes, "-- (%s%s)\n", is_known ? "" : "TO DO, ", lb_clean_text(said));
                w->n_open += !is_known;
            } else if (is_param && !is_known) {
                fprintf(notes, "-- (as it was sent: %.*s = %.60s%s)\n", (int)piece.n, piece.text,
                        lb_clean_text(text), strlen(text) > 60 ? "..." : "");
            }
        }
    }
}

/* --- answers --- */

static bool is_false(const char *literal)
{
    return strcmp(literal, "'f'") == 0 || strcmp(literal, "false") == 0 ||
           strcmp(literal, "NULL") == 0 || strcmp(literal, "0") == 0;
}

static bool is_true(const char *literal)
{
    return strcmp(literal, "'t'") == 0 || strcmp(literal, "true") == 0;
}

static bool is_name(const char *text)
{
    return (isalpha((unsigned char)text[0]) || text[0] == '_') &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789")] == '\0' && strlen(text) < 31;
}

static bool is_number(const json_t *value, const char *number)
{
    char text[32] = "";
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_string(value))
        snprintf(text, sizeof text, "%.31s", json_string_value(value));
    return strcmp(text, number) == 0;
}

/* Where a JSON object or array has the item's number: 'key', or an index. */
static bool find_in_json(const char *plain, const char *number, char *key, size_t size)
{
    json_t *json = json_loads(plain, 0, NULL), *value;
    const char *name;
    size_t i;
    bool is_found = false;
    json_object_foreach(json, name, value)
    {
        if (!is_found && is_number(value, number) && strchr(name, '\'') == NULL) {
            snprintf(key, size, "'%s'", name);
            is_found = true;
        }
    }
    json_array_foreach(json, i, value)
    {
        if (!is_found && is_number(value, number)) {
            snprintf(key, size, "%zu", i);
            is_found = true;
        }
    }
    json_decref(json);
    return is_found;
}

/* A column of an answer, in each sample that has it. */
struct column {
    char name[NAME];
    char literals[LB_VALUE_SAMPLES][LB_VALUE_TEXT];
    bool has[LB_VALUE_SAMPLES];
};

static bool read_column(const struct lb_part *const parts[LB_VALUE_SAMPLES], size_t nth,
                        struct column *ret)
{
    char name[NAME];
    *ret = (struct column){.name = ""};
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++)
        if (parts[s] != NULL && parts[s]->is_last)
            ret->has[s] = lb_value_column(parts[s]->statement->rows, nth, s == 0 ? ret->name : name,
                                          NAME, ret->literals[s], LB_VALUE_TEXT);
    return ret->has[0];
}

/* The columns that the file's own statements go by, as a list behind SELECT; "": as they are. */
struct answer {
    char list[2000];
    bool is_changed, has_item, has_granted, has_own;
};

static void add_column(struct answer *answer, const char *expression, const char *alias)
{
    size_t used = strlen(answer->list);
    snprintf(answer->list + used, sizeof answer->list - used, "%s%s AS %s", used > 0 ? ", " : "",
             expression, alias);
}

/* Is the column the item's number, or JSON that has it? */
static bool is_item(const struct writer *w, const struct column *column, char *expression,
                    size_t size)
{
    char number[32], plain[LB_VALUE_TEXT], key[NAME];
    if (w->is_lock || w->samples[0] == NULL || !w->samples[0]->has_id)
        return false;
    snprintf(number, sizeof number, "%lld", (long long)w->samples[0]->id);
    lb_value_plain(column->literals[0], strlen(column->literals[0]), plain, sizeof plain);
    snprintf(expression, size, "\"%s\"::bigint", column->name);
    if (strcmp(plain, number) == 0)
        return true;
    if ((plain[0] != '{' && plain[0] != '[') || !find_in_json(plain, number, key, sizeof key))
        return false;
    snprintf(expression, size, "(\"%s\"::jsonb->>%s)::bigint", column->name, key);
    return true;
}

/* One column: what it is, and under which name those behind it can have it. */
static void take_column(struct writer *w, const struct column *column, bool is_only, bool decides,
                        struct answer *answer)
{
    char expression[200], plain[LB_VALUE_SAMPLES][LB_VALUE_TEXT], quoted[NAME + 2], as[NAME + 8];
    const char *had[LB_VALUE_SAMPLES] = {NULL};
    bool is_grant =
        decides && !answer->has_granted && column->has[0] &&
        ((is_only && is_true(column->literals[0])) ||
         (column->has[2] && is_false(column->literals[2]) && !is_false(column->literals[0])));
    snprintf(quoted, sizeof quoted, "\"%s\"", column->name);
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++)
        if (column->has[s]) {
            lb_value_plain(column->literals[s], strlen(column->literals[s]), plain[s],
                           LB_VALUE_TEXT);
            had[s] = plain[s];
        }
    if (is_grant) {
        answer->has_granted = true;
        answer->is_changed = true;
        add_column(answer, quoted, "granted");
    }
    if (!answer->has_item && is_item(w, column, expression, sizeof expression)) {
        answer->has_item = true;
        answer->is_changed |= strcmp(column->name, "id") != 0;
        add_column(answer, expression, "id");
        return;
    }
    if (!is_name(column->name)) {
        answer->is_changed |= strcmp(column->name, "?column?") == 0;
        return;
    }
    bool is_id = strcmp(column->name, "id") == 0 && !w->is_lock;
    snprintf(as, sizeof as, "%s", !is_id ? column->name : decides ? "own_id" : "other_id");
    answer->is_changed |= is_id;
    answer->has_own |= is_id;
    if (!is_grant)
        add_column(answer, quoted, as);
    if (had[0] != NULL && had[1] != NULL && strcmp(had[0], had[1]) != 0) {
        char text[NAME + 8];
        snprintf(text, sizeof text, ":%s", as);
        if (strcmp(as, "token") != 0)
            lb_values_learn(&w->values, had, text);
    }
}

/* decides: the section is answered by this statement. */
static void read_answer(struct writer *w, const struct lb_part *const parts[LB_VALUE_SAMPLES],
                        bool decides, struct answer *ret)
{
    struct column column, second;
    *ret = (struct answer){.list = ""};
    if (parts[0] == NULL || !parts[0]->is_last || parts[0]->statement->n_rows == 0)
        return;
    bool is_only = !read_column(parts, 1, &second);
    for (size_t nth = 0; read_column(parts, nth, &column); nth++)
        take_column(w, &column, is_only, decides, ret);
    if (!ret->has_item && !ret->has_granted && !ret->has_own)
        ret->is_changed = false;
}

/* --- sections --- */

static bool has_answered(const struct lb_part *part)
{
    return part != NULL && part->statement->answer == LB_OK &&
           (part->statement->n_rows > 0 || part->statement->n_changed > 0);
}

static bool is_insert(const struct lb_part *part)
{
    return part->n > 6 && strncasecmp(part->text, "insert", 6) == 0 &&
           memmem(part->text, part->n, "ON CONFLICT", 11) == NULL &&
           memmem(part->text, part->n, "RETURNING", 9) == NULL;
}

/* Does the refused one go on behind an insert that met the other's row? */
static bool goes_on_behind(const struct writer *w, size_t i)
{
    const struct lb_parts *refused = &w->parts[LB_RECORDED_REFUSED];
    return i + 1 < refused->n && refused->parts[i].statement->answer == LB_DUPLICATE &&
           is_insert(&w->parts[0].parts[i]) && is_like(&w->parts[0].parts[i], &refused->parts[i]);
}

/* The one at which the refused one ended: it must have answered. */
static bool is_required(const struct writer *w, size_t i)
{
    const struct lb_parts *refused = &w->parts[LB_RECORDED_REFUSED];
    const struct lb_parts *granted = &w->parts[0];
    return w->samples[LB_RECORDED_REFUSED] != NULL && i + 1 < granted->n && refused->n == i + 1 &&
           has_answered(&granted->parts[i]) && !has_answered(&refused->parts[i]) &&
           is_like(&granted->parts[i], &refused->parts[i]);
}

static void write_statement(struct writer *w, size_t sample, size_t i, bool decides,
                            const char *directive)
{
    const struct lb_part *parts[LB_VALUE_SAMPLES];
    struct answer answer;
    char *notes_text = NULL, *text = NULL;
    size_t notes_n, n;
    FILE *notes = open_memstream(&notes_text, &notes_n), *out = open_memstream(&text, &n);
    beside(w, sample, i, parts);
    if (sample == LB_RECORDED_REFUSED)
        parts[0] = parts[1] = NULL;
    if (notes != NULL && out != NULL)
        render(w, parts, sample, out, notes);
    if (out != NULL)
        fclose(out);
    if (notes != NULL)
        fclose(notes);
    if (text == NULL || notes_text == NULL) {
        w->n_open++;
        free(text);
        free(notes_text);
        return;
    }
    read_answer(w, parts, decides, &answer);
    w->names_item |= answer.has_item;
    w->has_granted |= answer.has_granted;
    fprintf(w->file, "%s%s", notes_text, directive);
    if (answer.is_changed)
        fprintf(w->file, "WITH answer AS (\n%s\n)\nSELECT %s FROM answer;\n", text, answer.list);
    else
        fprintf(w->file, "%s%s;\n", text,
                sample == 0 && goes_on_behind(w, i) ? " ON CONFLICT DO NOTHING" : "");
    free(text);
    free(notes_text);
}

/* What answers: the last one; of a claim, the last one that has rows. */
static size_t decider(const struct writer *w)
{
    const struct lb_parts *parts = &w->parts[0];
    for (size_t i = parts->n; i-- > 0 && !w->is_lock;)
        if (parts->parts[i].is_last && parts->parts[i].statement->n_rows > 0)
            return i;
    return parts->n > 0 ? parts->n - 1 : 0;
}

static void check_refusal(struct writer *w, const char *operation)
{
    const struct lb_recorded *refused = w->samples[LB_RECORDED_REFUSED];
    const struct lb_parts *granted = &w->parts[0], *parts = &w->parts[LB_RECORDED_REFUSED];
    if (refused == NULL || granted->n == 0) {
        if (strcmp(operation, "acquire") == 0)
            note(w, false, "who comes in vain waits: its refusal was not recorded");
        return;
    }
    if (refused->answer == LB_OK) {
        note(w, true, "somebody else was granted it as well: nothing was refused");
        return;
    }
    const struct lb_part *last = parts->n > 0 ? &parts->parts[parts->n - 1] : NULL;
    const struct lb_part *decides = &granted->parts[decider(w)];
    bool is_error = last != NULL && last->statement->answer != LB_OK;
    bool is_told = w->has_granted || is_error || parts->n < granted->n ||
                   (is_like(decides, last) && has_answered(decides) && !has_answered(last)) ||
                   goes_on_behind(w, granted->n - 1);
    if (!is_told)
        note(w, true, "how a refusal is told was not understood: a column named granted tells it");
}

/* What the operation sent, or nothing: enough for a section that must be there. */
static void write_section(struct writer *w, const char *operation, const char *more)
{
    const struct lb_parts *parts = &w->parts[0];
    bool is_claim = strcmp(operation, "claim") == 0;
    size_t decides = decider(w);
    w->names_item = w->has_granted = false;
    fprintf(w->file, "\n-- name: %s%s%s\n", operation,
            parts->is_open                  ? " tx=hold"
            : parts->begins && parts->n > 0 ? " tx=one"
                                            : "",
            more);
    if (parts->n_left_out > 0)
        note(w, true, "%zu of its statements are not here: they have more than 8 kB",
             parts->n_left_out);
    if (parts->has_sessions)
        note(w, true, "it used more than one connection at a time; a section has one");
    for (size_t i = 0; i < parts->n; i++) {
        if (parts->parts[i].statement->answer != LB_OK) {
            note(w, false, "left out, as the server refused it: %.60s", parts->parts[i].text);
            continue;
        }
        if (goes_on_behind(w, i))
            note(w, false,
                 "the program goes on behind the error that it is there already; ON "
                 "CONFLICT DO NOTHING is not its own");
        bool is_needed = is_required(w, i) || (is_claim && i == decides && i + 1 < parts->n);
        write_statement(w, 0, i, i == decides, is_needed ? "-- require: row\n" : "");
        if (goes_on_behind(w, i) && i + 1 == parts->n)
            write_statement(w, LB_RECORDED_REFUSED, i + 1, false, "-- else\n");
    }
    if (is_claim && !w->names_item)
        note(w, true, "no column of its answer was the item's number: id must be that");
    else if (is_claim && decides + 1 < parts->n)
        fprintf(w->file, "SELECT :id::bigint AS id;\n");
    if (strcmp(operation, "acquire") == 0 || is_claim)
        check_refusal(w, operation);
}

static void take_samples(struct writer *w, const char *operation)
{
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++) {
        w->samples[s] = lb_recording_find(w->recording, operation, (enum lb_recorded_as)s);
        lb_parts_of(w->samples[s], &w->parts[s]);
    }
    lb_values_begin(&w->values, w->samples, w->is_lock);
}

/* A session's lock that goes with no transaction. */
static const char *session_of(const struct writer *w)
{
    for (size_t i = 0; i < w->parts[0].n; i++) {
        const struct lb_part *part = &w->parts[0].parts[i];
        if (memmem(part->text, part->n, "advisory_lock", 13) != NULL)
            return " session=keep";
    }
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
        if (literal_of(part, piece, text, sizeof text) && strcmp(text, literal) == 0)
            return true;
    }
}

/* The schema that the statement makes, if it is one that has a name of its own. */
static bool is_schema(const struct lb_part *part, char *ret_name, size_t size)
{
    static const char *const words[] = {"CREATE", "SCHEMA", "IF", "NOT", "EXISTS"};
    struct lb_piece_reader reader = {.at = part->text, .end = part->text + part->n};
    struct lb_piece piece = next_word(&reader);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (piece.n == strlen(words[i]) && strncasecmp(piece.text, words[i], piece.n) == 0)
            piece = next_word(&reader);
        else if (i < 2)
            return false;
    }
    snprintf(ret_name, size, "%.*s", (int)piece.n, piece.text);
    return piece.n > 0 && piece.n < size && next_word(&reader).kind == LB_PIECE_END;
}

/* A program has a database of its own, a file has not: a schema that is there is somebody's, and
 * must not be used, or dropped at the end. */
static void write_schema(struct writer *w, const char *name)
{
    note(w, false, "made here, and dropped by teardown; it must not be there before");
    fprintf(w->file, "CREATE SCHEMA %s;\n", name);
}

static void write_teardown(struct writer *w)
{
    char name[80];
    take_samples(w, "teardown");
    bool has_section = w->parts[0].n > 0;
    if (has_section)
        write_section(w, "teardown", "");
    for (size_t i = 0; i < w->parts[0].n; i++)
        if (w->parts[0].parts[i].n > 11 &&
            strncasecmp(w->parts[0].parts[i].text, "DROP SCHEMA", 11) == 0)
            return;
    take_samples(w, "setup");
    for (size_t i = 0; i < w->parts[0].n; i++) {
        const struct lb_part *part = &w->parts[0].parts[i];
        if (part->statement->answer != LB_OK || !is_schema(part, name, sizeof name))
            continue;
        fprintf(w->file, "%sDROP SCHEMA %s CASCADE;\n", has_section ? "" : "\n-- name: teardown\n",
                name);
        has_section = true;
    }
}

/* Statements with a resource's name are the section resource's; of several there is one for each.
 */
static void write_setup(struct writer *w)
{
    take_samples(w, "setup");
    const struct lb_parts *parts = &w->parts[0];
    bool has_resource = false;
    fprintf(w->file, "\n-- name: setup%s\n", parts->begins ? " tx=one" : "");
    if (parts->n_left_out > 0)
        note(w, true, "%zu of its statements are not here: they have more than 8 kB",
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
            note(w, true, "it is for all resources; the section resource is for each");
        write_statement(w, 0, i, false, "");
    }
    if (!has_resource)
        return;
    fprintf(w->file, "\n-- name: resource\n");
    for (size_t i = 0; i < parts->n; i++)
        if (has_literal(&parts->parts[i], "'r1'") && !has_literal(&parts->parts[i], "'r0'") &&
            parts->parts[i].statement->answer == LB_OK)
            write_statement(w, 0, i, false, "");
}

static bool is_required_section(const char *operation)
{
    static const char *const required[] = {"acquire", "release", "put", "claim", "complete"};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (strcmp(operation, required[i]) == 0)
            return true;
    return false;
}

static void write_all(struct writer *w)
{
    static const char *const of_locks[] = {"enqueue", "acquire", "renew",
                                           "release", "cancel",  NULL};
    static const char *const of_queues[] = {"put",         "claim",   "renew",
                                            "complete",    "error",   "free",
                                            "clear-error", "recover", "clear-all-errors",
                                            "reset-all",   NULL};
    write_setup(w);
    for (const char *const *o = w->is_lock ? of_locks : of_queues; *o != NULL; o++) {
        take_samples(w, *o);
        if (strcmp(*o, "cancel") == 0) /* only who waits in vain does it */
            w->parts[0] = w->parts[LB_RECORDED_REFUSED];
        bool is_done =
            w->samples[0] != NULL || (strcmp(*o, "cancel") == 0 && w->samples[2] != NULL);
        if (is_done && w->parts[0].n == 0 && !is_required_section(*o)) {
            fprintf(w->file, "\n-- (no statement is sent by %s)\n", *o);
            continue;
        }
        bool begins = strcmp(*o, "acquire") == 0 || strcmp(*o, "claim") == 0;
        if (is_done)
            write_section(w, *o, begins ? session_of(w) : "");
    }
    write_teardown(w);
}

static void write_opening(struct writer *w)
{
    take_samples(w, "open");
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

static void write_head(struct writer *w, FILE *file, const char *path, const char *version)
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
    take_samples(w, w->is_lock ? "acquire" : "claim");
    if (w->parts[0].is_serializable || w->parts[0].is_repeatable)
        fprintf(file, "-- isolation: %s\n",
                w->parts[0].is_serializable ? "serializable" : "repeatable read");
    if (w->values.has_ttl)
        fprintf(file, "-- option: ttl_ms = 30000 (length of the lease)\n");
    if (w->values.has_ttl && strategy->is_lease)
        fprintf(file, "-- lease: ttl_ms\n");
    else if (strategy->is_lease)
        note(w, true, "the length of its lease was not found: it stands as a number somewhere");
}

int lb_transcript_write(FILE *file, const struct lb_recording *recording, const char *path,
                        const char *version, size_t *ret_n_open, struct lb_error *err)
{
    struct writer *w = calloc(1, sizeof *w);
    char *text = NULL;
    size_t n = 0;
    FILE *body = open_memstream(&text, &n);
    if (w == NULL || body == NULL) {
        if (body != NULL)
            fclose(body);
        free(text);
        free(w);
        return lb_fail(err, LB_E_MEMORY, "out of memory");
    }
    w->recording = recording;
    w->is_lock = recording->strategy->shape == LB_LOCK;
    w->file = body;
    write_all(w);
    fclose(body);
    write_head(w, file, path, version);
    fputs(text, file);
    *ret_n_open = w->n_open;
    free(text);
    free(w);
    return 0;
}
