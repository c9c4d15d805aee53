/* mariadb://[USER[:PASSWORD]@][NODE[,NODE...]][/DATABASE][?SETTING[&SETTING]], also as mysql://.
 *
 * NODE is HOST[:PORT]. Settings: socket=PATH[,PATH...] instead of hosts; spread=round-robin (the
 * default: worker i begins with node i modulo their number) or first (all begin with the first);
 * ssl-mode=disabled|preferred|required|verify-ca|verify-identity, ssl-ca=FILE, ssl-cert=FILE,
 * ssl-key=FILE; sessionVariables=NAME=VALUE[,NAME=VALUE], as of MariaDB Connector/J, which each
 * session sets. A session that cannot reach its node tries the next.
 */
#ifndef LB_MARIADB_URI_H
#define LB_MARIADB_URI_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

enum { LB_MARIADB_NODES = 16 };

/* As the modes of the mariadb client's --ssl options and MySQL's --ssl-mode. */
enum lb_mariadb_ssl {
    LB_SSL_PREFERRED, /* not given: if the server can */
    LB_SSL_DISABLED,
    LB_SSL_REQUIRED,       /* encrypted, whoever answers */
    LB_SSL_VERIFY_CA,      /* ssl-ca has signed for the server */
    LB_SSL_VERIFY_IDENTITY /* and its name is the requested one */
};

struct lb_mariadb_node {
    char host[256], socket[256]; /* "": not given */
    unsigned port;               /* 0: not given */
};

struct lb_mariadb_uri {
    char user[129], password[257], database[65]; /* "": not given */
    char ssl_ca[256], ssl_cert[256], ssl_key[256];
    char session_variables[400]; /* "SET SESSION a = 1, SESSION b = 'x'"; "": none */
    enum lb_mariadb_ssl ssl;
    bool has_user, has_password;
    bool first; /* spread=first */
    size_t n_nodes;
    struct lb_mariadb_node nodes[LB_MARIADB_NODES]; /* at least one */
};

bool lb_mariadb_uri_match(const char *uri);
/* 0 or LB_E_USAGE; the message never repeats what may be a password. Pure. */
int lb_mariadb_uri_parse(const char *uri, struct lb_mariadb_uri *ret, struct lb_error *err);
/* HOST[:PORT] or the socket, as people read it. Pure. */
void lb_mariadb_node_format(const struct lb_mariadb_node *node, char *buf, size_t size);

#endif
