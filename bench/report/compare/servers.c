/* One strategy on several servers of one engine: see servers.h. */
#include "servers.h"

#include "guarantee.h"

#include <stdio.h>
#include <string.h>

bool lb_servers_are_asked(const struct lb_rank_table *table)
{
    return table->ranks[0].cell->compares_servers;
}

/* Up to a blank, it is the number: "15.18 (Debian 15.18-0+deb12u1)". */
static const char *version_of(const struct lb_cell *cell)
{
    for (size_t i = 0; i < cell->n_runs; i++)
        for (size_t f = 0; f < cell->runs[i]->n_facts; f++)
            if (strcmp(cell->runs[i]->facts[f].name, "version") == 0)
                return cell->runs[i]->facts[f].value;
    return "n/a";
}

static enum lb_verdict verdict_of(const struct lb_cell *cell, int guarantee)
{
    enum lb_verdict worst = LB_V_NOT_CLAIMED;
    for (size_t i = 0; i < cell->n_runs; i++) {
        enum lb_verdict verdict = cell->runs[i]->judgement.findings[guarantee].verdict;
        if (verdict == LB_V_VIOLATED || (verdict == LB_V_HELD && worst != LB_V_VIOLATED) ||
            worst == LB_V_NOT_CLAIMED)
            worst = verdict;
    }
    return worst;
}

struct words {
    char *buf;
    size_t size, used;
};

static void say(struct words *words, const char *text)
{
    size_t room = words->size - words->used;
    int n = snprintf(words->buf + words->used, room, "%s", text);
    words->used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void say_verdicts(struct words *words, const struct lb_cell *base,
                         const struct lb_cell *cell)
{
    bool is_same = true;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        enum lb_verdict before = verdict_of(base, g), now = verdict_of(cell, g);
        char text[200];
        if (before == now)
            continue;
        snprintf(text, sizeof text, "%s%s %s, was %s", is_same ? " " : ", ",
                 lb_guarantee_name((enum lb_guarantee)g), lb_verdict_name(now),
                 lb_verdict_name(before));
        say(words, text);
        is_same = false;
    }
    if (is_same)
        say(words, " same verdicts");
}

static void say_server(struct words *words, const struct lb_rank_table *rates,
                       const struct lb_rank *rank, const struct lb_ranking *rankings)
{
    static const char *const of[] = {"successes/s", "p99 of the wait", "CPU per success"};
    const struct lb_cell *base = rates->ranks[rates->reference].cell, *cell = rank->cell;
    char text[300], ratio[80];
    const char *now = version_of(cell), *before = version_of(base);
    snprintf(text, sizeof text, "%s (%s %.*s) against %s (%.*s), %s:", cell->engine,
             cell->target->db->product, (int)strcspn(now, " "), now, base->engine,
             (int)strcspn(before, " "), before, cell->name);
    say(words, text);
    say_verdicts(words, base, cell);
    for (int m = 0; m < LB_RANK_MEASURES; m++) {
        const struct lb_rank_table *table;
        const struct lb_rank *measured = lb_ranking_find(&rankings[m], cell, &table);
        if (measured == NULL || measured == &table->ranks[table->reference])
            continue;
        snprintf(text, sizeof text, "; %s of the %s (%s)",
                 lb_rank_ratio(measured, ratio, sizeof ratio), of[m],
                 lb_rank_is(table, measured, (enum lb_measured)m));
        say(words, text);
    }
    say(words, ".");
}

char *lb_servers_or_choice(const struct lb_rank_table *rates, const struct lb_ranking *rankings,
                           char *buf, size_t size)
{
    struct words words = {buf, size, 0};
    if (!lb_servers_are_asked(rates)) {
        size_t used = strlen(lb_rank_choice(rates, rankings, buf, size));
        lb_rank_aged(rates, &rankings[LB_RANK_RATE], buf + used, size - used);
        return buf;
    }
    buf[0] = '\0';
    for (size_t i = 0; i < rates->n; i++) {
        if (i == rates->reference)
            continue;
        if (words.used > 0)
            say(&words, " ");
        say_server(&words, rates, &rates->ranks[i], rankings);
    }
    return buf;
}

enum lb_servers_result lb_servers_result(const struct lb_ranking *rankings)
{
    enum lb_servers_result result = LB_SERVERS_ALIKE;
    const struct lb_ranking *rates = &rankings[LB_RANK_RATE];
    for (size_t t = 0; t < rates->n_tables; t++) {
        const struct lb_rank_table *table = &rates->tables[t];
        if (!lb_servers_are_asked(table))
            continue;
        if (lb_rank_is_open(table))
            table = lb_rank_table_of(&rankings[LB_RANK_P99], table);
        if (table == NULL) {
            result = result == LB_SERVERS_SLOWER ? result : LB_SERVERS_UNDECIDED;
            continue;
        }
        for (size_t i = 0; i < table->n; i++) {
            if (i != table->reference && table->ranks[i].verdict == LB_STATS_SLOWER)
                result = LB_SERVERS_SLOWER;
            else if (i != table->reference && table->ranks[i].verdict == LB_STATS_INCONCLUSIVE &&
                     result == LB_SERVERS_ALIKE)
                result = LB_SERVERS_UNDECIDED;
        }
    }
    return result;
}
