/* The command that repeats a run: the scenario by name and the keys in which the run differed from
 * it, the options, the seed. Passwords are left out: the target's label is used.
 */
#include "report.h"

#include <string.h>

struct text {
    char *buf;
    size_t size, used;
};

static void append(struct text *text, const char *piece, size_t n)
{
    if (text->used + n + 1 > text->size)
        n = text->size - text->used - 1;
    memcpy(text->buf + text->used, piece, n);
    text->used += n;
    text->buf[text->used] = '\0';
}

/* One word, quoted for a POSIX shell if it must be. */
static void append_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:,=@%+";
    if (text->used > 0)
        append(text, " ", 1);
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        append(text, word, strlen(word));
        return;
    }
    append(text, "'", 1);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            append(text, "'\\''", 4);
        else
            append(text, word, 1);
    }
    append(text, "'", 1);
}

/* Flags for the keys in which the run's configuration is not what its scenario says. */
static void append_keys(struct text *text, const struct lb_cell *cell)
{
    struct lb_scenario base;
    struct lb_error err;
    if (lb_scenario_load(cell->scenario_path, &base, &err) != 0)
        lb_scenario_init(&base);
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        char value[300], usual[300], flag[64];
        if (key->type == LB_KEY_SHAPE)
            continue;
        lb_scenario_get(&cell->scenario, key, value, sizeof value);
        lb_scenario_get(&base, key, usual, sizeof usual);
        if (strcmp(value, usual) == 0)
            continue;
        if (key->type == LB_KEY_FLAG) {
            snprintf(flag, sizeof flag, "--%s%s", value[0] == 'y' ? "" : "no-", key->name);
            append_word(text, flag);
            continue;
        }
        snprintf(flag, sizeof flag, "--%s", key->name);
        append_word(text, flag);
        append_word(text, value);
    }
}

char *lb_reproduce(const struct lb_cell *cell, const struct lb_outcome *run, char *buf, size_t size)
{
    struct text text = {.buf = buf, .size = size};
    char number[32];
    buf[0] = '\0';
    append_word(&text, "lockbench");
    append_word(&text, "run");
    append_word(&text, "-s");
    append_word(&text, cell->strategy_path);
    if (cell->target != NULL) {
        append_word(&text, "-d");
        append_word(&text, cell->target->label);
    }
    append_word(&text, "-S");
    append_word(&text, cell->scenario_path);
    append_keys(&text, cell);
    for (size_t i = 0; i < cell->n_settings; i++) {
        char setting[300];
        snprintf(setting, sizeof setting, "%s=%s", cell->settings[i].name, cell->settings[i].value);
        append_word(&text, "--opt");
        append_word(&text, setting);
    }
    snprintf(number, sizeof number, "%llu", (unsigned long long)run->seed);
    append_word(&text, "--seed");
    append_word(&text, number);
    return buf;
}
