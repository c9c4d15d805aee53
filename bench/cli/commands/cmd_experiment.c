/* lockbench experiment: a file of several commands, as fio's job files.
 *
 * A section is one command; its keys are the command's long options, with what [global] says
 * wherever the section does not say otherwise. Everything is read and parsed before anything is
 * run, so that a mistake in the last section does not cost the time of the first.
 */
#include "array.h"
#include "cli.h"
#include "ini_text.h"
#include "memory.h"
#include "nearest.h"
#include "text_clean.h"

#include <stdlib.h>
#include <string.h>

#define GLOBAL "global"

struct pair {
    int line;
    char *key, *value;
};

/* [name], in the order of the file; [global] is one as well. */
struct section {
    char name[64];
    int line;
    const struct lb_command *command;
    struct pair *pairs;
    size_t n_pairs;
    bool is_chosen;
    struct lb_args args; /* of chosen ones, once parsed */
    bool is_parsed;
};

struct experiment {
    const char *path;
    const struct lb_command *commands; /* all; name NULL ends */
    struct section *sections;
    size_t n_sections;
    char **options; /* after FILE and the names; borrowed */
    int n_options;
};

/* ---- the file ---- */

static struct section *find(const struct experiment *experiment, const char *name)
{
    for (size_t i = 0; i < experiment->n_sections; i++)
        if (strcmp(experiment->sections[i].name, name) == 0)
            return &experiment->sections[i];
    return NULL;
}

static int take_section(void *arg, int line, const char *name, struct lb_error *err)
{
    struct experiment *experiment = arg;
    if (name[0] == '\0')
        return lb_fail(err, LB_E_FILE, "a section without a name");
    if (strlen(name) > 45) /* libinih cuts longer ones */
        return lb_fail(err, LB_E_FILE, "[%s]: a name has at most 45 characters", name);
    if (find(experiment, name) != NULL)
        return lb_fail(err, LB_E_FILE, "[%s] is there a second time", name);
    struct section *section =
        lb_array_add(&experiment->sections, &experiment->n_sections, sizeof *section);
    section->line = line;
    snprintf(section->name, sizeof section->name, "%s", name);
    lb_clean_text(section->name);
    return 0;
}

static int take_pair(void *arg, int line, const char *name, const char *key, const char *value,
                     struct lb_error *err)
{
    struct experiment *experiment = arg;
    struct section *section = find(experiment, name);
    if (section == NULL)
        return lb_fail(err, LB_E_FILE, "%s stands before the first section; [global] is for all",
                       key);
    struct pair *pair = lb_array_add(&section->pairs, &section->n_pairs, sizeof *pair);
    *pair = (struct pair){line, lb_strdup(key), lb_strdup(value)};
    return 0;
}

static const struct pair *pair_of(const struct section *section, const char *key)
{
    for (size_t i = 0; section != NULL && i < section->n_pairs; i++)
        if (strcmp(section->pairs[i].key, key) == 0)
            return &section->pairs[i];
    return NULL;
}

/* ---- a section's command ---- */

static int find_command(const struct experiment *experiment, struct section *section,
                        struct lb_error *err)
{
    static const char *const names[] = {"compare", "verify", "run", "plan", "explore"};
    const struct pair *pair = pair_of(section, "command");
    if (pair == NULL)
        pair = pair_of(find(experiment, GLOBAL), "command");
    const char *wanted = pair != NULL ? pair->value : names[0];
    struct lb_nearest nearest;
    char text[128];
    lb_nearest_init(&nearest, wanted);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_nearest_offer(&nearest, names[i]);
        for (const struct lb_command *c = experiment->commands; c->name != NULL; c++)
            if (strcmp(wanted, names[i]) == 0 && strcmp(c->name, wanted) == 0)
                section->command = c;
    }
    if (section->command != NULL)
        return 0;
    lb_nearest_text(&nearest, text, sizeof text);
    return lb_fail(err, LB_E_FILE, "%s:%d: command: '%s' is not one of an experiment%s",
                   experiment->path, pair != NULL ? pair->line : section->line, wanted,
                   text[0] != '\0' ? text : " (compare, verify, run, plan, explore)");
}

/* "--key=value", or of a switch "--key", "--no-key" or nothing. */
static int add_word(struct lb_words *words, const struct lb_command *command,
                    const struct pair *pair, struct lb_error *err)
{
    char *text;
    bool yes = strcmp(pair->value, "yes") == 0, no = strcmp(pair->value, "no") == 0;
    enum lb_args_kind kind = lb_args_kind(command, pair->key);
    if (strcmp(pair->key, "command") == 0)
        return 0;
    if (kind == LB_ARGS_VALUE || kind == LB_ARGS_UNKNOWN)
        text = lb_format("--%s=%s", pair->key, pair->value);
    else if (!yes && !no)
        return lb_fail(err, LB_E_FILE, "%s: yes or no, not '%s'", pair->key, pair->value);
    else if (no && kind == LB_ARGS_SWITCH)
        return 0;
    else
        text = lb_format("--%s%s", no ? "no-" : "", pair->key);
    lb_words_add(words, text, strlen(text));
    free(text);
    return 0;
}

/* The arguments parsed so far are distinguished by their line. */
static int try(struct section *section, const struct lb_words *words, struct lb_error *err)
{
    if (section->is_parsed)
        lb_args_release(&section->args);
    section->is_parsed = true;
    return lb_args_parse(&section->args, section->command, (int)words->n, words->words, err);
}

static int parse_pairs(const struct experiment *experiment, struct section *section,
                       const struct section *from, struct lb_words *words, struct lb_error *err)
{
    for (size_t i = 0; from != NULL && i < from->n_pairs; i++) {
        const struct pair *pair = &from->pairs[i];
        struct lb_error why;
        if (from != section && pair_of(section, pair->key) != NULL)
            continue;
        int rc = add_word(words, section->command, pair, &why);
        if (rc == 0)
            rc = try(section, words, &why);
        if (rc != 0)
            return lb_fail(err, rc == LB_E_USAGE ? LB_E_FILE : rc, "%s:%d: [%s] %s",
                           experiment->path, pair->line, section->name, why.message);
    }
    return 0;
}

static int parse_section(const struct experiment *experiment, struct section *section,
                         struct lb_error *err)
{
    struct lb_words words = {0};
    int rc = find_command(experiment, section, err);
    if (rc == 0)
        rc = parse_pairs(experiment, section, find(experiment, GLOBAL), &words, err);
    if (rc == 0)
        rc = parse_pairs(experiment, section, section, &words, err);
    for (int i = 0; i < experiment->n_options; i++)
        lb_words_add(&words, experiment->options[i], strlen(experiment->options[i]));
    if (rc == 0)
        rc = try(section, &words, err);
    if (rc == LB_E_USAGE && experiment->n_options > 0)
        lb_fail_prefix(err, "[%s]", section->name);
    lb_words_release(&words);
    return rc;
}

/* ---- all of them ---- */

/* Two sections that write one file, or save one name: the second would be the only one. */
static int check_places(const struct experiment *experiment, const struct section *section,
                        struct lb_error *err)
{
    for (const struct section *other = experiment->sections; other < section; other++) {
        if (!other->is_chosen)
            continue;
        if (section->args.save != NULL && other->args.save != NULL &&
            strcmp(section->args.save, other->args.save) == 0)
            return lb_fail(err, LB_E_USAGE, "%s: [%s] and [%s] both save %s", experiment->path,
                           other->name, section->name, other->args.save);
        for (size_t i = 0; i < section->args.formats.n; i++)
            for (size_t k = 0; k < other->args.formats.n; k++) {
                const char *mine = strchr(section->args.formats.words[i], ':');
                const char *theirs = strchr(other->args.formats.words[k], ':');
                if (mine != NULL && theirs != NULL && strcmp(mine, theirs) == 0 &&
                    strcmp(mine, ":-") != 0)
                    return lb_fail(err, LB_E_USAGE, "%s: [%s] and [%s] both write %s",
                                   experiment->path, other->name, section->name, mine + 1);
            }
    }
    return 0;
}

/* The names after FILE; without any: all sections. */
static int choose(struct experiment *experiment, char **names, int n, struct lb_error *err)
{
    size_t n_chosen = 0;
    for (int i = 0; i < n; i++) {
        struct section *section = find(experiment, names[i]);
        struct lb_nearest nearest;
        char text[128];
        lb_nearest_init(&nearest, names[i]);
        for (size_t k = 0; k < experiment->n_sections; k++)
            lb_nearest_offer(&nearest, experiment->sections[k].name);
        if (section == NULL || strcmp(names[i], GLOBAL) == 0)
            return lb_fail(err, LB_E_USAGE, "%s has no section [%s]%s", experiment->path, names[i],
                           section == NULL ? lb_nearest_text(&nearest, text, sizeof text)
                                           : " to run: it is what the others share");
        section->is_chosen = true;
    }
    for (size_t i = 0; i < experiment->n_sections; i++) {
        struct section *section = &experiment->sections[i];
        section->is_chosen |= n == 0 && strcmp(section->name, GLOBAL) != 0;
        n_chosen += section->is_chosen;
    }
    return n_chosen > 0
               ? 0
               : lb_fail(err, LB_E_FILE, "%s: has no section besides [global]", experiment->path);
}

static int prepare(struct experiment *experiment, int argc, char **argv, struct lb_error *err)
{
    int n_names = 0;
    char *text = NULL;
    size_t length;
    while (1 + n_names < argc && argv[1 + n_names][0] != '-')
        n_names++;
    experiment->path = argv[0];
    experiment->options = argv + 1 + n_names;
    experiment->n_options = argc - 1 - n_names;
    int rc = lb_ini_read(argv[0], "an experiment", &text, &length, err);
    const struct lb_ini ini = {argv[0], take_section, take_pair, experiment};
    if (rc == 0)
        rc = lb_ini_parse(&ini, text, length, err);
    free(text);
    if (rc == 0)
        rc = choose(experiment, argv + 1, n_names, err);
    for (size_t i = 0; i < experiment->n_sections && rc == 0; i++)
        if (experiment->sections[i].is_chosen) {
            rc = parse_section(experiment, &experiment->sections[i], err);
            if (rc == 0)
                rc = check_places(experiment, &experiment->sections[i], err);
        }
    return rc;
}

static void release(struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->n_sections; i++) {
        struct section *section = &experiment->sections[i];
        for (size_t k = 0; k < section->n_pairs; k++) {
            free(section->pairs[k].key);
            free(section->pairs[k].value);
        }
        free(section->pairs);
        if (section->is_parsed)
            lb_args_release(&section->args);
    }
    free(experiment->sections);
}

static enum lb_exit run_sections(const struct experiment *experiment)
{
    enum lb_exit status = LB_EXIT_OK;
    bool is_first = true;
    for (size_t i = 0; i < experiment->n_sections && status != LB_EXIT_INTERRUPTED; i++) {
        const struct section *section = &experiment->sections[i];
        if (!section->is_chosen)
            continue;
        if (!is_first)
            putchar('\n');
        is_first = false;
        fflush(stdout);
        if (!section->args.quiet)
            fprintf(stderr, "lockbench: [%s] %s\n", section->name, section->command->name);
        status = lb_exit_worse(status, section->command->run(&section->args));
    }
    return status;
}

enum lb_exit lb_command_experiment(const struct lb_command *command,
                                   const struct lb_command *commands, int argc, char **argv)
{
    struct experiment experiment = {.commands = commands};
    struct lb_error err;
    enum lb_exit status;
    if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
        return lb_args_help(command, true, stdout) == 0 ? LB_EXIT_OK : LB_EXIT_ENVIRONMENT;
    int rc = argc == 0 || (argv[0][0] == '-' && argv[0][1] != '\0')
                 ? lb_fail(&err, LB_E_USAGE,
                           "experiment takes a file first: see lockbench "
                           "experiment --help")
                 : prepare(&experiment, argc, argv, &err);
    if (rc == 0)
        rc = lb_cli_check_clock(&err);
    status = rc == 0 ? run_sections(&experiment) : lb_cli_complain(&err);
    release(&experiment);
    return status;
}
