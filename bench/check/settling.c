/* Which operations of a queue need not be kept until the end.
 *
 * An id that was put once, claimed once and ended once by its claimer, with an effect, is not odd
 * (scan/ids.c): the judge reads nothing more of it. So a guarantee that is judged of each item
 * alone has the same verdict without it, and only the counts are missing; settled.c adds them. What
 * must hold for that:
 *
 *   - An operation that concerns several items goes only with all of them.
 *   - No other event of the record names the item. Later events are found by its id, which is kept
 *     as one bit: see settled.c.
 *   - The wait of a claim, or of an answer "empty", is within the bound. It begins with the first
 * of the claims before it that were refused: all of these go with it, or none.
 *   - A put, or an end of an item, that was refused for contention has changed nothing, and the
 * judge reads nothing of it.
 *   - Of each log the last answered operation stays, and the last one before a note that its
 * session had ended: they say until when the session was certainly there.
 *
 * The record of another worker may lie behind. So the caller shows all that is recorded by now,
 * also what may not be dropped yet, and only operations go that ended some time ago.
 */
#include "settled.h"

#include "array.h"
#include "items.h"
#include "judges.h"

#include <stdlib.h>

enum kind { OTHER, PUT, CLAIM, EMPTY, ENDS, REFUSED, REFUSED_OTHER };
enum what { IS_PUT, IS_CLAIMED, IS_ENDED, IS_NAMED, WHATS, IS_SETTLED = 1 << 8 };

/* Events of one log that belong together: an operation, a batch, or a note. */
struct unit {
    uint32_t log, first, n;
    uint8_t kind; /* enum kind */
    bool keeps;
    bool claims, goes_on; /* it has a claim, and the wait of the one before goes on in it */
};

struct settling {
    struct lb_settled *settled;
    const struct lb_model *model;
    struct lb_settle_log *logs;
    uint64_t until_ns, seen_ns;
    struct lb_array units, names; /* struct unit, by log; struct lb_key: id, unit, enum what */
    bool is_too_much;
    /* of the log that is read */
    uint32_t log, answered;       /* the last unit that was answered; LB_NONE */
    bool is_waiting;              /* its last claim was neither granted nor answered "empty" */
    uint64_t wait_ns;             /* since then, for an item of the class */
    uint32_t wait_class, retired; /* the last process that an unknown outcome has ended */
    bool has_retired;
    uint32_t claimed; /* the last unit with a claim; LB_NONE */
};

/* --- reading --- */

static void name(struct settling *s, uint64_t id, enum what what)
{
    struct lb_key *slot = lb_array_push(&s->names, sizeof *slot);
    *slot = (struct lb_key){id, (uint32_t)(s->units.n - 1), what};
}

static void name_put(struct settling *s, const struct lb_event *invoke, enum what what)
{
    enum { MOST = 1 << 20 };
    s->is_too_much = s->is_too_much || invoke->arg > MOST || invoke->value > UINT64_MAX - MOST;
    for (uint32_t i = 0; i < invoke->arg && !s->is_too_much; i++)
        name(s, invoke->value + i, what);
}

/* The event behind an operation, or batch, that begins with e; NULL: it has not ended. */
static const struct lb_event *end_of(const struct lb_event *e, const struct lb_event *end)
{
    uint32_t n_open = 0;
    for (; e < end; e++) {
        n_open += e->type == LB_EV_INVOKE;
        n_open -= e->type != LB_EV_INVOKE && e->type != LB_EV_NOTE && n_open > 0;
        if (n_open == 0)
            return e + 1;
    }
    return NULL;
}

static bool is_answer(const struct lb_event *invoke, const struct lb_event *e, uint8_t type)
{
    return invoke->type == LB_EV_INVOKE && e->type == type && e->op == invoke->op &&
           e->process == invoke->process && e->object == invoke->object;
}

/* Refused for contention: nothing was done. */
static bool is_refused(const struct lb_event *e, uint32_t n)
{
    const uint8_t answer = e[n - 1].answer;
    return n == 2 && e->flags == 0 && is_answer(e, &e[1], LB_EV_FAIL) &&
           (answer == LB_BUSY || answer == LB_TIMEOUT || answer == LB_CONFLICT ||
            answer == LB_DEADLOCK);
}

static enum kind claim_kind(const struct lb_event *e, uint32_t n)
{
    const struct lb_event *end = &e[n - 1];
    if (is_refused(e, n))
        return REFUSED;
    if (n == 2 && is_answer(e, end, LB_EV_FAIL) && end->answer == LB_EMPTY && e->flags == 0)
        return EMPTY;
    if (n < 3 || e->flags != 0 || !is_answer(e, end, LB_EV_OK) || end->value != n - 2 ||
        end->arg != n - 2 || end->arg > e->arg)
        return OTHER;
    for (uint32_t i = 1; i + 1 < n; i++)
        if (e[i].type != LB_EV_NOTE || e[i].op != LB_OP_ITEM || e[i].flags != 0)
            return OTHER;
    return CLAIM;
}

static enum kind kind_of(const struct lb_event *e, uint32_t n)
{
    const uint32_t half = n / 2;
    for (uint32_t i = 1; i < n; i++)
        if (e[i].time_ns < e[i - 1].time_ns)
            return OTHER;
    if (e->op == LB_OP_CLAIM && e->type == LB_EV_INVOKE)
        return claim_kind(e, n);
    if (e->op == LB_OP_PUT && n == 2 && is_answer(e, &e[1], LB_EV_OK) && e->arg > 0)
        return PUT;
    if ((e->op == LB_OP_PUT || lb_item_closes(e->op)) && is_refused(e, n))
        return REFUSED_OTHER;
    for (uint32_t i = 0; i < half; i++)
        if (e[i].op != LB_OP_COMPLETE || !is_answer(&e[i], &e[half + i], LB_EV_OK) ||
            e[i].value != e[half + i].value || e[i].process != e->process ||
            (e[half + i].flags & LB_EVF_EFFECTIVE) == 0)
            return OTHER;
    return half > 0 && n % 2 == 0 ? ENDS : OTHER;
}

/* A recovery takes items from workers that are alive, if these have them for longer. */
static void note_recovery(struct settling *s, const struct lb_event *e)
{
    const uint64_t age_ns = e->arg * UINT64_C(1000000);
    struct lb_settled *settled = s->settled;
    if (s->model->takes_living)
        settled->has_taken = true;
    else if (age_ns > 0 && (settled->least_age_ns == 0 || age_ns < settled->least_age_ns))
        settled->least_age_ns = age_ns;
}

/* All ids that an event of a unit names. */
static void name_all(struct settling *s, const struct lb_event *e)
{
    bool is_item = lb_item_closes(e->op) || e->op == LB_OP_CLEAR_ERROR || e->op == LB_OP_RENEW_ITEM;
    if (e->type == LB_EV_NOTE ? e->op == LB_OP_ITEM || e->op == LB_OP_ATTRIBUTE : is_item)
        name(s, e->value, IS_NAMED);
    else if (e->type == LB_EV_INVOKE && e->op == LB_OP_PUT)
        name_put(s, e, IS_NAMED);
    if (e->op == LB_OP_CLEAR_ERROR || e->op == LB_OP_CLEAR_ALL || e->op == LB_OP_RESET_ALL)
        s->settled->has_openers = true;
    if (e->op == LB_OP_RECOVER && e->type == LB_EV_INVOKE)
        note_recovery(s, e);
}

static void name_of_kind(struct settling *s, const struct unit *unit, const struct lb_event *e)
{
    const uint32_t n = unit->n;
    for (uint32_t i = 0; i < n && unit->kind == OTHER; i++)
        name_all(s, &e[i]);
    for (uint32_t i = 1; i + 1 < n && unit->kind == CLAIM; i++)
        name(s, e[i].value, IS_CLAIMED);
    for (uint32_t i = 0; i < n / 2 && unit->kind == ENDS; i++)
        name(s, e[i].value, IS_ENDED);
    if (unit->kind == PUT)
        name_put(s, e, IS_PUT);
}

static void keep_answered(struct settling *s)
{
    struct unit *units = s->units.items;
    if (s->answered != LB_NONE)
        units[s->answered].keeps = true;
}

/* As scan_line.c has it: a claim of another class is another wait. */
static void begin_wait(struct settling *s, bool goes_on, const struct lb_event *claim)
{
    if (goes_on && s->wait_class == claim->object)
        return;
    s->wait_ns = claim->time_ns;
    s->wait_class = claim->object;
}

/* An unknown outcome ends the wait of its process, unless an earlier one of the batch has done so
 * and this is the claim behind it. */
static void retire(struct settling *s, const struct lb_event *info)
{
    const bool is_new = !s->has_retired || s->retired != info->process;
    s->is_waiting = !is_new && (s->is_waiting || info->op == LB_OP_CLAIM);
    s->has_retired = true;
    s->retired = info->process;
}

/* Notes whether the worker waits after the unit, and the end of its session. */
static void follow(struct settling *s, struct unit *unit, const struct lb_event *e)
{
    const struct lb_event *last = &e[unit->n - 1];
    if (e->type == LB_EV_NOTE && e->op == LB_OP_SESSION_END && e->arg == unit->log)
        keep_answered(s);
    if (last->type == LB_EV_OK || last->type == LB_EV_FAIL)
        s->answered = (uint32_t)(s->units.n - 1);
    for (uint32_t i = 0; i < unit->n; i++) {
        const bool is_claim = e[i].op == LB_OP_CLAIM && e[i].type != LB_EV_NOTE;
        if (is_claim) {
            unit->claims = true;
            s->claimed = (uint32_t)(s->units.n - 1);
        }
        if (e[i].type == LB_EV_INFO) {
            retire(s, &e[i]);
        } else if (is_claim && e[i].type == LB_EV_INVOKE) {
            unit->goes_on = s->is_waiting;
            begin_wait(s, s->is_waiting, &e[i]);
        } else if (is_claim) {
            s->is_waiting = e[i].type == LB_EV_FAIL && e[i].answer != LB_EMPTY;
        }
    }
}

/* After follow(). */
static bool keeps(const struct settling *s, const struct unit *unit, const struct lb_event *e)
{
    const uint64_t bound = s->model->progress_bound_ns;
    const struct lb_event *last = &e[unit->n - 1];
    return unit->kind == OTHER || unit->first + unit->n > s->logs[unit->log].n ||
           last->time_ns >= s->until_ns ||
           (unit->claims && bound > 0 && last->time_ns - s->wait_ns > bound);
}

static void read_log(struct settling *s)
{
    const struct lb_settle_log *log = &s->logs[s->log];
    s->answered = LB_NONE;
    s->claimed = LB_NONE;
    s->is_waiting = s->has_retired = false;
    for (size_t i = 0; i < log->n_seen;) {
        const struct lb_event *e = &log->events[i], *end = end_of(e, log->events + log->n_seen);
        struct unit *unit = lb_array_push(&s->units, sizeof *unit);
        size_t n = end != NULL ? (size_t)(end - e) : log->n_seen - i;
        *unit = (struct unit){.log = s->log, .first = (uint32_t)i, .n = (uint32_t)n};
        unit->kind = (uint8_t)(end != NULL ? kind_of(e, unit->n) : OTHER);
        name_of_kind(s, unit, e);
        follow(s, unit, e);
        unit->keeps = unit->keeps || keeps(s, unit, e);
        i += n;
        s->seen_ns = e[n - 1].time_ns > s->seen_ns ? e[n - 1].time_ns : s->seen_ns;
    }
    keep_answered(s);
    if (s->is_waiting && s->claimed != LB_NONE)
        ((struct unit *)s->units.items)[s->claimed].keeps = true;
}

/* --- which items are settled --- */

static const struct lb_event *events_of(const struct settling *s, const struct unit *unit)
{
    return &s->logs[unit->log].events[unit->first];
}

/* The names of one id: one put, one claim and one end by its claimer, in this order. */
static bool is_plain(const struct settling *s, const struct lb_key *names, size_t n)
{
    const struct unit *units = s->units.items, *of[WHATS] = {NULL};
    for (size_t i = 0; i < n; i++)
        of[names[i].extra] = &units[names[i].index];
    const struct unit *put = of[IS_PUT], *claim = of[IS_CLAIMED], *end = of[IS_ENDED];
    if (n != 3 || put == NULL || claim == NULL || end == NULL)
        return false;
    return claim->log == end->log && claim->first < end->first &&
           events_of(s, claim)[claim->n - 1].time_ns >= events_of(s, put)->time_ns &&
           (put->log != claim->log || put->first < claim->first);
}

static size_t group_end(const struct settling *s, size_t first)
{
    const struct lb_key *names = s->names.items;
    size_t end = first + 1;
    while (end < s->names.n && names[end].key == names[first].key)
        end++;
    return end;
}

/* Claims of one wait are kept together. True if a further one is kept now. */
static bool join(struct unit *before, struct unit *unit)
{
    const bool is_any = before->keeps != unit->keeps;
    before->keeps = unit->keeps = before->keeps || unit->keeps;
    return is_any;
}

static bool join_waits(struct settling *s)
{
    struct unit *units = s->units.items, *before = NULL, *after = NULL;
    bool is_any = false;
    for (size_t i = 0; i < s->units.n; i++) {
        if (units[i].claims && units[i].goes_on)
            is_any = join(before, &units[i]) || is_any;
        before = units[i].claims ? &units[i] : before;
    }
    for (size_t i = s->units.n; i-- > 0;) {
        if (units[i].claims && after != NULL && after->goes_on)
            is_any = join(&units[i], after) || is_any;
        after = units[i].claims ? &units[i] : after;
    }
    return is_any;
}

/* An item with a kept operation keeps its other operations, and these keep their other items. True
 * if a further operation is kept now. */
static bool spread(struct settling *s)
{
    struct unit *units = s->units.items;
    struct lb_key *names = s->names.items;
    bool is_any = false;
    for (size_t i = 0, end = 0; i < s->names.n; i = end) {
        end = group_end(s, i);
        bool is_settled = (names[i].extra & IS_SETTLED) != 0;
        for (size_t k = i; k < end; k++)
            is_settled = is_settled && !units[names[k].index].keeps;
        for (size_t k = i; k < end && !is_settled; k++) {
            is_any = is_any || !units[names[k].index].keeps;
            units[names[k].index].keeps = true;
        }
        names[i].extra &= is_settled ? UINT32_MAX : IS_SETTLED - 1u;
    }
    return join_waits(s) || is_any;
}

/* True if the unit claimed the item, with a request after all that was dropped. */
static bool claims_again(const struct settling *s, const struct unit *unit, uint64_t id)
{
    const struct lb_event *e = events_of(s, unit);
    bool is_noted = false, is_claimed = false;
    for (uint32_t i = 0; i < unit->n; i++) {
        is_noted = is_noted || (e[i].op == LB_OP_ITEM && e[i].value == id);
        is_claimed = is_claimed || (is_noted && e[i].op == LB_OP_CLAIM && e[i].type == LB_EV_OK);
    }
    return is_claimed && e->time_ns > s->settled->until_ns;
}

/* Remembers dropped items that were certainly claimed again. A later drop would leave open whether
 * the claim came after it. */
static void find_again(struct settling *s, const struct lb_key *names, size_t n)
{
    enum { MOST = 64 }; /* more do not change the verdict */
    const struct unit *units = s->units.items;
    bool is_any = false;
    if (s->settled->again.n == MOST || !lb_settled_has(s->settled, names->key) ||
        lb_settled_is_again(s->settled, names->key))
        return;
    for (size_t i = 0; i < n; i++)
        is_any = is_any || claims_again(s, &units[names[i].index], names->key);
    if (!is_any)
        return;
    uint64_t *slot = lb_array_push(&s->settled->again, sizeof *slot);
    *slot = names->key;
}

static void choose(struct settling *s)
{
    enum { PASSES = 64 };
    struct lb_key *names = s->names.items;
    lb_sort(names, s->names.n);
    for (size_t i = 0, end = 0; i < s->names.n; i = end) {
        end = group_end(s, i);
        find_again(s, names + i, end - i);
        bool is_new = !lb_settled_has(s->settled, names[i].key);
        names[i].extra |= is_new && is_plain(s, names + i, end - i) ? (uint32_t)IS_SETTLED : 0;
    }
    for (int pass = 0; pass < PASSES; pass++)
        if (!spread(s))
            return;
    s->is_too_much = true; /* a chain of batches without end: all is kept */
}

/* From the request of an item's claim to the answer of its end. */
static uint64_t hold_of(const struct settling *s, const struct lb_key *names, size_t n)
{
    uint64_t from_ns = 0, until_ns = 0;
    for (size_t i = 0; i < n; i++) {
        const struct unit *unit = (const struct unit *)s->units.items + names[i].index;
        if ((names[i].extra & ~(uint32_t)IS_SETTLED) == IS_CLAIMED)
            from_ns = events_of(s, unit)->time_ns;
        if ((names[i].extra & ~(uint32_t)IS_SETTLED) == IS_ENDED)
            until_ns = events_of(s, unit)[unit->n - 1].time_ns;
    }
    return until_ns - from_ns;
}

static void remember(struct settling *s)
{
    const struct lb_key *names = s->names.items;
    struct lb_settled *settled = s->settled;
    for (size_t i = 0, end = 0; i < s->names.n; i = end) {
        end = group_end(s, i);
        if ((names[i].extra & IS_SETTLED) == 0)
            continue;
        const uint64_t hold_ns = hold_of(s, names + i, end - i);
        if (hold_ns > settled->longest_hold_ns)
            settled->longest_hold_ns = hold_ns;
        lb_settled_add(settled, names[i].key);
    }
    /* Half of the age: clocks differ, and times are rounded. */
    settled->has_taken =
        settled->has_taken ||
        (settled->least_age_ns > 0 && settled->longest_hold_ns >= settled->least_age_ns / 2);
}

/* --- dropping --- */

static void count(struct settling *s, const struct unit *unit)
{
    struct lb_settled *settled = s->settled;
    const struct lb_event *e = events_of(s, unit), *last = &e[unit->n - 1];
    const bool is_wait = unit->kind == CLAIM || unit->kind == EMPTY;
    const bool is_claim = is_wait || unit->kind == REFUSED;
    if (is_claim)
        begin_wait(s, unit->goes_on, e);
    const uint64_t wait_ns = last->time_ns - s->wait_ns;
    settled->n_events += unit->n;
    settled->n_put += unit->kind == PUT ? e->arg : 0;
    settled->n_ends += unit->kind == ENDS ? unit->n / 2 : 0;
    settled->n_claims += unit->kind == CLAIM ? unit->n - 2 : 0;
    settled->n_claim_answers += unit->kind == CLAIM;
    settled->n_empty += unit->kind == EMPTY;
    settled->n_refusals +=
        unit->kind == REFUSED && (last->answer == LB_BUSY || last->answer == LB_TIMEOUT);
    settled->n_waits += is_wait;
    settled->logs[unit->log].n_attempts += is_claim;
    settled->logs[unit->log].n_successes += unit->kind == CLAIM ? unit->n - 2 : 0;
    if (is_wait && wait_ns > settled->longest_wait_ns)
        settled->longest_wait_ns = wait_ns;
    if (last->time_ns > settled->until_ns)
        settled->until_ns = last->time_ns;
}

static void drop(struct settling *s)
{
    const struct unit *units = s->units.items;
    uint32_t log = LB_NONE;
    size_t n = 0;
    for (size_t i = 0; i < s->units.n; i++) {
        const struct unit *unit = &units[i];
        struct lb_settle_log *to = &s->logs[unit->log];
        n = unit->log == log ? n : 0;
        log = unit->log;
        size_t rest = unit->first < to->n ? to->n - unit->first : 0;
        size_t n_kept = rest < unit->n ? rest : unit->n;
        if (!unit->keeps)
            count(s, unit);
        else
            memmove(&to->events[n], &to->events[unit->first], n_kept * sizeof *to->events);
        n += unit->keeps ? n_kept : 0;
        if (i + 1 == s->units.n || units[i + 1].log != log)
            to->n = n;
    }
}

void lb_settle(struct lb_settled *settled, const struct lb_model *model, struct lb_settle_log *logs,
               size_t n_logs, uint64_t until_ns)
{
    struct settling s = {.settled = settled, .model = model, .logs = logs, .until_ns = until_ns};
    lb_array_extend(&settled->logs, &settled->n_logs, sizeof *settled->logs, n_logs);
    for (size_t i = 0; i < n_logs; i++) {
        s.log = (uint32_t)i;
        if (logs[i].n_seen >= LB_NONE)
            s.is_too_much = true;
        else
            read_log(&s);
    }
    if (!s.is_too_much)
        choose(&s);
    if (!s.is_too_much) {
        remember(&s);
        drop(&s);
        settled->seen_ns = s.seen_ns > settled->seen_ns ? s.seen_ns : settled->seen_ns;
    }
    free(s.units.items);
    free(s.names.items);
}
