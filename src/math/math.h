#ifndef MATH_MATH_H
#define MATH_MATH_H

/* Arithmetic that more than one module needs. Pure. */

#include <stdint.h>

/* Generalised harmonic number H(n, s) = sum of 1 / k^s for k = 1..n, exact to 1e-12 relative:
 * the sum itself up to 1,000 terms, Euler-Maclaurin after that. s >= 0, s = 1 included. */
double math_harmonic(uint64_t n, double s);

/* Upper tail of the chi-square distribution with `freedom` degrees (regularised incomplete
 * gamma function Q(freedom/2, x/2), series and continued fraction). */
double math_chi_square_tail(double x, unsigned freedom);

/* Tail of the Kolmogorov distribution: P(sqrt(n) * D > t), with Stephens' small-sample
 * correction t = d * (sqrt(n) + 0.12 + 0.11 / sqrt(n)). */
double math_ks_tail(double d, uint64_t n);

/* Natural logarithm and exponential of which every bit is the same on every host: only + - * /
 * and IEEE rounding, no libm, whose last bit differs between hosts. Within 1 ulp (2 for results
 * below the normal range). After Sun's fdlibm (e_log.c, e_exp.c), whose coefficients they use.
 * log(0) = -inf, log(x < 0) = NaN. */
double math_log(double x);
double math_exp(double x);

/* log(1 + x) and exp(x) - 1 without cancellation near 0, from the two above (Kahan). */
double math_log1p(double x);
double math_expm1(double x);

/* Standard normal distribution function, and its inverse (Wichura, AS 241, 1988), 0 < p < 1.
 * The same bits on every host. */
double math_normal_cdf(double z);
double math_normal_quantile(double p);

#endif
