#include "gen/gen_internal.h"
#include "math/math.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse in ISO mode */
#endif

uint64_t gen_below_slow(uint64_t bits, uint64_t range)
{
    if (range == 0)
        return bits;
    uint64_t biased = (UINT64_MAX - range + 1) % range;
    __uint128_t product = (__uint128_t)bits * range;
    while ((uint64_t)product < biased) {
        bits = gen_redraw(bits);
        product = (__uint128_t)bits * range;
    }
    return (uint64_t)(product >> 64);
}

void gen_uniform_slow(const struct gen_node *node, uint64_t bits, struct value *out)
{
    uint64_t offset = gen_below_slow(bits, node->as.span.range);
    *out = value_int((int64_t)((uint64_t)node->as.span.lo + offset));
}

/*
 * Zipf by rejection-inversion (Hoermann and Derflinger, "Rejection-inversion to generate
 * variates from monotone discrete distributions", 1996). h(x) = x^-s, integral(x) = its
 * integral from 1.
 */

/* Above it, all but one draw in 1e9 are 1, and the arithmetic loses its digits. */
static const double steepest = 30;

static double expm1_over(double x)
{
    return x == 0 ? 1 : math_expm1(x) / x;
}

static double log1p_over(double x)
{
    return x == 0 ? 1 : math_log1p(x) / x;
}

static double density(const struct gen_zipf *zipf, double x)
{
    return math_exp(-zipf->s * math_log(x));
}

static double integral(const struct gen_zipf *zipf, double x)
{
    double logarithm = math_log(x);
    return expm1_over((1 - zipf->s) * logarithm) * logarithm;
}

static double inverse(const struct gen_zipf *zipf, double y)
{
    double t = y * (1 - zipf->s);
    return math_exp(log1p_over(t < -1 ? -1 : t) * y);
}

void gen_zipf_prepare(struct gen_zipf *zipf, int64_t n, double s)
{
    *zipf = (struct gen_zipf){.n = n, .s = s < steepest ? s : steepest};
    zipf->integral_first = integral(zipf, 1.5) - 1;
    zipf->integral_last = integral(zipf, (double)n + 0.5);
    zipf->threshold = 2 - inverse(zipf, integral(zipf, 2.5) - density(zipf, 2));
}

int64_t gen_zipf_draw(const struct gen_zipf *zipf, uint64_t bits)
{
    for (;; bits = gen_redraw(bits)) {
        double y =
            zipf->integral_last + gen_unit(bits) * (zipf->integral_first - zipf->integral_last);
        double x = inverse(zipf, y);
        double top = (double)zipf->n;
        double k = x < 1 ? 1 : x > top ? top : (double)(int64_t)(x + 0.5);
        if (k > top)
            k = top;
        if (k - x <= zipf->threshold || y >= integral(zipf, k + 0.5) - density(zipf, k))
            return (int64_t)k;
    }
}

/* The number at a position of [0, 1) in a range that may be 2^64 (0). */
static int64_t number_at(const struct gen_bell *bell, double position)
{
    double range = bell->range ? (double)bell->range : 0x1p64;
    double offset = position * range;
    uint64_t last = bell->range - 1;
    uint64_t steps = offset < 0x1p64 ? (uint64_t)offset : last;
    return (int64_t)((uint64_t)bell->lo + (steps < last ? steps : last));
}

void gen_gaussian_prepare(struct gen_bell *bell, double shape)
{
    bell->shape = shape;
    bell->edge = math_normal_cdf(-shape);
}

/* By inversion of the lower half, where p has all its digits; the lowest bit picks the half. */
int64_t gen_gaussian_draw(const struct gen_bell *bell, uint64_t bits)
{
    double p = bell->edge + (gen_unit(bits) + 0x1p-54) * (0.5 - bell->edge);
    double z = p < 0.5 ? math_normal_quantile(p) : 0;
    double half = z < -bell->shape ? 0.5 : -z / (2 * bell->shape);
    return number_at(bell, bits & 1 ? 0.5 + half : 0.5 - half);
}

void gen_exponential_prepare(struct gen_bell *bell, double shape)
{
    bell->shape = shape;
    bell->edge = math_expm1(-shape);
}

int64_t gen_exponential_draw(const struct gen_bell *bell, uint64_t bits)
{
    return number_at(bell, -math_log1p(bell->edge * gen_unit(bits)) / bell->shape);
}

void gen_hot_prepare(struct gen_hot *hot, int64_t n, double part, double share)
{
    uint64_t all = (uint64_t)n;
    double want = (double)n * part;
    uint64_t first = want >= (double)n ? all : (uint64_t)want;
    hot->hot = first < 1 ? 1 : first;
    hot->cold = all - hot->hot;
    hot->all_hot = hot->cold == 0 || share >= 1;
    hot->limit = hot->all_hot ? 0 : (uint64_t)(share * 0x1p64);
}

int64_t gen_hot_draw(const struct gen_hot *hot, uint64_t bits)
{
    uint64_t second = gen_redraw(bits);
    if (hot->all_hot || bits < hot->limit)
        return (int64_t)(1 + gen_below(second, hot->hot));
    return (int64_t)(1 + hot->hot + gen_below(second, hot->cold));
}

/* Rounds come in pairs. Halves of a few bits need more of them before pairs of numbers lie as
 * in a random permutation (3 and 4 fail and pass the truth test at n = 10). */
enum { FEISTEL_PAIRS = 4, FEISTEL_PAIRS_SMALL = 8, SMALL_BITS = 8 };

/* One pass of a Feistel network over `bits` bits. */
static uint64_t feistel(uint64_t key, uint64_t x, unsigned bits)
{
    unsigned right_bits = bits - bits / 2;
    uint64_t left_mask = (UINT64_C(1) << bits / 2) - 1;
    uint64_t right_mask = (UINT64_C(1) << right_bits) - 1;
    uint64_t left = x >> right_bits;
    uint64_t right = x & right_mask;
    for (int i = bits > SMALL_BITS ? FEISTEL_PAIRS : FEISTEL_PAIRS_SMALL; i > 0; i--) {
        key += GEN_ROW_STEP;
        left ^= hash_mix(key ^ right) & left_mask;
        key += GEN_ROW_STEP;
        right ^= hash_mix(key ^ left) & right_mask;
    }
    return left << right_bits | right;
}

/* The network permutes a power of two below 2n; a result past n goes through again until it is
 * below (cycle walking), which keeps it a bijection of 0 .. n - 1. */
int64_t gen_permute_one(uint64_t key, int64_t x, int64_t n)
{
    if (n < 2)
        return 1;
    unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)n - 1);
    uint64_t at = (uint64_t)x - 1;
    do
        at = feistel(key, at, bits);
    while (at >= (uint64_t)n);
    return (int64_t)(at + 1);
}
