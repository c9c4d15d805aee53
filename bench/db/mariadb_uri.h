/* mariadb://[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?SETTING=VALUE&...], also as mysql://.
 *
 * Settings: socket=PATH, ssl-mode=disabled|preferred|required|verify-ca|verify-identity,
 * ssl-ca=FILE, ssl-cert=FILE, ssl-key=FILE.
 */
#ifndef LB_MARIADB_URI_H
#define LB_MARIADB_URI_H

#include "error.h"

#include <stdbool.h>

/* As the modes of the mariadb client's --ssl options and MySQL's --ssl-mode. */
enum lb_mariadb_ssl {
    LB_SSL_PREFERRED, /* not given: if the server can */
    LB_SSL_DISABLED,
    LB_SSL_REQUIRED,       /* encrypted, whoever answers */
    LB_SSL_VERIFY_CA,      /* ssl-ca has signed for the server */
    LB_SSL_VERIFY_IDENTITY /* and its name is the one that was asked for */
};

struct lb_mariadb_uri {
    char user[129], password[257], host[256], database[65], socket[256]; /* "": not given */
    char ssl_ca[256], ssl_cert[256], ssl_key[256];
    enum lb_mariadb_ssl ssl;
    bool has_user, has_password;
    unsigned port; /* 0: not given */
};

bool lb_mariadb_uri_match(const char *uri);
/* 0 or LB_E_USAGE; the message never repeats what may be a password. Pure. */
int lb_mariadb_uri_parse(const char *uri, struct lb_mariadb_uri *ret, struct lb_error *err);

#endif
