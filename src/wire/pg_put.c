/* Messages of a client. */

#include "base/num.h"
#include "base/text.h"
#include "wire/pg.h"

#include <assert.h>
#include <math.h>

static char *put_u16(char *at, uint16_t number)
{
    number = __builtin_bswap16(number);
    memcpy(at, &number, sizeof number);
    return at + sizeof number;
}

static char *put_u32(char *at, uint32_t number)
{
    number = __builtin_bswap32(number);
    memcpy(at, &number, sizeof number);
    return at + sizeof number;
}

static char *put_u64(char *at, uint64_t number)
{
    number = __builtin_bswap64(number);
    memcpy(at, &number, sizeof number);
    return at + sizeof number;
}

static char *put_bytes(char *at, const char *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(at, from, bytes);
    return at + bytes;
}

/* With its NUL. */
static char *put_text(char *at, struct slice text)
{
    at = put_bytes(at, text.at, text.bytes);
    *at = '\0';
    return at + 1;
}

static char *put_type(char *at, char type)
{
    *at = type;
    return at + PGP_HEADER_BYTES; /* the length comes when it is known */
}

static char *finish(char *message, char *end)
{
    (void)put_u32(message + 1, (uint32_t)(end - message - 1));
    return end;
}

char *pgp_query_put(char *at, struct slice sql)
{
    return finish(at, put_text(put_type(at, 'Q'), sql));
}

char *pgp_parse_put(char *at, const char *name, struct slice sql)
{
    char *end = put_text(put_type(at, 'P'), slice_of(name));
    return finish(at, put_u16(put_text(end, sql), 0));
}

static char *put_named(char *at, char type, char what, const char *name)
{
    char *end = put_type(at, type);
    *end = what;
    return finish(at, put_text(end + 1, slice_of(name)));
}

char *pgp_describe_put(char *at, char what, const char *name)
{
    return put_named(at, 'D', what, name);
}

char *pgp_close_put(char *at, char what, const char *name)
{
    return put_named(at, 'C', what, name);
}

char *pgp_execute_put(char *at, uint32_t rows)
{
    char *end = put_text(put_type(at, 'E'), slice_of(""));
    return finish(at, put_u32(end, rows));
}

char *pgp_copy_data_put(char *at, struct slice data)
{
    return finish(at, put_bytes(put_type(at, 'd'), data.at, data.bytes));
}

char *pgp_copy_fail_put(char *at, const char *why)
{
    return finish(at, put_text(put_type(at, 'f'), slice_of(why)));
}

char *pgp_bare_put(char *at, enum pgp_bare type)
{
    return finish(at, put_type(at, (char)type));
}

/* Both pieces have a few bytes to spare. */
size_t pgp_bind_room(const struct pgp_bind_spec *spec)
{
    enum { FIXED = 80 };
    return FIXED + PGP_SPARE_BYTES + spec->before.bytes + strlen(spec->stmt) +
           2 * (size_t)spec->param_count + 2 * (size_t)spec->column_count;
}

static char *put_result_formats(char *at, const struct pgp_bind_spec *spec)
{
    if (!spec->formats)
        return put_u16(put_u16(at, 1), 0);
    at = put_u16(at, spec->column_count);
    for (uint16_t i = 0; i < spec->column_count; i++)
        at = put_u16(at, spec->formats[i]);
    return at;
}

void pgp_bind_make(struct pgp_bind *bind, const struct pgp_bind_spec *spec, char *room)
{
    char *bind_at = put_bytes(room, spec->before.at, spec->before.bytes);
    char *at = put_text(put_type(bind_at, 'B'), slice_of("")); /* the portal */
    char *formats = put_u16(put_text(at, slice_of(spec->stmt)), spec->param_count);
    at = formats;
    for (uint16_t i = 0; i < spec->param_count; i++)
        at = put_u16(at, spec->params[i] >= PGP_PARAM_BOOL);
    at = put_u16(at, spec->param_count);
    char *tail = at, *results = put_result_formats(at, spec);
    at = spec->describe ? pgp_describe_put(results, 'P', "") : results;
    at = pgp_bare_put(pgp_execute_put(at, 0), PGP_SYNC);
    assert((size_t)(at - room) + PGP_SPARE_BYTES <= pgp_bind_room(spec));
    *bind = (struct pgp_bind){
        .head = room,
        .tail = tail,
        .params = spec->params,
        .head_bytes = (uint32_t)(tail - room),
        .tail_bytes = (uint32_t)(at - tail),
        .bind_at = (uint32_t)(bind_at - room),
        .formats_at = (uint32_t)(formats - room),
        .result_bytes = (uint32_t)(results - tail),
        .param_count = spec->param_count,
    };
}

/* The value's bytes behind their length; `format` is the parameter's code in the message. */
static char *put_raw(char *at, char *format, const struct value *value)
{
    (void)put_u16(format, 1);
    return put_bytes(put_u32(at, value->bytes), value->as.text, value->bytes);
}

static NOINLINE char *put_real(char *at, double real)
{
    size_t bytes = isnan(real) ? text_print(at + 4, PGP_VALUE_BYTES - 4, "NaN")
                               : text_print(at + 4, PGP_VALUE_BYTES - 4, "%.17g", real);
    return put_u32(at, (uint32_t)bytes) + bytes;
}

static NOINLINE char *put_chars(char *at, char *format, enum pgp_param kind,
                                const struct value *value)
{
    enum { LOOK_BYTES = 32 }; /* longer ones are not looked through */
    if (kind == PGP_PARAM_CHARS && value->bytes >= LOOK_BYTES)
        return put_raw(at, format, value);
    if (value->bytes > 0 && memchr(value->as.text, '\0', value->bytes))
        return NULL;
    (void)put_u16(format, 0);
    return put_bytes(put_u32(at, value->bytes), value->as.text, value->bytes);
}

static inline char *put_int(char *at, int64_t number)
{
    uint32_t bytes =
        number >= 0 ? num_print_u64(at + 4, (uint64_t)number) : num_print_i64(at + 4, number);
    (void)put_u32(at, bytes);
    return at + 4 + bytes;
}

/* A number of a binary kind; NULL when it does not fit. */
static char *put_binary(char *at, enum pgp_param kind, const struct value *value)
{
    int64_t number = value->as.i;
    uint64_t bits;
    if (kind == PGP_PARAM_FLOAT8) {
        double real = value->type == VALUE_REAL ? value->as.r : (double)number;
        memcpy(&bits, &real, sizeof bits);
        return put_u64(put_u32(at, 8), bits);
    }
    if (value->type != VALUE_INT)
        return NULL;
    if (kind == PGP_PARAM_INT8)
        return put_u64(put_u32(at, 8), (uint64_t)number);
    if (kind == PGP_PARAM_INT4 && number == (int32_t)number)
        return put_u32(put_u32(at, 4), (uint32_t)number);
    if (kind == PGP_PARAM_INT2 && number == (int16_t)number)
        return put_u16(put_u32(at, 2), (uint16_t)number);
    if (kind != PGP_PARAM_BOOL || (number != 0 && number != 1))
        return NULL;
    at = put_u32(at, 1);
    *at = (char)number;
    return at + 1;
}

static NOINLINE char *put_other(char *at, char *format, enum pgp_param kind,
                                const struct value *value)
{
    bool number = value->type == VALUE_INT || value->type == VALUE_REAL;
    if (number && kind >= PGP_PARAM_BOOL) {
        char *end = put_binary(at, kind, value);
        if (end)
            return end;
        (void)put_u16(format, 0);
    }
    switch (value->type) {
    case VALUE_NULL: break;
    case VALUE_INT: return put_int(at, value->as.i);
    case VALUE_REAL: return put_real(at, value->as.r);
    case VALUE_TEXT: return put_chars(at, format, kind, value);
    case VALUE_BLOB: return put_raw(at, format, value);
    }
    return put_u32(at, UINT32_MAX);
}

/* Both places have PGP_SPARE_BYTES behind them: few bytes are copied without a call. */
static inline void copy_piece(char *to, const char *from, uint32_t bytes)
{
    memcpy(to, from, PGP_SPARE_BYTES);
    if (bytes > PGP_SPARE_BYTES)
        memcpy(to + PGP_SPARE_BYTES, from + PGP_SPARE_BYTES, bytes - PGP_SPARE_BYTES);
}

HOT char *pgp_bind_put(const struct pgp_bind *bind, const struct value *values, bool sync,
                       char *at)
{
    char *message = at + bind->bind_at, *format = at + bind->formats_at;
    const uint8_t *kind = bind->params;
    copy_piece(at, bind->head, bind->head_bytes);
    at += bind->head_bytes;
    for (const struct value *end = values + bind->param_count; values < end; values++) {
        if (values->type == VALUE_INT && *kind < PGP_PARAM_BOOL)
            at = put_int(at, values->as.i);
        else
            at = put_other(at, format, *kind, values);
        if (!at)
            return NULL;
        kind++;
        format += 2;
    }
    copy_piece(at, bind->tail, bind->tail_bytes);
    (void)finish(message, at + bind->result_bytes);
    return at + bind->tail_bytes - (sync ? 0 : PGP_SYNC_BYTES);
}

HOT char *pgp_bind_put_plain(const struct pgp_bind *bind, const struct value *values, char *at)
{
    char *message = at + bind->bind_at;
    memcpy(at, bind->head, PGP_SPARE_BYTES);
    at += bind->head_bytes;
    for (uint16_t i = 0; i < bind->param_count; i++) {
        if (values[i].type != VALUE_INT || bind->params[i] >= PGP_PARAM_BOOL)
            return NULL;
        at = put_int(at, values[i].as.i);
    }
    memcpy(at, bind->tail, PGP_SPARE_BYTES);
    (void)finish(message, at + bind->result_bytes);
    return at + bind->tail_bytes;
}
