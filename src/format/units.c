#include "format/units.h"

#include "base/defs.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

static const uint64_t unit_ns[] = {1, NS_PER_US, NS_PER_MS, NS_PER_S};

const char *unit_name(enum unit unit)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    assert(unit <= UNIT_S);
    return names[unit];
}

enum unit unit_pick(uint64_t typical_ns)
{
    if (typical_ns >= NS_PER_S)
        return UNIT_S;
    if (typical_ns >= NS_PER_MS)
        return UNIT_MS;
    return typical_ns >= NS_PER_US ? UNIT_US : UNIT_NS;
}

/* value / divisor in 1/10^decimals, rounded half up, without going through a double. */
static uint64_t scaled(uint64_t value, uint64_t divisor, unsigned decimals)
{
    __uint128_t wide = value;
    for (unsigned i = 0; i < decimals; i++)
        wide *= 10;
    return (uint64_t)((wide + divisor / 2) / divisor);
}

/* Decimals that make three significant digits of value / divisor once it is rounded. */
static unsigned decimals_of(uint64_t value, uint64_t divisor)
{
    if (value / divisor >= 1000)
        return 0;
    unsigned decimals = 2;
    while (decimals > 0 && scaled(value, divisor, decimals) >= 1000)
        decimals--;
    return decimals;
}

static size_t print_scaled(char *buffer, size_t room, uint64_t value, unsigned decimals)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    if (decimals == 0)
        return text_print(buffer, room, "%" PRIu64, value);
    return text_print(buffer, room, "%" PRIu64 ".%0*" PRIu64, value / power, (int)decimals,
                      value % power);
}

size_t unit_print(char *buffer, size_t room, enum unit unit, uint64_t ns)
{
    assert(unit <= UNIT_S);
    uint64_t divisor = unit_ns[unit];
    if (unit == UNIT_NS)
        return print_scaled(buffer, room, ns, 0);
    unsigned decimals = 1;
    if (ns / divisor < 100 && scaled(ns, divisor, 3) < 100000)
        decimals = 3;
    else if (ns / divisor < 1000 && scaled(ns, divisor, 2) < 100000)
        decimals = 2;
    return print_scaled(buffer, room, scaled(ns, divisor, decimals), decimals);
}

/* Digits in groups of three. */
static size_t print_grouped(char *buffer, size_t room, bool negative, uint64_t value)
{
    char digits[24];
    char grouped[32];
    size_t count = text_print(digits, sizeof(digits), "%" PRIu64, value);
    size_t at = 0;
    if (negative)
        grouped[at++] = '-';
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            grouped[at++] = ',';
        grouped[at++] = digits[i];
    }
    grouped[at] = '\0';
    return text_print(buffer, room, "%s", grouped);
}

/* value / divisor with three significant digits, whole and grouped from 1,000. */
static size_t print_three(char *buffer, size_t room, uint64_t value, uint64_t divisor)
{
    unsigned decimals = decimals_of(value, divisor);
    if (decimals == 0)
        return print_grouped(buffer, room, false, scaled(value, divisor, 0));
    return print_scaled(buffer, room, scaled(value, divisor, decimals), decimals);
}

size_t format_duration(char *buffer, size_t room, uint64_t ns)
{
    char number[32];
    enum unit unit = unit_pick(ns);
    if (unit < UNIT_S && scaled(ns, unit_ns[unit], 0) >= 1000)
        unit++; /* 999.6 us is 1.00 ms */
    if (unit == UNIT_NS)
        return text_print(buffer, room, "%" PRIu64 " ns", ns);
    print_three(number, sizeof(number), ns, unit_ns[unit]);
    return text_print(buffer, room, "%s %s", number, unit_name(unit));
}

size_t format_bytes(char *buffer, size_t room, uint64_t bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char number[32];
    unsigned power = 0;
    while (power < 6 && scaled(bytes, UINT64_C(1) << 10 * power, 0) >= 1024)
        power++;
    if (power == 0)
        return text_print(buffer, room, "%" PRIu64 " B", bytes);
    print_three(number, sizeof(number), bytes, UINT64_C(1) << 10 * power);
    return text_print(buffer, room, "%s %s", number, names[power]);
}

size_t format_count(char *buffer, size_t room, int64_t count)
{
    bool negative = count < 0;
    return print_grouped(buffer, room, negative,
                         negative ? 0 - (uint64_t)count : (uint64_t)count);
}

/* Decimals, at most 6, that bring x to the digits of `full`: from 999.5 (three digits) or 99.5
 * (two) on, one decimal less rounds up to it. */
static int decimals_for(double x, double full)
{
    int decimals = 0;
    while (decimals < 6 && x * 10 < full) {
        x *= 10;
        decimals++;
    }
    return decimals;
}

enum { LARGEST_WHOLE = 1000000000 }; /* in millions: 1e15 */

size_t format_rate(char *buffer, size_t room, double per_s)
{
    if (!isfinite(per_s))
        return text_print(buffer, room, "-");
    if (per_s == 0)
        return text_print(buffer, room, "0");
    double size = fabs(per_s);
    if (size >= LARGEST_WHOLE * 1e6 || size < 1e-6)
        return text_print(buffer, room, "%.2e", per_s);
    if (size >= 999.5)
        return print_grouped(buffer, room, per_s < 0, (uint64_t)(size + 0.5));
    return text_print(buffer, room, "%.*f", decimals_for(size, 999.5), per_s);
}

size_t format_ratio(char *buffer, size_t room, double value, double base)
{
    double ratio = value / base;
    if (base == 0 || !isfinite(value) || !isfinite(base) || !isfinite(ratio))
        return text_print(buffer, room, "-");
    if (ratio == 0)
        return text_print(buffer, room, "0x");
    double size = fabs(ratio);
    if (size >= LARGEST_WHOLE * 1e6 || size < 1e-6)
        return text_print(buffer, room, "%.1ex", ratio);
    return text_print(buffer, room, "%.*fx", decimals_for(size, 99.5), ratio);
}
