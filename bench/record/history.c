/* The history's writer: see history.h.
 *
 * One file is shared by all writers, threads or forked processes. Chunks are handed out by an
 * atomic counter in the mapped header, so that a writer depends on no other writer, nor on a lock
 * that a killed process could hold for ever.
 *
 * A log's first chunk is its tail: allocated on disk (a full disk is an errno here, where a hole
 * would be a SIGBUS in the middle of an append), mapped, and kept for the log's whole life. When it
 * is full, its events are copied to a chunk of their own with pwritev and the tail starts again.
 * Mapping every chunk in turn would need no copy, but costs 64 page faults, each with a journal
 * entry of the file system: 230 ns per acquire+release (ext4, one virtual core), against 20 ns for
 * the copy, from memory that is in the cache. That takes whole chunks, written in one go from their
 * first byte, into space that is set aside for many of them at a time: written from an offset
 * within a page, or allocated bit by bit, it is up to 200 ns.
 *
 * Killed at any point, no event is lost or doubled: the copy is made without its header, which is
 * written afterwards, and a chunk without header is not read; a tail with the same sequence number
 * as a chunk is not read; and the tail gets its next number after its events were cleared.
 *
 * Limits: RLIMIT_FSIZE raises SIGXFSZ unless the program ignores it; another process that truncates
 * the file while it is mapped raises SIGBUS.
 */
#include "history.h"

#include "clock.h"
#include "history_file.h"
#include "memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* One log's mapped tail. Nodes are pushed once per log and never taken out before the free, so a
 * compare-and-swap is enough. A forked child pushes to its own copy of the list. */
struct lb_mapping {
    struct lb_mapping *next;
    void *tail;
};

struct lb_history {
    int fd;
    pid_t creator;
    char *name; /* for messages */
    struct lb_file_header *header;
    _Atomic(struct lb_mapping *) mappings;
    const struct lb_carried *carried;
    size_t n_carried;
};

static int open_nameless(char **ret_name, struct lb_error *err)
{
    const char *dir = getenv("TMPDIR");
    if (dir == NULL || *dir == '\0')
        dir = "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int saved = errno;
    if (fd < 0 && (saved == EOPNOTSUPP || saved == EISDIR || saved == ENOENT || saved == EINVAL)) {
        /* The file system knows no nameless files: a name, for a moment. */
        char *name = lb_format("%s/lockbench-history-XXXXXX", dir);
        fd = mkostemp(name, O_CLOEXEC);
        saved = errno;
        if (fd >= 0)
            unlink(name);
        free(name);
    }
    if (fd < 0)
        return lb_fail(err, LB_E_ENV, "cannot create a temporary history in %s: %s", dir,
                       strerror(saved));
    *ret_name = lb_format("temporary history in %s", dir);
    return fd;
}

static int open_named(const char *path, char **ret_name, struct lb_error *err)
{
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0) {
        int saved = errno;
        bool users = saved == EEXIST || saved == ENOENT || saved == ENOTDIR || saved == EISDIR;
        return lb_fail(err, users ? LB_E_FILE : LB_E_ENV, "%s: cannot create the history: %s", path,
                       strerror(saved));
    }
    *ret_name = lb_strdup(path);
    return fd;
}

static int map_header(struct lb_history *history, struct lb_error *err)
{
    int code = posix_fallocate(history->fd, 0, LB_HISTORY_HEADER_BYTES);
    if (code != 0)
        return lb_fail(err, LB_E_ENV, "%s: no space for a history: %s", history->name,
                       strerror(code));
    void *memory =
        mmap(NULL, LB_HISTORY_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, history->fd, 0);
    if (memory == MAP_FAILED)
        return lb_fail(err, LB_E_ENV, "%s: cannot map the history: %s", history->name,
                       strerror(errno));
    struct lb_file_header *header = memory;
    history->header = header;
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    header->version = LB_HISTORY_VERSION;
    header->chunk_bytes = LB_CHUNK_BYTES;
    header->event_bytes = sizeof(struct lb_event);
    header->header_bytes = LB_HISTORY_HEADER_BYTES;
    header->start_ns = lb_now_ns();
    header->start_unix_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
    memcpy(header->magic, LB_HISTORY_MAGIC, sizeof LB_HISTORY_MAGIC);
    header->fixed_sum = lb_bytes_sum(header, offsetof(struct lb_file_header, n_chunks));
    return 0;
}

int lb_history_create(const char *path, struct lb_history **ret_history, struct lb_error *err)
{
    struct lb_history *history = lb_calloc(1, sizeof *history);
    int fd =
        path != NULL ? open_named(path, &history->name, err) : open_nameless(&history->name, err);
    if (fd < 0) {
        free(history);
        return fd;
    }
    history->fd = fd;
    history->creator = getpid();
    int code = map_header(history, err);
    if (code != 0) {
        if (path != NULL)
            unlink(path); /* ours: O_EXCL made it */
        lb_history_free(history);
        return code;
    }
    *ret_history = history;
    return 0;
}

int lb_history_set_meta(struct lb_history *history, const char *text, struct lb_error *err)
{
    size_t length = strlen(text);
    if (length >= LB_META_BYTES) {
        /* A line that is cut could say something else than was meant: whole lines only. */
        length = LB_META_BYTES - 1;
        while (length > 0 && text[length - 1] != '\n')
            length--;
    }
    struct lb_file_header *header = history->header;
    if (history->fd < 0)
        return lb_fail(err, LB_E_INTERNAL, "%s: the history is closed", history->name);
    /* A reader after a kill in between sees no meta rather than a mixture. */
    atomic_store_explicit(&header->meta_length, 0, memory_order_release);
    memcpy(header->meta, text, length);
    memset(header->meta + length, 0, LB_META_BYTES - length);
    header->meta_sum = lb_bytes_sum(header->meta, length);
    atomic_store_explicit(&header->meta_length, (uint32_t)length, memory_order_release);
    return 0;
}

/* Returns space that was reserved behind the end and not used. If it stays, as after a kill, it
 * takes space and does no other harm. */
static void give_back_rest(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && ftruncate(fd, st.st_size) != 0)
        return;
}

/* A file that cannot be mapped whole stays without a seal, like that of a killed program. */
static void seal(struct lb_history *history)
{
    struct stat st;
    if (fstat(history->fd, &st) != 0)
        return;
    void *base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, history->fd, 0);
    if (base == MAP_FAILED)
        return;
    history->header->seal = lb_history_seal(base, (size_t)st.st_size);
    munmap(base, (size_t)st.st_size);
}

void lb_history_free(struct lb_history *history)
{
    if (history == NULL)
        return;
    if (history->header != NULL && history->creator == getpid() && history->n_carried == 0)
        seal(history);
    struct lb_mapping *mapping = atomic_load_explicit(&history->mappings, memory_order_acquire);
    while (mapping != NULL) {
        struct lb_mapping *next = mapping->next;
        munmap(mapping->tail, LB_CHUNK_BYTES);
        free(mapping);
        mapping = next;
    }
    if (history->header != NULL)
        munmap(history->header, LB_HISTORY_HEADER_BYTES);
    give_back_rest(history->fd);
    close(history->fd);
    free(history->name);
    free(history);
}

int lb_history_view(struct lb_history *history, struct lb_history_view *ret_view,
                    struct lb_error *err)
{
    struct stat st;
    if (fstat(history->fd, &st) != 0)
        return lb_fail(err, LB_E_ENV, "%s: %s", history->name, strerror(errno));
    size_t size = (size_t)st.st_size;
    void *base = mmap(NULL, size, PROT_READ, MAP_SHARED, history->fd, 0);
    if (base == MAP_FAILED)
        return lb_fail(err, LB_E_ENV, "%s: cannot map the history: %s", history->name,
                       strerror(errno));
    return lb_history_view_mapping(&(struct lb_mapped_file){.base = base,
                                                            .mapped = size,
                                                            .size = size,
                                                            .name = history->name,
                                                            .kind = LB_MAPPED_LIVE,
                                                            .threads = 1,
                                                            .carried = history->carried,
                                                            .n_carried = history->n_carried},
                                   ret_view, err);
}

/* --- a part that goes --- */

static off_t offset_of(uint64_t chunk)
{
    return (off_t)(LB_HISTORY_HEADER_BYTES + chunk * LB_CHUNK_BYTES);
}

uint64_t lb_history_chunks(const struct lb_history *history)
{
    /* Acquire: the chunks are read after their number. */
    return atomic_load_explicit(&history->header->n_chunks, memory_order_acquire);
}

int lb_history_look(const struct lb_history *history, uint64_t i, struct lb_chunk *ret_chunk,
                    struct lb_event *events, struct lb_error *err)
{
    struct lb_chunk_header header = {0};
    struct iovec parts[] = {{.iov_base = &header, .iov_len = sizeof header},
                            {.iov_base = events, .iov_len = LB_CHUNK_BYTES - sizeof header}};
    ssize_t n = preadv(history->fd, parts, events != NULL ? 2 : 1, offset_of(i));
    if (n < 0)
        return lb_fail(err, LB_E_ENV, "%s: %s", history->name, strerror(errno));
    bool is_there = (size_t)n >= sizeof header && header.magic == LB_CHUNK_MAGIC;
    *ret_chunk = (struct lb_chunk){.log = header.log,
                                   .state = !is_there             ? LB_CHUNK_UNWRITTEN
                                            : header.is_tail != 0 ? LB_CHUNK_TAIL
                                                                  : LB_CHUNK_WHOLE};
    size_t n_read = is_there ? ((size_t)n - sizeof header) / sizeof *events : 0;
    while (events != NULL && ret_chunk->n < n_read && events[ret_chunk->n].type != LB_EV_NONE)
        ret_chunk->n++;
    return 0;
}

int lb_history_take_out(struct lb_history *history, uint64_t i, struct lb_error *err)
{
    const struct lb_chunk_header none = {0};
    if (pwrite(history->fd, &none, sizeof none, offset_of(i)) != (ssize_t)sizeof none)
        return lb_fail(err, LB_E_ENV, "%s: %s", history->name, strerror(errno));
    /* A file system without holes keeps the space. */
    (void)fallocate(history->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_of(i),
                    LB_CHUNK_BYTES);
    return 0;
}

void lb_history_carry(struct lb_history *history, const struct lb_carried *carried, size_t n)
{
    history->carried = carried;
    history->n_carried = n;
}

/* --- logs --- */

void lb_log_init(struct lb_log *log, struct lb_history *history, uint32_t number)
{
    assert(number < LB_MAX_LOGS);
    memset(log, 0, sizeof *log);
    log->history = history;
    log->number = number;
}

void lb_log_in_memory(struct lb_log *log, uint32_t number, struct lb_event *events, size_t n)
{
    *log = (struct lb_log){.next = events,
                           .end = events + n,
                           .number = number,
                           .sum_at = &log->sum,
                           .failed = LB_E_MEMORY}; /* once it is full */
}

static int log_fail(struct lb_log *log, int code, int error)
{
    int32_t none = 0;
    /* Relaxed: only the first reason is kept, and it stands alone. */
    atomic_compare_exchange_strong_explicit(&log->history->header->failure, &none, error,
                                            memory_order_relaxed, memory_order_relaxed);
    log->failed = code;
    log->next = log->end = NULL;
    return code;
}

/* Where the next chunk lies in the file. */
static off_t hand_out_chunk(struct lb_history *history)
{
    /* Relaxed: the number is all that is taken; a reader finds chunks by their own headers. */
    uint64_t number =
        atomic_fetch_add_explicit(&history->header->n_chunks, 1, memory_order_relaxed);
    return (off_t)(LB_HISTORY_HEADER_BYTES + number * LB_CHUNK_BYTES);
}

static int make_tail(struct lb_log *log)
{
    struct lb_history *history = log->history;
    off_t offset = hand_out_chunk(history);
    int error = posix_fallocate(history->fd, offset, LB_CHUNK_BYTES);
    if (error != 0)
        return log_fail(log, LB_E_ENV, error);
    struct lb_mapping *mapping = lb_calloc(1, sizeof *mapping);
    mapping->tail =
        mmap(NULL, LB_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, history->fd, offset);
    if (mapping->tail == MAP_FAILED) {
        free(mapping);
        return log_fail(log, LB_E_ENV, errno);
    }
    /* Release: lb_history_free, which acquires, sees the node whole. */
    mapping->next = atomic_load_explicit(&history->mappings, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&history->mappings, &mapping->next, mapping,
                                                  memory_order_release, memory_order_relaxed))
        ;
    log->mapping = mapping;
    struct lb_chunk_header *header = mapping->tail;
    header->log = log->number;
    header->is_tail = 1;
    header->sum = log->sum = lb_chunk_sum(log->number, 0);
    log->sum_at = &header->sum;
    __atomic_store_n(&header->magic, LB_CHUNK_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

/* Every AHEAD chunks, sets space aside for as many. The file does not grow by it, and without it,
 * as on a disk that is nearly full, the writing finds out whether there is space. */
static void set_aside(int fd, off_t offset)
{
    enum { AHEAD = 32 };
    if ((offset - LB_HISTORY_HEADER_BYTES) / LB_CHUNK_BYTES % AHEAD == 0 &&
        fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, (off_t)AHEAD * LB_CHUNK_BYTES) != 0)
        return;
}

/* All of it, or an errno. */
static int write_at(int fd, struct iovec *parts, int n_parts, off_t offset)
{
    while (n_parts > 0) {
        ssize_t written = pwritev(fd, parts, n_parts, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        offset += written;
        for (size_t left = (size_t)written; left > 0;) {
            size_t n = left < parts->iov_len ? left : parts->iov_len;
            parts->iov_base = (char *)parts->iov_base + n;
            parts->iov_len -= n;
            left -= n;
            if (parts->iov_len == 0) {
                parts++;
                n_parts--;
            }
        }
    }
    return 0;
}

/* Copies the full tail to a chunk of its own and clears it. */
static int put_tail_away(struct lb_log *log)
{
    int fd = log->history->fd;
    struct lb_chunk_header *tail = log->mapping->tail;
    struct lb_chunk_header header = *tail, none = {0};
    header.is_tail = 0;
    struct iovec whole[] = {{.iov_base = &none, .iov_len = sizeof none},
                            {.iov_base = tail + 1, .iov_len = LB_CHUNK_BYTES - sizeof none}};
    struct iovec head = {.iov_base = &header, .iov_len = sizeof header};
    off_t offset = hand_out_chunk(log->history);
    set_aside(fd, offset);
    int error = write_at(fd, whole, 2, offset);
    if (error == 0)
        error = write_at(fd, &head, 1, offset);
    if (error != 0)
        return log_fail(log, LB_E_ENV, error);
    memset(tail + 1, 0, LB_CHUNK_BYTES - sizeof header);
    log->sequence++;
    tail->sum = log->sum = lb_chunk_sum(log->number, log->sequence);
    __atomic_store_n(&tail->sequence, log->sequence, __ATOMIC_RELEASE);
    return 0;
}

void lb_log_start(struct lb_log *log)
{
    enum { SOON_BYTES = 1 << 16 }; /* later pages are touched when needed */
    if (log->mapping == NULL && lb_log_grow(log) == 0)
        madvise(log->mapping->tail, SOON_BYTES, MADV_POPULATE_WRITE);
}

int lb_log_grow(struct lb_log *log)
{
    int code = log->mapping == NULL ? make_tail(log) : put_tail_away(log);
    if (code != 0)
        return code;
    log->next = (struct lb_event *)((char *)log->mapping->tail + LB_CHUNK_HEADER_BYTES);
    log->end = log->next + LB_CHUNK_EVENTS;
    return 0;
}
