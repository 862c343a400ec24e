#ifndef TESTS_MY_PLAY_H
#define TESTS_MY_PLAY_H

/* Plays an answer of MariaDB to the codec, cut as one likes, and writes down what it says. */

#include "base/text.h"
#include "wire/my.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct my_play {
    struct myp_answer answer;
    uint8_t infile; /* packets that the client answers a LOCAL INFILE with */
    struct myp_column columns[MYP_COLUMNS_MAX];
    struct value values[MYP_COLUMNS_MAX];
    char *buffer; /* malloc'ed, exactly as large as what is in it */
    size_t used;
    struct text *says;
    bool wrong;
};

static inline void my_play_value(struct my_play *play, const struct myp_column *column,
                                 const struct value *value)
{
    char text[200], when[MYP_TIME_BYTES];
    struct value shown = *value;
    if (play->answer.command == MYP_EXECUTE && column->kind >= MYP_DATE &&
        value->type == VALUE_BLOB)
        shown = value_text(when, myp_time_print(column, value, when));
    value_print(text, sizeof(text), &shown);
    text_addf(play->says, "|%s", text);
}

static inline void my_play_row(struct my_play *play, struct slice packet)
{
    uint16_t count = play->answer.columns;
    enum myp_row_fault fault = play->answer.command == MYP_EXECUTE
                                   ? myp_row_binary(packet, play->columns, count, play->values)
                                   : myp_row_text(packet, count, play->values);
    text_addf(play->says, "row %s", myp_row_fault_text(fault));
    for (uint16_t i = 0; fault == MYP_ROW_FINE && i < count; i++)
        my_play_value(play, &play->columns[i], &play->values[i]);
}

static inline void my_play_slice(struct my_play *play, struct slice text)
{
    text_add(play->says, " '");
    text_add_slice(play->says, text);
    text_add_char(play->says, '\'');
}

static inline void my_play_ok(struct my_play *play, const char *name)
{
    const struct myp_ok *ok = &play->answer.ok;
    text_addf(play->says, "%s affected %llu id %llu status %u warnings %u", name,
              (unsigned long long)ok->affected, (unsigned long long)ok->last_id, ok->status,
              ok->warnings);
    my_play_slice(play, ok->info);
}

static inline void my_play_event(struct my_play *play, enum myp_event event,
                                 struct slice packet)
{
    struct myp_answer *answer = &play->answer;
    char fault[160];
    switch (event) {
    case MYP_WRONG:
        myp_fault_print(answer, fault, sizeof(fault));
        text_addf(play->says, "wrong: %s", fault);
        break;
    case MYP_OK: my_play_ok(play, "ok"); break;
    case MYP_RESULT_DONE: my_play_ok(play, "end"); break;
    case MYP_ERROR:
        text_addf(play->says, "error %u %s", answer->error.code, answer->error.sqlstate);
        my_play_slice(play, answer->error.text);
        break;
    case MYP_INFILE:
        text_add(play->says, "infile");
        my_play_slice(play, answer->text);
        myp_answer_infile(answer, play->infile);
        break;
    case MYP_PREPARED:
        text_addf(play->says, "prepared columns %u params %u", answer->prepared.columns,
                  answer->prepared.params);
        break;
    case MYP_RESULT:
        text_addf(play->says, "result of %u columns%s", answer->columns,
                  answer->defined ? "" : ", known");
        break;
    case MYP_PARAMETER: text_add(play->says, "parameter"); break;
    case MYP_COLUMN:
        assert(answer->index < MYP_COLUMNS_MAX);
        play->columns[answer->index] = answer->column;
        text_addf(play->says, "column %u type %u kind %u", answer->index, answer->column.type,
                  answer->column.kind);
        my_play_slice(play, answer->text);
        break;
    case MYP_DEFINED: text_add(play->says, "defined"); break;
    case MYP_ROW: my_play_row(play, packet); break;
    case MYP_PROGRESS:
        text_add(play->says, "progress");
        my_play_slice(play, answer->text);
        break;
    }
    text_add(play->says, answer->done ? "; done\n" : "\n");
}

static inline void my_play_drop(struct my_play *play, size_t bytes)
{
    char *rest = malloc(play->used - bytes + 1);
    assert(rest && bytes <= play->used);
    memcpy(rest, play->buffer + bytes, play->used - bytes);
    play->used -= bytes;
    free(play->buffer);
    play->buffer = rest;
}

/* Everything that is complete in the buffer. */
static inline void my_play_on(struct my_play *play)
{
    while (!play->answer.done && !play->wrong) {
        struct myp_packet packet = {0};
        enum myp_frame frame =
            myp_frame_next(play->buffer, play->used, &play->answer.sequence, &packet);
        if (frame == MYP_FRAME_MORE) {
            assert(packet.need > play->used);
            return;
        }
        if (frame == MYP_FRAME_SEQUENCE) {
            text_addf(play->says, "wrong sequence %u\n", packet.sequence);
            play->wrong = true;
            return;
        }
        assert(packet.taken <= play->used && packet.bytes <= packet.taken);
        struct slice payload = {packet.at, packet.bytes};
        my_play_event(play, myp_answer_take(&play->answer, payload), payload);
        my_play_drop(play, packet.taken);
    }
}

/* Bytes that arrive. */
static inline void my_play_bytes(struct my_play *play, const char *at, size_t bytes)
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
    my_play_on(play);
}

static inline void my_play_begin(struct my_play *play, enum myp_command command, uint8_t flags,
                                 struct text *says)
{
    myp_answer_begin(&play->answer, command, flags, 1);
    play->infile = 1;
    play->says = says;
    play->wrong = false;
    free(play->buffer);
    play->buffer = NULL;
    play->used = 0;
}

#endif
