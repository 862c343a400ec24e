#ifndef DRIVER_WIRE_PG_INTERNAL_H
#define DRIVER_WIRE_PG_INTERNAL_H

/*
 * PostgreSQL by our own codec (wire/pg.h), on a socket that libpq logged in. wire_pg_setup.c
 * opens and prepares, wire_pg_take.c reads what the server sends, drv_wire_pg.c submits and
 * steps.
 *
 * Operations in flight stand in a ring. One with `sync` is complete at its ReadyForQuery, any
 * other at its own end (CommandComplete, EmptyQueryResponse, ErrorResponse). After an error the
 * server skips all up to the next Sync, and so do we.
 */

#include "driver/libpq_internal.h"
#include "driver/wire_io.h"
#include "wire/pg.h"

enum wpg_describe { WPG_DESCRIBE_EACH, WPG_DESCRIBE_ONCE };
enum wpg_format { WPG_FORMAT_TEXT, WPG_FORMAT_BINARY };
enum wpg_mode { WPG_MODE_PREPARED, WPG_MODE_EXTENDED };
enum wpg_sync { WPG_SYNC_PIPELINE, WPG_SYNC_STATEMENT };

enum { WPG_BOUND_BYTES = PGP_HEADER_BYTES, WPG_HEAD_BYTES = WPG_BOUND_BYTES + 7 };

struct wpg_options {
    int describe, format, mode, sync;
    int64_t message_bytes;
};

/* Columns of a result. */
struct wpg_shape {
    uint8_t *kinds; /* enum pgp_kind */
    uint16_t count;
};

struct wpg_stmt {
    struct pgp_bind bind;
    struct wpg_shape shape;
    const struct wpg_shape *known; /* shape, or NULL when it answers no rows, or is direct */
    /* What its usual answer begins with: BindComplete, and the first bytes of the
     * RowDescription (type, length, number of columns) unless ?describe=once; and how long both
     * are. */
    char head[WPG_HEAD_BYTES];
    size_t head_bytes;
    size_t plain_bytes; /* room for a plain execution; SIZE_MAX: it is never plain */
    struct slice sql;
    bool direct;
};

/* An operation in flight. */
struct wpg_flight {
    struct drv_sink *sink;
    const struct wpg_stmt *stmt; /* NULL: a command */
    const char *unsent;          /* why it was never sent, or NULL */
    uint8_t kind, depth;
    bool sync;
    bool plain; /* its answer may be one for wpg_take_plain(), and nobody has tried */
};

struct wpg_conn {
    struct drv_conn base;
    struct wire_io io;
    bool sync_each, describe_once; /* options */
    size_t most;

    struct wpg_flight *flights; /* a ring: `count` of `room` from `head` */
    uint32_t room, head, count;
    const struct wpg_stmt *stmts;
    uint32_t stmt_count;
    struct value *row; /* row_room values, malloc'ed as `learned` */
    uint32_t row_room;

    /* the operation at the head */
    uint64_t rows;
    int64_t affected;
    const struct wpg_shape *shape; /* of the rows that may come; NULL: none announced */
    enum drv_verdict verdict;      /* unless OK, error and sqlstate say more */
    bool begun;
    bool ended;   /* its end has come, or needs not come */
    bool copying; /* COPY TO: data comes and is dropped */
    bool refused; /* the error text is ours, not to be replaced by the server's */
    char sqlstate[6];

    bool quiet;    /* nothing is in flight, to be sent, or unread */
    bool open;     /* what was submitted last has no Sync yet */
    bool skipping; /* the server skips up to the next Sync */
    bool garbled;  /* the bytes were not the protocol's: the error text says so */
    bool plain;    /* one plain execution is in flight, and nothing of its answer is read */
    bool waits;    /* all is read that can be there: wait before the next read */
    bool broken;   /* sending failed: what the server said before is still to be read */
    struct wpg_shape learned; /* of a direct statement; kinds are malloc'ed */
    uint32_t learned_room;
    size_t need; /* bytes of the message that begins the receive buffer */

    struct arena *set_arena;
    struct wpg_flight one; /* the ring before `prepare` */
    PGconn *db;            /* keeps the TLS session, else NULL */
    PGcancel *cancel;
    atomic_bool cancelled; /* as in struct pq_conn */
    char error[DRV_ERROR_BYTES];
};

bool wpg_open(struct drv_conn *conn, struct err *err);
void wpg_close(struct drv_conn *conn);
bool wpg_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                 struct err *err);
const char *wpg_library(struct arena *arena); /* "wire, login by libpq 15.18" */

static inline struct wpg_flight *wpg_head(struct wpg_conn *wpg)
{
    return &wpg->flights[wpg->head];
}

/* Takes messages until the operation at the head is complete. */
enum wpg_taken { WPG_NEXT, WPG_COMPLETE, WPG_MORE, WPG_LOST };
enum wpg_taken wpg_take(struct wpg_conn *wpg);

/* The same for an answer that is all there and as usual: one row of the columns that are known
 * from prepare, with a ReadyForQuery if `sync`. False where it is not: *rows, 1 when a row was
 * given away, is what wpg_take() then goes on from. */
bool wpg_take_plain(struct wpg_conn *wpg, const struct wpg_flight *flight, bool sync,
                    uint64_t *rows);

/* Room for `count` values and kinds. */
bool wpg_row_room(struct wpg_conn *wpg, uint32_t count);

/* The server's words in one line. */
void wpg_error_text(const struct pgp_error *error, char *buffer, size_t room);

/* The bytes are not the protocol's: the connection is of no use any more. Returns WPG_LOST. */
enum wpg_taken wpg_garbled(struct wpg_conn *wpg, const struct pgp_frame *frame,
                           const char *fault);
/* The same for a header. */
enum wpg_taken wpg_garbled_header(struct wpg_conn *wpg);

#endif
