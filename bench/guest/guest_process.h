/* Declarations shared by the files of this module. */
#ifndef LB_GUEST_PROCESS_H
#define LB_GUEST_PROCESS_H

#include "guest.h"
#include "strays.h"

#include <jansson.h>
#include <sys/types.h>

enum { LB_GUEST_OPTIONS = 16, LB_GUEST_LINE = 1 << 20 };

struct lb_guest {
    const char *path;
    char mark[LB_STRAY_MARK]; /* of all its processes; "": none was started */
    json_t *hello;            /* owns the texts of what follows */
    struct lb_option options[LB_GUEST_OPTIONS + 1];
    char engines[64];
    struct lb_program stated; /* facts about items, and no statements */
    struct lb_strategy strategy;
};

/* One process of the program. */
struct lb_guest_process {
    const char *path;           /* for messages */
    const char *mark;           /* in its environment */
    const char *who;            /* likewise: "w3", "setup" */
    const struct lb_door *door; /* its password is never shown; NULL: no database */
    pid_t pid;                  /* of the process and of its group; 0: there is none */
    int to, from, errors;
    int life;   /* can be read once it has ended */
    char *text; /* input that was read but not used yet */
    size_t n, room;
    char last[256];    /* line on its standard error */
    char partial[256]; /* the one that is not complete */
    size_t n_partial;
    struct lb_relay *relay; /* is driven while its answer is awaited; NULL: there is none */
};

/* A process with its pipes; nothing is read yet. 0, LB_E_ENV or LB_E_FILE. */
int lb_guest_spawn(struct lb_guest_process *process, struct lb_error *err);
/* Writes one line. 0, or what kept it from being read. */
int lb_guest_send(struct lb_guest_process *process, const json_t *request, uint64_t deadline_ns,
                  const char *what, struct lb_error *err);
/* The next line, as an object that the caller frees. what: the operation, for messages. Errors:
 * LB_E_PROGRAM when it has ended, LB_E_FILE when the line is not an object; LB_E_INTERRUPTED,
 * without a message, when there is none by deadline_ns. */
int lb_guest_receive(struct lb_guest_process *process, uint64_t deadline_ns, const char *what,
                     json_t **ret_line, struct lb_error *err);
/* Sets the error "PATH, w3, acquire: PROBLEM; the last line on its standard error". */
int lb_guest_fail(struct lb_guest_process *process, int code, const char *what,
                  struct lb_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Puts asterisks where the password is. door may be NULL. */
void lb_guest_hide(const struct lb_door *door, char *text);
/* Makes what a program has said safe to print, in place: without the password. door may be NULL. */
void lb_guest_clean(const struct lb_door *door, char *text);
/* Closes its input and waits for its end, at most so long; then its whole group is killed. */
void lb_guest_end(struct lb_guest_process *process, uint32_t grace_ms);

enum { LB_GUEST_COMMON_OPTIONS = 2 };
/* The options that every program has. */
extern const struct lb_option lb_guest_common_options[LB_GUEST_COMMON_OPTIONS];

/* Turns the first line into a strategy. path must outlive it; takes hello over, also on an error.
 * Returns 0 or LB_E_FILE. */
int lb_guest_read(const char *path, json_t *hello, struct lb_guest **ret_guest,
                  struct lb_error *err);
/* Reads the first line of a process. */
int lb_guest_hello(struct lb_guest_process *process, uint32_t start_ms, json_t **ret_hello,
                   struct lb_error *err);

extern const struct lb_flow lb_guest_flow;

/* The names of the attributes in lines of JSON. */
extern const char *const lb_guest_attributes[LB_ATTRIBUTES];

#endif
