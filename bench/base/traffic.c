/* Traffic by the kernel's count: see traffic.h.
 *
 * The descriptors of the process are listed, not asked for from their owners: a session may be
 * opened or closed by another thread at any time. A socket is known by its inode, so that a
 * descriptor that is used again counts from 0. TCP_INFO has the bytes since the connection was made
 * (Linux 4.1).
 */
#include "traffic.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct counted {
    uint64_t inode, sent, received;
};

struct peer {
    struct sockaddr_storage address;
    socklen_t length;
};

static bool peer_of(int fd, struct peer *ret_peer)
{
    memset(ret_peer, 0, sizeof *ret_peer);
    ret_peer->length = sizeof ret_peer->address;
    return getpeername(fd, (struct sockaddr *)&ret_peer->address, &ret_peer->length) == 0 &&
           (ret_peer->address.ss_family == AF_INET || ret_peer->address.ss_family == AF_INET6);
}

static bool read_socket(int fd, struct counted *ret)
{
    struct tcp_info info = {0};
    struct stat st;
    socklen_t length = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || fstat(fd, &st) != 0 ||
        length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    *ret = (struct counted){st.st_ino, info.tcpi_bytes_acked, info.tcpi_bytes_received};
    return true;
}

static struct counted before(const struct lb_array *sockets, uint64_t inode)
{
    const struct counted *all = sockets->items;
    for (size_t i = 0; i < sockets->n; i++)
        if (all[i].inode == inode)
            return all[i];
    return (struct counted){0};
}

static void count_one(struct lb_traffic *traffic, int fd, const struct peer *server,
                      struct lb_array *now)
{
    struct peer peer;
    struct counted one;
    if (!peer_of(fd, &peer) || peer.length != server->length ||
        memcmp(&peer.address, &server->address, server->length) != 0 || !read_socket(fd, &one))
        return;
    *(struct counted *)lb_array_push(now, sizeof one) = one;
    const struct counted last = before(&traffic->sockets, one.inode);
    bool goes_on = one.sent >= last.sent && one.received >= last.received;
    traffic->sent += goes_on ? one.sent - last.sent : one.sent;
    traffic->received += goes_on ? one.received - last.received : one.received;
}

int lb_traffic_count(struct lb_traffic *traffic, int fd)
{
    struct peer server;
    struct counted own;
    struct lb_array now = {0};
    if (!peer_of(fd, &server) || !read_socket(fd, &own))
        return -1;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (entry->d_name[0] != '.' && *end == '\0' && number != fd)
            count_one(traffic, (int)number, &server, &now);
    }
    if (dir != NULL)
        closedir(dir);
    free(traffic->sockets.items);
    traffic->sockets = now;
    return dir != NULL ? 0 : -1;
}
