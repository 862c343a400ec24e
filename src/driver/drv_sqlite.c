/* The measured part; sqlite_internal.h explains. */

#include "driver/sqlite_internal.h"

#include <assert.h>

/* The kind and place of a column's value, without turning numbers into anything. */
static struct value column_place(sqlite3_stmt *stmt, int column)
{
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER: return (struct value){.type = VALUE_INT, .bytes = sizeof(int64_t)};
    case SQLITE_FLOAT: return (struct value){.type = VALUE_REAL, .bytes = sizeof(double)};
    default: return lite_column_value(stmt, column);
    }
}

static int bind_one(sqlite3_stmt *stmt, int index, const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL: return sqlite3_bind_null(stmt, index);
    case VALUE_INT: return sqlite3_bind_int64(stmt, index, value->as.i);
    case VALUE_REAL: return sqlite3_bind_double(stmt, index, value->as.r);
    case VALUE_TEXT:
        return sqlite3_bind_text(stmt, index, value->bytes ? value->as.text : "",
                                 (int)value->bytes, SQLITE_STATIC);
    case VALUE_BLOB: break;
    }
    return sqlite3_bind_blob(stmt, index, value->bytes ? value->as.text : "", (int)value->bytes,
                             SQLITE_STATIC);
}

static int bind_all(sqlite3_stmt *stmt, const struct drv_op *op)
{
    int count = sqlite3_bind_parameter_count(stmt);
    if ((uint32_t)count != op->param_count)
        return SQLITE_RANGE;
    for (int i = 0; i < count; i++) {
        int code = bind_one(stmt, i + 1, &op->params[i]);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

static enum drv_step lite_submit(struct drv_conn *conn, const struct drv_op *op)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store_explicit(&lite->cancelled, false, memory_order_relaxed);
    lite->kind = op->kind;
    lite->stmt = op->stmt;
    lite->depth = op->depth;
    lite->sink = op->sink && op->sink->row ? op->sink : NULL;
    lite->failed = SQLITE_OK;
    lite->refusal = NULL;
    lite->error[0] = '\0';
    if (op->kind != DRV_OP_EXECUTE)
        return DRV_DONE;
    assert(op->stmt < lite->stmt_count);
    sqlite3_stmt *stmt = lite->stmts[op->stmt].handle;
    if (stmt)
        lite->failed = bind_all(stmt, op);
    return DRV_DONE;
}

static void give_row(struct lite_conn *lite, sqlite3_stmt *stmt)
{
    struct drv_sink *sink = lite->sink;
    if (lite->depth == PROG_DRAIN) {
        if (sink)
            sink->row(sink, NULL, 0);
        return;
    }
    int columns = sqlite3_data_count(stmt);
    columns = columns < lite->row_room ? columns : lite->row_room;
    for (int i = 0; i < columns; i++)
        lite->row[i] =
            lite->depth == PROG_DECODE ? lite_column_value(stmt, i) : column_place(stmt, i);
    if (sink)
        sink->row(sink, lite->row, (uint16_t)columns);
}

static const char *code_text(const struct lite_conn *lite, int code)
{
    if (lite->refusal)
        return lite->refusal;
    switch (code) {
    case SQLITE_RANGE: return "wrong number of parameters";
    case SQLITE_INTERRUPT: return "interrupted";
    default: return sqlite3_errmsg(lite->db);
    }
}

static enum drv_step fail_step(struct lite_conn *lite, int code, struct drv_outcome *outcome)
{
    int kind = code & 0xff; /* of an extended code */
    bool cancelled = lite_is_cancelled(lite);
    error_copy(lite->error, sizeof(lite->error), code_text(lite, code));
    outcome->code = code;
    if (kind == SQLITE_INTERRUPT || (kind == SQLITE_BUSY && cancelled))
        outcome->verdict = DRV_TIMEOUT;
    else if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
        outcome->verdict = DRV_RETRY;
    else
        outcome->verdict = DRV_ERROR;
    if (!atomic_load_explicit(&lite->severed, memory_order_relaxed))
        return DRV_DONE;
    outcome->verdict = DRV_LOST;
    return DRV_FAILED;
}

/* Runs a statement to its end; the answer is SQLite's code. */
static int run_stmt(struct lite_conn *lite, sqlite3_stmt *stmt, struct drv_outcome *outcome)
{
    int code = lite_is_cancelled(lite) ? SQLITE_INTERRUPT : sqlite3_step(stmt);
    while (code == SQLITE_ROW) {
        outcome->rows++;
        give_row(lite, stmt);
        code = sqlite3_step(stmt);
    }
    return code;
}

static int run_direct(struct lite_conn *lite, const char *sql, struct drv_outcome *outcome)
{
    sqlite3_stmt *stmt = NULL;
    int code = lite_compile(lite, sql, 0, &stmt);
    if (code != SQLITE_OK)
        return code;
    code = run_stmt(lite, stmt, outcome);
    int after = sqlite3_finalize(stmt);
    return code == SQLITE_DONE || code == SQLITE_INTERRUPT ? code : after;
}

static int run_prepared(struct lite_conn *lite, sqlite3_stmt *stmt, struct drv_outcome *outcome)
{
    int code = run_stmt(lite, stmt, outcome);
    sqlite3_reset(stmt);
    return code;
}

static int run_execute(struct lite_conn *lite, struct drv_outcome *outcome)
{
    const struct lite_stmt *stmt = &lite->stmts[lite->stmt];
    if (lite->failed != SQLITE_OK)
        return lite->failed;
    int code = stmt->handle ? run_prepared(lite, stmt->handle, outcome)
                            : run_direct(lite, stmt->sql, outcome);
    if (stmt->changes && code == SQLITE_DONE)
        outcome->affected = sqlite3_changes64(lite->db);
    return code;
}

static int run_rollback(struct lite_conn *lite, struct drv_outcome *outcome)
{
    /* Some failures have rolled back already; servers take a second ROLLBACK for a warning. */
    if (sqlite3_get_autocommit(lite->db))
        return SQLITE_DONE;
    return run_prepared(lite, lite->rollback, outcome);
}

static enum drv_step lite_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    *outcome = (struct drv_outcome){.verdict = DRV_OK, .affected = -1};
    int code = SQLITE_DONE;
    switch (lite->kind) {
    case DRV_OP_EXECUTE: code = run_execute(lite, outcome); break;
    case DRV_OP_PING: break;
    case DRV_OP_BEGIN: code = run_prepared(lite, lite->begin, outcome); break;
    case DRV_OP_COMMIT: code = run_prepared(lite, lite->commit, outcome); break;
    case DRV_OP_ROLLBACK: code = run_rollback(lite, outcome); break;
    }
    return code == SQLITE_DONE ? DRV_DONE : fail_step(lite, code, outcome);
}

static void lite_cancel(struct drv_conn *conn)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store(&lite->cancelled, true);
    sqlite3_interrupt(lite->db);
}

static void lite_sever(struct drv_conn *conn)
{
    struct lite_conn *lite = (struct lite_conn *)conn;
    atomic_store(&lite->severed, true);
    sqlite3_interrupt(lite->db);
}

static const char *lite_last_error(const struct drv_conn *conn)
{
    return ((const struct lite_conn *)conn)->error;
}

static const struct drv_option lite_options[] = {{0}};

const struct drv_class drv_sqlite = {
    .name = "sqlite",
    .summary = "SQLite in this process",
    .abi = DRV_ABI,
    .options = lite_options,
    .conn_bytes = sizeof(struct lite_conn),
    .files = 3, /* database, log, a temporary one */
    .open = lite_open,
    .close = lite_close,
    .place = lite_place,
    .prepare = lite_prepare,
    .query = lite_query,
    .describe = lite_describe,
    .submit = lite_submit,
    .step = lite_step,
    .cancel = lite_cancel,
    .sever = lite_sever,
    .library = lite_library,
    .last_error = lite_last_error,
};
