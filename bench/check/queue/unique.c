/* unique: at most one unfinished item of one unique key, and none is refused without one.
 *
 * An item is unfinished from its put until it is complete or in error, or with `-- unique:
 * until-claimed` until its claim.
 *
 * Two items: each is certainly unfinished from its answered put, or its first claim, until the
 * earliest end that it can have. These times can be that short for all items at once; so there are
 * two unfinished items in every order exactly if two of these times overlap.
 *
 * A refusal (the put fails as a duplicate): it is unjustified if each other item of the key was
 * certainly put after it, or finished before it. In a drained queue, from which nothing is missing,
 * an item whose put was not answered and that was not claimed is none that justifies it: whether it
 * was never put or is lost, the work of the key is not done.
 */
#include "guarantee_kind.h"
#include "items.h"
#include "order.h"

#include <stdio.h>
#include <stdlib.h>

bool lb_wants_unique(const struct lb_case *c)
{
    return c->model->unique != LB_UNIQUE_NOT && (c->model->claims & LB_G_BIT(LB_G_UNIQUE)) != 0;
}

/* A put of one item; of a refused one, when that was. */
struct one {
    uint64_t key, id, low, high;
    uint64_t from, to, done; /* certainly unfinished; certainly finished by, or LB_NEVER */
    uint32_t log, event;
    bool is_refused, is_claimed;
    bool is_together; /* the put was of several items, and is refused for any of them */
    bool is_accused;  /* no unfinished item of its key justifies the refusal */
};

/* --- what happened to an item --- */

/* The place in by_id of the first record of an id, or the number of records. */
static size_t first_record(const struct lb_case *c, uint64_t id)
{
    return lb_order_find(c->by_id, c->items.n, sizeof *c->by_id, id);
}

static bool ends(const struct lb_case *c, const struct lb_item_record *e)
{
    if (e->op == LB_OP_ITEM)
        return c->model->unique == LB_UNIQUE_UNTIL_CLAIMED ||
               c->model->unique == LB_UNIQUE_UNTIL_GONE || (e->flags & LB_EVF_FINAL) != 0;
    return e->op == LB_OP_COMPLETE || e->op == LB_OP_ERROR;
}

/* Did the history give back no item, and end no session? Then a claim lasts, but for the end of the
 * item itself. */
static bool claim_lasts(const struct lb_case *c, size_t first, uint64_t id)
{
    const struct lb_item_record *items = c->items.items;
    bool lasts = c->model->unique == LB_UNIQUE_UNTIL_GONE && c->world.n == 0 && c->infos.n == 0;
    for (size_t i = first; lasts && i < c->items.n && c->by_id[i].key == id; i++) {
        enum lb_op op = items[c->by_id[i].index].op;
        lasts = op == LB_OP_ITEM || op == LB_OP_COMPLETE || op == LB_OP_RENEW_ITEM;
    }
    return lasts;
}

/* Is the key free for good behind this? One in error may still count for the database, unless the
 * file has no statement that brings it back. */
static bool is_final(const struct lb_case *c, const struct lb_item_record *e, bool lasts)
{
    if (e->op == LB_OP_ITEM)
        return e->type == LB_EV_OK && lasts;
    return lb_item_certain(e) &&
           (e->op == LB_OP_COMPLETE || c->model->unique == LB_UNIQUE_UNTIL_ENDED);
}

static void follow(const struct lb_case *c, struct one *one)
{
    const struct lb_item_record *items = c->items.items;
    const bool comes_back = c->has_reopened || c->model->period_ns > 0;
    const size_t first = first_record(c, one->id);
    const bool lasts = claim_lasts(c, first, one->id);
    one->from = one->high;
    one->to = c->known_ns;
    one->done = LB_NEVER;
    for (size_t i = first; i < c->items.n && c->by_id[i].key == one->id; i++) {
        const struct lb_item_record *e = &items[c->by_id[i].index];
        if (e->op == LB_OP_ITEM) {
            one->is_claimed = true;
            one->from = e->high < one->from ? e->high : one->from;
        }
        if (!ends(c, e))
            continue;
        one->to = e->low < one->to ? e->low : one->to;
        if (is_final(c, e, lasts) && e->high < one->done && !comes_back)
            one->done = e->high;
    }
}

/* --- reports --- */

static void report_two(struct lb_case *c, const struct one *first, const struct one *second)
{
    struct lb_witness *witness = lb_violation(c, LB_G_UNIQUE);
    char at[LB_AT], first_at[LB_AT], key[LB_ITEM_NAME];
    if (witness == NULL)
        return;
    lb_witness_add(c, witness, first->log, first->event);
    lb_witness_add(c, witness, second->log, second->event);
    witness->at_ns = second->from;
    lb_witness_text(witness,
                    "item %s was put by %s, answered at %s, and item %s of the same unique key %s "
                    "by %s, answered at %s, while the first was unfinished",
                    LB_ITEM_OF(c, first->id), lb_who(c, first->log, LB_WHOM),
                    lb_at(c, first->high, first_at, sizeof first_at), LB_ITEM_OF(c, second->id),
                    lb_key_name(c->history->names, (uint32_t)second->key, key, sizeof key),
                    lb_who(c, second->log, LB_WHOM), lb_at(c, second->high, at, sizeof at));
}

/* candidate: one whose put was not answered; NULL: there is none. */
static void report_none(struct lb_case *c, const struct one *refused, const struct one *candidate)
{
    struct lb_witness *witness = lb_violation(c, LB_G_UNIQUE);
    char at[LB_AT], key[LB_ITEM_NAME], text[LB_ITEM_NAME + 80] = "";
    if (witness == NULL)
        return;
    lb_witness_add(c, witness, refused->log, refused->event);
    if (candidate != NULL) {
        lb_witness_add(c, witness, candidate->log, candidate->event);
        snprintf(text, sizeof text,
                 "; the put of item %s was not answered, and it was never claimed",
                 LB_ITEM_OF(c, candidate->id));
    }
    witness->at_ns = refused->high;
    lb_witness_text(witness,
                    "the put of item %s by %s was refused as a duplicate of the unique key %s at "
                    "%s, but no unfinished item of that key was there%s",
                    LB_ITEM_OF(c, refused->id), lb_who(c, refused->log, LB_WHOM),
                    lb_key_name(c->history->names, (uint32_t)refused->key, key, sizeof key),
                    lb_at(c, refused->high, at, sizeof at), text);
}

/* --- one key --- */

static int by_from(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    if (one->key != other->key)
        return one->key > other->key ? 1 : -1;
    return one->from != other->from ? (one->from > other->from) - (one->from < other->from)
                                    : (one->id > other->id) - (one->id < other->id);
}

static void judge_two(struct lb_case *c, const struct one *all, size_t n)
{
    const struct one *longest = NULL;
    for (size_t i = 0; i < n; i++) {
        if (all[i].is_refused || all[i].from == LB_NEVER)
            continue;
        /* Without a length, it is some moment from `to` to `from`. */
        if (longest != NULL && longest->to > all[i].from && longest->from < all[i].to)
            report_two(c, longest, &all[i]);
        if (all[i].from < all[i].to && (longest == NULL || all[i].to > longest->to))
            longest = &all[i];
    }
}

/* May an unanswered put that was never claimed be there all the same? */
static bool may_wait(const struct lb_case *c)
{
    return !c->is_drained || c->unknown.n > 0 || c->model->attempts > 0 ||
           c->model->doubts[LB_DOUBT_DUE].reason[0] != '\0' || lb_wants_limits(c) ||
           c->doubt[LB_G_NO_LOSS] != NULL;
}

/* Items by their requests, and refusals by their answers: before a refusal come all items that it
 * may have met. */
static uint64_t place_of(const struct one *one)
{
    return one->is_refused ? one->high : one->low;
}

static int by_place(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    uint64_t place = place_of(one), other_place = place_of(other);
    if (place != other_place)
        return place > other_place ? 1 : -1;
    return one->is_refused - other->is_refused;
}

/* A refusal met an unfinished item if the one of those before it that is finished last was. An
 * earlier attempt to put the same item is such an item. */
static void judge_refusals(struct lb_case *c, struct one *all, size_t n)
{
    const struct one *last = NULL, *unclaimed = NULL;
    const bool waits = may_wait(c);
    qsort(all, n, sizeof *all, by_place);
    for (struct one *one = all; one < all + n; one++) {
        if (!one->is_refused) {
            bool counts = one->is_claimed || one->high != LB_NEVER || waits;
            if (counts && (last == NULL || one->done > last->done))
                last = one;
            unclaimed = counts ? unclaimed : one;
        } else if (one->high < c->known_ns && (last == NULL || last->done < one->low)) {
            one->is_accused = true;
            if (!one->is_together)
                report_none(c, one, unclaimed);
        }
    }
}

static int by_put(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    if (one->log != other->log)
        return one->log > other->log ? 1 : -1;
    if (one->event != other->event)
        return one->event > other->event ? 1 : -1;
    return (one->key > other->key) - (one->key < other->key);
}

/* A put of several items is refused for one of them, or since two of them have one key. */
static void judge_refused_together(struct lb_case *c, struct one *all, size_t n)
{
    qsort(all, n, sizeof *all, by_put);
    for (size_t first = 0, end = 0; first < n; first = end) {
        bool is_accused = all[first].is_refused && all[first].is_together;
        for (; end < n && all[end].log == all[first].log && all[end].event == all[first].event;
             end++)
            is_accused = is_accused && all[end].is_accused &&
                         (end == first || all[end].key != all[end - 1].key);
        if (is_accused)
            report_none(c, &all[first], NULL);
    }
}

static int by_id(const void *a, const void *b)
{
    const struct one *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

/* Of two items of one name it is unknown which of them an event concerns. */
static size_t drop_put_again(struct lb_case *c, struct one *all, size_t n)
{
    size_t n_kept = 0;
    qsort(all, n, sizeof *all, by_id);
    for (size_t first = 0, end = 0; first < n; first = end) {
        size_t n_puts = 0;
        while (end < n && all[end].id == all[first].id)
            n_puts += !all[end++].is_refused;
        if (n_puts > 1)
            c->doubt[LB_G_UNIQUE] = LB_PUT_AGAIN;
        for (size_t i = first; i < end && n_puts <= 1; i++)
            all[n_kept++] = all[i];
    }
    return n_kept;
}

static bool is_same_put(const struct lb_put *put, const struct lb_put *other)
{
    return put->log == other->log && put->event == other->event;
}

static int judge(struct lb_case *c)
{
    const struct lb_put *puts = c->unique_puts.items;
    size_t n = 0, next = 0;
    if (!lb_wants_unique(c))
        return 0;
    struct one *all = lb_malloc((c->unique_puts.n + 1) * sizeof *all);
    for (size_t i = 0; i < c->unique_puts.n; i++) {
        uint32_t key;
        if (!lb_attribute_of(c, LB_A_UNIQUE, puts[i].first, &key)) {
            c->doubt[LB_G_UNIQUE] = "the history does not say the unique key of each item";
            continue;
        }
        all[n] = (struct one){
            .key = key,
            .id = puts[i].first,
            .low = puts[i].low,
            .high = puts[i].high,
            .log = puts[i].log,
            .event = puts[i].event,
            .is_refused = puts[i].n == 0,
            .is_together = (i > 0 && is_same_put(&puts[i], &puts[i - 1])) ||
                           (i + 1 < c->unique_puts.n && is_same_put(&puts[i], &puts[i + 1]))};
        follow(c, &all[n++]);
    }
    n = drop_put_again(c, all, n);
    qsort(all, n, sizeof *all, by_from);
    for (size_t end = 0; next < n; next = end) {
        while (end < n && all[end].key == all[next].key)
            end++;
        judge_two(c, all + next, end - next);
        if (n == c->unique_puts.n) /* an item whose key is not known may be of this one */
            judge_refusals(c, all + next, end - next);
    }
    judge_refused_together(c, all, n);
    lb_finding_of(c, LB_G_UNIQUE)->n_tested = c->unique_puts.n;
    free(all);
    return 0;
}

static const char *cannot_say(const struct lb_case *c)
{
    return c->model->unique == LB_UNIQUE_NOT
               ? "it is not known how long an item is unique (-- unique: until-done)"
           : c->attributes[LB_A_UNIQUE].n == 0 ? "the history does not say the unique keys of items"
                                               : NULL;
}

const struct lb_guarantee_kind lb_guarantee_unique = {.is_within_class = true,
                                                      .judge_queue = judge,
                                                      .is_last = true,
                                                      .cannot_say = cannot_say,
                                                      .nothing = "nothing was put"};
