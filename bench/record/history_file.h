/* The history on disk; private to the writer and the reader of bench/record. See history.h. */
#ifndef LB_HISTORY_FILE_H
#define LB_HISTORY_FILE_H

#include "history.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "histories are mapped as they are, little endian"
#endif

/* The first line says what the file is to a person who opens it, and the line ends show a transfer
 * that changed them. */
#define LB_HISTORY_MAGIC "lockbench history\r\n\032\n"

/* Version 1 has no checksums: zeros where they are. */
enum { LB_HISTORY_VERSION = 2, LB_CHUNK_MAGIC = 0x6b68434c /* "LChk" */ };

struct lb_file_header {
    char magic[24];
    uint32_t version;
    uint32_t chunk_bytes, event_bytes, header_bytes;
    uint64_t start_ns, start_unix_ns;
    _Atomic uint64_t n_chunks; /* handed out, whether written to or not */
    _Atomic int32_t failure;   /* errno of the first chunk that could not be had; 0: none */
    _Atomic uint32_t meta_length;
    uint64_t fixed_sum; /* of the fields before n_chunks */
    uint64_t meta_sum;
    uint64_t
        seal; /* over all before it and each chunk's header, when the file was closed; else 0 */
    char reserved[160];
    char meta[LB_META_BYTES]; /* NUL-terminated within */
};

_Static_assert(sizeof(struct lb_file_header) == LB_HISTORY_HEADER_BYTES, "one header");

struct lb_chunk_header {
    uint32_t magic; /* 0: handed out, never written to; stored last */
    uint32_t log;
    uint32_t sequence; /* of this chunk in its log: 0.. */
    uint32_t is_tail;  /* the one that is written to; void once a chunk has the same sequence */
    uint64_t sum;      /* of the events, with log and sequence */
    uint32_t reserved[10];
};

_Static_assert(sizeof(struct lb_chunk_header) == LB_CHUNK_HEADER_BYTES, "one chunk header");

/* The source of a view's bytes. */
enum lb_mapped {
    LB_MAPPED_FILE,
    LB_MAPPED_LIVE, /* a file that is not sealed yet; it has no writer */
    LB_MAPPED_COPY  /* data from a pipe: it exists nowhere else, and is kept */
};

struct lb_mapped_file {
    void *base;
    size_t mapped, size; /* bytes that are mapped, and those of them that are the file's */
    const char *name;    /* for messages */
    enum lb_mapped kind;
    unsigned threads;                 /* 2 check the chunks in half the time */
    const struct lb_carried *carried; /* events that were taken out, by log; borrowed */
    size_t n_carried;
};

/* The view owns the mapping from then on, also when this fails. */
int lb_history_view_mapping(const struct lb_mapped_file *file, struct lb_history_view *ret_view,
                            struct lb_error *err);

#endif
