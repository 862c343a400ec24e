#ifndef DRIVER_SQLITE_INTERNAL_H
#define DRIVER_SQLITE_INTERNAL_H

/*
 * SQLite in this process. One connection belongs to one thread, so it is opened without
 * SQLite's mutexes; sqlite3_interrupt is the one call that is safe from another thread.
 * sqlite_setup.c opens, prepares, asks and describes, sqlite_pragma.c has the settings;
 * drv_sqlite.c has the measured part.
 *
 * Sources: https://www.sqlite.org/c3ref/intro.html, https://www.sqlite.org/pragma.html
 */

#include "driver/driver_internal.h"

#include <sqlite3.h>

#include <stdatomic.h>

struct lite_stmt {
    sqlite3_stmt *handle; /* NULL for a direct one */
    const char *sql;
    bool changes;
};

struct lite_conn {
    struct drv_conn base;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *rollback;
    struct arena *set_arena; /* of the prepared set */
    struct lite_stmt *stmts;
    uint32_t stmt_count;
    struct value *row;
    int row_room;

    /* the operation in flight */
    enum drv_op_kind kind;
    uint16_t stmt;
    enum prog_depth depth;
    struct drv_sink *sink;
    int failed; /* by submit */

    /* Set by cancel on another thread, cleared by submit and query: a flag alone, no other
     * memory depends on it. */
    atomic_bool cancelled;
    atomic_bool severed; /* the same, but never cleared */
    const char *refusal; /* why lite_compile refused, in our words; NULL: in SQLite's */
    bool watching;       /* a query runs that a signal ends; our own thread's */
    char error[DRV_ERROR_BYTES];
};

/* By cancel or sever, or by a signal while a query runs; `context` is the connection. */
int lite_is_cancelled(void *context);

struct value lite_column_value(sqlite3_stmt *stmt, int column);

/* Compiles the one statement of a text; the answer is SQLite's code. SQLite itself would forget
 * what follows the first statement, and has none for a text without one: both are SQLITE_ERROR
 * here, with lite->refusal set. */
int lite_compile(struct lite_conn *lite, const char *sql, unsigned flags, sqlite3_stmt **stmt);

bool lite_open(struct drv_conn *conn, struct err *err);
void lite_close(struct drv_conn *conn);
bool lite_place(struct drv_conn *conn, const char *name, bool create, struct err *err);
bool lite_prepare(struct drv_conn *conn, const struct prog_stmt *stmts, uint32_t count,
                  struct err *err);
bool lite_query(struct drv_conn *conn, struct arena *arena, const char *sql,
                struct value *value, uint64_t *rows, struct err *err);
const char *lite_library(struct arena *arena); /* "sqlite3 3.40.1" */
bool lite_describe(struct drv_conn *conn, struct arena *arena, struct drv_facts *facts,
                   struct err *err);

/* Is a pragma among the target's settings? */
bool lite_is_given(const struct drv_target *target, const char *name);

/* WAL and synchronous=FULL, then the target's settings. */
bool lite_apply_settings(struct lite_conn *lite, struct err *err);

/* What a pragma is now, numbers of known enumerations as their names; "" when it says nothing.
 */
const char *lite_pragma_shown(struct lite_conn *lite, struct arena *arena, const char *name);

#endif
