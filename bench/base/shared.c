/* Shared memory: see shared.h. */
#include "shared.h"

#include <sys/mman.h>

void *lb_shared_new(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void lb_shared_touch(void *memory, size_t size)
{
    /* An older system does not know it: then pages come when they are used. */
    (void)madvise(memory, size, MADV_POPULATE_WRITE);
}

void lb_shared_free(void *memory, size_t size)
{
    if (memory != NULL)
        munmap(memory, size);
}
