/* Stored results against anything: an accepted result must be compared with itself and become a
 * page, and none of it may control a terminal.
 */
#include "diff.h"
#include "memfile.h"
#include "mutate_json.h"
#include "page.h"
#include "stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct lb_error *err)
{
    if (err->message[0] == '\0' || strpbrk(err->message, "\n\x1b") != NULL)
        abort();
}

/* Checks the output of a sink. */
static void check_sink(const struct lb_diff *diff,
                       int (*print)(const struct lb_diff *, FILE *, struct lb_error *))
{
    struct lb_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || print(diff, out, &err) != 0 || fclose(out) != 0 ||
        memchr(text, '\x1b', size) != NULL)
        abort();
    free(text);
}

static int print_text(const struct lb_diff *diff, FILE *out, struct lb_error *err)
{
    (void)err;
    lb_diff_text(diff, out, false, true, 80);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_memfile file;
    const char *path = fuzz_memfile_fill(&file, data, size);
    struct lb_stored base = {0}, new = {0};
    struct lb_diff diff = {0};
    struct lb_error err = {0};
    struct lb_diff_options options = {.threshold = 0.05};
    for (int i = 0; i < LB_METRICS; i++)
        options.metrics[i] = true;
    if (lb_stored_load(path, &base, &err) != 0) {
        check_refusal(&err);
        return 0;
    }
    if (lb_stored_load(path, &new, &err) != 0)
        abort();
    if (lb_diff_make(&base, &new, &options, &diff, &err) != 0) {
        check_refusal(&err);
    } else {
        check_sink(&diff, print_text);
        check_sink(&diff, lb_diff_json);
        check_sink(&diff, lb_diff_markdown);
    }
    lb_diff_release(&diff);
    lb_stored_release(&new);
    if (size % 4 != 0) { /* a page is large: most of the time goes into it */
        lb_stored_release(&base);
        return 0;
    }
    FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere == NULL)
        abort();
    if (lb_page_write(&base, 1, nowhere, &err) != 0)
        check_refusal(&err);
    fclose(nowhere);
    lb_stored_release(&base);
    return 0;
}
