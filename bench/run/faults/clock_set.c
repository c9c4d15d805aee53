/* Was a clock set while the run was under way? See clock_set.h.
 *
 * The end of a lease is a time by the server's clock, or by a worker's. If that clock is set ahead,
 * a lease ends early, and the right protocol gives the lock to another worker. So the distance
 * between each of these clocks and the monotonic clock is taken before the run and after it. The
 * server's is known only up to the length of the question.
 *
 * A clock that is slewed runs at another speed, by less than a thousandth; the judge allows for
 * that.
 *
 * Limits. A clock that was set, and set back before the end, is not found out. Of a target with
 * several nodes only the one of the control session is asked, of several machines only the first.
 */
#include "clock_set.h"

#include "clock.h"
#include "restarted.h"
#include "units.h"

#include <stdio.h>
#include <string.h>

enum { STEP_US = 2000, SPEED = 1000 };

static int64_t now_us(void)
{
    return (int64_t)(lb_now_ns() / 1000);
}

static void read_machine(struct lb_clock_reading *ret)
{
    struct timespec t;
    int64_t before_us = now_us();
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t after_us = now_us(), us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    *ret = (struct lb_clock_reading){true, us - after_us, us - before_us};
}

static void read_server(struct lb_session *control, const char *node, struct lb_clock_reading *ret)
{
    int64_t since_us, before_us = now_us();
    uint64_t up_us;
    bool is_known = lb_uptime_ask(control, node, &since_us, &up_us);
    int64_t after_us = now_us(), us = is_known ? since_us + (int64_t)up_us : 0;
    *ret = (struct lb_clock_reading){is_known, us - after_us, us - before_us};
}

void lb_clock_watch_begin(struct lb_clock_watch *watch, struct lb_session *control)
{
    *watch = (struct lb_clock_watch){.begin_ns = lb_now_ns()};
    read_machine(&watch->machine);
    if (control == NULL || control->conn == NULL)
        return;
    if (control->db->node != NULL)
        control->db->node(control->conn, watch->node, sizeof watch->node);
    read_server(control, watch->node, &watch->server);
}

static void compare(struct lb_clock_watch *watch, const struct lb_clock_reading *first,
                    const struct lb_clock_reading *last, bool is_server)
{
    int64_t slewed_us = (int64_t)((lb_now_ns() - watch->begin_ns) / 1000 / SPEED);
    int64_t ahead_us = last->low_us - first->high_us, back_us = first->low_us - last->high_us;
    bool is_ahead = ahead_us > back_us;
    int64_t set_us = is_ahead ? ahead_us : back_us;
    if (!first->is_known || !last->is_known || set_us <= STEP_US + slewed_us)
        return;
    watch->set_us = is_ahead ? set_us : -set_us;
    watch->at_most_us =
        (uint64_t)(is_ahead ? last->high_us - first->low_us : first->high_us - last->low_us);
    watch->is_server = is_server;
}

void lb_clock_watch_end(struct lb_clock_watch *watch, struct lb_session *control)
{
    struct lb_clock_reading machine, server = {0};
    read_machine(&machine);
    if (control != NULL && watch->server.is_known)
        read_server(control, watch->node, &server);
    compare(watch, &watch->machine, &machine, false);
    compare(watch, &watch->server, &server, true);
}

const char *lb_clock_watch_text(const struct lb_clock_watch *watch, char *buf, size_t size)
{
    char how_far[32];
    buf[0] = '\0';
    if (watch->set_us != 0)
        snprintf(buf, size, "%s clock was set %s %s during the run",
                 watch->is_server ? "the server's" : "this machine's",
                 lb_format_ns((uint64_t)(watch->set_us > 0 ? watch->set_us : -watch->set_us) * 1000,
                              how_far, sizeof how_far),
                 watch->set_us > 0 ? "ahead" : "back");
    return buf;
}

void lb_clock_watch_doubt(const struct lb_clock_watch *watch, struct lb_model *model)
{
    struct lb_doubt *doubt = &model->doubts[LB_DOUBT_STEP];
    uint64_t ms = watch->at_most_us / 1000 + 1;
    char text[100];
    if (watch->set_us == 0)
        return;
    doubt->is_said = true;
    doubt->value = ms < LB_MOST_TICK_MS ? (uint32_t)ms : LB_MOST_TICK_MS;
    snprintf(doubt->reason, sizeof doubt->reason, "%s: leases and limits ended early or late",
             lb_clock_watch_text(watch, text, sizeof text));
}
