/* Ranks that talk through MPI: see link.h. Only the thread that called MPI_Init calls anything of
 * MPI. */
#ifndef LB_MPI_LINK_H
#define LB_MPI_LINK_H

#include "link.h"

#include <stdatomic.h>

/* MPI was initialised. beats grows whenever the rank looks for messages. */
struct lb_link *lb_mpi_link_new(_Atomic uint64_t *beats);
/* Waits until what was sent has left, for a second at most. */
void lb_mpi_link_free(struct lb_link *link);

#endif
