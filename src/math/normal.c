#include "math/math.h"

#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse in ISO mode */
#endif

static const double one_over_root_two_pi = 0.39894228040143267794;

/* Upper tail for z >= 2 by Laplace's continued fraction (Abramowitz and Stegun 26.2.14). */
static double far_tail(double z)
{
    double fraction = 0;
    for (int k = 300; k > 0; k--)
        fraction = k / (z + fraction);
    return one_over_root_two_pi * math_exp(-0.5 * z * z) / (z + fraction);
}

double math_normal_cdf(double z)
{
    if (z != z)
        return z;
    if (z <= -2)
        return z < -39 ? 0 : far_tail(-z);
    if (z >= 2)
        return z > 39 ? 1 : 1 - far_tail(z);
    /* 1/2 + density * (z + z^3/3 + z^5/15 + ...), Abramowitz and Stegun 26.2.11 */
    double term = z;
    double sum = z;
    for (int k = 3; k < 200 && fabs(term) > fabs(sum) * 1e-18; k += 2) {
        term *= z * z / k;
        sum += term;
    }
    return 0.5 + one_over_root_two_pi * math_exp(-0.5 * z * z) * sum;
}

static double polynomial(const double c[8], double x)
{
    double sum = c[7];
    for (int i = 6; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* The coefficients of PPND16 (AS 241), numerator and denominator. */
static const double centre[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4,                                                                            4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4,                                                                                                                                                       2.5090809287301226727e3},
    {1.0,                     4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4,                                                                                                     3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3                                                                                                                                                                               },
};
static const double near[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0,                                                                                1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2,                                                                                                                                                               7.74545014278341407640e-4},
    {1.0,                      2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1,                                                                                                         1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9                                                                                                                                                                                         },
};
static const double far[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0,  1.78482653991729133580e0,
     2.96560571828504891230e-1,                                                                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5,                                                                                                                                                                  2.01033439929228813265e-7},
    {1.0,                      5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4,                                                                                                            1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15                                                                                                                                                                                           },
};

double math_normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -HUGE_VAL : p == 1 ? HUGE_VAL : (double)NAN;
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * polynomial(centre[0], r) / polynomial(centre[1], r);
    }
    double r = sqrt(-math_log(q < 0 ? p : 1 - p));
    const double(*tail)[8] = r <= 5 ? near : far;
    r -= r <= 5 ? 1.6 : 5;
    double z = polynomial(tail[0], r) / polynomial(tail[1], r);
    return q < 0 ? -z : z;
}
