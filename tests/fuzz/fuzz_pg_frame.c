/* links: base wire
 *
 * Any bytes as a PostgreSQL server's stream, in pieces of a size that the first byte gives. The
 * messages are the same as those of the whole, and no read leaves what was received. */

#include "../unit/wire/pg_play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SAYS_MOST = 1 << 22 };

static struct text play_in(struct arena *arena, const char *at, size_t bytes, size_t step)
{
    struct pg_play *play = arena_new(arena, struct pg_play);
    struct text says;
    text_init(&says, arena, SAYS_MOST);
    pg_play_begin(play, &says);
    for (size_t i = 0; i < bytes; i += step)
        pg_play_bytes(play, at + i, bytes - i < step ? bytes - i : step);
    free(play->buffer);
    return says;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct arena *arena = arena_create(1 << 16);
    const char *bytes = (const char *)data + 1;
    struct text whole = play_in(arena, bytes, size - 1, size - 1);
    struct text cut = play_in(arena, bytes, size - 1, (size_t)data[0] % 32 + 1);
    if (!slice_equal((struct slice){whole.at, whole.bytes}, (struct slice){cut.at, cut.bytes}))
        abort();
    arena_destroy(&arena);
    return 0;
}
