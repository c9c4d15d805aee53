/* Names that all programs share, of options and attributes: see guest_process.h. */
#include "guest_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct lb_option lb_guest_common_options[LB_GUEST_COMMON_OPTIONS] = {
    {"start_ms", "30000", NULL, "how long the program may take until it can be asked"},
    {"answer_ms", "30000", NULL, "how long any answer may take"},
};

const char *const lb_guest_attributes[LB_ATTRIBUTES] = {[LB_A_KEY] = "key",
                                                        [LB_A_TENANT] = "tenant",
                                                        [LB_A_PRIORITY] = "priority",
                                                        [LB_A_DUE] = "due",
                                                        [LB_A_UNIQUE] = "unique_key"};

int lb_guest_limit(const char *name, const struct lb_setting *settings, size_t n_settings,
                   uint32_t *ret_ms, struct lb_error *err)
{
    const char *text = NULL;
    for (size_t i = 0; i < LB_GUEST_COMMON_OPTIONS; i++)
        if (strcmp(lb_guest_common_options[i].name, name) == 0)
            text = lb_guest_common_options[i].default_value;
    text = lb_setting_of(settings, n_settings, name, text);
    char *end;
    errno = 0;
    unsigned long ms = strtoul(text, &end, 10);
    if (text[strspn(text, "0123456789")] != '\0' || errno != 0 || ms < 1 || ms > 3600000)
        return lb_fail(err, LB_E_USAGE, "option --opt: %s must be from 1 to 3600000, and not '%s'",
                       name, text);
    *ret_ms = (uint32_t)ms;
    return 0;
}

int lb_guest_check(const struct lb_guest *guest, const struct lb_setting *settings,
                   size_t n_settings, struct lb_error *err)
{
    const struct lb_strategy_plan plan = {
        .strategy = &guest->strategy, .settings = settings, .n_settings = n_settings};
    uint32_t ms;
    int rc = 0;
    if (guest->strategy.attempts != NULL && lb_strategy_attempts(&plan) == 0)
        return lb_fail(err, LB_E_USAGE,
                       "%s: option %s must be a number from 1: attempts of an item", guest->path,
                       guest->strategy.attempts);
    for (size_t i = 0; i < LB_GUEST_COMMON_OPTIONS && rc == 0; i++)
        rc = lb_guest_limit(lb_guest_common_options[i].name, settings, n_settings, &ms, err);
    return rc;
}
