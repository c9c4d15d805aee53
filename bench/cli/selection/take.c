/* Values of options: see take.h. */
#include "take.h"

#include "schedule.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

int lb_take_count(const char *option, const char *text, uint64_t least, uint64_t most,
                  uint64_t *value, struct lb_error *err)
{
    uint64_t taken = least;
    if (text == NULL)
        return 0;
    if (lb_parse_count(text, &taken) != 0 || taken < least || taken > most)
        return lb_fail(err, LB_E_USAGE, "option --%s: '%s' is not a number from %llu to %llu",
                       option, text, (unsigned long long)least, (unsigned long long)most);
    *value = taken;
    return 0;
}

int lb_take_time(const char *option, const char *text, const char *kind, uint64_t *ns,
                 struct lb_error *err)
{
    int rc = text != NULL ? lb_parse_ns(text, ns) : 0;
    if (rc == LB_UNITS_LARGE)
        return lb_fail(err, LB_E_USAGE, "option --%s: '%s' is too large: at most %s", option, text,
                       LB_NS_MOST);
    return rc == 0 ? 0
                   : lb_fail(err, LB_E_USAGE, "option --%s: '%s' is not %s", option, text, kind);
}

int lb_take_share(const char *option, const char *text, double *share, struct lb_error *err)
{
    char number[16];
    uint64_t percent = 0;
    if (text == NULL)
        return 0;
    size_t n = strlen(text);
    n -= n > 0 && text[n - 1] == '%';
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    if (n >= sizeof number || lb_parse_count(number, &percent) != 0 || percent > 100)
        return lb_fail(err, LB_E_USAGE, "option --%s: '%s' is not a share from 0 to 100%%", option,
                       text);
    *share = (double)percent / 100;
    return 0;
}

int lb_take_rate(const char *option, const char *text, const char *example, double *per_s,
                 struct lb_error *err)
{
    struct lb_schedule schedule;
    if (text == NULL)
        return 0;
    if (lb_schedule_init(&schedule, text, 0, err) != 0 || schedule.poisson || schedule.repeat ||
        schedule.n_phases != 1 || schedule.cycle_ns != UINT64_MAX)
        return lb_fail(err, LB_E_USAGE, "option --%s: '%s' is not a rate such as %s", option, text,
                       example);
    *per_s = schedule.phases[0].from_per_s;
    return 0;
}
