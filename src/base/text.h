#ifndef BASE_TEXT_H
#define BASE_TEXT_H

/*
 * Text building.
 *
 * `struct text` grows in an arena, is always NUL-terminated and has a mandatory upper bound:
 * what goes past it is dropped and `cut` is set, so nothing grows without limit.
 * text_print() is the one place that cuts on purpose into a fixed buffer; snprintf is banned
 * elsewhere.
 */

#include "base/arena.h"
#include "base/defs.h"
#include "base/slice.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
    struct arena *arena;
    char *at; /* never NULL after text_init */
    size_t bytes, room, limit;
    bool cut;
};

void text_init(struct text *text, struct arena *arena, size_t limit_bytes);
void text_reset(struct text *text);
void text_add(struct text *text, const char *more);
void text_add_slice(struct text *text, struct slice more);
void text_add_char(struct text *text, char c);
void text_add_many(struct text *text, char c, size_t count);
void text_addf(struct text *text, const char *fmt, ...) PRINTF_LIKE(2, 3);
void text_vaddf(struct text *text, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* Prints into a fixed buffer, cutting when it does not fit; always NUL-terminated (room > 0).
 * Returns the bytes written without the NUL. */
size_t text_print(char *buffer, size_t room, const char *fmt, ...) PRINTF_LIKE(3, 4);
size_t text_vprint(char *buffer, size_t room, const char *fmt, va_list args) PRINTF_LIKE(3, 0);

#endif
