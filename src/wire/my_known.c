#include "wire/my_known.h"

#include <assert.h>

enum {
    RESULT_BYTES = MYP_HEADER_BYTES + 2, /* a count below 251, and "not defined" */
    END_BYTES = MYP_HEADER_BYTES + 5,    /* 0xFE, u16 warnings, u16 status */
    COUNT_MOST = 250,
    END = 0xfe,
    STATUS_MORE_RESULTS = 0x08,
};
static_assert(MYP_KNOWN_FIRST == RESULT_BYTES + END_BYTES, "a result's head and an EOF");

static inline uint32_t head_at(const char *at)
{
    uint32_t head;
    memcpy(&head, at, sizeof(head));
    return head;
}

static inline bool is_end(const char *at, uint32_t number)
{
    return head_at(at) == (number << 24 | (END_BYTES - MYP_HEADER_BYTES)) &&
           (uint8_t)at[MYP_HEADER_BYTES] == END;
}

/* The count of columns, that they are not defined again, and the EOF: the first eleven bytes.
 */
static inline bool begins(const char *buffer, uint32_t number, uint16_t columns)
{
    const uint64_t want = 2 | (uint64_t)number << 24 | (uint64_t)columns << 32 |
                          (uint64_t)(END_BYTES - MYP_HEADER_BYTES) << 48;
    uint64_t first;
    memcpy(&first, buffer, sizeof(first));
    uint32_t next = (uint8_t)(number + 1);
    return first == want && (head_at(buffer + 8) & 0xffffff) == (next << 8 | END << 16);
}

HOT bool myp_known_result(const char *buffer, size_t bytes, uint8_t sequence, uint16_t columns,
                          struct myp_known *known)
{
    const char *at = buffer + MYP_KNOWN_FIRST;
    uint8_t number = sequence + 1;
    uint64_t rows = 0;
    if (bytes < RESULT_BYTES + 2 * END_BYTES || columns > COUNT_MOST ||
        !begins(buffer, sequence, columns))
        return false;
    /* An EOF must fit behind every row, so that looking at its bytes is safe. */
    for (const char *last = buffer + bytes - END_BYTES; at <= last; rows++) {
        uint32_t head = head_at(at), length = head & MYP_CHUNK_BYTES;
        number++;
        if (at[MYP_HEADER_BYTES] != 0) {
            known->rows = rows;
            known->taken = (size_t)(at + END_BYTES - buffer);
            return is_end(at, number) && !(at[MYP_HEADER_BYTES + 3] & STATUS_MORE_RESULTS);
        }
        if (head >> 24 != number || length - 1 >= MYP_CHUNK_BYTES - 1 ||
            length > (size_t)(last - at))
            return false;
        at += MYP_HEADER_BYTES + length;
    }
    return false;
}
