/* From a file's features to its tests: see outlook.h.
 *
 * The order puts the tests first that find most for their time: explorations, as learnt.c counts
 * them, then crowds, then outlived leases or limits, then deaths and lost connections. Tests that
 * do not fit into the budget are left out from the end, and reported.
 */
#include "outlook.h"

#include "asks.h"
#include "definitions.h"
#include "learnt.h"
#include "program_lex.h"

#include <string.h>

/* --- as a whole --- */

static void say_untested(struct lb_asking *m)
{
    const struct lb_features *f = &m->outlook->features;
    if (f->constant_line != 0)
        lb_asks_add(m, "kill",
                    "line %d uses a length of time that no option sets: make it one, so that "
                    "it can be made short (exploring moves the clocks past it)",
                    f->constant_line)
            ->is_left_out = true;
    if (f->by_worker_clock)
        lb_asks_leave_out(m, "skew",
                          "it uses its workers' clocks (:now), which must agree: --faults skew "
                          "shows the effect if they do not");
    if (m->strategy->isolation == LB_ISO_DEFAULT && lb_asking_on_server(m))
        lb_asks_leave_out(m, "isolation", "the server's default: --matrix asks for each level");
}

/* A length of time in the text stays as it is: nothing that waits for it is asked. */
static void drop_constants(struct lb_outlook *outlook)
{
    if (outlook->features.constant_line == 0)
        return;
    size_t n = 0;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        const struct lb_ask *ask = &outlook->asks[i];
        bool explores = ask->explored.deaths > 0 || ask->explored.cuts > 0;
        bool waits = (explores && !outlook->features.has_fixed_lease) ||
                     strstr(ask->name, "kill") != NULL || strcmp(ask->name, "dead-holder") == 0 ||
                     strstr(ask->name, "disconnect") != NULL ||
                     (!explores && strstr(ask->name, "cut") != NULL);
        if (!waits)
            outlook->asks[n++] = *ask;
    }
    outlook->n_asks = n;
}

/* A lease in seconds makes its scenarios longer: see lb_ask_scenario. */
static void count_stretched(struct lb_outlook *outlook)
{
    for (size_t i = 0; i < outlook->n_asks; i++) {
        struct lb_ask *ask = &outlook->asks[i];
        struct lb_scenario scenario;
        struct lb_error err;
        if (ask->is_left_out || ask->scenario == NULL)
            continue;
        int rc = lb_ask_scenario(outlook, ask, &scenario, &err);
        if (rc == LB_E_UNSUPPORTED) {
            ask->is_left_out = true;
            snprintf(ask->why, sizeof ask->why, "%.200s", err.message);
        } else if (rc == 0 && !scenario.drain && scenario.duration_ns > ask->cost_ns) {
            ask->cost_ns = scenario.duration_ns;
        }
    }
}

/* Most explorations end long before their time is up. So they count with a little only, and what
 * comes behind them is asked if there is time left when it is its turn: see lb_is_out_of_budget. */
static void fit_budget(struct lb_outlook *outlook)
{
    const uint64_t little_ns = outlook->budget_ns / 60;
    uint64_t used_ns = 0;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        struct lb_ask *ask = &outlook->asks[i];
        if (ask->is_left_out)
            continue;
        uint64_t cost_ns = ask->scenario == NULL ? little_ns : ask->cost_ns;
        if (used_ns > 0 && used_ns + cost_ns > outlook->budget_ns) {
            ask->is_left_out = ask->is_deferred = true;
            snprintf(ask->why, sizeof ask->why,
                     "does not fit into %.3g s: --budget 10m asks it too",
                     (double)outlook->budget_ns / 1e9);
            continue;
        }
        used_ns += cost_ns;
    }
}

/* The remaining time goes to the explorations, which a busy machine slows down, except for the
 * set-up and the judging of each run; two fifths of all at least. All are scaled by the same
 * factor. */
static void share_rest(struct lb_outlook *outlook)
{
    const double budget_ns = (double)outlook->budget_ns;
    double wanted_ns = 0, rest_ns = budget_ns - budget_ns / LB_OUTLOOK_RESERVE;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        const struct lb_ask *ask = &outlook->asks[i];
        if (!ask->is_left_out && ask->scenario == NULL)
            wanted_ns += (double)ask->cost_ns;
        else if (!ask->is_left_out)
            rest_ns -= (double)ask->cost_ns;
    }
    rest_ns = rest_ns < 0.4 * budget_ns ? 0.4 * budget_ns : rest_ns;
    for (size_t i = 0; i < outlook->n_asks; i++) {
        struct lb_ask *ask = &outlook->asks[i];
        if (ask->is_left_out || ask->scenario != NULL)
            continue;
        ask->cost_ns = (uint64_t)((double)ask->cost_ns * rest_ns / wanted_ns);
        ask->explored.time_ns = ask->cost_ns;
    }
}

/* The statement of that line, on one line. */
static void quote(const struct lb_program *program, int line, struct lb_quote *ret)
{
    const char *sql = NULL;
    for (size_t i = 0; i < program->n_statements && line != 0 && sql == NULL; i++)
        if (program->statements[i].line == line)
            sql = program->statements[i].sql;
    if (sql != NULL)
        lb_quote_set(ret, line, sql, strlen(sql));
}

/* A section's last statement that changes something. */
static void quote_section(const struct lb_program *program, enum lb_section_name name,
                          struct lb_quote *ret)
{
    const struct lb_section *section = &program->sections[name];
    for (size_t i = 0; i < section->n_statements; i++)
        if (section->statements[i].is_write)
            quote(program, section->statements[i].line, ret);
}

/* The directive, where the engine has levels that differ, and serializable is not said. */
static void quote_isolation(const struct lb_program *program, struct lb_outlook *outlook)
{
    char text[sizeof outlook->isolation.text];
    if (outlook->features.isolation_line == 0 || program->isolation == LB_ISO_SERIALIZABLE ||
        (program->db->isolations & ~LB_ISO_BIT(LB_ISO_SERIALIZABLE)) == 0)
        return;
    snprintf(text, sizeof text, "-- isolation: %s", lb_isolation_name(program->isolation));
    lb_quote_set(&outlook->isolation, outlook->features.isolation_line, text, strlen(text));
}

static void quote_statements(const struct lb_program *program, struct lb_outlook *outlook)
{
    static const char *const unique[] = {"unique", NULL}, *const called[] = {"trigger", "function",
                                                                             NULL};
    for (int name = 0; name < LB_SECTIONS; name++) {
        const struct lb_section *section = &program->sections[name];
        for (size_t i = 0; i < section->n_statements && outlook->n_statements < LB_QUOTED; i++) {
            struct lb_quote *ret = &outlook->statements[outlook->n_statements++];
            const char *sql = section->statements[i].sql;
            quote(program, section->statements[i].line, ret);
            ret->section = name;
            if (name == LB_S_SETUP && lb_sql_has_any(sql, program->db->dialect, unique))
                outlook->unique_index = *ret;
            if (name == LB_S_SETUP && outlook->trigger.line == 0 &&
                lb_sql_has_any(sql, program->db->dialect, called))
                outlook->trigger = *ret;
            if (name == LB_S_RESOURCE && i == 0)
                outlook->resource = *ret;
        }
    }
}

static void quote_all(const struct lb_program *program, struct lb_outlook *outlook)
{
    const struct lb_features *f = &outlook->features;
    const struct lb_section *begin =
        &program->sections[program->shape == LB_LOCK ? LB_S_ACQUIRE : LB_S_CLAIM];
    quote_statements(program, outlook);
    lb_outlook_define(program, outlook);
    quote(program, f->begin_line, &outlook->begin);
    if (begin->n_statements > 1)
        quote(program, begin->statements[begin->n_statements - 1].line, &outlook->begin_end);
    quote(program, f->unasked_line, &outlook->unasked);
    quote(program, f->cancel_line, &outlook->cancel);
    quote(program, f->end_line, &outlook->end);
    if (f->end_last_line != f->end_line)
        quote(program, f->end_last_line, &outlook->end_last);
    quote(program, f->renew_line, &outlook->renew);
    quote(program, f->recover_first_line, &outlook->recover_first);
    quote(program, f->recover_line, &outlook->recover);
    quote(program, f->beat_line, &outlook->beat);
    quote(program, f->sweep_line, &outlook->sweep);
    quote(program, f->begin_clock_line, &outlook->clock);
    quote(program, f->token_line, &outlook->token);
    quote(program, f->put_line, &outlook->put);
    quote(program, f->back_line, &outlook->back);
    quote_section(program, f->has_free ? LB_S_FREE : LB_S_RETRY, &outlook->free);
    quote_section(program, LB_S_RETRY, &outlook->retry);
    quote_section(program, LB_S_ERROR, &outlook->error);
    quote_section(program, LB_S_STOP, &outlook->stop);
    quote_section(program, LB_S_UNREGISTER, &outlook->leave);
    quote_section(program, LB_S_CANCEL, &outlook->leave_line);
    quote_isolation(program, outlook);
    quote(program, f->enqueue_line, &outlook->enqueue);
    quote(program, f->operator_line, &outlook->operator);
    quote(program, f->worker_clock_line, &outlook->by_worker);
    quote(program, f->server_clock_line, &outlook->by_server);
}

static void move_first(struct lb_outlook *outlook, const char *name)
{
    struct lb_ask *asks = outlook->asks;
    size_t i = 0;
    while (i < outlook->n_asks && strcmp(asks[i].name, name) != 0)
        i++;
    if (i == outlook->n_asks)
        return;
    const struct lb_ask ask = asks[i];
    memmove(&asks[1], &asks[0], i * sizeof *asks);
    asks[0] = ask;
}

/* No exploration decides whether a key blocks others, nor whether its place comes back with a
 * rescued item: these runs come first, as a busy machine may leave no time for the last ones. The
 * rescue comes second, as a queue that stops at a blocked key is slow in it. */
static void ask_keys_first(const struct lb_asking *m)
{
    if (!lb_asking_claims(m, LB_G_KEY_LIMIT))
        return;
    move_first(m->outlook, "queue-rescue");
    move_first(m->outlook, "keys blocked");
}

/* The explorations, which are all that the list has by now: the cheapest for a finding first. */
static void sort_by_price(struct lb_outlook *outlook)
{
    struct lb_ask *asks = outlook->asks;
    for (size_t i = 1; i < outlook->n_asks; i++) {
        const struct lb_ask ask = asks[i];
        size_t k = i;
        for (; k > 0 && lb_learnt_price(asks[k - 1].name, 0) > lb_learnt_price(ask.name, 0); k--)
            asks[k] = asks[k - 1];
        asks[k] = ask;
    }
}

void lb_outlook_make(const struct lb_strategy *strategy, const struct lb_file *file,
                     const struct lb_program *statements, const struct lb_outlook_site *site,
                     uint64_t budget_ns, struct lb_outlook *ret)
{
    *ret = (struct lb_outlook){.budget_ns = budget_ns,
                               .strategy = strategy->name,
                               .shape = strategy->shape,
                               .is_guest = statements == NULL,
                               .lease_unit_ms = strategy->lease_unit_ms,
                               .is_lease = strategy->is_lease};
    struct lb_asking m = {
        .strategy = strategy, .db = site->db, .program = statements, .site = site, .outlook = ret};
    if (statements == NULL) {
        lb_asks_program(&m);
    } else {
        lb_features_read(file, statements, &ret->features);
        quote_all(statements, ret);
        lb_file_unknown(file, &ret->unknown.line, ret->unknown.text, sizeof ret->unknown.text);
        lb_asks_explore(&m);
        sort_by_price(ret);
        lb_asks_stress(&m);
        ask_keys_first(&m);
        drop_constants(ret);
        say_untested(&m);
        count_stretched(ret);
    }
    fit_budget(ret);
    share_rest(ret);
}

/* --- telling it --- */

static void print_timing(const struct lb_timing *timing, const char *what, FILE *out)
{
    if (timing == NULL)
        return;
    fprintf(out, "  %-6s %s, %s line %d", what, timing->name,
            timing->is_said ? "as said in" : "inferred from", timing->line);
    if (timing->default_ms > 0)
        fprintf(out, "; %lld ms by default, which each scenario replaces",
                (long long)timing->default_ms);
    fputs(timing->by_recover ? "; recover ends it\n" : "\n", out);
}

/* Nothing of the file has run, and the server has refused a statement of it twice with the same
 * words. */
static bool is_refused_again(const struct lb_report *report, const struct lb_cell *failed)
{
    unsigned n = 0;
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (cell->outlook != failed->outlook)
            continue;
        if (cell->n_runs > 0)
            return false;
        n += cell->state == LB_CELL_FAILED &&
             strcmp(cell->error.message, failed->error.message) == 0;
    }
    return n > 1;
}

void lb_outlook_give_up(struct lb_report *report, const struct lb_cell *failed)
{
    if (failed->outlook == NULL || !is_refused_again(report, failed))
        return;
    for (size_t i = 0; i < report->n_cells; i++) {
        struct lb_cell *cell = &report->cells[i];
        if (cell->outlook == failed->outlook && cell->state == LB_CELL_PENDING) {
            cell->state = LB_CELL_NOT_RUN;
            snprintf(cell->reason, sizeof cell->reason, "%s", failed->error.message);
        }
    }
}

void lb_outlook_print(const struct lb_outlook *outlook, FILE *out)
{
    const struct lb_features *f = &outlook->features;
    uint64_t sum_ns = 0;
    unsigned n = 0;
    for (size_t i = 0; i < outlook->n_asks; i++)
        sum_ns += outlook->asks[i].is_left_out ? 0 : outlook->asks[i].cost_ns;
    fprintf(out, "%s on %s: at most %.0f s of %.0f s\n", outlook->strategy, outlook->engine,
            (double)(sum_ns < outlook->budget_ns ? sum_ns : outlook->budget_ns) / 1e9,
            (double)outlook->budget_ns / 1e9);
    if (outlook->is_guest) {
        if (outlook->is_lease)
            fputs("  lease  as its first line says\n", out);
        if (outlook->lease_unit_ms > 0)
            fprintf(out, "  times  in units of %u ms\n", outlook->lease_unit_ms);
    } else {
        print_timing(f->lease, "lease", out);
        print_timing(f->limit, "limit", out);
    }
    if (f->whole_line != 0)
        fprintf(out,
                "  clock  line %d has whole seconds only: a lease or limit that uses it ends up to "
                "a second early or late\n",
                f->whole_line);
    for (size_t i = 0; i < outlook->n_asks; i++)
        if (!outlook->asks[i].is_left_out)
            fprintf(out, "  %2u %-20s %4.1f s  %s\n", ++n, outlook->asks[i].name,
                    (double)outlook->asks[i].cost_ns / 1e9, outlook->asks[i].why);
    for (size_t i = 0; i < outlook->n_asks; i++)
        if (outlook->asks[i].is_left_out)
            fprintf(out, "   - %-20s  left out: %s\n", outlook->asks[i].name, outlook->asks[i].why);
}
