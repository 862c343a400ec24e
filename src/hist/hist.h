#ifndef HIST_HIST_H
#define HIST_HIST_H

/*
 * Log-linear histogram of unsigned integers (durations in ns), after Gil Tene's HdrHistogram:
 * below 2,048 every value has its own bucket; above, each power of two is cut into 1,024 equal
 * buckets, so a bucket is never wider than 1/1,024 (0.1 %) of its values. Range 0 to 2^44 - 1
 * ns (4.8 hours); what is above counts as overflow: it is in count, sum and max, and quantiles
 * that fall there answer max. Exact count, sum, min and max stand beside the buckets.
 *
 * Recording is branch-light and allocates nothing. Not thread safe: one histogram a thread,
 * merged after the join; a merged histogram equals the histogram of the union.
 */

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define HIST_SUB_BITS     10 /* 1,024 buckets an octave */
#define HIST_VALUE_BITS   44
#define HIST_BUCKET_COUNT ((HIST_VALUE_BITS - HIST_SUB_BITS + 1) * (1 << HIST_SUB_BITS))

struct hist {
    uint64_t count, overflow;
    uint64_t min, max; /* of an empty histogram: UINT64_MAX, 0 */
    __uint128_t sum;
    uint64_t buckets[HIST_BUCKET_COUNT];
};

struct hist *hist_create(struct arena *arena);
void hist_reset(struct hist *hist);

/* Bucket of a value below 2^44. */
static inline uint32_t hist_index(uint64_t value)
{
    if (value < 2u << HIST_SUB_BITS)
        return (uint32_t)value;
    unsigned shift = 64 - (HIST_SUB_BITS + 1) - (unsigned)__builtin_clzll(value);
    return (uint32_t)((shift << HIST_SUB_BITS) + (value >> shift));
}

static inline void hist_record(struct hist *hist, uint64_t value)
{
    hist->count++;
    hist->sum += value;
    if (value < hist->min)
        hist->min = value;
    if (value > hist->max)
        hist->max = value;
    if (value >> HIST_VALUE_BITS)
        hist->overflow++;
    else
        hist->buckets[hist_index(value)]++;
}

void hist_record_many(struct hist *hist, uint64_t value, uint64_t count);
void hist_merge(struct hist *into, const struct hist *from);

/* Lowest and highest value of a bucket. */
uint64_t hist_bucket_low(uint32_t index);
uint64_t hist_bucket_high(uint32_t index);

/* Mean from the exact sum; 0 of an empty histogram. */
double hist_mean(const struct hist *hist);

/* Nearest rank: the smallest recorded value such that at least q of all are not above it,
 * answered as the upper edge of its bucket, never below min or above max. q in parts per
 * million (0 .. 1,000,000); the histogram must not be empty. */
uint64_t hist_quantile(const struct hist *hist, uint32_t q_ppm);

/* Sparse form for records: pairs of (lowest value of the bucket, count), ascending. Calls
 * `each` for every bucket that is not empty. */
typedef void (*hist_pair_fn)(void *context, uint64_t low, uint64_t count);
void hist_each(const struct hist *hist, hist_pair_fn each, void *context);

/* The way back: exact figures first (count is checked against the pairs plus overflow by
 * hist_load_done). Pairs whose value is not a bucket's lowest, or out of range, are errors. */
MUST_CHECK bool hist_load_pair(struct hist *hist, uint64_t low, uint64_t count,
                               struct err *err);
MUST_CHECK bool hist_load_done(struct hist *hist, uint64_t min, uint64_t max, uint64_t overflow,
                               __uint128_t sum, struct err *err);

#endif
