/* MariaDB targets: see mariadb_uri.h. libmariadb reads no URIs, so they are read here, by RFC 3986:
 * the authority ends at the first '/' or '?', the user information at its last '@'. */
#include "mariadb_uri.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool lb_mariadb_uri_match(const char *uri)
{
    return strncmp(uri, "mariadb://", 10) == 0 || strncmp(uri, "mysql://", 8) == 0;
}

/* Decodes %XX. false: malformed, too long, or with a NUL in it. */
static bool decode(const char *text, size_t length, char *buf, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            if (i + 2 >= length || !isxdigit((unsigned char)text[i + 1]) ||
                !isxdigit((unsigned char)text[i + 2]))
                return false;
            const char hex[] = {text[i + 1], text[i + 2], '\0'};
            c = (char)strtoul(hex, NULL, 16);
            i += 2;
        }
        if (c == '\0' || n + 1 >= size)
            return false;
        buf[n++] = c;
    }
    buf[n] = '\0';
    return true;
}

static bool parse_user(const char *text, size_t length, struct lb_mariadb_uri *uri)
{
    const char *colon = memchr(text, ':', length);
    size_t user = colon != NULL ? (size_t)(colon - text) : length;
    uri->has_user = true;
    uri->has_password = colon != NULL;
    return decode(text, user, uri->user, sizeof uri->user) &&
           (colon == NULL ||
            decode(colon + 1, length - user - 1, uri->password, sizeof uri->password));
}

/* HOST, HOST:PORT or [ADDRESS]:PORT. */
static bool parse_host(const char *text, size_t length, struct lb_mariadb_uri *uri)
{
    const char *end = text + length, *port = memchr(text, ':', length);
    if (length > 0 && text[0] == '[') {
        const char *bracket = memchr(text, ']', length);
        if (bracket == NULL ||
            !decode(text + 1, (size_t)(bracket - text) - 1, uri->host, sizeof uri->host))
            return false;
        if (bracket + 1 == end)
            return true;
        port = bracket + 1;
        if (*port != ':')
            return false;
    } else if (!decode(text, port != NULL ? (size_t)(port - text) : length, uri->host,
                       sizeof uri->host)) {
        return false;
    }
    if (port == NULL)
        return true;
    for (port++; port < end; port++) {
        if (!isdigit((unsigned char)*port) || uri->port > 65535)
            return false;
        uri->port = uri->port * 10 + (unsigned)(*port - '0');
    }
    return uri->port > 0 && uri->port <= 65535;
}

static int parse_query(const char *text, struct lb_mariadb_uri *uri, struct lb_error *err)
{
    if (strncmp(text, "socket=", 7) != 0 || strchr(text, '&') != NULL)
        return lb_fail(err, LB_E_USAGE, "MariaDB: the only setting after ? is socket=PATH");
    if (!decode(text + 7, strlen(text + 7), uri->socket, sizeof uri->socket) ||
        uri->socket[0] != '/')
        return lb_fail(err, LB_E_USAGE, "MariaDB: socket=PATH wants an absolute path");
    if (uri->host[0] != '\0' && strcmp(uri->host, "localhost") != 0)
        return lb_fail(err, LB_E_USAGE, "MariaDB: either a host or socket=PATH, not both");
    return 0;
}

int lb_mariadb_uri_parse(const char *text, struct lb_mariadb_uri *ret, struct lb_error *err)
{
    struct lb_mariadb_uri uri = {0};
    const char *authority = strstr(text, "://") + 3;
    size_t length = strcspn(authority, "/?");
    const char *rest = authority + length, *host = authority;
    for (size_t i = 0; i < length; i++)
        if (authority[i] == '@')
            host = authority + i + 1;
    if (host > authority && !parse_user(authority, (size_t)(host - authority) - 1, &uri))
        return lb_fail(err, LB_E_USAGE,
                       "MariaDB: bad user name or password in the URI (special characters are "
                       "written as %%XX)");
    if (!parse_host(host, (size_t)(rest - host), &uri))
        return lb_fail(err, LB_E_USAGE,
                       "MariaDB: bad host or port in the URI (special characters of a user name or "
                       "password are written as %%XX)");
    if (*rest == '/') {
        rest++;
        length = strcspn(rest, "?");
        if (!decode(rest, length, uri.database, sizeof uri.database))
            return lb_fail(err, LB_E_USAGE, "MariaDB: bad database name in the URI");
        rest += length;
    }
    if (*rest == '?') {
        int r = parse_query(rest + 1, &uri, err);
        if (r < 0)
            return r;
    }
    *ret = uri;
    return 0;
}
