/* Bytes that this process exchanges with one server over TCP, as the kernel counts them. */
#ifndef LB_TRAFFIC_H
#define LB_TRAFFIC_H

#include "array.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed to begin with; the owner frees sockets.items. */
struct lb_traffic {
    uint64_t sent, received; /* payload, of connections that were open at one of the calls */
    struct lb_array sockets; /* private */
};

/* Adds the bytes since the last call of all connections to the server at the other end of fd,
 * except fd itself. A connection that opened and closed between two calls is missing. 0, or -1: fd
 * is not a TCP socket (a Unix socket has no such counts), or /proc cannot be read. */
int lb_traffic_count(struct lb_traffic *traffic, int fd);

#endif
