#include "base/num.h"
#include "driver/libmariadb_internal.h"

#include <assert.h>
#include <mariadb/errmsg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Error numbers of the server that mean more than "failed". */
enum {
    ER_SERVER_SHUTDOWN = 1053,
    ER_CHECKREAD = 1020, /* a row changed since the snapshot */
    ER_LOCK_WAIT_TIMEOUT = 1205,
    ER_LOCK_DEADLOCK = 1213,
    ER_QUERY_INTERRUPTED = 1317,
    ER_CONNECTION_KILLED = 1927,
};

/* MYSQL_BIND takes what it only reads by a pointer to something writable. */
static void *writable(const void *pointer)
{
    void *out;
    memcpy(&out, &pointer, sizeof(out));
    return out;
}

static bool refuse(struct my_conn *my, const char *message)
{
    error_copy(my->error, sizeof(my->error), message);
    my->refused = true;
    return false;
}

static MYSQL_BIND bind_value(const struct value *value)
{
    switch (value->type) {
    case VALUE_NULL: return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_NULL};
    case VALUE_INT:
        return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG,
                            .buffer = writable(&value->as.i)};
    case VALUE_REAL:
        return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_DOUBLE, .buffer = writable(&value->as.r)};
    case VALUE_TEXT:
    case VALUE_BLOB: break;
    }
    return (MYSQL_BIND){
        .buffer_type = value->type == VALUE_TEXT ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB,
        .buffer = writable(value->bytes > 0 ? value->as.text : ""),
        .buffer_length = value->bytes,
    };
}

static bool bind_params(struct my_conn *my, const struct my_stmt *stmt, const struct drv_op *op)
{
    if (op->param_count != stmt->param_count)
        return refuse(my, "wrong number of parameters");
    for (uint32_t i = 0; i < op->param_count; i++)
        my->params[i] = bind_value(&op->params[i]);
    if (op->param_count > 0 && mysql_stmt_bind_param(stmt->handle, my->params) != 0)
        return refuse(my, mysql_stmt_error(stmt->handle));
    return true;
}

static enum drv_step my_submit(struct drv_conn *conn, const struct drv_op *op)
{
    struct my_conn *my = (struct my_conn *)conn;
    my->kind = op->kind;
    my->stmt = op->stmt;
    my->depth = op->depth;
    my->sink = op->sink && op->sink->row ? op->sink : NULL;
    my->refused = false;
    my->error[0] = '\0';
    if (op->kind != DRV_OP_EXECUTE)
        return DRV_DONE;
    assert(op->stmt < my->stmt_count);
    (void)bind_params(my, &my->stmts[op->stmt], op);
    return DRV_DONE;
}

static void give_nothing(struct my_conn *my, uint64_t rows)
{
    for (uint64_t i = 0; my->sink && i < rows; i++)
        my->sink->row(my->sink, NULL, 0);
}

static struct value cell_value(const struct my_cell *cell)
{
    if (cell->null)
        return (struct value){.type = VALUE_NULL};
    switch (cell->kind) {
    case MY_INT: return value_int(cell->as.i);
    case MY_REAL: return value_real(cell->as.r);
    case MY_UNSIGNED:
        return cell->as.i >= 0 ? value_int(cell->as.i)
                               : value_real((double)(uint64_t)cell->as.i);
    case MY_NUMERIC:
    case MY_BIT:
    case MY_TEXT:
    case MY_BLOB: break;
    }
    return my_decode(cell->kind, cell->text, (uint32_t)cell->bytes);
}

static bool is_long(const struct my_stmt *stmt, uint16_t column)
{
    const struct my_cell *cell = &stmt->cells[column];
    return cell->text && !cell->null && cell->bytes > stmt->columns[column].buffer_length;
}

static bool reserve_spill(struct my_conn *my, size_t bytes)
{
    if (bytes <= my->spill_room)
        return true;
    size_t room = my->spill_room * 2 > bytes ? my->spill_room * 2 : bytes;
    char *grown = realloc(my->spill, room);
    if (!grown)
        return refuse(my, "no memory for a long value");
    my->spill = grown;
    my->spill_room = room;
    return true;
}

/* The columns of this row that their buffers could not hold. */
static bool fetch_long(struct my_conn *my, const struct my_stmt *stmt)
{
    size_t bytes = 0;
    for (uint16_t i = 0; i < stmt->column_count; i++)
        bytes += is_long(stmt, i) ? stmt->cells[i].bytes : 0;
    if (bytes == 0)
        return true;
    if (!reserve_spill(my, bytes))
        return false;
    char *at = my->spill;
    for (uint16_t i = 0; i < stmt->column_count; i++) {
        if (!is_long(stmt, i))
            continue;
        struct my_cell *cell = &stmt->cells[i];
        MYSQL_BIND bind = stmt->columns[i];
        unsigned long got = 0;
        my_bool cut = 0;
        bind.buffer = at;
        bind.buffer_length = cell->bytes;
        bind.length = &got;
        bind.error = &cut;
        if (mysql_stmt_fetch_column(stmt->handle, &bind, i, 0) != 0)
            return false;
        my->row[i] = my_decode(cell->kind, at, (uint32_t)cell->bytes);
        at += cell->bytes;
    }
    return true;
}

/* The interface gives no cheaper way to walk: a row is always copied into the buffers. */
static bool give_row(struct my_conn *my, const struct my_stmt *stmt)
{
    for (uint16_t i = 0; i < stmt->column_count; i++) {
        if (!is_long(stmt, i))
            my->row[i] = cell_value(&stmt->cells[i]);
    }
    if (!fetch_long(my, stmt))
        return false;
    if (my->sink)
        my->sink->row(my->sink, my->row, stmt->column_count);
    return true;
}

static bool fetch_rows(struct my_conn *my, const struct my_stmt *stmt,
                       struct drv_outcome *outcome)
{
    /* A CALL answers columns that were not known when it was prepared. */
    bool bound = mysql_stmt_field_count(stmt->handle) == stmt->column_count;
    bool drain = my->depth == PROG_DRAIN || !bound;
    int code;
    while ((code = mysql_stmt_fetch(stmt->handle)) == 0 || code == MYSQL_DATA_TRUNCATED) {
        outcome->rows++;
        if (drain)
            give_nothing(my, 1);
        else if (!give_row(my, stmt))
            return false;
    }
    return code == MYSQL_NO_DATA;
}

static bool take_result(struct my_conn *my, const struct my_stmt *stmt,
                        struct drv_outcome *outcome)
{
    const struct my_options *options = my->base.options;
    bool ok = true;
    if (options->rows == MY_ROWS_WHOLE && mysql_stmt_store_result(stmt->handle) != 0)
        return false;
    if (options->rows == MY_ROWS_WHOLE && my->depth == PROG_DRAIN) {
        uint64_t rows = mysql_stmt_num_rows(stmt->handle);
        outcome->rows += rows;
        give_nothing(my, rows);
    } else {
        ok = fetch_rows(my, stmt, outcome);
    }
    return ok;
}

static bool run_prepared(struct my_conn *my, const struct my_stmt *stmt,
                         struct drv_outcome *outcome)
{
    if (mysql_stmt_execute(stmt->handle) != 0)
        return false;
    if (stmt->changes && mysql_stmt_field_count(stmt->handle) == 0)
        outcome->affected = (int64_t)mysql_stmt_affected_rows(stmt->handle);
    bool ok = true;
    for (;;) {
        if (ok && mysql_stmt_field_count(stmt->handle) > 0)
            ok = take_result(my, stmt, outcome);
        if (!mysql_stmt_more_results(stmt->handle) || mysql_stmt_next_result(stmt->handle) != 0)
            break;
    }
    ok = ok && mysql_stmt_errno(stmt->handle) == 0;
    return ok;
}

static void give_text_row(struct my_conn *my, MYSQL_RES *result, MYSQL_ROW row)
{
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    const unsigned long *bytes = mysql_fetch_lengths(result);
    unsigned count = mysql_num_fields(result);
    count = count < my->row_room ? count : my->row_room;
    for (unsigned i = 0; i < count; i++) {
        if (!row[i])
            my->row[i] = (struct value){.type = VALUE_NULL};
        else if (my->depth == PROG_WALK)
            my->row[i] = value_text(row[i], (uint32_t)bytes[i]);
        else
            my->row[i] = my_decode(my_kind_of(&fields[i]), row[i], (uint32_t)bytes[i]);
    }
    if (my->sink)
        my->sink->row(my->sink, my->row, (uint16_t)count);
}

static bool take_text_result(struct my_conn *my, struct drv_outcome *outcome)
{
    const struct my_options *options = my->base.options;
    MYSQL_RES *result =
        options->rows == MY_ROWS_WHOLE ? mysql_store_result(my->db) : mysql_use_result(my->db);
    if (!result)
        return mysql_errno(my->db) == 0;
    MYSQL_ROW row;
    while ((row = mysql_fetch_row(result))) {
        outcome->rows++;
        if (my->depth == PROG_DRAIN)
            give_nothing(my, 1);
        else
            give_text_row(my, result, row);
    }
    bool ok = mysql_errno(my->db) == 0;
    mysql_free_result(result);
    return ok;
}

static bool run_text(struct my_conn *my, const char *sql, bool changes,
                     struct drv_outcome *outcome)
{
    if (mysql_real_query(my->db, sql, strlen(sql)) != 0)
        return false;
    if (changes && mysql_field_count(my->db) == 0)
        outcome->affected = (int64_t)mysql_affected_rows(my->db);
    int more;
    do {
        if (!take_text_result(my, outcome))
            return false;
        more = mysql_next_result(my->db);
    } while (more == 0);
    return more < 0;
}

static bool is_lost(int code)
{
    return code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST ||
           code == CR_SERVER_LOST_EXTENDED || code == ER_SERVER_SHUTDOWN ||
           code == ER_CONNECTION_KILLED;
}

enum drv_verdict my_verdict(int code, bool cancelled)
{
    if (is_lost(code))
        return DRV_LOST;
    if (code == ER_LOCK_DEADLOCK || code == ER_LOCK_WAIT_TIMEOUT || code == ER_CHECKREAD)
        return DRV_RETRY;
    if (code == ER_QUERY_INTERRUPTED && cancelled)
        return DRV_TIMEOUT;
    return DRV_ERROR;
}

/* A prepared statement keeps its error apart from the connection's. */
static enum drv_step fail_step(struct my_conn *my, MYSQL_STMT *stmt,
                               struct drv_outcome *outcome)
{
    if (my->refused) {
        outcome->verdict = DRV_ERROR;
        return DRV_DONE;
    }
    outcome->code = (int)(stmt ? mysql_stmt_errno(stmt) : mysql_errno(my->db));
    outcome->verdict = my_verdict(outcome->code, atomic_load(&my->cancelled));
    text_print(outcome->sqlstate, sizeof(outcome->sqlstate), "%s",
               stmt ? mysql_stmt_sqlstate(stmt) : mysql_sqlstate(my->db));
    error_copy(my->error, sizeof(my->error),
               stmt ? mysql_stmt_error(stmt) : mysql_error(my->db));
    return outcome->verdict == DRV_LOST ? DRV_FAILED : DRV_DONE;
}

static enum drv_step step_execute(struct my_conn *my, struct drv_outcome *outcome)
{
    const struct my_stmt *stmt = &my->stmts[my->stmt];
    bool ok = !my->refused && (stmt->handle ? run_prepared(my, stmt, outcome)
                                            : run_text(my, stmt->sql, stmt->changes, outcome));
    enum drv_step step = ok ? DRV_DONE : fail_step(my, stmt->handle, outcome);
    if (stmt->handle && stmt->column_count > 0 && step == DRV_DONE && !my->refused)
        mysql_stmt_free_result(stmt->handle);
    return step;
}

static enum drv_step my_step(struct drv_conn *conn, struct drv_outcome *outcome)
{
    struct my_conn *my = (struct my_conn *)conn;
    bool ok = true;
    *outcome = (struct drv_outcome){.verdict = DRV_OK, .affected = -1};
    switch (my->kind) {
    case DRV_OP_EXECUTE: return step_execute(my, outcome);
    case DRV_OP_PING: ok = mysql_ping(my->db) == 0; break;
    case DRV_OP_BEGIN: ok = run_text(my, "BEGIN", false, outcome); break;
    case DRV_OP_COMMIT: ok = run_text(my, "COMMIT", false, outcome); break;
    case DRV_OP_ROLLBACK: ok = run_text(my, "ROLLBACK", false, outcome); break;
    }
    return ok ? DRV_DONE : fail_step(my, NULL, outcome);
}

static void my_cancel(struct drv_conn *conn)
{
    struct my_conn *my = (struct my_conn *)conn;
    atomic_store(&my->cancelled, true);
    my_kill(my);
}

static void my_sever(struct drv_conn *conn)
{
    sever_now(((struct my_conn *)conn)->sever_fd);
}

static const char *my_last_error(const struct drv_conn *conn)
{
    return ((const struct my_conn *)conn)->error;
}

static const char *const rows_names[] = {"whole", "stream", NULL};

static const struct drv_option my_options[] = {
    {.name = "rows",
     .help = "whole: a result is kept until it is complete; stream: one row at a time",
     .type = DRV_OPTION_CHOICE,
     .offset = offsetof(struct my_options, rows),
     .values = rows_names,
     .initial = "whole"},
    {0},
};

const struct drv_class drv_libmariadb = {
    .name = "libmariadb",
    .summary = "MariaDB and MySQL through libmariadb, blocking, prepared statements",
    .abi = DRV_ABI,
    .caps = DRV_CAP_PING | DRV_CAP_REMOTE,
    .options = my_options,
    .options_bytes = sizeof(struct my_options),
    .conn_bytes = sizeof(struct my_conn),
    .files = 2, /* the socket, and a second descriptor to sever it */
    .open = my_open,
    .close = my_close,
    .place = my_place,
    .prepare = my_prepare,
    .query = my_query,
    .describe = my_describe,
    .submit = my_submit,
    .step = my_step,
    .cancel = my_cancel,
    .sever = my_sever,
    .library = my_library,
    .last_error = my_last_error,
};
