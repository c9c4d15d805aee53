/* Results of lockbench age on the page: the output of `lockbench age --format json`, beside
 * run.json as age.json, or alone. That output is one JSON object for each strategy and server, one
 * after the other, and no list. */
#include "page.h"

#include "regular_file.h"

#include <errno.h>
#include <sys/stat.h>

enum { LARGEST = 128 << 20 };

static bool has_more(FILE *file)
{
    int c = fgetc(file);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        c = fgetc(file);
    ungetc(c, file);
    return c != EOF;
}

int lb_page_ages(const char *path, json_t **ret, struct lb_error *err)
{
    json_error_t why;
    json_t *list = json_array();
    FILE *file = lb_regular_file_open(path);
    if (file == NULL || list == NULL) {
        json_decref(list);
        if (file != NULL)
            fclose(file);
        return lb_fail(err, LB_E_FILE, "%s: %s", path, lb_regular_file_reason(errno));
    }
    int rc = 0;
    for (bool is_first = true; rc == 0 && (has_more(file) || is_first); is_first = false) {
        json_t *age = json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &why);
        if (age == NULL)
            rc = lb_fail(err, LB_E_FILE, "%s: %s", path, why.text);
        else if (!json_is_object(json_object_get(age, "aged")))
            rc =
                lb_fail(err, LB_E_FILE, "%s: it is no output of lockbench age --format json", path);
        if (rc == 0)
            json_array_append(list, age);
        json_decref(age);
    }
    fclose(file);
    if (rc == 0)
        *ret = list;
    else
        json_decref(list);
    return rc;
}

int lb_page_load(const char *path, struct lb_stored *ret, struct lb_error *err)
{
    struct lb_error ignored;
    struct stat st;
    json_t *ages;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > LARGEST ||
        lb_page_ages(path, &ages, &ignored) != 0)
        return lb_stored_load(path, ret, err);
    int rc =
        lb_stored_of_json(json_pack("{s:s, s:i, s:s, s:[], s:o}", "schema", "lockbench-result",
                                    "schema_version", 1, "command", "age", "cells", "aged", ages),
                          ret, err);
    if (rc == 0)
        snprintf(ret->path, sizeof ret->path, "%s", path);
    return rc;
}
