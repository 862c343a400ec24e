#include "base/num.h"
#include "base/text.h"
#include "gen/gen_internal.h"

#include <assert.h>
#include <string.h>

static const struct value null_value = {.type = VALUE_NULL};

/* How many of `count` bytes fit; none without a buffer. */
static size_t room_for(const struct gen_ctx *ctx, size_t count)
{
    size_t left = ctx->scratch ? ctx->scratch_room - ctx->scratch_used : 0;
    return count < left ? count : left;
}

/* Appends to the scratch buffer what fits. The source may lie in the buffer, further on. */
static void put(struct gen_ctx *ctx, const char *bytes, size_t count)
{
    size_t fits = room_for(ctx, count);
    if (fits > 0)
        memmove(ctx->scratch + ctx->scratch_used, bytes, fits);
    ctx->scratch_used += (uint32_t)fits;
}

static void put_many(struct gen_ctx *ctx, char c, size_t count)
{
    size_t fits = room_for(ctx, count);
    if (fits > 0)
        memset(ctx->scratch + ctx->scratch_used, c, fits);
    ctx->scratch_used += (uint32_t)fits;
}

/* The text that began at `start`. */
static struct value text_since(const struct gen_ctx *ctx, uint32_t start)
{
    return value_text(ctx->scratch ? ctx->scratch + start : "", ctx->scratch_used - start);
}

/* The shortest of 15 and 17 digits that reads back as the same number. */
static size_t print_real(char *buffer, size_t room, double r)
{
    size_t bytes = text_print(buffer, room, "%.15g", r);
    double back;
    if (num_real((struct slice){buffer, bytes}, &back) && back == r)
        return bytes;
    return text_print(buffer, room, "%.17g", r);
}

static void put_whole(struct gen_ctx *ctx, int64_t i, const struct gen_part *part)
{
    char digits[GEN_NUMBER_BYTES];
    uint32_t bytes = num_print_i64(digits, i);
    const char *at = digits;
    if (part && part->width > bytes) {
        if (part->zero_padded && i < 0) {
            put(ctx, at++, 1);
            bytes--;
            put_many(ctx, '0', part->width - bytes - 1u);
        } else {
            put_many(ctx, part->zero_padded ? '0' : ' ', part->width - bytes);
        }
    }
    put(ctx, at, bytes);
}

static void put_number(struct gen_ctx *ctx, const struct value *value,
                       const struct gen_part *part)
{
    if (value->type == VALUE_INT) {
        put_whole(ctx, value->as.i, part);
        return;
    }
    char digits[GEN_NUMBER_BYTES];
    put(ctx, digits, print_real(digits, sizeof(digits), value->as.r));
}

/* Evaluates a child in place: its text, if it makes one, stands where the next byte goes. Text
 * from elsewhere (a constant, a variable) is copied. */
static void eval_in_place(struct gen_ctx *ctx, gen_id id, struct value *out)
{
    uint32_t start = ctx->scratch_used;
    gen_eval(ctx, id, out);
    ctx->scratch_used = start;
    if (out->type != VALUE_TEXT && out->type != VALUE_BLOB)
        return;
    uint32_t limit = ctx->pool->nodes[id].printed;
    uint32_t bytes = out->bytes < limit ? out->bytes : limit;
    if (ctx->scratch && out->as.text == ctx->scratch + start)
        ctx->scratch_used += bytes;
    else
        put(ctx, out->as.text, bytes);
}

void gen_eval_format(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint32_t start = ctx->scratch_used;
    const struct gen_part *part = node->as.list.detail;
    for (uint16_t i = 0; part->has_child; i++, part++) {
        struct value value;
        put(ctx, part->literal, part->literal_bytes);
        eval_in_place(ctx, node->as.list.children[i], &value);
        if (value.type == VALUE_NULL) {
            ctx->scratch_used = start;
            *out = null_value;
            return;
        }
        if (value.type == VALUE_INT || value.type == VALUE_REAL)
            put_number(ctx, &value, part);
    }
    put(ctx, part->literal, part->literal_bytes);
    *out = text_since(ctx, start);
}

void gen_eval_text(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint32_t start = ctx->scratch_used;
    uint32_t all = (uint32_t)node->as.whole.a;
    uint32_t random = (uint32_t)node->as.whole.b;
    all = (uint32_t)room_for(ctx, all);
    random = random < all ? random : all;
    char *at = ctx->scratch + start;
    uint64_t bits = gen_draw(ctx, node->salt);
    uint64_t rest = bits;
    for (uint32_t i = 0; i < random; i++) {
        if (i % 8 == 0 && i > 0)
            rest = bits = gen_redraw(bits);
        __uint128_t product = (__uint128_t)rest * 26; /* the digits of a fraction in base 26 */
        at[i] = (char)('a' + (int)(product >> 64));
        rest = (uint64_t)product;
    }
    ctx->scratch_used += random;
    put_many(ctx, 'x', all - random);
    *out = text_since(ctx, start);
}

/* How a byte stands in a JSON string: its bytes, at most 6. */
static uint32_t escape_byte(unsigned char c, char out[6])
{
    static const char names[] = "btn?fr"; /* 8 .. 13; there is none for 11 */
    static const char hex[] = "0123456789abcdef";
    bool plain = c == '"' || c == '\\';
    if (plain || (c >= 8 && c <= 13 && c != 11)) {
        out[0] = '\\';
        memcpy(out + 1, plain ? (const char *)&c : &names[c - 8], 1);
        return 2;
    }
    if (c >= 0x20) {
        memcpy(out, &c, 1);
        return 1;
    }
    memcpy(out, (const char[6]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    return 6;
}

/* Escapes `bytes` bytes in place, from the end; what does not fit into `room` is cut. */
static uint32_t escape_in_place(char *at, uint32_t bytes, uint32_t room)
{
    char escaped[6];
    uint32_t total = 0;
    uint32_t kept = 0;
    while (kept < bytes) {
        uint32_t more = escape_byte((unsigned char)at[kept], escaped);
        if (more > room - total)
            break;
        total += more;
        kept++;
    }
    for (uint32_t to = total; kept > 0 && to > kept;) {
        uint32_t more = escape_byte((unsigned char)at[--kept], escaped);
        to -= more;
        memcpy(at + to, escaped, more);
    }
    return total;
}

static void put_json(struct gen_ctx *ctx, gen_id child)
{
    uint32_t start = ctx->scratch_used;
    struct value value;
    put(ctx, "\"", 1);
    uint32_t inside = ctx->scratch_used;
    eval_in_place(ctx, child, &value);
    bool is_text = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
    if (is_text && ctx->pool->nodes[child].kind != GEN_JSON) {
        if (inside < ctx->scratch_room)
            ctx->scratch_used =
                inside + escape_in_place(ctx->scratch + inside, ctx->scratch_used - inside,
                                         ctx->scratch_room - inside);
        put(ctx, "\"", 1);
        return;
    }
    uint32_t bytes = ctx->scratch_used - inside;
    ctx->scratch_used = start;
    if (is_text) /* an object within an object: over the quote */
        put(ctx, ctx->scratch + inside, bytes);
    else if (value.type == VALUE_INT ||
             (value.type == VALUE_REAL && value.as.r - value.as.r == 0))
        put_number(ctx, &value, NULL);
    else
        put(ctx, "null", 4);
}

void gen_eval_json(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint32_t start = ctx->scratch_used;
    const struct slice *keys = node->as.list.detail;
    put(ctx, "{", 1);
    for (uint16_t i = 0; i < node->count; i++) {
        if (i > 0)
            put(ctx, ",", 1);
        put(ctx, keys[i].at, keys[i].bytes);
        put_json(ctx, node->as.list.children[i]);
    }
    put(ctx, "}", 1);
    *out = text_since(ctx, start);
}

/* Hexadecimal digits of the lowest `digits` half bytes. */
static char *put_hex(char *at, uint64_t x, int digits)
{
    static const char hex[] = "0123456789abcdef";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        *at++ = hex[x >> shift & 15];
    return at;
}

void gen_eval_uuid7(struct gen_ctx *ctx, const struct gen_node *node, struct value *out)
{
    uint64_t time_ms = (uint64_t)node->as.whole.a + ctx->row;
    uint64_t first = gen_draw(ctx, node->salt);
    uint64_t second = gen_redraw(first);
    char text[GEN_UUID_BYTES];
    char *at = put_hex(text, time_ms >> 16, 8);
    *at++ = '-';
    at = put_hex(at, time_ms, 4);
    *at++ = '-';
    at = put_hex(at, UINT64_C(0x7000) | first >> 52, 4);
    *at++ = '-';
    at = put_hex(at, UINT64_C(0x8000) | second >> 50, 4);
    *at++ = '-';
    put_hex(at, second, 12);
    uint32_t start = ctx->scratch_used;
    put(ctx, text, sizeof(text));
    *out = text_since(ctx, start);
}

/* Reads the place after a '%': %d, %s, %Nd, %0Nd. */
static const char *parse_place(const char *at, struct gen_part *part)
{
    part->zero_padded = *at == '0';
    unsigned width = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        width = width * 10 + (unsigned)(*at - '0');
        if (width > GEN_WIDTH_MAX)
            return NULL;
    }
    part->width = (uint16_t)width;
    part->has_child = true;
    bool padded = part->zero_padded || width > 0;
    return *at == 'd' || (*at == 's' && !padded) ? at + 1 : NULL;
}

bool gen_format_parse(struct arena *arena, const char *format, uint16_t count,
                      const struct gen_part **parts, uint32_t *bytes)
{
    size_t length = strlen(format);
    if (length > GEN_TEXT_MAX)
        return false;
    char *literal = arena_array(arena, char, length + 1);
    struct gen_part *list = arena_array(arena, struct gen_part, count + 1u);
    uint16_t at_part = 0;
    uint32_t total = 0;
    list[0].literal = literal;
    while (*format) {
        struct gen_part *part = &list[at_part];
        bool place = format[0] == '%' && format[1] != '%';
        if (!place) {
            format += *format == '%';
            *literal++ = *format++;
            part->literal_bytes++;
            total++;
            continue;
        }
        format = parse_place(format + 1, part);
        if (!format || at_part == count)
            return false;
        total += part->width;
        list[++at_part].literal = literal;
    }
    *parts = list;
    *bytes = total;
    return at_part == count;
}

const struct slice *gen_json_keys(struct arena *arena, const char *const *names, uint16_t count,
                                  uint32_t *bytes)
{
    struct slice *keys = arena_array(arena, struct slice, count);
    uint64_t total = 2;
    for (uint16_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        assert(length < GEN_TEXT_MAX);
        char *key = arena_array(arena, char, 6 * length + 3);
        char *at = key;
        *at++ = '"';
        memcpy(at, names[i], length);
        at += escape_in_place(at, (uint32_t)length, (uint32_t)(6 * length));
        *at++ = '"';
        *at++ = ':';
        keys[i] = (struct slice){key, (size_t)(at - key)};
        total += keys[i].bytes + 3; /* the comma, and quotes around a text */
    }
    *bytes = total < GEN_SCRATCH_MAX ? (uint32_t)total : GEN_SCRATCH_MAX + 1;
    return keys;
}
