#include "base/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    size_t room, used;
};

struct arena {
    struct block *head; /* allocations come from here; full and outsized blocks follow */
    size_t block_bytes;
    size_t bytes;
};

/* The block's memory begins at the first multiple of max_align_t behind its header. */
static const size_t header_bytes =
    (sizeof(struct block) + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);

static uint64_t *thread_calls(void)
{
    static _Thread_local uint64_t calls;
    return &calls;
}

static size_t sum_or_abort(size_t a, size_t b)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        abort();
    return sum;
}

static size_t product_or_abort(size_t a, size_t b)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        abort();
    return product;
}

static void *calloc_or_abort(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        abort();
    return memory;
}

static struct block *block_create(size_t room)
{
    struct block *block = calloc_or_abort(sum_or_abort(header_bytes, room));
    block->room = room;
    return block;
}

static char *block_memory(struct block *block)
{
    return (char *)block + header_bytes;
}

/* Where in the block an object with this alignment would begin. */
static size_t block_offset(struct block *block, size_t align)
{
    uintptr_t at = (uintptr_t)(block_memory(block) + block->used);
    return block->used + (size_t)(-at & (align - 1));
}

struct arena *arena_create(size_t block_bytes)
{
    assert(block_bytes > 0);
    struct arena *arena = calloc_or_abort(sizeof(*arena));
    arena->block_bytes = block_bytes;
    arena->head = block_create(block_bytes);
    return arena;
}

static void free_blocks(struct block *block)
{
    while (block) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_destroy(struct arena **arena)
{
    if (!*arena)
        return;
    free_blocks((*arena)->head);
    free(*arena);
    *arena = NULL;
}

void arena_reset(struct arena *arena)
{
    struct block *head = arena->head;
    free_blocks(head->next);
    head->next = NULL;
    memset(block_memory(head), 0, head->used);
    head->used = 0;
    arena->bytes = 0;
}

/* An object of a quarter of a block or more gets its own block behind the head, so that the
 * rest of the head is not wasted. */
static void *alloc_new_block(struct arena *arena, size_t bytes, size_t align)
{
    size_t want = sum_or_abort(bytes, align);
    bool outsized = want > arena->block_bytes / 4;
    struct block *block = block_create(outsized ? want : arena->block_bytes);
    if (outsized) {
        block->next = arena->head->next;
        arena->head->next = block;
    } else {
        block->next = arena->head;
        arena->head = block;
    }
    size_t offset = block_offset(block, align);
    block->used = offset + bytes;
    return block_memory(block) + offset;
}

void *arena_alloc(struct arena *arena, size_t bytes, size_t align)
{
    assert(align > 0 && (align & (align - 1)) == 0);
    ++*thread_calls();
    struct block *head = arena->head;
    size_t offset = block_offset(head, align);
    arena->bytes = sum_or_abort(arena->bytes, bytes);
    if (offset > head->room || bytes > head->room - offset)
        return alloc_new_block(arena, bytes, align);
    head->used = offset + bytes;
    return block_memory(head) + offset;
}

void *arena_alloc_many(struct arena *arena, size_t count, size_t bytes, size_t align)
{
    return arena_alloc(arena, product_or_abort(count, bytes), align);
}

void *arena_grow(struct arena *arena, void *old, size_t count, size_t *room, size_t want,
                 size_t item_bytes)
{
    assert(count <= *room && (old || count == 0) && item_bytes > 0);
    if (old && want <= *room)
        return old;
    size_t more = *room > 4 ? product_or_abort(*room, 2) : 8;
    if (more < want)
        more = want;
    void *memory = arena_alloc_many(arena, more, item_bytes, _Alignof(max_align_t));
    if (count > 0)
        memcpy(memory, old, count * item_bytes);
    *room = more;
    return memory;
}

char *arena_text(struct arena *arena, const char *text)
{
    return arena_slice(arena, slice_of(text));
}

char *arena_slice(struct arena *arena, struct slice slice)
{
    char *copy = arena_alloc(arena, sum_or_abort(slice.bytes, 1), 1);
    if (slice.bytes > 0)
        memcpy(copy, slice.at, slice.bytes);
    return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = arena_vprintf(arena, fmt, args);
    va_end(args);
    return text;
}

char *arena_vprintf(struct arena *arena, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int bytes = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    assert(bytes >= 0);
    char *text = arena_alloc(arena, (size_t)bytes + 1, 1);
    (void)vsnprintf(text, (size_t)bytes + 1, fmt, args);
    return text;
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->bytes;
}

uint64_t arena_calls(void)
{
    return *thread_calls();
}
