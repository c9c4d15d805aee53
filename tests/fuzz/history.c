/* The reader of binary histories against anything that has the size of one.
 *
 * A file is 64 KiB of header and 256 KiB for each chunk, nearly all of it zeros or repetition: more
 * than a fuzzer can make sense of. The input is therefore a short description of a file: its first
 * bytes replace those of the header, then each record gives a chunk's header and its first events,
 * says whether the rest is filled with a valid event, and where the file is cut.
 */
#include "history_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER_BYTES = 80, CHUNK_BYTES = 16, CHUNKS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static void take(struct input *input, void *to, size_t n)
{
    if (n > input->size)
        n = input->size;
    memcpy(to, input->data, n);
    input->data += n;
    input->size -= n;
}

static void make_header(struct input *input, char *file)
{
    struct lb_file_header *header = (void *)file;
    uint8_t valid = 0;
    take(input, &valid, 1);
    if (valid % 8 == 0) {
        take(input, header, HEADER_BYTES);
        return;
    }
    memcpy(header->magic, LB_HISTORY_MAGIC, sizeof LB_HISTORY_MAGIC);
    /* The first version lets damaged events through to the code behind the checksums. */
    header->version = valid & 64 ? LB_HISTORY_VERSION : 1;
    header->chunk_bytes = LB_CHUNK_BYTES;
    header->event_bytes = sizeof(struct lb_event);
    header->header_bytes = LB_HISTORY_HEADER_BYTES;
    atomic_init(&header->n_chunks, valid % 5);
}

static void make_chunk(struct input *input, char *bytes)
{
    struct lb_chunk_header *header = (void *)bytes;
    struct lb_event *events = (void *)(bytes + sizeof *header);
    uint8_t shape[2] = {0, 0}; /* events, filling */
    take(input, shape, 2);
    if (shape[1] & 1) {
        uint8_t numbers[3] = {0, 0, 0};
        take(input, numbers, 3);
        header->magic = LB_CHUNK_MAGIC;
        header->log = numbers[0] == 255 ? UINT32_MAX : numbers[0] % 4;
        header->sequence = numbers[1] % 4;
        header->is_tail = numbers[2] % 2;
    } else {
        take(input, header, CHUNK_BYTES);
    }
    struct lb_event filler = {.op = LB_OP_ACQUIRE, .type = LB_EV_INVOKE};
    for (size_t i = 0; (shape[1] & 2) && i < LB_CHUNK_EVENTS; i++)
        events[i] = filler;
    for (size_t i = 0; i < shape[0] % 16; i++)
        take(input, &events[i].op, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t mapped = LB_HISTORY_HEADER_BYTES + CHUNKS * LB_CHUNK_BYTES;
    char *file = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file == MAP_FAILED)
        abort();
    struct input input = {data, size};
    uint8_t cut[3] = {0, 0, 0};
    take(&input, cut, 3);
    make_header(&input, file);
    size_t n = LB_HISTORY_HEADER_BYTES;
    for (size_t i = 0; i < CHUNKS && input.size > 0; i++, n += LB_CHUNK_BYTES)
        make_chunk(&input, file + n);
    size_t missing = (size_t)cut[0] | (size_t)cut[1] << 8 | (size_t)cut[2] << 16;
    n -= missing % 4 == 0 ? 0 : missing % n;

    struct lb_history_view view;
    struct lb_error err;
    int code = lb_history_view_mapping(&(struct lb_mapped_file){.base = file,
                                                                .mapped = mapped,
                                                                .size = n,
                                                                .name = "input",
                                                                .kind = LB_MAPPED_FILE,
                                                                .threads = 2},
                                       &view, &err);
    if (code != 0) {
        if (code != LB_E_FILE || strncmp(err.message, "input: ", 7) != 0)
            abort();
        return 0;
    }
    uint64_t events = 0;
    for (size_t i = 0; i < view.n_logs; i++) {
        uint64_t of_log = 0;
        for (size_t s = 0; s < view.logs[i].n_spans; s++)
            for (size_t k = 0; k < view.logs[i].spans[s].n; k++, of_log++) {
                const struct lb_event *event = &view.logs[i].spans[s].events[k];
                if ((const char *)(event + 1) > file + n || lb_op_name(event->op) == NULL ||
                    event->type < LB_EV_INVOKE || event->type > LB_EV_NOTE ||
                    event->answer >= LB_ANSWERS)
                    abort();
            }
        if (of_log != view.logs[i].n_events || view.logs[i].number != i)
            abort();
        events += of_log;
    }
    if (events != view.n_events || strlen(view.meta) >= LB_META_BYTES)
        abort();
    lb_history_release(&view);
    return 0;
}
