#include "math/math.h"

#include <math.h>
#include <stdbool.h>

/* x^a e^-x / Gamma(a), in logarithms so that it neither overflows nor vanishes early. */
static double gamma_front(double a, double x)
{
    int sign;
    return exp(a * log(x) - x - lgamma_r(a, &sign));
}

/* P(a, x) by its series; converges quickly for x < a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1 / a;
    double sum = term;
    for (int k = 1; k < 100000 && term > sum * 1e-17; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return gamma_front(a, x) * sum;
}

/* Q(a, x) by Lentz's continued fraction; for x >= a + 1. */
static double gamma_fraction(double a, double x)
{
    const double tiny = 1e-300;
    double b = x + 1 - a;
    double c = 1 / tiny;
    double d = 1 / b;
    double h = d;
    for (int k = 1; k < 100000; k++) {
        double numerator = -k * (k - a);
        b += 2;
        d = numerator * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + numerator / c;
        c = fabs(c) < tiny ? tiny : c;
        double step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-16)
            break;
    }
    return gamma_front(a, x) * h;
}

double math_chi_square_tail(double x, unsigned freedom)
{
    if (freedom == 0 || x != x)
        return (double)NAN;
    if (x <= 0)
        return 1;
    double a = freedom / 2.0;
    x /= 2;
    return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

/* 1 - the distribution function of Kolmogorov: two series, each where it converges at once. */
static double kolmogorov_tail(double t)
{
    const double pi = 3.14159265358979323846;
    double sum = 0;
    if (t < 1) {
        for (int k = 1; k < 20; k += 2)
            sum += exp(-(k * k) * pi * pi / (8 * t * t));
        return 1 - sqrt(2 * pi) / t * sum;
    }
    for (int k = 1; k < 20; k++)
        sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * t * t);
    return sum;
}

double math_ks_tail(double d, uint64_t n)
{
    double root = sqrt((double)n);
    double t = d * (root + 0.12 + 0.11 / root);
    return t <= 0.05 ? 1 : kolmogorov_tail(t);
}

enum { PLAIN_TERMS = 1000 };

/* The derivatives of x^-s that Euler-Maclaurin needs, with their Bernoulli factors. */
static double correction(double x, double s)
{
    double first = -s * pow(x, -s - 1);
    double third = -s * (s + 1) * (s + 2) * pow(x, -s - 3);
    return first / 12 - third / 720;
}

double math_harmonic(uint64_t n, double s)
{
    uint64_t plain = n < PLAIN_TERMS ? n : PLAIN_TERMS;
    double sum = 0;
    for (uint64_t k = plain; k > 0; k--) /* small terms first */
        sum += pow((double)k, -s);
    if (n <= PLAIN_TERMS)
        return sum;
    double from = (double)plain;
    double to = (double)n;
    double ratio = log(to / from);
    bool flat = fabs(1 - s) < 1e-15;
    double integral = flat ? ratio : pow(from, 1 - s) * expm1((1 - s) * ratio) / (1 - s);
    return sum + integral + (pow(to, -s) - pow(from, -s)) / 2 + correction(to, s) -
           correction(from, s);
}
