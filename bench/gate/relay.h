/* A relay between a program and its PostgreSQL server, which sees each request before the server
 * does, and its answer's end. The program is given the relay's own address: a socket in a folder
 * that only this user can enter or, where the server is reached over the network, a port of the
 * loopback interface. All bytes are passed on as they came, but for the question whether the
 * connection shall be encrypted, which is answered with no: it never leaves this machine. The
 * server's own questions for passwords pass through, and so do CancelRequests.
 *
 * One request of a connection is under way at a time; those behind it wait in the relay. If a
 * request is longer than the buffer, the hook sees the part that fits; the rest passes through.
 *
 * Two ways to drive it: lb_relay_start gives it a thread; or the caller waits until lb_relay_fd is
 * readable and calls lb_relay_pump, which calls the hooks.
 */
#ifndef LB_RELAY_H
#define LB_RELAY_H

#include "db.h"
#include "wire.h"

struct lb_relay;
struct lb_relay_link;

/* A request, and what became of it. */
struct lb_relay_statement {
    const struct lb_wire_request *request;
    const struct lb_wire_answer *answer; /* so far */
    uint64_t start_ns, end_ns;           /* it went out; its answer ended */
    uint32_t link;                       /* number of the connection, from 1 */
    int64_t pid;                         /* of the server's process; 0: not known */
    char status;      /* of the transaction, before or behind it: 'I' none, 'T' one, 'E' failed */
    bool is_lost;     /* the connection ended before the answer did */
    const char *cut;  /* the client's was cut: "before" the request went out, or "after"; or NULL */
    uint32_t n_asked; /* how often the hook was asked about it before */
};

enum lb_relay_verdict {
    LB_RELAY_GO,
    LB_RELAY_WAIT,       /* until *ret_until_ns; then it is asked again */
    LB_RELAY_CUT_BEFORE, /* the connection is cut, and the server never gets the request */
    LB_RELAY_CUT_AFTER,  /* the server gets it, and the connection is cut before the answer */
    LB_RELAY_END         /* all connections are cut, and the relay is of no use any more */
};

struct lb_relay_hooks {
    enum lb_relay_verdict (*asks)(void *arg, const struct lb_relay_statement *statement,
                                  uint64_t *ret_until_ns);
    void (*answered)(void *arg, const struct lb_relay_statement *statement);
};

/* door: how the server is reached. hooks and arg are borrowed. LB_E_UNSUPPORTED: it is to be
 * reached over an encrypted connection only. LB_E_ENV. */
int lb_relay_new(const struct lb_door *door, const struct lb_relay_hooks *hooks, void *arg,
                 struct lb_relay **ret_relay, struct lb_error *err);
/* How the program reaches the relay. */
const struct lb_door *lb_relay_door(const struct lb_relay *relay);
/* LB_E_ENV. */
int lb_relay_start(struct lb_relay *relay, struct lb_error *err);
/* Readable when there is something to do; or it is at lb_relay_due_ns (UINT64_MAX: no time). */
int lb_relay_fd(const struct lb_relay *relay);
uint64_t lb_relay_due_ns(const struct lb_relay *relay);
/* Performs all work that needs no waiting. false: it has ended (LB_RELAY_END). */
bool lb_relay_pump(struct lb_relay *relay);
/* Ends all connections. Accepts NULL. */
void lb_relay_free(struct lb_relay *relay);

#endif
