/* Isolation levels of a matrix: see levels.h. */
#include "levels.h"

#include "combinations.h"

#include <string.h>

enum { CELL_MS = 1000 };

static bool is_known_to_stall(const struct lb_strategy *strategy)
{
    for (const struct lb_break *b = strategy->breaks; b != NULL && b->why != NULL; b++)
        if (b->guarantee == LB_G_PROGRESS)
            return true;
    return false;
}

/* A known break with a scenario of its own keeps that duration. The length of waits depends on the
 * machine and not on the level: a bound on it is kept only where it is known to show a break, and
 * needs more time than itself. */
static void shorten(struct lb_scenario *scenario, const struct lb_strategy *strategy,
                    const struct lb_args *args)
{
    bool is_usual =
        strcmp(scenario->name, "mutex-hot") == 0 || strcmp(scenario->name, "drain") == 0;
    if (!lb_args_give(args, "warmup"))
        scenario->warmup_ns = 0;
    if (is_known_to_stall(strategy))
        return;
    if (!lb_args_give(args, "progress-bound"))
        scenario->progress_bound_ns = 0;
    if (is_usual && !scenario->drain && !lb_args_give(args, "duration"))
        scenario->duration_ns = CELL_MS * UINT64_C(1000000);
}

int lb_levels_ask(const struct lb_question *question, const struct lb_strategy *strategy,
                  enum lb_isolation level, const struct lb_args *args,
                  struct lb_question *ret_asked, struct lb_error *err)
{
    *ret_asked = *question;
    shorten(&ret_asked->scenario, strategy, args);
    if (level == LB_ISO_DEFAULT)
        return 0;
    bool is_named = ret_asked->scenario.isolation == level;
    ret_asked->scenario.isolation = level;
    return is_named ? 0 : lb_sweep_rename(&ret_asked->scenario, lb_scenario_key("isolation"), err);
}

bool lb_levels_include(const struct lb_db *db, const struct lb_scenario *scenario,
                       enum lb_isolation level, const struct lb_args *args)
{
    if (db == NULL)
        return level == LB_ISO_DEFAULT;
    if (scenario->isolation == LB_ISO_DEFAULT && lb_args_give(args, "isolation"))
        return level == db->default_isolation;
    return scenario->isolation != LB_ISO_DEFAULT ? level == scenario->isolation
                                                 : (db->isolations & LB_ISO_BIT(level)) != 0;
}

void lb_levels_fit(const struct lb_db *db, enum lb_isolation level, struct lb_cell *cell)
{
    const struct lb_strategy *strategy = cell->strategy;
    if (db == NULL || cell->state != LB_CELL_PENDING)
        return;
    if ((db->isolations & LB_ISO_BIT(level)) == 0)
        snprintf(cell->reason, sizeof cell->reason, "%s does not tell %s from its other levels",
                 db->product, lb_isolation_name(level));
    else if (strategy->isolation != LB_ISO_DEFAULT && strategy->isolation != level)
        snprintf(cell->reason, sizeof cell->reason,
                 "%s asks for %s: at another level it is another protocol", strategy->name,
                 lb_isolation_name(strategy->isolation));
    else
        return;
    cell->state = LB_CELL_SKIPPED;
}
