/* The list of what a file is asked: see asks.h. */
#include "asks.h"

#include <stdarg.h>

bool lb_asking_claims(const struct lb_asking *m, enum lb_guarantee guarantee)
{
    return (m->strategy->claims & LB_G_BIT(guarantee)) != 0;
}

bool lb_asking_on_server(const struct lb_asking *m)
{
    return m->db->terminate != NULL;
}

bool lb_asking_counts_by_server(const struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    return m->strategy->shape == LB_LOCK && lb_asking_on_server(m) && f->is_one_commit &&
           !f->by_worker_clock && f->begin_clock_line != 0;
}

struct lb_ask *lb_asks_add(struct lb_asking *m, const char *name, const char *why, ...)
{
    struct lb_outlook *outlook = m->outlook;
    struct lb_ask *ask = &outlook->asks[outlook->n_asks];
    va_list args;
    if (outlook->n_asks < LB_ASKS - 1)
        outlook->n_asks++;
    *ask = (struct lb_ask){0};
    snprintf(ask->name, sizeof ask->name, "%s", name);
    va_start(args, why);
    vsnprintf(ask->why, sizeof ask->why, why, args);
    va_end(args);
    return ask;
}

void lb_asks_leave_out(struct lb_asking *m, const char *name, const char *why)
{
    lb_asks_add(m, name, "%s", why)->is_left_out = true;
}
