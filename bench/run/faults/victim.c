/* Whom a fault befalls: see victim.h. */
#include "victim.h"

#include <signal.h>

void lb_victim_signal(struct lb_worker *worker, int number)
{
    int program = atomic_load(&worker->actor.program);
    if (program > 0)
        kill(-program, number);
}

bool lb_fault_suits_databases(const struct lb_db *db)
{
    return db != NULL;
}
