#include "base/slice.h"
#include "testing.h"

static void split_takes_the_first_mark(void **state)
{
    (void)state;
    struct slice head, tail;
    assert_true(slice_split(slice_of("a=b=c"), '=', &head, &tail));
    assert_true(slice_is(head, "a") && slice_is(tail, "b=c"));
    assert_true(slice_split(slice_of("="), '=', &head, &tail));
    assert_true(slice_is(head, "") && slice_is(tail, ""));
    assert_false(slice_split(slice_of("abc"), '=', &head, &tail));
    assert_true(slice_is(head, "abc") && slice_is(tail, ""));
    assert_false(slice_split((struct slice){NULL, 0}, '=', &head, &tail));
}

static void trim_takes_blanks_at_both_ends(void **state)
{
    (void)state;
    assert_true(slice_is(slice_trim(slice_of(" \t a b\r\n")), "a b"));
    assert_true(slice_is(slice_trim(slice_of(" \n ")), ""));
    assert_true(slice_is(slice_trim(slice_of("")), ""));
}

static void starts_and_skip_stay_inside(void **state)
{
    (void)state;
    assert_true(slice_starts(slice_of("shop"), "sh"));
    assert_false(slice_starts(slice_of("s"), "sh"));
    assert_true(slice_is(slice_skip(slice_of("shop"), 2), "op"));
    assert_true(slice_is(slice_skip(slice_of("shop"), 9), ""));
}

/* The plain recursive definition, exponential but obviously right. */
static bool glob_oracle(const char *text, const char *pattern)
{
    if (*pattern == '\0')
        return *text == '\0';
    if (*pattern == '*')
        return glob_oracle(text, pattern + 1) || (*text && glob_oracle(text + 1, pattern));
    return *text && (*pattern == '?' || *pattern == *text) &&
           glob_oracle(text + 1, pattern + 1);
}

static void glob_agrees_with_its_definition(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    int matches = 0;
    for (int i = 0; i < 20000; i++) {
        char text[9] = "", pattern[7] = "";
        size_t text_bytes = test_random_below(&random, 9);
        size_t pattern_bytes = test_random_below(&random, 7);
        for (size_t at = 0; at < text_bytes; at++)
            text[at] = "ab"[test_random_below(&random, 2)];
        for (size_t at = 0; at < pattern_bytes; at++)
            pattern[at] = "ab?*"[test_random_below(&random, 4)];
        bool expected = glob_oracle(text, pattern);
        matches += expected;
        if (slice_glob(slice_of(text), pattern) != expected)
            fail_msg("text %s, pattern %s", text, pattern);
    }
    assert_in_range(matches, 1000, 19000);
}

static void glob_does_not_blow_up(void **state)
{
    (void)state;
    char text[2001];
    for (int i = 0; i < 2000; i++)
        text[i] = 'a';
    text[2000] = '\0';
    assert_false(slice_glob(slice_of(text), "*a*a*a*a*a*a*a*a*a*a*a*a*b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_takes_the_first_mark),
        cmocka_unit_test(trim_takes_blanks_at_both_ends),
        cmocka_unit_test(starts_and_skip_stay_inside),
        cmocka_unit_test(glob_agrees_with_its_definition),
        cmocka_unit_test(glob_does_not_blow_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
