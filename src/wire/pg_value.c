/* Values of rows. */

#include "wire/pg_row.h"

/* Type numbers of pg_type.dat, which never change. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_OID = 26,
    OID_JSON = 114,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_NUMERIC = 1700,
};

static const struct type {
    uint32_t oid;
    uint8_t kind, binary_kind; /* enum pgp_kind; the same twice: text only */
    uint8_t param, binary_param;
} types[] = {
    {OID_BOOL,    PGP_BOOL,    PGP_BINARY_BOOL,   PGP_PARAM_TEXT,  PGP_PARAM_BOOL  },
    {OID_INT2,    PGP_INT,     PGP_BINARY_INT2,   PGP_PARAM_TEXT,  PGP_PARAM_INT2  },
    {OID_INT4,    PGP_INT,     PGP_BINARY_INT4,   PGP_PARAM_TEXT,  PGP_PARAM_INT4  },
    {OID_INT8,    PGP_INT,     PGP_BINARY_INT8,   PGP_PARAM_TEXT,  PGP_PARAM_INT8  },
    {OID_OID,     PGP_INT,     PGP_BINARY_OID,    PGP_PARAM_TEXT,  PGP_PARAM_TEXT  },
    {OID_FLOAT4,  PGP_REAL,    PGP_REAL,          PGP_PARAM_TEXT,  PGP_PARAM_TEXT  },
    {OID_FLOAT8,  PGP_REAL,    PGP_BINARY_FLOAT8, PGP_PARAM_TEXT,  PGP_PARAM_FLOAT8},
    {OID_NUMERIC, PGP_NUMERIC, PGP_NUMERIC,       PGP_PARAM_TEXT,  PGP_PARAM_TEXT  },
    {OID_BYTEA,   PGP_BYTEA,   PGP_BINARY_BLOB,   PGP_PARAM_BYTEA, PGP_PARAM_BYTEA },
    {OID_TEXT,    PGP_TEXT,    PGP_TEXT,          PGP_PARAM_CHARS, PGP_PARAM_CHARS },
    {OID_VARCHAR, PGP_TEXT,    PGP_TEXT,          PGP_PARAM_CHARS, PGP_PARAM_CHARS },
    {OID_BPCHAR,  PGP_TEXT,    PGP_TEXT,          PGP_PARAM_CHARS, PGP_PARAM_CHARS },
    {OID_NAME,    PGP_TEXT,    PGP_TEXT,          PGP_PARAM_CHARS, PGP_PARAM_CHARS },
    {OID_JSON,    PGP_TEXT,    PGP_TEXT,          PGP_PARAM_CHARS, PGP_PARAM_CHARS },
};

static const struct type *type_of(uint32_t oid)
{
    static const struct type other = {0, PGP_TEXT, PGP_TEXT, PGP_PARAM_TEXT, PGP_PARAM_TEXT};
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        if (types[i].oid == oid)
            return &types[i];
    }
    return &other;
}

enum pgp_kind pgp_kind_of(uint32_t type, bool binary)
{
    const struct type *found = type_of(type);
    return binary ? found->binary_kind : found->kind;
}

bool pgp_has_binary(uint32_t type)
{
    const struct type *found = type_of(type);
    return found->binary_kind != found->kind;
}

enum pgp_param pgp_param_of(uint32_t type, bool binary)
{
    const struct type *found = type_of(type);
    return binary ? found->binary_param : found->param;
}

static uint32_t hex_value(char c)
{
    return (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* \x0aff to bytes, in the place of the digits: they are read once. */
static struct value decode_bytea(char *text, uint32_t bytes)
{
    struct value blob = {.type = VALUE_BLOB, .bytes = 0, .as.text = text};
    if (bytes < 2 || text[0] != '\\' || text[1] != 'x')
        return value_text(text, bytes);
    for (uint32_t i = 2; i + 1 < bytes; i += 2)
        text[blob.bytes++] = (char)(hex_value(text[i]) << 4 | hex_value(text[i + 1]));
    return blob;
}

static uint64_t big_endian(const char *at)
{
    return (uint64_t)pgp_u32(at) << 32 | pgp_u32(at + 4);
}

static struct value decode_binary(enum pgp_kind kind, const char *at, uint32_t bytes)
{
    uint64_t bits;
    double real;
    switch (kind) {
    case PGP_BINARY_BOOL: return value_int(at[0] != 0);
    case PGP_BINARY_INT2: return value_int((int16_t)pgp_u16(at));
    case PGP_BINARY_INT4: return value_int((int32_t)pgp_u32(at));
    case PGP_BINARY_OID: return value_int(pgp_u32(at));
    case PGP_BINARY_INT8: return value_int((int64_t)big_endian(at));
    case PGP_BINARY_FLOAT8:
        bits = big_endian(at);
        memcpy(&real, &bits, sizeof real);
        return value_real(real);
    case PGP_TEXT:
    case PGP_BOOL:
    case PGP_INT:
    case PGP_REAL:
    case PGP_NUMERIC:
    case PGP_BYTEA:
    case PGP_BINARY_BLOB: break;
    }
    return (struct value){.type = VALUE_BLOB, .bytes = bytes, .as.text = at};
}

NOINLINE struct value pgp_decode(enum pgp_kind kind, char *text, uint32_t bytes)
{
    static const uint8_t widths[] = {
        [PGP_BINARY_BOOL] = 1, [PGP_BINARY_INT2] = 2, [PGP_BINARY_INT4] = 4,
        [PGP_BINARY_INT8] = 8, [PGP_BINARY_OID] = 4,  [PGP_BINARY_FLOAT8] = 8,
        [PGP_BINARY_BLOB] = 0,
    };
    if (kind == PGP_TEXT || bytes < widths[kind])
        return value_text(text, bytes);
    if (kind == PGP_INT || kind == PGP_NUMERIC)
        return value_of_number(text, bytes);
    if (kind == PGP_BOOL)
        return value_int(bytes == 1 && text[0] == 't');
    if (kind == PGP_REAL)
        return value_of_real(text, bytes);
    return kind == PGP_BYTEA ? decode_bytea(text, bytes) : decode_binary(kind, text, bytes);
}

NOINLINE const char *pgp_length_fault(uint32_t length)
{
    return length > INT32_MAX ? "a value's length is negative"
                              : "a value is longer than its row";
}

NOINLINE HOT const char *pgp_row(char *body, size_t bytes, uint16_t count, const uint8_t *kinds,
                                 struct value *values)
{
    return pgp_row_inline(body, bytes, count, kinds, values);
}
