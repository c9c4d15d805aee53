/* The functions of a SQLite library: of the one that lockbench is linked with, or of another one
 * that -d sqlite:?library=PATH names. Several libraries may be in use at the same time, each with
 * files of its own: two of them must never have the same file open, since closing it in one would
 * drop the POSIX locks of the other.
 *
 * A loaded library stays until the process ends.
 */
#ifndef LB_SQLITE_LIBRARY_H
#define LB_SQLITE_LIBRARY_H

#include "error.h"

#include <sqlite3.h>

#define LB_SQLITE_FUNCTIONS(X)                                                                     \
    X(bind_double)                                                                                 \
    X(bind_int64)                                                                                  \
    X(bind_null)                                                                                   \
    X(bind_parameter_count)                                                                        \
    X(bind_text)                                                                                   \
    X(bind_value)                                                                                  \
    X(busy_handler)                                                                                \
    X(changes64)                                                                                   \
    X(close)                                                                                       \
    X(column_blob)                                                                                 \
    X(column_bytes)                                                                                \
    X(column_count)                                                                                \
    X(column_double)                                                                               \
    X(column_int64)                                                                                \
    X(column_name)                                                                                 \
    X(column_text)                                                                                 \
    X(column_type)                                                                                 \
    X(column_value)                                                                                \
    X(create_function_v2)                                                                          \
    X(errmsg)                                                                                      \
    X(exec)                                                                                        \
    X(extended_errcode)                                                                            \
    X(extended_result_codes)                                                                       \
    X(finalize)                                                                                    \
    X(get_autocommit)                                                                              \
    X(interrupt)                                                                                   \
    X(libversion)                                                                                  \
    X(libversion_number)                                                                           \
    X(open)                                                                                        \
    X(open_v2)                                                                                     \
    X(prepare_v2)                                                                                  \
    X(prepare_v3)                                                                                  \
    X(progress_handler)                                                                            \
    X(reset)                                                                                       \
    X(result_error)                                                                                \
    X(result_value)                                                                                \
    X(step)                                                                                        \
    X(stmt_readonly)                                                                               \
    X(stmt_status)                                                                                 \
    X(threadsafe)                                                                                  \
    X(total_changes64)                                                                             \
    X(user_data)                                                                                   \
    X(value_int64)                                                                                 \
    X(value_text)                                                                                  \
    X(value_type)

struct lb_sqlite_api {
#define LB_X(name) __typeof__(sqlite3_##name) *name;
    LB_SQLITE_FUNCTIONS(LB_X)
#undef LB_X
};

/* The functions of the library at path; "": of the linked one. LB_E_ENV: it cannot be loaded, is no
 * SQLite, is too old, or is built for one thread. */
int lb_sqlite_library_load(const char *path, struct lb_sqlite_api *ret_api, struct lb_error *err);

#endif
