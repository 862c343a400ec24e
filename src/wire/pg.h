#ifndef WIRE_PG_H
#define WIRE_PG_H

/*
 * PostgreSQL's protocol 3.0 after the login: messages in and out, values in and out. Pure:
 * bytes in, meaning out; no I/O, no allocation, no clock. Prefix pgp_: PostgreSQL's protocol.
 *
 * A message is a type of one byte, a length of four that counts itself, and a body.
 * pgp_frame_next() finds the next one in a buffer that holds any part of a stream, or says how
 * many bytes it needs. Every reader of a body is bounded by it. A reader returns a fault: NULL
 * when all is well, else a fixed text that says what is wrong, and what it should fill is not
 * to be used. What was read points into the body.
 *
 * Writers put whole messages where the caller has room, and return the end of what they wrote.
 *
 * Source: PostgreSQL manual, chapter "Frontend/Backend Protocol" (55), sections "Message Flow",
 * "Message Formats", "Error and Notice Message Fields"; binary values: the types' send
 * functions (src/backend/utils/adt), big-endian throughout.
 */

#include "base/value.h"
#include "wire/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- messages --- */

enum { PGP_HEADER_BYTES = 5, PGP_SHORT_MOST = 30000 };

struct pgp_frame {
    char type;
    struct slice body;
};

enum pgp_scan { PGP_FRAME, PGP_MORE, PGP_WRONG };

enum pgp_scan pgp_frame_odd(struct slice in, size_t most, struct pgp_frame *frame,
                            size_t *need);

static inline uint32_t pgp_u32(const char *at)
{
    uint32_t number;
    memcpy(&number, at, sizeof number);
    return __builtin_bswap32(number);
}

static inline uint16_t pgp_u16(const char *at)
{
    uint16_t number;
    memcpy(&number, at, sizeof number);
    return __builtin_bswap16(number);
}

/* The message at the begin of `in`, which it fills PGP_HEADER_BYTES + body.bytes of. PGP_MORE:
 * *need bytes from there are needed before another look. PGP_WRONG: a length below 4, a message
 * of more than `most` bytes, or one beyond PGP_SHORT_MOST of a type that is never so long
 * (libpq's rule: all but T D d V E N A; here t too, as a statement may have 65,535 parameters).
 */
static inline enum pgp_scan pgp_frame_next(struct slice in, size_t most,
                                           struct pgp_frame *frame, size_t *need)
{
    *need = PGP_HEADER_BYTES;
    if (in.bytes < PGP_HEADER_BYTES)
        return PGP_MORE;
    uint32_t length = pgp_u32(in.at + 1);
    if (length - 4 > PGP_SHORT_MOST - 4)
        return pgp_frame_odd(in, most, frame, need);
    *need = (size_t)length + 1;
    if (in.bytes < *need)
        return PGP_MORE;
    frame->type = in.at[0];
    frame->body = (struct slice){in.at + PGP_HEADER_BYTES, length - 4};
    return PGP_FRAME;
}

/* What is wrong with the header at `at`, after PGP_WRONG: what was expected and what came. */
void pgp_frame_print(const char *at, size_t most, char *buffer, size_t room);

/* The fault of any message of a server, by its type; an unknown type is one. */
const char *pgp_fault(const struct pgp_frame *frame);

/* --- what servers send --- */

/* ReadyForQuery: 'I' idle, 'T' in a transaction, 'E' in one that has failed. */
const char *pgp_ready(struct slice body, char *status);

/* CommandComplete: "SELECT 1", "INSERT 0 5", without the NUL. */
const char *pgp_command(struct slice body, struct slice *tag);
/* Rows that INSERT, UPDATE, DELETE and MERGE changed; -1 for other tags. */
int64_t pgp_affected(struct slice tag);

/* ErrorResponse and NoticeResponse. Fields that did not come are empty. */
struct pgp_error {
    struct slice severity, message, detail, hint;
    char sqlstate[6];
};
const char *pgp_error(struct slice body, struct pgp_error *error);

/* RowDescription, column by column. */
struct pgp_column {
    struct slice name;
    uint32_t table, type; /* OIDs */
    uint16_t attribute, format;
    int16_t size;
    int32_t modifier;
};
struct pgp_columns {
    struct wire_bytes in;
    uint16_t count, left;
};
const char *pgp_columns_begin(struct slice body, struct pgp_columns *columns);
/* False after the last. A fault ends it too: then *fault is set. */
bool pgp_columns_next(struct pgp_columns *columns, struct pgp_column *column,
                      const char **fault);

/* ParameterDescription: the type of parameter i is pgp_u32(types + 4 * i). */
const char *pgp_params(struct slice body, uint16_t *count, const char **types);

/* ParameterStatus. */
const char *pgp_status(struct slice body, struct slice *name, struct slice *value);
/* BackendKeyData. */
const char *pgp_key(struct slice body, uint32_t *pid, uint32_t *key);
/* NotificationResponse. */
const char *pgp_notification(struct slice body, uint32_t *pid, struct slice *channel,
                             struct slice *payload);

/* CopyInResponse, CopyOutResponse, CopyBothResponse: the format of column i is
 * pgp_u16(formats + 2 * i). CopyData's body is the data. */
const char *pgp_copy(struct slice body, uint8_t *format, uint16_t *count, const char **formats);

/* --- values --- */

/* How a column's value is read. The first six are of the text format; a bytea is decoded in its
 * place. */
enum pgp_kind {
    PGP_TEXT,
    PGP_BOOL,
    PGP_INT,
    PGP_REAL,
    PGP_NUMERIC, /* int when whole and in range, else real */
    PGP_BYTEA,
    PGP_BINARY_BOOL,
    PGP_BINARY_INT2,
    PGP_BINARY_INT4,
    PGP_BINARY_INT8,
    PGP_BINARY_OID,
    PGP_BINARY_FLOAT8,
    PGP_BINARY_BLOB,
};

enum pgp_kind pgp_kind_of(uint32_t type, bool binary);

/* Is there a binary form that gives the very values of the text form? Not for numeric, which is
 * text here anyway, and not for float4, whose decimals are not those of its binary value. */
bool pgp_has_binary(uint32_t type);

/* One value in text format. */
struct value pgp_decode(enum pgp_kind kind, char *text, uint32_t bytes);

/* DataRow of `count` announced columns. kinds NULL: places and lengths only, as VALUE_TEXT. */
const char *pgp_row(char *body, size_t bytes, uint16_t count, const uint8_t *kinds,
                    struct value *values);

/* How a parameter goes out. Values whose binary form is their own bytes are sent so; the kinds
 * from PGP_PARAM_BOOL on are numbers in binary, and fall back to text where a value does not
 * fit the type (the server then says so). */
enum pgp_param {
    PGP_PARAM_TEXT,
    PGP_PARAM_CHARS, /* text types: longer texts go as they are, without a look for NULs */
    PGP_PARAM_BYTEA,
    PGP_PARAM_BOOL,
    PGP_PARAM_INT2,
    PGP_PARAM_INT4,
    PGP_PARAM_INT8,
    PGP_PARAM_FLOAT8,
};

enum pgp_param pgp_param_of(uint32_t type, bool binary);

/* --- what clients send --- */

char *pgp_query_put(char *at, struct slice sql);
char *pgp_parse_put(char *at, const char *name, struct slice sql); /* types are the server's */
char *pgp_describe_put(char *at, char what, const char *name);     /* 'S' or 'P' */
char *pgp_close_put(char *at, char what, const char *name);
char *pgp_execute_put(char *at, uint32_t rows); /* of the unnamed portal; 0: all */
char *pgp_copy_data_put(char *at, struct slice data);
char *pgp_copy_fail_put(char *at, const char *why);

/* A message without a body: Sync, Flush, CopyDone, Terminate. */
enum pgp_bare { PGP_SYNC = 'S', PGP_FLUSH = 'H', PGP_COPY_DONE = 'c', PGP_TERMINATE = 'X' };
char *pgp_bare_put(char *at, enum pgp_bare type);

/* Room for any one of them with texts of `bytes` bytes altogether. */
static inline size_t pgp_room(size_t bytes)
{
    return bytes + 16;
}

/* One execution of a statement: Bind to the unnamed portal, Describe of it where wished,
 * Execute and Sync, in two pieces that never change with the parameters between them. */
struct pgp_bind {
    const char *head, *tail;
    const uint8_t *params; /* enum pgp_param of each */
    uint32_t head_bytes, tail_bytes;
    uint32_t bind_at;      /* in head: what stands before it is sent too (a Parse) */
    uint32_t formats_at;   /* in head */
    uint32_t result_bytes; /* of tail: the rest of Bind */
    uint16_t param_count;
};

struct pgp_bind_spec {
    struct slice before;   /* whole messages in front of it, or empty */
    const char *stmt;      /* "": the unnamed one */
    const uint8_t *params; /* kept */
    uint16_t param_count;
    const uint8_t *formats; /* of the columns, 0 or 1 each; NULL: all text */
    uint16_t column_count;
    bool describe;
};

/* Bytes that the two pieces need together. */
size_t pgp_bind_room(const struct pgp_bind_spec *spec);
void pgp_bind_make(struct pgp_bind *bind, const struct pgp_bind_spec *spec, char *room);

enum { PGP_VALUE_BYTES = 36, PGP_SYNC_BYTES = PGP_HEADER_BYTES, PGP_SPARE_BYTES = 32 };

/* Room for an execution with these values. */
static inline size_t pgp_bind_bytes(const struct pgp_bind *bind, const struct value *values)
{
    size_t bytes = bind->head_bytes + bind->tail_bytes + PGP_SPARE_BYTES;
    for (uint16_t i = 0; i < bind->param_count; i++) {
        bytes += PGP_VALUE_BYTES;
        if (values[i].type >= VALUE_TEXT)
            bytes += values[i].bytes;
    }
    return bytes;
}

/* Puts an execution, with or without its Sync. NULL: a text has a NUL byte, which cannot be
 * sent. */
char *pgp_bind_put(const struct pgp_bind *bind, const struct value *values, bool sync,
                   char *at);

/* The same, with its Sync, for the plain case: neither piece has more than PGP_SPARE_BYTES, and
 * all values are whole numbers that go as text. NULL: they are not. */
char *pgp_bind_put_plain(const struct pgp_bind *bind, const struct value *values, char *at);

#endif
