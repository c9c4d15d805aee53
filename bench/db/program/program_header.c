/* Directives of a statement file's header: the `-- key: value` lines before the first section.
 */
#include "nearest.h"
#include "program_raw.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int unknown_name(const struct lb_file *file, const struct lb_directive *directive,
                        const char *what, const char *item, size_t length, const char *const *names,
                        size_t n_names, struct lb_error *err)
{
    char word[64], text[200];
    snprintf(word, sizeof word, "%.*s", (int)length, item);
    struct lb_nearest nearest;
    lb_nearest_init(&nearest, word);
    for (size_t i = 0; i < n_names; i++)
        lb_nearest_offer(&nearest, names[i]);
    lb_nearest_text(&nearest, text, sizeof text);
    return lb_file_fail(file, directive->line, err, "unknown %s \"%s\"%s", what, word, text);
}

static int read_claims(struct lb_file *file, const struct lb_directive *directive,
                       struct lb_error *err)
{
    const char *rest = directive->value, *item;
    size_t left = directive->value_length, length;
    if (left == 0)
        return lb_file_fail(file, directive->line, err, "claims: names no guarantee");
    while (lb_slice_next(&rest, &left, ',', &item, &length)) {
        int found = -1;
        char said[sizeof err->message], all[200];
        const char *names[LB_GUARANTEE_ROOM];
        for (int i = 0; i < LB_GUARANTEES; i++) {
            names[i] = lb_guarantee_name((enum lb_guarantee)i);
            if (lb_slice_is(item, length, names[i]))
                found = i;
        }
        if (found < 0) {
            unknown_name(file, directive, "guarantee", item, length, names, (size_t)LB_GUARANTEES,
                         err);
            return lb_fail(err, err->code, "%s (there are %s)", strcpy(said, err->message),
                           lb_guarantees_text(all, sizeof all));
        }
        file->claims |= LB_G_BIT(found);
    }
    return 0;
}

int lb_needs_read(const struct lb_file *file, const struct lb_directive *directive,
                  uint64_t *ret_needs, struct lb_error *err)
{
    const char *rest = directive->value, *item;
    size_t left = directive->value_length, length;
    while (lb_slice_next(&rest, &left, ',', &item, &length)) {
        uint64_t found = 0;
        const char *names[LB_CAPS];
        for (int i = 0; i < LB_CAPS; i++) {
            names[i] = lb_cap_name(UINT64_C(1) << i);
            if (lb_slice_is(item, length, names[i]))
                found = UINT64_C(1) << i;
        }
        if (found == 0)
            return unknown_name(file, directive, "capability", item, length, names, LB_CAPS, err);
        *ret_needs |= found;
    }
    return 0;
}

int lb_replica_line(const struct lb_file *file, const struct lb_directive *directive,
                    enum lb_section_name section, struct lb_error *err)
{
    if (!lb_slice_is(directive->value, directive->value_length, "replica"))
        return lb_file_fail(file, directive->line, err, "on: \"%.*s\": only \"replica\" can be",
                            (int)directive->value_length, directive->value);
    if (!lb_section_is(section, LB_SECTION_CAN_READ_REPLICA))
        return lb_file_fail(file, directive->line, err,
                            "on: replica: section %s is run on the primary alone",
                            lb_section_text(section));
    return 0;
}

static bool is_option_name(const char *text, size_t length)
{
    if (length == 0 || length > 40 || !islower((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) && text[i] != '_')
            return false;
    return true;
}

static int read_choices(struct lb_file *file, const struct lb_directive *directive,
                        const char *values, size_t left, struct lb_option *option,
                        struct lb_error *err)
{
    const char *item;
    size_t length, first = file->n_choices;
    while (lb_slice_next(&values, &left, '|', &item, &length)) {
        if (length == 0)
            return lb_file_fail(file, directive->line, err, "option %s: an empty choice",
                                option->name);
        if (file->n_choices + 2 > LB_FILE_CHOICES)
            return lb_file_fail(file, directive->line, err, "option %s: too many choices",
                                option->name);
        file->choices[file->n_choices++] = lb_file_string(file, item, length);
    }
    file->choices[file->n_choices++] = NULL;
    option->choices = &file->choices[first];
    option->default_value = file->choices[first];
    return 0;
}

static int read_option(struct lb_file *file, const struct lb_directive *directive,
                       struct lb_error *err)
{
    const char *name = directive->value;
    const char *equals = memchr(name, '=', directive->value_length);
    if (equals == NULL)
        return lb_file_fail(file, directive->line, err,
                            "option: write \"name = default\" or \"name = a | b\"");
    size_t name_length = (size_t)(equals - name);
    const char *value = equals + 1;
    size_t value_length = directive->value_length - name_length - 1;
    lb_slice_trim(&name, &name_length);
    lb_slice_trim(&value, &value_length);
    if (!is_option_name(name, name_length))
        return lb_file_fail(file, directive->line, err,
                            "option: \"%.*s\" is no name: a-z, 0-9 and _ only", (int)name_length,
                            name);
    int slot = lb_fixed_slot(name, name_length);
    if (slot >= 0 && slot != LB_SLOT_TTL_MS && slot != LB_SLOT_PERIOD_MS && slot < LB_SLOT_KEY)
        return lb_file_fail(file, directive->line, err,
                            "option: \"%.*s\" is a parameter that lockbench fills",
                            (int)name_length, name);
    for (size_t i = 0; i < file->n_options; i++)
        if (lb_slice_is(name, name_length, file->options[i].name))
            return lb_file_fail(file, directive->line, err, "option %s: declared twice (line %d)",
                                file->options[i].name, file->option_line[i]);
    if (value_length == 0)
        return lb_file_fail(file, directive->line, err, "option %.*s: has no default",
                            (int)name_length, name);
    if (file->n_options == LB_FILE_OPTIONS)
        return lb_file_fail(file, directive->line, err, "more than %d options", LB_FILE_OPTIONS);
    struct lb_option *option = &file->options[file->n_options];
    option->name = lb_file_string(file, name, name_length);
    if (directive->remark != NULL)
        option->help = lb_file_string(file, directive->remark, directive->remark_length);
    if (memchr(value, '|', value_length) != NULL) {
        if (read_choices(file, directive, value, value_length, option, err) != 0)
            return LB_E_FILE;
    } else {
        option->default_value = lb_file_string(file, value, value_length);
    }
    file->option_line[file->n_options++] = directive->line;
    return 0;
}

static int read_strategy(struct lb_file *file, const struct lb_directive *directive,
                         struct lb_error *err)
{
    if (file->strategy != NULL)
        return lb_file_fail(file, directive->line, err, "strategy: given twice");
    for (size_t i = 0; i < directive->value_length; i++) {
        char c = directive->value[i];
        if (!islower((unsigned char)c) && !isdigit((unsigned char)c) && c != '-')
            return lb_file_fail(file, directive->line, err,
                                "strategy: \"%.*s\" is no name: a-z, 0-9 and - only",
                                (int)directive->value_length, directive->value);
    }
    if (directive->value_length == 0 || directive->value_length > 60)
        return lb_file_fail(file, directive->line, err, "strategy: a name of 1 to 60 letters");
    file->strategy = lb_file_string(file, directive->value, directive->value_length);
    return 0;
}

static int read_shape(struct lb_file *file, const struct lb_directive *directive,
                      struct lb_error *err)
{
    static const char *const words[] = {[LB_LOCK] = "lock", [LB_QUEUE] = "queue", NULL};
    const int shape = lb_slice_among(directive->value, directive->value_length, words);
    if (shape < 0)
        return lb_file_fail(file, directive->line, err, "shape: \"%.*s\" is neither lock nor queue",
                            (int)directive->value_length, directive->value);
    file->shape = (enum lb_shape)shape;
    return 0;
}

static int read_isolation(struct lb_file *file, const struct lb_directive *directive,
                          struct lb_error *err)
{
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)directive->value_length, directive->value);
    int isolation = lb_isolation_parse(word);
    if (isolation < 0)
        return lb_file_fail(file, directive->line, err,
                            "isolation: \"%s\" is not read committed, repeatable read or "
                            "serializable",
                            word);
    file->isolation = (enum lb_isolation)isolation;
    file->isolation_line = directive->line;
    return 0;
}

/* The file is run so unless the scenario says otherwise: where that cannot be, it is skipped. */
static int read_pipeline(struct lb_file *file, const struct lb_directive *directive,
                         struct lb_error *err)
{
    bool is_no = lb_slice_is(directive->value, directive->value_length, "no");
    file->is_pipelined = lb_slice_is(directive->value, directive->value_length, "yes");
    if (!file->is_pipelined && !is_no)
        return lb_file_fail(file, directive->line, err, "pipeline: \"%.*s\" is neither yes nor no",
                            (int)directive->value_length, directive->value);
    return 0;
}

/* `-- attempts:`, `-- key-limit:`, `-- rows:`, `-- due:` and `-- precision:` take a word of theirs,
 * or the name of an option. */
static int read_fact(struct lb_file *file, const struct lb_directive *directive,
                     struct lb_stated *stated, struct lb_error *err)
{
    if (stated->text != NULL)
        return lb_file_fail(file, directive->line, err, "%.*s: given twice (line %d)",
                            (int)directive->key_length, directive->key, stated->line);
    stated->line = directive->line;
    stated->text = lb_file_string(file, directive->value, directive->value_length);
    return 0;
}

/* `-- rate: N / T`. */
static int read_rate(struct lb_file *file, const struct lb_directive *directive,
                     struct lb_error *err)
{
    const char *value = directive->value, *slash = memchr(value, '/', directive->value_length);
    int r = read_fact(file, directive, &file->rate, err);
    if (r != 0 || slash == NULL)
        return r;
    const char *end = value + directive->value_length, *time = slash + 1;
    while (slash > value && slash[-1] == ' ')
        slash--;
    while (time < end && *time == ' ')
        time++;
    file->rate.text = lb_file_string(file, value, (size_t)(slash - value));
    file->rate_time =
        (struct lb_stated){lb_file_string(file, time, (size_t)(end - time)), directive->line};
    return 0;
}

static bool is_count(const char *text)
{
    const size_t length = strlen(text);
    return strspn(text, "0123456789") == length && length < 10 && strspn(text, "0") < length;
}

/* Facts that are a word, a number from 1, or an option that says it. */
static const struct fact {
    const char *key;
    size_t offset;   /* of a struct lb_stated */
    int shape;       /* that it is for; -1: both */
    const char *no;  /* NULL: checked elsewhere */
    const char *yes; /* NULL: a number */
} facts[] = {
    {"attempts", offsetof(struct lb_file, attempts), LB_QUEUE, "unlimited", NULL},
    {"key-limit", offsetof(struct lb_file, key_limit), LB_QUEUE, "unlimited", NULL},
    {"share", offsetof(struct lb_file, share), -1, NULL, NULL},
    {"unique", offsetof(struct lb_file, unique), LB_QUEUE, "until-claimed", "until-done"},
    {"priority", offsetof(struct lb_file, priority), LB_QUEUE, "lowest-first", "highest-first"},
    {"rows", offsetof(struct lb_file, rows), LB_LOCK, "shared", "own"},
    {"due", offsetof(struct lb_file, due), LB_QUEUE, "at-once", "later"},
    {"precision", offsetof(struct lb_file, clock), -1, "fine", "seconds"}};

/* With all options read. */
static int settle_fact(const struct lb_file *file, const struct fact *fact, struct lb_error *err)
{
    const struct lb_stated *stated = (const void *)((const char *)file + fact->offset);
    const struct lb_option *option = NULL;
    const char *no = fact->no, *yes = fact->yes;
    if (stated->text == NULL || no == NULL)
        return 0;
    for (size_t i = 0; i < file->n_options; i++)
        if (strcmp(file->options[i].name, stated->text) == 0)
            option = &file->options[i];
    if (fact->shape >= 0 && (int)file->shape != fact->shape)
        return lb_file_fail(file, stated->line, err, "%s: is for a %s, and this is a %s", fact->key,
                            fact->shape == LB_LOCK ? "lock" : "queue",
                            fact->shape == LB_LOCK ? "queue" : "lock");
    bool is_number = yes == NULL && is_count(option != NULL ? option->default_value : stated->text);
    if (is_number || strcmp(stated->text, no) == 0 ||
        (yes != NULL && (option != NULL || strcmp(stated->text, yes) == 0)))
        return 0;
    return lb_file_fail(file, stated->line, err,
                        "%s: \"%s\" is neither %s, nor %s, nor an option of this file%s", fact->key,
                        stated->text, yes != NULL ? yes : "a number from 1", no,
                        yes != NULL ? "" : " that is a number from 1");
}

static int read_needs(struct lb_file *file, const struct lb_directive *directive,
                      struct lb_error *err)
{
    return lb_needs_read(file, directive, &file->needs, err);
}

static const struct {
    const char *key;
    int (*read)(struct lb_file *file, const struct lb_directive *directive, struct lb_error *err);
} readers[] = {{"strategy", read_strategy},   {"shape", read_shape},   {"claims", read_claims},
               {"isolation", read_isolation}, {"option", read_option}, {"pipeline", read_pipeline},
               {"needs", read_needs},         {"rate", read_rate},     {"lease", lb_timing_line},
               {"limit", lb_timing_line}};

int lb_header_line(struct lb_file *file, const struct lb_directive *directive, struct lb_error *err)
{
    if (file->is_built_in && !lb_directive_is(directive, "attempts"))
        return lb_file_fail(file, directive->line, err,
                            "\"%.*s:\" in a file of sections only: the strategy's descriptor "
                            "says it",
                            (int)directive->key_length, directive->key);
    if (file->n_sections > 0)
        return lb_file_fail(file, directive->line, err,
                            "\"%.*s:\" belongs in the header, before the first section",
                            (int)directive->key_length, directive->key);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (lb_directive_is(directive, readers[i].key))
            return readers[i].read(file, directive, err);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (lb_directive_is(directive, facts[i].key))
            return read_fact(file, directive, (void *)((char *)file + facts[i].offset), err);
    const char *text = lb_file_string(file, directive->value, directive->value_length);
    if (lb_directive_is(directive, "summary"))
        file->summary = text;
    else
        file->origin_text = text;
    return 0;
}

int lb_header_finish(struct lb_file *file, struct lb_error *err)
{
    if (file->is_built_in)
        return 0;
    if (file->strategy == NULL)
        return lb_file_fail(file, 1, err, "no \"-- strategy: NAME\" line in the header");
    if (file->shape != LB_LOCK && file->shape != LB_QUEUE)
        return lb_file_fail(file, 1, err, "no \"-- shape: lock\" or \"queue\" line in the header");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (settle_fact(file, &facts[i], err) != 0)
            return LB_E_FILE;
    if (file->is_pipelined && file->shape != LB_QUEUE)
        return lb_file_fail(file, 1, err, "pipeline: is for a queue, and this is a lock");
    for (int i = 0; i < LB_GUARANTEES; i++) {
        bool is_lock = file->shape == LB_LOCK;
        if ((file->claims & LB_G_BIT(i)) != 0 &&
            !lb_guarantee_is((enum lb_guarantee)i,
                             is_lock ? LB_GUARANTEE_IS_FOR_LOCKS : LB_GUARANTEE_IS_FOR_QUEUES))
            return lb_file_fail(file, 1, err, "claims: %s is for a %s, and this is a %s",
                                lb_guarantee_name((enum lb_guarantee)i), is_lock ? "queue" : "lock",
                                is_lock ? "lock" : "queue");
    }
    return 0;
}
