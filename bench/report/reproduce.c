/* The command that repeats a run: the scenario by name and the keys in which the run differed from
 * it, the options, the seed. Passwords are left out: the target's label is used.
 */
#include "append.h"
#include "report.h"
#include "text_clean.h"

#include <stddef.h>
#include <string.h>

void lb_command_add(char *buf, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:,=@%+";
    if (buf[0] != '\0')
        lb_append(buf, size, " ");
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        lb_append(buf, size, "%s", word);
        return;
    }
    lb_append(buf, size, "'");
    for (; *word != '\0'; word++)
        lb_append(buf, size, *word == '\'' ? "'\\%c'" : "%c", *word);
    lb_append(buf, size, "'");
    lb_clean_text(buf);
}

void lb_command_option(char *buf, size_t size, const char *option, const char *value)
{
    if (value == NULL)
        return;
    lb_command_add(buf, size, option);
    lb_command_add(buf, size, value);
}

void lb_command_subject(char *buf, size_t size, const struct lb_cell *cell)
{
    const struct lb_file *before = lb_file_before(cell->file);
    lb_command_option(buf, size, "-s", cell->strategy_path);
    lb_command_option(buf, size, "--with", before != NULL ? lb_file_path(before) : NULL);
    lb_command_option(buf, size, "-d", cell->target != NULL ? cell->target->label : NULL);
}

void lb_command_settings(char *buf, size_t size, const struct lb_cell *cell)
{
    for (size_t i = 0; i < cell->n_settings; i++) {
        char setting[300];
        snprintf(setting, sizeof setting, "%s=%s", cell->settings[i].name, cell->settings[i].value);
        lb_command_option(buf, size, "--opt", setting);
    }
}

void lb_command_start(char *buf, size_t size, uint32_t n_ranks, const char *command)
{
    buf[0] = '\0';
    if (n_ranks > 1)
        snprintf(buf, size, "mpirun -n %u lockbench-mpi", n_ranks);
    else
        lb_command_add(buf, size, "lockbench");
    lb_command_add(buf, size, command);
}

/* Flags for the keys in which the run's configuration is not what its scenario says. */
static void append_keys(char *buf, size_t size, const struct lb_cell *cell)
{
    struct lb_scenario base;
    struct lb_error err;
    if (lb_scenario_load(cell->scenario_path, &base, &err) != 0)
        lb_scenario_init(&base);
    base.pipeline |=
        !base.pipeline_is_said && cell->file != NULL && lb_file_is_pipelined(cell->file);
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        char value[300], usual[300], flag[64];
        if (key->type == LB_KEY_SHAPE)
            continue;
        if (key->offset == offsetof(struct lb_scenario, progress_bound_ns) &&
            !cell->scenario.progress_bound_is_said && cell->scenario.progress_bound_ns > 0)
            continue; /* computed (demand.h), and computed again */
        lb_scenario_get(&cell->scenario, key, value, sizeof value);
        lb_scenario_get(&base, key, usual, sizeof usual);
        if (strcmp(value, usual) == 0)
            continue;
        if (key->type == LB_KEY_FLAG) {
            snprintf(flag, sizeof flag, "--%s%s", value[0] == 'y' ? "" : "no-", key->name);
            lb_command_add(buf, size, flag);
            continue;
        }
        snprintf(flag, sizeof flag, "--%s", key->name);
        lb_command_option(buf, size, flag, value);
    }
}

char *lb_reproduce(const struct lb_cell *cell, const struct lb_outcome *run,
                   const struct lb_finding *finding, char *buf, size_t size)
{
    char number[32];
    buf[0] = '\0';
    const struct lb_exploration *explored = run->exploration;
    if (explored != NULL) {
        bool is_violated = finding != NULL && finding->verdict == LB_V_VIOLATED;
        ptrdiff_t g = is_violated ? finding - run->judgement.findings : 0;
        bool is_other = is_violated && (explored->shown >> g & 1) == 0;
        const char *replay = is_other ? explored->replays[g] : explored->replay;
        lb_append(buf, size, "%s", is_other ? explored->again_all : explored->again);
        if (replay[0] != '\0' && (finding == NULL || is_violated))
            lb_command_option(buf, size, "--replay", replay);
        return buf;
    }
    lb_command_start(buf, size, run->ranks.n, "run");
    lb_command_subject(buf, size, cell);
    lb_command_option(buf, size, "-S", cell->scenario_path);
    append_keys(buf, size, cell);
    lb_command_settings(buf, size, cell);
    if (cell->after_setup != NULL)
        lb_command_option(buf, size, "--after-setup", cell->after_setup_path);
    snprintf(number, sizeof number, "%llu", (unsigned long long)run->seed);
    lb_command_option(buf, size, "--seed", number);
    return buf;
}
