#include "hist/hist.h"

#include "hist/quantile.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

struct hist *hist_create(struct arena *arena)
{
    struct hist *hist = arena_new(arena, struct hist);
    hist->min = UINT64_MAX;
    return hist;
}

void hist_reset(struct hist *hist)
{
    memset(hist, 0, sizeof(*hist));
    hist->min = UINT64_MAX;
}

void hist_record_many(struct hist *hist, uint64_t value, uint64_t count)
{
    if (count == 0)
        return;
    hist->count += count;
    hist->sum += (__uint128_t)value * count;
    if (value < hist->min)
        hist->min = value;
    if (value > hist->max)
        hist->max = value;
    if (value >> HIST_VALUE_BITS)
        hist->overflow += count;
    else
        hist->buckets[hist_index(value)] += count;
}

void hist_merge(struct hist *into, const struct hist *from)
{
    into->count += from->count;
    into->overflow += from->overflow;
    into->sum += from->sum;
    if (from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    for (size_t i = 0; i < ARRAY_COUNT(into->buckets); i++)
        into->buckets[i] += from->buckets[i];
}

/* By how many bits the values of a bucket are shifted. */
static unsigned shift_of(uint32_t index)
{
    uint32_t octave = index >> HIST_SUB_BITS;
    return octave > 1 ? octave - 1 : 0;
}

uint64_t hist_bucket_low(uint32_t index)
{
    assert(index < HIST_BUCKET_COUNT);
    unsigned shift = shift_of(index);
    return ((uint64_t)index - ((uint64_t)shift << HIST_SUB_BITS)) << shift;
}

uint64_t hist_bucket_high(uint32_t index)
{
    return hist_bucket_low(index) + (UINT64_C(1) << shift_of(index)) - 1;
}

double hist_mean(const struct hist *hist)
{
    return hist->count ? (double)hist->sum / (double)hist->count : 0;
}

uint64_t hist_quantile(const struct hist *hist, uint32_t q_ppm)
{
    assert(hist->count > 0);
    uint64_t rank = quantile_rank(hist->count, q_ppm);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HIST_BUCKET_COUNT; i++) {
        seen += hist->buckets[i];
        if (seen < rank)
            continue;
        uint64_t high = hist_bucket_high(i);
        if (high < hist->min)
            return hist->min;
        return high > hist->max ? hist->max : high;
    }
    return hist->max; /* among the overflow */
}

void hist_each(const struct hist *hist, hist_pair_fn each, void *context)
{
    for (uint32_t i = 0; i < HIST_BUCKET_COUNT; i++)
        if (hist->buckets[i])
            each(context, hist_bucket_low(i), hist->buckets[i]);
}

bool hist_load_pair(struct hist *hist, uint64_t low, uint64_t count, struct err *err)
{
    if (low >> HIST_VALUE_BITS)
        return err_set(err, ERR_CONFIG,
                       "histogram: a bucket at %" PRIu64 " lies above the range", low);
    uint32_t index = hist_index(low);
    if (hist_bucket_low(index) != low)
        return err_set(err, ERR_CONFIG,
                       "histogram: no bucket begins at %" PRIu64
                       "; the nearest begins at %" PRIu64,
                       low, hist_bucket_low(index));
    if (count == 0 || hist->buckets[index] != 0)
        return err_set(err, ERR_CONFIG, "histogram: the bucket at %" PRIu64 " is %s", low,
                       count == 0 ? "empty" : "there twice");
    if (count > UINT64_MAX - hist->count)
        return err_set(err, ERR_CONFIG, "histogram: the counts do not fit in 64 bits");
    hist->buckets[index] = count;
    hist->count += count;
    return true;
}

/* The lowest and highest bucket that is not empty; false when there is none. */
static bool filled_range(const struct hist *hist, uint32_t *first, uint32_t *last)
{
    bool any = false;
    for (uint32_t i = 0; i < HIST_BUCKET_COUNT; i++) {
        if (!hist->buckets[i])
            continue;
        *first = any ? *first : i;
        *last = i;
        any = true;
    }
    return any;
}

/* Can min and max stand beside these buckets? */
static bool edges_fit(const struct hist *hist, uint64_t min, uint64_t max, uint64_t overflow)
{
    uint32_t first = 0;
    uint32_t last = 0;
    bool any = filled_range(hist, &first, &last);
    if (!any && overflow == 0)
        return min == UINT64_MAX && max == 0;
    bool min_over = min >> HIST_VALUE_BITS;
    bool max_over = max >> HIST_VALUE_BITS;
    bool min_fits = any ? !min_over && hist_index(min) == first : min_over;
    bool max_fits = overflow ? max_over : !max_over && hist_index(max) == last;
    return min <= max && min_fits && max_fits;
}

/* A sum below count * min or above count * max cannot be. */
static bool sum_fits(uint64_t count, uint64_t min, uint64_t max, __uint128_t sum)
{
    if (count == 0)
        return sum == 0;
    return sum >= (__uint128_t)count * min && sum <= (__uint128_t)count * max;
}

bool hist_load_done(struct hist *hist, uint64_t min, uint64_t max, uint64_t overflow,
                    __uint128_t sum, struct err *err)
{
    if (overflow > UINT64_MAX - hist->count)
        return err_set(err, ERR_CONFIG, "histogram: the counts do not fit in 64 bits");
    if (!edges_fit(hist, min, max, overflow))
        return err_set(err, ERR_CONFIG,
                       "histogram: min %" PRIu64 " and max %" PRIu64
                       " do not belong to its buckets",
                       min, max);
    if (!sum_fits(hist->count + overflow, min, max, sum))
        return err_set(err, ERR_CONFIG,
                       "histogram: its sum is not between count * min and "
                       "count * max");
    hist->count += overflow;
    hist->overflow = overflow;
    hist->min = min;
    hist->max = max;
    hist->sum = sum;
    return true;
}
