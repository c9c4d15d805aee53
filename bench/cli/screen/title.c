/* The process's title: see title.h. */
#include "title.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* USER:PASSWORD@ after "://": from the first colon to the last @ of the authority. A password that
 * is not written as it should be may hold a slash: then it ends at the last @ of all. */
static void hide_in_uri(char *uri)
{
    char *colon = strchr(uri, ':'), *at = strrchr(uri, '@');
    if (colon == NULL || at == NULL || at < colon)
        return;
    for (colon++; colon < at; colon++)
        *colon = '*';
}

/* "password=VALUE", also as "sslpassword=": to a blank or &; quoted: to the end, to be sure. */
static void hide_value(char *value)
{
    size_t length = *value == '\'' ? strlen(value) : strcspn(value, " &");
    memset(value, '*', length);
}

char **lb_title_take(int argc, char **argv)
{
    char **copies = lb_calloc((size_t)argc + 1, sizeof *copies);
    for (int i = 0; i < argc; i++) {
        copies[i] = lb_strdup(argv[i]);
        for (char *at = argv[i]; (at = strstr(at, "://")) != NULL;)
            hide_in_uri(at += 3);
        for (char *at = argv[i]; (at = strstr(at, "password")) != NULL;) {
            at += strlen("password");
            size_t blanks = strspn(at, " ");
            if (at[blanks] != '=')
                continue;
            at += blanks + 1;
            at += strspn(at, " ");
            hide_value(at);
        }
    }
    return copies;
}

void lb_title_free(char **copies)
{
    for (char **copy = copies; *copy != NULL; copy++)
        free(*copy);
    free(copies);
}
