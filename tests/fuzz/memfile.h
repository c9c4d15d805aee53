/* A file in memory with a path, for readers that open one. */
#ifndef LB_FUZZ_MEMFILE_H
#define LB_FUZZ_MEMFILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct fuzz_memfile {
    int fd;
    char path[40];
};

/* One is made, and filled again and again: there is nothing to clean up. */
static inline const char *fuzz_memfile_fill(struct fuzz_memfile *file, const uint8_t *data,
                                            size_t size)
{
    if (file->path[0] == '\0') {
        file->fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    }
    if (file->fd < 0 || ftruncate(file->fd, 0) != 0 ||
        pwrite(file->fd, data, size, 0) != (ssize_t)size)
        abort();
    return file->path;
}

#endif
