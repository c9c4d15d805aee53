/* Text in URIs: see uri_text.h. */
#include "uri_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void lb_uri_add(char *uri, size_t size, const char *text)
{
    size_t n = strlen(uri);
    for (; *text != '\0' && n + 4 < size; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text) != NULL)
            uri[n++] = *text;
        else
            n += (size_t)snprintf(uri + n, 4, "%%%02X", (unsigned char)*text);
    }
    uri[n] = '\0';
}
