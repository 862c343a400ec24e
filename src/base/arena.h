#ifndef BASE_ARENA_H
#define BASE_ARENA_H

/*
 * Arena: many small allocations, one release.
 *
 * Who frees: nobody frees a single object. arena_reset() or arena_destroy()
 * ends the life of everything at once. Memory comes zeroed. Running out of
 * memory ends the process: no caller checks for NULL. Not thread safe: an arena
 * belongs to one thread at a time.
 */

#include "base/defs.h"
#include "base/slice.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_create(size_t block_bytes);
void arena_destroy(struct arena **arena); /* sets *arena to NULL; NULL is fine */
void arena_reset(struct arena *arena);

/* bytes may be 0; align is a power of two. */
void *arena_alloc(struct arena *arena, size_t bytes, size_t align);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type), _Alignof(type)))
/* A zeroed array; count * sizeof(type) is checked for overflow (aborts). */
#define arena_array(arena, type, count) \
    ((type *)arena_alloc_many((arena), (count), sizeof(type), _Alignof(type)))
void *arena_alloc_many(struct arena *arena, size_t count, size_t bytes, size_t align);

/* Grows an array by doubling: returns memory for at least `want` items holding the old
 * `count` items; *room is updated. The old memory stays until the arena goes. */
void *arena_grow(struct arena *arena, void *old, size_t count, size_t *room, size_t want,
                 size_t item_bytes);

/* Copies, NUL-terminated. */
char *arena_text(struct arena *arena, const char *text);
char *arena_slice(struct arena *arena, struct slice slice);
char *arena_printf(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *arena, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* Bytes handed out since the last reset, and allocations ever made by all arenas of this
 * thread: the second is how a test proves that a measured phase allocates nothing. */
size_t arena_bytes(const struct arena *arena);
uint64_t arena_calls(void);

#endif
