#ifndef DRIVER_LIBPQ_INTERNAL_H
#define DRIVER_LIBPQ_INTERNAL_H

/*
 * PostgreSQL through libpq, non-blocking. libpq_setup.c opens, prepares, asks and describes;
 * drv_libpq.c has the measured part.
 *
 * Source: https://www.postgresql.org/docs/15/libpq.html
 */

#include "driver/driver_internal.h"
#include "wire/pg.h"

#include <libpq-fe.h>

#include <stdatomic.h>

enum { PQ_COLUMNS_MAX = 1664, PQ_NUMBER_BYTES = 32, PQ_NAME_BYTES = 12, PQ_POLL_MS = 100 };

enum pq_rows { PQ_ROWS_WHOLE, PQ_ROWS_STREAM };

struct pq_options {
    int rows;
    int64_t param_bytes;
};

struct pq_stmt {
    char name[PQ_NAME_BYTES];
    const char *sql;
    bool direct;
    uint32_t param_count;
    const uint8_t *params; /* enum pgp_param of each */
};

struct pq_conn {
    struct drv_conn base;
    PGconn *db;
    PGcancel *cancel;
    int sever_fd;

    struct arena *set_arena; /* of the prepared set and its buffers */
    struct pq_stmt *stmts;
    uint32_t stmt_count;
    const char **values;
    int *lengths, *formats;
    char *buffer; /* the text of parameters */
    size_t buffer_room, buffer_used;
    struct value *row;
    uint8_t *columns; /* enum pgp_kind of the running result */
    uint16_t row_room;

    /* the operation in flight */
    enum drv_op_kind kind;
    enum prog_depth depth;
    struct drv_sink *sink;
    bool flushed, failed, known; /* known: `columns` is filled */
    uint16_t column_count;
    struct drv_outcome outcome;

    /* Set by pq_cancel on another thread, before the request goes out; read here when a
     * statement was cancelled. Never cleared: a request may arrive late, and then hits a later
     * operation. A flag alone, no other memory depends on it. */
    atomic_bool cancelled;
    char error[DRV_ERROR_BYTES];
};

bool pq_open(struct drv_conn *conn, struct err *err);
void pq_close(struct drv_conn *conn);
bool pq_place(struct drv_conn *conn, const char *name, bool create, struct err *err);
bool pq_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                struct err *err);
bool pq_query(struct drv_conn *conn, struct arena *arena, const char *sql, struct value *value,
              uint64_t *rows, struct err *err);
const char *pq_library(struct arena *arena); /* "libpq 15.18" */
bool pq_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                 struct err *err);

/* A blocking wait for the server, in pieces of PQ_POLL_MS, and a signal that comes meanwhile;
 * one that was there before does not stop a clean-up. */
struct pq_waiting {
    int before;
    uint64_t give_up_ns; /* UINT64_MAX: none */
    bool cancelled;
    pid_t canceller; /* 0: none */
};
struct pq_waiting pq_waiting_start(void);
/* After each piece: on a signal asks the server to stop; false when it does not in some
 * seconds.
 */
bool pq_waiting_look(struct pq_waiting *waiting, PGcancel *cancel, struct err *err);
void pq_waiting_end(struct pq_waiting *waiting);

/* Verdict of a failed statement. */
enum drv_verdict pq_verdict(const char *sqlstate, bool cancelled);

/* "ERROR: text (detail)" in one line. */
const char *pq_error_text(const PGresult *result, char *buffer, size_t room);

#endif
