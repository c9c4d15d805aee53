/* Which is the fastest, and how sure is that? Printed where cells were run at least twice: for each
 * table the answer in words, the ratios with their intervals and letters, and what to choose.
 */
#include "ranking.h"
#include "servers.h"
#include "table.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

static const struct lb_column columns[] = {{"strategy", false}, {"success/s", true},
                                           {"ratio", true},     {"rounds", true},
                                           {"group", false},    {"is", false}};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void add_row(struct lb_table *table, const struct lb_rank_table *ranks,
                    const struct lb_rank *rank)
{
    char text[120];
    bool is_reference = rank == &ranks->ranks[ranks->reference];
    bool sure = rank->verdict == LB_STATS_FASTER || rank->verdict == LB_STATS_SLOWER;
    lb_table_add(table, lb_rank_name(rank), LB_INK_PLAIN);
    lb_table_add_number(table, rank->median.value);
    lb_table_add(table, is_reference ? "1" : lb_rank_ratio(rank, text, sizeof text), LB_INK_PLAIN);
    lb_table_addf(table, "%zu", rank->n_rounds);
    lb_table_add(table, rank->letters, LB_INK_PLAIN);
    lb_table_add(table, lb_rank_is(ranks, rank, LB_RANK_RATE),
                 is_reference || sure ? LB_INK_PLAIN : LB_INK_DIM);
}

/* The waits and the CPU of the same table. */
static void print_beside(const struct lb_sink_state *state, const struct lb_rank_table *rates,
                         const struct lb_ranking *rankings)
{
    char text[LB_RANK_TEXT];
    for (int m = LB_RANK_RATE + 1; m < LB_RANK_MEASURES; m++)
        lb_print_wrapped(state->out,
                         lb_rank_beside(state->report, rates, &rankings[m], text, sizeof text), 2,
                         state->width);
}

struct lb_table *lb_text_rank_table(const struct lb_rank_table *ranks)
{
    struct lb_table *table = lb_table_new(columns, COLUMNS);
    for (size_t i = 0; i < ranks->n; i++)
        add_row(table, ranks, &ranks->ranks[i]);
    return table;
}

static void print_table(const struct lb_sink_state *state, const struct lb_rank_table *ranks,
                        const struct lb_ranking *rankings)
{
    static const char *const least[] = {"rounds", "success/s", NULL};
    struct lb_table *table = lb_text_rank_table(ranks);
    char text[LB_RANK_TEXT];
    const struct lb_cell *first = ranks->ranks[0].cell;
    fprintf(state->out, "\n%s %s on %s, %zu round%s\n", lb_rank_question(ranks, text, sizeof text),
            first->scenario.name, first->engine, ranks->n_rounds, ranks->n_rounds == 1 ? "" : "s");
    lb_print_wrapped(state->out, lb_rank_answer(ranks, LB_RANK_RATE, text, sizeof text), 2,
                     state->width);
    lb_print_wrapped(state->out, lb_servers_or_choice(ranks, rankings, text, sizeof text), 2,
                     state->width);
    lb_table_show(table, state->width, state->terminal ? least : NULL, state->out, state->color);
    lb_print_wrapped(state->out, lb_rank_power(ranks, LB_RANK_RATE, text, sizeof text), 2,
                     state->width);
    print_beside(state, ranks, rankings);
}

void lb_text_ranking(const struct lb_sink_state *state)
{
    struct lb_ranking rankings[LB_RANK_MEASURES];
    const struct lb_ranking *rates = &rankings[LB_RANK_RATE];
    lb_rankings_make(state->report, rankings);
    for (size_t i = 0; i < rates->n_tables; i++)
        print_table(state, &rates->tables[i], rankings);
    if (rates->n_tables > 0) {
        fputc('\n', state->out);
        lb_print_wrapped(state->out, LB_RANK_READING, 0, state->width);
    }
    if (lb_ranking_lacks_runs(state->report)) {
        fputc('\n', state->out);
        lb_print_wrapped(state->out, LB_ONE_RUN, 0, state->width);
    }
    lb_rankings_release(rankings);
}
