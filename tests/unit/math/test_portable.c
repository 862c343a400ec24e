#include "math/math.h"
#include "testing.h"

#include <math.h>
#include <string.h>

/* Steps of the last place between two finite numbers of one sign. */
static int64_t ulps(double a, double b)
{
    int64_t x;
    int64_t y;
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    return x > y ? x - y : y - x;
}

static double in_range(struct test_random *random, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(test_random_u64(random) >> 11) * 0x1p-53);
}

static void log_agrees_with_libm(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    for (int i = 0; i < 200000; i++) {
        double x = ldexp(in_range(&random, 1, 2), (int)test_random_below(&random, 2098) - 1074);
        if (ulps(math_log(x), log(x)) > 2)
            fail_msg("log(%a) = %a, libm has %a", x, math_log(x), log(x));
        double near_one = in_range(&random, 0.9, 1.1);
        assert_true(ulps(math_log(near_one), log(near_one)) <= 2);
    }
}

static void exp_agrees_with_libm(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    for (int i = 0; i < 200000; i++) {
        double x = in_range(&random, -745, 709.7);
        double small = in_range(&random, -1, 1);
        if (ulps(math_exp(x), exp(x)) > 2)
            fail_msg("exp(%a) = %a, libm has %a", x, math_exp(x), exp(x));
        assert_true(ulps(math_exp(small), exp(small)) <= 2);
    }
}

static void small_arguments_keep_their_digits(void **state)
{
    (void)state;
    struct test_random random = test_random_init();
    for (int i = 0; i < 100000; i++) {
        double x = ldexp(in_range(&random, -1, 1), -(int)test_random_below(&random, 60));
        assert_true(fabs(math_log1p(x) - log1p(x)) <= 8e-16 * fabs(log1p(x)));
        assert_true(fabs(math_expm1(x) - expm1(x)) <= 8e-16 * fabs(expm1(x)));
    }
}

static void the_edges(void **state)
{
    (void)state;
    assert_true(math_log(1) == 0);
    assert_true(math_log(0) == -HUGE_VAL);
    assert_true(isnan(math_log(-1)));
    assert_true(isnan(math_log((double)NAN)));
    assert_true(math_log(HUGE_VAL) == HUGE_VAL);
    assert_true(math_exp(0) == 1);
    assert_true(math_exp(-HUGE_VAL) == 0);
    assert_true(math_exp(-800) == 0);
    assert_true(math_exp(710) == HUGE_VAL);
    assert_true(isnan(math_exp((double)NAN)));
    assert_true(math_expm1(-1000) == -1);
    assert_true(math_expm1(1000) == HUGE_VAL);
    assert_true(math_expm1(0) == 0);
    assert_true(math_log1p(-1) == -HUGE_VAL);
    assert_true(math_log1p(0) == 0);
}

/* The very bits, so that a host or a compiler that fuses or reorders is noticed. */
static void the_bits_are_fixed(void **state)
{
    (void)state;
    assert_true(math_log(10) == 0x1.26bb1bbb55516p+1);
    assert_true(math_log(0.3) == -0x1.34378fcbda721p+0);
    assert_true(math_exp(1) == 0x1.5bf0a8b14576ap+1);
    assert_true(math_exp(-3.7) == 0x1.9511fc6871044p-6);
    assert_true(math_expm1(1e-5) == 0x1.4f8bc681cdfb6p-17);
    assert_true(math_log1p(1e-5) == 0x1.4f8aea9ae7316p-17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_agrees_with_libm),
        cmocka_unit_test(exp_agrees_with_libm),
        cmocka_unit_test(small_arguments_keep_their_digits),
        cmocka_unit_test(the_edges),
        cmocka_unit_test(the_bits_are_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
