#include "math/math.h"
#include "testing.h"

#include <math.h>

/* NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4: upper critical values of the
 * chi-square distribution, printed to 3 places. */
static void chi_square_agrees_with_the_table(void **state)
{
    (void)state;
    const struct {
        unsigned freedom;
        double at_10, at_05, at_01, at_001;
    } table[] = {
        {1,   2.706,   3.841,   6.635,   10.828 },
        {2,   4.605,   5.991,   9.210,   13.816 },
        {3,   6.251,   7.815,   11.345,  16.266 },
        {10,  15.987,  18.307,  23.209,  29.588 },
        {30,  40.256,  43.773,  50.892,  59.703 },
        {99,  117.407, 123.225, 134.642, 148.230},
        {100, 118.498, 124.342, 135.807, 149.449}
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_true(fabs(math_chi_square_tail(table[i].at_10, table[i].freedom) - 0.1) < 7e-5);
        assert_true(fabs(math_chi_square_tail(table[i].at_05, table[i].freedom) - 0.05) < 3e-5);
        assert_true(fabs(math_chi_square_tail(table[i].at_01, table[i].freedom) - 0.01) < 5e-6);
        assert_true(fabs(math_chi_square_tail(table[i].at_001, table[i].freedom) - 0.001) <
                    5e-7);
    }
}

/* Closed forms: 2 degrees e^(-x/2), 1 degree erfc(sqrt(x/2)), 4 degrees e^(-x/2) (1 + x/2). */
static void chi_square_agrees_with_closed_forms(void **state)
{
    (void)state;
    for (int i = 1; i < 2000; i++) {
        double x = i / 10.0;
        assert_true(fabs(math_chi_square_tail(x, 1) / erfc(sqrt(x / 2)) - 1) < 1e-12);
        assert_true(fabs(math_chi_square_tail(x, 2) / exp(-x / 2) - 1) < 1e-12);
        assert_true(fabs(math_chi_square_tail(x, 4) / (exp(-x / 2) * (1 + x / 2)) - 1) < 1e-12);
    }
    assert_true(math_chi_square_tail(0, 5) == 1);
    assert_true(math_chi_square_tail(-1, 5) == 1);
    assert_true(isnan(math_chi_square_tail(1, 0)));
    assert_true(fabs(math_chi_square_tail(9999.333, 10000) - 0.5) < 1e-4); /* the median */
}

/* Smirnov's table (1948) of the limiting distribution, and Miller's (1956) exact critical
 * values of D for small n at 5 % and 1 %, which Stephens' correction meets within some 3 %. */
static void kolmogorov_agrees_with_the_tables(void **state)
{
    (void)state;
    const uint64_t many = UINT64_C(1) << 60;
    double root = sqrt((double)many);
    const double limits[][2] = {
        {0.5,    0.963945},
        {0.8276, 0.4999  },
        {1.0,    0.270000},
        {1.2238, 0.1     },
        {1.3581, 0.05    },
        {1.6276, 0.01    },
        {1.9495, 0.001   }
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        assert_true(fabs(math_ks_tail(limits[i][0] / root, many) / limits[i][1] - 1) < 2e-3);
    const struct {
        uint64_t n;
        double at_05, at_01;
    } small[] = {
        {10,  0.40925, 0.48893},
        {20,  0.29408, 0.35241},
        {40,  0.21012, 0.25205},
        {100, 0.13403, 0.16081}
    };
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
        assert_true(fabs(math_ks_tail(small[i].at_05, small[i].n) / 0.05 - 1) < 0.03);
        assert_true(fabs(math_ks_tail(small[i].at_01, small[i].n) / 0.01 - 1) < 0.06);
    }
    assert_true(math_ks_tail(0, 100) == 1);
    assert_true(math_ks_tail(1, 1000) < 1e-300);
}

static void kolmogorov_falls_without_a_seam(void **state)
{
    (void)state;
    double last = 1;
    for (int i = 10; i < 3000; i++) {
        double tail = math_ks_tail(i / 10000.0, 100);
        assert_true(tail <= last && last - tail < 0.01);
        last = tail;
    }
}

static double plain_sum(uint64_t n, double s)
{
    long double sum = 0;
    for (uint64_t k = n; k > 0; k--)
        sum += powl((long double)k, -(long double)s);
    return (double)sum;
}

static void harmonic_agrees_with_the_plain_sum(void **state)
{
    (void)state;
    const double exponents[] = {0, 0.01, 0.5, 0.99, 0.9999999, 1, 1.0000001, 1.5, 2, 3.7, 20};
    const uint64_t sizes[] = {1, 2, 10, 999, 1000, 1001, 1100, 50000};
    for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++) {
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            double want = plain_sum(sizes[k], exponents[i]);
            double got = math_harmonic(sizes[k], exponents[i]);
            if (!(fabs(got / want - 1) < 1e-12))
                fail_msg("H(%ju, %g) = %.17g, the sum is %.17g", (uintmax_t)sizes[k],
                         exponents[i], got, want);
        }
    }
}

/* H(10^6) = 14.3927267228657236... (Knuth, TAOCP 1, table 3 gives H(10000) as well); for s = 2
 * the rest of zeta(2) = pi^2 / 6 is 1/n - 1/(2 n^2) + ... */
static void harmonic_agrees_with_known_values(void **state)
{
    (void)state;
    assert_true(fabs(math_harmonic(10000, 1) / 9.7876060360443823 - 1) < 1e-13);
    assert_true(fabs(math_harmonic(1000000, 1) / 14.392726722865724 - 1) < 1e-13);
    double pi = 3.14159265358979323846;
    assert_true(fabs(math_harmonic(1000000000, 2) - (pi * pi / 6 - 1e-9)) < 1e-14);
    assert_true(math_harmonic(0, 1) == 0);
    assert_true(fabs(math_harmonic(UINT64_C(1) << 60, 0) / 0x1p60 - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chi_square_agrees_with_the_table),
        cmocka_unit_test(chi_square_agrees_with_closed_forms),
        cmocka_unit_test(kolmogorov_agrees_with_the_tables),
        cmocka_unit_test(kolmogorov_falls_without_a_seam),
        cmocka_unit_test(harmonic_agrees_with_the_plain_sum),
        cmocka_unit_test(harmonic_agrees_with_known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
