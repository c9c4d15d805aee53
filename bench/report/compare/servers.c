/* One strategy on several servers of one engine: see servers.h. */
#include "servers.h"

#include "append.h"
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

static void say_verdicts(char *buf, size_t size, const struct lb_cell *base,
                         const struct lb_cell *cell)
{
    bool is_same = true;
    for (int g = 0; g < LB_GUARANTEES; g++) {
        enum lb_verdict before = verdict_of(base, g), now = verdict_of(cell, g);
        if (before == now)
            continue;
        lb_append(buf, size, "%s%s %s, was %s", is_same ? " " : ", ",
                  lb_guarantee_name((enum lb_guarantee)g), lb_verdict_name(now),
                  lb_verdict_name(before));
        is_same = false;
    }
    if (is_same)
        lb_append(buf, size, " same verdicts");
}

/* --- plans --- */

/* The run that has them: the first one. */
static const struct lb_outcome *planned(const struct lb_cell *cell)
{
    for (size_t i = 0; i < cell->n_runs; i++)
        if (cell->runs[i]->n_plans > 0)
            return cell->runs[i];
    return NULL;
}

static const char *plan_of(const struct lb_outcome *run, const char *operation)
{
    for (size_t i = 0; i < run->n_plans; i++)
        if (strcmp(run->plans[i].name, operation) == 0)
            return run->plans[i].value;
    return "not known";
}

/* Counts the operations with another plan, and writes of them, if buf is not NULL. */
static size_t tell_plans(char *buf, size_t size, const struct lb_outcome *base,
                         const struct lb_outcome *run)
{
    size_t n_changed = 0;
    for (size_t i = 0; i < base->n_plans; i++) {
        const struct lb_fact *before = &base->plans[i];
        const char *now = plan_of(run, before->name);
        char text[5200];
        if (strcmp(before->value, now) == 0)
            continue;
        n_changed++;
        snprintf(text, sizeof text, "; the %s's plan is %s, was %s", before->name, now,
                 before->value);
        if (buf != NULL)
            lb_append(buf, size, "%s", text);
    }
    return n_changed;
}

static void say_plans(char *buf, size_t size, const struct lb_cell *base,
                      const struct lb_cell *cell)
{
    const struct lb_outcome *before = planned(base), *now = planned(cell);
    if (before == NULL && now == NULL)
        return;
    if (before == NULL || now == NULL) {
        lb_append(buf, size, "; the plans are not known of both");
        return;
    }
    if (tell_plans(buf, size, before, now) > 0)
        return;
    lb_append(buf, size, "%s", before->n_plans > 1 ? "; the plans of " : "; the ");
    for (size_t i = 0; i < before->n_plans; i++) {
        lb_append(buf, size, "%s", i == 0 ? "" : i + 1 == before->n_plans ? " and " : ", ");
        lb_append(buf, size, "%s", before->plans[i].name);
    }
    lb_append(buf, size, "%s", before->n_plans > 1 ? " are the same" : "'s plan is the same");
}

const char *lb_servers_plans(const struct lb_cell *base, const struct lb_cell *cell)
{
    const struct lb_outcome *before = planned(base), *now = planned(cell);
    return before == NULL || now == NULL           ? "n/a"
           : tell_plans(NULL, 0, before, now) == 0 ? "the same"
                                                   : "changed";
}

/* --- waits --- */

/* Of all runs: how often it was seen, and the number of samples. */
static uint64_t seen(const struct lb_cell *cell, const char *name, uint64_t *ret_samples)
{
    uint64_t n = 0;
    *ret_samples = 0;
    for (size_t i = 0; i < cell->n_runs; i++) {
        const struct lb_outcome *run = cell->runs[i];
        *ret_samples += run->n_wait_samples;
        for (size_t w = 0; w < run->n_waits; w++)
            n += strcmp(run->waits[w].name, name) == 0 ? run->waits[w].n : 0;
    }
    return n;
}

static bool is_first(const struct lb_cell *cell, size_t run, const char *name)
{
    bool is = true;
    for (size_t i = 0; i < run; i++)
        for (size_t w = 0; w < cell->runs[i]->n_waits; w++)
            is = is && strcmp(cell->runs[i]->waits[w].name, name) != 0;
    return is;
}

/* A wait that one server never had is only new if the other had it so often that this is no chance:
 * the same share of the samples would have been LEAST there. */
static size_t tell_waits(char *buf, size_t size, const struct lb_cell *base,
                         const struct lb_cell *cell)
{
    enum { LEAST = 10 };
    size_t n = 0;
    for (size_t i = 0; i < cell->n_runs; i++)
        for (size_t w = 0; w < cell->runs[i]->n_waits; w++) {
            const char *name = cell->runs[i]->waits[w].name;
            uint64_t here, there, before = seen(base, name, &there), now = seen(cell, name, &here);
            if (before > 0 || !is_first(cell, i, name) ||
                (double)now * (double)there < LEAST * (double)here)
                continue;
            if (buf != NULL) {
                lb_append(buf, size, "%s", n == 0 ? "" : ", ");
                lb_append(buf, size, "%s", name);
            }
            n++;
        }
    return n;
}

char *lb_servers_waits(const struct lb_cell *base, const struct lb_cell *cell, char *buf,
                       size_t size)
{
    uint64_t here, there;
    seen(base, "", &there);
    seen(cell, "", &here);
    snprintf(buf, size, "n/a");
    if (here > 0 && there > 0)
        snprintf(buf, size, "%zu", tell_waits(NULL, 0, base, cell));
    return buf;
}

static void say_waits(char *buf, size_t size, const struct lb_cell *base,
                      const struct lb_cell *cell, const char *is)
{
    size_t n = tell_waits(NULL, 0, base, cell);
    if (n == 0)
        return;
    lb_append(buf, size, "; %s: %zu wait event%s (", is, n, n == 1 ? "" : "s");
    tell_waits(buf, size, base, cell);
    lb_append(buf, size, ")");
}

static void say_server(char *buf, size_t size, const struct lb_rank_table *rates,
                       const struct lb_rank *rank, const struct lb_ranking *rankings)
{
    static const char *const of[] = {"successes/s", "p99 of the wait", "CPU per success"};
    const struct lb_cell *base = rates->ranks[rates->reference].cell, *cell = rank->cell;
    char text[300], ratio[80];
    const char *now = version_of(cell), *before = version_of(base);
    snprintf(text, sizeof text, "%s (%s %.*s) against %s (%.*s), %s:", cell->engine,
             cell->target->db->product, (int)strcspn(now, " "), now, base->engine,
             (int)strcspn(before, " "), before, cell->name);
    lb_append(buf, size, "%s", text);
    say_verdicts(buf, size, base, cell);
    for (int m = 0; m < LB_RANK_MEASURES; m++) {
        const struct lb_rank_table *table;
        const struct lb_rank *measured = lb_ranking_find(&rankings[m], cell, &table);
        if (measured == NULL || measured == &table->ranks[table->reference])
            continue;
        snprintf(text, sizeof text, "; %s of the %s (%s)",
                 lb_rank_ratio(measured, ratio, sizeof ratio), of[m],
                 lb_rank_is(table, measured, (enum lb_measured)m));
        lb_append(buf, size, "%s", text);
    }
    say_plans(buf, size, base, cell);
    say_waits(buf, size, base, cell, "new");
    say_waits(buf, size, cell, base, "gone");
    lb_append(buf, size, ".");
}

char *lb_servers_or_choice(const struct lb_rank_table *rates, const struct lb_ranking *rankings,
                           char *buf, size_t size)
{
    if (!lb_servers_are_asked(rates)) {
        size_t used = strlen(lb_rank_choice(rates, rankings, buf, size));
        lb_rank_aged(rates, &rankings[LB_RANK_RATE], buf + used, size - used);
        return buf;
    }
    buf[0] = '\0';
    for (size_t i = 0; i < rates->n; i++) {
        if (i == rates->reference)
            continue;
        if (buf[0] != '\0')
            lb_append(buf, size, " ");
        say_server(buf, size, rates, &rates->ranks[i], rankings);
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
