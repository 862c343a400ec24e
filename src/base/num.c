#include "base/num.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer texts are not taken for numbers. */
enum { LONGEST_REAL = 400 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool num_u64(struct slice text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        if (!is_digit(text.at[i]) || __builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.at[i] - '0'), &value))
            return false;
    }
    if (text.bytes == 0)
        return false;
    *out = value;
    return true;
}

bool num_i64(struct slice text, int64_t *out)
{
    bool negative = slice_starts(text, "-");
    uint64_t size;
    if (!num_u64(slice_skip(text, negative ? 1 : 0), &size))
        return false;
    if (size > (uint64_t)INT64_MAX + (negative ? 1U : 0U))
        return false;
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

static size_t count_digits(struct slice text)
{
    size_t count = 0;
    while (count < text.bytes && is_digit(text.at[count]))
        count++;
    return count;
}

static struct slice skip_sign(struct slice text)
{
    bool sign = text.bytes > 0 && (text.at[0] == '-' || text.at[0] == '+');
    return slice_skip(text, sign ? 1 : 0);
}

/* [sign] digits [. digits] [e [sign] digits], with at least one digit before the e. strtod
 * alone would take blanks, hexadecimal, "inf" and "nan". */
static bool looks_real(struct slice text)
{
    text = skip_sign(text);
    size_t whole = count_digits(text), part = 0;
    text = slice_skip(text, whole);
    if (slice_starts(text, ".")) {
        text = slice_skip(text, 1);
        part = count_digits(text);
        text = slice_skip(text, part);
    }
    if (whole + part == 0)
        return false;
    if (!slice_starts(text, "e") && !slice_starts(text, "E"))
        return text.bytes == 0;
    text = skip_sign(slice_skip(text, 1));
    size_t exponent = count_digits(text);
    return exponent > 0 && exponent == text.bytes;
}

bool num_real(struct slice text, double *out)
{
    if (text.bytes > LONGEST_REAL || !looks_real(text))
        return false;
    char buffer[LONGEST_REAL + 1];
    memcpy(buffer, text.at, text.bytes);
    buffer[text.bytes] = '\0';
    char *end;
    double value = strtod(buffer, &end);
    if (end != buffer + text.bytes || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static bool unit_ns(struct slice unit, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"",   NS_PER_S       },
        {"s",  NS_PER_S       },
        {"ms", NS_PER_MS      },
        {"us", NS_PER_US      },
        {"ns", 1              },
        {"m",  60 * NS_PER_S  },
        {"h",  3600 * NS_PER_S},
    };
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (slice_is(unit, units[i].name)) {
            *ns = units[i].ns;
            return true;
        }
    }
    return false;
}

bool num_duration(struct slice text, uint64_t *ns)
{
    size_t digits = text.bytes;
    while (digits > 0 && text.at[digits - 1] >= 'a' && text.at[digits - 1] <= 'z')
        digits--;
    struct slice number = {text.at, digits};
    uint64_t unit, whole;
    if (!unit_ns(slice_skip(text, digits), &unit))
        return false;
    if (num_u64(number, &whole)) {
        if (__builtin_mul_overflow(whole, unit, &whole))
            return false;
        *ns = whole;
        return true;
    }
    double real;
    if (!num_real(number, &real) || signbit(real) ||
        real * (double)unit >= 9223372036854775808.0)
        return false;
    *ns = (uint64_t)(real * (double)unit + 0.5);
    return true;
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

/* Below 100: one digit or two. */
static inline uint32_t print_top(char *at, uint32_t value)
{
    if (value < 10) {
        *at = (char)('0' + value);
        return 1;
    }
    memcpy(at, digit_pairs + 2 * (size_t)value, 2);
    return 2;
}

/* Below 10,000. */
static inline uint32_t print_small(char *at, uint32_t value)
{
    if (value < 100)
        return print_top(at, value);
    uint32_t count = print_top(at, value / 100);
    memcpy(at + count, digit_pairs + 2 * (size_t)(value % 100), 2);
    return count + 2;
}

/* Below 10,000, all four digits. */
static inline void print_four(char *at, uint32_t value)
{
    memcpy(at, digit_pairs + 2 * (size_t)(value / 100), 2);
    memcpy(at + 2, digit_pairs + 2 * (size_t)(value % 100), 2);
}

/* Four digits at a time; at most five times. */
static NOINLINE uint32_t print_large(char *at, uint64_t value)
{
    uint64_t upper = value / 10000;
    uint32_t count = upper < 10000 ? print_small(at, (uint32_t)upper) : print_large(at, upper);
    print_four(at + count, (uint32_t)(value % 10000));
    return count + 4;
}

HOT uint32_t num_print_u64(char *buffer, uint64_t value)
{
    if (value < 10000)
        return print_small(buffer, (uint32_t)value);
    if (value >= 100000000)
        return print_large(buffer, value);
    uint32_t count = print_small(buffer, (uint32_t)value / 10000);
    print_four(buffer + count, (uint32_t)value % 10000);
    return count + 4;
}

uint32_t num_print_i64(char *buffer, int64_t value)
{
    if (value >= 0)
        return num_print_u64(buffer, (uint64_t)value);
    *buffer = '-';
    return 1 + num_print_u64(buffer + 1, 0 - (uint64_t)value);
}
