/* Items of one claim that one statement ends, or prolongs: complete, error, free or renew with
 * :ids.
 *
 * The lists are text, bound as parameters: an array (`{1,2}`) where the engine has arrays, JSON
 * (`[1,2]`) elsewhere.
 *
 * The answer shows the outcome of each item. Rows with a column id name the items that it reached;
 * the others were refused. Without ids only the number of rows is known: 0 means that no item was
 * ended, the number of items means all of them, and with any other number the outcome of each item
 * is unknown. It would be wrong to take the batch for done, and as wrong to take it for refused.
 */
#include "memory.h"
#include "ordinary.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 20, OTHERS_MAX = 64 };

struct named {
    int64_t id;
    uint32_t item;
};

struct lb_batch_memory {
    struct named *by_id; /* the items, by id */
    char *ids, *tokens, *both;
    uint32_t n_named; /* rows that said an id */
    int64_t others[OTHERS_MAX];
    uint32_t n_others;
};

int lb_batch_init(struct lb_batch *batch, uint32_t room, struct lb_error *err)
{
    static const size_t both = sizeof "{\"id\":,\"token\":},";
    struct lb_batch_memory *memory = lb_calloc(1, sizeof *memory);
    (void)err;
    *batch = (struct lb_batch){.memory = memory,
                               .items = lb_malloc(room * sizeof *batch->items),
                               .answers = lb_malloc(room),
                               .others = memory->others};
    memory->by_id = lb_malloc(room * sizeof *memory->by_id);
    memory->ids = lb_malloc(room * (DIGITS + 1) + 2);
    memory->tokens = lb_malloc(room * (DIGITS + 1) + 2);
    memory->both = lb_malloc(room * (2 * DIGITS + both) + 2);
    return 0;
}

void lb_batch_release(struct lb_batch *batch)
{
    if (batch->memory != NULL) {
        free(batch->memory->by_id);
        free(batch->memory->ids);
        free(batch->memory->tokens);
        free(batch->memory->both);
    }
    free(batch->memory);
    free(batch->items);
    free(batch->answers);
    *batch = (struct lb_batch){0};
}

/* --- lists --- */

static char *put_text(char *at, const char *text)
{
    while (*text != '\0')
        *at++ = *text++;
    return at;
}

/* By hand: this is done for each item of a queue. */
static char *put_number(char *at, int64_t number)
{
    char digits[DIGITS];
    size_t n = 0;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digits[n++] = '-';
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

static char *put_token(char *at, const struct lb_item *item)
{
    return item->has_token ? put_number(at, item->token) : put_text(at, "null");
}

/* The ids, or the tokens, to text. */
static struct lb_value write_list(const struct lb_batch *batch, char *text, bool are_tokens,
                                  bool has_arrays)
{
    char *at = text;
    for (uint32_t i = 0; i < batch->n; i++) {
        *at++ = i > 0 ? ',' : has_arrays ? '{' : '[';
        at = are_tokens ? put_token(at, batch->items[i]) : put_number(at, batch->items[i]->id);
    }
    *at++ = has_arrays ? '}' : ']';
    return lb_text(text, (size_t)(at - text));
}

static struct lb_value write_items(const struct lb_batch *batch)
{
    char *text = batch->memory->both, *at = text;
    for (uint32_t i = 0; i < batch->n; i++) {
        at = put_number(put_text(at, i > 0 ? ",{\"id\":" : "[{\"id\":"), batch->items[i]->id);
        at = put_text(put_token(put_text(at, ",\"token\":"), batch->items[i]), "}");
    }
    *at++ = ']';
    return lb_text(text, (size_t)(at - text));
}

static void fill_lists(struct lb_bag *bag, const struct lb_actor *actor,
                       const struct lb_batch *batch)
{
    const struct lb_program *program = actor->plan->program;
    if ((program->uses >> LB_SLOT_IDS & 1) != 0)
        bag->value[LB_SLOT_IDS] =
            write_list(batch, batch->memory->ids, false, program->db->has_arrays);
    if ((program->uses >> LB_SLOT_TOKENS & 1) != 0)
        bag->value[LB_SLOT_TOKENS] =
            write_list(batch, batch->memory->tokens, true, program->db->has_arrays);
    if ((program->uses >> LB_SLOT_ITEMS & 1) != 0)
        bag->value[LB_SLOT_ITEMS] = write_items(batch);
}

/* --- answers --- */

static int by_id(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static void sort_ids(struct lb_batch *batch)
{
    struct named *sorted = batch->memory->by_id;
    bool is_sorted = true;
    for (uint32_t i = 0; i < batch->n; i++) {
        sorted[i] = (struct named){.id = batch->items[i]->id, .item = i};
        is_sorted = is_sorted && (i == 0 || sorted[i].id >= sorted[i - 1].id);
    }
    if (!is_sorted)
        qsort(sorted, batch->n, sizeof *sorted, by_id);
}

/* The first item of that id; NULL: there is none. */
static const struct named *find(const struct lb_batch *batch, int64_t id)
{
    const struct named *sorted = batch->memory->by_id;
    size_t low = 0, high = batch->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < batch->n && sorted[low].id == id ? &sorted[low] : NULL;
}

static void note_other(struct lb_batch_memory *memory, int64_t id)
{
    for (uint32_t i = 0; i < memory->n_others; i++)
        if (memory->others[i] == id)
            return;
    if (memory->n_others < OTHERS_MAX)
        memory->others[memory->n_others++] = id;
}

static void set_all(struct lb_batch *batch, int answer)
{
    memset(batch->answers, answer, batch->n);
}

void lb_batch_begin(struct lb_batch *batch)
{
    struct lb_batch_memory *memory = batch->memory;
    set_all(batch, LB_REFUSED);
    batch->n_others = memory->n_named = memory->n_others = 0;
    sort_ids(batch);
}

void lb_batch_reach(struct lb_batch *batch, int64_t id)
{
    const struct named *named = find(batch, id);
    batch->memory->n_named++;
    if (named != NULL)
        batch->answers[named->item] = LB_OK;
    else
        note_other(batch->memory, id);
}

void lb_batch_end(struct lb_batch *batch)
{
    batch->n_others = batch->memory->n_others;
}

void lb_ordinary_catch_id(void *arg, const struct lb_bag *bag)
{
    struct lb_batch *batch = arg;
    int64_t id;
    if (bag == NULL) /* once more from the beginning */
        lb_batch_begin(batch);
    else if (lb_value_int(&bag->value[LB_SLOT_ID], &id))
        lb_batch_reach(batch, id);
}

void lb_ordinary_fill_batch(struct lb_bag *bag, const struct lb_actor *actor,
                            struct lb_batch *batch)
{
    lb_batch_begin(batch);
    lb_ordinary_fill_own_class(bag, actor);
    fill_lists(bag, actor, batch);
}

int lb_ordinary_end_batch(struct lb_batch *batch, int answer,
                          const struct lb_section_result *result)
{
    if (answer < 0)
        return answer;
    answer = lb_ordinary_refused(answer, result);
    if (answer != LB_OK)
        set_all(batch, answer);
    else if (batch->memory->n_named == 0) /* it did something, and named no ids */
        set_all(batch, result->n_answered == (int64_t)batch->n ? LB_OK : LB_LOST);
    if (answer == LB_OK)
        lb_batch_end(batch);
    return answer;
}

int lb_ordinary_batch(struct lb_actor *actor, enum lb_section_name name, struct lb_batch *batch,
                      struct lb_error *err)
{
    struct lb_section_result result;
    struct lb_bag bag;
    bool is_held = actor->plan->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD;
    bool ends = name != LB_S_RENEW;
    bool is_lost = actor->session->conn == NULL;
    if (is_lost || (is_held && !actor->session->in_tx)) {
        batch->n_others = 0;
        set_all(batch, is_lost ? LB_LOST : LB_REFUSED);
        return is_lost ? LB_LOST : LB_REFUSED;
    }
    if (ends)
        actor->n_held = actor->n_held > batch->n ? actor->n_held - batch->n : 0;
    lb_ordinary_fill_batch(&bag, actor, batch);
    int r = lb_runner_section(&actor->runner, name, &bag, ends && actor->n_held == 0,
                              lb_ordinary_catch_id, batch, &result, err);
    return lb_ordinary_end_batch(batch, r, &result);
}
