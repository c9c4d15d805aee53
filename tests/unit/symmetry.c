/* Are workers interchangeable? Only if no statement could tell their names from others. */
#include "testbed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SETUP "CREATE TABLE item (id int PRIMARY KEY, status int, owner varchar(20), rank int)"
#define CLAIM "UPDATE item SET status = 1, owner = :worker WHERE id = 1 RETURNING id"

static const struct {
    const char *setup, *claim, *complete;
    bool are_alike;
} cases[] = {
    {SETUP, CLAIM, "DELETE FROM item WHERE id = :id", true},
    {SETUP, CLAIM, "DELETE FROM item WHERE id = :id AND owner = :worker", true},
    {SETUP, CLAIM, "DELETE FROM item WHERE id = :id AND item.owner <> :worker", true},
    {SETUP, CLAIM, "SELECT id FROM item ORDER BY rank, id", true},
    {SETUP, "INSERT INTO item (id, owner) VALUES (:id, :worker)", "SELECT 1 AS one", true},
    {SETUP, "SELECT id FROM item WHERE owner IS NULL OR owner = :worker", "SELECT 1 AS one", true},
    /* Ordered, or calculated with: the name itself, or where it was stored. */
    {SETUP, CLAIM, "DELETE FROM item WHERE id = :id AND owner < :worker", false},
    {SETUP, CLAIM, "SELECT id FROM item ORDER BY owner, id", false},
    {SETUP, CLAIM, "SELECT id FROM item ORDER BY id, item.owner DESC LIMIT 1", false},
    {SETUP, CLAIM, "SELECT min(owner) AS who FROM item", false},
    {SETUP, CLAIM, "SELECT owner FROM item GROUP BY owner", false},
    {SETUP, CLAIM, "SELECT row_number() OVER (PARTITION BY owner) AS n FROM item", false},
    {SETUP, CLAIM, "SELECT substr(owner, 2) AS n FROM item", false},
    {SETUP, CLAIM, "SELECT owner || 'x' AS n FROM item", false},
    {SETUP, "UPDATE item SET owner = :worker || '-1' WHERE id = 1 RETURNING id", "SELECT 1 AS one",
     false},
    {SETUP, "INSERT INTO item (id, owner) VALUES (:id, :worker)",
     "SELECT id FROM item ORDER BY owner", false},
    {SETUP, "INSERT INTO item VALUES (:id, 0, :worker)", "SELECT id FROM item ORDER BY owner",
     false},
    /* ... by way of another column, or another name. */
    {SETUP ", taker varchar(20))", CLAIM,
     "SELECT id FROM item WHERE taker = owner ORDER BY taker, id", false},
    {SETUP, CLAIM, "SELECT owner AS who FROM item ORDER BY who", false},
    {SETUP, "SELECT owner AS before FROM item", "DELETE FROM item WHERE :before < 'a'", true},
    {SETUP, "UPDATE item SET owner = :worker RETURNING owner AS before",
     "DELETE FROM item WHERE :before < 'a'", false},
    /* A key or an index has an order. */
    {"CREATE TABLE item (id int, owner varchar(20) PRIMARY KEY)", CLAIM, "SELECT 1 AS one", false},
    {"CREATE TABLE item (id int, owner text NOT NULL UNIQUE)", CLAIM, "SELECT 1 AS one", false},
    {"CREATE TABLE item (id int, owner varchar(20) DEFAULT (lower('A')) UNIQUE)", CLAIM,
     "SELECT 1 AS one", false},
    {"CREATE TABLE item (owner varchar(20), id numeric(9, 0) UNIQUE)", CLAIM, "SELECT 1 AS one",
     true},
    {"CREATE TABLE item (id int, owner varchar(20), KEY by_owner (id, owner))", CLAIM,
     "SELECT 1 AS one", false},
    {"CREATE TABLE item (id int, owner varchar(20), UNIQUE KEY by_owner (owner))", CLAIM,
     "SELECT 1 AS one", false},
    {"CREATE TABLE item (id int, owner varchar(20), INDEX by_owner (owner))", CLAIM,
     "SELECT 1 AS one", false},
    {"ALTER TABLE item ADD UNIQUE (owner)", CLAIM, "SELECT 1 AS one", false},
    {"CREATE TABLE item (id int, PRIMARY KEY (id), KEY by_id (id), owner varchar(20))", CLAIM,
     "SELECT 1 AS one", true},
    {SETUP, CLAIM,
     "SELECT id FROM item WHERE owner = :worker AND status IN (0, 1) ORDER BY id FOR NO KEY UPDATE",
     true},
    {"CREATE TABLE item (id int, owner varchar(20), PRIMARY KEY (id, owner))", CLAIM,
     "SELECT 1 AS one", false},
    {"CREATE UNIQUE INDEX one_owner ON item (owner)", CLAIM, "SELECT 1 AS one", false},
    {"CREATE TABLE item (id int, owner varchar(20) CHECK (owner > 'a'))", CLAIM, "SELECT 1 AS one",
     false},
    /* A name is spelt out. */
    {SETUP, CLAIM, "DELETE FROM item WHERE owner = 'w0'", false},
    {SETUP, CLAIM, "UPDATE item SET status = CASE WHEN :worker = 'w1' THEN 1 ELSE 2 END", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner LIKE 'w%'", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner IN (E'w0')", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner IN ($$w0$$)", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner IN (x'7730')", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner IN (0x7730)", false},
    /* Comments and texts hide no word. */
    {SETUP, CLAIM, "DELETE FROM item WHERE id /* item's */ = :id AND owner > :worker", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE id = :id -- item's\n AND owner > :worker", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE $$'$$ <> '' AND owner > :worker", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE 'it''s' <> '' AND \"owner\" > :worker", false},
    {SETUP, CLAIM, "SELECT id FROM item ORDER /* ' */ BY \"owner\", id /* ' */", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE id /* item's */ = :id AND \"owner\" = :worker", true},
    {SETUP, CLAIM, "DELETE FROM item WHERE id = :id AND 'it < 1", false},
    /* ... by its place in a list, by a cast, by a list of columns, by a subquery. */
    {SETUP, CLAIM, "SELECT owner, id FROM item ORDER BY 1", false},
    {SETUP, CLAIM, "SELECT * FROM item ORDER BY id, 3 LIMIT 1", false},
    {SETUP, CLAIM, "SELECT id FROM item ORDER BY rank + 1 LIMIT 1", true},
    {SETUP, CLAIM, "SELECT id FROM item WHERE status = 0 ORDER BY 1 LIMIT 1", true},
    {SETUP, CLAIM, "SELECT DISTINCT owner FROM item LIMIT 1", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner::text < ANY (SELECT owner FROM item)", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner::varchar(9) < 'w'", false},
    {SETUP, CLAIM, "DELETE FROM item WHERE owner = :worker::varchar(9) AND id = 1", true},
    {SETUP, CLAIM, "DELETE FROM item WHERE 'a' < ANY (SELECT owner FROM item)", false},
    {SETUP, "UPDATE item SET note = (SELECT :worker) WHERE id = 1",
     "SELECT id FROM item ORDER BY note", false},
    {SETUP, CLAIM, "UPDATE item SET note = (SELECT owner FROM item WHERE id = 2)", false},
    {SETUP, CLAIM, "UPDATE item SET (note, rank) = (SELECT owner, 1 FROM item WHERE id = 2)",
     false},
    {SETUP, CLAIM, "SELECT b FROM (SELECT id, owner FROM item) AS t (a, b) ORDER BY b", false},
    {SETUP, CLAIM, "SELECT id FROM item WHERE id = (SELECT min(id) FROM item WHERE owner IS NULL)",
     true},
    {"CREATE TABLE item (id int, owner varchar(20), who varchar(20) GENERATED ALWAYS AS (owner))",
     CLAIM, "SELECT id FROM item ORDER BY who", false},
    /* Each worker has its own process. */
    {SETUP, "UPDATE item SET owner = :process WHERE id = 1 RETURNING id", "SELECT 1 AS one", true},
    {SETUP, "UPDATE item SET owner = :process WHERE id = 1 RETURNING id",
     "DELETE FROM item WHERE id = :id AND owner = :process AND 'p' <> 'pending'", false},
    {SETUP, "UPDATE item SET owner = :process WHERE id = 1 RETURNING id",
     "DELETE FROM item WHERE id = :id AND owner = :process AND rank <> 'pending'", true},
    {SETUP, "SELECT id FROM item WHERE owner < :process", "SELECT 1 AS one", false},
    {SETUP, "UPDATE item SET owner = :process WHERE id = 1 RETURNING id",
     "SELECT id FROM item ORDER BY owner", false},
    {"CREATE TABLE beat (name varchar(20) PRIMARY KEY)",
     "INSERT INTO beat (name) VALUES (:process)", "SELECT 1 AS one", false},
    /* A function may look at anything. */
    {SETUP, CLAIM, "SELECT mine(id) FROM item", false},
};

static bool are_alike(const char *setup, const char *claim, const char *complete, bool opaque)
{
    const struct lb_tables tables = {.n = 1, .name = {"item"}, .group = {1}, .opaque = opaque};
    const struct lb_statement statements[] = {{.sql = setup}, {.sql = claim}, {.sql = complete}};
    static const enum lb_section_name sections[] = {LB_S_SETUP, LB_S_CLAIM, LB_S_COMPLETE};
    static struct lb_program program;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        program.sections[sections[i]] =
            (struct lb_section){.n_statements = 1, .statements = &statements[i]};
    return lb_workers_are_alike(&program, &tables);
}

static void names_that_are_only_compared_tell_nothing(void **state)
{
    (void)state;
    bool is_wrong = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (are_alike(cases[i].setup, cases[i].claim, cases[i].complete, false) !=
            cases[i].are_alike)
            is_wrong = true, print_error("%s; %s; %s: alike %d\n", cases[i].setup, cases[i].claim,
                                         cases[i].complete, !cases[i].are_alike);
    assert_false(is_wrong);
}

static void triggers_may_look_at_names(void **state)
{
    (void)state;
    assert_true(are_alike(SETUP, CLAIM, "SELECT 1 AS one", false));
    assert_false(are_alike(SETUP, CLAIM, "SELECT 1 AS one", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_only_compared_tell_nothing),
        cmocka_unit_test(triggers_may_look_at_names),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
