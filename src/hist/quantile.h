#ifndef HIST_QUANTILE_H
#define HIST_QUANTILE_H

/*
 * The one rule for quantiles (DESIGN.md section 4): nearest rank, k = max(1, ceil(q * n)); no
 * interpolation. Which of them may be shown: the median from n >= 3, any other only when
 * n >= 10 / (1 - q), so that ten samples lie beyond it; the maximum always.
 */

#include <stdbool.h>
#include <stdint.h>

#define QUANTILE_P50  500000u
#define QUANTILE_P95  950000u
#define QUANTILE_P99  990000u
#define QUANTILE_P999 999000u

/* Rank (1-based) of the quantile among n > 0 sorted values; q in parts per million. */
uint64_t quantile_rank(uint64_t n, uint32_t q_ppm);

/* Do n samples carry this quantile? */
bool quantile_known(uint64_t n, uint32_t q_ppm);

/* Of n > 0 values; sorts them in place. */
uint64_t quantile_of(uint64_t *values, uint64_t n, uint32_t q_ppm);

#endif
