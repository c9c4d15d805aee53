/* lockbench record: a program's statements as a strategy file to start from.
 *
 * The file is written whole or not at all, and never in place of one that record did not make:
 * to keep an edited file, remove its first line, or copy it.
 */
#include "cli.h"
#include "output.h"
#include "program.h"
#include "select.h"
#include "signals.h"
#include "text_clean.h"
#include "transcript.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int check_target_file(const char *path, struct lb_error *err)
{
    char begin[sizeof LB_TRANSCRIPT_BEGIN] = "";
    struct stat st;
    if (path == NULL)
        return lb_fail(err, LB_E_USAGE, "record needs -o FILE.sql, the file that it writes");
    size_t n = strlen(path);
    if (n < 4 || strcmp(path + n - 4, ".sql") != 0)
        return lb_fail(err, LB_E_USAGE, "option -o: %s: a strategy file's name ends in .sql", path);
    if (stat(path, &st) != 0)
        return 0;
    FILE *file = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    bool is_ours = file != NULL && fread(begin, 1, sizeof begin - 1, file) == sizeof begin - 1 &&
                   strcmp(begin, LB_TRANSCRIPT_BEGIN) == 0;
    if (file != NULL)
        fclose(file);
    return is_ours ? 0
                   : lb_fail(err, LB_E_USAGE,
                             "option -o: %s is there already, and was not written by record: give "
                             "another name",
                             path);
}

static int check_selection(const struct lb_selection *selection, struct lb_error *err)
{
    if (selection->n_protocols != 1 || selection->protocols[0].guest == NULL)
        return lb_fail(err, LB_E_USAGE,
                       "record takes one program: -s ./PATH of an executable file; "
                       "lockbench show prints the statements of other strategies");
    if (selection->n_places != 1)
        return lb_fail(err, LB_E_USAGE, "record takes one database: -d URI");
    return 0;
}

static int write_file(const char *path, const struct lb_recording *recording,
                      const struct lb_protocol *protocol, size_t *ret_n_open, struct lb_error *err)
{
    struct lb_output output;
    int rc = lb_output_open(&output, path, err);
    if (rc != 0)
        return rc;
    lb_transcript_write(output.file, recording, protocol->path, lb_guest_version(protocol->guest),
                        ret_n_open);
    return lb_output_close(&output, rc, err);
}

/* As lint does: is it a strategy file? Asks for facts that verdicts depend on and that the file
 * does not state. */
static int check_result(const char *path, struct lb_error *err)
{
    struct lb_file *file = NULL;
    struct lb_program *program = NULL;
    struct lb_error ignored;
    char text[200], shown[PATH_MAX];
    int rc = lb_file_read(path, -1, &file, err);
    if (rc == 0)
        rc = lb_file_check(file, NULL, err);
    size_t e = 0;
    while (rc == 0 && lb_engines[e] != NULL && !lb_file_supports(file, lb_engines[e], &ignored))
        e++;
    if (rc == 0 && lb_engines[e] != NULL)
        lb_program_new(file, lb_engines[e], NULL, NULL, 0, &program, &ignored);
    for (int g = 0; g < LB_GUESSES && program != NULL; g++) {
        const struct lb_guess *guess = &program->guesses[g];
        if (guess->line != 0)
            printf("%s:%d: %s; else some verdicts are missing\n",
                   lb_shown(path, shown, sizeof shown), guess->line,
                   lb_guess_text((enum lb_guessed)g, guess, text, sizeof text));
    }
    lb_program_free(program);
    lb_file_free(file);
    return rc;
}

static int record(const struct lb_args *args, struct lb_selection *selection, size_t *ret_n_open,
                  struct lb_error *err)
{
    const struct lb_stop *stop = lb_signals_install();
    const struct lb_protocol *protocol = &selection->protocols[0];
    const struct lb_recording_plan plan = {.strategy = protocol->strategy,
                                           .target = &selection->places[0].target,
                                           .settings = selection->settings,
                                           .n_settings = selection->n_settings,
                                           .interrupt = &stop->requested};
    struct lb_recording *recording = NULL;
    int rc = lb_guest_check(protocol->guest, selection->settings, selection->n_settings, err);
    if (rc == 0 && protocol->strategy->stated != NULL)
        rc = lb_fail(
            err, LB_E_UNSUPPORTED,
            "%s has \"attributes\", \"due\" or \"rate\" in its first line: record cannot tell "
            "which parameters of its statements are keys, priorities or times",
            protocol->path);
    if (rc == 0)
        rc = lb_recording_make(&plan, &recording, err);
    if (rc != 0 && atomic_load(&stop->requested) != 0)
        rc = lb_fail(err, LB_E_INTERRUPTED, "interrupted: nothing was written");
    if (rc == 0)
        rc = write_file(args->output, recording, protocol, ret_n_open, err);
    lb_recording_free(recording);
    return rc;
}

enum lb_exit lb_command_record(const struct lb_args *args)
{
    static const struct lb_select_defaults defaults = {.strategies = NULL};
    struct lb_selection selection = {0};
    struct lb_error err = {0};
    char shown[PATH_MAX], command[2 * PATH_MAX] = "lockbench verify";
    size_t n_open = 0;
    int rc = check_target_file(args->output, &err);
    if (rc == 0)
        rc = lb_select(&selection, args, &defaults, &err);
    if (rc == 0)
        rc = check_selection(&selection, &err);
    if (rc == 0)
        rc = record(args, &selection, &n_open, &err);
    if (rc == 0) {
        lb_command_option(command, sizeof command, "-s", args->output);
        lb_command_option(command, sizeof command, "-d", selection.places[0].target.label);
    }
    lb_selection_release(&selection);
    if (rc != 0)
        return lb_cli_complain(&err);
    if (check_result(args->output, &err) != 0) {
        fprintf(stderr, "lockbench: it was recorded, and needs your help here: %s\n", err.message);
        return LB_EXIT_INCONCLUSIVE;
    }
    printf("%s: %s asks it", lb_shown(args->output, shown, sizeof shown), command);
    if (n_open > 0)
        printf("; %zu place%s that say%s TO DO were not understood", n_open, n_open > 1 ? "s" : "",
               n_open > 1 ? "" : "s");
    printf("\n");
    return LB_EXIT_OK;
}
