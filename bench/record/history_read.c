/* The history's reader: see history.h.
 *
 * The file is mapped, not loaded: a view is an array of spans into the mapping, one per chunk. Its
 * cost is one pass over the chunk headers and one over the events, which proves
 * that every event has a type, an operation and an answer that exist, so that no later code needs
 * to look again. The same pass computes the sums of the events; chunks are independent, so two
 * threads can do it. Nothing in the file is trusted: sizes and numbers are compared with the file's
 * size before they are used.
 *
 * Limit: a file that another process truncates while it is mapped raises SIGBUS.
 */
#include "history.h"

#include "history_file.h"
#include "memory.h"
#include "pair.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a view of a mapping owns. */
struct mapped_view {
    struct lb_view_memory head;
    void *base;
    size_t size;
    struct lb_log_view *logs;
    struct lb_span *spans;
};

struct chunk {
    uint32_t log, sequence;
    bool is_tail;
    uint64_t sum;
    const struct lb_event *events;
    size_t n_whole; /* events that lie in the file: LB_CHUNK_EVENTS unless it was cut */
    size_t n;       /* those that count, and it is known */
    bool is_counted;
};

struct reader {
    const char *base, *name;
    size_t size;
    struct chunk *chunks;
    size_t n_chunks;
    uint64_t n_unread; /* chunks that were handed out and are not in the file */
    bool truncated, is_live;
    bool is_large;       /* pages are released after reading */
    bool has_sums;       /* its version has */
    bool is_sealed;      /* and the seal fits */
    uint64_t operations; /* bit i: operation i exists */
    const struct lb_carried *carried;
    size_t n_carried;
    struct lb_error *err;
};

static int damaged(const struct reader *reader, const char *what)
{
    return lb_fail(
        reader->err, LB_E_FILE,
        "%s: damaged: %s does not fit its checksum; take another copy, or record it again",
        reader->name, what);
}

static int check_header(struct reader *reader, const struct lb_file_header *header, uint32_t length)
{
    reader->has_sums = header->version > 1;
    if (!reader->has_sums) {
        if (header->fixed_sum != 0 || header->meta_sum != 0 || header->seal != 0)
            return damaged(reader, "the version, 1,");
        return 0;
    }
    if (header->fixed_sum != lb_bytes_sum(header, offsetof(struct lb_file_header, n_chunks)))
        return damaged(reader, "the header");
    if (length > 0 && header->meta_sum != lb_bytes_sum(header->meta, length))
        return damaged(reader, "the text of the header");
    return 0;
}

static int read_header(struct reader *reader, const struct lb_file_header **ret_header)
{
    const struct lb_file_header *header = (const void *)reader->base;
    if (reader->size < sizeof header->magic ||
        memcmp(header->magic, LB_HISTORY_MAGIC, sizeof LB_HISTORY_MAGIC) != 0)
        return lb_fail(reader->err, LB_E_FILE, "%s: not a lockbench history", reader->name);
    if (reader->size < sizeof *header)
        return lb_fail(reader->err, LB_E_FILE, "%s: cut off in the header (%zu of %d bytes)",
                       reader->name, reader->size, LB_HISTORY_HEADER_BYTES);
    if (header->version < 1 || header->version > LB_HISTORY_VERSION)
        return lb_fail(reader->err, LB_E_FILE, "%s: history version %u, this program reads 1 to %d",
                       reader->name, header->version, LB_HISTORY_VERSION);
    if (header->chunk_bytes != LB_CHUNK_BYTES || header->event_bytes != sizeof(struct lb_event) ||
        header->header_bytes != LB_HISTORY_HEADER_BYTES)
        return lb_fail(reader->err, LB_E_FILE, "%s: sizes in the header do not fit its version",
                       reader->name);
    uint32_t length = atomic_load_explicit(&header->meta_length, memory_order_acquire);
    if (length >= LB_META_BYTES || memchr(header->meta, '\0', length) != NULL ||
        header->meta[length] != '\0')
        return lb_fail(reader->err, LB_E_FILE, "%s: the header's text does not end", reader->name);
    *ret_header = header;
    return check_header(reader, header, length);
}

/* Files above this are not kept in memory: their pages would count as ours. */
static const size_t large_bytes = (size_t)1 << 30;

/* Reading a chunk's header maps the pages around it: for a large file, they are released now and
 * then. i: the chunk with the last header read. */
static void forget_headers(const struct reader *reader, size_t i)
{
    enum { OFTEN = 256 };
    size_t first = LB_HISTORY_HEADER_BYTES + (i + 1 - OFTEN) * LB_CHUNK_BYTES;
    if (reader->is_large && (i + 1) % OFTEN == 0) /* advice */
        (void)madvise((void *)(uintptr_t)(reader->base + first), OFTEN * LB_CHUNK_BYTES,
                      MADV_DONTNEED);
}

/* Collects the chunks that were written to. A chunk with header 0 was handed out to a writer that
 * was killed before it wrote. */
static int read_chunks(struct reader *reader, const struct lb_file_header *header)
{
    size_t rest = reader->size - LB_HISTORY_HEADER_BYTES;
    size_t in_file = (rest + LB_CHUNK_BYTES - 1) / LB_CHUNK_BYTES;
    /* Acquire pairs with nothing in particular: a live history's writers have been joined. */
    uint64_t handed_out = atomic_load_explicit(&header->n_chunks, memory_order_acquire);
    if (in_file > handed_out)
        return lb_fail(reader->err, LB_E_FILE, "%s: %zu chunks, but the header says %llu",
                       reader->name, in_file, (unsigned long long)handed_out);
    reader->n_unread = handed_out - in_file;
    reader->truncated = in_file < handed_out || rest % LB_CHUNK_BYTES != 0 ||
                        atomic_load_explicit(&header->failure, memory_order_relaxed) != 0;
    uint64_t seal = lb_seal_begin(reader->base), n_empty = 0;
    reader->chunks = lb_calloc(in_file, sizeof *reader->chunks);
    for (size_t i = 0; i < in_file; i++) {
        size_t offset = LB_HISTORY_HEADER_BYTES + i * LB_CHUNK_BYTES;
        size_t bytes = reader->size - offset;
        if (i > 0)
            forget_headers(reader, i - 1);
        seal = lb_seal_chunk(seal, reader->base, reader->size, offset);
        if (bytes > LB_CHUNK_BYTES)
            bytes = LB_CHUNK_BYTES;
        if (bytes < LB_CHUNK_HEADER_BYTES)
            continue; /* the last one, cut in its header */
        const struct lb_chunk_header *chunk = (const void *)(reader->base + offset);
        if (chunk->magic == 0) {
            n_empty++;
            continue;
        }
        if (chunk->magic != LB_CHUNK_MAGIC || chunk->log >= LB_MAX_LOGS || chunk->is_tail > 1)
            return lb_fail(reader->err, LB_E_FILE, "%s: offset %zu: not a chunk of events",
                           reader->name, offset);
        reader->chunks[reader->n_chunks++] = (struct chunk){
            .log = chunk->log,
            .sequence = chunk->sequence,
            .is_tail = chunk->is_tail != 0,
            .sum = chunk->sum,
            .events = (const void *)(chunk + 1),
            .n_whole = (bytes - LB_CHUNK_HEADER_BYTES) / sizeof(struct lb_event),
        };
    }
    reader->is_sealed = reader->has_sums && header->seal != 0 && header->seal == lb_seal_end(seal);
    /* Their writers were killed before they wrote, or their headers are gone. */
    reader->n_unread += reader->is_sealed || reader->is_live ? 0 : n_empty;
    return 0;
}

static int compare_chunks(const void *a, const void *b)
{
    const struct chunk *x = a, *y = b;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->is_tail - y->is_tail;
}

static void forget_chunk(const struct lb_event *events)
{
    uintptr_t chunk = (uintptr_t)events - LB_CHUNK_HEADER_BYTES;
    (void)madvise((void *)chunk, LB_CHUNK_BYTES, MADV_DONTNEED); /* advice; the file has it still */
}

void lb_history_forget(const struct lb_history_view *view, const struct lb_span *span)
{
    const struct mapped_view *mapped = view->memory;
    uintptr_t at = (uintptr_t)span->events;
    if (view->is_large && at >= (uintptr_t)mapped->base &&
        at < (uintptr_t)mapped->base + mapped->size)
        forget_chunk(span->events);
}

/* An event's last four bytes against what exists. */
static bool event_is_valid(const struct lb_event *event, uint64_t operations)
{
    return event->type <= LB_EV_NOTE && event->op < 64 && (operations >> event->op & 1) != 0 &&
           event->answer < LB_ANSWERS &&
           event->flags <= (LB_EVF_SHARED | LB_EVF_EFFECTIVE | LB_EVF_TOKEN | LB_EVF_OVER |
                            LB_EVF_FINAL | LB_EVF_COMMITTED);
}

static int damaged_chunk(const struct reader *reader, const struct chunk *chunk)
{
    char what[96];
    snprintf(what, sizeof what, "the block at offset %zu, part %u of log %u,",
             (size_t)((const char *)chunk->events - reader->base) - LB_CHUNK_HEADER_BYTES,
             chunk->sequence + 1, chunk->log);
    return damaged(reader, what);
}

/* The number of events in a chunk: up to the first that is not written. The checksum fits all of
 * them, or all but the last one of a tail, which is left out then: see history_sum.h. A chunk that
 * is cut has none that could be compared. */
static int count_events(const struct reader *reader, const struct chunk *chunk, size_t *ret_n)
{
    uint64_t operations = reader->operations;
    uint64_t sum = lb_chunk_sum(chunk->log, chunk->sequence), before = sum;
    size_t n = 0;
    while (n < chunk->n_whole && chunk->events[n].type != LB_EV_NONE) {
        if (!event_is_valid(&chunk->events[n], operations))
            return lb_fail(reader->err, LB_E_FILE, "%s: offset %zu: not an event", reader->name,
                           (size_t)((const char *)&chunk->events[n] - reader->base));
        before = sum;
        sum = lb_event_sum(sum, &chunk->events[n]);
        n++;
    }
    if (reader->is_large)
        forget_chunk(chunk->events);
    if (n < LB_CHUNK_EVENTS && !chunk->is_tail && chunk->n_whole == LB_CHUNK_EVENTS)
        return lb_fail(reader->err, LB_E_FILE, "%s: log %u: chunk %u ends early", reader->name,
                       chunk->log, chunk->sequence);
    if (reader->has_sums && chunk->n_whole == LB_CHUNK_EVENTS && chunk->sum != sum) {
        if (!chunk->is_tail || n == 0 || chunk->sum != before)
            return damaged_chunk(reader, chunk);
        n--;
    }
    *ret_n = n;
    return 0;
}

/* Every chunk, or every other one. */
struct share {
    struct reader reader; /* with an error of its own */
    struct lb_error unused;
    size_t first, step;
};

static void count_share(void *arg)
{
    struct share *share = arg;
    share->reader.err = &share->unused;
    for (size_t i = share->first; i < share->reader.n_chunks; i += share->step) {
        struct chunk *chunk = &share->reader.chunks[i];
        chunk->is_counted = count_events(&share->reader, chunk, &chunk->n) == 0;
    }
}

/* Counts the events of all chunks, in the order of the file: of a file that memory does not hold, a
 * log at a time would have it read once for every log, as the system reads ahead. Errors in a chunk
 * are not reported here: each chunk is counted again in its turn. */
static void count_all(const struct reader *reader, unsigned threads)
{
    const size_t step = threads > 1 ? 2 : 1;
    struct share even = {.reader = *reader, .step = step};
    struct share odd = {.reader = *reader, .first = 1, .step = step};
    if (step == 1)
        count_share(&even);
    else
        lb_pair(count_share, &even, &odd);
}

/* Spans of one log from its chunks first..last-1, in order. Where the file was cut, the log ends
 * before the first chunk that is not whole: its tail lies at the front of the file and may be left
 * without what came before it. */
static int read_log(struct reader *reader, size_t first, size_t last, struct lb_span *spans,
                    struct lb_log_view *log)
{
    const uint32_t number = reader->chunks[first].log;
    size_t expected = 0; /* sequence number */
    log->spans = spans;
    if (number < reader->n_carried && reader->carried[number].n_chunks > 0) {
        const struct lb_carried *carried = &reader->carried[number];
        expected = carried->n_chunks;
        spans[log->n_spans++] = (struct lb_span){carried->events, carried->n};
        log->n_events = carried->n;
    }
    while (first < last && reader->chunks[first].sequence < expected)
        first++; /* it was to be taken out */
    for (size_t i = first; i < last; i++, expected++) {
        const struct chunk *chunk = &reader->chunks[i];
        if (i > first && chunk->sequence == chunk[-1].sequence) {
            if (chunk->is_tail && !chunk[-1].is_tail && i + 1 == last)
                break; /* killed between the copy and the clearing of the tail */
            return lb_fail(reader->err, LB_E_FILE, "%s: log %u has two chunks %u", reader->name,
                           chunk->log, chunk->sequence);
        }
        if (chunk->sequence != expected && reader->truncated)
            break;
        if (chunk->sequence != expected)
            return lb_fail(reader->err, LB_E_FILE, "%s: log %u: chunk %zu is missing", reader->name,
                           chunk->log, expected);
        size_t n = chunk->n;
        int code = chunk->is_counted ? 0 : count_events(reader, chunk, &n);
        if (code != 0)
            return code;
        bool is_cut = chunk->n_whole < LB_CHUNK_EVENTS;
        spans[log->n_spans++] = (struct lb_span){chunk->events, n};
        log->n_events += n;
        if (is_cut)
            break;
        if (chunk->is_tail && i + 1 < last)
            return lb_fail(reader->err, LB_E_FILE, "%s: log %u goes on after its tail",
                           reader->name, chunk->log);
    }
    return 0;
}

/* A log that is cut says nothing after its last event. Which logs are, need not be known, if only
 * none is missing altogether. */
static uint64_t whole_until(const struct reader *reader, const struct lb_history_view *view)
{
    uint64_t until = UINT64_MAX, n_missing = 0;
    for (size_t i = 0; i < reader->n_chunks; i++) {
        const struct chunk *chunk = &reader->chunks[i];
        bool is_last = i + 1 == reader->n_chunks || chunk[1].log != chunk->log;
        size_t n_spans = view->logs[chunk->log].n_spans;
        n_missing += is_last && chunk->sequence >= n_spans ? chunk->sequence + 1 - n_spans : 0;
    }
    if (reader->n_unread > n_missing)
        return 0;
    for (size_t i = 0; i < view->n_logs; i++) {
        const struct lb_log_view *log = &view->logs[i];
        const struct lb_span *last = log->n_spans > 0 ? &log->spans[log->n_spans - 1] : NULL;
        if (log->n_events == 0)
            continue;
        if (last->n == 0)
            last--;
        if (last->events[last->n - 1].time_ns < until)
            until = last->events[last->n - 1].time_ns;
    }
    return until != UINT64_MAX ? until : 0;
}

static int build_view(struct reader *reader, const struct lb_file_header *header, unsigned threads,
                      struct mapped_view *memory, struct lb_history_view *view)
{
    int code = read_chunks(reader, header);
    if (code != 0)
        return code;
    for (int op = 0; op < 64; op++)
        if (lb_op_name(op) != NULL)
            reader->operations |= UINT64_C(1) << op;
    count_all(reader, threads);
    qsort(reader->chunks, reader->n_chunks, sizeof *reader->chunks, compare_chunks);
    size_t n_logs = reader->n_chunks > 0 ? reader->chunks[reader->n_chunks - 1].log + 1u : 0;
    memory->logs = lb_calloc(n_logs + 1, sizeof *memory->logs);
    memory->spans = lb_calloc(reader->n_chunks + n_logs + 1, sizeof *memory->spans);
    for (size_t i = 0; i < n_logs; i++)
        memory->logs[i].number = (uint32_t)i;
    for (size_t i = 0, j; i < reader->n_chunks; i = j) {
        uint32_t log = reader->chunks[i].log;
        for (j = i; j < reader->n_chunks && reader->chunks[j].log == log; j++)
            ;
        code = read_log(reader, i, j, memory->spans + i + log, &memory->logs[log]);
        if (code != 0)
            return code;
        view->n_events += memory->logs[log].n_events;
    }
    /* A file that was cut says so; its seal is that of the whole one. */
    if (header->seal != 0 && !reader->is_sealed && !reader->truncated)
        return damaged(reader, "the file as a whole");
    reader->truncated |= reader->has_sums && reader->n_unread > 0;
    view->n_logs = n_logs;
    view->logs = memory->logs;
    if (reader->truncated)
        view->whole_ns = whole_until(reader, view);
    view->start_ns = view->begin_ns = header->start_ns;
    view->start_unix_ns = header->start_unix_ns;
    /* Without a length its writer was killed while it was set. */
    view->meta = header->meta_length > 0 ? header->meta : "";
    view->truncated = reader->truncated;
    view->is_unchecked = !reader->has_sums;
    view->is_large = reader->is_large;
    return 0;
}

static void free_mapped_view(struct lb_view_memory *memory)
{
    struct mapped_view *mapped = (struct mapped_view *)memory;
    munmap(mapped->base, mapped->size);
    free(mapped->logs);
    free(mapped->spans);
    free(mapped);
}

int lb_history_view_mapping(const struct lb_mapped_file *file, struct lb_history_view *ret_view,
                            struct lb_error *err)
{
    struct mapped_view *memory = lb_calloc(1, sizeof *memory);
    memory->head.release = free_mapped_view;
    memory->base = file->base;
    memory->size = file->mapped;
    struct reader reader = {.base = file->base,
                            .name = file->name,
                            .size = file->size,
                            .is_live = file->kind == LB_MAPPED_LIVE,
                            /* with chunks taken out, most of it is holes */
                            .is_large = file->kind != LB_MAPPED_COPY &&
                                        (file->size > large_bytes || file->n_carried > 0),
                            .carried = file->carried,
                            .n_carried = file->n_carried,
                            .err = err};
    struct lb_history_view view = {.memory = memory};
    const struct lb_file_header *header = NULL;
    int code = read_header(&reader, &header);
    if (code == 0)
        code = build_view(&reader, header, file->threads, memory, &view);
    free(reader.chunks);
    if (code != 0) {
        free_mapped_view(&memory->head);
        return code;
    }
    *ret_view = view;
    return 0;
}

int lb_history_open(const char *path, struct lb_history_view *ret_view, struct lb_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return lb_fail(err, LB_E_FILE, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return lb_fail(err, LB_E_FILE, "%s: not a lockbench history (%s)", path,
                       S_ISREG(st.st_mode) ? "empty" : "not a regular file");
    }
    void *base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    int saved = errno;
    close(fd);
    if (base == MAP_FAILED)
        return lb_fail(err, LB_E_FILE, "%s: cannot map: %s", path, strerror(saved));
    (void)madvise(base, (size_t)st.st_size, MADV_SEQUENTIAL);
    return lb_history_view_mapping(&(struct lb_mapped_file){.base = base,
                                                            .mapped = (size_t)st.st_size,
                                                            .size = (size_t)st.st_size,
                                                            .name = path,
                                                            .kind = LB_MAPPED_FILE,
                                                            .threads = 1},
                                   ret_view, err);
}

void lb_history_release(struct lb_history_view *view)
{
    if (view == NULL || view->memory == NULL)
        return;
    struct lb_view_memory *memory = view->memory;
    memory->release(memory);
    memset(view, 0, sizeof *view);
}
