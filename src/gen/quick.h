#ifndef GEN_QUICK_H
#define GEN_QUICK_H

/*
 * A tree that is one uniform draw, ready for a hot loop: the same values as gen_eval, inline.
 * The key picks of a load generator are nearly always of this kind.
 */

#include "base/hash.h"
#include "gen/gen.h"

#define GEN_ROW_STEP UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio, odd */

struct gen_quick {
    uint64_t seed, key; /* key: stream and salt */
    uint64_t range;     /* 0 is never quick */
    int64_t lo;
};

/* False when the tree is anything else. */
bool gen_quick_make(const struct gen_pool *pool, gen_id id, uint64_t seed, uint64_t stream,
                    struct gen_quick *quick);

/* The value at a row. False in the rare case that the bits must be drawn again: gen_eval does.
 */
static inline bool gen_quick_draw(const struct gen_quick *quick, uint64_t row, int64_t *out)
{
    uint64_t bits = hash_mix((quick->seed + row * GEN_ROW_STEP) ^ quick->key);
    __uint128_t product = (__uint128_t)bits * quick->range;
    *out = (int64_t)((uint64_t)quick->lo + (uint64_t)(product >> 64));
    return __builtin_expect((uint64_t)product > quick->range, 1);
}

#endif
