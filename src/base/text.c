#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

/* Room for `more` bytes and the NUL, as far as the limit lets; returns how many fit. */
static size_t reserve(struct text *text, size_t more)
{
    size_t left = text->limit - text->bytes;
    if (more > left) {
        more = left;
        text->cut = true;
    }
    size_t want = text->bytes + more + 1;
    if (want > text->room)
        text->at =
            arena_grow(text->arena, text->at, text->bytes + 1, &text->room, want, sizeof(char));
    return more;
}

void text_init(struct text *text, struct arena *arena, size_t limit_bytes)
{
    assert(arena);
    size_t room = limit_bytes < FIRST_ROOM ? limit_bytes + 1 : FIRST_ROOM;
    *text = (struct text){.arena = arena, .room = room, .limit = limit_bytes};
    text->at = arena_array(arena, char, room);
}

void text_reset(struct text *text)
{
    text->bytes = 0;
    text->cut = false;
    text->at[0] = '\0';
}

void text_add(struct text *text, const char *more)
{
    text_add_slice(text, slice_of(more));
}

void text_add_slice(struct text *text, struct slice more)
{
    size_t bytes = reserve(text, more.bytes);
    if (bytes > 0)
        memcpy(text->at + text->bytes, more.at, bytes);
    text->bytes += bytes;
    text->at[text->bytes] = '\0';
}

void text_add_char(struct text *text, char c)
{
    text_add_many(text, c, 1);
}

void text_add_many(struct text *text, char c, size_t count)
{
    size_t bytes = reserve(text, count);
    memset(text->at + text->bytes, c, bytes);
    text->bytes += bytes;
    text->at[text->bytes] = '\0';
}

void text_addf(struct text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_vaddf(text, fmt, args);
    va_end(args);
}

void text_vaddf(struct text *text, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int want = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    assert(want >= 0);
    size_t bytes = reserve(text, (size_t)want);
    (void)vsnprintf(text->at + text->bytes, bytes + 1, fmt, args);
    text->bytes += bytes;
}

size_t text_print(char *buffer, size_t room, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t bytes = text_vprint(buffer, room, fmt, args);
    va_end(args);
    return bytes;
}

size_t text_vprint(char *buffer, size_t room, const char *fmt, va_list args)
{
    assert(room > 0);
    int want = vsnprintf(buffer, room, fmt, args);
    assert(want >= 0);
    return (size_t)want < room ? (size_t)want : room - 1;
}
