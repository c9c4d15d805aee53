/* A hash table with open addressing: see visited.h. */
#include "visited.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

static struct lb_visited_state *place(struct lb_visited_state *states, size_t room,
                                      const uint64_t digest[2])
{
    size_t i = (size_t)(digest[0] ^ digest[0] >> 32) & (room - 1);
    while (states[i].is_used &&
           (states[i].digest[0] != digest[0] || states[i].digest[1] != digest[1]))
        i = (i + 1) & (room - 1);
    return &states[i];
}

static bool grow(struct lb_visited *visited)
{
    size_t room = visited->room > 0 ? visited->room * 2 : FIRST_ROOM;
    struct lb_visited_state *states = calloc(room, sizeof *states);
    if (states == NULL)
        return false;
    for (size_t i = 0; i < visited->room; i++)
        if (visited->states[i].is_used)
            *place(states, room, visited->states[i].digest) = visited->states[i];
    free(visited->states);
    visited->states = states;
    visited->room = room;
    return true;
}

bool lb_visited_find(struct lb_visited *visited, const uint64_t digest[2], uint32_t asleep,
                     uint32_t **ret_asleep)
{
    if (2 * visited->n >= visited->room && !grow(visited))
        return false;
    struct lb_visited_state *state = place(visited->states, visited->room, digest);
    bool is_old = state->is_used;
    if (!is_old) {
        *state = (struct lb_visited_state){{digest[0], digest[1]}, asleep, true};
        visited->n++;
    }
    *ret_asleep = &state->asleep;
    return is_old;
}

void lb_visited_free(struct lb_visited *visited)
{
    free(visited->states);
    *visited = (struct lb_visited){0};
}

void lb_visited_mix(uint64_t digest[2], uint64_t value)
{
    digest[0] = (digest[0] ^ value) * UINT64_C(0x9fb21c651e98df25);
    digest[0] ^= digest[0] >> 28;
    digest[1] = (digest[1] ^ (value + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
    digest[1] ^= digest[1] >> 29;
}
