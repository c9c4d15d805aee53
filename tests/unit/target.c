/* -d arguments: the engine for each, the shown label, the refused ones. No server needed. */
#include "db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void labels_have_no_password(void **state)
{
    (void)state;
    static const struct {
        const char *uri, *engine, *label;
    } good[] = {
        {"sqlite:", "sqlite", "sqlite:"},
        {"sqlite:/x/y.db?journal=delete&synchronous=full", "sqlite",
         "sqlite:/x/y.db?journal=delete&synchronous=full"},
        {"postgresql://me:s3cret@db.example:5433/jobs", "postgres",
         "postgresql://me@db.example:5433/jobs"},
        {"postgres://db.example/jobs?password=s3cret&user=me", "postgres",
         "postgresql://me@db.example/jobs"},
        {"postgresql:///jobs?host=/run/pg&port=5433", "postgres",
         "postgresql:///jobs?host=/run/pg&port=5433"},
        {"host=db.example dbname=jobs user=me password=s3cret", "postgres",
         "postgresql://me@db.example/jobs"},
        {"postgresql://me:s3cret@a:1,b:2/jobs", "postgres",
         "postgresql://me@/jobs?host=a,b&port=1,2"},
        {"postgresql://me@a:1,b:2/jobs?target_session_attrs=read-write", "postgres",
         "postgresql://me@/jobs?host=a,b&port=1,2&target_session_attrs=read-write"},
        {"postgresql://me@a/jobs?target_session_attrs=read-write", "postgres",
         "postgresql://me@a/jobs"},
        {"mariadb://me:s3cret@db.example:3307/jobs", "mariadb",
         "mariadb://me@db.example:3307/jobs"},
        {"mysql://me%40home:p%40s3cret@[::1]:3307", "mariadb", "mariadb://me@home@[::1]:3307/"},
        {"mariadb://root@/?socket=/run/my.sock", "mariadb", "mariadb://root@/?socket=/run/my.sock"},
        {"mariadb://", "mariadb", "mariadb:///"},
        {"mariadb://me:s3cret@a:1,[::1]:2,c/jobs?spread=first", "mariadb",
         "mariadb://me@a:1,[::1]:2,c/jobs?spread=first"},
        {"mariadb://me@localhost/jobs?socket=%2Fa,/b%2Cc&spread=round-robin", "mariadb",
         "mariadb://me@localhost/jobs?socket=/a,/b,c"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct lb_target target = {0};
        struct lb_error err = {0};
        if (lb_target_parse(good[i].uri, &target, &err) != 0)
            fail_msg("%s: %s", good[i].uri, err.message);
        assert_string_equal(target.db->name, good[i].engine);
        assert_string_equal(target.label, good[i].label);
        assert_string_equal(target.uri, good[i].uri);
        lb_target_release(&target);
    }
}

static void bad_targets_are_usage_errors(void **state)
{
    (void)state;
    static const struct {
        const char *uri, *says;
    } bad[] = {
        {"", "accepted are sqlite:"},
        {"oracle://scott:s3cret@db/x", "\"oracle...\""},
        {"/x/y.db", "sqlite:"},
        {"sqlite::memory:", "temporary file"},
        {"sqlite://x.db", "without //"},
        {"sqlite:x.db?journal=memory", "wal or delete"},
        {"sqlite:x.db?synchronous=", "off, normal or full"},
        {"sqlite:x.db?cache=shared", "unknown setting"},
        {"postgresql://me:s3cret%zz@db/x", "not a valid PostgreSQL URI"},
        {"postgresql://me:p@s3cret:w@db/x", "port"},
        {"hots=db dbname=x password=s3cret", "not a valid PostgreSQL URI"},
        {"mariadb://me:s3cret@db:70000/x", "bad host or port"},
        {"mariadb://me:s3cret@db:/x", "bad host or port"},
        {"mariadb://me:s3cret%z@db/x", "bad user name or password"},
        {"mariadb://me:s3cret@db/x?ssl=1", "socket=PATH"},
        {"mariadb://me:s3cret@db/x?ssl-mode=maybe", "verify-identity"},
        {"mariadb://me:s3cret@db/x?ssl-mode=verify-ca", "ssl-ca=PATH"},
        {"mariadb://me:s3cret@db/x?ssl-ca=relative.pem", "absolute path"},
        {"mariadb://me:s3cret@db/x?ssl-mode=disabled&ssl-ca=/a", "leave out one"},
        {"mariadb://me:s3cret@db/x?ssl-mode=required&", "unknown setting"},
        {"mariadb://me:s3cret@db/x?socket=/y", "not both"},
        {"mariadb://me@/x?socket=y", "absolute path"},
        {"mariadb://me@/x?socket=/y,z", "absolute path"},
        {"mariadb://me@a,b/x?socket=/y", "not both"},
        {"mariadb://me:s3cret@a,,b/x", "bad host or port"},
        {"mariadb://me:s3cret@a,b:x/x", "bad host or port"},
        {"mariadb://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/x", "at most 16 nodes"},
        {"mariadb://me@a,b/x?spread=some", "spread=round-robin or first"},
        {"host=db password='s3cret", "not a valid PostgreSQL URI"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct lb_target target = {0};
        struct lb_error err = {0};
        assert_int_equal(lb_target_parse(bad[i].uri, &target, &err), LB_E_USAGE);
        if (strstr(err.message, bad[i].says) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].uri, err.message, bad[i].says);
        assert_null(strstr(err.message, "s3cret"));
        assert_null(target.db);
    }
}

static void isolation_names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < LB_ISOLATIONS; i++)
        assert_int_equal(lb_isolation_parse(lb_isolation_name((enum lb_isolation)i)), i);
    assert_int_equal(lb_isolation_parse("Read-Committed"), LB_ISO_READ_COMMITTED);
    assert_int_equal(lb_isolation_parse("repeatable_read"), LB_ISO_REPEATABLE_READ);
    assert_int_equal(lb_isolation_parse("snapshot"), -1);
    assert_int_equal(lb_isolation_parse("serial"), -1);
}

static void values_read_as_integers(void **state)
{
    (void)state;
    int64_t n = 0;
    struct lb_value v = lb_text("-42xyz", 3);
    assert_true(lb_value_int(&v, &n));
    assert_int_equal(n, -42);
    v = lb_text("-42xyz", 5);
    assert_false(lb_value_int(&v, &n));
    v = lb_text("99999999999999999999", 20);
    assert_false(lb_value_int(&v, &n));
    v = lb_text("", 0);
    assert_false(lb_value_int(&v, &n));
    v = lb_null();
    assert_false(lb_value_int(&v, &n));
    v = (struct lb_value){.type = LB_REAL, .real = 7.9};
    assert_true(lb_value_int(&v, &n));
    assert_int_equal(n, 7);
}

static void capabilities_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < LB_CAPS; i++)
        assert_string_not_equal(lb_cap_name(UINT64_C(1) << i), "?");
    assert_string_equal(lb_cap_name(LB_CAP_SERIALIZABLE_RETRY), "serializable_retry");
    assert_string_equal(lb_cap_name(UINT64_C(1) << LB_CAPS), "?");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_have_no_password),
        cmocka_unit_test(bad_targets_are_usage_errors),
        cmocka_unit_test(isolation_names_go_both_ways),
        cmocka_unit_test(values_read_as_integers),
        cmocka_unit_test(capabilities_have_names),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
