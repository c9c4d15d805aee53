/* Every built-in strategy, on every engine that it has statements for, with each choice of each of
 * its options: the answers to two or three participants, step by step in one thread.
 *
 * Nothing here is about races; it is about the protocol's plain meaning: granted, busy, released,
 * granted to the next; claimed once, finished by its owner, refused in the wrong state and left as
 * it was. Broken controls behave, too, as long as no operations overlap.
 */
#include "strategies_bench.h"

/* --- locks --- */

static int ask(struct bench *b, int who, uint32_t resource, bool shared)
{
    const struct lb_flow *flow = b->strategy->flow;
    struct lb_request request = {
        .resource = resource, .shared = shared, .capacity = capacities[resource]};
    int r = flow->lock(&b->actors[who], LB_S_ENQUEUE, &request, &b->grants[who], &b->err);
    CHECK(b, r == LB_OK);
    r = flow->lock(&b->actors[who], LB_S_ACQUIRE, &request, &b->grants[who], &b->err);
    CHECK(b, r >= 0);
    return r;
}

static int ask_again(struct bench *b, int who, uint32_t resource, bool shared)
{
    struct lb_request request = {
        .resource = resource, .shared = shared, .capacity = capacities[resource]};
    int r =
        b->strategy->flow->lock(&b->actors[who], LB_S_ACQUIRE, &request, &b->grants[who], &b->err);
    CHECK(b, r >= 0);
    return r;
}

static int give_back(struct bench *b, int who)
{
    struct lb_request request = {0};
    int r =
        b->strategy->flow->lock(&b->actors[who], LB_S_RELEASE, &request, &b->grants[who], &b->err);
    CHECK(b, r >= 0);
    CHECK(b, b->grants[who].effective == (r == LB_OK));
    return r;
}

static void give_up(struct bench *b, int who)
{
    struct lb_request request = {0};
    int r =
        b->strategy->flow->lock(&b->actors[who], LB_S_CANCEL, &request, &b->grants[who], &b->err);
    CHECK(b, r == LB_OK || r == LB_REFUSED);
}

/* True if it promises something that a published form gets wrong even without overlaps.
 */
static bool promises(const struct bench *b, enum lb_guarantee guarantee)
{
    for (const struct lb_break *k = b->strategy->breaks; k != NULL && k->why != NULL; k++)
        if (k->guarantee == (unsigned)guarantee)
            return false;
    return (b->strategy->claims & LB_G_BIT(guarantee)) != 0;
}

/* An article's own statements, which promise less than the repaired form. */
static bool is_published(const struct bench *b)
{
    return strstr(b->title, "form=published") != NULL || strstr(b->title, "form=parted") != NULL;
}

/* A claimed item is gone from the queue. */
static bool is_at_most_once(const struct bench *b)
{
    return (b->strategy->claims & LB_G_BIT(LB_G_ONCE)) != 0;
}

static bool checks_owner(const struct bench *b)
{
    return promises(b, LB_G_OWNER_RELEASE) && !is_published(b);
}

static void check_exclusion(struct bench *b)
{
    bool has_line = lb_strategy_has(&b->plan, LB_S_ENQUEUE);
    CHECK(b, ask(b, 0, 0, false) == LB_OK);
    int64_t token = b->grants[0].token;
    CHECK(b, ask(b, 1, 0, false) != LB_OK);
    bool is_one_line = strcmp(b->strategy->name, "table-lock") == 0 || is_published(b);
    if (!is_one_line) { /* the other resource is free */
        CHECK(b, ask(b, 2, 1, false) == LB_OK);
        CHECK(b, give_back(b, 2) == LB_OK);
    }
    if (checks_owner(b) && !has_line) { /* a place in line is its owner's to give back */
        b->grants[1].token = token - 1;
        CHECK(b, give_back(b, 1) == LB_REFUSED);
        CHECK(b, ask_again(b, 1, 0, false) != LB_OK);
    }
    if (lb_strategy_has(&b->plan, LB_S_RENEW)) {
        struct lb_request request = {.capacity = 1};
        CHECK(b, b->strategy->flow->lock(&b->actors[0], LB_S_RENEW, &request, &b->grants[0],
                                         &b->err) == LB_OK);
    }
    CHECK(b, give_back(b, 0) == LB_OK);
    CHECK(b, ask_again(b, 1, 0, false) == LB_OK);
    if (promises(b, LB_G_FENCED)) {
        CHECK(b, b->grants[1].has_token);
        CHECK(b, b->grants[1].token > token);
    }
    if (checks_owner(b)) {
        CHECK(b, give_back(b, 0) == LB_REFUSED); /* not ours any more */
        CHECK(b, ask(b, 2, 0, false) != LB_OK);
        give_up(b, 2);
    }
    CHECK(b, give_back(b, 1) == LB_OK);
    CHECK(b, ask(b, 0, 0, false) == LB_OK);
    CHECK(b, give_back(b, 0) == LB_OK);
}

static void check_sharing(struct bench *b)
{
    CHECK(b, ask(b, 0, 0, true) == LB_OK);
    CHECK(b, ask(b, 1, 0, true) == LB_OK);
    CHECK(b, ask(b, 2, 0, false) != LB_OK);
    CHECK(b, give_back(b, 0) == LB_OK);
    CHECK(b, ask_again(b, 2, 0, false) != LB_OK);
    CHECK(b, give_back(b, 1) == LB_OK);
    CHECK(b, ask_again(b, 2, 0, false) == LB_OK);
    CHECK(b, ask(b, 0, 0, true) != LB_OK);
    CHECK(b, give_back(b, 2) == LB_OK);
    CHECK(b, ask_again(b, 0, 0, true) == LB_OK);
    CHECK(b, give_back(b, 0) == LB_OK);
}

static void check_capacity(struct bench *b)
{
    CHECK(b, ask(b, 0, 1, false) == LB_OK);
    CHECK(b, ask(b, 1, 1, false) == LB_OK);
    CHECK(b, ask(b, 2, 1, false) != LB_OK);
    CHECK(b, give_back(b, 0) == LB_OK);
    CHECK(b, ask_again(b, 2, 1, false) == LB_OK);
    CHECK(b, give_back(b, 1) == LB_OK);
    CHECK(b, give_back(b, 2) == LB_OK);
}

static void check_lock(struct bench *b)
{
    if (strstr(b->title, "times=second") != NULL)
        return; /* due half a second later, where it is rounded up */
    check_exclusion(b);
    if (is_published(b))
        return; /* one line, exclusive */
    if (b->strategy->is_shared_capable && strcmp(b->f->db->name, "mariadb") != 0)
        check_sharing(b);
    if (b->strategy->is_capacity_capable)
        check_capacity(b);
}

static void locks_are_granted_and_given_back(void **state)
{
    static const struct lb_setting now = {"first_run", "now"};
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        if (s->shape == LB_LOCK && !s->no_database)
            with_each_choice(*state, s, strcmp(s->name, "lease-update") == 0 ? &now : NULL,
                             check_lock);
    }
}

static void check_never(struct bench *b)
{
    for (int i = 0; i < 10; i++)
        CHECK(b, ask(b, 0, 0, false) == LB_BUSY);
}

/* The job that never runs: next_run starts as NULL. */
static void the_published_lease_is_never_granted(void **state)
{
    with_settings(*state, lb_strategy_find("lease-update"), NULL, 0, check_never);
}

static void check_unowned(struct bench *b)
{
    b->plan.ttl_ms = 0; /* every run has overrun at once */
    CHECK(b, ask(b, 0, 0, false) == LB_OK);
    pause_ms(5);
    CHECK(b, ask(b, 1, 0, false) == LB_OK); /* takes over */
    b->plan.ttl_ms = 600000;
    CHECK(b, ask(b, 2, 0, false) == LB_BUSY);
    CHECK(b, give_back(b, 0) == LB_OK);     /* ends the successor's run, */
    CHECK(b, ask(b, 2, 0, false) == LB_OK); /* and lets a third in */
}

static void the_published_lease_is_released_by_anybody(void **state)
{
    static const struct lb_setting now = {"first_run", "now"};
    with_settings(*state, lb_strategy_find("lease-update"), &now, 1, check_unowned);
}

/* A lease that ran out is taken over; its holder's later operations are refused. */
static void check_takeover(struct bench *b)
{
    struct lb_request request = {.capacity = 1};
    const uint64_t lease_ns = 500000000;
    b->plan.ttl_ms = 500;
    uint64_t asked_ns = lb_now_ns();
    CHECK(b, ask(b, 0, 0, false) == LB_OK);
    int r = ask(b, 1, 0, false);
    CHECK(b, r != LB_OK || lb_now_ns() - asked_ns >= lease_ns); /* unless this took so long */
    if (r != LB_OK)
        pause_ms(550);
    for (int i = 0; r != LB_OK && i < PATIENCE_MS / 100; i++) {
        asked_ns = lb_now_ns();
        r = ask_again(b, 1, 0, false);
        if (r != LB_OK) /* without a clock it takes a second look */
            pause_ms(100);
    }
    CHECK(b, r == LB_OK);
    CHECK(b, b->grants[1].token > b->grants[0].token);
    if (lb_strategy_has(&b->plan, LB_S_RENEW))
        CHECK(b, b->strategy->flow->lock(&b->actors[0], LB_S_RENEW, &request, &b->grants[0],
                                         &b->err) == LB_REFUSED);
    CHECK(b, give_back(b, 0) == LB_REFUSED);
    r = give_back(b, 1);
    CHECK(b, r == LB_OK || lb_now_ns() - asked_ns >= lease_ns);
}

static void leases_end_by_themselves(void **state)
{
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        if (s->shape == LB_LOCK && s->is_lease && !s->is_control &&
            (s->claims & LB_G_BIT(LB_G_FENCED)) != 0)
            with_settings(*state, s, NULL, 0, check_takeover);
    }
}

/* Two participants with one id: the release of one ends the other's request as well. */
static void check_duplicate_ids(struct bench *b)
{
    strcpy(b->actors[1].name, b->actors[0].name);
    CHECK(b, ask(b, 0, 0, false) == LB_OK);
    CHECK(b, ask(b, 1, 0, false) == LB_OK); /* both take the first one's place */
}

static void one_id_for_two_breaks_the_control_table(void **state)
{
    with_settings(*state, lb_strategy_find("fifo-poll"), NULL, 0, check_duplicate_ids);
}

static void check_stale(struct bench *b)
{
    uint64_t asked_ns = lb_now_ns();
    CHECK(b, ask(b, 0, 0, false) == LB_OK);
    bool is_refused = ask(b, 1, 0, false) != LB_OK;
    CHECK(b, is_refused || lb_now_ns() - asked_ns >= UINT64_C(500000000));
    if (!is_refused) /* this took so long that it is stale by now */
        return;
    pause_ms(700);
    int r = ask_again(b, 1, 0, false); /* the poll deletes what is older than 500 ms */
    CHECK(b, r == LB_OK);
}

static void stale_requests_are_deleted_by_a_poll(void **state)
{
    static const struct lb_setting stale = {"stale_ms", "500"};
    with_settings(*state, lb_strategy_find("fifo-poll"), &stale, 1, check_stale);
    with_settings(*state, lb_strategy_find("fifo-poll-safe"), &stale, 1, check_stale);
}

/* --- queues --- */

static void put(struct bench *b, int64_t first, uint32_t n, const char *task_class)
{
    b->actors[2].task_class = task_class;
    int r = b->strategy->flow->put(&b->actors[2], first, n, "some payload", &b->err);
    CHECK(b, r == LB_OK);
    b->actors[2].task_class = NULL;
}

/* Claims one item; its number, or 0 when there is none. */
static int64_t claim(struct bench *b, int who, struct lb_item *item)
{
    uint32_t n = 0;
    int64_t marked = 0;
    int r = b->strategy->flow->claim(&b->actors[who], 1, item, 1, &n, &marked, &b->err);
    CHECK(b, r >= 0);
    if (r == LB_EMPTY)
        return 0;
    if (r != LB_OK)
        fail_msg("%s: claim: %s %s", b->title, lb_answer_name(r), b->sessions[who].message);
    CHECK(b, n == 1 && marked == 1);
    return item->id;
}

/* An item that is given back would use an attempt, where these are limited. */
static bool can_free(const struct bench *b)
{
    return b->program->attempts == 0;
}

static int op(struct bench *b, enum lb_section_name section, int who, const struct lb_item *item)
{
    static struct lb_item copy; /* the try must not change the held item */
    copy.id = item->id;
    copy.token = item->token;
    copy.has_token = item->has_token;
    lb_bag_copy(&copy.bag, &item->bag);
    int r = b->strategy->flow->item(&b->actors[who], section, &copy, &b->err);
    CHECK(b, r >= 0);
    return r;
}

static void check_owned(struct bench *b, const struct lb_item *item)
{
    bool is_held = b->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD;
    if (!checks_owner(b))
        return;
    /* Another worker, and the owner with an older claim's token. */
    CHECK(b, op(b, LB_S_COMPLETE, 1, item) == LB_REFUSED);
    CHECK(b, op(b, LB_S_ERROR, 1, item) == LB_REFUSED);
    if (can_free(b))
        CHECK(b, op(b, LB_S_FREE, 1, item) == LB_REFUSED);
    if (is_held)
        return;
    CHECK(b, op(b, LB_S_CLEAR_ERROR, 1, item) == LB_REFUSED);
    if (item->has_token) {
        static struct lb_item old;
        old.id = item->id;
        lb_bag_copy(&old.bag, &item->bag);
        old.bag.value[LB_SLOT_TOKEN] = lb_int(item->token - 1);
        CHECK(b, op(b, LB_S_COMPLETE, 0, &old) == LB_REFUSED);
    }
}

static void check_states(struct bench *b)
{
    static struct lb_item item, again;
    const struct lb_flow *flow = b->strategy->flow;
    /* Active: its owner's alone; then complete, and nothing more can be done with it. */
    CHECK(b, claim(b, 0, &item) == 1);
    check_owned(b, &item);
    CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_OK);
    CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_REFUSED);
    CHECK(b, op(b, LB_S_ERROR, 0, &item) == LB_REFUSED);
    CHECK(b, op(b, LB_S_CLEAR_ERROR, 0, &item) == LB_REFUSED);
    CHECK(b, claim(b, 1, &again) == 0);
    put(b, 2, 1, NULL);
    if (can_free(b)) {
        /* Free: New again, and no longer the old owner's. */
        CHECK(b, op(b, LB_S_FREE, 0, &item) == LB_REFUSED);
        CHECK(b, claim(b, 0, &item) == 2);
        CHECK(b, op(b, LB_S_FREE, 0, &item) == LB_OK);
        CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_REFUSED);
        CHECK(b, op(b, LB_S_FREE, 0, &item) == LB_REFUSED);
    }
    CHECK(b, claim(b, 1, &again) == 2);
    if (checks_owner(b) && can_free(b))
        CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_REFUSED);
    /* Errored: not claimed until the error is cleared. */
    CHECK(b, op(b, LB_S_ERROR, 1, &again) == LB_OK);
    CHECK(b, op(b, LB_S_COMPLETE, 1, &again) == LB_REFUSED);
    CHECK(b, claim(b, 0, &item) == 0);
    CHECK(b, op(b, LB_S_CLEAR_ERROR, 0, &again) == LB_OK);
    CHECK(b, op(b, LB_S_CLEAR_ERROR, 0, &again) == LB_REFUSED);
    CHECK(b, claim(b, 0, &item) == 2);
    CHECK(b, op(b, LB_S_ERROR, 0, &item) == LB_OK);
    CHECK(b, flow->class(&b->actors[0], LB_S_CLEAR_ALL_ERRORS, &b->err) == LB_OK);
    CHECK(b, claim(b, 0, &item) == 2);
    CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_OK);
    CHECK(b, claim(b, 0, &item) == 0);
    if (lb_strategy_has(&b->plan, LB_S_RESET_ALL)) {
        CHECK(b, flow->class(&b->actors[0], LB_S_RESET_ALL, &b->err) == LB_OK);
        int64_t first = claim(b, 0, &item);
        CHECK(b, first == 1 || (b->any_order && first == 2));
        CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_OK);
        CHECK(b, claim(b, 1, &item) == 3 - first);
        CHECK(b, op(b, LB_S_COMPLETE, 1, &item) == LB_OK);
    }
}

/* A dead claimer's item: given back by recover, and then not its own any more. */
static void check_recover(struct bench *b)
{
    static struct lb_item item, again;
    const struct lb_flow *flow = b->strategy->flow;
    if (b->program->sections[LB_S_CLAIM].tx == LB_TX_HOLD ||
        !lb_strategy_has(&b->plan, LB_S_RECOVER) || b->program->attempts > 0) /* dead letters */
        return;
    put(b, 20, 1, NULL);
    CHECK(b, claim(b, 0, &item) == 20);
    pause_ms(20);
    b->plan.ttl_ms = 0; /* a claim of 20 ms ago is a dead worker's */
    CHECK(b, flow->class(&b->actors[1], LB_S_RECOVER, &b->err) == LB_OK);
    b->plan.ttl_ms = 600000;
    int64_t id = 0;
    for (int k = 0; k < PATIENCE_MS / 20 && id == 0;
         k++) { /* a session that was ended takes a moment to go */
        pause_ms(k > 0 ? 20 : 0);
        id = claim(b, 1, &again);
    }
    CHECK(b, id == 20);
    if (checks_owner(b))
        CHECK(b, op(b, LB_S_COMPLETE, 0, &item) != LB_OK); /* refused, or its session was ended */
    CHECK(b, op(b, LB_S_COMPLETE, 1, &again) == LB_OK);
    CHECK(b, lb_session_reconnect(&b->sessions[0], &b->err) == 0);
}

/* A batch: every item once, no more than asked for, and only of the class. */
static void check_batch(struct bench *b)
{
    static struct lb_item items[8];
    const struct lb_flow *flow = b->strategy->flow;
    unsigned seen = 0;
    put(b, 100, 10, NULL);
    put(b, 110, 2, "other");
    for (int round = 0; round < 12 && seen != 0x3ff; round++) {
        uint32_t n = 0;
        int64_t marked = 0;
        int r = flow->claim(&b->actors[0], 4, items, 8, &n, &marked, &b->err);
        CHECK(b, r == LB_OK);
        CHECK(b, n >= 1 && n <= 4 && marked == (int64_t)n);
        for (uint32_t i = 0; i < n; i++) {
            CHECK(b, items[i].id >= 100 && items[i].id < 110);
            CHECK(b, (seen & 1u << (items[i].id - 100)) == 0);
            seen |= 1u << (items[i].id - 100);
        }
        for (uint32_t i = 0; i < n; i++)
            CHECK(b, op(b, LB_S_COMPLETE, 0, &items[i]) == LB_OK);
    }
    CHECK(b, seen == 0x3ff);
    CHECK(b, claim(b, 0, &items[0]) == 0);
    b->actors[1].task_class = "other";
    int64_t other = claim(b, 1, &items[0]);
    CHECK(b, other == 110 || (b->any_order && other == 111));
    CHECK(b, op(b, LB_S_COMPLETE, 1, &items[0]) == LB_OK);
    b->actors[1].task_class = NULL;
}

/* LIMIT 1 in an IN sub-select that the planner runs once per row: one session marks them all. */
static void check_overclaim(struct bench *b)
{
    static struct lb_item items[4];
    uint32_t n = 0;
    int64_t marked = 0;
    put(b, 1, 101, NULL);
    int r = b->strategy->flow->claim(&b->actors[0], 1, items, 4, &n, &marked, &b->err);
    CHECK(b, r == LB_OK);
    CHECK(b, n == 101 && marked == 101);
}

static void an_in_sub_select_claims_too_much(void **state)
{
    static const struct lb_setting in = {"form", "in"};
    with_settings(*state, lb_strategy_find("skip-locked"), &in, 1, check_overclaim);
}

/* The claim leaves nothing behind: no states, and nothing to end. */
static void check_deleted(struct bench *b)
{
    static struct lb_item item, again;
    CHECK(b, claim(b, 0, &item) == 1);
    CHECK(b, claim(b, 1, &again) == 0);
    CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_OK);
    CHECK(b, claim(b, 1, &again) == 0);
}

static void check_queue(struct bench *b)
{
    static struct lb_item item;
    if (strcmp(b->f->db->name, "postgres") == 0 && strstr(b->title, "form=in") != NULL)
        return; /* above */
    if (strcmp(b->strategy->name, "merge-table-lock") == 0 && is_published(b))
        return; /* below: it has no states */
    CHECK(b, claim(b, 0, &item) == 0);
    put(b, 1, 1, NULL);
    if (is_at_most_once(b)) {
        check_deleted(b);
    } else {
        check_states(b);
        check_recover(b);
    }
    check_batch(b);
}

static void queues_move_items_from_state_to_state(void **state)
{
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        if (s->shape == LB_QUEUE && !s->no_database)
            with_each_choice(*state, s, NULL, check_queue);
    }
}

/* One group at a time: its second item waits for the first one's completion. */
static void check_groups(struct bench *b)
{
    static struct lb_item first, second;
    put(b, 8, 1, NULL);
    put(b, 16, 1, NULL); /* 8 groups: both are of group 0 */
    CHECK(b, claim(b, 0, &first) == 8);
    CHECK(b, claim(b, 1, &second) == 0);
    CHECK(b, op(b, LB_S_COMPLETE, 0, &first) == LB_OK);
    CHECK(b, claim(b, 1, &second) == 16);
    CHECK(b, op(b, LB_S_COMPLETE, 1, &second) == LB_OK);
}

static void *put_later(void *arg)
{
    struct bench *b = arg;
    struct lb_error err;
    pause_ms(100);
    b->strategy->flow->put(&b->actors[2], 1, 1, "ring", &err);
    return NULL;
}

/* A consumer that sleeps for ten minutes is woken by the put. */
static void check_bell(struct bench *b)
{
    static struct lb_item item;
    pthread_t thread;
    CHECK(b, pthread_create(&thread, NULL, put_later, b) == 0);
    int64_t id = claim(b, 0, &item);
    pthread_join(thread, NULL);
    CHECK(b, id == 1);
}

static void groups_go_to_one_and_sleepers_are_woken(void **state)
{
    static const struct lb_setting minutes = {"wait_ms", "600000"}, none = {"wait_ms", "0"};
    with_settings(*state, lb_strategy_find("listen-notify"), &none, 1, check_groups);
    with_settings(*state, lb_strategy_find("listen-notify"), &minutes, 1, check_bell);
}

/* All of the ten procedures, whatever the options' defaults are. A file of the user's may retry,
 * too. */
static void check_procedures(struct bench *b)
{
    if (is_at_most_once(b))
        return;
    for (int i = LB_S_PUT; i <= LB_S_RESET_ALL; i++)
        if (i != LB_S_RETRY && (i != LB_S_FREE || can_free(b)) &&
            !lb_strategy_has(&b->plan, (enum lb_section_name)i))
            fail_msg("%s: has no %s", b->title, lb_section_text((enum lb_section_name)i));
    CHECK(b, lb_strategy_has(&b->plan, LB_S_TEARDOWN));
    /* A hold in a transaction ends with its session. */
    if (b->program->sections[LB_S_CLAIM].tx != LB_TX_HOLD)
        CHECK(b, lb_strategy_has(&b->plan, LB_S_RECOVER));
}

static void queues_have_all_procedures(void **state)
{
    static const struct lb_setting keep = {"done", "keep"};
    for (size_t i = 0; lb_strategies[i] != NULL; i++) {
        const struct lb_strategy *s = lb_strategies[i];
        bool has_done = false;
        for (const struct lb_option *o = s->options; o != NULL && o->name != NULL; o++)
            has_done = has_done || strcmp(o->name, "done") == 0;
        if (s->shape == LB_QUEUE && !s->no_database)
            with_settings(*state, s, &keep, has_done ? 1 : 0, check_procedures);
    }
}

static void check_unowned_item(struct bench *b)
{
    static struct lb_item item;
    put(b, 1, 1, NULL);
    CHECK(b, claim(b, 0, &item) == 1);
    CHECK(b, op(b, LB_S_COMPLETE, 1, &item) == LB_OK); /* the owner is not checked */
    CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_REFUSED);
}

static void a_published_task_is_completed_by_anybody(void **state)
{
    static const struct lb_setting published = {"form", "published"};
    with_settings(*state, lb_strategy_find("nowait"), &published, 1, check_unowned_item);
}

static void check_taken_away(struct bench *b)
{
    static struct lb_item item, other;
    const struct lb_flow *flow = b->strategy->flow;
    put(b, 1, 1, NULL);
    CHECK(b, claim(b, 0, &item) == 1);
    uint32_t n = 0;
    int64_t marked = 0;
    /* Brings nothing, and deletes what the first one has. */
    CHECK(b, flow->claim(&b->actors[1], 1, &other, 1, &n, &marked, &b->err) == LB_BUSY);
    CHECK(b, op(b, LB_S_ERROR, 0, &item) == LB_REFUSED);
    CHECK(b, op(b, LB_S_FREE, 0, &item) == LB_REFUSED);
    CHECK(b, op(b, LB_S_COMPLETE, 0, &item) == LB_REFUSED);
}

static void a_published_poll_takes_an_item_away(void **state)
{
    static const struct lb_setting published = {"form", "published"};
    with_settings(*state, lb_strategy_find("merge-table-lock"), &published, 1, check_taken_away);
}

int main(void)
{
    static const struct engine_test tests[] = {
        {"locks are granted and given back", locks_are_granted_and_given_back, NULL},
        {"the published lease is never granted", the_published_lease_is_never_granted, NULL},
        {"any worker releases the published lease", the_published_lease_is_released_by_anybody,
         NULL},
        {"leases end by themselves", leases_end_by_themselves, NULL},
        {"one id for two breaks the control table", one_id_for_two_breaks_the_control_table, NULL},
        {"stale requests are deleted by a poll", stale_requests_are_deleted_by_a_poll, NULL},
        {"queues move items from state to state", queues_move_items_from_state_to_state, NULL},
        {"an IN sub-select claims too much", an_in_sub_select_claims_too_much, "postgres"},
        {"groups go to one and sleepers are woken", groups_go_to_one_and_sleepers_are_woken,
         "postgres"},
        {"any worker completes a published task", a_published_task_is_completed_by_anybody, NULL},
        {"a published poll takes an item away", a_published_poll_takes_an_item_away, NULL},
        {"queues have all procedures", queues_have_all_procedures, NULL},
        {NULL, NULL, NULL},
    };
    return run_for_each_engine(tests);
}
