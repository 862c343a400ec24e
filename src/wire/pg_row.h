#ifndef WIRE_PG_ROW_H
#define WIRE_PG_ROW_H

/* pgp_row() for the one place where a call costs more than a row of a few numbers. */

#include "wire/pg.h"

/* Why a value's length cannot be. */
const char *pgp_length_fault(uint32_t length);

/* Most numbers: digits that cannot be out of range. False: something else, look closer. */
static inline bool pgp_short_number(const char *text, uint32_t bytes, struct value *value)
{
    enum { SHORT_DIGITS = 18 };
    uint64_t number = 0;
    if (bytes - 1 >= SHORT_DIGITS)
        return false;
    for (const char *end = text + bytes; text < end; text++) {
        uint32_t digit = (uint32_t)*text - '0';
        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    *value = value_int((int64_t)number);
    return true;
}

static inline const char *pgp_row_inline(char *body, size_t bytes, uint16_t count,
                                         const uint8_t *kinds, struct value *values)
{
    char *at = body + 2;
    size_t left = bytes - 2;
    if (bytes < 2 || pgp_u16(body) != count)
        return "a row has another number of columns than was announced";
    for (const struct value *last = values + count; values < last; values++) {
        enum pgp_kind kind = kinds ? *kinds++ : PGP_TEXT;
        if (left < 4)
            return "it ends too early";
        uint32_t length = pgp_u32(at);
        at += 4;
        left -= 4;
        if (length > left) {
            if (length != UINT32_MAX)
                return pgp_length_fault(length);
            values->type = VALUE_NULL;
            values->bytes = 0;
            continue;
        }
        if (kind == PGP_TEXT)
            *values = value_text(at, length);
        else if (kind != PGP_INT || !pgp_short_number(at, length, values))
            *values = pgp_decode(kind, at, length);
        at += length;
        left -= length;
    }
    return left == 0 ? NULL : "bytes are left at its end";
}

#endif
