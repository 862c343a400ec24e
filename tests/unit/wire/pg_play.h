#ifndef TESTS_PG_PLAY_H
#define TESTS_PG_PLAY_H

/* Plays bytes of a PostgreSQL server to the codec, cut as one likes, and writes down what it
 * says. Nothing of a message is kept when the next one comes, and what the codec reads lies in
 * memory of exactly its size. */

#include "base/text.h"
#include "wire/pg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PG_PLAY_COLUMNS = 1664, PG_PLAY_MOST = 1 << 24 };

struct pg_play {
    char *buffer; /* malloc'ed, exactly as large as what is in it */
    size_t used;
    struct text *says;
    bool wrong;
    bool known; /* columns were announced */
    uint16_t count;
    uint8_t kinds[PG_PLAY_COLUMNS];
    struct value values[PG_PLAY_COLUMNS];
};

static inline void pg_play_slice(struct pg_play *play, struct slice text)
{
    text_add(play->says, " '");
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < ' ' || c > '~')
            text_addf(play->says, "\\%02x", c);
        else
            text_add_char(play->says, text.at[i]);
    }
    text_add_char(play->says, '\'');
}

static inline const char *pg_play_columns(struct pg_play *play, struct slice body)
{
    struct pgp_columns columns;
    struct pgp_column column;
    const char *fault = pgp_columns_begin(body, &columns);
    uint16_t count = 0;
    text_add(play->says, " columns");
    while (!fault && pgp_columns_next(&columns, &column, &fault)) {
        pg_play_slice(play, column.name);
        text_addf(play->says, " %u/%u", column.type, column.format);
        if (count < PG_PLAY_COLUMNS)
            play->kinds[count] = (uint8_t)pgp_kind_of(column.type, column.format == 1);
        count++;
    }
    play->count = count < PG_PLAY_COLUMNS ? count : PG_PLAY_COLUMNS;
    play->known = !fault;
    return fault;
}

static inline const char *pg_play_row(struct pg_play *play, char *body, size_t bytes)
{
    text_add(play->says, " row");
    if (!play->known) {
        play->count = bytes >= 2 ? pgp_u16(body) : 0;
        play->count = play->count < PG_PLAY_COLUMNS ? play->count : PG_PLAY_COLUMNS;
    }
    const uint8_t *kinds = play->known ? play->kinds : NULL;
    const char *fault = pgp_row(body, bytes, play->count, kinds, play->values);
    for (uint16_t i = 0; !fault && i < play->count; i++) {
        char shown[100];
        value_print(shown, sizeof shown, &play->values[i]);
        text_addf(play->says, "|%s", shown);
    }
    return fault;
}

static inline const char *pg_play_error(struct pg_play *play, const struct pgp_frame *frame)
{
    struct pgp_error error;
    const char *fault = pgp_error(frame->body, &error);
    text_add(play->says, frame->type == 'E' ? " error" : " notice");
    pg_play_slice(play, error.severity);
    text_addf(play->says, " %s", error.sqlstate);
    pg_play_slice(play, error.message);
    pg_play_slice(play, error.detail);
    pg_play_slice(play, error.hint);
    return fault;
}

static inline const char *pg_play_named(struct pg_play *play, const struct pgp_frame *frame)
{
    struct slice first = {NULL, 0}, second = {NULL, 0};
    const char *fault = NULL, *place = NULL;
    uint32_t number = 0, key;
    uint16_t count = 0;
    uint8_t format = 0;
    switch (frame->type) {
    case 'S': fault = pgp_status(frame->body, &first, &second); break;
    case 'A': fault = pgp_notification(frame->body, &number, &first, &second); break;
    case 'K': fault = pgp_key(frame->body, &number, &key); break;
    case 'C':
        fault = pgp_command(frame->body, &first);
        text_addf(play->says, " %lld", (long long)pgp_affected(first));
        break;
    case 'd': first = frame->body; break;
    case 't':
        fault = pgp_params(frame->body, &count, &place);
        for (uint16_t i = 0; !fault && i < count; i++)
            text_addf(play->says, " %u", pgp_u32(place + 4 * (size_t)i));
        break;
    default:
        fault = pgp_copy(frame->body, &format, &count, &place);
        text_addf(play->says, " %u/%u", format, count);
        break;
    }
    if (first.at)
        pg_play_slice(play, first);
    if (second.at)
        pg_play_slice(play, second);
    return fault;
}

/* `body` is the frame's, to be written in. */
static inline const char *pg_play_frame(struct pg_play *play, const struct pgp_frame *frame,
                                        char *body)
{
    char status = '?';
    const char *fault;
    if (frame->type >= '1' && frame->type <= 'z')
        text_add_char(play->says, frame->type);
    switch (frame->type) {
    case 'T': return pg_play_columns(play, frame->body);
    case 'D': return pg_play_row(play, body, frame->body.bytes);
    case 'E':
    case 'N': return pg_play_error(play, frame);
    case 'Z':
        fault = pgp_ready(frame->body, &status);
        text_addf(play->says, " %c", status);
        return fault;
    case 'S':
    case 'A':
    case 'K':
    case 'C':
    case 'd':
    case 't':
    case 'G':
    case 'H':
    case 'W': return pg_play_named(play, frame);
    default: return pgp_fault(frame);
    }
}

static inline void pg_play_drop(struct pg_play *play, size_t bytes)
{
    char *rest = malloc(play->used - bytes + 1);
    assert(rest && bytes <= play->used);
    memcpy(rest, play->buffer + bytes, play->used - bytes);
    play->used -= bytes;
    free(play->buffer);
    play->buffer = rest;
}

/* A message whole: both the reader of its type and pgp_fault() have to agree about it. */
static inline void pg_play_message(struct pg_play *play, const struct pgp_frame *frame)
{
    size_t bytes = frame->body.bytes;
    char *body = malloc(bytes + (bytes == 0));
    assert(body);
    if (bytes > 0)
        memcpy(body, frame->body.at, bytes);
    const char *alone = pgp_fault(&(struct pgp_frame){
        frame->type, {body, bytes}
    });
    const struct pgp_frame copy = {
        frame->type, {body, bytes}
    };
    const char *fault = pg_play_frame(play, &copy, body);
    assert(!alone || fault); /* the other way round: a row with too many columns */
    play->wrong = fault != NULL;
    text_addf(play->says, "%s%s\n", fault ? " wrong: " : "", fault ? fault : "");
    free(body);
}

/* Bytes that arrive. */
static inline void pg_play_bytes(struct pg_play *play, const char *at, size_t bytes)
{
    char *more = malloc(play->used + bytes + 1);
    assert(more);
    if (play->used > 0)
        memcpy(more, play->buffer, play->used);
    if (bytes > 0)
        memcpy(more + play->used, at, bytes);
    free(play->buffer);
    play->buffer = more;
    play->used += bytes;
    while (!play->wrong) {
        struct pgp_frame frame;
        size_t need = 0;
        enum pgp_scan scan = pgp_frame_next((struct slice){play->buffer, play->used},
                                            PG_PLAY_MOST, &frame, &need);
        if (scan == PGP_MORE) {
            assert(need > play->used);
            return;
        }
        if (scan == PGP_WRONG) {
            char why[200];
            pgp_frame_print(play->buffer, PG_PLAY_MOST, why, sizeof why);
            text_addf(play->says, "wrong: %s\n", why);
            play->wrong = true;
            return;
        }
        assert(need == PGP_HEADER_BYTES + frame.body.bytes && need <= play->used);
        pg_play_message(play, &frame);
        pg_play_drop(play, need);
    }
}

static inline void pg_play_begin(struct pg_play *play, struct text *says)
{
    free(play->buffer);
    play->buffer = NULL;
    play->used = 0;
    play->says = says;
    play->wrong = play->known = false;
    play->count = 0;
}

#endif
