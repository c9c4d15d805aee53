/* Signs of life: see life.h. */
#include "life.h"

#include "clock.h"
#include "proc.h"
#include "random.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- which process -------------------------------------------------------------------------- */

void lb_life_self(struct lb_life_self *ret)
{
    char boot[64] = "", state;
    struct stat ns = {0};
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        if (fgets(boot, sizeof boot, file) != NULL)
            boot[strcspn(boot, "\n")] = '\0';
        fclose(file);
    }
    *ret = (struct lb_life_self){.pid = getpid()};
    /* Without both, the machine is unknown: an empty name equals no other. */
    if (boot[0] != '\0' && stat("/proc/self/ns/pid", &ns) == 0 &&
        lb_proc_began((pid_t)ret->pid, &state, &ret->start))
        snprintf(ret->machine, sizeof ret->machine, "%s:%llu", boot, (unsigned long long)ns.st_ino);
}

void lb_life_name(const char *hint, char run[LB_LIFE_RUN], char name[LB_LIFE_NAME])
{
    char word[32];
    size_t n = 0;
    for (; *hint != '\0' && n + 1 < sizeof word; hint++)
        if (isalnum((unsigned char)*hint) || *hint == '_' || *hint == '-')
            word[n++] = *hint == '-' ? '_' : (char)tolower((unsigned char)*hint);
    word[n] = '\0';
    snprintf(run, LB_LIFE_RUN, "%012llx", (unsigned long long)lb_random_seed());
    snprintf(name, LB_LIFE_NAME, "lockbench_%s%s%s", word, n > 0 ? "_" : "", run);
}

static enum lb_life_sign look(const struct lb_life_self *process)
{
    struct lb_life_self self;
    char state;
    int64_t start;
    lb_life_self(&self);
    if (self.machine[0] == '\0' || strcmp(self.machine, process->machine) != 0 ||
        process->pid <= 0 || process->pid > INT32_MAX)
        return LB_LIFE_UNKNOWN;
    /* The signal 0 finds also processes that /proc hides from other users. */
    if (kill((pid_t)process->pid, 0) != 0 && errno == ESRCH)
        return LB_LIFE_DEAD;
    if (!lb_proc_began((pid_t)process->pid, &state, &start))
        return LB_LIFE_ALIVE;
    return start != process->start || state == 'Z' || state == 'X' ? LB_LIFE_DEAD : LB_LIFE_ALIVE;
}

bool lb_life_is_over(const struct lb_life_self *process, int64_t seen_s)
{
    enum lb_life_sign sign = look(process);
    return sign == LB_LIFE_DEAD || (sign == LB_LIFE_UNKNOWN && seen_s > LB_LIFE_GRACE_S);
}

/* --- the thread ----------------------------------------------------------------------------- */

static void lose(struct lb_life *life, const struct lb_error *why, bool gone)
{
    life->is_lost = true;
    life->why = *why;
    if (!gone)
        lb_fail_prefix(&life->why, "our marking session was ended");
    life->why.code = LB_E_ENV;
}

static void *keep_alive(void *arg)
{
    struct lb_life *life = arg;
    uint64_t renewed_ns = lb_now_ns(), stamped_ns = renewed_ns;
    pthread_mutex_lock(&life->lock);
    while (!life->stop && !life->is_lost) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += LB_LIFE_PING_S;
        if (pthread_cond_timedwait(&life->change, &life->lock, &until) != ETIMEDOUT || life->stop)
            continue;
        struct lb_error err = {0};
        bool gone = false;
        bool stamp = lb_now_ns() - stamped_ns >= LB_LIFE_STAMP_S * UINT64_C(1000000000);
        int r = life->renew(life->arg, stamp, &gone, &err);
        uint64_t now_ns = lb_now_ns();
        if (r == 0)
            renewed_ns = now_ns;
        if (r == 0 && stamp)
            stamped_ns = now_ns;
        if (r < 0 && (gone || now_ns - renewed_ns >= LB_LIFE_LOST_S * UINT64_C(1000000000)))
            lose(life, &err, gone);
    }
    pthread_mutex_unlock(&life->lock);
    return NULL;
}

int lb_life_begin(struct lb_life *life, lb_life_renew_fn *renew, void *arg, struct lb_error *err)
{
    pthread_condattr_t attr;
    sigset_t all, before;
    memset(life, 0, sizeof *life);
    life->renew = renew;
    life->arg = arg;
    pthread_mutex_init(&life->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&life->change, &attr);
    pthread_condattr_destroy(&attr);
    /* Signals are for the thread that waits for the user. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&life->thread, NULL, keep_alive, life);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    life->is_running = r == 0;
    if (r == 0)
        return 0;
    pthread_cond_destroy(&life->change);
    pthread_mutex_destroy(&life->lock);
    return lb_fail(err, LB_E_ENV, "cannot start a thread: %s", strerror(r));
}

void lb_life_end(struct lb_life *life)
{
    if (!life->is_running)
        return;
    pthread_mutex_lock(&life->lock);
    life->stop = true;
    pthread_cond_signal(&life->change);
    pthread_mutex_unlock(&life->lock);
    pthread_join(life->thread, NULL);
    pthread_cond_destroy(&life->change);
    pthread_mutex_destroy(&life->lock);
    life->is_running = false;
}

void lb_life_hold(struct lb_life *life)
{
    pthread_mutex_lock(&life->lock);
}

void lb_life_let(struct lb_life *life)
{
    pthread_mutex_unlock(&life->lock);
}

int lb_life_check(struct lb_life *life, struct lb_error *err)
{
    /* Not waited for: while the session is being repaired, nothing is lost yet. */
    if (pthread_mutex_trylock(&life->lock) != 0)
        return 0;
    int r = life->is_lost ? life->why.code : 0;
    if (r != 0)
        *err = life->why;
    pthread_mutex_unlock(&life->lock);
    return r;
}

int lb_life_look_again(struct lb_life *life, struct lb_error *err)
{
    struct lb_error why = {0};
    bool gone = false;
    pthread_mutex_lock(&life->lock);
    if (!life->is_lost && life->renew(life->arg, true, &gone, &why) < 0 && gone)
        lose(life, &why, true);
    pthread_mutex_unlock(&life->lock);
    return lb_life_check(life, err);
}
