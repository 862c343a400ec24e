#include "wire/my.h"

#include "wire/my_known.h"

#include <assert.h>

/* Payloads of full packets lie between headers: closes the gaps. */
static void join_chunks(char *buffer, size_t payload)
{
    for (size_t at = MYP_CHUNK_BYTES, i = 1; at < payload; at += MYP_CHUNK_BYTES, i++) {
        size_t bytes = payload - at < MYP_CHUNK_BYTES ? payload - at : MYP_CHUNK_BYTES;
        memmove(buffer + MYP_HEADER_BYTES + at, buffer + MYP_HEADER_BYTES * (i + 1) + at,
                bytes);
    }
}

enum myp_frame myp_frame_long(char *buffer, size_t bytes, uint8_t *sequence,
                              struct myp_packet *packet)
{
    uint8_t next = *sequence;
    size_t at = 0, payload = 0;
    uint32_t length = MYP_CHUNK_BYTES;
    while (length == MYP_CHUNK_BYTES) {
        uint32_t head;
        packet->need = at + MYP_HEADER_BYTES;
        if (bytes < packet->need)
            return MYP_FRAME_MORE;
        memcpy(&head, buffer + at, sizeof(head));
        packet->sequence = (uint8_t)(head >> 24);
        if (packet->sequence != next++)
            return MYP_FRAME_SEQUENCE;
        length = head & MYP_CHUNK_BYTES;
        payload += length;
        at += MYP_HEADER_BYTES + length;
        packet->need = at;
        if (bytes < at)
            return MYP_FRAME_MORE;
    }
    join_chunks(buffer, payload);
    packet->at = buffer + MYP_HEADER_BYTES;
    packet->bytes = payload;
    packet->taken = at;
    *sequence = next;
    return MYP_FRAME_WHOLE;
}

struct slice myp_string(struct wire_bytes *in)
{
    uint64_t bytes;
    if (!myp_number(in, &bytes))
        return (struct slice){in->cut ? "" : NULL, 0};
    const char *at = wire_take(in, bytes);
    return at ? (struct slice){at, bytes} : (struct slice){"", 0};
}

static void header_put(char *at, size_t bytes, uint8_t sequence)
{
    uint32_t head = (uint32_t)bytes | (uint32_t)sequence << 24;
    memcpy(at, &head, sizeof(head));
}

size_t myp_packets_put(char *at, size_t payload, uint8_t *sequence)
{
    size_t more = payload / MYP_CHUNK_BYTES;
    for (size_t i = more; i > 0; i--) { /* from the last one, which makes room for the others */
        size_t from = i * MYP_CHUNK_BYTES;
        size_t bytes = payload - from < MYP_CHUNK_BYTES ? payload - from : MYP_CHUNK_BYTES;
        char *to = at + from + MYP_HEADER_BYTES * i;
        memmove(to + MYP_HEADER_BYTES, at + MYP_HEADER_BYTES + from, bytes);
        header_put(to, bytes, (uint8_t)(*sequence + i));
    }
    header_put(at, more > 0 ? MYP_CHUNK_BYTES : payload, *sequence);
    *sequence = (uint8_t)(*sequence + more + 1);
    return myp_room(payload);
}

size_t myp_command_put(char *at, uint8_t command, struct slice text, uint8_t *packets)
{
    at[MYP_HEADER_BYTES] = (char)command;
    if (text.bytes > 0)
        memcpy(at + MYP_HEADER_BYTES + 1, text.at, text.bytes);
    *packets = 0;
    return myp_packets_put(at, 1 + text.bytes, packets);
}

size_t myp_stmt_put(char *at, uint8_t command, uint32_t id)
{
    header_put(at, 5, 0);
    at[MYP_HEADER_BYTES] = (char)command;
    memcpy(at + MYP_HEADER_BYTES + 1, &id, sizeof(id));
    return MYP_STMT_BYTES;
}

size_t myp_infile_put(char *at, struct slice bytes, uint8_t sequence)
{
    assert(bytes.bytes < MYP_CHUNK_BYTES);
    header_put(at, bytes.bytes, sequence);
    if (bytes.bytes > 0)
        memcpy(at + MYP_HEADER_BYTES, bytes.at, bytes.bytes);
    return MYP_HEADER_BYTES + bytes.bytes;
}

enum { TYPE_DOUBLE = 5, TYPE_NULL = 6, TYPE_LONGLONG = 8, TYPE_BLOB = 252, TYPE_STRING = 254 };

static uint8_t type_of(enum value_type type)
{
    switch (type) {
    case VALUE_INT: return TYPE_LONGLONG;
    case VALUE_REAL: return TYPE_DOUBLE;
    case VALUE_TEXT: return TYPE_STRING;
    case VALUE_BLOB: return TYPE_BLOB;
    case VALUE_NULL: break;
    }
    return TYPE_NULL;
}

/* Does the server have to be told new types? */
static bool types_change(const struct value *params, uint32_t count, uint8_t *types)
{
    bool change = false;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t type = type_of(params[i].type);
        if (type == types[i] || (type == TYPE_NULL && types[i] != 0))
            continue;
        types[i] = type;
        change = true;
    }
    return change;
}

size_t myp_execute_room(const struct value *params, uint32_t count)
{
    size_t payload = 10 + (count + 7) / 8 + 1 + (size_t)count * (2 + 9);
    for (uint32_t i = 0; i < count; i++)
        payload += params[i].type >= VALUE_TEXT ? params[i].bytes : 0;
    return myp_room(payload);
}

static char *length_put(char *at, uint32_t bytes)
{
    uint8_t more = bytes < 0xfb ? 0 : bytes <= 0xffff ? 2 : bytes <= 0xffffff ? 3 : 8;
    if (more == 0) {
        *at = (char)bytes;
        return at + 1;
    }
    uint64_t wide = bytes;
    *at = (char)(more == 8 ? 0xfe : 0xfa + more);
    memcpy(at + 1, &wide, more);
    return at + 1 + more;
}

static char *bytes_put(char *at, const struct value *value)
{
    at = length_put(at, value->bytes);
    if (value->bytes > 0)
        memcpy(at, value->as.text, value->bytes);
    return at + value->bytes;
}

static HOT char *values_put(char *at, const struct value *params, uint32_t count, char *nulls)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i % 8 == 0)
            nulls[i / 8] = 0;
        switch (params[i].type) {
        case VALUE_NULL: nulls[i / 8] = (char)(nulls[i / 8] | 1 << i % 8); break;
        case VALUE_INT:
        case VALUE_REAL:
            memcpy(at, &params[i].as, 8);
            at += 8;
            break;
        case VALUE_TEXT:
        case VALUE_BLOB: at = bytes_put(at, &params[i]); break;
        }
    }
    return at;
}

/* Command, statement, no cursor, one iteration; returns where the rest goes. */
static inline char *execute_put(char *at, uint32_t id)
{
    const uint64_t fixed = MYP_COM_STMT_EXECUTE | (uint64_t)id << 8;
    const uint32_t once = 1;
    memcpy(at + MYP_HEADER_BYTES, &fixed, sizeof(fixed));
    memcpy(at + MYP_HEADER_BYTES + 6, &once, sizeof(once));
    return at + MYP_HEADER_BYTES + 10;
}

HOT size_t myp_numbers_put(char *at, uint32_t id, const struct value *params, uint32_t count,
                           const uint8_t *types)
{
    if (count - 1 >= MYP_NUMBERS_MOST)
        return 0;
    char *to = execute_put(at, id);
    to[0] = to[1] = 0; /* no NULL, no new types */
    to += 2;
    for (uint32_t i = 0; i < count; i++) {
        enum value_type type = params[i].type;
        if ((type != VALUE_INT && type != VALUE_REAL) ||
            types[i] != (type == VALUE_INT ? TYPE_LONGLONG : TYPE_DOUBLE))
            return 0;
        memcpy(to, &params[i].as, 8);
        to += 8;
    }
    header_put(at, (size_t)(to - at) - MYP_HEADER_BYTES, 0);
    return (size_t)(to - at);
}

/* What stands behind the fixed part. */
static char *params_put(char *to, const struct value *params, uint32_t count, uint8_t *types)
{
    char *nulls = to;
    bool change = types_change(params, count, types);
    to += (count + 7) / 8;
    *to++ = (char)change;
    for (uint32_t i = 0; change && i < count; i++) {
        *to++ = (char)types[i];
        *to++ = 0;
    }
    return values_put(to, params, count, nulls);
}

size_t myp_execute_put(char *at, uint32_t id, const struct value *params, uint32_t count,
                       uint8_t *types, uint8_t *packets)
{
    char *to = execute_put(at, id);
    if (count > 0)
        to = params_put(to, params, count, types);
    *packets = 0;
    return myp_packets_put(at, (size_t)(to - at) - MYP_HEADER_BYTES, packets);
}
