#include "base/err.h"
#include "testing.h"

#include <errno.h>
#include <string.h>

static void set_fills_and_returns_false(void **state)
{
    (void)state;
    struct err err = {.sys = 9, .code = 8, .sqlstate = "42601"};
    errno = ENOENT;
    assert_false(err_set(&err, ERR_CONFIG, "%s:%d: unknown column", "shop.lua", 14));
    assert_int_equal(err.kind, ERR_CONFIG);
    assert_string_equal(err.text, "shop.lua:14: unknown column");
    assert_int_equal(err.sys, 0);
    assert_int_equal(err.code, 0);
    assert_string_equal(err.sqlstate, "");
}

static void errno_ends_the_text(void **state)
{
    (void)state;
    struct err err;
    errno = ENOENT;
    assert_false(err_errno(&err, "opening %s", "/no/file"));
    assert_int_equal(err.kind, ERR_SYSTEM);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text, "opening /no/file: No such file or directory");
}

static void wrap_keeps_kind_and_numbers(void **state)
{
    (void)state;
    struct err err;
    err_set(&err, ERR_DATABASE, "syntax error");
    err.code = 1064;
    memcpy(err.sqlstate, "42000", 6);
    assert_false(err_wrap(&err, "scenario %s", "id_point"));
    assert_string_equal(err.text, "scenario id_point: syntax error");
    assert_int_equal(err.kind, ERR_DATABASE);
    assert_int_equal(err.code, 1064);
    assert_string_equal(err.sqlstate, "42000");
}

static void too_long_text_ends_in_dots(void **state)
{
    (void)state;
    char text[600];
    struct err err;
    for (size_t length = 470; length < 490; length++) {
        memset(text, 'a', length);
        text[length] = '\0';
        err_set(&err, ERR_CONFIG, "%s", text);
        bool fits = length < sizeof(err.text);
        assert_int_equal(strlen(err.text), fits ? length : sizeof(err.text) - 1);
        assert_int_equal(strcmp(err.text + strlen(err.text) - 3, "...") == 0, !fits);
    }
    err_set(&err, ERR_CONFIG, "%s", text);
    err_wrap(&err, "%s", "context");
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_memory_equal(err.text, "context: aaa", 12);
    assert_string_equal(err.text + sizeof(err.text) - 4, "...");
}

static void text_may_come_from_itself(void **state)
{
    (void)state;
    struct err err;
    err_set(&err, ERR_CONFIG, "inner");
    err_set(&err, ERR_USAGE, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
}

static void kinds_have_documented_exit_codes(void **state)
{
    (void)state;
    const int codes[] = {0, 1, 2, 3, 4, 5, 6, 130};
    for (int kind = ERR_NONE; kind <= ERR_CANCELLED; kind++)
        assert_int_equal(err_exit_code((enum err_kind)kind), codes[kind]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_and_returns_false),
        cmocka_unit_test(errno_ends_the_text),
        cmocka_unit_test(wrap_keeps_kind_and_numbers),
        cmocka_unit_test(too_long_text_ends_in_dots),
        cmocka_unit_test(text_may_come_from_itself),
        cmocka_unit_test(kinds_have_documented_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
