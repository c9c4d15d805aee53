/* A message between ranks: numbers and texts, one after the other. All ranks run the same build of
 * the program (they compare it when they meet), so that layout and byte order need no description.
 */
#ifndef LB_PARCEL_H
#define LB_PARCEL_H

#include "link.h"

enum lb_message {
    LB_MSG_MEET = 1, /* which build; host */
    LB_MSG_RUN,      /* the run and its target */
    LB_MSG_READY,    /* all of the rank's workers have their sessions */
    LB_MSG_FAILED,   /* an error ended the rank's part */
    LB_MSG_PING,     /* what does your clock say? */
    LB_MSG_PONG,
    LB_MSG_PHASE,    /* the phase to be in, and from when on */
    LB_MSG_PROGRESS, /* how far the rank is */
    LB_MSG_ORDER,    /* one of its workers is to carry out a fault */
    LB_MSG_WAVE,     /* queues: see peers.c */
    LB_MSG_DRAINED,  /* the queue is empty, for all */
    LB_MSG_RESULT,   /* the rank's outcome */
    LB_MSG_ENDED,    /* it has ended, without one */
    LB_MSG_PULL,     /* send more of the history */
    LB_MSG_EVENTS,   /* some events of one log; none: that was all */
    LB_MSG_OVER,     /* the run is over, for all */
    LB_MSG_BYE       /* and there is no other */
};

/* Zeroed: empty. Filled, or read from the start. */
struct lb_parcel {
    unsigned char *bytes;
    size_t n, room, at;
    bool failed; /* it was read beyond its end */
};

/* Empties it, and begins a message of a run. */
void lb_parcel_begin(struct lb_parcel *parcel, enum lb_message what, uint64_t run);
void lb_parcel_put(struct lb_parcel *parcel, const void *bytes, size_t n);
void lb_parcel_put_u64(struct lb_parcel *parcel, uint64_t value);
void lb_parcel_put_text(struct lb_parcel *parcel, const char *text); /* NULL stays NULL */
/* 0, or -1. */
int lb_parcel_send(struct lb_parcel *parcel, struct lb_link *link, uint32_t to);

/* The next message; the parcel owns it, and is released by the next call. false: none. */
bool lb_parcel_receive(struct lb_parcel *parcel, struct lb_link *link, uint32_t *ret_from,
                       enum lb_message *ret_what, uint64_t *ret_run);
void lb_parcel_take(struct lb_parcel *parcel, void *into, size_t n);
uint64_t lb_parcel_take_u64(struct lb_parcel *parcel);
/* In the parcel's own memory. */
const char *lb_parcel_take_text(struct lb_parcel *parcel);
/* The unread rest. */
const unsigned char *lb_parcel_rest(const struct lb_parcel *parcel, size_t *ret_n);
void lb_parcel_release(struct lb_parcel *parcel);

#endif
