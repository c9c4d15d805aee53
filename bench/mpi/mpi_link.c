/* Ranks that talk through MPI: see mpi_link.h.
 *
 * Nothing here waits: a message is sent from a copy that lives until MPI has taken it, and received
 * once MPI says that it is there. MPI_Recv would keep a core busy for as long as nothing comes,
 * which is a core that the workers need.
 */
#include "mpi_link.h"

#include "clock.h"
#include "memory.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* On its way: MPI reads the bytes until the request is complete. */
struct sending {
    struct sending *next;
    MPI_Request request;
    unsigned char bytes[];
};

struct mpi_link {
    struct lb_link link;
    struct sending *sending;
    _Atomic uint64_t *beats;
};

enum { TAG = 1, MOST_BYTES = 1 << 30 };

static void drop_sent(struct mpi_link *mpi)
{
    struct sending **at = &mpi->sending;
    while (*at != NULL) {
        struct sending *one = *at;
        int done = 0;
        if (MPI_Test(&one->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        free(one);
    }
}

static int send_bytes(struct lb_link *link, uint32_t to, const void *bytes, size_t n)
{
    struct mpi_link *mpi = (struct mpi_link *)(void *)link;
    drop_sent(mpi);
    if (n > MOST_BYTES)
        return -1;
    struct sending *one = lb_malloc(sizeof *one + n);
    memcpy(one->bytes, bytes, n);
    if (MPI_Isend(one->bytes, (int)n, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &one->request) !=
        MPI_SUCCESS) {
        free(one);
        return -1;
    }
    one->next = mpi->sending;
    mpi->sending = one;
    return 0;
}

static bool receive_bytes(struct lb_link *link, uint32_t *ret_from, void **ret_bytes, size_t *ret_n)
{
    struct mpi_link *mpi = (struct mpi_link *)(void *)link;
    MPI_Status status;
    int there = 0, n = 0;
    atomic_fetch_add_explicit(mpi->beats, 1, memory_order_relaxed);
    drop_sent(mpi);
    if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there ||
        MPI_Get_count(&status, MPI_BYTE, &n) != MPI_SUCCESS)
        return false;
    void *bytes = lb_malloc((size_t)n + 1);
    if (MPI_Recv(bytes, n, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status) !=
        MPI_SUCCESS) {
        free(bytes);
        return false;
    }
    *ret_from = (uint32_t)status.MPI_SOURCE;
    *ret_bytes = bytes;
    *ret_n = (size_t)n;
    return true;
}

struct lb_link *lb_mpi_link_new(_Atomic uint64_t *beats)
{
    struct mpi_link *mpi = lb_calloc(1, sizeof *mpi);
    int rank = 0, n = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    mpi->link = (struct lb_link){(uint32_t)rank, (uint32_t)n, send_bytes, receive_bytes};
    mpi->beats = beats;
    return &mpi->link;
}

void lb_mpi_link_free(struct lb_link *link)
{
    struct mpi_link *mpi = (struct mpi_link *)(void *)link;
    uint64_t give_up_ns = lb_now_ns() + UINT64_C(1000000000);
    while (mpi->sending != NULL && lb_now_ns() < give_up_ns) {
        drop_sent(mpi);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    /* MPI owns unsent messages until the process ends. */
    if (mpi->sending == NULL)
        free(mpi);
}
