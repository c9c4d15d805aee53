/* Text in URIs. */
#ifndef LB_URI_TEXT_H
#define LB_URI_TEXT_H

#include <stddef.h>

/* Appends text to a URI, percent-encoded. Text that does not fit is cut. */
void lb_uri_add(char *uri, size_t size, const char *text);

#endif
