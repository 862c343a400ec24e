#include "base/text.h"
#include "testing.h"

#include <string.h>

static void pieces_add_up(void **state)
{
    (void)state;
    struct arena *arena = arena_create(256);
    struct text text;
    text_init(&text, arena, 1000);
    assert_string_equal(text.at, "");
    text_add(&text, "SELECT ");
    text_add_slice(&text, (struct slice){"id,age", 2});
    text_add_char(&text, ' ');
    text_addf(&text, "LIMIT %d", 5);
    text_add_many(&text, ';', 3);
    assert_string_equal(text.at, "SELECT id LIMIT 5;;;");
    assert_int_equal(text.bytes, strlen(text.at));
    assert_false(text.cut);
    text_reset(&text);
    assert_string_equal(text.at, "");
    arena_destroy(&arena);
}

static void limit_holds_whatever_is_added(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    struct arena *arena = arena_create(256);
    for (size_t limit = 0; limit < 200; limit++) {
        struct text text;
        size_t wanted = 0;
        text_init(&text, arena, limit);
        while (wanted < 250) {
            size_t count = test_random_below(&random, 40);
            if (count % 2)
                text_add_many(&text, 'x', count);
            else
                text_addf(&text, "%*s", (int)count, "");
            wanted += count;
            assert_int_equal(text.bytes, wanted < limit ? wanted : limit);
            assert_int_equal(text.at[text.bytes], '\0');
            assert_int_equal(text.cut, wanted > limit);
        }
        arena_reset(arena);
    }
    arena_destroy(&arena);
}

static void print_cuts_and_terminates(void **state)
{
    (void)state;
    char buffer[6] = "?????";
    assert_int_equal(text_print(buffer, sizeof(buffer), "%s", "abcdefgh"), 5);
    assert_string_equal(buffer, "abcde");
    assert_int_equal(text_print(buffer, sizeof(buffer), "%d", 42), 2);
    assert_string_equal(buffer, "42");
    assert_int_equal(text_print(buffer, 1, "%d", 42), 0);
    assert_string_equal(buffer, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_add_up),
        cmocka_unit_test(limit_holds_whatever_is_added),
        cmocka_unit_test(print_cuts_and_terminates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
