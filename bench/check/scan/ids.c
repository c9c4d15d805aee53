/* Builds the record of each id of a queue, in one pass over the logs.
 *
 * Ids are handed out one after another, so a table with a place for each costs no search and no
 * sort: an id's number is its place. The table covers half as many ids as there are events, from
 * the smallest ids that the logs begin with; memory is only taken where a place is used. Nearly all
 * ids are put once, claimed once and ended once by their claimer: their place says all there is to
 * know, and their events need not be kept. An id to which more happened is odd: a second pass, in
 * scan_items.c, takes its events out of the logs.
 *
 * Ids that lie far apart, or that are put twice, do not fit. Then the table is given up, every id
 * is odd, and the ids come from the events and puts sorted by id. The verdicts are the same.
 */
#include "items.h"
#include "judges.h"
#include "scan_logs.h"

#include <stdlib.h>
#include <sys/mman.h>

/* --- the table --- */

/* A table that is filled from end to end costs a fault a page: large ones, where there are any. */
static void use_large_pages(void *memory, size_t bytes)
{
    enum { LARGE = 2 << 20 };
    uintptr_t first = ((uintptr_t)memory + LARGE - 1) & ~(uintptr_t)(LARGE - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(LARGE - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* advice */
}

/* The first id that a log names, among its first events. */
static bool first_id_of(const struct lb_log_view *log, uint64_t *ret_id)
{
    enum { FAR = 4096 };
    const struct lb_span *span = log->spans;
    for (size_t i = 0; log->n_spans > 0 && i < span->n && i < FAR; i++) {
        const struct lb_event *e = &span->events[i];
        if (e->op == LB_OP_ITEM || (e->op == LB_OP_PUT && e->type == LB_EV_INVOKE)) {
            *ret_id = e->value;
            return true;
        }
    }
    return false;
}

/* Groups, and a search without shortcuts, ask for all events of all ids. */
void lb_ids_open(struct lb_case *c)
{
    enum { SPARE = 64 };
    uint64_t smallest = UINT64_MAX, id, room = c->history->n_events / 2 + SPARE;
    bool is_any = false;
    for (size_t i = 0; i < c->history->n_logs; i++)
        if (first_id_of(&c->history->logs[i], &id)) {
            smallest = id < smallest ? id : smallest;
            is_any = true;
        }
    if (!is_any || room >= LB_NONE || c->model->plain || lb_wants_limits(c) || lb_wants_unique(c))
        return;
    /* Untouched pages cost nothing; a system that promises no more than it has may refuse. */
    c->table = calloc(room + 1, sizeof *c->ids);
    if (c->table == NULL)
        return;
    use_large_pages(c->table, room * sizeof *c->ids);
    uintptr_t line = (uintptr_t)c->table + sizeof *c->ids - 1; /* each id in one cache line */
    c->ids = (struct lb_id *)(line - line % sizeof *c->ids);
    c->ids_room = room;
    c->is_dense = true;
    c->first_id = smallest > room / 8 ? smallest - room / 8 : 0;
    c->lowest = room;
}

static void close_table(struct lb_case *c)
{
    free(c->table);
    c->ids = c->table = NULL;
    c->n_ids = c->ids_room = 0;
    c->is_dense = false;
}

void lb_ids_release(struct lb_case *c)
{
    if (!c->is_dense)
        free(c->ids);
    else
        close_table(c);
}

static void push_put(struct lb_case *c, const struct lb_put *put)
{
    struct lb_put *slot = lb_array_push(&c->puts, sizeof *slot);
    *slot = *put;
}

/* Gives the table up; the puts that it knows are kept. */
static void abandon(struct lb_case *c)
{
    for (const struct lb_id *id = c->ids + c->lowest; id < c->ids + c->n_ids; id++) {
        if (id->is_put)
            push_put(c, &(struct lb_put){.first = id->id,
                                         .low = id->put_low,
                                         .high = id->put_high,
                                         .n = 1,
                                         .log = id->put_log,
                                         .event = id->put_event,
                                         .class_no = id->class_no});
        c->n_releases -= id->is_ended && !id->is_odd;
    }
    close_table(c);
}

/* The id's place, made its own. */
static struct lb_id *take_place(struct lb_case *c, uint64_t id)
{
    struct lb_id *place = lb_id_place(c, id);
    if (place == NULL)
        return NULL;
    size_t i = (size_t)(place - c->ids);
    place->id = id;
    place->n = 1;
    c->n_ids = i >= c->n_ids ? i + 1 : c->n_ids;
    c->lowest = i < c->lowest ? i : c->lowest;
    return place;
}

static void make_odd(struct lb_case *c, struct lb_id *id)
{
    if (id->is_odd)
        return;
    id->is_odd = 1;
    c->n_odd++;
    c->n_releases -= id->is_ended; /* it is judged with its events */
}

static bool fits(const struct lb_case *c, const struct lb_put *put)
{
    uint64_t i = put->first - c->first_id;
    if (i >= c->ids_room || put->n > c->ids_room - i)
        return false;
    for (uint64_t k = i; k < i + put->n; k++)
        if (c->ids[k].is_put)
            return false;
    return true;
}

static void set_put(struct lb_id *id, const struct lb_put *put)
{
    id->put_low = put->low;
    id->put_high = put->high;
    id->put_log = put->log & (LB_MAX_LOGS - 1);
    id->put_event = put->event;
    id->class_no = put->class_no;
    id->is_put = 1;
}

void lb_ids_put(struct lb_case *c, const struct lb_put *put)
{
    if (c->one_class == LB_NONE)
        c->one_class = put->class_no;
    c->classes_differ =
        c->classes_differ || c->one_class != put->class_no || put->class_no == LB_NONE;
    if (c->is_dense && !fits(c, put))
        abandon(c);
    if (!c->is_dense) {
        push_put(c, put);
        return;
    }
    for (uint32_t i = 0; i < put->n; i++)
        set_put(take_place(c, put->first + i), put);
}

static void set_claim(struct lb_id *id, const struct lb_item_record *claim)
{
    id->claim_low = claim->low;
    id->claim_high = claim->high;
    id->claim_event = claim->event;
    id->claim_log = claim->log & (LB_MAX_LOGS - 1);
    id->is_claimed = id->is_open = 1;
    id->n_claims = 1;
}

void lb_ids_claim(struct lb_case *c, const struct lb_item_record *claim)
{
    struct lb_id *id = take_place(c, claim->id);
    if (id == NULL) {
        if (c->is_dense)
            abandon(c);
        return;
    }
    if (id->is_claimed || id->is_odd)
        make_odd(c, id);
    else
        set_claim(id, claim);
}

void lb_ids_end(struct lb_case *c, const struct lb_item_record *end)
{
    struct lb_id *id = take_place(c, end->id);
    if (id == NULL) {
        if (c->is_dense)
            abandon(c);
        return;
    }
    bool is_plain = id->is_claimed && !id->is_ended && !id->is_odd && id->claim_log == end->log &&
                    (end->op == LB_OP_COMPLETE || end->op == LB_OP_ERROR) &&
                    end->type == LB_EV_OK && (end->flags & LB_EVF_EFFECTIVE) != 0;
    if (is_plain) {
        id->is_ended = 1;
        id->is_open = 0;
        c->n_releases++;
    } else {
        make_odd(c, id);
    }
}

void lb_ids_refused(struct lb_case *c, uint64_t id, uint32_t log)
{
    struct lb_id *place = lb_id_place(c, id);
    if (place != NULL && place->is_claimed && !place->is_ended && !place->is_odd &&
        place->claim_log == log)
        place->is_refused = 1;
}

/* --- odd ids, from their events --- */

/* NULL: there is none. */
static const struct lb_item_record *last_claim(const struct lb_case *c, const struct lb_key *keys,
                                               size_t n)
{
    const struct lb_item_record *items = c->items.items, *last = NULL;
    for (size_t k = 0; k < n; k++) {
        const struct lb_item_record *e = &items[keys[k].index];
        if (e->op == LB_OP_ITEM && (last == NULL || e->low > last->low))
            last = e;
    }
    return last;
}

/* Has its last claim no end of its worker's that certainly took effect? The events of one id. */
static bool is_open(const struct lb_case *c, const struct lb_key *keys, size_t n)
{
    const struct lb_item_record *items = c->items.items, *last = last_claim(c, keys, n);
    bool is_ended = false;
    for (size_t k = 0; k < n && last != NULL; k++) {
        const struct lb_item_record *e = &items[keys[k].index];
        is_ended = is_ended || (e->op != LB_OP_ITEM && e->op != LB_OP_RENEW_ITEM &&
                                e->type == LB_EV_OK && (e->flags & LB_EVF_EFFECTIVE) != 0 &&
                                e->log == last->log && e->event > last->event);
    }
    return last != NULL && !is_ended;
}

/* True if the worker of the last claim perhaps gave it back, and no worker ended it in another way
 * since that claim began. A free that was refused counts if all lost items had come back by the
 * end. The events of one id. */
static bool is_let_go(const struct lb_case *c, const struct lb_key *keys, size_t n)
{
    const struct lb_item_record *items = c->items.items, *last = last_claim(c, keys, n);
    bool is_freed = false;
    for (size_t k = 0; k < n && last != NULL; k++) {
        const struct lb_item_record *e = &items[keys[k].index];
        bool is_end = e->op == LB_OP_COMPLETE || e->op == LB_OP_ERROR;
        if (is_end && e->type != LB_EV_FAIL && e->high >= last->low)
            return false;
        bool is_unclear = e->type == LB_EV_FAIL ? c->model->returned : e->type != LB_EV_OK;
        is_freed = is_freed || (e->op == LB_OP_FREE && is_unclear && e->log == last->log &&
                                e->event > last->event);
    }
    return is_freed;
}

/* The claims among the events of one id. */
static void collect_claims(const struct lb_case *c, const struct lb_key *keys, size_t n,
                           struct lb_id *id)
{
    const struct lb_item_record *items = c->items.items;
    uint64_t low = LB_NEVER;
    unsigned n_claims = 0;
    id->is_claimed = 0;
    for (size_t k = 0; k < n; k++) {
        const struct lb_item_record *e = &items[keys[k].index];
        if (e->op != LB_OP_ITEM)
            continue;
        n_claims += n_claims < LB_ID_CLAIMS;
        id->is_claimed_again = id->is_claimed;
        low = e->low < low ? e->low : low;
        if (!id->is_claimed || e->high < id->claim_high)
            set_claim(id, e);
    }
    if (id->is_claimed)
        id->claim_low = low; /* the first answered need not have come first */
    id->n_claims = n_claims & LB_ID_CLAIMS;
    id->is_open = is_open(c, keys, n);
    id->is_let_go = is_let_go(c, keys, n);
}

static void sort_items(struct lb_case *c)
{
    const struct lb_item_record *items = c->items.items;
    c->by_id = lb_malloc((c->items.n + 1) * sizeof *c->by_id);
    for (size_t i = 0; i < c->items.n; i++)
        c->by_id[i] = (struct lb_key){.key = items[i].id, .index = (uint32_t)i};
    lb_sort(c->by_id, c->items.n);
}

/* --- ids that are not dense --- */

struct put_index {
    struct lb_put *puts; /* by first id */
    size_t n, hint;
    uint64_t *reach; /* largest last id of the puts up to here */
};

static uint64_t last_id(const struct lb_put *put)
{
    return put->first + (put->n - 1);
}

static void put_index_init(struct put_index *index, const struct lb_case *c)
{
    const struct lb_put *puts = c->puts.items;
    size_t n = c->puts.n;
    struct lb_key *keys = lb_malloc((n + 1) * sizeof *keys);
    *index = (struct put_index){.puts = lb_malloc((n + 1) * sizeof *index->puts),
                                .n = n,
                                .reach = lb_malloc((n + 1) * sizeof *index->reach)};
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct lb_key){.key = puts[i].first, .index = (uint32_t)i};
    lb_sort(keys, n);
    for (size_t i = 0; i < n; i++) {
        index->puts[i] = puts[keys[i].index];
        uint64_t last = last_id(&index->puts[i]);
        index->reach[i] = i > 0 && index->reach[i - 1] > last ? index->reach[i - 1] : last;
    }
    free(keys);
}

/* The puts of an id; ids only grow from call to call. Of several, the first request gives the
 * earliest time of the item, and the first acknowledgement the latest. */
static void find_put(struct put_index *index, struct lb_id *id)
{
    while (index->hint < index->n && index->puts[index->hint].first <= id->id)
        index->hint++;
    for (size_t i = index->hint; i > 0 && index->reach[i - 1] >= id->id; i--) {
        const struct lb_put *put = &index->puts[i - 1];
        if (last_id(put) < id->id)
            continue;
        uint64_t low = id->is_put && id->put_low < put->low ? id->put_low : put->low;
        id->is_put_again = id->is_put;
        if (!id->is_put || put->high < id->put_high ||
            (put->high == id->put_high && put->low < id->put_low))
            set_put(id, put);
        id->put_low = low;
    }
}

static void push_id(struct lb_array *ids, const struct lb_id *id)
{
    struct lb_id *slot = lb_array_push(ids, sizeof *slot);
    *slot = *id;
}

/* Two items of one name: it is unknown which of them a claim returned, or an end concerns. */
static void note_put_again(struct lb_case *c, const struct lb_id *id)
{
    if (!id->is_put_again)
        return;
    uint64_t *slot = lb_array_push(&c->put_again, sizeof *slot);
    *slot = id->id;
    c->doubt[LB_G_NO_DUPLICATE] = c->doubt[LB_G_NO_LOSS] = c->doubt[LB_G_FIFO] =
        c->doubt[LB_G_OWNER_RELEASE] = c->doubt[LB_G_ONCE] = c->doubt[LB_G_GROUP_EXCLUSIVE] =
            c->doubt[LB_G_KEY_LIMIT] = c->doubt[LB_G_UNIQUE] = c->doubt[LB_G_PRIORITY] =
                c->doubt[LB_G_ATTEMPTS] = LB_PUT_AGAIN;
}

/* The acknowledged unclaimed ids, each once: one entry for those of one put that follow each other.
 */
static void add_unclaimed(struct lb_array *ids, const struct put_index *index)
{
    size_t n_claimed = ids->n, k = 0;
    uint64_t next_id = 0;
    for (size_t i = 0; i < index->n; i++) {
        const struct lb_put *put = &index->puts[i];
        uint64_t last = last_id(put);
        if (put->high == LB_NEVER || last < next_id)
            continue;
        for (uint64_t id = put->first > next_id ? put->first : next_id; id <= last;) {
            const struct lb_id *claimed = ids->items;
            while (k < n_claimed && claimed[k].id < id)
                k++;
            bool is_claimed = k < n_claimed && claimed[k].id == id;
            uint64_t end = k < n_claimed && claimed[k].id <= last ? claimed[k].id : last + 1;
            struct lb_id one = {.id = id, .n = is_claimed ? 0 : (uint32_t)(end - id)};
            set_put(&one, put);
            if (one.n > 0)
                push_id(ids, &one);
            id = is_claimed ? id + 1 : end;
            if (id == 0)
                break; /* past the largest number */
        }
        if (last == UINT64_MAX)
            break;
        next_id = last + 1;
    }
}

static void build_ids(struct lb_case *c)
{
    struct put_index index;
    struct lb_array ids = {0};
    put_index_init(&index, c);
    for (size_t i = 0, first; i < c->items.n;) {
        for (first = i; i < c->items.n && c->by_id[i].key == c->by_id[first].key;)
            i++;
        struct lb_id id = {.id = c->by_id[first].key, .n = 1, .is_odd = 1};
        collect_claims(c, c->by_id + first, i - first, &id);
        if (!id.is_claimed)
            continue;
        find_put(&index, &id);
        push_id(&ids, &id);
        note_put_again(c, &id);
    }
    add_unclaimed(&ids, &index);
    /* Others walk from the first to the end: not from NULL. */
    if (ids.items == NULL)
        ids.items = lb_calloc(1, sizeof(struct lb_id));
    free(index.puts);
    free(index.reach);
    c->ids = ids.items;
    c->n_ids = ids.n;
}

/* --- the end of the first pass --- */

/* Items that the dead had in hand: their events are looked at by item_deaths.c. */
static void find_deaths(struct lb_case *c)
{
    bool is_any = false;
    for (size_t i = 0; i < c->history->n_logs; i++)
        is_any = is_any || c->logs[i].death_ns != LB_NEVER;
    for (struct lb_id *id = c->ids; id < c->ids + c->n_ids && is_any; id++)
        if (id->is_claimed && !id->is_ended && c->logs[id->claim_log].death_ns != LB_NEVER)
            make_odd(c, id);
}

int lb_ids_finish(struct lb_case *c)
{
    if (c->is_dense && c->n_ids > 0) { /* from the first one that is used */
        c->ids += c->lowest;
        c->n_ids -= c->lowest;
        c->ids_room -= c->lowest;
        c->first_id += c->lowest;
    }
    if (c->is_dense)
        find_deaths(c);
    int rc = lb_judge_calm_items(c);
    if (rc != 0 || (c->is_dense && c->n_odd == 0))
        return rc;
    rc = lb_scan_items(c);
    if (rc != 0)
        return rc;
    sort_items(c);
    if (!c->is_dense) {
        build_ids(c);
        return 0;
    }
    enum { AHEAD = 16 }; /* records: in order of their ids they lie far apart */
    const struct lb_item_record *items = c->items.items;
    for (size_t i = 0, first; i < c->items.n;) {
        for (first = i; i < c->items.n && c->by_id[i].key == c->by_id[first].key; i++)
            if (i + AHEAD < c->items.n)
                __builtin_prefetch(&items[c->by_id[i + AHEAD].index]);
        collect_claims(c, c->by_id + first, i - first, lb_id_place(c, c->by_id[first].key));
    }
    return 0;
}
