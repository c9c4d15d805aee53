/* The result of a ranking, in words that are the same in every sink: see ranking.h. */
#include "ranking.h"

#include "ranking_pooled.h"
#include "units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct words {
    char *buf;
    size_t size, used;
};

static void say(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *words, const char *format, ...)
{
    va_list args;
    if (words->used >= words->size)
        return;
    va_start(args, format);
    int n = vsnprintf(words->buf + words->used, words->size - words->used, format, args);
    va_end(args);
    words->used += n > 0 ? (size_t)n : 0;
}

/* Two or three significant digits; a ratio other than 1 must not print as 1. */
static int digits(double x)
{
    if (x > 0.995 && x < 1.005)
        return x > 0.9995 && x < 1.0005 ? 4 : 3;
    return x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.0995 ? 2 : x >= 0.00995 ? 3 : 4;
}

char *lb_rank_ratio(const struct lb_rank *rank, char *buf, size_t size)
{
    const struct lb_estimate *r = &rank->ratio;
    if (isnan(r->value)) /* too few waits in the rounds that both were run in */
        snprintf(buf, size, "n/a");
    else if (!isfinite(r->interval.high) || r->interval.low <= 0)
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
static size_t list(struct words *words, const struct lb_rank_table *table, const char *title,
                   enum lb_stats_verdict verdict, bool held, const char *none)
{
    size_t n = 0;
    char ratio[80];
    for (size_t i = 0; i < table->n; i++) {
        const struct lb_rank *rank = &table->ranks[i];
        if (i == table->reference || rank->verdict != verdict || rank->held != held)
            continue;
        say(words, "%s%s %s", n++ == 0 ? title : ", ", rank->cell->name,
            lb_rank_ratio(rank, ratio, sizeof ratio));
    }
    if (n == 0)
        say(words, "%s", none);
    else
        say(words, ".");
    return n;
}

/* A strategy that did not hold is no choice, even if fast; it is listed separately, with its
 * verdict. */
static void list_others(struct words *words, const struct lb_rank_table *table)
{
    size_t n = 0;
    char ratio[80];
    for (size_t i = 0; i < table->n; i++) {
        const struct lb_rank *rank = &table->ranks[i];
        if (i == table->reference || rank->held)
            continue;
        say(words, "%s%s (%s) %s", n++ == 0 ? " Not to choose: " : ", ", rank->cell->name,
            lb_standing_name(lb_cell_standing(rank->cell)),
            lb_rank_ratio(rank, ratio, sizeof ratio));
    }
    if (n > 0)
        say(words, ".");
}

char *lb_rank_answer(const struct lb_rank_table *table, enum lb_measured measured, char *buf,
                     size_t size)
{
    struct words words = {buf, size, 0};
    const struct lb_rank *reference = &table->ranks[table->reference];
    char title[64], none[64];
    buf[0] = '\0';
    if (table->is_named) {
        say(&words, "Against %s, the reference:", reference->cell->name);
        snprintf(title, sizeof title, " %s: ", measured == LB_RANK_RATE ? "Faster" : "Lower");
        snprintf(none, sizeof none, " none is shown %s.",
                 measured == LB_RANK_RATE ? "faster" : "lower");
        list(&words, table, title, LB_STATS_FASTER, true, none);
    } else {
        say(&words, "%c%s%s: %s.", best(measured)[0] - 'a' + 'A', best(measured) + 1,
            reference->held ? "" : " (none held)", reference->cell->name);
    }
    list(&words, table, " Equivalent: ", LB_STATS_EQUIVALENT, true, "");
    snprintf(title, sizeof title, " Not shown %s: ", worse(measured));
    list(&words, table, title, LB_STATS_INCONCLUSIVE, true, "");
    snprintf(title, sizeof title, " %c%s: ", worse(measured)[0] - 'a' + 'A', worse(measured) + 1);
    list(&words, table, title, LB_STATS_SLOWER, true, "");
    list_others(&words, table);
    for (size_t i = 0; i < table->n_without; i++)
        say(&words, "%s%s", i == 0 ? " Not ranked, for nothing succeeded: " : ", ",
            table->without[i]->name);
    if (table->n_without > 0)
        say(&words, ".");
    return buf;
}

/* --- which to choose --- */

/* By itself: it says so, and no run here has shown otherwise. */
static bool recovers(const struct lb_rank *rank)
{
    return (rank->cell->strategy->claims & LB_G_BIT(LB_G_RECOVERY)) != 0 &&
           rank->cell->strategy->by_hand == NULL;
}

static bool share_a_letter(const struct lb_rank *a, const struct lb_rank *b)
{
    return strpbrk(a->letters, b->letters) != NULL;
}

static void say_peers(struct words *words, const struct lb_rank_table *table, size_t chosen)
{
    const struct lb_rank *rank = &table->ranks[chosen];
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (i != chosen && table->ranks[i].held && recovers(&table->ranks[i]) &&
            share_a_letter(&table->ranks[i], rank))
            say(words, "%s%s", n++ == 0 ? "; no significant difference: " : ", ",
                table->ranks[i].cell->name);
}

char *lb_rank_choice(const struct lb_rank_table *table, char *buf, size_t size)
{
    struct words words = {buf, size, 0};
    size_t chosen = 0, fastest = 0;
    char ratio[80];
    buf[0] = '\0';
    while (fastest < table->n && !table->ranks[fastest].held)
        fastest++;
    while (chosen < table->n && !(table->ranks[chosen].held && recovers(&table->ranks[chosen])))
        chosen++;
    if (fastest == table->n) {
        say(&words, "To choose: none of them, for none held.");
    } else if (chosen == table->n) {
        const struct lb_rank *rank = &table->ranks[fastest];
        say(&words,
            "To choose: %s is the first of those that held, but none of them recovers by itself "
            "when a holder dies",
            rank->cell->name);
        if (rank->cell->strategy->by_hand != NULL)
            say(&words, ": then, %s", rank->cell->strategy->by_hand);
        say(&words, ".");
    } else {
        const struct lb_rank *rank = &table->ranks[chosen];
        say(&words,
            "To choose, of those that held and recover by themselves when a holder dies: %s",
            rank->cell->name);
        if (rank->cell->strategy->no_database)
            say(&words, ", among the workers of one process only");
        if (chosen != table->reference)
            say(&words, ", %s of the rate of %s", lb_rank_ratio(rank, ratio, sizeof ratio),
                table->ranks[table->reference].cell->name);
        say_peers(&words, table, chosen);
        say(&words, ".");
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
static void say_length(struct words *words, const struct lb_rank_table *table)
{
    const struct lb_cell *first = table->ranks[0].cell;
    uint64_t shortest_ns = first->scenario.duration_ns;
    char shorter[32], whole[32];
    for (size_t i = 0; i < table->n; i++)
        for (size_t k = 0; k < table->ranks[i].cell->n_runs; k++)
            if (table->ranks[i].cell->runs[k]->config.duration_ns < shortest_ns)
                shortest_ns = table->ranks[i].cell->runs[k]->config.duration_ns;
    if (shortest_ns < first->scenario.duration_ns)
        say(words,
            " Runs are of %s, so that more rounds fit in; the first, if a verdict depends on its "
            "length, "
            "of %s.",
            lb_format_ns(shortest_ns, shorter, sizeof shorter),
            lb_format_ns(first->scenario.duration_ns, whole, sizeof whole));
}

char *lb_rank_power(const struct lb_rank_table *table, enum lb_measured measured, char *buf,
                    size_t size)
{
    struct words words = {buf, size, 0};
    char text[32];
    buf[0] = '\0';
    if (table->n_rounds < LB_BLOCKS_MIN_ROUNDS) {
        say(&words, "%zu rounds show no difference, however large: at least %d are needed.",
            table->n_rounds, LB_BLOCKS_MIN_ROUNDS);
        return buf;
    }
    if (measured == LB_RANK_RATE) {
        say(&words, "A run scatters by %s beside its round",
            percent(table->noise.sd, text, sizeof text));
        if (table->noise.round_sd > table->noise.sd / 2)
            say(&words, ", and the rounds by %s",
                percent(table->noise.round_sd, text, sizeof text));
        say(&words, ": ");
    }
    say(&words, "%zu rounds show a difference of %s in 80 of 100 cases", table->n_rounds,
        percent(table->shows, text, sizeof text));
    if (table->shows > LB_RANKING_BAND && table->band_rounds > 0)
        say(&words, ", %zu would show %.0f %%", table->band_rounds, 100 * LB_RANKING_BAND);
    say(&words, ".");
    if (measured == LB_RANK_RATE)
        say_length(&words, table);
    return buf;
}

/* --- beside the rates --- */

/* Those of the table of rates that are not compared, and why. */
static void list_lacking(struct words *words, const struct lb_report *report,
                         const struct lb_cell *first, enum lb_measured measured)
{
    size_t n = 0;
    char lacks[100];
    for (size_t i = 0; i < report->n_cells; i++) {
        const struct lb_cell *cell = &report->cells[i];
        if (lb_ranking_same_table(cell, first) && cell->n_runs > 0 &&
            !lb_ranking_is_without(cell) &&
            lb_pooled_lacks(cell, measured, lacks, sizeof lacks) != NULL)
            say(words, "%s%s (%s)",
                n++ == 0 ? " Not compared, for too little was measured: " : ", ", cell->name,
                lacks);
    }
    if (n > 0)
        say(words, ".");
}

char *lb_rank_beside(const struct lb_report *report, const struct lb_rank_table *rates,
                     const struct lb_ranking *others, char *buf, size_t size)
{
    struct words words = {buf, size, 0};
    const struct lb_cell *first = rates->ranks[0].cell;
    char text[LB_RANK_TEXT];
    buf[0] = '\0';
    say(&words, "%s:", lb_measured_title(others->measured));
    for (size_t i = 0; i < others->n_tables; i++) {
        const struct lb_rank_table *table = &others->tables[i];
        if (!lb_ranking_same_table(table->ranks[0].cell, first))
            continue;
        say(&words, " %s", lb_rank_answer(table, others->measured, text, sizeof text));
        say(&words, " %s", lb_rank_power(table, others->measured, text, sizeof text));
    }
    list_lacking(&words, report, first, others->measured);
    return buf;
}
