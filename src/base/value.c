#include "base/value.h"

#include "base/hash.h"
#include "base/num.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

enum { SHOWN_BYTES = 60 };

static struct slice bytes_of(const struct value *value)
{
    return (struct slice){value->as.text, value->bytes};
}

static bool has_bytes(const struct value *value)
{
    return value->type == VALUE_TEXT || value->type == VALUE_BLOB;
}

/* The number that a value means: itself, or what its text spells. */
static bool number_of(const struct value *value, struct value *number)
{
    if (value->type == VALUE_INT || value->type == VALUE_REAL) {
        *number = *value;
        return true;
    }
    int64_t whole;
    double real;
    if (value->type != VALUE_TEXT)
        return false;
    if (num_i64(bytes_of(value), &whole)) {
        *number = value_int(whole);
        return true;
    }
    if (num_real(bytes_of(value), &real)) {
        *number = value_real(real);
        return true;
    }
    return false;
}

static double as_real(const struct value *number)
{
    return number->type == VALUE_INT ? (double)number->as.i : number->as.r;
}

static bool same_number(const struct value *a, const struct value *b)
{
    if (a->type == VALUE_INT && b->type == VALUE_INT)
        return a->as.i == b->as.i;
    double x = as_real(a), y = as_real(b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    if (isinf(x) || isinf(y))
        return isinf(x) && isinf(y) && signbit(x) == signbit(y);
    double larger =
        __builtin_fabs(x) > __builtin_fabs(y) ? __builtin_fabs(x) : __builtin_fabs(y);
    return __builtin_fabs(x - y) <= 1e-9 * larger;
}

bool value_same(const struct value *a, const struct value *b)
{
    if (a->type == VALUE_NULL || b->type == VALUE_NULL)
        return a->type == b->type;
    if (has_bytes(a) && has_bytes(b))
        return slice_equal(bytes_of(a), bytes_of(b));
    struct value x, y;
    return number_of(a, &x) && number_of(b, &y) && same_number(&x, &y);
}

static uint64_t hash_i64(uint64_t hash, int64_t number)
{
    hash = hash_bytes(hash, "i", 1);
    return hash_bytes(hash, &number, sizeof(number));
}

static bool is_whole(double real, int64_t *whole)
{
    if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0) ||
        (double)(int64_t)real != real)
        return false;
    *whole = (int64_t)real;
    return true;
}

/* Whole numbers hash as integers whatever their type, so that an integer keeps all its digits;
 * the rest is rounded to nine, and may become whole by that. */
static uint64_t hash_real(uint64_t hash, double real)
{
    int64_t whole;
    if (is_whole(real, &whole))
        return hash_i64(hash, whole);
    char digits[32];
    size_t bytes = text_print(digits, sizeof(digits), "%.8e", real);
    double rounded;
    if (num_real((struct slice){digits, bytes}, &rounded) && is_whole(rounded, &whole))
        return hash_i64(hash, whole);
    return hash_bytes(hash_bytes(hash, "r", 1), digits, bytes);
}

uint64_t value_hash(uint64_t hash, const struct value *value)
{
    struct value number;
    if (value->type == VALUE_NULL)
        return hash_bytes(hash, "n", 1);
    if (!number_of(value, &number)) {
        hash = hash_bytes(hash_bytes(hash, "t", 1), &value->bytes, sizeof(value->bytes));
        return hash_bytes(hash, value->as.text, value->bytes);
    }
    if (number.type == VALUE_INT)
        return hash_i64(hash, number.as.i);
    return hash_real(hash, number.as.r);
}

static size_t print_real(char *buffer, size_t room, double real)
{
    char shortest[32];
    double back;
    size_t bytes = text_print(shortest, sizeof(shortest), "%.15g", real);
    if (num_real((struct slice){shortest, bytes}, &back) && back != real)
        text_print(shortest, sizeof(shortest), "%.17g", real);
    return text_print(buffer, room, "%s", shortest);
}

static size_t print_bytes(char *buffer, size_t room, const struct value *value)
{
    char shown[4 * SHOWN_BYTES + 8];
    size_t at = 0;
    bool blob = value->type == VALUE_BLOB;
    if (blob)
        shown[at++] = 'x';
    shown[at++] = '\'';
    for (uint32_t i = 0; i < value->bytes && i < SHOWN_BYTES; i++) {
        unsigned char c = (unsigned char)value->as.text[i];
        if (blob)
            at += text_print(shown + at, sizeof(shown) - at, "%02x", c);
        else if (c < ' ' || c == 0x7f)
            at += text_print(shown + at, sizeof(shown) - at, "\\x%02x", c);
        else
            shown[at++] = (char)c;
    }
    at += text_print(shown + at, sizeof(shown) - at, "%s'",
                     value->bytes > SHOWN_BYTES ? "..." : "");
    return text_print(buffer, room, "%.*s", (int)at, shown);
}

uint64_t value_row_hash(const struct value *values, uint32_t count)
{
    uint64_t hash = HASH_START;
    for (uint32_t i = 0; i < count; i++)
        hash = value_hash(hash, &values[i]);
    return hash_mix(hash);
}

size_t value_print(char *buffer, size_t room, const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL: return text_print(buffer, room, "NULL");
    case VALUE_INT: return text_print(buffer, room, "%lld", (long long)value->as.i);
    case VALUE_REAL: return print_real(buffer, room, value->as.r);
    case VALUE_TEXT:
    case VALUE_BLOB: break;
    }
    return print_bytes(buffer, room, value);
}

struct value value_copy(struct arena *arena, const struct value *value)
{
    struct value copy = *value;
    if (has_bytes(value))
        copy.as.text = arena_slice(arena, bytes_of(value));
    return copy;
}

struct value value_of_real(const char *text, uint32_t bytes)
{
    struct slice slice = {text, bytes};
    double real;
    if (num_real(slice, &real))
        return value_real(real);
    if (slice_is(slice, "NaN"))
        return value_real((double)NAN);
    if (slice_is(slice, "Infinity"))
        return value_real((double)INFINITY);
    if (slice_is(slice, "-Infinity"))
        return value_real(-(double)INFINITY);
    return value_text(text, bytes);
}

struct value value_of_number(const char *text, uint32_t bytes)
{
    int64_t whole;
    if (num_i64((struct slice){text, bytes}, &whole))
        return value_int(whole);
    return value_of_real(text, bytes);
}
