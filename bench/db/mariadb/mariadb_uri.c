/* MariaDB targets: see mariadb_uri.h. libmariadb reads no URIs, so they are read here, by RFC 3986:
 * the authority ends at the first '/' or '?', the user information at its last '@'. */
#include "mariadb_uri.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
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
static bool parse_host(const char *text, size_t length, struct lb_mariadb_node *node)
{
    const char *end = text + length, *port = memchr(text, ':', length);
    if (length > 0 && text[0] == '[') {
        const char *bracket = memchr(text, ']', length);
        if (bracket == NULL ||
            !decode(text + 1, (size_t)(bracket - text) - 1, node->host, sizeof node->host))
            return false;
        if (bracket + 1 == end)
            return true;
        port = bracket + 1;
        if (*port != ':')
            return false;
    } else if (!decode(text, port != NULL ? (size_t)(port - text) : length, node->host,
                       sizeof node->host)) {
        return false;
    }
    if (port == NULL)
        return true;
    for (port++; port < end; port++) {
        if (!isdigit((unsigned char)*port) || node->port > 65535)
            return false;
        node->port = node->port * 10 + (unsigned)(*port - '0');
    }
    return node->port > 0 && node->port <= 65535;
}

static size_t until_comma(const char *text, size_t length)
{
    const char *comma = memchr(text, ',', length);
    return comma != NULL ? (size_t)(comma - text) : length;
}

/* One node, or several with commas between; of several none may be empty. */
static bool parse_hosts(const char *text, size_t length, struct lb_mariadb_uri *uri)
{
    bool several = memchr(text, ',', length) != NULL;
    for (;;) {
        size_t n = until_comma(text, length);
        struct lb_mariadb_node *node = &uri->nodes[uri->n_nodes];
        if (uri->n_nodes == LB_MARIADB_NODES || !parse_host(text, n, node) ||
            (several && node->host[0] == '\0'))
            return false;
        uri->n_nodes++;
        if (n == length)
            return true;
        text += n + 1;
        length -= n + 1;
    }
}

static int parse_sockets(const char *text, size_t length, struct lb_mariadb_uri *uri,
                         struct lb_error *err)
{
    if (uri->n_nodes > 1 || uri->nodes[0].port != 0 ||
        (uri->nodes[0].host[0] != '\0' && strcmp(uri->nodes[0].host, "localhost") != 0))
        return lb_fail(err, LB_E_USAGE, "MariaDB: either a host or socket=PATH, not both");
    char host[sizeof uri->nodes[0].host];
    memcpy(host, uri->nodes[0].host, sizeof host);
    for (uri->n_nodes = 0;;) {
        size_t n = until_comma(text, length);
        struct lb_mariadb_node *node = &uri->nodes[uri->n_nodes];
        if (uri->n_nodes == LB_MARIADB_NODES)
            return lb_fail(err, LB_E_USAGE, "MariaDB: at most %d nodes", LB_MARIADB_NODES);
        memcpy(node->host, host, sizeof host);
        if (!decode(text, n, node->socket, sizeof node->socket) || node->socket[0] != '/')
            return lb_fail(err, LB_E_USAGE, "MariaDB: socket=PATH wants an absolute path");
        uri->n_nodes++;
        if (n == length)
            return 0;
        text += n + 1;
        length -= n + 1;
    }
}

static int parse_ssl_mode(const char *text, size_t length, struct lb_mariadb_uri *uri)
{
    static const char *const modes[] = {[LB_SSL_PREFERRED] = "preferred",
                                        [LB_SSL_DISABLED] = "disabled",
                                        [LB_SSL_REQUIRED] = "required",
                                        [LB_SSL_VERIFY_CA] = "verify-ca",
                                        [LB_SSL_VERIFY_IDENTITY] = "verify-identity"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strlen(modes[i]) == length && strncmp(modes[i], text, length) == 0) {
            uri->ssl = (enum lb_mariadb_ssl)i;
            return 0;
        }
    return -1;
}

/* NAME=VALUE[,NAME=VALUE] to a statement. Values are letters, digits and a few signs, so that
 * nothing needs escaping; text is put into quotes, and numbers are not, as MariaDB wants them. */
static int parse_variables(const char *text, size_t length, struct lb_mariadb_uri *uri,
                           struct lb_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char digits[] = "0123456789";
    char all[300], *rest = NULL;
    size_t used = 0;
    bool is_right = decode(text, length, all, sizeof all);
    for (char *one = is_right ? strtok_r(all, ",", &rest) : NULL; one != NULL && is_right;
         one = strtok_r(NULL, ",", &rest)) {
        size_t name = strspn(one, letters), n = strlen(one);
        const char *value = one + name + 1;
        is_right =
            name > 0 && one[name] == '=' && name + 1 < n &&
            strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:+- ") ==
                n - name - 1;
        if (!is_right)
            break;
        bool is_number = strspn(value, digits) == strlen(value);
        size_t room = sizeof uri->session_variables - used;
        int more = snprintf(uri->session_variables + used, room, "%s %.*s = %s%s%s",
                            used == 0 ? "SET SESSION" : ", SESSION", (int)name, one,
                            is_number ? "" : "'", value, is_number ? "" : "'");
        is_right = more > 0 && (size_t)more < room;
        used += is_right ? (size_t)more : 0;
    }
    return is_right && used > 0
               ? 0
               : lb_fail(err, LB_E_USAGE,
                         "MariaDB: sessionVariables wants NAME=VALUE[,NAME=VALUE] of letters, "
                         "digits and _ . : + -");
}

/* One NAME=VALUE. */
static int parse_setting(const char *text, size_t length, struct lb_mariadb_uri *uri,
                         struct lb_error *err)
{
    const struct {
        const char *name;
        char *value;
        size_t size;
    } files[] = {{"ssl-ca=", uri->ssl_ca, sizeof uri->ssl_ca},
                 {"ssl-cert=", uri->ssl_cert, sizeof uri->ssl_cert},
                 {"ssl-key=", uri->ssl_key, sizeof uri->ssl_key}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t n = strlen(files[i].name);
        if (length < n || strncmp(text, files[i].name, n) != 0)
            continue;
        if (!decode(text + n, length - n, files[i].value, files[i].size) ||
            files[i].value[0] != '/')
            return lb_fail(err, LB_E_USAGE, "MariaDB: %.*s=PATH wants an absolute path", (int)n - 1,
                           files[i].name);
        return 0;
    }
    if (length >= 7 && strncmp(text, "socket=", 7) == 0)
        return parse_sockets(text + 7, length - 7, uri, err);
    bool first = length == 12 && strncmp(text, "spread=first", length) == 0;
    if (first || (length == 18 && strncmp(text, "spread=round-robin", length) == 0)) {
        uri->first = first;
        return 0;
    }
    if (length > 9 && strncmp(text, "ssl-mode=", 9) == 0) {
        if (parse_ssl_mode(text + 9, length - 9, uri) == 0)
            return 0;
        return lb_fail(err, LB_E_USAGE,
                       "MariaDB: ssl-mode is disabled, preferred, required, verify-ca or "
                       "verify-identity");
    }
    if (length > 17 && strncmp(text, "sessionVariables=", 17) == 0)
        return parse_variables(text + 17, length - 17, uri, err);
    return lb_fail(err, LB_E_USAGE,
                   "MariaDB: unknown setting after ?; there are socket=PATH[,PATH...], "
                   "spread=round-robin or first, ssl-mode=MODE, ssl-ca=PATH, ssl-cert=PATH, "
                   "ssl-key=PATH and sessionVariables=NAME=VALUE[,NAME=VALUE]");
}

static int parse_query(const char *text, struct lb_mariadb_uri *uri, struct lb_error *err)
{
    for (bool more = true; more;) {
        size_t length = strcspn(text, "&");
        int r = parse_setting(text, length, uri, err);
        if (r < 0)
            return r;
        more = text[length] == '&';
        text += length + more;
    }
    if (uri->ssl == LB_SSL_DISABLED &&
        (uri->ssl_ca[0] != '\0' || uri->ssl_cert[0] != '\0' || uri->ssl_key[0] != '\0'))
        return lb_fail(err, LB_E_USAGE,
                       "MariaDB: ssl-mode=disabled, and files for it: leave out one");
    if (uri->ssl >= LB_SSL_VERIFY_CA && uri->ssl_ca[0] == '\0')
        return lb_fail(err, LB_E_USAGE,
                       "MariaDB: this ssl-mode wants ssl-ca=PATH, the certificate to verify with");
    return 0;
}

void lb_mariadb_node_format(const struct lb_mariadb_node *node, char *buf, size_t size)
{
    bool is_address = strchr(node->host, ':') != NULL;
    char port[8] = "";
    if (node->port != 0)
        snprintf(port, sizeof port, ":%u", node->port);
    if (node->socket[0] != '\0')
        snprintf(buf, size, "%s", node->socket);
    else
        snprintf(buf, size, "%s%s%s%s", is_address ? "[" : "", node->host, is_address ? "]" : "",
                 port);
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
    if (!parse_hosts(host, (size_t)(rest - host), &uri))
        return lb_fail(err, LB_E_USAGE,
                       "MariaDB: bad host or port in the URI (special characters of a user name or "
                       "password are written as %%XX; at most %d nodes)",
                       LB_MARIADB_NODES);
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
