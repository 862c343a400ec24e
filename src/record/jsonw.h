#ifndef RECORD_JSONW_H
#define RECORD_JSONW_H

/*
 * Writing JSON text, one item after the other, in the order of the calls. Two layouts: an
 * object or array has one item a line, or (flat) all of it on one line, which is what keeps a
 * record with thousands of samples readable. A key is NULL inside an array and in the outermost
 * item.
 *
 * Strings that are not UTF-8 get U+FFFD for each wrong byte; reals are written with the fewest
 * digits that read back the same, always with a point or an exponent, so that they stay apart
 * from integers; a real that is not finite is written as null.
 */

#include "base/slice.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSONW_DEPTH = 32 };

struct jsonw {
    struct text *out;
    unsigned depth;
    bool any;               /* something stands before the next item */
    bool flat[JSONW_DEPTH]; /* layout of each open object or array */
    char ends[JSONW_DEPTH]; /* '}' or ']' */
};

void jsonw_init(struct jsonw *json, struct text *out);

void jsonw_object(struct jsonw *json, const char *key, bool flat);
void jsonw_array(struct jsonw *json, const char *key, bool flat);
void jsonw_end(struct jsonw *json); /* of the innermost object or array */

void jsonw_text(struct jsonw *json, const char *key, const char *text); /* NULL: null */
void jsonw_slice(struct jsonw *json, const char *key, struct slice text);
void jsonw_bool(struct jsonw *json, const char *key, bool value);
void jsonw_i64(struct jsonw *json, const char *key, int64_t value);
void jsonw_real(struct jsonw *json, const char *key, double value);
void jsonw_null(struct jsonw *json, const char *key);

/* An integer when it is below 2^63 (what JSON readers carry), else its digits as a string. */
void jsonw_u64(struct jsonw *json, const char *key, uint64_t value);
void jsonw_u128(struct jsonw *json, const char *key, __uint128_t value);

#endif
