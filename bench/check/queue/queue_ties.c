/* fifo, for queues: what the order of each worker's own operations adds.
 *
 * A worker's puts, and its claims, come one after another, also within a tick of its clock, where
 * by their times they may have come in any order. With that, x comes before y if x ended before y
 * began, or if both are of one worker and x is the earlier. The items are to be brought into one
 * order that contradicts neither that of the puts nor that of the claims. While the put and the
 * claim of an item may both be the first of the remaining ones, it is taken (Kahn, 1962). Taking it
 * forbids nothing that was allowed before, so it does not matter which is taken; and if none can
 * be, those that are left wait for each other in a circle: no order is legal.
 *
 * By times alone, two items are enough for a circle (queue_fifo.c); with ties there may be more.
 *
 * The first claim of an item may be one of unknown outcome. Where there are such, and no order is
 * legal without them, it is tried again as if each item could have been taken by one at any time
 * before its known claim: if no order is legal even so, it is a violation; otherwise it is unknown.
 */
#include "judges.h"

#include <stdio.h>
#include <stdlib.h>

enum { PUT, CLAIM, KINDS };

/* One operation of a log, of which the items are concurrent: by_log[first .. end). n_left: those
 * that are left, and that what comes later in the log must wait for. */
struct group {
    uint32_t log, n_left;
    size_t first, end;
};

/* The order of the puts, or of the claims. Keys' indexes are places in the items. */
struct order {
    struct lb_key *by_low, *by_high, *by_log;
    size_t n_by_log, next_low, next_high;
    struct group *groups;
    size_t n_groups;
    uint32_t *group_of; /* LB_NONE: no log says when it was */
};

struct ties {
    struct lb_case *c;
    const struct lb_key *keys; /* their indexes are the ids */
    size_t n, n_taken, n_ready;
    struct order orders[KINDS];
    bool may_be_taken; /* claims of unknown outcome may have taken unclaimed items, ... ... */
    bool may_be_lent;  /* ... or have had it before the known claim */
    uint8_t *n_met; /* conditions to be the first: by time and by log, of the put and the claim */
    bool *is_taken;
    uint32_t *ready;
};

static const struct lb_id *id_of(const struct ties *t, size_t item)
{
    return &t->c->ids[t->keys[item].index];
}

static uint64_t low_of(const struct lb_id *id, int kind)
{
    if (kind == PUT)
        return id->put_low;
    if (!id->is_claimed)
        return LB_NEVER;
    return id->claim_low > id->put_low ? id->claim_low : id->put_low;
}

static uint64_t high_of(const struct lb_id *id, int kind)
{
    uint64_t high = id->is_claimed ? id->claim_high : LB_NEVER, low = low_of(id, kind);
    if (kind == PUT && id->put_high < high)
        high = id->put_high;
    return high > low ? high : low; /* a phantom's does not matter here */
}

/* May it have been taken at any time? Then it comes before none, and after none. */
static bool is_excused(const struct ties *t, const struct lb_id *id)
{
    return t->may_be_taken && !id->is_claimed;
}

/* May it have been taken at any time before its known claim? */
static bool is_lent(const struct ties *t, const struct lb_id *id, int kind)
{
    return t->may_be_lent && id->is_claimed && kind == CLAIM;
}

/* Where a log says when it was, by log and place; LB_NEVER: it was more than once, or never. */
static uint64_t place_of(const struct ties *t, const struct lb_id *id, int kind)
{
    if (kind == PUT)
        return id->is_put_again ? LB_NEVER : (uint64_t)id->put_log << 32 | id->put_event;
    if (!id->is_claimed || id->is_claimed_again)
        return LB_NEVER;
    return (uint64_t)id->claim_log << 32 | lb_case_end(t->c, id->claim_log, id->claim_event);
}

/* An unanswered operation may take effect at any time: nothing waits for it. */
static bool is_answered(const struct lb_id *id, int kind)
{
    return kind == CLAIM || id->put_high != LB_NEVER;
}

static void meet(struct ties *t, uint32_t item)
{
    if (++t->n_met[item] == 2 * KINDS)
        t->ready[t->n_ready++] = item;
}

static void order_sort(const struct ties *t, struct order *o, int kind)
{
    size_t room = t->n + 1;
    o->by_low = lb_malloc(room * sizeof *o->by_low);
    o->by_high = lb_malloc(room * sizeof *o->by_high);
    o->by_log = lb_malloc(room * sizeof *o->by_log);
    o->groups = lb_malloc(room * sizeof *o->groups);
    o->group_of = lb_malloc(room * sizeof *o->group_of);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct lb_id *id = id_of(t, i);
        uint64_t place = place_of(t, id, kind);
        bool excused = is_excused(t, id), any_time = excused || is_lent(t, id, kind);
        o->by_low[i] = (struct lb_key){.key = any_time ? 0 : low_of(id, kind), .index = i};
        o->by_high[i] = (struct lb_key){.key = excused ? LB_NEVER : high_of(id, kind), .index = i};
        o->group_of[i] = LB_NONE;
        if (place != LB_NEVER)
            o->by_log[o->n_by_log++] = (struct lb_key){.key = place, .index = i};
    }
    lb_sort(o->by_low, t->n);
    lb_sort(o->by_high, t->n);
    lb_sort(o->by_log, o->n_by_log);
}

/* Makes groups of the operations. Do two of one worker share a tick? */
static bool order_group(const struct ties *t, struct order *o, int kind)
{
    bool is_tied = false;
    uint64_t latest = 0; /* high of the log's groups so far */
    for (size_t i = 0; i < o->n_by_log; i++) {
        uint32_t item = o->by_log[i].index, log = (uint32_t)(o->by_log[i].key >> 32);
        bool counts = is_answered(id_of(t, item), kind);
        struct group *last = o->n_groups > 0 ? &o->groups[o->n_groups - 1] : NULL;
        if (i == 0 || o->by_log[i].key != o->by_log[i - 1].key) {
            if (last == NULL || last->log != log)
                latest = 0;
            else if (latest >= low_of(id_of(t, item), kind))
                is_tied = true;
            last = &o->groups[o->n_groups++];
            *last = (struct group){.log = log, .first = i};
        }
        if (counts && high_of(id_of(t, item), kind) > latest)
            latest = high_of(id_of(t, item), kind);
        last->end = i + 1;
        last->n_left += counts;
        o->group_of[item] = (uint32_t)(o->n_groups - 1);
    }
    return is_tied;
}

/* The group's items wait for none of their log any more; nor do the next's, if nothing waits for
 * these. */
static void open_group(struct ties *t, int kind, size_t group)
{
    const struct order *o = &t->orders[kind];
    do {
        for (size_t i = o->groups[group].first; i < o->groups[group].end; i++)
            if (!is_lent(t, id_of(t, o->by_log[i].index), kind))
                meet(t, o->by_log[i].index);
    } while (o->groups[group].n_left == 0 && ++group < o->n_groups &&
             o->groups[group].log == o->groups[group - 1].log);
}

/* Whose time allows them to be the first by now. */
static void advance(struct ties *t, struct order *o)
{
    while (o->next_high < t->n && t->is_taken[o->by_high[o->next_high].index])
        o->next_high++;
    if (o->next_high == t->n)
        return;
    for (uint64_t high = o->by_high[o->next_high].key;
         o->next_low < t->n && o->by_low[o->next_low].key <= high; o->next_low++)
        meet(t, o->by_low[o->next_low].index);
}

static void take(struct ties *t, uint32_t item)
{
    t->is_taken[item] = true;
    t->n_taken++;
    for (int kind = 0; kind < KINDS; kind++) {
        struct order *o = &t->orders[kind];
        size_t group = o->group_of[item];
        bool counts = group != LB_NONE && is_answered(id_of(t, item), kind);
        if (counts && --o->groups[group].n_left == 0 && group + 1 < o->n_groups &&
            o->groups[group + 1].log == o->groups[group].log)
            open_group(t, kind, group + 1);
        advance(t, o);
    }
}

static void take_all(struct ties *t)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct order *o = &t->orders[kind];
        for (uint32_t i = 0; i < t->n; i++)
            if (o->group_of[i] == LB_NONE || is_lent(t, id_of(t, i), kind))
                meet(t, i);
        for (size_t g = 0; g < o->n_groups; g++)
            if (g == 0 || o->groups[g - 1].log != o->groups[g].log)
                open_group(t, kind, g);
        advance(t, o);
    }
    while (t->n_ready > 0)
        take(t, t->ready[--t->n_ready]);
}

/* --- the circle --- */

/* An item that is left and comes before this one, which waits; *ret_kind: in which order. */
static uint32_t what_is_before(const struct ties *t, uint32_t item, int *ret_kind)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const struct order *o = &t->orders[kind];
        *ret_kind = kind;
        if (is_lent(t, id_of(t, item), kind))
            continue;
        if (!is_excused(t, id_of(t, item)) &&
            o->by_high[o->next_high].key < low_of(id_of(t, item), kind))
            return o->by_high[o->next_high].index;
        size_t group = o->group_of[item];
        while (group != LB_NONE && group-- > 0 && o->groups[group].log == o->groups[group + 1].log)
            for (size_t i = o->groups[group].first; i < o->groups[group].end; i++)
                if (!t->is_taken[o->by_log[i].index] &&
                    is_answered(id_of(t, o->by_log[i].index), kind))
                    return o->by_log[i].index;
    }
    return LB_NONE;
}

static void add_step(struct lb_witness *witness, char *text, size_t size, const struct ties *t,
                     uint32_t before, uint32_t item, int kind)
{
    const struct lb_id *a = id_of(t, before), *b = id_of(t, item);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%sitem %s was %s before item %s", n > 0 ? ", " : "",
             LB_ITEM_OF(t->c, a->id), kind == PUT ? "put" : "claimed", LB_ITEM_OF(t->c, b->id));
    for (int i = 0; i < 2; i++) {
        const struct lb_id *id = i == 0 ? a : b;
        if (kind == PUT)
            lb_witness_add(t->c, witness, id->put_log, id->put_event);
        else if (id->is_claimed)
            lb_witness_add(t->c, witness, id->claim_log, id->claim_event);
    }
}

static void report(const struct ties *t)
{
    struct lb_case *c = t->c;
    c->out->measures.n_overtakes++;
    struct lb_witness *witness = lb_violation(c, LB_G_FIFO);
    uint32_t item = 0;
    int kind;
    if (witness == NULL)
        return;
    while (t->is_taken[item])
        item++;
    for (size_t i = t->n_taken; i < t->n; i++) /* into the circle, wherever it began */
        item = what_is_before(t, item, &kind);
    char text[LB_WITNESS_TEXT / 2] = "";
    uint32_t first = item;
    do {
        uint32_t before = what_is_before(t, item, &kind);
        witness->at_ns = high_of(id_of(t, before), CLAIM) != LB_NEVER
                             ? high_of(id_of(t, before), CLAIM)
                             : witness->at_ns;
        add_step(witness, text, sizeof text, t, before, item, kind);
        item = before;
    } while (item != first && strlen(text) + 1 < sizeof text);
    lb_witness_text(witness, "%s: no order keeps that of each worker's own operations%s", text,
                    item != first ? " (and so on)" : "");
}

/* Is there an order of all? *ret_tied: it was looked for. */
static void find_order(struct ties *t, bool *ret_tied)
{
    *ret_tied = false;
    for (int kind = 0; kind < KINDS; kind++) {
        order_sort(t, &t->orders[kind], kind);
        if (order_group(t, &t->orders[kind], kind))
            *ret_tied = true;
    }
    if (*ret_tied)
        take_all(t);
}

static void ties_release(struct ties *t)
{
    for (struct order *o = t->orders; o < t->orders + KINDS; o++) {
        free(o->by_low);
        free(o->by_high);
        free(o->by_log);
        free(o->groups);
        free(o->group_of);
    }
    free(t->n_met);
    free(t->is_taken);
    free(t->ready);
}

static void judge(struct lb_case *c, const struct lb_key *keys, size_t n, bool taken, bool lent,
                  bool *ret_found)
{
    struct ties t = {.c = c,
                     .keys = keys,
                     .n = n,
                     .may_be_taken = taken,
                     .may_be_lent = lent,
                     .n_met = lb_calloc(n + 1, sizeof *t.n_met),
                     .is_taken = lb_calloc(n + 1, sizeof *t.is_taken),
                     .ready = lb_malloc((n + 1) * sizeof *t.ready)};
    bool is_tied;
    find_order(&t, &is_tied);
    *ret_found = !is_tied || t.n_taken == n;
    if (!*ret_found && (taken || c->unknown.n == 0))
        report(&t);
    ties_release(&t);
}

static void doubt(struct lb_case *c, const char *why)
{
    c->doubt[LB_G_FIFO] = why;
}

void lb_judge_queue_ties(struct lb_case *c, const struct lb_key *keys, size_t n)
{
    const struct lb_unknown_claim *unknown = c->unknown.items;
    bool found, lent = false;
    judge(c, keys, n, false, false, &found);
    for (size_t i = 0; i < c->unknown.n; i++)
        lent = lent || !unknown[i].is_final;
    if (!found && c->unknown.n > 0) {
        judge(c, keys, n, true, lent, &found);
        if (found)
            doubt(c, "within a tick of the clock, it is not known which items claims of unknown "
                     "outcome took");
    }
    for (size_t i = 0; i < n && found; i++)
        if (c->ids[keys[i].index].is_claimed_again)
            doubt(c, "within a tick of the clock, it is not known which claim of an item that was "
                     "claimed again came first");
}
