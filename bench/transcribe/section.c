/* A section of a recorded strategy: see section.h.
 *
 * The statements are those of the first worker, with placeholders for its values. The second
 * worker's statements show which literals differ, and the refused worker's show the form of a
 * refusal: fewer statements, no row, or a column that is false.
 */
#include "section.h"

#include "append.h"
#include "bytes.h"
#include "memory.h"
#include "nearest.h"
#include "text_clean.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16, NAME = 64 };

void lb_section_note(struct lb_section_writer *w, bool is_open, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(w->file, "-- (%s%s)\n", is_open ? "TO DO, " : "", lb_clean_text(text));
    w->n_open += is_open;
}

/* --- parameters whose types the server inferred ---
 *
 * The program sent text without a type, and the server inferred the type. In a file a number is a
 * number: a cast states the type, and a literal that is not a number is written as text.
 */

/* Writes text, the replacement of the part's parameter, with the type that the server inferred. */
static void write_cast(const struct lb_part *part, struct lb_piece piece, const char *text,
                       FILE *out)
{
    static const char *const values[] = {":ttl_ms", "(:ttl_ms / 1000)", ":id", NULL};
    static const char *const large[] = {"bigint", "numeric", "real", "double precision", NULL};
    static const char *const small[] = {"integer", "smallint", NULL};
    char type[100];
    bool is_value = lb_is_one_of(text, values);
    bool is_literal = text[0] != '\0' && text[strspn(text, "-.0123456789")] == '\0';
    bool is_typed = (is_value || is_literal) && part->statement->types != NULL &&
                    lb_piece_param(part, part->statement->types, piece, type, sizeof type);
    if (!is_typed || lb_is_one_of(type, large) || (is_literal && lb_is_one_of(type, small)))
        fputs(text, out);
    else if (is_literal)
        fprintf(out, "'%s'", text);
    else if (lb_is_one_of(type, small))
        fprintf(out, "(%s)::%s", text, type);
    else
        fprintf(out, "((%s)::text)::%s", text, type);
}

/* True if this piece must be a number: a key of an advisory lock, or a parameter for which the
 * server inferred a number. */
static bool wants_number(const struct lb_part *part, struct lb_piece piece)
{
    static const char *const numbers[] = {"bigint", "integer", "smallint", "oid", "numeric", NULL};
    char type[100];
    if (piece.kind != LB_PIECE_POSITION)
        return memmem(part->text, part->n, "advisory", 8) != NULL;
    return part->statement->types != NULL &&
           lb_piece_param(part, part->statement->types, piece, type, sizeof type) &&
           lb_is_one_of(type, numbers);
}

/* --- one statement --- */

bool lb_section_literal(const struct lb_part *part, struct lb_piece piece, char *out, size_t size)
{
    if (piece.kind == LB_PIECE_POSITION)
        return lb_piece_param(part, part->statement->params, piece, out, size);
    if (piece.kind != LB_PIECE_LITERAL || piece.n >= size)
        return false;
    snprintf(out, size, "%.*s", (int)piece.n, piece.text);
    return true;
}

/* The same statement of each sample, NULL where it has none. */
static void beside(const struct lb_section_writer *w, size_t sample, size_t i,
                   const struct lb_part *ret[LB_VALUE_SAMPLES])
{
    const struct lb_part *own = &w->parts[sample].parts[i];
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++) {
        const struct lb_part *other = i < w->parts[s].n ? &w->parts[s].parts[i] : NULL;
        ret[s] = other != NULL && (other == own || lb_parts_alike(own, other)) ? other : NULL;
    }
}

/* Writes the statement with placeholders for its literals; remarks on them go to notes. */
static void render(struct lb_section_writer *w, const struct lb_part *const parts[LB_VALUE_SAMPLES],
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
        if (lb_piece_is_blank(piece)) {
            fputs(memchr(piece.text, '\n', piece.n) != NULL ? "\n" : " ", out);
            continue;
        }
        for (size_t s = 0; s < LB_VALUE_SAMPLES; s++) {
            struct lb_piece other = s == own           ? piece
                                    : parts[s] != NULL ? lb_piece_word(&readers[s])
                                                       : (struct lb_piece){.n = 0};
            if (parts[s] != NULL &&
                lb_section_literal(parts[s], other, literals[s], sizeof literals[s]))
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
            w->values.wants_number = wants_number(parts[own], piece);
            bool is_known = lb_values_resolve(&w->values, had, is_param, w->is_lock, text,
                                              sizeof text, said, sizeof said);
            if (is_param)
                write_cast(parts[own], piece, text, out);
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
    char given[NAME]; /* by the file, where the statement may have two of one name; or name */
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
    /* Of an UPDATE ... FROM these are the columns of all its tables. */
    if (parts[0] != NULL && lb_part_has(parts[0], "returning *"))
        snprintf(ret->given, NAME, "c%zu", nth + 1);
    else
        snprintf(ret->given, NAME, "%s", ret->name);
    return ret->has[0];
}

/* The columns that the file's own statements use, as a list behind SELECT; "": unchanged. */
struct answer {
    char list[2000];
    char given[200]; /* " (c1, c2)": the names that the file gives to its columns; "": their own */
    bool is_changed, has_item, has_granted, has_own;
};

static void add_column(struct answer *answer, const char *expression, const char *alias)
{
    lb_append(answer->list, sizeof answer->list, "%s%s AS %s", answer->list[0] != '\0' ? ", " : "",
              expression, alias);
}

/* Is the column the item's number, or JSON that has it? */
static bool is_item(const struct lb_section_writer *w, const struct column *column,
                    char *expression, size_t size)
{
    char number[32], plain[LB_VALUE_TEXT], key[NAME];
    if (w->is_lock || w->samples[0] == NULL || !w->samples[0]->has_id)
        return false;
    snprintf(number, sizeof number, "%lld", (long long)w->samples[0]->id);
    lb_value_plain(column->literals[0], strlen(column->literals[0]), plain, sizeof plain);
    snprintf(expression, size, "\"%s\"::bigint", column->given);
    if (strcmp(plain, number) == 0)
        return true;
    size_t at;
    if (lb_bytes_find(plain, number, &at)) {
        snprintf(expression, size,
                 "('x' || encode(substring(\"%s\" from %zu for 4), 'hex'))::bit(32)::bigint",
                 column->given, at + 1);
        return true;
    }
    if ((plain[0] != '{' && plain[0] != '[') || !find_in_json(plain, number, key, sizeof key))
        return false;
    snprintf(expression, size, "(\"%s\"::jsonb->>%s)::bigint", column->given, key);
    return true;
}

/* Takes one column: its meaning, and the name by which later statements can use it. */
static void take_column(struct lb_section_writer *w, const struct column *column, bool is_only,
                        bool decides, struct answer *answer)
{
    char expression[200], plain[LB_VALUE_SAMPLES][LB_VALUE_TEXT], quoted[NAME + 2], as[NAME + 8];
    const char *had[LB_VALUE_SAMPLES] = {NULL};
    bool is_grant =
        decides && !answer->has_granted && column->has[0] &&
        ((is_only && is_true(column->literals[0])) ||
         (column->has[2] && is_false(column->literals[2]) && !is_false(column->literals[0])));
    snprintf(quoted, sizeof quoted, "\"%s\"", column->given);
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

static void give_name(struct answer *answer, const struct column *column)
{
    size_t n = strlen(answer->given);
    if (strcmp(column->name, column->given) == 0)
        return;
    n -= n > 0; /* the parenthesis */
    snprintf(answer->given + n, sizeof answer->given - n, "%s%s)", n > 0 ? ", " : " (",
             column->given);
}

/* decides: the section is answered by this statement. */
static void read_answer(struct lb_section_writer *w,
                        const struct lb_part *const parts[LB_VALUE_SAMPLES], bool decides,
                        struct answer *ret)
{
    struct column column, second;
    *ret = (struct answer){.list = ""};
    if (parts[0] == NULL || !parts[0]->is_last || parts[0]->statement->n_rows == 0)
        return;
    bool is_only = !read_column(parts, 1, &second);
    for (size_t nth = 0; read_column(parts, nth, &column); nth++) {
        take_column(w, &column, is_only, decides, ret);
        give_name(ret, &column);
    }
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
    return lb_part_begins(part, "insert") && !lb_part_has(part, "on conflict") &&
           !lb_part_has(part, "returning");
}

/* Does the refused one go on behind an insert that met the other's row? */
static bool goes_on_behind(const struct lb_section_writer *w, size_t i)
{
    const struct lb_parts *refused = &w->parts[LB_RECORDED_REFUSED];
    return i + 1 < refused->n && refused->parts[i].statement->answer == LB_DUPLICATE &&
           is_insert(&w->parts[0].parts[i]) &&
           lb_parts_alike(&w->parts[0].parts[i], &refused->parts[i]);
}

/* The one at which the refused one ended: it must have answered. */
static bool is_required(const struct lb_section_writer *w, size_t i)
{
    const struct lb_parts *refused = &w->parts[LB_RECORDED_REFUSED];
    const struct lb_parts *granted = &w->parts[0];
    return w->samples[LB_RECORDED_REFUSED] != NULL && i + 1 < granted->n && refused->n == i + 1 &&
           has_answered(&granted->parts[i]) && !has_answered(&refused->parts[i]) &&
           lb_parts_alike(&granted->parts[i], &refused->parts[i]);
}

/* The one at which the refused one ended, with a column that was false there and true else. */
static bool is_told_by_false(const struct lb_section_writer *w, size_t i, struct column *ret)
{
    const struct lb_part *parts[LB_VALUE_SAMPLES];
    if (w->samples[LB_RECORDED_REFUSED] == NULL || i + 1 >= w->parts[0].n ||
        w->parts[LB_RECORDED_REFUSED].n != i + 1)
        return false;
    beside(w, 0, i, parts);
    for (size_t nth = 0; read_column(parts, nth, ret); nth++)
        if (ret->has[2] && is_true(ret->literals[0]) && is_false(ret->literals[2]))
            return true;
    return false;
}

/* Writes a SELECT of list from the statement's result. A statement that changes rows is allowed
 * only in a WITH of the outermost statement, so it is added behind the existing ones. */
static void wrap(FILE *file, const char *text, size_t n, const char *given, const char *list,
                 const char *condition)
{
    size_t main = lb_piece_behind_with(text, n);
    if (main > 0)
        fprintf(file, "%.*s, answer%s AS (\n%s\n)", (int)main, text, given,
                text + main + strspn(text + main, " \n"));
    else
        fprintf(file, "WITH answer%s AS (\n%s\n)", given, text);
    fprintf(file, "\nSELECT %s FROM answer%s;\n", list, condition);
}

void lb_section_statement(struct lb_section_writer *w, size_t sample, size_t i, bool decides,
                          const char *directive)
{
    const struct lb_part *parts[LB_VALUE_SAMPLES];
    struct column column;
    struct answer answer;
    char *notes_text = NULL, *text = NULL;
    size_t notes_n, n;
    FILE *notes = lb_open_memory(&notes_text, &notes_n), *out = lb_open_memory(&text, &n);
    beside(w, sample, i, parts);
    if (sample == LB_RECORDED_REFUSED)
        parts[0] = parts[1] = NULL;
    render(w, parts, sample, out, notes);
    lb_close_memory(out);
    lb_close_memory(notes);
    read_answer(w, parts, decides, &answer);
    w->names_item |= answer.has_item;
    w->has_granted |= answer.has_granted;
    fprintf(w->file, "%s%s", notes_text, directive);
    if (answer.is_changed)
        wrap(w->file, text, n, answer.given, answer.list, "");
    else if (sample == 0 && is_told_by_false(w, i, &column)) {
        char condition[NAME + 12];
        snprintf(condition, sizeof condition, " WHERE \"%s\"", column.given);
        wrap(w->file, text, n, answer.given, "*", condition);
    } else
        fprintf(w->file, "%s%s;\n", text,
                sample == 0 && goes_on_behind(w, i) ? " ON CONFLICT DO NOTHING" : "");
    free(text);
    free(notes_text);
}

/* Does an answer of the statement say which item it is? */
static bool tells_item(const struct lb_section_writer *w, size_t i)
{
    const struct lb_part *parts[LB_VALUE_SAMPLES];
    struct column column;
    char expression[200];
    beside(w, 0, i, parts);
    for (size_t nth = 0; read_column(parts, nth, &column); nth++)
        if (is_item(w, &column, expression, sizeof expression))
            return true;
    return false;
}

/* What answers: the last one; of a claim, the last one that says which item it is, or that has
 * rows. */
static size_t decider(const struct lb_section_writer *w)
{
    const struct lb_parts *parts = &w->parts[0];
    size_t with_rows = parts->n > 0 ? parts->n - 1 : 0;
    bool has_rows = false;
    for (size_t i = parts->n; i-- > 0 && !w->is_lock;) {
        if (!parts->parts[i].is_last || parts->parts[i].statement->n_rows == 0)
            continue;
        if (tells_item(w, i))
            return i;
        with_rows = has_rows ? with_rows : i;
        has_rows = true;
    }
    return with_rows;
}

/* True if the claim's statement changes the row of its item, like an UPDATE with a condition that
 * the item is free. */
static bool marks(const struct lb_section_writer *w, size_t i)
{
    const struct lb_part *parts[LB_VALUE_SAMPLES];
    beside(w, 0, i, parts);
    bool is_change = lb_part_begins(parts[0], "update") || lb_part_begins(parts[0], "delete");
    return is_change && parts[0]->statement->n_changed == 1 && parts[1] != NULL &&
           parts[1]->statement->n_changed == 1;
}

/* Has the second worker no statement of the same words? */
static bool is_alone(const struct lb_section_writer *w, size_t i)
{
    const struct lb_part *parts[LB_VALUE_SAMPLES];
    beside(w, 0, i, parts);
    return w->samples[LB_RECORDED_SECOND] != NULL && parts[LB_RECORDED_SECOND] == NULL;
}

static void check_refusal(struct lb_section_writer *w, const char *operation)
{
    const struct lb_recorded *refused = w->samples[LB_RECORDED_REFUSED];
    const struct lb_parts *granted = &w->parts[0], *parts = &w->parts[LB_RECORDED_REFUSED];
    if (refused == NULL || granted->n == 0) {
        if (strcmp(operation, "acquire") == 0)
            lb_section_note(w, false,
                            "a worker that finds it taken waits: its refusal was not recorded");
        return;
    }
    if (refused->answer == LB_OK) {
        lb_section_note(w, true, "another worker was granted it as well: nothing was refused");
        return;
    }
    const struct lb_part *last = parts->n > 0 ? &parts->parts[parts->n - 1] : NULL;
    const struct lb_part *decides = &granted->parts[decider(w)];
    bool is_error = last != NULL && last->statement->answer != LB_OK;
    bool is_told =
        w->has_granted || is_error || parts->n < granted->n ||
        (lb_parts_alike(decides, last) && has_answered(decides) && !has_answered(last)) ||
        goes_on_behind(w, granted->n - 1);
    if (!is_told)
        lb_section_note(
            w, true,
            "the form of a refusal was not understood: let a column named granted show it");
}

void lb_section_begin(struct lb_section_writer *w, const char *name, const char *more)
{
    fprintf(w->file, "\n-- name: %s [%s]%s\n", name, w->recording->engine, more);
}

/* What the operation sent, or nothing: enough for a section that must be there. */
void lb_section_write(struct lb_section_writer *w, const char *operation, const char *more)
{
    const struct lb_parts *parts = &w->parts[0];
    bool is_claim = strcmp(operation, "claim") == 0;
    size_t decides = decider(w);
    w->names_item = w->has_granted = false;
    char behind[120];
    snprintf(behind, sizeof behind, "%s%s",
             parts->is_open                  ? " tx=hold"
             : parts->begins && parts->n > 0 ? " tx=one"
                                             : "",
             more);
    lb_section_begin(w, operation, behind);
    if (parts->n_left_out > 0)
        lb_section_note(w, true, "%zu of its statements are not here: they have more than 32 kB",
                        parts->n_left_out);
    if (parts->has_sessions)
        lb_section_note(w, true, "it used more than one connection at a time; a section has one");
    for (size_t i = 0; i < parts->n; i++) {
        if (parts->parts[i].statement->answer != LB_OK) {
            lb_section_note(w, false, "left out, as the server refused it: %.60s",
                            parts->parts[i].text);
            continue;
        }
        if (is_alone(w, i))
            lb_section_note(w, true,
                            "the second worker sent something else here: what differs between "
                            "them is not known");
        if (goes_on_behind(w, i))
            lb_section_note(w, false,
                            "the program goes on behind the error that it is there already; ON "
                            "CONFLICT DO NOTHING is not its own");
        struct column column;
        bool is_marking = is_claim && i > decides && marks(w, i);
        if (is_marking)
            lb_section_note(w, false,
                            "a statement that changes no row here claims nothing: the recording "
                            "does not show if the program checks this");
        bool is_needed = is_required(w, i) || is_told_by_false(w, i, &column) ||
                         (is_claim && i == decides && i + 1 < parts->n) || is_marking;
        lb_section_statement(w, 0, i, i == decides, is_needed ? "-- require: row\n" : "");
        if (goes_on_behind(w, i) && i + 1 == parts->n)
            lb_section_statement(w, LB_RECORDED_REFUSED, i + 1, false, "-- else\n");
    }
    if (is_claim && !w->names_item)
        lb_section_note(w, true, "no column of its answer was the item's number: id must be that");
    else if (is_claim && decides + 1 < parts->n)
        fprintf(w->file, "SELECT :id::bigint AS id;\n");
    /* A statement after the grant returns nothing, and would be taken for a refusal. */
    if (strcmp(operation, "acquire") == 0 && parts->n > 1 && !has_answered(&parts->parts[decides]))
        fprintf(w->file, "SELECT true AS granted;\n");
    if (strcmp(operation, "acquire") == 0 || is_claim)
        check_refusal(w, operation);
}

void lb_section_take(struct lb_section_writer *w, const char *operation)
{
    for (size_t s = 0; s < LB_VALUE_SAMPLES; s++) {
        w->samples[s] = lb_recording_find(w->recording, operation, (enum lb_recorded_as)s);
        lb_parts_of(w->samples[s], &w->parts[s]);
    }
    lb_parts_drop_once(&w->parts[0], &w->parts[1], &w->once);
    /* The first worker's rows did not exist yet, so the second one's answers are the usual ones. No
     * later statement uses those of a put. */
    if (w->once.n > 0 && strcmp(operation, "put") == 0) {
        struct lb_parts first = w->parts[0];
        const struct lb_recorded *sample = w->samples[0];
        w->parts[0] = w->parts[1];
        w->parts[1] = first;
        w->samples[0] = w->samples[1];
        w->samples[1] = sample;
    }
    lb_values_begin(&w->values, w->samples, w->is_lock);
}
