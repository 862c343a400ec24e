#ifndef DRIVER_WIRE_MY_INTERNAL_H
#define DRIVER_WIRE_MY_INTERNAL_H

/*
 * MariaDB and MySQL by our own codec (wire/my.h). libmariadb logs in and applies the settings;
 * then its socket is taken over (driver/wire_io.h) and its handle is released.
 * wire_my_setup.c opens, prepares and closes; drv_wire_my.c has the measured part.
 *
 * TLS and compression stay inside libmariadb, which has no call that hands them out: a session
 * that has agreed on one is refused.
 *
 * One operation is one command and one send(); several may be in flight, since the server
 * answers commands in their order and each answer has sequence numbers of its own. A failed
 * statement does not stop those behind it.
 *
 * Results are walked in the receive buffer. `row`, `times` and `columns` have room for the
 * widest prepared result. They grow, and so do a statement's own columns, when a wider result
 * comes than was known: from a statement sent as text, a CALL, or a table that was altered
 * meanwhile. That is the one allocation inside the measured part, beside the buffers'.
 *
 * WALK leaves what binary rows do not hold as text (BIT, dates, times) as bytes in place.
 */

#include "driver/driver_internal.h"
#include "driver/wire_io.h"
#include "wire/my.h"

#include <stdatomic.h>

struct wire_my_stmt {
    const char *sql;
    uint32_t sql_bytes;
    uint32_t id; /* the server's; no prepared statement has 0 */
    uint32_t param_count;
    bool changes;          /* it says how many rows it changed */
    bool raw;              /* a column of it is raw (wire/my.h) */
    bool known;            /* its answer may be one for wire/my_known.h */
    uint16_t column_count; /* as the server last defined them */
    uint16_t column_room;
    struct myp_column *columns;
    uint8_t *types; /* of parameters, as the server knows them */
};

/* What the next step does. */
enum wire_my_wait {
    WIRE_MY_LOOK,  /* looks at what is there */
    WIRE_MY_READ,  /* and reads, because the last one waits for it */
    WIRE_MY_ALONE, /* reads the answer to the one operation, all at once with luck */
};

enum wire_my_refusal { WIRE_MY_TAKEN, WIRE_MY_PARAMS, WIRE_MY_ROOM };

struct wire_my_op {
    uint8_t kind, depth;       /* enum drv_op_kind, enum prog_depth */
    uint8_t packets;           /* that the command took */
    uint8_t refusal;           /* enum wire_my_refusal: nothing was sent */
    bool known;                /* as of the statement */
    struct wire_my_stmt *stmt; /* NULL: none */
    struct drv_sink *sink;     /* NULL: nobody looks at rows */
};

struct wire_my_conn {
    struct drv_conn base;
    struct wire_io io;
    uint8_t flags; /* enum myp_flag */
    bool known;    /* by them, columns are not defined again, and an EOF ends them */
    bool lost;     /* for good; `error` says why */
    uint8_t wait;  /* enum wire_my_wait */

    /* operations in flight, a ring */
    struct wire_my_op *ops, one; /* ops: of in_flight, from prepare on; before it, `one` */
    uint32_t op_room, op_first, op_next, op_count;

    /* the answer to the first of them */
    bool begun;
    bool infile;              /* the server asked for a file and was refused */
    uint32_t result;          /* number of the result in this answer, from 1 */
    bool raw;                 /* of its columns */
    struct myp_column *shape; /* its columns */
    size_t need;              /* bytes that the next packet needs, 0: unknown */
    struct myp_answer answer;
    uint64_t rows;
    int64_t affected;

    struct wire_my_stmt *stmts;
    uint32_t stmt_count;
    struct arena *set_arena; /* of the prepared set */

    /* room for the widest result, malloc'ed */
    uint16_t width;
    struct value *row;
    struct myp_column *columns;
    char (*times)[MYP_TIME_BYTES];

    unsigned long thread_id;
    atomic_bool cancelled; /* as in struct my_conn */
    char error[DRV_ERROR_BYTES];
};

/* Room for results of that many columns; false without memory. */
MUST_CHECK bool wire_my_widen(struct wire_my_conn *my, uint16_t width);

/* The columns of a statement's result, which the server is about to define. */
void wire_my_define(struct wire_my_conn *my, struct wire_my_stmt *stmt, uint16_t count);

/* The connection is of no use any more: why, the fault of the answer, or what `io` says. */
void wire_my_lose(struct wire_my_conn *my, const char *why);
void wire_my_lose_fault(struct wire_my_conn *my);
void wire_my_lose_io(struct wire_my_conn *my);

/* A packet came with another number than answer.sequence: what to say of it. The server may
 * have sent its last words, which nobody asked for. */
void wire_my_lose_sequence(struct wire_my_conn *my, const struct myp_packet *packet);

bool wire_my_open(struct drv_conn *conn, struct err *err);
void wire_my_close(struct drv_conn *conn);
bool wire_my_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                     struct err *err);
void wire_my_cancel(struct drv_conn *conn);
const char *wire_my_library(struct arena *arena); /* "wire, login by libmariadb 3.3.18" */

/* What a value of a text row, or a raw one of a binary row, means; `when` is where a time is
 * printed. */
struct value wire_my_decode(const struct myp_column *column, const struct value *value,
                            bool binary, char when[MYP_TIME_BYTES]);

#endif
