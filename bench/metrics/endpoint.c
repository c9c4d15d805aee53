/* The HTTP server of the figures: see metrics.h.
 *
 * Uses libmicrohttpd, if it was available when lockbench was built. The socket is made here, so
 * that an error with it becomes one line. The server's thread receives no signals.
 */
#include "memory.h"
#include "metrics.h"

#include <stdlib.h>

#ifndef LB_HAS_MICROHTTPD

int lb_endpoint_open(const char *where, struct lb_metrics *metrics, struct lb_endpoint **ret,
                     struct lb_error *err)
{
    (void)where, (void)metrics, (void)ret;
    return lb_fail(err, LB_E_ENV,
                   "option --metrics: this lockbench was built without libmicrohttpd; install "
                   "libmicrohttpd-dev and build it again");
}

void lb_endpoint_close(struct lb_endpoint *endpoint)
{
    (void)endpoint;
}

const char *lb_endpoint_url(const struct lb_endpoint *endpoint)
{
    (void)endpoint;
    return "";
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct lb_endpoint {
    struct MHD_Daemon *daemon;
    char url[100];
};

static int bad_place(const char *where, struct lb_error *err)
{
    return lb_fail(err, LB_E_USAGE,
                   "option --metrics: '%s' is not [HOST:]PORT of this machine, such as 9100, "
                   "localhost:9100 or [::1]:9100",
                   where);
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
               IN_LOOPBACKNET;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* HOST and PORT of "PORT", "HOST:PORT" or "[HOST]:PORT". */
static int split(const char *where, char *host, size_t size, const char **ret_port,
                 struct lb_error *err)
{
    const char *colon = strrchr(where, ':'), *from = where;
    size_t n = colon != NULL ? (size_t)(colon - where) : 0;
    const char *port = colon != NULL ? colon + 1 : where;
    char *end;
    if (n > 2 && where[0] == '[' && where[n - 1] == ']') {
        from++;
        n -= 2;
    } else if (memchr(where, ':', n) != NULL) {
        return bad_place(where, err);
    }
    unsigned long number = strtoul(port, &end, 10);
    if (strspn(port, "0123456789") != strlen(port) || end == port || number > 65535 || n >= size ||
        (colon != NULL && n == 0))
        return bad_place(where, err);
    snprintf(host, size, "%.*s", (int)n, colon != NULL ? from : "");
    if (colon == NULL)
        snprintf(host, size, "127.0.0.1");
    *ret_port = port;
    return 0;
}

/* A socket that listens there; < 0: errno says why not. */
static int listen_on(const struct addrinfo *address)
{
    int on = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, 16) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static void write_url(int fd, char *url, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "", port[8] = "";
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &length) == 0)
        getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(url, size,
             strchr(host, ':') != NULL ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host,
             port);
}

/* Returns the listening socket. A name may have an address of a family that is not there. */
static int listen_at(const char *where, struct lb_error *err)
{
    char host[64];
    const char *port;
    struct addrinfo *all = NULL, hints = {.ai_socktype = SOCK_STREAM};
    int fd = -1, rc = split(where, host, sizeof host, &port, err);
    if (rc != 0)
        return rc;
    bool is_here = getaddrinfo(host, port, &hints, &all) == 0;
    for (const struct addrinfo *a = all; a != NULL; a = a->ai_next)
        is_here = is_here && is_loopback(a->ai_addr);
    for (const struct addrinfo *a = all; is_here && a != NULL && fd < 0; a = a->ai_next)
        fd = listen_on(a);
    int why = errno;
    if (all != NULL)
        freeaddrinfo(all);
    if (!is_here)
        return bad_place(where, err);
    return fd >= 0 ? fd
                   : lb_fail(err, LB_E_ENV,
                             "option --metrics: cannot listen at %s: %s; 0 takes a free port",
                             where, strerror(why));
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    (void)version, (void)upload, (void)upload_size, (void)state;
    static char nothing[] = "lockbench: see /metrics\n";
    bool is_get =
        strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    bool is_there = strcmp(path, "/metrics") == 0;
    char *text = is_get && is_there ? lb_metrics_text(arg) : NULL;
    unsigned status = !is_get     ? MHD_HTTP_METHOD_NOT_ALLOWED
                      : !is_there ? MHD_HTTP_NOT_FOUND
                                  : MHD_HTTP_OK;
    char *body = text != NULL ? text : nothing;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(body), body, text != NULL ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "text/plain; version=0.0.4; charset=utf-8");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

int lb_endpoint_open(const char *where, struct lb_metrics *metrics, struct lb_endpoint **ret,
                     struct lb_error *err)
{
    enum { CONNECTIONS = 16, PATIENCE_S = 10 };
    sigset_t all, before;
    int fd = listen_at(where, err);
    if (fd < 0)
        return fd;
    struct lb_endpoint *endpoint = lb_calloc(1, sizeof *endpoint);
    write_url(fd, endpoint->url, sizeof endpoint->url);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    endpoint->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, metrics, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)PATIENCE_S, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (endpoint->daemon == NULL) {
        close(fd);
        free(endpoint);
        return lb_fail(err, LB_E_ENV, "option --metrics: the HTTP server could not be started");
    }
    *ret = endpoint;
    return 0;
}

void lb_endpoint_close(struct lb_endpoint *endpoint)
{
    if (endpoint == NULL)
        return;
    MHD_stop_daemon(endpoint->daemon); /* with the socket */
    free(endpoint);
}

const char *lb_endpoint_url(const struct lb_endpoint *endpoint)
{
    return endpoint->url;
}

#endif
