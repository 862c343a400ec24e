#ifndef WIRE_MY_KNOWN_H
#define WIRE_MY_KNOWN_H

/*
 * The commonest execution and the commonest answer, for a fraction of the instructions; neither
 * does anything that wire/my.h would not do.
 */

#include "wire/my.h"

enum { MYP_NUMBERS_MOST = 8, MYP_NUMBERS_BYTES = 96 };

/* COM_STMT_EXECUTE with up to MYP_NUMBERS_MOST numbers, whose types the server knows already,
 * in MYP_NUMBERS_BYTES. 0: it is not that; myp_execute_put() does the rest. */
size_t myp_numbers_put(char *at, uint32_t id, const struct value *params, uint32_t count,
                       const uint8_t *types);

enum { MYP_KNOWN_FIRST = 15 }; /* where the first row's packet begins */

struct myp_known {
    uint64_t rows;
    size_t taken; /* bytes of the whole answer */
};

/* Is the answer to a COM_STMT_EXECUTE, whose packets begin with number `sequence`, all there:
 * `columns` columns that the client knows and that are not defined again (MYP_CACHE_METADATA),
 * binary rows, an EOF, and no other result behind it? If not (or if something is wrong), struct
 * myp_answer has to look at it. */
MUST_CHECK bool myp_known_result(const char *buffer, size_t bytes, uint8_t sequence,
                                 uint16_t columns, struct myp_known *known);

/* The packet of a row at *at, which moves on to the next. */
static inline struct slice myp_known_row(const char *buffer, size_t *at)
{
    uint32_t head;
    memcpy(&head, buffer + *at, sizeof(head));
    struct slice row = {buffer + *at + MYP_HEADER_BYTES, head & MYP_CHUNK_BYTES};
    *at += MYP_HEADER_BYTES + row.bytes;
    return row;
}

#endif
