/* Any bytes are packets, or wait for more, or have a wrong sequence number; however they are
 * cut, the payloads are the same. The first byte says how they are cut. links: base wire */

#include "wire/my_known.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { PAYLOADS_MOST = 1000 };

struct found {
    uint32_t count;
    enum myp_frame end;
    size_t left;
    uint64_t sum;
};

static void look_at(struct found *found, const struct myp_packet *packet, size_t there)
{
    if (packet->taken > there || packet->bytes + MYP_HEADER_BYTES > packet->taken)
        abort();
    for (size_t i = 0; i < packet->bytes; i++)
        found->sum = found->sum * 31 + (uint8_t)packet->at[i];
    found->count++;
    found->left -= packet->taken;
}

/* The next payload of what is there, in memory of exactly that size. */
static void find_next(struct found *found, const uint8_t *at, size_t there, uint8_t *sequence)
{
    struct myp_packet packet;
    char *copy = malloc(there + 1);
    if (!copy)
        abort();
    memcpy(copy, at, there);
    found->end = myp_frame_next(copy, there, sequence, &packet);
    if (found->end == MYP_FRAME_WHOLE)
        look_at(found, &packet, there);
    else if (found->end == MYP_FRAME_MORE && packet.need <= there)
        abort();
    free(copy);
}

/* Bytes arrive `step` at a time. */
static struct found find(const uint8_t *bytes, size_t count, size_t step)
{
    struct found found = {.end = MYP_FRAME_WHOLE, .left = count};
    uint8_t sequence = 1;
    for (size_t there = 0; found.count < PAYLOADS_MOST;) {
        size_t at = count - found.left;
        find_next(&found, bytes + at, there - at, &sequence);
        if (found.end == MYP_FRAME_SEQUENCE || (found.end == MYP_FRAME_MORE && there == count))
            break;
        if (found.end == MYP_FRAME_MORE)
            there = count - there < step ? count : there + step;
    }
    return found;
}

static void check_known(const uint8_t *bytes, size_t count, uint16_t columns)
{
    struct myp_known known;
    struct myp_answer answer;
    uint64_t rows = 0;
    char *copy = malloc(count + 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, count);
    bool is_known = myp_known_result(copy, count, 1, columns, &known);
    myp_answer_begin(&answer, MYP_EXECUTE, MYP_CACHE_METADATA, 1);
    answer.known = columns;
    for (size_t at = 0; is_known && !answer.done;) {
        struct myp_packet packet;
        if (myp_frame_next(copy + at, known.taken - at, &answer.sequence, &packet) !=
            MYP_FRAME_WHOLE)
            abort();
        at += packet.taken;
        rows += myp_answer_take(&answer, (struct slice){packet.at, packet.bytes}) == MYP_ROW;
        if (answer.done && (answer.fault || rows != known.rows || at != known.taken))
            abort();
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return 0;
    check_known(bytes + 1, count - 1, bytes[0] % 3U + 1);
    struct found whole = find(bytes + 1, count - 1, count);
    struct found cut = find(bytes + 1, count - 1, bytes[0] % 16U + 1);
    if (whole.count != cut.count || whole.end != cut.end || whole.left != cut.left ||
        whole.sum != cut.sum)
        abort();
    return 0;
}
