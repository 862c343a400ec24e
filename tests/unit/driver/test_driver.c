/* What the drivers share, and the decoders of the server drivers, which need no server. */

#include "driver/driver_internal.h"
#include "driver/libmariadb_internal.h"
#include "driver/libpq_internal.h"
#include "testing.h"

#include <string.h>

static void statements_that_change_rows_are_known(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "INSERT INTO t VALUES (1)", " \n\tupdate t SET a = 1",
        "-- x\nDelete from t",      "/* insert */ REPLACE INTO t VALUES (1)",
        "# c\nMERGE INTO t",        "WITH x AS (SELECT 1) ...",
    };
    static const char *const no[] = {"SELECT 1",  "",         "-- insert",
                                     "/* insert", "inserted", "CREATE TABLE insert_t (a)",
                                     "updates",   "withdraw"};
    for (size_t i = 0; i < ARRAY_COUNT(yes); i++)
        assert_true(sql_changes_rows(yes[i]));
    for (size_t i = 0; i < ARRAY_COUNT(no); i++)
        assert_false(sql_changes_rows(no[i]));
}

static void names_are_quoted(void **state)
{
    assert_string_equal(sql_quote(*state, '"', "a\"b`"), "\"a\"\"b`\"");
    assert_string_equal(sql_quote(*state, '`', ""), "``");
}

static void messages_become_one_line(void **state)
{
    (void)state;
    char buffer[8];
    assert_string_equal(error_copy(buffer, sizeof(buffer), " a\n\t b\n"), "a  b");
    assert_string_equal(error_copy(buffer, sizeof(buffer), "0123456789"), "0123456");
    assert_string_equal(error_copy(buffer, sizeof(buffer), ""), "");
}

static void mariadb_values_are_decoded(void **state)
{
    (void)state;
    MYSQL_FIELD field = {.type = MYSQL_TYPE_BLOB, .charsetnr = 63};
    assert_int_equal(my_kind_of(&field), MY_BLOB);
    field.charsetnr = 45;
    assert_int_equal(my_kind_of(&field), MY_TEXT);
    field = (MYSQL_FIELD){.type = MYSQL_TYPE_LONGLONG, .flags = UNSIGNED_FLAG, .charsetnr = 63};
    assert_int_equal(my_kind_of(&field), MY_UNSIGNED);
    field = (MYSQL_FIELD){.type = MYSQL_TYPE_DATETIME, .charsetnr = 63};
    assert_int_equal(my_kind_of(&field), MY_TEXT);
    assert_int_equal(my_decode(MY_BIT, "\1\2", 2).as.i, 258);
    assert_int_equal(my_decode(MY_NUMERIC, "12", 2).as.i, 12);
}

static void secrets_are_no_settings(void **state)
{
    struct arena *arena = *state;
    struct setting_list list = {0};
    struct drv_facts facts = {0};
    settings_add(arena, &list, (struct drv_setting){"b", "1", "x"});
    settings_add(arena, &list, (struct drv_setting){"ssl_passphrase_command", "1", "x"});
    settings_add(arena, &list, (struct drv_setting){"primary_conninfo", "1", "x"});
    settings_add(arena, &list, (struct drv_setting){"a", "1", "x"});
    settings_finish(&list, &facts);
    assert_int_equal(facts.setting_count, 2);
    assert_string_equal(facts.settings[0].name, "a");
    assert_string_equal(facts.settings[1].name, "b");
}

static int make_arena(void **state)
{
    *state = arena_create(4096);
    return 0;
}

static int drop_arena(void **state)
{
    struct arena *arena = *state;
    arena_destroy(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_that_change_rows_are_known),
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(messages_become_one_line),
        cmocka_unit_test(mariadb_values_are_decoded),
        cmocka_unit_test(secrets_are_no_settings),
    };
    return cmocka_run_group_tests(tests, make_arena, drop_arena);
}
