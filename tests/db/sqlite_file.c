/* SQLite targets: the owner of the file, obstacles, and remains. */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of the test's own, as TMPDIR too. */
static char folder[200];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/lb-test-XXXXXX", P_tmpdir);
    return mkdtemp(folder) == NULL || setenv("TMPDIR", folder, 1) != 0 ? -1 : 0;
}

static size_t n_entries(void)
{
    size_t n = 0;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    while ((entry = readdir(dir)) != NULL)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int remove_folder(void **state)
{
    (void)state;
    int failed = n_entries() != 0;
    if (failed)
        print_message("# something was left in %s\n", folder);
    else
        rmdir(folder);
    return failed;
}

static void path_in(const char *name, char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s", folder, name);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Opens and returns the space, or NULL with err. */
static struct lb_space *open_space(const char *path, const char *settings, struct lb_target *target,
                                   struct lb_error *err)
{
    char uri[400];
    struct lb_space *space = NULL;
    snprintf(uri, sizeof uri, "sqlite:%s%s", path, settings);
    if (lb_target_parse(uri, target, err) != 0)
        return NULL;
    if (target->db->space_open(target, "x", &space, err) == 0)
        return space;
    lb_target_release(target);
    return NULL;
}

static void close_space(struct lb_space *space, struct lb_target *target, bool keep)
{
    struct lb_error err;
    assert_int_equal(target->db->space_close(space, keep, &err), 0);
    lb_target_release(target);
}

static void a_given_path_is_made_and_removed(void **state)
{
    (void)state;
    struct lb_target target = {0};
    struct lb_error err;
    struct lb_conn *conn = NULL;
    const struct lb_conn_options options = {.role = "test"};
    char path[300];
    path_in("mine.db", path, sizeof path);
    struct lb_space *space = open_space(path, "", &target, &err);
    assert_non_null(space);
    assert_string_equal(target.db->space_name(space), path);
    assert_int_equal(target.db->open(space, &options, &conn, &err), 0);
    assert_int_equal(target.db->run(conn, "CREATE TABLE t (x)", &err), LB_OK);
    /* Nobody else may have it meanwhile. */
    struct lb_target second = {0};
    assert_null(open_space(path, "", &second, &err));
    assert_int_equal(err.code, LB_E_ENV);
    assert_non_null(strstr(err.message, "in use by another lockbench"));
    assert_int_equal(target.db->run(conn, "INSERT INTO t VALUES (1)", &err), LB_OK);
    target.db->close(conn);
    close_space(space, &target, false);
    assert_int_equal(n_entries(), 0);
}

static void a_foreign_file_is_refused_and_left_as_it_is(void **state)
{
    (void)state;
    static const char text[] = "not a database, but precious";
    struct lb_target target = {0};
    struct lb_error err;
    char path[300], back[100] = "";
    path_in("notes.txt", path, sizeof path);
    write_file(path, text);
    assert_null(open_space(path, "", &target, &err));
    assert_int_equal(err.code, LB_E_ENV);
    assert_non_null(strstr(err.message, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(back, sizeof back, file));
    fclose(file);
    assert_string_equal(back, text);
    assert_int_equal(n_entries(), 1); /* and nothing beside it */
    unlink(path);
    /* A log without its database is a user's too. */
    path_in("lost.db-wal", path, sizeof path);
    write_file(path, text);
    path_in("lost.db", path, sizeof path);
    assert_null(open_space(path, "", &target, &err));
    assert_non_null(strstr(err.message, "lost.db-wal"));
    assert_int_equal(n_entries(), 1);
    path_in("lost.db-wal", path, sizeof path);
    unlink(path);
}

/* The user's files beside the given name, even empty ones. */
static void what_is_beside_it_stays(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        /* existing file, its content, the message */
        {"n.db-lockbench", "my notes", "n.db-lockbench"},
        {"n.db-lockbench", "", "n.db-lockbench"},
        {"n.db", "", "exists and was not made by lockbench"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_target target = {0};
        struct lb_error err;
        char path[300], theirs[300];
        struct stat st;
        path_in("n.db", path, sizeof path);
        path_in(cases[i][0], theirs, sizeof theirs);
        write_file(theirs, cases[i][1]);
        struct lb_space *space = open_space(path, "", &target, &err);
        if (space != NULL)
            close_space(space, &target, false);
        assert_int_equal(stat(theirs, &st), 0);
        assert_int_equal(st.st_size, strlen(cases[i][1]));
        assert_null(space);
        assert_int_equal(err.code, LB_E_ENV);
        assert_non_null(strstr(err.message, cases[i][2]));
        assert_int_equal(n_entries(), 1);
        unlink(theirs);
    }
    /* A symlink in the place of the lock file is not followed, nor removed. */
    struct lb_target target = {0};
    struct lb_error err;
    char path[300], link[300], goal[300];
    path_in("n.db", path, sizeof path);
    path_in("n.db-lockbench", link, sizeof link);
    path_in("goal", goal, sizeof goal);
    write_file(goal, "precious");
    assert_int_equal(symlink(goal, link), 0);
    assert_null(open_space(path, "", &target, &err));
    assert_int_equal(n_entries(), 2);
    unlink(link);
    unlink(goal);
}

static void a_kept_file_is_in_the_way(void **state)
{
    (void)state;
    struct lb_target target = {0};
    struct lb_error err;
    char path[300];
    path_in("kept.db", path, sizeof path);
    struct lb_space *space = open_space(path, "", &target, &err);
    assert_non_null(space);
    close_space(space, &target, true);
    assert_int_equal(n_entries(), 1); /* one file, and no log beside it */
    assert_null(open_space(path, "", &target, &err));
    assert_int_equal(err.code, LB_E_ENV);
    assert_non_null(strstr(err.message, "kept"));
    assert_non_null(strstr(err.message, path));
    unlink(path);
}

/* The leftovers of a dead run: the file with its marks, its log, its unlocked lock file.
 */
static void leftovers_are_replaced(void **state)
{
    (void)state;
    struct lb_target target = {0};
    struct lb_error err;
    struct lb_conn *conn = NULL;
    struct lb_rows rows = {0};
    const struct lb_conn_options options = {.role = "test"};
    char path[300], other[300], command[2000];
    path_in("dead.db", path, sizeof path);
    path_in("copy", other, sizeof other);
    struct lb_space *space = open_space(path, "", &target, &err);
    assert_non_null(space);
    assert_int_equal(target.db->open(space, &options, &conn, &err), 0);
    assert_int_equal(target.db->run(conn, "CREATE TABLE t (x)", &err), LB_OK);
    snprintf(command, sizeof command,
             "cp %s %s && cp %s-wal %s-wal && cp %s-lockbench %s-lockbench", path, other, path,
             other, path, other);
    assert_int_equal(system(command), 0);
    target.db->close(conn);
    close_space(space, &target, false);

    space = open_space(other, "?journal=delete", &target, &err);
    if (space == NULL)
        fail_msg("%s", err.message);
    assert_int_equal(target.db->open(space, &options, &conn, &err), 0);
    struct lb_stmt *stmt = NULL;
    assert_int_equal(
        target.db->prepare(conn, "SELECT count(*) FROM sqlite_master", 0, NULL, &stmt, &err),
        LB_OK);
    assert_int_equal(target.db->execute(conn, stmt, NULL, &rows, &err), LB_OK);
    assert_int_equal(target.db->value(conn, 0, 0).integer, 0); /* a fresh one */
    target.db->close(conn);
    close_space(space, &target, false);
    assert_int_equal(n_entries(), 0);
}

static const char lock_text[] = "lockbench: lock of one run, removed at its end\n";

/* A directory of the user's may have our name, and files of the names that we use. */
static void a_directory_with_our_name_stays(void **state)
{
    (void)state;
    struct lb_target target = {0};
    struct lb_error err;
    static const char *const left[] = {"db", "lock"};
    const struct timespec long_ago[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    for (size_t n = 1; n <= 2; n++) {
        char theirs[300], file[400];
        path_in("lockbench-sqlite-theirs", theirs, sizeof theirs);
        assert_int_equal(mkdir(theirs, 0700), 0);
        for (size_t i = 0; i < n; i++) {
            snprintf(file, sizeof file, "%s/%s", theirs, left[i]);
            write_file(file, "precious");
        }
        assert_int_equal(utimensat(AT_FDCWD, theirs, long_ago, 0), 0);
        struct lb_space *space = open_space("", "", &target, &err);
        assert_non_null(space);
        close_space(space, &target, false);
        for (size_t i = 0; i < n; i++) {
            snprintf(file, sizeof file, "%s/%s", theirs, left[i]);
            assert_int_equal(unlink(file), 0);
        }
        assert_int_equal(rmdir(theirs), 0);
    }
}

static void only_dead_temporary_directories_of_ours_are_swept(void **state)
{
    (void)state;
    struct lb_target target = {0};
    struct lb_error err;
    char dead[300], file[400], foreign[300], kept[300];
    path_in("lockbench-sqlite-dead00", dead, sizeof dead);
    path_in("lockbench-sqlite-mixed0", foreign, sizeof foreign);
    path_in("lockbench-sqlite-kept00", kept, sizeof kept);
    assert_int_equal(mkdir(dead, 0700) | mkdir(foreign, 0700) | mkdir(kept, 0700), 0);
    static const char *const left[] = {"db", "db-wal", "lock"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/%s", dead, left[i]);
        write_file(file, i == 2 ? lock_text : "x");
    }
    snprintf(file, sizeof file, "%s/lock", foreign);
    write_file(file, lock_text);
    snprintf(file, sizeof file, "%s/thesis.tex", foreign);
    write_file(file, "x");
    snprintf(file, sizeof file, "%s/kept", kept);
    write_file(file, "");
    struct lb_space *space = open_space("", "", &target, &err);
    assert_non_null(space);
    close_space(space, &target, false);
    assert_int_not_equal(access(dead, F_OK), 0);
    snprintf(file, sizeof file, "%s/thesis.tex", foreign);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(unlink(file) | rmdir(foreign), 0);
    snprintf(file, sizeof file, "%s/kept", kept);
    assert_int_equal(unlink(file) | rmdir(kept), 0);
}

static void what_cannot_be_opened_says_why(void **state)
{
    (void)state;
    struct lb_target target = {0};
    struct lb_error err;
    char path[300];
    path_in("no/such/dir.db", path, sizeof path);
    assert_null(open_space(path, "", &target, &err));
    assert_int_equal(err.code, LB_E_ENV);
    assert_non_null(strstr(err.message, "No such file or directory"));
    assert_null(open_space(folder, "", &target, &err));
    assert_non_null(strstr(err.message, "not a regular file"));
    if (geteuid() != 0) { /* nothing is read-only for root */
        path_in("fixed.db", path, sizeof path);
        write_file(path, "");
        chmod(path, 0400);
        assert_null(open_space(path, "", &target, &err));
        assert_int_equal(err.code, LB_E_ENV);
        assert_non_null(strstr(err.message, "read-only"));
        unlink(path);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define each(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
        each(a_given_path_is_made_and_removed),
        each(a_foreign_file_is_refused_and_left_as_it_is),
        each(what_is_beside_it_stays),
        each(a_directory_with_our_name_stays),
        each(a_kept_file_is_in_the_way),
        each(leftovers_are_replaced),
        each(only_dead_temporary_directories_of_ours_are_swept),
        each(what_cannot_be_opened_says_why),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
