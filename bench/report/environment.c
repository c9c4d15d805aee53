/* The machine that lockbench itself runs on. */
#include "report.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The processor's name, from Linux's list; "unknown" elsewhere. */
static void read_machine(char *buf, size_t size)
{
    char line[512];
    snprintf(buf, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, "model name", 10) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        snprintf(buf, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    fclose(file);
}

void lb_environment_read(struct lb_environment *environment)
{
    struct utsname name;
    *environment = (struct lb_environment){.n_cores = sysconf(_SC_NPROCESSORS_ONLN)};
    read_machine(environment->machine, sizeof environment->machine);
    if (uname(&name) == 0)
        snprintf(environment->system, sizeof environment->system, "%s %s %s", name.sysname,
                 name.release, name.machine);
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        environment->memory_bytes = (uint64_t)pages * (uint64_t)page;
}
