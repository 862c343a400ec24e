#include "null_answer.h"

#include "base/defs.h"
#include "base/slice.h"
#include "wire/bytes.h"

#include <assert.h>
#include <string.h>

enum { HEADER_BYTES = 5, START_BYTES = 8, START_MOST = 10000 };
enum { ASK_CANCEL = 80877102, ASK_SSL = 80877103, ASK_GSS = 80877104 };

/* A canned answer: a literal without its closing NUL. */
#define CANNED(out, text) put((out), (text), sizeof(text) - 1)

static void put(struct null_out *out, const char *bytes, size_t count)
{
    assert(count <= out->room - out->used);
    memcpy(out->at + out->used, bytes, count);
    out->used += count;
}

static void put_ready(const struct null_session *session, struct null_out *out)
{
    if (session->in_block)
        CANNED(out, "Z\0\0\0\5T");
    else
        CANNED(out, "Z\0\0\0\5I");
}

static void put_hello(const struct null_session *session, struct null_out *out)
{
    CANNED(out, "R\0\0\0\10\0\0\0\0");
    CANNED(out, "S\0\0\0\30server_version\00015.0\0");
    CANNED(out, "S\0\0\0\31server_encoding\0UTF8\0");
    CANNED(out, "S\0\0\0\31client_encoding\0UTF8\0");
    CANNED(out, "S\0\0\0\27DateStyle\0ISO, MDY\0");
    CANNED(out, "S\0\0\0\31integer_datetimes\0on\0");
    CANNED(out, "S\0\0\0\43standard_conforming_strings\0on\0");
    CANNED(out, "K\0\0\0\14\0\0\0\1\0\0\0\1");
    put_ready(session, out);
}

/* False: close. */
static bool answer_start(struct null_session *session, const char *body, struct null_out *out)
{
    struct wire_bytes in = wire_bytes_of(body, 4);
    switch (wire_be32(&in)) {
    case ASK_SSL:
    case ASK_GSS: put(out, "N", 1); return true;
    case ASK_CANCEL: return false;
    default: break;
    }
    if ((uint8_t)body[1] != 3 || body[0] != 0)
        return false;
    session->started = true;
    put_hello(session, out);
    return true;
}

/* ---- rows */

static void put_column(struct null_out *out, bool binary)
{
    CANNED(out, "T\0\0\0\34\0\1one\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0");
    put(out, binary ? "\1" : "\0", 1);
}

static const char text_row[] = "D\0\0\0\13\0\1\0\0\0\1"
                               "0"
                               "C\0\0\0\15SELECT 1\0";

static void put_row(struct null_out *out, bool binary)
{
    if (binary)
        CANNED(out, "D\0\0\0\16\0\1\0\0\0\4\0\0\0\0C\0\0\0\15SELECT 1\0");
    else
        CANNED(out, text_row);
}

/* A column of text with one value of at most 9 bytes. */
static void put_text_row(struct null_out *out, struct slice text)
{
    char sizes[] = {0, 0, 0, (char)(10 + text.bytes), 0, 1, 0, 0, 0, (char)text.bytes};
    assert(text.bytes < 10);
    CANNED(out, "T\0\0\0\34\0\1one\0\0\0\0\0\0\0\0\0\0\31\377\377\377\377\377\377\0\0");
    put(out, "D", 1);
    put(out, sizes, sizeof sizes);
    put(out, text.at, text.bytes);
    CANNED(out, "C\0\0\0\15SELECT 1\0");
}

/* ---- queries sent as text */

static char upper(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

/* The first word in capitals; its length, 0 when there is none. */
static size_t first_word(struct slice text, char *word, size_t room)
{
    size_t bytes = 0;
    for (size_t i = 0; i < text.bytes && bytes < room; i++) {
        char c = upper(text.at[i]);
        bool letter = c >= 'A' && c <= 'Z';
        if (letter)
            word[bytes++] = c;
        else if (bytes > 0 || (c != ' ' && c != '\n' && c != '\t' && c != '('))
            break;
    }
    return bytes;
}

static bool contains(struct slice text, const char *what)
{
    return memmem(text.at, text.bytes, what, strlen(what)) != NULL;
}

static void put_select(struct slice text, struct null_out *out)
{
    if (contains(text, "'max_connections'"))
        put_text_row(out, slice_of("65536"));
    else if (contains(text, "reserved_connections"))
        put_text_row(out, slice_of("0"));
    else if (contains(text, "current_setting("))
        put_text_row(out, slice_of(contains(text, "debug_assertions") ? "off" : "on"));
    else if (contains(text, "pg_backend_pid()"))
        put_text_row(out, slice_of("1")); /* as put_hello says: no pooler between */
    else if (contains(text, "version()"))
        put_text_row(out, slice_of("null 15"));
    else if (contains(text, "string_agg("))
        put_text_row(out, slice_of(""));
    else if (contains(text, "pg_partitioned_table"))
        /* pgbench asks which schema its tables are in and how they are partitioned. */
        CANNED(out, "T\0\0\0\102\0\3"
                    "n\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
                    "p\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
                    "c\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
                    "D\0\0\0\24\0\3\0\0\0\1"
                    "1"
                    "\377\377\377\377\0\0\0\1"
                    "0"
                    "C\0\0\0\15SELECT 1\0");
    else if (contains(text, "count(")) {
        put_column(out, false);
        CANNED(out, "D\0\0\0\13\0\1\0\0\0\1"
                    "1"
                    "C\0\0\0\15SELECT 1\0");
    } else {
        put_column(out, false);
        put_row(out, false);
    }
}

static void answer_query(struct null_session *session, struct slice text, struct null_out *out)
{
    char word[32];
    struct slice verb = {word, first_word(text, word, sizeof word)};
    if (verb.bytes == 0) {
        CANNED(out, "I\0\0\0\4");
    } else if (slice_is(verb, "SELECT")) {
        put_select(text, out);
    } else {
        char head[HEADER_BYTES] = {'C', 0, 0, 0, (char)(verb.bytes + 5)};
        put(out, head, sizeof head);
        put(out, verb.at, verb.bytes);
        put(out, "\0", 1);
    }
    if (slice_is(verb, "BEGIN"))
        session->in_block = true;
    else if (slice_is(verb, "COMMIT") || slice_is(verb, "ROLLBACK") || slice_is(verb, "END"))
        session->in_block = false;
    put_ready(session, out);
}

/* ---- prepared statements */

static uint32_t hash_name(struct slice name)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (size_t i = 0; i < name.bytes; i++)
        hash = (hash ^ (uint8_t)name.at[i]) * 16777619U;
    return hash;
}

static struct null_name *find_name(struct null_session *session, uint32_t hash)
{
    for (size_t i = 0; i < NULL_NAMES; i++) {
        if (session->names[i].hash == hash)
            return &session->names[i];
    }
    return NULL;
}

/* The highest $n. */
static uint16_t count_params(struct slice text)
{
    uint32_t most = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        uint32_t number = 0;
        if (text.at[i] != '$')
            continue;
        while (i + 1 < text.bytes && text.at[i + 1] >= '0' && text.at[i + 1] <= '9' &&
               number < 10000)
            number = number * 10 + (uint32_t)(text.at[++i] - '0');
        most = number > most ? number : most;
    }
    return (uint16_t)(most < UINT16_MAX ? most : UINT16_MAX);
}

static void note_parse(struct null_session *session, struct wire_bytes body)
{
    uint32_t hash = hash_name(wire_text(&body));
    struct null_name *name = find_name(session, hash);
    if (!name) {
        name = &session->names[session->next];
        session->next = (uint8_t)((session->next + 1) % NULL_NAMES);
    }
    *name = (struct null_name){hash, count_params((struct slice){body.at, wire_left(&body)})};
}

/* As many int4 as the statement has parameters, but not more than an answer may have. */
static void put_params(struct null_out *out, uint32_t count)
{
    const uint32_t most = (NULL_ANSWER_MOST - 64) / 4;
    count = count < most ? count : most;
    uint32_t bytes = 6 + 4 * count;
    char head[] = {'t', 0, 0, (char)(bytes >> 8), (char)bytes, 0, (char)count};
    put(out, head, sizeof head);
    for (uint32_t i = 0; i < count; i++)
        put(out, "\0\0\0\27", 4);
}

static void answer_describe(struct null_session *session, struct wire_bytes body,
                            struct null_out *out)
{
    bool statement = wire_u8(&body) == 'S';
    if (statement) {
        const struct null_name *name = find_name(session, hash_name(wire_text(&body)));
        put_params(out, name ? name->params : 0);
    }
    put_column(out, !statement && session->binary);
}

/* False: close. */
static bool answer_message(struct null_session *session, char type, struct wire_bytes body,
                           struct null_out *out)
{
    switch (type) {
    case 'B':
        /* Bind ends with the format of the one column, or with none: then that is 0. */
        session->binary = wire_left(&body) > 0 && body.end[-1] == 1;
        CANNED(out, "2\0\0\0\4");
        return true;
    case 'D': answer_describe(session, body, out); return true;
    case 'E': put_row(out, session->binary); return true;
    case 'S': put_ready(session, out); return true;
    case 'P':
        note_parse(session, body);
        CANNED(out, "1\0\0\0\4");
        return true;
    case 'C': CANNED(out, "3\0\0\0\4"); return true;
    case 'Q': /* a long one's NUL is not here */
        answer_query(session, (struct slice){body.at, strnlen(body.at, wire_left(&body))}, out);
        return true;
    case 'H': /* Flush: all is sent anyway */
    case 'c': /* what is left of a COPY */
    case 'd':
    case 'f': return true;
    default: return false; /* 'X' is the end, the rest is garbage */
    }
}

/* The four messages of a prepared statement, as long as whole ones come: most of all work, so
 * without a function a message. Returns how many bytes they had. */
static size_t answer_usual(struct null_session *session, const char *in, size_t bytes,
                           struct null_out *out)
{
    static const char column[] =
        "T\0\0\0\34\0\1one\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0";
    const char *at = in, *end = in + bytes;
    char *to = out->at + out->used, *last = out->at + out->room - NULL_ANSWER_MOST;
    bool binary = session->binary;
    while (end - at > HEADER_BYTES && to < last) {
        uint32_t length;
        memcpy(&length, at + 1, sizeof length);
        length = __builtin_bswap32(length);
        if (length < 4 || length >= (size_t)(end - at))
            break;
        if (*at == 'B') {
            binary = length > 4 && at[length] == 1;
            memcpy(to, "2\0\0\0\4", 5);
            to += 5;
        } else if (*at == 'D' && length > 4 && at[HEADER_BYTES] == 'P') {
            memcpy(to, column, sizeof column - 1);
            to[sizeof column - 1] = binary ? 1 : 0;
            to += sizeof column;
        } else if (*at == 'E' && !binary) {
            memcpy(to, text_row, sizeof text_row - 1);
            to += sizeof text_row - 1;
        } else if (*at == 'S') {
            memcpy(to, "Z\0\0\0\5", 5);
            to[5] = session->in_block ? 'T' : 'I';
            to += 6;
        } else {
            break;
        }
        out->counts[(uint8_t)*at]++;
        at += 1 + length;
    }
    session->binary = binary;
    out->used = (size_t)(to - out->at);
    return (size_t)(at - in);
}

/* Bytes of the message in front of `in` that are to be looked at, with *whole its length on the
 * wire; 0: not enough has arrived. *bad: it cannot be a message. */
static size_t measure(const struct null_session *session, struct wire_bytes in, size_t *whole,
                      bool *bad)
{
    const size_t head = session->started ? 1 : 0, bytes = wire_left(&in);
    const size_t least = session->started ? HEADER_BYTES : START_BYTES;
    if (bytes < least)
        return 0;
    (void)wire_take(&in, head);
    uint32_t length = wire_be32(&in);
    *bad =
        length + head < least || length > (session->started ? NULL_MESSAGE_MOST : START_MOST);
    *whole = head + length;
    if (bytes >= *whole)
        return *whole;
    return bytes >= NULL_KEPT_BYTES ? bytes : 0;
}

static bool answer_one(struct null_session *session, const char *at, size_t bytes,
                       struct null_out *out)
{
    if (!session->started)
        return answer_start(session, at + 4, out);
    out->counts[(uint8_t)*at]++;
    struct wire_bytes body = wire_bytes_of(at + HEADER_BYTES, bytes - HEADER_BYTES);
    return answer_message(session, *at, body, out);
}

bool null_answer(struct null_session *session, const char *in, size_t bytes,
                 struct null_out *out, size_t *consumed)
{
    size_t at = session->skip < bytes ? session->skip : bytes;
    bool open = true;
    session->skip -= (uint32_t)at;
    while (open && out->room - out->used >= NULL_ANSWER_MOST) {
        size_t whole = 0;
        bool bad = false;
        if (session->started && session->skip == 0)
            at += answer_usual(session, in + at, bytes - at, out);
        if (out->room - out->used < NULL_ANSWER_MOST)
            break;
        size_t seen = measure(session, wire_bytes_of(in + at, bytes - at), &whole, &bad);
        if (bad)
            open = false;
        else if (seen == 0)
            break;
        else
            open = answer_one(session, in + at, seen, out);
        at += seen;
        session->skip = (uint32_t)(whole > seen ? whole - seen : 0);
    }
    *consumed = at;
    return open;
}
