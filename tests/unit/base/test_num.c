#include "base/num.h"
#include "testing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void integers_take_the_whole_text_or_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1x",
                                      "x",
                                      "0x1",
                                      "1.",
                                      "--1",
                                      "1e3",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    int64_t number = 77;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
        assert_false(num_i64(slice_of(bad[i]), &number));
    assert_int_equal(number, 77);
    assert_true(num_i64(slice_of("9223372036854775807"), &number) && number == INT64_MAX);
    assert_true(num_i64(slice_of("-9223372036854775808"), &number) && number == INT64_MIN);
    assert_true(num_i64(slice_of("-0"), &number) && number == 0);
    uint64_t size = 77;
    assert_false(num_u64(slice_of("-1"), &size));
    assert_false(num_u64(slice_of("18446744073709551616"), &size));
    assert_int_equal(size, 77);
    assert_true(num_u64(slice_of("18446744073709551615"), &size) && size == UINT64_MAX);
}

static void printing_and_parsing_are_inverse(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    for (int i = 0; i < 100000; i++) {
        uint64_t value = test_random_u64(&random) >> test_random_below(&random, 64), back;
        char ours[20], theirs[24];
        uint32_t count = num_print_u64(ours, value);
        int expected = snprintf(theirs, sizeof(theirs), "%" PRIu64, value);
        assert_int_equal(count, expected);
        assert_memory_equal(ours, theirs, count);
        assert_true(num_u64((struct slice){ours, count}, &back) && back == value);
        int64_t number = (int64_t)(test_random_u64(&random) << test_random_below(&random, 64));
        count = num_print_i64(ours, number);
        expected = snprintf(theirs, sizeof(theirs), "%" PRId64, number);
        assert_int_equal(count, expected);
        assert_memory_equal(ours, theirs, count);
    }
    char lowest[20];
    assert_int_equal(num_print_i64(lowest, INT64_MIN), 20);
    assert_memory_equal(lowest, "-9223372036854775808", 20);
}

static void reals_are_finite_decimal_numbers(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      ".",    "e5",  "1e",      "1e+", " 1",
                                      "1 ",    "0x10", "inf", "nan",     "1..", "1.2.3",
                                      "1e999", "1,5",  "-",   "infinity"};
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"1",      1   },
        {"-1.5",   -1.5},
        {"1e12",   1e12},
        {".5",     .5  },
        {"5.",     5   },
        {"+2",     2   },
        {"1E-3",   1e-3},
        {"0.1",    0.1 },
        {"1e-400", 0   }
    };
    double real = 77;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        if (num_real(slice_of(bad[i]), &real))
            fail_msg("%s was taken", bad[i]);
    }
    assert_true(real == 77);
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        assert_true(num_real(slice_of(good[i].text), &real));
        assert_true(real == good[i].value);
    }
    char longest[500];
    memset(longest, '1', sizeof(longest));
    assert_false(num_real((struct slice){longest, sizeof(longest)}, &real));
    assert_true(num_real((struct slice){"1.25xyz", 4}, &real) && real == 1.25);
}

static void durations_know_their_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"50ms",  50 * NS_PER_MS  },
        {"1.5s",  1500 * NS_PER_MS},
        {"2",     2 * NS_PER_S    },
        {"0.25",  250 * NS_PER_MS },
        {"7us",   7000            },
        {"9ns",   9               },
        {"3m",    180 * NS_PER_S  },
        {"1h",    3600 * NS_PER_S },
        {"0",     0               },
        {"0.1us", 100             },
        {"1e3s",  1000 * NS_PER_S }
    };
    static const char *const bad[] = {"",       "s",  "-1s", "1x",  "1 s",
                                      "5min",   "1S", "-0s", "nan", "99999999999999999999s",
                                      "1e300h", "ms1"};
    uint64_t ns = 77;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        if (num_duration(slice_of(bad[i]), &ns))
            fail_msg("%s was taken", bad[i]);
    }
    assert_int_equal(ns, 77);
    for (size_t i = 0; i < ARRAY_COUNT(good); i++) {
        assert_true(num_duration(slice_of(good[i].text), &ns));
        assert_int_equal(ns, good[i].ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_take_the_whole_text_or_nothing),
        cmocka_unit_test(printing_and_parsing_are_inverse),
        cmocka_unit_test(reals_are_finite_decimal_numbers),
        cmocka_unit_test(durations_know_their_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
