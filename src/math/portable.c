#include "math/math.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse in ISO mode */
#endif

static const double ln2_high = 6.93147180369123816490e-01;
static const double ln2_low = 1.90821492927058770002e-10;

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* 2^exponent for -1022 .. 1023. */
static double power_of_two(int exponent)
{
    return double_of((uint64_t)(exponent + 1023) << 52);
}

/* x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)); x is positive and finite. */
static double split(double x, int *exponent)
{
    int shift = 0;
    if (x < power_of_two(-1022)) {
        x *= power_of_two(54);
        shift = -54;
    }
    uint64_t bits = bits_of(x);
    int power = (int)(bits >> 52) - 1023;
    double m = double_of((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000));
    if (m >= 1.4142135623730951) {
        m *= 0.5;
        power++;
    }
    *exponent = power + shift;
    return m;
}

double math_log(double x)
{
    if (x == 0)
        return -HUGE_VAL;
    if (!(x > 0))
        return (double)NAN;
    if (x == HUGE_VAL)
        return x;
    int exponent;
    double f = split(x, &exponent) - 1;
    double k = exponent;
    double s = f / (2 + f);
    double z = s * s;
    double w = z * z;
    double even = w * (3.999999999940941908e-01 +
                       w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    double odd = z * (6.666666666666735130e-01 +
                      w * (2.857142874366239149e-01 +
                           w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    double half = 0.5 * f * f;
    return k * ln2_high - ((half - (s * (half + (even + odd)) + k * ln2_low)) - f);
}

double math_exp(double x)
{
    if (!(x < 709.79)) /* NaN comes back as it is */
        return x >= 709.79 ? HUGE_VAL : x;
    if (x < -745.2)
        return 0;
    int k = (int)(x * 1.44269504088896338700e+00 + (x < 0 ? -0.5 : 0.5));
    double high = x - k * ln2_high;
    double low = k * ln2_low;
    double r = high - low;
    double t = r * r;
    double c =
        r - t * (1.66666666666666019037e-01 +
                 t * (-2.77777777770155933842e-03 +
                      t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 +
                                                             t * 4.13813679705723846039e-08))));
    double y = 1 - ((low - r * c / (2 - c)) - high);
    /* in two steps, since 2^k alone may lie outside the range */
    return y * power_of_two(k / 2) * power_of_two(k - k / 2);
}

double math_log1p(double x)
{
    double u = 1 + x;
    if (u == 1)
        return x;
    if (u == 0 || u == HUGE_VAL)
        return math_log(u);
    return math_log(u) * (x / (u - 1));
}

double math_expm1(double x)
{
    if (x < -40)
        return -1;
    double u = math_exp(x);
    if (u == 1)
        return x;
    double less = u - 1;
    if (less == -1 || u == HUGE_VAL)
        return less;
    return less * (x / math_log(u));
}
