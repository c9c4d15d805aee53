/* The reader of statement files against anything: an accepted file must translate, or be refused,
 * for every engine, and every refusal is one line with the file's name.
 */
#include "program.h"
#include "mutate_lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct lb_error *err)
{
    if (err->message[0] == '\0' || strchr(err->message, '\n') != NULL)
        abort();
    if (err->code == LB_E_FILE && strncmp(err->message, "f.sql", 5) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lb_file *file = NULL;
    struct lb_error err = {0};
    /* The first byte: a built-in lock's, a built-in queue's, or a user's file. */
    int shape_hint = size > 0 ? (int)(data[0] % 3) - 1 : -1;
    const char *text = (const char *)data + (size > 0);
    if (lb_file_parse("f.sql", text, size > 0 ? size - 1 : 0, shape_hint, &file, &err) != 0) {
        check_refusal(&err);
        return 0;
    }
    if (lb_file_check(file, NULL, &err) != 0)
        check_refusal(&err);
    for (size_t i = 0; lb_engines[i] != NULL; i++) {
        struct lb_program *program = NULL;
        if (lb_program_new(file, lb_engines[i], NULL, NULL, 0, &program, &err) != 0)
            check_refusal(&err);
        lb_program_free(program);
    }
    lb_file_free(file);
    return 0;
}
