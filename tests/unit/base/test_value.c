#include "base/hash.h"
#include "base/value.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static struct value text_value(const char *text)
{
    return value_text(text, (uint32_t)strlen(text));
}

static bool same(struct value a, struct value b)
{
    bool answer = value_same(&a, &b);
    assert_int_equal(answer, value_same(&b, &a));
    if (answer)
        assert_true(value_hash(HASH_START, &a) == value_hash(HASH_START, &b));
    return answer;
}

static void one_answer_in_many_types_is_the_same(void **state)
{
    (void)state;
    assert_true(same(value_int(2), value_real(2.0)));
    assert_true(same(value_int(2), text_value("2")));
    assert_true(same(value_int(2), text_value("2.00")));
    assert_true(same(value_real(2.0), text_value("2.00")));
    assert_true(same(value_real(0.3), value_real(0.1 + 0.2)));
    assert_true(same(value_real(49.5), text_value("49.5000000000000000")));
    assert_true(same(value_int(-7), text_value("-7")));
    assert_true(same(value_real(0.0), value_real(-0.0)));
    assert_true(same((struct value){.type = VALUE_NULL}, (struct value){.type = VALUE_NULL}));
    assert_true(same(text_value("user7"), text_value("user7")));
}

static void different_answers_differ(void **state)
{
    (void)state;
    const struct value null = {.type = VALUE_NULL};
    assert_false(same(null, value_int(0)));
    assert_false(same(null, text_value("")));
    assert_false(same(value_int(2), value_int(3)));
    assert_false(same(value_int(2), value_real(2.0001)));
    assert_false(same(text_value("2"), text_value("2.0")));
    assert_false(same(text_value("abc"), value_int(0)));
    assert_false(same(value_int(1), text_value("1 ")));
    /* Equal as doubles, yet different integers. */
    assert_false(same(value_int(9007199254740993), value_int(9007199254740992)));
    assert_false(same(value_real(HUGE_VAL), value_real(-HUGE_VAL)));
}

static void hashes_tell_values_apart(void **state)
{
    (void)state;
    const struct value values[] = {{.type = VALUE_NULL},  value_int(0),
                                   value_int(1),          value_int(1000000001),
                                   value_int(1000000002), value_real(0.5),
                                   value_real(0.25),      text_value(""),
                                   text_value("a"),       text_value("ab")};
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(value_hash(HASH_START, &values[i]) !=
                        value_hash(HASH_START, &values[j]));
    }
    /* ("a", "b") is not ("ab", ""). */
    uint64_t split =
        value_hash(value_hash(HASH_START,
                              &(struct value){.type = VALUE_TEXT, .bytes = 1, .as.text = "a"}),
                   &(struct value){.type = VALUE_TEXT, .bytes = 1, .as.text = "b"});
    uint64_t whole = value_hash(value_hash(HASH_START, &values[9]), &values[7]);
    assert_true(split != whole);
}

static void check_print(struct value value, const char *expected)
{
    char buffer[256];
    size_t bytes = value_print(buffer, sizeof(buffer), &value);
    assert_string_equal(buffer, expected);
    assert_int_equal(bytes, strlen(expected));
}

static void values_print_for_people(void **state)
{
    (void)state;
    check_print((struct value){.type = VALUE_NULL}, "NULL");
    check_print(value_int(-12), "-12");
    check_print(value_real(1.5), "1.5");
    check_print(value_real(0.1), "0.1");
    check_print(value_real(1.0 / 3), "0.33333333333333331");
    check_print(text_value("it is"), "'it is'");
    check_print(text_value("a\nb"), "'a\\x0ab'");
    check_print((struct value){.type = VALUE_BLOB, .bytes = 2, .as.text = "\x01\xff"},
                "x'01ff'");
    char text[61], expected[70];
    memset(text, 'a', sizeof(text));
    memset(expected, 'a', sizeof(expected));
    expected[0] = '\'';
    memcpy(expected + 61, "...'", 5);
    check_print(value_text(text, 61), expected);
    char small[4];
    assert_int_equal(value_print(small, sizeof(small),
                                 &(struct value){.type = VALUE_INT, .as.i = 12345}),
                     3);
    assert_string_equal(small, "123");
}

static void copies_own_their_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_create(64);
    char text[] = "abc";
    struct value original = value_text(text, 3);
    struct value copy = value_copy(arena, &original);
    text[0] = 'x';
    assert_memory_equal(copy.as.text, "abc", 3);
    arena_destroy(&arena);
}

static void numbers_are_decoded(void **state)
{
    (void)state;
    struct value value = value_of_number("-9223372036854775808", 20);
    assert_true(value.type == VALUE_INT && value.as.i == INT64_MIN);
    value = value_of_number("9223372036854775808", 19);
    assert_true(value.type == VALUE_REAL && value.as.r == 0x1p63);
    value = value_of_number("2.50", 4);
    assert_true(value.type == VALUE_REAL && value.as.r == 2.5);
    assert_true(isnan(value_of_number("NaN", 3).as.r));
    assert_true(isinf(value_of_real("-Infinity", 9).as.r));
    assert_int_equal(value_of_number("x", 1).type, VALUE_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_answer_in_many_types_is_the_same),
        cmocka_unit_test(different_answers_differ),
        cmocka_unit_test(hashes_tell_values_apart),
        cmocka_unit_test(values_print_for_people),
        cmocka_unit_test(copies_own_their_bytes),
        cmocka_unit_test(numbers_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
