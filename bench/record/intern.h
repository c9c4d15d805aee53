/* Numbers for names: 0, 1, ... in the order in which they appear. Private to bench/record.
 *
 * Open addressing with linear probing, at most half full. Texts are copied.
 */
#ifndef LB_INTERN_H
#define LB_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct lb_intern_slot {
    char *text; /* NULL: the key is length, a number */
    size_t length;
    uint32_t number_1; /* the number plus 1; 0: the slot is free */
};

/* Zeroed: empty. */
struct lb_intern {
    struct lb_intern_slot *slots;
    size_t size;
    uint32_t n;
};

/* The number of a text, or of a number. */
uint32_t lb_intern_text(struct lb_intern *intern, const char *text, size_t length);
uint32_t lb_intern_number(struct lb_intern *intern, uint64_t key);
/* The slot of a number, which has been given; its text is not ended by a NUL. Searches: for
 * messages only. */
const struct lb_intern_slot *lb_intern_slot_of(const struct lb_intern *intern, uint32_t number);
void lb_intern_release(struct lb_intern *intern);

#endif
