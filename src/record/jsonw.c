#include "record/jsonw.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>

void jsonw_init(struct jsonw *json, struct text *out)
{
    *json = (struct jsonw){.out = out};
}

static void new_line(struct jsonw *json)
{
    text_add_char(json->out, '\n');
    text_add_many(json->out, ' ', 2 * (size_t)json->depth);
}

/* Bytes of the UTF-8 character at the start of `text`, 0 when there is none (RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t utf8_bytes(struct slice text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    if (at[0] < 0x80)
        return 1;
    size_t want = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || text.bytes < want)
        return 0;
    for (size_t i = 1; i < want; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
    bool beyond = at[0] == 0xf4 && at[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : want;
}

static void add_escaped(struct text *out, char c)
{
    switch (c) {
    case '"': text_add(out, "\\\""); return;
    case '\\': text_add(out, "\\\\"); return;
    case '\n': text_add(out, "\\n"); return;
    case '\t': text_add(out, "\\t"); return;
    case '\r': text_add(out, "\\r"); return;
    default: break;
    }
    if ((unsigned char)c < ' ')
        text_addf(out, "\\u%04x", (unsigned)(unsigned char)c);
    else
        text_add_char(out, c);
}

static void add_string(struct text *out, struct slice text)
{
    text_add_char(out, '"');
    while (text.bytes > 0) {
        size_t bytes = utf8_bytes(text);
        if (bytes == 1)
            add_escaped(out, text.at[0]);
        else if (bytes == 0)
            text_add(out, "\xef\xbf\xbd");
        else
            text_add_slice(out, (struct slice){text.at, bytes});
        text = slice_skip(text, bytes == 0 ? 1 : bytes);
    }
    text_add_char(out, '"');
}

/* Separator, line and key of the next item. */
static void begin(struct jsonw *json, const char *key)
{
    bool flat = json->depth > 0 && json->flat[json->depth - 1];
    if (json->any)
        text_add(json->out, flat ? ", " : ",");
    if (json->depth > 0 && !flat)
        new_line(json);
    if (key) {
        add_string(json->out, slice_of(key));
        text_add(json->out, ": ");
    }
    json->any = true;
}

static void open_item(struct jsonw *json, const char *key, bool flat, char end)
{
    assert(json->depth < JSONW_DEPTH);
    begin(json, key);
    text_add_char(json->out, end == '}' ? '{' : '[');
    bool inside = json->depth > 0 && json->flat[json->depth - 1];
    json->flat[json->depth] = flat || inside;
    json->ends[json->depth++] = end;
    json->any = false;
}

void jsonw_object(struct jsonw *json, const char *key, bool flat)
{
    open_item(json, key, flat, '}');
}

void jsonw_array(struct jsonw *json, const char *key, bool flat)
{
    open_item(json, key, flat, ']');
}

void jsonw_end(struct jsonw *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->any && !json->flat[json->depth])
        new_line(json);
    text_add_char(json->out, json->ends[json->depth]);
    json->any = true;
}

void jsonw_slice(struct jsonw *json, const char *key, struct slice text)
{
    begin(json, key);
    add_string(json->out, text);
}

void jsonw_text(struct jsonw *json, const char *key, const char *text)
{
    if (text)
        jsonw_slice(json, key, slice_of(text));
    else
        jsonw_null(json, key);
}

static void add_word(struct jsonw *json, const char *key, const char *word)
{
    begin(json, key);
    text_add(json->out, word);
}

void jsonw_bool(struct jsonw *json, const char *key, bool value)
{
    add_word(json, key, value ? "true" : "false");
}

void jsonw_null(struct jsonw *json, const char *key)
{
    add_word(json, key, "null");
}

void jsonw_i64(struct jsonw *json, const char *key, int64_t value)
{
    char digits[24];
    begin(json, key);
    text_add_slice(json->out, (struct slice){digits, num_print_i64(digits, value)});
}

void jsonw_real(struct jsonw *json, const char *key, double value)
{
    char digits[32] = "";
    if (!isfinite(value)) {
        jsonw_null(json, key);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        size_t bytes = text_print(digits, sizeof(digits), "%.*g", precision, value);
        double back;
        if (num_real((struct slice){digits, bytes}, &back) && !(back < value) &&
            !(back > value))
            break;
    }
    begin(json, key);
    text_add(json->out, digits);
    if (!strpbrk(digits, ".e"))
        text_add(json->out, ".0");
}

void jsonw_u64(struct jsonw *json, const char *key, uint64_t value)
{
    jsonw_u128(json, key, value);
}

void jsonw_u128(struct jsonw *json, const char *key, __uint128_t value)
{
    char digits[40];
    size_t at = sizeof(digits);
    bool quoted = value > (__uint128_t)INT64_MAX;
    do {
        digits[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value > 0);
    begin(json, key);
    if (quoted)
        text_add_char(json->out, '"');
    text_add_slice(json->out, (struct slice){digits + at, sizeof(digits) - at});
    if (quoted)
        text_add_char(json->out, '"');
}
