/* Engines by name, values: see db.h. */
#include "db.h"

#include "append.h"
#include "memory.h"
#include "text_clean.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool lb_value_int(const struct lb_value *value, int64_t *ret)
{
    char buf[32], *end;
    switch (value->type) {
    case LB_INT:
        *ret = value->integer;
        return true;
    case LB_REAL:
        *ret = (int64_t)value->real;
        return true;
    case LB_TEXT:
        if (value->length == 0 || value->length >= sizeof buf)
            return false;
        memcpy(buf, value->text, value->length);
        buf[value->length] = '\0';
        errno = 0;
        *ret = strtoll(buf, &end, 10);
        return errno == 0 && *end == '\0';
    case LB_NULL:
    default:
        return false;
    }
}

const struct lb_db *lb_engine_find(const char *name, size_t length)
{
    for (size_t i = 0; lb_engines[i] != NULL; i++)
        if (strncmp(lb_engines[i]->name, name, length) == 0 && lb_engines[i]->name[length] == '\0')
            return lb_engines[i];
    return NULL;
}

int lb_target_parse(const char *uri, struct lb_target *ret_target, struct lb_error *err)
{
    char label[512];
    for (size_t i = 0; lb_engines[i] != NULL; i++) {
        const struct lb_db *db = lb_engines[i];
        if (!db->match(uri))
            continue;
        int r = db->describe(uri, label, sizeof label, err);
        if (r < 0)
            return r;
        lb_clean_text(label);
        *ret_target =
            (struct lb_target){.db = db, .uri = lb_strdup(uri), .label = lb_strdup(label)};
        return 0;
    }
    char accepted[400] = "";
    for (size_t i = 0; lb_engines[i] != NULL; i++)
        lb_append(accepted, sizeof accepted, "%s%s", i > 0 ? ", " : "", lb_engines[i]->uri_help);
    /* The argument may contain a password, so only its scheme is repeated. */
    int scheme = (int)strcspn(uri, ":@/?= ");
    return lb_fail(err, LB_E_USAGE, "no engine takes a target like \"%.*s%s\"; accepted are %s",
                   scheme < 40 ? scheme : 40, uri, uri[scheme] != '\0' ? "..." : "", accepted);
}

void lb_target_release(struct lb_target *target)
{
    if (target == NULL)
        return;
    free(target->uri);
    free(target->label);
    memset(target, 0, sizeof *target);
}
