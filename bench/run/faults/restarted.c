/* Was the server started anew in the middle of a run, and not by it? Whoever had a session only
 * sees that it was lost, and connects again. So the server is asked since when it has been up:
 * before the run, by each worker whose session was lost, and after the run. Another answer is an
 * event of the history.
 *
 * Limits. Of a target with several nodes only the one of the control session is asked about. A
 * server that was up for less than half a second, or that says its start in whole seconds and was
 * up for less than one, is not found out. Faults that stop the server on command have notes of
 * their own.
 */
#include "restarted.h"

#include <string.h>

/* Two answers of one life differ by less: the first process starts before the others do. */
#define SAME_US INT64_C(500000)

bool lb_uptime_ask(struct lb_session *session, const char *node, int64_t *ret_since_us,
                   uint64_t *ret_up_us)
{
    char own[sizeof((struct lb_uptime *)0)->node] = "";
    struct lb_error ignored;
    const struct lb_db *db = session->db;
    if (session->conn == NULL || db->up_since == NULL || lb_conn_head(session->conn)->lost)
        return false;
    if (db->node != NULL)
        db->node(session->conn, own, sizeof own);
    return strcmp(own, node) == 0 &&
           db->up_since(session->conn, ret_since_us, ret_up_us, &ignored) == LB_OK;
}

void lb_uptime_begin(struct lb_team *team, struct lb_session *control)
{
    struct lb_uptime *uptime = &team->uptime;
    int64_t since_us;
    uint64_t up_us;
    if (control == NULL || control->conn == NULL ||
        lb_fault_is(team->scenario->fault, LB_FAULT_IS_COMMANDED))
        return;
    if (control->db->node != NULL)
        control->db->node(control->conn, uptime->node, sizeof uptime->node);
    if (lb_uptime_ask(control, uptime->node, &since_us, &up_us))
        atomic_store(&uptime->since_us, since_us);
}

void lb_uptime_look(struct lb_team *team, struct lb_session *session, struct lb_log *log,
                    uint32_t process)
{
    struct lb_uptime *uptime = &team->uptime;
    int64_t known_us = atomic_load(&uptime->since_us), since_us;
    uint64_t up_us, unseen = 0;
    if (known_us == 0 || !lb_uptime_ask(session, uptime->node, &since_us, &up_us) ||
        (since_us < known_us + SAME_US && known_us < since_us + SAME_US))
        return;
    /* The first worker to see it notes it. */
    if (!atomic_compare_exchange_strong(&uptime->since_us, &known_us, since_us))
        return;
    atomic_fetch_add(&uptime->n, 1);
    atomic_compare_exchange_strong(&uptime->seen_ns, &unseen, lb_now_ns());
    lb_note_append(log, process, LB_OP_RESTART, up_us * 1000, 0, 0);
}
