/* The judge against any history that the reader of EDN accepts, and its meta text against anything:
 * the first byte chooses the model. It must terminate with a verdict.
 */
#include "check.h"
#include "check_meta.h"
#include "interchange.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const struct lb_history_view *view, const struct lb_read_facts *facts, int choice)
{
    struct lb_judgement judgement;
    struct lb_error err = {0};
    struct lb_model model = {.complete = (choice & 1) != 0,
                             .drained = facts->is_drained,
                             .queue = facts->is_queue,
                             .reentrant = (choice & 2) != 0,
                             .lease = (choice & 4) != 0,
                             .progress_bound_ns = choice & 8 ? 1000 : 0,
                             .recovery_bound_ns = choice & 16 ? 1000 : 0};
    for (int g = 0; g < LB_GUARANTEES; g++)
        model.claims |= LB_G_BIT(g);
    uint32_t *capacity = NULL;
    int code = lb_model_parse(view->meta, &model, &capacity, &err);
    if (code == 0)
        code = lb_check(view, &model, &judgement, &err);
    if (code != 0 && (err.message[0] == '\0' || strchr(err.message, '\n') != NULL))
        abort();
    free(capacity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lb_history_view view;
    struct lb_read_facts facts;
    struct lb_error err;
    struct lb_read_options options = {.format = LB_HISTORY_EDN, .ignore = "*"};
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (text == NULL)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (lb_history_parse(text, size - 1, "input", &options, &view, &facts, &err) == 0) {
        judge(&view, &facts, data[0]);
        lb_history_release(&view);
    }
    free(text);
    return 0;
}
