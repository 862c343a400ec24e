#include "program/dialect.h"
#include "testing.h"

static void names_round_trip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DIALECT_COUNT; i++) {
        enum dialect back = DIALECT_COUNT;
        assert_true(dialect_parse(slice_of(dialect_name((enum dialect)i)), &back));
        assert_int_equal(back, i);
    }
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    enum dialect dialect = DIALECT_MYSQL;
    assert_false(dialect_parse(slice_of("oracle"), &dialect));
    assert_false(dialect_parse(slice_of("sqlite3"), &dialect));
    assert_false(dialect_parse(slice_of(""), &dialect));
    assert_int_equal(dialect, DIALECT_MYSQL);
}

static void placeholders(void **state)
{
    (void)state;
    assert_int_equal(dialect_placeholder(DIALECT_SQLITE), '?');
    assert_int_equal(dialect_placeholder(DIALECT_POSTGRES), '$');
    assert_int_equal(dialect_placeholder(DIALECT_MARIADB), '?');
    assert_int_equal(dialect_placeholder(DIALECT_MYSQL), '?');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(placeholders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
