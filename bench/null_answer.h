#ifndef BENCH_NULL_ANSWER_H
#define BENCH_NULL_ANSWER_H

/*
 * What the null server answers: PostgreSQL's protocol, version 3, from canned bytes. Pure:
 * bytes in, bytes out, no I/O and no memory of its own. Formats: PostgreSQL manual,
 * "Frontend/Backend Protocol".
 *
 *   - A prepared statement, whatever its text, has one row of one integer, 0; it takes as many
 *     parameters as the highest $n in its text. Text and binary results, as Bind asks.
 *   - A query sent as text is answered by its first word: a SELECT with one row, everything
 * else with its word as the command's tag.
 *   - Nothing ever fails, nobody needs a password, cancelling does nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NULL_KEPT_BYTES = 16384,     /* bytes of a message that has not arrived whole, at most */
    NULL_MESSAGE_MOST = 1 << 24, /* a longer one is garbage */
    NULL_ANSWER_MOST = 512,      /* bytes of one message's answer, at most */
    NULL_NAMES = 32,             /* statements whose parameters are remembered */
};

struct null_name {
    uint32_t hash;
    uint16_t params;
};

/* One connection; all zero is a fresh one. */
struct null_session {
    bool started;   /* the start-up message has come */
    bool in_block;  /* between BEGIN and COMMIT or ROLLBACK */
    uint8_t binary; /* what the last Bind asked for: 0 text, 1 binary */
    uint8_t next;   /* place in names[] that is written next */
    uint32_t skip;  /* bytes of a long message that are still to come and not looked at */
    struct null_name names[NULL_NAMES];
};

struct null_out {
    char *at;
    size_t used, room;
    uint64_t counts[256]; /* messages answered so far, by type */
};

/* Answers the whole messages in front of `in`, as long as there is room for answers; *consumed
 * is how many bytes they had. A message longer than NULL_KEPT_BYTES is answered by its
 * beginning. False: the connection is to be closed (its end, a cancel request, garbage), after
 * what is in `out` has been sent. */
bool null_answer(struct null_session *session, const char *in, size_t bytes,
                 struct null_out *out, size_t *consumed);

#endif
