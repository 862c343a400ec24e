#ifndef WIRE_BYTES_H
#define WIRE_BYTES_H

/*
 * A bounded reader over received bytes, for both protocols: PostgreSQL's numbers are
 * big-endian, MySQL's little-endian. A read past the end sets `cut` and answers 0 (or an
 * empty slice), so that a parser may read a whole message and look once.
 */

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct wire_bytes {
    const char *at, *end;
    bool cut; /* something was read that is not there */
};

static inline struct wire_bytes wire_bytes_of(const char *at, size_t bytes)
{
    return (struct wire_bytes){at, at + bytes, false};
}

static inline size_t wire_left(const struct wire_bytes *in)
{
    return (size_t)(in->end - in->at);
}

/* `bytes` bytes in place; NULL when they are not all there. */
static inline const char *wire_take(struct wire_bytes *in, size_t bytes)
{
    const char *at = in->at;
    if (bytes > wire_left(in)) {
        in->cut = true;
        in->at = in->end;
        return NULL;
    }
    in->at += bytes;
    return at;
}

static inline uint8_t wire_u8(struct wire_bytes *in)
{
    const char *at = wire_take(in, 1);
    return at ? (uint8_t)*at : 0;
}

static inline uint16_t wire_be16(struct wire_bytes *in)
{
    uint16_t number = 0;
    const char *at = wire_take(in, sizeof number);
    if (at)
        memcpy(&number, at, sizeof number);
    return __builtin_bswap16(number);
}

static inline uint32_t wire_be32(struct wire_bytes *in)
{
    uint32_t number = 0;
    const char *at = wire_take(in, sizeof number);
    if (at)
        memcpy(&number, at, sizeof number);
    return __builtin_bswap32(number);
}

/* `bytes` (1 to 8) bytes, least first. */
static inline uint64_t wire_le(struct wire_bytes *in, size_t bytes)
{
    uint64_t number = 0;
    const char *at = wire_take(in, bytes);
    if (at)
        memcpy(&number, at, bytes);
    return number;
}

/* Text up to a NUL, which is taken too; without a NUL it is short. */
static inline struct slice wire_text(struct wire_bytes *in)
{
    const char *at = in->at;
    const char *nul = wire_left(in) > 0 ? memchr(at, '\0', wire_left(in)) : NULL;
    if (!nul) {
        in->cut = true;
        in->at = in->end;
        return (struct slice){"", 0};
    }
    in->at = nul + 1;
    return (struct slice){at, (size_t)(nul - at)};
}

#endif
