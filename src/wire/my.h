#ifndef WIRE_MY_H
#define WIRE_MY_H

/*
 * The protocol of MariaDB and MySQL after the login: packets, answers, rows, commands. Pure:
 * bytes in, meaning out; no I/O, no allocation, no clock. Prefix myp_: MySQL's protocol.
 *
 * A packet is a length of 3 bytes, a sequence number of one, and that many bytes; a payload of
 * 2^24 - 1 bytes or more goes on in the next packet. A command begins at sequence 0, its answer
 * goes on counting; so each command of a pipeline has numbers of its own. myp_frame_next()
 * finds the next payload in a buffer with any part of a stream, or says how many bytes it
 * needs.
 *
 * An answer is a series of payloads. struct myp_answer knows which may come; it is told each,
 * says what it is, and when the answer is complete. It knows both ends of a result (EOF, or OK
 * with header 0xFE after CLIENT_DEPRECATE_EOF), MariaDB's extended metadata, and its results
 * without definitions (MARIADB_CLIENT_CACHE_METADATA).
 *
 * Sources: MariaDB Knowledge Base, "Client/Server Protocol": "0 - Packet", "Protocol Data
 * Types", "OK_Packet", "ERR_Packet", "EOF_Packet", "Result Set Packets", "Resultset row",
 * "Progress Reporting", "COM_QUERY", "COM_STMT_PREPARE", "COM_STMT_EXECUTE", "COM_STMT_CLOSE",
 * "COM_STMT_RESET", "LOCAL INFILE Packet". MySQL Internals Manual, chapter "Client/Server
 * Protocol": "MySQL Packets", "Generic Response Packets", "Text Protocol", "Prepared
 * Statements", "Binary Protocol Value".
 */

#include "base/defs.h"
#include "base/slice.h"
#include "base/value.h"
#include "wire/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MYP_HEADER_BYTES = 4,
    MYP_CHUNK_BYTES = 0xffffff, /* of a packet at most; a full one is followed by another */
    MYP_COLUMNS_MAX = 4096,     /* of a result, by the server's own limit */
    MYP_TIME_BYTES = 32,        /* of myp_time_print at most, with the NUL */
};

/* --- packets --- */

enum myp_frame { MYP_FRAME_WHOLE, MYP_FRAME_MORE, MYP_FRAME_SEQUENCE };

/* What stands at the front of a buffer. */
struct myp_packet {
    const char *at; /* the payload */
    size_t bytes;
    size_t taken;     /* WHOLE: bytes of the buffer that it took, headers included */
    size_t need;      /* MORE: bytes from the front that are needed, as far as is known */
    uint8_t sequence; /* SEQUENCE: the number that came */
};

/* The next payload of buffer[0 .. bytes), whose first packet must have *sequence, which moves
 * on past what was taken. A continued payload is made contiguous in place once all of it is
 * there, that is why the buffer is written to. */
enum myp_frame myp_frame_long(char *buffer, size_t bytes, uint8_t *sequence,
                              struct myp_packet *packet);

static inline enum myp_frame myp_frame_next(char *buffer, size_t bytes, uint8_t *sequence,
                                            struct myp_packet *packet)
{
    uint32_t head;
    if (bytes < MYP_HEADER_BYTES)
        return myp_frame_long(buffer, bytes, sequence, packet);
    memcpy(&head, buffer, sizeof(head));
    uint32_t length = head & MYP_CHUNK_BYTES;
    if (head >> 24 != *sequence || length == MYP_CHUNK_BYTES ||
        bytes - MYP_HEADER_BYTES < length)
        return myp_frame_long(buffer, bytes, sequence, packet);
    packet->at = buffer + MYP_HEADER_BYTES;
    packet->bytes = length;
    packet->taken = MYP_HEADER_BYTES + length;
    ++*sequence;
    return MYP_FRAME_WHOLE;
}

/* A length-encoded integer; false: NULL (0xFB), or there is none (then in->cut). */
static inline bool myp_number(struct wire_bytes *in, uint64_t *number)
{
    uint8_t first = wire_u8(in);
    *number = first;
    if (first < 0xfb)
        return !in->cut;
    if (first == 0xfb)
        return false;
    if (first == 0xff)
        in->cut = true;
    else
        *number = wire_le(in, first == 0xfe ? 8 : first - 0xfaU);
    return !in->cut;
}

/* A length-encoded string; NULL is at NULL. What is not all there sets in->cut. */
struct slice myp_string(struct wire_bytes *in);

/* --- columns and rows --- */

/* What a column's values are, by type, flags and character set. */
enum myp_kind {
    MYP_INT,
    MYP_UNSIGNED, /* 64 bits */
    MYP_REAL,
    MYP_NUMERIC, /* a decimal number as text */
    MYP_BIT,     /* a number, most significant byte first */
    MYP_TEXT,
    MYP_BLOB,
    MYP_DATE,
    MYP_DATETIME, /* and TIMESTAMP */
    MYP_TIME,
};

struct myp_column {
    uint8_t kind;  /* enum myp_kind */
    uint8_t bytes; /* of a binary value; 0: a length stands before it */
    uint8_t type;  /* the protocol's number */
    uint8_t decimals;
    bool is_unsigned;
    uint8_t value; /* enum value_type of what myp_row_binary() finds in place */
    bool raw;      /* myp_row_binary() leaves a value that is not yet what it means */
};

enum myp_row_fault { MYP_ROW_FINE, MYP_ROW_SHORT, MYP_ROW_LONG, MYP_ROW_VALUE };

/* A row of a prepared statement's result. values[] gets `count` entries: numbers as they are
 * (REAL when above INT64_MAX), text and blobs in place. What is `raw` is in place as well: TEXT
 * for NUMERIC, BLOB for BIT and for dates and times (myp_time_print). */
enum myp_row_fault myp_row_binary(struct slice packet, const struct myp_column *columns,
                                  uint16_t count, struct value *values);

/* A row of a query's result: every value is text in place, or NULL. */
enum myp_row_fault myp_row_text(struct slice packet, uint16_t count, struct value *values);

/* A binary date or time, as myp_row_binary() left it, in the server's text form: "2024-02-29",
 * "2024-02-29 12:00:00.50" with the column's decimals, "-838:59:59". Returns the bytes. */
uint32_t myp_time_print(const struct myp_column *column, const struct value *value,
                        char buffer[MYP_TIME_BYTES]);

/* --- answers --- */

enum myp_flag { /* what was agreed at the login */
                MYP_DEPRECATE_EOF = 1 << 0,
                MYP_SESSION_TRACK = 1 << 1,
                MYP_EXTENDED_METADATA = 1 << 2,
                MYP_CACHE_METADATA = 1 << 3,
};

enum myp_command {
    MYP_QUERY,   /* COM_QUERY: OK, ERR, results, LOCAL INFILE */
    MYP_EXECUTE, /* COM_STMT_EXECUTE: the same with binary rows */
    MYP_PREPARE, /* COM_STMT_PREPARE */
    MYP_SIMPLE,  /* OK or ERR: COM_PING, COM_INIT_DB, COM_STMT_RESET, COM_RESET_CONNECTION */
};

enum myp_event {
    MYP_WRONG,       /* see fault; the answer is of no use any more */
    MYP_OK,          /* ok */
    MYP_ERROR,       /* error; ends the answer, whatever came before */
    MYP_INFILE,      /* text names the file; send its packets, or an empty one to refuse */
    MYP_PREPARED,    /* prepared; definitions follow */
    MYP_RESULT,      /* columns; `defined` says whether definitions follow */
    MYP_PARAMETER,   /* a definition that says nothing of use */
    MYP_COLUMN,      /* column, text is its name; the n-th of its result, from 0, is `index` */
    MYP_DEFINED,     /* the end of definitions; does not come with MYP_DEPRECATE_EOF */
    MYP_ROW,         /* see myp_row_binary and myp_row_text */
    MYP_RESULT_DONE, /* ok: status and warnings; another result follows unless `done` */
    MYP_PROGRESS,    /* of a long statement (MariaDB); text is the stage's name */
};

struct myp_ok {
    uint64_t affected, last_id;
    uint16_t status, warnings;
    struct slice info; /* "Records: 3  Duplicates: 0  Warnings: 0"; may be empty */
};

struct myp_error {
    uint16_t code;
    char sqlstate[6]; /* "HY000" when the server sent none */
    struct slice text;
};

struct myp_prepared {
    uint32_t id;
    uint16_t columns, params, warnings;
};

enum myp_fault {
    MYP_FAULT_NONE,
    MYP_FAULT_EMPTY,     /* a packet without a first byte */
    MYP_FAULT_SHORT,     /* the packet ends too early */
    MYP_FAULT_LONG,      /* bytes are left */
    MYP_FAULT_COUNT,     /* a count of columns that cannot be */
    MYP_FAULT_END,       /* rows begin, or columns go on, where the definitions should end */
    MYP_FAULT_FIRST,     /* an answer cannot begin so */
    MYP_FAULT_UNDEFINED, /* a result without definitions, and none are known */
    MYP_FAULT_AFTER,     /* something after the end */
};

struct myp_answer {
    uint8_t command, flags; /* enum myp_command, enum myp_flag */
    uint8_t state;          /* private */
    uint8_t sequence;       /* of the next packet: for myp_frame_next() */
    bool done;              /* the answer is complete */
    bool defined;
    uint16_t columns; /* of the current result */
    uint16_t index;   /* of a MYP_COLUMN */
    uint16_t left;    /* definitions that have yet to come */
    uint16_t known;   /* columns known from prepare, for results without definitions; 0: none */
    /* What the last event brought; slices point into its packet. */
    union {
        struct myp_ok ok;
        struct myp_error error;
        struct myp_prepared prepared;
        struct myp_column column;
    };
    struct slice text;
    enum myp_fault fault;
    uint64_t expected, came; /* numbers of the fault */
};

enum { MYP_STATE_HEAD, MYP_STATE_ROWS = 3 }; /* private, for what is inline */

/* Gets ready for the answer to a command that was sent in `packets` packets. */
static inline void myp_answer_begin(struct myp_answer *answer, enum myp_command command,
                                    uint8_t flags, uint8_t packets)
{
    answer->command = (uint8_t)command;
    answer->flags = flags;
    answer->state = MYP_STATE_HEAD;
    answer->sequence = packets;
    answer->done = false;
    answer->known = 0;
    answer->fault = MYP_FAULT_NONE;
}

enum myp_event myp_answer_other(struct myp_answer *answer, struct slice packet);

/* What a payload is. Not to be called again once `done`. */
static inline enum myp_event myp_answer_take(struct myp_answer *answer, struct slice packet)
{
    /* A row is what is neither ERR (0xFF) nor an end (0xFE); binary ones begin with 0. */
    if (answer->state == MYP_STATE_ROWS && packet.bytes > 0 &&
        (uint8_t)packet.at[0] < (answer->command == MYP_EXECUTE ? 1 : 0xfe))
        return MYP_ROW;
    return myp_answer_other(answer, packet);
}

/* After MYP_INFILE: `packets` packets were sent, the first with answer->sequence, the last one
 * empty; the sequence goes on behind them. */
static inline void myp_answer_infile(struct myp_answer *answer, uint8_t packets)
{
    answer->sequence = (uint8_t)(answer->sequence + packets);
}

/* What was expected and what came, in words. */
void myp_fault_print(const struct myp_answer *answer, char *buffer, size_t room);
const char *myp_row_fault_text(enum myp_row_fault fault);

/* --- commands --- */

enum {
    MYP_COM_QUIT = 1,
    MYP_COM_QUERY = 3,
    MYP_COM_PING = 14,
    MYP_COM_STMT_PREPARE = 22,
    MYP_COM_STMT_EXECUTE = 23,
    MYP_COM_STMT_CLOSE = 25,
    MYP_COM_STMT_RESET = 26,
};

/* Bytes of a payload with its headers. */
static inline size_t myp_room(size_t payload)
{
    return payload + MYP_HEADER_BYTES * (payload / MYP_CHUNK_BYTES + 1);
}

/* Puts headers to a payload that stands at at + MYP_HEADER_BYTES, in myp_room(payload) bytes,
 * numbered from *sequence, which moves on. Returns the bytes of all packets. */
size_t myp_packets_put(char *at, size_t payload, uint8_t *sequence);

/* A command with text behind it (COM_QUERY, COM_STMT_PREPARE) or without (COM_PING, COM_QUIT),
 * in myp_room(1 + text.bytes) bytes. *packets is set to how many it took. */
size_t myp_command_put(char *at, uint8_t command, struct slice text, uint8_t *packets);

/* COM_STMT_CLOSE (which has no answer) or COM_STMT_RESET, in MYP_STMT_BYTES. */
enum { MYP_STMT_BYTES = MYP_HEADER_BYTES + 5 };
size_t myp_stmt_put(char *at, uint8_t command, uint32_t id);

/* COM_STMT_EXECUTE. types[] (one a parameter, zeroed before the first time) remembers the types
 * that the server knows; they are sent when they change. NULL changes no type that is there. */
size_t myp_execute_room(const struct value *params, uint32_t count);
size_t myp_execute_put(char *at, uint32_t id, const struct value *params, uint32_t count,
                       uint8_t *types, uint8_t *packets);

/* A piece of a file for LOCAL INFILE, less than MYP_CHUNK_BYTES, in MYP_HEADER_BYTES + bytes;
 * an empty packet is the end, and alone the refusal. */
size_t myp_infile_put(char *at, struct slice bytes, uint8_t sequence);

#endif
