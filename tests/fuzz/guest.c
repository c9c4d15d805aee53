/* The lines of a program in another language: the first one as a description of a strategy, the
 * others read as answers. Messages about them are one line, without a password. */
#include "guest_process.h"

#include "db.h"
#include "memfile.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct lb_door door = {.uri = "postgresql://u:hunter2@h/d", .password = "hunter2"};

static void check(int code, const struct lb_error *err)
{
    if (code != 0 && (err->message[0] == '\0' || strpbrk(err->message, "\n\r\033") != NULL))
        abort();
}

/* After it got the database's address: the first line comes before. */
static void check_secret(int code, const struct lb_error *err)
{
    check(code, err);
    if (code != 0 && strstr(err->message, door.password) != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_memfile file;
    fuzz_memfile_fill(&file, data, size);
    lseek(file.fd, 0, SEEK_SET);
    struct lb_guest_process process = {.path = "program",
                                       .who = "w1",
                                       .door = &door,
                                       .to = -1,
                                       .from = file.fd,
                                       .errors = -1,
                                       .life = -1};
    struct lb_guest *guest = NULL;
    struct lb_error err = {0};
    int rc;
    do {
        json_t *line = NULL;
        rc = lb_guest_receive(&process, UINT64_MAX, "claim", &line, &err);
        check_secret(rc, &err);
        if (rc == 0 && guest == NULL)
            check(lb_guest_read("program", line, &guest, &err), &err);
        else
            json_decref(line);
    } while (rc != LB_E_PROGRAM);
    if (guest != NULL &&
        (lb_guest_strategy(guest)->name == NULL || lb_guest_version(guest) == NULL))
        abort();
    lb_guest_free(guest);
    lb_guest_end(&process, 0);
    return 0;
}
