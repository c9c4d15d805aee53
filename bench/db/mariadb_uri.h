/* mariadb://[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?socket=PATH], also as mysql://. */
#ifndef LB_MARIADB_URI_H
#define LB_MARIADB_URI_H

#include "error.h"

#include <stdbool.h>

struct lb_mariadb_uri {
    char user[129], password[257], host[256], database[65], socket[256]; /* "": not given */
    bool has_user, has_password;
    unsigned port; /* 0: not given */
};

bool lb_mariadb_uri_match(const char *uri);
/* 0 or LB_E_USAGE; the message never repeats what may be a password. Pure. */
int lb_mariadb_uri_parse(const char *uri, struct lb_mariadb_uri *ret, struct lb_error *err);

#endif
