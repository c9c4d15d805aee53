/* Notes during a run: see note.h. */
#include "note.h"

#include "clock.h"

#include <stdio.h>

void lb_note_append(struct lb_log *log, uint32_t process, enum lb_op op, uint64_t value,
                    uint32_t target, uint32_t phase)
{
    if (log != NULL)
        lb_log_append(log, &(struct lb_event){.time_ns = lb_now_ns(),
                                              .value = value,
                                              .process = process,
                                              .object = phase,
                                              .arg = target,
                                              .op = (uint8_t)op,
                                              .type = LB_EV_NOTE});
}

void lb_first_note(struct lb_first *first, const struct lb_session *session, bool is_statement)
{
    int none = 0;
    char place[120] = "";
    atomic_fetch_add(&first->n, 1);
    if (!atomic_compare_exchange_strong(&first->state, &none, 1))
        return;
    first->at_ns = lb_now_ns();
    if (is_statement && session->refused_file != NULL)
        snprintf(place, sizeof place, "%.100s:%d: ", session->refused_file, session->refused_line);
    snprintf(first->text, sizeof first->text, "%s%s%s%s", place, session->native,
             session->native[0] != '\0' && session->message[0] != '\0' ? " " : "",
             session->message);
    for (char *c = first->text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    atomic_store(&first->state, 2);
}
