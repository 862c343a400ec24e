#include "math/math.h"
#include "testing.h"

#include <math.h>

static void near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g, but the table has %.17g", got, want);
}

/* Abramowitz and Stegun, Handbook of Mathematical Functions (1964), table 26.1: P(z) to 15
 * places; and table 26.2: -log10 Q(z) to 5. */
static void cdf_agrees_with_the_tables(void **state)
{
    (void)state;
    const double table[][2] = {
        {0.0,  0.5              },
        {0.5,  0.691462461274013},
        {1.0,  0.841344746068543},
        {1.96, 0.975002104851780},
        {2.0,  0.977249868051821},
        {2.98, 0.998558758082660},
        {3.0,  0.998650101968370},
        {4.0,  0.999968328758167}
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_true(fabs(math_normal_cdf(table[i][0]) - table[i][1]) < 6e-16 + 5e-16);
        assert_true(fabs(math_normal_cdf(-table[i][0]) - (1 - table[i][1])) < 6e-16 + 5e-16);
    }
    const double tails[][2] = {
        {5,  6.54265  },
        {10, 23.11805 },
        {20, 88.56010 },
        {30, 197.30921}
    };
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
        assert_true(fabs(-log10(math_normal_cdf(-tails[i][0])) - tails[i][1]) < 1e-5);
}

static void cdf_agrees_with_erfc(void **state)
{
    (void)state;
    for (int i = -3700; i < 800; i++) {
        double z = i / 100.0;
        near(math_normal_cdf(z), 0.5 * erfc(-z / sqrt(2)), z < -5 ? 1e-12 : 1e-14);
    }
    assert_true(math_normal_cdf(-50) == 0);
    assert_true(math_normal_cdf(50) == 1);
    assert_true(math_normal_cdf(-HUGE_VAL) == 0);
    assert_true(isnan(math_normal_cdf((double)NAN)));
}

/* The three checks that Wichura gives in AS 241 (1988), and A&S table 26.5. */
static void quantile_agrees_with_its_source(void **state)
{
    (void)state;
    near(math_normal_quantile(0.25), -0.6744897501960817, 1e-15);
    near(math_normal_quantile(0.001), -3.090232306167814, 1e-15);
    near(math_normal_quantile(1e-20), -9.262340089798408, 1e-15);
    near(math_normal_quantile(0.975), 1.959963984540054, 1e-15);
    assert_true(math_normal_quantile(0.5) == 0);
    assert_true(math_normal_quantile(0) == -HUGE_VAL);
    assert_true(math_normal_quantile(1) == HUGE_VAL);
    assert_true(isnan(math_normal_quantile(1.5)));
}

static void quantile_undoes_cdf(void **state)
{
    (void)state;
    for (int i = -3500; i < 500; i++) {
        double z = i / 100.0;
        assert_true(fabs(math_normal_quantile(math_normal_cdf(z)) - z) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cdf_agrees_with_the_tables),
        cmocka_unit_test(cdf_agrees_with_erfc),
        cmocka_unit_test(quantile_agrees_with_its_source),
        cmocka_unit_test(quantile_undoes_cdf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
