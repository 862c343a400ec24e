#ifndef BASE_VALUE_H
#define BASE_VALUE_H

/*
 * One SQL value, as generators make it, drivers send and receive it, and checks compare it.
 * Text and blob bytes belong to whoever made the value: a generator's scratch buffer, a suite's
 * arena, or a driver's receive buffer (valid until the sink callback returns).
 */

#include "base/arena.h"
#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum value_type { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value {
    enum value_type type;
    uint32_t bytes; /* of text or blob */
    union {
        int64_t i;
        double r;
        const char *text; /* not NUL-terminated */
    } as;
};

static inline struct value value_int(int64_t i)
{
    return (struct value){.type = VALUE_INT, .as.i = i};
}

static inline struct value value_real(double r)
{
    return (struct value){.type = VALUE_REAL, .as.r = r};
}

static inline struct value value_text(const char *text, uint32_t bytes)
{
    return (struct value){.type = VALUE_TEXT, .bytes = bytes, .as.text = text};
}

/* A number that a server sent as text: int when whole and in range, else real, else the text.
 */
struct value value_of_number(const char *text, uint32_t bytes);
struct value value_of_real(const char *text, uint32_t bytes); /* knows NaN and Infinity */

/* Do two values mean the same answer? Engines differ in how they type one: 2, 2.0, "2" and a
 * NUMERIC "2.00" are equal; reals agree within 1e-9 relative; text compares by bytes. NULL
 * equals NULL only. */
bool value_same(const struct value *a, const struct value *b);

/* Hash under which values that are value_same hash the same (reals are rounded to 9 digits). */
uint64_t value_hash(uint64_t hash, const struct value *value);

/* One row's part of the checksum of a result: sums of them (wrapping) are equal for results
 * with the same rows in any order. */
uint64_t value_row_hash(const struct value *values, uint32_t count);

/* For messages: NULL, 12, 1.5, 'text' (cut at 60 bytes with "..."). Bounded, NUL-terminated. */
size_t value_print(char *buffer, size_t room, const struct value *value);

/* A copy whose bytes live in the arena. */
struct value value_copy(struct arena *arena, const struct value *value);

#endif
