/* The folder that a relay's socket is in. Private to bench/gate. */
#ifndef LB_RELAY_FOLDER_H
#define LB_RELAY_FOLDER_H

#include <stdbool.h>

struct lb_relay_folder {
    char path[64]; /* "": there is none */
    int lock;      /* -1: likewise */
};

/* A new one, which only this user can enter. Those that killed processes of this user have left
 * behind are removed before, once in a process. false: errno says why. */
bool lb_relay_folder_make(struct lb_relay_folder *ret_folder);
/* With the sockets in it. */
void lb_relay_folder_remove(struct lb_relay_folder *folder);

#endif
