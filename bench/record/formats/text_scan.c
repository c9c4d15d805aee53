/* The input of the text formats, and what they share: see text_scan.h. */
#include "text_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Endless input must not exhaust the machine: the limit is half of the free memory, or half of the
 * process's limit. */
static size_t most_bytes(void)
{
    enum { LEAST_MB = 16 };
    unsigned long long free_kb = 0;
    char line[200];
    struct rlimit limit;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && free_kb == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "MemAvailable:", 13) == 0)
            free_kb = strtoull(line + 13, NULL, 10);
    if (file != NULL)
        fclose(file);
    size_t most = free_kb > 0 ? (size_t)free_kb << 9 : SIZE_MAX;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 2 < most)
        most = (size_t)limit.rlim_cur / 2;
    return most > (size_t)LEAST_MB << 20 ? most : (size_t)LEAST_MB << 20;
}

/* A pipe's size is not known: its bytes go to anonymous memory that is moved, not copied, when it
 * grows. */
static int read_all(struct lb_scan *scan, int fd)
{
    size_t size = 0, most = most_bytes();
    scan->mapped = 1 << 20;
    scan->memory =
        mmap(NULL, scan->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scan->memory == MAP_FAILED) {
        scan->memory = NULL;
        return lb_fail(scan->err, LB_E_MEMORY, "%s: out of memory", scan->name);
    }
    for (;;) {
        if (size > most)
            return lb_fail(scan->err, LB_E_MEMORY,
                           "%s: more than %zu MB without an end, half of the memory that is free; "
                           "put it into a file: that is read without a copy",
                           scan->name, most >> 20);
        if (scan->mapped - size < 2) {
            void *moved = mremap(scan->memory, scan->mapped, scan->mapped * 2, MREMAP_MAYMOVE);
            if (moved == MAP_FAILED)
                return lb_fail(scan->err, LB_E_MEMORY, "%s: out of memory after %zu bytes",
                               scan->name, size);
            scan->memory = moved;
            scan->mapped *= 2;
        }
        ssize_t n = read(fd, (char *)scan->memory + size, scan->mapped - size - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return lb_fail(scan->err, LB_E_FILE, "%s: %s", scan->name, strerror(errno));
        if (n == 0)
            break;
        size += (size_t)n;
    }
    scan->start = scan->memory;
    scan->end = scan->start + size;
    return 0;
}

/* A page of zeros is mapped behind the file, for the NUL when the file fills its last page.
 *
 * It begins where a huge page may: a fault maps what lies around it, up to the next multiple of 64
 * KiB, and pages that are released in smaller blocks would come back with their neighbours. */
static int map_all(struct lb_scan *scan, int fd, size_t size)
{
    const size_t huge = (size_t)2 << 20;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    scan->mapped = (size / page + 1) * page;
    char *memory = mmap(NULL, scan->mapped + huge, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return lb_fail(scan->err, LB_E_MEMORY, "%s: cannot map: %s", scan->name, strerror(errno));
    size_t before = (huge - (uintptr_t)memory % huge) % huge;
    if (before > 0)
        (void)munmap(memory, before);
    memory += before;
    if (before < huge)
        (void)munmap(memory + scan->mapped, huge - before);
    scan->memory = memory;
    if (size > 0 && mmap(memory, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        return lb_fail(scan->err, LB_E_FILE, "%s: cannot map: %s", scan->name, strerror(errno));
    (void)madvise(memory, scan->mapped, MADV_SEQUENTIAL);
    scan->start = memory;
    scan->end = scan->start + size;
    return 0;
}

int lb_scan_open(struct lb_scan *scan, const char *path, struct lb_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct stat st;
    *scan = (struct lb_scan){.name = is_stdin ? "stdin" : path, .err = err};
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int saved = errno;
        if (fd > 0)
            close(fd);
        return lb_fail(err, LB_E_FILE, "%s: %s", scan->name, strerror(saved));
    }
    /* Such as /dev/zero, which has no end. A terminal has one, and so do pipes. */
    if (S_ISCHR(st.st_mode) && !is_stdin && !isatty(fd)) {
        close(fd);
        return lb_fail(err, LB_E_FILE, "%s is a device, not a history", scan->name);
    }
    scan->is_copy = is_stdin || !S_ISREG(st.st_mode);
    int code = scan->is_copy ? read_all(scan, fd) : map_all(scan, fd, (size_t)st.st_size);
    if (!is_stdin)
        close(fd);
    scan->at = scan->start;
    if (code != 0)
        lb_scan_close(scan);
    return code;
}

void lb_scan_memory(struct lb_scan *scan, const char *bytes, size_t size, const char *name,
                    struct lb_error *err)
{
    *scan = (struct lb_scan){
        .start = bytes, .end = bytes + size, .at = bytes, .name = name, .err = err};
}

void lb_scan_close(struct lb_scan *scan)
{
    if (scan->memory != NULL)
        munmap(scan->memory, scan->mapped);
    scan->memory = NULL;
}

size_t lb_scan_line(const struct lb_scan *scan, const char *at)
{
    size_t line = 1;
    for (const char *p = scan->start; (p = memchr(p, '\n', (size_t)(at - p))) != NULL; p++)
        line++;
    return line;
}

int lb_scan_fail(const struct lb_scan *scan, const char *at, const char *format, ...)
{
    char text[sizeof scan->err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return lb_fail(scan->err, LB_E_FILE, "%s:%zu: %s", scan->name, lb_scan_line(scan, at), text);
}

const char *const lb_raw_key_names[LB_RAW_KEYS] = {
    [LB_KEY_TYPE] = "type",
    [LB_KEY_F] = "f",
    [LB_KEY_PROCESS] = "process",
    [LB_KEY_TIME] = "time",
    [LB_KEY_INDEX] = "index",
    [LB_KEY_VALUE] = "value",
    [LB_KEY_ERROR] = "error",
    [LB_KEY_TOKEN] = "token",
    [LB_KEY_OBJECT] = "object",
    [LB_KEY_ARG] = "arg",
    [LB_KEY_SHARED] = "shared",
    [LB_KEY_EFFECTIVE] = "effective",
    [LB_KEY_LOG] = "log",
    [LB_KEY_BY] = "by",
    [LB_KEY_UNIX] = "unix",
    [LB_KEY_EVENTS] = "events",
    [LB_KEY_OVER] = "over",
    [LB_KEY_FINAL] = "final",
    [LB_KEY_COMMITTED] = "committed",
    [LB_KEY_KEY] = "key",
    [LB_KEY_TENANT] = "tenant",
    [LB_KEY_PRIORITY] = "priority",
    [LB_KEY_DUE] = "due",
    [LB_KEY_UNIQUE] = "unique",
};

enum lb_raw_key lb_raw_key_find(const char *text, size_t length)
{
    /* Every key of every operation comes through here: look at one candidate, two for 't'. */
    enum lb_raw_key key;
    switch (*text) {
    case 't':
        key = length == 5      ? LB_KEY_TOKEN
              : length == 6    ? LB_KEY_TENANT
              : text[1] == 'i' ? LB_KEY_TIME
                               : LB_KEY_TYPE;
        break;
    case 'f':
        key = length == 1 ? LB_KEY_F : LB_KEY_FINAL;
        break;
    case 'c':
        key = LB_KEY_COMMITTED;
        break;
    case 'p':
        key = length == 8 ? LB_KEY_PRIORITY : LB_KEY_PROCESS;
        break;
    case 'i':
        key = LB_KEY_INDEX;
        break;
    case 'v':
        key = LB_KEY_VALUE;
        break;
    case 'e':
        key = length == 5 ? LB_KEY_ERROR : length == 6 ? LB_KEY_EVENTS : LB_KEY_EFFECTIVE;
        break;
    case 'o':
        key = length == 4 ? LB_KEY_OVER : LB_KEY_OBJECT;
        break;
    case 'a':
        key = LB_KEY_ARG;
        break;
    case 's':
        key = LB_KEY_SHARED;
        break;
    case 'l':
        key = LB_KEY_LOG;
        break;
    case 'b':
        key = LB_KEY_BY;
        break;
    case 'u':
        key = length == 4 ? LB_KEY_UNIX : LB_KEY_UNIQUE;
        break;
    case 'k':
        key = LB_KEY_KEY;
        break;
    case 'd':
        key = LB_KEY_DUE;
        break;
    default:
        return LB_RAW_KEYS;
    }
    const char *name = lb_raw_key_names[key];
    return strlen(name) == length && memcmp(name, text, length) == 0 ? key : LB_RAW_KEYS;
}

int lb_raw_set(const struct lb_scan *scan, struct lb_raw_op *op, enum lb_raw_key key,
               const struct lb_raw *value, const char *at)
{
    if (op->keys[key].kind != LB_RAW_ABSENT)
        return lb_scan_fail(scan, at, "\"%s\" appears twice in one operation",
                            lb_raw_key_names[key]);
    op->keys[key] = *value;
    return 0;
}

bool lb_raw_is(const struct lb_raw *raw, const char *name)
{
    return raw->kind == LB_RAW_NAME && raw->length == strlen(name) &&
           memcmp(raw->text, name, raw->length) == 0;
}

bool lb_scan_digits(struct lb_scan *scan, bool negative, int64_t *ret)
{
    uint64_t value = 0;
    bool overflow = false;
    for (; *scan->at >= '0' && *scan->at <= '9'; scan->at++) {
        uint64_t digit = (uint64_t)(*scan->at - '0');
        overflow |= value > (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    *ret = (int64_t)(negative ? 0 - value : value);
    return !overflow && value <= (uint64_t)INT64_MAX + negative;
}
