/* Opening regular files: see regular_file.h. */
#include "regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *lb_regular_file_open(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    int code = fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    FILE *file = code == EINVAL && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        close(fd);
        errno = code;
    }
    return file;
}

const char *lb_regular_file_reason(int code)
{
    return code == EINVAL ? "not a regular file" : strerror(code);
}
