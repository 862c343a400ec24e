/* links: base wire
 *
 * One message of a PostgreSQL server: the first byte is its type, the second the format of the
 * columns (as announced by 'T') of a row, the third how many there are. What each reader says
 * agrees with pgp_fault(), and what it hands out lies inside the message. */

#include "../unit/wire/pg_play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SAYS_MOST = 1 << 20, HEAD_BYTES = 3 };

static void check_values(const struct pg_play *play, const char *body, size_t bytes)
{
    for (uint16_t i = 0; i < play->count; i++) {
        const struct value *value = &play->values[i];
        bool text = value->type == VALUE_TEXT || value->type == VALUE_BLOB;
        if (text && (value->as.text < body || value->bytes > bytes ||
                     value->as.text + value->bytes > body + bytes))
            abort();
    }
}

static void read_row(struct pg_play *play, const uint8_t *data, char *body, size_t bytes)
{
    play->count = data[2] % 16;
    play->known = true;
    for (uint16_t i = 0; i < play->count; i++)
        play->kinds[i] = (uint8_t)((data[1] + i) % (PGP_BINARY_BLOB + 1));
    if (!pgp_row(body, bytes, play->count, NULL, play->values))
        check_values(play, body, bytes);
    if (!pgp_row(body, bytes, play->count, play->kinds, play->values))
        check_values(play, body, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD_BYTES)
        return 0;
    struct arena *arena = arena_create(1 << 14);
    struct pg_play *play = arena_new(arena, struct pg_play);
    struct text says;
    size_t bytes = size - HEAD_BYTES;
    char *body = malloc(bytes + (bytes == 0));
    if (!body)
        abort();
    memcpy(body, data + HEAD_BYTES, bytes);
    text_init(&says, arena, SAYS_MOST);
    pg_play_begin(play, &says);
    pg_play_message(play, &(struct pgp_frame){
                              (char)data[0], {body, bytes}
    });
    if (data[0] == 'D')
        read_row(play, data, body, bytes);
    free(body);
    arena_destroy(&arena);
    return 0;
}
