/* The small readers of options against anything: addresses of servers, schedules, goals, times. */
#include "db.h"
#include "guarantee.h"
#include "plan.h"
#include "search.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int code, const struct lb_error *err)
{
    if (code != 0 && (err->message[0] == '\0' || strchr(err->message, '\n') != NULL))
        abort();
}

/* A printed schedule must be read back as the same schedule. */
static void check_schedule(const char *text)
{
    struct lb_schedule schedule, again;
    struct lb_error err = {0};
    char printed[4096];
    int code = lb_schedule_parse(text, &schedule, &err);
    check(code, &err);
    if (code != 0)
        return;
    lb_schedule_print(&schedule, printed, sizeof printed);
    if (lb_schedule_parse(printed, &again, &err) != 0 || strcmp(printed, text) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lb_error err = {0};
    struct lb_target target = {0};
    struct lb_slo slo;
    uint64_t number;
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    int code = lb_target_parse(text, &target, &err);
    check(code, &err);
    if (code == 0)
        lb_target_release(&target);
    check_schedule(text);
    check(lb_slo_parse(text, &slo, &err), &err);
    (void)lb_parse_ns(text, &number);
    (void)lb_parse_count(text, &number);
    (void)lb_guarantee_parse(text);
    (void)lb_isolation_parse(text);
    free(text);
    return 0;
}
