#include "format/units.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static void units_are_picked_by_size(void **state)
{
    (void)state;
    assert_int_equal(unit_pick(0), UNIT_NS);
    assert_int_equal(unit_pick(999), UNIT_NS);
    assert_int_equal(unit_pick(1000), UNIT_US);
    assert_int_equal(unit_pick(999999), UNIT_US);
    assert_int_equal(unit_pick(1000000), UNIT_MS);
    assert_int_equal(unit_pick(999999999), UNIT_MS);
    assert_int_equal(unit_pick(1000000000), UNIT_S);
    assert_int_equal(unit_pick(UINT64_MAX), UNIT_S);
    assert_string_equal(unit_name(UNIT_NS), "ns");
    assert_string_equal(unit_name(UNIT_US), "us");
    assert_string_equal(unit_name(UNIT_MS), "ms");
    assert_string_equal(unit_name(UNIT_S), "s");
}

static void in_unit(enum unit unit, uint64_t ns, const char *want)
{
    char buffer[32];
    assert_int_equal(unit_print(buffer, sizeof(buffer), unit, ns), strlen(want));
    assert_string_equal(buffer, want);
}

static void a_cell_in_the_unit_of_its_column(void **state)
{
    (void)state;
    in_unit(UNIT_MS, 12345678, "12.346");
    in_unit(UNIT_MS, 0, "0.000");
    in_unit(UNIT_MS, 499, "0.000");
    in_unit(UNIT_MS, 500, "0.001");
    in_unit(UNIT_MS, 99999499, "99.999");
    in_unit(UNIT_MS, 99999500, "100.00"); /* rounds up to the next precision */
    in_unit(UNIT_MS, 123456789, "123.46");
    in_unit(UNIT_MS, 999994999, "999.99");
    in_unit(UNIT_MS, 999995000, "1000.0");
    in_unit(UNIT_MS, 1234567890, "1234.6");
    in_unit(UNIT_US, 30, "0.030");
    in_unit(UNIT_NS, 30, "30");
    in_unit(UNIT_NS, UINT64_MAX, "18446744073709551615");
    in_unit(UNIT_S, UINT64_MAX, "18446744073.7");
    in_unit(UNIT_US, UINT64_MAX, "18446744073709551.6");
}

static void duration(uint64_t ns, const char *want)
{
    char buffer[32];
    assert_int_equal(format_duration(buffer, sizeof(buffer), ns), strlen(want));
    assert_string_equal(buffer, want);
}

static void durations_have_three_digits(void **state)
{
    (void)state;
    duration(0, "0 ns");
    duration(30, "30 ns");
    duration(999, "999 ns");
    duration(1000, "1.00 us");
    duration(1234, "1.23 us");
    duration(9995, "10.0 us");
    duration(99950, "100 us");
    duration(999499, "999 us");
    duration(999500, "1.00 ms");
    duration(12345678, "12.3 ms");
    duration(172 * UINT64_C(1000000000), "172 s");
    duration(1234567890123, "1,235 s");
    duration(UINT64_MAX, "18,446,744,074 s");
}

static void rate(double per_s, const char *want)
{
    char buffer[32];
    assert_int_equal(format_rate(buffer, sizeof(buffer), per_s), strlen(want));
    assert_string_equal(buffer, want);
}

static void rates(void **state)
{
    (void)state;
    rate(13116.2, "13,116");
    rate(2.96, "2.96");
    rate(2.999, "3.00");
    rate(12.34, "12.3");
    rate(99.96, "100");
    rate(999.4, "999");
    rate(999.6, "1,000");
    rate(1234567.8, "1,234,568");
    rate(0.0123456, "0.0123");
    rate(0, "0");
    rate(1e-9, "1.00e-09");
    rate(1e300, "1.00e+300");
    rate(-1500, "-1,500");
    rate((double)NAN, "-");
    rate(HUGE_VAL, "-");
}

static void count(int64_t value, const char *want)
{
    char buffer[32];
    assert_int_equal(format_count(buffer, sizeof(buffer), value), strlen(want));
    assert_string_equal(buffer, want);
}

static void counts(void **state)
{
    (void)state;
    count(0, "0");
    count(999, "999");
    count(1000, "1,000");
    count(1234567, "1,234,567");
    count(-1000, "-1,000");
    count(-999, "-999");
    count(INT64_MIN, "-9,223,372,036,854,775,808");
    count(INT64_MAX, "9,223,372,036,854,775,807");
}

static void bytes(uint64_t value, const char *want)
{
    char buffer[32];
    assert_int_equal(format_bytes(buffer, sizeof(buffer), value), strlen(want));
    assert_string_equal(buffer, want);
}

static void sizes(void **state)
{
    (void)state;
    bytes(0, "0 B");
    bytes(1023, "1023 B");
    bytes(1024, "1.00 KiB");
    bytes(UINT64_C(1000) * 1024, "1,000 KiB");
    bytes(UINT64_C(1024) * 1024 - 1, "1.00 MiB");
    bytes(12897485, "12.3 MiB");
    bytes(UINT64_C(5) << 40, "5.00 TiB");
    bytes(UINT64_MAX, "16.0 EiB");
}

static void ratio(double value, double base, const char *want)
{
    char buffer[32];
    assert_int_equal(format_ratio(buffer, sizeof(buffer), value, base), strlen(want));
    assert_string_equal(buffer, want);
}

static void ratios(void **state)
{
    (void)state;
    ratio(1.3, 1, "1.3x");
    ratio(64, 1, "64x");
    ratio(21, 100, "0.21x");
    ratio(9.94, 1, "9.9x");
    ratio(9.96, 1, "10x");
    ratio(1234.4, 1, "1234x");
    ratio(1, 1, "1.0x");
    ratio(0, 7, "0x");
    ratio(0.0123, 1, "0.012x");
    ratio(1, 0, "-");
    ratio(0, 0, "-");
    ratio((double)NAN, 1, "-");
    ratio(1, (double)NAN, "-");
    ratio(HUGE_VAL, 1, "-");
    ratio(1, HUGE_VAL, "-");
    ratio(1e300, 1e-300, "-"); /* the quotient is infinite */
    ratio(1e300, 1, "1.0e+300x");
}

/* Whatever comes, no "inf" and no "nan", and never more than the buffer. */
static void nothing_prints_inf_or_nan(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    for (int i = 0; i < 20000; i++) {
        uint64_t bits[2] = {test_random_u64(&random), test_random_u64(&random)};
        double x[2];
        char buffer[32];
        memcpy(x, bits, sizeof(x));
        size_t length = format_ratio(buffer, sizeof(buffer), x[0], x[1]);
        assert_true(length == strlen(buffer) && length < 20);
        assert_true(!strpbrk(buffer, "nN") && !strstr(buffer, "inf"));
        length = format_rate(buffer, sizeof(buffer), x[0]);
        assert_true(length == strlen(buffer) && length < 24);
        assert_true(!strpbrk(buffer, "nN") && !strstr(buffer, "inf"));
        format_duration(buffer, sizeof(buffer), bits[0]);
        format_count(buffer, sizeof(buffer), (int64_t)bits[0]);
        assert_true(strlen(buffer) < 31);
    }
}

static void short_buffers_are_cut(void **state)
{
    (void)state;
    char buffer[4];
    assert_int_equal(format_count(buffer, sizeof(buffer), 1234567), 3);
    assert_string_equal(buffer, "1,2");
    assert_int_equal(format_duration(buffer, sizeof(buffer), 12345), 3);
    assert_string_equal(buffer, "12.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_picked_by_size),
        cmocka_unit_test(a_cell_in_the_unit_of_its_column),
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(rates),
        cmocka_unit_test(counts),
        cmocka_unit_test(sizes),
        cmocka_unit_test(ratios),
        cmocka_unit_test(nothing_prints_inf_or_nan),
        cmocka_unit_test(short_buffers_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
