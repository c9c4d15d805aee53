/* Proposed indexes: the columns of conditions and of orders, however their names are written. */
#include "aged_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void columns_are_found_behind_names_comments_and_texts(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *first; /* of the indexes; "": none */
        enum lb_dialect dialect;
        bool is_partial;
    } cases[] = {
        {"SELECT id FROM job WHERE class = :class ORDER BY run_at LIMIT 1", "job (class, run_at)",
         LB_SQL_POSTGRES, false},
        {"SELECT j.id FROM app.job j WHERE j.class = :class AND j.state = 'a--b;' ORDER BY "
         "j.run_at",
         "job (class, run_at) WHERE state = 'a--b;'", LB_SQL_POSTGRES, true},
        {"UPDATE \"Job\" SET state = 1 WHERE \"Class\" = :class /* AND owner = :worker */ AND at < "
         "9",
         "\"Job\" (\"Class\", at)", LB_SQL_POSTGRES, false},
        {"UPDATE `job` SET state = 1 WHERE `class` = :class # AND owner = :worker",
         "`job` (`class`)", LB_SQL_MARIADB, false},
        {"SELECT id FROM job WHERE owner IS NULL", "job (owner)", LB_SQL_SQLITE, true},
        {"SELECT id FROM job WHERE share = 0.5", "", LB_SQL_SQLITE, false},
        {"SELECT id FROM job WHERE class = :class AND owner = 'it", "", LB_SQL_POSTGRES, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lb_aged_indexes indexes = {.n = 0};
        lb_aged_propose(&indexes, cases[i].sql, cases[i].dialect, cases[i].is_partial);
        if (strcmp(indexes.n > 0 ? indexes.words[0] : "", cases[i].first) != 0)
            fail_msg("%s: %s", cases[i].sql, indexes.n > 0 ? indexes.words[0] : "none");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_behind_names_comments_and_texts)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
