/* SKIP LOCKED with a bell: consumers that found nothing sleep until something was put.
 *
 * put sends a NOTIFY with its items, consumers LISTEN, and one that finds the queue empty waits for
 * the bell (at most wait_ms) and looks once more, instead of polling. A wake-up is a hint and no
 * claim: all who wait are woken, one gets the item.
 *
 * Items belong to groups (an item's number modulo `groups`), and the items of one group go to one
 * consumer at a time, in order: a claim first takes the group's row, which its last completion
 * gives back. That is what Service Broker's conversation groups do.
 *
 * With recurring=yes a complete item is due again after the scenario's period. Nothing rings for
 * it: a consumer finds it when it looks the next time.
 *
 * Limits: PostgreSQL serialises the commits of transactions that notify, which shows in put; and
 * LISTEN needs a session of its own, not one of a transaction pooler's.
 *
 * Source: answer on checking out records, SQL Server: Service Broker; PostgreSQL manual, NOTIFY.
 */
#include "ordinary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The channel is per run: names of channels are shared by the whole database. */
static int open_actor(struct lb_actor *actor, struct lb_error *err)
{
    char sql[64];
    int r = lb_ordinary_open(actor, err);
    if (r != LB_OK)
        return r;
    if (actor->session->conn == NULL)
        return LB_LOST;
    snprintf(sql, sizeof sql, "LISTEN lockbench_%d", (int)actor->plan->space_no);
    return actor->session->db->run(actor->session->conn, sql, err);
}

static uint32_t wait_ms(const struct lb_actor *actor)
{
    const struct lb_program *program = actor->plan->program;
    const char *text = lb_setting_of(program->settings, program->n_settings, "wait_ms", "0");
    return (uint32_t)strtoul(text, NULL, 10);
}

/* Under step control no worker sleeps: the scheduler decides which worker polls again, and when. */
static bool may_wait(const struct lb_session *session)
{
    return session->gate == NULL && session->conn != NULL && !session->in_tx &&
           session->db->wait_notified != NULL;
}

static int claim(struct lb_actor *actor, uint32_t n, struct lb_item *items, uint32_t max,
                 uint32_t *ret_n, int64_t *ret_marked, struct lb_error *err)
{
    struct lb_session *session = actor->session;
    int r = lb_ordinary_claim(actor, n, items, max, ret_n, ret_marked, err);
    if (r != LB_EMPTY || !may_wait(session))
        return r;
    int woken = session->db->wait_notified(session->conn, wait_ms(actor), err);
    if (woken != LB_OK && woken != LB_LOST)
        return woken == LB_TIMEOUT ? LB_EMPTY : woken;
    /* A connection that was lost meanwhile is found out, and counted, by the statement. */
    return lb_ordinary_claim(actor, n, items, max, ret_n, ret_marked, err);
}

static const struct lb_flow flow = {
    .setup = lb_ordinary_setup,
    .open = open_actor,
    .put = lb_ordinary_put,
    .claim = claim,
    .item = lb_ordinary_item,
    .class = lb_ordinary_class,
    .close = lb_ordinary_close,
    .teardown = lb_ordinary_teardown,
};

const struct lb_strategy lb_strategy_listen_notify = {
    .name = "listen-notify",
    .summary = "SKIP LOCKED by group, consumers woken by NOTIFY",
    .origin = "\"checking out\" records, SQL Server: Service Broker; PostgreSQL NOTIFY",
    .changed = LB_TEXTS("Service Broker's queue is a table here, its conversation "
                        "groups are rows that a claim takes first, and its wake-up is NOTIFY",
                        "messages of one group are ordered by the group's lock alone; "
                        "there are no dialogs, and no messages that end them"),
    .shape = LB_QUEUE,
    .needs = LB_CAP_LISTEN_NOTIFY | LB_CAP_SKIP_LOCKED,
    .claims = LB_CLAIMS_OWNED_ITEMS,
    .twin = "skip-locked",
    .options = LB_OPTIONS(
        {.name = "groups", .default_value = "8", .help = "items of one group go to one at a time"},
        {.name = "wait_ms",
         .default_value = "100",
         .help = "how long a consumer that found nothing waits for the bell"},
        LB_OPTION_RECURRING),
    .flow = &flow,
};
