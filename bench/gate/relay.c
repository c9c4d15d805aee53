/* The relay: its address, its connections, and its thread. See relay.h. */
#include "relay.h"

#include "clock.h"
#include "memory.h"
#include "nearest.h"
#include "relay_folder.h"
#include "relay_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINKS = 64, EVENTS = 32 };

struct lb_relay {
    struct lb_door server, own;
    struct lb_link_frame frame;
    int listener, stop;
    struct lb_relay_folder folder;
    struct lb_relay_link *links[LINKS];
    uint32_t n_accepted;
    uint64_t deaf_until_ns; /* accepts nothing until then: out of descriptors; 0: accepts */
    struct addrinfo *addresses;
    pthread_t thread;
    bool has_thread;
};

/* --- its address --- */

/* Settings that concern the way to the server, and not the session. */
static const char of_the_way[] =
    "host,hostaddr,port,sslmode,sslrootcert,sslcert,sslkey,sslcrl,gssencmode,sslsni,"
    "sslnegotiation,sslcertmode,sslcrldir,sslpassword,channel_binding,ssl_min_protocol_version,"
    "krbsrvname,sslcompression,ssl_max_protocol_version,target_session_attrs,requirepeer";
static const char encrypted_only[] =
    "sslmode=require,sslmode=verify-ca,sslmode=verify-full,channel_binding=require";

/* Is text, of n bytes, one of the list? */
static bool is_one(const char *text, size_t n, const char *list)
{
    char copy[40]; /* longer than all of them */
    snprintf(copy, sizeof copy, "%.*s", (int)n, text);
    return lb_is_listed(copy, list);
}

/* The server's URI with the relay's address. */
static int write_uri(struct lb_relay *relay, struct lb_error *err)
{
    const char *given = relay->server.uri, *at = strchr(given, '@');
    const char *path = at != NULL ? strchr(at, '/') : NULL;
    size_t n_path = path != NULL ? strcspn(path, "?") : 0;
    char *uri = relay->own.uri;
    const size_t size = sizeof relay->own.uri;
    size_t n;
    if (path == NULL)
        return lb_fail(err, LB_E_INTERNAL, "the gate does not understand the server's URI");
    bool is_local = relay->own.socket[0] != '\0';
    n = (size_t)snprintf(uri, size, "%.*s%s%s%s%.*s", (int)(at - given) + 1, given, relay->own.host,
                         is_local ? "" : ":", is_local ? "" : relay->own.port, (int)n_path, path);
    n += (size_t)snprintf(uri + n, size - n, "?sslmode=disable");
    if (is_local)
        n += (size_t)snprintf(uri + n, size - n, "&host=%s&port=%s", relay->own.socket,
                              relay->own.port);
    for (const char *s = path + n_path; *s != '\0' && n < size;) {
        size_t length = strcspn(++s, "&");
        if (is_one(s, length, encrypted_only))
            return lb_fail(err, LB_E_UNSUPPORTED,
                           "the gate has no encrypted connection to the server, and %.*s asks for "
                           "one: without --trace, and without the faults cut and slow, the program "
                           "connects by itself",
                           (int)length, s);
        if (!is_one(s, strcspn(s, "=&"), of_the_way))
            n += (size_t)snprintf(uri + n, size - n, "&%.*s", (int)length, s);
        s += length;
    }
    return n < size ? 0 : lb_fail(err, LB_E_UNSUPPORTED, "the server's URI is too long");
}

static int fail_listen(struct lb_error *err)
{
    return lb_fail(err, LB_E_ENV, "the gate cannot listen: %s", strerror(errno));
}

/* false: with errno. */
static bool listen_at(struct lb_relay *relay, const void *address, socklen_t size)
{
    const struct sockaddr *at = address;
    relay->listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return relay->listener >= 0 && bind(relay->listener, at, size) == 0 &&
           listen(relay->listener, LINKS) == 0;
}

static int listen_local(struct lb_relay *relay, struct lb_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!lb_relay_folder_make(&relay->folder))
        return fail_listen(err);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%s", relay->folder.path,
             relay->server.port);
    if (!listen_at(relay, &address, sizeof address))
        return fail_listen(err);
    snprintf(relay->own.socket, sizeof relay->own.socket, "%s", relay->folder.path);
    return 0;
}

static int listen_near(struct lb_relay *relay, struct lb_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (!listen_at(relay, &address, sizeof address) ||
        getsockname(relay->listener, (struct sockaddr *)&address, &size) != 0)
        return fail_listen(err);
    snprintf(relay->own.host, sizeof relay->own.host, "127.0.0.1");
    snprintf(relay->own.port, sizeof relay->own.port, "%u", ntohs(address.sin_port));
    return 0;
}

/* Once: names may take long to be looked up, and sessions would wait for that. */
static int find_server(struct lb_relay *relay, struct lb_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int error = getaddrinfo(relay->server.host, relay->server.port, &hints, &relay->addresses);
    relay->frame.addresses = relay->addresses;
    return error == 0 ? 0
                      : lb_fail(err, LB_E_ENV, "the gate cannot find %s: %s", relay->server.host,
                                gai_strerror(error));
}

static int open_relay(struct lb_relay *relay, struct lb_error *err)
{
    struct epoll_event event = {.events = EPOLLIN};
    relay->own = relay->server;
    bool is_local = relay->server.socket[0] != '\0';
    int rc = is_local ? listen_local(relay, err) : listen_near(relay, err);
    if (rc == 0 && !is_local)
        rc = find_server(relay, err);
    if (rc == 0)
        rc = write_uri(relay, err);
    if (rc != 0)
        return rc;
    relay->frame.epoll = epoll_create1(EPOLL_CLOEXEC);
    relay->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    event.data.ptr = relay;
    if (relay->frame.epoll < 0 || relay->stop < 0 ||
        epoll_ctl(relay->frame.epoll, EPOLL_CTL_ADD, relay->listener, &event) != 0)
        return fail_listen(err);
    event.data.ptr = NULL;
    if (epoll_ctl(relay->frame.epoll, EPOLL_CTL_ADD, relay->stop, &event) != 0)
        return fail_listen(err);
    return 0;
}

int lb_relay_new(const struct lb_door *door, const struct lb_relay_hooks *hooks, void *arg,
                 struct lb_relay **ret_relay, struct lb_error *err)
{
    struct lb_relay *relay = lb_calloc(1, sizeof *relay);
    relay->server = *door;
    relay->listener = relay->stop = relay->folder.lock = -1;
    relay->frame =
        (struct lb_link_frame){.door = &relay->server, .hooks = hooks, .arg = arg, .epoll = -1};
    int rc = open_relay(relay, err);
    if (rc == 0)
        *ret_relay = relay;
    else
        lb_relay_free(relay);
    return rc;
}

const struct lb_door *lb_relay_door(const struct lb_relay *relay)
{
    return &relay->own;
}

/* --- its work --- */

/* As a server says it, so that the program's driver can tell. */
static void refuse_more(int fd)
{
    static const char error[] =
        "SFATAL\0VFATAL\0C53300\0Mtoo many connections of one program: the gate has room for 64\0";
    _Static_assert(LINKS == 64, "the message says so");
    const char head[5] = {'E', 0, 0, 0, (char)(sizeof error + 4)};
    /* Do not wait if the message does not fit into an unused socket's buffer. */
    bool is_said = send(fd, head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL) > 0 &&
                   send(fd, error, sizeof error, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
    (void)is_said;
    close(fd);
}

static void listen_for(struct lb_relay *relay, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = relay};
    epoll_ctl(relay->frame.epoll, EPOLL_CTL_MOD, relay->listener, &event);
}

/* A client that cannot be accepted would wake the relay continuously, so it waits for a while. */
static void stop_listening(struct lb_relay *relay)
{
    enum { DEAF_NS = 50000000 };
    listen_for(relay, 0);
    relay->deaf_until_ns = lb_now_ns() + DEAF_NS;
}

static void listen_again(struct lb_relay *relay)
{
    if (relay->deaf_until_ns == 0 || lb_now_ns() < relay->deaf_until_ns)
        return;
    relay->deaf_until_ns = 0;
    listen_for(relay, EPOLLIN);
}

/* One more than there is room for is refused. */
static void accept_client(struct lb_relay *relay)
{
    int fd, on = 1;
    while ((fd = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        uint32_t i = 0;
        while (i < LINKS && relay->links[i] != NULL)
            i++;
        if (i == LINKS) {
            refuse_more(fd);
            continue;
        }
        if (relay->server.socket[0] == '\0')
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        relay->links[i] = lb_link_new(fd, ++relay->n_accepted, relay->frame.epoll);
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        stop_listening(relay);
}

/* The event does not name the side: the following read or write finds out. */
static void note_event(struct lb_relay_link *link, uint32_t events)
{
    bool is_over = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    struct lb_relay_side *sides[] = {&link->client, &link->server};
    for (size_t i = 0; i < 2; i++) {
        sides[i]->can_read = sides[i]->can_read || is_over || (events & EPOLLIN) != 0;
        sides[i]->can_write = sides[i]->can_write || is_over || (events & EPOLLOUT) != 0;
        sides[i]->is_hung_up = sides[i]->is_hung_up || is_over;
    }
}

static void advance_all(struct lb_relay *relay)
{
    for (uint32_t i = 0; i < LINKS; i++) {
        struct lb_relay_link *link = relay->links[i];
        if (link == NULL)
            continue;
        lb_link_advance(link, &relay->frame);
        if (link->is_over) {
            relay->links[i] = NULL;
            lb_link_free(link);
        }
    }
}

static void end_all(struct lb_relay *relay)
{
    for (uint32_t i = 0; i < LINKS; i++) {
        if (relay->links[i] != NULL)
            lb_link_free(relay->links[i]);
        relay->links[i] = NULL;
    }
}

/* Events that are there, after at most timeout_ms. false: it is to stop. */
static bool turn(struct lb_relay *relay, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    bool goes_on = true;
    listen_again(relay);
    int n = epoll_wait(relay->frame.epoll, events, EVENTS, timeout_ms);
    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == NULL)
            goes_on = false;
        else if (events[i].data.ptr == relay)
            accept_client(relay);
        else
            note_event(events[i].data.ptr, events[i].events);
    }
    advance_all(relay);
    if (relay->frame.has_ended)
        end_all(relay);
    return goes_on && !relay->frame.has_ended;
}

int lb_relay_fd(const struct lb_relay *relay)
{
    return relay->frame.epoll;
}

uint64_t lb_relay_due_ns(const struct lb_relay *relay)
{
    uint64_t due_ns = relay->deaf_until_ns != 0 ? relay->deaf_until_ns : UINT64_MAX;
    for (uint32_t i = 0; i < LINKS; i++) {
        const struct lb_relay_link *link = relay->links[i];
        if (link != NULL && (link->is_asked || link->is_connecting) && link->until_ns != 0 &&
            link->until_ns < due_ns)
            due_ns = link->until_ns;
    }
    return due_ns;
}

bool lb_relay_pump(struct lb_relay *relay)
{
    return turn(relay, 0);
}

static void *run(void *arg)
{
    struct lb_relay *relay = arg;
    int timeout_ms = -1;
    while (turn(relay, timeout_ms)) {
        uint64_t due_ns = lb_relay_due_ns(relay), now_ns = lb_now_ns();
        timeout_ms = due_ns == UINT64_MAX ? -1
                     : due_ns <= now_ns   ? 0
                                          : (int)((due_ns - now_ns) / 1000000) + 1;
    }
    return NULL;
}

int lb_relay_start(struct lb_relay *relay, struct lb_error *err)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int error = pthread_create(&relay->thread, NULL, run, relay);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    relay->has_thread = error == 0;
    return error == 0
               ? 0
               : lb_fail(err, LB_E_ENV, "the gate cannot start a thread: %s", strerror(error));
}

void lb_relay_free(struct lb_relay *relay)
{
    static const uint64_t one = 1;
    if (relay == NULL)
        return;
    if (relay->has_thread && write(relay->stop, &one, sizeof one) == (ssize_t)sizeof one)
        pthread_join(relay->thread, NULL);
    end_all(relay);
    if (relay->listener >= 0)
        close(relay->listener);
    if (relay->stop >= 0)
        close(relay->stop);
    if (relay->frame.epoll >= 0)
        close(relay->frame.epoll);
    if (relay->addresses != NULL)
        freeaddrinfo(relay->addresses);
    lb_relay_folder_remove(&relay->folder);
    free(relay);
}
