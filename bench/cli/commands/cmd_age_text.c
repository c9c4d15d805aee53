/* The measurements of age, as text: one sentence, the table, and the plans that changed. */
#include "cmd_age_text.h"

#include "table.h"
#include "units.h"

#include <string.h>

/* Beyond this nothing is said. */
static const double most_rows = 1e9;

double lb_age_slo_rows(const struct lb_age_view *view, enum lb_aged_state state)
{
    const struct lb_age *age = view->age;
    const struct lb_age_curve *claim = &age->states[state].curves[LB_AGE_CLAIM];
    const struct lb_age_point *first = &claim->points[0],
                              *last = claim->points + age->states[state].n_points - 1;
    if (view->bound_ns == 0 || !lb_age_is_measured(&age->states[state]) ||
        claim->growth.law == LB_GROWTH_FLAT || last->cost <= first->cost || last->ns <= first->ns)
        return 0;
    double ns_each = (double)(last->ns - first->ns) / (last->cost - first->cost);
    double cost = last->cost + ((double)view->bound_ns - (double)last->ns) / ns_each;
    double rows = lb_growth_reaches(&claim->growth, cost, most_rows);
    return rows > most_rows ? 0 : rows;
}

static void print_days(FILE *out, const struct lb_age_view *view, enum lb_aged_state state,
                       double rows)
{
    if (view->demand_per_s > 0 && state == LB_AGED_FINISHED)
        fprintf(out, ", after %.3g days at %.4g/s", rows / (view->demand_per_s * 86400),
                view->demand_per_s);
}

static void print_slo(FILE *out, const struct lb_age_view *view, enum lb_aged_state state)
{
    double rows = lb_age_slo_rows(view, state);
    char bound[32];
    if (view->bound_ns == 0)
        return;
    lb_format_ns(view->bound_ns, bound, sizeof bound);
    if (rows > 0) {
        fprintf(out, "  %s is missed from %.0f %s items on", view->slo, rows,
                lb_aged_state_names[state]);
        print_days(out, view, state, rows);
        fprintf(out, ": a claim alone takes %s then.\n", bound);
    } else {
        fprintf(out, "  %s: no number of %s items is known that makes a claim alone take %s.\n",
                view->slo, lb_aged_state_names[state], bound);
    }
}

static void print_flat(FILE *out, const struct lb_age_view *view)
{
    size_t n = 0, n_printed = 0;
    for (int s = 0; s < LB_AGED_STATES; s++)
        n += lb_age_is_measured(&view->age->states[s]);
    fprintf(out, "%s on %s: a claim costs the same however many ", view->strategy, view->target);
    for (int s = 0; s < LB_AGED_STATES; s++)
        if (lb_age_is_measured(&view->age->states[s])) {
            fprintf(out, "%s%s",
                    n_printed == 0       ? ""
                    : n_printed + 1 == n ? " or "
                                         : ", ",
                    lb_aged_state_names[s]);
            n_printed++;
        }
    fputs(" items there are.\n", out);
}

static void print_index(FILE *out, const struct lb_age_view *view, enum lb_aged_state which)
{
    const struct lb_age_state *state = &view->age->states[which];
    const char *op = lb_age_op_names[state->index_op];
    const struct lb_age_point *last = &state->curves[state->index_op].points[state->n_points - 1];
    if (state->index[0] != '\0')
        fprintf(out,
                "  Missing: CREATE INDEX %.*s_%s ON %s;\n"
                "  A %s reads %.0f %s with it, and %.0f without, at %llu items.\n",
                (int)strcspn(state->index, " "), state->index, op, state->index, op,
                state->index_cost, lb_age_unit(view->age, which), last->cost,
                (unsigned long long)view->age->sizes[state->n_points - 1]);
    else if (which == LB_AGED_DEAD)
        fputs("  An index has the dead rows, too, until no snapshot needs them: end old "
              "transactions.\n",
              out);
    else if (!lb_age_is_cut(view->age, state))
        fputs("  With the statement as it is, no index on its conditions and order helps.\n", out);
}

enum { MORE_LOCKED = 8 };

/* Each operation on one item that grows with the state; true if there is any. */
static bool print_growing(FILE *out, const struct lb_age_view *view, enum lb_aged_state which)
{
    const struct lb_age_state *state = &view->age->states[which];
    bool grows = false;
    for (int op = 0; op < LB_AGE_OPS; op++) {
        double per_1000 = state->curves[op].growth.per_1000;
        if (!lb_age_op_grows(state, op))
            continue;
        grows = true;
        fprintf(out, "%s on %s: %s reads %.*f %s more for each 1,000 %s items.\n", view->strategy,
                view->target, lb_age_op_names[op], per_1000 < 10 ? 1 : 0, per_1000,
                lb_age_unit(view->age, which), lb_aged_state_names[which]);
        const struct lb_age_point *last = &state->curves[op].points[state->n_points - 1];
        if (view->age->counts_scans && last->scanned + last->sorts > 0)
            fprintf(out, "  At %llu items full scans go to %.0f rows. Number of sorts: %.0f.\n",
                    (unsigned long long)view->age->sizes[state->n_points - 1], last->scanned,
                    last->sorts);
        if (last->locked > state->curves[op].points[0].locked + MORE_LOCKED)
            fprintf(out, "  It locks %.0f rows at %llu items, and %.0f at %llu.\n", last->locked,
                    (unsigned long long)view->age->sizes[state->n_points - 1],
                    state->curves[op].points[0].locked, (unsigned long long)view->age->sizes[0]);
        if (op == LB_AGE_CLAIM)
            print_slo(out, view, which);
        if (op == (int)state->index_op && op <= LB_AGE_COMPLETE)
            print_index(out, view, which);
    }
    return grows;
}

static void print_answer(FILE *out, const struct lb_age_view *view)
{
    const struct lb_age *age = view->age;
    bool grows = false, is_known = false;
    for (int s = 0; s < LB_AGED_STATES; s++)
        if (lb_age_is_measured(&age->states[s])) {
            is_known = true;
            grows |= print_growing(out, view, (enum lb_aged_state)s);
        }
    if (is_known && !grows)
        print_flat(out, view);
    if (!is_known && lb_age_is_known(age))
        fprintf(out, "%s on %s: no rows stay that a claim could read.\n", view->strategy,
                view->target);
    else if (!is_known)
        fprintf(out, "%s on %s: nothing was measured.\n", view->strategy, view->target);
}

static void print_table(FILE *out, const struct lb_age *age)
{
    struct lb_column columns[LB_AGE_SIZES + 5] = {{"items", false}, {"operation", false}};
    char titles[LB_AGE_SIZES][24];
    size_t n = 2;
    for (size_t i = 0; i < age->n_sizes; i++) {
        snprintf(titles[i], sizeof titles[i], "%llu", (unsigned long long)age->sizes[i]);
        columns[n++] = (struct lb_column){titles[i], true};
    }
    columns[n++] = (struct lb_column){"grows", false};
    columns[n++] = (struct lb_column){"exponent", false};
    columns[n++] = (struct lb_column){"at 1000000", true};
    struct lb_table *table = lb_table_new(columns, n);
    for (int s = 0; s < LB_AGED_STATES; s++)
        for (int op = 0; op < LB_AGE_OPS; op++) {
            const struct lb_age_curve *curve = &age->states[s].curves[op];
            const struct lb_growth *growth = &curve->growth;
            char exponent[40] = "";
            if (!curve->is_there || !lb_age_is_measured(&age->states[s]) ||
                curve->refused[0] != '\0')
                continue;
            lb_table_add(table, lb_aged_state_names[s], LB_INK_PLAIN);
            lb_table_add(table, lb_age_op_names[op], LB_INK_PLAIN);
            for (size_t i = 0; i < age->n_sizes; i++)
                if (i < age->states[s].n_points)
                    lb_table_addf(table, "%.0f", curve->points[i].cost);
                else
                    lb_table_add(table, "", LB_INK_PLAIN);
            if (growth->law != LB_GROWTH_FLAT)
                snprintf(exponent, sizeof exponent, "%.2g [%.2g, %.2g]", growth->p, growth->p_least,
                         growth->p_most);
            lb_table_add(table, lb_growth_name(growth->law), LB_INK_PLAIN);
            lb_table_add(table, exponent, LB_INK_PLAIN);
            lb_table_addf(table, "%.0f", lb_growth_at(growth, 1e6));
        }
    lb_table_show(table, 0, NULL, out, false);
}

/* Both plans, where an operation is carried out in another way from some size on. */
static void print_flips(FILE *out, const struct lb_age *age)
{
    for (int s = 0; s < LB_AGED_STATES; s++)
        for (int op = 0; op < LB_AGE_OPS; op++) {
            const struct lb_age_curve *curve = &age->states[s].curves[op];
            for (size_t i = 1; curve->is_there && age->states[s].refused[0] == '\0' &&
                               i < age->states[s].n_points;
                 i++)
                if (strcmp(curve->points[i - 1].plan, curve->points[i].plan) != 0)
                    fprintf(out,
                            "With %llu %s items %s has another plan than with %llu:\n"
                            "  before  %s\n  after   %s\n",
                            (unsigned long long)age->sizes[i], lb_aged_state_names[s],
                            lb_age_op_names[op], (unsigned long long)age->sizes[i - 1],
                            curve->points[i - 1].plan, curve->points[i].plan);
        }
}

/* A change of the plan beyond the sizes that were measured. */
static void print_possible_flips(FILE *out, const struct lb_age *age)
{
    for (int s = 0; s < LB_AGED_STATES; s++)
        for (int op = 0; op < LB_AGE_OPS; op++) {
            const struct lb_age_curve *curve = &age->states[s].curves[op];
            if (!curve->is_there || age->states[s].refused[0] != '\0' || curve->flips_at <= 0)
                continue;
            const struct lb_age_point *last = &curve->points[age->states[s].n_points - 1];
            fprintf(out,
                    "From about %.0f %s items on, %s may get another plan, by the planner's own "
                    "estimates:\n  now   %s\n  then  %s\n",
                    curve->flips_at, lb_aged_state_names[s], lb_age_op_names[op], last->plan,
                    last->other);
        }
}

static void print_refused(FILE *out, const struct lb_age *age)
{
    for (int s = 0; s < LB_AGED_STATES; s++) {
        const struct lb_age_state *state = &age->states[s];
        if (state->leaves_no_rows)
            fprintf(out, "No rows of %s items stay in the tables.\n", lb_aged_state_names[s]);
        if (lb_age_is_cut(age, state))
            fprintf(out, "Interrupted: %s items were measured at %zu of %zu sizes.\n",
                    lb_aged_state_names[s], state->n_points, age->n_sizes);
        if (state->refused[0] != '\0')
            fprintf(out, "Not measured with %s items: %s\n", lb_aged_state_names[s],
                    state->refused);
        for (int op = 0; op < LB_AGE_OPS; op++)
            if (state->refused[0] == '\0' && state->curves[op].refused[0] != '\0')
                fprintf(out, "Not measured: %s with %s items: %s\n", lb_age_op_names[op],
                        lb_aged_state_names[s], state->curves[op].refused);
    }
}

void lb_age_print(FILE *out, const struct lb_age_view *view)
{
    print_answer(out, view);
    bool is_any = false;
    for (int s = 0; s < LB_AGED_STATES; s++)
        is_any = is_any || lb_age_is_measured(&view->age->states[s]);
    if (is_any) {
        const bool is_dead = view->age->states[LB_AGED_DEAD].is_asked &&
                             strcmp(view->age->unit, view->age->dead_unit) != 0;
        fprintf(out,
                "%s%s%s%s that one operation reads, by the number of items in the table "
                "(statistics: %s):\n",
                view->age->unit, is_dead ? " (with dead items: " : "",
                is_dead ? view->age->dead_unit : "", is_dead ? ")" : "",
                lb_aged_statistics_names[view->statistics]);
        print_table(out, view->age);
        print_flips(out, view->age);
        print_possible_flips(out, view->age);
    }
    print_refused(out, view->age);
}
