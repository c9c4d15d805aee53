/* Moments by kind and time, and the first of a kind from a time on.
 *
 * Every claim of an item that is claimed again and again asks for such moments, of which there may
 * be millions (resets). So where there are many, the time of each kind is cut into about as many
 * slices as it has moments, and each slice knows where its first one stands: a look-up reads one
 * slice and searches the few moments in it, where a search of all would miss the cache twenty
 * times.
 */
#include "items.h"

#include <stdlib.h>

enum { FEW = 64, PER_SLICE = 2 };

/* Moments of one operation and class: those at places first .. end - 1. */
struct lb_moment_kind {
    int op;
    uint32_t class_no;
    uint32_t first, end;
    uint64_t from; /* the high of the first; slices count from here */
    unsigned shift;
    uint32_t slices, n_slices; /* places of its slices; one more than n_slices is there */
};

int lb_moments_add(struct lb_moments *moments, const struct lb_moment *moment)
{
    struct lb_moment *slot = lb_array_push(&moments->array, sizeof *slot);
    if (slot == NULL)
        return LB_E_MEMORY;
    *slot = *moment;
    return 0;
}

void lb_moments_release(struct lb_moments *moments)
{
    free(moments->array.items);
    free(moments->kinds.items);
    free(moments->highs);
    free(moments->slices);
    *moments = (struct lb_moments){.array = {0}};
}

static int by_kind(const struct lb_moment *a, int op, uint32_t class_no)
{
    if (a->op != op)
        return a->op < op ? -1 : 1;
    return (a->class_no > class_no) - (a->class_no < class_no);
}

static int by_kind_and_high(const void *a, const void *b)
{
    const struct lb_moment *x = a, *y = b;
    int kind = by_kind(x, y->op, y->class_no);
    return kind != 0 ? kind : (x->high > y->high) - (x->high < y->high);
}

/* Many: in linear time. Those of one kind and time stay in the order in which they were added. */
static int sort_many(struct lb_moments *moments)
{
    size_t n = moments->array.n;
    const struct lb_moment *all = moments->array.items;
    struct lb_key *keys = malloc(n * sizeof *keys);
    struct lb_moment *sorted = malloc(n * sizeof *sorted);
    int rc = keys == NULL || sorted == NULL ? LB_E_MEMORY : 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        keys[i] = (struct lb_key){.key = all[i].high, .index = (uint32_t)i};
    if (rc == 0)
        rc = lb_sort(keys, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        keys[i].key = (uint64_t)all[keys[i].index].op << 32 | all[keys[i].index].class_no;
    if (rc == 0)
        rc = lb_sort(keys, n);
    for (size_t i = 0; i < n && rc == 0; i++)
        sorted[i] = all[keys[i].index];
    free(keys);
    if (rc != 0) {
        free(sorted);
        return rc;
    }
    free(moments->array.items);
    moments->array = (struct lb_array){.items = sorted, .n = n, .room = n};
    return 0;
}

static uint32_t slice_of(const struct lb_moment_kind *kind, uint64_t time)
{
    uint64_t slice = (time - kind->from) >> kind->shift;
    return slice < kind->n_slices ? (uint32_t)slice : kind->n_slices;
}

/* Cuts the time of a kind into slices; there is room for them. */
static void cut(struct lb_moments *moments, struct lb_moment_kind *kind)
{
    const uint64_t *highs = moments->highs;
    uint32_t n = kind->end - kind->first, next = 0, *slices = moments->slices + kind->slices;
    uint64_t length = 0; /* of the times that are known */
    kind->from = highs[kind->first];
    for (uint32_t i = kind->first; i < kind->end && highs[i] != LB_NEVER; i++)
        length = highs[i] - kind->from;
    while (length >> kind->shift > n / PER_SLICE)
        kind->shift++;
    kind->n_slices = (uint32_t)(length >> kind->shift) + 1;
    for (uint32_t i = kind->first; i < kind->end; i++)
        for (uint32_t slice = slice_of(kind, highs[i]); next <= slice; next++)
            slices[next] = i;
    for (; next <= kind->n_slices; next++)
        slices[next] = kind->end;
}

/* Without memory for it, there is no index: the search of all finds the same. */
static void make_index(struct lb_moments *moments)
{
    const struct lb_moment *all = moments->array.items;
    uint32_t n = (uint32_t)moments->array.n, n_slices = 0;
    moments->highs = malloc(n * sizeof *moments->highs);
    for (uint32_t i = 0; i < n && moments->highs != NULL; i++) {
        struct lb_moment_kind *kinds = moments->kinds.items;
        struct lb_moment_kind *last = moments->kinds.n > 0 ? &kinds[moments->kinds.n - 1] : NULL;
        moments->highs[i] = all[i].high;
        if (last == NULL || by_kind(&all[i], last->op, last->class_no) != 0) {
            last = lb_array_push(&moments->kinds, sizeof *last);
            if (last == NULL)
                return;
            *last =
                (struct lb_moment_kind){.op = all[i].op, .class_no = all[i].class_no, .first = i};
        }
        last->end = i + 1;
    }
    struct lb_moment_kind *kinds = moments->kinds.items;
    for (size_t i = 0; i < moments->kinds.n; i++) {
        kinds[i].slices = n_slices;
        n_slices += (kinds[i].end - kinds[i].first) / PER_SLICE + 2;
    }
    moments->slices = moments->highs != NULL ? malloc(n_slices * sizeof *moments->slices) : NULL;
    for (size_t i = 0; i < moments->kinds.n && moments->slices != NULL; i++)
        cut(moments, &kinds[i]);
}

int lb_moments_sort(struct lb_moments *moments)
{
    size_t n = moments->array.n;
    if (n > FEW && n < UINT32_MAX / 2 && sort_many(moments) != 0)
        return LB_E_MEMORY;
    struct lb_moment *all = moments->array.items;
    if (n > 1 && (n <= FEW || n >= UINT32_MAX / 2))
        qsort(all, n, sizeof *all, by_kind_and_high);
    for (size_t i = n; i-- > 0;) {
        all[i].least = all[i].low;
        if (i + 1 < n && by_kind(&all[i], all[i + 1].op, all[i + 1].class_no) == 0 &&
            all[i + 1].least < all[i].least)
            all[i].least = all[i + 1].least;
    }
    moments->kinds.n = 0;
    free(moments->highs);
    free(moments->slices);
    moments->highs = NULL;
    moments->slices = NULL;
    if (n > FEW && n < UINT32_MAX / 2)
        make_index(moments);
    return 0;
}

static const struct lb_moment_kind *kind_of(const struct lb_moments *moments, int op,
                                            uint32_t class_no)
{
    const struct lb_moment_kind *kinds = moments->kinds.items;
    size_t low = 0, high = moments->kinds.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kinds[middle].op < op || (kinds[middle].op == op && kinds[middle].class_no < class_no))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < moments->kinds.n && kinds[low].op == op && kinds[low].class_no == class_no;
    return found ? &kinds[low] : NULL;
}

static const struct lb_moment *find_indexed(const struct lb_moments *moments, int op,
                                            uint32_t class_no, uint64_t from)
{
    const struct lb_moment *all = moments->array.items;
    const struct lb_moment_kind *kind = kind_of(moments, op, class_no);
    if (kind == NULL)
        return NULL;
    if (from <= kind->from)
        return &all[kind->first];
    const uint32_t *slice = moments->slices + kind->slices + slice_of(kind, from);
    bool is_beyond = slice_of(kind, from) == kind->n_slices;
    uint32_t low = *slice, high = is_beyond ? kind->end : slice[1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (moments->highs[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kind->end ? &all[low] : NULL;
}

const struct lb_moment *lb_moments_from(const struct lb_moments *moments, int op, uint32_t class_no,
                                        uint64_t from, const struct lb_moment **ret_end)
{
    const struct lb_moment *all = moments->array.items;
    size_t low = 0, high = moments->array.n;
    *ret_end = high > 0 ? all + high : NULL;
    if (moments->slices != NULL)
        return find_indexed(moments, op, class_no, from);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int kind = by_kind(&all[middle], op, class_no);
        if (kind < 0 || (kind == 0 && all[middle].high < from))
            low = middle + 1;
        else
            high = middle;
    }
    return low < moments->array.n && by_kind(&all[low], op, class_no) == 0 ? &all[low] : NULL;
}
