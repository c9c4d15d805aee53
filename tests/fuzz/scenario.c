/* Scenario files against anything: an accepted one must come back the same from its own values. */
#include "scenario.h"
#include "mutate_lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lb_scenario scenario, again;
    struct lb_error err = {0};
    char text[300], back[300];
    uint32_t *capacity = NULL;
    if (lb_scenario_parse("s.ini", (const char *)data, size, &scenario, &err) != 0) {
        if (strncmp(err.message, "s.ini", 5) != 0 || strpbrk(err.message, "\n\x1b") != NULL)
            abort();
        return 0;
    }
    again = scenario;
    for (const struct lb_key *key = lb_scenario_keys; key->name != NULL; key++) {
        lb_scenario_get(&scenario, key, text, sizeof text);
        if (lb_scenario_set(&again, key->name, text, &err) != 0)
            abort();
        lb_scenario_get(&again, key, back, sizeof back);
        if (strcmp(text, back) != 0)
            abort();
    }
    if (lb_scenario_validate(&again, &err) != 0)
        abort();
    if (scenario.shape == LB_LOCK && scenario.resources <= 100000 &&
        lb_scenario_capacities(&scenario, &capacity, &err) == 0)
        free(capacity);
    return 0;
}
