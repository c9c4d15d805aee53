/* The names that histories in text have for items and resources: numbers of their own, the same for
 * the same name in every file that is read with one table. Private to bench/record, but for
 * lb_names_new, lb_names_free (interchange.h) and the two that tell a name (history.h).
 */
#ifndef LB_NAMES_H
#define LB_NAMES_H

#include "intern.h"
#include "text_scan.h"

struct lb_names {
    struct lb_intern objects; /* keys of tuples */
    struct lb_intern keys;    /* of attributes: keys, tenants and unique keys */
    struct lb_intern items;   /* values of items that are no integers, or too small ones */
};

/* The number of a value in a table. A text includes the quote or colon before it, but not its
 * escapes: "1", :1 and 1 differ; "a" and "\u0061" do not. */
uint32_t lb_names_number(struct lb_intern *table, const struct lb_raw *value);

/* Writes the text without its escapes, which the reader of the format has found to be whole, to
 * buf; it is no longer than with them. Returns its length. */
size_t lb_names_unescape(const char *text, size_t length, char *buf);

#endif
