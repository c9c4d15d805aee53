/* The messages of PostgreSQL's protocol (version 3), as far as a relay needs to see them: where one
 * ends, which of a client's belong to one request, what statements these execute, and where the
 * answer ends. Nothing here reads or writes a socket, and nothing changes a byte.
 *
 * Bytes may come in any pieces. Of each message the first LB_WIRE_KEPT bytes are kept, whatever its
 * length, so that memory is bounded; a statement or a parameter that is longer is shown in part.
 *
 * Limits: a client that sends Execute and neither Sync nor Flush behind it, and waits for what the
 * server sends of its own accord, is not served; no driver is known that does.
 *
 * Source: PostgreSQL's documentation, "Frontend/Backend Protocol".
 */
#ifndef LB_WIRE_H
#define LB_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LB_WIRE_KEPT = 1 << 15,    /* bytes of a message that can be looked at */
    LB_WIRE_LONGEST = 1 << 30, /* a server's maximum */
    LB_WIRE_FIRST = 10000,     /* ... as a client's first message */
    LB_WIRE_TEXT = 1 << 15,    /* of a request: the text of its statements */
    LB_WIRE_PARAMS = 2000,     /* ... and of its parameters */
    LB_WIRE_NAMES = 1024,      /* prepared statements of a session whose texts are remembered */
    LB_WIRE_PORTALS = 64,      /* likewise, portals */
    LB_WIRE_TYPES = 32,        /* of a prepared statement: types of its parameters */
    LB_WIRE_COLUMNS = 16       /* of an answer: columns that are shown */
};

/* --- messages --- */

struct lb_wire_cutter {
    bool is_first; /* the next message is a client's first one, which has no type */
    uint8_t head[5];
    size_t n_head;
    bool is_in;    /* the head is complete: of a message with this type, */
    uint8_t type;  /* 0: none */
    uint32_t left; /* bytes of the body still to come */
    size_t n_kept; /* bytes kept so far */
    char kept[LB_WIRE_KEPT + 1];
    bool is_cut; /* there were more */
};

/* Takes bytes up to the end of a message, at most. Returns how many; *ret_ends: a message ends with
 * them, and is in the cutter until the next call. -1: this is not the protocol. */
long lb_wire_cut(struct lb_wire_cutter *cutter, const char *bytes, size_t n, bool *ret_ends);

/* What a client's first message asks for. */
enum lb_wire_start { LB_WIRE_SESSION, LB_WIRE_ENCRYPTION, LB_WIRE_CANCEL };
enum lb_wire_start lb_wire_start_of(const struct lb_wire_cutter *cutter);

/* --- a client's requests --- */

struct lb_wire_request {
    uint32_t n_statements; /* that it executes */
    char text[LB_WIRE_TEXT];
    char params[LB_WIRE_PARAMS]; /* of the last one: literals, one a line */
    bool is_cut;                 /* there is more text than that, or more of a parameter */
    bool awaits_ready;           /* its answer ends with ReadyForQuery, */
};                               /* or else with the answers of all its statements */

/* A prepared statement, or a portal. */
struct lb_wire_named {
    char *name, *text;             /* NULL: the place is free */
    char *params;                  /* of a portal: as a request's */
    uint32_t types[LB_WIRE_TYPES]; /* of a prepared statement */
    uint32_t n_types;
    bool is_cut;
};

struct lb_wire_front {
    struct lb_wire_named prepared[LB_WIRE_NAMES], portals[LB_WIRE_PORTALS];
    uint32_t n_prepared, n_portals, next_prepared, next_portal;
    struct lb_wire_request request; /* the one that is being read */
};

enum lb_wire_part {
    LB_WIRE_PASSES, /* of no request: a password, data of a COPY, the end of the session */
    LB_WIRE_GOES_ON,
    LB_WIRE_ENDS /* a request ends with it */
};

/* Takes note of a client's message. is_copying: the server reads a COPY's data. */
enum lb_wire_part lb_wire_front_take(struct lb_wire_front *front,
                                     const struct lb_wire_cutter *message, bool is_copying);
/* The next message begins another request. */
void lb_wire_front_next(struct lb_wire_front *front);
void lb_wire_front_free(struct lb_wire_front *front);

/* --- a server's answers --- */

struct lb_wire_answer {
    uint32_t n_done; /* statements that have been answered */
    bool has_failed;
    uint64_t n_rows;
    int64_t n_changed;
    char sqlstate[6];
    char message[256];
    char rows[600]; /* the first of them: "id=1 owner='w0'; ..." */
};

struct lb_wire_back {
    int64_t pid;     /* of the server's process; 0: it was not said */
    char status;     /* of the transaction: 'I' none, 'T' one, 'E' a failed one; 0: not ready yet */
    bool is_copying; /* it reads data of a COPY */
    bool is_stream;  /* both sides send data from here on, as in replication */
    struct lb_wire_answer answer;
    uint32_t n_columns;
    struct {
        char name[32];
        uint32_t type;
        bool is_binary;
    } columns[LB_WIRE_COLUMNS];
};

/* Takes note of a server's message. true: ReadyForQuery. */
bool lb_wire_back_take(struct lb_wire_back *back, const struct lb_wire_cutter *message);
/* The answer to another request begins. */
void lb_wire_back_next(struct lb_wire_back *back);

/* --- values --- */

/* Writes a value as a literal of SQL. size > 0. */
void lb_wire_literal(char *text, size_t size, const char *bytes, size_t n, bool is_binary,
                     uint32_t type);

/* Reads the fields of a message's body, and nothing behind its end: has_failed then. */
struct lb_wire_body {
    const char *at, *end;
    bool has_failed;
};
struct lb_wire_body lb_wire_body_of(const struct lb_wire_cutter *message);
uint32_t lb_wire_number(struct lb_wire_body *body, unsigned n_bytes);
const char *lb_wire_string(struct lb_wire_body *body);
const char *lb_wire_bytes(struct lb_wire_body *body, size_t n);

#endif
