/* One connection through the relay. Private to bench/gate. */
#ifndef LB_RELAY_LINK_H
#define LB_RELAY_LINK_H

#include "relay.h"

#include <netdb.h>

enum { LB_LINK_ROOM = 1 << 16 };

/* One side's socket. A reported state holds until the kernel reports another. */
struct lb_relay_side {
    int fd; /* -1: closed */
    int epoll;
    bool can_read, can_write, is_hung_up;
};

/* bytes[0 .. n): not passed on yet. */
struct lb_relay_buffer {
    size_t n;
    char bytes[LB_LINK_ROOM];
};

struct lb_relay_link {
    uint32_t number;
    struct lb_relay_side client, server;
    struct lb_relay_buffer to_server, to_client;
    size_t allowed, scanned; /* of to_server */
    struct lb_wire_cutter from_client, from_server;
    struct lb_wire_front front;
    struct lb_wire_back back;
    bool is_open;                   /* the server is known to be meant */
    bool is_connecting;             /* ... and not there yet */
    bool is_watched;                /* likewise: the kernel says when it is */
    const struct addrinfo *address; /* the one that is tried; NULL: a local socket */
    bool is_raw;                    /* nothing is looked at: a CancelRequest, or replication */
    bool is_ready;                  /* the session has begun */
    bool is_collecting;             /* some messages of a request have come */
    bool is_asked;                  /* a request waits to be let through */
    bool is_streamed;               /* it was let through before its end was there */
    bool is_taken;                  /* ... and the message that is under way was looked at */
    bool is_under_way, is_told;     /* an answer is awaited; the hooks know of it */
    bool has_copied;                /* it has read a COPY's data */
    bool is_cut;                    /* the client is gone; the server is let finish */
    bool is_over;                   /* both are */
    uint32_t n_asked;
    uint64_t start_ns, until_ns; /* of the request; it is asked about, or connected, again */
};

struct lb_link_frame {
    const struct lb_door *door;
    const struct addrinfo *addresses; /* of the server; NULL: a local socket */
    const struct lb_relay_hooks *hooks;
    void *arg;
    int epoll;
    bool has_ended;
};

/* A link for a client that was accepted; fd is taken. NULL: it cannot be watched. */
struct lb_relay_link *lb_link_new(int fd, uint32_t number, int epoll);
/* Passes on all bytes that can be sent now. */
void lb_link_advance(struct lb_relay_link *link, struct lb_link_frame *frame);
void lb_link_free(struct lb_relay_link *link);

#endif
