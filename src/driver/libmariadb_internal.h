#ifndef DRIVER_LIBMARIADB_INTERNAL_H
#define DRIVER_LIBMARIADB_INTERNAL_H

/*
 * MariaDB and MySQL through libmariadb (MariaDB Connector/C), blocking, with prepared
 * statements and binary results. libmariadb_setup.c opens, prepares, asks and describes;
 * drv_libmariadb.c has the measured part.
 *
 * Results go into buffers that are sized when a statement is prepared: MY_INLINE_BYTES at most
 * for a column, MY_ROW_BYTES for a row. What is longer is fetched apart into `spill`, which
 * grows by doubling when a longer row than ever comes: the one allocation of ours inside the
 * measured part (libmariadb allocates each row itself).
 *
 * CLIENT_FOUND_ROWS is on: UPDATE counts the rows that it found, as PostgreSQL and SQLite do,
 * not only those whose content changed.
 *
 * Source: https://mariadb.com/kb/en/mariadb-connector-c/
 */

#include "driver/driver_internal.h"

#include <mariadb/mysql.h>
#include <stdatomic.h>

enum { MY_INLINE_BYTES = 1 << 16, MY_ROW_BYTES = 1 << 20, MY_COLUMNS_MAX = 4096 };

enum my_rows { MY_ROWS_WHOLE, MY_ROWS_STREAM };

struct my_options {
    int rows;
};

enum my_kind { MY_INT, MY_UNSIGNED, MY_REAL, MY_NUMERIC, MY_BIT, MY_TEXT, MY_BLOB };

struct my_cell {
    enum my_kind kind;
    my_bool null, cut;
    unsigned long bytes;
    union {
        int64_t i;
        double r;
    } as;
    char *text; /* of strings: room for bind.buffer_length bytes */
};

struct my_stmt {
    MYSQL_STMT *handle; /* NULL for a direct one */
    const char *sql;
    bool changes;
    uint32_t param_count;
    uint16_t column_count;
    MYSQL_BIND *columns;
    struct my_cell *cells;
};

struct my_conn {
    struct drv_conn base;
    MYSQL *db;
    unsigned long thread_id;
    int sever_fd;
    bool stopped; /* a signal stopped the running setup statement */

    struct arena *set_arena; /* of the prepared set and its buffers */
    struct my_stmt *stmts;
    uint32_t stmt_count;
    MYSQL_BIND *params;
    struct value *row;
    uint16_t row_room;
    char *spill; /* malloc'ed */
    size_t spill_room;

    /* the operation in flight */
    enum drv_op_kind kind;
    uint16_t stmt;
    enum prog_depth depth;
    struct drv_sink *sink;
    bool refused; /* by submit */

    /* Set by my_cancel on another thread, before the request goes out; read here when a
     * statement was interrupted. Never cleared: a request may arrive late, and then hits a
     * later operation. A flag alone, no other memory depends on it. */
    atomic_bool cancelled;
    char error[DRV_ERROR_BYTES];
};

/* Asks the server to stop what the connection runs; safe beside its own thread. Waits some
 * seconds for a server that does not answer, and then gives up. */
void my_kill(const struct my_conn *my);

/* What an error number of the server or the library means; `cancelled`: by us, at some time. */
enum drv_verdict my_verdict(int code, bool cancelled);

bool my_open(struct drv_conn *conn, struct err *err);
void my_close(struct drv_conn *conn);
bool my_place(struct drv_conn *conn, const char *name, bool create, struct err *err);
bool my_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                struct err *err);
bool my_query(struct drv_conn *conn, struct arena *arena, const char *sql, struct value *value,
              uint64_t *rows, struct err *err);
const char *my_library(struct arena *arena); /* "libmariadb 3.3.18" */
bool my_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                 struct err *err);

enum my_kind my_kind_of(const MYSQL_FIELD *field);

/* A value that came as text. */
struct value my_decode(enum my_kind kind, const char *text, uint32_t bytes);

#endif
