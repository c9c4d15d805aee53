/* What the fuzzers of the text formats share. */
#ifndef LB_FUZZ_TEXT_H
#define LB_FUZZ_TEXT_H

#include "history.h"
#include "interchange.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_same(const struct lb_log_view *a, const struct lb_log_view *b)
{
    if (a->n_events != b->n_events)
        abort();
    size_t s = 0, at = 0;
    for (size_t i = 0; i < a->n_spans; i++)
        for (size_t k = 0; k < a->spans[i].n; k++) {
            while (at == b->spans[s].n) {
                s++;
                at = 0;
            }
            if (memcmp(&a->spans[i].events[k], &b->spans[s].events[at++],
                       sizeof(struct lb_event)) != 0)
                abort();
        }
}

/* Reads the bytes; an accepted history must be written in either format and come back the same. */
static inline int fuzz_text(const uint8_t *data, size_t size, enum lb_history_format format)
{
    struct lb_history_view first, second;
    struct lb_read_facts facts;
    struct lb_error err;
    char *text = malloc(size + 1); /* its own block: reading behind the NUL is seen */
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    struct lb_read_options options = {.format = format, .ignore = size % 2 ? "*" : NULL};
    int code = lb_history_parse(text, size, "input", &options, &first, &facts, &err);
    free(text);
    if (code != 0) {
        if (code != LB_E_FILE || strncmp(err.message, "input:", 6) != 0)
            abort();
        return 0;
    }
    for (int other = LB_HISTORY_EDN; other <= LB_HISTORY_JSONL && first.n_events > 0; other++) {
        char *written = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&written, &length);
        if (out == NULL ||
            lb_history_write(&first, (enum lb_history_format)other, LB_WRITE_FULL, out, &err) != 0)
            abort();
        fclose(out);
        if (lb_history_parse(written, length, "written", NULL, &second, &facts, &err) != 0) {
            fprintf(stderr, "%s\n%s", err.message, written);
            abort();
        }
        if (first.n_logs != second.n_logs || strcmp(first.meta, second.meta) != 0)
            abort();
        for (size_t i = 0; i < first.n_logs; i++)
            fuzz_same(&first.logs[i], &second.logs[i]);
        lb_history_release(&second);
        free(written);
    }
    lb_history_release(&first);
    return 0;
}

#endif
