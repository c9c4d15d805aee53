/* The result of a ranking, in words that are the same in every sink: see ranking.h. */
#include "ranking.h"

#include "append.h"
#include "ranking_pooled.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two or three significant digits; a ratio other than 1 must not print as 1. */
static int digits(double x)
{
    if (x > 0.995 && x < 1.005)
        return x > 0.9995 && x < 1.0005 ? 4 : 3;
    return x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.0995 ? 2 : x >= 0.00995 ? 3 : 4;
}

char *lb_rank_ratio(const struct lb_rank *rank, char *buf, size_t size)
{
    enum { WIDEST = 10000 }; /* an interval beyond it says nothing */
    const struct lb_estimate *r = &rank->ratio;
    if (isnan(r->value)) /* too few waits in the rounds that both were run in */
        snprintf(buf, size, "n/a");
    else if (!isfinite(r->interval.high) || r->interval.high > WIDEST * r->interval.low)
        snprintf(buf, size, "%.*f", digits(r->value), r->value);
    else
        snprintf(buf, size, "%.*f [%.*f, %.*f]", digits(r->value), r->value,
                 digits(r->interval.low), r->interval.low, digits(r->interval.high),
                 r->interval.high);
    return buf;
}

/* The word for a verdict: on rates, and on quantities for which less is better. */
static const char *worse(enum lb_measured measured)
{
    return measured == LB_RANK_RATE ? "slower" : "higher";
}

static const char *best(enum lb_measured measured)
{
    return measured == LB_RANK_RATE ? "fastest" : "lowest";
}

const char *lb_rank_is(const struct lb_rank_table *table, const struct lb_rank *rank,
                       enum lb_measured measured)
{
    if (measured == LB_RANK_RATE && lb_rank_is_open(table))
        return rank->held ? "keeps up" : rank->why;
    if (rank == &table->ranks[table->reference])
        return table->is_named            ? "the reference"
               : measured == LB_RANK_RATE ? "the fastest"
                                          : "the lowest";
    switch (rank->verdict) {
    case LB_STATS_FASTER:
        return measured == LB_RANK_RATE ? "faster" : "lower";
    case LB_STATS_SLOWER:
        return worse(measured);
    case LB_STATS_EQUIVALENT:
        return "equivalent";
    case LB_STATS_INCONCLUSIVE:
    default:
        return "not told apart";
    }
}

/* Those of one verdict, held or not, with their ratios. Returns how many. */
static size_t list(char *buf, size_t size, const struct lb_rank_table *table, const char *title,
                   enum lb_stats_verdict verdict, bool held, const char *none)
{
    size_t n = 0;
    char ratio[80];
    for (size_t i = 0; i < table->n; i++) {
        const struct lb_rank *rank = &table->ranks[i];
        if (i == table->reference || rank->verdict != verdict || rank->held != held)
            continue;
        lb_append(buf, size, "%s%s %s", n++ == 0 ? title : ", ", lb_rank_name(rank),
                  lb_rank_ratio(rank, ratio, sizeof ratio));
    }
    if (n == 0)
        lb_append(buf, size, "%s", none);
    else
        lb_append(buf, size, ".");
    return n;
}

/* Those that may not be chosen, and those of which that is not known, each with its reason. */
static void list_others(char *buf, size_t size, const struct lb_rank_table *table, bool undecided,
                        bool has_ratio)
{
    size_t n = 0;
    char ratio[80];
    for (size_t i = 0; i < table->n; i++) {
        const struct lb_rank *rank = &table->ranks[i];
        if (rank->held || rank->is_behind || rank->is_undecided != undecided ||
            (has_ratio && i == table->reference))
            continue;
        lb_append(buf, size, "%s%s (%s)%s%s",
                  n++ > 0     ? ", "
                  : undecided ? " Not decided: "
                              : " Not to choose: ",
                  lb_rank_name(rank), rank->why, has_ratio ? " " : "",
                  has_ratio ? lb_rank_ratio(rank, ratio, sizeof ratio) : "");
    }
    if (n > 0)
        lb_append(buf, size, ".");
}

static void list_behind(char *buf, size_t size, const struct lb_rank_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (table->ranks[i].is_behind)
            lb_append(buf, size, "%s%s (served %.1f %%)",
                      n++ > 0 ? ", " : " Fall behind: ", lb_rank_name(&table->ranks[i]),
                      table->ranks[i].served * 100);
    if (n > 0)
        lb_append(buf, size, ".");
}

bool lb_rank_is_open(const struct lb_rank_table *table)
{
    return table->ranks[0].cell->scenario.rate[0] != '\0';
}

static bool any(const struct lb_rank_table *table, bool undecided)
{
    bool is = false;
    for (size_t i = 0; i < table->n; i++)
        is |= undecided ? table->ranks[i].is_undecided : table->ranks[i].held;
    return is;
}

char *lb_rank_question(const struct lb_rank_table *rates, char *buf, size_t size)
{
    if (lb_rank_is_open(rates))
        snprintf(buf, size, "Which keep up with %s?", rates->ranks[0].cell->scenario.rate);
    else if (rates->ranks[0].cell->compares_servers)
        snprintf(buf, size, "Does the server matter?");
    else
        snprintf(buf, size, "Which is the fastest?");
    return buf;
}

static void list_without(char *buf, size_t size, const struct lb_rank_table *table)
{
    for (size_t i = 0; i < table->n_without; i++)
        lb_append(buf, size, "%s%s", i == 0 ? " Not ranked, for nothing succeeded: " : ", ",
                  table->without[i]->compares_servers ? table->without[i]->engine
                                                      : table->without[i]->name);
    if (table->n_without > 0)
        lb_append(buf, size, ".");
}

/* All that keep up have the same rate: none of them is the fastest. */
static void say_open(char *buf, size_t size, const struct lb_rank_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (table->ranks[i].held)
            lb_append(buf, size, "%s%s", n++ == 0 ? "Keep up: " : ", ",
                      lb_rank_name(&table->ranks[i]));
    lb_append(buf, size, "%s",
              n > 0              ? "."
              : any(table, true) ? "Not decided by these runs."
                                 : "None keeps up and holds.");
    list_behind(buf, size, table);
    list_others(buf, size, table, false, false);
    list_others(buf, size, table, true, false);
    list_without(buf, size, table);
}

char *lb_rank_answer(const struct lb_rank_table *table, enum lb_measured measured, char *buf,
                     size_t size)
{
    buf[0] = '\0';
    const struct lb_rank *reference = &table->ranks[table->reference];
    char title[64], none[64];
    buf[0] = '\0';
    if (measured == LB_RANK_RATE && lb_rank_is_open(table)) {
        say_open(buf, size, table);
        return buf;
    }
    if (table->is_named) {
        lb_append(buf, size, "Against %s, the reference:", lb_rank_name(reference));
        snprintf(title, sizeof title, " %s: ", measured == LB_RANK_RATE ? "Faster" : "Lower");
        snprintf(none, sizeof none, " none is shown %s.",
                 measured == LB_RANK_RATE ? "faster" : "lower");
        list(buf, size, table, title, LB_STATS_FASTER, true, none);
    } else {
        lb_append(buf, size, "%c%s%s: %s.", best(measured)[0] - 'a' + 'A', best(measured) + 1,
                  reference->held    ? ""
                  : any(table, true) ? " (not decided whether it holds)"
                                     : " (none held)",
                  lb_rank_name(reference));
    }
    list(buf, size, table, " Equivalent: ", LB_STATS_EQUIVALENT, true, "");
    snprintf(title, sizeof title, " Not shown %s: ", worse(measured));
    list(buf, size, table, title, LB_STATS_INCONCLUSIVE, true, "");
    snprintf(title, sizeof title, " %c%s: ", worse(measured)[0] - 'a' + 'A', worse(measured) + 1);
    list(buf, size, table, title, LB_STATS_SLOWER, true, "");
    list_others(buf, size, table, false, true);
    list_others(buf, size, table, true, true);
    list_without(buf, size, table);
    return buf;
}

/* --- which to choose --- */

bool lb_rank_recovers(const struct lb_rank *rank)
{
    return (rank->cell->strategy->claims & LB_G_BIT(LB_G_RECOVERY)) != 0 &&
           rank->cell->strategy->by_hand == NULL;
}

const struct lb_rank_table *lb_rank_table_of(const struct lb_ranking *ranking,
                                             const struct lb_rank_table *rates)
{
    for (size_t i = 0; i < ranking->n_tables; i++)
        if (lb_ranking_same_table(ranking->tables[i].ranks[0].cell, rates->ranks[0].cell))
            return &ranking->tables[i];
    return NULL;
}

/* Is one of those that may be chosen shown worse than the best of them? */
static bool tells_apart(const struct lb_rank_table *table)
{
    bool tells = false;
    for (size_t i = 0; i < table->n; i++)
        tells = tells || (table->ranks[i].held && table->ranks[i].verdict == LB_STATS_SLOWER);
    return tells;
}

struct lb_choice lb_rank_choose(const struct lb_rank_table *rates,
                                const struct lb_ranking *rankings)
{
    struct lb_choice choice = {
        .table = rates, .measured = LB_RANK_RATE, .is_alike = lb_rank_is_open(rates)};
    for (int m = LB_RANK_RATE + 1; m < LB_RANK_MEASURES && choice.is_alike; m++) {
        const struct lb_rank_table *table = lb_rank_table_of(&rankings[m], rates);
        if (table == NULL || !any(table, false) || (choice.table != rates && !tells_apart(table)))
            continue;
        choice.table = table;
        choice.measured = (enum lb_measured)m;
        choice.is_alike = !tells_apart(table);
    }
    for (size_t i = choice.table->n; i-- > 0;) {
        const struct lb_rank *rank = &choice.table->ranks[i];
        bool recovers = lb_rank_recovers(rank);
        if (!rank->held || (choice.recovers && !recovers))
            continue;
        choice.rank = rank;
        choice.recovers = recovers;
    }
    return choice;
}

static bool share_a_letter(const struct lb_rank *a, const struct lb_rank *b)
{
    return strpbrk(a->letters, b->letters) != NULL;
}

static void say_peers(char *buf, size_t size, const struct lb_choice *choice)
{
    size_t n = 0;
    for (size_t i = 0; i < choice->table->n; i++) {
        const struct lb_rank *rank = &choice->table->ranks[i];
        if (rank != choice->rank && rank->held && lb_rank_recovers(rank) == choice->recovers &&
            share_a_letter(rank, choice->rank))
            lb_append(buf, size, "%s%s", n++ == 0 ? "; no significant difference: " : ", ",
                      lb_rank_name(rank));
    }
}

/* In an open loop, the measure that decides, and why it is that one. */
static void say_measure(char *buf, size_t size, const struct lb_choice *choice)
{
    if (choice->measured == LB_RANK_RATE)
        return;
    lb_append(buf, size, ", by the %s%s", lb_measured_title(choice->measured),
              choice->is_alike                  ? ", which tells none of them apart"
              : choice->measured == LB_RANK_CPU ? ", since the waits do not decide"
                                                : "");
}

char *lb_rank_choice(const struct lb_rank_table *rates, const struct lb_ranking *rankings,
                     char *buf, size_t size)
{
    buf[0] = '\0';
    struct lb_choice choice = lb_rank_choose(rates, rankings);
    const struct lb_rank *rank = choice.rank;
    bool is_open = lb_rank_is_open(rates);
    char ratio[80];
    buf[0] = '\0';
    if (rank == NULL && any(rates, true)) {
        lb_append(buf, size,
                  "To choose: not decided by these runs; run longer, or on a quieter machine.");
    } else if (rank == NULL) {
        lb_append(buf, size, "To choose: none of them, for none %s.",
                  is_open ? "keeps up and holds" : "held");
    } else if (!choice.recovers) {
        lb_append(buf, size, "To choose: %s is the first of those that %s", lb_rank_name(rank),
                  is_open ? "keep up" : "held");
        say_measure(buf, size, &choice);
        lb_append(buf, size, ", but none of them recovers by itself when a holder dies");
        if (rank->cell->strategy->by_hand != NULL)
            lb_append(buf, size, ": then, %s", rank->cell->strategy->by_hand);
        lb_append(buf, size, ".");
    } else {
        lb_append(buf, size,
                  "To choose, of those that %s and recover by themselves when a holder dies: %s",
                  is_open ? "keep up" : "held", lb_rank_name(rank));
        if (rank->cell->strategy->no_database)
            lb_append(buf, size, ", among the workers of one process only");
        say_measure(buf, size, &choice);
        if (rank != &choice.table->ranks[choice.table->reference])
            lb_append(buf, size, ", %s of the %s of %s", lb_rank_ratio(rank, ratio, sizeof ratio),
                      is_open ? lb_measured_title(choice.measured) : "rate",
                      lb_rank_name(&choice.table->ranks[choice.table->reference]));
        say_peers(buf, size, &choice);
        lb_append(buf, size, ".");
    }
    return buf;
}

/* --- what the rounds can show --- */

/* "9.6 %"; from twice as much on, "a factor of 2.4". */
static char *percent(double share, char *buf, size_t size)
{
    if (share < 0.995)
        snprintf(buf, size, "%.2g %%", 100 * share);
    else
        snprintf(buf, size, "a factor of %.*f", share < 9 ? 1 : 0, 1 + share);
    return buf;
}

/* Within a budget most runs are shorter than their scenario says. */
static void say_length(char *buf, size_t size, const struct lb_rank_table *table)
{
    const struct lb_cell *first = table->ranks[0].cell;
    uint64_t shortest_ns = first->scenario.duration_ns;
    char shorter[32], whole[32];
    for (size_t i = 0; i < table->n; i++)
        for (size_t k = 0; k < table->ranks[i].cell->n_runs; k++)
            if (table->ranks[i].cell->runs[k]->config.duration_ns < shortest_ns)
                shortest_ns = table->ranks[i].cell->runs[k]->config.duration_ns;
    if (shortest_ns < first->scenario.duration_ns)
        lb_append(
            buf, size,
            " Runs take %s, so that more rounds fit in. The first takes %s, if a verdict depends "
            "on "
            "its length.",
            lb_format_ns(shortest_ns, shorter, sizeof shorter),
            lb_format_ns(first->scenario.duration_ns, whole, sizeof whole));
}

char *lb_rank_power(const struct lb_rank_table *table, enum lb_measured measured, char *buf,
                    size_t size)
{
    enum { HIDDEN = 10 };
    buf[0] = '\0';
    char text[32];
    buf[0] = '\0';
    if (measured == LB_RANK_RATE && lb_rank_is_open(table))
        return buf; /* rates are not compared */
    if (table->n_rounds < LB_BLOCKS_MIN_ROUNDS) {
        lb_append(buf, size,
                  "%zu rounds show no difference, however large: at least %d are needed.",
                  table->n_rounds, LB_BLOCKS_MIN_ROUNDS);
        return buf;
    }
    if (measured == LB_RANK_RATE) {
        lb_append(buf, size, "A run differs from its round by %s",
                  percent(table->noise.sd, text, sizeof text));
        if (table->noise.round_sd > table->noise.sd / 2)
            lb_append(buf, size, ", and a round from the others by %s",
                      percent(table->noise.round_sd, text, sizeof text));
        lb_append(buf, size, ". ");
    }
    if (table->shows >= HIDDEN)
        lb_append(buf, size, "%zu rounds do not show even a difference of a factor of %d",
                  table->n_rounds, HIDDEN);
    else
        lb_append(buf, size, "%zu rounds show a difference of %s in 80 of 100 cases",
                  table->n_rounds, percent(table->shows, text, sizeof text));
    if (table->shows > LB_RANKING_BAND && table->band_rounds > 0)
        lb_append(buf, size, "; %zu rounds would show one of %.0f %%", table->band_rounds,
                  100 * LB_RANKING_BAND);
    lb_append(buf, size, ".");
    if (measured == LB_RANK_RATE)
        say_length(buf, size, table);
    return buf;
}

/* --- beside the rates --- */

/* Those of the table of rates that are not compared, and why. */
static void list_lacking(char *buf, size_t size, const struct lb_report *report,
                         const struct lb_cell *first, enum lb_measured measured)
{
    size_t n = 0;
    char lacks[100];
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (lb_ranking_same_table(cell, first) && cell->n_runs > 0 &&
            !lb_ranking_is_without(cell) &&
            lb_pooled_lacks(cell, measured, lacks, sizeof lacks) != NULL)
            lb_append(buf, size, "%s%s (%s)",
                      n++ == 0 ? " Not compared, for too little was measured: " : ", ",
                      cell->compares_servers ? cell->engine : cell->name, lacks);
    }
    if (n > 0)
        lb_append(buf, size, ".");
}

char *lb_rank_beside(const struct lb_report *report, const struct lb_rank_table *rates,
                     const struct lb_ranking *others, char *buf, size_t size)
{
    buf[0] = '\0';
    const struct lb_cell *first = rates->ranks[0].cell;
    char text[LB_RANK_TEXT];
    buf[0] = '\0';
    lb_append(buf, size, "%s:", lb_measured_title(others->measured));
    for (size_t i = 0; i < others->n_tables; i++) {
        const struct lb_rank_table *table = &others->tables[i];
        if (!lb_ranking_same_table(table->ranks[0].cell, first))
            continue;
        lb_append(buf, size, " %s", lb_rank_answer(table, others->measured, text, sizeof text));
        lb_append(buf, size, " %s", lb_rank_power(table, others->measured, text, sizeof text));
    }
    list_lacking(buf, size, report, first, others->measured);
    return buf;
}

/* The table of the same scenario with fresh tables; NULL: there is none. */
static const struct lb_rank_table *fresh_of(const struct lb_rank_table *rates,
                                            const struct lb_ranking *ranking)
{
    const struct lb_cell *cell = rates->ranks[0].cell;
    const size_t n = lb_scenario_base(cell->scenario.name);
    if (strcmp(cell->scenario.name + n, LB_SCENARIO_AGED) != 0)
        return NULL;
    for (size_t t = 0; t < ranking->n_tables; t++) {
        const struct lb_cell *other = ranking->tables[t].ranks[0].cell;
        if (strlen(other->scenario.name) == n && strcmp(other->engine, cell->engine) == 0 &&
            strncmp(other->scenario.name, cell->scenario.name, n) == 0)
            return &ranking->tables[t];
    }
    return NULL;
}

static const struct lb_rank *rank_named(const struct lb_rank_table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->ranks[i].cell->name, name) == 0)
            return &table->ranks[i];
    return NULL;
}

char *lb_rank_aged(const struct lb_rank_table *rates, const struct lb_ranking *ranking, char *buf,
                   size_t size)
{
    buf[0] = '\0';
    const struct lb_rank_table *fresh = fresh_of(rates, ranking);
    bool is_first = true;
    buf[0] = '\0';
    if (fresh == NULL)
        return buf;
    const struct lb_rank *best = rank_named(rates, fresh->ranks[fresh->reference].cell->name);
    if (best != NULL && best->verdict == LB_STATS_SLOWER)
        lb_append(buf, size,
                  " The fastest with fresh tables, %s, is number %zu of %zu with aged ones.",
                  best->cell->name, (size_t)(best - rates->ranks) + 1, rates->n);
    lb_append(buf, size, " Successes/s with fresh and with aged tables (%s):",
              rates->ranks[0].cell->scenario.aged);
    for (size_t i = 0; i < rates->n; i++) {
        const struct lb_rank *was = rank_named(fresh, rates->ranks[i].cell->name);
        if (was == NULL)
            continue;
        lb_append(buf, size, "%s %s %.3g and %.3g", is_first ? "" : ";", rates->ranks[i].cell->name,
                  was->median.value, rates->ranks[i].median.value);
        is_first = false;
    }
    lb_append(buf, size, ".");
    return buf;
}
