/* Any payloads are an answer or a fault in words. The first byte says which command is answered
 * and what was agreed, the second how many columns are known; then come payloads, each behind
 * two bytes with its length.
 * links: base wire */

#include "../unit/wire/my_play.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { SAYS_MOST = 1 << 16 };

static struct my_play play;

/* In memory of exactly its size, so that a read past it is seen. */
static void take(const uint8_t *bytes, size_t count)
{
    char *copy = malloc(count > 0 ? count : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, count);
    struct slice payload = {copy, count};
    enum myp_event event = myp_answer_take(&play.answer, payload);
    my_play_event(&play, event, payload);
    if ((event == MYP_WRONG) != (play.answer.fault != MYP_FAULT_NONE) ||
        (event == MYP_WRONG && !play.answer.done) ||
        (event == MYP_COLUMN && play.answer.index >= play.answer.columns))
        abort();
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct text says;
    if (count < 2)
        return 0;
    struct arena *arena = arena_create(1 << 14);
    text_init(&says, arena, SAYS_MOST);
    my_play_begin(&play, (enum myp_command)(bytes[0] & 3), bytes[0] >> 4, &says);
    play.answer.known = bytes[1];
    for (size_t at = 2; count - at >= 2 && !play.answer.done;) {
        size_t length = bytes[at] | (size_t)bytes[at + 1] << 8;
        at += 2;
        length = length < count - at ? length : count - at;
        take(bytes + at, length);
        at += length;
    }
    if (says.bytes > 0 && says.at[says.bytes - 1] != '\n' && !says.cut)
        abort();
    arena_destroy(&arena);
    return 0;
}
