#include "hist/quantile.h"

#include <assert.h>
#include <stdlib.h>

enum { PPM = 1000000, MEDIAN_SAMPLES = 3, BEYOND_SAMPLES = 10 };

uint64_t quantile_rank(uint64_t n, uint32_t q_ppm)
{
    assert(n > 0 && q_ppm <= PPM);
    uint64_t rank = (uint64_t)(((__uint128_t)n * q_ppm + PPM - 1) / PPM);
    return rank > 0 ? rank : 1;
}

bool quantile_known(uint64_t n, uint32_t q_ppm)
{
    assert(q_ppm <= PPM);
    if (q_ppm == PPM)
        return n > 0;
    if (q_ppm == QUANTILE_P50)
        return n >= MEDIAN_SAMPLES;
    return (__uint128_t)n * (PPM - q_ppm) >= (__uint128_t)BEYOND_SAMPLES * PPM;
}

static int order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t quantile_of(uint64_t *values, uint64_t n, uint32_t q_ppm)
{
    assert(n > 0);
    qsort(values, n, sizeof(*values), order);
    return values[quantile_rank(n, q_ppm) - 1];
}
