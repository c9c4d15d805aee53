/* How the ranks of one run talk: whole messages, in order between any two, never waited for. The
 * run knows no more of it than this; bench/mpi makes one of MPI, a test makes one of pipes.
 */
#ifndef LB_LINK_H
#define LB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lb_link {
    uint32_t rank, n_ranks; /* rank 0 leads */
    /* Takes a copy. 0, or -1: it cannot be sent. */
    int (*send)(struct lb_link *link, uint32_t to, const void *bytes, size_t n);
    /* The next message that has arrived, in memory that the caller frees; false: none. */
    bool (*receive)(struct lb_link *link, uint32_t *ret_from, void **ret_bytes, size_t *ret_n);
};

#endif
