/* lockbench explore: every interleaving of a few workers' statements. */
#include "also.h"
#include "cli.h"
#include "clock.h"
#include "cmd_explore_text.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "select.h"
#include "signals.h"
#include "take.h"
#include "terminal.h"
#include "units.h"

#include <string.h>
#include <unistd.h>

static int take_steps(const char *text, struct lb_explore_plan *plan, struct lb_error *err)
{
    while (text != NULL && *text != '\0') {
        size_t n = strcspn(text, ",");
        if (n == 5 && strncmp(text, "clock", n) == 0)
            plan->ticks = 1;
        else if (n == 5 && strncmp(text, "crash", n) == 0)
            plan->deaths = 1;
        else if (n == 3 && strncmp(text, "cut", n) == 0)
            plan->cuts = 1;
        else
            return lb_fail(err, LB_E_USAGE, "option --steps: '%.*s' is not clock, crash or cut",
                           (int)n, text);
        text += n + (text[n] == ',');
    }
    return 0;
}

static int take_also(const char *text, struct lb_explore_plan *plan, struct lb_error *err)
{
    struct lb_explored_ask also = {0};
    int rc = text != NULL ? lb_also_parse(text, &also, err) : 0;
    lb_also_plan(&also, plan);
    if (rc == 0 && also.apart && (plan->rounds > 1 || plan->resources < plan->workers))
        rc = lb_fail(err, LB_E_USAGE,
                     "option --also: apart needs one round, and as many --resources as "
                     "--workers");
    return rc;
}

/* Do the numbers go together? */
static int check_counts(const struct lb_explore_args *args, const struct lb_explore_plan *plan,
                        struct lb_error *err)
{
    if (plan->readers > plan->workers)
        return lb_fail(err, LB_E_USAGE, "option --readers: there are only %u workers",
                       plan->workers);
    if (plan->workers + plan->putters + plan->rescuers + plan->blockers + plan->late >
        LB_MAX_WORKERS)
        return lb_fail(err, LB_E_USAGE, "option --%s: at most %d workers together",
                       plan->late > 0       ? "late"
                       : plan->blockers > 0 ? "blockers"
                       : plan->rescuers > 0 ? "rescuers"
                                            : "producers",
                       LB_MAX_WORKERS);
    if (args->depth != NULL && args->random == NULL)
        return lb_fail(err, LB_E_USAGE, "option --depth: is for --random schedules");
    return 0;
}

static int make_counts(const struct lb_explore_args *args, struct lb_explore_plan *plan,
                       struct lb_error *err)
{
    const struct {
        const char *option, *text;
        uint32_t *to;
        uint64_t usual, least, most;
    } counts[] = {
        {"workers", args->workers, &plan->workers, 2, 1, LB_MAX_WORKERS},
        {"rounds", args->rounds, &plan->rounds, 1, 1, 20},
        {"polls", args->polls, &plan->polls, 5, 1, 1000},
        {"readers", args->readers, &plan->readers, 0, 0, LB_MAX_WORKERS},
        {"capacity", args->capacity, &plan->capacity, 1, 1, 1000},
        {"items", args->items, &plan->items, 0, 1, 200},
        {"producers", args->producers, &plan->putters, 0, 0, LB_MAX_WORKERS - 1},
        {"rescuers", args->rescuers, &plan->rescuers, 0, 0, LB_MAX_WORKERS - 1},
        {"blockers", args->blockers, &plan->blockers, 0, 0, LB_MAX_WORKERS - 1},
        {"renewals", args->renewals, &plan->renewals, 0, 0, 20},
        {"frees", args->frees, &plan->frees, 0, 0, 20},
        {"late", args->late, &plan->late, 0, 0, LB_MAX_WORKERS - 1},
        {"resources", args->resources, &plan->resources, 1, 1, LB_EXPLORE_RESOURCES},
        {"batch", args->batch, &plan->batch, 1, 1, LB_CLAIM_ROOM},
        {"depth", args->depth, &plan->search.depth, 3, 1, 16},
        {"choices", args->choices, &plan->search.choice_replays, LB_CHOICE_REPLAYS, 0, 1000000},
    };
    const uint64_t most = UINT64_MAX / 2;
    uint64_t preemptions = 0;
    int rc = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && rc == 0; i++) {
        uint64_t value = counts[i].usual;
        rc = lb_take_count(counts[i].option, counts[i].text, counts[i].least, counts[i].most,
                           &value, err);
        *counts[i].to = (uint32_t)value;
    }
    if (rc == 0)
        rc = lb_take_count("preemptions", args->preemptions, 0, 1000, &preemptions, err);
    if (rc == 0)
        rc = lb_take_count("random", args->random, 1, most, &plan->search.random, err);
    if (rc == 0)
        rc = lb_take_count("max-schedules", args->max_schedules, 1, most,
                           &plan->search.max_schedules, err);
    plan->search.preemptions = args->preemptions != NULL ? (int)preemptions : -1;
    return rc == 0 ? check_counts(args, plan, err) : rc;
}

static int make_plan(const struct lb_args *args, struct lb_explore_plan *plan,
                     struct lb_schedule *replay, struct lb_error *err)
{
    static const char a_time[] = "a time such as 10s";
    const struct lb_explore_args *own = &args->explore;
    uint64_t ttl_ns = UINT64_C(600000000000), time_ns = 0;
    plan->audit = 0.1;
    int rc = make_counts(own, plan, err);
    if (rc == 0)
        rc = take_steps(own->steps, plan, err);
    if (rc == 0)
        rc = lb_take_share("audit", own->audit, &plan->audit, err);
    if (rc == 0)
        rc = lb_take_time("ttl", own->ttl, a_time, &ttl_ns, err);
    if (rc == 0)
        rc = lb_take_time("time", own->time, a_time, &time_ns, err);
    if (rc == 0 && own->isolation != NULL) {
        int isolation = lb_isolation_parse(own->isolation);
        if (isolation < 0)
            return lb_fail(err, LB_E_USAGE,
                           "option --isolation: '%s' is not read-committed, repeatable-read or "
                           "serializable",
                           own->isolation);
        plan->isolation = (enum lb_isolation)isolation;
    }
    if (rc == 0 && own->replay != NULL && own->replay[0] == '\0')
        rc = lb_fail(err, LB_E_USAGE,
                     "option --replay: no steps are given; explore prints them below a violation");
    if (rc == 0 && own->replay != NULL) {
        rc = lb_schedule_parse(own->replay, replay, err);
        plan->replay = replay;
    }
    if (rc == 0 && own->claims != NULL)
        rc = lb_guarantees_parse(own->claims, &plan->claims, err);
    plan->ttl_ms = (uint32_t)(ttl_ns / 1000000);
    if (rc == 0)
        rc = take_also(own->also, plan, err);
    plan->keep = args->keep;
    plan->search.seed = args->seed_number;
    plan->search.all = !own->first;
    if (own->no_reduction)
        plan->relation = LB_RELATION_STEPS;
    plan->time_ns = time_ns;
    return rc;
}

/* Flags that mean something for the other shape only are mistakes. */
static int check_shape(const struct lb_args *args, const struct lb_strategy *strategy,
                       struct lb_error *err)
{
    const struct lb_explore_args *own = &args->explore;
    const struct {
        const char *option, *text;
        enum lb_shape shape;
    } owned[] = {{"readers", own->readers, LB_LOCK},     {"capacity", own->capacity, LB_LOCK},
                 {"items", own->items, LB_QUEUE},        {"batch", own->batch, LB_QUEUE},
                 {"frees", own->frees, LB_QUEUE},        {"producers", own->producers, LB_QUEUE},
                 {"resources", own->resources, LB_LOCK}, {"late", own->late, LB_QUEUE}};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (owned[i].text != NULL && owned[i].shape != strategy->shape)
            return lb_fail(err, LB_E_USAGE, "option --%s: has no meaning for %s, a %s",
                           owned[i].option, strategy->name, lb_shape_name(strategy->shape));
    bool has_halves = own->also != NULL && strstr(own->also, "halves") != NULL;
    if (has_halves && (strategy->shape != LB_LOCK || !strategy->is_lease))
        return lb_fail(err, LB_E_USAGE,
                       "option --also: halves has no meaning for %s: it is not a lock with a lease",
                       strategy->name);
    return 0;
}

/* --- telling --- */

static const char *number(uint32_t value, char buf[16])
{
    snprintf(buf, 16, "%u", value);
    return buf;
}

/* The command that plays the witness again, without the schedule. The witness may be a smaller case
 * than the explored one, with as many items. */
static void make_command(const struct lb_args *args, const struct lb_protocol *protocol,
                         const struct lb_target *target, const struct lb_explored *explored,
                         char *text, size_t size)
{
    const struct lb_explore_args *own = &args->explore;
    bool is_smaller = explored->has_witness && (explored->witness_workers != explored->workers ||
                                                explored->witness_rounds != explored->rounds);
    bool has_items = is_smaller && protocol->strategy->shape == LB_QUEUE;
    char workers[16], rounds[16], items[16];
    const struct {
        const char *option, *text;
    } words[] = {
        {"--workers", is_smaller ? number(explored->witness_workers, workers) : own->workers},
        {"--rounds", is_smaller ? number(explored->witness_rounds, rounds) : own->rounds},
        {"--readers", own->readers},
        {"--capacity", own->capacity},
        {"--items", has_items ? number(explored->witness_items, items) : own->items},
        {"--batch", own->batch},
        {"--producers", own->producers},
        {"--rescuers", own->rescuers},
        {"--blockers", own->blockers},
        {"--renewals", own->renewals},
        {"--frees", own->frees},
        {"--late", own->late},
        {"--also", own->also},
        {"--resources", own->resources},
        {"--claims", own->claims},
        {"--isolation", own->isolation},
        {"--steps", own->steps},
        {"--ttl", own->ttl},
        {"--polls", own->polls}};
    lb_command_start(text, size, 1, "explore");
    lb_command_option(text, size, "-s", protocol->path);
    lb_command_option(text, size, "--with", args->with);
    lb_command_option(text, size, "-d", target->label);
    for (size_t i = 0; i < args->options.n; i++)
        lb_command_option(text, size, "--opt", args->options.words[i]);
    lb_command_option(text, size, "--sql-dir", args->sql_dir);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        lb_command_option(text, size, words[i].option, words[i].text);
    if (own->no_reduction)
        lb_command_add(text, size, "--no-reduction");
}

static int write_spec(const char *path, const struct lb_explored *explored, struct lb_error *err)
{
    if (explored->spec == NULL)
        return lb_fail(err, LB_E_USAGE, "option --spec: there is no violation on PostgreSQL");
    struct lb_output output;
    int rc = lb_output_open(&output, path, err);
    if (rc != 0)
        return rc;
    fputs(explored->spec, output.file);
    return lb_output_close(&output, 0, err);
}

static enum lb_exit status_of(const struct lb_explored *explored)
{
    if (explored->violated != 0 && explored->confirmed)
        return LB_EXIT_VIOLATED;
    if (explored->search.differs || explored->is_nondeterministic)
        return LB_EXIT_INCONCLUSIVE;
    for (int g = 0; g < LB_GUARANTEES; g++)
        if (explored->findings[g].is_asked && !explored->search.interrupted)
            return LB_EXIT_INCONCLUSIVE;
    return explored->search.interrupted ? LB_EXIT_INTERRUPTED : LB_EXIT_OK;
}

/* True if any claim has a verdict. A replay needs none. */
static bool is_judged(const struct lb_explored *explored)
{
    bool judged = explored->search.n_moves == 0;
    for (int g = 0; g < LB_GUARANTEES; g++)
        judged = judged || explored->findings[g].verdict == LB_V_HELD ||
                 explored->findings[g].verdict == LB_V_VIOLATED;
    return judged;
}

static enum lb_exit explore_one(const struct lb_args *args, const struct lb_selection *selection,
                                const struct lb_explore_plan *asked,
                                const struct lb_protocol *protocol, const struct lb_place *place,
                                bool *ret_judged, struct lb_error *err)
{
    struct lb_explored *explored;
    char command[1000];
    struct lb_strategy strategy = *protocol->strategy;
    if (args->explore.claims != NULL)
        strategy.claims = asked->claims;
    struct lb_explore_plan plan = *asked;
    plan.strategy = &strategy;
    plan.target = &place->target;
    plan.file = lb_protocol_file(protocol, place->target.db);
    plan.settings = selection->settings;
    plan.n_settings = selection->n_settings;
    struct lb_explore_view view = {.shown = !args->quiet && lb_terminal_is(STDERR_FILENO),
                                   .strategy = protocol->strategy->name,
                                   .engine = place->target.db->name,
                                   .start_ns = lb_now_ns(),
                                   .width = lb_terminal_width(STDERR_FILENO)};
    plan.search.progress = lb_explore_progress;
    plan.search.progress_arg = &view;
    if (protocol->guest != NULL && plan.relation < LB_RELATION_MOVES)
        plan.relation = LB_RELATION_MOVES; /* the rows that they touch are not known well enough */
    int rc = check_shape(args, protocol->strategy, err);
    if (rc == 0)
        rc = lb_explore(&plan, &explored, err);
    lb_explore_progress_clear(&view);
    if (rc != 0)
        return lb_exit_of(rc);
    err->code = 0; /* an error from shrinking */
    make_command(args, protocol, &place->target, explored, command, sizeof command);
    if (lb_args_wants(args, "json"))
        lb_explored_json(stdout, explored, command);
    else
        lb_explored_print(stdout, explored, command, lb_terminal_width(STDOUT_FILENO));
    fflush(stdout);
    enum lb_exit status = status_of(explored);
    *ret_judged = *ret_judged || is_judged(explored);
    if (args->explore.spec != NULL && write_spec(args->explore.spec, explored, err) != 0) {
        status = lb_cli_complain(err);
        err->code = 0;
    }
    lb_explored_free(explored);
    return status;
}

enum lb_exit lb_command_explore(const struct lb_args *args)
{
    static const struct lb_select_defaults defaults = {.strategies = NULL};
    struct lb_selection selection = {0};
    struct lb_explore_plan plan = {0};
    struct lb_schedule replay;
    struct lb_error err = {0};
    enum lb_exit status = LB_EXIT_OK;
    bool is_any_judged = false;
    const struct lb_stop *stop = lb_signals_install();
    int rc = make_plan(args, &plan, &replay, &err);
    if (rc == 0)
        rc = lb_select(&selection, args, &defaults, &err);
    if (rc == 0)
        rc = lb_select_versions(&selection, &err);
    bool is_one = selection.n_protocols * selection.n_places == 1;
    if (rc == 0 && !is_one && (plan.replay != NULL || args->explore.spec != NULL))
        rc = lb_fail(&err, LB_E_USAGE, "--replay and --spec take one strategy and one target");
    if (rc == 0 && args->with != NULL && args->explore.spec != NULL)
        rc = lb_fail(&err, LB_E_USAGE,
                     "--spec: an isolationtester file has one setup; leave out "
                     "--with or --spec");
    if (rc != 0) {
        status = lb_cli_complain(&err);
        goto out;
    }
    plan.search.interrupt = &stop->requested;
    for (size_t p = 0; p < selection.n_protocols; p++)
        for (size_t t = 0; t < selection.n_places && status != LB_EXIT_INTERRUPTED; t++) {
            err.code = 0;
            enum lb_exit one = explore_one(args, &selection, &plan, &selection.protocols[p],
                                           &selection.places[t], &is_any_judged, &err);
            if (err.code == LB_E_UNSUPPORTED && !is_one) {
                fprintf(stderr, "lockbench: skipped: %s\n", err.message);
                continue;
            }
            if (err.code != 0)
                lb_cli_complain(&err);
            status = one == LB_EXIT_INTERRUPTED || status == LB_EXIT_OK ? one
                     : one == LB_EXIT_VIOLATED                          ? one
                                                                        : status;
        }
    if (status == LB_EXIT_OK && !is_any_judged) { /* as verify says it */
        fprintf(stderr,
                "lockbench: nothing was tested: no claim got a verdict; the lines above say "
                "why\n");
        status = LB_EXIT_INCONCLUSIVE;
    }
out:
    lb_selection_release(&selection);
    return status;
}
