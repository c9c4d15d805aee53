/* One connection: bytes from the client that may pass, and answers. See relay.h. */
#include "relay_link.h"

#include "clock.h"
#include "memory.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* --- sockets --- */

/* A forked process may also have the socket until it executes another program, so closing it does
 * not end the watch: it must be removed explicitly. */
static void close_side(struct lb_relay_side *side)
{
    if (side->fd >= 0) {
        epoll_ctl(side->epoll, EPOLL_CTL_DEL, side->fd, NULL);
        close(side->fd);
    }
    *side = (struct lb_relay_side){.fd = -1};
}

/* operation: EPOLL_CTL_ADD or EPOLL_CTL_MOD. */
static bool watch(int epoll, int operation, int fd, uint32_t events, struct lb_relay_link *link)
{
    struct epoll_event event = {.events = events | EPOLLET, .data.ptr = link};
    return epoll_ctl(epoll, operation, fd, &event) == 0;
}

struct lb_relay_link *lb_link_new(int fd, uint32_t number, int epoll)
{
    struct lb_relay_link *link = lb_calloc(1, sizeof *link);
    if (!watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP, link)) {
        close(fd);
        free(link);
        return NULL;
    }
    link->number = number;
    link->client =
        (struct lb_relay_side){.fd = fd, .epoll = epoll, .can_read = true, .can_write = true};
    link->server.fd = -1;
    link->from_client.is_first = true;
    return link;
}

void lb_link_free(struct lb_relay_link *link)
{
    close_side(&link->client);
    close_side(&link->server);
    lb_wire_front_free(&link->front);
    free(link);
}

/* Asks for the connection, or how far it is. 0: it is there; EINPROGRESS: not yet; EAGAIN: it must
 * be asked for again. */
static int try_connect(struct lb_relay_link *link, const struct lb_link_frame *frame)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const struct sockaddr *address = (const struct sockaddr *)&local;
    socklen_t size = sizeof local;
    if (link->address != NULL) {
        address = link->address->ai_addr;
        size = link->address->ai_addrlen;
    } else {
        int n = snprintf(local.sun_path, sizeof local.sun_path, "%s/.s.PGSQL.%s",
                         frame->door->socket, frame->door->port);
        if (n < 0 || (size_t)n >= sizeof local.sun_path)
            return ENAMETOOLONG;
    }
    if (connect(link->server.fd, address, size) == 0 || errno == EISCONN)
        return 0;
    return errno == EALREADY || errno == EINTR ? EINPROGRESS : errno;
}

static bool open_socket(struct lb_relay_link *link, int epoll)
{
    int family = link->address != NULL ? link->address->ai_family : AF_UNIX;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    link->server = (struct lb_relay_side){.fd = fd, .epoll = epoll};
    return fd >= 0;
}

/* An error as a server sends it, so that the program's driver can say it. */
static void refuse(struct lb_relay_link *link)
{
    static const char body[] = "SFATAL\0VFATAL\0C08006\0Mthe gate cannot connect to the server\0";
    uint32_t length = sizeof body + 4; /* the NUL behind the last field is the body's own end */
    char *p = link->to_client.bytes + link->to_client.n;
    const char head[5] = {'E', 0, 0, 0, (char)length};
    memcpy(p, head, sizeof head);
    memcpy(p + sizeof head, body, sizeof body);
    link->to_client.n += sizeof head + sizeof body;
    link->to_server.n = link->allowed = link->scanned = 0;
}

/* The server is connected. Events requested earlier may have been reported with it. */
static bool begin_serving(struct lb_relay_link *link, const struct lb_link_frame *frame)
{
    int fd = link->server.fd, on = 1;
    if (link->address != NULL)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    link->server = (struct lb_relay_side){
        .fd = fd, .epoll = frame->epoll, .can_read = true, .can_write = true};
    return watch(frame->epoll, link->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd,
                 EPOLLIN | EPOLLRDHUP, link);
}

/* The next address, or none is left. */
static bool go_on_connecting(struct lb_relay_link *link, const struct lb_link_frame *frame)
{
    close_side(&link->server);
    link->is_watched = false;
    if (link->address != NULL)
        link->address = link->address->ai_next;
    return link->address != NULL && open_socket(link, frame->epoll);
}

/* Nothing here waits: others have their sessions. */
static void advance_connecting(struct lb_relay_link *link, const struct lb_link_frame *frame)
{
    enum { AGAIN_NS = 20000000 };
    link->until_ns = 0;
    while (link->is_connecting) {
        int error = link->server.fd >= 0 ? try_connect(link, frame) : EBADF;
        if (error == EAGAIN) { /* a socket's queue is full, and no event reports when it is not */
            link->until_ns = lb_now_ns() + AGAIN_NS;
            return;
        }
        if (error == EINPROGRESS) {
            link->is_watched = link->is_watched ||
                               watch(frame->epoll, EPOLL_CTL_ADD, link->server.fd, EPOLLOUT, link);
            return;
        }
        link->is_connecting = error != 0;
        if (error == 0 && begin_serving(link, frame))
            return;
        link->is_connecting = go_on_connecting(link, frame);
        if (!link->is_connecting)
            refuse(link);
    }
}

static void open_server(struct lb_relay_link *link, const struct lb_link_frame *frame)
{
    link->is_open = link->is_connecting = true;
    link->address = frame->addresses;
    open_socket(link, frame->epoll);
    link->allowed = link->scanned;
    advance_connecting(link, frame);
}

/* true: something was read. */
static bool read_side(struct lb_relay_side *side, struct lb_relay_buffer *buffer)
{
    size_t room = LB_LINK_ROOM - buffer->n;
    if (side->fd < 0 || !side->can_read || room == 0)
        return false;
    ssize_t n = recv(side->fd, buffer->bytes + buffer->n, room, MSG_DONTWAIT);
    if (n > 0) {
        side->can_read = (size_t)n == room || side->is_hung_up;
        buffer->n += (size_t)n;
        return true;
    }
    if (n < 0 && errno == EINTR)
        return true;
    side->can_read = false;
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
        close_side(side);
    return false;
}

/* The side accepts no more for now. Only from here on do we watch for writability: otherwise a peer
 * that reads all the time would wake the relay each time. */
static void stop_writing(struct lb_relay_link *link, struct lb_relay_side *side)
{
    side->can_write = false;
    watch(side->epoll, EPOLL_CTL_MOD, side->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP, link);
}

/* The first n bytes. true: some were written. */
static bool write_side(struct lb_relay_link *link, struct lb_relay_side *side,
                       struct lb_relay_buffer *buffer, size_t n, size_t *ret_written)
{
    *ret_written = 0;
    if (side->fd < 0 || !side->can_write || n == 0)
        return false;
    ssize_t some = send(side->fd, buffer->bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (some > 0) {
        if ((size_t)some < n)
            stop_writing(link, side);
        buffer->n -= (size_t)some;
        memmove(buffer->bytes, buffer->bytes + some, buffer->n);
        *ret_written = (size_t)some;
        return true;
    }
    if (some < 0 && errno == EINTR)
        return true;
    if (some < 0 && errno == EPIPE && side == &link->server) {
        side->can_read = side->is_hung_up = true; /* its last words, and then its end */
        side->can_write = false;
    } else if (some < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        close_side(side);
    else
        stop_writing(link, side);
    return false;
}

/* --- requests --- */

static struct lb_relay_statement statement_of(const struct lb_relay_link *link)
{
    return (struct lb_relay_statement){.request = &link->front.request,
                                       .answer = &link->back.answer,
                                       .start_ns = link->start_ns,
                                       .link = link->number,
                                       .pid = link->back.pid,
                                       .status = link->back.status,
                                       .n_asked = link->n_asked};
}

static void let_through(struct lb_relay_link *link, bool is_told)
{
    link->allowed = link->scanned;
    link->is_collecting = link->is_asked = false;
    link->is_under_way = link->is_streamed || link->front.request.awaits_ready ||
                         link->front.request.n_statements > 0;
    link->is_told = is_told;
    link->n_asked = 0;
    link->has_copied = false;
    link->start_ns = lb_now_ns();
    lb_wire_back_next(&link->back);
    if (!link->is_under_way)
        lb_wire_front_next(&link->front);
}

static void finish(struct lb_relay_link *link, const struct lb_link_frame *frame, bool is_lost)
{
    struct lb_relay_statement statement = statement_of(link);
    statement.end_ns = lb_now_ns();
    statement.is_lost = is_lost;
    statement.cut = link->is_cut ? "after" : NULL;
    link->is_under_way = link->is_streamed = false;
    if (link->is_told)
        frame->hooks->answered(frame->arg, &statement);
    link->is_told = false;
    lb_wire_front_next(&link->front);
}

/* Behind a Flush nothing says that the answer has ended. */
static void finish_flushed(struct lb_relay_link *link, const struct lb_link_frame *frame)
{
    const struct lb_wire_answer *answer = &link->back.answer;
    const struct lb_wire_request *request = &link->front.request;
    bool is_answered = answer->has_failed || answer->n_done >= request->n_statements;
    if (link->is_under_way && !link->is_streamed && !request->awaits_ready && is_answered)
        finish(link, frame, false);
}

static void cut_client(struct lb_relay_link *link)
{
    close_side(&link->client);
    link->to_client.n = 0;
    link->is_cut = true;
}

/* Asks what becomes of the request. true: it went on. */
static bool ask(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    struct lb_relay_statement statement = statement_of(link);
    if (link->until_ns > lb_now_ns())
        return false;
    link->until_ns = 0;
    link->n_asked++;
    enum lb_relay_verdict verdict = frame->hooks->asks(frame->arg, &statement, &link->until_ns);
    /* Of what is longer than the buffer the server would wait for the rest. */
    if (verdict == LB_RELAY_CUT_AFTER && link->is_streamed)
        verdict = LB_RELAY_CUT_BEFORE;
    switch (verdict) {
    case LB_RELAY_WAIT:
        return false;
    case LB_RELAY_CUT_AFTER:
        let_through(link, true);
        cut_client(link);
        return true;
    case LB_RELAY_CUT_BEFORE:
        statement.cut = "before";
        statement.start_ns = statement.end_ns = lb_now_ns();
        frame->hooks->answered(frame->arg, &statement);
        link->to_server.n = link->allowed = link->scanned = 0;
        link->is_asked = link->is_streamed = false;
        cut_client(link);
        close_side(&link->server);
        return true;
    case LB_RELAY_END:
        frame->has_ended = true;
        return false;
    case LB_RELAY_GO:
    default:
        let_through(link, true);
        return true;
    }
}

/* --- from the client --- */

static void begin_session(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    enum lb_wire_start start = lb_wire_start_of(&link->from_client);
    if (start == LB_WIRE_ENCRYPTION && link->to_client.n < LB_LINK_ROOM) {
        link->to_client.bytes[link->to_client.n++] = 'N';
        link->to_server.n -= link->scanned;
        memmove(link->to_server.bytes, link->to_server.bytes + link->scanned, link->to_server.n);
        link->scanned = 0;
        link->from_client.is_first = true;
        return;
    }
    link->is_raw = start == LB_WIRE_CANCEL;
    open_server(link, frame);
}

/* May this message pass while another request is under way? */
static bool may_pass(const struct lb_relay_link *link, uint8_t type)
{
    bool is_data = type == 'd' || type == 'c' || type == 'f' || type == 'p' || type == 'X';
    if (link->is_open && !link->is_ready) /* a request waits until the session has begun */
        return type == 'p' || type == 'X';
    if (!link->is_under_way || link->is_streamed)
        return true;
    /* A Sync or Flush that closes the data of a COPY: the one before was not heeded. */
    return is_data || ((type == 'S' || type == 'H') && link->has_copied);
}

/* A message has ended. */
static void take_message(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    bool is_copying = link->back.is_copying || (link->is_under_way && link->has_copied);
    if (!link->is_open) {
        begin_session(link, frame);
        return;
    }
    if (!link->is_ready) { /* passwords */
        link->allowed = link->scanned;
        return;
    }
    enum lb_wire_part part = link->is_taken && link->from_client.type == 'Q'
                                 ? LB_WIRE_ENDS
                                 : lb_wire_front_take(&link->front, &link->from_client, is_copying);
    link->is_taken = false;
    bool passes = part == LB_WIRE_PASSES && (!link->is_collecting || link->from_client.type == 'X');
    if (passes || link->is_streamed)
        link->allowed = link->scanned;
    else
        link->is_collecting = true;
    if (part != LB_WIRE_ENDS)
        return;
    if (link->is_streamed)
        link->is_streamed = false;
    else if (link->front.request.n_statements == 0)
        let_through(link, false);
    else
        link->is_asked = true;
}

/* The buffer is full, and its last message is not complete. */
static void take_large(struct lb_relay_link *link)
{
    uint8_t type = link->from_client.type;
    bool is_data = type == 'd' || type == 'p' || !link->is_ready;
    if (!link->is_open || is_data || link->is_streamed) {
        link->allowed = link->is_open ? link->scanned : 0;
        return;
    }
    link->is_taken = true;
    if (type == 'Q')
        lb_wire_front_take(&link->front, &link->from_client, false);
    else if (link->front.request.n_statements == 0)
        snprintf(link->front.request.text, sizeof link->front.request.text,
                 "(a request of more than %d bytes)", LB_LINK_ROOM);
    link->front.request.is_cut = link->is_streamed = link->is_asked = true;
}

/* Continues to parse the received bytes. true: it made progress. */
static bool scan(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    bool has_moved = false;
    while (link->scanned < link->to_server.n && !link->is_asked && !link->is_cut) {
        bool ends;
        if (link->is_raw) {
            link->allowed = link->scanned = link->to_server.n;
            return true;
        }
        bool begins = !link->from_client.is_in && link->from_client.n_head == 0;
        if (begins && link->is_open &&
            !may_pass(link, (uint8_t)link->to_server.bytes[link->scanned]))
            break;
        long n = lb_wire_cut(&link->from_client, link->to_server.bytes + link->scanned,
                             link->to_server.n - link->scanned, &ends);
        if (n < 0) {
            if (link->is_under_way)
                finish(link, frame, true);
            link->is_over = true;
            return false;
        }
        has_moved = true;
        link->scanned += (size_t)n;
        if (ends)
            take_message(link, frame);
        else if (link->to_server.n == LB_LINK_ROOM && link->allowed == 0)
            take_large(link);
        else if (link->is_streamed && !link->is_asked)
            link->allowed = link->scanned;
    }
    return has_moved;
}

/* --- from the server --- */

/* The answers that have come: from is where to begin in to_client. */
static void read_answers(struct lb_relay_link *link, struct lb_link_frame *frame, size_t from)
{
    while (from < link->to_client.n && !link->is_raw) {
        bool ends;
        long n = lb_wire_cut(&link->from_server, link->to_client.bytes + from,
                             link->to_client.n - from, &ends);
        if (n < 0) {
            link->is_raw = true; /* unknown to us, but the client may understand it */
            return;
        }
        from += (size_t)n;
        if (!ends)
            return;
        bool is_ready = lb_wire_back_take(&link->back, &link->from_server);
        const struct lb_wire_request *request = &link->front.request;
        link->is_raw = link->back.is_stream;
        link->has_copied = link->has_copied || link->back.is_copying;
        link->is_ready = link->is_ready || is_ready;
        if (link->is_under_way && !link->is_streamed && request->awaits_ready && is_ready)
            finish(link, frame, false);
        finish_flushed(link, frame);
    }
}

/* One side is gone: pass the remaining bytes to the other side, then end the link. */
static void end(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    bool is_served = link->client.fd >= 0 && link->to_client.n > 0;
    /* A COPY whose client was cut gets no more data. */
    bool is_awaited = link->is_under_way && !link->back.is_copying;
    bool is_serving = link->server.fd >= 0 && (link->allowed > 0 || link->is_cut) &&
                      (!link->is_cut || is_awaited);
    bool is_alone = link->client.fd < 0 || (link->is_open && link->server.fd < 0);
    if (link->client.fd < 0 && link->is_connecting && !link->is_raw)
        is_serving = false; /* the client left before the server was connected */
    if (!is_alone || is_served || is_serving)
        return;
    if (link->is_under_way)
        finish(link, frame, true);
    link->is_over = true;
}

/* To and from the server. true: something has moved. */
static bool serve(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    size_t written;
    bool has_moved = write_side(link, &link->server, &link->to_server, link->allowed, &written);
    link->allowed -= written;
    link->scanned -= written;
    size_t n_before = link->to_client.n;
    has_moved |= read_side(&link->server, &link->to_client);
    read_answers(link, frame, n_before);
    return has_moved;
}

void lb_link_advance(struct lb_relay_link *link, struct lb_link_frame *frame)
{
    bool has_moved = true;
    size_t written;
    while (has_moved && !link->is_over && !frame->has_ended) {
        has_moved = read_side(&link->client, &link->to_server);
        has_moved |= scan(link, frame);
        finish_flushed(link, frame);
        if (link->is_asked)
            has_moved |= ask(link, frame);
        if (link->is_connecting)
            advance_connecting(link, frame);
        else
            has_moved |= serve(link, frame);
        if (link->is_cut)
            link->to_client.n = 0;
        has_moved |= write_side(link, &link->client, &link->to_client, link->to_client.n, &written);
        end(link, frame);
    }
}
