/* The models of one item: claimed once at a time, ended by its claimer, done once; and of a group,
 * with one item claimed at a time. */
#include "queue_search.h"

/* state: 0 new; else kind, claim << 4, renewals << 12, those that its age counts from <<
 * AGED_SHIFT; by log, the number of the last beat of its worker's process, from BEATS_SHIFT on;
 * above USED_SHIFT the recoveries */
enum { AGED_SHIFT = 17, ITEM_BITS = 22, BEATS_SHIFT = 22, BEAT_BITS = 4 };

static uint32_t last_beat(uint64_t state, uint32_t log)
{
    return (uint32_t)(state >> (BEATS_SHIFT + log * BEAT_BITS)) & 15;
}

/* Is the claim in hand as old as the recovery's number says? */
static bool is_of_age(const struct brute_op *op, uint64_t state)
{
    return (state >> AGED_SHIFT & ANY_RENEWAL) == (op->b & 255) &&
           last_beat(state, claims[op->who - 1].log) == op->b >> 8;
}

static uint64_t state_after(const struct brute_op *op)
{
    int end = (int)(op->a & ~(uint64_t)LETS_GO);
    return end == LB_OP_FREE ? 0 : end == LB_OP_ERROR ? ERROR : COMPLETE;
}

/* Of an item that was reset, or cleared: it waits to be claimed, and need not be. */
enum { REOPENED = 15 };

static bool is_free(uint64_t kind)
{
    return kind == 0 || kind == REOPENED;
}

/* No end that certainly had an effect may find an item that another worker has. */
static bool asks_owners;

static bool is_others(const struct brute_op *op, uint64_t state)
{
    uint64_t kind = state & 15, who = state >> 4 & 255;
    return kind == ACTIVE && claims[who - 1].log != claims[op->who - 1].log;
}

static bool step_item(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t rest = *state >> ITEM_BITS << ITEM_BITS, now = *state ^ rest;
    uint64_t kind = now & 15, who = now >> 4 & 255;
    uint64_t recovery = op->kind == RECOVER ? UINT64_C(1) << USED_SHIFT << op->a : 0;
    bool is_old = op->kind == RECOVER && is_of_age(op, *state);
    switch (op->kind) {
    case CLAIM:
        *state = rest | ACTIVE | (uint64_t)op->who << 4;
        return is_free(kind);
    case KEEP:
        if (kind == ACTIVE && who == op->who)
            *state = rest | (now >> AGED_SHIFT << AGED_SHIFT) | ACTIVE | (uint64_t)op->who << 4 |
                     op->a << 12;
        return true;
    case RENEW: /* of an unclaimed item: its worker has it again */
        *state = rest | ACTIVE | (uint64_t)op->who << 4 | op->a << 12 | op->b << AGED_SHIFT;
        return is_free(kind) || (kind == ACTIVE && who == op->who);
    case EXPIRE:
        *state = rest;
        return kind == ACTIVE && who == op->who && (now >> 12 & ANY_RENEWAL) == op->a;
    case GONE:
        *state = rest;
        return kind == ACTIVE && who == op->who && (now >> 12 & ANY_RENEWAL) == op->b;
    case RECOVER:
        *state = rest | recovery;
        return kind == ACTIVE && who == op->who && is_old && (rest & recovery) == 0;
    case BEAT: /* of unknown outcome: as the first one */
        if (op->optional && last_beat(*state, op->who) != 0)
            return true;
        *state ^= (uint64_t)last_beat(*state, op->who) << (BEATS_SHIFT + op->who * BEAT_BITS);
        *state |= op->a << (BEATS_SHIFT + op->who * BEAT_BITS);
        return true;
    case END: /* given back, and not claimed since: it ends a free item */
    case CLOSE:
        if (asks_owners && op->kind == END && is_others(op, *state))
            return false;
        if ((kind == ACTIVE &&
             (who == op->who || op->who == 0)) || /* 0: a stranger, for any claim */
            (is_free(kind) && op->kind == END && state_after(op) != 0))
            *state = rest | state_after(op);
        return true;
    case CLEAR:
        *state = kind == ERROR ? rest | REOPENED : *state;
        return true;
    case RESET:
        *state = kind == COMPLETE ? rest | REOPENED : *state;
        return true;
    default:
        abort();
    }
}

/* An end of unknown outcome may have given its own claim back. If its own claim is over, it may
 * concern another's, like a stranger's end. */
static bool other_item(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t rest = *state >> ITEM_BITS << ITEM_BITS, kind = *state & 15, who = *state >> 4 & 255;
    if ((op->kind != END && op->kind != CLOSE) || op->who == 0 || kind != ACTIVE)
        return false;
    if (who == op->who) {
        *state = rest;
        return (op->a & LETS_GO) != 0;
    }
    *state = rest | state_after(op);
    return !asks_owners || op->kind != END || claims[who - 1].log == claims[op->who - 1].log;
}

bool is_close;

static bool is_item_legal(void)
{
    brute.step = step_item;
    brute.other = other_item;
    bool is_legal = brute_legal(&brute);
    brute.other = NULL;
    return is_legal;
}

bool legal_items(void)
{
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        translate_item(id);
        if (!is_item_legal())
            return false;
    }
    return true;
}

static bool is_in_hand_or_done(const struct brute *b, uint64_t state)
{
    (void)b;
    return (state & ((UINT64_C(1) << ITEM_BITS) - 1)) != 0;
}

bool is_given_back(uint64_t id)
{
    translate_item(id);
    if (!is_item_legal()) {
        is_close = true;
        return false;
    }
    brute.rest = is_in_hand_or_done;
    bool is_legal = is_item_legal();
    brute.rest = NULL;
    return !is_legal;
}

/* --- owners --- */

/* Keeps the operations that had begun by a time. Those that were answered before it, and the chosen
 * ones of those that were answered at it, certainly took effect. */
static void cut_at(uint64_t time, uint64_t chosen)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, n_then = 0; i < brute.n; i++) {
        struct brute_op op = brute.ops[i];
        bool is_then = op.high == time && !op.optional;
        bool is_chosen = is_then && (chosen >> n_then++ & 1) != 0;
        if (op.low > time)
            continue;
        if (op.high >= time && !is_chosen && !op.optional) {
            op.is_cut = op.optional = true;
            op.high = UINT64_MAX;
        }
        brute.ops[kept++] = op;
    }
    brute.n = kept;
}

static bool is_legal_at(uint64_t id, uint64_t time, uint64_t chosen, bool with_owners)
{
    translate_item(id);
    cut_at(time, chosen);
    asks_owners = with_owners;
    bool is_legal = is_item_legal();
    asks_owners = false;
    return is_legal;
}

/* The first time after another at which something was answered that certainly took effect;
 * UINT64_MAX: none. Stores how much. */
static uint64_t next_answer(uint64_t id, bool is_first, uint64_t after, uint32_t *ret_n)
{
    uint64_t time = UINT64_MAX;
    translate_item(id);
    *ret_n = 0;
    for (uint32_t i = 0; i < brute.n; i++)
        if (!brute.ops[i].optional && (is_first || brute.ops[i].high > after) &&
            brute.ops[i].high < time)
            time = brute.ops[i].high;
    for (uint32_t i = 0; i < brute.n && time != UINT64_MAX; i++)
        *ret_n += !brute.ops[i].optional && brute.ops[i].high == time;
    return time;
}

/* As long as an order has no item claimed twice, one of these has all effective ends by owners. At
 * the time from which all orders have one claimed twice, an observer may have seen less before:
 * that is close. */
static bool legal_owners_of(uint64_t id)
{
    uint32_t n;
    uint64_t time = next_answer(id, true, 0, &n);
    for (; time != UINT64_MAX; time = next_answer(id, false, time, &n)) {
        if (is_legal_at(id, time, UINT64_MAX, false)) {
            if (!is_legal_at(id, time, UINT64_MAX, true))
                return false;
            continue;
        }
        is_close = is_close || n > 8;
        for (uint64_t chosen = 0; chosen < UINT64_C(1) << n && !is_close; chosen++)
            is_close = is_legal_at(id, time, chosen, false) && !is_legal_at(id, time, chosen, true);
        return true;
    }
    return true;
}

bool legal_owners(void)
{
    is_close = false;
    for (uint64_t id = 1; id <= IDS + 1; id++)
        if (!legal_owners_of(id))
            return false;
    for (uint32_t log = 0; log < LOGS; log++) {
        bool out[IDS + 2] = {false}, is_unclear = false; /* it may have what it was not told of */
        for (size_t i = 0; i < history.n[log]; i++) {
            const struct lb_event *e = &history.events[log][i];
            bool closer = e->op == LB_OP_FREE || e->op == LB_OP_ERROR || e->op == LB_OP_COMPLETE;
            const struct lb_event *end = e->type == LB_EV_INVOKE ? end_of(log, i) : NULL;
            if (e->type == LB_EV_NOTE && e->op == LB_OP_ITEM)
                out[e->value] = true;
            is_unclear = is_unclear || (e->type == LB_EV_INFO && e->op == LB_OP_CLAIM);
            if (!closer || e->type != LB_EV_INVOKE || (end != NULL && end->type == LB_EV_FAIL))
                continue;
            if (end == NULL || end->type != LB_EV_OK || (end->flags & LB_EVF_EFFECTIVE) == 0)
                continue;
            if (!out[e->value] && !is_unclear)
                return false;
            out[e->value] = false;
        }
    }
    return true;
}

/* --- once: an execution ends by its own worker's end, and by a request for another execution;
 * state as in step_item, without renewals --- */

static bool step_once(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t kind = *state & 15, who = *state >> 4;
    switch (op->kind) {
    case CLAIM:
        *state = ACTIVE | (uint64_t)op->who << 4;
        return kind == 0;
    case END:
    case CLOSE:
        if (kind == ACTIVE && who == op->who)
            *state = state_after(op);
        return true;
    case CLEAR:
        *state = kind == ERROR ? 0 : *state;
        return true;
    case RESET:
        *state = kind == COMPLETE ? 0 : *state;
        return true;
    default: /* taking a claim from its worker does not undo the work */
        return true;
    }
}

bool legal_once(void)
{
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        translate_item(id);
        brute.step = step_once;
        if (!brute_legal(&brute))
            return false;
    }
    return true;
}

/* --- groups: state: the claim in hand, and its renewals << 8; above USED_SHIFT the recoveries that
 * took one --- */

static uint64_t claim_item[BRUTE_OPS];

static bool step_group(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t used = *state >> USED_SHIFT << USED_SHIFT, who = *state & 255;
    uint64_t renewed = (*state ^ used) >> 8;
    uint64_t recovery = op->kind == RECOVER ? UINT64_C(1) << USED_SHIFT << op->a : 0;
    switch (op->kind) {
    case CLAIM:
        *state = used | op->who;
        return who == 0;
    case KEEP:
        *state = who == op->who ? used | op->who | op->a << 8 : *state;
        return true;
    case RENEW:
        *state = used | op->who | op->a << 8;
        return who == 0 || who == op->who;
    case EXPIRE:
        *state = used;
        return who == op->who && renewed == op->a;
    case END:
    case CLOSE: /* who == 0: a stranger's, of the item b */
        if (who > 0 && (op->who > 0 ? who == op->who : claim_item[who - 1] == op->b))
            *state = used;
        return true;
    case GONE:
        *state = used;
        return who == op->who && renewed == op->b;
    case RECOVER:
        *state = used | recovery;
        return who == op->who && (used & recovery) == 0;
    default:
        return true;
    }
}

/* An end by a worker that had lost its item: of another's claim of it. */
static bool other_group(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t used = *state >> USED_SHIFT << USED_SHIFT, who = *state & 255;
    *state = used;
    return (op->kind == END || op->kind == CLOSE) && op->who > 0 && who > 0 && who != op->who &&
           claim_item[who - 1] == op->b;
}

/* The operations on all items whose number has a remainder. */
static void translate_some(uint64_t modulus, uint64_t remainder)
{
    brute.n = n_claims = 0;
    for (uint64_t id = 1; id <= IDS + 1; id++) {
        uint32_t first = brute.n;
        if (id % modulus != remainder)
            continue;
        translate_one(id);
        for (; first < brute.n; first++)
            brute.ops[first].b = id;
        for (uint32_t i = first_claim; i < n_claims; i++)
            claim_item[i] = id;
    }
    translate_recoveries();
}

bool legal_groups(void)
{
    for (uint64_t group = 0; group < GROUPS; group++) {
        translate_some(GROUPS, group);
        brute.step = step_group;
        brute.other = other_group;
        bool is_legal = brute_legal(&brute);
        brute.other = NULL;
        if (!is_legal)
            return false;
    }
    return true;
}

/* --- keys, two items of which may be in hand: state: two claims in hand, each with its renewals
 * << 8, the larger one first; above USED_SHIFT the recoveries that took one --- */

enum { PLACE = 16 };

static uint64_t with_places(uint64_t used, uint64_t one, uint64_t other)
{
    return used | (one > other ? one | other << PLACE : other | one << PLACE);
}

static bool step_key(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t used = *state >> USED_SHIFT << USED_SHIFT;
    uint64_t place[2] = {*state & 0xffff, *state >> PLACE & 0xffff};
    uint64_t recovery = op->kind == RECOVER ? UINT64_C(1) << USED_SHIFT << op->a : 0;
    int mine = (place[1] & 255) == op->who && op->who > 0 ? 1 : 0, free = place[0] == 0 ? 0 : 1;
    bool is_mine = op->who > 0 && (place[mine] & 255) == op->who, is_free = place[free] == 0;
    uint64_t renewed = place[mine] >> 8;
    switch (op->kind) {
    case CLAIM:
        if (!is_free)
            return false;
        place[free] = op->who;
        break;
    case KEEP:
        place[mine] = is_mine ? op->who | op->a << 8 : place[mine];
        break;
    case RENEW:
        if (!is_mine && !is_free)
            return false;
        place[is_mine ? mine : free] = op->who | op->a << 8;
        break;
    case EXPIRE:
        if (!is_mine || renewed != op->a)
            return false;
        place[mine] = 0;
        break;
    case END:
    case CLOSE:
        for (int i = 0; i < 2; i++) /* of a stranger's end the other choice: other_key */
            if (place[i] > 0 && (op->who > 0 ? (place[i] & 255) == op->who
                                             : claim_item[(place[i] & 255) - 1] == op->b)) {
                place[i] = 0;
                break;
            }
        break;
    case GONE:
        if (!is_mine || renewed != op->b)
            return false;
        place[mine] = 0;
        break;
    case RECOVER:
        if (!is_mine || (used & recovery) != 0)
            return false;
        place[mine] = 0;
        used |= recovery;
        break;
    default:
        return true;
    }
    *state = with_places(used, place[0], place[1]);
    return true;
}

/* An end by a worker that had lost its item: of another's claim of it. */
static bool other_key(const struct brute *b, const struct brute_op *op, uint64_t *state)
{
    (void)b;
    uint64_t used = *state >> USED_SHIFT << USED_SHIFT;
    uint64_t place[2] = {*state & 0xffff, *state >> PLACE & 0xffff};
    if (op->kind != END && op->kind != CLOSE)
        return false;
    for (int i = 0; i < 2; i++)
        if (op->who > 0 && (place[i] & 255) == op->who)
            return false;
    for (int i = 1; i >= 0; i--) {
        uint64_t who = place[i] & 255;
        if (who > 0 && who != op->who && claim_item[who - 1] == op->b) {
            place[i] = 0;
            *state = with_places(used, place[0], place[1]);
            return true;
        }
    }
    return false;
}

bool legal_keys(void)
{
    for (uint64_t key = 0; key < KEYS; key++) {
        translate_some(KEYS, key);
        brute.step = step_key;
        brute.other = other_key;
        bool is_legal = brute_legal(&brute);
        brute.other = NULL;
        if (!is_legal)
            return false;
    }
    return true;
}
