/* The sign of life of a run that has a schema or database on a server.
 *
 * A run registers itself in a table of its space: its process, and the time of its last entry. It
 * holds a lock of the server as well, with a session that has nothing else to do; a server, a
 * pooler or an administrator may end such a session at any time. So a free lock alone does not
 * prove a death: a thread renews it, and a run that finds it free checks the table. A run counts as
 * dead if its process is gone, which only its own machine can see, or if it made no entry for
 * LB_LIFE_GRACE_S.
 */
#ifndef LB_LIFE_H
#define LB_LIFE_H

#include "error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The table of a space in which its run is registered. */
#define LB_LIFE_TABLE "lockbench_run"

enum {
    LB_LIFE_PING_S = 2,   /* between two looks at the session */
    LB_LIFE_STAMP_S = 60, /* between two entries into the table */
    LB_LIFE_LOST_S = 300, /* without the lock: the run ends */
    LB_LIFE_GRACE_S = 600 /* since the last entry: the run does not count as dead before */
};

/* Which process this is, among all machines. */
struct lb_life_self {
    char machine[100]; /* the boot of the kernel, and the namespace of the process's number */
    int64_t pid;
    int64_t start; /* when the process began, in clock ticks since the boot */
};

enum lb_life_sign { LB_LIFE_DEAD, LB_LIFE_ALIVE, LB_LIFE_UNKNOWN /* of another machine */ };

void lb_life_self(struct lb_life_self *ret);

enum { LB_LIFE_RUN = 20, LB_LIFE_NAME = 64 };
/* A new run's id, and the name of its schema or database: "lockbench_HINT_RUN", of [a-z0-9_]. */
void lb_life_name(const char *hint, char run[LB_LIFE_RUN], char name[LB_LIFE_NAME]);

/* May a space be dropped whose lock is free? seen_s: seconds since its last entry. */
bool lb_life_is_over(const struct lb_life_self *process, int64_t seen_s);

/* Checks the session and repairs it. stamp: also makes an entry. *ret_gone: the space is gone; err
 * then has the full message. Called with the lock of the life held. */
typedef int lb_life_renew_fn(void *arg, bool stamp, bool *ret_gone, struct lb_error *err);

struct lb_life {
    lb_life_renew_fn *renew;
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock; /* the session and what follows */
    pthread_cond_t change;
    bool is_running, stop, is_lost;
    struct lb_error why; /* it is lost */
};

/* The session was opened and the first entry made. 0 or LB_E_ENV. */
int lb_life_begin(struct lb_life *life, lb_life_renew_fn *renew, void *arg, struct lb_error *err);
/* The thread ends; the session is the caller's again. Of one that never began, too. */
void lb_life_end(struct lb_life *life);
/* Held while another function uses the session. */
void lb_life_hold(struct lb_life *life);
void lb_life_let(struct lb_life *life);
/* LB_E_ENV if the run has lost its space, else 0. Any thread. */
int lb_life_check(struct lb_life *life, struct lb_error *err);
/* The same, after asking the server now. */
int lb_life_look_again(struct lb_life *life, struct lb_error *err);

#endif
