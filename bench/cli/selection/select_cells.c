/* The cells that strategies, targets and scenarios make: see select.h. A cell that cannot run is
 * there too, SKIPPED with its reason. */
#include "combinations.h"
#include "select.h"
#include "select_parts.h"

#include "array.h"
#include "demand.h"
#include "memory.h"
#include "nearest.h"

#include <stdlib.h>
#include <string.h>

/* --- --matrix: each question at each isolation level that a target tells apart --- */

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

/* The question as a cell of the matrix asks it: at that level (LB_ISO_DEFAULT: it stays as it is),
 * and for a short time unless the user gave one. */
static int ask_at_level(const struct lb_question *question, const struct lb_strategy *strategy,
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

/* Is the level among those of the matrix? All that the engine tells apart, or the one that the
 * scenario asks for, or with --isolation default the engine's own; without a database (NULL) there
 * is none, LB_ISO_DEFAULT. */
static bool includes_level(const struct lb_db *db, const struct lb_scenario *scenario,
                           enum lb_isolation level, const struct lb_args *args)
{
    if (db == NULL)
        return level == LB_ISO_DEFAULT;
    if (scenario->isolation == LB_ISO_DEFAULT && lb_args_give(args, "isolation"))
        return level == db->default_isolation;
    return scenario->isolation != LB_ISO_DEFAULT ? level == scenario->isolation
                                                 : (db->isolations & LB_ISO_BIT(level)) != 0;
}

/* Makes the cell a SKIP if the level means nothing to the engine, or is not the strategy's. */
static void fit_level(const struct lb_db *db, enum lb_isolation level, struct lb_cell *cell)
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

/* --- the cells --- */

/* The user's settings that this strategy has, or those of a known break ("form=in"). */
static int add_settings(struct lb_selection *selection, const struct lb_protocol *protocol,
                        const char *of_break, struct lb_cell *cell, struct lb_error *err)
{
    size_t first = selection->n_settings, n_given = selection->n_settings;
    int rc = 0;
    for (const char *at = of_break; at != NULL && *at != '\0' && rc == 0;) {
        size_t n = strcspn(at, " ");
        rc = lb_select_setting(selection, at, n, err);
        at += n + strspn(at + n, " ");
    }
    if (rc != 0)
        return rc;
    if (of_break == NULL)
        first = 0;
    cell->settings = lb_calloc(selection->n_settings - first + 1, sizeof *cell->settings);
    for (size_t i = first; i < selection->n_settings; i++) {
        struct lb_nearest unused;
        lb_nearest_init(&unused, "");
        if (lb_select_has_option(protocol, selection->settings[i].name, &unused))
            cell->settings[cell->n_settings++] = selection->settings[i];
    }
    selection->n_settings = n_given; /* the texts stay */
    return 0;
}

/* Files and option values are checked now, and not after an hour of other cells. */
static int check_program(const struct lb_cell *cell, struct lb_error *err)
{
    struct lb_program *program;
    if (cell->file == NULL || cell->target == NULL)
        return 0;
    int rc = lb_program_new(cell->file, cell->target->db, cell->strategy->options, cell->settings,
                            cell->n_settings, &program, err);
    if (rc == 0)
        lb_program_free(program);
    return rc;
}

/* The lease that a file's statements will get: from --opt, then --ttl and the scenario, then the
 * file's default. The scenario uses it, and reports it. */
static void fit_lease(struct lb_cell *cell)
{
    struct lb_scaled scaled;
    struct lb_scenario *scenario = &cell->scenario;
    if (cell->file == NULL)
        return;
    lb_file_scale(cell->file, scenario->ttl_ns / 1000000, scenario->ttl_is_said, cell->settings,
                  cell->n_settings, &scaled);
    const struct lb_timing *lease = lb_file_lease(cell->file);
    const struct lb_timing *used = lease != NULL ? lease : lb_file_limit(cell->file);
    if (scaled.n_settings == 0 || used == NULL)
        return;
    uint64_t used_ms = lease != NULL ? scaled.lease_ms : scaled.limit_ms;
    cell->has_own_ttl =
        !scenario->ttl_is_said && used != NULL && (int64_t)used_ms == used->default_ms;
    scenario->ttl_ns = used_ms * UINT64_C(1000000);
    scenario->ttl_is_said = true;
}

/* A file's header says it where neither the user nor the scenario does. */
static void fit_pipeline(struct lb_cell *cell)
{
    struct lb_scenario *scenario = &cell->scenario;
    cell->has_own_pipeline =
        !scenario->pipeline_is_said && cell->file != NULL && lb_file_is_pipelined(cell->file);
    scenario->pipeline |= cell->has_own_pipeline;
}

/* With several servers of one engine, the server is the question. */
static bool has_twin(const struct lb_selection *selection, const struct lb_strategy *strategy,
                     const struct lb_place *place)
{
    bool has = false;
    for (size_t i = 0; i < selection->n_places && !strategy->no_database; i++)
        has |= &selection->places[i] != place &&
               selection->places[i].target.db->name == place->target.db->name;
    return has;
}

static int add_cell(struct lb_selection *selection, const struct lb_protocol *protocol,
                    const struct lb_question *question, const struct lb_place *place,
                    const char *of_break, struct lb_report *report, struct lb_error *err)
{
    const struct lb_strategy *strategy = protocol->strategy;
    struct lb_cell *cell = lb_array_add(&report->cells, &report->n_cells, sizeof *cell);
    cell->strategy = strategy;
    cell->strategy_path = protocol->path;
    cell->scenario = question->scenario;
    cell->scenario_path = question->path;
    cell->shows_break = of_break != NULL;
    cell->compares_servers = selection->is_choice && has_twin(selection, strategy, place);
    cell->after_setup = strategy->no_database ? NULL : place->after_setup;
    cell->after_setup_path = place->after_setup_path;
    cell->target = strategy->no_database ? NULL : &place->target;
    cell->file = strategy->no_database ? NULL : lb_protocol_file(protocol, place->target.db);
    snprintf(cell->engine, sizeof cell->engine, "%s",
             strategy->no_database ? "memory" : place->engine);
    snprintf(cell->name, sizeof cell->name, of_break != NULL ? "%s[%s]" : "%s",
             protocol->label != NULL ? protocol->label : strategy->name, of_break);
    int rc = add_settings(selection, protocol, of_break, cell, err);
    if (rc != 0)
        return rc;
    fit_lease(cell);
    fit_pipeline(cell);
    /* A program whose leases are counted in seconds cannot be asked for one of 200 ms. */
    lb_scenario_fit_unit(&cell->scenario, strategy->lease_unit_ms);
    cell->scenario.progress_bound_ns = lb_scenario_bound_ns(
        &cell->scenario, lb_scenario_demand_ns(&cell->scenario, strategy->is_lease));
    if (protocol->guest != NULL)
        rc = lb_guest_check(protocol->guest, cell->settings, cell->n_settings, err);
    if (rc != 0)
        return rc;
    rc =
        lb_run_supported(strategy, cell->file, place->target.db, place->caps, &cell->scenario, err);
    if (rc == LB_E_UNSUPPORTED) {
        cell->state = LB_CELL_SKIPPED;
        snprintf(cell->reason, sizeof cell->reason, "%s", err->message);
        return 0;
    }
    return rc != 0 ? rc : check_program(cell, err);
}

/* Is this question asked of this strategy, with the options that the user gave? */
static bool is_asked(const struct lb_question *question, const struct lb_strategy *strategy,
                     const struct lb_args *args, bool shows_breaks)
{
    if (args->scenarios.n > 0 ||
        strcmp(question->path, lb_select_default(strategy->shape, args)) == 0)
        return true;
    for (const struct lb_break *b = strategy->breaks; shows_breaks && b != NULL && b->why != NULL;
         b++)
        if (b->scenario != NULL && b->options == NULL && strcmp(b->scenario, question->path) == 0)
            return true;
    return false;
}

/* True if options show the break in this scenario (NULL: in any). A break that names no scenario is
 * shown by the usual one. */
static bool shows_with_options(const struct lb_break *known, const char *usual,
                               const char *scenario)
{
    const char *shown_by = known->scenario != NULL ? known->scenario : usual;
    return known->options != NULL && (scenario == NULL || strcmp(shown_by, scenario) == 0);
}

/* The n-th different set of options that is known to break a strategy in this scenario; NULL: no
 * more. */
static const char *break_options(const struct lb_strategy *strategy, const char *usual,
                                 const char *scenario, size_t n)
{
    const struct lb_break *first = strategy->breaks;
    for (const struct lb_break *b = first; b != NULL && b->why != NULL; b++) {
        bool is_new = shows_with_options(b, usual, scenario);
        for (const struct lb_break *c = first; c != b && is_new; c++)
            is_new = !shows_with_options(c, usual, scenario) || strcmp(c->options, b->options) != 0;
        if (is_new && n-- == 0)
            return b->options;
    }
    return NULL;
}

/* One cell, or with --matrix one for each isolation level. */
static int add_levels(struct lb_selection *selection, const struct lb_args *args,
                      const struct lb_protocol *protocol, const struct lb_question *question,
                      const struct lb_place *place, const char *of_break, struct lb_report *report,
                      struct lb_error *err)
{
    const struct lb_strategy *strategy = protocol->strategy;
    const struct lb_db *db = strategy->no_database ? NULL : place->target.db;
    int rc = 0;
    if (!args->matrix)
        return add_cell(selection, protocol, question, place, of_break, report, err);
    for (int i = LB_ISO_DEFAULT; i < LB_ISOLATIONS && rc == 0; i++) {
        enum lb_isolation level = (enum lb_isolation)i;
        struct lb_question asked;
        if (!includes_level(db, &question->scenario, level, args))
            continue;
        rc = ask_at_level(question, strategy, level, args, &asked, err);
        if (rc == 0)
            rc = add_cell(selection, protocol, &asked, place, of_break, report, err);
        if (rc == 0)
            fit_level(db, level, &report->cells[report->n_cells - 1]);
    }
    return rc;
}

/* The cells of one strategy, target and question. */
static int add_cells(struct lb_selection *selection, const struct lb_args *args,
                     const struct lb_select_defaults *defaults, const struct lb_protocol *protocol,
                     const struct lb_question *question, const struct lb_place *place,
                     struct lb_report *report, struct lb_error *err)
{
    const struct lb_strategy *strategy = protocol->strategy;
    int rc = 0;
    bool shows_breaks = lb_select_shows_breaks(selection, strategy, defaults);
    if (is_asked(question, strategy, args, shows_breaks))
        rc = add_levels(selection, args, protocol, question, place, NULL, report, err);
    /* Under faults the options by which a lock breaks are asked too, as lease-update runs at all
     * with one only. A queue that claims too much has enough to answer for without them. */
    bool with_options = args->faults == NULL || strategy->shape == LB_LOCK;
    for (size_t n = 0; shows_breaks && with_options && args->options.n == 0 && rc == 0; n++) {
        const char *options = break_options(strategy, lb_select_default(strategy->shape, args),
                                            args->faults != NULL ? NULL : question->path, n);
        if (options == NULL)
            break;
        rc = add_levels(selection, args, protocol, question, place, options, report, err);
    }
    return rc;
}

/* Sets the option of the ask; a value that was given stays. There is room for one more. */
static void set_option(struct lb_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->n_settings; i++)
        if (strcmp(cell->settings[i].name, name) == 0)
            return;
    cell->settings[cell->n_settings++] = (struct lb_setting){name, "1"};
}

/* The asks of a file's outlook on one target, as cells. */
static int add_asks(struct lb_selection *selection, const struct lb_args *args,
                    const struct lb_protocol *protocol, const struct lb_place *place,
                    const struct lb_outlook *outlook, struct lb_report *report,
                    struct lb_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < outlook->n_asks && rc == 0; i++) {
        const struct lb_ask *ask = &outlook->asks[i];
        struct lb_question question = {.path = ask->scenario != NULL ? ask->scenario : "explore"};
        if ((ask->is_left_out && !ask->is_deferred) ||
            (ask->scenario == NULL && (args->no_explore || args->no_record)))
            continue;
        if (ask->scenario != NULL) {
            rc = lb_ask_scenario(outlook, ask, &question.scenario, err);
        } else {
            lb_scenario_init(&question.scenario);
            question.scenario.shape = protocol->strategy->shape;
            question.scenario.workers = ask->explored.workers;
            snprintf(question.scenario.name, sizeof question.scenario.name, "%s", ask->name);
        }
        if (rc == LB_E_UNSUPPORTED)
            rc = lb_scenario_load(ask->scenario, &question.scenario, &(struct lb_error){0}) == 0
                     ? 0
                     : rc;
        if (rc != 0)
            return rc;
        rc = add_cell(selection, protocol, &question, place, NULL, report, err);
        struct lb_cell *cell = &report->cells[report->n_cells - 1];
        cell->is_explored = ask->scenario == NULL;
        cell->explored = ask->explored;
        cell->outlook = outlook;
        if (ask->explored.set_to_1 != NULL && rc == 0)
            set_option(cell, ask->explored.set_to_1);
        if (!ask->is_deferred)
            continue;
        cell->state = LB_CELL_SKIPPED;
        snprintf(cell->reason, sizeof cell->reason, "%s", ask->why);
        snprintf(cell->scenario.name, sizeof cell->scenario.name, "%s", ask->name);
    }
    return rc;
}

/* Adds the tests of the file on this engine, chosen by its statements for that engine. */
static int add_outlook(struct lb_selection *selection, const struct lb_args *args,
                       const struct lb_protocol *protocol, const struct lb_place *place,
                       struct lb_report *report, struct lb_error *err)
{
    struct lb_question usual = {.path = lb_select_default(protocol->strategy->shape, args)};
    struct lb_cell probe = {
        .strategy = protocol->strategy, .target = &place->target, .file = protocol->user_file};
    struct lb_program *program = NULL;
    int rc = lb_scenario_load(usual.path, &usual.scenario, err);
    if (rc == 0)
        rc = add_settings(selection, protocol, NULL, &probe, err);
    if (rc == 0 && lb_run_supported(protocol->strategy, protocol->user_file, place->target.db,
                                    place->caps, &usual.scenario, err) == LB_E_UNSUPPORTED) {
        free(probe.settings);
        return add_cell(selection, protocol, &usual, place, NULL, report, err); /* skipped */
    }
    if (rc == 0 && protocol->guest == NULL)
        rc = lb_program_new(protocol->user_file, place->target.db, protocol->strategy->options,
                            probe.settings, probe.n_settings, &program, err);
    if (rc == 0) {
        const struct lb_outlook_site site = {.db = place->target.db,
                                             .has_several = (place->caps & LB_CAP_REPLICA) != 0,
                                             .fails_over = args->failover != NULL};
        struct lb_outlook *outlook = lb_calloc(1, sizeof *outlook), **kept;
        kept = lb_array_add(&selection->outlooks, &selection->n_outlooks, sizeof *kept);
        *kept = outlook;
        lb_outlook_make(protocol->strategy, protocol->user_file, program, &site,
                        args->budget_ns > 0 ? args->budget_ns : LB_OUTLOOK_BUDGET_NS, outlook);
        snprintf(outlook->engine, sizeof outlook->engine, "%s", place->engine);
        outlook->path = protocol->path;
        rc = add_asks(selection, args, protocol, place, outlook, report, err);
    }
    lb_program_free(program);
    free(probe.settings);
    return rc;
}

int lb_select_cells(struct lb_selection *selection, const struct lb_args *args,
                    const struct lb_select_defaults *defaults, struct lb_report *report,
                    struct lb_error *err)
{
    int rc = 0;
    for (size_t p = 0; p < selection->n_protocols; p++) {
        const struct lb_protocol *protocol = &selection->protocols[p];
        bool plans = lb_select_plans(protocol, args, defaults);
        for (size_t i = 0; plans && i < selection->n_places && rc == 0; i++)
            rc = add_outlook(selection, args, protocol, &selection->places[i], report, err);
    }
    for (size_t q = 0; q < selection->n_questions && rc == 0; q++) {
        const struct lb_question *question = &selection->questions[q];
        for (size_t p = 0; p < selection->n_protocols; p++) {
            const struct lb_protocol *protocol = &selection->protocols[p];
            const struct lb_strategy *strategy = protocol->strategy;
            if (question->scenario.shape != strategy->shape ||
                lb_select_plans(protocol, args, defaults))
                continue;
            size_t n_places = strategy->no_database ? 1 : selection->n_places;
            for (size_t i = 0; i < n_places && rc == 0; i++)
                rc = add_cells(selection, args, defaults, protocol, question, &selection->places[i],
                               report, err);
            if (rc != 0)
                return rc;
        }
    }
    if (rc == 0 && report->n_cells == 0)
        return lb_fail(err, LB_E_USAGE, "nothing to run: no strategy fits the scenarios given");
    return rc;
}
