/* What ends the holds of those who cannot release them any more.
 *
 * A hold that is open where its log ends lasts for ever: to one tick after the last moment of the
 * run, so that a grant at that very moment meets it. Its holder may have died: then it is held
 * still, as far as the history can tell, unless
 *   - its lease ends it: that is its cut, from scan_lock.c,
 *   - the server said that its session ended: it may have been at any time since the fault that
 *     ended it, or since the death. Without a cause in the history, of which a worker says that it
 *     lost its session, it was there when it last answered; of which another says so, it may have
 *     ended at any time, so nothing of the hold is certain. A grant that was committed, and whose
 *     history says so because servers fail over in it, is none of the session's,
 *   - somebody recovered what the dead held: no earlier than that was asked for.
 * Of a history that was cut off, a log is believed as far as it goes.
 */
#include "check_internal.h"

/* A death that the writer itself noted came after the note. One that another noted came at any
 * time after the log's last event. */
void lb_world_deaths(struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    for (size_t i = 0; i < c->history->n_logs; i++)
        c->logs[i].death_ns = c->logs[i].gone_ns = LB_NEVER;
    for (size_t i = 0; i < c->world.n; i++) {
        if (world[i].op != LB_OP_DEATH || world[i].target >= c->history->n_logs)
            continue;
        struct lb_log_facts *facts = &c->logs[world[i].target];
        if (world[i].low < facts->death_ns)
            facts->death_ns = world[i].low;
        uint64_t alive = lb_low(facts->last_ns, lb_slack(c, world[i].target));
        uint64_t gone =
            world[i].log != world[i].target && alive < world[i].low ? alive : world[i].low;
        if (gone < facts->gone_ns)
            facts->gone_ns = gone;
    }
}

static bool may_end_session(const struct lb_world_event *event, uint32_t log)
{
    if (event->op == LB_OP_DEATH)
        return event->target == log;
    return event->op == LB_OP_FAULT && event->phase == 0 &&
           (event->target == log || event->target == LB_NONE);
}

uint64_t lb_world_session_end(const struct lb_case *c, const struct lb_world_event *note)
{
    const struct lb_world_event *world = c->world.items;
    uint64_t previous = 0, cause = LB_NEVER;
    for (size_t i = 0; i < c->world.n; i++)
        if (world[i].op == LB_OP_SESSION_END && world[i].target == note->target &&
            world[i].high < note->low && world[i].high > previous)
            previous = world[i].high;
    for (size_t i = 0; i < c->world.n; i++)
        if (may_end_session(&world[i], note->target) && world[i].low >= previous &&
            world[i].low <= note->high && world[i].low < cause)
            cause = world[i].op == LB_OP_DEATH ? c->logs[note->target].gone_ns : world[i].low;
    if (cause != LB_NEVER)
        return cause;
    return note->alive > previous ? note->alive : previous;
}

static void end_sessions(struct lb_case *c)
{
    const struct lb_world_event *world = c->world.items;
    for (size_t w = 0; w < c->world.n; w++) {
        const struct lb_world_event *note = &world[w];
        if (note->op != LB_OP_SESSION_END || note->target >= c->history->n_logs)
            continue;
        const struct lb_log_facts *facts = &c->logs[note->target];
        uint64_t low = lb_world_session_end(c, note);
        for (size_t i = facts->first_hold; i < facts->first_hold + facts->n_holds; i++) {
            struct lb_hold *hold = &lb_holds(c)[i];
            if (hold->start > note->high)
                break;
            if (hold->is_committed && !hold->is_dead)
                continue;
            if (hold->cut > low) {
                hold->cut = low;
                c->has_cuts = true;
            }
            if (hold->is_dead && hold->end > low)
                hold->end = low;
        }
    }
}

uint64_t lb_world_recovered(const struct lb_case *c, uint64_t death)
{
    const struct lb_world_event *world = c->world.items;
    uint64_t best = LB_NEVER;
    for (size_t i = 0; i < c->world.n; i++) {
        if (world[i].op != LB_OP_RECOVER || world[i].high < death)
            continue;
        uint64_t at = world[i].low > death ? world[i].low : death;
        if (at < best)
            best = at;
    }
    return best;
}

int lb_world_apply(struct lb_case *c)
{
    const uint32_t *open = c->open.items;
    bool whole = c->model->complete && !c->history->truncated;
    uint64_t for_ever = c->end_ns + 1;
    for (size_t i = 0; i < c->open.n; i++) {
        struct lb_hold *hold = &lb_holds(c)[open[i]];
        const struct lb_log_facts *facts = &c->logs[hold->log];
        hold->end = for_ever < c->known_ns ? for_ever : c->known_ns;
        if (facts->death_ns != LB_NEVER) {
            hold->is_dead = 1;
            uint64_t recovered = lb_world_recovered(c, facts->gone_ns);
            if (recovered < hold->end)
                hold->end = recovered;
        } else if (!whole) {
            hold->end = lb_low(facts->last_ns, lb_slack(c, hold->log));
        }
        if (hold->cut > hold->end)
            hold->cut = hold->end;
    }
    for (size_t i = 0; i < c->holds.n && !whole && c->has_cuts; i++) { /* renewed leases as well */
        struct lb_hold *hold = &lb_holds(c)[i];
        uint64_t last = lb_low(c->logs[hold->log].last_ns, lb_slack(c, hold->log));
        if (hold->is_piece && hold->end > last)
            hold->end = hold->cut = last;
    }
    end_sessions(c);
    return 0;
}
