/* Loading a SQLite library: see sqlite_library.h.
 *
 * lockbench is linked with a SQLite whose functions have the same names. Without RTLD_DEEPBIND the
 * calls within the loaded library would go to the linked one, unless it was built with -Bsymbolic;
 * the sanitizers refuse that flag.
 */
#include "sqlite_library.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BINDING = 0 };
#else
enum { BINDING = RTLD_DEEPBIND };
#endif

/* The first function that it does not have, or NULL. */
static const char *find_all(void *library, struct lb_sqlite_api *api)
{
    static const struct {
        const char *name;
        size_t offset;
    } all[] = {
#define LB_X(name) {"sqlite3_" #name, offsetof(struct lb_sqlite_api, name)},
        LB_SQLITE_FUNCTIONS(LB_X)
#undef LB_X
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *function = dlsym(library, all[i].name);
        if (function == NULL)
            return all[i].name;
        memcpy((char *)api + all[i].offset, &function, sizeof function);
    }
    return NULL;
}

int lb_sqlite_library_load(const char *path, struct lb_sqlite_api *ret_api, struct lb_error *err)
{
    struct lb_sqlite_api api = {
#define LB_X(name) .name = sqlite3_##name,
        LB_SQLITE_FUNCTIONS(LB_X)
#undef LB_X
    };
    if (path[0] != '\0') {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | BINDING);
        if (library == NULL)
            return lb_fail(err, LB_E_ENV, "sqlite: cannot load the library: %s", dlerror());
        if (dlsym(library, "sqlite3_libversion") == NULL) {
            dlclose(library);
            return lb_fail(err, LB_E_ENV, "sqlite: %s is a library, but not SQLite", path);
        }
        const char *missing = find_all(library, &api);
        if (missing != NULL) {
            dlclose(library);
            return lb_fail(err, LB_E_ENV,
                           "sqlite: %s has no function %s: it must be SQLite 3.37 or newer", path,
                           missing);
        }
        if (api.threadsafe() == 0)
            return lb_fail(err, LB_E_ENV,
                           "sqlite: %s is built for one thread: build it with "
                           "SQLITE_THREADSAFE=1",
                           path);
    }
    *ret_api = api;
    return 0;
}
