#include "base/num.h"
#include "wire/my.h"

enum { LONG_STRING = 0xfb }; /* from here on its length takes more bytes, or it is NULL */

/* `bytes` of a number of fixed size; a switch, so that no call copies some bytes. */
static inline uint64_t fixed_bytes(struct wire_bytes *in, uint8_t bytes)
{
    switch (bytes) {
    case 1: return wire_u8(in);
    case 2: return wire_le(in, 2);
    case 4: return wire_le(in, 4);
    default: return wire_le(in, 8);
    }
}

static inline struct value fixed_value(uint64_t raw, const struct myp_column *column)
{
    uint32_t half = (uint32_t)raw;
    unsigned unused = 64 - 8U * column->bytes;
    float single;
    struct value value = {.type = VALUE_REAL};
    if (column->kind != MYP_REAL && !column->is_unsigned)
        return value_int((int64_t)(raw << unused) >> unused);
    if (column->kind != MYP_REAL)
        return raw <= INT64_MAX ? value_int((int64_t)raw) : value_real((double)raw);
    if (column->bytes == sizeof(single)) {
        memcpy(&single, &half, sizeof(single));
        return value_real((double)single);
    }
    memcpy(&value.as.r, &raw, sizeof(raw));
    return value;
}

/* A date or time is sent without the parts at its end that are zero. */
static bool time_bytes_fit(uint8_t kind, uint64_t bytes)
{
    if (kind == MYP_TIME)
        return bytes == 0 || bytes == 8 || bytes == 12;
    return bytes == 0 || bytes == 4 || bytes == 7 || bytes == 11;
}

/* myp_string(), for what most strings are without a call. */
static inline struct slice quick_string(struct wire_bytes *in)
{
    size_t left = wire_left(in), bytes = left > 0 ? (uint8_t)*in->at : LONG_STRING;
    if (bytes >= LONG_STRING || bytes >= left)
        return myp_string(in);
    const char *at = in->at + 1;
    in->at = at + bytes;
    return (struct slice){at, bytes};
}

static inline bool string_value(struct wire_bytes *in, const struct myp_column *column,
                                struct value *value)
{
    struct slice text = quick_string(in);
    if (!text.at || text.bytes > UINT32_MAX)
        return false;
    *value = (struct value){(enum value_type)column->value, (uint32_t)text.bytes,
                            .as.text = text.at};
    return column->kind < MYP_DATE || time_bytes_fit(column->kind, text.bytes);
}

static enum myp_row_fault row_end(const struct wire_bytes *in)
{
    if (in->cut)
        return MYP_ROW_SHORT;
    return wire_left(in) > 0 ? MYP_ROW_LONG : MYP_ROW_FINE;
}

HOT enum myp_row_fault myp_row_binary(struct slice packet, const struct myp_column *columns,
                                      uint16_t count, struct value *values)
{
    struct wire_bytes in = wire_bytes_of(packet.at, packet.bytes);
    uint8_t head = wire_u8(&in);
    const char *nulls = wire_take(&in, (count + 9U) / 8);
    if (!nulls)
        return MYP_ROW_SHORT;
    if (head != 0)
        return MYP_ROW_VALUE;
    for (uint16_t i = 0; i < count; i++) {
        if ((unsigned char)nulls[(i + 2) / 8] >> (i + 2) % 8 & 1)
            values[i] = (struct value){.type = VALUE_NULL};
        else if (columns[i].bytes > 0)
            values[i] = fixed_value(fixed_bytes(&in, columns[i].bytes), &columns[i]);
        else if (!string_value(&in, &columns[i], &values[i]))
            return in.cut ? MYP_ROW_SHORT : MYP_ROW_VALUE;
    }
    return row_end(&in);
}

HOT enum myp_row_fault myp_row_text(struct slice packet, uint16_t count, struct value *values)
{
    struct wire_bytes in = wire_bytes_of(packet.at, packet.bytes);
    for (uint16_t i = 0; i < count; i++) {
        struct slice text = quick_string(&in);
        if (text.bytes > UINT32_MAX)
            return MYP_ROW_VALUE;
        values[i] = text.at ? value_text(text.at, (uint32_t)text.bytes)
                            : (struct value){.type = VALUE_NULL};
    }
    return row_end(&in);
}

const char *myp_row_fault_text(enum myp_row_fault fault)
{
    switch (fault) {
    case MYP_ROW_FINE: return "";
    case MYP_ROW_SHORT: return "a row ends before its last column";
    case MYP_ROW_LONG: return "a row goes on after its last column";
    case MYP_ROW_VALUE: break;
    }
    return "a row holds a value that its column cannot have";
}

static char *digits_put(char *at, uint32_t number, unsigned count)
{
    for (unsigned i = count; i > 0; i--, number /= 10)
        at[i - 1] = (char)('0' + number % 10);
    return at + count;
}

static char *clock_put(char *at, uint64_t hour, uint8_t minute, uint8_t second)
{
    if (hour < 100)
        at = digits_put(at, (uint32_t)hour, 2);
    else
        at += num_print_u64(at, hour);
    *at++ = ':';
    at = digits_put(at, minute, 2);
    *at++ = ':';
    return digits_put(at, second, 2);
}

static char *fraction_put(char *at, uint32_t micro, uint8_t decimals)
{
    if (decimals == 0 || decimals > 6) /* 31 and 39: not fixed */
        return at;
    *at = '.';
    digits_put(at + 1, micro, 6);
    return at + 1 + decimals;
}

/* sign, u32 days, hour, minute, second, u32 microseconds */
static char *time_put(char *at, struct wire_bytes in, uint8_t decimals)
{
    bool negative = wire_u8(&in) != 0;
    uint64_t days = wire_le(&in, 4);
    uint8_t hour = wire_u8(&in), minute = wire_u8(&in), second = wire_u8(&in);
    if (negative)
        *at++ = '-';
    at = clock_put(at, days * 24 + hour, minute, second);
    return fraction_put(at, (uint32_t)wire_le(&in, 4), decimals);
}

/* u16 year, month, day, hour, minute, second, u32 microseconds */
static char *date_put(char *at, struct wire_bytes in, const struct myp_column *column)
{
    uint16_t year = (uint16_t)wire_le(&in, 2);
    uint8_t month = wire_u8(&in), day = wire_u8(&in);
    at = digits_put(at, year, 4);
    *at++ = '-';
    at = digits_put(at, month, 2);
    *at++ = '-';
    at = digits_put(at, day, 2);
    if (column->kind == MYP_DATE)
        return at;
    uint8_t hour = wire_u8(&in), minute = wire_u8(&in), second = wire_u8(&in);
    *at++ = ' ';
    at = clock_put(at, hour, minute, second);
    return fraction_put(at, (uint32_t)wire_le(&in, 4), column->decimals);
}

uint32_t myp_time_print(const struct myp_column *column, const struct value *value,
                        char buffer[MYP_TIME_BYTES])
{
    /* What was not sent reads as zero. */
    struct wire_bytes in = wire_bytes_of(value->as.text, value->bytes);
    char *end = column->kind == MYP_TIME ? time_put(buffer, in, column->decimals)
                                         : date_put(buffer, in, column);
    return (uint32_t)(end - buffer);
}
